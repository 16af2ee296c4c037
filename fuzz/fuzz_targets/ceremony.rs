//! No text makes the readers of ceremonies, identities, messages, evidence and states panic, what they read prints back
//! the same, and a participant takes no message that it does not know who signed.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use quorate::{Backend, MinPk, Options};
use quorate_threshold::{
    Identifiers,
    dkg::{
        Blame, Ceremony, Description, Event, Identity, Member, Message, Output, Participant, Purpose, Seat, Variant,
    },
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use zeroize::Zeroizing;

/// A ceremony of three, and one of them at its start.
struct Fixture {
    ceremony: Ceremony<MinPk>,
    identity: Identity,
    participant: Participant<MinPk>,
}

static FIXTURE: LazyLock<Fixture> = LazyLock::new(|| {
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let identities = ["alice", "bob", "carol"].map(|name| Identity::generate(name, &mut rng).expect("a name"));
    let seat = |(member, i)| Seat { member, dealer: Some(i), receiver: Some(i) };
    let description = Description {
        suite: MinPk::Eth2,
        purpose: Purpose::NewKey(Variant::JointFeldman),
        threshold: 2,
        identifiers: Identifiers::Integers,
        dealers_needed: None,
        seats: identities.iter().map(Identity::member).zip(1..).map(seat).collect(),
        nonce: [7; 16],
    };
    let ceremony = Ceremony::new(description, Backend::auto()).expect("a ceremony");
    let [identity, ..] = identities;
    let seed = Zeroizing::new([9; 32]);
    let joined = Participant::join(ceremony.clone(), identity.clone(), seed, None, Options::default());
    Fixture { ceremony, identity, participant: joined.expect("a member").0 }
});

fuzz_target!(|bytes: &[u8]| {
    let Fixture { ceremony, identity, participant } = &*FIXTURE;
    let backend = Backend::auto();
    if let Ok(message) = Message::from_json(bytes) {
        let printed = message.to_json();
        assert_eq!(Message::from_json(printed.as_bytes()).expect("it was printed by us"), message);
        let (after, outputs) = participant.clone().step(Event::Message(message.clone()));
        let taken = !outputs.iter().any(|output| matches!(output, Output::Refused(_)));
        assert!(!taken || message.seen().is_signed(ceremony));
        let _ = after.step(Event::Close);
    }
    if let Ok(read) = Ceremony::<MinPk>::from_json(bytes, backend) {
        let printed = read.to_json();
        let again = Ceremony::<MinPk>::from_json(printed.as_bytes(), backend).expect("it was printed by us");
        assert_eq!((again.id(), again.to_json()), (read.id(), printed));
    }
    if let Ok(read) = Identity::from_json(bytes) {
        let again = Identity::from_json(read.to_json().as_bytes()).expect("it was printed by us");
        assert_eq!(again.member(), read.member());
    }
    if let Ok(read) = serde_json::from_slice::<Member>(bytes) {
        let printed = serde_json::to_vec(&read).expect("JSON");
        assert_eq!(serde_json::from_slice::<Member>(&printed).expect("it was printed by us"), read);
    }
    if let Ok(blames) = Blame::from_json(ceremony, bytes, backend) {
        for blame in blames {
            let again = Blame::from_json(ceremony, blame.to_json().as_bytes(), backend).expect("it was printed by us");
            assert!(again.contains(&blame), "{blame:?}");
        }
    }
    if let Ok(state) = Participant::from_json(bytes, ceremony.clone(), identity.clone(), Options::default()) {
        let printed = state.to_json();
        let again = Participant::from_json(printed.as_bytes(), ceremony.clone(), identity.clone(), Options::default());
        assert_eq!(*again.expect("it was printed by us").to_json(), *printed);
    }
});
