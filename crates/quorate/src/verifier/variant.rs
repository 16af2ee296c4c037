//! The claims of one variant of BLS12-381: decoded, reduced by what is known, planned, decided.

use std::{collections::HashMap, fmt, sync::Arc};

use rand_core::CryptoRng;

use super::trust::TrustError;
use crate::{
    claim::Claim,
    claim_bytes::{ClaimBytes, Item, Messages},
    key::PublicKey,
    known::Known,
    naive,
    parse::ParseError,
    plan::{Options, Plan},
    signature::UncheckedSignature,
    suite::Suite,
    threads::parallel_chunks,
    verdict::{Reason, Verdict, Work},
    verify::decide,
};

/// What a verifier keeps for later claims of a variant.
#[derive(Clone, Debug)]
pub(super) struct Variant<S: Suite> {
    known: Known<S>,
    keys: Keys<S>,
}

/// Claims of a variant with their plan.
#[derive(Clone, Debug)]
pub(super) struct Batch<S: Suite> {
    plan: Plan<S>,
    /// Known statements that were subtracted.
    subtracted: usize,
}

impl<S: Suite> Variant<S> {
    /// How many statements are known.
    pub(super) fn known(&self) -> usize {
        self.known.len()
    }

    /// Takes the caller's word for a claim of one statement.
    pub(super) fn trust(&mut self, suite: S, claim: &ClaimBytes) -> Result<(), TrustError> {
        if claim.statements() != 1 {
            return Err(TrustError::Statements(claim.statements()));
        }
        let claim = decode_alone(suite, claim)?;
        let signature = UncheckedSignature::from_point(claim.signature().point()).check().map_err(Reason::from)?;
        self.known.remember(&claim, signature);
        Ok(())
    }

    /// Decodes the claims, subtracts known statements and plans the rest. Writes the verdict of each claim that does
    /// not decode. `None` if no claim decodes.
    pub(super) fn prepare(
        &mut self,
        items: &[Item<'_, S>],
        options: &Options,
        verdicts: &mut [Option<Verdict>],
        subtracted: &mut [usize],
    ) -> Option<Batch<S>> {
        self.keys.decode(items.iter().flat_map(|item| &item.claim.public_keys), options);
        let keys = &self.keys;
        let decoded = parallel_chunks(options.threads, items, LEAST, |items| {
            let bytes: Vec<_> = items.iter().map(|item| &item.claim.signature[..]).collect();
            let signatures = UncheckedSignature::from_bytes_each(&bytes, options.backend);
            let claims = items.iter().zip(signatures).map(|(Item { suite, claim, .. }, signature)| {
                decode(*suite, claim, |bytes| keys.get(bytes), signature)
            });
            claims.collect()
        });
        let (mut indices, mut rest, mut known) = (Vec::new(), Vec::new(), 0);
        for (item, claim) in items.iter().zip(decoded) {
            match claim {
                Ok(claim) => {
                    let reduced = claim.without(&self.known, options.backend);
                    subtracted[item.index] = claim.len() - reduced.len();
                    known += subtracted[item.index];
                    indices.push(item.index);
                    rest.push(reduced);
                }
                Err(reason) => verdicts[item.index] = Some(Verdict::Invalid(reason)),
            }
        }
        let plan = Plan::numbered(&rest, |i| indices[i], options);
        (!rest.is_empty()).then_some(Batch { plan, subtracted: known })
    }
}

impl<S: Suite> Default for Variant<S> {
    fn default() -> Self {
        Self { known: Known::new(), keys: Keys(HashMap::new()) }
    }
}

impl<S: Suite> Batch<S> {
    /// Executes the plan, and writes the verdict of each claim to its index.
    pub(super) fn decide(&self, rng: &mut impl CryptoRng, verdicts: &mut [Option<Verdict>]) -> Work {
        decide(&self.plan, rng, verdicts)
    }
}

impl<S: Suite> fmt::Display for Batch<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subtracted {
            0 => {}
            1 => writeln!(f, "known: 1 statement subtracted")?,
            n => writeln!(f, "known: {n} statements subtracted")?,
        }
        self.plan.fmt(f)
    }
}

/// Verifies a claim by its own pairings.
pub(super) fn verify_alone<S: Suite>(suite: S, claim: &ClaimBytes) -> Verdict {
    match decode_alone(suite, claim) {
        Ok(claim) => naive::verify(&claim),
        Err(reason) => Verdict::Invalid(reason),
    }
}

fn decode_alone<S: Suite>(suite: S, claim: &ClaimBytes) -> Result<Claim<S>, Reason> {
    decode(suite, claim, PublicKey::from_bytes, UncheckedSignature::from_bytes(&claim.signature))
}

/// Decodes a claim. `key` decodes each of its keys.
fn decode<S: Suite>(
    suite: S,
    claim: &ClaimBytes,
    key: impl Fn(&[u8]) -> Result<PublicKey<S>, ParseError>,
    signature: Result<UncheckedSignature<S>, ParseError>,
) -> Result<Claim<S>, Reason> {
    let of = claim.public_keys.len();
    let keys = claim.public_keys.iter().enumerate().map(|(index, bytes)| {
        key(bytes).map_err(|error| match of {
            1 => error.into(),
            keys => Reason::ParseKey { index, keys, error },
        })
    });
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    let signature = signature?;
    let decoded = match &claim.messages {
        Messages::Shared(message) => Claim::shared(suite, keys, message.clone(), signature),
        Messages::Each(messages) if messages.len() != of => {
            return Err(Reason::UnequalCounts { keys: of, messages: messages.len() });
        }
        Messages::Each(messages) => {
            let statements = keys.into_iter().zip(messages.iter().cloned());
            Claim::each(suite, statements.collect(), signature)
        }
        Messages::ProofOfPossession => match keys[..] {
            [key] => Claim::proof_of_possession(suite, key, signature).ok_or(Reason::NoProofsOfPossession)?,
            _ => return Err(Reason::UnequalCounts { keys: of, messages: 1 }),
        },
    };
    Ok(match &claim.source {
        Some(source) => decoded.from_source(source.clone()),
        None => decoded,
    })
}

/// Keys that were decoded before, since committees and gossip repeat them. If there are too many, all are forgotten.
#[derive(Clone, Debug)]
struct Keys<S: Suite>(HashMap<Arc<[u8]>, Result<PublicKey<S>, ParseError>>);

impl<S: Suite> Keys<S> {
    fn decode<'a>(&mut self, keys: impl Iterator<Item = &'a Vec<u8>>, options: &Options) {
        if self.0.len() > MOST_KEYS {
            self.0.clear();
        }
        let mut new: Vec<&[u8]> = keys.map(|bytes| &bytes[..]).filter(|bytes| !self.0.contains_key(*bytes)).collect();
        new.sort_unstable();
        new.dedup();
        let decoded =
            parallel_chunks(options.threads, &new, LEAST, |new| PublicKey::from_bytes_each(new, options.backend));
        self.0.extend(new.into_iter().map(Arc::from).zip(decoded));
    }

    /// The key, which [`decode`](Self::decode) has usually decoded before.
    fn get(&self, bytes: &[u8]) -> Result<PublicKey<S>, ParseError> {
        self.0.get(bytes).copied().unwrap_or_else(|| PublicKey::from_bytes(bytes))
    }
}

/// The fewest encodings for which another thread pays off.
const LEAST: usize = 16;

/// The most keys that stay from one batch to the next, about 16 MiB.
const MOST_KEYS: usize = 1 << 16;
