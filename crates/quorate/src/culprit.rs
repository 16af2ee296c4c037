//! The search for the false claims of a batch that failed.
//!
//! Bisection over the order of the plan: source by source first, then along the batch's own blocks of pairings, then
//! anywhere. The value of a set of claims is the product of their pairings in the target group, so a set's second half is
//! never computed: it is the set's value divided by the first half's, and division there is free.
//!
//! With k false claims among n, at most k·⌈log₂ n⌉ sets are looked at. A set that holds a false claim is taken for true
//! with probability 2^-64 (or 2^-128), and one claim alone never is: its weight is not zero.
//!
//! Where threads and lanes compute several values in the time of one, sets are halved more than once before their parts are
//! looked at: more sets, in fewer steps.
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
//! assert_eq!(found.work.search_nodes, 4); // 16 = 2^4: half of what is left each time
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
    let all = 0..execution.plan().claims.len();
    sort_out(all, execution.total(), &mut level, &mut found);
    while !level.is_empty() {
        let halvings = halvings(level.len(), execution.width());
        let parts: Vec<_> = level.iter().map(|(range, _)| parts(execution, range, halvings)).collect();
        let firsts: Vec<_> = parts.iter().flat_map(|parts| &parts[..parts.len() - 1]).cloned().collect();
        let (values, work) = execution.values(&firsts);
        found.work += work;
        let mut values = values.into_iter();
        let mut next = Vec::new();
        for ((_, mut rest), mut parts) in level.into_iter().zip(parts) {
            let last = parts.pop().expect("a range has two parts at least");
            for (part, value) in parts.into_iter().zip(&mut values) {
                rest = rest * value.inverse();
                sort_out(part, value, &mut next, &mut found);
            }
            sort_out(last, rest, &mut next, &mut found);
        }
        level = next;
    }
    found.positions.sort_unstable();
    found
}

/// A set of claims whose value is not one is a culprit if it is one claim, and is searched if it is more.
fn sort_out(range: Range<usize>, value: Gt, level: &mut Vec<(Range<usize>, Gt)>, found: &mut Found) {
    if value.is_one() {
    } else if range.len() == 1 {
        found.positions.push(range.start);
    } else {
        level.push((range, value));
    }
}

/// How often to halve each of so many sets, so that the values of all parts but the last of each are computed at a time.
fn halvings(sets: usize, width: usize) -> u32 {
    (width / sets + 1).ilog2().max(1)
}

/// The parts of a range of at least two positions that is halved so often.
fn parts<S: Suite>(execution: &Execution<'_, S>, range: &Range<usize>, halvings: u32) -> Vec<Range<usize>> {
    (0..halvings).fold(vec![range.clone()], |parts, _| {
        let halves = parts.into_iter().flat_map(|part| match part.len() {
            1 => vec![part],
            _ => {
                let cut = split(execution, &part);
                vec![part.start..cut, cut..part.end]
            }
        });
        halves.collect()
    })
}

/// Where to cut a range: the cut nearest to its middle among the best kind that it has.
fn split<S: Suite>(execution: &Execution<'_, S>, range: &Range<usize>) -> usize {
    let plan = execution.plan();
    let middle = range.start + range.len() / 2;
    let inside = range.start + 1..range.end;
    let nearest = |cuts: &mut dyn Iterator<Item = usize>| {
        cuts.filter(|cut| inside.contains(cut)).min_by_key(|cut| cut.abs_diff(middle))
    };
    let claims = &plan.claims;
    let mut sources = inside.clone().filter(|p| claims[p - 1].source != claims[*p].source);
    let mut blocks = plan.blocks.iter().map(|block| plan.terms[block.start].span().start);
    nearest(&mut sources).or_else(|| nearest(&mut blocks)).unwrap_or(middle)
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
