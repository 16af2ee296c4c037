//! What `quorate.history` calls: runs over shards. Reports travel as JSON, which Python reads.

use std::{
    io,
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use pyo3::prelude::*;
use quorate::{Options, Verifier};
use quorate_history::{
    Chain, DrandChain, Files, FilesError, FolderFiles,
    shards::{self, Manifest, RunTerms, ShardError},
};
use serde::Serialize;

use crate::{
    argument::{self, generator, whole},
    errors::{UndecidedError, misused, no_thread},
};

/// Cuts files into shards. Answers with their number.
#[pyfunction]
#[pyo3(signature = (paths, into, *, network=None, chain=None, suite=None, soundness=64, shard_mib=64, only_invalid=false))]
#[allow(clippy::too_many_arguments, reason = "they are Python's keywords")]
pub(crate) fn plan_shards(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    into: PathBuf,
    network: Option<PathBuf>,
    chain: Option<PathBuf>,
    suite: Option<&str>,
    #[pyo3(from_py_with = argument::soundness_bits)] soundness: u32,
    #[pyo3(from_py_with = argument::shard_mib)] shard_mib: u64,
    only_invalid: bool,
) -> PyResult<usize> {
    let (suite, soundness) = (suite.map(argument::suite).transpose()?, argument::soundness(soundness)?);
    let terms = RunTerms { suite, soundness, all_verdicts: !only_invalid };
    let shard_bytes = shard_mib.max(1).saturating_mul(1 << 20);
    interruptible(py, move |stop| {
        let files = Files::open(&paths, FolderFiles::ChainsAndClaims, network.as_deref(), chain.as_deref())
            .map_err(of_files)?;
        let manifest = shards::plan(&files, &into, terms, shard_bytes, |_| stop.check()).map_err(of_shards)?;
        Ok(manifest.shards.len())
    })
}

/// Whether a folder has a plan. The terms that are given must be those of the plan; without one, they must be terms that a plan can have.
#[pyfunction]
#[pyo3(signature = (folder, *, network=None, chain=None, suite=None, soundness=None, only_invalid=None))]
pub(crate) fn has_plan(
    py: Python<'_>,
    folder: PathBuf,
    network: Option<PathBuf>,
    chain: Option<PathBuf>,
    suite: Option<&str>,
    soundness: Option<&Bound<'_, PyAny>>,
    only_invalid: Option<bool>,
) -> PyResult<bool> {
    let suite = suite.map(argument::suite).transpose()?;
    let soundness = soundness.map(|bits| argument::soundness(whole("soundness", bits)?)).transpose()?;
    interruptible(py, move |_| {
        let network = network.as_deref().map(Chain::open).transpose().map_err(of_files)?;
        let drand = chain.as_deref().map(DrandChain::open).transpose().map_err(of_files)?;
        let Manifest { chain: of_eras, drand: of_rounds, terms, .. } = match Manifest::read(&folder) {
            Err(ShardError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            manifest => manifest.map_err(of_shards)?,
        };
        // A chain has the name under which it was given, and a name is not what is verified.
        let differing = [
            ("network", network.is_some_and(|given| Some(given.to_json()) != of_eras.map(|chain| chain.to_json()))),
            ("chain", drand.is_some_and(|given| Some(given.info) != of_rounds.map(|chain| chain.info))),
            ("suite", suite.is_some() && suite != terms.suite),
            ("soundness", soundness.is_some_and(|given| given != terms.soundness)),
            ("only_invalid", only_invalid.is_some_and(|given| given == terms.all_verdicts)),
        ];
        match differing.into_iter().find(|(_, differs)| *differs) {
            Some((name, _)) => Err(Fault::Usage(format!(
                "{name}: the plan in {} has another one, in its first line; leave it out to go on with this plan, or verify into \
                 another folder",
                Manifest::path(&folder).display()
            ))),
            None => Ok(true),
        }
    })
}

/// Verifies shards of one run. It keeps the keys that it decoded for the shards after them.
#[pyclass(frozen, module = "quorate.history")]
pub(crate) struct Runner {
    folder: PathBuf,
    manifest: Arc<Manifest>,
    verifier: Verifier,
}

#[pymethods]
impl Runner {
    #[new]
    #[pyo3(signature = (folder, *, threads=None, backend="auto"))]
    fn new(py: Python<'_>, folder: PathBuf, threads: Option<&Bound<'_, PyAny>>, backend: &str) -> PyResult<Self> {
        let options = argument::options(threads, backend, 64)?;
        let manifest = py.detach(|| Manifest::read(&folder)).map_err(|error| of_shards(error).into_py())?;
        let verifier = Verifier::new(Options { soundness: manifest.terms.soundness, ..options });
        Ok(Self { folder, manifest: Arc::new(manifest), verifier })
    }

    /// How many shards the run has.
    #[getter]
    fn shards(&self) -> usize {
        self.manifest.shards.len()
    }

    /// Verifies a shard if it has no result, and answers with the receipt.
    fn run_json(&self, py: Python<'_>, shard: &Bound<'_, PyAny>) -> PyResult<String> {
        let shard = whole("shard", shard)?;
        generator()?;
        let (folder, manifest, verifier) = (self.folder.clone(), self.manifest.clone(), self.verifier.clone());
        interruptible(py, move |stop| {
            let mut rng = generator().map_err(Fault::Python)?;
            let receipt = shards::run(&folder, &manifest, shard, &verifier, &mut rng, |_| stop.check());
            json(&receipt.map_err(of_shards)?)
        })
    }
}

/// How far a run is.
#[pyfunction]
pub(crate) fn shard_status(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    interruptible(py, move |_| {
        let manifest = Manifest::read(&folder).map_err(of_shards)?;
        json(&shards::status(&folder, &manifest).map_err(of_shards)?)
    })
}

/// Puts the results of all shards together.
#[pyfunction]
pub(crate) fn merge_shards(py: Python<'_>, folder: PathBuf) -> PyResult<String> {
    interruptible(py, move |_| {
        let manifest = Manifest::read(&folder).map_err(of_shards)?;
        json(&shards::merge(&folder, &manifest).map_err(of_shards)?)
    })
}

/// Set when the caller pressed Ctrl-C.
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn check(&self) -> ControlFlow<()> {
        if self.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Works on a thread of its own, without the interpreter's lock, while this one listens for signals.
fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Stop) -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (answer, mut receiver) = mpsc::sync_channel(1);
    let heard = Stop(stop.clone());
    let work = move || {
        // Nobody waits any more if the call was interrupted.
        let _ = answer.send(work(heard));
    };
    thread::Builder::new().spawn(work).map_err(no_thread)?;
    loop {
        let (result, again) = py.detach(move || (receiver.recv_timeout(SIGNALS), receiver));
        receiver = again;
        if let Err(signal) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            // What was begun is taken away before the exception leaves.
            py.detach(move || drop(receiver.recv()));
            return Err(signal);
        }
        match result {
            Ok(result) => return result.map_err(Fault::into_py),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(UndecidedError::new_err("internal error: the work stopped; please report it"));
            }
        }
    }
}

