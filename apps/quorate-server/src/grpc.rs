//! The same interface over gRPC, on the same listeners. `proto/quorate.proto` is its schema.

use std::{pin::Pin, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::State,
    middleware::{Next, from_fn_with_state},
};
use bytes::Bytes;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream, stream::FuturesUnordered};
use quorate::{AnySuite, ClaimBytes, Messages, SourceId};
use quorate_batcher::{Class, Refused};
use quorate_formats::Id;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::timeout,
};
use tonic::{Request, Response, Status, Streaming};
use tracing::Instrument as _;

use self::proto::{
    claim::Source,
    stream_request::Of,
    verifier_server::{Verifier, VerifierServer},
};
use crate::{
    answer::Answer,
    app::App,
    budget::Held,
    claims::{Asked, Named},
};

/// What the schema says.
#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::unwrap_used,
    reason = "it is generated from the schema, which has the documentation"
)]
mod proto {
    tonic::include_proto!("quorate.v1");
}

/// The routes of gRPC, beside those of HTTP.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let longest = message_bytes(app);
    let service = VerifierServer::new(Service { app: app.clone() })
        .max_decoding_message_size(longest)
        // Answers are shorter than their claims, but for ids and reasons.
        .max_encoding_message_size(longest.saturating_mul(4));
    Router::new()
        .route_service("/quorate.v1.Verifier/{method}", service)
        .layer(from_fn_with_state(app.clone(), limited))
}

/// A message is decoded before it can be counted, so what it may take is taken from the budget before it is read, and it must
/// arrive and be answered in time. A stream takes a place of its own when it begins.
async fn limited(State(app): State<Arc<App>>, request: axum::extract::Request, next: Next) -> axum::response::Response {
    let Some(_place) = Place::take(&app) else { return busy().into_http() };
    let longest = Duration::from_millis(app.config.limits.body_ms);
    timeout(longest, next.run(request)).await.unwrap_or_else(|_| slow().into_http())
}

/// The longest message.
fn message_bytes(app: &App) -> usize {
    app.config.limits.body_bytes.min(MESSAGE)
}

/// What clients of gRPC expect a server to take.
const MESSAGE: usize = 4 << 20;

/// A place for a request, and memory for one message.
struct Place {
    _request: OwnedSemaphorePermit,
    _message: Held,
}

impl Place {
    fn take(app: &App) -> Option<Self> {
        let (request, mut message) = (app.budget.request()?, app.budget.holding()?);
        message.take(message_bytes(app))?;
        Some(Self { _request: request, _message: message })
    }
}

struct Service {
    app: Arc<App>,
}

type Answers = Pin<Box<dyn Stream<Item = Result<proto::Answer, Status>> + Send>>;

#[tonic::async_trait]
impl Verifier for Service {
    async fn verify(&self, request: Request<proto::VerifyRequest>) -> Result<Response<proto::VerifyResponse>, Status> {
        let span = tracing::info_span!("verify", interface = "grpc");
        let answered = self.answer(request.into_inner()).instrument(span).await;
        let result = match &answered {
            Ok(_) => "answered",
            Err(status) => code(status),
        };
        self.app.metrics.request("grpc", result);
        answered.map(Response::new)
    }

    type VerifyStreamStream = Answers;

    async fn verify_stream(
        &self,
        request: Request<Streaming<proto::StreamRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let place = Place::take(&self.app).ok_or_else(busy)?;
        let mut from_client = request.into_inner();
        let longest = Duration::from_millis(self.app.config.limits.body_ms);
        let first = timeout(longest, from_client.message()).await.map_err(|_| slow())??;
        let asked = match first.and_then(|first| first.of) {
            Some(Of::Common(common)) => asked(&self.app, Some(common))?,
            _ => return Err(Status::invalid_argument("the first message must have the field \"common\"")),
        };
        self.app.metrics.request("grpc-stream", "answered");
        let (to_client, from_us) = mpsc::channel(64);
        let app = self.app.clone();
        tokio::spawn(stream_answers(app, asked, from_client, to_client, place));
        let answers =
            stream::unfold(from_us, |mut from_us| async move { from_us.recv().await.map(|next| (next, from_us)) });
        Ok(Response::new(Box::pin(answers)))
    }
}

