//! The tests of the vote pool.

use super::*;

const A: Hash = [0xa; 32];
const B: Hash = [0xb; 32];

fn one(pool: &mut VotePool, vote: Vote) -> Answer {
    pool.add(vec![vote]).remove(0)
}

/// What a vote brought: who is new, the weight, whether the block is accepted, who equivocated.
fn counted(answer: Answer) -> (Vec<usize>, u128, bool, Vec<usize>) {
    let Answer::Counted { new, weight, is_accepted, equivocations } = answer else { panic!("{answer:?}") };
    (new, weight, is_accepted, equivocations.iter().map(|(member, _)| *member).collect())
}

#[test]
fn no_member_counts_twice() {
    let mut pool = tiny_pool().unwrap();
    let twice = vec![vote(&[3], 7, A, 1).unwrap(); 2];
    let [first, second] = pool.add(twice).try_into().unwrap();
    assert_eq!((counted(first), second), ((vec![3], 40, false, vec![]), Answer::AddsNothing));
    assert_eq!(one(&mut pool, vote(&[3], 7, A, 2).unwrap()), Answer::AddsNothing);
    let mut repeated = vote(&[1, 1], 7, A, 1).unwrap();
    repeated.voters = Members::Indices(vec![1, 1]);
    assert_eq!(counted(one(&mut pool, repeated)), (vec![1], 60, false, vec![]));
    // A certificate that overlaps: 10 of its 70 are new.
    let certificate = vote(&[0, 1, 3], 7, A, 1).unwrap();
    assert_eq!(counted(one(&mut pool, certificate)), (vec![0], 70, true, vec![]));
}

#[test]
fn the_threshold_is_more_than_two_thirds() {
    let mut pool = tiny_pool().unwrap();
    pool.weights = vec![1, 33, 33, 33];
    assert!(!counted(one(&mut pool, vote(&[1, 2], 7, A, 1).unwrap())).2);
    assert!(counted(one(&mut pool, vote(&[0], 7, A, 1).unwrap())).2);
}

#[test]
fn lies_are_named_and_never_counted() {
    let mut pool = tiny_pool().unwrap();
    let stolen = Vote { block: B, ..vote(&[3], 7, A, 5).unwrap() };
    let padded = Vote { voters: Members::Indices(vec![0, 1, 2, 3]), ..vote(&[0, 1], 7, A, 6).unwrap() };
    let replayed = Vote { height: 8, ..vote(&[2, 3], 7, A, 7).unwrap() };
    let answers = pool.add(vec![stolen, vote(&[0], 7, A, 1).unwrap(), padded, replayed]);
    for (place, source) in [(0, 5), (2, 6), (3, 7)] {
        assert_eq!(answers[place], Answer::False { source, reason: Reason::Mismatch });
    }
    assert_eq!((pool.tallies.len(), pool.voted.len()), (1, 1));
}

#[test]
fn equivocation_is_reported_with_both_votes() {
    let mut pool = tiny_pool().unwrap();
    let (first, second) = (vote(&[0, 3], 7, A, 1).unwrap(), vote(&[1, 3], 7, B, 2).unwrap());
    let answers = pool.add(vec![first.clone(), second.clone(), vote(&[3], 8, B, 1).unwrap()]);
    let Answer::Counted { equivocations, .. } = &answers[1] else { panic!("{answers:?}") };
    assert_eq!(*equivocations, [(3, [first.into(), second.into()])]);
    let spam = one(&mut pool, vote(&[3], 7, [0xc; 32], 1).unwrap());
    assert_eq!(spam, Answer::Refused("of equivocators alone"));
    // A quorum has decided, whoever is in it.
    let quorum = vote(&[1, 2, 3], 7, A, 1).unwrap();
    assert_eq!(counted(one(&mut pool, quorum)), (vec![1, 2], 100, true, vec![1]));
}

#[test]
fn what_cannot_count_is_refused() {
    let mut pool = tiny_pool().unwrap();
    let good = vote(&[0], 7, A, 1).unwrap();
    let of = |voters| Vote { voters, ..good.clone() };
    let nobody =
        [of(Members::Indices(vec![])), of(Members::Indices(vec![0, u32::MAX])), of(Members::Bitmap(Bitmap::default()))];
    for vote in nobody.into_iter().chain([6, 23].map(|height| Vote { height, ..good.clone() })) {
        assert!(matches!(one(&mut pool, vote), Answer::Refused(_)));
    }
    pool.advance(8);
    assert!(matches!(one(&mut pool, good), Answer::Refused(_)));
    let mut unproven = KeySet::new(MinPk::Eth2, Backend::auto());
    unproven.push(secret(0).unwrap().public_key());
    assert!(VotePool::new(unproven.clone(), vec![1], 0).is_err() && VotePool::new(unproven, vec![], 0).is_err());
}
