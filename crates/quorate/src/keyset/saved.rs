//! A key set as bytes, from which it is read back without the square roots and the membership checks of its keys.
//!
//! ```text
//! "quorate key set 1\n", the suite's name, "\n"
//! the number of members: 8 bytes, the lowest first
//! by member: whether its possession is unproven (0), assumed (1) or proven (2)
//! by member: its key, uncompressed
//! SHA-256 of everything above
//! ```

use std::num::NonZeroUsize;

use quorate_curve::{Backend, Bls12381Group, G1, G2, Group};
use sha2::{Digest, Sha256};

use super::{
    any::AnyKeySet,
    set::{DECODED_TOGETHER, KeySet, LEAST, Possession},
};
use crate::{
    parse::ParseError,
    suite::{AnySuite, Bls12381Suite},
    threads::parallel_chunks,
};

const MAGIC: &[u8] = b"quorate key set 1\n";

/// Why bytes are no key set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SavedKeysError {
    /// They do not begin as a key set does.
    #[error("not a saved key set: it does not begin with {:?}", String::from_utf8_lossy(MAGIC))]
    NotAKeySet,
    /// They begin as a key set does, but the header is cut short, or no line with a suite's name is in it.
    #[error("the header of the key set is cut short, or has no line with the name of a suite")]
    Header,
    /// The suite is unknown, or no suite on BLS12-381.
    #[error("a key set of the suite {0:?}, which is no suite on BLS12-381 that is known here")]
    Suite(String),
    /// There are fewer or more bytes than the number of members says.
    #[error("a key set of {members} members has {expected} bytes, but there are {found}")]
    Length {
        /// The number of members that the bytes state.
        members: u64,
        /// The bytes that they need.
        expected: u128,
        /// The bytes that there are.
        found: usize,
    },
    /// The digest is another one: the bytes were damaged.
    #[error("the key set is damaged: its digest does not match")]
    Digest,
    /// A member's possession is neither of the three.
    #[error("member {index} has the possession {found}, expected 0, 1 or 2")]
    Possession {
        /// Which member.
        index: usize,
        /// The byte.
        found: u8,
    },
    /// A key is not canonical, not on the curve, or the identity.
    #[error("{error} (member {index})")]
    Key {
        /// Which member.
        index: usize,
        /// What is wrong with it.
        error: ParseError,
    },
}

impl<S: Bls12381Suite> KeySet<S> {
    /// The set as bytes, for a file that only its owner can write: see [`AnyKeySet::from_saved`].
    ///
    /// In min-pk a member takes 97 bytes, in min-sig 193.
    pub fn to_saved(&self) -> Vec<u8> {
        let name = self.suite.name().as_bytes();
        let length = MAGIC.len() + name.len() + 1 + 8 + self.len() * (1 + S::Key::UNCOMPRESSED) + DIGEST;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(name);
        bytes.push(b'\n');
        bytes.extend_from_slice(&(self.len() as u64).to_le_bytes());
        bytes.extend(self.possession.iter().map(|possession| match possession {
            Possession::Unproven => 0,
            Possession::Assumed => 1,
            Possession::Proven => 2,
        }));
        let indices: Vec<_> = (0..self.len() as u32).collect();
        for window in indices.chunks(DECODED_TOGETHER) {
            self.points.get(window).iter().for_each(|point| bytes.extend_from_slice(point.serialize().as_ref()));
        }
        let digest = Sha256::digest(&bytes);
        bytes.extend_from_slice(&digest);
        bytes
    }

    /// Reads so many members, whose bytes have the length that they need.
    fn read(
        suite: S,
        members: usize,
        bytes: &[u8],
        backend: Backend,
        threads: NonZeroUsize,
    ) -> Result<Self, SavedKeysError> {
        let (possession, keys) = bytes.split_at(members);
        let mut set = Self::new(suite, backend);
        let encodings: Vec<_> = keys.chunks(S::Key::UNCOMPRESSED).collect();
        for window in encodings.chunks(DECODED_TOGETHER.saturating_mul(threads.get())) {
            let decoded = parallel_chunks(threads, window, LEAST, |keys| backend.decode_uncompressed_each(keys));
            let mut points = Vec::with_capacity(decoded.len());
            for (i, point) in decoded.into_iter().enumerate() {
                let at = |error| SavedKeysError::Key { index: set.len() + i, error };
                let point: S::Key = point.map_err(|error| at(ParseError::Key(error)))?;
                if point.is_identity() {
                    return Err(at(ParseError::IdentityKey));
                }
                points.push(point);
            }
            set.points.extend(&points);
        }
        for (index, found) in possession.iter().enumerate() {
            set.possession.push(match found {
                0 => Possession::Unproven,
                1 => Possession::Assumed,
                2 => Possession::Proven,
                found => return Err(SavedKeysError::Possession { index, found: *found }),
            });
        }
        set.unproven = set.possession.iter().filter(|possession| **possession == Possession::Unproven).count();
        Ok(set)
    }
}

