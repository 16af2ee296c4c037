//! What the messages of a ceremony make: the shared key, and this participant's share of it.

use std::collections::BTreeMap;

use quorate::{Bls12381Suite, PublicKey, SecretKey};
use quorate_curve::{Group as _, Scalar, SecretError, SecretScalar, Segments};
use sha2::{Digest as _, Sha256};

use super::Participant;
use crate::{
    committee::Index,
    dkg::{
        ceremony::{CeremonyPurpose, MemberNumber},
        dealing::{Deal, DealtShare, VALUE, check_envelope, derive, envelope_info, seal, value},
        hex::CeremonyDigest,
        lagrange::{coefficients_at, polynomial_through},
        message::{Body, CeremonyMessage},
        outcome::{CeremonyFailure, CeremonyOutcome},
        round::Round,
    },
    interpolation::Interpolation,
    shared_key::SharedKey,
    sharing::{Commitment, KeyShare, listed},
};

impl<S: Bls12381Suite> Participant<S> {
    /// The share that a dealer gave this member, if it is the one that the dealer committed to.
    pub(in crate::dkg) fn dealt_share(&self, dealer: MemberNumber, deal: &Deal<S>) -> Option<DealtShare> {
        let index = self.ceremony.receiver_index(self.member)?;
        let info = envelope_info(&self.ceremony, dealer, self.member);
        let bytes = self.identity.open(&info, &deal.share(&self.ceremony, self.member).0)?;
        let share = DealtShare::read(&self.ceremony, &bytes)?;
        deal.proves(&self.ceremony, index, &share, self.options.backend).then_some(share)
    }

    /// The coefficients of the contributions in the shared key: 1 each in a new key, and in a resharing those that
    /// interpolate the previous key from its shares.
    fn weights(&self) -> Vec<(MemberNumber, Scalar)> {
        let qualified = self.qualified();
        match self.ceremony.purpose() {
            CeremonyPurpose::NewKey(_) | CeremonyPurpose::Recover { .. } => {
                qualified.into_iter().map(|dealer| (dealer, Scalar::ONE)).collect()
            }
            CeremonyPurpose::Reshare(previous) | CeremonyPurpose::ReshareInOneRound(previous) => {
                let index = |dealer: &MemberNumber| self.ceremony.previous_index(*dealer).expect("it was checked");
                let by_index: BTreeMap<_, _> = qualified.iter().map(|dealer| (index(dealer), *dealer)).collect();
                let indices: Vec<_> = by_index.keys().copied().collect();
                let interpolation = Interpolation::new(previous.committee(), &indices, &self.options)
                    .expect("as many dealers are left as the previous threshold asks for, all different");
                let coefficients = interpolation.coefficients();
                interpolation.signers().iter().map(|index| by_index[index]).zip(coefficients).collect()
            }
        }
    }

    /// The key that the contributions make.
    pub(super) fn shared_key(&self) -> Result<SharedKey<S>, CeremonyFailure> {
        if let CeremonyPurpose::Recover { shared_key, .. } = self.ceremony.purpose() {
            return Ok(shared_key.clone());
        }
        let committee = self.ceremony.committee();
        let (backend, t) = (self.options.backend, committee.threshold());
        let weights = self.weights();
        let contributions = weights.iter().map(|(dealer, _)| {
            if !self.ceremony.hides_contributions() {
                return Ok(self.judgement.deals[dealer].commitment.clone());
            }
            match self.judgement.revealed.get(dealer) {
                Some(revealed) => Ok(revealed.clone()),
                None => self.reconstructed(*dealer),
            }
        });
        let contributions = contributions.collect::<Result<Vec<_>, _>>()?;
        let points: Vec<S::Key> = if weights.iter().all(|(_, weight)| *weight == Scalar::ONE) {
            let columns = (0..t).map(|k| contributions.iter().map(move |commitment| commitment[k]));
            backend.sums(&columns.collect::<Segments<S::Key>>())
        } else {
            let column = |k: usize| -> Vec<_> {
                contributions.iter().zip(&weights).map(|(commitment, (_, weight))| (commitment[k], *weight)).collect()
            };
            (0..t).map(|k| backend.msm(&column(k))).collect()
        };
        let keys: Result<Vec<_>, _> = points.into_iter().map(PublicKey::assume_in_subgroup).collect();
        let commitment = Commitment::new(committee, keys.map_err(|_| CeremonyFailure::Zero)?).expect("t points");
        Ok(SharedKey::new(self.ceremony.suite(), committee.clone(), commitment).expect("t points"))
    }

