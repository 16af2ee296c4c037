//! The gas of a settlement.
//!
//! The protocol's prices are constants, each with the proposal that sets it. The prices of the contracts' own code are in
//! [`Measured`], fitted to whole transactions. No other module of this crate contains a number of gas.

use crate::key_group::KeyGroup;

/// The most gas of a transaction (EIP-7825).
pub const MOST_GAS: u64 = 1 << 24;

/// A transaction would take more gas than one may have, whatever node it is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the transaction takes about {total} gas, and one has at most {MOST_GAS} (2^24, EIP-7825), whatever the node allows. Put keys into \
     pages (`quorate evm call compact`) and weights into pages (`quorate evm call publish`), settle fewer results at once, or let a \
     smaller quorum store a base first (--store 0)"
)]
pub struct AboveMostGas {
    /// The gas that is estimated.
    pub total: u64,
}

/// Refuses a planned transaction above [`MOST_GAS`].
///
/// # Errors
/// [`AboveMostGas`].
pub fn check_total(total: u64) -> Result<(), AboveMostGas> {
    if total <= MOST_GAS { Ok(()) } else { Err(AboveMostGas { total }) }
}

/// The base price of a transaction.
pub const TRANSACTION: u64 = 21_000;
/// EIP-2028: a zero byte of calldata.
pub const CALLDATA_ZERO: u64 = 4;
/// EIP-2028: a nonzero byte of calldata.
pub const CALLDATA_NONZERO: u64 = 16;
/// EIP-7623: the least price of a token of calldata. A zero byte is one token, a nonzero byte four.
pub const CALLDATA_FLOOR: u64 = 10;
/// Nodes keep no transaction of more than 131,072 bytes. Some are kept for what stands around the calldata.
pub const MOST_BYTES: u64 = 131_072 - 1_024;
/// More results than these are in no such transaction, whatever else stands in it: each has 32 bytes.
pub const MOST_RESULTS: usize = MOST_BYTES as usize / 32;
/// EIP-2929: the first read of a storage slot.
pub const COLD_SLOT: u64 = 2_100;
/// EIP-2929: the first access to an account, such as a page.
pub const COLD_ACCOUNT: u64 = 2_600;
/// EIP-2929: a later access to an account, or any access to one in the access list.
pub const WARM_ACCOUNT: u64 = 100;
/// EIP-2930: an address in the access list.
pub const LISTED_ADDRESS: u64 = 2_400;
/// EIP-2200 with EIP-2929: a write to a slot that was read before and is not zero.
pub const CHANGE_SLOT: u64 = 2_900;
/// EIP-2200: a write to a slot that is zero.
pub const FILL_SLOT: u64 = 20_000;
/// The log of a settlement, with one topic.
pub const LOG: u64 = 2 * 375;
/// A word of data in that log.
pub const LOG_WORD: u64 = 8 * 32;
/// A word that is copied from calldata (3), with its memory (3), and hashed (6).
pub const PASSED_WORD: u64 = 12;
/// EIP-1108: an addition in G1 of BN254.
pub const BN254_ADD: u64 = 150;
/// EIP-1108: a multiplication in G1 of BN254.
pub const BN254_MULTIPLY: u64 = 6_000;
/// EIP-1108: a product of pairings on BN254, and each pairing in it.
pub const BN254_PRODUCT: (u64, u64) = (45_000, 34_000);
/// EIP-1108: a product of two pairings on BN254.
pub const BN254_PAIRINGS: u64 = BN254_PRODUCT.0 + 2 * BN254_PRODUCT.1;
/// EIP-2537: a product of pairings on BLS12-381, and each pairing in it.
pub const BLS12381_PRODUCT: (u64, u64) = (37_700, 32_600);
/// EIP-2537: a product of two pairings on BLS12-381.
pub const BLS12381_PAIRINGS: u64 = BLS12381_PRODUCT.0 + 2 * BLS12381_PRODUCT.1;

