//! The kernels of Fr: five limbs of 52 bits, R = 2^260.
//!
//! Both halves of a product go to columns of the same weight, as in [`kernel52`](super::kernel52), because a high half
//! counts 2^52. Factors are below 2^260, which is 35.3·r. Columns are signed 64-bit numbers and stay below 2^58.
//!
//! Montgomery's reduction adds multiples of N = r·(-1/r mod 2^52) in its first four steps. N is -1 modulo 2^52, so that
//! the digit is the column itself, and both cancel without a multiplication. The last step adds a multiple of r. The
//! result is below T/R + 2r for a product T.

use super::word::{Table, Word};
use crate::backend::lanes::{
    constant::Cut,
    unroll::{limbs_of, unroll},
};

/// The limbs of a number of 260 bits.
pub(super) type Limbs = [i64; 5];

/// The order r.
pub(super) const ORDER: Limbs =
    [0x000f_ffff_0000_0001, 0x0000_2fff_e5bf_efff, 0x0009_a1d8_0553_bda4, 0x0007_d483_339d_8080, 0x0000_73ed_a753_299d];

/// -1/r mod 2^52.
const MINUS_INVERSE: i64 = 0x000f_fffe_ffff_ffff;

/// (N + 1)/2^52, of 255 bits.
const N_UPPER: Limbs =
    [0x000f_dfff_1a40_2001, 0x0002_d083_dd6c_33ff, 0x0004_4cd4_3798_bcce, 0x0004_36f8_0f02_23a9, 0x0000_73ed_a014_4f28];

/// The columns of a·b, for limbs below 2^52. 50 multiplications.
#[inline(always)]
pub(super) fn product<W: Word>(a: &[W; 5], b: &[W; 5]) -> [W; 10] {
    let mut columns = [a[0].splat(0); 10];
    unroll!(I in [0 1 2 3 4] {
        unroll!(J in [0 1 2 3 4] { columns[I + J] = columns[I + J].add_low(a[I], b[J]); });
        unroll!(J in [0 1 2 3 4] { columns[I + J + 1] = columns[I + J + 1].add_high(a[I], b[J]); });
    });
    columns
}

/// T/R modulo r, as five columns whose carries have not been taken. 51 multiplications.
#[inline(always)]
pub(super) fn reduce<W: Word>(columns: &[W; 10]) -> [W; 5] {
    let mut columns = *columns;
    unroll!(I in [0 1 2 3] {
        let digit = columns[I].truncated();
        columns[I + 1] = columns[I + 1].plus(columns[I].carry_52());
        unroll!(J in [0 1 2 3 4] { columns[I + J + 1] = columns[I + J + 1].add_low(digit, digit.splat(N_UPPER[J])); });
        unroll!(J in [0 1 2 3 4] { columns[I + J + 2] = columns[I + J + 2].add_high(digit, digit.splat(N_UPPER[J])); });
    });
    let zero = columns[0].splat(0);
    let digit = zero.add_low(columns[4].truncated(), zero.splat(MINUS_INVERSE)).truncated();
    unroll!(J in [0 1 2 3 4] { columns[J + 4] = columns[J + 4].add_low(digit, zero.splat(ORDER[J])); });
    unroll!(J in [0 1 2 3 4] { columns[J + 5] = columns[J + 5].add_high(digit, zero.splat(ORDER[J])); });
    columns[5] = columns[5].plus(columns[4].carry_52());
    limbs_of!(I in [0 1 2 3 4] => columns[I + 5])
}

/// A number that is not negative, with limbs below 2^52. Its columns may be negative.
#[inline(always)]
pub(super) fn carry<W: Word>(columns: &[W; 5]) -> [W; 5] {
    let mut out = *columns;
    unroll!(I in [0 1 2 3] {
        out[I + 1] = out[I + 1].plus(out[I].signed_carry_52());
        out[I] = out[I].low_limb_52();
    });
    out
}

/// a·b/R modulo r, with limbs below 2^52.
#[inline(always)]
pub(super) fn product_reduced<W: Word>(a: &[W; 5], b: &[W; 5]) -> [W; 5] {
    carry(&reduce(&product(a, b)))
}

/// a + b, whose value has to fit the limbs.
#[inline(always)]
pub(super) fn sum<W: Word>(a: &[W; 5], b: &[W; 5]) -> [W; 5] {
    carry(&limbs_of!(I in [0 1 2 3 4] => a[I].plus(b[I])))
}

/// a + `TIMES`·r - b, for a b of at most `TIMES`·r. The value has to fit the limbs.
#[inline(always)]
pub(super) fn difference<const TIMES: i64, W: Word>(a: &[W; 5], b: &[W; 5]) -> [W; 5] {
    let multiple = const { multiple(TIMES) };
    carry(&limbs_of!(I in [0 1 2 3 4] => a[I].plus(a[I].splat(multiple[I])).minus(b[I])))
}

/// a + b·c/R and a - b·c/R modulo r, for a b·c/R that is reduced to at most 3r. It adds at most 3r to a.
#[inline(always)]
pub(super) fn butterfly<W: Word>(a: &[W; 5], b: &[W; 5], c: &[W; 5]) -> [[W; 5]; 2] {
    let product = reduce(&product(b, c));
    [sum(a, &product), difference::<3, W>(a, &product)]
}

