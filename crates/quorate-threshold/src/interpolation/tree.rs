//! Trees of polynomials, for points of any kind.
//!
//! The leaves are X - x for a few points, and a parent is the product of its children, so that the root is the polynomial
//! V of all points. The way down computes the values of another polynomial f at all points. It is the transposed form of
//! the sum of fractions Σ aᵢ/(1 - xᵢX) (A. Bostan, G. Lecerf, É. Schost, Tellegen's principle into practice, ISSAC 2003):
//! with P = ∏ (1 - xᵢX), f is multiplied by the power series 1/P once, and on the way down by the polynomial of the
//! neighbour. Only some coefficients of each product are needed, so that a transform of the length of the parent is
//! enough, although it wraps around.

use quorate::{Backend, Options, threads::parallel};
use quorate_curve::{Domain, Scalar};

/// The number of points of a leaf.
const LEAF: usize = 64;

/// ∏ (X - x), the constant coefficient first.
pub(super) fn polynomial(points: &[Scalar], options: &Options) -> Vec<Scalar> {
    Tree::new(points, options).levels.pop().expect("a level").pop().expect("the root").0
}

/// V'(x) for each point.
pub(super) fn derivatives(points: &[Scalar], options: &Options) -> Vec<Scalar> {
    let tree = Tree::new(points, options);
    let derivative = (1..).zip(&tree.root()[1..]).map(|(i, c)| Scalar::from(i) * *c).collect();
    tree.values(derivative)
}

/// ∏ (x - root) over all roots, for each point x. There are fewer roots than points.
pub(super) fn root_products(points: &[Scalar], roots: &[Scalar], options: &Options) -> Vec<Scalar> {
    Tree::new(points, options).values(polynomial(roots, options))
}

/// Σ w·xᵏ over all points x with their weights w, for each k below `len`.
///
/// These are the coefficients of the power series Σ w/(1 - xX), whose fractions are added up from the leaves to the root.
pub(super) fn power_sums(points: &[Scalar], weights: &[Scalar], len: usize, options: &Options) -> Vec<Scalar> {
    Tree::new(points, options).power_sums(weights, len)
}

/// The values of a polynomial of at most as many coefficients as points.
pub(super) fn values(points: &[Scalar], coefficients: Vec<Scalar>, options: &Options) -> Vec<Scalar> {
    Tree::new(points, options).values(coefficients)
}

struct Tree<'a> {
    points: &'a [Scalar],
    options: &'a Options,
    /// From the leaves to the root: the polynomials ∏ (X - x).
    levels: Vec<Vec<Node>>,
}

/// A polynomial, the constant coefficient first.
struct Node(Vec<Scalar>);

impl<'a> Tree<'a> {
    fn new(points: &'a [Scalar], options: &'a Options) -> Self {
        let leaves: Vec<_> = points.chunks(LEAF).collect();
        let mut nodes =
            parallel(options.threads, leaves.len().max(1), |i| Node(leaf(leaves.get(i).copied().unwrap_or_default())));
        let mut levels = Vec::new();
        while nodes.len() > 1 {
            let pairs: Vec<_> = nodes.chunks(2).collect();
            let parents = parallel(options.threads, pairs.len(), |i| match pairs[i] {
                [left, right] => Node(product(&left.0, &right.0, options.backend)),
                one => Node(one[0].0.clone()),
            });
            levels.push(nodes);
            nodes = parents;
        }
        levels.push(nodes);
        Self { points, options, levels }
    }

    fn root(&self) -> &[Scalar] {
        &self.levels[self.levels.len() - 1][0].0
    }

