//! A dealer's secrets, what it says of them, and what a receiver makes of that.
//!
//! A dealer has a polynomial φ(X) = Σ aₖ·Xᵏ of degree t - 1. It publishes Aₖ = aₖ·g (Feldman), or Cₖ = aₖ·g + bₖ·h with a
//! second polynomial β(X) = Σ bₖ·Xᵏ that hides the first (Pedersen). A receiver with the point x gets φ(x), and β(x), and
//! checks φ(x)·g = Σ xᵏ·Aₖ, or φ(x)·g + β(x)·h = Σ xᵏ·Cₖ.

use quorate::{Backend, Bls12381Suite, PublicKey, SecretKey, Tag, UncheckedSignature};
use quorate_curve::{Bls12381Group, Group, Scalar, SecretError, SecretPolynomial, SecretScalar};
use sha2::{Digest as _, Sha512};
use zeroize::Zeroizing;

use super::{
    ceremony::{Ceremony, CeremonyPurpose, MemberNumber},
    envelope::OVERHEAD,
    hex::Bytes,
    message::{Body, ShareOpening},
    misdeed::Misdeed,
};
use crate::{
    committee::Index,
    pedersen::{commit, second_base},
    sharing::{KeyShare, listed, values},
};

/// The tag of the proofs that a dealer knows its contribution.
const PROOF_TAG: &[u8] = b"QUORATE-DKG-V01-PROOF-OF-CONTRIBUTION_";

/// A dealer's polynomials. They follow from the participant's seed and the ceremony, so that a program that is started
/// again deals the same.
pub(super) struct Dealer<'a, S: Bls12381Suite> {
    ceremony: &'a Ceremony<S>,
    member: MemberNumber,
    seed: &'a [u8; 32],
    polynomial: SecretPolynomial,
    /// With [`Variant::CommitFirst`](super::ceremony::Variant::CommitFirst).
    blinding: Option<SecretPolynomial>,
}

impl<'a, S: Bls12381Suite> Dealer<'a, S> {
    /// `share` is the dealer's share of the previous key, if the ceremony has one.
    pub(super) fn new(
        ceremony: &'a Ceremony<S>,
        member: MemberNumber,
        seed: &'a [u8; 32],
        share: Option<&KeyShare<S>>,
    ) -> Result<Self, SecretError> {
        let t = ceremony.committee().threshold();
        let random = |purpose: &str, n: usize| listed(n, (0..n).map(|k| derive(ceremony, seed, purpose, k as u32)));
        let polynomial = match ceremony.purpose() {
            CeremonyPurpose::NewKey(_) => random("coefficient", t)?,
            CeremonyPurpose::Reshare(_) | CeremonyPurpose::ReshareInOneRound(_) => {
                let mut coefficients = random("coefficient", t)?;
                let share = share.expect("a participant who deals a share has it");
                coefficients[0] = SecretScalar::from_bytes(&share.secret().to_bytes())?;
                coefficients
            }
            // (X - x)·ρ(X), which is zero at the point x of the lost share.
            CeremonyPurpose::Recover { shared_key, lost } => {
                let zero_at = shared_key.committee().point(*lost);
                let factor = random("coefficient", t - 1)?;
                let coefficient = |k: usize| {
                    let below = k.checked_sub(1).map(|k| (Scalar::ONE, &factor[k]));
                    let here = factor.get(k).map(|c| (-zero_at, c));
                    SecretScalar::combination(below.into_iter().chain(here))
                };
                listed(t, (0..t).map(coefficient))?
            }
        };
        let blinding = ceremony.hides_contributions().then(|| random("blinding", t)).transpose()?;
        Ok(Self {
            ceremony,
            member,
            seed,
            polynomial: SecretPolynomial::new(polynomial),
            blinding: blinding.map(SecretPolynomial::new),
        })
    }

