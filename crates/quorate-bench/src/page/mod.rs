//! `quorate-bench report --html`: one self-contained page with the figures of every source beside ours.
//!
//! | file | what it holds |
//! |---|---|
//! | `words` | numbers as people read them |
//! | `spread` | arithmetic on a figure and its spread |
//! | `figure` | a table, and the data of its plot |
//! | `source` | a source: its figures, its claims |
//! | `blocks` `aggregates` `schemes` `thresholds` `gas` | the sources 000 to 004 |
//! | `comparison` | the model of `compare` |
//! | `peers` | the tasks of `make peers` |
//! | `style.css` | the style. The script is built from `page/` of this crate |
//!
//! Everything is read from records and rendered here; the script only draws the tables' numbers and evaluates the model. The
//! page asks no host for anything: its policy forbids that to the browser.

mod words;
mod figure;
mod source;
mod spread;
mod aggregates;
mod blocks;
mod comparison;
mod gas;
mod peers;
mod schemes;
mod thresholds;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use self::{
    source::{Source, records},
    words::time,
};
use crate::{
    compare::model::Scheme,
    shown::{File, Rows},
};

/// The script, built by esbuild from `page/src` of this crate.
const SCRIPT: &str = "crates/quorate-bench/page/bundle/page.js";

/// The files of rows that the page reads.
const FILES: [&str; 10] =
    ["single", "block", "aggregate", "culprits", "threshold", "schemes", "service", "gas", "bn254", "peers"];

/// Writes `index.html` into a folder, from the newest records of a repository. Answers with the file.
pub(crate) fn write(root: &Path, folder: &Path) -> Result<PathBuf> {
    let rows = Rows::shown(root)?;
    let script = root.join(SCRIPT);
    let script = fs::read_to_string(&script).with_context(|| {
        format!("cannot read {}, the script of the page: `make page-script` builds it, and needs npm", script.display())
    })?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let path = folder.join("index.html");
    fs::write(&path, render(&rows, &script)?.into_string())
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// The name of the page's fingerprint, in the page and in its picture.
const FINGERPRINT: &str = "quorate-first-screen";

/// A hash of what the first screen shows.
fn fingerprint(rows: &Rows) -> String {
    let mut hash = Sha256::new();
    hash.update(first_screen(rows).into_string());
    hash.update(summary(rows).to_string());
    const_hex::encode(hash.finalize())
}

pub(crate) fn render(rows: &Rows, script: &str) -> Result<Markup> {
    let ends = ["</script", "<!--"].into_iter().find(|text| script.to_ascii_lowercase().contains(text));
    ensure!(
        ends.is_none(),
        "the script of the page contains {}, which would end it: build it anew",
        ends.unwrap_or_default()
    );
    let schemes = Scheme::all()?;
    let sources = [
        blocks::source(rows),
        aggregates::source(rows),
        schemes::source(rows, &schemes),
        thresholds::source(rows),
        gas::source(rows),
    ];
    let figures: Vec<Value> = sources
        .iter()
        .flat_map(|source| &source.figures)
        .filter(|figure| figure.is_measured())
        .map(|f| f.data())
        .collect();
    let data = json!({ "summary": summary(rows), "figures": figures, "model": comparison::data(rows, &schemes)? });
    Ok(html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(script));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="description" content="BLS and other signatures, measured: the figures of five sources beside ours";
                // The picture of the page in BENCHMARKING.md carries it, so that a test sees whether it is of this page.
                meta name=(FINGERPRINT) content=(fingerprint(rows));
                title { "quorate: signatures, measured" }
                link rel="icon" href=(ICON);
                style { (PreEscaped(include_str!("style.css"))) }
            }
            body {
                a.skip href="#main" { "Skip to the figures" }
                header {
                    h1 { "Signatures, measured" }
                    (first_screen(rows))
                }
                (contents(&sources))
                main id="main" tabindex="-1" {
                    (comparison::html(rows, &schemes))
                    @for source in &sources { (source.html(rows)) }
                    (peers::html(rows)?)
                    (method(rows)?)
                }
                script type="application/json" id="data" { (embedded(&data)) }
                script { (PreEscaped(script)) }
            }
        }
    })
}

/// JSON in an element of script: no text in it can end the element.
fn embedded(data: &Value) -> PreEscaped<String> {
    PreEscaped(data.to_string().replace('<', "\\u003c"))
}

/// Nothing may be loaded, and no script but this one may run. Plots are styled by attributes.
fn policy(script: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(script));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
}

