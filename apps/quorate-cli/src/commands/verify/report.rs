//! What a person and a program see: verdicts and a summary on standard output, everything else on standard error.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufWriter, IsTerminal, StdoutLock, Write},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use quorate::{Reason, SourceId, Work};
use quorate_formats::{
    Check, Id, InputError, Malformed,
    light_client::{Lesson, Teaching},
};
use serde::Serialize;

use super::{
    arguments::Arguments,
    arrival::{Fault, Judged},
    interrupt::Ended,
    judge::{Judge, Judgements},
};
use crate::{
    commands::print::VerdictLine,
    exit::{Exit, Failure},
};

/// Counts what happened, and writes both streams.
pub(super) struct Report {
    style: Style,
    out: BufWriter<StdoutLock<'static>>,
    progress: Option<ProgressBar>,
    begun: Instant,
    exit: Exit,
    tally: Tally,
    /// Claims listed for a person.
    listed: usize,
}

/// What the user asked for.
struct Style {
    verdicts: bool,
    json: bool,
    explain: bool,
    quiet: bool,
    backend: String,
    threads: usize,
}

/// The counts of a run.
#[derive(Default)]
struct Tally {
    valid: usize,
    invalid: usize,
    malformed: usize,
    /// Light-client bootstraps, committees and next committees that were not believed.
    committees_refused: usize,
    subtracted: usize,
    work: Work,
    suites: BTreeSet<&'static str>,
    failures: Vec<FailedClaim>,
    false_by_source: BTreeMap<SourceId, usize>,
}

impl Tally {
    /// Claims that were judged.
    fn claims(&self) -> usize {
        self.valid + self.invalid
    }

    /// Claims, and entries that make none.
    fn entries(&self) -> usize {
        self.claims() + self.malformed
    }

    /// Counts a claim, which is the entry at `index`.
    fn count(&mut self, index: usize, judged: &Judged) {
        self.suites.insert(judged.suite.name());
        let Some(fault) = judged.fault() else {
            self.valid += 1;
            return;
        };
        self.invalid += 1;
        if let Some(source) = &judged.source {
            *self.false_by_source.entry(source.clone()).or_default() += 1;
        }
        if self.failures.len() < FAILURES_KEPT {
            self.failures.push(FailedClaim { index, id: judged.about.id.clone(), message: fault.to_string() });
        }
    }
}

impl Report {
    pub(super) fn new(arguments: &Arguments) -> Self {
        let style = Style {
            verdicts: arguments.verdicts,
            json: arguments.json,
            explain: arguments.explain,
            quiet: arguments.quiet,
            backend: arguments.backend.backend.to_string(),
            threads: arguments.threads().get(),
        };
        Self {
            progress: (!style.quiet && io::stderr().is_terminal()).then(progress),
            style,
            out: BufWriter::new(io::stdout().lock()),
            begun: Instant::now(),
            exit: Exit::Success,
            tally: Tally::default(),
            listed: 0,
        }
    }

    /// What a window of claims took, and its plans.
    pub(super) fn window(&mut self, judgements: &Judgements) {
        self.tally.work += judgements.work;
        self.tally.subtracted += judgements.subtracted;
        if self.style.explain && !judgements.plans.is_empty() {
            self.say(&judgements.plans);
        }
    }

    /// A claim and its judgement.
    pub(super) fn claim(&mut self, judged: &Judged) -> Result<(), Failure> {
        let index = self.tally.entries();
        self.tally.count(index, judged);
        self.exit = self.exit.max(match judged.fault() {
            None => Exit::Success,
            Some(Fault::Reason(Reason::Undecided)) => Exit::Internal,
            Some(_) => Exit::Invalid,
        });
        if self.style.explain && !judged.about.checks.is_empty() {
            self.say(&format!("{}", judged.about.origin));
            self.checks(&judged.about.checks);
            self.checks(&[judged.signature_check()]);
        }
        self.progress();
        if self.style.verdicts {
            let line = VerdictLine::new(index, judged.about.id.as_ref(), judged.fault().map(Fault::to_string));
            written(serde_json::to_writer(&mut self.out, &line).map_err(io::Error::from))?;
            written(self.out.write_all(b"\n"))?;
        } else if !self.style.json && !self.style.quiet {
            written(self.list(index, judged))?;
        }
        Ok(())
    }

    /// An entry that makes no claim.
    pub(super) fn malformed(&mut self, file: &str, malformed: &Malformed) {
        self.tally.malformed += 1;
        self.exit = self.exit.max(Exit::Usage);
        self.say(&format!("{file}, {malformed}"));
    }

    /// A file that cannot be read on.
    pub(super) fn unreadable(&mut self, file: &str, error: &InputError) {
        self.exit = self.exit.max(error.into());
        self.say(&format!("{file}: {error}"));
    }

