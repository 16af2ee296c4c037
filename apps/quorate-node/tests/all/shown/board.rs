//! The board keeps the first of everything, in any order of reports, and never grows beyond its bounds.

use quorate_evm::alloy_primitives::U256;
use quorate_node::{
    board::{
        BanRow, MAX_MEMBERS, MAX_PEERS, MAX_PUNISHMENTS, MAX_SUBMISSIONS, MAX_TASKS, MAX_TEXT, MemberReport, NodeBoard,
        PunishmentKind, PunishmentReport, Purpose, SHOWN_TASKS, SettledReport, SubmissionReport, SubmissionState,
        TaskState, label_of,
    },
    transport::Counts,
};

use crate::shown::rig::{
    EPOCH, RESULT, chain, id, mined, owner, peer, performing, ready, sent, settlement, signed, task,
};

/// A task up to its quorum of the members 2, 3 and 4, which have 120 of 150.
fn with_quorum() -> NodeBoard {
    let board = ready();
    board.task_seen(id(1), EPOCH, "price", 1_000);
    board.task_report(performing(id(1)), 1_100);
    board.task_report(signed(id(1), true, &[4]), 2_000);
    board.task_report(signed(id(1), true, &[2, 3, 4]), 2_700);
    board
}

#[test]
fn the_time_of_each_first_is_kept() {
    let board = with_quorum();
    board.task_report(signed(id(1), true, &[1, 2, 3, 4]), 3_500);
    board.submission(sent(id(1)), 4_000);
    board.submission(sent(id(1)), 4_500);
    board.settled(id(1), EPOCH, settlement(true), 5_000);
    board.settled(id(1), EPOCH, settlement(true), 6_000);
    board.finalised(id(1), 9_000);
    board.finalised(id(1), 9_500);
    let shown = task(&board, id(1)).unwrap();
    let times = shown.times;
    assert_eq!((times.known, times.result, times.quorum), (Some(1_000), Some(2_000), Some(2_700)));
    assert_eq!((times.submitted, times.settled, times.finalised), (Some(4_000), Some(5_000), Some(9_000)));
    assert_eq!((shown.label.as_str(), shown.state, shown.approved), ("price", TaskState::Final, Some(true)));
    assert_eq!((shown.turns_begin_ms, shown.turn_ms), (Some(5_000), None), "this node does not settle");
    assert_eq!((shown.weight, shown.required, shown.total), (140, 100, 150));
    assert_eq!(shown.missing.iter().map(|absent| (absent.index, absent.owner)).collect::<Vec<_>>(), [(0, owner(0))]);
}

#[test]
fn states_follow_each_other() {
    let board = ready();
    let state = || task(&board, id(1)).unwrap().state;
    board.task_seen(id(1), EPOCH, "price", 1_000);
    assert_eq!(state(), TaskState::Waiting);
    board.task_report(performing(id(1)), 1_100);
    assert_eq!(state(), TaskState::Performing);
    board.task_report(signed(id(1), true, &[4]), 2_000);
    assert_eq!(state(), TaskState::Attesting);
    // 100 of 150 is not more than 100.
    board.task_report(signed(id(1), true, &[0, 3, 4]), 2_000);
    assert_eq!((state(), task(&board, id(1)).unwrap().times.quorum), (TaskState::Attesting, None));
    board.task_report(signed(id(1), true, &[2, 3, 4]), 2_700);
    assert_eq!(state(), TaskState::Quorum);
    board.submission(sent(id(1)), 3_000);
    assert_eq!(state(), TaskState::Submitted);
    let refused = SubmissionState::Refused("AlreadySettled".to_owned());
    board.submission(SubmissionReport { state: refused, ..sent(id(1)) }, 3_100);
    assert_eq!(state(), TaskState::Quorum);
    board.settled(id(1), EPOCH, settlement(true), 4_000);
    assert_eq!(state(), TaskState::Settled);
    board.finalised(id(1), 5_000);
    assert_eq!(state(), TaskState::Final);
}

/// A node that starts hears of settlements before it hears of tasks.
#[test]
fn a_settlement_may_come_before_its_task() {
    let board = ready();
    board.finalised(id(1), 500);
    assert!(task(&board, id(1)).is_none(), "what was not settled is not final");
    board.settled(id(1), EPOCH, settlement(false), 600);
    let shown = task(&board, id(1)).unwrap();
    assert_eq!((shown.label.as_str(), shown.approved, shown.times.known), ("", Some(false), None));
    board.task_seen(id(1), EPOCH, "price", 1_000);
    board.task_report(signed(id(1), false, &[2, 3, 4]), 1_100);
    let shown = task(&board, id(1)).unwrap();
    assert_eq!((shown.label.as_str(), shown.state, shown.times.known), ("price", TaskState::Settled, Some(1_000)));
}

