//! Kernels of Fp2: the columns of products and squares of c0 + c1·i.

use super::{
    kernel::{self, P},
    word::Word,
};
use crate::backend::lanes::unroll::limbs_of;

/// p·2^392 in columns. A difference of products is never so far below zero.
const LIFT: [i64; 16] = {
    let mut columns = [0; 16];
    let mut i = 0;
    while i < 8 {
        // 392 = 7·50 + 42.
        columns[7 + i] += (P[i] << 42) & ((1 << 50) - 1);
        columns[8 + i] += P[i] >> 8;
        i += 1;
    }
    columns
};

/// The columns of a0·b0 - a1·b1, which may be negative, and those of a0·b1 + a1·b0. Three products of Fp.
#[inline(always)]
pub(super) fn columns<W: Word>(a: &[&[W; 8]; 2], b: &[&[W; 8]; 2]) -> [[W; 16]; 2] {
    let v0 = kernel::product(a[0], b[0]);
    staged();
    let v1 = kernel::product(a[1], b[1]);
    staged();
    let (a, b) = (limbs_of!(I < 8 => a[0][I].plus(a[1][I])), limbs_of!(I < 8 => b[0][I].plus(b[1][I])));
    let v2 = kernel::product(&a, &b);
    staged();
    [limbs_of!(I < 16 => v0[I].minus(v1[I])), limbs_of!(I < 16 => v2[I].minus(v0[I]).minus(v1[I]))]
}

#[inline(always)]
pub(super) fn lifted<W: Word>(columns: &[W; 16]) -> [W; 16] {
    limbs_of!(I < 16 => if LIFT[I] == 0 { columns[I] } else { columns[I].plus(columns[I].splat(LIFT[I])) })
}

/// The columns of (c0 + c1)·(c0 - c1 + `TIMES`·p) and those of 2·c0·c1, for limbs below 2 units. Two products of Fp.
///
/// c0 - c1 has limbs of up to five units, so its carries are taken.
#[inline(always)]
pub(super) fn square_columns<const TIMES: i64, W: Word>(c0: &[W; 8], c1: &[W; 8]) -> [[W; 16]; 2] {
    let multiple = const { kernel::multiple_of_p(TIMES, 2) };
    let sum = limbs_of!(I < 8 => c0[I].plus(c1[I]));
    let difference = kernel::carry(&limbs_of!(I < 8 => c0[I].plus(c0[I].splat(multiple[I])).minus(c1[I])));
    let real = kernel::product(&sum, &difference);
    staged();
    let twice = limbs_of!(I < 8 => c0[I].plus(c0[I]));
    [real, kernel::product(&twice, c1)]
}

/// Keeps the compiler from interleaving two products, whose columns would not fit the registers.
#[inline(always)]
fn staged() {
    // SAFETY: there is no instruction.
    unsafe { core::arch::asm!("", options(nostack, preserves_flags)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arithmetic::field::Field as _,
        backend::ifma::kernel::{
            Limbs,
            tests::{Range, assert_reduced, edges, modulo_p},
        },
    };

    #[test]
    fn ranges_of_kernels() {
        let two = &[Range::units(2); 8];
        let [c0, c1] = columns(&[two, two], &[two, two]);
        let sum = |c: [Range; 16]| c.map(|c| Range::new(24 * c.least, 24 * c.most));
        kernel::reduce(&lifted(&sum(c0)));
        kernel::reduce(&lifted(&sum(c1)));
        // The upper limb of a value below 8p.
        let mut below = [Range::units(2); 8];
        below[7] = Range::new(0, i128::from(P[7]) * 799 / 100);
        for columns in square_columns::<16, _>(&below, &below) {
            kernel::reduce(&columns);
        }
    }

    #[test]
    fn columns_at_the_edges() {
        let edges = edges(2);
        for (i, a1) in edges.iter().enumerate() {
            // Values below 2^388 (200p), so that the real part is above zero when it is lifted.
            let small = |a: &Limbs| core::array::from_fn(|i| if i == 7 { a[7] & ((1 << 38) - 1) } else { a[i] });
            let (a0, a1) = (small(&edges[(i + 3) % edges.len()]), small(a1));
            for b in &edges {
                let (b0, b1) = (small(b), small(&edges[(i * 7) % edges.len()]));
                let [c0, c1] = columns(&[&a0, &a1], &[&b0, &b1]);
                let of = |x: &Limbs| modulo_p(x);
                assert_eq!(modulo_p(&c0), of(&a0).times(&of(&b0)).minus(&of(&a1).times(&of(&b1))));
                assert_eq!(modulo_p(&c1), of(&a0).times(&of(&b1)).plus(&of(&a1).times(&of(&b0))));
                assert_eq!(modulo_p(&lifted(&c0)), modulo_p(&c0));
            }
        }
        let most = kernel::multiple_of_p(32, 0);
        let [c0, _] = columns(&[&[0; 8], &most], &[&[0; 8], &most]);
        assert_reduced(&lifted(&c0));
    }
}