    /// The values of a polynomial of at most as many coefficients as points.
    fn values(&self, mut coefficients: Vec<Scalar>) -> Vec<Scalar> {
        let n = self.points.len();
        if n == 0 {
            return Vec::new();
        }
        assert!(coefficients.len() <= n, "{} coefficients for a tree of {n} points", coefficients.len());
        coefficients.resize(n, Scalar::ZERO);
        let backend = self.options.backend;
        // 1/P modulo X^n, where P has the coefficients of V in the reverse order.
        let reversed: Vec<_> = self.root().iter().rev().copied().collect();
        let series = inverse_series(&reversed, n, backend);
        let mut below = vec![correlation(&coefficients, &series, n, backend)];
        for level in self.levels[..self.levels.len() - 1].iter().rev() {
            let children = parallel(self.options.threads, level.len(), |i| {
                let above = &below[i / 2];
                match level.get(i ^ 1) {
                    // The neighbour's P in the reverse order is its V.
                    Some(neighbour) => transposed_by(above, &neighbour.0, level[i].0.len() - 1, backend),
                    None => above.clone(),
                }
            });
            below = children;
        }
        let leaves: Vec<_> = self.points.chunks(LEAF).collect();
        let values =
            parallel(self.options.threads, leaves.len(), |i| at_leaf(&below[i], leaves[i], &self.levels[0][i].0));
        values.into_iter().flatten().collect()
    }

    /// With V of degree n, and M = Σ w·V/(X - x), the series is X^(n-1)·M(1/X) over X^n·V(1/X): the coefficients of both in
    /// the reverse order.
    fn power_sums(&self, weights: &[Scalar], len: usize) -> Vec<Scalar> {
        if self.points.is_empty() || len == 0 {
            return vec![Scalar::ZERO; len];
        }
        let backend = self.options.backend;
        let leaves: Vec<_> = self.points.chunks(LEAF).zip(weights.chunks(LEAF)).collect();
        let mut numerators = parallel(self.options.threads, leaves.len(), |i| {
            numerator_of_leaf(leaves[i].0, leaves[i].1, &self.levels[0][i].0)
        });
        for level in &self.levels[..self.levels.len() - 1] {
            let pairs: Vec<_> = numerators.chunks(2).collect();
            numerators = parallel(self.options.threads, pairs.len(), |i| match pairs[i] {
                [left, right] => {
                    let mut sum = product(left, &level[2 * i + 1].0, backend);
                    let other = product(right, &level[2 * i].0, backend);
                    sum.iter_mut().zip(other).for_each(|(sum, other)| *sum = *sum + other);
                    sum
                }
                one => one[0].clone(),
            });
        }
        let reversed = |polynomial: &[Scalar]| polynomial.iter().rev().take(len).copied().collect::<Vec<_>>();
        let series = inverse_series(&reversed(self.root()), len, backend);
        let mut sums = product(&reversed(&numerators[0]), &series, backend);
        sums.resize(len, Scalar::ZERO);
        sums
    }
}

/// Σ w·V/(X - x) over the points of a leaf, of which V is the polynomial.
fn numerator_of_leaf(points: &[Scalar], weights: &[Scalar], polynomial: &[Scalar]) -> Vec<Scalar> {
    let mut sum = vec![Scalar::ZERO; points.len()];
    for (x, weight) in points.iter().zip(weights) {
        // The coefficients of V/(X - x) from the highest.
        let mut quotient = Scalar::ZERO;
        for (sum, coefficient) in sum.iter_mut().zip(&polynomial[1..]).rev() {
            quotient = quotient * *x + *coefficient;
            *sum = *sum + quotient * *weight;
        }
    }
    sum
}

/// ∏ (X - x) over a few points.
fn leaf(points: &[Scalar]) -> Vec<Scalar> {
    let mut product = vec![Scalar::ONE];
    for x in points {
        product.insert(0, Scalar::ZERO);
        for i in 1..product.len() {
            product[i - 1] = product[i - 1] - *x * product[i];
        }
    }
    product
}

