//! The search for the false claims of a batch that failed, by group testing.
//!
//! The value V of a set of claims is the product of their pairings in the target group. If V is one, the set is proven.
//! If not, the set is cut into parts: first between sources, then along the blocks of pairings that the batch computed,
//! then anywhere. The value of one part is never computed, because it is V divided by the values of the others, and a
//! division in the target group costs next to nothing. The search goes on inside the parts whose values are not one.
//!
//! A value is a Miller loop and a final exponentiation, and the two gain in different ways from what can be done at the
//! same time:
//!
//! - A backend that has lanes computes as many *Miller values* in the time of one. So a set is cut into one part more
//!   than its share of the lanes of all threads. For example, with eight lanes a block of 16 claims is cut into nine
//!   parts. If four lanes cost half as much as eight, they are used twice in the same time, and the second time knows
//!   more. So half of the set is cut into four parts first, and the other half is left whole.
//! - *Final exponentiations* gain less from lanes. So consecutive parts share one at first: the Miller values of one
//!   half are multiplied, and their product is raised. If it is one, the false parts are in the other half, and none of
//!   the parts of this half needs an exponentiation of its own. With several threads there are as many more pieces.
//!
//! So one false claim among 128 is found with eight final exponentiations or fewer, and two Miller loops of eight products
//! or three of four.
//!
//! Where thousands of claims share few messages, most of a value is its weighted sums. So the search looks into long sets without
//! weights first, and then proves with weights what is left of a set without the claims that it found false
//! (`search_without_weights`).
//!
//! If many claims are false, a search in parts costs more than a check of each claim. So a backend without lanes measures
//! the share of false claims on the way, and may cut sets into single claims at once (`density`).
//!
//! A caller that bans liars does not need to know every false claim of one. So it can say how many more of a source it wants
//! to find ([`Patience`]). The search then goes on inside so many sets of that source alone, because each invalid set has a
//! culprit, and gives the source up when they are found.
//!
//! An invalid set is taken for a valid one with probability at most 2^-64 (or 2^-128) for each set. No true claim is
//! called false. The proofs are in `docs/soundness.md`. A set of one claim is decided exactly: its weight is not zero.
//!
//! ```
//! # use quorate::{*, culprit, execute::Execution};
//! # use rand_core::SeedableRng;
//! # let mut rng = rand_chacha::ChaCha20Rng::from_seed([7; 32]);
//! # let secret = SecretKey::key_gen(MinPk::Basic, &[1; 32], b"").expect("32 bytes");
//! let claims: Vec<_> = (0..16u8)
//!     .map(|i| (i, if i == 11 { 0 } else { i }))
//!     .map(|(i, signed)| Claim::single(MinPk::Basic, secret.public_key(), [i], secret.sign(MinPk::Basic, &[signed])))
//!     .collect();
//! let plan = Plan::new(&claims, &Options { backend: Backend::Portable, ..Options::default() });
//! let execution = Execution::new(&plan, &mut rng);
//! assert!(!execution.holds());
//! let found = culprit::search(&execution);
//! assert_eq!(found.culprits(), [11]);
//! assert_eq!(found.work.search_nodes, 4); // One value for each time that 16 is halved.
//! ```

mod density;
mod patience;
mod values;

use std::collections::BTreeMap;

use quorate_curve::{Gt, MillerValue};

pub use self::patience::{Exhaustive, Patience};
use self::{
    density::Cut,
    values::{miller_values, values},
};
use crate::{
    execute::{Execution, Weighing},
    plan::{Options, Plan, Position, Span},
    suite::Suite,
    verdict::{Reason, Verdict, Work},
};

/// The result of a search.
#[derive(Clone, Debug)]
#[must_use]
pub struct Found<'a, S: Suite> {
    plan: &'a Plan<S>,
    /// Sets whose value is one.
    proven: Vec<Span>,
    /// Single claims whose value is not one.
    culprits: Vec<Position>,
    /// Sets whose value is not one, of sources that the caller gave up.
    given_up: Vec<Span>,
    /// Claims that the execution dropped: they are in no value.
    dropped: Vec<Position>,
    /// The operations that the search took.
    pub work: Work,
}

