//! The groups of points: G1 and G2 of each curve, as affine points.
//!
//! On BLS12-381 [`G1`] is a point of E(Fp): y² = x³ + 4, and [`G2`] is a point of its twist E'(Fp2): y² = x³ + 4(1 + i). Both are
//! affine and include the identity. Neither type promises membership of the subgroup of order r. [`Backend::in_subgroup`]
//! checks it, and the engine's types remember the answer.
//!
//! [`Backend::in_subgroup`]: crate::Backend::in_subgroup

use core::{
    cmp::Ordering,
    fmt::{self, Debug, Display},
    hash::{Hash, Hasher},
};

use blst::{blst_fp, blst_fp2, blst_p1_affine, blst_p2_affine};

pub use crate::arithmetic::curve::GroupId;
pub(crate) use crate::backend::lanes::hash_to_curve::HashInLanes as InBackends;
use crate::{
    arithmetic::{BlstCurve, Curve, field::BlstField},
    backend::{choice::Backend, portable},
    encoding::DecodeError,
    pairing::{Bls12381, CurveId, Gt, MillerValue, Pairing, sealed::Target},
    segments::{Cut, Segments, WeightedCut, WeightedSegments},
};

/// A curve with a pairing: its two groups, and what the verbs of [`Backend`] do with pairs of their points. The trait is sealed.
pub trait PairingCurve: Copy + Eq + Hash + Debug + Send + Sync + 'static + Target {
    /// The curve as a value, for rules and costs that differ between curves.
    const ID: CurveId;
    /// The first group.
    type G1: Group<Curve = Self>;
    /// The second group, on the twist.
    type G2: Group<Curve = Self>;

    /// The backend that computes on this curve when a caller has chosen one: the same one if it knows the curve, else
    /// [`Backend::Portable`].
    fn backend(chosen: Backend) -> Backend;

    #[doc(hidden)]
    fn miller_products(
        backend: Backend,
        pairing: Pairing,
        pairs: &Segments<(Self::G1, Self::G2)>,
    ) -> alloc::vec::Vec<MillerValue<Self>>;

    #[doc(hidden)]
    fn miller_product(backend: Backend, pairs: &[(Self::G1, Self::G2)]) -> MillerValue<Self>;

    #[doc(hidden)]
    fn final_exponentiations(backend: Backend, values: &[MillerValue<Self>]) -> alloc::vec::Vec<Gt<Self>>;

    #[doc(hidden)]
    fn pairs_to_one<const N: usize>(backend: Backend, pairs: &[(Self::G1, Self::G2); N]) -> bool;
}

/// A group of points that the backends can compute with. The trait is sealed.
pub trait Group:
    Copy + Eq + Hash + Debug + Send + Sync + 'static + sealed::Sealed<Affine: Curve> + sealed::Verbs
{
    /// The curve.
    type Curve: PairingCurve;
    /// The group as a value, for rules that differ between the two.
    const ID: GroupId;
    /// "G1" or "G2".
    const NAME: &'static str = Self::ID.name();
    /// Whether every point of the curve is in the subgroup of order r, because the cofactor is 1.
    const IS_WHOLE_CURVE: bool = false;
    /// The identity, the point at infinity.
    const IDENTITY: Self;

    /// The generator that all implementations of the curve have.
    fn generator() -> Self;

    /// Whether this is the point at infinity.
    fn is_identity(&self) -> bool {
        *self == Self::IDENTITY
    }

    /// The point with the opposite y.
    #[must_use]
    fn negate(self) -> Self {
        Self::wrap(self.inner().signed(true))
    }
}

