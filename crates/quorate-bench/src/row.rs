//! Rows, which are the results of a benchmark, and the machine on which they were measured.

use std::{
    fmt,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use indicatif::HumanCount;
use serde::{Deserialize, Serialize};

use crate::{
    built, cpu,
    methods::{self, Editions},
};

/// The time or the gas of one engine in one benchmark.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) bench: String,
    pub(crate) engine: String,
    pub(crate) threads: usize,
    pub(crate) n: usize,
    /// The unit of the figures: "claim", "block", "search", "transaction".
    pub(crate) per: String,
    #[serde(flatten)]
    pub(crate) figures: Figures,
    /// The CPU time of the process, all threads together, beside the wall time of `figures`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_us: Option<Times>,
    /// How long a claim or a block took from its intended sending to its verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) latency_ms: Option<Latency>,
    /// The part of the claims that were refused, and have no latency. `None` in records of before, and where nothing is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) refused: Option<f64>,
    /// What the parties of a protocol sent each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) traffic: Option<Traffic>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
}

impl Row {
    /// The time or the gas of everything that was measured, not of one claim or point of it.
    pub(crate) fn total(&self) -> f64 {
        self.figures.middle() * if matches!(&self.per[..], "claim" | "point" | "share") { self.n as f64 } else { 1.0 }
    }

    /// The figures as times. Those of gas have the median and the mean as their edges.
    pub(crate) fn times(&self) -> Times {
        match self.figures {
            Figures::Us(times) => times,
            Figures::Gas(Gas { mean, median }) => Times { min: mean.min(median), median: mean, max: mean.max(median) },
        }
    }

    /// The same of everything that was measured, not of one claim or point of it.
    pub(crate) fn total_times(&self) -> Times {
        let (Times { min, median, max }, items) = (self.times(), self.total() / self.figures.middle());
        Times { min: min * items, median: median * items, max: max * items }
    }

    /// The row with the times of a clock. A row without CPU time has the figures that it has.
    pub(crate) fn by(&self, clock: Clock) -> Self {
        match (clock, self.cpu_us) {
            (Clock::Cpu, Some(times)) => Self { figures: Figures::Us(times), ..self.clone() },
            (Clock::Cpu, None) | (Clock::Wall, _) => self.clone(),
        }
    }

    /// Whether the machine had something else to do while this was measured: rounds of the same work took times too different
    /// to compare. A row with latencies has the times of claims that differ, so its spread says nothing about the machine.
    pub(crate) fn is_busy(&self) -> bool {
        self.latency_ms.is_none() && matches!(self.figures, Figures::Us(times) if times.are_busy())
    }

    /// The name of what was measured, for a line of a table, with a word of warning if one of its rows is of a busy machine.
    pub(crate) fn line<'a>(what: &str, mut rows: impl Iterator<Item = &'a Self>) -> String {
        if rows.any(Self::is_busy) { format!("{what} ({BUSY})") } else { what.to_owned() }
    }

    /// The milliseconds within which 99 of 100 of the answered claims had their verdict. `None` if one in a hundred or more was
    /// refused: then 99 of 100 had no verdict.
    pub(crate) fn p99(&self) -> Option<f64> {
        let is_answered = self.refused.is_none_or(|part| part < 0.01);
        self.latency_ms.filter(|_| is_answered).map(|latency| latency.p99)
    }

    /// The traffic, if there is any, and the note.
    pub(crate) fn remark(&self) -> String {
        let traffic = self.traffic.map(|traffic| traffic.to_string());
        let parts = traffic.into_iter().chain((!self.note.is_empty()).then(|| self.note.clone()));
        parts.collect::<Vec<_>>().join("; ")
    }
}

/// Which time is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Clock {
    /// That of the process on all CPUs, which other programs disturb least
    Cpu,
    /// That of a clock on the wall
    Wall,
}

/// The figures of a row.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Figures {
    Us(Times),
    Gas(Gas),
}

impl Figures {
    /// The figure by which engines are compared: the median time, or the mean gas.
    pub(crate) fn middle(&self) -> f64 {
        match self {
            Self::Us(times) => times.median,
            Self::Gas(gas) => gas.mean,
        }
    }

    /// The figure for comparison and a second one: the spread of times, or the median gas.
    pub(crate) fn written(&self) -> [String; 2] {
        match self {
            Self::Us(times) => [short(times.median), format!("{}..{}", short(times.min), short(times.max))],
            Self::Gas(gas) => [whole(gas.mean), whole(gas.median)],
        }
    }

