//! The vertex cover with the least weight in a bipartite graph. By König's theorem it is a minimum cut.
//!
//! A network leads from a source through the messages and then the keys to a sink. The capacity of a vertex is the cost
//! of its pairing, and the capacity of an edge has no bound. A minimum cut splits the network into the part that the
//! source reaches and the rest. The cover consists of the messages that the source does not reach and of the keys that
//! it reaches.
//!
//! Each connected component is cut alone. The cut is exact in a component of up to [`EXACT`] edges. In a larger one the
//! cover may cost up to a fifth more than the cheapest, so that an attacker cannot make a plan take longer than the
//! arithmetic that it plans: see [`flow`](super::flow).

use super::{cost::Costs, flow::Network, graph::Edge};

/// A cover and its cost.
pub(super) struct Cover {
    /// By message: whether the cover takes it. The cover also takes each key that has an edge to a message that is not
    /// taken.
    pub(super) messages: Vec<bool>,
    pub(super) cost: u64,
}

/// The cheapest cover, or nearly the cheapest if the graph has a component of more than [`EXACT`] edges.
///
/// `pairs` are the distinct edges, sorted. A vertex costs its pairing and the weighted sum over all its edges. That is
/// too much by a few microseconds for each edge between two vertices of the cover, since one of them alone serves the
/// edge.
///
/// The cover also takes each message in `only`, which has no edge in `pairs`.
pub(super) fn cheapest(
    pairs: &[Edge],
    keys: usize,
    only: &[bool],
    is_cached: impl Fn(usize) -> bool,
    costs: Costs,
) -> Cover {
    let mut are_cached = vec![true; keys];
    pairs.iter().filter(|edge| !is_cached(edge.message)).for_each(|edge| are_cached[edge.key] = false);
    let message_cost = |message, edges| costs.message(edges, is_cached(message));
    let key_cost = |key: usize, edges| costs.key(edges, are_cached[key]);
    let mut network = Network::new(pairs, only.len(), keys, message_cost, key_cost);
    let mut covered = only.to_vec();
    for component in network.components() {
        let phases = if network.size(&component) <= EXACT { usize::MAX } else { PHASES };
        network.cut(&component, phases).for_each(|message| covered[message] = true);
    }
    let cost = network.cover_cost(&covered);
    Cover { messages: covered, cost }
}

/// The most edges of a component that is cut exactly.
const EXACT: usize = 4096;

/// How many phases the flow of a larger component has.
const PHASES: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::MinPk;
    use proptest::prelude::*;
    use quorate_curve::{Backend, Pairing};

    fn cost_of(covered: &[bool], cached: &[bool], pairs: &[Edge], keys: usize, costs: Costs) -> u64 {
        let degree = |test: &dyn Fn(&Edge) -> bool| pairs.iter().filter(|e| test(e)).count() as u64;
        let messages: u64 = (0..covered.len())
            .filter(|m| covered[*m])
            .map(|m| costs.message(degree(&|e| e.message == m), cached[m]))
            .sum();
        let keys: u64 = (0..keys)
            .filter(|k| pairs.iter().any(|e| e.key == *k && !covered[e.message]))
            .map(|k| costs.key(degree(&|e| e.key == k), pairs.iter().all(|e| e.key != k || cached[e.message])))
            .sum();
        messages + keys
    }

    proptest! {
        /// Compares with every subset of the messages. The subset determines which keys a cover needs.
        #[test]
        fn no_cover_is_cheaper(
            edges in proptest::collection::vec((0usize..7, 0usize..7), 1..24),
            pairing in 1u64..50, weighted_key in 0u64..10, weighted_signature in 0u64..20,
            clear in 0u64..40, cached in proptest::array::uniform7(proptest::bool::ANY),
        ) {
            let mut pairs: Vec<_> = edges.into_iter().map(|(message, key)| Edge { message, key }).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let of_backend = Costs::of::<MinPk>(Backend::Portable, Pairing::Ate);
            let (saved_by_sum, clear_sum) = (clear, clear + 1);
            let costs = Costs { pairing, weighted_key, weighted_signature, saved_by_sum, clear_sum, ..of_backend };
            let Cover { messages: covered, cost: found } = cheapest(&pairs, 7, &[false; 7], |m| cached[m], costs);
            prop_assert_eq!(found, cost_of(&covered, &cached, &pairs, 7, costs));
            for subset in 0u32..128 {
                let other: Vec<_> = (0..7).map(|m| subset >> m & 1 == 1 && pairs.iter().any(|e| e.message == m)).collect();
                prop_assert!(found <= cost_of(&other, &cached, &pairs, 7, costs), "{covered:?} costs {found}, {other:?} less");
            }
        }
    }
}
