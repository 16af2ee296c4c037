//! The result of a shard: a file with a verdict on each line, and a receipt on the last one.
//!
//! A result appears by a rename when all of it is on the disk, so a file that is there is whole.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Read as _, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use quorate::AnySuite;
use quorate_formats::lines::LINE_LIMIT;
use quorate_host::file::{Existing, NewFile, Readers, unfinished_of};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    error::ShardError,
    hashing::{Digest, Hashing},
    judge::{ClaimCounts, Judged, is_zero},
    manifest::{Covers, Manifest},
};
use crate::drand::RoundSpan;

/// What a result says of itself, on its last line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Receipt {
    /// The digest of the manifest.
    pub manifest: Digest,
    /// The number of the shard.
    pub shard: u64,
    /// How many claims it has.
    #[serde(flatten)]
    pub counts: ClaimCounts,
    /// Entries that make no claim.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub malformed: u64,
    /// The claims by their kind, if they are of a chain.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, ClaimCounts>,
    /// Signatures of which their block does not say what they sign. They are not claims.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified: u64,
    /// Runs of consecutive rounds of drand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Span>,
    /// How many lines stand before this one.
    pub lines: u64,
    /// The digest of these lines.
    pub sha256: Digest,
    /// How many bytes of the inputs were read.
    pub bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// How much time of processors it took, where the system says so: that of the process, so of one shard at a time. Results of older
    /// versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_seconds: Option<f64>,
    /// On how many threads.
    pub threads: usize,
    /// Who did the arithmetic.
    pub backend: String,
    /// The version of quorate.
    pub version: String,
}

impl Receipt {
    /// The time of processors that it took; the time of its threads where the system did not say.
    pub(super) fn core_seconds(&self) -> f64 {
        self.cpu_seconds.unwrap_or(self.seconds * self.threads as f64)
    }

    /// Whether its kinds together count no more than all claims. Claims of a file need not have a kind.
    fn kinds_fit(&self) -> bool {
        let mut sum = ClaimCounts::default();
        self.kinds.values().for_each(|counts| sum.add(*counts));
        let all = self.counts;
        self.kinds.values().all(|counts| counts.fit())
            && sum.valid <= all.valid
            && sum.invalid <= all.invalid
            && sum.legal <= all.legal
    }

    /// How many rounds its runs have together; none if a run ends before it begins, or they are more than there can be.
    fn claims_of_rounds(&self) -> Option<u64> {
        self.rounds.iter().try_fold(0_u64, |sum, span| {
            let more = span.last.checked_sub(span.first)?.checked_add(1)?;
            sum.checked_add(more)
        })
    }
}

/// A [`RoundSpan`] as it is written: bytes in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Span {
    suite: AnySuite,
    public_key: String,
    first: u64,
    last: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    signature: String,
}

impl From<RoundSpan> for Span {
    fn from(RoundSpan { suite, public_key, first, last, before, signature }: RoundSpan) -> Self {
        let hex = const_hex::encode::<Vec<u8>>;
        Self { suite, public_key: hex(public_key), first, last, before: before.map(hex), signature: hex(signature) }
    }
}

