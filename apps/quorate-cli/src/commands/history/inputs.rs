//! The files of a run become claims to judge.

use std::{
    collections::BTreeMap,
    fs::File,
    io::BufReader,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::Args;
use quorate_formats::{
    Format,
    drand::{ChainInfo, DrandOptions},
};
use quorate_history::{
    ChainClaim, Content, EraError, EraFile, EraInput, Eras, Files, FolderFiles, OtherInput, RefusedFile,
    chia::{self, ChiaError},
    drand::{self, RoundRange},
};
use quorate_host::exit::{Exit, Failure};

use crate::commands::{
    value::path_to_read,
    verify::{About, Arrival, Input, Pending, Pusher},
};

/// Opens the files of a run, and finds out what they are.
pub(in crate::commands) fn open_files(
    paths: &[PathBuf],
    of_folders: FolderFiles,
    network: Option<&Path>,
    chain: Option<&Path>,
) -> Result<Files, Failure> {
    Files::open(paths, of_folders, network, chain)
        .map_err(|error| if error.system().is_some() { Failure::io(error) } else { Failure::usage(error) })
}

/// Which chains the files are of.
#[derive(Debug, Args)]
pub(super) struct ChainArguments {
    /// Eras: mainnet, sepolia, holesky, hoodi, goerli, gnosis, chiado, or a JSON file that describes the chain. By default the chain that
    /// chain.json describes in a folder among the inputs, or the one that is built in and has the genesis of the states
    #[arg(long, value_name = "NAME|FILE", value_parser = path_to_read())]
    network: Option<PathBuf>,

    /// drand: the chain of the rounds, default, quicknet, evmnet, fastnet, or a file with its chain info. By default what the files say of
    /// themselves, which proves only that they agree with themselves
    #[arg(long, value_name = "NAME|FILE", value_parser = path_to_read())]
    chain: Option<PathBuf>,
}

impl ChainArguments {
    pub(super) fn open(&self, paths: &[PathBuf], of_folders: FolderFiles) -> Result<Files, Failure> {
        open_files(paths, of_folders, self.network.as_deref(), self.chain.as_deref())
    }
}

/// Why a file is refused: its name, the exit code, and the reason.
pub(super) fn refusal(RefusedFile { path, reason, unread, .. }: &RefusedFile) -> (String, Exit, &str) {
    (path.display().to_string(), if *unread { Exit::Io } else { Exit::Usage }, reason)
}

/// The inputs of a run.
pub(super) struct Inputs {
    files: Files,
    /// The rounds of drand that must be there.
    rounds: Option<RoundRange>,
}

type Opened = EraFile<BufReader<File>>;

impl Inputs {
    /// Opens every file, finds out which chain it is, and sorts the files.
    pub(super) fn open(
        paths: &[PathBuf],
        chains: &ChainArguments,
        rounds: Option<RoundRange>,
    ) -> Result<Self, Failure> {
        let files = chains.open(paths, FolderFiles::Chains)?;
        for OtherInput { path, content, .. } in &files.others {
            if !matches!(content, Content::Claims(Format::Drand) | Content::ChiaBlocks) {
                return Err(Failure::usage(anyhow!(
                    "{}: found {content}, expected eras, rounds of drand or blocks of Chia; `quorate verify` verifies claims",
                    path.display()
                )));
            }
        }
        if rounds.is_some() && of(&files.others, Content::Claims(Format::Drand)).next().is_none() {
            return Err(Failure::usage(anyhow!(
                "--rounds asks for rounds of drand, but no input has any; leave it out"
            )));
        }
        Ok(Self { files, rounds })
    }

    /// How many files are read.
    pub(super) fn files(&self) -> usize {
        self.files.eras.len() + self.files.others.len() + self.files.refused.len()
    }

    /// Files that must have a claim. An era may have no block.
    pub(super) fn of_claims(&self) -> impl Iterator<Item = Input> {
        numbered(0, self.files.others.iter().map(|input| &input.path))
    }

    /// How many blocks are verified if all files can be read.
    pub(super) fn blocks(&self) -> usize {
        self.files.eras.iter().filter(|input| input.verified).map(|input| input.blocks).sum()
    }

    /// Files that cannot be read, and why.
    pub(super) fn refused(&self) -> impl Iterator<Item = (Input, Exit, &str)> {
        let first = self.files.others.len() + self.files.eras.len();
        let refused = self.files.refused.iter().map(refusal).enumerate();
        refused.map(move |(place, (name, exit, reason))| (Input::new(first + place, name), exit, reason))
    }

    /// What is not verified although the inputs have it.
    pub(super) fn left_out(&self) -> &[String] {
        &self.files.left_out
    }

    /// What else the user should know.
    pub(super) fn remarks(&self) -> &[String] {
        &self.files.remarks
    }

    /// Reads file after file and sends every claim on, until the other end is dropped.
    pub(super) fn send(self, to: &Pusher) {
        let Files { chain, eras, drand, others, .. } = self.files;
        // Without a chain there are no eras.
        let _ = chain
            .map_or(Some(()), |chain| send_eras(Eras::new(chain), eras, others.len(), to))
            .and_then(|()| send_rounds(drand.map(|chain| chain.info), self.rounds, &others, to))
            .and_then(|()| send_blocks(&others, to));
    }
}

/// Sends the signatures of eras. The first of the files is the input of number `first`.
fn send_eras(mut eras: Eras, inputs: Vec<EraInput>, first: usize, to: &Pusher) -> Option<()> {
    let names: Vec<_> = numbered(first, inputs.iter().map(|input| &input.path)).collect();
    for (input, name) in inputs.into_iter().zip(names) {
        let mut heard = Some(());
        let read = open(&input).and_then(|mut file| {
            if !input.verified {
                return eras.begin_with(&mut file);
            }
            eras.claims(&mut file, |claim| {
                heard = to.push(Arrival::Claim(Box::new(pend(&name, claim))));
                if heard.is_some() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            })
        });
        if let Err(error) = read {
            let (exit, reason) = (exit_of(&error), error.to_string());
            heard = to.push(Arrival::Failed { input: name, exit, reason });
        }
        heard?;
    }
    Some(())
}

/// Sends the rounds of drand, and then what is wrong with how those of all files fit together.
fn send_rounds(chain: Option<ChainInfo>, asked: Option<RoundRange>, inputs: &[OtherInput], to: &Pusher) -> Option<()> {
    let options = DrandOptions { chain, ..DrandOptions::default() };
    let mut spans = Vec::new();
    for (file, path) in of(inputs, Content::Claims(Format::Drand)) {
        let reader = match File::open(path) {
            Ok(opened) => BufReader::new(opened),
            Err(error) => {
                to.push(Arrival::failed(&file, &error.into()))?;
                continue;
            }
        };
        let mut rounds = drand::read(reader, &options);
        for round in &mut rounds {
            to.push(match round {
                Ok(Ok(round)) => Arrival::Claim(Box::new(pend(&file, round.claim))),
                Ok(Err(malformed)) => Arrival::Malformed { input: file.clone(), malformed },
                Err(error) => Arrival::failed(&file, &error),
            })?;
        }
        spans.extend(rounds.into_spans());
    }
    let joined = drand::join(spans);
    if let Some(range) = joined.range {
        to.push(Arrival::Rounds(range))?;
    }
    let all = Input::new(usize::MAX, "the rounds of all files");
    let faults = joined.faults(asked).into_iter().map(|reason| (Exit::Usage, reason));
    let mut faults = faults.chain(joined.broken.iter().map(|link| (Exit::Negative, link.to_string())));
    faults.try_for_each(|(exit, reason)| to.push(Arrival::Failed { input: all.clone(), exit, reason }))
}

/// Sends the signatures of Chia's blocks, and the number of those that the blocks alone cannot prove.
fn send_blocks(inputs: &[OtherInput], to: &Pusher) -> Option<()> {
    let mut unverified = BTreeMap::new();
    for (file, path) in of(inputs, Content::ChiaBlocks) {
        let blocks = match File::open(path) {
            Ok(opened) => chia::read(BufReader::new(opened)),
            Err(error) => {
                to.push(Arrival::failed(&file, &error.into()))?;
                continue;
            }
        };
        for block in blocks {
            match block {
                Ok(Ok(block)) => {
                    block.unverified.iter().for_each(|not| *unverified.entry((not.kind, not.reason)).or_default() += 1);
                    let mut claims = block.claims.into_iter();
                    claims.try_for_each(|claim| to.push(Arrival::Claim(Box::new(pend(&file, claim)))))?;
                }
                Ok(Err(malformed)) => to.push(Arrival::Malformed { input: file.clone(), malformed })?,
                Err(error) => {
                    let exit = if matches!(error, ChiaError::Read(_)) { Exit::Io } else { Exit::Usage };
                    to.push(Arrival::Failed { input: file.clone(), exit, reason: error.to_string() })?;
                }
            }
        }
    }
    let mut unverified = unverified.into_iter();
    unverified.try_for_each(|((kind, reason), number)| to.push(Arrival::Unverified { kind, reason, number }))
}

/// The files that hold this.
fn of(inputs: &[OtherInput], content: Content) -> impl Iterator<Item = (Input, &PathBuf)> {
    let all = numbered(0, inputs.iter().map(|input| &input.path)).zip(inputs);
    all.filter(move |(_, input)| input.content == content).map(|(name, input)| (name, &input.path))
}

/// These files as inputs of a run, from a number on.
fn numbered<'a>(first: usize, paths: impl Iterator<Item = &'a PathBuf>) -> impl Iterator<Item = Input> {
    paths.enumerate().map(move |(place, path)| Input::new(first + place, path.display().to_string()))
}

fn open(EraInput { path, begins, .. }: &EraInput) -> Result<Opened, EraError> {
    EraFile::open_at(BufReader::new(File::open(path).map_err(EraError::Read)?), *begins)
}

fn exit_of(error: &EraError) -> Exit {
    if matches!(error, EraError::Read(_)) { Exit::Io } else { Exit::Usage }
}

fn pend(file: &Input, claim: ChainClaim) -> Pending {
    let ChainClaim { claim, slot, kind, index, failed } = claim;
    let bytes = size_of::<Pending>() + file.name.len() + claim.memory();
    let about = About {
        id: None,
        origin: file.at(kind.place(slot)),
        checks: failed.into_iter().collect(),
        rests_on: None,
        by_default: false,
        of_key_set: false,
        of_block: Some((kind, index)),
    };
    Pending { claim, about, bytes }
}
