//! What a dealer of a ceremony in one round publishes: its transcript, signed.
//!
//! ```text
//! "quorate-transcript-v1\n"   the ceremony's id, 32 bytes   the sender's number, 4 bytes   its signature, 96 bytes
//! the transcript
//! ```

use quorate::{Bls12381Suite, Options, rand_core::CryptoRng};
use quorate_curve::{SecretError, SecretPolynomial, SecretScalar};
use sha2::{Digest as _, Sha256};

use super::{
    ceremony::{Ceremony, MemberNumber},
    hex::CeremonyDigest,
    identity::ParticipantIdentity,
};
use crate::{
    one_round::{
        ShareReceivers, ShareStatement, ShareTranscript, ShareTranscriptError, UncheckedShareTranscript, deal::random,
        publish, verify_all,
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
            coefficients.push(random(rng)?);
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

#[cfg(test)]
mod tests {
    use quorate::{Backend, MinPk, MinSig};
    use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

    use super::*;
    use crate::{
        Index, SharedKey,
        dkg::{
            CeremonyError, CeremonyMember, CeremonyPurpose, Description, JoinError, Participant,
            ParticipantIdentityError, Seat, Variant,
            simulator::{assert_signs, description, identities, previous},
        },
        one_round::{Contributions, ShareKeyError, ShareReceiversError},
    };

    fn rng() -> ChaCha20Rng {
        ChaCha20Rng::from_seed([5; 32])
    }

    /// Two of three, all of whom deal, and have keys for it.
    fn described<S: Bls12381Suite>(suite: S, purpose: CeremonyPurpose<S>) -> Description<S> {
        let mut description = description(suite, 2, 3, purpose);
        for (seat, identity) in description.seats.iter_mut().zip(identities(3)) {
            seat.member = identity.one_round_member();
        }
        description
    }

    fn new_key() -> Ceremony<MinPk> {
        let description = described(MinPk::Eth2, CeremonyPurpose::NewKey(Variant::OneRound));
        Ceremony::new(description, Backend::auto()).expect("a ceremony")
    }

    fn deal<S: Bls12381Suite>(ceremony: &Ceremony<S>, place: usize, share: Option<&KeyShare<S>>) -> SignedTranscript {
        let mut rng = ChaCha20Rng::from_seed([place as u8; 32]);
        let dealt = SignedTranscript::deal(ceremony, &identities(3)[place], share, &Options::default(), &mut rng);
        let dealt = dealt.expect("not zero");
        assert_eq!(SignedTranscript::from_bytes(&dealt.to_bytes(), ceremony), Ok(dealt.clone()));
        assert_eq!(dealt.sender().number() as usize, place + 1);
        dealt
    }

    fn verified<S: Bls12381Suite>(
        ceremony: &Ceremony<S>,
        dealt: &[SignedTranscript],
    ) -> Vec<Result<ShareTranscript<S>, ShareTranscriptError>> {
        let receivers = ceremony.share_receivers().expect("it is in one round");
        verify_signed(ceremony, &receivers, dealt, &Options::default(), &mut rng())
    }

    fn all_sign<S: Bls12381Suite>(ceremony: &Ceremony<S>, contributions: &Contributions<'_, S>) -> SharedKey<S> {
        let receivers = ceremony.share_receivers().expect("it is in one round");
        let shares = identities(3).into_iter().enumerate().flat_map(|(member, identity)| {
            let key = identity.share_decryption_key();
            contributions.decrypt(&key, &receivers, member, &Options::default(), &mut rng()).expect("a share")
        });
        let key = SharedKey::new(ceremony.suite(), ceremony.committee().clone(), contributions.commitment().clone());
        let key = key.expect("t points");
        assert_signs(&key, &shares.collect::<Vec<_>>());
        key
    }

    #[test]
    fn dealers_make_a_key_and_share_it_anew() {
        let options = Options::default();
        let ceremony = new_key();
        let dealt = [0, 2].map(|place| deal(&ceremony, place, None));
        let transcripts = verified(&ceremony, &dealt).into_iter().collect::<Result<Vec<_>, _>>().expect("all are true");
        all_sign(&ceremony, &Contributions::to_new_key(&transcripts, &options).expect("a key"));

        let (key, shares) = previous(MinSig::Basic, 2, 3);
        let description = described(MinSig::Basic, CeremonyPurpose::ReshareInOneRound(key.clone()));
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        let dealt = [1, 2].map(|place| deal(&ceremony, place, Some(&shares[place])));
        let transcripts = verified(&ceremony, &dealt).into_iter().collect::<Result<Vec<_>, _>>().expect("all are true");
        let index = |dealt: &SignedTranscript| ceremony.previous_index(dealt.sender()).expect("a dealer");
        let of: Vec<(Index, _)> = dealt.iter().map(index).zip(&transcripts).collect();
        let anew = all_sign(&ceremony, &Contributions::to_previous_key(&key, &of, &options).expect("a key"));
        assert_eq!(anew.public_key(), key.public_key());
    }

    /// One who deals the share of another has a true transcript of another secret.
    #[test]
    fn another_secret_than_the_share_of_the_dealer() {
        let (key, shares) = previous(MinPk::Eth2, 2, 3);
        let description = described(MinPk::Eth2, CeremonyPurpose::ReshareInOneRound(key));
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        let dealt = [deal(&ceremony, 0, Some(&shares[1])), deal(&ceremony, 1, Some(&shares[1]))];
        let answers: Vec<_> = verified(&ceremony, &dealt).into_iter().map(|answer| answer.map(drop)).collect();
        assert_eq!(answers, [Err(ShareTranscriptError::OtherSecret), Ok(())]);
    }

    #[test]
    fn bytes_that_are_no_signed_transcript() {
        let mut description = described(MinPk::Eth2, CeremonyPurpose::NewKey(Variant::OneRound));
        description.seats[2].dealer = None;
        let ceremony = Ceremony::new(description.clone(), Backend::auto()).expect("a ceremony");
        let bytes = deal(&ceremony, 0, None).to_bytes();
        let error = |bytes: &[u8]| SignedTranscript::from_bytes(bytes, &ceremony).expect_err("it was changed");
        let changed = |place: usize, to: &[u8]| {
            let mut bytes = bytes.clone();
            bytes[place..place + to.len()].copy_from_slice(to);
            error(&bytes)
        };
        for cut in [0, 1, MAGIC.len(), HEAD - 1] {
            assert_eq!(error(&bytes[..cut]), SignedTranscriptError::Format, "{cut} bytes");
        }
        assert_eq!(changed(0, b"Q"), SignedTranscriptError::Format);
        assert_eq!(changed(MAGIC.len() - 2, b"2"), SignedTranscriptError::Format);
        let found = CeremonyDigest([1; 32]);
        let other = SignedTranscriptError::OtherCeremony { found, expected: ceremony.id() };
        assert_eq!(changed(MAGIC.len(), &[1; 32]), other);
        let sender = MAGIC.len() + 32;
        for number in [0, 3, 4, u32::MAX] {
            assert_eq!(changed(sender, &number.to_be_bytes()), SignedTranscriptError::NoDealer(number));
        }
        assert_eq!(changed(sender, &2_u32.to_be_bytes()), SignedTranscriptError::Signature, "another dealer");
        for place in [sender + 4, HEAD - 1, HEAD, bytes.len() - 1] {
            assert_eq!(changed(place, &[bytes[place] ^ 1]), SignedTranscriptError::Signature, "byte {place}");
        }
        for length in [HEAD, bytes.len() - 1] {
            assert_eq!(error(&bytes[..length]), SignedTranscriptError::Signature, "{length} bytes");
        }
        assert_eq!(error(&[&bytes[..], b"\n"].concat()), SignedTranscriptError::Signature);

        let again = Ceremony::new(Description { nonce: [4; 16], ..description }, Backend::auto()).expect("a ceremony");
        let other = SignedTranscriptError::OtherCeremony { found: ceremony.id(), expected: again.id() };
        assert_eq!(SignedTranscript::from_bytes(&bytes, &again), Err(other));
    }

    /// A dealer can sign bytes that are no transcript. They are told from a true one when they are verified.
    #[test]
    fn a_signature_makes_no_transcript_true() {
        let ceremony = new_key();
        let mut dealt = [deal(&ceremony, 0, None), deal(&ceremony, 1, None)];
        dealt[0].transcript.0.pop();
        let signed = signed_bytes(ceremony.id(), dealt[0].sender, &dealt[0].transcript);
        dealt[0].signature = identities(3)[0].sign(&signed).to_bytes();
        let read = SignedTranscript::from_bytes(&dealt[0].to_bytes(), &ceremony).expect("its dealer signed it");
        let answers = verified(&ceremony, &[read, dealt[1].clone()]);
        assert!(matches!(answers[0], Err(ShareTranscriptError::Length { .. })) && answers[1].is_ok());
        // What another dealer published, signed by this one.
        dealt[0].transcript = dealt[1].transcript.clone();
        let signed = signed_bytes(ceremony.id(), dealt[0].sender, &dealt[0].transcript);
        dealt[0].signature = identities(3)[0].sign(&signed).to_bytes();
        let copied = verified(&ceremony, &dealt[..1]).remove(0).expect_err("it is the transcript of another dealer");
        assert_eq!(copied, ShareTranscriptError::Proof);
    }

    /// A dealer who publishes two transcripts: both are true, and whoever has both files sees two digests of one sender.
    #[test]
    fn equivocation_is_two_digests_of_one_sender() {
        let ceremony = new_key();
        let one = deal(&ceremony, 0, None);
        let two = SignedTranscript::deal(&ceremony, &identities(3)[0], None, &Options::default(), &mut rng());
        let two = two.expect("not zero");
        assert!(verified(&ceremony, &[one.clone(), two.clone()]).iter().all(Result::is_ok));
        assert_eq!(one.sender(), two.sender());
        assert_ne!(one.digest(), two.digest());
        let again = SignedTranscript::from_bytes(&one.to_bytes(), &ceremony).expect("it is signed");
        assert_eq!(again.digest(), one.digest());
    }

    #[test]
    fn nobody_joins_a_ceremony_in_one_round() {
        let join = |ceremony| {
            let identity = identities(3)[0].clone();
            Participant::join(ceremony, identity, [1; 32].into(), None, Options::default())
        };
        assert!(matches!(join(new_key()), Err(JoinError::OneRound)));
        assert!(new_key().rounds().is_empty());
        // A member with a key for one round takes part in others as before.
        let description = described(MinPk::Eth2, CeremonyPurpose::NewKey(Variant::JointFeldman));
        join(Ceremony::new(description, Backend::auto()).expect("a ceremony")).expect("a member");
    }

    #[test]
    fn ceremonies_in_one_round_are_read_as_they_were_written() {
        let (key, _) = previous(MinPk::Eth2, 2, 3);
        let purposes = [
            (CeremonyPurpose::NewKey(Variant::OneRound), "new-key-one-round"),
            (CeremonyPurpose::ReshareInOneRound(key), "reshare-one-round"),
        ];
        for (purpose, name) in purposes {
            let ceremony = Ceremony::new(described(MinPk::Eth2, purpose), Backend::auto()).expect("a ceremony");
            let json = ceremony.to_json();
            assert!(json.contains(&format!("\"purpose\": \"{name}\"")), "{json}");
            let read = Ceremony::<MinPk>::from_json(json.as_bytes(), Backend::auto()).expect("it was printed by us");
            assert!(read.is_one_round() && read.id() == ceremony.id() && read.to_json() == json);
            // The other purpose has a previous key, or has none.
            let other = if name == "new-key-one-round" { "reshare-one-round" } else { "new-key-one-round" };
            let json = json.replace(name, other);
            assert!(matches!(
                Ceremony::<MinPk>::from_json(json.as_bytes(), Backend::auto()),
                Err(CeremonyError::Json(_))
            ));
        }
    }

    #[test]
    fn receivers_without_a_share_key_are_refused() {
        let error = |change: &dyn Fn(&mut Vec<Seat>)| {
            let mut description = described(MinPk::Eth2, CeremonyPurpose::NewKey(Variant::OneRound));
            change(&mut description.seats);
            Ceremony::new(description, Backend::auto())
        };
        let without = identities(3)[1].member();
        let found = error(&|seats| seats[1].member = without.clone()).expect_err("it has no key");
        assert!(matches!(&found, CeremonyError::NoShareKey(name) if name == without.name()), "{found}");
        // Who deals and does not receive needs none.
        let dealer = |seats: &mut Vec<Seat>| {
            seats[2].member = identities(3)[2].member();
            seats[2].receiver = None;
        };
        error(&dealer).expect("a ceremony");
        let stolen = |seats: &mut Vec<Seat>| {
            let mut json = serde_json::to_value(&seats[1].member).expect("JSON");
            json["share_key"] = serde_json::to_value(&seats[0].member).expect("JSON")["share_key"].clone();
            seats[1].member = serde_json::from_value(json).expect("the proof does not say who");
        };
        let found = error(&stolen).expect_err("two have one key");
        assert!(matches!(found, CeremonyError::Receivers(ShareReceiversError::SameKey(1, 2))), "{found}");
    }

    /// Members of before have no share key, and their files stay as they are.
    #[test]
    fn members_with_and_without_a_share_key_are_read_as_they_were_written() {
        let identity = &identities(1)[0];
        for (member, has_key) in [(identity.member(), false), (identity.one_round_member(), true)] {
            let json = serde_json::to_string(&member).expect("JSON");
            assert_eq!(json.contains("share_key"), has_key);
            let read: CeremonyMember = serde_json::from_str(&json).expect("it was printed by us");
            assert_eq!(read.share_key().is_some(), has_key);
            assert!(read == member && identity.is(&read));
        }
        assert!(!identity.is(&identities(2)[1].one_round_member()));
        let mut json = serde_json::to_value(identity.one_round_member()).expect("JSON");
        let key = json["share_key"].as_str().expect("hexadecimal").to_owned();
        let mut false_proof = key.clone();
        false_proof.replace_range(222.., if key.ends_with("00") { "01" } else { "00" });
        let cases = [(key[2..].to_owned(), ShareKeyError::Length { found: 111 }), (false_proof, ShareKeyError::Proof)];
        for (text, reason) in cases {
            json["share_key"] = text.into();
            let error = serde_json::from_value::<CeremonyMember>(json.clone()).expect_err("it is no key");
            let expected = ParticipantIdentityError::ShareKey { name: identity.name().clone(), reason };
            assert_eq!(error.to_string(), expected.to_string());
        }
    }
}
