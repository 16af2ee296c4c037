//! The packed bytes of a quorum, which the contract `Quorums` reads.
//!
//! All numbers are big-endian. The first column is the number of bytes:
//!
//! ```text
//! 2   slot of the base; 0xffff for the empty quorum, which has no preimage
//! 2   slot in which to store the quorum; 0xffff: do not store, 0xfffe: let ski rental decide
//! 2   n, the bytes of the base's bitmap
//! 2   m, the bytes of the quorum's bitmap; 0 if the quorum is the base
//! 1   k, the number of pages of keys
//! 1   w, the number of parts of the weights
//! 1   t, the number of keys that follow
//! 4·k the nonces of the pages of keys, ascending by the indices in them
//! 4·w for each part of the weights, ascending: the nonce of its page, or, with the highest bit set, the number of bytes of its
//!     weights below
//! K·t the keys of the changed members that no named page holds, ascending by index
//! …   the weights of the parts that no page holds, 8 bytes each
//!     the preimage of the base:
//! 4     epoch in which it was weighed, 0 if it never was
//! 12    weight
//! K     key
//! n     bitmap
//! m   bitmap of the quorum
//!     the proof, with keys in G2 of BN254:
//! 1     mode, only if a member changes
//! 64      mode 0: 1/Z of the sum in Jacobian coordinates, imaginary part first
//! 64·a    mode 1: a slope for each of the a additions, imaginary part first. Without a base, the first
//!         member is loaded and not added.
//! 64    signature
//! 33·d  a hint for each of the d digests: counter (1), y (32)
//!     the proof, with keys in G1 of BN254:
//! 64    signature
//! 128   the quorum's key in G2
//! 33·d  hints
//!     the proof, with keys in G2 of BLS12-381:
//! 96    signature
//! ```
//!
//! Decoding checks this form, and nothing about points or signatures.

use alloy_primitives::Bytes;

use crate::{
    base::{Base, Way, WeightSource},
    hint::CounterHint,
    key_group::KeyGroup,
    member_set::{MemberSet, NotShortest},
    state::TooLarge,
};

/// A quorum as the contract takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quorum {
    /// The base, with its preimage; `None` for the empty quorum.
    pub base: Option<Base>,
    /// Where the contract stores the quorum as a base.
    pub store: Store,
    /// The nonces of the pages of keys, in the order of the indices in them.
    pub key_pages: Vec<u32>,
    /// Where the parts of the weights are, ascending.
    pub weights: Vec<WeightSource>,
    /// The keys of the changed members that no named page holds, ascending by index.
    pub keys: Vec<Bytes>,
    /// The members who signed.
    pub signers: MemberSet,
    /// The signature, and what the contract needs to check it.
    pub proof: Proof,
}

/// Where the contract stores a quorum as a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Store {
    /// Nowhere.
    Nowhere,
    /// In the first slot of the ring that is not pinned, if the contract's ski rental decides to store.
    Rental,
    /// In this slot, below [`RENTAL`]. Slot 0 holds the newest base.
    Slot(u16),
}

impl Store {
    /// The number in the packed quorum, which is also what the quorum signs.
    ///
    /// # Errors
    /// [`EncodeQuorumError::ReservedSlot`].
    pub fn number(self) -> Result<u16, EncodeQuorumError> {
        match self {
            Self::Nowhere => Ok(NONE),
            Self::Rental => Ok(RENTAL),
            Self::Slot(to) => slot(to, RENTAL),
        }
    }

    /// What such a number means.
    pub const fn of_number(number: u16) -> Self {
        match number {
            NONE => Self::Nowhere,
            RENTAL => Self::Rental,
            slot => Self::Slot(slot),
        }
    }
}

/// The signature, and what the contract needs to check it, as bytes that were not read as points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// Keys in G2 of BN254.
    Bn254G2 {
        /// How the contract computes the sum of the keys.
        sum: KeySum,
        /// The aggregate signature, x ‖ y.
        signature: [u8; 64],
        /// A hint for each digest.
        hints: Vec<CounterHint>,
    },
    /// Keys in G1 of BN254.
    Bn254G1 {
        /// The aggregate signature, x ‖ y.
        signature: [u8; 64],
        /// The quorum's key in G2.
        key: [u8; 128],
        /// A hint for each digest.
        hints: Vec<CounterHint>,
    },
    /// Keys in G2 of BLS12-381.
    Bls12381G2 {
        /// The aggregate signature, x ‖ y of 48 bytes.
        signature: [u8; 96],
    },
    /// Keys in G2 of BLS12-381, digests hashed by one map.
    Bls12381G2Nu {
        /// The aggregate signature, x ‖ y of 48 bytes.
        signature: [u8; 96],
    },
}

