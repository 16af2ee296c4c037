//! Batches of additions of affine points, with one inversion for all of them (Montgomery's trick).
//!
//! ```text
//! λ = (y₂ - y₁)/(x₂ - x₁), or 3x²/2y for a doubling;    x₃ = λ² - x₁ - x₂;    y₃ = λ(x₁ - x₃) - y₁
//! ```
//!
//! An addition costs five multiplications and a squaring, of which three multiplications are its share of the
//! inversion. A mixed Jacobian addition costs eleven or more. Identities, equal points and opposite points are all
//! allowed.

use alloc::vec::Vec;

use crate::{
    arithmetic::{Curve, field::Field},
    segments::Segments,
};

/// The sum of each segment.
///
/// Pairs are added in rounds, all segments at once, so that a call has about as many inversions as the longest segment
/// has bits.
pub(crate) fn sums<C: Curve>(points: Segments<C>) -> Vec<C> {
    let mut lengths: Vec<_> = points.cut().ranges().map(|range| range.len()).collect();
    let mut points = points.into_items();
    let mut chain = Chain::default();
    while lengths.iter().any(|n| *n > 1) {
        // First pass: a denominator for each pair. Second pass: the sums, written over the points read.
        let mut read = 0;
        for n in &lengths {
            for pair in points[read..read + n].chunks_exact(2) {
                chain.push(denominator(&pair[0], &pair[1]));
            }
            read += n;
        }
        chain.invert();
        let (mut read, mut written, mut pairs) = (0, 0, 0);
        for n in &mut lengths {
            for pair in 0..*n / 2 {
                let (a, b) = (points[read + 2 * pair], points[read + 2 * pair + 1]);
                points[written] = add(&a, &b, &chain.inverses[pairs]);
                (written, pairs) = (written + 1, pairs + 1);
            }
            if *n % 2 == 1 {
                points[written] = points[read + *n - 1];
                written += 1;
            }
            read += *n;
            *n = n.div_ceil(2);
        }
        points.truncate(written);
    }
    let mut points = points.into_iter();
    lengths.iter().map(|n| if *n == 0 { C::IDENTITY } else { points.next().expect("one point is left") }).collect()
}

/// Doubles every point.
pub(crate) fn double_all<C: Curve>(points: &mut [C]) {
    let mut chain = Chain::default();
    for point in &*points {
        chain.push(denominator(point, point));
    }
    chain.invert();
    for (point, inverse) in points.iter_mut().zip(&chain.inverses) {
        *point = add(point, point, inverse);
    }
}

/// The denominator of λ, or one if the sum needs no λ.
fn denominator<C: Curve>(a: &C, b: &C) -> C::Field {
    if a.is_identity() || b.is_identity() {
        return C::one();
    }
    let run = b.x().minus(&a.x());
    if !run.is_zero() {
        return run;
    }
    let twice = a.y().plus(&b.y());
    if twice.is_zero() { C::one() } else { twice }
}

/// a + b, given the inverse of their denominator.
fn add<C: Curve>(a: &C, b: &C, inverse: &C::Field) -> C {
    if a.is_identity() {
        return *b;
    }
    if b.is_identity() {
        return *a;
    }
    let (x1, y1, x2, y2) = (a.x(), a.y(), b.x(), b.y());
    let rise = if x1 != x2 {
        y2.minus(&y1)
    } else if y1 == y2 && !y1.is_zero() {
        let square = x1.squared();
        square.doubled().plus(&square)
    } else {
        return C::IDENTITY;
    };
    let slope = rise.times(inverse);
    let x3 = slope.squared().minus(&x1).minus(&x2);
    let y3 = slope.times(&x1.minus(&x3)).minus(&y1);
    C::at(x3, y3)
}

/// Elements that are inverted together.
pub(crate) struct Chain<F> {
    values: Vec<F>,
    /// The inverses in the order of the pushes, after [`invert`](Self::invert).
    pub(crate) inverses: Vec<F>,
}

impl<F> Default for Chain<F> {
    fn default() -> Self {
        Self { values: Vec::new(), inverses: Vec::new() }
    }
}

impl<F: Field> Chain<F> {
    pub(crate) fn push(&mut self, value: F) {
        self.values.push(value);
    }

    /// Inverts the values into `inverses` and removes them. No value may be zero.
    pub(crate) fn invert(&mut self) {
        let Self { values, inverses } = self;
        inverses.clear();
        // inverses[i] holds the product of all values before i, until the walk back.
        let Some(mut product) = values.first().copied() else { return };
        inverses.push(product);
        for value in &values[1..] {
            inverses.push(product);
            product = product.times(value);
        }
        let mut inverse = product.inverse();
        for i in (1..values.len()).rev() {
            inverses[i] = inverses[i].times(&inverse);
            inverse = inverse.times(&values[i]);
        }
        inverses[0] = inverse;
        values.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Backend, Bls12381Group, G1, G2, Group, group::sealed::Sealed};
    use alloc::vec;

    fn exceptional<G: Bls12381Group>() {
        let names: Vec<_> = (0..6u8).map(|i| [i]).collect();
        let messages: Vec<_> = names.iter().map(|m| (&m[..], &[][..])).collect();
        let mut pool: Vec<G> = Backend::Portable.hash_to_curve(b"affine", &messages);
        pool.extend([G::IDENTITY, pool[0].negate(), pool[1].negate(), pool[2]]);
        // Every pair, and segments of every small length with repeats, opposites and identities.
        let jacobian = |points: &[G]| {
            let sum =
                points.iter().fold(G::IDENTITY.inner().to_jacobian(), |sum, p| Curve::add_affine(&sum, &p.inner()));
            G::wrap(Curve::to_affine(&[sum])[0])
        };
        let mut segments: Vec<Vec<G>> = vec![vec![]];
        for a in &pool {
            segments.extend(pool.iter().map(|b| vec![*a, *b]));
        }
        for n in 1..40 {
            segments.push((0..n).map(|i| pool[(i * i + n) % pool.len()]).collect());
        }
        let points = segments.iter().map(|segment| segment.iter().map(|p| p.inner())).collect();
        let sums = sums(points);
        assert_eq!(sums.len(), segments.len());
        for (sum, segment) in sums.into_iter().zip(&segments) {
            assert_eq!(G::wrap(sum), jacobian(segment), "{segment:?}");
        }
        let mut doubled: Vec<_> = pool.iter().map(|p| p.inner()).collect();
        double_all(&mut doubled);
        for (double, point) in doubled.into_iter().zip(&pool) {
            assert_eq!(G::wrap(double), jacobian(&[*point, *point]));
        }
    }

    #[test]
    fn exceptional_additions_g1() {
        exceptional::<G1>();
        // (0, 2) has order 3: it is a finite point whose x is zero.
        let mut bytes = [0; 48];
        bytes[0] = 0x80;
        let point: G1 = Backend::Portable.decode(&bytes).unwrap();
        let points = vec![point.inner(), G1::IDENTITY.inner(), point.inner(), point.inner()];
        let got = sums(Segments::of_size(2, points));
        assert_eq!(got, [point.inner(), point.negate().inner()]);
    }

    #[test]
    fn exceptional_additions_g2() {
        exceptional::<G2>();
    }
}
