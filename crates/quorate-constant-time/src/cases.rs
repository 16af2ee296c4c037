//! The operations on secrets, each of which runs once.

use std::{convert::Infallible, hint::black_box, num::NonZeroUsize};

use quorate::{
    Backend, Bls12381Suite, MinPk, MinSig, Options, SecretKey,
    rand_core::{TryCryptoRng, TryRng},
};
use quorate_bn254::{Bn254SecretKey, hash_to_curve::try_and_increment};
use quorate_curve::{
    Domain, G1, Group, Scalar, SecretPolynomial, SecretScalar,
    marking::{classify, declassify},
};
use quorate_keystore::{
    keystore::{Kdf, Keystore, KeystoreOptions, Pbkdf2},
    passphrase::Passphrase,
    secret::Secret,
};
use quorate_threshold::{
    Committee, EvaluationCommitment, Identifiers, deal,
    one_round::{
        Contributions, ShareDecryptionKey, ShareEncryptionKey, ShareReceivers, ShareStatement, publish, verify_all,
    },
    pedersen,
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use zeroize::Zeroizing;

use crate::check::{Check, secret};

#[path = "../../quorate-threshold/src/dkg/envelope.rs"]
#[allow(dead_code, reason = "the file of quorate-threshold as it is, which shows it to no other crate")]
mod envelope;

/// Keys, signatures and scalars on BLS12-381, all of which is blst's arithmetic.
pub(crate) fn bls12381(check: &mut Check, form: &str) {
    suite(check, &format!("min-pk{form}"), MinPk::Eth2);
    suite(check, &format!("min-sig{form}"), MinSig::Basic);
    let mut on = |name: &str, run: &dyn Fn() -> SecretScalar| check.operation(&format!("{name}{form}"), run);
    let scalars = || [1, 2, 3].map(|i| SecretScalar::key_gen(&secret::<32>(), &[i]).expect("32 bytes"));
    on("scalars: a sum of products (Lagrange)", &|| {
        let factors = [3, 5, 7].map(Scalar::from);
        SecretScalar::combination(factors.into_iter().zip(&scalars())).expect("not zero")
    });
    let polynomial = || SecretPolynomial::new(scalars().into());
    on("scalars: the value of a polynomial", &|| polynomial().value(&Scalar::from(9)).expect("not zero"));
    on("scalars: the values of a polynomial in a domain", &|| {
        let domain = Domain::new(Options::default().backend, 8).expect("a power of two");
        polynomial().values(&domain, 8).expect("not zero").swap_remove(3)
    });
    check.operation(&format!("scalars: a point times a secret, and a short number{form}"), || {
        let number = -5_i64;
        classify(&number);
        scalars()[0].times_plus_short(&G1::generator(), number, 24)
    });
}

fn suite<S: Bls12381Suite>(check: &mut Check, name: &str, suite: S) {
    let key = || SecretKey::<S>::from_bytes(&secret()).expect("below the order");
    check.operation(&format!("{name}: read"), key);
    check.operation(&format!("{name}: written"), || *key().to_bytes());
    check.operation(&format!("{name}: KeyGen"), || {
        SecretKey::<S>::key_gen(suite, &secret::<32>(), b"").expect("32 bytes")
    });
    check.operation(&format!("{name}: derived (EIP-2333)"), || {
        SecretKey::<S>::derive_master(&secret::<32>()).expect("32 bytes").derive(&[12381, 3600])
    });
    check.operation(&format!("{name}: the public key"), || key().public_key());
    check.operation(&format!("{name}: a signature"), || key().sign(suite, b"message"));
}

/// Keys and signatures on BN254: the ladder of `quorate-bn254`.
pub(crate) fn bn254(check: &mut Check) {
    let key = || Bn254SecretKey::from_bytes(&secret::<32>()).expect("below the order");
    let message = try_and_increment(&[1; 32]).point;
    check.operation("BN254: read", key);
    check.operation("BN254: written", || *key().to_bytes());
    check.operation("BN254: from entropy", || Bn254SecretKey::from_entropy(&secret()));
    check.operation("BN254: KeyGen", || Bn254SecretKey::key_gen(&secret::<32>(), b""));
    check.operation("BN254: the public key in G1", || key().public_key_g1());
    check.operation("BN254: the public key in G2", || key().public_key_g2());
    check.operation("BN254: a signature", || key().sign(&message));
}

/// Shares of keys.
pub(crate) fn threshold(check: &mut Check, form: &str) {
    let options = Options { threads: NonZeroUsize::MIN, ..Options::default() };
    let key = || SecretKey::<MinPk>::from_bytes(&secret()).expect("below the order");
    for (name, identifiers) in [("numbers", Identifiers::Integers), ("roots of unity", Identifiers::RootsOfUnity)] {
        let committee = Committee::new(2, 3, identifiers, options.backend).expect("2 of 3");
        check.operation(&format!("shares, {name}{form}"), || {
            let (mut shares, _) =
                deal(&committee, MinPk::Eth2, &key(), &options, &mut SecretRng::new()).expect("not zero");
            shares.swap_remove(1)
        });
        check.operation(&format!("shares, all verification keys, {name}{form}"), || {
            let dealt = EvaluationCommitment::deal(&committee, MinPk::Eth2, &key(), &options, &mut SecretRng::new());
            dealt.expect("not zero").0.swap_remove(1)
        });
    }
    let scalar = |i: u8| SecretScalar::key_gen(&secret::<32>(), &[i]).expect("32 bytes");
    check.operation(&format!("a Pedersen commitment{form}"), || pedersen::commit::<MinPk>(&scalar(1), &scalar(2)));
}

/// A ceremony in one round. It needs no second form of blst's arithmetic, whose operations were checked before, and takes most of the time.
pub(crate) fn one_round(check: &mut Check) {
    let options = &Options { threads: NonZeroUsize::MIN, backend: Backend::Portable, ..Options::default() };
    let receiver = |i: u8| ShareDecryptionKey::derive(&[i; 32]);
    check.operation("one round: a decryption key", || ShareDecryptionKey::derive(&secret()));
    check.operation("one round: the proof of its public key", || {
        let key = ShareDecryptionKey::derive(&secret());
        black_box(key.encryption_key());
        key
    });
    let members: Vec<(ShareEncryptionKey, u32)> = [1, 2].map(|i| (receiver(i).encryption_key(), 1)).into();
    let committee = Committee::new(2, 2, Identifiers::Integers, options.backend).expect("2 of 2");
    let receivers = ShareReceivers::new(committee, &members).expect("two keys");
    let statement = ShareStatement { ceremony: [7; 32], dealer: 1 };
    let mut published = None;
    check.operation("one round: a transcript", || {
        let coefficients = [1, 2].map(|i| SecretScalar::key_gen(&secret::<32>(), &[i]).expect("32 bytes"));
        let polynomial = SecretPolynomial::new(coefficients.into());
        let transcript = publish(MinPk::Eth2, &receivers, &statement, &polynomial, options, &mut SecretRng::new());
        published = Some(transcript.expect("not zero"));
        polynomial.coefficients()[0].clone()
    });
    let transcript = published.expect("it was published");
    let verified = verify_all(
        MinPk::Eth2,
        &receivers,
        [7; 32],
        &[(1, &transcript)],
        options,
        &mut ChaCha20Rng::from_seed([4; 32]),
    );
    let verified: Vec<_> = verified.into_iter().map(|verified| verified.expect("it is true")).collect();
    let contributions = Contributions::to_new_key(&verified, options).expect("one transcript");
    check.operation("one round: a share, decrypted", || {
        let material = [1; 32];
        classify(&material);
        let key = ShareDecryptionKey::derive(&material);
        contributions.decrypt(&key, &receivers, 0, options, &mut SecretRng::new()).expect("its share").swap_remove(0)
    });
}

/// Key files.
pub(crate) fn files(check: &mut Check) {
    let secret_bytes = || Secret::new(Zeroizing::new(secret()));
    check.operation("hexadecimal: written", || first::<64>(secret_bytes().to_hex_line().as_bytes()));
    check.operation("hexadecimal: read", || {
        let digits = *b"0708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223242526";
        classify(&digits);
        Secret::from_hex(&digits).expect("64 digits")
    });
    let public_key = |secret: &Secret| {
        let key = SecretKey::<MinPk>::from_bytes(secret.expose()).ok()?;
        Some(declassify(key.public_key()).to_bytes().to_vec())
    };
    let stated = public_key(&secret_bytes()).expect("a key");
    let cheap = || KeystoreOptions { kdf: Kdf::Pbkdf2(Pbkdf2::new(1).expect("cheap")), ..KeystoreOptions::default() };
    // The passphrase is not marked: its normal form is looked up in the tables of Unicode.
    let passphrase = Passphrase::from("a passphrase");
    let written = || Keystore::encrypt(&secret_bytes(), &stated, &passphrase, cheap()).expect("encrypts");
    check.operation("a keystore, written", written);
    let keystore = written();
    check.operation("a keystore, opened", || keystore.decrypt(&passphrase, public_key).expect("opens").secret);
}

/// HPKE, by which the deals of a ceremony are encrypted.
pub(crate) fn envelopes(check: &mut Check) {
    let key = |material: &[u8; 32]| envelope::DecryptionKey::derive(material);
    let receiver = key(&declassify(secret())).encryption_key();
    check.operation("HPKE: a key", || key(&secret()));
    check.operation("HPKE: the public key", || first::<32>(&key(&secret()).encryption_key().to_bytes()));
    check.operation("HPKE: sealed", || first::<80>(&receiver.seal(b"info", &secret::<32>(), &secret())));
    let envelope = receiver.seal(b"info", &declassify(secret::<32>()), &declassify(secret()));
    check.operation("HPKE: opened", || {
        first::<32>(&key(&secret()).open(b"info", &envelope).expect("it is for this key"))
    });
}

/// The first bytes of a list, so that their marks can be looked at.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    *bytes.first_chunk().expect("as many bytes")
}

/// A generator whose numbers nobody may know.
struct SecretRng(ChaCha20Rng);

impl SecretRng {
    fn new() -> Self {
        Self(ChaCha20Rng::from_seed([5; 32]))
    }
}

impl TryRng for SecretRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let number = self.0.try_next_u32()?;
        classify(&number);
        Ok(number)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let number = self.0.try_next_u64()?;
        classify(&number);
        Ok(number)
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(out)?;
        classify(out);
        Ok(())
    }
}

impl TryCryptoRng for SecretRng {}
