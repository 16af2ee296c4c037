//! Who forwards gossip to whom.

use std::collections::BTreeSet;

use super::chance::Chance;

/// For each node its neighbours: a ring through all, and random links until each has about `degree`.
pub(super) fn mesh(nodes: usize, degree: usize, chance: &mut Chance) -> Vec<Vec<usize>> {
    let mut links = vec![BTreeSet::new(); nodes];
    let mut ring: Vec<_> = (0..nodes).collect();
    chance.shuffle(&mut ring);
    for (place, node) in ring.iter().enumerate() {
        let next = ring[(place + 1) % nodes];
        if next != *node {
            links[*node].insert(next);
            links[next].insert(*node);
        }
    }
    for node in 0..nodes {
        // A node that finds no peer with room stays below the degree.
        for _ in 0..4 * degree {
            let other = chance.below(nodes);
            if links[node].len() < degree && links[other].len() < degree && other != node {
                links[node].insert(other);
                links[other].insert(node);
            }
        }
    }
    links.into_iter().map(|neighbours| neighbours.into_iter().collect()).collect()
}