/// A group of BLS12-381: [`G1`] or [`G2`].
pub trait Bls12381Group:
    Group<Curve = Bls12381> + Ord + Display + sealed::Sealed<Affine: InBackends> + sealed::Bls12381Verbs
{
    /// The number of bytes of a compressed point.
    const COMPRESSED: usize;
    /// The number of bytes of an uncompressed point.
    const UNCOMPRESSED: usize;
    /// `[u8; COMPRESSED]`.
    type Compressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + Ord + Hash + Debug + Send + Sync;
    /// `[u8; UNCOMPRESSED]`.
    type Uncompressed: AsRef<[u8]> + AsMut<[u8]> + Copy + Eq + Debug;
    /// The same point in the crate `blst`: `blst_p1_affine` or `blst_p2_affine`.
    type Blst: Copy;

    /// The generator divided by h modulo r, where multiplication by h clears the cofactor of the *other* group (h_eff
    /// of RFC 9380, sections 8.8.1 and 8.8.2).
    ///
    /// For a point Q of the other curve, e(g/h, h·Q) = e(g, Q). If a product of pairings takes uncleared hashes
    /// ([`Backend::pairs_uncleared`]), this generator takes the place of g beside the signatures.
    ///
    /// [`Backend::pairs_uncleared`]: crate::Backend::pairs_uncleared
    fn generator_over_cofactor() -> Self;

    /// Takes a point of the crate `blst` without looking at it. Its coordinates must be below the field modulus and on
    /// the curve, or both zero for the identity, as `blst`'s own decoders make them. Of other coordinates nothing can be
    /// said but that no memory is misused.
    ///
    /// To read a point that nobody has checked, decode its bytes: [`Backend::decode`](crate::Backend::decode).
    fn from_blst_assuming_on_curve(point: Self::Blst) -> Self;

    /// The point as the crate `blst` has it.
    fn to_blst(self) -> Self::Blst;

    /// The canonical compressed encoding.
    fn compress(&self) -> Self::Compressed;

    /// The canonical uncompressed encoding.
    fn serialize(&self) -> Self::Uncompressed;
}

pub(crate) mod sealed {
    use alloc::{boxed::Box, vec::Vec};

    use crate::{
        backend::{
            choice::Backend,
            lanes::{members::RandomTrits, stored::PointStore},
        },
        encoding::DecodeError,
        scalar::Scalar,
        segments::{Segments, UncheckedSegments, WeightedSegments},
        weight::Soundness,
    };

    /// How the backends see a point of the group, which only this crate sees.
    pub trait Sealed: Sized {
        type Affine;
        fn inner(self) -> Self::Affine;
        fn wrap(inner: Self::Affine) -> Self;
        fn slice(points: &[Self]) -> &[Self::Affine];
    }

    /// What the verbs of [`Backend`] do, under their names.
    pub trait Verbs: Sealed {
        fn in_subgroup(backend: Backend, points: &[Self]) -> Vec<bool>;
        fn all_in_subgroup(backend: Backend, points: &[Self], random: &[RandomTrits]) -> bool;
        fn is_member(backend: Backend, point: &Self) -> bool;
        fn sums_members_from(backend: Backend, soundness: Soundness) -> Option<usize>;
        fn sum(backend: Backend, points: &[Self]) -> Self;
        fn sums(backend: Backend, points: &Segments<Self>) -> Vec<Self>;
        fn store(backend: Backend) -> Box<dyn PointStore<Self::Affine>>;
        fn weighted_sums(backend: Backend, points: &WeightedSegments<Self>) -> Vec<Self>;
        fn weighted_sums_of_members(
            backend: Backend,
            points: &UncheckedSegments<Self>,
            soundness: Soundness,
        ) -> Option<Vec<Self>>;
    }

    /// The same for the verbs that only BLS12-381 has.
    pub trait Bls12381Verbs: Sized {
        fn decode_each(backend: Backend, encodings: &[&[u8]]) -> Vec<Result<Self, DecodeError>>;
        fn decode_uncompressed_each(backend: Backend, encodings: &[&[u8]]) -> Vec<Result<Self, DecodeError>>;
        fn hash_to_curve(backend: Backend, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self>;
        fn hash_to_curve_one(backend: Backend, dst: &[u8], message: (&[u8], &[u8])) -> Self;
        fn encode_to_curve_one(dst: &[u8], message: (&[u8], &[u8])) -> Self;
        fn hash_for_sums(backend: Backend, dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self>;
        fn clear_sums(backend: Backend, sums: &[Self]) -> Vec<Self>;
        fn msm(backend: Backend, terms: &[(Self, Scalar)]) -> Self;
        fn multiples(backend: Backend, points: &[Self], scalars: &[Scalar]) -> Vec<Self>;
        fn short_msm(terms: &[(Self, i64)]) -> Self;
    }
}

/// The points of segments, as the backends take them.
pub(crate) fn cut<G: Group>(points: &Segments<G>) -> Cut<'_, G::Affine> {
    Cut::new(G::slice(points.items()), points.cut().ends())
}

/// The points of weighted segments, as the backends take them.
pub(crate) fn weighted_cut<G: Group>(points: &WeightedSegments<G>) -> WeightedCut<'_, G::Affine> {
    WeightedCut::new(cut(points.points()), points.weights())
}

