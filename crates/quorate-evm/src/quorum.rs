//! The packed bytes of a quorum, as `Quorums` in `contracts/src` reads them; big-endian:
//!
//! ```text
//! 2   slot of the base, or 0xffff: the empty quorum, of which nothing is shown
//! 2   slot to store the result in; 0xffff: none, 0xfffe: as ski rental says
//! 2   n: bytes of the base's bitmap
//! 2   m: bytes of the quorum's bitmap; 0: the quorum is the base itself
//! 1   k: pages of keys                     1   w: pages of weights
//! 4·(k + w)  nonces of the pages, each kind in the order of the indices they hold
//! 4   epoch in which the base was weighed, 0: in none    12  its weight    K  its key    n  its bitmap
//! m   bitmap of the quorum
//! …   the proof:
//!       a   where a member changes, 1 byte that says how the sum is shown, and 64 bytes (imaginary part first):
//!             0   1/Z of the sum in Jacobian coordinates
//!             1   a slope for each addition; the first member after the empty quorum is not added to anything
//!           signature 64, hints
//!       b   signature 64, the quorum's key in G2 128, hints
//!       d   signature 96 (x, y of 48 bytes)
//!     hints: one a task, counter 1 and y 32
//! ```
//!
//! Decoding checks the form. Whether points are points, and whether the signature is true, the back end's checks say.

use crate::{
    back_end::BackEnd,
    base::Base,
    bitmap::{Bitmap, NotShortest},
    hint::CounterHint,
    state::TooLarge,
};

/// A quorum as it is handed to the contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quorum {
    /// The base and its preimage; `None` for the empty quorum.
    pub base: Option<Base>,
    /// Where the result is stored.
    pub store: Store,
    /// Nonces of pages of keys, in the order of the indices they hold.
    pub key_pages: Vec<u32>,
    /// Nonces of pages of weights, in the order of the indices they hold.
    pub weight_pages: Vec<u32>,
    /// Who signed.
    pub signers: Bitmap,
    /// The back end's proof.
    pub proof: Proof,
}

/// Where a result is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract knows no other")]
pub enum Store {
    /// Nowhere.
    Nowhere,
    /// In the first slot of the ring that is not pinned, if the contract's ski rental says so.
    Rental,
    /// In this slot, below [`RENTAL`]; 0 holds the newest base.
    Slot(u16),
}

/// A back end's proof, as bytes that are no points yet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "one variant for each back end")]
pub enum Proof {
    /// Back end a.
    Bn254G2 {
        /// How the sum of the keys is shown.
        sum: KeySum,
        /// The aggregate signature, x ‖ y.
        signature: [u8; 64],
        /// One a task.
        hints: Vec<CounterHint>,
    },
    /// Back end b.
    Bn254G1 {
        /// The aggregate signature, x ‖ y.
        signature: [u8; 64],
        /// The quorum's key in G2.
        key: [u8; 128],
        /// One a task.
        hints: Vec<CounterHint>,
    },
    /// Back end d.
    Bls12381G2 {
        /// The aggregate signature, x ‖ y of 48 bytes.
        signature: [u8; 96],
    },
}

impl Proof {
    /// Whose it is.
    pub fn back_end(&self) -> BackEnd {
        match self {
            Self::Bn254G2 { .. } => BackEnd::Bn254G2,
            Self::Bn254G1 { .. } => BackEnd::Bn254G1,
            Self::Bls12381G2 { .. } => BackEnd::Bls12381G2,
        }
    }
}

/// How the contract of back end a comes by the sum of a quorum's keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the contract knows no other")]
pub enum KeySum {
    /// No member changes: it is the base's key.
    Unchanged,
    /// In Jacobian coordinates, which take any keys.
    Jacobian {
        /// 1/Z of the sum, imaginary part first.
        inverse_of_z: [u8; 64],
    },
    /// Affine: by addition, in ascending order of the members, the slope of the line through the sum so far and the
    /// member's key. Imaginary part first.
    Slopes(Vec<[u8; 64]>),
}

/// The slot that stands for no slot.
pub const NONE: u16 = u16::MAX;
/// The slot that leaves the choice to the contract.
pub const RENTAL: u16 = u16::MAX - 1;
/// Weights of bases are below this.
pub const WEIGHT_LIMIT: u128 = 1 << 96;

