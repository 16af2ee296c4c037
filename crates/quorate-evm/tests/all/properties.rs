//! Properties: the contract's accumulator and slopes against plain sums, packed quorums both ways, the cheapest base
//! against all bases, policies against the optimum, the gas model against the contracts' snapshots.

use std::sync::LazyLock;

use crate::slopes::sum_by_slopes;
use ark_ec::{AffineRepr, CurveGroup};
use proptest::prelude::*;
use quorate_bn254::{Bn254PublicKey, Bn254SecretKey, G2Affine, aggregate};
use quorate_evm::{
    Base, Head, KeyGroup, KeySum, MemberSet, Proof, Quorum,
    alloy_primitives::{B256, Bytes, U256},
    alloy_sol_types::SolCall,
    base::{KeyPage, NEWEST, PART, Pricing, Table, Weigh, Weighing, WeightPage, WeightSource},
    contract::Settlement,
    gas::{Calldata, Measured, Start, Steps, Storing, TRANSACTION},
    hint::{Accumulator, BaseChange, CounterHint, slopes},
    quorum::{Store, WEIGHT_LIMIT},
    refresh::{Policy, Trace},
    state::{NEVER, enough, enough_by},
};

const MEMBERS: usize = 24;

static KEYS: LazyLock<Vec<Bn254PublicKey>> =
    LazyLock::new(|| (1..=MEMBERS as u8).map(|i| Bn254SecretKey::from_entropy(&[i; 48]).public_key_g2()).collect());

fn members() -> impl Strategy<Value = MemberSet> {
    prop::collection::vec(0..MEMBERS, 1..MEMBERS).prop_map(|members| members.into_iter().collect())
}

fn key(members: &MemberSet) -> Bn254PublicKey {
    aggregate(members.iter().map(|i| KEYS[i])).expect("no keys here cancel")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// From any base to any quorum, plain sums, the contract's accumulator and slopes lead to the same key.
    #[test]
    fn difference_leads_to_the_quorum(base in members(), signers in members()) {
        let changed = signers.symmetric_difference(&base);
        let keys = |from: &MemberSet| {
            changed.iter().filter(|i| from.contains(*i)).map(|i| KEYS[i]).collect::<Vec<_>>()
        };
        let sum = quorate_bn254::sum(Some(key(&base)), keys(&signers), keys(&base)).unwrap();
        prop_assert_eq!(sum, key(&signers));
        let changes: Vec<(G2Affine, BaseChange)> = changed.iter().map(|i| {
            (KEYS[i].point(), if signers.contains(i) { BaseChange::Added } else { BaseChange::Removed })
        }).collect();
        let start = key(&base).point();
        let mut accumulator = Accumulator::new(Some(start));
        changes.iter().for_each(|(key, change)| accumulator.change(*key, *change));
        prop_assert_eq!(accumulator.sum(), sum.point());
        prop_assert!(accumulator.inverse_of_z().is_some());
        // The secrets are multiples of one number, so a sum may have the same x as the next key.
        let mut accumulator = Accumulator::new(Some(start));
        let exceptional = changes.iter().any(|(key, change)| {
            let before = accumulator.sum();
            accumulator.change(*key, *change);
            before.is_zero() || before.x == key.x
        });
        let slopes = slopes(Some(start), changes.clone());
        prop_assert_eq!(slopes.as_ref().map(Vec::len), (!exceptional).then_some(changes.len()));
        if let Some(slopes) = slopes {
            prop_assert_eq!(sum_by_slopes(Some(start), changes, &slopes), Some(sum.point()));
        }
    }

    /// Random additions and subtractions of few keys: doublings, opposites and the identity occur.
    #[test]
    fn accumulator_is_complete(steps in prop::collection::vec((0..3usize, any::<bool>()), 0..24)) {
        let mut accumulator = Accumulator::new(None);
        let mut expected = G2Affine::identity();
        let mut changes = Vec::new();
        for (i, add) in steps {
            let key = KEYS[i].point();
            let change = if add { BaseChange::Added } else { BaseChange::Removed };
            let had = expected;
            accumulator.change(key, change);
            changes.push((key, change));
            expected = if add { (expected + key).into_affine() } else { (expected.into_group() - key).into_affine() };
            prop_assert_eq!(accumulator.sum(), expected);
            prop_assert_eq!(accumulator.inverse_of_z().is_none(), expected.is_zero());
            // Slopes lead to the same sum. There are none if two points of an addition have the same x.
            match slopes(None, changes.clone()) {
                Some(slopes) => {
                    prop_assert_eq!(slopes.len() + 1, changes.len());
                    prop_assert_eq!(sum_by_slopes(None, changes.clone(), &slopes), Some(expected));
                }
                None => {
                    prop_assert!(changes.len() > 1 && (had.x == key.x || slopes(None, changes[..changes.len() - 1].to_vec()).is_none()));
                }
            }
        }
    }
}

