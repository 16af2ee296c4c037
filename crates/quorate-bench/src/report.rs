//! The tables of the documents, each from the newest record that has its rows. This file writes everything between the markers
//! `<!-- begin: quorate-bench NAME -->` and `<!-- end: quorate-bench NAME -->`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    plot,
    record::Record,
    row::{Figures, Latency, Row, short, whole},
    speed,
};

/// The documents that can hold generated tables.
const DOCUMENTS: [&str; 6] =
    ["README.md", "docs/onchain.md", "BENCHMARKING.md", "docs/batcher.md", "docs/lanes.md", "docs/node.md"];

/// Rewrites the generated tables of a repository's documents, and the plots of gas and of times. Answers with the files that it
/// wrote.
pub(crate) fn write(root: &Path) -> Result<Vec<PathBuf>> {
    // A record that was made for something else has some rows of the README's table, but not all.
    let main = Record::newest_with(root, &["aggregate", "batch"])?;
    let threshold = Record::newest_with(root, &["threshold"])?;
    let drop_in = Record::newest_with(root, &["dropin"])?;
    let service = Record::newest_with(root, &["service"])?;
    // Only the list of all rows has these, so they can be missing. It has them already if `main` has the newest.
    let others = ["schemes", "block", "history", "gas", "network", "day", "simulated"]
        .map(|name| Ok((name, Record::newest_or_none(root, &[name])?)));
    let others = others.into_iter().collect::<Result<Vec<_>>>()?;
    let others = others.into_iter().filter_map(|(name, record)| Some((name, record?)));
    let rows = main.rows(&["single", "batch", "block", "aggregate", "culprits", "msm", "curve", "field", "schemes"])?;
    // Gas is the same on every machine, so its newest record counts.
    let of_gas = Record::newest_with(root, &["gas"])?.rows(&["gas"])?;
    let of_thresholds = threshold.rows(&["threshold"])?;
    let of_the_drop_in = drop_in.rows(&["dropin"])?;
    let of_the_service = service.rows(&["service"])?;
    let documents = DOCUMENTS.map(|name| root.join(name));
    let missing = documents.iter().find(|path| !path.is_file());
    ensure!(
        missing.is_none(),
        "there is no {}; run this in the repository, or name the repository with --dir",
        missing.map(|path| path.display().to_string()).unwrap_or_default()
    );
    let plots = ["docs/gas.svg", "docs/speed.svg", "docs/service.svg"].map(|name| root.join(name));
    plot::gas(&of_gas, &plots[0])?;
    speed::plot(&rows, &plots[1])?;
    plot::service(&of_the_service, &plots[2])?;
    replace(&documents[..1], "report", &format!("{}\n{}", main.source(), headline(&rows)))?;
    replace(&documents[..1], "threshold", &format!("{}\n{}", threshold.source(), of_quorums(&of_thresholds)))?;
    replace(&documents, "service", &format!("{}\n{}", service.source(), under_load(&of_the_service)))?;
    let parts =
        [(&main, &rows), (&threshold, &of_thresholds), (&drop_in, &of_the_drop_in), (&service, &of_the_service)];
    let mut all: Vec<_> = parts.iter().map(|(record, rows)| format!("{}\n{}", record.source(), full(rows))).collect();
    for (name, record) in others.filter(|(_, record)| record.folder != main.folder) {
        all.push(format!("{}\n{}", record.source(), full(&record.rows(&[name])?)));
    }
    let mut lanes = Vec::new();
    for record in Record::newest_of_each_cpu(root, &["batch"])? {
        let mut rows = record.rows(&["single", "batch", "culprits", "msm"])?;
        // Older ones know no lanes of doubles.
        if rows.iter().all(|row| !row.engine.starts_with("quorate/fma")) {
            continue;
        }
        if record.folder != main.folder {
            all.push(format!("{}\n{}", record.source(), full(&rows)));
        }
        let mut source = record.source();
        // Blocks take longer than all the others together, so they may have a record of their own. Ratios are within one record.
        let blocks = Record::newest_of_each_cpu(root, &["block"])?;
        if let Some(blocks) = blocks.iter().find(|blocks| blocks.machine.has_cpu_of(&record.machine)) {
            rows.extend(blocks.rows(&["block"])?);
            if blocks.folder != record.folder {
                let further = blocks.source().replacen("Measured", "The block: measured", 1);
                source = format!("{} {further}", source.trim_end());
            }
        }
        lanes.push(format!("{source}\n{}", by_lanes(&rows)));
    }
    replace(&documents[2..3], "report", &all.join("\n"))?;
    replace(&documents, "lanes", &lanes.join("\n"))?;
    replace(&documents, "gas", &gas(&of_gas))?;
    replace(&documents, "gas-short", &gas_short(&of_gas))?;
    let networks = Record::newest_or_none(root, &["network"])?;
    let [mut long, mut short] = [const { String::new() }; 2];
    if let Some(record) = &networks {
        let mut rows = record.rows(&["network"])?;
        // Gas and simulated networks are the same on every machine.
        for name in ["day", "simulated"] {
            if let Some(record) = Record::newest_or_none(root, &[name])? {
                rows.extend(record.rows(&[name])?);
            }
        }
        long = format!("{}\n{}", record.source(), of_networks(&rows));
        short = format!("{}\n{}", record.source(), networks_short(&rows));
    } else {
        for text in [&mut long, &mut short] {
            text.push_str("No record has these rows. `quorate-bench network --record` makes one.\n");
        }
    }
    replace(&documents, "network", &long)?;
    replace(&documents, "network-short", &short)?;
    Ok([&plots[..], &documents].concat())
}

