//! The kernels: products and reductions of eight limbs. They are generic, so that the lanes and the check of their
//! ranges run the same code.
//!
//! A number is Σ limb_i · 2^(50·i), i < 8. The multiplier takes operands of 52 bits and gives the low and the high 52
//! bits of a product separately. So a limb of an operand may hold up to four units of 2^50, and a high half counts four
//! times in the column above: column k of a product is L_k + 4·H_(k-1). Columns are signed 64-bit numbers.
//!
//! Montgomery's reduction divides by R = 2^400. Its first seven steps add multiples of N = p·(-1/p mod 2^50), which is
//! -1 modulo 2^50. Then the digit is the column itself modulo 2^50, and the column and its digit cancel without a
//! multiplication. The last step adds a multiple of p, which makes the bound small again: the result is below T/R + 2p
//! for a product T.

use super::word::Word;
use crate::backend::lanes::{
    constant::{P_WORDS, limbs_of_50 as limbs},
    unroll::unroll,
};

/// The limbs of a 400-bit number of eight 50-bit ones.
pub(crate) type Limbs = [i64; 8];

/// p.
pub(crate) const P: Limbs = limbs(P_WORDS);

/// -1/p mod 2^50.
const MINUS_INVERSE: i64 = 0x3_fffc_fffc_fffd;

/// (p·(-1/p mod 2^50) + 1)/2^50, of 381 bits.
const N_UPPER: Limbs = limbs([
    0xb501_2f81_f480_9f2c,
    0x0f13_775d_e1b8_e400,
    0x69d9_c088_fd44_11c2,
    0x3294_4c11_2de6_581e,
    0xe598_574d_e03a_8441,
    0x1a00_fe69_588f_5a89,
]);

/// The columns of a·b. Limbs below 2^52. 128 multiplications.
#[inline(always)]
pub(crate) fn product<W: Word>(a: &[W; 8], b: &[W; 8]) -> [W; 16] {
    let zero = a[0].splat(0);
    let mut columns = [zero; 16];
    let mut high = zero;
    unroll!(K < 15 {
        let mut low = high.times_four();
        high = zero;
        unroll!(I < 8 {
            if I <= K && K - I < 8 {
                low = low.add_low(a[I], b[(K - I) & 7]);
                high = high.add_high(a[I], b[(K - I) & 7]);
            }
        });
        columns[K] = low;
    });
    columns[15] = high.times_four();
    columns
}

/// The columns of a². Limbs below 2^51. 72 multiplications.
#[inline(always)]
pub(crate) fn square<W: Word>(a: &[W; 8]) -> [W; 16] {
    let mut twice = *a;
    unroll!(I < 8 { twice[I] = a[I].plus(a[I]); });
    let zero = a[0].splat(0);
    let mut columns = [zero; 16];
    let mut high = zero;
    unroll!(K < 15 {
        let mut low = high.times_four();
        high = zero;
        unroll!(I < 8 {
            if I <= K && K - I < 8 && I < K - I {
                low = low.add_low(twice[I], a[(K - I) & 7]);
                high = high.add_high(twice[I], a[(K - I) & 7]);
            }
            if 2 * I == K {
                low = low.add_low(a[I], a[I]);
                high = high.add_high(a[I], a[I]);
            }
        });
        columns[K] = low;
    });
    columns[15] = high.times_four();
    columns
}

/// T/R modulo p for a T that is not negative. The result is below T/R + 2p, its lower limbs below 2^50. 129
/// multiplications.
#[inline(always)]
pub(crate) fn reduce<W: Word>(columns: &[W; 16]) -> [W; 8] {
    let zero = columns[0].splat(0);
    let mut low = *columns;
    let mut high = [zero; 16];
    unroll!(I < 7 {
        let column = if I > 0 { low[I].plus(high[I - if I > 0 { 1 } else { 0 }].times_four()) } else { low[I] };
        let digit = column.low_limb();
        low[I + 1] = low[I + 1].plus(column.carry());
        unroll!(J < 8 {
            low[I + 1 + J] = low[I + 1 + J].add_low(digit, zero.splat(N_UPPER[J]));
            high[I + 1 + J] = high[I + 1 + J].add_high(digit, zero.splat(N_UPPER[J]));
        });
    });
    let column = low[7].plus(high[6].times_four());
    let digit = zero.add_low(column.truncated(), zero.splat(MINUS_INVERSE)).low_limb();
    low[7] = column;
    unroll!(J < 8 {
        low[7 + J] = low[7 + J].add_low(digit, zero.splat(P[J]));
        high[7 + J] = high[7 + J].add_high(digit, zero.splat(P[J]));
    });
    let mut out = [zero; 8];
    let mut carry = low[7].carry();
    unroll!(I < 7 {
        let column = low[I + 8].plus(high[I + 7].times_four()).plus(carry);
        out[I] = column.low_limb();
        carry = column.carry();
    });
    out[7] = low[15].plus(high[14].times_four()).plus(carry);
    out
}

