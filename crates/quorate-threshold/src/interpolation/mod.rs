//! Interpolation at zero: which shares are summed, and by what they are multiplied.
//!
//! Let T be the points of the signers, V(X) = ∏ (X - x) over T, and V' its derivative. The polynomial of degree below t
//! with the values φ(x) at T has the value
//!
//! ```text
//! φ(0) = Σ L(x)·φ(x),    L(x) = V(0) / (-x·V'(x))
//! ```
//!
//! at zero. The numbers L(x) depend on T alone, and the same sum makes the signature of the group from signature shares.
//! V'(x) is the product of x - y over all other points y, and how it is computed is what the methods differ in.
//!
//! | [`Method`] | points | cost in Fr, for t signers, m absent ones, N roots of unity |
//! |---|---|---|
//! | [`SmallIntegers`](Method::SmallIntegers) | integers, t up to about 20 | t²; the numbers are integers of a few bits over one denominator |
//! | [`Naive`](Method::Naive) | any | t² products |
//! | [`Complement`](Method::Complement) | any | t·m products, or N·log N for roots of unity |
//! | [`Tree`](Method::Tree) | any | t·log² t |
//! | [`Transform`](Method::Transform) | roots of unity | N·log² N, with much smaller constants |
//! | [`Cosets`](Method::Cosets) | roots of unity, most of them there | as `Transform` for cosets in the place of points |
//!
//! `Cosets` also saves most of the work on points of the curve: on a coset L(x) is constant, so that the shares of a
//! coset are summed first, and only the sums are multiplied.
//!
//! Source: A. Tomescu et al., Towards Scalable Threshold Cryptosystems, IEEE S&P 2020, for trees and transforms.

mod small;
mod tree;
mod cosets;

use quorate::{Backend, Options, aggregate::sum_of_multiples, threads::parallel_chunks};
use quorate_curve::{Bls12381Group, Scalar, Segments};

use crate::committee::{Committee, Identifiers, Index};

/// A sum of multiples of shares that is the share at zero.
///
/// ```
/// use quorate::Options;
/// use quorate_threshold::{Committee, Identifiers, Interpolation};
/// let options = Options::default();
/// let committee = Committee::new(2, 3, Identifiers::Integers, options.backend)?;
/// let signers = [committee.index(1)?, committee.index(3)?];
/// let interpolation = Interpolation::new(&committee, &signers, &options)?;
/// // φ(1) and φ(3), for φ(X) = 5 + 2X.
/// assert_eq!(interpolation.of_scalars(&[7.into(), 11.into()]), 5.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpolation {
    method: Method,
    signers: Vec<Index>,
    /// The points of the signers, or none if the signers are cosets.
    points: Vec<Scalar>,
    /// So many consecutive signers have the same coefficient.
    together: usize,
    coefficients: Coefficients,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Coefficients {
    Scalars(Vec<Scalar>),
    /// Numerators over one denominator, of which this has the inverse.
    Integers(Vec<i64>, Scalar),
}

/// How the coefficients are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Method {
    /// Integers of a few bits over one denominator.
    SmallIntegers,
    /// Every difference of two points.
    Naive,
    /// The differences to the absent points instead, of which there are few.
    Complement,
    /// A tree of polynomials, whose values at many points are computed together.
    Tree,
    /// A tree of cosets of roots of unity, with a transform for each coset.
    Transform,
    /// As many whole cosets as the threshold needs, as large as possible.
    Cosets,
}

/// Why there is no interpolation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InterpolationError {
    /// There are fewer signers than the threshold.
    #[error("there are {found} shares, and {threshold} are needed")]
    TooFew {
        /// The number of signers.
        found: usize,
        /// How many participants sign together: t.
        threshold: usize,
    },
    /// A participant is there twice, which would not count as two.
    #[error("participant {0} is there twice")]
    Twice(Index),
    /// The index is of a larger committee.
    #[error("participant {index} is not in a committee of {participants}")]
    NoMember {
        /// The index.
        index: Index,
        /// How many participants share the key: n.
        participants: usize,
    },
    /// The method is not for these points or these signers.
    #[error("the method {0:?} does not apply to these signers")]
    NotApplicable(Method),
}

