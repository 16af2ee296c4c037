//! What all requests share, and what goes to the node's loop.

use quorate_evm::alloy_primitives::{B256, Bytes};
use tokio::sync::{mpsc, oneshot::Sender};

use super::{limits::ApiLimits, token::Token};
use crate::board::NodeBoard;
use quorate_network::roles::NotTaken;

/// What all requests share.
#[derive(Debug)]
pub(super) struct App {
    pub(super) board: NodeBoard,
    pub(super) tasks: mpsc::Sender<TaskOrder>,
    pub(super) token: Option<Token>,
    pub(super) limits: ApiLimits,
}

/// A task that the operator hands in, on its way to the node's loop.
///
/// The request is `{"payload": …, "id": "0x…", "epoch": 7}`; `id` and `epoch` may be left out.
#[derive(Debug)]
pub struct TaskOrder {
    /// The task's id. Where the request has none, it is Keccak-256 of the payload: so nodes that get the same payload
    /// perform the same task, and the same payload twice is one task.
    pub id: B256,
    /// Its epoch; `None` means that of this node's newest block, which can differ from that of others.
    pub epoch: Option<u64>,
    /// The payload: the bytes of text that begins with `0x`, and else the JSON itself, byte by byte as it was sent.
    pub payload: Bytes,
    /// Takes the epoch in which the task is performed, or why it was not taken.
    pub reply: Sender<Result<u64, NotTaken>>,
}