    /// The heads of the columns of these two figures.
    pub(crate) fn heads(&self) -> [&'static str; 2] {
        match self {
            Self::Us(_) => ["median µs", "spread"],
            Self::Gas(_) => ["mean gas", "median"],
        }
    }
}

/// The gas of whole transactions.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Gas {
    pub(crate) mean: f64,
    pub(crate) median: f64,
}

impl Gas {
    /// Of the gas of some transactions.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn of(gas: &[u64]) -> Self {
        let mut sorted: Vec<_> = gas.iter().map(|gas| *gas as f64).collect();
        sorted.sort_by(f64::total_cmp);
        Self { mean: sorted.iter().sum::<f64>() / sorted.len() as f64, median: median(&sorted) }
    }
}

/// Percentiles of latencies, in milliseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    /// `None` in records of before, and where few were measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) p90: Option<f64>,
    pub(crate) p99: f64,
}

impl Latency {
    /// The three of a row, with three digits; nothing where a row has none.
    pub(crate) fn written(latency: Option<Self>) -> [String; 3] {
        let each = latency.map_or([None; 3], |Self { p50, p90, p99 }| [Some(p50), p90, Some(p99)]);
        each.map(|ms| ms.map_or(String::new(), short))
    }
}

/// What the delegates of a protocol and its primary sent each other in a run, the message itself not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Traffic {
    /// Messages from a delegate to the primary in one attempt, each after an answer to the one before.
    pub(crate) rounds: usize,
    /// Attempts after the first.
    pub(crate) restarts: usize,
    /// Bytes that one delegate sends in the whole run.
    pub(crate) delegate_bytes: usize,
    /// Bytes that the primary sends to one delegate in the whole run.
    pub(crate) primary_bytes: usize,
    /// Bytes of the final signature, with a bitmap of the signers if the verifier needs one.
    pub(crate) result_bytes: usize,
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rounds, restarts, delegate_bytes, primary_bytes, result_bytes } = self;
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        write!(f, "{}, {}, ", count(*rounds, "round"), count(*restarts, "restart"))?;
        write!(f, "{delegate_bytes} bytes from a delegate, {primary_bytes} to it, {result_bytes} in the result")
    }
}

/// Microseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Times {
    pub(crate) min: f64,
    pub(crate) median: f64,
    pub(crate) max: f64,
}

/// The greatest time by the least, above which a row says that the machine was busy.
const MOST_SPREAD: f64 = 3.0;
/// What such a row says.
pub(crate) const BUSY: &str = "the machine was busy";

impl Times {
    /// Whether the same work took times too different to compare.
    pub(crate) fn are_busy(&self) -> bool {
        self.max > MOST_SPREAD * self.min
    }

    /// The least, the median and the greatest of some measured times.
    ///
    /// # Panics
    /// If there are none.
    pub(crate) fn of(mut measured: Vec<f64>) -> Self {
        measured.sort_by(f64::total_cmp);
        Self { min: measured[0], median: median(&measured), max: measured[measured.len() - 1] }
    }
}

/// The middle of sorted figures, or the mean of the two that are there.
///
/// # Panics
/// If there are none.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[half - 1] + sorted[half]) / 2.0 } else { sorted[half] }
}

/// The machine on which rows were measured, and what was measured there.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Day and minute, in UTC. The documents show the newest record.
    pub(crate) date: String,
    pub(crate) cpu: String,
    /// Who made the CPU: "intel", "amd". It and the two numbers below say which CPU it is where the name does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_vendor: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_family: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cpu_model: Option<u32>,
    /// The CPU features by which engines choose their code.
    pub(crate) features: Vec<String>,
    /// The one that stood ready when the program ran.
    pub(crate) compiler: String,
    /// The profile, and RUSTFLAGS of the environment in which the program ran.
    pub(crate) flags: String,
    pub(crate) commit: String,
    /// The editions of the methods by which the rows were measured.
    #[serde(default, skip_serializing_if = "Editions::is_empty")]
    pub(crate) methods: Editions,
}

