//! Why an entry has no valid claim.

use std::{borrow::Cow, sync::Arc};

use quorate_formats::judge;

/// Why an entry has no valid claim.
#[derive(Clone)]
pub(crate) enum Fault {
    /// The claim is false.
    Signature(judge::Fault),
    /// The claim is false, as its format or another process says.
    Told(Arc<str>),
    /// The entry makes no claim.
    Malformed(Arc<str>),
}

impl Fault {
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Signature(fault) => fault.to_string().into(),
            Self::Told(reason) | Self::Malformed(reason) => Cow::Borrowed(reason),
        }
    }
}
