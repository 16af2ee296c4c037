//! Hashing to the twist without clearing the cofactor, for messages whose hashes are only summed.
//!
//! Clearing the cofactor is a homomorphism, so `clear(Σ w·Q(m)) = Σ w·H(m)` for the uncleared hashes Q(m). A signer
//! with many messages needs one clearing, and clearing is more than half of a hash to G2.
//!
//! The steps are those of RFC 9380, section 8.8.2, for many messages at a time:
//!
//! 1. `hash_to_field` (section 5.2) gives two elements u of Fp2 for each message.
//! 2. The simplified SWU map (section 6.6.2) takes each u to a point of the curve E': y² = x³ + 240i·x + 1012(1 + i),
//!    with Z = -(2 + i), in affine coordinates with shared inversions.
//! 3. The isogeny of degree 3 (appendix E.3) takes the points to the twist E. Its kernel is {O, (x₀, ±y₀)} with x₀ = -6
//!    + 6i. By Vélu's formulas, with v = 1/(x - x₀), it is `x → (x + 48i·v + 16(1 + i)·v²)/9`, `y → -y·(1 - 48i·v² -
//!    32(1 + i)·v³)/27`. y₀² = 4 + 4i is not a square in Fp2, so no mapped point has x = x₀.
//! 4. The two points are added on E. The RFC adds them on E' and maps the sum, which is the same point.

use alloc::vec::Vec;

use blst::*;

use super::{
    affine::{self, Chain},
    hash_to_curve::{HashForSums, expand},
};
use crate::{
    arithmetic::{
        BlstCurve, Curve,
        curve::{ONE, PARAMETER, ZERO},
        field::{BlstField, Field},
    },
    segments::Segments,
};

