//! What a dealer of a ceremony in one round publishes: its transcript, signed.
//!
//! ```text
//! "quorate-transcript-v1\n"   the ceremony's id, 32 bytes   the sender's number, 4 bytes   its signature, 96 bytes
//! the transcript
//! ```
//!
//! Who deals several shares of a previous key publishes a transcript for each, one after the other in one file, in the order of their
//! indices. One signature is about all of them, and if one of them is false, none counts.

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

/// A transcript and who signed it. Whether the transcript is true is not checked until [`verify_signed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTranscript {
    ceremony: CeremonyDigest,
    sender: MemberNumber,
    signature: [u8; 96],
    /// One for each share that the sender deals, and each but the last has the length of one. There can be more or fewer than it deals.
    transcripts: Vec<UncheckedShareTranscript>,
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
    /// It is longer than what its sender publishes in this ceremony.
    #[error("it has {found} bytes, and the transcript of its sender has {most}")]
    TooLong {
        /// Its bytes.
        found: usize,
        /// Those that its sender publishes.
        most: usize,
    },
    /// Its sender does not deal.
    #[error("member {0} does not deal in this ceremony")]
    NoDealer(u32),
    /// The signature is not that of its sender.
    #[error("it is not signed by its sender")]
    Signature,
}

impl SignedTranscript {
    /// Deals in a ceremony in one round. `shares` are the dealer's shares of the previous key, where the ceremony shares one anew, in
    /// the order of [`Ceremony::previous_shares`].
    ///
    /// A dealer must publish one file alone: keep it, and publish the same again if it is lost.
    ///
    /// # Errors
    /// [`SecretError::Zero`]: a number drawn is zero, which does not happen.
    ///
    /// # Panics
    /// If the identity is none of a dealer, or `shares` are not those that it deals.
    ///
    /// Cost: that of [`publish`] for each share.
    pub fn deal<S: Bls12381Suite>(
        ceremony: &Ceremony<S>,
        identity: &ParticipantIdentity,
        shares: &[KeyShare<S>],
        options: &Options,
        rng: &mut impl CryptoRng,
    ) -> Result<Self, SecretError> {
        let sender = ceremony.number_of(identity).filter(|number| ceremony.is_dealer(*number)).expect("a dealer");
        let receivers = ceremony.share_receivers().expect("a ceremony in one round was checked");
        let indices: Vec<_> = shares.iter().map(KeyShare::index).collect();
        assert!(ceremony.previous_shares(sender).eq(indices), "the shares that the dealer deals");
        let secrets: Vec<_> = match ceremony.previous() {
            None => vec![None],
            Some(_) => shares.iter().map(Some).collect(),
        };
        let transcripts = ceremony.dealer_indices(sender).zip(secrets).map(|(dealer, share)| {
            let mut coefficients = Vec::with_capacity(ceremony.committee().threshold());
            if let Some(share) = share {
                coefficients.push(SecretScalar::from_bytes(&share.secret().to_bytes())?);
            }
            while coefficients.len() < ceremony.committee().threshold() {
                coefficients.push(random(rng)?);
            }
            let statement = ShareStatement { ceremony: ceremony.id().0, dealer };
            publish(ceremony.suite(), &receivers, &statement, &SecretPolynomial::new(coefficients), options, rng)
        });
        let transcripts = transcripts.collect::<Result<Vec<_>, _>>()?;
        let signature = identity.sign(&signed_bytes(ceremony.id(), sender, &bytes_of(&transcripts))).to_bytes();
        Ok(Self { ceremony: ceremony.id(), sender, signature, transcripts })
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
        let transcripts = bytes_of(&self.transcripts);
        [MAGIC, &self.ceremony.0, &self.sender.number().to_be_bytes(), &self.signature, &transcripts].concat()
    }

    /// The most bytes that the file of a dealer has in a ceremony in one round.
    pub fn length<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> usize {
        HEAD.saturating_add(length_of_one(ceremony).saturating_mul(ceremony.most_dealt()))
    }