fn sparse() -> impl Strategy<Value = MemberSet> {
    prop::collection::btree_set(0usize..300, 1..40).prop_map(|members| members.into_iter().collect())
}

fn packed() -> impl Strategy<Value = Quorum> {
    let base = (sparse(), any::<u32>(), 0..WEIGHT_LIMIT, 0u16..9);
    let pages = prop::collection::vec(any::<u32>(), 0..4);
    let weights = prop_oneof![
        (0u32..1 << 31).prop_map(WeightSource::Page),
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|weights| WeightSource::Passed(weights.into())),
    ];
    let sources = (pages, prop::collection::vec(weights, 0..4), 0..4usize);
    let store = prop_oneof![Just(Store::Nowhere), Just(Store::Rental), (0u16..9).prop_map(Store::Slot)];
    let hints = prop::collection::vec((any::<u8>(), any::<[u8; 32]>()), 0..4);
    let choices = (0..4usize, any::<bool>(), any::<bool>());
    (prop::option::of(base), store, sources, sparse(), hints, choices).prop_map(
        |(base, store, (key_pages, weights, keys), signers, hints, (which, same, by_slopes))| {
            let key_group = KeyGroup::ALL[which];
            let base = base.map(|(bitmap, epoch, weight, slot)| Base {
                slot,
                epoch,
                weight,
                key: (0..key_group.key_bytes()).map(|i| i as u8).collect(),
                signers: if same { signers.clone() } else { bitmap },
            });
            let changed = base.as_ref().map_or(signers.len() - 1, |base| base.signers.distance(&signers));
            let sum = match (by_slopes, changed) {
                (_, 0) if base.is_some() => KeySum::Unchanged,
                (false, _) => KeySum::Jacobian { inverse_of_z: [7; 64] },
                (true, additions) => KeySum::Slopes(vec![[6; 64]; additions]),
            };
            let hints = hints.into_iter().map(|(counter, y)| CounterHint { counter, y }).collect();
            let proof = match key_group {
                KeyGroup::Bn254G2 => Proof::Bn254G2 { sum, signature: [8; 64], hints },
                KeyGroup::Bn254G1 => Proof::Bn254G1 { signature: [8; 64], key: [9; 128], hints },
                KeyGroup::Bls12381G2 => Proof::Bls12381G2 { signature: [8; 96] },
                KeyGroup::Bls12381G2Nu => Proof::Bls12381G2Nu { signature: [8; 96] },
            };
            let keys = vec![vec![5; key_group.key_bytes()].into(); keys];
            Quorum { base, store, key_pages, weights, keys, signers, proof }
        },
    )
}

