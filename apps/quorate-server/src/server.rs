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
    listen::{Bounds, Connections, Hosts, LoadedTls, Routers, Tls, TlsClients, TlsFiles},
    socket, unix_seconds,
};
use tokio::{
    net::{TcpListener, UnixListener},
    time::{sleep, timeout},
};

use crate::{
    api,
    app::{App, InForce, Parts},
    bans::BansFile,
    board::Board,
    clients::Clients,
    config::{Change, Config, ServerLimits},
    dashboard,
    metrics::Metrics,
};

/// A server that runs.
pub struct Server {
    pub(crate) app: Arc<App>,
    address: Option<SocketAddr>,
    tls_address: Option<SocketAddr>,
    metrics_address: Option<SocketAddr>,
    /// The certificates of the address for TLS.
    tls: Option<Tls>,
}

/// What a reload has changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reloaded {
    /// The fields whose values are others now. What their files hold was read again, whether they have changed or not.
    pub changed: Vec<String>,
    /// The fields whose values would be others after a restart.
    pub waiting: Vec<String>,
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
        let (tcp, address) = bind("listen.address", config.listen.tcp()).await?;
        let (tls_tcp, tls_address) = bind("listen.tls", config.listen.tls_tcp()).await?;
        let (metrics_tcp, metrics_address) = bind("listen.metrics", config.listen.metrics_tcp()).await?;
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
        // Key sets can be large, and whoever waits for the start can give it up meanwhile.
        let read = tokio::task::spawn_blocking(move || -> anyhow::Result<_> {
            let (key_sets, clients) = (load_key_sets(&config)?, load_clients(&config)?);
            let tls = load_tls(&config)?.map(Tls::new);
            let store = open_store(&config)?;
            let board = Board::open(&config.checkpoint)?.map(Arc::new);
            Ok((config, key_sets, clients, tls, store, board))
        });
        let (config, key_sets, clients, tls, store, board) = read.await??;
        let observer: Arc<dyn Observer> = metrics.clone();
        let batcher = Batcher::start_with(config.settings(), store, Some(observer))?;
        let bans = match config.bans() {
            None => None,
            Some(path) => {
                let file = BansFile::restore(&path, batcher.clone(), metrics.clone(), unix_seconds())?;
                tokio::spawn(file.clone().keep(metrics.bans_changed().clone(), unix_seconds));
                Some(file)
            }
        };
        metrics.read_at(unix_seconds());
        let with_metrics = metrics_tcp.is_none();
        let in_force = InForce { config, key_sets, clients };
        let app = Arc::new(App::new(in_force, Parts { batcher, board, bans, metrics, connections }));

        let pages = dashboard::routes();
        let public = Routers {
            running: api::public(&app, pages, with_metrics),
            draining: Some(api::draining(&app, with_metrics)),
        };
        if let Some(listener) = metrics_tcp {
            let running = api::metrics_alone(&app);
            let routers = Routers { draining: Some(running.clone()), running };
            app.connections.with_own(WATCHERS).listen_tcp(listener, routers);
        }
        if let Some(listener) = tcp {
            app.connections.listen_tcp(listener, public.clone());
        }
        if let (Some(listener), Some(tls)) = (tls_tcp, &tls) {
            app.connections.listen_tls(listener, tls.clone(), public.clone());
        }
        if let Some(socket) = claims_socket {
            app.connections.listen_unix(socket, public);
        }
        if let Some(socket) = admin_socket {
            let draining = Some(api::administration_draining(&app));
            administration.listen_unix(socket, Routers { running: api::administration(&app), draining });
        }
        Ok(Self { app, address, tls_address, metrics_address, tls })
    }

    /// The address for TCP, with the port that the system chose.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// The address for TLS, with the port that the system chose.
    #[must_use]
    pub fn tls_address(&self) -> Option<SocketAddr> {
        self.tls_address
    }

    /// The address for metrics, with the port that the system chose.
    #[must_use]
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// What is in force now.
    #[must_use]
    pub fn config(&self) -> Config {
        self.app.in_force().config.clone()
    }

    /// Reads the configuration again, with what its files hold, and puts in force what can change while the server runs. Requests in
    /// progress end as they began.
    ///
    /// # Errors
    /// The configuration cannot be read, makes no sense, or names files that cannot be used. Then everything is as it was.
    pub async fn reload(
        &self,
        read: impl FnOnce() -> anyhow::Result<Config> + Send + 'static,
    ) -> anyhow::Result<Reloaded> {
        let app = self.app.clone();
        // Key sets can be large.
        let read = tokio::task::spawn_blocking(move || -> anyhow::Result<_> {
            let change = app.in_force().config.reloaded(&read()?)?;
            let (key_sets, clients) = (load_key_sets(&change.config)?, load_clients(&change.config)?);
            let tls = load_tls(&change.config)?;
            Ok((change, key_sets, clients, tls))
        });
        let put = async {
            let (Change { config, changed, waiting }, key_sets, clients, loaded) = read.await??;
            // Whatever can fail has not failed from here on.
            self.app.batcher.set_sources(config.settings().sources).context("sources")?;
            self.app.connections.set_bounds(bounds(&config.limits));
            if let (Some(tls), Some(loaded)) = (&self.tls, loaded) {
                tls.set(loaded);
            }
            self.app.put_in_force(InForce { config, key_sets, clients });
            Ok(Reloaded { changed, waiting })
        };
        let put: anyhow::Result<_> = put.await;
        self.app.metrics.reloaded(put.is_ok().then(unix_seconds));
        put
    }

    /// The batcher, for programs that embed a server.
    #[must_use]
    pub fn batcher(&self) -> &Batcher {
        &self.app.batcher
    }

    /// Says that it will stop, and after the configured notice stops: no new claims, an answer to everything that was asked, and then the end, at the latest after the configured time.
    /// Until then, connections that come are told that the server stops. Says whether everything was answered.
    pub async fn stop(self) -> bool {
        let Self { app, .. } = self;
        let drain = app.in_force().config.drain.clone();
        if drain.notice_ms > 0 {
            app.leave();
            sleep(Duration::from_millis(drain.notice_ms)).await;
        }
        let longest = Duration::from_millis(drain.deadline_ms);
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
            let _ = timeout(GRACE, tokio::task::spawn_blocking(move || bans.write(unix_seconds()))).await;
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

/// Listens on an address, if there is one, and says which one it is.
async fn bind(field: &str, address: Option<SocketAddr>) -> anyhow::Result<(Option<TcpListener>, Option<SocketAddr>)> {
    let Some(address) = address else { return Ok((None, None)) };
    let listener = TcpListener::bind(address).await.with_context(|| {
        format!("{field}: cannot listen on {address}; stop what listens there, or choose another port")
    })?;
    let address = listener.local_addr()?;
    Ok((Some(listener), Some(address)))
}

/// Connections to the socket for administration.
const ADMINISTRATORS: usize = 16;

/// Connections to the address for metrics.
const WATCHERS: usize = 16;

/// What the batcher's threads get beside the deadline to end.
const GRACE: Duration = Duration::from_millis(500);

fn load_key_sets(config: &Config) -> anyhow::Result<KeySets> {
    let load = || -> anyhow::Result<KeySets> {
        let files = config.key_sets()?;
        let backend = config.settings().backend;
        let loading = KeySetLoading { suite: config.suite(), backend, threads: config.threads() };
        Ok(KeySets::load(&files, &loading, &mut rand::rng())?)
    };
    load().context("verify.key_sets")
}

fn load_clients(config: &Config) -> anyhow::Result<Clients> {
    Clients::load(&config.clients, &config.tls).context("clients.tokens")
}

/// The certificates of the address for TLS, if there is one. Where clients have tokens too, they need no certificate.
fn load_tls(config: &Config) -> anyhow::Result<Option<LoadedTls>> {
    if config.listen.tls.is_empty() {
        return Ok(None);
    }
    let [certificate, key, authorities] =
        [&config.tls.certificate, &config.tls.key, &config.tls.clients].map(Path::new);
    let clients = match (config.tls.clients.is_empty(), config.clients.tokens.is_empty()) {
        (true, _) => TlsClients::All,
        (false, true) => TlsClients::KnownAlone(authorities),
        (false, false) => TlsClients::Known(authorities),
    };
    let files = TlsFiles { certificate, key, clients };
    LoadedTls::load(&files).context("tls").map(Some)
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
