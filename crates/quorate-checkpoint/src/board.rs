//! A node's board: it takes what signers post, keeps what is verified within a bound, and serves it.

use quorate::{SourceId, rand_core::CryptoRng};

use crate::{
    checkpoint::Checkpoint,
    evidence::{Equivocation, EvidenceError},
    sets::{Rotation, RotationError, SetChain},
    signatures::{Flaw, Posting, SignedCheckpoint, unite},
    wire::{MOST_SERVED, Served},
};

/// What a node has heard about the checkpoints of one chain.
///
/// It holds the newest checkpoint that enough signers have signed, and higher ones that wait for signatures. The first one of a new
/// set takes the place of an older set's, whatever the heights: keys that were stolen before can have signed any height. Each signer's
/// signature stands under at most [`WAITING_PER_SIGNER`] waiting checkpoints, the highest that it signed, and a checkpoint
/// without signatures is dropped. So a board of n signers holds at most 2n + n signatures, and a signer who signs
/// everything displaces only its own.
#[derive(Clone, Debug)]
pub struct Board {
    chain_id: [u8; 32],
    slack: u64,
    chain: SetChain,
    complete: Option<SignedCheckpoint>,
    waiting: Vec<SignedCheckpoint>,
    evidence: Option<Equivocation>,
}

/// What became of a posting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Posted {
    /// How many distinct keys have signed the checkpoint now.
    pub signatures: usize,
    /// How many must.
    pub needed: usize,
    /// Signatures that are false. They were not kept.
    pub flaws: Vec<Flaw>,
}

/// Why a posting was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PostError {
    /// The checkpoint is of another chain.
    #[error("the checkpoint is of another chain than this board's; post it where that chain is served")]
    OtherChain,
    /// The checkpoint is not of the newest set.
    #[error("found set epoch {found}, expected {newest}, the newest; sign it with the newest set")]
    Epoch {
        /// The checkpoint's.
        found: u64,
        /// The newest set's.
        newest: u64,
    },
    /// It is too late to use it.
    #[error("the checkpoint expired at {expires_at} and it is {now}; sign a new one")]
    Expired {
        /// Unix seconds.
        expires_at: u64,
        /// Unix seconds.
        now: u64,
    },
    /// It comes from the future.
    #[error("the checkpoint was issued at {issued_at} and it is {now}; compare the clocks")]
    FromTheFuture {
        /// Unix seconds.
        issued_at: u64,
        /// Unix seconds.
        now: u64,
    },
    /// A newer checkpoint of the same set is there.
    #[error(
        "found height {found}, but there is a checkpoint at height {held} that enough signers have signed; sign a higher block"
    )]
    Lower {
        /// The posting's height.
        found: u64,
        /// The height of the one that is served.
        held: u64,
    },
    /// Not one of its signatures is true.
    #[error("not one of its signatures is true{}", flaws.first().map(|flaw| format!(": {flaw}")).unwrap_or_default())]
    NothingTrue {
        /// What is wrong with them.
        flaws: Vec<Flaw>,
    },
    /// Its signers have signed higher ones since.
    #[error("all its signers have signed two higher checkpoints, which are kept in its place")]
    Superseded,
}

impl Board {
    /// An empty board for a chain. It takes checkpoints that are issued at most `slack` seconds in the future.
    pub fn new(chain_id: [u8; 32], chain: SetChain, slack: u64) -> Self {
        Self { chain_id, slack, chain, complete: None, waiting: Vec::new(), evidence: None }
    }

    /// Takes in what a board served earlier, or another one serves: changes of the set, evidence, and every checkpoint as
    /// if it was posted. What is false, or too late, is left out.
    pub fn take_in(&mut self, served: &Served, source: &SourceId, now: u64, rng: &mut impl CryptoRng) {
        for rotation in &served.sets.rotations {
            // One that is known, or that does not fit, changes nothing.
            let _ = self.rotate(rotation.clone(), rng);
        }
        if let Some(evidence) = &served.evidence {
            let _ = self.accuse(evidence.clone(), rng);
        }
        for posting in &served.checkpoints {
            let _ = self.post(posting, source.clone(), now, rng);
        }
    }

    /// Takes signatures of a checkpoint. Each is verified before it is kept.
    ///
    /// # Errors
    /// [`PostError`]: nothing was kept.
    ///
    /// Cost: a pairing for each signature of the posting.
    pub fn post(
        &mut self,
        posting: &Posting,
        source: SourceId,
        now: u64,
        rng: &mut impl CryptoRng,
    ) -> Result<Posted, PostError> {
        self.admit(&posting.document, now)?;
        let newest = std::slice::from_ref(self.chain.newest());
        let (signed, flaws) = unite([(source, posting)], newest, rng);
        let Some(signed) = signed.into_iter().next() else { return Err(PostError::NothingTrue { flaws }) };
        let needed = signed.threshold();
        if let Some(complete) = &mut self.complete
            && complete.checkpoint() == signed.checkpoint()
        {
            complete.absorb(signed);
            return Ok(Posted { signatures: complete.count(), needed, flaws });
        }
        let checkpoint = signed.checkpoint().clone();
        match self.waiting.iter_mut().find(|other| *other.checkpoint() == checkpoint) {
            Some(other) => other.absorb(signed),
            None => self.waiting.push(signed),
        }
        let signatures = self.settle(&checkpoint).ok_or(PostError::Superseded)?;
        Ok(Posted { signatures, needed, flaws })
    }