    /// The contribution of a dealer who did not reveal it, from the shares that receivers disclosed. A coefficient that is zero makes the
    /// identity: it changes nothing in the sum, and the dealer's silence must not end the ceremony.
    fn reconstructed(&self, dealer: MemberNumber) -> Result<Vec<S::Key>, CeremonyFailure> {
        let needed = self.ceremony.committee().threshold();
        let disclosed = self.judgement.disclosed.get(&dealer).map_or(&[][..], Vec::as_slice);
        if disclosed.len() < needed {
            return Err(CeremonyFailure::TooFewDisclosures { dealer, found: disclosed.len(), needed });
        }
        let shares = disclosed[..needed].iter().map(|(receiver, share)| {
            let index = self.ceremony.receiver_index(*receiver).expect("who discloses is a receiver");
            let value = Scalar::from_bytes(&share.value.to_bytes()).expect("a secret is below the order");
            (self.ceremony.committee().point(index), value)
        });
        let (points, values): (Vec<_>, Vec<_>) = shares.unzip();
        // They are public, as the shares are.
        let coefficients = polynomial_through(&points, &values, self.options.backend);
        Ok(self.options.backend.multiples(&vec![S::Key::generator(); needed], &coefficients))
    }

    /// This member's share of the new key, if it receives one.
    pub(super) fn key_share(&self, shared_key: &SharedKey<S>) -> Result<Option<KeyShare<S>>, CeremonyFailure> {
        let Some(index) = self.ceremony.receiver_index(self.member) else { return Ok(None) };
        let weights = self.weights();
        let shares = weights.iter().map(|(dealer, weight)| {
            let share = self.dealt_share(*dealer, &self.judgement.deals[dealer]);
            share.map(|share| (*weight, share.value)).ok_or(CeremonyFailure::ShareMismatch(index))
        });
        let shares = listed(weights.len(), shares)?;
        let sum = SecretScalar::combination(shares.iter().map(|(weight, share)| (*weight, share)));
        let share = self.checked(index, sum, shared_key)?;
        Ok(Some(share))
    }

    /// A share that is what the shared key commits to.
    fn checked(
        &self,
        index: Index,
        secret: Result<SecretScalar, SecretError>,
        shared_key: &SharedKey<S>,
    ) -> Result<KeyShare<S>, CeremonyFailure> {
        let secret = secret.map_err(|_| CeremonyFailure::Zero)?;
        let secret = SecretKey::from_bytes(&secret.to_bytes()).map_err(|_| CeremonyFailure::Zero)?;
        let share = KeyShare::new(index, secret);
        let proven = shared_key.commitment().proves(shared_key.committee(), &share, self.options.backend);
        proven.map_err(|_| CeremonyFailure::ShareMismatch(index))?;
        Ok(share)
    }

    pub(super) fn digest(&self, shared_key: &SharedKey<S>, dealers: &[MemberNumber]) -> CeremonyDigest {
        let mut hash = Sha256::new();
        hash.update(b"quorate-dkg-v1 outcome");
        hash.update(self.ceremony.id().0);
        hash.update((dealers.len() as u32).to_be_bytes());
        for dealer in dealers {
            hash.update(dealer.number().to_be_bytes());
        }
        hash.update(shared_key.to_json());
        CeremonyDigest(hash.finalize().into())
    }

    /// The confirmations of the outcome that this participant came to.
    pub(super) fn agreeing(&self) -> Vec<&CeremonyMessage> {
        let Ok(shared_key) = self.shared_key() else { return Vec::new() };
        let expected = self.digest(&shared_key, &self.qualified());
        let agrees = |message: &&CeremonyMessage| matches!(message.body(), Body::Confirmation { outcome, .. } if *outcome == expected);
        self.messages.values().filter(agrees).collect()
    }

    /// How the ceremony ended, all rounds being closed.
    pub(super) fn result(&self) -> Result<CeremonyOutcome<S>, CeremonyFailure> {
        let dealers = self.qualified();
        let confirmations = self.agreeing().into_iter().cloned().collect();
        if let CeremonyPurpose::Recover { shared_key, lost } = self.ceremony.purpose() {
            let key_share = if self.ceremony.lost_member() == Some(self.member) {
                Some(self.recovered(shared_key, *lost)?)
            } else {
                self.share.clone()
            };
            return Ok(CeremonyOutcome { shared_key: shared_key.clone(), key_share, dealers, confirmations });
        }
        let shared_key = self.shared_key()?;
        let key_share = self.key_share(&shared_key)?;
        Ok(CeremonyOutcome { shared_key, key_share, dealers, confirmations })
    }

