//! What a node takes, keeps and serves.

use super::*;

fn board() -> Board {
    Board::new(CHAIN, chain(), 600)
}

fn post(board: &mut Board, checkpoint: &Checkpoint, by: &[u8]) -> Result<Posted, PostError> {
    board.post(&signed(checkpoint, by), SourceId::from("signer"), NOW, &mut rng())
}

#[test]
fn signatures_are_verified_and_united() {
    let mut board = board();
    assert_eq!(post(&mut board, &at(100), &[0]).unwrap().signatures, 1);
    assert_eq!(post(&mut board, &at(100), &[0]).unwrap().signatures, 1);
    let mut false_one = signed(&at(100), &[1, 2]);
    false_one.signatures[1].signature = false_one.signatures[0].signature;
    let posted = board.post(&false_one, SourceId::from("liar"), NOW, &mut rng()).unwrap();
    assert_eq!((posted.signatures, posted.needed, posted.flaws.len()), (2, 3, 1));
    false_one.signatures.remove(0);
    let error = board.post(&false_one, SourceId::from("liar"), NOW, &mut rng()).unwrap_err();
    assert!(matches!(error, PostError::NothingTrue { .. }), "{error}");
    assert!(board.complete().is_none());
    assert_eq!(board.serve().checkpoints[0].bitmap, Some(vec![0b11]));
    assert_eq!(post(&mut board, &at(100), &[4]).unwrap().signatures, 3);
    assert_eq!(post(&mut board, &at(100), &[3]).unwrap().signatures, 4);
    assert_eq!(board.complete().unwrap().count(), 4);
    // A client takes what it serves.
    let served = Served::from_json(board.serve().to_json().as_bytes()).unwrap();
    let answers: Vec<_> = ["a", "b", "c"].map(|node| answer(node, &served)).into();
    assert!(Node::new().update(&answers).decision.skips(100));
}

#[test]
fn postings_that_are_refused() {
    let mut board = board();
    post(&mut board, &at(200), &[0, 1, 2]).unwrap();
    let mut refused = |checkpoint| post(&mut board, &checkpoint, &[0, 1, 2]).unwrap_err();
    assert_eq!(refused(at(199)), PostError::Lower { found: 199, held: 200 });
    assert_eq!(refused(Checkpoint { chain_id: [1; 32], ..at(300) }), PostError::OtherChain);
    assert_eq!(refused(Checkpoint { set_epoch: 2, ..at(300) }), PostError::Epoch { found: 2, newest: 1 });
    assert_eq!(refused(Checkpoint { expires_at: NOW, ..at(300) }), PostError::Expired { expires_at: NOW, now: NOW });
    let issued_at = NOW + 601;
    assert_eq!(refused(Checkpoint { issued_at, ..at(300) }), PostError::FromTheFuture { issued_at, now: NOW });
}

/// A signer who signs everything fills no memory, and displaces nobody.
#[test]
fn a_signer_who_signs_everything() {
    let mut board = board();
    post(&mut board, &at(150), &[0, 1]).unwrap();
    for height in 1000..1100 {
        post(&mut board, &at(height), &[4]).unwrap();
    }
    assert_eq!(post(&mut board, &at(500), &[4]), Err(PostError::Superseded));
    let served = board.serve();
    let heights: Vec<_> = served.checkpoints.iter().map(|posting| posting.document.height).collect();
    assert_eq!(heights, [150, 1098, 1099]);
    assert_eq!(post(&mut board, &at(150), &[2]).unwrap().signatures, 3);
    assert_eq!(board.complete().unwrap().checkpoint().height, 150);
}

#[test]
fn two_complete_checkpoints_are_kept_as_evidence() {
    let mut board = board();
    let other = Checkpoint { block_hash: [6; 32], ..at(100) };
    post(&mut board, &at(100), &[0, 1, 2]).unwrap();
    post(&mut board, &other, &[2, 3]).unwrap();
    assert!(board.evidence().is_none());
    post(&mut board, &other, &[4]).unwrap();
    let served = board.serve();
    assert_eq!(served.evidence.clone().unwrap().verify(&chain(), &mut rng()).unwrap(), [key(2).public_key()]);
    // A client that asks one board with it, and two without, stops.
    let answers = [answer("a", &served), answer("b", &serving(&[])), answer("c", &serving(&[]))];
    assert!(matches!(why(&Node::new().update(&answers).decision), NotSkipped::Alarm(_)));
    // A board that starts again takes in what it served before.
    let mut again = Board::new(CHAIN, chain(), 600);
    again.take_in(&served, &SourceId::from("disk"), NOW, &mut rng());
    assert_eq!(again.serve(), served);
    // False evidence is not kept.
    let mut fresh = Board::new(CHAIN, chain(), 600);
    let mut lie = served;
    let Some(Equivocation::Checkpoints(both)) = &mut lie.evidence else { panic!() };
    both[1].signatures.pop();
    (both[1].bitmap, both[1].sum) = (None, None);
    lie.checkpoints.clear();
    fresh.take_in(&lie, &SourceId::from("liar"), NOW, &mut rng());
    assert!(fresh.evidence().is_none());
}
