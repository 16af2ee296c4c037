//! What nodes send each other, as values. [`wire`](crate::wire) turns them into bytes.
//!
//! Four kinds are *signed*: somebody with stake answers for what they say. They travel as gossip. A [`PeerRequest`] and its
//! [`PeerAnswer`] travel between two peers, and carry what gossip lost.
//!
//! A message that decodes has the right shape and no more. Whether its signatures are true is for the edge to find out,
//! which has the keys; it then says so with [`Verified`].

use std::{slice, sync::Arc};

use quorate_evm::{
    MemberSet, SnapshotId, Task,
    alloy_primitives::{B256, Bytes, keccak256},
};

/// The most bytes of a result: 64 KiB.
pub const MAX_RESULT: usize = 64 * 1024;
/// The most bytes of a signature: a point of G1 of BLS12-381 without compression.
pub const MAX_SIGNATURE: usize = 96;
/// The most tasks of one request.
pub const MAX_REQUEST_TASKS: usize = 64;
/// The most candidates of one task in a request.
pub const MAX_HELD: usize = 128;
/// The most bytes of a bitmap of signers: 8,192 indices, more than a key table can hold.
pub const MAX_BITMAP: usize = 1024;
/// The most accused operators of one task in a request, and the most pieces of evidence in an answer.
pub const MAX_EVIDENCE: usize = 64;
/// The most results of one answer.
pub const MAX_ANSWER_RESULTS: usize = 4;
/// The most attestations of one answer.
pub const MAX_ANSWER_ATTESTATIONS: usize = 512;
/// The most partial sums of one answer.
pub const MAX_ANSWER_SUMS: usize = 64;
/// The most bytes of a message: an answer with all its results fits.
pub const MAX_MESSAGE: usize = 512 * 1024;

/// A part of a snapshot's members: a group at level 0, a branch of groups or branches above. `quorate_network::groups` says who
/// is in which group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Branch {
    /// The level: 0 for groups.
    pub level: u8,
    /// The number among those of its level, from 0.
    pub number: u32,
}

/// The most groups or branches of a branch.
pub const FANOUT: u32 = 16;

impl Branch {
    /// The branch above.
    #[must_use]
    pub fn above(self) -> Self {
        Self { level: self.level.saturating_add(1), number: self.number / FANOUT }
    }
}

/// A result, published by its performer.
///
/// The performer signs the candidate that approves the result, so the message is also the performer's attestation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskResult {
    attestation: Attestation,
    bytes: Bytes,
}

/// Bytes are longer than a message may hold them, or there are none where there must be some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {field} has {found} bytes; it must have {least} to {most}")]
pub struct LengthError {
    /// Which field.
    pub field: &'static str,
    /// Its length.
    pub found: usize,
    /// The least length.
    pub least: usize,
    /// The greatest length.
    pub most: usize,
}

impl TaskResult {
    /// The result of a task in an epoch and snapshot, with the performer's signature over [`candidate_for`].
    ///
    /// # Errors
    /// [`LengthError`] if the result has more than [`MAX_RESULT`] bytes, or the signature none or more than
    /// [`MAX_SIGNATURE`].
    pub fn new(
        epoch: u64,
        snapshot: SnapshotId,
        id: B256,
        performer: u32,
        bytes: Bytes,
        signature: Bytes,
    ) -> Result<Self, LengthError> {
        check_length("result", bytes.len(), 0, MAX_RESULT)?;
        let candidate = candidate_for(epoch, snapshot, id, performer, &bytes);
        Ok(Self { attestation: Attestation::new(candidate, performer, signature)?, bytes })
    }

    /// What the performer signed: it approves its own result.
    pub fn candidate(&self) -> &Task {
        self.attestation.candidate()
    }

    /// The index of the performer's key in the epoch's table.
    pub fn performer(&self) -> u32 {
        self.attestation.index()
    }

    /// The result, at most [`MAX_RESULT`] bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The performer's signature.
    pub fn signature(&self) -> &Bytes {
        self.attestation.signature()
    }

    /// The performer's attestation, which the result implies.
    pub fn attestation(&self) -> &Attestation {
        &self.attestation
    }
}

/// What a performer signs with a result: the candidate that approves it.
pub fn candidate_for(epoch: u64, snapshot: SnapshotId, id: B256, performer: u32, bytes: &[u8]) -> Task {
    Task { epoch, snapshot, id, performer: performer.into(), result: keccak256(bytes), approved: true }
}

/// One operator's signature over a candidate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Attestation {
    candidate: Task,
    index: u32,
    signature: Bytes,
}

