//! BLS12-381 as back end d keeps it: the words of EIP-2537 without their padding, the real part of a coordinate first.
//!
//! A key is a point of G2 in 192 bytes, x real ‖ x imaginary ‖ y real ‖ y imaginary, 48 each; a signature is a point of
//! G1 in 96, x ‖ y; zeros are the identity. Other encodings of BLS12-381 have the imaginary part first and flags in the
//! top bits; here there are no flags.

use quorate_curve::{Backend, DecodeError, G1, G2, Group};

/// The suite that the contract hashes digests under. Any library of BLS signatures can sign with it.
pub const SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

/// Bytes of a key.
pub const KEY_BYTES: usize = 192;
/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 96;

/// Why bytes are no key or no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Length, a coordinate that is not below the prime, no point of the curve.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A coordinate whose first bits are set: others than these write flags there.
    #[error("a coordinate is not below the field modulus (there are no flags in this encoding)")]
    Flags,
    /// A point outside the subgroup of order r.
    #[error("the point is not in the subgroup")]
    NotInSubgroup,
    /// The identity as a key, under which the identity signature verifies for any message.
    #[error("the point is the identity")]
    IdentityKey,
}

/// A key as the contract keeps it, 192 bytes.
pub fn encode_key(key: &G2) -> [u8; KEY_BYTES] {
    if key.is_identity() {
        return [0; KEY_BYTES];
    }
    swap_parts(&key.serialize())
}

/// Reads what [`encode_key`] writes: a point of order r that is not the identity.
///
/// # Errors
/// [`ParseError`].
pub fn decode_key(bytes: &[u8]) -> Result<G2, ParseError> {
    let found = bytes.len();
    let length = DecodeError::Length { group: G2::NAME, expected: KEY_BYTES, found };
    let bytes: &[u8; KEY_BYTES] = bytes.try_into().map_err(|_| length)?;
    let key: G2 = decode(&swap_parts(bytes))?;
    if key.is_identity() { Err(ParseError::IdentityKey) } else { Ok(key) }
}

/// A signature as the contract takes it, 96 bytes.
pub fn encode_signature(signature: &G1) -> [u8; SIGNATURE_BYTES] {
    if signature.is_identity() { [0; SIGNATURE_BYTES] } else { signature.serialize() }
}

/// Reads what [`encode_signature`] writes: a point of order r, which may be the identity.
///
/// # Errors
/// [`ParseError`].
pub fn decode_signature(bytes: &[u8]) -> Result<G1, ParseError> {
    decode(bytes)
}

/// Whether the signature is the sum of the key's over every digest, as the contract checks it: two Miller loops and a
/// hash a digest. No digests: false.
///
/// Does not check possession of the keys in a sum.
pub fn verify(key: &G2, digests: &[[u8; 32]], signature: &G1) -> bool {
    let backend = Backend::auto();
    let messages: Vec<_> = digests.iter().map(|digest| (&[][..], &digest[..])).collect();
    let hash = backend.sum(&backend.hash_to_curve::<G1>(SUITE, &messages));
    let product = backend.miller_product(&[(*signature, G2::generator().negate()), (hash, *key)]);
    !digests.is_empty() && backend.final_exponentiation(product).is_one()
}

/// Reads an uncompressed point without flags, whose imaginary parts come first.
fn decode<G: Group>(bytes: &[u8]) -> Result<G, ParseError> {
    if bytes.len() == G::UNCOMPRESSED {
        if bytes.iter().all(|byte| *byte == 0) {
            return Ok(G::IDENTITY);
        }
        // The prime has 381 bits, so these are no flags to the contract but a number that is too large.
        if bytes[0] & 0xe0 != 0 {
            return Err(ParseError::Flags);
        }
    }
    let backend = Backend::auto();
    let point: G = backend.decode_uncompressed(bytes)?;
    if backend.in_subgroup(&[point])[0] { Ok(point) } else { Err(ParseError::NotInSubgroup) }
}

/// Swaps the parts of both coordinates.
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

    /// EIP-2537's own generator, its padding of 16 bytes a part taken away: the real part first.
    #[test]
    fn the_generator_is_that_of_eip_2537() {
        let x_real = "024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8";
        let x_imaginary =
            "13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e";
        let y_real = "0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801";
        let y_imaginary =
            "0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be";
        let expected = [x_real, x_imaginary, y_real, y_imaginary].concat();
        assert_eq!(hex::encode(encode_key(&G2::generator())), expected);
        assert_eq!(decode_key(&hex::decode(expected).unwrap()), Ok(G2::generator()));
    }

    #[test]
    fn imaginary_first_is_no_key() {
        let other = G2::generator().serialize();
        assert!(matches!(decode_key(&other), Err(ParseError::Decode(DecodeError::NotOnCurve))));
    }

    #[test]
    fn identity_flags_and_lengths() {
        assert_eq!(encode_key(&G2::IDENTITY), [0; KEY_BYTES]);
        assert_eq!(decode_key(&[0; KEY_BYTES]), Err(ParseError::IdentityKey));
        assert_eq!(decode_signature(&[0; SIGNATURE_BYTES]), Ok(G1::IDENTITY));
        assert_eq!(encode_signature(&G1::IDENTITY), [0; SIGNATURE_BYTES]);
        for at in [0, 48, 96, 144] {
            let mut bytes = encode_key(&G2::generator());
            bytes[at] |= 0x40;
            assert!(decode_key(&bytes).is_err(), "{at}");
        }
        // The other encoding of the identity.
        let mut flagged = [0; KEY_BYTES];
        flagged[48] = 0x40;
        assert_eq!(decode_key(&flagged), Err(ParseError::Flags));
        for length in [0, 96, 191, 193] {
            assert!(matches!(decode_key(&vec![1; length]), Err(ParseError::Decode(DecodeError::Length { .. }))));
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
        assert_eq!(decode_signature(&bytes), Err(ParseError::NotInSubgroup));
    }
}
