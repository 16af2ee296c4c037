//! Changes of withdrawal credentials, as the staking deposit tools write them (`bls_to_execution_change-*.json`) and as the Beacon API
//! takes and gives them.
//!
//! A file is a list of objects `{"message": {"validator_index", "from_bls_pubkey", "to_execution_address"}, "signature",
//! "metadata"?: {"network_name"?, "genesis_validators_root"?}}`, alone or in the field `data`. Each becomes a claim: the withdrawal key
//! signed the change, in the domain of changes, under the genesis fork version of the network. The metadata names the network; if there is
//! none, the caller must.
//!
//! What no file can show is that the validator's credentials on the chain are the hash of this key. The chain checks that.
//!
//! Spec: ethereum/consensus-specs, `specs/capella/beacon-chain.md` (`process_bls_to_execution_change`).

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
use crate::operation::{CredentialsChange, credentials_of_key};
use crate::record::{Check, CheckResult, Id, Place, Record};
use crate::signing_context::{SigningContext, no_network, quoted};

/// Reads changes. The id of a claim is the validator's number.
///
/// # Errors
/// The document is not UTF-8, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT). The iterator ends with an error if the
/// document is not JSON.
pub fn read(reader: impl BufRead, expected: &SigningContext) -> Result<Changes, InputError> {
    Ok(Changes { operations: Operations::read(reader, Format::Change)?, expected: expected.clone() })
}

/// The changes of a file, one after the other.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct Changes {
    operations: Operations,
    expected: SigningContext,
}

impl Changes {
    /// The names of fields that are skipped and that occurred for the first time since the last call, and where, as of
    /// [`JsonLines::take_unknown`](crate::jsonl::JsonLines::take_unknown).
    pub fn take_unknown(&mut self) -> Vec<(String, Place)> {
        self.operations.take_unknown()
    }
}

impl Iterator for Changes {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { operations, expected } = self;
        operations.next(|text, place, unknown| {
            let read = json::object_and_skipped(text, &["deposit_cli_version"], |name| unknown.note(name, place));
            let change: Signed = read.map_err(|error| error.to_string())?;
            change.into_record(place, expected)
        })
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Signed {
    message: Message,
    signature: Hex<96>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Message {
    validator_index: Uint,
    from_bls_pubkey: Hex<48>,
    to_execution_address: Hex<20>,
}

#[derive(Default, Deserialize)]
#[serde(expecting = "an object")]
struct Metadata {
    network_name: Option<String>,
    genesis_validators_root: Option<Hex<32>>,
}

impl Signed {
    fn into_record(self, place: Place, expected: &SigningContext) -> Result<Record, String> {
        let Self { message, signature, metadata } = self;
        let Metadata { network_name, genesis_validators_root } = metadata.unwrap_or_default();
        let stated = genesis_validators_root.map(|root| root.0);
        let named = network_name.as_deref().and_then(KnownNetwork::of_name);
        let network = expected.network.or(named).or_else(|| stated.as_ref().and_then(KnownNetwork::of_genesis));
        let version = expected.fork_version.or_else(|| network.map(KnownNetwork::genesis_fork_version));
        let root = expected.root().or(stated).or_else(|| named.map(|network| network.genesis_validators_root));
        let (Some(version), Some(root)) = (version, root) else { return Err(of_no_network(network_name.as_deref())) };

        let mut checks = Vec::new();
        checks.extend(expected.network_check(network_name.as_deref()));
        if let Some(stated) = stated {
            let wanted = expected.root().or_else(|| named.map(|network| network.genesis_validators_root));
            checks.push(match (wanted, network, &network_name) {
                (Some(wanted), _, _) => Check::compared("genesis_validators_root", &wanted, &stated),
                // The root is that of a network that is known, and the name is another.
                (None, Some(network), Some(name)) => {
                    let detail =
                        format!("expected {}, whose root the file states, found {}", network.name(), quoted(name));
                    Check::decided("network_name", CheckResult::Failed, detail)
                }
                (None, ..) => Check::decided(
                    "genesis_validators_root",
                    CheckResult::NotPossible,
                    "nothing says which network it is, and so which root it has; name the network",
                ),
            });
        }
        let address = const_hex::encode_prefixed(message.to_execution_address.0);
        let to_somebody = message.to_execution_address.0 != [0; 20];
        let detail = if to_somebody { address } else { format!("found {address}: nobody can withdraw to zeros") };
        checks.push(Check::decided("to_execution_address", CheckResult::of(to_somebody), detail));
        let change = CredentialsChange {
            validator_index: message.validator_index.0,
            from_public_key: message.from_bls_pubkey.0,
            to_address: message.to_execution_address.0,
        };
        checks.push(Check::decided(
            "withdrawal_credentials",
            CheckResult::NotPossible,
            format!(
                "no file shows that those of validator {} on the chain are {}",
                change.validator_index,
                const_hex::encode_prefixed(credentials_of_key(&change.from_public_key))
            ),
        ));
        Ok(Record {
            id: Some(Id::number(change.validator_index)),
            suite: Some("eth2".to_owned()),
            public_keys: vec![change.from_public_key.to_vec()].into(),
            messages: Messages::Shared(change.signing_root(version, &root).into()),
            signature: signature.0.to_vec(),
            source: None,
            place,
            checks,
            rests_on: None,
            chain: None,
        })
    }
}

fn of_no_network(name: Option<&str>) -> String {
    format!(
        "{}, so nothing says what is signed; name the network (on the command line --network NAME), or give its genesis fork \
         version and its root (--fork-version HEX --genesis-validators-root HEX)",
        no_network(name)
    )
}
