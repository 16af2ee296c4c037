//! `batch/*`: independent claims. Keys are decoded and checked beforehand, as a node keeps them.

use std::{collections::BTreeMap, hint::black_box};

use blst::{BLST_ERROR, blst_scalar, min_pk, min_sig};
use quorate::{Backend, Bls12381Suite, Claim, MinPk, MinSig, PublicKey, Suite, UncheckedSignature, verify};
use rand_core::Rng;

use crate::{
    data::{self, Signed, signed},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let mut rows = Vec::new();
    let suite = MinPk::Eth2;
    for n in run.choose(&[1, 16, 128][..], &[1, 2, 4, 8, 16, 32, 64, 128, 256, 1024]) {
        rows.extend(with_checks(run, "batch/distinct", &signed(suite, *n, |i| i, |i| i)));
    }
    let distinct = signed(suite, run.choose(64, 1024), |i| i, |i| i);
    rows.extend(from_bytes(run, &distinct));
    rows.extend(with_keys_from_bytes(run, &distinct));
    let same = signed(suite, 128, |i| i, |_| 0);
    rows.extend(same_message(run, "batch/same-message", &same, true));
    rows.extend(same_message(run, "batch/same-message-checked", &same, false));
    rows.extend(with_checks(run, "batch/few-signers", &signed(suite, 100, |i| i % 5, |i| i)));
    rows.extend(mix(run));
    rows.extend(min_sig_distinct(run, run.choose(64, 1024)));
    rows
}

fn rounds(run: &Run, n: usize) -> usize {
    run.choose(3, (6000 / n).clamp(7, 101))
}

/// Decoded points, the signatures' subgroup checks inside.
fn with_checks(run: &Run, bench: &str, signed: &[Signed<MinPk>]) -> Vec<Row> {
    let claims: Vec<_> = signed.iter().map(|s| s.unchecked(MinPk::Eth2)).collect();
    let blst = Blst::new(signed);
    let mut engines = vec![Engine::new("blst", 1, || assert!(blst.verify(true)))];
    engines.extend(each(run, claims.len()).map(|(backend, threads)| {
        let claims = &claims;
        Engine::of(backend, threads, move || quorate(claims, backend, threads))
    }));
    measure(bench, signed.len(), "claim", signed.len(), rounds(run, signed.len()), engines)
}

/// Batches as gossip brings them: ten batches of ten claims by a hundred keys, and twelve messages in all, each in one batch alone.
/// Eight batches have one message, and two have two, of five claims each. Nothing was seen before.
fn mix(run: &Run) -> Vec<Row> {
    const BATCH: usize = 10;
    let message = |i: usize| {
        let batch = i / BATCH;
        // The last two batches have a second message.
        if batch >= 8 && i % BATCH >= 5 { batch + 2 } else { batch }
    };
    let signed = signed(MinPk::Eth2, 10 * BATCH, |i| i, message);
    let claims: Vec<_> = signed.iter().map(|s| s.unchecked(MinPk::Eth2)).collect();
    let blst: Vec<_> = signed.chunks(BATCH).map(Blst::new).collect();
    let mut engines = vec![Engine::new("blst", 1, || assert!(blst.iter().all(|batch| batch.verify_by_message(true))))];
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let claims = &claims;
        Engine::of(backend, threads, move || {
            claims.chunks(BATCH).for_each(|batch| quorate(batch, backend, threads));
        })
    }));
    let engines =
        engines.into_iter().map(|engine| engine.note("10 batches of 10 claims, with 12 messages in all")).collect();
    measure("batch/mix", BATCH, "claim", signed.len(), run.choose(3, 61), engines)
}

/// Every backend on one thread, and on two where there is work for two.
fn each(run: &Run, n: usize) -> impl Iterator<Item = (Backend, usize)> {
    run.each(if n >= 100 { &[1, 2] } else { &[1] })
}

/// Decoded points over one message, with the signatures' subgroup checks inside or with signatures whose membership is known.
fn same_message(run: &Run, bench: &str, signed: &[Signed<MinPk>], group_check: bool) -> Vec<Row> {
    let claims: Vec<_> =
        signed.iter().map(|s| if group_check { s.unchecked(MinPk::Eth2) } else { s.checked(MinPk::Eth2) }).collect();
    let blst = Blst::new(signed);
    let mut engines = vec![Engine::new("blst", 1, || assert!(blst.verify_by_message(group_check)))];
    engines.extend(each(run, claims.len()).map(|(backend, threads)| {
        let claims = &claims;
        Engine::of(backend, threads, move || quorate(claims, backend, threads))
    }));
    measure(bench, signed.len(), "claim", signed.len(), rounds(run, signed.len()), engines)
}

