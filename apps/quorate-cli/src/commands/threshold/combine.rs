//! `quorate threshold combine`.

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
};

use anyhow::anyhow;
use clap::Args;
use quorate::{Bls12381Suite, Options, Reason, Signature, rand_core::CryptoRng};
use quorate_host::exit::{Exit, Failure, Result};
use quorate_threshold::{Collector, Index, ShareError};

use super::shares::{Message, ShareReader, SignatureShare, message};
use crate::commands::{
    backend::BackendArgument,
    lines::{Line, Lines, Spot},
    print::{self, ClaimLine, plural},
    random,
    shared_key::SharedKeyFile,
    suite::InBls12381,
    threads,
    value::Value,
};

/// Combine signature shares and print the signature
///
/// Reads the lines of `quorate threshold sign`, in any order. The signature is verified before it is printed, as a claim on one
/// line that `quorate verify` reads. False shares are named on standard error with their participant, file and line, and the
/// others go on. With --message it stops as soon as there are enough true shares. Without it, it reads all lines: if they are
/// about several messages, the one counts of which enough shares are true, and the lines of the others are named. If there are
/// enough true shares of two messages, none is chosen. Exit code: 0 the signature is printed, 1 too few shares are true, 2 too
/// few, and a line cannot be read or is of another message, or two messages have enough, 3 I/O, 4 internal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shared key, as `quorate threshold split` writes it; `-` means standard input. It is trusted
    #[arg(long, value_name = "FILE")]
    shared_key: PathBuf,

    /// The message, in hexadecimal digits. Shares of other messages are refused
    #[arg(long, value_name = "HEX", value_parser = Value::new(message))]
    message: Option<Message>,

    /// Files with signature shares, one JSON object on each line; `-`, or no file, means standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    backend: BackendArgument,
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let file = SharedKeyFile::read(&self.shared_key)?;
        file.suite().run(Combine { arguments: self, file })
    }
}

/// The arguments, and the shared key that they name.
struct Combine {
    arguments: Arguments,
    file: SharedKeyFile,
}

impl InBls12381 for Combine {
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result {
        let Self { arguments, file } = self;
        let written = file.suite();
        let options = Options { threads: threads::all(), backend: arguments.backend.backend, ..Options::default() };
        let key = file.key::<S>(options.backend)?;
        let public_key = key.public_key().to_bytes();
        let reader = ShareReader { suite: written.suite, public_key: public_key.as_ref().to_vec() };
        let mut lines = Lines::open(&arguments.files)?;
        let mut rng = random::generator()?;
        let wanted = arguments.message.map(|Message(message)| message);
        let mut messages = Messages::new(key.collector(b"", options).map_err(Failure::usage)?, wanted);
        let (mut shares, mut unreadable) = (0_usize, 0_usize);
        while let Some(Line { spot, text }) = lines.next()? {
            let read =
                text.and_then(|text| reader.read(&text)).and_then(|share| Ok((messages.place_of(&share)?, share)));
            match read {
                Ok((place, share)) => match messages.all[place].take(share, spot, &mut rng, &mut lines) {
                    Taken::Share => shares += 1,
                    Taken::Nothing => unreadable += 1,
                },
                Err(reason) => {
                    unreadable += 1;
                    lines.complain(&spot, &reason);
                }
            }
            if messages.is_settled() {
                break;
            }
        }
        if shares + unreadable == 0 {
            return Err(Failure::usage(anyhow!("no share in {}, so there is nothing to combine", lines.names())));
        }
        let chosen = messages.chosen(&mut lines);
        lines.complain_of_the_rest();
        if let Some((message, signature)) = chosen? {
            print::json(&ClaimLine {
                suite: suite.name(),
                public_key: written.hex(public_key),
                message: written.hex(message),
                signature: written.hex(signature.to_bytes()),
            })?;
            return Ok(Exit::Success);
        }
        let threshold = key.committee().threshold();
        if messages.all.iter().any(|collecting| collecting.usable() >= threshold) {
            return Err(Failure::internal(anyhow!("enough true shares make no signature")));
        }
        if let [_, _, ..] = messages.all[..] {
            print::note(format_args!(
                "no signature: {threshold} shares of one message are needed, and the lines are about {}: {}; --message chooses one",
                plural(messages.all.len(), "message"),
                listed(messages.all.iter())
            ));
            return Ok(Exit::Usage);
        }
        let left = messages.all.first().map_or(0, Collecting::usable);
        print::note(format_args!(
            "no signature: {threshold} shares are needed, and {left} of {} can be used",
            plural(shares + unreadable, "line")
        ));
        Ok(if unreadable > 0 { Exit::Usage } else { Exit::Negative })
    }
}

