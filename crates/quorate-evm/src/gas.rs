//! What settling costs.
//!
//! Prices of the protocol are constants with the proposal that sets them. What the contracts' own code costs is in
//! [`Measured`], fitted to whole transactions: nothing else in this crate knows a number of gas.

use crate::back_end::BackEnd;

/// A transaction.
pub const TRANSACTION: u64 = 21_000;
/// EIP-2028: a byte of calldata that is zero.
pub const CALLDATA_ZERO: u64 = 4;
/// EIP-2028: a byte of calldata that is not.
pub const CALLDATA_NONZERO: u64 = 16;
/// EIP-7623: a token of calldata where the transaction does little else; a byte is one token if zero, else four.
pub const CALLDATA_FLOOR: u64 = 10;
/// EIP-2929: a storage slot, first read.
pub const COLD_SLOT: u64 = 2_100;
/// EIP-2929: an account, first touched: a page opened.
pub const COLD_ACCOUNT: u64 = 2_600;
/// EIP-2929: an account touched again, or one in the access list.
pub const WARM_ACCOUNT: u64 = 100;
/// EIP-2930: an address in the access list.
pub const LISTED_ADDRESS: u64 = 2_400;
/// EIP-2200 with EIP-2929: a slot that was read before, and not zero, is changed.
pub const CHANGE_SLOT: u64 = 2_900;
/// The same, of a slot that was zero.
pub const FILL_SLOT: u64 = 20_000;
/// The log of a settlement, one topic.
pub const LOG: u64 = 2 * 375;
/// A word in that log.
pub const LOG_WORD: u64 = 8 * 32;
/// EIP-1108: an addition in G1 of BN254.
pub const BN254_ADD: u64 = 150;
/// EIP-1108: a multiplication in G1 of BN254.
pub const BN254_MULTIPLY: u64 = 6_000;
/// EIP-1108: a product of two pairings on BN254.
pub const BN254_PAIRINGS: u64 = 45_000 + 2 * 34_000;
/// EIP-2537: a product of two pairings on BLS12-381.
pub const BLS12381_PAIRINGS: u64 = 37_700 + 2 * 32_600;

/// What the contracts' own code costs. The defaults are fitted to the transactions of `quorate-bench gas`, which asserts that the
/// model is within 2 %; the tests hold it to 2 % of the contracts' snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Dispatch, decoding of the call, the head's arithmetic: once.
    pub settle: u64,
    /// What `settleAll` takes beyond `settle`, for its array.
    pub settle_all: u64,
    /// Opening a page of keys, beyond the cold account: its address and header, and a part of the walk.
    pub open_keys: u64,
    /// The same of a page of weights, beside its words.
    pub open_weights: u64,
    /// A word of the bitmaps after the first, 256 members.
    pub word: u64,
    /// A changed member: the walk, its key added.
    pub change: PerBackEnd,
    /// The same on back end a where the slope is shown.
    pub change_by_slope: u64,
    /// A copy from an open page, beside its words and their memory.
    pub copy: u64,
    /// A word of a key in storage, beyond the cold slot: where it is.
    pub find_slot: u64,
    /// Going through the bitmaps, and the sum to an affine key.
    pub finish: PerBackEnd,
    /// The same on back end a where slopes are shown: the sum is affine.
    pub finish_by_slope: u64,
    /// A weight read from an open page.
    pub weigh: u64,
    /// The base's preimage copied and hashed.
    pub open_base: u64,
    /// The result's preimage hashed.
    pub commit: u64,
    /// A digest made, hashed to the curve by its hint, added to the others.
    pub task: PerBackEnd,
    /// The equation, its precompiles included.
    pub check: PerBackEnd,
}

/// A number for each back end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerBackEnd {
    /// BN254, keys in G2.
    pub a: u64,
    /// BN254, keys in G1.
    pub b: u64,
    /// BLS12-381, keys in G2.
    pub d: u64,
}

