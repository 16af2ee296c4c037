//! A task: the input that every library gets, which is the same in every run, the answers, and the work of quorate and blst.

use std::{fmt, hint::black_box};

use blst::min_pk;
use quorate::{Backend, MinPk, PublicKey};
use quorate_curve::{Bls12381Group as _, G1, G2};
use serde::{Deserialize, Serialize, Serializer};

use crate::measure::{Run, Spent};

/// What a library is asked, as it gets it.
#[derive(Clone, Serialize)]
pub(super) struct Input {
    pub(super) job: Job,
    pub(super) suite: Group,
    pub(super) tag: &'static str,
    pub(super) keys: Vec<Bytes>,
    pub(super) messages: Vec<Bytes>,
    pub(super) signatures: Vec<Bytes>,
    pub(super) scalars: Vec<Bytes>,
    /// Of each message the keys that signed it, by their places among `keys`.
    pub(super) sets: Vec<Vec<usize>>,
}

impl Input {
    /// Without points, under the suite's tag.
    pub(super) fn new(job: Job, suite: Group) -> Self {
        let tag = match suite {
            Group::MinPk => MIN_PK_TAG,
            Group::MinSig => MIN_SIG_TAG,
            Group::Bn254 => "",
        };
        let (keys, messages, signatures, scalars, sets) = Default::default();
        Self { job, suite, tag, keys, messages, signatures, scalars, sets }
    }

    /// The keys as quorate has them.
    pub(super) fn decoded_keys(&self) -> Vec<PublicKey<MinPk>> {
        self.keys.iter().map(|key| PublicKey::from_bytes(&key.0).expect("a key")).collect()
    }

    /// The keys as blst has them.
    pub(super) fn blst_keys(&self) -> Vec<min_pk::PublicKey> {
        self.keys.iter().map(|key| min_pk::PublicKey::from_bytes(&key.0).expect("a key")).collect()
    }

    /// The signatures as blst has them.
    pub(super) fn blst_signatures(&self) -> Vec<min_pk::Signature> {
        self.signatures.iter().map(|one| min_pk::Signature::from_bytes(&one.0).expect("a signature")).collect()
    }
}

pub(super) const MIN_PK_TAG: &str = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
pub(super) const MIN_SIG_TAG: &str = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Job {
    /// Each key signed the message at its place.
    Verify,
    /// The same, where decoding and the checks of keys and signatures are part of the work.
    FromBytes,
    /// Each key signed the one message, by the signature at its place. Each signature is verified, not only their sum.
    SameMessage,
    /// The keys of each set signed its message, by one aggregate signature a set.
    Sets,
    /// All keys signed the one message, by one aggregate signature.
    Aggregate,
    /// Each key signed the message at its place, by one aggregate signature of all.
    Block,
    KeySum,
    Hash,
    Msm,
}

/// The curve, and the group of the keys.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Group {
    MinPk,
    MinSig,
    Bn254,
}

/// Bytes that are hexadecimal in JSON.
#[derive(Clone, PartialEq)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn of(encoding: impl AsRef<[u8]>) -> Self {
        Self(encoding.as_ref().to_vec())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&const_hex::encode(&self.0))
    }
}

/// What a library answers: whether the claims are true, or the compressed point as hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Answer {
    Verdict(bool),
    Point(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Verdict(verdict) => verdict.fmt(f),
            Self::Point(point) => point.escape_debug().fmt(f),
        }
    }
}

/// What quorate and blst find, encoded after the measurement.
pub(super) enum Found {
    Verdict(bool),
    G1(G1),
    G2(G2),
    Encoded([u8; 48]),
}

impl Found {
    fn answer(&self) -> Answer {
        match self {
            Self::Verdict(verdict) => Answer::Verdict(*verdict),
            Self::G1(point) => Answer::Point(const_hex::encode(point.compress())),
            Self::G2(point) => Answer::Point(const_hex::encode(point.compress())),
            Self::Encoded(bytes) => Answer::Point(const_hex::encode(bytes)),
        }
    }
}

/// The work of quorate, by a backend.
pub(super) type Ours = Box<dyn Fn(Backend) -> Found>;
/// The work of blst.
pub(super) type Blst = Box<dyn Fn() -> Found>;

/// A task with its input, the same with one thing changed in one way or more, and the answers.
pub(super) struct Task {
    pub(super) bench: String,
    pub(super) n: usize,
    /// The unit of the figures.
    pub(super) per: &'static str,
    pub(super) input: Input,
    pub(super) answer: Answer,
    /// Each with its answer, which is another than that to the input.
    pub(super) changed: Vec<(Input, Answer)>,
    ours: Ours,
    /// Without a row if its safe interface has no such call.
    blst: Option<Blst>,
}

impl Task {
    /// # Panics
    /// If a change does not change quorate's answer, or the true claims are not true.
    pub(super) fn new(
        bench: &str,
        n: usize,
        per: &'static str,
        input: Input,
        changed: Vec<Input>,
        ours: impl Fn(&Input) -> Ours,
        blst: Option<Blst>,
    ) -> Self {
        let answer_to = |input: &Input| ours(input)(Backend::Portable).answer();
        let answer = answer_to(&input);
        assert!(!matches!(answer, Answer::Verdict(false)), "{bench}: the true claims are true");
        let with_answer = |changed| {
            let other = answer_to(&changed);
            assert!(answer != other, "{bench}: the change does not change the answer");
            (changed, other)
        };
        let changed = changed.into_iter().map(with_answer).collect();
        Self { bench: bench.into(), n, per, ours: ours(&input), input, answer, changed, blst }
    }

    /// What is asked, in words: "verify of 16 claims".
    pub(super) fn name(&self) -> String {
        let job = self.bench.trim_start_matches("peers/");
        let (n, item) = match self.per {
            "claim" | "point" => (self.n, self.per),
            _ if !self.input.sets.is_empty() => (self.n, "set"),
            _ if self.n > 1 => (self.n, "key"),
            per => (1, per),
        };
        format!("{job} of {n} {item}{}", if n == 1 { "" } else { "s" })
    }

    pub(super) fn rounds(&self, run: &Run) -> usize {
        // A sum of 512 keys takes less than one signature.
        let long = if self.per == "sum" { 1 } else { self.n };
        run.choose(3, (512 / long).clamp(5, 31))
    }

    pub(super) fn by_quorate(&self, backend: Backend) -> Spent {
        self.timed(&|| (self.ours)(backend))
    }

    /// The work of blst, if there is any.
    pub(super) fn by_blst(&self) -> Option<impl Fn() -> Spent> {
        let blst = self.blst.as_ref()?;
        Some(move || self.timed(&**blst))
    }

    /// Does it once in this process, and compares the answer.
    fn timed(&self, work: &dyn Fn() -> Found) -> Spent {
        let (found, spent) = Spent::of(|| black_box(work()));
        assert_eq!(found.answer(), self.answer, "{}", self.bench);
        spent
    }
}
