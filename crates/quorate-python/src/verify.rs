//! `verify`, `plan` and `verify_one`.
//!
//! ```text
//! Python's claims -> windows of claims (this thread) -> verified (a thread of its own, which knows nothing of Python) -> Verdicts
//! ```
//!
//! A window is 1,024 claims a thread or 16 MiB, whichever is reached first. While one is verified, the next one is read. The
//! thread that called listens for signals meanwhile, so that Ctrl-C ends the call when the window in progress is verified.

use std::{
    collections::BTreeMap,
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use pyo3::{prelude::*, types::PyDict};
use quorate::{AnySuite, ClaimBytes, Exhaustive, Messages, SourceId, Verifier};
use quorate_formats::judge::{self, Item, Judge, Judgements, WindowLimit};

use crate::{
    argument::{self, bytes, bytes_like, generator, list_of_bytes},
    errors::{UndecidedError, misused, no_thread, truth},
    fault::Fault,
    key_set::named_sets,
    known::Known,
    reader::{Reader, Row},
    texts::{VALUES_LIMIT, too_long},
    verdicts::{Tally, Verdicts},
};

/// Verifies every claim and says which are false.
#[pyfunction]
#[pyo3(signature = (claims, *, suite=None, threads=None, backend="auto", soundness=64, known=None, remember=false, explain=false, progress=None, key_sets=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn verify(
    py: Python<'_>,
    claims: &Bound<'_, PyAny>,
    suite: Option<&str>,
    threads: Option<&Bound<'_, PyAny>>,
    backend: &str,
    #[pyo3(from_py_with = argument::soundness_bits)] soundness: u32,
    known: Option<&Known>,
    remember: bool,
    explain: bool,
    progress: Option<&Bound<'_, PyAny>>,
    key_sets: Option<&Bound<'_, PyDict>>,
) -> PyResult<Verdicts> {
    let begun = Instant::now();
    let options = argument::options(threads, backend, soundness)?;
    if remember && known.is_none() {
        return Err(misused("remember=True adds to what is known: give known=quorate.Known()"));
    }
    let verifier = match known {
        Some(known) => known.verifier().with_options(options),
        None => Verifier::new(options),
    };
    generator()?;
    // Of a lazy table, the length alone can take as long as the table, so only who wants to know it pays for it.
    let total = progress.and_then(|_| claims.len().ok());
    let mut reader = Reader::open(claims, suite.map(argument::suite).transpose()?, named_sets(key_sets)?)?;
    let limit = WindowLimit::of(options.threads);
    let verifying = Verifying { judge: Judge::new(verifier).explaining(explain), remember };
    let mut found = Found::new(explain);
    let mut job: Option<Job> = None;
    loop {
        let window = reader.window(py, limit).inspect_err(|_| job.take().into_iter().for_each(|job| job.end(py)))?;
        if let Some(job) = job.take() {
            found.add(job.wait(py)?)?;
            if let Some(progress) = progress {
                progress.call1((found.entries, total.filter(|_| reader.has_length_of_input())))?;
            }
        }
        match window {
            Some(window) => job = Some(verifying.start(window)?),
            None => break,
        }
    }
    let (entries, names) = reader.into_names();
    found.tally.known = verifying.judge.verifier().known();
    found.tally.backend = options.backend.name().to_owned();
    found.tally.threads = options.threads.get();
    found.tally.seconds = begun.elapsed().as_secs_f64();
    let Found { mut valid, faults, tally, plans, .. } = found;
    valid.resize(entries, false);
    Ok(Verdicts::new(valid, faults, names, tally, plans.map(|plans| plans.join("\n"))))
}

/// How windows are verified.
struct Verifying {
    judge: Judge,
    remember: bool,
}

/// What became of a window.
struct Judged {
    judgements: Judgements<Row>,
    remembered: usize,
}

/// A window that is being verified.
struct Job(Receiver<Judged>);

