//! The tests of the aggregation pool.

use super::*;

const VOTE: [u8; 32] = [1; 32];

/// A pool to which these were added, and what it said.
fn pool(arrived: &[&[u32]]) -> AggregationPool {
    let mut pool = AggregationPool::new(committee(8).unwrap());
    let arrived: Vec<_> = arrived.iter().map(|members| attest(members, VOTE).unwrap()).collect();
    assert!(!pool.add(&arrived).iter().any(|added| matches!(added, Added::False(_) | Added::Full)));
    pool
}

/// The members of the best aggregate, which is valid and the one that these members make.
fn best(pool: &AggregationPool) -> Vec<u32> {
    let best = pool.best(&VOTE).unwrap();
    let bits: Vec<_> = best.bits.iter().copied().collect();
    assert!(best.claim(&pool.committee).verify().is_valid());
    assert_eq!(best, attest(&bits, VOTE).unwrap());
    bits
}

#[test]
fn what_overlaps_is_added_only_without_known_singles() {
    assert_eq!(best(&pool(&[&[0, 1, 2], &[2, 3], &[4, 5]])), [0, 1, 2, 4, 5]);
    assert_eq!(best(&pool(&[&[0, 1, 2], &[2, 3, 4], &[2]])), [0, 1, 2, 3, 4]);
    assert_eq!(best(&pool(&[&[2], &[0, 1, 2], &[2, 3, 4], &[7]])), [0, 1, 2, 3, 4, 7]);
}

/// 1 from {0, 1} and 0, then 2 from {1, 2}, then {3, 4} from {2, 3, 4}.
#[test]
fn a_single_is_learned_by_subtraction() {
    let pool = pool(&[&[2, 3, 4], &[1, 2], &[0, 1], &[0]]);
    let proven = &pool.by_message[&VOTE];
    assert_eq!(proven.singles.keys().collect::<Vec<_>>(), [&0, &1, &2]);
    assert_eq!(proven.aggregates.keys().collect::<Vec<_>>(), [&Bits::from([3, 4])]);
    assert_eq!(best(&pool), [0, 1, 2, 3, 4]);
}

#[test]
fn greedy_is_not_always_the_best() {
    assert_eq!(best(&pool(&[&[0, 1, 2, 3], &[0, 1, 4], &[2, 3, 5]])), [0, 1, 2, 3]);
}

#[test]
fn known_sums_are_not_verified_again() {
    let mut pool = pool(&[&[0], &[1], &[2, 3], &[4, 5]]);
    for known in [&[0][..], &[0, 1], &[2, 3], &[0, 2, 3], &[0, 2, 3, 4, 5]] {
        assert_eq!(pool.add(&[attest(known, VOTE).unwrap()]), [Added::Known]);
    }
    assert_eq!(pool.add(&[attest(&[2, 6], VOTE).unwrap(), attest(&[2], [2; 32]).unwrap()]), [Added::Kept, Added::Kept]);
}

#[test]
fn lies_are_not_kept() {
    let mut pool = pool(&[&[0]]);
    let of = |bits: &[u32], it: Attestation| Attestation { bits: bits.iter().copied().collect(), ..it };
    let lies = [
        of(&[1, 2, 3], attest(&[1, 2], VOTE).unwrap()),
        of(&[3], attest(&[4], VOTE).unwrap()),
        Attestation { message: [2; 32], ..attest(&[5, 6], VOTE).unwrap() },
        Attestation { signature: [0; 96], ..attest(&[5, 6], VOTE).unwrap() },
        of(&[1, 8], attest(&[1], VOTE).unwrap()),
        of(&[], attest(&[1], VOTE).unwrap()),
    ];
    let mut mixed = lies.to_vec();
    mixed.push(attest(&[1, 7], VOTE).unwrap());
    let added = pool.add(&mixed);
    assert!(added[..6].iter().all(|added| matches!(added, Added::False(_))), "{added:?}");
    assert_eq!((&added[6], best(&pool)), (&Added::Kept, vec![0, 1, 7]));
    assert_eq!((pool.by_message.len(), pool.best(&[2; 32])), (1, None));
}

/// By one batch, and by a sum of which a part is known.
#[test]
fn aggregates_of_a_message_are_bounded() {
    let mut pool = AggregationPool::new(committee(24).unwrap());
    let pairs = (0..24).flat_map(|i| (0..i).map(move |j| [j, i])).take(AggregationPool::MOST + 2);
    let arrived: Vec<_> = pairs.map(|pair| attest(&pair, VOTE).unwrap()).collect();
    let added = pool.add(&arrived);
    let (kept, full) = added.split_at(AggregationPool::MOST);
    assert!(kept.iter().all(|added| *added == Added::Kept), "{kept:?}");
    assert_eq!(full, [Added::Full, Added::Full]);
    let arrived = [attest(&[0, 1, 2], VOTE).unwrap(), attest(&[0, 1], VOTE).unwrap(), attest(&[0], VOTE).unwrap()];
    assert_eq!(pool.add(&arrived[..2]), [Added::Full, Added::Known]);
    assert_eq!(pool.by_message[&VOTE].aggregates.len(), AggregationPool::MOST);
    assert_eq!(pool.add(&arrived[2..]), [Added::Kept]);
}

/// What a batch says twice is kept once.
#[test]
fn what_a_batch_said_before_is_known() {
    let mut pool = pool(&[]);
    let arrived: Vec<_> = [&[0, 1][..], &[0, 1], &[0], &[0], &[1]].iter().map(|it| attest(it, VOTE).unwrap()).collect();
    assert_eq!(pool.add(&arrived), [Added::Kept, Added::Known, Added::Kept, Added::Known, Added::Known]);
}
