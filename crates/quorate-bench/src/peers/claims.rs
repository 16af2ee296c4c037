//! Tasks whose answer is a verdict. In a changed input one claim is false, or not even a claim.

use std::hint::black_box;

use anyhow::Context as _;
use blst::{BLST_ERROR, min_pk, min_sig};
use quorate::{
    Backend, Bls12381Suite, Bn254Suite, Claim, MinPk, MinSig, PublicKey, UncheckedSignature, aggregate, verify,
};
use quorate_bn254::Bn254SecretKey;
use quorate_curve::{Bls12381Group as _, G1, G2, Group as _, Scalar};

use super::task::{Blst, Bytes, Found, Group, Input, Job, MIN_PK_TAG, MIN_SIG_TAG, Ours, Task};
use crate::{
    batch::{self, weights},
    data::{self, Signed, signed},
};

/// n claims with distinct keys and messages.
pub(super) fn verify_min_pk(n: usize) -> Task {
    verified("peers/verify", Job::Verify, n)
}

/// Keys and signatures decoded and checked inside. In a further changed input the first key has a part of order 3, with which its
/// signature still holds in the pairing: only the check of the subgroup refuses it.
pub(super) fn from_bytes(n: usize) -> Task {
    verified("peers/verify-from-bytes", Job::FromBytes, n)
}

fn verified(bench: &str, job: Job, n: usize) -> Task {
    // One more, by the key of the first over another message.
    let all = signed(MinPk::Eth2, n + 1, |i| i % n, |i| i);
    let signed = &all[..n];
    let truth = of_each(job, Group::MinPk, signed);
    let mut changed = vec![with_signature(&truth, &all[n])];
    let blst = batch::Blst::new(signed);
    let blst: Blst = match job {
        Job::FromBytes => {
            changed.push(with_key_outside(&truth, &signed[0]));
            let input = truth.clone();
            Box::new(move || Found::Verdict(blst_from_bytes(&input)))
        }
        _ if n == 1 => Box::new(move || Found::Verdict(blst.verify_each()[0])),
        _ => Box::new(move || Found::Verdict(blst.verify(true))),
    };
    let ours = |input: &Input| match job {
        Job::FromBytes => encoded(input.clone()),
        _ => decoded(MinPk::Eth2, input),
    };
    Task::new(bench, n, "claim", truth, changed, ours, Some(blst))
}

/// The claims, each with its own key, message and signature.
fn of_each<S: Bls12381Suite>(job: Job, suite: Group, signed: &[Signed<S>]) -> Input {
    Input {
        keys: signed.iter().map(|s| Bytes::of(s.key.to_bytes())).collect(),
        messages: signed.iter().map(|s| Bytes::of(&s.message)).collect(),
        signatures: signed.iter().map(|s| Bytes::of(s.signature.to_bytes())).collect(),
        ..Input::new(job, suite)
    }
}

/// The same, but the first signature is another.
fn with_signature<S: Bls12381Suite>(truth: &Input, other: &Signed<S>) -> Input {
    let mut changed = truth.clone();
    changed.signatures[0] = Bytes::of(other.signature.to_bytes());
    changed
}

/// The same, but the first key is outside of the subgroup: the point (0, 2), which has order 3, is added to it.
fn with_key_outside(truth: &Input, first: &Signed<MinPk>) -> Input {
    let mut zero = [0; 48];
    zero[0] = 0x80;
    let of_order_3: G1 = Backend::Portable.decode(&zero).expect("x³ + 4 is a square at zero");
    let mut changed = truth.clone();
    changed.keys[0] = Bytes::of(Backend::Portable.sum(&[first.key.point(), of_order_3]).compress());
    changed
}

/// Decoded, the signatures' subgroup checks inside.
fn decoded<S: Bls12381Suite>(suite: S, input: &Input) -> Ours {
    let of = input.keys.iter().zip(&input.messages).zip(&input.signatures);
    let claim = |((key, message), signature): ((&Bytes, &Bytes), &Bytes)| {
        let key = PublicKey::from_bytes(&key.0).expect("a key");
        Claim::single(suite, key, message.0.clone(), signature_of(signature))
    };
    holds(of.map(claim).collect())
}

fn signature_of<S: quorate::Suite>(bytes: &Bytes) -> UncheckedSignature<S> {
    UncheckedSignature::from_bytes(&bytes.0).expect("a signature")
}

fn holds<S: quorate::Suite>(claims: Vec<Claim<S>>) -> Ours {
    Box::new(move |backend| Found::Verdict(all_hold(&claims, backend)))
}

fn all_hold<S: quorate::Suite>(claims: &[Claim<S>], backend: Backend) -> bool {
    let outcome = verify(black_box(claims), &data::options(backend, 1), &mut data::rng());
    outcome.all_valid() && outcome.verdicts.len() == claims.len()
}