/// The largest number of signers for whom every difference costs less than a transform: without lanes both took as long
/// at about 100, and in lanes at 384 to 512.
fn naive_roots_up_to(backend: Backend) -> usize {
    if backend.lanes() > 1 { 384 } else { 96 }
}

/// The same beside a tree: without lanes both took as long at 384 to 512, and in lanes at 2048 to 3072.
fn naive_integers_up_to(backend: Backend) -> usize {
    if backend.lanes() > 1 { 2560 } else { 448 }
}

impl Interpolation {
    /// Chooses the signers, as many as are needed, and the method, whichever costs least.
    ///
    /// `available` are the participants whose shares are there, in any order.
    ///
    /// # Errors
    /// [`InterpolationError::TooFew`], [`InterpolationError::Twice`], [`InterpolationError::NoMember`].
    pub fn new(committee: &Committee, available: &[Index], options: &Options) -> Result<Self, InterpolationError> {
        let available = checked(committee, available)?;
        Ok(Self::cheapest(committee, &available, options))
    }

    fn cheapest(committee: &Committee, available: &[Index], options: &Options) -> Self {
        let t = committee.threshold();
        let of = |method| Self::of(method, committee, available, options);
        let backend = options.backend;
        match committee.identifiers() {
            Identifiers::RootsOfUnity => {
                let many = || of(if t > naive_roots_up_to(backend) { Method::Transform } else { Method::Naive });
                of(Method::Cosets).or_else(many)
            }
            Identifiers::Integers => {
                let absent = committee.participants() - t;
                let few = || {
                    (absent < t && absent <= naive_integers_up_to(backend)).then(|| of(Method::Complement)).flatten()
                };
                let many = || of(if t > naive_integers_up_to(backend) { Method::Tree } else { Method::Naive });
                of(Method::SmallIntegers).or_else(few).or_else(many)
            }
        }
        .expect("a method for any points comes last")
    }

    /// The same by a method of the caller's choice.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`InterpolationError::NotApplicable`].
    pub fn by(
        method: Method,
        committee: &Committee,
        available: &[Index],
        options: &Options,
    ) -> Result<Self, InterpolationError> {
        let available = checked(committee, available)?;
        Self::of(method, committee, &available, options).ok_or(InterpolationError::NotApplicable(method))
    }

    /// `available` are at least as many as the threshold, ascending.
    fn of(method: Method, committee: &Committee, available: &[Index], options: &Options) -> Option<Self> {
        let backend = options.backend;
        let first = &available[..committee.threshold()];
        let by_derivative = |signers: &[Index], derivatives: &dyn Fn(&[Scalar]) -> Vec<Scalar>| {
            let points = committee.points(signers);
            let derivatives = derivatives(&points);
            let coefficients = Coefficients::Scalars(lagrange(backend, &points, derivatives));
            (signers.to_vec(), points, 1, coefficients)
        };
        let (signers, points, together, coefficients) = match method {
            Method::SmallIntegers => {
                let (numerators, denominator) = small::integers(committee, first)?;
                let coefficients = Coefficients::Integers(numerators, denominator.inverse()?);
                (first.to_vec(), committee.points(first), 1, coefficients)
            }
            Method::Naive => by_derivative(first, &|points| differences(options, points, points)),
            Method::Tree => by_derivative(first, &|points| tree::derivatives(points, options)),
            Method::Transform => {
                let domain = committee.domain()?;
                by_derivative(first, &|_| cosets::derivatives(domain, first, options))
            }
            Method::Complement => match committee.domain() {
                Some(domain) => {
                    by_derivative(available, &|_| cosets::derivatives_by_absent(domain, available, options))
                }
                None => by_derivative(first, &|points| by_absent_integers(committee, first, points, options)),
            },
            Method::Cosets => {
                let chosen = cosets::choose(committee, available, backend)?;
                let derivatives = if chosen.points.len() > naive_roots_up_to(backend) {
                    cosets::derivatives(&chosen.domain, &chosen.places, options)
                } else {
                    differences(options, &chosen.points, &chosen.points)
                };
                // L(x) = λ(x^s)/s, where λ interpolates at the points x^s.
                let inverse = Scalar::from(chosen.size as u64).inverse()?;
                let scalars = lagrange(backend, &chosen.points, derivatives);
                let coefficients = Coefficients::Scalars(multiplied(backend, &scalars, inverse));
                (chosen.signers, Vec::new(), chosen.size, coefficients)
            }
        };
        Some(Self { method, signers, points, together, coefficients })
    }

