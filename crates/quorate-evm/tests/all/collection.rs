//! Members' signatures, verified together and one by one: whatever arrives in whatever order, both say the same.
#![allow(clippy::unwrap_used, reason = "what cannot be made fails the test")]

use std::{collections::BTreeMap, sync::LazyLock};

use proptest::prelude::*;
use quorate::{Options, aggregate::aggregate};
use quorate_bn254::{
    Bn254Item, Bn254ParseError, Bn254PublicKey, Bn254Signature, DualKey, hash_to_curve::try_and_increment, verify,
};
use quorate_evm::{
    Collection, KeyGroup, MemberSet, Network, NotAdded, OperatorKey, QuorumSignature,
    alloy_primitives::Address,
    base::Table,
    bls12381::{self, DigestHash},
    network::{PointError, SignatureError},
};
use rand::{Rng, SeedableRng, rngs::StdRng};

const N: usize = 5;
const DIGEST: [u8; 32] = [7; 32];
const ANOTHER: [u8; 32] = [8; 32];

/// A network, and by member the true signature and one over another digest.
struct World {
    network: Network,
    signed: Vec<[QuorumSignature; 2]>,
}

static WORLDS: LazyLock<[World; 4]> = LazyLock::new(|| {
    KeyGroup::ALL.map(|key_group| {
        let operators: Vec<_> = (1..=N as u8).map(|i| OperatorKey::from_entropy(key_group, &[i; 48])).collect();
        let Table { key_pages, weight_pages, .. } = Table::paged(key_group, vec![100; N], 1);
        let network = Network {
            key_group,
            chain_id: 1,
            contract: Address::repeat_byte(1),
            nonce: 0,
            epoch: 1,
            required: 60,
            enough: N as u32,
            paid: 0,
            table: 0,
            unknown_newest: None,
            keys: operators.iter().map(OperatorKey::member).collect(),
            weights: (1..=N as u64).map(|i| 10 * i).collect(),
            key_pages,
            weight_pages,
            bases: vec![],
        };
        let signed = operators.iter().map(|operator| [DIGEST, ANOTHER].map(|digest| operator.sign(&digest))).collect();
        World { network, signed }
    })
});

fn add(collection: &mut Collection<'_>, signatures: &[(usize, QuorumSignature)]) -> Vec<Result<(), NotAdded>> {
    collection.add(signatures, &Options::default(), &mut StdRng::from_seed([1; 32]))
}

/// What arrives: an index, and a signature of a member, perhaps with a bit flipped.
#[derive(Clone, Debug)]
struct Arrival {
    index: usize,
    signer: usize,
    another: bool,
    flipped: Option<usize>,
}

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (0..N + 2, 0..N, prop::bool::weighted(0.1), prop::option::weighted(0.2, 0usize..96));
    let one = one.prop_flat_map(|(index, signer, another, flipped)| {
        // Mostly members who send their own.
        prop_oneof![3 => Just(index.min(N - 1)), 1 => Just(signer)].prop_map(move |signer| Arrival {
            index,
            signer,
            another,
            flipped,
        })
    });
    prop::collection::vec(one, 0..8)
}

impl Arrival {
    fn signature(&self, world: &World) -> QuorumSignature {
        let signature = world.signed[self.signer][usize::from(self.another)];
        let mut bytes = signature.as_bytes().to_vec();
        if let Some(at) = self.flipped {
            let at = at % bytes.len();
            bytes[at] ^= 1;
        }
        QuorumSignature::from_bytes(world.network.key_group, &bytes).unwrap()
    }
}