impl HashForSums for blst_p2_affine {
    fn hash_for_sums(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<Self> {
        hash_uncleared(dst, messages)
    }

    fn clear_sums(sums: &[Self]) -> Vec<Self> {
        clear_cofactor(sums)
    }
}

/// The uncleared hash of each message.
fn hash_uncleared(dst: &[u8], messages: &[(&[u8], &[u8])]) -> Vec<blst_p2_affine> {
    let u: Vec<blst_fp2> = messages.iter().flat_map(|message| hash_to_field(dst, message)).collect();
    let mapped = map_to_isogenous(&u);
    let mapped = isogeny(&mapped);
    affine::sums(Segments::of_size(2, mapped))
}

/// Clears the cofactor (RFC 9380, appendix G.3; Budroni and Pintore, <https://eprint.iacr.org/2017/419>): `h(ψ)·P = (z²
/// - z - 1)·P + (z - 1)·ψ(P) + ψ²(2P)`, where z is the curve's parameter.
pub(crate) fn clear_cofactor(points: &[blst_p2_affine]) -> Vec<blst_p2_affine> {
    let add = <blst_p2_affine as BlstCurve>::add;
    let cleared = points.iter().map(|point| {
        let minus = point.signed(true).to_jacobian();
        let minus_psi = psi(&point.signed(true)).to_jacobian();
        // ψ² = -ω, so ψ²(2P) = 2·ω(-P).
        let twice = <blst_p2_affine as Curve>::double(&point.signed(true).turned(1).to_jacobian());
        let rest = add(&twice, &add(&minus, &minus_psi));
        // -z·(P - z·P - ψ(P)) = (z² - z)·P + z·ψ(P)
        let inner = add(&times_minus_z(&point.to_jacobian()), &add(&minus_psi, &point.to_jacobian()));
        add(&times_minus_z(&inner), &rest)
    });
    Curve::to_affine(&cleared.collect::<Vec<_>>())
}

/// Two elements of Fp2 from 256 uniform bytes.
fn hash_to_field(dst: &[u8], message: &(&[u8], &[u8])) -> [blst_fp2; 2] {
    let mut uniform = [0u8; 256];
    expand(dst, message, &mut uniform);
    let element = |i: usize| reduce(&uniform[64 * i..64 * (i + 1)]);
    [blst_fp2 { fp: [element(0), element(1)] }, blst_fp2 { fp: [element(2), element(3)] }]
}

/// 64 big-endian bytes modulo p.
fn reduce(bytes: &[u8]) -> blst_fp {
    let half = |bytes: &[u8]| {
        let mut padded = [0; 48];
        padded[16..].copy_from_slice(bytes);
        let mut out = ZERO;
        // SAFETY: 48 bytes in, below p.
        unsafe { blst_fp_from_bendian(&mut out, padded.as_ptr()) };
        out
    };
    half(&bytes[..32]).times(&TWO_TO_256).plus(&half(&bytes[32..]))
}

/// The simplified SWU map: a point of E' for each u.
fn map_to_isogenous(u: &[blst_fp2]) -> Vec<(blst_fp2, blst_fp2)> {
    let z = fp2(-2, -1);
    let z_u2: Vec<_> = u.iter().map(|u| z.times(&u.squared())).collect();
    let mut chain = Chain::default();
    for z_u2 in &z_u2 {
        let sum = z_u2.squared().plus(z_u2);
        chain.push(if sum.is_zero() { fp2(1, 0) } else { sum });
    }
    chain.invert();

    // x₁ = -B/A·(1 + 1/(Z²u⁴ + Zu²)), or B/(ZA) if that denominator is zero. If g(x₁) is not a square, x₂ = Zu²·x₁.
    let (a, b) = (fp2(0, 240), fp2(1012, 1012));
    let roots = z_u2.iter().zip(&chain.inverses).zip(u).map(|((z_u2, inverse), u)| {
        let exceptional = z_u2.squared().plus(z_u2).is_zero();
        let x1 = if exceptional { B_OVER_Z_A } else { MINUS_B_OVER_A.times(&fp2(1, 0).plus(inverse)) };
        let g1 = x1.squared().plus(&a).times(&x1).plus(&b);
        let (root, is_square) = square_root(&norm(&g1));
        if is_square {
            (x1, HalfRoot::new(g1, root))
        } else {
            // g(x₂) = (Zu²)³·g(x₁), and its norm 125·N(u)⁶·N(g(x₁)) has the root √-125·N(u)³·√-N(g(x₁)).
            let u6 = norm(u).squared().times(&norm(u));
            let g2 = z_u2.squared().times(z_u2).times(&g1);
            (z_u2.times(&x1), HalfRoot::new(g2, ROOT_OF_MINUS_125.times(&u6).times(&root)))
        }
    });
    let roots: Vec<_> = roots.collect();
    let mut chain = Chain::default();
    for (_, half) in &roots {
        chain.push(if half.root.is_zero() { ONE } else { half.root });
    }
    chain.invert();
    let points = roots.iter().zip(&chain.inverses).zip(u).map(|(((x, half), inverse), u)| {
        let y = half.finish(inverse);
        (*x, if sign(u) == sign(&y) { y } else { fp2(0, 0).minus(&y) })
    });
    points.collect()
}

/// The square root of g = a + b·i in Fp2, before its inversion.
///
/// Let t² = N(g), d = (a + t)/2 and r = d^((p+1)/4). Then r² is d or -d. If it is d, a root of g is r + b/(2r)·i. If it
/// is -d, a root is b/(2r) + r·i, because (a - t)/2 = -b²/(4d).
struct HalfRoot {
    half_b: blst_fp,
    root: blst_fp,
    is_real: bool,
}

impl HalfRoot {
    /// From a square g and a square root of its norm.
    fn new(g: blst_fp2, norm_root: blst_fp) -> Self {
        let [a, b] = g.fp;
        let sum = a.plus(&norm_root);
        // The sum is zero for b = 0 and t = -a. Then the other root of the norm is used.
        let sum = if sum.is_zero() { a.minus(&norm_root) } else { sum };
        let (root, is_real) = square_root(&sum.times(&HALF));
        Self { half_b: b.times(&HALF), root, is_real }
    }

