//! The text for Prometheus: every line has the form of OpenMetrics, and the numbers are those of the reports.

use std::collections::{BTreeMap, BTreeSet};

use quorate_evm::{SnapshotId, alloy_primitives::U256};
use quorate_network::{message::candidate_for, roles::ConflictReport};
use quorate_node::{
    board::{
        Component, Count, MAX_CONFLICTS, MAX_PUNISHMENTS, NodeBoard, PunishmentKind, PunishmentReport,
        SubmissionReport, SubmissionState,
    },
    transport::Counts,
};

use crate::shown::rig::{EPOCH, chain, empty, id, mined, owner, peer, ready, sent, settlement, signed};

/// The samples of a text, by name and labels.
fn samples(board: &NodeBoard, now_ms: u64) -> BTreeMap<String, f64> {
    let text = board.metrics(now_ms);
    let (body, end) = text.rsplit_once("# EOF\n").unwrap();
    assert_eq!(end, "");
    let mut described = Vec::new();
    let mut found = BTreeMap::new();
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (kind, name, rest) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
            assert!(["HELP", "TYPE", "UNIT"].contains(&kind) && !rest.is_empty(), "{line}");
            described.push(name.to_owned());
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let bare = name.split('{').next().unwrap();
        assert!(bare.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_'), "{line}");
        assert!(bare.starts_with("quorate_node_") || bare == "process_start_time_seconds", "{line}");
        assert!(described.iter().any(|described| bare.starts_with(described)), "{line} has no description");
        assert_eq!(found.insert(name.to_owned(), value.parse().unwrap()), None, "{line} is there twice");
    }
    found
}

#[track_caller]
fn expect(samples: &BTreeMap<String, f64>, name: &str, value: f64) {
    let found = samples.get(name).unwrap_or_else(|| panic!("{name} is missing: {:#?}", samples.keys()));
    assert!((found - value).abs() < 1e-9 * value.abs().max(1.0), "{name} is {found}, expected {value}");
}

#[test]
fn an_empty_board_says_that_it_is_not_ready() {
    let samples = samples(&empty(), 1_000);
    expect(&samples, "quorate_node_ready", 0.0);
    expect(&samples, "quorate_node_tasks_total{outcome=\"lapsed\"}", 0.0);
    // A problem of the component `stake` is none of them.
    let mut names = samples.keys().filter_map(|sample| sample.split('{').next());
    assert!(!names.any(|name| name.contains("chain_head") || name.contains("stake")), "nobody read them");
}

#[test]
fn tasks_are_timed_and_counted_once() {
    let board = ready();
    board.task_seen(id(1), EPOCH, "price", 1_000);
    board.task_report(signed(id(1), true, &[4]), 1_500);
    board.task_report(signed(id(1), true, &[2, 3, 4]), 2_250);
    board.settled(id(1), EPOCH, settlement(true), 3_500);
    let open = |board: &NodeBoard| samples(board, 4_000)["quorate_node_open_tasks"];
    assert_eq!(open(&board), 0.0);
    board.unsettled(id(1));
    assert_eq!(open(&board), 1.0);
    assert_eq!(samples(&board, 4_000)["quorate_node_tasks_total{outcome=\"approved\"}"], 0.0, "it is not final");
    board.settled(id(1), EPOCH, settlement(true), 9_500);
    board.finalised(id(1), 9_900);
    board.finalised(id(1), 9_950);
    board.task_seen(id(2), EPOCH, "late", 1_000);
    board.chain(chain(EPOCH + 2), 10_000);
    // A settlement that was there before this node looked tells no time.
    board.settled(id(3), EPOCH, settlement(false), 10_000);
    board.finalised(id(3), 10_000);
    let samples = samples(&board, 10_000);
    for (name, value) in [
        ("quorate_node_tasks_total{outcome=\"approved\"}", 1.0),
        ("quorate_node_tasks_total{outcome=\"rejected\"}", 1.0),
        ("quorate_node_tasks_total{outcome=\"lapsed\"}", 1.0),
        ("quorate_node_task_result_seconds_sum", 0.5),
        ("quorate_node_task_result_seconds_count", 1.0),
        ("quorate_node_task_quorum_seconds_sum", 0.75),
        ("quorate_node_task_settled_seconds_sum", 2.0),
        ("quorate_node_task_settled_seconds_count", 1.0),
        ("quorate_node_task_quorum_seconds_bucket{le=\"1.28\"}", 1.0),
        ("quorate_node_task_quorum_seconds_bucket{le=\"0.64\"}", 0.0),
        ("quorate_node_settlement_members_total{signature=\"signed\"}", 3.0),
        ("quorate_node_settlement_members_total{signature=\"missing\"}", 2.0),
    ] {
        expect(&samples, name, value);
    }
}

