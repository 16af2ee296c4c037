//! Requests and answers: one JSON object a line, in both directions. Answers come in the order of the requests.
//!
//! ```json
//! {"request":"sign_task","chain_id":1,"contract":"0x…","epoch":12,"snapshot":"0x…",
//!  "task":{"id":"0x…","performer":3,"result":"0x…","approved":true}}
//! {"answer":"signature","digest":"0x…","signature":"0x…"}
//! {"answer":"error","code":"conflict","message":"…"}
//! ```
//!
//! Numbers are JSON numbers below 2^64; bytes are hexadecimal digits with `0x`. A field that a request does not have is an
//! error, and so is a missing one. No request names a digest: the signer computes it from parts that it has checked.

use quorate_evm::{
    KeyGroup, SnapshotId, Task,
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};
use serde::{Deserialize, Serialize};

use crate::network::NetworkTerms;

/// The longest line in bytes, without its newline, in both directions.
pub const LONGEST_LINE: usize = 4096;

/// The longest peer id, in bytes.
pub const LONGEST_PEER_ID: usize = 64;

/// What a client asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "request", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum SignerRequest {
    /// The public key.
    PublicKey {},
    /// A signature over a task.
    SignTask(SignTask),
    /// The proof of possession that registers the key.
    Possession(ProvePossession),
    /// A signature that binds a peer id to the key: `quorate_evm::digest::PeerBinding`.
    BindPeer(BindPeer),
    /// The signer's state.
    Status {},
}

/// A task to sign.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SignTaskFields", into = "SignTaskFields")]
pub struct SignTask {
    /// Chain and contract of the network.
    pub network: Contract,
    /// The task.
    pub task: Task,
}

/// The shape of [`SignTask`] in JSON.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignTaskFields {
    chain_id: u64,
    contract: Address,
    epoch: u64,
    snapshot: SnapshotId,
    task: NamedTask,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedTask {
    id: B256,
    performer: u64,
    result: B256,
    approved: bool,
}

impl From<SignTaskFields> for SignTask {
    fn from(fields: SignTaskFields) -> Self {
        let SignTaskFields { chain_id, contract: address, epoch, snapshot, task } = fields;
        let NamedTask { id, performer, result, approved } = task;
        let task = Task { epoch, snapshot, id, performer, result, approved };
        Self { network: Contract { chain_id, address }, task }
    }
}

impl From<SignTask> for SignTaskFields {
    fn from(request: SignTask) -> Self {
        let SignTask { network: Contract { chain_id, address: contract }, task } = request;
        let Task { epoch, snapshot, id, performer, result, approved } = task;
        Self { chain_id, contract, epoch, snapshot, task: NamedTask { id, performer, result, approved } }
    }
}

/// The proof of possession: `quorate_evm::digest::KeyPossession`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProvePossession {
    /// The chain's id.
    pub chain_id: u64,
    /// The contract of the network.
    pub contract: Address,
    /// The network's verifier, which checks the proof.
    pub verifier: Address,
    /// The account of the operator, for which the key is registered.
    pub operator: Address,
}

/// A peer id to bind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BindPeer {
    /// The chain's id.
    pub chain_id: u64,
    /// The contract of the network.
    pub contract: Address,
    /// The peer id: 1 to [`LONGEST_PEER_ID`] bytes.
    pub peer_id: Bytes,
}

/// What the signer answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SignerAnswer {
    /// To `public_key`.
    PublicKey(KeyAnswer),
    /// To `sign_task` and `bind_peer`.
    Signature(SignatureAnswer),
    /// To `possession`.
    Possession(PossessionAnswer),
    /// To `status`.
    Status(Box<StatusAnswer>),
    /// To any request. Nothing was signed.
    Error(Refusal),
}

/// The public key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyAnswer {
    /// The hash to the curve that the network's verifier has.
    pub key_group: KeyGroup,
    /// The key as the contract keeps it: 192 bytes.
    pub public_key: Bytes,
    /// The key in the 96 compressed bytes of other libraries.
    pub compressed: Bytes,
}

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignatureAnswer {
    /// What was signed.
    pub digest: B256,
    /// The point of G1 as the contract takes it: 96 bytes.
    pub signature: Bytes,
}

/// What registers the key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PossessionAnswer {
    /// What was signed.
    pub digest: B256,
    /// The key as the contract keeps it: 192 bytes.
    pub public_key: Bytes,
    /// The proof of possession: 96 bytes.
    pub proof: Bytes,
}