proptest! {
    #[test]
    fn packed_quorums_come_back(quorum in packed(), cut in any::<prop::sample::Index>()) {
        let bytes = quorum.encode().unwrap();
        let key_group = quorum.proof.key_group();
        prop_assert_eq!(Quorum::decode(key_group, &bytes), Ok(quorum));
        // A prefix is refused, or it is the same quorum with fewer hints.
        let cut = cut.index(bytes.len());
        if let Ok(shorter) = Quorum::decode(key_group, &bytes[..cut]) {
            prop_assert_eq!(shorter.encode().unwrap(), &bytes[..cut]);
            prop_assert_eq!((bytes.len() - cut) % 33, 0);
        }
    }

    #[test]
    fn no_bytes_are_two_quorums(bytes in prop::collection::vec(prop_oneof![0u8..3, any::<u8>()], 0..400)) {
        for key_group in KeyGroup::ALL {
            if let Ok(quorum) = Quorum::decode(key_group, &bytes) {
                prop_assert_eq!(quorum.encode().unwrap(), &bytes[..]);
            }
        }
    }

    #[test]
    fn bitmaps_are_sets(a in sparse(), b in sparse(), i in 0usize..300) {
        let difference: MemberSet = (0..300).filter(|i| a.contains(*i) != b.contains(*i)).collect();
        prop_assert_eq!(a.symmetric_difference(&b), difference.clone());
        prop_assert_eq!(b.symmetric_difference(&a), difference.clone());
        prop_assert_eq!(a.distance(&b), difference.len());
        let union: MemberSet = (0..300).filter(|i| a.contains(*i) || b.contains(*i)).collect();
        prop_assert_eq!(a.union(&b), union.clone());
        prop_assert_eq!(a.is_disjoint(&b), union.len() == a.len() + b.len());
        prop_assert_eq!(a.is_subset(&b), union == b);
        prop_assert!(a.is_subset(&union) && a.is_disjoint(&MemberSet::default()));
        prop_assert_eq!(a.iter().collect::<MemberSet>(), a.clone());
        prop_assert_eq!(a.iter().count(), a.len());
        prop_assert!(a.iter().is_sorted());
        prop_assert_eq!(MemberSet::from_bytes(a.as_bytes()), Ok(a.clone()));
        let (mut with, mut without) = (a.clone(), a.clone());
        with.insert(i);
        without.remove(i);
        prop_assert!(with.contains(i) && !without.contains(i));
        prop_assert!(without.as_bytes().last() != Some(&0));
        without.insert(i);
        prop_assert_eq!(with, without);
    }

    /// The first way costs no more than any other, it leads to the quorum, and weights are read if the number of signers
    /// does not suffice.
    #[test]
    fn nearest_is_the_cheapest(
        bases in prop::collection::vec((sparse(), 0u32..3), 0..6),
        quorum in sparse(),
        pages in prop::collection::vec((0usize..300, 1usize..300), 0..6),
        which in 0..4usize,
        enough in prop_oneof![Just(NEVER), 0u32..40],
        weigh in prop::sample::select(vec![Weigh::IfNeeded, Weigh::Always]),
    ) {
        let key_group = KeyGroup::ALL[which];
        let page = |(nonce, (first, keys)): (u32, (usize, usize))| KeyPage { nonce, first, keys: keys.min(300 - first) };
        let table = Table {
            key_pages: (1..).zip(pages).map(page).collect(),
            weight_pages: vec![WeightPage { nonce: 9, part: 0 }],
            weights: vec![1; 250],
        };
        let measured = Measured::default();
        let head = Head { epoch: 1, members: 250, enough, ..Head::default() };
        let pricing = Pricing { key_group, measured: &measured, table: &table, head, weigh };
        let base = |(slot, (signers, epoch))| {
            Base { slot, epoch, weight: 0, key: vec![0; key_group.key_bytes()].into(), signers }
        };
        let bases: Vec<_> = (0u16..).zip(bases).map(base).collect();
        let mut ways = pricing.ways(&bases, &quorum);
        prop_assert_eq!(ways.len(), bases.len() + 1);
        prop_assert!(ways.is_sorted_by_key(|way| way.gas));
        for way in &ways {
            prop_assert_eq!(way, &pricing.way(way.base.map(|place| (place, &bases[place])), &quorum));
        }
        let nearest = ways.swap_remove(0);
        prop_assert!(nearest.gas <= pricing.way(None, &quorum).gas);
        for base in bases.iter().enumerate() {
            prop_assert!(nearest.gas <= pricing.way(Some(base), &quorum).gas);
        }
        let from = nearest.base.map_or(MemberSet::default(), |place| bases[place].signers.clone());
        prop_assert_eq!(from.symmetric_difference(&nearest.changed), quorum.clone());
        // The contract reads each key from the page that is open, else from the next page, else from calldata.
        let (mut named, mut passed) = (nearest.keys.pages.iter(), MemberSet::default());
        let mut open = KeyPage { nonce: 0, first: 0, keys: 0 };
        for index in nearest.changed.iter() {
            while index >= open.first + open.keys {
                match named.next() {
                    Some(page) => open = *page,
                    None => break,
                }
            }
            if !open.holds(index) {
                passed.insert(index);
            }
        }
        prop_assert!(named.next().is_none(), "a page is named in vain");
        prop_assert_eq!(nearest.steps.passed as usize, passed.len());
        prop_assert_eq!(&nearest.keys.passed, &passed);
        let newest = nearest.base.is_some_and(|place| bases[place].slot == NEWEST);
        prop_assert_eq!(matches!(nearest.steps.start, Start::Newest { .. }), newest);
        // If the base was not weighed in this epoch, the weights of all members are read.
        let counts = enough > 0 && quorum.iter().filter(|index| *index < 250).count() >= enough as usize;
        let weighed_base = nearest.base.is_some_and(|place| bases[place].epoch == 1);
        let (weighing, weighed) = match (weighed_base, counts && weigh == Weigh::IfNeeded) {
            (_, true) => (Weighing::Counted, 0),
            (true, false) => (Weighing::FromBase, nearest.changed.len()),
            (false, false) => (Weighing::Anew, quorum.len()),
        };
        prop_assert_eq!((nearest.weighing, nearest.steps.weighed as usize), (weighing, weighed));
        // A part that is named although no weight is read keeps the contract from counting.
        let in_vain = weighed == 0 && counts && nearest.weighing == Weighing::FromBase;
        prop_assert_eq!(nearest.weights == [WeightSource::Passed(Bytes::new())], in_vain);
        prop_assert_eq!(nearest.weights.is_empty(), weighed == 0 && !in_vain);
        prop_assert_eq!(nearest.steps.weight_pages + nearest.steps.weight_parts_passed, u64::from(weighed > 0));
    }
}

