//! Decoded points for the entry `quorate/blst`. All of them are in the subgroup: `fromBytes` checks that.

use napi::{
    Env,
    bindgen_prelude::{ClassInstance, Object, Uint8ArraySlice},
};
use napi_derive::napi;
use quorate_blst::{
    BLST_ERROR, blst_scalar,
    min_pk::{AggregatePublicKey, AggregateSignature, PublicKey, SecretKey, Signature},
};
use quorate_c::{CallFailure, Code};
use zeroize::Zeroizing;

use crate::{
    fault::{Result, called},
    job::job,
    keys::{array, closed},
};

/// The tag of Ethereum's signatures.
const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

/// A secret key, which is wiped when it is closed, or else when the garbage collector frees it.
#[napi]
pub struct BlstSecretKey(Option<SecretKey>);

impl BlstSecretKey {
    fn open(&self) -> Result<&SecretKey> {
        called(|| self.0.as_ref().ok_or_else(|| closed("secret key")))
    }
}

#[napi]
impl BlstSecretKey {
    /// `KeyGen` of key material.
    #[napi(factory)]
    pub fn from_keygen(material: &[u8], info: &[u8]) -> Result<Self> {
        checked(|| SecretKey::key_gen(material, info)).map(|secret| Self(Some(secret)))
    }

    /// `derive_master_SK` of EIP-2333.
    #[napi(factory)]
    pub fn derive_master(material: &[u8]) -> Result<Self> {
        checked(|| SecretKey::derive_master_eip2333(material)).map(|secret| Self(Some(secret)))
    }

    /// `derive_child_SK` of EIP-2333.
    #[napi]
    pub fn derive_child(&self, index: u32) -> Result<BlstSecretKey> {
        Ok(Self(Some(self.open()?.derive_child_eip2333(index))))
    }

    /// Reads a big-endian scalar.
    #[napi(factory)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        checked(|| SecretKey::from_bytes(bytes)).map(|secret| Self(Some(secret)))
    }

    /// The big-endian scalar.
    #[napi]
    pub fn to_bytes<'env>(&self, env: &'env Env) -> Result<Uint8ArraySlice<'env>> {
        array(env, &*Zeroizing::new(self.open()?.to_bytes()))
    }

    /// The public key.
    #[napi]
    pub fn to_public_key(&self) -> Result<BlstPublicKey> {
        Ok(BlstPublicKey(self.open()?.sk_to_pk()))
    }

    /// Signs a message.
    #[napi]
    pub fn sign(&self, message: &[u8]) -> Result<BlstSignature> {
        Ok(BlstSignature(self.open()?.sign(message, TAG, &[])))
    }

    /// Wipes the key, whose calls fail from then on. To close it again does nothing.
    #[napi]
    pub fn close(&mut self) {
        self.0 = None;
    }
}

/// A public key, or a sum of them, which can be the identity.
#[napi]
pub struct BlstPublicKey(PublicKey);

#[napi]
impl BlstPublicKey {
    /// Reads a key of 48 or 96 bytes: in the subgroup, not the identity.
    #[napi(factory)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        checked(|| PublicKey::key_validate(bytes)).map(Self)
    }

    /// 48 bytes, or 96.
    #[napi]
    pub fn to_bytes<'env>(&self, env: &'env Env, compressed: bool) -> Result<Uint8ArraySlice<'env>> {
        if compressed { array(env, &self.0.compress()) } else { array(env, &self.0.serialize()) }
    }

    /// Throws for the identity.
    #[napi]
    pub fn validate(&self) -> Result<()> {
        checked(|| self.0.validate())
    }
}

/// A signature, or a sum of them.
#[napi]
pub struct BlstSignature(Signature);

#[napi]
impl BlstSignature {
    /// Reads a signature of 96 or 192 bytes: in the subgroup, and if `not_identity`, not the identity.
    #[napi(factory)]
    pub fn from_bytes(bytes: &[u8], not_identity: bool) -> Result<Self> {
        checked(|| Signature::sig_validate(bytes, not_identity)).map(Self)
    }

    /// 96 bytes, or 192.
    #[napi]
    pub fn to_bytes<'env>(&self, env: &'env Env, compressed: bool) -> Result<Uint8ArraySlice<'env>> {
        if compressed { array(env, &self.0.compress()) } else { array(env, &self.0.serialize()) }
    }

    /// Throws for the identity, if `not_identity`.
    #[napi]
    pub fn validate(&self, not_identity: bool) -> Result<()> {
        checked(|| self.0.validate(not_identity))
    }
}

/// The sum of keys.
#[napi]
pub fn blst_aggregate_public_keys(
    keys: Vec<ClassInstance<'_, BlstPublicKey>>,
    validate: bool,
) -> Result<BlstPublicKey> {
    let keys: Vec<_> = keys.iter().map(|key| &key.0).collect();
    checked(|| AggregatePublicKey::aggregate(&keys, validate)).map(|sum| BlstPublicKey(sum.to_public_key()))
}

