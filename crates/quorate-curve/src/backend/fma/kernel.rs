//! The kernels: products and reductions of limbs. They are generic, so that the lanes and the proofs run the same code, and so that each
//! prime has as many limbs as it needs.
//!
//! A number is Σ limb_i · 2^(48·i), i < N, of signed limbs that are doubles: eight for BLS12-381 and six for BN254. What is said below
//! is of eight, where R is 2^384, which is blst's, so that blst's elements need only be cut into limbs. With six limbs all ranges are
//! smaller. A **unit** is 2^47, a balanced limb. A carry leaves limbs of one
//! unit and at most 64 more. The eighth limb of v·p is 0.2·v units.
//!
//! **Limits.** Every kernel gives limbs of one unit, apart from the eighth limb, which the value bounds. Columns are
//! bounded below. `proofs` proves all lines for all values, in the rounding to nearest.
//!
//! | kernel | accepts | gives |
//! |---|---|---|
//! | [`product_reduced`] | 2 × 2 units, 8p × 8p | the bound of [`reduce`] |
//! | [`square_reduced`] | 2 units, 8p | the bound of [`reduce`] |
//! | [`product2_reduced`] | 2 × 1 or 1 × 2 units with 8p, or 2 × 2 units with 3.9p | the bound of [`reduce`] |
//! | [`square2`] | 2 units, 3.9p | the bound of [`reduce`] |
//! | [`reduce`] | columns of 48 units | at most abs(T)/R + 0.812p |
//! | [`normalise`] | 31 units, 31p | at most 0.51p |
//! | [`carry`] | limbs below 2^53 | the same number |
//! | `words` | limbs of one unit, 0.51p | the least representative |
//!
//! **Products.** Column k is Σ a_i·b_(k-i). Each product is added in two parts (see [`word`](super::word)). The high
//! parts of a column have one sum, which must stay below 2^99: with 2 × 2 units the sixth column has seven products
//! of 2^96, and the seventh six of them and two with an eighth limb. Four columns are summed at a time, because a sum
//! waits for its last term.
//!
//! **Reduction.** The lower seven columns become digits d_t of one unit. The digit of weight 2^(48·t) is worth d_t·C_t
//! at the seventh column, with C_t = 2^(-48·(7-t)) modulo p, from -p/2 to p/2. The digit q of the seventh column is that
//! column times -1/p modulo 2^48, and q·p clears it. The result is
//!
//! ```text
//! T/R + (Σ_t d_t·C_t + q·p)/2^48 - Σ_t d_t·2^(48·t)/R,   abs(d_t) <= 2^47 + 64,   abs(q) <= 2^47,
//! ```
//!
//! so it differs from T/R by at most (Σ abs(C_t) + p)/2 and less than p/2^40. The constants make that 0.8113p.

use core::marker::PhantomData;

use super::word::{Cut, LIMB_BITS, Repeat, Sum, Word};
use crate::backend::lanes::{
    constant::{Modulus, halved, limbs, minus_inverse},
    integer::{Integer, without_signs, words_of_limbs},
    unroll::{limbs_of, unroll},
};

/// The columns of a number that is not reduced yet: the lower half, then the upper half.
pub(crate) type Columns<W, const N: usize> = [[W; N]; 2];

/// The numbers of a prime in N limbs, which is an even number of at most eight.
pub(crate) struct Numbers<C, const N: usize>(PhantomData<C>);

/// The constants of a reduction, each as a whole register in memory: see [`Word::constants`].
struct Repeated<const N: usize> {
    /// The limbs of [`Numbers::SHIFTED`].
    shifted: [[Repeat; N]; N],
    /// The limbs of p.
    p: [Repeat; N],
}

/// The upper sums of a product, in two groups.
type Upper<W> = [[Sum<W>; 4]; 2];

