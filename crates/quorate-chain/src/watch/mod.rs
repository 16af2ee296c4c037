//! Watches an `OptimisticSettlement`: recomputes each posting, demands the proof of what is false, and does what follows from that.
//!
//! What is done about a posting, and when, is said in [`quorate_evm::watch`]. A [`Watcher`] asks a node for the postings, sends the
//! calls, and tells a [`WatchListener`] what it found. `quorate-chain watch` is such a watcher, and a node of a task network has one
//! beside its other work.
//!
//! | module | contents |
//! |---|---|
//! | `metrics` | what is counted |
//! | `sender` | the calls: demands, proofs, drops, and the money |

mod metrics;
mod sender;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use alloy::primitives::{B256, Bytes};
use quorate_evm::{
    contract::OptimisticSettlement,
    follow::{Follower, SlotPosting},
    gas::Measured,
    network::DecodedKeys,
    posting::{Moment, PostingConditions, PostingStatus, Recomputed},
    watch::{PostingOutlook, ProofBases, UnknownPostings, WatchRules, numbers, prove_call},
};
use serde_json::json;
use tokio::time::timeout;

pub use metrics::{PostingCounts, WatchMetrics, WatchSight};

use self::{
    metrics::OpenPosting,
    sender::{NODE_PATIENCE, Sender},
};
use crate::{
    fees::FeeLimits,
    rpc::{Rpc, RpcError},
    settlement::{SettlementError, SettlementFollower, SettlementListener, SettlementSettings, SettlementTurn},
    submitter::Payer,
    task_network::Confirmations,
    transaction,
};

/// Who hears what a watcher finds.
pub trait WatchListener: SettlementListener {
    /// Something about a posting is another than before. `doubtful` says that the posting is not found true, so that it needs somebody.
    fn posting(&mut self, text: &str, doubtful: bool);
}

/// Who pays for the calls of a watcher, and is paid.
#[derive(Clone, Debug)]
pub struct WatchPayer {
    /// The key. Nobody else sends from its account.
    pub payer: Payer,
    /// The most that a unit of gas may cost.
    pub fees: FeeLimits,
}

/// What a look at the postings came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchTurn {
    /// All that is confirmed was recomputed.
    Looked {
        /// How many open postings are false or unknown.
        doubtful: usize,
        /// Why the account of the payer is not known, in words; `None` if it is, or if nobody pays.
        unpaid: Option<String>,
    },
    /// The node has not told all that is confirmed yet.
    Behind,
    /// The first block has not so many confirmations yet.
    Before,
    /// The node did not answer, or the disk refused the cursor: of [`Watcher::turn_patiently`] alone.
    Failed {
        /// The reason, in words.
        why: String,
    },
}

/// A settlement whose postings are watched.
pub struct Watcher<L> {
    node: Rpc,
    following: SettlementFollower<L>,
    rules: WatchRules,
    payer: Option<WatchPayer>,
    /// None without a payer, and before the node has told what the payer has sent.
    sender: Option<Sender>,
    metrics: Arc<WatchMetrics>,
    /// The keys that were decoded for the postings before.
    decoded: DecodedKeys,
    /// What the postings turned out to be, by their names. What may change later is not kept.
    found: BTreeMap<B256, Recomputed>,
    /// How often blocks had been forgotten when that was found.
    forgotten: u64,
    /// What was said last of each posting.
    said: BTreeMap<B256, String>,
    /// Whether the node did not answer the last time.
    silent: bool,
}

impl<L: WatchListener> Watcher<L> {
    /// Asks the node for the settlement and its conditions, and goes on from the cursor, if there is one. Without a payer nothing is
    /// sent. With `prove`, true postings are proven whose proof somebody demands.
    ///
    /// # Errors
    /// As of [`SettlementFollower::open`]; nothing is posted to the settlement; or a posting is final before it has so many
    /// confirmations, or nearly so.
    pub async fn open(
        node: Rpc,
        settings: SettlementSettings,
        unknown: UnknownPostings,
        prove: bool,
        metrics: Arc<WatchMetrics>,
        listener: L,
    ) -> Result<Self, SettlementError> {
        let followed = Arc::clone(metrics.followed());
        let mut following = SettlementFollower::open(node.clone(), settings, followed, listener).await?;
        let conditions = conditions(&node, &mut following).await?;
        Ok(Self {
            node,
            following,
            rules: WatchRules { conditions, payer: None, unknown, prove },
            payer: None,
            sender: None,
            metrics,
            decoded: DecodedKeys::default(),
            found: BTreeMap::new(),
            forgotten: 0,
            said: BTreeMap::new(),
            silent: false,
        })
    }

    /// The same watcher, unless a demand costs more than this, in wei.
    ///
    /// # Errors
    /// [`SettlementError::BondTooHigh`].
    pub fn with_most_bond(self, most: Option<u128>) -> Result<Self, SettlementError> {
        let bond = self.rules.conditions.bond;
        match most.filter(|most| bond > *most) {
            None => Ok(self),
            Some(most) => {
                let option = self.following.settings().options.most_bond;
                Err(SettlementError::BondTooHigh { bond, most, option })
            }
        }
    }

