//! The public half of a shared key: who shares it, and the commitment from which every public key of it follows.

use std::fmt::{self, Debug};

use quorate::{AnySuite, Backend, Bls12381Suite, NotHex, Options, PublicKey, from_hex};
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
pub struct SharedKey<S: Bls12381Suite> {
    suite: S,
    committee: Committee,
    commitment: Commitment<S>,
}

/// Why text is not a shared key.
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
        reason: NotHex,
    },
    /// The commitment does not fit the committee.
    #[error(transparent)]
    Sharing(#[from] SharingError),
    /// The public key is not the commitment's.
    #[error("the public key is not the first point of the commitment")]
    PublicKey,
}

/// The fields of a file, in its order.
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

/// The same fields inside the file of a ceremony. The ceremony's id is a digest of them in this order, which is that of the
/// alphabet.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SharedKeyFields {
    commitment: Vec<String>,
    identifiers: Identifiers,
    participants: usize,
    public_key: String,
    suite: String,
    threshold: usize,
}

impl SharedKeyFields {
    /// How many participants it states.
    pub(crate) fn participants(&self) -> usize {
        self.participants
    }
}

impl From<File> for SharedKeyFields {
    fn from(file: File) -> Self {
        let File { suite, threshold, participants, identifiers, public_key, commitment } = file;
        Self { commitment, identifiers, participants, public_key, suite, threshold }
    }
}

impl From<SharedKeyFields> for File {
    fn from(fields: SharedKeyFields) -> Self {
        let SharedKeyFields { commitment, identifiers, participants, public_key, suite, threshold } = fields;
        Self { suite, threshold, participants, identifiers, public_key, commitment }
    }
}

impl<S: Bls12381Suite> SharedKey<S> {
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

    /// The participants whose verification key is the identity. They have no share of the key, and the others sign without
    /// them.
    ///
    /// A share of zero is known to everybody, so with it one share less makes a signature: share the key anew among the
    /// others. Random polynomials give no such share. In a ceremony a dealer who speaks last can choose it for itself.
    ///
    /// Cost: that of all verification keys, [`Commitment::verification_keys`].
    pub fn without_share(&self, options: &Options) -> Vec<Index> {
        let keys = self.commitment.verification_keys(&self.committee, options);
        self.committee.indices().zip(keys).filter_map(|(index, key)| key.is_none().then_some(index)).collect()
    }

    /// A collector of signature shares of a message.
    ///
    /// # Errors
    /// [`CollectorError::Augmented`].
    ///
    /// Cost: that of all verification keys, [`Commitment::verification_keys`].
    pub fn collector(&self, message: &[u8], options: Options) -> Result<Collector<S>, CollectorError> {
        let keys = self.commitment.verification_keys(&self.committee, &options);
        Collector::new(self.committee.clone(), self.suite, self.public_key(), keys, message, options)
    }

