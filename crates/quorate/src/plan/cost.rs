//! What operations cost, in nanoseconds. The costs are the weights of the vertex cover, and the plan compares pairings
//! by them.
//!
//! There is a table for each backend. The figures are medians of `quorate-bench curve`: `miller` (its slope over the
//! number of pairs, and its intercept), `final-exponentiation`, and for each group `hash`, `hash` minus
//! `hash-for-sums`, `clear-sums`, `subgroup`, `weighted-16-64` and `decode`. Only ratios matter, and they differ little between
//! CPUs. The costs of the lanes of doubles are those of `ifma` times the ratios of the two in one run. NEON takes
//! those of AVX2, whose registers hold twice as many doubles: nobody has measured it.

#[cfg(feature = "bn254")]
use quorate_curve::CurveId;
use quorate_curve::{Backend, BackendId, Group, GroupId, Pairing, PairingCurve};

use crate::suite::Suite;

/// The costs of one variant with one backend and one pairing, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// A product of Miller loops without its pairs: squarings and inversions.
    pub product: u64,
    /// Each pair of a product.
    pub pairing: u64,
    /// A final exponentiation.
    pub final_exponentiation: u64,
    /// How much more a search for one false claim costs than with the pairing in which it costs the least.
    pub search: u64,
    /// A message hashed to the group of signatures, cleared if the pairing needs cleared hashes.
    pub hash: u64,
    /// How much less a hash costs that is only summed, because the sum is cleared in its place. Zero if the pairing
    /// accepts uncleared hashes.
    pub saved_by_sum: u64,
    /// Clearing the cofactor of a sum of hashes. Zero if the pairing accepts uncleared hashes.
    pub clear_sum: u64,
    /// A signature decoded from its compressed bytes.
    pub decode_signature: u64,
    /// The check that a signature is in the subgroup.
    pub subgroup_check: u64,
    /// The same check as a part of the weighted sum of the signatures, for each signature.
    pub subgroup_check_in_sum: u64,
    /// The product of a key and a weight of 64 bits, in a sum of 16.
    pub weighted_key: u64,
    /// The product of a signature or a hash and a weight of 64 bits, in a sum of 16.
    pub weighted_signature: u64,
}

impl Costs {
    /// The costs of a variant.
    ///
    /// # Panics
    /// If the curve does not have the pairing.
    pub fn of<S: Suite>(backend: Backend, pairing: Pairing) -> Self {
        let table = match (S::Curve::ID, backend.id()) {
            #[cfg(feature = "bn254")]
            (CurveId::Bn254, BackendId::Portable) => BN254_PORTABLE,
            #[cfg(feature = "bn254")]
            (CurveId::Bn254, BackendId::Ifma) => BN254_IFMA,
            #[cfg(feature = "bn254")]
            (CurveId::Bn254, BackendId::FmaAvx512) => BN254_FMA_AVX512,
            #[cfg(feature = "bn254")]
            (CurveId::Bn254, BackendId::FmaAvx2 | BackendId::FmaNeon) => BN254_FMA_AVX2,
            (_, BackendId::Portable) => PORTABLE,
            (_, BackendId::Ifma) => IFMA,
            (_, BackendId::FmaAvx512) => FMA_AVX512,
            (_, BackendId::FmaAvx2 | BackendId::FmaNeon) => FMA_AVX2,
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
            decode_signature: signature.decode,
            subgroup_check: signature.subgroup_check,
            subgroup_check_in_sum: signature.subgroup_check_in_sum,
            weighted_key: key.weighted,
            weighted_signature: signature.weighted,
        };
        if pairing == Pairing::TwistedAte {
            let LoopCosts { product, pairing } = table.twisted_ate.expect("the curve has the pairing");
            // A search reuses the values of the batch. What it computes anew fills about one vector with two or three
            // pairs in each lane. Two are counted, since most batches need no search.
            let search = 8 * (product - costs.product + 2 * (pairing - costs.pairing));
            costs = Self { product, pairing, search, ..costs };
        }
        if backend.pairs_uncleared::<S::Signature>(pairing) {
            costs = Self { hash: costs.hash - costs.saved_by_sum, saved_by_sum: 0, clear_sum: 0, ..costs };
        }
        costs
    }

    /// What a message with so many edges costs in a cover: its pairing, the clearing of its hash, and a weighted key
    /// for each edge. A cached hash is cleared.
    pub(super) fn message(&self, edges: u64, is_cached: bool) -> u64 {
        let clear = if is_cached { 0 } else { self.saved_by_sum };
        self.pairing + clear + edges * self.weighted_key
    }

    /// What a key with so many edges costs in a cover: its pairing, a weighted hash for each edge, and the clearing of
    /// their sum, unless all of them are cached.
    pub(super) fn key(&self, edges: u64, are_cached: bool) -> u64 {
        let clear = if are_cached { 0 } else { self.clear_sum };
        self.pairing + clear + edges * self.weighted_signature
    }
}

/// The measured costs of a backend.
#[derive(Clone, Copy)]
struct Table {
    ate: LoopCosts,
    /// `None` if the curve does not have this pairing.
    twisted_ate: Option<LoopCosts>,
    final_exponentiation: u64,
    g1: GroupCosts,
    g2: GroupCosts,
}

