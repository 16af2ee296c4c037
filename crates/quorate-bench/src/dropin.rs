//! `dropin/*`: each function of blst's Rust API, by blst and by the drop-in. One text calls both.

use std::{hint::black_box, num::NonZeroUsize};

use blst::MultiPoint;
use quorate::{Backend, MinPk};
use rand_core::Rng;

use crate::{
    data::{self, Signed, signed},
    measure::{Engine, Run, measure},
    row::Row,
};

pub(crate) fn run(run: &Run) -> Vec<Row> {
    let largest = run.choose(64, 512);
    let signed = signed(MinPk::Eth2, largest, |i| i, |i| i);
    let mut rows = Vec::new();
    for (name, sizes, per_call) in FUNCTIONS {
        for n in sizes.iter().filter(|n| **n <= largest) {
            rows.extend(function(run, name, *n, *per_call, &signed[..*n]));
        }
    }
    rows
}

/// A row for blst and one for the drop-in, and one more on two threads if there is work for two.
fn function(run: &Run, name: &'static str, n: usize, calls: usize, signed: &[Signed<MinPk>]) -> Vec<Row> {
    let expected = Expected::new(signed);
    let (blst, ours) = (of_blst::Inputs::new(signed, &expected), of_the_drop_in::Inputs::new(signed, &expected));
    let calls = run.choose(calls.div_ceil(10), calls);
    let mut engines = vec![Engine::new("blst", 1, move || (0..calls).for_each(|_| blst.call(name)))];
    let threads: &[usize] = if n >= 32 { &[1, 2] } else { &[1] };
    let ours = &ours;
    engines.extend(threads.iter().map(|threads| {
        let most = NonZeroUsize::new(*threads).expect("one or two");
        let work = move || {
            quorate_blst::set_threads(most);
            (0..calls).for_each(|_| ours.call(name));
        };
        Engine::new("quorate-blst", *threads, work).note(Backend::auto().name())
    }));
    measure(&format!("dropin/{name}"), n, "call", calls, run.choose(3, (3000 / n).clamp(11, 61)), engines)
}

/// Each function with its numbers of keys, signatures or messages, and how many calls are timed together.
const FUNCTIONS: &[(&str, &[usize], usize)] = &[
    ("verify", &[1], 4),
    ("fast_aggregate_verify", &[1, 8, 128, 512], 2),
    ("fast_aggregate_verify_pre_aggregated", &[1], 4),
    ("aggregate_verify", &[1, 2, 8, 32, 128], 1),
    ("verify_multiple_aggregate_signatures", &[1, 2, 4, 8, 16, 32, 64, 128, 512], 1),
    ("verify_multiple_aggregate_signatures, keys validated", &[8, 128], 1),
    ("verify_multiple_aggregate_signatures, nothing checked", &[8, 128], 1),
    ("verify_multiple_aggregate_signatures, one message", &[8, 128], 1),
    ("verify_each", &[8, 128], 1),
    ("AggregatePublicKey::aggregate", &[1, 2, 8, 32, 128, 512], 100),
    ("AggregatePublicKey::aggregate, validated", &[1, 2, 8, 32, 128, 512], 5),
    ("AggregatePublicKey::aggregate_serialized", &[2, 8, 128], 10),
    ("AggregatePublicKey::aggregate_serialized, validated", &[2, 8, 128], 5),
    ("AggregatePublicKey::aggregate_with_randomness", &[2, 8, 128], 5),
    ("AggregateSignature::aggregate", &[1, 2, 8, 32, 128, 512], 50),
    ("AggregateSignature::aggregate, checked", &[1, 2, 8, 32, 128, 512], 5),
    ("AggregateSignature::aggregate_serialized, checked", &[2, 8, 128], 5),
    ("AggregateSignature::aggregate_with_randomness", &[2, 8, 128], 5),
    ("[PublicKey]::mult, 64 bits", &[2, 4, 8, 16, 32, 128], 10),
    ("[PublicKey]::mult, 255 bits", &[8, 128], 5),
    ("[PublicKey]::add", &[2, 8, 32, 128, 512], 100),
    ("[PublicKey]::validate", &[1, 2, 8, 32, 128, 512], 5),
    ("[Signature]::mult, 64 bits", &[2, 4, 8, 16, 32, 128], 5),
    ("[Signature]::add", &[2, 8, 32, 128, 512], 50),
    ("[Signature]::validate", &[1, 2, 8, 32, 128, 512], 5),
    ("PublicKey::key_validate", &[1], 20),
    ("PublicKey::deserialize", &[1], 500),
    ("PublicKey::compress", &[1], 500),
    ("PublicKey::validate", &[1], 20),
    ("Signature::sig_validate", &[1], 20),
    ("Signature::uncompress", &[1], 20),
    ("Signature::validate", &[1], 20),
    ("SecretKey::key_gen", &[1], 50),
    ("SecretKey::sk_to_pk", &[1], 10),
    ("SecretKey::sign", &[1], 5),
    ("SecretKey::derive_child_eip2333", &[1], 1),
];