impl Proof {
    /// The curve and the group of the keys.
    pub fn key_group(&self) -> KeyGroup {
        match self {
            Self::Bn254G2 { .. } => KeyGroup::Bn254G2,
            Self::Bn254G1 { .. } => KeyGroup::Bn254G1,
            Self::Bls12381G2 { .. } => KeyGroup::Bls12381G2,
            Self::Bls12381G2Nu { .. } => KeyGroup::Bls12381G2Nu,
        }
    }
}

/// How the contract computes the sum of a quorum's keys in G2 of BN254.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeySum {
    /// No member changes: the sum is the base's key.
    Unchanged,
    /// In Jacobian coordinates, which work for any keys.
    Jacobian {
        /// 1/Z of the sum, imaginary part first.
        inverse_of_z: [u8; 64],
    },
    /// In affine coordinates, with one slope for each addition: that of the line through the sum so far and the member's
    /// key. The members are in ascending order; the imaginary part comes first.
    Slopes(Vec<[u8; 64]>),
}

/// The number that stands for no slot.
pub const NONE: u16 = u16::MAX;
/// The number that lets the contract's ski rental decide.
pub const RENTAL: u16 = u16::MAX - 1;
/// The weight of a base is below this number.
pub const WEIGHT_LIMIT: u128 = 1 << 96;

/// Set in the entry of a part whose weights are passed; the other bits are their length.
const PASSED: u32 = 1 << 31;
/// The mode byte for Jacobian coordinates.
const JACOBIAN: u8 = 0;
/// The mode byte for slopes.
const SLOPES: u8 = 1;

/// A part of the packed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Part {
    /// Slots and counts.
    Head,
    /// Nonces of pages of keys.
    Pages,
    /// Nonces of pages of weights, and lengths of weights.
    Parts,
    /// Keys in no page.
    Keys,
    /// Weights in no page.
    Weights,
    /// Epoch, weight and key of the base.
    Base,
    /// The base's bitmap.
    BaseBitmap,
    /// The quorum's bitmap.
    Bitmap,
    /// The byte that says how the sum is computed.
    Mode,
    /// 1/Z.
    InverseOfZ,
    /// The slopes.
    Slopes,
    /// The signature.
    Signature,
    /// The quorum's key in G2, beside keys in G1.
    KeyG2,
    /// The hints.
    Hints,
}

impl std::fmt::Display for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Head => "slots and counts",
            Self::Pages => "nonces of pages",
            Self::Parts => "parts of the weights",
            Self::Keys => "keys in no page",
            Self::Weights => "weights in no page",
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

/// Why bytes are not a packed quorum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeQuorumError {
    /// The bytes end too soon.
    #[error("packed quorum: {part} at byte {at}: found {left} bytes, expected {wanted}")]
    Truncated {
        /// The part that is incomplete.
        part: Part,
        /// The offset of its first byte.
        at: usize,
        /// The number of bytes that the part has.
        wanted: usize,
        /// The number of bytes that are left.
        left: usize,
    },
    /// A bitmap ends in a zero byte.
    #[error("packed quorum: {part}: {source}")]
    Bitmap {
        /// Which bitmap.
        part: Part,
        /// The fault.
        source: NotShortest,
    },
    /// A bitmap has no members.
    #[error("packed quorum: the {0} has no members")]
    Empty(Part),
    /// The empty quorum is the base, and it has a bitmap.
    #[error("packed quorum: the base is the empty quorum, but its bitmap has {0} bytes; expected none")]
    BitmapOfNothing(usize),
    /// The quorum's bitmap is that of the base.
    #[error("packed quorum: the bitmap of the quorum is that of the base; leave it out")]
    BitmapRepeated,
    /// The mode is neither 0 nor 1.
    #[error("packed quorum: mode {0} of the sum, expected 0 (Jacobian coordinates) or 1 (slopes)")]
    Mode(u8),
    /// Bytes follow the proof.
    #[error("packed quorum: {0} bytes after the proof, expected none")]
    Trailing(usize),
}

