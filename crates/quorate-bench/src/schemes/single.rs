//! `single/sign`, `single/verify`: one signature over a message of each size; `single/verify-from-bytes`: with the decoding of
//! key and signature.

use std::{hint::black_box, slice::from_ref};

use ed25519_dalek::{Signer as _, Verifier as _};
use quorate::{Backend, Bls12381Suite, Claim, MinPk, MinSig, PublicKey, SecretKey, Suite, UncheckedSignature, verify};
use secp256k1::{Keypair, Message, ecdsa, schnorr};
use sha2::{Digest, Sha256};

use super::{
    aws_lc,
    sizes::{MESSAGE, Sizes},
};
use crate::{
    data,
    measure::{Engine, measure},
    row::Row,
};

/// The source measured 14 sizes from 128 bytes to 1 MiB, in 1,000 rounds: ECDSA over secp256k1 with SHA-256 (OpenSSL), EdDSA
/// (ed25519-donna, as Nano has it), Schnorr over secp256k1 (Zilliqa) and BLS (Keep).
pub(super) fn run(sizes: &Sizes, backend: Backend) -> Vec<Row> {
    let mut rows = Vec::new();
    for length in &sizes.messages {
        let signers = Signers::new(*length, backend);
        rows.extend(measure("single/sign", *length, "signature", 1, sizes.rounds, signers.sign()));
        rows.extend(measure("single/verify", *length, "signature", 1, sizes.rounds, signers.verify()));
        rows.extend(signers.verify_batch(*length, sizes.rounds));
        if *length == MESSAGE {
            let engines = signers.verify_from_bytes();
            rows.extend(measure("single/verify-from-bytes", MESSAGE, "signature", 1, sizes.rounds, engines));
        }
    }
    rows
}

/// A key of each scheme, and a message.
struct Signers {
    backend: Backend,
    message: Vec<u8>,
    secp256k1: Keypair,
    dalek: ed25519_dalek::SigningKey,
    min_pk: SecretKey<MinPk>,
    min_sig: SecretKey<MinSig>,
}

impl Signers {
    fn new(length: usize, backend: Backend) -> Self {
        Self {
            backend,
            message: (0..length).map(|i| i as u8).collect(),
            secp256k1: Keypair::from_secret_bytes(SEED).expect("below the order"),
            dalek: ed25519_dalek::SigningKey::from_bytes(&SEED),
            min_pk: SecretKey::key_gen(MinPk::Basic, &SEED, b"").expect("32 bytes are enough"),
            min_sig: SecretKey::key_gen(MinSig::Basic, &SEED, b"").expect("32 bytes are enough"),
        }
    }

    fn digest(&self) -> Message {
        Message::from_digest(Sha256::digest(black_box(&self.message)).into())
    }

    fn ecdsa(&self) -> ecdsa::Signature {
        ecdsa::sign(self.digest(), &self.secp256k1.secret_key())
    }

    /// Nonces from the key and the message alone, as BIP-340 allows: the other engines draw no random numbers either.
    fn bip340(&self) -> schnorr::Signature {
        schnorr::sign_no_aux_rand(black_box(&self.message), &self.secp256k1)
    }