/// Decoded inside, keys and signatures. What does not decode is false.
fn encoded(input: Input) -> Ours {
    let claims = move |backend| -> Option<Vec<Claim<MinPk>>> {
        let keys = PublicKey::from_bytes_each(&slices(&input.keys), backend);
        let signatures = UncheckedSignature::from_bytes_each(&slices(&input.signatures), backend);
        let of = keys.into_iter().zip(signatures).zip(&input.messages);
        of.map(|((key, signature), m)| Some(Claim::single(MinPk::Eth2, key.ok()?, m.0.clone(), signature.ok()?)))
            .collect()
    };
    Box::new(move |backend| Found::Verdict(claims(backend).is_some_and(|claims| all_hold(&claims, backend))))
}

fn slices(list: &[Bytes]) -> Vec<&[u8]> {
    list.iter().map(|bytes| &bytes.0[..]).collect()
}

fn blst_from_bytes(input: &Input) -> bool {
    let keys: Result<Vec<_>, _> = input.keys.iter().map(|key| min_pk::PublicKey::key_validate(&key.0)).collect();
    let signatures: Result<Vec<_>, _> =
        input.signatures.iter().map(|one| min_pk::Signature::uncompress(&one.0)).collect();
    let (Ok(keys), Ok(signatures)) = (keys, signatures) else { return false };
    let tag = MIN_PK_TAG.as_bytes();
    let found = if keys.len() == 1 {
        signatures[0].verify(true, &input.messages[0].0, tag, &[], &keys[0], false)
    } else {
        blst_batch(&keys, &input.messages, &signatures)
    };
    found == BLST_ERROR::BLST_SUCCESS
}

/// blst's weighted batch, 64 bits.
fn blst_batch(keys: &[min_pk::PublicKey], messages: &[Bytes], signatures: &[min_pk::Signature]) -> BLST_ERROR {
    min_pk::Signature::verify_multiple_aggregate_signatures(
        &slices(messages),
        MIN_PK_TAG.as_bytes(),
        &keys.iter().collect::<Vec<_>>(),
        false,
        &signatures.iter().collect::<Vec<_>>(),
        true,
        &weights(keys.len()),
        64,
    )
}

pub(super) fn verify_min_sig() -> Task {
    let all = signed(MinSig::ProofOfPossession, 2, |_| 0, |i| i);
    let truth = of_each(Job::Verify, Group::MinSig, &all[..1]);
    let changed = with_signature(&truth, &all[1]);
    let key = min_sig::PublicKey::from_bytes(&truth.keys[0].0).expect("a key");
    let signature = min_sig::Signature::from_bytes(&truth.signatures[0].0).expect("a signature");
    let message = truth.messages[0].0.clone();
    let blst = move || {
        let found = signature.verify(true, &message, MIN_SIG_TAG.as_bytes(), &[], &key, false);
        Found::Verdict(found == BLST_ERROR::BLST_SUCCESS)
    };
    let ours = |input: &Input| decoded(MinSig::ProofOfPossession, input);
    Task::new("peers/verify-min-sig", 1, "claim", truth, vec![changed], ours, Some(Box::new(blst)))
}

/// n keys that signed one message, each with its own signature. In the changed input two signatures stand at each other's keys, so
/// that their plain sum still holds.
pub(super) fn same_message(n: usize) -> Task {
    let signed = signed(MinPk::Eth2, n, |i| i, |_| 0);
    let mut truth = of_each(Job::SameMessage, Group::MinPk, &signed);
    truth.messages.truncate(1);
    let mut changed = truth.clone();
    changed.signatures.swap(0, 1);
    let blst = batch::Blst::new(&signed);
    let ours = |input: &Input| {
        let message = &input.messages[0].0;
        let of = input.decoded_keys().into_iter().zip(&input.signatures);
        holds(of.map(|(key, one)| Claim::single(MinPk::Eth2, key, message.clone(), signature_of(one))).collect())
    };
    let blst = move || Found::Verdict(blst.verify_by_message(true));
    Task::new("peers/same-message", n, "claim", truth, vec![changed], ours, Some(Box::new(blst)))
}

