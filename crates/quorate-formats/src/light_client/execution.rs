//! The header of an execution payload, which a light-client header has since Capella.

use serde::Deserialize;

use crate::hex::{Hex, HexBytes};
use crate::network::Fork;
use crate::number::{Uint, Uint256};
use crate::ssz::{self, Root};

/// `ExecutionPayloadHeader`, with the fields that Deneb added where the document has them.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Execution {
    pub(super) parent_hash: Hex<32>,
    pub(super) fee_recipient: Hex<20>,
    pub(super) state_root: Hex<32>,
    pub(super) receipts_root: Hex<32>,
    pub(super) logs_bloom: Hex<256>,
    pub(super) prev_randao: Hex<32>,
    pub(super) block_number: Uint,
    pub(super) gas_limit: Uint,
    pub(super) gas_used: Uint,
    pub(super) timestamp: Uint,
    pub(super) extra_data: HexBytes,
    pub(super) base_fee_per_gas: Uint256,
    pub(super) block_hash: Hex<32>,
    pub(super) transactions_root: Hex<32>,
    pub(super) withdrawals_root: Hex<32>,
    pub(super) blob_gas_used: Option<Uint>,
    pub(super) excess_blob_gas: Option<Uint>,
    /// Whether the document's own layout has a place for these two fields: that of Deneb in SSZ. JSON can write any field.
    #[serde(skip)]
    pub(super) in_layout_of_deneb: bool,
}

impl Execution {
    /// Whether every field is zero.
    pub(super) fn is_empty(&self) -> bool {
        let Self { parent_hash, fee_recipient, state_root, receipts_root, logs_bloom, prev_randao, .. } = self;
        let Self { block_number, gas_limit, gas_used, timestamp, extra_data, base_fee_per_gas, .. } = self;
        let Self { block_hash, transactions_root, withdrawals_root, blob_gas_used, excess_blob_gas, .. } = self;
        let roots =
            [parent_hash, state_root, receipts_root, prev_randao, block_hash, transactions_root, withdrawals_root];
        let numbers = [Some(block_number), Some(gas_limit), Some(gas_used), Some(timestamp)];
        let of_blobs = [blob_gas_used.as_ref(), excess_blob_gas.as_ref()];
        roots.into_iter().all(Hex::is_zero)
            && fee_recipient.is_zero()
            && logs_bloom.is_zero()
            && numbers.into_iter().chain(of_blobs).flatten().all(|number| number.0 == 0)
            && extra_data.0.is_empty()
            && base_fee_per_gas.0 == [0; 32]
    }

    /// Whether a field that Deneb added is not zero.
    pub(super) fn has_blobs(&self) -> bool {
        [self.blob_gas_used, self.excess_blob_gas].into_iter().flatten().any(|field| field.0 != 0)
    }

    /// The root in the layout of a fork from Capella to Fulu.
    ///
    /// The layout follows the fork and not the fields that the document has, because some tools write the fields of Deneb into
    /// headers of Capella, whose root does not cover them ([`has_blobs`](Self::has_blobs)).
    ///
    /// # Errors
    /// Why the header has no root in this layout: it lacks a field of it, or its extra data is too long.
    pub(super) fn root(&self, fork: Fork) -> Result<Root, &'static str> {
        let extra_data = ssz::leaves(&self.extra_data.0);
        if extra_data.len() > 1 {
            return Err(
                "the extra data of the execution payload header is longer than 32 bytes, the most that a block has",
            );
        }
        let mut leaves = vec![
            self.parent_hash.0,
            ssz::leaf(&self.fee_recipient.0),
            self.state_root.0,
            self.receipts_root.0,
            ssz::merkleize(&ssz::leaves(&self.logs_bloom.0), 3),
            self.prev_randao.0,
            ssz::number(self.block_number.0),
            ssz::number(self.gas_limit.0),
            ssz::number(self.gas_used.0),
            ssz::number(self.timestamp.0),
            ssz::with_length(&ssz::merkleize(&extra_data, 0), self.extra_data.0.len()),
            self.base_fee_per_gas.0,
            self.block_hash.0,
            self.transactions_root.0,
            self.withdrawals_root.0,
        ];
        if fork < Fork::Deneb {
            return Ok(ssz::merkleize(&leaves, 4));
        }
        let (Some(blob_gas_used), Some(excess_blob_gas)) = (self.blob_gas_used, self.excess_blob_gas) else {
            return Err(
                "the execution payload header lacks \"blob_gas_used\" or \"excess_blob_gas\", which blocks have since Deneb",
            );
        };
        leaves.extend([blob_gas_used, excess_blob_gas].map(|field| ssz::number(field.0)));
        Ok(ssz::merkleize(&leaves, 5))
    }
}