    fn sign(&self) -> Vec<Engine<'_>> {
        let message = &self.message;
        let secret = self.secp256k1.secret_key();
        let [ecdsa, bip340] = [self.ecdsa().serialize_compact().to_vec(), self.bip340().to_byte_array().to_vec()];
        let ed25519 = self.dalek.sign(message).to_bytes();
        let min_pk = self.min_pk.sign(MinPk::Basic, message);
        let min_sig = self.min_sig.sign(MinSig::Basic, message);
        let by_blst = blst::min_pk::SecretKey::from_bytes(&*self.min_pk.to_bytes()).expect("a secret key");
        let by_blst_min_sig = blst::min_sig::SecretKey::from_bytes(&*self.min_sig.to_bytes()).expect("a secret key");
        let quorate = "portable: only constant-time code of blst sees a secret";
        let mut engines = vec![
            Engine::new("ecdsa/libsecp256k1", 1, move || {
                assert_eq!(ecdsa::sign(self.digest(), &secret).serialize_compact()[..], ecdsa);
            })
            .note("SHA-256 by sha2"),
            Engine::new("bip340/libsecp256k1", 1, move || assert_eq!(self.bip340().to_byte_array()[..], bip340)),
            Engine::new("ed25519/dalek", 1, move || {
                assert_eq!(self.dalek.sign(black_box(message)).to_bytes(), ed25519)
            }),
        ];
        engines.extend(aws_lc::sign(&SEED, message, ed25519));
        engines.extend([
            Engine::new("bls-min-pk/quorate", 1, move || {
                assert_eq!(self.min_pk.sign(MinPk::Basic, black_box(message)), min_pk);
            })
            .note(quorate),
            Engine::new("bls-min-pk/blst", 1, move || {
                let signature = by_blst.sign(black_box(message), MinPk::Basic.id().as_bytes(), &[]);
                assert_eq!(signature.compress(), min_pk.to_bytes());
            }),
            Engine::new("bls-min-sig/quorate", 1, move || {
                assert_eq!(self.min_sig.sign(MinSig::Basic, black_box(message)), min_sig);
            })
            .note(quorate),
            Engine::new("bls-min-sig/blst", 1, move || {
                let signature = by_blst_min_sig.sign(black_box(message), MinSig::Basic.id().as_bytes(), &[]);
                assert_eq!(signature.compress(), min_sig.to_bytes());
            }),
        ]);
        engines
    }

    fn verify(&self) -> Vec<Engine<'_>> {
        let message = &self.message;
        let (ecdsa, bip340) = (self.ecdsa(), self.bip340());
        let (key, x_only) = (self.secp256k1.public_key(), self.secp256k1.x_only_public_key().0);
        let ed25519 = self.dalek.sign(message);
        let dalek = self.dalek.verifying_key();
        let min_pk = blst::min_pk::PublicKey::from_bytes(&self.min_pk.public_key().to_bytes()).expect("a key");
        let min_sig = blst::min_sig::PublicKey::from_bytes(&self.min_sig.public_key().to_bytes()).expect("a key");
        let of_min_pk = self.min_pk.sign(MinPk::Basic, message).to_bytes();
        let of_min_pk = blst::min_pk::Signature::from_bytes(&of_min_pk).expect("a signature");
        let of_min_sig = self.min_sig.sign(MinSig::Basic, message).to_bytes();
        let of_min_sig = blst::min_sig::Signature::from_bytes(&of_min_sig).expect("a signature");
        let mut engines = vec![
            Engine::new("ecdsa/libsecp256k1", 1, move || {
                assert!(ecdsa::verify(&ecdsa, self.digest(), &key).is_ok());
            })
            .note(DECODED),
            Engine::new("bip340/libsecp256k1", 1, move || {
                assert!(schnorr::verify(&bip340, black_box(message), &x_only).is_ok());
            })
            .note(DECODED),
            Engine::new("ed25519/dalek", 1, move || assert!(dalek.verify(black_box(message), &ed25519).is_ok()))
                .note(DECODED),
        ];
        engines.extend(aws_lc::verify(dalek.to_bytes(), message, ed25519.to_bytes()));
        engines.extend([
            quorate("bls-min-pk/quorate", &self.min_pk, MinPk::Basic, message, self.backend),
            Engine::new("bls-min-pk/blst", 1, move || {
                let tag = MinPk::Basic.id().as_bytes();
                let result = of_min_pk.verify(true, black_box(message), tag, &[], &min_pk, false);
                assert_eq!(result, blst::BLST_ERROR::BLST_SUCCESS);
            })
            .note(CHECKED),
            quorate("bls-min-sig/quorate", &self.min_sig, MinSig::Basic, message, self.backend),
            Engine::new("bls-min-sig/blst", 1, move || {
                let tag = MinSig::Basic.id().as_bytes();
                let result = of_min_sig.verify(true, black_box(message), tag, &[], &min_sig, false);
                assert_eq!(result, blst::BLST_ERROR::BLST_SUCCESS);
            })
            .note(CHECKED),
        ]);
        engines
    }

    /// Ed25519 signatures by 32 keys over 32 messages, verified together.
    fn verify_batch(&self, length: usize, rounds: usize) -> Vec<Row> {
        let keys: [_; BATCH] = std::array::from_fn(|i| ed25519_dalek::SigningKey::from_bytes(&[i as u8 + 1; 32]));
        let messages: [_; BATCH] = std::array::from_fn(|i| [&[i as u8], &self.message[1..]].concat());
        let signatures: Vec<_> = keys.iter().zip(&messages).map(|(key, message)| key.sign(message)).collect();
        let keys = keys.map(|key| key.verifying_key());
        let messages = messages.each_ref().map(|message| &message[..]);
        let engine = Engine::new("ed25519-batch-32/dalek", 1, || {
            assert!(ed25519_dalek::verify_batch(black_box(&messages), &signatures, &keys).is_ok());
        });
        measure("single/verify", length, "signature", BATCH, rounds, vec![engine.note(DECODED)])
    }

    fn verify_from_bytes(&self) -> Vec<Engine<'_>> {
        let message = &self.message[..];
        let ecdsa = self.ecdsa().serialize_compact();
        let bip340 = self.bip340().to_byte_array();
        let key = self.secp256k1.public_key().serialize();
        let x_only = self.secp256k1.x_only_public_key().0.to_byte_array();
        let ed25519 = self.dalek.sign(message).to_bytes();
        let dalek = self.dalek.verifying_key().to_bytes();
        let min_pk = (self.min_pk.public_key().to_bytes(), self.min_pk.sign(MinPk::Basic, message).to_bytes());
        let min_sig = (self.min_sig.public_key().to_bytes(), self.min_sig.sign(MinSig::Basic, message).to_bytes());
        let mut engines = vec![
            Engine::new("ecdsa/libsecp256k1", 1, move || {
                let key = secp256k1::PublicKey::from_slice(black_box(&key)).expect("a key");
                let signature = ecdsa::Signature::from_compact(&ecdsa).expect("a signature");
                assert!(ecdsa::verify(&signature, self.digest(), &key).is_ok());
            }),
            Engine::new("bip340/libsecp256k1", 1, move || {
                let key = secp256k1::XOnlyPublicKey::from_byte_array(black_box(x_only)).expect("a key");
                let signature = schnorr::Signature::from_byte_array(bip340);
                assert!(schnorr::verify(&signature, message, &key).is_ok());
            }),
            Engine::new("ed25519/dalek", 1, move || {
                let key = ed25519_dalek::VerifyingKey::from_bytes(black_box(&dalek)).expect("a key");
                assert!(key.verify(message, &ed25519_dalek::Signature::from_bytes(&ed25519)).is_ok());
            }),
        ];
        engines.extend(aws_lc::verify_from_bytes(dalek, message, ed25519));
        engines.extend([
            quorate_from_bytes("bls-min-pk/quorate", MinPk::Basic, min_pk, message, self.backend),
            Engine::new("bls-min-pk/blst", 1, move || {
                let key = blst::min_pk::PublicKey::key_validate(black_box(&min_pk.0)).expect("a key");
                let signature = blst::min_pk::Signature::uncompress(&min_pk.1).expect("a signature");
                let result = signature.verify(true, message, MinPk::Basic.id().as_bytes(), &[], &key, false);
                assert_eq!(result, blst::BLST_ERROR::BLST_SUCCESS);
            }),
            quorate_from_bytes("bls-min-sig/quorate", MinSig::Basic, min_sig, message, self.backend),
            Engine::new("bls-min-sig/blst", 1, move || {
                let key = blst::min_sig::PublicKey::key_validate(black_box(&min_sig.0)).expect("a key");
                let signature = blst::min_sig::Signature::uncompress(&min_sig.1).expect("a signature");
                let result = signature.verify(true, message, MinSig::Basic.id().as_bytes(), &[], &key, false);
                assert_eq!(result, blst::BLST_ERROR::BLST_SUCCESS);
            }),
        ]);
        let note = "key and signature decoded and checked inside";
        let noted = |engine: &Engine<'_>| match &engine.note[..] {
            "" => note.to_owned(),
            backend => format!("{backend}; {note}"),
        };
        engines.into_iter().map(|engine| Engine { note: noted(&engine), ..engine }).collect()
    }
}

