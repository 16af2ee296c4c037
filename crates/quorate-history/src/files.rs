//! The files of a run: found in folders, recognised by their content, and in their order.

use std::{
    collections::HashSet,
    fmt,
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use quorate_formats::{
    Foreign, Format, InputError, PEEK_LIMIT,
    drand::{ChainInfo, DrandOptions},
    guess,
};
use quorate_host::{
    BYTE_ORDER_MARK,
    same_file::is_same,
    text::{TextError, read_text},
};
use thiserror::Error;

use crate::{
    chain::{Chain, ChainError},
    drand,
    era::EraFile,
    eras::Eras,
    error::EraError,
    state::StateHead,
};

/// The files of a run.
#[derive(Debug, Default)]
pub struct Files {
    /// The chain of the eras; none if there is no era.
    pub chain: Option<Chain>,
    /// Era files, in the order of their slots, each era once.
    pub eras: Vec<EraInput>,
    /// The chain of drand's rounds, if the caller chose one.
    pub drand: Option<DrandChain>,
    /// The file in a folder that describes the chain, if it was read.
    pub description: Option<PathBuf>,
    /// Other files, in the order in which they were given.
    pub others: Vec<OtherInput>,
    /// Files that cannot be used, and why.
    pub refused: Vec<RefusedFile>,
    /// What is not verified although it lies in a folder of the inputs, or is the first of their eras. It is not an error, but without
    /// it a run would look complete.
    pub left_out: Vec<String>,
    /// What else the user should know, and that is not an error.
    pub remarks: Vec<String>,
}

/// An era file that was opened once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EraInput {
    /// Where it lies.
    pub path: PathBuf,
    /// The number of the era.
    pub era: u64,
    /// Where in the file it begins: 0, unless the file has several eras.
    pub begins: u64,
    /// How many blocks it has.
    pub blocks: usize,
    /// Whether its signatures are verified. If not, the next era begins with its state.
    pub verified: bool,
}

/// A file that is not an era.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OtherInput {
    /// Where it lies.
    pub path: PathBuf,
    /// What it holds.
    pub content: Content,
}

/// What a file that is not an era holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Claims in one of the formats of `quorate verify`; of drand, the rounds of a chain.
    Claims(Format),
    /// Full blocks of Chia.
    ChiaBlocks,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claims(Format::Drand) => f.write_str("rounds of drand"),
            Self::Claims(format) => write!(f, "a file of claims ({format})"),
            Self::ChiaBlocks => f.write_str("blocks of Chia"),
        }
    }
}

/// Which files of a folder are taken, by the ends of their names. A file that is given itself may have any name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderFiles {
    /// Eras: `.era`.
    Eras,
    /// What proves a chain: `.era` and `.jsonl`, or, if there are none, `.json`.
    Chains,
    /// The same, and files of claims: `.parquet` beside `.era` and `.jsonl`.
    ChainsAndClaims,
}

impl FolderFiles {
    /// The first of these lists of extensions counts that any file has: a folder of eras may hold the description of their chain in JSON.
    fn extensions(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Eras => &[&["era"]],
            Self::Chains => &[&["era", "jsonl"], &["json"]],
            Self::ChainsAndClaims => &[&["era", "jsonl", "parquet"], &["json"]],
        }
    }
}

impl fmt::Display for FolderFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.extensions().concat().iter().map(|end| format!(".{end}")).collect::<Vec<_>>();
        match names.split_last() {
            Some((last, [])) => f.write_str(last),
            Some((last, others)) => write!(f, "{} or {last}", others.join(", ")),
            None => Ok(()),
        }
    }
}

/// A chain of drand that the caller chose.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrandChain {
    /// Its key and scheme.
    pub info: ChainInfo,
    /// What [`parse`](Self::parse) reads it from: a name, or a chain info document.
    pub text: String,
}

