//! What a signer writes down before it signs, so that it never signs two things that exclude each other.
//!
//! Each line is a JSON object: a statement by its digest, and a checksum. A line is on the disk before the signature
//! leaves. The rules, for each chain:
//!
//! 1. A signer signs one checkpoint for a height, for one set. The same one again gives the same signature.
//! 2. It signs no checkpoint below the highest that it has signed.
//! 3. Once it has signed a checkpoint, it signs none that says that it is the first (`previous` zero).
//! 4. It signs one change of a set: none that leads from the same set to another one.
//!
//! It does not ask that `previous` is the last checkpoint that it signed itself. That one may never have got enough
//! signatures, and then the others go on from an earlier one.
//!
//! Give each key one record, and keep it with the key. A signer that lost its record signs nothing until everything that
//! it may have signed has expired.

use std::path::{Path, PathBuf};

use quorate::{MinPk, SecretKey};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{
    checkpoint::Checkpoint,
    file::{AppendedFile, FileError},
    hex, json,
    set::{SUITE, SetManifest, SignerSet},
    sets::Rotation,
    signatures::{IndexedSignature, Posting},
};

/// A signer's record, open and locked.
#[derive(Debug)]
pub struct SignerRecord {
    file: AppendedFile,
    path: PathBuf,
    length: u64,
    entries: Vec<Entry>,
}

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    /// The record was not read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line of the record was changed.
    #[error("{}, line {line}: {reason}; bring the record back from a copy, and sign nothing before", path.display())]
    Damaged {
        /// The record.
        path: PathBuf,
        /// From 1 on.
        line: usize,
        /// What is wrong.
        reason: String,
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

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    signed: Entry,
    #[serde(with = "hex::array")]
    checksum: [u8; 32],
}

impl SignerRecord {
    /// Opens a record, or begins one, and locks it.
    ///
    /// A last line without an end is cut off: it was being written when the program was stopped, so its signature never
    /// left.
    ///
    /// # Errors
    /// [`SignError::File`], [`SignError::Damaged`].
    pub fn open(path: &Path) -> Result<Self, SignError> {
        let (mut file, contents) = AppendedFile::open(path, LARGEST)?;
        let whole = contents.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut entries = Vec::new();
        for (number, line) in contents[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
            entries.push(read(line).map_err(|reason| SignError::Damaged {
                path: path.to_owned(),
                line: number + 1,
                reason,
            })?);
        }
        if whole < contents.len() {
            file.cut(whole as u64)?;
        }
        Ok(Self { file, path: path.to_owned(), length: whole as u64, entries })
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
        self.write_down(entry)?;
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
        let another = self.entries.iter().find_map(|entry| match entry {
            Entry::Rotation { from: other, to } if *other == from && *to != found => Some(*to),
            _ => None,
        });
        if let Some(signed) = another {
            return Err(SignError::AnotherRotation { signed, found });
        }
        self.write_down(Entry::Rotation { from, to: found })?;
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
        if self.entries.contains(&entry) {
            return Ok(entry);
        }
        let earlier = self.entries.iter().filter_map(|entry| match entry {
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

    /// The record's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write_down(&mut self, entry: Entry) -> Result<(), SignError> {
        if self.entries.contains(&entry) {
            return Ok(());
        }
        let checksum = checksum(&entry);
        let mut line = serde_json::to_vec(&Line { signed: entry.clone(), checksum }).expect("it can always be written");
        line.push(b'\n');
        self.file.append(&line, self.length)?;
        self.length += line.len() as u64;
        self.entries.push(entry);
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn interrupt(&mut self, before: crate::file::Before) {
        self.file.interrupt(before);
    }
}

fn read(line: &[u8]) -> Result<Entry, String> {
    let Line { signed, checksum: found } =
        json::object(line, 1 << 10, "a line of a signer's record").map_err(|error| error.to_string())?;
    if checksum(&signed) != found {
        return Err("the checksum is not that of the entry".to_owned());
    }
    Ok(signed)
}

fn checksum(entry: &Entry) -> [u8; 32] {
    Sha256::digest(serde_json::to_vec(entry).expect("it can always be written")).into()
}

/// A record of 200,000 checkpoints has less.
const LARGEST: u64 = 64 << 20;
