//! Old shares of a key that was shared anew: who has them when their files are deleted.
#![allow(clippy::unwrap_used, reason = "what a test cannot set up fails it")]

use quorate::{MinPk, Options};

use super::{
    ceremony::{CeremonyPurpose, Variant},
    participant::{CeremonyEvent, Participant},
    round::Round,
    simulator::{Behaviour, Faults, Simulation, assert_signs, description, member_seed, recovery},
};
use crate::KeyShare;

/// The share that a ceremony gave a member, by its identity and by what anyone may read. The seed is not that of the member.
fn share_again(simulation: &Simulation<MinPk>, place: usize) -> KeyShare<MinPk> {
    let (ceremony, identity) = (simulation.ceremony.clone(), simulation.identities[place].clone());
    let joined = Participant::join(ceremony, identity, member_seed(99), None, Options::default());
    let (mut thief, _) = joined.unwrap();
    // In the place of its own deal it takes that of the member.
    thief.pretend(Round::Deal, None);
    for message in simulation.participants.iter().flat_map(|participant| participant.published()) {
        thief = thief.step(CeremonyEvent::Message(message.clone())).0;
    }
    while thief.end().is_none() {
        thief = thief.step(CeremonyEvent::Close).0;
    }
    thief.end().unwrap().as_ref().unwrap().key_share.clone().unwrap()
}

/// After a refresh with the same identities, whoever gets one of them has the member's old share, whatever was deleted. Together with an
/// old share that was stolen before, it makes signatures of the key. A share that a recovery gave back is there as well.
#[test]
fn an_identity_and_the_messages_give_the_old_share_again() {
    let honest = [Behaviour::Honest; 4];
    let new_key = description(MinPk::Eth2, 2, 3, CeremonyPurpose::NewKey(Variant::JointFeldman));
    let mut first = Simulation::new(new_key, &[], &honest[..3], Faults::default(), 1);
    first.run();
    let outcomes = first.participants.iter().map(|participant| participant.end().unwrap().as_ref().unwrap());
    let outcomes: Vec<_> = outcomes.collect();
    let old_shares: Vec<_> = outcomes.iter().map(|outcome| outcome.key_share.clone()).collect();
    let old_key = &outcomes[0].shared_key;
    let refresh = description(MinPk::Eth2, 2, 3, CeremonyPurpose::Reshare(old_key.clone()));
    let mut second = Simulation::new(refresh, &old_shares, &honest[..3], Faults::default(), 2);
    second.run();
    let refreshed = &second.participants[0].end().unwrap().as_ref().unwrap().shared_key;
    assert_eq!(refreshed.public_key(), old_key.public_key());
    assert_signs(old_key, &[old_shares[0].clone().unwrap(), share_again(&first, 1)]);

    let (description, held, shares) = recovery(&[1, 2, 3], 4);
    let mut recovered = Simulation::new(description, &held, &honest, Faults::default(), 3);
    recovered.run();
    assert_eq!(*share_again(&recovered, 0).secret().to_bytes(), *shares[3].secret().to_bytes());
}
