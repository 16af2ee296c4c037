//! Nonces, fees, replacements and reorganisations as a state machine: no I/O, and no clock but the caller's
//! milliseconds.
//!
//! Each nonce that is in use is a *flight*: a call, the transactions that were sent for it, and the one that was mined.
//! The driver asks the node, tells the machine what it saw ([`Machine::observe`]), and does what it says
//! ([`Machine::due`]).

use std::collections::{BTreeMap, VecDeque};

use alloy::primitives::B256;

use super::call::{Call, SubmitEvent, SubmitSettings};
use crate::fees::{Fees, Prices};

/// The calls and transactions of one account.
#[derive(Debug)]
pub(super) struct Machine<L> {
    settings: SubmitSettings,
    /// Calls that have no nonce, in their order.
    waiting: VecDeque<Waiting<L>>,
    flights: BTreeMap<u64, Flight<L>>,
    /// The first nonce that no block uses: as the node says, but never above what is known to be used.
    nonce: u64,
    /// A larger number that the node says, and the last block in which it said so, and in how many blocks it did.
    higher: (u64, u64, u32),
    /// One more than the largest nonce of a transaction that is final: a node that is behind says less.
    used: u64,
    /// The last block in which calls were behind a gap, and in how many blocks they were.
    gap: (u64, u32),
}

#[derive(Debug)]
struct Waiting<L> {
    call: Call<L>,
    since: u64,
}

/// A nonce that is in use.
#[derive(Debug)]
struct Flight<L> {
    /// None if it was found at the start.
    call: Option<Call<L>>,
    gas_limit: u64,
    /// When the call was submitted, or the flight found, or a reorganisation undid what was mined: it is given up some time after that.
    since: u64,
    /// When something was sent for it; none if a reorganisation undid it, so that it is sent again at once.
    last_sent: Option<u64>,
    sent: Vec<Sent>,
    mined: Option<Mined>,
    /// The last block in which the nonce was used and none of its transactions was found, and in how many blocks that
    /// was so.
    missed: (u64, u32),
    /// Whether it was told that nothing more can be sent for it.
    is_stuck: bool,
}

/// A transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sent {
    hash: B256,
    fees: Fees,
    content: Content,
}

/// What a transaction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The call.
    Call,
    /// A transfer of nothing to the account itself, which takes the nonce.
    Nothing,
}

/// Where a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mined {
    pub(super) hash: B256,
    pub(super) block: u64,
    pub(super) block_hash: B256,
    pub(super) gas_used: u64,
    pub(super) fee_paid: u128,
    pub(super) succeeded: bool,
}

/// What the node said.
#[derive(Clone, Debug, Default)]
pub(super) struct Sight {
    /// The number of the newest block.
    pub(super) newest: u64,
    /// The number of the last final block.
    pub(super) last_final: Option<u64>,
    /// The first nonce that no block uses.
    pub(super) nonce: u64,
    /// Where the transactions of [`Machine::unfinished`] are, as far as they are in a block.
    pub(super) mined: BTreeMap<B256, Mined>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Due<L> {
    /// Sign and send a transaction, and tell [`Machine::sent`] before it leaves.
    Send { nonce: u64, call: Option<Call<L>>, gas_limit: u64, fees: Fees, content: Content },
    /// Send the transaction with this hash again.
    Again { hash: B256 },
    /// Tell that nothing more can be sent for a nonce.
    Tell(SubmitEvent<L>),
}

/// How many blocks must say that a nonce was used by something else before a call gets another nonce.
const SURE: u32 = 3;
/// So many transactions are known at a time, with those that are mined and not final.
const MOST_NOT_FINAL: usize = 65_536;
/// The gas of a transfer of nothing.
const TRANSFER: u64 = 21_000;

impl<L: Clone> Machine<L> {
    /// An account of which the node counts `mined` transactions in blocks, and `pending` with those that wait. What
    /// waits was sent by a process before this one.
    pub(super) fn new(settings: SubmitSettings, mined: u64, pending: u64, now: u64) -> Self {
        let found = |nonce| {
            let flight = Flight {
                call: None,
                gas_limit: TRANSFER,
                since: now,
                last_sent: Some(now),
                sent: Vec::new(),
                mined: None,
                missed: (0, 0),
                is_stuck: false,
            };
            (nonce, flight)
        };
        // A node that lies about this must not fill the memory.
        let pending = pending.min(mined.saturating_add(MOST_FOUND));
        Self {
            settings,
            waiting: VecDeque::new(),
            flights: (mined..pending).map(found).collect(),
            nonce: mined,
            higher: (0, 0, 0),
            used: 0,
            gap: (0, 0),
        }
    }

