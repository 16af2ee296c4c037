//! When to store a new base: the cost of policies over a trace of quorums, and the lowest possible cost.
//!
//! The caller supplies the costs: a [`Trace`] says what it costs to get from one quorum to another, and to store one. One
//! base, the *pinned* one, exists from the start and costs nothing to store: the full set, say, or the empty quorum. `None`
//! stands for it.

/// A sequence of quorums, described by their costs.
pub struct Trace<'a> {
    /// The number of quorums.
    pub quorums: usize,
    /// The cost of storing a quorum as a base.
    pub store: u64,
    /// The cost of the way from a stored quorum, or from the pinned base for `None`, to another quorum. Both are indices of
    /// the trace.
    pub difference: &'a dyn Fn(Option<usize>, usize) -> u64,
}

/// A rule that decides which quorums are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Policy {
    /// Store nothing; the pinned base is the only one.
    Pinned,
    /// Store every quorum that is not stored yet, in place of the oldest one. With one slot, the ring holds the last quorum.
    Ring {
        /// The number of slots, at least one.
        slots: usize,
    },
    /// One slot. Add up the cost of the ways since the last store; as soon as the sum, with the current quorum's way,
    /// reaches the cost of storing, store the current quorum.
    ///
    /// The stores never cost more than the ways. If quorums only drift, so that a later base is never farther away, the
    /// total is at most twice the optimum plus one way for each store. **For other traces there is no such bound**: the
    /// policy may store an unusual quorum, and then every way is long until the next store.
    SkiRental,
}

/// The result of a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyOutcome {
    /// The cost of the ways and of the stores.
    pub cost: u64,
    /// The cost of the ways alone.
    pub differences: u64,
    /// The quorums that were stored, as indices of the trace.
    pub stored: Vec<usize>,
}

impl Trace<'_> {
    /// Applies a policy. Each quorum is reached from the nearest base.
    ///
    /// # Panics
    /// If a ring has zero slots.
    pub fn run(&self, policy: Policy) -> PolicyOutcome {
        let (mut differences, mut stored) = (0, Vec::<usize>::new());
        let mut paid = 0;
        for quorum in 0..self.quorums {
            let slots = match policy {
                Policy::Pinned => 0,
                Policy::Ring { slots } => {
                    assert!(slots > 0, "a ring has at least one slot");
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
        PolicyOutcome { cost: differences + self.store * stored.len() as u64, differences, stored }
    }

    /// The lowest cost of any policy that has one slot and stores only the current quorum, if it knew the whole trace. It is
    /// the shortest path over the states "quorum i was stored last", and computes O(n²) ways.
    pub fn optimum(&self) -> PolicyOutcome {
        // best[i]: the lowest cost up to quorum i if i is stored; the ways in it; the quorum that was stored before i.
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
        let (cost, differences, mut last) = end.expect("storing nothing is always possible");
        let mut stored = Vec::new();
        while let Some(i) = last {
            stored.push(i);
            last = best[i].and_then(|(_, _, before)| before);
        }
        stored.reverse();
        PolicyOutcome { cost, differences, stored }
    }

    /// A lower bound on the cost of every policy with any number of slots: each quorum is reached from the nearest of all
    /// earlier quorums and the pinned base, and stores cost nothing. In general no policy attains it.
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
