//! Messages as bytes.
//!
//! ```text
//! version (1 byte) | chain id | contract (20 bytes) | kind (1 byte) | body
//! ```
//!
//! Integers and lengths are postcard's: seven bits a byte, the least significant first. Hashes and ids have their bytes and
//! no length. A message has one encoding: whatever decodes encodes to the same bytes, so the hash of the bytes names the
//! message.
//!
//! Decoding reads field by field. A length is compared with its limit and with the bytes that are left before anything is
//! allocated, and a list grows only as its items are read. So memory is at most a small multiple of the input's length.

use quorate_evm::{
    MemberSet, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};
use serde::{Deserialize, Serialize};

use crate::message::{
    Attestation, Branch, ConflictEvidence, HeldBallot, HeldTask, MAX_ANSWER_ATTESTATIONS, MAX_ANSWER_RESULTS,
    MAX_ANSWER_SUMS, MAX_BITMAP, MAX_EVIDENCE, MAX_HELD, MAX_MESSAGE, MAX_REQUEST_TASKS, MAX_RESULT, MAX_SIGNATURE,
    Message, PartialSum, PeerAnswer, PeerRequest, Signed, TaskResult,
};

/// The version of the encoding, the first byte of each message.
pub const VERSION: u8 = 2;

/// Why bytes are not a message. Whoever sent them is at fault, or runs another version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// There are more bytes than any message has.
    #[error("the message has {found} bytes; at most {MAX_MESSAGE} are allowed")]
    TooLarge {
        /// How many.
        found: usize,
    },
    /// The first byte is another version's.
    #[error("byte 0: the version is {found}, and this program reads version {VERSION}")]
    Version {
        /// The first byte.
        found: u8,
    },
    /// The message belongs to another network.
    #[error("byte 1: the message is for contract {} of chain {}, and this node is in that of {} of chain {}",
        found.address, found.chain_id, expected.address, expected.chain_id)]
    Network {
        /// Its network.
        found: Contract,
        /// The node's.
        expected: Contract,
    },
    /// No message has this kind.
    #[error("byte {at}: there is no kind {found} of message; kinds are 1 to 6")]
    Kind {
        /// The kind.
        found: u8,
        /// The offset of its byte.
        at: usize,
    },
    /// A field's bytes do not decode, or the input ends in it.
    #[error("byte {at}: the {field} does not decode: {source}")]
    Field {
        /// Which field.
        field: &'static str,
        /// The offset of its first byte.
        at: usize,
        /// What is wrong.
        source: postcard::Error,
    },
    /// A field or list has a length outside its limits.
    #[error("byte {at}: the {field} has length {found}; it must have {least} to {most}")]
    Length {
        /// Which field.
        field: &'static str,
        /// The offset of its first byte.
        at: usize,
        /// Its length: bytes, or items of a list.
        found: usize,
        /// The least length.
        least: usize,
        /// The greatest length.
        most: usize,
    },
    /// The evidence holds two attestations that an operator may sign both, or holds them in the wrong order.
    #[error("byte {at}: the two attestations of the evidence do not conflict, or are not in ascending order")]
    NotEvidence {
        /// The offset of the first attestation.
        at: usize,
    },
    /// Bytes follow the message.
    #[error("byte {at}: the message ends here, and {count} bytes follow")]
    Trailing {
        /// The offset of the first of them.
        at: usize,
        /// How many.
        count: usize,
    },
    /// The same message has another encoding, which is the only one allowed.
    #[error("byte {at}: the encoding is not the shortest one")]
    NotCanonical {
        /// The first byte that differs.
        at: usize,
    },
}

/// The bytes of a message for a network.
pub fn encode(message: &Message, network: Contract) -> Vec<u8> {
    let mut out = Writer(vec![VERSION]);
    out.put(&network.chain_id);
    out.raw(network.address.as_slice());
    match message {
        Message::Signed(Signed::Result(result)) => {
            out.raw(&[RESULT]);
            out.result(result);
        }
        Message::Signed(Signed::Attestation(attestation)) => {
            out.raw(&[ATTESTATION]);
            out.attestation(attestation);
        }
        Message::Signed(Signed::Evidence(evidence)) => {
            out.raw(&[EVIDENCE]);
            out.attestation(evidence.first());
            out.attestation(evidence.second());
        }
        Message::Signed(Signed::Sum(sum)) => {
            out.raw(&[SUM]);
            out.sum(sum);
        }
        Message::Request(request) => {
            out.raw(&[REQUEST]);
            out.list(&request.tasks, Writer::held);
        }
        Message::Answer(answer) => {
            out.raw(&[ANSWER]);
            out.list(&answer.results, Writer::result);
            out.list(&answer.attestations, Writer::attestation);
            out.list(&answer.evidence, |out, evidence| {
                out.attestation(evidence.first());
                out.attestation(evidence.second());
            });
            out.list(&answer.sums, Writer::sum);
        }
    }
    out.0
}

