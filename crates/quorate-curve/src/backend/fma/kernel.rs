//! The kernels: products and reductions of eight limbs. They are generic, so that the lanes and the check of their
//! ranges run the same code.
//!
//! A number is Σ limb_i · 2^(48·i), i < 8, of signed limbs that are doubles. Montgomery's R is 2^384, which is blst's, so
//! that blst's elements need only be cut into limbs. A **unit** is 2^47, a balanced limb. A carry leaves limbs of one
//! unit and at most 64 more. The eighth limb of v·p is 0.2·v units.
//!
//! **Limits.** Every kernel gives limbs of one unit, apart from the eighth limb, which the value bounds. Columns are
//! bounded below. `ranges_of_kernels` proves all lines for all values, in the rounding to nearest.
//!
//! | kernel | accepts | gives |
//! |---|---|---|
//! | [`product_reduced`] | 2 × 2 units, 8p × 8p | the bound of [`reduce`] |
//! | [`square_reduced`] | 2 units, 8p | the bound of [`reduce`] |
//! | [`product2`] | 2 × 1 or 1 × 2 units with 8p, or 2 × 2 units with 3.9p | columns of 30.1 units |
//! | [`square2`] | 2 units, 3.9p | the bound of [`reduce`] |
//! | [`reduce`] | columns of 48 units | at most abs(T)/R + 0.812p |
//! | [`normalise`] | 31 units, 31p | at most 0.51p |
//! | [`carry`] | limbs below 2^53 | the same number |
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

use super::word::{Cut, Repeat, Sum, Word};
use crate::backend::lanes::constant::{P_WORDS, halved};
use crate::backend::lanes::unroll::{limbs_of, unroll};

/// The limbs of a number.
pub(crate) type Limbs = [f64; 8];

/// p in balanced limbs.
pub(crate) const P: Limbs = balanced(P_WORDS, [0; 6]);

/// -1/p modulo 2^48.
const MINUS_INVERSE: f64 = -(0x3_0003_0003_i64 as f64);

/// 2^(-48·(7-t)) modulo p for t from 0 to 6: what a digit of weight 2^(48·t) is worth at the seventh limb.
const SHIFTED: [Limbs; 7] = {
    let mut out = [[0.0; 8]; 7];
    let mut t = 0;
    while t < 7 {
        let words = halved(48 * (7 - t as u32));
        out[t] = balanced(words, if words[5] > P_WORDS[5] / 2 { P_WORDS } else { [0; 6] });
        t += 1;
    }
    out
};

/// The constants of a reduction, each as a whole register in memory: see [`Word::constants`].
struct Repeated {
    /// The limbs of [`SHIFTED`].
    shifted: [[Repeat; 8]; 7],
    /// The limbs of [`P`].
    p: [Repeat; 8],
}

static REPEATED: Repeated = {
    let mut out = Repeated { shifted: [[Repeat::of(0.0); 8]; 7], p: [Repeat::of(0.0); 8] };
    let mut i = 0;
    while i < 8 {
        let mut t = 0;
        while t < 7 {
            out.shifted[t][i] = Repeat::of(SHIFTED[t][i]);
            t += 1;
        }
        out.p[i] = Repeat::of(P[i]);
        i += 1;
    }
    out
};

/// The difference of two numbers in balanced limbs, from -2^47 to 2^47 - 1.
const fn balanced(words: [u64; 6], less: [u64; 6]) -> Limbs {
    let mut out = [0.0; 8];
    let (mut carry, mut i) = (0, 0);
    while i < 8 {
        let mut limb = limb_of(&words, i) - limb_of(&less, i) + carry;
        carry = 0;
        if i < 7 {
            carry = (limb + (1 << 47)) >> 48;
            limb -= carry << 48;
        }
        out[i] = limb as f64;
        i += 1;
    }
    out
}

