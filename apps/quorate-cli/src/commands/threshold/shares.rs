//! Signature shares in JSON Lines.

use quorate_formats::{Uint, from_hex, json};
use serde::{Deserialize, Serialize};

use crate::commands::{lines::field, suite::Bls12381Choice};

/// A signature share as `quorate threshold sign` prints it.
#[derive(Serialize)]
pub(super) struct SignatureShareLine {
    pub(super) suite: &'static str,
    pub(super) index: u64,
    /// The key that all participants share.
    pub(super) public_key: String,
    pub(super) message: String,
    pub(super) signature: String,
}

/// A signature share as a line states it. Nothing of it is proven.
pub(super) struct SignatureShare {
    pub(super) index: u64,
    pub(super) message: Vec<u8>,
    pub(super) signature: Vec<u8>,
}

/// The shared key whose shares are read.
pub(super) struct ShareReader {
    pub(super) suite: Bls12381Choice,
    /// The shared key, encoded.
    pub(super) public_key: Vec<u8>,
}

impl ShareReader {
    /// The share on a line, or the reason why the line is not a share of this key.
    pub(super) fn read(&self, text: &str) -> Result<SignatureShare, String> {
        let object: Object = json::object(text).map_err(|error| error.to_string())?;
        if let Some(found) = object.suite.filter(|found| found != self.suite.name()) {
            return Err(format!("\"suite\": found {found:?}, expected {}, the suite of the shared key", self.suite));
        }
        if field("public_key", object.public_key)? != self.public_key {
            return Err("\"public_key\": the share is of another key than --shared-key".to_owned());
        }
        Ok(SignatureShare {
            index: object.index.ok_or("\"index\" is missing")?.0,
            message: field("message", object.message)?,
            signature: field("signature", object.signature)?,
        })
    }
}

/// The message of a flag.
pub(super) fn message(text: &str) -> Result<Message, String> {
    from_hex(text).map(Message).map_err(|error| error.to_string())
}

/// The bytes of a flag. They have a type of their own, because clap reads a `Vec` as a flag that may be repeated.
#[derive(Clone, Debug)]
pub(super) struct Message(pub(super) Vec<u8>);

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Object {
    suite: Option<String>,
    index: Option<Uint>,
    public_key: Option<String>,
    message: Option<String>,
    signature: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_too_large_is_told_as_such() {
        let read = |index: &str| json::object::<Object>(&format!(r#"{{"index": {index}}}"#)).map(|object| object.index);
        assert_eq!(read("7"), Ok(Some(Uint(7))));
        let reason = read("18446744073709551617").unwrap_err().to_string();
        assert!(reason.starts_with("\"index\": found a number above 2^64 - 1, expected an integer from 0"), "{reason}");
    }
}
