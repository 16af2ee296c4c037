//! Plans of random networks, refused networks and quorums, and the file `examples/network.json`.
#![allow(clippy::unwrap_used, reason = "what a test cannot make fails it")]

use ark_ec::{AffineRepr, CurveGroup};
use proptest::prelude::*;
use quorate::PublicKey;
use quorate_bn254::{
    Bn254PublicKey, G1Affine, G2Affine, aggregate,
    encoding::{encode_g1, encode_g2},
};
use quorate_curve::Group;
use quorate_evm::{
    Base, KeyGroup, KeySum, MemberSet, Network, NetworkError, Order, PlanError, Quorum, QuorumSignature,
    alloy_primitives::{Address, B256, Bytes},
    alloy_sol_types::SolCall,
    base::{KeyPage, KeySources, Table, Weigh, Weighing, WeightPage, WeightSource},
    bls12381,
    contract::Settlement,
    gas::{Measured, Storing},
    quorum::{EncodeQuorumError, Part, Store},
    state::{self, Head, NEVER},
};
use quorate_lab::operators::Operators;

/// The number of members of every random network.
const N: u8 = 20;

/// A network whose first `paged` keys are in a page, with bases in the slots 0, 1, ….
fn network(operators: &Operators, paged: usize, bases: &[(u32, MemberSet)]) -> Network {
    let keys = operators.members();
    let weights = (0..keys.len() as u64).map(|i| 1_000 + i).collect();
    let key_pages = if paged == 0 { vec![] } else { vec![KeyPage { nonce: 1, first: 0, keys: paged }] };
    let mut network = Network {
        key_group: operators.key_group,
        chain_id: 1,
        contract: Address::repeat_byte(0xaa),
        nonce: 5,
        table: 0,
        epoch: 3,
        required: 900,
        enough: NEVER,
        paid: 0,
        keys,
        weights,
        key_pages,
        weight_pages: vec![WeightPage { nonce: 2, part: 0 }],
        bases: Vec::new(),
        unknown_newest: None,
    };
    for (slot, (epoch, signers)) in (0..).zip(bases) {
        let key = sum(&network, signers).unwrap();
        let weight = if *epoch == 0 { 0 } else { network.weight(signers) };
        network.bases.push(Base { slot, epoch: *epoch, weight, key, signers: signers.clone() });
    }
    network
}

/// The sum of members' keys, all added up, as a contract keeps it.
fn sum(network: &Network, signers: &MemberSet) -> Option<Bytes> {
    let keys = signers.iter().map(|index| &network.keys[index][..network.key_group.key_bytes()]);
    match network.key_group {
        KeyGroup::Bn254G2 => {
            let keys = keys.map(|key| Bn254PublicKey::<G2Affine>::from_bytes(key).unwrap());
            Some(aggregate(keys)?.to_bytes().into())
        }
        KeyGroup::Bn254G1 => {
            let keys = keys.map(|key| Bn254PublicKey::<G1Affine>::from_bytes(key).unwrap());
            Some(aggregate(keys)?.to_bytes().into())
        }
        KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
            let keys = keys.map(|key| bls12381::decode_key(key).unwrap());
            Some(bls12381::encode_key(&bls12381::sum(None, keys, [])?).into())
        }
    }
}

/// This many results, which settle until the hundredth second.
fn order(results: u8) -> Order {
    Order { results: (0..results).map(|i| B256::repeat_byte(0xa0 + i)).collect(), deadline: 100, ..Order::of(&[]) }
}

fn members() -> impl Strategy<Value = MemberSet> {
    prop::collection::btree_set(0..usize::from(N), 1..usize::from(N)).prop_map(|members| members.into_iter().collect())
}

fn key_group() -> impl Strategy<Value = KeyGroup> {
    prop::sample::select(KeyGroup::ALL.to_vec())
}