    /// In a recovery: this member's share, hidden by the sum of what was dealt to it, which is zero at the lost share
    /// (Herzberg, Jarecki, Krawczyk and Yung, 1995).
    pub(super) fn contribution(&self) -> Result<Body, CeremonyFailure> {
        let lost = self.ceremony.lost_member().expect("only a recovery has contributions");
        let own = self.share.as_ref().expect("a helper has its share");
        let dealers = self.qualified();
        // A sum over other dealers than those that were confirmed would tell more than the lost share.
        let dealt = dealers.iter().map(|dealer| {
            let share = self.dealt_share(*dealer, &self.judgement.deals[dealer]);
            share.ok_or(CeremonyFailure::ShareMismatch(own.index()))
        });
        let dealt = listed(dealers.len(), dealt)?;
        let zero = |_: SecretError| CeremonyFailure::Zero;
        let own = SecretScalar::from_bytes(&own.secret().to_bytes()).map_err(zero)?;
        let terms = dealt.iter().map(|share| &share.value).chain([&own]);
        let sum = SecretScalar::combination(terms.map(|term| (Scalar::ONE, term))).map_err(zero)?;
        let ephemeral = derive(&self.ceremony, &self.seed, "contribution", lost.number()).map_err(zero)?.to_bytes();
        let share = seal(&self.ceremony, self.member, lost, sum.to_bytes().as_slice(), &ephemeral);
        Ok(Body::Contribution { share })
    }

    /// In a recovery, for who lost the share: the true contributions, and who sent a false one. An envelope of another length is not
    /// opened, and is proven to be false by the message.
    pub(super) fn contributions(&self) -> (Vec<(Index, SecretScalar)>, Vec<MemberNumber>) {
        let shared_key = self.ceremony.previous().expect("a recovery has a previous key");
        let (backend, committee) = (self.options.backend, self.ceremony.committee());
        let hiding: Vec<_> =
            self.qualified().iter().map(|dealer| self.judgement.deals[dealer].commitment.as_slice()).collect();
        // A list that grows would leave copies of secrets behind.
        let mut true_ones = Vec::with_capacity(self.ceremony.receivers().count());
        let mut false_ones = Vec::new();
        for (index, helper) in self.ceremony.receivers() {
            let Some(message) = self.messages.get(&(Round::Contribution, helper)) else { continue };
            let Body::Contribution { share } = message.body() else { continue };
            if check_envelope(self.member, share, VALUE).is_err() {
                continue;
            }
            let info = envelope_info(&self.ceremony, helper, self.member);
            let sum = self.identity.open(&info, &share.0);
            let sum = sum.and_then(|bytes| SecretScalar::from_bytes(bytes.as_slice().try_into().ok()?).ok());
            let x = committee.point(index);
            let own = shared_key.commitment().points().iter().map(PublicKey::point).collect::<Vec<_>>();
            let parts = hiding.iter().copied().chain([own.as_slice()]).map(|points| value(points, x, backend));
            let expected = backend.sum(&parts.collect::<Vec<_>>());
            match sum.filter(|sum| S::public_key(sum) == expected) {
                Some(sum) => true_ones.push((index, sum)),
                None => false_ones.push(helper),
            }
        }
        (true_ones, false_ones)
    }

    fn recovered(&self, shared_key: &SharedKey<S>, lost: Index) -> Result<KeyShare<S>, CeremonyFailure> {
        let committee = shared_key.committee();
        let needed = committee.threshold();
        let (contributions, _) = self.contributions();
        if contributions.len() < needed {
            return Err(CeremonyFailure::TooFewContributions { found: contributions.len(), needed });
        }
        let chosen = &contributions[..needed];
        let points: Vec<_> = chosen.iter().map(|(index, _)| committee.point(*index)).collect();
        let weights = coefficients_at(&points, committee.point(lost), self.options.backend);
        let terms = weights.into_iter().zip(chosen.iter().map(|(_, sum)| sum));
        self.checked(lost, SecretScalar::combination(terms), shared_key)
    }
}
