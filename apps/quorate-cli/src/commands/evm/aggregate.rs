//! `quorate evm aggregate`.

use std::{fmt, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::{Options, rand_core::CryptoRng};
use quorate_evm::{
    Collection, KeyGroup, Network, NotAdded, PlanError, QuorumSignature,
    alloy_primitives::{B256, Bytes},
};
use quorate_formats::judge::{Item, Window, WindowLimit};
use quorate_host::exit::{Exit, Failure, Result};
use serde::Serialize;
use serde_json::Value;

use super::{
    network_file::NetworkFile,
    report::{amount, lines, plain},
    signature_line::{Parts, SignatureLine},
    signers::list_of,
};
use crate::commands::{
    backend::BackendArgument,
    complaints::Complaints,
    lines::{Line, Lines, Spot},
    print, random, threads,
};

/// Check operators' signatures and add up the true ones
///
/// Reads the lines of `quorate evm sign`, in any order, and checks each against the key at its index in the network. False
/// signatures are named on standard error with their member, file and line; the others are added up. Prints the signers and
/// the aggregate signature as `quorate evm plan` takes them, and whether the signers weigh enough. A line for another
/// contract, epoch, result or digest is refused, and so is a second signature of a member. Exit code: 0 all are true and
/// weigh enough, 1 some are false or they are too light, 2 a line is refused, 3 I/O, 4 internal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The contract's keys and weights as JSON, as `quorate evm plan` takes them; `-` is standard input
    #[arg(long, value_name = "FILE")]
    network: PathBuf,

    /// Files with signatures, one JSON object on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The digest that must be signed; that of the first line without this flag. Lines for other digests are refused
    #[arg(long, value_name = "HEX")]
    digest: Option<B256>,

    #[command(flatten)]
    backend: BackendArgument,

    /// Print one JSON object for each line on standard output, {"file":"…","line":1,"index":3,"valid":true}. A line that is
    /// refused has "malformed":true
    #[arg(long)]
    verdicts: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line, the network or all lines are wrong, or reading or writing fails.
    pub(super) fn run(self) -> Result {
        let mut lines = Lines::open_beside(&self.files, Some(&self.network))?;
        let NetworkFile { network, name } = NetworkFile::read(&self.network)?;
        let options = Options { threads: threads::all(), backend: self.backend.backend, ..Options::default() };
        let mut run = Run {
            network: &network,
            name,
            digest: self.digest,
            verdicts: self.verdicts,
            options,
            collecting: None,
            window: Window::new(WindowLimit::of(options.threads)),
            tally: Tally::default(),
            complaints: Complaints::default(),
        };
        let mut rng = random::generator()?;
        while let Some(Line { spot, text }) = lines.next()? {
            run.take(spot, text, &mut rng)?;
        }
        run.judge(&mut rng)?;
        run.complaints.rest().for_each(print::note);
        let (tally, exit) = (run.tally, run.tally.exit());
        if tally.total() == 0 {
            return Err(Failure::usage(anyhow!("no signature in {}, so there is nothing to add", lines.names())));
        }
        let Some(Collecting { parts, collection, .. }) = run.collecting else {
            return Err(Failure::usage(anyhow!("all lines are refused, so there is nothing to add")));
        };
        let faulty = |error: PlanError| Failure::usage(error).context(run.name.clone());
        let report = Report::new(&network, parts, &collection, tally).map_err(faulty)?;
        if self.json {
            print::json(&report)?;
        } else {
            print::all(report.to_string().as_bytes())?;
        }
        if collection.is_heavy_enough() {
            return Ok(exit);
        }
        let (weight, required) = (collection.weight(), network.required);
        print::note(format_args!("error: {}", PlanError::TooLight { weight, required }));
        Ok(exit.max(Exit::Negative))
    }
}

/// How many lines are what.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    valid: usize,
    invalid: usize,
    refused: usize,
}

impl Tally {
    fn total(self) -> usize {
        self.valid + self.invalid + self.refused
    }

