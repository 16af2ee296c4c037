//! Interpolation of public values away from zero: at the point of a lost share, and of all coefficients.

use quorate::Backend;
use quorate_curve::Scalar;

/// The numbers L with φ(x) = Σ Lᵢ·φ(xᵢ) for each polynomial φ of a degree below the number of points, which must be
/// distinct.
///
/// Cost: t² products.
pub(super) fn coefficients_at(points: &[Scalar], x: Scalar, backend: Backend) -> Vec<Scalar> {
    let others = |i: usize| points.iter().enumerate().filter(move |(j, _)| *j != i).map(|(_, point)| *point);
    let numerator = |i: usize| -> Scalar { others(i).map(|other| x - other).product() };
    let denominator = |i: usize| -> Scalar { others(i).map(|other| points[i] - other).product() };
    let denominators: Vec<_> = (0..points.len()).map(denominator).collect();
    let inverses = backend.inverses(&denominators).expect("the points are distinct");
    inverses.into_iter().enumerate().map(|(i, inverse)| numerator(i) * inverse).collect()
}

/// The coefficients, the constant one first, of the polynomial of the lowest degree with these values at these distinct
/// points, by Newton's divided differences. There are as many as points.
///
/// Cost: t² products.
pub(super) fn polynomial_through(points: &[Scalar], values: &[Scalar], backend: Backend) -> Vec<Scalar> {
    let n = points.len();
    let mut divided = values.to_vec();
    for order in 1..n {
        let steps: Vec<_> = (order..n).map(|i| points[i] - points[i - order]).collect();
        let inverses = backend.inverses(&steps).expect("the points are distinct");
        for i in (order..n).rev() {
            divided[i] = (divided[i] - divided[i - 1]) * inverses[i - order];
        }
    }
    // Horner in Newton's basis: coefficients·(X - point) + the next divided difference.
    let mut coefficients: Vec<Scalar> = Vec::with_capacity(n);
    for (point, difference) in points.iter().zip(&divided).rev() {
        coefficients.insert(0, Scalar::ZERO);
        for i in 0..coefficients.len() - 1 {
            let above = coefficients[i + 1];
            coefficients[i] = coefficients[i] - *point * above;
        }
        coefficients[0] = coefficients[0] + *difference;
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_go_through_their_points() {
        let backend = Backend::auto();
        for n in 1..20 {
            let points: Vec<_> = (1..=n).map(|i| Scalar::from(i * i * i + 7)).collect();
            let coefficients: Vec<_> = (0..n).map(|i| Scalar::from(i * 1_000_003 + 5)).collect();
            let values = backend.values(&coefficients, &points);
            assert_eq!(polynomial_through(&points, &values, backend), coefficients);
            let x = Scalar::from(1 << 40);
            let weights = coefficients_at(&points, x, backend);
            let value: Scalar = weights.iter().zip(&values).map(|(weight, value)| *weight * *value).sum();
            assert_eq!(value, backend.values(&coefficients, &[x])[0]);
        }
    }
}