#[test]
fn a_reorganisation_undoes_a_settlement_and_what_was_counted() {
    let board = with_quorum();
    board.settled(id(1), EPOCH, settlement(true), 4_000);
    let standings = || {
        let operators = board.view(5_000).operators;
        let mut found: Vec<_> = operators.iter().map(|row| (row.index, row.signed, row.missing)).collect();
        found.sort_unstable();
        found
    };
    let counted = [(0, 0, 1), (1, 0, 1), (2, 1, 0), (3, 1, 0), (4, 1, 0)];
    assert_eq!(standings(), counted);
    board.unsettled(id(1));
    assert_eq!(standings(), [(0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0), (4, 0, 0)]);
    let shown = task(&board, id(1)).unwrap();
    assert_eq!((shown.state, shown.times.settled), (TaskState::Quorum, None));
    assert!(shown.settlement.is_none());
    // Another block settles it again, with one more signature than this node saw.
    let signers = Some([1, 2, 3, 4].into_iter().collect());
    board.settled(id(1), EPOCH, SettledReport { block: 13, signers, ..settlement(true) }, 6_000);
    assert_eq!(standings(), [(0, 0, 1), (1, 1, 0), (2, 1, 0), (3, 1, 0), (4, 1, 0)]);
    let shown = task(&board, id(1)).unwrap();
    assert_eq!((shown.times.settled, shown.settlement.unwrap().block), (Some(6_000), 13));
    // Nothing undoes what is final.
    board.finalised(id(1), 7_000);
    board.unsettled(id(1));
    assert_eq!(task(&board, id(1)).unwrap().state, TaskState::Final);
}

/// The settled verdict is not the one that this node holds most weight for, so it does not know who signed it.
#[test]
fn signers_of_another_verdict_are_not_counted() {
    let board = with_quorum();
    board.settled(id(1), EPOCH, settlement(false), 4_000);
    let counted: Vec<_> = board.view(5_000).operators.iter().map(|row| row.signed + row.missing).collect();
    assert_eq!(counted, [0; 5]);
}

#[test]
fn tasks_of_old_epochs_have_lapsed() {
    let board = with_quorum();
    board.task_seen(id(2), EPOCH, "settled", 1_000);
    board.settled(id(2), EPOCH, settlement(true), 1_500);
    board.chain(chain(EPOCH + 1), 5_000);
    assert_eq!(task(&board, id(1)).unwrap().state, TaskState::Quorum);
    board.chain(chain(EPOCH + 2), 6_000);
    board.chain(chain(EPOCH + 2), 7_000);
    assert_eq!(task(&board, id(1)).unwrap().state, TaskState::Lapsed);
    assert_eq!(task(&board, id(2)).unwrap().state, TaskState::Settled);
    let counts = board.view(8_000).counts;
    assert_eq!((counts.lapsed, counts.open), (1, 0));
    // The operator names it again, for an epoch that runs.
    board.task_seen(id(1), EPOCH + 2, "price", 9_000);
    assert_eq!((task(&board, id(1)).unwrap().epoch, board.view(9_000).counts.open), (EPOCH + 2, 1));
}

/// A task that made room is counted once, and settles all the same if others settle it.
#[test]
fn a_task_that_made_room_has_lapsed() {
    let board = ready();
    board.task_seen(id(1), EPOCH, "price", 1_000);
    [id(1), id(1), id(9)].into_iter().for_each(|id| board.task_dropped(id));
    board.chain(chain(EPOCH + 2), 2_000);
    assert_eq!(task(&board, id(1)).unwrap().state, TaskState::Lapsed);
    let counts = board.view(2_000).counts;
    assert_eq!((counts.lapsed, counts.open), (1, 0));
    board.settled(id(1), EPOCH, settlement(true), 3_000);
    board.task_dropped(id(1));
    assert_eq!((task(&board, id(1)).unwrap().state, board.view(3_000).counts.lapsed), (TaskState::Settled, 1));
}

