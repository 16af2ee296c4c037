//! Verification keys from a commitment: all of them at once, or a weighted sum of them.
//!
//! A commitment has t points A₀, A₁, …, and the verification key of the participant with the point x is Σ xᵏ·Aₖ. One by
//! one, n keys take n multi-scalar multiplications of t points. Two things take less:
//!
//! - All keys at roots of unity are a transform in the exponent: about log2(t)/2 multiplications for each key.
//! - A sum Σ w·VK over participants is Σ (Σ w·xᵏ)·Aₖ: one multi-scalar multiplication of t points, whose scalars come
//!   from a transform of the weights. So many shares are checked with less than one of them each.

use quorate::{
    Bls12381Suite, Options, PublicKey, aggregate::sum_of_multiples, rand_core::CryptoRng, threads::parallel_chunks,
};
use quorate_curve::{Scalar, Weight, WeightedSegments, marking::declassify};

use crate::{
    committee::{Committee, Index},
    interpolation::power_sums,
    sharing::{Commitment, KeyShare, SharingError},
    transform,
};

impl<S: Bls12381Suite> Commitment<S> {
    /// The verification keys of all participants, in their order. `None` where the commitment gives the identity, which is
    /// no key: that participant has no share of the key, and the others sign without it.
    ///
    /// With random polynomials it does not happen. A dealer who speaks last can choose the value of its own share, and so
    /// make it zero.
    ///
    /// Cost: for roots of unity about log2(t)/2 multiplications for each key, for integers a multi-scalar multiplication
    /// of t points each; on all threads.
    pub fn verification_keys(&self, committee: &Committee, options: &Options) -> Vec<Option<PublicKey<S>>> {
        let coefficients: Vec<_> = self.points().iter().map(PublicKey::point).collect();
        let values = match committee.domain() {
            Some(domain) => transform::values_in(domain, &coefficients, committee.participants(), options),
            None => {
                let points = committee.points(&committee.indices().collect::<Vec<_>>());
                transform::values_at(&points, &coefficients, options)
            }
        };
        // Sums of multiples of keys are in the subgroup, so what is not a key is the identity.
        values.into_iter().map(|value| PublicKey::assume_in_subgroup(value).ok()).collect()
    }

    /// Σ w·VK over participants, each with a public weight. A participant may be there more than once.
    ///
    /// # Panics
    /// If an index is of a larger committee.
    ///
    /// Cost: a multi-scalar multiplication of t points, and in Fr a transform of the weights for roots of unity, or a tree
    /// for integers.
    pub fn weighted_sum(&self, committee: &Committee, weights: &[(Index, Scalar)], options: &Options) -> S::Key {
        let sums = power_sums(committee, weights, options);
        let terms: Vec<_> = self.points().iter().map(PublicKey::point).zip(sums).collect();
        sum_of_multiples(&terms, options.backend, options.threads)
    }

    /// Whether all of these shares are what this commitment commits to, as [`proves`](Self::proves) says of one.
    ///
    /// With random weights w it checks Σ w·VK of the shares against [`weighted_sum`](Self::weighted_sum). A false share
    /// passes with a probability of at most 2^-64 or 2^-128, as the options say. Only if the sums differ, the shares are
    /// checked one by one.
    ///
    /// # Errors
    /// [`SharingError::FalseShare`] for the first false one, [`SharingError::NoShares`] for an empty list.
    ///
    /// # Panics
    /// If an index is of a larger committee.
    ///
    /// Cost: a multiplication of the generator in constant time for each share, and that of `weighted_sum`.
    pub fn proves_all(
        &self,
        committee: &Committee,
        shares: &[KeyShare<S>],
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<(), SharingError> {
        if shares.is_empty() {
            return Err(SharingError::NoShares);
        }
        let Options { backend, threads, soundness, .. } = *options;
        // Weights must be unknown until the shares are fixed, and are no secrets after that.
        let weights: Vec<_> = shares.iter().map(|_| Weight::draw(soundness, || declassify(rng.next_u64()))).collect();
        let terms: Vec<_> = shares.iter().zip(weights.iter().copied()).collect();
        let found = parallel_chunks(threads, &terms, 1, |terms| {
            let mut sum = WeightedSegments::new();
            sum.extend(terms.iter().map(|(share, weight)| (declassify(share.verification_key()).point(), *weight)));
            sum.close();
            backend.weighted_sums(&sum)
        });
        let weights = weights.into_iter().map(Scalar::from);
        let weights: Vec<_> = shares.iter().map(KeyShare::index).zip(weights).collect();
        if backend.sum(&found) == self.weighted_sum(committee, &weights, options) {
            return Ok(());
        }
        shares.iter().try_for_each(|share| self.proves(committee, share, backend))
    }
}
