//! One text compiles with both crates, so that a caller's does. Each function is taken as a pointer of the type that
//! blst's has, each conversion and trait is asked for.

macro_rules! variant {
    ($crate_name:ident, $module:ident, $key:ident, $key_sum:ident, $key_bytes:literal, $signature:ident, $signature_sum:ident, $signature_bytes:literal) => {
        mod $module {
            use std::fmt::Debug;
            use $crate_name::{
                BLST_ERROR, MultiPoint, blst_scalar, $key, $key_sum,
                $module::{AggregatePublicKey, AggregateSignature, PublicKey, SecretKey, Signature},
                $signature, $signature_sum,
            };

            type Result<T> = std::result::Result<T, BLST_ERROR>;

            #[test]
            fn functions() {
                let _: [fn(&[u8], &[u8]) -> Result<SecretKey>; 2] = [SecretKey::key_gen, SecretKey::key_gen_v3];
                let _: [fn(&[u8], &[u8], &[u8]) -> Result<SecretKey>; 2] =
                    [SecretKey::key_gen_v4_5, SecretKey::key_gen_v5];
                let _: [fn(&[u8]) -> Result<SecretKey>; 3] =
                    [SecretKey::derive_master_eip2333, SecretKey::deserialize, SecretKey::from_bytes];
                let _: fn(&SecretKey, u32) -> SecretKey = SecretKey::derive_child_eip2333;
                let _: fn(&SecretKey) -> PublicKey = SecretKey::sk_to_pk;
                let _: fn(&SecretKey, &[u8], &[u8], &[u8]) -> Signature = SecretKey::sign;
                let _: [fn(&SecretKey) -> [u8; 32]; 2] = [SecretKey::serialize, SecretKey::to_bytes];

                let _: fn(&PublicKey) -> Result<()> = PublicKey::validate;
                let _: [fn(&[u8]) -> Result<PublicKey>; 4] =
                    [PublicKey::key_validate, PublicKey::uncompress, PublicKey::deserialize, PublicKey::from_bytes];
                let _: fn(&AggregatePublicKey) -> PublicKey = PublicKey::from_aggregate;
                let _: [fn(&PublicKey) -> [u8; $key_bytes]; 2] = [PublicKey::compress, PublicKey::to_bytes];
                let _: fn(&PublicKey) -> [u8; 2 * $key_bytes] = PublicKey::serialize;

                let _: fn(&PublicKey) -> AggregatePublicKey = AggregatePublicKey::from_public_key;
                let _: fn(&AggregatePublicKey) -> PublicKey = AggregatePublicKey::to_public_key;
                let _: fn(&[&PublicKey], bool) -> Result<AggregatePublicKey> = AggregatePublicKey::aggregate;
                let _: fn(&[PublicKey], &[u8], usize, bool) -> Result<AggregatePublicKey> =
                    AggregatePublicKey::aggregate_with_randomness;
                let _: fn(&[&[u8]], bool) -> Result<AggregatePublicKey> = AggregatePublicKey::aggregate_serialized;
                let _: [fn(&mut AggregatePublicKey, &AggregatePublicKey); 2] =
                    [AggregatePublicKey::add_aggregate, AggregatePublicKey::sub_aggregate];
                let _: fn(&mut AggregatePublicKey, &PublicKey, bool) -> Result<()> = AggregatePublicKey::add_public_key;

                let _: fn(&Signature, bool) -> Result<()> = Signature::validate;
                let _: fn(&[u8], bool) -> Result<Signature> = Signature::sig_validate;
                let _: fn(&Signature, bool, &[u8], &[u8], &[u8], &PublicKey, bool) -> BLST_ERROR = Signature::verify;
                let _: fn(&Signature, bool, &[&[u8]], &[u8], &[&PublicKey], bool) -> BLST_ERROR =
                    Signature::aggregate_verify;
                let _: fn(&Signature, bool, &[u8], &[u8], &[&PublicKey]) -> BLST_ERROR =
                    Signature::fast_aggregate_verify;
                let _: fn(&Signature, bool, &[u8], &[u8], &PublicKey) -> BLST_ERROR =
                    Signature::fast_aggregate_verify_pre_aggregated;
                type Multiple =
                    fn(&[&[u8]], &[u8], &[&PublicKey], bool, &[&Signature], bool, &[blst_scalar], usize) -> BLST_ERROR;
                let _: Multiple = Signature::verify_multiple_aggregate_signatures;
                let _: fn(&AggregateSignature) -> Signature = Signature::from_aggregate;
                let _: [fn(&Signature) -> [u8; $signature_bytes]; 2] = [Signature::compress, Signature::to_bytes];
                let _: fn(&Signature) -> [u8; 2 * $signature_bytes] = Signature::serialize;
                let _: [fn(&[u8]) -> Result<Signature>; 3] =
                    [Signature::uncompress, Signature::deserialize, Signature::from_bytes];
                let _: fn(&Signature) -> bool = Signature::subgroup_check;

                let _: fn(&AggregateSignature) -> Result<()> = AggregateSignature::validate;
                let _: fn(&Signature) -> AggregateSignature = AggregateSignature::from_signature;
                let _: fn(&AggregateSignature) -> Signature = AggregateSignature::to_signature;
                let _: fn(&[&Signature], bool) -> Result<AggregateSignature> = AggregateSignature::aggregate;
                let _: fn(&[Signature], &[u8], usize, bool) -> Result<AggregateSignature> =
                    AggregateSignature::aggregate_with_randomness;
                let _: fn(&[&[u8]], bool) -> Result<AggregateSignature> = AggregateSignature::aggregate_serialized;
                let _: fn(&mut AggregateSignature, &AggregateSignature) = AggregateSignature::add_aggregate;
                let _: fn(&mut AggregateSignature, &Signature, bool) -> Result<()> = AggregateSignature::add_signature;
                let _: fn(&AggregateSignature) -> bool = AggregateSignature::subgroup_check;

                let _: fn(&[PublicKey], &[u8], usize) -> AggregatePublicKey = <[PublicKey]>::mult;
                let _: fn(&[PublicKey]) -> AggregatePublicKey = <[PublicKey]>::add;
                let _: fn(&[PublicKey]) -> Result<()> = <[PublicKey]>::validate;
                let _: fn(&[Signature], &[u8], usize) -> AggregateSignature = <[Signature]>::mult;
                let _: fn(&[Signature]) -> AggregateSignature = <[Signature]>::add;
                let _: fn(&[Signature]) -> Result<()> = <[Signature]>::validate;
                let _: fn(&[$key], &[u8], usize) -> $key_sum = <[$key]>::mult;
                let _: fn(&[$signature]) -> $signature_sum = <[$signature]>::add;
            }

            #[test]
            fn conversions_and_traits() {
                fn converts<T: From<F>, F>() {}
                fn borrows<T, F>()
                where
                    for<'a> &'a T: From<&'a F>,
                {
                }
                fn tries<T, F>()
                where
                    for<'a> &'a T: TryFrom<&'a F, Error = BLST_ERROR>,
                {
                }
                converts::<$key, PublicKey>();
                converts::<PublicKey, $key>();
                borrows::<$key, PublicKey>();
                converts::<$key_sum, AggregatePublicKey>();
                converts::<AggregatePublicKey, $key_sum>();
                borrows::<$key_sum, AggregatePublicKey>();
                converts::<$signature, Signature>();
                converts::<Signature, $signature>();
                borrows::<$signature, Signature>();
                converts::<$signature_sum, AggregateSignature>();
                converts::<AggregateSignature, $signature_sum>();
                borrows::<$signature_sum, AggregateSignature>();
                borrows::<blst_scalar, SecretKey>();
                tries::<SecretKey, blst_scalar>();

                fn secret<T: Default + Debug + Clone + zeroize::Zeroize + Send + Sync>() {}
                fn key<T: Default + Debug + Copy + Eq + Send + Sync>() {}
                fn signature<T: Debug + Copy + Eq + Send + Sync>() {}
                fn sum<T: Debug + Copy + Send + Sync>() {}
                secret::<SecretKey>();
                key::<PublicKey>();
                signature::<Signature>();
                sum::<AggregatePublicKey>();
                sum::<AggregateSignature>();
                assert_eq!(size_of::<PublicKey>(), size_of::<$key>());
                assert_eq!(size_of::<AggregateSignature>(), size_of::<$signature_sum>());
                #[cfg(feature = "serde-secret")]
                {
                    fn serial<T: serde::Serialize + for<'a> serde::Deserialize<'a>>() {}
                    serial::<SecretKey>();
                    serial::<PublicKey>();
                    serial::<Signature>();
                }
            }
        }
    };
}

