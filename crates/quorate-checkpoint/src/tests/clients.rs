//! What a client accepts, and what it must not.

use std::slice;

use quorate::{PublicKey, Reason};
use quorate_curve::{Backend, Group};

use super::*;

#[test]
fn three_of_five_signers_make_a_node_skip() {
    let mut node = Node::new();
    assert_eq!(why(&node.decide()), NotSkipped::NoCheckpoint);
    // No node has all signatures. They unite bit by bit.
    let parts = [&[0, 1][..], &[1], &[4]].map(|by| serving(&[signed(&at(100), by)]));
    let answers: Vec<_> = parts.iter().zip(["a", "b", "c"]).map(|(served, node)| answer(node, served)).collect();
    let update = node.update(&answers);
    assert_eq!(update.decision, Decision::Skip { height: 100, block_hash: block(100) });
    assert!(update.decision.skips(0) && update.decision.skips(100) && !update.decision.skips(101));
    assert_eq!((update.refused, update.faults), (vec![], vec![]));
    assert_eq!(node.client.held().unwrap().signers().collect::<Vec<_>>(), [0, 1, 4]);
    let node = node.restart();
    assert!(node.decide().skips(100));
}

#[test]
fn one_key_counted_twice() {
    let chain = chain();
    let own = signature(chain.newest(), &at(100), 0, 0);
    let with = |signatures: Vec<IndexedSignature>| Posting { signatures, ..signed(&at(100), &[]) };
    let elsewhere = |index| IndexedSignature { index, ..own.clone() };
    let lies = [
        with(vec![own.clone(), own.clone(), own.clone()]),
        with(vec![own.clone(), elsewhere(1), elsewhere(2)]),
        with(vec![elsewhere(2), elsewhere(1), own.clone()]),
        with(vec![own.clone()]),
    ];
    for lie in lies {
        let mut node = Node::new();
        let update = node.update(&three(slice::from_ref(&lie)));
        assert!(matches!(
            why(&update.decision),
            NotSkipped::NoCheckpoint | NotSkipped::TooFewSignatures { found: 1, .. }
        ));
        assert!(node.client.held().is_none());
    }
    // Nor does one key make two signers of a set.
    let twice = SetManifest { signers: vec![entry(0), entry(1), entry(0)], epoch: 1, threshold: 2 };
    assert_eq!(SignerSet::prove(twice, &mut rng()), Err(SetError::RepeatedKey { first: 0, second: 2 }));
}

#[test]
fn result_cached_before_it_was_checked() {
    let mut node = Node::new();
    // The first answer has a false signature of signer 2. A second answer without it must not find it counted.
    let mut lie = signed(&at(100), &[0, 1, 2]);
    lie.signatures[2].signature = lie.signatures[1].signature;
    assert_eq!(
        why(&node.update(&three(&[lie])).decision),
        NotSkipped::TooFewSignatures { height: 100, found: 2, needed: 3 }
    );
    let fewer = node.update(&three(&[signed(&at(100), &[0, 1])]));
    assert_eq!(why(&fewer.decision), NotSkipped::TooFewSignatures { height: 100, found: 2, needed: 3 });
    assert_eq!(why(&node.decide()), NotSkipped::NoCheckpoint);
    // A decision is not kept: after a change of the chain the same checkpoint counts no more.
    assert!(node.update(&three(&[signed(&at(100), &[0, 1, 2])])).decision.skips(100));
    let forked = Headers { tip: 1000, forks_at: 50 };
    assert_eq!(why(&node.client.decide(NOW, &forked)), NotSkipped::NotOnChain { height: 100 });
    assert_eq!(
        why(&node.client.decide(NOW + WEEK, &HEADERS)),
        NotSkipped::Expired { height: 100, expires_at: NOW + WEEK, now: NOW + WEEK }
    );
    assert!(node.decide().skips(100));
}

#[test]
fn rogue_key() {
    // The difference of a key of the attacker's and the honest ones: the sum of all would be the attacker's own key.
    let honest = key(0).public_key().point().negate();
    let rogue = Backend::auto().sum(&[key(9).public_key().point(), honest]);
    let rogue = PublicKey::<MinPk>::from_point(rogue).unwrap();
    for proof in [entry(9).proof, entry(0).proof, key(9).sign(SUITE, &rogue.to_bytes()).to_bytes()] {
        let rogue = SignerEntry { public_key: rogue.to_bytes(), proof };
        let manifest = SetManifest { epoch: 1, threshold: 2, signers: vec![entry(0), rogue] };
        let error = SignerSet::prove(manifest, &mut rng()).unwrap_err();
        assert_eq!(error, SetError::Possession { index: 1, reason: Reason::Mismatch });
    }
}