/// The messages that lines are about.
///
/// Nobody signs which message is meant, and anyone can send lines about another one, also true ones of an earlier signature. So
/// neither the first line nor the number of lines says which message counts, but that enough shares of it are true.
struct Messages<S: Bls12381Suite> {
    /// For any message, without shares.
    collector: Collector<S>,
    /// The message that the user wants.
    wanted: Option<Vec<u8>>,
    /// In the order of their first lines.
    all: Vec<Collecting<S>>,
    /// Where each stands.
    places: HashMap<Vec<u8>, usize>,
}

impl<S: Bls12381Suite> Messages<S> {
    fn new(collector: Collector<S>, wanted: Option<Vec<u8>>) -> Self {
        Self { collector, wanted, all: Vec::new(), places: HashMap::new() }
    }

    /// Where the message stands that a share is about, or why the line does not count.
    fn place_of(&mut self, share: &SignatureShare) -> std::result::Result<usize, String> {
        let message = &share.message;
        if self.wanted.as_ref().is_some_and(|wanted| wanted != message) {
            return Err(format!("the share is of another message than --message: `{}`", abbreviated(message)));
        }
        match self.places.get(message) {
            Some(place) => Ok(*place),
            None if self.all.len() == MOST_MESSAGES => {
                Err(format!("the lines are about more than {MOST_MESSAGES} messages; --message chooses one"))
            }
            None => {
                let collector = self.collector.for_message(message);
                self.all.push(Collecting { collector, held: BTreeMap::new(), lines: 0, first_lines: Vec::new() });
                self.places.insert(message.clone(), self.all.len() - 1);
                Ok(self.all.len() - 1)
            }
        }
    }

    /// Whether the message that the user wants has its signature, so that no further line changes anything.
    fn is_settled(&self) -> bool {
        self.wanted.is_some() && self.all.iter().any(|collecting| collecting.collector.signature().is_some())
    }

    /// The only message with a signature, and the signature. The lines of the others are named.
    ///
    /// # Errors
    /// Several messages have one.
    fn chosen(&self, lines: &mut Lines) -> std::result::Result<Option<Signed<'_, S>>, Failure> {
        let signed = |collecting: &&Collecting<S>| collecting.collector.signature().is_some();
        let signed: Vec<_> = self.all.iter().filter(signed).collect();
        let [one] = signed[..] else {
            if signed.is_empty() {
                return Ok(None);
            }
            return Err(Failure::usage(anyhow!(
                "enough shares of {} are true, so it is not clear which one is meant, and none was combined: {}; choose one with \
                 --message",
                plural(signed.len(), "message"),
                listed(signed.into_iter())
            )));
        };
        let message = one.collector.message();
        for other in self.all.iter().filter(|other| other.collector.message() != message) {
            for (spot, index) in &other.first_lines {
                lines.complain(
                    spot,
                    &format!(
                        "the share of participant {index} is of another message, `{}`, and does not count",
                        abbreviated(other.collector.message())
                    ),
                );
            }
        }
        let others = self.all.len() - 1;
        if others > 0 {
            let lines = self.all.iter().filter(|other| other.collector.message() != message).map(|other| other.lines);
            print::note(format_args!(
                "the message is {}: enough shares of it are true. Not counted: {} about {}; --message chooses a message",
                abbreviated(message),
                plural(lines.sum(), "line"),
                plural(others, "other message")
            ));
        }
        Ok(one.collector.signature().map(|signature| (message, signature)))
    }
}

