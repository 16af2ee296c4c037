//! `batch/*`: independent claims. Keys are decoded and checked beforehand, as a node keeps them.

use std::hint::black_box;

use blst::{BLST_ERROR, blst_scalar, min_pk, min_sig};
use quorate::{Claim, MinPk, MinSig, Suite, UncheckedSignature, verify};
use rand_core::Rng;

use crate::{
    data::{self, Signed, signed},
    measure::{Effort, Engine, measure},
    row::Row,
};

pub(crate) fn run(effort: Effort) -> Vec<Row> {
    let mut rows = Vec::new();
    let suite = MinPk::Eth2;
    for n in effort.choose(&[1, 16, 128][..], &[1, 2, 4, 8, 16, 64, 128, 1024]) {
        rows.extend(distinct(*n, effort));
    }
    rows.extend(from_bytes(effort.choose(64, 1024), effort));
    let same = signed(suite, 128, |i| i, |_| 0);
    rows.extend(with_checks("batch/same-message", &same, effort));
    rows.extend(already_checked("batch/same-message-checked", &same, effort));
    rows.extend(with_checks("batch/few-signers", &signed(suite, 100, |i| i % 5, |i| i), effort));
    rows.extend(min_sig_distinct(effort.choose(64, 1024), effort));
    rows
}

fn rounds(n: usize, effort: Effort) -> usize {
    effort.choose(3, (6000 / n).clamp(7, 101))
}

fn distinct(n: usize, effort: Effort) -> Vec<Row> {
    with_checks("batch/distinct", &signed(MinPk::Eth2, n, |i| i, |i| i), effort)
}

/// Decoded points, the signatures' subgroup checks inside.
fn with_checks(bench: &'static str, signed: &[Signed<MinPk>], effort: Effort) -> Vec<Row> {
    let claims: Vec<_> = signed.iter().map(|s| s.unchecked(MinPk::Eth2)).collect();
    let blst = Blst::new(signed);
    let mut engines = vec![
        Engine::new("blst", 1, || assert!(blst.verify(true))),
        Engine::new("quorate/portable", 1, || quorate(&claims, 1)),
    ];
    if signed.len() >= 100 {
        engines.push(Engine::new("quorate/portable", 2, || quorate(&claims, 2)));
    }
    measure(bench, signed.len(), "claim", signed.len(), rounds(signed.len(), effort), engines)
}

/// Decoded points whose membership is known.
fn already_checked(bench: &'static str, signed: &[Signed<MinPk>], effort: Effort) -> Vec<Row> {
    let claims: Vec<_> = signed.iter().map(|s| s.checked(MinPk::Eth2)).collect();
    let blst = Blst::new(signed);
    let engines = vec![
        Engine::new("blst", 1, || assert!(blst.verify(false))),
        Engine::new("quorate/portable", 1, || quorate(&claims, 1)),
    ];
    measure(bench, signed.len(), "claim", signed.len(), rounds(signed.len(), effort), engines)
}

/// Signatures decoded inside.
fn from_bytes(n: usize, effort: Effort) -> Vec<Row> {
    let signed = signed(MinPk::Eth2, n, |i| i, |i| i);
    let bytes: Vec<_> = signed.iter().map(|s| s.signature.to_bytes()).collect();
    let blst = Blst::new(&signed);
    let engines = vec![
        Engine::new("blst", 1, || {
            let decode = |bytes: &Vec<u8>| min_pk::Signature::uncompress(bytes).expect("a signature");
            let signatures = bytes.iter().map(decode).collect();
            assert!(Blst { signatures, ..blst.clone() }.verify(true));
        }),
        Engine::new("quorate/portable", 1, || {
            let claim = |(s, bytes): (&Signed<MinPk>, &Vec<u8>)| {
                let signature = UncheckedSignature::from_bytes(bytes).expect("a signature");
                Claim::single(MinPk::Eth2, s.key, s.message.clone(), signature)
            };
            quorate(&signed.iter().zip(&bytes).map(claim).collect::<Vec<_>>(), 1);
        }),
    ];
    measure("batch/distinct-from-bytes", n, "claim", n, rounds(n, effort), engines)
}

