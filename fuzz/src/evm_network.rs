//! The input of `quorate evm plan`: no text makes the reader panic, and what it reads is written and read as the same.

use quorate_evm::Network;

pub fn run(json: &[u8]) {
    let Ok(network) = Network::from_json(json) else { return };
    crate::accepted();
    let again = serde_json::to_vec(&network).expect("plain types");
    assert_eq!(Network::from_json(&again).expect("what we write we read"), network);
}
