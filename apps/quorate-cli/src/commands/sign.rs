//! `quorate sign`: a message as it is, or what a validator signs about its stake.

// `--network`, the key, and what the three write.
mod operation;

// `sign deposit`, `sign change` and `sign exit`.
mod change;
mod deposit;
mod exit;

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};
use quorate::{InSuite, Suite};

use super::{
    message::{MessageArguments, warn_of_no_digest},
    print::{self, ClaimLine},
    suite::{SuiteArgument, hex},
    unlock::{KeyFile, PassphraseArguments},
};
use quorate_host::exit::{Exit, Failure, Result};

/// Sign a message and print the signature
///
/// The bytes of the message are signed as they are. In eth2 the message is a signing root of 32 bytes, not the object itself. In
/// the drand profiles it is a digest of 32 bytes: sha256(previous signature || round) in drand-chained, keccak256(round) in
/// drand-evmnet, sha256(round) in the others. In eigenlayer it must be a digest of 32 bytes. A signature is not a proof of
/// possession; `quorate pop prove` makes one. The subcommands make what a validator signs about its stake, in the files that the
/// staking tools write.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES, override_usage = USAGE)]
struct MessageToSign {
    #[command(flatten)]
    suite: SuiteArgument,

    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,

    #[command(flatten)]
    message: MessageArguments,

    /// Print a claim as one JSON object on one line, as `quorate verify` reads it
    #[arg(long, visible_alias = "json")]
    claim: bool,
}

#[derive(Debug, Subcommand)]
enum Object {
    Deposit(deposit::Arguments),
    Change(change::Arguments),
    Exit(exit::Arguments),
}

/// A message with its flags, or a subcommand with its own. Clap's derive has no form for one or the other.
#[derive(Debug)]
pub struct Arguments(Choice);

#[derive(Debug)]
enum Choice {
    Message(Box<MessageToSign>),
    Object(Box<Object>),
}

impl Args for Arguments {
    fn augment_args(command: Command) -> Command {
        let command = Object::augment_subcommands(MessageToSign::augment_args(command));
        command.subcommand_negates_reqs(true).args_conflicts_with_subcommands(true)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Arguments {
    fn from_arg_matches(matches: &ArgMatches) -> std::result::Result<Self, Error> {
        Ok(Self(match matches.subcommand_name() {
            Some(_) => Choice::Object(Box::new(Object::from_arg_matches(matches)?)),
            None => Choice::Message(Box::new(MessageToSign::from_arg_matches(matches)?)),
        }))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> std::result::Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line, the key or the message is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.0 {
            Choice::Message(arguments) => arguments.suite.suite.run(*arguments),
            Choice::Object(object) => match *object {
                Object::Deposit(arguments) => arguments.run(),
                Object::Change(arguments) => arguments.run(),
                Object::Exit(arguments) => arguments.run(),
            },
        }
    }
}

impl InSuite for MessageToSign {
    type Output = Result;

    fn run_in<S: Suite>(self, suite: S) -> Result {
        let message = self.message.read(&self.key, "the key")?;
        if let Some(flaw) = suite.message_flaw(&message) {
            return Err(Failure::usage(flaw).context(format!("{suite} cannot sign this message")));
        }
        warn_of_no_digest(suite.any(), &message);
        let key = KeyFile::read(&self.key)?.unlock(suite, &self.passphrase.source()?)?;
        let signature = hex(suite.any(), key.sign(suite, &message).to_bytes());
        if self.claim {
            print::json(&ClaimLine {
                suite: suite.name(),
                public_key: hex(suite.any(), key.claim_key(suite)),
                message: hex(suite.any(), message),
                signature,
            })?;
        } else {
            print::line(signature)?;
        }
        Ok(Exit::Success)
    }
}

/// Clap's own usage line has 100 columns.
const USAGE: &str = "\
quorate sign [OPTIONS] --suite <NAME> --key <FILE>
           <--message <HEX>|--message-file <FILE>|->
       quorate sign <deposit|change|exit> ...";

const EXAMPLES: &str = "\
Examples:
  quorate sign --suite eth2 --key key.json --message 0x…
  quorate sign --suite eth2 --key key.json --message-file root.bin --claim
  printf hello | quorate sign --suite chia --key key.hex -
  quorate sign --suite eth2 --key key.json --message 0x… --claim \\
      | quorate verify -
  quorate sign exit --network hoodi --key key.json --validator-index 7 \\
      --epoch 90000 --record key.record > exit-7.json";