proptest! {
    /// For every threshold, any `enough_by` members weigh what is required. For the threshold of `enough`, no smaller number
    /// of members is certain to.
    #[test]
    fn enough_is_sound_and_tight(weights in prop::collection::vec(0u64..9, 0..10), required in 1u128..40, other in 1u64..12) {
        // The weight of the lightest subset of k members.
        let lightest = |k: usize| {
            let of = (0u32..1 << weights.len()).filter(|set| set.count_ones() as usize == k);
            let weigh = |set: u32| -> u128 {
                weights.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, weight)| u128::from(*weight)).sum()
            };
            of.map(weigh).min().unwrap()
        };
        let least = (0..=weights.len()).find(|k| lightest(*k) >= required);
        let (threshold, tight) = enough(&weights, required);
        prop_assert!(threshold > 0);
        prop_assert_eq!(tight, least.map_or(NEVER, |k| k as u32));
        prop_assert_eq!(tight, enough_by(&weights, required, threshold));
        let sound = enough_by(&weights, required, other);
        prop_assert!(sound >= tight && (sound == NEVER || sound as usize <= weights.len()));
    }

    #[test]
    fn heads_come_back(
        nonce in 0..1u64 << 48, table: u16, epoch: u32, members in 0..=NEVER, enough in 0..=NEVER, required in 0u128..1 << 88, paid in 0..=NEVER,
        word: [u64; 4],
    ) {
        let head = Head { nonce, table, epoch, members, enough, required, paid };
        prop_assert_eq!(Head::decode(head.encode().unwrap()), head);
        let word = U256::from_limbs(word);
        prop_assert_eq!(Head::decode(word).encode().unwrap(), word);
    }
}

/// A way between two quorums costs 10 gas for each member that changes.
fn trace<'a>(quorums: &'a [MemberSet], pinned: &'a MemberSet) -> impl Fn(Option<usize>, usize) -> u64 + 'a {
    |base, quorum| 10 * quorums[quorum].distance(base.map_or(pinned, |base| &quorums[base])) as u64
}

