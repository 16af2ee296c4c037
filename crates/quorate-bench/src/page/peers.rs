//! Other libraries: the tasks of `make peers`, with those that quorate loses.

use anyhow::Result;
use maud::{Markup, html};

use super::{figure::Family, source::records, words::time};
use crate::{
    peers::{self, Ranking},
    record::Record,
    row::{BUSY, Clock, Row, whole},
    shown::Rows,
};

pub(crate) fn html(rows: &Rows) -> Result<Markup> {
    let by_cpu: Vec<_> = rows.of("peers").iter().map(|row| row.by(Clock::Cpu)).collect();
    let rankings = Ranking::each(&by_cpu);
    let names = Ranking::names(&rankings);
    let left_out = rows.record("peers").map(Record::left_out).transpose()?.unwrap_or_default();
    let cannot = rows.record("peers").map(Record::cannot).transpose()?.unwrap_or_default();
    Ok(html! {
        section id="peers" aria-labelledby="peers-title" {
            h2 id="peers-title" { "Other libraries, task by task" }
            p {
                "Every library gets the same input and gives the same answer, in turn, on one thread. Times are CPU time of a whole task. "
                "“quorate” is the backend that the machine takes by itself; its others have columns of their own. The last column says "
                "where another library is faster."
            }
            @if rankings.is_empty() {
                p.missing { "Not measured: no record has these rows." }
            } @else {
                (records(rows.file("peers").into_iter()))
                div.scroll tabindex="0" role="region" aria-label="Table: tasks by library" {
                    table {
                        thead { tr {
                            th scope="col" { "task" }
                            th scope="col" { "n" }
                            th.quorate scope="col" { "quorate" }
                            @for name in &names { th scope="col" class=(Family::of(name).name()) { (name) } }
                            th scope="col" { "quorate" }
                        } }
                        tbody { @for ranking in &rankings { tr {
                            th scope="row" { (ranking.ours.bench.trim_start_matches("peers/")) }
                            td { (whole(ranking.ours.n as f64)) }
                            (cell(Some(ranking.ours)))
                            @for name in &names { (cell(ranking.row(name))) }
                            td { @if ranking.winner().is_some() { span.verdict.no-longer { (ranking.said()) } } @else { (ranking.said()) } }
                        } } }
                    }
                }
                p { (peers::weights(rows.of("peers"))) " " (peers::not_measured(rows.of("peers"), &left_out)) }
                @if !cannot.is_empty() { p { (peers::empty_cells(&cannot)) } }
            }
            p { span.verdict.no-longer { (peers::LOST_PAIRING[0]) } " " (peers::LOST_PAIRING[1]) }
        }
    })
}

fn cell(row: Option<&Row>) -> Markup {
    html! { @match row {
        Some(row) => td { (time(row.total())) @if row.is_busy() { small.busy { (BUSY) } } },
        None => td.missing { "–" },
    } }
}
