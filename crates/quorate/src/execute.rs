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
//!
//! Where the plan says so, it is the weighted sum of the signatures that tells their membership. If it finds one outside,
//! each is checked by itself after all, and the second phase is done again without the false ones.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use quorate_curve::{
    Backend, G1, G2, Group, Gt, MillerValue, Segments, Soundness, UncheckedSegments, Weight, WeightedSegments,
};
use rand_core::CryptoRng;

use crate::{
    claim::ClaimSignature,
    plan::{Operand, Options, Part, Plan, Term, Vertex},
    suite::Suite,
    verdict::{Reason, Work},
};

/// An executed plan with its partial values.
#[derive(Debug)]
pub struct Execution<'a, S: Suite> {
    plan: &'a Plan<S>,
    /// By position: the claim's weight.
    weights: Vec<Weight>,
    /// By position: random bits beside the weight, where the weighted sum tells membership.
    further: Vec<u64>,
    /// By position: why the claim is false, where that is known.
    dropped: Vec<Option<Reason>>,
    hashes: Vec<S::Signature>,
    sums: Vec<S::Key>,
    /// By term.
    pairs: Vec<(G1, G2)>,
    /// By block of terms. Each has the pair of its own signatures in it, or the last one that of all.
    products: Vec<MillerValue>,
    /// Σ w·signature over all claims, where the last product has it.
    signatures: S::Signature,
    total: Gt,
    work: Work,
}