/// The prices of the contracts' own code. The defaults are fitted to the transactions of `quorate-bench gas`, which asserts
/// that the model is within 2 % of every settlement of one quorum. The tests assert the same of the contracts' gas snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Once for each call: dispatch, decoding, the arithmetic of the head.
    pub settle: u64,
    /// What `settleAll` costs more than `settle`, for its array.
    pub settle_all: u64,
    /// Opening a page of keys, besides the cold account: its address, its header, and a part of the loop over members.
    pub open_keys: u64,
    /// Opening a page of weights, besides the cold account and the words that are read.
    pub open_weights: u64,
    /// Reading a part of the weights from calldata, besides its hash in a cold slot, and the bytes.
    pub pass_weights: u64,
    /// Each further word of the bitmaps, of 256 members.
    pub word: u64,
    /// A changed member: its turn in the loop, and the addition of its key; and where pages add their keys themselves, reading
    /// the key.
    pub change: PerKeyGroup,
    /// Each further call of a page that adds its keys itself.
    pub call: u64,
    /// The same as `change` with keys in G2 of BN254, if the call passes the slope.
    pub change_by_slope: u64,
    /// A copy from an open page, besides the words and their memory.
    pub copy: u64,
    /// Reading a key from calldata and hashing it, besides the cold slot in which its index is.
    pub pass_key: u64,
    /// The loop over the bitmaps, and the sum in affine coordinates.
    pub finish: PerKeyGroup,
    /// The same if the call passes slopes, with which the sum is affine already.
    pub finish_by_slope: u64,
    /// Reading a weight from an open page.
    pub weigh: u64,
    /// Copying and hashing the base's preimage.
    pub open_base: u64,
    /// Hashing the preimage of the quorum that is stored.
    pub commit: u64,
    /// Computing a digest, hashing it to the curve by its hint, and adding it to the others.
    pub digest: PerKeyGroup,
    /// Hashing a result.
    pub result: u64,
    /// The pairing equation, with its precompiles.
    pub check: PerKeyGroup,
    /// A hub, once for each call: dispatch, decoding, the end of the product.
    pub hub: u64,
    /// The same for each quorum: the call of its settlement, and what it answers.
    pub hub_quorum: u64,
    /// `TaskNetwork.submitTasks`, once for each call: dispatch, decoding, the call of the verifier.
    pub submit: u64,
    /// The same for each task: its digest, and the loop.
    pub submit_task: u64,
    /// The first rejected task of a call: its performer's election, besides the weights.
    pub reject: u64,
    /// Reading the weight of each key to elect that performer.
    pub reject_key: u64,
    /// Fining a performer, besides what is written and logged.
    pub fine: u64,
}

/// A number for each [`KeyGroup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerKeyGroup {
    /// BN254, keys in G2.
    pub bn254_g2: u64,
    /// BN254, keys in G1.
    pub bn254_g1: u64,
    /// BLS12-381, keys in G2.
    pub bls12381_g2: u64,
    /// BLS12-381, keys in G2, digests hashed by one map.
    pub bls12381_g2_nu: u64,
}

impl PerKeyGroup {
    /// The number of a key group.
    pub fn of(&self, key_group: KeyGroup) -> u64 {
        match key_group {
            KeyGroup::Bn254G2 => self.bn254_g2,
            KeyGroup::Bn254G1 => self.bn254_g1,
            KeyGroup::Bls12381G2 => self.bls12381_g2,
            KeyGroup::Bls12381G2Nu => self.bls12381_g2_nu,
        }
    }
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            settle: 1_400,
            settle_all: 570,
            open_keys: 1_850,
            open_weights: 2_800,
            pass_weights: 2_500,
            word: 390,
            change: PerKeyGroup { bn254_g2: 1_660, bn254_g1: 367, bls12381_g2: 890, bls12381_g2_nu: 890 },
            call: 690,
            change_by_slope: 889,
            copy: 118,
            pass_key: 600,
            finish: PerKeyGroup { bn254_g2: 1_460, bn254_g1: 1_150, bls12381_g2: 2_050, bls12381_g2_nu: 2_050 },
            finish_by_slope: 810,
            weigh: 95,
            open_base: 930,
            commit: 490,
            digest: PerKeyGroup { bn254_g2: 780, bn254_g1: 780, bls12381_g2: 15_120, bls12381_g2_nu: 7_990 },
            result: 60,
            check: PerKeyGroup {
                bn254_g2: BN254_PAIRINGS + 2_160,
                bn254_g1: BN254_PAIRINGS + 2 * (BN254_MULTIPLY + BN254_ADD) + 3_320,
                bls12381_g2: BLS12381_PAIRINGS + 2_250,
                bls12381_g2_nu: BLS12381_PAIRINGS + 2_250,
            },
            hub: 1_900,
            hub_quorum: 8_150,
            submit: 7_000,
            submit_task: 1_500,
            reject: 13_600,
            reject_key: 390,
            fine: 2_680,
        }
    }
}

/// The bytes of calldata, by price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calldata {
    /// The number of zero bytes.
    pub zeros: u64,
    /// The number of nonzero bytes.
    pub nonzeros: u64,
}