impl Attestation {
    /// The signature of the key at an index of the epoch's table.
    ///
    /// # Errors
    /// [`LengthError`] if the signature has no bytes or more than [`MAX_SIGNATURE`].
    pub fn new(candidate: Task, index: u32, signature: Bytes) -> Result<Self, LengthError> {
        check_length("signature", signature.len(), 1, MAX_SIGNATURE)?;
        Ok(Self { candidate, index, signature })
    }

    /// What is signed.
    pub fn candidate(&self) -> &Task {
        &self.candidate
    }

    /// The index of the signer's key in the epoch's table.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// The signature over [`Task::digest`], as the network's key group encodes it.
    pub fn signature(&self) -> &Bytes {
        &self.signature
    }
}

/// The sum of the signatures of some members of a branch over one candidate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartialSum {
    candidate: Task,
    branch: Branch,
    signers: MemberSet,
    signature: Bytes,
}

impl PartialSum {
    /// The sum of these signers' signatures.
    ///
    /// # Errors
    /// [`LengthError`] if the bitmap of the signers has no bytes or more than [`MAX_BITMAP`], or the signature none or more
    /// than [`MAX_SIGNATURE`].
    pub fn new(candidate: Task, branch: Branch, signers: MemberSet, signature: Bytes) -> Result<Self, LengthError> {
        check_length("bitmap of signers", signers.as_bytes().len(), 1, MAX_BITMAP)?;
        check_length("signature", signature.len(), 1, MAX_SIGNATURE)?;
        Ok(Self { candidate, branch, signers, signature })
    }

    /// What is signed.
    pub fn candidate(&self) -> &Task {
        &self.candidate
    }

    /// Of which branch all signers are members.
    pub fn branch(&self) -> Branch {
        self.branch
    }

    /// Who signed: the places of at least one member in the branch. `quorate_network::groups::Groups::indices` gives their
    /// indices. So the bitmap grows with the branch, and not with the network.
    pub fn signers(&self) -> &MemberSet {
        &self.signers
    }

    /// The sum of their signatures over [`Task::digest`], as the network's key group encodes it.
    pub fn signature(&self) -> &Bytes {
        &self.signature
    }
}

/// Two attestations that no operator may sign both. Whether one operator made both is said by the snapshots' owners.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConflictEvidence {
    /// The lesser one first.
    pair: Box<[Attestation; 2]>,
}

impl ConflictEvidence {
    /// Evidence of two attestations, in either order; `None` if their candidates do not conflict.
    pub fn new(one: Attestation, other: Attestation) -> Option<Self> {
        let conflict = one.candidate.is_slashed_with(&other.candidate);
        let pair = if one < other { [one, other] } else { [other, one] };
        conflict.then(|| Self { pair: Box::new(pair) })
    }

    /// The lesser of the two attestations.
    pub fn first(&self) -> &Attestation {
        &self.pair[0]
    }

    /// The greater of the two attestations.
    pub fn second(&self) -> &Attestation {
        &self.pair[1]
    }

    /// The id of the task that was signed twice.
    pub fn id(&self) -> B256 {
        self.pair[0].candidate.id
    }

    /// The later of the two epochs, for which the contract slashes.
    pub fn epoch(&self) -> u64 {
        self.first().candidate().epoch.max(self.second().candidate().epoch)
    }
}

/// A message that somebody with stake answers for. It travels as gossip.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Signed {
    /// A performer's result.
    Result(TaskResult),
    /// An operator's verdict.
    Attestation(Attestation),
    /// An operator's two verdicts that conflict.
    Evidence(ConflictEvidence),
    /// The sum of the verdicts of some members of a branch.
    Sum(PartialSum),
}

impl Signed {
    /// The attestations that the message holds. Whoever verifies the message verifies these, and the sum of a
    /// [`PartialSum`], which holds none.
    pub fn attestations(&self) -> &[Attestation] {
        match self {
            Self::Sum(_) => &[],
            Self::Result(result) => slice::from_ref(result.attestation()),
            Self::Attestation(attestation) => slice::from_ref(attestation),
            Self::Evidence(evidence) => &*evidence.pair,
        }
    }

    /// The task that the message is about.
    pub fn id(&self) -> B256 {
        match self {
            Self::Result(result) => result.candidate().id,
            Self::Attestation(attestation) => attestation.candidate.id,
            Self::Evidence(evidence) => evidence.id(),
            Self::Sum(sum) => sum.candidate.id,
        }
    }
}

/// What a node asks a peer for: whatever the peer holds of these tasks beyond what is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerRequest {
    /// At most [`MAX_REQUEST_TASKS`].
    pub tasks: Vec<HeldTask>,
}

