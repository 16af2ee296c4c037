//! What a person and a program see: verdicts and a summary on standard output, everything else on standard error.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io::{self, IsTerminal, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use indicatif::{HumanCount, ProgressBar, ProgressFinish, ProgressState, ProgressStyle};
use quorate::{AnySuite, SourceId, Work};
use quorate_formats::{
    At, ChainVerdictLine, Check, CheckResult, EntryFault, Id, Malformed, Origin, Place, SignatureName, VerdictLine,
    light_client::{Lesson, TRUSTED_ROOT, Teaching},
};
use quorate_history::{ClaimKind, drand::RoundRange};
use quorate_host::{
    exit::{Exit, Failure, OUTPUT_FAILED, output},
    plain,
};
use serde::Serialize;

use super::{
    arguments::{Arguments, EngineArguments},
    arrival::{Arrival, Fault, Input, Judged},
    interrupt::Ended,
    judge::{Judge, Judgements},
};
use crate::commands::{
    complaints::Complaints,
    print::{self, note, plural},
    unlock::name_of,
    value::exported,
};

/// Counts what happened, and writes both streams.
pub(in crate::commands) struct Report {
    style: Style,
    /// Lines for standard output, which are written together. Before that the progress line is taken away, because both streams may
    /// be one terminal.
    out: Vec<u8>,
    progress: Option<ProgressBar>,
    begun: Instant,
    exit: Exit,
    tally: Tally,
    complaints: Complaints,
    /// Claims listed for a person.
    listed: usize,
    /// Valid claims that are not listed, because so many are.
    not_listed: usize,
    /// The names of inputs that must have a claim, and of which nothing was heard yet, by their places among the inputs.
    silent: BTreeMap<usize, Arc<str>>,
    /// Inputs that say which keys verify claims, and need no claim of their own if another input has one.
    naming_keys: BTreeSet<usize>,
    /// The suite that was given for claims that name none.
    suite: Option<&'static str>,
    /// Whether key sets were given.
    has_key_sets: bool,
    /// Why all light-client objects are refused or false, if one reason is behind it.
    cause: Option<String>,
}

/// The value of `--suite`, if claims may need it, and the claims alone.
fn suite_for_claims(arguments: &Arguments) -> Option<&'static str> {
    // A variable of the environment is for all runs. The files of the memory and lists of keys may need the suite as well.
    let needs_it = arguments.known.is_some() || arguments.remember.is_some() || !arguments.key_set.is_empty();
    let suite = arguments.suite.filter(|_| exported("QUORATE_SUITE").is_none() && !needs_it);
    suite.map(AnySuite::name)
}

/// What the user asked for.
pub(in crate::commands) struct Style {
    pub(in crate::commands) verdicts: bool,
    pub(in crate::commands) json: bool,
    pub(in crate::commands) explain: bool,
    pub(in crate::commands) quiet: bool,
    /// Whether there are several inputs, so that a line number alone names no place.
    pub(in crate::commands) several: bool,
    /// How many blocks of a chain there are, if the claims are those of blocks.
    pub(in crate::commands) blocks: Option<usize>,
    /// The engine's backend and threads.
    pub(in crate::commands) engine: EngineArguments,
}

impl Style {
    /// The place of a claim for a program, which needs it if there are several inputs.
    fn at(&self, origin: &Origin) -> Option<At> {
        self.several.then(|| At::new(Some(origin.document.clone()), Some(origin.place)))
    }

    /// The place of an error for a program.
    fn error_at(&self, file: &str, place: Option<Place>) -> At {
        At::new(self.several.then(|| file.to_owned()), place)
    }
}

