//! How the binary is run, and claims to give it.

use quorate::{Backend, Bls12381Suite, MinPk, MinSig, SecretKey, Signature, aggregate::aggregate};
pub(crate) use quorate_lab::{
    needs::example,
    run::{Folder, Ran, Run, command},
};
use serde_json::{Value, json};

/// `quorate verify` with nothing on standard input.
pub(crate) fn verify(arguments: &[&str]) -> Ran {
    command("quorate").arg("verify").args(arguments).ran()
}

/// `quorate verify` with something on standard input.
pub(crate) fn verify_input(arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
    command("quorate").arg("verify").args(arguments).ran_with(input)
}

/// Verdict lines of a run.
pub(crate) trait Verdicts {
    /// Which of the claims are valid. Entries that make no claim are left out.
    fn valid(&self) -> Vec<bool>;
}

impl Verdicts for Ran {
    fn valid(&self) -> Vec<bool> {
        let objects = self.objects();
        let claims = objects.iter().filter(|line| line["malformed"].is_null());
        claims.map(|line| line["valid"].as_bool().unwrap()).collect()
    }
}

/// The secret key number `i`.
pub(crate) fn secret<S: Bls12381Suite>(suite: S, i: u8) -> SecretKey<S> {
    SecretKey::key_gen(suite, &[i; 32], b"").unwrap()
}

/// A true claim of one statement in `eth2`: key `i`, the message `[i]`.
pub(crate) fn claim(i: u8) -> Value {
    single(MinPk::Eth2, i, &[i], &[i])
}

/// A claim of one statement whose signature is over another message.
pub(crate) fn false_claim(i: u8) -> Value {
    single(MinPk::Eth2, i, &[i], b"something else")
}

/// The same in min-sig.
pub(crate) fn short_claim(i: u8) -> Value {
    single(MinSig::Basic, i, &[i], &[i])
}

/// Key `i` claims `message` with a signature over `signed`.
pub(crate) fn single<S: Bls12381Suite>(suite: S, i: u8, message: &[u8], signed: &[u8]) -> Value {
    json!({
        "id": format!("c{i}"),
        "suite": suite.name(),
        "public_key": const_hex::encode(secret(suite, i).public_key().to_bytes()),
        "message": const_hex::encode(message),
        "signature": const_hex::encode(secret(suite, i).sign(suite, signed).to_bytes()),
    })
}

/// Keys over one message.
pub(crate) fn shared<S: Bls12381Suite>(suite: S, keys: &[u8], message: &[u8]) -> Value {
    let signatures: Vec<_> = keys.iter().map(|i| secret(suite, *i).sign(suite, message)).collect();
    json!({
        "suite": suite.name(),
        "public_keys": public_keys(suite, keys),
        "message": const_hex::encode(message),
        "signature": sum(&signatures),
    })
}

/// Keys over a message each.
pub(crate) fn each<S: Bls12381Suite>(suite: S, pairs: &[(u8, &[u8])]) -> Value {
    let signatures: Vec<_> = pairs.iter().map(|(i, message)| secret(suite, *i).sign(suite, message)).collect();
    json!({
        "suite": suite.name(),
        "public_keys": public_keys(suite, &pairs.iter().map(|(i, _)| *i).collect::<Vec<_>>()),
        "messages": pairs.iter().map(|(_, message)| const_hex::encode(message)).collect::<Vec<_>>(),
        "signature": sum(&signatures),
    })
}

/// The claim with a field replaced.
pub(crate) fn with(mut claim: Value, field: &str, value: impl Into<Value>) -> Value {
    claim[field] = value.into();
    claim
}

/// The claim without a field.
pub(crate) fn without(mut claim: Value, field: &str) -> Value {
    claim.as_object_mut().unwrap().remove(field).unwrap();
    claim
}

/// One claim a line.
pub(crate) fn lines(claims: &[Value]) -> String {
    claims.iter().map(|claim| format!("{claim}\n")).collect()
}

fn public_keys<S: Bls12381Suite>(suite: S, keys: &[u8]) -> Vec<String> {
    keys.iter().map(|i| const_hex::encode(secret(suite, *i).public_key().to_bytes())).collect()
}

fn sum<S: Bls12381Suite>(signatures: &[Signature<S>]) -> String {
    const_hex::encode(aggregate(signatures, Backend::auto()).unwrap().to_bytes())
}
