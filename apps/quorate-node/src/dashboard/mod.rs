//! The page at `/`: what the node does now, for a person.
//!
//! The page is rendered here and nowhere else. Its script asks for the page again each second and takes over what has
//! changed, so a page without a script shows the same, once. `maud` escapes every text.

mod words;
mod tables;
mod tasks;

use maud::{DOCTYPE, Markup, html};

use self::words::{count, duration, short, span, thousands};
use crate::{
    board::{Component, PunishmentView, View},
    tokens::amount,
};

/// The page may use its own style and script, and nothing else.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; \
                                 img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
pub(crate) const STYLE: &str = include_str!("style.css");
pub(crate) const SCRIPT: &str = include_str!("script.js");

/// A bar that has passed its mark, so that no browser asks for an icon.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect \
                    width='16' height='16' rx='4' fill='%232563c9'/%3E%3Cpath d='M3 8h8' stroke='white' stroke-width='4'/%3E\
                    %3Cpath d='M10 3v10' stroke='%23ffd479' stroke-width='1.5'/%3E%3C/svg%3E";

/// The page of a board.
pub(crate) fn render(view: &View) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "quorate-node" }
                link rel="icon" href=(ICON);
                link rel="stylesheet" href="/dashboard.css";
                script src="/dashboard.js" defer {}
            }
            body {
                a.skip href="#content" { "Skip to the tasks" }
                header {
                    div.name {
                        h1 { "quorate-node" }
                        p.state id="state" data-ready=(view.ready) {
                            span.dot aria-hidden="true" {}
                            @if view.ready { "ready" } @else { "not ready" }
                        }
                    }
                    div.controls {
                        p id="connection" role="status" {}
                        button id="pause" type="button" aria-pressed="false" hidden { "Pause" }
                        // The script takes this away.
                        p id="still" { "Without JavaScript, load this page again to see what is new." }
                    }
                    (facts(view))
                }
                // The banner has numbers that change each second, which nobody wants to be read aloud.
                p.unseen id="news" aria-live="polite" {
                    @if view.ready { "The node is ready." } @else {
                        "The node cannot do its work, for " (count(view.reasons.len() as u64, "reason")) "."
                    }
                }
                div id="banner" { (banner(view)) (notices(view)) }
                main id="content" tabindex="-1" {
                    (figures(view))
                    (tasks::section(view))
                    (tables::submissions(view))
                    (tables::operators(view))
                    (tables::punishments(view))
                    (tables::peers(view))
                    (tables::bans(view))
                }
                footer {
                    p {
                        a href="/metrics" { "Metrics" } " for Prometheus; "
                        a href="/v1/status" { "status" } " and " a href="/v1/tasks" { "tasks" } " as JSON."
                    }
                }
            }
        }
    };
    page.into_string()
}

/// Who the node is.
fn facts(view: &View) -> Markup {
    html! {
        dl id="facts" {
            @if let Some(node) = &view.node {
                @if let Some(operator) = &node.operator {
                    div { dt { "operator" } dd { code title=(operator) { (short(operator)) } } }
                }
                div { dt { "roles" } dd {
                    @if node.roles.is_empty() { "none" } @else { (node.roles.join(", ")) }
                } }
                div { dt { "network" } dd { code title=(node.contract) { (short(&node.contract)) } " on chain " (node.chain_id) } }
                div { dt { "peer" } dd { code title=(node.peer_id) { (words::ends(&node.peer_id)) } } }
                div { dt { "version" } dd { (node.version) } }
                div { dt { "up" } dd { (duration(view.now_ms.saturating_sub(node.started_ms) / 1_000)) } }
            }
        }
    }
}

/// Why the node is not ready.
fn banner(view: &View) -> Markup {
    html! {
        @if !view.ready {
            div.banner {
                h2 { "The node cannot do its work" }
                ul { @for reason in &view.reasons { li { (reason) } } }
            }
        }
    }
}