impl Verifying {
    fn start(&self, window: Vec<Item<Row>>) -> PyResult<Job> {
        let (mut judge, remember) = (self.judge.clone(), self.remember);
        let (answer, receiver) = mpsc::sync_channel(1);
        let work = move || {
            // The first call asked for random numbers before anything was read.
            let Ok(mut rng) = generator() else { return };
            let known = judge.verifier().known();
            let judgements = if remember {
                judge.judge_by(window, |verifier, claims, explains| {
                    let plan = if explains { verifier.prepare(claims).to_string() } else { String::new() };
                    (plan, verifier.verify_and_remember(claims, &mut Exhaustive, &mut rng))
                })
            } else {
                judge.judge(window, &mut rng)
            };
            let remembered = if remember { judge.verifier().known().saturating_sub(known) } else { 0 };
            // Somebody waits for it, also when the call fails.
            let _ = answer.send(Judged { judgements, remembered });
        };
        thread::Builder::new().spawn(work).map_err(no_thread)?;
        Ok(Job(receiver))
    }
}

impl Job {
    /// Waits for the window, and listens for signals.
    fn wait(self, py: Python<'_>) -> PyResult<Judged> {
        let Self(mut receiver) = self;
        loop {
            let (answer, again) = py.detach(move || (receiver.recv_timeout(SIGNALS), receiver));
            receiver = again;
            if let Err(signal) = py.check_signals() {
                Self(receiver).end(py);
                return Err(signal);
            }
            match answer {
                Ok(judged) => return Ok(judged),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(UndecidedError::new_err("internal error: the verification stopped; please report it"));
                }
            }
        }
    }

    /// Waits for the window of a call that fails, so that nothing is remembered after the exception.
    fn end(self, py: Python<'_>) {
        py.detach(move || drop(self.0.recv()));
    }
}

/// What was found so far.
struct Found {
    /// By entry: whether something proved it.
    valid: Vec<bool>,
    faults: BTreeMap<usize, Fault>,
    tally: Tally,
    plans: Option<Vec<String>>,
    /// Entries that are settled.
    entries: usize,
    /// Bytes of the names of sources in the tally.
    sources: u64,
}

impl Found {
    fn new(explain: bool) -> Self {
        let plans = explain.then(Vec::new);
        Self { valid: Vec::new(), faults: BTreeMap::new(), tally: Tally::default(), plans, entries: 0, sources: 0 }
    }

    fn add(&mut self, judged: Judged) -> PyResult<()> {
        let Judged { judgements, remembered } = judged;
        let Judgements { judged, plan, outcome, claims, .. } = judgements;
        self.entries += judged.len();
        for judge::Judged { about: Row { place, fault }, ruling, .. } in judged {
            let Some(ruling) = ruling else {
                self.faults.extend(fault.map(|fault| (place, fault)));
                continue;
            };
            let claim = &claims[ruling.place];
            self.tally.suites.insert(claim.suite);
            match ruling.fault().map_err(|why| UndecidedError::new_err(format!("claim {place}: {why}")))? {
                None => {
                    if self.valid.len() <= place {
                        self.valid.resize(place + 1, false);
                    }
                    self.valid[place] = true;
                }
                Some(fault) => {
                    if let Some(source) = &claim.source {
                        self.blame(source)?;
                    }
                    self.faults.insert(place, Fault::Signature(fault));
                }
            }
        }
        self.tally.subtracted += outcome.subtracted.iter().sum::<usize>();
        self.tally.remembered += remembered;
        self.tally.work += outcome.work;
        if let Some(plans) = self.plans.as_mut().filter(|_| !plan.is_empty()) {
            plans.push(plan);
        }
        Ok(())
    }

    /// Counts a false claim of a source.
    fn blame(&mut self, source: &SourceId) -> PyResult<()> {
        if let Some(claims) = self.tally.false_by_source.get_mut(source) {
            *claims += 1;
            return Ok(());
        }
        if let SourceId::Name(name) = source {
            self.sources += name.len() as u64;
        }
        if self.sources > VALUES_LIMIT {
            return Err(too_long(self.entries, VALUES_LIMIT));
        }
        self.tally.false_by_source.insert(source.clone(), 1);
        Ok(())
    }
}

