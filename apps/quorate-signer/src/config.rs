//! What a signer is made for. It is fixed by `init`, and stands in the record itself.

use quorate_evm::alloy_primitives::Address;
use quorate_signer_client::record_file::RecordIdentity;
use serde::{Deserialize, Serialize};

/// The network, the key, and what a proof of possession may name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The network and the key.
    pub(crate) identity: RecordIdentity,
    /// The network's verifier, which checks proofs of possession.
    pub(crate) verifier: Address,
    /// The account of the operator.
    pub(crate) operator: Address,
}
