//! A pool of attestations that overlap, from which a block gets one aggregate.
//!
//! For engineers of a node that proposes blocks, or aggregates for others: attestations of one message arrive singly and as
//! aggregates whose bits overlap. Copy [`AggregationPool`] with its types, call [`AggregationPool::add`] with what has
//! arrived, [`AggregationPool::best`] for a block, and [`AggregationPool::retain`] for each new slot.
//!
//! A signature can be subtracted, so an aggregate is kept without the members whose own signature is known. Two aggregates
//! can be added only if no member is in both. [`AggregationPool::best`] takes the largest that fits, then the next one: greedy,
//! and so not always the best cover, which is hard to find (it is a maximum set packing).
//!
//! Run it in the repository: `cargo run -p quorate --example aggregation-pool`

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::error::Error;

use quorate::{
    AnyKeySet, Backend, ClaimBytes, Exhaustive, KeySet, Members, MinPk, Options, ParseError, Reason, SecretKey,
    Signature, Verdict, Verifier,
    aggregate::{aggregate, subtract},
};

/// Members of the committee, by their indices.
type Bits = BTreeSet<u32>;

/// Some members sign a message, and this is the sum of their signatures.
#[derive(Clone, Debug, PartialEq)]
struct Attestation {
    message: [u8; 32],
    bits: Bits,
    signature: [u8; 96],
}

#[derive(Debug, PartialEq)]
enum Added {
    /// It is valid, and says something new.
    Kept,
    /// The pool has all of it. It was verified only if what came before it in the same batch says it.
    Known,
    /// The pool has no room for more aggregates of this message. It was verified only if its batch took the last room.
    Full,
    /// It is not valid.
    False(Reason),
}

struct AggregationPool {
    verifier: Verifier,
    committee: AnyKeySet,
    by_message: HashMap<[u8; 32], Proven>,
}

/// What is proven about a message.
#[derive(Default)]
struct Proven {
    singles: BTreeMap<u32, Signature<MinPk>>,
    /// Of two or more members each, without those in `singles`.
    aggregates: BTreeMap<Bits, Signature<MinPk>>,
}

impl AggregationPool {
    /// The most aggregates of one message. Whoever has many signatures can make ever new sums of them.
    const MOST: usize = 256;

    /// All members must have proven possession of their secrets: no attestation of others is valid.
    fn new(committee: AnyKeySet) -> Self {
        let verifier = Verifier::with_known_limit(Options::default(), 1 << 16);
        Self { verifier, committee, by_message: HashMap::new() }
    }

    /// Verifies what has arrived as one batch, in which known signatures are subtracted, and keeps what is valid, in this order.
    ///
    /// The aggregates of a message are bounded, messages are not: pass only attestations of a slot and a block that you know.
    fn add(&mut self, attestations: &[Attestation]) -> Vec<Added> {
        let settled: Vec<_> = attestations.iter().map(|it| self.without_verifying(it)).collect();
        let open = attestations.iter().zip(&settled).filter(|(_, added)| added.is_none());
        let claims: Vec<_> = open.map(|(it, _)| it.claim(&self.committee)).collect();
        let outcome = self.verifier.verify_and_remember(&claims, &mut Exhaustive, &mut rand::rng());
        let mut verdicts = outcome.verdicts.into_iter();
        let decide = |(it, settled): (&Attestation, Option<Added>)| match settled {
            Some(added) => added,
            None => match verdicts.next().unwrap_or(Verdict::Invalid(Reason::Undecided)) {
                Verdict::Valid => match self.without_verifying(it) {
                    Some(added) => added,
                    None => self.keep(it).map_or_else(|flaw| Added::False(flaw.into()), |()| Added::Kept),
                },
                Verdict::Invalid(reason) => Added::False(reason),
            },
        };
        attestations.iter().zip(settled).map(decide).collect()
    }

    /// One aggregate of as many members as the greedy choice finds. `None` if nothing is proven about the message.
    fn best(&self, message: &[u8; 32]) -> Option<Attestation> {
        let Proven { singles, aggregates } = self.by_message.get(message)?;
        let mut bits: Bits = singles.keys().copied().collect();
        let mut parts: Vec<_> = singles.values().copied().collect();
        let mut by_size: Vec<_> = aggregates.iter().collect();
        by_size.sort_by_key(|(members, _)| std::cmp::Reverse(members.len()));
        for (members, signature) in by_size {
            if members.is_disjoint(&bits) {
                bits.extend(members);
                parts.push(*signature);
            }
        }
        let signature = aggregate(&parts, Backend::auto()).ok()?.to_bytes();
        Some(Attestation { message: *message, bits, signature })
    }