    /// Reads the bytes of a file: of this ceremony, of a dealer, signed by it. Whether the transcript is true is not known yet.
    /// What is longer than a transcript is neither hashed nor copied. What is shorter and signed proves itself to be false.
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
        let one = length_of_one(ceremony);
        let (found, most) = (bytes.len(), HEAD + one * ceremony.dealer_indices(sender).len());
        if found > most {
            return Err(SignedTranscriptError::TooLong { found, most });
        }
        let signed = signed_bytes(ceremony.id(), sender, transcript);
        let is_signed = ceremony.member(sender).is_some_and(|member| member.signed(&signed, signature));
        let signature = signature.try_into().expect("96 bytes");
        let transcripts = transcript.chunks(one).map(|bytes| UncheckedShareTranscript(bytes.to_vec())).collect();
        let read = Self { ceremony: ceremony.id(), sender, signature, transcripts };
        if is_signed { Ok(read) } else { Err(SignedTranscriptError::Signature) }
    }
}

/// Verifies the transcripts of a ceremony in one round: an answer for each dealer's, in their order. A true one has the transcripts of
/// the shares that the dealer deals, in the order of their indices. What is false is proven to be by the signed transcript itself.
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
) -> Vec<Result<Vec<ShareTranscript<S>>, ShareTranscriptError>> {
    let lengths: Vec<_> = transcripts.iter().map(|signed| signed.check_length(ceremony)).collect();
    let whole = transcripts.iter().zip(&lengths).filter(|(_, length)| length.is_ok());
    let numbered: Vec<_> =
        whole.flat_map(|(signed, _)| ceremony.dealer_indices(signed.sender).zip(&signed.transcripts)).collect();
    let mut verified = verify_all(ceremony.suite(), receivers, ceremony.id().0, &numbered, options, rng).into_iter();
    let answer = |(signed, length): (&SignedTranscript, Result<(), _>)| {
        length?;
        // All of them are taken, also after a false one.
        let all: Vec<_> = verified.by_ref().take(signed.transcripts.len()).collect();
        let all = all.into_iter().collect::<Result<Vec<ShareTranscript<S>>, _>>()?;
        let Some(previous) = ceremony.previous() else { return Ok(all) };
        let are_shares =
            |(transcript, index): (&ShareTranscript<S>, _)| transcript.shares_share(previous, index, options.backend);
        if all.iter().zip(ceremony.previous_shares(signed.sender)).all(are_shares) {
            Ok(all)
        } else {
            Err(ShareTranscriptError::OtherSecret)
        }
    };
    transcripts.iter().zip(lengths).map(answer).collect()
}

impl SignedTranscript {
    /// Whether there are as many transcripts as the sender deals, and all of them are whole.
    fn check_length<S: Bls12381Suite>(&self, ceremony: &Ceremony<S>) -> Result<(), ShareTranscriptError> {
        let found = self.transcripts.iter().map(|transcript| transcript.0.len()).sum();
        let expected = length_of_one(ceremony) * ceremony.dealer_indices(self.sender).len();
        if found == expected { Ok(()) } else { Err(ShareTranscriptError::Length { found, expected }) }
    }
}

fn length_of_one<S: Bls12381Suite>(ceremony: &Ceremony<S>) -> usize {
    UncheckedShareTranscript::length_of::<S>(ceremony.committee(), ceremony.most_shares())
}

fn bytes_of(transcripts: &[UncheckedShareTranscript]) -> Vec<u8> {
    transcripts.iter().flat_map(|transcript| &transcript.0).copied().collect()
}

