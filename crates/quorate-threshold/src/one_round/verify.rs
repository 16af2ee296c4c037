//! Verifying transcripts.
//!
//! With the weights ρ of the random sums z, λ of the participants, μ of the digits, and e = λ·B^j + Σ ±ρ of a digit, a transcript
//! proves that its dealer knows nonces r, a blinding τ, a key v and a number w with
//!
//! ```text
//! r·g = R                                                      for each encapsulation R
//! Σ r·Σ e·y + τ·h + v·g = Σ e·C + Σ ρ·Y - Σ ρ·z·g              over the digits C and the commitments Y to the masks
//! r·Σ μ·y + w·g = Σ μ·C                                        over the digits
//! v·g = Σ λ·(verification key)                                 in the group of keys
//! ```
//!
//! The third line is there because the second has τ: with it alone a dealer could add multiples of h to digits, which then nobody
//! finds, and hide their sum in τ.
//!
//! The first three lines are one sum in G1 with random weights of the verifier. Its points may have parts of small order: encrypted
//! digits, masks and points of the first message are on the curve, and nobody checks that they are in the subgroup. That is sound:
//!
//! - The order r and the cofactor have no common factor, so each point of the curve is the sum of a part in the subgroup and of a part
//!   whose order divides the cofactor. Additions, multiplications by numbers, and the endomorphism by which a sum of multiples takes
//!   fewer doublings ([`Backend::msm`]) map each kind of part to itself. So the part in the subgroup of the sum is the sum of the parts
//!   in the subgroup. The other part of the sum is some point of small order, which one depends on the backend.
//! - What is checked is that the sum times 1 - z is the identity. 1 - z is a multiple of the order of every point of small order, and has
//!   no factor in common with r. So the answer depends on the parts in the subgroup alone, on every backend, and the equations hold for
//!   these.
//! - Only these parts are ever used: [`decrypt`](super::Contributions::decrypt) multiplies by 1 - z, too. What meets a secret or becomes a
//!   key was checked to be in the subgroup: encapsulations, commitments, and the key of the first message.
//!
//! So, but for a probability of about 2^-127 for each hash that the dealer computes, for dealers who compute points from points that they
//! know (`docs/one-round.md` has the symbols):
//!
//! 1. Every digit is within ±510·S. Suppose that one digit s is farther from zero. Whatever the mask and all other digits are, z takes
//!    three values for its sign -1, 0 and 1. The value for 0 is by s, and so by more than 510·S, away from both others, so that either
//!    it alone is within ±255·S, or one or both of the others are. Each has a probability of at most 1/2, and 128 sums pass with at
//!    most 2^-128 (in Coq: `proofs/Rows.v`; for lattices: Lyubashevsky and Baum, 2017, and Gentry, Halevi and Lyubashevsky, ePrint
//!    2021/1397).
//! 2. The digits are the shares that the dealer commits to, and the z are the sums of the digits: a linear equation with random weights
//!    of 128 bits that does not hold for each participant and each sum holds with 2^-128.
//! 3. The dealer knows what it contributes: with all r it knows all digits, and so all shares. It cannot have copied or shifted another
//!    one's contribution: the hash begins with the ceremony, the dealer's index (where a key is shared anew, that of the share), the
//!    receivers and the suite.
//!
//! Several transcripts are verified by one sum in G1 and one in the group of keys: those of each transcript, times a weight of its own
//! of 128 bits, which the verifier draws when all of them are there. A point that they have in common is multiplied once: the keys of
//! the receivers, g, h and the generator of the keys.
//!
//! - If the sum of one of them is not the identity, then whatever the weights of the others are there is at most one weight modulo r with
//!   which the total is: r is prime, and what counts is in groups of order r. So transcripts of which one is false add up to the
//!   identity with a probability of at most 2^-128, also where their dealers work together, so that their errors cancel.
//! - If a total is not the identity, each transcript is checked by its own sums. So the false ones are named, and no true one is refused.

use std::num::NonZeroUsize;