/// The reduced sum of products, where a block adds its terms to columns `$from` to `$from` + `$count` - 1, at most four. The reduction
/// continues the sums of the upper columns.
macro_rules! reduced_columns {
    ($zero:expr, $sums:ident, $from:ident, $count:ident => $add:expr) => {{
        let zero = $zero;
        let mut lower = [zero; N];
        let mut high = zero.no_high();
        unroll!(GROUP in [0 1] {
            let ($from, $count) = (N / 2 * GROUP, N / 2);
            let mut $sums = [Sum::new(zero); 4];
            $add;
            unroll!(C in [0 1 2 3] { if C < $count {
                lower[$from + C] = $sums[C].low.plus_high(high);
                high = $sums[C].high;
            } });
        });
        let mut upper = limbs_of!(GROUP in [0 1] => {
            let ($from, $count) = (N + N / 2 * GROUP, N / 2 - GROUP);
            let mut $sums = [Sum::new(zero); 4];
            $add;
            $sums
        });
        upper[0][0].low = upper[0][0].low.plus_high(high);
        Self::carry(&Self::reduce_sums(&lower, &upper, zero))
    }};
}

impl<C: Modulus, const N: usize> Numbers<C, N> {
    /// p in balanced limbs.
    pub(crate) const P: [f64; N] = {
        assert!(N == C::LIMBS && N.is_multiple_of(2) && N <= 8);
        Self::balanced(C::P, [0; 6])
    };

    /// -1/p modulo 2^48, between -2^47 and 2^47.
    const MINUS_INVERSE: f64 = {
        let inverse = minus_inverse::<C>(48);
        (if inverse > 1 << 47 { inverse - (1 << 48) } else { inverse }) as f64
    };

    /// 2^(-48·(N-1-t)) modulo p for t from 0 to N - 2: what a digit of weight 2^(48·t) is worth at the last limb.
    const SHIFTED: [[f64; N]; N] = {
        let mut out = [[0.0; N]; N];
        let mut t = 0;
        while t + 1 < N {
            let words = halved::<C>(48 * (N as u32 - 1 - t as u32));
            let top = if C::P[5] > 0 { 5 } else { 3 };
            out[t] = Self::balanced(words, if words[top] > C::P[top] / 2 { C::P } else { [0; 6] });
            t += 1;
        }
        out
    };

    const REPEATED: Repeated<N> = {
        let mut out = Repeated { shifted: [[Repeat::of(0.0); N]; N], p: [Repeat::of(0.0); N] };
        let mut i = 0;
        while i < N {
            let mut t = 0;
            while t + 1 < N {
                out.shifted[t][i] = Repeat::of(Self::SHIFTED[t][i]);
                t += 1;
            }
            out.p[i] = Repeat::of(Self::P[i]);
            i += 1;
        }
        out
    };

    /// The difference of two numbers in balanced limbs, from -2^47 to 2^47 - 1.
    const fn balanced(words: [u64; 6], less: [u64; 6]) -> [f64; N] {
        let (words, less): ([i64; N], [i64; N]) = (limbs(words, 48, N), limbs(less, 48, N));
        let mut out = [0.0; N];
        let (mut carry, mut i) = (0, 0);
        while i < N {
            let mut limb = words[i] - less[i] + carry;
            carry = 0;
            if i + 1 < N {
                carry = (limb + (1 << 47)) >> 48;
                limb -= carry << 48;
            }
            out[i] = limb as f64;
            i += 1;
        }
        out
    }

    /// Adds to columns `from` to `from` + `count` - 1, at most four, their terms of a·b.
    #[inline(always)]
    fn add_products<W: Word>(sums: &mut [Sum<W>; 4], a: &[W; N], b: &[W; N], from: usize, count: usize) {
        unroll!(I < N { unroll!(C in [0 1 2 3] {
            if C < count && I <= from + C && from + C - I < N {
                W::add_product(&mut sums[C], a[I], b[from + C - I]);
            }
        }); });
    }

