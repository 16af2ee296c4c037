//! A node of the chain that fails, in front of a true one.

use std::{
    io::{self, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    thread,
    time::Duration,
};

use quorate_evm::{alloy_sol_types::SolEvent as _, contract::TaskNetwork};
use serde_json::{Value, json};

/// What the proxy does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Hands it on.
    Pass = 0,
    /// Ends the connection.
    Refuse = 1,
    /// Does not answer.
    Hang = 2,
    /// Changes the results in the logs of settled tasks.
    Lie = 3,
}

/// A proxy, which ends with the process of the test.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) url: String,
    mode: Arc<AtomicU8>,
}

impl Proxy {
    pub(crate) fn start(node: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let node = node.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
        let this = Self { url, mode: Arc::default() };
        let proxy = this.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (proxy, node) = (proxy.clone(), node.clone());
                // Whoever asked may be gone.
                thread::spawn(move || drop(proxy.serve(stream, &node)));
            }
        });
        this
    }

    pub(crate) fn set(&self, mode: Mode) {
        self.mode.store(mode as u8, Ordering::SeqCst);
    }

    fn is(&self, mode: Mode) -> bool {
        self.mode.load(Ordering::SeqCst) == mode as u8
    }

    fn serve(&self, mut stream: TcpStream, node: &str) -> io::Result<()> {
        let question = body(&mut BufReader::new(&stream))?;
        while self.is(Mode::Hang) {
            thread::sleep(Duration::from_millis(50));
        }
        if self.is(Mode::Refuse) {
            return Ok(());
        }
        let mut behind = TcpStream::connect(node)?;
        let head = "POST / HTTP/1.1\r\nhost: node\r\nconnection: close\r\ncontent-type: application/json\r\n";
        write!(behind, "{head}content-length: {}\r\n\r\n", question.len())?;
        behind.write_all(&question)?;
        let mut answer = body(&mut BufReader::new(&behind))?;
        if self.is(Mode::Lie) {
            answer = lie(&answer);
        }
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json\r\n";
        write!(stream, "{head}content-length: {}\r\n\r\n", answer.len())?;
        stream.write_all(&answer)
    }
}

/// An answer in which other results were settled.
fn lie(answer: &[u8]) -> Vec<u8> {
    let Ok(mut value) = serde_json::from_slice::<Value>(answer) else { return answer.to_vec() };
    for log in value["result"].as_array_mut().into_iter().flatten() {
        if log["topics"][0] == json!(TaskNetwork::TaskSettled::SIGNATURE_HASH)
            && let Some(data) = log["data"].as_str()
        {
            // The first digit of the first word, which is the result.
            let other = if data.as_bytes()[2] == b'0' { "1" } else { "0" };
            log["data"] = json!(format!("0x{other}{}", &data[3..]));
        }
    }
    value.to_string().into_bytes()
}

/// The body of a request or an answer that says its length.
fn body(reader: &mut impl io::BufRead) -> io::Result<Vec<u8>> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
        if line.trim().is_empty() {
            let mut bytes = vec![0; length];
            reader.read_exact(&mut bytes)?;
            return Ok(bytes);
        }
    }
}
