//! What happens to a node, and what it wants done.

use std::sync::Arc;

use quorate_evm::{
    Finality, MemberSet, Task,
    alloy_primitives::{Address, B256, Bytes},
};

use crate::{
    election::Snapshot,
    groups::Audience,
    message::{Branch, ConflictEvidence, PeerAnswer, PeerRequest, Signed, Verified},
};

/// A peer, by a number that the edge gives it. Answers and refusals name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PeerSource(pub u64);

/// Why the signer did not sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignerRefusal {
    /// It signed something that conflicts. It will never sign this.
    Conflict,
    /// Not now: it does not know the epoch yet, or it is busy. The node asks again.
    NotNow,
}

/// What happens to a node.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum NodeEvent {
    /// There is a task. It comes from the operator's own source of tasks, never from a peer, and again after a restart.
    Task {
        /// Its id.
        id: B256,
        /// The epoch in which it is performed.
        epoch: u64,
        /// What the user's programs get.
        payload: Bytes,
    },
    /// The epoch of the newest block.
    Epoch(u64),
    /// The chain has this snapshot for its epoch; it replaces any other.
    Snapshot(Arc<Snapshot>),
    /// A reorganisation removed the snapshot of an epoch.
    SnapshotRemoved {
        /// The epoch.
        epoch: u64,
    },
    /// The chain settled an id, once and in every epoch for which its task is named.
    Settled {
        /// The id.
        id: B256,
        /// The epoch whose weights decided.
        epoch: u64,
        /// Whether that can be undone.
        finality: Finality,
    },
    /// A reorganisation undid the settlement of an id.
    Unsettled {
        /// The id.
        id: B256,
    },
    /// The chain slashed an operator for a conflict.
    Slashed {
        /// The operator.
        operator: Address,
        /// The id that it signed twice.
        id: B256,
        /// The later of the two epochs. Conflicts up to it are paid for.
        epoch: u64,
    },
    /// A reorganisation undid that.
    Unslashed {
        /// The operator.
        operator: Address,
        /// The id that it signed twice.
        id: B256,
        /// The later of the two epochs.
        epoch: u64,
    },
    /// The node's own settlement of an id was refused or given up, so it will not be mined.
    SettleFailed {
        /// The id.
        id: B256,
    },
    /// The node's own report was refused or given up.
    ReportFailed {
        /// The operator.
        operator: Address,
        /// The id that it signed twice.
        id: B256,
    },
    /// A signed message came, as gossip or as a part of an answer.
    Received {
        /// From which peer.
        source: PeerSource,
        /// The message. Its signatures are true.
        message: Verified,
    },
    /// A peer asks for what it missed.
    Asked {
        /// Which peer.
        source: PeerSource,
        /// What it holds.
        request: PeerRequest,
    },
    /// A peer's answer [was full](PeerAnswer::is_full).
    AnswerWasFull,
    /// The user's program executed a task.
    Executed {
        /// The task.
        id: B256,
        /// The result, at most [`MAX_RESULT`](crate::message::MAX_RESULT) bytes.
        bytes: Bytes,
    },
    /// The user's program failed.
    ExecuteFailed {
        /// The task.
        id: B256,
    },
    /// The user's program judged a result.
    Validated {
        /// What the output [`NodeOutput::Validate`] named.
        candidate: Task,
        /// Whether the result is right.
        approved: bool,
    },
    /// The user's program failed to judge a result. That is not a verdict.
    ValidateFailed {
        /// What the output [`NodeOutput::Validate`] named.
        candidate: Task,
    },
    /// The signer signed.
    Signed {
        /// What it signed.
        candidate: Task,
        /// The signature of the operator's key.
        signature: Bytes,
    },
    /// The signer did not sign.
    SignRefused {
        /// What it was asked to sign.
        candidate: Task,
        /// Why not.
        refusal: SignerRefusal,
    },
    /// A time named by [`NodeOutput::WakeAt`] has come.
    Tick,
}

