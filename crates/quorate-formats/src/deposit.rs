//! Deposits to Ethereum's deposit contract, as the staking deposit tools write them (`deposit_data-*.json`).
//!
//! A file is a list of objects `{"pubkey", "withdrawal_credentials", "amount", "signature", "fork_version", "deposit_message_root"?,
//! "deposit_data_root"?, "network_name"?}`. Each becomes a claim: the key signed the signing root of its `DepositMessage`, in the
//! domain of deposits. This domain depends on the fork version of the genesis, which the file states, and on no chain: a deposit
//! can be signed before there is one.
//!
//! The deposit contract takes what makes no validator, or a stake that nobody can ever withdraw. So a deposit is checked:
//!
//! | check | what fails |
//! |---|---|
//! | `deposit_message_root`, `deposit_data_root` | a root that is not that of the fields |
//! | `withdrawal_credentials` | the stake could not be withdrawn ([`check_withdrawal_credentials`]) |
//! | `amount` | less than 1 ETH, or on a network that is known more than 2,048 ETH ([`check_amount`]) |
//! | `network_name`, `fork_version` | another network than the caller's, or than the file names |
//!
//! A deposit with a false signature is lost: the chain takes the stake, and makes no validator. The signature of a deposit for hoodi is
//! false on mainnet. So the caller or the file must name a network that is known, or the caller must give the fork version; without
//! either, a deposit makes no claim.
//!
//! Spec: ethereum/consensus-specs, `specs/phase0/beacon-chain.md` (`DepositMessage`, `DepositData`, `apply_deposit`).

use std::io::BufRead;

use quorate::Messages;
use serde::Deserialize;

use crate::document::Operations;
use crate::entry::Entry;
use crate::error::InputError;
use crate::format::Format;
use crate::hex::Hex;
use crate::json;
use crate::network::KnownNetwork;
use crate::number::Uint;
use crate::operation::{DepositMessage, check_amount, check_withdrawal_credentials};
use crate::record::{Check, CheckResult, Id, Place, Record};
use crate::signing_context::{SigningContext, no_network};

/// Reads deposits. The id of a claim is the root of its deposit data. Of what the caller expects, the network and the fork version
/// count.
///
/// # Errors
/// The document is not UTF-8, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT). The iterator ends with an error if the
/// document is not JSON.
pub fn read(reader: impl BufRead, expected: &SigningContext) -> Result<Deposits, InputError> {
    Ok(Deposits { operations: Operations::read(reader, Format::Deposit)?, expected: expected.clone() })
}

/// The deposits of a file, one after the other.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct Deposits {
    operations: Operations,
    expected: SigningContext,
}

impl Deposits {
    /// The names of fields that are skipped and that occurred for the first time since the last call, and where, as of
    /// [`JsonLines::take_unknown`](crate::jsonl::JsonLines::take_unknown).
    pub fn take_unknown(&mut self) -> Vec<(String, Place)> {
        self.operations.take_unknown()
    }
}

