//! What a node takes, keeps and serves.

use super::{rotations::rotation, *};

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

fn open(path: &std::path::Path, sets: &Sets) -> Result<KeptBoard, KeptBoardError> {
    KeptBoard::open(path, CHAIN, sets, first().id(), 600, &mut rng())
}

fn keep(board: &mut KeptBoard, checkpoint: &Checkpoint, by: &[u8]) -> Posted {
    board.post(&signed(checkpoint, by), SourceId::from("signer"), NOW, &mut rng()).unwrap().unwrap()
}

/// More than are served, evidence, what has expired since, and a change of the set afterwards.
#[test]
fn a_kept_board_is_the_same_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board");
    let sets = chain().to_sets();
    let mut kept = open(&path, &sets).unwrap();
    assert!(matches!(open(&path, &sets), Err(KeptBoardError::File(FileError::Locked { .. }))));
    keep(&mut kept, &at(100), &[0, 1, 2]);
    keep(&mut kept, &Checkpoint { block_hash: [6; 32], ..at(100) }, &[2, 3, 4]);
    for (height, by) in [(200, &[0, 1][..]), (201, &[0]), (202, &[1, 2]), (203, &[3]), (204, &[3]), (205, &[4])] {
        keep(&mut kept, &at(height), by);
    }
    assert_eq!(kept.board().serve().checkpoints.len(), MOST_SERVED);
    let before = kept.board().clone();
    assert_eq!((before.waiting().len(), before.evidence().is_some()), (6, true));
    drop(kept);
    let kept = open(&path, &sets).unwrap();
    assert_eq!(kept.board().serve(), before.serve());
    assert_eq!(kept.board().waiting(), before.waiting());
    drop(kept);

    // The operator gives it the next set. What waited goes, what is complete stays, also when it starts once more with the old
    // file of sets.
    let next = rotation(chain().newest(), &manifest(2, 3, 1..6), &[(1, 1), (2, 2), (3, 3)], &[(0, 1), (1, 2), (2, 3)]);
    let rotated = Sets { rotations: vec![next], ..sets.clone() };
    for sets in [&rotated, &sets] {
        let kept = open(&path, sets).unwrap();
        let served = kept.board().serve();
        assert_eq!((served.checkpoints.len(), served.checkpoints[0].document.height), (1, 100));
        assert_eq!(served.sets, rotated);
        assert_eq!(served.evidence, before.serve().evidence);
    }
    // Another next set is evidence against those who signed both.
    let fresh = folder.path().join("fresh");
    drop(open(&fresh, &rotated).unwrap());
    let other = rotation(chain().newest(), &manifest(2, 3, 0..5), &[(0, 0), (1, 1), (2, 2)], &[(0, 0), (1, 1), (2, 2)]);
    let kept = open(&fresh, &Sets { rotations: vec![other], ..sets }).unwrap();
    assert!(matches!(kept.board().evidence(), Some(Equivocation::Rotations(_))));
}

/// Enough stolen keys have signed the greatest height there is. Their set is replaced, and the new one is not kept from signing the
/// blocks of today, also after restarts.
#[test]
fn the_height_of_stolen_keys_does_not_outlive_their_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board");
    let sets = chain().to_sets();
    let mut kept = open(&path, &sets).unwrap();
    let stolen = Checkpoint { block_hash: [6; 32], ..at(u64::MAX) };
    assert_eq!(keep(&mut kept, &stolen, &[0, 1, 2]).signatures, 3);
    drop(kept);

    let next = rotation(chain().newest(), &manifest(2, 3, 1..6), &[(1, 1), (2, 2), (3, 3)], &[(0, 1), (1, 2), (2, 3)]);
    let rotated = Sets { rotations: vec![next], ..sets };
    let set = SetChain::follow(&rotated, first().id(), &mut rng()).unwrap().newest().clone();
    let post = |kept: &mut KeptBoard, height, index: u16| {
        let document = Checkpoint { set_epoch: 2, ..at(height) };
        let signatures = vec![signature(&set, &document, index, index as u8 + 1)];
        let posting = Posting { document, bitmap: None, sum: None, signatures };
        kept.post(&posting, SourceId::from("signer"), NOW, &mut rng()).unwrap()
    };
    // One waits below the complete one of the old set.
    for index in 0..3 {
        let mut kept = open(&path, &rotated).unwrap();
        assert_eq!(kept.board().complete().unwrap().checkpoint(), &stolen);
        assert_eq!(post(&mut kept, 100, index).unwrap().signatures, usize::from(index) + 1);
    }
    let mut kept = open(&path, &rotated).unwrap();
    assert_eq!(kept.board().complete().unwrap().checkpoint(), &Checkpoint { set_epoch: 2, ..at(100) });
    assert_eq!(post(&mut kept, 99, 0), Err(PostError::Lower { found: 99, held: 100 }));
    // Another block at the height of the old set's checkpoint is evidence, as long as that one is held.
    let mut board = Board::new(CHAIN, chain(), 600);
    board.post(&signed(&stolen, &[0, 1, 2]), SourceId::from("thief"), NOW, &mut rng()).unwrap();
    board.rotate(rotated.rotations[0].clone(), &mut rng()).unwrap();
    for index in 0..3 {
        let document = Checkpoint { set_epoch: 2, ..at(u64::MAX) };
        let signatures = vec![signature(&set, &document, index, index as u8 + 1)];
        let posting = Posting { document, bitmap: None, sum: None, signatures };
        board.post(&posting, SourceId::from("signer"), NOW, &mut rng()).unwrap();
    }
    assert!(matches!(board.evidence(), Some(Equivocation::Checkpoints(_))));
    assert_eq!(board.complete().unwrap().checkpoint().set_epoch, 2);
}