    fn exit(self) -> Exit {
        match self {
            Self { refused: 1.., .. } => Exit::Usage,
            Self { invalid: 1.., .. } => Exit::Negative,
            Self { .. } => Exit::Success,
        }
    }
}

/// The lines so far.
struct Run<'a> {
    network: &'a Network,
    /// The name of the network's file.
    name: String,
    /// The digest that was asked for.
    digest: Option<B256>,
    verdicts: bool,
    options: Options,
    collecting: Option<Collecting<'a>>,
    /// Lines that are judged together.
    window: Window<(Spot, Entry)>,
    tally: Tally,
    complaints: Complaints,
}

/// The signatures of one digest.
struct Collecting<'a> {
    parts: Parts,
    digest: B256,
    /// The line that named the digest first.
    first: Spot,
    collection: Collection<'a>,
}

/// A line of a window.
enum Entry {
    /// The next of the signatures that are verified together.
    Signature(usize, QuorumSignature),
    /// Why it is refused.
    Refused(String),
}

impl Run<'_> {
    /// Takes a line, and judges the window if it is full.
    fn take(
        &mut self,
        spot: Spot,
        text: std::result::Result<String, String>,
        rng: &mut impl CryptoRng,
    ) -> std::result::Result<(), Failure> {
        let entry = match text.and_then(|text| self.read(&spot, &text)) {
            Ok((index, signature)) => Entry::Signature(index, signature),
            Err(why) => Entry::Refused(why),
        };
        let said = if let Entry::Refused(why) = &entry { why.len() } else { 0 };
        let bytes = size_of::<(Spot, Entry)>() + spot.file.len() + said;
        self.window.push(Item { about: (spot, entry), claim: None, bytes });
        if self.window.is_full() { self.judge(rng) } else { Ok(()) }
    }

    /// The member and the signature of a line.
    fn read(&mut self, spot: &Spot, text: &str) -> std::result::Result<(usize, QuorumSignature), String> {
        let line = SignatureLine::parse(text)?;
        let (index, digest) = (line.member_of(self.network)?, line.digest());
        match (&self.collecting, self.digest) {
            (_, Some(wanted)) if wanted != digest => {
                return Err(format!("\"digest\": found {digest}, expected that of --digest"));
            }
            (Some(Collecting { digest: wanted, first, .. }), None) if *wanted != digest => {
                return Err(format!(
                    "\"digest\": found {digest}, expected that of the first signature ({first}); --digest chooses another"
                ));
            }
            (Some(_), _) => {}
            (None, _) => {
                let (parts, first) = (line.parts().clone(), spot.clone());
                let collection = Collection::new(self.network, digest.into());
                self.collecting = Some(Collecting { parts, digest, first, collection });
            }
        }
        Ok((index, line.signature()))
    }

    /// Verifies the signatures of the window together, and reports its lines in order.
    fn judge(&mut self, rng: &mut impl CryptoRng) -> std::result::Result<(), Failure> {
        let window: Vec<_> = self.window.take().into_iter().map(|item| item.about).collect();
        let signatures: Vec<_> = window
            .iter()
            .filter_map(|(_, entry)| match entry {
                Entry::Signature(index, signature) => Some((*index, *signature)),
                Entry::Refused(_) => None,
            })
            .collect();
        let answers = match &mut self.collecting {
            Some(collecting) => collecting.collection.add(&signatures, &self.options, rng),
            None => Ok(Vec::new()),
        };
        let answers = answers.map_err(|error| Failure::usage(error).context(self.name.clone()))?;
        let mut answers = answers.into_iter();
        for (spot, entry) in window {
            match entry {
                Entry::Refused(why) => self.refuse(spot, None, why)?,
                Entry::Signature(index, _) => match answers.next() {
                    Some(Ok(())) => {
                        self.tally.valid += 1;
                        self.verdict(spot, Some(index), None, None)?;
                    }
                    Some(Err(why @ (NotAdded::Twice(_) | NotAdded::NoSuchMember { .. }))) => {
                        self.refuse(spot, Some(index), why.to_string())?;
                    }
                    Some(Err(why)) => {
                        self.tally.invalid += 1;
                        // None is left out, however many there are.
                        print::note(format_args!("{spot}: the signature of member {index} is false: {why}"));
                        self.verdict(spot, Some(index), None, Some(why.to_string()))?;
                    }
                    None => return Err(Failure::internal(anyhow!("{spot}: nothing judged the signature"))),
                },
            }
        }
        Ok(())
    }

    fn refuse(&mut self, spot: Spot, index: Option<usize>, why: String) -> std::result::Result<(), Failure> {
        self.tally.refused += 1;
        if self.complaints.admit(&why) {
            print::note(format_args!("{spot}: {why}"));
        }
        self.verdict(spot, index, Some(true), Some(why))
    }

    fn verdict(
        &self,
        spot: Spot,
        index: Option<usize>,
        malformed: Option<bool>,
        reason: Option<String>,
    ) -> std::result::Result<(), Failure> {
        if !self.verdicts {
            return Ok(());
        }
        print::json(&VerdictLine { spot, index, valid: reason.is_none(), malformed, reason })
    }
}