/// What says that the sum is in Jacobian coordinates.
const JACOBIAN: u8 = 0;
/// What says that slopes are shown.
const SLOPES: u8 = 1;

/// A part of the packed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Slots and counts.
    Head,
    /// Nonces.
    Pages,
    /// Epoch, weight and key of the base.
    Base,
    /// The base's bitmap.
    BaseBitmap,
    /// The quorum's bitmap.
    Bitmap,
    /// The byte that says how the sum is shown.
    Mode,
    /// 1/Z.
    InverseOfZ,
    /// The slopes.
    Slopes,
    /// The signature.
    Signature,
    /// The key in G2 that back end b is given.
    KeyG2,
    /// The hints.
    Hints,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Head => "slots and counts",
            Self::Pages => "nonces of pages",
            Self::Base => "epoch, weight and key of the base",
            Self::BaseBitmap => "bitmap of the base",
            Self::Bitmap => "bitmap of the quorum",
            Self::Mode => "mode of the sum",
            Self::InverseOfZ => "1/Z",
            Self::Slopes => "slopes",
            Self::Signature => "signature",
            Self::KeyG2 => "key in G2",
            Self::Hints => "hints",
        })
    }
}

/// Why bytes are no packed quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end too soon.
    #[error("quorum: {part} at byte {at}: {wanted} bytes, of which {left} are there")]
    Truncated {
        /// What is not there in full.
        part: Part,
        /// Where it begins.
        at: usize,
        /// Bytes that it has.
        wanted: usize,
        /// Bytes that are left.
        left: usize,
    },
    /// A bitmap that is not as short as can be.
    #[error("quorum: {part}: {source}")]
    Bitmap {
        /// Whose.
        part: Part,
        /// What is wrong with it.
        source: NotShortest,
    },
    /// Nobody signed.
    #[error("quorum: the {0} is empty")]
    Empty(Part),
    /// The empty base has no bitmap.
    #[error("quorum: the empty base has a bitmap of {0} bytes")]
    BitmapOfNothing(usize),
    /// A quorum that is its base says so by having no bitmap.
    #[error("quorum: its bitmap is that of the base, which has to be left out")]
    BitmapRepeated,
    /// A sum is shown in one of two ways.
    #[error("quorum: there is no mode {0} of showing the sum")]
    Mode(u8),
    /// Bytes behind the proof.
    #[error("quorum: {0} bytes behind the proof")]
    Trailing(usize),
}

/// What a packed quorum cannot hold: the caller's mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum MisuseError {
    /// A quorum of nobody, or a base of nobody that is not the empty one.
    #[error("quorum: the {0} is empty")]
    Empty(Part),
    /// More than 255 pages of a kind, or a bitmap of more than 65,535 bytes.
    #[error("quorum: {part}: {found}, and {most} at most")]
    TooMany {
        /// Of what.
        part: Part,
        /// How many there are.
        found: usize,
        /// How many fit.
        most: usize,
    },
    /// A base whose key is not as long as the back end's.
    #[error("quorum: a key of {found} bytes in the base, not {expected}")]
    KeyLength {
        /// Bytes of the back end's keys.
        expected: usize,
        /// Bytes that it has.
        found: usize,
    },
    /// The slots 0xfffe and 0xffff stand for other things.
    #[error("quorum: there is no slot {0:#x}")]
    ReservedSlot(u16),
    /// A base whose weight does not fit 12 bytes.
    #[error("quorum: a base that weighs {0}, which has more than 96 bits")]
    TooHeavy(u128),
    /// The way in which the sum is shown is missing where members change, there where none does, or has another number
    /// of slopes than there are additions.
    #[error("quorum: the sum of the keys is not shown as {0} changed members want it")]
    KeySum(usize),
    /// A part of the head that is too large.
    #[error("head: {0}")]
    Head(#[from] TooLarge),
}