/// The plain twin: whether one signature is the member's, by its own pairings.
fn is_true(network: &Network, index: usize, signature: &QuorumSignature) -> bool {
    let Some(member) = network.keys.get(index) else { return false };
    if let Some(hash) = DigestHash::of(network.key_group) {
        let key = bls12381::decode_key(member).unwrap();
        return bls12381::decode_signature(signature.as_bytes())
            .is_ok_and(|signature| hash.verify(&key, &[DIGEST], &signature));
    }
    let key = match network.key_group {
        KeyGroup::Bn254G1 => DualKey::from_bytes(member).unwrap().g2(),
        _ => Bn254PublicKey::from_bytes(member).unwrap(),
    };
    let message = try_and_increment(&DIGEST).point;
    Bn254Signature::from_bytes(signature.as_bytes()).is_ok_and(|signature| verify(&key, &message, &signature))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_batch_is_its_signatures_one_by_one(group in 0usize..4, arrivals in arrivals(), cut in 0usize..8) {
        let world = &WORLDS[group];
        let signatures: Vec<_> = arrivals.iter().map(|arrival| (arrival.index, arrival.signature(world))).collect();
        let mut collection = Collection::new(&world.network, DIGEST);
        let (first, second) = signatures.split_at(cut.min(signatures.len()));
        let answers = [add(&mut collection, first), add(&mut collection, second)].concat();
        prop_assert_eq!(answers.len(), signatures.len());

        let mut expected = BTreeMap::new();
        for ((index, signature), answer) in signatures.iter().zip(&answers) {
            if *index >= N {
                prop_assert_eq!(answer, &Err(NotAdded::NoSuchMember { index: *index, members: N }));
            } else if !is_true(&world.network, *index, signature) {
                prop_assert!(matches!(answer, Err(NotAdded::Mismatch | NotAdded::Malformed(_))), "{answer:?}");
            } else if expected.insert(*index, *signature).is_some() {
                prop_assert_eq!(answer, &Err(NotAdded::Twice(*index)));
            } else {
                prop_assert_eq!(answer, &Ok(()));
            }
        }
        let signers: MemberSet = expected.keys().copied().collect();
        let weight: u128 = signers.iter().map(|i| 10 * (i as u128 + 1)).sum();
        prop_assert_eq!((collection.signers(), collection.weight()), (signers, weight));
        prop_assert_eq!(collection.is_heavy_enough(), weight >= 60);
        let sum = match world.network.key_group {
            _ if expected.is_empty() => None,
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
                let each = expected.values().map(|one| bls12381::decode_signature(one.as_bytes()).unwrap());
                let sum = aggregate(&each.collect::<Vec<_>>(), quorate::Backend::Portable).unwrap();
                Some(QuorumSignature::Bls12381(bls12381::encode_signature(&sum)))
            }
            _ => {
                let each = expected.values().map(|one| Bn254Signature::from_bytes(one.as_bytes()).unwrap());
                Some(QuorumSignature::Bn254(each.sum::<Bn254Signature>().to_bytes()))
            }
        };
        prop_assert_eq!(collection.aggregate().unwrap(), sum);
    }
}

#[test]
fn cancelling_pair() {
    for world in WORLDS.iter() {
        // s0 + s1 = s1 + s0: the sum of what the two send is right.
        let swapped = [(0, world.signed[1][0]), (1, world.signed[0][0])];
        let mut collection = Collection::new(&world.network, DIGEST);
        assert_eq!(add(&mut collection, &swapped), [Err(NotAdded::Mismatch), Err(NotAdded::Mismatch)]);
        assert_eq!(collection.aggregate(), Ok(None));
    }
}

/// Anyone can send false signatures under the index of a member. Once its true one is there, they are answered without a
/// batch, which is seen by the weights that are not drawn, and they leave nothing behind.
#[test]
fn false_signatures_beside_true_ones_cost_no_pairing() {
    for world in WORLDS.iter() {
        let mut collection = Collection::new(&world.network, DIGEST);
        let both = [(0, world.signed[0][0]), (1, world.signed[1][0])];
        assert_eq!(add(&mut collection, &both), [Ok(()), Ok(())]);
        let before = (collection.signers(), collection.aggregate());
        let lies = [(0, world.signed[0][1]), (1, world.signed[0][0]), (0, world.signed[0][0]), (1, world.signed[4][0])];
        let (mut rng, mut fresh) = (StdRng::from_seed([1; 32]), StdRng::from_seed([1; 32]));
        for _ in 0..20 {
            let answers = collection.add(&lies, &Options::default(), &mut rng);
            let mismatch = || Err(NotAdded::Mismatch);
            assert_eq!(answers, [mismatch(), mismatch(), Err(NotAdded::Twice(0)), mismatch()]);
        }
        assert_eq!(rng.next_u64(), fresh.next_u64(), "weights were drawn");
        assert_eq!((collection.signers(), collection.aggregate()), before);
        assert_eq!(add(&mut collection, &[(4, world.signed[4][0])]), [Ok(())]);
    }
}

#[test]
fn identity_and_other_curve() {
    let [bn254, _, bls, nonuniform] = &*WORLDS;
    let other = |expected, found| Err(NotAdded::Malformed(SignatureError::OtherCurve { expected, found }));
    for bls in [bls, nonuniform] {
        let mut collection = Collection::new(&bls.network, DIGEST);
        let answers = add(&mut collection, &[(0, QuorumSignature::Bls12381([0; 96])), (0, bn254.signed[0][0])]);
        assert_eq!(answers, [Err(NotAdded::Identity), other(96, 64)]);
    }
    let mut collection = Collection::new(&bn254.network, DIGEST);
    let answers = add(&mut collection, &[(0, QuorumSignature::Bn254([0; 64])), (0, bls.signed[0][0])]);
    assert_eq!(answers, [Err(NotAdded::Identity), other(64, 96)]);
}

