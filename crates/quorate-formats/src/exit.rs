//! Signed voluntary exits, as the staking deposit tools, ethdo and the Beacon API write them.
//!
//! A file is one object `{"message": {"epoch", "validator_index"}, "signature"}`, a list of them, or either in the field `data`. Each
//! becomes a claim: the validator's key signed the exit, in the domain of exits, under Capella's fork version (EIP-7044). The file
//! contains neither the key nor the network, so the caller must give both ([`SigningContext`]).
//!
//! Spec: ethereum/consensus-specs, `specs/deneb/beacon-chain.md` (`process_voluntary_exit`).

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
use crate::operation::VoluntaryExit;
use crate::record::{Check, CheckResult, Id, Place, Record};
use crate::signing_context::SigningContext;

/// Reads exits. The id of a claim is the validator's number.
///
/// # Errors
/// The document is not UTF-8, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT). The iterator ends with an error if the
/// document is not JSON.
pub fn read(reader: impl BufRead, expected: &SigningContext) -> Result<Exits, InputError> {
    Ok(Exits { operations: Operations::read(reader, Format::Exit)?, expected: expected.clone() })
}

/// The exits of a file, one after the other.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct Exits {
    operations: Operations,
    expected: SigningContext,
}

impl Exits {
    /// The names of fields that are skipped and that occurred for the first time since the last call, and where, as of
    /// [`JsonLines::take_unknown`](crate::jsonl::JsonLines::take_unknown).
    pub fn take_unknown(&mut self) -> Vec<(String, Place)> {
        self.operations.take_unknown()
    }
}

impl Iterator for Exits {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { operations, expected } = self;
        operations.next(|text, place, unknown| {
            let read = json::object_and_skipped(text, &[], |name| unknown.note(name, place));
            let exit: Signed = read.map_err(|error| error.to_string())?;
            exit.into_record(place, expected)
        })
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Signed {
    message: Message,
    signature: Hex<96>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Message {
    epoch: Uint,
    validator_index: Uint,
}

impl Signed {
    fn into_record(self, place: Place, expected: &SigningContext) -> Result<Record, String> {
        let exit = VoluntaryExit { epoch: self.message.epoch.0, validator_index: self.message.validator_index.0 };
        let version = expected.fork_version.or_else(|| expected.network.map(KnownNetwork::exit_fork_version));
        let (Some(version), Some(root)) = (version, expected.root()) else {
            return Err("an exit does not contain its network, and nothing says which it is; name it (on the command line --network \
                        NAME), or give Capella's fork version and the root (--fork-version HEX --genesis-validators-root HEX)"
                .to_owned());
        };
        let key = expected.keys.of(exit.validator_index)?;
        let detail = format!("no file shows that validator {} has the key that was given", exit.validator_index);
        Ok(Record {
            id: Some(Id::number(exit.validator_index)),
            suite: Some("eth2".to_owned()),
            public_keys: vec![key.to_vec()].into(),
            messages: Messages::Shared(exit.signing_root(version, &root).into()),
            signature: self.signature.0.to_vec(),
            source: None,
            place,
            checks: vec![Check::decided("public_key", CheckResult::NotPossible, detail)],
            rests_on: None,
            chain: None,
        })
    }
}