/// The limbs of a number in words of 64 bits, times 2^`UP`, which is 1 or 16.
#[inline(always)]
pub(super) fn of_words<const UP: u32, W: Word>(words: &[W; 4]) -> [W; 5] {
    limbs_of!(I in [0 1 2 3 4] => {
        // The first bit of limb I is this one of the words, or for the first limb `UP` bits below it.
        let from = 52 * I as u32 - if I != 0 { UP } else { 0 };
        let Cut { word, shift, goes_on } = Cut::new(from, 52, 4);
        let limb = if I != 0 { words[word].moved_down(shift) } else { words[0].splat(0).with_above(words[0], UP) };
        let limb = if I != 0 && goes_on { limb.with_above(words[(word + 1) % 4], 64 - shift) } else { limb };
        limb.low_limb_52()
    })
}

/// The words of 64 bits of a number below 2^256.
#[inline(always)]
pub(super) fn words<W: Word>(a: &[W; 5]) -> [W; 4] {
    limbs_of!(I in [0 1 2 3] => a[I].moved_down(12 * I as u32).with_above(a[I + 1], 52 - 12 * I as u32))
}

/// The same number modulo r, below 2.1r, for a value of at most 32r.
///
/// The upper limb says how many times 2r is subtracted, and a table has this multiple.
#[inline(always)]
pub(super) fn shrunk<W: Word>(a: &[W; 5]) -> [W; 5] {
    // The upper limb counts 2^208. The quotient, rounded down, may be one too small where the rest is small, but is never too large.
    const SHIFT: u32 = 40;
    const INVERSE: i64 = ((1_i128 << (52 + SHIFT)) / (2 * (ORDER[4] as i128 + 1))) as i64;
    let quotient = a[0].splat(0).add_high(a[4], a[0].splat(INVERSE)).carry(SHIFT);
    carry(&limbs_of!(I in [0 1 2 3 4] => a[I].minus(quotient.entry(&EVEN_MULTIPLES[I]))))
}

/// The least representative of a number below 3r, with limbs below 2^52.
#[inline(always)]
pub(super) fn canonical<W: Word>(a: &[W; 5]) -> [W; 5] {
    let mut limbs = *a;
    unroll!(_TWICE in [0 1] {
        let less = carry(&limbs_of!(I in [0 1 2 3 4] => limbs[I].minus(limbs[I].splat(ORDER[I]))));
        limbs = limbs_of!(I in [0 1 2 3 4] => less[4].where_negative(limbs[I], less[I]));
    });
    limbs
}

/// 0, 2r, … 14r and 16r, … 30r, by limb.
static EVEN_MULTIPLES: [Table; 5] = {
    let mut table = [[[0; 8]; 2]; 5];
    let mut i = 0;
    while i < 16 {
        let multiple = multiple(2 * i as i64);
        let mut limb = 0;
        while limb < 5 {
            table[limb][i / 8][i % 8] = multiple[limb];
            limb += 1;
        }
        i += 1;
    }
    table
};

/// `times`·r.
pub(super) const fn multiple(times: i64) -> Limbs {
    let mut out = [0; 5];
    let mut carry: i128 = 0;
    let mut i = 0;
    while i < 5 {
        let digit = ORDER[i] as i128 * times as i128 + carry;
        out[i] = if i < 4 { (digit & ((1 << 52) - 1)) as i64 } else { digit as i64 };
        carry = digit >> 52;
        i += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    /// Σ column · 2^(52·i) modulo r.
    fn modulo_r(columns: &[i64]) -> Scalar {
        columns.iter().rev().fold(Scalar::ZERO, |sum, column| {
            let size = Scalar::from(column.unsigned_abs());
            let up = sum * Scalar::from(1 << 52);
            if *column < 0 { up - size } else { up + size }
        })
    }

    /// One lane at the edges of the limbs, with every overflow a panic.
    #[test]
    fn products_at_the_edges() {
        let top = (1 << 52) - 1;
        let mut numbers = alloc::vec![[0; 5], [top; 5], ORDER, N_UPPER, multiple(2), multiple(35), [1, 0, 0, 0, 0]];
        for place in 0..5 {
            let (mut one, mut all_but_one) = ([0; 5], [top; 5]);
            (one[place], all_but_one[place]) = (top, 0);
            numbers.extend([one, all_but_one]);
        }
        let r = Scalar::from(2).power(260);
        for a in &numbers {
            for b in &numbers {
                let columns = product(a, b);
                assert_eq!(modulo_r(&columns), modulo_r(a) * modulo_r(b));
                let reduced = carry(&reduce(&columns));
                assert_eq!(modulo_r(&reduced) * r, modulo_r(&columns));
                assert!(reduced[..4].iter().all(|limb| (0..1 << 52).contains(limb)));
                // T/R is at most a, so the result is at most a + 2r. Its upper limb may have a carry more.
                let most = a[4].min(b[4]) + 2 * ORDER[4] + 3;
                assert!((0..=most).contains(&reduced[4]), "{} above {most}", reduced[4]);
            }
        }
    }

    #[test]
    fn negative_columns_are_carried() {
        let columns = [-1, 3, -(1 << 57), 1 << 57, 40];
        let carried = carry(&columns);
        assert_eq!(modulo_r(&carried), modulo_r(&columns));
        assert!(carried[..4].iter().all(|limb| (0..1 << 52).contains(limb)));
    }

    #[test]
    fn constants_are_what_they_are_called() {
        assert_eq!(modulo_r(&ORDER), Scalar::ZERO);
        assert_eq!((ORDER[0].wrapping_mul(MINUS_INVERSE) + 1) & ((1 << 52) - 1), 0);
        let mut n = [0; 6];
        n[1..].copy_from_slice(&N_UPPER);
        n[0] = -1;
        assert_eq!(modulo_r(&n), Scalar::ZERO);
        for times in [0, 1, 2, 16, 35] {
            assert_eq!(modulo_r(&multiple(times)), Scalar::ZERO);
            assert!((multiple(times)[4] - times * ORDER[4]).abs() <= times);
        }
    }
}
