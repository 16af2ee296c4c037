//! `quorate-chain follow`.

use std::{path::Path, path::PathBuf, sync::Arc};

use alloy::primitives::Address;
use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_chain::settlement::{SettlementFollower, SettlementMetrics, SettlementTurn};
use quorate_evm::{Network, address, follow::NoNetwork};
use quorate_host::{
    dash::{self, is_dash, name_of, path_to_write},
    exit::{Exit, Failure, Result},
    file::{self, Existing, Readers},
    flag::variable,
    listen::Connections,
    text::json_reason,
};
use tokio::time::sleep;

use crate::{
    following::{Follows, Reading, nothing_confirmed, until_stopped},
    print::{Progress, plural},
};

/// Rebuild the network of a settlement from a chain's logs, and keep up with it
///
/// Reads the logs of a settlement, and the calldata of the transactions that made them. Writes what they tell to the file that
/// `quorate evm plan --network` reads. Before it writes, it computes the state hash and compares it with the contract's
/// state() at that block; it also compares the bases in the ring and the weights. A file that does not match is never written.
///
/// While an epoch waits to be entered, nothing settles, and the file stays as it is. A base or a key that was passed to a
/// contract which does not pass it on in its calldata is left out, with a note. Weights that are in no calldata are taken from
/// the file of --weights, if the contract has them.
///
/// It goes on from the cursor beside the file (network.json.cursor). Ctrl-C ends it; the exit code is 0 unless --once was given.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,

    /// The settlement's address. Without it, that of the file, if there is one
    #[arg(long, value_name = "ADDRESS", env = variable("QUORATE_CHAIN_CONTRACT"), value_parser = address::parse)]
    contract: Option<Address>,

    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "network.json", env = variable("QUORATE_CHAIN_NETWORK"), value_parser = path_to_write())]
    network: PathBuf,

    /// What the members weigh, as `quorate evm epoch` takes it; `-` is standard input. Read only if the weights are in no calldata
    #[arg(long, value_name = "FILE")]
    weights: Option<PathBuf>,

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
        let (contract, chain_of_file) = self.contract()?;
        let counted = Arc::new(SettlementMetrics::begun(node.clone(), self.reading.every()));
        let watchers = if self.once { None } else { self.reading.serve(&counted).await? };
        let _end = watchers.as_ref().map(Connections::abort_on_drop);
        let settings = self.reading.settings(contract, cursor_of(&self.network), "--network file");
        let following = SettlementFollower::open(node, settings, counted, Progress::new()).await?;
        let chain_id = following.chain_id();
        if let Some(other) = chain_of_file.filter(|other| *other != chain_id) {
            let name = self.network.display();
            return Err(Failure::usage(anyhow!(
                "the node is of chain {chain_id}, and {name} is the network of {contract} on chain {other}; check --rpc. For a settlement \
                 on this chain choose another --network file; this one is not overwritten"
            )));
        }
        let mut followed = Followed { arguments: &self, following, piped: None, written: None, waits: None };
        let ended = until_stopped(&self.reading, "following", &mut followed, Followed::run).await?;
        match ended {
            Some(ended) => ended,
            None if self.once => Err(Failure::interrupted()),
            None => Ok(Exit::Success),
        }
    }

    /// The settlement, and the chain that the file names if there is one. The network of another one is not overwritten.
    fn contract(&self) -> Result<(Address, Option<u64>)> {
        let name = self.network.display().to_string();
        let Some(text) = file::read_if_there(&self.network, file::LARGEST_DOCUMENT)? else {
            let contract = self.contract.ok_or_else(|| {
                Failure::usage(anyhow!("there is no {name}, so --contract has to name the settlement"))
            })?;
            return Ok((contract, None));
        };
        let error = match serde_json::from_slice::<Network>(&text) {
            Ok(network) => match self.contract {
                Some(contract) if contract != network.contract => {
                    anyhow!("{name} is the network of {}, not of {contract}", network.contract)
                }
                _ => return Ok((network.contract, Some(network.chain_id))),
            },
            Err(error) => anyhow!("{name} is not a network: {}", json_reason(&text, &error)),
        };
        Err(not_overwritten(error))
    }
}

/// The failure of a run whose file is something else than the network that it would write.
fn not_overwritten(error: anyhow::Error) -> Failure {
    Failure::usage(error.context("choose another --network file; this one is not overwritten"))
}

