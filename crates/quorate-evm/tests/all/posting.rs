//! Postings: what is posted of a plan, and recomputed with keys that were decoded before.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use ark_ff::Field;
use quorate_bn254::{
    Bn254SecretKey, Bn254Signature, DualKey, dual_key_verify,
    encoding::{fq_bytes, fq_from_bytes},
    hash_to_curve::{Parity, candidate, parity, right_side},
};
use quorate_evm::{
    Collection, KeyGroup, MemberSet, Network, OperatorKey, Order,
    alloy_primitives::{Address, B256, Bytes, U256},
    alloy_sol_types::SolCall,
    base::Table,
    contract::OptimisticSettlement,
    digest::{Contract, Results},
    follow::SlotPosting,
    gas::Measured,
    hint::CounterHint,
    network::DecodedKeys,
    posting::{
        Moment, PostedResults, PostingConditions, PostingError, PostingFault, PostingPlace, PostingSources,
        PostingStatus, Recomputed, post_call,
    },
    quorum::{NONE, Store},
    state::Head,
    watch::{UnknownPostings, WatchDuty, WatchRules},
};
use quorate_lab::operators::Operators;

const SETTLEMENT: Contract = Contract { chain_id: 1, address: Address::repeat_byte(7) };
const SIGNED: [KeyGroup; 3] = [KeyGroup::Bn254G1, KeyGroup::Bls12381G2, KeyGroup::Bls12381G2Nu];

/// A posting that these members signed in an epoch in which each member weighs 1.
fn posting(operators: &Operators, signers: &MemberSet, nonce: u64) -> PostedResults {
    let members = operators.members().len() as u32;
    let required = signers.iter().count() as u128;
    let head = Head { nonce, table: 0, epoch: 1, members, enough: members, required, paid: 0 };
    let (deadline, results) = (u64::MAX, vec![B256::repeat_byte(nonce as u8)]);
    let digest = Results { settlement: SETTLEMENT, epoch: 1, nonce, deadline, store: NONE, results: &results }.digest();
    let evidence = [signers.as_bytes(), operators.sign(signers, &[digest]).as_bytes()].concat();
    PostedResults {
        head: head.encode().unwrap(),
        deadline,
        results,
        evidence: evidence.into(),
        poster: Address::ZERO,
        when: Moment::default(),
        slot: 0,
    }
}

fn sources<'a>(key_group: KeyGroup, keys: &'a [Bytes], weights: &'a [u64]) -> PostingSources<'a> {
    PostingSources { key_group, settlement: SETTLEMENT, keys, weights: Some(weights) }
}

/// The keys of signers are decoded once as long as the members stay. If a member has another key, the old one does not count,
/// wherever it stands; and what was no key is none the second time, too.
#[test]
fn held_keys_are_those_of_the_bytes_and_not_of_the_place() {
    for key_group in SIGNED {
        let operators = Operators::new(key_group, 5);
        let (mut keys, weights) = (operators.members(), [1; 5]);
        let signers: MemberSet = [0, 2, 3].into_iter().collect();
        let mut decoded = DecodedKeys::default();
        for nonce in [1, 2] {
            let posting = posting(&operators, &signers, nonce);
            assert_eq!(posting.recompute(&sources(key_group, &keys, &weights), &mut decoded), Recomputed::True);
            assert_eq!(decoded.members(), 3, "{key_group}");
        }
        let again = posting(&operators, &signers, 3);
        let found = |keys: &[Bytes], decoded: &mut DecodedKeys| {
            let fresh = again.recompute(&sources(key_group, keys, &weights), &mut DecodedKeys::default());
            assert_eq!(again.recompute(&sources(key_group, keys, &weights), decoded), fresh, "{key_group}");
            fresh
        };
        // Two signers change their places: the sum is the same.
        keys.swap(2, 3);
        assert_eq!(found(&keys, &mut decoded), Recomputed::True);
        // A signer has the key of a member who does not sign.
        keys[0] = keys[1].clone();
        assert_eq!(found(&keys, &mut decoded), Recomputed::False(PostingFault::Signature));
        keys[0] = vec![0xff; keys[0].len()].into();
        for _ in 0..2 {
            assert!(matches!(found(&keys, &mut decoded), Recomputed::Unknown(_)), "{key_group}");
        }
    }
}

