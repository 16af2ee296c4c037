//! What the server knows about sources, statements and itself.

use std::sync::Arc;

use axum::{Extension, Json, extract::State, http::StatusCode, response::Response};
use quorate::{ClaimBytes, Messages, SourceId};
use quorate_batcher::{Load, SourceReport, Standing};
use quorate_host::{plain, unix_seconds};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::{error::ApiError, verify::in_pieces};
use crate::{app::App, board::Summary, claims::Caller, metrics::Second};

/// What is remembered.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Known {
    /// Statements that were verified and are subtracted when they come again.
    pub(crate) statements: usize,
}

/// A source that has sent false claims or was banned.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Source {
    /// The number or the name that claims have.
    #[schema(value_type = serde_json::Value)]
    pub(crate) source: SourceId,
    /// False claims, of which old ones count less.
    pub(crate) score: f64,
    /// How it is treated: `trusted`, `suspect` (its claims are verified apart from others') or `banned`.
    #[schema(value_type = String)]
    pub(crate) standing: &'static str,
    /// How much longer it is banned, in seconds.
    pub(crate) banned_for_s: u64,
    /// How often it was banned.
    pub(crate) bans: u64,
    /// False claims in all.
    pub(crate) false_claims: u64,
    /// The last of them.
    pub(crate) evidence: Vec<Evidence>,
}

/// A false claim.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Evidence {
    /// How long ago it was found, in seconds.
    pub(crate) ago_s: u64,
    /// Why it is false.
    pub(crate) reason: String,
    /// The claim; missing if it is longer than 16 KiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) claim: Option<FalseClaim>,
}

/// What a false claim says.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct FalseClaim {
    /// SHA-256 of the claim: its suite, keys, messages and signature, each behind its length as eight bytes.
    pub(crate) digest: String,
    /// The suite.
    pub(crate) suite: String,
    /// The first key.
    pub(crate) public_key: String,
    /// How many keys it has.
    pub(crate) keys: usize,
    /// The signature.
    pub(crate) signature: String,
}

/// What the dashboard shows.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    /// The server's version.
    pub(crate) version: &'static str,
    /// Since the start.
    pub(crate) uptime_s: u64,
    /// Whether it takes more claims.
    pub(crate) ready: bool,
    /// Why it does not.
    pub(crate) not_ready: Option<&'static str>,
    /// The code that does the arithmetic.
    pub(crate) backend: &'static str,
    /// Threads that verify.
    pub(crate) threads: usize,
    /// Whether the counters are served beside the page.
    pub(crate) with_metrics: bool,
    /// Planned work that waits.
    pub(crate) queue: Load,
    /// Statements that are remembered.
    pub(crate) known: usize,
    /// The board of checkpoints, if there is one.
    pub(crate) checkpoints: Option<Summary>,
    /// Unix seconds.
    pub(crate) now: u64,
    /// The last minute, the oldest second first. The last one is not over.
    pub(crate) seconds: Vec<Second>,
    /// Sources that are banned or have sent false claims, the worst first.
    pub(crate) sources: Vec<Source>,
    /// How many sources there are in all.
    pub(crate) sources_in_all: usize,
}

/// Statements that are remembered.
#[utoipa::path(get, path = "/v1/known", responses((status = 200, description = "How many", body = Known)))]
pub(super) async fn known(State(app): State<Arc<App>>) -> Json<Known> {
    Json(Known { statements: app.batcher.known() })
}

/// Sources that have sent false claims or are banned, the worst first, with evidence: a client's own, where clients have names, else
/// all.
///
/// The header `Quorate-Left-Out` says how many more there are, if there are more.
#[utoipa::path(
    get,
    path = "/v1/sources",
    responses(
        (status = 200, description = "The worst: at most 1,000, and at most 1 MiB of JSON", body = Vec<Source>),
        (status = 500, description = "A fault of the server", body = super::error::ErrorBody),
        (status = 503, description = "Too many requests are in progress", body = super::error::ErrorBody),
    )
)]
pub(super) async fn sources(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<Caller>,
) -> Result<Response, ApiError> {
    let place = app.budget.request(caller.client()).ok_or_else(ApiError::busy)?;
    let mut held = app.budget.holding();
    let list = List::of(&app, |source| caller.may_see(source), |bytes| held.take(bytes))?;
    Ok(list.answer((place, held)))
}

/// The same of all clients, for administrators. They are served when there is no memory left for others.
pub(super) async fn all_sources(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    Ok(List::of(&app, |_| true, |_| Some(()))?.answer(()))
}

/// Sources as JSON.
struct List {
    json: String,
    /// How many more there are.
    left_out: usize,
}