    /// For liars in the tests: the same polynomial with another linear coefficient, so that it has a value at a point.
    #[cfg(test)]
    pub(super) fn through(mut self, x: Scalar, value: Scalar) -> Self {
        let scalar = |secret: &SecretScalar| Scalar::from_bytes(&secret.to_bytes()).expect("it is below the order");
        let mut coefficients: Vec<_> = self.polynomial.coefficients().iter().map(scalar).collect();
        coefficients[1] = Scalar::ZERO;
        let rest = coefficients.iter().rev().fold(Scalar::ZERO, |rest, coefficient| rest * x + *coefficient);
        let inverse = Backend::Portable.inverses(&[x]).expect("no participant's point is zero")[0];
        coefficients[1] = (value - rest) * inverse;
        let secret = |scalar: &Scalar| SecretScalar::from_bytes(&scalar.to_bytes()).expect("not zero");
        self.polynomial = SecretPolynomial::new(coefficients.iter().map(secret).collect());
        self
    }

    /// For liars in the tests of [`Variant::CommitFirst`](super::ceremony::Variant::CommitFirst): the deal of the same polynomial with
    /// zero as its last coefficient, which the blinding hides.
    #[cfg(test)]
    pub(super) fn deal_with_zero_coefficient(mut self) -> Result<Body, SecretError> {
        let (_, rest) = self.polynomial.coefficients().split_last().expect("a polynomial has a coefficient");
        self.polynomial = SecretPolynomial::new(rest.to_vec());
        let mut deal = self.deal()?;
        let blinding = self.blinding.as_ref().and_then(|blinding| blinding.coefficients().last());
        if let (Body::Deal { commitment, .. }, Some(blinding)) = (&mut deal, blinding) {
            commitment.push(S::multiply_key(blinding, &second_base()).compress().into());
        }
        Ok(deal)
    }

    /// The coefficients times the generator.
    fn feldman(&self) -> Vec<S::Key> {
        self.polynomial.coefficients().iter().map(S::public_key).collect()
    }

    /// The deal, for all receivers.
    pub(super) fn deal(&self) -> Result<Body, SecretError> {
        let commitment: Vec<_> = match &self.blinding {
            None => self.feldman(),
            Some(blinding) => {
                let coefficients = self.polynomial.coefficients().iter().zip(blinding.coefficients());
                coefficients.map(|(secret, blinding)| commit::<S>(secret, blinding)).collect()
            }
        };
        let proof = match self.ceremony.purpose() {
            CeremonyPurpose::NewKey(_) if self.blinding.is_none() => {
                Some(prove(self.ceremony, self.member, &self.polynomial.coefficients()[0])?)
            }
            _ => None,
        };
        let plaintexts = self.shares()?;
        let shares = self.ceremony.receivers().zip(&plaintexts).map(|((_, receiver), share)| {
            Ok(seal(self.ceremony, self.member, receiver, share, &*self.ephemeral(receiver)?))
        });
        let shares = shares.collect::<Result<_, SecretError>>()?;
        Ok(Body::Deal { commitment: commitment.iter().map(|point| point.compress().into()).collect(), proof, shares })
    }

    /// What was sent to a receiver, shown to everyone.
    pub(super) fn opening(&self, receiver: MemberNumber) -> Result<ShareOpening, SecretError> {
        let (share, ephemeral) = (self.share(receiver)?, self.ephemeral(receiver)?);
        Ok(ShareOpening { receiver, share: share.as_slice().into(), ephemeral: ephemeral.as_slice().into() })
    }

    /// The contribution to the key, which the deal hid. `hidden` is the deal's commitment.
    pub(super) fn reveal(&self, hidden: &[S::Key]) -> Result<Body, SecretError> {
        let blinding = self.blinding.as_ref().expect("only a ceremony that hides contributions reveals them");
        let commitment = self.feldman();
        let challenge = challenge(self.ceremony, self.member, hidden, &commitment);
        Ok(Body::Reveal {
            blinding: blinding.value(&challenge)?.to_bytes().as_slice().into(),
            proof: prove(self.ceremony, self.member, &self.polynomial.value(&challenge)?)?,
            commitment: commitment.iter().map(|point| point.compress().into()).collect(),
        })
    }

