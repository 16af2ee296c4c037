//! The manifest of a run: which shard covers what.
//!
//! It is JSON Lines: a head, a line for each thing that is left out, a line for each shard, and an end with the SHA-256 digest of all lines
//! before it. So a manifest that was cut off or changed is refused, and the digest names the run: a result that states another digest is of
//! another run.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, IntoInnerError, Read as _, Write},
    path::{Path, PathBuf},
};

use quorate::{AnySuite, Soundness};
use quorate_host::file::{Existing, NewFile, Readers};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    error::ShardError,
    hashing::{Digest, Hashing},
};
use crate::{chain::Chain, files::DrandChain};

/// What a run covers, and how its claims are verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Manifest {
    /// The digest of its lines, which names the run.
    pub digest: Digest,
    /// The chain of the eras; none if there are none.
    pub chain: Option<Chain>,
    /// The chain of drand's rounds; none if the files state it.
    pub drand: Option<DrandChain>,
    /// How claims are verified, and what is kept.
    pub terms: RunTerms,
    /// What is not verified although the inputs have it: [`Files::left_out`](crate::Files::left_out).
    pub left_out: Vec<String>,
    /// The shards, in the order of their numbers, which begin at 0.
    pub shards: Vec<Shard>,
}

/// What is the same for all shards of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTerms {
    /// The suite of claims that name none.
    pub suite: Option<AnySuite>,
    /// How improbable it must be that a false claim passes.
    pub soundness: Soundness,
    /// Whether results have a line for each claim, or only for those that are not valid.
    pub all_verdicts: bool,
}

/// A part of the inputs that is verified by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Shard {
    /// Its number.
    pub shard: u64,
    /// The file of which it is a part. Paths are absolute.
    pub file: PathBuf,
    /// How many bytes of the file are read.
    pub bytes: u64,
    /// The digest of these bytes.
    pub sha256: Digest,
    /// Which part of the file.
    pub covers: Covers,
}

/// Which part of a file a shard covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Covers {
    /// A whole era.
    Era {
        /// Its number.
        era: u64,
        /// Where it begins, if it is not the first era of its file.
        #[serde(default, skip_serializing_if = "is_zero")]
        begins: u64,
        /// The number of its blocks.
        blocks: u64,
        /// The file of the era before, whose state it needs; none for era 0.
        before: Option<EraBefore>,
    },
    /// Lines of a file in JSON Lines.
    Lines {
        /// Where the first one begins, in bytes.
        from: u64,
        /// The length of the whole file, in bytes.
        of: u64,
        /// The number of the first one, from 1.
        first: u64,
        /// How many.
        lines: u64,
    },
    /// Row groups of a Parquet file.
    Rows {
        /// The first one, from 0.
        group: usize,
        /// The first one after them.
        end: usize,
        /// How many the file has.
        of: usize,
        /// How many rows they have.
        rows: u64,
    },
    /// A whole file of drand's rounds.
    Rounds,
    /// A whole file of Chia's blocks.
    Blocks,
}

/// An era file of which only the state is used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EraBefore {
    /// Where it lies.
    pub file: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
    /// The digest of the whole file.
    pub sha256: Digest,
    /// Where the era begins, if it is not the first one of its file.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub begins: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The first line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    network: Option<Network>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drand: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suite: Option<String>,
    soundness: u32,
    verdicts: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Network {
    name: String,
    chain: Box<RawValue>,
}

/// A line about something that no shard covers.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LeftOut {
    left_out: String,
}

/// The last line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    shards: u64,
    sha256: Digest,
}

const FORMAT: &str = "quorate-shards";
const VERSION: u32 = 1;
const FILE: &str = "manifest.jsonl";
/// The longest line that is read. A chain's description and three paths are much shorter.
const LINE_LIMIT: u64 = 1 << 20;

