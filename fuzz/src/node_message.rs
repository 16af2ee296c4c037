//! No bytes make the decoder of nodes' messages panic. What decodes has these bytes as its only encoding, and its parts
//! decode alone. The first byte chooses the kind, so that every kind is reached at once.

use quorate_evm::{alloy_primitives::Address, digest::Contract};
use quorate_network::{
    message::{Message, PeerRequest, Signed},
    wire::{decode, encode},
};

const NETWORK: Contract = Contract { chain_id: 1, address: Address::ZERO };

pub fn run(bytes: &[u8]) {
    check(bytes);
    if let [kind, body @ ..] = bytes {
        // Version, chain id, contract, kind.
        check(&[&[1, 1][..], &[0; 20], &[kind % 5 + 1], body].concat());
    }
}

fn check(bytes: &[u8]) {
    let Ok(message) = decode(bytes, NETWORK) else { return };
    crate::accepted();
    assert_eq!(encode(&message, NETWORK), bytes);
    match message {
        Message::Answer(answer) => answer.into_signed().for_each(decodes_alone),
        Message::Request(request) => {
            for held in request.tasks {
                let alone = Message::Request(PeerRequest { tasks: vec![held] });
                assert_eq!(decode(&encode(&alone, NETWORK), NETWORK), Ok(alone));
            }
        }
        Message::Signed(signed) => {
            for attestation in signed.attestations() {
                decodes_alone(Signed::Attestation(attestation.clone()));
            }
        }
    }
}

fn decodes_alone(signed: Signed) {
    let alone = Message::Signed(signed);
    assert_eq!(decode(&encode(&alone, NETWORK), NETWORK), Ok(alone));
}