/// A limb of 48 bits of a number.
const fn limb_of(words: &[u64; 6], i: usize) -> i64 {
    let (word, shift) = (48 * i / 64, 48 * i % 64);
    let mut bits = words[word] >> shift;
    if shift > 16 {
        bits |= words[word + 1] << (64 - shift);
    }
    (bits & ((1 << 48) - 1)) as i64
}

/// Adds to columns `FROM` to `FROM` + `COLUMNS` - 1, at most four, their terms of a·b.
#[inline(always)]
fn add_products<const FROM: usize, const COLUMNS: usize, W: Word>(sums: &mut [Sum<W>; 4], a: &[W; 8], b: &[W; 8]) {
    unroll!(I < 8 { unroll!(C in [0 1 2 3] {
        if C < COLUMNS && I <= FROM + C && FROM + C - I < 8 {
            W::add_product(&mut sums[C], a[I], b[(FROM + C - I) & 7]);
        }
    }); });
}

/// Subtracts from columns `FROM` to `FROM` + `COLUMNS` - 1, at most four, their terms of a·b.
#[inline(always)]
fn subtract_products<const FROM: usize, const COLUMNS: usize, W: Word>(sums: &mut [Sum<W>; 4], a: &[W; 8], b: &[W; 8]) {
    unroll!(I < 8 { unroll!(C in [0 1 2 3] {
        if C < COLUMNS && I <= FROM + C && FROM + C - I < 8 {
            W::subtract_product(&mut sums[C], a[I], b[(FROM + C - I) & 7]);
        }
    }); });
}

/// Adds to columns `FROM` to `FROM` + `COLUMNS` - 1, at most four, their terms of a², where `twice` is 2a.
#[inline(always)]
fn add_squares<const FROM: usize, const COLUMNS: usize, W: Word>(sums: &mut [Sum<W>; 4], a: &[W; 8], twice: &[W; 8]) {
    unroll!(I < 8 { unroll!(C in [0 1 2 3] {
        if C < COLUMNS && 2 * I <= FROM + C && FROM + C - I < 8 {
            let factor = if 2 * I == FROM + C { a[I] } else { twice[I] };
            W::add_product(&mut sums[C], factor, a[(FROM + C - I) & 7]);
        }
    }); });
}

/// Adds to each column the high parts of the one below.
#[inline(always)]
fn close<const FROM: usize, const COLUMNS: usize, W: Word>(columns: &mut [W; 16], high: &mut W, sums: &[Sum<W>; 4]) {
    unroll!(C in [0 1 2 3] {
        if C < COLUMNS {
            columns[FROM + C] = sums[C].low.plus_high(*high);
            *high = sums[C].high;
        }
    });
}

/// The columns of a sum of products, where `$sums => $add` adds its terms to columns `$FROM` to `$FROM` + `$COLUMNS` - 1.
#[cfg(test)]
macro_rules! columns {
    ($zero:expr, $sums:ident, $FROM:ident, $COLUMNS:ident => $add:expr) => {{
        let zero = $zero;
        let mut columns = [zero; 16];
        // The high parts of the column below.
        let mut high = zero.no_high();
        unroll!(GROUP in [0 1 2 3] {
            const $FROM: usize = 4 * GROUP;
            const $COLUMNS: usize = if GROUP < 3 { 4 } else { 3 };
            let mut $sums = [Sum::new(zero); 4];
            $add;
            close::<$FROM, $COLUMNS, _>(&mut columns, &mut high, &$sums);
        });
        columns[15] = zero.plus_high(high);
        columns
    }};
}

