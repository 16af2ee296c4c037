//! Judging a window: decode, subtract what is known, verify, remember.

use std::{collections::HashMap, num::NonZeroUsize, sync::Arc};

use quorate::{
    Claim, MinPk, MinSig, Options, ParseError, Plan, PublicKey, SourceId, Suite, UncheckedSignature, Verdict,
    verify::settle,
};
use quorate_formats::{Entry, Messages, Origin, Record};

use super::{
    arguments::Arguments,
    arrival::{Arrival, Judged, Pending, arrive},
    bn254,
    memory::{Chosen, Memory},
    report::Report,
};
use crate::{commands::random, exit::Failure};

/// What judges a run: options, known statements, keys decoded before.
pub(super) struct Judge {
    options: Options,
    memory: Memory,
    min_pk: Keys<MinPk>,
    min_sig: Keys<MinSig>,
}

impl Judge {
    pub(super) fn new(arguments: &Arguments, memory: Memory) -> Self {
        Self { options: arguments.options(), memory, min_pk: Keys::default(), min_sig: Keys::default() }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Judges the light-client updates of all documents together, and then lets fall those whose committee rests on an
    /// update that is not valid. What becomes of each entry, by document.
    pub(super) fn light_client(
        &mut self,
        updates: Vec<(Arc<str>, Vec<Entry>)>,
        report: &mut Report,
    ) -> Result<Vec<Vec<Arrival>>, Failure> {
        let mut claims = Vec::new();
        let documents = updates.into_iter().map(|(file, entries)| {
            let arrivals = entries.into_iter().map(|entry| match arrive(&file, entry, None) {
                Arrival::Claim(pending) => {
                    claims.push(*pending);
                    None
                }
                other => Some(other),
            });
            arrivals.collect::<Vec<_>>()
        });
        let documents: Vec<Vec<Option<Arrival>>> = documents.collect();
        let mut judged = self.judge(claims, report)?;
        let mut fell = true;
        while std::mem::take(&mut fell) {
            let invalid: Vec<Origin> = judged.iter().filter(|j| !j.is_valid()).map(|j| j.origin.clone()).collect();
            for judged in judged.iter_mut().filter(|j| j.is_valid()) {
                if let Some(origin) = judged.rests_on.as_ref().filter(|origin| invalid.contains(origin)) {
                    judged.reason = Some(format!("its committee rests on {origin}, which is invalid"));
                    fell = true;
                }
            }
        }
        let mut judged = judged.into_iter();
        let mut place = |arrival: Option<Arrival>| {
            arrival.unwrap_or_else(|| Arrival::Judged(judged.next().expect("a verdict for each claim")))
        };
        Ok(documents.into_iter().map(|document| document.into_iter().map(&mut place).collect()).collect())
    }

    /// A verdict for each claim, in order.
    pub(super) fn judge(&mut self, claims: Vec<Pending>, report: &mut Report) -> Result<Vec<Judged>, Failure> {
        let Self { options, memory, min_pk, min_sig } = self;
        let mut reasons: Vec<Option<String>> = claims
            .iter()
            .map(|c| c.record.failed_check().map(|check| format!("{}: {}", check.name, check.detail)))
            .collect();
        judge_variant(&claims, &mut reasons, options, memory, min_pk, report)?;
        judge_variant(&claims, &mut reasons, options, memory, min_sig, report)?;
        bn254::judge(&claims, &mut reasons, options.threads, memory, report)?;
        let judged = claims.into_iter().zip(reasons).map(|(Pending { file, record, suite }, reason)| Judged {
            id: record.id,
            suite,
            source: record.source,
            reason,
            origin: Origin { document: file.to_string(), place: record.place },
            checks: record.checks,
            rests_on: record.rests_on,
        });
        Ok(judged.collect())
    }
}

/// Judges the claims of one variant that have no reason yet.
fn judge_variant<S: Chosen>(
    claims: &[Pending],
    reasons: &mut [Option<String>],
    options: &Options,
    memory: &mut Memory,
    keys: &mut Keys<S>,
    report: &mut Report,
) -> Result<(), Failure> {
    let chosen = claims.iter().enumerate().filter(|(i, _)| reasons[*i].is_none());
    let chosen: Vec<(usize, S, &Record)> =
        chosen.filter_map(|(i, claim)| Some((i, S::chosen(claim.suite)?, &claim.record))).collect();
    if chosen.is_empty() {
        return Ok(());
    }
    keys.decode(chosen.iter().flat_map(|(_, _, record)| &record.public_keys), options);
    let keys = &*keys;
    let decoded = in_parallel(&chosen, options.threads, |chosen| {
        let bytes: Vec<_> = chosen.iter().map(|(_, _, record)| &record.signature[..]).collect();
        let signatures = UncheckedSignature::from_bytes_each(&bytes, options.backend).into_iter();
        let claims = chosen.iter().zip(signatures);
        claims.map(|((_, suite, record), signature)| keys.claim(*suite, record, signature)).collect()
    });
    let mut indices = Vec::with_capacity(chosen.len());
    let mut batch: Vec<Claim<S>> = Vec::with_capacity(chosen.len());
    let mut sources = HashMap::new();
    for ((i, ..), claim) in chosen.iter().zip(decoded) {
        match claim {
            Ok(claim) => {
                indices.push(*i);
                batch.push(match &claims[*i].record.source {
                    Some(source) => {
                        let next = sources.len() as u64;
                        claim.from_source(SourceId(*sources.entry(source).or_insert(next)))
                    }
                    None => claim,
                });
            }
            Err(reason) => reasons[*i] = Some(reason),
        }
    }

    let known = S::remembered(memory);
    let rest: Vec<_> = batch.iter().map(|claim| claim.without(&known.known)).collect();
    let subtracted = batch.iter().zip(&rest).map(|(claim, rest)| claim.len() - rest.len()).sum();
    let plan = Plan::new(&rest, options);
    report.plan(&plan, subtracted)?;
    let outcome = settle(&plan, &mut random::generator()?);
    report.work(outcome.work, subtracted);
    for ((i, verdict), (claim, rest)) in indices.iter().zip(&outcome.verdicts).zip(batch.iter().zip(&rest)) {
        match verdict {
            Verdict::Valid if rest.is_empty() && !claim.is_empty() => {}
            Verdict::Valid => known.append(claim),
            Verdict::Invalid(reason) => reasons[*i] = Some(reason.to_string()),
        }
    }
    memory.flush()
}

/// Keys decoded before: committees and gossip repeat them. Forgotten all at once when there are too many.
struct Keys<S: Suite>(HashMap<Vec<u8>, Result<PublicKey<S>, ParseError>>);

impl<S: Suite> Default for Keys<S> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<S: Suite> Keys<S> {
    /// About 16 MiB of keys.
    const MOST: usize = 1 << 16;

