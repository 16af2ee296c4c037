//! The map of G1's suites: RFC 9380, section 8.8.1.
//!
//! E' is y² = x³ + A'x + B' and Z = 11. The isogeny of degree 11 (appendix E.2) has the denominators h² and h³ for a
//! polynomial h of degree 5. So its images are computed in Jacobian coordinates with Z = h(x). If h(x) is zero, the
//! image is the identity.

use blst::blst_p1_affine;

use super::{
    constant::Constant,
    curve::{Affine, Jacobian, add_affine, times_minus_z},
    field::{Lanes, Mask, PrimeField},
    hash_to_curve::{HashInLanes, Swu},
    instructions::in_lanes,
    spread_point::SpreadPoint,
    square_root,
    unroll::limbs_of,
};
use crate::{
    arithmetic::{Curve, curve::PARAMETER},
    pairing::Bls12381,
};

impl HashInLanes for blst_p1_affine {
    const PORTABLE_IS_UNCLEARED: bool = false;

    #[inline(always)]
    fn swu<L: Lanes<Curve = Bls12381>>(lanes: L) -> Swu<L::Fp> {
        Swu {
            a: L::Fp::constant(lanes, &SWU[0]),
            b: L::Fp::constant(lanes, &SWU[1]),
            minus_b_over_a: L::Fp::constant(lanes, &SWU[2]),
            b_over_z_a: L::Fp::constant(lanes, &SWU[3]),
            z: L::Fp::constant(lanes, &SWU[4]),
        }
    }

    #[inline(always)]
    fn roots<L: Lanes<Curve = Bls12381>, const N: usize>(
        lanes: L,
        u: &[L::Fp; N],
        _: &[L::Fp; N],
        g1: &[L::Fp; N],
    ) -> [(L::Fp, Mask); N] {
        roots(lanes, u, g1)
    }

    #[inline(always)]
    fn isogeny<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Affine<L::Fp>) -> Jacobian<L::Fp> {
        isogeny(lanes, point)
    }

    #[inline(always)]
    fn clear<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Affine<L::Fp>) -> Jacobian<L::Fp> {
        clear(lanes, point)
    }

    fn clear_spread<L: Lanes<Curve = Bls12381>>(lanes: L, point: &Self) -> SpreadPoint<L::Fp, Self> {
        let point = SpreadPoint::load(lanes, point);
        point.times_minus_z().plus(&point)
    }

    fn clear_one(&self) -> Self {
        let mut sum = self.to_jacobian();
        for bit in (0..63).rev() {
            sum = Self::double(&sum);
            // 1 - z.
            if (PARAMETER + 1) >> bit & 1 == 1 {
                sum = Self::add_affine(&sum, self);
            }
        }
        Self::to_affine(&[sum])[0]
    }
}

in_lanes! {
    /// A root of each g(x₁), or of g(x₂) = (Zu²)³·g(x₁) if g(x₁) is not a square.
    fn roots<P: PrimeField<Curve = Bls12381>>[N: usize](lanes: P::Lanes, u: &[P; N], g1: &[P; N]) -> [(P, Mask); N] {
        let roots = square_root::roots(lanes, g1);
        let root_of_minus_z3 = P::constant(lanes, &SWU[5]);
        let of = |i: usize| {
            // If g(x₁) has no root, the power is a root of -g(x₁).
            let other = u[i].squared().times(&u[i]).times(&root_of_minus_z3).times(&roots[i].root);
            (roots[i].root.or(roots[i].is_square, &other), roots[i].is_square)
        };
        limbs_of!(I < N => of(I))
    }

    fn isogeny<P: PrimeField<Curve = Bls12381>>(lanes: P::Lanes, point: &Affine<P>) -> Jacobian<P> {
        let x = point.x;
        let mut x_numerator = P::constant(lanes, &X_NUMERATOR[11]);
        for coefficient in X_NUMERATOR[..11].iter().rev() {
            x_numerator = x_numerator.times(&x).plus(&P::constant(lanes, coefficient));
        }
        let mut y_numerator = P::constant(lanes, &Y_NUMERATOR[15]);
        for coefficient in Y_NUMERATOR[..15].iter().rev() {
            y_numerator = y_numerator.times(&x).plus(&P::constant(lanes, coefficient));
        }
        let mut denominator = P::one(lanes);
        for coefficient in DENOMINATOR.iter().rev() {
            denominator = denominator.times(&x).plus(&P::constant(lanes, coefficient));
        }
        Jacobian { x: x_numerator.carried(), y: y_numerator.times(&point.y), z: denominator.carried() }
    }

    /// (1 - z)·P.
    fn clear<P: PrimeField<Curve = Bls12381>>(lanes: P::Lanes, point: &Affine<P>) -> Jacobian<P> {
        add_affine(lanes, &times_minus_z(lanes, point), point)
    }
}

