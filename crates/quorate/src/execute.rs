//! The arithmetic of a plan, and nothing else does any.
//!
//! Three phases, each cut into shares that any thread can take:
//!
//! 1. prepare: hash every message, check every signature's membership, add up the keys that a claim puts over one message;
//! 2. weigh: the weighted sum that each pairing needs, and that of the signatures;
//! 3. pair: a Miller value for each block of pairings, and one final exponentiation.
//!
//! After the first, the claims that turned out false drop out. What the others made is kept, so that the search for false
//! claims starts from partial values.

use std::{
    num::NonZeroUsize,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use quorate_curve::{Backend, G1, G2, Group, Gt, MillerValue, Soundness, Weight};
use rand_core::CryptoRng;

use crate::{
    claim::ClaimSignature,
    plan::{Operand, Part, Plan, Term, Vertex},
    suite::Suite,
    verdict::{Reason, Work},
};

/// How to execute a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads to use, this one included. They are started for the call and end with it.
    pub threads: NonZeroUsize,
    /// How unlikely it must be that a false claim passes.
    pub soundness: Soundness,
    /// Who does the arithmetic.
    pub backend: Backend,
}

impl Default for Options {
    /// One thread, 64 bits, the fastest back end.
    fn default() -> Self {
        Self { threads: NonZeroUsize::MIN, soundness: Soundness::default(), backend: Backend::auto() }
    }
}

/// An executed plan with its partial values.
#[derive(Debug)]
pub struct Execution<'a, S: Suite> {
    plan: &'a Plan<S>,
    options: Options,
    /// By position: the claim's weight.
    weights: Vec<Weight>,
    /// By position: why the claim is false, where that is known.
    dropped: Vec<Option<Reason>>,
    hashes: Vec<S::Signature>,
    sums: Vec<S::Key>,
    /// By term.
    pairs: Vec<(G1, G2)>,
    /// By block of terms.
    blocks: Vec<MillerValue>,
    total: Gt,
    work: Work,
}

impl<'a, S: Suite> Execution<'a, S> {
    /// Executes a plan under fresh weights, which must come from a CSPRNG: whoever can foretell them can forge.
    pub fn new(plan: &'a Plan<S>, options: Options, rng: &mut impl CryptoRng) -> Self {
        let mut execution = Self {
            plan,
            options,
            weights: weights(plan.claims.len(), options.soundness, rng),
            dropped: vec![None; plan.claims.len()],
            hashes: Vec::new(),
            sums: Vec::new(),
            pairs: Vec::new(),
            blocks: Vec::new(),
            total: Gt::ONE,
            work: Work::default(),
        };
        execution.prepare();
        if execution.dropped.iter().any(Option::is_none) {
            let signatures = execution.weigh();
            execution.pair(signatures);
        }
        execution
    }

    /// Whether every claim that was not dropped is true.
    pub fn holds(&self) -> bool {
        self.total.is_one()
    }

    /// The value of the product over all claims that were not dropped: one exactly if [`holds`](Self::holds).
    pub(crate) fn total(&self) -> Gt {
        self.total
    }

