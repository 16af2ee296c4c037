//! A drand chain from rounds on disk, in any number of files.
//!
//! [`read`] gives the rounds of a file as claims. On a chained network each round signs the signature of the round before it; if the
//! file gives another signature for that round, the claim is invalid, whatever its own signature. Runs of consecutive rounds become
//! [`RoundSpan`]s, and [`join`] says how the spans of all files fit together: which rounds are missing, which are given twice, where
//! two files do not chain, and which rounds are of another chain.
//!
//! Rounds that stand on one line are read line by line, so a file of any length takes the memory of its longest line, and of its
//! spans: one for each gap. A document on several lines is held as a whole, up to
//! [`DOCUMENT_LIMIT`](quorate_formats::DOCUMENT_LIMIT).
//!
//! Spec: drand, `crypto/schemes.go` (`DigestBeacon`) and `chain/store.go`; the formats of a round are those of
//! [`quorate_formats::drand`].

use std::{
    fmt,
    io::{BufRead, Read},
    str::FromStr,
};

use quorate::AnySuite;
use quorate_formats::{
    Check, CheckResult, InputError, Malformed, Place,
    drand::{self, Beacon, DrandOptions, Rounds},
};
use quorate_host::BYTE_ORDER_MARK;
use serde_json::value::RawValue;
use thiserror::Error;

use crate::claims::{ChainClaim, ClaimKind};

/// The longest line that is read as a line, 1 MiB: some thousand times that of a round. A longer one is read as a document.
const LINE_LIMIT: usize = 1 << 20;

/// So many spans of a file are kept, which take some 20 MB. Rounds out of order make a span each.
pub const SPANS_LIMIT: usize = 1 << 16;

/// Reads the rounds of a file, in its order.
pub fn read<R: BufRead>(reader: R, options: &DrandOptions) -> DrandRounds<R> {
    DrandRounds {
        reader,
        options: options.clone(),
        document: None,
        elements: 0,
        lines: 0,
        ended: false,
        spans: Vec::new(),
        current: None,
    }
}

/// The rounds of a file, one after the other.
///
/// After an `Err` from the outer result the iterator ends. What is not a round is [`Malformed`]; the rounds after it are read.
#[derive(Debug)]
pub struct DrandRounds<R> {
    reader: R,
    options: DrandOptions,
    /// The line, or the rest of the file, whose rounds are read.
    document: Option<Rounds>,
    elements: u64,
    lines: usize,
    ended: bool,
    spans: Vec<RoundSpan>,
    /// The span that the next round may continue.
    current: Option<RoundSpan>,
}

/// A round as a claim, and where in the file it stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RoundClaim {
    /// The claim. Its slot is the round.
    pub claim: ChainClaim,
    /// The round's place in the file.
    pub place: Place,
}

impl<R: BufRead> Iterator for DrandRounds<R> {
    type Item = Result<Result<RoundClaim, Malformed>, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let entry = self.advance().transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.ended = true;
            self.spans.extend(self.current.take());
        }
        entry
    }
}

impl<R: BufRead> DrandRounds<R> {
    /// Runs of consecutive rounds, in the order of the file. They are complete when the iterator has ended.
    #[must_use]
    pub fn into_spans(self) -> Vec<RoundSpan> {
        let mut spans = self.spans;
        spans.extend(self.current);
        spans
    }