/// The reduced sum of products, where `$sums => $add` adds its terms to columns `$FROM` to `$FROM` + `$COLUMNS` - 1. The
/// reduction continues the sums of the upper columns.
macro_rules! reduced_columns {
    ($zero:expr, $sums:ident, $FROM:ident, $COLUMNS:ident => $add:expr) => {{
        let zero = $zero;
        let mut lower = [zero; 16];
        let mut high = zero.no_high();
        unroll!(GROUP in [0 1] {
            const $FROM: usize = 4 * GROUP;
            const $COLUMNS: usize = 4;
            let mut $sums = [Sum::new(zero); 4];
            $add;
            close::<$FROM, $COLUMNS, _>(&mut lower, &mut high, &$sums);
        });
        let [a, b] = limbs_of!(GROUP in [0 1] => {
            const $FROM: usize = 8 + 4 * GROUP;
            const $COLUMNS: usize = 4 - GROUP;
            let mut $sums = [Sum::new(zero); 4];
            $add;
            $sums
        });
        let first = Sum { low: a[0].low.plus_high(high), ..a[0] };
        carry(&reduce_sums(&limbs_of!(I < 8 => lower[I]), &[first, a[1], a[2], a[3], b[0], b[1], b[2]], zero))
    }};
}

/// a·b/R modulo p: [`product`] and [`reduce`], with fewer carries.
#[inline(always)]
pub(crate) fn product_reduced<W: Word>(a: &[W; 8], b: &[W; 8]) -> [W; 8] {
    reduced_columns!(a[0].splat(-0.0), sums, FROM, COLUMNS => add_products::<FROM, COLUMNS, W>(&mut sums, a, b))
}

/// a²/R modulo p: [`square`] and [`reduce`], with fewer carries.
#[inline(always)]
pub(crate) fn square_reduced<W: Word>(a: &[W; 8]) -> [W; 8] {
    let twice = limbs_of!(I < 8 => a[I].plus(a[I]));
    reduced_columns!(a[0].splat(-0.0), sums, FROM, COLUMNS => add_squares::<FROM, COLUMNS, W>(&mut sums, a, &twice))
}

/// The columns of a·b. 64 products.
#[cfg(test)]
fn product<W: Word>(a: &[W; 8], b: &[W; 8]) -> [W; 16] {
    columns!(a[0].splat(-0.0), sums, FROM, COLUMNS => add_products::<FROM, COLUMNS, W>(&mut sums, a, b))
}

/// The columns of a². 36 products.
#[cfg(test)]
fn square<W: Word>(a: &[W; 8]) -> [W; 16] {
    let twice = limbs_of!(I < 8 => a[I].plus(a[I]));
    columns!(a[0].splat(-0.0), sums, FROM, COLUMNS => add_squares::<FROM, COLUMNS, W>(&mut sums, a, &twice))
}

/// The columns of (a0 + a1·i)·(b0 + b1·i) in Fp2, which are P - a1·(b0 + b1) and P + a0·(b1 - b0) with P = (a0 + a1)·b0.
/// Both sums of products continue that of P. 192 products.
#[inline(always)]
pub(crate) fn product2<W: Word>(a: [&[W; 8]; 2], b: [&[W; 8]; 2]) -> [[W; 16]; 2] {
    let sum_a = carry(&limbs_of!(I < 8 => a[0][I].plus(a[1][I])));
    let sum_b = carry(&limbs_of!(I < 8 => b[0][I].plus(b[1][I])));
    let difference_b = carry(&limbs_of!(I < 8 => b[1][I].minus(b[0][I])));
    let zero = a[0][0].splat(-0.0);
    let mut columns = [[zero; 16]; 2];
    // The high parts of the column below.
    let mut high = [zero.no_high(); 2];
    unroll!(GROUP in [0 1 2 3] {
        const FROM: usize = 4 * GROUP;
        const COLUMNS: usize = if GROUP < 3 { 4 } else { 3 };
        let mut real = [Sum::new(zero); 4];
        add_products::<FROM, COLUMNS, W>(&mut real, &sum_a, b[0]);
        let mut imaginary = real;
        subtract_products::<FROM, COLUMNS, W>(&mut real, a[1], &sum_b);
        close::<FROM, COLUMNS, W>(&mut columns[0], &mut high[0], &real);
        add_products::<FROM, COLUMNS, W>(&mut imaginary, a[0], &difference_b);
        close::<FROM, COLUMNS, W>(&mut columns[1], &mut high[1], &imaginary);
    });
    unroll!(PART in [0 1] { columns[PART][15] = zero.plus_high(high[PART]); });
    columns
}