    pub(crate) fn plan(&self) -> &'a Plan<S> {
        self.plan
    }

    pub(crate) fn dropped(&self, position: usize) -> Option<Reason> {
        self.dropped[position]
    }

    /// What it took so far.
    pub fn work(&self) -> Work {
        self.work
    }

    /// The values of the product over the claims at each range of positions.
    ///
    /// Blocks that lie within a range are taken as they are, terms too; only those that a range cuts are summed anew.
    ///
    /// Cost, a range: a pairing and a final exponentiation, the weighted sum of its signatures, and less than a block's
    /// pairings at each of its ends.
    pub(crate) fn values(&self, ranges: &[Range<usize>]) -> (Vec<Gt>, Work) {
        let values = parallel(self.options.threads, ranges.len(), |i| self.value(ranges[i].clone()));
        let mut work = Work::default();
        let values = values.into_iter().map(|(value, w)| {
            work += w;
            value
        });
        (values.collect(), work)
    }

    fn value(&self, range: Range<usize>) -> (Gt, Work) {
        let mut work = Work { search_nodes: 1, final_exponentiations: 1, ..Work::default() };
        let mut product = Vec::new();
        let (mut pairs, mut cut) = (Vec::new(), Vec::new());
        for (block, terms) in self.plan.blocks.iter().enumerate() {
            let spans = || terms.clone().map(|t| self.plan.terms[t].span());
            if spans().all(|span| within(&span, &range)) {
                product.push(self.blocks[block]);
                continue;
            }
            for term in terms.clone() {
                let span = self.plan.terms[term].span();
                if within(&span, &range) {
                    pairs.push(self.pairs[term]);
                } else if span.start < range.end && range.start < span.end {
                    cut.push(&self.plan.terms[term]);
                }
            }
        }
        let (cut_pairs, weighted) = self.term_pairs(&cut, &range);
        pairs.extend(cut_pairs);
        let (signatures, n) = self.signature_sum(range);
        pairs.push(S::pair(S::Key::generator().negate(), signatures));
        work.weighted += weighted + n;
        work.pairings += pairs.len();
        product.push(self.options.backend.miller_product(&pairs));
        (self.options.backend.final_exponentiation(product.into_iter().product()), work)
    }

    /// Phase one.
    fn prepare(&mut self) {
        let (plan, backend) = (self.plan, self.options.backend);
        let shares = plan.shares(self.options.threads.get());
        let (m, c) = (shares.messages.len(), shares.members.len());
        let jobs = m + c + shares.sums.len();
        let made = parallel(self.options.threads, jobs, |job| -> Prepared<S> {
            if job < m {
                Prepared::Hashes(hashes(plan, backend, shares.messages[job].clone()))
            } else if job < m + c {
                Prepared::NotMembers(not_members(plan, backend, shares.members[job - m].clone()))
            } else {
                Prepared::Sums(key_sums(plan, backend, shares.sums[job - m - c].clone()))
            }
        });
        for part in made {
            match part {
                Prepared::Hashes(hashes) => self.hashes.extend(hashes),
                Prepared::Sums(sums) => self.sums.extend(sums),
                Prepared::NotMembers((checked, positions)) => {
                    self.work.subgroup_checks += checked;
                    for position in positions {
                        self.dropped[position] = Some(Reason::SignatureNotInSubgroup);
                    }
                }
            }
        }
        for (sum, point) in plan.sums.iter().zip(&self.sums) {
            if sum.must_not_vanish && point.is_identity() {
                self.dropped[sum.position] = Some(Reason::IdentityAggregateKey);
            }
        }
        self.work.hashes += self.hashes.len();
    }

    /// Phase two; answers with the weighted sum of the signatures.
    fn weigh(&mut self) -> S::Signature {
        let (plan, shares) = (self.plan, self.plan.shares(self.options.threads.get()));
        let (all, t) = (0..plan.claims.len(), shares.terms.len());
        let this = &*self;
        let made = parallel(this.options.threads, t + shares.signatures.len(), |job| -> Weighed<S> {
            if job < t {
                let terms: Vec<_> = plan.terms[shares.terms[job].clone()].iter().collect();
                Weighed::Pairs(this.term_pairs(&terms, &all))
            } else {
                Weighed::Signatures(this.signature_sum(shares.signatures[job - t].clone()))
            }
        });
        let mut signatures = Vec::new();
        for part in made {
            self.work.weighted += match part {
                Weighed::Pairs((pairs, weighted)) => {
                    self.pairs.extend(pairs);
                    weighted
                }
                Weighed::Signatures((sum, weighted)) => {
                    signatures.push(sum);
                    weighted
                }
            };
        }
        self.options.backend.sum(&signatures)
    }

    /// Phase three.
    fn pair(&mut self, signatures: S::Signature) {
        let (plan, backend) = (self.plan, self.options.backend);
        // A lone claim has nothing to search: its last block shares its squarings with the pair of its signature.
        let alone = plan.claims.len() == 1 && !plan.blocks.is_empty();
        let (blocks, last) = plan.blocks.split_at(plan.blocks.len() - usize::from(alone));
        self.blocks =
            parallel(self.options.threads, blocks.len(), |i| backend.miller_product(&self.pairs[blocks[i].clone()]));

        let mut pairs = last.first().map_or(Vec::new(), |block| self.pairs[block.clone()].to_vec());
        pairs.push(S::pair(S::Key::generator().negate(), signatures));
        let product = backend.miller_product(&pairs) * self.blocks.iter().copied().product();
        self.total = backend.final_exponentiation(product);
        self.work.pairings += self.pairs.len() + 1;
        self.work.final_exponentiations += 1;
    }

    /// The pairs of terms, restricted to the claims at `range`, and how many points were weighed for them.
    fn term_pairs(&self, terms: &[&Term], range: &Range<usize>) -> (Vec<(G1, G2)>, usize) {
        let (mut keys, mut hashes) = (Summands::new(), Summands::new());
        for term in terms {
            for Part { position, operand } in &term.parts {
                if !range.contains(position) || self.dropped[*position].is_some() {
                    continue;
                }
                let weight = self.weights[*position];
                match *operand {
                    Operand::Key(key) => keys.push(self.plan.keys[key].point(), weight),
                    Operand::Sum(sum) => keys.push(self.sums[sum], weight),
                    Operand::Message(message) => hashes.push(self.hashes[message], weight),
                }
            }
            match term.vertex {
                Vertex::Message(_) => keys.close(),
                Vertex::Key(_) => hashes.close(),
            }
        }
        let weighted = keys.points.len() + hashes.points.len();
        let backend = self.options.backend;
        let cleared: Vec<S::Signature> = backend.clear_sums(hashes.sums(backend).as_slice());
        let (mut keys, mut hashes) = (keys.sums(backend), cleared.into_iter());
        let pairs = terms.iter().map(|term| match term.vertex {
            Vertex::Message(message) => S::pair(keys.next().expect("a sum a term"), self.hashes[message]),
            Vertex::Key(key) => S::pair(self.plan.keys[key].point(), hashes.next().expect("a sum a term")),
        });
        (pairs.collect(), if self.weights.len() > 1 { weighted } else { 0 })
    }

    /// Σ w·signature over the claims at `range`, and how many points were weighed.
    fn signature_sum(&self, range: Range<usize>) -> (S::Signature, usize) {
        let mut sum = Summands::new();
        for position in range.filter(|p| self.dropped[*p].is_none()) {
            sum.push(self.plan.claims[position].signature.point(), self.weights[position]);
        }
        sum.close();
        let weighted = if self.weights.len() > 1 { sum.points.len() } else { 0 };
        (sum.sums(self.options.backend).next().expect("one stretch"), weighted)
    }
}

