//! The tables of the documents, from the rows of `shown`. This file writes everything between the markers
//! `<!-- begin: quorate-bench NAME -->` and `<!-- end: quorate-bench NAME -->`.
//!
//! Long because each table has its columns, its sentences and its tests here, and they share how a time and a ratio are written.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

use crate::{
    one_round,
    peers::{self, Ranking},
    plot,
    record::Record,
    row::{Clock, Figures, Latency, Row, Times, short, whole},
    shown::{File, Rows, SPEED},
    speed,
};

/// The documents that can hold generated tables.
const DOCUMENTS: [&str; 9] = [
    "README.md",
    "BENCHMARKING.md",
    "docs/onchain.md",
    "docs/batcher.md",
    "docs/lanes.md",
    "docs/node.md",
    "docs/one-round.md",
    "docs/operate.md",
    "docs/thresholds.md",
];

/// Rewrites the generated tables of a repository's documents, and the plots of gas and of times. Answers with the files that it
/// wrote.
pub(crate) fn write(root: &Path) -> Result<Vec<PathBuf>> {
    let shown = Rows::shown(root)?;
    let speed = shown.of_files(&SPEED);
    let source = |names: &[&str]| shown.source(root, names);
    let of_speed = source(&SPEED)?;
    let [of_thresholds, of_service] = [source(&["threshold"])?, source(&["service"])?];
    // Gas is the same on every machine, so its tables do not say where it was counted.
    source(&["gas"])?;
    let documents = DOCUMENTS.map(|name| root.join(name));
    let missing = documents.iter().find(|path| !path.is_file());
    ensure!(
        missing.is_none(),
        "there is no {}; run this in the repository, or name the repository with --dir",
        missing.map(|path| path.display().to_string()).unwrap_or_default()
    );
    let plots = ["docs/gas.svg", "docs/speed.svg", "docs/service.svg"].map(|name| root.join(name));
    plot::gas(shown.of("gas"), &plots[0])?;
    speed::plot(&speed, &plots[1])?;
    plot::service(shown.of("service"), &plots[2])?;
    let peers = shown.of("peers");
    let of_peers = shown.record("peers").map_or(String::new(), Record::source);
    let left_out = shown.record("peers").map(Record::left_out).transpose()?.unwrap_or_default();
    let absent = peers::not_measured(peers, &left_out);
    let empty = peers::empty_cells(&shown.record("peers").map(Record::cannot).transpose()?.unwrap_or_default());
    for (name, length) in [("report", Length::Short), ("speed", Length::Full)] {
        let beside = beside(peers, length, &absent, &of_peers);
        replace(&documents, name, &format!("{of_speed}\n{}{beside}", headline(&speed, peers, length)))?;
    }
    replace(&documents, "peers", &against_peers(peers, &of_peers, &[&absent, &empty]))?;
    replace(&documents, "threshold", &format!("{of_thresholds}\n{}", of_quorums(shown.of("threshold"))))?;
    replace(&documents, "service", &format!("{of_service}\n{}", under_load(shown.of("service"))))?;
    replace(&documents, "capacity", &format!("{of_service}\n{}", capacity(shown.of("service"))))?;
    let lanes = Rows::of_each_cpu(root, "quorate/fma-avx2")?;
    let mut ratios = Vec::new();
    for cpu in &lanes {
        ratios.push(format!("{}\n{}", cpu.source(root, &SPEED)?, by_lanes(&cpu.of_files(&SPEED))));
    }
    replace(&documents, "records", &records(root, &shown, &lanes)?)?;
    replace(&documents, "lanes", &ratios.join("\n"))?;
    replace(&documents, "gas", &gas(shown.of("gas")))?;
    let none = "No record has these rows. `quorate-bench network --record` makes one.\n";
    // Gas and simulated networks are the same on every machine.
    let rows = shown.of_files(&["network", "day", "simulated"]);
    let of_networks = shown.record("network").map(|record| format!("{}\n{}", record.source(), of_networks(&rows)));
    replace(&documents, "network", of_networks.as_deref().unwrap_or(none))?;
    let none = "No record has these rows. `quorate-bench one-round --record` makes one.\n";
    let of_one_round =
        shown.record("one-round").map(|record| format!("{}\n{}", record.source(), of_one_round(shown.of("one-round"))));
    replace(&documents, "one-round", of_one_round.as_deref().unwrap_or(none))?;
    Ok([&plots[..], &documents].concat())
}

/// A line for each record of which rows are shown, the newest first: where its rows are, and which of them.
fn records(root: &Path, shown: &Rows, lanes: &[Rows]) -> Result<String> {
    let mut text = String::from("| record | measured | CPU | commit | shown |\n|---|---|---|---|---|\n");
    for record in Record::all(root)?.iter().rev() {
        let is_of = |file: &&File| file.record.as_ref().is_some_and(|other| other.folder == record.folder);
        let mut files: Vec<_> = shown.files.iter().filter(is_of).map(|file| format!("`{}`", file.name)).collect();
        if lanes.iter().any(|cpu| cpu.files.iter().any(|file| is_of(&file))) {
            files.push("[the lanes of this CPU](docs/lanes.md#measured)".to_owned());
        }
        if files.is_empty() {
            continue;
        }
        let (name, machine, files) = (record.name(), &record.machine, files.join(", "));
        text += &format!(
            "| [{name}](benchmarks/{name}) | {} | {} | {} | {files} |\n",
            machine.date, machine.cpu, machine.commit
        );
    }
    Ok(text)
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
        let row =
            |engine: &str| rows.iter().find(|r| r.bench == bench && r.n == n && r.engine == engine && r.threads == 1);
        // A record may lack a benchmark, or a backend that its machine cannot run.
        let Some(blst) = row("blst") else { continue };
        let ours = ["quorate/portable", "quorate/ifma", "quorate/fma-avx512", "quorate/fma-avx2"].map(row);
        let ratios =
            ours.map(|ours| ours.map_or("–".to_owned(), |ours| format!("{:.2}", blst.total() / ours.total())));
        let what = Row::line(what, ours.into_iter().flatten().chain([blst]));
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
            "gas/hub",
            "Ten tasks in one call of a hub, where each operator joins or leaves with a probability of 10 %: gas of a task",
        ),
        ("gas/exact", "The quorum is a base"),
        ("gas/begin", "`begin`, once in an epoch"),
    ] {
        text += &format!("\n{what}:\n\n{}", gas_table(rows, bench, &sizes));
    }
    text += &at_other_prices(rows, &sizes);
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

