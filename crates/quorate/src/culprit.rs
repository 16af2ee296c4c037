//! The search for the false claims of a batch that failed.
//!
//! Bisection over the order of the plan: source by source first, then along the batch's own blocks of pairings, then
//! anywhere. The value of a set of claims is the product of their pairings in the target group, so a set's second half is
//! never computed: it is the set's value divided by the first half's, and division there is free.
//!
//! With k false claims among n, at most k·⌈log₂ n⌉ sets are looked at. A set that holds a false claim is taken for true
//! with probability 2^-64 (or 2^-128), and one claim alone never is: its weight is not zero.

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
//! let plan = Plan::new(&claims);
//! let execution = Execution::new(&plan, Options::default(), &mut rng);
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
        let firsts: Vec<_> = level.iter().map(|(range, _)| range.start..split(execution, range)).collect();
        let (values, work) = execution.values(&firsts);
        found.work += work;
        let mut next = Vec::new();
        for (((range, value), first), first_value) in level.into_iter().zip(firsts).zip(values) {
            let second = first.end..range.end;
            sort_out(first, first_value, &mut next, &mut found);
            sort_out(second, value * first_value.inverse(), &mut next, &mut found);
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
