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

use blst::{blst_p1_affine, blst_p2_affine};

use crate::backend::portable::{self, Curve, hash_to_curve::HashForSums};

/// A group of points that a back end can work on: [`G1`] or [`G2`]. Sealed.
pub trait Group: Copy + Eq + Hash + Debug + Send + Sync + 'static + sealed::Sealed<Affine: HashForSums> {
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
