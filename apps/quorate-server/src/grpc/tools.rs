//! What tools and balancers ask a server of gRPC: whether it takes claims (`grpc.health.v1.Health`), and what it serves
//! (`grpc.reflection.v1.ServerReflection`).

use std::{
    future::{self, Future},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::HeaderMap,
    middleware::{Next, from_fn_with_state},
};
use bytes::Bytes;
use futures_util::{Stream, stream};
use hyper::body::{Body as HttpBody, Frame};
use quorate_host::listen::RemoteEnd;
use tokio::time::{sleep, timeout};
use tonic::{Request, Response, Status};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse,
    health_check_response::ServingStatus,
    health_server::{Health, HealthServer},
};

use super::status::{busy, past_its_limits, slow};
use crate::{app::App, claims::Caller};

/// Whether the server takes claims. It is answered however much else is asked, and while the server stops.
pub(crate) fn health(app: &Arc<App>) -> Router<Arc<App>> {
    let service = HealthServer::new(Readiness { app: app.clone() }).max_decoding_message_size(QUESTION);
    Router::new()
        .route_service("/grpc.health.v1.Health/{method}", service)
        .route_layer(from_fn_with_state(app.clone(), bounded))
}

/// What the server serves.
pub(super) fn reflection(app: &Arc<App>) -> Router<Arc<App>> {
    let configured = || {
        tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(SCHEMA)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    let mut routes = Router::new();
    // The schemas are constants, which a test reads.
    if let (Ok(v1), Ok(v1alpha)) = (configured().build_v1(), configured().build_v1alpha()) {
        let v1 = v1.max_decoding_message_size(QUESTION);
        routes = routes.route_service("/grpc.reflection.v1.ServerReflection/{method}", v1);
        // Older tools ask under this name.
        let v1alpha = v1alpha.max_decoding_message_size(QUESTION);
        routes = routes.route_service("/grpc.reflection.v1alpha.ServerReflection/{method}", v1alpha);
    }
    routes.layer(from_fn_with_state(app.clone(), limited))
}

/// The schema, as the build has compiled it.
const SCHEMA: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/quorate.bin"));

/// The longest question.
const QUESTION: usize = 16 << 10;

/// The name by which clients ask for the health of what is served.
const VERIFIER: &str = "quorate.v1.Verifier";

struct Readiness {
    app: Arc<App>,
}

impl Readiness {
    fn of(app: &App) -> ServingStatus {
        if app.ready().is_ok() { ServingStatus::Serving } else { ServingStatus::NotServing }
    }

    fn check_name(request: Request<HealthCheckRequest>) -> Result<(), Status> {
        match request.into_inner().service.as_str() {
            "" | VERIFIER => Ok(()),
            _ => Err(Status::not_found(format!("there is no such service here; ask for {VERIFIER}, or name none"))),
        }
    }
}

#[tonic::async_trait]
impl Health for Readiness {
    async fn check(&self, request: Request<HealthCheckRequest>) -> Result<Response<HealthCheckResponse>, Status> {
        Self::check_name(request)?;
        Ok(Response::new(HealthCheckResponse { status: Self::of(&self.app) as i32 }))
    }

    type WatchStream = Pin<Box<dyn Stream<Item = Result<HealthCheckResponse, Status>> + Send>>;

    async fn watch(&self, request: Request<HealthCheckRequest>) -> Result<Response<Self::WatchStream>, Status> {
        Self::check_name(request)?;
        let changes = stream::unfold((self.app.clone(), None), |(app, told)| async move {
            loop {
                let (now, stopping) = (Self::of(&app), app.connections.stopping());
                if told != Some(now) {
                    return Some((Ok(HealthCheckResponse { status: now as i32 }), (app, Some(now))));
                }
                if stopping.is_cancelled() {
                    return None;
                }
                tokio::select! {
                    () = sleep(LOOK) => {}
                    () = stopping.cancelled() => {}
                }
            }
        });
        Ok(Response::new(Box::pin(changes)))
    }
}

/// How often somebody who watches is looked after.
const LOOK: Duration = Duration::from_millis(500);

/// Whoever asks for health needs no token. The question must come in the time of a body, and whoever watches needs one of a few places,
/// of which a connection has at most one, so that most connections are left to others, and some places to others who watch. Without a
/// place everything is over in a moment, in which `Check` is answered.
async fn bounded(State(app): State<Arc<App>>, request: axum::extract::Request, next: Next) -> axum::response::Response {
    // A router that is called without a connection has one caller.
    let connection = request.extensions().get::<RemoteEnd>().map_or(0, |remote| remote.number);
    let (place, longest) = (app.budget.health(connection), Duration::from_millis(app.in_force().config.limits.body_ms));
    let (has_place, moment) = (place.is_some(), longest.min(MOMENT));
    let asking = if has_place { longest } else { moment };
    let Ok(response) = timeout(asking, next.run(request)).await else { return slow().into_http() };
    let until = async move {
        if has_place {
            future::pending::<()>().await;
        }
        sleep(moment).await;
        busy()
    };
    response.map(|body| Ending::of(body, until, place))
}

/// A moment, for those who find no place.
const MOMENT: Duration = Duration::from_secs(1);

/// A tool has a place like a request, for as long as a body may take.
async fn limited(State(app): State<Arc<App>>, request: axum::extract::Request, next: Next) -> axum::response::Response {
    let Some(caller) = Caller::of(request.extensions()) else { return past_its_limits().into_http() };
    let Some(place) = app.budget.request(caller.client()) else { return busy().into_http() };
    let (stop, longest) =
        (app.connections.stopping().clone(), Duration::from_millis(app.in_force().config.limits.body_ms));
    let until = async move {
        tokio::select! {
            () = sleep(longest) => slow(),
            () = stop.cancelled() => Status::unavailable("the server is stopping; ask another one"),
        }
    };
    next.run(request).await.map(|body| Ending::of(body, until, place))
}

/// A body that ends at some time, with a status. It keeps a place as long as it is read.
struct Ending<P> {
    body: Body,
    /// `None` after the end.
    until: Option<Pin<Box<dyn Future<Output = Status> + Send>>>,
    _place: P,
}

impl<P: Send + Unpin + 'static> Ending<P> {
    fn of(body: Body, until: impl Future<Output = Status> + Send + 'static, place: P) -> Body {
        Body::new(Self { body, until: Some(Box::pin(until)), _place: place })
    }
}

impl<P: Unpin> HttpBody for Ending<P> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let Some(until) = &mut this.until else { return Poll::Ready(None) };
        if let Poll::Ready(status) = until.as_mut().poll(cx) {
            this.until = None;
            let mut trailers = HeaderMap::new();
            // Our statuses are text that a header takes.
            return Poll::Ready(status.add_header(&mut trailers).ok().map(|()| Ok(Frame::trailers(trailers))));
        }
        Pin::new(&mut this.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.until.is_none() || self.body.is_end_stream()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schemas_can_be_told() {
        let builder = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(SCHEMA)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
        assert!(builder.build_v1().is_ok());
    }
}
