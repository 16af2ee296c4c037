//! What a shard's file holds, with a verdict for each claim.

use std::{
    io,
    ops::ControlFlow,
    sync::mpsc::{SyncSender, sync_channel},
    thread,
};

use quorate::{AnySuite, ClaimBytes, Reason, Verdict, Verifier, rand_core::CryptoRng};
use quorate_formats::{
    At, ChainVerdictLine, Check, ClaimIndex, Entry, Id, Malformed, OfChain, Place, SignatureName, VerdictLine,
    drand::OtherChains,
};
use serde::{Deserialize, Serialize};

use super::error::ShardError;
use crate::claims::{ChainClaim, ClaimKind};

/// An entry of a file.
pub(super) struct Item {
    place: Place,
    name: Name,
    /// The claim that the engine has to verify, until it is taken out.
    claim: Option<ClaimBytes>,
    /// Why there is none.
    fault: Option<Fault>,
    /// About how much memory it takes.
    bytes: usize,
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
    pub(super) fn of_chain(claim: ChainClaim) -> Self {
        let bytes = size_of::<Self>() + claim.claim.memory();
        let ChainClaim { claim, slot, kind, index, failed } = claim;
        let fault = failed.as_ref().map(Fault::failed);
        let claim = fault.is_none().then_some(claim);
        Self { place: kind.place(slot), name: Name::OfChain(kind, index), claim, fault, bytes }
    }

    /// An entry of a file of claims, of which those that name no suite are of this one.
    pub(super) fn of_input(entry: Entry, default: Option<AnySuite>) -> Self {
        let (place, name, bytes, claim) = match entry {
            Ok(mut record) => {
                let (place, bytes) = (record.place, record.bytes());
                let name = Name::OfInput(record.id.take(), record.chain.take());
                let failed = record.failed_check().map(Fault::failed);
                let claim = record.into_claim(default).map_err(|error| Fault::Malformed(error.to_string()));
                (place, name, bytes, claim.and_then(|claim| failed.map_or(Ok(claim), Err)))
            }
            Err(malformed) => return Self::malformed(malformed),
        };
        let (claim, fault) = match claim {
            Ok(claim) => (Some(claim), None),
            Err(fault) => (None, Some(fault)),
        };
        Self { place, name, claim, fault, bytes: size_of::<Self>() + bytes }
    }

    /// An entry that makes no claim.
    pub(super) fn malformed(Malformed { place, reason, id, .. }: Malformed) -> Self {
        let bytes = size_of::<Self>() + reason.len() + id.as_ref().map_or(0, |id| id.as_json().len());
        Self { place, name: Name::OfInput(id, None), claim: None, fault: Some(Fault::Malformed(reason)), bytes }
    }

    /// The kind of a signature of a chain, if it is one that is known.
    fn kind(&self) -> Option<ClaimKind> {
        match &self.name {
            Name::OfChain(kind, _) => Some(*kind),
            Name::OfInput(_, chain) => ClaimKind::from_name(&chain.as_ref()?.kind),
        }
    }
}

impl Fault {
    fn failed(check: &Check) -> Self {
        Self::Failed(format!("{}: {}", check.name, check.detail))
    }
}

/// Counts of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(clippy::exhaustive_structs, reason = "they are counts")]
pub struct Counts {
    /// All claims: the sum of the others.
    pub claims: u64,
    /// True ones.
    pub valid: u64,
    /// False ones.
    pub invalid: u64,
    /// False ones that their chain may hold. They do not count as invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub legal: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
pub(super) fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Counts {
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
pub(super) struct Judged<'a> {
    item: &'a Item,
    reason: Option<String>,
    legal: bool,
}

impl Judged<'_> {
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
    pub(super) fn counts(&self) -> Counts {
        if self.is_malformed() {
            return Counts::default();
        }
        Counts {
            claims: 1,
            valid: u64::from(self.is_valid()),
            invalid: u64::from(!self.is_valid() && !self.legal),
            legal: u64::from(self.legal),
        }
    }