/// What `--verdicts` prints of a line.
#[derive(Serialize)]
struct VerdictLine {
    #[serde(flatten)]
    spot: Spot,
    /// The member.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    valid: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    malformed: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// What the true signatures add up to.
#[derive(Serialize)]
struct Report {
    key_group: KeyGroup,
    #[serde(flatten)]
    parts: Parts,
    digest: B256,
    /// How many lines are true, false and refused.
    valid: usize,
    invalid: usize,
    refused: usize,
    /// The number of members.
    keys: usize,
    members: usize,
    /// The list that `plan --signers` takes.
    signers: String,
    bitmap: Bytes,
    weight: Value,
    required: Value,
    heavy_enough: bool,
    /// The sum that `plan --signature` takes; none if no signature is true.
    signature: Option<Bytes>,
}

impl Report {
    fn new(
        network: &Network,
        parts: Parts,
        collection: &Collection<'_>,
        tally: Tally,
    ) -> std::result::Result<Self, PlanError> {
        let signers = collection.signers();
        let signature = collection.aggregate()?;
        Ok(Self {
            key_group: network.key_group,
            digest: parts.digest(),
            parts,
            valid: tally.valid,
            invalid: tally.invalid,
            refused: tally.refused,
            keys: network.keys.len(),
            members: signers.len(),
            signers: list_of(&signers),
            bitmap: Bytes::copy_from_slice(signers.as_bytes()),
            weight: amount(collection.weight()),
            required: amount(network.required),
            heavy_enough: collection.is_heavy_enough(),
            signature: signature.map(|signature| Bytes::copy_from_slice(signature.as_bytes())),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.parts.lines() {
            writeln!(f, "{line}")?;
        }
        let Self { valid, invalid, refused, members, keys, .. } = self;
        writeln!(f, "lines      {valid} true, {invalid} false, {refused} refused")?;
        let weight = format!("{}; required: {}", plain(&self.weight), plain(&self.required));
        lines(f, "quorum", &format!("{members} of {keys} members weigh {weight}"))?;
        let Some(signature) = &self.signature else { return Ok(()) };
        if self.heavy_enough {
            writeln!(f, "\nfor quorate evm plan:")?;
            let Parts { deadline, store, results, .. } = &self.parts;
            writeln!(f, "--signers {} --deadline {deadline} --store {store}", self.signers)?;
            results.iter().try_for_each(|result| writeln!(f, "--result {result}"))?;
            writeln!(f, "--signature {signature}")?;
        } else {
            lines(f, "signers", &self.signers)?;
        }
        Ok(())
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate evm aggregate --network network.json signed.jsonl
  quorate evm aggregate --network network.json --verdicts \\
      from-alice.jsonl from-bob.jsonl
  cat signed-*.jsonl | quorate evm aggregate --network network.json --json";
