//! The bytes of handshakes and of HTTP bodies: what is right comes back, random and damaged bytes never panic, and
//! nothing that is read is beyond its limits. The fuzz target `node_bodies` looks for more of the same.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use quorate_lab::{
    bodies::{KINDS, check},
    needs::checkout,
};
use quorate_node::transport::{
    Credential, Identity,
    handshake::{Hello, MAX_ADDRESS, MAX_ADDRESSES, MAX_TOLD, Reply, Told},
    http::bodies::{
        Challenge, MAX_BATCH_MESSAGES, MAX_QUESTIONS, News, Opened, Opening, decode_batch, decode_news, encode,
    },
};

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..=most)
}

prop_compose! {
    fn hello()(
        key in prop::collection::vec(any::<u8>(), 1..=256),
        signature in prop::collection::vec(any::<u8>(), 1..=256),
        addresses in prop::collection::vec(bytes(MAX_ADDRESS), 0..=MAX_ADDRESSES),
    ) -> Vec<u8> {
        Hello::new(&Credential { operator_key: key.into(), signature: signature.into() }, addresses).encode()
    }
}

fn told() -> impl Strategy<Value = Vec<Told>> {
    let addresses = prop::collection::vec(bytes(MAX_ADDRESS), 0..=MAX_ADDRESSES);
    let one = (bytes(64), addresses).prop_map(|(peer, addresses)| Told { peer, addresses });
    prop::collection::vec(one, 0..=MAX_TOLD)
}

fn reply() -> impl Strategy<Value = Vec<u8>> {
    let reply = prop_oneof![
        told().prop_map(Reply::Welcome),
        told().prop_map(Reply::Full),
        Just(Reply::NotYet),
        "\\PC{0,300}".prop_map(|reason| Reply::refused(&reason)),
    ];
    reply.prop_map(|reply| reply.encode())
}

fn opened() -> impl Strategy<Value = Vec<u8>> {
    let session = (any::<([u8; 32], u64, u64, u64)>(), bytes(64), hello());
    let session = session.prop_map(|((token, run, next, poll_ms), signature, hello)| {
        encode(&Opened::Session { token, signature, hello, run, next, poll_ms })
    });
    prop_oneof![
        session,
        Just(encode(&Opened::NotYet)),
        "\\PC{0,300}".prop_map(|reason| encode(&Opened::Refused(reason))),
    ]
}

fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(bytes(60), 0..=MAX_BATCH_MESSAGES)
}

/// A body that is right, with its kind.
fn right() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let challenge = (any::<[u8; 32]>(), bytes(64)).prop_map(|(bytes, server)| encode(&Challenge { bytes, server }));
    let opening = (any::<([u8; 32], [u8; 32])>(), bytes(64), bytes(64), hello()).prop_map(
        |((challenge, nonce), peer, signature, hello)| encode(&Opening { challenge, nonce, peer, signature, hello }),
    );
    let questions = prop::collection::vec((any::<u64>(), bytes(60)), 0..=MAX_QUESTIONS);
    let news = (any::<u64>(), messages(), questions)
        .prop_map(|(next, messages, questions)| encode(&News { next, messages, questions }));
    let peer = any::<bool>().prop_map(|_| Identity::random().peer_id().to_bytes());
    prop_oneof![
        (Just(0), hello()),
        (Just(1), reply()),
        (Just(2), challenge),
        (Just(3), opening),
        (Just(4), opened()),
        (Just(5), messages().prop_map(|messages| encode(&messages))),
        (Just(6), news),
        (Just(7), peer),
    ]
}

proptest! {
    #[test]
    fn what_is_right_is_read((kind, bytes) in right()) {
        prop_assert!(check(kind, &bytes), "kind {}: {:?}", kind, bytes);
        // Nothing may follow, and nothing be missing.
        prop_assert!(!check(kind, &[&bytes[..], &[0]].concat()));
        prop_assert!(!check(kind, &bytes[..bytes.len() - 1]));
    }

    #[test]
    fn random_bytes_never_panic(kind in 0..KINDS, bytes in bytes(600)) {
        check(kind, &bytes);
    }

    #[test]
    fn damaged_bytes_never_panic(
        (kind, mut bytes) in right(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        other in 0..KINDS,
    ) {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        check(kind, &bytes);
        check(other, &bytes);
    }
}

/// A body of one byte a message, which would be millions of them.
#[test]
fn more_messages_than_allowed_are_not_read() {
    assert!(decode_batch(&encode(&vec![Vec::<u8>::new(); MAX_BATCH_MESSAGES])).is_some());
    assert_eq!(decode_batch(&encode(&vec![Vec::<u8>::new(); MAX_BATCH_MESSAGES + 1])), None);
    let of = |messages, questions| News {
        next: 0,
        messages: vec![Vec::new(); messages],
        questions: vec![(0, Vec::new()); questions],
    };
    assert!(decode_news(&encode(&of(MAX_BATCH_MESSAGES, MAX_QUESTIONS))).is_some());
    assert_eq!(decode_news(&encode(&of(MAX_BATCH_MESSAGES + 1, 0))), None);
    assert_eq!(decode_news(&encode(&of(0, MAX_QUESTIONS + 1))), None);
}

/// The seeds of the fuzzer are what they say.
#[test]
fn the_seeds_of_the_fuzzer_are_read() {
    let mut found = 0;
    for entry in std::fs::read_dir(checkout().join("fuzz/seeds")).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("node-bodies-") {
            let bytes = std::fs::read(&path).unwrap();
            assert!(check(bytes[0], &bytes[1..]), "{}", path.display());
            found += 1;
        }
    }
    assert_eq!(found, 7);
}
