//! Signed messages that wait for their judgement.

use std::{
    collections::{BTreeMap, VecDeque},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

/// Names a signed message that waits for its judgement. There is one for each arrival, and judging uses it up.
#[derive(Debug)]
pub struct Ticket {
    number: u64,
    /// `None` once it was judged.
    judge: Option<mpsc::UnboundedSender<(u64, Judgement)>>,
}

impl Ticket {
    pub(super) fn say(&mut self, judgement: Judgement) {
        if let Some(judge) = self.judge.take() {
            // There is nobody to tell when the transport has ended.
            let _ = judge.send((self.number, judgement));
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.say(Judgement::Ignore);
    }
}

/// What becomes of a signed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// It is right: it is forwarded.
    Accept,
    /// It is false, and no honest peer sends it: it is not forwarded, and its source is banned for
    /// [`Limits::ban`](super::Limits::ban).
    Reject,
    /// It is not forwarded, and nobody is blamed.
    Ignore,
}

/// What the transport must know of a message when its judgement comes, by ticket. Bounded in number; and in time, because a
/// judgement that comes too late has no effect.
#[derive(Debug)]
pub(super) struct Tickets<T> {
    waiting: BTreeMap<u64, T>,
    ages: VecDeque<(Instant, u64)>,
    next: u64,
    most: usize,
    within: Duration,
    judge: mpsc::UnboundedSender<(u64, Judgement)>,
}

impl<T> Tickets<T> {
    /// None yet. The receiver gets the judgements: never more than tickets were given out.
    pub(super) fn new(most: usize, within: Duration) -> (Self, mpsc::UnboundedReceiver<(u64, Judgement)>) {
        let (judge, judgements) = mpsc::unbounded_channel();
        (Self { waiting: BTreeMap::new(), ages: VecDeque::new(), next: 0, most, within, judge }, judgements)
    }

    /// Whether another one fits.
    pub(super) fn has_room(&self) -> bool {
        // Both, because `ages` keeps those that were judged until their time is over.
        self.waiting.len() < self.most && self.ages.len() < 4 * self.most
    }

    pub(super) fn add(&mut self, message: T, now: Instant) -> Ticket {
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, message);
        self.ages.push_back((now + self.within, number));
        Ticket { number, judge: Some(self.judge.clone()) }
    }

    /// The message that was judged, if it still waits.
    pub(super) fn take(&mut self, number: u64) -> Option<T> {
        let message = self.waiting.remove(&number);
        while self.ages.front().is_some_and(|(_, number)| !self.waiting.contains_key(number)) {
            self.ages.pop_front();
        }
        message
    }

    /// Messages whose time is over.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<T> {
        let mut expired = Vec::new();
        while let Some(&(until, number)) = self.ages.front()
            && (until <= now || !self.waiting.contains_key(&number))
        {
            self.ages.pop_front();
            expired.extend(self.waiting.remove(&number));
        }
        expired
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_judged_once_and_a_dropped_one_is_ignored() {
        let now = Instant::now();
        let (mut tickets, mut judgements) = Tickets::new(2, Duration::from_secs(1));
        let (mut one, other) = (tickets.add('a', now), tickets.add('b', now));
        assert!(!tickets.has_room());
        one.say(Judgement::Accept);
        drop(one);
        drop(other);
        assert_eq!(judgements.try_recv(), Ok((0, Judgement::Accept)));
        assert_eq!(judgements.try_recv(), Ok((1, Judgement::Ignore)));
        assert!(judgements.try_recv().is_err());
        assert_eq!((tickets.take(0), tickets.take(0)), (Some('a'), None));
        assert!(tickets.has_room());
        assert!(tickets.expire(now).is_empty());
        assert_eq!(tickets.expire(now + Duration::from_secs(1)), ['b']);
        assert_eq!(tickets.take(1), None);
    }

    #[test]
    fn one_that_waits_does_not_keep_the_others_for_ever() {
        let now = Instant::now();
        let (mut tickets, _judgements) = Tickets::new(4, Duration::from_secs(1));
        let _first = tickets.add(0, now);
        let mut given = 0;
        while tickets.has_room() {
            let ticket = tickets.add(0, now);
            tickets.take(ticket.number);
            given += 1;
        }
        assert_eq!(given, 15, "bounded although all but one were judged");
        tickets.expire(now + Duration::from_secs(1));
        assert!(tickets.has_room());
    }
}
