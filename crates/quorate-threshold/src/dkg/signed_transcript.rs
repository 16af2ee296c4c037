//! What a dealer of a ceremony in one round publishes: its transcript, signed.
//!
//! ```text
//! "quorate-transcript-v1\n"   the ceremony's id, 32 bytes   the sender's number, 4 bytes   its signature, 96 bytes
//! the transcript
//! ```

use quorate::{Bls12381Suite, Options, rand_core::CryptoRng};
use quorate_curve::{SecretError, SecretPolynomial, SecretScalar};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{
    ceremony::{Ceremony, MemberNumber},
    hex::CeremonyDigest,
    identity::ParticipantIdentity,
};
use crate::{
    one_round::{
        ShareReceivers, ShareStatement, ShareTranscript, ShareTranscriptError, UncheckedShareTranscript, publish,
        verify_all,
    },
    sharing::KeyShare,
};

const MAGIC: &[u8] = b"quorate-transcript-v1\n";
const HEAD: usize = MAGIC.len() + 32 + 4 + 96;

/// A transcript and who signed it. Neither signature nor transcript is checked until [`verify_signed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTranscript {
    ceremony: CeremonyDigest,
    sender: MemberNumber,
    signature: [u8; 96],
    transcript: UncheckedShareTranscript,
}

/// Why bytes are no signed transcript of a ceremony.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SignedTranscriptError {
    /// It begins with something else, or ends before the transcript begins.
    #[error("it is not a transcript, or was cut off")]
    Format,
    /// It belongs to another ceremony.
    #[error("it belongs to the ceremony {found}, and this is {expected}")]
    OtherCeremony {
        /// Its ceremony.
        found: CeremonyDigest,
        /// This one.
        expected: CeremonyDigest,
    },
    /// Its sender does not deal.
    #[error("member {0} does not deal in this ceremony")]
    NoDealer(u32),
    /// The signature is not that of its sender.
    #[error("it is not signed by its sender")]
    Signature,
}

impl SignedTranscript {
    /// Deals in a ceremony in one round. `share` is the dealer's share of the previous key, where the ceremony shares one anew.
    ///
    /// A dealer must publish one transcript alone: keep it, and publish the same again if it is lost.
    ///
    /// # Errors
    /// [`SecretError::Zero`]: a number drawn is zero, which does not happen.
    ///
    /// # Panics
    /// If the identity is none of a dealer, or `share` is not there though the ceremony has a previous key.
    pub fn deal<S: Bls12381Suite>(
        ceremony: &Ceremony<S>,
        identity: &ParticipantIdentity,
        share: Option<&KeyShare<S>>,
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SecretError> {
        let sender = ceremony.number_of(identity).filter(|number| ceremony.is_dealer(*number)).expect("a dealer");
        let receivers = ceremony.share_receivers().expect("a ceremony in one round was checked");
        let mut coefficients = Vec::with_capacity(ceremony.committee().threshold());
        if ceremony.previous().is_some() {
            let share = share.expect("who deals a share has it").secret().to_bytes();
            coefficients.push(SecretScalar::from_bytes(&share)?);
        }
        while coefficients.len() < ceremony.committee().threshold() {
            let mut material = Zeroizing::new([0; 32]);
            rng.fill_bytes(material.as_mut_slice());
            coefficients.push(SecretScalar::key_gen(material.as_slice(), b"")?);
        }
        let polynomial = SecretPolynomial::new(coefficients);
        let statement = statement(ceremony, sender);
        let transcript = publish(ceremony.suite(), &receivers, &statement, &polynomial, options, rng)?;
        let signature = identity.sign(&signed_bytes(ceremony.id(), sender, &transcript)).to_bytes();
        Ok(Self { ceremony: ceremony.id(), sender, signature, transcript })
    }

    /// Who published it, if the signature is its own.
    pub fn sender(&self) -> MemberNumber {
        self.sender
    }

    /// SHA-256 of the bytes.
    pub fn digest(&self) -> CeremonyDigest {
        CeremonyDigest(Sha256::digest(self.to_bytes()).into())
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        [MAGIC, &self.ceremony.0, &self.sender.number().to_be_bytes(), &self.signature, &self.transcript.0].concat()
    }

    /// Reads the bytes of a file: of this ceremony, of a dealer, signed by it. Whether the transcript is true is not known yet.
    ///
    /// # Errors
    /// [`SignedTranscriptError`].
    ///
    /// Cost: the verification of a signature.
    pub fn from_bytes<S: Bls12381Suite>(bytes: &[u8], ceremony: &Ceremony<S>) -> Result<Self, SignedTranscriptError> {
        let (head, transcript) = bytes.split_at_checked(HEAD).ok_or(SignedTranscriptError::Format)?;
        let head = head.strip_prefix(MAGIC).ok_or(SignedTranscriptError::Format)?;
        let (found, head) = head.split_at(32);
        let (number, signature) = head.split_at(4);
        let found = CeremonyDigest(found.try_into().expect("32 bytes"));
        if found != ceremony.id() {
            return Err(SignedTranscriptError::OtherCeremony { found, expected: ceremony.id() });
        }
        let number = u32::from_be_bytes(number.try_into().expect("4 bytes"));
        let sender = ceremony.dealers().find(|dealer| dealer.number() == number);
        let sender = sender.ok_or(SignedTranscriptError::NoDealer(number))?;
        let transcript = UncheckedShareTranscript(transcript.to_vec());
        let signed = signed_bytes(ceremony.id(), sender, &transcript);
        let is_signed = ceremony.member(sender).is_some_and(|member| member.signed(&signed, signature));
        let signature = signature.try_into().expect("96 bytes");
        let read = Self { ceremony: ceremony.id(), sender, signature, transcript };
        if is_signed { Ok(read) } else { Err(SignedTranscriptError::Signature) }
    }
}

/// Verifies the transcripts of a ceremony in one round: an answer for each, in their order. What is false is proven to be
/// by the signed transcript itself.
///
/// # Panics
/// If the ceremony is not in one round.
///
/// Cost: that of [`verify_all`].
pub fn verify_signed<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    receivers: &ShareReceivers,
    transcripts: &[SignedTranscript],
    options: &Options,
    rng: &mut impl CryptoRng,
) -> Vec<Result<ShareTranscript<S>, ShareTranscriptError>> {
    let numbered: Vec<_> = transcripts.iter().map(|signed| (signed.sender.number(), &signed.transcript)).collect();
    let verified = verify_all(ceremony.suite(), receivers, ceremony.id().0, &numbered, options, rng);
    let fits = |(verified, signed): (Result<ShareTranscript<S>, _>, &SignedTranscript)| {
        let transcript = verified?;
        match (ceremony.previous(), ceremony.previous_index(signed.sender)) {
            (Some(previous), Some(index)) if !transcript.shares_share(previous, index, options.backend) => {
                Err(ShareTranscriptError::OtherSecret)
            }
            _ => Ok(transcript),
        }
    };
    verified.into_iter().zip(transcripts).map(fits).collect()
}

fn statement<S: Bls12381Suite>(ceremony: &Ceremony<S>, dealer: MemberNumber) -> ShareStatement {
    ShareStatement { ceremony: ceremony.id().0, dealer: dealer.number() }
}

/// What a dealer signs. Messages of rounds are signed with the number of their round in the place of 0.
fn signed_bytes(ceremony: CeremonyDigest, sender: MemberNumber, transcript: &UncheckedShareTranscript) -> Vec<u8> {
    [&ceremony.0[..], &sender.number().to_be_bytes(), &[0], &Sha256::digest(&transcript.0)].concat()
}