/// A square with the letter q, so that no browser asks for an icon.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect \
                    width='16' height='16' rx='4' fill='%231c5fc0'/%3E%3Ccircle cx='7.5' cy='7.5' r='3.5' fill='none' \
                    stroke='white' stroke-width='2'/%3E%3Cpath d='M9 9l4 4' stroke='white' stroke-width='2'/%3E%3C/svg%3E";

/// What was found: three sentences and one picture.
fn first_screen(rows: &Rows) -> Markup {
    let block = blocks::fastest(rows, 0);
    let known = blocks::fastest(rows, 90);
    let blst = rows.total("block", "block/known=0", "blst", 1000, 1).map(|us| us.median);
    let shares = thresholds::fastest(rows, 2048);
    let said = |us: Option<f64>| html! { strong { @match us { Some(us) => (time(us)), None => "not measured" } } };
    html! {
        p.lead {
            "A block of 1,000 BLS signatures takes " (said(block)) " on one core, where blst takes " (said(blst)) " and the first source "
            "measured 226 ms in 2018; with nine in ten already known it takes " (said(known)) ". "
            "A signature of 2,048 shares is put together in " (said(shares)) ", where the fourth source took 100 ms. "
            "Over a network the number of rounds decides: BLS needs one, Schnorr multi-signatures two."
        }
        figure.first aria-labelledby="first-title" {
            figcaption id="first-title" { "How many times faster, or cheaper, quorate is than each source, and than blst" }
            div.plot data-plot="summary" {}
            (summary_table(rows))
            p.small {
                "The source of 100 messages ran JavaScript in a browser, on a machine that it does not name. blst has no coefficients: from "
                "2,048 shares, its time is that of its multi-scalar multiplication (MSM), and quorate’s that of the whole signature."
            }
        }
        ul.key aria-label="Colours on this page" {
            @for (family, what) in [
                ("quorate", "quorate"), ("blst", "blst"), ("peer", "other libraries"), ("published", "as a source published it"),
            ] { li { span.swatch.(family) {} (what) } }
        }
    }
}