impl Service {
    async fn answer(&self, request: proto::VerifyRequest) -> Result<proto::VerifyResponse, Status> {
        let (app, limits) = (&self.app, &self.app.config.limits);
        let mut held = app.budget.holding().ok_or_else(busy)?;
        let asked = asked(app, request.common)?;
        if request.claims.is_empty() {
            return Err(Status::invalid_argument("the request holds no claims; send at least one"));
        }
        if request.claims.len() > limits.claims {
            let message =
                format!("the request holds more than {} claims, the limit; send several, or a stream", limits.claims);
            return Err(Status::invalid_argument(message));
        }
        let mut claims = Vec::with_capacity(request.claims.len());
        for (index, claim) in request.claims.into_iter().enumerate() {
            let named =
                named(app, claim, &asked).map_err(|why| Status::invalid_argument(format!("claims[{index}]: {why}")))?;
            held.take(named.memory()).ok_or_else(busy)?;
            claims.push(named);
        }
        let answers = app.verify(claims, &asked).await;
        if let Some(refused) = answers.first().and_then(|(refused, _)| *refused)
            && answers.iter().all(|(other, _)| *other == Some(refused))
            && let Some(status) = all_refused(refused)
        {
            return Err(status);
        }
        Ok(proto::VerifyResponse { answers: answers.into_iter().map(|(_, answer)| answer.into()).collect() })
    }
}

/// Answers claims as they come, until both sides are done or the client is gone.
async fn stream_answers(
    app: Arc<App>,
    asked: Asked,
    mut from_client: Streaming<proto::StreamRequest>,
    to_client: mpsc::Sender<Result<proto::Answer, Status>>,
    _place: Place,
) {
    let limits = &app.config.limits;
    let [line, write] = [limits.body_ms, limits.write_ms].map(Duration::from_millis);
    let send = |answer| {
        let to_client = &to_client;
        async move { matches!(timeout(write, to_client.send(answer)).await, Ok(Ok(()))) }
    };
    let mut in_progress = FuturesUnordered::new();
    let (mut reading, mut index, mut ended_by) = (true, 0u64, None);
    while reading || !in_progress.is_empty() {
        tokio::select! {
            biased;
            Some(answer) = in_progress.next(), if !in_progress.is_empty() => {
                let answer: Answer = answer;
                if !send(Ok(answer.into())).await {
                    return;
                }
            }
            () = app.connections.stopping().cancelled(), if reading => {
                reading = false;
                ended_by = Some(Status::unavailable("the server is stopping; send the other claims to another one"));
            }
            next = timeout(line, from_client.message()), if reading
                && in_progress.len() < limits.stream_claims && app.has_room(in_progress.len()) =>
            {
                let claim = match next {
                    Ok(Ok(Some(proto::StreamRequest { of: Some(Of::Claim(claim)) }))) => claim,
                    Ok(Ok(None)) => {
                        reading = false;
                        continue;
                    }
                    other => {
                        reading = false;
                        ended_by = Some(match other {
                            Ok(Err(status)) => status,
                            Err(_) => slow(),
                            Ok(Ok(_)) => Status::invalid_argument(format!("message {}: the field \"claim\" is missing", index + 1)),
                        });
                        continue;
                    }
                };
                let named = match named(&app, claim, &asked) {
                    Ok(named) => named,
                    Err(why) => {
                        reading = false;
                        ended_by = Some(Status::invalid_argument(format!("claims[{index}]: {why}")));
                        continue;
                    }
                };
                let bytes = named.memory();
                let Some(Some(memory)) = app.budget.line(bytes, Duration::ZERO).now_or_never() else {
                    reading = false;
                    ended_by = Some(busy());
                    continue;
                };
                let (submitted, app) = (app.submit(index, named, &asked), app.clone());
                index += 1;
                in_progress.push(async move {
                    let (_, answer) = app.answer(submitted).await;
                    drop(memory);
                    answer
                });
            }
            () = to_client.closed() => return,
        }
    }
    if let Some(status) = ended_by {
        // If the client is gone, nobody needs it.
        send(Err(status)).await;
    }
}