macro_rules! surface {
    ($module:ident, $crate_name:ident) => {
        mod $module {
            variant!($crate_name, min_pk, blst_p1_affine, blst_p1, 48, blst_p2_affine, blst_p2, 96);
            variant!($crate_name, min_sig, blst_p2_affine, blst_p2, 96, blst_p1_affine, blst_p1, 48);

            /// The raw functions that callers use, and the types that are not of a variant.
            #[test]
            fn raw_functions() {
                use $crate_name::{
                    BLS12_381_G1, BLST_ERROR, MultiPoint, Pairing, blst_bendian_from_scalar, blst_fp, blst_fp2,
                    blst_fp12, blst_fr, blst_fr_add, blst_fr_from_scalar, blst_fr_mul, blst_hash_to_g2, blst_keygen,
                    blst_lendian_from_scalar, blst_p1, blst_p1_add_or_double, blst_p1_affine, blst_p1_affine_compress,
                    blst_p1_affine_generator, blst_p1_from_affine, blst_p1_generator, blst_p1_mult, blst_p1_to_affine,
                    blst_p2, blst_p2_affine, blst_p2_affine_generator, blst_p2_mult, blst_scalar,
                    blst_scalar_from_bendian, blst_scalar_from_fr, blst_scalar_from_lendian, blst_scalar_from_uint64,
                    blst_sk_add_n_check, blst_sk_check, blst_sk_to_pk_in_g1, blst_uint64_from_fr, p1_affines,
                    p2_affines, print_bytes, uniq,
                };
                let _ = (
                    blst_scalar_from_lendian as unsafe extern "C" fn(_, _),
                    blst_sk_to_pk_in_g1 as unsafe extern "C" fn(_, _),
                );
                let _ = (
                    blst_lendian_from_scalar as unsafe extern "C" fn(_, _),
                    blst_bendian_from_scalar as unsafe extern "C" fn(_, _),
                );
                let _ = (
                    blst_scalar_from_bendian as unsafe extern "C" fn(_, _),
                    blst_sk_check as unsafe extern "C" fn(_) -> bool,
                );
                let _ = (blst_fr_add as unsafe extern "C" fn(_, _, _), blst_fr_mul as unsafe extern "C" fn(_, _, _));
                let _ = (
                    blst_fr_from_scalar as unsafe extern "C" fn(_, _),
                    blst_scalar_from_fr as unsafe extern "C" fn(_, _),
                );
                let _ = (
                    blst_uint64_from_fr as unsafe extern "C" fn(_, _),
                    blst_p1_affine_compress as unsafe extern "C" fn(_, _),
                );
                let _ = (
                    blst_p1_mult as unsafe extern "C" fn(_, _, _, _),
                    blst_p2_mult as unsafe extern "C" fn(_, _, _, _),
                );
                let _ = (
                    blst_p1_add_or_double as unsafe extern "C" fn(_, _, _),
                    blst_p1_to_affine as unsafe extern "C" fn(_, _),
                );
                let _ = (
                    blst_p1_from_affine as unsafe extern "C" fn(_, _),
                    blst_keygen as unsafe extern "C" fn(_, _, _, _, _),
                );
                let _ = (
                    blst_hash_to_g2 as unsafe extern "C" fn(_, _, _, _, _, _, _),
                    blst_sk_add_n_check as unsafe extern "C" fn(_, _, _) -> bool,
                );
                let _ = (blst_fp::default(), blst_fp2::default(), blst_fr::default(), blst_p1::default());
                let (mut scalar, words) = (blst_scalar::default(), [7_u64, 0, 0, 0]);
                // SAFETY: 32 bytes in, a scalar out; blst's generators are constants.
                let (g1, g2, jacobian) = unsafe {
                    blst_scalar_from_uint64(&mut scalar, words.as_ptr());
                    assert_eq!(BLS12_381_G1, *blst_p1_affine_generator());
                    (*blst_p1_affine_generator(), *blst_p2_affine_generator(), *blst_p1_generator())
                };
                assert_eq!(scalar.b[0], 7);
                assert!(uniq(&[b"a", b"b"]) && !uniq(&[b"a", b"a", b"b"]));
                let _: fn(&[u8], &str) = print_bytes;
                assert_eq!(p1_affines::from(&[jacobian; 2]).add(), [g1; 2].add());
                let _: fn(&[blst_p2]) -> p2_affines = p2_affines::from;

                let mut pairing = Pairing::new(true, b"tag");
                let nothing: Option<&blst_p2_affine> = None;
                let error = pairing.aggregate(&g1, true, &nothing, false, b"message", &[]);
                assert_eq!(error, BLST_ERROR::BLST_SUCCESS);
                pairing.commit();
                assert!(!pairing.finalverify(None));
                let value = blst_fp12::miller_loop(&g2, &g1).final_exp();
                assert!(value.in_group() && value != blst_fp12::default());
                assert_eq!(blst_fp12::miller_loop_n(&[g2], &[g1]).final_exp(), value);
                assert!(blst_scalar::hash_to(b"m", b"d").is_some());
                let _: fn(&[blst_p1_affine]) -> std::result::Result<(), BLST_ERROR> = <[blst_p1_affine]>::validate;
            }
        }
    };
}

surface!(of_blst, blst);
surface!(of_the_drop_in, quorate_blst);