/// The cheapest way here starts from the second base, but a settlement from the newest is a shorter call.
#[test]
fn a_shorter_call_may_outweigh_a_cheaper_way() {
    let operators = Operators::new(KeyGroup::Bn254G1, N);
    let bases = [(0, vec![0, 1, 2, 4, 5, 6, 11, 12, 14, 16, 17, 18, 19]), (0, vec![4, 6, 9, 14, 15, 18, 19])];
    let bases = bases.map(|(epoch, members)| (epoch, members.into_iter().collect()));
    let signers = [2, 3, 4, 5, 6, 9, 10, 12, 13, 18, 19].into_iter().collect();
    let network = Network { enough: NEVER, ..network(&operators, 12, &bases) };
    let measured = Measured::default();
    assert_ne!(network.ways(&measured, &signers, Weigh::IfNeeded).unwrap()[0].base, Some(0));
    assert_eq!(network.plan(&measured, &signers, order(1)).unwrap().base_slot(), Some(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// From any base, the plan's key is the sum of the quorum's keys, its way is the cheapest, its signature verifies, and the
    /// packed quorum decodes to what was planned.
    #[test]
    fn a_plan_from_random_bases(
        key_group in key_group(),
        bases in prop::collection::vec((prop_oneof![Just(0u32), 2u32..4], members()), 0..5),
        signers in members(),
        paged in 0..=usize::from(N),
        tasks in 1u8..3,
        enough in prop_oneof![Just(NEVER), 1u32..20],
    ) {
        let operators = Operators::new(key_group, N);
        let network = Network { enough, ..network(&operators, paged, &bases) };
        let (measured, order) = (Measured::default(), order(tasks).stored(Store::Slot(9)));
        let plan = network.plan(&measured, &signers, order.clone()).unwrap();
        let expected = sum(&network, &signers);
        prop_assert_eq!(Some(plan.key.to_bytes()), expected);
        prop_assert_eq!(plan.weight, signers.iter().map(|i| u128::from(network.weights[i])).sum::<u128>());

        let ways = network.ways(&measured, &signers, Weigh::IfNeeded).unwrap();
        prop_assert_eq!(ways.len(), bases.len() + 1);
        let way = ways.iter().find(|way| way.base == plan.way.base).unwrap();
        prop_assert_eq!((&way.changed, way.gas), (&plan.way.changed, plan.way.gas));
        prop_assert!(ways.is_sorted_by_key(|way| way.gas));
        let members: Vec<_> = plan.added().iter().chain(plan.removed().iter()).collect();
        prop_assert_eq!(members.len(), plan.way.changed.len());

        let signature = operators.sign(&signers, &plan.digests);
        prop_assert!(plan.verify(&signature).unwrap());
        prop_assert!(!plan.verify(&operators.sign(&signers, &plan.digests.repeat(3))).unwrap());
        let quorum = plan.quorum(&signature);
        prop_assert_eq!(&Quorum::decode(key_group, &quorum.encode().unwrap()).unwrap(), &quorum);
        prop_assert_eq!(quorum.base.map(|base| base.slot), plan.base_slot());
        let counted = signers.len() >= enough as usize;
        prop_assert_eq!(plan.way.weighing == Weighing::Counted, counted);
        let stored = plan.result(1);
        let expected = if counted { (0, 0) } else { (3, plan.weight) };
        prop_assert_eq!((stored.epoch, stored.weight), expected);

        // The call passes the values whose hash is the contract's state.
        let call = plan.call(&signature).unwrap();
        let (newest, head) = if plan.base_slot() == Some(0) && tasks == 1 {
            let call = Settlement::settleCall::abi_decode(&call).unwrap();
            prop_assert_eq!((call.result, call.deadline), (order.results[0], 100));
            (network.bases[0].commitment(), call.head)
        } else {
            let call = Settlement::settleAllCall::abi_decode(&call).unwrap();
            prop_assert_eq!((&call.results, call.deadline), (&order.results, 100));
            (call.newest, call.head)
        };
        prop_assert_eq!(state::state(head, newest), network.state().unwrap());
        prop_assert_eq!(plan.state().unwrap(), network.state().unwrap());
        prop_assert_eq!(Head::decode(head), network.head());

        // The estimate is for this way, and no other base gives a cheaper transaction. The newest base stays, because its
        // bytes are in every call.
        let total = |network: &Network| {
            let plan = network.plan(&measured, &signers, order.clone()).unwrap();
            let call = plan.call(&QuorumSignature::stand_in(key_group)).unwrap();
            let estimate = plan.estimate(&measured, &call, Storing::Nowhere);
            assert_eq!(estimate.difference, measured.steps(key_group, &plan.way.steps));
            estimate.total()
        };
        let least = total(&network);
        for end in 1..=bases.len() {
            let mut fewer = network.clone();
            fewer.bases.truncate(end);
            fewer.bases.drain(1..(end - 1).max(1));
            let fewer = total(&fewer);
            prop_assert!(least <= fewer, "{least} {fewer}");
        }
    }

    #[test]
    fn json_reads_back(key_group in key_group(), signers in members(), weight: u128, required: u128, enough: u32, paged in 0..=20usize) {
        let mut network = network(&Operators::new(key_group, N), paged, &[(1, signers)]);
        network.bases[0].weight = weight;
        (network.required, network.enough) = (required, enough);
        let text = serde_json::to_string(&network).unwrap();
        prop_assert_eq!(serde_json::from_str::<Network>(&text).unwrap(), network);
    }
}

/// After a settlement, the updated network offers the base that was stored.
#[test]
fn a_followed_network_offers_what_was_stored() {
    let operators = Operators::new(KeyGroup::Bn254G2, 12);
    let mut network = network(&operators, 12, &[]);
    let measured = Measured::default();
    let signers: MemberSet = (1..12).collect();
    let plan = |network: &Network, signers: &MemberSet, store| {
        network.plan(&measured, signers, order(2).stored(store)).unwrap()
    };
    let first = plan(&network, &signers, Store::Slot(4));
    assert_eq!((first.base_slot(), network.storing(&first)), (None, Storing::New));
    network.settled(&first);
    assert_eq!((network.nonce, network.bases.len()), (7, 1));
    let again = plan(&network, &signers, Store::Slot(4));
    assert_eq!((again.base_slot(), &again.sum, again.way.changed.len()), (Some(4), &KeySum::Unchanged, 0));
    assert_eq!((&again.key, again.weight), (&first.key, first.weight));
    assert_ne!(again.digests, first.digests, "the numbers went on");
    let all = MemberSet::full(12);
    for (store, storing) in [
        (Store::Slot(4), Storing::OverTheBase),
        (Store::Slot(5), Storing::New),
        (Store::Nowhere, Storing::Nowhere),
        (Store::Slot(0), Storing::AsNewest),
    ] {
        assert_eq!(network.storing(&plan(&network, &all, store)), storing);
    }
    network.settled(&plan(&network, &all, Store::Slot(4)));
    assert_eq!(network.bases.len(), 1, "a slot holds one");
    network.settled(&plan(&network, &all, Store::Nowhere));
    assert_eq!((network.bases.len(), network.newest()), (1, B256::ZERO));

    // The newest base is part of the state.
    let before = network.state().unwrap();
    let newest = plan(&network, &all, Store::Slot(0));
    network.settled(&newest);
    assert_eq!(network.newest(), newest.result(0).commitment());
    assert_ne!(network.state().unwrap(), before);
    assert_eq!(plan(&network, &all, Store::Nowhere).base_slot(), Some(0));

    // Ski rental counts the changed members until the contract stores.
    let third = plan(&network, &signers, Store::Rental);
    let changed = third.way.changed.len() as u32;
    network.settled(&third);
    assert_eq!((network.paid, network.bases.len()), (changed, 2));
    network.settled_and_rented(&third, 7);
    assert_eq!((network.paid, network.bases.len(), network.nonce), (0, 3, 17));
}

/// If the number of signers suffices, no weight is read, and a base that is stored then is not weighed. A later, smaller
/// quorum has to be weighed.
#[test]
fn counted_and_weighed() {
    let operators = Operators::new(KeyGroup::Bn254G2, 12);
    let mut network = Network { required: 8_020, enough: 8, ..network(&operators, 12, &[]) };
    network.weights[11] = 9_000;
    let plan = |network: &Network, signers: &[usize]| {
        let signers: MemberSet = signers.iter().copied().collect();
        network.plan(&Measured::default(), &signers, order(1).stored(Store::Slot(0))).unwrap()
    };
    let counted = plan(&network, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((counted.way.weighing, &counted.way.weights[..]), (Weighing::Counted, &[][..]));
    network.settled(&counted);
    assert_eq!((network.bases[0].epoch, network.bases[0].weight), (0, 0));
    let again = plan(&network, &[0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!((again.way.weighing, again.way.changed.len()), (Weighing::Counted, 0));
    // Few members who are heavy enough.
    let few = plan(&network, &[0, 1, 11]);
    assert_eq!((few.way.weighing, few.way.steps.weighed, few.way.weights.len()), (Weighing::Anew, 3, 1));
    network.settled(&few);
    assert_eq!((network.bases[0].epoch, network.bases[0].weight), (3, few.weight));
    let same = plan(&network, &[0, 1, 11]);
    assert_eq!((same.way.weighing, same.way.steps.weighed, same.way.weights.len()), (Weighing::FromBase, 0, 0));
    let more = plan(&network, &[0, 1, 2, 11]);
    assert_eq!((more.way.weighing, more.way.steps.weighed), (Weighing::FromBase, 1));
    // Members who joined after the epoch began are not counted.
    network.weights.truncate(9);
    network.required = 8_020;
    assert_eq!(plan(&network, &[0, 1, 2, 3, 4, 5, 6, 7, 9, 10]).way.weighing, Weighing::Counted);
    let error = refused(&network, &[0, 1, 2, 3, 4, 5, 6, 9, 10, 11]);
    assert_eq!(error, PlanError::TooLight { weight: 7_021, required: 8_020 });
}

/// A quorum that could be counted is weighed on request, so that the base that it becomes has a weight. Later quorums that
/// have too few members to be counted read the weights of the members that change, and no others.
#[test]
fn a_base_that_is_weighed_on_request() {
    let operators = Operators::new(KeyGroup::Bn254G2, 12);
    let mut network = Network { required: 8_020, enough: 8, ..network(&operators, 12, &[]) };
    network.weights[11] = 9_000;
    let plan = |network: &Network, signers: &MemberSet, order: Order| {
        network.plan(&Measured::default(), signers, order.stored(Store::Slot(0))).unwrap()
    };
    let (all, few) = (MemberSet::full(12), [1, 11].into_iter().collect());
    let counted = plan(&network, &all, order(1));
    let weighed = plan(&network, &all, order(1).weighed());
    assert_eq!(counted.digests, weighed.digests, "the signature does not cover it");
    assert_eq!((weighed.way.weighing, weighed.way.steps.weighed, weighed.way.weights.len()), (Weighing::Anew, 12, 1));
    let mut other = network.clone();
    other.settled(&counted);
    let dear = plan(&other, &few, order(1));
    assert_eq!((dear.way.weighing, dear.way.steps.weighed), (Weighing::Anew, 2));

    network.settled(&weighed);
    assert_eq!((network.bases[0].epoch, network.bases[0].weight), (network.epoch, weighed.weight));
    // Without the request the same quorum would be counted, and the base would lose its weight.
    assert_eq!(plan(&network, &all, order(1)).result(0).epoch, 0);
    let again = plan(&network, &all, order(1).weighed());
    assert_eq!((again.way.weighing, again.way.steps.weighed), (Weighing::FromBase, 0));
    assert_eq!(again.way.weights, [WeightSource::Passed(Bytes::new())], "a part is named, and none is read");
    assert_eq!(again.result(0), weighed.result(0));
    let signature = operators.sign(&all, &again.digests);
    let packed = again.quorum(&signature).encode().unwrap();
    assert_eq!(Quorum::decode(KeyGroup::Bn254G2, &packed).unwrap(), again.quorum(&signature));
    let mut one_left = all;
    one_left.remove(0);
    let near = plan(&network, &one_left, order(1).weighed());
    assert_eq!((near.way.weighing, near.way.steps.weighed), (Weighing::FromBase, 1));
    assert_eq!(near.result(0).weight, near.weight);
}

/// Members choose their keys so that an addition has no slope. The plan takes Jacobian coordinates.
#[test]
fn colluding_keys_have_a_plan() {
    let operators = Operators::new(KeyGroup::Bn254G2, 4);
    let mut network = network(&operators, 4, &[]);
    let both = sum(&network, &MemberSet::full(2)).unwrap();
    network.keys[2] = both;
    let plan = |signers: &[usize]| {
        let signers: MemberSet = signers.iter().copied().collect();
        network.plan(&Measured::default(), &signers, order(1)).unwrap()
    };
    let exceptional = plan(&[0, 1, 2]);
    assert!(matches!(exceptional.sum, KeySum::Jacobian { .. }), "{:?}", exceptional.sum);
    assert_eq!(Some(exceptional.key.to_bytes()), sum(&network, &MemberSet::full(3)));
    let one = plan(&[2]);
    assert_eq!(one.sum, KeySum::Slopes(vec![]), "a key that is loaded is the sum");
}

fn refused(network: &Network, signers: &[usize]) -> PlanError {
    let signers: MemberSet = signers.iter().copied().collect();
    network.plan(&Measured::default(), &signers, order(1)).unwrap_err()
}

#[test]
fn quorums_that_cannot_be_made() {
    let network = network(&Operators::new(KeyGroup::Bn254G2, 4), 4, &[]);
    assert_eq!(refused(&network, &[]), PlanError::Empty);
    assert_eq!(refused(&network, &[1, 4]), PlanError::NoSuchMember { index: 4, members: 4 });
    let error = refused(&Network { required: 1_002, ..network.clone() }, &[1]);
    assert_eq!(error.to_string(), "the quorum is too light: it weighs 1001, and 1002 are required");
    // 0xfffe means ski rental, and is not a slot.
    let reserved = order(1).stored(Store::Slot(u16::MAX - 1));
    let error = network.plan(&Measured::default(), &MemberSet::full(1), reserved).unwrap_err();
    assert_eq!(error, PlanError::Encode(EncodeQuorumError::ReservedSlot(u16::MAX - 1)));
}

/// A call counts the keys that it passes, and the pages that it names, in one byte.
#[test]
fn a_plan_of_256_unpaged_members_names_compact() {
    let operators = Operators::new(KeyGroup::Bn254G1, 1);
    let mut network = network(&operators, 0, &[]);
    (network.keys, network.weights) = (vec![operators.member(0); 256], vec![1_000; 256]);
    let error = refused(&network, &(0..256).collect::<Vec<_>>());
    assert_eq!(error, PlanError::Encode(EncodeQuorumError::TooMany { part: Part::Keys, found: 256, most: 255 }));
    assert!(error.to_string().contains("quorate evm call compact"), "{error}");
    let plan = |network: &Network, members| network.plan(&Measured::default(), &MemberSet::full(members), order(1));
    let least = plan(&network, 255).unwrap();
    assert_eq!(least.way.keys.passed.len(), 255);
    // A page makes room, and so does a base.
    let paged = Network { key_pages: vec![KeyPage { nonce: 1, first: 0, keys: 256 }], ..network.clone() };
    assert_eq!(plan(&paged, 256).unwrap().way.keys.pages.len(), 1);
    let based = Network { bases: vec![least.result(1)], ..network };
    assert_eq!(plan(&based, 256).unwrap().base_slot(), Some(1));
}

/// A key and its opposite, both with valid proofs of possession. Under their sum, the identity, anyone can sign.
#[test]
fn cancelling_pair() {
    for key_group in KeyGroup::ALL {
        let mut network = network(&Operators::new(key_group, 3), 3, &[(3, [0, 2].into_iter().collect())]);
        let first = network.keys[0].clone();
        network.keys[1] = match key_group {
            KeyGroup::Bn254G2 => {
                let point = Bn254PublicKey::<G2Affine>::from_bytes(&first).unwrap().point();
                encode_g2(&(-point.into_group()).into_affine()).into()
            }
            KeyGroup::Bn254G1 => {
                let g1 = Bn254PublicKey::<G1Affine>::from_bytes(&first[..64]).unwrap().point();
                let g2 = Bn254PublicKey::<G2Affine>::from_bytes(&first[64..]).unwrap().point();
                let (g1, g2) = (-g1.into_group(), -g2.into_group());
                [&encode_g1(&g1.into_affine())[..], &encode_g2(&g2.into_affine())].concat().into()
            }
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => {
                let point = bls12381::decode_key(&first).unwrap().point();
                bls12381::encode_key(&PublicKey::from_point(point.negate()).unwrap()).into()
            }
        };
        assert_eq!(refused(&network, &[0, 1]), PlanError::Identity, "{key_group}");
        // From a base too.
        network.bases[0].signers = [0, 2].into_iter().collect();
        network.plan(&Measured::default(), &[0, 1, 2].into_iter().collect(), order(1)).unwrap();
    }
}

#[test]
fn keys_that_are_none_are_named() {
    for key_group in KeyGroup::ALL {
        let network = network(&Operators::new(key_group, 4), 4, &[(3, MemberSet::full(3))]);
        let mut bad = network.clone();
        let mut bytes = bad.keys[2].to_vec();
        bytes[7] ^= 1;
        bad.keys[2] = bytes.into();
        let error = refused(&bad, &[2]);
        assert!(matches!(error, PlanError::Key { index: 2, .. }), "{error}");

        // The base's key is not the sum of its members' keys. The contract would compute another commitment.
        let mut bad = network.clone();
        bad.bases[0].signers = [0, 1].into_iter().collect();
        let error = refused(&bad, &[0, 1]).to_string();
        assert_eq!(error, "bases: the key of the base in slot 0 is not the sum of its members' keys");
        let mut bad = network.clone();
        let mut bytes = bad.bases[0].key.to_vec();
        bytes[9] ^= 1;
        bad.bases[0].key = bytes.into();
        let error = refused(&bad, &[0, 1, 2]).to_string();
        assert!(error.starts_with("bases: the key of the base in slot 0: "), "{error}");
    }
}

#[test]
fn the_form_is_checked_by_name() {
    let network =
        network(&Operators::new(KeyGroup::Bn254G2, 4), 4, &[(3, MemberSet::full(3)), (3, MemberSet::full(4))]);
    assert_eq!(network.check(), Ok(()));
    let with = |change: &dyn Fn(&mut Network)| {
        let mut changed = network.clone();
        change(&mut changed);
        let error = changed.check().unwrap_err();
        assert_eq!(refused(&changed, &[0]), PlanError::Network(error.clone()));
        error
    };
    let short = with(&|network| network.keys[3] = Bytes::from_static(&[1; 64]));
    assert_eq!(short, NetworkError::KeyLength { index: 3, expected: 128, found: 64 });
    assert_eq!(short.to_string(), "keys[3]: 64 bytes, expected 128");
    for page in [
        KeyPage { nonce: 9, first: 3, keys: 2 },
        KeyPage { nonce: 9, first: 4, keys: 1 },
        KeyPage { nonce: 9, first: 2, keys: 0 },
        KeyPage { nonce: 9, first: 1, keys: usize::MAX },
    ] {
        let error = with(&|network| network.key_pages.push(page));
        assert!(matches!(error, NetworkError::KeyPage { page: 1, keys: 4, .. }), "{error}");
    }
    let late = with(&|network| network.nonce = 1 << 48).to_string();
    assert_eq!(late, format!("nonce: {} has more than 48 bits", 1u64 << 48));
    assert_eq!(with(&|network| (network.epoch, network.enough) = (0, 1)), NetworkError::NoEpoch);
    let nothing = with(&|network| (network.required, network.enough, network.weights) = (0, 0, vec![]));
    assert_eq!(nothing, NetworkError::NothingRequired);
    let required = with(&|network| network.required = 1 << 88).to_string();
    assert_eq!(required, format!("required: {} has more than 88 bits", 1u128 << 88));
    let enough = with(&|network| (network.required, network.enough) = (2_002, 2));
    assert_eq!(enough, NetworkError::Enough { enough: 2, least: 3 });
    assert_eq!(with(&|network| network.bases[1].slot = 0), NetworkError::SlotTwice { place: 1, slot: 0 });
    let reserved = with(&|network| network.bases[1].slot = u16::MAX - 1);
    assert_eq!(reserved.to_string(), "bases[1]: 0xfffe is not a slot; slots are below 0xfffe");
    let heavy = with(&|network| network.bases[1].weight = 1 << 96);
    assert_eq!(heavy, NetworkError::BaseWeight { place: 1, slot: 1, weight: 1 << 96 });
    let key = with(&|network| network.bases[1].key = Bytes::from_static(&[1; 96]));
    assert_eq!(key, NetworkError::BaseKeyLength { place: 1, slot: 1, expected: 128, found: 96 });
    let nobody = with(&|network| network.bases[0].signers = MemberSet::default());
    assert_eq!(nobody, NetworkError::EmptyBase { place: 0, slot: 0 });
    let stranger = with(&|network| network.bases[0].signers.insert(4));
    assert_eq!(stranger, NetworkError::BaseMember { place: 0, slot: 0, member: 4, keys: 4 });
}

#[test]
fn signatures_of_another_length_or_curve() {
    for (key_group, other) in [
        (KeyGroup::Bn254G2, KeyGroup::Bls12381G2),
        (KeyGroup::Bn254G1, KeyGroup::Bls12381G2),
        (KeyGroup::Bls12381G2, KeyGroup::Bn254G1),
        (KeyGroup::Bls12381G2Nu, KeyGroup::Bn254G1),
    ] {
        let operators = Operators::new(key_group, 3);
        let plan = network(&operators, 3, &[]).plan(&Measured::default(), &MemberSet::full(3), order(1)).unwrap();
        let wrong = QuorumSignature::from_bytes(key_group, &[0; 95]).unwrap_err().to_string();
        assert_eq!(wrong, format!("signature: 95 bytes, expected {}", key_group.signature_bytes()));
        let wrong = plan.verify(&QuorumSignature::stand_in(key_group)).unwrap_err().to_string();
        assert!(wrong.starts_with("signature: "), "{wrong}");
        assert!(
            plan.verify(&Operators::new(other, 3).sign(&MemberSet::full(3), &plan.digests)).is_err(),
            "{key_group}"
        );
        // The identity is not a valid signature of a key.
        let identity = QuorumSignature::from_bytes(key_group, &vec![0; key_group.signature_bytes()]).unwrap();
        assert!(!plan.verify(&identity).unwrap());
    }
}

/// A wrong base in slot 0 gives a wrong state even where another base is cheaper, so it is refused.
#[test]
fn a_wrong_newest_base_is_refused_though_not_chosen() {
    for key_group in KeyGroup::ALL {
        let bases = [(0, MemberSet::full(1)), (0, (0..12).collect())];
        let mut network = network(&Operators::new(key_group, 12), 12, &bases);
        let signers: MemberSet = (1..12).collect();
        let plan = network.plan(&Measured::default(), &signers, order(1)).unwrap();
        assert_eq!(plan.base_slot(), Some(1), "{key_group}");
        network.bases[0].signers = (1..2).collect();
        assert_eq!(refused(&network, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]), PlanError::BaseSum { slot: 0 });
    }
}

/// Each key is read where it costs the least: from a page that holds many of the members, else from calldata.
#[test]
fn keys_come_from_the_cheapest_sources() {
    let measured = Measured::default();
    let page = |nonce, first, keys| KeyPage { nonce, first, keys };
    let key_pages = vec![page(4, 0, 300), page(5, 300, 8), page(6, 100, 400), page(7, 308, 8)];
    let table = Table { key_pages: key_pages.clone(), ..Table::default() };
    let sources = |members: std::ops::Range<usize>| table.keys(KeyGroup::Bn254G2, &measured, &members.collect());
    let of = |pages: &[usize], passed: &[usize]| KeySources {
        pages: pages.iter().map(|place| key_pages[*place]).collect(),
        passed: passed.iter().copied().collect(),
    };
    assert_eq!(sources(0..20), of(&[0], &[]));
    assert_eq!(sources(90..400), of(&[0, 2], &[]), "two pages hold all, and the small ones are not needed");
    assert_eq!(sources(200..500), of(&[2], &[]));
    assert_eq!(sources(480..502), of(&[2], &[500, 501]));
    assert_eq!(sources(600..603), of(&[], &[600, 601, 602]));
    // A key in G1 is so short that it is passed rather than read from a page which holds no other.
    assert_eq!(table.keys(KeyGroup::Bn254G1, &measured, &[7].into_iter().collect()), of(&[], &[7]));
}

/// Few weights are passed, many are read from a page. A part without a page is passed.
#[test]
fn weights_come_from_the_cheapest_sources() {
    let measured = Measured::default();
    let weights: Vec<u64> = (0..5_000).map(|i| 0x0102_0304_0506_0708 + i).collect();
    let table = |n: usize| Table {
        weights: weights[..n].to_vec(),
        weight_pages: vec![WeightPage { nonce: 9, part: 1 }, WeightPage { nonce: 8, part: 0 }],
        ..Table::default()
    };
    let passed = |range: std::ops::Range<usize>| {
        WeightSource::Passed(weights[range].iter().flat_map(|weight| weight.to_be_bytes()).collect())
    };
    let members = |members: &[usize]| members.iter().copied().collect();
    assert_eq!(table(4).weights(&measured, &members(&[1])), [passed(0..4)]);
    assert_eq!(table(500).weights(&measured, &members(&[1, 9])), [WeightSource::Page(8)]);
    let three = table(5_000).weights(&measured, &members(&[2_047, 2_048, 4_999]));
    assert_eq!(three, [WeightSource::Page(8), WeightSource::Page(9), passed(4_096..5_000)]);
    // Members who joined after the epoch began weigh nothing, in a part that is empty.
    assert_eq!(table(4).weights(&measured, &members(&[5_000])), [passed(0..0)]);
}

/// A settlement has hashes of the weights, so few are passed. A network's verifier has none, and would refuse them.
#[test]
fn a_task_network_is_passed_no_weights() {
    let operators = Operators::new(KeyGroup::Bn254G2, 10);
    let network = network(&operators, 10, &[(3, MemberSet::full(10))]);
    let (measured, signers) = (Measured::default(), (1..10).collect());
    let settled = network.plan(&measured, &signers, Order::of(&[B256::ZERO])).unwrap();
    assert!(matches!(settled.way.weights[..], [WeightSource::Passed(_)]));
    let submitted = network.plan_digests(&measured, &signers, &[[1; 32]], Store::Nowhere).unwrap();
    assert_eq!(submitted.way.weights, [WeightSource::Page(2)]);
}

/// The network of `examples/network.json`: twelve operators whose secrets are those of `Bn254SecretKey::from_entropy` with
/// the bytes 1 to 12, eight keys in a page and four in none, three bases, one of them from the epoch before.
///
/// `QUORATE_WRITE_EXAMPLES=1 cargo test -p quorate-evm --test all network` writes the file.
#[test]
fn the_example_file_is_this() {
    let operators = Operators::new(KeyGroup::Bn254G2, 12);
    let last: MemberSet = (0..12).filter(|i| ![2, 9].contains(i)).collect();
    let before: MemberSet = (0..12).filter(|i| ![2, 5, 6, 9].contains(i)).collect();
    let mut network = network(&operators, 8, &[(3, MemberSet::full(12)), (3, last), (2, before)]);
    network.contract = "0x5fbdb2315678afecb367f032d93f642f64180aa3".parse().unwrap();
    network.nonce = 17;
    network.weights = (0..12).map(|i| 32_000 + 4_000 * (i % 4)).collect();
    network.weight_pages = vec![];
    for base in &mut network.bases {
        base.weight = base.signers.iter().map(|i| u128::from(network.weights[i])).sum();
    }
    network.required = network.weight(&MemberSet::full(12)) * 2 / 3;
    network.enough = state::enough(&network.weights, network.required).1;
    let text = serde_json::to_string_pretty(&network).unwrap() + "\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/network.json");
    if std::env::var_os("QUORATE_WRITE_EXAMPLES").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), text, "write it anew: see the test's documentation");
}
