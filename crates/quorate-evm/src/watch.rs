//! What a watcher of an `OptimisticSettlement` does about a posting, and the calls with which it does so. No I/O.
//!
//! A watcher that fails, lags or knows too little must not make a false posting final. So a posting that it cannot recompute is
//! demanded before its window ends, unless its operator wants a report alone.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;

use crate::{
    contract::OptimisticSettlement,
    follow::{Follower, NoNetwork, SlotPosting},
    gas::Measured,
    network::{Order, PlanError},
    posting::{Moment, PostedResults, PostingConditions, PostingFault, PostingStatus, ProofDemand, Recomputed, TimeLeft},
    quorum::EncodeQuorumError,
    state::Head,
};

/// What is done about a posting that cannot be recomputed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownPostings {
    /// Its proof is demanded in the last quarter of its window. If it is true, the bond is lost.
    #[default]
    Demand,
    /// It is reported, and nothing else.
    Report,
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
    /// Whether three quarters of its window are over, and nobody has demanded its proof.
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
                // It ends when both are over, so it is late when both are nearly so.
                let is_late = left.seconds <= u64::from(window / 4) && left.blocks <= u64::from(window_blocks / 4);
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
            (PostingStatus::Demanded(_), Recomputed::True) if self.prove && !outlook.left.is_over() => Some(WatchDuty::Prove),
            // Whoever demanded gets the bond back, and half of the penalty.
            (PostingStatus::Demanded(demand), _) if outlook.left.is_over() => {
                (self.payer == Some(demand.challenger)).then_some(WatchDuty::Drop)
            }
            (PostingStatus::Posted | PostingStatus::Demanded(_) | PostingStatus::Settled | PostingStatus::Dropped, _) => None,
        }
    }
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

/// The call with which whoever is credited collects it.
pub fn collect_call() -> Bytes {
    OptimisticSettlement::collectCall {}.abi_encode().into()
}

/// The call that proves a posting, planned from the cheapest base that serves now.
///
/// # Errors
/// [`ProofError`]. It says nothing about the signature: recompute the posting first.
pub fn prove_call(
    follower: &mut Follower,
    posting: &PostedResults,
    demand: Option<ProofDemand>,
    measured: &Measured,
) -> Result<ProofCall, ProofError> {
    let network = follower.network_of(posting)?;
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
