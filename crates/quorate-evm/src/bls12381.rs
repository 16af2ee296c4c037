//! Keys and signatures on BLS12-381 as the contracts keep them: the words of EIP-2537 without their padding.
//!
//! A key is a point of G2 in 192 bytes: x real ‖ x imaginary ‖ y real ‖ y imaginary, 48 bytes each. A signature is a
//! point of G1 in 96 bytes: x ‖ y. Zeros encode the identity. Other encodings of BLS12-381 put the imaginary part first
//! and write flags to the highest bits; here there are no flags.
//!
//! Keys and signatures are those of `quorate`. Their types say that the points were checked. The contracts hash digests to
//! G1 in one of two ways: [`DigestHash`].

use quorate::{MinSig, ParseError, PublicKey, SecretKey, Signature, Suite, UncheckedSignature};
use quorate_curve::{Backend, Bls12381Group, DecodeError, G1, G2, Group, SecretScalar};
use serde::{Deserialize, Serialize};

use crate::key_group::KeyGroup;

/// The suite of [`DigestHash::Uniform`], by which keys are generated too. Every library of BLS signatures that has it can
/// sign.
pub const SUITE: MinSig = MinSig::ProofOfPossession;

/// The suite of [`DigestHash::Nonuniform`], which is also its domain separation tag. It is named as the IETF draft names its
/// suites, but the draft has none with a hash that is not uniform.
pub const NONUNIFORM_SUITE: &str = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_";

/// The number of bytes of a key.
pub const KEY_BYTES: usize = 192;
/// The number of bytes of a signature.
pub const SIGNATURE_BYTES: usize = 96;

/// A key as the contract keeps it.
pub fn encode_key(key: &PublicKey<MinSig>) -> [u8; KEY_BYTES] {
    swap_parts(&key.point().serialize())
}

/// Reads what [`encode_key`] writes. The point is checked to be on the curve, in the subgroup of order r, and not the
/// identity.
///
/// # Errors
/// [`ParseError::Key`], [`ParseError::KeyNotInSubgroup`], [`ParseError::IdentityKey`].
pub fn decode_key(bytes: &[u8]) -> Result<PublicKey<MinSig>, ParseError> {
    let length = DecodeError::Length { group: G2::NAME, expected: KEY_BYTES, found: bytes.len() };
    let bytes: &[u8; KEY_BYTES] = bytes.try_into().map_err(|_| ParseError::Key(length))?;
    let point = decode(&swap_parts(bytes), "x.c1").map_err(ParseError::Key)?;
    PublicKey::from_point(point)
}

/// A signature as the contract takes it.
pub fn encode_signature(signature: &Signature<MinSig>) -> [u8; SIGNATURE_BYTES] {
    let point = signature.point();
    if point.is_identity() { [0; SIGNATURE_BYTES] } else { point.serialize() }
}

/// Reads what [`encode_signature`] writes. The point is checked to be on the curve and in the subgroup of order r; it may
/// be the identity.
///
/// # Errors
/// [`ParseError::Signature`], [`ParseError::SignatureNotInSubgroup`].
pub fn decode_signature(bytes: &[u8]) -> Result<Signature<MinSig>, ParseError> {
    let point: G1 = decode(bytes, "x").map_err(ParseError::Signature)?;
    UncheckedSignature::from_point(point).check()
}

/// A signature as the engine takes it, in 48 bytes: the same point, because a point of the curve has one other with its x, and
/// the encoding says which of the two it is. Checks that the point is on the curve, and leaves the subgroup to whoever decodes
/// the 48 bytes.
///
/// # Errors
/// [`ParseError::Signature`].
pub fn compress_signature(bytes: &[u8]) -> Result<[u8; 48], ParseError> {
    let point: G1 = decode(bytes, "x").map_err(ParseError::Signature)?;
    Ok(point.compress())
}

