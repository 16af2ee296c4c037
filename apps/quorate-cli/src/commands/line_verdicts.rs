//! Batches with one claim on each line: verdicts in the order of the lines, their counts, and the exit code. And the verdict about one
//! claim of the command line.

use anyhow::{Context as _, anyhow};
use quorate::{Backend, ClaimBytes, Options, Reason, Verdict, Verifier};
use quorate_formats::judge::{Item, Judge, Ruling, Undecided, Window, WindowLimit};
use quorate_host::exit::{Exit, Failure};

use super::{
    lines::{Line, Lines, Spot},
    print::{self, plural},
    random, threads,
};

/// The claim of a line, or why it is false without being verified.
pub(super) type LineClaim = Result<ClaimBytes, Reason>;

/// The counts of a batch.
#[derive(Debug, Default)]
pub(super) struct LineCounts {
    valid: usize,
    invalid: usize,
    unreadable: usize,
}

/// Verifies the claims that `read` makes of the lines, in windows of bounded memory, and tells each verdict with its number, from
/// 0 on. Lines of which `read` makes none are reported.
pub(super) fn judge_lines<T>(
    lines: &mut Lines,
    backend: Backend,
    mut read: impl FnMut(&str) -> Result<(T, LineClaim), String>,
    mut tell: impl FnMut(usize, &Spot, T, Verdict) -> Result<(), Failure>,
) -> Result<LineCounts, Failure> {
    let options = Options { threads: threads::all(), backend, ..Options::default() };
    let (mut judge, mut window) = (Judge::new(Verifier::new(options)), Window::new(WindowLimit::of(options.threads)));
    let mut counts = LineCounts::default();
    loop {
        while !window.is_full()
            && let Some(Line { spot, text }) = lines.next()?
        {
            // What `read` keeps of a line, such as an id, is part of its text.
            let of_text = text.as_ref().map_or(0, String::len);
            match text.and_then(|text| read(&text)) {
                Ok((about, claim)) => {
                    let (claim, fault) = claim.map_or_else(|fault| (None, Some(fault)), |claim| (Some(claim), None));
                    let of_claim = claim.as_ref().map_or(0, ClaimBytes::memory);
                    let bytes = size_of::<(Spot, T)>() + spot.file.len() + of_text + of_claim;
                    window.push(Item { about: (spot, about, fault), claim, bytes });
                }
                Err(reason) => {
                    counts.unreadable += 1;
                    lines.complain(&spot, &reason);
                }
            }
        }
        if window.is_empty() {
            break;
        }
        for judged in judge.judge(window.take(), &mut random::generator()?).judged {
            let (spot, about, fault) = judged.about;
            let verdict = match (judged.ruling, fault) {
                (Some(ruling), _) => Ruling::decided(ruling),
                (None, Some(fault)) => Ok(Verdict::Invalid(fault)),
                (None, None) => Err(Undecided),
            };
            let verdict = verdict.with_context(|| spot.to_string()).map_err(Failure::internal)?;
            tell(counts.valid + counts.invalid, &spot, about, verdict)?;
            if verdict.is_valid() { counts.valid += 1 } else { counts.invalid += 1 }
        }
    }
    lines.complain_of_the_rest();
    Ok(counts)
}

/// Verifies one claim.
pub(super) fn judge_one(claim: ClaimBytes, backend: Backend) -> Result<Verdict, Failure> {
    let mut judge = Judge::new(Verifier::new(Options { backend, ..Options::default() }));
    let item = Item { bytes: claim.memory(), about: (), claim: Some(claim) };
    let mut judged = judge.judge(vec![item], &mut random::generator()?).judged;
    let ruling = judged.pop().and_then(|judged| judged.ruling);
    ruling.map_or(Err(Undecided), Ruling::decided).map_err(Failure::internal)
}

impl LineCounts {
    /// Says how many lines are what, and answers with the exit code. `noun` is what a line holds.
    ///
    /// # Errors
    /// There was no line.
    pub(super) fn settle(&self, noun: &str, names: &str) -> Result<Exit, Failure> {
        let Self { valid, invalid, unreadable } = self;
        let total = valid + invalid + unreadable;
        if total == 0 {
            return Err(Failure::usage(anyhow!(
                "no {noun} in {names}: the input is empty, so there is nothing to verify"
            )));
        }
        let lines = plural(total, noun);
        print::note(format_args!("{lines}: {valid} valid, {invalid} invalid, {unreadable} unreadable"));
        Ok(match (unreadable, invalid) {
            (0, 0) => Exit::Success,
            (0, _) => Exit::Negative,
            _ => Exit::Usage,
        })
    }
}
