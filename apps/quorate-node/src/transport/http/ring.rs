//! What the aggregator hands on: the newest messages that it judged right, by number.

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use sha2::{Digest as _, Sha256};

use super::{
    super::PeerId,
    bodies::{MAX_BATCH, MAX_BATCH_MESSAGES},
};

/// A bounded queue: the oldest messages make room. Who comes too late for one asks for it.
#[derive(Debug, Default)]
pub(super) struct Ring {
    messages: VecDeque<(Option<PeerId>, Arc<[u8]>)>,
    bytes: usize,
    /// The number of the first message in the queue.
    first: u64,
}

impl Ring {
    /// The number of the next message.
    pub(super) fn next(&self) -> u64 {
        self.first + self.messages.len() as u64
    }

    /// Adds a message of a peer, or of the aggregator itself.
    pub(super) fn push(&mut self, from: Option<PeerId>, message: Arc<[u8]>) {
        self.bytes += message.len();
        self.messages.push_back((from, message));
        while self.messages.len() > MOST || self.bytes > MOST_BYTES {
            let Some((_, message)) = self.messages.pop_front() else { break };
            self.bytes -= message.len();
            self.first += 1;
        }
    }

    /// The messages from a number on that are not the peer's own, as many as one response holds; and the number to go on with.
    pub(super) fn since(&self, number: u64, peer: &PeerId) -> (u64, Vec<Arc<[u8]>>) {
        let mut found = Vec::new();
        let mut bytes = 0;
        let mut next = number.clamp(self.first, self.next());
        let skipped = usize::try_from(next - self.first).unwrap_or(usize::MAX);
        for (from, message) in self.messages.iter().skip(skipped) {
            if from.as_ref() != Some(peer) {
                if found.len() >= MAX_BATCH_MESSAGES || bytes + message.len() > MAX_BATCH {
                    break;
                }
                bytes += message.len();
                found.push(message.clone());
            }
            next += 1;
        }
        (next, found)
    }
}

/// The hashes of the newest messages, so that one that is sent again arrives once.
#[derive(Debug, Default)]
pub(super) struct Seen {
    order: VecDeque<[u8; 32]>,
    hashes: HashSet<[u8; 32]>,
}

impl Seen {
    /// Notes a message; `false` if it was there.
    pub(super) fn note(&mut self, message: &[u8]) -> bool {
        let hash: [u8; 32] = Sha256::digest(message).into();
        if !self.hashes.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > MOST_SEEN
            && let Some(oldest) = self.order.pop_front()
        {
            self.hashes.remove(&oldest);
        }
        true
    }

    /// Forgets a message that could not be taken after all.
    pub(super) fn forget(&mut self, message: &[u8]) {
        let hash: [u8; 32] = Sha256::digest(message).into();
        if self.hashes.remove(&hash) {
            self.order.retain(|other| *other != hash);
        }
    }
}

const MOST: usize = 4096;
const MOST_BYTES: usize = 32 << 20;
const MOST_SEEN: usize = 16_384;

#[cfg(test)]
mod tests {
    use super::{super::super::Identity, *};

    #[test]
    fn each_gets_what_is_new_and_not_its_own() {
        let [one, other] = [(); 2].map(|()| Identity::random().peer_id());
        let mut ring = Ring::default();
        let message = |byte: u8| Arc::<[u8]>::from([byte].as_slice());
        ring.push(Some(one), message(0));
        ring.push(None, message(1));
        ring.push(Some(other), message(2));
        assert_eq!(ring.since(0, &one), (3, vec![message(1), message(2)]));
        assert_eq!(ring.since(1, &other), (3, vec![message(1)]));
        assert_eq!(ring.since(3, &one), (3, Vec::new()));
        assert_eq!(ring.since(99, &one), (3, Vec::new()), "a number of another run");
    }

    #[test]
    fn the_oldest_make_room_and_a_response_is_bounded() {
        let one = Identity::random().peer_id();
        let mut ring = Ring::default();
        let large = Arc::<[u8]>::from(vec![0; 60_000].as_slice());
        for _ in 0..600 {
            ring.push(None, large.clone());
        }
        assert!(ring.bytes <= MOST_BYTES && ring.first == 600 - (MOST_BYTES / 60_000) as u64);
        let (next, found) = ring.since(0, &one);
        assert_eq!((next, found.len()), (ring.first + 8, MAX_BATCH / 60_000));
        for _ in 0..2 * MOST {
            ring.push(None, Arc::from([0].as_slice()));
        }
        assert_eq!((ring.messages.len(), ring.bytes, ring.next()), (MOST, MOST, 600 + 2 * MOST as u64));
        assert_eq!(ring.since(0, &one).1.len(), MAX_BATCH_MESSAGES);
    }

    #[test]
    fn a_message_is_new_once() {
        let mut seen = Seen::default();
        assert!(seen.note(b"a") && !seen.note(b"a"));
        seen.forget(b"a");
        assert!(seen.note(b"a"));
        for number in 0..MOST_SEEN {
            seen.note(&number.to_be_bytes());
        }
        assert_eq!((seen.order.len(), seen.hashes.len()), (MOST_SEEN, MOST_SEEN));
        assert!(seen.note(b"a"), "forgotten by now");
    }
}
