//! What the server is told: a file, then the environment, then flags; the later one wins.
//!
//! ```
//! use quorate_host::options::Source;
//! use quorate_server::config::Config;
//!
//! let file = "[limits]\nclaims = 500\n";
//! let environment = [("QUORATE_SERVER_LIMITS_CLAIMS".to_owned(), "600".to_owned())];
//! let config = Config::read(Some(Source { name: "server.toml", text: file }), environment, &[])?;
//! assert_eq!(config.limits.claims, 600);
//! # Ok::<(), quorate_host::options::OptionsError>(())
//! ```
//!
//! Every field has a default, so an empty file is a configuration. A field that does not exist is refused by its name.
//!
//! The file is long because every field stands here with its meaning, its default and its check.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    time::Duration,
};

use quorate::{AnySuite, Backend, Soundness, threads::MOST_THREADS};
use quorate_batcher::{Settings, SourceSettings, StoreSettings};
use quorate_formats::{
    array_from_hex,
    key_sets::{KeySetFile, NotAKeySetFile},
};
use quorate_host::{
    check_host_name,
    listen::refuse_beyond_loopback,
    log::{LogFormat, LogLevel},
    options::{self, OptionsError, Source},
};
use serde::{Deserialize, Serialize};

/// Everything that can be configured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where the server listens.
    pub listen: Listen,
    /// How claims are verified.
    pub verify: Verify,
    /// When a source is suspected and banned.
    pub sources: Sources,
    /// What the server remembers.
    pub known: KnownSettings,
    /// Assumed-valid checkpoints: whose are served, and where they are kept.
    pub checkpoint: CheckpointSettings,
    /// What a client may ask for.
    pub limits: ServerLimits,
    /// Who may ask anything.
    pub clients: ServerClients,
    /// The certificates of `listen.tls`.
    pub tls: TlsSettings,
    /// How the server stops.
    pub drain: Drain,
    /// What the server writes about itself.
    pub log: Log,
}

/// Where the server listens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Listen {
    /// The address for TCP. With port 0 the system chooses one. An empty text means none.
    pub address: String,
    /// The address for TCP with TLS, which the section `tls` has the files of. An empty text means none.
    pub tls: String,
    /// Allows addresses that other machines reach. Without TLS and clients, put a proxy in front.
    pub beyond_loopback: bool,
    /// The address for TCP on which nothing is served but `/metrics`, `/livez` and `/readyz`. Then `/metrics` is not served to those who
    /// send claims. An empty text means none.
    pub metrics: String,
    /// Further names by which browsers and clients may call the server (the header `Host`).
    pub hosts: Vec<String>,
    /// The Unix socket for claims. An empty text means none.
    pub socket: String,
    /// The mode of that socket in octal digits.
    pub socket_mode: String,
    /// The Unix socket for administration: bans and pardons. An empty text means none. Its mode is 0600.
    pub admin_socket: String,
}

impl Default for Listen {
    fn default() -> Self {
        Self {
            address: "127.0.0.1:9596".to_owned(),
            tls: String::new(),
            beyond_loopback: false,
            metrics: String::new(),
            hosts: Vec::new(),
            socket: String::new(),
            socket_mode: "0660".to_owned(),
            admin_socket: String::new(),
        }
    }
}

impl Listen {
    /// The address for TCP, if there is one. `Config::check` has found that it is one.
    #[must_use]
    pub fn tcp(&self) -> Option<SocketAddr> {
        self.address.parse().ok()
    }

    /// The address for TLS, if there is one. `Config::check` has found that it is one.
    pub(crate) fn tls_tcp(&self) -> Option<SocketAddr> {
        self.tls.parse().ok()
    }

    /// The address for metrics, if there is one. `Config::check` has found that it is one.
    pub(crate) fn metrics_tcp(&self) -> Option<SocketAddr> {
        self.metrics.parse().ok()
    }

    /// The bits of [`socket_mode`](Self::socket_mode).
    pub(crate) fn mode(&self) -> Option<u32> {
        u32::from_str_radix(&self.socket_mode, 8).ok().filter(|mode| *mode <= 0o777)
    }
}