/// The counts of a run.
#[derive(Default)]
struct Tally {
    valid: usize,
    invalid: usize,
    /// False signatures that their chain may hold.
    legal: usize,
    /// Claims of a chain by their kind, and the invalid ones of them.
    kinds: BTreeMap<&'static str, KindTally>,
    malformed: usize,
    /// Signatures of a chain of which their blocks do not say what they sign.
    unverified: usize,
    /// The first and the last round of drand.
    rounds: Option<(u64, u64)>,
    /// What is not verified although the inputs have it.
    left_out: Vec<String>,
    /// Light-client bootstraps, committees and next committees that were not believed.
    committees_refused: usize,
    /// Updates whose committee is not known, in a run in which one was not believed.
    without_committee: usize,
    /// Validators that occurred again among deposits, changes or exits.
    repeated: usize,
    subtracted: usize,
    work: Work,
    suites: BTreeSet<&'static str>,
    /// Whether a claim named no suite.
    by_default: bool,
    /// Whether a claim named members of a key set.
    of_key_set: bool,
    failures: Vec<FailedClaim>,
    errors: Vec<InputFault>,
    errors_omitted: usize,
    /// Committees that light-client documents state.
    committees: usize,
    /// Valid claims and believed bootstraps that leave something out, so that nothing proves it.
    unproved: usize,
    /// What is not proved of the first of them, and which it is.
    first_unproved: Option<String>,
    false_by_source: BTreeMap<SourceId, usize>,
    /// False claims of sources beyond those.
    false_of_other_sources: usize,
}

impl Tally {
    /// Claims that were judged.
    fn claims(&self) -> usize {
        self.valid + self.invalid + self.legal
    }

    /// Blocks of a chain whose first signature was judged.
    fn blocks(&self) -> usize {
        self.kinds.get(ClaimKind::Proposer.name()).map_or(0, |kind| kind.claims)
    }

    /// Claims, and entries that make none.
    fn entries(&self) -> usize {
        self.claims() + self.malformed
    }

    /// Counts a claim, which is the entry at `index`.
    fn count(&mut self, index: usize, at: Option<At>, judged: &Judged) {
        self.suites.insert(judged.suite.name());
        self.by_default |= judged.about.by_default;
        self.of_key_set |= judged.about.of_key_set;
        let kind = judged.about.of_block.map(|(kind, _)| self.kinds.entry(kind.name()).or_default());
        let Some(fault) = judged.fault() else {
            self.valid += 1;
            kind.into_iter().for_each(|kind| kind.claims += 1);
            self.unproved(&judged.about.origin, &judged.about.checks);
            return;
        };
        if let Some(kind) = kind {
            kind.claims += 1;
            kind.invalid += usize::from(!judged.is_legal_lie());
            kind.legal += usize::from(judged.is_legal_lie());
        }
        if judged.is_legal_lie() {
            self.legal += 1;
            return;
        }
        self.invalid += 1;
        if let Some(source) = &judged.source {
            if self.false_by_source.len() < SOURCES_KEPT || self.false_by_source.contains_key(source) {
                *self.false_by_source.entry(source.clone()).or_default() += 1;
            } else {
                self.false_of_other_sources += 1;
            }
        }
        if self.failures.len() < FAILURES_KEPT {
            let name = match judged.about.of_block {
                Some((kind, index)) => ClaimName::OfBlock(SignatureName::new(kind.name(), index)),
                None => ClaimName::OfInput { index, id: judged.about.id.clone() },
            };
            self.failures.push(FailedClaim { name, at, message: fault.to_string() });
        }
    }

    /// Counts an object that is believed, if it leaves something out of which nothing is proved then.
    fn unproved(&mut self, origin: &Origin, checks: &[Check]) {
        if let Some(check) = checks.iter().find(|check| check.result == CheckResult::Unproved) {
            self.unproved += 1;
            self.first_unproved.get_or_insert_with(|| format!("{origin}: warning: {}", check.detail));
        }
    }