#[test]
fn sets_that_are_none() {
    let mut identity = entry(0);
    identity.public_key = [0; 48];
    identity.public_key[0] = 0xc0;
    let prove = |threshold, signers| SignerSet::prove(SetManifest { epoch: 1, threshold, signers }, &mut rng());
    assert_eq!(prove(1, vec![]), Err(SetError::Signers { found: 0 }));
    assert_eq!(prove(600, vec![entry(0); 1025]), Err(SetError::Signers { found: 1025 }));
    for (threshold, n) in [(0, 1), (2, 1), (2, 4), (5, 4), (1, 2)] {
        let found = prove(threshold, (0..n).map(entry).collect());
        assert_eq!(found, Err(SetError::Threshold { threshold, signers: usize::from(n) }));
    }
    assert!(matches!(prove(1, vec![identity]), Err(SetError::Key { index: 0, .. })));
    assert!(prove(1, vec![entry(0)]).is_ok() && prove(3, (0..4).map(entry).collect()).is_ok());
}

#[test]
fn clock_set_back() {
    let mut node = Node::new();
    let late = NOW + WEEK - 1;
    let answers = three(&[signed(&at(100), &[0, 1, 2])]);
    assert!(node.client.update(&answers, late, &HEADERS, &mut rng()).decision.skips(100));
    // At that time it has expired. An attacker who sets the clock back does not make it count again.
    let expected = NotSkipped::ClockSetBack { now: NOW, latest: late };
    assert_eq!(why(&node.decide()), expected);
    let mut node = node.restart();
    assert_eq!(why(&node.decide()), expected);
    assert_eq!(why(&node.update(&answers).decision), expected);
    // Clocks that differ a little are no attack.
    assert!(node.client.decide(late - 600, &HEADERS).skips(100));
    assert!(!node.client.decide(late - 601, &HEADERS).skips(100));
}

#[test]
fn two_thirds_of_nodes_lying() {
    let honest = serving(&[signed(&at(100), &[0, 1, 2])]);
    let mut false_block = at(200);
    false_block.block_hash = [6; 32];
    // Two keys are not enough, whatever the nodes add to them.
    let mut forged = signed(&false_block, &[3, 4]);
    forged.signatures.insert(0, IndexedSignature { index: 0, signature: forged.signatures[0].signature });
    let lies = [
        serving(&[forged.clone()]),
        serving(&[Posting { sum: Some([7; 96]), ..signed(&at(100), &[0, 1, 2]) }]),
        serving(&[signed(&Checkpoint { chain_id: [1; 32], ..at(300) }, &[0, 1, 2])]),
        serving(&[signed(&Checkpoint { height: u64::MAX, ..at(300) }, &[0, 1, 2])]),
        Served {
            evidence: Some(Equivocation::Checkpoints(Box::new([forged, signed(&at(200), &[0, 1, 2])]))),
            ..serving(&[])
        },
    ];
    for one in &lies {
        for other in &lies {
            let mut node = Node::new();
            let update = node.update(&[answer("liar", one), answer("liar too", other), answer("honest", &honest)]);
            assert_eq!(update.decision, Decision::Skip { height: 100, block_hash: block(100) }, "{update:?}");
            assert!(update.faults.iter().all(|(node, _)| *node != SourceId::from("honest")));
            assert!(!update.faults.is_empty() || !update.refused.is_empty());
            assert!(node.client.alarm().is_none());
        }
    }
}

#[test]
fn two_checkpoints_at_one_height() {
    let other = Checkpoint { block_hash: [6; 32], issued_at: NOW - 50, ..at(100) };
    let (ours, theirs) = (signed(&at(100), &[0, 1, 2]), signed(&other, &[2, 3, 4]));
    // Both at once, one after the other, and as evidence that a node has kept.
    let evidence = Equivocation::Checkpoints(Box::new([ours.clone(), theirs.clone()]));
    let served = Served { evidence: Some(evidence), ..serving(&[]) };
    let rounds = [
        vec![three(&[ours.clone(), theirs.clone()])],
        vec![three(slice::from_ref(&ours)), three(slice::from_ref(&theirs))],
        // One node is enough: nobody has to believe it.
        vec![three(slice::from_ref(&ours)), vec![answer("a", &served)]],
    ];
    for round in rounds {
        let mut node = Node::new();
        let last = round.iter().map(|answers| node.update(answers).decision).last().unwrap();
        assert!(matches!(why(&last), NotSkipped::Alarm(Alarm::Equivocation(_))));
        // It stays so, with better answers and after a restart.
        let mut node = node.restart();
        let again = node.update(&three(&[signed(&at(200), &[0, 1, 2, 3, 4])]));
        assert!(matches!(why(&again.decision), NotSkipped::Alarm(_)));
        assert!(matches!(why(&node.decide()), NotSkipped::Alarm(_)));
        // A third party checks the evidence, which names at least 2m - n keys.
        let Some(Alarm::Equivocation(evidence)) = node.client.alarm() else { panic!() };
        let json = serde_json::to_vec(evidence).unwrap();
        let guilty = Equivocation::from_json(&json).unwrap().verify(&chain(), &mut rng()).unwrap();
        assert_eq!(guilty, [key(2).public_key()]);
    }
}

