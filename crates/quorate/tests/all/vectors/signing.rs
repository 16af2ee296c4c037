//! Secret key and message to signature, byte for byte.

use quorate::{AnySuite, Bls12381Suite, SecretKey};

use quorate_lab::answers::{
    Vectors,
    secrets::{Signing, reduced, signings},
};

#[test]
fn secret_and_message_to_signature() {
    let Some(vectors) = Vectors::open("signing", &["01", "03"]) else { return };
    for signing in signings(&vectors) {
        match signing.suite {
            AnySuite::MinPk(suite) => check(suite, &signing),
            AnySuite::MinSig(suite) => check(suite, &signing),
            other => panic!("the vectors have no case of {other}"),
        }
    }
}

/// A secret key outside 1..r is refused. If a source signs with a scalar that is not below r, its signature is that of
/// the scalar's residue.
fn check<S: Bls12381Suite>(suite: S, signing: &Signing) {
    let id = &signing.id;
    let residue = reduced(signing.secret);
    let read = SecretKey::<S>::from_bytes(&signing.secret);
    assert_eq!(read.is_ok(), residue == signing.secret && residue != [0; 32], "{id}: a secret key is in 1..r");

    let secret = SecretKey::<S>::from_bytes(&residue).ok();
    assert_eq!(
        secret.as_ref().map(|s| s.sign(suite, &signing.message).to_bytes().as_ref().to_vec()),
        signing.signature,
        "{id}"
    );
    if let (Some(secret), Some(key)) = (secret, &signing.public_key) {
        assert_eq!(secret.public_key().to_bytes().as_ref(), key, "{id}: public key");
    }
}