use quorate::{
    Backend, Bls12381Suite, Options, PublicKey, aggregate::sum_of_multiples, rand_core::CryptoRng, threads::parallel,
};
use quorate_curve::{Bls12381Group, G1, Group, Scalar};

use super::{
    challenge::{Said, ShareStatement},
    parameters::{DIGITS, integer},
    receivers::ShareReceivers,
    transcript::{Layout, Parts, ShareTranscriptError, UncheckedShareTranscript},
};
use crate::{committee::Committee, interpolation::power_sums, pedersen::second_base, sharing::Commitment};

/// A transcript that proves itself: every receiver can decrypt its share, and the shares are those of the commitment.
#[derive(Clone, Debug)]
pub struct ShareTranscript<S: Bls12381Suite> {
    /// The digest of the receivers.
    pub(super) receivers: [u8; 32],
    pub(super) commitment: Commitment<S>,
    pub(super) encapsulations: Vec<G1>,
    /// The encrypted digits, compressed, which decode.
    pub(super) digits: Vec<u8>,
}

impl<S: Bls12381Suite> ShareTranscript<S> {
    /// The commitment to what the dealer shares.
    pub fn commitment(&self) -> &Commitment<S> {
        &self.commitment
    }
}

impl UncheckedShareTranscript {
    /// How many bytes a transcript for these receivers has.
    pub fn length<S: Bls12381Suite>(receivers: &ShareReceivers) -> usize {
        Layout::of::<S>(receivers).end
    }

    /// The same for a committee, of whose members none has more than so many shares: without the keys of the receivers.
    pub(crate) fn length_of<S: Bls12381Suite>(committee: &Committee, slots: usize) -> usize {
        Layout::new::<S>(committee, slots).end
    }