impl Quorum {
    /// The packed bytes.
    ///
    /// # Errors
    /// [`MisuseError`].
    pub fn encode(&self) -> Result<Vec<u8>, MisuseError> {
        let back_end = self.proof.back_end();
        let base_bitmap = self.base.as_ref().map_or(&[][..], |base| base.signers.as_bytes());
        if self.signers.is_empty() {
            return Err(MisuseError::Empty(Part::Bitmap));
        }
        let changed = self.changed();
        let bitmap = if changed == 0 { &[][..] } else { self.signers.as_bytes() };
        let mut bytes = Vec::new();
        bytes.extend(self.base.as_ref().map_or(Ok(NONE), |base| slot(base.slot, NONE))?.to_be_bytes());
        bytes.extend(self.store_word()?.to_be_bytes());
        bytes.extend(count::<u16>(base_bitmap.len(), Part::BaseBitmap)?.to_be_bytes());
        bytes.extend(count::<u16>(bitmap.len(), Part::Bitmap)?.to_be_bytes());
        bytes.push(count(self.key_pages.len(), Part::Pages)?);
        bytes.push(count(self.weight_pages.len(), Part::Pages)?);
        bytes.extend(self.key_pages.iter().chain(&self.weight_pages).flat_map(|nonce| nonce.to_be_bytes()));
        if let Some(base) = &self.base {
            if base.signers.is_empty() {
                return Err(MisuseError::Empty(Part::BaseBitmap));
            }
            if base.key.len() != back_end.key_bytes() {
                return Err(MisuseError::KeyLength { expected: back_end.key_bytes(), found: base.key.len() });
            }
            bytes.extend(base.epoch.to_be_bytes());
            if base.weight >= WEIGHT_LIMIT {
                return Err(MisuseError::TooHeavy(base.weight));
            }
            bytes.extend(&base.weight.to_be_bytes()[4..]);
            bytes.extend(&base.key);
            bytes.extend(base_bitmap);
        }
        bytes.extend(bitmap);
        self.encode_proof(changed, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads the packed bytes.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(back_end: BackEnd, bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader { bytes, at: 0 };
        let base_slot = u16::from_be_bytes(reader.array(Part::Head)?);
        let store = match u16::from_be_bytes(reader.array(Part::Head)?) {
            NONE => Store::Nowhere,
            RENTAL => Store::Rental,
            slot => Store::Slot(slot),
        };
        let base_length = usize::from(u16::from_be_bytes(reader.array(Part::Head)?));
        let length = usize::from(u16::from_be_bytes(reader.array(Part::Head)?));
        let [keys, weights] = reader.array(Part::Head)?;
        let key_pages = reader.nonces(keys)?;
        let weight_pages = reader.nonces(weights)?;
        let base = if base_slot == NONE {
            if base_length != 0 {
                return Err(DecodeError::BitmapOfNothing(base_length));
            }
            None
        } else {
            let epoch = u32::from_be_bytes(reader.array(Part::Base)?);
            let mut weight = [0; 16];
            weight[4..].copy_from_slice(reader.take(12, Part::Base)?);
            let weight = u128::from_be_bytes(weight);
            let key = reader.take(back_end.key_bytes(), Part::Base)?.to_vec();
            Some(Base { slot: base_slot, epoch, weight, key, signers: reader.bitmap(base_length, Part::BaseBitmap)? })
        };
        let signers = match &base {
            Some(base) if length == 0 => base.signers.clone(),
            _ => reader.bitmap(length, Part::Bitmap)?,
        };
        let changed = changed(base.as_ref(), &signers);
        if changed == 0 && length != 0 {
            return Err(DecodeError::BitmapRepeated);
        }
        let proof = match back_end {
            BackEnd::Bn254G2 => Proof::Bn254G2 {
                sum: reader.key_sum(changed, additions(base.as_ref(), changed))?,
                signature: reader.array(Part::Signature)?,
                hints: reader.hints()?,
            },
            BackEnd::Bn254G1 => Proof::Bn254G1 {
                signature: reader.array(Part::Signature)?,
                key: reader.array(Part::KeyG2)?,
                hints: reader.hints()?,
            },
            BackEnd::Bls12381G2 => Proof::Bls12381G2 { signature: reader.array(Part::Signature)? },
        };
        match reader.left() {
            0 => Ok(Self { base, store, key_pages, weight_pages, signers, proof }),
            trailing => Err(DecodeError::Trailing(trailing)),
        }
    }

    /// How many members change.
    fn changed(&self) -> usize {
        changed(self.base.as_ref(), &self.signers)
    }

    fn store_word(&self) -> Result<u16, MisuseError> {
        match self.store {
            Store::Nowhere => Ok(NONE),
            Store::Rental => Ok(RENTAL),
            Store::Slot(to) => slot(to, RENTAL),
        }
    }

    fn encode_proof(&self, changed: usize, bytes: &mut Vec<u8>) -> Result<(), MisuseError> {
        let hints = match &self.proof {
            Proof::Bn254G2 { sum, signature, hints } => {
                match sum {
                    KeySum::Unchanged if changed == 0 => {}
                    KeySum::Jacobian { inverse_of_z } if changed > 0 => {
                        bytes.push(JACOBIAN);
                        bytes.extend(inverse_of_z);
                    }
                    KeySum::Slopes(slopes) if changed > 0 && slopes.len() == additions(self.base.as_ref(), changed) => {
                        bytes.push(SLOPES);
                        bytes.extend(slopes.iter().flatten());
                    }
                    _ => return Err(MisuseError::KeySum(changed)),
                }
                bytes.extend(signature);
                hints
            }
            Proof::Bn254G1 { signature, key, hints } => {
                bytes.extend(signature);
                bytes.extend(key);
                hints
            }
            Proof::Bls12381G2 { signature } => {
                bytes.extend(signature);
                return Ok(());
            }
        };
        for hint in hints {
            bytes.push(hint.counter);
            bytes.extend(hint.y);
        }
        Ok(())
    }
}

fn changed(base: Option<&Base>, signers: &Bitmap) -> usize {
    base.map_or_else(|| signers.len(), |base| base.signers.distance(signers))
}

/// Additions to the sum: one for each member that changes, but for the first after the empty quorum.
fn additions(base: Option<&Base>, changed: usize) -> usize {
    changed.saturating_sub(usize::from(base.is_none()))
}

/// A slot below the first that is reserved.
fn slot(slot: u16, reserved: u16) -> Result<u16, MisuseError> {
    if slot < reserved { Ok(slot) } else { Err(MisuseError::ReservedSlot(slot)) }
}

/// A count in one byte or two.
fn count<T: TryFrom<usize>>(found: usize, part: Part) -> Result<T, MisuseError> {
    let most = (1 << (8 * size_of::<T>())) - 1;
    T::try_from(found).map_err(|_| MisuseError::TooMany { part, found, most })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, wanted: usize, part: Part) -> Result<&'a [u8], DecodeError> {
        let truncated = DecodeError::Truncated { part, at: self.at, wanted, left: self.left() };
        let taken = self.bytes[self.at..].get(..wanted).ok_or(truncated)?;
        self.at += wanted;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, part: Part) -> Result<[u8; N], DecodeError> {
        Ok(self.take(N, part)?.try_into().expect("that many were taken"))
    }