/// How many times as much a transaction costs at other prices: the least and the greatest of our kinds of keys.
fn at_other_prices(rows: &[Row], sizes: &[usize]) -> String {
    let mut text = String::from("\nAt other prices, from the least to the greatest of the four kinds of keys:\n\n");
    let heads: Vec<_> = sizes.iter().map(|n| format!("{} operators", whole(*n as f64))).collect();
    text += &format!("| times as much gas | {} |\n|---|{}\n", heads.join(" | "), "--:|".repeat(sizes.len()));
    for (bench, dearer, what) in [
        ("gas/miss", "gas/miss-glamsterdam", "each misses a task with 10 %, at the prices of Glamsterdam"),
        ("gas/begin", "gas/begin-glamsterdam", "`begin`, at the prices of Glamsterdam"),
        ("gas/miss", "gas/miss-precompiles-twice", "each misses a task with 10 %, precompiles at twice their price"),
    ] {
        let ratios = |n: &usize| {
            let of_size = rows.iter().filter(|row| row.bench == dearer && row.n == *n);
            let mut ratios: Vec<_> = of_size
                .filter_map(|row| {
                    let today = rows.iter().find(|r| r.bench == bench && r.engine == row.engine && r.n == *n)?;
                    Some(format!("{:.2}", row.figures.middle() / today.figures.middle()))
                })
                .collect();
            // All are between one and ten, so that their texts have the order of the numbers.
            ratios.sort();
            ratios.dedup();
            match &ratios[..] {
                [] => "–".to_owned(),
                [only] => only.clone(),
                [least, .., greatest] => format!("{least} to {greatest}"),
            }
        };
        let ratios: Vec<_> = sizes.iter().map(ratios).collect();
        text += &format!("| {what} | {} |\n", ratios.join(" | "));
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

/// A line for each engine that was measured, or a single one if all have the same figures; a column for each number of operators.
fn gas_table(rows: &[Row], bench: &str, sizes: &[usize]) -> String {
    let heads: Vec<_> = sizes.iter().map(|n| format!("{} operators", whole(*n as f64))).collect();
    let mut text = format!("| gas of a transaction | {} |\n|---|{}\n", heads.join(" | "), "--:|".repeat(sizes.len()));
    let mut lines = Vec::new();
    for (engine, name) in GAS_ENGINES {
        let figures: Vec<_> = sizes.iter().map(|n| mean_gas(rows, bench, engine, *n)).collect();
        if figures.iter().any(|figure| figure != "–") {
            lines.push((name, figures.join(" | ")));
        }
    }
    if lines.len() > 1 && lines.windows(2).all(|pair| pair[0].1 == pair[1].1) {
        lines.truncate(1);
        lines[0].0 = "quorate, with any keys";
    }
    for (name, figures) in lines {
        text += &format!("| {name} | {figures} |\n");
    }
    text
}

fn mean_gas(rows: &[Row], bench: &str, engine: &str, n: usize) -> String {
    let row = rows.iter().find(|row| row.bench == bench && row.engine == engine && row.n == n);
    row.map_or("–".into(), |row| whole(row.figures.middle()))
}

/// How much of the comparison with blst a table shows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Length {
    /// The lines of the README.
    Short,
    /// All lines, for BENCHMARKING.md.
    Full,
}

/// The lines of the comparison with blst, and the shortest table that shows each.
const HEADLINES: [(Length, &str, usize, &str); 18] = [
    (Length::Short, "single/verify", 1, "one claim"),
    (Length::Full, "batch/distinct", 16, "16 claims, distinct messages"),
    (Length::Short, "batch/distinct", 128, "128 claims, distinct messages"),
    (Length::Short, "batch/distinct", 1024, "1,024 claims, distinct messages"),
    (Length::Short, "batch/distinct-with-keys", 1024, "the same from bytes, with decoding and checking of keys"),
    (Length::Full, "batch/min-sig", 1024, "1,024 claims, keys in G2"),
    (Length::Short, "batch/few-signers", 100, "100 claims by 5 signers"),
    (Length::Short, "batch/same-message", 128, "128 claims, one message"),
    (Length::Full, "batch/same-message-checked", 128, "the same, signatures already checked to be in the subgroup"),
    (Length::Full, "aggregate/messages", 100, "one aggregate signature over 100 messages by 5 signers"),
    (Length::Full, "aggregate/signers", 100, "one aggregate signature of 100 signers over one message"),
    (Length::Short, "block/known=0", 1000, "a block of 1,000 signatures, none known"),
    (Length::Short, "block/known=90", 1000, "the same, 90 % already verified"),
    (Length::Full, "block/known=100", 1000, "the same, all already verified"),
    (Length::Short, "culprits/bad=1", 128, "finding 1 invalid claim among 128, after the batch failed"),
    (Length::Full, "culprits/bad=16", 128, "finding 16 invalid claims among 128"),
    (Length::Full, "msm/g1", 1 << 16, "multi-scalar multiplication, 65,536 points of G1, 255-bit scalars"),
    (Length::Full, "msm/g2", 1 << 16, "the same in G2"),
];

/// The comparison with blst, and where there are rows of `peers` with the best of the other libraries.
fn headline(rows: &[Row], peers: &[Row], length: Length) -> String {
    let mut text = String::from(
        "| | blst | quorate, portable | quorate, IFMA | IFMA, two threads | speed-up over blst, one thread |",
    );
    let (head, rule) = if peers.is_empty() { ("", "") } else { (" best other library, beside quorate |", "--:|") };
    text += &format!("{head}\n|---|--:|--:|--:|--:|--:|{rule}\n");
    let others = Others::of(peers);
    for (_, bench, n, what) in HEADLINES.into_iter().filter(|(shortest, ..)| *shortest <= length) {
        let row = |engine: &str, threads: usize| {
            rows.iter().find(|r| r.bench == bench && r.n == n && r.engine == engine && r.threads == threads)
        };
        let columns = [("blst", 1), ("quorate/portable", 1), ("quorate/ifma", 1), ("quorate/ifma", 2)];
        let columns = columns.map(|(engine, threads)| row(engine, threads));
        if columns.iter().all(Option::is_none) {
            continue;
        }
        let what = Row::line(what, columns.into_iter().flatten());
        let times = columns.map(|row| row.map(Row::total));
        let [blst, portable, ifma, _] = times;
        let fastest = ifma.into_iter().chain(portable).reduce(f64::min);
        let ratio = blst.zip(fastest).map_or(String::new(), |(blst, fastest)| format!("{:.1}×", blst / fastest));
        let times = times.map(|us| us.map_or("–".to_owned(), |us| format!("{} ms", short(us / 1e3))));
        let other = match bench {
            _ if peers.is_empty() => String::new(),
            "single/verify" | "batch/distinct" => format!(" {} |", others.best("peers/verify", n)),
            "batch/distinct-with-keys" => format!(" {} |", others.best("peers/verify-from-bytes", n)),
            "batch/same-message" => format!(" {} |", others.best("peers/same-message", n)),
            "block/known=0" => format!(" {} |", others.best("peers/block", n)),
            "aggregate/signers" => format!(" {} |", others.best("peers/aggregate", n)),
            "culprits/bad=1" | "culprits/bad=16" => format!(" {} |", others.one_by_one(n)),
            "block/known=90" | "block/known=100" => " no such call |".to_owned(),
            _ => format!(" {NOT_MEASURED} |"),
        };
        text += &format!("| {what} | {} | {ratio} |{other}\n", times.join(" | "));
    }
    text
}

/// What the column of the best other library says of a line that has no task of `peers`.
const NOT_MEASURED: &str = "not measured";

/// The rows of `peers`, by CPU time.
struct Others(Vec<Row>);

impl Others {
    fn of(peers: &[Row]) -> Self {
        Self(peers.iter().map(|row| row.by(Clock::Cpu)).collect())
    }

    /// Of a task: quorate, and the best of the libraries that it does not measure in its own process.
    fn of_task(&self, bench: &str, n: usize) -> Option<[&Row; 2]> {
        let rankings = Ranking::each(&self.0);
        let ranking = rankings.iter().find(|ranking| ranking.ours.bench == bench && ranking.ours.n == n)?;
        let other = ranking.others.iter().copied().find(|row| row.engine != "blst")?;
        Some([ranking.ours, other])
    }

    /// Both times.
    fn best(&self, bench: &str, n: usize) -> String {
        self.of_task(bench, n).map_or(NOT_MEASURED.to_owned(), |[ours, other]| {
            let [theirs, ours] = [other, ours].map(|row| short(row.total() / 1e3));
            format!("{} {theirs} ms, quorate {ours} ms", other.engine)
        })
    }

    /// What n claims take that are verified one by one, as in blst's row of a search.
    fn one_by_one(&self, n: usize) -> String {
        self.of_task("peers/verify", 1).map_or(NOT_MEASURED.to_owned(), |[_, other]| {
            format!("{} {} ms, one by one", other.engine, short(n as f64 * other.total() / 1e3))
        })
    }
}

/// What must be known of the column of the best other library. Empty without rows of `peers`.
fn beside(peers: &[Row], length: Length, absent: &str, source: &str) -> String {
    if peers.is_empty() {
        return String::new();
    }
    let [lost, why] = peers::LOST_PAIRING;
    // The long table stands in one document with all tasks, which say the one or the other.
    let last = match length {
        Length::Short => format!("\n**{lost}** {why}\n"),
        Length::Full => format!("\n{OF_THE_AGGREGATE}\n"),
    };
    let sentences = [OF_THE_COLUMN, peers::weights(peers), absent, source];
    let sentences: Vec<_> = sentences.into_iter().filter(|text| !text.is_empty()).collect();
    format!("\n{}{last}", sentences.join(" "))
}

/// How the column of the best other library is to be read.
const OF_THE_COLUMN: &str = "The last column is CPU time on one thread, of a sitting of its own. \"Not measured\" is what \
    `make peers` has no task or no size of. It asks nobody to search: a search stands there, as in blst's column, as the time to \
    verify all claims one by one. No library there has a call that subtracts what is already verified.";

/// What that column leaves out in a line of the long table.
const OF_THE_AGGREGATE: &str =
    "Of the aggregate signature of 100 signers the last column has the verification without the sum of the signatures.";

/// Every task of `peers` by every library, which quorate loses, and sentences about what is `absent`.
fn against_peers(peers: &[Row], source: &str, absent: &[&str]) -> String {
    if peers.is_empty() {
        return "No record has these rows. `make peers` makes one.\n".to_owned();
    }
    let rows: Vec<_> = peers.iter().map(|row| row.by(Clock::Cpu)).collect();
    let mut text = format!(
        "{source}\n| µs of CPU time | n | quorate, the backend that the machine takes | its others | other libraries | |\n\
         |---|--:|--:|---|---|---|\n"
    );
    for ranking in Ranking::each(&rows) {
        let figure =
            |row: &Row| format!("{} {}", row.engine.trim_start_matches("quorate/"), short(row.figures.middle()));
        let [backends, others] = [&ranking.backends, &ranking.others]
            .map(|rows| rows.iter().map(|row| figure(row)).collect::<Vec<_>>().join(", "));
        let what = Row::line(ranking.ours.bench.trim_start_matches("peers/"), [ranking.ours].into_iter());
        let said = if ranking.winner().is_some() { format!("**{}**", ranking.said()) } else { ranking.said() };
        text += &format!(
            "| {what} | {} | {} | {backends} | {others} | {said} |\n",
            whole(ranking.ours.n as f64),
            figure(ranking.ours),
        );
    }
    for sentence in absent.iter().filter(|sentence| !sentence.is_empty()) {
        text += &format!("\n{sentence}\n");
    }
    let [lost, how] = peers::LOST_PAIRING;
    text + &format!("\n**{lost}** {how}\n")
}

/// Recovery of a signature from shares, beside what no system on blst can avoid, and beside the source.
fn of_quorums(rows: &[Row]) -> String {
    let best = |bench: &str, engine: &dyn Fn(&str) -> bool, threads: usize, t: usize| {
        let found = rows.iter().filter(|r| r.bench == bench && r.n == t && r.threads == threads && engine(&r.engine));
        found.min_by(|a, b| a.total().total_cmp(&b.total()))
    };
    let milliseconds = |row: &Row| format!("{} ms", short(row.total() / 1e3));
    let ours: &dyn Fn(&str) -> bool = &|engine| engine.starts_with("quorate/");
    let blst: &dyn Fn(&str) -> bool = &|engine| engine == "blst";
    let published: &dyn Fn(&str) -> bool = &|engine| engine.starts_with("published/") && !engine.ends_with("naive");
    let mut text = String::from(
        "| t of 2t - 1 | blst, its multi-scalar multiplication alone | the same, two threads | any t signers | the same, two threads | 1 % missing | the source, 2020 |\n|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    // From how many shares on each time is that of a single run.
    let mut from = None;
    for log in [7, 11, 14, 17, 20] {
        let t = 1 << log;
        let columns = [
            best("recover/msm-only", blst, 1, t),
            best("recover/msm-only", blst, 2, t),
            best("recover/random", ours, 1, t),
            best("recover/random", ours, 2, t),
            best("recover/missing=1%", ours, 1, t),
            best("recover/random", published, 1, t),
        ];
        let measured: Vec<Times> = columns[..5].iter().flatten().map(|row| row.times()).collect();
        if !measured.is_empty() {
            from = measured.iter().any(|times| times.max <= times.min).then_some(from.unwrap_or(t));
        }
        let what = Row::line(&whole(t as f64), columns.into_iter().flatten());
        let times = columns.map(|row| row.map_or("–".to_owned(), milliseconds));
        text += &format!("| {what} | {} |\n", times.join(" | "));
    }
    let once = from.map(|t| format!("; from {} shares on they are of one run", whole(t as f64))).unwrap_or_default();
    text += &format!("\nTimes are medians{once}.\n");
    text
}

/// A key in one round: what each step takes, and beside it what was published of other schemes.
fn of_one_round(rows: &[Row]) -> String {
    let best = |bench: &str, engine: &str, n: usize, threads: usize| {
        let is = |r: &&Row| r.bench == bench && r.n == n && r.threads == threads && r.engine.starts_with(engine);
        rows.iter().filter(is).min_by(|a, b| a.total().total_cmp(&b.total()))
    };
    let milliseconds =
        |row: Option<&Row>| row.map_or("–".to_owned(), |row| format!("{} ms", short(row.total() / 1e3)));
    // The note of a transcript begins with its bytes.
    let bytes = |row: Option<&Row>| row.map_or("–", |row| row.note.split(';').next().unwrap_or_default()).to_owned();
    let mut text = String::from(
        "| shares | a transcript | deal, two threads | verify one, one thread | verify one, two threads \
         | verify those of all dealers, two threads | decrypt, two threads |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let equal = [16, 64, 256, 1024].map(|n| (one_round::EQUAL, n, whole(n as f64)));
    for (kind, n, what) in equal.into_iter().chain([(one_round::WEIGHTED, 1024, "1,024 of 256 members".to_owned())]) {
        let columns = [("deal", 2), ("verify", 1), ("verify", 2), ("verify-all", 2), ("decrypt", 2)];
        let columns = columns.map(|(step, threads)| best(&format!("{kind}{step}"), "quorate/", n, threads));
        if columns.iter().all(Option::is_none) {
            continue;
        }
        let what = Row::line(&what, columns.into_iter().flatten());
        text += &format!("| {what} | {} | {} |\n", bytes(columns[0]), columns.map(milliseconds).join(" | "));
    }
    text += "\n| one thread | shares | a transcript | deal | verify | decrypt |\n|---|--:|--:|--:|--:|--:|\n";
    let schemes = [
        ("quorate/", "quorate"),
        ("published/chunky", "Chunky, as published"),
        ("published/groth21", "Groth, as published"),
    ];
    for n in [256, 1024] {
        for (engine, what) in schemes {
            let columns = ["deal", "verify", "decrypt"];
            let columns = columns.map(|step| best(&format!("{}{step}", one_round::EQUAL), engine, n, 1));
            let (shares, bytes) = (whole(n as f64), bytes(columns[0]));
            text += &format!("| {what} | {shares} | {bytes} | {} |\n", columns.map(milliseconds).join(" | "));
        }
    }
    text
}

/// The threads of the votes that are shown: those of all other rows of a batcher under load.
const THREADS_OF_MIX: usize = 2;

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
        ("service/lone", "A vote that comes to an idle batcher, beside the same vote verified alone"),
        (
            "service/mix",
            "Votes as the field has them, 1.2 messages among ten, half of them in bursts, at a part of what the engine verifies in \
             batches of ten: CPU time of a vote, and latencies",
        ),
    ] {
        // The table has no column of threads, and `mix` was also measured with one and with sixteen.
        let rows: Vec<_> = rows
            .iter()
            .filter(|row| row.bench.starts_with(bench) && (bench != "service/mix" || row.threads == THREADS_OF_MIX))
            .collect();
        if rows.is_empty() {
            continue;
        }
        // Older records do not have it.
        let has_p90 = rows.iter().any(|row| row.latency_ms.is_some_and(|latency| latency.p90.is_some()));
        let p90 = |cell: &str| if has_p90 { format!(" {cell} |") } else { String::new() };
        let (head, rule) = (p90("p90 ms"), if has_p90 { "--:|" } else { "" });
        text += &format!(
            "\n{what}:\n\n| | engine | µs | per | p50 ms |{head} p99 ms | |\n|---|---|--:|---|--:|{rule}--:|---|\n"
        );
        for row in rows {
            let [p50, middle, p99] = Latency::written(row.latency_ms);
            let (name, us) = (row.bench.trim_start_matches("service/"), short(row.figures.middle()));
            let p90 = p90(&middle);
            text += &format!("| {name} | {} | {us} | {} | {p50} |{p90} {p99} | {} |\n", row.engine, row.per, row.note);
        }
    }
    text
}

/// The greatest rates that a machine carries, for whoever plans one.
fn capacity(rows: &[Row]) -> String {
    let mut text = String::from("| | threads | claims a second | half have their verdict within | 99 of 100 |\n");
    text += "|---|--:|--:|--:|--:|\n";
    for (engine, what) in
        [("quorate/embedded", "the batcher, embedded"), ("quorate/unix", "the server, by a Unix socket")]
    {
        for row in rows.iter().filter(|row| row.bench == "service/throughput" && row.engine == engine) {
            let times = row.latency_ms.map(|times| [times.p50, times.p99]);
            let times =
                times.map_or("– | –".to_owned(), |times| times.map(|ms| format!("{} ms", short(ms))).join(" | "));
            text += &format!("| {what} | {} | {:.0} | {times} |\n", row.threads, 1e6 / row.figures.middle());
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
    use crate::{
        methods::{self, Editions},
        page,
        row::{BUSY, folder_of_records},
    };

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

    /// A figure has one row: no two rows of a table of a batcher under load have the same name and engine.
    #[test]
    fn no_two_rows_under_load_have_one_name() {
        let vote = |threads: usize, us: f64| -> Row {
            serde_json::from_value(serde_json::json!({
                "bench": "service/mix=10%", "engine": "quorate/embedded", "threads": threads, "n": 1, "per": "claim",
                "note": "said", "us": { "min": us, "median": us, "max": us }, "latency_ms": { "p50": 1.0, "p99": 2.0 }
            }))
            .unwrap()
        };
        let text = under_load(&[vote(1, 219.0), vote(2, 210.0), vote(16, 438.0)]);
        let lines: Vec<_> = text.lines().filter(|line| line.starts_with("| mix=10% | quorate/embedded |")).collect();
        assert_eq!(lines.len(), 1, "{text}");
        assert!(lines[0].contains("| 210 |"), "{text}");
    }

    /// Kinds of keys with the same gas are one line, and other prices are the least and the greatest of all kinds.
    #[test]
    fn equal_lines_are_one_and_other_prices_are_ratios() {
        let row = |bench: &str, engine: &str, gas: f64| -> Row {
            let gas = serde_json::json!({ "mean": gas, "median": gas });
            serde_json::from_value(serde_json::json!({
                "bench": bench, "engine": engine, "threads": 1, "n": 10, "per": "transaction", "gas": gas
            }))
            .unwrap()
        };
        let [a, b] = ["quorate/bn254-g2", "quorate/bn254-g1"];
        let mut rows = vec![
            row("gas/begin", a, 100_000.0),
            row("gas/begin", b, 100_000.0),
            row("gas/begin-glamsterdam", a, 312_000.0),
            row("gas/begin-glamsterdam", b, 312_000.0),
            row("gas/miss", a, 100_000.0),
            row("gas/miss", b, 200_000.0),
            row("gas/miss-glamsterdam", a, 102_000.0),
            row("gas/miss-glamsterdam", b, 202_000.0),
        ];
        let table = gas_table(&rows, "gas/begin", &[10]);
        assert!(table.ends_with("|---|--:|\n| quorate, with any keys | 100,000 |\n"), "{table}");
        let table = at_other_prices(&rows, &[10, 100]);
        for line in [
            "| each misses a task with 10 %, at the prices of Glamsterdam | 1.01 to 1.02 | – |\n",
            "| `begin`, at the prices of Glamsterdam | 3.12 | – |\n",
            "| each misses a task with 10 %, precompiles at twice their price | – | – |\n",
        ] {
            assert!(table.contains(line), "{line} in {table}");
        }
        rows[1] = row("gas/begin", b, 100_001.0);
        assert_eq!(gas_table(&rows, "gas/begin", &[10]).lines().count(), 4);
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
        assert!(long.contains("\nFrom the result to the block in which the task is settled:\n"), "{long}");
    }

    /// A repository with the documents and the records of this one, whose tables are all old.
    fn copy() -> tempfile::TempDir {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let copy = tempfile::tempdir().unwrap();
        for document in DOCUMENTS {
            let to = copy.path().join(document);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::copy(source.join(document), to).unwrap();
        }
        for record in Record::all(&source).unwrap() {
            let to = folder_of_records(copy.path()).join(record.name());
            fs::create_dir_all(&to).unwrap();
            for file in fs::read_dir(&record.folder).unwrap() {
                let file = file.unwrap().path();
                fs::copy(&file, to.join(file.file_name().unwrap())).unwrap();
            }
        }
        copy
    }

    fn read(root: &Path, file: &str) -> String {
        fs::read_to_string(root.join(file)).unwrap()
    }

    /// Nobody types a figure, and nobody records without `make report`.
    #[test]
    fn the_documents_are_those_of_the_records() {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let copy = copy();
        let written = write(copy.path()).unwrap();
        assert_eq!(written.len(), 12);
        for path in written {
            let name = path.strip_prefix(copy.path()).unwrap().to_str().unwrap();
            assert!(path.is_file() && read(copy.path(), name) == read(&source, name), "{name}: run `make report`");
        }
    }

    /// The report of a repository elsewhere changes nothing but that repository, and it needs all its documents.
    #[test]
    fn the_report_is_written_where_it_is_asked_for() {
        let elsewhere = tempfile::tempdir().unwrap();
        assert!(write(elsewhere.path()).unwrap_err().to_string().contains("--dir"));
        let copy = copy();
        fs::remove_dir_all(folder_of_records(copy.path())).unwrap();
        record(copy.path(), "only-gas", "2999-01-01 00:00", methods::today(), &[("gas", vec![])]);
        let error = write(copy.path()).unwrap_err().to_string();
        assert!(error.contains("no record of `single` or `batch`") && error.contains("--record"), "{error}");
        let copy = self::copy();
        fs::remove_file(copy.path().join("README.md")).unwrap();
        assert!(write(copy.path()).unwrap_err().to_string().contains("README.md"));
    }

    /// Writes a record of made-up rows.
    fn record(root: &Path, name: &str, date: &str, methods: Editions, files: &[(&str, Vec<serde_json::Value>)]) {
        let folder = folder_of_records(root).join(name);
        fs::create_dir_all(&folder).unwrap();
        let machine = serde_json::json!({
            "date": date, "cpu": name, "features": [], "compiler": "rustc", "flags": "", "commit": name, "methods": methods,
        });
        fs::write(folder.join("machine.json"), machine.to_string()).unwrap();
        for (file, rows) in files {
            fs::write(folder.join(format!("{file}.json")), serde_json::json!(rows).to_string()).unwrap();
        }
    }

    fn timed(bench: &str, engine: &str, n: usize, per: &str, ms: f64) -> serde_json::Value {
        let us = serde_json::json!({ "min": 900.0 * ms, "median": 1e3 * ms, "max": 1_100.0 * ms });
        serde_json::json!({ "bench": bench, "engine": engine, "threads": 1, "n": n, "per": per, "us": us })
    }

    /// All files of the README's table, with one time for a block and one for a search.
    fn whole(block: f64, search: f64) -> Vec<(&'static str, Vec<serde_json::Value>)> {
        let both = |bench: &str, n, ms: f64| {
            ["blst", "quorate/ifma", "quorate/fma-avx2"]
                .map(|engine| timed(bench, engine, n, "whole", if engine == "blst" { 500.0 } else { ms }))
                .to_vec()
        };
        vec![
            ("single", both("single/verify", 1, 1.0)),
            ("batch", both("batch/distinct", 128, 20.0)),
            ("block", both("block/known=0", 1000, block)),
            ("aggregate", both("aggregate/messages", 100, 3.0)),
            ("culprits", both("culprits/bad=1", 128, search)),
            ("msm", both("msm/g1", 65_536, 100.0)),
        ]
    }

    /// Newer records have other figures for a block. One of them is shown, and it is the same one in the table, the plots, the
    /// ratios of lanes and the page with its picture.
    #[test]
    fn a_block_has_one_figure_in_readme_picture_and_page() {
        let copy = copy();
        let root = copy.path();
        // The many times of other libraries can have the digits of one below.
        for record in Record::all(root).unwrap() {
            let peers = record.folder.join("peers.json");
            if peers.exists() {
                fs::remove_file(peers).unwrap();
            }
        }
        record(root, "Whole", "2998-01-01 00:00", methods::today(), &whole(71.1, 3.15));
        let partial = |name: &str, ms: f64| {
            let [_, batch, block, ..] = <[_; 6]>::try_from(whole(ms, 3.3)).unwrap();
            [("schemes", vec![timed("multi/sign", name, 32, "whole", 1.0)]), batch, block]
        };
        record(root, "Part", "2998-06-01 00:00", methods::today(), &partial("Part", 82.2));
        write(root).unwrap();
        let shown = Rows::shown(root).unwrap();
        let page = page::render(&shown, "draw()").unwrap().into_string();
        let (readme, picture) = (read(root, "README.md"), read(root, "docs/speed.svg"));
        assert!(readme.contains("a block of 1,000 signatures, none known | 500 ms | – | 71.1 ms"), "{readme}");
        assert!(read(root, "docs/lanes.md").contains(&format!("nothing known | – | {:.2} |", 500.0 / 71.1)));
        assert!(page.contains("71.1 ms"));
        for (place, text) in [("README", &readme), ("picture", &picture), ("page", &page)] {
            assert!(!text.contains("82.2 ms"), "the {place} has the block of another record");
        }
        // Of the record of one part is shown what no other has: a newer whole one takes its place in everything at once.
        assert_eq!(shown.of("schemes")[0].engine, "Part");
        let records = read(root, "BENCHMARKING.md");
        assert!(
            records.contains("| [Part](benchmarks/Part) | 2998-06-01 00:00 | Part | Part | `schemes`, "),
            "{records}"
        );
        assert!(
            records.contains("| [Whole](benchmarks/Whole) | 2998-01-01 00:00 | Whole | Whole | `single`, `batch`, ")
        );
        record(root, "Whole-2", "2998-07-01 00:00", methods::today(), &whole(61.1, 3.15));
        write(root).unwrap();
        let page = page::render(&Rows::shown(root).unwrap(), "draw()").unwrap().into_string();
        for text in [&read(root, "README.md"), &page] {
            assert!(text.contains("61.1 ms") && !text.contains("71.1 ms"));
        }
    }

    /// A search by a method that was removed is nowhere, however good the record is otherwise.
    #[test]
    fn a_row_of_a_removed_method_is_in_no_document() {
        let copy = copy();
        let root = copy.path();
        fs::remove_dir_all(folder_of_records(root)).unwrap();
        let rest = ["threshold", "service", "gas"].map(|file| (file, vec![timed(file, "blst", 1, "whole", 1.0)]));
        let record = |date: &str, methods: Editions, block: f64, search: f64| {
            let files = [whole(block, search), rest.to_vec()].concat();
            self::record(root, date, date, methods, &files);
            write(root).unwrap();
            let page = page::render(&Rows::shown(root).unwrap(), "draw()").unwrap().into_string();
            [read(root, "README.md"), read(root, "docs/speed.svg"), read(root, "BENCHMARKING.md"), page]
        };
        for text in record("2998-01-01", Editions::new(), 71.1, 1.97) {
            assert!(!text.contains("1.97 ms") && !text.contains("| 1970 |"), "{text}");
        }
        assert!(read(root, "README.md").contains("This record has no rows of `culprits`."));
        assert!(read(root, "README.md").contains("71.1 ms"), "what does not search stays");
        for text in record("2998-01-02", methods::today(), 61.1, 3.15) {
            assert!(text.contains("3.15 ms") || text.contains("| 3150 |"), "{text}");
            assert!(!text.contains("71.1 ms"), "{text}");
        }
    }

    /// The best of the others is by CPU time and not blst, which has a column; a line that it was not measured for has a dash.
    #[test]
    fn the_best_other_library_stands_beside_blst() {
        let row = |engine: &str, n: usize, wall: f64, cpu: f64| -> Row {
            let times = |us: f64| serde_json::json!({ "min": us, "median": us, "max": us });
            serde_json::from_value(serde_json::json!({
                "bench": "peers/verify", "engine": engine, "threads": 1, "n": n, "per": "claim", "us": times(wall),
                "cpu_us": times(cpu)
            }))
            .unwrap()
        };
        let peers = [
            row("quorate/ifma", 128, 100.0, 200.0),
            row("quorate/portable", 128, 100.0, 190.0),
            row("blst", 128, 300.0, 300.0),
            row("noble", 128, 400.0, 9000.0),
            row("mcl", 128, 900.0, 500.0),
            row("quorate/ifma", 1, 900.0, 900.0),
            row("mcl", 1, 800.0, 800.0),
            Row { bench: "peers/aggregate".into(), per: "aggregate".into(), ..row("quorate/ifma", 100, 900.0, 700.0) },
            Row { bench: "peers/aggregate".into(), per: "aggregate".into(), ..row("mcl", 100, 900.0, 1200.0) },
            Row { bench: "peers/same-message".into(), ..row("quorate/ifma", 128, 20.0, 20.0) },
            Row { bench: "peers/same-message".into(), ..row("mcl", 128, 90.0, 90.0) },
            Row { bench: "peers/verify-from-bytes".into(), ..row("quorate/ifma", 1024, 100.0, 100.0) },
            Row { bench: "peers/verify-from-bytes".into(), ..row("mcl", 1024, 1000.0, 1000.0) },
            Row { bench: "peers/block".into(), per: "block".into(), ..row("quorate/ifma", 1000, 6e4, 6e4) },
            Row { bench: "peers/block".into(), per: "block".into(), ..row("mcl", 1000, 5e5, 5e5) },
        ];
        let of = |bench: &str, n: usize| -> Row {
            serde_json::from_value(timed(bench, "quorate/ifma", n, "whole", 20.0)).unwrap()
        };
        let speed = [
            of("single/verify", 1),
            of("batch/distinct", 128),
            of("batch/distinct", 1024),
            of("batch/distinct-with-keys", 1024),
            of("batch/min-sig", 1024),
            of("batch/few-signers", 100),
            of("batch/same-message", 128),
            of("aggregate/signers", 100),
            of("block/known=0", 1000),
            of("block/known=90", 1000),
            of("culprits/bad=1", 128),
        ];
        assert!(!headline(&speed, &peers, Length::Short).contains("100 signers"));
        let text = headline(&speed, &peers, Length::Full);
        for line in [
            "| one claim | – | – | 20.0 ms | – |  | mcl 0.800 ms, quorate 0.900 ms |\n",
            "| 128 claims, distinct messages | – | – | 20.0 ms | – |  | mcl 64.0 ms, quorate 25.6 ms |\n",
            "| 1,024 claims, distinct messages | – | – | 20.0 ms | – |  | not measured |\n",
            "| one aggregate signature of 100 signers over one message | – | – | 20.0 ms | – |  | mcl 1.20 ms, quorate 0.700 ms |\n",
            "| the same from bytes, with decoding and checking of keys | – | – | 20.0 ms | – |  | mcl 1024 ms, quorate 102 ms |\n",
            "| 1,024 claims, keys in G2 | – | – | 20.0 ms | – |  | not measured |\n",
            "| 100 claims by 5 signers | – | – | 20.0 ms | – |  | not measured |\n",
            "| 128 claims, one message | – | – | 20.0 ms | – |  | mcl 11.5 ms, quorate 2.56 ms |\n",
            "| a block of 1,000 signatures, none known | – | – | 20.0 ms | – |  | mcl 500 ms, quorate 60.0 ms |\n",
            "| the same, 90 % already verified | – | – | 20.0 ms | – |  | no such call |\n",
            "| finding 1 invalid claim among 128, after the batch failed | – | – | 20.0 ms | – |  | mcl 102 ms, one by one |\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        let left_out = [("constantine", "there is no Nim"), ("mine", "there is no program mine")]
            .map(|(name, why)| (name.to_owned(), why.to_owned()));
        let absent = peers::not_measured(&peers, &left_out.into());
        let text = against_peers(&peers, "Measured here.\n", &[&absent, "mcl has no msm-g1 (why)."]);
        let line = "\nNot measured: arkworks; commonware; zkcrypto; gnark-crypto; constantine (there is no Nim); chainsafe-blst; \
                    herumi-bls; mine (there is no program mine).\n";
        assert!(text.contains(line) && text.contains("\nmcl has no msm-g1 (why).\n"), "{text}");
        assert!(!against_peers(&peers, "", &["", ""]).contains("Not measured"));
        let in_readme = |peers: &[Row], absent: &str| beside(peers, Length::Short, absent, "Here.\n");
        let how = format!("\n{OF_THE_COLUMN}");
        let text_of_all = in_readme(&peers, "Not measured: a.");
        assert!(text_of_all.starts_with(&format!("{how} Not measured: a. Here.\n\n**")), "{text_of_all}");
        let weights = "commonware weighs the claims of a batch by 128 bits, quorate by 64.";
        let text_of_one = in_readme(&[row("commonware", 1, 1.0, 1.0)], "");
        assert!(text_of_one.starts_with(&format!("{how} {weights} Here.\n\n**")), "{text_of_one}");
        // The loss that no task shows stands in the README, and once in BENCHMARKING.md.
        let lost = "**One pairing by itself: LOST to VROOM, 2.27× slower** (ePrint 2025/1068: ";
        assert!(text_of_all.contains(lost) && text.contains(lost), "{text}");
        assert!(!beside(&peers, Length::Full, "", "Here.\n").contains("VROOM"));
        assert_eq!(in_readme(&[], ""), "");
        assert!(text.starts_with("Measured here.\n\n|"), "{text}");
        let line =
            "| verify | 128 | ifma 200 | portable 190 | blst 300, mcl 500, noble 9000 | 1.50× faster than blst |\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains("| verify | 1 | ifma 900 |  | mcl 800 | **LOST to mcl: 1.12× slower** |\n"), "{text}");
        assert!(
            against_peers(&[], "", &[]).contains("make peers")
                && !headline(&speed, &[], Length::Short).contains("other library")
        );
    }

    #[test]
    fn the_times_of_quorums_say_which_are_of_one_run() {
        let row = |n: usize, max: f64| -> Row {
            serde_json::from_value(serde_json::json!({
                "bench": "recover/random", "engine": "quorate/ifma", "threads": 1, "n": n, "per": "signature",
                "us": { "min": 12e3, "median": 12e3, "max": max }
            }))
            .unwrap()
        };
        let published: Row = serde_json::from_value(serde_json::json!({
            "bench": "recover/random", "engine": "published/libpolycrypto", "threads": 1, "n": 128, "per": "signature",
            "us": { "min": 1.0, "median": 1.0, "max": 1.0 }
        }))
        .unwrap();
        for (max, says) in [(13e3, "."), (12e3, "; from 2,048 shares on they are of one run.")] {
            let text = of_quorums(&[published.clone(), row(128, 13e3), row(2_048, max), row(16_384, max)]);
            assert!(text.ends_with(&format!("\n\nTimes are medians{says}\n")), "{text}");
        }
    }

    #[test]
    fn one_round_stands_beside_what_was_published() {
        let row = |bench: &str, engine: &str, threads: usize, n: usize, ms: f64| -> Row {
            let us = serde_json::json!({ "min": 1e3 * ms, "median": 1e3 * ms, "max": 1e3 * ms });
            serde_json::from_value(serde_json::json!({
                "bench": bench, "engine": engine, "threads": threads, "n": n, "per": "transcript", "us": us, "note": "574,112 bytes; said"
            }))
            .unwrap()
        };
        let text = of_one_round(&[
            row("one-round/deal", "quorate/ifma", 2, 1024, 700.0),
            row("one-round/deal", "quorate/ifma", 1, 1024, 1_300.0),
            row("one-round/verify", "quorate/portable", 1, 1024, 900.0),
            row("one-round/verify", "quorate/ifma", 1, 1024, 100.0),
            row("one-round/verify-all", "quorate/ifma", 2, 1024, 17_000.0),
            row("one-round/verify", "published/chunky", 1, 1024, 170.0),
            row("one-round/weighted-deal", "quorate/ifma", 2, 1024, 800.0),
        ]);
        for line in [
            "| 1,024 | 574,112 bytes | 700 ms | 100 ms | – | 17000 ms | – |\n",
            "| 1,024 of 256 members | 574,112 bytes | 800 ms | – | – | – | – |\n",
            "| quorate | 1,024 | 574,112 bytes | 1300 ms | 100 ms | – |\n",
            "| Chunky, as published | 1,024 | – | – | 170 ms | – |\n",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        assert!(!text.contains("| 16 |"), "what was not measured has no line: {text}");
    }

    #[test]
    fn a_busy_machine_is_said_beside_the_row() {
        let row = |engine: &str, max: f64| -> Row {
            serde_json::from_value(serde_json::json!({
                "bench": "batch/distinct", "engine": engine, "threads": 1, "n": 1024, "per": "whole",
                "us": { "min": 10e3, "median": 12e3, "max": max }
            }))
            .unwrap()
        };
        for (max, says) in [(30e3, false), (31e3, true)] {
            let rows = [row("blst", 13e3), row("quorate/ifma", max)];
            for text in [headline(&rows, &[], Length::Short), headline(&rows, &[], Length::Full), by_lanes(&rows)] {
                assert_eq!(text.contains(BUSY), says, "{text}");
            }
        }
    }
}
