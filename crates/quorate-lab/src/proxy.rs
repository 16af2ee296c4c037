//! A node of a chain that lies, refuses or hangs, in front of a true one.

use std::{
    io::{self, BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::{Value, json};

/// A proxy that tells the truth until it is given a rule. It ends with the process of the test.
#[derive(Clone)]
pub struct Proxy {
    /// Where it listens.
    pub url: String,
    rule: Arc<Mutex<Box<Rule>>>,
    /// How many rules it was given.
    rules: Arc<AtomicU64>,
}

/// What a proxy does with a question, which it may hand to the node.
pub type Rule = dyn FnMut(&Value, &ProxiedNode) -> io::Result<ProxyReply> + Send;

/// The true node behind a proxy.
#[derive(Clone, Debug)]
pub struct ProxiedNode(String);

/// What a proxy replies.
#[derive(Clone, Debug)]
pub enum ProxyReply {
    /// An answer of JSON-RPC.
    Answer(Value),
    /// An answer under an HTTP status of its own.
    Under(u16, Value),
    /// Status 503.
    Busy,
    /// Nothing, until there is another rule; the question is then asked again.
    Hang,
    /// The end of the connection.
    End,
}

impl Proxy {
    /// Starts a proxy of the node at a URL.
    pub fn start(node: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let node = ProxiedNode(node.strip_prefix("http://").unwrap().trim_end_matches('/').to_owned());
        let this = Self { url, rule: Arc::new(Mutex::new(Box::new(truth))), rules: Arc::default() };
        let proxy = this.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (proxy, node) = (proxy.clone(), node.clone());
                // The asker may have left.
                thread::spawn(move || drop(proxy.serve(stream, &node)));
            }
        });
        this
    }

    /// Starts a node that has no chain. It answers each method and its parameters so, or with an error of these words.
    pub fn alone(mut answers: impl FnMut(&str, &Value) -> Result<Value, String> + Send + 'static) -> Self {
        let this = Self::start("http://nowhere");
        this.follows(move |question, _| {
            let id = &question["id"];
            let answer = match answers(question["method"].as_str().unwrap_or_default(), &question["params"]) {
                Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                Err(message) => {
                    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32000, "message": message } })
                }
            };
            Ok(ProxyReply::Answer(answer))
        });
        this
    }

    /// From now on it replies by this rule.
    pub fn follows(&self, rule: impl FnMut(&Value, &ProxiedNode) -> io::Result<ProxyReply> + Send + 'static) {
        *self.rule.lock().unwrap() = Box::new(rule);
        self.rules.fetch_add(1, Ordering::SeqCst);
    }

    /// From now on a lie changes the node's answers to questions, or says by `false` that there shall be none.
    pub fn tells(&self, mut lie: impl FnMut(&Value, &mut Value) -> bool + Send + 'static) {
        self.follows(move |question, node| {
            let mut answer = node.answer(question)?;
            Ok(if lie(question, &mut answer) { ProxyReply::Answer(answer) } else { ProxyReply::Hang })
        });
    }

    /// From now on it hands on every question.
    pub fn tells_the_truth(&self) {
        self.follows(truth);
    }

    fn serve(&self, mut stream: TcpStream, node: &ProxiedNode) -> io::Result<()> {
        let question: Value = serde_json::from_slice(&body(&stream)?)?;
        loop {
            let known = self.rules.load(Ordering::SeqCst);
            let reply = (self.rule.lock().unwrap())(&question, node)?;
            match reply {
                ProxyReply::Answer(answer) => {
                    return write_body(&mut stream, "HTTP/1.1 200 OK", answer.to_string().as_bytes());
                }
                ProxyReply::Under(status, answer) => {
                    let head = format!("HTTP/1.1 {status} By Rule");
                    return write_body(&mut stream, &head, answer.to_string().as_bytes());
                }
                ProxyReply::Busy => return write_body(&mut stream, "HTTP/1.1 503 Busy", b""),
                ProxyReply::End => return Ok(()),
                ProxyReply::Hang => {
                    stream.set_read_timeout(Some(Duration::from_millis(50)))?;
                    while self.rules.load(Ordering::SeqCst) == known {
                        // The asker says nothing more; it may give up.
                        if matches!(stream.peek(&mut [0]), Ok(0)) {
                            return Ok(());
                        }
                    }
                }
            }
        }
    }
}

impl ProxiedNode {
    /// The node's answer.
    ///
    /// # Errors
    /// The node does not answer with JSON.
    pub fn answer(&self, question: &Value) -> io::Result<Value> {
        let mut stream = TcpStream::connect(&self.0)?;
        write_body(&mut stream, "POST / HTTP/1.1\r\nhost: node", question.to_string().as_bytes())?;
        Ok(serde_json::from_slice(&body(&stream)?)?)
    }
}

fn truth(question: &Value, node: &ProxiedNode) -> io::Result<ProxyReply> {
    node.answer(question).map(ProxyReply::Answer)
}

fn write_body(stream: &mut TcpStream, head: &str, body: &[u8]) -> io::Result<()> {
    let more = "connection: close\r\ncontent-type: application/json";
    write!(stream, "{head}\r\n{more}\r\ncontent-length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)
}

/// The body of a request or an answer that says its length.
fn body(stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut reader = BufReader::new(stream);
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