    /// Subtracts from columns `from` to `from` + `count` - 1, at most four, their terms of a·b.
    #[inline(always)]
    fn subtract_products<W: Word>(sums: &mut [Sum<W>; 4], a: &[W; N], b: &[W; N], from: usize, count: usize) {
        unroll!(I < N { unroll!(C in [0 1 2 3] {
            if C < count && I <= from + C && from + C - I < N {
                W::subtract_product(&mut sums[C], a[I], b[from + C - I]);
            }
        }); });
    }

    /// Adds to columns `from` to `from` + `count` - 1, at most four, their terms of a², where `twice` is 2a.
    #[inline(always)]
    fn add_squares<W: Word>(sums: &mut [Sum<W>; 4], a: &[W; N], twice: &[W; N], from: usize, count: usize) {
        unroll!(I < N { unroll!(C in [0 1 2 3] {
            if C < count && 2 * I <= from + C && from + C - I < N {
                let factor = if 2 * I == from + C { a[I] } else { twice[I] };
                W::add_product(&mut sums[C], factor, a[from + C - I]);
            }
        }); });
    }

    /// Adds to each column the high parts of the one below.
    #[inline(always)]
    fn close<W: Word>(columns: &mut Columns<W, N>, high: &mut W::High, sums: &[Sum<W>; 4], from: usize, count: usize) {
        unroll!(C in [0 1 2 3] {
            if C < count {
                columns[(from + C) / N][(from + C) % N] = sums[C].low.plus_high(*high);
                *high = sums[C].high;
            }
        });
    }

    /// a·b/R modulo p, as [`reduce`](Self::reduce) makes it from columns, with fewer carries.
    #[inline(always)]
    pub(crate) fn product_reduced<W: Word>(a: &[W; N], b: &[W; N]) -> [W; N] {
        reduced_columns!(a[0].splat(-0.0), sums, from, count => Self::add_products(&mut sums, a, b, from, count))
    }

    /// a²/R modulo p.
    #[inline(always)]
    pub(crate) fn square_reduced<W: Word>(a: &[W; N]) -> [W; N] {
        let twice = limbs_of!(I < N => a[I].plus(a[I]));
        reduced_columns!(a[0].splat(-0.0), sums, from, count => Self::add_squares(&mut sums, a, &twice, from, count))
    }

    /// The columns of (a0 + a1·i)·(b0 + b1·i) in Fp2, which are P - a1·(b0 + b1) and P + a0·(b1 - b0) with P = (a0 + a1)·b0.
    /// Both sums of products continue that of P. 3N² products.
    #[inline(always)]
    pub(super) fn product2<W: Word>(a: [&[W; N]; 2], b: [&[W; N]; 2]) -> [Columns<W, N>; 2] {
        let sum_a = Self::carry(&limbs_of!(I < N => a[0][I].plus(a[1][I])));
        let sum_b = Self::carry(&limbs_of!(I < N => b[0][I].plus(b[1][I])));
        let difference_b = Self::carry(&limbs_of!(I < N => b[1][I].minus(b[0][I])));
        let zero = a[0][0].splat(-0.0);
        let mut columns = [[[zero; N]; 2]; 2];
        // The high parts of the column below.
        let mut high = [zero.no_high(); 2];
        unroll!(GROUP in [0 1 2 3] {
            let (from, count) = (N / 2 * GROUP, if GROUP < 3 { N / 2 } else { N / 2 - 1 });
            let mut real = [Sum::new(zero); 4];
            Self::add_products(&mut real, &sum_a, b[0], from, count);
            let mut imaginary = real;
            Self::subtract_products(&mut real, a[1], &sum_b, from, count);
            Self::close(&mut columns[0], &mut high[0], &real, from, count);
            Self::add_products(&mut imaginary, a[0], &difference_b, from, count);
            Self::close(&mut columns[1], &mut high[1], &imaginary, from, count);
        });
        unroll!(PART in [0 1] { columns[PART][1][N - 1] = zero.plus_high(high[PART]); });
        columns
    }

