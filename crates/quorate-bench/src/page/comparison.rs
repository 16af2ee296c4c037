//! The model of `quorate-bench compare` on the page: two settings as tables, and the form whose script evaluates any other.

use maud::{Markup, html};
use serde_json::{Value, json};

use super::words::{factor, time};
use crate::{
    compare::{
        Claim, RECORD,
        model::{MOST, SCHEMES, Scheme, Setting, Signers},
        ranking::Ranking,
    },
    row::{BUSY, Row, whole},
    shown::Rows,
};

/// The setting that the page begins with: the source's delegates.
pub(super) const FIRST: Setting = Setting { delegates: 32, quorum: 22, bad: 0, rtt_us: 200e3, bandwidth: 100e6 };

pub(crate) fn html(rows: &Rows, schemes: &[Scheme]) -> Markup {
    let measured = rows.of(RECORD);
    html! {
        section id="compare" aria-labelledby="compare-title" {
            h2 id="compare-title" { "Which scheme for a network" }
            p {
                "A primary asks delegates to sign, and makes one signature of their answers. The time of that is T = rounds · RTT · "
                "(1 + restarts) + bytes / bandwidth + time of a delegate + time of the primary. Rounds, restarts and bytes are the "
                "protocol’s; the times that they compute were measured. " code { "quorate-bench compare" } " prints the same and says what would "
                "change the order."
            }
            (super::source::records(rows.file(RECORD).into_iter()))
            form id="setting" hidden {
                (field("delegates", "Delegates", "", 2.0, 200.0, 1.0, 32.0))
                (field("quorum", "Must sign", "", 1.0, 200.0, 1.0, 22.0))
                (field("bad", "Send false shares", "", 0.0, 66.0, 1.0, 0.0))
                (field("rtt", "RTT", "ms", 1.0, 1000.0, 1.0, 200.0))
                (field("bandwidth", "Bandwidth", "Mbit/s", 1.0, 10_000.0, 1.0, 100.0))
            }
            p id="wrong" role="alert" hidden {}
            p id="ranking-news" aria-live="polite" {}
            div.plot id="ranking-plot" {}
            div id="ranking" { (ranking(measured, schemes, &FIRST, "The source’s setting: 32 delegates, 22 must sign, RTT 200 ms, 100 Mbit/s")) }
            noscript {
                (ranking(measured, schemes, &Setting { bad: 10, ..FIRST }, "The same with 10 delegates who send false shares"))
            }
            @if let Some(claim) = Claim::new(schemes, measured, &FIRST) {
                p {
                    "The source says that Schnorr takes 200 ms more at an RTT of 200 ms. By these rows MuSig2 takes " strong { (time(claim.more_us)) }
                    " more than BLS, so it " (if claim.holds { "holds" } else { "no longer holds" }) ": " (time(claim.network_us)) " of a further round, " (time(claim.cpu_us)) " of computing and "
                    (time(claim.bytes_us)) " of bytes."
                }
            }
            details {
                summary { "What each scheme does" }
                div.scroll tabindex="0" role="region" aria-label="Table: what each scheme does" {
                    table.claims {
                        thead { tr {
                            @for head in ["scheme", "what it is", "who must sign", "rounds", "bytes through the primary’s link"] {
                                th scope="col" { (head) }
                            }
                        } }
                        tbody { @for scheme in schemes { tr {
                            th scope="row" { (scheme.name) }
                            td { (scheme.what) }
                            td { @match scheme.signers { Signers::All => "all", Signers::Quorum => "a quorum" } }
                            td { (scheme.rounds) }
                            td { @for (i, (what, bytes)) in scheme.bytes(&FIRST).enumerate() {
                                @if i > 0 { "; " }
                                (whole(bytes)) " (" (what) ")"
                            } }
                        } } }
                    }
                }
                p {
                    "Bytes are those of the first setting: what each delegate sends, what the primary sends to each beyond the message itself, "
                    "and the result to each. FROST can need more than one restart, if the primary then asks a false delegate that it had not asked before. "
                    "The search for false shares was measured with 0, 1, 2, 3, 5 and 10 of 32; between these and beyond, a straight line is taken."
                }
            }
        }
    }
}

fn field(name: &str, label: &str, unit: &str, min: f64, max: f64, step: f64, value: f64) -> Markup {
    let id = format!("{name}-number");
    html! {
        div.field {
            label for=(id) { (label) @if !unit.is_empty() { ", " (unit) } }
            input id=(id) name=(name) type="number" min=(min) max=[(name != "rtt" && name != "bandwidth").then_some(MOST)]
                step=(if matches!(name, "rtt" | "bandwidth") { "any" } else { "1" }) value=(value) required inputmode="decimal";
            input type="range" aria-label={ (label) ", slider" } data-for=(id) min=(min) max=(max) step=(step) value=(value);
        }
    }
}

fn ranking(rows: &[Row], schemes: &[Scheme], setting: &Setting, caption: &str) -> Markup {
    let ranking = Ranking::new(schemes, rows, setting);
    let first = ranking.schemes.first().map(|ranked| ranked.estimate.us.median);
    html! {
        p.caption { (caption) }
        div.scroll tabindex="0" role="region" aria-label={ "Table: " (caption) } {
            table {
                thead { tr {
                    @for head in ["place", "scheme", "T", "network", "bytes", "delegate", "primary", "against the first"] {
                        th scope="col" { (head) }
                    }
                } }
                tbody {
                    @for ranked in &ranking.schemes {
                        @let e = &ranked.estimate;
                        tr {
                            td { (ranked.rank) @if ranking.ties(ranked.rank) { " =" } }
                            th scope="row" { (e.name) @if e.is_busy { small.busy { (BUSY) } } }
                            @for us in [e.us.median, e.network_us, e.bytes_us, e.delegate_us.median, e.primary_us.median] { td { (time(us)) } }
                            td { @if let Some(first) = first { (factor(e.us.median / first)) } }
                        }
                    }
                    @for missing in &ranking.missing { tr {
                        td { "–" }
                        th scope="row" { (missing.name) }
                        td.missing colspan="6" { "not measured: no row " (missing.row) }
                    } }
                }
            }
        }
        p.small { "A place is one more than the number of schemes that are surely faster. = equal within the spread: the least and greatest times of their rows overlap, so they have no order." }
    }
}

/// The records of the schemes, and the rows that they name.
pub(crate) fn data(rows: &Rows, schemes: &[Scheme]) -> anyhow::Result<Value> {
    let engines: Vec<_> = schemes.iter().map(|scheme| &scheme.engine).collect();
    let is_read = |row: &&Row| {
        let bench = row.bench.starts_with("multi/") || row.bench.starts_with("round/A/");
        bench && row.n == crate::compare::model::MEASURED && engines.contains(&&row.engine)
    };
    let rows: Vec<_> = rows.of(RECORD).iter().filter(is_read).collect();
    Ok(json!({ "schemes": serde_json::from_str::<Value>(SCHEMES)?, "rows": rows }))
}