impl Calldata {
    /// Counts bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let zeros = bytes.iter().filter(|byte| **byte == 0).count() as u64;
        Self { zeros, nonzeros: bytes.len() as u64 - zeros }
    }

    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.zeros + self.nonzeros
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The price by EIP-2028.
    pub fn gas(&self) -> u64 {
        CALLDATA_ZERO * self.zeros + CALLDATA_NONZERO * self.nonzeros
    }

    /// The least price, by EIP-7623.
    pub fn floor(&self) -> u64 {
        CALLDATA_FLOOR * (self.zeros + 4 * self.nonzeros)
    }
}

impl std::iter::Sum for Calldata {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, part| Self {
            zeros: sum.zeros + part.zeros,
            nonzeros: sum.nonzeros + part.nonzeros,
        })
    }
}

/// Where the quorum is stored as a base, as far as the price depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Storing {
    /// Nowhere.
    #[default]
    Nowhere,
    /// In slot 0, whose commitment is part of the state: the state changes with every settlement anyway.
    AsNewest,
    /// In the slot of the base from which the quorum is computed, which was read before.
    OverTheBase,
    /// In another slot that holds a base.
    OverAnother,
    /// In an empty slot.
    New,
}

/// The base from which the quorum's key is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// The empty quorum, of which nothing is read.
    #[default]
    Empty,
    /// The newest base, to which the state commits.
    Newest {
        /// The number of bytes of its bitmap.
        bitmap: u64,
    },
    /// A base in a slot of the ring.
    Slot {
        /// The number of bytes of its bitmap.
        bitmap: u64,
    },
}

/// The work on the way from a base to a quorum, as numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The base.
    pub start: Start,
    /// The number of bytes of the quorum's bitmap; 0 if the quorum is the base.
    pub bitmap: u64,
    /// The number of changed members whose key is in a page.
    pub paged: u64,
    /// The number of keys that are copied out of pages.
    pub copies: u64,
    /// How often pages are called that add their keys themselves: for each word of the bitmap in which a page has changed members.
    pub calls: u64,
    /// The number of changed members whose key is passed in calldata.
    pub passed: u64,
    /// The number of pages of keys that are opened.
    pub key_pages: u64,
    /// The number of members whose weight is read.
    pub weighed: u64,
    /// The number of pages of weights that are opened.
    pub weight_pages: u64,
    /// The number of parts of the weights that are passed in calldata.
    pub weight_parts_passed: u64,
    /// The bytes of these parts.
    pub weights_passed: Calldata,
    /// The number of pages in the transaction's access list.
    pub listed: u64,
    /// The number of slopes that the call passes. `None` if the keys are not in G2 of BN254, or if the sum is in Jacobian
    /// coordinates.
    pub slopes: Option<u64>,
}

impl Measured {
    /// The gas of execution that depends on the base: its slot, the pages, the changed members.
    pub fn steps(&self, key_group: KeyGroup, steps: &Steps) -> u64 {
        let changed = steps.paged + steps.passed;
        let words = key_group.key_bytes() as u64 / 32;
        let base = match steps.start {
            Start::Empty => 0,
            Start::Newest { .. } => self.open_base,
            Start::Slot { .. } => COLD_SLOT + self.open_base,
        };
        let (change, finish) = match steps.slopes {
            Some(_) => (self.change_by_slope, self.finish_by_slope),
            None if changed > 0 => (self.change.of(key_group), self.finish.of(key_group)),
            None => (0, 0),
        };
        let bitmap = match steps.start {
            Start::Empty => steps.bitmap,
            Start::Newest { bitmap } | Start::Slot { bitmap } => steps.bitmap.max(bitmap),
        };
        // A page of weights is read as far as the bitmaps reach: 8 bytes for each member, 3 gas for each word, and 3 for its
        // memory.
        let weights = 8 * bitmap * 8 / 32 * 6;
        base + steps.key_pages * (COLD_ACCOUNT + self.open_keys)
            + steps.weight_pages * (COLD_ACCOUNT + self.open_weights + weights)
            + bitmap.saturating_sub(1) / 32 * self.word
            - steps.listed * (COLD_ACCOUNT - WARM_ACCOUNT - LISTED_ADDRESS)
            + changed * change
            + steps.copies * (self.copy + words * 6)
            + steps.calls.saturating_sub(1) * self.call
            + steps.passed * (COLD_SLOT + self.pass_key + words * PASSED_WORD)
            + steps.weight_parts_passed * (COLD_SLOT + self.pass_weights)
            + steps.weights_passed.len() / 32 * PASSED_WORD
            + steps.weighed * self.weigh
            + finish
    }