impl Span {
    /// The span, if its bytes are in hexadecimal digits and its rounds in order.
    pub(super) fn read(&self) -> Option<RoundSpan> {
        let Self { suite, public_key, first, last, before, signature } = self;
        let bytes = |text: &String| const_hex::decode(text).ok();
        let before = match before {
            Some(before) => Some(bytes(before)?),
            None => None,
        };
        let (public_key, signature) = (bytes(public_key)?, bytes(signature)?);
        (first <= last).then_some(RoundSpan {
            suite: *suite,
            public_key,
            first: *first,
            last: *last,
            before,
            signature,
        })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Last<R> {
    receipt: R,
    /// The digest of the receipt's text. Results of older versions do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<Digest>,
}

/// The receipt of a last line, and whether it has the digest that is stated, if one is.
fn parsed(line: &[u8]) -> Result<(Receipt, bool), serde_json::Error> {
    let Last { receipt, sha256 }: Last<&RawValue> = serde_json::from_slice(line)?;
    let text = receipt.get();
    Ok((serde_json::from_str(text)?, sha256.is_none_or(|stated| stated == Digest::of(text.as_bytes()))))
}

const FOLDER: &str = "results";
/// How the last line begins. No verdict begins so.
const LAST: &[u8] = b"{\"receipt\":";

/// The folder of the results.
pub(super) fn folder(of: &Path) -> PathBuf {
    of.join(FOLDER)
}

/// Where the result of a shard is, once it is there.
#[must_use]
pub fn result_path(folder: &Path, shard: u64) -> PathBuf {
    self::folder(folder).join(format!("{shard:06}.jsonl"))
}

/// Removes what was not finished of results that are there: a process was killed, and another one did its shard. So it is of no use, also to
/// a process that still writes it, which finds the result of the other ([`run`](super::run())).
///
/// # Errors
/// The folder of the results cannot be read. Without that folder there is nothing to remove.
pub fn remove_unfinished(folder: &Path) -> Result<(), ShardError> {
    let results = self::folder(folder);
    let read = ShardError::read(&results);
    let entries = match fs::read_dir(&results) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(read)?,
    };
    for entry in entries {
        let entry = entry.map_err(read)?;
        if unfinished_of(&entry.file_name()).is_some_and(|result| results.join(result).exists()) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}

/// A result that is being written. If it is dropped, nothing of it is left.
pub(super) struct Unfinished {
    to: Hashing<BufWriter<NewFile>>,
    path: PathBuf,
    file: String,
    all: bool,
    counts: ClaimCounts,
    malformed: u64,
    kinds: BTreeMap<&'static str, ClaimCounts>,
    lines: u64,
}

impl Unfinished {
    /// Begins the result of a shard of a file. It keeps all verdicts, or those of claims that are not valid.
    pub(super) fn begin(folder: &Path, shard: u64, file: &Path, all: bool) -> Result<Self, ShardError> {
        let results = self::folder(folder);
        fs::create_dir_all(&results).map_err(ShardError::write(&results))?;
        let path = result_path(folder, shard);
        Ok(Self {
            to: Hashing::new(BufWriter::with_capacity(
                WRITE_BEHIND,
                NewFile::begin(&path, Readers::Everybody).map_err(ShardError::write(&path))?,
            )),
            path,
            file: file.display().to_string(),
            all,
            counts: ClaimCounts::default(),
            malformed: 0,
            kinds: BTreeMap::new(),
            lines: 0,
        })
    }

    pub(super) fn counts(&self) -> ClaimCounts {
        self.counts
    }

    /// Whether it has neither a claim nor an entry that makes none.
    pub(super) fn is_empty(&self) -> bool {
        self.counts.claims == 0 && self.malformed == 0
    }

    pub(super) fn verdict(&mut self, judged: Judged) -> Result<(), ShardError> {
        let counts = judged.counts();
        self.counts.add(counts);
        self.malformed += u64::from(judged.is_malformed());
        if let Some(kind) = judged.kind() {
            self.kinds.entry(kind.name()).or_default().add(counts);
        }
        if self.all || !judged.is_valid() {
            self.lines += 1;
            judged.write(&self.file, &mut self.to).map_err(ShardError::write(&self.path))?;
        }
        Ok(())
    }

    /// Writes the receipt and puts the result to its place.
    pub(super) fn finish(
        self,
        receipt: impl FnOnce(Receipt) -> Receipt,
        manifest: &Manifest,
        shard: u64,
    ) -> Result<Receipt, ShardError> {
        let Self { mut to, path, file, counts, malformed, kinds, lines, .. } = self;
        let receipt = receipt(Receipt {
            manifest: manifest.digest,
            shard,
            counts,
            malformed,
            kinds: kinds.into_iter().map(|(kind, counts)| (kind.to_owned(), counts)).collect(),
            unverified: 0,
            rounds: Vec::new(),
            lines,
            sha256: to.digest(),
            bytes: 0,
            seconds: 0.0,
            cpu_seconds: None,
            threads: 1,
            backend: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        });
        let write = ShardError::write(&path);
        let text = serde_json::value::to_raw_value(&receipt).map_err(|error| write(error.into()))?;
        let sha256 = Some(Digest::of(text.get().as_bytes()));
        let mut last = serde_json::to_vec(&Last { receipt: text, sha256 }).map_err(|error| write(error.into()))?;
        last.push(b'\n');
        if last.len() > LINE_LIMIT {
            let reason = format!(
                "its rounds are in {} pieces, and the receipt, which lists them, would have more than {} MiB; sort them by their number",
                receipt.rounds.len(),
                LINE_LIMIT >> 20
            );
            return Err(ShardError::unfit(Path::new(&file), reason));
        }
        to.inner().write_all(&last).map_err(write)?;
        let file = to.into_inner().into_inner().map_err(|error| write(error.into_error()))?;
        file.finish(Existing::Replace).map_err(write)?;
        Ok(receipt)
    }
}

const WRITE_BEHIND: usize = 1 << 18;

/// Reads a result, gives each line of it to `take`, and checks that it is whole and the one of this shard of this run. None if the shard has
/// none yet.
pub(super) fn read(
    folder: &Path,
    manifest: &Manifest,
    shard: u64,
    mut take: impl FnMut(&[u8]) -> Result<(), ShardError>,
) -> Result<Option<Receipt>, ShardError> {
    let path = result_path(folder, shard);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ShardError::read(&path)(error)),
    };
    let mut reader = BufReader::with_capacity(WRITE_BEHIND, file);
    let mut hash = Hashing::new(io::sink());
    let (mut line, mut lines) = (Vec::new(), 0u64);
    let again = |what: &str| again(&path, shard, what);
    loop {
        line.clear();
        let read = reader.by_ref().take(LINE_LIMIT as u64).read_until(b'\n', &mut line);
        if read.map_err(ShardError::read(&path))? == 0 {
            return Err(again("the result has no receipt"));
        }
        if line.len() == LINE_LIMIT && !line.ends_with(b"\n") {
            return Err(again("a line is longer than any that is written"));
        }
        if line.starts_with(LAST) {
            break;
        }
        lines += 1;
        hash.write_all(&line).map_err(ShardError::read(&path))?;
        take(&line)?;
    }
    let (receipt, is_whole) = parsed(&line).map_err(|error| again(&format!("the receipt cannot be read: {error}")))?;
    if !reader.fill_buf().map_err(ShardError::read(&path))?.is_empty() {
        return Err(again("found more after the receipt"));
    }
    if receipt.manifest != manifest.digest {
        return Err(again("the result is of another plan"));
    }
    if receipt.shard != shard {
        return Err(again(&format!("the result is that of shard {}", receipt.shard)));
    }
    if (receipt.lines, receipt.sha256) != (lines, hash.digest()) {
        return Err(again(CHANGED));
    }
    let ClaimCounts { claims, valid, .. } = receipt.counts;
    let left_out = if manifest.terms.all_verdicts { 0 } else { valid };
    let kept = claims.saturating_sub(left_out).saturating_add(receipt.malformed);
    if lines != kept || !receipt.counts.fit() {
        return Err(again(&format!("found {lines} verdicts, but the receipt counts {kept}")));
    }
    if !receipt.kinds_fit() {
        return Err(again("the receipt counts more claims of its kinds than all claims"));
    }
    let rounds = receipt.claims_of_rounds();
    if matches!(manifest.shard(shard)?.covers, Covers::Rounds) && rounds != Some(claims) {
        return Err(again(&format!("the runs of rounds in the receipt are not its {claims} claims")));
    }
    if !is_whole {
        return Err(again(CHANGED_RECEIPT));
    }
    Ok(Some(receipt))
}