    /// The shares of all receivers, in their order.
    fn shares(&self) -> Result<Vec<Zeroizing<Vec<u8>>>, SecretError> {
        if self.ceremony.lost().is_some() {
            // At the lost share the value is zero, which is nobody's.
            return self.ceremony.receivers().map(|(_, receiver)| self.share(receiver)).collect();
        }
        let polynomials = [Some(&self.polynomial), self.blinding.as_ref()].into_iter().flatten();
        let values = polynomials.map(|polynomial| values(self.ceremony.committee(), polynomial));
        let values = values.collect::<Result<Vec<_>, _>>()?;
        let share = |index: Index| plaintext(values.iter().map(|values| &values[index.place()]));
        Ok(self.ceremony.receivers().map(|(index, _)| share(index)).collect())
    }

    fn share(&self, receiver: MemberNumber) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let index = self.ceremony.receiver_index(receiver).expect("a dealer deals to receivers");
        let point = self.ceremony.committee().point(index);
        let polynomials = [Some(&self.polynomial), self.blinding.as_ref()].into_iter().flatten();
        let values = listed(2, polynomials.map(|polynomial| polynomial.value(&point)))?;
        Ok(plaintext(&values))
    }

    fn ephemeral(&self, receiver: MemberNumber) -> Result<Zeroizing<[u8; 32]>, SecretError> {
        Ok(derive(self.ceremony, self.seed, "ephemeral", receiver.number())?.to_bytes())
    }
}

/// The bytes of a value of a polynomial.
pub(super) const VALUE: usize = 32;

/// The bytes from which the ephemeral key of an envelope is derived.
pub(super) const EPHEMERAL: usize = 32;

/// Checks the length of an envelope with so many bytes of plaintext, before anyone opens it.
pub(super) fn check_envelope(receiver: MemberNumber, envelope: &Bytes, plaintext: usize) -> Result<(), Misdeed> {
    let (found, expected) = (envelope.0.len(), plaintext + OVERHEAD);
    if found == expected { Ok(()) } else { Err(Misdeed::EnvelopeLength { receiver, found, expected }) }
}

/// What is encrypted to a receiver: each value in 32 bytes.
fn plaintext<'a>(values: impl IntoIterator<Item = &'a SecretScalar>) -> Zeroizing<Vec<u8>> {
    // A list that grows would leave copies of secrets behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(64));
    for value in values {
        bytes.extend_from_slice(value.to_bytes().as_slice());
    }
    bytes
}

/// A secret of a participant in a ceremony, by the `KeyGen` of draft-irtf-cfrg-bls-signature-05, which is HKDF.
pub(super) fn derive<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    seed: &[u8; 32],
    purpose: &str,
    number: u32,
) -> Result<SecretScalar, SecretError> {
    let info = [b"quorate-dkg-v1 ", purpose.as_bytes(), &[0], &ceremony.id().0, &number.to_be_bytes()].concat();
    SecretScalar::key_gen(seed, &info)
}

/// Encrypts what a member sends to another.
pub(super) fn seal<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    sender: MemberNumber,
    receiver: MemberNumber,
    plaintext: &[u8],
    ephemeral: &[u8; 32],
) -> Bytes {
    let member = ceremony.member(receiver).expect("a member sends to a member");
    Bytes(member.encryption_key().seal(&envelope_info(ceremony, sender, receiver), plaintext, ephemeral))
}

/// What an envelope is for: nothing else opens it.
pub(super) fn envelope_info<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    sender: MemberNumber,
    receiver: MemberNumber,
) -> Vec<u8> {
    let numbers = [sender.number().to_be_bytes(), receiver.number().to_be_bytes()].concat();
    [b"quorate-dkg-v1 share".as_slice(), &ceremony.id().0, &numbers].concat()
}

/// A signature by a secret over the ceremony, the dealer and the secret's public key.
fn prove<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    dealer: MemberNumber,
    secret: &SecretScalar,
) -> Result<Bytes, SecretError> {
    let key = SecretKey::<S>::from_bytes(&secret.to_bytes()).map_err(|_| SecretError::Zero)?;
    let message = proof_message(ceremony, dealer, &key.public_key());
    Ok(key.sign_under_tag(ceremony.suite(), &Tag::from(PROOF_TAG), &message).to_bytes().into())
}

fn proves<S: Bls12381Suite>(ceremony: &Ceremony<S>, dealer: MemberNumber, key: &PublicKey<S>, proof: &[u8]) -> bool {
    let Ok(proof) = UncheckedSignature::from_bytes(proof) else { return false };
    key.verify_under_tag(PROOF_TAG, b"", &proof_message(ceremony, dealer, key), proof).is_valid()
}

