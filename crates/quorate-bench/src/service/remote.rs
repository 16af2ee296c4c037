//! `quorate-server` as a process of its own, over HTTP on loopback and over a Unix socket: one stream of claims as JSON
//! lines each, verdicts back as they come.

use std::{
    collections::HashMap,
    convert::Infallible,
    future::Future,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use hyper::{Request, body::Frame};
use hyper_util::rt::TokioIo;
use quorate::{ClaimBytes, Messages, Reason, Verdict};
use quorate_batcher::{Answer, Refused};
use serde::Deserialize;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    runtime::Runtime,
    sync::{mpsc, oneshot},
};

use super::load::Target;
use crate::built::beside;

/// A server that this program started, and stops.
pub(crate) struct ServerProcess {
    child: Child,
    folder: PathBuf,
    address: String,
}

impl ServerProcess {
    /// Starts the `quorate-server` that was built beside this program.
    pub(crate) fn start(threads: usize) -> Result<Self> {
        let program = beside("quorate-server", "-p quorate-server")?;
        let folder = std::env::temp_dir().join(format!("quorate-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let free = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let child = Command::new(&program)
            .args(["--listen", &free.to_string(), "--socket"])
            .arg(folder.join("claims.sock"))
            .args(["--threads", &threads.to_string(), "--log", "text"])
            // A claim that comes again is verified again: a memory of one statement holds none.
            .args(["--set", "known.in_memory=1", "--set", "limits.stream_claims=100000", "--set", "log.level=error"])
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let server = Self { child, folder, address: free.to_string() };
        let start = Instant::now();
        while std::net::TcpStream::connect(&server.address).is_err() {
            ensure!(start.elapsed() < Duration::from_secs(10), "{} does not listen", program.display());
            thread::sleep(Duration::from_millis(5));
        }
        Ok(server)
    }

    /// A stream over TCP.
    pub(crate) fn http(&self, claims: &[ClaimBytes]) -> Result<Remote> {
        let address = self.address.clone();
        Remote::open(claims, async move { Ok(TcpStream::connect(address).await?) })
    }

    /// A stream over the Unix socket.
    pub(crate) fn unix(&self, claims: &[ClaimBytes]) -> Result<Remote> {
        let path = self.folder.join("claims.sock");
        Remote::open(claims, async move { Ok(UnixStream::connect(path).await?) })
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // It is ours, and nothing of it is kept.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// One stream of claims.
pub(crate) struct Remote {
    lines: Vec<Bytes>,
    state: Arc<Mutex<State>>,
    to_server: mpsc::UnboundedSender<Bytes>,
    /// Its thread reads and writes the socket.
    _runtime: Runtime,
}

#[derive(Default)]
struct State {
    /// The index of the next line of the stream.
    next: u64,
    waiting: HashMap<u64, oneshot::Sender<Answer>>,
}

/// A line of an answer.
#[derive(Deserialize)]
struct Line {
    index: u64,
    valid: bool,
    refused: Option<String>,
}

impl Remote {
    fn open<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
        claims: &[ClaimBytes],
        connect: impl Future<Output = Result<S>>,
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let (to_server, mut lines) = mpsc::unbounded_channel::<Bytes>();
        let pieces = futures_util::stream::poll_fn(move |context| {
            let line = lines.poll_recv(context);
            line.map(|line| line.map(|line| Ok::<_, Infallible>(Frame::data(line))))
        });
        let state = Arc::new(Mutex::new(State::default()));
        let stream = runtime.block_on(connect)?;
        let answers = state.clone();
        runtime.spawn(async move {
            if let Err(error) = converse(stream, StreamBody::new(pieces), &answers).await {
                eprintln!("the stream ended: {error:#}");
            }
            // Who still waits is told by the end of its channel.
            answers.lock().expect("no task panicked").waiting.clear();
        });
        let lines = claims.iter().map(line).collect();
        Ok(Self { lines, state, to_server, _runtime: runtime })
    }
}

async fn converse<S, B>(stream: S, body: B, answers: &Mutex<State>) -> Result<()>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    B: hyper::body::Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = Request::post("/v1/verify?class=gossip")
        .header("host", "localhost")
        .header("content-type", "application/x-ndjson")
        .body(body)?;
    let response = sender.send_request(request).await?;
    if response.status() != 200 {
        bail!("the server answered {}", response.status());
    }
    let (mut body, mut rest) = (response.into_body(), Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        rest.extend_from_slice(&data);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else { continue };
        for text in rest[..end].split(|byte| *byte == b'\n') {
            let Line { index, valid, refused } = serde_json::from_slice(text)
                .with_context(|| format!("the server answered {}", String::from_utf8_lossy(text)))?;
            let answer = match (valid, refused.as_deref()) {
                (true, None) => Ok(Verdict::Valid),
                (false, None) => Ok(Verdict::Invalid(Reason::Mismatch)),
                (false, Some("overloaded")) => Err(Refused::Overloaded),
                (false, Some("banned")) => Err(Refused::Banned),
                other => bail!("an answer that nobody expects: {other:?}"),
            };
            if let Some(asker) = answers.lock().expect("no task panicked").waiting.remove(&index) {
                // The load may have ended.
                let _ = asker.send(answer);
            }
        }
        rest.drain(..=end);
    }
    Ok(())
}

impl Target for Remote {
    fn submit(&self, index: usize) -> impl Future<Output = Answer> + Send + 'static {
        let (asker, answer) = oneshot::channel();
        let mut state = self.state.lock().expect("no task panicked");
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number, asker);
        // In the order of the numbers, so under the lock.
        let sent = self.to_server.send(self.lines[index].clone());
        drop(state);
        async move {
            match (sent, answer.await) {
                (Ok(()), Ok(answer)) => answer,
                _ => Err(Refused::Failed),
            }
        }
    }
}

/// The claim as a line of JSON.
fn line(claim: &ClaimBytes) -> Bytes {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let Messages::Shared(message) = &claim.messages else { panic!("these claims have one message") };
    let (key, message, signature) =
        (hex(&claim.public_keys.encoded(0).expect("a key")), hex(message), hex(&claim.signature));
    let suite = claim.suite;
    let line = format!(
        "{{\"suite\":\"{suite}\",\"public_key\":\"{key}\",\"message\":\"{message}\",\"signature\":\"{signature}\"}}\n"
    );
    line.into()
}
