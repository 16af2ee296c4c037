//! A server in this process, and a client that writes bytes.

use std::{
    fmt::Debug,
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    time::{Duration, Instant},
};

use quorate_host::file::{Existing, Readers};
use quorate_server::{Reloaded, Server, config::Config};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{runtime::Runtime, sync::oneshot};

/// A server with a TCP port and both sockets.
pub(crate) struct Rig {
    server: Option<Server>,
    runtime: Runtime,
    folder: TempDir,
    pub(crate) address: SocketAddr,
}

impl Rig {
    pub(crate) fn start() -> Self {
        Self::with(|_| {})
    }

    /// A server whose configuration was changed.
    pub(crate) fn with(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::default();
        config.listen.address = "127.0.0.1:0".to_owned();
        config.listen.socket = path(folder.path(), "claims");
        config.listen.admin_socket = path(folder.path(), "admin");
        // A machine that runs many tests is slow, and no test here is about a full queue or a late client unless it says so.
        config.verify.queue_us = 10_000_000;
        let limits = &mut config.limits;
        for limit in [&mut limits.header_ms, &mut limits.body_ms, &mut limits.idle_ms, &mut limits.write_ms] {
            *limit = LONG_MS;
        }
        // It ends all the same if a test has left a request open.
        config.drain.deadline_ms = LONG_MS / 4;
        change(&mut config);
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(Server::start(config)).unwrap();
        let address = server.address().unwrap();
        Self { server: Some(server), runtime, folder, address }
    }

    pub(crate) fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(crate) fn socket_path(&self, name: &str) -> String {
        path(self.folder.path(), name)
    }

    pub(crate) fn socket(&self, name: &str) -> UnixStream {
        let stream = UnixStream::connect(self.socket_path(name)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        get(self.tcp(), path)
    }

    /// Sends JSON to `/v1/verify`.
    pub(crate) fn verify(&self, body: &str) -> Answer {
        self.post("/v1/verify", "application/json", body)
    }

    pub(crate) fn post(&self, path: &str, content_type: &str, body: impl AsRef<[u8]>) -> Answer {
        post(self.tcp(), path, content_type, body.as_ref())
    }

    pub(crate) fn admin(&self, path: &str, body: &str) -> Answer {
        post(self.socket("admin"), path, "application/json", body.as_bytes())
    }

    /// Reads a changed configuration, as SIGHUP does.
    pub(crate) fn reload(&self, change: impl FnOnce(&mut Config) + Send + 'static) -> anyhow::Result<Reloaded> {
        let server = self.server.as_ref().unwrap();
        let mut config = server.config();
        self.runtime.block_on(server.reload(move || {
            change(&mut config);
            Ok(config)
        }))
    }

    pub(crate) fn tls_address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().tls_address().unwrap()
    }

    /// Reads something on the socket for administration.
    pub(crate) fn admin_get(&self, path: &str) -> Answer {
        get(self.socket("admin"), path)
    }

    /// Whether so many requests are in progress. It asks on the socket for administration, where no place is taken from a client.
    pub(crate) fn is_asked(&self, requests: usize) -> bool {
        self.admin_get("/metrics").body.contains(&format!("quorate_requests_in_progress {requests}\n"))
    }

    /// A connection to the address for metrics.
    pub(crate) fn metrics_tcp(&self) -> TcpStream {
        TcpStream::connect(self.server.as_ref().unwrap().metrics_address().unwrap()).unwrap()
    }

    /// Writes a file that nobody else reads, beside the sockets.
    pub(crate) fn secret(&self, name: &str, content: &str) -> String {
        secret(self.folder.path(), name, content)
    }

    /// Stops the server, and says whether everything was answered.
    pub(crate) fn stop(mut self) -> bool {
        self.runtime.block_on(self.server.take().unwrap().stop())
    }

    /// Stops the server, at the longest until the sender of `over` is dropped.
    pub(crate) fn stop_until(mut self, over: oneshot::Receiver<()>) {
        let server = self.server.take().unwrap();
        self.runtime.block_on(async {
            tokio::select! {
                _ = server.stop() => {}
                _ = over => {}
            }
        });
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            self.runtime.block_on(server.stop());
        }
    }
}

/// A test that waits this long has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(180);

/// A limit that no test reaches: it is longer than [`PATIENCE`]. In milliseconds.
pub(crate) const LONG_MS: u64 = 600_000;

/// Writes a file that nobody else reads.
pub(crate) fn secret(folder: &Path, name: &str, content: &str) -> String {
    let path = path(folder, name);
    quorate_host::file::write(path.as_ref(), Readers::Owner, Existing::Replace, content.as_bytes()).unwrap();
    path
}

pub(crate) fn get(stream: impl Read + Write + Debug, path: &str) -> Answer {
    ask(stream, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"), b"")
}

pub(crate) fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

/// A file of `examples/`.
pub(crate) fn example(name: &str) -> String {
    fs::read_to_string(quorate_lab::needs::example(name)).unwrap()
}

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The lines, in the order of their indices.
    pub(crate) fn lines(&self) -> Vec<Value> {
        let mut lines: Vec<Value> = self.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.sort_by_key(|line| line["index"].as_u64().unwrap_or(u64::MAX));
        lines
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

pub(crate) fn post(stream: impl Read + Write + Debug, path: &str, content_type: &str, body: &[u8]) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {content_type}\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    ask(stream, &head, body)
}

pub(crate) fn ask(mut stream: impl Read + Write + Debug, head: &str, body: &[u8]) -> Answer {
    stream.write_all(head.as_bytes()).unwrap();
    // The server may answer and close before it has read everything.
    let _ = stream.write_all(body);
    answer(stream)
}

/// Reads an answer up to the end of the connection.
pub(crate) fn answer(mut stream: impl Read) -> Answer {
    let mut bytes = Vec::new();
    // A connection that was closed with something unread is reset after its answer.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    Answer { status, head: head.to_lowercase(), body: if chunked { unchunked(body) } else { body.to_owned() } }
}

fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            break;
        }
        whole.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    whole
}

/// Waits until something is so.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
