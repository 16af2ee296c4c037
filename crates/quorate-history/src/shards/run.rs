//! Verifies a shard.

use std::{
    fs::{self, File, Metadata},
    io::{BufReader, Read as _, Seek as _, SeekFrom},
    iter,
    ops::ControlFlow,
    path::Path,
    time::Instant,
};

use quorate::{Soundness, Verifier, rand_core::CryptoRng};
use quorate_formats::{InputError, drand::DrandOptions, jsonl::JsonLines, parquet::ParquetRows};
use quorate_host::{cpu_time, same_file::is_same};

use super::{
    error::ShardError,
    hashing::{Digest, digest_of_parts},
    judge::{ClaimCounts, Item, Sink, Unjudged, judge},
    manifest::{Covers, EraBefore, Manifest, Shard},
    plan::{CHANGED, buffered, digest_of_file, digest_of_rows},
    results::{self, Receipt, Span, Unfinished},
};
use crate::{
    chia::{self, ChiaError},
    drand,
    era::EraFile,
    eras::Eras,
    error::EraError,
    files::NO_CLAIM,
};

/// Verifies a shard and writes its result, if it has none yet. Answers with the result's receipt. `progress` hears the counts after
/// each window of claims, and may break off.
///
/// The verifier has at least the soundness of the manifest, and should know no statements. Two processes may run the same shard: the
/// result of the one that ends last stays, and is the same but for its times. If a [`merge`](super::merge()) has taken the other's
/// meanwhile, that one is the answer.
///
/// # Errors
/// The verifier is less sound than the plan says, the files are not those that were planned, change meanwhile or cannot be read, a file of
/// rounds or blocks has none, the result cannot be written, or the engine came to no verdict. Nothing is left of the result then.
pub fn run(
    folder: &Path,
    manifest: &Manifest,
    shard: u64,
    verifier: &Verifier,
    rng: &mut impl CryptoRng,
    mut progress: impl FnMut(ClaimCounts) -> ControlFlow<()>,
) -> Result<Receipt, ShardError> {
    let planned = manifest.shard(shard)?;
    let [found, expected] = [verifier.options().soundness, manifest.terms.soundness].map(Soundness::bits);
    if found < expected {
        return Err(ShardError::WeakVerifier { found, expected });
    }
    if let Some(receipt) = results::receipt(folder, manifest, shard)? {
        return Ok(receipt);
    }
    let (begun, cpu) = (Instant::now(), cpu_time());
    let mut result = Unfinished::begin(folder, shard, &planned.file, manifest.terms.all_verdicts)?;
    let mut beside = Beside::default();
    let read = |sink: &mut Sink| read(manifest, planned, sink, &mut beside);
    judge(verifier, rng, &planned.file, read, |judged| {
        judged.into_iter().try_for_each(|judged| result.verdict(judged))?;
        if progress(result.counts()).is_break() { Err(ShardError::Interrupted) } else { Ok(()) }
    })?;
    // The plan has seen that there is an entry. An era may have no block.
    if matches!(planned.covers, Covers::Rounds | Covers::Blocks) && result.is_empty() {
        return Err(ShardError::unfit(&planned.file, NO_CLAIM));
    }
    let before = match &planned.covers {
        Covers::Era { before: Some(before), .. } => before.bytes,
        _ => 0,
    };
    let options = verifier.options();
    let Beside { rounds, unverified } = beside;
    let complete = |receipt| Receipt {
        rounds,
        unverified,
        bytes: planned.bytes + before,
        seconds: begun.elapsed().as_secs_f64(),
        cpu_seconds: cpu.zip(cpu_time()).map(|(before, after)| after.saturating_sub(before).as_secs_f64()),
        threads: options.threads.get(),
        backend: options.backend.name().to_owned(),
        ..receipt
    };
    result.finish(complete, manifest, shard).or_else(|error| {
        if !error.is_of_a_file_that_is_gone() {
            return Err(error);
        }
        // Another process did the shard meanwhile, and a merge removed what this one had not finished yet.
        results::read(folder, manifest, shard, |_| Ok(()))?.ok_or(error)
    })
}