    fn advance(&mut self) -> Result<Option<Result<RoundClaim, Malformed>>, InputError> {
        loop {
            if let Some(document) = &mut self.document {
                match document.beacon().transpose()? {
                    Some(Ok(beacon)) => return self.claim(beacon).map(Some),
                    Some(Err(malformed)) => return Ok(Some(Err(malformed))),
                    None => {
                        self.elements = document.next_element();
                        // A chain info on a line of its own speaks for the lines after it.
                        let stated = document.chain_info().cloned();
                        self.options.earlier = stated.or(self.options.earlier.take());
                        self.document = None;
                    }
                }
            }
            let mut line = Vec::new();
            if self.reader.by_ref().take(LINE_LIMIT as u64).read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            self.lines += 1;
            if self.lines == 1 && line.starts_with(BYTE_ORDER_MARK.as_bytes()) {
                line.drain(..BYTE_ORDER_MARK.len());
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let rounds = if goes_on(&line) {
                // All that is left is one document.
                drand::read(line.chain(&mut self.reader), &self.options)
            } else {
                drand::read(&line[..], &self.options)
            };
            let rounds = rounds.map_err(|error| match error {
                InputError::NotJson { format, reason } => InputError::NotJson {
                    format,
                    reason: format!("{reason}, counted from the beginning of line {}", self.lines),
                },
                error => error,
            })?;
            self.document = Some(rounds.counted_from(self.elements, self.lines - 1));
        }
    }

    /// The claim of a round, which joins the span before it or begins a new one.
    fn claim(&mut self, beacon: Beacon) -> Result<Result<RoundClaim, Malformed>, InputError> {
        let Beacon { record, round, previous_signature, .. } = beacon;
        let place = record.place;
        let mut failed = record.failed_check().cloned();
        let mut claim = match record.into_claim(None) {
            Ok(claim) => claim,
            Err(error) => return Ok(Err(Malformed::new(place, error.to_string()))),
        };
        let public_key = claim.public_keys.encoded(0).unwrap_or_default().into_owned();
        let signature = claim.signature.clone();
        match &mut self.current {
            Some(span) if span.is_followed_by(round, claim.suite, &public_key) => {
                if let Some(broken) = span.broken_link(previous_signature.as_deref()) {
                    failed.get_or_insert_with(|| broken.check());
                }
                (span.last, span.signature) = (round, signature);
            }
            _ => {
                let suite = claim.suite;
                let span =
                    RoundSpan { suite, public_key, first: round, last: round, before: previous_signature, signature };
                self.spans.extend(self.current.replace(span));
                if self.spans.len() > SPANS_LIMIT {
                    let reason = format!(
                        "its rounds are in more than {SPANS_LIMIT} pieces at round {round}, the limit; sort them by their number"
                    );
                    return Err(InputError::Packed { reason });
                }
            }
        }
        if failed.is_some() {
            claim.public_keys = Vec::new().into();
        }
        let claim = ChainClaim { claim, slot: round, kind: ClaimKind::Beacon, index: 0.into(), failed };
        Ok(Ok(RoundClaim { claim, place }))
    }
}

/// Whether a line, or as much of it as is read as a line, ends within a value.
fn goes_on(line: &[u8]) -> bool {
    let mut values = serde_json::Deserializer::from_slice(line).into_iter::<&RawValue>();
    let cut_off = line.len() == LINE_LIMIT && !line.ends_with(b"\n");
    cut_off || values.find_map(Result::err).is_some_and(|error| error.is_eof())
}

/// A run of consecutive rounds of one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundSpan {
    /// The suite of the chain.
    pub suite: AnySuite,
    /// The key of the chain.
    pub public_key: Vec<u8>,
    /// The first round.
    pub first: u64,
    /// The last round.
    pub last: u64,
    /// What the first round signs as the signature of the round before it; none on an unchained network.
    pub before: Option<Vec<u8>>,
    /// The signature of the last round.
    pub signature: Vec<u8>,
}

impl RoundSpan {
    fn is_of(&self, suite: AnySuite, public_key: &[u8]) -> bool {
        self.suite == suite && self.public_key == public_key
    }

    fn is_followed_by(&self, round: u64, suite: AnySuite, public_key: &[u8]) -> bool {
        self.last.checked_add(1) == Some(round) && self.is_of(suite, public_key)
    }

    /// Why the next round does not chain to this span.
    fn broken_link(&self, previous_signature: Option<&[u8]>) -> Option<BrokenLink> {
        let named = previous_signature.filter(|named| *named != self.signature)?;
        Some(BrokenLink { round: self.last + 1, named: named.to_vec(), found: self.signature.clone() })
    }
}

impl fmt::Display for RoundSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        rounds(f, self.first, self.last)
    }
}

/// A round that names another signature for the round before it than that round has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BrokenLink {
    /// The round that names the signature.
    pub round: u64,
    /// The signature that it names.
    pub named: Vec<u8>,
    /// The signature that is given for the round before.
    pub found: Vec<u8>,
}

impl BrokenLink {
    fn check(&self) -> Check {
        Check::decided("previous_signature", CheckResult::Failed, self.to_string())
    }
}

impl fmt::Display for BrokenLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round, named, found } = self;
        write!(
            f,
            "round {round} names the signature {} for round {}, but that round has {}",
            beginning(named),
            round - 1,
            beginning(found)
        )
    }
}

/// Hexadecimal digits of a signature, or of its first bytes if it is longer than any: it comes from outside.
fn beginning(bytes: &[u8]) -> String {
    const LONGEST: usize = 96;
    match bytes.get(..LONGEST) {
        Some(start) if bytes.len() > LONGEST => format!("{}… ({} bytes)", const_hex::encode(start), bytes.len()),
        _ => const_hex::encode(bytes),
    }
}

/// Consecutive rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundRange {
    /// The first round.
    pub first: u64,
    /// The last round.
    pub last: u64,
}