/// The index of the secret that is derived.
const CHILD: u32 = 7;

/// The secret of the signer `i` of [`signed`] comes from this.
fn material(i: usize) -> [u8; 32] {
    let mut material = [0; 32];
    material[..8].copy_from_slice(&i.to_le_bytes());
    material
}

/// Scalars for `n` points, of 32 bytes each, and of 8 if they have 64 bits.
fn bytes_of_scalars(n: usize) -> Vec<u8> {
    let mut bytes = vec![0; 32 * n];
    data::rng().fill_bytes(&mut bytes);
    bytes
}

/// What blst answers where the inputs do not say what is right, in bytes: the drop-in has to answer the same.
struct Expected {
    keys_by_64_bits: [u8; 48],
    keys_by_255_bits: [u8; 48],
    signatures_by_64_bits: [u8; 96],
    child: [u8; 32],
}

impl Expected {
    fn new(signed: &[Signed<MinPk>]) -> Self {
        use blst::min_pk::{PublicKey, SecretKey, Signature};

        let key = |s: &Signed<MinPk>| PublicKey::from_bytes(&s.key.to_bytes()).expect("a key");
        let signature = |s: &Signed<MinPk>| Signature::from_bytes(&s.signature.to_bytes()).expect("a signature");
        let keys: Vec<_> = signed.iter().map(key).collect();
        let signatures: Vec<_> = signed.iter().map(signature).collect();
        let scalars = bytes_of_scalars(signed.len());
        let secret = SecretKey::key_gen(&material(0), b"bench").expect("32 bytes");
        Self {
            keys_by_64_bits: keys[..].mult(&scalars, 64).to_public_key().to_bytes(),
            keys_by_255_bits: keys[..].mult(&scalars, 255).to_public_key().to_bytes(),
            signatures_by_64_bits: signatures[..].mult(&scalars, 64).to_signature().to_bytes(),
            child: secret.derive_child_eip2333(CHILD).to_bytes(),
        }
    }
}

const TAG: &[u8] = b"BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

