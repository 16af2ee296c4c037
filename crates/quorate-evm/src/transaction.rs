//! Transactions as files carry them from the program that makes them to the one that sends them.
//!
//! A file has one JSON object a line, in the order in which they are sent. Whoever sends one compares it with the chain first:
//! the fields beside the calldata are what can be compared.

use alloy_primitives::{Address, Bytes};
use serde::{Deserialize, Serialize};

/// A call of a contract, not signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transaction {
    /// What the call does, in words. Nothing is decided by it.
    pub about: String,
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The contract that is called.
    pub to: Address,
    /// Who has to send it.
    pub sender: Sender,
    /// The last epoch that the settlement has begun when the call is sent. A transaction of an epoch that was begun in the
    /// meantime is out of date, though the contract might accept it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_epoch: Option<u32>,
    /// The contracts that the call reads, for EIP-2930; empty if naming them does not save gas.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_list: Vec<Address>,
    /// What the contract is called with.
    pub calldata: Bytes,
}

/// Who has to send a transaction, in JSON `"anyone"`, `"registrar"` or `{"account": "0x…"}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    /// The contract does not ask who calls.
    Anyone,
    /// The settlement's registrar, which the settlement names.
    Registrar,
    /// This account.
    Account(Address),
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRANSACTION: Transaction = Transaction {
        about: String::new(),
        chain_id: 5,
        to: Address::repeat_byte(1),
        sender: Sender::Registrar,
        after_epoch: None,
        access_list: Vec::new(),
        calldata: Bytes::new(),
    };

    #[test]
    fn json_there_and_back() {
        let full = Transaction {
            about: "two\nlines".to_owned(),
            sender: Sender::Account(Address::repeat_byte(2)),
            after_epoch: Some(0),
            access_list: vec![Address::repeat_byte(3)],
            calldata: vec![4].into(),
            ..TRANSACTION
        };
        for transaction in [TRANSACTION, Transaction { sender: Sender::Anyone, ..TRANSACTION }, full] {
            let line = serde_json::to_string(&transaction).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Transaction>(&line).unwrap(), transaction);
        }
    }

    /// A field that says when not to send must not be dropped because its name is misspelt.
    #[test]
    fn an_unknown_field_or_sender_is_refused() {
        let line = serde_json::to_string(&TRANSACTION).unwrap();
        for (from, to) in [("\"about\"", "\"afterEpoch\":1,\"about\""), ("registrar", "owner"), ("\"to\"", "\"into\"")]
        {
            let wrong = line.replacen(from, to, 1);
            assert!(wrong != line && serde_json::from_str::<Transaction>(&wrong).is_err(), "{wrong}");
        }
    }
}