/// How many times as fast as blst each kind of lanes is, with one thread.
fn by_lanes(rows: &[Row]) -> String {
    let wanted = [
        ("single/verify", 1, "one claim"),
        ("batch/distinct", 8, "8 claims, distinct messages"),
        ("batch/distinct", 64, "64 claims"),
        ("batch/distinct", 1024, "1,024 claims"),
        ("batch/same-message", 128, "128 claims, one message"),
        ("batch/few-signers", 100, "100 claims by 5 signers"),
        ("block/known=0", 1000, "a block of 1,000 statements, nothing known"),
        ("culprits/bad=1", 128, "finding 1 invalid claim among 128"),
        ("msm/g1", 1 << 14, "multi-scalar multiplication, 16,384 points of G1"),
        ("msm/g2", 1 << 14, "the same in G2"),
    ];
    let mut text =
        String::from("| times as fast as blst | portable | ifma | fma-avx512 | fma-avx2 |\n|---|--:|--:|--:|--:|\n");
    for (bench, n, what) in wanted {
        let time = |engine: &str| {
            rows.iter().find(|r| r.bench == bench && r.n == n && r.engine == engine && r.threads == 1).map(Row::total)
        };
        // A record may lack a benchmark, or a back end that its machine cannot run.
        let Some(blst) = time("blst") else { continue };
        let ratios = ["portable", "ifma", "fma-avx512", "fma-avx2"].map(|name| {
            time(&format!("quorate/{name}")).map_or("–".to_owned(), |ours| format!("{:.2}", blst / ours))
        });
        text += &format!("| {what} | {} |\n", ratios.join(" | "));
    }
    text
}

