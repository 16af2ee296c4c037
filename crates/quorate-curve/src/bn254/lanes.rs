//! BN254 in lanes: six limbs, ξ = 9 + i, a loop over 6x + 2 in signed digits with two additions of Frobenius images at its end, and a twist
//! whose equation has 3/ξ.

use alloc::vec::Vec;
use core::slice;

use ark_bn254::{Fq, Fq2, Fq6, Fq12};
use ark_ff::{AdditiveGroup, BigInt, Field as _, Fp};

use super::points::{Bn254, Coordinates, PARAMETER, ROOT_EXPONENT};
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
use crate::backend::fma::neon::{FourTwos, HalfOfNeon, Neon, TwoTwos};
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
use crate::backend::fma::{fp::Fp as FmaFp, fp::InFma, vector::Vector};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::backend::{
    fma::x86::{Avx2, Avx512, HalfOfAvx2, OneEight, OneFour, TwoFours},
    ifma::{
        Ifma,
        fp::{Fp as IfmaFp, InIfma},
    },
};
use crate::{
    arithmetic::Curve,
    backend::{
        lanes::{
            constant::{Constant, Modulus},
            curve::{self, Affine, InLanes, Jacobian},
            field::{Extension, Field, Fp2, LANES, Lanes, LoopStep, Mask, Parameters, PrimeField, Wide},
            instructions::in_lanes,
            pairing, square_root,
            subgroup::{Further, Membership, Subgroup},
            thresholds::Thresholds,
            wide::sum,
        },
        portable::affine,
        serial::{InSeries, Serial},
    },
    pairing::{Gt, MillerValue},
    segments::Cut,
};

impl Modulus for Bn254 {
    const P: [u64; 6] =
        [0x3c20_8c16_d87c_fd47, 0x9781_6a91_6871_ca8d, 0xb850_45b6_8181_585d, 0x3064_4e72_e131_a029, 0, 0];
    const ELEMENT_BITS: u32 = 256;
    const LIMBS: usize = 6;
    // So that columns have room for the sums that products by ξ make.
    const INTEGER_BITS: u32 = 46;
    const LIFT_BITS: u32 = 270;
    // A column of a product is below 8·2^52.
    const MOST_PRODUCTS: f64 = 256.0;
}

/// The bits of a number's digits 1 and -1 in the non-adjacent form. The digit of a bit is that of 3n less that of n, halved.
const fn signed_digits(n: u128) -> [u128; 2] {
    [((3 * n) & !n) >> 1, (n & !(3 * n)) >> 1]
}

/// 6x + 2.
const LOOP_DIGITS: [u128; 2] = signed_digits(6 * PARAMETER as u128 + 2);

/// The steps of the loop.
const STEPS: usize = LOOP_DIGITS[0].ilog2() as usize + LOOP_DIGITS[0].count_ones() as usize - 1
    + LOOP_DIGITS[1].count_ones() as usize
    + 2;

impl Parameters for Bn254 {
    type Element = Fq;
    type Element2 = Fq2;
    type G1 = Coordinates<Fq>;
    type G2 = Coordinates<Fq2>;