impl List {
    /// The worst sources, as far as they fit. Takes memory for each one before it is kept.
    ///
    /// Liars choose their names, and an administrator's terminal shows them, so no character of them stands there that a terminal obeys.
    fn of(
        app: &App,
        of: impl Fn(&SourceId) -> bool,
        mut take: impl FnMut(usize) -> Option<()>,
    ) -> Result<Self, ApiError> {
        let (worst, in_all) = app.batcher.worst_sources(LISTED, of);
        let (mut json, mut listed) = ("[".to_owned(), 0);
        for report in worst {
            let source = serde_json::to_string(&Source::of(report)).map_err(|error| {
                let message = format!("the answer cannot be written: {error}");
                ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", message)
            })?;
            let source = plain::in_json(&source);
            // With a comma before it, and the bracket at the end.
            if json.len() + source.len() + 2 > LISTED_BYTES {
                break;
            }
            take(source.len() + 1).ok_or_else(ApiError::busy)?;
            if listed > 0 {
                json.push(',');
            }
            json.push_str(&source);
            listed += 1;
        }
        json.push(']');
        Ok(Self { json, left_out: in_all - listed })
    }

    fn answer(self, held: impl Send + 'static) -> Response {
        let mut response = in_pieces(self.json.into(), "application/json", held);
        if self.left_out > 0 {
            response.headers_mut().insert(LEFT_OUT, self.left_out.into());
        }
        response
    }
}

/// How many sources are not in the answer.
const LEFT_OUT: &str = "quorate-left-out";

impl Status {
    /// What this caller sees of it.
    pub(crate) fn of(app: &App, caller: &Caller) -> Self {
        let (sources, sources_in_all) = Source::worst(app, SHOWN, |source| caller.may_see(source));
        let ready = app.ready();
        let in_force = app.in_force();
        let settings = in_force.config.settings();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            uptime_s: app.started.elapsed().as_secs(),
            ready: ready.is_ok(),
            not_ready: ready.err(),
            backend: settings.backend.name(),
            threads: settings.threads.get(),
            with_metrics: in_force.config.listen.metrics.is_empty(),
            queue: app.batcher.load(),
            known: app.batcher.known(),
            checkpoints: app.board.as_ref().map(|board| board.shown().summary),
            now: unix_seconds(),
            seconds: app.metrics.recent_seconds(),
            sources,
            sources_in_all,
        }
    }
}

/// Sources in an answer: no more, because anybody may ask.
const LISTED: usize = 1000;

/// Bytes of JSON in an answer. A name may have 32 KiB, and six times that when it is escaped.
const LISTED_BYTES: usize = 1 << 20;

/// Sources on the dashboard.
const SHOWN: usize = 50;

impl Source {
    fn worst(app: &App, most: usize, of: impl Fn(&SourceId) -> bool) -> (Vec<Self>, usize) {
        let (worst, in_all) = app.batcher.worst_sources(most, of);
        (worst.into_iter().map(Self::of).collect(), in_all)
    }

    fn of(report: SourceReport) -> Self {
        let evidence = report.evidence.iter().rev().map(|evidence| Evidence {
            ago_s: evidence.at.elapsed().as_secs(),
            reason: evidence.reason.to_string(),
            claim: evidence.claim.as_ref().map(FalseClaim::of),
        });
        Self {
            standing: match report.standing {
                Standing::Trusted => "trusted",
                Standing::Suspect => "suspect",
                Standing::Banned => "banned",
            },
            score: (report.score * 100.0).round() / 100.0,
            banned_for_s: report.banned_for.as_secs(),
            bans: report.bans,
            false_claims: report.false_claims,
            evidence: evidence.collect(),
            source: report.source,
        }
    }

    /// Whether its claims are refused.
    pub(crate) fn is_banned(&self) -> bool {
        self.banned_for_s > 0
    }
}

impl FalseClaim {
    fn of(claim: &ClaimBytes) -> Self {
        Self {
            digest: digest(claim),
            suite: claim.suite.to_string(),
            public_key: claim.public_keys.encoded(0).map(const_hex::encode_prefixed).unwrap_or_default(),
            keys: claim.public_keys.len(),
            signature: const_hex::encode_prefixed(&claim.signature),
        }
    }
}

/// The digest that names a claim.
fn digest(claim: &ClaimBytes) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_be_bytes());
        hash.update(bytes);
    };
    part(claim.suite.to_string().as_bytes());
    claim.public_keys.encodings().iter().for_each(|key| part(key));
    match &claim.messages {
        Messages::Shared(message) => part(message),
        Messages::Each(messages) => messages.iter().for_each(|message| part(message)),
        _ => part(b""),
    }
    part(&claim.signature);
    const_hex::encode(hash.finalize())
}
