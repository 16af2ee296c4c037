//! BLS12-381 for the formulas: ξ = 1 + i, a parameter z of few bits below zero, and a twist whose equation has 4ξ.

use alloc::vec::Vec;

use blst::{blst_fp, blst_fp2, blst_fp6, blst_fp12, blst_p1_affine, blst_p2_affine};

use super::{
    constant::Constant,
    field::{Extension, Fp2, LoopStep, Parameters, PrimeField, Wide},
    wide::sum,
};
use crate::{
    arithmetic::{curve::PARAMETER, fp12},
    backend::portable::{
        self,
        map_to_g2::{PSI_X, PSI_Y},
    },
    pairing::{Bls12381, Gt, MillerValue},
    segments::Cut,
};

impl Parameters for Bls12381 {
    type Element = blst_fp;
    type Element2 = blst_fp2;
    type G1 = blst_p1_affine;
    type G2 = blst_p2_affine;

    const PARAMETER: [u64; 2] = [PARAMETER, 0];
    const IS_SPARSE: bool = true;
    const LOOP: &'static [LoopStep] = &{
        let mut steps = [LoopStep::Double; 68];
        let (mut bit, mut at) = (63, 0);
        while bit > 0 {
            bit -= 1;
            at += 1;
            if PARAMETER >> bit & 1 == 1 {
                steps[at] = LoopStep::Add;
                at += 1;
            }
        }
        steps
    };
    const IS_LOOP_NEGATIVE: bool = true;
    const TWIST_MULTIPLIES: bool = true;
    const FROBENIUS: [[Constant; 2]; 6] = FROBENIUS;
    const PSI: [[Constant; 2]; 2] = {
        const fn constant(element: &blst_fp2) -> [Constant; 2] {
            [Constant::new(element.fp[0].l), Constant::new(element.fp[1].l)]
        }
        [constant(&PSI_X), constant(&PSI_Y)]
    };

    #[inline(always)]
    fn words(element: &blst_fp) -> [u64; 6] {
        element.l
    }

    #[inline(always)]
    fn of_words(l: [u64; 6]) -> blst_fp {
        blst_fp { l }
    }

    #[inline(always)]
    fn parts(element: &blst_fp2) -> [&blst_fp; 2] {
        element.fp.each_ref()
    }

    #[inline(always)]
    fn of_parts(fp: [blst_fp; 2]) -> blst_fp2 {
        blst_fp2 { fp }
    }

    fn coefficient(value: &blst_fp12, power: usize) -> &blst_fp2 {
        &value.fp6[power % 2].fp2[power / 2]
    }

    fn of_coefficients(coefficients: [blst_fp2; 6]) -> blst_fp12 {
        let half = |half: usize| blst_fp6 { fp2: core::array::from_fn(|i| coefficients[2 * i + half]) };
        blst_fp12 { fp6: [half(0), half(1)] }
    }

    fn inverse(value: &blst_fp12) -> blst_fp12 {
        fp12::inverse(value)
    }

    #[inline(always)]
    fn times_xi<P: PrimeField<Curve = Self>>(a: &Fp2<P>) -> Fp2<P> {
        Fp2::new(a.c0.minus(&a.c1), a.c0.plus(&a.c1))
    }

    #[inline(always)]
    fn wide_times_xi<P: PrimeField<Curve = Self>>(a: &Wide<P>) -> Wide<P> {
        Wide { c0: sum!(a.c0, -a.c1), c1: sum!(a.c0, + a.c1) }
    }

    #[inline(always)]
    fn plus_times_xi<P: PrimeField<Curve = Self>>(a: &Wide<P>, b: &Wide<P>) -> Wide<P> {
        Wide { c0: sum!(a.c0, + b.c0, - b.c1), c1: sum!(a.c1, + b.c0, + b.c1) }
    }

    /// α = i and β = 1 - i, of which the sum is one.
    #[inline(always)]
    fn factors_of_norm<P: PrimeField<Curve = Self>>(a: &Fp2<P>, b: &Fp2<P>) -> [Fp2<P>; 2] {
        [
            Fp2::new(a.c0.minus(&b.c1), a.c1.plus(&b.c0)),
            Fp2::new(a.c0.plus(&b.c0).plus(&b.c1), a.c1.plus(&b.c1).minus(&b.c0)),
        ]
    }

    #[inline(always)]
    fn times_sum_of_factors<P: PrimeField<Curve = Self>>(a: &Fp2<P>) -> Fp2<P> {
        *a
    }

    /// (z - 1)²·(z + p)·(z² + p² - 1) + 3 (D. Hayashida, K. Hayasaka and T. Teruya, <https://eprint.iacr.org/2020/875>).
    #[inline(always)]
    fn hard_part<E: Extension>(f: &E) -> E {
        // Raise to z - 1 twice.
        let a = times_z(f).times(&f.conjugated());
        let a = times_z(&a).times(&a.conjugated());
        let b = times_z(&a).times(&a.frobenius());
        let c = times_z(&times_z(&b)).times(&b.frobenius().frobenius()).times(&b.conjugated());
        c.times(&f.cyclotomic_squared()).times(f)
    }

    fn miller_products<T>(
        pairs: Cut<'_, T>,
        finite: impl Fn(&T) -> Option<(blst_p1_affine, blst_p2_affine)>,
    ) -> Vec<MillerValue> {
        portable::pairing::miller_products(pairs, finite)
    }

    fn final_exponentiation(value: &MillerValue) -> Gt {
        portable::pairing::final_exponentiation(value)
    }
}