/// The sum of signatures.
#[napi]
pub fn blst_aggregate_signatures(signatures: Vec<ClassInstance<'_, BlstSignature>>) -> Result<BlstSignature> {
    let signatures: Vec<_> = signatures.iter().map(|signature| &signature.0).collect();
    checked(|| AggregateSignature::aggregate(&signatures, false)).map(|sum| BlstSignature(sum.to_signature()))
}

/// The sum of encoded keys, each of which is validated.
#[napi]
pub fn blst_aggregate_serialized_public_keys(keys: Vec<Uint8ArraySlice<'_>>) -> Result<BlstPublicKey> {
    let keys: Vec<&[u8]> = keys.iter().map(|key| &**key).collect();
    checked(|| AggregatePublicKey::aggregate_serialized(&keys, true)).map(|sum| BlstPublicKey(sum.to_public_key()))
}

/// The sum of encoded signatures, each of which is validated, but may be the identity.
#[napi]
pub fn blst_aggregate_serialized_signatures(signatures: Vec<Uint8ArraySlice<'_>>) -> Result<BlstSignature> {
    let signatures: Vec<&[u8]> = signatures.iter().map(|signature| &**signature).collect();
    checked(|| AggregateSignature::aggregate_serialized(&signatures, true)).map(|sum| BlstSignature(sum.to_signature()))
}

/// A key and a signature that [`blst_aggregate_with_randomness`] computed.
#[napi]
pub struct BlstSums {
    key: PublicKey,
    signature: Signature,
}

#[napi]
impl BlstSums {
    /// The sum of the keys' multiples.
    #[napi]
    pub fn public_key(&self) -> BlstPublicKey {
        BlstPublicKey(self.key)
    }

    /// The sum of the signatures' multiples.
    #[napi]
    pub fn signature(&self) -> BlstSignature {
        BlstSignature(self.signature)
    }
}

/// Σ nᵢ·keyᵢ and Σ nᵢ·signatureᵢ for random nᵢ of 64 bits. The signatures are bytes, and each is validated.
#[napi]
pub fn blst_aggregate_with_randomness(
    keys: Vec<ClassInstance<'_, BlstPublicKey>>,
    signatures: Vec<Uint8ArraySlice<'_>>,
) -> Result<BlstSums> {
    let (keys, signatures) = copied(&keys, &signatures);
    called(|| sums(&keys, &signatures))
}

/// The same on another thread.
#[napi(ts_return_type = "Promise<BlstSums>")]
pub fn blst_aggregate_with_randomness_async<'env>(
    env: &'env Env,
    keys: Vec<ClassInstance<'_, BlstPublicKey>>,
    signatures: Vec<Uint8ArraySlice<'_>>,
) -> Result<Object<'env>> {
    let (keys, signatures) = copied(&keys, &signatures);
    let bytes = size_of_val(&*keys) + bytes_of(&signatures);
    job(env, bytes, move || sums(&keys, &signatures))
}

/// Whether signatures are true.
#[napi]
pub fn blst_verify(
    question: u32,
    messages: Vec<Uint8ArraySlice<'_>>,
    keys: Vec<ClassInstance<'_, BlstPublicKey>>,
    signatures: Vec<ClassInstance<'_, BlstSignature>>,
) -> Result<bool> {
    called(|| Question::new(question, &messages, &keys, &signatures)?.answer())
}

/// The same on another thread.
#[napi(ts_return_type = "Promise<boolean>")]
pub fn blst_verify_async<'env>(
    env: &'env Env,
    question: u32,
    messages: Vec<Uint8ArraySlice<'_>>,
    keys: Vec<ClassInstance<'_, BlstPublicKey>>,
    signatures: Vec<ClassInstance<'_, BlstSignature>>,
) -> Result<Object<'env>> {
    let question = Question::new(question, &messages, &keys, &signatures);
    let bytes = question.as_ref().map_or(0, Question::bytes);
    job(env, bytes, move || question?.answer())
}

/// What is asked, with copies of what it is asked about.
struct Question {
    asked: Asked,
    messages: Vec<Vec<u8>>,
    keys: Vec<PublicKey>,
    signatures: Vec<Signature>,
}

/// By the number that JavaScript passes.
enum Asked {
    /// 0: whether each key made the signature at its index over the message at its index.
    Sets,
    /// 1: whether each key signed the message at its index, in one aggregate.
    Each,
    /// 2: whether every key signed the one message, in one aggregate.
    Shared,
}