    fn decode<'a>(&mut self, keys: impl Iterator<Item = &'a Vec<u8>>, options: &Options) {
        if self.0.len() > Self::MOST {
            self.0.clear();
        }
        let mut new: Vec<&Vec<u8>> = keys.filter(|bytes| !self.0.contains_key(*bytes)).collect();
        new.sort_unstable();
        new.dedup();
        let decoded = in_parallel(&new, options.threads, |new| {
            let bytes: Vec<_> = new.iter().map(|bytes| &bytes[..]).collect();
            PublicKey::from_bytes_each(&bytes, options.backend)
        });
        self.0.extend(new.into_iter().cloned().zip(decoded));
    }

    fn claim(
        &self,
        suite: S,
        record: &Record,
        signature: Result<UncheckedSignature<S>, ParseError>,
    ) -> Result<Claim<S>, String> {
        let keys = record.public_keys.iter().enumerate().map(|(i, bytes)| {
            self.0[bytes].map_err(|error| match record.public_keys.len() {
                1 => error.to_string(),
                n => format!("{error} (key {} of {n})", i + 1),
            })
        });
        let keys = keys.collect::<Result<Vec<_>, _>>()?;
        let signature = signature.map_err(|error| error.to_string())?;
        Ok(match &record.messages {
            Messages::Shared(message) => Claim::shared(suite, keys, message.clone(), signature),
            Messages::Each(messages) => {
                let messages = messages.iter().map(|message| message.clone().into());
                Claim::each(suite, keys.into_iter().zip(messages).collect(), signature)
            }
        })
    }
}

/// `f` of the items cut into one stretch a thread: an answer for each item.
fn in_parallel<T: Sync, R: Send>(items: &[T], threads: NonZeroUsize, f: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    in_stretches(items, items.len().div_ceil(threads.get()).max(16), f)
}

/// The same, cut into stretches of `size`.
pub(super) fn in_stretches<T: Sync, R: Send>(items: &[T], size: usize, f: impl Fn(&[T]) -> Vec<R> + Sync) -> Vec<R> {
    let f = &f;
    std::thread::scope(|scope| {
        let mut stretches = items.chunks(size);
        let first = stretches.next().unwrap_or_default();
        let others = stretches.map(|items| scope.spawn(move || f(items)));
        let others: Vec<_> = others.collect();
        let mut made = f(first);
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        made
    })
}
