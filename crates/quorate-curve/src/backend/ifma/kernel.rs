//! The kernels: products and reductions of limbs. They are generic, so that the lanes and the proofs run the same code, and so that
//! each prime has as many limbs as it needs.
//!
//! A number is Σ limb_i · 2^(B·i), i < N: eight limbs of 50 bits for BLS12-381, six of 46 bits for BN254. The multiplier takes operands
//! of 52 bits and gives the low and the high 52 bits of a product separately. So a limb of an operand may hold several units of 2^B, and a
//! high half counts 2^(52-B) times in the column above: column k of a product is L_k + 2^(52-B)·H_(k-1). Columns are signed 64-bit
//! numbers.
//!
//! Montgomery's reduction divides by R = 2^(B·N). Its first steps add multiples of n = p·(-1/p mod 2^B), which is -1 modulo 2^B. Then the
//! digit is the column itself modulo 2^B, and the column and its digit cancel without a multiplication. The last step adds a multiple of
//! p, which makes the bound small again: the result is below T/R + 2p for a product T.

use core::marker::PhantomData;

use super::word::{Table, Word};
use crate::backend::lanes::{
    constant::{Modulus, doubled, half_of_p, limbs, minus_inverse},
    integer::{limbs_of_words, words_of_limbs},
    unroll::{limbs_of, unroll},
};

/// The columns to which a block adds its terms: to both halves of those of column `$k`, that of limbs `$i` and `$k` - `$i`.
macro_rules! columns {
    ($zero:expr, $low:ident, $high:ident, $k:ident, $i:ident => $add:block) => {{
        let zero = $zero;
        let mut columns = [[zero; N]; 2];
        let mut $high = zero;
        unroll!($k in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14] {
            if $k + 1 < 2 * N {
                let mut $low = $high.scaled(52 - Self::BITS);
                $high = zero;
                unroll!($i < N {
                    if $i <= $k && $k - $i < N $add
                });
                columns[$k / N][$k % N] = $low;
            }
        });
        columns[1][N - 1] = $high.scaled(52 - Self::BITS);
        columns
    }};
}

/// The columns of a number that is not reduced yet: the lower half, then the upper half.
pub(crate) type Columns<W, const N: usize> = [[W; N]; 2];

/// The numbers of a prime in N limbs.
pub(crate) struct Numbers<C, const N: usize>(PhantomData<C>);

impl<C: Modulus, const N: usize> Numbers<C, N> {
    pub(super) const BITS: u32 = {
        assert!(N == C::LIMBS && N >= 5 && N <= 8);
        C::INTEGER_BITS
    };
    /// A limb of ones.
    const MASK: i64 = (1 << Self::BITS) - 1;
    /// p.
    pub(super) const P: [i64; N] = Self::of(C::P);
    /// -1/p mod 2^B.
    const MINUS_INVERSE: i64 = minus_inverse::<C>(Self::BITS);
    /// (p·(-1/p mod 2^B) + 1)/2^B, which has as many bits as p.
    const UPPER: [i64; N] = {
        let mut out = [0; N];
        let (mut i, mut carry) = (0, 1);
        while i <= N {
            let product = if i < N { Self::P[i] as i128 * Self::MINUS_INVERSE as i128 } else { 0 };
            let digit = product + carry;
            if i > 0 {
                out[i - 1] = (digit & Self::MASK as i128) as i64;
            }
            carry = digit >> Self::BITS;
            i += 1;
        }
        out
    };
    /// R times two to this power modulo p.
    const fn power(bits: u32) -> [i64; N] {
        Self::of(doubled::<C>([1, 0, 0, 0, 0, 0], bits))
    }
    /// It turns the form outside the lanes into a·R.
    pub(super) const FROM_ELEMENT: [i64; N] = Self::power(2 * Self::BITS * N as u32 - C::ELEMENT_BITS);
    /// It turns a·R into the form outside the lanes.
    pub(super) const TO_ELEMENT: [i64; N] = Self::power(C::ELEMENT_BITS);
    /// R² mod p. It turns a number into its Montgomery form.
    pub(super) const R2: [i64; N] = Self::power(2 * Self::BITS * N as u32);
    /// It turns a·R into a·2^(52·N).
    pub(super) const TO_52: [i64; N] = Self::power(52 * N as u32);
    /// It turns a·2^(52·N) into a·R.
    pub(super) const FROM_52: [i64; N] = Self::power((2 * Self::BITS - 52) * N as u32);
    /// (p + 1)/2.
    pub(super) const HALF_OF_P: [i64; N] = {
        let mut half = Self::of(half_of_p::<C>());
        // p is 3 modulo 4, so this may carry, but not through a whole limb.
        half[0] += 1;
        assert!(half[0] <= Self::MASK);
        half
    };

