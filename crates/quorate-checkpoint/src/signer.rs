//! What a signer writes down before it signs, so that it never signs two things that exclude each other.
//!
//! The record is a [`KeyRecord`]: its first line names the key, and each further line has a statement by its digest. A line is on
//! the disk before the signature leaves. The rules, for each chain:
//!
//! 1. A signer signs one checkpoint for a height, for one set. The same one again gives the same signature.
//! 2. It signs no checkpoint below the highest that it has signed.
//! 3. Once it has signed a checkpoint, it signs none that says that it is the first (`previous` zero).
//! 4. It signs one change of a set: none that leads from the same set to another one.
//!
//! It does not ask that `previous` is the last checkpoint that it signed itself. That one may never have got enough
//! signatures, and then the others go on from an earlier one.
//!
//! An entry that lost its end counts as signed. Whether the program was stopped while it wrote it, or the record was cut off while
//! it was copied, cannot be seen. If its chain and height can still be read, the signer goes on above that height, which the rules
//! allow in both cases. If not, it signs nothing that the entry may exclude.
//!
//! Give each key one record, and keep it with the key. A signer that lost its record signs nothing until everything that
//! it may have signed has expired.

use std::path::{Path, PathBuf};

use quorate::{MinPk, PublicKey, SecretKey};
use quorate_host::{
    file::FileError,
    key_record::{KeyRecord, KeyRecordError, Mended, Piece, RecordEntry},
};
use serde::{Deserialize, Serialize};

use crate::{
    checkpoint::Checkpoint,
    hex,
    set::{SUITE, SetManifest, SignerSet},
    sets::Rotation,
    signatures::{IndexedSignature, Posting},
};

/// A signer's record, open and locked.
#[derive(Debug)]
pub struct SignerRecord(KeyRecord<Entry>);

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// There is no record, or none of this key, or it cannot be used.
    #[error(transparent)]
    Record(#[from] KeyRecordError),
    /// The entry was not written down.
    #[error(transparent)]
    File(#[from] FileError),
    /// An entry of the record lacks its end, and may exclude this.
    #[error("{}, line {line}: {}", path.display(), torn(*height))]
    Torn {
        /// The record.
        path: PathBuf,
        /// From 1 on.
        line: usize,
        /// The height that the entry names, if it can be read.
        height: Option<u64>,
    },
    /// Another checkpoint of the height was signed.
    #[error(
        "at height {height} the checkpoint with the digest {} was signed already, and this one has the digest {} (or another set); sign one at a greater height",
        hex::prefixed(signed),
        hex::prefixed(found)
    )]
    AnotherAtThisHeight {
        /// The height.
        height: u64,
        /// The digest of the one that was signed.
        signed: [u8; 32],
        /// The digest of this one.
        found: [u8; 32],
    },
    /// A higher checkpoint was signed.
    #[error(
        "found height {found}, but a checkpoint at height {signed} was signed already; sign one at a greater height"
    )]
    Lower {
        /// This one's height.
        found: u64,
        /// The highest one's.
        signed: u64,
    },
    /// It says that it is the first one.
    #[error(
        "the checkpoint's previous is zero, but one at height {signed} was signed already; name the digest of the previous one"
    )]
    NoPrevious {
        /// The highest one's height.
        signed: u64,
    },
    /// Another change of the set was signed.
    #[error(
        "a change from this set to the set {} was signed already, and this one leads to {}",
        hex::prefixed(signed),
        hex::prefixed(found)
    )]
    AnotherRotation {
        /// The id of the new set that was signed.
        signed: [u8; 32],
        /// The id of the new set of this change.
        found: [u8; 32],
    },
    /// The change begins at another set, or skips an epoch.
    #[error("the change does not lead from this set (epoch {epoch}) to the next epoch; compare the two files")]
    NotTheNextSet {
        /// The set's epoch.
        epoch: u64,
    },
    /// The checkpoint names another set.
    #[error("the checkpoint is of set epoch {found}, expected {newest}, the newest; make it for the newest set")]
    Epoch {
        /// The checkpoint's.
        found: u64,
        /// The newest set's.
        newest: u64,
    },
    /// The key is not one of the set.
    #[error("the key is not one of the set; name another key or another set")]
    NotASigner,
}

