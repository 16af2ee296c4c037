//! Judges a window of claims: verifies them by the engine, and remembers what is to be remembered.

use quorate::{ClaimBytes, Reason, Verifier, Work};
use quorate_formats::{Origin, drand::OtherChains};
use quorate_host::exit::Failure;

use super::{
    arguments::{Arguments, EngineArguments},
    arrival::{About, Arrival, Fault, Judged, Judgement, Pending, arrive},
    light_client::LightClient,
    memory::Memory,
};
use crate::commands::random;

/// What judges a run: the engine with the known statements, and the file to remember in.
pub(in crate::commands) struct Judge {
    verifier: Verifier,
    memory: Memory,
    other_chains: OtherChains,
}

/// A window of claims that was judged.
#[derive(Default)]
pub(super) struct Judgements {
    /// One for each claim, in order.
    pub(super) judged: Vec<Judged>,
    /// The plans, as text; empty if no claim needed one.
    pub(super) plans: String,
    /// The operations that it took.
    pub(super) work: Work,
    /// Known statements that were subtracted.
    pub(super) subtracted: usize,
}

impl Judge {
    /// Reads the known statements, and opens the file to remember in.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let verifier = Verifier::new(arguments.engine.options());
        let memory = Memory::open(arguments, &verifier)?;
        Ok(Self { verifier, memory, other_chains: OtherChains::default() })
    }

    /// Knows no statements, and remembers none.
    pub(in crate::commands) fn without_memory(engine: &EngineArguments) -> Self {
        let verifier = Verifier::new(engine.options());
        Self { verifier, memory: Memory::none(), other_chains: OtherChains::default() }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How many statements are known.
    pub(super) fn known(&self) -> usize {
        self.verifier.known()
    }

    /// Judges the light-client updates of all documents together, and then refuses those whose committee rests on an update
    /// that is not valid.
    pub(super) fn light_client(&mut self, light_client: &LightClient) -> Result<JudgedUpdates, Failure> {
        let mut claims = Vec::new();
        let documents = light_client.updates().into_iter().map(|(file, entries)| {
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
        let mut judgements = self.judge(claims)?;
        let mut judged = std::mem::take(&mut judgements.judged);
        // The network is the cause only if nothing is valid on the one that was chosen.
        let found = if judged.iter().any(Judged::is_valid) { None } else { light_client.signed_for() };
        let cause = found.map(|found| name_network(&mut judged, &found, light_client.network()));
        refuse_what_rests_on_invalid_claims(&mut judged);
        let mut judged = judged.into_iter();
        let mut place = |arrival: Option<Arrival>| {
            arrival.unwrap_or_else(|| Arrival::Judged(judged.next().expect("a judgement for each claim")))
        };
        let placed = documents.into_iter().map(|document| document.into_iter().map(&mut place).collect()).collect();
        Ok(JudgedUpdates { documents: placed, judgements, cause })
    }

    /// A judgement for each claim, in order.
    pub(super) fn judge(&mut self, pending: Vec<Pending>) -> Result<Judgements, Failure> {
        // A claim whose format already refutes it is not verified, and so never remembered.
        let (mut claims, mut abouts): (Vec<ClaimBytes>, Vec<About>) = (Vec::new(), Vec::new());
        let mut slots = Vec::with_capacity(pending.len());
        for Pending { claim, about, .. } in pending {
            match about.checks.iter().find(|check| check.failed()).cloned() {
                Some(check) => slots.push(Some(Judged {
                    about,
                    suite: claim.suite,
                    source: claim.source,
                    judgement: Judgement::Invalid(Fault::Check(check)),
                })),
                None => {
                    claims.push(claim);
                    abouts.push(about);
                    slots.push(None);
                }
            }
        }
        if claims.is_empty() {
            return Ok(Judgements { judged: slots.into_iter().flatten().collect(), ..Judgements::default() });
        }
        let prepared = self.verifier.prepare(&claims);
        let plans = prepared.to_string();
        let outcome = prepared.decide(&mut random::generator()?);
        self.memory.remember(&claims, &outcome)?;
        let subtracted = outcome.subtracted.iter().sum();
        let judged = claims.into_iter().zip(abouts).zip(&outcome.verdicts).map(|((claim, about), verdict)| {
            let mut judgement = Judgement::from(*verdict);
            if let Judgement::Invalid(Fault::Reason(reason)) = judgement
                && let Some(chain) = self.other_chains.look(&claim, reason)
            {
                judgement = Judgement::Invalid(Fault::OtherChain(reason, chain));
            }
            Judged { about, suite: claim.suite, source: claim.source, judgement }
        });
        let mut judged = judged.collect::<Vec<_>>().into_iter();
        let judged =
            slots.into_iter().map(|slot| slot.unwrap_or_else(|| judged.next().expect("a verdict for each claim")));
        Ok(Judgements { judged: judged.collect(), plans, work: outcome.work, subtracted })
    }
}

/// The light-client updates of all documents, judged.
pub(super) struct JudgedUpdates {
    /// What becomes of each entry, by document.
    pub(super) documents: Vec<Vec<Arrival>>,
    pub(super) judgements: Judgements,
    /// The cause, if all updates are false for the same reason.
    pub(super) cause: Option<String>,
}

/// Says of every update whose signature does not match that it is signed for another network. Answers with what to do.
fn name_network(judged: &mut [Judged], found: &str, expected: &str) -> String {
    let mismatch = |judged: &Judged| matches!(judged.fault(), Some(Fault::Reason(Reason::Mismatch)));
    for judged in judged.iter_mut().filter(|judged| mismatch(judged)) {
        judged.judgement = Judgement::Invalid(Fault::OtherNetwork(found.to_owned()));
    }
    format!("the light-client updates are signed for {found}, and not as {expected} signs; give --network {found}")
}

/// An invalid claim vouches for nothing, nor does a claim that rests on it.
fn refuse_what_rests_on_invalid_claims(judged: &mut [Judged]) {
    let mut refused = true;
    while std::mem::take(&mut refused) {
        let invalid = judged.iter().filter(|judged| !judged.is_valid()).map(|judged| judged.about.origin.clone());
        let invalid: Vec<Origin> = invalid.collect();
        for judged in judged.iter_mut().filter(|judged| judged.is_valid()) {
            if let Some(origin) = judged.about.rests_on.as_ref().filter(|origin| invalid.contains(origin)) {
                judged.judgement = Judgement::Invalid(Fault::RestsOn(origin.clone()));
                refused = true;
            }
        }
    }
}