/// What a node holds of one task in one epoch and snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldTask {
    /// The task's id.
    pub id: B256,
    /// The epoch.
    pub epoch: u64,
    /// The id of its snapshot.
    pub snapshot: SnapshotId,
    /// The result that is there; `None` asks for one.
    pub result: Option<B256>,
    /// Whose attestations are there, alone or in sums, by candidate. At most [`MAX_HELD`].
    pub ballots: Vec<HeldBallot>,
    /// The signers of whose conflicts there is evidence, as a bitmap of their indices.
    pub accused: MemberSet,
}

/// Whose attestations of one candidate a node holds. All candidates of one [`HeldTask`] name the elected performer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBallot {
    /// Keccak-256 of the result.
    pub result: B256,
    /// The verdict.
    pub approved: bool,
    /// The signers: at most [`MAX_BITMAP`] bytes.
    pub signers: MemberSet,
}

/// What a peer answers. Each part is verified as if it had come alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerAnswer {
    /// At most [`MAX_ANSWER_RESULTS`].
    pub results: Vec<TaskResult>,
    /// At most [`MAX_ANSWER_ATTESTATIONS`].
    pub attestations: Vec<Attestation>,
    /// At most [`MAX_EVIDENCE`].
    pub evidence: Vec<ConflictEvidence>,
    /// At most [`MAX_ANSWER_SUMS`].
    pub sums: Vec<PartialSum>,
}

impl PeerAnswer {
    /// Whether it holds as much of something as an answer may, so that there may be more.
    pub fn is_full(&self) -> bool {
        self.results.len() >= MAX_ANSWER_RESULTS
            || self.attestations.len() >= MAX_ANSWER_ATTESTATIONS
            || self.evidence.len() >= MAX_EVIDENCE
            || self.sums.len() >= MAX_ANSWER_SUMS
    }

    /// The parts, results first.
    pub fn into_signed(self) -> impl Iterator<Item = Signed> {
        let results = self.results.into_iter().map(Signed::Result);
        let attestations = self.attestations.into_iter().map(Signed::Attestation);
        let sums = self.sums.into_iter().map(Signed::Sum);
        results.chain(attestations).chain(sums).chain(self.evidence.into_iter().map(Signed::Evidence))
    }
}

/// Any message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// A signed message of the gossip.
    Signed(Signed),
    /// What a node asks a peer for.
    Request(PeerRequest),
    /// What a peer answers.
    Answer(PeerAnswer),
}

/// A signed message all of whose signatures are true: of the key at the named index, in the table of the named snapshot.
///
/// The roles never see a key. Whoever makes one of these has verified [`Signed::attestations`], and of a [`PartialSum`]
/// that its signature is the sum of those of its signers.
#[derive(Clone, Debug)]
pub struct Verified(Arc<Signed>);

impl Verified {
    /// Says that every signature of the message was verified.
    pub fn by_the_caller(message: impl Into<Arc<Signed>>) -> Self {
        Self(message.into())
    }

    /// The message.
    pub fn message(&self) -> &Signed {
        &self.0
    }
}

pub(crate) fn check_length(field: &'static str, found: usize, least: usize, most: usize) -> Result<(), LengthError> {
    if (least..=most).contains(&found) { Ok(()) } else { Err(LengthError { field, found, least, most }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: Task =
        Task { epoch: 3, snapshot: SnapshotId::ZERO, id: B256::ZERO, performer: 1, result: B256::ZERO, approved: true };

    #[test]
    fn evidence_has_one_order() {
        let sign = |candidate| Attestation::new(candidate, 0, vec![1].into()).unwrap();
        let (one, other) = (sign(BASE), sign(Task { approved: false, ..BASE }));
        assert_eq!(ConflictEvidence::new(one.clone(), other.clone()), ConflictEvidence::new(other, one.clone()));
        assert_eq!(ConflictEvidence::new(one.clone(), one), None);
    }

    #[test]
    fn lengths_are_checked() {
        assert!(Attestation::new(BASE, 0, Bytes::new()).is_err());
        assert!(Attestation::new(BASE, 0, vec![0; MAX_SIGNATURE + 1].into()).is_err());
        let result =
            |length| TaskResult::new(0, SnapshotId::ZERO, B256::ZERO, 0, vec![0; length].into(), vec![1].into());
        assert!(result(MAX_RESULT).is_ok());
        let refused = result(MAX_RESULT + 1).unwrap_err();
        assert_eq!(refused.to_string(), "the result has 65537 bytes; it must have 0 to 65536");
    }
}