/// A line of the record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Entry {
    Checkpoint {
        #[serde(with = "hex::array")]
        chain_id: [u8; 32],
        height: u64,
        #[serde(with = "hex::array")]
        set: [u8; 32],
        #[serde(with = "hex::array")]
        digest: [u8; 32],
    },
    Rotation {
        #[serde(with = "hex::array")]
        from: [u8; 32],
        #[serde(with = "hex::array")]
        to: [u8; 32],
    },
}

impl RecordEntry for Entry {
    const FORMS: &'static [&'static [Piece]] = &[
        &[
            Piece::Text("{\"checkpoint\":{\"chain_id\":\"0x"),
            Piece::Hex(32),
            Piece::Text("\",\"height\":"),
            Piece::Number,
            Piece::Text(",\"set\":\"0x"),
            Piece::Hex(32),
            Piece::Text("\",\"digest\":\"0x"),
            Piece::Hex(32),
            Piece::Text("\"}}"),
        ],
        &[
            Piece::Text("{\"rotation\":{\"from\":\"0x"),
            Piece::Hex(32),
            Piece::Text("\",\"to\":\"0x"),
            Piece::Hex(32),
            Piece::Text("\"}}"),
        ],
    ];
}

/// [`RecordEntry::FORMS`], by number.
const CHECKPOINT: usize = 0;
const ROTATION: usize = 1;

impl SignerRecord {
    /// Begins the record of a key that has signed nothing yet, and locks it.
    ///
    /// # Errors
    /// [`SignError::Record`]: there is a file of this name, or it cannot be made.
    pub fn begin(path: &Path, key: &PublicKey<MinPk>) -> Result<Self, SignError> {
        Ok(Self(KeyRecord::begin(path, key.to_bytes().as_ref())?))
    }

    /// Opens the record of a key, and locks it. If the last line lacks only its line end, that is added.
    ///
    /// A record of an earlier version names no key. It is read, and the next entry binds it to this key.
    ///
    /// # Errors
    /// [`SignError::Record`]: there is none, it is that of another key, or it is damaged.
    pub fn open(path: &Path, key: &PublicKey<MinPk>) -> Result<Self, SignError> {
        Ok(Self(KeyRecord::open(path, key.to_bytes().as_ref())?))
    }

    /// Signs a checkpoint, if the rules allow it: writes it down, and then makes the signature.
    ///
    /// # Errors
    /// [`SignError`]: nothing was signed.
    pub fn sign(
        &mut self,
        checkpoint: &Checkpoint,
        set: &SignerSet,
        key: &SecretKey<MinPk>,
    ) -> Result<Posting, SignError> {
        let index = set.index_of(&key.public_key()).ok_or(SignError::NotASigner)?;
        if checkpoint.set_epoch != set.epoch() {
            return Err(SignError::Epoch { found: checkpoint.set_epoch, newest: set.epoch() });
        }
        let entry = self.admit(checkpoint, set.id())?;
        if let Some(signed) = self.admit_beside_torn(&entry)?
            && checkpoint.previous == [0; 32]
        {
            return Err(SignError::NoPrevious { signed });
        }
        self.0.write_down(entry)?;
        let signature = key.sign(SUITE, &checkpoint.signing_bytes(&set.id())).to_bytes();
        let signatures = vec![IndexedSignature { index, signature }];
        Ok(Posting { document: checkpoint.clone(), bitmap: None, sum: None, signatures })
    }

    /// Signs a change from one set to the next, if the rules allow it, for each of the two sets that the key is in.
    ///
    /// # Errors
    /// [`SignError`]: nothing was signed.
    pub fn sign_rotation(
        &mut self,
        old: &SignerSet,
        to: &SetManifest,
        key: &SecretKey<MinPk>,
    ) -> Result<Rotation, SignError> {
        if old.epoch().checked_add(1) != Some(to.epoch) {
            return Err(SignError::NotTheNextSet { epoch: old.epoch() });
        }
        let public_key = key.public_key().to_bytes();
        let in_old = old.index_of(&key.public_key());
        let in_new = to.signers.iter().position(|signer| signer.public_key == public_key);
        let in_new = in_new.and_then(|index| u16::try_from(index).ok());
        if in_old.is_none() && in_new.is_none() {
            return Err(SignError::NotASigner);
        }
        let (from, found) = (old.id(), to.id());
        let another = self.0.entries().iter().find_map(|entry| match entry {
            Entry::Rotation { from: other, to } if *other == from && *to != found => Some(*to),
            _ => None,
        });
        if let Some(signed) = another {
            return Err(SignError::AnotherRotation { signed, found });
        }
        let entry = Entry::Rotation { from, to: found };
        self.admit_beside_torn(&entry)?;
        self.0.write_down(entry)?;
        let mut rotation = Rotation::proposal(old, to.clone());
        let signature = key.sign(SUITE, &rotation.signing_bytes()).to_bytes();
        let signed =
            |index: Option<u16>| index.map(|index| IndexedSignature { index, signature }).into_iter().collect();
        (rotation.old, rotation.new) = (signed(in_old), signed(in_new));
        Ok(rotation)
    }

