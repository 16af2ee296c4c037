//! A node that is asked for checkpoints: where it is, and what it answers. There is no TLS.

use std::{
    fmt, fs,
    net::{Ipv6Addr, SocketAddr},
    path::PathBuf,
    str::FromStr,
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    Request, Response, StatusCode, Uri,
    body::Incoming,
    client::conn::http1,
    header::{ACCEPT, CONTENT_LENGTH, HOST, LOCATION, USER_AGENT},
};
use hyper_util::rt::TokioIo;
use quorate_checkpoint::LARGEST_ANSWER;
use quorate_host::{clipped, plain};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    task::JoinSet,
    time::timeout,
};

/// Where a node is: `http://HOST:PORT` or `unix:/PATH`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum AskedNode {
    /// Over TCP.
    Http {
        /// A name or an IP address.
        host: String,
        /// Its port.
        port: u16,
    },
    /// Over a Unix socket.
    Unix(PathBuf),
}

impl FromStr for AskedNode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            let path = PathBuf::from(path);
            return if path.is_absolute() { Ok(Self::Unix(path)) } else { Err(expected("a path that begins with /")) };
        }
        let uri: Uri = text.parse().map_err(|_| expected("an address"))?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") => {
                let how =
                    "there is no TLS in it; run a program on this machine that adds TLS, and name its address here";
                return Err(expected(how));
            }
            _ => return Err(expected("an address")),
        }
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let authority = authority.ok_or_else(|| expected("a host without a user's name"))?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('#') {
            return Err(expected("nothing behind the port"));
        }
        let port = match (authority.port(), authority.as_str().ends_with(':')) {
            (Some(port), _) => port.as_str().parse().map_err(|_| expected("a port from 1 to 65535"))?,
            (None, false) if authority.as_str() == authority.host() => 80,
            _ => return Err(expected("a port from 1 to 65535")),
        };
        let host = host(authority.host()).filter(|_| port != 0);
        let host = host.ok_or_else(|| expected("a host, and a port from 1 to 65535"))?;
        Ok(Self::Http { host, port })
    }
}

/// A name or an IPv4 address, or an IPv6 address in brackets, which is given without them. `http` also takes brackets elsewhere.
fn host(text: &str) -> Option<String> {
    match text.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(|address| address.to_string()),
        None => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            (!text.is_empty() && text.bytes().all(is_plain)).then(|| text.to_ascii_lowercase())
        }
    }
}

fn expected(what: &str) -> String {
    format!("expected {what}, in the form http://HOST:PORT or unix:/PATH")
}