    /// Keeps an error of an input for the summary object.
    fn error(&mut self, index: Option<usize>, at: At, message: String) {
        if self.errors.len() < FAILURES_KEPT {
            self.errors.push(InputFault { index, at, message });
        } else {
            self.errors_omitted += 1;
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
            several: arguments.files.len() > 1,
            blocks: None,
            engine: arguments.engine.clone(),
        };
        let names = match &arguments.files[..] {
            [] => vec![name_of("-".as_ref())],
            files => files.iter().map(|path| name_of(path)).collect(),
        };
        let inputs = names.into_iter().enumerate().map(|(index, name)| Input::new(index, name));
        let has_key_sets = !arguments.key_set.is_empty();
        Self { suite: suite_for_claims(arguments), has_key_sets, ..Self::styled(style, inputs) }
    }

    /// A report in this style, about inputs of which each must have a claim.
    pub(in crate::commands) fn styled(style: Style, inputs: impl Iterator<Item = Input>) -> Self {
        // Of other chains the number of blocks is not known before they are read.
        let progress = || style.blocks.filter(|blocks| *blocks > 0).map_or_else(progress, progress_of_blocks);
        Self {
            progress: (!style.quiet && io::stderr().is_terminal()).then(progress),
            style,
            out: Vec::new(),
            begun: Instant::now(),
            exit: Exit::Success,
            tally: Tally::default(),
            complaints: Complaints::default(),
            listed: 0,
            not_listed: 0,
            silent: inputs.map(|Input { index, name }| (index, name)).collect(),
            naming_keys: BTreeSet::new(),
            suite: None,
            has_key_sets: false,
            cause: None,
        }
    }

    /// What a window took, its plans, and what became of each of its items.
    pub(super) fn window(&mut self, judgements: Judgements) -> Result<(), Failure> {
        self.tally.work += judgements.work;
        self.tally.subtracted += judgements.subtracted;
        judgements.plans.lines().for_each(|line| self.say(line));
        judgements.arrivals.into_iter().try_for_each(|arrival| self.arrival(arrival))?;
        self.flush()
    }

    fn arrival(&mut self, arrival: Arrival) -> Result<(), Failure> {
        match arrival {
            Arrival::Judged(judged) => return self.claim(&judged),
            Arrival::Malformed { input, malformed } => return self.malformed(&input, &malformed),
            Arrival::UnknownField { input, place, name } => self.unknown_field(&input.name, place, &name),
            Arrival::Repeated { input, place, what, first } => self.repeated(&input.name, place, &what, &first),
            Arrival::ChainInfo { input } => self.names_keys(input.index),
            Arrival::Unverified { kind, reason, number } => self.unverified(kind, reason, number),
            Arrival::Rounds(rounds) => self.rounds(rounds),
            Arrival::Failed { input, exit, reason } => self.unreadable(&input, exit, &reason),
            Arrival::Claim(_) => unreachable!("the judge has judged every claim"),
        }
        Ok(())
    }

    /// A claim and its judgement.
    fn claim(&mut self, judged: &Judged) -> Result<(), Failure> {
        let index = self.tally.entries();
        self.heard(judged.about.origin.input);
        let at = self.style.at(&judged.about.origin);
        self.tally.count(index, at.clone(), judged);
        self.exit = self.exit.max(match judged.fault() {
            None => Exit::Success,
            Some(_) if judged.is_legal_lie() => Exit::Success,
            Some(Fault::Undecided(_)) => Exit::Internal,
            Some(_) => Exit::Negative,
        });
        if self.style.explain && !judged.about.checks.is_empty() {
            self.say(&format!("{}", judged.about.origin));
            self.checks(&judged.about.checks);
            self.checks(&[judged.signature_check()]);
        }
        self.progress();
        if let (true, Some((kind, index))) = (self.style.verdicts, judged.about.of_block) {
            self.object(&ChainVerdictLine::new(
                self.style.error_at(&judged.about.origin.document, Some(judged.about.origin.place)),
                SignatureName::new(kind.name(), index),
                judged.is_legal_lie(),
                judged.fault().map(Fault::to_string),
            ))
        } else if self.style.verdicts {
            let line = VerdictLine::new(index, judged.about.id.as_ref(), judged.fault().map(Fault::to_string)).at(at);
            self.object(&line)
        } else if !self.style.json && !self.style.quiet {
            self.list(index, judged)
        } else {
            Ok(())
        }
    }