/// The headline of each source: what it is, and how many times faster than the source and than blst.
fn headlines(rows: &Rows) -> [(&'static str, Option<f64>, Option<f64>); 5] {
    let blst = |file, bench, n| rows.total(file, bench, "blst", n, 1).map(|us| us.median);
    let ours = |file, bench, n| {
        let of = |engine| Some(rows.total(file, bench, engine, n, 1)?.median);
        of("quorate/ifma").or_else(|| of("quorate/portable"))
    };
    let against = |theirs: Option<f64>, ours: Option<f64>| Some(theirs? / ours?);
    let block = ours("block", "block/known=0", 1000);
    let known = ours("block", "block/known=90", 1000);
    let messages = ours("aggregate", "aggregate/messages", 100);
    let recover = ours("threshold", "recover/random", 2048);
    let gas = |engine| Some(rows.row("gas", "gas/flip", engine, 100, 1)?.figures.middle());
    [
        (
            "a block of 1,000, none known",
            against(Some(226e3), block),
            against(blst("block", "block/known=0", 1000), block),
        ),
        (
            "the same, 90 % known; blst: all",
            against(Some(25e3), known),
            against(blst("block", "block/known=0", 1000), known),
        ),
        (
            "100 messages; source: browser",
            against(Some(3606e3), messages),
            against(blst("aggregate", "aggregate/messages", 100), messages),
        ),
        (
            "2,048 shares; blst: its MSM",
            against(Some(100e3), recover),
            against(blst("threshold", "recover/msm-only", 2048), recover),
        ),
        ("gas, 100 operators, its contract", against(gas("source/difference"), gas("quorate/bn254-g2")), None),
    ]
}

/// The picture of the first screen.
fn summary(rows: &Rows) -> Value {
    let lines =
        headlines(rows).into_iter().map(|(what, source, blst)| json!({ "what": what, "source": source, "blst": blst }));
    json!({ "id": "summary", "lines": lines.collect::<Vec<_>>() })
}

fn summary_table(rows: &Rows) -> Markup {
    let said = |times: Option<f64>| times.map_or("–".to_owned(), words::factor);
    html! {
        details {
            summary { "The numbers" }
            div.scroll tabindex="0" role="region" aria-label="Table: how many times faster quorate is" {
                table {
                    thead { tr { th scope="col" { "quorate, on" } th.published scope="col" { "than the source" } th.blst scope="col" { "than blst" } } }
                    tbody { @for (what, source, blst) in headlines(rows) { tr {
                        th scope="row" { (what) }
                        td { (said(source)) }
                        td { (said(blst)) }
                    } } }
                }
            }
        }
    }
}

fn contents(sources: &[Source]) -> Markup {
    html! {
        nav aria-label="Contents" {
            ol {
                li { a href="#compare" { "Which scheme for a network" } }
                @for source in sources { li {
                    a href={ "#" (source.anchor()) } { (source.title) }
                    ul { @for figure in &source.figures { li { a href={ "#" (figure.id) } { (figure.title) } } } }
                } }
                li { a href="#peers" { "Other libraries, task by task" } }
                li { a href="#method" { "How it was measured, and the raw rows" } }
            }
        }
    }
}

/// How rows come about, and all of them to download.
fn method(rows: &Rows) -> Result<Markup> {
    let file = |file: &File| {
        let record = file.record.as_ref();
        let record = record.map(|record| json!({ "folder": record.name(), "machine": record.machine }));
        json!({ "file": file.name, "record": record, "rows": file.rows })
    };
    let files: Vec<_> = FILES.iter().filter_map(|name| rows.file(name)).collect();
    let all = serde_json::to_string(&files.iter().map(|each| file(each)).collect::<Vec<_>>())?;
    let count: usize = files.iter().map(|file| file.rows.len()).sum();
    Ok(html! {
        section id="method" aria-labelledby="method-title" {
            h2 id="method-title" { "How it was measured" }
            p {
                "Engines of one benchmark run in turn in one process, and each answer is asserted. A figure is the median, with the least and "
                "the greatest time below it. One thread, unless a line says otherwise. Compare figures of one section: another section can "
                "be of another machine. A figure “as published” was measured by its author, on the machine that is named there. A ratio is "
                "how many times faster, or cheaper, the first is than the second; below 1 it is slower."
            }
            (records(files.into_iter()))
            p {
                a download="quorate-rows.json" href={ "data:application/json;base64," (STANDARD.encode(all)) } {
                    "Download all " (crate::row::whole(count as f64)) " rows as JSON"
                }
                ". To measure them anew: " code { "make bench" } ". To make this page: " code { "make report" } "."
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{
        figure::{Better, Down, Family, Figure, Line, Place, Shape},
        spread::exactly,
        words::Unit,
        *,
    };
    use crate::row::{Row, folder_of_records};

    fn repository() -> PathBuf {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    fn page(rows: &Rows) -> String {
        render(rows, "draw()").unwrap().into_string()
    }

    /// A repository with one record of some rows.
    fn with_rows(cpu: &str, file: &str, rows: &[Row]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        let record = folder_of_records(root.path()).join("a-record");
        fs::create_dir_all(&record).unwrap();
        let machine = json!({
            "date": "2026-11-22 12:00", "cpu": cpu, "features": ["avx2"], "compiler": "rustc", "flags": "", "commit": "abc",
        });
        fs::write(record.join("machine.json"), machine.to_string()).unwrap();
        fs::write(record.join(format!("{file}.json")), serde_json::to_string(rows).unwrap()).unwrap();
        root
    }

    fn row(bench: &str, engine: &str, n: usize, us: f64) -> Row {
        let times = json!({ "min": us, "median": us, "max": us });
        let row = json!({ "bench": bench, "engine": engine, "threads": 1, "n": n, "per": "block", "us": times });
        serde_json::from_value(row).unwrap()
    }

    #[test]
    fn every_source_has_its_section_its_figures_and_its_claims() {
        let text = page(&Rows::shown(&repository()).unwrap());
        for number in ["000", "001", "002", "003", "004"] {
            let section =
                text.split("<section ").find(|part| part.starts_with(&format!("id=\"source-{number}\""))).unwrap();
            assert!(section.contains("<figure class=\"data\"") && section.contains("class=\"claims\""), "{number}");
        }
        for published in
            ["482 ms", "226 ms", "111 ms", "25.0 ms", "60.0 ms", "1.44×", "5.00×", "2.70 min", "6445, 3606 and 586 ms"]
        {
            assert!(text.contains(published), "{published}");
        }
    }

    /// Lost tasks stand in the table as won ones, and say so.
    #[test]
    fn the_tasks_that_are_lost_are_on_the_page() {
        let rows = [
            row("peers/verify", "quorate/ifma", 1, 900.0),
            row("peers/verify", "mcl", 1, 800.0),
            row("peers/verify", "quorate/ifma", 16, 100.0),
            row("peers/verify", "mcl", 16, 250.0),
        ];
        let root = with_rows("a CPU", "peers", &rows);
        let text = page(&Rows::shown(root.path()).unwrap());
        let section = text.split("<section ").find(|part| part.starts_with("id=\"peers\"")).unwrap();
        for cell in ["LOST to mcl: 1.12× slower", "2.50× faster than mcl", "<th scope=\"col\" class=\"peer\">mcl</th>"]
        {
            assert!(section.contains(cell), "{cell} in {section}");
        }
        assert!(section.contains(" Not measured: arkworks; ") && section.contains("; herumi-bls.</p>"), "{section}");
        let lost = "<span class=\"verdict no-longer\">One pairing by itself: LOST to VROOM, 2.27× slower</span> (ePrint 2025/1068: ";
        assert!(section.contains(lost), "{section}");
        let empty = with_rows("a CPU", "field", &[]);
        let text = page(&Rows::shown(empty.path()).unwrap());
        let section = text.split("<section ").find(|part| part.starts_with("id=\"peers\"")).unwrap();
        assert!(section.contains("Not measured: no record has these rows."), "{section}");
    }

    /// blst computes no coefficients, so its ratio is that of its multiplication alone.
    #[test]
    fn a_signature_of_shares_is_compared_with_what_blst_does() {
        let rows = [
            row("recover/random", "blst", 2048, 340e3),
            row("recover/msm-only", "blst", 2048, 50e3),
            row("recover/random", "quorate/ifma", 2048, 10e3),
        ];
        let root = with_rows("a CPU", "threshold", &rows);
        let shown = Rows::shown(root.path()).unwrap();
        let [.., (what, source, blst), _] = headlines(&shown);
        assert_eq!((what, source, blst), ("2,048 shares; blst: its MSM", Some(10.0), Some(5.0)));
        let text = page(&shown);
        let figure = text.split("<figure ").find(|part| part.contains("id=\"recover\"")).unwrap();
        assert!(figure.contains("naive coefficients, blst’s MSM"), "{figure}");
    }

    /// A figure of another machine stands beside ours, and no ratio divides them.
    #[test]
    fn no_ratio_is_of_what_was_measured_by_hand_on_another_machine() {
        let rows = [row("bn254/verify", "arkworks", 1, 900.0), row("bn254/verify", "quorate/ifma", 1, 300.0)];
        let root = with_rows("a CPU", "bn254", &rows);
        let text = page(&Rows::shown(root.path()).unwrap());
        let figure = text.split("<figure ").find(|part| part.contains("id=\"operators\"")).unwrap();
        assert!(figure.contains("quorate IFMA against arkworks, one by one") && figure.contains("3.00×"), "{figure}");
        assert!(figure.contains("gnark-crypto, by hand") && !figure.contains("against gnark-crypto"), "{figure}");
    }

    /// What was not measured is said to be so, in every figure, and is never a zero.
    #[test]
    fn a_repository_without_a_row_gives_a_page_without_a_figure_of_ours() {
        let root = with_rows("a CPU", "field", &[]);
        let text = page(&Rows::shown(root.path()).unwrap());
        assert!(text.contains("not measured; run <code>quorate-bench gas --record</code>"), "{text}");
        assert!(text.contains("Not measured: no record has these rows."));
        assert!(text.contains("not measured: no row round/A/delegate"));
        assert!(!text.contains(">0 µs") && !text.contains(">0 ms") && !text.contains("NaN") && !text.contains("inf"));
    }

    #[test]
    fn a_record_with_some_rows_shows_the_others_as_not_measured() {
        let root = with_rows("a CPU", "block", &[row("block/known=0", "quorate/ifma", 1000, 75_900.0)]);
        let text = page(&Rows::shown(root.path()).unwrap());
        let block = text.split("<figure ").find(|part| part.contains("id=\"block\"")).unwrap();
        assert!(block.contains("75.9 ms") && block.contains("not measured"), "{block}");
        // 226 ms of the source by 75.9.
        assert!(block.contains("2.98×"), "{block}");
    }

    #[test]
    fn a_rate_at_which_most_claims_were_refused_has_no_latency_on_the_page() {
        let of = |rate: u32, refused: f64| Row {
            latency_ms: Some(serde_json::from_value(json!({ "p50": 25.3, "p99": 45.6 })).unwrap()),
            refused: Some(refused),
            threads: 2,
            ..row(&format!("service/rate={rate}"), "quorate/embedded", 1, 117.0)
        };
        let root = with_rows("a CPU", "service", &[of(1000, 0.0), of(100_000, 0.8)]);
        let text = page(&Rows::shown(root.path()).unwrap());
        let figure = text.split("<figure ").find(|part| part.contains("id=\"collectors\"")).unwrap();
        assert_eq!(
            (figure.matches("45.6 ms").count(), figure.matches("1 % or more refused").count()),
            (1, 1),
            "{figure}"
        );
    }

    #[test]
    fn text_of_a_record_is_escaped_in_the_page_and_in_its_data() {
        let mischief = "<script>alert(1)</script>";
        let rows = [
            row("block/known=0", "quorate/ifma", 1000, 1.0),
            Row { note: mischief.into(), ..row(mischief, mischief, 1, 1.0) },
        ];
        let root = with_rows(mischief, "block", &rows);
        let text = page(&Rows::shown(root.path()).unwrap());
        assert!(text.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{text}");
        assert_eq!(text.matches("<script").count(), 2, "the data and the script");
        assert_eq!(text.matches("</script").count(), 2);
        assert_eq!(embedded(&json!("</script><!--")).0, "\"\\u003c/script>\\u003c!--\"");
        let error = render(&Rows::shown(root.path()).unwrap(), "'</SCRIPT>'").unwrap_err().to_string();
        assert!(error.contains("would end it"), "{error}");
    }

    /// The picture in BENCHMARKING.md is of the page as it is: both carry the hash of what the first screen shows.
    #[test]
    fn the_picture_of_the_page_is_of_this_page() {
        let rows = Rows::shown(&repository()).unwrap();
        let name = format!("{FINGERPRINT}\0{}", fingerprint(&rows));
        let picture = fs::read(repository().join("docs/report.png")).unwrap();
        let has = |text: &str| picture.windows(text.len()).any(|bytes| bytes == text.as_bytes());
        assert!(has(&name), "docs/report.png is of another page: run `make report` where npm is");
        assert!(page(&rows).contains(&fingerprint(&rows)));
    }

    /// Each word stands beside the figure that it is computed from, and turns with it.
    #[test]
    fn a_claim_holds_only_if_its_figure_agrees() {
        let single = |blst: f64| row("single/verify", "blst", 1, blst);
        let block = |percent: usize, engine: &str, us: f64| row(&format!("block/known={percent}"), engine, 1000, us);
        let verdict = |rows: Vec<Row>, files: &[&str], says: &str| {
            let root = tempfile::tempdir().unwrap();
            let folder = folder_of_records(root.path()).join("a-record");
            fs::create_dir_all(&folder).unwrap();
            let machine = json!({
                "date": "2026-11-22 12:00", "cpu": "a", "features": [], "compiler": "", "flags": "", "commit": "",
                "methods": crate::methods::today(),
            });
            fs::write(folder.join("machine.json"), machine.to_string()).unwrap();
            for file in files {
                let of: Vec<_> = rows.iter().filter(|row| row.bench.starts_with(file)).collect();
                fs::write(folder.join(format!("{file}.json")), serde_json::to_string(&of).unwrap()).unwrap();
            }
            let rows = Rows::shown(root.path()).unwrap();
            let sources = [blocks::source(&rows), aggregates::source(&rows)];
            let claim = sources.iter().flat_map(|source| &source.claims).find(|claim| claim.says.contains(says));
            let claim = claim.unwrap_or_else(|| panic!("no claim {says}"));
            (claim.verdict, claim.now.clone())
        };
        let files = ["single", "block", "aggregate"];
        for (says, good, bad) in [
            (
                "about a magnitude slower",
                vec![single(480.0), block(0, "secp256k1", 60e3)],
                vec![single(1_100.0), block(0, "secp256k1", 33e3)],
            ),
            (
                "around five times faster",
                vec![block(90, "quorate/ifma", 15e3), block(90, "secp256k1", 3e3)],
                vec![block(90, "quorate/ifma", 36e3), block(90, "secp256k1", 3e3)],
            ),
            ("87 minutes a day", vec![block(0, "quorate/ifma", 226e3)], vec![block(0, "quorate/ifma", 72e3)]),
            (
                "more than half of the time",
                vec![single(1_000.0), block(0, "blst", 400e3)],
                vec![single(1_000.0), block(0, "blst", 600e3)],
            ),
            (
                "about twice as fast when aggregated",
                vec![
                    row("aggregate/single", "quorate/ifma", 100, 90e3),
                    row("aggregate/messages", "quorate/ifma", 100, 50e3),
                ],
                vec![
                    row("aggregate/single", "quorate/ifma", 100, 90e3),
                    row("aggregate/messages", "quorate/ifma", 100, 85e3),
                ],
            ),
        ] {
            let (holds, now) = verdict(good, &files, says);
            assert_eq!(holds, source::Verdict::Holds, "{says} {now}");
            let (no_longer, now) = verdict(bad, &files, says);
            assert_eq!(no_longer, source::Verdict::NoLonger, "{says} {now}");
            let (missing, now) = verdict(vec![], &files, says);
            assert_eq!(missing, source::Verdict::NotMeasured, "{says} {now}");
        }
    }

    /// Also if a CPU without them was measured later.
    #[test]
    fn the_fastest_lanes_are_shown() {
        let root = with_rows("with them", "block", &[row("block/known=0", "quorate/ifma", 1000, 75_900.0)]);
        let later = with_rows("without them", "block", &[row("block/known=0", "quorate/fma-avx2", 1000, 150_000.0)]);
        let folder = |root: &tempfile::TempDir| folder_of_records(root.path()).join("a-record");
        fs::rename(folder(&later), folder(&root).with_file_name("later")).unwrap();
        let rows = Rows::shown(root.path()).unwrap();
        assert_eq!(rows.record("block").unwrap().machine.cpu, "with them");
    }

    #[test]
    fn a_busy_machine_is_said_beside_the_figure() {
        let of = |max: f64| {
            let us = json!({ "min": 10e3, "median": 12e3, "max": max });
            let row = json!({ "bench": "block/known=0", "engine": "quorate/ifma", "threads": 1, "n": 1000, "per": "block", "us": us });
            let root = with_rows("a CPU", "block", &[serde_json::from_value(row).unwrap()]);
            page(&Rows::shown(root.path()).unwrap())
        };
        assert!(!of(30e3).contains(crate::row::BUSY));
        assert!(of(31e3).contains(&format!("<small class=\"busy\">{}</small>", crate::row::BUSY)));
    }

    /// Above 1 ours is better, whether less or more is better.
    #[test]
    fn a_ratio_says_how_many_times_better_ours_is() {
        let figure = |better| {
            Figure {
                id: "id",
                title: "title",
                text: html! {},
                unit: Unit::Time,
                better,
                shape: Shape::Dots,
                down: Down::Places,
                across: "place",
                places: Place::named(&["here"]),
                lines: vec![
                    Line::new("theirs", Family::Blst, [Some(exactly(8.0))]),
                    Line::new("not measured", Family::Quorate, [None::<crate::row::Times>]),
                    Line::new("ours", Family::Quorate, [Some(exactly(2.0))]),
                ],
                ratios: vec![],
            }
            .against(&["theirs", "not measured"], &["not measured", "ours"])
        };
        let (less, more) = (figure(Better::Less), figure(Better::More));
        assert_eq!(less.ratios.len(), 1);
        assert_eq!(less.ratios[0].head, "ours against theirs");
        assert_eq!(less.ratio(&less.ratios[0], 0), Some(4.0));
        assert_eq!(more.ratio(&more.ratios[0], 0), Some(0.25));
        assert!(less.html().into_string().contains("4.00×"));
    }

    /// The browser runs this script and no other, and asks no host for anything.
    #[test]
    fn the_policy_forbids_every_request() {
        let text = page(&Rows::shown(&repository()).unwrap());
        assert!(text.contains("default-src &#39;none&#39;") || text.contains("default-src 'none'"), "{text}");
        // SHA-256 of `draw()`.
        assert!(policy("draw()").contains(&format!("'sha256-{}'", STANDARD.encode(Sha256::digest("draw()")))));
        for attribute in ["src=\"http", "href=\"http", "url(http", "@import"] {
            assert!(!text.contains(attribute), "{attribute}");
        }
    }

    #[test]
    fn the_page_is_written_into_a_folder_or_says_what_is_missing() {
        let root = with_rows("a CPU", "block", &[]);
        let out = root.path().join("new/out");
        let error = format!("{:#}", write(root.path(), &out).unwrap_err());
        assert!(error.contains(SCRIPT) && error.contains("make page-script"), "{error}");
        let script = root.path().join(SCRIPT);
        fs::create_dir_all(script.parent().unwrap()).unwrap();
        fs::write(&script, "draw()").unwrap();
        let path = write(root.path(), &out).unwrap();
        assert!(fs::read_to_string(path).unwrap().ends_with("<script>draw()</script></body></html>"));
    }
}
