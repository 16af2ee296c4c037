//! How sets follow each other.

use super::*;

/// Keys 3 to 7, of which three sign; two are in the first set, too.
fn second() -> SetManifest {
    manifest(2, 3, 3..8)
}

pub(super) fn rotation(old: &SignerSet, to: &SetManifest, by_old: &[(u16, u8)], by_new: &[(u16, u8)]) -> Rotation {
    let mut rotation = Rotation::proposal(old, to.clone());
    let message = rotation.signing_bytes();
    let sign = |by: &[(u16, u8)]| {
        by.iter()
            .map(|(index, i)| IndexedSignature { index: *index, signature: key(*i).sign(SUITE, &message).to_bytes() })
            .collect()
    };
    (rotation.old, rotation.new) = (sign(by_old), sign(by_new));
    rotation
}

fn good() -> Rotation {
    rotation(chain().newest(), &second(), &[(0, 0), (1, 1), (3, 3)], &[(0, 3), (1, 4), (2, 5)])
}

fn at_epoch_2(height: u64, by: &[u8]) -> Posting {
    let set = SignerSet::prove(second(), &mut rng()).unwrap();
    let document = Checkpoint { set_epoch: 2, ..at(height) };
    let signatures = by.iter().map(|i| signature(&set, &document, u16::from(*i), *i + 3)).collect();
    Posting { document, bitmap: None, sum: None, signatures }
}

fn rotated(postings: &[Posting]) -> Served {
    Served { sets: Sets { first: first(), rotations: vec![good()] }, ..serving(postings) }
}

#[test]
fn both_sets_sign_a_rotation() {
    let mut chain = chain();
    let old = chain.newest().clone();
    let (enough_old, enough_new) = ([(0, 0), (1, 1), (2, 2)], [(0, 3), (1, 4), (2, 5)]);
    let few = |side, found| RotationError::TooFew { side, found, needed: 3 };
    let wrong = [
        (rotation(&old, &second(), &enough_old[..2], &enough_new), few(SetSide::Old, 2)),
        (rotation(&old, &second(), &enough_old, &enough_new[..2]), few(SetSide::New, 2)),
        (rotation(&old, &second(), &[], &enough_new), few(SetSide::Old, 0)),
        (
            rotation(&old, &manifest(3, 3, 3..8), &enough_old, &enough_new),
            RotationError::Epoch { found: 3, expected: Some(2) },
        ),
        (
            rotation(&old, &manifest(1, 3, 3..8), &enough_old, &enough_new),
            RotationError::Epoch { found: 1, expected: Some(2) },
        ),
    ];
    for (rotation, error) in wrong {
        assert_eq!(chain.extend(rotation, &mut rng()), Err(error));
    }
    let twice = rotation(&old, &second(), &[(0, 0), (0, 0), (1, 1)], &enough_new);
    let error = RotationError::Signatures { side: SetSide::Old, kind: FlawKind::NotAscending { index: 0 } };
    assert_eq!(chain.extend(twice, &mut rng()), Err(error));
    let false_one = rotation(&old, &second(), &enough_old, &[(0, 3), (1, 3), (2, 5)]);
    let error = chain.extend(false_one, &mut rng()).unwrap_err();
    assert!(matches!(
        error,
        RotationError::Signatures { side: SetSide::New, kind: FlawKind::Signature { index: 1, .. } }
    ));
    // Signatures of one change are none of another.
    let moved = Rotation { to: manifest(2, 3, 4..9), ..good() };
    assert!(matches!(chain.extend(moved, &mut rng()), Err(RotationError::Signatures { side: SetSide::Old, .. })));
    chain.extend(good(), &mut rng()).unwrap();
    assert_eq!((chain.newest().epoch(), chain.pinned()), (2, first().id()));
    assert!(matches!(chain.extend(good(), &mut rng()), Err(RotationError::Epoch { found: 2, expected: Some(3) })));
    let sets = chain.to_sets();
    assert_eq!(Sets::from_json(&serde_json::to_vec(&sets).unwrap()).unwrap(), sets);
    assert_eq!(SetChain::follow(&sets, first().id(), &mut rng()).unwrap(), chain);
}

/// Whoever steals enough keys signs the greatest numbers, so that nothing can ever be newer. After the set is rotated, the
/// honest checkpoints must count all the same.
#[test]
fn fast_forward_then_rotation() {
    let stolen = [0, 1, 2];
    let mut node = Node::new();
    let ends = |height| Checkpoint { expires_at: u64::MAX, ..at(height) };
    let late = Checkpoint { issued_at: u64::MAX - 1, expires_at: u64::MAX, ..at(900) };
    let far = [at(u64::MAX), at(1001), ends(900), late].map(|checkpoint| signed(&checkpoint, &stolen));
    let update = node.update(&three(&far));
    assert_eq!(update.refused.len(), 4, "{update:?}");
    assert!(node.client.held().is_none());
    // The greatest that they can do is the newest buried block of the honest chain.
    assert!(node.update(&three(&[signed(&at(980), &stolen)])).decision.skips(980));
    let far: Vec<_> = ["a", "b", "c"].map(|node| answer(node, &rotated(&[signed(&at(u64::MAX), &stolen)]))).into();
    assert!(node.update(&far).decision.skips(980));
    assert_eq!(node.client.sets().unwrap().newest().epoch(), 2);
    // Old keys sign nothing more, and new ones do.
    let later = Headers { tip: 2000, forks_at: u64::MAX };
    let both = rotated(&[signed(&at(1500), &stolen), at_epoch_2(1200, &[0, 1, 2])]);
    let answers = ["a", "b", "c"].map(|node| answer(node, &both));
    let update = node.client.update(&answers, NOW, &later, &mut rng());
    assert_eq!(update.refused[0].1, NotSkipped::Epoch { height: 1500, found: 1, newest: 2 });
    assert_eq!(update.decision, Decision::Skip { height: 1200, block_hash: block(1200) });
    // Nodes that have not heard of the change do not bring the old set back.
    let mut node = node.restart();
    let update = node.client.update(&three(&[signed(&at(1800), &stolen)]), NOW, &later, &mut rng());
    assert_eq!(update.decision, Decision::Skip { height: 1200, block_hash: block(1200) });
    assert_eq!(node.client.sets().unwrap().newest().epoch(), 2);
}