/// What a shard holds beside claims.
#[derive(Default)]
struct Beside {
    rounds: Vec<Span>,
    unverified: u64,
}

/// Pushes everything that a shard holds, of files that stay as they are from before their digests are taken until all is read.
fn read(manifest: &Manifest, shard: &Shard, sink: &mut Sink, beside: &mut Beside) -> Result<(), ShardError> {
    let before = match &shard.covers {
        Covers::Era { before: Some(before), .. } => Some(&before.file),
        _ => None,
    };
    let watched = iter::once(&shard.file).chain(before).map(|file| Watched::begin(file));
    let watched = watched.collect::<Result<Vec<_>, _>>()?;
    push(manifest, shard, sink, beside)?;
    watched.into_iter().try_for_each(Watched::end)
}

/// Checks the digests of a shard's files, and pushes everything that it holds.
fn push(manifest: &Manifest, shard: &Shard, sink: &mut Sink, beside: &mut Beside) -> Result<(), ShardError> {
    let Shard { file, bytes, sha256, covers, .. } = shard;
    let suite = manifest.terms.suite;
    match covers {
        Covers::Era { before, begins, blocks, .. } => {
            let chain = manifest.chain.clone().expect("a manifest with eras names their chain");
            must_be(file, *bytes, *sha256)?;
            let mut eras = Eras::new(chain);
            if let Some(EraBefore { file, bytes, sha256, begins }) = before {
                must_be(file, *bytes, *sha256)?;
                eras.begin_with(&mut era(file, *begins)?).map_err(of_era(file))?;
            }
            let mut opened = era(file, *begins)?;
            if opened.blocks() as u64 != *blocks {
                return Err(ShardError::unfit(file, CHANGED));
            }
            let take = |claim| sink.push(Item::of_chain(claim));
            eras.claims(&mut opened, take).map_err(of_era(file))
        }
        Covers::Lines { from, of, first, .. } => {
            let read = ShardError::read(file);
            let mut opened = File::open(file).map_err(read)?;
            if opened.metadata().map_err(read)?.len() != *of
                || digest_of_parts(file, [(*from, *bytes)])? != (*bytes, *sha256)
            {
                return Err(ShardError::unfit(file, CHANGED));
            }
            opened.seek(SeekFrom::Start(*from)).map_err(read)?;
            let lines = JsonLines::at_line(BufReader::with_capacity(READ_AHEAD, opened).take(*bytes), *first);
            entries(file, lines, suite, sink)
        }
        Covers::Rows { group, end, .. } => {
            let opened = File::open(file).map_err(ShardError::read(file))?;
            let rows = ParquetRows::open(opened).map_err(of_input(file))?;
            if digest_of_rows(file, &rows, *group..*end)? != (*bytes, *sha256) {
                return Err(ShardError::unfit(file, CHANGED));
            }
            entries(file, rows.of_groups(*group..*end).map_err(of_input(file))?, suite, sink)
        }
        Covers::Rounds => {
            must_be(file, *bytes, *sha256)?;
            let chain = manifest.drand.as_ref().map(|chain| chain.info.clone());
            beside.rounds = rounds(file, &DrandOptions { chain, ..DrandOptions::default() }, sink)?;
            Ok(())
        }
        Covers::Blocks => {
            must_be(file, *bytes, *sha256)?;
            beside.unverified = blocks(file, sink)?;
            Ok(())
        }
    }
}