impl<'a, S: Suite> Found<'a, S> {
    fn nothing(plan: &'a Plan<S>) -> Self {
        Self {
            plan,
            proven: Vec::new(),
            culprits: Vec::new(),
            given_up: Vec::new(),
            dropped: Vec::new(),
            work: Work::default(),
        }
    }

    fn take_culprit(&mut self, position: Position, patience: &mut dyn Patience) {
        let planned = &self.plan.claims[position];
        patience.found(planned.index, planned.source.as_ref(), Reason::Mismatch);
        self.culprits.push(position);
    }

    /// The indices of the claims that are false, ascending: those that the search found, and those that were false before it, because
    /// the plan set them aside or the execution dropped them.
    #[must_use]
    pub fn culprits(&self) -> Vec<usize> {
        let planned = self.culprits.iter().chain(&self.dropped).map(|position| self.plan.claims[*position].index);
        let mut indices: Vec<_> = planned.chain(self.plan.defects.iter().map(|defect| defect.index)).collect();
        indices.sort_unstable();
        indices
    }

    /// Writes the verdict of every claim that was proven or refuted to its index. Claims that were dropped before the
    /// search keep what stands there.
    pub(crate) fn settle(&self, execution: &Execution<'_, S>, verdicts: &mut [Option<Verdict>]) {
        let every = |spans: &[Span], verdict: Verdict| {
            let positions: Vec<_> = spans.iter().flat_map(|span| span.iter()).collect();
            positions.into_iter().map(move |position| (position, verdict))
        };
        let decided = every(&self.proven, Verdict::Valid);
        let refuted = self.culprits.iter().map(|position| (*position, Verdict::Invalid(Reason::Mismatch)));
        let given_up = every(&self.given_up, Verdict::Invalid(Reason::GivenUp));
        for (position, verdict) in decided.chain(refuted).chain(given_up) {
            if execution.dropped(position).is_none() {
                verdicts[self.plan.claims[position].index] = Some(verdict);
            }
        }
    }
}

/// Finds every false claim of a batch that does not hold; none in one that does.
pub fn search<'a, S: Suite>(execution: &Execution<'a, S>) -> Found<'a, S> {
    search_with(execution, &mut Exhaustive)
}

/// Finds the false claims of a batch, but of each source no more than the caller wants to know.
///
/// Claims of a source that was given up can be proven nevertheless, if they share a set with nothing false. All others
/// are left undecided ([`Reason::GivenUp`]).
pub fn search_with<'a, S: Suite>(execution: &Execution<'a, S>, patience: &mut dyn Patience) -> Found<'a, S> {
    let plan = execution.plan();
    let mut found = Found::nothing(plan);
    for position in plan.claims.span().iter() {
        if let Some(reason) = execution.dropped(position) {
            let planned = &plan.claims[position];
            patience.found(planned.index, planned.source.as_ref(), reason);
            found.dropped.push(position);
        }
    }
    let mut level = Vec::new();
    if let Some(value) = execution.total() {
        Set { span: plan.claims.span(), value }.sort_out(&mut level, &mut found, patience);
    }
    search_sets(execution, level, Weighing::Drawn, Cut::Unmeasured, &mut found, patience);
    found
}

/// Finds the false claims of sets whose values are not one.
fn search_sets<S: Suite>(
    execution: &Execution<'_, S>,
    mut level: Vec<Set<S>>,
    weighing: Weighing,
    mut way: Cut,
    found: &mut Found<'_, S>,
    patience: &mut dyn Patience,
) {
    let plan = execution.plan();
    let Options { threads, backend, .. } = plan.options;
    let mut postponed = Vec::new();
    loop {
        (level, postponed) = wanted(plan, level, postponed, found, patience);
        if level.is_empty() {
            return;
        }
        if weighing == Weighing::Drawn {
            level = search_without_weights(execution, level, found, patience);
            if level.is_empty() {
                continue;
            }
        }
        if let Some(sample) = way.sample(execution, &mut level) {
            let (claims, known) = (sample.iter().map(|set| set.span.len()).sum(), found.culprits.len());
            search_sets(execution, sample, weighing, Cut::Parts, found, patience);
            way = Cut::measured(found.culprits.len() - known, claims);
        }
        let computed = (threads.get().saturating_mul(backend.products_at_once()) / level.len()).max(1);
        let cut = level.iter().map(|Set { span, .. }| match way {
            Cut::Claims => span.chunks(1).collect(),
            Cut::Unmeasured | Cut::Parts => parts(plan, *span, computed),
        });
        let cut: Vec<Vec<_>> = cut.collect();
        let computed: Vec<_> = cut.iter().flat_map(|parts| &parts[..parts.len() - 1]).copied().collect();
        let (miller, work) = miller_values(execution, &computed, weighing);
        found.work += work;
        let mut rest = &miller[..];
        let runs = level.iter().zip(&cut).map(|(set, parts)| {
            let (miller, others) = rest.split_at(parts.len() - 1);
            rest = others;
            Run { parts, miller, value: set.value }
        });
        level = sort_parts(execution, runs.collect(), found, patience);
    }
}

