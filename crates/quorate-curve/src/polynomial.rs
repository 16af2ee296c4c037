//! Polynomials in many variables, by which the tests prove kernels and formulas for all inputs.

use alloc::{collections::BTreeMap, vec::Vec};

/// An element of the ring of a polynomial's coefficients.
pub(crate) trait Coefficient: Clone + PartialEq {
    fn zero() -> Self;
    fn one() -> Self;
    fn plus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn negated(&self) -> Self;
}

/// A product of variables: each with its power, which is not zero, in the order of the variables. One has no variables.
pub(crate) type Monomial = Vec<(u32, u32)>;

/// A sum of monomials, each times a coefficient that is not zero. So two polynomials are equal if their terms are.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Polynomial<K>(BTreeMap<Monomial, K>);

impl<K: Coefficient> Polynomial<K> {
    pub(crate) fn zero() -> Self {
        Self(BTreeMap::new())
    }

    pub(crate) fn constant(k: K) -> Self {
        Self::of_terms([(Vec::new(), k)])
    }

    pub(crate) fn variable(index: u32) -> Self {
        Self::of_terms([(alloc::vec![(index, 1)], K::one())])
    }

    /// The sum of terms, in which a monomial may stand more than once.
    pub(crate) fn of_terms(terms: impl IntoIterator<Item = (Monomial, K)>) -> Self {
        let mut out = Self::zero();
        terms.into_iter().for_each(|(monomial, k)| out.add_term(monomial, &k));
        out
    }

    pub(crate) fn terms(&self) -> impl Iterator<Item = (&Monomial, &K)> {
        self.0.iter()
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn add_term(&mut self, monomial: Monomial, k: &K) {
        let sum = self.0.get(&monomial).map_or_else(|| k.clone(), |before| before.plus(k));
        if sum == K::zero() {
            self.0.remove(&monomial);
        } else {
            self.0.insert(monomial, sum);
        }
    }

    /// Adds a polynomial in place.
    pub(crate) fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(monomial, k)| self.add_term(monomial.clone(), k));
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        let mut out = self.clone();
        out.add(other);
        out
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        self.plus(&other.negated())
    }

    pub(crate) fn negated(&self) -> Self {
        Self(self.0.iter().map(|(monomial, k)| (monomial.clone(), k.negated())).collect())
    }

    pub(crate) fn times(&self, other: &Self) -> Self {
        let mut out = Self::zero();
        for (a, k) in &self.0 {
            for (b, l) in &other.0 {
                out.add_term(multiplied(a, b), &k.times(l));
            }
        }
        out
    }

    pub(crate) fn scaled(&self, k: &K) -> Self {
        Self::of_terms(self.0.iter().map(|(monomial, l)| (monomial.clone(), l.times(k))))
    }
}

/// The product of two monomials.
fn multiplied(a: &Monomial, b: &Monomial) -> Monomial {
    let mut powers: BTreeMap<u32, u32> = a.iter().copied().collect();
    for (variable, power) in b {
        *powers.entry(*variable).or_insert(0) += power;
    }
    powers.into_iter().collect()
}
