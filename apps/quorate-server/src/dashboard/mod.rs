//! The page at `/`: what the server does now, for a person.

mod words;
mod chart;

use std::sync::Arc;

use axum::{Extension, Router, extract::State, routing::get};
use maud::{Markup, html};

use quorate_batcher::{Load, shown_name};
use quorate_host::{
    page::{
        self, Page, Resource,
        table::section,
        words::{count, duration, ends, thousands},
    },
    plain,
};

use self::{
    chart::{claims, known, lines},
    words::{milliseconds, short},
};
use crate::{
    api::{Evidence, Source, Status},
    app::App,
    board::Summary,
    claims::Caller,
    metrics::{Second, planned},
};

/// The page, its style and its script.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(shown))
        .route(page::STYLE_PATH, get(async || page::style(STYLE)))
        .route(page::SCRIPT_PATH, get(async || page::script()))
}

async fn shown(State(app): State<Arc<App>>, Extension(caller): Extension<Caller>) -> Resource<String> {
    page(&Status::of(&app, &caller)).resource()
}

/// What the server's page has beside the style of every page.
const STYLE: &str = include_str!("style.css");

/// The letter q.
const MARK: &str = "<circle cx='7.5' cy='7.5' r='3.5' fill='none' stroke='white' stroke-width='2'/>\
                    <path d='M9 9l4 4' stroke='white' stroke-width='2'/>";

fn page(status: &Status) -> Page<'_> {
    let banned: Vec<&Source> = status.sources.iter().filter(|source| source.is_banned()).collect();
    Page {
        program: "quorate-server",
        mark: MARK,
        ready: status.ready,
        state: status.not_ready.unwrap_or("ready"),
        facts: vec![
            ("up", html! { (duration(status.uptime_s)) }),
            ("backend", html! { (status.backend) }),
            ("threads", html! { (status.threads) }),
            ("version", html! { (status.version) }),
        ],
        news: news(&banned),
        banner: html! {},
        figures: figures(status),
        sections: html! { (sources(status)) (minute(&status.seconds)) },
        links: html! {
            @if status.with_metrics { a href="/metrics" { "Metrics" } " for Prometheus, " }
            a href="/openapi.json" { "OpenAPI" } ", "
            a href="/v1/sources" { "sources" } " as JSON."
        },
    }
}

/// What a screen reader says when it changes.
fn news(banned: &[&Source]) -> String {
    match banned {
        [] => "No source is banned.".to_owned(),
        [one] => format!("1 source is banned: {}.", shown_name(&one.source)),
        [first, ..] => format!("{} sources are banned. The first is {}.", banned.len(), shown_name(&first.source)),
    }
}

fn figures(status: &Status) -> Markup {
    let seconds = &status.seconds;
    let over = &seconds[..seconds.len().saturating_sub(1)];
    let last = &over[over.len().saturating_sub(RATE_SECONDS)..];
    let a_second = |of: fn(&Second) -> u64| last.iter().map(of).sum::<u64>() as f64 / last.len().max(1) as f64;
    let rate = a_second(Second::verdicts);
    let invalid: u64 = over.iter().map(|second| second.invalid).sum();
    let refused: u64 = over.iter().map(|second| second.refused).sum();
    let batches = a_second(|second| second.batches);
    let hits = a_second(|second| second.known);
    let latest = over.iter().rev().find(|second| second.verdicts() > 0).copied().unwrap_or_default();
    html! {
        article.tile {
            h3 { "Claims a second" }
            p.big { (short(rate)) }
            p.more {
                @if batches > 0.0 { "in batches of " (short(rate / batches)) " · " }
                span.bad { (thousands(invalid)) " false" } " and "
                span.wait { (thousands(refused)) " refused" } " in the last minute"
            }
            (claims(over))
        }
        article.tile {
            h3 { "Latency" }
            p.big { (milliseconds(latest.p50_ms)) span.beside { " p50" } }
            p.more { span.wait { (milliseconds(latest.p99_ms)) " p99" } " · from submission to verdict" }
            (lines(over))
        }
        (queue(&status.queue))
        article.tile {
            h3 { "Known statements" }
            p.big { (thousands(status.known as u64)) }
            p.more { (short(hits)) " a second are subtracted, so they cost no pairing" }
            (known(over))
        }
        @if let Some(summary) = &status.checkpoints { (checkpoint(summary, status.now)) }
    }
}

/// Rates are over this many seconds.
const RATE_SECONDS: usize = 5;

