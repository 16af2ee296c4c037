//! `quorate selftest`: computes published answers again, on every backend of this machine.

mod checks;

use std::fmt;

use clap::Args;
use quorate::Backend;
use serde::Serialize;

use self::checks::{Answer, CHECKS, Check, Subject};
use super::print;
use quorate_host::exit::{Exit, Failure, Result};

/// Compute published answers on every backend of this machine
///
/// Checks hashing, signing, verifying, encodings and the search for false claims on each backend. Checks key generation and
/// keystores once, because they use no backend. Prints one line for each check. Exit code: 0 if all answers are as published,
/// 4 otherwise.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub struct Arguments {
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Runs the checks.
    ///
    /// # Errors
    /// Writing fails, or there are no random numbers.
    pub fn run(self) -> Result {
        let results = run(CHECKS, |result| if self.json { Ok(()) } else { print::line(result) })?;
        let failed = results.iter().filter(|result| result.wrong.is_some()).count();
        if self.json {
            let backends = Backend::available().iter().map(|backend| backend.name()).collect();
            print::json(&Report { ok: failed == 0, backends, checks: &results })?;
        }
        if failed == 0 {
            print::note(format_args!("{} checks ok", results.len()));
            return Ok(Exit::Success);
        }
        print::note(format_args!(
            "{failed} of {} checks FAILED; do not use quorate on this machine, and please report the lines above",
            results.len()
        ));
        Ok(Exit::Internal)
    }
}

/// Runs every check on every backend that it is for, and passes on each result at once.
fn run(
    checks: &[Check],
    mut tell: impl FnMut(&CheckReport) -> std::result::Result<(), Failure>,
) -> std::result::Result<Vec<CheckReport>, Failure> {
    let mut results = Vec::new();
    for check in checks {
        let mut attempt = |subject, compute: &dyn Fn() -> Answer| {
            let result = CheckReport::of(check, subject, compute);
            tell(&result)?;
            results.push(result);
            Ok::<(), Failure>(())
        };
        match check.subject {
            Subject::Backend(compute) => {
                Backend::available().iter().try_for_each(|backend| attempt(backend.name(), &|| compute(*backend)))?;
            }
            Subject::Secrets(compute) => attempt("secrets", &compute)?,
        }
    }
    Ok(results)
}

/// What one check came to.
#[derive(Serialize)]
struct CheckReport {
    /// The backend's name, or "secrets".
    subject: &'static str,
    check: &'static str,
    source: &'static str,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    wrong: Option<String>,
}

impl CheckReport {
    fn of(check: &Check, subject: &'static str, compute: &dyn Fn() -> Answer) -> Self {
        // A kernel that panics has failed, like one whose answer is wrong, and the other checks still have to run.
        let answer = quorate_host::contained(compute);
        let wrong = answer.unwrap_or_else(|panicked| Err(format!("panicked: {panicked}"))).err();
        Self { subject, check: check.name, source: check.source, ok: wrong.is_none(), wrong }
    }
}

impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.ok { "ok" } else { "FAILED" };
        write!(f, "{verdict:<7}{:<9} {} ({})", self.subject, self.check, self.source)?;
        self.wrong.iter().try_for_each(|wrong| write!(f, ": {wrong}"))
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    backends: Vec<&'static str>,
    checks: &'a [CheckReport],
}

const EXAMPLES: &str = "\
Examples:
  quorate selftest
  quorate selftest --json";

#[cfg(test)]
mod tests {
    use super::*;

    fn results(checks: &[Check]) -> Vec<CheckReport> {
        run(checks, |_| Ok(())).expect("nothing is printed")
    }

    #[test]
    fn every_check_passes_on_every_backend() {
        for result in results(CHECKS) {
            assert!(result.ok, "{result}");
        }
        let subjects = results(CHECKS).iter().map(|result| result.subject).collect::<std::collections::HashSet<_>>();
        assert_eq!(subjects.len(), Backend::available().len() + 1);
    }

    #[test]
    fn a_wrong_answer_and_a_panic_are_told() {
        let wrong = |_: Backend| Err("7 is not 8".to_owned());
        let panics = || panic!("a carry was lost");
        let checks = [
            Check { name: "sum", source: "nowhere", subject: Subject::Backend(wrong) },
            Check { name: "carry", source: "nowhere", subject: Subject::Secrets(panics) },
        ];
        let results = results(&checks);
        assert_eq!(results.len(), Backend::available().len() + 1);
        let lines: Vec<_> = results.iter().map(ToString::to_string).collect();
        assert!(lines[0].starts_with("FAILED ") && lines[0].ends_with("sum (nowhere): 7 is not 8"), "{lines:?}");
        let last = lines.last().expect("lines");
        assert!(last.starts_with("FAILED secrets   carry (nowhere): panicked: a carry was lost at "), "{last}");
    }
}