/// Why a quorum has no packed bytes. It is a mistake of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeQuorumError {
    /// The quorum or its base has no members. Write the empty quorum as a base of `None`.
    #[error("quorum: the {0} has no members")]
    Empty(Part),
    /// There are more than 255 pages of a kind or keys, a nonce or the length of a part has more than 31 bits, or a bitmap has
    /// more than 65,535 bytes.
    #[error("quorum: {part}: found {found}, expected at most {most}{}", remedy(.part))]
    TooMany {
        /// What there is too much of.
        part: Part,
        /// The number that was found.
        found: usize,
        /// The largest number that fits.
        most: usize,
    },
    /// A key does not have the length of the key group.
    #[error("quorum: {part}: a key has {found} bytes, expected {expected}")]
    KeyLength {
        /// The base, or the keys in no page.
        part: Part,
        /// The number of bytes of the key group's keys.
        expected: usize,
        /// The number of bytes that it has.
        found: usize,
    },
    /// The numbers 0xfffe and 0xffff are not slots.
    #[error("quorum: {0:#x} is not a slot; slots are below 0xfffe")]
    ReservedSlot(u16),
    /// The base's weight does not fit into 12 bytes.
    #[error("quorum: the base's weight {0} has more than 96 bits")]
    TooHeavy(u128),
    /// The [`KeySum`] does not fit the number of members that change: it is missing, or not needed, or has another number
    /// of slopes than there are additions.
    #[error("quorum: 1/Z or the slopes do not fit the number of members that change, {0}")]
    KeySum(usize),
    /// A part of the head is too large.
    #[error("head: {0}")]
    Head(#[from] TooLarge),
}

impl Way {
    /// Refuses a way that has no packed form: a quorum names at most 255 pages of keys and 255 parts of the weights, and passes at most
    /// 255 keys.
    ///
    /// # Errors
    /// [`EncodeQuorumError::TooMany`].
    pub fn check(&self) -> Result<(), EncodeQuorumError> {
        let counts = [
            (Part::Keys, self.keys.passed.len()),
            (Part::Pages, self.keys.pages.len()),
            (Part::Parts, self.weights.len()),
        ];
        let most = usize::from(u8::MAX);
        match counts.into_iter().find(|(_, found)| *found > most) {
            Some((part, found)) => Err(EncodeQuorumError::TooMany { part, found, most }),
            None => Ok(()),
        }
    }
}

/// What to do if there is too much of a part.
fn remedy(part: &Part) -> &'static str {
    match part {
        Part::Keys => "; copy keys to pages first (`quorate evm call compact`)",
        Part::Pages => "; fuller pages, or a base with nearly the same members, take fewer",
        _ => "",
    }
}

impl Quorum {
    /// The packed bytes.
    ///
    /// # Errors
    /// [`EncodeQuorumError`].
    pub fn encode(&self) -> Result<Vec<u8>, EncodeQuorumError> {
        let key_group = self.proof.key_group();
        let base_bitmap = self.base.as_ref().map_or(&[][..], |base| base.signers.as_bytes());
        if self.signers.is_empty() {
            return Err(EncodeQuorumError::Empty(Part::Bitmap));
        }
        let changed = self.changed();
        let bitmap = if changed == 0 { &[][..] } else { self.signers.as_bytes() };
        let mut bytes = Vec::new();
        bytes.extend(self.base.as_ref().map_or(Ok(NONE), |base| slot(base.slot, NONE))?.to_be_bytes());
        bytes.extend(self.store.number()?.to_be_bytes());
        bytes.extend(count::<u16>(base_bitmap.len(), Part::BaseBitmap)?.to_be_bytes());
        bytes.extend(count::<u16>(bitmap.len(), Part::Bitmap)?.to_be_bytes());
        bytes.push(count(self.key_pages.len(), Part::Pages)?);
        bytes.push(count(self.weights.len(), Part::Parts)?);
        bytes.push(count(self.keys.len(), Part::Keys)?);
        bytes.extend(self.key_pages.iter().flat_map(|nonce| nonce.to_be_bytes()));
        for source in &self.weights {
            let entry = match source {
                WeightSource::Page(nonce) => below_passed(*nonce as usize)?,
                WeightSource::Passed(weights) => PASSED | below_passed(weights.len())?,
            };
            bytes.extend(entry.to_be_bytes());
        }
        let length = |part, key: &Bytes| {
            let (expected, found) = (key_group.key_bytes(), key.len());
            if found == expected { Ok(()) } else { Err(EncodeQuorumError::KeyLength { part, expected, found }) }
        };
        for key in &self.keys {
            length(Part::Keys, key)?;
            bytes.extend(key);
        }
        for source in &self.weights {
            if let WeightSource::Passed(weights) = source {
                bytes.extend(weights);
            }
        }
        if let Some(base) = &self.base {
            if base.signers.is_empty() {
                return Err(EncodeQuorumError::Empty(Part::BaseBitmap));
            }
            length(Part::Base, &base.key)?;
            bytes.extend(base.epoch.to_be_bytes());
            if base.weight >= WEIGHT_LIMIT {
                return Err(EncodeQuorumError::TooHeavy(base.weight));
            }
            bytes.extend(&base.weight.to_be_bytes()[4..]);
            bytes.extend(&base.key);
            bytes.extend(base_bitmap);
        }
        bytes.extend(bitmap);
        self.encode_proof(changed, &mut bytes)?;
        Ok(bytes)
    }

