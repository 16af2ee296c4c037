//! Domains: the roots of unity at which polynomials over Fr are evaluated and interpolated fast.

use alloc::{vec, vec::Vec};
use core::fmt;

#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use crate::backend::ifma;
use crate::{
    backend::{Backend, portable},
    scalar::Scalar,
};

/// All N points x of Fr with x^N = 1, in an order in which cosets stay together.
///
/// N is 2^k, 3·2^k, 11·2^k or 33·2^k with k at most 32, because these divide r - 1. The order is fixed by the way in
/// which X^N - 1 is cut: first into X^m - c for each c with c^odd = 1, where N = odd·m, then each X^2m - c² into X^m - c
/// and X^m + c. So 2^i neighbours, from a multiple of 2^i on, are all points x of one value x^(2^i). For example, the
/// first points of a domain of 2^k are 1, -1, i, -i, where i² = -1.
///
/// A domain is made for a [`Backend`], which computes its transforms. Memory: 16 bytes for each point, or with an odd
/// factor about 30.
///
/// ```
/// use quorate_curve::{Backend, Domain, Scalar};
/// let domain = Domain::new(Backend::auto(), 8).expect("a power of two");
/// // 5 + 2X
/// let mut values = [5, 2, 0, 0, 0, 0, 0, 0].map(Scalar::from);
/// domain.evaluate(&mut values);
/// assert_eq!(values[3], Scalar::from(5) + Scalar::from(2) * domain.point(3));
/// domain.interpolate(&mut values);
/// assert_eq!(values[..3], [5, 2, 0].map(Scalar::from));
/// ```
#[derive(Clone)]
pub struct Domain {
    backend: Backend,
    /// m: the number of points of one part.
    part: usize,
    /// The root c of each block of the last level, which has m/2 blocks, in the form of the backend. Block j of any
    /// level has the same root.
    roots: Vec<Scalar>,
    /// 1/N in the form of the backend.
    inverse_of_size: Scalar,
    /// The inverse of the factor that is this form.
    inverse_of_form: Scalar,
    /// The parts, of which each is modulo X^m - c.
    parts: Vec<Part>,
}

#[derive(Clone)]
struct Part {
    /// The root of unity c, whose order divides the odd factor.
    c: Scalar,
    /// A number σ with σ^m = c, so that σ·x is a point of this part for each point x of the first one.
    turn: Scalar,
    /// 1, σ, σ², …, σ^(m - 1).
    powers: Vec<Scalar>,
}

/// A root of unity of order 2^32: 7^((r - 1)/2^32), where 7 generates the multiplicative group.
const TWO_ADIC: [u64; 4] = [0xb9b5_8d8c_5f0e_466a, 0x5b1b_4c80_1819_d7ec, 0x0af5_3ae3_52a3_1e64, 0x5bf3_adda_19e9_b27b];
/// A root of unity of order 3, from the same generator.
const THIRD: [u64; 4] = [0x92d9_090b_0930_11d2, 0xfc9c_bd71_9d6a_a073, 0xc1f1_4ef0_cd65_a1a6, 0x017f_6d35_e72f_cdeb];
/// A root of unity of order 11, from the same generator.
const ELEVENTH: [u64; 4] = [0x72a3_8b16_c7b3_38c8, 0xe049_7d53_dfc4_0f22, 0x9797_ba4b_e729_4462, 0x10a9_c7fd_2b7e_5614];

/// The root of unity with these words in Montgomery form.
const fn root(l: [u64; 4]) -> Scalar {
    Scalar(blst::blst_fr { l })
}