    const PARAMETER: [u64; 2] = {
        let [plus, minus] = signed_digits(PARAMETER as u128);
        [plus as u64, minus as u64]
    };
    const IS_SPARSE: bool = false;
    const LOOP: &'static [LoopStep] = &{
        let mut steps = [LoopStep::Double; STEPS];
        let (mut bit, mut at) = (LOOP_DIGITS[0].ilog2(), 0);
        while bit > 0 {
            bit -= 1;
            at += 1;
            if LOOP_DIGITS[0] >> bit & 1 == 1 {
                steps[at] = LoopStep::Add;
                at += 1;
            } else if LOOP_DIGITS[1] >> bit & 1 == 1 {
                steps[at] = LoopStep::Subtract;
                at += 1;
            }
        }
        steps[at] = LoopStep::AddImage;
        steps[at + 1] = LoopStep::SubtractSecondImage;
        assert!(at + 2 == STEPS);
        steps
    };
    const IS_LOOP_NEGATIVE: bool = false;
    const TWIST_MULTIPLIES: bool = false;
    const FROBENIUS: [[Constant<Self>; 2]; 6] = FROBENIUS;
    const PSI: [[Constant<Self>; 2]; 2] = [FROBENIUS[2], FROBENIUS[3]];

    #[inline(always)]
    fn words(element: &Fq) -> [u64; 6] {
        let [a, b, c, d] = element.0.0;
        [a, b, c, d, 0, 0]
    }

    #[inline(always)]
    fn of_words([a, b, c, d, ..]: [u64; 6]) -> Fq {
        Fp(BigInt([a, b, c, d]), core::marker::PhantomData)
    }

    #[inline(always)]
    fn parts(element: &Fq2) -> [&Fq; 2] {
        [&element.c0, &element.c1]
    }

    #[inline(always)]
    fn of_parts([c0, c1]: [Fq; 2]) -> Fq2 {
        Fq2::new(c0, c1)
    }

    fn coefficient(value: &Fq12, power: usize) -> &Fq2 {
        let half = if power.is_multiple_of(2) { &value.c0 } else { &value.c1 };
        [&half.c0, &half.c1, &half.c2][power / 2]
    }

    fn of_coefficients([a, b, c, d, e, f]: [Fq2; 6]) -> Fq12 {
        Fq12::new(Fq6::new(a, c, e), Fq6::new(b, d, f))
    }

    fn inverse(value: &Fq12) -> Fq12 {
        value.inverse().unwrap_or(Fq12::ZERO)
    }

    #[inline(always)]
    fn times_xi<P: PrimeField<Curve = Self>>(a: &Fp2<P>) -> Fp2<P> {
        let nine = a.doubled().doubled().doubled().plus(a).carried();
        Fp2::new(nine.c0.minus(&a.c1), nine.c1.plus(&a.c0)).shrunk()
    }

    #[inline(always)]
    fn wide_times_xi<P: PrimeField<Curve = Self>>(a: &Wide<P>) -> Wide<P> {
        let (c0, c1) = (P::settled(&a.c0), P::settled(&a.c1));
        let (nine_c0, nine_c1) = (P::nine_times(&c0), P::nine_times(&c1));
        Wide { c0: P::settled(&sum!(nine_c0, -c1)), c1: P::settled(&sum!(nine_c1, + c0)) }
    }

    #[inline(always)]
    fn plus_times_xi<P: PrimeField<Curve = Self>>(a: &Wide<P>, b: &Wide<P>) -> Wide<P> {
        let (c0, c1) = (P::settled(&b.c0), P::settled(&b.c1));
        let (nine_c0, nine_c1) = (P::nine_times(&c0), P::nine_times(&c1));
        Wide { c0: P::settled(&sum!(nine_c0, -c1, + a.c0)), c1: P::settled(&sum!(nine_c1, + c0, + a.c1)) }
    }

    /// α = 1 and β = ξ.
    #[inline(always)]
    fn factors_of_norm<P: PrimeField<Curve = Self>>(a: &Fp2<P>, b: &Fp2<P>) -> [Fp2<P>; 2] {
        [a.plus(b), a.plus(&Self::times_xi(b))]
    }

    #[inline(always)]
    fn times_sum_of_factors<P: PrimeField<Curve = Self>>(a: &Fp2<P>) -> Fp2<P> {
        let twice = a.doubled();
        let ten = twice.doubled().doubled().plus(&twice).carried();
        Fp2::new(ten.c0.minus(&a.c1), ten.c1.plus(&a.c0)).shrunk()
    }

    /// λ₀ + λ₁p + λ₂p² + λ₃p³ with λ₀ = 1 + 6x + 12x² + 12x³, λ₁ = 4x + 6x² + 12x³, λ₂ = 6x + 6x² + 12x³ and λ₃ = λ₁ - 1 (L. Fuentes-Castañeda,
    /// E. Knapp and F. Rodríguez-Henríquez, Faster hashing to G2, SAC 2011).
    #[inline(always)]
    fn hard_part<E: Extension>(f: &E) -> E {
        let twice_x = f.raised_to_parameter().cyclotomic_squared();
        let four_x = twice_x.cyclotomic_squared();
        let six_x = four_x.times(&twice_x);
        let six_x2 = six_x.raised_to_parameter();
        let upper = six_x2.cyclotomic_squared().raised_to_parameter().times(&six_x2);
        let (first, second) = (upper.times(&four_x), upper.times(&six_x));
        let constant = second.times(&six_x2).times(f);
        let third = first.times(&f.conjugated());
        let image = third.frobenius().times(&second);
        image.frobenius().times(&first).frobenius().times(&constant)
    }

    fn miller_products<T>(
        pairs: Cut<'_, T>,
        finite: impl Fn(&T) -> Option<(Self::G1, Self::G2)>,
    ) -> Vec<MillerValue<Self>> {
        pairing::ate_products_in_lanes(Serial::<Self, 1>::new(), pairs, finite)
    }

    fn final_exponentiation(value: &MillerValue<Self>) -> Gt<Self> {
        pairing::final_exponentiations(Serial::<Self, 1>::new(), slice::from_ref(value))[0]
    }
}

