//! No document makes the light client panic, be it told a committee, taught one or asked for claims.

use quorate_formats::light_client::{BeaconNetwork, Document, MIN_PARTICIPANTS, SyncCommittees};

pub fn run(bytes: &[u8]) {
    for network in ["mainnet", "sepolia"] {
        let network: BeaconNetwork = network.parse().expect("it is built in");
        let mut committees = SyncCommittees::default();
        if let Ok(text) = std::str::from_utf8(bytes) {
            let _ = committees.add_file(text, "told", Some(1), &network);
        }
        if let Ok(document) = Document::read(bytes, 0, "fuzzed") {
            let documents = [document];
            let _ = committees.learn(&documents, &network, MIN_PARTICIPANTS);
            for record in documents[0].records(&committees, &network, MIN_PARTICIPANTS) {
                if record.is_ok() {
                    crate::accepted();
                }
            }
        }
    }
}