/// One message by n keys, which are decoded and checked; their sum is inside. In the changed input one key is missing.
pub(super) fn verify_aggregate(n: usize) -> Task {
    let signed = signed(MinPk::Eth2, n, |i| i, |_| 0);
    let mut truth = of_each(Job::Aggregate, Group::MinPk, &signed);
    truth.messages.truncate(1);
    truth.signatures = vec![sum(&signed)];
    let changed = Input { keys: truth.keys[1..].to_vec(), ..truth.clone() };
    let (keys, signature) = (truth.blst_keys(), truth.blst_signatures()[0]);
    let message = truth.messages[0].0.clone();
    let blst = move || {
        let keys: Vec<_> = keys.iter().collect();
        let found = signature.fast_aggregate_verify(true, &message, MIN_PK_TAG.as_bytes(), &keys);
        Found::Verdict(found == BLST_ERROR::BLST_SUCCESS)
    };
    let ours = |input: &Input| {
        let (message, signature) = (input.messages[0].0.clone(), signature_of(&input.signatures[0]));
        holds(vec![Claim::shared(MinPk::Eth2, input.decoded_keys(), message, signature)])
    };
    Task::new("peers/aggregate", n, "aggregate", truth, vec![changed], ours, Some(Box::new(blst)))
}

/// The aggregate signature.
fn sum(signed: &[Signed<MinPk>]) -> Bytes {
    let signatures: Vec<_> = signed.iter().map(|s| s.signature).collect();
    Bytes::of(aggregate::aggregate(&signatures, Backend::Portable).expect("signatures to add").to_bytes())
}

/// A block of `quorate-bench block`: n statements, each a key with its message, with one aggregate signature of all. In the changed
/// input two messages stand at each other's keys.
pub(super) fn block(n: usize) -> Task {
    let signed = signed(MinPk::Eth2, n, |i| i, |i| i);
    let truth = Input { signatures: vec![sum(&signed)], ..of_each(Job::Block, Group::MinPk, &signed) };
    let mut changed = truth.clone();
    changed.messages.swap(0, 1);
    let (keys, signature, messages) = (truth.blst_keys(), truth.blst_signatures()[0], truth.messages.clone());
    let blst = move || {
        let keys: Vec<_> = keys.iter().collect();
        let found = signature.aggregate_verify(true, &slices(&messages), MIN_PK_TAG.as_bytes(), &keys, false);
        Found::Verdict(found == BLST_ERROR::BLST_SUCCESS)
    };
    let ours = |input: &Input| {
        let messages = input.messages.iter().map(|message| message.0.clone().into());
        let statements = input.decoded_keys().into_iter().zip(messages).collect();
        holds(vec![Claim::each(MinPk::Eth2, statements, signature_of(&input.signatures[0]))])
    };
    Task::new("peers/block", n, "block", truth, vec![changed], ours, Some(Box::new(blst)))
}

/// The validators whose keys are in the sets of a block.
const VALIDATORS: usize = 2048;
/// The sets of a block.
pub(super) const SETS: usize = 130;

/// How many keys have signed a set: those of the proposer, twice, of the sync committee, and of attestations, whose committees have
/// some 450 members on Ethereum's mainnet.
fn signers(set: usize) -> usize {
    match set {
        0 | 1 => 1,
        2 => 500,
        _ => 400 + set * 37 % 81,
    }
}

/// The signature sets of a block of Ethereum before Electra: the block itself and its RANDAO reveal by the proposer, the sync
/// committee, and 127 attestations. Keys are decoded and checked; their sums are inside. In the changed input one key of the last set
/// is another.
pub(super) fn block_sets() -> Task {
    let backend = Backend::auto();
    let secrets: Vec<_> = (1..=VALIDATORS as u64).map(|i| Scalar::from(1000 + i).power(17)).collect();
    let points = backend.multiples(&vec![G1::generator(); VALIDATORS], &secrets);
    // The proposer is one of the others; the sets behind are neighbours, other ones each.
    let members = |set: usize| (0..signers(set)).map(move |i| (set.saturating_sub(1) * 157 + i) % VALIDATORS);
    let sets: Vec<Vec<usize>> = (0..SETS).map(|set| members(set).collect()).collect();
    let messages: Vec<_> = (0..SETS).map(|set| [set as u8; 32]).collect();
    let texts: Vec<_> = messages.iter().map(|message| (&[][..], &message[..])).collect();
    let hashes = backend.hash_to_curve::<G2>(MIN_PK_TAG.as_bytes(), &texts);
    let sums: Vec<Scalar> = sets.iter().map(|set| set.iter().map(|i| secrets[*i]).sum()).collect();
    let truth = Input {
        keys: points.iter().map(|point| Bytes::of(point.compress())).collect(),
        messages: messages.iter().map(Bytes::of).collect(),
        signatures: backend.multiples(&hashes, &sums).iter().map(|point| Bytes::of(point.compress())).collect(),
        sets,
        ..Input::new(Job::Sets, Group::MinPk)
    };
    let mut changed = truth.clone();
    let first = &mut changed.sets[SETS - 1][0];
    *first = (*first + VALIDATORS / 2) % VALIDATORS;
    let (keys, signatures) = (truth.blst_keys(), truth.blst_signatures());
    let (sets, messages) = (truth.sets.clone(), truth.messages.clone());
    let blst = move || {
        let sum = |set: &Vec<usize>| {
            let keys: Vec<_> = set.iter().map(|i| &keys[*i]).collect();
            min_pk::AggregatePublicKey::aggregate(&keys, false).expect("keys to add").to_public_key()
        };
        let sums: Vec<_> = sets.iter().map(sum).collect();
        Found::Verdict(blst_batch(&sums, &messages, &signatures) == BLST_ERROR::BLST_SUCCESS)
    };
    let ours = |input: &Input| {
        let keys = input.decoded_keys();
        let claim = |((set, message), signature): ((&Vec<usize>, &Bytes), &Bytes)| {
            let keys = set.iter().map(|i| keys[*i]).collect();
            Claim::shared(MinPk::Eth2, keys, message.0.clone(), signature_of(signature))
        };
        holds(input.sets.iter().zip(&input.messages).zip(&input.signatures).map(claim).collect())
    };
    Task::new("peers/block-sets", SETS, "block", truth, vec![changed], ours, Some(Box::new(blst)))
}