    /// An entry that makes no claim.
    pub(super) fn malformed(&mut self, input: &Input, malformed: &Malformed) -> Result<(), Failure> {
        let (index, file) = (self.tally.entries(), &*input.name);
        self.heard(input.index);
        self.tally.malformed += 1;
        self.exit = self.exit.max(Exit::Usage);
        // Of an update whose committee was told and not believed, the committee is the cause.
        if malformed.fault == EntryFault::NoCommittee && self.tally.committees_refused > 0 {
            self.tally.without_committee += 1;
        } else if self.complaints.admit(&malformed.reason) {
            self.say(&format!("{file}, {malformed}"));
        }
        let at = self.style.error_at(file, Some(malformed.place));
        self.tally.error(Some(index), at.clone(), malformed.reason.clone());
        if self.style.verdicts {
            self.object(&VerdictLine::malformed(index, malformed.id.as_ref(), at, malformed.reason.clone()))?;
        }
        Ok(())
    }

    /// A file that cannot be read on.
    pub(in crate::commands) fn unreadable(&mut self, input: &Input, exit: Exit, reason: &str) {
        self.heard(input.index);
        self.exit = self.exit.max(exit);
        self.refuse(&input.name, reason);
    }

    /// Signatures of a chain that cannot be verified, and why.
    pub(super) fn unverified(&mut self, kind: ClaimKind, reason: &str, number: usize) {
        self.tally.unverified += number;
        if !self.style.quiet {
            self.say(&format!("{} of the kind {kind} not verified: {reason}", plural(number, "signature")));
        }
    }

    /// The rounds of drand that the inputs have.
    pub(super) fn rounds(&mut self, rounds: RoundRange) {
        self.tally.rounds = Some((rounds.first, rounds.last));
        self.remark(&format!("drand: the inputs have {rounds}"));
    }

    /// Something that is not verified although the inputs have it. Without it a run would look complete, so `--quiet` does not hide it.
    pub(in crate::commands) fn left_out(&mut self, text: &str) {
        self.say(text);
        self.tally.left_out.push(text.to_owned());
    }

    /// Something without which a verdict would look like more than it is, so `--quiet` does not hide it.
    pub(super) fn warn(&self, text: &str) {
        self.say(text);
    }

    /// Something that the user should know, and that is not an error.
    pub(in crate::commands) fn remark(&self, text: &str) {
        if !self.style.quiet {
            self.say(text);
        }
    }

    /// Says what is wrong with a file as a whole.
    fn refuse(&mut self, file: &str, reason: &str) {
        if self.complaints.admit(reason) {
            self.say(&format!("{file}: {reason}"));
        }
        self.tally.error(None, self.style.error_at(file, None), reason.to_owned());
    }

    /// Notes that an input is not empty.
    fn heard(&mut self, input: usize) {
        self.silent.remove(&input);
    }

    /// A field that is skipped. A misspelt field may be one that was meant.
    pub(super) fn unknown_field(&mut self, file: &str, place: Place, name: &str) {
        if !self.style.quiet {
            self.say(&format!(
                "{file}, {place}: warning: the unknown field {name:?} is skipped, here and in what follows"
            ));
        }
    }

    /// A validator that occurs a second time. The claims may all be true, and yet not be what was meant.
    pub(super) fn repeated(&mut self, file: &str, place: Place, what: &str, first: &Origin) {
        self.tally.repeated += 1;
        if !self.style.quiet && self.complaints.admit("a validator occurs twice") {
            self.say(&format!("{file}, {place}: warning: {what} (the first is {}, {})", first.document, first.place));
        }
    }

    /// The cause that all light-client objects are refused or false. It is told once, in place of what follows from it.
    pub(super) fn cause(&mut self, cause: String) {
        self.say(&format!("error: {cause}"));
        self.cause = Some(cause);
    }

