//! A node is ready because something proved it, never because nothing objected.

use std::{sync::Arc, thread::sleep, time::Duration};

use quorate_chain::{Rpc, settlement::SettlementMetrics, watch::WatchMetrics};
use quorate_evm::alloy_primitives::Address;
use quorate_network::roles::Roles;
use quorate_node::board::{ChainReport, Component, Expectations, MemberReport, NodeBoard, old_head};

use crate::shown::rig::{EPOCH, chain, empty, identify, owner, peer, ready, ready_on};

const NOW: u64 = 1_000_000;

fn reasons(board: &NodeBoard) -> Vec<String> {
    board.readiness(NOW).err().unwrap_or_default()
}

#[test]
fn an_empty_board_is_not_ready() {
    let expected = [
        "the node is starting",
        "the chain was not read yet",
        "disk: nothing was heard of it yet",
        "no peer is connected",
    ];
    assert_eq!(reasons(&empty()), expected);
    assert!(!empty().view(NOW).ready);
}

#[test]
fn each_thing_that_is_missing_is_a_reason() {
    assert_eq!(ready().readiness(NOW), Ok(()));
    type Change = fn(&NodeBoard);
    let cases: [(Change, &str); 11] = [
        (|board| board.stopping(), "the node is stopping"),
        (|board| board.problem(Component::Signer, Some("it is locked".to_owned())), "signer: it is locked"),
        (|board| board.problem(Component::Disk, Some("full".to_owned())), "disk: full"),
        (|board| board.problem(Component::Programs, Some("no such file".to_owned())), "programs: no such file"),
        (|board| board.problem(Component::Chain, Some("refused".to_owned())), "chain: refused"),
        (|board| board.problem(Component::Tasks, Some("2 are open".to_owned())), "tasks: 2 are open"),
        (|board| board.problem(Component::Stake, Some("none".to_owned())), "stake: none"),
        (
            |board| board.chain(ChainReport { snapshot: None, ..chain(EPOCH) }, NOW),
            "the chain has no snapshot for epoch 7",
        ),
        (
            |board| board.chain(ChainReport { behind: Some("it synchronises".to_owned()), ..chain(EPOCH) }, NOW),
            "the chain is behind: it synchronises",
        ),
        (|board| board.peers([]), "no peer is connected"),
        (|board| board.chain(chain(EPOCH), NOW - 60_001), "the chain was last read 60 s ago"),
    ];
    for (change, reason) in cases {
        let board = ready();
        change(&board);
        assert_eq!(reasons(&board), [reason]);
        assert_eq!(board.view(NOW).reasons, [reason]);
    }
}

/// What runs beside the loop reads the chain, and nothing is signed. The disk hangs, for example.
#[test]
fn a_loop_that_hangs_is_not_ready() {
    let board = ready_on(NodeBoard::new(Expectations { turn_age_ms: 10, ..Expectations::default() }));
    sleep(Duration::from_millis(20));
    assert_eq!((reasons(&board), board.liveness()), (Vec::new(), Ok(())), "it has not turned yet");
    board.turned();
    sleep(Duration::from_millis(20));
    let (reasons_now, liveness) = (reasons(&board), board.liveness().unwrap_err());
    let hangs = "the node's loop has not turned for ";
    assert!(reasons_now.len() == 1 && reasons_now[0].starts_with(hangs), "{reasons_now:?}");
    assert!(liveness.starts_with(hangs), "{liveness}");

    let board = ready();
    board.turned();
    assert_eq!((reasons(&board), board.liveness()), (Vec::new(), Ok(())), "a moment is no hanging");
}

/// The chain's node answers, and its chain stands still.
#[test]
fn an_old_head_is_a_reason() {
    let second = NOW / 1_000;
    for (epoch_length, most) in [(1, 60), (120, 60), (240, 120), (600, 300), (86_400, 300)] {
        let of = |age: u64| {
            let (board, time) = (ready(), second - age);
            board.chain(ChainReport { time, behind: old_head(time, epoch_length, NOW), ..chain(EPOCH) }, NOW);
            reasons(&board)
        };
        assert_eq!(of(most), [""; 0], "an epoch of {epoch_length} s");
        assert_eq!(of(most + 1), [format!("the chain is behind: its newest block is {} s old", most + 1)]);
    }
    assert_eq!(old_head(second + 9, 1, NOW), None, "the chain's clock is ahead");
}

