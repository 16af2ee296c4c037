//! `quorate-chain watch`.

use std::{path::PathBuf, sync::Arc};

use alloy::primitives::Address;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use quorate_chain::{
    settlement::{SettlementFollower, SettlementListener as _, SettlementMetrics, SettlementSettings},
    watch::{WatchMetrics, WatchPayer, WatchTurn, Watcher},
};
use quorate_evm::{address, amount, posting::PostingConditions, watch::UnknownPostings};
use quorate_host::{
    dash::path_to_write,
    exit::{Exit, Failure, Result, in_full},
    flag::variable,
    listen::Connections,
};
use tokio::time::sleep;

use crate::{
    following::{Follows, Reading, nothing_confirmed, until_stopped},
    payer::Payer,
    print::Progress,
    wallet::FeeArguments,
};

/// Recompute what is posted to a settlement without a proof, and demand the proof of what is false
///
/// Follows an OptimisticSettlement as `follow` does, and recomputes each posting: the signers' keys and weights, the digest, the
/// signature. Prints a line for each posting, with the time that is left until it is final, and one for each change.
///
/// Without a payer nothing is sent. With one (--key-file), it demands the proof of each false posting and pays the bond, drops
/// those that nobody has proven in time, and withdraws what it is credited. Name the chain and the highest bond beside the payer
/// (--chain-id, --most-bond): without them the node says for which chain is signed, and what a demand costs. With --prove, it also
/// proves true postings whose proof somebody demands. A posting that it cannot recompute does not count as true: see --unknown.
/// If standard output takes no line, a watcher that pays says so and goes on; without a payer it ends.
///
/// It keeps no network file. It goes on from its cursor, and reads the logs anew without one. While the node does not answer,
/// it says so and asks again.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,

    /// The settlement's address
    #[arg(long, value_name = "ADDRESS", env = variable("QUORATE_CHAIN_CONTRACT"), value_parser = address::parse)]
    contract: Address,

    /// The id of the settlement's chain. A node of another one is refused, and nothing is signed for another one
    #[arg(long, value_name = "ID", env = variable("QUORATE_CHAIN_CHAIN_ID"))]
    chain_id: Option<u64>,

    /// Refuse a settlement of which a demand costs a higher bond than this, in the chain's coin, such as 0.05
    #[arg(long, value_name = "AMOUNT", env = variable("QUORATE_CHAIN_MOST_BOND"), value_parser = amount::parse_wei)]
    most_bond: Option<u128>,

    /// The file from which it goes on after a restart
    #[arg(long, value_name = "FILE", default_value = "watch.cursor", env = variable("QUORATE_CHAIN_WATCH_CURSOR"), value_parser = path_to_write())]
    cursor: PathBuf,

    /// What is done about a posting that cannot be recomputed: `demand` its proof in the last quarter of its window, or
    /// `report` it. If it was true, the bond of the demand is lost
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "demand",
        value_parser = PossibleValuesParser::new(UnknownPostings::NAMES).try_map(|name| name.parse::<UnknownPostings>())
    )]
    unknown: UnknownPostings,

    /// Prove true postings whose proof somebody demands. Whoever proves gets the bond of the demand. Needs a payer
    #[arg(long)]
    prove: bool,

    /// Look once, send nothing, and end. The exit code is 1 if an open posting is false or cannot be recomputed
    #[arg(long)]
    once: bool,

    #[command(flatten)]
    payer: Payer,

    #[command(flatten)]
    fees: FeeArguments,
}

const EXAMPLES: &str = "\
Examples:
  quorate-chain watch --rpc http://localhost:8545 --contract 0x… --once
  quorate-chain watch --rpc http://localhost:8545 --contract 0x… \\
      --key-file payer.json --chain-id 1 --most-bond 0.05 \\
      --prove --metrics 127.0.0.1:9605";

impl Arguments {
    /// Runs the command.
    pub(crate) async fn run(self) -> Result {
        let node = self.reading.node()?;
        let followed = Arc::new(SettlementMetrics::begun(node.clone(), self.reading.every()));
        let counted = Arc::new(WatchMetrics::begun(followed));
        let watchers = if self.once { None } else { self.reading.serve(&counted).await? };
        let _end = watchers.as_ref().map(Connections::abort_on_drop);
        let settings = self.reading.settings(self.contract, self.cursor.clone(), "--cursor file");
        let settings = SettlementSettings { chain_id: self.chain_id, ..settings };
        let watcher = Watcher::open(node, settings, self.unknown, self.prove, counted, Progress::new()).await?;
        let mut watcher = watcher.with_most_bond(self.most_bond)?;
        let PostingConditions { window, window_blocks, answer, answer_blocks, slots, penalty, bond } =
            watcher.conditions();
        watcher.following().listener.line(format_args!(
            "window {window} s and {window_blocks} blocks, answer {answer} s and {answer_blocks} blocks, {slots} slots, penalty \
             {penalty} wei, bond {bond} wei"
        ));
        let mut is_heard = true;
        self.heed_output(&mut watcher, &mut is_heard)?;
        if self.pays() {
            // The passphrase is asked for when everything else is right.
            watcher.pay(WatchPayer { payer: self.payer.open()?, fees: self.fees.limits() });
        } else if self.prove {
            let why = if self.once { "--once sends nothing" } else { "no payer is named (--key-file)" };
            watcher.following().listener.problem(&format!("--prove does nothing: {why}"));
        }
        let run = async |watcher: &mut Watcher<Progress>| self.watch(watcher, is_heard).await;
        match until_stopped(&self.reading, "watching", &mut watcher, run).await? {
            Some(ended) => ended,
            None if self.once => Err(Failure::interrupted()),
            None => Ok(Exit::Success),
        }
    }

    /// Whether it sends what is due.
    fn pays(&self) -> bool {
        self.payer.is_named() && !self.once
    }

    /// Ends a watcher that does nothing but print when standard output takes no line. One that pays says so once, and goes on: its demands
    /// guard money, whether somebody reads its lines or not.
    fn heed_output(&self, watcher: &mut Watcher<Progress>, is_heard: &mut bool) -> Result<()> {
        let progress = &mut watcher.following().listener;
        let Some(failure) = progress.closed.take() else { return Ok(()) };
        if !self.pays() {
            return Err(failure);
        }
        if std::mem::take(is_heard) {
            progress.problem(&format!("{}; what is due is done all the same", in_full(&failure.error)));
        }
        Ok(())
    }

    async fn watch(&self, watcher: &mut Watcher<Progress>, mut is_heard: bool) -> Result {
        loop {
            let turned = if self.once { watcher.turn().await } else { watcher.turn_patiently().await };
            let turned = turned
                .map_err(|error| Failure::from(error).context("no posting is watched until this is started again"))?;
            self.heed_output(watcher, &mut is_heard)?;
            match turned {
                WatchTurn::Looked { doubtful, .. } if self.once => {
                    return Ok(if doubtful == 0 { Exit::Success } else { Exit::Negative });
                }
                WatchTurn::Before if self.once => {
                    let newest = watcher.following().newest().map(|block| block.number);
                    return Err(nothing_confirmed(self.reading.from_block, newest));
                }
                _ => {}
            }
            sleep(self.reading.every()).await;
        }
    }
}

impl Follows for Watcher<Progress> {
    fn following(&mut self) -> &mut SettlementFollower<Progress> {
        Watcher::following(self)
    }
}
