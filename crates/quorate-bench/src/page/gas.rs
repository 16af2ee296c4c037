//! Source 004: aggregate keys on an EVM chain.

use maud::html;

use super::{
    figure::{Better, Down, Family, Figure, Line, Place, Shape},
    source::{Claim, Source, Verdict},
    spread::exactly,
    words::{Unit, factor},
};
use crate::{
    compare::said::Said,
    row::{Row, whole},
    shown::Rows,
};

const SIZES: [usize; 6] = [4, 10, 50, 100, 200, 1000];

/// The line of EigenLayer's `checkSignatures`.
const EIGENLAYER: &str = "EigenLayer, rebuilt";

pub(crate) fn source(rows: &Rows) -> Source {
    Source {
        number: "004",
        title: "A quorum on an EVM chain",
        by: "“OBLS”, Othentic, not dated (2024); fuzz tests in Foundry, BN254 with keys in G2",
        about: "A contract builds the aggregate key of those who signed, and verifies their signature. The source keeps the last \
                aggregate key and adds or subtracts only the operators who changed.",
        files: &["gas", "bn254"],
        figures: vec![
            membership(rows, "gas-flip", "gas/flip", "Each operator joins or leaves with 10 %"),
            membership(rows, "gas-miss", "gas/miss", "Each operator misses a task with 10 %"),
            policies(rows),
            operators(rows),
        ],
        tables: html! {},
        claims: claims(rows),
    }
}

fn mean(rows: &Rows, bench: &str, engine: &str, n: usize) -> Option<f64> {
    Some(rows.row("gas", bench, engine, n, 1)?.figures.middle())
}

fn membership(rows: &Rows, id: &'static str, bench: &'static str, title: &'static str) -> Figure {
    let line = |label: &str, engine: &str, family| {
        Line::new(label, family, SIZES.map(|n| rows.row("gas", bench, engine, n, 1).map(Row::times)))
    };
    let mut lines = vec![
        line("sum of all signers", "source/sum-of-all", Family::Peer),
        line("cache of exact quorums", "source/exact-match", Family::Peer),
        line("the source’s difference cache", "source/difference", Family::Peer),
        line(EIGENLAYER, "eigenlayer/check-signatures", Family::Peer),
        line("quorate, BN254, keys in G2", "quorate/bn254-g2", Family::Quorate),
        line("quorate, BLS12-381, keys in G2", "quorate/bls12381-g2", Family::Quorate),
        line("quorate, BLS12-381, keys in G2, nonuniform hash", "quorate/bls12381-g2-nu", Family::Quorate),
        line("quorate, BN254, keys in G1", "quorate/bn254-g1", Family::Quorate),
    ];
    // EigenLayer's contract starts from all operators, so only the model in which they miss tasks is measured.
    lines.retain(|line| line.label != EIGENLAYER || bench == "gas/miss");
    Figure {
        id,
        title,
        text: html! { p {
            "Mean gas of a whole transaction, ten in a row, with the median below. The first three are the source’s three "
            "contracts, built anew and measured here. The difference cache goes through all bits, which counts with 1,000 operators."
        } },
        unit: Unit::Gas,
        better: Better::Less,
        shape: Shape::Lines,
        down: Down::Places,
        across: "operators",
        places: Place::numbers(SIZES),
        lines,
        ratios: vec![],
    }
    .against(
        &["sum of all signers", "the source’s difference cache", EIGENLAYER],
        &["quorate, BN254, keys in G2"],
    )
}

fn policies(rows: &Rows) -> Figure {
    let benches = ["gas/refresh-flip", "gas/refresh-miss", "gas/refresh-shifts"];
    let line = |label: &str, policy: &str| {
        Line::new(label, Family::Quorate, benches.map(|bench| rows.row("gas", bench, policy, 100, 1).map(Row::times)))
    };
    Figure {
        id: "refresh",
        title: "How often a cache should be updated",
        text: html! { p {
            "The source leaves this open. Mean gas over a longer trace with 100 operators, keys in G2 of BN254, for each policy of "
            "storing aggregate keys; the last line knows the future."
        } },
        unit: Unit::Gas,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Lines,
        across: "policy",
        places: Place::named(&["joins or leaves with 10 %", "misses with 10 %", "four shifts in turn"]),
        lines: vec![
            line("full set only", "full"),
            line("last quorum", "last"),
            line("ring of 8", "ring-8"),
            line("ring of 32", "ring-32"),
            line("ski rental", "ski-rental"),
            line("best in hindsight, one slot", "optimum"),
        ],
        ratios: vec![],
    }
}

/// Microseconds of gnark-crypto 0.22 (Go) on one core of a Zen 4, measured by hand in one sitting: one signature, 22 for its hash, 320 for
/// the Miller loop of two pairs and 176 for the final exponentiation; and what its parts add up to for each of 128.
const GNARK: [f64; 3] = [518.0, 190.0, 17.5];