/// What an operator must see without looking for it, though the node can do its work: that nobody is paid, and who was punished.
fn notices(view: &View) -> Markup {
    let own = view.node.as_ref().and_then(|node| node.operator);
    let decimals = view.rewards.map_or(18, |rewards| rewards.decimals);
    let is_own = |row: &PunishmentView| Some(row.operator) == own;
    // Those of this operator first; the table below has all.
    let mine = view.punishments.iter().filter(|row| is_own(row));
    let punished: Vec<_> = mine.chain(view.punishments.iter().filter(|row| !is_own(row))).take(NOTICES).collect();
    html! {
        @if let Some(pool) = view.problems.iter().find(|problem| problem.component == Component::Pool.name()) {
            div.notice data-key="pool" {
                h2 { "Nobody is paid" }
                p { (pool.problem) }
            }
        }
        @if let Some(first) = punished.first() {
            div.notice data-key="punished" {
                h2 { @if is_own(first) { "This operator was punished" } @else { "Punished" } }
                ul {
                    @for row in &punished {
                        li data-key={ "notice " (row.kind) (row.operator) (row.id) } {
                            @if is_own(row) { "This node's operator" } @else { code title=(row.operator) { (short(&row.operator)) } }
                            " lost " (amount(row.amount, decimals)) " tokens: "
                            @if row.kind == "slashed" { "it signed two things that conflict" } @else { "its result was rejected" }
                            " (task " code title=(row.id) { (words::ends(&row.id.to_string())) } ")."
                        }
                    }
                }
                @if view.punishments.len() > punished.len() {
                    p { a href="#punishments-title" { "All " (count(view.punishments.len() as u64, "punishment")) } }
                }
            }
        }
    }
}

/// Punishments above the tasks.
const NOTICES: usize = 3;

fn figures(view: &View) -> Markup {
    let counts = &view.counts;
    html! {
        section aria-labelledby="figures-title" {
            h2.unseen id="figures-title" { "Figures" }
            div.tiles {
                article.tile {
                    h3 { "Tasks" }
                    p.big { (thousands(counts.open)) span.beside { " open" } }
                    p.more {
                        (figure("good", counts.approved, "approved")) " · "
                        (figure("bad", counts.rejected, "rejected")) " · "
                        (figure("bad", counts.lapsed, "lapsed"))
                    }
                }
                article.tile {
                    h3 { "Time to quorum" }
                    @match counts.quorum_p50_ms {
                        Some(ms) => p.big { (span(ms)) span.beside { " p50" } },
                        None => p.big { "–" },
                    }
                    p.more {
                        @match counts.settled_p50_ms {
                            Some(ms) => { "after the result; settled after " (span(ms)) },
                            None => "no task is settled yet",
                        }
                    }
                }
                (chain(view))
                article.tile {
                    h3 { "Peers" }
                    p.big { (thousands(view.peers_in_all as u64)) span.beside {
                        @if view.bans_in_all > 0 { " · " (thousands(view.bans_in_all as u64)) " banned" }
                    } }
                    p.more {
                        span.whole { (count(counts.verified, "true message")) } " · "
                        (figure("bad", counts.r#false, "false")) " · "
                        (figure("whole", counts.ignored, "ignored"))
                    }
                }
                (rewards(view))
            }
        }
    }
}

/// A number that stays on one line with its word. Zero has no color.
fn figure(class: &str, number: u64, word: &str) -> Markup {
    html! { span class={ "whole " (if number == 0 { "" } else { class }) } { (thousands(number)) " " (word) } }
}

fn chain(view: &View) -> Markup {
    html! {
        article.tile {
            h3 { "Chain" }
            @if let Some(chain) = &view.chain {
                @let age = (view.now_ms / 1_000).saturating_sub(chain.time_s);
                p.big { span.beside { "block " } (thousands(chain.head)) }
                p.more {
                    @if chain.behind.is_some() {
                        span.bad { (duration(age)) " old" }
                    } @else {
                        (duration(age)) " old"
                    }
                    " · " span.whole { "epoch " (chain.epoch) } " · " span.whole { "final up to " (thousands(chain.final_block)) }
                    @if chain.snapshot.is_none() { " · " span.bad.whole { "no snapshot" } }
                }
            } @else {
                p.big { "–" }
                p.more { "not read yet" }
            }
        }
    }
}

fn rewards(view: &View) -> Markup {
    html! {
        @if let Some(rewards) = &view.rewards {
            @let shown = |number| amount(number, rewards.decimals);
            article.tile {
                h3 { "Rewards to claim" }
                p.big { (shown(rewards.pending)) }
                p.more {
                    span.whole { (shown(rewards.earned)) " earned" } " · "
                    span.whole { (shown(rewards.claimed)) " claimed" } " · "
                    span.whole { (shown(rewards.stake)) " at stake" }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