    /// Reads packed bytes.
    ///
    /// # Errors
    /// [`DecodeQuorumError`].
    pub fn decode(key_group: KeyGroup, bytes: &[u8]) -> Result<Self, DecodeQuorumError> {
        let mut reader = Reader { bytes, at: 0 };
        let base_slot = u16::from_be_bytes(reader.array(Part::Head)?);
        let store = Store::of_number(u16::from_be_bytes(reader.array(Part::Head)?));
        let base_length = usize::from(u16::from_be_bytes(reader.array(Part::Head)?));
        let length = usize::from(u16::from_be_bytes(reader.array(Part::Head)?));
        let [pages, parts, keys] = reader.array(Part::Head)?;
        let key_pages = reader.numbers(pages, Part::Pages)?;
        let parts = reader.numbers(parts, Part::Parts)?;
        let key = |_| reader.take(key_group.key_bytes(), Part::Keys).map(Bytes::copy_from_slice);
        let keys = (0..keys).map(key).collect::<Result<_, _>>()?;
        let source = |entry: u32| match entry & PASSED {
            0 => Ok(WeightSource::Page(entry)),
            _ => {
                let weights = reader.take((entry ^ PASSED) as usize, Part::Weights)?;
                Ok(WeightSource::Passed(Bytes::copy_from_slice(weights)))
            }
        };
        let weights = parts.into_iter().map(source).collect::<Result<_, _>>()?;
        let base = if base_slot == NONE {
            if base_length != 0 {
                return Err(DecodeQuorumError::BitmapOfNothing(base_length));
            }
            None
        } else {
            let epoch = u32::from_be_bytes(reader.array(Part::Base)?);
            let mut weight = [0; 16];
            weight[4..].copy_from_slice(reader.take(12, Part::Base)?);
            let weight = u128::from_be_bytes(weight);
            let key = Bytes::copy_from_slice(reader.take(key_group.key_bytes(), Part::Base)?);
            Some(Base { slot: base_slot, epoch, weight, key, signers: reader.bitmap(base_length, Part::BaseBitmap)? })
        };
        let signers = match &base {
            Some(base) if length == 0 => base.signers.clone(),
            _ => reader.bitmap(length, Part::Bitmap)?,
        };
        let changed = changed(base.as_ref(), &signers);
        if changed == 0 && length != 0 {
            return Err(DecodeQuorumError::BitmapRepeated);
        }
        let proof = match key_group {
            KeyGroup::Bn254G2 => Proof::Bn254G2 {
                sum: reader.key_sum(changed, additions(base.as_ref(), changed))?,
                signature: reader.array(Part::Signature)?,
                hints: reader.hints()?,
            },
            KeyGroup::Bn254G1 => Proof::Bn254G1 {
                signature: reader.array(Part::Signature)?,
                key: reader.array(Part::KeyG2)?,
                hints: reader.hints()?,
            },
            KeyGroup::Bls12381G2 => Proof::Bls12381G2 { signature: reader.array(Part::Signature)? },
            KeyGroup::Bls12381G2Nu => Proof::Bls12381G2Nu { signature: reader.array(Part::Signature)? },
        };
        match reader.left() {
            0 => Ok(Self { base, store, key_pages, weights, keys, signers, proof }),
            trailing => Err(DecodeQuorumError::Trailing(trailing)),
        }
    }

