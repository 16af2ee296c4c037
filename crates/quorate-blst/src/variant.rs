//! blst's modules `min_pk` and `min_sig`, by one macro: each type wraps blst's type of the same name.
//!
//! What works on one point is blst's. What works on many goes to [`verify`](crate::verify) and
//! [`points`](crate::points).
//!
//! The file is long because blst's interface is: both modules have every method of it, with its errors.

macro_rules! variant {
    (
        $(#[$doc:meta])*
        $module:ident, $suite:expr, $Suite:ty,
        $key:ident, $key_sum:ident, $key_bytes:literal,
        $signature:ident, $signature_sum:ident, $signature_bytes:literal $(,)?
    ) => {
        $(#[$doc])*
        pub mod $module {
            use std::fmt::{self, Debug};

            use blst::{$key, $key_sum, $module as inner, $signature, $signature_sum, BLST_ERROR, blst_scalar};
            use quorate::{Soundness, Suite};
            use quorate_curve::Bls12381Group;
            use ref_cast::{RefCastCustom, ref_cast_custom};
            #[cfg(feature = "serde")]
            use serde::{Deserialize, Deserializer, Serialize, Serializer};
            use zeroize::Zeroize;

            use crate::{
                MultiPoint,
                check::{Check, Identity},
                points,
                verify::{self, Checks, Set},
            };

            type KeyPoint = <$Suite as Suite>::Key;
            type SignaturePoint = <$Suite as Suite>::Signature;

            /// A secret key. Every operation on it is blst's constant-time code. It is wiped when it is dropped, and
            /// its `Debug` output is redacted, which blst's is not.
            #[derive(Clone, Default, RefCastCustom)]
            #[repr(transparent)]
            pub struct SecretKey(inner::SecretKey);

            impl SecretKey {
                /// No copy of the secret, as blst promises.
                #[ref_cast_custom]
                fn wrapped(secret: &inner::SecretKey) -> &Self;

                /// `KeyGen` of draft-irtf-cfrg-bls-signature-05 with an empty salt.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING` for fewer than 32 bytes of key material.
                pub fn key_gen(ikm: &[u8], key_info: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::SecretKey::key_gen(ikm, key_info).map(Self)
                }

                /// `KeyGen` of draft 3.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING` for fewer than 32 bytes of key material.
                pub fn key_gen_v3(ikm: &[u8], key_info: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::SecretKey::key_gen_v3(ikm, key_info).map(Self)
                }

                /// `KeyGen` of draft 4 with a salt, which is not hashed.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING` for fewer than 32 bytes of key material.
                pub fn key_gen_v4_5(ikm: &[u8], salt: &[u8], info: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::SecretKey::key_gen_v4_5(ikm, salt, info).map(Self)
                }

                /// `KeyGen` of draft 5 with a salt.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING` for fewer than 32 bytes of key material.
                pub fn key_gen_v5(ikm: &[u8], salt: &[u8], info: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::SecretKey::key_gen_v5(ikm, salt, info).map(Self)
                }

                /// `derive_master_SK` of EIP-2333.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING` for fewer than 32 bytes.
                pub fn derive_master_eip2333(ikm: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::SecretKey::derive_master_eip2333(ikm).map(Self)
                }

                /// `derive_child_SK` of EIP-2333.
                pub fn derive_child_eip2333(&self, child_index: u32) -> Self {
                    Self(self.0.derive_child_eip2333(child_index))
                }

                /// The public key.
                pub fn sk_to_pk(&self) -> PublicKey {
                    PublicKey(self.0.sk_to_pk())
                }

                /// Signs `aug` and the message under the tag `dst`.
                pub fn sign(&self, msg: &[u8], dst: &[u8], aug: &[u8]) -> Signature {
                    Signature(self.0.sign(msg, dst, aug))
                }

                /// The big-endian scalar.
                pub fn serialize(&self) -> [u8; 32] {
                    self.0.serialize()
                }

                /// Reads a big-endian scalar.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING` for another length than 32, for zero, and for a scalar not below r.
                pub fn deserialize(sk_in: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::SecretKey::deserialize(sk_in).map(Self)
                }

                /// The 32 bytes that [`serialize`](Self::serialize) gives.
                pub fn to_bytes(&self) -> [u8; 32] {
                    self.serialize()
                }

                /// [`deserialize`](Self::deserialize).
                ///
                /// # Errors
                /// Those of `deserialize`.
                pub fn from_bytes(sk_in: &[u8]) -> Result<Self, BLST_ERROR> {
                    Self::deserialize(sk_in)
                }
            }

            impl Debug for SecretKey {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("SecretKey(redacted)")
                }
            }

            impl Zeroize for SecretKey {
                fn zeroize(&mut self) {
                    self.0.zeroize();
                }
            }

            impl<'a> From<&'a SecretKey> for &'a blst_scalar {
                fn from(secret: &'a SecretKey) -> Self {
                    (&secret.0).into()
                }
            }

            impl<'a> TryFrom<&'a blst_scalar> for &'a SecretKey {
                type Error = BLST_ERROR;

                fn try_from(scalar: &'a blst_scalar) -> Result<Self, BLST_ERROR> {
                    scalar.try_into().map(SecretKey::wrapped)
                }
            }

            #[cfg(feature = "serde-secret")]
            impl Serialize for SecretKey {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    Serialize::serialize(&self.0, serializer)
                }
            }

            #[cfg(feature = "serde-secret")]
            impl<'de> Deserialize<'de> for SecretKey {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Deserialize::deserialize(deserializer).map(Self)
                }
            }

            /// A public key: a point on the curve, which [`validate`](Self::validate) checks further.
            #[derive(Clone, Copy, Default, PartialEq, Eq)]
            #[repr(transparent)]
            pub struct PublicKey(inner::PublicKey);

            impl PublicKey {
                /// Whether it is in the subgroup and not the identity.
                ///
                /// # Errors
                /// `BLST_PK_IS_INFINITY`, `BLST_POINT_NOT_IN_GROUP`.
                pub fn validate(&self) -> Result<(), BLST_ERROR> {
                    self.0.validate()
                }

                /// Reads a key in either form and validates it.
                ///
                /// # Errors
                /// Those of [`deserialize`](Self::deserialize) and [`validate`](Self::validate).
                pub fn key_validate(key: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::PublicKey::key_validate(key).map(Self)
                }

                /// A sum as a key.
                pub fn from_aggregate(agg_pk: &AggregatePublicKey) -> Self {
                    Self(inner::PublicKey::from_aggregate(&agg_pk.0))
                }

                /// The compressed encoding.
                pub fn compress(&self) -> [u8; $key_bytes] {
                    self.0.compress()
                }

                /// The uncompressed encoding.
                pub fn serialize(&self) -> [u8; 2 * $key_bytes] {
                    self.0.serialize()
                }

                /// Reads a compressed key, and does not validate it.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING`, `BLST_POINT_NOT_ON_CURVE`, `BLST_POINT_NOT_IN_GROUP`.
                pub fn uncompress(pk_comp: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::PublicKey::uncompress(pk_comp).map(Self)
                }

                /// Reads a key in either form, and does not validate it.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING`, `BLST_POINT_NOT_ON_CURVE`, `BLST_POINT_NOT_IN_GROUP`.
                pub fn deserialize(pk_in: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::PublicKey::deserialize(pk_in).map(Self)
                }

                /// [`deserialize`](Self::deserialize).
                ///
                /// # Errors
                /// Those of `deserialize`.
                pub fn from_bytes(pk_in: &[u8]) -> Result<Self, BLST_ERROR> {
                    Self::deserialize(pk_in)
                }

                /// The bytes that [`compress`](Self::compress) gives.
                pub fn to_bytes(&self) -> [u8; $key_bytes] {
                    self.compress()
                }

                fn point(&self) -> KeyPoint {
                    KeyPoint::from_blst_assuming_on_curve(self.0.into())
                }

                fn from_point(point: KeyPoint) -> Self {
                    Self(point.to_blst().into())
                }
            }

            impl Debug for PublicKey {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    Debug::fmt(&self.0, f)
                }
            }

            #[cfg(feature = "serde")]
            impl Serialize for PublicKey {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    Serialize::serialize(&self.0, serializer)
                }
            }

            #[cfg(feature = "serde")]
            impl<'de> Deserialize<'de> for PublicKey {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Deserialize::deserialize(deserializer).map(Self)
                }
            }

            impl From<PublicKey> for $key {
                fn from(key: PublicKey) -> Self {
                    key.0.into()
                }
            }

            impl<'a> From<&'a PublicKey> for &'a $key {
                fn from(key: &'a PublicKey) -> Self {
                    (&key.0).into()
                }
            }

            impl From<$key> for PublicKey {
                fn from(point: $key) -> Self {
                    Self(point.into())
                }
            }

            /// A sum of public keys.
            #[derive(Clone, Copy)]
            #[repr(transparent)]
            pub struct AggregatePublicKey(inner::AggregatePublicKey);

            impl AggregatePublicKey {
                /// The sum of one key.
                pub fn from_public_key(pk: &PublicKey) -> Self {
                    Self(inner::AggregatePublicKey::from_public_key(&pk.0))
                }

                /// The sum as a key.
                pub fn to_public_key(&self) -> PublicKey {
                    PublicKey(self.0.to_public_key())
                }

                /// The sum of keys.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` for no keys, and the error of the first key that does not validate.
                pub fn aggregate(pks: &[&PublicKey], pks_validate: bool) -> Result<Self, BLST_ERROR> {
                    match pks {
                        [key] => return inner::AggregatePublicKey::aggregate(&[&key.0], pks_validate).map(Self),
                        few if few.len() < points::SUMMED && !pks_validate => {
                            return inner::AggregatePublicKey::aggregate(&inner_keys(few), false).map(Self);
                        }
                        [] => return Err(BLST_ERROR::BLST_AGGR_TYPE_MISMATCH),
                        _ => {}
                    }
                    let points: Vec<_> = pks.iter().map(|key| key.point()).collect();
                    if pks_validate {
                        points::validate(&points, Identity::Refused)?;
                    }
                    match points::sum(&points) {
                        Some(point) => Ok(Self::from_point(point)),
                        None => inner::AggregatePublicKey::aggregate(&inner_keys(pks), false).map(Self),
                    }
                }

                /// Σ nᵢ·keyᵢ for little-endian scalars of `nbits` bits.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` for no keys, and the error of the first key that does not validate.
                ///
                /// # Panics
                /// If there are too few bytes of scalars.
                pub fn aggregate_with_randomness(
                    pks: &[PublicKey],
                    randomness: &[u8],
                    nbits: usize,
                    pks_groupcheck: bool,
                ) -> Result<Self, BLST_ERROR> {
                    if pks.is_empty() {
                        return Err(BLST_ERROR::BLST_AGGR_TYPE_MISMATCH);
                    }
                    if pks_groupcheck {
                        pks.validate()?;
                    }
                    Ok(multiplied_keys(pks, randomness, nbits, pks_groupcheck.into()))
                }

                /// The sum of encoded keys.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` for no keys, and the error of the first key that does not decode or validate.
                pub fn aggregate_serialized(pks: &[&[u8]], pks_validate: bool) -> Result<Self, BLST_ERROR> {
                    if let [_] | [] = pks {
                        return inner::AggregatePublicKey::aggregate_serialized(pks, pks_validate).map(Self);
                    }
                    let decode = |bytes: &[u8]| PublicKey::from_bytes(bytes).map(|key| key.point());
                    points::sum_of_encoded(pks, decode, pks_validate.into(), Identity::Refused).map(Self::from_point)
                }

                /// Adds another sum.
                pub fn add_aggregate(&mut self, agg_pk: &AggregatePublicKey) {
                    self.0.add_aggregate(&agg_pk.0);
                }

                /// Subtracts another sum.
                pub fn sub_aggregate(&mut self, agg_pk: &AggregatePublicKey) {
                    self.0.sub_aggregate(&agg_pk.0);
                }

                /// Adds a key.
                ///
                /// # Errors
                /// Those of [`PublicKey::validate`], if it is to be validated.
                pub fn add_public_key(&mut self, pk: &PublicKey, pk_validate: bool) -> Result<(), BLST_ERROR> {
                    self.0.add_public_key(&pk.0, pk_validate)
                }

                fn from_point(point: KeyPoint) -> Self {
                    Self::from_public_key(&PublicKey::from_point(point))
                }
            }

            impl Debug for AggregatePublicKey {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    Debug::fmt(&self.0, f)
                }
            }

            impl From<AggregatePublicKey> for $key_sum {
                fn from(sum: AggregatePublicKey) -> Self {
                    sum.0.into()
                }
            }

            impl<'a> From<&'a AggregatePublicKey> for &'a $key_sum {
                fn from(sum: &'a AggregatePublicKey) -> Self {
                    (&sum.0).into()
                }
            }

            impl From<$key_sum> for AggregatePublicKey {
                fn from(point: $key_sum) -> Self {
                    Self(point.into())
                }
            }

            /// A signature: a point on the curve, which [`validate`](Self::validate) checks further.
            #[derive(Clone, Copy, PartialEq, Eq)]
            #[repr(transparent)]
            pub struct Signature(inner::Signature);

            impl Signature {
                /// Whether it is in the subgroup, and, if asked, not the identity.
                ///
                /// # Errors
                /// `BLST_PK_IS_INFINITY`, `BLST_POINT_NOT_IN_GROUP`.
                pub fn validate(&self, sig_infcheck: bool) -> Result<(), BLST_ERROR> {
                    self.0.validate(sig_infcheck)
                }

                /// Reads a signature in either form and validates it.
                ///
                /// # Errors
                /// Those of [`deserialize`](Self::deserialize) and [`validate`](Self::validate).
                pub fn sig_validate(sig: &[u8], sig_infcheck: bool) -> Result<Self, BLST_ERROR> {
                    inner::Signature::sig_validate(sig, sig_infcheck).map(Self)
                }

                /// Whether the key made this signature over `aug` and the message, under the tag `dst`:
                /// `BLST_SUCCESS`, or `BLST_VERIFY_FAIL`.
                pub fn verify(
                    &self,
                    sig_groupcheck: bool,
                    msg: &[u8],
                    dst: &[u8],
                    aug: &[u8],
                    pk: &PublicKey,
                    pk_validate: bool,
                ) -> BLST_ERROR {
                    let set = Set { key: pk.point(), message: msg, signature: self.point() };
                    answer(verify::one::<$Suite>(&set, dst, aug, checks(pk_validate, sig_groupcheck)))
                }

                /// Whether this is the aggregate of signatures by these keys over these messages, one each:
                /// `BLST_SUCCESS`, or `BLST_VERIFY_FAIL`, also for no keys and for unequal lengths. Messages may repeat.
                pub fn aggregate_verify(
                    &self,
                    sig_groupcheck: bool,
                    msgs: &[&[u8]],
                    dst: &[u8],
                    pks: &[&PublicKey],
                    pks_validate: bool,
                ) -> BLST_ERROR {
                    match (pks, msgs) {
                        ([key], [message]) => self.verify(sig_groupcheck, message, dst, &[], key, pks_validate),
                        _ if pks.is_empty() || pks.len() != msgs.len() => BLST_ERROR::BLST_VERIFY_FAIL,
                        _ => {
                            let statements = pks.iter().zip(msgs).map(|(key, message)| (key.point(), *message));
                            let blst = || {
                                let keys = inner_keys(pks);
                                self.0.aggregate_verify(sig_groupcheck, msgs, dst, &keys, pks_validate) == SUCCESS
                            };
                            answer(verify::aggregate(
                                $suite,
                                &statements.collect::<Vec<_>>(),
                                self.point(),
                                dst,
                                checks(pks_validate, sig_groupcheck),
                                blst,
                            ))
                        }
                    }
                }

                /// Whether this is the aggregate of signatures by all these keys over one message: `BLST_SUCCESS`,
                /// `BLST_VERIFY_FAIL`, or `BLST_AGGR_TYPE_MISMATCH` for no keys. Each key's possession must have been
                /// proven.
                pub fn fast_aggregate_verify(
                    &self,
                    sig_groupcheck: bool,
                    msg: &[u8],
                    dst: &[u8],
                    pks: &[&PublicKey],
                ) -> BLST_ERROR {
                    match AggregatePublicKey::aggregate(pks, false) {
                        Ok(sum) => {
                            self.fast_aggregate_verify_pre_aggregated(sig_groupcheck, msg, dst, &sum.to_public_key())
                        }
                        Err(error) => error,
                    }
                }

                /// The same with the sum of the keys.
                pub fn fast_aggregate_verify_pre_aggregated(
                    &self,
                    sig_groupcheck: bool,
                    msg: &[u8],
                    dst: &[u8],
                    pk: &PublicKey,
                ) -> BLST_ERROR {
                    self.verify(sig_groupcheck, msg, dst, &[], pk, false)
                }

                /// Whether each signature is that of its key over its message: `BLST_SUCCESS`, or `BLST_VERIFY_FAIL`, also
                /// for no sets and for unequal lengths. [`verify_each`](Self::verify_each) says which one is false.
                ///
                /// The scalars are not used, and `rand_bits` only says how many bits the weights have that are drawn in
                /// their place: 64, or 128 if it is above 64. With `rand_bits = 0` there are no weights, and the answer
                /// is about the product of all sets. [The crate's documentation](crate#the-callers-random-scalars) says
                /// why.
                ///
                /// # Panics
                /// If `rand_bits` is above 256.
                #[allow(clippy::too_many_arguments, reason = "blst's signature")]
                pub fn verify_multiple_aggregate_signatures(
                    msgs: &[&[u8]],
                    dst: &[u8],
                    pks: &[&PublicKey],
                    pks_validate: bool,
                    sigs: &[&Signature],
                    sigs_groupcheck: bool,
                    rands: &[blst_scalar],
                    rand_bits: usize,
                ) -> BLST_ERROR {
                    let n = pks.len();
                    if n == 0 || [msgs.len(), sigs.len(), rands.len()] != [n; 3] {
                        return BLST_ERROR::BLST_VERIFY_FAIL;
                    }
                    assert!(rand_bits <= 256, "scalar length mismatch");
                    let blst = || {
                        let (keys, signatures) = (inner_keys(pks), inner_signatures(sigs));
                        inner::Signature::verify_multiple_aggregate_signatures(
                            msgs, dst, &keys, pks_validate, &signatures, sigs_groupcheck, rands, rand_bits,
                        )
                    };
                    if rand_bits == 0 {
                        return blst();
                    }
                    let sets: Vec<_> = sets(msgs, pks, sigs).collect();
                    let soundness = if rand_bits > 64 { Soundness::Bits128 } else { Soundness::Bits64 };
                    let checks = checks(pks_validate, sigs_groupcheck);
                    answer(verify::all($suite, &sets, dst, checks, soundness, || blst() == SUCCESS))
                }

                /// Which signatures are those of their keys over their messages: what [`verify`](Self::verify) says of
                /// each, for the time of a batch. blst has no such call.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` if there are not as many messages and keys as signatures.
                pub fn verify_each(
                    msgs: &[&[u8]],
                    dst: &[u8],
                    pks: &[&PublicKey],
                    pks_validate: bool,
                    sigs: &[&Signature],
                    sigs_groupcheck: bool,
                ) -> Result<Vec<bool>, BLST_ERROR> {
                    if [msgs.len(), pks.len()] != [sigs.len(); 2] {
                        return Err(BLST_ERROR::BLST_AGGR_TYPE_MISMATCH);
                    }
                    let blst = |i: usize| {
                        let key = &pks[i].0;
                        sigs[i].0.verify(sigs_groupcheck, msgs[i], dst, &[], key, pks_validate) == SUCCESS
                    };
                    let sets: Vec<_> = sets(msgs, pks, sigs).collect();
                    Ok(verify::each($suite, &sets, dst, checks(pks_validate, sigs_groupcheck), blst))
                }

                /// A sum as a signature.
                pub fn from_aggregate(agg_sig: &AggregateSignature) -> Self {
                    Self(inner::Signature::from_aggregate(&agg_sig.0))
                }

                /// The compressed encoding.
                pub fn compress(&self) -> [u8; $signature_bytes] {
                    self.0.compress()
                }

                /// The uncompressed encoding.
                pub fn serialize(&self) -> [u8; 2 * $signature_bytes] {
                    self.0.serialize()
                }

                /// Reads a compressed signature, and does not validate it.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING`, `BLST_POINT_NOT_ON_CURVE`, `BLST_POINT_NOT_IN_GROUP`.
                pub fn uncompress(sig_comp: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::Signature::uncompress(sig_comp).map(Self)
                }

                /// Reads a signature in either form, and does not validate it.
                ///
                /// # Errors
                /// `BLST_BAD_ENCODING`, `BLST_POINT_NOT_ON_CURVE`, `BLST_POINT_NOT_IN_GROUP`.
                pub fn deserialize(sig_in: &[u8]) -> Result<Self, BLST_ERROR> {
                    inner::Signature::deserialize(sig_in).map(Self)
                }

                /// [`deserialize`](Self::deserialize).
                ///
                /// # Errors
                /// Those of `deserialize`.
                pub fn from_bytes(sig_in: &[u8]) -> Result<Self, BLST_ERROR> {
                    Self::deserialize(sig_in)
                }

                /// The bytes that [`compress`](Self::compress) gives.
                pub fn to_bytes(&self) -> [u8; $signature_bytes] {
                    self.compress()
                }

                /// Whether it is in the subgroup.
                pub fn subgroup_check(&self) -> bool {
                    self.0.subgroup_check()
                }

                fn point(&self) -> SignaturePoint {
                    SignaturePoint::from_blst_assuming_on_curve(self.0.into())
                }

                fn from_point(point: SignaturePoint) -> Self {
                    Self(point.to_blst().into())
                }
            }

            impl Debug for Signature {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    Debug::fmt(&self.0, f)
                }
            }

            #[cfg(feature = "serde")]
            impl Serialize for Signature {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    Serialize::serialize(&self.0, serializer)
                }
            }

            #[cfg(feature = "serde")]
            impl<'de> Deserialize<'de> for Signature {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Deserialize::deserialize(deserializer).map(Self)
                }
            }

            impl From<Signature> for $signature {
                fn from(signature: Signature) -> Self {
                    signature.0.into()
                }
            }

            impl<'a> From<&'a Signature> for &'a $signature {
                fn from(signature: &'a Signature) -> Self {
                    (&signature.0).into()
                }
            }

            impl From<$signature> for Signature {
                fn from(point: $signature) -> Self {
                    Self(point.into())
                }
            }

            /// A sum of signatures.
            #[derive(Clone, Copy)]
            #[repr(transparent)]
            pub struct AggregateSignature(inner::AggregateSignature);

            impl AggregateSignature {
                /// Whether it is in the subgroup.
                ///
                /// # Errors
                /// `BLST_POINT_NOT_IN_GROUP`.
                pub fn validate(&self) -> Result<(), BLST_ERROR> {
                    self.0.validate()
                }

                /// The sum of one signature.
                pub fn from_signature(sig: &Signature) -> Self {
                    Self(inner::AggregateSignature::from_signature(&sig.0))
                }

                /// The sum as a signature.
                pub fn to_signature(&self) -> Signature {
                    Signature(self.0.to_signature())
                }

                /// The sum of signatures.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` for no signatures, `BLST_POINT_NOT_IN_GROUP` if one is checked and outside.
                pub fn aggregate(sigs: &[&Signature], sigs_groupcheck: bool) -> Result<Self, BLST_ERROR> {
                    match sigs {
                        [signature] => return inner::AggregateSignature::aggregate(&[&signature.0], sigs_groupcheck).map(Self),
                        few if few.len() < points::SUMMED && !sigs_groupcheck => {
                            return inner::AggregateSignature::aggregate(&inner_signatures(few), false).map(Self);
                        }
                        [] => return Err(BLST_ERROR::BLST_AGGR_TYPE_MISMATCH),
                        _ => {}
                    }
                    let points: Vec<_> = sigs.iter().map(|signature| signature.point()).collect();
                    if sigs_groupcheck {
                        points::validate(&points, Identity::Allowed)?;
                    }
                    match points::sum(&points) {
                        Some(point) => Ok(Self::from_point(point)),
                        None => inner::AggregateSignature::aggregate(&inner_signatures(sigs), false).map(Self),
                    }
                }

                /// Σ nᵢ·signatureᵢ for little-endian scalars of `nbits` bits.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` for no signatures, and if they are checked, `BLST_PK_IS_INFINITY` or
                /// `BLST_POINT_NOT_IN_GROUP` for the first that is not a member or the identity.
                ///
                /// # Panics
                /// If there are too few bytes of scalars.
                pub fn aggregate_with_randomness(
                    sigs: &[Signature],
                    randomness: &[u8],
                    nbits: usize,
                    sigs_groupcheck: bool,
                ) -> Result<Self, BLST_ERROR> {
                    if sigs.is_empty() {
                        return Err(BLST_ERROR::BLST_AGGR_TYPE_MISMATCH);
                    }
                    if sigs_groupcheck {
                        sigs.validate()?;
                    }
                    Ok(multiplied_signatures(sigs, randomness, nbits, sigs_groupcheck.into()))
                }

                /// The sum of encoded signatures.
                ///
                /// # Errors
                /// `BLST_AGGR_TYPE_MISMATCH` for no signatures, and the error of the first that does not decode or, if
                /// checked, is outside.
                pub fn aggregate_serialized(sigs: &[&[u8]], sigs_groupcheck: bool) -> Result<Self, BLST_ERROR> {
                    if let [_] | [] = sigs {
                        return inner::AggregateSignature::aggregate_serialized(sigs, sigs_groupcheck).map(Self);
                    }
                    let decode = |bytes: &[u8]| Signature::from_bytes(bytes).map(|signature| signature.point());
                    points::sum_of_encoded(sigs, decode, sigs_groupcheck.into(), Identity::Allowed)
                        .map(Self::from_point)
                }

                /// Adds another sum.
                pub fn add_aggregate(&mut self, agg_sig: &AggregateSignature) {
                    self.0.add_aggregate(&agg_sig.0);
                }

                /// Adds a signature.
                ///
                /// # Errors
                /// `BLST_POINT_NOT_IN_GROUP`, if it is to be checked.
                pub fn add_signature(&mut self, sig: &Signature, sig_groupcheck: bool) -> Result<(), BLST_ERROR> {
                    self.0.add_signature(&sig.0, sig_groupcheck)
                }

                /// Whether it is in the subgroup.
                pub fn subgroup_check(&self) -> bool {
                    self.0.subgroup_check()
                }

                fn from_point(point: SignaturePoint) -> Self {
                    Self::from_signature(&Signature::from_point(point))
                }
            }

            impl Debug for AggregateSignature {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    Debug::fmt(&self.0, f)
                }
            }

            impl From<AggregateSignature> for $signature_sum {
                fn from(sum: AggregateSignature) -> Self {
                    sum.0.into()
                }
            }

            impl<'a> From<&'a AggregateSignature> for &'a $signature_sum {
                fn from(sum: &'a AggregateSignature) -> Self {
                    (&sum.0).into()
                }
            }

            impl From<$signature_sum> for AggregateSignature {
                fn from(point: $signature_sum) -> Self {
                    Self(point.into())
                }
            }

            impl MultiPoint for [PublicKey] {
                type Output = AggregatePublicKey;

                fn mult(&self, scalars: &[u8], nbits: usize) -> AggregatePublicKey {
                    multiplied_keys(self, scalars, nbits, Check::Waived)
                }

                fn add(&self) -> AggregatePublicKey {
                    AggregatePublicKey(raw_keys(self).as_slice().add().into())
                }

                fn validate(&self) -> Result<(), BLST_ERROR> {
                    raw_keys(self).as_slice().validate()
                }
            }

            impl MultiPoint for [Signature] {
                type Output = AggregateSignature;

                fn mult(&self, scalars: &[u8], nbits: usize) -> AggregateSignature {
                    multiplied_signatures(self, scalars, nbits, Check::Waived)
                }

                fn add(&self) -> AggregateSignature {
                    AggregateSignature(raw_signatures(self).as_slice().add().into())
                }

                fn validate(&self) -> Result<(), BLST_ERROR> {
                    raw_signatures(self).as_slice().validate()
                }
            }

            fn multiplied_keys(keys: &[PublicKey], scalars: &[u8], nbits: usize, members: Check) -> AggregatePublicKey {
                let points: Vec<_> = keys.iter().map(PublicKey::point).collect();
                match points::multiply(&points, scalars, nbits, members) {
                    Some(point) => AggregatePublicKey::from_point(point),
                    None => {
                        let add = inner::AggregatePublicKey::add_aggregate;
                        AggregatePublicKey(points::multiply_by_blst(&raw_keys(keys), scalars, nbits, add))
                    }
                }
            }

            fn multiplied_signatures(
                signatures: &[Signature],
                scalars: &[u8],
                nbits: usize,
                members: Check,
            ) -> AggregateSignature {
                let points: Vec<_> = signatures.iter().map(Signature::point).collect();
                match points::multiply(&points, scalars, nbits, members) {
                    Some(point) => AggregateSignature::from_point(point),
                    None => {
                        let add = inner::AggregateSignature::add_aggregate;
                        AggregateSignature(points::multiply_by_blst(&raw_signatures(signatures), scalars, nbits, add))
                    }
                }
            }

            fn raw_keys(keys: &[PublicKey]) -> Vec<$key> {
                keys.iter().map(|key| key.0.into()).collect()
            }

            fn raw_signatures(signatures: &[Signature]) -> Vec<$signature> {
                signatures.iter().map(|signature| signature.0.into()).collect()
            }

            fn inner_keys<'a>(keys: &[&'a PublicKey]) -> Vec<&'a inner::PublicKey> {
                keys.iter().map(|key| &key.0).collect()
            }

            fn inner_signatures<'a>(signatures: &[&'a Signature]) -> Vec<&'a inner::Signature> {
                signatures.iter().map(|signature| &signature.0).collect()
            }

            fn sets<'a>(
                messages: &'a [&'a [u8]],
                keys: &'a [&PublicKey],
                signatures: &'a [&Signature],
            ) -> impl Iterator<Item = Set<'a, $Suite>> {
                let set = |((message, key), signature): ((&&'a [u8], &&PublicKey), &&Signature)| Set {
                    key: key.point(),
                    message,
                    signature: signature.point(),
                };
                messages.iter().zip(keys).zip(signatures).map(set)
            }

            fn checks(keys: bool, signatures: bool) -> Checks {
                Checks { keys: keys.into(), signatures: signatures.into() }
            }

            fn answer(valid: bool) -> BLST_ERROR {
                if valid { SUCCESS } else { BLST_ERROR::BLST_VERIFY_FAIL }
            }

            const SUCCESS: BLST_ERROR = BLST_ERROR::BLST_SUCCESS;
        }
    };
}

variant!(
    /// Keys in G1, of 48 bytes; signatures in G2, of 96 bytes.
    min_pk,
    quorate::MinPk::ProofOfPossession,
    quorate::MinPk,
    blst_p1_affine,
    blst_p1,
    48,
    blst_p2_affine,
    blst_p2,
    96,
);
variant!(
    /// Keys in G2, of 96 bytes; signatures in G1, of 48 bytes.
    min_sig,
    quorate::MinSig::ProofOfPossession,
    quorate::MinSig,
    blst_p2_affine,
    blst_p2,
    96,
    blst_p1_affine,
    blst_p1,
    48,
);