/// Pushes the rounds of a file, and answers with their runs.
fn rounds(file: &Path, options: &DrandOptions, sink: &mut Sink) -> Result<Vec<Span>, ShardError> {
    let mut rounds = drand::read(buffered(file)?, options);
    for round in &mut rounds {
        let item = match round.map_err(of_input(file))? {
            Ok(round) => Item::of_chain(round.claim),
            Err(malformed) => Item::malformed(malformed),
        };
        if sink.push(item).is_break() {
            return Ok(Vec::new());
        }
    }
    Ok(rounds.into_spans().into_iter().map(Span::from).collect())
}

/// Pushes the signatures of Chia's blocks, and answers with the number of those that cannot be verified.
fn blocks(file: &Path, sink: &mut Sink) -> Result<u64, ShardError> {
    let mut unverified = 0;
    for block in chia::read(buffered(file)?) {
        let block = block.map_err(|error| match error {
            ChiaError::Read(error) => ShardError::read(file)(error),
            other => ShardError::unfit(file, other),
        })?;
        let items: Vec<Unjudged> = match block {
            Ok(block) => {
                unverified += block.unverified.len() as u64;
                block.claims.into_iter().map(Item::of_chain).collect()
            }
            Err(malformed) => vec![Item::malformed(malformed)],
        };
        if items.into_iter().try_for_each(|item| sink.push(item)).is_break() {
            break;
        }
    }
    Ok(unverified)
}

fn entries(
    file: &Path,
    entries: impl Iterator<Item = Result<quorate_formats::Entry, InputError>>,
    suite: Option<quorate::AnySuite>,
    sink: &mut Sink,
) -> Result<(), ShardError> {
    for entry in entries {
        if sink.push(Item::of_input(entry.map_err(of_input(file))?, suite)).is_break() {
            break;
        }
    }
    Ok(())
}

/// A file that must not change while it is read: it is read twice, to be hashed and to be verified. It is held open, so that the system
/// does not take it for another one.
struct Watched<'a> {
    path: &'a Path,
    held: File,
    begun: Metadata,
}

impl<'a> Watched<'a> {
    fn begin(path: &'a Path) -> Result<Self, ShardError> {
        let held = File::open(path).map_err(ShardError::read(path))?;
        let begun = held.metadata().map_err(ShardError::read(path))?;
        Ok(Self { path, held, begun })
    }

    /// Checks that nobody wrote to the file, and that no other one took its place.
    fn end(self) -> Result<(), ShardError> {
        let Self { path, held, begun } = self;
        let (held, now) = (held.metadata(), fs::metadata(path));
        let (held, now) = (held.map_err(ShardError::read(path))?, now.map_err(ShardError::read(path))?);
        let written = |file: &Metadata| (file.len(), file.modified().ok());
        // On other systems than Unix nothing tells whether two files are one.
        let is_same = !cfg!(unix) || is_same(&held, &now);
        if is_same && written(&now) == written(&begun) {
            return Ok(());
        }
        Err(ShardError::unfit(path, "the file changed while it was read; run the shard again when nobody writes it"))
    }
}

/// Checks that a whole file is the one that was planned.
fn must_be(file: &Path, bytes: u64, sha256: Digest) -> Result<(), ShardError> {
    if digest_of_file(file)? == (bytes, sha256) { Ok(()) } else { Err(ShardError::unfit(file, CHANGED)) }
}

fn era(file: &Path, begins: u64) -> Result<EraFile<BufReader<File>>, ShardError> {
    let reader = BufReader::new(File::open(file).map_err(ShardError::read(file))?);
    EraFile::open_at(reader, begins).map_err(of_era(file))
}

fn of_era(file: &Path) -> impl Fn(EraError) -> ShardError + use<'_> {
    move |error| match error {
        EraError::Read(error) => ShardError::read(file)(error),
        other => ShardError::unfit(file, other),
    }
}

fn of_input(file: &Path) -> impl Fn(InputError) -> ShardError + use<'_> {
    move |error| match error {
        InputError::Read(error) => ShardError::read(file)(error),
        other => ShardError::unfit(file, other),
    }
}

const READ_AHEAD: usize = 1 << 16;
