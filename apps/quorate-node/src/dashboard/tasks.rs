//! The tasks: each with a bar that fills up to the quorum's mark, who is missing, and when each thing was first so.

use maud::{Markup, html};
use quorate_host::page::{
    table::table,
    words::{count, duration, thousands},
};

use super::words::{ends, percent, share, short, span};
use crate::board::{MissingView, TaskState, TaskView, View};

/// Tasks with a bar. The others are rows of a table.
const CARDS: usize = 12;
/// Missing members that are named.
const NAMED: usize = 8;

pub(super) fn section(view: &View) -> Markup {
    let (cards, rows) = view.tasks.split_at(view.tasks.len().min(CARDS));
    html! {
        section aria-labelledby="tasks-title" {
            h2 id="tasks-title" { "Tasks" }
            @if cards.is_empty() {
                p.none { "None yet. A task that the operator hands in, or that the chain settles, appears here." }
            } @else {
                ol.tasks { @for task in cards { (card(task, view.now_ms)) } }
            }
            @if !rows.is_empty() { (earlier(rows, view.now_ms)) }
        }
    }
}

fn card(task: &TaskView, now_ms: u64) -> Markup {
    html! {
        li.task data-key=(task.id) data-state=(task.state.name()) {
            div.what {
                h3 { bdi { @if task.label.is_empty() { "task " (ends(&task.id.to_string())) } @else { (task.label) } } }
                p.more {
                    code title=(task.id) { (ends(&task.id.to_string())) } " · epoch " (task.epoch)
                    @if let Some(performer) = &task.performer { " · performed by " (member(performer)) }
                    @if let Some(length) = task.result_length { " · " (count(length as u64, "byte")) }
                }
            }
            div.status {
                @if let Some(approved) = task.approved.filter(|_| task.has_quorum()) {
                    span class={ "badge " (if approved { "good" } else { "bad" }) } { @if approved { "approved" } @else { "rejected" } }
                }
                span class={ "badge " (task.state.name()) } { (task.state.name()) }
                (part(task))
            }
            (bar(task))
            div.below {
                (missing(task))
                (steps(task, now_ms))
            }
            (settlement(task))
        }
    }
}

impl TaskView {
    fn has_quorum(&self) -> bool {
        self.settlement.is_some() || (self.total > 0 && self.weight > self.required)
    }
}

/// What this node's operator does, where that says more than the state.
fn part(task: &TaskView) -> Markup {
    html! {
        @match task.part {
            Some("performing") if task.state == TaskState::Performing => span.badge.own { "by this node" },
            Some(part @ ("validating" | "signing" | "signed" | "abstained")) => span.badge.own { "this node " (match part {
                "validating" => "validates",
                "signing" => "signs",
                "signed" => "signed",
                _ => "abstained",
            }) },
            _ => {},
        }
    }
}

/// The weight that has signed, and the mark that it must pass. 1,000 units wide.
fn bar(task: &TaskView) -> Markup {
    let TaskView { weight, against, required, total, .. } = *task;
    let (signed, other, mark) = (share(weight, total), share(against, total), share(required, total));
    let verdict = match task.approved {
        Some(false) => "rejected",
        _ if task.has_quorum() => "enough",
        _ => "short",
    };
    let label = format!(
        "{} of the weight has signed; a quorum is more than {}",
        percent(weight, total),
        percent(required, total)
    );
    html! {
        div.quorum {
            svg.bar viewBox="0 0 1000 16" preserveAspectRatio="none" role="img" aria-label=(label) {
                rect.track x="0" y="3" width="1000" height="10" {}
                rect class={ "signed " (verdict) } x="0" y="3" width=(signed) height="10" {}
                @if other > 0 { rect.against x=(signed) y="3" width=(other) height="10" {} }
                @if total > 0 { line.mark x1=(mark) x2=(mark) y1="0" y2="16" {} }
            }
            p.more {
                @if total > 0 {
                    strong { (percent(weight, total)) } " of the weight, "
                    (task.signers) " of " (count(task.members as u64, "member")) " · quorum above " (percent(required, total))
                    @if against > 0 { " · " span.wait { (percent(against, total)) " for another verdict" } }
                } @else if task.settlement.is_some() {
                    "This node was not there when it was signed."
                } @else if task.state == TaskState::Lapsed {
                    "Nobody signed it here in time."
                } @else {
                    "It waits for the snapshot of its epoch."
                }
            }
        }
    }
}