/// The message that bytes encode, if it belongs to the network.
///
/// # Errors
/// [`WireError`], which names the field and the offset of its first byte.
pub fn decode(bytes: &[u8], network: Contract) -> Result<Message, WireError> {
    if bytes.len() > MAX_MESSAGE {
        return Err(WireError::TooLarge { found: bytes.len() });
    }
    let mut input = Reader { whole: bytes, rest: bytes };
    let version: u8 = input.take("version")?;
    if version != VERSION {
        return Err(WireError::Version { found: version });
    }
    let found =
        Contract { chain_id: input.take("chain id")?, address: Address::from(input.take::<[u8; 20]>("contract")?) };
    if found != network {
        return Err(WireError::Network { found, expected: network });
    }
    let at = input.at();
    let message = match input.take::<u8>("kind")? {
        RESULT => Message::Signed(Signed::Result(input.result()?)),
        ATTESTATION => Message::Signed(Signed::Attestation(input.attestation()?)),
        EVIDENCE => Message::Signed(Signed::Evidence(input.evidence()?)),
        REQUEST => Message::Request(PeerRequest { tasks: input.list("tasks", MAX_REQUEST_TASKS, Reader::held)? }),
        ANSWER => Message::Answer(PeerAnswer {
            results: input.list("results", MAX_ANSWER_RESULTS, Reader::result)?,
            attestations: input.list("attestations", MAX_ANSWER_ATTESTATIONS, Reader::attestation)?,
            evidence: input.list("evidence", MAX_EVIDENCE, Reader::evidence)?,
            sums: input.list("sums", MAX_ANSWER_SUMS, Reader::sum)?,
        }),
        SUM => Message::Signed(Signed::Sum(input.sum()?)),
        found => return Err(WireError::Kind { found, at }),
    };
    if !input.rest.is_empty() {
        return Err(WireError::Trailing { at: input.at(), count: input.rest.len() });
    }
    // Postcard reads integers and lengths that are longer than necessary. Only the shortest encoding is the message's.
    let canonical = encode(&message, network);
    match bytes.iter().zip(&canonical).position(|(found, expected)| found != expected) {
        None if bytes.len() == canonical.len() => Ok(message),
        at => Err(WireError::NotCanonical { at: at.unwrap_or(canonical.len().min(bytes.len())) }),
    }
}

const RESULT: u8 = 1;
const ATTESTATION: u8 = 2;
const EVIDENCE: u8 = 3;
const REQUEST: u8 = 4;
const ANSWER: u8 = 5;
const SUM: u8 = 6;

struct Writer(Vec<u8>);

impl Writer {
    fn put(&mut self, value: &(impl Serialize + ?Sized)) {
        let out = std::mem::take(&mut self.0);
        self.0 = postcard::to_extend(value, out).expect("integers, flags and bytes always encode, and a vector grows");
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Bytes with their length in front.
    fn bytes(&mut self, bytes: &[u8]) {
        self.put(&bytes.len());
        self.raw(bytes);
    }

    fn list<T>(&mut self, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.put(&items.len());
        items.iter().for_each(|item| write(self, item));
    }

    fn result(&mut self, result: &TaskResult) {
        let candidate = result.candidate();
        self.round(candidate.id, candidate.epoch, candidate.snapshot);
        self.put(&result.performer());
        self.bytes(result.bytes());
        self.bytes(result.signature());
    }

    fn attestation(&mut self, attestation: &Attestation) {
        self.candidate(attestation.candidate());
        self.put(&attestation.index());
        self.bytes(attestation.signature());
    }

    fn sum(&mut self, sum: &PartialSum) {
        self.candidate(sum.candidate());
        self.put(&sum.branch().level);
        self.put(&sum.branch().number);
        self.bytes(sum.signers().as_bytes());
        self.bytes(sum.signature());
    }

    fn candidate(&mut self, candidate: &Task) {
        self.round(candidate.id, candidate.epoch, candidate.snapshot);
        self.put(&candidate.performer);
        self.raw(candidate.result.as_slice());
        self.put(&candidate.approved);
    }

    fn round(&mut self, id: B256, epoch: u64, snapshot: SnapshotId) {
        self.raw(id.as_slice());
        self.put(&epoch);
        self.raw(snapshot.as_slice());
    }

    fn held(&mut self, held: &HeldTask) {
        self.round(held.id, held.epoch, held.snapshot);
        self.put(&held.result.is_some());
        self.raw(held.result.as_ref().map_or(&[], |result| result.as_slice()));
        self.list(&held.ballots, |out, ballot| {
            out.raw(ballot.result.as_slice());
            out.put(&ballot.approved);
            out.bytes(ballot.signers.as_bytes());
        });
        self.bytes(held.accused.as_bytes());
    }
}

struct Reader<'a> {
    whole: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The offset of the next byte.
    fn at(&self) -> usize {
        self.whole.len() - self.rest.len()
    }

