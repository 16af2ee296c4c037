//! `quorate key`: secret keys made, derived, shown, converted.

mod material;
pub(super) mod store;
mod derive;
mod import;
mod new;
mod show;

use clap::{Args, Subcommand};
use quorate_host::exit::Result;

/// Make, derive, show and convert secret keys
///
/// A secret is one of three files: 64 hex digits, a keystore under a passphrase (EIP-2335), or a JSON Web Key (read
/// only). Nothing prints a secret unless it is told to in so many words.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    New(new::Arguments),
    Derive(derive::Arguments),
    Show(show::Arguments),
    Import(import::Arguments),
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The command line or a key file is wrong, or reading or writing fails.
    pub fn run(self) -> Result {
        match self.command {
            KeyCommand::New(arguments) => arguments.run(),
            KeyCommand::Derive(arguments) => arguments.run(),
            KeyCommand::Show(arguments) => arguments.run(),
            KeyCommand::Import(arguments) => arguments.run(),
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate key new --suite eth2 --keystore --out key.json
  quorate key derive --suite eth2 --seed-file seed.hex \\
      --path m/12381/3600/0/0/0 --keystore --out key.json
  quorate key show --suite eth2 key.json
  quorate key import --suite eth2 key.jwk --keystore --out key.json";
