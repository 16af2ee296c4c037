//! `quorate-chain watch`.

mod metrics;
mod sender;

use std::{collections::BTreeMap, fmt, io, io::Write as _, path::PathBuf, sync::Arc};

use alloy::primitives::{Address, B256};
use anyhow::{Context as _, anyhow};
use clap::{Args, ValueEnum};
use quorate_chain::rpc::Rpc;
use quorate_evm::{
    contract::OptimisticSettlement,
    follow::{Follower, SlotPosting},
    posting::{Moment, PostingConditions, PostingFault, PostingStatus, Recomputed},
    watch::{PostingOutlook, UnknownPostings, WatchRules, numbers},
};
use quorate_host::{
    exit::{Exit, Failure, Result},
    listen::Connections,
};
use tokio::time::sleep;

use self::{
    metrics::{OpenPosting, WatchMetrics},
    sender::Sender,
};
use crate::{
    following::{Following, Reading, Turn, chain::Confirmations, metrics::Metrics, nothing_confirmed},
    payer::Payer,
    print::note,
    wallet::FeeArguments,
};

/// Recompute what is posted to a settlement without a proof, and demand the proof of what is false
///
/// Follows an OptimisticSettlement as `follow` does, and recomputes each posting: the signers' keys and weights, the digest, the
/// signature. Prints a line for each posting, with the time that is left until it is final, and one for each change.
///
/// Without a payer nothing is sent. With one (--key-file), it demands the proof of each false posting and pays the bond, drops
/// those that nobody has proven in time, and withdraws what it is credited. With --prove, it also proves true postings whose
/// proof somebody demands. A posting that it cannot recompute does not count as true: see --unknown.
///
/// It keeps no network file. It goes on from its cursor, and reads the logs anew without one. While the node does not answer,
/// it says so and asks again.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    reading: Reading,

    /// The settlement's address
    #[arg(long, value_name = "ADDRESS", env = "QUORATE_CHAIN_CONTRACT")]
    contract: Address,

    /// The file from which it goes on after a restart
    #[arg(long, value_name = "FILE", default_value = "watch.cursor", env = "QUORATE_CHAIN_WATCH_CURSOR")]
    cursor: PathBuf,

    /// What is done about a posting that cannot be recomputed: `demand` its proof in the last quarter of its window, or
    /// `report` it. If it was true, the bond of the demand is lost
    #[arg(long, value_name = "WHAT", default_value = "demand")]
    unknown: Unknown,

    /// Prove true postings whose proof somebody demands. Whoever proves gets the bond of the demand
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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Unknown {
    Demand,
    Report,
}

const EXAMPLES: &str = "\
Examples:
  quorate-chain watch --rpc http://localhost:8545 --contract 0x… --once
  quorate-chain watch --rpc http://localhost:8545 --contract 0x… \\
      --key-file payer.json --prove --metrics 127.0.0.1:9605";

impl Arguments {
    /// Runs the command.
    pub(crate) async fn run(self) -> Result {
        let node = self.reading.node()?;
        let followed = Arc::new(Metrics::begun(node.clone(), self.reading.every()));
        let counted = Arc::new(WatchMetrics::begun(Arc::clone(&followed)));
        let watchers = self.reading.serve(&counted).await?;
        let _end = watchers.as_ref().map(Connections::abort_on_drop);
        let mut following =
            Following::open(&self.reading, node.clone(), self.contract, self.cursor.clone(), followed).await?;
        let conditions = self.conditions(&node).await?;
        let sender = if self.payer.is_named() && !self.once {
            // The passphrase is asked for when everything else is right.
            let signer = self.payer.signer()?;
            Some(Sender::start(node, signer, &self.reading, self.fees.limits(), self.contract, conditions).await?)
        } else {
            None
        };
        let unknown = match self.unknown {
            Unknown::Demand => UnknownPostings::Demand,
            Unknown::Report => UnknownPostings::Report,
        };
        let rules = WatchRules { conditions, payer: sender.as_ref().map(Sender::address), unknown, prove: self.prove };
        let mut watched = Watched {
            arguments: &self,
            rules,
            sender,
            metrics: &counted,
            found: BTreeMap::new(),
            said: BTreeMap::new(),
            silent: false,
        };
        let ended = following.until_stopped("watching", async |following| watched.run(following).await).await?;
        match ended {
            Some(ended) => ended,
            None if self.once => Err(Failure::interrupted()),
            None => Ok(Exit::Success),
        }
    }

