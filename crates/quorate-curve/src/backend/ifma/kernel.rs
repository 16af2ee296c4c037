//! The kernels: products and reductions of eight limbs, written once for lanes and for the check of their ranges.
//!
//! A number is Σ limb_i · 2^(50·i), i < 8. The multiplier takes operands of 52 bits and gives the low and the high 52 bits
//! of a product apart, so an operand's limb may hold up to four units of 2^50, and a high half counts four times in the
//! column above: column k of a product is L_k + 4·H_(k-1). Columns are signed 64-bit numbers.
//!
//! Montgomery's reduction divides by R = 2^400. Its first seven steps add multiples of N = p·(-1/p mod 2^50), which ends
//! in -1 modulo 2^50: the digit is then the column itself, and a column and its digit cancel without a multiplication. The
//! last step adds a multiple of p, which brings the bound back: the result is below T/R + 2p for a product T.

use super::word::Word;

/// Pastes a block for each number of a list, as a constant: LLVM leaves nested loops rolled, which halves the speed.
macro_rules! unroll {
    ($i:ident in [$($n:literal)*] $body:block) => { $({ const $i: usize = $n; $body })* };
    ($i:ident < 7 $body:block) => { $crate::backend::ifma::kernel::unroll!($i in [0 1 2 3 4 5 6] $body) };
    ($i:ident < 8 $body:block) => { $crate::backend::ifma::kernel::unroll!($i in [0 1 2 3 4 5 6 7] $body) };
    ($i:ident < 15 $body:block) => { $crate::backend::ifma::kernel::unroll!($i in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14] $body) };
    ($i:ident < 16 $body:block) => { $crate::backend::ifma::kernel::unroll!($i in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] $body) };
}
pub(crate) use unroll;

/// An array of eight or sixteen limbs, each an expression of its place. Not `array::from_fn`, whose closure is a function
/// of its own, without the vector instructions.
macro_rules! limbs_of {
    ($i:ident < 8 => $limb:expr) => { $crate::backend::ifma::kernel::limbs_of!($i in [0 1 2 3 4 5 6 7] => $limb) };
    ($i:ident < 16 => $limb:expr) => {
        $crate::backend::ifma::kernel::limbs_of!($i in [0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15] => $limb)
    };
    ($i:ident in [$($n:literal)*] => $limb:expr) => { [$({ const $i: usize = $n; $limb }),*] };
}
pub(crate) use limbs_of;

/// Bits of a limb.
pub(crate) const BITS: u32 = 50;

/// The limbs of a 400-bit number of eight 50-bit ones.
pub(crate) type Limbs = [i64; 8];

/// p.
pub(crate) const P: Limbs = limbs([
    0xb9fe_ffff_ffff_aaab,
    0x1eab_fffe_b153_ffff,
    0x6730_d2a0_f6b0_f624,
    0x6477_4b84_f385_12bf,
    0x4b1b_a7b6_434b_acd7,
    0x1a01_11ea_397f_e69a,
]);

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

/// A number of 384 bits in limbs of 50.
pub(crate) const fn limbs(words: [u64; 6]) -> Limbs {
    let mut limbs = [0; 8];
    let mut i = 0;
    while i < 8 {
        let (word, shift) = (50 * i / 64, 50 * i % 64);
        let mut bits = words[word] >> shift;
        if shift > 14 && word + 1 < 6 {
            bits |= words[word + 1] << (64 - shift);
        }
        limbs[i] = (bits & ((1 << 50) - 1)) as i64;
        i += 1;
    }
    limbs
}

/// The columns of a·b. Limbs below 2^52. 128 multiplications.
#[inline(always)]
pub(crate) fn product<W: Word>(a: &[W; 8], b: &[W; 8]) -> [W; 16] {
    let mut columns = [W::splat(0); 16];
    let mut high = W::splat(0);
    unroll!(K < 15 {
        let mut low = high.times_four();
        high = W::splat(0);
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
    let mut columns = [W::splat(0); 16];
    let mut high = W::splat(0);
    unroll!(K < 15 {
        let mut low = high.times_four();
        high = W::splat(0);
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

/// T/R modulo p, below T/R + 2p, the lower limbs below 2^50; T is not negative. 129 multiplications.
#[inline(always)]
pub(crate) fn reduce<W: Word>(columns: &[W; 16]) -> [W; 8] {
    let mut low = *columns;
    let mut high = [W::splat(0); 16];
    unroll!(I < 7 {
        let column = if I > 0 { low[I].plus(high[I - if I > 0 { 1 } else { 0 }].times_four()) } else { low[I] };
        let digit = column.low_limb();
        low[I + 1] = low[I + 1].plus(column.carry());
        unroll!(J < 8 {
            low[I + 1 + J] = low[I + 1 + J].add_low(digit, W::splat(N_UPPER[J]));
            high[I + 1 + J] = high[I + 1 + J].add_high(digit, W::splat(N_UPPER[J]));
        });
    });
    let column = low[7].plus(high[6].times_four());
    let digit = W::splat(0).add_low(column, W::splat(MINUS_INVERSE)).low_limb();
    low[7] = column;
    unroll!(J < 8 {
        low[7 + J] = low[7 + J].add_low(digit, W::splat(P[J]));
        high[7 + J] = high[7 + J].add_high(digit, W::splat(P[J]));
    });
    let mut out = [W::splat(0); 8];
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

/// `times`·p, written with `units`·2^50 too much in each of the lower limbs, so that numbers with limbs of so many units
/// can be taken from it limb by limb.
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
