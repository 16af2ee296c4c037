//! Kernels for long chains of products without sums between them: N limbs of 52 bits, R = 2^(52·N).
//!
//! A high half is worth one unit of the column above, so both halves of a product go to the columns directly. The
//! multiplier itself takes the lowest 52 bits of an operand, so a digit needs no mask, nor a limb whose carry was
//! taken. This saves a fifth of the instructions of [`kernel`](super::kernel), but sums of limbs would need carries.
//!
//! Only the lowest 52 bits of a limb count. Values stay below 3p, and columns far below 2^63, because a column is the
//! sum of a few dozen halves below 2^52.
//!
//! Montgomery's reduction takes all digits but two from the product before it adds anything: the digit of column j < N - 2,
//! of weight 2^(52·j), is worth digit·(2^(-52·(N-2-j)) mod p) at column N - 2. The next digit is treated as in
//! [`reduce`](super::kernel::Numbers::reduce), and the last step adds a multiple of p. With eight limbs the result is below T/R + 2p +
//! 2^331.

use core::marker::PhantomData;

use super::{kernel::Columns, word::Word};
use crate::backend::lanes::{
    constant::{Modulus, halved, limbs, minus_inverse},
    unroll::{limbs_of, unroll},
};

/// The numbers of a prime in N limbs of 52 bits.
pub(super) struct Numbers52<C, const N: usize>(PhantomData<C>);

impl<C: Modulus, const N: usize> Numbers52<C, N> {
    /// -1/p mod 2^52.
    const MINUS_INVERSE: i64 = minus_inverse::<C>(52);

    pub(super) const P: [i64; N] = limbs(C::P, 52, N);

    /// 2^(-52·t) modulo p, for t from 1 to N - 2.
    const SHIFTED: [[i64; N]; N] = {
        let mut out = [[0; N]; N];
        let mut t = 0;
        while t + 2 < N {
            out[t] = limbs(halved::<C>(52 * (t as u32 + 1)), 52, N);
            t += 1;
        }
        out
    };

    /// The columns of a·b. 2N² multiplications.
    #[inline(always)]
    pub(super) fn product<W: Word>(a: &[W; N], b: &[W; N]) -> Columns<W, N> {
        let (a, b) = (limbs_of!(I < N => a[I].truncated()), limbs_of!(I < N => b[I].truncated()));
        let mut columns = [[a[0].splat(0); N]; 2];
        unroll!(I < N {
            unroll!(J < N { let c = &mut columns[(I + J) / N][(I + J) % N]; *c = c.add_low(a[I], b[J]); });
            unroll!(J < N { let c = &mut columns[(I + J + 1) / N][(I + J + 1) % N]; *c = c.add_high(a[I], b[J]); });
        });
        columns
    }