    /// The contract's parameters. Refuses a window in which a posting is final before it has so many confirmations.
    async fn conditions(&self, node: &Rpc) -> Result<PostingConditions> {
        let conditions = node.read(self.contract, &OptimisticSettlement::conditionsCall {}, None).await;
        let conditions = conditions.with_context(|| {
            format!(
                "{} is a settlement to which nothing is posted, so there is nothing to watch; check --contract",
                self.contract
            )
        });
        let conditions = conditions.map_err(Failure::usage)?;
        let conditions = PostingConditions::of_words(conditions.spans, conditions.money);
        let PostingConditions { window, window_blocks, answer, answer_blocks, slots, penalty, bond } = conditions;
        match self.reading.confirmations() {
            Confirmations::Blocks(behind) if behind > u64::from(window_blocks) / 2 => {
                return Err(Failure::usage(anyhow!(
                    "--confirmations {behind} leaves less than half of the window of {window_blocks} blocks; choose fewer"
                )));
            }
            Confirmations::Finalized => {
                note(
                    "a posting is recomputed when its block is final; make sure that the window is much longer than that",
                );
            }
            Confirmations::Blocks(_) => {}
        }
        line(format!(
            "window {window} s and {window_blocks} blocks, answer {answer} s and {answer_blocks} blocks, {slots} slots, penalty \
             {penalty} wei, bond {bond} wei"
        ))?;
        Ok(conditions)
    }
}

/// What a run knows.
struct Watched<'a> {
    arguments: &'a Arguments,
    rules: WatchRules,
    sender: Option<Sender>,
    metrics: &'a WatchMetrics,
    /// What the postings turned out to be, by their names. What may change later is not kept.
    found: BTreeMap<B256, Recomputed>,
    /// What was said last of each posting.
    said: BTreeMap<B256, String>,
    /// Whether the node did not answer the last time.
    silent: bool,
}