    /// An input that states a drand chain or a sync committee. It needs no claim of its own if another input has one.
    fn names_keys(&mut self, input: usize) {
        self.naming_keys.insert(input);
    }

    /// What a light-client document taught about a committee.
    pub(super) fn lesson(&mut self, lesson: &Lesson) {
        let Lesson { origin, period, .. } = lesson;
        self.names_keys(origin.input);
        self.tally.committees += 1;
        let refused = matches!(lesson.teaching, Teaching::Refused | Teaching::Conflict);
        if refused {
            self.exit = self.exit.max(Exit::Negative);
            self.tally.committees_refused += 1;
            if self.cause.is_some() && !self.style.explain {
                return;
            }
            let failed = lesson.checks.iter().find(|check| check.failed());
            let unproved = lesson.checks.first().filter(|check| check.result == CheckResult::NotPossible);
            let why = match (failed, unproved) {
                (Some(_), _) => String::new(),
                (None, Some(check)) => format!(": {}", check.detail),
                (None, None) => ": it contradicts what is known".to_owned(),
            };
            self.say(&format!("{origin}: its committee of period {period} is not believed{why}"));
            self.checks(failed.filter(|_| !self.style.explain).map(std::slice::from_ref).unwrap_or_default());
        } else {
            self.tally.unproved(origin, &lesson.checks);
        }
        // The update may be valid for the caller, and yet nobody learns from it.
        let too_few = lesson.checks.iter().find(|check| check.result == CheckResult::NotPossible);
        if let (Teaching::NotProven, Some(why)) = (lesson.teaching, too_few) {
            self.remark(&format!("{origin}: its committee of period {period} is not believed: {}", why.detail));
        }
        // What is trusted unless somebody compares the root is said with --quiet, too.
        let was_compared = lesson.checks.iter().any(|check| check.name == TRUSTED_ROOT);
        if let Some(root) = lesson.block_root.filter(|_| !(refused || self.style.quiet && was_compared)) {
            let root = const_hex::encode_prefixed(root);
            self.say(&format!("{origin}: trusting the committee of period {period} by block root"));
            self.say(&format!("  {root}"));
        }
        if self.style.explain {
            self.checks(&lesson.checks);
        }
    }