/// The engines of the gas tables, and what they are called there.
const GAS_ENGINES: [(&str, &str); 9] = [
    ("quorate/bn254-g2", "quorate, BN254, keys in G2"),
    ("quorate/bn254-g1", "quorate, BN254, keys in G1"),
    ("quorate/bls12381-g2", "quorate, BLS12-381, keys in G2"),
    ("quorate/bls12381-g2-nu", "quorate, BLS12-381, keys in G2, nonuniform hash"),
    ("source/difference", "baseline: difference cache"),
    ("source/exact-match", "baseline: cache of exact quorums"),
    ("source/sum-of-all", "baseline: sum of all signers"),
    ("eigenlayer/check-signatures", "EigenLayer, rebuilt"),
    ("eigenlayer/check-signatures-proxies", "EigenLayer, rebuilt, registries behind proxies"),
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
    for (bench, what) in [
        (
            "gas/stakes-lognormal",
            "The same, with stakes whose logarithm is normally distributed; two thirds are required; from a weighed base",
        ),
        (
            "gas/stakes-zipf",
            "The same, where the operator in place i has 1/i of the largest stake; two thirds are required; from a weighed base",
        ),
        (
            "gas/hub",
            "Ten tasks in one call of a hub, where each operator joins or leaves with a probability of 10 %: gas of a task",
        ),
        ("gas/exact", "The quorum is a base"),
        ("gas/further-task", "Each further result of one quorum"),
        ("gas/begin", "`begin`, once in an epoch"),
        (
            "gas/miss-glamsterdam",
            "Each operator misses a task with a probability of 10 %, at the prices of Glamsterdam",
        ),
        ("gas/begin-glamsterdam", "`begin`, at the prices of Glamsterdam"),
        (
            "gas/miss-precompiles-twice",
            "Each operator misses a task with a probability of 10 %, precompiles at twice their price",
        ),
    ] {
        text += &format!("\n{what}:\n\n{}", gas_table(rows, bench, &sizes));
    }
    text += &per_task(rows, &sizes);
    text += &whole_network(rows, &sizes);
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

/// A task with its part of what its epoch costs by itself, for the key group that is the cheapest.
fn per_task(rows: &[Row], sizes: &[usize]) -> String {
    let mut text =
        String::from("\nA task with its part of its epoch, for the cheapest keys of each column:\n\n| gas |");
    text += &sizes.iter().map(|n| format!(" {} operators |", whole(*n as f64))).collect::<String>();
    text += &format!("\n|---|{}\n", "--:|".repeat(sizes.len()));
    let lines = [
        ("", "the epoch by itself"),
        ("-tasks=10", "a task, of 10 tasks an epoch"),
        ("-tasks=100", "a task, of 100"),
        ("-tasks=1000", "a task, of 1,000"),
    ];
    for (stakes, of) in [("miss", "equal stakes"), ("stakes-lognormal", "log-normal stakes")] {
        for (tasks, what) in lines {
            let least = |n: &usize| {
                let bench = format!("gas/epoch-{stakes}{tasks}");
                let of_size = rows.iter().filter(|row| row.bench == bench && row.n == *n);
                of_size.map(|row| row.figures.middle()).reduce(f64::min).map_or("–".into(), whole)
            };
            let figures: Vec<String> = sizes.iter().map(least).collect();
            text += &format!("| {of}: {what} | {} |\n", figures.join(" | "));
        }
    }
    text
}

/// What a whole `TaskNetwork` costs.
fn whole_network(rows: &[Row], sizes: &[usize]) -> String {
    let heads: Vec<_> = sizes.iter().map(|n| format!("{} operators", whole(*n as f64))).collect();
    let mut text =
        format!("\n`TaskNetwork` with keys in G2 of BN254:\n\n| gas of a transaction | {} |", heads.join(" | "));
    text += &format!("\n|---|{}\n", "--:|".repeat(sizes.len()));
    for (bench, what) in [
        ("gas/network-snapshot", "`snapshot`, once in an epoch"),
        ("gas/network-submit", "`submitTasks`, one task by a new quorum"),
        ("gas/network-submit-10", "`submitTasks`, ten tasks by a new quorum"),
        ("gas/network-tally", "`tally` of the epoch: about ten quorums, 50 tasks"),
        ("gas/network-claim", "`claim` of one epoch, the first tokens of its owner"),
    ] {
        let figures: Vec<_> = sizes.iter().map(|n| mean_gas(rows, bench, "quorate/bn254-g2", *n)).collect();
        text += &format!("| {what} | {} |\n", figures.join(" | "));
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

/// Recovery of a signature from shares, beside what no system on blst can avoid, and beside the source, for the README.
fn of_quorums(rows: &[Row]) -> String {
    let milliseconds = |bench: &str, engine: &dyn Fn(&str) -> bool, threads: usize, t: usize| {
        let found = rows.iter().filter(|r| r.bench == bench && r.n == t && r.threads == threads && engine(&r.engine));
        let best = found.map(Row::total).reduce(f64::min);
        best.map_or("–".to_owned(), |us| format!("{} ms", short(us / 1e3)))
    };
    let ours: &dyn Fn(&str) -> bool = &|engine| engine.starts_with("quorate/");
    let blst: &dyn Fn(&str) -> bool = &|engine| engine == "blst";
    let published: &dyn Fn(&str) -> bool = &|engine| engine.starts_with("published/") && !engine.ends_with("naive");
    let mut text = String::from(
        "| t of 2t - 1 | blst, its multi-scalar multiplication alone | any t signers | the same, two threads | 1 % missing | the source, 2020 |\n|--:|--:|--:|--:|--:|--:|\n",
    );
    for log in [7, 11, 14, 17, 20] {
        let t = 1 << log;
        let columns = [
            milliseconds("recover/msm-only", blst, 1, t),
            milliseconds("recover/random", ours, 1, t),
            milliseconds("recover/random", ours, 2, t),
            milliseconds("recover/missing=1%", ours, 1, t),
            milliseconds("recover/random", published, 1, t),
        ];
        text += &format!("| {} | {} |\n", whole(t as f64), columns.join(" | "));
    }
    text
}

/// All rows, for BENCHMARKING.md.
fn full(rows: &[Row]) -> String {
    let mut text = String::from(
        "| bench | n | engine | threads | median µs, mean gas | min..max, median | per | note |\n|---|--:|---|--:|--:|--:|---|---|\n",
    );
    let latency =
        |row: &Row| row.latency_ms.map(Latency::written).map(|[p50, p99]| format!("p50 {p50} ms, p99 {p99} ms"));
    for row in rows {
        let [middle, beside] = row.figures.written();
        text += &format!(
            "| `{}` | {} | {} | {} | {middle} | {beside} | {} | {} |\n",
            row.bench,
            row.n,
            row.engine,
            row.threads,
            row.per,
            [latency(row), Some(row.remark())]
                .into_iter()
                .flatten()
                .filter(|n| !n.is_empty())
                .collect::<Vec<_>>()
                .join("; "),
        );
    }
    text
}

/// The batcher under load.
fn under_load(rows: &[Row]) -> String {
    let mut text = String::new();
    for (bench, what) in [
        (
            "service/throughput",
            "The highest rate at which nothing is refused and 99 of 100 claims have their verdict within 100 ms",
        ),
        ("service/rate", "CPU time of a claim, and latencies, at rates from ten claims a second on"),
        ("service/block-latency", "A block of 128 statements"),
        ("service/liar", "One liar among 100 sources, who sends a part of all claims: the honest claims"),
        ("service/overload", "Ten times more claims than can be verified, for a minute"),
        ("service/sync", "Initial sync: 100 blocks of 1,000 statements, with nothing known and with 90 % known"),
    ] {
        text += &format!("\n{what}:\n\n| | engine | µs | per | p50 ms | p99 ms | |\n|---|---|--:|---|--:|--:|---|\n");
        for row in rows.iter().filter(|row| row.bench.starts_with(bench)) {
            let [p50, p99] = row.latency_ms.map_or([const { String::new() }; 2], Latency::written);
            let (name, us) = (row.bench.trim_start_matches("service/"), short(row.figures.middle()));
            text += &format!("| {name} | {} | {us} | {} | {p50} | {p99} | {} |\n", row.engine, row.per, row.note);
        }
    }
    text
}

/// Networks of nodes: times, what they cost, and gas beside its estimate.
fn of_networks(rows: &[Row]) -> String {
    let mut text = String::new();
    for (bench, what) in [
        ("network/quorum", "From the result to a verified quorum at the node that settles the task"),
        (
            "network/liars=33%",
            "The same if almost a third of the stake judges each result by the opposite of the truth",
        ),
        ("network/settled", "From the result to the block in which the task is settled"),
        ("network/simulated", "Simulated: from the result to a quorum at one node"),
    ] {
        if rows.iter().all(|row| row.bench != bench) {
            continue;
        }
        text += &format!("\n{what}:\n\n| operators | least ms | median ms | greatest ms | p99 ms | |\n");
        text += "|--:|--:|--:|--:|--:|---|\n";
        for row in rows.iter().filter(|row| row.bench == bench) {
            let [min, median, max] = match row.figures {
                Figures::Us(times) => [times.min, times.median, times.max].map(|us| short(us / 1e3)),
                Figures::Gas(_) => continue,
            };
            let p99 = row.latency_ms.map_or("–".to_owned(), |latency| short(latency.p99));
            text += &format!("| {} | {min} | {median} | {max} | {p99} | {} |\n", whole(row.n as f64), row.note);
        }
    }
    text += "\nGas of a settlement:\n\n| | operators | used, mean | estimated, mean | used | estimated |\n";
    text += "|---|--:|--:|--:|---|---|\n";
    for used in rows.iter().filter(|row| row.bench.starts_with("network/gas") && row.engine == "used/anvil") {
        let estimated = rows.iter().find(|r| r.bench == used.bench && r.n == used.n && r.engine == "estimated/plan");
        let Some(estimated) = estimated else { continue };
        let name = match used.bench.as_str() {
            "network/gas" => "all honest",
            "network/gas-day" => "a day: one lies, one crashes",
            _ => "almost a third lies",
        };
        let [mean, plan] = [used, estimated].map(|row| whole(row.figures.middle()));
        text += &format!("| {name} | {} | {mean} | {plan} | {} | {} |\n", used.n, used.note, estimated.note);
    }
    text
}

/// Half and 99 of 100 tasks.
fn networks_short(rows: &[Row]) -> String {
    let mut text = String::from("| operators | a quorum: half | 99 of 100 | settled: half | 99 of 100 |\n");
    text += "|--:|--:|--:|--:|--:|\n";
    for row in rows.iter().filter(|row| row.bench == "network/quorum") {
        let settled = rows.iter().find(|r| r.bench == "network/settled" && r.n == row.n);
        let cells = [Some(row), settled].map(|row| {
            let times = row.and_then(|row| row.latency_ms).map(|times| [times.p50, times.p99]);
            times.map_or("– | –".to_owned(), |times| times.map(|ms| format!("{} ms", short(ms))).join(" | "))
        });
        text += &format!("| {} | {} |\n", row.n, cells.join(" | "));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::folder_of_records;

    /// The table of epochs takes the cheapest keys of each size, and shows a dash for what was not measured.
    #[test]
    fn the_epoch_is_spread_over_its_tasks() {
        let row = |bench: &str, engine: &str, n: usize, gas: f64| -> Row {
            let gas = serde_json::json!({ "mean": gas, "median": gas });
            serde_json::from_value(serde_json::json!({
                "bench": bench, "engine": engine, "threads": 1, "n": n, "per": "transaction", "gas": gas
            }))
            .unwrap()
        };
        let rows = [
            row("gas/epoch-miss", "a", 10, 120_000.0),
            row("gas/epoch-miss-tasks=10", "a", 10, 170_000.0),
            row("gas/epoch-miss-tasks=10", "b", 10, 165_000.0),
            row("gas/epoch-miss-tasks=10", "b", 100, 190_000.0),
            row("gas/epoch-stakes-zipf-tasks=10", "b", 100, 1.0),
        ];
        let table = per_task(&rows, &[10, 100]);
        for line in [
            "| gas | 10 operators | 100 operators |\n",
            "| equal stakes: the epoch by itself | 120,000 | – |\n",
            "| equal stakes: a task, of 10 tasks an epoch | 165,000 | 190,000 |\n",
            "| log-normal stakes: a task, of 10 tasks an epoch | – | – |\n",
        ] {
            assert!(table.contains(line), "{line} in {table}");
        }
    }

    #[test]
    fn a_network_without_a_figure_has_a_dash() {
        let timed = |bench: &str, n: usize, ms: f64| -> Row {
            serde_json::from_value(serde_json::json!({
                "bench": bench, "engine": "quorate/libp2p", "threads": 2, "n": n, "per": "task", "note": "said",
                "us": { "min": 1e3, "median": ms * 1e3, "max": 9e6 }, "latency_ms": { "p50": ms, "p99": 8_000.0 }
            }))
            .unwrap()
        };
        let gas = |engine: &str, mean: f64| -> Row {
            serde_json::from_value(serde_json::json!({
                "bench": "network/gas", "engine": engine, "threads": 1, "n": 10, "per": "transaction", "note": engine,
                "gas": { "mean": mean, "median": mean }
            }))
            .unwrap()
        };
        let rows = [
            timed("network/quorum", 4, 120.0),
            timed("network/quorum", 10, 250.0),
            timed("network/settled", 10, 1_500.0),
            gas("used/anvil", 210_000.0),
            gas("estimated/plan", 211_000.0),
        ];
        let long = of_networks(&rows);
        assert!(long.contains("| 10 | 1.00 | 250 | 9000 | 8000 | said |\n"), "{long}");
        let line = "| all honest | 10 | 210,000 | 211,000 | used/anvil | estimated/plan |\n";
        assert!(long.contains(line), "{long}");
        let short = networks_short(&rows);
        assert!(short.contains("| 4 | 120 ms | 8000 ms | – | – |\n"), "{short}");
        assert!(short.contains("| 10 | 250 ms | 8000 ms | 1500 ms | 8000 ms |\n"), "{short}");
    }

    /// The report of a repository elsewhere changes nothing but that repository.
    #[test]
    fn the_report_is_written_where_it_is_asked_for() {
        let source = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let before = fs::read(source.join("README.md")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let root = elsewhere.path();
        assert!(write(root).unwrap_err().to_string().contains("--dir"));
        fs::create_dir_all(root.join("docs")).unwrap();
        for names in [&["aggregate", "batch"][..], &["batch"], &["gas"], &["threshold"], &["dropin"], &["service"]] {
            let record = Record::newest_with(&source, names).unwrap().folder;
            let copy = folder_of_records(root).join(record.file_name().unwrap());
            fs::create_dir_all(&copy).unwrap();
            for file in fs::read_dir(&record).unwrap() {
                let file = file.unwrap().path();
                fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
            }
        }
        assert!(write(root).unwrap_err().to_string().contains("README.md"));
        let table =
            |name: &str| format!("<!-- begin: quorate-bench {name} -->\nold\n<!-- end: quorate-bench {name} -->\n");
        for document in DOCUMENTS {
            fs::write(
                root.join(document),
                ["report", "lanes", "threshold", "service", "gas", "gas-short", "network", "network-short"]
                    .map(table)
                    .concat(),
            )
            .unwrap();
        }
        let written = write(root).unwrap();
        assert_eq!(written.len(), 9);
        assert!(written.iter().all(|path| path.starts_with(root) && path.is_file()), "{written:?}");
        assert!(!fs::read_to_string(root.join("README.md")).unwrap().contains("\nold\n"));
        assert!(fs::read_to_string(root.join("docs/node.md")).unwrap().contains("No record has these rows"));
        let schemes = folder_of_records(root).join("schemes");
        fs::create_dir_all(&schemes).unwrap();
        let machine = Record::newest_with(root, &["batch"]).unwrap().folder.join("machine.json");
        fs::copy(machine, schemes.join("machine.json")).unwrap();
        let times = serde_json::json!({ "min": 1.0, "median": 2.0, "max": 3.0 });
        let row = serde_json::json!({ "bench": "multi/sign", "engine": "e", "threads": 1, "n": 32, "per": "whole", "us": times });
        fs::write(schemes.join("schemes.json"), serde_json::json!([row]).to_string()).unwrap();
        write(root).unwrap();
        assert!(fs::read_to_string(root.join("BENCHMARKING.md")).unwrap().contains("| `multi/sign` | 32 | e |"));
        assert_eq!(fs::read(source.join("README.md")).unwrap(), before);
    }
}