impl Domain {
    /// The domain of `size` points, or `None` if `size` is none of the numbers above.
    ///
    /// Cost: at most a product for each point.
    pub fn new(backend: Backend, size: usize) -> Option<Self> {
        let levels = size.trailing_zeros();
        let odd = size.checked_shr(levels)?;
        let odd_root = match odd {
            1 => Scalar::ONE,
            3 => root(THIRD),
            11 => root(ELEVENTH),
            33 => root(THIRD) * root(ELEVENTH),
            _ => return None,
        };
        if levels > 32 {
            return None;
        }
        let part = 1 << levels;
        let backend = if part < points_from(backend) { Backend::Portable } else { backend };
        let mut roots = vec![form(backend); (part / 2).max(1)];
        for level in 0..levels.saturating_sub(1) {
            // The root of unity of order 2^(level + 2).
            let turn = (level + 2..32).fold(root(TWO_ADIC), |power, _| power * power);
            append_multiple(backend, &mut roots[..2 << level], turn);
        }
        // c^i for i = 1/m modulo the odd factor.
        let exponent = (0..odd).find(|i| i * (part % odd) % odd == 1 % odd)?;
        let parts = (0..odd as u64).map(|i| {
            let c = odd_root.power(i);
            let turn = c.power(exponent as u64);
            let mut powers = vec![Scalar::ONE; if i == 0 { 0 } else { part }];
            for level in (0..levels).filter(|_| i > 0) {
                append_multiple(backend, &mut powers[..2 << level], turn.power(1 << level));
            }
            Part { c, turn, powers }
        });
        let inverse_of_size = Scalar::from(size as u64).inverse()? * form(backend);
        let inverse_of_form = form(backend).inverse()?;
        Some(Self { backend, part, roots, inverse_of_size, inverse_of_form, parts: parts.collect() })
    }

    /// The number of points.
    #[allow(clippy::len_without_is_empty, reason = "a domain has at least one point")]
    pub fn len(&self) -> usize {
        self.parts.len() * self.part
    }

    /// The point at a position.
    ///
    /// # Panics
    /// If the domain has no such position.
    pub fn point(&self, position: usize) -> Scalar {
        assert!(position < self.len(), "a domain of {} points has no position {position}", self.len());
        let (part, place) = (position / self.part, position % self.part);
        let root = self.roots[place / 2] * self.inverse_of_form;
        self.parts[part].turn * if place % 2 == 0 { root } else { -root }
    }

    /// All points, in their order. Cost: about half a product for each.
    pub fn points(&self) -> Vec<Scalar> {
        let mut points = Vec::with_capacity(self.len());
        for part in &self.parts {
            let mut halves = vec![Scalar::ZERO; self.roots.len()];
            self.backend.add_multiple(&mut halves, part.turn * self.inverse_of_form, &self.roots);
            points.extend(halves.iter().flat_map(|point| [*point, -*point]).take(self.part));
        }
        points
    }

    /// Replaces the coefficients of a polynomial, the constant one first, by its values at the points.
    ///
    /// Cost: at most N/2·log2(N) products, and with an odd factor q another q for each point.
    ///
    /// # Panics
    /// If there are not as many coefficients as points.
    pub fn evaluate(&self, coefficients: &mut [Scalar]) {
        self.assert_length(coefficients.len());
        if self.parts.len() > 1 {
            let whole = coefficients.to_vec();
            for (part, out) in self.parts.iter().zip(coefficients.chunks_exact_mut(self.part)) {
                // The polynomial modulo X^m - c, at σX.
                self.sum_by_powers(out, &whole, part.c);
                // The first part has the turn 1, and keeps no powers.
                if !part.powers.is_empty() {
                    self.backend.multiply(out, &part.powers);
                }
            }
        }
        for values in coefficients.chunks_exact_mut(self.part) {
            self.evaluate_in_first(self.part, 0, values);
        }
    }