    /// The number of members that change.
    fn changed(&self) -> usize {
        changed(self.base.as_ref(), &self.signers)
    }

    fn encode_proof(&self, changed: usize, bytes: &mut Vec<u8>) -> Result<(), EncodeQuorumError> {
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
                    _ => return Err(EncodeQuorumError::KeySum(changed)),
                }
                bytes.extend(signature);
                hints
            }
            Proof::Bn254G1 { signature, key, hints } => {
                bytes.extend(signature);
                bytes.extend(key);
                hints
            }
            Proof::Bls12381G2 { signature } | Proof::Bls12381G2Nu { signature } => {
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

fn changed(base: Option<&Base>, signers: &MemberSet) -> usize {
    base.map_or_else(|| signers.len(), |base| base.signers.distance(signers))
}

/// The number of additions: one for each member that changes. Without a base, the first member is loaded and not added.
fn additions(base: Option<&Base>, changed: usize) -> usize {
    changed.saturating_sub(usize::from(base.is_none()))
}

/// A slot below the first number that is reserved.
fn slot(slot: u16, reserved: u16) -> Result<u16, EncodeQuorumError> {
    if slot < reserved { Ok(slot) } else { Err(EncodeQuorumError::ReservedSlot(slot)) }
}

/// A number below [`PASSED`].
fn below_passed(found: usize) -> Result<u32, EncodeQuorumError> {
    let most = PASSED - 1;
    let number = u32::try_from(found).ok().filter(|number| *number <= most);
    number.ok_or(EncodeQuorumError::TooMany { part: Part::Parts, found, most: most as usize })
}

/// A count in one byte or two.
fn count<T: TryFrom<usize>>(found: usize, part: Part) -> Result<T, EncodeQuorumError> {
    let most = (1 << (8 * size_of::<T>())) - 1;
    T::try_from(found).map_err(|_| EncodeQuorumError::TooMany { part, found, most })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, wanted: usize, part: Part) -> Result<&'a [u8], DecodeQuorumError> {
        let truncated = DecodeQuorumError::Truncated { part, at: self.at, wanted, left: self.left() };
        let taken = self.bytes[self.at..].get(..wanted).ok_or(truncated)?;
        self.at += wanted;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, part: Part) -> Result<[u8; N], DecodeQuorumError> {
        Ok(self.take(N, part)?.try_into().expect("`take` returns as many bytes as it is asked for"))
    }

    fn key_sum(&mut self, changed: usize, additions: usize) -> Result<KeySum, DecodeQuorumError> {
        if changed == 0 {
            return Ok(KeySum::Unchanged);
        }
        match self.array(Part::Mode)? {
            [JACOBIAN] => Ok(KeySum::Jacobian { inverse_of_z: self.array(Part::InverseOfZ)? }),
            [SLOPES] => {
                let slopes = (0..additions).map(|_| self.array(Part::Slopes));
                slopes.collect::<Result<_, _>>().map(KeySum::Slopes)
            }
            [mode] => Err(DecodeQuorumError::Mode(mode)),
        }
    }

    fn numbers(&mut self, count: u8, part: Part) -> Result<Vec<u32>, DecodeQuorumError> {
        (0..count).map(|_| Ok(u32::from_be_bytes(self.array(part)?))).collect()
    }

    fn bitmap(&mut self, length: usize, part: Part) -> Result<MemberSet, DecodeQuorumError> {
        let bytes = self.take(length, part)?;
        let bitmap = MemberSet::from_bytes(bytes).map_err(|source| DecodeQuorumError::Bitmap { part, source })?;
        if bitmap.is_empty() { Err(DecodeQuorumError::Empty(part)) } else { Ok(bitmap) }
    }

    fn hints(&mut self) -> Result<Vec<CounterHint>, DecodeQuorumError> {
        let mut hints = Vec::new();
        while self.left() > 0 {
            let [counter, y @ ..]: [u8; CounterHint::BYTES] = self.array(Part::Hints)?;
            hints.push(CounterHint { counter, y });
        }
        Ok(hints)
    }
}