impl InLanes for Coordinates<Fq> {
    type Parameters = Bn254;
    type Row<R: Copy + Send + Sync + 'static> = R;
    type In<L: Lanes<Curve = Bn254>> = L::Fp;

    fn beta() -> Fq {
        Self::turn_field(Fq::ONE, 1)
    }

    fn sums(points: Cut<'_, Self>) -> Vec<Self> {
        affine::sums(points.to_segments())
    }
}

impl InLanes for Coordinates<Fq2> {
    type Parameters = Bn254;
    type Row<R: Copy + Send + Sync + 'static> = [R; 2];
    type In<L: Lanes<Curve = Bn254>> = Fp2<L::Fp>;

    fn beta() -> Fq {
        Self::turn_field(Fq2::ONE, 1).c0
    }

    fn sums(points: Cut<'_, Self>) -> Vec<Self> {
        affine::sums(points.to_segments())
    }
}

impl Subgroup for Coordinates<Fq> {
    const FURTHER: Further = Further::Digits([0, 0]);

    /// The cofactor is 1.
    fn members<L: Lanes<Curve = Bn254>>(_: L, _: &[Self]) -> Membership {
        Membership { members: Mask::MAX, undecided: 0 }
    }
}

impl Subgroup for Coordinates<Fq2> {
    /// The least prime that divides the cofactor is 10,069, so that a position misses a point with probability 1/16 at most.
    const FURTHER: Further = Further::Digits([0, 0]);

    fn members<L: Lanes<Curve = Bn254>>(lanes: L, points: &[Self]) -> Membership {
        members(lanes, points)
    }
}

in_lanes! {
    /// The test of [`is_member`](points::is_member).
    fn members<L: Lanes<Curve = Bn254>>(lanes: L, points: &[Coordinates<Fq2>]) -> Membership {
        let point = Affine::<Fp2<L::Fp>>::load(lanes, points);
        let negative = point.negated();
        let [plus, minus] = Bn254::PARAMETER;
        let mut by_x = point.to_jacobian();
        for bit in (0..plus.ilog2()).rev() {
            by_x = curve::double(lanes, &by_x);
            if plus >> bit & 1 == 1 {
                by_x = curve::add_affine(lanes, &by_x, &point);
            } else if minus >> bit & 1 == 1 {
                by_x = curve::add_affine(lanes, &by_x, &negative);
            }
        }
        let first = image(&by_x);
        let sum = curve::add(lanes, &curve::add_affine(lanes, &by_x, &point), &curve::add(lanes, &first, &image(&first)));
        let third = image(&image(&image(&curve::double(lanes, &by_x))));
        let (z2, third_z2) = (sum.z.squared(), third.z.squared());
        let equal = |a: Fp2<L::Fp>, b: Fp2<L::Fp>| a.equals(&b);
        let members = equal(sum.x.times(&third_z2), third.x.times(&z2))
            & equal(sum.y.times(&third_z2.times(&third.z)), third.y.times(&z2.times(&sum.z)));
        Membership { members, undecided: sum.z.is_zero() | third.z.is_zero() }
    }
}

/// ψ of points.
#[inline(always)]
pub(crate) fn image<P: PrimeField>(point: &Jacobian<Fp2<P>>) -> Jacobian<Fp2<P>> {
    let (x, y) = Fp2::image(&point.x.shrunk(), &point.y.shrunk());
    Jacobian { x, y, z: point.z.shrunk().conjugated().carried() }
}