    /// The participants whose shares are summed, ascending.
    pub fn signers(&self) -> &[Index] {
        &self.signers
    }

    /// The method that computed the coefficients.
    pub fn method(&self) -> Method {
        self.method
    }

    /// How many multiplications of points the sum takes: one for each coset, or one for each signer.
    pub fn multiplications(&self) -> usize {
        self.signers.len() / self.together
    }

    /// The coefficient of each signer.
    pub fn coefficients(&self) -> Vec<Scalar> {
        match &self.coefficients {
            Coefficients::Scalars(scalars) if self.together == 1 => scalars.clone(),
            Coefficients::Scalars(scalars) => {
                scalars.iter().flat_map(|scalar| std::iter::repeat_n(*scalar, self.together)).collect()
            }
            Coefficients::Integers(numerators, inverse) => {
                numerators.iter().map(|numerator| integer(*numerator) * *inverse).collect()
            }
        }
    }

    /// The value at zero of the polynomial that has these values at the points of the signers, in their order.
    ///
    /// Secrets do not belong here: values are not wiped, and the time may depend on them.
    ///
    /// # Panics
    /// If there are not as many values as signers.
    pub fn of_scalars(&self, values: &[Scalar]) -> Scalar {
        self.assert_length(values.len());
        self.coefficients().iter().zip(values).map(|(coefficient, value)| *coefficient * *value).sum()
    }

    /// The same for points of a group: Σ L(x)·P(x). The points must be in the subgroup of order r.
    ///
    /// # Panics
    /// If there are not as many points as signers.
    pub fn of_points<G: Bls12381Group>(&self, points: &[G], options: &Options) -> G {
        self.assert_length(points.len());
        let Options { backend, threads, .. } = *options;
        match &self.coefficients {
            Coefficients::Integers(numerators, inverse) => {
                let terms: Vec<_> = points.iter().copied().zip(numerators.iter().copied()).collect();
                backend.msm(&[(backend.short_msm(&terms), *inverse)])
            }
            Coefficients::Scalars(scalars) => {
                let sums: Vec<G> = if self.together == 1 {
                    points.to_vec()
                } else {
                    let cosets: Vec<_> = points.chunks(self.together).collect();
                    parallel_chunks(threads, &cosets, 1, |cosets| {
                        backend.sums(&cosets.iter().map(|coset| coset.iter().copied()).collect::<Segments<G>>())
                    })
                };
                let terms: Vec<_> = sums.into_iter().zip(scalars.iter().copied()).collect();
                sum_of_multiples(&terms, backend, threads)
            }
        }
    }

    /// The interpolation after one signer has been replaced by another participant.
    ///
    /// # Errors
    /// [`InterpolationError::NoMember`] if `leaves` is not a signer, [`InterpolationError::Twice`] if `joins` is one,
    /// [`InterpolationError::NotApplicable`] if the signers are cosets, which must stay whole.
    ///
    /// Cost: some seven products for each signer.
    pub fn replaced(
        &self,
        committee: &Committee,
        leaves: Index,
        joins: Index,
        backend: Backend,
    ) -> Result<Self, InterpolationError> {
        let participants = committee.participants();
        let no_member = |index| InterpolationError::NoMember { index, participants };
        if joins.place() >= participants {
            return Err(no_member(joins));
        }
        if self.together > 1 {
            return Err(InterpolationError::NotApplicable(self.method));
        }
        let left = self.signers.binary_search(&leaves).map_err(|_| no_member(leaves))?;
        let Err(joined) = self.signers.binary_search(&joins) else { return Err(InterpolationError::Twice(joins)) };

        let (mut signers, mut points) = (self.signers.clone(), self.points.clone());
        let mut coefficients = self.coefficients();
        signers.remove(left);
        points.remove(left);
        coefficients.remove(left);
        let (a, b) = (committee.point(leaves), committee.point(joins));
        // L(x) has the factor y/(y - x) for each other signer y: that of a goes, that of b comes. So it is multiplied by
        // b/a·(a - x)/(b - x) = b/a·(1 + (a - b)/(b - x)).
        let quotient = b * a.inverse().expect("the point of a participant is not zero");
        let mut factors = vec![b; points.len()];
        backend.add_multiple(&mut factors, -Scalar::ONE, &points);
        let inverses = backend.inverses(&factors).expect("no two participants have the same point");
        factors.fill(quotient);
        backend.add_multiple(&mut factors, quotient * (a - b), &inverses);
        backend.multiply(&mut coefficients, &factors);
        // The coefficients of all signers add up to one, because they interpolate constants too.
        let of_joined = Scalar::ONE - sum(backend, &coefficients);
        let place = joined - usize::from(joined > left);
        signers.insert(place, joins);
        points.insert(place, b);
        coefficients.insert(place, of_joined);
        let coefficients = Coefficients::Scalars(coefficients);
        Ok(Self { method: self.method, signers, points, together: 1, coefficients })
    }

