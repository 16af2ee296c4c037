//! Multi-scalar multiplication Σ nᵢ·Pᵢ for public scalars: Pippenger's algorithm, with buckets that the lanes fill.
//!
//! On the subgroup of order r, the endomorphism ω is the multiplication by -z². A scalar is written
//! as n = a + b·z² with a, b < z², so that n·P = a·P - b·ωP: half as many windows for twice as many points.
//! Windows have c bits and signed digits, so a window has 2^(c-1) buckets. The bucket Bₖ counts k times, which is done
//! by the bits of k:
//!
//! ```text
//! Σₖ k·Bₖ = Σⱼ 2ʲ·(Σ of Bₖ with bit j of k)
//! ```
//!
//! The buckets are first added up by the upper half and by the lower half of k, which takes two additions a bucket. All
//! of these are sums of segments ([`affine`](super::affine)). Then each bit costs a doubling and an addition.
//!
//! If all scalars are below z², then every b is zero, and ω is not used. So the sum is exact for every point of the curve,
//! and short scalars take fewer windows. Otherwise all points must be in the subgroup.

use alloc::vec::Vec;

use super::{
    affine::{Entry, table_of},
    curve::InLanes,
    field::Lanes,
    weighted_sum::Cells,
};
use crate::{
    arithmetic::{BlstCurve, curve::PARAMETER},
    backend::portable,
    segments::Cut,
};

/// The sum over all terms. `term` gives the point and the scalar of one.
pub(crate) fn msm<L: Lanes, T, C: InLanes<Parameters = L::Curve> + BlstCurve>(
    lanes: L,
    terms: &[T],
    term: impl Fn(&T) -> (C, [u8; 32]),
) -> C {
    if terms.len() < L::THRESHOLDS.msm {
        return portable::msm::msm(terms.iter().map(term));
    }
    let sums: Vec<_> = terms.chunks(TOGETHER).map(|terms| by_buckets(lanes, terms.iter().map(&term).unzip())).collect();
    portable::sum::sums(Cut::new(&sums, &[sums.len()]))[0]
}

/// The number of points whose table and buckets are in memory at a time.
const TOGETHER: usize = 1 << 17;

fn by_buckets<L: Lanes, C: InLanes<Parameters = L::Curve> + BlstCurve>(
    lanes: L,
    (points, scalars): (Vec<C>, Vec<[u8; 32]>),
) -> C {
    let table = table_of(lanes, &points, true);
    let halves: Vec<_> = scalars.iter().map(split).collect();
    let windows = Windows::of(&halves);
    let buckets = windows.buckets(&halves).sums(&table, false);
    let bits =
        windows.bits_of_halves().sums(&windows.halves_of_buckets().sums(&buckets, false), false).to_points::<C>();
    let sum = bits.iter().rev().fold(C::IDENTITY.to_jacobian(), |sum, bit| C::add_affine(&C::double(&sum), bit));
    C::to_affine(&[sum])[0]
}

/// How scalars are cut: into `count` windows of `bits` bits.
#[derive(Clone, Copy)]
struct Windows {
    bits: usize,
    count: usize,
}

impl Windows {
    /// The cheapest windows, at the cost of an addition for each scalar and window, and five for each two buckets.
    fn of(halves: &[[u128; 2]]) -> Self {
        let scalars = halves.iter().flatten().filter(|half| **half > 0).count();
        let length = 128 - halves.iter().flatten().fold(0, |all, half| all | half).leading_zeros() as usize;
        // The digit of the last window has a sign, too, and a carry must not reach it.
        let windows = (4..=15).map(|bits| Self { bits, count: (length + 2).div_ceil(bits) });
        let cost = |w: &Self| w.count * (2 * scalars + (5 << (w.bits - 1)));
        windows.min_by_key(cost).expect("twelve choices")
    }

    /// Calls `each` with the window, the absolute value and the sign of every digit that is not zero. Digits of a
    /// number below 2^128 are in -2^(bits - 1)..2^(bits - 1).
    fn digits(self, number: u128, mut each: impl FnMut(usize, usize, bool)) {
        let mut carry = 0;
        for window in 0..self.count {
            let rest = number.checked_shr((window * self.bits) as u32).unwrap_or(0);
            let digit = (rest as usize & ((1 << self.bits) - 1)) + carry;
            carry = digit >> (self.bits - 1);
            // The digit is 2^bits if a carry meets a window of ones.
            let negative = carry > 0;
            carry = usize::from(negative);
            let size = if negative { (1 << self.bits) - digit } else { digit };
            if size > 0 {
                each(window, size, negative);
            }
        }
    }

