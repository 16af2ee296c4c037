//! Cuts the inputs of a run into shards.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::File,
    io::{self, BufRead, BufReader, Write},
    ops::{ControlFlow, Range},
    path::{Path, PathBuf},
};

use quorate_formats::{
    Format,
    drand::DrandOptions,
    parquet::{ParquetRows, RowGroup},
};
use quorate_host::BYTE_ORDER_MARK;

use super::{
    error::ShardError,
    hashing::{Digest, Hashing, digest_of_parts},
    manifest::{Covers, EraBefore, Manifest, RunTerms, Shard, make_folder},
};
use crate::{
    chia, drand,
    files::{Content, EraInput, Files, NO_CLAIM, OtherInput},
};

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
    let rounds =
        DrandOptions { chain: files.drand.as_ref().map(|chain| chain.info.clone()), ..DrandOptions::default() };
    for input in &files.others {
        planner.other(input, &rounds)?;
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
    let left_out = files.left_out.clone();
    Manifest::write(folder, files.chain.clone(), files.drand.clone(), terms, left_out, shards)
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

    fn other(
        &mut self,
        OtherInput { path, content, .. }: &OtherInput,
        rounds: &DrandOptions,
    ) -> Result<(), ShardError> {
        let file = self.absolute(path)?;
        let unfit = |what: &str| Err(ShardError::unfit(path, what));
        match content {
            Content::Claims(Format::Jsonl) => self.lines(&file),
            Content::Claims(Format::Parquet) => self.rows(&file),
            // Whether there is a first entry. If it cannot be read, the run says why.
            Content::Claims(Format::Drand) if drand::read(buffered(path)?, rounds).next().is_none() => unfit(NO_CLAIM),
            Content::ChiaBlocks if chia::read(buffered(path)?).next().is_none() => unfit(NO_CLAIM),
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
        match first_character(reader).map_err(read)? {
            None => return Err(ShardError::unfit(path, NO_CLAIM)),
            Some(b'[') => {
                let reason = "found one JSON array, which cannot be cut into lines; write one claim a line, as `jq -c '.[]'` does";
                return Err(ShardError::unfit(path, reason));
            }
            Some(_) => {}
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
        Ok(())
    }

    fn rows(&mut self, path: &Path) -> Result<(), ShardError> {
        let file = File::open(path).map_err(ShardError::read(path))?;
        let rows = ParquetRows::open(file).map_err(|error| ShardError::unfit(path, error))?;
        let groups = rows.groups().map_err(|error| ShardError::unfit(path, error))?;
        let length = |group: &RowGroup| sum(group.parts.iter().map(|(_, length)| *length));
        if groups.iter().all(|group| group.rows == 0) {
            return Err(ShardError::unfit(path, NO_CLAIM));
        }
        let mut group = 0;
        while group < groups.len() {
            let mut end = group + 1;
            let mut size = length(&groups[group]);
            while end < groups.len() && size.saturating_add(length(&groups[end])) <= self.shard_bytes {
                size += length(&groups[end]);
                end += 1;
            }
            let (bytes, sha256) = digest_of_rows(path, &rows, group..end)?;
            let rows = sum(groups[group..end].iter().map(|group| group.rows));
            let covers = Covers::Rows { group, end, of: groups.len(), rows };
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
    digest_of_parts(path, [(0, bytes)])
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
    digest_of_parts(path, parts)
}

/// The sum of numbers that a footer states. No file has what they say if it is too large, which is found when the parts are hashed.
fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// A file, read from its beginning.
pub(super) fn buffered(file: &Path) -> Result<BufReader<File>, ShardError> {
    Ok(BufReader::with_capacity(READ_AHEAD, File::open(file).map_err(ShardError::read(file))?))
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
    // None of its bytes begins a JSON value.
    let mark = BYTE_ORDER_MARK.as_bytes();
    let mut bytes =
        reader.bytes().filter(|byte| !matches!(byte, Ok(byte) if byte.is_ascii_whitespace() || mark.contains(byte)));
    bytes.next().transpose()
}

const READ_AHEAD: usize = 1 << 16;

/// No two files have the same content.
fn once(shards: &[Shard]) -> Result<(), ShardError> {
    // The shards of a file need not stand beside each other: eras are in the order of the chain.
    let mut of_files: BTreeMap<&Path, Vec<Digest>> = BTreeMap::new();
    for Shard { file, sha256, .. } in shards {
        of_files.entry(file).or_default().push(*sha256);
    }
    let mut seen = BTreeMap::new();
    for (file, digests) in of_files {
        if let Some(other) = seen.insert(digests, file) {
            let reason = format!("it has the same content as {}; give each file once", other.display());
            return Err(ShardError::unfit(file, reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shard of an era of a file, whose digest consists of this byte.
    fn era(era: u64, file: &str, digest: u8) -> Shard {
        let covers = Covers::Era { era, begins: era, blocks: 1, before: None };
        Shard { shard: era, file: file.into(), bytes: 1, sha256: Digest([digest; 32]), covers }
    }

    /// One file holds the eras 1 and 3, and another one era 2. Neither is the other's copy.
    #[test]
    fn files_whose_eras_alternate_are_two_files() {
        once(&[era(1, "a.era", 1), era(2, "b.era", 2), era(3, "a.era", 1)]).expect("two files");
        let copies = [era(1, "a.era", 1), era(2, "b.era", 1), era(3, "a.era", 1), era(4, "b.era", 1)];
        let error = once(&copies).expect_err("the same content").to_string();
        assert!(error.contains("b.era") && error.contains("the same content as a.era"), "{error}");
    }
}
