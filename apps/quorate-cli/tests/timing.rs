//! Whether the time of an operation tells something about the secret, in the style of dudect (O. Reparaz, J. Balasch and
//! I. Verbauwhede, 2017).
//!
//! Each measurement takes a secret of one of two classes, by chance: always the same secret, or a fresh random one. Welch's
//! t-test compares the mean times of the classes. If |t| is above 4.5 three times in a row, the operation leaks. Slow
//! measurements come from interrupts, so the test is repeated without the slowest ones.
//!
//! A leak that is not found may still exist: in another class of secrets, on another CPU, or in something other than time.
//!
//! The measurements need an optimised build and a machine that is not too busy, so the tests are run by `make timing` alone.
#![allow(clippy::unwrap_used, reason = "what a test cannot measure fails it")]

use std::{hint::black_box, time::Instant};

use quorate::{MinPk, MinSig, SecretKey};
use quorate_bn254::{Bn254SecretKey, hash_to_curve::try_and_increment};
use quorate_cli::secrets::{
    keystore::{Kdf, Keystore, KeystoreOptions, Pbkdf2},
    passphrase::Passphrase,
    secret::Secret,
};
use zeroize::Zeroizing;

/// Above this |t| the means of the classes differ, but for one run in 100,000.
const LIMIT: f64 = 4.5;

/// The shares of the measurements that are compared, the fastest ones first.
const SHARES: [f64; 6] = [1.0, 0.99, 0.95, 0.9, 0.75, 0.5];

/// Inputs that are prepared together, before any of them is measured.
const PREPARED: usize = 500;

#[test]
#[ignore = "takes a minute, optimised: run `make timing`"]
fn secrets_do_not_show_in_the_time() {
    // The control. If this leak is not found, the other answers mean nothing.
    let reference = FIXED;
    let first_difference = |secret: &[u8; 32]| secret.iter().zip(&reference).position(|(a, b)| black_box(a) != b);
    assert!(leaks("control: a comparison that stops early", 50_000, 16, |secret| secret, first_difference));

    let found = [
        leaks("SecretKey::<MinPk>::from_bytes", 50_000, 16, |secret| secret, SecretKey::<MinPk>::from_bytes),
        leaks("SecretKey::<MinPk>::sign", 10_000, 1, key::<MinPk>, |key| key.sign(MinPk::Eth2, b"message")),
        leaks("SecretKey::<MinPk>::public_key", 10_000, 1, key::<MinPk>, SecretKey::public_key),
        leaks("SecretKey::<MinSig>::sign", 10_000, 1, key::<MinSig>, |key| key.sign(MinSig::Basic, b"message")),
        leaks("SecretKey::<MinSig>::public_key", 10_000, 1, key::<MinSig>, SecretKey::public_key),
        leaks("Bn254SecretKey::from_bytes", 50_000, 16, below_r, |secret| Bn254SecretKey::from_bytes(secret)),
        leaks("Bn254SecretKey::sign", 10_000, 1, bn254, |key| key.sign(&try_and_increment(&[1; 32]).point)),
        leaks("Bn254SecretKey::public_key_g2", 5_000, 1, bn254, Bn254SecretKey::public_key_g2),
        leaks("hexadecimal, read", 50_000, 16, hex, |text| Secret::from_hex(text).unwrap()),
        leaks("hexadecimal, written", 50_000, 16, |secret| Secret::new(secret.into()), Secret::to_hex_line),
        leaks("a keystore, opened", 5_000, 1, keystore, |keystore| {
            keystore.decrypt(&passphrase(), public_key).unwrap()
        }),
    ];
    assert!(!found.contains(&true), "an operation leaks: see the lines above");
}

/// The secret of the first class. Almost all of its bits are zero, so what skips zeros is fast.
const FIXED: [u8; 32] = {
    let mut secret = [0; 32];
    secret[31] = 1;
    secret
};