fn queue(load: &Load) -> Markup {
    let percent = |us: u64| (us as f64 / load.capacity_us.max(1) as f64 * 100.0).min(100.0);
    let classes = planned(load);
    // The work that stands to the left of a class in the meter.
    let left = |class: usize| classes[..class].iter().map(|(_, us)| us).sum::<u64>();
    let full = format!("{:.0}", percent(load.waiting_us()));
    html! {
        article.tile {
            h3 { "Queue" }
            p.big { (full) span.beside { " % full" } }
            svg.meter viewBox="0 0 100 6" preserveAspectRatio="none" role="img"
                aria-label={ (full) " % of the queue is full" } {
                rect.track x="0" y="0" width="100" height="6" {}
                @for (index, (class, us)) in classes.into_iter().enumerate() {
                    rect class=(class) x=(format!("{:.2}", percent(left(index)))) y="0"
                        width=(format!("{:.2}", percent(us))) height="6" {}
                }
            }
            dl.classes {
                @for (class, us) in classes {
                    div { dt class=(class) { (class) } dd { (milliseconds(us as f64 / 1000.0)) } }
                }
            }
            p.more { (count(load.claims as u64, "claim")) " waiting; planned work of one core" }
        }
    }
}

/// The board of checkpoints.
fn checkpoint(summary: &Summary, now: u64) -> Markup {
    let Summary { best, needed, signers, documents, evidence, .. } = summary;
    html! {
        article.tile.checkpoint {
            h3 { "Checkpoint" }
            @if let Some(best) = best {
                p.big { (thousands(best.height)) span.beside { " height" } }
                p.more {
                    (best.signatures) " of " (count(*signers as u64, "signer")) ", " (needed) " needed · issued "
                    (duration(now.saturating_sub(best.issued_at))) " ago · "
                    @if now < best.expires_at {
                        "expires in " (duration(best.expires_at - now))
                    } @else {
                        span.wait { "expired" }
                    }
                    @if *documents > 1 { " · " (count(*documents as u64 - 1, "other")) }
                }
            } @else {
                p.big { "none" }
                p.more { (needed) " of " (count(*signers as u64, "signer")) " must sign" }
            }
            p.more {
                @if *evidence {
                    span.bad { "Evidence: signers signed two things that exclude each other. Nodes that see it stop skipping." }
                } @else {
                    "No evidence against signers"
                }
            }
        }
    }
}

fn sources(status: &Status) -> Markup {
    let none = "None. A source that sends a false claim appears here, with the claim as evidence.";
    let rows: Vec<_> = status.sources.iter().map(row).collect();
    let heads = ["Source", "State", "#Score", "#False", "Evidence"];
    html! {
        (section("sources", "Sources that sent false claims", none, &heads, &rows))
        @if status.sources_in_all > status.sources.len() {
            p.more { "The worst " (status.sources.len()) " of " (thousands(status.sources_in_all as u64)) "." }
        }
    }
}

fn row(source: &Source) -> Markup {
    html! {
        tr role="row" data-key=(plain(&source.source.to_string())) {
            th role="rowheader" scope="row" { bdi { (shown_name(&source.source)) } }
            td.standing role="cell" {
                span class={ "badge " (source.standing) } { (source.standing) }
                @if source.is_banned() { " for " (duration(source.banned_for_s)) }
            }
            td.number role="cell" data-name="score" { (format!("{:.1}", source.score)) }
            td.number role="cell" data-name="false" { (thousands(source.false_claims)) }
            td.evidence role="cell" {
                @if source.evidence.is_empty() {
                    "–"
                } @else {
                    details {
                        summary { (count(source.evidence.len() as u64, "claim")) }
                        ol { @for claim in &source.evidence { li { (evidence(claim)) } } }
                    }
                }
            }
        }
    }
}

fn evidence(evidence: &Evidence) -> Markup {
    html! {
        p { (plain(&evidence.reason)) ", " (duration(evidence.ago_s)) " ago" }
        @if let Some(claim) = &evidence.claim {
        dl {
            div { dt { "digest" } dd { code { (claim.digest) } } }
            div { dt { "suite" } dd { (plain(&claim.suite)) } }
            div {
                dt { @if claim.keys == 1 { "key" } @else { "first of " (claim.keys) " keys" } }
                dd { code { (ends(&claim.public_key, 12, 12)) } }
            }
            div { dt { "signature" } dd { code { (ends(&claim.signature, 12, 12)) } } }
        }
        }
    }
}

