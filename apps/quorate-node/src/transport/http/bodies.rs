//! The bodies of requests and responses, and what both sides sign. All are postcard; messages are as
//! [`wire`] has them. They are public so that other programs, such as fuzzers, can make and read them;
//! nothing of a signature or a name is verified here.

use quorate_evm::digest::Contract;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::super::{PeerId, handle::OPEN_QUESTIONS};
use quorate_network::{message::MAX_MESSAGE, wire};

/// What the aggregator asks a node to sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// Random bytes, which are good once.
    pub bytes: [u8; 32],
    /// The aggregator's name.
    pub server: Vec<u8>,
}

/// A node says who it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    /// What the aggregator asked it to sign.
    pub challenge: [u8; 32],
    /// Random bytes, which the aggregator signs.
    pub nonce: [u8; 32],
    /// The node's name.
    pub peer: Vec<u8>,
    /// Its signature over [`statement`].
    pub signature: Vec<u8>,
    /// The bytes of its [`Hello`](super::super::handshake::Hello).
    pub hello: Vec<u8>,
}

/// What the aggregator says to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Opened {
    /// The node is admitted.
    Session {
        /// What the node shows with each request, as hexadecimal digits.
        token: [u8; 32],
        /// The aggregator's signature over [`statement`].
        signature: Vec<u8>,
        /// The bytes of its [`Hello`](super::super::handshake::Hello).
        hello: Vec<u8>,
        /// Which run of the aggregator this is. The numbers of its messages begin anew with each run.
        run: u64,
        /// The number of its next message.
        next: u64,
        /// The longest time, in milliseconds, that a question for news is kept open.
        poll_ms: u64,
    },
    /// The aggregator's chain is behind.
    NotYet,
    /// Why the node is not admitted.
    Refused(String),
}

/// What is new at the aggregator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// From which number on to ask next.
    pub next: u64,
    /// Signed messages: at most [`MAX_BATCH_MESSAGES`].
    pub messages: Vec<Vec<u8>>,
    /// Questions to this node, by number: at most [`MAX_QUESTIONS`].
    pub questions: Vec<(u64, Vec<u8>)>,
}

/// Who signs a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The node that opens the session.
    Node = 0,
    /// The aggregator.
    Aggregator = 1,
}

/// What both sides sign with their own keys: that they open this session, with each other, in this network.
pub fn statement(
    side: Side,
    network: Contract,
    node: &PeerId,
    aggregator: &PeerId,
    challenge: &[u8; 32],
    nonce: &[u8; 32],
) -> Vec<u8> {
    let Contract { chain_id, address } = network;
    // All parts have fixed lengths.
    let (node, aggregator) = (node.to_bytes(), aggregator.to_bytes());
    let head = [&b"quorate.http.session"[..], &[wire::VERSION, side as u8], &chain_id.to_be_bytes()].concat();
    [&head[..], address.as_slice(), &node, &aggregator, challenge, nonce].concat()
}

/// The bytes of a body.
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).expect("bytes and lists always encode, and a vector grows")
}

/// `None` for anything else, also if bytes follow.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// The signed messages of a request. `None` for anything else, and for more than [`MAX_BATCH_MESSAGES`]: their number
/// is looked at before they are read, so that the bytes of a body make no millions of empty messages.
pub fn decode_batch(bytes: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (count, _) = postcard::take_from_bytes::<u64>(bytes).ok()?;
    (count <= MAX_BATCH_MESSAGES as u64).then(|| decode(bytes)).flatten()
}

/// News within their limits. `None` for anything else. The number of messages is looked at first, as that of a batch; that of
/// questions once they are read.
pub fn decode_news(bytes: &[u8]) -> Option<News> {
    let ((_, count), _) = postcard::take_from_bytes::<(u64, u64)>(bytes).ok()?;
    let news = (count <= MAX_BATCH_MESSAGES as u64).then(|| decode::<News>(bytes)).flatten()?;
    (news.questions.len() <= MAX_QUESTIONS).then_some(news)
}

/// The most bytes of a [`Challenge`], an [`Opening`] or an [`Opened`].
pub const MAX_OPENING: usize = 4 * 1024;
/// The most bytes of messages in one request or response, beside their lengths: one message always fits.
pub const MAX_BATCH: usize = MAX_MESSAGE;
/// The most messages of a batch.
pub const MAX_BATCH_MESSAGES: usize = 256;
/// The most questions in one response: so many of one node are open at a time.
pub const MAX_QUESTIONS: usize = OPEN_QUESTIONS;
/// The most bytes of a batch, with room for lengths, and of [`News`] for its questions.
pub const MAX_BODY: usize = 5 * MAX_BATCH;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        super::super::{Identity, tests::rig::NETWORK},
        *,
    };

    #[test]
    fn a_statement_tells_everything_apart() {
        let [one, other] = [(); 2].map(|()| Identity::random().peer_id());
        let statements = [
            statement(Side::Node, NETWORK, &one, &other, &[1; 32], &[2; 32]),
            statement(Side::Aggregator, NETWORK, &one, &other, &[1; 32], &[2; 32]),
            statement(Side::Node, Contract { chain_id: 1, ..NETWORK }, &one, &other, &[1; 32], &[2; 32]),
            statement(Side::Node, NETWORK, &other, &one, &[1; 32], &[2; 32]),
            statement(Side::Node, NETWORK, &one, &other, &[2; 32], &[1; 32]),
        ];
        let distinct: std::collections::HashSet<_> = statements.iter().collect();
        assert_eq!(distinct.len(), statements.len());
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            let _ = (decode::<Challenge>(&bytes), decode::<Opening>(&bytes), decode::<Opened>(&bytes));
            if let Some(news) = decode::<News>(&bytes) {
                prop_assert!(news.messages.len() + news.questions.len() <= bytes.len());
            }
        }
    }
}