#[test]
fn a_kept_board_that_was_damaged_or_forged_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board");
    let sets = chain().to_sets();
    keep(&mut open(&path, &sets).unwrap(), &at(100), &[0, 1, 2]);
    let whole = std::fs::read_to_string(&path).unwrap();
    let json = whole.lines().nth(1).unwrap();
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        let error = open(&path, &sets).unwrap_err();
        assert!(matches!(error, KeptBoardError::Damaged { .. }), "{error}");
        error.to_string()
    };
    for end in [0, 1, 64, 65, whole.len() / 2, whole.len() - 1] {
        assert!(refused(&whole.as_bytes()[..end]).contains("checksum"));
    }
    for (forged, reason) in [
        (json.replacen("\"height\":100", "\"height\":101", 1), "height 101 is not signed"),
        (json.replacen("\"index\":1", "\"index\":3", 1), "height 100 is not signed"),
        (json.replacen("\"version\":1", "\"version\":2", 1), "found 2, expected 1"),
        (json.replacen("0xcc", "0xcd", 1), "another chain"),
        (json.replacen("\"threshold\":3", "\"threshold\":4", 1), "expected the pinned one"),
        (json.replacen("\"waiting\"", "\"more\"", 1), "more"),
    ] {
        assert_ne!(forged, json, "{reason}");
        let found = refused(&crate::sealed::with_checksum(&forged));
        assert!(found.contains(reason) && found.contains("board is damaged"), "{found}");
    }
    // One false signature among true ones.
    let mut form: serde_json::Value = serde_json::from_str(json).unwrap();
    let complete = form["complete"].as_object_mut().unwrap();
    complete.retain(|name, _| name != "bitmap" && name != "sum");
    complete["signatures"][2]["index"] = 3.into();
    assert!(refused(&crate::sealed::with_checksum(&form.to_string())).contains("height 100 is not signed"));
    std::fs::write(&path, &whole).unwrap();
    assert_eq!(open(&path, &sets).unwrap().board().complete().unwrap().count(), 3);
}

/// What cannot be written down is neither answered nor served.
#[test]
fn a_kept_board_on_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("board");
    let mut kept = open(&path, &chain().to_sets()).unwrap();
    keep(&mut kept, &at(100), &[0]);
    kept.interrupt(Box::new(|_| Err(std::io::ErrorKind::StorageFull.into())));
    let posted = kept.post(&signed(&at(100), &[1]), SourceId::from("signer"), NOW, &mut rng());
    assert!(matches!(posted, Err(FileError::Io { .. })));
    assert_eq!(kept.board().serve().checkpoints[0].signatures.len(), 1);
    // What was there before needs no room.
    assert_eq!(keep(&mut kept, &at(100), &[0]).signatures, 1);
    assert_eq!((kept.write_failures(), kept.is_failing()), (1, true));
    assert!(kept.post(&signed(&at(100), &[1]), SourceId::from("signer"), NOW, &mut rng()).is_err());
    assert_eq!((kept.write_failures(), kept.is_failing()), (2, true));
    // There is room again, and the same board takes it, without a restart.
    kept.interrupt(Box::new(|_| Ok(())));
    assert_eq!(keep(&mut kept, &at(100), &[1]).signatures, 2);
    assert_eq!((kept.write_failures(), kept.is_failing()), (2, false));
    drop(kept);
    assert_eq!(open(&path, &chain().to_sets()).unwrap().board().serve().checkpoints[0].signatures.len(), 2);
}