/// Signatures decoded inside, on one thread.
fn from_bytes(run: &Run, signed: &[Signed<MinPk>]) -> Vec<Row> {
    let n = signed.len();
    let bytes: Vec<_> = signed.iter().map(|s| s.signature.to_bytes()).collect();
    let blst = Blst::new(signed);
    let mut engines = vec![Engine::new("blst", 1, || {
        let decode = |bytes: &[u8; 96]| min_pk::Signature::uncompress(bytes).expect("a signature");
        let signatures = bytes.iter().map(decode).collect();
        assert!(Blst { signatures, ..blst.clone() }.verify(true));
    })];
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let bytes = &bytes;
        Engine::of(backend, threads, move || {
            let keys = signed.iter().map(|s| s.key);
            quorate(&claims(signed, keys, &slices(bytes), backend), backend, threads);
        })
    }));
    let engines = engines.into_iter().map(|engine| engine.note("keys cached")).collect();
    measure("batch/distinct-from-bytes", n, "claim", n, rounds(run, n), engines)
}

/// Signatures and keys decoded inside, and the keys checked, on one thread.
fn with_keys_from_bytes(run: &Run, signed: &[Signed<MinPk>]) -> Vec<Row> {
    let n = signed.len();
    let bytes: Vec<_> = signed.iter().map(|s| s.signature.to_bytes()).collect();
    let key_bytes: Vec<_> = signed.iter().map(|s| s.key.to_bytes()).collect();
    let blst = Blst::new(signed);
    let mut engines = vec![Engine::new("blst", 1, || {
        let signature = |bytes: &[u8; 96]| min_pk::Signature::uncompress(bytes).expect("a signature");
        let key = |bytes: &[u8; 48]| min_pk::PublicKey::key_validate(bytes).expect("a key");
        let (signatures, keys) = (bytes.iter().map(signature).collect(), key_bytes.iter().map(key).collect());
        assert!(Blst { signatures, keys, ..blst.clone() }.verify(true));
    })];
    engines.extend(run.each(&[1]).map(|(backend, threads)| {
        let (bytes, key_bytes) = (&bytes, &key_bytes);
        Engine::of(backend, threads, move || {
            let keys = PublicKey::from_bytes_each(&slices(key_bytes), backend);
            let keys = keys.into_iter().map(|key| key.expect("a key"));
            quorate(&claims(signed, keys, &slices(bytes), backend), backend, threads);
        })
    }));
    let engines = engines.into_iter().map(|engine| engine.note("keys decoded and checked too")).collect();
    measure("batch/distinct-with-keys", n, "claim", n, rounds(run, n), engines)
}

fn slices<const N: usize>(bytes: &[[u8; N]]) -> Vec<&[u8]> {
    bytes.iter().map(|bytes| &bytes[..]).collect()
}

fn claims(
    signed: &[Signed<MinPk>],
    keys: impl Iterator<Item = PublicKey<MinPk>>,
    signatures: &[&[u8]],
    backend: Backend,
) -> Vec<Claim<MinPk>> {
    let signatures = UncheckedSignature::from_bytes_each(signatures, backend).into_iter();
    let claims = signed.iter().zip(keys).zip(signatures);
    let claim = |((s, key), signature): ((&Signed<MinPk>, _), Result<UncheckedSignature<MinPk>, _>)| {
        Claim::single(MinPk::Eth2, key, s.message.clone(), signature.expect("a signature"))
    };
    claims.map(claim).collect()
}

fn min_sig_distinct(run: &Run, n: usize) -> Vec<Row> {
    let signed = signed(MinSig::ProofOfPossession, n, |i| i, |i| i);
    let claims: Vec<_> = signed.iter().map(|s| s.unchecked(MinSig::ProofOfPossession)).collect();
    let blst = BlstMinSig::new(&signed);
    let mut engines = vec![Engine::new("blst", 1, || assert!(blst.verify()))];
    engines.extend(each(run, n).map(|(backend, threads)| {
        let claims = &claims;
        Engine::of(backend, threads, move || quorate(claims, backend, threads))
    }));
    measure("batch/min-sig", n, "claim", n, rounds(run, n), engines)
}

