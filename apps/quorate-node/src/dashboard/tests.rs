use std::{sync::Arc, time::Duration};

use quorate_chain::{Rpc, settlement::SettlementMetrics, watch::WatchMetrics};
use quorate_evm::{
    alloy_primitives::{Address, B256, U256},
    digest::Contract,
};

use super::*;
use crate::{
    board::{
        BanRow, ChainReport, Component, Expectations, IdentityReport, MemberReport, NodeBoard, PeerRow, PunishmentKind,
        PunishmentReport, Purpose, SubmissionReport, SubmissionState, WatchView,
    },
    transport::Counts,
};
use quorate_network::roles::Roles;

/// Texts that would do something if they were not escaped.
const MISCHIEF: &str = "<script>window.mischief = 1</script>\" onload='x' <img src=x>\u{202e}";

fn board() -> NodeBoard {
    let board = NodeBoard::new(Expectations::default());
    board.set_identity(IdentityReport {
        network: Contract { chain_id: 31_337, address: Address::repeat_byte(0xcd) },
        operator: Some(Address::repeat_byte(1)),
        roles: Roles { attest: true, ..Roles::default() },
        peer_id: MISCHIEF.to_owned(),
        version: MISCHIEF.to_owned(),
        started: 0,
    });
    board
}

fn render(view: &View) -> String {
    page(view).html()
}

#[test]
fn text_from_outside_is_escaped() {
    let board = board();
    board.task_seen(B256::ZERO, 1, MISCHIEF, 1);
    let submission = |purpose, state| SubmissionReport {
        purpose,
        transaction: None,
        nonce: None,
        state,
        gas_used: None,
        fee: None,
        estimate: None,
    };
    board.submission(submission(Purpose::Other(MISCHIEF.to_owned()), SubmissionState::Refused(MISCHIEF.to_owned())), 1);
    let row = PeerRow {
        peer_id: MISCHIEF.to_owned(),
        operator: None,
        address: MISCHIEF.to_owned(),
        since: 0,
        bytes_in: 1,
        bytes_out: 1,
        messages_in: 1,
        messages_out: 1,
        score: 0.0,
    };
    board.peers([row]);
    board.bans([BanRow { peer_id: MISCHIEF.to_owned(), operator: None, reason: MISCHIEF.to_owned(), until: 9 }]);
    board.problem(Component::Signer, Some(MISCHIEF.to_owned()));
    let behind = Some(MISCHIEF.to_owned());
    board.chain(ChainReport { head: 1, time: 1, final_block: 0, epoch: 1, snapshot: None, behind }, 1);
    let page = render(&board.view(2));
    for tag in ["<script>window", "<img", "\" onload", "\u{202e}"] {
        assert!(!page.contains(tag), "{tag}: {page}");
    }
    assert!(page.matches("&lt;script&gt;window.mischief = 1&lt;/script&gt;").count() >= 6, "{page}");
}

#[test]
fn the_banner_has_every_reason() {
    let board = board();
    let page = render(&board.view(1));
    for reason in ["the chain was not read yet", "signer: nothing was heard of it yet", "no peer is connected"] {
        assert!(page.contains(&format!("<li>{reason}</li>")), "{reason}: {page}");
    }
    assert!(page.contains("data-ready=\"false\""));
}

#[test]
fn what_the_transport_refused_is_said() {
    let board = board();
    assert!(render(&board.view(1)).contains("The transport has dropped and refused nothing since the start."));
    let mut counts = Counts::default();
    (counts.banned, counts.strangers) = (1, 12);
    board.transport(counts);
    let page = render(&board.view(1));
    for said in ["1 peer banned", "12 strangers refused"] {
        assert!(page.contains(&format!(">{said}<")), "{said}: {page}");
    }
    assert!(!page.contains("arrivals dropped") && !page.contains("refused nothing"), "{page}");
}