/// How claims are verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Verify {
    /// The suite of claims that name none, where the request names none either. An empty text means that there is none.
    pub suite: String,
    /// The key sets whose members claims can name: `NAME=FILE` each. FILE is one of `quorate key-set`, or a list with one key in
    /// hexadecimal digits on each line, in the suite of `suite`, whose owners have proven possession.
    pub key_sets: Vec<String>,
    /// Threads that verify. Zero means one for each core.
    pub threads: usize,
    /// `auto`, or the name of a backend.
    pub backend: String,
    /// How unlikely it is that a false claim passes: 64 or 128 bits.
    pub soundness: u32,
    /// The longest that a claim waits for others while a thread is idle. It waits if batches begin so soon after one another that this
    /// takes an eighth of the threads' time: docs/batcher.md, "When a batch closes".
    pub linger_ms: u64,
    /// How long a suspect's claim waits for those of other suspects, and the longest `linger_ms` that has an effect.
    pub longest_wait_ms: u64,
    /// The planned work of a batch, in microseconds of one core.
    pub target_us: u64,
    /// The planned work that may wait for each thread, in microseconds. Beyond it claims are refused.
    pub queue_us: u64,
    /// The most memory that waiting claims take, and the most bytes of messages that are hashed for one.
    pub queue_bytes: usize,
}

impl Default for Verify {
    fn default() -> Self {
        let Settings { longest_wait, linger, target, queue, queue_bytes, .. } = Settings::default();
        Self {
            suite: String::new(),
            key_sets: Vec::new(),
            threads: 0,
            backend: "auto".to_owned(),
            soundness: Soundness::default().bits(),
            longest_wait_ms: longest_wait.as_millis() as u64,
            linger_ms: linger.as_millis() as u64,
            target_us: target.as_micros() as u64,
            queue_us: queue.as_micros() as u64,
            queue_bytes,
        }
    }
}

/// When a source is suspected and banned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sources {
    /// The time in which a score halves.
    pub half_life_s: u64,
    /// The score at which a source shares batches with other suspects alone. A false claim counts 1.
    pub suspect_at: f64,
    /// The score at which a source is banned.
    pub ban_at: f64,
    /// How long a ban lasts.
    pub ban_s: u64,
    /// The largest part of a batch that one source may have, above 0 and up to 1.
    pub share: f64,
    /// The largest part of the time that suspects get while others wait, above 0 and up to 1.
    pub suspects_share: f64,
    /// How many sources with false claims are remembered.
    pub most: usize,
    /// Whether the source that a claim names counts on its connection alone. Then no client can have a source of another one banned,
    /// and a client that connects again begins anew. Claims without a source are always those of their connection.
    pub by_connection: bool,
    /// The file in which bans outlast the server. An empty text means `bans.json` in `known.folder`, and nowhere if there is none.
    pub bans: String,
}

impl Default for Sources {
    fn default() -> Self {
        let SourceSettings { half_life, suspect_at, ban_at, ban, share, suspects_share, most } =
            SourceSettings::default();
        Self {
            half_life_s: half_life.as_secs(),
            suspect_at,
            ban_at,
            ban_s: ban.as_secs(),
            share,
            suspects_share,
            most,
            by_connection: false,
            bans: String::new(),
        }
    }
}

/// What the server remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KnownSettings {
    /// The folder of the store on disk. An empty text means that nothing is kept on disk.
    pub folder: String,
    /// The most statements that are kept in memory, for each variant: keys in G1, keys in G2, BN254.
    pub in_memory: usize,
    /// How many records the store on disk has at most. A million take about 200 MB, on BN254 more.
    pub on_disk: u64,
    /// How long a record of the store counts.
    pub max_age_s: u64,
}

impl Default for KnownSettings {
    fn default() -> Self {
        Self {
            folder: String::new(),
            in_memory: Settings::default().known,
            on_disk: StoreSettings::default().most,
            max_age_s: StoreSettings::default().age.as_secs(),
        }
    }
}

/// Assumed-valid checkpoints. Without the fields `sets`, `pin`, `chain_id` and `folder` the server has none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointSettings {
    /// The file with the sets of signers, as `quorate checkpoint set` and `quorate checkpoint adopt` print it.
    pub sets: String,
    /// The id of the first set in that file: `0x` and 64 hexadecimal digits.
    pub pin: String,
    /// The chain whose checkpoints are taken: `0x` and 64 hexadecimal digits.
    pub chain_id: String,
    /// The folder in which the board is kept.
    pub folder: String,
    /// By how many seconds the clocks of signers may be ahead.
    pub slack_s: u64,
    /// The longest posting, at most 512 KiB.
    pub body_bytes: usize,
    /// Postings in progress at once. One of them is verified at a time.
    pub postings: usize,
}

