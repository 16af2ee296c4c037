//! `quorate history merge`: the results of all shards become one.

use std::path::Path;

use clap::Args;
use quorate_formats::{Id, Place};
use quorate_history::shards::{self, Report, report_path, verdicts_path};
use quorate_host::exit::{Exit, Failure, Result};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::shards::{FolderArgument, counted, failure, found};
use crate::commands::print::{self, note, plural};

/// Check that every claim was verified once, and write one report
///
/// Every shard must have a result that is whole and of this plan. Writes DIR/verdicts.jsonl, with the verdicts in the order of the
/// inputs, and DIR/report.json. Exit code: 0 all valid, 1 at least one invalid, 2 a shard has no result or a damaged one, 3 I/O.
#[derive(Debug, Args)]
#[command(before_long_help = EXAMPLES)]
pub(super) struct Arguments {
    #[command(flatten)]
    folder: FolderArgument,

    /// What an hour of one core costs; the report then says what the run cost
    #[arg(long, value_name = "PRICE", conflicts_with_all = ["json", "quiet"], value_parser = price)]
    core_hour: Option<f64>,

    /// Print the report as one JSON object on standard output
    #[arg(long)]
    json: bool,

    /// Print on standard error only errors, and what is not read
    #[arg(short, long)]
    quiet: bool,
}

fn price(text: &str) -> std::result::Result<f64, String> {
    let price = text.parse().ok().filter(|price: &f64| price.is_finite() && *price >= 0.0);
    price.ok_or_else(|| format!("found {text:?}, expected a price such as 0.04"))
}

impl Arguments {
    pub(super) fn run(self) -> Result {
        let manifest = self.folder.manifest()?;
        let report = shards::merge(&self.folder.folder, &manifest).map_err(failure)?;
        if self.json {
            print::json(&report)?;
        } else if !self.quiet {
            self.print(&report)?;
        }
        report.left_out.iter().for_each(note);
        if !self.quiet {
            note(format!("verdicts: {}", verdicts_path(&self.folder.folder).display()));
            note(format!("report: {}", report_path(&self.folder.folder).display()));
        }
        if report.counts.claims + report.malformed == 0 {
            note("found no claim, expected at least one; check what wrote the inputs");
            return Ok(Exit::Usage);
        }
        let of_rounds = match (report.round_faults.is_empty(), report.broken_links.is_empty()) {
            (false, _) => Exit::Usage,
            (true, false) => Exit::Negative,
            (true, true) => Exit::Success,
        };
        Ok(found(report.counts, report.malformed).max(of_rounds))
    }

    fn print(&self, report: &Report) -> std::result::Result<(), Failure> {
        let shards = plural(usize::try_from(report.shards).unwrap_or(usize::MAX), "shard");
        print::line(format!("{shards}, each counted once"))?;
        print::line(counted(report.counts, report.malformed))?;
        if !report.kinds.is_empty() {
            print::line(format!("{:<26} {:>14} {:>9} {:>9}", "kind", "claims", "invalid", "legal"))?;
        }
        for (kind, counts) in &report.kinds {
            let number = |n: u64| indicatif::HumanCount(n).to_string();
            let (claims, invalid, legal) = (number(counts.claims), number(counts.invalid), number(counts.legal));
            print::line(format!("{kind:<26} {claims:>14} {invalid:>9} {legal:>9}"))?;
        }
        for failure in report.failures.iter().take(LISTED) {
            serde_json::from_str::<Failed<'_>>(failure.get()).map_err(Failure::internal)?.list()?;
        }
        let more = report.failures.len().saturating_sub(LISTED) as u64 + report.failures_omitted;
        if more > 0 {
            print::line(format!("… and {} more", indicatif::HumanCount(more)))?;
        }
        if let Some((first, last)) = report.rounds {
            print::line(format!("rounds {first} to {last}"))?;
        }
        let faults: Vec<&String> = report.round_faults.iter().chain(&report.broken_links).collect();
        faults.iter().take(LISTED).try_for_each(print::line)?;
        if faults.len() > LISTED {
            print::line(format!("… and {} more", faults.len() - LISTED))?;
        }
        if report.unverified > 0 {
            let signatures = plural(usize::try_from(report.unverified).unwrap_or(usize::MAX), "signature");
            print::line(format!("{signatures} not verified: their blocks do not say what they sign"))?;
        }
        if report.versions.len() > 1 {
            let versions: Vec<_> = report.versions.iter().map(String::as_str).collect();
            print::line(format!("results of {} versions of quorate: {}", versions.len(), versions.join(", ")))?;
        }
        let hours = report.core_seconds / 3600.0;
        print::line(format!(
            "{} read, {:.1} core-seconds ({hours:.4} core-hours), {:.0} claims a second on one core",
            indicatif::HumanBytes(report.bytes),
            report.core_seconds,
            report.claims_per_core_second
        ))?;
        if let Some(price) = self.core_hour {
            print::line(format!("cost: {:.6} at {price} for a core-hour", hours * price))?;
        }
        Ok(())
    }
}

/// A verdict about a claim that is invalid, or about an entry that makes none. Its id is kept as written: it can be text that is not
/// Unicode, and a number of any length.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Failed<'a> {
    file: String,
    slot: Option<u64>,
    round: Option<u64>,
    height: Option<u64>,
    line: Option<u64>,
    row: Option<u64>,
    element: Option<u64>,
    kind: Option<String>,
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    malformed: bool,
    reason: String,
}

impl Failed<'_> {
    /// Two lines for a person: where the claim stands, and what is wrong.
    fn list(&self) -> std::result::Result<(), Failure> {
        let places = [
            self.slot.map(Place::Slot),
            self.round.map(Place::Round),
            self.height.map(Place::Height),
            self.line.map(Place::Line),
            self.row.map(Place::Row),
            self.element.map(Place::Element),
        ];
        let place = places.into_iter().flatten().next().map(|place| format!(", {place}")).unwrap_or_default();
        let name = match (&self.kind, self.index, self.id) {
            (Some(kind), Some(index), _) => format!(", {kind} {}", unquoted(index)),
            (_, _, Some(id)) => format!(", id {}", unquoted(id)),
            _ => String::new(),
        };
        let word = if self.malformed { "malformed" } else { "INVALID" };
        let file = Path::new(&self.file).file_name().map_or(self.file.as_str().into(), |name| name.to_string_lossy());
        print::line(format!("{word:<10}{file}{place}{name}"))?;
        print::line(format!("{:10}{}", "", self.reason))
    }
}

/// A text without its quotes, and any other value as it is written.
fn unquoted(value: &RawValue) -> String {
    Id::from_json(value).ok().flatten().map_or_else(|| value.get().to_owned(), |id| id.unquoted())
}

/// Claims, and faults of a chain of rounds, that are listed for a person.
const LISTED: usize = 20;

const EXAMPLES: &str = "\
Examples:
  quorate history merge run/
  quorate history merge run/ --json > report.json
  quorate history merge run/ --core-hour 0.04";
