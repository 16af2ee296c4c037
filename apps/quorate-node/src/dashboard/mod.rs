//! The page at `/`: what the node does now, for a person.

mod words;
mod tables;
mod tasks;

use maud::{Markup, html};
use quorate_host::page::{
    Page,
    words::{count, duration, thousands},
};

use self::words::{ends, short, span};
use crate::{
    board::{Component, PunishmentView, View},
    tokens::amount,
};

/// What the node's page has beside the style of every page.
pub(crate) const STYLE: &str = include_str!("style.css");

/// A bar that has passed its mark.
const MARK: &str =
    "<path d='M3 8h8' stroke='white' stroke-width='4'/><path d='M10 3v10' stroke='#ffd479' stroke-width='1.5'/>";

/// The page of a board.
pub(crate) fn page(view: &View) -> Page<'static> {
    Page {
        program: "quorate-node",
        mark: MARK,
        ready: view.ready,
        state: if view.ready { "ready" } else { "not ready" },
        facts: facts(view),
        // The banner has numbers that change each second, which nobody wants to be read aloud.
        news: if view.ready {
            "The node is ready.".to_owned()
        } else {
            format!("The node cannot do its work, for {}.", count(view.reasons.len() as u64, "reason"))
        },
        banner: html! { (banner(view)) (notices(view)) },
        figures: figures(view),
        sections: html! {
            (tasks::section(view))
            (tables::submissions(view))
            (tables::operators(view))
            (tables::punishments(view))
            (tables::peers(view))
            (tables::bans(view))
        },
        links: html! {
            a href="/metrics" { "Metrics" } " for Prometheus; "
            a href="/v1/status" { "status" } " and " a href="/v1/tasks" { "tasks" } " as JSON."
        },
    }
}

/// Who the node is.
fn facts(view: &View) -> Vec<(&'static str, Markup)> {
    let Some(node) = &view.node else { return Vec::new() };
    let operator = node.operator.map(|operator| ("operator", html! { code title=(operator) { (short(&operator)) } }));
    let roles = if node.roles.is_empty() { "none".to_owned() } else { node.roles.join(", ") };
    let others = [
        ("roles", html! { (roles) }),
        ("network", html! { code title=(node.contract) { (short(&node.contract)) } " on chain " (node.chain_id) }),
        ("peer", html! { code title=(node.peer_id) { (ends(&node.peer_id)) } }),
        ("version", html! { (node.version) }),
        ("up", html! { (duration(view.now_ms.saturating_sub(node.started_ms) / 1_000)) }),
    ];
    operator.into_iter().chain(others).collect()
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
                            " (task " code title=(row.id) { (ends(&row.id.to_string())) } ")."
                        }
                    }
                }
                @if view.punishments_in_all > punished.len() {
                    p { a href="#punishments-title" { "All " (count(view.punishments_in_all as u64, "punishment")) } }
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
        (watch(view))
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

/// The watch of an optimistic settlement. A node that watches nothing has no such tile.
fn watch(view: &View) -> Markup {
    html! {
        @if let Some(watch) = &view.watch {
            article.tile data-key="watch" {
                h3 { "Watch" }
                @if let Some(looked_ms) = watch.looked_ms {
                    p.big { (thousands(watch.r#true + watch.r#false + watch.unknown)) span.beside { " open" } }
                    p.more {
                        (figure("bad", watch.r#false, "false")) " · "
                        (figure("wait", watch.unknown, "not recomputed")) " · "
                        @if watch.late > 0 { (figure("bad", watch.late, "near the end")) " · " }
                        @if watch.final_doubtful > 0 { (figure("bad", watch.final_doubtful, "final and not true")) " · " }
                        @match watch.demands {
                            Some(0) => span.bad.whole { "pays no demand" },
                            Some(demands) => span.whole { "pays " (count(demands, "demand")) },
                            None => span.whole { "reports only" },
                        }
                        " · " span.whole { "looked " (duration(view.now_ms.saturating_sub(looked_ms) / 1_000)) " ago" }
                    }
                } @else {
                    p.big { "–" }
                    p.more { "nothing is recomputed yet" }
                }
                p.more { "of " code title=(watch.contract) { (short(&watch.contract)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests;
