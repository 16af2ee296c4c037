//! What the user's work is asked, and what an endpoint answers, as JSON.

use quorate_evm::{
    alloy_primitives::{Address, B256, Bytes},
    digest::Contract,
};
use serde::{Deserialize, Serialize};

/// The version of the schema. It changes when a program that reads the old one could misread the new one.
pub const SCHEMA_VERSION: u32 = 1;

/// A task, as the user's work gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramTask {
    /// The epoch in which it is performed.
    pub epoch: u64,
    /// Its id.
    pub id: B256,
    /// What came with it.
    pub payload: Bytes,
}

/// The JSON object that a program reads from standard input, and an endpoint from the body of a request.
///
/// ```json
/// {"action":"execute","version":1,"network":{"chain_id":1,"contract":"0x…"},"epoch":7,"id":"0x…","payload":"0x…"}
/// ```
///
/// The action is in the object so that a program that is given for the other action can refuse.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase", deny_unknown_fields)]
pub enum ProgramInput {
    /// Execute the task: give the bytes of its result.
    Execute {
        /// [`SCHEMA_VERSION`].
        version: u32,
        /// The network whose task it is.
        network: ProgramNetwork,
        /// The epoch in which it is performed.
        epoch: u64,
        /// The task's id: `0x` and 64 lowercase hexadecimal digits.
        id: B256,
        /// What came with the task: `0x` and two lowercase hexadecimal digits for each byte.
        payload: Bytes,
    },
    /// Judge a result: attest it or reject it.
    Validate {
        /// [`SCHEMA_VERSION`].
        version: u32,
        /// The network whose task it is.
        network: ProgramNetwork,
        /// The epoch in which it is performed.
        epoch: u64,
        /// The task's id: `0x` and 64 lowercase hexadecimal digits.
        id: B256,
        /// What came with the task: `0x` and two lowercase hexadecimal digits for each byte.
        payload: Bytes,
        /// The bytes of the result, written like the payload.
        result: Bytes,
    },
}

impl ProgramInput {
    /// The question for a result.
    pub fn execute(network: Contract, task: &ProgramTask) -> Self {
        let ProgramTask { epoch, id, payload } = task.clone();
        Self::Execute { version: SCHEMA_VERSION, network: network.into(), epoch, id, payload }
    }

    /// The question for a verdict.
    pub fn validate(network: Contract, task: &ProgramTask, result: &Bytes) -> Self {
        let ProgramTask { epoch, id, payload } = task.clone();
        let result = result.clone();
        Self::Validate { version: SCHEMA_VERSION, network: network.into(), epoch, id, payload, result }
    }

    /// The object on one line, with the end of the line.
    pub(super) fn line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).expect("integers and text, whose serialization has no error");
        line.push(b'\n');
        line
    }
}

/// The contract of a network, and its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramNetwork {
    /// The chain's id (EIP-155).
    pub chain_id: u64,
    /// The address of its `TaskNetwork`: `0x` and 40 lowercase hexadecimal digits.
    pub contract: Address,
}

impl From<Contract> for ProgramNetwork {
    fn from(Contract { chain_id, address }: Contract) -> Self {
        Self { chain_id, contract: address }
    }
}

/// What an endpoint answers to [`ProgramInput::Validate`]. It may have further fields, such as a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramVerdict {
    /// Whether the result is right.
    pub approved: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task() -> ProgramTask {
        ProgramTask { epoch: 7, id: B256::repeat_byte(0xAB), payload: Bytes::from_static(b"{}\xff") }
    }

    const NETWORK: Contract = Contract { chain_id: 31337, address: Address::repeat_byte(0xCD) };

    #[test]
    fn the_line_is_the_documented_one() {
        let id = "ab".repeat(32);
        let contract = "cd".repeat(20);
        let common = format!(
            r#""version":1,"network":{{"chain_id":31337,"contract":"0x{contract}"}},"epoch":7,"id":"0x{id}","payload":"0x7b7dff""#
        );
        let execute = ProgramInput::execute(NETWORK, &task());
        assert_eq!(execute.line(), format!("{{\"action\":\"execute\",{common}}}\n").into_bytes());
        let validate = ProgramInput::validate(NETWORK, &task(), &Bytes::new());
        assert_eq!(validate.line(), format!("{{\"action\":\"validate\",{common},\"result\":\"0x\"}}\n").into_bytes());
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        for input in [
            ProgramInput::execute(NETWORK, &task()),
            ProgramInput::validate(NETWORK, &task(), &Bytes::from_static(b"1")),
        ] {
            let line = String::from_utf8(input.line()).unwrap();
            assert_eq!(serde_json::from_str::<ProgramInput>(&line).unwrap(), input);
            assert!(serde_json::from_str::<ProgramInput>(&line.replace("\"epoch\"", "\"era\"")).is_err());
        }
        let line = String::from_utf8(ProgramInput::execute(NETWORK, &task()).line()).unwrap();
        // A result is missing.
        assert!(serde_json::from_str::<ProgramInput>(&line.replace("\"execute\"", "\"validate\"")).is_err());
    }
}