    fn key_sum(&mut self, changed: usize, additions: usize) -> Result<KeySum, DecodeError> {
        if changed == 0 {
            return Ok(KeySum::Unchanged);
        }
        match self.array(Part::Mode)? {
            [JACOBIAN] => Ok(KeySum::Jacobian { inverse_of_z: self.array(Part::InverseOfZ)? }),
            [SLOPES] => {
                let slopes = (0..additions).map(|_| self.array(Part::Slopes));
                slopes.collect::<Result<_, _>>().map(KeySum::Slopes)
            }
            [mode] => Err(DecodeError::Mode(mode)),
        }
    }

    fn nonces(&mut self, count: u8) -> Result<Vec<u32>, DecodeError> {
        (0..count).map(|_| Ok(u32::from_be_bytes(self.array(Part::Pages)?))).collect()
    }

    fn bitmap(&mut self, length: usize, part: Part) -> Result<Bitmap, DecodeError> {
        let bytes = self.take(length, part)?;
        let bitmap = Bitmap::from_bytes(bytes).map_err(|source| DecodeError::Bitmap { part, source })?;
        if bitmap.is_empty() { Err(DecodeError::Empty(part)) } else { Ok(bitmap) }
    }

    fn hints(&mut self) -> Result<Vec<CounterHint>, DecodeError> {
        let mut hints = Vec::new();
        while self.left() > 0 {
            let [counter, y @ ..]: [u8; 33] = self.array(Part::Hints)?;
            hints.push(CounterHint { counter, y });
        }
        Ok(hints)
    }
}
