//! When a block is final.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::rpc::{Rpc, RpcBlock, RpcError};

/// When a change is final. As text it is a number of blocks or `finalized`; in a file the number may stand as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "ConfirmationsText", into = "ConfirmationsText")]
pub enum Confirmations {
    /// Once so many blocks follow its block. 0: at once.
    Blocks(u64),
    /// Once the node says that its block is final (the tag "finalized").
    Finalized,
}

impl Confirmations {
    /// The last block of a chain that is final. Nodes behind one URL may differ, so it is none after the newest one.
    ///
    /// # Errors
    /// [`RpcError`].
    pub(crate) async fn last_final(self, rpc: &Rpc, newest: &RpcBlock) -> Result<Option<u64>, RpcError> {
        Ok(match self {
            Self::Blocks(behind) => newest.number.checked_sub(behind),
            Self::Finalized => rpc.block("finalized").await?.map(|block| block.number.min(newest.number)),
        })
    }
}

impl FromStr for Confirmations {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            FINALIZED => Ok(Self::Finalized),
            _ => text.parse().map(Self::Blocks).map_err(|_| "expected a number of blocks, or `finalized`"),
        }
    }
}

/// The same in a file: a number or a text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number of blocks, or `finalized`")]
enum ConfirmationsText {
    Blocks(u64),
    Text(String),
}

impl TryFrom<ConfirmationsText> for Confirmations {
    type Error = &'static str;

    fn try_from(text: ConfirmationsText) -> Result<Self, Self::Error> {
        match text {
            ConfirmationsText::Blocks(blocks) => Ok(Self::Blocks(blocks)),
            ConfirmationsText::Text(text) => text.parse(),
        }
    }
}

impl From<Confirmations> for ConfirmationsText {
    fn from(confirmations: Confirmations) -> Self {
        match confirmations {
            Confirmations::Blocks(blocks) => Self::Blocks(blocks),
            Confirmations::Finalized => Self::Text(FINALIZED.to_owned()),
        }
    }
}

const FINALIZED: &str = "finalized";

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever wrote the file knows no type of ours.
    #[test]
    fn no_name_of_a_type_is_shown() {
        for text in ["-1", "1.5", "true", "[1]", "\"final\"", "\"-1\""] {
            let error = serde_json::from_str::<Confirmations>(text).unwrap_err().to_string();
            assert!(error.starts_with("expected a number of blocks, or `finalized`"), "{text}: {error}");
        }
        for (text, expected) in [("7", Confirmations::Blocks(7)), ("\"finalized\"", Confirmations::Finalized)] {
            assert_eq!(serde_json::from_str::<Confirmations>(text).unwrap(), expected);
        }
    }
}
