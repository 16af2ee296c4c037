//! Both crates on the same random and hostile inputs. A flaw in a case shrinks to a small one.
//!
//! Long because every function has a property of its own.
//!
//! `make soak` runs a million calls, or as many as `QUORATE_SOAK` says.

use std::{fmt::Debug, sync::LazyLock};

use blst::{BLST_ERROR, blst_scalar};
use proptest::{collection::vec, prelude::*, sample::Index, test_runner::TestRunner};

use crate::hostile::{OUTSIDE_G1, OUTSIDE_G2, SMALL_FROM, minus, plus};

/// How a point is made from a true one.
#[derive(Clone, Debug)]
enum Twist {
    True,
    /// With a point outside the subgroup added.
    Moved(Index),
    /// A point outside the subgroup.
    Outside(Index),
    Identity,
    Negated,
    /// Of another key, or over another message.
    Other,
}

/// A key, a message and a signature.
#[derive(Clone, Debug)]
struct Case {
    signer: usize,
    key: Twist,
    message: usize,
    signature: Twist,
    scalar: u64,
}

/// Mostly true cases, so that batches hold; every lie among the others.
fn case() -> impl Strategy<Value = Case> {
    (0..SIGNERS, twist(30), 0..MESSAGES.len(), twist(15), 1..u64::MAX)
        .prop_map(|(signer, key, message, signature, scalar)| Case { signer, key, message, signature, scalar })
}

fn twist(truth: u32) -> impl Strategy<Value = Twist> {
    prop_oneof![
        truth => Just(Twist::True),
        1 => any::<Index>().prop_map(Twist::Moved),
        1 => any::<Index>().prop_map(Twist::Outside),
        1 => Just(Twist::Identity),
        1 => Just(Twist::Negated),
        1 => Just(Twist::Other),
    ]
}

/// Bytes around every length and flag that a decoder looks at, random ones, and encodings with bits flipped.
#[derive(Clone, Debug)]
enum Encoding {
    Of { case: Case, compressed: bool },
    Flipped { case: Case, compressed: bool, place: Index, mask: u8 },
    Cut { case: Case, length: usize },
    Raw { length: usize, first: u8, fill: u8 },
}

fn encoding() -> impl Strategy<Value = Encoding> {
    prop_oneof![
        4 => (case(), any::<bool>()).prop_map(|(case, compressed)| Encoding::Of { case, compressed }),
        4 => (case(), any::<bool>(), any::<Index>(), any::<u8>())
            .prop_map(|(case, compressed, place, mask)| Encoding::Flipped { case, compressed, place, mask }),
        1 => (case(), 0..193_usize).prop_map(|(case, length)| Encoding::Cut { case, length }),
        2 => (prop_oneof![Just(48_usize), Just(96), Just(192), 0..200_usize], any::<u8>(), any::<u8>())
            .prop_map(|(length, first, fill)| Encoding::Raw { length, first, fill }),
    ]
}

