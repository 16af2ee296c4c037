//! What a protocol must do to be measured: its single steps, and a whole run among delegates and a primary.

use std::time::{Duration, Instant};

use super::sizes::MESSAGE;
use crate::row::Traffic;

/// A step of a protocol, prepared. It asserts its own answer.
pub(super) type Step<'a> = Box<dyn FnMut() + 'a>;

/// A scheme by which n delegates sign one message, or each its own, and a primary makes one signature of it. A share is what
/// a delegate sends last. A corrupted share is one that parses and that its delegate made over another message.
pub(super) trait Protocol {
    /// `scheme/library`.
    fn engine(&self) -> String;

    /// What a reader of a row must know: who signs, which backend, which checks are inside.
    fn note(&self) -> String;

    /// The sum of all delegates' keys. `None` if the scheme sums no keys.
    fn aggregate_keys(&self) -> Option<Step<'_>>;

    /// What one delegate does in all its rounds, from decoded points.
    fn sign(&self) -> Step<'_>;

    /// The signature from all shares that it takes, from decoded points. `None` if the shares stand side by side.
    fn aggregate(&self) -> Option<Step<'_>>;

    /// What the verifier of the signature does, keys summed before.
    fn verify(&self) -> Step<'_>;

    /// Which of n shares are corrupted, from decoded points. It asserts that they are those.
    fn find_bad(&self, corrupted: &[usize]) -> Step<'_>;

    /// A run in which these delegates send corrupted shares. All that is sent and computed goes through the ledger.
    fn run(&self, corrupted: &[usize], ledger: &mut Ledger) -> Finished;

    /// Whether a verifier that is independent of the protocol's library, or of the engine's batches, accepts it.
    fn accepts(&self, finished: &Finished) -> bool;
}

/// How a run ended.
#[derive(Clone, Debug)]
pub(super) struct Finished {
    /// The final signature as bytes, with a bitmap of the signers if the verifier needs one.
    pub(super) result: Vec<u8>,
    /// Whose shares are in it.
    pub(super) signers: Vec<usize>,
}

/// The time that each party computes, and the bytes that it sends.
#[derive(Debug)]
pub(super) struct Ledger {
    delegates: Vec<Party>,
    primary: Duration,
    attempts: usize,
    rounds: usize,
}

#[derive(Clone, Debug, Default)]
struct Party {
    time: Duration,
    sent: usize,
    received: usize,
    /// Messages to the primary in this attempt.
    messages: usize,
}

impl Ledger {
    pub(super) fn new(delegates: usize) -> Self {
        let delegates = vec![Party::default(); delegates];
        Self { delegates, primary: Duration::ZERO, attempts: 0, rounds: 0 }
    }

    /// Another attempt begins.
    pub(super) fn attempt(&mut self) {
        self.attempts += 1;
        self.delegates.iter_mut().for_each(|party| party.messages = 0);
    }

    /// A delegate computes something and sends the bytes to the primary.
    pub(super) fn delegate<T>(&mut self, index: usize, work: impl FnOnce() -> (Vec<u8>, T)) -> (Vec<u8>, T) {
        let start = Instant::now();
        let (message, kept) = work();
        let party = &mut self.delegates[index];
        party.time += start.elapsed();
        party.sent += message.len();
        party.messages += 1;
        self.rounds = self.rounds.max(party.messages);
        (message, kept)
    }

    /// An attempt of one round: each delegate sends a share, which `share` makes from its index and whether it is corrupted.
    pub(super) fn one_round(&mut self, corrupted: &[usize], share: impl Fn(usize, bool) -> Vec<u8>) -> Vec<Vec<u8>> {
        self.attempt();
        let delegates = 0..self.delegates.len();
        delegates.map(|i| self.delegate(i, || (share(i, corrupted.contains(&i)), ())).0).collect()
    }