    /// What a light-client document taught about a committee.
    pub(super) fn lesson(&mut self, lesson: &Lesson) {
        let Lesson { origin, period, .. } = lesson;
        let refused = matches!(lesson.teaching, Teaching::Refused | Teaching::Conflict);
        if refused {
            self.exit = self.exit.max(Exit::Invalid);
            self.tally.committees_refused += 1;
            let failed = lesson.checks.iter().find(|check| check.failed());
            let why = if failed.is_some() { "" } else { ": it contradicts what is known" };
            self.say(&format!("{origin}: its committee of period {period} is not believed{why}"));
            self.checks(failed.filter(|_| !self.style.explain).map(std::slice::from_ref).unwrap_or_default());
        }
        if let Some(root) = lesson.block_root.filter(|_| !refused && !self.style.quiet) {
            let root = const_hex::encode_prefixed(root);
            self.say(&format!("{origin}: trusting the committee of period {period} by block root"));
            self.say(&format!("  {root}"));
        }
        if self.style.explain {
            self.checks(&lesson.checks);
        }
    }

    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        written(self.out.flush())
    }

    /// The summary; the code to end with.
    pub(super) fn finish(mut self, ended: Ended, judge: &Judge) -> crate::exit::Result {
        if let Some(bar) = self.progress.take() {
            bar.finish_and_clear();
        }
        if ended == Ended::Interrupted {
            self.exit = self.exit.max(Exit::Interrupted);
        }
        let elapsed = self.begun.elapsed();
        let remembered = judge.memory().remembered;
        if self.style.json {
            let Self { tally, style, out, .. } = &mut self;
            let summary = Summary {
                claims: tally.claims(),
                valid: tally.valid,
                invalid: tally.invalid,
                malformed: tally.malformed,
                committees_refused: tally.committees_refused,
                interrupted: ended == Ended::Interrupted,
                known: judge.known(),
                subtracted: tally.subtracted,
                remembered,
                failures: &tally.failures,
                failures_omitted: tally.invalid - tally.failures.len(),
                false_by_source: tally.false_by_source.iter().map(|(source, n)| (source.to_string(), *n)).collect(),
                suites: &tally.suites,
                backend: &style.backend,
                threads: style.threads,
                seconds: elapsed.as_secs_f64(),
                hashes: tally.work.hashes,
                pairings: tally.work.pairings,
                final_exponentiations: tally.work.final_exponentiations,
                search_nodes: tally.work.search_nodes,
            };
            written(serde_json::to_writer(&mut *out, &summary).map_err(io::Error::from))?;
            written(out.write_all(b"\n"))?;
        } else if !self.style.verdicts && !self.style.quiet && self.listed >= LISTED && self.tally.valid > LISTED {
            let more = format_args!("  … valid claims beyond the first {LISTED} are not listed");
            written(writeln!(self.out, "{more}; --verdicts lists all"))?;
        }
        self.flush()?;
        if !self.style.quiet {
            for (source, n) in &self.tally.false_by_source {
                self.say(&format!("source {source}: {n} false"));
            }
            if judge.memory().forgot_bn254 {
                self.say("claims on BN254 are not remembered");
            }
            self.say(&self.summary(ended, elapsed, remembered));
        }
        Ok(self.exit)
    }

    fn summary(&self, ended: Ended, elapsed: Duration, remembered: usize) -> String {
        let Tally { valid, invalid, malformed, subtracted, .. } = self.tally;
        let claims = self.tally.claims();
        let mut text = match (claims, malformed, ended) {
            (0, 0, Ended::AllRead) if self.exit == Exit::Success => return "no claims: the input is empty".to_owned(),
            (0, ..) => "no claims judged".to_owned(),
            (1, ..) => format!("1 claim: {}", if valid == 1 { "valid" } else { "invalid" }),
            _ => format!("{claims} claims: {valid} valid, {invalid} invalid"),
        };
        if malformed > 0 {
            text += &format!(", {malformed} malformed");
        }
        if subtracted > 0 {
            text += &format!(", {subtracted} statements known");
        }
        if remembered > 0 {
            text += &format!(", {remembered} remembered");
        }
        if ended == Ended::Interrupted {
            text += "; interrupted";
        }
        let seconds = elapsed.as_secs_f64();
        let time = if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") };
        let Style { backend, threads, .. } = &self.style;
        let threads = if *threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        format!("{text} ({time}, {backend}, {threads})")
    }

    /// A line for a person: every claim while they are few, then the invalid ones.
    fn list(&mut self, index: usize, judged: &Judged) -> io::Result<()> {
        if judged.is_valid() && self.listed >= LISTED {
            return Ok(());
        }
        self.listed += 1;
        let verdict = if judged.is_valid() { "valid" } else { "INVALID" };
        let name = judged.about.id.as_ref().map_or_else(|| judged.about.origin.place.to_string(), Id::plain);
        writeln!(self.out, "{index:>6}  {verdict:<7}  {name}")?;
        judged.fault().iter().try_for_each(|fault| writeln!(self.out, "{:17}{fault}", ""))
    }

    fn progress(&self) {
        if let Some(bar) = &self.progress {
            bar.set_position(self.tally.entries() as u64);
            if self.tally.invalid > 0 {
                bar.set_message(format!("{} invalid", self.tally.invalid));
            }
        }
    }

    fn checks(&self, checks: &[Check]) {
        checks.iter().flat_map(Check::lines).for_each(|line| self.say(&line));
    }

    /// A line on standard error. If nobody reads it any more, the verdicts on standard output still count.
    fn say(&self, line: &str) {
        let write = || writeln!(io::stderr(), "{line}");
        let _ = self.progress.as_ref().map_or_else(write, |bar| bar.suspend(write));
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
    committees_refused: usize,
    interrupted: bool,
    known: usize,
    subtracted: usize,
    remembered: usize,
    failures: &'a [FailedClaim],
    failures_omitted: usize,
    false_by_source: BTreeMap<String, usize>,
    suites: &'a BTreeSet<&'static str>,
    backend: &'a str,
    threads: usize,
    seconds: f64,
    hashes: usize,
    pairings: usize,
    final_exponentiations: usize,
    search_nodes: usize,
}