const SEED: [u8; 32] = [7; 32];
const BATCH: usize = 32;
const DECODED: &str = "key decoded";
const CHECKED: &str = "key and signature decoded; the signature's subgroup check inside";

/// From decoded points, the signature's subgroup check inside.
fn quorate<'a, S: Bls12381Suite>(
    name: &'static str,
    secret: &SecretKey<S>,
    suite: S,
    message: &[u8],
    backend: Backend,
) -> Engine<'a> {
    let signature = UncheckedSignature::from_point(secret.sign(suite, message).point());
    let claim = Claim::single(suite, secret.public_key(), message, signature);
    Engine::new(name, 1, move || {
        assert!(verify(from_ref(black_box(&claim)), &data::options(backend, 1), &mut data::rng()).all_valid());
    })
    .note(format!("{}; {CHECKED}", backend.name()))
}

fn quorate_from_bytes<'a, S: Bls12381Suite>(
    name: &'static str,
    suite: S,
    (key, signature): (impl AsRef<[u8]> + 'a, impl AsRef<[u8]> + 'a),
    message: &'a [u8],
    backend: Backend,
) -> Engine<'a> {
    Engine::new(name, 1, move || {
        let key = PublicKey::from_bytes(black_box(key.as_ref())).expect("a key");
        let signature = UncheckedSignature::from_bytes(signature.as_ref()).expect("a signature");
        let claim = Claim::single(suite, key, message, signature);
        assert!(verify(from_ref(&claim), &data::options(backend, 1), &mut data::rng()).all_valid());
    })
    .note(backend.name())
}
