//! What goes wrong in a simulated network.

use quorate_network::groups::GROUP;

/// A network and what goes wrong in it. Times are in milliseconds, and shares in thousandths.
///
/// Faults of messages, machines and chain end at [`calm_from`](Self::calm_from). Liars lie to the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// How many operators.
    pub operators: usize,
    /// How many tasks each of the epochs 0 and 1 has.
    pub tasks: usize,
    /// The length of an epoch.
    pub epoch_length: u64,
    /// The time between two blocks.
    pub block_time: u64,
    /// Within what time all nodes learn of a task from their operators' sources.
    pub announced_within: u64,
    /// The most members of a group.
    pub group: usize,
    /// The number of peers to which a node forwards gossip.
    pub degree: usize,
    /// The least and the greatest time of a message from one peer to another.
    pub latency: (u64, u64),
    /// When faults end.
    pub calm_from: u64,
    /// Messages that are lost.
    pub dropped: u32,
    /// Messages that take up to three seconds longer, so that later ones overtake them.
    pub delayed: u32,
    /// Messages that come twice.
    pub doubled: u32,
    /// Whether the network falls into two parts, for two thirds of the time until it is calm.
    pub partition: bool,
    /// By how much clocks differ at most.
    pub clock_skew: u64,
    /// Steps of a node that end with a crash, at any of its outputs.
    pub crashes: u32,
    /// Steps of the signer that are lost: it was just restarted.
    pub signer_silence: u32,
    /// Runs of a user's program that fail.
    pub program_failures: u32,
    /// Blocks that replace one to three others.
    pub reorganisations: u32,
    /// Transactions that vanish when a reorganisation removes their block.
    pub lost_transactions: u32,
    /// Operators that lie, with nearly a third of the stake: each has one of these habits. Empty: nobody lies.
    pub lies: Vec<Lie>,
}

/// How an operator lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lie {
    /// It attests the opposite of the truth.
    FalseVerdict,
    /// Its attestations have signatures that are false.
    FalseSignature,
    /// As an attester it signs both verdicts, and shows each to one half of its peers.
    TwoVerdicts,
    /// As a performer it signs two results, and shows each to one half of its peers.
    TwoResults,
    /// As a performer it publishes a wrong result.
    WrongResult,
    /// As a performer it publishes nothing.
    SilentPerformer,
    /// It sends nothing to the chain.
    SilentAggregator,
    /// It publishes results for tasks for which another one was elected, and attests them as well.
    Impostor,
    /// It floods the network: tasks that do not exist, signers who do not exist.
    Flood,
    /// The sums that it publishes are false.
    FalseSum,
    /// In place of each sum it publishes one of half of the signers, so that others fit to it no more.
    HalfSum,
    /// It publishes no sums.
    NoSum,
}

impl Lie {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::FalseVerdict,
        Self::FalseSignature,
        Self::TwoVerdicts,
        Self::TwoResults,
        Self::WrongResult,
        Self::SilentPerformer,
        Self::SilentAggregator,
        Self::Impostor,
        Self::Flood,
        Self::FalseSum,
        Self::HalfSum,
        Self::NoSum,
    ];

    /// Which verdict must be settled if the performer lies so, or not at all; none if nothing is promised.
    pub(super) fn expected_verdict(performer: Option<Self>) -> Option<bool> {
        match performer {
            Some(Self::TwoResults | Self::SilentPerformer) => None,
            Some(Self::WrongResult) => Some(false),
            _ => Some(true),
        }
    }
}

impl Scenario {
    /// A network in which nothing goes wrong.
    pub fn calm(operators: usize) -> Self {
        Self {
            operators,
            tasks: 3,
            epoch_length: 60_000,
            block_time: 1_000,
            announced_within: 1_500,
            group: GROUP,
            degree: 8,
            latency: (10, 150),
            calm_from: 0,
            dropped: 0,
            delayed: 0,
            doubled: 0,
            partition: false,
            clock_skew: 0,
            crashes: 0,
            signer_silence: 0,
            program_failures: 0,
            reorganisations: 0,
            lost_transactions: 0,
            lies: Vec::new(),
        }
    }

    /// A network in which everything goes wrong at once.
    pub fn everything(operators: usize) -> Self {
        Self {
            calm_from: 60_000,
            dropped: 150,
            delayed: 100,
            doubled: 100,
            partition: true,
            clock_skew: 5_000,
            crashes: 3,
            signer_silence: 100,
            program_failures: 100,
            reorganisations: 60,
            lost_transactions: 300,
            lies: Lie::ALL.to_vec(),
            ..Self::calm(operators)
        }
    }

    /// Every fault alone, by name.
    pub fn each_fault(operators: usize) -> Vec<(String, Self)> {
        let calm = Self { calm_from: 60_000, ..Self::calm(operators) };
        let everything = Self::everything(operators);
        let mut faults: Vec<(String, Self)> = [
            ("none", calm.clone()),
            ("dropped", Self { dropped: 300, ..calm.clone() }),
            ("delayed", Self { delayed: 300, ..calm.clone() }),
            ("doubled", Self { doubled: 300, ..calm.clone() }),
            ("partition", Self { partition: true, ..calm.clone() }),
            ("clocks", Self { clock_skew: everything.clock_skew, ..calm.clone() }),
            ("crashes", Self { crashes: 20, ..calm.clone() }),
            ("signer_silence", Self { signer_silence: 400, ..calm.clone() }),
            ("program_failures", Self { program_failures: 400, ..calm.clone() }),
            ("reorganisations", Self { reorganisations: 150, ..calm.clone() }),
            ("lost_transactions", Self { reorganisations: 100, lost_transactions: 1000, ..calm.clone() }),
        ]
        .map(|(name, scenario)| (name.to_owned(), scenario))
        .into();
        let lies = Lie::ALL.map(|lie| (format!("{lie:?}"), Self { lies: vec![lie], ..calm.clone() }));
        faults.extend(lies);
        faults.push(("all_lies".to_owned(), Self { lies: Lie::ALL.to_vec(), ..calm }));
        faults.push(("everything".to_owned(), everything));
        faults
    }

    /// The same with groups of so many members.
    #[must_use]
    pub fn in_groups(self, group: usize) -> Self {
        Self { group, ..self }
    }
}