/// The lowest cost with one slot, by trying all sets of stores.
fn brute_force(trace: &Trace<'_>) -> u64 {
    let cost = |mask: u32| {
        let mut last = None;
        let mut cost = 0;
        for quorum in 0..trace.quorums {
            cost += (trace.difference)(last, quorum).min((trace.difference)(None, quorum));
            if mask >> quorum & 1 == 1 {
                cost += trace.store;
                last = Some(quorum);
            }
        }
        cost
    };
    (0..1 << trace.quorums).map(cost).min().expect("to store nothing is one way")
}

fn small() -> impl Strategy<Value = MemberSet> {
    prop::collection::btree_set(0usize..12, 1..12).prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn optimum_is_the_best_of_all(quorums in prop::collection::vec(small(), 0..9), store in 0u64..100) {
        let pinned = MemberSet::full(12);
        let difference = trace(&quorums, &pinned);
        let trace = Trace { quorums: quorums.len(), store, difference: &difference };
        let optimum = trace.optimum();
        prop_assert_eq!(optimum.cost, brute_force(&trace));
        prop_assert_eq!(optimum.cost, optimum.differences + store * optimum.stored.len() as u64);
        prop_assert!(trace.lower_bound() <= optimum.cost);
    }

    /// No policy is cheaper than its lower bound. A longer ring is never worse than one slot. Ski rental's stores never cost
    /// more than its ways.
    #[test]
    fn policies_keep_their_bounds(quorums in prop::collection::vec(small(), 0..40), store in 0u64..200) {
        let pinned = MemberSet::full(12);
        let difference = trace(&quorums, &pinned);
        let trace = Trace { quorums: quorums.len(), store, difference: &difference };
        let optimum = trace.optimum().cost;
        let [never, last, rental] =
            [Policy::Pinned, Policy::Ring { slots: 1 }, Policy::SkiRental].map(|policy| trace.run(policy));
        for one_slot in [&never, &last, &rental] {
            prop_assert!(optimum <= one_slot.cost);
        }
        for slots in [2, 8, 32] {
            let ring = trace.run(Policy::Ring { slots });
            prop_assert!(ring.cost <= last.cost, "{} slots: {} > {}", slots, ring.cost, last.cost);
            prop_assert!(trace.lower_bound() <= ring.differences);
        }
        prop_assert!(rental.stored.len() as u64 * store <= rental.differences);
        prop_assert!(rental.cost <= 2 * rental.differences);
    }

    /// If quorums only drift (members leave and do not return), a later base is never farther away, and ski rental keeps its
    /// bound: twice the optimum, plus one way for each store.
    #[test]
    fn ski_rental_on_a_drifting_trace(leaves in prop::collection::vec(0usize..40, 12), store in 1u64..400) {
        let quorums: Vec<MemberSet> =
            (0..40).map(|t| (0..12).filter(|i| leaves[*i] > t).chain([12]).collect()).collect();
        let pinned = MemberSet::full(13);
        let difference = trace(&quorums, &pinned);
        let trace = Trace { quorums: quorums.len(), store, difference: &difference };
        let (rental, optimum) = (trace.run(Policy::SkiRental), trace.optimum());
        let largest = (0..quorums.len()).map(|t| difference(None, t)).max().unwrap();
        let slack = rental.stored.len() as u64 * largest;
        prop_assert!(rental.cost <= 2 * optimum.cost + slack, "{} > 2 * {} + {slack}", rental.cost, optimum.cost);
    }
}