impl Default for CheckpointSettings {
    fn default() -> Self {
        let text = String::new;
        Self {
            sets: text(),
            pin: text(),
            chain_id: text(),
            folder: text(),
            slack_s: 600,
            body_bytes: LARGEST_POSTING,
            postings: 8,
        }
    }
}

impl CheckpointSettings {
    /// Whether the server has checkpoints.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        self.needed().iter().any(|(_, value)| !value.is_empty())
    }

    /// What must be there if anything is.
    fn needed(&self) -> [(&'static str, &String); 4] {
        [
            ("checkpoint.sets", &self.sets),
            ("checkpoint.pin", &self.pin),
            ("checkpoint.chain_id", &self.chain_id),
            ("checkpoint.folder", &self.folder),
        ]
    }
}

/// No valid posting has more bytes.
const LARGEST_POSTING: usize = 512 << 10;

/// What a client may ask for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerLimits {
    /// Connections at once, over all listeners for claims.
    pub connections: usize,
    /// Requests in progress at once. A client with a name has at most half of them.
    pub requests: usize,
    /// Requests in progress at once on one connection. On HTTP/1 there is one.
    pub requests_per_connection: usize,
    /// The bytes of all requests in progress.
    pub memory_bytes: usize,
    /// The longest body. A stream of lines may be longer.
    pub body_bytes: usize,
    /// The longest line of a stream.
    pub line_bytes: usize,
    /// The longest head of a request.
    pub header_bytes: usize,
    /// Claims in one body. A stream of lines may have more.
    pub claims: usize,
    /// Keys of one claim.
    pub keys: usize,
    /// Claims of one stream that are being verified or wait for their reader.
    pub stream_claims: usize,
    /// The time in which the head of a request must arrive, and the longest pause between two requests.
    pub header_ms: u64,
    /// The time in which a body, or the next line of a stream that is not blank, must arrive.
    pub body_ms: u64,
    /// The time after which a connection is closed on which the client sends nothing.
    pub idle_ms: u64,
    /// The time in which a client must take what it is sent.
    pub write_ms: u64,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 256,
            requests: 128,
            requests_per_connection: 8,
            memory_bytes: 256 << 20,
            body_bytes: 8 << 20,
            line_bytes: 1 << 20,
            header_bytes: 16 << 10,
            claims: 10_000,
            keys: 100_000,
            stream_claims: 1024,
            header_ms: 10_000,
            body_ms: 30_000,
            idle_ms: 60_000,
            write_ms: 20_000,
        }
    }
}

/// Who may ask anything.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerClients {
    /// The file with the names of clients and the hashes of their tokens. With it, whoever shows none of the tokens is refused, and a
    /// client's sources have its name in front. An empty text means that there are no tokens.
    pub tokens: String,
}

/// The certificates of `listen.tls`, as files in PEM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TlsSettings {
    /// The server's certificate, and those between it and an authority.
    pub certificate: String,
    /// The key of that certificate, which nobody else may read.
    pub key: String,
    /// The authorities of clients' certificates. The one DNS name in a certificate is the client's name, which stands in front of its
    /// sources. An empty text means that clients show none.
    pub clients: String,
}

/// How the server stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Drain {
    /// For how long the server says that it will stop, and takes claims all the same, before it stops: so a balancer sends them
    /// elsewhere before one is refused.
    pub notice_ms: u64,
    /// The time in which everything is answered after the signal to stop.
    pub deadline_ms: u64,
}

impl Default for Drain {
    fn default() -> Self {
        Self { notice_ms: 0, deadline_ms: 10_000 }
    }
}

/// What the server writes about itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// `text` or `json`.
    pub format: LogFormat,
    /// What is written: a level, or rules such as `info,quorate_server=debug`.
    pub level: LogLevel,
    /// Where traces go: the address of an OpenTelemetry collector, such as `http://127.0.0.1:4317`. It needs a server that was
    /// built with the feature `otlp`. An empty text means nowhere.
    pub otlp: String,
}

/// What the names of environment variables begin with.
pub const PREFIX: &str = "QUORATE_SERVER_";