    /// From the next turn on calls are sent, and paid by this account.
    pub fn pay(&mut self, payer: WatchPayer) {
        let address = payer.payer.address();
        self.rules.payer = Some(address);
        self.following.listener.note(&format!("{address} pays, and is paid"));
        (self.payer, self.sender) = (Some(payer), None);
    }

    /// What the contract fixes.
    pub fn conditions(&self) -> PostingConditions {
        self.rules.conditions
    }

    /// The settlement that is followed.
    pub fn following(&mut self) -> &mut SettlementFollower<L> {
        &mut self.following
    }

    /// A [turn](Self::turn) of a watcher that goes on: postings become final whether a node answers or not, so if it does not, that is
    /// said once, and the next turn asks again.
    ///
    /// # Errors
    /// What does [not pass](SettlementError::may_pass) by itself. Nothing is watched until somebody does something, or
    /// [all is read anew](SettlementFollower::begin_anew).
    pub async fn turn_patiently(&mut self) -> Result<WatchTurn, SettlementError> {
        let turned = match self.turn().await {
            Ok(turned) => {
                self.silent = false;
                turned
            }
            Err(error) if error.may_pass() => {
                let then = match error {
                    SettlementError::Unwritten { .. } => "after a restart the logs are read from an older block on",
                    _ => "nothing is recomputed until it answers",
                };
                let why = format!("{}; {then}", error.words());
                if !std::mem::replace(&mut self.silent, true) {
                    self.following.listener.problem(&why);
                }
                self.following.listener.turns();
                WatchTurn::Failed { why }
            }
            Err(error) => return Err(error),
        };
        if let Some(sender) = &mut self.sender {
            sender.hear(&self.metrics, &mut self.following.listener);
        }
        Ok(turned)
    }

    /// Reads what is confirmed, recomputes what is posted, and does what is due.
    ///
    /// # Errors
    /// [`SettlementError`].
    pub async fn turn(&mut self) -> Result<WatchTurn, SettlementError> {
        match self.following.turn().await? {
            SettlementTurn::Compared => {}
            SettlementTurn::Before => return Ok(WatchTurn::Before),
            SettlementTurn::Behind => return Ok(WatchTurn::Behind),
        }
        let Some(newest) = self.following.newest() else { return Ok(WatchTurn::Behind) };
        let started = in_time(self.start_sender()).await;
        let doubtful = self.look(Moment { time: newest.timestamp, block: newest.number }).await;
        // What is recomputed stays so, whatever the node says of the payer.
        self.following.caught_up(false);
        let saved = self.following.save();
        let settled = match (&started, &mut self.sender) {
            (Ok(()), Some(sender)) => {
                in_time(sender.settle_accounts(&self.metrics, &mut self.following.listener)).await
            }
            _ => Ok(()),
        };
        let unpaid = match (started, settled) {
            (Err(why), _) => Some(format!("nothing is sent: what the payer has sent before is not known: {why}")),
            (_, Err(why)) => Some(format!("what the payer has is not known: {why}; what is due is sent all the same")),
            _ => None,
        };
        if let (false, Some(why)) = (self.metrics.unpaid(unpaid.clone()), &unpaid) {
            self.following.listener.problem(why);
        }
        saved?;
        Ok(WatchTurn::Looked { doubtful, unpaid })
    }

    /// Begins to send, if somebody pays and the node tells what the payer has sent.
    async fn start_sender(&mut self) -> Result<(), RpcError> {
        if let (None, Some(WatchPayer { payer, fees })) = (&self.sender, &self.payer) {
            let (settings, conditions) = (self.following.settings(), self.rules.conditions);
            let (node, chain_id) = (self.node.clone(), self.following.chain_id());
            self.sender = Some(Sender::start(node, chain_id, payer.clone(), settings, *fees, conditions).await?);
        }
        Ok(())
    }

    /// Recomputes the postings, says what changed, and does what is due. The answer is how many open ones are false or unknown.
    async fn look(&mut self, now: Moment) -> usize {
        let postings: Vec<SlotPosting> =
            self.following.follower().map(|follower| follower.postings().cloned().collect()).unwrap_or_default();
        let there: BTreeSet<B256> = postings.iter().map(|posting| posting.id).collect();
        // A posting may come again in a block of the same number and time, after other keys and weights than in the branch that was left.
        let forgotten = self.following.forgotten();
        if std::mem::replace(&mut self.forgotten, forgotten) != forgotten {
            self.found.clear();
        }
        self.found.retain(|id, _| there.contains(id));
        self.said.retain(|id, _| there.contains(id));
        if let Some(sender) = &mut self.sender {
            sender.retain(&there);
        }
        let (mut open, mut doubtful) = (Vec::new(), 0);
        for posting in &postings {
            if !posting.is_open() {
                self.say(posting, None, None);
                continue;
            }
            let outlook = self.rules.outlook(posting, now);
            let verdict = self.verdict(posting, outlook).await;
            doubtful += usize::from(verdict != Recomputed::True);
            self.say(posting, Some(&verdict), Some(outlook));
            open.push(OpenPosting {
                slot: posting.posting.slot,
                status: posting.status,
                verdict: verdict.name(),
                outlook,
            });
            if let Some(duty) = self.rules.duty(posting, &verdict, now)
                && let Some(sender) = &mut self.sender
            {
                let (follower, listener) = self.following.parts();
                if let Some(follower) = follower {
                    sender.take(duty, posting, follower, listener).await;
                }
            }
        }
        let closed = postings.iter().filter(|posting| !posting.is_open()).map(|posting| posting.status);
        self.metrics.postings(open, closed);
        doubtful
    }

