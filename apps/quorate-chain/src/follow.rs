//! `quorate-chain follow`.

use std::{path::Path, path::PathBuf, sync::Arc};

use alloy::primitives::Address;
use anyhow::anyhow;
use clap::Args;
use quorate_evm::{Network, follow::NoNetwork};
use quorate_host::{
    exit::{Exit, Failure, Result},
    file,
    listen::Connections,
};
use tokio::time::sleep;

use crate::{
    cursor,
    following::{Following, Reading, Turn, metrics::Metrics, nothing_confirmed},
    print::plural,
};

/// Rebuild the network of a settlement from a chain's logs, and keep up with it
///
/// Reads the logs of a settlement, and the calldata of the transactions that made them. Writes what they tell to the file that
/// `quorate evm plan --network` reads. Before it writes, it computes the state hash and compares it with the contract's
/// state() at that block; it also compares the bases in the ring and the weights. A file that does not match is never written.
///
/// While an epoch waits to be entered, nothing settles, and the file stays as it is. A base or a key that was passed to a
/// contract which does not pass it on in its calldata is left out, with a note.
///
/// It goes on from the cursor beside the file (network.json.cursor). Ctrl-C ends it; the exit code is 0 unless --once was given.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,

    /// The settlement's address. Without it, that of the file, if there is one
    #[arg(long, value_name = "ADDRESS", env = "QUORATE_CHAIN_CONTRACT")]
    contract: Option<Address>,

    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "network.json", env = "QUORATE_CHAIN_NETWORK")]
    network: PathBuf,

    /// End when the file is up to date. The exit code is 1 if there is nothing to write yet
    #[arg(long)]
    once: bool,
}

const EXAMPLES: &str = "\
Examples:
  quorate-chain follow --rpc http://localhost:8545 --contract 0x…
  quorate-chain follow --rpc https://… --contract 0x… --once \\
      --from-block 21000000 --confirmations finalized";

impl Arguments {
    /// Runs the command.
    pub(crate) async fn run(self) -> Result {
        let node = self.reading.node()?;
        let contract = self.contract()?;
        let counted = Arc::new(Metrics::begun(node.clone(), self.reading.every()));
        let watchers = self.reading.serve(&counted).await?;
        let _end = watchers.as_ref().map(Connections::abort_on_drop);
        let path = cursor::path_of(&self.network);
        let mut following = Following::open(&self.reading, node, contract, path, Arc::clone(&counted)).await?;
        let mut followed = Followed { arguments: &self, metrics: &counted, written: None, waits: None };
        let ended = following.until_stopped("following", async |following| followed.run(following).await).await?;
        match ended {
            Some(ended) => ended,
            None if self.once => Err(Failure::interrupted()),
            None => Ok(Exit::Success),
        }
    }

    /// The settlement. The network of another one is not overwritten.
    fn contract(&self) -> Result<Address> {
        let name = self.network.display().to_string();
        let Some(text) = file::read_if_there(&self.network, file::LARGEST_DOCUMENT)? else {
            return self.contract.ok_or_else(|| {
                Failure::usage(anyhow!("there is no {name}, so --contract has to name the settlement"))
            });
        };
        let error = match serde_json::from_slice::<Network>(&text) {
            Ok(network) => match self.contract {
                Some(contract) if contract != network.contract => {
                    anyhow!("{name} is the network of {}, not of {contract}", network.contract)
                }
                _ => return Ok(network.contract),
            },
            Err(error) => anyhow!("{name} is not a network: {error}"),
        };
        Err(Failure::usage(error.context("choose another --network file; this one is not overwritten")))
    }
}

/// The files of a run.
struct Followed<'a> {
    arguments: &'a Arguments,
    metrics: &'a Metrics,
    /// The network as it was written last.
    written: Option<Network>,
    /// Why nothing is written, as it was said last.
    waits: Option<NoNetwork>,
}

impl Followed<'_> {
    async fn run(&mut self, following: &mut Following) -> Result {
        loop {
            match following.turn().await? {
                Turn::Compared => {
                    let up_to_date = self.write(following)?;
                    self.metrics.caught_up(self.waits.is_some());
                    following.save()?;
                    if self.arguments.once {
                        return up_to_date;
                    }
                }
                Turn::Before if self.arguments.once => {
                    return Err(nothing_confirmed(self.arguments.reading.from_block));
                }
                Turn::Before | Turn::Behind => {}
            }
            sleep(self.arguments.reading.every()).await;
        }
    }

    /// Writes the network if it is new. The inner result is how `--once` ends.
    fn write(&mut self, following: &mut Following) -> Result<Result> {
        let Following { chain, progress, .. } = following;
        let block = chain.block().unwrap_or_default();
        let network = chain.follower().map(|follower| follower.network());
        let network = match network {
            Some(Ok((network, notes))) => {
                notes.iter().for_each(|note| progress.note(format!("block {block}: {note}")));
                network
            }
            Some(Err(why)) => {
                if self.waits.as_ref() != Some(&why) {
                    progress.note(format!("block {block}: {} is not written: {why}", self.name()));
                    self.waits = Some(why);
                }
                return Ok(Ok(Exit::Negative));
            }
            None => return Ok(Ok(Exit::Negative)),
        };
        self.waits = None;
        if self.written.as_ref() == Some(&network) {
            return Ok(Ok(Exit::Success));
        }
        let mut text = serde_json::to_vec_pretty(&network).map_err(Failure::internal)?;
        text.push(b'\n');
        cursor::write(&self.arguments.network, &text)?;
        progress.note(format!(
            "block {block}: {} is written: table {}, epoch {}, {}, {}, {}",
            self.name(),
            network.table,
            network.epoch,
            plural(network.keys.len() as u64, "key"),
            plural(network.bases.len() as u64, "base"),
            plural(network.nonce, "result"),
        ));
        self.written = Some(network);
        Ok(Ok(Exit::Success))
    }

    fn name(&self) -> impl std::fmt::Display {
        Path::display(&self.arguments.network)
    }
}
