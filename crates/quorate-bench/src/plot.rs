//! Plots against a logarithmic axis: the gas of a transaction by the number of operators, and latency and CPU time by the rate
//! at which claims arrive.

use std::{ops::Range, path::Path};

use anyhow::{Context, Result};
use plotters::{coord::Shift, prelude::*};

use crate::row::Row;

/// The lines of the plot: the engine, its label, its colour.
const LINES: [Line; 7] = [
    ("source/sum-of-all", "baseline: sum of all signers", RGBColor(150, 150, 150)),
    ("source/difference", "baseline: difference cache", RGBColor(204, 121, 167)),
    ("eigenlayer/check-signatures", "EigenLayer, rebuilt", RGBColor(230, 159, 0)),
    ("quorate/bn254-g2", "quorate, BN254, keys in G2", RGBColor(0, 114, 178)),
    ("quorate/bls12381-g2", "quorate, BLS12-381, keys in G2", RGBColor(86, 180, 233)),
    ("quorate/bls12381-g2-nu", "quorate, BLS12-381, keys in G2, nonuniform hash", RGBColor(213, 94, 0)),
    ("quorate/bn254-g1", "quorate, BN254, keys in G1", RGBColor(0, 158, 115)),
];

/// A line: the engine, its label, its colour.
type Line = (&'static str, &'static str, RGBColor);

/// The lines of the plots of the service.
const COLLECTORS: [Line; 4] = [
    ("policy/one-by-one", "one by one", RGBColor(150, 150, 150)),
    ("policy/fixed-64", "up to 64, no wait (Lighthouse)", RGBColor(230, 159, 0)),
    ("policy/32-128-in-50ms", "32 to 128 within 50 ms (Lodestar)", RGBColor(204, 121, 167)),
    ("quorate/embedded", "quorate-batcher", RGBColor(0, 114, 178)),
];

/// Draws both models of membership side by side. Writes nothing if there are no rows of gas.
pub(crate) fn gas(rows: &[Row], path: &Path) -> Result<()> {
    if rows.iter().all(|row| row.bench != "gas/flip") {
        return Ok(());
    }
    let gas = |gas: &f64| if *gas < 1e6 { format!("{:.0}k", gas / 1e3) } else { format!("{:.0}M", gas / 1e6) };
    let half = |bench: &'static str, title| Half {
        title,
        x: ("operators", 4.0..1000.0),
        y: ("gas of a transaction", 140_000.0..8_000_000.0, &gas),
        lines: LINES.map(|line| (line, points(rows, bench, line.0))).to_vec(),
    };
    let halves = [
        half("gas/flip", "each operator joins or leaves with 10 %"),
        half("gas/miss", "each operator misses a task with 10 %"),
    ];
    save(path, &halves)
}

/// Draws the latency and the CPU time of a claim by the rate at which claims arrive.
pub(crate) fn service(rows: &[Row], path: &Path) -> Result<()> {
    let number = |value: &f64| if *value < 1e3 { format!("{value:.0}") } else { format!("{:.0}k", value / 1e3) };
    let lines = |of: Of<'_>| COLLECTORS.map(|line| (line, by_rate(rows, line.0, of))).to_vec();
    let x = ("claims a second that arrive", 10.0..100_000.0);
    let halves = [
        Half {
            title: "latency, 99 of 100 of those answered are faster",
            x: x.clone(),
            y: ("milliseconds", 1.0..100_000.0, &number),
            lines: lines(&Row::p99),
        },
        Half {
            title: "CPU time of a claim",
            x,
            y: ("microseconds", 50.0..10_000.0, &number),
            lines: lines(&|row| Some(row.figures.middle())),
        },
    ];
    save(path, &halves)
}

/// A figure of a row.
type Of<'a> = &'a dyn Fn(&Row) -> Option<f64>;

/// The points of an engine, by the rate at which claims arrive.
fn by_rate(rows: &[Row], engine: &str, of: Of<'_>) -> Vec<(f64, f64)> {
    let of_engine = rows.iter().filter(|row| row.engine == engine);
    of_engine.filter_map(|row| Some((row.bench.strip_prefix("service/rate=")?.parse().ok()?, of(row)?))).collect()
}

/// The points of an engine in a benchmark, by n.
fn points(rows: &[Row], bench: &str, engine: &str) -> Vec<(f64, f64)> {
    let of = rows.iter().filter(|row| row.bench == bench && row.engine == engine);
    of.map(|row| (row.n as f64, row.figures.middle())).collect()
}

/// How a number stands at an axis.
type Text<'a> = &'a dyn Fn(&f64) -> String;

/// One of two plots that stand side by side. Both axes are logarithmic.
struct Half<'a> {
    title: &'static str,
    x: (&'static str, Range<f64>),
    y: (&'static str, Range<f64>, Text<'a>),
    lines: Vec<(Line, Vec<(f64, f64)>)>,
}

fn save(path: &Path, halves: &[Half<'_>; 2]) -> Result<()> {
    let draw = || {
        let canvas = SVGBackend::new(path, (1000, 460)).into_drawing_area();
        canvas.fill(&WHITE)?;
        for (area, half) in canvas.split_evenly((1, 2)).iter().zip(halves) {
            half.draw(area)?;
        }
        canvas.present()?;
        Ok::<_, Box<dyn std::error::Error>>(())
    };
    draw().map_err(|why| anyhow::anyhow!("{why}")).with_context(|| format!("cannot draw {}", path.display()))
}

impl Half<'_> {
    fn draw<'b>(&self, area: &DrawingArea<SVGBackend<'b>, Shift>) -> Result<(), Box<dyn std::error::Error + 'b>> {
        let Self { title, x: (x_name, x), y: (y_name, y, y_text), lines } = self;
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 17))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(66)
            .build_cartesian_2d(x.clone().log_scale(), y.clone().log_scale())?;
        chart
            .configure_mesh()
            .x_desc(*x_name)
            .y_desc(*y_name)
            .x_label_formatter(&|n| format!("{n:.0}"))
            .y_label_formatter(y_text)
            .light_line_style(RGBColor(238, 238, 238))
            .draw()?;
        for ((_, name, colour), points) in lines.iter().filter(|(_, points)| !points.is_empty()) {
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3))?
                .label(*name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(200, 200, 200))
            .label_font(("sans-serif", 12))
            .draw()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdicts that came say nothing about the claims that were refused.
    #[test]
    fn a_rate_at_which_most_claims_were_refused_has_no_latency() {
        let row = |rate: u32, refused: f64| -> Row {
            let us = serde_json::json!({ "min": 117.0, "median": 117.0, "max": 117.0 });
            serde_json::from_value(serde_json::json!({
                "bench": format!("service/rate={rate}"), "engine": "quorate/embedded", "threads": 2, "n": 1, "per": "claim",
                "us": us, "latency_ms": { "p50": 25.3, "p99": 45.6 }, "refused": refused
            }))
            .unwrap()
        };
        let rows = [row(1000, 0.0), row(100_000, 0.8)];
        assert_eq!(by_rate(&rows, "quorate/embedded", &Row::p99), [(1000.0, 45.6)]);
        assert_eq!(by_rate(&rows, "quorate/embedded", &|row| Some(row.figures.middle())).len(), 2);
    }
}