    fn finish(&self, inverse: &blst_fp) -> blst_fp2 {
        let other = self.half_b.times(inverse);
        blst_fp2 { fp: if self.is_real { [self.root, other] } else { [other, self.root] } }
    }
}

/// a^((p+1)/4), and whether it is a root of a. If not, it is a root of -a.
fn square_root(a: &blst_fp) -> (blst_fp, bool) {
    let mut root = ZERO;
    // SAFETY: valid references. blst stores the power whether or not it is a root of its argument.
    let is_square = unsafe { blst_fp_sqrt(&mut root, a) };
    (root, is_square)
}

/// The isogeny from E' to E.
fn isogeny(points: &[(blst_fp2, blst_fp2)]) -> Vec<blst_p2_affine> {
    let mut chain = Chain::default();
    for (x, _) in points {
        chain.push(x.plus(&fp2(6, -6)));
    }
    chain.invert();
    let (t, u, one) = (fp2(0, 48), fp2(16, 16), fp2(1, 0));
    let mapped = points.iter().zip(&chain.inverses).map(|((x, y), v)| {
        let v2 = v.squared();
        let uv = u.times(v);
        let x_sum = x.plus(&t.times(v)).plus(&uv.times(v));
        let y_factor = one.minus(&v2.times(&t.plus(&uv.doubled())));
        Curve::at(x_sum.times_fp(&NINTH), y.times(&y_factor).times_fp(&MINUS_27TH))
    });
    mapped.collect()
}

/// ψ, the twisted Frobenius endomorphism: (x̄·c₁, ȳ·c₂) with c₁ = 1/(1+i)^((p-1)/3), c₂ = 1/(1+i)^((p-1)/2).
pub(crate) fn psi(point: &blst_p2_affine) -> blst_p2_affine {
    let conjugate = |a: blst_fp2| blst_fp2 { fp: [a.fp[0], ZERO.minus(&a.fp[1])] };
    Curve::at(conjugate(point.x()).times(&PSI_X), conjugate(point.y()).times(&PSI_Y))
}

/// |z|·P.
fn times_minus_z(point: &blst_p2) -> blst_p2 {
    let mut sum = *point;
    for bit in (0..63).rev() {
        sum = <blst_p2_affine as Curve>::double(&sum);
        if PARAMETER >> bit & 1 == 1 {
            sum = <blst_p2_affine as BlstCurve>::add(&sum, point);
        }
    }
    sum
}

fn norm(a: &blst_fp2) -> blst_fp {
    a.fp[0].squared().plus(&a.fp[1].squared())
}

/// `sgn0` of RFC 9380, section 4.1, for Fp2.
fn sign(a: &blst_fp2) -> bool {
    let parity = |a: &blst_fp| {
        let mut limbs = [0; 6];
        // SAFETY: six limbs out.
        unsafe { blst_uint64_from_fp(limbs.as_mut_ptr(), a) };
        limbs[0] & 1 == 1
    };
    parity(&a.fp[0]) || (a.fp[0].is_zero() && parity(&a.fp[1]))
}

/// A small constant a + b·i.
pub(crate) fn fp2(a: i32, b: i32) -> blst_fp2 {
    let small = |n: i32| {
        let limbs = [u64::from(n.unsigned_abs()), 0, 0, 0, 0, 0];
        let mut out = ZERO;
        // SAFETY: six limbs in.
        unsafe { blst_fp_from_uint64(&mut out, limbs.as_ptr()) };
        if n < 0 { ZERO.minus(&out) } else { out }
    };
    blst_fp2 { fp: [small(a), small(b)] }
}

// Constants in Montgomery form. A test recomputes each from its definition.

pub(crate) const TWO_TO_256: blst_fp = fp([
    0x075b_3cd7_c5ce_820f,
    0x3ec6_ba62_1c3e_db0b,
    0x168a_13d8_2bff_6bce,
    0x8766_3c4b_f8c4_49d2,
    0x15f3_4c83_ddc8_d830,
    0x0f96_28b4_9caa_2e85,
]);
pub(crate) const HALF: blst_fp = fp([
    0x1804_0000_0001_5554,
    0x8550_0005_3ab0_0001,
    0x633c_b57c_253c_276f,
    0x6e22_d1ec_31eb_b502,
    0xd391_6126_f2d1_4ca2,
    0x17fb_b857_1a00_6596,
]);
pub(crate) const NINTH: blst_fp = fp([
    0x40aa_c71c_71c7_25ed,
    0x1909_5555_7a84_e38e,
    0xd817_050a_8f41_abc3,
    0xd864_85d4_c87f_6fb1,
    0x696e_b479_f885_d059,
    0x198e_1a74_3280_02d2,
]);
pub(crate) const MINUS_27TH: blst_fp = fp([
    0xa470_bda1_2f67_f35c,
    0xc0fe_38e2_3327_b425,
    0xc9d3_d0f2_c6f0_678d,
    0x1c55_c993_5b5a_982e,
    0x27f6_c0e2_f074_6764,
    0x117c_5e6e_28aa_9054,
]);
pub(crate) const ROOT_OF_MINUS_125: blst_fp = fp([
    0xe413_2bbd_838c_f70a,
    0x01d7_69ac_8377_2c19,
    0xa83d_d6e9_74c2_2e45,
    0xbc8e_c3e7_77b0_8dff,
    0xc035_c204_2ecf_5da3,
    0x0739_29e9_7f08_50bf,
]);
pub(crate) const MINUS_B_OVER_A: blst_fp2 = blst_fp2 {
    fp: [
        fp([
            0x903c_5555_5547_4fb3,
            0x5f98_cc95_ce45_1105,
            0x9f8e_582e_efe0_fade,
            0xc689_46b6_aebb_d062,
            0x467a_4ad1_0ee6_de53,
            0x0e71_46f4_83e2_3a05,
        ]),
        fp([
            0x29c2_aaaa_aab8_5af8,
            0xbf13_3368_e30e_eefa,
            0xc7a2_7a72_06cf_fb45,
            0x9dee_04ce_44c9_425c,
            0x04a1_5ce5_3464_ce83,
            0x0b8f_caf5_b59d_ac95,
        ]),
    ],
};
pub(crate) const B_OVER_Z_A: blst_fp2 = blst_fp2 {
    fp: [
        fp([
            0xf2d8_4444_4441_4324,
            0x2585_c283_93a6_9d00,
            0x5dd3_5cd0_5d97_2c42,
            0xfd96_3b74_4ea8_9b53,
            0x07f5_d9fd_91c1_fa91,
            0x127d_b28a_3ce0_62c4,
        ]),
        fp([
            0x5574_3333_333b_3695,
            0xeb72_b871_5908_28fc,
            0x1c18_6171_cb4d_5da5,
            0x34a3_3031_ee95_6644,
            0xc971_692a_149d_16d0,
            0x168a_1e1f_f5de_8b82,
        ]),
    ],
};
pub(crate) const PSI_X: blst_fp2 = blst_fp2 {
    fp: [
        ZERO,
        fp([
            0x890d_c9e4_8675_45c3,
            0x2af3_2253_3285_a5d5,
            0x5088_0866_309b_7e2c,
            0xa20d_1b8c_7e88_1024,
            0x14e4_f04f_e2db_9068,
            0x14e5_6d3f_1564_853a,
        ]),
    ],
};
pub(crate) const PSI_Y: blst_fp2 = blst_fp2 {
    fp: [
        fp([
            0x3e2f_585d_a55c_9ad1,
            0x4294_213d_86c1_8183,
            0x3828_44c8_8b62_3732,
            0x92ad_2afd_1910_3e18,
            0x1d79_4e4f_ac7c_f0b9,
            0x0bd5_92fc_7d82_5ec8,
        ]),
        fp([
            0x7bcf_a7a2_5aa3_0fda,
            0xdc17_dec1_2a92_7e7c,
            0x2f08_8dd8_6b4e_bef1,
            0xd1ca_2087_da74_d4a7,
            0x2da2_5966_96ce_bc1d,
            0x0e2b_7eed_bbfd_87d2,
        ]),
    ],
};

const fn fp(l: [u64; 6]) -> blst_fp {
    blst_fp { l }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, G2, encoding::MODULUS, group::sealed::Sealed};
    use alloc::vec;