/// A message and its signature.
type Signed<'a, S> = (&'a [u8], Signature<S>);

/// Messages with what their lines came to, for an error.
fn listed<'a, S: Bls12381Suite>(messages: impl ExactSizeIterator<Item = &'a Collecting<S>>) -> String {
    let rest = messages.len().saturating_sub(MOST_LISTED);
    let one = |collecting: &Collecting<S>| {
        let (usable, lines) = (collecting.usable(), plural(collecting.lines, "line"));
        format!("{} with {usable} of {lines} that can be used", abbreviated(collecting.collector.message()))
    };
    let mut shown: Vec<_> = messages.take(MOST_LISTED).map(one).collect();
    shown.extend((rest > 0).then(|| format!("and {rest} more")));
    shown.join(", ")
}

/// A message in hexadecimal digits, or how it begins.
fn abbreviated(message: &[u8]) -> String {
    match message.get(..MOST_SHOWN) {
        Some(begin) if message.len() > MOST_SHOWN => {
            format!("{}… of {} bytes", const_hex::encode_prefixed(begin), message.len())
        }
        _ => const_hex::encode_prefixed(message),
    }
}

/// Messages that are told apart.
const MOST_MESSAGES: usize = 1024;

/// Messages that an error lists.
const MOST_LISTED: usize = 10;

/// Bytes of a message that are printed.
const MOST_SHOWN: usize = 64;

/// The shares of a message, and where they came from.
struct Collecting<S: Bls12381Suite> {
    collector: Collector<S>,
    /// Where the shares stand that are there, by participant.
    held: BTreeMap<u64, Spot>,
    /// How many lines are about the message.
    lines: usize,
    /// The first of them, with their participants.
    first_lines: Vec<(Spot, u64)>,
}

/// What became of a line.
enum Taken {
    /// It is a share of the message, true or false.
    Share,
    /// It is not a share of the message.
    Nothing,
}

impl<S: Bls12381Suite> Collecting<S> {
    /// How many shares are there that were not found false.
    fn usable(&self) -> usize {
        self.collector.indices().count()
    }

    fn take(&mut self, share: SignatureShare, spot: Spot, rng: &mut impl CryptoRng, lines: &mut Lines) -> Taken {
        self.lines += 1;
        if self.first_lines.len() < MOST_LISTED {
            self.first_lines.push((spot.clone(), share.index));
        }
        let added = self.collector.add(share.index, &share.signature, rng);
        self.tell_of_held();
        match added {
            Ok(_) => {
                self.held.insert(share.index, spot);
                Taken::Share
            }
            // There are enough of this message, and further ones are not looked at.
            Err(ShareError::Unneeded(_)) => Taken::Share,
            Err(ShareError::False { index, reason }) => {
                tell(&spot, index, reason);
                Taken::Share
            }
            Err(error @ (ShareError::Duplicate(_) | ShareError::Malformed { .. } | ShareError::NoKey(_))) => {
                lines.complain(&spot, &error.to_string());
                Taken::Share
            }
            Err(error) => {
                lines.complain(&spot, &format!("\"index\": {error}"));
                Taken::Nothing
            }
        }
    }

    /// Names the shares that were there and have been found false: one of several, or one in whose place the true one came.
    fn tell_of_held(&mut self) {
        for (index, reason) in self.collector.take_refuted() {
            if let Some(spot) = self.held.remove(&u64::from(index.number())) {
                tell(&spot, index, reason);
            }
        }
    }
}

/// Names a false share. None is left out, however many there are.
fn tell(spot: &Spot, index: Index, reason: Reason) {
    print::note(format_args!("{spot}: the share of participant {index} is false: {reason}"));
}

const EXAMPLES: &str = "\
Examples:
  quorate threshold combine --shared-key shared-key.json signed.jsonl
  quorate threshold combine --shared-key shared-key.json --message 0x… \\
      from-alice.jsonl from-bob.jsonl from-carol.jsonl
  cat signed-*.jsonl | quorate threshold combine \\
      --shared-key shared-key.json | quorate verify -";
