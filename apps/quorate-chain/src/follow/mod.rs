//! `quorate-chain follow`.

mod metrics;
mod chain;

use std::{
    cell::Cell,
    fs,
    future::ready,
    net::SocketAddr,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy::primitives::Address;
use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_evm::{Network, follow::NoNetwork};
use quorate_host::{
    exit::{Exit, Failure, Result},
    file,
    listen::{Connections, Hosts, Routers},
    metrics as told, service,
};
use tokio::{net::TcpListener, signal, time::sleep};

use self::{
    chain::{Chain, Confirmations, Step},
    metrics::Metrics,
};
use crate::{
    cursor,
    print::{Progress, note, plural},
    wallet,
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
    /// The node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(long, value_name = "URL", env = "QUORATE_CHAIN_RPC", hide_env_values = true)]
    rpc: String,

    /// The settlement's address. Without it, that of the file, if there is one
    #[arg(long, value_name = "ADDRESS", env = "QUORATE_CHAIN_CONTRACT")]
    contract: Option<Address>,

    /// The block from which logs are read: that of the contract's deployment, or one before it
    #[arg(long, value_name = "N", default_value_t = 0, env = "QUORATE_CHAIN_FROM_BLOCK")]
    from_block: u64,

    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "network.json", env = "QUORATE_CHAIN_NETWORK")]
    network: PathBuf,

    /// End when the file is up to date. The exit code is 1 if there is nothing to write yet
    #[arg(long)]
    once: bool,

    /// How many blocks must follow a block before its logs count, or `finalized`
    #[arg(long, value_name = "N", default_value = "2", env = "QUORATE_CHAIN_CONFIRMATIONS")]
    confirmations: ConfirmationsArgument,

    /// The most blocks in one request for logs. Fewer are asked for if the node refuses
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    blocks: u64,

    /// How often to look for new blocks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds)]
    every: f64,

    /// Where /livez, /readyz and /metrics are served over HTTP, such as 127.0.0.1:9604. Port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", conflicts_with = "once", env = "QUORATE_CHAIN_METRICS")]
    metrics: Option<SocketAddr>,

    /// Allow an address of --metrics that other machines reach. There is no TLS
    #[arg(long, requires = "metrics", env = "QUORATE_CHAIN_BEYOND_LOOPBACK")]
    beyond_loopback: bool,
}

#[derive(Clone, Copy, Debug)]
struct ConfirmationsArgument(Confirmations);

impl FromStr for ConfirmationsArgument {
    type Err = &'static str;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        match text {
            "finalized" => Ok(Self(Confirmations::Finalized)),
            _ => text
                .parse()
                .map(|blocks| Self(Confirmations::Blocks(blocks)))
                .map_err(|_| "expected a number of blocks, or `finalized`"),
        }
    }
}

fn seconds(text: &str) -> std::result::Result<f64, &'static str> {
    match text.parse() {
        Ok(seconds) if (0.05..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.05 to 3600"),
    }
}

const EXAMPLES: &str = "\
Examples:
  quorate-chain follow --rpc http://localhost:8545 --contract 0x…
  quorate-chain follow --rpc https://… --contract 0x… --once \\
      --from-block 21000000 --confirmations finalized";

/// The longest time in which the follower gets an answer from the node, or gives up, beside the pause between two looks.
const LONGEST_TURN: Duration = Duration::from_secs(300);

/// How often the cursor is saved while many blocks are read.
const SAVED_EVERY: Duration = Duration::from_secs(10);

impl Arguments {
    /// Runs the command.
    pub(crate) async fn run(self) -> Result {
        let node = wallet::node(&self.rpc)?;
        let path = cursor::path_of(&self.network);
        let contract = self.contract()?;
        let counted = Arc::new(Metrics::begun(node.clone(), Duration::from_secs_f64(self.every)));
        let watchers = self.serve(&counted).await?;
        let _end = watchers.as_ref().map(Connections::abort_on_drop);
        let (confirmations, most) = (self.confirmations.0, self.blocks);
        let mut chain = Chain::open(node, contract, self.from_block, confirmations, most, Arc::clone(&counted)).await?;
        if let Some(cursor) = cursor::read(&path)? {
            chain.resume(cursor).with_context(|| path.display().to_string()).map_err(Failure::usage)?;
        }
        let turned = Cell::new(Instant::now());
        let mut followed =
            Followed { arguments: &self, metrics: &counted, path, written: None, waits: None, turned: &turned };
        let patience = Duration::from_secs_f64(self.every) + LONGEST_TURN;
        let watched = async {
            service::watch(|| ready(turned.get().elapsed() < patience)).await;
            std::future::pending::<()>().await;
        };
        service::ready("following");
        let ended = tokio::select! {
            ended = followed.run(&mut chain) => Some(ended),
            stopped = interrupted() => { stopped?; None }
            () = watched => None,
        };
        service::stopping("writing down the cursor");
        match ended {
            Some(ended) => ended,
            None => {
                followed.save(&chain)?;
                if let Some(block) = chain.block() {
                    note(format!("stopped after block {block}"));
                }
                if self.once { Err(Failure::interrupted()) } else { Ok(Exit::Success) }
            }
        }
    }