/// What a share of phase one makes.
enum Prepared<S: Suite> {
    Hashes(Vec<S::Signature>),
    NotMembers((usize, Vec<usize>)),
    Sums(Vec<S::Key>),
}

/// What a share of phase two makes, and how many points it weighed.
enum Weighed<S: Suite> {
    Pairs((Vec<(G1, G2)>, usize)),
    Signatures((S::Signature, usize)),
}

/// Points with weights, in stretches: the operands of [`Backend::weighted_sums`].
struct Summands<G> {
    points: Vec<G>,
    weights: Vec<Weight>,
    ends: Vec<usize>,
}

impl<G: Group> Summands<G> {
    fn new() -> Self {
        Self { points: Vec::new(), weights: Vec::new(), ends: Vec::new() }
    }

    fn push(&mut self, point: G, weight: Weight) {
        self.points.push(point);
        self.weights.push(weight);
    }

    fn close(&mut self) {
        self.ends.push(self.points.len());
    }

    fn sums(&self, backend: Backend) -> std::vec::IntoIter<G> {
        backend.weighted_sums(&self.points, &self.weights, &self.ends).into_iter()
    }
}

/// Uniform non-zero weights; one for a claim that stands alone.
fn weights(n: usize, soundness: Soundness, rng: &mut impl CryptoRng) -> Vec<Weight> {
    if n == 1 {
        return vec![Weight::ONE];
    }
    let mut draw = || match soundness {
        Soundness::Bits128 => u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64()),
        _ => u128::from(rng.next_u64()),
    };
    (0..n)
        .map(|_| {
            loop {
                if let Some(weight) = Weight::from_bits(draw()) {
                    break weight;
                }
            }
        })
        .collect()
}

