//! The vertex cover with the least weight in a bipartite graph. By König's theorem it is a minimum cut.
//!
//! A network leads from a source through the messages and then the keys to a sink. The capacity of a vertex is the cost
//! of its pairing, and the capacity of an edge has no bound. A minimum cut splits the network into the part that the
//! source reaches and the rest. The cover consists of the messages that the source does not reach and of the keys that
//! it reaches.
//!
//! Most components of real graphs are stars: one message that many keys signed, or one key that signed many messages. A
//! star needs no network, because there are only two covers to compare. The other components are cut.

use petgraph::{
    algo::maximum_flow::dinics,
    graph::{DiGraph, NodeIndex},
    unionfind::UnionFind,
    visit::EdgeRef,
};

use super::{cost::Costs, graph::Edge};

/// A cover and its cost.
pub(super) struct Cover {
    /// By message: whether the cover takes it. The cover also takes each key that has an edge to a message that is not
    /// taken.
    pub(super) messages: Vec<bool>,
    pub(super) cost: u64,
}

/// The cheapest cover.
///
/// `pairs` are the distinct edges, sorted. A vertex costs its pairing and the weighted sum over all its edges. That is
/// too much by a few microseconds for each edge between two vertices of the cover, since one of them alone serves the
/// edge.
pub(super) fn cheapest(pairs: &[Edge], keys: usize, messages: usize, costs: Costs) -> Cover {
    let (mut message_degree, mut key_degree) = (vec![0u64; messages], vec![0u64; keys]);
    for edge in pairs {
        message_degree[edge.message] += 1;
        key_degree[edge.key] += 1;
    }
    let graph = Weighted {
        message: message_degree.iter().map(|d| costs.message(*d)).collect(),
        key: key_degree.iter().map(|d| costs.key(*d)).collect(),
    };

    let mut covered = vec![false; messages];
    for component in components(pairs, keys, messages) {
        let first = component[0];
        let star_of_message = component.iter().all(|edge| edge.message == first.message);
        let star_of_key = component.iter().all(|edge| edge.key == first.key);
        if star_of_message {
            let all_keys: u64 = component.iter().map(|edge| graph.key[edge.key]).sum();
            covered[first.message] = graph.message[first.message] <= all_keys;
        } else if star_of_key {
            let all_messages: u64 = component.iter().map(|edge| graph.message[edge.message]).sum();
            let by_messages = all_messages <= graph.key[first.key];
            component.iter().for_each(|edge| covered[edge.message] = by_messages);
        } else {
            cut(&component, &graph, &mut covered);
        }
    }
    let cost = graph.cost(pairs, &covered);
    Cover { messages: covered, cost }
}

/// The costs of the vertices.
struct Weighted {
    message: Vec<u64>,
    key: Vec<u64>,
}

impl Weighted {
    fn cost(&self, pairs: &[Edge], covered: &[bool]) -> u64 {
        let keys = distinct(pairs.iter().filter(|edge| !covered[edge.message]).map(|edge| edge.key));
        let messages = self.message.iter().zip(covered).filter(|(_, covered)| **covered).map(|(cost, _)| cost);
        messages.sum::<u64>() + keys.into_iter().map(|key| self.key[key]).sum::<u64>()
    }
}

/// The edges of each connected component.
fn components(pairs: &[Edge], keys: usize, messages: usize) -> Vec<Vec<Edge>> {
    let mut sets = UnionFind::new(messages + keys);
    for edge in pairs {
        sets.union(edge.message, messages + edge.key);
    }
    const NONE: usize = usize::MAX;
    let mut index_of = vec![NONE; messages + keys];
    let mut components: Vec<Vec<Edge>> = Vec::new();
    for edge in pairs {
        let index = &mut index_of[sets.find_mut(edge.message)];
        if *index == NONE {
            *index = components.len();
            components.push(Vec::new());
        }
        components[*index].push(*edge);
    }
    components
}

