//! Points of the curves, with one trait for all of them, and blst's operations on those of BLS12-381, made safe.
//!
//! Every function of blst below passes valid references and lengths. Every point lies on its curve, because the crate makes
//! points only by decoding, hashing and adding. The additions are blst's complete ones (`add_or_double`).

use alloc::vec::Vec;
use core::{fmt, ptr};

use blst::*;

use super::field::{BlstField, Field};

/// An affine point of a curve or of its twist. (0, 0) stands for the identity. The additions are complete.
pub trait Curve: Copy + Eq + 'static {
    /// A point in Jacobian coordinates: (X/Z², Y/Z³).
    type Jacobian: Copy + Default;
    /// An element of the coordinate field.
    type Field: Field;

    const ID: GroupId;
    const IDENTITY: Self;
    /// The number of points from which short weighted sums are computed in step, with affine additions that share inversions.
    const SUMMED_IN_STEP_FROM: usize;

    fn generator() -> Self;
    fn at(x: Self::Field, y: Self::Field) -> Self;
    fn x(&self) -> Self::Field;
    fn y(&self) -> Self::Field;
    /// One in the coordinate field.
    fn one() -> Self::Field;
    fn in_subgroup(&self) -> bool;

    /// Multiplies x by β^turn, where (βx, y) = λ·(x, y) on the subgroup of order r.
    fn turn_field(x: Self::Field, turn: u8) -> Self::Field;

    fn to_jacobian(&self) -> Self::Jacobian;
    fn to_affine(points: &[Self::Jacobian]) -> Vec<Self>;
    fn double(point: &Self::Jacobian) -> Self::Jacobian;
    fn add_affine(a: &Self::Jacobian, b: &Self) -> Self::Jacobian;
    /// (x, -y) if `negative`.
    fn signed(self, negative: bool) -> Self;

    /// Whether this is (0, 0).
    fn is_identity(&self) -> bool {
        self.x().is_zero() && self.y().is_zero()
    }

    /// ω^turn · self.
    fn turned(self, turn: u8) -> Self {
        if turn == 0 { self } else { Self::at(Self::turn_field(self.x(), turn), self.y()) }
    }
}

/// A point of BLS12-381: of E(Fp) or of its twist.
pub trait BlstCurve: Curve<Field: BlstField> {
    /// The number of bytes of a compressed point.
    const COMPRESSED: usize = size_of::<Self::Field>();
    /// The number of bytes of an uncompressed point.
    const UNCOMPRESSED: usize = 2 * Self::COMPRESSED;

    fn compress_into(&self, bytes: &mut [u8]);
    fn serialize_into(&self, bytes: &mut [u8]);
    /// Solves the curve equation for y. The answer is `None` if it has no solution. The caller has checked length and
    /// flags.
    fn uncompress(bytes: &[u8]) -> Option<Self>;
    /// Checks the curve equation. The answer is `None` if it does not hold. The caller has checked length and flags.
    fn deserialize(bytes: &[u8]) -> Option<Self>;
    fn hash(message: &[u8], dst: &[u8], prefix: &[u8]) -> Self::Jacobian;
    /// `encode_to_curve` in place of `hash_to_curve`: one map in place of two.
    fn encode(message: &[u8], dst: &[u8], prefix: &[u8]) -> Self::Jacobian;
    fn to_affine_one(point: &Self::Jacobian) -> Self;
    fn add(a: &Self::Jacobian, b: &Self::Jacobian) -> Self::Jacobian;
    /// scalar·P for a point of the subgroup of order r; a little-endian scalar of 256 bits.
    fn times(point: &Self::Jacobian, scalar: &[u8; 32]) -> Self::Jacobian;
    /// The sum of finite points, by blst's batches of additions.
    fn sum_of_finite(points: &[&Self]) -> Self::Jacobian;
    /// Σ scalar·P over finite points, by blst's Pippenger; little-endian scalars of 256 bits, at least one.
    fn multi_scalar_sum(points: &[Self], scalars: &[[u8; 32]]) -> Self::Jacobian;
}

/// One of the two groups, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupId {
    /// The subgroup of E(Fp). A compressed point has 48 bytes.
    G1,
    /// The subgroup of the twist E'(Fp2). A compressed point has 96 bytes.
    G2,
}

impl GroupId {
    /// "G1" or "G2".
    pub const fn name(self) -> &'static str {
        match self {
            Self::G1 => "G1",
            Self::G2 => "G2",
        }
    }
}

impl fmt::Display for GroupId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// |z|, the absolute value of the curve's parameter.
pub(crate) const PARAMETER: u64 = 0xd201_0000_0001_0000;