impl<'a, S: Suite> Execution<'a, S> {
    /// Executes a plan under fresh weights, which must come from a CSPRNG: whoever can foretell them can forge.
    pub fn new(plan: &'a Plan<S>, rng: &mut impl CryptoRng) -> Self {
        let n = plan.claims.len();
        let mut execution = Self {
            plan,
            weights: weights(n, plan.options.soundness, rng),
            further: if plan.members_by_sum { (0..n).map(|_| rng.next_u64()).collect() } else { Vec::new() },
            dropped: vec![None; n],
            hashes: Vec::new(),
            sums: Vec::new(),
            pairs: Vec::new(),
            products: Vec::new(),
            signatures: S::Signature::IDENTITY,
            total: Gt::ONE,
            work: Work::default(),
        };
        execution.prepare();
        if execution.dropped.iter().any(Option::is_none) {
            let signatures = execution.weigh_and_check();
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

    /// The value of each product ∏ vᵢ^i, i from one, where vᵢ is the value of the claims at the i-th of its ranges of
    /// positions, which do not overlap. One range alone has its own value.
    ///
    /// Blocks that lie within a range are taken as they are, terms too; only those that a range cuts are summed anew.
    ///
    /// Cost, a product: a pairing and a final exponentiation, the weighted sum of its signatures, and for each range less than
    /// a block's pairings at each of its ends.
    pub(crate) fn values(&self, products: &[Vec<Range<usize>>]) -> (Vec<Gt>, Work) {
        let Options { backend, threads, .. } = self.plan.options;
        let size = products.len().div_ceil(threads.get()).clamp(1, backend.lanes());
        let shares: Vec<_> = products.chunks(size).collect();
        let made = self.parallel(shares.len(), |job| self.values_together(shares[job]));
        let mut work = Work::default();
        let values = made.into_iter().flat_map(|(values, w)| {
            work += w;
            values
        });
        (values.collect(), work)
    }

    /// How many values [`values`](Self::values) computes at a time, on all threads.
    pub(crate) fn width(&self) -> usize {
        self.plan.options.threads.get() * self.plan.options.backend.lanes()
    }

    fn values_together(&self, products: &[Vec<Range<usize>>]) -> (Vec<Gt>, Work) {
        let (plan, backend) = (self.plan, self.plan.options.backend);
        // By product: of the kept blocks, and which signatures they lack, or have too often.
        let (mut kept, mut unpaired, mut too_often) = (Vec::new(), Vec::new(), Vec::new());
        // Other terms, each with its product: those whose pair was kept, and those that are restricted to some ranges.
        let (mut whole, mut firsts, mut cut) = (Vec::new(), Multiples::new(), Vec::new());
        for (product, ranges) in products.iter().enumerate() {
            let parts: Vec<_> = ranges.iter().map(|range| self.kept(range)).collect();
            // v₁·v₂²⋯ is the product of v₁v₂⋯, v₂v₃⋯, and so on.
            let none = (MillerValue::ONE, MillerValue::ONE);
            let (_, value) = parts.iter().rev().fold(none, |(suffix, product), part| {
                let suffix = suffix * part.value;
                (suffix, product * suffix)
            });
            kept.push(value);
            unpaired.push(Vec::new());
            too_often.push(0);
            let mut restricted = BTreeMap::<usize, Vec<_>>::new();
            for ((times, part), range) in (1..).zip(parts).zip(ranges) {
                unpaired[product].extend(part.unpaired.into_iter().map(|range| (times, range)));
                too_often[product] += if part.has_all_signatures { times } else { 0 };
                for (p, q) in part.whole {
                    firsts.push(times, p);
                    firsts.close();
                    whole.push((product, q));
                }
                for term in part.cut {
                    restricted.entry(term).or_default().push((times, range.clone()));
                }
            }
            cut.extend(restricted.into_iter().map(|(term, ranges)| (product, &plan.terms[term], ranges)));
        }
        let restricted: Vec<_> = cut.iter().map(|(_, term, ranges)| (*term, &ranges[..])).collect();
        let (cut_pairs, weighted_in_terms) = self.term_pairs(&restricted);
        let (signatures, weighted) = self.signature_sums(&unpaired);

        let mut pairs = vec![Vec::new(); products.len()];
        for ((product, q), p) in whole.into_iter().zip(firsts.sums(backend)) {
            pairs[product].push((p, q));
        }
        for ((product, ..), pair) in cut.iter().zip(cut_pairs) {
            pairs[*product].push(pair);
        }
        for ((pairs, sum), too_often) in pairs.iter_mut().zip(signatures).zip(too_often) {
            let sum = match too_often {
                0 => sum,
                _ => backend.sum(&[vec![self.signatures.negate(); too_often], vec![sum]].concat()),
            };
            if !sum.is_identity() {
                pairs.push(self.signature_pair(sum));
            }
        }
        let pairs: Segments<_> = pairs.into_iter().collect();
        let made = backend.miller_products(plan.pairing, &pairs);
        let made: Vec<_> = made.into_iter().zip(kept).map(|(made, kept)| made * kept).collect();
        let work = Work {
            search_nodes: products.len(),
            final_exponentiations: products.len(),
            pairings: pairs.items().len(),
            weighted: weighted_in_terms + weighted,
            ..Work::default()
        };
        (backend.final_exponentiations(&made), work)
    }

    /// What the batch left of the value of the claims at a range of positions.
    fn kept(&self, range: &Range<usize>) -> Kept {
        let mut kept = Kept {
            value: MillerValue::ONE,
            whole: Vec::new(),
            cut: Vec::new(),
            unpaired: vec![range.clone()],
            has_all_signatures: false,
        };
        for (b, (block, value)) in self.plan.blocks.iter().zip(&self.products).enumerate() {
            let terms = &self.plan.terms[block.clone()];
            if terms.iter().all(|term| within(&term.span(), range)) {
                match self.plan.apart.get(b) {
                    None => kept.has_all_signatures |= block.end == self.plan.terms.len(),
                    Some(positions) if within(positions, range) => take(&mut kept.unpaired, positions),
                    // Claims without a term, of whom the range has not all.
                    Some(_) => {
                        kept.whole.extend(&self.pairs[block.clone()]);
                        continue;
                    }
                }
                kept.value = kept.value * *value;
                continue;
            }
            for (term, (index, pair)) in terms.iter().zip(block.clone().zip(&self.pairs[block.clone()])) {
                let span = term.span();
                if within(&span, range) {
                    kept.whole.push(*pair);
                } else if span.start < range.end && range.start < span.end {
                    kept.cut.push(index);
                }
            }
        }
        kept
    }

    /// Phase one.
    fn prepare(&mut self) {
        let (plan, shares) = (self.plan, self.plan.shares());
        let members = if plan.members_by_sum { &[][..] } else { &shares.members[..] };
        let (m, c) = (shares.messages.len(), members.len());
        let made = self.parallel(m + c + shares.sums.len(), |job| -> Prepared<S> {
            if job < m {
                Prepared::Hashes(hashes(plan, shares.messages[job].clone()))
            } else if job < m + c {
                Prepared::NotMembers(not_members(plan, members[job - m].clone()))
            } else {
                Prepared::Sums(key_sums(plan, shares.sums[job - m - c].clone()))
            }
        });
        for part in made {
            match part {
                Prepared::Hashes(hashes) => self.hashes.extend(hashes),
                Prepared::Sums(sums) => self.sums.extend(sums),
                Prepared::NotMembers(positions) => self.drop_not_members(positions),
            }
        }
        for (sum, point) in plan.sums.iter().zip(&self.sums) {
            if sum.must_not_vanish && point.is_identity() {
                self.dropped[sum.position] = Some(Reason::IdentityAggregateKey);
            }
        }
        self.work.hashes += self.hashes.len();
        let unchecked = plan.claims.iter().filter(|claim| matches!(claim.signature, ClaimSignature::Unchecked(_)));
        self.work.subgroup_checks += unchecked.count();
    }

    fn drop_not_members(&mut self, positions: Vec<usize>) {
        for position in positions {
            self.dropped[position] = Some(Reason::SignatureNotInSubgroup);
        }
    }

    /// Phase two, and what phase one left to it; answers with the weighted sum of the signatures of each block, or of all.
    fn weigh_and_check(&mut self) -> Vec<S::Signature> {
        let plan = self.plan;
        if plan.members_by_sum {
            if let Some(sum) = self.weigh(Self::sums_of_members) {
                return sum;
            }
            let shares = plan.shares().members;
            let not_members = self.parallel(shares.len(), |job| not_members(plan, shares[job].clone()));
            self.drop_not_members(not_members.concat());
        }
        self.weigh(|this, ranges| {
            let ranges: Vec<_> = ranges.iter().map(|range| vec![(1, range.clone())]).collect();
            Some(this.signature_sums(&ranges))
        })
        .expect("nothing was asked of the signatures")
    }

    /// Phase two; answers with the weighted sum of the signatures of each block, or of all, or `None` if that of a share is
    /// `None`.
    fn weigh(
        &mut self,
        signatures: impl Fn(&Self, &[Range<usize>]) -> Option<(Vec<S::Signature>, usize)> + Sync,
    ) -> Option<Vec<S::Signature>> {
        let (plan, shares) = (self.plan, self.plan.shares());
        let (all, t) = ([(1, 0..plan.claims.len())], shares.terms.len());
        let this = &*self;
        let made = this.parallel(t + shares.signatures.len(), |job| -> Weighed<S> {
            if job < t {
                let terms: Vec<_> = plan.terms[shares.terms[job].clone()].iter().map(|term| (term, &all[..])).collect();
                Weighed::Pairs(this.term_pairs(&terms))
            } else {
                Weighed::Signatures(signatures(this, &shares.signatures[job - t]))
            }
        });
        self.pairs.clear();
        let mut sums = Vec::new();
        for part in made {
            match part {
                Weighed::Pairs((pairs, weighted)) => {
                    self.pairs.extend(pairs);
                    self.work.weighted += weighted;
                }
                Weighed::Signatures(made) => {
                    let (made, weighted) = made?;
                    sums.extend(made);
                    self.work.weighted += weighted;
                }
            }
        }
        Some(if plan.apart.is_empty() { vec![plan.options.backend.sum(&sums)] } else { sums })
    }

    /// Phase three.
    fn pair(&mut self, sums: Vec<S::Signature>) {
        let (plan, backend) = (self.plan, self.plan.options.backend);
        let mut pairs = Segments::with_capacity(plan.pairings(), plan.blocks.len());
        // The pair of all signatures goes with the last block: a product of it alone would cost as much as one of many.
        let before_the_last = plan.blocks.len().saturating_sub(sums.len());
        for block in &plan.blocks[..before_the_last] {
            pairs.extend(self.pairs[block.clone()].iter().copied());
            pairs.close();
        }
        for (i, sum) in sums.iter().enumerate() {
            if let Some(block) = plan.blocks.get(before_the_last + i) {
                pairs.extend(self.pairs[block.clone()].iter().copied());
            }
            pairs.push(self.signature_pair(*sum));
            pairs.close();
        }
        let shares = plan.shares().products;
        let products = self.parallel(shares.len(), |job| {
            let share = shares[job].clone();
            let blocks = pairs.iter().skip(share.start).take(share.len());
            backend.miller_products(plan.pairing, &blocks.map(|block| block.iter().copied()).collect())
        });
        self.products = products.concat();
        self.total = backend.final_exponentiation(self.products.iter().copied().product());
        self.work.pairings += pairs.items().len();
        self.work.final_exponentiations += 1;
        if let ([sum], true) = (&sums[..], plan.apart.is_empty()) {
            self.signatures = *sum;
        }
    }

    /// The pairs of terms, each restricted to the claims at some ranges, those of each range taken so many times, and how many
    /// points were weighed for them.
    fn term_pairs(&self, terms: &[(&Term, &[Counted])]) -> (Vec<(G1, G2)>, usize) {
        let (mut keys, mut hashes) = (Summands::new(), Summands::new());
        for (term, ranges) in terms {
            for (times, range) in *ranges {
                for Part { position, operand } in &term.parts {
                    if !range.contains(position) || self.dropped[*position].is_some() {
                        continue;
                    }
                    let weight = self.weights[*position];
                    match *operand {
                        Operand::Key(key) => keys.push(*times, self.plan.keys[key].point(), weight),
                        Operand::Sum(sum) => keys.push(*times, self.sums[sum], weight),
                        Operand::Message(message) => hashes.push(*times, self.hashes[message], weight),
                    }
                }
            }
            match term.vertex {
                Vertex::Message(_) => keys.close(),
                Vertex::Key(_) => hashes.close(),
            }
        }
        let weighted = keys.point_count() + hashes.point_count();
        let backend = self.plan.options.backend;
        let mut hash_sums = hashes.sums(backend);
        if !self.plan.uncleared {
            hash_sums = backend.clear_sums(&hash_sums);
        }
        let (mut keys, mut hashes) = (keys.sums(backend).into_iter(), hash_sums.into_iter());
        let pairs = terms.iter().map(|(term, _)| match term.vertex {
            Vertex::Message(message) => S::pair(keys.next().expect("a sum a term"), self.hashes[message]),
            Vertex::Key(key) => S::pair(self.plan.keys[key].point(), hashes.next().expect("a sum a term")),
        });
        (pairs.collect(), if self.weights.len() > 1 { weighted } else { 0 })
    }

    /// Σ w·signature over the claims of each list of ranges, those of each range taken so many times, and how many points were
    /// weighed.
    fn signature_sums(&self, lists: &[Vec<Counted>]) -> (Vec<S::Signature>, usize) {
        let mut sums = Summands::new();
        for ranges in lists {
            for (times, range) in ranges {
                for position in self.live(range.clone()) {
                    sums.push(*times, self.plan.claims[position].signature.point(), self.weights[position]);
                }
            }
            sums.close();
        }
        let weighted = if self.weights.len() > 1 { sums.point_count() } else { 0 };
        (sums.sums(self.plan.options.backend), weighted)
    }

    /// Σ w·signature over a share of the claims; `None` if a signature whose membership was not known is not a member.
    fn sums_of_members(&self, share: &[Range<usize>]) -> Option<(Vec<S::Signature>, usize)> {
        let Options { soundness, backend, .. } = self.plan.options;
        let (mut members, mut unknown) = (Summands::new(), UncheckedSegments::new());
        for range in share {
            for position in self.live(range.clone()) {
                let weight = self.weights[position];
                match self.plan.claims[position].signature {
                    ClaimSignature::Checked(signature) => members.push(1, signature.point(), weight),
                    ClaimSignature::Unchecked(signature) => {
                        unknown.push(signature.point(), weight, self.further[position]);
                    }
                }
            }
            members.close();
            unknown.close();
        }
        let weighted = members.point_count() + unknown.point_count();
        let sums = backend.weighted_sums_of_members(&unknown, soundness)?;
        let sums = sums.into_iter().zip(members.sums(backend)).map(|(a, b)| backend.sum(&[a, b]));
        Some((sums.collect(), weighted))
    }

    /// The positions of a range that were not dropped.
    fn live(&self, range: Range<usize>) -> impl Iterator<Item = usize> {
        range.filter(|position| self.dropped[*position].is_none())
    }

    /// The pair that a weighted sum of signatures stands in.
    fn signature_pair(&self, sum: S::Signature) -> (G1, G2) {
        let generator = if self.plan.uncleared { S::Key::generator_over_cofactor() } else { S::Key::generator() };
        S::pair(generator.negate(), sum)
    }

    fn parallel<T: Send>(&self, jobs: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
        parallel(self.plan.options.threads, jobs, job)
    }
}

/// What a share of phase one makes.
enum Prepared<S: Suite> {
    Hashes(Vec<S::Signature>),
    NotMembers(Vec<usize>),
    Sums(Vec<S::Key>),
}

/// What a share of phase two makes, and how many points it weighed.
enum Weighed<S: Suite> {
    Pairs((Vec<(G1, G2)>, usize)),
    Signatures(Option<(Vec<S::Signature>, usize)>),
}

/// What the batch left of the value of some claims.
struct Kept {
    /// The product of the blocks that hold no others' terms.
    value: MillerValue,
    /// The pairs of further terms that are of no others.
    whole: Vec<(G1, G2)>,
    /// Terms that are of others, too.
    cut: Vec<usize>,
    /// The positions of those whose signatures the blocks do not have in them.
    unpaired: Vec<Range<usize>>,
    /// Whether the last block is among the blocks, and has the pair of all signatures in it.
    has_all_signatures: bool,
}

/// How often a sum takes the claims at a range of positions.
type Counted = (usize, Range<usize>);

/// Weighted points of several sums, each point taken so many times.
struct Summands<G> {
    /// A segment for each run of points of one sum that are taken equally often.
    points: WeightedSegments<G>,
    /// How often the points of each closed run are taken, a segment for each sum.
    times: Segments<usize>,
    /// How often the points of the open run are taken, if there is one.
    open: Option<usize>,
}

impl<G: Group> Summands<G> {
    fn new() -> Self {
        Self { points: WeightedSegments::new(), times: Segments::new(), open: None }
    }

    fn push(&mut self, times: usize, point: G, weight: Weight) {
        if self.open != Some(times) {
            self.close_run();
            self.open = Some(times);
        }
        self.points.push(point, weight);
    }

    fn close_run(&mut self) {
        if let Some(times) = self.open.take() {
            self.points.close();
            self.times.push(times);
        }
    }

    fn close(&mut self) {
        self.close_run();
        self.times.close();
    }

    fn point_count(&self) -> usize {
        self.points.point_count()
    }

    fn sums(&self, backend: Backend) -> Vec<G> {
        let mut runs = backend.weighted_sums(&self.points).into_iter();
        let mut sums = Multiples::new();
        for runs_of_sum in self.times.iter() {
            for (times, sum) in runs_of_sum.iter().zip(&mut runs) {
                sums.push(*times, sum);
            }
            sums.close();
        }
        sums.sums(backend)
    }
}

/// Points of several sums, each taken so many times: it stands as often among the points of a plain sum. That is exact for
/// every point of the curve, and cheap for as few times as there are parts of a set.
struct Multiples<G> {
    /// A segment for each sum.
    points: Segments<G>,
}

impl<G: Group> Multiples<G> {
    fn new() -> Self {
        Self { points: Segments::new() }
    }

    fn push(&mut self, times: usize, point: G) {
        self.points.extend(std::iter::repeat_n(point, times));
    }

    fn close(&mut self) {
        self.points.close();
    }

    fn sums(self, backend: Backend) -> Vec<G> {
        let nothing_to_add = self.points.iter().all(|points| points.len() == 1);
        if nothing_to_add { self.points.into_items() } else { backend.sums(&self.points) }
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

/// Whole hashes where the plan says so, hashes for sums elsewhere.
fn hashes<S: Suite>(plan: &Plan<S>, range: Range<usize>) -> Vec<S::Signature> {
    let backend = plan.options.backend;
    let messages: Vec<_> = plan.messages[range.clone()].iter().zip(&plan.whole[range]).collect();
    let mut hashes = Vec::with_capacity(messages.len());
    for run in messages.chunk_by(|(a, a_whole), (b, b_whole)| a.tag == b.tag && a_whole == b_whole) {
        let prefixes: Vec<_> =
            run.iter().map(|(m, _)| m.prefix.map(|key| key.to_bytes()).unwrap_or_default()).collect();
        let parts: Vec<_> = run.iter().zip(&prefixes).map(|((m, _), prefix)| (&prefix[..], &m.body[..])).collect();
        let (first, whole) = run[0];
        let tag = first.tag.as_bytes();
        hashes.extend(if *whole {
            backend.hash_to_curve::<S::Signature>(tag, &parts)
        } else {
            backend.hash_for_sums(tag, &parts)
        });
    }
    hashes
}

/// The positions of the unchecked signatures that are not in the subgroup.
fn not_members<S: Suite>(plan: &Plan<S>, range: Range<usize>) -> Vec<usize> {
    let unchecked = range.filter_map(|position| match plan.claims[position].signature {
        ClaimSignature::Checked(_) => None,
        ClaimSignature::Unchecked(signature) => Some((position, signature.point())),
    });
    let (positions, points): (Vec<_>, Vec<_>) = unchecked.unzip();
    let members = plan.options.backend.in_subgroup(&points);
    positions.into_iter().zip(members).filter(|(_, member)| !member).map(|(position, _)| position).collect()
}

fn key_sums<S: Suite>(plan: &Plan<S>, range: Range<usize>) -> Vec<S::Key> {
    let sums = plan.sums[range].iter().map(|sum| sum.keys.iter().map(|key| plan.keys[*key].point()));
    plan.options.backend.sums(&sums.collect())
}

/// Takes a range out of a list of ranges, one of which it lies in.
fn take(from: &mut Vec<Range<usize>>, taken: &Range<usize>) {
    let Some(last) = from.pop() else { return };
    from.extend([last.start..taken.start, taken.end..last.end]);
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
