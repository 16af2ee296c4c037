//! `quorate evm call`.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use quorate_evm::{
    Upkeep,
    alloy_primitives::{B256, U256},
};
use quorate_host::exit::{Exit, Failure, Result};

use super::{network_file::NetworkFile, signers};
use crate::commands::print;

/// Make a further transaction of a settlement: pages, pinned bases, the next key table, or a late enter
///
/// Prints the transaction on one line, for `quorate-chain send --transactions`. The line says whether the registrar has to
/// send it, or whether anyone may.
/// If the registrar is a timelock, schedule its calls with the one before as predecessor: discard counts before prepare,
/// and carry fixes the indices for the weights of the next epoch.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true, before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(subcommand)]
    call: Call,
}

#[derive(Debug, Subcommand)]
enum Call {
    /// Enter the epoch that was begun, so that results settle again
    ///
    /// The call names the head and the newest base from before the epoch. Those of the network's file are right if nothing
    /// settled since it was written. Otherwise pass those that `quorate-chain follow` prints while the epoch waits.
    #[command(before_long_help = ENTER)]
    Enter {
        #[command(flatten)]
        network: NetworkArgument,
        /// The head before the epoch, in place of that of the network
        #[arg(long, value_name = "HEX", requires = "newest")]
        head: Option<B256>,
        /// The commitment of the newest base before the epoch, in place of that of the network
        #[arg(long, value_name = "HEX", requires = "head")]
        newest: Option<B256>,
    },
    /// Copy keys with successive indices to a page, so that settlements name the page and pass no keys
    ///
    /// A page holds up to 191 keys of bn254-g2, 379 of bn254-g1, or 125 of bls12381-g2 and bls12381-g2-nu.
    #[command(before_long_help = COMPACT)]
    Compact {
        #[command(flatten)]
        network: NetworkArgument,
        /// The first index
        #[arg(long, value_name = "N")]
        first: usize,
        /// How many keys
        #[arg(long, value_name = "N")]
        keys: usize,
    },
    /// Copy a part of the epoch's weights to a page, for quorums whose weight is added up
    #[command(before_long_help = PUBLISH)]
    Publish {
        #[command(flatten)]
        network: NetworkArgument,
        /// The part: part 0 holds the weights of members 0 to 2,047
        #[arg(long, value_name = "N")]
        part: usize,
    },
    /// Copy a base to a pinned slot, which no settlement overwrites
    #[command(before_long_help = PIN)]
    Pin {
        #[command(flatten)]
        network: NetworkArgument,
        /// The pinned slot, from 1 on
        #[arg(long, value_name = "SLOT")]
        slot: u16,
        /// The slot of the base, from 1 on. The newest base, in slot 0, cannot be copied
        #[arg(long, value_name = "SLOT")]
        from: u16,
    },
    /// Carry keys to the next key table, for an epoch that begins with --renew
    ///
    /// They get the next indices of that table, by rising indices in this one. Pages must hold them: see `compact`. One call carries as
    /// many keys as a page holds, at most: make several calls for more.
    #[command(before_long_help = CARRY)]
    Carry {
        #[command(flatten)]
        network: NetworkArgument,
        /// The members to carry: 0-47,50,52 (both ends included), or '!3,7' for all but these
        #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
        members: String,
    },
    /// Forget what was prepared of the next epoch
    #[command(before_long_help = DISCARD)]
    Discard {
        #[command(flatten)]
        network: NetworkArgument,
    },
}

#[derive(Debug, Args)]
struct NetworkArgument {
    /// The network's file, which `quorate-chain follow` writes; `-` is standard input
    #[arg(long, value_name = "FILE")]
    network: PathBuf,
}

impl NetworkArgument {
    fn read(&self) -> std::result::Result<NetworkFile, Failure> {
        NetworkFile::read(&self.network)
    }
}

impl Arguments {
    /// Runs the command.
    ///
    /// # Errors
    /// The file cannot be read or understood, or the network has not what the call names.
    pub(super) fn run(self) -> Result {
        let (file, upkeep) = match self.call {
            Call::Enter { network, head, newest } => {
                let upkeep = match head.zip(newest) {
                    Some((head, newest)) => Upkeep::EnterFrom { head: U256::from_be_bytes(head.0), newest },
                    None => Upkeep::Enter,
                };
                (network.read()?, upkeep)
            }
            Call::Compact { network, first, keys } => (network.read()?, Upkeep::Compact { first, keys }),
            Call::Publish { network, part } => (network.read()?, Upkeep::Publish { part }),
            Call::Pin { network, slot, from } => (network.read()?, Upkeep::Pin { slot, from }),
            Call::Carry { network, members } => {
                let file = network.read()?;
                let members = signers::parse(&members, file.network.keys.len());
                let members = members.map_err(|why| Failure::usage(anyhow!("--members {why}")))?;
                // Indices of a table have 32 bits.
                let indices = members.iter().map(|index| index as u32).collect();
                (file, Upkeep::Carry { indices })
            }
            Call::Discard { network } => (network.read()?, Upkeep::Discard),
        };
        let NetworkFile { network, name } = file;
        let transaction = upkeep.transaction(&network).map_err(|error| Failure::usage(error).context(name))?;
        print::json(&transaction)?;
        Ok(Exit::Success)
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate evm call enter --network network.json > enter.jsonl
  quorate evm call compact --network network.json --first 0 --keys 100 \\
      > compact.jsonl
  quorate-chain send --transactions compact.jsonl --key-file payer.json";

const ENTER: &str = "\
Examples:
  quorate evm call enter --network network.json > enter.jsonl
  quorate evm call enter --network network.json --head 0x… --newest 0x…";

const COMPACT: &str = "\
Examples:
  quorate evm call compact --network network.json --first 0 --keys 100 \\
      > compact.jsonl";

const PUBLISH: &str = "\
Examples:
  quorate evm call publish --network network.json --part 0 > publish.jsonl";

const PIN: &str = "\
Examples:
  quorate evm call pin --network network.json --slot 1 --from 4 > pin.jsonl";

const CARRY: &str = "\
Examples:
  quorate evm call carry --network network.json --members 0-47,50 \\
      > carry.jsonl
  quorate evm call carry --network network.json --members '!3,7'";

const DISCARD: &str = "\
Examples:
  quorate evm call discard --network network.json > discard.jsonl";