/// What a node wants done, in this order.
#[derive(Clone, Debug)]
pub enum NodeOutput {
    /// Write [`Node::saved`](super::Node::saved) to disk before any output behind this one leaves.
    Save,
    /// Run the user's program for a task, and answer with [`NodeEvent::Executed`] or [`NodeEvent::ExecuteFailed`].
    Execute {
        /// The task.
        id: B256,
        /// The epoch for which the operator was elected.
        epoch: u64,
        /// What came with it.
        payload: Bytes,
    },
    /// Let the user's program judge a result, and answer with [`NodeEvent::Validated`] or [`NodeEvent::ValidateFailed`].
    Validate {
        /// What the performer signed.
        candidate: Task,
        /// What came with the task.
        payload: Bytes,
        /// The result.
        bytes: Bytes,
    },
    /// Let the signer sign, and answer with [`NodeEvent::Signed`] or [`NodeEvent::SignRefused`]. The same request may come again.
    Sign {
        /// What to sign.
        candidate: Task,
    },
    /// Send a message to an audience, as gossip.
    Publish(Signed, Audience),
    /// Ask a peer of an audience, chosen at random each time; any peer, if none of the audience is connected.
    Ask(PeerRequest, Audience),
    /// Ask one peer, which has shown that it holds more.
    AskPeer {
        /// The peer.
        peer: PeerSource,
        /// What is asked.
        request: PeerRequest,
    },
    /// Send an answer to a peer: one to each question, also if it is empty.
    Answer {
        /// The peer.
        to: PeerSource,
        /// The answer.
        answer: PeerAnswer,
    },
    /// A message was new and right: forward it.
    Accepted {
        /// Who sent it.
        source: PeerSource,
    },
    /// A message was not used, and must not be forwarded. See [`MessageRefusal::is_fault`] for whether to penalise its source.
    Refused {
        /// Who sent it.
        source: PeerSource,
        /// Why it was not used.
        refusal: MessageRefusal,
    },
    /// The operator gives no verdict here, because it would conflict with one that it gave.
    Abstained {
        /// The verdict that was not given.
        candidate: Task,
    },
    /// Settle a task on the chain: add up these signatures and submit.
    Settle(Settlement),
    /// A conflict is known that was not known before: the node found it, or a peer sent evidence. This is for people, and does not depend
    /// on the node's roles.
    ConflictFound {
        /// Who signed both.
        operator: Address,
        /// The id that it signed twice.
        id: B256,
    },
    /// Report a conflict on the chain.
    ReportConflict {
        /// Who signed both.
        operator: Address,
        /// The two attestations.
        evidence: ConflictEvidence,
    },
    /// A task was not taken.
    NotTaken {
        /// The task.
        id: B256,
        /// Why not.
        reason: NotTaken,
    },
    /// A task that found no quorum made room for a further one. The node does nothing more for it; others may still settle it.
    Dropped {
        /// The task.
        id: B256,
    },
    /// Send [`NodeEvent::Tick`] at this time, in the node's own milliseconds. Replaces an earlier one.
    WakeAt(u64),
}

/// A quorum that is ready to settle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// What all of them signed.
    pub candidate: Task,
    /// The members whose signatures these are.
    pub signers: MemberSet,
    /// Signatures, each with its signers: one, or those of a sum. No two have a signer in common.
    pub signatures: Vec<(MemberSet, Bytes)>,
}

/// Why a task was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotTaken {
    /// Its epoch can settle nothing more, or begins after the next one.
    #[error("the task is for epoch {found}, and epoch {current} runs")]
    Epoch {
        /// The task's epoch.
        found: u64,
        /// The running one.
        current: u64,
    },
    /// As many tasks as allowed are open, and none of them can make room.
    #[error("{0} tasks are open, as many as allowed")]
    Full(usize),
    /// The task is there with another payload. Results of both would have one id.
    #[error("the task was taken before with another payload")]
    OtherPayload,
}

/// Why a message was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessageRefusal {
    /// Nothing of this epoch can settle any more, or it has not begun.
    #[error("epoch {found} cannot settle in epoch {current}")]
    Epoch {
        /// The message's epoch.
        found: u64,
        /// The running one.
        current: u64,
    },
    /// The node's chain has no such snapshot: one of the two is behind, or on another branch.
    #[error("the chain has no such snapshot for epoch {0}")]
    OtherSnapshot(u64),
    /// The node does not know the task, or not for this epoch. It asks for the message when it does.
    #[error("the task is not known for this epoch")]
    UnknownTask,
    /// The same is there, or evidence of a conflict to which it adds nothing.
    #[error("the same message, or as much, is there")]
    Duplicate,
    /// Its signer signed something that conflicts. The conflict is kept as evidence.
    #[error("the signer at index {0} signed a conflicting task")]
    Conflicting(u32),
    /// It names a performer who was not elected. Whoever signed or forwarded it is at fault.
    #[error("index {found} performs the task, and index {elected} was elected")]
    NotElected {
        /// Whom it names.
        found: u64,
        /// Who was elected.
        elected: u64,
    },
    /// Nobody has weight at this index.
    #[error("nobody has weight at index {0}")]
    NoSuchSigner(u32),
    /// A sum is of a branch that does not exist or publishes no sums, or has signers at places that the branch does not have.
    #[error("there is no branch {} of level {} with these places", .0.number, .0.level)]
    NoSuchBranch(Branch),
    /// A sum is for members of another branch.
    #[error("the sum of branch {} of level {} is for others", .0.number, .0.level)]
    OtherBranch(Branch),
    /// A sum is of another result than the one that is there, or none is there.
    #[error("the sum is of another result than the one that is there")]
    OtherResult,
    /// The two attestations are not of one operator.
    #[error("the two attestations of the evidence are not of one operator")]
    NotOneOperator,
}

impl MessageRefusal {
    /// Whether no honest peer on the same chain sends this, so that its source is to be penalised.
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::NotElected { .. } | Self::NoSuchSigner(_) | Self::NotOneOperator | Self::NoSuchBranch(_))
    }

    /// Whether a message that is refused for this reason can be half of a conflict, so that the edge verifies its signature
    /// and hands it on all the same.
    pub fn is_worth_verifying(&self) -> bool {
        matches!(self, Self::NotElected { .. } | Self::Conflicting(_))
    }
}