#[test]
fn evidence_that_proves_nothing() {
    let ours = signed(&at(100), &[0, 1, 2]);
    let pair = |other: Posting| Equivocation::Checkpoints(Box::new([ours.clone(), other]));
    let verify = |evidence: Equivocation| evidence.verify(&chain(), &mut rng()).unwrap_err();
    // Other fields may differ: the block is the same, so both are true.
    let renewed = Checkpoint { expires_at: NOW + 2 * WEEK, issued_at: NOW, previous: [4; 32], ..at(100) };
    let all = [0, 1, 2, 3, 4];
    assert_eq!(verify(pair(signed(&renewed, &all))), EvidenceError::Compatible);
    assert_eq!(verify(pair(signed(&at(101), &all))), EvidenceError::Compatible);
    let elsewhere = Checkpoint { chain_id: [1; 32], block_hash: [6; 32], ..at(100) };
    assert_eq!(verify(pair(signed(&elsewhere, &all))), EvidenceError::Compatible);
    let other = Checkpoint { block_hash: [6; 32], ..at(100) };
    assert_eq!(verify(pair(signed(&other, &[3, 4]))), EvidenceError::Unsigned { place: 1, flaw: None });
    let mut forged = signed(&other, &[0, 3, 4]);
    forged.signatures[0].signature = forged.signatures[1].signature;
    assert!(matches!(verify(pair(forged)), EvidenceError::Unsigned { place: 1, flaw: Some(_) }));
    let unknown = Checkpoint { set_epoch: 2, ..other };
    assert!(matches!(verify(pair(signed(&unknown, &all))), EvidenceError::Unsigned { place: 1, flaw: Some(_) }));
}

#[test]
fn checkpoints_that_are_refused() {
    let height = 980;
    let refused = [
        (Checkpoint { expires_at: NOW, ..at(height) }, NotSkipped::Expired { height, expires_at: NOW, now: NOW }),
        (
            Checkpoint { issued_at: NOW + 601, ..at(height) },
            NotSkipped::FromTheFuture { height, issued_at: NOW + 601, now: NOW },
        ),
        (
            Checkpoint { expires_at: NOW + 60 * 24 * 3600, ..at(height) },
            NotSkipped::LivesTooLong { height, longest: 60 * 24 * 3600 },
        ),
        (at(981), NotSkipped::NotBuried { height: 981, found: 19, needed: 20 }),
        (at(1001), NotSkipped::AboveTip { height: 1001, tip: 1000 }),
        (Checkpoint { block_hash: [6; 32], ..at(height) }, NotSkipped::NotOnChain { height }),
        (Checkpoint { previous: [0; 32], ..at(height) }, NotSkipped::NoPrevious { height, held: 200 }),
        (at(150), NotSkipped::NotHigher { height: 150, held: 200 }),
    ];
    for (checkpoint, reason) in refused {
        let mut node = Node::new();
        assert!(node.update(&three(&[signed(&at(200), &[0, 1, 2])])).decision.skips(200));
        let update = node.update(&three(&[signed(&checkpoint, &[0, 1, 2])]));
        assert_eq!(update.refused, [(checkpoint, reason)]);
        // The one that is held goes on counting.
        assert_eq!(update.decision, Decision::Skip { height: 200, block_hash: block(200) });
    }
    let mut node = Node::new();
    assert!(node.update(&three(&[signed(&at(height), &[0, 1, 2])])).decision.skips(height));
}

#[test]
fn a_checkpoint_of_another_chain() {
    let mut node = Node::new();
    let other = Checkpoint { chain_id: [1; 32], ..at(100) };
    let update = node.update(&three(&[signed(&other, &[0, 1, 2])]));
    assert_eq!(why(&update.decision), NotSkipped::NoCheckpoint);
    assert_eq!(update.faults, ["a", "b", "c"].map(|node| (SourceId::from(node), NodeFault::OtherChain)));
}

