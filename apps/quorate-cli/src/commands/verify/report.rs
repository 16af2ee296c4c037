//! What a person and a program see: verdicts and a summary on standard output, everything else on standard error.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use quorate::{Plan, Suite, Work};
use quorate_formats::{
    CheckResult, Id, InputError, Malformed,
    light_client::{Lesson, Teaching},
};
use serde::Serialize;

use super::{Ended, arguments::Arguments, arrival::Judged, memory::Memory};
use crate::{
    commands::print::VerdictLine,
    exit::{Exit, Failure},
};

/// Counts, and the writers of both streams.
pub(super) struct Report {
    style: Style,
    out: BufWriter<StdoutLock<'static>>,
    progress: Option<ProgressBar>,
    begun: Instant,
    exit: Exit,
    entries: usize,
    valid: usize,
    invalid: usize,
    malformed: usize,
    listed: usize,
    subtracted: usize,
    work: Work,
    suites: BTreeSet<&'static str>,
    failures: Vec<FailedClaim>,
    false_by_source: BTreeMap<String, usize>,
    backend: String,
    threads: usize,
    /// Whether it was said that claims on BN254 are not remembered.
    told_forgetful: bool,
}

/// What was asked for.
struct Style {
    verdicts: bool,
    json: bool,
    explain: bool,
    quiet: bool,
}

impl Report {
    pub(super) fn new(arguments: &Arguments) -> Self {
        let style = Style {
            verdicts: arguments.verdicts,
            json: arguments.json,
            explain: arguments.explain,
            quiet: arguments.quiet,
        };
        Self {
            progress: (!style.quiet && io::stderr().is_terminal()).then(progress),
            style,
            out: BufWriter::new(io::stdout().lock()),
            begun: Instant::now(),
            exit: Exit::Success,
            entries: 0,
            valid: 0,
            invalid: 0,
            malformed: 0,
            listed: 0,
            subtracted: 0,
            work: Work::default(),
            suites: BTreeSet::new(),
            failures: Vec::new(),
            false_by_source: BTreeMap::new(),
            backend: arguments.backend.to_string(),
            threads: arguments.threads().get(),
            told_forgetful: false,
        }
    }

    /// A claim and its verdict.
    pub(super) fn claim(&mut self, judged: &Judged) -> Result<(), Failure> {
        let index = self.entries;
        self.entries += 1;
        self.suites.insert(judged.suite.name());
        match &judged.reason {
            None => self.valid += 1,
            Some(reason) => {
                self.invalid += 1;
                self.exit = self.exit.max(Exit::Invalid);
                if let Some(source) = &judged.source {
                    *self.false_by_source.entry(source.to_string()).or_default() += 1;
                }
                if self.failures.len() < FAILURES_KEPT {
                    self.failures.push(FailedClaim { index, id: judged.id.clone(), message: reason.clone() });
                }
            }
        }
        if self.style.explain && !judged.checks.is_empty() {
            self.say(&format!("{}", judged.origin))?;
            for check in &judged.checks {
                self.say(&format!("  {:<12} {}: {}", check.result.to_string(), check.name, check.detail))?;
            }
        }
        self.progress();
        if self.style.verdicts {
            let line = VerdictLine::new(index, judged.id.as_ref(), judged.reason.as_ref());
            written(serde_json::to_writer(&mut self.out, &line).map_err(io::Error::from))?;
            written(self.out.write_all(b"\n"))?;
        } else if !self.style.json && !self.style.quiet {
            written(self.list(index, judged))?;
        }
        Ok(())
    }

    /// An entry that makes no claim.
    pub(super) fn malformed(&mut self, file: &str, malformed: &Malformed) -> Result<(), Failure> {
        self.entries += 1;
        self.malformed += 1;
        self.exit = self.exit.max(Exit::Usage);
        self.say(&format!("{file}, {malformed}"))
    }