    /// Whether a further call can be taken.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.len() < self.settings.most_waiting.max(1)
    }

    /// Takes a call.
    pub(super) fn submit(&mut self, call: Call<L>, now: u64) {
        self.waiting.push_back(Waiting { call, since: now });
    }

    /// The transactions that may be sent again, or were mined and are not final.
    pub(super) fn unfinished(&self) -> Vec<B256> {
        // Another one of a nonce that was mined can only be mined after a reorganisation.
        let mined = self.mined().into_iter().map(|mined| mined.hash);
        self.not_mined().into_iter().chain(mined).collect()
    }

    /// The transactions of the nonces of which none was mined.
    pub(super) fn not_mined(&self) -> Vec<B256> {
        let waiting = self.flights.values().filter(|flight| flight.mined.is_none());
        waiting.flat_map(|flight| &flight.sent).map(|sent| sent.hash).collect()
    }

    /// The transactions that were mined and are not final.
    pub(super) fn mined(&self) -> Vec<Mined> {
        self.flights.values().filter_map(|flight| flight.mined).collect()
    }

    /// The next call to simulate. Nothing is sent while transactions of an earlier process wait, or too many of this
    /// one wait or are not final.
    pub(super) fn next(&self) -> Option<&Call<L>> {
        let in_flight = || self.flights.values().filter(|flight| flight.mined.is_none());
        let is_behind_others = in_flight().any(|flight| flight.call.is_none());
        let are_many = in_flight().count() >= self.settings.most_in_flight.max(1);
        if is_behind_others || are_many || self.flights.len() >= MOST_NOT_FINAL {
            return None;
        }
        self.waiting.front().map(|waiting| &waiting.call)
    }

    /// The next call was simulated: the contract refuses it, for this reason.
    pub(super) fn refused(&mut self, reason: String) -> Option<SubmitEvent<L>> {
        let Waiting { call, .. } = self.waiting.pop_front()?;
        Some(SubmitEvent::Refused { label: call.label, reason })
    }

    /// The next call was simulated: it gets a nonce, unless the base fee of a unit of gas is more than allowed now.
    pub(super) fn accept(&mut self, gas_limit: u64, prices: Prices, now: u64) -> Option<Due<L>> {
        let fees = self.settings.fees.for_call(prices)?;
        let Waiting { call, since } = self.waiting.pop_front()?;
        let after = self.flights.last_key_value().map_or(0, |(nonce, _)| nonce + 1);
        // Not above what is known to be used: if a final block is undone after all, only the node's count leads out of the gap.
        let nonce = self.nonce.max(after);
        let sent = Vec::new();
        let flight = Flight {
            call: Some(call.clone()),
            gas_limit,
            since,
            last_sent: Some(now),
            sent,
            mined: None,
            missed: (0, 0),
            is_stuck: false,
        };
        self.flights.insert(nonce, flight);
        Some(Due::Send { nonce, call: Some(call), gas_limit, fees, content: Content::Call })
    }

    /// A transaction was signed for a nonce, and is about to leave.
    pub(super) fn sent(
        &mut self,
        nonce: u64,
        hash: B256,
        fees: Fees,
        content: Content,
        now: u64,
    ) -> Option<SubmitEvent<L>> {
        let flight = self.flights.get_mut(&nonce)?;
        let is_first = flight.sent.is_empty();
        flight.last_sent = Some(now);
        flight.sent.push(Sent { hash, fees, content });
        let label = flight.call.as_ref()?.label.clone();
        Some(if is_first {
            SubmitEvent::Sent { label, transaction: hash, nonce }
        } else {
            SubmitEvent::Replaced { label, transaction: hash, max_fee: fees.max_fee }
        })
    }

    /// The node refuses a transaction for good, so it is not there. If it was the only one of its nonce, the call has
    /// ended.
    pub(super) fn rejected(&mut self, nonce: u64, hash: B256, reason: String) -> Option<SubmitEvent<L>> {
        let flight = self.flights.get_mut(&nonce)?;
        if flight.call.is_none() || flight.sent.iter().any(|sent| sent.hash != hash) {
            return None;
        }
        // A gap would hold up the nonces behind it.
        if self.flights.last_key_value().is_some_and(|(last, _)| *last != nonce) {
            return None;
        }
        let call = self.flights.remove(&nonce)?.call?;
        Some(SubmitEvent::Refused { label: call.label, reason })
    }

