//! Measuring engines in turn.

use std::time::{Duration, Instant};

use quorate::Backend;

use crate::row::{Figures, Row, Times};

/// How much time a measurement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Few sizes, few rounds.
    Quick,
    /// All sizes, many rounds.
    Full,
}

/// What a run measures.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) effort: Effort,
    /// The backends beside the rivals, each an engine.
    pub(crate) backends: Vec<Backend>,
}

impl Run {
    /// The first in a quick run, the second in a full one.
    pub(crate) fn choose<T>(&self, quick: T, full: T) -> T {
        match self.effort {
            Effort::Quick => quick,
            Effort::Full => full,
        }
    }

    /// Every backend with every number of threads.
    pub(crate) fn each(&self, threads: &[usize]) -> impl Iterator<Item = (Backend, usize)> {
        self.backends.iter().flat_map(move |backend| threads.iter().map(move |threads| (*backend, *threads)))
    }
}

/// What one round of an engine took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    pub(crate) wall: Duration,
    /// Of the process, all threads together; `None` where the system does not say.
    pub(crate) cpu: Option<Duration>,
}

impl Spent {
    /// What some work finds, and what it takes in this process.
    pub(crate) fn of<T>(work: impl FnOnce() -> T) -> (T, Self) {
        let (cpu_before, start) = (cpu_time(), Instant::now());
        let found = work();
        let (wall, cpu_after) = (start.elapsed(), cpu_time());
        let cpu = cpu_before.zip(cpu_after).map(|(before, after)| after.saturating_sub(before));
        (found, Self { wall, cpu })
    }
}

/// An engine with its work, which asserts its own answer and says what it took.
pub(crate) struct Engine<'a> {
    pub(crate) name: String,
    pub(crate) threads: usize,
    pub(crate) note: String,
    /// How many items it works on, if not as many as the others.
    pub(crate) items: Option<usize>,
    pub(crate) work: Box<dyn FnMut() -> Spent + 'a>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(name: impl Into<String>, threads: usize, mut work: impl FnMut() + 'a) -> Self {
        Self::told(name, threads, move || Spent::of(&mut work).1)
    }

    /// An engine that measures itself: only it knows which part of its work counts.
    pub(crate) fn told(name: impl Into<String>, threads: usize, work: impl FnMut() -> Spent + 'a) -> Self {
        Self { name: name.into(), threads, note: String::new(), items: None, work: Box::new(work) }
    }

    /// quorate on a backend.
    pub(crate) fn of(backend: Backend, threads: usize, work: impl FnMut() + 'a) -> Self {
        Self::new(Self::name_of(backend), threads, work)
    }

    /// The engine that a backend is: `quorate/ifma`.
    pub(crate) fn name_of(backend: Backend) -> String {
        format!("quorate/{backend}")
    }

    /// The same engine, whose work is on so many items.
    pub(crate) fn items(self, items: usize) -> Self {
        Self { items: Some(items), ..self }
    }

    pub(crate) fn note(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// The CPU time that the process has taken, on all its threads; `None` where the system does not say.
pub(crate) fn cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        let spent = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Some(Duration::new(spent.tv_sec.try_into().ok()?, spent.tv_nsec.try_into().ok()?))
    }
    #[cfg(not(unix))]
    None
}

/// A run that takes less is run once before it is timed. What the engine before left in the caches, and the clock of vector units that
/// rested, would be a good part of it: the first of several backends looked slower than the others by half in a sum of 512 keys.
const SHORT: Duration = Duration::from_millis(5);

/// Runs every engine once to warm up and then in turn, round by round. Times are divided by `items`, or by those of the engine. A turn of a
/// [short](SHORT) work begins with a run that is not counted.
pub(crate) fn measure(
    bench: &str,
    n: usize,
    per: &str,
    items: usize,
    rounds: usize,
    engines: Vec<Engine<'_>>,
) -> Vec<Row> {
    let mut engines = engines;
    let are_short: Vec<bool> = engines.iter_mut().map(|engine| (engine.work)().wall < SHORT).collect();
    let mut times = vec![(Vec::with_capacity(rounds), Vec::with_capacity(rounds)); engines.len()];
    for _ in 0..rounds {
        for ((engine, is_short), (wall, cpu)) in engines.iter_mut().zip(&are_short).zip(&mut times) {
            if *is_short {
                (engine.work)();
            }
            let spent = (engine.work)();
            let items = engine.items.unwrap_or(items);
            wall.push(spent.wall.as_secs_f64() * 1e6 / items as f64);
            cpu.extend(spent.cpu.map(|cpu| cpu.as_secs_f64() * 1e6 / items as f64));
        }
    }
    let rows = engines.into_iter().zip(times).map(|(engine, (wall, cpu))| Row {
        bench: bench.into(),
        engine: engine.name,
        threads: engine.threads,
        n,
        per: per.into(),
        figures: Figures::Us(Times::of(wall)),
        cpu_us: (!cpu.is_empty()).then(|| Times::of(cpu)),
        latency_ms: None,
        refused: None,
        traffic: None,
        note: engine.note,
    });
    rows.collect()
}
