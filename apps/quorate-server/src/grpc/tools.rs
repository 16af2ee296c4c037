//! What tools and balancers ask a server of gRPC: whether it takes claims (`grpc.health.v1.Health`), and what it serves
//! (`grpc.reflection.v1.ServerReflection`).

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::State,
    middleware::{Next, from_fn_with_state},
};
use bytes::Bytes;
use futures_util::{Stream, stream};
use hyper::body::{Body as HttpBody, Frame};
use tokio::{sync::OwnedSemaphorePermit, time::sleep};
use tonic::{Request, Response, Status};
use tonic_health::pb::{
    HealthCheckRequest, HealthCheckResponse,
    health_check_response::ServingStatus,
    health_server::{Health, HealthServer},
};

use crate::app::App;

/// Whether the server takes claims. It is answered however much else is asked, and while the server stops.
pub(crate) fn health(app: &Arc<App>) -> Router<Arc<App>> {
    let service = HealthServer::new(Readiness { app: app.clone() }).max_decoding_message_size(QUESTION);
    Router::new().route_service("/grpc.health.v1.Health/{method}", service)
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

/// A tool has a place like a request, for as long as a body may take.
async fn limited(State(app): State<Arc<App>>, request: axum::extract::Request, next: Next) -> axum::response::Response {
    let Some(place) = app.budget.request() else { return super::status::busy().into_http() };
    let (stop, longest) =
        (app.connections.stopping().clone(), Duration::from_millis(app.in_force().config.limits.body_ms));
    let until = Box::pin(async move {
        tokio::select! {
            () = sleep(longest) => {}
            () = stop.cancelled() => {}
        }
    });
    next.run(request).await.map(|body| Body::new(Ending { body, until, _place: place }))
}

/// A body that ends at some time.
struct Ending {
    body: Body,
    until: Pin<Box<dyn Future<Output = ()> + Send>>,
    _place: OwnedSemaphorePermit,
}

impl HttpBody for Ending {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        if this.until.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut this.body).poll_frame(cx)
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