/// An alert sees the first transaction that is refused, also when the node has just started again.
#[test]
fn transactions_of_every_purpose_and_state_begin_at_zero() {
    let samples = samples(&empty(), 1);
    let states = ["sent", "replaced", "mined", "final", "refused", "given up", "undone"];
    for purpose in ["settle", "report", "other"] {
        for state in states {
            let labels = format!("{{purpose=\"{purpose}\",state=\"{state}\"}}");
            expect(&samples, &format!("quorate_node_submissions_total{labels}"), 0.0);
        }
        for name in ["gas_used", "gas_estimated", "fees_wei"] {
            expect(&samples, &format!("quorate_node_{name}_total{{purpose=\"{purpose}\"}}"), 0.0);
        }
    }
}

#[test]
fn what_a_transaction_cost_is_counted_when_it_is_final() {
    let board = ready();
    board.submission(sent(id(1)), 1);
    board.submission(mined(id(1)), 2);
    let gas = "quorate_node_gas_used_total{purpose=\"settle\"}";
    assert_eq!(samples(&board, 3)[gas], 0.0);
    let last = SubmissionReport { state: SubmissionState::Final, ..mined(id(1)) };
    board.submission(last.clone(), 3);
    board.submission(SubmissionReport { transaction: None, ..last.clone() }, 4);
    board.submission(last, 4);
    let samples = samples(&board, 5);
    expect(&samples, gas, 201_000.0);
    expect(&samples, "quorate_node_gas_estimated_total{purpose=\"settle\"}", 200_000.0);
    expect(&samples, "quorate_node_fees_wei_total{purpose=\"settle\"}", (1_u64 << 60) as f64);
    for state in ["sent", "mined", "final"] {
        expect(&samples, &format!("quorate_node_submissions_total{{purpose=\"settle\",state=\"{state}\"}}"), 1.0);
    }
}

/// A counter that begins at zero, so that an alert sees the first conflict. The list of those that the node knows may become shorter.
#[test]
fn conflicts_that_are_found_add_up() {
    let board = empty();
    for found in [0, 2, 2, 3] {
        board.conflicts([], found);
        let samples = samples(&board, 1);
        expect(&samples, "quorate_node_conflicts_found_total", found as f64);
        expect(&samples, "quorate_node_conflicts", 0.0);
    }
}

/// The lists forget the oldest. A number that stood still would end the alert about whoever is punished next.
#[test]
fn punishments_and_conflicts_beyond_the_lists_count() {
    let board = empty();
    let (operator, kind, amount) = (owner(1), PunishmentKind::Penalised, U256::from(1));
    let punish = |number| board.punished(PunishmentReport { operator, id: id(number), kind, amount, at_block: number });
    let expected = |penalised: usize| {
        let samples = samples(&board, 1);
        expect(&samples, "quorate_node_punishments{kind=\"penalised\"}", penalised as f64);
        expect(&samples, "quorate_node_punishments{kind=\"slashed\"}", 0.0);
    };
    let newest = MAX_PUNISHMENTS as u64;
    (0..=newest).for_each(punish);
    expected(MAX_PUNISHMENTS + 1);
    punish(newest);
    expected(MAX_PUNISHMENTS + 1);
    for _ in 0..2 {
        board.unpunished(operator, id(newest), kind);
        expected(MAX_PUNISHMENTS);
    }

    let conflict = |number| {
        let id = id(number);
        let first = candidate_for(EPOCH, SnapshotId::ZERO, id, 0, b"result");
        ConflictReport { operator, id, first, second: first, reportable: true, slashed: false }
    };
    let most = MAX_CONFLICTS as u64 + 50;
    board.conflicts((0..most).map(conflict), most);
    expect(&samples(&board, 1), "quorate_node_conflicts", most as f64);
    assert_eq!(board.view(1).conflicts.len(), MAX_CONFLICTS);
}

/// The rows of peers count from the beginning of each connection; the counter never goes back.
#[test]
fn bytes_of_peers_add_up_over_connections() {
    let board = empty();
    let bytes = || samples(&board, 1)["quorate_node_peer_bytes_total{direction=\"in\"}"];
    board.peers([peer("a", 1, 100), peer("b", 1, 10)]);
    assert_eq!(bytes(), 110.0);
    board.peers([peer("a", 1, 150)]);
    assert_eq!(bytes(), 160.0);
    // Both connect anew.
    board.peers([peer("a", 2, 30), peer("b", 2, 5)]);
    assert_eq!(bytes(), 195.0);
    board.peers([]);
    let samples = samples(&board, 1);
    expect(&samples, "quorate_node_peer_bytes_total{direction=\"out\"}", 390.0);
    expect(&samples, "quorate_node_peers", 0.0);
}