impl Watched<'_> {
    async fn run(&mut self, following: &mut Following) -> Result {
        loop {
            match self.turn(following).await {
                Ok(Some(exit)) => return Ok(exit),
                Ok(None) => self.silent = false,
                // Postings become final whether a node answers or not, so it asks again until somebody repairs it.
                Err(failure) if failure.exit == Exit::Io && !self.arguments.once => {
                    if !std::mem::replace(&mut self.silent, true) {
                        note(format!("error: {:#}; nothing is recomputed until it answers", failure.error));
                    }
                    following.turns();
                }
                Err(failure) => return Err(failure.context("no posting is watched until this is started again")),
            }
            if let Some(sender) = &mut self.sender {
                sender.hear(self.metrics);
            }
            sleep(self.arguments.reading.every()).await;
        }
    }

    /// One look; an exit code if it was the last.
    async fn turn(&mut self, following: &mut Following) -> Result<Option<Exit>> {
        match following.turn().await? {
            Turn::Compared => {}
            Turn::Before if self.arguments.once => return Err(nothing_confirmed(self.arguments.reading.from_block)),
            Turn::Before | Turn::Behind => return Ok(None),
        }
        let Some(newest) = following.chain.newest() else { return Ok(None) };
        let now = Moment { time: newest.timestamp, block: newest.number };
        let doubtful = match following.chain.follower() {
            Some(follower) => self.look(follower, now)?,
            None => 0,
        };
        if let Some(sender) = &mut self.sender {
            sender.settle_accounts(self.metrics).await?;
        }
        self.metrics.caught_up();
        following.save()?;
        let exit = if doubtful == 0 { Exit::Success } else { Exit::Negative };
        Ok(self.arguments.once.then_some(exit))
    }

    /// Recomputes the postings, says what changed, and does what is due. The answer is how many open ones are false or unknown.
    fn look(&mut self, follower: &mut Follower, now: Moment) -> Result<usize> {
        let postings: Vec<SlotPosting> = follower.postings().cloned().collect();
        let (found, said) = (&mut self.found, &mut self.said);
        found.retain(|id, _| postings.iter().any(|posting| posting.id == *id));
        said.retain(|id, _| postings.iter().any(|posting| posting.id == *id));
        let (mut open, mut doubtful) = (Vec::new(), 0);
        for posting in &postings {
            if !posting.is_open() {
                self.say(posting, None, None)?;
                continue;
            }
            let is_new = !self.found.contains_key(&posting.id);
            let verdict = self.found.get(&posting.id).cloned().unwrap_or_else(|| follower.recompute(&posting.posting));
            if is_new && matches!(verdict, Recomputed::False(_)) && !self.said.contains_key(&posting.id) {
                self.metrics.found_false();
            }
            // Keys may still be added, and what is not known may become known.
            if !matches!(verdict, Recomputed::Unknown(_) | Recomputed::False(PostingFault::NoSuchMember { .. })) {
                self.found.insert(posting.id, verdict.clone());
            }
            let outlook = self.rules.outlook(posting, now);
            doubtful += usize::from(verdict != Recomputed::True);
            self.say(posting, Some(&verdict), Some(outlook))?;
            open.push(OpenPosting {
                slot: posting.posting.slot,
                status: posting.status,
                verdict: verdict.name(),
                outlook,
            });
            if let Some(duty) = self.rules.duty(posting, &verdict, now)
                && let Some(sender) = &mut self.sender
            {
                sender.take(duty, posting, follower);
            }
        }
        let closed = postings.iter().filter(|posting| !posting.is_open()).map(|posting| posting.status);
        self.metrics.postings(open, closed);
        Ok(doubtful)
    }

    /// Prints a line about a posting, if it is another one than before.
    fn say(
        &mut self,
        posting: &SlotPosting,
        verdict: Option<&Recomputed>,
        outlook: Option<PostingOutlook>,
    ) -> Result<()> {
        let words = words(posting.status, verdict, outlook);
        if self.said.get(&posting.id) == Some(&words) {
            return Ok(());
        }
        let left = outlook.filter(|outlook| !outlook.left.is_over()).map(|outlook| match posting.status {
            PostingStatus::Demanded(_) => format!("; to be proven within {}", outlook.left),
            _ => format!("; final in {}", outlook.left),
        });
        let (first, behind) = numbers(&posting.posting);
        let shown = format!(
            "slot {}, results {first} to {}, posted by {}: {words}{}",
            posting.posting.slot,
            behind - 1,
            posting.posting.poster,
            left.unwrap_or_default()
        );
        line(&shown)?;
        // What needs somebody also goes to the log.
        if !matches!(verdict, None | Some(Recomputed::True)) {
            note(format!("error: {shown}"));
        }
        self.said.insert(posting.id, words);
        Ok(())
    }
}

/// What is said of a posting, without the time that is left.
fn words(status: PostingStatus, verdict: Option<&Recomputed>, outlook: Option<PostingOutlook>) -> String {
    let truth = match verdict {
        Some(Recomputed::True) => "true, ".to_owned(),
        Some(Recomputed::False(fault)) => format!("false, {fault}, "),
        Some(Recomputed::Unknown(why)) => format!("not recomputed, {why}, "),
        None => String::new(),
    };
    let end = match (verdict, outlook) {
        (Some(Recomputed::True) | None, Some(outlook)) if outlook.is_final => "final",
        (_, Some(outlook)) if outlook.is_final => "FINAL, and nobody can undo it",
        (Some(Recomputed::Unknown(_)), Some(outlook)) if outlook.is_late => "near the end of its window",
        _ => status.name(),
    };
    format!("{truth}{end}")
}

/// Prints one line of what was found.
fn line(text: impl fmt::Display) -> Result<()> {
    writeln!(io::stdout().lock(), "{text}").map_err(Failure::io)
}