    /// Writes the lines for standard output.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let Self { out, progress, .. } = self;
        if out.is_empty() {
            return Ok(());
        }
        let write = || {
            let mut stdout = output();
            stdout.write_all(out).and_then(|()| stdout.flush())
        };
        let result = progress.as_ref().map_or_else(write, |bar| bar.suspend(write));
        out.clear();
        result.context(OUTPUT_FAILED).map_err(Failure::io)
    }

    /// A JSON object as one line on standard output.
    fn object(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        self.out.extend_from_slice(print::as_json(object)?.as_bytes());
        self.out.push(b'\n');
        self.flush_if_long()
    }

    /// Writes the lines for standard output if they are many.
    fn flush_if_long(&mut self) -> Result<(), Failure> {
        if self.out.len() >= OUTPUT_HELD { self.flush() } else { Ok(()) }
    }

    /// The summary; the code to end with.
    pub(super) fn finish(mut self, ended: Ended, judge: &Judge) -> quorate_host::exit::Result {
        if let Some(bar) = self.progress.take() {
            bar.finish_and_clear();
        }
        if ended == Ended::Interrupted {
            self.exit = self.exit.max(Exit::Interrupted);
        } else {
            // Nothing to verify is not a success: an empty input may be the output of a command that failed.
            let claims_elsewhere = self.tally.entries() > 0;
            let mut silent = std::mem::take(&mut self.silent);
            silent.retain(|input, _| !(claims_elsewhere && self.naming_keys.contains(input)));
            for file in silent.into_values() {
                self.exit = self.exit.max(Exit::Usage);
                self.refuse(&file, "found no claim, expected at least one; check what wrote this input");
            }
            if self.style.blocks.is_some() && self.tally.entries() == 0 && self.exit == Exit::Success {
                self.exit = Exit::Usage;
                self.say(
                    "found no block and no round to verify; give the file of an era that has blocks and that of the era before it, \
                     or rounds of drand, or blocks of Chia",
                );
            }
        }
        self.complaints.rest().for_each(note);
        if ended != Ended::Interrupted {
            self.unused_defaults();
        }
        if self.tally.without_committee > 0 {
            let updates = plural(self.tally.without_committee, "update");
            self.say(&format!("{updates} not judged, because no committee that signs them is believed, as said above"));
        }
        // A verdict says less than it seems to, which --quiet does not hide.
        if let Some(first) = &self.tally.first_unproved {
            self.say(first);
            if self.tally.unproved > 1 {
                self.say(&format!("  the same is true of {}", plural(self.tally.unproved - 1, "other object")));
            }
        }
        let elapsed = self.begun.elapsed();
        let (remembered, forgotten) = (judge.memory().remembered, judge.memory().forgotten);
        if self.style.json {
            let Self { tally, style, out, .. } = &mut self;
            let summary = Summary {
                claims: tally.claims(),
                valid: tally.valid,
                invalid: tally.invalid,
                legal: style.blocks.map(|_| tally.legal),
                kinds: style.blocks.map(|_| &tally.kinds),
                blocks: style.blocks.map(|_| tally.blocks()),
                unverified: style.blocks.map(|_| tally.unverified),
                rounds: tally.rounds,
                left_out: &tally.left_out,
                malformed: tally.malformed,
                committees_refused: tally.committees_refused,
                repeated: tally.repeated,
                interrupted: ended == Ended::Interrupted,
                known: judge.known(),
                subtracted: tally.subtracted,
                remembered,
                not_remembered: forgotten,
                failures: &tally.failures,
                failures_omitted: tally.invalid - tally.failures.len(),
                errors: &tally.errors,
                errors_omitted: tally.errors_omitted,
                false_by_source: by_name(&tally.false_by_source),
                false_by_source_omitted: tally.false_of_other_sources,
                suites: &tally.suites,
                backend: style.engine.backend.backend.name(),
                threads: style.engine.threads().get(),
                seconds: elapsed.as_secs_f64(),
                hashes: tally.work.hashes,
                pairings: tally.work.pairings,
                final_exponentiations: tally.work.final_exponentiations,
                search_nodes: tally.work.search_nodes,
            };
            out.extend_from_slice(print::as_json(&summary)?.as_bytes());
            out.push(b'\n');
        } else if self.not_listed > 0 {
            let (claims, are) =
                (plural(self.not_listed, "valid claim"), if self.not_listed == 1 { "is" } else { "are" });
            self.out.extend_from_slice(format!("  … {claims} {are} not listed; --verdicts lists all\n").as_bytes());
        }
        self.flush()?;
        if !self.style.quiet {
            for (source, n) in &self.tally.false_by_source {
                self.say(&format!("source {source}: {n} false"));
            }
            if self.tally.false_of_other_sources > 0 {
                let n = plural(self.tally.false_of_other_sources, "false claim");
                self.say(&format!("{n} of sources beyond the first {SOURCES_KEPT}, which are not counted one by one"));
            }
            self.forgotten(forgotten);
            self.say(&self.summary(ended, elapsed, remembered));
        }
        Ok(self.exit)
    }

    /// Says that no claim needed the suite of the flag, which is for claims that name none, or the key sets.
    fn unused_defaults(&mut self) {
        if self.tally.claims() == 0 {
            return;
        }
        if self.has_key_sets && !self.tally.of_key_set && !self.style.quiet {
            self.say("warning: --key-set was not needed, because no claim names members of a key set");
        }
        let by_default = self.tally.by_default;
        if let Some(suite) = self.suite.filter(|_| !by_default && !self.style.quiet) {
            self.say(&format!("warning: --suite {suite} was not needed, because every claim names its suite"));
        }
    }

    fn summary(&self, ended: Ended, elapsed: Duration, remembered: usize) -> String {
        let Tally { valid, invalid, legal, malformed, unverified, subtracted, committees, .. } = self.tally;
        let claims = self.tally.claims();
        let mut text = match claims {
            0 if committees > 0 => format!("no claims judged; {} read", plural(committees, "committee")),
            0 => "no claims judged".to_owned(),
            1 if legal == 0 => format!("1 claim: {}", if valid == 1 { "valid" } else { "invalid" }),
            _ => format!("{claims} claims: {valid} valid, {invalid} invalid"),
        };
        if legal > 0 {
            text += &format!(", {} that a chain may hold", plural(legal, "false deposit"));
        }
        if malformed > 0 {
            text += &format!(", {malformed} malformed");
        }
        if unverified > 0 {
            text += &format!(", {unverified} not verified");
        }
        if subtracted > 0 {
            text += &format!(", {} known", plural(subtracted, "statement"));
        }
        if remembered > 0 {
            text += &format!(", {remembered} remembered");
        }
        if ended == Ended::Interrupted {
            text += "; interrupted";
        }
        let seconds = elapsed.as_secs_f64();
        let time = if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.2} s") };
        let engine = &self.style.engine;
        format!("{text} ({time}, {}, {})", engine.backend.backend, plural(engine.threads().get(), "thread"))
    }

    /// Says what was valid but is not in the file of `--remember`.
    fn forgotten(&self, aggregates: usize) {
        if aggregates > 0 {
            let (what, were) = (plural(aggregates, "valid aggregate"), if aggregates == 1 { "was" } else { "were" });
            self.say(&format!("{what} {were} not remembered, only claims of one statement are"));
        }
    }

    /// A line for a person: every claim while they are few, then the invalid ones.
    fn list(&mut self, index: usize, judged: &Judged) -> Result<(), Failure> {
        if judged.is_valid() && self.listed >= LISTED {
            self.not_listed += 1;
            return Ok(());
        }
        self.listed += 1;
        let verdict = match judged.fault() {
            None => "valid",
            Some(_) if judged.is_legal_lie() => "legal",
            Some(_) => "INVALID",
        };
        let Origin { document, place, .. } = &judged.about.origin;
        let place = if self.style.several { plain(&format!("{document}, {place}")) } else { place.to_string() };
        let id = judged.about.id.as_ref();
        let name = match id {
            None => match judged.about.of_block {
                None => place,
                Some((kind, index)) => format!("{place}, {kind} {index}"),
            },
            Some(id) if self.style.several => format!("{}  ({place})", plain(&id.unquoted())),
            Some(id) => plain(&id.unquoted()),
        };
        let mut text = format!("{index:>6}  {verdict:<7}  {name}\n");
        if let Some(fault) = judged.fault() {
            let legal = if judged.is_legal_lie() { "false, but a chain may hold it: " } else { "" };
            let _ = writeln!(text, "{:17}{legal}{}", "", plain(&fault.to_string()));
        }
        self.out.extend_from_slice(text.as_bytes());
        self.flush_if_long()
    }

    fn progress(&self) {
        if let Some(bar) = &self.progress {
            let done = if self.style.blocks.is_some_and(|blocks| blocks > 0) {
                self.tally.blocks()
            } else {
                self.tally.entries()
            };
            bar.set_position(done as u64);
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
        let write = || note(line);
        self.progress.as_ref().map_or_else(write, |bar| bar.suspend(write));
    }
}