macro_rules! group {
    ($(#[$doc:meta])* $name:ident, $affine:ident, $compressed:literal, $over_cofactor:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(transparent)]
        pub struct $name($affine);

        impl Group for $name {
            type Curve = Bls12381;
            const ID: GroupId = <$affine as Curve>::ID;
            const IDENTITY: Self = Self(<$affine as Curve>::IDENTITY);

            fn generator() -> Self {
                Self(<$affine as Curve>::generator())
            }
        }

        impl Bls12381Group for $name {
            const COMPRESSED: usize = <$affine as BlstCurve>::COMPRESSED;
            const UNCOMPRESSED: usize = <$affine as BlstCurve>::UNCOMPRESSED;
            type Compressed = [u8; $compressed];
            type Uncompressed = [u8; 2 * $compressed];
            type Blst = $affine;

            fn from_blst_assuming_on_curve(point: $affine) -> Self {
                Self(point)
            }

            fn to_blst(self) -> $affine {
                self.0
            }

            fn generator_over_cofactor() -> Self {
                Self($over_cofactor)
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
            /// Hashes every limb of both coordinates, which are always fully reduced. If a limb were left out, a sender
            /// could choose points that all have the same hash.
            fn hash<H: Hasher>(&self, state: &mut H) {
                for part in self.0.x().parts().iter().chain(self.0.y().parts()) {
                    u64::hash_slice(&part.l, state);
                }
            }
        }

        impl Ord for $name {
            /// Compares the compressed encodings, and computes both for each comparison.
            fn cmp(&self, other: &Self) -> Ordering {
                self.compress().cmp(&other.compress())
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl TryFrom<&[u8]> for $name {
            type Error = DecodeError;

            /// Decodes a compressed point: canonical, on the curve, not necessarily in the subgroup.
            ///
            /// [`Backend::Portable`](crate::Backend::Portable) decodes it, the fastest backend for a single point. To
            /// decode many points, use [`Backend::decode_each`](crate::Backend::decode_each).
            fn try_from(bytes: &[u8]) -> Result<Self, DecodeError> {
                portable::encoding::decode(bytes).map(Self)
            }
        }

        impl Display for $name {
            /// The compressed encoding in lower-case hexadecimal digits.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.compress().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }

        impl Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    };
}

group!(
    /// An affine point of E(Fp). 48 bytes compressed.
    G1,
    blst_p1_affine,
    48,
    G1_GENERATOR_OVER_COFACTOR
);
group!(
    /// An affine point of the twist E'(Fp2). 96 bytes compressed.
    G2,
    blst_p2_affine,
    96,
    G2_GENERATOR_OVER_COFACTOR
);

/// In Montgomery form. Compressed: 0x93f8a03c…6da6330591b7033fbe70e43fed25305d2b0a09bb8.
const G1_GENERATOR_OVER_COFACTOR: blst_p1_affine = blst_p1_affine {
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

/// In Montgomery form.
const G2_GENERATOR_OVER_COFACTOR: blst_p2_affine = blst_p2_affine {
    x: blst_fp2 {
        fp: [
            blst_fp {
                l: [
                    0x12c4_f6ab_3be2_1ca2,
                    0x7fa6_6140_d415_6497,
                    0x271f_f387_0f73_add1,
                    0x14ad_0b57_1d95_916d,
                    0xbf3f_2f0d_7166_1b3f,
                    0x0272_e7e6_00a4_bd85,
                ],
            },
            blst_fp {
                l: [
                    0xca74_9956_0a30_116f,
                    0xcda8_408d_508d_2694,
                    0x1c16_49cd_fcc6_0119,
                    0x2c63_6de8_9c9a_7ea3,
                    0xbc5e_a12b_f782_76f1,
                    0x0ded_ee5f_030c_6de1,
                ],
            },
        ],
    },
    y: blst_fp2 {
        fp: [
            blst_fp {
                l: [
                    0x07da_94eb_8f4f_8c51,
                    0x2624_e9ef_c1eb_c734,
                    0x2735_a761_e57c_3825,
                    0x9595_b169_9800_d5d1,
                    0xf461_b394_6457_3eb4,
                    0x0273_44c5_43ee_fb4a,
                ],
            },
            blst_fp {
                l: [
                    0x1752_f2d6_aa94_af50,
                    0xd831_5b61_3465_f46f,
                    0xf3d4_d062_6b01_2605,
                    0xfbcb_cf57_073c_23e3,
                    0xbfba_5db3_de38_0743,
                    0x0268_6a42_499b_e92a,
                ],
            },
        ],
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Pairing, Segments};
    use alloc::{string::String, vec::Vec};
    use core::hash::{BuildHasher, BuildHasherDefault};
    use std::{collections::HashSet, hash::DefaultHasher};

    /// h_eff of G1 and of G2, big-endian.
    const CLEARING_G1: &str = "d201000000010001";
    const CLEARING_G2: &str = "bc69f08f2ee75b3584c6a0ea91b352888e2a8e9145ad7689986ff031508ffe1329c2f178731db956d82bf015d121\
         2b02ec0ec69d7477c1ae954cbc06689f6a359894c0adebbf6b4e8020005aaa95551";

    fn times<G: Bls12381Group>(digits: &str, point: G) -> G {
        digits.chars().fold(G::IDENTITY, |sum, digit| {
            let sixteen = (0..4).fold(sum, |sum, _| Backend::Portable.sum(&[sum, sum]));
            let digit = digit.to_digit(16).unwrap() as usize;
            Backend::Portable.sum(&[alloc::vec![point; digit], alloc::vec![sixteen]].concat())
        })
    }

    #[test]
    fn clearing_the_generator_over_the_cofactor_gives_the_generator() {
        assert!(Backend::Portable.in_subgroup(&[G1::generator_over_cofactor()])[0]);
        assert!(Backend::Portable.in_subgroup(&[G2::generator_over_cofactor()])[0]);
        assert_eq!(times(CLEARING_G2, G1::generator_over_cofactor()), G1::generator());
        assert_eq!(times(CLEARING_G1, G2::generator_over_cofactor()), G2::generator());
    }

    /// The constant fits what `clear_sums` does to hashes.
    #[test]
    fn generator_over_cofactor_belongs_to_clear_sums() {
        let b = Backend::Portable;
        let uncleared: G2 = b.hash_for_sums(b"group", &[(b"", b"m")])[0];
        assert!(!b.in_subgroup(&[uncleared])[0]);
        let hash = b.clear_sums(&[uncleared])[0];
        assert_eq!(times(CLEARING_G2, uncleared), hash);
        let twice = b.clear_sums(&[hash])[0];
        let product = b.miller_product(&[(G1::generator_over_cofactor().negate(), twice), (G1::generator(), hash)]);
        assert!(b.final_exponentiation(product).is_one());
    }

    /// Points whose x has a chosen first limb in Montgomery form. An attacker sends them where only this limb is
    /// hashed. They decode, because a signature may lie outside the subgroup until it is checked.
    fn crafted(n: usize) -> Vec<G1> {
        let mut encodings: Vec<[u8; G1::COMPRESSED]> = Vec::new();
        // About every other x belongs to a point.
        for i in 0..2 * n as u64 + 2_000 {
            let x = blst_fp { l: [0x0123_4567_89ab_cdef, i, 0, 0, 0, 0] };
            let mut bytes = [0; G1::COMPRESSED];
            // SAFETY: 48 bytes out.
            unsafe { blst::blst_bendian_from_fp(bytes.as_mut_ptr(), &x) };
            bytes[0] |= 0x80;
            encodings.push(bytes);
        }
        let encodings: Vec<_> = encodings.iter().map(|bytes| &bytes[..]).collect();
        let mut points: Vec<G1> = Backend::auto().decode_each(&encodings).into_iter().flatten().collect();
        points.truncate(n);
        assert!(points.len() == n && points.iter().all(|point| point.0.x.l[0] == 0x0123_4567_89ab_cdef));
        points
    }

    #[test]
    fn points_cross_to_blst_and_back() {
        fn crosses<G: Bls12381Group>() {
            for point in [G::IDENTITY, G::generator(), G::generator().negate()] {
                assert_eq!(G::from_blst_assuming_on_curve(point.to_blst()), point);
            }
        }
        crosses::<G1>();
        crosses::<G2>();
        // SAFETY: blst returns a pointer to a constant.
        assert_eq!(G1::generator().to_blst(), unsafe { *blst::blst_p1_affine_generator() });
    }

    fn hash_of(point: impl Hash) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one(point)
    }

    #[test]
    fn points_are_read_written_and_ordered_as_their_compressed_bytes() {
        fn agrees<G: Bls12381Group + for<'a> TryFrom<&'a [u8], Error = DecodeError>>() {
            let names: Vec<_> = (0..20_u8).map(|i| [i]).collect();
            let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
            let mut points: Vec<G> = Backend::auto().hash_to_curve(b"order", &messages);
            points.extend([G::IDENTITY, G::generator(), G::generator().negate()]);
            points.sort();
            let encodings: Vec<_> = points.iter().map(G::compress).collect();
            assert!(encodings.is_sorted());
            for (point, encoding) in points.iter().zip(&encodings) {
                assert_eq!(G::try_from(encoding.as_ref()), Ok(*point));
                let digits: String = encoding.as_ref().iter().map(|byte| alloc::format!("{byte:02x}")).collect();
                assert_eq!(alloc::format!("{point}"), digits);
                assert_eq!(alloc::format!("{point:?}"), alloc::format!("{}({digits})", G::NAME));
            }
            let short = G::try_from(&[0x80][..]);
            assert_eq!(short, Err(DecodeError::Length { group: G::NAME, expected: G::COMPRESSED, found: 1 }));
        }
        agrees::<G1>();
        agrees::<G2>();
    }

    #[test]
    fn crafted_points_do_not_collide_in_a_hash_set() {
        let points = crafted(20_000);
        let hashes: HashSet<_> = points.iter().map(hash_of).collect();
        assert_eq!(hashes.len(), points.len());
        assert_eq!(points.iter().collect::<HashSet<_>>().len(), points.len());
    }

    /// Points that differ in one limb alone have different hashes, for every limb of both coordinates.
    #[test]
    fn every_limb_is_hashed() {
        fn each_limb<G: Bls12381Group, const N: usize>(limb: impl Fn(&mut G::Affine, usize) -> &mut u64) {
            let mut hashes = HashSet::from([hash_of(G::generator())]);
            for i in 0..N {
                let mut inner = G::generator().inner();
                *limb(&mut inner, i) ^= 1;
                hashes.insert(hash_of(G::wrap(inner)));
            }
            assert_eq!(hashes.len(), N + 1);
        }
        each_limb::<G1, 12>(|point, i| if i < 6 { &mut point.x.l[i] } else { &mut point.y.l[i - 6] });
        each_limb::<G2, 24>(|point, i| {
            let coordinate = if i < 12 { &mut point.x } else { &mut point.y };
            &mut coordinate.fp[i / 6 % 2].l[i % 6]
        });
        assert_ne!(hash_of(G1::generator()), hash_of(G1::generator().negate()));
    }

    /// Where a backend accepts uncleared hashes in a product, they give the same answer beside the generator over the
    /// cofactor as cleared hashes beside the generator.
    #[test]
    fn uncleared_hashes_pair_as_whole_ones() {
        fn equal<G: Bls12381Group, K: Bls12381Group>(backend: Backend, pairing: Pairing, pair: fn(K, G) -> (G1, G2)) {
            let message = [(&b""[..], &b"m"[..])];
            let whole = backend.hash_to_curve::<G>(b"group", &message)[0];
            let uncleared = backend.hash_for_sums::<G>(b"group", &message)[0];
            let key = backend.sum(&[K::generator(); 5]);
            let signature = backend.sum(&[whole; 5]);
            let value = |pairs: &[(G1, G2)]| {
                let pairs = Segments::one(pairs.to_vec());
                backend.final_exponentiation(backend.miller_products(pairing, &pairs)[0])
            };
            assert!(!backend.in_subgroup(&[uncleared])[0]);
            let over = K::generator_over_cofactor().negate();
            assert!(value(&[pair(key, uncleared), pair(over, signature)]).is_one(), "{backend} {pairing:?}");
            assert!(!value(&[pair(key, uncleared), pair(K::generator().negate(), signature)]).is_one());
        }
        for &backend in Backend::available() {
            for pairing in Pairing::ALL {
                if backend.pairs_uncleared::<G1>(pairing) {
                    equal::<G1, G2>(backend, pairing, |key, hash| (hash, key));
                }
                if backend.pairs_uncleared::<G2>(pairing) {
                    equal::<G2, G1>(backend, pairing, |key, hash| (key, hash));
                }
            }
        }
    }

    /// The ate pairing accepts every point of E(Fp), and a part of small order does not change its value.
    #[test]
    fn ate_pairing_does_not_see_a_part_outside_the_subgroup() {
        let mut bytes = [0; G1::COMPRESSED];
        bytes[0] = 0x80;
        let of_order_three: G1 = Backend::Portable.decode(&bytes).expect("(0, 2)");
        for &backend in Backend::available() {
            for n in [1, 8] {
                let member = backend.hash_to_curve::<G1>(b"group", &[(b"", b"p")])[0];
                let value = |p: G1| {
                    let pairs = alloc::vec![(p, G2::generator()); n];
                    backend.final_exponentiation(backend.miller_product(&pairs))
                };
                assert_eq!(value(member), value(backend.sum(&[member, of_order_three])), "{backend}, {n} pairs");
            }
        }
    }
}
