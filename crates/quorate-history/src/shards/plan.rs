//! Cuts the inputs of a run into shards.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, BufRead, BufReader, Write},
    ops::{ControlFlow, Range},
    path::{Path, PathBuf},
};

use quorate_formats::{Format, parquet::ParquetRows};

use super::{
    error::ShardError,
    hashing::{Digest, Hashing, digest_of_parts},
    manifest::{Covers, EraBefore, Manifest, RunTerms, Shard, make_folder},
};
use crate::files::{Content, EraInput, Files, OtherInput};

/// Cuts files into shards of about `shard_bytes` bytes, and writes the manifest into a folder, which is made. An era is always one
/// shard. Every file is read once, to be hashed; `progress` hears the bytes of each piece, and may break off.
///
/// # Errors
/// A file cannot be read or cut, or stands there twice, or the folder has a manifest.
pub fn plan(
    files: &Files,
    folder: &Path,
    terms: RunTerms,
    shard_bytes: u64,
    progress: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<Manifest, ShardError> {
    if let Some(refused) = files.refused.first() {
        return Err(ShardError::unfit(&refused.path, &refused.reason));
    }
    let (shards, names) = (Vec::new(), BTreeSet::new());
    let mut planner = Planner { shards, names, shard_bytes: shard_bytes.max(1), progress };
    planner.eras(&files.eras)?;
    for input in &files.others {
        planner.other(input)?;
    }
    let Planner { mut shards, .. } = planner;
    if shards.is_empty() {
        let path = files.eras.first().map_or(folder, |era| &era.path);
        return Err(ShardError::unfit(
            path,
            "found nothing to verify; give the file of an era and that of the era before it",
        ));
    }
    for (number, shard) in (0..).zip(&mut shards) {
        shard.shard = number;
    }
    once(&shards)?;
    make_folder(folder)?;
    Manifest::write(folder, files.chain.clone(), files.drand.clone(), terms, shards)
}

struct Planner<P> {
    shards: Vec<Shard>,
    /// The files so far.
    names: BTreeSet<PathBuf>,
    shard_bytes: u64,
    progress: P,
}

impl<P: FnMut(u64) -> ControlFlow<()>> Planner<P> {
    fn eras(&mut self, eras: &[EraInput]) -> Result<(), ShardError> {
        let mut before: Option<(u64, EraBefore)> = None;
        let mut digests = BTreeMap::new();
        for input in eras {
            // The eras of one file are told apart by where they begin.
            let file = if input.begins == 0 { self.absolute(&input.path)? } else { canonical(&input.path)? };
            let (bytes, sha256) = match digests.get(&file) {
                Some(known) => *known,
                None => {
                    let digest = digest_of_file(&file)?;
                    self.heard(digest.0)?;
                    digests.insert(file.clone(), digest);
                    digest
                }
            };
            let begins = input.begins;
            // Era 0 is the genesis state alone. Another era without blocks is a shard: that it has none is checked there.
            if input.verified && input.era > 0 {
                let state = before.take().filter(|(era, _)| era + 1 == input.era).map(|(_, before)| before);
                if state.is_none() {
                    let reason = format!(
                        "era {} begins with the state at the end of era {}, and no input has it; give the file of that era too",
                        input.era,
                        input.era - 1
                    );
                    return Err(ShardError::unfit(&input.path, reason));
                }
                let covers = Covers::Era { era: input.era, begins, blocks: input.blocks as u64, before: state };
                self.shards.push(Shard { shard: 0, file: file.clone(), bytes, sha256, covers });
            }
            before = Some((input.era, EraBefore { file, bytes, sha256, begins }));
        }
        Ok(())
    }

    fn other(&mut self, OtherInput { path, content, .. }: &OtherInput) -> Result<(), ShardError> {
        let file = self.absolute(path)?;
        let unfit = |what: &str| Err(ShardError::unfit(path, what));
        match content {
            Content::Claims(Format::Jsonl) => self.lines(&file),
            Content::Claims(Format::Parquet) => self.rows(&file),
            Content::Claims(Format::Drand) => self.whole(file, Covers::Rounds),
            Content::ChiaBlocks => self.whole(file, Covers::Blocks),
            Content::Claims(Format::LightClient) => {
                unfit("light-client updates rest on each other; `quorate verify` reads them together")
            }
            Content::Claims(Format::Deposit | Format::Change | Format::Exit) => {
                unfit("a file of deposits, changes or exits is short; `quorate verify` reads it")
            }
        }
    }

    fn whole(&mut self, file: PathBuf, covers: Covers) -> Result<(), ShardError> {
        let (bytes, sha256) = digest_of_file(&file)?;
        self.heard(bytes)?;
        self.shards.push(Shard { shard: 0, file, bytes, sha256, covers });
        Ok(())
    }

    fn lines(&mut self, path: &Path) -> Result<(), ShardError> {
        let read = ShardError::read(path);
        let file = File::open(path).map_err(read)?;
        let of = file.metadata().map_err(read)?.len();
        let reader = BufReader::with_capacity(READ_AHEAD, file);
        if first_character(reader).map_err(read)? == Some(b'[') {
            let reason =
                "found one JSON array, which cannot be cut into lines; write one claim a line, as `jq -c '.[]'` does";
            return Err(ShardError::unfit(path, reason));
        }
        let mut reader = BufReader::with_capacity(READ_AHEAD, File::open(path).map_err(read)?);
        let (mut from, mut first) = (0, 1);
        while let Some(Piece { bytes, lines, sha256 }) = piece(&mut reader, self.shard_bytes).map_err(read)? {
            let covers = Covers::Lines { from, of, first, lines };
            self.shards.push(Shard { shard: 0, file: path.to_owned(), bytes, sha256, covers });
            self.heard(bytes)?;
            (from, first) = (from + bytes, first + lines);
        }
        if from != of {
            return Err(ShardError::unfit(
                path,
                "the file changed while it was read; plan again when nobody writes it",
            ));
        }
        if of == 0 {
            return Err(ShardError::unfit(path, "found no claim, expected at least one; check what wrote this file"));
        }
        Ok(())
    }

    fn rows(&mut self, path: &Path) -> Result<(), ShardError> {
        let file = File::open(path).map_err(ShardError::read(path))?;
        let rows = ParquetRows::open(file).map_err(|error| ShardError::unfit(path, error))?;
        let groups = rows.groups().map_err(|error| ShardError::unfit(path, error))?;
        let length =
            |group: &quorate_formats::parquet::RowGroup| group.parts.iter().map(|(_, length)| length).sum::<u64>();
        if groups.iter().all(|group| group.rows == 0) {
            return Err(ShardError::unfit(path, "found no claim, expected at least one; check what wrote this file"));
        }
        let mut group = 0;
        while group < groups.len() {
            let mut end = group + 1;
            let mut size = length(&groups[group]);
            while end < groups.len() && size + length(&groups[end]) <= self.shard_bytes {
                size += length(&groups[end]);
                end += 1;
            }
            let (bytes, sha256) = digest_of_rows(path, &rows, group..end)?;
            let covers =
                Covers::Rows { group, end, of: groups.len(), rows: groups[group..end].iter().map(|g| g.rows).sum() };
            self.shards.push(Shard { shard: 0, file: path.to_owned(), bytes, sha256, covers });
            self.heard(bytes)?;
            group = end;
        }
        Ok(())
    }

    /// The file's own name. No file may be given twice.
    fn absolute(&mut self, path: &Path) -> Result<PathBuf, ShardError> {
        let absolute = canonical(path)?;
        if !self.names.insert(absolute.clone()) {
            return Err(ShardError::unfit(path, "it is given twice; give each file once"));
        }
        Ok(absolute)
    }

    fn heard(&mut self, bytes: u64) -> Result<(), ShardError> {
        if (self.progress)(bytes).is_break() { Err(ShardError::Interrupted) } else { Ok(()) }
    }
}

/// A file's own name, whatever links lead to it.
fn canonical(path: &Path) -> Result<PathBuf, ShardError> {
    let canonical = std::fs::canonicalize(path).map_err(ShardError::read(path))?;
    if canonical.to_str().is_none() {
        return Err(ShardError::unfit(path, "its name is not UTF-8, and a manifest cannot hold it; rename the file"));
    }
    Ok(canonical)
}

/// The length of a file, and the digest of all of it.
pub(super) fn digest_of_file(path: &Path) -> Result<(u64, Digest), ShardError> {
    let bytes = std::fs::metadata(path).map_err(ShardError::read(path))?.len();
    Ok((bytes, digest_of_parts(path, [(0, bytes)]).map_err(ShardError::read(path))?))
}

/// How many bytes make the columns of some row groups, with the footer that describes them, and their digest.
pub(super) fn digest_of_rows(
    path: &Path,
    rows: &ParquetRows,
    groups: Range<usize>,
) -> Result<(u64, Digest), ShardError> {
    let all = rows.groups().map_err(|error| ShardError::unfit(path, error))?;
    let parts = all.get(groups).ok_or_else(|| ShardError::unfit(path, CHANGED))?;
    let mut parts: Vec<(u64, u64)> = parts.iter().flat_map(|group| group.parts.iter().copied()).collect();
    parts.push(rows.footer());
    let bytes = parts.iter().map(|(_, length)| length).sum();
    let sha256 = digest_of_parts(path, parts).map_err(ShardError::read(path))?;
    Ok((bytes, sha256))
}

/// What is said of a file that is no longer the one that was planned.
pub(super) const CHANGED: &str =
    "the file is not the one that was planned; put that one back, or plan again in another folder";

/// Lines that were read, whole ones if the file does not end before.
struct Piece {
    bytes: u64,
    lines: u64,
    sha256: Digest,
}

/// Reads at least so many bytes, and on to the end of the line. None at the end of the file.
fn piece(reader: &mut impl BufRead, at_least: u64) -> io::Result<Option<Piece>> {
    let mut hash = Hashing::new(io::sink());
    let (mut bytes, mut lines, mut within) = (0, 0, false);
    while bytes < at_least || within {
        let seen = reader.fill_buf()?;
        if seen.is_empty() {
            break;
        }
        let wanted = usize::try_from(at_least.saturating_sub(bytes)).unwrap_or(usize::MAX).min(seen.len());
        // Of the line that goes beyond the size, no more than the rest.
        let end = match seen[wanted.saturating_sub(1)..].iter().position(|byte| *byte == b'\n') {
            Some(place) => wanted.saturating_sub(1) + place + 1,
            None => seen.len(),
        };
        let taken = &seen[..end];
        hash.write_all(taken)?;
        lines += taken.iter().filter(|byte| **byte == b'\n').count() as u64;
        within = taken.last() != Some(&b'\n');
        bytes += end as u64;
        reader.consume(end);
    }
    // A last line without its end.
    lines += u64::from(within);
    Ok((bytes > 0).then(|| Piece { bytes, lines, sha256: hash.digest() }))
}

/// The first character that is not white space, after a byte order mark.
fn first_character(reader: impl BufRead) -> io::Result<Option<u8>> {
    let mut bytes =
        reader.bytes().filter(|byte| !matches!(byte, Ok(byte) if byte.is_ascii_whitespace() || BOM.contains(byte)));
    bytes.next().transpose()
}

/// The bytes of a byte order mark. None of them begins a JSON value.
const BOM: [u8; 3] = [0xef, 0xbb, 0xbf];
const READ_AHEAD: usize = 1 << 16;

/// No two files have the same content.
fn once(shards: &[Shard]) -> Result<(), ShardError> {
    let mut seen = BTreeMap::new();
    for of_file in shards.chunk_by(|a, b| a.file == b.file) {
        let digests: Vec<Digest> = of_file.iter().map(|shard| shard.sha256).collect();
        let file = &of_file[0].file;
        if let Some(other) = seen.insert(digests, file) {
            let reason = format!("it has the same content as {}; give each file once", other.display());
            return Err(ShardError::unfit(file, reason));
        }
    }
    Ok(())
}
