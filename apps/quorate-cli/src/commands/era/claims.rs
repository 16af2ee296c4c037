//! `quorate era claims`: era files in, their claims as a file out.
//!
//! The file is written while the eras are read, so memory is bounded by one state and one row group. It appears whole or not at all: if
//! an era cannot be read, if the disk is full or if Ctrl-C is pressed, nothing is left.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, IsTerminal},
    ops::ControlFlow,
    path::PathBuf,
};

use anyhow::{Error, anyhow};
use clap::Args;
use indicatif::{HumanBytes, ProgressBar, ProgressFinish, ProgressStyle};
use quorate_history::{ClaimKind, EraError, EraFile, EraInput, Eras, Files, FolderFiles, OtherInput, RefusedFile};
use quorate_host::exit::{Exit, Failure, Result};
use serde::Serialize;

use quorate_host::{file::Existing, same_file::refuse_an_output_that_is_an_input};

use super::sink::{OutputFormat, Sink};
use crate::commands::{
    history::open_files,
    print::{self, note, plural},
    value::{path_to_read, path_to_write},
    verify::Interrupt,
};

/// Write the claims of era files as Parquet
///
/// One row for each signature, with the columns public_keys, message, signature, suite, kind, slot, index and reason. An era needs
/// the state at the end of the era before it, so give that file too, as for `quorate history verify`. A claim whose signers cannot
/// be told has no keys and a reason, and is invalid. FILE appears when all of it is written, or not at all. Exit code: 0 written,
/// 2 usage or unreadable input, 3 I/O, 4 internal, 130 interrupted.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// Era files, and folders of files whose names end in `.era`, in any order
    #[arg(value_name = "PATH", required = true, value_parser = path_to_read())]
    paths: Vec<PathBuf>,

    /// The file to write
    #[arg(short, long, value_name = "FILE", value_parser = path_to_write())]
    output: PathBuf,

    /// Replace FILE if it exists
    #[arg(long)]
    force: bool,

    /// What is written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Parquet)]
    format: OutputFormat,

    /// The chain: mainnet, sepolia, holesky, hoodi, goerli, gnosis, chiado, or a JSON file that describes it. By default the chain that
    /// chain.json describes in a folder among the inputs, or the one that is built in and has the genesis of the states
    #[arg(long, value_name = "NAME|FILE", value_parser = path_to_read())]
    network: Option<PathBuf>,

    /// Print one JSON object with the counts on standard output, at the end
    #[arg(long)]
    json: bool,

    /// Print on standard error only errors, and what is not read
    #[arg(short, long)]
    quiet: bool,
}

/// What was written.
#[derive(Default, Serialize)]
struct Written {
    claims: usize,
    blocks: usize,
    /// Claims that their chain refutes.
    refuted: usize,
    kinds: BTreeMap<&'static str, usize>,
    bytes: u64,
    /// What is not written although the inputs have it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let interrupt = Interrupt::install()?;
        let existing = if self.force { Existing::Replace } else { Existing::Refuse };
        Sink::check(&self.output, existing)?;
        let files = self.files()?;
        let descriptions = [&self.network, &files.description].into_iter().flatten();
        refuse_an_output_that_is_an_input(&self.output, files.eras.iter().map(|era| &era.path).chain(descriptions))?;
        let say = |text: &str| {
            if !self.quiet {
                note(text)
            }
        };
        files.left_out.iter().for_each(note);
        files.remarks.iter().for_each(|remark| say(remark));
        let blocks: usize = files.eras.iter().filter(|input| input.verified).map(|input| input.blocks).sum();
        let bar = self.progress(blocks);
        interrupt.watch();
        let mut sink = Sink::begin(&self.output, self.format, existing)?;
        let mut written = Written { left_out: files.left_out, ..Written::default() };
        // Without a chain there are no eras.
        let mut eras = files.chain.map(Eras::new);
        for EraInput { path, begins, verified, .. } in &files.eras {
            let Some(eras) = &mut eras else { break };
            let mut failed = None;
            let mut take = |claim| {
                let result = written.add(&mut sink, &claim);
                bar.set_position(written.blocks as u64);
                if let Err(failure) = result {
                    failed = Some(failure);
                } else if !interrupt.is_set() {
                    return ControlFlow::Continue(());
                }
                ControlFlow::Break(())
            };
            let read = File::open(path).map_err(EraError::Read).and_then(|file| {
                let mut file = EraFile::open_at(BufReader::new(file), *begins)?;
                if *verified { eras.claims(&mut file, &mut take) } else { eras.begin_with(&mut file) }
            });
            read.map_err(|error| unread(error).context(format!("{}", path.display())))?;
            if interrupt.is_set() {
                bar.finish_and_clear();
                note("interrupted; nothing is written");
                return Ok(Exit::Interrupted);
            }
            failed.map_or(Ok(()), Err)?;
        }
        if written.claims == 0 {
            return Err(Failure::usage(anyhow!(
                "found no block; give the file of an era that has blocks, and that of the era before it"
            )));
        }
        written.bytes = sink.finish()?;
        bar.finish_and_clear();
        if self.json {
            print::json(&written)?;
        }
        let claims = plural(written.claims, "claim");
        let blocks = plural(written.blocks, "block");
        say(&format!("{claims} of {blocks} written to {} ({})", self.output.display(), HumanBytes(written.bytes)));
        Ok(Exit::Success)
    }

    /// The eras of the inputs. All of them must be readable, because a file without some of its claims would look whole.
    fn files(&self) -> std::result::Result<Files, Failure> {
        let files = open_files(&self.paths, FolderFiles::Eras, self.network.as_deref(), None)?;
        if let Some(OtherInput { path, content, .. }) = files.others.first() {
            return Err(Failure::usage(anyhow!("{}: found {content}, expected an era", path.display())));
        }
        if let Some(RefusedFile { path, reason, unread, .. }) = files.refused.first() {
            let error = Error::msg(format!("{}: {reason}; nothing is written", path.display()));
            return Err(if *unread { Failure::io(error) } else { Failure::usage(error) });
        }
        Ok(files)
    }

    fn progress(&self, blocks: usize) -> ProgressBar {
        if self.quiet || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(blocks as u64).with_finish(ProgressFinish::AndClear);
        match ProgressStyle::with_template("{wide_bar} {human_pos} of {human_len} blocks, {eta} left") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

impl Written {
    fn add(&mut self, sink: &mut Sink, claim: &quorate_history::ChainClaim) -> std::result::Result<(), Failure> {
        sink.write(claim)?;
        self.claims += 1;
        self.blocks += usize::from(claim.kind == ClaimKind::Proposer);
        self.refuted += usize::from(claim.failed.is_some());
        *self.kinds.entry(claim.kind.name()).or_default() += 1;
        Ok(())
    }
}

fn unread(error: EraError) -> Failure {
    match error {
        EraError::Read(_) => Failure::io(error),
        _ => Failure::usage(error),
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate era claims mainnet-00999-*.era mainnet-01000-*.era \\
      --output claims.parquet
  quorate verify claims.parquet --verdicts > verdicts.jsonl
  quorate era claims eras/ --format jsonl --output claims.jsonl";