    /// The gas of [`steps`](Self::steps) and of the calldata that belongs to them: the base's preimage, the newest
    /// commitment unless one result is settled from the newest base, the quorum's bitmap, the pages' nonces, 1/Z or the
    /// slopes, keys and weights. All bytes but those of the weights are taken to be nonzero.
    pub fn difference(&self, key_group: KeyGroup, steps: &Steps) -> u64 {
        let preimage = |bitmap| 16 + key_group.key_bytes() as u64 + bitmap;
        let base = match steps.start {
            Start::Empty => 32,
            Start::Newest { bitmap } => preimage(bitmap),
            Start::Slot { bitmap } => 32 + preimage(bitmap),
        };
        let sum = match steps.slopes {
            Some(slopes) => 1 + 64 * slopes,
            None if key_group == KeyGroup::Bn254G2 && steps.paged + steps.passed > 0 => 1 + 64,
            None => 0,
        };
        let sources = 4 * (steps.key_pages + steps.weight_pages + steps.weight_parts_passed);
        let keys = steps.passed * key_group.key_bytes() as u64;
        self.steps(key_group, steps)
            + CALLDATA_NONZERO * (base + steps.bitmap + sum + sources + keys)
            + steps.weights_passed.gas()
    }

    /// The gas of storing the quorum as a base.
    pub fn store(&self, storing: Storing) -> u64 {
        match storing {
            Storing::Nowhere => 0,
            Storing::AsNewest => self.commit,
            Storing::OverTheBase => CHANGE_SLOT + self.commit,
            Storing::OverAnother => COLD_SLOT + CHANGE_SLOT + self.commit,
            Storing::New => COLD_SLOT + FILL_SLOT + self.commit,
        }
    }

    /// What decides where a key is read: opening a page, reading a key from the open page, and passing a key in calldata.
    pub fn key_sources(&self, key_group: KeyGroup) -> (u64, u64, u64) {
        let bytes = key_group.key_bytes() as u64;
        let page = WARM_ACCOUNT + LISTED_ADDRESS + self.open_keys + 4 * CALLDATA_NONZERO;
        let passed = COLD_SLOT + self.pass_key + bytes / 32 * PASSED_WORD + bytes * CALLDATA_NONZERO;
        let copy = if key_group.pages_add() { 0 } else { self.copy + bytes / 32 * 6 };
        (page, copy, passed)
    }

    /// What a part of the weights costs from a page, besides the words that are read, which cost much the same either way.
    pub fn weights_from_page(&self) -> u64 {
        WARM_ACCOUNT + LISTED_ADDRESS + self.open_weights
    }

    /// What a part of the weights costs from calldata.
    pub fn weights_passed(&self, weights: &[u8]) -> u64 {
        let bytes = Calldata::of(weights);
        COLD_SLOT + self.pass_weights + bytes.len() / 32 * PASSED_WORD + bytes.gas()
    }

    /// The gas of a transaction that settles results. `digests` is how many points are hashed: one for a settlement, whose
    /// quorum signs all results at once.
    pub fn settle(
        &self,
        key_group: KeyGroup,
        call: Calldata,
        results: u64,
        digests: u64,
        steps: &Steps,
        storing: Storing,
    ) -> Estimate {
        // Besides the results, the log has the head and the newest commitment; with `settleAll`, two words of an array as
        // well.
        let single = results == 1 && matches!(steps.start, Start::Newest { .. });
        let (words, array) = if single { (2, 0) } else { (4, self.settle_all) };
        Estimate {
            calldata: call.gas(),
            floor: call.floor(),
            head: COLD_SLOT + CHANGE_SLOT + LOG + words * LOG_WORD + self.settle + array,
            difference: self.steps(key_group, steps),
            tasks: digests * self.digest.of(key_group) + results * (self.result + LOG_WORD),
            check: self.check.of(key_group),
            store: self.store(storing),
        }
    }

    /// The gas of a transaction in which a hub settles k quorums whose own transactions would take these `totals`. The 21,000 are paid
    /// once, and one product of k + 1 pairings checks all signatures, in place of k products of two.
    pub fn hub(&self, key_group: KeyGroup, totals: &[u64]) -> u64 {
        let (product, pairing) = match key_group {
            KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => BN254_PRODUCT,
            KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => BLS12381_PRODUCT,
        };
        let quorums = totals.len() as u64;
        let shared = quorums.saturating_sub(1) * (TRANSACTION + product + pairing);
        let apart = totals.iter().fold(self.hub + quorums * self.hub_quorum, |sum, total| sum.saturating_add(*total));
        apart.saturating_sub(shared)
    }
}

