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
/// signatures are named on standard error with their member, file and line; the others are added up. Prints the signers and the
/// aggregate signature as `quorate evm plan` takes them, and whether the signers weigh enough. A line for another contract,
/// epoch or nonce is refused, and so is a second signature of a member, and one of a member whose key in the network does not
/// decode. If lines are for several digests, that one counts whose true signers weigh enough, and the lines for the others are
/// refused; if that is none or more than one, nothing is added up. Exit code: 0 all are true and weigh enough, 1 some are false
/// or they are too light, 2 a line is refused, or no digest is chosen, 3 I/O, 4 internal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The contract's keys and weights as JSON, as `quorate evm plan` takes them; `-` is standard input
    #[arg(long, value_name = "FILE")]
    network: PathBuf,

    /// Files with signatures, one JSON object on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// The digest that must be signed. Lines for other digests are refused
    #[arg(long, value_name = "HEX")]
    digest: Option<B256>,

    #[command(flatten)]
    backend: BackendArgument,

    /// Print one JSON object for each line on standard output, {"file":"…","line":1,"index":3,"valid":true}. A line that is
    /// refused has "malformed":true. Without --digest they are printed when all lines were read, and more than 16 MiB of refused
    /// and false lines end the command
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
        let mut lines = Lines::open(&self.files)?;
        let NetworkFile { network, name } = NetworkFile::read(&self.network)?;
        let options = Options { threads: threads::all(), backend: self.backend.backend, ..Options::default() };
        let mut run = Run {
            network: &network,
            name,
            digest: self.digest,
            verdicts: self.verdicts,
            options,
            collecting: Vec::new(),
            told: Vec::new(),
            told_bytes: 0,
            window: Window::new(WindowLimit::of(options.threads)),
            refused: 0,
            complaints: Complaints::default(),
        };
        let mut rng = random::generator()?;
        while let Some(Line { spot, text }) = lines.next()? {
            run.take(spot, text, &mut rng)?;
        }
        run.judge(&mut rng)?;
        if run.refused == 0 && run.collecting.is_empty() {
            return Err(Failure::usage(anyhow!("no signature in {}, so there is nothing to add", lines.names())));
        }
        let chosen = run.choose();
        run.complaints.rest().for_each(print::note);
        let (place, tally) = chosen?;
        let (Collecting { parts, collection, .. }, exit) = (run.collecting.swap_remove(place), tally.exit());
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
        let (weight, required) = (collection.weight(), network.least_weight());
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
    /// In the order of their first lines.
    collecting: Vec<Collecting<'a>>,
    /// What `--verdicts` prints when it is known which digest counts, with the places of the digests.
    told: Vec<(Option<usize>, VerdictLine)>,
    /// What `told` takes of memory for lines that are not valid. Of valid ones there is at most one of a member and digest.
    told_bytes: usize,
    /// Lines that are judged together.
    window: Window<(Spot, Entry)>,
    /// Lines that are refused whichever digest counts.
    refused: usize,
    complaints: Complaints,
}

/// The signatures of one digest.
///
/// A member can sign any results, and anyone can send its lines first or often. So neither the first line nor the number of lines says
/// which digest counts, but that its true signers weigh enough.
struct Collecting<'a> {
    parts: Parts,
    digest: B256,
    collection: Collection<'a>,
    valid: usize,
    invalid: usize,
    /// The first lines, with their members.
    first_lines: Vec<(Spot, usize)>,
}