/// Whole hashes of the messages that are paired, hashes for sums of the others.
fn hashes<S: Suite>(plan: &Plan<S>, backend: Backend, range: Range<usize>) -> Vec<S::Signature> {
    let messages: Vec<_> = plan.messages[range.clone()].iter().zip(&plan.paired[range]).collect();
    let mut hashes = Vec::with_capacity(messages.len());
    for run in messages.chunk_by(|(a, a_paired), (b, b_paired)| a.tag == b.tag && a_paired == b_paired) {
        let prefixes: Vec<_> =
            run.iter().map(|(m, _)| m.prefix.map(|key| key.to_bytes()).unwrap_or_default()).collect();
        let parts: Vec<_> = run.iter().zip(&prefixes).map(|((m, _), prefix)| (&prefix[..], &m.body[..])).collect();
        let (first, paired) = run[0];
        let tag = first.tag.as_bytes();
        hashes.extend(if *paired {
            backend.hash_to_curve::<S::Signature>(tag, &parts)
        } else {
            backend.hash_for_sums(tag, &parts)
        });
    }
    hashes
}

/// How many signatures were unchecked, and the positions of those that are not in the subgroup.
fn not_members<S: Suite>(plan: &Plan<S>, backend: Backend, range: Range<usize>) -> (usize, Vec<usize>) {
    let unchecked = range.filter_map(|position| match plan.claims[position].signature {
        ClaimSignature::Checked(_) => None,
        ClaimSignature::Unchecked(signature) => Some((position, signature.point())),
    });
    let (positions, points): (Vec<_>, Vec<_>) = unchecked.unzip();
    let members = backend.in_subgroup(&points);
    let outside = positions.iter().zip(members).filter(|(_, member)| !member).map(|(position, _)| *position);
    (positions.len(), outside.collect())
}

fn key_sums<S: Suite>(plan: &Plan<S>, backend: Backend, range: Range<usize>) -> Vec<S::Key> {
    let (mut points, mut ends) = (Vec::new(), Vec::new());
    for sum in &plan.sums[range] {
        points.extend(sum.keys.iter().map(|key| plan.keys[*key].point()));
        ends.push(points.len());
    }
    backend.sums(&points, &ends)
}

fn within(inner: &Range<usize>, outer: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Does jobs 0..n on up to `threads` threads, this one included; answers in the order of the jobs.
///
/// Each thread takes the next job that nobody has taken, so that a slow thread holds nobody up.
fn parallel<T: Send>(threads: NonZeroUsize, n: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = threads.get().min(n);
    if threads <= 1 {
        return (0..n).map(job).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mine = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|i| *i < n));
        mine.map(|i| (i, job(i))).collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, made)| made).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_keeps_order_for_any_number_of_jobs_and_threads() {
        for threads in [1, 2, 3, 8] {
            for n in [0, 1, 2, 7, 64] {
                let squares = parallel(NonZeroUsize::new(threads).unwrap(), n, |i| i * i);
                assert_eq!(squares, (0..n).map(|i| i * i).collect::<Vec<_>>(), "{threads} threads, {n} jobs");
            }
        }
    }
}