impl DrandChain {
    /// The chain of drand with this name, or of the chain info in this file. A file that has the name of a chain is not meant.
    ///
    /// # Errors
    /// No chain has this name, and the file cannot be read or is not a chain info.
    pub fn open(chain: &Path) -> Result<Self, FilesError> {
        let name = chain.display().to_string();
        if let Ok(info) = ChainInfo::well_known(&name) {
            return Ok(Self { info, text: name });
        }
        let file = File::open(chain).map_err(|error| FilesError::NoChain { name: name.clone(), error })?;
        let text = description(file, chain)?.trim().to_owned();
        let info = ChainInfo::from_json(&text).map_err(|error| FilesError::Drand { name, error })?;
        Ok(Self { info, text })
    }

    /// Reads the name of a chain that is built in, or a chain info document.
    ///
    /// # Errors
    /// No chain has this name, or the document is not a chain info.
    pub fn parse(text: &str) -> Result<Self, InputError> {
        let text = text.trim().to_owned();
        let info = if text.starts_with('{') { ChainInfo::from_json(&text) } else { ChainInfo::well_known(&text) };
        Ok(Self { info: info?, text })
    }
}

/// A file that cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub struct RefusedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
    /// Whether the operating system could not read it.
    pub unread: bool,
}

/// The files of a run cannot be found out.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FilesError {
    /// The operating system returned an error.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// The error.
        error: io::Error,
    },
    /// A folder has none.
    #[error("{}: found no file whose name ends in {taken}, expected at least one", path.display())]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
        /// What would be taken of it.
        taken: FolderFiles,
    },
    /// `network` is neither the name of a chain nor a file.
    #[error("the network {name} is none of {}, and cannot be read as a file: {error}", names())]
    NoNetwork {
        /// What was given.
        name: String,
        /// The error.
        error: io::Error,
    },
    /// `drand` is neither the name or hash of a chain nor a file.
    #[error(
        "the chain {name} is none of {}, nor the hash of one of them, and cannot be read as a file: {error}; for another chain name a \
         file with its /info document (on the command line --chain FILE)",
        drand_names()
    )]
    NoChain {
        /// What was given.
        name: String,
        /// The error.
        error: io::Error,
    },
    /// A file that is to describe a chain is not a text, or too long.
    #[error("{}: {error}", path.display())]
    Description {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: TextError,
    },
    /// A network is given, and no file is an era.
    #[error(
        "the network is for eras (on the command line --network), and the inputs have none, so it would check nothing; leave it out"
    )]
    UnusedNetwork,
    /// A chain of drand is given, and no file has rounds of drand.
    #[error(
        "the chain is for rounds of drand (on the command line --chain), and the inputs have none, so it would check nothing; leave \
         it out"
    )]
    UnusedChain,
    /// The file is not a chain info of drand.
    #[error("the chain {name}: {error}")]
    Drand {
        /// The file.
        name: String,
        /// What is wrong with it.
        error: InputError,
    },
    /// The file does not describe a chain.
    #[error("{}: {error}", path.display())]
    Network {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: ChainError,
    },
    /// The description that lies in a folder changes what is built in about its chain. It may add forks.
    #[error(
        "{}: it contradicts what is built in about {name}; correct it, or name it as the network (on the command line --network FILE)",
        path.display()
    )]
    Contradicts {
        /// The file.
        path: PathBuf,
        /// The chain that is built in.
        name: String,
    },
    /// The states are of a chain that is not built in.
    #[error(
        "the genesis validators root of the states is {}, which is none of {}; describe the chain in a file and name it as the network \
         (on the command line --network FILE; docs/history.md has an example)",
        const_hex::encode_prefixed(.0), names()
    )]
    UnknownChain([u8; 32]),
}

