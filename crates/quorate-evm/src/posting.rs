//! Results that were posted to an `OptimisticSettlement` without a proof, recomputed.
//!
//! A posting names the head before it, the results, the signers and their signature. It is true if the signers weigh what the
//! head's epoch requires, and if the signature is theirs over the results. [`PostedResults::recompute`] says so from the keys of
//! the head's table and the weights of its epoch.
//!
//! ```text
//! content = keccak256(head ‖ deadline ‖ keccak256(results) ‖ count ‖ keccak256(evidence) ‖ poster)    each in 32 bytes
//! id      = keccak256(content ‖ when)
//! ```

use std::fmt;

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolValue};
use serde::{Deserialize, Serialize};

use crate::{
    contract::{OptimisticSettlement, optimistic_settlement::IOptimisticSettlement},
    digest::{Contract, Results},
    hint::CounterHint,
    key_group::KeyGroup,
    member_set::MemberSet,
    network::{DecodedKeys, Order, PlanError, QuorumSignature, SettlementPlan, verify_sum},
    quorum::{EncodeQuorumError, NONE, Store},
    state::{Head, TooLarge},
};

/// When something happened on a chain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment {
    /// The block's time, in seconds of Unix time.
    pub time: u64,
    /// The block's number, as the contract sees it.
    pub block: u64,
}

impl Moment {
    /// The contracts' form of it: time ‖ number, 64 bits each.
    pub const fn word(self) -> u128 {
        (self.time as u128) << 64 | self.block as u128
    }

    /// Reads that form.
    pub const fn of_word(word: u128) -> Self {
        Self { time: (word >> 64) as u64, block: word as u64 }
    }

    /// What is left of a span that began here. It is over when more seconds and more blocks than these have passed.
    pub fn left(self, seconds: u32, blocks: u32, now: Self) -> TimeLeft {
        let left =
            |begun: u64, span: u32, now: u64| begun.saturating_add(span.into()).saturating_add(1).saturating_sub(now);
        TimeLeft { seconds: left(self.time, seconds, now.time), blocks: left(self.block, blocks, now.block) }
    }
}

/// What is left of a span of time. The span is over when both are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeLeft {
    /// Seconds.
    pub seconds: u64,
    /// Blocks.
    pub blocks: u64,
}

impl TimeLeft {
    /// Whether the span is over.
    pub const fn is_over(self) -> bool {
        self.seconds == 0 && self.blocks == 0
    }
}

impl fmt::Display for TimeLeft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s and {} blocks", self.seconds, self.blocks)
    }
}

/// The parameters of an `OptimisticSettlement`, which are fixed for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostingConditions {
    /// Seconds in which a proof may be demanded.
    pub window: u32,
    /// Blocks in which a proof may be demanded.
    pub window_blocks: u32,
    /// Seconds in which a demand has to be answered.
    pub answer: u32,
    /// Blocks in which a demand has to be answered.
    pub answer_blocks: u32,
    /// How many postings can wait at the same time.
    pub slots: u16,
    /// What a posting that is not proven costs its poster, in wei.
    pub penalty: u128,
    /// What a demand costs, in wei. Whoever answers it gets it.
    pub bond: u128,
}

impl PostingConditions {
    /// Reads the two words that the contract's `conditions()` answers.
    pub fn of_words(spans: U256, money: U256) -> Self {
        let part =
            |word: U256, at: usize, bits: usize| -> u128 { (word >> at & ((U256::ONE << bits) - U256::ONE)).to() };
        let span = |at: usize| part(spans, at, 32) as u32;
        Self {
            window: span(0),
            window_blocks: span(32),
            answer: span(64),
            answer_blocks: span(96),
            slots: part(spans, 128, 16) as u16,
            penalty: part(money, 0, 96),
            bond: part(money, 96, 96),
        }
    }
}

/// A demand for the proof of a posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProofDemand {
    /// Who demanded, and paid the bond.
    pub challenger: Address,
    /// When.
    pub when: Moment,
}