    /// The node refuses a transaction, and what was sent before with its nonce may be there. The answer is what is to be told.
    pub(super) fn stuck(&mut self, hash: B256, reason: String) -> Option<SubmitEvent<L>> {
        let has = |flight: &Flight<L>| flight.sent.iter().any(|sent| sent.hash == hash);
        let (nonce, flight) = self.flights.iter_mut().find(|(_, flight)| has(flight))?;
        flight.stuck(*nonce, reason)
    }

    /// Takes what the node said of the chain.
    pub(super) fn observe(&mut self, sight: &Sight, now: u64) -> Vec<SubmitEvent<L>> {
        let mut events = Vec::new();
        self.nonce = self.believed(sight);
        let used = self.nonce;
        let (mut done, mut again) = (Vec::new(), Vec::new());
        for (nonce, flight) in &mut self.flights {
            let receipt = flight.sent.iter().find_map(|sent| sight.mined.get(&sent.hash).copied());
            let label = flight.call.as_ref().map(|call| call.label.clone());
            // A node that is behind does not have the block yet.
            if let Some(before) = flight.mined
                && sight.newest >= before.block
                && receipt.is_none_or(|receipt| receipt.block_hash != before.block_hash)
            {
                flight.mined = None;
                flight.missed = (0, 0);
                flight.last_sent = None;
                // The time that it was in a block is none in which nobody took it.
                flight.since = now;
                events.extend(label.clone().map(|label| SubmitEvent::Undone { label, transaction: before.hash }));
            }
            match receipt {
                Some(mined) if flight.mined.is_none() => {
                    flight.mined = Some(mined);
                    events.extend(label.clone().map(|label| flight.told(label, mined)));
                }
                Some(_) => {}
                None if flight.mined.is_some() => {}
                None if used > *nonce && flight.call.is_none() => done.push(*nonce),
                None if used > *nonce && flight.missed.0 != sight.newest => {
                    flight.missed = (sight.newest, flight.missed.1 + 1);
                    if flight.missed.1 >= SURE {
                        again.push(*nonce);
                    }
                }
                None => {}
            }
            if let Some(mined) = flight.mined
                && sight.last_final.is_some_and(|last_final| mined.block <= last_final)
            {
                done.push(*nonce);
                self.used = self.used.max(nonce + 1);
                let Mined { hash: transaction, block, succeeded, .. } = mined;
                if flight.content_of(transaction) == Content::Call {
                    events.extend(label.map(|label| SubmitEvent::Final { label, transaction, block, succeeded }));
                }
            }
        }
        for nonce in done {
            self.flights.remove(&nonce);
        }
        for nonce in again.into_iter().rev() {
            if let Some(Flight { call: Some(call), since, .. }) = self.flights.remove(&nonce) {
                self.waiting.push_front(Waiting { call, since });
            }
        }
        self.close_gap(sight.newest);
        let give_up_after = millis(self.settings.give_up_after);
        while let Some(first) = self.waiting.front().filter(|first| now.saturating_sub(first.since) >= give_up_after) {
            let reason = "a unit of gas cost too much, the node did not answer, others waited before it, or too many are not final";
            let reason = reason.to_owned();
            events.push(SubmitEvent::GivenUp { label: first.call.label.clone(), reason });
            self.waiting.pop_front();
        }
        events
    }

    /// The first nonce that no block uses. A node that counts more transactions than this one sent is believed once three
    /// blocks said so: somebody else may send from the account, but one false number would put all further calls behind a
    /// gap. Calls that are behind a gap all the same get nonces anew.
    fn believed(&mut self, sight: &Sight) -> u64 {
        let after = self.flights.last_key_value().map_or(0, |(nonce, _)| nonce + 1);
        let known = self.nonce.max(after);
        if sight.nonce <= known {
            self.higher = (0, 0, 0);
            return sight.nonce;
        }
        let (number, block, times) = self.higher;
        let times = match (number == sight.nonce, block == sight.newest) {
            (false, _) => 1,
            (true, true) => times,
            (true, false) => times + 1,
        };
        self.higher = (sight.nonce, sight.newest, times);
        if times >= SURE { sight.nonce } else { self.nonce }
    }

