//! Source 003: threshold signatures from many shares.

use maud::html;

use super::{
    figure::{Better, Cell, Down, Family, Figure, Line, Place, Shape},
    source::{Claim, Source, Verdict},
    words::{Unit, factor, time},
};
use crate::{compare::said::Said, row::Times, shown::Rows};

/// Thresholds t of committees of 2t - 1.
const SIZES: [usize; 10] = [1 << 6, 1 << 7, 1 << 8, 1 << 10, 1 << 11, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 20];
const SOURCE: &str = "published/libpolycrypto";
const NAIVE: &str = "published/libpolycrypto-naive";

pub(crate) fn source(rows: &Rows) -> Source {
    Source {
        number: "003",
        title: "A signature from t shares",
        by: "“Fast and Scalable BLS Threshold Signatures”, A. Tomescu, 2020; libpolycrypto on BN254, Intel Core i7-980X, one thread",
        about: "An aggregator has t valid signature shares of 2t − 1 participants and interpolates the signature in the \
                exponent. The naive way takes time quadratic in t, the source’s way quasilinear.",
        files: &["threshold"],
        figures: vec![recover(rows), identify(rows)],
        tables: html! {},
        claims: claims(rows),
    }
}

fn of(rows: &Rows, bench: &str, engine: &str, t: usize, threads: usize) -> Option<Times> {
    rows.total("threshold", bench, engine, t, threads)
}

fn recover(rows: &Rows) -> Figure {
    let line = |label: &str, bench: &str, engine: &str, threads: usize| {
        Line::new(label, Family::of(engine), SIZES.map(|t| of(rows, bench, engine, t, threads)))
    };
    // The source states no figure between those that it measured.
    let published = |label: &str, engine: &str| {
        let cell = |t| of(rows, "recover/random", engine, t, 1).map_or(Cell::None("not stated"), Cell::Figure);
        Line::new(label, Family::Published, SIZES.map(cell))
    };
    let blst = |t: usize| match of(rows, "recover/random", "blst", t, 1) {
        None if t > 4096 => Cell::None("left out: quadratic"),
        times => times.into(),
    };
    Figure {
        id: "recover",
        title: "Time to recover a signature",
        text: html! { p {
            "The shares of a random half of 2t − 1 participants, decoded. The time has the coefficients and the multi-scalar "
            "multiplication (MSM) in it. blst computes no coefficients: beside its MSM alone, which no library over blst can avoid, stands "
            "the same with naive coefficients, which quorate’s portable backend computes. The source’s figures are read from its paper’s "
            "data; the curve is another one."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Places,
        across: "t",
        places: Place::numbers(SIZES),
        lines: vec![
            published("source, naive, 2020", NAIVE),
            published("source, quasilinear, 2020", SOURCE),
            Line::new("naive coefficients, blst’s MSM", Family::Blst, SIZES.map(blst)),
            line("blst, its MSM alone", "recover/msm-only", "blst", 1),
            line("blst, its MSM alone, two threads", "recover/msm-only", "blst", 2),
            line("quorate portable", "recover/random", "quorate/portable", 1),
            line("quorate IFMA", "recover/random", "quorate/ifma", 1),
            line("quorate IFMA, two threads", "recover/random", "quorate/ifma", 2),
            line("quorate IFMA, 1 % missing", "recover/missing=1%", "quorate/ifma", 1),
        ],
        ratios: vec![],
    }
    .against(&["source, quasilinear, 2020", "blst, its MSM alone"], &["quorate IFMA", "quorate portable"])
}

fn identify(rows: &Rows) -> Figure {
    let benches = ["bad=0", "bad=1", "bad=0.1%", "bad=1%", "bad=10%", "bad=33%"].map(|bad| format!("identify/{bad}"));
    let line = |label: &str, engine: &str| {
        Line::new(label, Family::of(engine), benches.each_ref().map(|bench| of(rows, bench, engine, 1024, 1)))
    };
    let blst = benches.each_ref().map(|bench| match of(rows, bench, "blst", 1024, 1) {
        None if bench != "identify/bad=0" => Cell::None("the same: each share"),
        times => times.into(),
    });
    Figure {
        id: "identify",
        title: "Which of 1,024 shares are valid",
        text: html! { p {
            "Before it interpolates, the source’s aggregator verifies each share by itself and states no time for that. quorate "
            "verifies all together and searches for the false ones."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Places,
        across: "false shares",
        places: Place::named(&["none", "one", "0.1 %", "1 %", "10 %", "33 %"]),
        lines: vec![
            Line::new("blst", Family::Blst, blst),
            line("quorate portable", "quorate/portable"),
            line("quorate IFMA", "quorate/ifma"),
        ],
        ratios: vec![],
    }
    .against(&["blst"], &["quorate IFMA", "quorate portable"])
}

/// quorate's time on one thread, by the fastest backend that was measured.
pub(crate) fn fastest(rows: &Rows, t: usize) -> Option<f64> {
    let ours = |engine| Some(of(rows, "recover/random", engine, t, 1)?.median);
    ours("quorate/ifma").or_else(|| ours("quorate/portable"))
}

fn claims(rows: &Rows) -> Vec<Claim> {
    let naive = |t| Some(of(rows, "recover/random", "blst", t, 1)?.median);
    let largest = SIZES.into_iter().filter(|t| fastest(rows, *t).is_some_and(|us| us <= 1e6)).max();
    vec![
        Claim::measured(
            "At t = 2,048 the naive way takes less than 1 second.",
            naive(2048)
                .map(|us| (Said::at_most(1e6).holds(us), format!("{} with naive coefficients and blst’s MSM.", time(us)))),
        ),
        Claim::measured(
            "At t = 2,048 the quasilinear way takes 0.1 seconds.",
            fastest(rows, 2048)
                .map(|us| (Said::about(100e3).holds(us), format!("{}: {} as fast.", time(us), factor(100e3 / us)))),
        ),
        Claim::measured(
            "In 1 second a signature of t = 2^14 ≈ 16,000 is aggregated.",
            fastest(rows, 1 << 14).zip(largest).map(|(us, largest)| {
                let largest = crate::row::whole(largest as f64);
                (
                    Said::at_most(1e6).holds(us),
                    format!("{}. The largest t measured that takes under a second is {largest}.", time(us)),
                )
            }),
        ),
        Claim::measured(
            "The quasilinear way is faster from t = 128 on.",
            fastest(rows, 128).zip(naive(128)).map(|(us, at_128)| {
                // Each from 128 on that was measured with both.
                let gain = |t: &usize| Some((*t, naive(*t)? / fastest(rows, *t)?));
                let gains = SIZES.iter().filter(|t| **t >= 128).filter_map(gain);
                let least = gains.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((128, at_128 / us));
                let text = format!(
                    "{} against {} with naive coefficients and blst’s MSM at t = 128: {}. The least gain from there on is {}, at t = {}.",
                    time(us),
                    time(at_128),
                    factor(at_128 / us),
                    factor(least.1),
                    crate::row::whole(least.0 as f64)
                );
                (Said::at_least(1.0).holds(least.1), text)
            }),
        ),
        Claim::new(
            "Participants have roots of unity as identifiers, so that one transform evaluates the derivative.",
            Verdict::Holds,
            "quorate takes them, too, and integers where a committee has these. It picks whichever of six methods costs the \
             least: with few participants missing it divides by those that are absent.",
        ),
    ]
}
