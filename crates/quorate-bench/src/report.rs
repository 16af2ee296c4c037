//! The tables of the documents, from the newest record. This file writes everything between the markers
//! `<!-- begin: quorate-bench NAME -->` and `<!-- end: quorate-bench NAME -->`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    plot,
    row::{Machine, Row, folder_of_records, short, whole},
    speed,
};

/// The documents that can hold generated tables.
const DOCUMENTS: [&str; 3] = ["README.md", "docs/onchain.md", "BENCHMARKING.md"];

/// Rewrites the generated tables of a repository's documents, and the plots of gas and of times. Answers with the files that it
/// wrote.
pub(crate) fn write(root: &Path) -> Result<Vec<PathBuf>> {
    let record = newest(root)?;
    let machine: Machine = read(&record.join("machine.json"))?;
    let mut rows: Vec<Row> = Vec::new();
    for name in ["single", "batch", "block", "aggregate", "culprits", "msm", "curve", "field", "dropin", "gas"] {
        let file = record.join(format!("{name}.json"));
        if file.exists() {
            rows.extend(read::<Vec<Row>>(&file)?);
        }
    }
    let from = format!(
        "Measured {} on one core of {} ({}), with {}, at commit {}. The rows are in `benchmarks/{}`.\n",
        machine.date,
        machine.cpu,
        machine.features.join(", "),
        machine.compiler,
        machine.commit,
        record.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default(),
    );
    let documents = DOCUMENTS.map(|name| root.join(name));
    let missing = documents.iter().find(|path| !path.is_file());
    ensure!(
        missing.is_none(),
        "there is no {}; run this in the repository, or name the repository with --dir",
        missing.map(|path| path.display().to_string()).unwrap_or_default()
    );
    let plots = ["docs/gas.svg", "docs/speed.svg"].map(|name| root.join(name));
    plot::gas(&rows, &plots[0])?;
    speed::plot(&rows, &plots[1])?;
    replace(&documents[..1], "report", &format!("{from}\n{}", headline(&rows)))?;
    replace(&documents[2..], "report", &format!("{from}\n{}", full(&rows)))?;
    replace(&documents, "gas", &gas(&rows))?;
    replace(&documents, "gas-short", &gas_short(&rows))?;
    Ok([&plots[..], &documents].concat())
}

/// The engines of the gas tables, and what they are called there.
const GAS_ENGINES: [(&str, &str); 7] = [
    ("quorate/bn254-g2", "quorate, BN254, keys in G2"),
    ("quorate/bn254-g1", "quorate, BN254, keys in G1"),
    ("quorate/bls12381-g2", "quorate, BLS12-381, keys in G2"),
    ("source/difference", "baseline: difference cache"),
    ("source/exact-match", "baseline: cache of exact quorums"),
    ("source/sum-of-all", "baseline: sum of all signers"),
    ("published/eigenlayer", "EigenLayer, as published"),
];

/// The mean gas of a transaction by number of operators, and of each policy for storing bases.
fn gas(rows: &[Row]) -> String {
    let sizes = [4, 10, 50, 100, 200, 1000];
    let mut text = String::new();
    for (bench, what) in [
        ("gas/flip", "From task to task, each operator joins or leaves with a probability of 10 %"),
        ("gas/miss", "Each operator misses a task with a probability of 10 %"),
    ] {
        text += &format!("\n{what}:\n\n{}", gas_table(rows, bench, &sizes));
    }
    text += "\nWhen to store a base: mean gas over a longer trace, 100 operators, keys in G2 of BN254:\n\n";
    text += "| | full set only | last quorum | ring of 8 | ring of 32 | ski rental | best in hindsight, one slot |\n";
    text += "|---|--:|--:|--:|--:|--:|--:|\n";
    let models = [
        ("gas/refresh-flip", "each joins or leaves with 10 %"),
        ("gas/refresh-miss", "each misses a task with 10 %"),
        ("gas/refresh-shifts", "four shifts in turn, a quarter off duty"),
    ];
    for (bench, what) in models {
        let policies = ["full", "last", "ring-8", "ring-32", "ski-rental", "optimum"];
        text += &format!("| {what} | {} |\n", policies.map(|policy| mean_gas(rows, bench, policy, 100)).join(" | "));
    }
    text
}

/// One model of membership and three sizes.
fn gas_short(rows: &[Row]) -> String {
    gas_table(rows, "gas/miss", &[10, 100, 1000])
}

/// A line for each engine that was measured, a column for each number of operators.
fn gas_table(rows: &[Row], bench: &str, sizes: &[usize]) -> String {
    let heads: Vec<_> = sizes.iter().map(|n| format!("{} operators", whole(*n as f64))).collect();
    let mut text = format!("| gas of a transaction | {} |\n|---|{}\n", heads.join(" | "), "--:|".repeat(sizes.len()));
    for (engine, name) in GAS_ENGINES {
        let figures: Vec<_> = sizes.iter().map(|n| mean_gas(rows, bench, engine, *n)).collect();
        if figures.iter().any(|figure| figure != "–") {
            text += &format!("| {name} | {} |\n", figures.join(" | "));
        }
    }
    text
}

fn mean_gas(rows: &[Row], bench: &str, engine: &str, n: usize) -> String {
    let row = rows.iter().find(|row| row.bench == bench && row.engine == engine && row.n == n);
    row.map_or("–".into(), |row| whole(row.figures.middle()))
}

