//! What a claim will cost, before anything of it is decoded. Who collects claims into batches closes a batch by it.
//!
//! ```
//! use quorate::{Backend, ClaimBytes, Forecast, MinPk, Suite};
//! let claim = ClaimBytes::single(MinPk::Eth2.any(), &[0; 48], b"attestation", &[0; 96]);
//! let forecast = Forecast::of(&claim, Backend::Portable);
//! // If another claim of the batch has the same message, this one needs no hash and no pairing of its own.
//! assert!(forecast.shared() < forecast.alone() / 3);
//! ```

use quorate_curve::{Backend, Pairing};

use super::cost::Costs;
use crate::{
    claim_bytes::{ClaimBytes, Messages},
    suite::{AnySuite, MinPk, Scheme, Suite},
};

/// What a claim adds to the work of a batch, in nanoseconds on the machine on which the plan's costs were measured.
///
/// The sum over a batch, with the message and the pairing of each distinct message counted once, is about what its plan
/// costs by the same table, or more: a plan can only find cheaper pairings than one for each message. Keys count as
/// decoded before, and only true claims are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// What the claim costs in any batch: its signature decoded, checked and weighed, its keys weighed.
    pub own: u64,
    /// Its messages hashed. A message that another claim of the batch has is hashed once for both.
    pub hash: u64,
    /// Its messages paired. Claims that share a message or a key share a pairing.
    pub pairing: u64,
}

impl Forecast {
    /// The forecast for a claim.
    pub fn of(claim: &ClaimBytes, backend: Backend) -> Self {
        match claim.suite {
            AnySuite::MinPk(suite) => Self::in_variant(suite, claim, backend),
            AnySuite::MinSig(suite) => Self::in_variant(suite, claim, backend),
            #[cfg(feature = "bn254")]
            AnySuite::Bn254(suite) => Self::in_variant(suite, claim, backend),
        }
    }

    fn in_variant<S: Suite>(suite: S, claim: &ClaimBytes, backend: Backend) -> Self {
        let costs = Costs::of::<S>(backend, Pairing::Ate);
        let keys = claim.statements() as u64;
        let coefficients =
            if suite.scheme() == Scheme::Bdn && matches!(claim.messages, Messages::Shared(_)) { keys } else { 0 };
        let (messages, weighted) = match &claim.messages {
            Messages::Each(messages) => (messages.len() as u64, keys),
            // Each key stands in front of the message, so that there are as many messages as keys.
            Messages::Shared(_) if suite.scheme() == Scheme::Augmented => (keys, keys),
            Messages::Shared(_) | Messages::ProofOfPossession => (1, 1),
        };
        let signature = costs.decode_signature + costs.subgroup_check_in_sum + costs.weighted_signature;
        Self {
            // A coefficient has twice the digits of a weight.
            own: signature + (weighted + 2 * coefficients) * costs.weighted_key + keys * ADDED_KEY,
            hash: messages * (costs.hash - costs.saved_by_sum) + claim.hashed_bytes() * MESSAGE_BYTE,
            pairing: messages * (costs.pairing + costs.saved_by_sum),
        }
    }

    /// What every batch costs, whatever is in it: the pair of its signatures, the squarings of its Miller loop, and a
    /// final exponentiation.
    pub fn of_batch(backend: Backend) -> u64 {
        let costs = Costs::of::<MinPk>(backend, Pairing::Ate);
        costs.product + costs.pairing + costs.final_exponentiation
    }

    /// The claim with messages and keys that no other claim of the batch has.
    pub fn alone(self) -> u64 {
        self.own + self.hash + self.pairing
    }

    /// The claim with a key that another claim of the batch has, and with messages of its own.
    pub fn with_shared_key(self) -> u64 {
        self.own + self.hash
    }

    /// The claim with messages that another claim of the batch has.
    pub fn shared(self) -> u64 {
        self.own
    }
}

/// A key that is looked up and added to a sum.
const ADDED_KEY: u64 = 400;
/// A byte of a message, which is hashed to the curve and for what is kept of it. Measured with the claim of one key, beside that of a
/// message of one byte, on an Intel Xeon with SHA instructions: 1.3 ns for 1 MiB, and 3.7 ns for 16 MiB, which its caches do not hold.
const MESSAGE_BYTE: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::{MinSig, Suite};

    fn claim(suite: AnySuite, keys: usize, messages: Messages) -> ClaimBytes {
        ClaimBytes { public_keys: vec![vec![0; 48]; keys].into(), messages, ..ClaimBytes::single(suite, &[], b"", &[]) }
    }

    /// A megabyte was planned as a byte, so that few claims filled many times the time that the plan gave them.
    #[test]
    fn long_messages_cost_more() {
        let long: std::sync::Arc<[u8]> = vec![0; 16 << 20].into();
        for suite in [MinPk::Eth2.any(), MinPk::Chia.any(), MinSig::Basic.any()] {
            let forecast = |messages| Forecast::of(&claim(suite, 1, messages), Backend::Portable);
            let short = forecast(Messages::Shared(b"m"[..].into()));
            for messages in [Messages::Shared(long.clone()), Messages::Each(vec![long.clone()])] {
                let long = forecast(messages);
                assert!(long.hash > short.hash + 10_000_000, "{long:?}");
                assert_eq!((long.own, long.pairing), (short.own, short.pairing));
            }
        }
        let augmented =
            |keys| Forecast::of(&claim(MinPk::Chia.any(), keys, Messages::Shared(long.clone())), Backend::Portable);
        assert_eq!(augmented(3).hash, 3 * augmented(1).hash);
    }

    /// More keys, more messages and nothing shared never cost less.
    #[test]
    fn more_costs_more() {
        for backend in [Backend::Portable, Backend::auto()] {
            for suite in [MinPk::Eth2.any(), MinSig::Basic.any()] {
                let one = Forecast::of(&claim(suite, 1, Messages::Shared(b"m"[..].into())), backend);
                let committee = Forecast::of(&claim(suite, 512, Messages::Shared(b"m"[..].into())), backend);
                let block = Forecast::of(&claim(suite, 512, Messages::Each(vec![b"m"[..].into(); 512])), backend);
                assert!(one.shared() < one.with_shared_key() && one.with_shared_key() < one.alone());
                assert!(one.alone() < committee.alone() && committee.alone() < block.alone());
                assert_eq!(one.hash, committee.hash);
                assert_eq!(block.pairing, 512 * one.pairing);
                assert!(Forecast::of_batch(backend) > one.pairing);
            }
            for suite in [MinPk::Chia.any(), MinSig::Augmented.any()] {
                let shared = |keys| Forecast::of(&claim(suite, keys, Messages::Shared(b"m"[..].into())), backend);
                let block = Forecast::of(&claim(suite, 512, Messages::Each(vec![b"m"[..].into(); 512])), backend);
                assert_eq!(shared(512), block);
                assert_eq!((block.hash, block.pairing), (512 * shared(1).hash, 512 * shared(1).pairing));
            }
            for [bdn, plain] in [[MinPk::Bdn.any(), MinPk::Eth2.any()], [MinSig::Bdn.any(), MinSig::Basic.any()]] {
                let own = |suite| Forecast::of(&claim(suite, 512, Messages::Shared(b"m"[..].into())), backend).own;
                assert!(own(bdn) > own(plain));
            }
        }
    }
}