/// Finds the false claims of long sets by values without weights, whose sums cost a fraction, and returns the sets that it leaves.
///
/// What it finds is false, because the value of one claim is exact. But the others are proven by weights alone: the value of the
/// set, which the batch computed with them, divided by that of the false claims must be one. If it is not, other false claims cancelled
/// each other, and the set is left.
fn search_without_weights<S: Suite>(
    execution: &Execution<'_, S>,
    level: Vec<Set<S>>,
    found: &mut Found<'_, S>,
    patience: &mut dyn Patience,
) -> Vec<Set<S>> {
    let plan = execution.plan();
    let (mut long, mut left): (Vec<_>, Vec<_>) =
        level.into_iter().partition(|set| is_long(plan, set.span) && wants_all(plan, set.span, patience));
    if long.is_empty() {
        return left;
    }
    // A level is in no order, and the values of the false claims are dealt out in the order of their positions.
    long.sort_unstable_by_key(|set| set.span.start());
    let spans: Vec<_> = long.iter().map(|set| set.span).collect();
    let (miller, work) = miller_values(execution, &spans, Weighing::Ones);
    found.work += work;
    let (unweighted, work) = values(execution, &miller);
    found.work += work;
    let mut inside = Found::nothing(plan);
    let mut level = Vec::new();
    for (span, value) in spans.into_iter().zip(unweighted) {
        Set { span, value }.sort_out(&mut level, &mut inside, &mut Exhaustive);
    }
    search_sets(execution, level, Weighing::Ones, Cut::Unmeasured, &mut inside, &mut Exhaustive);
    found.work += inside.work;

    inside.culprits.sort_unstable();
    let culprits: Vec<_> = inside.culprits.iter().map(|position| Span::from_to(*position, *position)).collect();
    let (miller, work) = miller_values(execution, &culprits, Weighing::Drawn);
    found.work += work;
    let mut miller = miller.into_iter();
    let of = |set: &Set<S>| set.span.of(&inside.culprits, |position| *position).len();
    let products: Vec<_> = long.iter().map(|set| miller.by_ref().take(of(set)).product()).collect();
    let (values, work) = values(execution, &products);
    found.work += work;
    for (set, value) in long.into_iter().zip(values) {
        if (set.value * value.inverse()).is_one() {
            set.settle_but(set.span.of(&inside.culprits, |position| *position), found, patience);
        } else {
            left.push(set);
        }
    }
    left
}

/// Whether the sums of a set cost more than its pairings, because it is long and lies in one block.
fn is_long<S: Suite>(plan: &Plan<S>, span: Span) -> bool {
    span.len() >= LONG && starts_of_blocks(plan).all(|start| start <= span.start() || span.end() <= start)
}

/// Whether the caller wants to know every false claim of a set, whoever sent them.
fn wants_all<S: Suite>(plan: &Plan<S>, span: Span, patience: &mut dyn Patience) -> bool {
    let mut sent = BTreeMap::new();
    for source in span.iter().filter_map(|position| plan.claims[position].source.as_ref()) {
        *sent.entry(source).or_insert(0) += 1;
    }
    sent.into_iter().all(|(source, claims)| claims <= patience.left(source))
}

/// The boundaries at which the blocks of a plan start.
fn starts_of_blocks<S: Suite>(plan: &Plan<S>) -> impl Iterator<Item = usize> {
    plan.blocks.iter().map(|block| plan.terms[block.start].span().start())
}

