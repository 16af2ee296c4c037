//! `quorate dkg judge`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate::{Backend, Bls12381Suite};
use quorate_host::{
    exit::{Exit, Failure, Result},
    text::json_reason,
};
use quorate_threshold::dkg::{Blame, Ceremony, CeremonyMessage, SignedTranscript, judge};
use serde::Serialize;

use super::{
    folder::{CeremonyFile, Problems},
    public_file,
    transcripts::{Transcripts, verified},
    words,
};
use crate::commands::{print, suite::InBls12381, value::path_to_read};

/// Say who has provably broken the rules, and how
///
/// Anyone can do so who has ceremony.json: what members signed proves it, and nobody has to be believed. Without FILE all
/// messages in FOLDER/messages are judged, or all transcripts. Silence proves nothing, because a message may have been lost. Exit code: 0 nothing
/// is proven, 1 something is, 2 usage or unreadable input, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Folder of the ceremony
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,

    /// Files that `quorate dkg finish` wrote (blame-NAME-….json), messages, or transcripts; they are judged in place of those in
    /// FOLDER
    #[arg(value_name = "FILE", value_parser = path_to_read())]
    files: Vec<PathBuf>,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Judged {
    ceremony: String,
    messages: usize,
    proven: Vec<Proven>,
}

#[derive(PartialEq, Eq, Serialize)]
struct Proven {
    member: String,
    misdeed: String,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let file = CeremonyFile::read(&self.folder)?;
        file.suite().run(Judge { arguments: self, file })
    }
}

struct Judge {
    arguments: Arguments,
    file: CeremonyFile,
}

impl InBls12381 for Judge {
    fn run_in<S: Bls12381Suite>(self, _: S) -> Result {
        let Self { arguments, file } = self;
        let ceremony = file.ceremony::<S>()?;
        if ceremony.is_one_round() {
            let transcripts = transcripts(&ceremony, &file, &arguments.files)?;
            let proven = proven_by(&ceremony, &transcripts)?;
            return Judged::new(&ceremony, transcripts.len(), proven).print(arguments.json);
        }
        let (mut messages, mut blames) = (Vec::new(), Vec::new());
        for path in &arguments.files {
            let json = public_file::read(path)?;
            match CeremonyMessage::from_json(&json) {
                Ok(message) => messages.push(checked(&ceremony, path, message)?),
                Err(_) => blames.push(evidence(&ceremony, path, &json)?),
            }
        }
        if arguments.files.is_empty() {
            let mut problems = Problems::default();
            let board = file.folder.board(&ceremony, &mut problems)?;
            problems.end();
            messages = board.messages.into_values().chain(board.others).collect();
            if messages.is_empty() {
                return Err(Failure::usage(anyhow!(
                    "{} has no messages of the ceremony; name the folder into which they were copied, or files of evidence",
                    file.folder.display()
                )));
            }
        }
        let mut proven: Vec<Proven> = Vec::new();
        for blame in judge(&ceremony, &messages, Backend::auto()).iter().chain(blames.iter().flatten()) {
            let member = ceremony.name(blame.member()).to_string();
            let found = Proven { member, misdeed: words::misdeed(&ceremony, blame.misdeed()) };
            if !proven.contains(&found) {
                proven.push(found);
            }
        }
        Judged::new(&ceremony, messages.len(), proven).print(arguments.json)
    }
}

impl Judged {
    fn new<S: Bls12381Suite>(ceremony: &Ceremony<S>, messages: usize, proven: Vec<Proven>) -> Self {
        Self { ceremony: ceremony.id().to_string(), messages, proven }
    }

    fn print(self, json: bool) -> Result {
        let exit = if self.proven.is_empty() { Exit::Success } else { Exit::Negative };
        if json {
            print::json(&self)?;
        } else if self.proven.is_empty() {
            print::line("nothing is proven against anyone")?;
        }
        for Proven { member, misdeed } in self.proven.iter().filter(|_| !json) {
            print::line(format_args!("{member} {misdeed}"))?;
        }
        Ok(exit)
    }
}

/// The signed transcripts in a folder, or in the files that the user names.
fn transcripts<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    file: &CeremonyFile,
    files: &[PathBuf],
) -> std::result::Result<Vec<SignedTranscript>, Failure> {
    let named = files.iter().map(|path| {
        let read = SignedTranscript::from_bytes(&public_file::read(path)?, ceremony);
        read.map_err(|error| Failure::usage(error).context(path.display().to_string()))
    });
    let mut found = named.collect::<std::result::Result<Vec<_>, _>>()?;
    if files.is_empty() {
        let mut problems = Problems::default();
        found = Transcripts::read(&file.folder, ceremony, &mut problems)?.evidence();
        problems.end();
    }
    if found.is_empty() {
        return Err(Failure::usage(anyhow!(
            "{} has no transcripts of the ceremony; name the folder into which they were copied, or files",
            file.folder.display()
        )));
    }
    Ok(found)
}

/// What signed transcripts prove against those who signed them.
fn proven_by<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    transcripts: &[SignedTranscript],
) -> std::result::Result<Vec<Proven>, Failure> {
    let mut proven: Vec<Proven> = Vec::new();
    for (place, (signed, verified)) in transcripts.iter().zip(verified(ceremony, transcripts)?).enumerate() {
        let is_second = |other: &SignedTranscript| other.sender() == signed.sender() && other != signed;
        let second = transcripts[..place].iter().any(is_second);
        let second = second.then(|| "signed two different transcripts".to_owned());
        let is_false = verified.err().map(|reason| format!("published a false transcript: {reason}"));
        for misdeed in [second, is_false].into_iter().flatten() {
            let found = Proven { member: ceremony.name(signed.sender()).to_string(), misdeed };
            if !proven.contains(&found) {
                proven.push(found);
            }
        }
    }
    Ok(proven)
}

/// A message that the user names must be one of the ceremony, and signed.
fn checked<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    path: &std::path::Path,
    message: CeremonyMessage,
) -> std::result::Result<CeremonyMessage, Failure> {
    let is_of_it = message.ceremony() == ceremony.id() && message.seen().is_signed(ceremony);
    is_of_it.then_some(message).ok_or_else(|| {
        Failure::usage(anyhow!(
            "{} is not a message of the ceremony {} that a member signed; name the folder of its own ceremony, or another file",
            path.display(),
            ceremony.id()
        ))
    })
}

/// What a file of evidence proves.
fn evidence<S: Bls12381Suite>(
    ceremony: &Ceremony<S>,
    path: &std::path::Path,
    json: &[u8],
) -> std::result::Result<Vec<Blame>, Failure> {
    Blame::from_json(ceremony, json, Backend::auto()).map_err(|error| {
        Failure::usage(anyhow!(
            "{} is neither a message nor evidence: {}; name a file that `quorate dkg finish` wrote",
            path.display(),
            json_reason(json, &error)
        ))
    })
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg judge ceremony
  quorate dkg judge ceremony ceremony/blame-mallory-1d0c4f7a.json";