    /// The primary computes something.
    pub(super) fn primary<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let made = work();
        self.primary += start.elapsed();
        made
    }

    /// The primary sends the same bytes to these delegates.
    pub(super) fn send_to(&mut self, to: &[usize], message: &[u8]) {
        for index in to {
            self.delegates[*index].received += message.len();
        }
    }

    /// Microseconds of a good delegate that took part, on average.
    pub(super) fn delegate_us(&self, corrupted: &[usize]) -> f64 {
        let good = self.delegates.iter().enumerate().filter(|(index, _)| !corrupted.contains(index));
        let times: Vec<_> =
            good.filter(|(_, party)| party.sent > 0).map(|(_, party)| party.time.as_secs_f64() * 1e6).collect();
        times.iter().sum::<f64>() / times.len() as f64
    }

    /// Microseconds of the primary. It is a delegate, too; what it computes as one is not in it.
    pub(super) fn primary_us(&self) -> f64 {
        self.primary.as_secs_f64() * 1e6
    }

    /// Bytes are those of the delegate that sent the most, and of the one that received the most.
    pub(super) fn traffic(&self, finished: &Finished) -> Traffic {
        let greatest = |bytes: fn(&Party) -> usize| self.delegates.iter().map(bytes).max().unwrap_or_default();
        Traffic {
            rounds: self.rounds,
            restarts: self.attempts - 1,
            delegate_bytes: greatest(|party| party.sent),
            primary_bytes: greatest(|party| party.received),
            result_bytes: finished.result.len(),
        }
    }
}

/// Which `bad` of n delegates are corrupted: spread evenly.
pub(super) fn corrupted(n: usize, bad: usize) -> Vec<usize> {
    let step = n.checked_div(bad).unwrap_or(n);
    (0..bad).map(|i| i * step + step / 2).collect()
}

/// Those of n that are not in the list.
pub(super) fn others(n: usize, list: &[usize]) -> Vec<usize> {
    (0..n).filter(|index| !list.contains(index)).collect()
}

/// A bit for each of n delegates, the first in the lowest bit of the first byte.
pub(super) fn bitmap(n: usize, members: &[usize]) -> Vec<u8> {
    let mut bytes = vec![0; n.div_ceil(8)];
    for member in members {
        bytes[member / 8] |= 1 << (member % 8);
    }
    bytes
}

/// The message of all delegates where they sign the same one.
pub(super) fn message() -> Vec<u8> {
    vec![0x5a; MESSAGE]
}

/// A message that only one delegate signs: its number stands in front.
pub(super) fn message_of(index: usize) -> Vec<u8> {
    let mut message = message();
    message[..8].copy_from_slice(&(index as u64).to_le_bytes());
    message
}

/// What a corrupted delegate signs instead.
pub(super) fn another_message() -> Vec<u8> {
    vec![0xa5; MESSAGE]
}

/// 32 bytes that become a delegate's secret key: below the order of every group.
pub(super) fn seed(index: usize) -> [u8; 32] {
    let mut seed = [1; 32];
    seed[..8].copy_from_slice(&(index as u64).to_be_bytes());
    seed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corrupted_delegates_are_spread() {
        assert!(corrupted(32, 0).is_empty());
        assert_eq!(corrupted(32, 1), [16]);
        assert_eq!(corrupted(32, 10), [1, 4, 7, 10, 13, 16, 19, 22, 25, 28]);
        assert_eq!(corrupted(5, 5), [0, 1, 2, 3, 4]);
        assert_eq!(others(5, &[1, 3]), [0, 2, 4]);
    }

    #[test]
    fn a_bitmap_has_a_bit_for_each_delegate() {
        assert_eq!(bitmap(32, &[0, 9, 31]), [1, 2, 0, 0x80]);
        assert_eq!(bitmap(5, &[4]), [0x10]);
    }

    /// Two attempts of two rounds: the first with all, the second without delegate 1, who was corrupted.
    #[test]
    fn a_ledger_counts_rounds_restarts_and_bytes() {
        let mut ledger = Ledger::new(3);
        for signers in [&[0, 1, 2][..], &[0, 2]] {
            ledger.attempt();
            ledger.send_to(signers, &[0; 5]);
            for index in signers {
                ledger.delegate(*index, || (vec![0; 66], ()));
            }
            for index in signers {
                ledger.delegate(*index, || (vec![0; 32], ()));
            }
        }
        let finished = Finished { result: vec![0; 64], signers: vec![0, 2] };
        let expected = Traffic { rounds: 2, restarts: 1, delegate_bytes: 196, primary_bytes: 10, result_bytes: 64 };
        assert_eq!(ledger.traffic(&finished), expected);
        ledger.delegates[0].time = Duration::from_micros(10);
        ledger.delegates[1].time = Duration::from_micros(1_000);
        ledger.delegates[2].time = Duration::from_micros(20);
        assert_eq!(ledger.delegate_us(&[1]), 15.0);
    }
}
