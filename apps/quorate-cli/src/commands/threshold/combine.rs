//! `quorate threshold combine`.

use std::{
    collections::{BTreeMap, BTreeSet},
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
/// Reads the lines of `quorate threshold sign`, in any order, until there are enough true shares. The signature is verified
/// before it is printed, as a claim on one line that `quorate verify` reads. False shares are named on standard error with
/// their participant, file and line, and the others go on. Exit code: 0 the signature is printed, 1 too few shares are true,
/// 2 too few, and a line cannot be read, 3 I/O, 4 internal.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    /// The shared key, as `quorate threshold split` writes it. It is trusted
    #[arg(long, value_name = "FILE")]
    shared_key: PathBuf,

    /// The message, in hexadecimal digits; that of the first share without this flag. Shares of other messages are refused
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

        let collect = |message: &[u8]| {
            let collector = key.collector(message, options).map_err(Failure::usage)?;
            Ok::<_, Failure>(Collecting { collector, message: message.to_vec(), held: BTreeMap::new() })
        };
        let mut collecting = arguments.message.as_ref().map(|message| collect(&message.0)).transpose()?;
        let (mut shares, mut unreadable) = (0_usize, 0_usize);
        while let Some(Line { spot, text }) = lines.next()? {
            let share = match text.and_then(|text| reader.read(&text)) {
                Ok(share) => share,
                Err(reason) => {
                    unreadable += 1;
                    lines.complain(&spot, &reason);
                    continue;
                }
            };
            let collecting = match &mut collecting {
                Some(collecting) => collecting,
                None => collecting.insert(collect(&share.message)?),
            };
            match collecting.take(share, spot, &mut rng, &mut lines) {
                Taken::Signature(signature) => {
                    lines.complain_of_the_rest();
                    print::json(&ClaimLine {
                        suite: suite.name(),
                        public_key: written.hex(public_key),
                        message: written.hex(&collecting.message),
                        signature: written.hex(signature.to_bytes()),
                    })?;
                    return Ok(Exit::Success);
                }
                Taken::Share => shares += 1,
                Taken::Nothing => unreadable += 1,
            }
        }
        lines.complain_of_the_rest();
        if shares + unreadable == 0 {
            return Err(Failure::usage(anyhow!("no share in {}, so there is nothing to combine", lines.names())));
        }
        let left = collecting.map_or(0, |collecting| collecting.collector.indices().count());
        let threshold = key.committee().threshold();
        if left >= threshold {
            return Err(Failure::internal(anyhow!("{left} true shares make no signature")));
        }
        print::note(format_args!(
            "no signature: {threshold} shares are needed, and {left} of {} can be used",
            plural(shares + unreadable, "line")
        ));
        Ok(if unreadable > 0 { Exit::Usage } else { Exit::Negative })
    }
}

/// The shares of a message, and where they came from.
struct Collecting<S: Bls12381Suite> {
    collector: Collector<S>,
    message: Vec<u8>,
    /// Where the shares stand that are there, by participant.
    held: BTreeMap<u64, Spot>,
}

/// What became of a line.
enum Taken<S: Bls12381Suite> {
    /// There are enough shares.
    Signature(Signature<S>),
    /// It is a share of the message, true or false.
    Share,
    /// It is not a share of the message.
    Nothing,
}

impl<S: Bls12381Suite> Collecting<S> {
    fn take(&mut self, share: SignatureShare, spot: Spot, rng: &mut impl CryptoRng, lines: &mut Lines) -> Taken<S> {
        if share.message != self.message {
            lines.complain(&spot, "the share is of another message; --message chooses the message");
            return Taken::Nothing;
        }
        let verified = self.collector.work().verified;
        let added = self.collector.add(share.index, &share.signature, rng);
        if self.collector.work().verified != verified {
            self.tell_of_held();
        }
        match added {
            Ok(signature) => {
                // The true share of a participant takes the place of a false one.
                if let (Some(earlier), Some((index, reason))) =
                    (self.held.insert(share.index, spot), self.reason(share.index))
                {
                    tell(&earlier, index, reason);
                }
                signature.map_or(Taken::Share, Taken::Signature)
            }
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

    /// Names the shares that were there and have been found false.
    fn tell_of_held(&mut self) {
        let there: BTreeSet<_> = self.collector.indices().map(|index| u64::from(index.number())).collect();
        let gone: Vec<_> = self.held.keys().filter(|number| !there.contains(number)).copied().collect();
        for number in gone {
            if let (Some(spot), Some((index, reason))) = (self.held.remove(&number), self.reason(number)) {
                tell(&spot, index, reason);
            }
        }
    }

    /// Why a share of a participant was false.
    fn reason(&self, number: u64) -> Option<(Index, Reason)> {
        let false_shares = self.collector.false_shares();
        let place = false_shares.binary_search_by_key(&number, |(index, _)| index.number().into()).ok()?;
        Some(false_shares[place])
    }
}

/// Names a false share. None is left out, however many there are.
fn tell(spot: &Spot, index: Index, reason: Reason) {
    print::note(format_args!("{spot}: the share of participant {index} is false: {reason}"));
}

const EXAMPLES: &str = "\
Examples:
  quorate threshold combine --shared-key shared-key.json signed.jsonl
  quorate threshold combine --shared-key shared-key.json --message 0xabab \\
      from-alice.jsonl from-bob.jsonl from-carol.jsonl
  cat signed-*.jsonl | quorate threshold combine \\
      --shared-key shared-key.json | quorate verify -";
