//! A node that is slow to start and answers short questions only, in front of a true one.

use std::{
    collections::HashSet,
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use quorate_evm::alloy_primitives::U64;
use serde_json::{Value, json};

/// How often each kind of refusal was given.
#[derive(Default)]
pub(crate) struct Refusals {
    /// Status 503, once for each method but the first that is asked.
    pub(crate) overloaded: AtomicU64,
    /// Logs of more than two blocks.
    pub(crate) too_long: AtomicU64,
}

/// Starts the proxy. It ends with the test's process.
pub(crate) fn start(node: &str) -> (String, Arc<Refusals>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let node = node.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    let refusals = Arc::<Refusals>::default();
    let counts = refusals.clone();
    thread::spawn(move || {
        // The chain's id is asked for once, so that a wrong URL is known at once.
        let mut asked = HashSet::from(["eth_chainId".to_owned()]);
        for stream in listener.incoming() {
            // The program may have left.
            let _ = serve(stream.unwrap(), &node, &mut asked, &counts);
        }
    });
    (url, refusals)
}

fn serve(mut stream: TcpStream, node: &str, asked: &mut HashSet<String>, counts: &Refusals) -> io::Result<()> {
    let body = read_body(&stream)?;
    let question: Value = serde_json::from_slice(&body)?;
    let method = question["method"].as_str().unwrap_or_default().to_owned();
    let number = |name: &str| serde_json::from_value::<U64>(question["params"][0][name].clone()).map(|n| n.to::<u64>());
    if asked.insert(method.clone()) {
        counts.overloaded.fetch_add(1, Ordering::SeqCst);
        return write!(stream, "HTTP/1.1 503 Busy\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
    }
    if method == "eth_getLogs" && number("toBlock")? - number("fromBlock")? > 1 {
        counts.too_long.fetch_add(1, Ordering::SeqCst);
        let error = json!({ "code": -32005, "message": "query returned more than 10000 results" });
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "error": error }).to_string();
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
        return write!(stream, "{head}content-length: {}\r\n\r\n{answer}", answer.len());
    }
    let mut behind = TcpStream::connect(node)?;
    let head = "POST / HTTP/1.1\r\nhost: node\r\nconnection: close\r\ncontent-type: application/json\r\n";
    write!(behind, "{head}content-length: {}\r\n\r\n", body.len())?;
    behind.write_all(&body)?;
    io::copy(&mut behind, &mut stream).map(|_| ())
}

fn read_body(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line.trim().is_empty() {
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            return Ok(body);
        }
    }
}