/// The key of a quorum, computed from the key of another quorum, its base: `base` + `added` - `removed`. A base of `None`
/// is the identity. `None` if the sum is the identity.
#[must_use]
pub fn sum(
    base: Option<PublicKey<MinSig>>,
    added: impl IntoIterator<Item = PublicKey<MinSig>>,
    removed: impl IntoIterator<Item = PublicKey<MinSig>>,
) -> Option<PublicKey<MinSig>> {
    let added = base.into_iter().chain(added).map(|key| key.point());
    let points: Vec<_> = added.chain(removed.into_iter().map(|key| key.point().negate())).collect();
    // Keys are in the subgroup, and so is their sum: the identity is the only reason to refuse it.
    PublicKey::from_point(Backend::Portable.sum(&points)).ok()
}

/// How a contract hashes a digest, a message of 32 bytes, to G1. The two have different tags, so a signature under one is
/// false under the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DigestHash {
    /// `hash_to_curve` of RFC 9380 under [`SUITE`]: two maps, and points that are uniformly distributed.
    Uniform,
    /// `encode_to_curve` of RFC 9380 under [`NONUNIFORM_SUITE`]: one map, for half of the gas. Its points are not uniformly
    /// distributed, which BLS signatures do not need (docs/nonuniform.md). Signers that have only the IETF's suites cannot
    /// sign under it.
    Nonuniform,
}

impl DigestHash {
    /// The hash of a key group's contract; `None` on BN254.
    pub const fn of(key_group: KeyGroup) -> Option<Self> {
        match key_group {
            KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => None,
            KeyGroup::Bls12381G2 => Some(Self::Uniform),
            KeyGroup::Bls12381G2Nu => Some(Self::Nonuniform),
        }
    }

    /// The hash of a contract, by the tag in its code. `None` if the code has no tag, as on BN254, or both.
    pub fn in_code(code: &[u8]) -> Option<Self> {
        // The compiler cuts the tag of 43 bytes behind the 32nd. The end tells the two apart.
        let has = |suite: &str| code.windows(suite.len() - 32).any(|window| window == &suite.as_bytes()[32..]);
        match (has(SUITE.id()), has(NONUNIFORM_SUITE)) {
            (true, false) => Some(Self::Uniform),
            (false, true) => Some(Self::Nonuniform),
            _ => None,
        }
    }

    /// The point of a digest.
    pub fn point(self, digest: &[u8; 32]) -> G1 {
        let message = (&b""[..], &digest[..]);
        match self {
            Self::Uniform => Backend::Portable.hash_to_curve_one(SUITE.id().as_bytes(), message),
            Self::Nonuniform => Backend::Portable.encode_to_curve_one(NONUNIFORM_SUITE.as_bytes(), message),
        }
    }

    /// Signs a digest, by blst's constant-time code. One hash to G1 and one multiplication in G1.
    pub fn sign(self, secret: &SecretKey<MinSig>, digest: &[u8; 32]) -> Signature<MinSig> {
        match self {
            Self::Uniform => secret.sign(SUITE, digest),
            Self::Nonuniform => {
                let scalar = SecretScalar::from_bytes(&secret.to_bytes()).expect("a secret key is a scalar in 1..r");
                // A multiple of a point of the subgroup is in the subgroup.
                Signature::assume_in_subgroup(scalar.sign_in_g1(&self.point(digest)))
            }
        }
    }

    /// Whether the signature is the sum of the key's signatures over all digests, as the contract checks it: two Miller
    /// loops, one final exponentiation, and a hash for each digest. False for no digests.
    ///
    /// Does not check the possession of the keys in a sum.
    #[must_use]
    pub fn verify(self, key: &PublicKey<MinSig>, digests: &[[u8; 32]], signature: &Signature<MinSig>) -> bool {
        let points: Vec<_> = digests.iter().map(|digest| self.point(digest)).collect();
        !digests.is_empty() && is_signature(key, &Backend::Portable.sum(&points), signature)
    }
}

/// Whether the signature is the key's over a point: two Miller loops and one final exponentiation.
#[must_use]
pub(crate) fn is_signature(key: &PublicKey<MinSig>, point: &G1, signature: &Signature<MinSig>) -> bool {
    Backend::auto().pairs_to_one(&[(signature.point(), G2::generator().negate()), (*point, key.point())])
}