impl Machine {
    pub(crate) fn here() -> Result<Self> {
        let info = cpu::info();
        let field = |name| cpu::field(&info, name);
        let rustflags = std::env::var("RUSTFLAGS").unwrap_or_default();
        Ok(Self {
            date: output("date", &["-u", "+%Y-%m-%d %H:%M"])?,
            cpu: cpu::name().unwrap_or_else(|| "unknown CPU".into()),
            cpu_vendor: match field("vendor_id") {
                "" => None,
                "GenuineIntel" => Some("intel".to_owned()),
                "AuthenticAMD" => Some("amd".to_owned()),
                other => Some(slug(other)),
            },
            cpu_family: field("cpu family").parse().ok(),
            cpu_model: field("model").parse().ok(),
            features: cpu::features(&info),
            compiler: output("rustc", &["--version"])?,
            flags: format!("{}; RUSTFLAGS={rustflags:?}", built::profile()?),
            commit: commit().unwrap_or_else(|_| "unknown".into()),
            methods: methods::today(),
        })
    }

    /// Whether rows of both can stand in one record: everything but the time is the same.
    pub(crate) fn is_as(&self, other: &Self) -> bool {
        *self == Self { date: self.date.clone(), ..other.clone() }
    }

    /// Whether both have the same kind of CPU.
    pub(crate) fn has_cpu_of(&self, other: &Self) -> bool {
        let cpu = |of: &Self| (of.cpu.clone(), of.cpu_vendor.clone(), of.cpu_family, of.cpu_model);
        cpu(self) == cpu(other)
    }

    /// The folder of this machine's record in a repository: `benchmarks/2026-11-21-intel-6-143-xeon`, by the day, who made the
    /// CPU, its family, its model and its name.
    pub(crate) fn folder(&self, repository: &Path) -> PathBuf {
        let day = self.date.split(' ').next().unwrap_or_default();
        let numbers = [self.cpu_family, self.cpu_model].into_iter().flatten().map(|number| number.to_string());
        let name = slug(&self.cpu);
        let says_nothing = ["r", "tm", "cpu", "processor"];
        let words =
            name.split('-').filter(|word| !says_nothing.contains(word) && Some(*word) != self.cpu_vendor.as_deref());
        let parts = self.cpu_vendor.iter().cloned().chain(numbers).chain(words.map(str::to_owned));
        let parts: Vec<_> = std::iter::once(day.to_owned()).chain(parts).collect();
        folder_of_records(repository).join(parts.join("-"))
    }
}

/// Lower-case letters and digits, with `-` in place of everything else.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}), {}, commit {}", self.cpu, self.features.join(" "), self.compiler, self.commit)
    }
}

/// The commit of the sources as they stand when the program runs, marked if the working tree differs from it in more than
/// records. Whoever changes them after the build gets rows of the old ones under the new commit.
fn commit() -> Result<String> {
    // The program may run in the folder of another repository.
    let sources = env!("CARGO_MANIFEST_DIR");
    let commit = output("git", &["-C", sources, "describe", "--always"])?;
    let changed = output("git", &["-C", sources, "status", "--porcelain", "--", ":/", ":(top,exclude)benchmarks"])?;
    Ok(if changed.is_empty() { commit } else { commit + "-dirty" })
}

/// The folder of the records in a repository.
pub(crate) fn folder_of_records(repository: &Path) -> PathBuf {
    repository.join("benchmarks")
}

/// Rows as a table of text. The ratio is the figure of the benchmark's first engine divided by this row's. Notes are shown if
/// a row has traffic, whose figures mean little without them, and a row of a busy machine says so. Times and gas are two tables.
pub(crate) fn table(rows: &[Row]) -> String {
    let (times, gas): (Vec<_>, Vec<_>) = rows.iter().partition(|row| matches!(row.figures, Figures::Us(_)));
    [times, gas].iter().filter(|rows| !rows.is_empty()).map(|rows| of_one_kind(rows)).collect::<Vec<_>>().join("\n")
}