#[test]
fn two_rotations_of_one_set_are_evidence() {
    let other = manifest(2, 2, 7..10);
    let theirs = rotation(chain().newest(), &other, &[(1, 1), (2, 2), (4, 4)], &[(0, 7), (1, 8)]);
    let fork = Served { sets: Sets { first: first(), rotations: vec![theirs.clone()] }, ..serving(&[]) };
    let mut node = Node::new();
    let answers = ["a", "b"].map(|node| answer(node, &rotated(&[at_epoch_2(100, &[0, 1, 2])])));
    let update = node.update(&[&answers[..], &[answer("c", &fork)]].concat());
    assert!(matches!(why(&update.decision), NotSkipped::Alarm(Alarm::Equivocation(Equivocation::Rotations(_)))));
    let node = node.restart();
    let Some(Alarm::Equivocation(evidence)) = node.client.alarm() else { panic!() };
    assert_eq!(evidence.verify(&chain(), &mut rng()).unwrap(), [key(1).public_key()]);
    // A change that too few have signed does not count.
    let mut node = Node::new();
    let unsigned = Rotation { old: theirs.old[..2].to_vec(), ..theirs };
    let fork = Served { sets: Sets { first: first(), rotations: vec![unsigned] }, ..serving(&[]) };
    let update = node.update(&[&answers[..], &[answer("c", &fork), answer("d", &rotated(&[]))]].concat());
    assert!(update.decision.skips(100));
    assert!(matches!(&update.faults[..], [(_, NodeFault::Sets(RotationError::TooFew { .. }))]));
}

#[test]
fn parts_of_a_rotation_are_united() {
    let old = chain().newest().clone();
    let parts = [
        ("a", rotation(&old, &second(), &[(0, 0)], &[])),
        ("b", rotation(&old, &second(), &[(3, 3)], &[(0, 3)])),
        ("liar", rotation(&old, &second(), &[(2, 9)], &[(4, 7)])),
        ("c", rotation(&old, &second(), &[(1, 1)], &[(2, 5)])),
        ("other", rotation(&old, &manifest(2, 2, 0..3), &[(4, 4)], &[])),
    ];
    let parts: Vec<_> = parts.into_iter().map(|(name, part)| (SourceId::from(name), part)).collect();
    let (united, flaws) = Rotation::unite(&old, &second(), &parts, &mut rng()).unwrap();
    assert_eq!(flaws.iter().map(|(source, _)| source.to_string()).collect::<Vec<_>>(), ["liar", "other"]);
    assert_eq!(united.new.iter().map(|signature| signature.index).collect::<Vec<_>>(), [0, 2, 4]);
    let mut chain = chain();
    chain.extend(united, &mut rng()).unwrap();
}

#[test]
fn a_board_goes_over_to_the_next_set() {
    let mut board = Board::new(CHAIN, chain(), 600);
    let post = |board: &mut Board, posting: &Posting| board.post(posting, SourceId::from("s"), NOW, &mut rng());
    post(&mut board, &signed(&at(100), &[0, 1, 2])).unwrap();
    post(&mut board, &signed(&at(200), &[0, 1])).unwrap();
    let too_few = Rotation { new: Vec::new(), ..good() };
    assert!(matches!(board.rotate(too_few, &mut rng()), Err(RotationError::TooFew { side: SetSide::New, .. })));
    assert_eq!(board.serve().checkpoints.len(), 2);
    board.rotate(good(), &mut rng()).unwrap();
    // What enough keys of the old set signed is still served; what waited for them is not.
    assert_eq!(board.serve().checkpoints, [board.complete().unwrap().to_posting()]);
    let old = post(&mut board, &signed(&at(200), &[2])).unwrap_err();
    assert_eq!(old, PostError::Epoch { found: 1, newest: 2 });
    assert_eq!(post(&mut board, &at_epoch_2(200, &[0, 1, 2])).unwrap().signatures, 3);
    // The same change once more is not evidence, and another one is.
    assert!(board.rotate(good(), &mut rng()).is_err());
    assert!(board.evidence().is_none());
    let theirs = manifest(2, 2, 7..10);
    let theirs = rotation(chain().newest(), &theirs, &[(1, 1), (2, 2), (4, 4)], &[(0, 7), (1, 8)]);
    assert!(board.rotate(theirs, &mut rng()).is_err());
    assert!(matches!(board.serve().evidence, Some(Equivocation::Rotations(_))));
    // Whoever starts a board anew from what it served has all of it.
    let mut again = Board::new(CHAIN, chain(), 600);
    again.take_in(&board.serve(), &SourceId::from("disk"), NOW, &mut rng());
    assert_eq!(again.serve(), board.serve());
}
