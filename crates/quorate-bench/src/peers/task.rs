//! The tasks that every library gets. The input is the same in every run.

use std::{fmt, hint::black_box};

use anyhow::Context as _;
use blst::{BLST_ERROR, MultiPoint as _, blst_p1_affine, min_pk, min_sig};
use quorate::{
    Backend, Bls12381Suite, Bn254Suite, Claim, MinPk, MinSig, PublicKey, UncheckedSignature, aggregate, verify,
};
use quorate_bn254::Bn254SecretKey;
use quorate_curve::{Bls12381Group as _, G1, G2, Scalar};
use rand_core::Rng as _;
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    batch::weights,
    data::{self, Signed, signed},
    measure::{Run, Spent},
};

/// What a library is asked, as it gets it.
#[derive(Clone, Serialize)]
pub(crate) struct Input {
    job: Job,
    suite: Group,
    tag: &'static str,
    keys: Vec<Bytes>,
    messages: Vec<Bytes>,
    signatures: Vec<Bytes>,
    scalars: Vec<Bytes>,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Job {
    Verify,
    Aggregate,
    KeySum,
    Hash,
    Msm,
}

/// The curve, and the group of the keys.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Group {
    MinPk,
    MinSig,
    Bn254,
}

/// Bytes that are hexadecimal in JSON.
#[derive(Clone, PartialEq)]
struct Bytes(Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&const_hex::encode(&self.0))
    }
}

/// What a library answers: whether the claims are true, or the compressed point as hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Answer {
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
enum Found {
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

/// A task with its input, the same with one thing changed, and both answers.
pub(crate) struct Task {
    pub(crate) bench: String,
    pub(crate) n: usize,
    /// The unit of the figures.
    pub(crate) per: &'static str,
    pub(crate) input: Input,
    pub(crate) changed: Input,
    pub(crate) answer: Answer,
    pub(crate) answer_to_changed: Answer,
    ours: Box<dyn Fn(Backend) -> Found>,
    /// Without a row if its safe interface has no such call.
    blst: Option<Box<dyn Fn() -> Found>>,
}

impl Task {
    fn new(
        bench: &str,
        n: usize,
        per: &'static str,
        inputs: [Input; 2],
        ours: impl Fn(&Input) -> Box<dyn Fn(Backend) -> Found>,
        blst: Option<Box<dyn Fn() -> Found>>,
    ) -> Self {
        let [answer, answer_to_changed] = inputs.each_ref().map(|input| ours(input)(Backend::Portable).answer());
        assert!(answer != answer_to_changed, "{bench}: the change does not change the answer");
        assert!(!matches!(answer, Answer::Verdict(false)), "{bench}: the true claims are true");
        let ours = ours(&inputs[0]);
        let [input, changed] = inputs;
        Self { bench: bench.into(), n, per, input, changed, answer, answer_to_changed, ours, blst }
    }

    /// What is asked, in words: "verify of 16 claims".
    pub(crate) fn name(&self) -> String {
        let job = self.bench.trim_start_matches("peers/");
        let (n, item) = match self.per {
            "claim" | "point" => (self.n, self.per),
            _ if self.n > 1 => (self.n, "key"),
            per => (1, per),
        };
        format!("{job} of {n} {item}{}", if n == 1 { "" } else { "s" })
    }

    pub(crate) fn rounds(&self, run: &Run) -> usize {
        run.choose(3, (512 / self.n).clamp(5, 31))
    }

    pub(crate) fn by_quorate(&self, backend: Backend) -> Spent {
        self.timed(&|| (self.ours)(backend))
    }