/// A line of a window.
enum Entry {
    /// One of the signatures that are verified together: the place of its digest, the member, and the signature.
    Signature(usize, usize, QuorumSignature),
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
            Ok((place, index, signature)) => Entry::Signature(place, index, signature),
            Err(why) => Entry::Refused(why),
        };
        let said = if let Entry::Refused(why) = &entry { why.len() } else { 0 };
        let bytes = size_of::<(Spot, Entry)>() + spot.file.len() + said;
        self.window.push(Item { about: (spot, entry), claim: None, bytes });
        if self.window.is_full() { self.judge(rng) } else { Ok(()) }
    }

    /// The place of the digest, the member and the signature of a line.
    fn read(&mut self, spot: &Spot, text: &str) -> std::result::Result<(usize, usize, QuorumSignature), String> {
        let line = SignatureLine::parse(text)?;
        let (index, digest) = (line.member_of(self.network)?, line.digest());
        if self.digest.is_some_and(|wanted| wanted != digest) {
            return Err(format!("\"digest\": found {digest}, expected that of --digest"));
        }
        let known = self.collecting.iter().position(|collecting| collecting.digest == digest);
        let place = match known {
            Some(place) => place,
            None if self.collecting.len() == MOST_DIGESTS => {
                return Err(format!(
                    "\"digest\": the lines are for more than {MOST_DIGESTS} digests; --digest chooses one"
                ));
            }
            None => {
                let (parts, collection) = (line.parts().clone(), Collection::new(self.network, digest.into()));
                let (valid, invalid, first_lines) = (0, 0, Vec::new());
                self.collecting.push(Collecting { parts, digest, collection, valid, invalid, first_lines });
                self.collecting.len() - 1
            }
        };
        let first_lines = &mut self.collecting[place].first_lines;
        if first_lines.len() < MOST_LISTED {
            first_lines.push((spot.clone(), index));
        }
        Ok((place, index, line.signature()))
    }

    /// Verifies the signatures of the window together, and reports its lines in order.
    fn judge(&mut self, rng: &mut impl CryptoRng) -> std::result::Result<(), Failure> {
        let window: Vec<_> = self.window.take().into_iter().map(|item| item.about).collect();
        let mut signatures = vec![Vec::new(); self.collecting.len()];
        for (_, entry) in &window {
            if let Entry::Signature(place, index, signature) = entry {
                signatures[*place].push((*index, *signature));
            }
        }
        let mut answers = Vec::with_capacity(signatures.len());
        for (collecting, signatures) in self.collecting.iter_mut().zip(&signatures) {
            let added = match signatures[..] {
                [] => Vec::new(),
                _ => collecting.collection.add(signatures, &self.options, rng),
            };
            answers.push(added.into_iter());
        }
        for (spot, entry) in window {
            match entry {
                Entry::Refused(why) => self.refuse(spot, None, why)?,
                Entry::Signature(place, index, _) => match answers[place].next() {
                    Some(Ok(())) => {
                        self.collecting[place].valid += 1;
                        self.verdict(Some(place), spot, Some(index), None, None)?;
                    }
                    Some(Err(why @ (NotAdded::Twice(_) | NotAdded::NoSuchMember { .. }))) => {
                        self.refuse(spot, Some(index), why.to_string())?;
                    }
                    // The network's fault, and nobody's signature is false by it. The other lines count.
                    Some(Err(NotAdded::Key(why))) => {
                        let file = &self.name;
                        let why =
                            format!("the signature of member {index} cannot be checked: {file}: keys[{index}]: {why}");
                        self.refuse(spot, Some(index), why)?;
                    }
                    Some(Err(why)) => {
                        self.collecting[place].invalid += 1;
                        // None is left out, however many there are.
                        print::note(format_args!("{spot}: the signature of member {index} is false: {why}"));
                        self.verdict(Some(place), spot, Some(index), None, Some(why.to_string()))?;
                    }
                    None => return Err(Failure::internal(anyhow!("{spot}: nothing judged the signature"))),
                },
            }
        }
        Ok(())
    }

    /// Where the digest stands that counts, and how many lines are what. The lines for others are named.
    fn choose(&mut self) -> std::result::Result<(usize, Tally), Failure> {
        let heavy = |(_, collecting): &(usize, &Collecting<'_>)| collecting.collection.is_heavy_enough();
        let heavy: Vec<_> = self.collecting.iter().enumerate().filter(heavy).map(|(place, _)| place).collect();
        let place = match (&self.collecting[..], &heavy[..]) {
            ([], _) => {
                self.tell(None)?;
                return Err(Failure::usage(anyhow!("all lines are refused, so there is nothing to add")));
            }
            ([_], _) => 0,
            (_, [one]) => *one,
            (several, []) => {
                return Err(Failure::usage(anyhow!(
                    "the lines are for {}, and the true signers of none weigh {}, which is required, so that nothing was added: {}; \
                     --digest chooses one",
                    print::plural(several.len(), "digest"),
                    self.network.required,
                    listed(several.iter())
                )));
            }
            (several, _) => {
                let heavy = heavy.iter().map(|place| &several[*place]);
                return Err(Failure::usage(anyhow!(
                    "the true signers of {} weigh enough, so it is not clear which one is meant, and nothing was added: {}; choose \
                     one with --digest",
                    print::plural(heavy.len(), "digest"),
                    listed(heavy)
                )));
            }
        };
        let expected = self.collecting[place].digest;
        let mut tally = Tally { refused: self.refused, ..Tally::default() };
        for (other, collecting) in self.collecting.iter().enumerate() {
            let Collecting { digest, valid, invalid, first_lines, .. } = collecting;
            if other == place {
                (tally.valid, tally.invalid) = (*valid, *invalid);
                continue;
            }
            tally.refused += valid + invalid;
            for (spot, index) in first_lines {
                let why = other_digest(*digest, expected);
                if self.complaints.admit(&why) {
                    print::note(format_args!("{spot}: {why} (member {index})"));
                }
            }
        }
        if let others @ 1.. = self.collecting.len() - 1 {
            print::note(format_args!(
                "the digest is {expected}: its true signers weigh enough. The lines for {} are refused; --digest chooses a digest",
                print::plural(others, "other digest")
            ));
        }
        self.tell(Some(place))?;
        Ok((place, tally))
    }

    fn refuse(&mut self, spot: Spot, index: Option<usize>, why: String) -> std::result::Result<(), Failure> {
        self.refused += 1;
        if self.complaints.admit(&why) {
            print::note(format_args!("{spot}: {why}"));
        }
        self.verdict(None, spot, index, Some(true), Some(why))
    }

    /// Prints the verdict of a line, or keeps it until it is known whether its digest counts.
    fn verdict(
        &mut self,
        place: Option<usize>,
        spot: Spot,
        index: Option<usize>,
        malformed: Option<bool>,
        reason: Option<String>,
    ) -> std::result::Result<(), Failure> {
        if !self.verdicts {
            return Ok(());
        }
        let line = VerdictLine { spot, index, valid: reason.is_none(), malformed, reason };
        if self.digest.is_some() {
            return print::json(&line);
        }
        if !line.valid {
            let said = line.reason.as_ref().map_or(0, String::len);
            self.told_bytes += size_of::<(Option<usize>, VerdictLine)>() + line.spot.file.len() + said;
        }
        if self.told_bytes > MOST_TOLD {
            return Err(Failure::usage(anyhow!(
                "{}: so many lines are refused or false that their verdicts take more than {} MiB until it is known which digest \
                 counts; choose one with --digest, and verdicts are printed at once, or leave --verdicts out",
                line.spot,
                MOST_TOLD >> 20
            )));
        }
        self.told.push((place, line));
        Ok(())
    }

    /// Prints the verdicts that were kept.
    fn tell(&mut self, chosen: Option<usize>) -> std::result::Result<(), Failure> {
        for (place, mut line) in std::mem::take(&mut self.told) {
            if let (Some(place), Some(chosen)) = (place, chosen)
                && place != chosen
            {
                let why = other_digest(self.collecting[place].digest, self.collecting[chosen].digest);
                (line.valid, line.malformed, line.reason) = (false, Some(true), Some(why));
            }
            print::json(&line)?;
        }
        Ok(())
    }
}

/// Why a line for another digest is refused.
fn other_digest(found: B256, expected: B256) -> String {
    format!("\"digest\": found {found}, expected {expected}, whose true signers weigh enough; --digest chooses another")
}

/// Digests with what was signed for them, for an error.
fn listed<'a>(collecting: impl ExactSizeIterator<Item = &'a Collecting<'a>>) -> String {
    let rest = collecting.len().saturating_sub(MOST_LISTED);
    let one = |Collecting { digest, collection, valid, .. }: &Collecting<'_>| {
        format!("{digest} with {}, which weigh {}", print::plural(*valid, "true signature"), collection.weight())
    };
    let mut shown: Vec<_> = collecting.take(MOST_LISTED).map(one).collect();
    shown.extend((rest > 0).then(|| format!("and {rest} more")));
    shown.join(", ")
}

/// Digests that are told apart.
const MOST_DIGESTS: usize = 64;

/// Bytes of verdicts that are kept of lines that are refused or false, of which anyone can send any number.
const MOST_TOLD: usize = 16 << 20;

/// Digests that an error lists, and lines of a digest that are named.
const MOST_LISTED: usize = 10;

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