impl Manifest {
    /// Where the manifest of a folder lies.
    #[must_use]
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// Writes a manifest, and answers with what [`read`](Self::read) gives. Of two plans at one moment, one is refused.
    pub(super) fn write(
        folder: &Path,
        chain: Option<Chain>,
        drand: Option<DrandChain>,
        terms: RunTerms,
        left_out: Vec<String>,
        shards: Vec<Shard>,
    ) -> Result<Self, ShardError> {
        let path = Self::path(folder);
        let network = chain.as_ref().map(|chain| Network {
            name: chain.name.clone(),
            chain: RawValue::from_string(chain.to_json()).expect("it is JSON"),
        });
        let head = Head {
            format: FORMAT.to_owned(),
            version: VERSION,
            network,
            drand: drand.as_ref().map(|chain| chain.text.clone()),
            suite: terms.suite.map(|suite| suite.name().to_owned()),
            soundness: terms.soundness.bits(),
            verdicts: (if terms.all_verdicts { ALL } else { INVALID }).to_owned(),
        };
        let write = || {
            let mut to = Hashing::new(BufWriter::new(NewFile::begin(&path, Readers::Everybody)?));
            line(&mut to, &head)?;
            left_out.iter().try_for_each(|left_out| line(&mut to, &LeftOut { left_out: left_out.clone() }))?;
            shards.iter().try_for_each(|shard| line(&mut to, shard))?;
            let digest = to.digest();
            line(to.inner(), &End { shards: shards.len() as u64, sha256: digest })?;
            to.into_inner().into_inner().map_err(IntoInnerError::into_error)?.finish(Existing::Refuse)?;
            Ok(digest)
        };
        let digest = write().map_err(|error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => planned_already(&path),
            _ => ShardError::write(&path)(error),
        })?;
        Ok(Self { digest, chain, drand, terms, left_out, shards })
    }

    /// Reads the manifest of a folder, and checks that it is whole and that its shards cover each file once.
    ///
    /// # Errors
    /// It is absent, cut off, changed, of another version, or covers something twice or not at all.
    pub fn read(folder: &Path) -> Result<Self, ShardError> {
        let path = Self::path(folder);
        let file = File::open(&path).map_err(ShardError::read(&path))?;
        Self::parse(BufReader::new(file), &path)
    }

    /// Reads a manifest. `path` names it in messages.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(mut reader: impl BufRead, path: &Path) -> Result<Self, ShardError> {
        let mut to = Hashing::new(io::sink());
        let (mut head, mut end) = (None, None);
        let (mut left_out, mut shards): (Vec<String>, Vec<Shard>) = (Vec::new(), Vec::new());
        let mut text = Vec::new();
        for number in 1u64.. {
            text.clear();
            let unfit = |reason: String| ShardError::unfit(path, format!("line {number}: {reason}"));
            let read = reader.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut text);
            if read.map_err(ShardError::read(path))? == 0 {
                break;
            }
            if end.is_some() {
                return Err(unfit("found more after the line that ends the manifest".to_owned()));
            }
            if text.last() != Some(&b'\n') {
                return Err(unfit("the manifest is cut off here; plan the run again".to_owned()));
            }
            let not_json = |error: serde_json::Error| unfit(format!("{error}; plan the run again"));
            if head.is_none() {
                head = Some(self::head(&text).map_err(unfit)?);
            } else if text.starts_with(b"{\"shards\":") {
                let read: End = serde_json::from_slice(&text).map_err(not_json)?;
                if (read.shards, read.sha256) != (shards.len() as u64, to.digest()) {
                    return Err(unfit("its lines are not those that were planned; plan the run again".to_owned()));
                }
                end = Some(read.sha256);
            } else if text.starts_with(b"{\"left_out\":") {
                let read: LeftOut = serde_json::from_slice(&text).map_err(not_json)?;
                left_out.push(read.left_out);
            } else {
                let shard: Shard = serde_json::from_slice(&text).map_err(not_json)?;
                if shard.shard != shards.len() as u64 {
                    return Err(unfit(format!("found shard {}, expected {}", shard.shard, shards.len())));
                }
                shards.push(shard);
            }
            to.write_all(&text).map_err(ShardError::read(path))?;
        }
        let cut_off = || ShardError::unfit(path, "the manifest has no end, so it is cut off; plan the run again");
        let (Some((chain, drand, terms)), Some(digest)) = (head, end) else { return Err(cut_off()) };
        covers_once(&shards).map_err(|reason| ShardError::unfit(path, reason))?;
        if chain.is_none() && shards.iter().any(|shard| matches!(shard.covers, Covers::Era { .. })) {
            return Err(ShardError::unfit(path, "it has eras, but names no network"));
        }
        Ok(Self { digest, chain, drand, terms, left_out, shards })
    }

    /// The shard with a number.
    ///
    /// # Errors
    /// There is none.
    pub fn shard(&self, number: u64) -> Result<&Shard, ShardError> {
        let none = ShardError::NoSuchShard { shard: number, shards: self.shards.len() as u64 };
        usize::try_from(number).ok().and_then(|place| self.shards.get(place)).ok_or(none)
    }
}