/// The last minute as a table, for those who do not see the charts.
fn minute(seconds: &[Second]) -> Markup {
    html! {
        details.minute {
            summary { "The last minute as a table" }
            div.scroll role="region" aria-label="The last minute" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "Seconds ago" }
                        @for name in ["Valid", "False", "Refused", "Batches", "Subtracted", "p50 ms", "p99 ms"] {
                            th.number scope="col" { (name) }
                        }
                    } }
                    tbody {
                        @for (ago, second) in seconds.iter().rev().enumerate().skip(1) {
                            tr {
                                th scope="row" { (ago) }
                                @for count in [second.valid, second.invalid, second.refused, second.batches, second.known] {
                                    td.number { (thousands(count)) }
                                }
                                @for ms in [second.p50_ms, second.p99_ms] { td.number { (format!("{ms:.1}")) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use quorate::SourceId;

    use super::*;
    use crate::{api::FalseClaim, board::Best};

    fn status(sources: Vec<Source>) -> Status {
        Status {
            version: "1",
            uptime_s: 5,
            ready: true,
            not_ready: None,
            backend: "portable",
            threads: 1,
            with_metrics: true,
            queue: Load::default(),
            known: 1_234_567,
            checkpoints: None,
            now: 1_000_000,
            seconds: vec![Second { valid: 9, p99_ms: 3.0, ..Second::default() }; 61],
            sources_in_all: sources.len(),
            sources,
        }
    }

    fn source(name: &str) -> Source {
        let claim = FalseClaim {
            digest: "00".to_owned(),
            suite: "eth2".to_owned(),
            public_key: "\"><img src=x>".repeat(100),
            keys: 2,
            signature: "0x".to_owned(),
        };
        Source {
            source: SourceId::from(name),
            score: 6.0,
            standing: "banned",
            banned_for_s: 600,
            bans: 1,
            false_claims: 6,
            evidence: vec![Evidence { ago_s: 10, reason: "<b>reason</b>".to_owned(), claim: Some(claim) }],
        }
    }

    fn render(status: &Status) -> String {
        page(status).html()
    }

    #[test]
    fn text_of_sources_is_escaped() {
        let names = ["<script>alert(1)</script>", "\" onmouseover=\"alert(1)", "\u{202e}evil", "</td>", "'"];
        let page = render(&status(names.map(source).to_vec()));
        for tag in ["<script>alert", "<img", "<b>reason", "\" onmouseover", "</td></td>", "\u{202e}"] {
            assert!(!page.contains(tag), "{tag}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(page.len() < 60_000, "{} bytes", page.len());
    }

    #[test]
    fn direction_marks_and_escapes_do_not_reach_the_page() {
        let name = "gnp.\u{202e}\u{1b}[2J\u{200b}\u{7}";
        // Alone it stands in the news as well.
        for sources in [vec![source(name)], vec![source(name), source("mallory")]] {
            let page = render(&status(sources));
            assert!(!page.chars().any(|letter| letter.is_control() && letter != '\n'));
            assert!(!page.contains(['\u{202e}', '\u{200b}']));
            assert!(page.matches(r"gnp.\u{202e}\u{1b}[2J\u{200b}\u{7}").count() >= 3, "{page}");
        }
    }

    #[test]
    fn the_page_says_what_a_screen_reader_needs() {
        let page = render(&status(vec![source("mallory")]));
        for part in [
            "lang=\"en\"",
            "1 source is banned: mallory.",
            "role=\"img\" aria-label=\"0 % of the queue is full\"",
            "1,234,567",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(render(&status(vec![])).contains("No source is banned."));
    }

    #[test]
    fn a_board_of_checkpoints_has_a_panel() {
        let show = |summary: Option<Summary>| {
            let text = render(&Status { checkpoints: summary, ..status(vec![]) });
            let panel = text.split_once("<article class=\"tile checkpoint\">").map(|(_, panel)| panel.to_owned());
            panel.map(|panel| panel.split_once("</article>").unwrap().0.to_owned())
        };
        assert_eq!(show(None), None);
        let empty = show(Some(Summary { needed: 3, signers: 5, ..Summary::default() })).unwrap();
        assert!(empty.contains("none") && empty.contains("3 of 5 signers must sign"), "{empty}");
        let best = Best { height: 800_000, signatures: 4, issued_at: 1_000_000 - 600, expires_at: 1_000_000 + 86_400 };
        let summary =
            Summary { best: Some(best), needed: 3, signers: 5, documents: 2, signatures: 5, ..Summary::default() };
        let panel = show(Some(summary.clone())).unwrap();
        for part in
            ["800,000", "4 of 5 signers, 3 needed", "issued 10 min ago", "expires in 24 h", "1 other<", "No evidence"]
        {
            assert!(panel.contains(part), "{part}: {panel}");
        }
        let mut late = Summary { evidence: true, ..summary };
        late.best.as_mut().unwrap().expires_at = 1_000_000;
        let panel = show(Some(late)).unwrap();
        assert!(panel.contains("expired") && panel.contains("Evidence: signers signed two things"), "{panel}");
    }

    #[test]
    fn the_page_asks_nothing_of_strangers() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        let page = render(&status(vec![]));
        assert!(!page.contains("style=") && !page.contains(" onclick"), "the policy forbids both");
        assert!(!page.replace("http://www.w3.org/2000/svg", "").contains("http"));
    }
}