impl Iterator for Deposits {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { operations, expected } = self;
        operations.next(|text, place, unknown| {
            let read = json::object_and_skipped(text, &["deposit_cli_version"], |name| unknown.note(name, place));
            let deposit: Deposit = read.map_err(|error| error.to_string())?;
            deposit.into_record(place, expected)
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
    fn into_record(self, place: Place, expected: &SigningContext) -> Result<Record, String> {
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
        checks.push(checked("withdrawal_credentials", check_withdrawal_credentials(&self.withdrawal_credentials.0)));
        let named = self.network_name.as_deref().and_then(KnownNetwork::of_name);
        let of_version = || KnownNetwork::all().find(|network| network.genesis_fork_version() == self.fork_version.0);
        let network = expected.network.or(named).or_else(of_version);
        checks.push(checked("amount", check_amount(self.amount.0, network.map(|network| network.family))));
        checks.extend(expected.network_check(self.network_name.as_deref()));
        checks.push(self.version_check(expected, named)?);
        Ok(Record {
            id: Some(Id::text(&const_hex::encode_prefixed(data_root))),
            suite: Some("eth2".to_owned()),
            public_keys: vec![self.pubkey.0.to_vec()].into(),
            messages: Messages::Shared(message.signing_root(self.fork_version.0).into()),
            signature: self.signature.0.to_vec(),
            source: None,
            place,
            checks,
            rests_on: None,
            chain: None,
        })
    }

    fn message(&self) -> DepositMessage {
        DepositMessage {
            public_key: self.pubkey.0,
            withdrawal_credentials: self.withdrawal_credentials.0,
            amount: self.amount.0,
        }
    }

    /// A deposit that is signed for another network than the one that it is sent to would be lost there.
    fn version_check(&self, expected: &SigningContext, named: Option<&KnownNetwork>) -> Result<Check, String> {
        let found = const_hex::encode_prefixed(self.fork_version.0);
        let (version, of) = match (expected.fork_version, expected.network.or(named)) {
            (Some(version), _) => (version, "the network"),
            (None, Some(network)) => (network.genesis_fork_version(), network.name()),
            (None, None) => {
                return Err(format!(
                    "{}, so nothing says whether {found} is its fork version; name the network (on the command line --network NAME), or \
                     give its genesis fork version (--fork-version HEX)",
                    no_network(self.network_name.as_deref())
                ));
            }
        };
        let result = CheckResult::of(version == self.fork_version.0);
        let expected = const_hex::encode_prefixed(version);
        let detail = format!("expected the fork version {expected} of {of}, found {found}");
        Ok(Check::decided("fork_version", result, detail))
    }
}

/// What a function that says `Ok` or what is wrong came to.
fn checked(name: &'static str, found: Result<String, String>) -> Check {
    match found {
        Ok(detail) => Check::decided(name, CheckResult::Passed, detail),
        Err(detail) => Check::decided(name, CheckResult::Failed, detail),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deposit(rest: &str) -> String {
        format!(
            r#"{{"pubkey": "{}", "withdrawal_credentials": "01{}{}", "amount": 32000000000, "signature": "{}",
                "fork_version": "00000000" {rest}}}"#,
            "01".repeat(48),
            "00".repeat(11),
            "02".repeat(20),
            "03".repeat(96)
        )
    }

    fn entries(text: &str) -> Vec<Entry> {
        read(text.as_bytes(), &SigningContext::default()).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_false_root_and_a_false_network_fail_their_checks() {
        let failed = |rest: &str| entries(&deposit(rest))[0].as_ref().unwrap().failed_check().map(|check| check.name);
        assert_eq!(failed(r#", "network_name": "mainnet""#), None);
        for name in ["sepolia", "Sepolia", "gnosis", "chiado", "Gnosis"] {
            assert_eq!(failed(&format!(r#", "network_name": "{name}""#)), Some("fork_version"), "{name}");
        }
        assert_eq!(failed(r#", "network_name": "MAINNET""#), None);
        let zeros = "00".repeat(32);
        for name in ["deposit_message_root", "deposit_data_root"] {
            assert_eq!(failed(&format!(r#", "network_name": "mainnet", "{name}": "{zeros}""#)), Some(name));
        }
    }

    #[test]
    fn bad_deposits_do_not_stop_the_others() {
        let good = deposit(r#", "network_name": "mainnet""#);
        let text = format!("[5, {{}}, {}, {good}]", good.replace("0303", "03"));
        let entries = entries(&text);
        assert!(entries[..3].iter().all(Result::is_err) && entries[3].is_ok());
        assert!(read(&b"[1"[..], &SigningContext::default()).unwrap().last().unwrap().is_err());
    }

    /// Each of these was "valid".
    #[test]
    fn deposits_that_lock_or_lose_a_stake_are_not_valid() {
        let failed = |from: &str, to: &str| {
            let text = deposit(r#", "network_name": "mainnet""#);
            assert!(text.contains(from));
            let entries = entries(&text.replacen(from, to, 1));
            entries[0].as_ref().unwrap().failed_check().map(|check| check.name)
        };
        let address = "02".repeat(20);
        let zeros = "00".repeat(11);
        assert_eq!(failed("mainnet", "mainnet"), None);
        for credentials in [
            format!("01{address}{zeros}"),
            format!("02{address}{zeros}"),
            format!("03{zeros}{address}"),
            "00".repeat(32),
        ] {
            assert_eq!(
                failed(&format!("01{zeros}{address}"), &credentials),
                Some("withdrawal_credentials"),
                "{credentials}"
            );
        }
        assert_eq!(failed(&format!("01{zeros}{address}"), &format!("02{zeros}{address}")), None);
        for amount in ["0", "999999999", "\"1\"", "2048000000001"] {
            assert_eq!(failed("32000000000", amount), Some("amount"), "{amount}");
        }
        assert_eq!(failed("32000000000", "2048000000000"), None);
        assert_eq!(failed("32000000000", "1000000000"), None);
    }

    /// Each of these was "valid", whatever fork version it was signed under.
    #[test]
    fn a_deposit_of_no_network_that_is_known_makes_no_claim() {
        let reason = |rest: &str| entries(&deposit(rest))[0].as_ref().unwrap_err().reason.clone();
        let unknown = reason(r#", "network_name": "andes""#);
        assert!(
            unknown.starts_with("the network \"andes\" is not known, so nothing says whether 0x00000000"),
            "{unknown}"
        );
        let nameless = reason("");
        assert!(
            nameless.starts_with("the file names no network, ") && nameless.contains("--network NAME"),
            "{nameless}"
        );
        let named = entries(&deposit(r#", "network_name": "mainnet""#));
        let named = named[0].as_ref().unwrap().checks.iter().find(|check| check.name == "fork_version").unwrap();
        assert_eq!(named.result, CheckResult::Passed);
    }

    #[test]
    fn the_network_of_the_caller_counts() {
        let expected =
            |network: &str| SigningContext { network: KnownNetwork::of_name(network), ..SigningContext::default() };
        let failed = |rest: &str, expected: &SigningContext| {
            let text = deposit(rest);
            let entry = read(text.as_bytes(), expected).unwrap().next().unwrap().unwrap();
            entry.unwrap().failed_check().map(|check| check.name)
        };
        assert_eq!(failed("", &expected("mainnet")), None);
        assert_eq!(failed("", &expected("holesky")), Some("fork_version"));
        assert_eq!(failed(r#", "network_name": "mainnet""#, &expected("holesky")), Some("network_name"));
        let version = |fork_version| SigningContext { fork_version: Some(fork_version), ..SigningContext::default() };
        assert_eq!(failed("", &version([0; 4])), None);
        assert_eq!(failed(r#", "network_name": "andes""#, &version([0; 4])), None);
        assert_eq!(failed("", &version([0, 0, 0, 1])), Some("fork_version"));
    }
}