/// The fields that a reload changes. The others stay as they were at the start.
pub const RELOADED: [&str; 31] = [
    "verify.suite",
    "verify.key_sets",
    "sources.half_life_s",
    "sources.suspect_at",
    "sources.ban_at",
    "sources.ban_s",
    "sources.share",
    "sources.suspects_share",
    "sources.most",
    "sources.by_connection",
    "limits.connections",
    "limits.requests",
    "limits.requests_per_connection",
    "limits.memory_bytes",
    "limits.body_bytes",
    "limits.line_bytes",
    "limits.header_bytes",
    "limits.claims",
    "limits.keys",
    "limits.stream_claims",
    "limits.header_ms",
    "limits.body_ms",
    "limits.idle_ms",
    "limits.write_ms",
    "clients.tokens",
    "tls.certificate",
    "tls.key",
    "tls.clients",
    "drain.notice_ms",
    "drain.deadline_ms",
    "log.level",
];

/// What a reload makes of a configuration.
#[derive(Debug)]
pub(crate) struct Change {
    /// What is in force then.
    pub(crate) config: Config,
    /// The fields that change.
    pub(crate) changed: Vec<String>,
    /// The fields that would change after a restart.
    pub(crate) waiting: Vec<String>,
}

impl Config {
    /// This configuration with what a reload takes of a new one.
    ///
    /// # Errors
    /// The new one makes no sense, or not together with what stays of this one, or there were clients and would be none.
    pub(crate) fn reloaded(&self, new: &Self) -> Result<Change, OptionsError> {
        let as_json = |config: &Self| {
            serde_json::to_value(config).map_err(|error| OptionsError::refused("configuration", error.to_string()))
        };
        let (mut merged, wanted) = (as_json(self)?, as_json(new)?);
        let (mut changed, mut waiting) = (Vec::new(), Vec::new());
        for (section, fields) in merged.as_object_mut().into_iter().flatten() {
            for (name, value) in fields.as_object_mut().into_iter().flatten() {
                let wanted = &wanted[section][name];
                if value == wanted {
                    continue;
                }
                let field = format!("{section}.{name}");
                if RELOADED.contains(&field.as_str()) {
                    *value = wanted.clone();
                    changed.push(field);
                } else {
                    waiting.push(field);
                }
            }
        }
        let config: Self = serde_json::from_value(merged)
            .map_err(|error| OptionsError::refused("configuration", error.to_string()))?;
        // A file that is empty or cut off reads like one without clients.
        if self.has_clients() && !config.has_clients() {
            let reason = "neither this nor tls.clients names clients any more; restart the server to answer everybody";
            return Err(OptionsError::refused("clients.tokens", reason));
        }
        new.check()?;
        config.check().map_err(|error| match error {
            // The new one alone makes sense, so it is what waits for a restart that contradicts it.
            OptionsError::Refused { origin, reason } => {
                let stays = waiting.join(", ");
                OptionsError::refused(origin, format!("{reason} (with {stays} as at the start; restart the server)"))
            }
            error => error,
        })?;
        Ok(Change { config, changed, waiting })
    }

    /// Reads a file, the environment and flags, each of which is `("section.field", value)`.
    ///
    /// # Errors
    /// [`OptionsError`] names the field: it does not exist, or its value is not what was expected.
    pub fn read(
        file: Option<Source<'_>>,
        environment: impl IntoIterator<Item = (String, String)>,
        flags: &[(String, String)],
    ) -> Result<Self, OptionsError> {
        let config: Self = options::layered(file, PREFIX, environment, flags)?;
        config.check()?;
        Ok(config)
    }

    /// Whether it names clients, so that nobody else is answered.
    fn has_clients(&self) -> bool {
        !self.clients.tokens.is_empty() || !self.tls.clients.is_empty()
    }

    /// The suite of claims that name none.
    #[must_use]
    pub fn suite(&self) -> Option<AnySuite> {
        self.verify.suite.parse().ok()
    }

    /// The files of the key sets. [`check`](Self::check) has found that they are such.
    pub(crate) fn key_sets(&self) -> Result<Vec<KeySetFile>, NotAKeySetFile> {
        self.verify.key_sets.iter().map(|text| text.parse()).collect()
    }

    /// The file of bans, if there is one.
    pub(crate) fn bans(&self) -> Option<PathBuf> {
        match (self.sources.bans.as_str(), self.known.folder.as_str()) {
            ("", "") => None,
            ("", folder) => Some(Path::new(folder).join("bans.json")),
            (file, _) => Some(file.into()),
        }
    }

    /// The backend. [`check`](Self::check) has found that it is here.
    pub(crate) fn backend(&self) -> Option<Backend> {
        self.verify.backend.parse().ok()
    }

    /// How unlikely it is that a false claim passes.
    pub(crate) fn soundness(&self) -> Option<Soundness> {
        match self.verify.soundness {
            64 => Some(Soundness::Bits64),
            128 => Some(Soundness::Bits128),
            _ => None,
        }
    }

