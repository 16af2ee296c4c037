//! Whether the time of an operation tells something about the secret: see [`quorate_lab::timing`]. Run by `make timing`. The signer's
//! socket is measured in the tests of `quorate-signer`.
#![allow(clippy::unwrap_used, reason = "what a test cannot measure fails it")]

#[path = "../../quorate-threshold/src/dkg/envelope.rs"]
#[allow(dead_code, reason = "the file of quorate-threshold as it is, which shows it to no other crate")]
mod envelope;

use quorate::{MinPk, MinSig, Options, SecretKey};
use quorate_bn254::{Bn254SecretKey, hash_to_curve::try_and_increment};
use quorate_curve::{G1, Group, Scalar, SecretPolynomial, SecretScalar};
use quorate_keystore::{
    keystore::{Kdf, Keystore, KeystoreOptions, Pbkdf2},
    passphrase::Passphrase,
    secret::Secret,
};
use quorate_lab::timing::{finds_a_leak, leaks};
use quorate_threshold::{
    Committee, Identifiers,
    one_round::{
        Contributions, ShareDecryptionKey, ShareReceivers, ShareStatement, ShareTranscript, publish, verify_all,
    },
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use zeroize::Zeroizing;

#[test]
#[ignore = "takes minutes, optimised: run `make timing`"]
fn secrets_do_not_show_in_the_time() {
    assert!(finds_a_leak());
    let point = G1::generator();
    let at = Scalar::from(9);
    let found = [
        leaks("SecretKey::<MinPk>::from_bytes", 50_000, 16, |secret| secret, SecretKey::<MinPk>::from_bytes),
        leaks("SecretKey::<MinPk>::sign", 10_000, 1, key::<MinPk>, |key| key.sign(MinPk::Eth2, b"message")),
        leaks("SecretKey::<MinPk>::public_key", 10_000, 1, key::<MinPk>, SecretKey::public_key),
        leaks("SecretKey::<MinSig>::sign", 10_000, 1, key::<MinSig>, |key| key.sign(MinSig::Basic, b"message")),
        leaks("SecretKey::<MinSig>::public_key", 10_000, 1, key::<MinSig>, SecretKey::public_key),
        leaks("Bn254SecretKey::from_bytes", 50_000, 16, below_r, |secret| Bn254SecretKey::from_bytes(secret)),
        leaks("the ladder in G1: Bn254SecretKey::sign", 10_000, 1, bn254, |key| {
            key.sign(&try_and_increment(&[1; 32]).point)
        }),
        leaks("the ladder in G1: public_key_g1", 10_000, 1, bn254, Bn254SecretKey::public_key_g1),
        leaks("the ladder in G2: public_key_g2", 5_000, 1, bn254, Bn254SecretKey::public_key_g2),
        leaks("SecretScalar::combination", 50_000, 16, scalar, |secret| SecretScalar::combination([(at, secret)])),
        leaks("SecretScalar::times_plus_short", 10_000, 1, scalar, |secret| secret.times_plus_short(&point, -5, 24)),
        leaks("SecretPolynomial::value", 50_000, 16, polynomial, |secret| secret.value(&at)),
        leaks("hexadecimal, read", 50_000, 16, hex, |text| Secret::from_hex(text).unwrap()),
        leaks("hexadecimal, written", 50_000, 16, |secret| Secret::new(secret.into()), Secret::to_hex_line),
        leaks("a keystore, opened", 5_000, 1, keystore, |keystore| {
            keystore.decrypt(&passphrase(), public_key).unwrap()
        }),
        leaks("HPKE: a deal, opened", 10_000, 1, sealed, |(key, envelope)| key.open(b"info", envelope).unwrap()),
        leaks(
            "one round: a key and its proof",
            5_000,
            1,
            |secret| ShareDecryptionKey::derive(&secret),
            |key| key.encryption_key(),
        ),
        leaks("one round: a share, decrypted", 100, 1, |secret| Received::new(&secret), Received::decrypt),
    ];
    assert!(!found.contains(&true), "an operation leaks: see the lines above");
}

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

fn scalar(secret: [u8; 32]) -> SecretScalar {
    SecretScalar::from_bytes(&secret).unwrap()
}

fn polynomial(secret: [u8; 32]) -> SecretPolynomial {
    SecretPolynomial::new(vec![scalar(secret); 3])
}

/// A receiver's key, and what was encrypted to it.
fn sealed(secret: [u8; 32]) -> (envelope::DecryptionKey, Vec<u8>) {
    let key = envelope::DecryptionKey::derive(&secret);
    let envelope = key.encryption_key().seal(b"info", &[7; 64], &[3; 32]);
    (key, envelope)
}

/// A transcript for one receiver.
struct Received {
    key: ShareDecryptionKey,
    receivers: ShareReceivers,
    transcripts: Vec<ShareTranscript<MinPk>>,
}

impl Received {
    fn new(secret: &[u8; 32]) -> Self {
        let (options, mut rng) = (Options::default(), ChaCha20Rng::from_seed(*secret));
        let key = ShareDecryptionKey::derive(secret);
        let committee = Committee::new(1, 1, Identifiers::Integers, options.backend).unwrap();
        let receivers = ShareReceivers::new(committee, &[(key.encryption_key(), 1)]).unwrap();
        let (ceremony, dealer) = ([7; 32], 1);
        let dealt = SecretPolynomial::new(vec![SecretScalar::key_gen(&[9; 32], b"").unwrap()]);
        let statement = ShareStatement { ceremony, dealer };
        let published = publish(MinPk::Eth2, &receivers, &statement, &dealt, &options, &mut rng).unwrap();
        let verified = verify_all(MinPk::Eth2, &receivers, ceremony, &[(dealer, &published)], &options, &mut rng);
        let transcripts = verified.into_iter().map(Result::unwrap).collect();
        Self { key, receivers, transcripts }
    }

    fn decrypt(&self) -> bool {
        let (options, mut rng) = (Options::default(), ChaCha20Rng::from_seed([1; 32]));
        let contributions = Contributions::to_new_key(&self.transcripts, &options).unwrap();
        contributions.decrypt(&self.key, &self.receivers, 0, &options, &mut rng).is_ok()
    }
}
