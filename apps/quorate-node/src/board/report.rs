//! What the node's loop tells the board.
//!
//! Times are milliseconds since 1970, from the same clock as the node's own. Weights are stake units; amounts of tokens are
//! in the token's smallest unit; fees are in wei.

use std::fmt;

use quorate_evm::{
    MemberSet, SnapshotId,
    alloy_primitives::{Address, B256, U256},
    amount::COIN_DECIMALS,
    digest::Contract,
    task_network::ContractTerms,
};

use quorate_network::roles::Roles;

use crate::tokens;

/// Who this node is.
#[derive(Clone, Debug)]
pub struct IdentityReport {
    /// The network's contract and its chain.
    pub network: Contract,
    /// The operator whose key the signer holds.
    pub operator: Option<Address>,
    /// What the node does.
    pub roles: Roles,
    /// The name under which peers know the node.
    pub peer_id: String,
    /// The version of the program.
    pub version: String,
    /// When the process started.
    pub started: u64,
}

/// A settlement, as the chain has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettledReport {
    /// The verdict.
    pub approved: bool,
    /// Keccak-256 of the result.
    pub result: B256,
    /// Whether the performer and the attesters are paid.
    pub rewarded: bool,
    /// The transaction that settled it.
    pub transaction: B256,
    /// Its block.
    pub block: u64,
    /// The gas of the transaction, if it is known.
    pub gas_used: Option<u64>,
    /// What the transaction cost, in wei, if it is known.
    pub fee: Option<u128>,
    /// The account that sent the transaction, if it is known.
    pub by: Option<Address>,
    /// Whose signatures the settlement holds. `None` takes what this node saw when it learned of the settlement.
    pub signers: Option<MemberSet>,
}

/// A transaction of this node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmissionReport {
    /// What it is for.
    pub purpose: Purpose,
    /// Its hash, once it was sent. A replacement has another one.
    pub transaction: Option<B256>,
    /// Its nonce, once it has one.
    pub nonce: Option<u64>,
    /// How far it is.
    pub state: SubmissionState,
    /// The gas that it used, once it was mined.
    pub gas_used: Option<u64>,
    /// What it cost, in wei, once it was mined.
    pub fee: Option<u128>,
    /// The gas that was estimated for it.
    pub estimate: Option<u64>,
}

/// What a transaction is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// It settles a task.
    Settle {
        /// The task.
        id: B256,
    },
    /// It reports a conflict.
    Report {
        /// Who signed both.
        operator: Address,
        /// The task that was signed twice.
        id: B256,
    },
    /// Anything else, in words: a snapshot, a claim of rewards. Words are cut after 200 characters.
    Other(String),
}

impl Purpose {
    /// The words of all purposes.
    pub const NAMES: [&'static str; 3] = ["settle", "report", "other"];

    /// A word for metrics.
    pub fn name(&self) -> &'static str {
        let [settle, report, other] = Self::NAMES;
        match self {
            Self::Settle { .. } => settle,
            Self::Report { .. } => report,
            Self::Other(_) => other,
        }
    }
}

/// How far a transaction is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SubmissionState {
    /// It was sent.
    Sent,
    /// Another one with a higher fee took its place.
    Replaced,
    /// It is in a block.
    Mined,
    /// Nothing undoes it.
    Final,
    /// The chain would refuse it, or did, for a reason in words. They are cut after 200 characters.
    Refused(String),
    /// It was not mined in time, and will not be.
    GivenUp,
    /// A reorganisation removed it from the chain. It waits again.
    Undone,
}

impl SubmissionState {
    /// The words of all states.
    pub const NAMES: [&'static str; 7] = ["sent", "replaced", "mined", "final", "refused", "given up", "undone"];

    /// A word for metrics and people.
    pub fn name(&self) -> &'static str {
        let [sent, replaced, mined, r#final, refused, given_up, undone] = Self::NAMES;
        match self {
            Self::Sent => sent,
            Self::Replaced => replaced,
            Self::Mined => mined,
            Self::Final => r#final,
            Self::Refused(_) => refused,
            Self::GivenUp => given_up,
            Self::Undone => undone,
        }
    }

    /// Whether nothing more happens to the transaction.
    pub fn has_ended(&self) -> bool {
        matches!(self, Self::Final | Self::Refused(_) | Self::GivenUp)
    }
}

/// An operator lost stake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PunishmentReport {
    /// The operator's account.
    pub operator: Address,
    /// For which task.
    pub id: B256,
    /// For what.
    pub kind: PunishmentKind,
    /// How much, in the token's smallest unit.
    pub amount: U256,
    /// The block in which it happened.
    pub at_block: u64,
}