    /// Applies rules 1 to 3: the entry that is to be written down.
    fn admit(&self, checkpoint: &Checkpoint, set: [u8; 32]) -> Result<Entry, SignError> {
        let Checkpoint { chain_id, height, .. } = *checkpoint;
        let digest = checkpoint.digest();
        let entry = Entry::Checkpoint { chain_id, height, set, digest };
        if self.0.entries().contains(&entry) {
            return Ok(entry);
        }
        let earlier = self.0.entries().iter().filter_map(|entry| match entry {
            Entry::Checkpoint { chain_id: chain, height, digest, .. } if *chain == chain_id => Some((*height, *digest)),
            _ => None,
        });
        match earlier.max_by_key(|(height, _)| *height) {
            Some((signed, _)) if height < signed => Err(SignError::Lower { found: height, signed }),
            Some((signed, other)) if height == signed => {
                Err(SignError::AnotherAtThisHeight { height, signed: other, found: digest })
            }
            Some((signed, _)) if checkpoint.previous == [0; 32] => Err(SignError::NoPrevious { signed }),
            _ => Ok(entry),
        }
    }

    /// Applies the rules to the entries that lack their ends: each may have been signed. If a checkpoint is above one of them, that
    /// one's height.
    fn admit_beside_torn(&self, entry: &Entry) -> Result<Option<u64>, SignError> {
        let mut below = None;
        if self.0.entries().contains(entry) {
            return Ok(below);
        }
        for torn in self.0.torn() {
            let bytes =
                |at: usize| torn.values.get(at).and_then(|digits| const_hex::decode_to_array::<_, 32>(digits).ok());
            let mut named = None;
            let excluded = match (torn.form, entry) {
                (Some(ROTATION), Entry::Checkpoint { .. }) | (Some(CHECKPOINT), Entry::Rotation { .. }) => false,
                (Some(CHECKPOINT), Entry::Checkpoint { chain_id, height, set, digest }) => {
                    named = torn.values.get(1).and_then(|digits| digits.parse::<u64>().ok());
                    let same = bytes(2) == Some(*set) && bytes(3) == Some(*digest);
                    let above = named.is_some_and(|named| *height > named);
                    let of_chain = bytes(0).is_none_or(|chain| chain == *chain_id);
                    if of_chain && above {
                        below = below.max(named);
                    }
                    of_chain && !same && !above
                }
                (Some(ROTATION), Entry::Rotation { from, to }) => {
                    bytes(0).is_none_or(|other| other == *from) && bytes(1) != Some(*to)
                }
                _ => true,
            };
            if excluded {
                let (path, line) = (self.0.path().to_owned(), torn.line);
                return Err(SignError::Torn { path, line, height: named });
            }
        }
        Ok(below)
    }

    /// What was found at the end of the file and is not as it should be. Show it to whoever signs.
    pub fn mended(&self) -> Option<Mended> {
        self.0.mended()
    }

    /// Whether the file names its key. One of an earlier version does not; the next entry binds it to the key that signs.
    pub fn names_key(&self) -> bool {
        self.0.names_key()
    }

    /// The record's file.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    #[cfg(test)]
    pub(crate) fn interrupt(&mut self, before: quorate_host::file::Before) {
        self.0.interrupt(before);
    }
}

/// What is wrong with a torn entry, and what to do.
fn torn(height: Option<u64>) -> String {
    let (what, above) = match height {
        Some(height) => {
            (format!("a checkpoint at height {height}"), format!("sign one at a greater height than {height}, or "))
        }
        None => ("something that cannot be read and may exclude this".to_owned(), String::new()),
    };
    format!(
        "the entry lacks its end, so {what} may have been signed already; {above}bring the whole record back from a copy that is \
         not older than the last signature. If you know that the program was stopped while it wrote this line and printed no \
         signature, remove the line"
    )
}