    /// Serves those who watch, where they may ask.
    async fn serve(&self, metrics: &Arc<Metrics>) -> Result<Option<Connections>> {
        let Some(address) = self.metrics else { return Ok(None) };
        if !address.ip().is_loopback() && !self.beyond_loopback {
            return Err(Failure::usage(anyhow!(
                "--metrics {address} is reached by other machines: use 127.0.0.1, or add --beyond-loopback behind a firewall"
            )));
        }
        let listener = TcpListener::bind(address).await.with_context(|| format!("--metrics {address}"));
        let listener = listener.map_err(Failure::io)?;
        let address = listener.local_addr().map_err(Failure::io)?;
        // A page on the web cannot let a name of its own point here and read.
        let hosts = Hosts { names: Arc::new([]), stated_in: "--metrics" };
        let connections = Connections::new(told::BOUNDS, Some(hosts));
        connections.listen_tcp(listener, Routers { running: told::routes(metrics), draining: None });
        note(format!("metrics are at http://{address}/metrics"));
        Ok(Some(connections))
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

/// Waits for Ctrl-C, or for the signal that ends services.
async fn interrupted() -> Result<()> {
    #[cfg(unix)]
    {
        let mut end = signal::unix::signal(signal::unix::SignalKind::terminate()).map_err(Failure::internal)?;
        tokio::select! {
            pressed = signal::ctrl_c() => pressed.map_err(Failure::internal),
            _ = end.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    signal::ctrl_c().await.map_err(Failure::internal)
}

/// The files of a run.
struct Followed<'a> {
    arguments: &'a Arguments,
    metrics: &'a Metrics,
    /// The cursor's file.
    path: PathBuf,
    /// The network as it was written last.
    written: Option<Network>,
    /// Why nothing is written, as it was said last.
    waits: Option<NoNetwork>,
    /// When it last got on: it read some blocks, or looked for new ones.
    turned: &'a Cell<Instant>,
}

impl Followed<'_> {
    async fn run(&mut self, chain: &mut Chain) -> Result {
        let progress = Progress::new();
        let mut saved = Instant::now();
        loop {
            self.turned.set(Instant::now());
            chain.go_back().await?;
            let target = chain.target().await?;
            while let Some(target) = target {
                let step = chain.step(target).await?;
                self.turned.set(Instant::now());
                self.show(chain, &progress, target);
                if matches!(step, Step::Done) {
                    break;
                }
                if saved.elapsed() > SAVED_EVERY {
                    self.save(chain)?;
                    saved = Instant::now();
                }
            }
            if chain.block() >= target && target.is_some() {
                let compared = match chain.compare().await {
                    // What does not match is not to be read again from the cursor. A node that does not answer says nothing of it.
                    Err(failure) if failure.exit == Exit::Negative => {
                        if !chain.read_again() {
                            self.remove_cursor();
                            return Err(failure);
                        }
                        false
                    }
                    compared => compared?,
                };
                chain.notes.drain(..).for_each(|note| progress.note(note));
                if compared {
                    let up_to_date = self.write(chain, &progress)?;
                    self.metrics.caught_up(self.waits.is_some());
                    self.save(chain)?;
                    if self.arguments.once {
                        return up_to_date;
                    }
                }
            } else if self.arguments.once && chain.is_before(target) {
                return Err(Failure::refused(anyhow!(
                    "block {} has not so many --confirmations yet, so there is nothing to read",
                    self.arguments.from_block
                )));
            }
            sleep(Duration::from_secs_f64(self.arguments.every)).await;
        }
    }

    fn show(&self, chain: &mut Chain, progress: &Progress, target: u64) {
        chain.notes.drain(..).for_each(|note| progress.note(note));
        let (block, follower) = (chain.block().unwrap_or_default(), chain.follower());
        if let Some(follower) = &follower {
            self.metrics.settlement(follower);
        }
        let counts = follower.map(|follower| (follower.keys() as u64, follower.head().nonce)).unwrap_or_default();
        progress.at(block, target, format!("{}, {}", plural(counts.0, "key"), plural(counts.1, "result")));
    }

    /// Writes the network if it is new. The inner result is how `--once` ends.
    fn write(&mut self, chain: &mut Chain, progress: &Progress) -> Result<Result> {
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

    fn save(&self, chain: &Chain) -> Result<()> {
        let Some(cursor) = chain.cursor() else { return Ok(()) };
        cursor::write(&self.path, &serde_json::to_vec(&cursor).map_err(Failure::internal)?)
    }

    fn remove_cursor(&self) {
        // If it stays, the next run compares again, and says the same.
        let _ = fs::remove_file(&self.path);
    }
}
