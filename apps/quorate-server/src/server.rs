//! A server: it starts, listens, and stops without leaving anyone unanswered.

use std::{
    net::SocketAddr,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use quorate_batcher::{Batcher, KnownStore, Observer, OpenedStore, StoreSettings};
use quorate_formats::key_sets::{KeySetLoading, KeySets};
use quorate_host::{
    listen::{Bounds, Connections, Hosts, Routers},
    socket,
};
use tokio::{
    net::{TcpListener, UnixListener},
    time::timeout,
};

use crate::{
    api,
    app::App,
    bans::BansFile,
    board::{self, Board},
    budget::Budget,
    config::{Config, ServerLimits},
    dashboard,
    metrics::Metrics,
};

/// A server that runs.
pub struct Server {
    pub(crate) app: Arc<App>,
    address: Option<SocketAddr>,
}

impl Server {
    /// Starts to listen, and to verify.
    ///
    /// # Errors
    /// An address or a socket cannot be listened on, or the store of known statements or a key set cannot be used.
    pub async fn start(config: Config) -> anyhow::Result<Self> {
        let hosts = Hosts { names: config.listen.hosts.as_slice().into(), stated_in: "listen.hosts" };
        let connections = Connections::new(bounds(&config.limits), Some(hosts));
        let administration = connections.with_own(ADMINISTRATORS);

        // Everything that can fail comes before the first connection is accepted.
        let tcp = match config.listen.tcp() {
            None => None,
            Some(address) => Some(TcpListener::bind(address).await.with_context(|| {
                format!("listen.address: cannot listen on {address}; stop what listens there, or choose another port")
            })?),
        };
        let address = tcp.as_ref().map(TcpListener::local_addr).transpose()?;
        let mode = config.listen.mode().context("listen.socket_mode: expected octal digits")?;
        let socket = |path: &str, mode| -> anyhow::Result<_> {
            if path.is_empty() {
                return Ok(None);
            }
            let (listener, file) = socket::listen(Path::new(path), mode)?;
            Ok(Some((UnixListener::from_std(listener)?, file)))
        };
        let claims_socket = socket(&config.listen.socket, mode).context("listen.socket")?;
        let admin_socket = socket(&config.listen.admin_socket, 0o600).context("listen.admin_socket")?;

        let metrics = Arc::new(Metrics::new());
        let key_sets = load_key_sets(&config).context("verify.key_sets")?;
        let store = open_store(&config)?;
        let board = Board::open(&config.checkpoint)?.map(Arc::new);
        let observer: Arc<dyn Observer> = metrics.clone();
        let batcher = Batcher::start_with(config.settings(), store, Some(observer))?;
        let bans = match config.bans() {
            None => None,
            Some(path) => {
                let file = BansFile::restore(&path, batcher.clone(), metrics.clone(), board::now())?;
                tokio::spawn(file.clone().keep(metrics.bans_changed().clone(), board::now));
                Some(file)
            }
        };
        let app = Arc::new(App {
            budget: Budget::new(&config.limits),
            config: Arc::new(config),
            key_sets,
            batcher,
            board,
            bans,
            metrics,
            connections,
            started: Instant::now(),
        });

        let public = Routers { running: api::public(&app, dashboard::routes()), draining: Some(api::draining(&app)) };
        if let Some(listener) = tcp {
            app.connections.listen_tcp(listener, public.clone());
        }
        if let Some(socket) = claims_socket {
            app.connections.listen_unix(socket, public.clone());
        }
        if let Some(socket) = admin_socket {
            administration.listen_unix(socket, Routers { running: api::administration(&app), ..public });
        }
        Ok(Self { app, address })
    }

    /// The address for TCP, with the port that the system chose.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// What runs in it.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.app.config
    }

    /// The batcher, for programs that embed a server.
    #[must_use]
    pub fn batcher(&self) -> &Batcher {
        &self.app.batcher
    }

    /// Stops: no new claims, an answer to everything that was asked, and then the end, at the latest after the configured time.
    /// Until then, connections that come are told that the server stops. Says whether everything was answered.
    pub async fn stop(self) -> bool {
        let Self { app, .. } = self;
        let longest = Duration::from_millis(app.config.drain.deadline_ms);
        let by = Instant::now() + longest;
        // What the batcher has not answered after this part of the time, it refuses, so that the refusal can still be sent.
        let answered = timeout(longest.mul_f64(0.8), app.connections.drain()).await.is_ok();
        let batcher = app.batcher.clone();
        // It waits for its threads.
        let stopped = tokio::task::spawn_blocking(move || batcher.stop(by));
        let left = || by.saturating_duration_since(Instant::now());
        let all = answered || timeout(left(), app.connections.drain()).await.is_ok();
        // If it takes longer, the process ends around it.
        let _ = timeout(left() + GRACE, stopped).await;
        if let Some(bans) = app.bans.clone() {
            // What fails was logged.
            let _ = timeout(GRACE, tokio::task::spawn_blocking(move || bans.write(board::now()))).await;
        }
        // Those who asked last whether the server is ready get their answer.
        let _ = timeout(GRACE, app.connections.end()).await;
        app.connections.abort();
        all
    }
}

/// What the limits say of connections.
fn bounds(limits: &ServerLimits) -> Bounds {
    Bounds {
        connections: limits.connections,
        streams: Some(u32::try_from(limits.requests_per_connection).unwrap_or(u32::MAX)),
        head_bytes: limits.header_bytes,
        head: Duration::from_millis(limits.header_ms),
        idle: Duration::from_millis(limits.idle_ms),
        write: Duration::from_millis(limits.write_ms),
        longest: None,
    }
}

/// Connections to the socket for administration.
const ADMINISTRATORS: usize = 16;

/// What the batcher's threads get beside the deadline to end.
const GRACE: Duration = Duration::from_millis(500);

fn load_key_sets(config: &Config) -> anyhow::Result<KeySets> {
    let files = config.key_sets()?;
    let backend = config.settings().backend;
    let loading = KeySetLoading { suite: config.suite(), backend, threads: config.threads() };
    Ok(KeySets::load(&files, &loading, &mut rand::rng())?)
}

fn open_store(config: &Config) -> anyhow::Result<Option<KnownStore>> {
    if config.known.folder.is_empty() {
        return Ok(None);
    }
    let settings = StoreSettings { age: Duration::from_secs(config.known.max_age_s), most: config.known.on_disk };
    let (store, opened) = KnownStore::open(Path::new(&config.known.folder), settings).context("known.folder")?;
    match opened {
        OpenedStore::SetAside { to, why } => tracing::warn!(
            path = %to.display(),
            why,
            "the store of known statements could not be opened; it was set aside, and an empty one begun"
        ),
        OpenedStore::Existing { records } => tracing::info!(records, "the store of known statements is open"),
        _ => {}
    }
    Ok(Some(store))
}