/// A transport says what it counted since it began. One that begins anew adds to what was there.
#[test]
fn what_a_transport_refuses_adds_up() {
    let board = empty();
    let name = |event: &str| format!("quorate_node_transport_events_total{{event=\"{event}\"}}");
    expect(&samples(&board, 1), &name("stranger refused"), 0.0);
    let mut counts = Counts::default();
    (counts.banned, counts.strangers, counts.unsent) = (1, 5, 9);
    (counts.arrivals_dropped, counts.calls_dropped, counts.unjudged, counts.unanswered) = (11, 12, 13, 14);
    board.transport(counts);
    board.transport(counts);
    counts.strangers = 7;
    board.transport(counts);
    // Another run.
    let mut anew = Counts::default();
    anew.strangers = 2;
    board.transport(anew);
    let samples = samples(&board, 1);
    for (event, value) in [
        ("peer banned", 1.0),
        ("stranger refused", 9.0),
        ("message unsent", 9.0),
        ("arrival dropped", 11.0),
        ("call dropped", 12.0),
        ("message unjudged", 13.0),
        ("question unanswered", 14.0),
    ] {
        expect(&samples, &name(event), value);
    }
}

#[test]
fn what_is_so_now_is_said() {
    let board = ready();
    for what in [Count::Received, Count::Received, Count::Verified, Count::Published, Count::Executed] {
        board.count(what);
    }
    board.count_many(Count::False, 3);
    board.count_many(Count::Ignored, 4);
    board.count(Count::Validated);
    board.count(Count::Failed(Component::Programs));
    board.problem(Component::Programs, Some("no such file".to_owned()));
    let (operator, kind) = (owner(1), PunishmentKind::Slashed { epoch: EPOCH });
    board.punished(PunishmentReport { operator, id: id(1), kind, amount: U256::from(5), at_block: 1 });
    let samples = samples(&board, 1_012_500);
    for (name, value) in [
        ("process_start_time_seconds", 400.0),
        ("quorate_node_build_info{version=\"1.2.3\"}", 1.0),
        ("quorate_node_ready", 0.0),
        ("quorate_node_problem{component=\"programs\"}", 1.0),
        ("quorate_node_problem{component=\"signer\"}", 0.0),
        ("quorate_node_messages_received_total", 2.0),
        ("quorate_node_messages_published_total", 1.0),
        ("quorate_node_verifications_total{outcome=\"true\"}", 1.0),
        ("quorate_node_verifications_total{outcome=\"false\"}", 3.0),
        ("quorate_node_verifications_total{outcome=\"ignored\"}", 4.0),
        ("quorate_node_program_calls_total{program=\"execute\"}", 1.0),
        ("quorate_node_program_calls_total{program=\"validate\"}", 1.0),
        ("quorate_node_failures_total{component=\"programs\"}", 1.0),
        ("quorate_node_punishments{kind=\"slashed\"}", 1.0),
        ("quorate_node_punishments{kind=\"penalised\"}", 0.0),
        ("quorate_node_peers", 1.0),
        ("quorate_node_bans", 0.0),
        ("quorate_node_members", 5.0),
        ("quorate_node_chain_head", 100.0),
        ("quorate_node_chain_final", 90.0),
        ("quorate_node_chain_epoch", 7.0),
        ("quorate_node_chain_head_age_seconds", 12.5),
        ("quorate_node_chain_read_age_seconds", 12.5),
        ("quorate_node_stake_tokens", 10.0),
        ("quorate_node_rewards_earned_tokens", 2.5),
        ("quorate_node_rewards_claimed_tokens", 0.5),
        ("quorate_node_rewards_pending_tokens", 2.0),
    ] {
        expect(&samples, name, value);
    }
}

/// docs/node.md lists each metric that has labels, and none that is not there.
#[test]
fn the_documentation_lists_every_labelled_metric() {
    let board = ready();
    // A family without a sample is not in the text.
    board.task_seen(id(1), EPOCH, "price", 1_000);
    board.task_report(signed(id(1), true, &[2, 3, 4]), 2_000);
    board.settled(id(1), EPOCH, settlement(true), 3_000);
    board.finalised(id(1), 4_000);
    board.submission(SubmissionReport { state: SubmissionState::Final, ..mined(id(1)) }, 4_000);
    for what in [Count::Verified, Count::Executed, Count::Failed(Component::Chain)] {
        board.count(what);
    }
    let text = board.metrics(1_000_000);
    let described = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    let described: BTreeSet<_> = described
        .map(|(name, kind)| match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        })
        .collect();
    // A histogram's buckets have a label of Prometheus.
    let samples = text.lines().filter_map(|line| line.split_once('{'));
    let labelled: BTreeSet<_> =
        samples.filter(|(_, labels)| !labels.starts_with("le=")).map(|(name, _)| name.to_owned()).collect();
    assert!(labelled.is_subset(&described) && !labelled.is_empty(), "{labelled:?}");
    let document = include_str!("../../../../../docs/node.md");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    let names = rows.map(|(name, _)| name.split('{').next().unwrap_or_default().to_owned());
    let listed: BTreeSet<_> = names.filter(|name| name.starts_with("quorate_node_")).collect();
    assert!(labelled.is_subset(&listed), "not listed: {:?}", labelled.difference(&listed));
    assert!(listed.is_subset(&described), "not there: {:?}", listed.difference(&described));
}
