//! Transactions, operators, punishments, peers and bans.

use maud::{Markup, html};
use quorate_evm::{
    alloy_primitives::{Address, U256},
    amount::COIN_DECIMALS,
};
use quorate_host::page::{
    table::section,
    words::{count, duration, thousands},
};

use super::words::{bytes, ends, percent, short};
use crate::{
    board::{BanView, OperatorView, PeerView, PunishmentView, SubmissionView, TransportView, View},
    tokens::amount,
};

/// How many of all rows are shown, if not all.
fn more(shown: usize, all: usize) -> Markup {
    html! { @if all > shown { p.more { "The first " (shown) " of " (thousands(all as u64)) "." } } }
}

pub(super) fn submissions(view: &View) -> Markup {
    let rows: Vec<_> = view.submissions.iter().take(SUBMISSIONS).map(|row| submission(row, view.now_ms)).collect();
    let heads = ["For", "State", "#Nonce", "#Gas", "#Of the estimate", "#Fee", "#Changed"];
    html! {
        (section("submissions", "Transactions of this node", "None since the start.", &heads, &rows))
        (more(SUBMISSIONS, view.submissions.len()))
    }
}

/// Transactions on the page.
const SUBMISSIONS: usize = 25;

fn submission(row: &SubmissionView, now_ms: u64) -> Markup {
    let key = format!("{}-{}-{}", row.purpose, row.nonce.unwrap_or_default(), row.first_ms);
    let state = row.state.replace(' ', "-");
    html! {
        tr role="row" data-key=(key) {
            th role="rowheader" scope="row" {
                @match (&row.words, &row.id) {
                    (Some(words), _) => bdi { (words) },
                    (None, Some(id)) => { (row.purpose) " " code title=(id) { (ends(&id.to_string())) } },
                    (None, None) => (row.purpose),
                }
            }
            td role="cell" {
                span class={ "badge " (state) } { (row.state) }
                @if row.replaced > 0 { " " span.quiet { "replaced " (row.replaced) "×" } }
                @if let Some(refusal) = &row.refusal { " " span.words { bdi { (refusal) } } }
            }
            td.number role="cell" data-name="nonce" { @match row.nonce { Some(nonce) => (nonce), None => "–" } }
            td.number role="cell" data-name="gas" {
                @match row.gas_used { Some(gas) => (thousands(gas)), None => "–" }
            }
            td.number role="cell" data-name="of the estimate" {
                @match row.gas_used.zip(row.estimate) { Some((gas, estimate)) => (difference(gas, estimate)), None => "–" }
            }
            td.number role="cell" data-name="fee" {
                @match row.fee { Some(fee) => (amount(U256::from(fee), COIN_DECIMALS)), None => "–" }
            }
            td.number role="cell" data-name="changed" { (duration(now_ms.saturating_sub(row.last_ms) / 1_000)) " ago" }
        }
    }
}

/// How far gas is from its estimate, such as "+0.4 %".
fn difference(gas: u64, estimate: u64) -> String {
    if estimate == 0 {
        return "–".to_owned();
    }
    format!("{:+.1} %", (gas as f64 / estimate as f64 - 1.0) * 100.0)
}

pub(super) fn operators(view: &View) -> Markup {
    let decimals = view.rewards.map_or(18, |rewards| rewards.decimals);
    let rows: Vec<_> = view.operators.iter().map(|row| operator(row, view.operators_weight, decimals)).collect();
    let heads = ["#Index", "Owner", "#Weight", "#Of all", "Settled tasks that it signed", "Fines"];
    html! {
        (section("operators", "Operators", "The chain has no snapshot yet.", &heads, &rows))
        (more(view.operators.len(), view.operators_in_all))
    }
}

fn operator(row: &OperatorView, all: u128, decimals: u8) -> Markup {
    let settled = row.signed + row.missing;
    html! {
        tr role="row" data-key=(row.owner) {
            td.number role="cell" { "#" (row.index) }
            th role="rowheader" scope="row" {
                code title=(row.owner) { (short(&row.owner)) }
                @if row.own { " " span.badge.own { "this node" } }
            }
            td.number role="cell" data-name="weight" { (thousands(row.weight)) }
            td.number role="cell" data-name="of all" { (percent(row.weight.into(), all)) }
            td.signed role="cell" data-name="signed" {
                @if settled > 0 {
                    svg.meter viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" {
                        rect.track x="0" y="0" width="100" height="6" {}
                        rect.part x="0" y="0" width=(row.signed * 100 / settled) height="6" {}
                    }
                    (percent(row.signed.into(), settled.into())) " " span.quiet { (thousands(row.signed)) " of " (thousands(settled)) }
                } @else {
                    "–"
                }
            }
            td role="cell" {
                @if row.punishments > 0 {
                    span.badge.bad { @if row.slashed { "slashed" } @else { "penalised" } }
                    " " (amount(row.lost, decimals))
                    @if row.punishments > 1 { " " span.quiet { "in " (row.punishments) } }
                } @else {
                    "–"
                }
            }
        }
    }
}

