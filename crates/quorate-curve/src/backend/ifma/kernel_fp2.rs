//! Kernels of Fp2: the columns of products and squares of c0 + c1·i.

use super::{
    kernel::{Columns, Numbers},
    word::Word,
};
use crate::backend::lanes::{
    constant::Modulus,
    unroll::{limbs_of, unroll},
};

/// The columns of a0·b0 - a1·b1, which may be negative, and those of a0·b1 + a1·b0. Three products of Fp.
#[inline(always)]
pub(super) fn columns<C: Modulus, const N: usize, W: Word>(a: &[&[W; N]; 2], b: &[&[W; N]; 2]) -> [Columns<W, N>; 2] {
    let v0 = Numbers::<C, N>::product(a[0], b[0]);
    staged();
    let v1 = Numbers::<C, N>::product(a[1], b[1]);
    staged();
    let (a, b) = (limbs_of!(I < N => a[0][I].plus(a[1][I])), limbs_of!(I < N => b[0][I].plus(b[1][I])));
    let v2 = Numbers::<C, N>::product(&a, &b);
    staged();
    let (mut real, mut imaginary) = (v0, v2);
    unroll!(H in [0 1] { unroll!(I < N {
        real[H][I] = v0[H][I].minus(v1[H][I]);
        imaginary[H][I] = v2[H][I].minus(v0[H][I]).minus(v1[H][I]);
    }); });
    [real, imaginary]
}

/// The columns of (c0 + c1)·(c0 - c1 + `TIMES`·p) and those of 2·c0·c1, for limbs below 2 units. Two products of Fp.
///
/// c0 - c1 has limbs of up to five units, so its carries are taken.
#[inline(always)]
pub(super) fn square_columns<C: Modulus, const TIMES: i64, const N: usize, W: Word>(
    c0: &[W; N],
    c1: &[W; N],
) -> [Columns<W, N>; 2] {
    let multiple = const { Numbers::<C, N>::multiple(TIMES, 2) };
    let sum = limbs_of!(I < N => c0[I].plus(c1[I]));
    let difference = Numbers::<C, N>::carry(&limbs_of!(I < N => c0[I].plus(c0[I].splat(multiple[I])).minus(c1[I])));
    let real = Numbers::<C, N>::product(&sum, &difference);
    staged();
    let twice = limbs_of!(I < N => c0[I].plus(c0[I]));
    [real, Numbers::<C, N>::product(&twice, c1)]
}

/// (a0 + a1·i)·(b0 + b1·i)/R modulo p.
#[inline(always)]
pub(super) fn product_reduced<C: Modulus, const N: usize, W: Word>(a: &[&[W; N]; 2], b: &[&[W; N]; 2]) -> [[W; N]; 2] {
    let [real, imaginary] = columns::<C, N, W>(a, b);
    let real = Numbers::<C, N>::reduce(&Numbers::<C, N>::lifted(&real));
    [real, Numbers::<C, N>::reduce(&imaginary)]
}

/// (c0 + c1·i)²/R modulo p, for limbs below 2 units and values below 16p.
#[inline(always)]
pub(super) fn square_reduced<C: Modulus, const N: usize, W: Word>(c0: &[W; N], c1: &[W; N]) -> [[W; N]; 2] {
    let [real, imaginary] = square_columns::<C, 16, N, W>(c0, c1);
    let real = Numbers::<C, N>::reduce(&real);
    [real, Numbers::<C, N>::reduce(&imaginary)]
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
        backend::ifma::kernel::tests::{Eight, assert_reduced, edges, modulo_p},
        pairing::Bls12381,
    };

    type Limbs = [i64; 8];

    #[test]
    fn columns_at_the_edges() {
        let edges = edges(2);
        for (i, a1) in edges.iter().enumerate() {
            // Values below 2^388 (200p), so that the real part is above zero when it is lifted.
            let small = |a: &Limbs| core::array::from_fn(|i| if i == 7 { a[7] & ((1 << 38) - 1) } else { a[i] });
            let (a0, a1) = (small(&edges[(i + 3) % edges.len()]), small(a1));
            for b in &edges {
                let (b0, b1) = (small(b), small(&edges[(i * 7) % edges.len()]));
                let [c0, c1] = columns::<Bls12381, 8, _>(&[&a0, &a1], &[&b0, &b1]);
                let of = |x: &Limbs| modulo_p(x);
                assert_eq!(modulo_p(c0.as_flattened()), of(&a0).times(&of(&b0)).minus(&of(&a1).times(&of(&b1))));
                assert_eq!(modulo_p(c1.as_flattened()), of(&a0).times(&of(&b1)).plus(&of(&a1).times(&of(&b0))));
                assert_eq!(modulo_p(Eight::lifted(&c0).as_flattened()), modulo_p(c0.as_flattened()));
            }
        }
        let most = Eight::multiple(32, 0);
        let [c0, _] = columns::<Bls12381, 8, _>(&[&[0; 8], &most], &[&[0; 8], &most]);
        assert_reduced(&Eight::lifted(&c0));
    }
}