/// How long a signal waits at most.
const SIGNALS: Duration = Duration::from_millis(20);

/// What would be computed to verify claims: the plans of their windows. Nothing is verified.
#[pyclass(frozen, module = "quorate")]
pub(crate) struct Plan {
    text: String,
    /// Claims that are planned for, those that do not decode included.
    #[pyo3(get)]
    claims: usize,
    /// Entries that make no claim.
    #[pyo3(get)]
    malformed: usize,
}

#[pymethods]
impl Plan {
    /// The plans as text, as `quorate verify --explain` prints them.
    fn explain(&self) -> &str {
        &self.text
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("<quorate.Plan for {} claims>", self.claims)
    }
}

/// Plans how to verify claims, and verifies nothing.
#[pyfunction]
#[pyo3(signature = (claims, *, suite=None, threads=None, backend="auto", soundness=64, known=None, key_sets=None))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn plan(
    py: Python<'_>,
    claims: &Bound<'_, PyAny>,
    suite: Option<&str>,
    threads: Option<&Bound<'_, PyAny>>,
    backend: &str,
    #[pyo3(from_py_with = argument::soundness_bits)] soundness: u32,
    known: Option<&Known>,
    key_sets: Option<&Bound<'_, PyDict>>,
) -> PyResult<Plan> {
    let options = argument::options(threads, backend, soundness)?;
    let verifier = match known {
        Some(known) => known.verifier().with_options(options),
        None => Verifier::new(options),
    };
    let mut reader = Reader::open(claims, suite.map(argument::suite).transpose()?, named_sets(key_sets)?)?;
    let (mut plans, mut claims, mut malformed) = (Vec::new(), 0, 0);
    while let Some(window) = reader.window(py, WindowLimit::of(options.threads))? {
        malformed += window.iter().filter(|item| matches!(item.about.fault, Some(Fault::Malformed(_)))).count();
        let window: Vec<_> = window.into_iter().filter_map(|item| item.claim).collect();
        claims += window.len();
        let text = py.detach(|| verifier.prepare(&window).to_string());
        py.check_signals()?;
        if !text.is_empty() {
            plans.push(text);
        }
    }
    Ok(Plan { text: plans.join("\n"), claims, malformed })
}

/// Verifies one claim by its own pairings.
#[pyfunction]
pub(crate) fn verify_one(
    py: Python<'_>,
    public_keys: &Bound<'_, PyAny>,
    messages: &Bound<'_, PyAny>,
    signature: &Bound<'_, PyAny>,
    suite: &str,
) -> PyResult<bool> {
    let claim = ClaimBytes {
        suite: argument::suite(suite)?,
        public_keys: match bytes_like(public_keys)? {
            Some(key) => vec![key].into(),
            None => list_of_bytes("public_keys", public_keys)?.into(),
        },
        messages: match bytes_like(messages)? {
            Some(message) => Messages::Shared(message.into()),
            None => {
                let messages = list_of_bytes("messages", messages)?;
                Messages::Each(messages.into_iter().map(Into::into).collect())
            }
        },
        signature: bytes("signature", signature)?,
        source: None,
    };
    truth(py.detach(|| claim.verify()))
}

/// Whether a proof of possession is true: the owner of the key holds its secret.
#[pyfunction]
pub(crate) fn verify_possession(
    py: Python<'_>,
    public_key: &Bound<'_, PyAny>,
    proof: &Bound<'_, PyAny>,
    suite: &str,
) -> PyResult<bool> {
    let (key, proof) = (bytes("public_key", public_key)?, bytes("proof", proof)?);
    let claim = ClaimBytes::proof_of_possession(argument::suite(suite)?, &key, &proof);
    truth(py.detach(|| claim.verify()))
}

/// The names of all suites.
#[pyfunction]
pub(crate) fn suites() -> Vec<&'static str> {
    AnySuite::all().map(AnySuite::name).collect()
}

/// The names of the backends of this machine, the fastest first.
#[pyfunction]
pub(crate) fn backends() -> Vec<&'static str> {
    quorate::Backend::available().iter().map(|backend| backend.name()).collect()
}