    /// (a0 + a1·i)·(b0 + b1·i)/R in Fp2.
    #[inline(always)]
    pub(crate) fn product2_reduced<W: Word>(a: [&[W; N]; 2], b: [&[W; N]; 2]) -> [[W; N]; 2] {
        let [c0, c1] = Self::product2(a, b);
        [Self::reduce(&c0), Self::reduce(&c1)]
    }

    /// (c0 + c1·i)²/R in Fp2: (c0 + c1)(c0 - c1) and 2·c0·c1. 254 products.
    #[inline(always)]
    pub(crate) fn square2<W: Word>(c0: &[W; N], c1: &[W; N]) -> [[W; N]; 2] {
        let sum = limbs_of!(I < N => c0[I].plus(c1[I]));
        let difference = Self::carry(&limbs_of!(I < N => c0[I].minus(c1[I])));
        let real = Self::product_reduced(&sum, &difference);
        let twice = Self::carry(&limbs_of!(I < N => c0[I].plus(c0[I])));
        [real, Self::product_reduced(&twice, c1)]
    }

    /// T/R modulo p, for the columns of T. N² - 1 products.
    #[inline(always)]
    pub(super) fn reduce<W: Word>(columns: &Columns<W, N>) -> [W; N] {
        let upper = limbs_of!(GROUP in [0 1] => limbs_of!(C in [0 1 2 3] => {
            Sum::new(columns[1][(N / 2 * GROUP + C) % N])
        }));
        Self::carry(&Self::reduce_sums(&columns[0], &upper, columns[1][N - 1]))
    }

    /// T/R modulo p, where the columns from N to 2N - 2 are sums whose high parts were not yet added to the columns above: the first
    /// N/2 of them, and the others. The carries of the result are not taken.
    #[inline(always)]
    fn reduce_sums<W: Word>(columns: &[W; N], upper: &Upper<W>, top: W) -> [W; N] {
        let Repeated { shifted, p } = W::constants(const { &Self::REPEATED });
        let half = N / 2;
        let mut digits = *columns;
        let mut last = columns[N - 1];
        unroll!(I < N { if I + 1 < N {
            let Cut { carry, rest } = columns[I].cut();
            digits[I] = if I > 0 { rest.plus(digits[I]) } else { rest };
            if I + 2 < N { digits[I + 1] = carry } else { last = last.plus(carry) }
        } });
        let mut below = [Sum::new(last), upper[0][0], upper[0][1], upper[0][2]];
        unroll!(T < N { unroll!(C in [0 1 2 3] { if T + 1 < N && C < half {
            W::add_product(&mut below[C], digits[T], top.repeat(&shifted[T][C]));
        } }); });
        let [last, ..] = below;
        let digit = last.low.digit(Self::MINUS_INVERSE);
        let cleared = last.low.cleared(digit, top.repeat(&p[0]));
        let mut above = [upper[0][half - 1], upper[1][0], upper[1][1], upper[1][2]];
        // The last digit is known only now, so its products come in the middle.
        unroll!(T in [0 1 2 3] { if T < half { unroll!(C in [0 1 2 3] { if C < half {
            W::add_product(&mut above[C], digits[T], top.repeat(&shifted[T][half + C]));
        } }); } });
        unroll!(C in [1 2 3] { if C < half { W::add_product(&mut below[C], digit, top.repeat(&p[C])); } });
        unroll!(C in [0 1 2 3] { if C < half { W::add_product(&mut above[C], digit, top.repeat(&p[half + C])); } });
        unroll!(T < N { unroll!(C in [0 1 2 3] { if T >= half && T + 1 < N && C < half {
            W::add_product(&mut above[C], digits[T], top.repeat(&shifted[T][half + C]));
        } }); });
        let mut out = [top; N];
        let mut high = last.high;
        unroll!(I < N {
            let sum = if I + 1 < half { below[(I + 1) % 4] } else { above[(I + 1 - half) % 4] };
            if I + 1 < N {
                let low = if I == 0 { sum.low.plus_multiple(cleared) } else { sum.low };
                out[I] = low.plus_high(high);
                high = sum.high;
            }
        });
        out[N - 1] = top.plus_high(high);
        out
    }

