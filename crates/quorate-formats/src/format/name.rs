//! The formats, and what they are called.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A format of claims. The reader of each is a module of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// One row a claim.
    Parquet,
    /// Rounds of a drand chain.
    Drand,
    /// Beacon API light-client objects.
    LightClient,
    /// Deposits to Ethereum's deposit contract.
    Deposit,
    /// Changes of withdrawal credentials.
    Change,
    /// Signed voluntary exits.
    Exit,
}

impl Format {
    /// All of them, in the order in which they are documented.
    pub const ALL: [Self; 7] =
        [Self::Jsonl, Self::Parquet, Self::Drand, Self::LightClient, Self::Deposit, Self::Change, Self::Exit];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Drand => "drand",
            Self::LightClient => "light-client",
            Self::Deposit => "deposit",
            Self::Change => "change",
            Self::Exit => "exit",
        }
    }

    /// What a document is called that is read as a whole: claims in JSON are no lines then.
    pub(crate) fn of_document(self) -> &'static str {
        if self == Self::Jsonl { "JSON" } else { self.name() }
    }

    /// What was expected of a document in JSON.
    pub(crate) fn in_json(self) -> String {
        if self == Self::Jsonl { "a claim or an array of claims".to_owned() } else { format!("a {self} document") }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found the format {0:?}, expected jsonl, parquet, drand, light-client, deposit, change or exit")]
pub struct UnknownFormat(String);
