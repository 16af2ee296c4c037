//! Ed25519 by AWS-LC. Its C takes longer to compile than everything else that the tests of this crate need, so the feature `aws-lc` has
//! it: without the feature, there are no engines of AWS-LC.

#[cfg(not(feature = "aws-lc"))]
pub(super) use self::absent::{is_valid, sign, verify, verify_from_bytes};
#[cfg(feature = "aws-lc")]
pub(super) use self::linked::{is_valid, sign, verify, verify_from_bytes};

#[cfg(feature = "aws-lc")]
mod linked {
    use std::hint::black_box;

    use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, ParsedPublicKey, UnparsedPublicKey};

    use crate::measure::Engine;

    const NAME: &str = "ed25519/aws-lc";

    /// The engine that signs, and has to make this signature.
    pub(in crate::schemes) fn sign<'a>(seed: &[u8; 32], message: &'a [u8], expected: [u8; 64]) -> Option<Engine<'a>> {
        let key = Ed25519KeyPair::from_seed_unchecked(seed).expect("32 bytes");
        Some(Engine::new(NAME, 1, move || assert_eq!(key.sign(black_box(message)).as_ref(), expected)))
    }

    /// The engine that verifies a true signature, and has decoded the key.
    pub(in crate::schemes) fn verify(key: [u8; 32], message: &[u8], signature: [u8; 64]) -> Option<Engine<'_>> {
        let key = ParsedPublicKey::new(&ED25519, key).expect("a key");
        let engine = Engine::new(NAME, 1, move || assert!(key.verify_sig(black_box(message), &signature).is_ok()));
        Some(engine.note("keys parsed, but AWS-LC decompresses the point in each call"))
    }

    /// The same engine, which decodes the key each time.
    pub(in crate::schemes) fn verify_from_bytes(
        key: [u8; 32],
        message: &[u8],
        signature: [u8; 64],
    ) -> Option<Engine<'_>> {
        Some(Engine::new(NAME, 1, move || {
            let key = UnparsedPublicKey::new(&ED25519, black_box(key));
            assert!(key.verify(message, &signature).is_ok());
        }))
    }

    /// Whether a signature is valid, by AWS-LC.
    pub(in crate::schemes) fn is_valid(key: &[u8; 32], message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, key).verify(message, signature).is_ok()
    }
}

#[cfg(not(feature = "aws-lc"))]
mod absent {
    use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};

    use crate::measure::Engine;

    pub(in crate::schemes) fn sign<'a>(_: &[u8; 32], _: &'a [u8], _: [u8; 64]) -> Option<Engine<'a>> {
        None
    }

    pub(in crate::schemes) fn verify(_: [u8; 32], _: &[u8], _: [u8; 64]) -> Option<Engine<'_>> {
        None
    }

    pub(in crate::schemes) fn verify_from_bytes(_: [u8; 32], _: &[u8], _: [u8; 64]) -> Option<Engine<'_>> {
        None
    }

    /// Whether a signature is valid alone, by dalek.
    pub(in crate::schemes) fn is_valid(key: &[u8; 32], message: &[u8], signature: &[u8]) -> bool {
        let decoded = VerifyingKey::from_bytes(key).ok().zip(Signature::from_slice(signature).ok());
        decoded.is_some_and(|(key, signature)| key.verify(message, &signature).is_ok())
    }
}
