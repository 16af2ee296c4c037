//! What `follow` and `watch` share: a settlement that is followed until somebody stops the program, and what is served to those who
//! watch it.

use std::{
    fmt::Display, future::ready, net::SocketAddr, path::PathBuf, rc::Rc, str::FromStr, sync::Arc, time::Duration,
};

use alloy::primitives::Address;
use anyhow::{Context as _, anyhow};
use clap::Args;
use quorate_chain::{
    rpc::Rpc,
    settlement::{OptionNames, SettlementFollower, SettlementSettings},
    task_network::Confirmations,
};
use quorate_host::{
    exit::{Failure, Result},
    flag::{self, variable},
    listen::{Connections, Hosts, Routers, refuse_beyond_loopback},
    metrics::{self as told, Watched},
    service,
};
use tokio::net::TcpListener;

use crate::{
    print::{Progress, note},
    wallet,
};

/// What every command that follows takes.
#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The node: an HTTP or HTTPS URL of its JSON-RPC
    #[arg(long, value_name = "URL", env = variable("QUORATE_CHAIN_RPC"), hide_env_values = true)]
    rpc: String,

    /// The block from which logs are read: that of the contract's deployment, or one before it
    #[arg(long, value_name = "N", default_value_t = 0, env = variable("QUORATE_CHAIN_FROM_BLOCK"))]
    pub(crate) from_block: u64,

    /// How many blocks must follow a block before its logs count, or `finalized`
    #[arg(long, value_name = "N", default_value = "2", env = variable("QUORATE_CHAIN_CONFIRMATIONS"))]
    confirmations: Confirmations,

    /// The most blocks in one request for logs. Fewer are asked for if the node refuses
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    blocks: u64,

    /// How often to look for new blocks, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 4.0, value_parser = seconds)]
    every: f64,

    /// Where /livez, /readyz and /metrics are served over HTTP, such as 127.0.0.1:9604. Port 0 takes a free one. Without it, the variable
    /// QUORATE_CHAIN_METRICS has the address, if there is one; --once serves nothing
    #[arg(long, value_name = "ADDRESS", conflicts_with = "once")]
    metrics: Option<SocketAddr>,

    /// Allow an address of --metrics that other machines reach, as QUORATE_CHAIN_BEYOND_LOOPBACK=true does. There is no TLS
    #[arg(long, conflicts_with = "once")]
    beyond_loopback: bool,
}

// clap does not read these: to it, what is exported conflicts with a typed `--once`.
const METRICS: &str = "QUORATE_CHAIN_METRICS";
const BEYOND_LOOPBACK: &str = "QUORATE_CHAIN_BEYOND_LOOPBACK";

/// The value of a variable, if it is set.
fn exported<T: FromStr<Err: Display>>(name: &str) -> Result<Option<T>> {
    let Some(text) = flag::exported(name) else { return Ok(None) };
    let text = text.to_str().ok_or_else(|| Failure::usage(anyhow!("{name} is not text")))?;
    text.parse().map(Some).map_err(|error| Failure::usage(anyhow!("{name}: found {text:?}: {error}")))
}

fn seconds(text: &str) -> std::result::Result<f64, &'static str> {
    match text.parse() {
        Ok(seconds) if (0.05..=3_600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds from 0.05 to 3600"),
    }
}

/// The longest time in which the follower gets an answer from the node, or gives up, beside the pause between two looks.
const LONGEST_TURN: Duration = Duration::from_secs(300);

impl Reading {
    /// The node.
    pub(crate) fn node(&self) -> Result<Rpc> {
        wallet::node(&self.rpc)
    }

    /// The pause between two looks.
    pub(crate) fn every(&self) -> Duration {
        Duration::from_secs_f64(self.every)
    }

    /// How a settlement is followed, with the file of its cursor and the option that names it.
    pub(crate) fn settings(
        &self,
        contract: Address,
        cursor: PathBuf,
        cursor_option: &'static str,
    ) -> SettlementSettings {
        SettlementSettings {
            contract,
            chain_id: None,
            from_block: self.from_block,
            confirmations: self.confirmations,
            blocks_at_once: self.blocks,
            every: self.every(),
            cursor,
            options: OptionNames {
                rpc: "--rpc",
                contract: "--contract",
                chain_id: "--chain-id",
                most_bond: "--most-bond",
                from_block: "--from-block",
                confirmations: "--confirmations",
                cursor: cursor_option,
            },
        }
    }

    /// Serves those who watch, where they may ask.
    pub(crate) async fn serve(&self, watched: &Arc<impl Watched>) -> Result<Option<Connections>> {
        let address = self.metrics.map_or_else(|| exported(METRICS), |address| Ok(Some(address)))?;
        let Some(address) = address else {
            if self.beyond_loopback {
                let error = anyhow!("--beyond-loopback allows an address of --metrics, and none is named");
                return Err(Failure::usage(error));
            }
            return Ok(None);
        };
        let is_beyond = self.beyond_loopback || exported(BEYOND_LOOPBACK)?.unwrap_or(false);
        refuse_beyond_loopback(address, is_beyond).map_err(|error| {
            Failure::usage(anyhow!("--metrics {error}: use 127.0.0.1, or add --beyond-loopback behind a firewall"))
        })?;
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

/// A run that follows a settlement.
pub(crate) trait Follows {
    /// What follows it.
    fn following(&mut self) -> &mut SettlementFollower<Progress>;
}

/// Runs a command until it ends, or somebody or the machine stops it: then the answer is `None`, and the cursor is written. `run` takes
/// turns.
pub(crate) async fn until_stopped<T: Follows>(
    reading: &Reading,
    status: &str,
    works: &mut T,
    run: impl AsyncFnOnce(&mut T) -> Result,
) -> Result<Option<Result>> {
    let (turned, patience) = (Rc::clone(&works.following().listener.turned), reading.every() + LONGEST_TURN);
    let watched = async {
        service::watch(|| ready(turned.get().elapsed() < patience)).await;
        std::future::pending::<()>().await;
    };
    service::ready(status);
    let ended = tokio::select! {
        ended = run(works) => Some(ended),
        () = service::interrupted() => None,
        () = watched => None,
    };
    service::stopping("writing down the cursor");
    if ended.is_none() {
        let following = works.following();
        following.save()?;
        if let Some(block) = following.block() {
            note(format!("stopped after block {block}"));
        }
    }
    Ok(ended)
}

/// The failure of a run with `--once` that had nothing to read. The node may have no newest block.
pub(crate) fn nothing_confirmed(from_block: u64, newest: Option<u64>) -> Failure {
    if newest.is_none() {
        return Failure::io(anyhow!(
            "the node has no newest block; check --rpc, or wait until the node has read the chain"
        ));
    }
    Failure::refused(anyhow!("block {from_block} has not so many --confirmations yet, so there is nothing to read"))
}

#[cfg(test)]
mod tests {
    use quorate_host::exit::Exit;

    use super::*;

    /// It answers `null` for the newest block, so it is not the confirmations that are missing.
    #[test]
    fn a_node_without_a_newest_block_is_named() {
        let none = nothing_confirmed(0, None);
        assert_eq!((none.exit, none.error.to_string().contains("the node has no newest block")), (Exit::Io, true));
        let early = nothing_confirmed(900, Some(7));
        assert_eq!(early.exit, Exit::Negative);
        assert!(early.error.to_string().starts_with("block 900 has not so many --confirmations"), "{early:?}");
    }
}
