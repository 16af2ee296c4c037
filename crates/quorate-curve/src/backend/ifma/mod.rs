//! The lanes: eight items at a time, one in each 64-bit lane of an AVX-512 vector, by its 52-bit multiplier (IFMA).
//!
//! | layer | files |
//! |---|---|
//! | instructions, and the kernels made of them | [`word`], [`kernel`] |
//! | eight elements of a field | [`fp`], [`fp2`], `fp6`, `fp12`, with [`bound`] beside them in debug builds; [`field`] is their common face |
//! | the verbs, named as in the portable back end | the rest |
//!
//! No function here takes a secret. Verbs on few items go to the portable back end, which is faster there.

pub(crate) mod bound;
pub(crate) mod field;
pub(crate) mod fp;
pub(crate) mod fp12;
pub(crate) mod fp2;
pub(crate) mod kernel;
pub(crate) mod pairing;
pub(crate) mod word;

/// Lanes in a vector.
pub(crate) const LANES: usize = 8;

/// That this CPU has the lanes' instructions and the operating system keeps their registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ifma(());

cpufeatures::new!(lanes, "avx512f", "avx512ifma");

impl Ifma {
    /// What [`detect`](Self::detect) answers with, for constants.
    pub(crate) const FOUND: Self = Self(());

    /// Looks at the CPU, once; `None` where AVX-512 F or IFMA are missing.
    pub fn detect() -> Option<Self> {
        lanes::get().then_some(Self::FOUND)
    }
}

/// Whether this CPU has lanes; says so where it does not, and a test is skipped.
#[cfg(test)]
pub(crate) fn lanes_or_skip() -> bool {
    let found = Ifma::detect().is_some();
    if !found {
        std::println!("skipped: no AVX-512 IFMA on this CPU");
    }
    found
}

#[cfg(test)]
mod timing {
    use super::{fp::Fp, fp2::Fp2};
    #[test]
    #[ignore]
    fn profile() {
        use crate::{G1, G2, Group, pairing::Pairing};
        let pairs = std::vec![(G1::generator(), G2::generator()); 512];
        for _ in 0..100 {
            std::hint::black_box(super::pairing::miller_products(Pairing::TwistedAte, &pairs, &[512]));
        }
    }
    #[test]
    #[ignore]
    fn timing() {
        fn time(name: &str, mut f: impl FnMut()) {
            for _ in 0..2 {
                let n = 200_000;
                let s = std::time::Instant::now();
                for _ in 0..n {
                    f();
                }
                std::println!("{name} {:.2} ns", s.elapsed().as_secs_f64() * 1e9 / n as f64 / 8.0);
            }
        }
        let mut a = std::hint::black_box(Fp::one());
        time("fp mul", || a = a.times(&a));
        time("fp sqr", || a = a.squared());
        time("fp add", || a = a.plus(&Fp::one()).carried());
        let mut b = std::hint::black_box(Fp2::one());
        time("fp2 mul", || b = b.times(&b));
        time("fp2 sqr", || b = b.squared());
        std::hint::black_box((a, b));
        {
            use crate::{Backend, G1, G2, Group, pairing::Pairing};
            let f = std::hint::black_box(super::fp12::Fp12::one());
            let mut g = f;
            time("fp12 mul", || g = g.times(&f));
            time("fp12 sqr", || g = g.squared());
            time("fp12 cyc", || g = g.cyclotomic_squared());
            let (a, b2) = (Fp2::one(), Fp2::one());
            let mut acc = super::fp12::Accumulator::new(f);
            time("line", || acc.times_line::<0>(&a, &b2));
            std::hint::black_box(acc.value());
            for k in [1usize, 2, 4, 16, 64, 128] {
                let pairs = std::vec![(G1::generator(), G2::generator()); 8 * k];
                for pairing in [Pairing::Ate, Pairing::TwistedAte] {
                    let n = 256 / k;
                    let s = std::time::Instant::now();
                    for _ in 0..n {
                        std::hint::black_box(super::pairing::miller_products(pairing, &pairs, &[8 * k]));
                    }
                    std::println!(
                        "{pairing:?} k={k} {:.2} us a pair",
                        s.elapsed().as_secs_f64() * 1e6 / (n * 8 * k) as f64
                    );
                }
                if k == 2 {
                    let s = std::time::Instant::now();
                    for _ in 0..50 {
                        std::hint::black_box(Backend::Portable.miller_products(Pairing::Ate, &pairs, &[8 * k]));
                    }
                    std::println!("blst k={k} {:.2} us a pair", s.elapsed().as_secs_f64() * 1e6 / (50 * 8 * k) as f64);
                }
            }
            let v = Backend::Portable.miller_products(Pairing::Ate, &[(G1::generator(), G2::generator())], &[1])[0];
            let s = std::time::Instant::now();
            for _ in 0..100 {
                std::hint::black_box(super::pairing::final_exponentiations(&[v; 8]));
            }
            std::println!("final exp {:.2} us", s.elapsed().as_secs_f64() * 1e6 / 800.0);
            let s = std::time::Instant::now();
            for _ in 0..100 {
                std::hint::black_box(Backend::Portable.final_exponentiations(&[v]));
            }
            std::println!("blst final exp {:.2} us", s.elapsed().as_secs_f64() * 1e6 / 100.0);
        }
        let mut x = blst::blst_fp { l: [1, 2, 3, 4, 5, 6] };
        time("blst mul (8)", || {
            for _ in 0..8 {
                unsafe { blst::blst_fp_mul(&mut x, &x, &x) }
            }
        });
        time("blst sqr (8)", || {
            for _ in 0..8 {
                unsafe { blst::blst_fp_sqr(&mut x, &x) }
            }
        });
        let mut x = blst::blst_fp2 { fp: [x, x] };
        time("blst mul2 (8)", || {
            for _ in 0..8 {
                unsafe { blst::blst_fp2_mul(&mut x, &x, &x) }
            }
        });
        time("blst sqr2 (8)", || {
            for _ in 0..8 {
                unsafe { blst::blst_fp2_sqr(&mut x, &x) }
            }
        });
    }
}
