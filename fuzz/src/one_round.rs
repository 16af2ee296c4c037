//! No bytes make the readers of transcripts and of signed transcripts panic. What is read prints back the same, and no bytes prove
//! themselves but those that the dealer published.

use std::sync::LazyLock;

use quorate::{Backend, MinPk, Options};
use quorate_threshold::{
    Identifiers,
    dkg::{
        Ceremony, CeremonyPurpose, Description, ParticipantIdentity, Seat, SignedTranscript, Variant, verify_signed,
    },
    one_round::{ShareReceivers, ShareStatement, UncheckedShareTranscript},
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// A ceremony of one member, which makes the shortest transcripts, and what the member published: `seeds/one-round-signed`.
struct Published {
    ceremony: Ceremony<MinPk>,
    receivers: ShareReceivers,
    signed: SignedTranscript,
}

static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let identity = ParticipantIdentity::generate("member-1", &mut rng).expect("a name");
    let description = Description {
        suite: MinPk::Eth2,
        purpose: CeremonyPurpose::NewKey(Variant::OneRound),
        threshold: 1,
        identifiers: Identifiers::Integers,
        dealers_needed: None,
        seats: vec![Seat {
            member: identity.one_round_member(),
            dealer: Some(1),
            receiver: Some(1),
            weight: 1,
            deals: 1,
        }],
        nonce: [3; 16],
    };
    let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
    let receivers = ceremony.share_receivers().expect("it is in one round");
    let signed = SignedTranscript::deal(&ceremony, &identity, &[], &Options::default(), &mut rng).expect("not zero");
    Published { ceremony, receivers, signed }
});

pub fn run(bytes: &[u8]) {
    let Published { ceremony, receivers, signed } = &*PUBLISHED;
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    if let Ok(read) = SignedTranscript::from_bytes(bytes, ceremony) {
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read, *signed, "nobody else has the key");
        let verified = verify_signed(ceremony, receivers, &[read], &Options::default(), &mut rng);
        assert!(verified[0].is_ok());
    }
    // The end, as a transcript: with another length nothing more of it would be read.
    let length = UncheckedShareTranscript::length::<MinPk>(receivers);
    let mut transcript = vec![0; length.saturating_sub(bytes.len())];
    transcript.extend(&bytes[bytes.len().saturating_sub(length)..]);
    let published = signed.to_bytes().ends_with(&transcript);
    let statement = ShareStatement { ceremony: ceremony.id().0, dealer: 1 };
    let options = Options::default();
    let verified = UncheckedShareTranscript(transcript).verify(MinPk::Eth2, receivers, &statement, &options, &mut rng);
    assert_eq!(verified.is_ok(), published);
}
