//! How much gossip a network needs, and how soon an aggregator has a quorum, without faults.
//!
//! [`super::run`] steps every node at every message, which is too slow for thousands of nodes. This computes the same for
//! one task. A message floods the mesh of its audience, so each member forwards it to all neighbours but the one it came
//! from, and it reaches a member on the fastest path. In each group and branch one member publishes the sum as soon as it
//! holds all signatures.

use std::{cmp::Reverse, collections::BinaryHeap};

use quorate_evm::{
    MemberSet, SnapshotId,
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};

use super::{chance::Chance, mesh::mesh, signer};
use quorate_network::{
    election::Snapshot,
    groups::Groups,
    message::{Attestation, Branch, MAX_SIGNATURE, Message, PartialSum, Signed, candidate_for},
    wire,
};

/// What one task costs a network of nodes that all attest, with gossip to about `degree` neighbours.
#[derive(Clone, Debug, PartialEq)]
pub struct Figures {
    /// How many nodes.
    pub nodes: usize,
    /// How many groups.
    pub groups: usize,
    /// Neighbours of a node in each mesh, at most.
    pub degree: usize,
    /// Messages that a node sends, on average.
    pub messages_a_node: f64,
    /// Messages that the busiest node sends.
    pub most_messages: u64,
    /// Bytes that a node sends, on average. Signatures have 96 bytes; the task's payload is not sent, and its result is empty.
    pub bytes_a_node: f64,
    /// Milliseconds from the publication of the result until the aggregator holds more than two thirds of the signatures.
    pub quorum_ms: u64,
    /// The same until it holds all.
    pub all_ms: u64,
}

/// Measures one task in random meshes: nodes of equal weight in groups of at most `group`, each message between two
/// neighbours takes a time drawn from `latency` (milliseconds, both included), and each attester needs `work` milliseconds
/// to check and sign. The same seed gives the same figures. `nodes` is at least 2.
///
/// Cost: a shortest-path search over a mesh for the result, and one for each sum.
pub fn measure(nodes: usize, group: usize, degree: usize, latency: (u64, u64), work: u64, seed: u64) -> Figures {
    let mut chance = Chance::new(seed);
    let nodes = nodes.max(2);
    let members = vec![(1, Address::ZERO); nodes];
    let snapshot = Snapshot::new(1, SnapshotId::ZERO, B256::from(chance.word()), members, nodes as u128 * 2 / 3);
    let snapshot = snapshot.expect("nodes of equal weight are a snapshot");
    let groups = Groups::new(&snapshot, group.max(1));
    let mut flow = Flow { groups: &groups, degree, latency, chance, sent: vec![0; nodes], bytes: 0 };

    let (performer, aggregator) = (flow.chance.below(nodes), flow.chance.below(nodes));
    let everybody = flow.mesh(groups.whole());
    let candidate = candidate_for(1, SnapshotId::ZERO, B256::ZERO, nodes as u32 - 1, &[]);
    let signature: Bytes = signer::sign(0, &candidate).repeat(MAX_SIGNATURE / 8).into();
    let size =
        |message| wire::encode(&Message::Signed(message), Contract { chain_id: 1, address: Address::ZERO }).len();
    let attestation = Attestation::new(candidate, nodes as u32 - 1, signature.clone());
    let attestation = size(Signed::Attestation(attestation.expect("96 bytes are a signature's length")));
    let published = everybody.from(performer);
    // The result is as long as an attestation, and is its performer's.
    flow.floods(&everybody, performer, attestation);
    let attested: Vec<u64> =
        (0..nodes).map(|node| if node == performer { 0 } else { published[node] + work }).collect();

    // When signatures arrive at those who add them up, level by level: the time and the number of signers of each.
    let mut sums: Vec<(Branch, u64, usize)> = Vec::new();
    let mut arrivals: Vec<(u64, usize)> = Vec::new();
    let whole = groups.whole();
    if whole.level == 0 {
        let back = everybody.to(aggregator);
        for node in (0..nodes).filter(|node| *node != performer) {
            flow.floods(&everybody, node, attestation);
            arrivals.push((attested[node] + back[node], 1));
        }
        arrivals.push((back[performer], 1));
    }
    for level in 0..whole.level {
        let branches: Vec<Branch> = {
            let mut all: Vec<_> = (0..nodes as u32).filter_map(|index| groups.path(index).nth(level.into())).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        for branch in branches {
            let members = groups.members(branch);
            let summer = members[flow.chance.below(members.len())] as usize;
            let mesh = flow.mesh(branch);
            let back = mesh.to(summer);
            let mut complete = 0;
            if level == 0 {
                for member in members.iter().map(|index| *index as usize).filter(|member| *member != performer) {
                    flow.floods(&mesh, member, attestation);
                    complete = complete.max(attested[member] + back[member]);
                }
            } else {
                // The sums of the branches below were published into this mesh.
                let below: Vec<_> = sums.iter().filter(|(sum, ..)| sum.above() == branch).copied().collect();
                for (of, time, author) in below {
                    flow.floods(&mesh, author, sum_size(&groups, of, candidate, &signature, &size));
                    complete = complete.max(time + back[author]);
                }
            }
            sums.push((branch, complete, summer));
        }
    }
    if whole.level != 0 {
        let back = everybody.to(aggregator);
        for (of, time, author) in sums.iter().filter(|(of, ..)| of.above() == whole) {
            flow.floods(&everybody, *author, sum_size(&groups, *of, candidate, &signature, &size));
            arrivals.push((time + back[*author], groups.members(*of).len()));
        }
    }
    arrivals.sort_unstable();
    let mut held = 0;
    let quorum = arrivals.iter().find(|(_, signers)| {
        held += signers;
        held > 2 * nodes / 3
    });
    Figures {
        nodes,
        groups: (0..nodes as u32).filter_map(|index| groups.group(index)).max().map_or(0, |last| last as usize + 1),
        degree,
        messages_a_node: flow.sent.iter().sum::<u64>() as f64 / nodes as f64,
        most_messages: flow.sent.iter().copied().max().unwrap_or(0),
        bytes_a_node: flow.bytes as f64 / nodes as f64,
        quorum_ms: quorum.map_or(0, |(time, _)| *time),
        all_ms: arrivals.last().map_or(0, |(time, _)| *time),
    }
}

/// The bytes of the sum of all members of a branch.
fn sum_size(
    groups: &Groups,
    branch: Branch,
    candidate: quorate_evm::Task,
    signature: &Bytes,
    size: &impl Fn(Signed) -> usize,
) -> usize {
    let all = MemberSet::full(groups.members(branch).len());
    let sum = PartialSum::new(candidate, branch, all, signature.clone());
    size(Signed::Sum(sum.expect("a branch has members, and fewer than a bitmap can name")))
}

/// What was sent so far, and what sends it.
struct Flow<'a> {
    groups: &'a Groups,
    degree: usize,
    latency: (u64, u64),
    chance: Chance,
    /// Messages by node.
    sent: Vec<u64>,
    /// Bytes of all.
    bytes: u64,
}