/// The constants of numbers in three parts of 128 bits, the highest first.
const fn constants<const N: usize>(numbers: [[u128; 3]; N]) -> [Constant; N] {
    let mut out = [Constant::ZERO; N];
    let mut i = 0;
    while i < N {
        let [a, b, c] = numbers[i];
        let words = [c as u64, (c >> 64) as u64, b as u64, (b >> 64) as u64, a as u64, (a >> 64) as u64];
        out[i] = Constant::of_number(words);
        i += 1;
    }
    out
}

/// k_(1,0) to k_(1,11).
const X_NUMERATOR: [Constant; 12] = constants([
    [
        0x11a0_5f2b_1e83_3340_b809_101d_d998_1585,
        0x6b30_3e88_a2d7_005f_f262_7b56_cdb4_e2c8,
        0x5610_c2d5_f2e6_2d6e_aeac_1662_7346_49b7,
    ],
    [
        0x1729_4ed3_e943_ab2f_0588_bab2_2147_a81c,
        0x7c17_e75b_2f6a_8417_f565_e33c_70d1_e86b,
        0x4838_f2a6_f318_c356_e834_eef1_b3cb_83bb,
    ],
    [
        0x0d54_005d_b976_78ec_1d10_48c5_d10a_9a1b,
        0xce03_2473_2959_83e5_6878_e501_ec68_e25c,
        0x958c_3e3d_2a09_729f_e017_9f9d_ac9e_dcb0,
    ],
    [
        0x1778_e716_6fcc_6db7_4e06_09d3_07e5_5412,
        0xd7f5_e465_6a8d_bf25_f1b3_3289_f1b3_3083,
        0x5336_e25c_e310_7193_c5b3_8864_1d9b_6861,
    ],
    [
        0x0e99_726a_3199_f443_6642_b4b3_e411_8e54,
        0x99db_995a_1257_fb3f_086e_eb65_982f_ac18,
        0x985a_286f_301e_77c4_5115_4ce9_ac88_95d9,
    ],
    [
        0x1630_c325_0d73_13ff_01d1_201b_f7a7_4ab5,
        0xdb3c_b17d_d952_799b_9ed3_ab90_97e6_8f90,
        0xa087_0d2d_cae7_3d19_cd13_c1c6_6f65_2983,
    ],
    [
        0x0d6e_d655_3fe4_4d29_6a37_26c3_8ae6_52bf,
        0xb115_8626_4f0f_8ce1_9008_e218_f9c8_6b2a,
        0x8da2_5128_c105_2eca_ddd7_f225_a139_ed84,
    ],
    [
        0x17b8_1e77_01ab_dbe2_e874_3884_d111_7e53,
        0x356d_e5ab_275b_4db1_a682_c62e_f0f2_7533,
        0x39b7_c8f8_c8f4_75af_9ccb_5618_e3f0_c88e,
    ],
    [
        0x080d_3cf1_f9a7_8fc4_7b90_b335_63be_990d,
        0xc43b_756c_e79f_5574_a2c5_96c9_28c5_d1de,
        0x4fa2_95f2_96b7_4e95_6d71_986a_8497_e317,
    ],
    [
        0x169b_1f8e_1bcf_a7c4_2e0c_3751_5d13_8f22,
        0xdd2e_cb80_3a0c_5c99_6763_14ba_f4bb_1b7f,
        0xa319_0b2e_dc03_2779_7f24_1067_be39_0c9e,
    ],
    [
        0x1032_1da0_79ce_07e2_72d8_ec09_d256_5b0d,
        0xfa7d_ccdd_e678_7f96_d50a_f360_03b1_4866,
        0xf69b_771f_8c28_5dec_ca67_df3f_1605_fb7b,
    ],
    [
        0x06e0_8c24_8e26_0e70_bd1e_9623_81ed_ee3d,
        0x31d7_9d7e_22c8_37bc_23c0_bf1b_c24c_6b68,
        0xc24b_1b80_b64d_391f_a9c8_ba2e_8ba2_d229,
    ],
]);

