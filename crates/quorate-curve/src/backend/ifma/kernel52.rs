//! Kernels for long chains of products without sums between them: eight limbs of 52 bits, R = 2^416.
//!
//! A high half is worth one unit of the column above, so both halves of a product go to the columns directly. The
//! multiplier itself takes the lowest 52 bits of an operand, so a digit needs no mask, nor a limb whose carry was
//! taken. This saves a fifth of the instructions of [`kernel`](super::kernel), but sums of limbs would need carries.
//!
//! Only the lowest 52 bits of a limb count. Values stay below 3p, and columns far below 2^63, because a column is the
//! sum of a few dozen halves below 2^52.
//!
//! Montgomery's reduction takes all digits but two from the product before it adds anything: the digit of column j < 6,
//! of weight 2^(52·j), is worth digit·(2^(-52·(6-j)) mod p) at column 6. The seventh digit is treated as in
//! [`kernel::reduce`](super::kernel::reduce), and the last step adds a multiple of p. The result is below T/R + 2p +
//! 2^331.

use super::{kernel::Limbs, word::Word};
use crate::backend::lanes::constant::{P_WORDS, halved};
use crate::backend::lanes::unroll::{limbs_of, unroll};

/// -1/p mod 2^52.
const MINUS_INVERSE: i64 = 0x3_fffc_fffc_fffd;

const P: Limbs = limbs(P_WORDS);

/// 2^(-52·t) modulo p, for t from 1 to 6.
const SHIFTED: [Limbs; 6] = {
    let mut out = [[0; 8]; 6];
    let mut t = 0;
    while t < 6 {
        out[t] = limbs(halved(52 * (t as u32 + 1)));
        t += 1;
    }
    out
};

/// A number of 384 bits in limbs of 52.
const fn limbs(words: [u64; 6]) -> Limbs {
    let mut limbs = [0; 8];
    let mut i = 0;
    while i < 8 {
        let (word, shift) = (52 * i / 64, 52 * i % 64);
        let mut bits = words[word] >> shift;
        if shift > 12 && word + 1 < 6 {
            bits |= words[word + 1] << (64 - shift);
        }
        limbs[i] = (bits & ((1 << 52) - 1)) as i64;
        i += 1;
    }
    limbs
}

/// The columns of a·b. 128 multiplications.
#[inline(always)]
pub(super) fn product<W: Word>(a: &[W; 8], b: &[W; 8]) -> [W; 16] {
    let (a, b) = (limbs_of!(I < 8 => a[I].truncated()), limbs_of!(I < 8 => b[I].truncated()));
    let mut columns = [a[0].splat(0); 16];
    unroll!(I < 8 {
        unroll!(J < 8 { columns[I + J] = columns[I + J].add_low(a[I], b[J]); });
        unroll!(J < 8 { columns[I + J + 1] = columns[I + J + 1].add_high(a[I], b[J]); });
    });
    columns
}

/// The columns of a². 72 multiplications.
#[inline(always)]
pub(super) fn square<W: Word>(a: &[W; 8]) -> [W; 16] {
    let a = limbs_of!(I < 8 => a[I].truncated());
    let mut columns = [a[0].splat(0); 16];
    unroll!(I < 8 {
        unroll!(J < 8 { if I < J { columns[I + J] = columns[I + J].add_low(a[I], a[J]); } });
        unroll!(J < 8 { if I < J { columns[I + J + 1] = columns[I + J + 1].add_high(a[I], a[J]); } });
        // Later rows do not add to these columns.
        if I < 7 {
            columns[2 * I + 1] = columns[2 * I + 1].plus(columns[2 * I + 1]);
            columns[(2 * I + 2) & 15] = columns[(2 * I + 2) & 15].plus(columns[(2 * I + 2) & 15]);
        }
        columns[2 * I] = columns[2 * I].add_low(a[I], a[I]);
        columns[2 * I + 1] = columns[2 * I + 1].add_high(a[I], a[I]);
    });
    columns
}

/// T/R modulo p. 129 multiplications.
#[inline(always)]
pub(super) fn reduce<W: Word>(columns: &[W; 16]) -> [W; 8] {
    let zero = columns[0].splat(0);
    let mut low = *columns;
    let mut high = [zero; 16];
    unroll!(I in [0 1 2 3 4 5] {
        let digit = low[I].truncated();
        low[I + 1] = low[I + 1].plus(low[I].carry_52());
        unroll!(J < 8 {
            low[6 + J] = low[6 + J].add_low(digit, zero.splat(SHIFTED[5 - I][J]));
            high[7 + J] = high[7 + J].add_high(digit, zero.splat(SHIFTED[5 - I][J]));
        });
    });
    let digit = low[6].truncated();
    low[7] = low[7].plus(low[6].carry_52()).plus(high[7]);
    high[7] = zero;
    unroll!(J < 8 {
        low[7 + J] = low[7 + J].add_low(digit, zero.splat(SHIFTED[0][J]));
        high[8 + J] = high[8 + J].add_high(digit, zero.splat(SHIFTED[0][J]));
    });
    let digit = zero.add_low(low[7].truncated(), zero.splat(MINUS_INVERSE));
    unroll!(J < 8 {
        low[7 + J] = low[7 + J].add_low(digit, zero.splat(P[J]));
        high[8 + J] = high[8 + J].add_high(digit, zero.splat(P[J]));
    });
    let mut out = [zero; 8];
    let mut carry = low[7].carry_52();
    unroll!(I < 7 {
        out[I] = low[I + 8].plus(high[I + 8]).plus(carry);
        carry = out[I].carry_52();
    });
    out[7] = low[15].plus(high[15]).plus(carry);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::{curve::ONE, field::Field},
        backend::ifma::kernel::tests::Range,
    };
    use blst::blst_fp;

    #[test]
    fn no_column_overflows() {
        let any = [Range::new(0, i64::MAX.into()); 8];
        reduce(&product(&any, &any));
        reduce(&square(&any));
    }

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
        let mut numbers: [[i64; 8]; 8] = [[0; 8], [top; 8], P, SHIFTED[0], SHIFTED[5], [1; 8], [0; 8], [top; 8]];
        numbers[6][7] = top;
        numbers[7][0] = 0;
        // The value must stay below 2^384.
        numbers.iter_mut().for_each(|number| number[7] &= (1 << 20) - 1);
        for a in &numbers {
            for b in &numbers {
                for garbage in [0, 1 << 52, 0x7ff << 52] {
                    let (a, b) = (a.map(|limb| limb | garbage), b.map(|limb| limb | garbage));
                    let expected = modulo_p(&a).times(&modulo_p(&b));
                    assert_eq!(modulo_p(&reduce(&product(&a, &b))).times(&r), expected);
                    assert_eq!(reduce(&square(&a)), reduce(&product(&a, &a)));
                }
            }
        }
    }
}
