//! What a node serves under `GET /v1/checkpoint`.

use serde::{Deserialize, Serialize};

use crate::{
    evidence::Equivocation,
    json::{self, JsonError},
    sets::Sets,
    signatures::Posting,
};

/// The answer of a node. Nothing in it is checked; a [`Client`](crate::Client) checks it.
///
/// ```text
/// {"sets": {"first": {…}, "rotations": […]},
///  "checkpoints": [{"document": {…}, "bitmap": "0x15", "sum": "0x…", "signatures": [{"index": 0, "signature": "0x…"}, …]}],
///  "evidence": {"checkpoints": [{…}, {…}]}}
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Served {
    /// The sets of signers, from the first one on.
    pub sets: Sets,
    /// The newest checkpoint that enough signers have signed, and others that are still waiting for signatures. At most
    /// [`MOST_SERVED`].
    pub checkpoints: Vec<Posting>,
    /// Evidence against signers, if there is any. The field is absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Equivocation>,
}

impl Served {
    /// Reads the JSON of an answer, of at most [`LARGEST_ANSWER`] bytes.
    ///
    /// # Errors
    /// [`JsonError`].
    pub fn from_json(bytes: &[u8]) -> Result<Self, JsonError> {
        let what = "a node's answer about checkpoints";
        let served: Self = json::object(bytes, LARGEST_ANSWER, what)?;
        if served.checkpoints.len() > MOST_SERVED {
            let found = served.checkpoints.len();
            let reason = format!("in the field checkpoints: found {found}, expected at most {MOST_SERVED}");
            return Err(JsonError::Unfit { what, reason });
        }
        Ok(served)
    }

    /// The JSON of the answer.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers, lists and hexadecimal can always be written")
    }
}

/// A node serves at most this many checkpoints.
pub const MOST_SERVED: usize = 4;

/// An answer has at most this many bytes.
pub const LARGEST_ANSWER: usize = 8 << 20;
