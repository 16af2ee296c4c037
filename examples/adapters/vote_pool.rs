//! A pool of votes, as chains with BFT consensus have it.
//!
//! For engineers of a chain whose validators have weights and vote for blocks, one by one or in certificates (a bitmap
//! and an aggregate). Copy [`VotePool`] with its types, put your message into [`message`], and make the key set from the
//! proofs of possession of your validators. Call [`VotePool::add`] with what has arrived, and [`VotePool::advance`] when
//! a height is decided.
//!
//! Run it in the repository: `cargo run -p quorate --example vote-pool`

use std::collections::{BTreeSet, HashMap, HashSet};
use std::{error::Error, sync::Arc};

use quorate::{
    AnyKeySet, Backend, Bitmap, ClaimBytes, Exhaustive, KeySet, Members, MinPk, Options, Reason, SecretKey, Verdict,
    Verifier, aggregate::aggregate, keyset::Possession, proof_of_possession::prove,
};

type Hash = [u8; 32];

/// Members say that they vote for a block at a height: one member, or several with the sum of their signatures.
#[derive(Clone, Debug, PartialEq)]
struct Vote {
    height: u64,
    block: Hash,
    voters: Members,
    signature: [u8; 96],
    /// The peer that sent it. A false certificate is its lie, and not that of the members in it.
    source: u64,
}

#[derive(Debug, PartialEq)]
enum Answer {
    /// These members count for the block from now on. The block is accepted once `weight` passes two thirds.
    Counted { new: Vec<usize>, weight: u128, is_accepted: bool, equivocations: Vec<Equivocation> },
    /// All of its members count for the block already. Nothing was verified.
    AddsNothing,
    /// It cannot count, whoever signed it. Nothing was verified.
    Refused(&'static str),
    /// The signature is false: ban the source.
    False { source: u64, reason: Reason },
}

/// Two proven votes of one member for different blocks at one height. Show both to others as evidence.
#[derive(Debug, PartialEq)]
struct Equivocation {
    member: usize,
    votes: [Arc<Vote>; 2],
}

struct VotePool {
    verifier: Verifier,
    members: AnyKeySet,
    weights: Vec<u64>,
    /// The least weight that is more than two thirds.
    needed: u128,
    /// The lowest height that is not decided.
    height: u64,
    /// By height and block: who counts for it.
    tallies: HashMap<(u64, Hash), BTreeSet<usize>>,
    /// By height and member: its first vote.
    first: HashMap<(u64, usize), Arc<Vote>>,
    equivocators: HashSet<(u64, usize)>,
}

impl VotePool {
    /// How many heights can be voted on at once.
    const HEIGHTS: u64 = 16;

    fn new(members: KeySet<MinPk>, weights: Vec<u64>, height: u64) -> Result<Self, &'static str> {
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        if members.len() != weights.len() || total == 0 {
            return Err("each member needs a weight, and some must have more than 0");
        }
        if (0..members.len()).any(|i| members.possession(i) != Ok(Possession::Proven)) {
            return Err("a member has not proven that it possesses its secret");
        }
        let (verifier, members) = (Verifier::with_known_limit(Options::default(), 1 << 16), members.into_any());
        let (tallies, first, equivocators) = Default::default();
        Ok(Self { verifier, members, weights, needed: total * 2 / 3 + 1, height, tallies, first, equivocators })
    }

    /// Verifies what has arrived as one batch, and counts what is true, in this order. A later certificate has the votes
    /// subtracted that are known.
    fn add(&mut self, votes: Vec<Vote>) -> Vec<Answer> {
        let settled: Vec<_> = votes.iter().map(|vote| self.without_verifying(vote)).collect();
        let open = votes.iter().zip(&settled).filter(|(_, answer)| answer.is_none());
        let claims: Vec<_> = open.map(|(vote, _)| self.claim(vote)).collect();
        let outcome = self.verifier.verify_and_remember(&claims, &mut Exhaustive, &mut rand::rng());
        let mut verdicts = outcome.verdicts.into_iter();
        let decide = |(vote, settled): (Vote, Option<Answer>)| match settled {
            Some(answer) => answer,
            None => match verdicts.next().unwrap_or(Verdict::Invalid(Reason::Undecided)) {
                Verdict::Valid => self.count(vote),
                Verdict::Invalid(reason) => Answer::False { source: vote.source, reason },
            },
        };
        votes.into_iter().zip(settled).map(decide).collect()
    }

