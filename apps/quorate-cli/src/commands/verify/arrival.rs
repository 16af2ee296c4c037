//! What comes from the inputs, and what becomes of it.

use std::{fmt, sync::Arc};

use quorate::{AnySuite, ClaimBytes, PublicKeys, Reason, SourceId};
use quorate_formats::{
    Check, CheckResult, Entry, Id, InputError, Malformed, Origin, Place, Record,
    judge::{self, Item},
};
use quorate_history::{ClaimIndex, ClaimKind, drand::RoundRange};
use quorate_host::exit::{Ends, Exit};

/// An input of a run.
#[derive(Clone, Debug)]
pub(in crate::commands) struct Input {
    /// Its place among the inputs, which tells it from the others. Two can have one name.
    pub(in crate::commands) index: usize,
    /// Its name in messages.
    pub(in crate::commands) name: Arc<str>,
}

impl Input {
    pub(in crate::commands) fn new(index: usize, name: impl Into<Arc<str>>) -> Self {
        Self { index, name: name.into() }
    }

    /// The input in which something stands.
    pub(super) fn of(origin: &Origin) -> Self {
        Self::new(origin.input, origin.document.as_str())
    }

    /// A place in it.
    pub(in crate::commands) fn at(&self, place: Place) -> Origin {
        Origin { input: self.index, document: self.name.to_string(), place }
    }
}

/// Something that the inputs hold.
pub(in crate::commands) enum Arrival {
    /// A claim to judge.
    Claim(Box<Pending>),
    /// A claim that was judged together with the other light-client updates.
    Judged(Box<Judged>),
    /// An entry that makes no claim.
    Malformed { input: Input, malformed: Malformed },
    /// A field that is in no claim, and that is skipped.
    UnknownField { input: Input, place: Place, name: String },
    /// A validator that occurs a second time, and where it was met first.
    Repeated { input: Input, place: Place, what: String, first: Origin },
    /// A file that states the drand chain which the user chose. It needs no claim of its own.
    ChainInfo { input: Input },
    /// Signatures of a chain of which their blocks do not say what they sign.
    Unverified { kind: ClaimKind, reason: &'static str, number: usize },
    /// The rounds of drand that the inputs have, from the first to the last one.
    Rounds(RoundRange),
    /// A file that cannot be read on.
    Failed { input: Input, exit: Exit, reason: String },
}

impl Arrival {
    /// A file that cannot be read on, and why.
    pub(in crate::commands) fn failed(input: &Input, error: &InputError) -> Self {
        Self::Failed { input: input.clone(), exit: error.exit(), reason: error.to_string() }
    }

    /// The judgement, if there is one.
    pub(super) fn judged(&mut self) -> Option<&mut Judged> {
        if let Self::Judged(judged) = self { Some(judged) } else { None }
    }

    /// What the judge gets. A claim that its format already refutes is not verified, and so never remembered.
    pub(super) fn into_item(self) -> Item<Waiting> {
        let bytes = self.bytes();
        let (about, claim) = match self {
            Self::Claim(pending) => {
                let Pending { claim, about, .. } = *pending;
                match about.checks.iter().find(|check| check.failed()).cloned() {
                    None => (Waiting::Verdict(about), Some(claim)),
                    Some(check) => {
                        let ClaimBytes { suite, source, .. } = claim;
                        let fault = Some(Fault::Check(check));
                        (Waiting::Turn(Box::new(Self::Judged(Box::new(Judged { about, suite, source, fault })))), None)
                    }
                }
            }
            other => (Waiting::Turn(Box::new(other)), None),
        };
        Item { about, claim, bytes }
    }

    /// About how much memory it holds.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Claim(pending) => pending.bytes,
                Self::Judged(judged) => judged.about.bytes(),
                Self::Malformed { malformed, .. } => malformed.bytes(),
                Self::Repeated { what, first, .. } => what.capacity() + first.document.capacity(),
                Self::UnknownField { name, .. } => name.capacity(),
                Self::ChainInfo { .. } | Self::Unverified { .. } | Self::Rounds(_) => 0,
                Self::Failed { reason, .. } => reason.capacity(),
            }
    }
}