    /// Lets go of the calls behind a gap: nonces below theirs are neither used by a block nor by a transaction of this
    /// process, so they cannot be mined. They wait again, and get nonces without a gap. Three blocks must say so, since a
    /// node that is behind says less.
    fn close_gap(&mut self, newest: u64) {
        let mut expected = self.nonce.max(self.used);
        let mut behind = Vec::new();
        for (nonce, flight) in &self.flights {
            if *nonce > expected && flight.mined.is_none() {
                behind.push(*nonce);
            } else {
                expected = expected.max(nonce + 1);
            }
        }
        if behind.is_empty() {
            self.gap = (0, 0);
        } else if self.gap.0 != newest {
            self.gap = (newest, self.gap.1 + 1);
        }
        if self.gap.1 < SURE {
            return;
        }
        for nonce in behind.into_iter().rev() {
            if let Some(Flight { call: Some(call), since, .. }) = self.flights.remove(&nonce) {
                self.waiting.push_front(Waiting { call, since });
            }
        }
    }

    /// The transactions to send now: those with higher fees, replacements, and those that the node may have lost.
    pub(super) fn due(&mut self, prices: Prices, now: u64) -> Vec<Due<L>> {
        let bump_after = millis(self.settings.bump_after);
        let give_up_after = millis(self.settings.give_up_after);
        let (most_for_calls, most) = (self.settings.fees.most_for_calls(), self.settings.fees.most());
        let mut due = Vec::new();
        for (nonce, flight) in &mut self.flights {
            let waits = flight.last_sent.is_some_and(|sent| now.saturating_sub(sent) < bump_after);
            if flight.mined.is_some() || waits {
                continue;
            }
            let is_given_up = flight.call.is_none()
                || now.saturating_sub(flight.since) >= give_up_after
                || flight.sent.iter().any(|sent| sent.content == Content::Nothing);
            let content = if is_given_up { Content::Nothing } else { Content::Call };
            let limit = if is_given_up { most } else { most_for_calls };
            let fees = match flight.sent.last() {
                // Undone by a reorganisation: the same transaction may be mined as it is.
                Some(last) if flight.last_sent.is_none() && last.content == content => None,
                // Of a transaction of an earlier process the fees are not known. So all of the tip is offered, and more in all at each try.
                Some(last) if flight.call.is_none() => last.fees.retried(prices, limit),
                None if flight.call.is_none() => Fees::first_within(Prices { tip: limit.tip, ..prices }, limit),
                Some(last) => last.fees.bumped(prices, limit),
                None => Fees::first_within(prices, limit),
            };
            let is_undone = flight.last_sent.replace(now).is_none();
            let Some(fees) = fees else {
                // A call that waits for its block has not failed yet. What shall take a nonce has.
                if content == Content::Nothing && !is_undone {
                    let reason = "a transaction that takes its nonce would cost more than is allowed".to_owned();
                    due.extend(flight.stuck(*nonce, reason).map(Due::Tell));
                }
                due.extend(flight.sent.last().map(|last| Due::Again { hash: last.hash }));
                continue;
            };
            let gas_limit = if content == Content::Call { flight.gas_limit } else { TRANSFER };
            due.push(Due::Send { nonce: *nonce, call: flight.call.clone(), gas_limit, fees, content });
        }
        due
    }
}

/// More transactions of an earlier process are not taken care of one by one.
const MOST_FOUND: u64 = 1_024;

impl<L: Clone> Flight<L> {
    fn content_of(&self, hash: B256) -> Content {
        self.sent.iter().find(|sent| sent.hash == hash).map_or(Content::Call, |sent| sent.content)
    }

    /// What is told when nothing more can be sent for it: once.
    fn stuck(&mut self, nonce: u64, reason: String) -> Option<SubmitEvent<L>> {
        let label = self.call.as_ref().map(|call| call.label.clone());
        (!std::mem::replace(&mut self.is_stuck, true)).then_some(SubmitEvent::Stuck { label, nonce, reason })
    }

    /// What is told of the transaction that was mined.
    fn told(&self, label: L, mined: Mined) -> SubmitEvent<L> {
        let Mined { hash: transaction, block, gas_used, fee_paid, succeeded, .. } = mined;
        match self.content_of(transaction) {
            Content::Call => {
                let gas_limit = self.gas_limit;
                SubmitEvent::Mined { label, transaction, block, gas_used, gas_limit, fee_paid, succeeded }
            }
            Content::Nothing => {
                let reason = format!("it was not mined in time, and transaction {transaction} took its nonce");
                SubmitEvent::GivenUp { label, reason }
            }
        }
    }
}

fn millis(time: std::time::Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
