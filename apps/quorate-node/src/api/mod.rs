//! HTTP: what a running node shows, and how its operator hands it tasks.
//!
//! | request | answer |
//! |---|---|
//! | `GET /` | the dashboard |
//! | `GET /livez` | 200 while the process answers, 503 if the node's loop hangs |
//! | `GET /readyz` | 200 if the node can do its work, else 503, with the reasons as JSON |
//! | `GET /metrics` | the text for Prometheus |
//! | `GET /v1/status` | the board without its tasks, as JSON |
//! | `GET /v1/tasks` | the newest tasks, as JSON |
//! | `POST /v1/tasks` | takes a task: see [`TaskOrder`] |
//!
//! Whoever reaches the address may read. Only who has the [`Token`] may hand in tasks. An origin on loopback is not a proof
//! of anything: each user and each container with the host's network reaches loopback, and so does each page that the
//! operator's browser shows. A file that only its owner reads does not have these holes, and works through a proxy as well.
//!
//! A page on the web can let a name of its own point at this machine, so requests whose header `Host` has a name that is
//! not this node's are refused.

mod token;
mod error;
mod limits;
mod app;
mod task;
mod routes;

use std::{sync::Arc, time::Duration};

use quorate_host::listen::{BeyondLoopback, Connections, Hosts, Routers, refuse_beyond_loopback};
use tokio::{net::TcpListener, sync::mpsc, time::timeout};

pub use app::TaskOrder;
pub use limits::ApiLimits;
pub use token::{Token, TokenError};

use crate::board::NodeBoard;
use app::App;

/// How the interface behaves.
#[derive(Clone, Debug, Default)]
pub struct ApiSettings {
    /// What who hands in tasks must show. Without one, no task is taken.
    pub token: Option<Token>,
    /// Further names by which clients may call the node (the header `Host`), beside IP addresses and `localhost`.
    pub hosts: Vec<String>,
    /// Allows an address that other machines reach. There is no TLS: put a proxy in front.
    pub beyond_loopback: bool,
    /// Bounds of time and memory.
    pub limits: ApiLimits,
}

/// Why the interface does not listen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Other machines reach the address.
    #[error("{0}, and there is no TLS; listen on 127.0.0.1, or set `beyond_loopback` and put a proxy in front")]
    BeyondLoopback(#[from] BeyondLoopback),
    /// The system does not say what the address is.
    #[error("the listener has no address: {0}")]
    Listener(#[source] std::io::Error),
}

/// Serves a board until `stop` is ready. Then requests in progress are answered, within [`ApiLimits::drain_ms`].
///
/// Tasks go to `tasks`; the node's loop takes them and answers. If the future is dropped, all connections end.
///
/// # Errors
/// [`ServeError`] before anything was accepted. A connection that fails ends alone.
pub async fn serve(
    listener: TcpListener,
    board: NodeBoard,
    tasks: mpsc::Sender<TaskOrder>,
    settings: ApiSettings,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listener)?;
    refuse_beyond_loopback(address, settings.beyond_loopback)?;
    let ApiSettings { token, hosts, limits, .. } = settings;
    let router = routes::router(Arc::new(App { board, tasks, token, limits }));
    let hosts = Hosts { names: hosts.into(), stated_in: "--http-hosts" };
    let connections = Connections::new(limits.bounds(), Some(hosts));
    let _end = connections.abort_on_drop();
    connections.listen_tcp(listener, Routers { running: router, draining: None });
    stop.await;
    // What has not ended by then is cut off.
    let _ = timeout(Duration::from_millis(limits.drain_ms), connections.drain()).await;
    Ok(())
}
