//! The list of the transcripts that count, which another member wrote. No bytes make its reader panic, and what is read prints back the
//! same and names members of the ceremony once each.

use std::{collections::BTreeSet, sync::LazyLock};

use quorate::{Backend, MinPk};
use quorate_cli::commands::dkg::combination::{Combination, CombinationError};
use quorate_threshold::{
    Identifiers,
    dkg::{Ceremony, CeremonyPurpose, Description, ParticipantIdentity, Seat, Variant},
};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};
use serde_json::Value;

/// A ceremony in one round of member-1, member-2 and member-3.
static CEREMONY: LazyLock<Ceremony<MinPk>> = LazyLock::new(|| {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let identities: Vec<_> =
        (1..=3).map(|i| ParticipantIdentity::generate(&format!("member-{i}"), &mut rng).expect("a name")).collect();
    let seats = identities.iter().map(ParticipantIdentity::one_round_member).zip(1..);
    let description = Description {
        suite: MinPk::Eth2,
        purpose: CeremonyPurpose::NewKey(Variant::OneRound),
        threshold: 2,
        identifiers: Identifiers::Integers,
        dealers_needed: None,
        seats: seats
            .map(|(member, i)| Seat { member, dealer: Some(i), receiver: Some(i), weight: 1, deals: 1 })
            .collect(),
        nonce: [3; 16],
    };
    Ceremony::new(description, Backend::auto()).expect("a ceremony")
});

pub fn run(bytes: &[u8]) {
    let ceremony = &*CEREMONY;
    let read = match Combination::from_json(bytes, ceremony) {
        // The fuzzer gets beyond the digest of the ceremony.
        Err(CombinationError::OtherCeremony { .. }) => {
            let mut value: Value = serde_json::from_slice(bytes).expect("it was read");
            // An array is read as the fields in their order.
            let Some(of) = value.get_mut("ceremony") else { return };
            *of = ceremony.id().to_string().into();
            Combination::from_json(value.to_string().as_bytes(), ceremony)
        }
        read => read,
    };
    let Ok(list) = read else { return };
    crate::accepted();
    let printed = list.to_json().expect("plain types");
    assert_eq!(Combination::from_json(printed.as_bytes(), ceremony).expect("it was printed by us"), list);
    let dealers: BTreeSet<_> = list.transcripts().iter().map(|entry| &entry.dealer).collect();
    assert!(dealers.len() == list.transcripts().len() && dealers.iter().all(|dealer| dealer.starts_with("member-")));
}