    /// Writes it as one line of JSON.
    pub(super) fn write(self, file: &str, to: &mut impl io::Write) -> io::Result<()> {
        let at = At::new(Some(file.to_owned()), Some(self.item.place));
        let malformed = self.is_malformed();
        let Self { item, reason, legal } = self;
        match &item.name {
            Name::OfChain(kind, index) => {
                let name = SignatureName::new(kind.name(), *index);
                serde_json::to_writer(&mut *to, &ChainVerdictLine::new(at, name, legal, reason))?;
            }
            Name::OfInput(id, _) if malformed => {
                let line = VerdictLine::malformed(0, id.as_ref(), at, reason.unwrap_or_default()).without_index();
                serde_json::to_writer(&mut *to, &line)?;
            }
            Name::OfInput(_, Some(OfChain { kind, slot, index })) => {
                let line = ChainVerdictLine::new(at, SignatureName::new(kind, *index), legal, reason);
                serde_json::to_writer(&mut *to, &OfSlot { slot: *slot, line })?;
            }
            Name::OfInput(id, None) => {
                let line = VerdictLine::new(0, id.as_ref(), reason).without_index().at(Some(at));
                serde_json::to_writer(&mut *to, &line)?;
            }
        }
        to.write_all(b"\n")
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
pub(super) struct Sink {
    to: SyncSender<Vec<Item>>,
    window: Vec<Item>,
    bytes: usize,
    most: usize,
}

impl Sink {
    pub(super) fn push(&mut self, item: Item) -> ControlFlow<()> {
        self.bytes += item.bytes;
        self.window.push(item);
        if self.window.len() >= self.most || self.bytes >= WINDOW_BYTES {
            self.send()
        } else {
            ControlFlow::Continue(())
        }
    }

    fn send(&mut self) -> ControlFlow<()> {
        self.bytes = 0;
        let window = std::mem::take(&mut self.window);
        if self.to.send(window).is_err() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Gives the verdict of each item that `read` pushes to `take`, in order. A window of items is verified while the next one is read,
/// so at most three are in memory. If `take` fails, so does the call, and reading ends.
pub(super) fn judge(
    verifier: &Verifier,
    rng: &mut impl CryptoRng,
    read: impl FnOnce(&mut Sink) -> Result<(), ShardError> + Send,
    undecided: impl Fn() -> ShardError,
    mut take: impl FnMut(Vec<Judged<'_>>) -> Result<(), ShardError>,
) -> Result<(), ShardError> {
    let most = WINDOW_ITEMS * verifier.options().threads.get();
    let (to, windows) = sync_channel(1);
    thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut sink = Sink { to, window: Vec::new(), bytes: 0, most };
            read(&mut sink)?;
            let _ = sink.send();
            Ok(())
        });
        let mut other_chains = OtherChains::default();
        for mut window in windows {
            let claims: Vec<ClaimBytes> = window.iter_mut().filter_map(|item| item.claim.take()).collect();
            let mut verdicts = verifier.verify(&claims, rng).verdicts.into_iter().zip(&claims);
            let judged = window.iter().map(|item| {
                let (reason, legal) = match &item.fault {
                    Some(Fault::Failed(reason) | Fault::Malformed(reason)) => (Some(reason.clone()), false),
                    None => match verdicts.next().expect("a verdict for each claim") {
                        (Verdict::Valid, _) => (None, false),
                        (Verdict::Invalid(Reason::Undecided), _) => return Err(undecided()),
                        (Verdict::Invalid(reason), claim) => {
                            let legal = item.kind().is_some_and(ClaimKind::may_be_false);
                            (Some(other_chains.reason(claim, reason)), legal)
                        }
                    },
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

/// Items of a window, a thread.
const WINDOW_ITEMS: usize = 1024;
/// Bytes of a window.
const WINDOW_BYTES: usize = 16 << 20;
