//! G1 and G2: affine points on their curves.
//!
//! `G1` is a point of E(Fp): y² = x³ + 4, and `G2` one of its twist E'(Fp2): y² = x³ + 4(1 + i), in affine coordinates,
//! the identity included. Neither type promises membership of the subgroup of order r: [`Backend::in_subgroup`] tells,
//! and the engine's types remember the answer.
//!
//! [`Backend::in_subgroup`]: crate::Backend::in_subgroup

use core::{
    fmt::{self, Debug},
    hash::{Hash, Hasher},
};

use blst::{blst_fp, blst_p1_affine, blst_p2_affine};

use crate::backend::{
    InBackends,
    portable::{self, Curve},
};

/// A group of points that a back end can work on: [`G1`] or [`G2`]. Sealed.
pub trait Group: Copy + Eq + Hash + Debug + Send + Sync + 'static + sealed::Sealed<Affine: InBackends> {
    /// "G1" or "G2".
    const NAME: &'static str;
    /// Bytes of a compressed point.
    const COMPRESSED: usize;
    /// Bytes of an uncompressed point.
    const UNCOMPRESSED: usize;
    /// The identity, the point at infinity.
    const IDENTITY: Self;
    /// Names of the 48-byte parts of an uncompressed point, in order.
    #[doc(hidden)]
    const COORDINATES: &'static [&'static str];
    /// `[u8; COMPRESSED]`.
    type Compressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + Ord + Hash + Debug + Send + Sync;
    /// `[u8; UNCOMPRESSED]`.
    type Uncompressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + Debug;

    /// The generator that the IETF drafts fix.
    fn generator() -> Self;

    /// Whether this is the point at infinity.
    fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// The point with the opposite y.
    #[must_use]
    fn negate(self) -> Self {
        Self::wrap(portable::negate(self.inner()))
    }

    /// The canonical compressed encoding.
    fn compress(&self) -> Self::Compressed;

    /// The canonical uncompressed encoding.
    fn serialize(&self) -> Self::Uncompressed;
}

pub(crate) mod sealed {
    /// What only this crate may know of a group: the representation it shares with blst.
    pub trait Sealed: Sized {
        type Affine;
        fn inner(self) -> Self::Affine;
        fn wrap(inner: Self::Affine) -> Self;
        fn slice(points: &[Self]) -> &[Self::Affine];
    }
}

macro_rules! group {
    ($(#[$doc:meta])* $name:ident, $affine:ident, $compressed:literal, $names:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $name($affine);

        impl Group for $name {
            const NAME: &'static str = stringify!($name);
            const COMPRESSED: usize = $compressed;
            const UNCOMPRESSED: usize = 2 * $compressed;
            const IDENTITY: Self = Self(<$affine as Curve>::IDENTITY);
            const COORDINATES: &'static [&'static str] = &$names;
            type Compressed = [u8; $compressed];
            type Uncompressed = [u8; 2 * $compressed];

            fn generator() -> Self {
                Self(<$affine as Curve>::generator())
            }

            fn compress(&self) -> Self::Compressed {
                let mut bytes = [0; $compressed];
                self.0.compress_into(&mut bytes);
                bytes
            }

            fn serialize(&self) -> Self::Uncompressed {
                let mut bytes = [0; 2 * $compressed];
                self.0.serialize_into(&mut bytes);
                bytes
            }
        }

        impl sealed::Sealed for $name {
            type Affine = $affine;
            fn inner(self) -> $affine {
                self.0
            }
            fn wrap(inner: $affine) -> Self {
                Self(inner)
            }
            fn slice(points: &[Self]) -> &[$affine] {
                // SAFETY: the type is a transparent wrapper of its only field.
                unsafe { core::slice::from_raw_parts(points.as_ptr().cast(), points.len()) }
            }
        }

        impl Hash for $name {
            /// By the first limb of x, which is canonical (coordinates are kept fully reduced) and as good as random.
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u64(self.0.first_limb());
            }
        }

        impl Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "("))?;
                self.compress().iter().try_for_each(|b| write!(f, "{b:02x}"))?;
                write!(f, ")")
            }
        }
    };
}

