//! How much gossip a network needs, and how soon an aggregator has a quorum, without faults.
//!
//! [`super::run`] steps every node at every message, which is too slow for thousands of nodes. This computes the same for
//! one task: each message floods the mesh, so a node forwards it to all neighbours but the one it came from, and it reaches
//! a node on the fastest path.

use std::{cmp::Reverse, collections::BinaryHeap};

use quorate_evm::{
    alloy_primitives::{Address, B256},
    digest::Contract,
};

use super::{chance::Chance, mesh::mesh, signer};
use crate::{
    message::{Attestation, MAX_SIGNATURE, Message, Signed, SnapshotId, candidate_for},
    wire,
};

/// What one task costs a network of nodes that all attest, with gossip to about `degree` neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// How many nodes.
    pub nodes: usize,
    /// Neighbours of a node, at most.
    pub degree: usize,
    /// Messages that a node sends, on average.
    pub messages_a_node: f64,
    /// Messages that the busiest node sends.
    pub most_messages: u64,
    /// Bytes that a node sends, on average. Signatures have 96 bytes; the task's payload is not sent.
    pub bytes_a_node: f64,
    /// Milliseconds from the publication of the result until the aggregator holds more than two thirds of the signatures.
    pub quorum_ms: u64,
    /// The same until it holds all.
    pub all_ms: u64,
}

/// Measures one task in a random mesh: nodes of equal weight, each message between two neighbours takes a time drawn from
/// `latency` (milliseconds, both included), and each attester needs `work` milliseconds to check and sign. The same seed
/// gives the same figures.
///
/// Cost: two shortest-path searches over the mesh. `nodes` is at least 2.
pub fn measure(nodes: usize, degree: usize, latency: (u64, u64), work: u64, seed: u64) -> Figures {
    let mut chance = Chance::new(seed);
    let nodes = nodes.max(2);
    let links = mesh(nodes, degree, &mut chance);
    // The time of a message over each link, in each direction.
    let times: Vec<Vec<(usize, u64)>> = links
        .iter()
        .map(|neighbours| neighbours.iter().map(|to| (*to, chance.between(latency.0, latency.1))).collect())
        .collect();
    let mut backwards = vec![Vec::new(); nodes];
    for (from, links) in times.iter().enumerate() {
        for (to, time) in links {
            backwards[*to].push((from, *time));
        }
    }
    let (performer, aggregator) = (chance.below(nodes), chance.below(nodes));
    let published = distances(&times, performer);
    let back = distances(&backwards, aggregator);
    let arrivals = (0..nodes).map(|node| match node == performer {
        true => back[node],
        false => published[node] + work + back[node],
    });
    let mut arrivals: Vec<_> = arrivals.collect();
    arrivals.sort_unstable();

    // Each of `nodes` messages, the result and the others' attestations, is sent by its author to all neighbours, and by
    // every other node to all but one. So a node with d neighbours sends nodes * (d - 1) + 1 messages.
    let sent = |node: usize| (nodes * (links[node].len() - 1) + 1) as u64;
    let candidate = candidate_for(1, SnapshotId::ZERO, B256::ZERO, nodes as u32 - 1, &[]);
    let signature = signer::sign(0, &candidate).repeat(MAX_SIGNATURE / 8).into();
    let attestation = Attestation::new(candidate, nodes as u32 - 1, signature);
    let message = Message::Signed(Signed::Attestation(attestation.expect("96 bytes are a signature's length")));
    let size = wire::encode(&message, Contract { chain_id: 1, address: Address::ZERO }).len();
    let all: u64 = (0..nodes).map(sent).sum();
    Figures {
        nodes,
        degree,
        messages_a_node: all as f64 / nodes as f64,
        most_messages: (0..nodes).map(sent).max().unwrap_or(0),
        bytes_a_node: all as f64 * size as f64 / nodes as f64,
        quorum_ms: arrivals[2 * nodes / 3],
        all_ms: arrivals[nodes - 1],
    }
}

/// The time from a node to each node (Dijkstra).
fn distances(links: &[Vec<(usize, u64)>], from: usize) -> Vec<u64> {
    let mut times = vec![u64::MAX; links.len()];
    let mut queue = BinaryHeap::from([Reverse((0, from))]);
    while let Some(Reverse((time, node))) = queue.pop() {
        if times[node] <= time {
            continue;
        }
        times[node] = time;
        for (to, more) in &links[node] {
            if time + more < times[*to] {
                queue.push(Reverse((time + more, *to)));
            }
        }
    }
    times
}