/// On other traces ski rental has no constant bound. Here an unusual quorum comes exactly when ski rental stores, and every
/// way is long until the next store. The optimum stores the usual quorum once.
#[test]
fn ski_rental_has_no_constant_bound() {
    let usual: MemberSet = (0..10).collect();
    let strays: [MemberSet; 2] = [11, 12].map(|other| (0..9).chain([other]).collect());
    let pinned = MemberSet::full(300);
    for rents in [10, 40] {
        let quorum = |t: usize| if t.is_multiple_of(rents) { &strays[t / rents % 2] } else { &usual };
        let quorums: Vec<_> = (0..60 * rents).map(|t| quorum(t).clone()).collect();
        let difference = trace(&quorums, &pinned);
        let trace = Trace { quorums: quorums.len(), store: 20 * rents as u64, difference: &difference };
        let (rental, optimum) = (trace.run(Policy::SkiRental), trace.optimum());
        println!("{rents} differences a store: rental {}, optimum {}", rental.cost, optimum.cost);
        assert!(rental.cost > rents as u64 / 3 * optimum.cost, "{} against {}", rental.cost, optimum.cost);
    }
}

/// A ring of one slot, computed by hand.
#[test]
fn ring_of_one_slot() {
    let quorums: Vec<MemberSet> = [&[0usize][..], &[0], &[1], &[0]].map(|m| m.iter().copied().collect()).to_vec();
    let pinned = MemberSet::full(8);
    let difference = trace(&quorums, &pinned);
    let trace = Trace { quorums: 4, store: 1, difference: &difference };
    let last = trace.run(Policy::Ring { slots: 1 });
    assert_eq!((last.differences, last.stored), (70 + 20 + 20, vec![0, 2, 3]));
    let two = trace.run(Policy::Ring { slots: 2 });
    assert_eq!((two.differences, two.stored), (70 + 20, vec![0, 2]));
    assert_eq!(trace.run(Policy::Pinned).differences, 4 * 70);
}

#[test]
fn tables_cut_keys_into_pages() {
    let table = Table::paged(KeyGroup::Bn254G2, vec![1; 200], 5);
    let pages: Vec<_> = table.key_pages.iter().map(|page| (page.nonce, page.first, page.keys)).collect();
    assert_eq!(pages, [(5, 0, 191), (6, 191, 9)]);
    assert_eq!(table.weight_pages, [WeightPage { nonce: 7, part: 0 }]);
    // As `test_pagesWithAProgram` of the contracts.
    assert_eq!(KeyGroup::ALL.map(KeyGroup::page_keys), [191, 379, 125, 125]);
    let wide = Table::paged(KeyGroup::Bn254G1, vec![1; 2 * PART + 1], 1);
    assert_eq!(wide.weight_pages.iter().map(|page| page.part).collect::<Vec<_>>(), [0, 1, 2]);
}