fn min_sig_distinct(n: usize, effort: Effort) -> Vec<Row> {
    let signed = signed(MinSig::Possession, n, |i| i, |i| i);
    let claims: Vec<_> = signed.iter().map(|s| s.unchecked(MinSig::Possession)).collect();
    let keys: Vec<_> =
        signed.iter().map(|s| min_sig::PublicKey::from_bytes(&s.key.to_bytes()).expect("a key")).collect();
    let signatures: Vec<_> =
        signed.iter().map(|s| min_sig::Signature::from_bytes(&s.signature.to_bytes()).expect("a signature")).collect();
    let engines = vec![
        Engine::new("blst", 1, || {
            let messages: Vec<_> = signed.iter().map(|s| &s.message[..]).collect();
            let result = min_sig::Signature::verify_multiple_aggregate_signatures(
                &messages,
                MinSig::Possession.id().as_bytes(),
                &keys.iter().collect::<Vec<_>>(),
                false,
                &signatures.iter().collect::<Vec<_>>(),
                true,
                &weights(n),
                64,
            );
            assert_eq!(result, BLST_ERROR::BLST_SUCCESS);
        }),
        Engine::new("quorate/portable", 1, || quorate(&claims, 1)),
    ];
    measure("batch/min-sig", n, "claim", n, rounds(n, effort), engines)
}

fn quorate<S: Suite>(claims: &[Claim<S>], threads: usize) {
    let outcome = verify(black_box(claims), &data::threads(threads), &mut data::rng());
    assert!(outcome.all_valid() && outcome.verdicts.len() == claims.len());
}

/// What blst's own batch verification takes.
#[derive(Clone)]
pub(crate) struct Blst {
    keys: Vec<min_pk::PublicKey>,
    messages: Vec<Vec<u8>>,
    signatures: Vec<min_pk::Signature>,
}

impl Blst {
    pub(crate) fn new(signed: &[Signed<MinPk>]) -> Self {
        let key = |s: &Signed<MinPk>| min_pk::PublicKey::from_bytes(&s.key.to_bytes()).expect("a key");
        let signature =
            |s: &Signed<MinPk>| min_pk::Signature::from_bytes(&s.signature.to_bytes()).expect("a signature");
        Self {
            keys: signed.iter().map(key).collect(),
            messages: signed.iter().map(|s| s.message.clone()).collect(),
            signatures: signed.iter().map(signature).collect(),
        }
    }

    /// The weighted batch, 64 bits; keys validated beforehand.
    fn verify(&self, group_check: bool) -> bool {
        let result = min_pk::Signature::verify_multiple_aggregate_signatures(
            &self.messages.iter().map(|m| &m[..]).collect::<Vec<_>>(),
            TAG,
            &self.keys.iter().collect::<Vec<_>>(),
            false,
            &self.signatures.iter().collect::<Vec<_>>(),
            group_check,
            &weights(self.keys.len()),
            64,
        );
        result == BLST_ERROR::BLST_SUCCESS
    }

    /// Each signature by itself.
    pub(crate) fn verify_each(&self) -> Vec<bool> {
        let each = self.signatures.iter().zip(&self.messages).zip(&self.keys);
        each.map(|((s, m), k)| s.verify(true, m, TAG, &[], k, false) == BLST_ERROR::BLST_SUCCESS).collect()
    }

    /// The sum of the signatures over all messages.
    pub(crate) fn aggregate_verify(&self) -> bool {
        let sum = self.sum();
        let messages: Vec<_> = self.messages.iter().map(|m| &m[..]).collect();
        let keys: Vec<_> = self.keys.iter().collect();
        sum.aggregate_verify(true, &messages, TAG, &keys, false) == BLST_ERROR::BLST_SUCCESS
    }

    /// The sum of the signatures over one message by the sum of the keys.
    pub(crate) fn fast_aggregate_verify(&self) -> bool {
        let keys: Vec<_> = self.keys.iter().collect();
        self.sum().fast_aggregate_verify(true, &self.messages[0], TAG, &keys) == BLST_ERROR::BLST_SUCCESS
    }

    fn sum(&self) -> min_pk::Signature {
        let signatures: Vec<_> = self.signatures.iter().collect();
        min_pk::AggregateSignature::aggregate(&signatures, false).expect("signatures to add").to_signature()
    }
}

const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

fn weights(n: usize) -> Vec<blst_scalar> {
    let mut rng = data::rng();
    let scalar = |_| {
        let mut scalar = blst_scalar::default();
        scalar.b[..8].copy_from_slice(&(rng.next_u64() | 1).to_le_bytes());
        scalar
    };
    (0..n).map(scalar).collect()
}
