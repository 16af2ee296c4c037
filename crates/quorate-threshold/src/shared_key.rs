//! The public half of a shared key: who shares it, and the commitment from which every public key of it follows.

use std::fmt::{self, Debug};

use quorate::{AnySuite, Backend, Options, PublicKey, Suite};
use serde::{Deserialize, Serialize};

use crate::{
    collector::{Collector, CollectorError},
    committee::{Committee, CommitteeError, Identifiers, Index},
    sharing::{Commitment, SharingError},
};

/// A key that a committee shares: everything about it that is public. A ceremony and a dealer give it to everyone, and
/// it is kept in a file of JSON:
///
/// ```text
/// {"suite": "eth2", "threshold": 3, "participants": 5, "identifiers": "integers",
///  "public_key": "a1…", "commitment": ["a1…", "92…", "b0…"]}
/// ```
///
/// Points are compressed and in hexadecimal. The first point of the commitment is the public key.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedKey<S: Suite> {
    suite: S,
    committee: Committee,
    commitment: Commitment<S>,
}

/// Why text is no shared key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedKeyError {
    /// The text is not JSON with the fields of a shared key.
    #[error("it is not the JSON of a shared key: {0}")]
    Json(#[from] serde_json::Error),
    /// The suite is of the other variant, or none that keys can be shared in.
    #[error("the suite is `{found}`, which is not one of {}", expected.join(", "))]
    Suite {
        /// The suite of the file.
        found: String,
        /// The suites of the variant that was asked for.
        expected: Vec<&'static str>,
    },
    /// There is no such committee.
    #[error(transparent)]
    Committee(#[from] CommitteeError),
    /// A point is not hexadecimal.
    #[error("point {place} of the commitment, from 0 on, is not hexadecimal: {reason}")]
    Hex {
        /// Its place.
        place: usize,
        /// What is wrong with it.
        reason: const_hex::FromHexError,
    },
    /// The commitment is none of the committee.
    #[error(transparent)]
    Sharing(#[from] SharingError),
    /// The public key is not the commitment's.
    #[error("the public key is not the first point of the commitment")]
    PublicKey,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    suite: String,
    threshold: usize,
    participants: usize,
    identifiers: Identifiers,
    public_key: String,
    commitment: Vec<String>,
}

impl<S: Suite> SharedKey<S> {
    /// The key that a commitment of a committee commits to.
    ///
    /// # Errors
    /// [`SharingError::Degree`], if the commitment has not as many points as the threshold.
    pub fn new(suite: S, committee: Committee, commitment: Commitment<S>) -> Result<Self, SharingError> {
        let (found, threshold) = (commitment.points().len(), committee.threshold());
        if found == threshold {
            Ok(Self { suite, committee, commitment })
        } else {
            Err(SharingError::Degree { found, threshold })
        }
    }

    /// The suite of its signatures.
    pub fn suite(&self) -> S {
        self.suite
    }

    /// Who shares it.
    pub fn committee(&self) -> &Committee {
        &self.committee
    }

    /// What it follows from.
    pub fn commitment(&self) -> &Commitment<S> {
        &self.commitment
    }

    /// The key under which the signatures of the group verify.
    pub fn public_key(&self) -> PublicKey<S> {
        self.commitment.public_key()
    }

    /// The key under which a participant's signature shares verify.
    ///
    /// # Errors
    /// [`SharingError::IdentityKey`].
    pub fn verification_key(&self, index: Index, backend: Backend) -> Result<PublicKey<S>, SharingError> {
        self.commitment.verification_key(&self.committee, index, backend)
    }

    /// A collector of signature shares of a message.
    ///
    /// # Errors
    /// [`SharedKeyCollectorError`].
    ///
    /// Cost: that of all verification keys, [`Commitment::verification_keys`].
    pub fn collector(&self, message: &[u8], options: Options) -> Result<Collector<S>, SharedKeyCollectorError> {
        let keys = self.commitment.verification_keys(&self.committee, &options)?;
        Ok(Collector::new(self.committee.clone(), self.suite, self.public_key(), keys, message, options)?)
    }

    /// The JSON of a file, with a line feed at its end.
    pub fn to_json(&self) -> String {
        let points: Vec<_> = self.commitment.points().iter().map(|point| const_hex::encode(point.to_bytes())).collect();
        let file = File {
            suite: self.suite.name().to_owned(),
            threshold: self.committee.threshold(),
            participants: self.committee.participants(),
            identifiers: self.committee.identifiers(),
            public_key: points[0].clone(),
            commitment: points,
        };
        serde_json::to_string_pretty(&file).expect("text and numbers are JSON") + "\n"
    }

    /// Reads the JSON of a file.
    ///
    /// # Errors
    /// [`SharedKeyError`].
    pub fn from_json(json: &[u8], backend: Backend) -> Result<Self, SharedKeyError> {
        let file: File = serde_json::from_slice(json)?;
        let suite = file.suite.parse().map_err(|_| SharedKeyError::Suite {
            found: file.suite.clone(),
            expected: S::all().iter().map(|suite| suite.name()).collect(),
        })?;
        let committee = Committee::new(file.threshold, file.participants, file.identifiers, backend)?;
        let decoded = file
            .commitment
            .iter()
            .enumerate()
            .map(|(place, text)| const_hex::decode(text).map_err(|reason| SharedKeyError::Hex { place, reason }));
        let decoded = decoded.collect::<Result<Vec<_>, _>>()?;
        let points: Vec<_> = decoded.iter().map(Vec::as_slice).collect();
        let commitment = Commitment::from_bytes(&committee, &points, backend)?;
        if const_hex::decode(&file.public_key).ok().as_deref() != Some(points[0]) {
            return Err(SharedKeyError::PublicKey);
        }
        Ok(Self { suite, committee, commitment })
    }
}

/// The suite that a file of JSON names: which type it is to be read as.
///
/// # Errors
/// [`SharedKeyError::Json`], [`SharedKeyError::Suite`].
pub fn suite_of_json(json: &[u8]) -> Result<AnySuite, SharedKeyError> {
    #[derive(Deserialize)]
    struct Suite {
        suite: String,
    }
    let Suite { suite } = serde_json::from_slice(json)?;
    suite
        .parse()
        .map_err(|_| SharedKeyError::Suite { found: suite, expected: AnySuite::all().map(AnySuite::name).collect() })
}

/// Why a shared key gives no collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharedKeyCollectorError {
    /// The key of a participant is the identity.
    #[error(transparent)]
    Sharing(#[from] SharingError),
    /// The suite has no shares that can be combined.
    #[error(transparent)]
    Collector(#[from] CollectorError),
}

impl<S: Suite> Debug for SharedKey<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SharedKey({}, {} of {}, {})",
            self.suite,
            self.committee.threshold(),
            self.committee.participants(),
            const_hex::encode(self.public_key().to_bytes())
        )
    }
}