fn head(text: &[u8]) -> Result<(Option<Chain>, Option<DrandChain>, RunTerms), String> {
    // Another version may have other fields.
    #[derive(Deserialize)]
    struct Which {
        format: String,
        version: u32,
    }
    let other = |error: serde_json::Error| format!("this is not a manifest of shards: {error}");
    let Which { format, version } = serde_json::from_slice(text).map_err(other)?;
    if format != FORMAT {
        return Err(format!("found the format {format:?}, expected {FORMAT:?}"));
    }
    if version != VERSION {
        return Err(format!(
            "found version {version} of the manifest, expected {VERSION}; run it with the quorate that planned it, or plan it again"
        ));
    }
    let head: Head = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let Head { network, drand, suite, soundness, verdicts, .. } = head;
    let drand = drand.map(|text| DrandChain::parse(&text).map_err(|error| format!("\"drand\": {error}")));
    let chain = network.map(|Network { name, chain }| Chain::from_json(chain.get(), &name));
    let suite = suite.map(|name| name.parse::<AnySuite>());
    let soundness = match soundness {
        64 => Soundness::Bits64,
        128 => Soundness::Bits128,
        other => return Err(format!("\"soundness\": found {other}, expected 64 or 128")),
    };
    let all_verdicts = match verdicts.as_str() {
        ALL => true,
        INVALID => false,
        other => return Err(format!("\"verdicts\": found {other:?}, expected {ALL:?} or {INVALID:?}")),
    };
    let terms = RunTerms { suite: suite.transpose().map_err(|e| e.to_string())?, soundness, all_verdicts };
    Ok((chain.transpose().map_err(|e| format!("\"network\": {e}"))?, drand.transpose()?, terms))
}

const ALL: &str = "all";
const INVALID: &str = "invalid";

fn line(to: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *to, value)?;
    to.write_all(b"\n")
}

/// Whether the shards of each file cover all of it, nothing of it twice, and no file and no era stands there twice.
fn covers_once(shards: &[Shard]) -> Result<(), String> {
    if shards.is_empty() {
        return Err("it has no shards, expected at least one".to_owned());
    }
    let (mut files, mut eras, mut groups) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for of_file in shards.chunk_by(|a, b| a.file == b.file) {
        let Shard { shard, file, .. } = &of_file[0];
        let wrong = |what: &str| Err(format!("shard {shard}: {}: {what}", file.display()));
        // Eras of several files are in the order of the chain, so a file with several of them may come again.
        if !matches!(of_file[0].covers, Covers::Era { .. }) && !files.insert(file) {
            return wrong("the file stands there twice");
        }
        match of_file[0].covers {
            Covers::Era { .. } => {
                for Shard { covers, .. } in of_file {
                    let Covers::Era { era, begins, before, .. } = covers else {
                        return wrong("it holds eras, and something else");
                    };
                    if !eras.insert(*era) || !groups.insert((file, *begins)) {
                        return wrong("the era stands there twice");
                    }
                    if before.is_none() && *era > 0 {
                        return wrong("the state before the era is missing");
                    }
                }
            }
            Covers::Lines { of, .. } => {
                let (mut next, mut line) = (0, 1);
                for Shard { bytes, covers, .. } in of_file {
                    match *covers {
                        Covers::Lines { from, of: whole, first, lines } if (from, whole, first) == (next, of, line) => {
                            (next, line) = (from.saturating_add(*bytes), first.saturating_add(lines));
                        }
                        _ => return wrong("its lines are not covered once each"),
                    }
                }
                if next != of {
                    return wrong("not all of its lines are covered");
                }
            }
            Covers::Rows { of, .. } => {
                let mut next = 0;
                for Shard { covers, .. } in of_file {
                    match *covers {
                        Covers::Rows { group, end, of: whole, .. } if (group, whole) == (next, of) && end > group => {
                            next = end;
                        }
                        _ => return wrong("its rows are not covered once each"),
                    }
                }
                if next != of {
                    return wrong("not all of its rows are covered");
                }
            }
            Covers::Rounds | Covers::Blocks => {
                if of_file.len() > 1 {
                    return wrong("the file stands there twice");
                }
            }
        }
    }
    match groups.iter().find(|(file, _)| files.contains(file)) {
        Some((file, _)) => Err(format!("{}: it holds eras, and something else", file.display())),
        None => Ok(()),
    }
}

/// Makes the folder of a run, which must not have a manifest yet.
pub(super) fn make_folder(folder: &Path) -> Result<(), ShardError> {
    let path = Manifest::path(folder);
    if path.exists() {
        return Err(planned_already(&path));
    }
    fs::create_dir_all(folder).map_err(ShardError::write(folder))
}

fn planned_already(path: &Path) -> ShardError {
    ShardError::unfit(
        path,
        "there is a plan already; run it, or name another folder (what is planned and done is never overwritten)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two plans have both found the folder empty. The one that ends last is refused, and the other one's manifest stays.
    #[test]
    fn a_plan_that_appeared_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().expect("a folder");
        let terms = RunTerms { suite: None, soundness: Soundness::Bits64, all_verdicts: true };
        let write = |file: &str| {
            let (sha256, covers) = (Digest([1; 32]), Covers::Rounds);
            let shard = Shard { shard: 0, file: file.into(), bytes: 1, sha256, covers };
            Manifest::write(folder.path(), None, None, terms, Vec::new(), vec![shard])
        };
        let first = write("/first").expect("writes");
        let error = write("/second").expect_err("there is one").to_string();
        assert!(error.contains("there is a plan already"), "{error}");
        assert_eq!(Manifest::read(folder.path()).expect("reads"), first);
    }
}