    /// The work of blst, if there is any.
    pub(crate) fn by_blst(&self) -> Option<impl Fn() -> Spent> {
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

/// Every task, the smallest first.
pub(crate) fn all(run: &Run) -> Vec<Task> {
    let mut tasks: Vec<_> =
        run.choose(&[1, 4, 16][..], &[1, 4, 16, 128, 1024]).iter().map(|n| verify_min_pk(*n)).collect();
    tasks.push(verify_min_sig());
    tasks.extend(run.choose(&[100][..], &[100, 512]).iter().map(|n| verify_aggregate(*n)));
    tasks.extend([key_sum(512), hash_to_g2(), msm_g1(1024), verify_bn254()]);
    tasks
}

/// One claim alone.
#[cfg(test)]
pub(crate) fn one() -> Task {
    verify_min_pk(1)
}

const MIN_PK_TAG: &str = "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";
const MIN_SIG_TAG: &str = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

fn input(job: Job, suite: Group) -> Input {
    let tag = match suite {
        Group::MinPk => MIN_PK_TAG,
        Group::MinSig => MIN_SIG_TAG,
        Group::Bn254 => "",
    };
    let (keys, messages, signatures, scalars) = Default::default();
    Input { job, suite, tag, keys, messages, signatures, scalars }
}

fn bytes_of(encoding: impl AsRef<[u8]>) -> Bytes {
    Bytes(encoding.as_ref().to_vec())
}

/// The true claims, and the same of which one has the signature of another message.
fn claims<S: Bls12381Suite>(suite: S, group: Group, n: usize) -> [Input; 2] {
    let all = signed(suite, n + 1, |i| i % n, |i| i);
    let (signed, other) = (&all[..n], &all[n]);
    let of = |list: &mut dyn Iterator<Item = Bytes>| list.collect::<Vec<_>>();
    let truth = Input {
        keys: of(&mut signed.iter().map(|s| bytes_of(s.key.to_bytes()))),
        messages: of(&mut signed.iter().map(|s| bytes_of(&s.message))),
        signatures: of(&mut signed.iter().map(|s| bytes_of(s.signature.to_bytes()))),
        ..input(Job::Verify, group)
    };
    let mut changed = truth.clone();
    changed.signatures[0] = bytes_of(other.signature.to_bytes());
    [truth, changed]
}

/// Decoded, the signatures' subgroup checks inside.
fn decoded<S: Bls12381Suite>(suite: S, input: &Input) -> Box<dyn Fn(Backend) -> Found> {
    let of = input.keys.iter().zip(&input.messages).zip(&input.signatures);
    let claim = |((key, message), signature): ((&Bytes, &Bytes), &Bytes)| {
        let key = PublicKey::from_bytes(&key.0).expect("a key");
        Claim::single(suite, key, message.0.clone(), UncheckedSignature::from_bytes(&signature.0).expect("a signature"))
    };
    holds(of.map(claim).collect())
}

fn holds<S: quorate::Suite>(claims: Vec<Claim<S>>) -> Box<dyn Fn(Backend) -> Found> {
    Box::new(move |backend| {
        let outcome = verify(black_box(&claims), &data::options(backend, 1), &mut data::rng());
        Found::Verdict(outcome.all_valid() && outcome.verdicts.len() == claims.len())
    })
}

fn verify_min_pk(n: usize) -> Task {
    let inputs = claims(MinPk::Eth2, Group::MinPk, n);
    let keys: Vec<_> = inputs[0].keys.iter().map(|key| min_pk::PublicKey::from_bytes(&key.0).expect("a key")).collect();
    let signatures: Vec<_> = inputs[0]
        .signatures
        .iter()
        .map(|signature| min_pk::Signature::from_bytes(&signature.0).expect("a signature"))
        .collect();
    let messages = inputs[0].messages.clone();
    let blst = move || {
        let tag = MIN_PK_TAG.as_bytes();
        let found = if keys.len() == 1 {
            signatures[0].verify(true, &messages[0].0, tag, &[], &keys[0], false)
        } else {
            min_pk::Signature::verify_multiple_aggregate_signatures(
                &messages.iter().map(|message| &message.0[..]).collect::<Vec<_>>(),
                tag,
                &keys.iter().collect::<Vec<_>>(),
                false,
                &signatures.iter().collect::<Vec<_>>(),
                true,
                &weights(keys.len()),
                64,
            )
        };
        Found::Verdict(found == BLST_ERROR::BLST_SUCCESS)
    };
    Task::new("peers/verify", n, "claim", inputs, |input| decoded(MinPk::Eth2, input), Some(Box::new(blst)))
}

fn verify_min_sig() -> Task {
    let inputs = claims(MinSig::ProofOfPossession, Group::MinSig, 1);
    let key = min_sig::PublicKey::from_bytes(&inputs[0].keys[0].0).expect("a key");
    let signature = min_sig::Signature::from_bytes(&inputs[0].signatures[0].0).expect("a signature");
    let message = inputs[0].messages[0].0.clone();
    let blst = move || {
        let found = signature.verify(true, &message, MIN_SIG_TAG.as_bytes(), &[], &key, false);
        Found::Verdict(found == BLST_ERROR::BLST_SUCCESS)
    };
    let ours = |input: &Input| decoded(MinSig::ProofOfPossession, input);
    Task::new("peers/verify-min-sig", 1, "claim", inputs, ours, Some(Box::new(blst)))
}

/// One message by n keys, which are decoded and checked; their sum is inside. In the changed input one key is missing.
fn verify_aggregate(n: usize) -> Task {
    let signed = signed(MinPk::Eth2, n, |i| i, |_| 0);
    let signatures: Vec<_> = signed.iter().map(|s: &Signed<MinPk>| s.signature).collect();
    let sum = aggregate::aggregate(&signatures, Backend::Portable).expect("signatures to add");
    let truth = Input {
        keys: signed.iter().map(|s| bytes_of(s.key.to_bytes())).collect(),
        messages: vec![bytes_of(&signed[0].message)],
        signatures: vec![bytes_of(sum.to_bytes())],
        ..input(Job::Aggregate, Group::MinPk)
    };
    let changed = Input { keys: truth.keys[1..].to_vec(), ..truth.clone() };
    let keys: Vec<_> = truth.keys.iter().map(|key| min_pk::PublicKey::from_bytes(&key.0).expect("a key")).collect();
    let signature = min_pk::Signature::from_bytes(&truth.signatures[0].0).expect("a signature");
    let message = truth.messages[0].0.clone();
    let blst = move || {
        let keys: Vec<_> = keys.iter().collect();
        let found = signature.fast_aggregate_verify(true, &message, MIN_PK_TAG.as_bytes(), &keys);
        Found::Verdict(found == BLST_ERROR::BLST_SUCCESS)
    };
    let ours = |input: &Input| {
        let signature = UncheckedSignature::from_bytes(&input.signatures[0].0).expect("a signature");
        holds(vec![Claim::shared(MinPk::Eth2, keys_of(input), input.messages[0].0.clone(), signature)])
    };
    Task::new("peers/aggregate", n, "aggregate", [truth, changed], ours, Some(Box::new(blst)))
}

fn keys_of(input: &Input) -> Vec<PublicKey<MinPk>> {
    input.keys.iter().map(|key| PublicKey::from_bytes(&key.0).expect("a key")).collect()
}

fn key_sum(n: usize) -> Task {
    let signed = signed(MinPk::Eth2, n, |i| i, |_| 0);
    let truth =
        Input { keys: signed.iter().map(|s| bytes_of(s.key.to_bytes())).collect(), ..input(Job::KeySum, Group::MinPk) };
    let changed = Input { keys: truth.keys[1..].to_vec(), ..truth.clone() };
    let keys: Vec<_> = truth.keys.iter().map(|key| min_pk::PublicKey::from_bytes(&key.0).expect("a key")).collect();
    let blst = move || {
        let keys: Vec<_> = keys.iter().collect();
        let sum = min_pk::AggregatePublicKey::aggregate(&keys, false).expect("keys to add").to_public_key();
        Found::Encoded(sum.compress())
    };
    let ours = |input: &Input| -> Box<dyn Fn(Backend) -> Found> {
        let points: Vec<_> = keys_of(input).iter().map(PublicKey::point).collect();
        Box::new(move |backend| Found::G1(backend.sum(black_box(&points))))
    };
    Task::new("peers/key-sum", n, "sum", [truth, changed], ours, Some(Box::new(blst)))
}

fn hash_to_g2() -> Task {
    let inputs = [b"one message", b"other words"]
        .map(|text| Input { messages: vec![bytes_of(text)], ..input(Job::Hash, Group::MinPk) });
    let ours = |input: &Input| -> Box<dyn Fn(Backend) -> Found> {
        let message = input.messages[0].0.clone();
        Box::new(move |backend| Found::G2(backend.hash_to_curve_one(MIN_PK_TAG.as_bytes(), (&[], black_box(&message)))))
    };
    Task::new("peers/hash-to-g2", 1, "message", inputs, ours, None)
}

fn msm_g1(n: usize) -> Task {
    let signed = signed(MinPk::Eth2, n, |i| i, |_| 0);
    let mut rng = data::rng();
    let mut scalar = || {
        let mut bytes = [0; 48];
        rng.fill_bytes(&mut bytes);
        bytes_of(Scalar::reduce(&bytes).to_bytes())
    };
    let truth = Input {
        keys: signed.iter().map(|s| bytes_of(s.key.to_bytes())).collect(),
        scalars: (0..n).map(|_| scalar()).collect(),
        ..input(Job::Msm, Group::MinPk)
    };
    let mut changed = truth.clone();
    changed.scalars.swap(0, 1);
    let points: Vec<blst_p1_affine> =
        truth.keys.iter().map(|key| min_pk::PublicKey::from_bytes(&key.0).expect("a key").into()).collect();
    let little: Vec<u8> = truth.scalars.iter().flat_map(|scalar| scalar.0.iter().rev().copied()).collect();
    let blst = move || {
        let sum = points.mult(&little, 255);
        Found::Encoded(min_pk::AggregatePublicKey::from(sum).to_public_key().compress())
    };
    let ours = |input: &Input| -> Box<dyn Fn(Backend) -> Found> {
        let points = keys_of(input).into_iter().map(|key| key.point());
        let terms: Vec<_> = points.zip(input.scalars.iter().map(|scalar| Scalar::reduce(&scalar.0))).collect();
        Box::new(move |backend| Found::G1(backend.msm(black_box(&terms))))
    };
    Task::new("peers/msm-g1", n, "point", [truth, changed], ours, Some(Box::new(blst)))
}

/// The key in G2, the message a digest, the words in the EVM's order.
fn verify_bn254() -> Task {
    let suite = Bn254Suite::EigenLayer;
    let secret = Bn254SecretKey::from_entropy(&[7; 48]);
    let sign = |digest: [u8; 32]| {
        let hash = suite.hash(&digest).expect("a digest");
        Input {
            keys: vec![bytes_of(secret.public_key_g2().to_bytes())],
            messages: vec![bytes_of(digest)],
            signatures: vec![bytes_of(secret.sign(&hash).to_bytes())],
            ..input(Job::Verify, Group::Bn254)
        }
    };
    let truth = sign(quorate_bn254::drand_message(1));
    let changed = Input { signatures: sign(quorate_bn254::drand_message(2)).signatures, ..truth.clone() };
    let ours = |input: &Input| {
        let key = PublicKey::from_bytes(&input.keys[0].0).expect("a key");
        let signature = UncheckedSignature::from_bytes(&input.signatures[0].0).expect("a signature");
        let message: [u8; 32] = input.messages[0].0[..].try_into().context("a digest").expect("32 bytes");
        holds(vec![Claim::single(Bn254Suite::EigenLayer, key, message, signature)])
    };
    Task::new("peers/verify-bn254", 1, "claim", [truth, changed], ours, None)
}

#[cfg(test)]
mod tests {
    use quorate::Suite as _;

    use super::*;
    use crate::measure::Effort;

    /// The tags that the libraries get are those of the suites, by which quorate verifies.
    #[test]
    fn tags_are_those_of_the_suites() {
        assert_eq!((MinPk::Eth2.id(), MinSig::ProofOfPossession.id()), (MIN_PK_TAG, MIN_SIG_TAG));
    }

    /// Every backend gives the answer that every library is compared with, and blst gives it, too.
    #[test]
    fn every_task_has_one_answer() {
        let run = Run { effort: Effort::Quick, backends: Backend::available().to_vec() };
        for task in all(&run) {
            for backend in &run.backends {
                task.by_quorate(*backend);
            }
            if let Some(blst) = task.by_blst() {
                blst();
            }
            assert_ne!(task.answer, task.answer_to_changed, "{}", task.bench);
        }
    }
}
