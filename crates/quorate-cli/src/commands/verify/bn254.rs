//! Judging the claims of a window that are on BN254: each by its own pairings, on as many threads as there are.

use std::{collections::HashSet, num::NonZeroUsize};

use quorate::Work;
use quorate_bn254::{
    Bn254ParseError, Bn254PublicKey, Bn254Signature, Bn254Suite, MessagePoint, aggregate, aggregate_verify,
    verify as verify_one,
};

use super::{arrival::Pending, judge::in_stretches, memory::Memory, report::Report, suite::ClaimSuite};
use crate::{
    exit::Failure,
    input::{Messages, Record},
};

/// Judges the claims on BN254 that have no reason yet.
pub(super) fn judge(
    claims: &[Pending],
    reasons: &mut [Option<String>],
    threads: NonZeroUsize,
    memory: &Memory,
    report: &mut Report,
) -> Result<(), Failure> {
    let chosen = claims.iter().enumerate().filter(|(i, _)| reasons[*i].is_none());
    let chosen = chosen.filter_map(|(i, claim)| match claim.suite {
        ClaimSuite::Bn254(suite) => Some((i, suite, &claim.record)),
        ClaimSuite::Bls12381(_) => None,
    });
    let chosen: Vec<(usize, Bn254Suite, &Record)> = chosen.collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let size = chosen.len().div_ceil(threads.get());
    let answers =
        in_stretches(&chosen, size, |chosen| chosen.iter().map(|(_, suite, record)| verify(*suite, record)).collect());
    let (judged, mut work) = (chosen.len(), Work::default());
    for ((i, suite, record), answer) in chosen.into_iter().zip(answers) {
        if matches!(answer, Ok(()) | Err(Reason::Mismatch)) {
            work += cost(suite, record);
        }
        reasons[i] = answer.err().map(|reason| reason.to_string());
    }
    report.one_by_one(judged, &work, memory.keeps())?;
    report.work(work, 0);
    Ok(())
}

/// Why a claim is not valid.
#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error("{0}")]
    Parse(#[from] Bn254ParseError),
    #[error("{error} (key {} of {keys})", index + 1)]
    Key { index: usize, keys: usize, error: Bn254ParseError },
    #[error("the claim has no keys and messages")]
    NoStatements,
    #[error("two messages of the aggregate are equal, which a NUL suite forbids")]
    RepeatedMessage,
    #[error("the keys add up to the identity")]
    IdentityAggregateKey,
    #[error("the signature does not match the keys and messages")]
    Mismatch,
}

fn verify(suite: Bn254Suite, record: &Record) -> Result<(), Reason> {
    let of = record.public_keys.len();
    let keys = record.public_keys.iter().enumerate().map(|(index, key)| {
        suite.key(key).map_err(|error| if of == 1 { error.into() } else { Reason::Key { index, keys: of, error } })
    });
    let keys = keys.collect::<Result<Vec<Bn254PublicKey>, Reason>>()?;
    let signature = |keys: &[Bn254PublicKey]| {
        let signature = Bn254Signature::from_bytes(&record.signature)?;
        if keys.is_empty() { Err(Reason::NoStatements) } else { Ok(signature) }
    };
    let repeats = suite.allows_repeated_messages();
    let valid = match &record.messages {
        Messages::Shared(message) => {
            let signature = signature(&keys)?;
            let message = suite.hash(message)?;
            let key = aggregate(keys).ok_or(Reason::IdentityAggregateKey)?;
            if of > 1 && !repeats {
                return Err(Reason::RepeatedMessage);
            }
            verify_one(&key, &message, &signature)
        }
        Messages::Each(messages) => {
            let hashed =
                messages.iter().map(|message| suite.hash(message)).collect::<Result<Vec<MessagePoint>, _>>()?;
            let signature = signature(&keys)?;
            if !repeats && messages.iter().collect::<HashSet<_>>().len() < messages.len() {
                return Err(Reason::RepeatedMessage);
            }
            aggregate_verify(&keys.into_iter().zip(hashed).collect::<Vec<_>>(), &signature)
        }
    };
    if valid { Ok(()) } else { Err(Reason::Mismatch) }
}

/// The work of finding out.
fn cost(suite: Bn254Suite, record: &Record) -> Work {
    let mut work = Work::default();
    work.hashes = if let Messages::Each(messages) = &record.messages { messages.len() } else { 1 };
    let keys = suite.pairings_per_key() * record.public_keys.len();
    work.pairings = work.hashes + 1 + keys;
    work.final_exponentiations = 1 + if keys > 0 { record.public_keys.len() } else { 0 };
    work
}
