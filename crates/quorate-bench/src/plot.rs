//! Plots the gas of a transaction against the number of operators.

use std::path::Path;

use anyhow::{Context, Result};
use plotters::prelude::*;

use crate::row::Row;

/// The lines of the plot: the engine, its label, its colour.
const LINES: [(&str, &str, RGBColor); 6] = [
    ("source/sum-of-all", "baseline: sum of all signers", RGBColor(150, 150, 150)),
    ("source/difference", "baseline: difference cache", RGBColor(204, 121, 167)),
    ("published/eigenlayer", "EigenLayer, as published", RGBColor(230, 159, 0)),
    ("quorate/bn254-g2", "quorate, BN254, keys in G2", RGBColor(0, 114, 178)),
    ("quorate/bls12381-g2", "quorate, BLS12-381, keys in G2", RGBColor(86, 180, 233)),
    ("quorate/bn254-g1", "quorate, BN254, keys in G1", RGBColor(0, 158, 115)),
];

/// Draws both models of membership side by side. Writes nothing if there are no rows of gas.
pub(crate) fn gas(rows: &[Row], path: &Path) -> Result<()> {
    if rows.iter().all(|row| row.bench != "gas/flip") {
        return Ok(());
    }
    draw(rows, path).map_err(|why| anyhow::anyhow!("{why}")).with_context(|| format!("cannot draw {}", path.display()))
}

fn draw(rows: &[Row], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let canvas = SVGBackend::new(path, (1000, 460)).into_drawing_area();
    canvas.fill(&WHITE)?;
    for (half, (bench, title)) in canvas.split_evenly((1, 2)).iter().zip([
        ("gas/flip", "each operator joins or leaves with 10 %"),
        ("gas/miss", "each operator misses a task with 10 %"),
    ]) {
        let mut chart = ChartBuilder::on(half)
            .caption(title, ("sans-serif", 17))
            .margin(12)
            .x_label_area_size(40)
            .y_label_area_size(66)
            .build_cartesian_2d((4f64..1000f64).log_scale(), (140_000f64..8_000_000f64).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("operators")
            .y_desc("gas of a transaction")
            .x_label_formatter(&|n| format!("{n:.0}"))
            .y_label_formatter(&|gas| {
                if *gas < 1e6 { format!("{:.0}k", gas / 1e3) } else { format!("{:.0}M", gas / 1e6) }
            })
            .light_line_style(RGBColor(238, 238, 238))
            .draw()?;
        for (engine, name, colour) in LINES {
            let of = rows.iter().filter(|row| row.bench == bench && row.engine == engine);
            let points: Vec<_> = of.map(|row| (row.n as f64, row.figures.middle())).collect();
            if points.is_empty() {
                continue;
            }
            chart
                .draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(2)).point_size(3))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(RGBColor(200, 200, 200))
            .label_font(("sans-serif", 12))
            .draw()?;
    }
    canvas.present()?;
    Ok(())
}