/// a^((p + 1)/4) for each element, eight or sixteen at a time.
pub(super) fn square_roots<L: Lanes<Curve = Bn254>>(lanes: L, squares: &[Fq]) -> Vec<Fq> {
    let (squares, rest) = squares.split_at(L::THRESHOLDS.in_lanes(squares.len()));
    let mut out = Vec::with_capacity(squares.len() + rest.len());
    for chunk in squares.chunks(2 * LANES) {
        let at = |i: usize| chunk.get(i).unwrap_or(&chunk[0]);
        let load = |from: usize| L::Fp::load(lanes, &core::array::from_fn(|lane| at(from + lane)));
        let roots: Vec<Fq> = if chunk.len() > LANES {
            powers_of(lanes, [load(0), load(LANES)]).concat()
        } else {
            powers_of(lanes, [load(0)]).concat()
        };
        out.extend(roots.into_iter().take(chunk.len()));
    }
    out.extend(rest.iter().map(|square| square.pow(ROOT_EXPONENT)));
    out
}

in_lanes! {
    fn powers_of<L: Lanes<Curve = Bn254>>[N: usize](lanes: L, squares: [L::Fp; N]) -> [[Fq; LANES]; N] {
        square_root::roots(lanes, &squares).map(|root| root.root.store())
    }
}

impl InSeries for Bn254 {
    const ZERO: Fq = Fq::ZERO;
    const IN_SERIES: Thresholds = Thresholds { members_in_g2: 48, inversions: 4, ..<Serial>::THRESHOLDS };
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl InIfma<6> for Bn254 {
    type Token = Ifma<Self>;

    fn token(lanes: Ifma) -> Ifma<Self> {
        lanes.on()
    }

    fn ifma(lanes: Ifma<Self>) -> Ifma {
        lanes.on()
    }
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
impl Lanes for Ifma<Bn254> {
    type Curve = Bn254;
    // Each is where lanes and arkworks cost the same, measured on a Xeon with IFMA.
    const THRESHOLDS: Thresholds = Thresholds {
        items: 2,
        points: 2,
        members_in_g2: 48,
        sum: 128,
        weighted_sum: 4,
        weighted_sums: 3,
        pairs: 2,
        pairs_left: 1,
        inversions: 12,
        values: 5,
        ..<Ifma>::THRESHOLDS
    };
    const WIDTH: usize = LANES;
    type Fp = IfmaFp<Bn254, 6>;
    type Narrow = Self;

    fn narrow(self) -> Self {
        self
    }
}

/// Implements lanes of doubles, with what their thresholds have in common with those of BLS12-381.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
macro_rules! doubles {
    ($token:ident, $vector:ident, $narrow:ident, $narrow_of:expr, { $($threshold:ident: $value:expr),* }) => {
        impl InFma<$vector, 6> for Bn254 {
            type Token = $token<Self>;

            fn token(lanes: <$vector as Vector>::Token) -> $token<Self> {
                lanes.on()
            }

            fn instructions(lanes: $token<Self>) -> <$vector as Vector>::Token {
                lanes.on()
            }
        }

        impl Lanes for $token<Bn254> {
            type Curve = Bn254;
            const THRESHOLDS: Thresholds = Thresholds { $($threshold: $value,)* ..<$token>::THRESHOLDS };
            const WIDTH: usize = <$token>::WIDTH;
            type Fp = FmaFp<$vector, Bn254, 6>;
            type Narrow = $narrow<Bn254>;

            fn narrow(self) -> $narrow<Bn254> {
                let narrow: fn(Self) -> $narrow<Bn254> = $narrow_of;
                narrow(self)
            }
        }
    };
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
doubles!(Avx512, OneEight, Avx512, |lanes| lanes, {
    items: 3, points: 3, members_in_g2: 48, sum: 192, weighted_sum: 6, weighted_sums: 4, pairs: 3, pairs_left: 2, inversions: 3, values: 6
});

/// Lanes of several registers, and of half of them, with thresholds measured with AVX2.
#[cfg(any(
    all(target_arch = "x86_64", target_feature = "sse2"),
    all(target_arch = "aarch64", target_feature = "neon")
))]
macro_rules! doubles_of_several_registers {
    ($token:ident($vector:ident), $half:ident($half_vector:ident)) => {
        doubles_of_several_registers!($token, $vector, $half, $token::half);
        doubles_of_several_registers!($half, $half_vector, $half, |lanes| lanes);
    };
    ($token:ident, $vector:ident, $half:ident, $half_of:expr) => {
        doubles!($token, $vector, $half, $half_of, {
            items: 4, points: 4, members_in_g2: 48, sum: 512, weighted_sum: 8, weighted_sums: 4, pairs: 2, pairs_left: 2, inversions: 2, values: 5
        });
    };
}

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
doubles_of_several_registers!(Avx2(TwoFours), HalfOfAvx2(OneFour));
#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
doubles_of_several_registers!(Neon(FourTwos), HalfOfNeon(TwoTwos));