/// A Miller loop: the cost of each product and of each pair.
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
    decode: u64,
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

const IFMA: Table = Table {
    ate: LoopCosts { product: 52_000, pairing: 24_300 },
    twisted_ate: Some(LoopCosts { product: 105_000, pairing: 37_700 }),
    final_exponentiation: 130_000,
    g1: GroupCosts {
        hash: 9_100,
        saved_by_sum: 3_300,
        clear_sum: 3_400,
        decode: 2_300,
        subgroup_check: 6_700,
        subgroup_check_in_sum: 1_800,
        weighted: 1_700,
    },
    g2: GroupCosts {
        hash: 30_700,
        saved_by_sum: 19_500,
        clear_sum: 19_100,
        decode: 4_600,
        subgroup_check: 8_800,
        subgroup_check_in_sum: 1_900,
        weighted: 3_700,
    },
};

const FMA_AVX512: Table = Table {
    ate: LoopCosts { product: 56_000, pairing: 32_600 },
    twisted_ate: Some(LoopCosts { product: 122_000, pairing: 49_300 }),
    final_exponentiation: 175_000,
    g1: GroupCosts {
        hash: 13_300,
        saved_by_sum: 4_700,
        clear_sum: 4_800,
        decode: 3_600,
        subgroup_check: 9_300,
        subgroup_check_in_sum: 2_100,
        weighted: 2_000,
    },
    g2: GroupCosts {
        hash: 42_500,
        saved_by_sum: 26_300,
        clear_sum: 26_000,
        decode: 7_000,
        subgroup_check: 12_100,
        subgroup_check_in_sum: 2_200,
        weighted: 4_500,
    },
};

const FMA_AVX2: Table = Table {
    ate: LoopCosts { product: 76_000, pairing: 39_500 },
    twisted_ate: Some(LoopCosts { product: 127_000, pairing: 69_800 }),
    final_exponentiation: 175_000,
    g1: GroupCosts {
        hash: 16_000,
        saved_by_sum: 6_600,
        clear_sum: 6_600,
        decode: 3_700,
        subgroup_check: 13_300,
        subgroup_check_in_sum: 2_700,
        weighted: 2_300,
    },
    g2: GroupCosts {
        hash: 51_300,
        saved_by_sum: 33_600,
        clear_sum: 34_000,
        decode: 7_400,
        subgroup_check: 15_400,
        subgroup_check_in_sum: 2_700,
        weighted: 5_700,
    },
};

const PORTABLE: Table = Table {
    ate: LoopCosts { product: 80_000, pairing: 170_000 },
    twisted_ate: Some(LoopCosts { product: 540_000, pairing: 245_000 }),
    final_exponentiation: 343_000,
    g1: GroupCosts {
        hash: 60_000,
        saved_by_sum: 0,
        clear_sum: 0,
        decode: 11_900,
        subgroup_check: 44_300,
        // Of 128 points, in G2 as well, by the ratio to a check of each.
        subgroup_check_in_sum: 14_000,
        weighted: 9_200,
    },
    g2: GroupCosts {
        hash: 182_000,
        saved_by_sum: 115_000,
        clear_sum: 113_000,
        decode: 24_200,
        subgroup_check: 51_700,
        subgroup_check_in_sum: 14_000,
        weighted: 17_200,
    },
};

/// A table of BN254, rounded from `quorate-bench bn254`: `miller`, `final-exponentiation`, `hash`, `subgroup-g2`, and `weighted-16-64` of both
/// groups. Every point of G1 is a member, so neither a check nor a cofactor costs anything there, and nothing is hashed to G2.
#[cfg(feature = "bn254")]
const fn bn254(
    ate: LoopCosts,
    final_exponentiation: u64,
    hash: u64,
    subgroup_check: u64,
    [weighted_g1, weighted_g2]: [u64; 2],
) -> Table {
    let nothing = GroupCosts {
        hash: 0,
        saved_by_sum: 0,
        clear_sum: 0,
        decode: 0,
        subgroup_check: 0,
        subgroup_check_in_sum: 0,
        weighted: 0,
    };
    Table {
        ate,
        twisted_ate: None,
        final_exponentiation,
        g1: GroupCosts { hash, decode: 700, weighted: weighted_g1, ..nothing },
        g2: GroupCosts {
            decode: 2_000,
            subgroup_check,
            subgroup_check_in_sum: subgroup_check,
            weighted: weighted_g2,
            ..nothing
        },
    }
}

#[cfg(feature = "bn254")]
const BN254_IFMA: Table = bn254(LoopCosts { product: 30_000, pairing: 25_000 }, 113_000, 8_000, 10_300, [2_500, 5_000]);

#[cfg(feature = "bn254")]
const BN254_FMA_AVX512: Table =
    bn254(LoopCosts { product: 60_000, pairing: 39_000 }, 130_000, 12_000, 16_000, [2_800, 5_900]);

#[cfg(feature = "bn254")]
const BN254_FMA_AVX2: Table =
    bn254(LoopCosts { product: 60_000, pairing: 64_000 }, 260_000, 17_000, 27_000, [4_400, 7_900]);

#[cfg(feature = "bn254")]
const BN254_PORTABLE: Table =
    bn254(LoopCosts { product: 260_000, pairing: 122_000 }, 265_000, 30_000, 65_000, [5_600, 18_000]);
