//! What a watcher of an `OptimisticSettlement` does about a posting, and the calls with which it does so. No I/O.
//!
//! A watcher that fails, lags or knows too little must not make a false posting final. So a posting that it cannot recompute is
//! demanded before its window ends, unless its operator wants a report alone.

use std::str::FromStr;

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use serde::{Deserialize, Serialize};

use crate::{
    base::NEWEST,
    contract::OptimisticSettlement,
    follow::{Follower, NoNetwork, SlotPosting},
    gas::Measured,
    network::{Order, PlanError},
    posting::{
        Moment, PostedResults, PostingConditions, PostingFault, PostingStatus, ProofDemand, Recomputed, TimeLeft,
    },
    quorum::EncodeQuorumError,
    state::Head,
};

/// What is done about a posting that cannot be recomputed. As text it is one of [`UnknownPostings::NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownPostings {
    /// Its proof is demanded in the last quarter of its window. If it is true, the bond is lost.
    #[default]
    Demand,
    /// It is reported, and nothing else.
    Report,
}

impl UnknownPostings {
    /// The values as text.
    pub const NAMES: [&'static str; 2] = ["demand", "report"];
}

impl FromStr for UnknownPostings {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "demand" => Ok(Self::Demand),
            "report" => Ok(Self::Report),
            _ => Err("expected `demand` or `report`"),
        }
    }
}

/// How a watcher works.
#[derive(Clone, Copy, Debug)]
pub struct WatchRules {
    /// The contract's parameters.
    pub conditions: PostingConditions,
    /// Who pays and is paid; `None` if nothing is sent.
    pub payer: Option<Address>,
    /// What is done about postings that cannot be recomputed.
    pub unknown: UnknownPostings,
    /// Whether true postings that somebody demanded are proven.
    pub prove: bool,
}

/// What is to be done about a posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WatchDuty {
    /// Demand its proof.
    Demand,
    /// Prove it.
    Prove,
    /// Drop it, since nobody has proven it in time.
    Drop,
}

impl WatchDuty {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Demand, Self::Prove, Self::Drop];

    /// A word for logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Demand => "demand",
            Self::Prove => "prove",
            Self::Drop => "drop",
        }
    }
}

/// Where a posting stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostingOutlook {
    /// What is left of the window in which its proof may be demanded; or, if it was demanded, of the time for the answer.
    pub left: TimeLeft,
    /// Whether it is final: nobody demanded its proof in time.
    pub is_final: bool,
    /// Whether three quarters of its window are over, or all but a second and a block of a short one, and nobody has demanded its
    /// proof.
    pub is_late: bool,
}

impl WatchRules {
    /// Where an open posting stands in this block.
    pub fn outlook(&self, posting: &SlotPosting, now: Moment) -> PostingOutlook {
        let PostingConditions { window, window_blocks, answer, answer_blocks, .. } = self.conditions;
        match posting.status {
            PostingStatus::Demanded(ProofDemand { when, .. }) => {
                PostingOutlook { left: when.left(answer, answer_blocks, now), is_final: false, is_late: false }
            }
            PostingStatus::Posted | PostingStatus::Settled | PostingStatus::Dropped => {
                let left = posting.posting.when.left(window, window_blocks, now);
                // It ends when both are over, so it is late when both are nearly so. A quarter of a short window is at least one: with
                // none left, nothing could be demanded any more.
                let quarter = |span: u32| u64::from((span / 4).max(1));
                let is_late = left.seconds <= quarter(window) && left.blocks <= quarter(window_blocks);
                let is_posted = posting.status == PostingStatus::Posted;
                PostingOutlook { left, is_final: is_posted && left.is_over(), is_late: is_posted && is_late }
            }
        }
    }

    /// What is to be done now about a posting that turned out to be this.
    pub fn duty(&self, posting: &SlotPosting, found: &Recomputed, now: Moment) -> Option<WatchDuty> {
        let outlook = self.outlook(posting, now);
        match (posting.status, found) {
            _ if !posting.in_slot => None,
            (PostingStatus::Posted, _) if outlook.is_final => None,
            (PostingStatus::Posted, Recomputed::False(_)) => Some(WatchDuty::Demand),
            (PostingStatus::Posted, Recomputed::Unknown(_)) => {
                (outlook.is_late && self.unknown == UnknownPostings::Demand).then_some(WatchDuty::Demand)
            }
            (PostingStatus::Demanded(_), Recomputed::True) if self.prove && !outlook.left.is_over() => {
                Some(WatchDuty::Prove)
            }
            // Whoever demanded gets the bond back, and half of the penalty.
            (PostingStatus::Demanded(demand), _) if outlook.left.is_over() => {
                (self.payer == Some(demand.challenger)).then_some(WatchDuty::Drop)
            }
            (
                PostingStatus::Posted | PostingStatus::Demanded(_) | PostingStatus::Settled | PostingStatus::Dropped,
                _,
            ) => None,
        }
    }
}

