//! SHA-256 of what goes through, and of parts of files.

use std::{
    fmt,
    fs::File,
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use super::error::ShardError;

/// A SHA-256 digest, in JSON as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub(super) [u8; 32]);

impl Digest {
    /// The digest of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&const_hex::encode(self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        let mut digest = [0; 32];
        const_hex::decode_to_slice(text.as_bytes(), &mut digest)
            .map_err(|error| de::Error::custom(format!("expected a SHA-256 digest in hexadecimal digits: {error}")))?;
        Ok(Self(digest))
    }
}

/// Hashes what is written, and passes it on.
pub(super) struct Hashing<W> {
    inner: W,
    hash: Sha256,
}

impl<W: Write> Hashing<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, hash: Sha256::new() }
    }

    /// The digest of what was written so far.
    pub(super) fn digest(&self) -> Digest {
        Digest(self.hash.clone().finalize().into())
    }

    /// What it writes to, past the hash.
    pub(super) fn inner(&mut self) -> &mut W {
        &mut self.inner
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for Hashing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// How many bytes some parts of a file have, and their digest, one after the other. A part is an offset and a length, in bytes; one that the
/// file lacks is an error.
pub(super) fn digest_of_parts(
    path: &Path,
    parts: impl IntoIterator<Item = (u64, u64)>,
) -> Result<(u64, Digest), ShardError> {
    let read = ShardError::read(path);
    let mut file = File::open(path).map_err(read)?;
    let end = file.metadata().map_err(read)?.len();
    let (mut bytes, mut to) = (0, Hashing::new(io::sink()));
    for (offset, length) in parts {
        let mut copied = 0;
        // A system refuses to go to a place where no file ends.
        if offset <= end {
            file.seek(SeekFrom::Start(offset)).map_err(read)?;
            copied = io::copy(&mut Read::by_ref(&mut file).take(length), &mut to).map_err(read)?;
        }
        if copied < length {
            let reason = format!(
                "found the end of the file, expected {length} bytes at offset {offset}; it is damaged or cut off, get it again"
            );
            return Err(ShardError::unfit(path, reason));
        }
        bytes += copied;
    }
    Ok((bytes, to.digest()))
}