/// Of the sets that are not searched yet: those to search now, and those to search only if the first ones leave the caller
/// wanting more. Sets of sources that it gave up are left undecided.
fn wanted<S: Suite>(
    plan: &Plan<S>,
    level: Vec<Set<S>>,
    postponed: Vec<Set<S>>,
    found: &mut Found<'_, S>,
    patience: &mut dyn Patience,
) -> (Vec<Set<S>>, Vec<Set<S>>) {
    let mut left = BTreeMap::new();
    let (mut now, mut later) = (Vec::new(), Vec::new());
    for set in level.into_iter().chain(postponed) {
        let Some(source) = plan.only_source(set.span) else {
            now.push(set);
            continue;
        };
        let (wanted, searched) = left.entry(source).or_insert_with(|| (patience.left(source), 0));
        match (*wanted, *searched) {
            (0, _) => found.given_up.push(set.span),
            (wanted, searched) if searched == wanted => later.push(set),
            _ => {
                *searched += 1;
                now.push(set);
            }
        }
    }
    (now, later)
}

/// A span of claims with its value.
struct Set<S: Suite> {
    span: Span,
    value: Gt<S::Curve>,
}

impl<S: Suite> Set<S> {
    /// A set whose value is one is proven. Otherwise it is a culprit if it is one claim, and is searched if it is more.
    fn sort_out(self, level: &mut Vec<Self>, found: &mut Found<'_, S>, patience: &mut dyn Patience) {
        if self.value.is_one() {
            found.proven.push(self.span);
        } else if self.span.len() == 1 {
            self.span.iter().for_each(|position| found.take_culprit(position, patience));
        } else {
            level.push(self);
        }
    }

    /// These claims of the set, ascending, are false, and the others are proven.
    fn settle_but(&self, culprits: &[Position], found: &mut Found<'_, S>, patience: &mut dyn Patience) {
        let mut rest = self.span;
        for position in culprits {
            found.take_culprit(*position, patience);
            let [before, behind] = rest.without(Span::from_to(*position, *position));
            found.proven.push(before);
            rest = behind;
        }
        found.proven.push(rest);
    }
}

/// Consecutive parts of a set.
struct Run<'a, S: Suite> {
    parts: &'a [Span],
    /// The Miller values of all parts, or of all but the last.
    miller: &'a [MillerValue<S::Curve>],
    /// The value of all parts together.
    value: Gt<S::Curve>,
}

impl<'a, S: Suite> Run<'a, S> {
    /// So many runs with nearly as many claims each, or as many as there are parts. `miller` has the values of all parts
    /// but the last.
    fn cut(&self, runs: usize) -> impl Iterator<Item = (&'a [Span], &'a [MillerValue<S::Curve>])> {
        let Self { parts, miller, .. } = *self;
        let (n, runs) = (parts.len(), runs.min(parts.len()));
        let (first, last) = (parts[0].start(), parts[n - 1].end());
        let mut start = 0;
        (1..=runs).map(move |i| {
            let wanted = first + i * (last - first) / runs;
            let end = parts.partition_point(|part| part.end() <= wanted).clamp(start + 1, n - (runs - i));
            let run = (&parts[start..end], &miller[start..end.min(miller.len())]);
            start = end;
            run
        })
    }
}

/// Finds the parts whose values are not one, and returns those of more than one claim.
fn sort_parts<S: Suite>(
    execution: &Execution<'_, S>,
    mut runs: Vec<Run<'_, S>>,
    found: &mut Found<'_, S>,
    patience: &mut dyn Patience,
) -> Vec<Set<S>> {
    let threads = execution.plan().options.threads.get();
    let mut invalid = Vec::new();
    while !runs.is_empty() {
        let pieces = (threads / runs.len()).max(1).saturating_add(1);
        let cut: Vec<Vec<_>> = runs.iter().map(|run| run.cut(pieces).collect()).collect();
        let products = cut.iter().flat_map(|pieces| &pieces[..pieces.len() - 1]);
        let products: Vec<_> = products.map(|(_, miller)| miller.iter().copied().product()).collect();
        let (values, work) = values(execution, &products);
        found.work += work;
        let (mut values, mut next) = (values.into_iter(), Vec::new());
        for (run, pieces) in runs.iter().zip(cut) {
            let (mut rest, last) = (run.value, pieces.len() - 1);
            for (i, (parts, miller)) in pieces.into_iter().enumerate() {
                let value = if i == last { rest } else { values.next().expect("a value for each piece but the last") };
                rest = rest * value.inverse();
                match parts {
                    [part] => Set { span: *part, value }.sort_out(&mut invalid, found, patience),
                    _ if value.is_one() => found.proven.extend(parts),
                    _ => next.push(Run { parts, miller, value }),
                }
            }
        }
        runs = next;
    }
    invalid
}

