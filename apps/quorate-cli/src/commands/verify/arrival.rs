//! What comes from the inputs, and what becomes of it.

use std::{fmt, sync::Arc};

use quorate::{AnySuite, ClaimBytes, Reason, SourceId, Verdict};
use quorate_formats::{Check, CheckResult, Entry, Id, InputError, Malformed, Origin, Place, Record};
use quorate_history::{ClaimIndex, ClaimKind, drand::RoundRange};
use quorate_host::exit::{Ends, Exit};

/// Something that the inputs hold.
pub(in crate::commands) enum Arrival {
    /// A claim to judge.
    Claim(Box<Pending>),
    /// A claim that was judged together with the other light-client updates.
    Judged(Judged),
    /// An entry that makes no claim.
    Malformed { file: Arc<str>, malformed: Malformed },
    /// A field that is in no claim, and that is skipped.
    UnknownField { file: Arc<str>, place: Place, name: String },
    /// A validator that occurs a second time, and where it was met first.
    Repeated { file: Arc<str>, place: Place, what: String, first: Origin },
    /// A file that makes no claim, but says which key verifies the drand rounds of the files after it.
    ChainInfo { file: Arc<str> },
    /// Signatures of a chain of which their blocks do not say what they sign.
    Unverified { kind: ClaimKind, reason: &'static str, number: usize },
    /// The rounds of drand that the inputs have, from the first to the last one.
    Rounds(RoundRange),
    /// A file that cannot be read on.
    Failed { file: Arc<str>, exit: Exit, reason: String },
}

impl Arrival {
    /// A file that cannot be read on, and why.
    pub(in crate::commands) fn failed(file: &Arc<str>, error: &InputError) -> Self {
        Self::Failed { file: file.clone(), exit: error.exit(), reason: error.to_string() }
    }

    /// About how much memory it holds.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Claim(pending) => pending.bytes,
                Self::Judged(judged) => judged.about.bytes(),
                Self::Malformed { malformed, .. } => malformed.reason.capacity(),
                Self::Repeated { what, first, .. } => what.capacity() + first.document.capacity(),
                Self::UnknownField { name, .. } => name.capacity(),
                Self::ChainInfo { .. } | Self::Unverified { .. } | Self::Rounds(_) => 0,
                Self::Failed { reason, .. } => reason.capacity(),
            }
    }
}

/// A claim that was not judged yet.
pub(in crate::commands) struct Pending {
    pub(in crate::commands) claim: ClaimBytes,
    pub(in crate::commands) about: About,
    /// About how much memory it holds.
    pub(in crate::commands) bytes: usize,
}

/// What the input says of a claim beside the claim itself.
pub(in crate::commands) struct About {
    pub(in crate::commands) id: Option<Id>,
    /// Where it stands.
    pub(in crate::commands) origin: Origin,
    /// What its format could check by itself.
    pub(in crate::commands) checks: Vec<Check>,
    /// The claim that vouches for its keys.
    pub(in crate::commands) rests_on: Option<Origin>,
    /// Whether its suite is the one of `--suite`, because it names none.
    pub(in crate::commands) by_default: bool,
    /// Which signature of its block it is, if it is of a chain.
    pub(in crate::commands) of_block: Option<(ClaimKind, ClaimIndex)>,
}

impl About {
    /// About how much memory it holds, beside its own size.
    fn bytes(&self) -> usize {
        let id = self.id.as_ref().map_or(0, |id| id.as_json().len());
        let checks = self.checks.iter().map(|check| size_of::<Check>() + check.detail.capacity()).sum::<usize>();
        id + checks + self.origin.document.capacity()
    }
}

/// A claim with its judgement.
pub(in crate::commands) struct Judged {
    pub(super) about: About,
    pub(super) suite: AnySuite,
    pub(super) source: Option<SourceId>,
    pub(super) judgement: Judgement,
}

/// The truth of a claim, and of what its format says about it.
pub(in crate::commands) enum Judgement {
    Valid,
    Invalid(Fault),
}

/// Why a claim is not valid.
pub(in crate::commands) enum Fault {
    /// The engine says so.
    Reason(Reason),
    /// The engine says so, and it is a round of this chain of drand.
    OtherChain(Reason, &'static str),
    /// A check of the format failed.
    Check(Check),
    /// The claim that vouches for its keys is invalid.
    RestsOn(Origin),
    /// It is signed for this network, and not for the one that was expected.
    OtherNetwork(String),
}

impl Judged {
    /// Whether the claim is valid.
    pub(super) fn is_valid(&self) -> bool {
        matches!(self.judgement, Judgement::Valid)
    }

    /// Whether the claim is false, and yet its chain may hold it.
    pub(super) fn is_legal_lie(&self) -> bool {
        let may_be_false = self.about.of_block.is_some_and(|(kind, _)| kind.may_be_false());
        may_be_false && matches!(self.fault(), Some(Fault::Reason(reason)) if *reason != Reason::Undecided)
    }

    /// The signature as one of the checks, for claims of a format that has checks.
    pub(super) fn signature_check(&self) -> Check {
        let (result, detail) = match self.fault() {
            None | Some(Fault::RestsOn(_)) => (CheckResult::Passed, "it matches the keys and the message".to_owned()),
            Some(fault @ (Fault::Reason(_) | Fault::OtherChain(..) | Fault::OtherNetwork(_))) => {
                (CheckResult::Failed, fault.to_string())
            }
            Some(Fault::Check(check)) => {
                (CheckResult::NotPossible, format!("not verified, because {} failed", check.name))
            }
        };
        Check::decided("signature", result, detail)
    }

    /// Why the claim is not valid.
    pub(super) fn fault(&self) -> Option<&Fault> {
        match &self.judgement {
            Judgement::Valid => None,
            Judgement::Invalid(fault) => Some(fault),
        }
    }
}

impl From<Verdict> for Judgement {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Valid => Self::Valid,
            Verdict::Invalid(reason) => Self::Invalid(Fault::Reason(reason)),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reason(reason) => reason.fmt(f),
            Self::OtherChain(reason, chain) => write!(f, "{reason}; it is a round of the chain {chain}"),
            Self::Check(check) => write!(f, "{}: {}", check.name, check.detail),
            Self::RestsOn(origin) => write!(f, "its committee rests on {origin}, which is invalid"),
            Self::OtherNetwork(network) => write!(f, "it is signed for the network {network}"),
        }
    }
}

/// An entry with its suite found.
pub(super) fn arrive(file: &Arc<str>, entry: Entry, default: Option<AnySuite>) -> Arrival {
    match entry.and_then(|record| pend(file, record, default)) {
        Ok(pending) => Arrival::Claim(Box::new(pending)),
        Err(malformed) => Arrival::Malformed { file: file.clone(), malformed },
    }
}

fn pend(file: &Arc<str>, mut record: Record, default: Option<AnySuite>) -> Result<Pending, Malformed> {
    let place: Place = record.place;
    // The record's bytes are those of its id and its checks too.
    let bytes = size_of::<Pending>() + file.len() + record.bytes();
    let about = About {
        id: record.id.take(),
        origin: Origin { document: file.to_string(), place },
        checks: std::mem::take(&mut record.checks),
        rests_on: record.rests_on.take(),
        by_default: record.suite.is_none(),
        of_block: None,
    };
    let id = || about.id.clone();
    let claim = record.into_claim(default).map_err(|error| Malformed::new(place, error.to_string()).with_id(id()))?;
    Ok(Pending { claim, about, bytes })
}