/// The two cube roots of one in Fp besides one, in Montgomery form. The first is
/// 0x5f19672fdf76ce51ba69c6076a0f77eaddb3a93be6f89688de17d813620a00022e01fffffffefffe, and the second is its square.
const CUBE_ROOTS: [blst_fp; 2] = [
    blst_fp {
        l: [
            0x30f1_361b_798a_64e8,
            0xf3b8_ddab_7ece_5a2a,
            0x16a8_ca3a_c615_77f7,
            0xc26a_2ff8_74fd_029b,
            0x3636_b766_6070_1c6e,
            0x051b_a4ab_241b_6160,
        ],
    },
    blst_fp {
        l: [
            0xcd03_c9e4_8671_f071,
            0x5dab_2246_1fcd_a5d2,
            0x5870_42af_d385_1b95,
            0x8eb6_0ebe_01ba_cb9e,
            0x03f9_7d6e_83d0_50d2,
            0x18f0_2065_5463_8741,
        ],
    },
];

macro_rules! curve {
    ($affine:ident, $jacobian:ident, $field:ident, $id:ident, $zero:expr, $one:expr, $beta:literal, $generator:ident, $compress:ident,
     $serialize:ident, $uncompress:ident, $deserialize:ident, $in_subgroup:ident, $hash:ident, $encode:ident, $from_affine:ident,
     $to_affine:ident, $to_affine_one:ident, $double:ident, $add:ident, $add_affine:ident, $mult:ident, $negate_field:ident, $sum:ident,
     $pippenger:ident, $pippenger_scratch:ident) => {
        // SAFETY, for every block below: the head of this file says why the arguments are valid.
        impl Curve for $affine {
            type Jacobian = $jacobian;
            type Field = $field;

            const ID: GroupId = GroupId::$id;
            const IDENTITY: Self = $affine { x: $zero, y: $zero };
            const SUMMED_IN_STEP_FROM: usize = 16;

            fn generator() -> Self {
                // SAFETY: blst returns a pointer to a constant.
                unsafe { *$generator() }
            }

            fn x(&self) -> $field {
                self.x
            }

            #[inline]
            fn at(x: $field, y: $field) -> Self {
                Self { x, y }
            }

            #[inline]
            fn y(&self) -> $field {
                self.y
            }

            fn one() -> $field {
                $one
            }

            fn in_subgroup(&self) -> bool {
                // SAFETY: a valid reference.
                unsafe { $in_subgroup(self) }
            }

            fn turn_field(x: $field, turn: u8) -> $field {
                if turn == 0 { x } else { x.times_fp(&CUBE_ROOTS[(turn as usize - 1) ^ $beta]) }
            }

            fn to_jacobian(&self) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: valid references.
                unsafe { $from_affine(&mut out, self) };
                out
            }

            fn to_affine(points: &[$jacobian]) -> Vec<Self> {
                let mut out = alloc::vec![Self::IDENTITY; points.len()];
                if !points.is_empty() {
                    // A null pointer after the first says that the points follow each other.
                    let pointers = [points.as_ptr(), ptr::null()];
                    // SAFETY: `out` is as long as `points`.
                    unsafe { $to_affine(out.as_mut_ptr(), pointers.as_ptr(), points.len()) };
                }
                out
            }

            fn double(point: &$jacobian) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: valid references.
                unsafe { $double(&mut out, point) };
                out
            }

            fn add_affine(a: &$jacobian, b: &Self) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: valid references.
                unsafe { $add_affine(&mut out, a, b) };
                out
            }

            fn signed(self, negative: bool) -> Self {
                let mut out = self;
                // SAFETY: valid references; the function allows its output to be its input.
                unsafe { $negate_field(&mut out.y, &self.y, negative) };
                out
            }
        }

        impl BlstCurve for $affine {
            fn compress_into(&self, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), size_of::<$field>());
                // SAFETY: the length was just checked.
                unsafe { $compress(bytes.as_mut_ptr(), self) }
            }

            fn serialize_into(&self, bytes: &mut [u8]) {
                assert_eq!(bytes.len(), size_of::<$affine>());
                // SAFETY: the length was just checked.
                unsafe { $serialize(bytes.as_mut_ptr(), self) }
            }

            fn uncompress(bytes: &[u8]) -> Option<Self> {
                assert_eq!(bytes.len(), size_of::<$field>());
                let mut point = Self::IDENTITY;
                // SAFETY: the length was just checked.
                let result = unsafe { $uncompress(&mut point, bytes.as_ptr()) };
                on_curve(result).then_some(point)
            }

            fn deserialize(bytes: &[u8]) -> Option<Self> {
                assert_eq!(bytes.len(), size_of::<$affine>());
                let mut point = Self::IDENTITY;
                // SAFETY: the length was just checked.
                let result = unsafe { $deserialize(&mut point, bytes.as_ptr()) };
                on_curve(result).then_some(point)
            }

            fn hash(message: &[u8], dst: &[u8], prefix: &[u8]) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: three slices with their lengths.
                unsafe {
                    $hash(
                        &mut out,
                        message.as_ptr(),
                        message.len(),
                        dst.as_ptr(),
                        dst.len(),
                        prefix.as_ptr(),
                        prefix.len(),
                    )
                };
                out
            }

            fn encode(message: &[u8], dst: &[u8], prefix: &[u8]) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: three slices with their lengths.
                unsafe {
                    $encode(
                        &mut out,
                        message.as_ptr(),
                        message.len(),
                        dst.as_ptr(),
                        dst.len(),
                        prefix.as_ptr(),
                        prefix.len(),
                    )
                };
                out
            }

            fn to_affine_one(point: &$jacobian) -> Self {
                let mut out = Self::IDENTITY;
                // SAFETY: valid references.
                unsafe { $to_affine_one(&mut out, point) };
                out
            }

            fn add(a: &$jacobian, b: &$jacobian) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: valid references.
                unsafe { $add(&mut out, a, b) };
                out
            }

            fn times(point: &$jacobian, scalar: &[u8; 32]) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: valid references, and as many bits as the scalar has.
                unsafe { $mult(&mut out, point, scalar.as_ptr(), 256) };
                out
            }

            fn sum_of_finite(points: &[&Self]) -> $jacobian {
                let mut out = $jacobian::default();
                // SAFETY: as many references as the length says, which are pointers to blst.
                unsafe { $sum(&mut out, points.as_ptr().cast(), points.len()) };
                out
            }

            fn multi_scalar_sum(points: &[Self], scalars: &[[u8; 32]]) -> $jacobian {
                assert!(points.len() == scalars.len() && !points.is_empty());
                // A null pointer after the first says that the items follow each other.
                let point_pointers = [points.as_ptr(), ptr::null()];
                let scalar_pointers = [scalars.as_ptr().cast::<u8>(), ptr::null()];
                let mut out = $jacobian::default();
                // SAFETY: as many points as scalars, which was just checked; the scratch space is as long as blst asks.
                unsafe {
                    let mut scratch = alloc::vec![0u64; $pippenger_scratch(points.len()).div_ceil(8)];
                    $pippenger(
                        &mut out,
                        point_pointers.as_ptr(),
                        points.len(),
                        scalar_pointers.as_ptr(),
                        256,
                        scratch.as_mut_ptr(),
                    );
                }
                out
            }
        }
    };
}