/// So many parts of a span of at least two positions, and the rest, whose value is not computed. The parts are as equal as the
/// places allow at which it may be cut, and fewer if there are not enough places. The rest is as long as a part, or half of the
/// span if some of the lanes cost less alone.
fn parts<S: Suite>(plan: &Plan<S>, span: Span, computed: usize) -> Vec<Span> {
    let backend = plan.options.backend;
    // There are no more places to cut at, however many threads there are.
    let computed = computed.min(span.len() - 1);
    let shares = if backend.products_at_once() < backend.lanes() { 2 * computed } else { computed + 1 };
    let places = cuts(plan, span);
    let nearest = |i: usize| {
        let wanted = span.start() + i.max(i * span.len() / shares);
        let behind = places.partition_point(|place| *place < wanted);
        let near = places[behind.saturating_sub(1)..places.len().min(behind + 1)].iter().copied();
        near.min_by_key(|place| place.abs_diff(wanted)).expect("a span of two positions can be cut")
    };
    let mut chosen: Vec<_> = (1..=computed).map(nearest).collect();
    chosen.dedup();
    span.cut(&chosen)
}

/// The places at which a span may be cut, ascending: between its sources. If it has one source, then between its blocks,
/// because the batch has computed their values. If it lies in one block, then anywhere.
fn cuts<S: Suite>(plan: &Plan<S>, span: Span) -> Vec<usize> {
    let inside = span.start() + 1..span.end();
    let between_sources = |boundary: &usize| {
        let (before, behind) = plan.claims.around(*boundary);
        before.source != behind.source
    };
    let sources: Vec<_> = inside.clone().filter(between_sources).collect();
    if !sources.is_empty() {
        return sources;
    }
    let blocks: Vec<_> = starts_of_blocks(plan).filter(|start| inside.contains(start)).collect();
    if blocks.is_empty() { inside.collect() } else { blocks }
}

/// The number of claims from which a set is searched without weights first.
const LONG: usize = 256;

#[cfg(test)]
mod tests {
    use quorate_curve::Backend;
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    use super::*;
    use crate::{claim::Claim, key::SecretKey, suite::MinPk};

    /// The weighted value of each long set is divided by those of its own false claims, so that nothing else is weighed.
    #[test]
    fn long_sets_come_in_any_order() {
        let suite = MinPk::ProofOfPossession;
        let secret = SecretKey::key_gen(suite, &[1; 32], b"").expect("32 bytes");
        let [truth, lie] =
            [b"m", b"n"].map(|signed| Claim::single(suite, secret.public_key(), *b"m", secret.sign(suite, signed)));
        let places = [7, LONG + 44];
        let claims: Vec<_> = (0..2 * LONG).map(|i| if places.contains(&i) { &lie } else { &truth }.clone()).collect();
        let plan = Plan::new(&claims, &Options { backend: Backend::Portable, ..Options::default() });
        let execution = Execution::new(&plan, &mut ChaCha20Rng::from_seed([7; 32]));
        let spans: Vec<_> = plan.claims.span().chunks(LONG).collect();
        let (values, _) = values(&execution, &miller_values(&execution, &spans, Weighing::Drawn).0);
        let sets = spans.into_iter().zip(values).map(|(span, value)| Set { span, value });
        let mut found = Found::nothing(&plan);
        let left = search_without_weights(&execution, sets.rev().collect(), &mut found, &mut Exhaustive);
        assert!(left.is_empty(), "{} of 2 sets are left", left.len());
        assert_eq!(found.culprits(), places);
        assert!(found.work.weighted <= 2 * places.len(), "{:?}", found.work);
    }
}
