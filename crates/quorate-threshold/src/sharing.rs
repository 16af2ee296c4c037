//! Sharing a secret key: a dealer's polynomial, the shares of the participants, and the commitment that proves them.
//!
//! The dealer draws a polynomial φ of degree t - 1 whose value at zero is the secret key (Shamir, 1979), gives each
//! participant the value at its point, and publishes each coefficient times the generator (Feldman, 1987). Anyone can
//! compute the key of the group and of each participant from these points.

use quorate::{
    Backend, Bls12381Suite, Options, ParseError, PublicKey, SecretKey, Signature, rand_core::CryptoRng,
    threads::parallel,
};
use quorate_curve::{Group, Scalar, SecretError, SecretPolynomial, SecretScalar, marking::declassify};

use crate::committee::{Committee, Index};

/// A participant's share of a secret key. It signs as a secret key does, and is wiped when it is dropped.
#[derive(Clone, Debug)]
pub struct KeyShare<S: Bls12381Suite> {
    index: Index,
    secret: SecretKey<S>,
}

impl<S: Bls12381Suite> KeyShare<S> {
    /// The share of a participant, as someone else dealt it. [`Commitment::proves`] says whether it is the one.
    pub fn new(index: Index, secret: SecretKey<S>) -> Self {
        Self { index, secret }
    }

    /// Whose share this is.
    pub fn index(&self) -> Index {
        self.index
    }

    /// The secret.
    pub fn secret(&self) -> &SecretKey<S> {
        &self.secret
    }

    /// The key under which this participant's signature shares verify.
    ///
    /// Cost: a multiplication of the generator, in constant time.
    pub fn verification_key(&self) -> PublicKey<S> {
        self.secret.public_key()
    }

    /// The participant's share of the signature of a message.
    ///
    /// Cost: a hash and a multiplication, in constant time.
    pub fn sign(&self, suite: S, message: &[u8]) -> Signature<S> {
        self.secret.sign(suite, message)
    }
}

/// The coefficients of a dealer's polynomial times the generator, the constant one first.
///
/// It fixes the polynomial: whoever has a share that it proves has the same polynomial as all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commitment<S: Bls12381Suite>(Vec<PublicKey<S>>);

/// Why a list of points is not a commitment of a committee, or a share is not what it commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// The polynomial has another degree, so that another number of shares would make a signature.
    #[error("the commitment has {found} points, and a threshold of {threshold} needs as many")]
    Degree {
        /// The number of points.
        found: usize,
        /// How many participants sign together: t.
        threshold: usize,
    },
    /// A point does not decode, is outside the subgroup, or is the identity.
    #[error("point {place} of the commitment, from 0 on: {reason}")]
    Point {
        /// Its place.
        place: usize,
        /// What is wrong with it.
        reason: ParseError,
    },
    /// The commitment gives the identity as the key of a participant, which is not a key.
    #[error("the commitment makes the key of participant {0} the identity")]
    IdentityKey(Index),
    /// The share is not the value that the commitment commits to.
    #[error("the share of participant {0} is not the one that the commitment commits to")]
    FalseShare(Index),
    /// There is nothing to check, which proves nothing.
    #[error("there are no shares to check")]
    NoShares,
    /// A share is zero, which is not a secret key. Deal again: with random coefficients it does not happen.
    #[error("the share of a participant is zero, which is not a secret key; deal again")]
    ZeroShare,
}