const SIGNERS: usize = 5;
const MESSAGES: [&[u8]; 4] = [b"", b"a", b"another message", &[7; 300]];
const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// Tries so many cases and says which one fails.
fn try_cases<S: Strategy>(cases: u32, strategy: S, test: impl Fn(S::Value))
where
    S::Value: Debug,
{
    let config =
        ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&strategy, |case| {
        test(case);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

macro_rules! differential {
    ($module:ident, $key:ty, $signature:ty, $KeyGroup:ty, $SignatureGroup:ty, $outside_keys:ident, $outside_signatures:ident) => {
        mod $module {
            use blst::{MultiPoint as _, $module as theirs};
            use quorate_blst::{MultiPoint as _, $module as ours};

            use super::*;

            fn secret(signer: usize) -> theirs::SecretKey {
                theirs::SecretKey::key_gen(&[signer as u8 + 1; 32], &[]).unwrap()
            }

            /// By signer: the key, and its signatures over the messages and over another.
            static SIGNERS_MADE: LazyLock<Vec<($key, Vec<$signature>)>> = LazyLock::new(|| {
                let made = (0..=SIGNERS).map(|signer| {
                    let secret = secret(signer);
                    let sign = |message: &[u8]| secret.sign(message, TAG, &[]).into();
                    let signatures = MESSAGES.into_iter().chain([&b"other"[..]]).map(sign).collect();
                    (secret.sk_to_pk().into(), signatures)
                });
                made.collect()
            });

            /// The key of a case, as both crates hold it.
            fn key(case: &Case) -> (theirs::PublicKey, ours::PublicKey) {
                let key = SIGNERS_MADE[case.signer].0;
                let key: $key = match &case.key {
                    Twist::True => key,
                    Twist::Moved(by) => plus::<$KeyGroup>(key, *by.get(&$outside_keys[..])),
                    Twist::Outside(point) => *point.get(&$outside_keys[..]),
                    Twist::Identity => Default::default(),
                    Twist::Negated => minus::<$KeyGroup>(key),
                    Twist::Other => SIGNERS_MADE[case.signer + 1].0,
                };
                (key.into(), key.into())
            }

            fn signature(case: &Case) -> (theirs::Signature, ours::Signature) {
                let signatures = &SIGNERS_MADE[case.signer].1;
                let made = signatures[case.message];
                let made: $signature = match &case.signature {
                    Twist::True => made,
                    Twist::Moved(by) => plus::<$SignatureGroup>(made, *by.get(&$outside_signatures[..])),
                    Twist::Outside(point) => *point.get(&$outside_signatures[..]),
                    Twist::Identity => Default::default(),
                    Twist::Negated => minus::<$SignatureGroup>(made),
                    Twist::Other => signatures[MESSAGES.len()],
                };
                (made.into(), made.into())
            }

            /// The same of many cases.
            fn keys(cases: &[Case]) -> (Vec<theirs::PublicKey>, Vec<ours::PublicKey>) {
                cases.iter().map(key).unzip()
            }

            fn signatures(cases: &[Case]) -> (Vec<theirs::Signature>, Vec<ours::Signature>) {
                cases.iter().map(signature).unzip()
            }

            fn refs<T>(items: &[T]) -> Vec<&T> {
                items.iter().collect()
            }

            fn bytes_of_key(encoding: &Encoding) -> Vec<u8> {
                bytes(encoding, |case, compressed| {
                    let key = key(case).0;
                    if compressed { key.compress().to_vec() } else { key.serialize().to_vec() }
                })
            }

            fn bytes_of_signature(encoding: &Encoding) -> Vec<u8> {
                bytes(encoding, |case, compressed| {
                    let signature = signature(case).0;
                    if compressed { signature.compress().to_vec() } else { signature.serialize().to_vec() }
                })
            }

            fn keys_equal(theirs: Result<theirs::PublicKey, BLST_ERROR>, ours: Result<ours::PublicKey, BLST_ERROR>) {
                assert_eq!(theirs.map(|key| key.serialize()), ours.map(|key| key.serialize()));
            }

            fn signatures_equal(
                theirs: Result<theirs::Signature, BLST_ERROR>,
                ours: Result<ours::Signature, BLST_ERROR>,
            ) {
                assert_eq!(theirs.map(|key| key.serialize()), ours.map(|key| key.serialize()));
            }

            pub(super) fn verify(case: &Case, groupcheck: bool, validate: bool, aug: &[u8]) {
                let ((their_key, our_key), (their_sig, our_sig)) = (key(case), signature(case));
                let message = MESSAGES[case.message];
                assert_eq!(
                    their_sig.verify(groupcheck, message, TAG, aug, &their_key, validate),
                    our_sig.verify(groupcheck, message, TAG, aug, &our_key, validate),
                );
                assert_eq!(
                    their_sig.fast_aggregate_verify_pre_aggregated(groupcheck, message, TAG, &their_key),
                    our_sig.fast_aggregate_verify_pre_aggregated(groupcheck, message, TAG, &our_key),
                );
            }

            /// The sum of the signatures, over the cases' own messages; `drop` leaves a message out.
            pub(super) fn aggregate_verify(cases: &[Case], groupcheck: bool, validate: bool, drop: bool) {
                let (their_keys, our_keys) = keys(cases);
                let (their_sigs, _) = signatures(cases);
                let raw: $signature = match theirs::AggregateSignature::aggregate(&refs(&their_sigs), false) {
                    Ok(sum) => sum.to_signature().into(),
                    Err(_) => Default::default(),
                };
                let (their_sum, our_sum): (theirs::Signature, ours::Signature) = (raw.into(), raw.into());
                let mut messages: Vec<_> = cases.iter().map(|case| MESSAGES[case.message]).collect();
                if drop {
                    messages.pop();
                }
                assert_eq!(
                    their_sum.aggregate_verify(groupcheck, &messages, TAG, &refs(&their_keys), validate),
                    our_sum.aggregate_verify(groupcheck, &messages, TAG, &refs(&our_keys), validate),
                );
            }

            /// All keys over the message of the first.
            pub(super) fn fast_aggregate_verify(cases: &[Case], groupcheck: bool) {
                let mut cases = cases.to_vec();
                let first = cases.first().map_or(0, |case| case.message);
                cases.iter_mut().for_each(|case| case.message = first);
                let ((their_keys, our_keys), (their_sigs, _)) = (keys(&cases), signatures(&cases));
                let raw: $signature = match theirs::AggregateSignature::aggregate(&refs(&their_sigs), false) {
                    Ok(sum) => sum.to_signature().into(),
                    Err(_) => Default::default(),
                };
                let (their_sum, our_sum): (theirs::Signature, ours::Signature) = (raw.into(), raw.into());
                assert_eq!(
                    their_sum.fast_aggregate_verify(groupcheck, MESSAGES[first], TAG, &refs(&their_keys)),
                    our_sum.fast_aggregate_verify(groupcheck, MESSAGES[first], TAG, &refs(&our_keys)),
                );
            }

            pub(super) fn verify_multiple(cases: &[Case], groupcheck: bool, validate: bool, bits: usize, drop: usize) {
                let ((their_keys, our_keys), (their_sigs, our_sigs)) = (keys(cases), signatures(cases));
                let messages: Vec<_> = cases.iter().map(|case| MESSAGES[case.message]).collect();
                let scalars: Vec<_> = cases
                    .iter()
                    .map(|case| {
                        let mut scalar = blst_scalar::default();
                        scalar.b[..8].copy_from_slice(&case.scalar.to_le_bytes());
                        scalar.b[8..16].copy_from_slice(&case.scalar.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
                        scalar
                    })
                    .collect();
                // One list may be shorter than the others.
                let short = |of: usize| messages.len() - usize::from(drop == of && !messages.is_empty());
                let (m, k, s, r) = (short(1), short(2), short(3), short(4));
                assert_eq!(
                    theirs::Signature::verify_multiple_aggregate_signatures(
                        &messages[..m],
                        TAG,
                        &refs(&their_keys)[..k],
                        validate,
                        &refs(&their_sigs)[..s],
                        groupcheck,
                        &scalars[..r],
                        bits
                    ),
                    ours::Signature::verify_multiple_aggregate_signatures(
                        &messages[..m],
                        TAG,
                        &refs(&our_keys)[..k],
                        validate,
                        &refs(&our_sigs)[..s],
                        groupcheck,
                        &scalars[..r],
                        bits
                    ),
                );
            }

            pub(super) fn verify_each(cases: &[Case], groupcheck: bool, validate: bool) {
                let ((their_keys, our_keys), (their_sigs, our_sigs)) = (keys(cases), signatures(cases));
                let messages: Vec<_> = cases.iter().map(|case| MESSAGES[case.message]).collect();
                let each = their_sigs.iter().zip(&their_keys).zip(&messages);
                let theirs: Vec<_> = each
                    .map(|((signature, key), message)| {
                        signature.verify(groupcheck, message, TAG, &[], key, validate) == BLST_ERROR::BLST_SUCCESS
                    })
                    .collect();
                let (keys, signatures) = (refs(&our_keys), refs(&our_sigs));
                let ours = ours::Signature::verify_each(&messages, TAG, &keys, validate, &signatures, groupcheck);
                assert_eq!(ours, Ok(theirs));
                if !cases.is_empty() {
                    let short = &keys[1..];
                    let unequal =
                        ours::Signature::verify_each(&messages, TAG, short, validate, &signatures, groupcheck);
                    assert_eq!(unequal, Err(BLST_ERROR::BLST_AGGR_TYPE_MISMATCH));
                }
            }

            pub(super) fn sums(cases: &[Case], check: bool) {
                let ((their_keys, our_keys), (their_sigs, our_sigs)) = (keys(cases), signatures(cases));
                keys_equal(
                    theirs::AggregatePublicKey::aggregate(&refs(&their_keys), check).map(|sum| sum.to_public_key()),
                    ours::AggregatePublicKey::aggregate(&refs(&our_keys), check).map(|sum| sum.to_public_key()),
                );
                signatures_equal(
                    theirs::AggregateSignature::aggregate(&refs(&their_sigs), check).map(|sum| sum.to_signature()),
                    ours::AggregateSignature::aggregate(&refs(&our_sigs), check).map(|sum| sum.to_signature()),
                );
                if cases.is_empty() || has_small_order(cases) {
                    return;
                }
                keys_equal(Ok(their_keys.add().to_public_key()), Ok(our_keys.add().to_public_key()));
                signatures_equal(Ok(their_sigs.add().to_signature()), Ok(our_sigs.add().to_signature()));
                assert_eq!(their_keys.validate(), our_keys.validate());
                assert_eq!(their_sigs.validate(), our_sigs.validate());
                let raw: Vec<$key> = their_keys.iter().map(|key| (*key).into()).collect();
                assert_eq!(blst::MultiPoint::add(&raw[..]), quorate_blst::MultiPoint::add(&raw[..]));
                assert_eq!(blst::MultiPoint::validate(&raw[..]), quorate_blst::MultiPoint::validate(&raw[..]));
            }

            pub(super) fn multiples(cases: &[Case], check: bool, bits: usize, scalars: &[u8]) {
                if has_small_order(cases) {
                    return;
                }
                let ((their_keys, our_keys), (their_sigs, our_sigs)) = (keys(cases), signatures(cases));
                keys_equal(
                    theirs::AggregatePublicKey::aggregate_with_randomness(&their_keys, scalars, bits, check)
                        .map(|sum| sum.to_public_key()),
                    ours::AggregatePublicKey::aggregate_with_randomness(&our_keys, scalars, bits, check)
                        .map(|sum| sum.to_public_key()),
                );
                signatures_equal(
                    theirs::AggregateSignature::aggregate_with_randomness(&their_sigs, scalars, bits, check)
                        .map(|sum| sum.to_signature()),
                    ours::AggregateSignature::aggregate_with_randomness(&our_sigs, scalars, bits, check)
                        .map(|sum| sum.to_signature()),
                );
                if cases.is_empty() {
                    return;
                }
                keys_equal(
                    Ok(their_keys.mult(scalars, bits).to_public_key()),
                    Ok(our_keys.mult(scalars, bits).to_public_key()),
                );
                signatures_equal(
                    Ok(their_sigs.mult(scalars, bits).to_signature()),
                    Ok(our_sigs.mult(scalars, bits).to_signature()),
                );
                let raw: Vec<$key> = their_keys.iter().map(|key| (*key).into()).collect();
                assert_eq!(
                    blst::MultiPoint::mult(&raw[..], scalars, bits),
                    quorate_blst::MultiPoint::mult(&raw[..], scalars, bits)
                );
            }

            pub(super) fn decode(encoding: &Encoding, check: bool) {
                let bytes = bytes_of_key(encoding);
                keys_equal(theirs::PublicKey::deserialize(&bytes), ours::PublicKey::deserialize(&bytes));
                keys_equal(theirs::PublicKey::from_bytes(&bytes), ours::PublicKey::from_bytes(&bytes));
                keys_equal(theirs::PublicKey::key_validate(&bytes), ours::PublicKey::key_validate(&bytes));
                let bytes = bytes_of_signature(encoding);
                signatures_equal(theirs::Signature::deserialize(&bytes), ours::Signature::deserialize(&bytes));
                signatures_equal(theirs::Signature::from_bytes(&bytes), ours::Signature::from_bytes(&bytes));
                signatures_equal(
                    theirs::Signature::sig_validate(&bytes, check),
                    ours::Signature::sig_validate(&bytes, check),
                );
                // blst reads the first byte of what it uncompresses before it looks at the length.
                if !bytes.is_empty() {
                    signatures_equal(theirs::Signature::uncompress(&bytes), ours::Signature::uncompress(&bytes));
                    keys_equal(theirs::PublicKey::uncompress(&bytes), ours::PublicKey::uncompress(&bytes));
                }
            }

            pub(super) fn sums_of_encoded(encodings: &[Encoding], check: bool) {
                let bytes: Vec<_> = encodings.iter().map(bytes_of_key).collect();
                let bytes: Vec<_> = bytes.iter().map(|bytes| &bytes[..]).collect();
                keys_equal(
                    theirs::AggregatePublicKey::aggregate_serialized(&bytes, check).map(|sum| sum.to_public_key()),
                    ours::AggregatePublicKey::aggregate_serialized(&bytes, check).map(|sum| sum.to_public_key()),
                );
                let bytes: Vec<_> = encodings.iter().map(bytes_of_signature).collect();
                let bytes: Vec<_> = bytes.iter().map(|bytes| &bytes[..]).collect();
                signatures_equal(
                    theirs::AggregateSignature::aggregate_serialized(&bytes, check).map(|sum| sum.to_signature()),
                    ours::AggregateSignature::aggregate_serialized(&bytes, check).map(|sum| sum.to_signature()),
                );
            }

            /// Everything on one or two points.
            pub(super) fn single_points(a: &Case, b: &Case, check: bool) {
                let ((their_a, our_a), (their_b, our_b)) = (key(a), key(b));
                assert_eq!(their_a == their_b, our_a == our_b);
                assert_eq!(their_a.validate(), our_a.validate());
                assert_eq!((their_a.to_bytes(), their_a.compress()), (our_a.to_bytes(), our_a.compress()));
                assert_eq!(format!("{their_a:?}"), format!("{our_a:?}"));
                let mut their_sum = theirs::AggregatePublicKey::from_public_key(&their_a);
                let mut our_sum = ours::AggregatePublicKey::from_public_key(&our_a);
                assert_eq!(their_sum.add_public_key(&their_b, check), our_sum.add_public_key(&our_b, check));
                their_sum.add_aggregate(&theirs::AggregatePublicKey::from_public_key(&their_b));
                our_sum.add_aggregate(&ours::AggregatePublicKey::from_public_key(&our_b));
                their_sum.sub_aggregate(&theirs::AggregatePublicKey::from_public_key(&their_a));
                our_sum.sub_aggregate(&ours::AggregatePublicKey::from_public_key(&our_a));
                keys_equal(
                    Ok(theirs::PublicKey::from_aggregate(&their_sum)),
                    Ok(ours::PublicKey::from_aggregate(&our_sum)),
                );
                let ((their_a, our_a), (their_b, our_b)) = (signature(a), signature(b));
                assert_eq!(their_a == their_b, our_a == our_b);
                assert_eq!(their_a.validate(check), our_a.validate(check));
                assert_eq!(their_a.subgroup_check(), our_a.subgroup_check());
                assert_eq!((their_a.to_bytes(), their_a.compress()), (our_a.to_bytes(), our_a.compress()));
                assert_eq!(format!("{their_a:?}"), format!("{our_a:?}"));
                let mut their_sum = theirs::AggregateSignature::from_signature(&their_a);
                let mut our_sum = ours::AggregateSignature::from_signature(&our_a);
                assert_eq!(their_sum.add_signature(&their_b, check), our_sum.add_signature(&our_b, check));
                their_sum.add_aggregate(&theirs::AggregateSignature::from_signature(&their_a));
                our_sum.add_aggregate(&ours::AggregateSignature::from_signature(&our_a));
                assert_eq!(their_sum.validate(), our_sum.validate());
                assert_eq!(their_sum.subgroup_check(), our_sum.subgroup_check());
                signatures_equal(
                    Ok(theirs::Signature::from_aggregate(&their_sum)),
                    Ok(ours::Signature::from_aggregate(&our_sum)),
                );
            }

            pub(super) fn secrets(material: &[u8], salt: &[u8], index: u32) {
                fn bytes(
                    theirs: Result<theirs::SecretKey, BLST_ERROR>,
                    ours: Result<ours::SecretKey, BLST_ERROR>,
                ) -> Option<(theirs::SecretKey, ours::SecretKey)> {
                    let equal = |a: &theirs::SecretKey, b: &ours::SecretKey| {
                        assert_eq!((a.to_bytes(), a.serialize()), (b.to_bytes(), b.serialize()));
                    };
                    match (theirs, ours) {
                        (Ok(a), Ok(b)) => {
                            equal(&a, &b);
                            Some((a, b))
                        }
                        (a, b) => {
                            assert_eq!(a.err(), b.err());
                            None
                        }
                    }
                }
                bytes(theirs::SecretKey::key_gen_v3(material, salt), ours::SecretKey::key_gen_v3(material, salt));
                bytes(
                    theirs::SecretKey::key_gen_v4_5(material, salt, b"info"),
                    ours::SecretKey::key_gen_v4_5(material, salt, b"info"),
                );
                bytes(
                    theirs::SecretKey::key_gen_v5(material, salt, b"info"),
                    ours::SecretKey::key_gen_v5(material, salt, b"info"),
                );
                bytes(theirs::SecretKey::deserialize(material), ours::SecretKey::deserialize(material));
                bytes(theirs::SecretKey::from_bytes(material), ours::SecretKey::from_bytes(material));
                let master = bytes(
                    theirs::SecretKey::derive_master_eip2333(material),
                    ours::SecretKey::derive_master_eip2333(material),
                );
                if let Some((theirs, ours)) = master {
                    bytes(Ok(theirs.derive_child_eip2333(index)), Ok(ours.derive_child_eip2333(index)));
                }
                let generated =
                    bytes(theirs::SecretKey::key_gen(material, salt), ours::SecretKey::key_gen(material, salt));
                if let Some((theirs, ours)) = generated {
                    keys_equal(Ok(theirs.sk_to_pk()), Ok(ours.sk_to_pk()));
                    signatures_equal(Ok(theirs.sign(material, TAG, salt)), Ok(ours.sign(material, TAG, salt)));
                }
                if let Ok(bytes) = <[u8; 32]>::try_from(material) {
                    let scalar = blst_scalar { b: bytes };
                    let theirs: Result<&theirs::SecretKey, _> = (&scalar).try_into();
                    let ours: Result<&ours::SecretKey, _> = (&scalar).try_into();
                    assert_eq!(theirs.map(|secret| secret.to_bytes()), ours.map(|secret| secret.to_bytes()));
                    if let Ok(secret) = ours {
                        let back: &blst_scalar = secret.into();
                        assert!(std::ptr::eq(back, &scalar), "no copy is made");
                    }
                }
            }

            #[cfg(feature = "serde-secret")]
            pub(super) fn serialized(case: &Case, encoding: &Encoding) {
                use serde::{
                    Deserialize,
                    de::value::{BorrowedBytesDeserializer, Error},
                };
                fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, String> {
                    T::deserialize(BorrowedBytesDeserializer::<Error>::new(bytes)).map_err(|error| error.to_string())
                }
                let json = |value: &dyn Fn() -> serde_json::Result<String>| value().unwrap();
                let (their_key, our_key) = key(case);
                assert_eq!(json(&|| serde_json::to_string(&their_key)), json(&|| serde_json::to_string(&our_key)));
                let (their_sig, our_sig) = signature(case);
                assert_eq!(json(&|| serde_json::to_string(&their_sig)), json(&|| serde_json::to_string(&our_sig)));
                let bytes = bytes_of_key(encoding);
                let (theirs, ours) = (read::<theirs::PublicKey>(&bytes), read::<ours::PublicKey>(&bytes));
                assert_eq!(theirs.map(|key| key.compress()), ours.map(|key| key.compress()));
                let bytes = bytes_of_signature(encoding);
                let (theirs, ours) = (read::<theirs::Signature>(&bytes), read::<ours::Signature>(&bytes));
                assert_eq!(theirs.map(|key| key.compress()), ours.map(|key| key.compress()));
                let scalar = &secret(case.signer).to_bytes()[..];
                for bytes in [scalar, &bytes] {
                    let (theirs, ours) = (read::<theirs::SecretKey>(bytes), read::<ours::SecretKey>(bytes));
                    assert_eq!(theirs.map(|key| key.to_bytes()), ours.map(|key| key.to_bytes()));
                }
                let (theirs, ours) = (secret(case.signer), read::<ours::SecretKey>(scalar).unwrap());
                assert_eq!(json(&|| serde_json::to_string(&theirs)), json(&|| serde_json::to_string(&ours)));
            }
        }
    };
}

/// Whether a point has a small order, or is moved by one. blst's sums and multiples of many such points are wrong (see
/// `differences`).
fn has_small_order(cases: &[Case]) -> bool {
    let is = |twist: &Twist| match twist {
        Twist::Moved(by) | Twist::Outside(by) => {
            by.index(OUTSIDE_G1.len()) >= SMALL_FROM || by.index(OUTSIDE_G2.len()) >= SMALL_FROM
        }
        _ => false,
    };
    cases.iter().any(|case| is(&case.key) || is(&case.signature))
}

fn bytes(encoding: &Encoding, of: impl Fn(&Case, bool) -> Vec<u8>) -> Vec<u8> {
    match encoding {
        Encoding::Of { case, compressed } => of(case, *compressed),
        Encoding::Flipped { case, compressed, place, mask } => {
            let mut bytes = of(case, *compressed);
            let place = place.index(bytes.len());
            bytes[place] ^= mask;
            bytes
        }
        Encoding::Cut { case, length } => {
            let mut bytes = of(case, length % 2 == 0);
            bytes.resize(*length, 0);
            bytes
        }
        Encoding::Raw { length, first, fill } => {
            let mut bytes = vec![*fill; *length];
            bytes.iter_mut().take(1).for_each(|byte| *byte = *first);
            bytes
        }
    }
}

differential!(
    min_pk,
    blst::blst_p1_affine,
    blst::blst_p2_affine,
    quorate_curve::G1,
    quorate_curve::G2,
    OUTSIDE_G1,
    OUTSIDE_G2
);
differential!(
    min_sig,
    blst::blst_p2_affine,
    blst::blst_p1_affine,
    quorate_curve::G2,
    quorate_curve::G1,
    OUTSIDE_G2,
    OUTSIDE_G1
);

/// A test of both variants with so many cases, and so many of each thousand in the soak. Then the cases, and the call.
macro_rules! tests {
    ($($name:ident: $cases:literal, $in_soak:literal, $strategy:expr, $pattern:pat => $call:ident($($argument:expr),*);)*) => {
        $(
            #[test]
            fn $name() {
                $name::of_both($cases);
            }

            mod $name {
                use super::*;

                pub(super) fn of_both(cases: u32) {
                    try_cases(cases, $strategy, |$pattern| min_pk::$call($($argument),*));
                    try_cases(cases, $strategy, |$pattern| min_sig::$call($($argument),*));
                }
            }
        )*

        /// `make soak`: a million cases, or as many as `QUORATE_SOAK` says. Each is one to a dozen calls of both crates.
        #[test]
        #[ignore = "takes minutes: run `make soak`"]
        fn soak_dropin() {
            let wanted: u32 =
                std::env::var("QUORATE_SOAK").map_or(1_000_000, |n| n.parse().expect("QUORATE_SOAK is a number"));
            let parts: u32 = [$($in_soak),*].iter().sum();
            let mut done = 0;
            $(
                let cases = (wanted * $in_soak).div_ceil(2 * parts);
                $name::of_both(cases);
                println!("{}: {} cases agree", stringify!($name), 2 * cases);
                done += 2 * cases;
            )*
            println!("{done} cases agree with blst");
        }
    };
}

type Flags = (bool, bool);

tests! {
    // One claim, with every lie and every check waived or not.
    one_claim: 24, 20, (case(), any::<Flags>(), vec(any::<u8>(), 0..3)),
        (case, (a, b), aug) => verify(&case, a, b, &aug);
    // Several keys over their own messages, of which some repeat.
    aggregates: 12, 10, (vec(case(), 0..7), any::<Flags>(), any::<Index>()),
        (cases, (a, b), drop) => aggregate_verify(&cases, a, b, drop.index(8) == 0);
    // Several keys over one message.
    multi_signatures: 16, 15, (vec(case(), 0..12), any::<bool>()),
        (cases, a) => fast_aggregate_verify(&cases, a);
    // Sets with weights, in batches below and above the width of a vector.
    sets: 12, 10, (vec(case(), 0..12), any::<Flags>(), prop_oneof![Just(0_usize), Just(64), Just(128)], 0..20_usize),
        (cases, (a, b), bits, drop) => verify_multiple(&cases, a, b, bits, drop);
    // The false sets by index.
    false_sets: 12, 10, (vec(case(), 0..12), any::<Flags>()),
        (cases, (a, b)) => verify_each(&cases, a, b);
    // Sums of points, validated or not.
    many_points: 60, 50, (prop_oneof![6 => vec(case(), 0..40), 1 => vec(case(), 90..120)], any::<bool>()),
        (cases, a) => sums(&cases, a);
    // Multiples of points by scalars of every width.
    many_multiples: 30, 15, (vec(case(), 0..20), any::<bool>(), bits(), vec(any::<u8>(), 20 * 32)),
        (cases, a, bits, scalars) => multiples(&cases, a, bits, &scalars);
    // Encodings of both forms, damaged at any place.
    encodings: 400, 400, (encoding(), any::<bool>()),
        (encoding, a) => decode(&encoding, a);
    // Sums of encodings, of which some are damaged.
    sums_of_encodings: 40, 20, (vec(encoding(), 0..20), any::<bool>()),
        (encodings, a) => sums_of_encoded(&encodings, a);
    // Sums of sound encodings, so that nothing ends early.
    sums_of_sound_encodings: 20, 20, (vec(sound_encoding(), 0..40), any::<bool>()),
        (encodings, a) => sums_of_encoded(&encodings, a);
    // Comparisons, conversions and sums of two.
    one_or_two_points: 200, 300, (case(), case(), any::<bool>()),
        (a, b, check) => single_points(&a, &b, check);
    // Generated, derived and decoded secrets.
    secret_keys: 40, 130, (material(), vec(any::<u8>(), 0..40), any::<u32>()),
        (material, salt, index) => secrets(&material, &salt, index);
}

/// Serde's bytes.
#[cfg(feature = "serde-secret")]
#[test]
fn serialized_values() {
    try_cases(40, (case(), encoding()), |(case, encoding)| min_pk::serialized(&case, &encoding));
    try_cases(40, (case(), encoding()), |(case, encoding)| min_sig::serialized(&case, &encoding));
}

/// Widths of scalars.
fn bits() -> impl Strategy<Value = usize> {
    prop_oneof![Just(64_usize), Just(128), Just(256), 1..257_usize]
}

fn sound_encoding() -> impl Strategy<Value = Encoding> {
    (case(), any::<bool>()).prop_map(|(case, compressed)| Encoding::Of { case, compressed })
}

/// Key material, too short or long enough, and scalars around the order of the group.
fn material() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 30..34), vec(any::<u8>(), 32), vec(0x70..0x75_u8, 32), Just(vec![0; 32])]
}

