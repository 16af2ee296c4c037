//! Tasks that begin at fixed times. Every operator with the same schedule names the same tasks, so nobody has to send them.
//!
//! Task number n begins at second n · `every` of Unix time. Its id is keccak256 over the ABI words of a type hash, the chain,
//! the contract, `every`, the hash of the payload's text, and n. So operators whose schedules differ name different tasks,
//! which never settle, and not one task with different contents.

use std::num::NonZeroU64;

use quorate_evm::{
    alloy_primitives::{B256, Bytes, keccak256},
    alloy_sol_types::SolValue as _,
    digest::Contract,
};

use crate::message::MAX_RESULT;

/// Tasks at fixed times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    network: Contract,
    every: NonZeroU64,
    payload: String,
}

/// A task of a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduledTask {
    /// Its number.
    pub number: u64,
    /// When it begins, in Unix time.
    pub begins: u64,
    /// Its id.
    pub id: B256,
    /// What the user's programs get.
    pub payload: Bytes,
}

/// A payload is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the payload of the scheduled tasks has {0} bytes; at most {MAX_PAYLOAD} are possible")]
pub struct PayloadTooLong(usize);

/// The most bytes of a payload, so that a program's input stays small: as many as of a result.
pub const MAX_PAYLOAD: usize = MAX_RESULT;

const TASK_TYPE: &str =
    "quorate.scheduledTask(uint256 chain,address network,uint256 every,bytes32 payload,uint256 number)";

impl Schedule {
    /// A task every so many seconds. In the payload's text `{number}` and `{time}` stand for the task's number and the
    /// second at which it begins.
    ///
    /// # Errors
    /// [`PayloadTooLong`].
    pub fn new(network: Contract, every: NonZeroU64, payload: String) -> Result<Self, PayloadTooLong> {
        // Two numbers of twenty digits may take the place of names with six and eight characters, several times each.
        let longest = payload.len() + 14 * (payload.matches("{number}").count() + payload.matches("{time}").count());
        if longest > MAX_PAYLOAD { Err(PayloadTooLong(longest)) } else { Ok(Self { network, every, payload }) }
    }

    /// The number of the newest task that has begun at a second of Unix time.
    pub fn newest(&self, now: u64) -> u64 {
        now / self.every
    }

    /// The first second after `now` at which a task begins.
    pub fn next(&self, now: u64) -> u64 {
        (self.newest(now) + 1).saturating_mul(self.every.get())
    }

    /// A task by its number.
    pub fn task(&self, number: u64) -> ScheduledTask {
        let Contract { chain_id, address } = self.network;
        let every = self.every.get();
        let begins = number.saturating_mul(every);
        let words = (keccak256(TASK_TYPE), chain_id, address, every, keccak256(&self.payload), number);
        let payload = self.payload.replace("{number}", &number.to_string()).replace("{time}", &begins.to_string());
        ScheduledTask { number, begins, id: keccak256(words.abi_encode()), payload: payload.into_bytes().into() }
    }
}

#[cfg(test)]
mod tests {
    use quorate_evm::alloy_primitives::Address;

    use super::*;

    const NETWORK: Contract = Contract { chain_id: 31337, address: Address::repeat_byte(0xCD) };

    fn schedule(every: u64, payload: &str) -> Schedule {
        Schedule::new(NETWORK, NonZeroU64::new(every).unwrap(), payload.to_owned()).unwrap()
    }

    #[test]
    fn tasks_begin_at_multiples() {
        let schedule = schedule(12, "{}");
        assert_eq!(
            [0, 11, 12, 25].map(|now| (schedule.newest(now), schedule.next(now))),
            [(0, 12), (0, 12), (1, 24), (2, 36)]
        );
        assert_eq!(schedule.task(2).begins, 24);
    }

    #[test]
    fn the_payload_names_number_and_time() {
        let task = schedule(10, r#"{"at": {time}, "number": {number}, "again": {time}}"#).task(7);
        assert_eq!(&task.payload[..], br#"{"at": 70, "number": 7, "again": 70}"#);
    }

    /// keccak256 of the words by hand, and that whatever differs gives another id.
    #[test]
    fn ids_differ_with_everything() {
        let word = |value: u64| B256::with_last_byte(u8::try_from(value).unwrap()).to_vec();
        let chain = [vec![0; 30], vec![0x7a, 0x69]].concat();
        let words = [
            keccak256(TASK_TYPE).to_vec(),
            chain,
            NETWORK.address.into_word().to_vec(),
            word(10),
            keccak256("x").to_vec(),
            word(3),
        ];
        assert_eq!(schedule(10, "x").task(3).id, keccak256(words.concat()));
        let other = Contract { chain_id: 1, ..NETWORK };
        let ids = [
            schedule(10, "x").task(3).id,
            schedule(10, "x").task(4).id,
            schedule(11, "x").task(3).id,
            schedule(10, "y").task(3).id,
            Schedule { network: other, ..schedule(10, "x") }.task(3).id,
        ];
        assert_eq!(std::collections::BTreeSet::from(ids).len(), 5);
    }

    #[test]
    fn a_long_payload_is_refused() {
        let every = NonZeroU64::MIN;
        assert!(Schedule::new(NETWORK, every, "x".repeat(MAX_PAYLOAD)).is_ok());
        assert!(Schedule::new(NETWORK, every, "x".repeat(MAX_PAYLOAD + 1)).is_err());
        assert!(Schedule::new(NETWORK, every, "{time}".repeat(MAX_PAYLOAD / 6)).is_err());
    }
}