/// The counts by the text of a source. The number 7 and the name "7" are two sources, but one field of an object.
fn by_name(counts: &BTreeMap<SourceId, usize>) -> BTreeMap<String, usize> {
    let mut by_name = BTreeMap::new();
    for (source, n) in counts {
        *by_name.entry(source.to_string()).or_default() += n;
    }
    by_name
}

/// Claims listed one by one for a person.
const LISTED: usize = 20;
/// False claims kept for the summary object; beyond it they are counted.
const FAILURES_KEPT: usize = 1000;
/// Sources whose false claims are counted one by one. A sender can choose a source of 32 KiB for each claim.
const SOURCES_KEPT: usize = 1000;
/// Bytes for standard output that are written together.
const OUTPUT_HELD: usize = 64 << 10;

/// The progress line. It is taken away when the bar is dropped, however the run ends.
fn progress() -> ProgressBar {
    let template = ProgressStyle::with_template("{spinner} {claims}, {rate}/s, {elapsed} {msg}");
    let bar = ProgressBar::new_spinner().with_finish(ProgressFinish::AndClear);
    if let Ok(style) = template {
        let claims = |state: &ProgressState, f: &mut dyn std::fmt::Write| {
            let _ = f.write_str(&plural(usize::try_from(state.pos()).unwrap_or(usize::MAX), "claim"));
        };
        let rate = |state: &ProgressState, f: &mut dyn std::fmt::Write| {
            let _ = f.write_str(&three_digits(state.per_sec()));
        };
        bar.set_style(style.with_key("claims", claims).with_key("rate", rate));
    }
    bar
}