    /// Checks the proof. `rng` is a CSPRNG that the dealer cannot predict.
    ///
    /// A transcript with a digit that is too large, or with shares that are not those of the commitment, passes with a
    /// probability of about 2^-127 for each digest that its dealer computes.
    ///
    /// # Errors
    /// [`ShareTranscriptError`].
    ///
    /// Cost: a square root and a multiplication in one sum for each digit, on all threads.
    pub fn verify<S: Bls12381Suite>(
        &self,
        suite: S,
        receivers: &ShareReceivers,
        statement: &ShareStatement,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<ShareTranscript<S>, ShareTranscriptError> {
        let opened = self.open(suite, receivers, statement, options, &Mixture::draw(receivers, rng))?;
        if add_up(receivers, &[&opened], options) { Ok(opened.transcript) } else { Err(ShareTranscriptError::Proof) }
    }

    /// Decodes everything, and makes the terms of the sums.
    pub(super) fn open<S: Bls12381Suite>(
        &self,
        suite: S,
        receivers: &ShareReceivers,
        statement: &ShareStatement,
        options: &Options,
        mixture: &Mixture,
    ) -> Result<Opened<S>, ShareTranscriptError> {
        let layout = Layout::of::<S>(receivers);
        let (found, expected) = (self.0.len(), layout.end);
        if found != expected {
            return Err(ShareTranscriptError::Length { found, expected });
        }
        let bytes = &self.0;
        let keys: Vec<_> = bytes[layout.commitment..layout.encapsulations].chunks_exact(S::Key::COMPRESSED).collect();
        let commitment = Commitment::<S>::from_bytes(receivers.committee(), &keys, options.backend)?;
        let parts = Parts::<S>::read(bytes, &layout, receivers, options)?;
        let dealt = Said::begin(statement, receivers, suite.name()).and(&bytes[..layout.masks]);
        let said = dealt.and(&bytes[layout.masks..layout.sums]);
        let signs = said.signs(receivers.committee().participants());
        let said = said.and(&bytes[layout.sums..layout.first]);
        let weights = said.weights(&signs);
        let challenge = said.and(&bytes[layout.first..layout.answers]).challenge();

        // Everything is multiplied by the weight of the transcript.
        let whole = mixture.whole;
        let challenged = whole * challenge;
        let [of_nonces @ .., of_blinding, of_key, of_alone] = &parts.answers[..] else { unreachable!("three more") };
        let [first @ .., first_of_all, first_of_alone] = &parts.first[..] else { unreachable!("two more") };
        let digits = weights.digits.iter().zip(&weights.alone).map(|(weight, alone)| *weight + mixture.alone * *alone);
        let digits: Vec<_> = digits.collect();
        let sums: Scalar = parts.sums.iter().zip(&weights.rows).map(|(sum, row)| integer((*sum).into()) * *row).sum();
        let mut generator = whole * (*of_key + mixture.alone * *of_alone) + challenged * sums;
        let mut members = vec![Scalar::ZERO; receivers.keys().len()];
        for ((member, slot), weights) in receivers.seats().zip(digits.chunks_exact(DIGITS)) {
            let answers = &of_nonces[slot * DIGITS..];
            members[member] =
                members[member] + weights.iter().zip(answers).map(|(weight, answer)| *weight * *answer).sum();
        }
        members.iter_mut().for_each(|sum| *sum = whole * *sum);
        let mut terms = Vec::with_capacity(parts.digits.len() + 2 * first.len() + parts.masks.len() + 2);
        terms.extend(parts.digits.iter().zip(&digits).map(|(digit, weight)| (*digit, -challenged * *weight)));
        terms.extend(parts.masks.iter().zip(&weights.rows).map(|(mask, weight)| (*mask, -challenged * *weight)));
        let encapsulations = of_nonces.iter().zip(first).zip(&parts.encapsulations).zip(&mixture.nonces);
        for (((answer, first), encapsulation), weight) in encapsulations {
            let weight = whole * *weight;
            generator = generator + weight * *answer;
            terms.extend([(*first, -weight), (*encapsulation, -weight * challenge)]);
        }
        terms.extend([(*first_of_all, -whole), (*first_of_alone, -whole * mixture.alone)]);

        let indices: Vec<_> = receivers.committee().indices().zip(weights.participants).collect();
        let powers = power_sums(receivers.committee(), &indices, options);
        let keys = commitment.points().iter().map(PublicKey::point).zip(powers);
        let mut key_terms: Vec<_> = keys.map(|(key, sum)| (key, -challenged * sum)).collect();
        key_terms.push((parts.first_key, -whole));
        let digits = bytes[layout.digits..layout.masks].to_vec();
        let receivers = *receivers.digest();
        Ok(Opened {
            transcript: ShareTranscript { receivers, commitment, encapsulations: parts.encapsulations, digits },
            terms,
            members,
            generator,
            second_base: whole * *of_blinding,
            key_terms,
            key_generator: whole * *of_key,
        })
    }
}

/// Verifies many transcripts of one ceremony, each with the number of its dealer: an answer for each, in their order. `rng` is a CSPRNG
/// that the dealers cannot predict.
///
/// Cost: a square root for each digit, and for sixteen transcripts, or more where there are more threads, one sum with a multiplication
/// for each digit. If one of them is false, as many sums of one transcript as well. So many transcripts are decoded at a time.
pub fn verify_all<S: Bls12381Suite>(
    suite: S,
    receivers: &ShareReceivers,
    ceremony: [u8; 32],
    transcripts: &[(u32, &UncheckedShareTranscript)],
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Vec<Result<ShareTranscript<S>, ShareTranscriptError>> {
    let threads = options.threads;
    // As many for each thread.
    let together = threads.get() * TOGETHER.div_ceil(threads.get());
    let mut answers = Vec::with_capacity(transcripts.len());
    for several in transcripts.chunks(together) {
        let mixtures: Vec<_> = several.iter().map(|_| Mixture::draw(receivers, rng)).collect();
        let threads_of_one = NonZeroUsize::new(threads.get() / several.len()).unwrap_or(NonZeroUsize::MIN);
        let of_one = Options { threads: threads_of_one, ..*options };
        let opened = parallel(threads, several.len(), |i| {
            let (dealer, transcript) = several[i];
            transcript.open(suite, receivers, &ShareStatement { ceremony, dealer }, &of_one, &mixtures[i])
        });
        let whole: Vec<&Opened<S>> = opened.iter().flatten().collect();
        let proven = if add_up(receivers, &whole, options) {
            vec![true; several.len()]
        } else {
            parallel(threads, several.len(), |i| {
                opened[i].as_ref().is_ok_and(|opened| add_up(receivers, &[opened], &of_one))
            })
        };
        answers.extend(opened.into_iter().zip(proven).map(|(opened, is_proven)| {
            let opened = opened?;
            if is_proven { Ok(opened.transcript) } else { Err(ShareTranscriptError::Proof) }
        }));
    }
    answers
}

/// How many transcripts are in one sum, if there are not more threads. Each has a point and a number for each digit in memory, and the
/// sum of more of them would hardly be faster.
pub(super) const TOGETHER: usize = 16;

/// A transcript that is whole and decodes, and what is to add up to the identity in G1 and in the group of keys.
pub(super) struct Opened<S: Bls12381Suite> {
    transcript: ShareTranscript<S>,
    /// Multiples of its own points in G1.
    terms: Vec<(G1, Scalar)>,
    /// What is multiplied by the key of each member, by the generator and by the second base.
    members: Vec<Scalar>,
    generator: Scalar,
    second_base: Scalar,
    /// Multiples of its own points in the group of keys, and what is multiplied by the generator of that group.
    key_terms: Vec<(S::Key, Scalar)>,
    key_generator: Scalar,
}

/// Whether some transcripts prove themselves: everything adds up to the identity.
pub(super) fn add_up<S: Bls12381Suite>(receivers: &ShareReceivers, opened: &[&Opened<S>], options: &Options) -> bool {
    let Options { backend, threads, .. } = *options;
    let mut members = vec![Scalar::ZERO; receivers.keys().len()];
    for of in opened {
        members.iter_mut().zip(&of.members).for_each(|(sum, of_one)| *sum = *sum + *of_one);
    }
    let generator: Scalar = opened.iter().map(|of| of.generator).sum();
    let of_second_base: Scalar = opened.iter().map(|of| of.second_base).sum();
    let of_key_generator: Scalar = opened.iter().map(|of| of.key_generator).sum();
    let mut terms: Vec<(G1, Scalar)> = opened.iter().flat_map(|of| of.terms.iter().copied()).collect();
    terms.extend(receivers.keys().iter().map(|key| key.point()).zip(members));
    terms.extend([(second_base(), of_second_base), (G1::generator(), generator)]);
    let mut key_terms: Vec<(S::Key, Scalar)> = opened.iter().flat_map(|of| of.key_terms.iter().copied()).collect();
    key_terms.push((S::Key::generator(), of_key_generator));
    without_cofactor(&sum_of_multiples(&terms, backend, threads)).is_identity()
        && sum_of_multiples(&key_terms, backend, threads).is_identity()
}

/// Random numbers of the verifier, of 128 bits: the weights with which equations are added up. That of the second line is 1.
pub(super) struct Mixture {
    /// One for each encapsulation.
    nonces: Vec<Scalar>,
    /// That of the digits alone.
    alone: Scalar,
    /// That of the transcript among others.
    pub(super) whole: Scalar,
}

impl Mixture {
    pub(super) fn draw(receivers: &ShareReceivers, rng: &mut impl CryptoRng) -> Self {
        let mut weight = || {
            let mut bytes = [0; 16];
            rng.fill_bytes(&mut bytes);
            Scalar::reduce(&bytes)
        };
        let nonces = (0..receivers.slots() * DIGITS).map(|_| weight()).collect();
        Self { nonces, alone: weight(), whole: weight() }
    }
}

/// A point times 1 - z, which is in the subgroup, and is the identity only if the part of order r was (RFC 9380, section
/// 8.8.1, calls this number h_eff).
pub(super) fn without_cofactor(point: &G1) -> G1 {
    // The number does not fit 63 bits: 3 · 0x4600_5555_5555_aaab.
    let third = Backend::Portable.short_msm(&[(*point, 0x4600_5555_5555_aaab)]);
    Backend::Portable.short_msm(&[(third, 3)])
}