/// What a submission to a `TaskNetwork` writes, besides the quorum as a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submission {
    /// The number of tasks.
    pub tasks: u64,
    /// What rejected tasks cost more, if there are any.
    pub rejected: Option<Rejection>,
    /// What the signers are owed.
    pub record: RewardRecord,
    /// Whether the pool pays for a task.
    pub pays: bool,
}

/// What a submission with rejected tasks costs more: their performers are elected, and fined once in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The number of keys in the epoch's table.
    pub keys: u64,
    /// The number of performers that the submission fines: those of rejected tasks that were not fined in the epoch before.
    pub fines: u64,
}

/// The storage slot in which a `TaskNetwork` keeps what the signers of one bitmap earned in an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewardRecord {
    /// Nothing is owed, and nothing is written.
    Untouched,
    /// The signers submit for the first time in the epoch.
    New,
    /// They submitted before.
    Known,
}

/// The log of a settled task: four topics and three words.
const TASK_LOG: u64 = 5 * 375 + 3 * LOG_WORD;
/// A fine: the mark that the performer is fined in the epoch, its pending withdrawal, its seat, which is written, and the log
/// with three topics and a word. An operator who loses the seat, because the stake falls below the minimum, costs more.
const FINE: u64 = FILL_SLOT + 4 * COLD_SLOT + CHANGE_SLOT + 4 * 375 + LOG_WORD;

impl Measured {
    /// The gas of `TaskNetwork.submitTasks`. `steps` and `storing` are those of the plan; a verifier has the newest base in its
    /// ring, like the others.
    pub fn submit(
        &self,
        key_group: KeyGroup,
        call: Calldata,
        submission: Submission,
        steps: &Steps,
        storing: Storing,
    ) -> Estimate {
        let Submission { tasks, rejected, record, pays } = submission;
        let start = match steps.start {
            Start::Newest { bitmap } => Start::Slot { bitmap },
            start => start,
        };
        let storing = match (storing, steps.start) {
            (Storing::AsNewest, Start::Newest { .. }) => Storing::OverTheBase,
            (Storing::AsNewest, _) => Storing::OverAnother,
            (storing, _) => storing,
        };
        let record = match record {
            RewardRecord::Untouched => 0,
            RewardRecord::New => COLD_SLOT + FILL_SLOT,
            RewardRecord::Known => COLD_SLOT + CHANGE_SLOT,
        };
        // Two topics, three words, and the bitmap with its length.
        let attested = 3 * 375 + (4 + steps.bitmap.div_ceil(32)) * LOG_WORD;
        let fines = rejected.map_or(0, |rejection| rejection.fines);
        // A fine goes to the pool.
        let pool = if pays || fines != 0 { CHANGE_SLOT } else { 0 };
        // The pause, the epoch and the pool are read.
        let head = 3 * COLD_SLOT + COLD_ACCOUNT + record + attested + pool + self.submit;
        let election = rejected.map_or(0, |Rejection { keys, .. }| self.reject + keys * self.reject_key);
        let rejection = election + fines * (FINE + self.fine);
        let task = COLD_SLOT + FILL_SLOT + TASK_LOG + self.submit_task + self.digest.of(key_group);
        Estimate {
            calldata: call.gas(),
            floor: call.floor(),
            head,
            difference: self.steps(key_group, &Steps { start, ..*steps }),
            tasks: tasks * task + rejection,
            check: self.check.of(key_group),
            store: self.store(storing),
        }
    }
}

/// The gas of a transaction, in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The calldata, by EIP-2028.
    pub calldata: u64,
    /// The least price of the calldata, by EIP-7623.
    pub floor: u64,
    /// The state, which changes with every settlement, and all that is done once.
    pub head: u64,
    /// The way from the base to the quorum.
    pub difference: u64,
    /// The digests, their points, and their words in the log.
    pub tasks: u64,
    /// The pairings.
    pub check: u64,
    /// Storing the quorum as a base.
    pub store: u64,
}

impl Estimate {
    /// The gas of the whole transaction: what is [`paid`] for 21,000, the calldata and the execution.
    pub fn total(&self) -> u64 {
        let execution = self.head + self.difference + self.tasks + self.check + self.store;
        paid(TRANSACTION + self.calldata + execution, self.floor)
    }
}

/// What is paid for a transaction that takes so much gas, the 21,000 and the calldata included: at least the 21,000 and the
/// least price of the calldata (EIP-7623), [`Calldata::floor`].
pub fn paid(gas: u64, floor: u64) -> u64 {
    gas.max(TRANSACTION + floor)
}
