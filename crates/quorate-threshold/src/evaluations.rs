//! Commitments to evaluations: the verification key of every participant, and a test that they share one key.
//!
//! The dealer publishes the n points φ(x)·g in the place of the t coefficients of φ. Every verification key is there, and
//! needs no computation. What is to be checked is that the points belong to a polynomial of degree below t, so that any t
//! shares make the same signature.
//!
//! With V(X) = ∏ (X - x) over all participants, the lists (f(x)/V'(x)) for polynomials f of degree below n - t are those
//! that are orthogonal to all lists (φ(x)) with φ of degree below t: the dual code. For φ·f has degree at most n - 2, so
//! Σ φ(x)f(x)/V'(x), the coefficient of X^(n-1) in its interpolation at the n points, is zero; and the dimensions n - t and t
//! add up to n. So the verifier draws f and checks
//!
//! ```text
//! Σ f(x)/V'(x) · (point of x) = 0
//! ```
//!
//! Each of the n - t coefficients of f is a uniform number of 128 bits. If the points belong to no polynomial of degree
//! below t, the left side is a linear form of the coefficients that is not zero, so that for all the others there is at
//! most one value of one coefficient at which it vanishes. The test accepts false points with a probability of at most
//! 2^-128. The dealer must not be able to predict f.
//!
//! Source: I. Cascudo, B. David, SCRAPE, ACNS 2017, section 2.1.

use quorate::{
    Bls12381Suite, Options, ParseError, PublicKey, SecretKey,
    aggregate::sum_of_multiples,
    rand_core::CryptoRng,
    threads::{parallel, parallel_chunks},
};
use quorate_curve::{Group, Scalar, Weight, WeightedSegments};

use crate::{
    committee::{Committee, Index},
    interpolation::{Interpolation, InterpolationError, derivatives_of_all, values_of_all},
    sharing::{KeyShare, SharingError, draw, shares},
};

/// The verification keys of all participants, as a dealer publishes them. [`verify`](Self::verify) them before you use
/// them.
///
/// ```
/// use quorate::{MinPk, Options, SecretKey};
/// use quorate_threshold::{Committee, EvaluationCommitment, Identifiers};
/// let options = Options::default();
/// let committee = Committee::new(2, 3, Identifiers::RootsOfUnity, options.backend)?;
/// let secret = SecretKey::generate(MinPk::Eth2, &mut rand::rng());
/// let (shares, commitment) =
///     EvaluationCommitment::deal(&committee, MinPk::Eth2, &secret, &options, &mut rand::rng())?;
/// commitment.verify(&committee, &options, &mut rand::rng())?;
/// assert_eq!(commitment.public_key(&committee, &options)?, secret.public_key());
/// assert_eq!(commitment.keys()[2], shares[2].verification_key());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvaluationCommitment<S: Bls12381Suite>(Vec<PublicKey<S>>);

/// Why points are no commitment to evaluations, or shares do not give its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluationError {
    /// There are not as many points as participants.
    #[error("the commitment has {found} points, and {participants} participants need as many")]
    Length {
        /// The number of points.
        found: usize,
        /// How many participants share the key: n.
        participants: usize,
    },
    /// A point does not decode, is outside the subgroup, or is the identity.
    #[error("the point of participant {index}: {reason}")]
    Point {
        /// The participant.
        index: Index,
        /// What is wrong with it.
        reason: ParseError,
    },
    /// The points belong to no polynomial of degree below t, so that different shares would make different signatures.
    #[error("the points of the commitment belong to no polynomial of degree below {threshold}")]
    RaisedDegree {
        /// How many participants sign together: t.
        threshold: usize,
    },
    /// The points belong to a polynomial that is zero at zero, so that the public key would be the identity.
    #[error("the commitment makes the public key the identity")]
    IdentityKey,
    /// Fewer than t of the claimed shares are what the commitment commits to.
    #[error(transparent)]
    TooFew(#[from] InterpolationError),
}

/// A secret that was computed from claimed shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reconstruction {
    /// The secret. Whoever publishes shares publishes it, so it is a public scalar.
    pub secret: Scalar,
    /// The places, among the claimed shares, of those that are not what the commitment commits to, ascending.
    pub false_shares: Vec<usize>,
}