/// The same number with its lower limbs below 2^50.
#[inline(always)]
pub(crate) fn carry<W: Word>(a: &[W; 8]) -> [W; 8] {
    let mut out = *a;
    unroll!(I < 7 {
        out[I + 1] = out[I + 1].plus(out[I].carry());
        out[I] = out[I].low_limb();
    });
    out
}

/// `times`·p with `units`·2^50 too much in each of the lower limbs, so that a number with limbs of so many units can be
/// subtracted limb by limb.
pub(crate) const fn multiple_of_p(times: i64, units: i64) -> Limbs {
    let mut out = [0; 8];
    let mut carry: i128 = 0;
    let mut i = 0;
    while i < 8 {
        let digit = P[i] as i128 * times as i128 + carry;
        carry = digit >> 50;
        out[i] = if i < 7 {
            (digit & ((1 << 50) - 1)) as i64 + (units << 50) - if i > 0 { units } else { 0 }
        } else {
            digit as i64 - units
        };
        i += 1;
    }
    out
}

/// What a kernel can compute, and what it does compute. These tests run on any CPU.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::arithmetic::field::Field;
    use blst::blst_fp;

    /// The range of a number in a lane. An operation that can overflow, or whose factor can be too large, panics.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(in crate::backend::ifma) struct Range {
        pub(in crate::backend::ifma) least: i128,
        pub(in crate::backend::ifma) most: i128,
    }

    impl Range {
        pub(in crate::backend::ifma) fn new(least: i128, most: i128) -> Self {
            let signed = i128::from(i64::MIN)..=i128::from(i64::MAX);
            assert!(signed.contains(&least) && signed.contains(&most), "{least}..={most} overflows");
            Self { least, most }
        }

        /// A limb of at most `n` units.
        pub(in crate::backend::ifma) fn units(n: i128) -> Self {
            Self::new(0, n * ((1 << 50) - 1))
        }

        fn assert_factor(self) {
            assert!(self.least >= 0 && self.most < 1 << 52, "{self:?} is not a factor");
        }
    }

    impl Word for Range {
        fn splat(self, n: i64) -> Self {
            Self::new(n.into(), n.into())
        }
        fn plus(self, other: Self) -> Self {
            Self::new(self.least + other.least, self.most + other.most)
        }
        fn minus(self, other: Self) -> Self {
            Self::new(self.least - other.most, self.most - other.least)
        }
        fn add_low(self, a: Self, b: Self) -> Self {
            a.assert_factor();
            b.assert_factor();
            self.plus(Self::new(0, (a.most * b.most).min((1 << 52) - 1)))
        }
        fn add_high(self, a: Self, b: Self) -> Self {
            a.assert_factor();
            b.assert_factor();
            self.plus(Self::new((a.least * b.least) >> 52, (a.most * b.most) >> 52))
        }
        fn times_four(self) -> Self {
            Self::new(4 * self.least, 4 * self.most)
        }
        fn low_limb(self) -> Self {
            Self::new(0, (1 << 50) - 1)
        }
        fn truncated(self) -> Self {
            Self::new(0, (1 << 52) - 1)
        }
        fn carry(self) -> Self {
            Self::new(self.least >> 50, self.most >> 50)
        }
        fn carry_52(self) -> Self {
            assert!(self.least >= 0);
            Self::new(self.least >> 52, self.most >> 52)
        }
        fn low_limb_52(self) -> Self {
            Self::new(0, (1 << 52) - 1)
        }
        fn signed_carry_52(self) -> Self {
            Self::new(self.least >> 52, self.most >> 52)
        }
    }

    /// One lane, with every overflow a panic.
    impl Word for i64 {
        fn splat(self, n: i64) -> Self {
            n
        }
        fn plus(self, other: Self) -> Self {
            self.checked_add(other).expect("a column overflows")
        }
        fn minus(self, other: Self) -> Self {
            self.checked_sub(other).expect("a column overflows")
        }
        fn add_low(self, a: Self, b: Self) -> Self {
            assert!((0..1 << 52).contains(&a) && (0..1 << 52).contains(&b), "{a} and {b} are no factors");
            self.plus(((i128::from(a) * i128::from(b)) & ((1 << 52) - 1)) as i64)
        }
        fn add_high(self, a: Self, b: Self) -> Self {
            assert!((0..1 << 52).contains(&a) && (0..1 << 52).contains(&b), "{a} and {b} are no factors");
            self.plus(((i128::from(a) * i128::from(b)) >> 52) as i64)
        }
        fn times_four(self) -> Self {
            self.checked_mul(4).expect("a column overflows")
        }
        fn low_limb(self) -> Self {
            self & ((1 << 50) - 1)
        }
        fn truncated(self) -> Self {
            self & ((1 << 52) - 1)
        }
        fn carry(self) -> Self {
            self >> 50
        }
        fn carry_52(self) -> Self {
            assert!(self >= 0);
            self >> 52
        }
        fn low_limb_52(self) -> Self {
            self & ((1 << 52) - 1)
        }
        fn signed_carry_52(self) -> Self {
            self >> 52
        }
    }

    /// Σ column · 2^(50·i) modulo p.
    pub(in crate::backend::ifma) fn modulo_p(columns: &[i64]) -> blst_fp {
        let small = |n: u64| {
            let mut out = blst_fp::default();
            // SAFETY: six words in.
            unsafe { blst::blst_fp_from_uint64(&mut out, [n, 0, 0, 0, 0, 0].as_ptr()) };
            out
        };
        columns.iter().rev().fold(blst_fp::default(), |sum, column| {
            let column_p = small(column.unsigned_abs());
            let up = sum.times(&small(1 << 50));
            if *column < 0 { up.minus(&column_p) } else { up.plus(&column_p) }
        })
    }

    fn r() -> blst_fp {
        modulo_p(&[0, 0, 0, 0, 0, 0, 0, 0, 1])
    }

    /// Limbs at their edges: all at the least value, all at the greatest, all but one, and some that look random.
    pub(in crate::backend::ifma) fn edges(units: i64) -> alloc::vec::Vec<Limbs> {
        let most = units * ((1 << 50) - 1);
        let mut out = alloc::vec![[0; 8], [most; 8], P, multiple_of_p(3, 0)];
        // The value stays below 2^398.
        out[1][7] = 1 << 46;
        for place in 0..7 {
            let mut one = [0; 8];
            one[place] = most;
            let mut all_but_one = out[1];
            all_but_one[place] = 0;
            out.extend([one, all_but_one]);
        }
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..40 {
            out.push(core::array::from_fn(|i| {
                state = state.wrapping_mul(0x2545_f491_4f6c_dd1d).wrapping_add(0x1234_5677);
                let bits = (state >> 12) as i64 % (most + 1);
                if i == 7 { bits >> 8 } else { bits }
            }));
        }
        out
    }

    /// No column of any product or reduction overflows, for any factors.
    #[test]
    fn ranges_of_kernels() {
        let of = |units| [Range::units(units); 8];
        let largest = product(&of(4), &of(4));
        let out = reduce(&largest);
        assert!(out[..7].iter().all(|limb| *limb == Range::units(1)));
        reduce(&square(&of(2)));
        // The largest sum that `Wide` reduces.
        let sum = largest.map(|column| Range::new(-48 * column.most, 48 * column.most));
        reduce(&sum);
        carry(&of(8));
    }

    #[test]
    #[should_panic(expected = "is not a factor")]
    fn five_units_are_no_factor() {
        product(&[Range::units(5); 8], &[Range::units(1); 8]);
    }

    #[test]
    #[should_panic(expected = "overflows")]
    fn too_many_products_overflow() {
        let columns = product(&[Range::units(4); 8], &[Range::units(4); 8]);
        reduce(&columns.map(|column| Range::new(-60 * column.most, 60 * column.most)));
    }

    #[test]
    fn kernels_at_the_edges() {
        for a in edges(4) {
            for b in edges(4) {
                let columns = product(&a, &b);
                assert_eq!(modulo_p(&columns), modulo_p(&a).times(&modulo_p(&b)));
                assert_reduced(&columns);
            }
        }
        for a in edges(2) {
            assert_eq!(modulo_p(&square(&a)), modulo_p(&a).squared());
        }
        for a in edges(4) {
            let carried = carry(&a);
            assert_eq!(modulo_p(&carried), modulo_p(&a));
            assert!(carried[..7].iter().all(|limb| (0..1 << 50).contains(limb)));
        }
    }

    /// Asserts that the result is T/R modulo p, in limbs below 2^50, and at most T/R + 2p.
    pub(in crate::backend::ifma) fn assert_reduced(columns: &[i64; 16]) {
        let reduced = reduce(columns);
        assert_eq!(modulo_p(&reduced).times(&r()), modulo_p(columns));
        assert!(reduced[..7].iter().all(|limb| (0..1 << 50).contains(limb)));
        // The upper limb of the bound, with what T carries into 2^400.
        let mut carried = *columns;
        for i in 0..15 {
            carried[i + 1] += carried[i] >> 50;
            carried[i] &= (1 << 50) - 1;
        }
        let least_above = i128::from(carried[15]) + 2 * i128::from(P[7]) + 3;
        assert!((0..=least_above).contains(&i128::from(reduced[7])), "{} above {least_above}", reduced[7]);
    }

    #[test]
    fn multiples_of_p_are_multiples_with_large_limbs() {
        for times in [1, 2, 4, 8, 16, 32] {
            for units in 0..=3 {
                let multiple = multiple_of_p(times, units);
                assert_eq!(modulo_p(&multiple), blst_fp::default());
                assert!(multiple[..7].iter().all(|limb| (units * ((1 << 50) - 1)..(units + 1) << 50).contains(limb)));
                assert!((multiple[7] - times * P[7]).abs() <= times + units);
            }
        }
    }

    #[test]
    fn constants_are_what_they_are_called() {
        assert_eq!(modulo_p(&P), blst_fp::default());
        // N + 1 = 2^50·N_UPPER, and N is a multiple of p.
        let mut n = [0; 9];
        n[1..].copy_from_slice(&N_UPPER);
        n[0] = -1;
        assert_eq!(modulo_p(&n), blst_fp::default());
        assert_eq!((P[0].wrapping_mul(MINUS_INVERSE) + 1) & ((1 << 50) - 1), 0);
    }
}