fn quorate<S: Bls12381Suite>(claims: &[Claim<S>], backend: Backend, threads: usize) {
    let outcome = verify(black_box(claims), &data::options(backend, threads), &mut data::rng());
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
    pub(crate) fn verify(&self, group_check: bool) -> bool {
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

    /// The weighted batch, 64 bits, by the sum of the keys of each message and the sum of all signatures; keys validated beforehand.
    /// For few messages this takes blst less than [`Self::verify`], which multiplies and pairs each key by itself.
    pub(crate) fn verify_by_message(&self, group_check: bool) -> bool {
        let mut by_message = BTreeMap::<&[u8], Vec<usize>>::new();
        for (i, message) in self.messages.iter().enumerate() {
            by_message.entry(message).or_default().push(i);
        }
        let weights: Vec<u8> = weights(self.keys.len()).iter().flat_map(|weight| weight.b[..8].to_vec()).collect();
        let of = |indices: &[usize]| indices.iter().flat_map(|i| weights[8 * i..][..8].to_vec()).collect::<Vec<_>>();
        let key = |indices: &Vec<usize>| {
            let keys: Vec<_> = indices.iter().map(|i| self.keys[*i]).collect();
            min_pk::AggregatePublicKey::aggregate_with_randomness(&keys, &of(indices), 64, false)
                .map(|sum| sum.to_public_key())
        };
        let keys: Result<Vec<_>, _> = by_message.values().map(key).collect();
        let sum = min_pk::AggregateSignature::aggregate_with_randomness(&self.signatures, &weights, 64, group_check);
        let (Ok(keys), Ok(sum)) = (keys, sum) else { return false };
        let (messages, keys) = (by_message.into_keys().collect::<Vec<_>>(), keys.iter().collect::<Vec<_>>());
        sum.to_signature().aggregate_verify(false, &messages, TAG, &keys, false) == BLST_ERROR::BLST_SUCCESS
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

/// The same for keys in G2.
pub(crate) struct BlstMinSig {
    keys: Vec<min_sig::PublicKey>,
    messages: Vec<Vec<u8>>,
    signatures: Vec<min_sig::Signature>,
}

impl BlstMinSig {
    pub(crate) fn new(signed: &[Signed<MinSig>]) -> Self {
        let key = |s: &Signed<MinSig>| min_sig::PublicKey::from_bytes(&s.key.to_bytes()).expect("a key");
        let signature =
            |s: &Signed<MinSig>| min_sig::Signature::from_bytes(&s.signature.to_bytes()).expect("a signature");
        Self {
            keys: signed.iter().map(key).collect(),
            messages: signed.iter().map(|s| s.message.clone()).collect(),
            signatures: signed.iter().map(signature).collect(),
        }
    }

    /// The weighted batch, 64 bits, group checks inside; keys validated beforehand.
    fn verify(&self) -> bool {
        let result = min_sig::Signature::verify_multiple_aggregate_signatures(
            &self.messages.iter().map(|m| &m[..]).collect::<Vec<_>>(),
            MinSig::ProofOfPossession.id().as_bytes(),
            &self.keys.iter().collect::<Vec<_>>(),
            false,
            &self.signatures.iter().collect::<Vec<_>>(),
            true,
            &weights(self.keys.len()),
            64,
        );
        result == BLST_ERROR::BLST_SUCCESS
    }

    /// The first signature by itself, its group check inside.
    pub(crate) fn verify_one(&self) -> bool {
        let tag = MinSig::ProofOfPossession.id().as_bytes();
        self.signatures[0].verify(true, &self.messages[0], tag, &[], &self.keys[0], false) == BLST_ERROR::BLST_SUCCESS
    }
}

pub(crate) const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// Multipliers of 64 bits, none zero.
pub(crate) fn weights(n: usize) -> Vec<blst_scalar> {
    let mut rng = data::rng();
    let scalar = |_| {
        let mut scalar = blst_scalar::default();
        scalar.b[..8].copy_from_slice(&(rng.next_u64() | 1).to_le_bytes());
        scalar
    };
    (0..n).map(scalar).collect()
}
