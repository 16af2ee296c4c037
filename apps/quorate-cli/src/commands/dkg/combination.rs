//! The file `combination.json` of a ceremony in one round: which transcripts made the key. Whoever comes later takes the same.

use quorate::Bls12381Suite;
use quorate_threshold::dkg::{Ceremony, Name};
use serde::{Deserialize, Serialize};

/// The transcripts that count, in the order of their dealers in `ceremony.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Combination {
    format: String,
    ceremony: String,
    transcripts: Vec<CountedTranscript>,
}

/// A transcript that counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountedTranscript {
    /// The name of its dealer.
    pub dealer: String,
    /// The digest of the signed transcript, in hexadecimal digits.
    pub digest: String,
}

/// Why bytes are not the list of a ceremony.
#[derive(Debug, thiserror::Error)]
pub enum CombinationError {
    /// They are not the JSON of a list: perhaps somebody writes it.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The list is of another format or of another ceremony.
    #[error("it is not the `{format}` of the ceremony {ceremony}", format = FORMAT)]
    OtherCeremony {
        /// The ceremony that was expected.
        ceremony: String,
    },
    /// A dealer is no member, or does not stand in its place.
    #[error("it does not name members once each, in the order of ceremony.json")]
    Members,
}

/// The version of the format.
const FORMAT: &str = "quorate-combination-v1";

impl Combination {
    /// The list of a ceremony with these transcripts, in the order of their dealers.
    pub fn new<S: Bls12381Suite>(ceremony: &Ceremony<S>, transcripts: Vec<CountedTranscript>) -> Self {
        Self { format: FORMAT.to_owned(), ceremony: ceremony.id().to_string(), transcripts }
    }

    /// Reads the list of a ceremony. Whether the transcripts are there, and are true, is not checked.
    ///
    /// # Errors
    /// [`CombinationError`].
    pub fn from_json<S: Bls12381Suite>(json: &[u8], ceremony: &Ceremony<S>) -> Result<Self, CombinationError> {
        let list: Self = serde_json::from_slice(json)?;
        let expected = ceremony.id().to_string();
        if (list.format.as_str(), &list.ceremony) != (FORMAT, &expected) {
            return Err(CombinationError::OtherCeremony { ceremony: expected });
        }
        let number =
            |entry: &CountedTranscript| Name::new(&entry.dealer).ok().and_then(|name| ceremony.member_named(&name));
        let dealers: Option<Vec<_>> = list.transcripts.iter().map(number).collect();
        if !dealers.is_some_and(|dealers| dealers.is_sorted_by(|one, next| one < next)) {
            return Err(CombinationError::Members);
        }
        Ok(list)
    }

    /// The text of the file.
    ///
    /// # Errors
    /// None that a list of strings can have.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The transcripts that count.
    pub fn transcripts(&self) -> &[CountedTranscript] {
        &self.transcripts
    }
}