    /// A number below two to the number of bits of all limbs.
    const fn of(words: [u64; 6]) -> [i64; N] {
        limbs(words, Self::BITS as usize, N)
    }

    /// `times`·p with `units`·2^B too much in each of the lower limbs, so that a number with limbs of so many units can be
    /// subtracted limb by limb.
    pub(crate) const fn multiple(times: i64, units: i64) -> [i64; N] {
        let mut out = [0; N];
        let mut carry: i128 = 0;
        let mut i = 0;
        while i < N {
            let digit = Self::P[i] as i128 * times as i128 + carry;
            carry = digit >> Self::BITS;
            out[i] = if i + 1 < N {
                (digit & Self::MASK as i128) as i64 + (units << Self::BITS) - if i > 0 { units } else { 0 }
            } else {
                digit as i64 - units
            };
            i += 1;
        }
        out
    }

    /// T/R modulo p for a T that is not negative. The result is below T/R + 2p, its lower limbs below 2^B.
    #[inline(always)]
    pub(crate) fn reduce<W: Word>(columns: &Columns<W, N>) -> [W; N] {
        let zero = columns[0][0].splat(0);
        let scale = 52 - Self::BITS;
        let [mut low, mut upper] = *columns;
        // The high halves of column I + J + 1 are those of `high[I + J]`, so that the first column has none.
        let [mut high, mut upper_high] = [[zero; N]; 2];
        unroll!(I < N {
            if I + 1 < N {
                let column = if I > 0 { low[I].plus(high[I].scaled(scale)) } else { low[I] };
                let digit = column.low_limb(Self::BITS);
                low[I + 1] = low[I + 1].plus(column.carry(Self::BITS));
                unroll!(J < N {
                    let n = zero.splat(Self::UPPER[J]);
                    // The digit's multiple begins a column above, and its high halves another one above.
                    if I + 1 + J < N {
                        low[I + 1 + J] = low[I + 1 + J].add_low(digit, n);
                    } else {
                        upper[I + 1 + J - N] = upper[I + 1 + J - N].add_low(digit, n);
                    }
                    if I + 2 + J < N {
                        high[I + 2 + J] = high[I + 2 + J].add_high(digit, n);
                    } else {
                        upper_high[I + 2 + J - N] = upper_high[I + 2 + J - N].add_high(digit, n);
                    }
                });
            }
        });
        let column = low[N - 1].plus(high[N - 1].scaled(scale));
        let digit = zero.add_low(column.truncated(), zero.splat(Self::MINUS_INVERSE)).low_limb(Self::BITS);
        let mut last = column;
        unroll!(J < N {
            let p = zero.splat(Self::P[J]);
            if J == 0 {
                last = last.add_low(digit, p);
            } else {
                upper[J - 1] = upper[J - 1].add_low(digit, p);
            }
            upper_high[J] = upper_high[J].add_high(digit, p);
        });
        let mut out = [zero; N];
        let mut column = last;
        unroll!(I < N {
            column = upper[I].plus(upper_high[I].scaled(scale)).plus(column.carry(Self::BITS));
            out[I] = if I + 1 < N { column.low_limb(Self::BITS) } else { column };
        });
        out
    }

    /// The columns of a·b, for limbs below 2^52. 2N² multiplications.
    #[inline(always)]
    pub(crate) fn product<W: Word>(a: &[W; N], b: &[W; N]) -> Columns<W, N> {
        columns!(a[0].splat(0), low, high, K, I => {
            low = low.add_low(a[I], b[K - I]);
            high = high.add_high(a[I], b[K - I]);
        })
    }

    /// a·b/R modulo p.
    #[inline(always)]
    pub(super) fn product_reduced<W: Word>(a: &[W; N], b: &[W; N]) -> [W; N] {
        Self::reduce(&Self::product(a, b))
    }

    /// a²/R modulo p.
    #[inline(always)]
    pub(super) fn square_reduced<W: Word>(a: &[W; N]) -> [W; N] {
        Self::reduce(&Self::square(a))
    }

    /// (a₀·b₀ + a₁·b₁)/R modulo p. No column reaches 48·2^52.
    #[inline(always)]
    pub(super) fn two_products_reduced<W: Word>(a: [&[W; N]; 2], b: [&[W; N]; 2]) -> [W; N] {
        let (mut columns, more) = (Self::product(a[0], b[0]), Self::product(a[1], b[1]));
        unroll!(H in [0 1] { unroll!(I < N { columns[H][I] = columns[H][I].plus(more[H][I]); }); });
        Self::reduce(&columns)
    }

