//! `quorate dkg`: ceremonies in which members make a key together that nobody ever holds whole.
//!
//! ```text
//! identity (each) -> init (one) -> run (each) -> shared-key.json, a share for each
//! run = deal -> receive -> complain -> finish, or publish -> combine in one round, which also are commands
//! identity (each) -> reshare or refresh (one) -> the same -> forget, and the old identity is deleted (each) -> the old shares are gone
//! ```

mod public_file;
mod words;
mod folder;
mod identity_file;
mod members;
mod session;
mod deal;
mod receive;
mod remains;
mod finish;
pub mod combination;
mod transcripts;
mod publish;
mod combine;
mod watch;
mod run;
mod forget;
mod identity;
mod init;
mod judge;
mod previous;
mod reshare;
mod status;

use clap::{Args, Subcommand};
use quorate_host::exit::Result;

/// Make a key together that nobody ever holds whole, share it anew, or recover a share
///
/// A ceremony is a folder: ceremony.json says what it is for and who takes part, and each message is one file in messages/.
/// Keep the folder where all members can write, or copy its files between the members by any means: scp, git, a bucket.
/// Messages are signed and shares are encrypted, so whoever carries them learns nothing and can change nothing. Each member
/// starts `run` once, which waits for the others. Or it goes through `deal`, `receive`, `complain` and `finish` by itself, and
/// runs a command again when the messages of the others are there; `status` says who is missing and what comes next.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: DkgCommand,
}

#[derive(Debug, Subcommand)]
enum DkgCommand {
    Identity(identity::Arguments),
    Init(init::Arguments),
    Run(Box<run::Arguments>),
    Deal(deal::Arguments),
    Receive(receive::ReceiveArguments),
    Complain(receive::ComplainArguments),
    Finish(finish::Arguments),
    Publish(publish::Arguments),
    Combine(combine::Arguments),
    Status(status::Arguments),
    Judge(judge::Arguments),
    Reshare(reshare::ReshareArguments),
    Refresh(reshare::RefreshArguments),
    Recover(reshare::RecoverArguments),
    Forget(forget::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or an input is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            DkgCommand::Identity(arguments) => arguments.run(),
            DkgCommand::Init(arguments) => arguments.run(),
            DkgCommand::Run(arguments) => arguments.run(),
            DkgCommand::Deal(arguments) => arguments.run(),
            DkgCommand::Receive(arguments) => arguments.run(),
            DkgCommand::Complain(arguments) => arguments.run(),
            DkgCommand::Finish(arguments) => arguments.run(),
            DkgCommand::Publish(arguments) => arguments.run(),
            DkgCommand::Combine(arguments) => arguments.run(),
            DkgCommand::Status(arguments) => arguments.run(),
            DkgCommand::Judge(arguments) => arguments.run(),
            DkgCommand::Reshare(arguments) => arguments.run(),
            DkgCommand::Refresh(arguments) => arguments.run(),
            DkgCommand::Recover(arguments) => arguments.run(),
            DkgCommand::Forget(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate dkg identity alice
  quorate dkg init ceremony --suite eth2 --threshold 3 *.member.json
  quorate dkg run ceremony --identity alice.identity.json \\
      --id 3f29c1d0… --wait
  quorate dkg deal ceremony --identity alice.identity.json
  quorate dkg receive ceremony --identity alice.identity.json
  quorate dkg complain ceremony --identity alice.identity.json
  quorate dkg finish ceremony --identity alice.identity.json
  quorate dkg status ceremony";