#[test]
fn the_page_asks_nothing_of_strangers() {
    let board = board();
    board.members((0..300).map(|index| MemberReport { index, owner: Address::with_last_byte(index as u8), weight: 5 }));
    let page = render(&board.view(1));
    assert!(!page.contains("style=") && !page.contains(" onclick"), "the policy forbids both");
    assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
    assert!(page.contains("The first 201 of 300.") || page.contains("The first 200 of 300."), "{page}");
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
}

/// Whoever looks at the page sees it before the tasks, and what concerns this node first.
#[test]
fn an_empty_pool_and_who_was_punished_stand_above_the_fold() {
    let board = board();
    let above = || {
        let page = render(&board.view(1));
        page[..page.find("<main").unwrap()].to_owned()
    };
    assert!(!above().contains("class=\"notice\""));
    board.problem(Component::Pool, Some("the pool is empty: call `quorate-node fund`".to_owned()));
    for operator in 1..6 {
        board.punished(PunishmentReport {
            operator: Address::repeat_byte(operator),
            id: B256::repeat_byte(operator),
            kind: PunishmentKind::Penalised,
            amount: U256::from(130_000_000_000_000_000_u64),
            at_block: 7,
        });
    }
    let above = above();
    assert!(above.contains("Nobody is paid") && above.contains("quorate-node fund"), "{above}");
    assert!(above.contains("This operator was punished") && above.contains("All 5 punishments"), "{above}");
    let first = above.find("This node's operator lost 0.13 tokens").expect("its own");
    assert!(first < above.find(" lost 0.13 tokens: it").unwrap() + 30 && above.matches("lost 0.13").count() == NOTICES);
    board.problem(Component::Pool, None);
    assert!(!render(&board.view(1)).contains("Nobody is paid"));
}

/// A node that watches shows what its watch saw, and the others have no tile.
#[test]
fn the_watch_has_a_tile() {
    let tile = |view: &View| {
        let page = render(view);
        let from = page.find("data-key=\"watch\"")?;
        Some(page[from..from + page[from..].find("</article>").unwrap()].to_owned())
    };
    let board = board();
    assert_eq!(tile(&board.view(1)), None);
    let rpc = Rpc::new("http://127.0.0.1:1").unwrap();
    let followed = Arc::new(SettlementMetrics::begun(rpc, Duration::from_secs(4)));
    board.watches(Address::repeat_byte(0xce), Arc::new(WatchMetrics::begun(Arc::clone(&followed))));
    let unread = tile(&board.view(1)).unwrap();
    assert!(
        unread.contains("nothing is recomputed yet") && unread.contains(&short(&Address::repeat_byte(0xce))),
        "{unread}"
    );
    // It has looked, and there is no posting and no payer.
    followed.caught_up(false);
    let looked = board.view(1).watch.unwrap();
    let none = tile(&board.view(looked.looked_ms.unwrap() + 3_000)).unwrap();
    for words in
        ["0<span class=\"beside\"> open", ">0 false<", ">0 not recomputed<", ">reports only<", ">looked 3 s ago<"]
    {
        assert!(none.contains(words), "{words}: {none}");
    }
    assert!(!none.contains("class=\"whole bad\"") && !none.contains("near the end"), "{none}");
    let trouble =
        WatchView { r#true: 1_200, r#false: 2, unknown: 1, late: 3, final_doubtful: 4, demands: Some(0), ..looked };
    let shown = tile(&View { watch: Some(trouble), ..board.view(1) }).unwrap();
    for words in [
        "1,203<span class=\"beside\"> open",
        "bad\">2 false<",
        "wait\">1 not recomputed<",
        "bad\">3 near the end<",
        "bad\">4 final and not true<",
        ">pays no demand<",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let paid = tile(&View { watch: Some(WatchView { demands: Some(1), ..trouble }), ..board.view(1) }).unwrap();
    assert!(paid.contains(">pays 1 demand<"), "{paid}");
}