/// What a dealer signs. Messages of rounds are signed with the number of their round in the place of 0.
fn signed_bytes(ceremony: CeremonyDigest, sender: MemberNumber, transcripts: &[u8]) -> Vec<u8> {
    [&ceremony.0[..], &sender.number().to_be_bytes(), &[0], &Sha256::digest(transcripts)].concat()
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

    fn deal<S: Bls12381Suite>(ceremony: &Ceremony<S>, place: usize, shares: &[KeyShare<S>]) -> SignedTranscript {
        let mut rng = ChaCha20Rng::from_seed([place as u8; 32]);
        let dealt = SignedTranscript::deal(ceremony, &identities(3)[place], shares, &Options::default(), &mut rng);
        let dealt = dealt.expect("not zero");
        assert_eq!(SignedTranscript::from_bytes(&dealt.to_bytes(), ceremony), Ok(dealt.clone()));
        assert_eq!(dealt.sender().number() as usize, place + 1);
        dealt
    }

    fn verified<S: Bls12381Suite>(
        ceremony: &Ceremony<S>,
        dealt: &[SignedTranscript],
    ) -> Vec<Result<Vec<ShareTranscript<S>>, ShareTranscriptError>> {
        let receivers = ceremony.share_receivers().expect("it is in one round");
        verify_signed(ceremony, &receivers, dealt, &Options::default(), &mut rng())
    }

    /// The transcripts of dealers, all of which are true.
    fn all_true<S: Bls12381Suite>(ceremony: &Ceremony<S>, dealt: &[SignedTranscript]) -> Vec<ShareTranscript<S>> {
        let verified = verified(ceremony, dealt).into_iter().collect::<Result<Vec<_>, _>>();
        verified.expect("all are true").concat()
    }

    /// The previous key, shared anew by these dealers.
    fn anew<S: Bls12381Suite>(ceremony: &Ceremony<S>, dealt: &[SignedTranscript]) -> SharedKey<S> {
        let transcripts = all_true(ceremony, dealt);
        let indices = dealt.iter().flat_map(|dealt| ceremony.previous_shares(dealt.sender()));
        let of: Vec<(Index, _)> = indices.zip(&transcripts).collect();
        assert_eq!(of.len(), transcripts.len());
        let previous = ceremony.previous().expect("it shares a key anew");
        let contributions = Contributions::to_previous_key(previous, &of, &Options::default()).expect("a key");
        let anew = all_sign(ceremony, &contributions);
        assert_eq!(anew.public_key(), previous.public_key());
        anew
    }

    /// Signs other transcripts in the place of those that a dealer has made.
    fn sign_again<S: Bls12381Suite>(ceremony: &Ceremony<S>, dealt: &mut SignedTranscript) {
        let signed = signed_bytes(ceremony.id(), dealt.sender, &bytes_of(&dealt.transcripts));
        dealt.signature = identities(3)[dealt.sender.place()].sign(&signed).to_bytes();
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
        let dealt = [0, 2].map(|place| deal(&ceremony, place, &[]));
        let transcripts = all_true(&ceremony, &dealt);
        all_sign(&ceremony, &Contributions::to_new_key(&transcripts, &options).expect("a key"));

        let (key, shares) = previous(MinSig::Basic, 2, 3);
        let description = described(MinSig::Basic, CeremonyPurpose::ReshareInOneRound(key));
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        let dealt = [1, 2].map(|place| deal(&ceremony, place, &shares[place..=place]));
        anew(&ceremony, &dealt);
    }

    /// A key of four shares, three of which sign. Alice has the first two, bob the last two, and carol receives one.
    fn of_several_shares() -> (Description<MinPk>, Vec<KeyShare<MinPk>>) {
        let (key, shares) = previous(MinPk::Eth2, 3, 4);
        let mut description = described(MinPk::Eth2, CeremonyPurpose::ReshareInOneRound(key));
        for (seat, dealt) in description.seats.iter_mut().zip([Some(1), Some(3), None]) {
            (seat.dealer, seat.deals) = (dealt, if dealt.is_some() { 2 } else { 1 });
        }
        (description, shares)
    }

    #[test]
    fn dealers_deal_all_their_shares_of_a_key() {
        let (description, shares) = of_several_shares();
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        assert_eq!(ceremony.dealers_needed(), 3, "as many shares as sign");
        assert!(ceremony.are_enough(ceremony.dealers()));
        ceremony.dealers().for_each(|dealer| assert!(!ceremony.are_enough([dealer])));
        let dealt = [deal(&ceremony, 0, &shares[..2]), deal(&ceremony, 1, &shares[2..])];
        assert!(dealt.iter().all(|dealt| dealt.to_bytes().len() == SignedTranscript::length(&ceremony)));
        anew(&ceremony, &dealt);

        let json = ceremony.to_json();
        assert_eq!(json.matches("\"deals\": 2").count(), 2, "{json}");
        let read = Ceremony::<MinPk>::from_json(json.as_bytes(), Backend::auto()).expect("it was printed by us");
        assert!(read.id() == ceremony.id() && read.to_json() == json);
    }

    /// One of the transcripts of a dealer is false, is that of its other share, is missing, or is there too often: none counts, and the
    /// other dealer's do.
    #[test]
    fn one_false_transcript_of_several() {
        let (description, shares) = of_several_shares();
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        let (of_alice, of_bob) = (deal(&ceremony, 0, &shares[..2]), deal(&ceremony, 1, &shares[2..]));
        let answer = |change: &dyn Fn(&mut Vec<UncheckedShareTranscript>)| {
            let mut changed = of_alice.clone();
            change(&mut changed.transcripts);
            sign_again(&ceremony, &mut changed);
            let read = SignedTranscript::from_bytes(&changed.to_bytes(), &ceremony)?;
            let mut answers = verified(&ceremony, &[read, of_bob.clone()]);
            assert_eq!(answers[1].as_ref().map(Vec::len), Ok(2));
            Ok(answers.remove(0).map(drop))
        };
        let one = length_of_one(&ceremony);
        assert_eq!(answer(&|_| {}), Ok(Ok(())));
        for place in [0, 1] {
            let last = |all: &mut Vec<UncheckedShareTranscript>| all[place].0[one - 1] ^= 1;
            assert_eq!(answer(&last), Ok(Err(ShareTranscriptError::Proof)));
        }
        assert_eq!(answer(&|all| all.swap(0, 1)), Ok(Err(ShareTranscriptError::Proof)));
        assert_eq!(answer(&|all| all[1] = all[0].clone()), Ok(Err(ShareTranscriptError::Proof)));
        let cut = |found| Ok(Err(ShareTranscriptError::Length { found, expected: 2 * one }));
        assert_eq!(answer(&|all| all.truncate(1)), cut(one));
        assert_eq!(answer(&Vec::clear), cut(0));
        assert_eq!(answer(&|all| all[1].0.truncate(one - 1)), cut(2 * one - 1));
        let (found, most) = (HEAD + 3 * one, HEAD + 2 * one);
        assert_eq!(answer(&|all| all.push(all[0].clone())), Err(SignedTranscriptError::TooLong { found, most }));
        // The share of another dealer, dealt truly.
        let lent = [shares[0].clone(), KeyShare::new(shares[1].index(), shares[2].secret().clone())];
        let lent = deal(&ceremony, 0, &lent);
        let answer = verified(&ceremony, &[lent]).remove(0).map(drop);
        assert_eq!(answer, Err(ShareTranscriptError::OtherSecret));
    }

    #[test]
    fn dealt_shares_that_are_none() {
        let error = |change: &dyn Fn(&mut Description<MinPk>)| {
            let mut description = of_several_shares().0;
            change(&mut description);
            Ceremony::new(description, Backend::auto()).expect_err("it was changed")
        };
        let found = error(&|of| of.seats[0].deals = 0);
        assert!(matches!(found, CeremonyError::Deals { deals: 0, .. }), "{found}");
        let found = error(&|of| of.seats[2].deals = 2);
        assert!(matches!(found, CeremonyError::Deals { deals: 2, .. }), "carol does not deal: {found}");
        let found = error(&|of| of.seats[0].deals = 3);
        assert!(matches!(found, CeremonyError::IndexTwice { role: "dealer", index: 3 }), "{found}");
        for deals in [3, 1 << 16, u32::MAX] {
            let found = error(&|of| of.seats[1].deals = deals);
            assert!(matches!(found, CeremonyError::Committee(_)), "{found}");
        }
        let found = error(&|of| (of.seats[0].deals, of.seats[1].deals) = (1, 1));
        assert!(matches!(found, CeremonyError::TooFewDealers { found: 2, needed: 3 }), "{found}");
        // Where members answer each other, each deals one.
        let (key, _) = previous(MinPk::Eth2, 3, 4);
        let found = error(&|of| of.purpose = CeremonyPurpose::Reshare(key.clone()));
        assert!(matches!(found, CeremonyError::Deals { deals: 2, .. }), "{found}");
        let found = error(&|of| of.purpose = CeremonyPurpose::NewKey(Variant::OneRound));
        assert!(matches!(found, CeremonyError::Deals { deals: 2, .. }), "{found}");
    }

    /// One who deals the share of another has a true transcript of another secret.
    #[test]
    fn another_secret_than_the_share_of_the_dealer() {
        let (key, shares) = previous(MinPk::Eth2, 2, 3);
        let description = described(MinPk::Eth2, CeremonyPurpose::ReshareInOneRound(key));
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        let lent = KeyShare::new(shares[0].index(), shares[1].secret().clone());
        let dealt = [deal(&ceremony, 0, &[lent]), deal(&ceremony, 1, &shares[1..2])];
        let answers: Vec<_> = verified(&ceremony, &dealt).into_iter().map(|answer| answer.map(drop)).collect();
        assert_eq!(answers, [Err(ShareTranscriptError::OtherSecret), Ok(())]);
    }

    #[test]
    fn bytes_that_are_no_signed_transcript() {
        let mut description = described(MinPk::Eth2, CeremonyPurpose::NewKey(Variant::OneRound));
        description.seats[2].dealer = None;
        let ceremony = Ceremony::new(description.clone(), Backend::auto()).expect("a ceremony");
        let bytes = deal(&ceremony, 0, &[]).to_bytes();
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
        // What is too long is not hashed, and so its signature is not looked at.
        let most = SignedTranscript::length(&ceremony);
        assert_eq!(most, bytes.len());
        for more in [1, 1 << 20] {
            let found = most + more;
            let longer = [&bytes[..], &vec![b'\n'; more]].concat();
            assert_eq!(error(&longer), SignedTranscriptError::TooLong { found, most });
        }

        let again = Ceremony::new(Description { nonce: [4; 16], ..description }, Backend::auto()).expect("a ceremony");
        let other = SignedTranscriptError::OtherCeremony { found: ceremony.id(), expected: again.id() };
        assert_eq!(SignedTranscript::from_bytes(&bytes, &again), Err(other));
    }

    /// A dealer can sign bytes that are no transcript. They are told from a true one when they are verified.
    #[test]
    fn a_signature_makes_no_transcript_true() {
        let ceremony = new_key();
        let mut dealt = [deal(&ceremony, 0, &[]), deal(&ceremony, 1, &[])];
        dealt[0].transcripts[0].0.pop();
        sign_again(&ceremony, &mut dealt[0]);
        let read = SignedTranscript::from_bytes(&dealt[0].to_bytes(), &ceremony).expect("its dealer signed it");
        let answers = verified(&ceremony, &[read, dealt[1].clone()]);
        assert!(matches!(answers[0], Err(ShareTranscriptError::Length { .. })) && answers[1].is_ok());
        // What another dealer published, signed by this one.
        dealt[0].transcripts = dealt[1].transcripts.clone();
        sign_again(&ceremony, &mut dealt[0]);
        let copied = verified(&ceremony, &dealt[..1]).remove(0).expect_err("it is the transcript of another dealer");
        assert_eq!(copied, ShareTranscriptError::Proof);
    }

    /// A dealer who publishes two transcripts: both are true, and whoever has both files sees two digests of one sender.
    #[test]
    fn equivocation_is_two_digests_of_one_sender() {
        let ceremony = new_key();
        let one = deal(&ceremony, 0, &[]);
        let two = SignedTranscript::deal(&ceremony, &identities(3)[0], &[], &Options::default(), &mut rng());
        let two = two.expect("not zero");
        let both: Vec<_> = verified(&ceremony, &[one.clone(), two.clone()]).iter().map(Result::is_ok).collect();
        assert_eq!(both, [true; 2]);
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

    /// The points of the largest committee take 256 MiB, and its file some hundred bytes.
    #[test]
    fn a_ceremony_of_a_huge_previous_committee_is_read_in_little_memory() {
        let (key, _) = previous(MinPk::Eth2, 2, 3);
        let in_one_round = described(MinPk::Eth2, CeremonyPurpose::ReshareInOneRound(key));
        let json = Ceremony::new(in_one_round, Backend::auto()).expect("a ceremony").to_json();
        let changed = |json: &str, purpose: &str| {
            let changed = json
                .replace("\"participants\": 3", &format!("\"participants\": {}", 1 << 24))
                .replace("\"identifiers\": \"integers\"", "\"identifiers\": \"roots-of-unity\"")
                .replace("reshare-one-round", purpose);
            assert_ne!(changed, json);
            Ceremony::<MinPk>::from_json(changed.as_bytes(), Backend::auto()).expect_err("too many participants")
        };
        let many = ShareReceiversError::TooMany { participants: 1 << 24 }.to_string();
        assert_eq!(changed(&json, "reshare-one-round").to_string(), many);
        // Where a round follows on another, its commitment has to fit before the points are made.
        let other = json.replace("\"threshold\": 2", "\"threshold\": 3");
        let error = changed(&other, "reshare").to_string();
        assert!(error.starts_with("the previous shared key: "), "{error}");
    }

    /// Two, one and three shares, of which three sign.
    fn weighted(purpose: CeremonyPurpose<MinPk>) -> Description<MinPk> {
        let mut description = described(MinPk::Eth2, purpose);
        description.threshold = 3;
        for (seat, (first, weight)) in description.seats.iter_mut().zip([(1, 2), (3, 1), (4, 3)]) {
            (seat.receiver, seat.weight) = (Some(first), weight);
        }
        description
    }

    #[test]
    fn members_with_weights_have_neighbouring_shares() {
        let options = Options::default();
        let description = weighted(CeremonyPurpose::NewKey(Variant::OneRound));
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        assert_eq!((ceremony.committee().participants(), ceremony.committee().threshold()), (6, 3));
        // Alice and bob, the lightest, have three shares together, so that one of any two members is honest.
        assert_eq!(ceremony.dealers_needed(), 2);
        let places: Vec<_> = ceremony.members().map(|member| ceremony.receiver_place(member)).collect();
        assert_eq!(places, [Some(0), Some(1), Some(2)]);
        let dealt = [0, 2].map(|place| deal(&ceremony, place, &[]));
        assert!(dealt.iter().all(|dealt| dealt.to_bytes().len() == SignedTranscript::length(&ceremony)));
        let transcripts = all_true(&ceremony, &dealt);
        let contributions = Contributions::to_new_key(&transcripts, &options).expect("a key");
        all_sign(&ceremony, &contributions);
        let receivers = ceremony.share_receivers().expect("it is in one round");
        let expected: [&[u32]; 3] = [&[1, 2], &[3], &[4, 5, 6]];
        for (member, expected) in ceremony.members().zip(expected) {
            let key = identities(3)[member.place()].share_decryption_key();
            let shares = contributions.decrypt(&key, &receivers, member.place(), &options, &mut rng());
            let found: Vec<_> = shares.expect("shares").iter().map(KeyShare::index).collect();
            assert!(ceremony.shares_of(member).eq(found.iter().copied()));
            assert!(found.iter().map(|index| index.number()).eq(expected.iter().copied()));
        }

        let json = ceremony.to_json();
        assert_eq!(json.matches("\"weight\"").count(), 2, "{json}");
        let read = Ceremony::<MinPk>::from_json(json.as_bytes(), Backend::auto()).expect("it was printed by us");
        assert!(read.id() == ceremony.id() && read.to_json() == json);
        // Files without weights are what they were.
        assert!(!new_key().to_json().contains("weight"));
    }

    /// Two members have three shares each, and three have none and deal all the same: those three and one more know too little.
    #[test]
    fn dealers_without_a_share_add_nothing() {
        let mut description = description(MinPk::Eth2, 4, 5, CeremonyPurpose::NewKey(Variant::OneRound));
        for (seat, identity) in description.seats.iter_mut().zip(identities(5)) {
            seat.member = identity.one_round_member();
            seat.receiver = None;
        }
        for (seat, first) in description.seats.iter_mut().zip([1, 4]) {
            (seat.receiver, seat.weight) = (Some(first), 3);
        }
        let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        assert_eq!(ceremony.dealers_needed(), 5);
    }

    /// Whoever writes down first which transcripts count would otherwise choose its own alone, and know the key.
    #[test]
    fn dealers_who_could_all_be_dishonest() {
        let asked = |variant, needed| {
            let description = described(MinPk::Eth2, CeremonyPurpose::NewKey(variant));
            Ceremony::new(Description { dealers_needed: Some(needed), ..description }, Backend::auto())
        };
        let one = asked(Variant::OneRound, 1).expect_err("it could be dishonest");
        assert!(matches!(one, CeremonyError::OneRoundDealersNeeded { needed: 1, least: 2 }), "{one}");
        for needed in [2, 3] {
            assert_eq!(asked(Variant::OneRound, needed).expect("a ceremony").dealers_needed(), needed);
        }
        let json = new_key().to_json();
        let changed = json.replace("\"dealers_needed\": 2", "\"dealers_needed\": 1");
        assert_ne!(changed, json);
        let read = Ceremony::<MinPk>::from_json(changed.as_bytes(), Backend::auto());
        let found = read.expect_err("it asks for one");
        assert!(matches!(found, CeremonyError::OneRoundDealersNeeded { needed: 1, least: 2 }), "{found}");
        // Where members answer each other, receivers confirm who counts.
        assert_eq!(asked(Variant::JointFeldman, 1).expect("a ceremony").dealers_needed(), 1);
    }

    /// Who has which index says nothing about how many dealers know too little.
    #[test]
    fn the_order_of_the_receivers_plays_no_part() {
        let mut description = weighted(CeremonyPurpose::NewKey(Variant::OneRound));
        description.threshold = 5;
        let in_order = Ceremony::new(description.clone(), Backend::auto()).expect("a ceremony");
        for (seat, first) in description.seats.iter_mut().zip([5, 4, 1]) {
            seat.receiver = Some(first);
        }
        let permuted = Ceremony::new(description, Backend::auto()).expect("a ceremony");
        assert_eq!((in_order.dealers_needed(), permuted.dealers_needed()), (3, 3));
    }

    /// What is not a weight is refused before a list of shares is made.
    #[test]
    fn weights_that_are_none() {
        let one_round = || CeremonyPurpose::NewKey(Variant::OneRound);
        let error = |purpose, change: &dyn Fn(&mut Vec<Seat>)| {
            let mut description = weighted(purpose);
            change(&mut description.seats);
            Ceremony::new(description, Backend::auto()).expect_err("it was changed")
        };
        let found = error(CeremonyPurpose::NewKey(Variant::JointFeldman), &|_| {});
        assert!(matches!(found, CeremonyError::Weight { weight: 2, .. }), "{found}");
        let found = error(one_round(), &|seats| seats[1].weight = 0);
        assert!(matches!(found, CeremonyError::Weight { weight: 0, .. }), "{found}");
        let found = error(one_round(), &|seats| seats[2].receiver = None);
        assert!(matches!(found, CeremonyError::Weight { weight: 3, .. }), "{found}");
        let found = error(one_round(), &|seats| seats[0].weight = 1);
        assert!(matches!(found, CeremonyError::IndexMissing { role: "receiver", index: 2, count: 5 }), "{found}");
        let found = error(one_round(), &|seats| seats[0].weight = 3);
        assert!(matches!(found, CeremonyError::IndexTwice { role: "receiver", index: 3 }), "{found}");
        for most in [ShareReceivers::MOST as u32, u32::MAX] {
            let found = error(one_round(), &|seats| seats[2].weight = most);
            let participants = most as usize + 3;
            let CeremonyError::Receivers(found) = found else { panic!("{found}") };
            assert_eq!(found, ShareReceiversError::TooMany { participants });
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