    /// Threads that verify.
    pub(crate) fn threads(&self) -> NonZeroUsize {
        NonZeroUsize::new(self.verify.threads)
            .or_else(|| std::thread::available_parallelism().ok())
            .unwrap_or(NonZeroUsize::MIN)
    }

    /// The settings of the batcher.
    pub(crate) fn settings(&self) -> Settings {
        let Self { verify, sources, known, .. } = self;
        let defaults = Settings::default();
        Settings {
            threads: self.threads(),
            soundness: self.soundness().unwrap_or(defaults.soundness),
            backend: self.backend().unwrap_or(defaults.backend),
            longest_wait: Duration::from_millis(verify.longest_wait_ms),
            linger: Duration::from_millis(verify.linger_ms),
            target: Duration::from_micros(verify.target_us),
            queue: Duration::from_micros(verify.queue_us),
            queue_bytes: verify.queue_bytes,
            sources: SourceSettings {
                half_life: Duration::from_secs(sources.half_life_s),
                suspect_at: sources.suspect_at,
                ban_at: sources.ban_at,
                ban: Duration::from_secs(sources.ban_s),
                share: sources.share,
                suspects_share: sources.suspects_share,
                most: sources.most,
            },
            known: known.in_memory,
        }
    }

    /// Refuses values that have the right type and make no sense.
    fn check(&self) -> Result<(), OptionsError> {
        let Self { listen, verify, sources, known, checkpoint, limits, clients: _, tls, drain, log } = self;
        let wrong = |field: &str, found: &dyn std::fmt::Debug, expected: &str| {
            Err(OptionsError::refused(field, format!("found {found:?}, expected {expected}")))
        };
        for (field, text, parsed, is_safe) in [
            ("listen.address", &listen.address, listen.tcp(), false),
            ("listen.tls", &listen.tls, listen.tls_tcp(), self.has_clients()),
            ("listen.metrics", &listen.metrics, listen.metrics_tcp(), false),
        ] {
            let Some(address) = parsed else {
                if text.is_empty() {
                    continue;
                }
                return wrong(field, text, "an IP address and a port, such as 127.0.0.1:9596");
            };
            if refuse_beyond_loopback(address, listen.beyond_loopback || is_safe).is_err() {
                return wrong(
                    field,
                    text,
                    "an address of this machine alone, such as 127.0.0.1:9596; only listen.tls with clients.tokens or tls.clients is \
                     safe to reach for others, so set listen.beyond_loopback only where a proxy or a container stands in front",
                );
            }
        }
        if listen.address.is_empty() && listen.socket.is_empty() && listen.tls.is_empty() {
            return wrong("listen", &"no address and no socket", "listen.address, listen.tls or listen.socket");
        }
        if let Some(error) = listen.hosts.iter().find_map(|host| check_host_name(host).err()) {
            return Err(OptionsError::refused("listen.hosts", error.to_string()));
        }
        let files = [("tls.certificate", &tls.certificate), ("tls.key", &tls.key)];
        if listen.tls.is_empty() {
            let unused = files.into_iter().chain([("tls.clients", &tls.clients)]).find(|(_, file)| !file.is_empty());
            if let Some((field, file)) = unused {
                return wrong(field, file, "nothing, because listen.tls is empty; give it an address");
            }
        } else if let Some((field, file)) = files.into_iter().find(|(_, file)| file.is_empty()) {
            return wrong(field, file, "a file, because listen.tls has an address");
        }
        if listen.mode().is_none() {
            return wrong("listen.socket_mode", &listen.socket_mode, "octal digits such as 0600 or 0660");
        }
        let paths: Vec<PathBuf> = [&listen.socket, &listen.admin_socket]
            .into_iter()
            .filter(|path| !path.is_empty())
            .map(Into::into)
            .collect();
        if paths.iter().collect::<BTreeSet<_>>().len() < paths.len() {
            return wrong("listen.admin_socket", &listen.admin_socket, "another path than listen.socket");
        }
        if !verify.suite.is_empty()
            && let Err(error) = verify.suite.parse::<AnySuite>()
        {
            return Err(OptionsError::refused("verify.suite", error.to_string()));
        }
        if let Err(error) = self.key_sets() {
            return Err(OptionsError::refused("verify.key_sets", error.to_string()));
        }
        if let Err(error) = verify.backend.parse::<Backend>() {
            return Err(OptionsError::refused("verify.backend", error.to_string()));
        }
        if self.soundness().is_none() {
            return wrong("verify.soundness", &verify.soundness, "64 or 128");
        }
        if verify.threads > MOST_THREADS {
            let allowed = format!("at most {MOST_THREADS}, or 0 for one for each core");
            return wrong("verify.threads", &verify.threads, &allowed);
        }
        for (field, value) in [("sources.suspect_at", sources.suspect_at), ("sources.ban_at", sources.ban_at)] {
            if !(value.is_finite() && value > 0.0) {
                return wrong(field, &value, "a number above 0");
            }
        }
        if sources.ban_at < sources.suspect_at {
            return wrong("sources.ban_at", &sources.ban_at, "at least sources.suspect_at");
        }
        for (field, value) in [("sources.share", sources.share), ("sources.suspects_share", sources.suspects_share)] {
            if !(value > 0.0 && value <= 1.0) {
                return wrong(field, &value, "a number above 0 and up to 1");
            }
        }
        let at_least_one: [(&str, u64); 26] = [
            ("verify.longest_wait_ms", verify.longest_wait_ms),
            ("verify.target_us", verify.target_us),
            ("verify.queue_us", verify.queue_us),
            ("verify.queue_bytes", verify.queue_bytes as u64),
            ("sources.half_life_s", sources.half_life_s),
            ("sources.ban_s", sources.ban_s),
            ("sources.most", sources.most as u64),
            ("known.in_memory", known.in_memory as u64),
            ("known.on_disk", known.on_disk),
            ("known.max_age_s", known.max_age_s),
            ("checkpoint.body_bytes", checkpoint.body_bytes as u64),
            ("checkpoint.postings", checkpoint.postings as u64),
            ("limits.connections", limits.connections as u64),
            ("limits.requests", limits.requests as u64),
            ("limits.requests_per_connection", limits.requests_per_connection as u64),
            ("limits.memory_bytes", limits.memory_bytes as u64),
            ("limits.body_bytes", limits.body_bytes as u64),
            ("limits.line_bytes", limits.line_bytes as u64),
            ("limits.claims", limits.claims as u64),
            ("limits.keys", limits.keys as u64),
            ("limits.stream_claims", limits.stream_claims as u64),
            ("limits.header_ms", limits.header_ms),
            ("limits.body_ms", limits.body_ms),
            ("limits.idle_ms", limits.idle_ms),
            ("limits.write_ms", limits.write_ms),
            ("drain.deadline_ms", drain.deadline_ms),
        ];
        if let Some((field, value)) = at_least_one.into_iter().find(|(_, value)| *value == 0) {
            return wrong(field, &value, "at least 1");
        }
        if checkpoint.is_configured() {
            if let Some((field, value)) = checkpoint.needed().into_iter().find(|(_, value)| value.is_empty()) {
                let expected = "a value, because another field of [checkpoint] has one; docs/checkpoints.md says how to set them up";
                return wrong(field, value, expected);
            }
            for (field, value) in [("checkpoint.pin", &checkpoint.pin), ("checkpoint.chain_id", &checkpoint.chain_id)] {
                array_from_hex::<32>(value).map_err(|error| OptionsError::refused(field, error.to_string()))?;
            }
        }
        if checkpoint.body_bytes > LARGEST_POSTING {
            return wrong("checkpoint.body_bytes", &checkpoint.body_bytes, "at most 524288");
        }
        if limits.header_bytes < 8192 {
            return wrong("limits.header_bytes", &limits.header_bytes, "at least 8192");
        }
        for (field, value) in [
            ("limits.body_bytes", limits.body_bytes),
            ("limits.line_bytes", limits.line_bytes),
            ("checkpoint.body_bytes", checkpoint.body_bytes),
        ] {
            if value > limits.memory_bytes {
                return wrong(field, &value, "at most limits.memory_bytes");
            }
        }
        if limits.memory_bytes > u32::MAX as usize {
            return wrong("limits.memory_bytes", &limits.memory_bytes, "less than 4 GiB");
        }
        let year_s = 366 * 86_400;
        for (field, value, in_a_second) in [
            ("verify.longest_wait_ms", verify.longest_wait_ms, 1000),
            ("verify.linger_ms", verify.linger_ms, 1000),
            ("verify.target_us", verify.target_us, 1_000_000),
            ("verify.queue_us", verify.queue_us, 1_000_000),
            ("sources.half_life_s", sources.half_life_s, 1),
            ("sources.ban_s", sources.ban_s, 1),
            ("checkpoint.slack_s", checkpoint.slack_s, 1),
            ("limits.header_ms", limits.header_ms, 1000),
            ("limits.body_ms", limits.body_ms, 1000),
            ("limits.idle_ms", limits.idle_ms, 1000),
            ("limits.write_ms", limits.write_ms, 1000),
            ("drain.notice_ms", drain.notice_ms, 1000),
            ("drain.deadline_ms", drain.deadline_ms, 1000),
        ] {
            let most: u64 = year_s * in_a_second;
            if value > most {
                return wrong(field, &value, &format!("at most {most}, which is a year"));
            }
        }
        if !log.otlp.is_empty() && !cfg!(feature = "otlp") {
            return wrong("log.otlp", &log.otlp, "nothing; this server was built without the feature `otlp`");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> Result<Config, OptionsError> {
        Config::read(Some(Source { name: "server.toml", text }), [], &[])
    }

    fn variable(name: &str, value: &str) -> [(String, String); 1] {
        [(format!("{PREFIX}{name}"), value.to_owned())]
    }

    #[test]
    fn what_is_printed_is_read_back() {
        let text = "[listen]\nsocket = \"/run/q \\\" é\"\nhosts = [\"a\", \"b\"]\n[sources]\nban_at = 7.5\n[log]\nformat = \"json\"\n";
        let config = file(text).unwrap();
        assert_eq!(file(&options::to_toml(&config)).unwrap(), config);
        assert_eq!(config.listen.hosts, ["a", "b"]);
        assert_eq!(file(&options::to_toml(&Config::default())).unwrap(), Config::default());
    }

    #[test]
    fn a_wrong_field_is_refused_with_its_name() {
        let error = file("[limits]\nclaim = 3\n").unwrap_err().to_string();
        assert!(error.starts_with("server.toml: ") && error.contains("claim") && error.contains("line 2"), "{error}");
        let error = file("[limits]\nclaims = \"3\"\n").unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("claims = "), "{error}");
        for (name, value, expected) in [
            ("LIMITS_CLAIM", "3", "there is no field \"limits.claim\"; expected one of"),
            ("LIMIT_CLAIMS", "3", "expected one of checkpoint.…"),
            ("LIMITS", "3", "there is no field \"limits\""),
            ("LIMITS_CLAIMS", "many", "found \"many\", expected a whole number"),
            ("LIMITS_CLAIMS", "-1", "limits"),
            ("LIMITS_CLAIMS", "1\ny = 2", "expected a whole number"),
            ("LOG_FORMAT", "xml", "xml"),
            ("LISTEN_BEYOND_LOOPBACK", "yes", "expected true or false"),
        ] {
            let error = Config::read(None, variable(name, value), &[]).unwrap_err().to_string();
            assert!(error.contains(&format!("{PREFIX}{name}: ")) && error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_reload_takes_the_fields_of_its_list_and_names_the_others() {
        let old = Config::default();
        let mut new = old.clone();
        new.limits.claims = 7;
        new.sources.ban_at = 9.5;
        new.verify.key_sets = vec!["a=b".to_owned()];
        new.verify.threads = 3;
        new.listen.address = "127.0.0.1:1".to_owned();
        let Change { config, changed, waiting } = old.reloaded(&new).unwrap();
        assert_eq!(changed, ["limits.claims", "sources.ban_at", "verify.key_sets"]);
        assert_eq!(waiting, ["listen.address", "verify.threads"]);
        assert_eq!((config.limits.claims, config.sources.ban_at, config.verify.threads), (7, 9.5, 0));
        assert_eq!(config.listen, old.listen);
        // What the new file says alone makes sense, and with what stays of the old one it does not.
        new = old.clone();
        new.checkpoint.body_bytes = 1000;
        new.limits = ServerLimits { memory_bytes: 8192, body_bytes: 8192, line_bytes: 8192, ..ServerLimits::default() };
        new.check().unwrap();
        let error = old.reloaded(&new).unwrap_err().to_string();
        assert!(error.starts_with("checkpoint.body_bytes"), "{error}");
        assert!(error.ends_with("(with checkpoint.body_bytes as at the start; restart the server)"), "{error}");
        // What makes no sense alone needs no restart, but another file.
        new.limits.claims = 0;
        assert_eq!(old.reloaded(&new).unwrap_err().to_string(), "limits.claims: found 0, expected at least 1");
    }

    /// The error said that the file has no address for TLS, which it has.
    #[test]
    fn a_reload_that_turns_tls_on_or_off_says_restart() {
        let without = Config::default();
        let mut with = Config::default();
        with.listen.tls = "127.0.0.1:9597".to_owned();
        (with.tls.certificate, with.tls.key) = ("crt.pem".to_owned(), "key.pem".to_owned());
        for (old, new) in [(&without, &with), (&with, &without)] {
            let error = old.reloaded(new).unwrap_err().to_string();
            assert!(error.starts_with("tls.certificate: "), "{error}");
            assert!(error.ends_with("(with listen.tls as at the start; restart the server)"), "{error}");
        }
    }

    #[test]
    fn the_list_of_a_reload_has_fields_that_exist() {
        let fields = serde_json::to_value(Config::default()).unwrap();
        for field in RELOADED {
            let (section, name) = field.split_once('.').unwrap();
            assert!(!fields[section][name].is_null(), "{field}");
        }
        // Each limit and each threshold is in it.
        let in_list =
            |section: &str, but: &[&str]| {
                fields[section].as_object().unwrap().keys().all(|name| {
                    but.contains(&name.as_str()) || RELOADED.contains(&format!("{section}.{name}").as_str())
                })
            };
        assert!(in_list("limits", &[]) && in_list("sources", &["bans"]) && in_list("drain", &[]));
    }

    #[test]
    fn values_that_make_no_sense_are_refused_by_name() {
        for (field, value) in [
            ("listen.address", "localhost"),
            ("listen.address", "0.0.0.0:80"),
            ("listen.address", ""),
            ("listen.metrics", "9597"),
            ("tls.certificate", "crt.pem"),
            ("listen.metrics", "0.0.0.0:9597"),
            ("listen.hosts", "verifier.example:9596"),
            ("listen.hosts", "https://verifier.example"),
            ("listen.socket_mode", "rw"),
            ("listen.socket_mode", "7777"),
            ("verify.suite", "eth3"),
            ("verify.key_sets", "validators"),
            ("verify.backend", "gpu"),
            ("verify.soundness", "65"),
            ("verify.threads", "100000"),
            ("verify.queue_us", "0"),
            ("sources.share", "1.5"),
            ("sources.share", "nan"),
            ("sources.ban_at", "0.001"),
            ("sources.suspects_share", "0"),
            ("checkpoint.sets", "sets.json"),
            ("checkpoint.pin", "0x00"),
            ("checkpoint.body_bytes", "600000"),
            ("checkpoint.postings", "0"),
            ("limits.claims", "0"),
            ("limits.header_bytes", "1"),
            ("limits.body_bytes", "999999999999"),
            ("limits.memory_bytes", "999999999999"),
            ("limits.idle_ms", "9223372036854775807"),
            ("log.level", "loud=very=much"),
        ] {
            let error = Config::read(None, [], &[(field.to_owned(), value.to_owned())]).unwrap_err().to_string();
            assert!(
                error.contains(field) || error.starts_with("listen: ") || error.starts_with("checkpoint."),
                "{field} = {value}: {error}"
            );
        }
        // In the unit of the field.
        let long = [("limits.idle_ms".to_owned(), "99999999999999999".to_owned())];
        assert_eq!(
            Config::read(None, [], &long).unwrap_err().to_string(),
            "limits.idle_ms: found 99999999999999999, expected at most 31622400000, which is a year"
        );
        let same = [("listen.socket", "/a"), ("listen.admin_socket", "/a")].map(|(f, v)| (f.to_owned(), v.to_owned()));
        assert!(Config::read(None, [], &same).unwrap_err().to_string().starts_with("listen.admin_socket"));
        let board = [
            ("checkpoint.sets", "sets.json"),
            ("checkpoint.pin", "0x12"),
            ("checkpoint.chain_id", &format!("0x{}", "c1".repeat(32))),
            ("checkpoint.folder", "board"),
        ];
        let board = board.map(|(f, v)| (f.to_owned(), v.to_owned()));
        let error = Config::read(None, [], &board).unwrap_err().to_string();
        assert_eq!(error, "checkpoint.pin: found 2 hexadecimal digits, expected 64");
        let open = [("listen.address", "0.0.0.0:80"), ("listen.beyond_loopback", "true")];
        let open = open.map(|(f, v)| (f.to_owned(), v.to_owned()));
        assert!(Config::read(None, [], &open).is_ok());
    }
}