/// The signer's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusAnswer {
    /// The program's version.
    pub version: String,
    /// The network.
    pub network: NetworkTerms,
    /// The network's verifier.
    pub verifier: Address,
    /// The account of the operator.
    pub operator: Address,
    /// The hash to the curve that the network's verifier has.
    pub key_group: KeyGroup,
    /// The key as the contract keeps it: 192 bytes.
    pub public_key: Bytes,
    /// The epoch by the signer's clock; `null` before epoch 0.
    pub epoch: Option<u64>,
    /// No task of an epoch below it is signed; `null` while the record cannot be read.
    pub floor: Option<u64>,
    /// How many signed tasks the record holds; `null` while it cannot be read.
    pub tasks: Option<u64>,
    /// Whether the record was moved away by `export --retire`, so that no task is signed here any more.
    pub retired: bool,
    /// Why the record cannot be read or written; `null` if nothing is wrong.
    pub storage_error: Option<String>,
    /// How often the record could not be read or written since the signer started.
    #[serde(default)]
    pub storage_failures: u64,
    /// Why the signer's clock is not believed, so that no task is signed; `null` if it is.
    #[serde(default)]
    pub clock_error: Option<String>,
    /// Lines of the log that were dropped since the signer started, because nobody read them.
    #[serde(default)]
    pub dropped_log_lines: u64,
}

/// Why nothing was signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// For programs.
    pub code: RefusalCode,
    /// For people: one sentence.
    pub message: String,
}

/// The kinds of refusals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum RefusalCode {
    /// The line is not a request. The connection goes on.
    Malformed,
    /// The line has more than [`LONGEST_LINE`] bytes. The connection is closed.
    LineTooLong,
    /// There are too many connections. This one is closed.
    Busy,
    /// The request names another chain or contract than the signer was made for.
    WrongNetwork,
    /// The request names another verifier.
    WrongVerifier,
    /// The request names another operator.
    WrongOperator,
    /// The peer id is empty or too long.
    PeerIdLength,
    /// Epoch 0 has not begun by the signer's clock.
    NotStarted,
    /// The epoch has not begun by the signer's clock.
    FutureEpoch,
    /// The epoch can settle nothing more by the signer's clock.
    ClosedEpoch,
    /// The epoch is below the floor of the record.
    BelowFloor,
    /// The signer's clock is far ahead of all that it has seen before.
    ClockJump,
    /// A task was signed with which this one conflicts.
    Conflict,
    /// The record was moved to another machine.
    Retired,
    /// The record cannot be read or written.
    Storage,
    /// The program is at fault.
    Internal,
    /// A code that this version of the library does not know.
    #[serde(other)]
    Unknown,
}

impl RefusalCode {
    /// Every code that a signer of this version answers.
    pub const ALL: [Self; 16] = [
        Self::Malformed,
        Self::LineTooLong,
        Self::Busy,
        Self::WrongNetwork,
        Self::WrongVerifier,
        Self::WrongOperator,
        Self::PeerIdLength,
        Self::NotStarted,
        Self::FutureEpoch,
        Self::ClosedEpoch,
        Self::BelowFloor,
        Self::ClockJump,
        Self::Conflict,
        Self::Retired,
        Self::Storage,
        Self::Internal,
    ];

    /// The code as it stands in an answer, for metrics and people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::LineTooLong => "line-too-long",
            Self::Busy => "busy",
            Self::WrongNetwork => "wrong-network",
            Self::WrongVerifier => "wrong-verifier",
            Self::WrongOperator => "wrong-operator",
            Self::PeerIdLength => "peer-id-length",
            Self::NotStarted => "not-started",
            Self::FutureEpoch => "future-epoch",
            Self::ClosedEpoch => "closed-epoch",
            Self::BelowFloor => "below-floor",
            Self::ClockJump => "clock-jump",
            Self::Conflict => "conflict",
            Self::Retired => "retired",
            Self::Storage => "storage",
            Self::Internal => "internal",
            Self::Unknown => "unknown",
        }
    }
}

impl StatusAnswer {
    /// Why the signer signs no task now; `None` if it does.
    pub fn obstacle(&self) -> Option<String> {
        if self.retired {
            return Some("the record was moved to another machine by `export --retire`".to_owned());
        }
        let no_epoch = || {
            let Some(epoch) = self.epoch else { return Some("epoch 0 has not begun by the signer's clock".to_owned()) };
            self.floor.filter(|floor| *floor > epoch).map(|floor| {
                let begins = self.network.start_of(floor);
                format!(
                    "the floor of the record is epoch {floor}, which begins at second {begins} of Unix time, and by the signer's clock it \
                     is epoch {epoch} (docs/signer.md, \"A clock that was ahead\")"
                )
            })
        };
        self.storage_error.clone().or_else(|| self.clock_error.clone()).or_else(no_epoch)
    }
}