    #[track_caller]
    fn assert_length(&self, found: usize) {
        assert_eq!(found, self.signers.len(), "an interpolation needs as many shares as it has signers");
    }
}

/// V'(x) for each participant, where V has the points of all participants.
pub(crate) fn derivatives_of_all(committee: &Committee, options: &Options) -> Vec<Scalar> {
    let all: Vec<_> = committee.indices().collect();
    match committee.domain() {
        Some(domain) => cosets::derivatives(domain, &all, options),
        None => by_absent_integers(committee, &all, &committee.points(&all), options),
    }
}

/// The values of a polynomial at the points of all participants, of whom there are at least as many as coefficients.
pub(crate) fn values_of_all(committee: &Committee, mut coefficients: Vec<Scalar>, options: &Options) -> Vec<Scalar> {
    let Options { backend, threads, .. } = *options;
    let n = committee.participants();
    match committee.domain() {
        Some(domain) => {
            coefficients.resize(domain.len(), Scalar::ZERO);
            domain.evaluate(&mut coefficients);
            coefficients.truncate(n);
            coefficients
        }
        None => {
            let points = committee.points(&committee.indices().collect::<Vec<_>>());
            if n <= naive_integers_up_to(backend) {
                let values = |points: &[Scalar]| backend.values(&coefficients, points);
                parallel_chunks(threads, &points, LEAST_POINTS, values)
            } else {
                tree::values(&points, coefficients, options)
            }
        }
    }
}

/// Σ w·xᵏ over participants with the points x and weights w, for each k below the threshold t. So Σ w·φ(x) is
/// Σ (the sum for k)·(coefficient k of φ).
///
/// Cost in Fr: a transform for roots of unity, a tree for integers, or for few participants t products each.
pub(crate) fn power_sums(committee: &Committee, weights: &[(Index, Scalar)], options: &Options) -> Vec<Scalar> {
    let (t, backend) = (committee.threshold(), options.backend);
    let (indices, weights): (Vec<_>, Vec<_>) = weights.iter().copied().unzip();
    match committee.domain() {
        Some(domain) if indices.len() > POWERS_UP_TO => {
            let mut values = vec![Scalar::ZERO; domain.len()];
            for (index, weight) in indices.iter().zip(&weights) {
                values[index.place()] = values[index.place()] + *weight;
            }
            // Interpolation sums up the powers of 1/x, and divides by N.
            domain.interpolate(&mut values);
            let size = Scalar::from(domain.len() as u64);
            (0..t).map(|k| values[(domain.len() - k) % domain.len()] * size).collect()
        }
        None if indices.len().min(t) > naive_integers_up_to(backend) => {
            tree::power_sums(&committee.points(&indices), &weights, t, options)
        }
        _ => {
            let points = committee.points(&indices);
            let mut terms = weights;
            let sums = (0..t).map(|_| {
                let sum = terms.iter().copied().sum();
                backend.multiply(&mut terms, &points);
                sum
            });
            sums.collect()
        }
    }
}

/// The largest number of participants for whom the powers of each point cost less than a transform.
const POWERS_UP_TO: usize = 16;

/// The participants, ascending.
fn checked(committee: &Committee, available: &[Index]) -> Result<Vec<Index>, InterpolationError> {
    let (participants, threshold) = (committee.participants(), committee.threshold());
    let mut available = available.to_vec();
    available.sort_unstable();
    if let Some(index) = available.iter().copied().find(|index| index.place() >= participants) {
        return Err(InterpolationError::NoMember { index, participants });
    }
    if let Some(twice) = available.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(InterpolationError::Twice(twice[0]));
    }
    if available.len() < threshold {
        return Err(InterpolationError::TooFew { found: available.len(), threshold });
    }
    Ok(available)
}