/// The model agrees with the gas that the contracts' own tests measured: whole transactions of 50 members, from the newest
/// base, with some members changed and without an access list.
#[test]
fn gas_is_near_the_snapshots() {
    let measured = Measured::default();
    for (key_group, name) in KeyGroup::ALL.into_iter().zip([
        "SettlementBn254G2",
        "SettlementBn254G1",
        "SettlementBls12381G2",
        "SettlementBls12381G2Nu",
    ]) {
        let path = format!("{}/../../contracts/snapshots/{name}.json", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(&path).unwrap();
        let snapshot: std::collections::BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        let table = Table::paged(key_group, vec![1_000_000; 50], 1);
        let head = Head { nonce: 3, table: 0, epoch: 1, members: 50, enough: 25, required: 25_000_000, paid: 0 };
        let weigh = Weigh::IfNeeded;
        let pricing = Pricing { key_group, measured: &measured, table: &table, head, weigh };
        let (key, signers) = (vec![1; key_group.key_bytes()].into(), MemberSet::full(48));
        let base = Base { slot: NEWEST, epoch: 0, weight: 0, key, signers };
        for changed in [0, 1, 2, 4, 8, 16] {
            let row = if changed == 0 { "the same quorum".into() } else { format!("{changed} changed") };
            let gas: u64 = snapshot[&row].parse().unwrap();
            let signers: MemberSet = (changed..48).collect();
            let mut way = pricing.way(Some((0, &base)), &signers);
            // The contracts' tests read keys from the page, have no access list, and pass slopes.
            way.keys.pages = table.key_pages[..changed.min(1)].to_vec();
            way.keys.passed = MemberSet::default();
            (way.steps.paged, way.steps.passed) = (changed as u64, 0);
            way.steps.copies = way.keys.copies(key_group, &way.changed);
            way.steps.calls = way.keys.calls(key_group, &way.changed);
            (way.steps.key_pages, way.steps.listed) = (way.keys.pages.len() as u64, 0);
            assert_eq!(way.weighing, Weighing::Counted);
            let hints = vec![CounterHint { counter: 1, y: [9; 32] }];
            let proof = match key_group {
                KeyGroup::Bn254G2 => {
                    let sum = if changed > 0 { KeySum::Slopes(vec![[9; 64]; changed]) } else { KeySum::Unchanged };
                    way.steps.slopes = (changed > 0).then_some(changed as u64);
                    Proof::Bn254G2 { sum, signature: [9; 64], hints }
                }
                KeyGroup::Bn254G1 => Proof::Bn254G1 { signature: [9; 64], key: [9; 128], hints },
                KeyGroup::Bls12381G2 => Proof::Bls12381G2 { signature: [9; 96] },
                KeyGroup::Bls12381G2Nu => Proof::Bls12381G2Nu { signature: [9; 96] },
            };
            let (base, key_pages) = (Some(base.clone()), way.pages().collect());
            let (weights, keys) = (vec![], vec![]);
            let quorum = Quorum { base, store: Store::Slot(2), key_pages, weights, keys, signers, proof };
            let (head, result) = (head.encode().unwrap(), B256::repeat_byte(9));
            let call =
                Settlement::settleCall { head, deadline: u64::MAX, result, quorum: quorum.encode().unwrap().into() };
            let call = Calldata::of(&call.abi_encode());
            let estimate = measured.settle(key_group, call, 1, 1, &way.steps, Storing::Nowhere).total();
            println!("{name}, {row}: {gas} gas, {estimate} by the model");
            assert!(estimate.abs_diff(gas) < gas / 50, "{name}, {row}: {gas} gas, {estimate} by the model");
        }
    }
}

/// The same of a hub: what it shares is subtracted from the sum of the quorums' own transactions.
#[test]
fn gas_of_a_hub_is_near_the_snapshots() {
    let measured = Measured::default();
    let snapshot = |name: &str| -> std::collections::BTreeMap<String, String> {
        let path = format!("{}/../../contracts/snapshots/{name}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    for (key_group, name) in
        [(KeyGroup::Bn254G1, "Bn254G1"), (KeyGroup::Bls12381G2, "Bls12381G2"), (KeyGroup::Bls12381G2Nu, "Bls12381G2Nu")]
    {
        let alone: u64 = snapshot(&format!("Settlement{name}"))["the same quorum"].parse().unwrap();
        let hub = snapshot(&format!("Hub{name}"));
        for quorums in [1, 2, 5, 10] {
            let gas: u64 = hub[&format!("{quorums} quorums by a hub")].parse().unwrap();
            let estimate = measured.hub(key_group, &vec![alone; quorums]);
            assert!(estimate.abs_diff(gas) < gas / 50, "{name}, {quorums}: {gas} gas, {estimate} by the model");
        }
    }
    assert_eq!(measured.hub(KeyGroup::Bn254G1, &[u64::MAX; 2]), u64::MAX - 100_000, "no sum overflows");
}

#[test]
fn gas_of_calldata() {
    assert_eq!(Calldata::of(&[0, 1, 0, 0, 2]), Calldata { zeros: 3, nonzeros: 2 });
    assert_eq!((Calldata { zeros: 3, nonzeros: 2 }.gas(), Calldata { zeros: 3, nonzeros: 2 }.floor()), (44, 110));
    // EIP-7623: a transaction that is mostly calldata pays the least price.
    let idle = Measured { settle: 0, ..Measured::default() };
    let large = Calldata { zeros: 0, nonzeros: 1_000_000 };
    let total = idle.settle(KeyGroup::Bn254G2, large, 0, 0, &Steps::default(), Storing::Nowhere).total();
    assert_eq!(total, TRANSACTION + 40_000_000);
}