#[test]
fn a_problem_that_ends_is_no_reason() {
    let board = ready();
    board.problem(Component::Signer, Some("it is locked".to_owned()));
    assert_eq!(board.view(NOW).problems.len(), 1);
    board.problem(Component::Signer, None);
    assert_eq!(reasons(&board), [""; 0]);
    assert!(board.view(NOW).problems.is_empty());
}

/// An aggregator alone has no signer.
#[test]
fn only_roles_that_sign_need_a_signer() {
    let needs = |roles| {
        let board = empty();
        identify(&board, roles);
        board.problem(Component::Disk, None);
        board.chain(chain(EPOCH), NOW);
        board.peers([peer("a", 0, 0)]);
        !reasons(&board).is_empty()
    };
    assert!(!needs(Roles { aggregate: true, ..Roles::default() }));
    assert!(needs(Roles { perform: true, ..Roles::default() }) && needs(Roles { attest: true, ..Roles::default() }));
}

/// It has left, or has registered and its epoch has not begun: whatever it signs, nobody counts it.
#[test]
fn an_operator_without_weight_is_not_ready_to_sign() {
    let board = ready();
    let members = |from: u32| (from..5).map(|index| MemberReport { index, owner: owner(index), weight: 10 });
    board.members(members(1));
    let reason = reasons(&board);
    let expected = format!("the operator {} has no weight in epoch 7", owner(0));
    assert!(reason.len() == 1 && reason[0].starts_with(&expected), "{reason:?}");
    // An aggregator needs none.
    identify(&board, Roles { aggregate: true, ..Roles::default() });
    assert_eq!(reasons(&board), [""; 0]);
    identify(&board, Roles { perform: true, aggregate: true, ..Roles::default() });
    assert_eq!(reasons(&board), reason);
    board.members(members(0));
    assert_eq!(reasons(&board), [""; 0]);
}

#[test]
fn who_is_alone_needs_no_peer_and_who_wants_more_waits_for_them() {
    let board = NodeBoard::new(Expectations { peers: 0, ..Expectations::default() });
    assert!(!reasons(&board).iter().any(|reason| reason.contains("peer")));
    let board = NodeBoard::new(Expectations { peers: 3, ..Expectations::default() });
    board.peers([peer("a", 0, 0), peer("b", 0, 0)]);
    assert!(reasons(&board).contains(&"2 peers are connected; there must be 3".to_owned()));
}

/// The metric that an alert asks for says what the node itself says of its peers.
#[test]
fn a_node_without_peers_has_the_problem_peers() {
    let problem = |board: &NodeBoard| {
        let problems = board.view(NOW).problems.into_iter().filter(|row| row.component == "peers");
        let problems: Vec<_> = problems.map(|row| row.problem).collect();
        let told = board.metrics(NOW).contains("quorate_node_problem{component=\"peers\"} 1\n");
        assert_eq!(told, !problems.is_empty());
        problems
    };
    let board = ready();
    assert_eq!(problem(&board), [""; 0]);
    board.peers([]);
    assert_eq!((problem(&board), reasons(&board)), (reasons(&board), vec!["no peer is connected".to_owned()]));
    board.peers([peer("a", 0, 0)]);
    assert_eq!((problem(&board), reasons(&board)), (Vec::new(), Vec::new()));
    let alone = NodeBoard::new(Expectations { peers: 0, ..Expectations::default() });
    alone.peers([]);
    assert_eq!(problem(&alone), [""; 0]);
}

/// A node that watches is ready when its watch was said to work and has looked: one that hangs says nothing.
#[test]
fn a_node_that_watches_is_not_ready_without_its_watch() {
    let board = ready();
    assert!(!board.metrics(NOW).contains("quorate_watcher"));
    let rpc = Rpc::new("http://127.0.0.1:1").unwrap();
    let followed = Arc::new(SettlementMetrics::begun(rpc, Duration::from_secs(4)));
    board.watches(Address::repeat_byte(0xce), Arc::new(WatchMetrics::begun(Arc::clone(&followed))));
    assert_eq!(reasons(&board), ["watch: nothing was heard of it yet"]);
    board.problem(Component::Watch, Some("no answer".to_owned()));
    assert_eq!(reasons(&board), ["watch: no answer"]);
    board.problem(Component::Watch, None);
    assert_eq!(reasons(&board), ["watch: the logs are still read: no block was read, the newest block is unknown"]);
    let text = board.metrics(NOW);
    for line in ["quorate_follower_ready 0", "quorate_watcher_late 0", "quorate_node_ready 0"] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert_eq!(text.matches("# TYPE process_start_time_seconds").count(), 1, "{text}");
    followed.caught_up(false);
    assert_eq!(reasons(&board), [""; 0]);
}
