//! When to store a new base: policies over a trace of quorums, and the best that could have been done.
//!
//! Costs are the caller's: a [`Trace`] says what the way from one quorum to another costs and what storing costs. The
//! *pinned* base (the full set, or the empty one) is always there and never stored; `None` names it.

/// Quorums in the order in which they come, by their costs.
pub struct Trace<'a> {
    /// How many there are.
    pub quorums: usize,
    /// What storing one costs.
    pub store: u64,
    /// The way from a stored quorum (`None`: from the pinned base) to another, by their places in the trace.
    pub difference: &'a dyn Fn(Option<usize>, usize) -> u64,
}

/// Who decides what is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Nothing ever is: the pinned base alone.
    Pinned,
    /// Every quorum that is not stored yet, over the oldest of so many slots; one slot keeps the last quorum. The
    /// nearest base is used.
    Ring {
        /// Slots, at least one.
        slots: usize,
    },
    /// One slot: a quorum is stored as soon as what was paid for differences since the last store, its own included,
    /// reaches what storing costs.
    ///
    /// Its stores never cost more than its differences, and on a trace that drifts (a later base is never farther) the
    /// whole never costs more than twice the optimum and one difference a store. **On any trace there is no such bound**:
    /// it stores the quorum that happens to be there, and a stray one at that moment is paid for until the next store.
    SkiRental,
}

/// What a policy came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// Differences and stores.
    pub cost: u64,
    /// Differences alone.
    pub differences: u64,
    /// Which quorums were stored.
    pub stored: Vec<usize>,
}

impl Trace<'_> {
    /// Runs a policy.
    ///
    /// # Panics
    /// If a ring has no slots.
    pub fn run(&self, policy: Policy) -> Outcome {
        let (mut differences, mut stored) = (0, Vec::<usize>::new());
        let mut paid = 0;
        for quorum in 0..self.quorums {
            let slots = match policy {
                Policy::Pinned => 0,
                Policy::Ring { slots } => {
                    assert!(slots > 0, "a ring has slots");
                    slots
                }
                Policy::SkiRental => 1,
            };
            let held = &stored[stored.len() - slots.min(stored.len())..];
            let cost = self.nearest(held, quorum);
            differences += cost;
            paid += cost;
            let stores = match policy {
                Policy::Pinned => false,
                Policy::Ring { .. } => cost > 0,
                Policy::SkiRental => paid >= self.store && cost > 0,
            };
            if stores {
                stored.push(quorum);
                paid = 0;
            }
        }
        Outcome { cost: differences + self.store * stored.len() as u64, differences, stored }
    }

    /// The least that any policy with one slot can come to, which stores quorums of the trace and after they came: the
    /// exact optimum of that class, with the whole trace known. The shortest path over "stored last", O(n²) differences.
    pub fn optimum(&self) -> Outcome {
        // best[i]: the least cost of everything up to i, i stored; differences alone; the one stored before.
        let mut best: Vec<Option<(u64, u64, Option<usize>)>> = vec![None; self.quorums];
        let mut end: Option<(u64, u64, Option<usize>)> = None;
        for last in std::iter::once(None).chain((0..self.quorums).map(Some)) {
            let Some((mut cost, mut differences, _)) = last.map_or(Some((0, 0, None)), |i| best[i]) else { continue };
            for (next, best) in best.iter_mut().enumerate().skip(last.map_or(0, |i| i + 1)) {
                let difference = self.nearest(last.as_slice(), next);
                cost += difference;
                differences += difference;
                improve(best, (cost + self.store, differences, last));
            }
            improve(&mut end, (cost, differences, last));
        }
        let (cost, differences, mut last) = end.expect("to store nothing is one way");
        let mut stored = Vec::new();
        while let Some(i) = last {
            stored.push(i);
            last = best[i].and_then(|(_, _, before)| before);
        }
        stored.reverse();
        Outcome { cost, differences, stored }
    }

    /// A lower bound for every policy with any number of slots: each quorum from the nearest that came before it or the
    /// pinned base, and stores for nothing. Not attained in general.
    pub fn lower_bound(&self) -> u64 {
        let earlier: Vec<_> = (0..self.quorums).collect();
        (0..self.quorums).map(|quorum| self.nearest(&earlier[..quorum], quorum)).sum()
    }

    fn nearest(&self, held: &[usize], quorum: usize) -> u64 {
        let from = held.iter().map(|base| (self.difference)(Some(*base), quorum));
        from.fold((self.difference)(None, quorum), u64::min)
    }
}

fn improve<T: Ord + Copy>(best: &mut Option<T>, other: T) {
    if best.is_none_or(|best| other < best) {
        *best = Some(other);
    }
}
