//! The search for the false claims of a batch that failed.
//!
//! A set of claims whose value V, the product of their pairings in the target group, is not one is cut into parts of values
//! vᵢ: source by source first, then along the batch's own blocks of pairings, then anywhere. It is looked into in two ways.
//!
//! **By index** (L. Law and B. Matt, "Finding invalid signatures in pairing-based batches", 2007). One final exponentiation
//! gives W = ∏ vᵢ^i, i from zero. If part j alone is false, then V = vⱼ and W = Vʲ, which comparisons with the powers of V
//! find, and the part's value is known: the search goes on inside it. If W is no such power, several parts are false.
//!
//! **By values.** All but the last are computed; the last is the set's value divided by the others, and division there is
//! free. Where threads and lanes compute several values in the time of one, there are more parts.
//!
//! The whole batch is tested by index. A set that a test does not settle is cut by values, and of its parts the false ones
//! are tested if they are at most half of the parts: if half of many parts are false, 0.69 false claims fall to a part, and
//! seven of ten false parts hold but one. Where more are false, a test would mostly be lost.
//!
//! A false set is taken for true with probability 2^-64 (or 2^-128) a set, and the test of m parts with several false ones
//! names one of them with probability m·2^-64; only then is a true claim called false. The proofs are in
//! `docs/soundness.md`. One claim alone is decided exactly: its weight is not zero.
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
//! assert_eq!(found.positions, [11]);
//! assert_eq!(found.work.search_nodes, 1); // V^11
//! ```

use std::ops::Range;

use quorate_curve::Gt;

use crate::{execute::Execution, suite::Suite, verdict::Work};

/// What the search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Positions of the false claims, ascending.
    pub positions: Vec<usize>,
    /// What it took.
    pub work: Work,
}

/// Finds every false claim of a batch that does not hold; none in one that does.
pub fn search<S: Suite>(execution: &Execution<'_, S>) -> Found {
    let mut found = Found::default();
    let mut level = Vec::new();
    let all = Set { range: 0..execution.plan().claims.len(), value: execution.total(), test: true };
    all.sort_out(&mut level, &mut found);
    while !level.is_empty() {
        let untested = level.iter().filter(|set| !set.test).count();
        let halvings = halvings(untested, execution.width());
        let cuts: Vec<_> = level.iter().map(|set| Cut::new(execution, set, halvings)).collect();
        let products: Vec<_> = cuts.iter().flat_map(Cut::products).collect();
        let (values, work) = execution.values(&products);
        found.work += work;
        let mut values = values.into_iter();
        let mut next = Vec::new();
        for (set, cut) in level.into_iter().zip(cuts) {
            let parts = match cut {
                Cut::Tested(parts) => {
                    let product = values.next().expect("a tested set has one product");
                    set.tested(parts, product)
                }
                Cut::Valued(parts) => set.valued(parts, &mut values),
            };
            parts.into_iter().for_each(|part| part.sort_out(&mut next, &mut found));
        }
        level = next;
    }
    found.positions.sort_unstable();
    found
}

/// Claims at a range of positions.
struct Set {
    range: Range<usize>,
    value: Gt,
    /// Whether it is to be tested for a lone false part.
    test: bool,
}

impl Set {
    /// A set whose value is not one is a culprit if it is one claim, and is searched if it is more.
    fn sort_out(self, level: &mut Vec<Self>, found: &mut Found) {
        if self.value.is_one() {
        } else if self.range.len() == 1 {
            found.positions.push(self.range.start);
        } else {
            level.push(self);
        }
    }

    /// The one false part, which has the value of the set; or the set again, not to be tested.
    fn tested(self, parts: Vec<Range<usize>>, product: Gt) -> Vec<Self> {
        let mut powers = std::iter::successors(Some(Gt::ONE), |power| Some(*power * self.value));
        let lone = parts.into_iter().find(|_| powers.next() == Some(product));
        vec![match lone {
            Some(range) => Self { range, ..self },
            None => Self { test: false, ..self },
        }]
    }

    /// The parts with their values, of which all but that of the last were computed.
    fn valued(self, parts: Vec<Range<usize>>, values: &mut impl Iterator<Item = Gt>) -> Vec<Self> {
        let mut values: Vec<_> = values.take(parts.len() - 1).collect();
        values.push(values.iter().fold(self.value, |rest, value| rest * value.inverse()));
        let false_parts = values.iter().filter(|value| !value.is_one()).count();
        let test = 2 * false_parts <= parts.len();
        parts.into_iter().zip(values).map(|(range, value)| Self { range, value, test }).collect()
    }
}

/// How a set of two claims at least is looked into.
enum Cut {
    /// By the product of its parts' values, each raised to its index from zero.
    Tested(Vec<Range<usize>>),
    /// By the value of each part but the last.
    Valued(Vec<Range<usize>>),
}

impl Cut {
    fn new<S: Suite>(execution: &Execution<'_, S>, set: &Set, halvings: u32) -> Self {
        let parts = parts(execution, &set.range, if set.test { MOST_HALVINGS } else { halvings });
        // Of two parts the product is the value of one.
        if set.test && parts.len() > 2 { Self::Tested(parts) } else { Self::Valued(parts) }
    }

    /// The products that it needs, as [`Execution::values`] takes them.
    fn products(&self) -> Vec<Vec<Range<usize>>> {
        match self {
            Self::Tested(parts) => vec![parts[1..].to_vec()],
            Self::Valued(parts) => parts[..parts.len() - 1].iter().map(|part| vec![part.clone()]).collect(),
        }
    }
}

/// A tested set has up to 16 parts: in a batch of eight blocks of 16 claims, two tests find a claim. More would make the sums
/// of a test longer, which grow with the square.
const MOST_HALVINGS: u32 = 4;

/// How often to halve each of so many sets, so that the values of all parts but the last of each are computed at a time.
fn halvings(sets: usize, width: usize) -> u32 {
    (width / sets.max(1) + 1).ilog2().max(1)
}

/// The parts of a range of at least two positions that is halved so often, each time at the cut nearest to the middle.
fn parts<S: Suite>(execution: &Execution<'_, S>, range: &Range<usize>, halvings: u32) -> Vec<Range<usize>> {
    let cuts = cuts(execution, range);
    (0..halvings).fold(vec![range.clone()], |parts, _| {
        let halves = parts.into_iter().flat_map(|part| {
            let middle = part.start + part.len() / 2;
            let inside = cuts.iter().filter(|cut| part.start < **cut && **cut < part.end);
            match inside.min_by_key(|cut| cut.abs_diff(middle)) {
                Some(cut) => vec![part.start..*cut, *cut..part.end],
                None => vec![part],
            }
        });
        halves.collect()
    })
}

/// Where to cut a range: between its sources; if it has one alone, between its blocks, whose values the batch left; else
/// anywhere.
fn cuts<S: Suite>(execution: &Execution<'_, S>, range: &Range<usize>) -> Vec<usize> {
    let (plan, inside) = (execution.plan(), range.start + 1..range.end);
    let claims = &plan.claims;
    let sources: Vec<_> = inside.clone().filter(|p| claims[p - 1].source != claims[*p].source).collect();
    if !sources.is_empty() {
        return sources;
    }
    let starts = plan.blocks.iter().map(|block| plan.terms[block.start].span().start);
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