/// How long a signal waits at most.
const SIGNALS: Duration = Duration::from_millis(20);

/// Why a call fails, before it is an exception.
enum Fault {
    /// The operating system returned an error.
    System(String, io::ErrorKind),
    Undecided(String),
    Usage(String),
    Python(PyErr),
}

impl Fault {
    fn into_py(self) -> PyErr {
        match self {
            // PyO3 finds the class for the kind: `FileNotFoundError`, `PermissionError`.
            Self::System(text, kind) => io::Error::new(kind, text).into(),
            Self::Undecided(text) => UndecidedError::new_err(text),
            Self::Usage(text) => misused(text),
            Self::Python(error) => error,
        }
    }
}

fn of_files(error: FilesError) -> Fault {
    match error.system() {
        Some(system) => Fault::System(error.to_string(), system.kind()),
        None => Fault::Usage(error.to_string()),
    }
}

fn of_shards(error: ShardError) -> Fault {
    match &error {
        ShardError::Io { error: system, .. } => Fault::System(error.to_string(), system.kind()),
        ShardError::Undecided(_) => Fault::Undecided(error.to_string()),
        _ => Fault::Usage(error.to_string()),
    }
}

fn json(value: &impl Serialize) -> Result<String, Fault> {
    serde_json::to_string(value).map_err(|error| Fault::Undecided(error.to_string()))
}
