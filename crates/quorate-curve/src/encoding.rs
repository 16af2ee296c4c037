//! The canonical bytes of points, and what can be wrong with them.
//!
//! A point is written as in the [ZCash
//! serialisation](https://www.ietf.org/archive/id/draft-irtf-cfrg-pairing-friendly-curves-11.html#name-zcash-serialization-format-)
//! (draft-irtf-cfrg-pairing-friendly-curves, appendix C). Coordinates are big-endian, and the imaginary part of an Fp2
//! element comes first. The top bits of the first byte are three flags: 0x80 compressed, 0x40 infinity, 0x20 the larger
//! y. Here every point has exactly one compressed and one uncompressed encoding. Other encodings are refused, even if
//! another library accepts them.
//!
//! One check finds every flaw that needs no arithmetic. A backend then only has to solve for y.

use crate::arithmetic::{BlstCurve, curve::GroupId};

/// Why bytes are not the canonical encoding of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The length is not that of the expected form.
    #[error("found {found} bytes, expected the {expected} bytes of a {group} point")]
    Length {
        /// "G1" or "G2".
        group: &'static str,
        /// The number of bytes of the expected form.
        expected: usize,
        /// The number of bytes found.
        found: usize,
    },
    /// All bytes are zero, as in a field that nobody filled in. The identity begins with a flag.
    #[error("all {bytes} bytes are zero, which encode no point")]
    Zeros {
        /// How many there are.
        bytes: usize,
    },
    /// The compression flag contradicts the expected form.
    #[error("the compression flag (0x80) is {}, expected the contrary for this form", if *set { "set" } else { "not set" })]
    CompressionFlag {
        /// Whether the flag was set in the bytes.
        set: bool,
    },
    /// The infinity flag stands beside other bits, or the sign flag beside an uncompressed point.
    #[error("the flags of the first byte ({byte:#04x}) contradict each other or the bytes that follow")]
    Flags {
        /// The first byte.
        byte: u8,
    },
    /// A coordinate is not below the field's modulus.
    #[error("coordinate {coordinate} is not below the field modulus")]
    NotCanonical {
        /// "x", "y", or their parts "x.c0", "x.c1", "y.c0", "y.c1".
        coordinate: &'static str,
    },
    /// No point of the curve has these coordinates.
    #[error("the point is not on the curve")]
    NotOnCurve,
}

/// What the flags of a well-formed encoding say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Infinity,
    Finite,
}

/// Checks the length, the flags and the range of every coordinate. The caller still has to check the curve equation.
///
/// `expected` is the length of the expected form: [`BlstCurve::COMPRESSED`] or [`BlstCurve::UNCOMPRESSED`].
pub(crate) fn check<C: BlstCurve>(bytes: &[u8], expected: usize) -> Result<Form, DecodeError> {
    if bytes.len() != expected {
        return Err(DecodeError::Length { group: C::ID.name(), expected, found: bytes.len() });
    }
    let first = bytes[0];
    let (compressed, infinity, sign) = (first & 0x80 != 0, first & 0x40 != 0, first & 0x20 != 0);
    if compressed != (expected == C::COMPRESSED) {
        if bytes.iter().all(|byte| *byte == 0) {
            return Err(DecodeError::Zeros { bytes: expected });
        }
        return Err(DecodeError::CompressionFlag { set: compressed });
    }
    if infinity {
        let only_flags = first & 0x3f == 0 && bytes[1..].iter().all(|b| *b == 0);
        return if only_flags { Ok(Form::Infinity) } else { Err(DecodeError::Flags { byte: first }) };
    }
    if sign && !compressed {
        return Err(DecodeError::Flags { byte: first });
    }
    for (i, coordinate) in bytes.chunks_exact(FP_BYTES).enumerate() {
        let top = if i == 0 { first & 0x1f } else { coordinate[0] };
        if (top, &coordinate[1..]) >= (MODULUS[0], &MODULUS[1..]) {
            return Err(DecodeError::NotCanonical { coordinate: coordinates(C::ID)[i] });
        }
    }
    Ok(Form::Finite)
}

/// Names of the parts of a point's coordinates, in the order of its bytes.
const fn coordinates(group: GroupId) -> &'static [&'static str] {
    match group {
        GroupId::G1 => &["x", "y"],
        GroupId::G2 => &["x.c1", "x.c0", "y.c1", "y.c0"],
    }
}

/// The number of bytes of an element of Fp.
pub(crate) const FP_BYTES: usize = 48;