/// What a signer without a key is said to sign is not false: the key may come, and then the posting is proven. A watcher who
/// demanded the proof at once would lose the bond.
#[test]
fn a_signer_who_registers_later() {
    let conditions = PostingConditions {
        window: 400,
        window_blocks: 40,
        answer: 100,
        answer_blocks: 10,
        slots: 1,
        penalty: 2,
        bond: 1,
    };
    let rules = WatchRules { conditions, payer: None, unknown: UnknownPostings::Demand, prove: false };
    let (early, late) = (Moment { time: 300, block: 30 }, Moment { time: 301, block: 31 });
    for key_group in SIGNED {
        let operators = Operators::new(key_group, 4);
        let (keys, weights) = (operators.members(), [1; 4]);
        let posting = posting(&operators, &[0, 1, 3].into_iter().collect(), 1);
        let (id, status) = (posting.id(), PostingStatus::Posted);
        let posted = SlotPosting { id, posting: posting.clone().into(), status, in_slot: true };
        let mut decoded = DecodedKeys::default();
        let before = posting.recompute(&sources(key_group, &keys[..3], &weights), &mut decoded);
        assert!(matches!(before, Recomputed::Unknown(_)), "{before:?}");
        assert_eq!(rules.duty(&posted, &before, early), None);
        assert_eq!(rules.duty(&posted, &before, late), Some(WatchDuty::Demand));
        let reports = WatchRules { unknown: UnknownPostings::Report, ..rules };
        assert_eq!(reports.duty(&posted, &before, late), None);
        assert_eq!(posting.recompute(&sources(key_group, &keys, &weights), &mut decoded), Recomputed::True);
    }
}

/// Whoever has no key yet weighs nothing in the epoch. If the others are too light, no key that comes makes a quorum of them.
#[test]
fn a_signer_without_a_key_adds_no_weight() {
    for key_group in SIGNED {
        let operators = Operators::new(key_group, 4);
        let (keys, weights) = (operators.members(), [1; 3]);
        let mut posted = posting(&operators, &[0, 1, 3].into_iter().collect(), 1);
        // The epoch has the first three members, and requires all of them.
        let head = Head { members: 3, enough: 3, ..Head::decode(posted.head) };
        posted.head = head.encode().unwrap();
        let sources = sources(key_group, &keys[..3], &weights);
        let too_light = Recomputed::False(PostingFault::TooLight { weight: 2, required: 3 });
        assert_eq!(posted.recompute(&sources, &mut DecodedKeys::default()), too_light, "{key_group}");
        let sources = PostingSources { weights: None, ..sources };
        let unknown = posted.recompute(&sources, &mut DecodedKeys::default());
        assert!(matches!(unknown, Recomputed::Unknown(_)), "{unknown:?}");
    }
}

/// One holder of keys serves settlements with keys of different groups.
#[test]
fn held_keys_of_one_group_are_not_those_of_another() {
    let mut decoded = DecodedKeys::default();
    for key_group in [SIGNED, SIGNED].concat() {
        let operators = Operators::new(key_group, 3);
        let (keys, signers) = (operators.members(), MemberSet::full(3));
        let posting = posting(&operators, &signers, 1);
        assert_eq!(posting.recompute(&sources(key_group, &keys, &[1; 3]), &mut decoded), Recomputed::True);
    }
    decoded.clear();
    assert_eq!(decoded.members(), 0);
}

