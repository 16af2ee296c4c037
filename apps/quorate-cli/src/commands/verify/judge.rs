//! Judges a window of claims: verifies them by the engine, and remembers what is to be remembered.

use std::{collections::HashMap, sync::Arc};

use quorate::{Verifier, Work};
use quorate_formats::{
    Malformed, Origin,
    judge::{self, Item, Window, WindowLimit},
};
use quorate_host::exit::Failure;

use super::{
    arguments::{Arguments, EngineArguments},
    arrival::{About, Arrival, Fault, Input, Judged, Waiting, arrive},
    light_client::LightClient,
    memory::Memory,
};
use crate::commands::random;

/// What judges a run: the engine with the known statements, and the file to remember in.
pub(in crate::commands) struct Judge {
    judge: judge::Judge,
    memory: Memory,
}

/// A window of claims that was judged.
#[derive(Default)]
pub(super) struct Judgements {
    /// One for each item, in order.
    pub(super) arrivals: Vec<Arrival>,
    /// The plans, as text; empty if no claim needed one.
    pub(super) plans: String,
    /// The operations that it took.
    pub(super) work: Work,
    /// Known statements that were subtracted.
    pub(super) subtracted: usize,
}

impl Judgements {
    /// Appends those of the next window. Answers with the arrivals, which are the caller's.
    fn count(&mut self, window: Self) -> Vec<Arrival> {
        let Self { arrivals, plans, work, subtracted } = window;
        self.plans.push_str(&plans);
        self.work += work;
        self.subtracted += subtracted;
        arrivals
    }
}