impl PerBackEnd {
    /// The number of one.
    pub fn of(&self, back_end: BackEnd) -> u64 {
        match back_end {
            BackEnd::Bn254G2 => self.a,
            BackEnd::Bn254G1 => self.b,
            BackEnd::Bls12381G2 => self.d,
        }
    }
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            settle: 400,
            settle_all: 570,
            open_keys: 1_850,
            open_weights: 2_130,
            word: 390,
            change: PerBackEnd { a: 1_660, b: 377, d: 899 },
            change_by_slope: 889,
            copy: 118,
            find_slot: 380,
            finish: PerBackEnd { a: 1_460, b: 1_150, d: 2_050 },
            finish_by_slope: 810,
            weigh: 95,
            open_base: 930,
            commit: 490,
            task: PerBackEnd { a: 780, b: 780, d: 15_330 },
            check: PerBackEnd {
                a: BN254_PAIRINGS + 2_160,
                b: BN254_PAIRINGS + 2 * (BN254_MULTIPLY + BN254_ADD) + 3_320,
                d: BLS12381_PAIRINGS + 2_250,
            },
        }
    }
}

/// Bytes of calldata, by price.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calldata {
    /// Bytes that are zero.
    pub zeros: u64,
    /// Bytes that are not.
    pub others: u64,
}

impl Calldata {
    /// Counts bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let zeros = bytes.iter().filter(|byte| **byte == 0).count() as u64;
        Self { zeros, others: bytes.len() as u64 - zeros }
    }

    /// EIP-2028.
    pub fn gas(&self) -> u64 {
        CALLDATA_ZERO * self.zeros + CALLDATA_NONZERO * self.others
    }

    /// EIP-7623: what the calldata costs at least.
    pub fn floor(&self) -> u64 {
        CALLDATA_FLOOR * (self.zeros + 4 * self.others)
    }
}

/// Where a result is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "EIP-2929 knows no other case")]
pub enum Storing {
    /// Nowhere.
    #[default]
    Nowhere,
    /// In slot 0: the state word changes with every settlement.
    AsNewest,
    /// In the slot of the base, which was read.
    OverTheBase,
    /// In another slot that holds a base.
    OverAnother,
    /// In a slot that is empty.
    New,
}

/// From which base a quorum is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "the contract knows no other")]
pub enum Start {
    /// The empty one, of which nothing is read.
    #[default]
    Empty,
    /// The newest, which the state word commits to.
    Newest {
        /// Bytes of its bitmap.
        bitmap: u64,
    },
    /// One in a slot of the ring.
    Slot {
        /// Bytes of its bitmap.
        bitmap: u64,
    },
}

/// The way from a base to a quorum, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The base.
    pub start: Start,
    /// Bytes of the quorum's bitmap; none where it is the base.
    pub bitmap: u64,
    /// Changed members whose key is in a page.
    pub paged: u64,
    /// Copies that these keys take, and keys that are copied.
    pub copies: u64,
    /// See `copies`.
    pub copied: u64,
    /// Changed members whose key is in storage.
    pub in_slots: u64,
    /// Pages of keys that are opened.
    pub key_pages: u64,
    /// Members whose weight is read.
    pub weighed: u64,
    /// Pages of weights that are opened.
    pub weight_pages: u64,
    /// Pages that the transaction's access list names.
    pub listed: u64,
    /// Slopes that are shown, on back end a; `None` where the sum is in Jacobian coordinates.
    pub slopes: Option<u64>,
}