    /// `to` + T/R modulo p, for a T that may be as far below zero as the lift is above.
    #[inline(always)]
    pub(super) fn add_reduced<W: Word>(to: &[W; N], columns: &Columns<W, N>) -> [W; N] {
        let mut columns = Self::lifted(columns);
        unroll!(I < N { columns[1][I] = columns[1][I].plus(to[I]); });
        Self::reduce(&columns)
    }

    /// The columns of a², for limbs below 2^51. N² + N multiplications.
    #[inline(always)]
    pub(crate) fn square<W: Word>(a: &[W; N]) -> Columns<W, N> {
        let twice = limbs_of!(I < N => a[I].plus(a[I]));
        columns!(a[0].splat(0), low, high, K, I => {
            if 2 * I <= K {
                let factor = if 2 * I == K { a[I] } else { twice[I] };
                low = low.add_low(factor, a[K - I]);
                high = high.add_high(factor, a[K - I]);
            }
        })
    }

    /// The same number with its lower limbs below 2^B.
    #[inline(always)]
    pub(crate) fn carry<W: Word>(a: &[W; N]) -> [W; N] {
        let mut out = *a;
        unroll!(I < N {
            if I + 1 < N {
                out[I + 1] = out[I + 1].plus(out[I].carry(Self::BITS));
                out[I] = out[I].low_limb(Self::BITS);
            }
        });
        out
    }

    /// p·2^`LIFT_BITS` in columns. A difference of products is never so far below zero.
    const LIFT: Columns<i64, N> = {
        let mut columns = [[0; N]; 2];
        let (from, shift) = ((C::LIFT_BITS / Self::BITS) as usize, C::LIFT_BITS % Self::BITS);
        let mut i = 0;
        while i < N {
            let place = from + i;
            columns[place / N][place % N] += (Self::P[i] << shift) & Self::MASK;
            columns[(place + 1) / N][(place + 1) % N] += Self::P[i] >> (Self::BITS - shift);
            i += 1;
        }
        columns
    };

    /// The limbs of a number in words of 64 bits.
    #[inline(always)]
    pub(super) fn of_words<W: Word>(words: &[W; 6]) -> [W; N] {
        limbs_of_words(words, Self::BITS)
    }

    /// The words of 64 bits of a number below 2^384 with limbs of one unit.
    #[inline(always)]
    pub(super) fn words<W: Word>(a: &[W; N]) -> [W; 6] {
        words_of_limbs(a, Self::BITS)
    }

    /// The same number in limbs of 52 bits, of which only these bits count, from limbs of one unit.
    #[inline(always)]
    pub(super) fn to_limbs_of_52<W: Word>(a: &[W; N]) -> [W; N] {
        let bits = Self::BITS;
        limbs_of!(I < N => {
            // Limb I begins in this limb, after so many bits of it, and ends in the next one or the one after that.
            let (from, after) = ((52 * I as u32 / bits) as usize, 52 * I as u32 % bits);
            let mut limb = a[from % N].moved_down(after);
            if from + 1 < N {
                limb = limb.with_above(a[(from + 1) % N], bits - after);
            }
            if from + 2 < N && 2 * bits - after < 52 {
                limb = limb.with_above(a[(from + 2) % N], 2 * bits - after);
            }
            limb
        })
    }

    /// The same number with lower limbs of one unit, from limbs of 52 bits, of which only these bits count.
    #[inline(always)]
    pub(super) fn of_limbs_of_52<W: Word>(a: &[W; N]) -> [W; N] {
        let bits = Self::BITS;
        limbs_of!(I < N => {
            let (from, after) = ((bits * I as u32 / 52) as usize, bits * I as u32 % 52);
            let mut limb = a[from % N].low_limb_52().moved_down(after);
            if from + 1 < N && after + bits > 52 {
                limb = limb.with_above(a[(from + 1) % N].low_limb_52(), 52 - after);
            }
            if I + 1 < N { limb.low_limb(bits) } else { limb }
        })
    }

    /// 0, 2p, … 14p and 16p, … 30p, by limb.
    const EVEN_MULTIPLES: [Table; N] = {
        let mut table = [[[0; 8]; 2]; N];
        let mut i = 0;
        while i < 16 {
            let multiple = Self::multiple(2 * i as i64, 0);
            let mut limb = 0;
            while limb < N {
                table[limb][i / 8][i % 8] = multiple[limb];
                limb += 1;
            }
            i += 1;
        }
        table
    };