impl fmt::Display for RoundRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        rounds(f, self.first, self.last)
    }
}

impl FromStr for RoundRange {
    type Err = NotRounds;

    /// Reads `A-B`, or `A` for one round.
    fn from_str(text: &str) -> Result<Self, NotRounds> {
        let unfit = || NotRounds { found: text.to_owned() };
        let number = |digits: &str| digits.parse::<u64>().ok().filter(|round| *round > 0).ok_or_else(unfit);
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (number(first)?, number(last)?);
        if first <= last { Ok(Self { first, last }) } else { Err(unfit()) }
    }
}

/// A text that names no rounds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found {found:?}, expected the first and the last round, from 1 on, such as 1-1000")]
pub struct NotRounds {
    found: String,
}

fn rounds(f: &mut fmt::Formatter<'_>, first: u64, last: u64) -> fmt::Result {
    if first == last { write!(f, "round {first}") } else { write!(f, "rounds {first} to {last}") }
}

/// How the spans of all files fit together. Whether their rounds are valid is said by the claims, not here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct JoinedRounds {
    /// From the first to the last round of the chain; none if there is no span.
    pub range: Option<RoundRange>,
    /// Rounds between them that no span has.
    pub gaps: Vec<RoundRange>,
    /// Rounds that several spans have.
    pub doubles: Vec<RoundRange>,
    /// Rounds that begin a span and name another signature than the span before them ends with.
    pub broken: Vec<BrokenLink>,
    /// Spans of another chain than the first span's.
    pub foreign: Vec<RoundSpan>,
}

impl JoinedRounds {
    /// Rounds that were asked for and that no span of the chain has.
    #[must_use]
    pub fn missing(&self, asked: RoundRange) -> Vec<RoundRange> {
        let Some(given) = self.range else { return vec![asked] };
        let before = given.first.checked_sub(1).map(|last| RoundRange { first: 0, last });
        let after = given.last.checked_add(1).map(|first| RoundRange { first, last: u64::MAX });
        let absent = before.into_iter().chain(self.gaps.iter().copied()).chain(after);
        let asked_for = absent
            .map(|RoundRange { first, last }| RoundRange { first: first.max(asked.first), last: last.min(asked.last) });
        asked_for.filter(|range| range.first <= range.last).collect()
    }

    /// Rounds that are missing, doubled or of another chain, a sentence each. Missing are the rounds that were asked for, or, if none
    /// were, those between the first and the last one.
    #[must_use]
    pub fn faults(&self, asked: Option<RoundRange>) -> Vec<String> {
        let (missing, where_from) = match asked {
            Some(asked) => (self.missing(asked), "asked for, and not given"),
            None => (self.gaps.clone(), "missing between the rounds that are given"),
        };
        let missing = missing.into_iter().map(|range| format!("{range}: {where_from}"));
        let doubles = self.doubles.iter().map(|range| format!("{range}: given more than once"));
        let foreign = self.foreign.iter().map(|span| format!("{span}: of another chain than the first rounds"));
        missing.chain(doubles).chain(foreign).collect()
    }

    /// Whether the spans are one chain without gaps, doubles and broken links. An empty list is not a chain.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let Self { range, gaps, doubles, broken, foreign } = self;
        range.is_some() && gaps.is_empty() && doubles.is_empty() && broken.is_empty() && foreign.is_empty()
    }
}

/// Joins the spans of all files, in any order. The chain is that of the first span.
#[must_use]
pub fn join(spans: impl IntoIterator<Item = RoundSpan>) -> JoinedRounds {
    let mut joined = JoinedRounds::default();
    let mut chain: Vec<RoundSpan> = Vec::new();
    for span in spans {
        match chain.first() {
            Some(first) if !first.is_of(span.suite, &span.public_key) => joined.foreign.push(span),
            _ => chain.push(span),
        }
    }
    chain.sort_by_key(|span| (span.first, span.last));
    // The span that reaches furthest so far.
    let mut furthest: Option<&RoundSpan> = None;
    for span in &chain {
        if let Some(before) = furthest {
            if span.first <= before.last {
                joined.doubles.push(RoundRange { first: span.first, last: span.last.min(before.last) });
            } else if span.first > before.last + 1 {
                joined.gaps.push(RoundRange { first: before.last + 1, last: span.first - 1 });
            } else {
                joined.broken.extend(before.broken_link(span.before.as_deref()));
            }
        }
        if furthest.is_none_or(|before| span.last > before.last) {
            furthest = Some(span);
        }
    }
    joined.range = chain.first().zip(furthest).map(|(first, last)| RoundRange { first: first.first, last: last.last });
    joined
}

#[cfg(test)]
mod tests;