#[test]
fn a_transaction_is_one_row_from_sent_to_final() {
    let board = with_quorum();
    let rows = || board.view(9_000).submissions;
    board.submission(SubmissionReport { nonce: None, transaction: None, ..sent(id(1)) }, 3_000);
    board.submission(sent(id(1)), 3_100);
    board.submission(SubmissionReport { state: SubmissionState::Replaced, ..sent(id(1)) }, 3_200);
    board.submission(mined(id(1)), 4_000);
    assert_eq!(rows().len(), 1);
    let row = &rows()[0];
    assert_eq!(
        (row.state, row.replaced, row.gas_used, row.first_ms, row.last_ms),
        ("mined", 1, Some(201_000), 3_000, 4_000)
    );
    // Gas that was undone was not used.
    board.submission(SubmissionReport { state: SubmissionState::Undone, ..sent(id(1)) }, 4_500);
    assert_eq!((rows()[0].state, rows()[0].gas_used), ("undone", None));
    board.submission(mined(id(1)), 5_000);
    board.submission(SubmissionReport { state: SubmissionState::Final, ..mined(id(1)) }, 6_000);
    board.submission(SubmissionReport { state: SubmissionState::Final, ..mined(id(1)) }, 6_500);
    assert_eq!((rows().len(), rows()[0].state, rows()[0].last_ms), (1, "final", 6_000));
    // The same task again, with another nonce, is another transaction.
    board.submission(SubmissionReport { nonce: Some(9), ..sent(id(1)) }, 7_000);
    assert_eq!(rows().iter().map(|row| row.state).collect::<Vec<_>>(), ["sent", "final"]);
}

#[test]
fn a_settlement_takes_its_gas_from_the_nodes_own_transaction() {
    let board = with_quorum();
    board.settled(id(1), EPOCH, settlement(true), 4_000);
    let shown = || task(&board, id(1)).unwrap().settlement.unwrap();
    assert_eq!((shown().own, shown().gas_used), (false, None));
    board.submission(mined(id(1)), 4_100);
    assert_eq!((shown().own, shown().gas_used, shown().fee), (true, Some(201_000), Some(1 << 60)));
}

#[test]
fn punishments_add_up_and_are_undone() {
    let board = ready();
    let punish = |number, kind, amount: u64| {
        let amount = U256::from(amount);
        board.punished(PunishmentReport { operator: owner(2), id: id(number), kind, amount, at_block: 3 });
    };
    let lost = || {
        let operators = board.view(1).operators;
        let row = operators.iter().find(|row| row.owner == owner(2)).unwrap();
        (row.punishments, row.lost, row.slashed)
    };
    punish(1, PunishmentKind::Penalised, 5);
    punish(1, PunishmentKind::Penalised, 5);
    assert_eq!(lost(), (1, U256::from(5), false));
    punish(1, PunishmentKind::Slashed { epoch: 3 }, 70);
    assert_eq!(lost(), (2, U256::from(75), true));
    // For a conflict of the same task in a later epoch it is slashed again, and that may be undone alone.
    punish(1, PunishmentKind::Slashed { epoch: 4 }, 35);
    assert_eq!(lost(), (3, U256::from(110), true));
    board.unpunished(owner(2), id(1), PunishmentKind::Slashed { epoch: 4 });
    assert_eq!((lost(), board.view(1).punishments_in_all), ((2, U256::from(75), true), 2));
    board.unpunished(owner(2), id(1), PunishmentKind::Slashed { epoch: 3 });
    assert_eq!(lost(), (1, U256::from(5), false));
}

#[test]
fn nothing_grows_without_bound() {
    let board = ready();
    let long = "é".repeat(10_000);
    for number in 0..MAX_TASKS as u64 + 10 {
        board.task_seen(id(number), EPOCH, &long, number);
    }
    let view = board.view(1);
    assert_eq!((view.tasks.len(), view.counts.open), (SHOWN_TASKS, MAX_TASKS as u64));
    assert_eq!(view.tasks[0].id, id(MAX_TASKS as u64 + 9), "the newest is the first");
    assert_eq!(view.tasks[0].label.chars().count(), MAX_TEXT + 1);
    // Ten were forgotten, and a report does not bring them back.
    board.task_report(performing(id(0)), 2);
    assert_eq!(board.view(1).tasks[0].id, id(MAX_TASKS as u64 + 9));

    for nonce in 0..MAX_SUBMISSIONS as u64 + 5 {
        let purpose = Purpose::Other(long.clone());
        let state = SubmissionState::Refused(long.clone());
        board.submission(SubmissionReport { purpose, state, nonce: Some(nonce), ..sent(id(0)) }, nonce);
    }
    for number in 0..MAX_PUNISHMENTS as u64 + 5 {
        let (operator, kind) = (owner(1), PunishmentKind::Penalised);
        board.punished(PunishmentReport { operator, id: id(number), kind, amount: U256::from(1), at_block: number });
    }
    board.peers((0..MAX_PEERS as u64 + 5).map(|number| peer(&format!("{number}{long}"), 0, 0)));
    let ban = |number| BanRow { peer_id: format!("{number}{long}"), operator: None, reason: long.clone(), until: 1 };
    board.bans((0..MAX_PEERS as u64 + 5).map(ban));
    board.members((0..MAX_MEMBERS as u32 + 5).map(|index| MemberReport { index, owner: owner(index), weight: 1 }));
    let view = board.view(1);
    assert_eq!(
        (view.submissions.len(), view.submissions[0].nonce),
        (MAX_SUBMISSIONS, Some(MAX_SUBMISSIONS as u64 + 4))
    );
    let lost = view.operators.iter().find(|row| row.owner == owner(1)).unwrap().lost;
    assert_eq!(lost, U256::from(MAX_PUNISHMENTS));
    assert_eq!((view.peers_in_all, view.bans_in_all, view.operators_in_all), (MAX_PEERS, MAX_PEERS, MAX_MEMBERS));
    let texts = [&view.peers[0].peer_id, &view.bans[0].reason, view.submissions[0].words.as_ref().unwrap()];
    assert!(texts.iter().all(|text| text.chars().count() <= MAX_TEXT + 1));
    let json = serde_json::to_string(&view).unwrap();
    assert!(json.len() < 1_000_000, "{} bytes", json.len());
}