    /// The buckets of each window.
    fn buckets(self, halves: &[[u128; 2]]) -> Cells {
        let mut cells = Cells::new(self.count << self.bits);
        for (i, [low, high]) in halves.iter().enumerate() {
            for (half, turn) in [(low, 0), (high, 1)] {
                self.digits(*half, |window, digit, negative| {
                    let cell = window << self.bits | digit;
                    cells.push(cell, Entry::new(i, turn, negative != (turn == 1)));
                });
            }
        }
        cells
    }

    /// The widths of the lower half of a bucket's number, and of the upper half. Each has at most one bit more than the lower.
    fn widths(self) -> [usize; 2] {
        let low = self.bits / 2;
        [low, self.bits - low]
    }

    /// The sums of the buckets by each half of their numbers.
    fn halves_of_buckets(self) -> Cells {
        let [low, width] = self.widths();
        let mut halves = Cells::new((2 * self.count) << width);
        for window in 0..self.count {
            for size in 1..=1 << (self.bits - 1) {
                let bucket = Entry::new(window << self.bits | size, 0, false);
                for (half, value) in [size & ((1 << low) - 1), size >> low].into_iter().enumerate() {
                    if value > 0 {
                        halves.push((2 * window + half) << width | value, bucket);
                    }
                }
            }
        }
        halves
    }

    /// The sum, for each bit of 128 or a few more, of the buckets whose number has that bit, from the sums by halves.
    fn bits_of_halves(self) -> Cells {
        let [low, width] = self.widths();
        let mut bits = Cells::new(self.count * self.bits);
        for window in 0..self.count {
            for (half, width_of_half) in [low, width].into_iter().enumerate() {
                for value in 1_usize..1 << width_of_half {
                    let sum = Entry::new((2 * window + half) << width | value, 0, false);
                    for bit in (0..width_of_half).filter(|bit| value >> bit & 1 == 1) {
                        bits.push(window * self.bits + half * low + bit, sum);
                    }
                }
            }
        }
        bits
    }
}

/// a and b, both below z², with n = a + b·z² for n below r = z⁴ - z² + 1.
pub(super) fn split(scalar: &[u8; 32]) -> [u128; 2] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(scalar.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    let low = u128::from(divide_by_z(&mut words));
    let high = u128::from(divide_by_z(&mut words));
    [high * u128::from(PARAMETER) + low, u128::from(words[1]) << 64 | u128::from(words[0])]
}