    /// Forgets the messages that a caller needs no more.
    fn retain(&mut self, is_needed: impl Fn(&[u8; 32]) -> bool) {
        self.by_message.retain(|message, _| is_needed(message));
    }

    fn without_verifying(&self, it: &Attestation) -> Option<Added> {
        let proven = self.by_message.get(&it.message)?;
        let mut unknown: Bits = it.bits.iter().filter(|i| !proven.singles.contains_key(i)).copied().collect();
        // Room for an aggregate is needed even if others of it are known: it is kept beside them.
        let is_full = unknown.len() > 1 && proven.aggregates.len() >= Self::MOST;
        let mut is_known = proven.aggregates.contains_key(&unknown);
        for members in proven.aggregates.keys() {
            if members.is_subset(&unknown) {
                unknown.retain(|i| !members.contains(i));
            }
        }
        is_known |= unknown.is_empty();
        // Whoever attests for nobody gets the verdict that this is not valid.
        if is_known && !it.bits.is_empty() {
            return Some(Added::Known);
        }
        is_full.then_some(Added::Full)
    }

    /// Keeps what is proven. A sum without all of its members but one is the signature of that one.
    fn keep(&mut self, it: &Attestation) -> Result<(), ParseError> {
        let signature = Signature::from_bytes(&it.signature)?;
        let Proven { singles, aggregates } = self.by_message.entry(it.message).or_default();
        let mut open = vec![(it.bits.clone(), signature)];
        while let Some((mut bits, signature)) = open.pop() {
            let known: Vec<_> = bits.iter().filter_map(|i| singles.get(i)).copied().collect();
            let signature = subtract(signature, &known, Backend::auto());
            bits.retain(|i| !singles.contains_key(i));
            if let (Some(member), 1) = (bits.first(), bits.len()) {
                singles.insert(*member, signature);
                open.extend(aggregates.extract_if(.., |members, _| members.contains(member)));
            } else if !bits.is_empty() {
                aggregates.insert(bits, signature);
            }
        }
        Ok(())
    }
}

impl Attestation {
    fn claim(&self, committee: &AnyKeySet) -> ClaimBytes {
        let members = Members::Indices(self.bits.iter().copied().collect());
        ClaimBytes::of_members(committee, members, self.message, self.signature)
    }
}

/// What members of the tiny case attest.
fn attest(members: &[u32], message: [u8; 32]) -> Result<Attestation, Box<dyn Error>> {
    let sign = |i: &u32| Ok(secret(*i)?.sign(MinPk::Eth2, &message));
    let parts: Vec<_> = members.iter().map(sign).collect::<Result<_, ParseError>>()?;
    let signature = aggregate(&parts, Backend::auto())?.to_bytes();
    Ok(Attestation { message, bits: members.iter().copied().collect(), signature })
}

fn secret(i: u32) -> Result<SecretKey<MinPk>, ParseError> {
    SecretKey::key_gen(MinPk::Eth2, &[i as u8 + 1; 32], b"")
}

fn committee(size: u32) -> Result<AnyKeySet, ParseError> {
    let mut committee = KeySet::new(MinPk::Eth2, Backend::auto());
    for i in 0..size {
        committee.push_assumed(secret(i)?.public_key()); // its deposit has proven that the owner has the secret
    }
    Ok(committee.into_any())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut pool, vote) = (AggregationPool::new(committee(8)?), [1; 32]);
    let lie = Attestation { bits: Bits::from([0, 7]), ..attest(&[0], vote)? };
    let arrived = [attest(&[0, 1, 2], vote)?, attest(&[2, 3, 4], vote)?, lie, attest(&[2], vote)?];
    for (it, added) in arrived.iter().zip(pool.add(&arrived)) {
        println!("{:?}: {added:?}", it.bits);
    }
    let best = pool.best(&vote).ok_or("something is proven")?;
    println!("for the block: {:?}, {}", best.bits, best.claim(&pool.committee).verify());
    println!("that again:    {:?}", pool.add(&[best]));
    pool.retain(|message| *message != vote);
    println!("next slot:     {:?}", pool.best(&vote));
    Ok(())
}

#[cfg(test)]
#[path = "aggregation_pool_tests.rs"]
mod tests;