macro_rules! inputs {
    ($module:ident, $crate_name:ident, $verify_each:expr) => {
        mod $module {
            use $crate_name::{
                BLST_ERROR, MultiPoint, blst_scalar,
                min_pk::{AggregatePublicKey, AggregateSignature, PublicKey, SecretKey, Signature},
            };

            use crate::{
                data::Signed,
                dropin::{self, CHILD, Expected, MinPk, TAG, black_box, material},
            };

            /// What the functions take.
            pub(super) struct Inputs {
                secret: SecretKey,
                keys: Vec<PublicKey>,
                messages: Vec<Vec<u8>>,
                signatures: Vec<Signature>,
                encoded_keys: Vec<[u8; 48]>,
                encoded_signatures: Vec<[u8; 96]>,
                uncompressed: [u8; 96],
                /// The sum of the signatures, each over its message.
                sum: Signature,
                /// Signatures of each key over the first message.
                same: Vec<Signature>,
                sum_of_same: Signature,
                sum_of_keys: PublicKey,
                scalars: Vec<blst_scalar>,
                bytes_of_scalars: Vec<u8>,
                keys_by_64_bits: PublicKey,
                keys_by_255_bits: PublicKey,
                signatures_by_64_bits: Signature,
                child: [u8; 32],
            }

            impl Inputs {
                pub(super) fn new(signed: &[Signed<MinPk>], expected: &Expected) -> Self {
                    let encoded_keys: Vec<_> = signed.iter().map(|s| s.key.to_bytes()).collect();
                    let encoded_signatures: Vec<_> = signed.iter().map(|s| s.signature.to_bytes()).collect();
                    let key = |bytes: &[u8; 48]| PublicKey::from_bytes(bytes).expect("a key");
                    let signature = |bytes: &[u8; 96]| Signature::from_bytes(bytes).expect("a signature");
                    let keys: Vec<_> = encoded_keys.iter().map(key).collect();
                    let signatures: Vec<_> = encoded_signatures.iter().map(signature).collect();
                    let messages: Vec<_> = signed.iter().map(|s| s.message.clone()).collect();
                    let secret = |i| SecretKey::key_gen(&material(i), b"bench").expect("32 bytes");
                    let secrets = (0..signed.len()).map(secret);
                    let same: Vec<_> = secrets.clone().map(|secret| secret.sign(&messages[0], TAG, &[])).collect();
                    let sum = |signatures: &[Signature]| {
                        let refs: Vec<_> = signatures.iter().collect();
                        AggregateSignature::aggregate(&refs, false).expect("signatures").to_signature()
                    };
                    let refs: Vec<_> = keys.iter().collect();
                    let bytes_of_scalars = dropin::bytes_of_scalars(keys.len());
                    let scalars = bytes_of_scalars.chunks_exact(32).map(|chunk| {
                        let mut scalar = blst_scalar::default();
                        scalar.b.copy_from_slice(chunk);
                        scalar
                    });
                    Self {
                        secret: secret(0),
                        sum: sum(&signatures),
                        sum_of_same: sum(&same),
                        sum_of_keys: AggregatePublicKey::aggregate(&refs, false).expect("keys").to_public_key(),
                        uncompressed: keys[0].serialize(),
                        scalars: scalars.collect(),
                        keys_by_64_bits: key(&expected.keys_by_64_bits),
                        keys_by_255_bits: key(&expected.keys_by_255_bits),
                        signatures_by_64_bits: signature(&expected.signatures_by_64_bits),
                        child: expected.child,
                        same,
                        keys,
                        messages,
                        signatures,
                        encoded_keys,
                        encoded_signatures,
                        bytes_of_scalars,
                    }
                }

                /// Calls the function and asserts its answer.
                pub(super) fn call(&self, name: &str) {
                    let keys = || self.keys.iter().collect::<Vec<_>>();
                    let messages = || self.messages.iter().map(|message| &message[..]).collect::<Vec<_>>();
                    let signatures = || self.signatures.iter().collect::<Vec<_>>();
                    let encoded_keys = || self.encoded_keys.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>();
                    let encoded_signatures =
                        || self.encoded_signatures.iter().map(|bytes| &bytes[..]).collect::<Vec<_>>();
                    let (message, key, signature) = (&self.messages[0], &self.keys[0], &self.signatures[0]);
                    let multiple = |messages: &[&[u8]], signatures: &[&Signature], validate, check| {
                        Signature::verify_multiple_aggregate_signatures(
                            messages,
                            TAG,
                            &keys(),
                            validate,
                            signatures,
                            check,
                            &self.scalars,
                            64,
                        ) == BLST_ERROR::BLST_SUCCESS
                    };
                    let good = |error: BLST_ERROR| error == BLST_ERROR::BLST_SUCCESS;
                    let holds = match name {
                        "verify" => good(signature.verify(true, message, TAG, &[], key, false)),
                        "fast_aggregate_verify" => {
                            good(self.sum_of_same.fast_aggregate_verify(true, message, TAG, &keys()))
                        }
                        "fast_aggregate_verify_pre_aggregated" => {
                            let sum = &self.sum_of_keys;
                            good(self.sum_of_same.fast_aggregate_verify_pre_aggregated(true, message, TAG, sum))
                        }
                        "aggregate_verify" => good(self.sum.aggregate_verify(true, &messages(), TAG, &keys(), false)),
                        "verify_multiple_aggregate_signatures" => multiple(&messages(), &signatures(), false, true),
                        "verify_multiple_aggregate_signatures, keys validated" => {
                            multiple(&messages(), &signatures(), true, true)
                        }
                        "verify_multiple_aggregate_signatures, nothing checked" => {
                            multiple(&messages(), &signatures(), false, false)
                        }
                        "verify_multiple_aggregate_signatures, one message" => {
                            let same = vec![&message[..]; self.keys.len()];
                            multiple(&same, &self.same.iter().collect::<Vec<_>>(), false, true)
                        }
                        "verify_each" => {
                            let each: Vec<bool> = $verify_each(&messages(), &keys(), &signatures());
                            each.len() == self.keys.len() && each.iter().all(|valid| *valid)
                        }
                        "AggregatePublicKey::aggregate" => self.is_sum(AggregatePublicKey::aggregate(&keys(), false)),
                        "AggregatePublicKey::aggregate, validated" => {
                            self.is_sum(AggregatePublicKey::aggregate(&keys(), true))
                        }
                        "AggregatePublicKey::aggregate_serialized" => {
                            self.is_sum(AggregatePublicKey::aggregate_serialized(&encoded_keys(), false))
                        }
                        "AggregatePublicKey::aggregate_serialized, validated" => {
                            self.is_sum(AggregatePublicKey::aggregate_serialized(&encoded_keys(), true))
                        }
                        "AggregatePublicKey::aggregate_with_randomness" => {
                            let scalars = &self.bytes_of_scalars;
                            AggregatePublicKey::aggregate_with_randomness(&self.keys, scalars, 64, true)
                                .map(|sum| sum.to_public_key())
                                == Ok(self.keys_by_64_bits)
                        }
                        "AggregateSignature::aggregate" => {
                            self.is_signature(AggregateSignature::aggregate(&signatures(), false))
                        }
                        "AggregateSignature::aggregate, checked" => {
                            self.is_signature(AggregateSignature::aggregate(&signatures(), true))
                        }
                        "AggregateSignature::aggregate_serialized, checked" => {
                            self.is_signature(AggregateSignature::aggregate_serialized(&encoded_signatures(), true))
                        }
                        "AggregateSignature::aggregate_with_randomness" => {
                            let scalars = &self.bytes_of_scalars;
                            AggregateSignature::aggregate_with_randomness(&self.signatures, scalars, 64, true)
                                .map(|sum| sum.to_signature())
                                == Ok(self.signatures_by_64_bits)
                        }
                        "[PublicKey]::mult, 64 bits" => {
                            self.keys[..].mult(&self.bytes_of_scalars, 64).to_public_key() == self.keys_by_64_bits
                        }
                        "[PublicKey]::mult, 255 bits" => {
                            self.keys[..].mult(&self.bytes_of_scalars, 255).to_public_key() == self.keys_by_255_bits
                        }
                        "[PublicKey]::add" => self.keys[..].add().to_public_key() == self.sum_of_keys,
                        "[PublicKey]::validate" => self.keys[..].validate().is_ok(),
                        "[Signature]::mult, 64 bits" => {
                            let sum = self.signatures[..].mult(&self.bytes_of_scalars, 64);
                            sum.to_signature() == self.signatures_by_64_bits
                        }
                        "[Signature]::add" => self.signatures[..].add().to_signature() == self.sum,
                        "[Signature]::validate" => self.signatures[..].validate().is_ok(),
                        "PublicKey::key_validate" => PublicKey::key_validate(&self.encoded_keys[0]) == Ok(*key),
                        "PublicKey::deserialize" => PublicKey::deserialize(&self.uncompressed) == Ok(*key),
                        "PublicKey::compress" => key.compress() == self.encoded_keys[0],
                        "PublicKey::validate" => key.validate().is_ok(),
                        "Signature::sig_validate" => {
                            Signature::sig_validate(&self.encoded_signatures[0], true) == Ok(*signature)
                        }
                        "Signature::uncompress" => Signature::uncompress(&self.encoded_signatures[0]) == Ok(*signature),
                        "Signature::validate" => signature.validate(true).is_ok(),
                        "SecretKey::key_gen" => {
                            let secret = SecretKey::key_gen(&[0; 32], b"bench").expect("32 bytes");
                            secret.to_bytes() == self.secret.to_bytes()
                        }
                        "SecretKey::sk_to_pk" => self.secret.sk_to_pk() == *key,
                        "SecretKey::sign" => self.secret.sign(message, TAG, &[]) == *signature,
                        "SecretKey::derive_child_eip2333" => {
                            self.secret.derive_child_eip2333(CHILD).to_bytes() == self.child
                        }
                        other => unreachable!("no function {other}"),
                    };
                    assert!(black_box(holds), "{name}");
                }

                fn is_sum(&self, sum: Result<AggregatePublicKey, BLST_ERROR>) -> bool {
                    sum.map(|sum| sum.to_public_key()) == Ok(self.sum_of_keys)
                }

                fn is_signature(&self, sum: Result<AggregateSignature, BLST_ERROR>) -> bool {
                    sum.map(|sum| sum.to_signature()) == Ok(self.sum)
                }
            }
        }
    };
}

inputs!(
    of_blst,
    blst,
    // blst has no such call, so its callers verify one by one.
    |messages: &[&[u8]], keys: &[&PublicKey], signatures: &[&Signature]| {
        let each = signatures.iter().zip(keys).zip(messages);
        let verify = |((signature, key), message): ((&&Signature, &&PublicKey), &&[u8])| {
            signature.verify(true, message, TAG, &[], key, false) == BLST_ERROR::BLST_SUCCESS
        };
        each.map(verify).collect()
    }
);
inputs!(of_the_drop_in, quorate_blst, |messages: &[&[u8]], keys: &[&PublicKey], signatures: &[&Signature]| {
    Signature::verify_each(messages, TAG, keys, false, signatures, true).expect("equal lengths")
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function that is listed is called by both, and its answer is asserted.
    #[test]
    fn every_function_is_called() {
        let signed = signed(MinPk::Eth2, 2, |i| i, |i| i);
        let expected = Expected::new(&signed);
        let (blst, ours) = (of_blst::Inputs::new(&signed, &expected), of_the_drop_in::Inputs::new(&signed, &expected));
        for (name, ..) in FUNCTIONS {
            blst.call(name);
            ours.call(name);
        }
    }
}