/// The field modulus p, big-endian.
pub(crate) const MODULUS: [u8; FP_BYTES] = [
    0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac, 0xd7, 0x64, 0x77, 0x4b,
    0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6, 0x24, 0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53,
    0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa, 0xab,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Bls12381Group, G1, G2, Group};
    use alloc::vec::Vec;

    fn decode<G: Bls12381Group>(bytes: &[u8]) -> Result<G, DecodeError> {
        Backend::Portable.decode(bytes)
    }

    #[test]
    fn generator_round_trips_in_both_forms() {
        fn round_trip<G: Bls12381Group>() {
            let g = G::generator();
            assert_eq!(decode::<G>(g.compress().as_ref()), Ok(g));
            assert_eq!(Backend::Portable.decode_uncompressed::<G>(g.serialize().as_ref()), Ok(g));
        }
        round_trip::<G1>();
        round_trip::<G2>();
    }

    #[test]
    fn infinity_flags() {
        let mut bytes = [0u8; 48];
        bytes[0] = 0xc0;
        assert_eq!(decode::<G1>(&bytes), Ok(G1::IDENTITY));
        assert_eq!(G1::IDENTITY.compress().as_ref(), &bytes);
        for (place, value, first) in [(0, 0xe0, 0xe0), (0, 0xc1, 0xc1), (47, 1, 0xc0), (20, 0x80, 0xc0)] {
            let mut bad = bytes;
            bad[place] = value;
            assert_eq!(decode::<G1>(&bad), Err(DecodeError::Flags { byte: first }), "byte {place} = {value:#x}");
        }
        bytes[0] = 0x40;
        assert_eq!(decode::<G1>(&bytes), Err(DecodeError::CompressionFlag { set: false }));
        bytes[0] = 0;
        assert_eq!(decode::<G1>(&bytes), Err(DecodeError::Zeros { bytes: 48 }));
        assert_eq!(decode::<G2>(&[0; 96]), Err(DecodeError::Zeros { bytes: 96 }));
    }

    /// (0, ±2) are points of the curve, of order 3. blst's own decoder refuses them.
    #[test]
    fn points_with_x_zero_decode_and_are_not_members() {
        for first in [0x80, 0xa0] {
            let mut bytes = [0u8; 48];
            bytes[0] = first;
            let point = decode::<G1>(&bytes).unwrap();
            assert!(!point.is_identity() && !Backend::Portable.in_subgroup(&[point])[0]);
            assert_eq!(point.compress(), bytes);
            assert_eq!(Backend::Portable.decode_uncompressed::<G1>(&point.serialize()), Ok(point));
            assert!(Backend::Portable.sum(&[point, point, point]).is_identity());
            assert_eq!(Backend::Portable.sum(&[point, G1::IDENTITY]), point);
        }
    }

    #[test]
    fn lengths() {
        for n in [0, 1, 47, 49, 96, 97] {
            let bytes: Vec<u8> = core::iter::repeat_n(0x80, n).collect();
            assert_eq!(decode::<G1>(&bytes), Err(DecodeError::Length { group: "G1", expected: 48, found: n }));
        }
    }

    #[test]
    fn non_canonical_x() {
        let mut p = MODULUS;
        p[0] |= 0x80;
        assert_eq!(decode::<G1>(&p), Err(DecodeError::NotCanonical { coordinate: "x" }));
        let mut p_minus_one = p;
        p_minus_one[47] -= 1;
        assert_ne!(decode::<G1>(&p_minus_one), Err(DecodeError::NotCanonical { coordinate: "x" }));

        let mut g2 = [0u8; 96];
        g2[..48].copy_from_slice(&p);
        assert_eq!(decode::<G2>(&g2), Err(DecodeError::NotCanonical { coordinate: "x.c1" }));
        g2 = [0u8; 96];
        g2[0] = 0x80;
        g2[48..].copy_from_slice(&MODULUS);
        assert_eq!(decode::<G2>(&g2), Err(DecodeError::NotCanonical { coordinate: "x.c0" }));
    }

    #[test]
    fn uncompressed_flags_and_curve_equation() {
        let good = G1::generator().serialize();
        let mut bad = good;
        bad.as_mut()[0] |= 0x20;
        let got = Backend::Portable.decode_uncompressed::<G1>(bad.as_ref());
        assert!(matches!(got, Err(DecodeError::Flags { .. })), "{got:?}");
        bad = good;
        bad.as_mut()[95] ^= 1;
        assert_eq!(Backend::Portable.decode_uncompressed::<G1>(bad.as_ref()), Err(DecodeError::NotOnCurve));
    }
}