    /// Replaces values at the points by the coefficients of the polynomial that has them. The inverse of
    /// [`evaluate`](Self::evaluate), at the same cost.
    ///
    /// # Panics
    /// If there are not as many values as points.
    pub fn interpolate(&self, values: &mut [Scalar]) {
        self.assert_length(values.len());
        for values in values.chunks_exact_mut(self.part) {
            self.interpolate_in_first(self.part, 0, values, self.inverse_of_size);
        }
        if self.parts.len() > 1 {
            for (i, values) in values.chunks_exact_mut(self.part).enumerate().skip(1) {
                self.backend.multiply(values, &self.inverse_part(i).powers);
            }
            let whole = values.to_vec();
            for (i, out) in values.chunks_exact_mut(self.part).enumerate() {
                self.sum_by_powers(out, &whole, self.inverse_part(i).c);
            }
        }
    }

    /// The same as [`evaluate`](Self::evaluate) for smaller blocks: each `size` coefficients, a polynomial of lower degree
    /// or one modulo X^size - x^size, become its values at the `size` points x of its block. The blocks are consecutive,
    /// and the first one starts at position `first`.
    ///
    /// # Panics
    /// If `size` is no power of two, does not divide N and `first` and the number of coefficients, or if there is no such
    /// block.
    pub fn evaluate_blocks(&self, size: usize, first: usize, coefficients: &mut [Scalar]) {
        for (part, at, coefficients) in self.blocks(size, first, coefficients) {
            if part > 0 {
                let powers = &self.parts[part].powers[..size];
                coefficients.chunks_exact_mut(size).for_each(|block| self.backend.multiply(block, powers));
            }
            self.evaluate_in_first(size, at / size, coefficients);
        }
    }

    /// The inverse of [`evaluate_blocks`](Self::evaluate_blocks): the coefficients of the polynomials of degree below
    /// `size`.
    ///
    /// # Panics
    /// As [`evaluate_blocks`](Self::evaluate_blocks).
    pub fn interpolate_blocks(&self, size: usize, first: usize, values: &mut [Scalar]) {
        let factor = Scalar::from(size as u64).inverse().expect("a power of two is not zero") * form(self.backend);
        for (part, at, values) in self.blocks(size, first, values) {
            self.interpolate_in_first(size, at / size, values, factor);
            if part > 0 {
                let powers = &self.inverse_part(part).powers[..size];
                values.chunks_exact_mut(size).for_each(|block| self.backend.multiply(block, powers));
            }
        }
    }

    /// The blocks of each part, with the position of the first one in its part.
    fn blocks<'a>(
        &'a self,
        size: usize,
        first: usize,
        scalars: &'a mut [Scalar],
    ) -> impl Iterator<Item = (usize, usize, &'a mut [Scalar])> {
        assert!(
            size.is_power_of_two() && self.part.is_multiple_of(size),
            "no block of {} points has {size}",
            self.len()
        );
        assert!(
            first.is_multiple_of(size) && scalars.len().is_multiple_of(size) && first + scalars.len() <= self.len(),
            "{} scalars from position {first} on are no blocks of {size}",
            scalars.len(),
        );
        let (mut rest, mut at) = (scalars, first);
        core::iter::from_fn(move || {
            let (part, place) = (at / self.part, at % self.part);
            let all = core::mem::take(&mut rest);
            let (now, later) = all.split_at_mut(all.len().min(self.part - place));
            (rest, at) = (later, at + now.len());
            (!now.is_empty()).then_some((part, place, now))
        })
    }

    /// The part whose turn and c are the inverses of those of part i.
    fn inverse_part(&self, i: usize) -> &Part {
        &self.parts[(self.parts.len() - i) % self.parts.len()]
    }

    /// Blocks of the first part.
    fn evaluate_in_first(&self, size: usize, block: usize, coefficients: &mut [Scalar]) {
        match self.backend {
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Backend::Ifma(lanes) => ifma::transform::evaluate(lanes, &self.roots, size, block, coefficients),
            _ => portable::transform::evaluate(&self.roots, size, block, coefficients),
        }
    }

    /// Blocks of the first part. `factor` is 1/size in the form of the backend.
    fn interpolate_in_first(&self, size: usize, block: usize, values: &mut [Scalar], factor: Scalar) {
        match self.backend {
            #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
            Backend::Ifma(lanes) => ifma::transform::interpolate(lanes, &self.roots, size, block, values, &factor),
            _ => portable::transform::interpolate(&self.roots, size, block, values, &factor),
        }
    }

    /// The product of two polynomials, the constant coefficients first, of as many coefficients as points.
    ///
    /// Cost: three transforms.
    ///
    /// # Panics
    /// If the product has more coefficients than there are points.
    pub fn product(&self, a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
        assert!(
            a.is_empty() || b.is_empty() || a.len() + b.len() - 1 <= self.len(),
            "the product of polynomials of {} and {} coefficients does not fit {} points",
            a.len(),
            b.len(),
            self.len(),
        );
        let values = |polynomial: &[Scalar]| {
            let mut values = polynomial.to_vec();
            values.resize(self.len(), Scalar::ZERO);
            self.evaluate(&mut values);
            values
        };
        let mut product = values(a);
        self.backend.multiply(&mut product, &values(b));
        self.interpolate(&mut product);
        product
    }

    /// Σ base^i·(part i of `whole`).
    fn sum_by_powers(&self, sum: &mut [Scalar], whole: &[Scalar], base: Scalar) {
        sum.fill(Scalar::ZERO);
        let mut power = Scalar::ONE;
        for part in whole.chunks_exact(self.part) {
            self.backend.add_multiple(sum, power, part);
            power = power * base;
        }
    }

    #[track_caller]
    fn assert_length(&self, found: usize) {
        assert_eq!(found, self.len(), "a transform needs as many scalars as the domain has points");
    }
}

