//! What operations cost, in nanoseconds: the weights of the vertex cover.
//!
//! Medians of `quorate-bench curve`, engine `quorate/portable`: `miller` at 8, `final-exponentiation`, and for each group
//! `hash`, `hash` less `hash-for-sums`, `clear-sums`, `subgroup` and `weighted-16-64`. Only ratios matter, and they differ
//! little between CPUs.

use quorate_curve::Group;

use crate::suite::Suite;

/// Costs of one variant, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A Miller loop, its share of the common squarings included.
    pub pairing: u64,
    /// A final exponentiation.
    pub final_exponentiation: u64,
    /// A message hashed to the signatures' group.
    pub hash: u64,
    /// What that is less where the hash is only summed.
    pub saved_by_sum: u64,
    /// What a sum of such hashes costs to clear.
    pub clear_sum: u64,
    /// The membership check of a signature.
    pub subgroup_check: u64,
    /// A key times a weight of 64 bits, in a sum of 16.
    pub weighted_key: u64,
    /// A signature or a hash times a weight of 64 bits, in a sum of 16.
    pub weighted_signature: u64,
}

impl Costs {
    /// The costs of a variant.
    pub fn of<S: Suite>() -> Self {
        let (key, signature) = (GroupCosts::of::<S::Key>(), GroupCosts::of::<S::Signature>());
        Self {
            pairing: 182_000,
            final_exponentiation: 343_000,
            hash: signature.hash,
            saved_by_sum: signature.saved_by_sum,
            clear_sum: signature.clear_sum,
            subgroup_check: signature.subgroup_check,
            weighted_key: key.weighted,
            weighted_signature: signature.weighted,
        }
    }
}

impl Costs {
    /// What a message of so many edges costs in a cover: its pairing, a whole hash, a weighted key an edge.
    pub(super) fn message(&self, edges: u64) -> u64 {
        self.pairing + self.saved_by_sum + edges * self.weighted_key
    }

    /// What a key of so many edges costs in a cover: its pairing, a weighted hash an edge, the clearing of their sum.
    pub(super) fn key(&self, edges: u64) -> u64 {
        self.pairing + self.clear_sum + edges * self.weighted_signature
    }
}

struct GroupCosts {
    hash: u64,
    saved_by_sum: u64,
    clear_sum: u64,
    subgroup_check: u64,
    weighted: u64,
}

impl GroupCosts {
    fn of<G: Group>() -> Self {
        match G::NAME {
            "G1" => Self { hash: 60_000, saved_by_sum: 0, clear_sum: 0, subgroup_check: 44_300, weighted: 9_200 },
            _ => Self {
                hash: 182_000,
                saved_by_sum: 115_000,
                clear_sum: 113_000,
                subgroup_check: 51_700,
                weighted: 17_200,
            },
        }
    }
}