/// What an item of the judge waits for.
pub(super) enum Waiting {
    /// A verdict about its claim.
    Verdict(About),
    /// Its turn to be reported.
    Turn(Box<Arrival>),
}

/// The end of the queue to the judge. The other end notices when it is dropped.
pub(in crate::commands) struct Pusher(pub(super) judge::Pusher<Waiting>);

impl Pusher {
    /// Pushes an arrival, and waits while the queue is full. Answers with `None` if the other end was dropped.
    pub(in crate::commands) fn push(&self, arrival: Arrival) -> Option<()> {
        self.0.push(arrival.into_item())
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
    /// The claims that vouch for its keys, of which one is enough.
    pub(in crate::commands) rests_on: Option<Arc<Vec<Origin>>>,
    /// Whether its suite is the one of `--suite`, because it names none.
    pub(in crate::commands) by_default: bool,
    /// Whether it names members of a key set.
    pub(in crate::commands) of_key_set: bool,
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
    /// Why it is not valid.
    pub(super) fault: Option<Fault>,
}

/// Why a claim is not valid.
pub(in crate::commands) enum Fault {
    /// The engine says so.
    Signature(judge::Fault),
    /// The engine came to no verdict.
    Undecided(judge::Undecided),
    /// A check of the format failed.
    Check(Check),
    /// It is signed for this network, and not for the one that was expected.
    OtherNetwork(String),
}

impl Judged {
    /// Whether the claim is valid.
    pub(super) fn is_valid(&self) -> bool {
        self.fault.is_none()
    }

    /// Whether the claim is false, and yet its chain may hold it.
    pub(super) fn is_legal_lie(&self) -> bool {
        let may_be_false = self.about.of_block.is_some_and(|(kind, _)| kind.may_be_false());
        may_be_false && matches!(self.fault, Some(Fault::Signature(_)))
    }

    /// The signature as one of the checks, for claims of a format that has checks.
    pub(super) fn signature_check(&self) -> Check {
        let (result, detail) = match &self.fault {
            None => (CheckResult::Passed, "it matches the keys and the message".to_owned()),
            Some(fault @ (Fault::Signature(_) | Fault::Undecided(_) | Fault::OtherNetwork(_))) => {
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
        self.fault.as_ref()
    }

    /// Whether its signature is one of other bytes or of another key.
    pub(super) fn is_mismatch(&self) -> bool {
        matches!(&self.fault, Some(Fault::Signature(fault)) if fault.reason == Reason::Mismatch)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature(fault) => fault.fmt(f),
            Self::Undecided(undecided) => undecided.fmt(f),
            Self::Check(check) => check.fmt(f),
            Self::OtherNetwork(network) => write!(f, "it is signed for the network {network}"),
        }
    }
}

/// An entry with its suite found.
pub(super) fn arrive(input: &Input, entry: Entry, default: Option<AnySuite>) -> Arrival {
    match entry.and_then(|record| pend(input, record, default)) {
        Ok(pending) => Arrival::Claim(Box::new(pending)),
        Err(malformed) => Arrival::Malformed { input: input.clone(), malformed },
    }
}

fn pend(input: &Input, record: Record, default: Option<AnySuite>) -> Result<Pending, Malformed> {
    // The record's bytes are those of its id and its checks too.
    let bytes = size_of::<Pending>() + input.name.len() + record.bytes();
    let (claim, said) = record.split(default)?;
    let about = About {
        id: said.id,
        origin: input.at(said.place),
        checks: said.checks,
        rests_on: said.rests_on,
        by_default: said.by_default,
        of_key_set: matches!(claim.public_keys, PublicKeys::Members(..)),
        of_block: None,
    };
    Ok(Pending { claim, about, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_entry_that_makes_no_claim_counts() {
        let malformed = |id: &str| {
            let malformed = Malformed::new(Place::Line(1), "no claim").with_id(Some(Id::text(id)));
            Arrival::Malformed { input: Input::new(0, "claims.jsonl"), malformed }
        };
        assert_eq!(malformed(&"a".repeat(30_000)).bytes() - malformed("").bytes(), 30_000);
    }
}
