//! Judging the claims of a window that are on BN254: each by its own pairings, on as many threads as there are.

use std::num::NonZeroUsize;

use quorate::Work;
use quorate_evm::{Profile, Reason};
use quorate_formats::{Messages, Record};

use super::{arrival::Pending, judge::in_stretches, memory::Memory, report::Report, suite::ClaimSuite};
use crate::exit::Failure;

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
        ClaimSuite::Bn254(profile) => Some((i, profile, &claim.record)),
        ClaimSuite::Bls12381(_) => None,
    });
    let chosen: Vec<(usize, Profile, &Record)> = chosen.collect();
    if chosen.is_empty() {
        return Ok(());
    }
    let size = chosen.len().div_ceil(threads.get());
    let answers = in_stretches(&chosen, size, |chosen| {
        chosen.iter().map(|(_, profile, record)| verify(*profile, record)).collect()
    });
    let (judged, mut work) = (chosen.len(), Work::default());
    for ((i, profile, record), answer) in chosen.into_iter().zip(answers) {
        if matches!(answer, Ok(()) | Err(Reason::Mismatch)) {
            work += cost(profile, record);
        }
        reasons[i] = answer.err().map(|reason| reason.to_string());
    }
    report.one_by_one(judged, &work, memory.keeps())?;
    report.work(work, 0);
    Ok(())
}

fn verify(profile: Profile, record: &Record) -> Result<(), Reason> {
    let Record { public_keys, signature, .. } = record;
    match &record.messages {
        Messages::Shared(message) => profile.verify_shared(public_keys, message, signature),
        Messages::Each(messages) => {
            let statements = public_keys.iter().zip(messages).map(|(key, message)| (&key[..], &message[..]));
            profile.verify_each(&statements.collect::<Vec<_>>(), signature)
        }
    }
}

/// What it took to find out: two pairings more for each key in both groups.
fn cost(profile: Profile, record: &Record) -> Work {
    let mut work = Work::default();
    work.hashes = if let Messages::Each(messages) = &record.messages { messages.len() } else { 1 };
    let pairs = if profile == Profile::EigenLayer { record.public_keys.len() } else { 0 };
    work.pairings = work.hashes + 1 + 2 * pairs;
    work.final_exponentiations = 1 + pairs;
    work
}
