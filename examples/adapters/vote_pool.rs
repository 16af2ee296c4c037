//! A pool of votes, as chains with BFT consensus have it.
//!
//! For engineers of a chain whose validators have weights and vote for blocks, one by one or in certificates (a bitmap and an
//! aggregate). Copy [`VotePool`] with its types, put your message into [`message`], and prove the keys of your validators as
//! `tiny_pool` does. Call [`VotePool::add`] with what has arrived, and [`VotePool::advance`] when a height is decided. Run it in
//! the repository: `cargo run -p quorate --example vote-pool`

use std::collections::{BTreeSet, HashMap};
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
    /// All of its members count for the block already.
    AddsNothing,
    /// It cannot count, whoever signed it.
    Refused(&'static str),
    /// The signature is false: ban the source.
    False { source: u64, reason: Reason },
}

/// A member, and two proven votes of it for different blocks at one height. Show both to others as evidence.
type Equivocation = (usize, [Arc<Vote>; 2]);

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
    /// By height and member: its first vote, and whether it has voted for another block, too.
    voted: HashMap<(u64, usize), (Arc<Vote>, bool)>,
}

impl VotePool {
    /// How many heights can be voted on at once.
    const HEIGHTS: u64 = 16;

    fn new(members: KeySet<MinPk>, weights: Vec<u64>, height: u64) -> Result<Self, &'static str> {
        let total: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
        let is_proven = |i| members.possession(i) == Ok(Possession::Proven);
        if members.len() != weights.len() || total == 0 || !(0..members.len()).all(is_proven) {
            return Err("each member needs a weight and a proof of possession, and some weight must be more than 0");
        }
        let verifier = Verifier::with_known_limit(Options::default(), 1 << 16);
        let (members, needed, (tallies, voted)) = (members.into_any(), total * 2 / 3 + 1, Default::default());
        Ok(Self { verifier, members, weights, needed, height, tallies, voted })
    }

    /// Verifies what has arrived as one batch without the votes that are known, and counts what is true, in this order. What an
    /// earlier vote of the batch says already adds nothing.
    fn add(&mut self, votes: Vec<Vote>) -> Vec<Answer> {
        let settled: Vec<_> = votes.iter().map(|vote| self.without_verifying(vote)).collect();
        let claim = |it: &Vote| {
            ClaimBytes::of_members(&self.members, it.voters.clone(), message(it.height, &it.block), it.signature)
        };
        let open = votes.iter().zip(&settled).filter(|(_, answer)| answer.is_none());
        let claims: Vec<_> = open.map(|(vote, _)| claim(vote)).collect();
        let outcome = self.verifier.verify_and_remember(&claims, &mut Exhaustive, &mut rand::rng());
        let mut verdicts = outcome.verdicts.into_iter();
        let decide = |(vote, settled): (Vote, Option<Answer>)| match settled {
            Some(answer) => answer,
            None => match verdicts.next().unwrap_or(Verdict::Invalid(Reason::Undecided)) {
                Verdict::Valid => self.without_verifying(&vote).unwrap_or_else(|| self.count(vote)),
                Verdict::Invalid(reason) => Answer::False { source: vote.source, reason },
            },
        };
        votes.into_iter().zip(settled).map(decide).collect()
    }

    /// Forgets what is below a height.
    fn advance(&mut self, height: u64) {
        self.height = self.height.max(height);
        self.tallies.retain(|(of, _), _| *of >= self.height);
        self.voted.retain(|(of, _), _| *of >= self.height);
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
        if new.is_empty() {
            return Some(Answer::AddsNothing);
        }
        // So that nobody fills the memory with votes for ever new blocks. A quorum's certificate counts nevertheless.
        let is_equivocator = |i: &usize| self.voted.get(&(vote.height, *i)).is_some_and(|(_, twice)| *twice);
        let is_spam = new.into_iter().all(is_equivocator) && self.weight(&voters) < self.needed;
        is_spam.then_some(Answer::Refused("of equivocators alone"))
    }

    /// Counts a vote that is proven. A member counts once for a block, in however many votes it stands.
    fn count(&mut self, vote: Vote) -> Answer {
        let (vote, mut equivocations) = (Arc::new(vote), Vec::new());
        let tally = self.tallies.entry((vote.height, vote.block)).or_default();
        let new: Vec<_> = indices(&vote.voters).into_iter().filter(|member| tally.insert(*member)).collect();
        for &member in &new {
            let (first, twice) = self.voted.entry((vote.height, member)).or_insert_with(|| (vote.clone(), false));
            if first.block != vote.block {
                *twice = true;
                equivocations.push((member, [first.clone(), vote.clone()]));
            }
        }
        let weight = self.weight(&self.tallies[&(vote.height, vote.block)]);
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

/// What some members of the tiny case vote.
fn vote(voters: &[u32], height: u64, block: Hash, source: u64) -> Result<Vote, Box<dyn Error>> {
    let sign = |i: &u32| Ok(secret(*i)?.sign(MinPk::Eth2, &message(height, &block)));
    let parts: Vec<_> = voters.iter().map(sign).collect::<Result<_, quorate::ParseError>>()?;
    let signature = aggregate(&parts, Backend::auto())?.to_bytes();
    let voters = Members::Bitmap(Bitmap::from_indices(voters.iter().map(|i| *i as usize)));
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
                equivocations.iter().for_each(|(member, _)| println!("        member {member} voted for two blocks"));
            }
            Answer::False { source, reason } => println!("vote {i}: peer {source} lies: {reason}"),
            other => println!("vote {i}: {other:?}"),
        }
    }
    println!("again:  {:?}", pool.add(votes[..1].to_vec()));
    pool.advance(8);
    println!("later:  {:?}", pool.add(votes[..1].to_vec()));
    Ok(())
}

#[cfg(test)]
#[path = "vote_pool_tests.rs"]
mod tests;
