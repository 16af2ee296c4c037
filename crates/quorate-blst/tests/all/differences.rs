//! What differs from blst. `docs/drop-in.md` names each of these.

use blst::{BLST_ERROR, blst_p1, blst_p1_affine, blst_scalar};
use quorate_blst::{
    MultiPoint,
    min_pk::{AggregatePublicKey, PublicKey, SecretKey, Signature},
};

use crate::hostile::OUTSIDE_G1;

const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

fn secret(i: u8) -> SecretKey {
    SecretKey::key_gen(&[i + 1; 32], &[]).unwrap()
}

/// Two false sets whose errors cancel, and what blst and the drop-in say about them with these scalars.
fn cancelling_pair(scalars: &[blst_scalar; 2], bits: usize) -> [BLST_ERROR; 2] {
    let messages: [&[u8]; 2] = [b"first", b"second"];
    // Each signature carries the other's error.
    let signatures = [secret(0).sign(b"second", TAG, &[]), secret(1).sign(b"first", TAG, &[])];
    let keys = [secret(1).sk_to_pk(), secret(0).sk_to_pk()];
    let [a, b] = signatures.map(|signature| blst::min_pk::Signature::from_bytes(&signature.to_bytes()).unwrap());
    let [c, d] = keys.map(|key| blst::min_pk::PublicKey::from_bytes(&key.to_bytes()).unwrap());
    let keys: [&PublicKey; 2] = [&keys[0], &keys[1]];
    let signatures: [&Signature; 2] = [&signatures[0], &signatures[1]];
    [
        blst::min_pk::Signature::verify_multiple_aggregate_signatures(
            &messages,
            TAG,
            &[&c, &d],
            false,
            &[&a, &b],
            true,
            scalars,
            bits,
        ),
        Signature::verify_multiple_aggregate_signatures(&messages, TAG, &keys, false, &signatures, true, scalars, bits),
    ]
}

fn scalar(low: u64) -> blst_scalar {
    let mut scalar = blst_scalar::default();
    scalar.b[..8].copy_from_slice(&low.to_le_bytes());
    scalar
}

/// Scalars that an attacker knows let blst accept false sets. The drop-in does not use them.
#[test]
fn predictable_scalars_forge_nothing() {
    use BLST_ERROR::{BLST_SUCCESS, BLST_VERIFY_FAIL};
    let equal = [scalar(7), scalar(7)];
    assert_eq!(cancelling_pair(&equal, 64), [BLST_SUCCESS, BLST_VERIFY_FAIL]);
    // A set whose scalar is zero is not verified by blst at all.
    let zero = [scalar(0), scalar(0)];
    assert_eq!(cancelling_pair(&zero, 64), [BLST_SUCCESS, BLST_VERIFY_FAIL]);
    // Bits above `rand_bits` are not looked at, so this is zero, too.
    assert_eq!(cancelling_pair(&[scalar(256), scalar(256)], 8), [BLST_SUCCESS, BLST_VERIFY_FAIL]);
    // A caller who asks for no scalars asks for the product of all sets, and gets blst's answer.
    assert_eq!(cancelling_pair(&equal, 0), [BLST_SUCCESS; 2]);
    assert_eq!(cancelling_pair(&[scalar(7), scalar(8)], 64), [BLST_VERIFY_FAIL; 2]);
}

#[test]
#[should_panic(expected = "scalar length mismatch")]
fn more_bits_than_a_scalar_has_panic_like_in_blst() {
    cancelling_pair(&[scalar(1), scalar(2)], 257);
}

#[test]
fn secrets_are_not_printed() {
    assert_eq!(format!("{:?}", secret(0)), "SecretKey(redacted)");
    assert!(format!("{:?}", blst::min_pk::SecretKey::key_gen(&[1; 32], &[]).unwrap()).contains("blst_scalar"));
}

/// blst adds many points in a way that is wrong for points of small order. The engine, which adds 96 or more, is right. No
/// decoder of blst accepts (0, 2), so only raw coordinates make it.
#[test]
fn sums_of_many_points_of_small_order_are_right() {
    let of_order_three = *OUTSIDE_G1.last().unwrap();
    let points = [vec![of_order_three], vec![blst_p1_affine::default(); 111]].concat();
    let expected: blst_p1 = AggregatePublicKey::from_public_key(&of_order_three.into()).into();
    assert_eq!(MultiPoint::add(&points[..]), expected);
    assert_ne!(blst::MultiPoint::add(&points[..]), expected);
}