/// The values at the points of a leaf, from the sums Σ_j above[k + j]·(P without the point)_j at k = 0.
fn at_leaf(above: &[Scalar], points: &[Scalar], polynomial: &[Scalar]) -> Vec<Scalar> {
    let value = |x: &Scalar| {
        // The coefficients of V/(X - x) from the highest, which are those of P/(1 - xX) from the lowest.
        let mut quotient = Scalar::ZERO;
        let terms = polynomial[1..].iter().rev().zip(above).map(|(coefficient, above)| {
            quotient = quotient * *x + *coefficient;
            quotient * *above
        });
        terms.sum()
    };
    points.iter().map(value).collect()
}

/// The product of two polynomials that are not empty.
fn product(a: &[Scalar], b: &[Scalar], backend: Backend) -> Vec<Scalar> {
    let len = a.len() + b.len() - 1;
    let mut product = domain(len, backend).product(a, b);
    product.truncate(len);
    product
}

/// Σ_j a[k + j]·b[j] for k below `len`.
fn correlation(a: &[Scalar], b: &[Scalar], len: usize, backend: Backend) -> Vec<Scalar> {
    let reversed: Vec<_> = b.iter().rev().copied().collect();
    let product = product(a, &reversed, backend);
    let mut out: Vec<_> = product.into_iter().skip(b.len() - 1).take(len).collect();
    out.resize(len, Scalar::ZERO);
    out
}

/// The same for b = P of the neighbour, whose reverse is its polynomial V, by a cyclic product: what wraps around falls
/// below the coefficients that are needed.
fn transposed_by(above: &[Scalar], neighbour: &[Scalar], len: usize, backend: Backend) -> Vec<Scalar> {
    let domain = domain(above.len().max(neighbour.len()), backend);
    let values = |polynomial: &[Scalar]| {
        let mut values = polynomial.to_vec();
        values.resize(domain.len(), Scalar::ZERO);
        domain.evaluate(&mut values);
        values
    };
    let mut product = values(above);
    backend.multiply(&mut product, &values(neighbour));
    domain.interpolate(&mut product);
    product[neighbour.len() - 1..][..len].to_vec()
}

/// 1/p modulo X^n, for a polynomial with the constant coefficient one: each step of Newton's method doubles the number of
/// coefficients, q ← q·(2 - p·q).
fn inverse_series(p: &[Scalar], n: usize, backend: Backend) -> Vec<Scalar> {
    let mut inverse = vec![Scalar::ONE];
    while inverse.len() < n {
        let len = (2 * inverse.len()).min(n);
        let mut error = product(&p[..len.min(p.len())], &inverse, backend);
        error.truncate(len);
        error.iter_mut().for_each(|c| *c = -*c);
        error[0] = error[0] + Scalar::from(2);
        inverse = product(&error, &inverse, backend);
        inverse.resize(len, Scalar::ZERO);
    }
    inverse
}

/// The smallest domain of 2^k points.
fn domain(points: usize, backend: Backend) -> Domain {
    Domain::new(backend, points.next_power_of_two()).expect("a power of two is the size of a domain")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes around the leaves and the levels, and fewer and more sums than points.
    #[test]
    fn power_sums_and_values_are_those_of_the_definition() {
        let options = Options::default();
        for n in [0, 1, 2, 63, 64, 65, 128, 129, 200, 300] {
            let points: Vec<_> = (1..=n as u64).map(Scalar::from).collect();
            let weights: Vec<_> = points.iter().map(|x| x.power(30) + Scalar::ONE).collect();
            for len in [0, 1, 2, 64, 150, 400] {
                let of_power = |k: usize| points.iter().zip(&weights).map(|(x, w)| x.power(k as u64) * *w).sum();
                let expected: Vec<Scalar> = (0..len).map(of_power).collect();
                assert_eq!(power_sums(&points, &weights, len, &options), expected, "{n} points, {len} sums");
            }
            assert_eq!(values(&points, weights.clone(), &options), options.backend.values(&weights, &points), "{n}");
        }
    }
}