/// Reads an uncompressed point without flags, whose imaginary parts come first; `first` is the name of the first
/// coordinate.
fn decode<G: Bls12381Group>(bytes: &[u8], first: &'static str) -> Result<G, DecodeError> {
    if bytes.len() == G::UNCOMPRESSED {
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(G::IDENTITY);
        }
        // The field modulus has 381 bits. To the contract these three bits are no flags but a number that is too large.
        if bytes[0] & 0xe0 != 0 {
            return Err(DecodeError::NotCanonical { coordinate: first });
        }
    }
    Backend::Portable.decode_uncompressed(bytes)
}

/// Swaps the real and the imaginary part of both coordinates.
fn swap_parts(bytes: &[u8; KEY_BYTES]) -> [u8; KEY_BYTES] {
    let mut swapped = [0; KEY_BYTES];
    for (to, from) in swapped.chunks_exact_mut(96).zip(bytes.chunks_exact(96)) {
        to[..48].copy_from_slice(&from[48..]);
        to[48..].copy_from_slice(&from[..48]);
    }
    swapped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator() -> PublicKey<MinSig> {
        PublicKey::from_point(G2::generator()).unwrap()
    }

    /// EIP-2537's own generator without the padding of 16 bytes a part: the real part first.
    #[test]
    fn the_generator_is_that_of_eip_2537() {
        let x_real = "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
        let x_imaginary =
            "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e";
        let y_real = "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801";
        let y_imaginary =
            "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be";
        let expected = [x_real, x_imaginary, y_real, y_imaginary].concat();
        assert_eq!(const_hex::encode(encode_key(&generator())), expected);
        assert_eq!(decode_key(&const_hex::decode(expected).unwrap()), Ok(generator()));
    }

    #[test]
    fn imaginary_first_is_no_key() {
        let other = G2::generator().serialize();
        assert_eq!(decode_key(&other), Err(ParseError::Key(DecodeError::NotOnCurve)));
    }

    #[test]
    fn identity_flags_and_lengths() {
        assert_eq!(decode_key(&[0; KEY_BYTES]), Err(ParseError::IdentityKey));
        let identity = decode_signature(&[0; SIGNATURE_BYTES]).unwrap();
        assert!(identity.point().is_identity());
        assert_eq!(encode_signature(&identity), [0; SIGNATURE_BYTES]);
        for at in [0, 48, 96, 144] {
            let mut bytes = encode_key(&generator());
            bytes[at] |= 0x40;
            let error = decode_key(&bytes).unwrap_err();
            assert!(matches!(error, ParseError::Key(DecodeError::NotCanonical { .. })), "{at}: {error}");
        }
        // The identity as other encodings write it.
        let mut flagged = [0; KEY_BYTES];
        flagged[48] = 0x40;
        let expected = DecodeError::NotCanonical { coordinate: "x.c1" };
        assert_eq!(decode_key(&flagged), Err(ParseError::Key(expected)));
        for length in [0, 96, 191, 193] {
            let error = decode_key(&vec![1; length]).unwrap_err();
            assert!(matches!(error, ParseError::Key(DecodeError::Length { .. })), "{length}: {error}");
        }
    }

    #[test]
    fn small_subgroup() {
        // A point of the curve by its least x; outside the subgroup like all but one in a cofactor.
        let backend = Backend::auto();
        let outside = (1u8..).find_map(|x| {
            let mut bytes = [0; 48];
            (bytes[0], bytes[47]) = (0x80, x);
            let point: G1 = backend.decode(&bytes).ok()?;
            (!backend.in_subgroup(&[point])[0]).then_some(point)
        });
        let bytes = outside.expect("half of all x are on the curve").serialize();
        assert_eq!(decode_signature(&bytes), Err(ParseError::SignatureNotInSubgroup));
    }

    #[test]
    fn cancelling_keys_have_no_sum() {
        let (key, opposite) = (generator(), PublicKey::from_point(G2::generator().negate()).unwrap());
        assert_eq!(sum(None, [key, opposite], []), None);
        assert_eq!(sum(Some(key), [], [key]), None);
        assert_eq!(sum(None, [], []), None);
        assert_eq!(sum(Some(key), [opposite], [opposite]), Some(key));
    }
}