#[test]
fn fewer_than_three_nodes() {
    let served = serving(&[signed(&at(100), &[0, 1, 2])]);
    let down = |node: &str| NodeAnswer { node: node.into(), body: Err("connection refused".to_owned()) };
    let mut node = Node::new();
    for answers in [
        vec![],
        vec![answer("a", &served), answer("b", &served)],
        vec![answer("a", &served), answer("b", &served), down("c")],
        // One node is one node, under whatever many answers.
        vec![answer("a", &served), answer("b", &served), answer("b", &served)],
    ] {
        let update = node.update(&answers);
        assert_eq!(why(&update.decision), NotSkipped::TooFewNodes { answered: answers.len().min(2), needed: 3 });
        assert!(node.client.held().is_none());
    }
    // Sets that do not begin at the pinned one are no answer.
    let stranger = Served { sets: Sets { first: manifest(1, 2, 5..8), rotations: vec![] }, ..served.clone() };
    let update = node.update(&[answer("a", &served), answer("b", &served), answer("c", &stranger)]);
    assert_eq!(why(&update.decision), NotSkipped::TooFewNodes { answered: 2, needed: 3 });
    assert!(matches!(&update.faults[..], [(_, NodeFault::Sets(RotationError::NotPinned { .. }))]));
    let many: Vec<_> = (0..100).map(|i| answer(&i.to_string(), &serving(&[]))).collect();
    let update = node.update(&many);
    assert_eq!(update.faults.len(), 36);
}

/// A node that sends three false signatures has told nothing. It was counted among those that answered in order.
#[test]
fn a_node_whose_signatures_are_all_false_does_not_count() {
    let truth = serving(&[signed(&at(100), &[0, 1, 2])]);
    let mut lies = truth.clone();
    for signature in &mut lies.checkpoints[0].signatures {
        signature.signature = truth.checkpoints[0].signatures[(usize::from(signature.index) + 1) % 3].signature;
    }
    (lies.checkpoints[0].sum, lies.checkpoints[0].bitmap) = (None, None);
    let mut node = Node::new();
    let update = node.update(&[answer("a", &truth), answer("b", &truth), answer("c", &lies)]);
    assert_eq!(why(&update.decision), NotSkipped::TooFewNodes { answered: 2, needed: 3 });
    let told = &update.faults[0];
    assert_eq!((&told.0, told.1.to_string()), (&SourceId::from("c"), "sent 3 signatures, 0 true".to_owned()));
    assert!(node.client.held().is_none());
    // One true signature is an answer, and so is none at all.
    let mut one = lies;
    one.checkpoints[0].signatures[2] = truth.checkpoints[0].signatures[2].clone();
    for third in [one, serving(&[])] {
        let update = Node::new().update(&[answer("a", &truth), answer("b", &truth), answer("c", &third)]);
        assert!(update.decision.skips(100), "{:?}", update.decision);
    }
}

#[test]
fn answers_that_cannot_be_read() {
    let whole = serving(&[signed(&at(100), &[0, 1, 2])]).to_json().into_bytes();
    let deep = [b"{\"sets\":".to_vec(), b"[".repeat(100_000)].concat();
    let oversized = [whole.clone(), vec![b' '; LARGEST_ANSWER]].concat();
    let many = serving(&[const { 0 }; 5].map(|_: u8| signed(&at(100), &[0]))).to_json().into_bytes();
    let mut bodies = vec![deep, oversized, many, vec![], b"null".to_vec(), b"[]".to_vec(), vec![0xff; 100]];
    bodies.extend((0..whole.len()).step_by(97).map(|end| whole[..end].to_vec()));
    bodies.push([&whole[..], b"x"].concat());
    bodies.push(String::from_utf8(whole.clone()).unwrap().replacen("\"height\"", "\"heights\"", 1).into_bytes());
    let mut node = Node::new();
    for body in bodies {
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        let bad = NodeAnswer { node: "bad".into(), body: Ok(body) };
        let update = node.update(&[answer("a", &serving(&[])), answer("b", &serving(&[])), bad]);
        assert_eq!(why(&update.decision), NotSkipped::TooFewNodes { answered: 2, needed: 3 }, "{shown}");
        assert!(matches!(&update.faults[..], [(_, NodeFault::Unreadable(_))]), "{shown}");
    }
}