impl Judge {
    /// Reads the known statements, and opens the file to remember in.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let verifier = Verifier::new(arguments.engine.options());
        let memory = Memory::open(arguments, &verifier)?;
        Ok(Self { judge: judge::Judge::new(verifier).explaining(arguments.explain), memory })
    }

    /// Knows no statements, and remembers none.
    pub(in crate::commands) fn without_memory(engine: &EngineArguments) -> Self {
        Self { judge: judge::Judge::new(Verifier::new(engine.options())), memory: Memory::none() }
    }

    pub(super) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// How many statements are known.
    pub(super) fn known(&self) -> usize {
        self.judge.verifier().known()
    }

    /// Judges the light-client updates of all documents, window by window, and then takes back what it says of those whose committee
    /// rests on no update that is valid.
    pub(super) fn light_client(
        &mut self,
        light_client: &LightClient,
        limit: WindowLimit,
    ) -> Result<JudgedUpdates, Failure> {
        let (mut window, mut judgements) = (Window::new(limit), Judgements::default());
        let (mut arrivals, mut lengths) = (Vec::new(), Vec::new());
        for (input, entries) in light_client.updates() {
            let mut length = 0;
            for entry in entries {
                if window.is_full() {
                    arrivals.extend(judgements.count(self.judge(window.take())?));
                }
                window.push(arrive(input, entry, None).into_item());
                length += 1;
            }
            lengths.push(length);
        }
        if !window.is_empty() {
            arrivals.extend(judgements.count(self.judge(window.take())?));
        }
        let mut judged: Vec<&mut Judged> = arrivals.iter_mut().filter_map(Arrival::judged).collect();
        // The network is the cause only if nothing is valid on the one that was chosen.
        let found = if judged.iter().any(|judged| judged.is_valid()) { None } else { light_client.signed_for() };
        let cause = found.map(|found| name_network(&mut judged, &found, light_client.network()));
        if cause.is_none() {
            take_back_what_nothing_valid_proves(&mut arrivals);
        }
        let mut arrivals = arrivals.into_iter();
        let documents = lengths.into_iter().map(|length| arrivals.by_ref().take(length).collect()).collect();
        Ok(JudgedUpdates { documents, judgements, cause })
    }

    /// What becomes of each item, in order.
    pub(super) fn judge(&mut self, items: Vec<Item<Waiting>>) -> Result<Judgements, Failure> {
        let window = self.judge.judge(items, &mut random::generator()?);
        self.memory.remember(&window.claims, &window.outcome)?;
        let subtracted = window.outcome.subtracted.iter().sum();
        let arrivals = window.judged.into_iter().map(|judge::Judged { about, ruling, .. }| match (about, ruling) {
            (Waiting::Turn(arrival), _) => *arrival,
            (Waiting::Verdict(about), ruling) => {
                let ruling = ruling.expect("an item that waits for a verdict has a claim");
                let claim = &window.claims[ruling.place];
                let fault = ruling
                    .fault()
                    .map(|fault| fault.map(Fault::Signature))
                    .unwrap_or_else(|why| Some(Fault::Undecided(why)));
                Arrival::Judged(Box::new(Judged { about, suite: claim.suite, source: claim.source.clone(), fault }))
            }
        });
        Ok(Judgements { arrivals: arrivals.collect(), plans: window.plan, work: window.outcome.work, subtracted })
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
fn name_network(judged: &mut [&mut Judged], found: &str, expected: &str) -> String {
    for judged in judged.iter_mut().filter(|judged| judged.is_mismatch()) {
        judged.fault = Some(Fault::OtherNetwork(found.to_owned()));
    }
    format!("the light-client updates are signed for {found}, and not as {expected} signs; give --network {found}")
}

/// An invalid update vouches for nothing, nor does one whose committee rests on such updates alone. Who signs what rests on them is not
/// known, so it is not judged, whatever came of its signature and its checks. Cost: linear.
fn take_back_what_nothing_valid_proves(arrivals: &mut [Arrival]) {
    struct Committee {
        vouchers: Arc<Vec<Origin>>,
        /// The places of the claims that rest on it.
        resting: Vec<usize>,
    }
    let judged = |place: usize| if let Arrival::Judged(judged) = &arrivals[place] { Some(judged) } else { None };
    let is_valid = |place: &usize| judged(*place).is_some_and(|judged| judged.is_valid());
    let mut proven = Vec::new();
    // All claims of a committee share the list of the claims that vouch for it.
    let mut committees = HashMap::<*const Vec<Origin>, Committee>::new();
    for place in 0..arrivals.len() {
        match judged(place).map(|judged| &judged.about.rests_on) {
            None => {}
            Some(None) => proven.extend(Some(place).filter(is_valid)),
            Some(Some(vouchers)) => {
                let committee = committees.entry(Arc::as_ptr(vouchers));
                let new = || Committee { vouchers: vouchers.clone(), resting: Vec::new() };
                committee.or_insert_with(new).resting.push(place);
            }
        }
    }
    let mut vouched: HashMap<Origin, Vec<*const Vec<Origin>>> = HashMap::new();
    for (key, committee) in &committees {
        for origin in committee.vouchers.iter() {
            vouched.entry(origin.clone()).or_default().push(*key);
        }
    }
    while let Some(place) = proven.pop() {
        let keys = judged(place).and_then(|judged| vouched.remove(&judged.about.origin)).unwrap_or_default();
        for key in keys {
            let resting = committees.remove(&key).into_iter().flat_map(|committee| committee.resting);
            proven.extend(resting.filter(is_valid));
        }
    }
    for Committee { vouchers, resting } in committees.into_values() {
        for place in resting {
            let Arrival::Judged(judged) = &arrivals[place] else { continue };
            let About { id, origin, .. } = &judged.about;
            let malformed = Malformed::of_unproven_committee(origin.place, id.clone(), &vouchers);
            arrivals[place] = Arrival::Malformed { input: Input::of(origin), malformed };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;
    use quorate_formats::light_client::Document;
    use quorate_lab::vectors;
    use serde_json::Value;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// An update may rest on a false one of another window.
    #[test]
    fn windows_of_updates_are_judged_like_one() {
        let Some(folder) = vectors::path("07_eth_helios") else { return };
        let arguments = CommandLine::parse_from(["verify"]).arguments;
        let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        let mut updates: Value = serde_json::from_str(&read("updates.json")).unwrap();
        updates[0]["data"]["sync_aggregate"] = updates[1]["data"]["sync_aggregate"].clone();
        let documents = [
            ("bootstrap.json", read("bootstrap.json")),
            ("updates.json", updates.to_string()),
            ("finality.json", read("finality.json")),
        ];
        let documents = documents.into_iter().enumerate().map(|(index, (name, text))| {
            (Input::new(index, name), Document::read(text.as_bytes(), index, name).unwrap())
        });
        let (light_client, _) = LightClient::learn(&arguments, Vec::new(), documents.collect()).unwrap();
        let judged = |items| {
            let limit = WindowLimit { items, bytes: usize::MAX };
            let mut judge = Judge::without_memory(&arguments.engine);
            let judged = judge.light_client(&light_client, limit).unwrap();
            let fault = |mut arrival: Arrival| match &mut arrival {
                Arrival::Malformed { malformed, .. } => Some(malformed.reason.clone()),
                arrival => arrival.judged().unwrap().fault().map(ToString::to_string),
            };
            let documents = judged.documents.into_iter().map(|each| each.into_iter().map(fault).collect());
            documents.collect::<Vec<Vec<_>>>()
        };
        let at_once = judged(usize::MAX);
        let [none, updates, finality] = at_once.as_slice() else { panic!("{at_once:?}") };
        let rests = |fault: &Option<String>| {
            fault.as_ref().is_some_and(|fault| fault.contains("not known, because it rests on"))
        };
        assert!(none.is_empty() && updates[1..].iter().chain(finality).all(rests), "{at_once:?}");
        assert_eq!(updates[0].as_deref(), Some("the signature does not match the keys and messages"));
        for items in [1, 2] {
            assert_eq!(judged(items), at_once);
        }
    }
}
