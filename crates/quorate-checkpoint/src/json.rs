//! Reads JSON that others made: with a limit, and with the name of the field in which it is wrong.

use quorate_host::clipped;
use serde::de::DeserializeOwned;

/// Why bytes are not what they were read as.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// More bytes than the largest thing of this kind has.
    #[error("{what} has {found} bytes, and no valid one has more than {limit}; it was not read")]
    TooLarge {
        /// What was expected.
        what: &'static str,
        /// How many bytes there are.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The bytes are not JSON, or a field is missing, unknown, or of another type.
    #[error("expected {what} as a JSON object, but {reason}")]
    Unfit {
        /// What was expected.
        what: &'static str,
        /// The field, the place and what is wrong.
        reason: String,
    },
}

/// Reads an object of at most `limit` bytes. Nesting is limited by serde_json to 128 levels.
pub(crate) fn object<T: DeserializeOwned>(bytes: &[u8], limit: usize, what: &'static str) -> Result<T, JsonError> {
    if bytes.len() > limit {
        return Err(JsonError::TooLarge { what, found: bytes.len(), limit });
    }
    let unfit = |reason| JsonError::Unfit { what, reason };
    // serde would also accept an array, and read its elements as the fields in order.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(unfit("it does not begin with {".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read: T = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        let reason = shortened(&error.inner().to_string());
        unfit(if path == "." { reason } else { format!("in the field {}: {reason}", shortened(&path)) })
    })?;
    reader.end().map_err(|error| unfit(shortened(&error.to_string())))?;
    Ok(read)
}

/// Messages repeat parts of the input, which can be long.
fn shortened(text: &str) -> String {
    clipped(text, 200)
}