/// The coefficients, without the first one, of the monic polynomial h. Its square is the denominator of x, and its cube
/// that of y.
const DENOMINATOR: [Constant; 5] = constants([
    [
        0x1333_41fb_0962_a34c_b050_4a9c_4fad_a0a5,
        0x090d_3867_9b4c_040d_5d1c_3afb_023a_3409,
        0xfcc0_815f_ea66_d8b0_2bbe_f9c8_b5a6_6e07,
    ],
    [
        0x0264_908a_f037_bced_e00d_054c_f5d4_775e,
        0x83eb_6cf6_3c76_b969_f8ed_174f_b59f_cff7,
        0x8d20_1f46_f6cf_c4ed_6552_e59c_e751_77b0,
    ],
    [
        0x1335_c502_c1f5_4c49_acee_a65e_87fd_7203,
        0xba0f_626f_305f_c0cf_d606_a5da_e9f3_c8e8,
        0x1a4b_3b69_6001_29fa_bd30_7c69_bf31_9d39,
    ],
    [
        0x0944_40f6_5f40_8a6e_930e_16e3_e92d_d17b,
        0xf60d_6e96_79a8_d3d5_8593_de55_ac23_7030,
        0x42d6_0953_7eb3_549a_ac23_4d89_6ca8_2944,
    ],
    [
        0x04af_e09d_5cf4_956a_23b6_b71f_59d2_b340,
        0x7b41_5a77_4b7b_e81b_bb6f_a99c_bc79_8e0a,
        0xc98b_a725_a5bc_3280_16b1_c268_b476_6e85,
    ],
]);