    /// The same number with limbs of one unit: each limb gives the next its nearest multiple of 2^48.
    #[inline(always)]
    pub(crate) fn carry<W: Word>(a: &[W; N]) -> [W; N] {
        let cuts = limbs_of!(I < N => a[I].cut());
        limbs_of!(I < N => {
            let rest = if I + 1 < N { cuts[I].rest } else { a[I] };
            if I != 0 { rest.plus(cuts[(I + 7) % 8].carry) } else { rest }
        })
    }

    /// The same element with limbs of one unit and a value of at most 0.51p.
    #[inline(always)]
    pub(crate) fn normalise<W: Word>(a: &[W; N]) -> [W; N] {
        let p = const { &Self::P };
        let times = a[N - 1].nearest(1.0 / p[N - 1]);
        Self::carry(&limbs_of!(I < N => a[I].minus_product(times, times.splat(p[I]))))
    }

    /// The lowest limb, less the multiple of p beside the number and modulo 2^48. It is zero if the number is a multiple of p.
    #[inline(always)]
    pub(crate) fn lowest_limb<W: Word>(a: &[W; N]) -> W {
        let p = const { &Self::P };
        let times = a[N - 1].nearest(1.0 / p[N - 1]);
        a[0].minus_product(times, times.splat(p[0])).cut().rest
    }

    /// The words of 64 bits of the least representative of a number between -p and p, from limbs with signs as integers of one lane.
    #[inline(always)]
    pub(super) fn words<I: Integer>(a: &[I; N]) -> [I; 6] {
        let p = const { &Self::P };
        let (number, above) = without_signs(a, LIMB_BITS);
        let zero = above.splat(0);
        // Above a negative number stands -1, which p takes away.
        let lifted = limbs_of!(J < N => number[J].plus(above.where_negative(above.splat(p[J] as i64), zero)));
        words_of_limbs(&without_signs(&lifted, LIMB_BITS).0, LIMB_BITS)
    }
}