fn asked(app: &App, common: Option<proto::Common>) -> Result<Asked, Status> {
    let common = common.unwrap_or_default();
    let class = match proto::Class::try_from(common.class) {
        Ok(proto::Class::Unspecified | proto::Class::Gossip) => Class::Gossip,
        Ok(proto::Class::Duty) => Class::Duty,
        Ok(proto::Class::Block) => Class::Block,
        Err(_) => {
            return Err(Status::invalid_argument(format!("common.class: found {}, expected 0 to 3", common.class)));
        }
    };
    let deadline = common.deadline_ms.to_string();
    let mut query = vec![];
    if !common.suite.is_empty() {
        query.push(("suite", common.suite.as_str()));
    }
    if common.deadline_ms != 0 {
        query.push(("deadline_ms", &deadline));
    }
    let asked = Asked::read(query, app.config.suite());
    asked.map(|asked| Asked { class, ..asked }).map_err(|why| Status::invalid_argument(format!("common.{why}")))
}

fn named(app: &App, claim: proto::Claim, asked: &Asked) -> Result<Named, String> {
    let limits = &app.config.limits;
    let suite: AnySuite = match (claim.suite.as_str(), asked.suite) {
        ("", Some(suite)) => suite,
        ("", None) => return Err("suite is missing; give it, or common.suite for all claims".to_owned()),
        (name, _) => name.parse().map_err(|error| format!("suite: {error}"))?,
    };
    if claim.public_keys.len() > limits.keys {
        return Err(format!("public_keys: found {} keys, expected at most {}", claim.public_keys.len(), limits.keys));
    }
    let messages = match (claim.message, claim.messages) {
        (Some(message), messages) if messages.is_empty() => Messages::Shared(message[..].into()),
        (Some(_), _) => return Err("message and messages are both given; keep one of them".to_owned()),
        (None, messages) if messages.len() == claim.public_keys.len() => {
            Messages::Each(messages.iter().map(|message| message[..].into()).collect())
        }
        (None, messages) => {
            let (keys, messages) = (claim.public_keys.len(), messages.len());
            return Err(format!(
                "messages: found {messages} messages for {keys} keys; give one for each key, or `message` for all keys"
            ));
        }
    };
    let source = claim.source.map(|source| match source {
        Source::SourceName(name) => SourceId::from(name.as_str()),
        Source::SourceNumber(number) => SourceId::from(number),
    });
    let owned = |bytes: &Bytes| bytes.to_vec();
    let claim_bytes = ClaimBytes {
        suite,
        public_keys: claim.public_keys.iter().map(owned).collect(),
        messages,
        signature: owned(&claim.signature),
        source,
    };
    let id = (!claim.id.is_empty()).then(|| Id::text(&claim.id));
    Ok(Named { id, claim: claim_bytes })
}

impl From<Answer> for proto::Answer {
    fn from(answer: Answer) -> Self {
        let Answer { index, id, valid, refused, reason, .. } = answer;
        // An id of gRPC is text, and its JSON is that text in quotes.
        let id = id.and_then(|id| serde_json::from_str(id.as_json()).ok()).unwrap_or_default();
        Self { index, id, valid, refused: refused.map(str::to_owned), reason }
    }
}

fn busy() -> Status {
    Status::resource_exhausted("too many requests are in progress; send it again later")
}

fn slow() -> Status {
    Status::deadline_exceeded("the next message did not arrive in time")
}

/// Not one claim of a request was verified, all for this reason.
fn all_refused(refused: Refused) -> Option<Status> {
    let why = refused.to_string();
    match refused {
        Refused::Overloaded => Some(Status::resource_exhausted(why)),
        Refused::Stopped => Some(Status::unavailable(why)),
        Refused::Banned => Some(Status::permission_denied(why)),
        Refused::Failed => Some(Status::internal(why)),
        _ => None,
    }
}

/// The result as metrics name it.
fn code(status: &Status) -> &'static str {
    match status.code() {
        tonic::Code::InvalidArgument => "bad-claim",
        tonic::Code::ResourceExhausted => "overloaded",
        tonic::Code::PermissionDenied => "banned",
        tonic::Code::Unavailable => "stopped",
        _ => "failed",
    }
}