impl AnyKeySet {
    /// What the bytes of a saved set begin with.
    pub const SAVED: &'static [u8] = MAGIC;

    /// What the first [`SAVED_HEADER`](Self::SAVED_HEADER) bytes of a saved set, or all if there are fewer, say of the rest. So a
    /// caller can refuse a set that is too large before reading it.
    ///
    /// # Errors
    /// [`SavedKeysError::NotAKeySet`], [`SavedKeysError::Header`], [`SavedKeysError::Suite`].
    pub fn saved_header(start: &[u8]) -> Result<SavedHeader, SavedKeysError> {
        let content = start.strip_prefix(MAGIC).ok_or(SavedKeysError::NotAKeySet)?;
        let name = content.iter().take(NAME).position(|byte| *byte == b'\n').ok_or(SavedKeysError::Header)?;
        let (name, content) = (String::from_utf8_lossy(&content[..name]), &content[name + 1..]);
        let count = content.first_chunk::<8>().ok_or(SavedKeysError::Header)?;
        let (suite, key) = match name.parse() {
            Ok(suite @ AnySuite::MinPk(_)) => (suite, G1::UNCOMPRESSED),
            Ok(suite @ AnySuite::MinSig(_)) => (suite, G2::UNCOMPRESSED),
            _ => return Err(SavedKeysError::Suite(name.into_owned())),
        };
        let (members, header) = (u64::from_le_bytes(*count), start.len() - content.len() + count.len());
        let bytes = header as u128 + u128::from(members) * (1 + key as u128) + DIGEST as u128;
        Ok(SavedHeader { suite, members, bytes, header })
    }

    /// The most bytes that [`saved_header`](Self::saved_header) looks at.
    pub const SAVED_HEADER: usize = MAGIC.len() + NAME + 8;

    /// Reads what [`KeySet::to_saved`] wrote. It takes the bytes' word that every key is in the subgroup, and for what is known of
    /// its possession. The digest shows damage, not malice: whoever can change the file can make false claims pass, so keep it
    /// private to its owner.
    ///
    /// # Errors
    /// [`SavedKeysError`].
    ///
    /// Cost: the digest, and for each key the check that it is on the curve.
    pub fn from_saved(bytes: &[u8], backend: Backend, threads: NonZeroUsize) -> Result<Self, SavedKeysError> {
        let SavedHeader { suite, members, bytes: expected, header } = Self::saved_header(bytes)?;
        if expected != bytes.len() as u128 {
            return Err(SavedKeysError::Length { members, expected, found: bytes.len() });
        }
        let (content, digest) = bytes.split_at(bytes.len() - DIGEST);
        if Sha256::digest(content)[..] != *digest {
            return Err(SavedKeysError::Digest);
        }
        let (members, content) = (members as usize, &content[header..]);
        match suite {
            AnySuite::MinPk(suite) => Ok(KeySet::read(suite, members, content, backend, threads)?.into_any()),
            AnySuite::MinSig(suite) => Ok(KeySet::read(suite, members, content, backend, threads)?.into_any()),
            #[cfg(feature = "bn254")]
            AnySuite::Bn254(suite) => Err(SavedKeysError::Suite(suite.to_string())),
        }
    }
}

/// What the beginning of a saved set says of the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SavedHeader {
    /// The suite of the set.
    pub suite: AnySuite,
    /// How many members there are.
    pub members: u64,
    /// How many bytes the whole set has.
    pub bytes: u128,
    /// How many of them stand in front of the members.
    header: usize,
}

/// The bytes of the digest.
const DIGEST: usize = 32;

/// The longest name of a suite that is looked for.
const NAME: usize = 100;