/// What an aggregator does before it settles.
fn operators(rows: &Rows) -> Figure {
    let cases = [("bn254/verify", 1), ("bn254/distinct", 128), ("bn254/same-message", 128)];
    let line = |label: &str, engine: &str, family| {
        Line::new(label, family, cases.map(|(bench, n)| rows.each("bn254", bench, engine, n, 1)))
    };
    Figure {
        id: "operators",
        title: "Operators’ signatures on BN254, before a quorum is settled",
        text: html! { p {
            "The time of one signature: alone, and of each among 128 over as many messages and over one. arkworks verifies one by one. "
            "gnark-crypto was measured by hand, in its parts, on another machine (a Zen 4); for 128 signatures its line adds them up. "
            "BN254 gives about 100 bits of security."
        } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Places,
        across: "signatures",
        places: Place::named(&["one", "128 messages", "one message by 128"]),
        lines: vec![
            Line::new("gnark-crypto, by hand", Family::Published, GNARK.map(|time| Some(exactly(time)))),
            line("arkworks, one by one", "arkworks", Family::Peer),
            line("quorate portable", "quorate/portable", Family::Quorate),
            line("quorate AVX2", "quorate/fma-avx2", Family::Quorate),
            line("quorate IFMA", "quorate/ifma", Family::Quorate),
        ],
        ratios: vec![],
    }
    // No ratio to gnark-crypto: it was measured on another machine.
    .against(&["arkworks, one by one"], &["quorate IFMA", "quorate AVX2"])
}

fn claims(rows: &Rows) -> Vec<Claim> {
    let flip = |engine: &str, n| mean(rows, "gas/flip", engine, n);
    let saved = |n| Some(flip("source/sum-of-all", n)? / flip("source/difference", n)?);
    let crossover = SIZES.into_iter().find(|n| saved(*n).is_some_and(|times| times > 1.0));
    let operator =
        flip("source/sum-of-all", 200).zip(flip("source/sum-of-all", 100)).map(|(more, fewer)| (more - fewer) / 100.0);
    // What one more member costs who changed since the stored quorum.
    let changed = |engine| {
        let [one, many] = ["gas/changed=1", "gas/changed=32"].map(|bench| mean(rows, bench, engine, 100));
        Some((many? - one?) / 31.0)
    };
    let (by_hint, by_precompile) = (changed("quorate/bn254-g2"), changed("quorate/bls12381-g2"));
    vec![
        Claim::measured(
            "An addition of two keys in G2 costs about 30,000 gas.",
            operator.zip(by_hint.zip(by_precompile)).map(|(operator, (by_hint, by_precompile))| {
                let text = format!(
                    "In the source’s contract, measured here, each further operator costs {} gas on average, whether it signs or \
                     not. In quorate’s, a member who changed costs {} on BN254, where the slope is a checked hint, and {} on \
                     BLS12-381, by a precompile.",
                    whole(operator),
                    whole(by_hint),
                    whole(by_precompile)
                );
                (Said::about(30e3).holds(by_hint), text)
            }),
        ),
        Claim::measured(
            "The difference cache saves a factor of 2.81, which is 64 %; in the whole flow closer to a half.",
            saved(100).map(|times| {
                let text = format!(
                    "Whole transactions with 100 operators: {}, which is {:.0} %. quorate against the sum of all: {}.",
                    factor(times),
                    100.0 * (1.0 - 1.0 / times),
                    flip("source/sum-of-all", 100)
                        .zip(flip("quorate/bn254-g2", 100))
                        .map_or("not measured".into(), |(sum, ours)| factor(sum / ours)),
                );
                (Said::about(2.81).holds(times), text)
            }),
        ),
        Claim::measured(
            "It pays from about 4 operators on.",
            crossover.map(|n| {
                let text = format!("Of the numbers measured, {n} is the smallest at which the cache is cheaper.");
                (Said::about(4.0).holds(n as f64), text)
            }),
        ),
        Claim::new(
            "To hash to G2 in the EVM costs 1 to 4 million gas, so keys in G1 are unfeasible.",
            Verdict::NoLonger,
            "Since the Pectra upgrade (May 2025) a precompile maps to G2 of BLS12-381 for 23,800 gas (EIP-2537). On BN254 keys \
             can be in G1 without hashing to G2: signers hold one secret in both groups, and the contract checks that the keys \
             belong together. Its row is “quorate, BN254, keys in G1”.",
        ),
        Claim::measured(
            "EIP-2537 could make the savings of the cache negligible.",
            (|| {
                let cache = flip("source/sum-of-all", 100)? - flip("source/difference", 100)?;
                let anew = 100.0 * by_precompile?;
                let text = format!(
                    "With 100 operators the source’s cache saves {} gas on BN254. On BLS12-381 the sum of 100 keys without any \
                     cache would cost about {}.",
                    whole(cache),
                    whole(anew)
                );
                Some((Said::at_most(0.2).holds(anew / cache), text))
            })(),
        ),
        Claim::new(
            "The library’s Jacobian addition is wrong for more than two points.",
            Verdict::NoLonger,
            "quorate’s contracts add in affine coordinates with the slope as a checked hint, and a plain twin of each routine is \
             compared with it under fuzz.",
        ),
    ]
}
