//! The same interface over gRPC, on the same listeners. `proto/quorate.proto` is its schema.

#[allow(
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::unwrap_used,
    reason = "it is generated from the schema, which has the documentation"
)]
mod proto;
mod status;
pub(crate) mod tools;
mod wire;

use std::{
    future,
    pin::Pin,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Body,
    extract::State,
    middleware::{Next, from_fn_with_state},
};
use futures_util::{Stream, StreamExt as _, stream, stream::FuturesUnordered};
use http_body_util::BodyExt as _;
use quorate::SourceId;
use quorate_batcher::Class;
use quorate_formats::{ClaimFields, Place};
use quorate_host::clipped;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};
use tonic::{Request, Response, Status, Streaming};
use tracing::Instrument as _;

pub use wire::weighed;

use self::{
    proto::{
        claim::Source,
        stream_request::Of,
        verifier_server::{Verifier, VerifierServer},
    },
    status::{all_refused, busy, past_its_limits, slow, too_many},
    wire::{Charge, Wire},
};
use crate::{
    answer::{Answer, without_verdicts},
    app::{App, InForce},
    budget::{Held, Reading},
    claims::{self, Asked, BadClaims, Caller, Named},
};

/// The routes of gRPC, beside those of HTTP.
pub(crate) fn routes(app: &Arc<App>) -> Router<Arc<App>> {
    let service = VerifierServer::new(Service { app: app.clone() })
        // What comes has met the limit that is in force already.
        .max_decoding_message_size(MESSAGE)
        // Answers are shorter than their claims, but for ids and reasons.
        .max_encoding_message_size(4 * MESSAGE);
    Router::new()
        .route_service("/quorate.v1.Verifier/{method}", service)
        .layer(from_fn_with_state(app.clone(), limited))
        .merge(tools::reflection(app))
}

/// Keeps a call within its limits, and counts how it ends. A stream counts when it begins to be answered.
async fn limited(State(app): State<Arc<App>>, request: axum::extract::Request, next: Next) -> axum::response::Response {
    let interface = if request.uri().path().ends_with("/VerifyStream") { "grpc-stream" } else { "grpc" };
    let response = within_limits(&app, request, next).await;
    // A status in the head says that there is no answer.
    let result = Status::from_header_map(response.headers()).map_or("answered", |status| code(&status));
    app.metrics.request(interface, result);
    response
}

/// A request has a place as long as it is answered, and what its messages take is taken before they are decoded. If it is one message, the
/// whole of it must come in time.
async fn within_limits(app: &App, request: axum::extract::Request, next: Next) -> axum::response::Response {
    let Some(caller) = Caller::of(request.extensions()) else { return past_its_limits().into_http() };
    let Some(place) = app.budget.request(caller.client()) else { return busy().into_http() };
    let (in_force, charge) = (app.in_force(), Charge::new(&app.budget));
    let limits = &in_force.config.limits;
    let longest = limits.body_bytes.min(MESSAGE);
    let (reading, read) = oneshot::channel();
    let mut request = request.map(|body| Body::new(Wire::new(body, charge.clone(), limits, longest, reading)));
    request.extensions_mut().insert(Call { caller, charge: charge.clone() });
    let longest = Duration::from_millis(limits.body_ms);
    let too_slow = async move {
        // What was read takes as long to verify as it takes.
        if timeout(longest, read).await.is_ok() {
            future::pending::<()>().await;
        }
    };
    let response = tokio::select! {
        response = next.run(request) => response,
        () = too_slow => slow().into_http(),
    };
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_it_is_taken = (&place, &charge);
            frame
        }))
    })
}

/// Who calls, and what the messages of the call take.
#[derive(Clone, Debug)]
struct Call {
    caller: Caller,
    charge: Charge,
}

impl Call {
    fn of<T>(request: &Request<T>) -> Result<Self, Status> {
        request.extensions().get().cloned().ok_or_else(past_its_limits)
    }
}

/// The answer to a call of nobody who is known.
pub(crate) fn unknown_client(why: &str) -> axum::response::Response {
    Status::unauthenticated(why).into_http()
}

/// The longest message: what clients of gRPC expect a server to take.
const MESSAGE: usize = 4 << 20;