/// `network.json` has its cursor in `network.json.cursor`.
fn cursor_of(network: &Path) -> PathBuf {
    let mut name = network.as_os_str().to_owned();
    name.push(".cursor");
    name.into()
}

/// The weights in a file.
fn weights(path: &Path) -> Result<Vec<u64>> {
    let text = dash::text(path, file::LARGEST_DOCUMENT)?;
    serde_json::from_str(&text).map_err(|error| {
        let expected = format!("{}: expected a JSON list of numbers below 2^64", name_of(path));
        Failure::usage(anyhow!(json_reason(text.as_bytes(), &error))).context(expected)
    })
}

/// The files of a run.
struct Followed<'a> {
    arguments: &'a Arguments,
    following: SettlementFollower<Progress>,
    /// The weights that standard input had, once it was read.
    piped: Option<Vec<u64>>,
    /// The network as it was written last.
    written: Option<Network>,
    /// Why nothing is written, as it was said last.
    waits: Option<NoNetwork>,
}

impl Follows for Followed<'_> {
    fn following(&mut self) -> &mut SettlementFollower<Progress> {
        &mut self.following
    }
}

impl Followed<'_> {
    async fn run(&mut self) -> Result {
        loop {
            match self.following.turn().await? {
                SettlementTurn::Compared => {
                    let up_to_date = self.write().await?;
                    self.following.caught_up(self.waits.is_some());
                    self.following.save()?;
                    if self.arguments.once {
                        return up_to_date;
                    }
                }
                SettlementTurn::Before if self.arguments.once => {
                    let newest = self.following.newest().map(|block| block.number);
                    return Err(nothing_confirmed(self.arguments.reading.from_block, newest));
                }
                SettlementTurn::Before | SettlementTurn::Behind => {}
            }
            sleep(self.arguments.reading.every()).await;
        }
    }

    /// Writes the network if it is new, or if the file is gone. The inner result is how `--once` ends.
    async fn write(&mut self) -> Result<Result> {
        let block = self.following.block().unwrap_or_default();
        let mut network = self.following.follower().map(|follower| follower.network());
        if let (Some(Err(NoNetwork::NoWeights(_))), Some(file)) = (&network, &self.arguments.weights) {
            let weights = self.weights(file)?;
            if self.following.take_weights(weights).await? {
                network = self.following.follower().map(|follower| follower.network());
            }
        }
        let progress = &self.following.listener;
        let network = match network {
            Some(Ok((network, notes))) => {
                notes.iter().for_each(|note| progress.above(format!("block {block}: {note}")));
                network
            }
            Some(Err(why)) => {
                if self.waits.as_ref() != Some(&why) {
                    let hint = match (&why, &self.arguments.weights) {
                        (NoNetwork::NoWeights(_), None) => "; name a file of them with --weights".to_owned(),
                        (NoNetwork::NoWeights(_), Some(file)) => {
                            format!("; the contract has other ones than {} (--weights)", name_of(file))
                        }
                        _ => String::new(),
                    };
                    progress.above(format!("block {block}: {} is not written: {why}{hint}", self.name()));
                    self.waits = Some(why);
                }
                return Ok(Ok(Exit::Negative));
            }
            None => return Ok(Ok(Exit::Negative)),
        };
        self.waits = None;
        // Somebody may have taken the file away.
        let is_there = self.arguments.network.try_exists();
        let is_there = is_there.with_context(|| self.name().to_string()).map_err(Failure::io)?;
        if is_there && self.written.as_ref() == Some(&network) {
            return Ok(Ok(Exit::Success));
        }
        let mut text = serde_json::to_vec_pretty(&network).map_err(Failure::internal)?;
        text.push(b'\n');
        let written = file::write(&self.arguments.network, Readers::Everybody, Existing::Replace, &text);
        written.with_context(|| format!("cannot write {}", self.name())).map_err(Failure::io)?;
        progress.above(format!(
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

    /// The weights of --weights. A file is read anew, because somebody may have written it anew; standard input can be read once.
    fn weights(&mut self, file: &Path) -> Result<Vec<u64>> {
        if let Some(weights) = &self.piped {
            return Ok(weights.clone());
        }
        let weights = weights(file)?;
        if is_dash(file) {
            self.piped = Some(weights.clone());
        }
        Ok(weights)
    }

    fn name(&self) -> impl std::fmt::Display {
        Path::display(&self.arguments.network)
    }
}