fn proof_message<S: Bls12381Suite>(ceremony: &Ceremony<S>, dealer: MemberNumber, key: &PublicKey<S>) -> Vec<u8> {
    [&ceremony.id().0[..], &dealer.number().to_be_bytes(), key.to_bytes().as_ref()].concat()
}

/// Where a dealer who reveals its contribution shows the value of both polynomials: a hash of everything before it.
fn challenge<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    dealer: MemberNumber,
    hidden: &[S::Key],
    revealed: &[S::Key],
) -> Scalar {
    let mut hash = Sha512::new();
    hash.update(b"quorate-dkg-v1 challenge");
    hash.update(ceremony.id().0);
    hash.update(dealer.number().to_be_bytes());
    for point in hidden.iter().chain(revealed) {
        hash.update(point.compress());
    }
    Scalar::reduce(&hash.finalize())
}

/// A deal whose form is right: the commitment and the encrypted shares.
pub(super) struct Deal<S: Bls12381Suite> {
    pub(super) commitment: Vec<S::Key>,
    shares: Vec<Bytes>,
}

impl<S: Bls12381Suite> Deal<S> {
    /// Checks all of a deal that does not take a receiver's key.
    pub(super) fn read(
        ceremony: &Ceremony<S>,
        dealer: MemberNumber,
        body: &Body,
        backend: Backend,
    ) -> Result<Self, Misdeed> {
        let Body::Deal { commitment, proof, shares } = body else { unreachable!("the round of a deal has only deals") };
        let (found, expected) = (shares.len(), ceremony.receivers().count());
        if found != expected {
            return Err(Misdeed::ShareCount { found, expected });
        }
        for ((_, receiver), share) in ceremony.receivers().zip(shares) {
            check_envelope(receiver, share, DealtShare::length(ceremony))?;
        }
        let commitment = points(ceremony, commitment, backend)?;
        let constant = commitment[0];
        let proof = proof.as_ref().map(|proof| proof.0.as_slice());
        match (ceremony.purpose(), proof) {
            (CeremonyPurpose::NewKey(_), Some(proof)) if !ceremony.hides_contributions() => {
                if !proves(ceremony, dealer, &key::<S>(constant)?, proof) {
                    return Err(Misdeed::Proof);
                }
            }
            (CeremonyPurpose::NewKey(_), None) if ceremony.hides_contributions() => {}
            (CeremonyPurpose::NewKey(_), _) => return Err(Misdeed::Proof),
            (_, Some(_)) => return Err(Misdeed::Proof),
            (CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous), None) => {
                let index = ceremony.previous_index(dealer).expect("the ceremony was checked");
                let expected = previous.verification_key(index, backend).map_err(|_| Misdeed::OtherSecret)?;
                if expected.point() != constant {
                    return Err(Misdeed::OtherSecret);
                }
            }
            (CeremonyPurpose::Recover { shared_key, lost }, None) => {
                if !value(&commitment, shared_key.committee().point(*lost), backend).is_identity() {
                    return Err(Misdeed::NotZero);
                }
            }
        }
        Ok(Self { commitment, shares: shares.clone() })
    }

    /// The encrypted share of a receiver.
    pub(super) fn share(&self, ceremony: &Ceremony<S>, receiver: MemberNumber) -> &Bytes {
        let place = ceremony.receivers().position(|(_, member)| member == receiver);
        &self.shares[place.expect("a receiver has a share")]
    }

    /// Whether a share is the one that the dealer committed to. It may be secret: the time does not depend on it.
    pub(super) fn proves(&self, ceremony: &Ceremony<S>, index: Index, share: &DealtShare, backend: Backend) -> bool {
        let point = value(&self.commitment, ceremony.committee().point(index), backend);
        let value = match &share.blinding {
            Some(blinding) => commit::<S>(&share.value, blinding),
            None => S::public_key(&share.value),
        };
        value == point
    }

    /// Checks a contribution that the deal hid: the points that it consists of.
    ///
    /// The dealer shows β(w) at a challenge w that depends on both commitments, and proves that it knows the logarithm
    /// of A(w). Then C(w) - A(w) = β(w)·h says that A has the coefficients of φ: otherwise the dealer would know a
    /// relation between g and h, or A(w) would contain h, whose logarithm nobody knows.
    pub(super) fn revealed(
        &self,
        ceremony: &Ceremony<S>,
        dealer: MemberNumber,
        body: &Body,
        backend: Backend,
    ) -> Result<Vec<S::Key>, Misdeed> {
        let Body::Reveal { commitment, blinding, proof } = body else {
            unreachable!("the round of reveals has only reveals")
        };
        let revealed = points(ceremony, commitment, backend)?;
        let challenge = challenge(ceremony, dealer, &self.commitment, &revealed);
        let blinding = <[u8; 32]>::try_from(&blinding.0[..]).ok().and_then(|bytes| Scalar::from_bytes(&bytes).ok());
        let blinding = blinding.ok_or(Misdeed::OtherContribution)?;
        let hidden = value(&self.commitment, challenge, backend);
        let shown = value(&revealed, challenge, backend);
        let blinded = backend.msm(&[(shown, Scalar::ONE), (second_base(), blinding)]);
        if blinded != hidden {
            return Err(Misdeed::OtherContribution);
        }
        let shown = key::<S>(shown).map_err(|_| Misdeed::OtherContribution)?;
        if proves(ceremony, dealer, &shown, &proof.0) { Ok(revealed) } else { Err(Misdeed::Proof) }
    }
}

