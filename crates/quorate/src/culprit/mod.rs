//! The search for the false claims of a batch that failed.
//!
//! The value V of a set of claims is the product of their pairings in the target group. If V is one, the set is proven.
//! If not, the set is cut into parts with values vᵢ: first between sources, then along the blocks of pairings that the
//! batch computed, then anywhere. There are two ways to look into the parts.
//!
//! **By index** (L. Law and B. Matt, "Finding invalid signatures in pairing-based batches", 2007). One final
//! exponentiation gives W = ∏ vᵢ^i, i from zero. If part j is the only invalid one, then V = vⱼ and W = Vʲ. Comparing W
//! with the powers of V finds j, and the value of part j is known: the search goes on inside it. If W equals no power,
//! several parts are invalid.
//!
//! **By values.** The values of all parts but the last are computed. The value of the last is V divided by the others,
//! and a division in the target group costs next to nothing. If threads and lanes compute several values in the time of
//! one, there are more parts.
//!
//! The whole batch is tested by index. If that does not settle a set, the set is cut by values. Its invalid parts are
//! then tested by index, but only if they are at most half of the parts. For if half of many parts are invalid, there
//! are 0.69 false claims for each part, and seven of ten invalid parts hold exactly one. If more parts are invalid,
//! most tests would find nothing.
//!
//! An invalid set is taken for a valid one with probability at most 2^-64 (or 2^-128) for each set. A test of m parts
//! with several invalid ones names one of them with probability at most m·2^-64; only then is a true claim called
//! false. The proofs are in `docs/soundness.md`. A set of one claim is decided exactly: its weight is not zero.
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
//! assert_eq!(found.work.search_nodes, 1); // V^11
//! ```

mod values;

use quorate_curve::Gt;

use self::values::{Product, values, width};
use crate::{
    execute::Execution,
    plan::{Plan, Position, Span},
    suite::Suite,
    verdict::{Reason, Verdict, Work},
};

/// The result of a search.
#[derive(Clone, Debug)]
#[must_use]
pub struct Found<'a, S: Suite> {
    plan: &'a Plan<S>,
    /// Sets whose value is one, and parts that an index test cleared.
    proven: Vec<Span>,
    /// Single claims whose value is not one.
    culprits: Vec<Position>,
    /// The operations that the search took.
    pub work: Work,
}

impl<S: Suite> Found<'_, S> {
    /// The indices of the claims that the search found false, ascending.
    #[must_use]
    pub fn culprits(&self) -> Vec<usize> {
        let mut indices: Vec<_> = self.culprits.iter().map(|position| self.plan.claims[*position].index).collect();
        indices.sort_unstable();
        indices
    }

    /// Writes the verdict of every claim that was proven or refuted to its index. Claims that were dropped before the
    /// search keep what stands there.
    pub(crate) fn settle(&self, execution: &Execution<'_, S>, verdicts: &mut [Option<Verdict>]) {
        let decided = self.proven.iter().flat_map(|span| span.iter()).map(|position| (position, Verdict::Valid));
        let refuted = self.culprits.iter().map(|position| (*position, Verdict::Invalid(Reason::Mismatch)));
        for (position, verdict) in decided.chain(refuted) {
            if execution.dropped(position).is_none() {
                verdicts[self.plan.claims[position].index] = Some(verdict);
            }
        }
    }
}

/// Finds every false claim of a batch that does not hold; none in one that does.
pub fn search<'a, S: Suite>(execution: &Execution<'a, S>) -> Found<'a, S> {
    let plan = execution.plan();
    let mut found = Found { plan, proven: Vec::new(), culprits: Vec::new(), work: Work::default() };
    let mut level = Vec::new();
    if let Some(value) = execution.total() {
        Set { span: plan.claims.span(), value, test: true }.sort_out(&mut level, &mut found);
    }
    while !level.is_empty() {
        let untested = level.iter().filter(|set| !set.test).count();
        let halvings = halvings(untested, width(execution));
        let cuts: Vec<_> = level.iter().map(|set| Cut::new(plan, set, halvings)).collect();
        let products: Vec<_> = cuts.iter().flat_map(Cut::products).collect();
        let (values, work) = values(execution, &products);
        found.work += work;
        let mut values = values.into_iter();
        let mut next = Vec::new();
        for (set, cut) in level.into_iter().zip(cuts) {
            match cut {
                Cut::Tested(parts) => {
                    let product = values.next().expect("a tested set has one product");
                    set.tested(parts, product, &mut found.proven).sort_out(&mut next, &mut found);
                }
                Cut::Valued(parts) => {
                    let parts = set.valued(parts, &mut values);
                    parts.into_iter().for_each(|part| part.sort_out(&mut next, &mut found));
                }
            }
        }
        level = next;
    }
    found
}

/// A span of claims with its value.
struct Set {
    span: Span,
    value: Gt,
    /// Whether to test it by index for a single invalid part.
    test: bool,
}