impl FilesError {
    /// The error of the operating system, if it could not read something. A chain of drand that is neither built in nor a file was mistyped
    /// rather than lost.
    #[must_use]
    pub fn system(&self) -> Option<&io::Error> {
        match self {
            Self::NoChain { error, .. } if error.kind() == io::ErrorKind::NotFound => None,
            Self::Read { error, .. } | Self::NoNetwork { error, .. } | Self::NoChain { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// The names of the chains that are built in, for messages.
fn names() -> String {
    Chain::names().collect::<Vec<_>>().join(", ")
}

/// The names of drand's chains that are built in, for messages.
fn drand_names() -> String {
    ChainInfo::names().collect::<Vec<_>>().join(", ")
}

impl Files {
    /// Opens every file, finds out what it is and of which chain, and sorts the eras. Of a folder it takes what `of_folders` says. Packed
    /// files with such a name are [`refused`](Self::refused), and [`left_out`](Self::left_out) says what else is not read.
    ///
    /// `network` is the name of Ethereum's chain or a file that describes one; without it, the states tell. `drand` is the name of drand's
    /// chain, or a file with its chain info; without it, the files must tell.
    ///
    /// # Errors
    /// [`FilesError`]. What is wrong with a single file is among the [`refused`](Self::refused).
    pub fn open(
        paths: &[PathBuf],
        of_folders: FolderFiles,
        network: Option<&Path>,
        drand: Option<&Path>,
    ) -> Result<Self, FilesError> {
        let (inputs, left_out) = expand(paths, of_folders)?;
        let mut files = Self { drand: drand.map(DrandChain::open).transpose()?, left_out, ..Self::default() };
        let (mut eras, mut genesis) = (Vec::new(), None);
        // A folder may hold the description of its chain. One that has rounds as well is an input, too.
        let described = drand.filter(|chain| ChainInfo::well_known(&chain.display().to_string()).is_err());
        let description = described.and_then(|file| fs::metadata(file).ok());
        for path in inputs {
            let is_description =
                description.as_ref().is_some_and(|one| fs::metadata(&path).is_ok_and(|other| is_same(one, &other)));
            if is_description && has_no_round(&path) {
                continue;
            }
            match look(&path) {
                Ok(Found::Eras { groups, genesis_validators_root }) => {
                    genesis.get_or_insert(genesis_validators_root);
                    eras.extend(groups.into_iter().map(|Group { begins, slot, blocks }| {
                        (slot, EraInput { path: path.clone(), era: 0, begins, blocks, verified: true })
                    }));
                }
                Ok(Found::Other(content)) => files.others.push(OtherInput { path, content }),
                Err((unread, reason)) => files.refused.push(RefusedFile { path, reason, unread }),
            }
        }
        files.chain = match (network, genesis) {
            (Some(network), _) => Some(Chain::open(network)?),
            (None, Some(genesis)) => Some(files.found(&genesis, paths)?),
            (None, None) => None,
        };
        // What a file that cannot be read would have used is not known.
        if files.refused.is_empty() {
            let rounds = files.others.iter().any(|other| other.content == Content::Claims(Format::Drand));
            match (network, drand) {
                (Some(_), _) if eras.is_empty() => return Err(FilesError::UnusedNetwork),
                (_, Some(_)) if !rounds => return Err(FilesError::UnusedChain),
                _ => {}
            }
        }
        if let Some(chain) = files.chain.clone() {
            files.sort(eras, &Eras::new(chain));
        }
        Ok(files)
    }

    fn sort(&mut self, mut eras: Vec<(u64, EraInput)>, chain: &Eras) {
        eras.sort_by_key(|(slot, _)| *slot);
        for (slot, input) in eras {
            let refuse = match (chain.era_of(slot), self.eras.last()) {
                (Err(reason), _) => Err(reason),
                (Ok(era), Some(last)) if last.era == era => {
                    Err(format!("it is era {era}, and so is {}; give each era once", last.path.display()))
                }
                (Ok(era), _) => Ok(era),
            };
            match refuse {
                Err(reason) => self.refused.push(RefusedFile { path: input.path, reason, unread: false }),
                Ok(era) => self.eras.push(EraInput { era, ..input }),
            }
        }
        // The first era is verified only if it is the whole beginning of the chain. If it is alone, it is refused when it is read.
        if let [first, _, ..] = &mut self.eras[..]
            && first.era > 0
        {
            first.verified = false;
            self.left_out.push(format!(
                "{}: only its state is used, because no input has the state before its {} blocks",
                first.path.display(),
                first.blocks
            ));
        }
    }

    /// The chain with a genesis validators root: the one that a folder describes, or one that is built in. A description of a built-in
    /// chain may have a fork that is not built in yet, and changes nothing else: nobody named it, and whoever packed the folder could
    /// make valid claims invalid.
    fn found(&mut self, genesis: &[u8; 32], paths: &[PathBuf]) -> Result<Chain, FilesError> {
        let built_in = Chain::of_genesis(genesis);
        if let Some(described) = paths.iter().map(|path| path.join(CHAIN_FILE)).find(|path| path.is_file()) {
            let (chain, name) = (Chain::open(&described)?, described.display());
            // If no chain is built in, the states say what they are expected to be.
            if built_in.is_none() || chain.genesis_validators_root == *genesis {
                if let Some(known) = built_in.filter(|known| !chain.extends(known)) {
                    return Err(FilesError::Contradicts { path: described, name: known.name });
                }
                self.remarks.push(format!("the chain is the one that {name} describes"));
                self.description = Some(described);
                return Ok(chain);
            }
            self.remarks.push(format!("{name}: not used, because it describes another chain than that of the states"));
        }
        built_in.ok_or(FilesError::UnknownChain(*genesis))
    }
}

const CHAIN_FILE: &str = "chain.json";

impl Chain {
    /// The chain of this name, or of the file that describes it.
    ///
    /// # Errors
    /// No chain has this name, and the file cannot be read or does not describe one.
    pub fn open(network: &Path) -> Result<Self, FilesError> {
        if let Some(chain) = network.to_str().and_then(Self::built_in) {
            return Ok(chain);
        }
        let name = network.display().to_string();
        let file = File::open(network).map_err(|error| FilesError::NoNetwork { name: name.clone(), error })?;
        let text = description(file, network)?;
        Self::from_json(&text, &name).map_err(|error| FilesError::Network { path: network.to_owned(), error })
    }
}

/// The text of a file that describes a chain.
fn description(file: File, path: &Path) -> Result<String, FilesError> {
    read_text(BufReader::new(file), DESCRIPTION_LIMIT).map_err(|error| match error {
        TextError::Read(error) => FilesError::Read { path: path.to_owned(), error },
        error => FilesError::Description { path: path.to_owned(), error },
    })
}

/// The longest description of a chain: 1 MiB.
const DESCRIPTION_LIMIT: u64 = 1 << 20;

/// The files, and those in the folders; and of each folder, what is left out.
fn expand(paths: &[PathBuf], taken: FolderFiles) -> Result<(Vec<PathBuf>, Vec<String>), FilesError> {
    let (mut files, mut all_left) = (Vec::new(), Vec::new());
    for path in paths {
        let cannot = |error| FilesError::Read { path: path.clone(), error };
        if !fs::metadata(path).map_err(cannot)?.is_dir() {
            files.push(path.clone());
            continue;
        }
        let entries = fs::read_dir(path).map_err(cannot)?.map(|entry| entry.map(|entry| entry.path()));
        let mut entries: Vec<PathBuf> = entries.collect::<Result<_, _>>().map_err(cannot)?;
        entries.sort();
        let names: HashSet<PathBuf> = entries.iter().cloned().collect();
        // Whoever unpacks a file often keeps the packed one beside it.
        let is_copy = |file: &Path| ends_in(file, &PACKED) && names.contains(&file.with_extension(""));
        let is_input = |file: &Path, extensions: &[&str]| is_taken(file, extensions) && !is_copy(file);
        let mut known = taken.extensions().iter();
        let extensions = known.find(|known| entries.iter().any(|file| is_input(file, known)));
        let extensions = extensions.ok_or_else(|| FilesError::EmptyFolder { path: path.clone(), taken })?;
        let (inputs, mut left): (Vec<_>, Vec<_>) = entries.into_iter().partition(|file| is_input(file, extensions));
        left.retain(|file| !file.ends_with(CHAIN_FILE) && !paths.contains(file));
        let (folders, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|path| path.is_dir());
        let left = [left_out("file", &others), left_out("folder", &folders)].into_iter().flatten().collect::<Vec<_>>();
        if !left.is_empty() {
            all_left.push(format!("{}: not read: {}", path.display(), left.join(", ")));
        }
        files.extend(inputs);
    }
    Ok((files, all_left))
}

/// Whether a file of a folder is taken: by the end of its name, also if the end of a packed file is behind it. Whoever packed one file of
/// many would miss its claims, so it is refused like one that is given by its name.
fn is_taken(file: &Path, extensions: &[&str]) -> bool {
    let unpacked = file.file_stem().map(Path::new).filter(|_| ends_in(file, &PACKED));
    ends_in(unpacked.unwrap_or(file), extensions)
}

fn ends_in(file: &Path, known: &[&str]) -> bool {
    file.extension().is_some_and(|end| known.iter().any(|known| end == *known))
}

/// How many files or folders are left out, and the name of the first; none if there are none.
fn left_out(what: &str, paths: &[PathBuf]) -> Option<String> {
    let first = paths.first()?.file_name()?.to_string_lossy();
    let number = paths.len();
    Some(format!("{number} {what}{} (first: {first})", if number == 1 { "" } else { "s" }))
}

/// How the names of packed files end.
const PACKED: [&str; 7] = ["gz", "zst", "xz", "bz2", "zip", "lz4", "sz"];

/// What a file is.
enum Found {
    Eras { groups: Vec<Group>, genesis_validators_root: [u8; 32] },
    Other(Content),
}

/// An era of a file: where it begins, the slot of its state, and how many blocks it has.
struct Group {
    begins: u64,
    slot: u64,
    blocks: usize,
}

/// The eras of a file, and the root of the chain that the first one states.
fn eras(mut reader: BufReader<File>) -> Result<Found, EraError> {
    let (mut groups, mut genesis, mut begins) = (Vec::new(), None, 0);
    loop {
        let mut file = EraFile::open_at(&mut reader, begins)?;
        if genesis.is_none() {
            genesis = Some(StateHead::read(&mut file)?.genesis_validators_root);
        }
        groups.push(Group { begins, slot: file.slot(), blocks: file.blocks() });
        match (file.next(), genesis) {
            (Some(next), _) => begins = next,
            (None, Some(genesis_validators_root)) => return Ok(Found::Eras { groups, genesis_validators_root }),
            (None, None) => unreachable!("the first era states it"),
        }
    }
}

/// Finds out what a file is. An error says whether the operating system could not read it, and what is wrong.
fn look(path: &Path) -> Result<Found, (bool, String)> {
    let unread = |error: io::Error| (true, format!("cannot read the file: {error}"));
    // Opening a pipe would wait for whoever writes to it, and what is read of it here would be missing later.
    if !fs::metadata(path).map_err(unread)?.is_file() {
        let reason = "found a pipe or a device, expected a regular file, because the file is read more than once; write what comes \
                      from it to a file first";
        return Err((false, reason.to_owned()));
    }
    let mut file = BufReader::new(File::open(path).map_err(unread)?);
    let mut mark = [0; 2];
    let is_era = match file.read_exact(&mut mark) {
        Ok(()) => mark == E2STORE,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(unread(error)),
    };
    // A damaged era file is reported as such.
    if is_era || path.extension().is_some_and(|extension| extension == "era") {
        let of_era = |error: EraError| (matches!(error, EraError::Read(_)), error.to_string());
        return eras(file).map_err(of_era);
    }
    let mut beginning = Vec::new();
    let file = File::open(path).map_err(unread)?;
    file.take(PEEK_LIMIT as u64).read_to_end(&mut beginning).map_err(unread)?;
    // What holds nothing is no file of claims.
    if beginning.len() < PEEK_LIMIT && is_blank(&beginning) {
        return Err((false, NO_CLAIM.to_owned()));
    }
    match guess(&beginning) {
        Ok(format) => Ok(Found::Other(Content::Claims(format))),
        Err(Foreign::ChiaBlocks) => Ok(Found::Other(Content::ChiaBlocks)),
        // Records of an era are read out of their order, and parts of a file by several processes.
        Err(Foreign::Packed(codec)) => Err((
            false,
            format!(
                "found a file packed with {codec}, expected the file itself; unpack it first, as `gunzip` does with .gz"
            ),
        )),
        Err(foreign) => Err((false, foreign.to_string())),
    }
}

/// Whether a file that begins so has nothing but white space there.
fn is_blank(beginning: &[u8]) -> bool {
    beginning.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(beginning).trim_ascii().is_empty()
}

/// Whether a file that describes a chain of drand can be read to its end, and has no round.
fn has_no_round(path: &Path) -> bool {
    let rounds = |file: File| drand::read(BufReader::new(file), &DrandOptions::default());
    File::open(path).is_ok_and(|file| rounds(file).next().is_none())
}

/// What is said of a file that has nothing to verify: it may be the output of a command that failed.
pub(crate) const NO_CLAIM: &str = "found no claim, expected at least one; check what wrote this file";

/// The type of an e2store file's first record.
const E2STORE: [u8; 2] = [0x65, 0x32];

#[cfg(test)]
mod tests {
    use super::*;

    /// A description of mainnet may have a fork that is not built in yet. One of another chain is not used, which is said.
    #[test]
    fn a_description_in_a_folder_goes_before_what_is_built_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = [folder.path().to_owned()];
        let mainnet = Chain::built_in("mainnet").expect("it is built in");
        let found = |text: &str| {
            fs::write(folder.path().join(CHAIN_FILE), text).expect("writes");
            let mut files = Files::default();
            let chain = files.found(&mainnet.genesis_validators_root, &paths).expect("a chain");
            (chain, files.description.is_some(), files.remarks.concat())
        };
        let gloas = r#"},{"epoch":900000,"name":"gloas","version":"0x07000000"}]"#;
        let (chain, is_used, remarks) = found(&mainnet.to_json().replacen("}]", gloas, 1));
        assert_eq!((chain.current_version(899_999), chain.current_version(900_000)), ([6, 0, 0, 0], [7, 0, 0, 0]));
        assert!(is_used && remarks.contains("chain.json describes"), "{remarks}");
        let (chain, is_used, remarks) = found(&Chain::built_in("hoodi").expect("it is built in").to_json());
        assert_eq!((chain, is_used), (mainnet.clone(), false));
        assert!(remarks.contains("chain.json: not used, because it describes another chain"), "{remarks}");
        let refused = |text: String| {
            fs::write(folder.path().join(CHAIN_FILE), text).expect("writes");
            Files::default().found(&mainnet.genesis_validators_root, &paths).expect_err("another chain").to_string()
        };
        // Deposits, changes, exits and whatever a fork signs would be verified under another version.
        for (field, version) in [("genesis_fork_version", "0x00000000"), ("capella_fork_version", "0x03000000")] {
            let other = mainnet.to_json().replace(&format!("{version}\""), "0x00000099\"");
            assert_ne!(other, mainnet.to_json());
            let error = refused(other);
            assert!(error.contains("chain.json: it contradicts what is built in about mainnet"), "{field}: {error}");
        }
        let error = refused(mainnet.to_json().replace("\"epoch\":364032", "\"epoch\":364033"));
        assert!(error.contains("contradicts"), "{error}");
        fs::write(folder.path().join(CHAIN_FILE), "{}").expect("writes");
        let error = Files::default().found(&mainnet.genesis_validators_root, &paths).expect_err("no description");
        assert!(matches!(error, FilesError::Network { .. }), "{error}");
    }
}