/// f^z, for f in the cyclotomic subgroup.
#[inline(always)]
fn times_z<E: Extension>(f: &E) -> E {
    // z is negative.
    f.raised_to_parameter().conjugated()
}

/// (1 + i)^(i(p-1)/6), i = 0 … 5.
const FROBENIUS: [[Constant; 2]; 6] = [
    [
        Constant::new([
            0x7609_0000_0002_fffd,
            0xebf4_000b_c40c_0002,
            0x5f48_9857_53c7_58ba,
            0x77ce_5853_7052_5745,
            0x5c07_1a97_a256_ec6d,
            0x15f6_5ec3_fa80_e493,
        ]),
        Constant::ZERO,
    ],
    [
        Constant::new([
            0x0708_9552_b319_d465,
            0xc669_5f92_b50a_8313,
            0x97e8_3ccc_d117_228f,
            0xa35b_aeca_b2dc_29ee,
            0x1ce3_93ea_5daa_ce4d,
            0x08f2_220f_b0fb_66eb,
        ]),
        Constant::new([
            0xb2f6_6aad_4ce5_d646,
            0x5842_a06b_fc49_7cec,
            0xcf48_95d4_2599_d394,
            0xc11b_9cba_40a8_e8d0,
            0x2e38_13cb_e5a0_de89,
            0x110e_efda_8884_7faf,
        ]),
    ],
    [
        Constant::ZERO,
        Constant::new([
            0xcd03_c9e4_8671_f071,
            0x5dab_2246_1fcd_a5d2,
            0x5870_42af_d385_1b95,
            0x8eb6_0ebe_01ba_cb9e,
            0x03f9_7d6e_83d0_50d2,
            0x18f0_2065_5463_8741,
        ]),
    ],
    [
        Constant::new([
            0x7bcf_a7a2_5aa3_0fda,
            0xdc17_dec1_2a92_7e7c,
            0x2f08_8dd8_6b4e_bef1,
            0xd1ca_2087_da74_d4a7,
            0x2da2_5966_96ce_bc1d,
            0x0e2b_7eed_bbfd_87d2,
        ]),
        Constant::new([
            0x7bcf_a7a2_5aa3_0fda,
            0xdc17_dec1_2a92_7e7c,
            0x2f08_8dd8_6b4e_bef1,
            0xd1ca_2087_da74_d4a7,
            0x2da2_5966_96ce_bc1d,
            0x0e2b_7eed_bbfd_87d2,
        ]),
    ],
    [
        Constant::new([
            0x890d_c9e4_8675_45c3,
            0x2af3_2253_3285_a5d5,
            0x5088_0866_309b_7e2c,
            0xa20d_1b8c_7e88_1024,
            0x14e4_f04f_e2db_9068,
            0x14e5_6d3f_1564_853a,
        ]),
        Constant::ZERO,
    ],
    [
        Constant::new([
            0x82d8_3cf5_0dbc_e43f,
            0xa281_3e53_df9d_018f,
            0xc6f0_caa5_3c65_e181,
            0x7525_cf52_8d50_fe95,
            0x4a85_ed50_f479_8a6b,
            0x171d_a0fd_6cf8_eebd,
        ]),
        Constant::new([
            0x3726_c30a_f242_c66c,
            0x7c2a_c1aa_d1b6_fe70,
            0xa040_07fb_ba4b_14a2,
            0xef51_7c32_6634_1429,
            0x0095_ba65_4ed2_226b,
            0x02e3_70ec_cc86_f7dd,
        ]),
    ],
];