/// The progress line over blocks, whose number is known, so that the time left can be told.
fn progress_of_blocks(blocks: usize) -> ProgressBar {
    let bar = ProgressBar::new(blocks as u64).with_finish(ProgressFinish::AndClear);
    let template = "{bar:20} {human_pos} of {human_len} blocks, {elapsed}, {eta} left {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

/// A number with three significant digits: 0.123, 12.3, 12,300.
fn three_digits(number: f64) -> String {
    let rounded = format!("{number:.2e}").parse().unwrap_or(number);
    if rounded >= 1000.0 {
        return HumanCount(rounded as u64).to_string();
    }
    let decimals = match rounded {
        100.0.. => 0,
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{rounded:.decimals$}")
}

#[derive(Serialize)]
struct FailedClaim {
    #[serde(flatten)]
    name: ClaimName,
    #[serde(flatten)]
    at: Option<At>,
    message: String,
}

/// How the summary names a claim.
#[derive(Serialize)]
#[serde(untagged)]
enum ClaimName {
    /// By its place among the entries.
    OfInput {
        index: usize,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<Id>,
    },
    /// By its place in a block.
    OfBlock(SignatureName<'static>),
}

/// Claims of one kind of a chain.
#[derive(Default, Serialize)]
struct KindTally {
    claims: usize,
    invalid: usize,
    legal: usize,
}

/// What is wrong with an input: an entry that makes no claim, or a file that cannot be read.
#[derive(Serialize)]
struct InputFault {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(flatten)]
    at: At,
    message: String,
}

#[derive(Serialize)]
struct Summary<'a> {
    claims: usize,
    valid: usize,
    invalid: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    legal: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kinds: Option<&'a BTreeMap<&'static str, KindTally>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unverified: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rounds: Option<(u64, u64)>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    left_out: &'a [String],
    malformed: usize,
    committees_refused: usize,
    repeated: usize,
    interrupted: bool,
    known: usize,
    subtracted: usize,
    remembered: usize,
    not_remembered: usize,
    failures: &'a [FailedClaim],
    failures_omitted: usize,
    errors: &'a [InputFault],
    errors_omitted: usize,
    false_by_source: BTreeMap<String, usize>,
    false_by_source_omitted: usize,
    suites: &'a BTreeSet<&'static str>,
    backend: &'a str,
    threads: usize,
    seconds: f64,
    hashes: usize,
    pairings: usize,
    final_exponentiations: usize,
    search_nodes: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_three_significant_digits() {
        let rates = [0.1234, 1.0, 9.876, 12.345, 99.96, 123.4, 1234.5, 98_765.4, 1_234_567.0];
        let written = ["0.123", "1.00", "9.88", "12.3", "100", "123", "1,230", "98,800", "1,230,000"];
        assert_eq!(rates.map(three_digits), written);
    }
}