/// The mesh of a branch: of each member the links to others, with the time of a message.
struct Mesh {
    members: Vec<usize>,
    nodes: usize,
    links: Vec<Vec<(usize, u64)>>,
}

impl Flow<'_> {
    fn mesh(&mut self, branch: Branch) -> Mesh {
        let mut members: Vec<usize> = self.groups.members(branch).iter().map(|index| *index as usize).collect();
        members.sort_unstable();
        let links = mesh(members.len(), self.degree, &mut self.chance);
        let timed = links.into_iter().map(|links| {
            links.into_iter().map(|to| (to, self.chance.between(self.latency.0, self.latency.1))).collect()
        });
        Mesh { links: timed.collect(), members, nodes: self.sent.len() }
    }

    /// Counts the messages of one that floods a mesh: its author sends it to all neighbours, and each other member to all but
    /// one.
    fn floods(&mut self, mesh: &Mesh, author: usize, size: usize) {
        for (member, links) in mesh.members.iter().zip(&mesh.links) {
            let sent = (links.len() - usize::from(*member != author)) as u64;
            self.sent[*member] += sent;
            self.bytes += sent * size as u64;
        }
    }
}

impl Mesh {
    /// The time from a member to each node that is one.
    fn from(&self, node: usize) -> Vec<u64> {
        self.spread(&self.links, node)
    }

    /// The time from each node to a member.
    fn to(&self, node: usize) -> Vec<u64> {
        let mut backwards = vec![Vec::new(); self.links.len()];
        for (from, links) in self.links.iter().enumerate() {
            for (to, time) in links {
                backwards[*to].push((from, *time));
            }
        }
        self.spread(&backwards, node)
    }

    fn spread(&self, links: &[Vec<(usize, u64)>], node: usize) -> Vec<u64> {
        let place = self.members.iter().position(|member| *member == node).expect("it is a member");
        let mut times = vec![u64::MAX; self.nodes];
        for (member, time) in self.members.iter().zip(distances(links, place)) {
            times[*member] = time;
        }
        times
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
