//! The list of the transcripts that count, which another member wrote. No bytes make its reader panic, and what is read prints back the
//! same and names members of the ceremony once each.

use std::{collections::BTreeSet, sync::LazyLock};

use quorate::MinPk;
use quorate_cli::commands::dkg::combination::{Combination, CombinationError};
use quorate_threshold::dkg::{Ceremony, ParticipantIdentity, Variant};
use serde_json::Value;

static CEREMONY: LazyLock<Ceremony<MinPk>> =
    LazyLock::new(|| crate::dkg::of_three(Variant::OneRound, ParticipantIdentity::one_round_member).0);

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