fn missing(task: &TaskView) -> Markup {
    let unnamed = task.missing_in_all.saturating_sub(task.missing.len().min(NAMED));
    html! {
        p.missing {
            @if task.total == 0 {
            } @else if task.missing.is_empty() {
                "Nobody is missing."
            } @else if task.signers == 0 {
                "Nobody has signed yet."
            } @else {
                "Missing: "
                @for (place, absent) in task.missing.iter().take(NAMED).enumerate() {
                    @if place > 0 { ", " }
                    (member(absent))
                }
                @if unnamed > 0 { " and " (thousands(unnamed as u64)) " more" }
            }
        }
    }
}

fn member(member: &MissingView) -> Markup {
    html! { span.member { "#" (member.index) " " code title=(member.owner) { (short(&member.owner)) } } }
}

/// When each thing was first so: the result after the task was known, all else after the result.
fn steps(task: &TaskView, now_ms: u64) -> Markup {
    let times = &task.times;
    let after = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
    let steps = [
        ("result", after(times.known, times.result), times.result),
        ("quorum", after(times.result, times.quorum), times.quorum),
        ("sent", after(times.result, times.submitted), times.submitted),
        ("settled", after(times.result, times.settled), times.settled),
        ("final", after(times.result, times.finalised), times.finalised),
    ];
    let (since, at) = match times.result {
        Some(at) => ("published", Some(at)),
        None => ("known", times.known),
    };
    html! {
        ol.steps {
            @for (name, took, at) in steps {
                li data-done=(at.is_some()) {
                    span.dot aria-hidden="true" {}
                    (name)
                    @if let Some(took) = took { " " b { @if name != "result" { "+" } (span(took)) } }
                }
            }
            @if let Some(at) = at {
                li.since { (since) " " (duration(now_ms.saturating_sub(at) / 1_000)) " ago" }
            }
        }
        @if let (Some(turn), TaskState::Quorum) = (task.turn_ms, task.state) {
            @if turn > now_ms { p.more { "This node's turn to settle begins in " (span(turn - now_ms)) "." } }
        }
    }
}

fn settlement(task: &TaskView) -> Markup {
    html! {
        @if let Some(settled) = &task.settlement {
            p.more.settlement {
                "Settled in block " (thousands(settled.block))
                @if settled.own { " by this node" } @else if let Some(by) = &settled.by { " by " code title=(by) { (short(by)) } }
                ", transaction " code title=(settled.transaction) { (ends(&settled.transaction.to_string())) }
                @if let Some(gas) = settled.gas_used { " · " (thousands(gas)) " gas" }
                @if !settled.rewarded { " · nobody is paid" }
            }
        }
    }
}

/// The tasks before those with a bar.
fn earlier(rows: &[TaskView], now_ms: u64) -> Markup {
    let heads = ["Task", "State", "#Signed", "#Settled after", "#Gas", "#Age"];
    let shown: Vec<_> = rows.iter().map(|task| row(task, now_ms)).collect();
    html! {
        details.earlier {
            summary { (count(rows.len() as u64, "earlier task")) }
            (table("earlier", "Earlier tasks", &heads, &shown))
        }
    }
}

fn row(task: &TaskView, now_ms: u64) -> Markup {
    let times = &task.times;
    let took = times.settled.zip(times.result).map(|(settled, result)| span(settled.saturating_sub(result)));
    let gas = task.settlement.as_ref().and_then(|settled| settled.gas_used).map(thousands);
    let first = times.known.or(times.settled);
    let age = first.map(|first| duration(now_ms.saturating_sub(first) / 1_000));
    let none = || "–".to_owned();
    html! {
        tr role="row" data-key=(task.id) {
            th role="rowheader" scope="row" { bdi { @if task.label.is_empty() { (ends(&task.id.to_string())) } @else { (task.label) } } }
            td role="cell" { span class={ "badge " (task.state.name()) } { (task.state.name()) } }
            td.number role="cell" data-name="signed" { @if task.total > 0 { (percent(task.weight, task.total)) } @else { "–" } }
            td.number role="cell" data-name="to settle" { (took.unwrap_or_else(none)) }
            td.number role="cell" data-name="gas" { (gas.unwrap_or_else(none)) }
            td.number role="cell" data-name="old" { (age.unwrap_or_else(none)) }
        }
    }
}