    /// The JSON of a file, with a line feed at its end.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(&File::from(self.fields())).expect("text and numbers are JSON") + "\n"
    }

    /// What its file states.
    pub(crate) fn fields(&self) -> SharedKeyFields {
        let points: Vec<_> = self.commitment.points().iter().map(|point| const_hex::encode(point.to_bytes())).collect();
        SharedKeyFields {
            suite: self.suite.name().to_owned(),
            threshold: self.committee.threshold(),
            participants: self.committee.participants(),
            identifiers: self.committee.identifiers(),
            public_key: points[0].clone(),
            commitment: points,
        }
    }

    /// Reads the JSON of a file.
    ///
    /// # Errors
    /// [`SharedKeyError`].
    pub fn from_json(json: &[u8], backend: Backend) -> Result<Self, SharedKeyError> {
        let file: File = serde_json::from_slice(json)?;
        Self::from_fields(&file.into(), backend)
    }

    /// Checks what a file states. The points of its committee, which can be many more than the file has bytes, are made last.
    pub(crate) fn from_fields(file: &SharedKeyFields, backend: Backend) -> Result<Self, SharedKeyError> {
        let suite = file.suite.parse().map_err(|_| SharedKeyError::Suite {
            found: file.suite.clone(),
            expected: S::all().iter().map(|suite| suite.name()).collect(),
        })?;
        Committee::check(file.threshold, file.participants)?;
        let (found, threshold) = (file.commitment.len(), file.threshold);
        if found != threshold {
            return Err(SharingError::Degree { found, threshold }.into());
        }
        let decoded = file
            .commitment
            .iter()
            .enumerate()
            .map(|(place, text)| from_hex(text).map_err(|reason| SharedKeyError::Hex { place, reason }));
        let decoded = decoded.collect::<Result<Vec<_>, _>>()?;
        let points: Vec<_> = decoded.iter().map(Vec::as_slice).collect();
        let commitment = Commitment::of_any_degree(&points, backend)?;
        if from_hex(&file.public_key).ok().as_deref() != Some(points[0]) {
            return Err(SharedKeyError::PublicKey);
        }
        let committee = Committee::new(file.threshold, file.participants, file.identifiers, backend)?;
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

impl<S: Bls12381Suite> Debug for SharedKey<S> {
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

#[cfg(test)]
mod tests {
    use quorate::{MinPk, MinSig, SecretKey};
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
    use serde_json::{Value, json};

    use super::*;
    use crate::sharing::deal;

    fn shared<S: Bls12381Suite>(suite: S, t: usize, n: usize, identifiers: Identifiers) -> SharedKey<S> {
        let mut rng = ChaCha20Rng::from_seed([5; 32]);
        let committee = Committee::new(t, n, identifiers, Backend::auto()).unwrap();
        let secret = SecretKey::generate(suite, &mut rng);
        let (_, commitment) = deal(&committee, suite, &secret, &quorate::Options::default(), &mut rng).unwrap();
        SharedKey::new(suite, committee, commitment).unwrap()
    }

    /// The shared key of 2 of 3, with a field changed or removed.
    fn changed(field: &str, value: Value) -> Result<SharedKey<MinPk>, SharedKeyError> {
        let mut file: Value =
            serde_json::from_str(&shared(MinPk::Eth2, 2, 3, Identifiers::Integers).to_json()).unwrap();
        match value {
            Value::Null => drop(file.as_object_mut().unwrap().remove(field).unwrap()),
            value => file[field] = value,
        }
        SharedKey::from_json(file.to_string().as_bytes(), Backend::auto())
    }

    fn there_and_back<S: Bls12381Suite>(suite: S) {
        for identifiers in [Identifiers::Integers, Identifiers::RootsOfUnity] {
            for (t, n) in [(1, 1), (2, 3), (5, 5)] {
                let key = shared(suite, t, n, identifiers);
                let json = key.to_json();
                let again = SharedKey::from_json(json.as_bytes(), Backend::auto()).unwrap();
                assert_eq!((&again, again.to_json()), (&key, json.clone()));
                assert_eq!((again.suite(), suite_of_json(json.as_bytes()).unwrap()), (suite, suite.any()));
            }
        }
    }

    #[test]
    fn written_and_read() {
        there_and_back(MinPk::Eth2);
        there_and_back(MinSig::DrandQuicknet);
    }

    #[test]
    fn text_that_is_no_shared_key_is_refused() {
        let whole = shared(MinPk::Eth2, 2, 3, Identifiers::Integers).to_json();
        let truncated = &whole[..whole.len() / 2];
        let twice = whole.replacen('{', "{\"threshold\": 2,", 1);
        for text in ["", "{", "[]", "7", truncated, &whole.repeat(2), &twice, &format!("{whole}x")] {
            let read = SharedKey::<MinPk>::from_json(text.as_bytes(), Backend::auto());
            assert!(matches!(read, Err(SharedKeyError::Json(_))), "{text}: {read:?}");
        }
        for field in ["suite", "threshold", "participants", "identifiers", "public_key", "commitment"] {
            assert!(matches!(changed(field, Value::Null), Err(SharedKeyError::Json(_))), "{field}");
        }
        assert!(matches!(changed("more", json!(1)), Err(SharedKeyError::Json(_))), "an unknown field");
        assert!(matches!(changed("threshold", json!(-1)), Err(SharedKeyError::Json(_))));
        assert!(matches!(changed("identifiers", json!("primes")), Err(SharedKeyError::Json(_))));
        assert!(matches!(suite_of_json(b"{}"), Err(SharedKeyError::Json(_))));
    }

    /// A suite of the other variant, or none.
    #[test]
    fn another_suite_is_refused() {
        for name in ["drand-quicknet", "eth3", ""] {
            let error = changed("suite", json!(name)).unwrap_err();
            assert!(matches!(&error, SharedKeyError::Suite { found, .. } if found == name), "{error:?}");
            assert!(error.to_string().contains("eth2"), "{error}");
        }
        assert!(matches!(suite_of_json(br#"{"suite": "eth3"}"#), Err(SharedKeyError::Suite { .. })));
    }

    #[test]
    fn committees_that_are_none_are_refused() {
        for (field, value) in [("threshold", 0_u64), ("threshold", 4), ("participants", 1), ("participants", 1 << 33)] {
            let read = changed(field, json!(value));
            assert!(matches!(read, Err(SharedKeyError::Committee(_))), "{field}, {value}: {read:?}");
        }
    }

    /// A commitment of another degree would raise or lower the threshold.
    #[test]
    fn another_degree_is_refused() {
        let key = shared(MinPk::Eth2, 3, 3, Identifiers::Integers);
        let points: Vec<_> = key.commitment().points().iter().map(ToString::to_string).collect();
        for found in [0, 1, 3] {
            let read = changed("commitment", json!(points[..found]));
            let degree = SharingError::Degree { found, threshold: 2 };
            assert!(matches!(&read, Err(SharedKeyError::Sharing(error)) if *error == degree), "{read:?}");
        }
        let committee = Committee::new(2, 3, Identifiers::Integers, Backend::auto()).unwrap();
        let made = SharedKey::new(MinPk::Eth2, committee, key.commitment().clone());
        assert_eq!(made, Err(SharingError::Degree { found: 3, threshold: 2 }));
    }

    /// The identity, a point of order three, no point, and no hexadecimal digits.
    #[test]
    fn points_that_are_none_are_refused() {
        let key = shared(MinPk::Eth2, 2, 3, Identifiers::Integers);
        let points: Vec<_> = key.commitment().points().iter().map(ToString::to_string).collect();
        let bad_points =
            [format!("c0{}", "00".repeat(47)), format!("80{}", "00".repeat(47)), "ff".repeat(48), "00".into()];
        for place in 0..2 {
            let with = |point: &str| {
                let mut points = points.clone();
                points[place] = point.to_owned();
                changed("commitment", json!(points))
            };
            for bad in &bad_points {
                let read = with(bad);
                let found = matches!(
                    &read,
                    Err(SharedKeyError::Sharing(SharingError::Point { place: at, .. })) if *at == place
                );
                assert!(found, "{bad}: {read:?}");
            }
            for bad in ["zz", "0", "a1…"] {
                let read = with(bad);
                assert!(matches!(read, Err(SharedKeyError::Hex { place: at, .. }) if at == place), "{bad}: {read:?}");
            }
        }
    }

    #[test]
    fn a_public_key_that_is_not_the_commitments_is_refused() {
        let key = shared(MinPk::Eth2, 2, 3, Identifiers::Integers);
        let second = key.commitment().points()[1].to_string();
        for public_key in [second.as_str(), "", "zz", "00"] {
            assert!(matches!(changed("public_key", json!(public_key)), Err(SharedKeyError::PublicKey)));
        }
    }
}
