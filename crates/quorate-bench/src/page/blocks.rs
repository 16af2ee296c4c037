//! Source 000: "BLS: Is it really that slow?".

use maud::html;

use super::{
    figure::{Better, Cell, Down, Family, Figure, Line, Place, Shape},
    source::{Claim, Source, Verdict},
    spread::{Spread, exactly},
    words::{Unit, factor, time},
};
use crate::{
    compare::said::Said,
    row::{Row, Times},
    shown::Rows,
};

/// Milliseconds of a block of 1,000: naive, aggregated, 50 and 90 % known.
const DASH_BLS: [f64; 4] = [482.0, 226.0, 111.0, 25.0];
/// The same by ECDSA, which skips the known ones; 30 and 6 by the source's estimate.
const DASH_ECDSA: [f64; 4] = [60.0, 60.0, 30.0, 6.0];
/// Throughput of batches, as a multiple of naive verification: on one thread, on four cores.
const DASH_BATCHED: [f64; 2] = [1.44, 5.0];
/// Minutes to verify a day of full blocks of 1 MB and of 32 MB on four assumed cores.
const DASH_DAY: [f64; 2] = [2.7, 87.0];
/// Blocks a day, one in 2.5 minutes; and blocks of 1,000 in one of 1 MB, at 200 bytes a transaction.
const BLOCKS_A_DAY: f64 = 576.0;
const THOUSANDS_IN_A_MEGABYTE: f64 = 5.0;

pub(crate) const SIZES: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
const ARRIVALS: [usize; 5] = [10, 100, 1000, 10_000, 100_000];
const RATES: [usize; 7] = [10, 100, 1000, 3000, 10_000, 30_000, 100_000];
const N: usize = 1000;

/// The engines of the batches, and what they are called.
const ENGINES: [(&str, &str, usize); 8] = [
    ("naive, blst, one thread", "naive/blst", 1),
    ("naive, blst, two threads", "naive/blst", 2),
    ("blst, one thread", "blst", 1),
    ("blst, two threads", "blst", 2),
    ("quorate portable, one thread", "quorate/portable", 1),
    ("quorate portable, two threads", "quorate/portable", 2),
    ("quorate IFMA, one thread", "quorate/ifma", 1),
    ("quorate IFMA, two threads", "quorate/ifma", 2),
];
const OURS: [&str; 2] = ["quorate IFMA, one thread", "quorate portable, one thread"];

pub(crate) fn source(rows: &Rows) -> Source {
    Source {
        number: "000",
        title: "A block of transactions",
        by: "“BLS: Is it really that slow?” A. Block, Dash, July 2018; Dash’s own benchmark, machine not stated",
        about: "A block of 1,000 signed transactions, verified naively, as one aggregate, and after the signatures that \
                are known from gossip were subtracted; transactions that arrive one by one, in batches; the first sync.",
        files: &["block", "single", "culprits", "service"],
        figures: vec![
            block(rows),
            batches(rows),
            gain(rows),
            spoiled(rows),
            arrivals(rows, "arrivals", "arrivals-p99", "How long a transaction waits for its verdict", p99),
            arrivals(rows, "arrivals", "arrivals-cpu", "CPU time of a transaction that arrives", |row| {
                Cell::Figure(row.times())
            }),
            arrivals(rows, "arrivals-spoiled", "spoiled-p99", "The same wait if one in 128 is false", p99),
            collectors(rows),
            sync(rows),
        ],
        tables: html! {},
        claims: claims(rows),
    }
}

fn block_of(rows: &Rows, percent: usize, engine: &str, threads: usize) -> Option<Times> {
    rows.total("block", &format!("block/known={percent}"), engine, N, threads)
}

/// A thousand verifications of one signature.
fn naive(rows: &Rows, engine: &str) -> Option<Times> {
    Some(rows.total("single", "single/verify", engine, 1, 1)?.times(N as f64))
}