/// What a kernel can compute, and what it does compute.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::pairing::Bls12381;
    use crate::{
        arithmetic::field::Field,
        backend::{
            fma::{
                tests::{for_each_half, for_each_vector},
                vector::Vector,
                word::Fused,
            },
            lanes::field::Lanes,
        },
    };
    use alloc::vec::Vec;
    use blst::blst_fp;

    pub(in crate::backend::fma) type Limbs = [f64; 8];
    type Eight = Numbers<Bls12381, 8>;
    const P: Limbs = Eight::P;

    fn integer(n: f64) -> i128 {
        assert_eq!(n, n.trunc());
        n as i128
    }

    /// One lane, in which every operation asserts that it is exact, unless its name says that it rounds.
    impl Fused for f64 {
        fn set(self, n: f64) -> Self {
            n
        }
        fn add(self, other: Self) -> Self {
            let sum = self + other;
            assert_eq!(integer(sum), integer(self) + integer(other), "{self} + {other} is not exact");
            sum
        }
        fn sub(self, other: Self) -> Self {
            let difference = self - other;
            assert_eq!(integer(difference), integer(self) - integer(other), "{self} - {other} is not exact");
            difference
        }
        fn add_mul(self, a: Self, b: Self) -> Self {
            let sum = a.mul_add(b, self);
            // The one factor that is not an integer is a power of two.
            let product = if b.abs() < 1.0 && b != 0.0 {
                let divisor = integer(1.0 / b);
                assert_eq!(integer(a) % divisor, 0, "{a} is not a multiple of {divisor}");
                integer(a) / divisor
            } else {
                integer(a) * integer(b)
            };
            assert_eq!(integer(sum), product + integer(self), "{a}·{b} + {self} is not exact");
            sum
        }
        fn sub_mul(self, a: Self, b: Self) -> Self {
            self.add_mul(-a, b)
        }
        fn add_mul_rounded(self, a: Self, b: Self) -> Self {
            a.mul_add(b, self)
        }
        fn sub_mul_rounded(self, a: Self, b: Self) -> Self {
            (-a).mul_add(b, self)
        }
        fn load(self, n: &Repeat) -> Self {
            n.once()
        }
        fn constants<T>(constants: &T) -> &T {
            constants
        }
        fn pinned(self) -> Self {
            self
        }
        fn is_within(self, least: f64, most: f64) -> bool {
            (least..most).contains(&self)
        }
    }

    /// 2^47, the unit of a balanced limb.
    const UNIT: i128 = 1 << 47;

    /// Σ limb·2^(48·i) modulo p.
    pub(in crate::backend::fma) fn modulo_p(limbs: &[f64]) -> blst_fp {
        let small = |n: u128| {
            let mut out = blst_fp::default();
            // SAFETY: six words in.
            unsafe { blst::blst_fp_from_uint64(&mut out, [n as u64, (n >> 64) as u64, 0, 0, 0, 0].as_ptr()) };
            out
        };
        limbs.iter().rev().fold(blst_fp::default(), |sum, limb| {
            let limb = integer(*limb);
            let (up, size) = (sum.times(&small(1 << 48)), small(limb.unsigned_abs()));
            if limb < 0 { up.minus(&size) } else { up.plus(&size) }
        })
    }

    pub(in crate::backend::fma) fn r() -> blst_fp {
        modulo_p(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    }

    /// Limbs at their edges: 0, ±1, ±`units`, one or all of them; small multiples of p and numbers beside them; and some
    /// that look random.
    pub(in crate::backend::fma) fn edges(units: f64) -> Vec<Limbs> {
        let most = units * UNIT as f64;
        let top = |limb: f64| (limb / most * P[7]).trunc();
        let mut out = Vec::new();
        for n in [0.0, 1.0, most] {
            for sign in [1.0, -1.0] {
                let mut all = [n * sign; 8];
                all[7] = top(all[7]);
                out.push(all);
                out.push(limbs_of!(I < 8 => if I & 1 == 0 { all[I] } else { -all[I] }));
                for place in 0..8 {
                    let mut one = [0.0; 8];
                    one[place] = all[place];
                    out.push(one);
                }
                out.push(limbs_of!(I < 8 => if I == 0 { sign * (P[0] + n) } else { sign * P[I] }));
            }
        }
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..40 {
            out.push(core::array::from_fn(|i| {
                state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(0x1234_5677);
                let limb = ((state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0) * most;
                if i == 7 { top(limb) } else { limb.trunc() }
            }));
        }
        out
    }

    #[test]
    #[should_panic(expected = "not exact")]
    fn lanes_notice_a_sum_that_leaves_the_binade() {
        Eight::product_reduced(&[3.0 * UNIT as f64; 8], &[3.0 * UNIT as f64; 8]);
    }

    #[test]
    fn constants_are_what_they_are_called() {
        assert_eq!(modulo_p(&P), blst_fp::default());
        assert_eq!((P[0] as i128 * Eight::MINUS_INVERSE as i128 + 1) & ((1 << 48) - 1), 0);
        for (t, limbs) in Eight::SHIFTED[..7].iter().enumerate() {
            let mut power = [0.0; 8];
            power[7 - t] = 1.0;
            assert_eq!(modulo_p(limbs).times(&modulo_p(&power)), modulo_p(&[1.0]));
            assert!(limbs[..7].iter().all(|limb| limb.abs() <= UNIT as f64));
        }
    }

    #[test]
    fn kernels_at_the_edges() {
        for a in edges(2.0) {
            for b in edges(2.0) {
                let expected = modulo_p(&a).times(&modulo_p(&b));
                assert_eq!(modulo_p(&Eight::product_reduced(&a, &b)).times(&r()), expected);
            }
            assert_eq!(modulo_p(&Eight::square_reduced(&a)).times(&r()), modulo_p(&a).squared());
        }
        for a in edges(31.0) {
            assert_eq!(modulo_p(&Eight::carry(&a)), modulo_p(&a));
            let normal = Eight::normalise(&a);
            assert_eq!(modulo_p(&normal), modulo_p(&a));
            assert!(in_p(&normal).abs() <= 0.51 && normal[..7].iter().all(|limb| limb.abs() <= (UNIT + 64) as f64));
        }
    }

    /// Σ limb·2^(48·i)/p, nearly.
    fn in_p(limbs: &[f64]) -> f64 {
        let value = |limbs: &[f64]| limbs.iter().rev().fold(0.0, |sum, limb| sum * (1_u64 << 48) as f64 + limb);
        value(limbs) / value(&P)
    }

    /// Every method of vectors that moves lanes or reads their bits. The lanes from `exist` on are zero.
    fn vectors_move_lanes<V: Vector>(token: V::Token, exist: usize) {
        let kept = |numbers: [f64; 8]| -> [f64; 8] {
            core::array::from_fn(|lane| if lane < exist { numbers[lane] } else { 0.0 })
        };
        let numbers: [[f64; 8]; 8] = limbs_of!(I < 8 => core::array::from_fn(|lane| (1 + 8 * I + lane) as f64));
        let of_rows = V::of_rows(token, &numbers.each_ref());
        for (i, vector) in of_rows.iter().enumerate() {
            assert_eq!(vector.store(), kept(core::array::from_fn(|lane| numbers[lane][i])));
        }
        for (lane, row) in V::to_rows(&of_rows).iter().enumerate() {
            assert_eq!(*row, if lane < exist { numbers[lane] } else { [0.0; 8] });
        }
        let [a, b] = [0, 1].map(|i| V::load(token, &numbers[i]));
        let both: Vec<f64> = [0, 1].into_iter().flat_map(|i| kept(numbers[i])).collect();
        let from = [7, 0, 3, 3, 6, 1, 2, 5];
        assert_eq!(a.permuted(from).store(), kept(from.map(|lane| both[lane as usize])));
        for from in [[15, 0, 8, 3, 11, 12, 7, 4], [0, 9, 2, 11, 4, 13, 6, 15]] {
            assert_eq!(a.gathered(b, from).store(), kept(from.map(|lane| both[lane as usize])));
        }
        assert_eq!(V::splat(token, 5.0).store(), kept([5.0; 8]));
        for lane in 0..8 {
            let one = V::splat(token, -0.0).in_mask(1 << lane, b);
            let expected = kept(core::array::from_fn(|i| if i == lane { 0.0 } else { (9 + i) as f64 }));
            assert_eq!(one.store(), expected);
            // A lane that does not exist is in no mask.
            assert_eq!(one.is_zero(), if lane < exist { 1 << lane } else { 0 });
        }
        assert_eq!(a.plus(b).minus(a).store(), b.store());
        let mut state = 1_u64;
        for edge in [None, Some(0), Some(u64::MAX), Some(1 << 63), Some(1)] {
            let words: [[u64; 8]; 6] = core::array::from_fn(|_| {
                core::array::from_fn(|_| {
                    state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(0x1234_5677);
                    edge.unwrap_or(state)
                })
            });
            let found = V::limbs_of_words(token, &words).map(V::store);
            for lane in 0..exist {
                let number = words.map(|word| word[lane]);
                assert_eq!(found.map(|limb| limb[lane]), limbs::<8>(number, 48, 8).map(|limb| limb as f64));
            }
        }
    }

    fn eight_are_moved<V: Vector<Token: Lanes>>(lanes: V::Token) {
        vectors_move_lanes::<V>(lanes, 8);
    }

    fn four_are_moved<V: Vector<Token: Lanes<Narrow = H::Token>>, H: Vector<Token: Lanes>>(lanes: V::Token) {
        vectors_move_lanes::<H>(lanes.narrow(), 4);
    }

    #[test]
    fn lanes_are_moved_and_read() {
        for_each_vector!(eight_are_moved);
        for_each_half!(four_are_moved);
    }
}
