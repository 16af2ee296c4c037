//! Deposits to Ethereum's deposit contract, as the staking deposit tools write them (`deposit_data-*.json`).
//!
//! A file is a list of objects `{"pubkey", "withdrawal_credentials", "amount", "signature", "fork_version", "deposit_message_root"?,
//! "deposit_data_root"?, "network_name"?}`. Each becomes a claim: the key signed the signing root of its `DepositMessage`, in the
//! domain of deposits. This domain depends on the fork version of the genesis, which the file states, and on no chain: a deposit
//! can be signed before there is one. The roots that the file states are checked against those of its fields.
//!
//! A deposit with a false signature is lost: the chain takes the stake, and makes no validator.
//!
//! Spec: ethereum/consensus-specs, `specs/phase0/beacon-chain.md` (`DepositMessage`, `DepositData`, `apply_deposit`).

use std::io::BufRead;

use quorate::Messages;
use serde::Deserialize;

use crate::document::Elements;
use crate::entry::{Entry, Malformed};
use crate::error::InputError;
use crate::format::Format;
use crate::hex::Hex;
use crate::json;
use crate::number::Uint;
use crate::operation::DepositMessage;
use crate::record::{Check, CheckResult, Id, Place, Record};

/// Reads deposits. The id of a claim is the root of its deposit data.
///
/// # Errors
/// The document is not UTF-8, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT). The iterator ends with an error if the
/// document is not JSON.
pub fn read(reader: impl BufRead) -> Result<Deposits, InputError> {
    Ok(Deposits { elements: Elements::read(reader, Format::Deposit)?, next: 0, ended: false })
}

/// The deposits of a file, one after the other.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct Deposits {
    elements: Elements,
    next: u64,
    ended: bool,
}

impl Iterator for Deposits {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let element = self.elements.element().transpose();
        self.ended = !matches!(element, Some(Ok(_)));
        let place = Place::Element(self.next);
        self.next += 1;
        element.map(|element| {
            let deposit = json::object::<Deposit>(self.elements.text(&element?));
            Ok(deposit.map(|deposit| deposit.into_record(place)).map_err(|e| Malformed::new(place, e.to_string())))
        })
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Deposit {
    pubkey: Hex<48>,
    withdrawal_credentials: Hex<32>,
    amount: Uint,
    signature: Hex<96>,
    fork_version: Hex<4>,
    deposit_message_root: Option<Hex<32>>,
    deposit_data_root: Option<Hex<32>>,
    #[serde(alias = "eth2_network_name")]
    network_name: Option<String>,
}

impl Deposit {
    fn into_record(self, place: Place) -> Record {
        let message = self.message();
        let (message_root, data_root) = (message.root(), message.data_root(&self.signature.0));
        let mut checks = Vec::new();
        let stated = [
            ("deposit_message_root", &self.deposit_message_root, message_root),
            ("deposit_data_root", &self.deposit_data_root, data_root),
        ];
        for (name, stated, computed) in stated {
            if let Some(Hex(stated)) = stated {
                checks.push(Check::compared(name, &computed, stated));
            }
        }
        checks.extend(self.network_check());
        Record {
            id: Some(Id::text(&const_hex::encode_prefixed(data_root))),
            suite: Some("eth2".to_owned()),
            public_keys: vec![self.pubkey.0.to_vec()],
            messages: Messages::Shared(message.signing_root(self.fork_version.0).into()),
            signature: self.signature.0.to_vec(),
            source: None,
            place,
            checks,
            rests_on: None,
            chain: None,
        }
    }

    fn message(&self) -> DepositMessage {
        DepositMessage {
            public_key: self.pubkey.0,
            withdrawal_credentials: self.withdrawal_credentials.0,
            amount: self.amount.0,
        }
    }

    /// A deposit that is signed for another network than the file names would be lost there.
    fn network_check(&self) -> Option<Check> {
        let name = self.network_name.as_deref()?;
        let (known, version) = GENESIS_VERSIONS.iter().find(|(network, _)| *network == name)?;
        let found = self.fork_version.0;
        let detail = format!(
            "expected the fork version {} of {known}, found {}",
            const_hex::encode_prefixed(version),
            const_hex::encode_prefixed(found)
        );
        Some(Check::decided("fork_version", CheckResult::of(found == *version), detail))
    }
}

/// The networks by the names that the tools write, with the fork version of their genesis.
const GENESIS_VERSIONS: [(&str, [u8; 4]); 6] = [
    ("mainnet", [0, 0, 0, 0]),
    ("sepolia", [0x90, 0, 0, 0x69]),
    ("holesky", [0x01, 0x01, 0x70, 0]),
    ("hoodi", [0x10, 0, 0x09, 0x10]),
    ("goerli", [0, 0, 0x10, 0x20]),
    ("prater", [0, 0, 0x10, 0x20]),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn deposit(rest: &str) -> String {
        format!(
            r#"{{"pubkey": "{}", "withdrawal_credentials": "{}", "amount": 32000000000, "signature": "{}",
                "fork_version": "00000000" {rest}}}"#,
            "01".repeat(48),
            "02".repeat(32),
            "03".repeat(96)
        )
    }

    fn entries(text: &str) -> Vec<Entry> {
        read(text.as_bytes()).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_false_root_and_a_false_network_fail_their_checks() {
        let failed = |rest: &str| entries(&deposit(rest))[0].as_ref().unwrap().failed_check().map(|check| check.name);
        assert_eq!(failed(""), None);
        assert_eq!(failed(r#", "network_name": "mainnet""#), None);
        assert_eq!(failed(r#", "network_name": "a network of tomorrow""#), None);
        assert_eq!(failed(r#", "network_name": "sepolia""#), Some("fork_version"));
        let zeros = "00".repeat(32);
        assert_eq!(failed(&format!(r#", "deposit_message_root": "{zeros}""#)), Some("deposit_message_root"));
        assert_eq!(failed(&format!(r#", "deposit_data_root": "{zeros}""#)), Some("deposit_data_root"));
    }

    #[test]
    fn bad_deposits_do_not_stop_the_others() {
        let text = format!("[5, {{}}, {}, {}]", deposit("").replace("0303", "03"), deposit(""));
        let entries = entries(&text);
        assert!(entries[..3].iter().all(Result::is_err) && entries[3].is_ok());
        assert!(read(&b"[1"[..]).unwrap().last().unwrap().is_err());
    }
}