group!(
    /// A point of E(Fp), affine. 48 bytes compressed.
    G1,
    blst_p1_affine,
    48,
    ["x", "y"]
);
group!(
    /// A point of the twist E'(Fp2), affine. 96 bytes compressed.
    G2,
    blst_p2_affine,
    96,
    ["x.c1", "x.c0", "y.c1", "y.c0"]
);

impl G1 {
    /// (1/h)·g1, where h· clears the cofactor of G2 (h is h_eff of RFC 9380, section 8.8.2) and 1/h is its inverse modulo r.
    ///
    /// For Q that is to be cleared, e((1/h)·g1, h·Q) takes the place of e(g1, Q): beside hashes that stand uncleared in
    /// a product of [`Pairing::TwistedAte`], this is the generator beside the signatures.
    ///
    /// [`Pairing::TwistedAte`]: crate::Pairing::TwistedAte
    pub fn generator_over_cofactor() -> Self {
        Self(GENERATOR_OVER_COFACTOR)
    }
}

/// In Montgomery form. Compressed: 0x93f8a03c…6da6330591b7033fbe70e43fed25305d2b0a09bb8.
const GENERATOR_OVER_COFACTOR: blst_p1_affine = blst_p1_affine {
    x: blst_fp {
        l: [
            0xce6e_c6a9_88e5_709f,
            0x725a_e6b1_6235_d4da,
            0x0741_130b_5eb5_b051,
            0x9221_0fb4_1b12_fc94,
            0x47dd_abb7_8ed7_e63a,
            0x1429_92d0_2bc6_f546,
        ],
    },
    y: blst_fp {
        l: [
            0x2bd0_45b7_1127_f37f,
            0x718a_c631_111b_2a8a,
            0xc665_bd07_5e2b_6c5e,
            0xebea_1f47_cafd_143c,
            0x230b_823e_9c05_8bb8,
            0x0ae9_7a13_76b0_da6c,
        ],
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;

    /// h_eff, big-endian.
    const CLEARING: &str = "bc69f08f2ee75b3584c6a0ea91b352888e2a8e9145ad7689986ff031508ffe1329c2f178731db956d82bf015d121\
         2b02ec0ec69d7477c1ae954cbc06689f6a359894c0adebbf6b4e8020005aaa95551";

    fn cleared<G: Group>(point: G) -> G {
        CLEARING.chars().fold(G::IDENTITY, |sum, digit| {
            let sixteen = (0..4).fold(sum, |sum, _| Backend::Portable.sum(&[sum, sum]));
            let digit = digit.to_digit(16).unwrap() as usize;
            Backend::Portable.sum(&[alloc::vec![point; digit], alloc::vec![sixteen]].concat())
        })
    }

    #[test]
    fn clearing_the_generator_over_the_cofactor_gives_the_generator() {
        assert!(Backend::Portable.in_subgroup(&[G1::generator_over_cofactor()])[0]);
        assert_eq!(cleared(G1::generator_over_cofactor()), G1::generator());
    }

    /// The constant goes with what `clear_sums` does to hashes.
    #[test]
    fn generator_over_cofactor_belongs_to_clear_sums() {
        let b = Backend::Portable;
        let uncleared: G2 = b.hash_for_sums(b"group", &[(b"", b"m")])[0];
        assert!(!b.in_subgroup(&[uncleared])[0]);
        let hash = b.clear_sums(&[uncleared])[0];
        assert_eq!(cleared(uncleared), hash);
        let twice = b.clear_sums(&[hash])[0];
        let product = b.miller_product(&[(G1::generator_over_cofactor().negate(), twice), (G1::generator(), hash)]);
        assert!(b.final_exponentiation(product).is_one());
    }
}