impl fmt::Debug for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Domain").field("points", &self.len()).field("backend", &self.backend).finish()
    }
}

/// Fills the upper half of a slice with a multiple of the lower half.
fn append_multiple(backend: Backend, scalars: &mut [Scalar], factor: Scalar) {
    let (known, new) = scalars.split_at_mut(scalars.len() / 2);
    new.fill(Scalar::ZERO);
    backend.add_multiple(new, factor, known);
}

/// The number of points of a part from which a backend transforms it.
fn points_from(backend: Backend) -> usize {
    match backend {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Backend::Ifma(_) => ifma::transform::POINTS_FROM,
        _ => 0,
    }
}

/// By how much a backend wants its constants multiplied.
fn form(backend: Backend) -> Scalar {
    match backend {
        #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
        Backend::Ifma(_) => ifma::fr::FORM,
        _ => Scalar::ONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::tests::scalars;

    const SIZES: [usize; 19] = [1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 33, 64, 66, 128, 192, 256, 352, 1024, 2048];

    fn domains() -> impl Iterator<Item = (Backend, Domain)> {
        let of = |backend: &Backend| SIZES.map(|size| (*backend, Domain::new(*backend, size).expect("a size")));
        Backend::available().iter().flat_map(of)
    }

    #[test]
    fn points_are_the_roots_of_unity_in_cosets() {
        for (backend, domain) in domains() {
            let n = domain.len();
            let points: Vec<_> = (0..n).map(|i| domain.point(i)).collect();
            assert_eq!(domain.points(), points, "{backend}, {n}");
            assert!(points.iter().all(|x| x.power(n as u64) == Scalar::ONE), "{backend}, {n}");
            let mut distinct: Vec<_> = points.iter().map(Scalar::to_bytes).collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), n);
            let even = 1_usize << n.trailing_zeros();
            for size in (0..=even.ilog2()).map(|i| 1 << i) {
                for coset in points.chunks_exact(size) {
                    assert!(coset.iter().all(|x| x.power(size as u64) == coset[0].power(size as u64)));
                }
            }
            assert_eq!(points, (0..n).map(|i| Domain::new(Backend::Portable, n).unwrap().point(i)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn transforms_are_values_at_the_points_and_go_back() {
        for (backend, domain) in domains() {
            let n = domain.len();
            let coefficients = scalars(n);
            let mut values = coefficients.clone();
            domain.evaluate(&mut values);
            let points: Vec<_> = (0..n).map(|i| domain.point(i)).collect();
            assert_eq!(values, Backend::Portable.values(&coefficients, &points), "{backend}, {n}");
            domain.interpolate(&mut values);
            assert_eq!(values, coefficients, "{backend}, {n}");
        }
    }

    #[test]
    fn blocks_are_evaluated_alone() {
        for (backend, domain) in domains() {
            let n = domain.len();
            for size in (0..=n.trailing_zeros()).map(|i| 1 << i) {
                let blocks = n / size;
                for (first, end) in [(0, blocks), (blocks / 3, blocks), (blocks / 2, blocks / 2 + 1)] {
                    let coefficients = scalars(end * size)[first * size..].to_vec();
                    let mut values = coefficients.clone();
                    domain.evaluate_blocks(size, first * size, &mut values);
                    for (block, coefficients) in (first..end).zip(coefficients.chunks_exact(size)) {
                        let points: Vec<_> = (block * size..(block + 1) * size).map(|i| domain.point(i)).collect();
                        let expected = Backend::Portable.values(coefficients, &points);
                        let found = &values[(block - first) * size..][..size];
                        assert_eq!(found, expected, "{backend}, block {block} of {size} in {n}");
                    }
                    domain.interpolate_blocks(size, first * size, &mut values);
                    assert_eq!(values, coefficients, "{backend}, blocks from {first} on of {size} in {n}");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "are no blocks of 4")]
    fn blocks_that_the_domain_lacks_are_refused() {
        Domain::new(Backend::auto(), 8).expect("a size").evaluate_blocks(4, 6, &mut [Scalar::ONE; 4]);
    }

    /// Every largest and smallest coefficient, so that no sum of the lanes is larger.
    #[test]
    fn transforms_of_extremes() {
        for backend in Backend::available() {
            for size in [64, 1 << 13, 3 << 10, 1 << 15, 1 << 16, 1 << 17, 1 << 18] {
                let domain = Domain::new(*backend, size).expect("a size");
                for scalar in [Scalar::ZERO, Scalar::ONE, -Scalar::ONE] {
                    let mut values = vec![scalar; size];
                    domain.interpolate(&mut values);
                    assert!(values[0] == scalar && values[1..].iter().all(Scalar::is_zero), "{backend}, {size}");
                    domain.evaluate(&mut values);
                    assert_eq!(values, vec![scalar; size], "{backend}, {size}");
                }
            }
        }
    }

    #[test]
    fn products_of_polynomials() {
        for (backend, domain) in domains() {
            for (n, m) in [(0, 1), (1, 1), (domain.len() / 2, domain.len() - domain.len() / 2), (domain.len(), 1)] {
                let (a, b) = (scalars(n), scalars(m + 3)[3..].to_vec());
                let mut expected = vec![Scalar::ZERO; domain.len()];
                for (i, a) in a.iter().enumerate() {
                    for (j, b) in b.iter().enumerate() {
                        expected[i + j] = expected[i + j] + *a * *b;
                    }
                }
                assert_eq!(domain.product(&a, &b), expected, "{backend}, {n}·{m} in {}", domain.len());
            }
        }
    }

    #[test]
    fn other_sizes_are_refused() {
        for size in [0, 5, 7, 9, 10, 121, 99, 65 << 3] {
            assert!(Domain::new(Backend::auto(), size).is_none(), "{size}");
        }
    }

    #[test]
    #[should_panic(expected = "as many scalars as the domain has points")]
    fn a_transform_of_another_length_is_refused() {
        Domain::new(Backend::auto(), 8).expect("a size").evaluate(&mut [Scalar::ONE; 7]);
    }

    #[test]
    #[should_panic(expected = "does not fit 8 points")]
    fn a_product_that_wraps_around_is_refused() {
        Domain::new(Backend::auto(), 8).expect("a size").product(&[Scalar::ONE; 8], &[Scalar::ONE; 2]);
    }
}