/// k_(3,0) to k_(3,15).
const Y_NUMERATOR: [Constant; 16] = constants([
    [
        0x090d_97c8_1ba2_4ee0_259d_1f09_4980_dcfa,
        0x11ad_138e_48a8_6952_2b52_af6c_9565_43d3,
        0xcd0c_7aee_9b3b_a3c2_be98_4571_9707_bb33,
    ],
    [
        0x1349_96a1_04ee_5811_d510_36d7_76fb_4683,
        0x1223_e96c_254f_383d_0f90_6343_eb67_ad34,
        0xd6c5_6711_962f_a8bf_e097_e75a_2e41_c696,
    ],
    [
        0x00cc_786b_aa96_6e66_f4a3_84c8_6a3b_4994,
        0x2552_e2d6_58a3_1ce2_c344_be4b_9140_0da7,
        0xd26d_5216_28b0_0523_b8df_e240_c72d_e1f6,
    ],
    [
        0x01f8_6376_e898_1c21_7898_751a_d874_6757,
        0xd42a_a7b9_0eeb_791c_09e4_a3ec_0325_1cf9,
        0xde40_5aba_9ec6_1dec_a635_5c77_b0e5_f4cb,
    ],
    [
        0x08cc_03fd_efe0_ff13_5caf_4fe2_a215_29c4,
        0x1955_36fb_e3ce_50b8_7983_3fd2_2135_1adc,
        0x2ee7_f8dc_0990_40a8_41b6_daec_f2e8_fedb,
    ],
    [
        0x1660_3fca_4063_4b6a_2211_e11d_b8f0_a6a0,
        0x74a7_d0d4_afad_b7bd_7650_5c3d_3ad5_544e,
        0x203f_6326_c95a_8072_99b2_3ab1_3633_a5f0,
    ],
    [
        0x04ab_0b9b_cfac_1bbc_b2c9_77d0_2779_6b3c,
        0xe75b_b8ca_2be1_84cb_5231_413c_4d63_4f37,
        0x47a8_7ac2_460f_415e_c961_f885_5fe9_d6f2,
    ],
    [
        0x0987_c8d5_333a_b86f_de99_26bd_2ca6_c674,
        0x170a_05bf_e3bd_d81f_fd03_8da6_c26c_8426,
        0x42f6_4550_fedf_e935_a15e_4ca3_1870_fb29,
    ],
    [
        0x09fc_4018_bd96_684b_e88c_9e22_1e4d_a1bb,
        0x8f3a_bd16_679d_c26c_1e8b_6e6a_1f20_cabe,
        0x69d6_5201_c786_07a3_6037_0e57_7bdb_a587,
    ],
    [
        0x0e1b_ba7a_1186_bdb5_223a_bde7_ada1_4a23,
        0xc42a_0ca7_915a_f6fe_0698_5e7e_d1e4_d43b,
        0x9b3f_7055_dd4e_ba6f_2baf_aaeb_ca73_1c30,
    ],
    [
        0x1971_3e47_937c_d1be_0dfd_0b8f_1d43_fb93,
        0xcd2f_cbcb_6caf_493f_d118_3e41_6389_e610,
        0x31bf_3a5c_ce3f_bafc_e813_711a_d011_c132,
    ],
    [
        0x18b4_6a90_8f36_f6de_b918_c143_fed2_edcc,
        0x5235_59b8_aaf0_c246_2e6b_fe7f_911f_6432,
        0x49d9_cdf4_1b44_d606_ce07_c8a4_d007_4d8e,
    ],
    [
        0x0b18_2cac_101b_9399_d155_0960_04f5_3f44,
        0x7aa7_b12a_3426_b08e_c027_10e8_07b4_633f,
        0x06c8_51c1_9192_11f2_0d4c_04f0_0b97_1ef8,
    ],
    [
        0x0245_a394_ad1e_ca9b_72fc_00ae_7be3_15dc,
        0x757b_3b08_0d4c_1580_13e6_632d_3c40_659c,
        0xc6cf_90ad_1c23_2a64_42d9_d3f5_db98_0133,
    ],
    [
        0x05c1_2964_5e44_cf11_02a1_59f7_48c4_a3fc,
        0x5e67_3d81_d7e8_6568_d9ab_0f5d_396a_7ce4,
        0x6ba1_049b_6579_afb7_866b_1e71_5475_224b,
    ],
    [
        0x15e6_be4e_990f_03ce_4ea5_0b3b_42df_2eb5,
        0xcb18_1d8f_8496_5a39_57ad_d4fa_95af_01b2,
        0xb665_027e_fec0_1c77_04b4_56be_69c8_b604,
    ],
]);

/// A', B', -B'/A', B'/(11·A'), 11, and a square root of -11³.
const SWU: [Constant; 6] = constants([
    [
        0x0014_4698_a3b8_e943_3d69_3a02_c96d_4982,
        0xb0ea_9853_83ee_66a8_d8e8_981a_efd8_81ac,
        0x9893_6f8d_a0e0_f97f_5cf4_2808_2d58_4c1d,
    ],
    [
        0x12e2_908d_1168_8030_018b_12e8_753e_ee3b,
        0x2016_c1f0_f24f_4070_a0b9_c14f_cef3_5ef5,
        0x5a23_215a_316c_eaa5_d1cc_48e9_8e17_2be0,
    ],
    [
        0x0793_154f_d856_31d9_66ef_2470_460c_78f6,
        0xa928_ad9f_5bdb_fac2_1df3_9753_aa27_8ba7,
        0x51bd_fcf9_5a84_188e_29d6_7067_5e4c_9c7c,
    ],
    [
        0x1239_39a3_1626_a32d_e772_bc7a_591e_a140,
        0x683b_ca0c_62ef_b105_310d_5ce1_d27d_1aad,
        0xf79a_5d5c_be8e_2c4f_f7d4_816a_f76d_2814,
    ],
    [
        0x0000_0000_0000_0000_0000_0000_0000_0000,
        0x0000_0000_0000_0000_0000_0000_0000_0000,
        0x0000_0000_0000_0000_0000_0000_0000_000b,
    ],
    [
        0x03d6_89d1_e0e7_62ce_f9f2_bec6_1303_1680,
        0x6b4c_80ed_a6fc_10ce_77ae_83ea_b1ea_8b8b,
        0x8a40_7c9c_6db1_95e0_6f2d_beab_c2ba_eff5,
    ],
]);