/// Divides by |z|. The answer is the remainder.
fn divide_by_z(words: &mut [u64; 4]) -> u64 {
    let mut remainder = 0;
    for word in words.iter_mut().rev() {
        let dividend = u128::from(remainder) << 64 | u128::from(*word);
        *word = (dividend / u128::from(PARAMETER)) as u64;
        remainder = (dividend % u128::from(PARAMETER)) as u64;
    }
    remainder
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::{
        Backend, Bls12381Group, G1, G2, Scalar,
        backend::lanes::{affine::tests::hashed, tests::in_each_kind_and_serially},
        scalar,
    };

    fn wide(number: u128) -> Scalar {
        Scalar::reduce(&number.to_be_bytes())
    }

    fn msm_of<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L, terms: &[(G, Scalar)]) -> G {
        G::wrap(msm(lanes, terms, |(point, scalar)| (point.inner(), scalar.to_le_bytes())))
    }

    /// The sum that blst computes.
    fn by_blst<G: Bls12381Group>(terms: &[(G, Scalar)]) -> G {
        G::wrap(portable::msm::msm(terms.iter().map(|(point, scalar)| (point.inner(), scalar.to_le_bytes()))))
    }

    /// Scalars at the edges of r, of the halves and of the windows, and some that look random.
    fn scalars(n: usize) -> Vec<Scalar> {
        let z2 = u128::from(PARAMETER) * u128::from(PARAMETER);
        let mut scalars = vec![Scalar::reduce(&[0xff; 32]), Scalar::reduce(&[0x80; 32]), Scalar::reduce(&[0x7f; 32])];
        scalars.extend([z2 - 1, z2, z2 + 1, u128::MAX].map(wide));
        scalars.extend(scalar::tests::scalars(n));
        scalars.truncate(n);
        scalars
    }

    #[test]
    fn halves_and_digits_make_the_scalar() {
        let z2 = u128::from(PARAMETER) * u128::from(PARAMETER);
        let split = |scalar: Scalar| split(&scalar.to_le_bytes());
        assert_eq!(split(Scalar::ZERO), [0, 0]);
        assert_eq!(split(Scalar::ONE), [1, 0]);
        // r - 1 = z²·(z² - 1).
        assert_eq!(split(-Scalar::ONE), [0, z2 - 1]);
        assert_eq!(split(wide(z2 + 5)), [5, 1]);
        for bits in 4..=15 {
            let windows = Windows { bits, count: 129_usize.div_ceil(bits) };
            for scalar in scalars(100) {
                for half in split(scalar).into_iter().chain([u128::MAX]) {
                    assert!(half < z2 || half == u128::MAX);
                    let mut sum = 0_u128;
                    windows.digits(half, |window, size, negative| {
                        assert!(size <= 1 << (bits - 1));
                        let term = (size as u128).checked_shl((window * bits) as u32).unwrap_or(0);
                        sum = if negative { sum.wrapping_sub(term) } else { sum.wrapping_add(term) };
                    });
                    assert_eq!(sum, half, "{bits} bits");
                }
            }
        }
    }

    fn agrees_outside<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L, outside: G) {
        let mut points: Vec<G> = hashed(20);
        (points[3], points[4], points[5]) = (outside, Backend::Portable.sum(&[outside, points[0]]), outside.negate());
        for bits in [1, 2, 3, 8, 31, 63, 64, 65, 126, 127] {
            let largest = u128::MAX >> (128 - bits);
            let numbers: Vec<_> = (0..20).map(|i| if i < 8 { largest } else { largest / (i - 6) }).collect();
            let terms: Vec<_> = points.iter().copied().zip(numbers.iter().map(|number| wide(*number))).collect();
            let products: Vec<_> = terms
                .iter()
                .zip(&numbers)
                .map(|((point, _), number)| {
                    (0..128).rev().fold(G::IDENTITY, |sum, bit| {
                        let addend = if number >> bit & 1 == 1 { *point } else { G::IDENTITY };
                        Backend::Portable.sum(&[sum, sum, addend])
                    })
                })
                .collect();
            assert_eq!(msm_of(lanes, &terms), Backend::Portable.sum(&products), "{bits} bits");
        }
        assert!(msm_of(lanes, &points.iter().map(|point| (*point, Scalar::ZERO)).collect::<Vec<_>>()).is_identity());
    }

    in_each_kind_and_serially! {
        /// Scalars up to every number of bits take as few windows as they need, and sum up points outside the subgroup.
        fn short_scalars_of_points_outside_the_subgroup(lanes: L) {
            let mut bytes = [0; G1::COMPRESSED];
            bytes[0] = 0x80;
            agrees_outside::<L, G1>(lanes, Backend::Portable.decode(&bytes).expect("(0, 2), of order 3"));
            agrees_outside::<L, G2>(lanes, Backend::Portable.hash_for_sums(b"msm", &[(b"", b"outside")])[0]);
        }
    }

    fn agrees<L: Lanes<Curve = crate::pairing::Bls12381>, G: Bls12381Group>(lanes: L) {
        let mut points: Vec<G> = hashed(300);
        (points[20], points[21], points[22], points[23]) = (G::IDENTITY, points[1], points[1].negate(), points[1]);
        let least = L::THRESHOLDS.msm;
        for n in [0, 1, least - 1, least, least + 1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 300] {
            let scalars = scalars(n);
            let terms: Vec<_> = points.iter().copied().zip(scalars).collect();
            assert_eq!(msm_of(lanes, &terms), by_blst(&terms), "{} n = {n}", G::NAME);
        }
        for scalar in scalars(14) {
            for points in [vec![points[0]; 33], [points[0], points[0].negate()].repeat(20)] {
                let terms: Vec<_> = points.iter().map(|point| (*point, scalar)).collect();
                let one = by_blst(&terms[..1]);
                let expected = if points.len() == 33 { Backend::Portable.sum(&[one; 33]) } else { G::IDENTITY };
                assert_eq!(msm_of(lanes, &terms), expected);
            }
        }
    }

    in_each_kind_and_serially! {
        fn agrees_with_portable_g1(lanes: L) {
            agrees::<L, G1>(lanes);
        }
    }

    in_each_kind_and_serially! {
        fn agrees_with_portable_g2(lanes: L) {
            agrees::<L, G2>(lanes);
        }
    }

    in_each_kind_and_serially! {
        /// Buckets that hold the same point many times, and wide windows.
        fn many_equal_points(lanes: L) {
            let terms: Vec<_> = hashed::<G1>(16).into_iter().cycle().zip(scalars(3000)).collect();
            assert_eq!(msm_of(lanes, &terms), by_blst(&terms));
        }
    }
}
