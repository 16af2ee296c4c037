//! Secret keys, checks and sums. Several keys or signatures stand one after another in one array.

use napi::{Env, bindgen_prelude::Uint8ArraySlice};
use napi_derive::napi;
use quorate_c::{CallFailure, Signer, SuiteVerbs, suites, verbs};

use crate::fault::{Result, called, of_node};

/// A secret key, which is wiped when it is closed, or else when the garbage collector frees it.
#[napi]
pub struct NativeSecretKey(Option<Box<dyn Signer>>);

impl NativeSecretKey {
    fn open(&self) -> std::result::Result<&dyn Signer, CallFailure> {
        self.0.as_deref().ok_or_else(|| closed("secret key"))
    }
}

#[napi]
impl NativeSecretKey {
    /// A new key.
    #[napi(factory)]
    pub fn generate(suite: u32) -> Result<Self> {
        called(|| verbs_of(suite)?.generate()).map(|secret| Self(Some(secret)))
    }

    /// `KeyGen` of key material.
    #[napi(factory)]
    pub fn derive(suite: u32, material: &[u8], info: &[u8]) -> Result<Self> {
        called(|| verbs_of(suite)?.derive(material, info)).map(|secret| Self(Some(secret)))
    }

    /// Reads a big-endian scalar.
    #[napi(factory)]
    pub fn from_bytes(suite: u32, bytes: &[u8]) -> Result<Self> {
        called(|| verbs_of(suite)?.secret(bytes)).map(|secret| Self(Some(secret)))
    }

    /// The big-endian scalar.
    #[napi]
    pub fn to_bytes<'env>(&self, env: &'env Env) -> Result<Uint8ArraySlice<'env>> {
        array(env, &*called(|| Ok(self.open()?.to_bytes()))?)
    }

    /// The public key as claims have it.
    #[napi]
    pub fn public_key<'env>(&self, env: &'env Env) -> Result<Uint8ArraySlice<'env>> {
        bytes(env, || Ok(self.open()?.public_key()))
    }

    /// Signs a message.
    #[napi]
    pub fn sign<'env>(&self, env: &'env Env, message: &[u8]) -> Result<Uint8ArraySlice<'env>> {
        bytes(env, || self.open()?.sign(message))
    }

    /// A proof of possession.
    #[napi]
    pub fn prove<'env>(&self, env: &'env Env) -> Result<Uint8ArraySlice<'env>> {
        bytes(env, || self.open()?.prove())
    }

    /// Wipes the key, whose calls fail from then on. To close it again does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }
}

/// Reads a public key, or throws.
#[napi]
pub fn check_public_key(suite: u32, key: &[u8]) -> Result<()> {
    called(|| verbs_of(suite)?.check_public_key(key))
}

/// Reads a signature, or throws.
#[napi]
pub fn check_signature(suite: u32, signature: &[u8]) -> Result<()> {
    called(|| verbs_of(suite)?.check_signature(signature))
}

/// The sum of signatures.
#[napi]
pub fn aggregate<'env>(env: &'env Env, suite: u32, signatures: &[u8]) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || verbs_of(suite)?.aggregate(signatures))
}

/// The aggregate of a BDN suite: signatures of keys over one message, with coefficients.
#[napi]
pub fn bdn_aggregate<'env>(
    env: &'env Env,
    suite: u32,
    keys: &[u8],
    signatures: &[u8],
) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || verbs_of(suite)?.bdn_aggregate(keys, signatures))
}

/// The sum of public keys.
#[napi]
pub fn aggregate_public_keys<'env>(env: &'env Env, suite: u32, keys: &[u8]) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || verbs_of(suite)?.aggregate_public_keys(keys))
}

/// A sum of signatures without some of its parts.
#[napi]
pub fn subtract<'env>(env: &'env Env, suite: u32, sum: &[u8], parts: &[u8]) -> Result<Uint8ArraySlice<'env>> {
    bytes(env, || verbs_of(suite)?.subtract(sum, parts))
}

/// Why a call with something that its owner has closed fails.
pub(crate) fn closed(what: &str) -> CallFailure {
    CallFailure::misuse(format!("the {what} is closed"))
}

pub(crate) fn verbs_of(suite: u32) -> std::result::Result<Box<dyn SuiteVerbs>, CallFailure> {
    Ok(verbs::of(suites::by_number(suite)?))
}

/// What a call computes, as an array of JavaScript.
pub(crate) fn bytes(
    env: &Env,
    work: impl FnOnce() -> std::result::Result<Vec<u8>, CallFailure>,
) -> Result<Uint8ArraySlice<'_>> {
    array(env, &called(work)?)
}

/// A copy as an array of JavaScript.
pub(crate) fn array<'env>(env: &'env Env, bytes: &[u8]) -> Result<Uint8ArraySlice<'env>> {
    Uint8ArraySlice::copy_from(env, bytes).map_err(of_node)
}