pub(super) fn punishments(view: &View) -> Markup {
    let decimals = view.rewards.map_or(18, |rewards| rewards.decimals);
    let punished = view.punishments.iter().map(|row| punishment(row, decimals));
    let waits = view.conflicts.iter().filter(|conflict| !conflict.slashed).map(|conflict| {
        html! {
            tr role="row" data-key={ "conflict " (conflict.operator) (conflict.id) } {
                th role="rowheader" scope="row" { code title=(conflict.operator) { (short(&conflict.operator)) } }
                td role="cell" { span.badge.wait { "conflict" } " " span.words {
                    @if conflict.reportable { "evidence is there" } @else { "on another branch of the chain" }
                } }
                td role="cell" data-name="task" { code title=(conflict.id) { (ends(&conflict.id.to_string())) } }
                td.number role="cell" data-name="lost" { "–" }
                td.number role="cell" data-name="block" { "–" }
            }
        }
    });
    let rows: Vec<_> = waits.chain(punished).take(SHOWN).collect();
    let heads = ["Operator", "For", "Task", "#Lost", "#Block"];
    // Of conflicts that are not shown nobody knows here whether they were slashed.
    let slashed = view.conflicts.iter().filter(|conflict| conflict.slashed).count();
    let all = view.punishments_in_all + view.conflicts_in_all - slashed;
    html! {
        (section("punishments", "Conflicts and punishments", "None.", &heads, &rows))
        (more(SHOWN, all))
    }
}

/// Rows of punishments, peers and bans on the page.
const SHOWN: usize = 50;

fn punishment(row: &PunishmentView, decimals: u8) -> Markup {
    html! {
        tr role="row" data-key={ (row.kind) (row.operator) (row.id) } {
            th role="rowheader" scope="row" { code title=(row.operator) { (short(&row.operator)) } }
            td role="cell" { span.badge.bad { (row.kind) } " " span.words {
                @if row.kind == "slashed" { "it signed two things that conflict" } @else { "its result was rejected" }
            } }
            td role="cell" data-name="task" { code title=(row.id) { (ends(&row.id.to_string())) } }
            td.number role="cell" data-name="lost" { (amount(row.amount, decimals)) }
            td.number role="cell" data-name="block" { (thousands(row.at_block)) }
        }
    }
}

pub(super) fn peers(view: &View) -> Markup {
    let rows: Vec<_> = view.peers.iter().take(SHOWN).map(|row| peer(row, view.now_ms)).collect();
    let heads = ["Peer", "Operator", "Address", "#Received", "#Sent", "#Score", "#Connected"];
    html! {
        (section("peers", "Peers", "No peer is connected.", &heads, &rows))
        (more(SHOWN, view.peers_in_all))
    }
}

fn peer(row: &PeerView, now_ms: u64) -> Markup {
    let both = |size, messages| html! { (bytes(size)) " " span.quiet { (count(messages, "message")) } };
    html! {
        tr role="row" data-key=(row.peer_id) {
            th role="rowheader" scope="row" { code title=(row.peer_id) { (ends(&row.peer_id)) } }
            td role="cell" { (owner(row.operator.as_ref())) }
            td.address role="cell" { bdi { (row.address) } }
            td.number role="cell" data-name="received" { (both(row.bytes_in, row.messages_in)) }
            td.number role="cell" data-name="sent" { (both(row.bytes_out, row.messages_out)) }
            td.number role="cell" data-name="score" { (format!("{:.1}", row.score)) }
            td.number role="cell" data-name="connected" { (duration(now_ms.saturating_sub(row.since_ms) / 1_000)) }
        }
    }
}

fn owner(operator: Option<&Address>) -> Markup {
    html! {
        @match operator {
            Some(operator) => code title=(operator) { (short(operator)) },
            None => span.quiet { "not shown" },
        }
    }
}

pub(super) fn bans(view: &View) -> Markup {
    let rows: Vec<_> = view.bans.iter().take(SHOWN).map(|row| ban(row, view.now_ms)).collect();
    html! {
        (section("bans", "Banned peers", "None.", &["Peer", "Operator", "Why", "#Still for"], &rows))
        (more(SHOWN, view.bans_in_all))
        (transport(&view.counts.transport))
    }
}

/// What the transport dropped and refused, as far as there was any of it.
fn transport(counts: &TransportView) -> Markup {
    let TransportView { banned, strangers, arrivals_dropped, calls_dropped, unsent, unjudged, unanswered } = *counts;
    let all = [
        (banned, "peer banned", "peers banned"),
        (strangers, "stranger refused", "strangers refused"),
        (arrivals_dropped, "arrival dropped", "arrivals dropped"),
        (calls_dropped, "call dropped", "calls dropped"),
        (unsent, "message not sent", "messages not sent"),
        (unjudged, "message without a judgement", "messages without a judgement"),
        (unanswered, "question without an answer", "questions without an answer"),
    ];
    let some: Vec<_> = all.into_iter().filter(|(number, ..)| *number != 0).collect();
    html! {
        p.more id="transport" {
            @if some.is_empty() {
                "The transport has dropped and refused nothing since the start."
            } @else {
                "Since the start: "
                @for (place, (number, one, many)) in some.iter().enumerate() {
                    @if place > 0 { " · " }
                    span.whole { (thousands(*number)) " " (if *number == 1 { one } else { many }) }
                }
                "."
            }
        }
    }
}

fn ban(row: &BanView, now_ms: u64) -> Markup {
    html! {
        tr role="row" data-key=(row.peer_id) {
            th role="rowheader" scope="row" { code title=(row.peer_id) { (ends(&row.peer_id)) } }
            td role="cell" { (owner(row.operator.as_ref())) }
            td role="cell" { span.words { bdi { (row.reason) } } }
            td.number role="cell" data-name="still banned" { (duration(row.until_ms.saturating_sub(now_ms) / 1_000)) }
        }
    }
}