impl ProofDemand {
    /// A demand as the contract's calls name it; zeros for none.
    pub fn named(demand: Option<Self>) -> IOptimisticSettlement::Demand {
        let (challenger, when) = demand.map(|demand| (demand.challenger, demand.when)).unwrap_or_default();
        IOptimisticSettlement::Demand { challenger, when: when.word() }
    }
}

/// What happened to a posting, by the logs. Whether a posted one is final depends on the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostingStatus {
    /// Nobody has demanded a proof.
    Posted,
    /// A proof was demanded, and there is none yet.
    Demanded(ProofDemand),
    /// It is proven, or final and finished.
    Settled,
    /// It was demanded and not proven in time, or others were proven in its place.
    Dropped,
}

impl PostingStatus {
    /// A word for metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Posted => "posted",
            Self::Demanded(_) => "demanded",
            Self::Settled => "settled",
            Self::Dropped => "dropped",
        }
    }

    /// The demand, if the proof is demanded and there is none yet.
    pub const fn demand(self) -> Option<ProofDemand> {
        match self {
            Self::Demanded(demand) => Some(demand),
            Self::Posted | Self::Settled | Self::Dropped => None,
        }
    }

    /// Whether this is what the contract's `statusOf` answers, as a number of its `Status`. A posting whose window is over is final
    /// there.
    pub const fn is_that_of(self, number: u8) -> bool {
        match self {
            Self::Posted => matches!(number, 1 | 3),
            Self::Demanded(_) => number == 2,
            Self::Settled => number == 4,
            Self::Dropped => number == 5,
        }
    }
}

/// A posting, as its log tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostedResults {
    /// The head before the posting, as a word.
    pub head: U256,
    /// The last second in which the signatures counted, in Unix time.
    pub deadline: u64,
    /// The results, in order.
    pub results: Vec<B256>,
    /// The signers' bitmap, and behind it the signature.
    pub evidence: Bytes,
    /// Who posted.
    pub poster: Address,
    /// When.
    pub when: Moment,
    /// The slot in which it lies.
    pub slot: u64,
}

/// What a posting writes over: `IOptimisticSettlement.Place`. Zeros stand for a slot that is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostingPlace {
    /// The slot in which the posting shall lie.
    pub slot: u64,
    /// The content of the posting that lies there: [`PostedResults::content`].
    pub content: B256,
    /// When that one was made.
    pub when: Moment,
}

/// Why a plan cannot be posted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostingError {
    /// A posting stores no base, and its signatures say so.
    #[error(
        "store: found {0}, expected none: results are posted without a base, so plan and sign again without a slot"
    )]
    Store(u16),
    /// There are no postings for these keys.
    #[error("no optimistic settlement takes keys of {0}; bn254-g1, bls12381-g2 and bls12381-g2-nu have one")]
    KeyGroup(KeyGroup),
    /// A number does not fit into the contract's head.
    #[error(transparent)]
    Head(#[from] TooLarge),
    /// The slot's number has another meaning.
    #[error(transparent)]
    Slot(#[from] EncodeQuorumError),
}

/// The calldata of `post`, which posts a plan's results with the signers' signature and without a proof. The contract does not
/// check the signature, so verify it before ([`SettlementPlan::verify`]): a false posting costs its poster a penalty.
///
/// # Errors
/// [`PostingError`].
pub fn post_call(
    plan: &SettlementPlan,
    signature: &QuorumSignature,
    place: &PostingPlace,
) -> Result<Bytes, PostingError> {
    if plan.key_group.optimistic_code().is_none() {
        return Err(PostingError::KeyGroup(plan.key_group));
    }
    let Order { ref results, deadline, store, weigh: _ } = plan.order;
    if store != Store::Nowhere {
        return Err(PostingError::Store(store.number()?));
    }
    let PostingPlace { slot, content, when } = *place;
    let call = OptimisticSettlement::postCall {
        head: plan.head.encode()?,
        newest: plan.newest,
        deadline,
        results: results.clone(),
        evidence: [plan.signers.as_bytes(), signature.as_bytes()].concat().into(),
        place: IOptimisticSettlement::Place { slot: U256::from(slot), content, when: when.word() },
    };
    Ok(call.abi_encode().into())
}

/// What a posting turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recomputed {
    /// A true quorum signed these results. The contract accepts a proof.
    True,
    /// It did not. On BLS12-381 no proof of the posting is possible then. On BN254 the contract accepts any counter that leads to a point
    /// (`HashToBn254`), so a quorum that signs the point of a later counter than the first can prove its posting, and get the bond
    /// of whoever demanded it. No [`OperatorKey`](crate::OperatorKey) signs such a point.
    False(PostingFault),
    /// What is known does not say: for example, a signer has no key yet. Its key may still be registered, and then a proof of the
    /// posting is possible. It does not count as true.
    Unknown(String),
}