/// Two epochs of a day have more tasks than the board remembers. What settled goes first, and nothing that lapses is overlooked.
#[test]
fn tasks_that_lapse_are_counted_however_many_there_are() {
    let board = ready();
    let most = MAX_TASKS as u64;
    board.task_seen(id(0), EPOCH, "silent", 0);
    for number in 1..=2 * most {
        board.task_seen(id(number), EPOCH, "price", number);
        board.settled(id(number), EPOCH, settlement(true), number);
        board.finalised(id(number), number);
    }
    let counts = || board.view(1).counts;
    assert_eq!((counts().open, counts().lapsed, counts().approved), (1, 0, 2 * most));
    board.chain(chain(EPOCH + 2), 1_000_000);
    assert_eq!((counts().open, counts().lapsed), (0, 1));
    // If all are open, the oldest go, and count.
    for number in 3 * most..4 * most + 5 {
        board.task_seen(id(number), EPOCH + 2, "price", number);
    }
    assert_eq!((counts().open, counts().lapsed), (most, 6));
    board.chain(chain(EPOCH + 4), 1_000_000);
    assert_eq!((counts().open, counts().lapsed), (0, most + 6));
}

#[test]
fn what_a_transport_refused_is_in_the_status() {
    let board = ready();
    let mut counts = Counts::default();
    (counts.banned, counts.strangers, counts.arrivals_dropped, counts.calls_dropped) = (1, 2, 3, 4);
    (counts.unsent, counts.unjudged, counts.unanswered) = (5, 6, 7);
    board.transport(counts);
    let status = serde_json::to_value(board.view(1)).unwrap();
    let expected = serde_json::json!({
        "banned": 1, "strangers": 2, "arrivals_dropped": 3, "calls_dropped": 4,
        "unsent": 5, "unjudged": 6, "unanswered": 7,
    });
    assert_eq!(status["counts"]["transport"], expected);
}

#[test]
fn labels_are_text_or_bytes_and_turn_nothing_around() {
    assert_eq!(label_of(br#"{"pair":"ETH/USD"}"#), r#"{"pair":"ETH/USD"}"#);
    assert_eq!(label_of(&[0xff, 0]), "0xff00");
    assert_eq!(label_of("two\nlines".as_bytes()), "0x74776f0a6c696e6573");
    assert_eq!(label_of("\u{202e}txt.exe\u{200b}".as_bytes()), r"\u{202e}txt.exe\u{200b}");
    assert_eq!(label_of(&vec![b'a'; 5_000]).chars().count(), MAX_TEXT + 1);
    assert!(label_of(&vec![0xff; 5_000]).len() <= MAX_TEXT + 3);
}

#[test]
fn large_numbers_are_text_in_json() {
    let board = with_quorum();
    board.settled(id(1), EPOCH, SettledReport { fee: Some(u128::MAX), ..settlement(true) }, 4_000);
    let tasks = serde_json::to_value(board.view(5_000).tasks).unwrap();
    assert_eq!(tasks[0]["weight"], "120");
    assert_eq!(tasks[0]["settlement"]["fee"], u128::MAX.to_string());
    assert_eq!(tasks[0]["state"], "settled");
    assert_eq!(tasks[0]["times"]["final"], serde_json::Value::Null);
    assert_eq!(tasks[0]["result"], RESULT.to_string());
    let status = serde_json::to_value(board.view(5_000)).unwrap();
    assert_eq!(status["rewards"]["stake"], "10000");
    assert_eq!((status["node"]["chain_id"].as_u64(), status.get("tasks")), (Some(31_337), None));
    assert_eq!(status["chain"]["snapshot"], format!("0x{}", "05".repeat(20)));
}