/// Cuts one component, and marks which of its messages the cover takes.
fn cut(component: &[Edge], weighted: &Weighted, covered: &mut [bool]) {
    let messages = distinct(component.iter().map(|edge| edge.message));
    let keys = distinct(component.iter().map(|edge| edge.key));
    let place =
        |of: &[usize], vertex: usize| of.binary_search(&vertex).expect("every vertex of the component is listed");

    let (source, sink) = (0, 1);
    let message_node = |vertex| 2 + place(&messages, vertex);
    let key_node = |vertex| 2 + messages.len() + place(&keys, vertex);
    let mut network = DiGraph::<(), u64>::with_capacity(2 + messages.len() + keys.len(), component.len());
    for _ in 0..2 + messages.len() + keys.len() {
        network.add_node(());
    }
    let mut connect = |from: usize, to: usize, capacity: u64| {
        network.add_edge(NodeIndex::new(from), NodeIndex::new(to), capacity);
    };
    for message in &messages {
        connect(source, message_node(*message), weighted.message[*message]);
    }
    for key in &keys {
        connect(key_node(*key), sink, weighted.key[*key]);
    }
    // More than the source's edges can carry together, and so small that the flow's sum does not overflow.
    let unbounded = messages.iter().map(|m| weighted.message[*m]).sum::<u64>() + 1;
    for edge in component {
        connect(message_node(edge.message), key_node(edge.key), unbounded);
    }

    let (_, flow) = dinics(&network, NodeIndex::new(source), NodeIndex::new(sink));
    let reachable = residual_reach(&network, &flow, source);
    for message in &messages {
        covered[*message] = !reachable[message_node(*message)];
    }
}

/// Which nodes can be reached from `start` in the residual network of a flow.
fn residual_reach(network: &DiGraph<(), u64>, flow: &[u64], start: usize) -> Vec<bool> {
    let mut reached = vec![false; network.node_count()];
    reached[start] = true;
    let mut stack = vec![NodeIndex::new(start)];
    while let Some(node) = stack.pop() {
        let forward = network.edges(node).filter(|e| flow[e.id().index()] < *e.weight()).map(|e| e.target());
        let backward = network
            .edges_directed(node, petgraph::Direction::Incoming)
            .filter(|e| flow[e.id().index()] > 0)
            .map(|e| e.source());
        for next in forward.chain(backward) {
            if !std::mem::replace(&mut reached[next.index()], true) {
                stack.push(next);
            }
        }
    }
    reached
}

fn distinct(vertices: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut list: Vec<_> = vertices.collect();
    list.sort_unstable();
    list.dedup();
    list
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::MinPk;
    use proptest::prelude::*;
    use quorate_curve::{Backend, Pairing};

    fn cost_of(covered: &[bool], pairs: &[Edge], keys: usize, costs: Costs) -> u64 {
        let degree = |test: &dyn Fn(&Edge) -> bool| pairs.iter().filter(|e| test(e)).count() as u64;
        let messages: u64 =
            (0..covered.len()).filter(|m| covered[*m]).map(|m| costs.message(degree(&|e| e.message == m))).sum();
        let keys: u64 = (0..keys)
            .filter(|k| pairs.iter().any(|e| e.key == *k && !covered[e.message]))
            .map(|k| costs.key(degree(&|e| e.key == k)))
            .sum();
        messages + keys
    }

    proptest! {
        /// Compares with every subset of the messages. The subset determines which keys a cover needs.
        #[test]
        fn no_cover_is_cheaper(
            edges in proptest::collection::vec((0usize..7, 0usize..7), 1..24),
            pairing in 1u64..50, weighted_key in 0u64..10, weighted_signature in 0u64..20,
        ) {
            let mut pairs: Vec<_> = edges.into_iter().map(|(message, key)| Edge { message, key }).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let costs = Costs { pairing, weighted_key, weighted_signature, ..Costs::of::<MinPk>(Backend::Portable, Pairing::Ate) };
            let Cover { messages: covered, cost: found } = cheapest(&pairs, 7, 7, costs);
            prop_assert_eq!(found, cost_of(&covered, &pairs, 7, costs));
            for subset in 0u32..128 {
                let other: Vec<_> = (0..7).map(|m| subset >> m & 1 == 1 && pairs.iter().any(|e| e.message == m)).collect();
                prop_assert!(found <= cost_of(&other, &pairs, 7, costs), "{covered:?} costs {found}, {other:?} less");
            }
        }
    }
}