impl Set {
    /// A set whose value is one is proven. Otherwise it is a culprit if it is one claim, and is searched if it is more.
    fn sort_out<S: Suite>(self, level: &mut Vec<Self>, found: &mut Found<'_, S>) {
        if self.value.is_one() {
            found.proven.push(self.span);
        } else if self.span.len() == 1 {
            found.culprits.extend(self.span.iter());
        } else {
            level.push(self);
        }
    }

    /// If `product` names one part as the only invalid one, the other parts are proven, and that part is returned with
    /// the value of the set. Otherwise the set itself is returned, to be cut by values.
    fn tested(self, parts: Vec<Span>, product: Gt, proven: &mut Vec<Span>) -> Self {
        let mut powers = std::iter::successors(Some(Gt::ONE), |power| Some(*power * self.value));
        match parts.iter().position(|_| powers.next() == Some(product)) {
            Some(lone) => {
                proven.extend(parts.iter().enumerate().filter(|(i, _)| *i != lone).map(|(_, span)| *span));
                Self { span: parts[lone], ..self }
            }
            None => Self { test: false, ..self },
        }
    }

    /// The parts with their values. `values` has those of all parts but the last.
    fn valued(self, parts: Vec<Span>, values: &mut impl Iterator<Item = Gt>) -> Vec<Self> {
        let mut values: Vec<_> = values.take(parts.len() - 1).collect();
        values.push(values.iter().fold(self.value, |rest, value| rest * value.inverse()));
        let invalid = values.iter().filter(|value| !value.is_one()).count();
        let test = 2 * invalid <= parts.len();
        parts.into_iter().zip(values).map(|(span, value)| Self { span, value, test }).collect()
    }
}

/// How to look into a set of at least two claims.
enum Cut {
    /// By the product of the values of its parts, each raised to its index from zero.
    Tested(Vec<Span>),
    /// By the value of each part but the last.
    Valued(Vec<Span>),
}

impl Cut {
    fn new<S: Suite>(plan: &Plan<S>, set: &Set, halvings: u32) -> Self {
        let parts = parts(plan, set.span, if set.test { MOST_HALVINGS } else { halvings });
        // With two parts, the product of the test is the value of part 1, so a cut by values tells as much.
        if set.test && parts.len() > 2 { Self::Tested(parts) } else { Self::Valued(parts) }
    }

    fn products(&self) -> Vec<Product> {
        match self {
            Self::Tested(parts) => vec![parts[1..].to_vec()],
            Self::Valued(parts) => parts[..parts.len() - 1].iter().map(|part| vec![*part]).collect(),
        }
    }
}

/// A tested set has up to 2^4 = 16 parts. In a batch of eight blocks of 16 claims, two tests then find a false claim.
/// The sums of a test grow with the square of the number of parts, so more parts would cost more.
const MOST_HALVINGS: u32 = 4;

/// How many times to halve each of so many sets, such that the values of all their parts but the last fit in `width`.
fn halvings(sets: usize, width: usize) -> u32 {
    (width / sets.max(1) + 1).ilog2().max(1)
}

/// The parts of a span of at least two positions. The span is halved so many times, each time at the cut nearest to the
/// middle.
fn parts<S: Suite>(plan: &Plan<S>, span: Span, halvings: u32) -> Vec<Span> {
    let cuts = cuts(plan, span);
    (0..halvings).fold(vec![span], |parts, _| {
        let halves = parts.into_iter().flat_map(|part| {
            let middle = part.start() + part.len() / 2;
            let inside = cuts.iter().filter(|cut| part.start() < **cut && **cut < part.end());
            match inside.min_by_key(|cut| cut.abs_diff(middle)) {
                Some(cut) => part.cut(*cut).to_vec(),
                None => vec![part],
            }
        });
        halves.collect()
    })
}

/// The boundaries at which a span is cut: between its sources. If it has one source, then between its blocks, because
/// the batch has computed their values. If it lies in one block, then anywhere.
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
    let starts = plan.blocks.iter().map(|block| plan.terms[block.start].span().start());
    let blocks: Vec<_> = starts.filter(|start| inside.contains(start)).collect();
    if blocks.is_empty() { inside.collect() } else { blocks }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halvings_fill_the_width() {
        let of = |sets, width| halvings(sets, width);
        assert_eq!([of(1, 1), of(1, 2), of(1, 3), of(1, 8), of(1, 16)], [1, 1, 2, 3, 4]);
        assert_eq!([of(2, 8), of(3, 8), of(4, 8), of(9, 8)], [2, 1, 1, 1]);
        for (sets, width) in (1..20).flat_map(|sets| (1..20).map(move |width| (sets, width))) {
            let values = sets * ((1 << of(sets, width)) - 1);
            assert!(values <= width.max(sets) && of(sets, width) > 0, "{values} values of {sets} sets in {width}");
        }
    }
}