/// From which bases a proof may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofBases {
    /// From any. The contract takes that in slot 0 only while its state is the follower's.
    All,
    /// From those in the ring, as long as they lie there. The contract's state may be any.
    Ring,
    /// From none: whatever happens to the bases and to the state.
    Nothing,
}

/// Why there is no proof of a posting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// It is not a posting that can be proven.
    #[error("it cannot be proven: {0}")]
    Fault(#[from] PostingFault),
    /// What is needed of its head is not known.
    #[error("it cannot be proven: {0}")]
    Network(#[from] NoNetwork),
    /// There is no plan.
    #[error("it cannot be proven: {0}")]
    Plan(#[from] PlanError),
    /// The quorum has no packed bytes.
    #[error("it cannot be proven: {0}")]
    Encode(#[from] EncodeQuorumError),
}

/// A call that proves a posting, with the pages for the transaction's access list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofCall {
    /// What the contract is called with.
    pub calldata: Bytes,
    /// The pages that it reads (EIP-2930); empty if naming them does not save gas.
    pub access_list: Vec<Address>,
}

/// The call that demands the proof of a posting. The bond is sent with it.
pub fn demand_call(posting: &PostedResults) -> Bytes {
    OptimisticSettlement::demandCall { posting_: posting.named() }.abi_encode().into()
}

/// The call that drops a posting whose demand was not answered in time.
pub fn drop_call(posting: &PostedResults, demand: ProofDemand) -> Bytes {
    let demand_ = ProofDemand::named(Some(demand));
    OptimisticSettlement::dropCall { posting_: posting.named(), demand_ }.abi_encode().into()
}

/// The call that pays whoever makes it what the contract owes: the credit, and the deposit if its exit is over.
pub fn withdraw_call() -> Bytes {
    OptimisticSettlement::withdrawCall {}.abi_encode().into()
}

/// The call that proves a posting, planned from the cheapest of these bases, or from none if that is cheaper.
///
/// # Errors
/// [`ProofError`]. It says nothing about the signature: recompute the posting first.
pub fn prove_call(
    follower: &mut Follower,
    posting: &PostedResults,
    demand: Option<ProofDemand>,
    bases: ProofBases,
    measured: &Measured,
) -> Result<ProofCall, ProofError> {
    let mut network = follower.network_of(posting)?;
    network.bases.retain(|base| match bases {
        ProofBases::All => true,
        ProofBases::Ring => base.slot != NEWEST,
        ProofBases::Nothing => false,
    });
    let (signers, signature) = posting.signed(network.key_group)?;
    let order = Order { deadline: posting.deadline, ..Order::of(&posting.results) };
    let plan = network.plan(measured, &signers, order)?;
    let quorum = plan.quorum(&signature).encode()?;
    let (head, newest): (U256, B256) = follower.passed();
    let call = OptimisticSettlement::proveCall {
        posting_: posting.named(),
        demand_: ProofDemand::named(demand),
        deadline: posting.deadline,
        results: posting.results.clone(),
        quorum: quorum.into(),
        head,
        newest,
    };
    Ok(ProofCall { calldata: call.abi_encode().into(), access_list: plan.access_list })
}

/// The numbers of a posting's results: the first, and the one behind the last.
pub fn numbers(posting: &PostedResults) -> (u64, u64) {
    let first = Head::decode(posting.head).nonce;
    (first, first + posting.results.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Address = Address::repeat_byte(1);

    const RULES: WatchRules = WatchRules {
        conditions: PostingConditions {
            window: 400,
            window_blocks: 40,
            answer: 100,
            answer_blocks: 10,
            slots: 4,
            penalty: 2,
            bond: 1,
        },
        payer: Some(ME),
        unknown: UnknownPostings::Demand,
        prove: true,
    };

    fn posting(status: PostingStatus) -> SlotPosting {
        let posting = PostedResults {
            head: U256::ZERO,
            deadline: u64::MAX,
            results: vec![B256::ZERO],
            evidence: Bytes::new(),
            poster: Address::ZERO,
            when: Moment { time: 1_000, block: 100 },
            slot: 3,
        };
        SlotPosting { id: posting.id(), posting: posting.into(), status, in_slot: true }
    }

    fn demanded(challenger: Address) -> SlotPosting {
        let when = Moment { time: 1_100, block: 110 };
        posting(PostingStatus::Demanded(ProofDemand { challenger, when }))
    }

    fn unknown() -> Recomputed {
        Recomputed::Unknown("why".to_owned())
    }

    const FALSE: Recomputed = Recomputed::False(PostingFault::Signature);

    const fn at(time: u64, block: u64) -> Moment {
        Moment { time, block }
    }

    /// A span is over when more seconds and more blocks have passed than it has, to the last of both.
    #[test]
    fn a_posting_is_final_when_time_and_blocks_are_over() {
        let is_final = |now| RULES.outlook(&posting(PostingStatus::Posted), now).is_final;
        assert!(!is_final(at(1_400, 141)) && !is_final(at(1_401, 140)) && is_final(at(1_401, 141)));
        assert!(!RULES.outlook(&demanded(ME), at(9_000, 900)).is_final, "a demanded posting never is");
    }

    #[test]
    fn a_false_posting_is_demanded_until_it_is_final() {
        let duty = |now| RULES.duty(&posting(PostingStatus::Posted), &FALSE, now);
        for now in [at(1_000, 100), at(1_400, 141), at(1_401, 140)] {
            assert_eq!(duty(now), Some(WatchDuty::Demand), "{now:?}");
        }
        assert_eq!(duty(at(1_401, 141)), None);
        let displaced = SlotPosting { in_slot: false, ..posting(PostingStatus::Posted) };
        assert_eq!(RULES.duty(&displaced, &FALSE, at(1_000, 100)), None);
    }

    #[test]
    fn a_true_posting_is_left_alone_and_proven_if_it_is_demanded() {
        let now = at(1_150, 115);
        assert_eq!(RULES.duty(&posting(PostingStatus::Posted), &Recomputed::True, now), None);
        assert_eq!(RULES.duty(&demanded(ME), &Recomputed::True, now), Some(WatchDuty::Prove));
        let poor = WatchRules { prove: false, ..RULES };
        assert_eq!(poor.duty(&demanded(ME), &Recomputed::True, now), None);
    }

    /// Nobody else's demand is dropped, and none before its time.
    #[test]
    fn an_unanswered_demand_is_dropped_by_whoever_made_it() {
        let (before, after) = (at(1_200, 121), at(1_201, 121));
        for found in [FALSE, Recomputed::True, unknown()] {
            let expected = (found == Recomputed::True).then_some(WatchDuty::Prove);
            assert_eq!(RULES.duty(&demanded(ME), &found, before), expected);
            assert_eq!(RULES.duty(&demanded(ME), &found, after), Some(WatchDuty::Drop));
            assert_eq!(RULES.duty(&demanded(Address::ZERO), &found, after), None);
        }
    }

    /// Three quarters of both have to be over, because the window ends when both are.
    #[test]
    fn what_is_not_known_is_demanded_in_the_last_quarter() {
        let duty = |rules: WatchRules, now| rules.duty(&posting(PostingStatus::Posted), &unknown(), now);
        for early in [at(1_000, 100), at(1_300, 141), at(1_500, 130)] {
            assert_eq!(duty(RULES, early), None, "{early:?}");
        }
        assert_eq!(duty(RULES, at(1_301, 131)), Some(WatchDuty::Demand));
        assert_eq!(duty(WatchRules { unknown: UnknownPostings::Report, ..RULES }, at(1_301, 131)), None);
    }

    /// Whatever the window, there is a moment at which what is not known is demanded before it is final.
    #[test]
    fn a_short_window_has_a_last_quarter() {
        for (window, window_blocks) in [(400, 3), (400, 1), (3, 40), (0, 0), (1, 1), (4, 4), (7, 5)] {
            let rules =
                WatchRules { conditions: PostingConditions { window, window_blocks, ..RULES.conditions }, ..RULES };
            let posted = posting(PostingStatus::Posted);
            let last = at(1_000 + u64::from(window), 100 + u64::from(window_blocks));
            assert!(!rules.outlook(&posted, last).is_final);
            assert_eq!(
                rules.duty(&posted, &unknown(), last),
                Some(WatchDuty::Demand),
                "{window} s, {window_blocks} blocks"
            );
            let after = at(last.time + 1, last.block + 1);
            assert!(rules.outlook(&posted, after).is_final && rules.duty(&posted, &unknown(), after).is_none());
        }
    }
}