/// ξ^(i(p-1)/6), i = 0 … 5.
const FROBENIUS: [[Constant<Bn254>; 2]; 6] = [
    [Constant::ONE, Constant::ZERO],
    [
        Constant::of_number([
            0xd60b_35da_dcc9_e470,
            0x5c52_1e08_292f_2176,
            0xe8b9_9fdd_76e6_8b60,
            0x1284_b71c_2865_a7df,
            0,
            0,
        ]),
        Constant::of_number([
            0xca5c_f05f_80f3_62ac,
            0x7479_9277_8eee_c7e5,
            0xa632_7cfe_1215_0b8e,
            0x2469_96f3_b4fa_e7e6,
            0,
            0,
        ]),
    ],
    [
        Constant::of_number([
            0x99e3_9557_176f_553d,
            0xb78c_c310_c2c3_330c,
            0x4c0b_ec3c_f559_b143,
            0x2fb3_4798_4f79_11f7,
            0,
            0,
        ]),
        Constant::of_number([
            0x1665_d51c_640f_cba2,
            0x32ae_2a1d_0b7c_9dce,
            0x4ba4_cc8b_d75a_0794,
            0x16c9_e550_61eb_ae20,
            0,
            0,
        ]),
    ],
    [
        Constant::of_number([
            0xdc54_0146_71a0_135a,
            0xdbaa_e0ed_a9c9_5998,
            0xdc5e_c698_b6e2_f9b9,
            0x063c_f305_489a_f5dc,
            0,
            0,
        ]),
        Constant::of_number([
            0x82d3_7f63_2623_b0e3,
            0x2180_7dc9_8fa2_5bd2,
            0x0704_b5a7_ec79_6f2b,
            0x07c0_3cbc_ac41_049a,
            0,
            0,
        ]),
    ],
    [
        Constant::of_number([
            0x848a_1f55_921e_a762,
            0xd333_65f7_be94_ec72,
            0x80f3_c0b7_5a18_1e84,
            0x05b5_4f5e_64ee_a801,
            0,
            0,
        ]),
        Constant::of_number([
            0xc13b_4711_cd2b_8126,
            0x3685_d2ea_1bde_c763,
            0x9f3a_80b0_3b0b_1c92,
            0x2c14_5edb_e7fd_8aee,
            0,
            0,
        ]),
    ],
    [
        Constant::of_number([
            0x2ea2_c810_eab7_692f,
            0x425c_459b_55aa_1bd3,
            0xe93a_3661_a435_3ff4,
            0x0183_c1e7_4f79_8649,
            0,
            0,
        ]),
        Constant::of_number([
            0x24c6_b8ee_6e0c_2c4b,
            0xb080_cb99_678e_2ac0,
            0xa27f_b246_c772_9f7d,
            0x12ac_f2ca_76fd_0675,
            0,
            0,
        ]),
    ],
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::lanes::{
        field::invert_all,
        fp12::Fp12,
        spread::Spread,
        tests::{for_each_kind, run},
    };
    use alloc::vec;
    use ark_ff::{BigInteger, PrimeField as _};

    /// Runs a test for each kind of lanes that this CPU has, for half of the lanes where they are several registers, and without vectors
    /// for eight lanes and for one.
    macro_rules! with_each_kind {
        ($test:ident) => {
            for_each_kind!($test, |lanes| lanes.on::<Bn254>());
            run(Some(Serial::<Bn254>::new()), $test);
            run(Some(Serial::<Bn254, 1>::new()), $test);
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            {
                use crate::backend::lanes::tests::avx2_or_skip;
                run(avx2_or_skip().map(|lanes| lanes.half().on::<Bn254>()), $test);
            }
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            run(Neon::detect().map(|lanes| lanes.half().on::<Bn254>()), $test);
        };
    }

    /// Elements at the edges of all limbs, of 46, 48, 52 and 64 bits, as numbers and as Montgomery forms, beside half of p, and some that
    /// look random. Their number is a multiple of eight.
    fn elements() -> Vec<Fq> {
        let half = Fq::from(2_u64).inverse().expect("not zero");
        let mut elements = vec![Fq::ZERO, Fq::ONE, -Fq::ONE, half, half - Fq::ONE, half + Fq::ONE];
        let edges = [46, 48, 52, 64].into_iter().flat_map(|step| (0..253).step_by(step).flat_map(|bit| [bit, bit + 1]));
        for bit in edges.filter(|bit| *bit < 253) {
            let mut words = [0; 4];
            words[bit / 64] = 1 << (bit % 64);
            let power = Fq::from_bigint(BigInt(words)).expect("below p");
            let [a, b, c, d] = words;
            elements.extend([power, power - Fq::ONE, -power, half + power, Bn254::of_words([a, b, c, d, 0, 0])]);
        }
        let mut random = Fq::from(31_415_926_u64);
        for _ in 0..48 {
            random = random.square() + Fq::ONE;
            elements.push(random);
        }
        while !elements.len().is_multiple_of(LANES) {
            elements.push(Fq::ONE);
        }
        elements
    }

    /// What the lanes that exist hold.
    fn kept<T: Copy, L: Lanes>(_: L, items: &[T]) -> &[T] {
        &items[..L::WIDTH]
    }

    #[test]
    fn fields_are_those_of_arkworks() {
        fn test<L: Lanes<Curve = Bn254>>(lanes: L) {
            let elements = elements();
            let vectors: Vec<[Fq; LANES]> =
                elements.chunks_exact(LANES).map(|eight| core::array::from_fn(|i| eight[i])).collect();
            let load = |eight: &[Fq; LANES]| L::Fp::load(lanes, &eight.each_ref());
            let same =
                |found: [Fq; LANES], expected: [Fq; LANES]| assert_eq!(kept(lanes, &found), kept(lanes, &expected));
            let mask_of = |eight: &[Fq; LANES], holds: fn(&Fq) -> bool| -> Mask {
                (0..L::WIDTH).map(|lane| Mask::from(holds(&eight[lane])) << lane).sum()
            };
            let exist = (0..L::WIDTH).map(|lane| 1 << lane).sum::<Mask>();
            for (i, a) in vectors.iter().enumerate() {
                let x = load(a);
                same(x.store(), *a);
                same(x.squared().store(), a.map(|a| a.square()));
                same(x.largest().store(), *a);
                same(x.negated().shrunk().store(), a.map(|a| -a));
                same(L::Fp::gather(lanes, &x.shrunk().scatter().each_ref()).store(), *a);
                same(L::Fp::from_link(&x.to_link()).store(), *a);
                assert_eq!(x.is_zero() & exist, mask_of(a, |a| *a == Fq::ZERO));
                assert_eq!(x.is_odd() & exist, mask_of(a, |a| a.into_bigint().is_odd()));
                assert_eq!(x.is_larger() & exist, mask_of(a, |a| a.into_bigint() > (-*a).into_bigint()));
                let roots = square_root::in_fp(lanes, &[x])[0];
                let expected = a.map(|a| a.pow(ROOT_EXPONENT));
                same(roots.0.store(), expected);
                assert_eq!(roots.1 & exist, mask_of(a, |a| !a.legendre().is_qnr()));
                for shift in 0..vectors.len() {
                    let b: [Fq; LANES] =
                        core::array::from_fn(|lane| elements[(LANES * shift + 3 * i + lane) % elements.len()]);
                    let y = load(&b);
                    let each = |f: fn(Fq, Fq) -> Fq| core::array::from_fn(|lane| f(a[lane], b[lane]));
                    for (x, y) in [(x, y), (x.largest(), y.largest())] {
                        same(x.times(&y).store(), each(|a, b| a * b));
                    }
                    same(x.plus(&y).store(), each(|a, b| a + b));
                    same(x.minus(&y).store(), each(|a, b| a - b));
                    let equal = (0..L::WIDTH).map(|lane| Mask::from(a[lane] == b[lane]) << lane).sum::<Mask>();
                    assert_eq!(x.equals(&y) & exist, equal);
                    let [mut link, other] = [x.to_link(), y.to_link()];
                    L::Fp::multiply_link(&mut link, &other);
                    L::Fp::square_link(&mut link);
                    same(L::Fp::from_link(&link).store(), each(|a, b| (a * b).square()));
                }
            }
            let mut inverted: Vec<_> = vectors.iter().map(load).collect();
            invert_all(&mut inverted);
            for (inverse, a) in inverted.iter().zip(&vectors) {
                same(inverse.store(), a.map(|a| a.inverse().unwrap_or(Fq::ZERO)));
            }
        }
        with_each_kind!(test);
    }

    /// Values whose coefficients are at the edges of limbs, and others.
    fn values() -> Vec<Fq12> {
        let elements = elements();
        let part = |i: usize| elements[i % elements.len()];
        let fp2 = |i: usize| Fq2::new(part(i), part(5 * i + i / 7));
        let value = |i: usize| Bn254::of_coefficients(core::array::from_fn(|power| fp2(11 * i + 29 * power)));
        (0..48).map(value).collect()
    }

    /// Into the cyclotomic subgroup, by the easy part of the final exponentiation.
    fn cyclotomic(value: &Fq12) -> Fq12 {
        let mut unitary = *value;
        unitary.conjugate_in_place();
        unitary *= Bn254::inverse(value);
        let mut twice = unitary;
        twice.frobenius_map_in_place(2);
        twice * unitary
    }

    #[test]
    fn towers_are_those_of_arkworks() {
        fn test<L: Lanes<Curve = Bn254>>(lanes: L) {
            let values = values();
            let frobenius = |value: &Fq12| {
                let mut out = *value;
                out.frobenius_map_in_place(1);
                out
            };
            let power = |value: &Fq12| value.pow([PARAMETER]);
            for (i, eight) in values.chunks_exact(LANES).enumerate() {
                let others: [&Fq12; LANES] =
                    core::array::from_fn(|lane| &values[(5 * i + 7 * lane + 1) % values.len()]);
                let cyclotomic: [Fq12; LANES] = core::array::from_fn(|lane| cyclotomic(&eight[lane]));
                let (x, y) = (
                    Fp12::<L::Fp>::load(lanes, &core::array::from_fn(|lane| &eight[lane])),
                    Fp12::load(lanes, &others),
                );
                let c = Fp12::<L::Fp>::load(lanes, &cyclotomic.each_ref());
                let found = [
                    x.store(),
                    x.times(&y).store(),
                    x.squared().store(),
                    x.frobenius().store(),
                    x.inverted().store(),
                    c.cyclotomic_squared().store(),
                    c.raised_to_parameter().store(),
                ];
                for lane in 0..L::WIDTH {
                    let (a, b, c) = (eight[lane], *others[lane], cyclotomic[lane]);
                    let expected = [a, a * b, a.square(), frobenius(&a), Bn254::inverse(&a), c.square(), power(&c)];
                    assert_eq!(found.map(|values| values[lane]), expected, "{i}, lane {lane}");
                }
                if L::THRESHOLDS.spread && L::WIDTH == LANES {
                    let [x, y, c] =
                        [&eight[0], others[0], &cyclotomic[0]].map(|value| Spread::<L::Fp>::load(lanes, value));
                    let (a, b, d) = (eight[0], *others[0], cyclotomic[0]);
                    assert_eq!(x.times(&y).store(), a * b);
                    assert_eq!(x.frobenius().store(), frobenius(&a));
                    assert_eq!(x.inverted().store(), Bn254::inverse(&a));
                    assert_eq!(c.cyclotomic_squared().store(), d.square());
                    assert_eq!(c.raised_to_parameter().store(), power(&d));
                }
            }
        }
        with_each_kind!(test);
    }

    /// Zero is not a value of a pairing. It must not become one, which would prove what it stands for.
    #[test]
    fn zero_does_not_become_one() {
        fn test<L: Lanes<Curve = Bn254>>(lanes: L) {
            let zero = MillerValue::new(crate::Pairing::Ate, Fq12::ZERO);
            for n in 1..=LANES {
                let values = pairing::final_exponentiations(lanes, &vec![zero; n]);
                assert!(values.iter().all(|value| !value.is_one()), "{n} values");
            }
        }
        for_each_kind!(test, |lanes| lanes.on::<Bn254>());
        test(Serial::<Bn254, 1>::new());
    }
}
