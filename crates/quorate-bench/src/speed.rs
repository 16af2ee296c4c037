//! Plots the time of quorate beside the time of blst.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use plotters::{
    prelude::*,
    style::text_anchor::{HPos, Pos, VPos},
};

use crate::row::{BUSY, Row, short};

/// A group of bars: what is measured, and the benchmark and the n of its rows.
struct Group {
    title: &'static str,
    /// What blst does differently, or what the time leaves out.
    remark: &'static str,
    blst: &'static str,
    quorate: &'static str,
    n: usize,
}

/// The groups of the plot, from the top.
const GROUPS: [Group; 5] = [
    Group {
        title: "1,024 claims, distinct messages",
        remark: "",
        blst: "batch/distinct",
        quorate: "batch/distinct",
        n: 1024,
    },
    Group {
        title: "128 claims, one message",
        remark: "",
        blst: "batch/same-message",
        quorate: "batch/same-message",
        n: 128,
    },
    Group {
        title: "a block of 1,000, 90 % already verified",
        remark: "blst verifies the whole block",
        blst: "block/known=0",
        quorate: "block/known=90",
        n: 1000,
    },
    Group {
        title: "finding 1 invalid claim among 128",
        remark: "after the batch failed; blst: one by one",
        blst: "culprits/bad=1",
        quorate: "culprits/bad=1",
        n: 128,
    },
    Group {
        title: "MSM, 65,536 points of G1",
        remark: "multi-scalar multiplication",
        blst: "msm/g1",
        quorate: "msm/g1",
        n: 1 << 16,
    },
];

/// The bars of a group: the engine, its label, its colour. The first is the one that the others are compared with.
const BARS: [(&str, &str, RGBColor); 3] = [
    ("blst", "blst", RGBColor(150, 150, 150)),
    ("quorate/portable", "quorate, portable", RGBColor(86, 180, 233)),
    ("quorate/ifma", "quorate, IFMA", RGBColor(0, 114, 178)),
];

const WIDTH: i32 = 1000;
/// Where the bars begin, and the length of a bar of blst.
const LEFT: i32 = 300;
const LONGEST: i32 = 520;
/// The height of the head, of a bar with the gap below it, and of the gap between groups.
const HEAD: i32 = 66;
const BAR: i32 = 19;
const GAP: i32 = 16;
const TEXT: RGBColor = RGBColor(40, 40, 40);
const FAINT: RGBColor = RGBColor(110, 110, 110);

/// Draws a group of bars for each measurement in which blst was measured too. Writes nothing if there are none.
pub(crate) fn plot(rows: &[Row], path: &Path) -> Result<()> {
    let groups: Vec<_> =
        GROUPS.iter().map(|group| (group, bars(rows, group))).filter(|(_, bars)| bars[0].is_some()).collect();
    if groups.is_empty() {
        return Ok(());
    }
    let svg = draw(&groups).map_err(|why| anyhow::anyhow!("{why}")).context("cannot draw the times")?;
    fs::write(path, svg).with_context(|| format!("cannot write {}", path.display()))
}

/// The rows of a group's bars on one thread. `None` if an engine was not measured.
fn bars<'a>(rows: &'a [Row], group: &Group) -> [Option<&'a Row>; BARS.len()] {
    BARS.map(|(engine, ..)| {
        let bench = if engine == "blst" { group.blst } else { group.quorate };
        let of = |row: &&Row| row.bench == bench && row.engine == engine && row.n == group.n && row.threads == 1;
        rows.iter().find(of)
    })
}

