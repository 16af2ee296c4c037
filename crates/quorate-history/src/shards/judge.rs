//! What a shard's file holds, with a verdict for each claim.

use std::{io, ops::ControlFlow, path::Path, thread, time::Duration};

use quorate::{AnySuite, Verifier, rand_core::CryptoRng};
use quorate_formats::{
    About, At, ChainVerdictLine, Check, ClaimIndex, Entry, Id, Malformed, OfChain, Place, Record, SignatureName,
    VerdictLine,
    judge::{self, Judge, WindowLimit},
};
use quorate_host::plain;
use serde::{Deserialize, Serialize};

use super::error::ShardError;
use crate::claims::{ChainClaim, ClaimKind};

/// An entry of a file on its way to its verdict.
pub(super) type Unjudged = judge::Item<Item>;

/// An entry of a file.
pub(super) struct Item {
    place: Place,
    name: Name,
    /// Why no claim of it is verified.
    fault: Option<Fault>,
}

/// How the entry is called beside its place.
enum Name {
    OfInput(Option<Id>, Option<OfChain>),
    OfChain(ClaimKind, ClaimIndex),
}

enum Fault {
    /// The claim is invalid whatever its signature, and why.
    Failed(String),
    /// The entry makes no claim, and why.
    Malformed(String),
}

impl Item {
    /// A signature of a chain.
    pub(super) fn of_chain(claim: ChainClaim) -> Unjudged {
        let bytes = size_of::<Unjudged>() + claim.claim.memory();
        let ChainClaim { claim, slot, kind, index, failed } = claim;
        let fault = failed.as_ref().map(Fault::failed);
        let claim = fault.is_none().then_some(claim);
        Unjudged { about: Self { place: kind.place(slot), name: Name::OfChain(kind, index), fault }, claim, bytes }
    }

    /// An entry of a file of claims, of which those that name no suite are of this one.
    pub(super) fn of_input(entry: Entry, default: Option<AnySuite>) -> Unjudged {
        let bytes = size_of::<Unjudged>() + entry.as_ref().map_or(0, Record::bytes);
        let (claim, about) = match entry.and_then(|record| record.split(default)) {
            Ok(split) => split,
            Err(malformed) => return Self::malformed(malformed),
        };
        let fault = about.failed_check().map(Fault::failed);
        let claim = fault.is_none().then_some(claim);
        let About { id, place, chain, .. } = about;
        Unjudged { about: Self { place, name: Name::OfInput(id, chain), fault }, claim, bytes }
    }

    /// An entry that makes no claim.
    pub(super) fn malformed(malformed: Malformed) -> Unjudged {
        let bytes = size_of::<Unjudged>() + malformed.bytes();
        let Malformed { place, reason, id, .. } = malformed;
        let about = Self { place, name: Name::OfInput(id, None), fault: Some(Fault::Malformed(reason)) };
        Unjudged { about, claim: None, bytes }
    }

    /// The kind of a signature of a chain, if it is one that is known. A file of claims may say any: it serves to count by kinds.
    fn kind(&self) -> Option<ClaimKind> {
        match &self.name {
            Name::OfChain(kind, _) => Some(*kind),
            Name::OfInput(_, chain) => ClaimKind::from_name(&chain.as_ref()?.kind),
        }
    }

    /// Whether a chain may hold it although its signature is false. Only a block proves that. What a file of claims says of a claim
    /// proves nothing.
    fn may_be_false(&self) -> bool {
        matches!(self.name, Name::OfChain(kind, _) if kind.may_be_false())
    }
}

impl Fault {
    fn failed(check: &Check) -> Self {
        Self::Failed(check.to_string())
    }
}