    /// The columns of a². N² + N multiplications.
    #[inline(always)]
    pub(super) fn square<W: Word>(a: &[W; N]) -> Columns<W, N> {
        let a = limbs_of!(I < N => a[I].truncated());
        let mut columns = [[a[0].splat(0); N]; 2];
        unroll!(I < N {
            unroll!(J < N { if I < J { let c = &mut columns[(I + J) / N][(I + J) % N]; *c = c.add_low(a[I], a[J]); } });
            unroll!(J < N { if I < J { let c = &mut columns[(I + J + 1) / N][(I + J + 1) % N]; *c = c.add_high(a[I], a[J]); } });
            // Later rows do not add to these columns.
            if I + 1 < N {
                unroll!(D in [1 2] { let c = &mut columns[(2 * I + D) / N][(2 * I + D) % N]; *c = c.plus(*c); });
            }
            let c = &mut columns[2 * I / N][2 * I % N];
            *c = c.add_low(a[I], a[I]);
            let c = &mut columns[(2 * I + 1) / N][(2 * I + 1) % N];
            *c = c.add_high(a[I], a[I]);
        });
        columns
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

    /// T/R modulo p. 2N² + 1 multiplications.
    #[inline(always)]
    pub(super) fn reduce<W: Word>(columns: &Columns<W, N>) -> [W; N] {
        let zero = columns[0][0].splat(0);
        let [mut lower, mut low] = *columns;
        // Column N - 2 + J is `low[J - 2]` above the first two, and its high halves are summed apart.
        let mut high = [zero; N];
        let (mut sixth, mut seventh, mut seventh_high) = (zero, zero, zero);
        unroll!(I in [0 1 2 3 4 5] { if I + 2 < N {
            let digit = lower[I].truncated();
            lower[I + 1] = lower[I + 1].plus(lower[I].carry_52());
            unroll!(J < N {
                let n = zero.splat(Self::SHIFTED[N - 3 - I][J]);
                if J == 0 {
                    sixth = sixth.add_low(digit, n);
                    seventh_high = seventh_high.add_high(digit, n);
                } else if J == 1 {
                    seventh = seventh.add_low(digit, n);
                    high[0] = high[0].add_high(digit, n);
                } else {
                    low[J - 2] = low[J - 2].add_low(digit, n);
                    high[J - 1] = high[J - 1].add_high(digit, n);
                }
            });
        } });
        let sixth = lower[N - 2].plus(sixth);
        let digit = sixth.truncated();
        seventh = lower[N - 1].plus(seventh).plus(sixth.carry_52()).plus(seventh_high);
        unroll!(J < N {
            let n = zero.splat(Self::SHIFTED[0][J]);
            if J == 0 {
                seventh = seventh.add_low(digit, n);
            } else {
                low[J - 1] = low[J - 1].add_low(digit, n);
            }
            high[J] = high[J].add_high(digit, n);
        });
        let digit = zero.add_low(seventh.truncated(), zero.splat(Self::MINUS_INVERSE));
        unroll!(J < N {
            let p = zero.splat(Self::P[J]);
            if J == 0 {
                seventh = seventh.add_low(digit, p);
            } else {
                low[J - 1] = low[J - 1].add_low(digit, p);
            }
            high[J] = high[J].add_high(digit, p);
        });
        let mut out = [zero; N];
        unroll!(I < N {
            let below = if I == 0 { seventh } else { out[(I + 7) % 8] };
            out[I] = low[I].plus(high[I]).plus(below.carry_52());
        });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::{curve::ONE, field::Field},
        pairing::Bls12381,
    };
    use blst::blst_fp;

    type Eight = Numbers52<Bls12381, 8>;

    /// Σ limb · 2^(52·i) modulo p. Only the lowest 52 bits of a limb count.
    fn modulo_p(limbs: &[i64]) -> blst_fp {
        let times_two_to_52 = |a: blst_fp| (0..52).fold(a, |a, _| a.doubled());
        limbs.iter().rev().fold(blst_fp::default(), |sum, limb| {
            let mut out = blst_fp::default();
            // SAFETY: six words in.
            unsafe { blst::blst_fp_from_uint64(&mut out, [(limb & ((1 << 52) - 1)) as u64, 0, 0, 0, 0, 0].as_ptr()) };
            times_two_to_52(sum).plus(&out)
        })
    }

    /// One lane at the edges of the limbs, with every sum checked, with and without the bits that the multiplier
    /// ignores.
    #[test]
    fn products_at_the_edges() {
        let r = (0..416).fold(ONE, |power, _| power.doubled());
        let top = (1 << 52) - 1;
        let mut numbers: [[i64; 8]; 8] =
            [[0; 8], [top; 8], Eight::P, Eight::SHIFTED[0], Eight::SHIFTED[5], [1; 8], [0; 8], [top; 8]];
        numbers[6][7] = top;
        numbers[7][0] = 0;
        // The value must stay below 2^384.
        numbers.iter_mut().for_each(|number| number[7] &= (1 << 20) - 1);
        for a in &numbers {
            for b in &numbers {
                for garbage in [0, 1 << 52, 0x7ff << 52] {
                    let (a, b) = (a.map(|limb| limb | garbage), b.map(|limb| limb | garbage));
                    let expected = modulo_p(&a).times(&modulo_p(&b));
                    assert_eq!(modulo_p(&Eight::reduce(&Eight::product(&a, &b))).times(&r), expected);
                    assert_eq!(Eight::reduce(&Eight::square(&a)), Eight::reduce(&Eight::product(&a, &a)));
                }
            }
        }
    }
}
