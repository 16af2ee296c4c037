//! No text makes the readers of ceremonies, messages, evidence, identities and private states panic. What they read prints
//! back the same, and a participant takes any messages and rounds without a panic.

use std::sync::LazyLock;

use quorate::{Backend, Bls12381Suite, MinPk, MinSig, Options};
use quorate_threshold::{
    Identifiers,
    dkg::{
        Blame, Ceremony, CeremonyEvent, CeremonyMember, CeremonyMessage, CeremonyPurpose, Description, Participant,
        ParticipantIdentity, Seat, Variant, judge,
    },
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

/// `seeds/dkg-*` are of this ceremony and of its first member.
static CEREMONY: LazyLock<(Ceremony<MinPk>, ParticipantIdentity)> =
    LazyLock::new(|| of_three(Variant::JointFeldman, ParticipantIdentity::member));

/// A ceremony of member-1, member-2 and member-3, and the identity of the first.
pub(crate) fn of_three(
    variant: Variant,
    member: fn(&ParticipantIdentity) -> CeremonyMember,
) -> (Ceremony<MinPk>, ParticipantIdentity) {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let identities: Vec<_> =
        (1..=3).map(|i| ParticipantIdentity::generate(&format!("member-{i}"), &mut rng).expect("a name")).collect();
    let seats = identities.iter().map(member).zip(1..);
    let description = Description {
        suite: MinPk::Eth2,
        purpose: CeremonyPurpose::NewKey(variant),
        threshold: 2,
        identifiers: Identifiers::Integers,
        dealers_needed: None,
        seats: seats
            .map(|(member, i)| Seat { member, dealer: Some(i), receiver: Some(i), weight: 1, deals: 1 })
            .collect(),
        nonce: [3; 16],
    };
    (Ceremony::new(description, Backend::auto()).expect("a ceremony"), identities[0].clone())
}

pub fn run(bytes: &[u8]) {
    // A committee of millions is as it should be, and takes a second.
    let value: serde_json::Value = serde_json::from_slice(bytes).unwrap_or_default();
    let is_large = |value: &serde_json::Value| value["participants"].as_u64().is_some_and(|n| n > 4096);
    if is_large(&value) || is_large(&value["previous"]) {
        return;
    }
    ceremony::<MinPk>(bytes);
    ceremony::<MinSig>(bytes);
    if let Ok(identity) = ParticipantIdentity::from_json(bytes) {
        let again = ParticipantIdentity::from_json(identity.to_json().as_bytes()).expect("it was printed by us");
        assert_eq!(again.member(), identity.member());
    }
    let _ = serde_json::from_slice::<CeremonyMember>(bytes);

    let (ceremony, identity) = &*CEREMONY;
    for blame in Blame::from_json(ceremony, bytes, Backend::auto()).unwrap_or_default() {
        let again =
            Blame::from_json(ceremony, blame.to_json().as_bytes(), Backend::auto()).expect("it was printed by us");
        assert!(again.contains(&blame), "{blame:?}");
    }
    let state = Participant::from_json(bytes, ceremony.clone(), identity.clone(), Options::default());
    if let Ok(participant) = state {
        let printed = participant.to_json();
        let again = Participant::from_json(printed.as_bytes(), ceremony.clone(), identity.clone(), Options::default());
        assert_eq!(*again.expect("it was printed by us").to_json(), *printed);
    }
    // Messages on lines, each taken and its round closed.
    let joined = Participant::join(ceremony.clone(), identity.clone(), [1; 32].into(), None, Options::default());
    let (mut participant, _) = joined.expect("a member");
    let mut messages = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(message) = CeremonyMessage::from_json(line) else { continue };
        let printed = message.to_json();
        assert_eq!(CeremonyMessage::from_json(printed.as_bytes()).expect("it was printed by us"), message);
        let (after, outputs) = participant.step(CeremonyEvent::Message(message.clone()));
        assert!(!outputs.is_empty() || message.seen().is_signed(ceremony));
        participant = after;
        participant = participant.step(CeremonyEvent::Close).0;
        messages.push(message);
    }
    let _ = judge(ceremony, &messages, Backend::auto());
    let _ = participant.culprits();
}

fn ceremony<S: Bls12381Suite>(bytes: &[u8]) {
    if let Ok(ceremony) = Ceremony::<S>::from_json(bytes, Backend::auto()) {
        let printed = ceremony.to_json();
        let again = Ceremony::<S>::from_json(printed.as_bytes(), Backend::auto()).expect("it was printed by us");
        assert!(again.id() == ceremony.id() && again.to_json() == printed);
    }
}
