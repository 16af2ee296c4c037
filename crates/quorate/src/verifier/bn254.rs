//! Claims on BN254, each verified by its own pairings.

use std::{collections::HashSet, fmt, num::NonZeroUsize};

use quorate_bn254::{Bn254PublicKey, Bn254Signature, Bn254Suite, MessagePoint, aggregate, aggregate_verify};

use crate::{
    claim::SourceId,
    claim_bytes::{ClaimBytes, Item, Messages},
    culprit::Patience,
    parse::ParseError,
    threads::parallel_chunks,
    verdict::{Reason, Verdict, Work},
};

/// Claims on BN254 that decode.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    threads: NonZeroUsize,
    claims: Vec<Decoded>,
    work: Work,
}

/// A claim on BN254.
#[derive(Clone, Debug)]
struct Decoded {
    /// Its index in the caller's slice.
    index: usize,
    /// If all keys signed one message, there is one statement with the sum of the keys.
    statements: Vec<(Bn254PublicKey, MessagePoint)>,
    signature: Bn254Signature,
    work: Work,
}

impl Batch {
    /// Decodes the claims. Writes the verdict of each claim that does not decode or that breaks a rule of its suite.
    /// `None` if no other claim is left.
    pub(crate) fn prepare(
        items: &[Item<'_, Bn254Suite>],
        threads: NonZeroUsize,
        verdicts: &mut [Option<Verdict>],
    ) -> Option<Self> {
        let decoded = parallel_chunks(threads, items, 1, |items| items.iter().map(decode).collect());
        let mut batch = Self { threads, claims: Vec::new(), work: Work::default() };
        for (item, decoded) in items.iter().zip(decoded) {
            match decoded {
                Ok(claim) => {
                    batch.work += claim.work;
                    batch.claims.push(claim);
                }
                Err(reason) => verdicts[item.index] = Some(Verdict::Invalid(reason)),
            }
        }
        (!batch.claims.is_empty()).then_some(batch)
    }

    /// Verifies each claim, and writes its verdict to its index. Claims of a source that was given up before stay
    /// undecided.
    pub(crate) fn decide(
        &self,
        sources: &[Option<SourceId>],
        patience: &mut dyn Patience,
        verdicts: &mut [Option<Verdict>],
    ) -> Work {
        // One claim a thread at a time, since what is found false can end the patience with its source.
        for claims in self.claims.chunks(self.threads.get()) {
            let (wanted, given_up): (Vec<_>, Vec<_>) = claims
                .iter()
                .partition(|claim| sources[claim.index].as_ref().is_none_or(|source| patience.left(source) > 0));
            let decided =
                parallel_chunks(self.threads, &wanted, 1, |claims| claims.iter().map(|c| verify(c)).collect());
            for (claim, verdict) in wanted.iter().zip(decided) {
                verdicts[claim.index] = Some(verdict);
                if let Some(reason) = verdict.reason() {
                    patience.found(claim.index, sources[claim.index].as_ref(), reason);
                }
            }
            for claim in given_up {
                verdicts[claim.index] = Some(Verdict::Invalid(Reason::GivenUp));
            }
        }
        self.work
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Work { hashes, pairings, final_exponentiations, .. } = self.work;
        let claims =
            if self.claims.len() == 1 { "1 claim".to_owned() } else { format!("{} claims", self.claims.len()) };
        write!(f, "BN254: {claims}, one by one: hashes {hashes}, ")?;
        write!(f, "Miller loops {pairings}, final exponentiations {final_exponentiations}")
    }
}

/// Verifies a claim by its own pairings.
pub(crate) fn verify_alone(suite: Bn254Suite, claim: &ClaimBytes) -> Verdict {
    match decode(&Item { index: 0, suite, claim }) {
        Ok(claim) => verify(&claim),
        Err(reason) => Verdict::Invalid(reason),
    }
}

fn verify(claim: &Decoded) -> Verdict {
    if aggregate_verify(&claim.statements, &claim.signature) {
        Verdict::Valid
    } else {
        Verdict::Invalid(Reason::Mismatch)
    }
}

fn decode(item: &Item<'_, Bn254Suite>) -> Result<Decoded, Reason> {
    let Item { index, suite, claim } = *item;
    let of = claim.public_keys.len();
    let keys = claim.public_keys.iter().enumerate().map(|(index, bytes)| {
        suite.key(bytes).map_err(ParseError::from).map_err(|error| match of {
            1 => error.into(),
            keys => Reason::ParseKey { index, keys, error },
        })
    });
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let signature = Bn254Signature::from_bytes(&claim.signature).map_err(ParseError::from)?;
    let hash = |message: &[u8]| suite.hash(message).map_err(ParseError::from);
    let statements = match &claim.messages {
        Messages::ProofOfPossession => return Err(Reason::NoProofsOfPossession),
        Messages::Each(messages) if messages.len() != of => {
            return Err(Reason::UnequalCounts { keys: of, messages: messages.len() });
        }
        _ if keys.is_empty() => return Err(Reason::NoStatements),
        Messages::Shared(message) => {
            if of > 1 && !suite.allows_repeated_messages() {
                return Err(Reason::RepeatedMessage);
            }
            vec![(aggregate(keys).ok_or(Reason::IdentityAggregateKey)?, hash(message)?)]
        }
        Messages::Each(messages) => {
            let distinct: HashSet<_> = messages.iter().collect();
            if distinct.len() < of && !suite.allows_repeated_messages() {
                return Err(Reason::RepeatedMessage);
            }
            let statements = keys.into_iter().zip(messages).map(|(key, message)| Ok((key, hash(message)?)));
            statements.collect::<Result<_, Reason>>()?
        }
    };
    // Some suites check each key with pairings.
    let for_keys = of * suite.pairings_per_key();
    let work = Work {
        hashes: statements.len(),
        pairings: statements.len() + 1 + for_keys,
        final_exponentiations: 1 + if for_keys > 0 { of } else { 0 },
        ..Work::default()
    };
    Ok(Decoded { index, statements, signature, work })
}