impl Measured {
    /// Execution that depends on the base: its slot, the pages, the changes.
    pub fn steps(&self, back_end: BackEnd, steps: &Steps) -> u64 {
        let changed = steps.paged + steps.in_slots;
        let slots = back_end.key_bytes() as u64 / 32;
        let base = match steps.start {
            Start::Empty => 0,
            Start::Newest { .. } => self.open_base,
            Start::Slot { .. } => COLD_SLOT + self.open_base,
        };
        let (change, finish) = match steps.slopes {
            Some(_) => (self.change_by_slope, self.finish_by_slope),
            None if changed > 0 => (self.change.of(back_end), self.finish.of(back_end)),
            None => (0, 0),
        };
        let bitmap = match steps.start {
            Start::Empty => steps.bitmap,
            Start::Newest { bitmap } | Start::Slot { bitmap } => steps.bitmap.max(bitmap),
        };
        // A page of weights is read as far as the bitmaps reach: 8 bytes a member, 3 gas a word and 3 for its memory.
        let weights = 8 * bitmap * 8 / 32 * 6;
        base + steps.key_pages * (COLD_ACCOUNT + self.open_keys)
            + steps.weight_pages * (COLD_ACCOUNT + self.open_weights + weights)
            + bitmap.saturating_sub(1) / 32 * self.word
            - steps.listed * (COLD_ACCOUNT - WARM_ACCOUNT - LISTED_ADDRESS)
            + changed * change
            + steps.copies * self.copy
            + steps.copied * slots * 6
            + steps.in_slots * slots * (COLD_SLOT + self.find_slot)
            + steps.weighed * self.weigh
            + finish
    }

    /// [`steps`](Self::steps), and the calldata that goes with them, its bytes being taken for others than zero: the
    /// base's preimage, the newest commitment where one result is not settled from that, the quorum's bitmap, the pages'
    /// nonces, how the sum is shown.
    pub fn difference(&self, back_end: BackEnd, steps: &Steps) -> u64 {
        let preimage = |bitmap| 16 + back_end.key_bytes() as u64 + bitmap;
        let base = match steps.start {
            Start::Empty => 32,
            Start::Newest { bitmap } => preimage(bitmap),
            Start::Slot { bitmap } => 32 + preimage(bitmap),
        };
        let sum = match steps.slopes {
            Some(slopes) => 1 + 64 * slopes,
            None if back_end == BackEnd::Bn254G2 && steps.paged + steps.in_slots > 0 => 1 + 64,
            None => 0,
        };
        let bytes = base + steps.bitmap + sum + 4 * (steps.key_pages + steps.weight_pages);
        self.steps(back_end, steps) + CALLDATA_NONZERO * bytes
    }

    /// What storing the result adds.
    pub fn store(&self, storing: Storing) -> u64 {
        match storing {
            Storing::Nowhere => 0,
            Storing::AsNewest => self.commit,
            Storing::OverTheBase => CHANGE_SLOT + self.commit,
            Storing::OverAnother => COLD_SLOT + CHANGE_SLOT + self.commit,
            Storing::New => COLD_SLOT + FILL_SLOT + self.commit,
        }
    }

    /// Gas of a transaction that settles `tasks` results.
    pub fn settle(&self, back_end: BackEnd, call: Calldata, tasks: u64, steps: &Steps, storing: Storing) -> Estimate {
        // Beside the results: the number of the first, and where `settleAll` settles, two words of an array.
        let single = tasks == 1 && matches!(steps.start, Start::Newest { .. });
        let (words, array) = if single { (1, 0) } else { (3, self.settle_all) };
        Estimate {
            calldata: call.gas(),
            floor: call.floor(),
            head: COLD_SLOT + CHANGE_SLOT + LOG + words * LOG_WORD + self.settle + array,
            difference: self.steps(back_end, steps),
            tasks: tasks * (self.task.of(back_end) + LOG_WORD),
            check: self.check.of(back_end),
            store: self.store(storing),
        }
    }
}

/// Gas of a transaction, by what it is spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// Calldata by EIP-2028.
    pub calldata: u64,
    /// The least that calldata costs, by EIP-7623.
    pub floor: u64,
    /// The word that changes with every settlement, and what is done once.
    pub head: u64,
    /// From the base to the quorum.
    pub difference: u64,
    /// Digests, their points, their words in the log.
    pub tasks: u64,
    /// The pairings.
    pub check: u64,
    /// Storing the result.
    pub store: u64,
}

impl Estimate {
    /// All of it: 21,000 and the larger of calldata with execution and calldata's floor.
    pub fn total(&self) -> u64 {
        let execution = self.head + self.difference + self.tasks + self.check + self.store;
        TRANSACTION + (self.calldata + execution).max(self.floor)
    }
}