    /// A file that cannot be read on.
    pub(super) fn unreadable(&mut self, file: &str, error: InputError) -> Result<(), Failure> {
        self.exit = self.exit.max(Exit::from(&error));
        self.say(&format!("{file}: {error}"))
    }

    /// What a light-client document taught about a committee.
    pub(super) fn lesson(&mut self, lesson: &Lesson) -> Result<(), Failure> {
        let Lesson { origin, period, .. } = lesson;
        let refused = matches!(lesson.teaching, Teaching::Refused | Teaching::Conflict);
        if refused {
            self.exit = self.exit.max(Exit::Invalid);
            let why = lesson.checks.iter().find(|check| check.result == CheckResult::Failed);
            let why = why
                .map_or("it contradicts what is known".to_owned(), |check| format!("{}: {}", check.name, check.detail));
            self.say(&format!("{origin}: its committee of period {period} is not believed: {why}"))?;
        }
        if let Some(root) = lesson.block_root.filter(|_| !refused && !self.style.quiet) {
            let root = const_hex::encode_prefixed(root);
            self.say(&format!("{origin}: trusting the committee of period {period} by block root"))?;
            self.say(&format!("  {root}"))?;
        }
        if self.style.explain {
            for check in &lesson.checks {
                self.say(&format!("  {:<12} {}: {}", check.result.to_string(), check.name, check.detail))?;
            }
        }
        Ok(())
    }

    /// The plan of a window.
    pub(super) fn plan<S: Suite>(&mut self, plan: &Plan<S>, subtracted: usize) -> Result<(), Failure> {
        if self.style.explain {
            if subtracted > 0 {
                self.say(&format!("known: {subtracted} statements subtracted"))?;
            }
            self.say(&plan.to_string())?;
        }
        Ok(())
    }

    /// The claims of a window that are on BN254, for which there is no plan and no memory.
    pub(super) fn one_by_one(&mut self, claims: usize, work: &Work, keeps: bool) -> Result<(), Failure> {
        if self.style.explain {
            let Work { hashes, pairings, final_exponentiations, .. } = work;
            let text = format!("BN254: {claims} claims one by one: {hashes} hashes, {pairings} Miller loops, ");
            self.say(&format!("{text}{final_exponentiations} final exponentiations"))?;
        }
        if keeps && !self.style.quiet && !std::mem::replace(&mut self.told_forgetful, true) {
            self.say("claims on BN254 are not remembered")?;
        }
        Ok(())
    }

    /// What a window took.
    pub(super) fn work(&mut self, work: Work, subtracted: usize) {
        self.work += work;
        self.subtracted += subtracted;
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        written(self.out.flush())
    }

    /// The summary; the code to end with.
    pub(super) fn finish(mut self, ended: Ended, memory: &Memory) -> crate::exit::Result {
        if let Some(bar) = self.progress.take() {
            bar.finish_and_clear();
        }
        if ended == Ended::Interrupted {
            self.exit = self.exit.max(Exit::Interrupted);
        }
        let elapsed = self.begun.elapsed();
        if self.style.json {
            let summary = Summary {
                claims: self.valid + self.invalid,
                valid: self.valid,
                invalid: self.invalid,
                malformed: self.malformed,
                interrupted: ended == Ended::Interrupted,
                known: memory.known(),
                subtracted: self.subtracted,
                remembered: memory.remembered,
                failures: &self.failures,
                failures_omitted: self.invalid - self.failures.len(),
                false_by_source: &self.false_by_source,
                suites: &self.suites,
                backend: &self.backend,
                threads: self.threads,
                seconds: elapsed.as_secs_f64(),
                hashes: self.work.hashes,
                pairings: self.work.pairings,
                final_exponentiations: self.work.final_exponentiations,
                search_nodes: self.work.search_nodes,
            };
            written(serde_json::to_writer(&mut self.out, &summary).map_err(io::Error::from))?;
            written(self.out.write_all(b"\n"))?;
        } else if !self.style.verdicts && !self.style.quiet && self.listed >= LISTED && self.valid > LISTED {
            let more = format_args!("  … valid claims beyond the first {LISTED} are not listed");
            written(writeln!(self.out, "{more}; --verdicts lists all"))?;
        }
        self.flush()?;
        if !self.style.quiet {
            for (source, n) in &self.false_by_source {
                self.say(&format!("source {source}: {n} false"))?;
            }
            self.say(&self.summary(ended, elapsed, memory))?;
        }
        Ok(self.exit)
    }

