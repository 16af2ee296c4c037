//! The tables of the documents, from the newest record: whatever stands between the markers is written by this file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use crate::{
    plot,
    row::{Machine, Row, folder_of_records, short, whole},
};

/// Rewrites the generated tables of `README.md` and `BENCHMARKING.md`.
pub(crate) fn write() -> Result<()> {
    let record = newest()?;
    let machine: Machine = read(&record.join("machine.json"))?;
    let mut rows: Vec<Row> = Vec::new();
    for name in ["single", "batch", "block", "aggregate", "culprits", "msm", "curve", "field", "gas"] {
        let file = record.join(format!("{name}.json"));
        if file.exists() {
            rows.extend(read::<Vec<Row>>(&file)?);
        }
    }
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let from = format!(
        "Measured {} on one core of: {} ({}), {}, commit {}. Rows: `benchmarks/{}`.\n",
        machine.date,
        machine.cpu,
        machine.features.join(", "),
        machine.compiler,
        machine.commit,
        record.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    );
    let readme = root.join("README.md");
    replace(&readme, "report", &format!("{from}\n{}", headline(&rows)))?;
    replace(&readme, "gas", &gas(&rows))?;
    plot::gas(&rows, &root.join("docs/gas.svg"))?;
    replace(&root.join("BENCHMARKING.md"), "report", &format!("{from}\n{}", full(&rows)))
}

/// Mean gas of a transaction by operators, an engine a line; and of the policies of refreshing.
fn gas(rows: &[Row]) -> String {
    let engines = [
        ("quorate/a", "**a** BN254, keys in G2"),
        ("quorate/b", "**b** BN254, keys in G1"),
        ("quorate/d", "**d** BLS12-381, keys in G2"),
        ("source/difference", "the source's difference cache"),
        ("source/exact-match", "the source's exact cache"),
        ("source/sum-of-all", "the sum of every signer"),
        ("published/eigenlayer", "EigenLayer, published"),
    ];
    let find = |bench: &str, engine: &str, n: usize| {
        let row = rows.iter().find(|row| row.bench == bench && row.engine == engine && row.n == n);
        row.map_or("–".into(), |row| whole(row.figures.middle()))
    };
    let sizes = [4, 10, 50, 100, 200, 1000];
    let mut text = String::new();
    for (bench, what) in [("gas/flip", "changes with 10 %"), ("gas/miss", "misses a task with 10 %")] {
        text += &format!("\nEach operator {what}:\n\n| | {} |\n", sizes.map(|n| format!("n = {n}")).join(" | "));
        text += &format!("|---|{}\n", "--:|".repeat(sizes.len()));
        for (engine, name) in engines {
            let figures = sizes.map(|n| find(bench, engine, n));
            if figures.iter().any(|figure| figure != "–") {
                text += &format!("| {name} | {} |\n", figures.join(" | "));
            }
        }
    }
    text += "\nWhen to store a base, 100 operators, back end a, mean of a longer trace:\n\n";
    text += "| | full set alone | last | ring of 8 | ring of 32 | ski rental | best one slot, in hindsight |\n";
    text += "|---|--:|--:|--:|--:|--:|--:|\n";
    let models = [
        ("gas/refresh-flip", "each changes with 10 %"),
        ("gas/refresh-miss", "each misses with 10 %"),
        ("gas/refresh-shifts", "four shifts in turn, a quarter off duty"),
    ];
    for (bench, what) in models {
        let policies = ["full", "last", "ring-8", "ring-32", "ski-rental", "optimum"];
        text += &format!("| {what} | {} |\n", policies.map(|policy| find(bench, policy, 100)).join(" | "));
    }
    text
}

/// The comparisons with blst that a reader of the README looks for.
fn headline(rows: &[Row]) -> String {
    let wanted = [
        ("single/verify", 1, "one claim"),
        ("batch/distinct", 16, "16 claims, distinct messages"),
        ("batch/distinct", 128, "128 claims, distinct messages"),
        ("batch/distinct", 1024, "1,024 claims, distinct messages"),
        ("batch/distinct-with-keys", 1024, "the same from bytes, keys decoded and checked too"),
        ("batch/min-sig", 1024, "1,024 claims, keys in G2"),
        ("batch/few-signers", 100, "100 claims by 5 signers"),
        ("batch/same-message", 128, "128 claims, one message"),
        ("batch/same-message-checked", 128, "the same, membership known"),
        ("aggregate/messages", 100, "an aggregate of 100 messages by 5 signers"),
        ("aggregate/signers", 100, "one message, 100 signers"),
        ("block/known=0", 1000, "a block of 1,000, nothing known"),
        ("block/known=90", 1000, "the same, 90 % known"),
        ("block/known=100", 1000, "the same, all known"),
        ("culprits/bad=1", 128, "one false claim among 128, beyond the failed batch"),
        ("culprits/bad=16", 128, "16 false among 128"),
        ("msm/g1", 1 << 16, "a sum of 65,536 points of G1 times 255 bits"),
        ("msm/g2", 1 << 16, "the same in G2"),
    ];
    let mut text = String::from(
        "| | blst | portable | lanes | lanes, two threads | one thread to blst |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for (bench, n, what) in wanted {
        let time = |engine: &str, threads: usize| {
            let row = rows.iter().find(|r| r.bench == bench && r.n == n && r.engine == engine && r.threads == threads);
            row.map(|row| row.figures.middle() * if matches!(&row.per[..], "claim" | "point") { n as f64 } else { 1.0 })
        };
        let milliseconds = |us: Option<f64>| us.map_or("–".to_owned(), |us| format!("{} ms", short(us / 1e3)));
        let (blst, portable, lanes) = (time("blst", 1), time("quorate/portable", 1), time("quorate/ifma", 1));
        let fastest = lanes.into_iter().chain(portable).reduce(f64::min);
        let ratio = blst.zip(fastest).map_or(String::new(), |(blst, fastest)| format!("{:.1}×", blst / fastest));
        let times = [blst, portable, lanes, time("quorate/ifma", 2)].map(milliseconds);
        text += &format!("| {what} | {} | {ratio} |\n", times.join(" | "));
    }
    text
}

/// Every row.
fn full(rows: &[Row]) -> String {
    let mut text = String::from(
        "| bench | n | engine | threads | median µs, mean gas | min..max, median | per | note |\n|---|--:|---|--:|--:|--:|---|---|\n",
    );
    for row in rows {
        let [middle, beside] = row.figures.written();
        text += &format!(
            "| `{}` | {} | {} | {} | {middle} | {beside} | {} | {} |\n",
            row.bench, row.n, row.engine, row.threads, row.per, row.note,
        );
    }
    text
}

/// Replaces what stands between the markers of a name.
fn replace(path: &Path, name: &str, table: &str) -> Result<()> {
    let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- {edge}: quorate-bench {name} -->\n"));
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let missing = || format!("{} has no markers for the table `{name}`", path.display());
    let (before, rest) = text.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    fs::write(path, format!("{before}{begin}{table}{end}{after}"))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn newest() -> Result<PathBuf> {
    let folder = folder_of_records();
    let entries = fs::read_dir(&folder).with_context(|| format!("no records in {}", folder.display()))?;
    let folders = entries.filter_map(|entry| entry.ok().map(|e| e.path())).filter(|path| path.is_dir());
    let date = |path: &PathBuf| read::<Machine>(&path.join("machine.json")).map(|machine| machine.date).ok();
    folders
        .max_by_key(date)
        .with_context(|| format!("no records in {}: run `quorate-bench all --record`", folder.display()))
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a record", path.display()))
}