/// L(x) = V(0)/(-x·V'(x)) for each point x.
fn lagrange(backend: Backend, points: &[Scalar], derivatives: Vec<Scalar>) -> Vec<Scalar> {
    let mut denominators: Vec<_> = points.iter().map(|x| -*x).collect();
    let at_zero = product(backend, denominators.clone());
    backend.multiply(&mut denominators, &derivatives);
    multiplied(backend, &backend.inverses(&denominators).expect("points are distinct and not zero"), at_zero)
}

/// The product of all scalars.
fn product(backend: Backend, mut scalars: Vec<Scalar>) -> Scalar {
    while scalars.len() > 64 {
        let upper = scalars.split_off(scalars.len().div_ceil(2));
        backend.multiply(&mut scalars[..upper.len()], &upper);
    }
    scalars.into_iter().product()
}

/// The sum of all scalars.
fn sum(backend: Backend, scalars: &[Scalar]) -> Scalar {
    let mut sums = [Scalar::ZERO; 64];
    for scalars in scalars.chunks(sums.len()) {
        backend.add_multiple(&mut sums[..scalars.len()], Scalar::ONE, scalars);
    }
    sums.into_iter().sum()
}

/// Each scalar times a factor.
fn multiplied(backend: Backend, scalars: &[Scalar], factor: Scalar) -> Vec<Scalar> {
    let mut multiples = vec![Scalar::ZERO; scalars.len()];
    backend.add_multiple(&mut multiples, factor, scalars);
    multiples
}

/// [`Backend::differences`] on all threads.
fn differences(options: &Options, points: &[Scalar], roots: &[Scalar]) -> Vec<Scalar> {
    parallel_chunks(options.threads, points, LEAST_POINTS, |points| options.backend.differences(points, roots))
}

/// A thread for fewer points than this costs more than it saves.
const LEAST_POINTS: usize = 128;

/// V'(j) for integers of which few are absent: all integers from 1 to n give (-1)^(n - j)·(j - 1)!·(n - j)!, and the
/// absent ones are divided out.
fn by_absent_integers(committee: &Committee, signers: &[Index], points: &[Scalar], options: &Options) -> Vec<Scalar> {
    let (n, backend) = (committee.participants(), options.backend);
    let mut factorials = Vec::with_capacity(n);
    let mut factorial = Scalar::ONE;
    for i in 1..=n as u64 {
        factorials.push(factorial);
        factorial = factorial * Scalar::from(i);
    }
    let mut present = vec![false; n];
    signers.iter().for_each(|index| present[index.place()] = true);
    let absent: Vec<_> = (1..=n as u64).filter(|i| !present[*i as usize - 1]).map(Scalar::from).collect();
    let others = if (naive_integers_up_to(backend) + 1..points.len()).contains(&absent.len()) {
        tree::root_products(points, &absent, options)
    } else {
        differences(options, points, &absent)
    };
    let mut derivatives = backend.inverses(&others).expect("a signer is not absent");
    let of_all = signers.iter().map(|index| {
        let (below, above) = (index.place(), n - 1 - index.place());
        let product = factorials[below] * factorials[above];
        if above % 2 == 0 { product } else { -product }
    });
    backend.multiply(&mut derivatives, &of_all.collect::<Vec<_>>());
    derivatives
}

/// The scalar of a signed integer.
fn integer(n: i64) -> Scalar {
    let size = Scalar::from(n.unsigned_abs());
    if n < 0 { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivative of the polynomial of all points, against every difference.
    #[test]
    fn derivatives_of_all_are_products_of_differences() {
        let options = Options::default();
        for identifiers in [Identifiers::Integers, Identifiers::RootsOfUnity] {
            for n in [1, 2, 3, 5, 8, 31, 64, 65, 100] {
                let committee = Committee::new(1, n, identifiers, options.backend).expect("a committee");
                let points = committee.points(&committee.indices().collect::<Vec<_>>());
                let expected = options.backend.differences(&points, &points);
                assert_eq!(derivatives_of_all(&committee, &options), expected, "{identifiers:?}, {n}");
            }
        }
    }
}