impl<S: Bls12381Suite> EvaluationCommitment<S> {
    /// Shares a secret key among the participants of a committee, who must trust the dealer to forget it.
    ///
    /// # Errors
    /// [`SharingError::ZeroShare`], with a probability below n·2^-254.
    ///
    /// Cost, all in constant time: n multiplications of the generator, on all threads, and the products of
    /// [`deal`](crate::deal).
    pub fn deal(
        committee: &Committee,
        suite: S,
        secret: &SecretKey<S>,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<(Vec<KeyShare<S>>, Self), SharingError> {
        let shares = shares(committee, &draw(committee, suite, secret, rng))?;
        let keys = parallel(options.threads, shares.len(), |i| shares[i].verification_key());
        Ok((shares, Self(keys)))
    }

    /// Reads the compressed points of a commitment: canonical, in the subgroup, none the identity, as many as there are
    /// participants.
    ///
    /// # Errors
    /// [`EvaluationError::Length`], [`EvaluationError::Point`].
    ///
    /// Cost: a square root and a check of membership for each point, on all threads.
    pub fn from_bytes(committee: &Committee, points: &[&[u8]], options: &Options) -> Result<Self, EvaluationError> {
        expected_length(committee, points.len())?;
        let keys = parallel_chunks(options.threads, points, LEAST_POINTS, |points| {
            PublicKey::from_bytes_each(points, options.backend)
        });
        let keys = committee.indices().zip(keys);
        keys.map(|(index, key)| key.map_err(|reason| EvaluationError::Point { index, reason }))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The commitment of these keys, in the order of the participants.
    ///
    /// # Errors
    /// [`EvaluationError::Length`].
    pub fn from_keys(committee: &Committee, keys: Vec<PublicKey<S>>) -> Result<Self, EvaluationError> {
        expected_length(committee, keys.len()).map(|()| Self(keys))
    }

    /// The verification keys, in the order of the participants.
    pub fn keys(&self) -> &[PublicKey<S>] {
        &self.0
    }

    /// Checks that the points belong to a polynomial of degree below the threshold. The head of this module has the
    /// equation. With t = n every list of points does.
    ///
    /// `rng` must be a CSPRNG that the dealer cannot predict. False points pass with a probability of at most 2^-128.
    ///
    /// # Errors
    /// [`EvaluationError::RaisedDegree`], [`EvaluationError::Length`] for another committee.
    ///
    /// Cost: a multi-scalar multiplication of n points, and in Fr transforms for roots of unity, or a tree for integers.
    pub fn verify(
        &self,
        committee: &Committee,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<(), EvaluationError> {
        let (n, threshold) = (committee.participants(), committee.threshold());
        expected_length(committee, self.0.len())?;
        let random = |_| {
            let mut bytes = [0; 16];
            rng.fill_bytes(&mut bytes);
            Scalar::reduce(&bytes)
        };
        let mut codeword = values_of_all(committee, (threshold..n).map(random).collect(), options);
        let inverses = options.backend.inverses(&derivatives_of_all(committee, options));
        options.backend.multiply(&mut codeword, &inverses.expect("no two participants have the same point"));
        let terms: Vec<_> = self.0.iter().map(PublicKey::point).zip(codeword).collect();
        let sum = sum_of_multiples(&terms, options.backend, options.threads);
        if sum.is_identity() { Ok(()) } else { Err(EvaluationError::RaisedDegree { threshold }) }
    }

    /// The key of the group, interpolated from t of the points. It is the one that any t shares sign under only if the
    /// points pass [`verify`](Self::verify).
    ///
    /// # Errors
    /// [`EvaluationError::IdentityKey`], [`EvaluationError::Length`] for another committee.
    ///
    /// Cost: for roots of unity t additions and a multiplication for each whole coset, of which a few make t; for integers
    /// a multi-scalar multiplication of t points.
    pub fn public_key(&self, committee: &Committee, options: &Options) -> Result<PublicKey<S>, EvaluationError> {
        expected_length(committee, self.0.len())?;
        let all: Vec<_> = committee.indices().collect();
        let interpolation = Interpolation::new(committee, &all, options)?;
        let points: Vec<_> = interpolation.signers().iter().map(|index| self.0[index.place()].point()).collect();
        let key = interpolation.of_points(&points, options);
        PublicKey::assume_in_subgroup(key).map_err(|_| EvaluationError::IdentityKey)
    }

    /// Whether a share is the one that this commitment commits to.
    ///
    /// # Errors
    /// [`SharingError::FalseShare`].
    ///
    /// Cost: a multiplication of the generator in constant time.
    pub fn proves(&self, share: &KeyShare<S>) -> Result<(), SharingError> {
        let expected = self.0.get(share.index().place());
        let error = SharingError::FalseShare(share.index());
        if expected == Some(&share.verification_key()) { Ok(()) } else { Err(error) }
    }

    /// Computes the secret from shares that participants claim to have, and says which of them are false. Two claims of one
    /// participant count once.
    ///
    /// All claims are first checked together: with random weights w, (Σ w·s)·g = Σ w·(point). Only if this is false, each
    /// share is multiplied and compared. A false share passes with a probability of at most 2^-64 or 2^-128, as the options
    /// say.
    ///
    /// The shares are public here, and so is the secret: neither is wiped, and the time depends on them.
    ///
    /// # Errors
    /// [`EvaluationError::TooFew`], if fewer than t participants have a true share, [`EvaluationError::Length`] for another
    /// committee.
    ///
    /// # Panics
    /// If an index is of a larger committee.
    ///
    /// Cost: n short multiplications in one sum if all shares are true, otherwise n whole ones; and an interpolation in Fr.
    pub fn reconstruct(
        &self,
        committee: &Committee,
        claimed: &[(Index, Scalar)],
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<Reconstruction, EvaluationError> {
        expected_length(committee, self.0.len())?;
        let false_shares = self.false_shares(claimed, options, rng);
        let mut is_true = vec![true; claimed.len()];
        false_shares.iter().for_each(|place| is_true[*place] = false);
        // Of each participant, the true shares are equal.
        let mut shares = vec![None; committee.participants()];
        let all_true = claimed.iter().zip(is_true).filter(|(_, is_true)| *is_true);
        all_true.for_each(|((index, share), _)| shares[index.place()] = Some(*share));
        let available: Vec<_> = committee.indices().filter(|index| shares[index.place()].is_some()).collect();
        let interpolation = Interpolation::new(committee, &available, options)?;
        let values: Vec<_> = interpolation.signers().iter().filter_map(|index| shares[index.place()]).collect();
        Ok(Reconstruction { secret: interpolation.of_scalars(&values), false_shares })
    }

    /// The places of the claimed shares that are false.
    fn false_shares(&self, claimed: &[(Index, Scalar)], options: &Options, rng: &mut impl CryptoRng) -> Vec<usize> {
        let Options { backend, threads, soundness, .. } = *options;
        let generator = S::Key::generator();
        let point = |index: Index| self.0[index.place()].point();
        let weights: Vec<_> = claimed.iter().map(|_| Weight::draw(soundness, || rng.next_u64())).collect();
        let weighted = claimed.iter().zip(&weights);
        let sum = weighted.clone().map(|((_, share), weight)| *share * Scalar::from(*weight)).sum();
        let terms: Vec<_> = weighted.map(|((index, _), weight)| (point(*index), *weight)).collect();
        let sums = parallel_chunks(threads, &terms, LEAST_POINTS, |terms| {
            let mut segments = WeightedSegments::new();
            segments.extend(terms.iter().copied());
            segments.close();
            backend.weighted_sums(&segments)
        });
        if backend.sum(&sums) == backend.msm(&[(generator, sum)]) {
            return Vec::new();
        }
        let is_true = parallel_chunks(threads, claimed, LEAST_POINTS, |claimed| {
            let shares: Vec<_> = claimed.iter().map(|(_, share)| *share).collect();
            let found = backend.multiples(&vec![generator; shares.len()], &shares);
            claimed.iter().zip(found).map(|((index, _), found)| point(*index) == found).collect()
        });
        is_true.into_iter().enumerate().filter(|(_, is_true)| !is_true).map(|(place, _)| place).collect()
    }
}

/// A thread for fewer points than this costs more than it saves.
const LEAST_POINTS: usize = 64;

fn expected_length(committee: &Committee, found: usize) -> Result<(), EvaluationError> {
    let participants = committee.participants();
    if found == participants { Ok(()) } else { Err(EvaluationError::Length { found, participants }) }
}
