//! Source 001: what aggregation gains.

use maud::html;

use super::{
    figure::{Better, Down, Family, Figure, Line, Place, Shape},
    source::{Claim, Source},
    spread::exactly,
    words::{Unit, factor, time},
};
use crate::{compare::said::Said, row::Times, shown::Rows};

/// Milliseconds: 100 signatures one by one, one aggregate of 100 messages, one message by 100 signers.
const NOBLE: [f64; 3] = [6445.0, 3606.0, 586.0];
const BENCHES: [&str; 3] = ["aggregate/single", "aggregate/messages", "aggregate/signers"];

pub(crate) fn source(rows: &Rows) -> Source {
    Source {
        number: "001",
        title: "A hundred signatures, three ways",
        by: "A post about aggregation in Safe Network, not dated (about 2021); noble-bls12-381 in a browser, machine not stated",
        about: "A hundred signatures by five keys, verified one by one; the same as one aggregate over a hundred messages; and \
                one message that a hundred keys signed.",
        files: &["aggregate"],
        figures: vec![figure(rows)],
        tables: html! {},
        claims: claims(rows),
    }
}

fn of(rows: &Rows, engine: &str) -> [Option<Times>; 3] {
    BENCHES.map(|bench| rows.total("aggregate", bench, engine, 100, 1))
}

fn figure(rows: &Rows) -> Figure {
    Figure {
        id: "aggregate",
        title: "One by one, aggregated, one message",
        text: html! { p { "The source states 6445, 3606 and 586 ms. Its script is JavaScript, so compare the shape before the times." } },
        unit: Unit::Time,
        better: Better::Less,
        shape: Shape::Dots,
        down: Down::Places,
        across: "100 signatures",
        places: Place::named(&["one by one", "100 messages, one aggregate", "1 message, 100 signers"]),
        lines: vec![
            Line::new("noble, about 2021", Family::Published, NOBLE.map(|ms| Some(exactly(ms * 1e3)))),
            Line::new("blst", Family::Blst, of(rows, "blst")),
            Line::new("quorate portable", Family::Quorate, of(rows, "quorate/portable")),
            Line::new("quorate IFMA", Family::Quorate, of(rows, "quorate/ifma")),
        ],
        ratios: vec![],
    }
    .against(&["noble, about 2021", "blst"], &["quorate IFMA", "quorate portable"])
}

fn claims(rows: &Rows) -> Vec<Claim> {
    let gain = |place: usize| {
        let ours = |engine| {
            let [single, ..] = of(rows, engine);
            Some((single?.median, of(rows, engine)[place]?.median))
        };
        let (single, whole) = ours("quorate/ifma").or_else(|| ours("quorate/portable"))?;
        let [blst, ..] = of(rows, "blst");
        let blst = blst.zip(of(rows, "blst")[place]).map(|(single, whole)| single.median / whole.median);
        let of_blst = blst.map_or(String::new(), |times| format!(" With blst the factor is {}.", factor(times)));
        Some((
            single / whole,
            format!("{} against {}: {}.{of_blst}", time(single), time(whole), factor(single / whole)),
        ))
    };
    vec![
        Claim::measured(
            "Many messages: about twice as fast when aggregated (1.8 times).",
            gain(1).map(|(times, text)| {
                (
                    Said::about_between(1.8, 2.0).holds(times),
                    format!("{text} The five signers’ signatures are summed before anything is paired."),
                )
            }),
        ),
        Claim::measured(
            "One message: up to ten times faster (11 times).",
            gain(2).map(|(times, text)| (Said::about_between(10.0, 11.0).holds(times), text)),
        ),
    ]
}