    fn admit(&self, checkpoint: &Checkpoint, now: u64) -> Result<(), PostError> {
        let Checkpoint { chain_id, height, issued_at, expires_at, set_epoch, .. } = *checkpoint;
        let newest = self.chain.newest().epoch();
        if chain_id != self.chain_id {
            return Err(PostError::OtherChain);
        }
        if set_epoch != newest {
            return Err(PostError::Epoch { found: set_epoch, newest });
        }
        if now >= expires_at {
            return Err(PostError::Expired { expires_at, now });
        }
        if issued_at > now.saturating_add(self.slack) {
            return Err(PostError::FromTheFuture { issued_at, now });
        }
        match self.complete.as_ref().map(SignedCheckpoint::checkpoint) {
            // One of the same height is taken, because it may be evidence.
            Some(held) if held.set_epoch == newest && height < held.height => {
                Err(PostError::Lower { found: height, held: held.height })
            }
            _ => Ok(()),
        }
    }

    /// Puts a waiting checkpoint that has enough signatures in the place of the complete one, and keeps the bound. Gives the
    /// number of its signatures if it is still there.
    fn settle(&mut self, checkpoint: &Checkpoint) -> Option<usize> {
        let place = self.waiting.iter().position(|signed| signed.checkpoint() == checkpoint)?;
        let count = self.waiting[place].count();
        if self.waiting[place].is_complete() {
            let signed = self.waiting.remove(place);
            if let Some(evidence) = self.complete.as_ref().and_then(|held| Equivocation::between(held, &signed)) {
                self.evidence.get_or_insert(evidence);
            }
            let Checkpoint { set_epoch, height, .. } = *signed.checkpoint();
            let is_newer = |held: &Checkpoint| (held.set_epoch, held.height) < (set_epoch, height);
            if self.complete.as_ref().is_none_or(|held| is_newer(held.checkpoint())) {
                self.complete = Some(signed);
                self.waiting.retain(|waiting| waiting.checkpoint().height >= height);
            }
            return Some(count);
        }
        for index in self.waiting[place].signers().collect::<Vec<_>>() {
            let mut signed: Vec<_> = (0..self.waiting.len())
                .filter(|place| self.waiting[*place].signers().any(|signer| signer == index))
                .collect();
            signed.sort_by_key(|place| std::cmp::Reverse(self.waiting[*place].checkpoint().height));
            for place in signed.into_iter().skip(WAITING_PER_SIGNER) {
                self.waiting[place].remove(index);
            }
        }
        self.waiting.retain(|waiting| waiting.count() > 0);
        self.waiting.iter().find(|signed| signed.checkpoint() == checkpoint).map(SignedCheckpoint::count)
    }

    /// Goes over to the next set. Checkpoints of the old one that wait for signatures are dropped. A change that excludes
    /// one that was taken earlier is kept as evidence.
    ///
    /// # Errors
    /// [`RotationError`]: the change is not in order, and nothing has changed.
    pub fn rotate(&mut self, rotation: Rotation, rng: &mut impl CryptoRng) -> Result<(), RotationError> {
        if let Some(ours) = self.chain.rotations().iter().find(|ours| ours.from == rotation.from) {
            let both = Equivocation::Rotations(Box::new([ours.clone(), rotation.clone()]));
            if self.accuse(both, rng).is_ok() {
                let newest = self.chain.newest().id();
                return Err(RotationError::From { found: rotation.from, newest });
            }
        }
        self.chain.extend(rotation, rng)?;
        self.waiting.clear();
        Ok(())
    }

    /// Keeps evidence against signers, if it is true. The first evidence stays.
    ///
    /// # Errors
    /// [`EvidenceError`]: it proves nothing.
    pub fn accuse(&mut self, evidence: Equivocation, rng: &mut impl CryptoRng) -> Result<(), EvidenceError> {
        evidence.verify(&self.chain, rng)?;
        self.evidence.get_or_insert(evidence);
        Ok(())
    }

    /// The chain whose checkpoints it takes.
    pub fn chain_id(&self) -> [u8; 32] {
        self.chain_id
    }

    /// The newest checkpoint that enough signers have signed.
    pub fn complete(&self) -> Option<&SignedCheckpoint> {
        self.complete.as_ref()
    }

    /// Checkpoints that wait for signatures.
    pub fn waiting(&self) -> &[SignedCheckpoint] {
        &self.waiting
    }

    /// Evidence against signers, if there is any.
    pub fn evidence(&self) -> Option<&Equivocation> {
        self.evidence.as_ref()
    }

    /// The sets of signers.
    pub fn sets(&self) -> &SetChain {
        &self.chain
    }

    /// What `GET /v1/checkpoint` answers: the complete checkpoint, and the waiting ones with the most signatures, so that a
    /// few liars cannot displace what honest signers have signed.
    pub fn serve(&self) -> Served {
        let mut waiting: Vec<_> = self.waiting.iter().collect();
        waiting.sort_by_key(|signed| (std::cmp::Reverse(signed.count()), signed.checkpoint().clone()));
        let all = self.complete.iter().chain(waiting).take(MOST_SERVED);
        Served {
            sets: self.chain.to_sets(),
            checkpoints: all.map(SignedCheckpoint::to_posting).collect(),
            evidence: self.evidence.clone(),
        }
    }
}

/// A signer's signature stands under at most so many checkpoints that wait for others.
pub const WAITING_PER_SIGNER: usize = 2;