    /// The same number modulo p, below 2.1p, for limbs below eight units and a value below 32p.
    ///
    /// The highest limb says how many times 2p is subtracted, and a table has this multiple.
    #[inline(always)]
    pub(super) fn shrunk<W: Word>(a: &[W; N]) -> [W; N] {
        // The lower limbs are below 2^(B + 3) and add less than 8 to the top limb, of which p has a large number. So the quotient by
        // 2p, rounded down, may be one too small, but is never too large.
        let inverse = const { (1 << 52) / (2 * (Self::P[N - 1] + 1)) };
        let quotient = a[0].splat(0).add_high(a[N - 1], a[0].splat(inverse));
        let table = const { &Self::EVEN_MULTIPLES };
        Self::carry(&limbs_of!(I < N => a[I].minus(quotient.entry(&table[I]))))
    }

    /// The least representative of a number below 3p, whose carries were taken.
    #[inline(always)]
    pub(super) fn canonical<W: Word>(a: &[W; N]) -> [W; N] {
        let mut limbs = *a;
        unroll!(_TWICE in [0 1] {
            let less = Self::carry(&limbs_of!(I < N => limbs[I].minus(limbs[I].splat(Self::P[I]))));
            limbs = limbs_of!(I < N => less[N - 1].where_negative(limbs[I], less[I]));
        });
        limbs
    }

    /// The same number modulo p, which is not negative.
    #[inline(always)]
    pub(super) fn lifted<W: Word>(columns: &Columns<W, N>) -> Columns<W, N> {
        let mut out = *columns;
        unroll!(H in [0 1] { unroll!(I < N {
            if Self::LIFT[H][I] != 0 {
                out[H][I] = out[H][I].plus(out[H][I].splat(Self::LIFT[H][I]));
            }
        }); });
        out
    }
}

/// What a kernel can compute, and what it does compute. These tests run on any CPU.
#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::{arithmetic::field::Field, backend::lanes::integer::Integer, pairing::Bls12381};
    use blst::blst_fp;

    type Limbs = [i64; 8];
    pub(in crate::backend::ifma) type Eight = Numbers<Bls12381, 8>;
    const P: Limbs = Eight::P;

    /// One lane, with every overflow a panic.
    impl Word for i64 {
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
        fn scaled(self, bits: u32) -> Self {
            self.checked_mul(1 << bits).expect("a column overflows")
        }
        fn truncated(self) -> Self {
            self & ((1 << 52) - 1)
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
        fn entry(self, table: &Table) -> Self {
            table.as_flattened()[usize::try_from(self).expect("not negative")]
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
        let mut out = alloc::vec![[0; 8], [most; 8], P, Eight::multiple(3, 0)];
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

    #[test]
    fn kernels_at_the_edges() {
        for a in edges(4) {
            for b in edges(4) {
                let columns = Eight::product(&a, &b);
                assert_eq!(modulo_p(columns.as_flattened()), modulo_p(&a).times(&modulo_p(&b)));
                assert_reduced(&columns);
            }
        }
        for a in edges(2) {
            assert_eq!(modulo_p(Eight::square(&a).as_flattened()), modulo_p(&a).squared());
        }
        for a in edges(4) {
            let carried = Eight::carry(&a);
            assert_eq!(modulo_p(&carried), modulo_p(&a));
            assert!(carried[..7].iter().all(|limb| (0..1 << 50).contains(limb)));
        }
    }

    /// Asserts that the result is T/R modulo p, in limbs below 2^50, and at most T/R + 2p.
    pub(in crate::backend::ifma) fn assert_reduced(columns: &Columns<i64, 8>) {
        let reduced = Eight::reduce(columns);
        let columns = columns.as_flattened();
        assert_eq!(modulo_p(&reduced).times(&r()), modulo_p(columns));
        assert!(reduced[..7].iter().all(|limb| (0..1 << 50).contains(limb)));
        // The upper limb of the bound, with what T carries into 2^400.
        let mut carried = columns.to_vec();
        for i in 0..15 {
            carried[i + 1] += carried[i] >> 50;
            carried[i] &= (1 << 50) - 1;
        }
        let least_above = i128::from(carried[15]) + 2 * i128::from(P[7]) + 3;
        assert!((0..=least_above).contains(&i128::from(reduced[7])), "{} above {least_above}", reduced[7]);
    }

    #[test]
    fn constants_are_what_they_are_called() {
        assert_eq!(modulo_p(&P), blst_fp::default());
        // n + 1 = 2^50·UPPER, and n is a multiple of p.
        let mut n = [0; 9];
        n[1..].copy_from_slice(&Eight::UPPER);
        n[0] = -1;
        assert_eq!(modulo_p(&n), blst_fp::default());
        assert_eq!((P[0].wrapping_mul(Eight::MINUS_INVERSE) + 1) & ((1 << 50) - 1), 0);
    }
}