/// (c0 + c1·i)²/R in Fp2: (c0 + c1)(c0 - c1) and 2·c0·c1. 254 products.
#[inline(always)]
pub(crate) fn square2<W: Word>(c0: &[W; 8], c1: &[W; 8]) -> [[W; 8]; 2] {
    let sum = limbs_of!(I < 8 => c0[I].plus(c1[I]));
    let difference = carry(&limbs_of!(I < 8 => c0[I].minus(c1[I])));
    let real = product_reduced(&sum, &difference);
    let twice = carry(&limbs_of!(I < 8 => c0[I].plus(c0[I])));
    [real, product_reduced(&twice, c1)]
}

/// T/R modulo p, for the columns of T. 63 products.
#[inline(always)]
pub(crate) fn reduce<W: Word>(columns: &[W; 16]) -> [W; 8] {
    let upper = limbs_of!(I in [0 1 2 3 4 5 6] => Sum::new(columns[8 + I]));
    carry(&reduce_sums(&limbs_of!(I < 8 => columns[I]), &upper, columns[15]))
}

/// T/R modulo p, where the columns from 8 to 14 are sums whose high parts were not yet added to the columns above. The
/// carries of the result are not taken.
#[inline(always)]
fn reduce_sums<W: Word>(columns: &[W; 8], upper: &[Sum<W>; 7], top: W) -> [W; 8] {
    let Repeated { shifted, p } = W::constants(&REPEATED);
    let mut digits = limbs_of!(I in [0 1 2 3 4 5 6] => columns[I]);
    let mut seventh = columns[7];
    unroll!(I < 7 {
        let Cut { carry, rest } = columns[I].cut();
        digits[I] = if I > 0 { rest.plus(digits[I]) } else { rest };
        if I < 6 { digits[(I + 1) % 7] = carry } else { seventh = seventh.plus(carry) }
    });
    let mut below = [Sum::new(seventh), upper[0], upper[1], upper[2]];
    unroll!(T < 7 { unroll!(C in [0 1 2 3] {
        W::add_product(&mut below[C], digits[T], top.repeat(&shifted[T][C]));
    }); });
    let [seventh, ..] = below;
    let digit = seventh.low.digit(MINUS_INVERSE);
    let cleared = seventh.low.cleared(digit, top.repeat(&p[0]));
    let mut above = [upper[3], upper[4], upper[5], upper[6]];
    // The digit of the seventh column is known only now, so its products come in the middle.
    unroll!(T in [0 1 2 3] { unroll!(C in [0 1 2 3] {
        W::add_product(&mut above[C], digits[T], top.repeat(&shifted[T][4 + C]));
    }); });
    unroll!(C in [1 2 3] { W::add_product(&mut below[C], digit, top.repeat(&p[C])); });
    unroll!(C in [0 1 2 3] { W::add_product(&mut above[C], digit, top.repeat(&p[4 + C])); });
    unroll!(T in [4 5 6] { unroll!(C in [0 1 2 3] {
        W::add_product(&mut above[C], digits[T], top.repeat(&shifted[T][4 + C]));
    }); });
    [
        below[1].low.plus_multiple(cleared).plus_high(seventh.high),
        below[2].low.plus_high(below[1].high),
        below[3].low.plus_high(below[2].high),
        above[0].low.plus_high(below[3].high),
        above[1].low.plus_high(above[0].high),
        above[2].low.plus_high(above[1].high),
        above[3].low.plus_high(above[2].high),
        top.plus_high(above[3].high),
    ]
}

/// The same number with limbs of one unit: each limb gives the next its nearest multiple of 2^48.
#[inline(always)]
pub(crate) fn carry<W: Word>(a: &[W; 8]) -> [W; 8] {
    let cuts = limbs_of!(I in [0 1 2 3 4 5 6] => a[I].cut());
    limbs_of!(I < 8 => {
        let rest = if I < 7 { cuts[I % 7].rest } else { a[I] };
        if I != 0 { rest.plus(cuts[(I + 6) % 7].carry) } else { rest }
    })
}