struct Service {
    app: Arc<App>,
}

type Answers = Pin<Box<dyn Stream<Item = Result<proto::Answer, Status>> + Send>>;

#[tonic::async_trait]
impl Verifier for Service {
    async fn verify(&self, request: Request<proto::VerifyRequest>) -> Result<Response<proto::VerifyResponse>, Status> {
        let span = tracing::info_span!("verify", interface = "grpc");
        let call = Call::of(&request)?;
        self.answer(&call, request.into_inner()).instrument(span).await.map(Response::new)
    }

    type VerifyStreamStream = Answers;

    async fn verify_stream(
        &self,
        request: Request<Streaming<proto::StreamRequest>>,
    ) -> Result<Response<Answers>, Status> {
        let call = Call::of(&request)?;
        let mut from_client = request.into_inner();
        let longest = Duration::from_millis(self.app.in_force().config.limits.body_ms);
        let first = timeout(longest, from_client.message()).await.map_err(|_| slow())??;
        let asked = match first.and_then(|first| first.of) {
            Some(Of::Common(common)) => asked(&self.app, Some(common))?,
            _ => return Err(Status::invalid_argument("the first message must have the field \"common\"")),
        };
        let (to_client, from_us) = mpsc::channel(64);
        let app = self.app.clone();
        tokio::spawn(stream_answers(app, asked, call, from_client, to_client));
        let answers =
            stream::unfold(from_us, |mut from_us| async move { from_us.recv().await.map(|next| (next, from_us)) });
        Ok(Response::new(Box::pin(answers)))
    }
}

impl Service {
    async fn answer(&self, call: &Call, request: proto::VerifyRequest) -> Result<proto::VerifyResponse, Status> {
        let (app, in_force) = (&self.app, self.app.in_force());
        let limits = &in_force.config.limits;
        let mut held = app.budget.holding();
        let asked = asked(app, request.common)?;
        if request.claims.is_empty() {
            return Err(Status::invalid_argument("the request holds no claims; send at least one"));
        }
        if request.claims.len() > limits.claims {
            return Err(Status::invalid_argument(too_many(limits.claims)));
        }
        let mut claims = Vec::with_capacity(request.claims.len());
        for (index, claim) in request.claims.into_iter().enumerate() {
            claims.push(named(app, claim, index as u64, &asked, &call.caller, &mut held)?);
        }
        call.charge.release();
        let answers = app.verify(claims, &asked).await;
        if let Some(status) = without_verdicts(&answers).and_then(all_refused) {
            return Err(status);
        }
        Ok(proto::VerifyResponse { answers: answers.into_iter().map(|(_, answer)| answer.into()).collect() })
    }
}

