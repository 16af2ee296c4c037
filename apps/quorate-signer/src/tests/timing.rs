//! Whether the time of a signature over the socket tells something about the key: see [`quorate_lab::timing`]. Run by `make timing`.

use std::{
    cell::Cell,
    future::{Ready, pending},
};

use quorate_lab::timing::{FIXED, finds_a_leak, leaks};
use tokio::runtime::{Builder, Runtime};

use super::*;

/// Signers of each class. Each has its socket and its record, whose places in memory and on disk make small differences, too.
const EACH: usize = 64;

/// Whom to ask for a signature that is not written down, so that the disk is not measured.
const PEER: [u8; 38] = [7; 38];

#[test]
#[ignore = "takes a minute, optimised: run `make timing`"]
fn a_key_does_not_show_in_the_time_of_a_signature_over_the_socket() {
    assert!(finds_a_leak());
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = private_folder();
    let clients: Vec<_> = (0..2 * EACH).map(|place| listening(&runtime, folder.path(), place)).collect();
    let next = Cell::new(0);
    let client = |secret: [u8; 32]| {
        next.set((next.get() + 1) % EACH);
        &clients[next.get() + if secret == FIXED { 0 } else { EACH }]
    };
    let binding = PeerBinding { network: NETWORK.domain(), peer: &PEER };
    let leak = leaks("a signature over the signer's socket", 10_000, 1, client, |client| {
        runtime.block_on(client.bind_peer(&binding)).expect("signs")
    });
    assert!(!leak, "the time of a signature tells something about the key");
}

/// The client of a new signer: the first ones have the same key, each of the others has its own.
fn listening(runtime: &Runtime, folder: &Path, place: usize) -> SignerClient {
    let group = KeyGroup::Bls12381G2;
    let key = if place < EACH {
        OperatorKey::from_bytes(group, &FIXED).expect("a key")
    } else {
        OperatorKey::from_entropy(group, &[place as u8; 48])
    };
    let mut config = config_of(group);
    config.identity.public_key = key.member();
    let data = folder.join(format!("{place}"));
    let store = Store::create(&data, &config, 0).expect("a new record");
    let signer = Arc::new(Signer::new(key, store, None).expect("the same key"));
    let socket = folder.join(format!("{place}.sock"));
    let _guard = runtime.enter();
    let listener = UnixListener::bind(&socket).expect("binds");
    runtime.spawn(async move { serve(&listener, signer, pending::<Ready<()>>()).await });
    SignerClient::new(socket)
}