/// What a receiver gets of a dealer.
#[derive(Clone)]
pub(super) struct DealtShare {
    pub(super) value: SecretScalar,
    /// With [`Variant::CommitFirst`](super::ceremony::Variant::CommitFirst).
    pub(super) blinding: Option<SecretScalar>,
}

impl DealtShare {
    /// The bytes of a share: 32, or 64 in a ceremony that hides contributions.
    pub(super) fn length<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> usize {
        if ceremony.hides_contributions() { 2 * VALUE } else { VALUE }
    }

    /// Reads the bytes of a share. `None` if they are not that many, or a value is zero or not below the order.
    pub(super) fn read<S: Bls12381Suite>(ceremony: &Ceremony<S>, bytes: &[u8]) -> Option<Self> {
        if bytes.len() != Self::length(ceremony) {
            return None;
        }
        let scalar = |bytes: &[u8]| SecretScalar::from_bytes(bytes.try_into().ok()?).ok();
        let (value, blinding) = bytes.split_at(VALUE);
        let blinding = if blinding.is_empty() { None } else { Some(scalar(blinding)?) };
        Some(Self { value: scalar(value)?, blinding })
    }

    pub(super) fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        plaintext([Some(&self.value), self.blinding.as_ref()].into_iter().flatten())
    }
}

/// Σ xᵏ·Aₖ.
pub(super) fn value<G: Bls12381Group>(commitment: &[G], x: Scalar, backend: Backend) -> G {
    let powers = std::iter::successors(Some(Scalar::ONE), |power| Some(*power * x));
    backend.msm(&commitment.iter().copied().zip(powers).collect::<Vec<_>>())
}

/// The points of a commitment: as many as the threshold, canonical, in the subgroup, none the identity.
fn points<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    points: &[Bytes],
    backend: Backend,
) -> Result<Vec<S::Key>, Misdeed> {
    let (found, expected) = (points.len(), ceremony.committee().threshold());
    if found != expected {
        return Err(Misdeed::CommitmentLength { found, expected });
    }
    let encodings: Vec<_> = points.iter().map(|point| point.0.as_slice()).collect();
    let keys = PublicKey::<S>::from_bytes_each(&encodings, backend).into_iter().enumerate();
    keys.map(|(place, key)| key.map(|key| key.point()).map_err(|reason| Misdeed::Point { place, reason })).collect()
}

/// A sum of points in the subgroup as a key.
fn key<S: Bls12381Suite>(point: S::Key) -> Result<PublicKey<S>, Misdeed> {
    PublicKey::assume_in_subgroup(point).map_err(|reason| Misdeed::Point { place: 0, reason })
}