/// One claim is the engine's, also if a point of the twist is outside the subgroup and nothing is checked. So its product of two pairings
/// must be blst's for every order. The loops of opposite points of G1 cancel, except with the point of order 13, whose loop is zero.
#[test]
fn points_of_the_twist_of_every_order_outside() {
    use quorate_curve::{Backend, Bls12381Group as _, G1, G2, Group as _};

    let moved = OUTSIDE_G2.iter().map(|point| plus::<G2>(*point, G2::generator().to_blst()));
    for (place, point) in OUTSIDE_G2.iter().copied().chain(moved).enumerate() {
        let outside = G2::from_blst_assuming_on_curve(point);
        for (p, cancels) in [(G1::generator(), false), (G1::generator().negate(), place != SMALL_FROM)] {
            let theirs = blst::blst_fp12::miller_loop_n(&[point; 2], &[G1::generator(), p].map(|p| p.to_blst()));
            assert_eq!(theirs.final_exp() == blst::blst_fp12::default(), cancels, "blst, point {place}");
            for backend in Backend::available() {
                let ours = backend.pairs_to_one(&[(G1::generator(), outside), (p, outside)]);
                assert_eq!(ours, cancels, "{backend}, point {place}");
            }
        }
    }
}

/// What blst says about points of the twist outside the subgroup depends on the caller's scalars, if no check is wanted.
/// With multiples of the order of the part outside, blst accepts signatures, and so does the drop-in.
#[test]
fn points_of_the_twist_outside_are_left_to_blst() {
    use quorate_curve::G2;

    let small = OUTSIDE_G2[SMALL_FROM];
    let scalar = |n: u16| {
        let mut scalar = blst_scalar::default();
        scalar.b[..2].copy_from_slice(&n.to_le_bytes());
        scalar
    };
    let cases: Vec<_> = (0..3)
        .map(|signer| Case { signer, key: Twist::True, message: signer, signature: Twist::True, scalar: 0 })
        .collect();
    let messages: Vec<_> = cases.iter().map(|case| MESSAGES[case.message]).collect();
    macro_rules! both {
        ($module:ident, $key:ident, $signature:ident, $keys:ident, $signatures:ident, $moved:ident, $multiples:ident) => {{
            let secrets = [0_u8, 1, 2].map(|i| blst::$module::SecretKey::key_gen(&[i + 1; 32], &[]).unwrap());
            #[allow(unused_mut, reason = "one of the two is moved")]
            let mut $keys: Vec<blst::$key> = secrets.iter().map(|secret| secret.sk_to_pk().into()).collect();
            #[allow(unused_mut, reason = "one of the two is moved")]
            let mut $signatures: Vec<blst::$signature> =
                secrets.iter().zip(&messages).map(|(secret, message)| secret.sign(message, TAG, &[]).into()).collect();
            $moved[1] = plus::<G2>($moved[1], small);
            // Multiples of 13² = 169, then not.
            let scalars = [[169, 338, 507].map(scalar), [5, 7, 11].map(scalar)];
            let answers = |scalars: &[blst_scalar]| {
                macro_rules! answer {
                    ($crate_name:ident) => {{
                        use $crate_name::$module::{PublicKey, Signature};
                        let keys: Vec<PublicKey> = $keys.iter().copied().map(PublicKey::from).collect();
                        let signatures: Vec<Signature> = $signatures.iter().copied().map(Signature::from).collect();
                        let (keys, signatures): (Vec<_>, Vec<_>) = (keys.iter().collect(), signatures.iter().collect());
                        let one = [&messages[1..2], &messages[..]].map(|messages| {
                            let (from, to) = if messages.len() == 1 { (1, 2) } else { (0, 3) };
                            Signature::verify_multiple_aggregate_signatures(
                                messages,
                                TAG,
                                &keys[from..to],
                                false,
                                &signatures[from..to],
                                false,
                                &scalars[from..to],
                                16,
                            )
                        });
                        one
                    }};
                }
                let (theirs, ours) = (answer!(blst), answer!(quorate_blst));
                assert_eq!(theirs, ours);
                theirs
            };
            assert_eq!(answers(&scalars[0]), [BLST_ERROR::$multiples; 2]);
            assert_eq!(answers(&scalars[1]), [BLST_ERROR::BLST_VERIFY_FAIL; 2]);
        }};
    }
    both!(min_pk, blst_p1_affine, blst_p2_affine, keys, signatures, signatures, BLST_SUCCESS);
    // Here blst multiplies the hash and not the key.
    both!(min_sig, blst_p2_affine, blst_p1_affine, keys, signatures, keys, BLST_VERIFY_FAIL);

    // Keys whose parts outside cancel in a sum, over one message. blst pairs each key by itself.
    let secrets = [1_u8, 2].map(|i| blst::min_sig::SecretKey::key_gen(&[i; 32], &[]).unwrap());
    let [a, b]: [blst::blst_p2_affine; 2] = secrets.each_ref().map(|secret| secret.sk_to_pk().into());
    let keys = [plus::<G2>(a, small), plus::<G2>(b, minus::<G2>(small))];
    let signatures = secrets.each_ref().map(|secret| secret.sign(b"m", TAG, &[]));
    let sum = blst::min_sig::AggregateSignature::aggregate(&[&signatures[0], &signatures[1]], true).unwrap();
    let sum: blst::blst_p1_affine = sum.to_signature().into();
    let theirs = keys.map(blst::min_sig::PublicKey::from);
    let ours = keys.map(quorate_blst::min_sig::PublicKey::from);
    let messages: [&[u8]; 2] = [b"m", b"m"];
    for validate in [false, true] {
        let expected = blst::min_sig::Signature::from(sum).aggregate_verify(
            true,
            &messages,
            TAG,
            &[&theirs[0], &theirs[1]],
            validate,
        );
        assert_eq!(expected, BLST_ERROR::BLST_VERIFY_FAIL);
        let sum = quorate_blst::min_sig::Signature::from(sum);
        assert_eq!(sum.aggregate_verify(true, &messages, TAG, &[&ours[0], &ours[1]], validate), expected);
    }
}