    /// a^e for a big-endian exponent.
    fn power(a: &blst_fp2, exponent: &[u8]) -> blst_fp2 {
        let mut product = fp2(1, 0);
        for bit in exponent.iter().flat_map(|byte| (0..8).rev().map(move |i| byte >> i & 1)) {
            product = product.squared();
            if bit == 1 {
                product = product.times(a);
            }
        }
        product
    }

    /// (p - 1)/n, big-endian.
    fn p_minus_one_over(n: u16) -> [u8; 48] {
        let mut digits = MODULUS;
        digits[47] -= 1;
        let mut rest = 0;
        for digit in &mut digits {
            let part = rest << 8 | u16::from(*digit);
            *digit = u8::try_from(part / n).unwrap();
            rest = part % n;
        }
        assert_eq!(rest, 0);
        digits
    }

    #[test]
    fn constants_are_what_they_are_called() {
        let real = |a: blst_fp| blst_fp2 { fp: [a, ZERO] };
        let one = fp2(1, 0);
        assert_eq!(real(HALF.doubled()), one);
        assert_eq!(real(NINTH).times(&fp2(9, 0)), one);
        assert_eq!(real(MINUS_27TH).times(&fp2(-27, 0)), one);
        assert_eq!(real(ROOT_OF_MINUS_125.squared()), fp2(-125, 0));
        assert_eq!(real(TWO_TO_256), power(&fp2(2, 0), &[1, 0]));
        let (a, b, z) = (fp2(0, 240), fp2(1012, 1012), fp2(-2, -1));
        assert_eq!(MINUS_B_OVER_A.times(&a), fp2(0, 0).minus(&b));
        assert_eq!(B_OVER_Z_A.times(&z).times(&a), b);
        assert_eq!(PSI_X.times(&power(&fp2(1, 1), &p_minus_one_over(3))), one);
        assert_eq!(PSI_Y.times(&power(&fp2(1, 1), &p_minus_one_over(2))), one);
    }