fn key<S: quorate::Bls12381Suite>(secret: [u8; 32]) -> SecretKey<S> {
    SecretKey::from_bytes(&secret).unwrap()
}

/// The order of BN254 has a bit less.
fn below_r(secret: [u8; 32]) -> [u8; 32] {
    let mut secret = secret;
    secret[0] &= 0x1f;
    secret
}

fn bn254(secret: [u8; 32]) -> Bn254SecretKey {
    Bn254SecretKey::from_bytes(&below_r(secret)).unwrap()
}

fn hex(secret: [u8; 32]) -> Vec<u8> {
    Secret::new(secret.into()).to_hex_line().trim_end().into()
}

fn public_key(secret: &Secret) -> Option<Vec<u8>> {
    Some(SecretKey::<MinPk>::from_bytes(secret.expose()).ok()?.public_key().to_bytes().to_vec())
}

fn passphrase() -> Passphrase {
    Passphrase::new(Zeroizing::new("a passphrase".to_owned()))
}

/// The derivation of the key is as cheap as the format allows, because it does not depend on the secret.
fn keystore(secret: [u8; 32]) -> Keystore {
    let secret = Secret::new(secret.into());
    let options = KeystoreOptions { kdf: Kdf::Pbkdf2(Pbkdf2::new(1).unwrap()), ..KeystoreOptions::default() };
    Keystore::encrypt(&secret, &public_key(&secret).unwrap(), &passphrase(), options).unwrap()
}

/// Whether the classes differ in three series of `n` measurements in a row. A measurement is of `times` runs of the
/// operation.
fn leaks<I, O>(name: &str, n: usize, times: usize, prepare: impl Fn([u8; 32]) -> I, run: impl Fn(&I) -> O) -> bool {
    (0..3).all(|_| {
        let t = series(n, times, &prepare, &run);
        println!("{name:40} |t| = {t:8.2}");
        t > LIMIT
    })
}

/// The largest |t| of a series.
fn series<I, O>(n: usize, times: usize, prepare: &impl Fn([u8; 32]) -> I, run: &impl Fn(&I) -> O) -> f64 {
    let mut measured = Vec::with_capacity(n);
    while measured.len() < n {
        let inputs: Vec<_> = (0..PREPARED).map(|_| random()).collect();
        let inputs: Vec<_> = inputs.iter().map(|(fixed, secret)| (*fixed, prepare(*secret))).collect();
        let measure = |(fixed, input): &(bool, I)| {
            let begun = Instant::now();
            (0..times).for_each(|_| {
                black_box(run(black_box(input)));
            });
            (begun.elapsed().as_nanos() as f64, *fixed)
        };
        // The first ones fill the caches.
        measured.extend(inputs.iter().map(measure).skip(PREPARED / 50));
    }
    measured.sort_by(|a, b| a.0.total_cmp(&b.0));
    let share = |share: f64| t(&measured[..(share * measured.len() as f64) as usize]);
    SHARES.into_iter().map(share).fold(0.0, f64::max)
}

/// |t| of Welch's test.
fn t(measured: &[(f64, bool)]) -> f64 {
    let of = |class: bool| {
        let times = || measured.iter().filter(move |(_, fixed)| *fixed == class).map(|(time, _)| *time);
        let n = times().count() as f64;
        let mean = times().sum::<f64>() / n;
        let variance = times().map(|time| (time - mean).powi(2)).sum::<f64>() / (n - 1.0);
        (mean, variance / n)
    };
    let ((a, a_error), (b, b_error)) = (of(true), of(false));
    (a - b).abs() / (a_error + b_error).sqrt()
}

/// A class, by chance, and a secret of it. A random one is below the order of the group.
fn random() -> (bool, [u8; 32]) {
    let mut bytes = [0; 33];
    getrandom::fill(&mut bytes).unwrap();
    let [class, secret @ ..] = bytes;
    let mut secret = secret;
    secret[0] &= 0x3f;
    if class & 1 == 0 { (true, FIXED) } else { (false, secret) }
}
