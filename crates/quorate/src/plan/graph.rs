//! The claims as a bipartite graph: a vertex for each distinct key and each distinct message, and an edge for each
//! statement.

use std::{collections::HashMap, ops::Range, sync::Arc};

use super::term::{Defective, Message, Vertex};
use crate::{claim::Claim, key::PublicKey, suite::Suite};

/// Claims as a graph of keys and messages.
pub(super) struct Graph<S: Suite> {
    pub(super) defects: Vec<Defective>,
    pub(super) live: Vec<Live>,
    pub(super) keys: Vec<PublicKey<S>>,
    pub(super) messages: Vec<Message<S>>,
    /// An edge for each statement, in the order of the claims.
    pub(super) edges: Vec<Edge>,
    /// The edges without repeats that a key can cover as well as a message. It leaves out all edges of a message in `only`.
    pub(super) pairs: Vec<Edge>,
    /// By message: whether a claim sums keys with coefficients over it. Only the message can cover the edges of such a claim,
    /// because a hash is not multiplied by a weight and a coefficient.
    pub(super) only: Vec<bool>,
}

/// A claim without a defect.
pub(super) struct Live {
    /// Its index among the claims that are planned.
    pub(super) claim: usize,
    pub(super) edges: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edge {
    pub(super) message: usize,
    pub(super) key: usize,
}

impl<S: Suite> Graph<S> {
    pub(super) fn new(claims: &[Claim<S>]) -> Self {
        let mut key_index = HashMap::new();
        // The number of each tag and body, and the messages by that number and by the vertex of the key in front of the body.
        let mut unprefixed = HashMap::new();
        let mut message_index = HashMap::new();
        let mut graph = Self {
            defects: Vec::new(),
            live: Vec::with_capacity(claims.len()),
            keys: Vec::new(),
            messages: Vec::new(),
            edges: Vec::new(),
            pairs: Vec::new(),
            only: Vec::new(),
        };
        for (index, claim) in claims.iter().enumerate() {
            if let Some(defect) = claim.defect() {
                graph.defects.push(Defective { index, source: claim.source().cloned(), reason: defect.into() });
                continue;
            }
            let start = graph.edges.len();
            let has_coefficients = claim.has_coefficients();
            // The body of the statement before, its number and its message.
            let mut last: Option<(&Arc<[u8]>, usize, usize)> = None;
            for (key, body) in claim.statements() {
                let key_vertex = *key_index.entry(key).or_insert_with(|| {
                    graph.keys.push(key);
                    graph.keys.len() - 1
                });
                let prefix = claim.is_augmented().then_some(key_vertex);
                // Keys over one message share its allocation, so its bytes are read once for them all.
                let number = match last {
                    Some((same, _, message)) if prefix.is_none() && Arc::ptr_eq(same, body) => {
                        graph.edges.push(Edge { message, key: key_vertex });
                        continue;
                    }
                    Some((same, number, _)) if Arc::ptr_eq(same, body) => number,
                    _ => {
                        let next = unprefixed.len();
                        *unprefixed.entry((claim.tag(), &body[..])).or_insert(next)
                    }
                };
                let message = *message_index.entry((number, prefix)).or_insert_with(|| {
                    let prefix = prefix.map(|_| key);
                    graph.messages.push(Message { tag: claim.tag().clone(), prefix, body: body.clone() });
                    graph.only.push(false);
                    graph.messages.len() - 1
                });
                last = Some((body, number, message));
                graph.only[message] |= has_coefficients;
                graph.edges.push(Edge { message, key: key_vertex });
            }
            graph.live.push(Live { claim: index, edges: start..graph.edges.len() });
        }
        graph.pairs = graph.edges.iter().filter(|edge| !graph.only[edge.message]).copied().collect();
        graph.pairs.sort_unstable();
        graph.pairs.dedup();
        graph
    }

    /// How many terms a plan has whose cover takes these messages.
    pub(super) fn terms(&self, covered: &[bool]) -> usize {
        let mut by_key = vec![false; self.keys.len()];
        self.pairs.iter().filter(|edge| !covered[edge.message]).for_each(|edge| by_key[edge.key] = true);
        covered.iter().chain(&by_key).filter(|taken| **taken).count()
    }
}

/// Which term each edge belongs to: the term of its message if the cover takes the message, else the term of its key.
pub(super) struct TermIndex<'a> {
    pub(super) covered: &'a [bool],
    of_message: Vec<usize>,
    of_key: Vec<usize>,
    pub(super) vertices: Vec<Vertex>,
}

impl<'a> TermIndex<'a> {
    pub(super) fn new<S: Suite>(graph: &Graph<S>, covered: &'a [bool]) -> Self {
        const NONE: usize = usize::MAX;
        let mut index = Self {
            covered,
            of_message: vec![NONE; graph.messages.len()],
            of_key: vec![NONE; graph.keys.len()],
            vertices: Vec::new(),
        };
        for edge in &graph.edges {
            let (slot, vertex) = if covered[edge.message] {
                (&mut index.of_message[edge.message], Vertex::Message(edge.message))
            } else {
                (&mut index.of_key[edge.key], Vertex::Key(edge.key))
            };
            if *slot == NONE {
                *slot = index.vertices.len();
                index.vertices.push(vertex);
            }
        }
        index
    }

    pub(super) fn index(&self, edge: &Edge) -> usize {
        if self.covered[edge.message] { self.of_message[edge.message] } else { self.of_key[edge.key] }
    }
}