fn block(rows: &Rows) -> Figure {
    let percents = [0, 50, 90, 100];
    let published = |figures: [f64; 4]| {
        figures.into_iter().map(|ms| Some(exactly(ms * 1e3)).into()).chain([Cell::None("not stated")])
    };
    let of = |label: &str, engine: &str, threads| {
        let first = if threads == 1 { naive(rows, engine).into() } else { Cell::None("–") };
        let rest = percents.map(|percent| match (engine, percent) {
            ("blst", 1..) => Cell::None("blst cannot subtract"),
            _ => block_of(rows, percent, engine, threads).into(),
        });
        Line::new(label, Family::of(engine), [first].into_iter().chain(rest))
    };
    let ecdsa = |percent| match percent {
        100 => Cell::None("nothing to do"),
        _ => block_of(rows, percent, "secp256k1", 1).into(),
    };
    Figure {
        id: "block",
        title: "A block of 1,000 signatures, by how many are known",
        text: html! { p {
            "ECDSA stands beside BLS and skips what is known. “One by one” is a thousand times the row of a single "
            "verification. Of the source’s ECDSA figures, those with 50 and 90 % skipped are its own estimates."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Places,
        across: "block",
        places: Place::named(&["one by one", "aggregate, none known", "50 % known", "90 % known", "all known"]),
        lines: vec![
            Line::new("Dash, BLS, 2018", Family::Published, published(DASH_BLS)),
            Line::new("Dash, ECDSA, 2018", Family::Published, published(DASH_ECDSA)),
            of("blst", "blst", 1),
            of("quorate portable", "quorate/portable", 1),
            of("quorate IFMA", "quorate/ifma", 1),
            of("quorate IFMA, two threads", "quorate/ifma", 2),
            Line::new(
                "ECDSA, libsecp256k1",
                Family::Peer,
                [block_of(rows, 0, "secp256k1", 1).into()].into_iter().chain(percents.map(ecdsa)),
            ),
        ],
        ratios: vec![],
    }
    .against(&["Dash, BLS, 2018", "blst", "ECDSA, libsecp256k1"], &["quorate IFMA", "quorate portable"])
}

fn by_size(rows: &Rows, family: &str, of: impl Fn(Times) -> Times) -> Vec<Line> {
    let line = |(label, engine, threads): (&str, &str, usize)| {
        let cell = |n: usize| rows.each("block", &format!("{family}={n}"), engine, n, threads).map(&of);
        Line::new(label, Family::of(engine), SIZES.map(cell))
    };
    ENGINES.map(line).into()
}

fn batches(rows: &Rows) -> Figure {
    Figure {
        id: "batches",
        title: "Throughput by the size of a batch",
        text: html! { p { "Transactions a second if there are always enough of them. “naive” is one by one; blst’s batch is "
            "its verify_multiple_aggregate_signatures." } },
        unit: Unit::PerSecond,
        better: Better::More,
        shape: Shape::Lines,
        down: Down::Places,
        across: "transactions in a batch",
        places: Place::numbers(SIZES),
        lines: by_size(rows, "block/batch", |us| us.below(1e6)),
        ratios: vec![],
    }
    .against(&["naive, blst, one thread", "blst, one thread"], &OURS)
}

/// How many times the throughput of naive verification, as the source states it.
fn gain(rows: &Rows) -> Figure {
    let naive = rows.each("block", "block/batch=128", "naive/blst", 128, 1);
    let ours = |engine: &str| {
        [1, 2].map(|threads| {
            let batched = rows.each("block", "block/batch=128", engine, 128, threads)?;
            Some(exactly(naive?.median / batched.median))
        })
    };
    Figure {
        id: "batch-gain",
        title: "What batches gain over naive verification",
        text: html! { p {
            "Naive is 1. The source does not state the size of its batches; ours have 128 transactions. Its parallel figure is of "
            "four cores, ours of two threads. All of ours are compared with blst, one by one, on one thread."
        } },
        unit: Unit::Factor,
        better: Better::More,
        shape: Shape::Dots,
        down: Down::Places,
        across: "batches",
        places: Place::named(&["one thread", "in parallel"]),
        lines: vec![
            Line::new("Dash, 2018", Family::Published, DASH_BATCHED.map(|times| Some(exactly(times)))),
            Line::new("blst", Family::Blst, ours("blst")),
            Line::new("quorate portable", Family::Quorate, ours("quorate/portable")),
            Line::new("quorate IFMA", Family::Quorate, ours("quorate/ifma")),
        ],
        ratios: vec![],
    }
    .against(&["Dash, 2018"], &["quorate IFMA", "quorate portable"])
}

fn spoiled(rows: &Rows) -> Figure {
    Figure {
        id: "spoiled",
        title: "A batch that one bad transaction spoils",
        text: html! { p {
            "Time of a transaction if each batch has a bad one. The source falls back to naive verification after the batch "
            "failed, and so does blst here; quorate searches for the bad one."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Places,
        across: "transactions in a batch",
        places: Place::numbers(SIZES),
        lines: by_size(rows, "block/batch-spoiled", |us| us),
        ratios: vec![],
    }
    .against(&["blst, one thread"], &OURS)
}

fn p99(row: &Row) -> Cell {
    match row.p99() {
        Some(ms) => Cell::Figure(exactly(ms * 1e3)),
        None if row.latency_ms.is_some() => Cell::None("1 % or more refused"),
        None => Cell::Missing,
    }
}

/// A figure by the rate at which transactions arrive.
fn arrivals(
    rows: &Rows,
    family: &'static str,
    id: &'static str,
    title: &'static str,
    of: impl Fn(&Row) -> Cell,
) -> Figure {
    let line = |label: &str, engine: &str, threads: usize| {
        let row = |rate: usize| rows.row("block", &format!("block/{family}={rate}"), engine, 1, threads);
        let cell = |rate: usize| row(rate).map_or(Cell::Missing, &of);
        Line::new(label, Family::of(engine), ARRIVALS.map(cell))
    };
    Figure {
        id,
        title,
        text: html! { p {
            @if id != "arrivals-cpu" { "Of the transactions that were answered, 99 of 100 are faster. " }
            "“Batches of 128” waits until its batch is full or 100 ms have passed, as the source proposes. The batcher closes a "
            "batch when a thread is idle, so it is as fast as naive verification when little arrives."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Places,
        across: "transactions a second",
        places: Place::numbers(ARRIVALS),
        lines: vec![
            line("naive, blst", "naive/blst", 1),
            line("batches of 128, blst", "batch-128/blst", 1),
            line("batches of 32, quorate", "batch-32/quorate", 1),
            line("batches of 128, quorate", "batch-128/quorate", 1),
            line("quorate-batcher, one thread", "quorate/embedded", 1),
            line("quorate-batcher, two threads", "quorate/embedded", 2),
        ],
        ratios: vec![],
    }
    .against(&["naive, blst", "batches of 128, blst"], &["quorate-batcher, one thread"])
}

/// The same for the batching policies of nodes of today.
fn collectors(rows: &Rows) -> Figure {
    let line = |label: &str, engine: &str, family| {
        let row = |rate: usize| rows.row("service", &format!("service/rate={rate}"), engine, 1, 2);
        let cell = |rate: usize| row(rate).map_or(Cell::Missing, p99);
        Line::new(label, family, RATES.map(cell))
    };
    Figure {
        id: "collectors",
        title: "The same with the policies of today’s nodes",
        text: html! { p { "Of the claims that were answered, 99 of 100 are faster. Two threads; every policy verifies by quorate." } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Places,
        across: "claims a second",
        places: Place::numbers(RATES),
        lines: vec![
            line("one by one", "policy/one-by-one", Family::Peer),
            line("up to 64, no wait (Lighthouse)", "policy/fixed-64", Family::Peer),
            line("32 to 128 within 50 ms (Lodestar)", "policy/32-128-in-50ms", Family::Peer),
            line("quorate-batcher", "quorate/embedded", Family::Quorate),
        ],
        ratios: vec![],
    }
    .against(&["one by one"], &["quorate-batcher"])
}

fn sync(rows: &Rows) -> Figure {
    let cells = |megabyte: Option<Times>| {
        [1.0, 32.0, BLOCKS_A_DAY, 32.0 * BLOCKS_A_DAY].map(|factor| Some(megabyte?.times(factor)))
    };
    let megabyte = |engine: &str, threads| Some(block_of(rows, 0, engine, threads)?.times(THOUSANDS_IN_A_MEGABYTE));
    let on_four = |engine: &str| cells(megabyte(engine, 1).map(|us| us.times(0.25)));
    let dash = DASH_BLS[1] * 1e3 * THOUSANDS_IN_A_MEGABYTE / 4.0;
    let dash = [dash, 32.0 * dash, DASH_DAY[0] * 60e6, DASH_DAY[1] * 60e6];
    Figure {
        id: "sync",
        title: "The first sync: a day of full blocks",
        text: html! { p {
            "Computed, as in the source: a block of 1 MB is five of 1,000 transactions of 200 bytes, and a day has 576 blocks. "
            "“On four assumed cores” is the time of one thread divided by four. The last line divides nothing."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Places,
        across: "to verify",
        places: Place::named(&["a block of 1 MB", "a block of 32 MB", "a day of 1 MB", "a day of 32 MB"]),
        lines: vec![
            Line::new("Dash, 2018, on four assumed cores", Family::Published, dash.map(|us| Some(exactly(us)))),
            Line::new("blst, on four assumed cores", Family::Blst, on_four("blst")),
            Line::new("quorate portable, on four assumed cores", Family::Quorate, on_four("quorate/portable")),
            Line::new("quorate IFMA, on four assumed cores", Family::Quorate, on_four("quorate/ifma")),
            Line::new("quorate IFMA, two threads, measured", Family::Quorate, cells(megabyte("quorate/ifma", 2))),
        ],
        ratios: vec![],
    }
    .against(
        &["Dash, 2018, on four assumed cores", "blst, on four assumed cores"],
        &["quorate IFMA, on four assumed cores", "quorate portable, on four assumed cores"],
    )
}

/// quorate's time of a block on one thread, by the fastest backend that was measured.
pub(crate) fn fastest(rows: &Rows, percent: usize) -> Option<f64> {
    let of = |engine| Some(block_of(rows, percent, engine, 1)?.median);
    of("quorate/ifma").or_else(|| of("quorate/portable"))
}

fn claims(rows: &Rows) -> Vec<Claim> {
    let (none, most) = (fastest(rows, 0), fastest(rows, 90));
    let ecdsa = |percent| Some(block_of(rows, percent, "secp256k1", 1)?.median);
    let blst = block_of(rows, 0, "blst", 1).map(|us| us.median);
    let search = |engine| Some(rows.total("culprits", "culprits/bad=1", engine, 128, 1)?.median);
    let day = |megabytes: f64| Some(none? * THOUSANDS_IN_A_MEGABYTE * BLOCKS_A_DAY * megabytes / 4.0);
    let naive_blst = naive(rows, "blst").map(|us| us.median);
    vec![
        Claim::measured(
            "BLS is about a magnitude slower than ECDSA (482 ms against 60 ms for 1,000 signatures).",
            (|| {
                let times = naive_blst? / ecdsa(0)?;
                Some((
                    Said::about_between(8.0, 10.0).holds(times),
                    format!("One by one, blst takes {} as long as libsecp256k1; the source, 8 times.", factor(times)),
                ))
            })(),
        ),
        Claim::measured(
            "An aggregate over 1,000 messages cannot compete with ECDSA (226 ms against 60 ms).",
            (|| {
                let (ours, theirs) = (none?, ecdsa(0)?);
                let text = format!(
                    "{} against {}, on one thread: {} as long.",
                    time(ours),
                    time(theirs),
                    factor(ours / theirs)
                );
                Some((Said::at_least(1.5).holds(ours / theirs), text))
            })(),
        ),
        Claim::measured(
            "With 90 % known, ECDSA is still around five times faster (6 ms against 25 ms, which is four times).",
            (|| {
                let (ours, theirs) = (most?, ecdsa(90)?);
                let text = format!("{} against {}: {} as long.", time(ours), time(theirs), factor(ours / theirs));
                Some((Said::about_between(4.0, 5.0).holds(ours / theirs), text))
            })(),
        ),
        Claim::measured(
            "Aggregation saves more than half of the time.",
            (|| {
                let (single, whole) = (naive_blst?, blst?);
                let text = format!("With blst it saves {:.0} %.", 100.0 * (1.0 - whole / single));
                Some((Said::at_least(0.5).holds(1.0 - whole / single), text))
            })(),
        ),
        Claim::measured(
            "The faster transactions arrive, the higher the throughput of batches.",
            (|| {
                let at = |rate: usize| rows.each("block", &format!("block/arrivals={rate}"), "quorate/embedded", 1, 1);
                let (few, many) = (at(10)?.median, at(10_000)?.median);
                let text = format!(
                    "CPU time of a transaction in quorate-batcher: {} at 10 a second, {} at 10,000.",
                    time(few),
                    time(many)
                );
                Some((many < few, text))
            })(),
        ),
        Claim::measured(
            "If a batch fails, the node must fall back to naive verification to learn which one is invalid.",
            (|| {
                let (ours, theirs) = (search("quorate/ifma").or_else(|| search("quorate/portable"))?, search("blst")?);
                let text = format!(
                    "The partial products of the failed batch tell it. One bad of 128: {}, where one by one takes {}.",
                    time(ours),
                    time(theirs)
                );
                Some((ours >= theirs, text))
            })(),
        ),
        Claim::measured(
            "32 MB blocks would take 87 minutes a day on four cores, which is not acceptable.",
            (|| {
                let minutes = day(32.0)?;
                Some((
                    Said::about(DASH_DAY[1] * 60e6).holds(minutes),
                    format!("{} by the same reckoning; {} for 1 MB.", time(minutes), time(day(1.0)?)),
                ))
            })(),
        ),
        Claim::new(
            "All signatures of a block become a single signature of 32 bytes.",
            Verdict::NoLonger,
            "48 bytes, or 96 with keys in G1. A point of 32 bytes is on BN254, which is now thought to give about 100 bits \
             of security. BLS12-381 gives about 120.",
        ),
    ]
}