    #[test]
    fn cleared_hashes_are_blsts() {
        let long = [7; 300];
        let messages: Vec<(&[u8], &[u8])> =
            vec![(b"", b""), (b"", b"abc"), (b"key", b"abc"), (&long, b"x"), (b"", &long), (b"q", b"128")];
        for dst in [&b"QUUX-V01-CS02-with-BLS12381G2_XMD:SHA-256_SSWU_RO_"[..], &[b'd'; 255], &[b'd'; 256], b"d"] {
            let cleared = clear_cofactor(&hash_uncleared(dst, &messages));
            let expected: Vec<G2> = Backend::Portable.hash_to_curve(dst, &messages);
            assert_eq!(cleared.into_iter().map(G2::wrap).collect::<Vec<_>>(), expected);
        }
    }

    /// Chosen u are mapped as blst maps them: zero (the exceptional denominator), real, imaginary, and many more.
    #[test]
    fn maps_of_chosen_elements_are_blsts() {
        let mut elements = vec![fp2(0, 0), fp2(1, 0), fp2(0, 1), fp2(-1, 0), fp2(0, -1), fp2(-2, -1)];
        elements.extend((0..200).map(|i| fp2(i * i - 300, 77 - i).squared()));
        for u in elements {
            let mine = clear_cofactor(&isogeny(&map_to_isogenous(&[u])));
            let mut theirs = blst_p2::default();
            // SAFETY: a null pointer for the second element, as blst allows.
            unsafe { blst_map_to_g2(&mut theirs, &u, core::ptr::null()) };
            assert_eq!(mine, <blst_p2_affine as Curve>::to_affine(&[theirs]));
        }
    }

    #[test]
    fn isogeny_has_no_kernel_over_fp2() {
        let x0 = fp2(-6, 6);
        let y0_squared = x0.squared().plus(&fp2(0, 240)).times(&x0).plus(&fp2(1012, 1012));
        assert_eq!(y0_squared, fp2(4, 4));
        assert!(!square_root(&norm(&y0_squared)).1);
    }

    #[test]
    fn clearing_is_linear_and_clears() {
        let points = hash_uncleared(b"linear", &[(b"", b"a"), (b"", b"b")]);
        assert!(!points[0].in_subgroup());
        let sum = affine::sums(Segments::one(points.clone()));
        let cleared = clear_cofactor(&points);
        assert!(cleared.iter().all(Curve::in_subgroup));
        assert_eq!(clear_cofactor(&sum), affine::sums(Segments::one(cleared)));
        assert_eq!(clear_cofactor(&[Curve::IDENTITY]), vec![Curve::IDENTITY]);
    }
}