/// On BN254 the contract accepts the point of any counter, and a watcher takes the first one. A quorum that signs another point
/// posts what a watcher calls false, and can prove it.
#[test]
fn the_point_of_a_later_counter() {
    let (operators, signers) = (Operators::new(KeyGroup::Bn254G1, 3), MemberSet::full(3));
    let secrets = [1, 2, 3].map(|seed| Bn254SecretKey::from_entropy(&[seed; 48]));
    let (keys, weights) = (operators.members(), [1; 3]);
    let mut posted = posting(&operators, &signers, 1);
    let recomputed = |posted: &PostedResults| {
        posted.recompute(&sources(KeyGroup::Bn254G1, &keys, &weights), &mut DecodedKeys::default())
    };
    assert_eq!(recomputed(&posted), Recomputed::True);
    let PostedResults { deadline, ref results, .. } = posted;
    let digest = Results { settlement: SETTLEMENT, epoch: 1, nonce: 1, deadline, store: NONE, results }.digest();
    let later = |counter: u8| {
        let root = right_side(fq_from_bytes(&candidate(&digest, counter))?).sqrt()?;
        let even = if parity(root) == Parity::Even { root } else { -root };
        // The contract's check.
        CounterHint { counter, y: fq_bytes(&even) }.check(&digest)
    };
    let point = (CounterHint::new(&digest).counter + 1..=u8::MAX).find_map(later).unwrap();
    let signature: Bn254Signature = secrets.iter().map(|secret| secret.sign(&point)).sum();
    posted.evidence = [signers.as_bytes(), &signature.to_bytes()].concat().into();
    assert_eq!(recomputed(&posted), Recomputed::False(PostingFault::Signature));
    let quorum = DualKey::aggregate(secrets.iter().map(Bn254SecretKey::dual_key)).unwrap();
    assert!(dual_key_verify(&quorum.g1(), &quorum.g2(), &point, &signature));
}

/// What is posted is what a watcher recomputes as true.
#[test]
fn a_plan_is_posted_with_what_its_signers_signed() {
    for key_group in KeyGroup::ALL {
        let operators = [1, 2, 3].map(|i| OperatorKey::from_entropy(key_group, &[i; 48]));
        let Table { key_pages, weight_pages, weights } = Table::paged(key_group, vec![100; 3], 1);
        let network = Network {
            key_group,
            chain_id: 1,
            contract: Address::repeat_byte(7),
            nonce: 5,
            table: 0,
            epoch: 2,
            required: 200,
            enough: 2,
            paid: 0,
            keys: operators.iter().map(OperatorKey::member).collect(),
            weights,
            key_pages,
            weight_pages,
            bases: Vec::new(),
            unknown_newest: Some(B256::repeat_byte(8)),
        };
        let order = Order { deadline: 9, ..Order::of(&[B256::repeat_byte(1), B256::ZERO]) };
        let plan = network.plan(&Measured::default(), &[0, 2].into_iter().collect(), order).unwrap();
        let mut collection = Collection::new(&network, plan.digests[0]);
        let signed = [0, 2].map(|index| (index, operators[index].sign(&plan.digests[0])));
        collection.add(&signed, &quorate::Options::default(), &mut rand::rng());
        let signature = collection.aggregate().unwrap().unwrap();
        let place = PostingPlace { slot: 3, content: B256::repeat_byte(4), when: Moment { time: 5, block: 6 } };
        let call = post_call(&plan, &signature, &place);
        if key_group == KeyGroup::Bn254G2 {
            assert_eq!(call, Err(PostingError::KeyGroup(key_group)));
            continue;
        }
        let call = OptimisticSettlement::postCall::abi_decode(&call.unwrap()).unwrap();
        assert_eq!((call.head, call.newest, call.deadline), (network.head().encode().unwrap(), network.newest(), 9));
        let named = &call.place;
        assert_eq!((named.slot, named.content, named.when), (U256::from(3), place.content, 5 << 64 | 6));
        let posted = PostedResults {
            head: call.head,
            deadline: call.deadline,
            results: call.results,
            evidence: call.evidence,
            poster: Address::ZERO,
            when: Moment::default(),
            slot: 3,
        };
        let settlement = Contract { chain_id: 1, address: network.contract };
        let sources = PostingSources { key_group, settlement, keys: &network.keys, weights: None };
        assert_eq!(posted.recompute(&sources, &mut DecodedKeys::default()), Recomputed::True);

        let order = Order::of(&[B256::ZERO]).stored(Store::Slot(9));
        let stored = network.plan(&Measured::default(), &[0, 2].into_iter().collect(), order).unwrap();
        assert_eq!(post_call(&stored, &signature, &place), Err(PostingError::Store(9)));
    }
}