/// The key in G2, the message a digest, the words in the EVM's order.
pub(super) fn verify_bn254() -> Task {
    let suite = Bn254Suite::EigenLayer;
    let secret = Bn254SecretKey::from_entropy(&[7; 48]);
    let sign = |digest: [u8; 32]| {
        let hash = suite.hash(&digest).expect("a digest");
        Input {
            keys: vec![Bytes::of(secret.public_key_g2().to_bytes())],
            messages: vec![Bytes::of(digest)],
            signatures: vec![Bytes::of(secret.sign(&hash).to_bytes())],
            ..Input::new(Job::Verify, Group::Bn254)
        }
    };
    let truth = sign(quorate_bn254::drand_message(1));
    let changed = Input { signatures: sign(quorate_bn254::drand_message(2)).signatures, ..truth.clone() };
    let ours = |input: &Input| {
        let key = PublicKey::from_bytes(&input.keys[0].0).expect("a key");
        let message: [u8; 32] = input.messages[0].0[..].try_into().context("a digest").expect("32 bytes");
        holds(vec![Claim::single(Bn254Suite::EigenLayer, key, message, signature_of(&input.signatures[0]))])
    };
    Task::new("peers/verify-bn254", 1, "claim", truth, vec![changed], ours, None)
}

#[cfg(test)]
mod tests {
    use quorate::Suite as _;

    use super::*;

    /// The tags that the libraries get are those of the suites, by which quorate verifies.
    #[test]
    fn tags_are_those_of_the_suites() {
        assert_eq!((MinPk::Eth2.id(), MinSig::ProofOfPossession.id()), (MIN_PK_TAG, MIN_SIG_TAG));
    }

    /// A library that adds everything up would accept the one, and a library that decodes without the check of the subgroup the other.
    #[test]
    fn changed_inputs_are_false_for_one_reason_each() {
        let task = same_message(2);
        let (changed, _) = &task.changed[0];
        let points: Vec<G2> = changed.signatures.iter().map(|one| Backend::Portable.decode(&one.0).unwrap()).collect();
        let sum = UncheckedSignature::from_point(Backend::Portable.sum(&points));
        let plain = Claim::shared(MinPk::Eth2, changed.decoded_keys(), changed.messages[0].0.clone(), sum);
        assert!(all_hold(&[plain], Backend::Portable), "the plain sum holds");

        let task = from_bytes(1);
        let (changed, _) = &task.changed[1];
        let point: G1 = Backend::Portable.decode(&changed.keys[0].0).unwrap();
        assert!(!Backend::Portable.is_member(&point), "the key is outside");
        let key = PublicKey::assume_in_subgroup(point).unwrap();
        let claim =
            Claim::single(MinPk::Eth2, key, changed.messages[0].0.clone(), signature_of(&changed.signatures[0]));
        assert!(all_hold(&[claim], Backend::Portable), "the pairing does not tell");
    }

    /// No two sets of a block have the same keys but those of the proposer, and no set has a key twice.
    #[test]
    fn a_block_has_sets_of_its_own() {
        let task = block_sets();
        let sets = &task.input.sets;
        assert_eq!((sets.len(), sets[0].len(), sets[2].len()), (SETS, 1, 500));
        assert!(sets[3..].iter().all(|set| (400..=480).contains(&set.len())));
        let distinct: std::collections::HashSet<_> = sets[1..].iter().collect();
        assert_eq!(distinct.len(), SETS - 1);
        let is_set = |set: &Vec<usize>| set.iter().collect::<std::collections::HashSet<_>>().len() == set.len();
        assert!(sets.iter().chain(&task.changed[0].0.sets).all(is_set));
    }
}