/// The identity as a key and as its signature: the only pairing of the set would be one.
#[test]
fn identity_keys_are_refused_beside_true_sets() {
    macro_rules! refused {
        ($crate_name:ident, $module:ident) => {{
            use $crate_name::{
                BLST_ERROR,
                $module::{PublicKey, SecretKey, Signature},
            };
            let secret = SecretKey::key_gen(&[1; 32], &[]).unwrap();
            let identity = |length: usize| {
                let mut bytes = vec![0; length];
                bytes[0] = 0xc0;
                bytes
            };
            let key = PublicKey::from_bytes(&identity(secret.sk_to_pk().compress().len())).unwrap();
            let signature = secret.sign(b"m", TAG, &[]);
            let empty = Signature::from_bytes(&identity(signature.compress().len())).unwrap();
            let keys = [&secret.sk_to_pk(), &key];
            let (messages, scalars): ([&[u8]; 2], _) =
                ([b"m", b"n"], [blst_scalar { b: [1; 32] }, blst_scalar { b: [3; 32] }]);
            for validate in [false, true] {
                let sets = Signature::verify_multiple_aggregate_signatures(
                    &messages,
                    TAG,
                    &keys,
                    validate,
                    &[&signature, &empty],
                    true,
                    &scalars,
                    64,
                );
                let aggregate = signature.aggregate_verify(true, &messages, TAG, &keys, validate);
                let one = empty.verify(true, b"n", TAG, &[], &key, validate);
                assert_eq!([sets, aggregate, one], [BLST_ERROR::BLST_VERIFY_FAIL; 3]);
            }
        }};
    }
    refused!(blst, min_pk);
    refused!(blst, min_sig);
    refused!(quorate_blst, min_pk);
    refused!(quorate_blst, min_sig);
}