impl Recomputed {
    /// A word for metrics.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::True => "true",
            Self::False(_) => "false",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// Why a posting is false.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostingFault {
    /// The evidence is no bitmap with a signature behind it.
    #[error("its evidence is no bitmap of signers with a signature behind it: {0}")]
    Evidence(String),
    /// The signers weigh too little.
    #[error("its signers weigh {weight}, and {required} are required")]
    TooLight {
        /// Their weight.
        weight: u128,
        /// What is required.
        required: u128,
    },
    /// The signers' keys add up to the identity.
    #[error("its signers' keys add up to the identity")]
    Identity,
    /// The signature is not theirs over the digest's point; on BN254, that of the first counter.
    #[error("its signature is false")]
    Signature,
}

/// What recomputes postings: the keys of a table, and the weights of an epoch.
#[derive(Clone, Copy, Debug)]
pub struct PostingSources<'a> {
    /// The curve and the group of the keys.
    pub key_group: KeyGroup,
    /// The contract.
    pub settlement: Contract,
    /// The keys of the table that the posting's head names.
    pub keys: &'a [Bytes],
    /// The weights of the epoch that it names, if they are known for certain.
    pub weights: Option<&'a [u64]>,
}

impl PostedResults {
    /// A posting from the packed bytes of its log (`IOptimisticSettlement.Posted`), with the head after it and the commitment
    /// of the newest base.
    ///
    /// # Errors
    /// What is wrong with the bytes.
    pub fn of_log(packed: &[u8]) -> Result<(U256, B256, Self), String> {
        const FIXED: usize = 32 + 32 + 16 + 8 + 20 + 2 + 4;
        let short = || format!("it has {} bytes", packed.len());
        let (fixed, rest) = packed.split_at_checked(FIXED).ok_or_else(short)?;
        let number = |from: usize, to: usize| U256::from_be_slice(&fixed[from..to]);
        let count = number(110, 114).to::<usize>();
        let (results, evidence) =
            count.checked_mul(32).and_then(|bytes| rest.split_at_checked(bytes)).ok_or_else(short)?;
        let after = number(0, 32);
        let mut before = Head::decode(after);
        before.nonce = (before.nonce.checked_sub(count as u64))
            .ok_or_else(|| format!("{count} results end at number {}", before.nonce))?;
        let posting = Self {
            head: before.encode().map_err(|error| error.to_string())?,
            deadline: number(80, 88).to(),
            results: results.chunks_exact(32).map(B256::from_slice).collect(),
            evidence: evidence.to_vec().into(),
            poster: Address::from_slice(&fixed[88..108]),
            when: Moment::of_word(number(64, 80).to()),
            slot: number(108, 110).to(),
        };
        Ok((after, B256::from_slice(&fixed[32..64]), posting))
    }

    /// The hash of everything but the moment.
    pub fn content(&self) -> B256 {
        let results = keccak256(self.results.concat());
        let count = U256::from(self.results.len());
        let evidence = keccak256(&self.evidence);
        keccak256((self.head, U256::from(self.deadline), results, count, evidence, self.poster).abi_encode())
    }

    /// The name of the posting in the contract's logs.
    pub fn id(&self) -> B256 {
        keccak256((self.content(), U256::from(self.when.word())).abi_encode())
    }

