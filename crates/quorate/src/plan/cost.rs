//! What operations cost, in nanoseconds: the weights of the vertex cover, and what the plan chooses a pairing by.
//!
//! Medians of `quorate-bench curve`, a table for each back end: `miller` (its slope over the number of pairs, and what is
//! left at none), `final-exponentiation`, and for each group `hash`, `hash` less `hash-for-sums`, `clear-sums`, `subgroup`
//! and `weighted-16-64`. Only ratios matter, and they differ little between CPUs.

use quorate_curve::{Backend, Group, GroupId, Pairing};

use crate::suite::Suite;

/// Costs of one variant on one back end in products of one pairing, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A product of Miller loops, beside its pairs: squarings, inversions.
    pub product: u64,
    /// A pair of a product.
    pub pairing: u64,
    /// A final exponentiation.
    pub final_exponentiation: u64,
    /// What a search for one false claim costs more than in the pairing where it costs the least.
    pub search: u64,
    /// A message hashed to the signatures' group, as the pairing needs it.
    pub hash: u64,
    /// What that is less where the hash is only summed; nothing where the pairing takes every hash uncleared.
    pub saved_by_sum: u64,
    /// What a sum of such hashes costs to clear; nothing where the pairing takes it uncleared.
    pub clear_sum: u64,
    /// The membership check of a signature.
    pub subgroup_check: u64,
    /// The same through the weighted sum of the signatures.
    pub subgroup_check_in_sum: u64,
    /// A key times a weight of 64 bits, in a sum of 16.
    pub weighted_key: u64,
    /// A signature or a hash times a weight of 64 bits, in a sum of 16.
    pub weighted_signature: u64,
}

impl Costs {
    /// The costs of a variant.
    ///
    /// # Panics
    /// If the back end does not offer the pairing.
    pub fn of<S: Suite>(backend: Backend, pairing: Pairing) -> Self {
        let table = match backend {
            Backend::Portable => PORTABLE,
            #[cfg(target_arch = "x86_64")]
            Backend::Ifma(_) => LANES,
        };
        let (key, signature) = (table.group::<S::Key>(), table.group::<S::Signature>());
        let mut costs = Self {
            product: table.ate.product,
            pairing: table.ate.pairing,
            final_exponentiation: table.final_exponentiation,
            search: 0,
            hash: signature.hash,
            saved_by_sum: signature.saved_by_sum,
            clear_sum: signature.clear_sum,
            subgroup_check: signature.subgroup_check,
            subgroup_check_in_sum: signature.subgroup_check_in_sum,
            weighted_key: key.weighted,
            weighted_signature: signature.weighted,
        };
        if pairing == Pairing::TwistedAte {
            let LoopCosts { product, pairing } = table.twisted_ate.expect("the back end offers the pairing");
            // Beside the values that the batch left, a search takes about one vector, of two pairs a lane.
            let search = 8 * (product - costs.product + 2 * (pairing - costs.pairing));
            costs = Self { product, pairing, search, ..costs };
        }
        if backend.pairs_uncleared::<S::Signature>(pairing) {
            costs = Self { hash: costs.hash - costs.saved_by_sum, saved_by_sum: 0, clear_sum: 0, ..costs };
        }
        costs
    }

    /// What a message of so many edges costs in a cover: its pairing, a whole hash, a weighted key an edge.
    pub(super) fn message(&self, edges: u64) -> u64 {
        self.pairing + self.saved_by_sum + edges * self.weighted_key
    }

    /// What a key of so many edges costs in a cover: its pairing, a weighted hash an edge, the clearing of their sum.
    pub(super) fn key(&self, edges: u64) -> u64 {
        self.pairing + self.clear_sum + edges * self.weighted_signature
    }
}

/// The measured costs of a back end.
#[derive(Clone, Copy)]
struct Table {
    ate: LoopCosts,
    /// None where it does not offer it.
    twisted_ate: Option<LoopCosts>,
    final_exponentiation: u64,
    g1: GroupCosts,
    g2: GroupCosts,
}

/// A Miller loop: so much a product and so much a pair.
#[derive(Clone, Copy)]
struct LoopCosts {
    product: u64,
    pairing: u64,
}

#[derive(Clone, Copy)]
struct GroupCosts {
    hash: u64,
    saved_by_sum: u64,
    clear_sum: u64,
    subgroup_check: u64,
    subgroup_check_in_sum: u64,
    weighted: u64,
}

impl Table {
    fn group<G: Group>(self) -> GroupCosts {
        match G::ID {
            GroupId::G1 => self.g1,
            GroupId::G2 => self.g2,
        }
    }
}

#[cfg(target_arch = "x86_64")]
const LANES: Table = Table {
    ate: LoopCosts { product: 52_000, pairing: 24_300 },
    twisted_ate: Some(LoopCosts { product: 105_000, pairing: 37_700 }),
    final_exponentiation: 130_000,
    g1: GroupCosts {
        hash: 9_100,
        saved_by_sum: 3_300,
        clear_sum: 3_400,
        subgroup_check: 6_700,
        subgroup_check_in_sum: 6_700,
        weighted: 1_700,
    },
    g2: GroupCosts {
        hash: 30_700,
        saved_by_sum: 19_500,
        clear_sum: 19_100,
        subgroup_check: 8_800,
        subgroup_check_in_sum: 1_900,
        weighted: 3_700,
    },
};

const PORTABLE: Table = Table {
    ate: LoopCosts { product: 80_000, pairing: 170_000 },
    twisted_ate: None,
    final_exponentiation: 343_000,
    g1: GroupCosts {
        hash: 60_000,
        saved_by_sum: 0,
        clear_sum: 0,
        subgroup_check: 44_300,
        subgroup_check_in_sum: 44_300,
        weighted: 9_200,
    },
    g2: GroupCosts {
        hash: 182_000,
        saved_by_sum: 115_000,
        clear_sum: 113_000,
        subgroup_check: 51_700,
        subgroup_check_in_sum: 51_700,
        weighted: 17_200,
    },
};