    /// Forgets what is below a height.
    fn advance(&mut self, height: u64) {
        self.height = self.height.max(height);
        self.tallies.retain(|(of, _), _| *of >= self.height);
        self.first.retain(|(of, _), _| *of >= self.height);
        self.equivocators.retain(|(of, _)| *of >= self.height);
    }

    fn claim(&self, vote: &Vote) -> ClaimBytes {
        let message = message(vote.height, &vote.block);
        ClaimBytes::of_members(&self.members, vote.voters.clone(), message, vote.signature).from_source(vote.source)
    }

    fn without_verifying(&self, vote: &Vote) -> Option<Answer> {
        let voters = indices(&vote.voters);
        if !(self.height..self.height.saturating_add(Self::HEIGHTS)).contains(&vote.height) {
            return Some(Answer::Refused("not a height that is voted on"));
        }
        if voters.is_empty() || voters.iter().any(|i| *i >= self.weights.len()) {
            return Some(Answer::Refused("no voters, or one that is no member"));
        }
        let tally = self.tallies.get(&(vote.height, vote.block));
        let new: Vec<_> = voters.iter().filter(|i| !tally.is_some_and(|tally| tally.contains(i))).collect();
        // So that nobody fills the memory with votes for ever new blocks. A quorum's certificate counts nevertheless.
        let is_spam = new.iter().all(|i| self.equivocators.contains(&(vote.height, **i)));
        match () {
            () if new.is_empty() => Some(Answer::AddsNothing),
            () if is_spam && self.weight(&voters) < self.needed => Some(Answer::Refused("of equivocators alone")),
            () => None,
        }
    }

    /// Counts a vote that is proven. A member counts once for a block, in however many votes it stands.
    fn count(&mut self, vote: Vote) -> Answer {
        let (vote, mut equivocations) = (Arc::new(vote), Vec::new());
        let tally = self.tallies.entry((vote.height, vote.block)).or_default();
        let new: Vec<_> = indices(&vote.voters).into_iter().filter(|member| tally.insert(*member)).collect();
        for member in &new {
            let first = self.first.entry((vote.height, *member)).or_insert_with(|| vote.clone());
            if first.block != vote.block {
                self.equivocators.insert((vote.height, *member));
                equivocations.push(Equivocation { member: *member, votes: [first.clone(), vote.clone()] });
            }
        }
        let tally = tally.clone();
        let weight = self.weight(&tally);
        Answer::Counted { new, weight, is_accepted: weight >= self.needed, equivocations }
    }

    fn weight(&self, members: &BTreeSet<usize>) -> u128 {
        members.iter().map(|member| u128::from(self.weights[*member])).sum()
    }
}

/// What a vote signs. The height is in it, so that nobody can replay a vote at another height.
fn message(height: u64, block: &Hash) -> Vec<u8> {
    [&b"vote"[..], &height.to_be_bytes(), block].concat()
}

fn indices(voters: &Members) -> BTreeSet<usize> {
    match voters {
        Members::Bitmap(bitmap) => bitmap.indices().collect(),
        Members::Indices(indices) => indices.iter().map(|index| *index as usize).collect(),
    }
}

/// A vote of some of the members of the tiny case.
fn vote(voters: &[u32], height: u64, block: Hash, source: u64) -> Result<Vote, Box<dyn Error>> {
    let sign = |i: &u32| Ok(secret(*i)?.sign(MinPk::Eth2, &message(height, &block)));
    let parts: Vec<_> = voters.iter().map(sign).collect::<Result<_, Box<dyn Error>>>()?;
    let signature = aggregate(&parts, Backend::auto())?.to_bytes();
    let bitmap = || Bitmap::from_indices(voters.iter().map(|i| *i as usize));
    let voters = if let [_] = voters { Members::Indices(voters.to_vec()) } else { Members::Bitmap(bitmap()) };
    Ok(Vote { height, block, voters, signature, source })
}

fn secret(i: u32) -> Result<SecretKey<MinPk>, quorate::ParseError> {
    SecretKey::key_gen(MinPk::Eth2, &[i as u8 + 1; 32], b"")
}