    /// The posting as the contract's calls name it.
    pub fn named(&self) -> IOptimisticSettlement::Posting {
        IOptimisticSettlement::Posting {
            head: self.head,
            deadline: self.deadline,
            results: keccak256(self.results.concat()),
            count: U256::from(self.results.len()),
            evidence: keccak256(&self.evidence),
            poster: self.poster,
            when: self.when.word(),
            slot: U256::from(self.slot),
        }
    }

    /// The signers and the signature.
    ///
    /// # Errors
    /// [`PostingFault::Evidence`].
    pub fn signed(&self, key_group: KeyGroup) -> Result<(MemberSet, QuorumSignature), PostingFault> {
        let found = self.evidence.len();
        let at = found.checked_sub(key_group.signature_bytes());
        let at = at.ok_or_else(|| PostingFault::Evidence(format!("it has {found} bytes")))?;
        let (bitmap, signature) = self.evidence.split_at(at);
        let signers = MemberSet::from_bytes(bitmap).map_err(|error| PostingFault::Evidence(error.to_string()))?;
        if signers.is_empty() {
            return Err(PostingFault::Evidence("nobody signs".to_owned()));
        }
        let signature = QuorumSignature::from_bytes(key_group, signature);
        Ok((signers, signature.map_err(|error| PostingFault::Evidence(error.to_string()))?))
    }

    /// Whether a true quorum signed these results. Decodes the signers' keys that `decoded` does not hold, with a check of each for
    /// the subgroup, and adds them; hashes the digest; two Miller loops and a final exponentiation.
    pub fn recompute(&self, sources: &PostingSources<'_>, decoded: &mut DecodedKeys) -> Recomputed {
        match self.check(sources, decoded) {
            Ok(Some(unknown)) => Recomputed::Unknown(unknown),
            Ok(None) => Recomputed::True,
            Err(fault) => Recomputed::False(fault),
        }
    }

    /// What is not known, or nothing.
    fn check(&self, sources: &PostingSources<'_>, decoded: &mut DecodedKeys) -> Result<Option<String>, PostingFault> {
        let PostingSources { key_group, settlement, keys, weights } = *sources;
        let head = Head::decode(self.head);
        let (signers, signature) = self.signed(key_group)?;
        if let Some(index) = signers.iter().last().filter(|last| *last >= keys.len()) {
            // Whoever registers later has no weight in this epoch.
            if let Some(weights) = weights {
                weigh(&head, &signers, weights)?;
            }
            return Ok(Some(format!("member {index} is said to sign, and the table has {} keys so far", keys.len())));
        }
        // The signature first: if it is false, the weights need not be known.
        let key = match decoded.sum(key_group, keys, &signers) {
            Ok(key) => key,
            Err(PlanError::Identity) => return Err(PostingFault::Identity),
            // The chain has checked each key, so what is wrong is what is known here.
            Err(error) => return Ok(Some(error.to_string())),
        };
        let (results, store) = (&self.results[..], NONE);
        let digest =
            Results { settlement, epoch: head.epoch, nonce: head.nonce, deadline: self.deadline, store, results }
                .digest();
        // The first counter, which is the one that honest members sign: see `Recomputed::False`.
        let hint = CounterHint::new(&digest);
        // A signature that is no point of the group is false.
        let is_true = verify_sum(key_group, &key, &[digest], &[hint], &signature).unwrap_or(false);
        if !is_true {
            return Err(PostingFault::Signature);
        }
        match weights {
            Some(weights) => weigh(&head, &signers, weights).map(|()| None),
            None if head.counts(&signers) => Ok(None),
            None => Ok(Some(format!("the weights of epoch {} are not known", head.epoch))),
        }
    }
}

/// Refuses signers who are no quorum of the epoch, by their number or by these weights.
fn weigh(head: &Head, signers: &MemberSet, weights: &[u64]) -> Result<(), PostingFault> {
    let members = signers.iter().take_while(|index| *index < head.members as usize);
    let weight = members.map(|index| u128::from(weights.get(index).copied().unwrap_or(0))).sum();
    if head.counts(signers) || head.weighs_enough(weight) {
        return Ok(());
    }
    Err(PostingFault::TooLight { weight, required: head.least_weight() })
}