fn draw(groups: &[(&Group, [Option<&Row>; BARS.len()])]) -> Result<String, Box<dyn std::error::Error>> {
    let height = HEAD + groups.len() as i32 * (BARS.len() as i32 * BAR + GAP);
    let mut svg = String::new();
    let canvas = SVGBackend::with_string(&mut svg, (WIDTH as u32, height as u32)).into_drawing_area();
    canvas.fill(&WHITE)?;
    let write = |text: &str, at: (i32, i32), size: i32, colour: RGBColor, side: HPos| {
        let style = ("sans-serif", size).into_font().color(&colour).pos(Pos::new(side, VPos::Center));
        canvas.draw(&Text::new(text.to_owned(), at, style))
    };
    write("Time on one core. Shorter is better. blst is 100 % of each group.", (LEFT, 18), 18, TEXT, HPos::Left)?;
    for (i, (_, label, colour)) in BARS.iter().enumerate() {
        let x = LEFT + 180 * i as i32;
        canvas.draw(&Rectangle::new([(x, 38), (x + 12, 50)], colour.filled()))?;
        write(label, (x + 20, 44), 16, TEXT, HPos::Left)?;
    }
    let mut y = HEAD;
    for (group, bars) in groups {
        let middle = y + BARS.len() as i32 * BAR / 2;
        let title = if group.remark.is_empty() { middle } else { middle - 10 };
        write(group.title, (LEFT - 14, title), 16, TEXT, HPos::Right)?;
        if !group.remark.is_empty() {
            write(group.remark, (LEFT - 14, middle + 10), 14, FAINT, HPos::Right)?;
        }
        let blst = bars[0].map_or(0.0, Row::total);
        for ((engine, _, colour), row) in BARS.iter().zip(bars) {
            if let Some(row) = row {
                let time = row.total();
                let end = LEFT + ((time / blst * f64::from(LONGEST)) as i32).max(1);
                canvas.draw(&Rectangle::new([(LEFT, y), (end, y + BAR - 3)], colour.filled()))?;
                let ratio = if *engine == "blst" { String::new() } else { format!("  ({:.1}×)", blst / time) };
                let busy = if row.is_busy() { format!("  {BUSY}") } else { String::new() };
                let text = format!("{} ms{ratio}{busy}", short(time / 1e3));
                write(&text, (end + 8, y + BAR / 2 - 1), 16, TEXT, HPos::Left)?;
            }
            y += BAR;
        }
        y += GAP;
    }
    canvas.present()?;
    drop(canvas);
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Figures, Times};

    fn row(bench: &str, engine: &str, n: usize, per: &str, us: f64) -> Row {
        let figures = Figures::Us(Times { min: us, median: us, max: us });
        Row {
            bench: bench.into(),
            engine: engine.into(),
            threads: 1,
            n,
            per: per.into(),
            figures,
            cpu_us: None,
            latency_ms: None,
            refused: None,
            traffic: None,
            note: String::new(),
        }
    }

    #[test]
    fn bars_are_as_long_as_their_share_of_the_time_of_blst() {
        let rows = [
            row("batch/distinct", "blst", 1024, "claim", 500.0),
            row("batch/distinct", "quorate/ifma", 1024, "claim", 125.0),
            row("block/known=0", "blst", 1000, "block", 400e3),
            row("block/known=90", "quorate/portable", 1000, "block", 40e3),
            row("culprits/bad=1", "quorate/portable", 128, "search", 1.0),
        ];
        let groups: Vec<_> = GROUPS.iter().map(|group| (group, bars(&rows, group))).collect();
        assert_eq!(groups[0].1.map(|row| row.map(Row::total)), [Some(512e3), None, Some(128e3)]);
        assert_eq!(groups[2].1.map(|row| row.map(Row::total)), [Some(400e3), Some(40e3), None]);
        assert!(groups[3].1[0].is_none());
        let svg = draw(&[(groups[0].0, groups[0].1), (groups[2].0, groups[2].1)]).expect("a plot");
        for text in
            ["512 ms", "128 ms  (4.0×)", "400 ms", "40.0 ms  (10.0×)", "width=\"520\"", "width=\"130\"", "width=\"52\""]
        {
            assert!(svg.contains(text), "{text} is missing in {svg}");
        }
    }
}