/// The same element with limbs of one unit and a value of at most 0.51p.
#[inline(always)]
pub(crate) fn normalise<W: Word>(a: &[W; 8]) -> [W; 8] {
    let times = a[7].nearest(1.0 / P[7]);
    carry(&limbs_of!(I < 8 => a[I].minus_product(times, times.splat(P[I]))))
}

/// The lowest limb, less the multiple of p beside the number and modulo 2^48. It is zero if the number is a multiple of p.
#[inline(always)]
pub(crate) fn lowest_limb<W: Word>(a: &[W; 8]) -> W {
    let times = a[7].nearest(1.0 / P[7]);
    a[0].minus_product(times, times.splat(P[0])).cut().rest
}

/// What a kernel can compute, and what it does compute.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field,
        backend::{
            fma::{
                vector::{OneEight, OneFour, TwoFours, Vector},
                word::Fused,
            },
            lanes::{
                field::Lanes,
                tests::{avx2_or_skip, avx512_or_skip},
            },
        },
    };
    use alloc::vec::Vec;
    use blst::blst_fp;

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

    /// The range of a number in a lane. A step that could be inexact for a number in it panics.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(in crate::backend::fma) struct Range {
        least: i128,
        most: i128,
    }

    /// The nearest multiple of 2^48, divided by 2^48.
    fn rounded(n: i128) -> i128 {
        (n + UNIT) >> 48
    }

    impl Range {
        /// An integer below 2^53.
        fn new(least: i128, most: i128) -> Self {
            assert!(-1 << 53 < least && least <= most && most < 1 << 53, "{least}..={most} has more than 53 bits");
            Self { least, most }
        }

        /// Every number up to so many thousandths of a unit from zero.
        pub(in crate::backend::fma) fn units(thousandths: i128) -> Self {
            let most = UNIT * thousandths / 1000;
            Self::new(-most, most)
        }

        /// The rest of a division.
        fn rest() -> Self {
            Self::new(-UNIT, UNIT)
        }

        /// The range of the product, which may be large.
        fn times(self, other: Self) -> Self {
            let ends =
                [self.least * other.least, self.least * other.most, self.most * other.least, self.most * other.most];
            let (least, most) = ends.iter().fold((ends[0], ends[0]), |(l, m), end| (l.min(*end), m.max(*end)));
            Self { least, most }
        }

        fn negated(self) -> Self {
            Self { least: -self.most, most: -self.least }
        }

        /// `sum` + `product` rounded to a multiple of 2^48, and the rest.
        fn split(sum: &mut Sum<Self>, product: Self) {
            let (least, most) = (rounded(sum.high.least + product.least), rounded(sum.high.most + product.most));
            assert!(-1 << 51 <= least && most < 1 << 51, "{least}..={most} leaves the binade");
            sum.high = Self { least: least << 48, most: most << 48 };
            sum.low = sum.low.plus(Self::rest());
        }
    }

    impl Word for Range {
        fn splat(self, n: f64) -> Self {
            Self::new(integer(n), integer(n))
        }
        fn repeat(self, n: &Repeat) -> Self {
            self.splat(n.once())
        }
        fn constants<T>(constants: &T) -> &T {
            constants
        }
        fn plus(self, other: Self) -> Self {
            Self::new(self.least + other.least, self.most + other.most)
        }
        fn minus(self, other: Self) -> Self {
            self.plus(other.negated())
        }
        fn minus_product(self, a: Self, b: Self) -> Self {
            let product = a.times(b);
            Self::new(self.least - product.most, self.most - product.least)
        }
        fn nearest(self, factor: f64) -> Self {
            // A product beside a half may go either way.
            let (least, most) = ((self.least as f64 * factor).floor(), (self.most as f64 * factor).ceil());
            assert!(least.abs().max(most.abs()) < (1_i64 << 51) as f64);
            Self::new(least as i128, most as i128)
        }
        fn cut(self) -> Cut<Self> {
            let (least, most) = (rounded(self.least), rounded(self.most));
            Cut { carry: Self::new(least, most), rest: Self::rest() }
        }
        fn plus_multiple(self, n: Self) -> Self {
            Self::new(self.least + (n.least >> 48), self.most - (-n.most >> 48))
        }
        fn digit(self, factor: f64) -> Self {
            let product = self.times(self.splat(factor));
            assert!(-1 << 99 <= product.least && product.most < 1 << 99, "{product:?} leaves the binade");
            Self::rest()
        }
        fn cleared(self, a: Self, b: Self) -> Self {
            let product = a.times(b);
            let sum = Self { least: self.least + product.least, most: self.most + product.most };
            assert!(-1 << 100 < sum.least && sum.most < 1 << 100, "{sum:?} has more than 53 bits above 2^48");
            sum
        }
        fn no_high(self) -> Self {
            Self { least: 0, most: 0 }
        }
        fn add_product(sum: &mut Sum<Self>, a: Self, b: Self) {
            Self::split(sum, a.times(b));
        }
        fn subtract_product(sum: &mut Sum<Self>, a: Self, b: Self) {
            Self::split(sum, a.times(b).negated());
        }
        fn plus_high(self, n: Self) -> Self {
            Self::new(self.least + (n.least >> 48), self.most + (n.most >> 48))
        }
    }

    /// Limbs of so many thousandths of a unit, of a number of so many thousandths of p.
    fn limbs_within(thousandths: i128, thousandths_of_p: i128) -> [Range; 8] {
        let mut out = [Range::units(thousandths); 8];
        // What the lower limbs are worth in the eighth, and a bit for the rounding.
        let top = P[7] as i128 * thousandths_of_p / 1000 + thousandths / 2000 + 2;
        out[7] = Range::new(-top, top);
        out
    }

    /// Asserts that limbs are at most one unit and the little that a carry adds.
    fn assert_one_unit(limbs: &[Range]) {
        for limb in limbs {
            assert!(limb.most <= UNIT + 64 && limb.least >= -UNIT - 64, "{limb:?}");
        }
    }

    /// Asserts that columns are at most so many thousandths of a unit.
    #[track_caller]
    fn assert_columns(columns: &[Range; 16], thousandths: i128) {
        let most = columns.iter().map(|column| column.most.max(-column.least)).max();
        assert!(most <= Some(UNIT * thousandths / 1000), "{most:?}");
    }

    /// Every kernel is exact for all inputs within its limits.
    #[test]
    fn ranges_of_kernels() {
        let wide = limbs_within(2001, 8000);
        let (columns, squares) = (product(&wide, &wide), square(&wide));
        assert_columns(&columns, 22_300);
        assert_columns(&squares, 19_300);
        assert_one_unit(&reduce(&columns)[..7]);
        assert_one_unit(&reduce(&squares)[..7]);
        assert_one_unit(&product_reduced(&wide, &wide)[..7]);
        assert_one_unit(&square_reduced(&wide)[..7]);
        let one = limbs_within(1001, 8000);
        let two = limbs_within(2001, 3900);
        for [real, imaginary] in [
            product2([&wide, &wide], [&one, &one]),
            product2([&one, &one], [&wide, &wide]),
            product2([&two, &two], [&two, &two]),
        ] {
            for columns in [real, imaginary] {
                assert_columns(&columns, 30_100);
                assert_one_unit(&reduce(&columns)[..7]);
            }
        }
        square2(&two, &two).iter().for_each(|limbs| assert_one_unit(&limbs[..7]));
        reduce(&[Range::units(48_001); 16]);
        assert_one_unit(&normalise(&limbs_within(31_000, 31_000))[..7]);
        assert_one_unit(&carry(&limbs_within(31_000, 31_000))[..7]);
        lowest_limb(&limbs_within(31_000, 31_000));
    }

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
    #[should_panic(expected = "leaves the binade")]
    fn three_units_twice_leave_the_binade() {
        product(&limbs_within(3000, 1000), &limbs_within(3000, 1000));
    }

    #[test]
    #[should_panic(expected = "more than 53 bits")]
    fn columns_of_sixty_units_are_too_large() {
        reduce(&[Range::units(60_000); 16]);
    }

    #[test]
    #[should_panic(expected = "more than 53 bits")]
    fn normalised_limbs_of_forty_units_are_too_large() {
        normalise(&limbs_within(40_000, 40_000));
    }

    #[test]
    #[should_panic(expected = "not exact")]
    fn lanes_notice_a_sum_that_leaves_the_binade() {
        product(&[3.0 * UNIT as f64; 8], &[3.0 * UNIT as f64; 8]);
    }

    #[test]
    fn constants_are_what_they_are_called() {
        assert_eq!(modulo_p(&P), blst_fp::default());
        assert_eq!((P[0] as i128 * MINUS_INVERSE as i128 + 1) & ((1 << 48) - 1), 0);
        for (t, limbs) in SHIFTED.iter().enumerate() {
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
                let columns = product(&a, &b);
                let expected = modulo_p(&a).times(&modulo_p(&b));
                assert_eq!(modulo_p(&columns), expected);
                assert_eq!(modulo_p(&reduce(&columns)).times(&r()), expected);
                assert_eq!(modulo_p(&product_reduced(&a, &b)).times(&r()), expected);
            }
            assert_eq!(modulo_p(&square(&a)), modulo_p(&a).squared());
            assert_eq!(modulo_p(&square_reduced(&a)).times(&r()), modulo_p(&a).squared());
        }
        for a in edges(31.0) {
            assert_eq!(modulo_p(&carry(&a)), modulo_p(&a));
            let normal = normalise(&a);
            assert_eq!(modulo_p(&normal), modulo_p(&a));
            assert!(in_p(&normal).abs() <= 0.51 && normal[..7].iter().all(|limb| limb.abs() <= (UNIT + 64) as f64));
        }
    }

    /// Σ limb·2^(48·i)/p, nearly.
    fn in_p(limbs: &[f64]) -> f64 {
        let value = |limbs: &[f64]| limbs.iter().rev().fold(0.0, |sum, limb| sum * (1_u64 << 48) as f64 + limb);
        value(limbs) / value(&P)
    }

    /// The result is at most T/R + 0.812p, for twice a product too.
    #[test]
    fn reduced_values_are_small() {
        // 2^384.
        let r = ((1_u128 << 96) as f64).powi(4);
        let halves: f64 = SHIFTED.iter().map(|limbs| in_p(limbs).abs()).sum::<f64>() / 2.0 + 0.5;
        assert!((0.8112..0.8113).contains(&halves), "{halves}");
        assert!(SHIFTED.iter().all(|limbs| in_p(limbs).abs() <= 0.5));
        for a in edges(2.0) {
            for b in edges(2.0) {
                let columns = product(&a, &b);
                for columns in [columns, columns.map(|column| 2.0 * column)] {
                    let expected = modulo_p(&columns);
                    let reduced = reduce(&columns);
                    assert_eq!(modulo_p(&reduced).times(&self::r()), expected);
                    assert!((in_p(&reduced) - in_p(&columns) / r).abs() <= 0.812, "{columns:?}");
                }
            }
        }
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
            let limbs = V::limbs_of_words(token, &words).map(V::store);
            for lane in 0..exist {
                let number = words.map(|word| word[lane]);
                assert_eq!(limbs.map(|limb| limb[lane]), limbs_of!(I < 8 => limb_of(&number, I) as f64));
            }
        }
    }

    #[test]
    fn lanes_are_moved_and_read() {
        if let Some(lanes) = avx512_or_skip() {
            vectors_move_lanes::<OneEight>(lanes, 8);
        }
        if let Some(lanes) = avx2_or_skip() {
            vectors_move_lanes::<TwoFours>(lanes, 8);
            vectors_move_lanes::<OneFour>(lanes.narrow(), 4);
        }
    }
}