/// Answers claims as they come, until both sides are done or the client is gone.
async fn stream_answers(
    app: Arc<App>,
    asked: Asked,
    call: Call,
    mut from_client: Streaming<proto::StreamRequest>,
    to_client: mpsc::Sender<Result<proto::Answer, Status>>,
) {
    // A stream keeps the limits with which it began, and no key set: it sees other ones at once.
    let limits = &app.in_force().config.limits.clone();
    let [line, write] = [limits.body_ms, limits.write_ms].map(Duration::from_millis);
    let send = |answer| {
        let to_client = &to_client;
        async move { matches!(timeout(write, to_client.send(answer)).await, Ok(Ok(()))) }
    };
    let (mut held, mut in_progress) = (app.budget.holding(), FuturesUnordered::new());
    let (mut reading, mut index, mut ended_by) = (true, 0u64, None);
    // A claim that waits until the queue has room.
    let mut ahead: Option<Named> = None;
    let mut known_in = Weak::new();
    while reading || ahead.is_some() || !in_progress.is_empty() {
        if let Some(named) = ahead.take_if(|named| app.has_room(in_progress.len(), named, &asked)) {
            let bytes = named.memory();
            let deadline = asked.deadline_from(Instant::now());
            let (submitted, app) = (app.submit(index, named, &asked, deadline), app.clone());
            index += 1;
            in_progress.push(async move { (bytes, app.answer(submitted).await.1) });
        }
        tokio::select! {
            biased;
            Some((bytes, answer)) = in_progress.next(), if !in_progress.is_empty() => {
                if !send(Ok(answer.into())).await {
                    return;
                }
                held.give(bytes);
            }
            () = app.connections.stopping().cancelled(), if reading => {
                reading = false;
                ended_by = Some(Status::unavailable("the server is stopping; send the other claims to another one"));
            }
            next = timeout(line, from_client.message()), if reading && ahead.is_none()
                && in_progress.len() < limits.stream_claims =>
            {
                let read = match next {
                    Ok(Ok(Some(proto::StreamRequest { of: Some(Of::Claim(claim)) }))) => {
                        match app.still_knows(&call.caller, &mut known_in) {
                            Ok(()) => named(&app, claim, index, &asked, &call.caller, &mut held),
                            Err(why) => {
                                app.metrics.unknown_client();
                                Err(Status::unauthenticated(why.to_string()))
                            }
                        }
                    }
                    Ok(Ok(None)) => {
                        reading = false;
                        continue;
                    }
                    Ok(Err(status)) => Err(status),
                    Err(_) => Err(slow()),
                    Ok(Ok(_)) => {
                        Err(Status::invalid_argument(format!("message {}: the field \"claim\" is missing", index + 1)))
                    }
                };
                call.charge.release();
                match read {
                    Ok(named) => ahead = Some(named),
                    Err(status) => {
                        reading = false;
                        ended_by = Some(status);
                    }
                }
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
    let asked = Asked::read(query, app.in_force().config.suite());
    asked.map(|asked| Asked { class, ..asked }).map_err(|why| bad(&format!("common.{why}")))
}

/// The claim of a message. It finds memory before it is copied out of it.
fn named(
    app: &App,
    claim: proto::Claim,
    index: u64,
    asked: &Asked,
    caller: &Caller,
    held: &mut Held,
) -> Result<Named, Status> {
    let InForce { config, key_sets, .. } = &*app.in_force();
    let mut reading = Reading::new(held, config.limits.keys);
    let source = claim.source.map(|source| match source {
        Source::SourceName(name) => SourceId::from(name.as_str()),
        Source::SourceNumber(number) => SourceId::from(number),
    });
    let fields = ClaimFields {
        id: &claim.id,
        suite: &claim.suite,
        public_keys: &claim.public_keys,
        key_set: &claim.key_set,
        members: &claim.members,
        indices: claim.indices,
        message: claim.message.as_deref(),
        messages: &claim.messages,
        signature: &claim.signature,
        source,
    };
    let entry = fields.into_record(Place::Element(index), key_sets, &mut reading);
    claims::named(entry, reading, asked.suite, caller).map_err(|why| match why {
        BadClaims::NoRoom => busy(),
        BadClaims::Claim(malformed) => bad(&format!("claims[{index}]: {}", malformed.reason)),
        other => bad(&format!("claims[{index}]: {other}")),
    })
}

/// A request that is not understood. Its reason can repeat a long text of it, and clients bound the trailer that it stands in.
fn bad(why: &str) -> Status {
    Status::invalid_argument(clipped(why, LONGEST_REASON))
}

/// Characters of a reason. In the trailer one may take 14 bytes, and clients take 8 KiB of it.
const LONGEST_REASON: usize = 512;

impl From<Answer> for proto::Answer {
    fn from(answer: Answer) -> Self {
        let Answer { index, id, valid, refused, reason, .. } = answer;
        // An id of gRPC is text, and its JSON is that text in quotes.
        let id = id.and_then(|id| serde_json::from_str(id.as_json()).ok()).unwrap_or_default();
        Self { index, id, valid, refused: refused.map(str::to_owned), reason }
    }
}

/// The result as metrics name it.
fn code(status: &Status) -> &'static str {
    match status.code() {
        tonic::Code::Ok => "answered",
        tonic::Code::InvalidArgument => "bad-claim",
        tonic::Code::OutOfRange => "too-long",
        tonic::Code::DeadlineExceeded => "timeout",
        tonic::Code::Cancelled => "cut-off",
        tonic::Code::Unimplemented => "not-found",
        tonic::Code::ResourceExhausted => "overloaded",
        tonic::Code::PermissionDenied => "banned",
        tonic::Code::Unavailable => "stopped",
        _ => "failed",
    }
}