impl SignerRequest {
    /// Reads a line. No byte of it comes back in the error, so that a log can have it.
    ///
    /// # Errors
    /// [`RefusalCode::Malformed`], with the place of the error.
    pub fn parse(line: &[u8]) -> Result<Self, Refusal> {
        serde_json::from_slice(line).map_err(|error| {
            let (kind, column) = (error.classify(), error.column());
            let message = match kind {
                serde_json::error::Category::Data => {
                    format!(
                        "column {column}: a field is missing, unknown, given twice or of the wrong type; expected a \
                         request of docs/signer.md"
                    )
                }
                _ => format!("column {column}: this is not JSON; expected one JSON object a line"),
            };
            Refusal { code: RefusalCode::Malformed, message }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = r#"{"request":"sign_task","chain_id":1,"contract":"0x0101010101010101010101010101010101010101","epoch":12,"snapshot":"0x0202020202020202020202020202020202020202","task":{"id":"0x0303030303030303030303030303030303030303030303030303030303030303","performer":4,"result":"0x0505050505050505050505050505050505050505050505050505050505050505","approved":true}}"#;

    fn task() -> SignerRequest {
        let (id, result) = (B256::repeat_byte(3), B256::repeat_byte(5));
        SignerRequest::SignTask(SignTask {
            network: Contract { chain_id: 1, address: Address::repeat_byte(1) },
            task: Task { epoch: 12, snapshot: SnapshotId::repeat_byte(2), id, performer: 4, result, approved: true },
        })
    }

    fn all() -> Vec<SignerRequest> {
        let (chain_id, contract) = (u64::MAX, Address::repeat_byte(1));
        let (verifier, operator) = (Address::repeat_byte(2), Address::repeat_byte(3));
        vec![
            SignerRequest::PublicKey {},
            task(),
            SignerRequest::Possession(ProvePossession { chain_id, contract, verifier, operator }),
            SignerRequest::BindPeer(BindPeer { chain_id, contract, peer_id: vec![9; LONGEST_PEER_ID].into() }),
            SignerRequest::Status {},
        ]
    }

    #[test]
    fn requests_are_lines() {
        assert_eq!(serde_json::to_string(&task()).expect("plain types"), TASK);
        for request in all() {
            let line = serde_json::to_string(&request).expect("plain types");
            assert!(line.len() < LONGEST_LINE && !line.contains('\n'));
            assert_eq!(SignerRequest::parse(line.as_bytes()), Ok(request));
        }
    }

    #[test]
    fn the_name_of_a_code_is_what_an_answer_has() {
        for code in RefusalCode::ALL {
            let written = serde_json::to_value(code).expect("a plain type");
            assert_eq!(written, code.name());
            assert_eq!(serde_json::from_value::<RefusalCode>(written).expect("a code"), code);
        }
    }

    #[test]
    fn unknown_missing_and_repeated_fields() {
        for request in all() {
            let line = serde_json::to_string(&request).expect("plain types");
            let malformed = |line: &str| match SignerRequest::parse(line.as_bytes()) {
                Err(Refusal { code: RefusalCode::Malformed, .. }) => {}
                other => panic!("{line}: {other:?}"),
            };
            malformed(&line.replacen('{', r#"{"extra":1,"#, 1));
            malformed(&line.replacen(r#"{"request""#, r#"{"request":"status","request""#, 1));
            if line.contains("chain_id") {
                malformed(&line.replacen(r#""chain_id""#, r#""chain_id":1,"chain_id""#, 1));
                malformed(&line.replacen(r#""contract""#, r#""other""#, 1));
            }
        }
        for line in [
            &TASK.replace(r#""performer""#, r#""extra":1,"performer""#),
            &TASK.replace(r#""epoch":12"#, r#""epoch":-1"#),
            &TASK.replace(r#""epoch":12"#, r#""epoch":18446744073709551616"#),
            &TASK.replace(r#""epoch":12"#, r#""epoch":12.0"#),
            &TASK.replace("true", "1"),
            &TASK.replace("0x0202", "0x02"),
            r#"{"request":"sign_digest","digest":"0x00"}"#,
            r#"{"request":"status"} {"request":"status"}"#,
            "[]",
            "null",
            "",
            "{",
            "\u{feff}{}",
        ] {
            assert!(
                matches!(SignerRequest::parse(line.as_bytes()), Err(Refusal { code: RefusalCode::Malformed, .. })),
                "{line}"
            );
        }
    }

    #[test]
    fn no_byte_of_a_line_comes_back() {
        for line in [r#"{"request":"status","secret":1}"#, r#"{"request":"secret"}"#, "secret"] {
            let refusal = SignerRequest::parse(line.as_bytes()).expect_err("malformed");
            assert!(!refusal.message.contains("secret"), "{refusal:?}");
        }
    }

    #[test]
    fn codes_of_later_versions_are_read() {
        let answer = r#"{"answer":"error","code":"no-such-code","message":"m"}"#;
        let refusal = Refusal { code: RefusalCode::Unknown, message: "m".to_owned() };
        assert_eq!(serde_json::from_str::<SignerAnswer>(answer).expect("reads"), SignerAnswer::Error(refusal));
    }
}