/// Whether the point is on its curve. For a point with x = 0 blst's decoder answers that it is outside the subgroup,
/// which is true, but here the subgroup check says so later.
fn on_curve(result: BLST_ERROR) -> bool {
    matches!(result, BLST_ERROR::BLST_SUCCESS | BLST_ERROR::BLST_POINT_NOT_IN_GROUP)
}

/// 2^384 mod p: one in Montgomery form.
pub(crate) const ONE: blst_fp = blst_fp {
    l: [
        0x7609_0000_0002_fffd,
        0xebf4_000b_c40c_0002,
        0x5f48_9857_53c7_58ba,
        0x77ce_5853_7052_5745,
        0x5c07_1a97_a256_ec6d,
        0x15f6_5ec3_fa80_e493,
    ],
};
pub(crate) const ZERO: blst_fp = blst_fp { l: [0; 6] };

curve!(
    blst_p1_affine,
    blst_p1,
    blst_fp,
    G1,
    ZERO,
    ONE,
    0,
    blst_p1_affine_generator,
    blst_p1_affine_compress,
    blst_p1_affine_serialize,
    blst_p1_uncompress,
    blst_p1_deserialize,
    blst_p1_affine_in_g1,
    blst_hash_to_g1,
    blst_encode_to_g1,
    blst_p1_from_affine,
    blst_p1s_to_affine,
    blst_p1_to_affine,
    blst_p1_double,
    blst_p1_add_or_double,
    blst_p1_add_or_double_affine,
    blst_p1_mult,
    blst_fp_cneg,
    blst_p1s_add,
    blst_p1s_mult_pippenger,
    blst_p1s_mult_pippenger_scratch_sizeof
);
curve!(
    blst_p2_affine,
    blst_p2,
    blst_fp2,
    G2,
    blst_fp2 { fp: [ZERO, ZERO] },
    blst_fp2 { fp: [ONE, ZERO] },
    1,
    blst_p2_affine_generator,
    blst_p2_affine_compress,
    blst_p2_affine_serialize,
    blst_p2_uncompress,
    blst_p2_deserialize,
    blst_p2_affine_in_g2,
    blst_hash_to_g2,
    blst_encode_to_g2,
    blst_p2_from_affine,
    blst_p2s_to_affine,
    blst_p2_to_affine,
    blst_p2_double,
    blst_p2_add_or_double,
    blst_p2_add_or_double_affine,
    blst_p2_mult,
    blst_fp2_cneg,
    blst_p2s_add,
    blst_p2s_mult_pippenger,
    blst_p2s_mult_pippenger_scratch_sizeof
);
