//! What comes from the inputs, and what becomes of it.

use std::sync::Arc;

use super::suite::{ClaimSuite, UnknownSuite};
use quorate_formats::{Check, Entry, Id, InputError, Malformed, Messages, Origin, Record, Source};

/// Something that the inputs hold.
pub(super) enum Arrival {
    /// A claim to judge.
    Claim(Box<Pending>),
    /// A claim that was judged with the other light-client updates.
    Judged(Judged),
    /// An entry that makes no claim.
    Malformed { file: Arc<str>, malformed: Malformed },
    /// A file that cannot be read on.
    Failed { file: Arc<str>, error: InputError },
}

impl Arrival {
    /// About how much memory it holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Claim(pending) => pending.bytes(),
            Self::Malformed { malformed, .. } => malformed.reason.len(),
            Self::Judged(_) | Self::Failed { .. } => 0,
        }
    }
}

/// A claim whose suite is known.
pub(super) struct Pending {
    pub(super) file: Arc<str>,
    pub(super) record: Record,
    pub(super) suite: ClaimSuite,
}

impl Pending {
    /// About how much memory it holds.
    pub(super) fn bytes(&self) -> usize {
        let Record { id, source, public_keys, messages, signature, .. } = &self.record;
        let source = if let Some(Source::Name(name)) = source { name.len() } else { 0 };
        let names = id.as_ref().map_or(0, |id| id.as_json().len()) + source;
        let messages = match messages {
            Messages::Shared(message) => message.len(),
            Messages::Each(messages) => messages.iter().map(Vec::len).sum(),
        };
        names + public_keys.iter().map(Vec::len).sum::<usize>() + messages + signature.len()
    }
}

/// A claim with its verdict.
pub(super) struct Judged {
    pub(super) id: Option<Id>,
    pub(super) suite: ClaimSuite,
    pub(super) source: Option<Source>,
    /// Why it is invalid; none where it is valid.
    pub(super) reason: Option<String>,
    /// Where it stands.
    pub(super) origin: Origin,
    /// What its format could check by itself.
    pub(super) checks: Vec<Check>,
    /// The claim that vouches for its keys.
    pub(super) rests_on: Option<Origin>,
}

impl Judged {
    /// Whether the claim is true.
    pub(super) fn is_valid(&self) -> bool {
        self.reason.is_none()
    }
}

/// An entry with its suite found.
pub(super) fn arrive(file: &Arc<str>, entry: Entry, default: Option<ClaimSuite>) -> Arrival {
    let pending = entry.and_then(|record| {
        let suite = suite_of(&record, default).map_err(|reason| Malformed::new(record.place, reason))?;
        Ok(Pending { file: file.clone(), record, suite })
    });
    match pending {
        Ok(pending) => Arrival::Claim(Box::new(pending)),
        Err(malformed) => Arrival::Malformed { file: file.clone(), malformed },
    }
}

fn suite_of(record: &Record, default: Option<ClaimSuite>) -> Result<ClaimSuite, String> {
    match &record.suite {
        Some(name) => name.parse().map_err(|error: UnknownSuite| error.to_string()),
        None => {
            default.ok_or_else(|| "the claim names no suite; add a field \"suite\", or give --suite NAME".to_owned())
        }
    }
}