    fn take<T: Deserialize<'a>>(&mut self, field: &'static str) -> Result<T, WireError> {
        let at = self.at();
        let (value, rest) =
            postcard::take_from_bytes(self.rest).map_err(|source| WireError::Field { field, at, source })?;
        self.rest = rest;
        Ok(value)
    }

    fn length(&mut self, field: &'static str, least: usize, most: usize) -> Result<usize, WireError> {
        let at = self.at();
        let found = self.take(field)?;
        if !(least..=most).contains(&found) {
            return Err(WireError::Length { field, at, found, least, most });
        }
        Ok(found)
    }

    fn bytes(&mut self, field: &'static str, least: usize, most: usize) -> Result<&'a [u8], WireError> {
        let at = self.at();
        let length = self.length(field, least, most)?;
        let ends = WireError::Field { field, at, source: postcard::Error::DeserializeUnexpectedEnd };
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(ends)?;
        self.rest = rest;
        Ok(bytes)
    }

    fn list<T>(
        &mut self,
        field: &'static str,
        most: usize,
        read: impl Fn(&mut Self) -> Result<T, WireError>,
    ) -> Result<Vec<T>, WireError> {
        let count = self.length(field, 0, most)?;
        // Without capacity: each item that is pushed was read from bytes that are there.
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(read(self)?);
        }
        Ok(items)
    }

    fn word(&mut self, field: &'static str) -> Result<B256, WireError> {
        self.take::<[u8; 32]>(field).map(B256::from)
    }

    fn round(&mut self) -> Result<(B256, u64, SnapshotId), WireError> {
        let id = self.word("task id")?;
        Ok((id, self.take("epoch")?, SnapshotId::from(self.take::<[u8; 20]>("snapshot id")?)))
    }

    fn result(&mut self) -> Result<TaskResult, WireError> {
        let (id, epoch, snapshot) = self.round()?;
        let performer = self.take("performer")?;
        let at = self.at();
        let bytes = Bytes::copy_from_slice(self.bytes("result", 0, MAX_RESULT)?);
        let signature = Bytes::copy_from_slice(self.bytes("signature", 1, MAX_SIGNATURE)?);
        TaskResult::new(epoch, snapshot, id, performer, bytes, signature).map_err(|error| too_long(error, at))
    }

    fn candidate(&mut self) -> Result<Task, WireError> {
        let (id, epoch, snapshot) = self.round()?;
        let performer: u32 = self.take("performer")?;
        let result = self.word("result's hash")?;
        Ok(Task { epoch, snapshot, id, performer: performer.into(), result, approved: self.take("verdict")? })
    }

    fn attestation(&mut self) -> Result<Attestation, WireError> {
        let candidate = self.candidate()?;
        let index = self.take("signer's index")?;
        let at = self.at();
        let signature = Bytes::copy_from_slice(self.bytes("signature", 1, MAX_SIGNATURE)?);
        Attestation::new(candidate, index, signature).map_err(|error| too_long(error, at))
    }

    fn sum(&mut self) -> Result<PartialSum, WireError> {
        let candidate = self.candidate()?;
        let branch = Branch { level: self.take("branch's level")?, number: self.take("branch's number")? };
        let at = self.at();
        let signers = self.members("signers")?;
        let signature = Bytes::copy_from_slice(self.bytes("signature", 1, MAX_SIGNATURE)?);
        PartialSum::new(candidate, branch, signers, signature).map_err(|error| too_long(error, at))
    }

    fn evidence(&mut self) -> Result<ConflictEvidence, WireError> {
        let at = self.at();
        let (first, second) = (self.attestation()?, self.attestation()?);
        if first >= second {
            return Err(WireError::NotEvidence { at });
        }
        ConflictEvidence::new(first, second).ok_or(WireError::NotEvidence { at })
    }

    fn members(&mut self, field: &'static str) -> Result<MemberSet, WireError> {
        let at = self.at();
        let bytes = self.bytes(field, 0, MAX_BITMAP)?;
        MemberSet::from_bytes(bytes).map_err(|_| WireError::NotCanonical { at: at + bytes.len() })
    }

    fn held(&mut self) -> Result<HeldTask, WireError> {
        let (id, epoch, snapshot) = self.round()?;
        let result = if self.take("presence of a result")? { Some(self.word("result's hash")?) } else { None };
        let ballots = self.list("candidates", MAX_HELD, |input| {
            let (result, approved) = (input.word("result's hash")?, input.take("verdict")?);
            Ok(HeldBallot { result, approved, signers: input.members("signers")? })
        })?;
        Ok(HeldTask { id, epoch, snapshot, result, ballots, accused: self.members("accused signers")? })
    }
}

fn too_long(error: crate::message::LengthError, at: usize) -> WireError {
    let crate::message::LengthError { field, found, least, most } = error;
    WireError::Length { field, at, found, least, most }
}