    fn summary(&self, ended: Ended, elapsed: Duration, memory: &Memory) -> String {
        let claims = self.valid + self.invalid;
        let mut text = match (claims, self.malformed, ended) {
            (0, 0, Ended::AllRead) if self.exit == Exit::Success => return "no claims: the input is empty".to_owned(),
            (0, ..) => "no claims judged".to_owned(),
            (1, ..) => format!("1 claim: {}", if self.valid == 1 { "valid" } else { "invalid" }),
            _ => format!("{claims} claims: {} valid, {} invalid", self.valid, self.invalid),
        };
        if self.malformed > 0 {
            text += &format!(", {} malformed", self.malformed);
        }
        if self.subtracted > 0 {
            text += &format!(", {} statements known", self.subtracted);
        }
        if memory.remembered > 0 {
            text += &format!(", {} remembered", memory.remembered);
        }
        if ended == Ended::Interrupted {
            text += "; interrupted";
        }
        let seconds = elapsed.as_secs_f64();
        let time = if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") };
        let threads = if self.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", self.threads) };
        format!("{text} ({time}, {}, {threads})", self.backend)
    }

    /// A line for a person: every claim while they are few, then the invalid ones.
    fn list(&mut self, index: usize, judged: &Judged) -> io::Result<()> {
        if judged.is_valid() && self.listed >= LISTED {
            return Ok(());
        }
        self.listed += 1;
        let verdict = if judged.is_valid() { "valid" } else { "INVALID" };
        let name = judged.id.as_ref().map_or_else(|| judged.origin.place.to_string(), Id::plain);
        writeln!(self.out, "{index:>6}  {verdict:<7}  {name}")?;
        judged.reason.iter().try_for_each(|reason| writeln!(self.out, "{:17}{reason}", ""))
    }

    fn progress(&self) {
        if let Some(bar) = &self.progress {
            bar.set_position(self.entries as u64);
            if self.invalid > 0 {
                bar.set_message(format!("{} invalid", self.invalid));
            }
        }
    }

    /// A line on standard error.
    fn say(&self, line: &str) -> Result<(), Failure> {
        let write = || writeln!(io::stderr(), "{line}");
        // Nobody reads standard error any more: the verdicts on standard output still count.
        let _ = self.progress.as_ref().map_or_else(write, |bar| bar.suspend(write));
        Ok(())
    }
}

/// What became of a line on standard output.
fn written(result: io::Result<()>) -> Result<(), Failure> {
    result.context("cannot write to standard output").map_err(Failure::io)
}

/// Claims listed one by one for a person.
const LISTED: usize = 20;
/// False claims kept for the summary object; beyond it they are counted.
const FAILURES_KEPT: usize = 1000;

fn progress() -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {pos} claims, {per_sec}, {elapsed} {msg}");
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

#[derive(Serialize)]
struct FailedClaim {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<Id>,
    message: String,
}

#[derive(Serialize)]
struct Summary<'a> {
    claims: usize,
    valid: usize,
    invalid: usize,
    malformed: usize,
    interrupted: bool,
    known: usize,
    subtracted: usize,
    remembered: usize,
    failures: &'a [FailedClaim],
    failures_omitted: usize,
    false_by_source: &'a BTreeMap<String, usize>,
    suites: &'a BTreeSet<&'static str>,
    backend: &'a str,
    threads: usize,
    seconds: f64,
    hashes: usize,
    pairings: usize,
    final_exponentiations: usize,
    search_nodes: usize,
}