/// Counts of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimCounts {
    /// All claims: the sum of the others.
    pub claims: u64,
    /// True ones.
    pub valid: u64,
    /// False ones.
    pub invalid: u64,
    /// False ones that their chain may hold, read from its blocks. They do not count as invalid. A false deposit in a file of claims
    /// is invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub legal: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(super) fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl ClaimCounts {
    /// Whether each claim is counted as one of the three.
    pub(super) fn fit(self) -> bool {
        let parts = self.valid.checked_add(self.invalid).and_then(|sum| sum.checked_add(self.legal));
        parts == Some(self.claims)
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: Self) {
        for (sum, more) in [
            (&mut self.claims, other.claims),
            (&mut self.valid, other.valid),
            (&mut self.invalid, other.invalid),
            (&mut self.legal, other.legal),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// A verdict, ready to be written.
pub(super) struct Judged {
    item: Item,
    reason: Option<String>,
    legal: bool,
}

impl Judged {
    /// The kind of a signature of a chain.
    pub(super) fn kind(&self) -> Option<ClaimKind> {
        self.item.kind()
    }

    pub(super) fn is_valid(&self) -> bool {
        self.reason.is_none()
    }

    pub(super) fn is_malformed(&self) -> bool {
        matches!(self.item.fault, Some(Fault::Malformed(_)))
    }

    /// What it adds to the counts.
    pub(super) fn counts(&self) -> ClaimCounts {
        if self.is_malformed() {
            return ClaimCounts::default();
        }
        ClaimCounts {
            claims: 1,
            valid: u64::from(self.is_valid()),
            invalid: u64::from(!self.is_valid() && !self.legal),
            legal: u64::from(self.legal),
        }
    }

    /// Writes it as one line of JSON, in which a reader sees every character.
    pub(super) fn write(self, file: &str, to: &mut impl io::Write) -> io::Result<()> {
        let at = At::new(Some(file.to_owned()), Some(self.item.place));
        let malformed = self.is_malformed();
        let Self { item, reason, legal } = self;
        let line = match &item.name {
            Name::OfChain(kind, index) => {
                let name = SignatureName::new(kind.name(), *index);
                serde_json::to_string(&ChainVerdictLine::new(at, name, legal, reason))
            }
            Name::OfInput(id, _) if malformed => {
                let line = VerdictLine::malformed(0, id.as_ref(), at, reason.unwrap_or_default());
                serde_json::to_string(&line.without_index())
            }
            Name::OfInput(_, Some(OfChain { kind, slot, index })) => {
                let line = ChainVerdictLine::new(at, SignatureName::new(kind, *index), legal, reason);
                serde_json::to_string(&OfSlot { slot: *slot, line })
            }
            Name::OfInput(id, None) => {
                serde_json::to_string(&VerdictLine::new(0, id.as_ref(), reason).without_index().at(Some(at)))
            }
        };
        writeln!(to, "{}", plain::in_json(&line?))
    }
}

/// A claim of a file that says in which slot of its chain it stands.
#[derive(Serialize)]
struct OfSlot<'a> {
    slot: u64,
    #[serde(flatten)]
    line: ChainVerdictLine<'a>,
}

/// Where a reader puts what it reads. It breaks off if nobody listens any more.
pub(super) struct Sink(judge::Pusher<Item>);

impl Sink {
    pub(super) fn push(&mut self, item: Unjudged) -> ControlFlow<()> {
        self.0.push(item).map_or(ControlFlow::Break(()), ControlFlow::Continue)
    }
}

/// Gives the verdict of each item that `read` pushes to `take`, in order. A window of items is verified while the next one is
/// read. If `take` fails, so does the call, and reading ends. `path` is the file that is read.
pub(super) fn judge(
    verifier: &Verifier,
    rng: &mut impl CryptoRng,
    path: &Path,
    read: impl FnOnce(&mut Sink) -> Result<(), ShardError> + Send,
    mut take: impl FnMut(Vec<Judged>) -> Result<(), ShardError>,
) -> Result<(), ShardError> {
    let (to, windows) = judge::queue(WindowLimit::of(verifier.options().threads), Duration::MAX);
    thread::scope(|scope| {
        // Dropped here, also on an error, so that the reader ends and can be waited for.
        let mut windows = windows;
        let reader = thread::Builder::new().spawn_scoped(scope, move || read(&mut Sink(to)));
        let reader = reader.map_err(ShardError::thread(path))?;
        let mut judge = Judge::new(verifier.clone());
        while let Some(items) = windows.next(|| false) {
            let judged =
                judge.judge(items, rng).judged.into_iter().map(|judge::Judged { about: item, ruling, .. }| {
                    let (reason, legal) = match (&item.fault, ruling) {
                        (Some(Fault::Failed(reason) | Fault::Malformed(reason)), _) => (Some(reason.clone()), false),
                        (None, ruling) => {
                            let fault = ruling.map_or(Err(judge::Undecided), judge::Ruling::fault);
                            let fault = fault.map_err(|_| ShardError::Undecided(path.to_owned()))?;
                            let legal = fault.is_some() && item.may_be_false();
                            (fault.map(|fault| fault.to_string()), legal)
                        }
                    };
                    Ok(Judged { item, reason, legal })
                });
            take(judged.collect::<Result<_, ShardError>>()?)?;
        }
        match reader.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
