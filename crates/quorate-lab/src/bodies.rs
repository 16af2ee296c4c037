//! What must hold for any bytes that a peer says in a handshake or over HTTP: for tests with random bytes, and for the
//! fuzzer.

use std::fmt::Debug;

use quorate_node::transport::{
    PeerId,
    handshake::{Hello, MAX_ADDRESS, MAX_ADDRESSES, MAX_HELLO, MAX_REASON, MAX_REPLY, MAX_TOLD, Reply},
    http::bodies::{
        Challenge, MAX_BATCH_MESSAGES, MAX_QUESTIONS, News, Opened, Opening, decode, decode_batch, decode_news, encode,
    },
};

/// How many kinds of bodies there are.
pub const KINDS: u8 = 8;

/// Reads bytes as a body of a kind. Whether it is one.
pub fn check(kind: u8, bytes: &[u8]) -> bool {
    match kind % KINDS {
        0 => hello(bytes),
        1 => reply(bytes),
        2 => again(decode::<Challenge>(bytes), encode, decode),
        3 => opening(bytes),
        4 => {
            let found: Option<Opened> = decode(bytes);
            if let Some(Opened::Session { hello: shown, .. }) = &found {
                hello(shown);
            }
            again(found, encode, decode)
        }
        5 => batch(bytes),
        6 => news(bytes),
        _ => again(PeerId::try_from(bytes).ok(), PeerId::to_bytes, |bytes| PeerId::try_from(bytes).ok()),
    }
}

/// What was read is written and read as the same.
fn again<T: PartialEq + Debug>(
    value: Option<T>,
    write: impl Fn(&T) -> Vec<u8>,
    read: impl Fn(&[u8]) -> Option<T>,
) -> bool {
    let Some(value) = value else { return false };
    assert_eq!(read(&write(&value)).as_ref(), Some(&value));
    true
}

fn hello(bytes: &[u8]) -> bool {
    let found = Hello::decode(bytes);
    if let Some(hello) = &found {
        assert!(bytes.len() <= MAX_HELLO && hello.encode().len() <= MAX_HELLO);
        let credential = hello.credential();
        let parts = [&credential.operator_key, &credential.signature];
        assert!(parts.iter().all(|part| (1..=256).contains(&part.len())), "{hello:?}");
        assert!(hello.addresses().len() <= MAX_ADDRESSES, "{hello:?}");
        assert!(hello.addresses().iter().all(|address| address.len() <= MAX_ADDRESS), "{hello:?}");
        assert_eq!(&Hello::new(&credential, hello.addresses().to_vec()), hello);
    }
    again(found, Hello::encode, Hello::decode)
}

fn reply(bytes: &[u8]) -> bool {
    let found = Reply::decode(bytes);
    match &found {
        Some(Reply::Welcome(told) | Reply::Full(told)) => {
            assert!(bytes.len() <= MAX_REPLY && told.len() <= MAX_TOLD);
            for told in told {
                assert!(told.peer.len() <= 64 && told.addresses.len() <= MAX_ADDRESSES, "{told:?}");
                assert!(told.addresses.iter().all(|address| address.len() <= MAX_ADDRESS), "{told:?}");
            }
        }
        Some(Reply::Refused(reason)) => assert!(reason.len() <= MAX_REASON),
        Some(Reply::NotYet) | None => {}
    }
    again(found, Reply::encode, Reply::decode)
}

fn opening(bytes: &[u8]) -> bool {
    let found: Option<Opening> = decode(bytes);
    if let Some(opening) = &found {
        hello(&opening.hello);
        again(PeerId::try_from(opening.peer.as_slice()).ok(), PeerId::to_bytes, |bytes| PeerId::try_from(bytes).ok());
    }
    again(found, encode, decode)
}

fn batch(bytes: &[u8]) -> bool {
    let found = decode_batch(bytes);
    if let Some(messages) = &found {
        let sum: usize = messages.iter().map(Vec::len).sum();
        assert!(messages.len() <= MAX_BATCH_MESSAGES && sum <= bytes.len());
    }
    again(found, encode, decode_batch)
}

fn news(bytes: &[u8]) -> bool {
    let found = decode_news(bytes);
    if let Some(News { messages, questions, .. }) = &found {
        let lengths = messages.iter().chain(questions.iter().map(|(_, bytes)| bytes)).map(Vec::len);
        assert!(messages.len() <= MAX_BATCH_MESSAGES && questions.len() <= MAX_QUESTIONS);
        assert!(lengths.sum::<usize>() <= bytes.len());
    }
    again(found, encode, decode_news)
}