/// Signatures of the other suite on the same curve, by the same keys over the same digest.
#[test]
fn signatures_of_the_other_suite() {
    let [.., uniform, nonuniform] = &*WORLDS;
    assert_eq!(uniform.network.keys, nonuniform.network.keys);
    for (world, other) in [(uniform, nonuniform), (nonuniform, uniform)] {
        let mut collection = Collection::new(&world.network, DIGEST);
        let answers = add(&mut collection, &[(0, other.signed[0][0]), (1, world.signed[1][0])]);
        assert_eq!(answers, [Err(NotAdded::Mismatch), Ok(())]);
    }
}

/// A network that requires nothing is not reached by nobody.
#[test]
fn nobody_is_no_quorum() {
    for world in WORLDS.iter() {
        let network = Network { required: 0, ..world.network.clone() };
        let mut collection = Collection::new(&network, DIGEST);
        assert_eq!(add(&mut collection, &[]), []);
        assert!(!collection.is_heavy_enough() && collection.signers().is_empty());
        assert_eq!(collection.aggregate(), Ok(None));
        assert_eq!(add(&mut collection, &[(0, world.signed[0][0])]), [Ok(())]);
        assert!(collection.is_heavy_enough());
    }
}

/// Signers without a weight are no quorum, of a network that requires nothing neither: the plan would refuse them.
#[test]
fn signers_without_weight_are_no_quorum() {
    for world in WORLDS.iter() {
        let network = Network { required: 0, weights: vec![], ..world.network.clone() };
        let mut collection = Collection::new(&network, DIGEST);
        assert_eq!(add(&mut collection, &[(0, world.signed[0][0])]), [Ok(())]);
        assert_eq!((collection.weight(), collection.is_heavy_enough()), (0, false));
    }
}

/// A member whose two keys belong to different secrets: the contract would refuse every quorum of it.
#[test]
fn foreign_twin() {
    let world = &WORLDS[1];
    let mut network = world.network.clone();
    let mut key = network.keys[0].to_vec();
    key[64..].copy_from_slice(&network.keys[1][64..]);
    network.keys[0] = key.into();
    let mut collection = Collection::new(&network, DIGEST);
    let answers = add(&mut collection, &[(1, world.signed[1][0]), (0, world.signed[1][0])]);
    assert!(matches!(answers[..], [Ok(()), Err(NotAdded::Key(_))]), "{answers:?}");
    assert_eq!(collection.signers(), [1].into_iter().collect());
}

/// Zeros stand in place of a key in G2 that is in no calldata. Anyone can send signatures under the index of that member, before
/// and between those of the others, and stops nobody.
#[test]
fn unseen_twin() {
    let world = &WORLDS[1];
    let mut network = world.network.clone();
    network.keys[2] = [&network.keys[2][..64], &[0; 128]].concat().into();
    let signed = |index: usize| (index, world.signed[index][0]);
    let mut collection = Collection::new(&network, DIGEST);
    let arrived = [signed(2), signed(0), (2, world.signed[0][0]), (3, world.signed[0][0]), signed(2), signed(4)];
    let answers = add(&mut collection, &arrived);
    let key = || Err(NotAdded::Key(PointError::Bn254(Bn254ParseError::IdentityKey(Bn254Item::KeyG2))));
    assert_eq!(answers, [key(), Ok(()), key(), Err(NotAdded::Mismatch), key(), Ok(())]);
    assert_eq!(add(&mut collection, &[signed(2), signed(3)]), [key(), Ok(())]);
    assert_eq!(collection.signers(), [0, 3, 4].into_iter().collect());
    assert_eq!(add(&mut Collection::new(&network, DIGEST), &[signed(2)]), [key()]);
}

/// A key of another length than the network's is refused, also if it is a key of the other group of BN254.
#[test]
fn keys_of_the_other_group() {
    let [in_g2, in_g1, ..] = &*WORLDS;
    for (world, other) in [(in_g2, in_g1), (in_g1, in_g2)] {
        let mut network = world.network.clone();
        network.keys[2] = other.network.keys[2].clone();
        let mut collection = Collection::new(&network, DIGEST);
        let answers = add(&mut collection, &[(1, world.signed[1][0]), (2, world.signed[2][0])]);
        assert!(matches!(answers[..], [Ok(()), Err(NotAdded::Key(_))]), "{answers:?}");
        let said = format!("{} bytes, expected {}", other.network.keys[2].len(), world.network.keys[2].len());
        assert!(answers[1].clone().is_err_and(|why| why.to_string().contains(&said)), "{answers:?}");
        assert_eq!(collection.signers(), [1].into_iter().collect());
    }
}
