//! Why an entry has no valid claim.

use quorate_formats::judge;

/// Why an entry has no valid claim.
#[derive(Clone)]
pub(crate) enum Fault {
    /// The claim is false.
    Signature(judge::Fault),
    /// The claim is false, as its format or another process says.
    Told(String),
    /// The entry makes no claim.
    Malformed(String),
}

impl Fault {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Signature(fault) => fault.to_string(),
            Self::Told(reason) | Self::Malformed(reason) => reason.clone(),
        }
    }
}