/// For what an operator lost stake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PunishmentKind {
    /// Its result was rejected.
    Penalised,
    /// It signed two things that conflict.
    Slashed {
        /// The later of their two epochs. For a conflict of a later epoch the same task costs the operator stake again.
        epoch: u64,
    },
}

impl PunishmentKind {
    /// The words of both kinds.
    pub const NAMES: [&'static str; 2] = ["penalised", "slashed"];

    /// A word for metrics and people.
    pub fn name(self) -> &'static str {
        let [penalised, slashed] = Self::NAMES;
        match self {
            Self::Penalised => penalised,
            Self::Slashed { .. } => slashed,
        }
    }
}

/// A member of the running epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberReport {
    /// Its index in the epoch's table.
    pub index: u32,
    /// The owner of the key.
    pub owner: Address,
    /// Its weight, in stake units.
    pub weight: u64,
}

/// The operator's stake and rewards, in the token's smallest unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewardsReport {
    /// What was earned in the epochs since the node started, and in the few before whose conflicts can still be reported.
    pub earned: U256,
    /// What was claimed of it.
    pub claimed: U256,
    /// What is staked.
    pub stake: U256,
    /// What is left of it to be claimed. Of older epochs there may be more.
    pub pending: U256,
    /// How many decimals people write the token with: 18 for most.
    pub decimals: u8,
}

/// A peer that is connected.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerRow {
    /// Its name.
    pub peer_id: String,
    /// Its operator, if it has shown a credential.
    pub operator: Option<Address>,
    /// Its address.
    pub address: String,
    /// When it connected.
    pub since: u64,
    /// Bytes from it over this connection.
    pub bytes_in: u64,
    /// Bytes to it over this connection.
    pub bytes_out: u64,
    /// Messages from it over this connection.
    pub messages_in: u64,
    /// Messages to it over this connection.
    pub messages_out: u64,
    /// What the transport thinks of it: below zero is bad.
    pub score: f64,
}

/// A peer or a stranger that is banned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BanRow {
    /// Its name, or its address if it has shown none.
    pub peer_id: String,
    /// Its operator, which is banned with it; none for a stranger.
    pub operator: Option<Address>,
    /// Why, in words.
    pub reason: String,
    /// When the ban ends.
    pub until: u64,
}

/// What the node knows of its chain. Handed in after each successful reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// The newest block.
    pub head: u64,
    /// Its time, in seconds since 1970.
    pub time: u64,
    /// The newest block that nothing undoes.
    pub final_block: u64,
    /// The epoch of the newest block.
    pub epoch: u64,
    /// The epoch's snapshot, if the chain has one.
    pub snapshot: Option<SnapshotId>,
    /// Why what the chain's node says is not the present, in words: see [`old_head`].
    pub behind: Option<String>,
}

/// Why the chain's newest block is not the present, in words. Its time is in seconds since 1970, as a block has it. `None` if it is not
/// old: an age of half an epoch is allowed, at least a minute and at most five.
pub fn old_head(time: u64, epoch_length: u64, now_ms: u64) -> Option<String> {
    let age = (now_ms / 1_000).saturating_sub(time);
    (age > (epoch_length / 2).clamp(60, 300)).then(|| format!("its newest block is {age} s old"))
}

/// The gas of a settlement, for which the payer must have money. Few take more.
const SETTLEMENT_GAS: u64 = 300_000;