/// Shares a secret key among the participants of a committee, who must trust the dealer to forget it.
///
/// # Errors
/// [`SharingError::ZeroShare`], with a probability below n·2^-254.
///
/// Cost, all in constant time: t multiplications of the generator, on all threads, and n·t products. With roots of unity
/// a transform takes the place of the products, N/2·log2(N) of them for N points.
pub fn deal<S: Bls12381Suite>(
    committee: &Committee,
    suite: S,
    secret: &SecretKey<S>,
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Result<(Vec<KeyShare<S>>, Commitment<S>), SharingError> {
    let coefficients = draw(committee, suite, secret, rng);
    let commitment = Commitment(parallel(options.threads, coefficients.len(), |i| coefficients[i].public_key()));
    Ok((shares(committee, &coefficients)?, commitment))
}

/// The coefficients of a random polynomial with the value `secret` at zero.
pub(crate) fn draw<S: Bls12381Suite>(
    committee: &Committee,
    suite: S,
    secret: &SecretKey<S>,
    rng: &mut impl CryptoRng,
) -> Vec<SecretKey<S>> {
    // A list that grows would leave copies of secrets behind.
    let mut coefficients = Vec::with_capacity(committee.threshold());
    coefficients.push(secret.clone());
    coefficients.extend((1..committee.threshold()).map(|_| SecretKey::generate(suite, rng)));
    coefficients
}

/// The values of a polynomial at the points of all participants.
pub(crate) fn shares<S: Bls12381Suite>(
    committee: &Committee,
    coefficients: &[SecretKey<S>],
) -> Result<Vec<KeyShare<S>>, SharingError> {
    let scalars = coefficients.iter().map(|key| SecretScalar::from_bytes(&key.to_bytes()));
    let scalars = listed(coefficients.len(), scalars).map_err(|_| SharingError::ZeroShare)?;
    let polynomial = SecretPolynomial::new(scalars);
    let values = values(committee, &polynomial).map_err(|_| SharingError::ZeroShare)?;
    // By reference: the list wipes its values where they are.
    let share = |(index, value): (Index, &SecretScalar)| {
        let secret = SecretKey::from_bytes(&value.to_bytes()).map_err(|_| SharingError::ZeroShare)?;
        Ok(KeyShare { index, secret })
    };
    listed(values.len(), committee.indices().zip(&values).map(share))
}

/// A list of at most so many secrets, or the first error. A list that grows would leave copies of secrets behind.
pub(crate) fn listed<T, E>(count: usize, secrets: impl Iterator<Item = Result<T, E>>) -> Result<Vec<T>, E> {
    let mut list = Vec::with_capacity(count);
    for secret in secrets {
        list.push(secret?);
    }
    Ok(list)
}

/// The values of a secret polynomial at the points of all participants.
pub(crate) fn values(committee: &Committee, polynomial: &SecretPolynomial) -> Result<Vec<SecretScalar>, SecretError> {
    match committee.domain() {
        Some(domain) => polynomial.values(domain, committee.participants()),
        None => {
            let values = committee.indices().map(|index| polynomial.value(&committee.point(index)));
            listed(committee.participants(), values)
        }
    }
}

impl<S: Bls12381Suite> Commitment<S> {
    /// Reads the compressed points of a commitment: canonical, in the subgroup, none the identity, as many as the
    /// threshold.
    ///
    /// # Errors
    /// [`SharingError::Degree`], [`SharingError::Point`].
    pub fn from_bytes(committee: &Committee, points: &[&[u8]], backend: Backend) -> Result<Self, SharingError> {
        let (found, threshold) = (points.len(), committee.threshold());
        if found != threshold {
            return Err(SharingError::Degree { found, threshold });
        }
        Self::of_any_degree(points, backend)
    }

    /// Reads the compressed points of a commitment, however many they are.
    pub(crate) fn of_any_degree(points: &[&[u8]], backend: Backend) -> Result<Self, SharingError> {
        let keys = PublicKey::from_bytes_each(points, backend).into_iter().enumerate();
        keys.map(|(place, key)| key.map_err(|reason| SharingError::Point { place, reason }))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The commitment with these points, the constant one first, as many as the threshold.
    ///
    /// # Errors
    /// [`SharingError::Degree`].
    pub fn new(committee: &Committee, points: Vec<PublicKey<S>>) -> Result<Self, SharingError> {
        let (found, threshold) = (points.len(), committee.threshold());
        if found == threshold { Ok(Self(points)) } else { Err(SharingError::Degree { found, threshold }) }
    }

    /// The commitment with points whose number is known to fit.
    pub(crate) fn from_points(points: Vec<PublicKey<S>>) -> Self {
        Self(points)
    }

    /// The points, the constant coefficient first.
    pub fn points(&self) -> &[PublicKey<S>] {
        &self.0
    }

    /// The key of the group.
    pub fn public_key(&self) -> PublicKey<S> {
        self.0[0]
    }

    /// The key under which a participant's signature shares verify.
    ///
    /// # Errors
    /// [`SharingError::IdentityKey`].
    ///
    /// Cost: a multi-scalar multiplication of t points.
    pub fn verification_key(
        &self,
        committee: &Committee,
        index: Index,
        backend: Backend,
    ) -> Result<PublicKey<S>, SharingError> {
        let x = committee.point(index);
        let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(*power * x));
        let terms: Vec<_> = self.0.iter().map(PublicKey::point).zip(powers).collect();
        let sum: S::Key = backend.msm(&terms);
        let error = SharingError::IdentityKey(index);
        if sum.is_identity() { Err(error) } else { PublicKey::from_point(sum).map_err(|_| error) }
    }

    /// Whether a share is the one that this commitment commits to.
    ///
    /// # Errors
    /// [`SharingError::FalseShare`], [`SharingError::IdentityKey`].
    ///
    /// Cost: as [`verification_key`](Self::verification_key), and a multiplication of the generator in constant time.
    pub fn proves(&self, committee: &Committee, share: &KeyShare<S>, backend: Backend) -> Result<(), SharingError> {
        let expected = self.verification_key(committee, share.index, backend)?;
        if declassify(share.verification_key()) == expected {
            Ok(())
        } else {
            Err(SharingError::FalseShare(share.index))
        }
    }
}