impl fmt::Display for AskedNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http { host, port } if host.contains(':') => write!(f, "http://[{host}]:{port}"),
            Self::Http { host, port } => write!(f, "http://{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// What came of asking a node.
#[derive(Debug)]
pub(super) struct Asked {
    /// Where it was reached. Two names of one place are one node.
    pub(super) place: Option<Place>,
    /// The body of its answer, or why there is none.
    pub(super) body: Result<Vec<u8>, String>,
}

/// Where a node was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl AskedNode {
    /// Asks for `/v1/checkpoint`. After `longest` there is no answer, and one that is too long is not read to its end.
    pub(super) async fn ask(&self, longest: Duration) -> Asked {
        let mut place = None;
        let body = timeout(longest, self.exchange(&mut place)).await;
        let body = body.unwrap_or_else(|_| Err(format!("it did not answer within {} s", longest.as_secs_f64())));
        Asked { place, body }
    }

    async fn exchange(&self, place: &mut Option<Place>) -> Result<Vec<u8>, String> {
        let failed = |error| format!("it cannot be reached: {error}");
        match self {
            Self::Http { host, port } => {
                let stream = TcpStream::connect((host.as_str(), *port)).await.map_err(failed)?;
                *place = stream.peer_addr().ok().map(Place::Tcp);
                let host = self.to_string();
                get(stream, host.trim_start_matches("http://")).await
            }
            Self::Unix(path) => {
                let stream = UnixStream::connect(path).await.map_err(failed)?;
                *place = Some(Place::Unix(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
                get(stream, "localhost").await
            }
        }
    }
}

/// One request on a connection of its own, which ends with it.
async fn get(stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static, host: &str) -> Result<Vec<u8>, String> {
    let failed = |error: hyper::Error| {
        format!("it does not speak HTTP as it should: {}", plain(&format!("{:#}", anyhow::Error::new(error))))
    };
    let mut builder = http1::Builder::new();
    builder.max_buf_size(LONGEST_HEAD).max_headers(64);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // Dropping it ends the connection.
    let mut connections = JoinSet::new();
    connections.spawn(connection);
    let request = Request::get("/v1/checkpoint")
        .header(HOST, host)
        .header(ACCEPT, "application/json")
        .header(USER_AGENT, concat!("quorate-server/", env!("CARGO_PKG_VERSION")))
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(failed)?;
    match response.status() {
        StatusCode::OK => body(response, LARGEST_ANSWER).await,
        status if status.is_redirection() => {
            let to = response.headers().get(LOCATION).map_or(String::new(), |to| {
                format!(" to {}", clipped(&String::from_utf8_lossy(to.as_bytes()), LONGEST_SAID))
            });
            Err(format!("its status is {}, a redirect{to}, which is not followed", status.as_u16()))
        }
        status => {
            // What our own servers say.
            let said = body(response, LONGEST_ERROR).await.ok();
            let said = said.and_then(|said| serde_json::from_slice::<serde_json::Value>(&said).ok());
            let said = said.as_ref().and_then(|said| said["error"]["message"].as_str());
            let said = said.map_or(String::new(), |said| format!(": {}", clipped(said, LONGEST_SAID)));
            Err(format!("its status is {}, expected 200{said}", status.as_u16()))
        }
    }
}

async fn body(response: Response<Incoming>, longest: usize) -> Result<Vec<u8>, String> {
    let too_long = || format!("its answer is longer than {longest} bytes, the limit, and was not read");
    let stated = response.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if stated.is_some_and(|length| length > longest as u64) {
        return Err(too_long());
    }
    let mut body = response.into_body();
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| "its answer ended before its end".to_owned())?.into_data() else { continue };
        if whole.len() + data.len() > longest {
            return Err(too_long());
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole)
}

/// Characters of what a stranger says that are shown.
const LONGEST_SAID: usize = 200;

/// The longest head of an answer.
const LONGEST_HEAD: usize = 64 << 10;

/// The longest answer that is read when it is an error.
const LONGEST_ERROR: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes() {
        for (text, shown) in [
            ("http://127.0.0.1:9596", "http://127.0.0.1:9596"),
            ("http://Node.Example/", "http://node.example:80"),
            ("http://[::1]:9596", "http://[::1]:9596"),
            ("http://[0:0::1]", "http://[::1]:80"),
            ("unix:/run/quorate.sock", "unix:/run/quorate.sock"),
        ] {
            let node: AskedNode = text.parse().unwrap();
            assert_eq!(node.to_string(), shown);
            assert_eq!(shown.parse::<AskedNode>().unwrap(), node);
        }
        for (text, reason) in [
            ("127.0.0.1:9596", "in the form"),
            ("", "in the form"),
            ("https://a.example", "no TLS"),
            ("ftp://a.example", "in the form"),
            ("http://user@a.example", "user's name"),
            ("http://a.example/v1/checkpoint", "nothing behind the port"),
            ("http://a.example?x", "nothing behind the port"),
            ("http://a.example#x", "nothing behind the port"),
            ("http://a.example:", "a port"),
            ("http://a.example:0", "a port"),
            ("http://a.example:70000", "in the form"),
            ("http://", "in the form"),
            ("http://0[]", "in the form"),
            ("http://[0]", "in the form"),
            ("http://a[::1]", "in the form"),
            ("http://[::1]]", "in the form"),
            ("http://a%41.example", "in the form"),
            ("http://a'b.example", "a host"),
            ("unix:run/socket", "begins with /"),
            ("unix:", "begins with /"),
        ] {
            let error = text.parse::<AskedNode>().unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