/// The comparison with blst, for the README.
fn headline(rows: &[Row]) -> String {
    let wanted = [
        ("single/verify", 1, "one claim"),
        ("batch/distinct", 16, "16 claims, distinct messages"),
        ("batch/distinct", 128, "128 claims, distinct messages"),
        ("batch/distinct", 1024, "1,024 claims, distinct messages"),
        ("batch/distinct-with-keys", 1024, "the same from bytes, with decoding and checking of keys"),
        ("batch/min-sig", 1024, "1,024 claims, keys in G2"),
        ("batch/few-signers", 100, "100 claims by 5 signers"),
        ("batch/same-message", 128, "128 claims, one message"),
        ("batch/same-message-checked", 128, "the same, signatures already checked to be in the subgroup"),
        ("aggregate/messages", 100, "one aggregate signature over 100 messages by 5 signers"),
        ("aggregate/signers", 100, "one aggregate signature of 100 signers over one message"),
        ("block/known=0", 1000, "a block of 1,000 signatures, none known"),
        ("block/known=90", 1000, "the same, 90 % already verified"),
        ("block/known=100", 1000, "the same, all already verified"),
        ("culprits/bad=1", 128, "finding 1 invalid claim among 128, after the batch failed"),
        ("culprits/bad=16", 128, "finding 16 invalid claims among 128"),
        ("msm/g1", 1 << 16, "multi-scalar multiplication, 65,536 points of G1, 255-bit scalars"),
        ("msm/g2", 1 << 16, "the same in G2"),
    ];
    let mut text = String::from(
        "| | blst | quorate, portable | quorate, IFMA | IFMA, two threads | speed-up over blst, one thread |\n|---|--:|--:|--:|--:|--:|\n",
    );
    for (bench, n, what) in wanted {
        let time = |engine: &str, threads: usize| {
            let row = rows.iter().find(|r| r.bench == bench && r.n == n && r.engine == engine && r.threads == threads);
            row.map(Row::total)
        };
        let milliseconds = |us: Option<f64>| us.map_or("–".to_owned(), |us| format!("{} ms", short(us / 1e3)));
        let (blst, portable, ifma) = (time("blst", 1), time("quorate/portable", 1), time("quorate/ifma", 1));
        let fastest = ifma.into_iter().chain(portable).reduce(f64::min);
        let ratio = blst.zip(fastest).map_or(String::new(), |(blst, fastest)| format!("{:.1}×", blst / fastest));
        let times = [blst, portable, ifma, time("quorate/ifma", 2)].map(milliseconds);
        text += &format!("| {what} | {} | {ratio} |\n", times.join(" | "));
    }
    text
}

/// All rows, for BENCHMARKING.md.
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

/// Replaces the text between the markers of a table, in every document that has them.
fn replace(documents: &[PathBuf], name: &str, table: &str) -> Result<()> {
    let [begin, end] = ["begin", "end"].map(|edge| format!("<!-- {edge}: quorate-bench {name} -->\n"));
    let mut found = false;
    for path in documents {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let Some((before, rest)) = text.split_once(&begin) else { continue };
        let unclosed = || format!("{}: the table `{name}` has no line `{}`", path.display(), end.trim_end());
        let (_, after) = rest.split_once(&end).with_context(unclosed)?;
        let written = fs::write(path, format!("{before}{begin}{table}{end}{after}"));
        written.with_context(|| format!("cannot write {}", path.display()))?;
        found = true;
    }
    let names: Vec<_> = documents.iter().map(|path| path.display().to_string()).collect();
    ensure!(found, "no line `{}` in {}; add the markers where the table belongs", begin.trim_end(), names.join(", "));
    Ok(())
}

fn newest(root: &Path) -> Result<PathBuf> {
    let folder = folder_of_records(root);
    let entries = fs::read_dir(&folder).with_context(|| {
        format!("no records in {}; run this in the repository, or name the repository with --dir", folder.display())
    })?;
    let folders = entries.filter_map(|entry| entry.ok().map(|e| e.path())).filter(|path| path.is_dir());
    let date = |path: &PathBuf| read::<Machine>(&path.join("machine.json")).map(|machine| machine.date).ok();
    folders
        .max_by_key(date)
        .with_context(|| format!("no records in {}: run `quorate-bench all --record`", folder.display()))
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a record of benchmarks", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The report of a repository elsewhere changes nothing but that repository.
    #[test]
    fn the_report_is_written_where_it_is_asked_for() {
        let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let before = fs::read(source.join("README.md")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let root = elsewhere.path();
        assert!(write(root).unwrap_err().to_string().contains("--dir"));
        let record = newest(&source).unwrap();
        let copy = folder_of_records(root).join(record.file_name().unwrap());
        fs::create_dir_all(&copy).unwrap();
        fs::create_dir_all(root.join("docs")).unwrap();
        for file in fs::read_dir(&record).unwrap() {
            let file = file.unwrap().path();
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
        assert!(write(root).unwrap_err().to_string().contains("README.md"));
        let table =
            |name: &str| format!("<!-- begin: quorate-bench {name} -->\nold\n<!-- end: quorate-bench {name} -->\n");
        for document in DOCUMENTS {
            fs::write(root.join(document), ["report", "gas", "gas-short"].map(table).concat()).unwrap();
        }
        let written = write(root).unwrap();
        assert_eq!(written.len(), 5);
        assert!(written.iter().all(|path| path.starts_with(root) && path.is_file()), "{written:?}");
        assert!(!fs::read_to_string(root.join("README.md")).unwrap().contains("old"));
        assert_eq!(fs::read(source.join("README.md")).unwrap(), before);
    }
}