/// What is wrong with an account that has so many wei, if it cannot pay for a settlement at this price of a unit of gas.
pub fn problem_of_payer(account: Address, balance: U256, price: U256) -> Option<String> {
    let needed = price.saturating_mul(U256::from(SETTLEMENT_GAS));
    (balance < needed).then(|| {
        let [has, needs] = [balance, needed].map(|wei| tokens::amount(wei, COIN_DECIMALS));
        format!("{account} has {has} ETH for gas, and a settlement may cost {needs} now: send it some, or nothing settles by this node")
    })
}

/// What the seat of an operator weighs whose stake is in a restaking protocol, and what that stake would weigh now.
///
/// The next snapshot reads the stake, so it brings the seat up to date; the running epoch keeps its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeatWeight {
    /// The weight of the seat, in stake units.
    pub on_seat: u64,
    /// The weight of the stake that the source sees.
    pub in_protocol: u64,
    /// That stake, in the source's units.
    stake: U256,
    /// The least stake that weighs something.
    least: u128,
}

impl SeatWeight {
    /// By the stake of the seat, and by that which the network's source sees.
    pub fn of(terms: &ContractTerms, on_seat: U256, stake: U256) -> Self {
        let (on_seat, in_protocol) = (terms.weight_of(on_seat), terms.weight_of(stake));
        Self { on_seat, in_protocol, stake, least: terms.minimum_stake }
    }

    /// Whether the weight of the seat is out of date.
    pub fn is_out_of_date(&self) -> bool {
        self.on_seat != self.in_protocol
    }

    /// What is wrong, in words, if the operator's signatures count for nothing, now or from the next snapshot on.
    pub fn problem(&self) -> Option<String> {
        let Self { on_seat, in_protocol, stake, least } = *self;
        if on_seat != 0 && in_protocol != 0 {
            return None;
        }
        let why = format!(
            "the source sees a stake of {stake} units for it, and less than {least} weighs nothing: stake more in the protocol, or look \
             whether it lets the source slash"
        );
        Some(if in_protocol == 0 { format!("{self}; {why}") } else { self.to_string() })
    }
}

/// Both weights, in words.
impl fmt::Display for SeatWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = |weight: u64| if weight == 0 { "nothing".to_owned() } else { weight.to_string() };
        write!(f, "the operator's seat weighs {}", words(self.on_seat))?;
        if self.is_out_of_date() {
            write!(f, " until the next snapshot, and then {}", words(self.in_protocol))?;
        }
        Ok(())
    }
}

/// A part of the node that can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// The process that holds the operator's key.
    Signer,
    /// The chain's node.
    Chain,
    /// The network of peers.
    Peers,
    /// The data directory.
    Disk,
    /// The user's programs.
    Programs,
    /// The network's pool of rewards. A node is ready without it: tasks settle, and nobody is paid for them.
    Pool,
    /// The account that pays for what an aggregator sends.
    Payer,
    /// The stake of the operator, if it is in a restaking protocol.
    Stake,
    /// The watch of an optimistic settlement, beside the node's own work.
    Watch,
    /// The places for open tasks. Without a free one, and without a task that makes room, no further task is taken.
    Tasks,
}

impl Component {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Signer,
        Self::Chain,
        Self::Peers,
        Self::Disk,
        Self::Programs,
        Self::Pool,
        Self::Payer,
        Self::Stake,
        Self::Watch,
        Self::Tasks,
    ];

    /// A word for metrics and people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Signer => "signer",
            Self::Chain => "chain",
            Self::Peers => "peers",
            Self::Disk => "disk",
            Self::Programs => "programs",
            Self::Pool => "pool",
            Self::Payer => "payer",
            Self::Stake => "stake",
            Self::Watch => "watch",
            Self::Tasks => "tasks",
        }
    }
}

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Count {
    /// A message came from a peer, not in an answer.
    Received,
    /// The signatures of a message were verified, and are true.
    Verified,
    /// A signature of a message is false.
    False,
    /// A message was dropped before its signatures were verified: known, foreign, or too many.
    Ignored,
    /// A message of this node was published.
    Published,
    /// The user's program executed a task.
    Executed,
    /// The user's program judged a result.
    Validated,
    /// A call of a component failed.
    Failed(Component),
}
