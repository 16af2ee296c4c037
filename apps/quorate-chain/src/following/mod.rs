//! What `follow` and `watch` share: a settlement read from a chain's node, the cursor from which they go on, and what they serve to
//! those who watch them.

pub(crate) mod metrics;
pub(crate) mod chain;

use std::{
    cell::Cell,
    fs,
    future::ready,
    net::SocketAddr,
    path::PathBuf,
    rc::Rc,
    str::FromStr,
    sync::Arc,
    time::{Duration, Instant},
};

use alloy::primitives::Address;
use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_chain::rpc::Rpc;
use quorate_host::{
    exit::{Exit, Failure, Result},
    listen::{Connections, Hosts, Routers},
    metrics::{self as told, Watched},
    service,
};
use tokio::{net::TcpListener, signal};

use self::{
    chain::{Chain, Confirmations, Step},
    metrics::Metrics,
};
use crate::{
    cursor,
    print::{Progress, note, plural},
    wallet,
};

/// What every command that follows takes.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(long, value_name = "URL", env = "QUORATE_CHAIN_RPC", hide_env_values = true)]
    rpc: String,

    /// The block from which logs are read: that of the contract's deployment, or one before it
    #[arg(long, value_name = "N", default_value_t = 0, env = "QUORATE_CHAIN_FROM_BLOCK")]
    pub(crate) from_block: u64,

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

/// The longest time in which the follower gets an answer from the node, or gives up, beside the pause between two looks.
const LONGEST_TURN: Duration = Duration::from_secs(300);

/// How often the cursor is saved while many blocks are read.
const SAVED_EVERY: Duration = Duration::from_secs(10);

impl Reading {
    /// The node.
    pub(crate) fn node(&self) -> Result<Rpc> {
        wallet::node(&self.rpc)
    }

    /// The pause between two looks.
    pub(crate) fn every(&self) -> Duration {
        Duration::from_secs_f64(self.every)
    }

    /// How far behind the newest block is read.
    pub(crate) fn confirmations(&self) -> Confirmations {
        self.confirmations.0
    }

    /// Serves those who watch, where they may ask.
    pub(crate) async fn serve(&self, watched: &Arc<impl Watched>) -> Result<Option<Connections>> {
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
        connections.listen_tcp(listener, Routers { running: told::routes(watched), draining: None });
        note(format!("metrics are at http://{address}/metrics"));
        Ok(Some(connections))
    }
}

/// Where a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// All that is confirmed was read, and the contract compared.
    Compared,
    /// Not yet.
    Behind,
    /// The first block has not so many confirmations yet.
    Before,
}

/// A settlement that is followed, with the file of its cursor.
pub(crate) struct Following {
    pub(crate) chain: Chain,
    pub(crate) progress: Progress,
    path: PathBuf,
    saved: Instant,
    every: Duration,
    metrics: Arc<Metrics>,
    /// When it last got on: it read some blocks, or looked for new ones.
    turned: Rc<Cell<Instant>>,
}

impl Following {
    /// Asks the node for the settlement, and goes on from the cursor, if there is one.
    pub(crate) async fn open(
        reading: &Reading,
        node: Rpc,
        contract: Address,
        path: PathBuf,
        metrics: Arc<Metrics>,
    ) -> Result<Self> {
        let (confirmations, most) = (reading.confirmations(), reading.blocks);
        let mut chain =
            Chain::open(node, contract, reading.from_block, confirmations, most, Arc::clone(&metrics)).await?;
        if let Some(cursor) = cursor::read(&path)? {
            chain.resume(cursor).with_context(|| path.display().to_string()).map_err(Failure::usage)?;
        }
        let (saved, every, turned) = (Instant::now(), reading.every(), Rc::new(Cell::new(Instant::now())));
        Ok(Self { chain, progress: Progress::new(), path, saved, every, metrics, turned })
    }

    /// Runs a command until it ends, or somebody or the machine stops it: then the answer is `None`. `run` takes turns.
    pub(crate) async fn until_stopped(
        &mut self,
        status: &str,
        run: impl AsyncFnOnce(&mut Self) -> Result,
    ) -> Result<Option<Result>> {
        let (turned, patience) = (Rc::clone(&self.turned), self.every + LONGEST_TURN);
        let watched = async {
            service::watch(|| ready(turned.get().elapsed() < patience)).await;
            std::future::pending::<()>().await;
        };
        service::ready(status);
        let ended = tokio::select! {
            ended = run(self) => Some(ended),
            stopped = interrupted() => { stopped?; None }
            () = watched => None,
        };
        service::stopping("writing down the cursor");
        if ended.is_none() {
            self.save()?;
            if let Some(block) = self.chain.block() {
                note(format!("stopped after block {block}"));
            }
        }
        Ok(ended)
    }

    /// Takes note that the program still works.
    pub(crate) fn turns(&self) {
        self.turned.set(Instant::now());
    }

    /// Reads what is confirmed, and compares the contract.
    pub(crate) async fn turn(&mut self) -> Result<Turn> {
        self.turns();
        self.chain.go_back().await?;
        let target = self.chain.target().await?;
        while let Some(target) = target {
            let step = self.chain.step(target).await?;
            self.turns();
            self.show(target);
            if matches!(step, Step::Done) {
                break;
            }
            if self.saved.elapsed() > SAVED_EVERY {
                self.save()?;
                self.saved = Instant::now();
            }
        }
        if target.is_none() || self.chain.block() < target {
            return Ok(if self.chain.is_before(target) { Turn::Before } else { Turn::Behind });
        }
        let compared = match self.chain.compare().await {
            // What does not match is not to be read again from the cursor. A node that does not answer says nothing of it.
            Err(failure) if failure.exit == Exit::Negative => {
                if !self.chain.read_again() {
                    self.remove_cursor();
                    return Err(failure);
                }
                false
            }
            compared => compared?,
        };
        self.tell();
        Ok(if compared { Turn::Compared } else { Turn::Behind })
    }

    /// Prints what the user should know.
    fn tell(&mut self) {
        self.chain.notes.drain(..).for_each(|note| self.progress.note(note));
    }

    fn show(&mut self, target: u64) {
        self.tell();
        let (block, follower) = (self.chain.block().unwrap_or_default(), self.chain.follower());
        if let Some(follower) = &follower {
            self.metrics.settlement(follower);
        }
        let counts = follower.map(|follower| (follower.keys() as u64, follower.head().nonce)).unwrap_or_default();
        self.progress.at(block, target, format!("{}, {}", plural(counts.0, "key"), plural(counts.1, "result")));
    }

    /// Writes the cursor.
    pub(crate) fn save(&self) -> Result<()> {
        let Some(cursor) = self.chain.cursor() else { return Ok(()) };
        cursor::write(&self.path, &serde_json::to_vec(&cursor).map_err(Failure::internal)?)
    }

    fn remove_cursor(&self) {
        // If it stays, the next run compares again, and says the same.
        let _ = fs::remove_file(&self.path);
    }
}

/// The failure of a run with `--once` that had nothing to read.
pub(crate) fn nothing_confirmed(from_block: u64) -> Failure {
    Failure::refused(anyhow!("block {from_block} has not so many --confirmations yet, so there is nothing to read"))
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
