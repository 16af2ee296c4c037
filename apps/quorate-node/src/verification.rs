//! Whether the signatures of messages are true: keys from the [`Registry`], arithmetic in batches by `quorate-batcher`.
//!
//! Nothing leaves this module as [`Verified`] unless every signature of the message was proven. What the batcher has no room
//! for is neither true nor false.

use std::sync::Arc;

use quorate::{ClaimBytes, SourceId, Suite as _};
use quorate_batcher::{Batcher, Class, Pending, Refused};
use quorate_evm::{MemberSet, Task, bls12381, digest::Contract};
use tokio::task::spawn_blocking;

use quorate_network::{
    message::{Attestation, PartialSum, Signed, Verified},
    registry::{CompressedKey, Registry},
};

/// Verifies messages. A clone is the same one.
#[derive(Clone)]
pub struct Checker {
    network: Contract,
    registry: Registry,
    batcher: Batcher,
}

/// What a check found.
#[derive(Clone, Debug)]
pub enum Checked {
    /// Every signature is true.
    True(Verified),
    /// A signature is false, or does not decode.
    False,
    /// Nobody looked: there is no room, or the source is banned. It says nothing about the message.
    NotChecked(Refused),
    /// A signer has no weight in the message's snapshot, or the snapshot is not known.
    NoKey,
}

impl Checker {
    /// A checker of a network's messages.
    pub fn new(network: Contract, registry: Registry, batcher: Batcher) -> Self {
        Self { network, registry, batcher }
    }

    /// Verifies a message. `signers` are the indices of a sum's signers (`Node::signers`), without which a sum is not verified;
    /// other messages have none. `source` names who sent it, for the batcher's bans; the node's own messages have none.
    ///
    /// It runs inside a runtime of tokio, and waits for the batcher. Cost here: microseconds. The keys of a sum's signers are
    /// added up beside, on one of the runtime's threads for work that blocks: an addition in G2 for each.
    pub async fn check(&self, message: Arc<Signed>, signers: Option<MemberSet>, source: Option<SourceId>) -> Checked {
        let claims: Result<Vec<_>, Checked> = match &*message {
            Signed::Sum(sum) => self.claim_of_sum(sum, signers, source).await.map(|claim| vec![claim]),
            _ => message.attestations().iter().map(|attestation| self.claim(attestation, source.clone())).collect(),
        };
        let claims = match claims {
            Ok(claims) => claims,
            Err(known) => return known,
        };
        let submit = |claim| self.batcher.submit(claim, Class::Gossip, None);
        let answers: Vec<Pending> = claims.into_iter().map(submit).collect();
        // Without a signature nothing is proven.
        let mut refused = answers.is_empty().then_some(Refused::Failed);
        for answer in answers {
            match answer.await {
                Ok(verdict) if verdict.is_valid() => {}
                Ok(_) => return Checked::False,
                Err(why) => refused = Some(why),
            }
        }
        refused.map_or_else(|| Checked::True(Verified::by_the_caller(message)), Checked::NotChecked)
    }

    /// The claim of an attestation: the key at the named index signed the candidate's digest.
    fn claim(&self, attestation: &Attestation, source: Option<SourceId>) -> Result<ClaimBytes, Checked> {
        let candidate = attestation.candidate();
        let key = self.registry.key(candidate.epoch, candidate.snapshot, attestation.index()).ok_or(Checked::NoKey)?;
        self.claim_of(candidate, &key, attestation.signature(), source)
    }

    /// The claim of a sum: the sum of its signers' keys signed the candidate's digest.
    async fn claim_of_sum(
        &self,
        sum: &PartialSum,
        signers: Option<MemberSet>,
        source: Option<SourceId>,
    ) -> Result<ClaimBytes, Checked> {
        let (candidate, registry) = (*sum.candidate(), self.registry.clone());
        let signers = signers.ok_or(Checked::NoKey)?;
        let key = spawn_blocking(move || registry.sum(candidate.epoch, candidate.snapshot, &signers)).await;
        // The runtime that ends takes no more work.
        let key = key.map_err(|_| Checked::NotChecked(Refused::Failed))?.ok_or(Checked::NoKey)?;
        self.claim_of(&candidate, &key, sum.signature(), source)
    }

    fn claim_of(
        &self,
        candidate: &Task,
        key: &CompressedKey,
        signature: &[u8],
        source: Option<SourceId>,
    ) -> Result<ClaimBytes, Checked> {
        // The sum takes both coordinates of the point, so both are checked here; the engine's encoding has one.
        let signature = bls12381::compress_signature(signature).map_err(|_| Checked::False)?;
        let digest = candidate.digest(self.network);
        let claim = ClaimBytes::single(bls12381::SUITE.any(), key, &digest, &signature);
        Ok(ClaimBytes { source, ..claim })
    }
}