impl Question {
    fn new(
        question: u32,
        messages: &[Uint8ArraySlice<'_>],
        keys: &[ClassInstance<'_, BlstPublicKey>],
        signatures: &[ClassInstance<'_, BlstSignature>],
    ) -> std::result::Result<Self, CallFailure> {
        let asked = match question {
            0 => Asked::Sets,
            1 => Asked::Each,
            2 => Asked::Shared,
            other => return Err(CallFailure::new(Code::Internal, format!("there is no question {other}"))),
        };
        Ok(Self {
            asked,
            messages: messages.iter().map(|message| message.to_vec()).collect(),
            keys: keys.iter().map(|key| key.0).collect(),
            signatures: signatures.iter().map(|signature| signature.0).collect(),
        })
    }

    /// The bytes of its copies.
    fn bytes(&self) -> usize {
        bytes_of(&self.messages) + size_of_val(&*self.keys) + size_of_val(&*self.signatures)
    }

    /// Only a success is true. Sums of keys may be the identity, so keys are checked for that.
    fn answer(&self) -> std::result::Result<bool, CallFailure> {
        let Self { asked, messages, keys, signatures } = self;
        let messages: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
        let keys: Vec<&PublicKey> = keys.iter().collect();
        if keys.iter().any(|key| is_identity(key)) {
            return Ok(false);
        }
        let found = match (asked, &signatures[..], &keys[..], &messages[..]) {
            (Asked::Sets, [signature], [key], [message]) => signature.verify(false, message, TAG, &[], key, false),
            (Asked::Sets, signatures, keys, messages) => {
                let signatures: Vec<_> = signatures.iter().collect();
                let scalars = scalars(signatures.len())?;
                let scalars: Vec<_> = scalars.iter().map(scalar).collect();
                Signature::verify_multiple_aggregate_signatures(
                    messages,
                    TAG,
                    keys,
                    false,
                    &signatures,
                    false,
                    &scalars,
                    BITS,
                )
            }
            (Asked::Each, [signature], keys, messages) => signature.aggregate_verify(false, messages, TAG, keys, false),
            (Asked::Shared, [signature], keys, [message]) => signature.fast_aggregate_verify(false, message, TAG, keys),
            _ => return Ok(false),
        };
        Ok(found == BLST_ERROR::BLST_SUCCESS)
    }
}

/// Whether a sum of keys is the identity: the second flag of the encoding. A check of the subgroup would cost as much as a part of the
/// verification, and all keys are in it.
fn is_identity(key: &PublicKey) -> bool {
    key.compress()[0] & 0x40 != 0
}

/// The bits of a random number.
const BITS: usize = 64;

/// Random numbers that are not zero, little-endian.
fn scalars(count: usize) -> std::result::Result<Vec<[u8; BITS / 8]>, CallFailure> {
    let mut scalars = vec![[0; BITS / 8]; count];
    for scalar in &mut scalars {
        while *scalar == [0; BITS / 8] {
            getrandom::fill(scalar).map_err(|error| {
                CallFailure::new(Code::System, format!("the operating system has no random numbers: {error}"))
            })?;
        }
    }
    Ok(scalars)
}

fn scalar(bytes: &[u8; BITS / 8]) -> blst_scalar {
    let mut scalar = blst_scalar::default();
    scalar.b[..bytes.len()].copy_from_slice(bytes);
    scalar
}

/// The bytes that a list takes.
fn bytes_of(list: &[Vec<u8>]) -> usize {
    size_of_val(list) + list.iter().map(Vec::len).sum::<usize>()
}

fn copied(
    keys: &[ClassInstance<'_, BlstPublicKey>],
    signatures: &[Uint8ArraySlice<'_>],
) -> (Vec<PublicKey>, Vec<Vec<u8>>) {
    let keys = keys.iter().map(|key| key.0).collect();
    (keys, signatures.iter().map(|signature| signature.to_vec()).collect())
}

fn sums(keys: &[PublicKey], signatures: &[Vec<u8>]) -> std::result::Result<BlstSums, CallFailure> {
    let validated = signatures.iter().map(|bytes| Signature::sig_validate(bytes, true).map_err(fault));
    let signatures = validated.collect::<std::result::Result<Vec<_>, _>>()?;
    let scalars = scalars(keys.len())?.concat();
    let key = AggregatePublicKey::aggregate_with_randomness(keys, &scalars, BITS, false).map_err(fault)?;
    let signature = AggregateSignature::aggregate_with_randomness(&signatures, &scalars, BITS, false).map_err(fault)?;
    Ok(BlstSums { key: key.to_public_key(), signature: signature.to_signature() })
}

fn checked<T>(work: impl FnOnce() -> std::result::Result<T, BLST_ERROR>) -> Result<T> {
    called(|| work().map_err(fault))
}

/// An error of blst. Texts that callers compare are those of `@chainsafe/blst`, and the name stands in front, by which the JavaScript of `quorate/blst` gives it its code.
fn fault(error: BLST_ERROR) -> CallFailure {
    let text = match error {
        BLST_ERROR::BLST_BAD_ENCODING => "Invalid encoding",
        BLST_ERROR::BLST_POINT_NOT_ON_CURVE => "the point is not on the curve",
        BLST_ERROR::BLST_POINT_NOT_IN_GROUP => "the point is not in the subgroup",
        BLST_ERROR::BLST_AGGR_TYPE_MISMATCH => "there is nothing to add up",
        BLST_ERROR::BLST_PK_IS_INFINITY => "Public key is infinity",
        BLST_ERROR::BLST_BAD_SCALAR => "the number is not a scalar",
        BLST_ERROR::BLST_SUCCESS | BLST_ERROR::BLST_VERIFY_FAIL => "the check failed",
    };
    CallFailure::new(Code::Encoding, format!("{error:?}: {text}"))
}