/// Four members with the weights 10, 20, 30 and 40: 67 are needed.
fn tiny_pool() -> Result<VotePool, Box<dyn Error>> {
    let mut members = KeySet::new(MinPk::Eth2, Backend::auto());
    for i in 0..4 {
        members.push(secret(i)?.public_key());
        let proof = prove(MinPk::Eth2, &secret(i)?).ok_or("the suite has proofs")?;
        assert!(members.prove(i as usize, proof)?.is_valid());
    }
    Ok(VotePool::new(members, vec![10, 20, 30, 40], 7)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut pool, a, b) = (tiny_pool()?, [0xa; 32], [0xb; 32]);
    let forged = Vote { block: a, ..vote(&[3], 7, b, 102)? };
    let votes = [vote(&[0], 7, a, 100)?, forged, vote(&[0, 1, 3], 7, a, 101)?, vote(&[1], 7, b, 103)?];
    for (i, answer) in pool.add(votes.to_vec()).into_iter().enumerate() {
        match answer {
            Answer::Counted { new, weight, is_accepted, equivocations } => {
                println!("vote {i}: members {new:?} are new, weight {weight}, accepted: {is_accepted}");
                equivocations.iter().for_each(|it| println!("        member {} voted for two blocks", it.member));
            }
            Answer::False { source, reason } => println!("vote {i}: peer {source} lies: {reason}"),
            Answer::AddsNothing => println!("vote {i}: adds nothing"),
            Answer::Refused(why) => println!("vote {i}: refused: {why}"),
        }
    }
    println!("again:  {:?}", pool.add(votes[..1].to_vec()));
    pool.advance(8);
    println!("later:  {:?}", pool.add(votes[..1].to_vec()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Hash = [0xa; 32];
    const B: Hash = [0xb; 32];

    fn one(pool: &mut VotePool, vote: Vote) -> Answer {
        pool.add(vec![vote]).remove(0)
    }

    /// What a vote brought: who is new, the weight, whether the block is accepted, who equivocated.
    fn counted(answer: Answer) -> (Vec<usize>, u128, bool, Vec<usize>) {
        let Answer::Counted { new, weight, is_accepted, equivocations } = answer else { panic!("{answer:?}") };
        (new, weight, is_accepted, equivocations.iter().map(|it| it.member).collect())
    }

    #[test]
    fn no_member_counts_twice() {
        let mut pool = tiny_pool().unwrap();
        let twice = vec![vote(&[3], 7, A, 1).unwrap(); 2];
        let answers: Vec<_> = pool.add(twice).into_iter().map(counted).collect();
        assert_eq!(answers, [(vec![3], 40, false, vec![]), (vec![], 40, false, vec![])]);
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
        assert_eq!((pool.tallies.len(), pool.first.len()), (1, 1));
    }

    #[test]
    fn equivocation_is_reported_with_both_votes() {
        let mut pool = tiny_pool().unwrap();
        let (first, second) = (vote(&[0, 3], 7, A, 1).unwrap(), vote(&[1, 3], 7, B, 2).unwrap());
        let answers = pool.add(vec![first.clone(), second.clone(), vote(&[3], 8, B, 1).unwrap()]);
        let Answer::Counted { equivocations, .. } = &answers[1] else { panic!("{answers:?}") };
        assert_eq!(*equivocations, [Equivocation { member: 3, votes: [first.into(), second.into()] }]);
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
        let nobody = [
            of(Members::Indices(vec![])),
            of(Members::Indices(vec![0, u32::MAX])),
            of(Members::Bitmap(Bitmap::default())),
        ];
        for vote in nobody.into_iter().chain([6, 23].map(|height| Vote { height, ..good.clone() })) {
            assert!(matches!(one(&mut pool, vote), Answer::Refused(_)));
        }
        pool.advance(8);
        assert!(matches!(one(&mut pool, good), Answer::Refused(_)));
        let mut unproven = KeySet::new(MinPk::Eth2, Backend::auto());
        unproven.push(secret(0).unwrap().public_key());
        assert!(VotePool::new(unproven.clone(), vec![1], 0).is_err() && VotePool::new(unproven, vec![], 0).is_err());
    }
}
