//! How a settlement is followed.

use std::{path::PathBuf, time::Duration};

use alloy::primitives::Address;

use super::error::OptionNames;
use crate::task_network::Confirmations;

/// How a settlement is followed.
#[derive(Clone, Debug)]
pub struct SettlementSettings {
    /// The settlement's address.
    pub contract: Address,
    /// The chain's id: a node of another chain is refused. If it is not known here, the node is believed.
    pub chain_id: Option<u64>,
    /// The block from which logs are read: that of the deployment, or one before it.
    pub from_block: u64,
    /// How many blocks must follow a block before its logs count.
    pub confirmations: Confirmations,
    /// The most blocks in one question for logs. Fewer are asked for if the node refuses.
    pub blocks_at_once: u64,
    /// How often to look for new blocks.
    pub every: Duration,
    /// The file of the cursor.
    pub cursor: PathBuf,
    /// For messages that say what to change.
    pub options: OptionNames,
}

impl SettlementSettings {
    /// The blocks that must follow a block before its logs count, if nothing else is said.
    pub const CONFIRMATIONS: u64 = 2;
    /// The most blocks in one question for logs, if nothing else is said.
    pub const BLOCKS_AT_ONCE: u64 = 2_000;
    /// How often to look for new blocks, if nothing else is said.
    pub const EVERY: Duration = Duration::from_secs(4);
}