#[test]
fn assumed_then_proven() {
    let mut node = Node::new();
    assert_eq!(node.client.to_prove(), None);
    assert!(node.client.proven(1).is_err());
    let _ = node.update(&three(&[signed(&at(100), &[0, 1, 2])]));
    assert_eq!(node.client.to_prove(), Some(1..=100));
    node.client.proven(40).unwrap();
    // A caller that repeats itself after a crash is right.
    for height in [40, 1] {
        node.client.proven(height).unwrap();
        assert_eq!(node.client.to_prove(), Some(41..=100));
    }
    for height in [0, 101, u64::MAX] {
        let error = node.client.proven(height).unwrap_err();
        assert!(matches!(error, RatchetError::NotSkipped { least: 41, most: 100, .. }), "{error}");
    }
    let mut node = node.restart();
    assert_eq!(node.client.to_prove(), Some(41..=100));
    // More is skipped before all is proven.
    let _ = node.update(&three(&[signed(&at(200), &[0, 1, 2])]));
    assert_eq!(node.client.to_prove(), Some(41..=200));
    for _ in 0..2 {
        node.client.proven(200).unwrap();
        assert_eq!(node.client.to_prove(), None);
    }
    let error = node.client.proven(201).unwrap_err().to_string();
    assert!(error.ends_with("and all blocks that were skipped, up to 200, are verified already"), "{error}");
    // What was proven on a branch that is left says nothing about the other one.
    let forked = Headers { tip: 2000, forks_at: 150 };
    let other = Checkpoint { block_hash: forked.hash(300).unwrap(), ..at(300) };
    assert!(node.client.update(&three(&[signed(&other, &[0, 1, 2])]), NOW, &forked, &mut rng()).decision.skips(300));
    assert_eq!(node.client.to_prove(), Some(1..=300));
}

#[test]
fn a_skipped_block_that_is_invalid_ends_skipping() {
    let mut node = Node::new();
    assert!(matches!(node.client.refuted(0), Err(RatchetError::NeverSkipped { found: 0, most: 0 })));
    let _ = node.update(&three(&[signed(&at(100), &[0, 1, 2])]));
    for height in [0, 101] {
        let error = node.client.refuted(height).unwrap_err();
        assert!(matches!(error, RatchetError::NeverSkipped { most: 100, .. }), "{error}");
    }
    assert!(node.decide().skips(100), "a block that was not skipped raises no alarm");
    node.client.refuted(77).unwrap();
    let alarm = NotSkipped::Alarm(Alarm::InvalidBlock { height: 77 });
    assert_eq!(why(&node.decide()), alarm);
    let mut node = node.restart();
    assert_eq!(why(&node.update(&three(&[signed(&at(200), &[0, 1, 2])])).decision), alarm);
    assert_eq!(node.client.to_prove(), Some(1..=100));
}

#[test]
fn bitmaps_and_sums_must_fit() {
    let (united, flaws) = unite([(SourceId::from("a"), &signed(&at(100), &[0, 2, 4]))], chain().sets(), &mut rng());
    assert_eq!((united.len(), flaws.len()), (1, 0));
    let whole = united[0].to_posting();
    assert_eq!(whole.bitmap, Some(vec![0b10101]));
    let keys: Vec<_> = [0, 2, 4].map(|i| key(i).public_key()).into();
    let sum = quorate::Signature::from_bytes(&whole.sum.unwrap()).unwrap();
    let message = at(100).signing_bytes(&chain().newest().id());
    assert!(quorate::naive::verify(&quorate::Claim::shared(SUITE, keys, message, sum)).is_valid());
    let with = |posting: Posting| unite([(SourceId::from("a"), &posting)], chain().sets(), &mut rng());
    assert_eq!(with(whole.clone()), (united, vec![]));
    let flaw = |posting: Posting| {
        let (united, flaws) = with(posting);
        assert!(united.is_empty());
        flaws[0].kind.clone()
    };
    for bitmap in [vec![], vec![0b10111], vec![0b10101, 0]] {
        assert_eq!(flaw(Posting { bitmap: Some(bitmap), ..whole.clone() }), FlawKind::Bitmap);
    }
    let other = signed(&at(100), &[1]).signatures[0].signature;
    assert_eq!(flaw(Posting { sum: Some(other), ..whole.clone() }), FlawKind::Sum);
    assert_eq!(flaw(Posting { bitmap: None, signatures: vec![], ..whole }), FlawKind::Sum);
    let mut beyond = signed(&at(100), &[1]);
    beyond.signatures[0].index = 5;
    assert_eq!(flaw(beyond), FlawKind::NoSuchSigner { index: 5, signers: 5 });
}