    /// What a posting turned out to be.
    async fn verdict(&mut self, posting: &SlotPosting, outlook: PostingOutlook) -> Recomputed {
        if let Some(found) = self.found.get(&posting.id) {
            return found.clone();
        }
        let decoded = &mut self.decoded;
        let recompute = |follower: &mut Follower| follower.recompute(&posting.posting, decoded);
        let nothing = || Recomputed::Unknown("no block was read".to_owned());
        let mut verdict = self.following.follower().map_or_else(nothing, recompute);
        // The contract takes no proof of what is final.
        if matches!(verdict, Recomputed::Unknown(_)) && !outlook.is_final && self.is_provable(posting).await {
            verdict = Recomputed::True;
        }
        if matches!(verdict, Recomputed::False(_)) && !self.said.contains_key(&posting.id) {
            self.metrics.found_false();
        }
        // What is not known may become known.
        if !matches!(verdict, Recomputed::Unknown(_)) {
            self.found.insert(posting.id, verdict.clone());
        }
        verdict
    }

    /// Whether the contract takes a proof of a posting whose signers are heavy enough by weights that it has not confirmed. Such a posting
    /// is true: whoever demands its proof loses the bond.
    async fn is_provable(&mut self, posting: &SlotPosting) -> bool {
        let contract = self.following.settings().contract;
        let Some(follower) = self.following.follower() else { return false };
        if follower.recompute_unconfirmed(&posting.posting, &mut self.decoded) != Recomputed::True {
            return false;
        }
        let demand = posting.status.demand();
        let call = prove_call(follower, &posting.posting, demand, ProofBases::Nothing, &Measured::default());
        let Ok(call) = call else { return false };
        let call = transaction::call(contract, call.calldata, &call.access_list);
        // Of a node that does not answer nothing is known.
        let asked = self.node.ask::<Bytes>("eth_call", json!([call, "latest"]));
        matches!(timeout(NODE_PATIENCE, asked).await, Ok(Ok(_)))
    }

    /// Tells what is so with a posting, if it is something else than before.
    fn say(&mut self, posting: &SlotPosting, verdict: Option<&Recomputed>, outlook: Option<PostingOutlook>) {
        let words = words(posting.status, verdict, outlook);
        if self.said.get(&posting.id) == Some(&words) {
            return;
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
        self.following.listener.posting(&shown, !matches!(verdict, None | Some(Recomputed::True)));
        self.said.insert(posting.id, words);
    }
}

/// What the node says of the payer, or why that is not known. A node that hangs is not waited for: nothing is recomputed meanwhile.
async fn in_time<T>(asked: impl Future<Output = Result<T, RpcError>>) -> Result<T, String> {
    match timeout(PAYER_PATIENCE, asked).await {
        Ok(answer) => answer.map_err(|error| error.to_string()),
        Err(_) => Err(format!("the node says nothing within {} s", PAYER_PATIENCE.as_secs())),
    }
}

/// How long the node may take to say something about the payer: longer than an [`Rpc`] asks one that is busy.
const PAYER_PATIENCE: Duration = Duration::from_secs(20);

/// The contract's parameters. Refuses a window in which a posting is final before it has so many confirmations.
async fn conditions<L: WatchListener>(
    node: &Rpc,
    following: &mut SettlementFollower<L>,
) -> Result<PostingConditions, SettlementError> {
    let SettlementSettings { contract, confirmations, options, .. } = *following.settings();
    let conditions = node.read(contract, &OptimisticSettlement::conditionsCall {}, None).await;
    let conditions = conditions.map_err(|source| {
        if source.is_of_contract() {
            SettlementError::NothingPosted { contract, option: options.contract, source: source.into() }
        } else {
            source.into()
        }
    })?;
    let conditions = PostingConditions::of_words(conditions.spans, conditions.money);
    let window_blocks = conditions.window_blocks;
    match confirmations {
        Confirmations::Blocks(behind) if behind > u64::from(window_blocks) / 2 => {
            let (option, confirmations) = (options.confirmations, behind);
            return Err(SettlementError::TooManyConfirmations { option, confirmations, window_blocks });
        }
        Confirmations::Finalized => following.listener.note(
            "a posting is recomputed when its block is final; make sure that the window is much longer than that",
        ),
        Confirmations::Blocks(_) => {}
    }
    Ok(conditions)
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