fn of_one_kind(rows: &[&Row]) -> String {
    let Some(heads) = rows.first().map(|row| row.figures.heads()) else { return String::new() };
    let has_latencies = rows.iter().any(|row| row.latency_ms.is_some());
    let [p50, p99] = if has_latencies { ["p50 ms", "p99 ms"] } else { [""; 2] };
    let p90 =
        if rows.iter().any(|row| row.latency_ms.is_some_and(|latency| latency.p90.is_some())) { "p90 ms" } else { "" };
    let has_notes = rows.iter().any(|row| row.traffic.is_some());
    let note = |row: &Row| {
        let parts = [row.is_busy().then(|| BUSY.to_owned()), has_notes.then(|| row.remark())];
        parts.into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    };
    let head = if rows.iter().any(|row| !note(row).is_empty()) { "note" } else { "" };
    let header = ["bench", "engine", "t", "n", heads[0], heads[1], "ratio", p50, p90, p99, head].map(str::to_owned);
    let cells = rows.iter().map(|row| {
        let first = rows.iter().find(|r| r.bench == row.bench && r.n == row.n).unwrap_or(row);
        let [middle, beside] = row.figures.written();
        let [p50, p90, p99] = Latency::written(row.latency_ms);
        [
            row.bench.clone(),
            row.engine.clone(),
            row.threads.to_string(),
            row.n.to_string(),
            middle,
            beside,
            format!("{:.2}", first.figures.middle() / row.figures.middle()),
            p50,
            p90,
            p99,
            note(row),
        ]
    });
    let lines: Vec<_> = std::iter::once(header).chain(cells).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 10] = std::array::from_fn(width);
    let mut text = String::new();
    for [bench, engine, numbers @ .., note] in &lines {
        text += &format!("{bench:<0$} {engine:<1$}", widths[0], widths[1]);
        for (number, width) in numbers.iter().zip(&widths[2..]).filter(|(_, width)| **width > 0) {
            text += &format!(" {number:>width$}");
        }
        text += &format!("  {note}");
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// A whole number with separators of thousands: 1,234.
pub(crate) fn whole(number: f64) -> String {
    HumanCount(number.round() as u64).to_string()
}

/// Three significant digits or whole microseconds.
pub(crate) fn short(us: f64) -> String {
    let decimals = match us {
        us if us >= 100.0 => 0,
        us if us > 0.0 => (2 - us.log10().floor() as i32).clamp(0, 9) as usize,
        _ => 0,
    };
    format!("{us:.decimals$}")
}

fn output(program: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program).args(arguments).output().with_context(|| format!("cannot run {program}"))?;
    anyhow::ensure!(output.status.success(), "{program} failed");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        for (us, text) in [
            (0.0, "0"),
            (0.006_683, "0.00668"),
            (0.5, "0.500"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (99.96, "100.0"),
            (123.4, "123"),
            (98_765.4, "98765"),
        ] {
            assert_eq!(short(us), text);
        }
    }

    fn machine(cpu: &str, vendor: Option<&str>, numbers: Option<(u32, u32)>) -> Machine {
        Machine {
            date: "2026-11-21 18:52".into(),
            cpu: cpu.into(),
            cpu_vendor: vendor.map(str::to_owned),
            cpu_family: numbers.map(|(family, _)| family),
            cpu_model: numbers.map(|(_, model)| model),
            features: vec![],
            compiler: String::new(),
            flags: String::new(),
            commit: String::new(),
            methods: Editions::new(),
        }
    }

    #[test]
    fn a_records_folder_names_family_and_model() {
        for (machine, name) in [
            (machine("Intel(R) Xeon(R) Processor", Some("intel"), Some((6, 143))), "2026-11-21-intel-6-143-xeon"),
            (machine("AMD EPYC 9B14", Some("amd"), Some((25, 17))), "2026-11-21-amd-25-17-epyc-9b14"),
            (machine("ARM 0x41 0xd0c", None, None), "2026-11-21-arm-0x41-0xd0c"),
            (machine("unknown CPU", None, None), "2026-11-21-unknown"),
        ] {
            assert_eq!(machine.folder(Path::new("here")), Path::new("here/benchmarks").join(name));
        }
    }

    /// Records that were made before have neither family nor model.
    #[test]
    fn old_records_are_read() {
        let records = folder_of_records(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let mut seen = 0;
        for entry in std::fs::read_dir(records).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path().join("machine.json")).unwrap();
            let machine: Machine = serde_json::from_str(&text).unwrap();
            assert!(machine.date.starts_with("20"), "{machine:?}");
            seen += 1;
        }
        assert!(seen >= 2, "{seen}");
    }

    fn row(bench: &str, n: usize, median: f64) -> Row {
        Row {
            bench: bench.into(),
            engine: "quorate/portable".into(),
            threads: 1,
            n,
            per: "item".into(),
            figures: Figures::Us(Times { min: median, median, max: 2.0 * median }),
            cpu_us: None,
            latency_ms: None,
            refused: None,
            traffic: None,
            note: String::new(),
        }
    }

    #[test]
    fn times_are_the_least_the_median_and_the_greatest() {
        let Times { min, median, max } = Times::of(vec![3.0, 9.0, 1.0]);
        assert_eq!((min, median, max), (1.0, 3.0, 9.0));
        assert_eq!((Times::of(vec![3.0, 1.0]).median, Times::of(vec![7.0]).median), (2.0, 7.0));
        let Gas { mean, median } = Gas::of(&[8, 1, 4, 3]);
        assert_eq!((mean, median), (4.0, 3.5));
    }

    /// The names of the fields are a contract with those who read records.
    #[test]
    fn traffic_is_written_and_shown() {
        let traffic = Traffic { rounds: 2, restarts: 1, delegate_bytes: 98, primary_bytes: 66, result_bytes: 64 };
        let row = Row { traffic: Some(traffic), note: "ifma".into(), ..row("round/B/primary", 32, 1e3) };
        let written = serde_json::to_value(&row).unwrap();
        let expected = r#"{"rounds":2,"restarts":1,"delegate_bytes":98,"primary_bytes":66,"result_bytes":64}"#;
        assert_eq!(written["traffic"], serde_json::from_str::<serde_json::Value>(expected).unwrap());
        assert_eq!(serde_json::from_value::<Row>(written).unwrap().traffic, Some(traffic));
        let shown = "2 rounds, 1 restart, 98 bytes from a delegate, 66 to it, 64 in the result; ifma";
        assert!(table(&[row]).trim_end().ends_with(shown));
        let without = serde_json::to_value(self::row("msm/g1", 8, 1.0)).unwrap();
        assert_eq!(without.get("traffic"), None);
    }

    /// A spread above three says so beside the row; a row whose spread is of different claims does not.
    #[test]
    fn a_spread_above_3_says_that_the_machine_was_busy() {
        let spread = |max: f64| Row {
            figures: Figures::Us(Times { min: 10.0, median: 12.0, max }),
            cpu_us: None,
            ..row("batch/distinct", 8, 1.0)
        };
        assert!(!spread(30.0).is_busy() && spread(30.1).is_busy());
        let text = table(&[spread(29.0), spread(31.0)]);
        let said: Vec<_> = text.lines().map(|line| line.ends_with(BUSY)).collect();
        assert_eq!(said, [false, false, true], "{text}");
        let claims = Row { latency_ms: Some(Latency { p50: 1.0, p90: None, p99: 9.0 }), ..spread(90.0) };
        assert!(!claims.is_busy());
        assert_eq!(Row::line("8 claims", [&spread(29.0), &spread(31.0)].into_iter()), format!("8 claims ({BUSY})"));
        assert_eq!(Row::line("8 claims", [&spread(29.0), &claims].into_iter()), "8 claims");
    }

    /// Rows of before do not say how many claims were refused.
    #[test]
    fn a_load_that_was_refused_has_no_p99() {
        let latency_ms = Some(Latency { p50: 1.0, p90: None, p99: 9.0 });
        let of = |refused| Row { latency_ms, refused, ..row("service/rate=100000", 1, 1.0) };
        assert_eq!([None, Some(0.0), Some(0.009)].map(|refused| of(refused).p99()), [Some(9.0); 3]);
        assert_eq!([Some(0.01), Some(0.8)].map(|refused| of(refused).p99()), [None; 2]);
        let written = serde_json::to_value([of(None), of(Some(0.8))]).unwrap();
        assert_eq!((written[0].get("refused"), &written[1]["refused"]), (None, &serde_json::json!(0.8)));
    }

    #[test]
    fn times_and_gas_have_heads_of_their_own() {
        let gas = Row { figures: Figures::Gas(Gas { mean: 5e5, median: 4e5 }), ..row("network/gas", 4, 1.0) };
        let text = table(&[row("network/quorum", 4, 7.0), gas, row("network/quorum", 10, 8.0)]);
        let tables: Vec<_> = text.split("\n\n").collect();
        assert_eq!(tables.len(), 2, "{text}");
        assert!(tables[0].contains("median µs") && tables[0].lines().count() == 3, "{text}");
        assert!(tables[1].contains("mean gas") && tables[1].contains("500,000"), "{text}");
    }

    #[test]
    fn columns_are_as_wide_as_their_longest() {
        let text = table(&[row("field/fp12-cyclotomic-square", 8, 0.006_683), row("msm/g1", 65_536, 1e6)]);
        let widths: Vec<_> = text.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{text}");
        assert!(text.contains("0.00668 "), "{text}");
    }
}