/// A result that cannot be used.
pub(super) fn again(path: &Path, shard: u64, what: &str) -> ShardError {
    ShardError::unfit(path, format!("{what}; delete this file and run shard {shard} again"))
}

/// What is wrong with a result whose lines have another digest than its receipt.
pub(super) const CHANGED: &str = "the verdicts are not those that were written";

/// What is wrong with a receipt that has another digest than the one that stands beside it.
const CHANGED_RECEIPT: &str = "the receipt is not the one that was written";

/// The receipt of a shard alone, from the end of its result. It is not checked against the verdicts: that is the merge's work.
pub(super) fn receipt(folder: &Path, manifest: &Manifest, shard: u64) -> Result<Option<Receipt>, ShardError> {
    let path = result_path(folder, shard);
    let mut file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ShardError::read(&path)(error)),
    };
    let read = ShardError::read(&path);
    let length = file.metadata().map_err(read)?.len();
    let mut end = Vec::new();
    for most in [RECEIPT_LENGTH, LINE_LIMIT as u64] {
        end.clear();
        file.seek(SeekFrom::Start(length.saturating_sub(most))).map_err(read)?;
        (&file).take(most).read_to_end(&mut end).map_err(read)?;
        if length <= most || last_line(&end).is_some_and(|line| line.starts_with(LAST)) {
            break;
        }
    }
    let again = |what: &str| again(&path, shard, what);
    let Some(line) = last_line(&end) else {
        return Err(again("the result has no receipt"));
    };
    let (receipt, is_whole) = parsed(line).map_err(|error| again(&format!("the receipt cannot be read: {error}")))?;
    if receipt.manifest != manifest.digest || receipt.shard != shard {
        return Err(again("the result is of another plan or shard"));
    }
    if !is_whole {
        return Err(again(CHANGED_RECEIPT));
    }
    Ok(Some(receipt))
}

/// A receipt is shorter, unless it lists many runs of rounds.
const RECEIPT_LENGTH: u64 = 1 << 16;

/// The last line of a text, if a line feed ends it.
fn last_line(text: &[u8]) -> Option<&[u8]> {
    text.strip_suffix(b"\n")?.rsplit(|byte| *byte == b'\n').next()
}
