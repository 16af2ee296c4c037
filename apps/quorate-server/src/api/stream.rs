//! Claims as JSON lines, streamed both ways.
//!
//! A stream holds one line, at most `limits.stream_claims` claims, and a few pieces of answers. A client that does not read
//! its answers is not read either, and is cut off after `limits.write_ms`.

use std::{
    convert::Infallible,
    sync::{Arc, Weak},
    time::Duration,
};

use axum::{
    body::Body,
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt as _, StreamExt as _, stream, stream::FuturesUnordered};
use http_body_util::BodyExt as _;
use quorate_host::listen::PIECE;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout, timeout_at},
};

use super::error::ApiError;
use crate::{
    answer::Answer,
    app::App,
    budget::{Held, Place},
    claims::{Asked, BadClaims, Caller, Named, Reader},
};

/// Answers lines of a body as they come.
pub(super) fn stream(app: Arc<App>, asked: Asked, caller: Caller, body: Body, place: Place) -> Response {
    let (to_client, from_us) = mpsc::channel(2);
    tokio::spawn(async move {
        let longest = Duration::from_millis(app.in_force().config.limits.write_ms);
        let out = Out { to_client, longest, waiting: BytesMut::new() };
        Stream { app, asked, caller, out, _place: place }.run(body).await;
    });
    let pieces = stream::unfold(from_us, |mut from_us: mpsc::Receiver<Bytes>| async move {
        from_us.recv().await.map(|piece| (Ok::<_, Infallible>(piece), from_us))
    });
    let mut response = Body::from_stream(pieces).into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    response
}

struct Stream {
    app: Arc<App>,
    asked: Asked,
    caller: Caller,
    out: Out,
    _place: Place,
}

impl Stream {
    /// Reads and answers until both ends are done, or the client is gone.
    async fn run(mut self, body: Body) {
        let app = self.app.clone();
        // A stream keeps the limits with which it began, and no key set: it sees other ones at once.
        let limits = &app.in_force().config.limits.clone();
        let line_time = Duration::from_millis(limits.body_ms);
        let mut lines = Lines::new(body, limits.line_bytes);
        let (mut held, mut in_progress) = (app.budget.holding(), FuturesUnordered::new());
        let (mut reading, mut index, mut ended_by) = (true, 0, None);
        // A claim that waits until the queue has room.
        let mut ahead: Option<Named> = None;
        let mut known_in = Weak::new();
        let mut line_until = Instant::now() + line_time;
        while reading || ahead.is_some() || !in_progress.is_empty() {
            if let Some(named) = ahead.take_if(|named| app.has_room(in_progress.len(), named, &self.asked)) {
                let bytes = named.memory();
                let deadline = self.asked.deadline_from(Instant::now().into_std());
                let (submitted, app) = (app.submit(index, named, &self.asked, deadline), app.clone());
                index += 1;
                in_progress.push(async move { (bytes, app.answer(submitted).await.1) });
            }
            tokio::select! {
                biased;
                Some(answer) = in_progress.next(), if !in_progress.is_empty() => {
                    let mut next = Some(answer);
                    while let Some((bytes, answer)) = next {
                        if self.out.line(&answer).await.is_none() {
                            return;
                        }
                        held.give(bytes);
                        next = in_progress.next().now_or_never().flatten();
                    }
                    if self.out.flush().await.is_none() {
                        return;
                    }
                    // The client may have waited for us.
                    line_until = Instant::now() + line_time;
                }
                () = app.connections.stopping().cancelled(), if reading => {
                    reading = false;
                    let message = "the server is stopping; send the lines from here on to another one";
                    ended_by = Some((lines.number + 1, "stopped", message.to_owned()));
                }
                line = timeout_at(line_until, lines.next(&mut held)), if reading && ahead.is_none()
                    && in_progress.len() < limits.stream_claims =>
                {
                    let line = match line {
                        Ok(Ok(Some(line))) => line,
                        Ok(Ok(None)) => {
                            reading = false;
                            continue;
                        }
                        Ok(Err(error)) => {
                            reading = false;
                            ended_by = Some((lines.number + 1, error.body.error.code, error.body.error.message));
                            continue;
                        }
                        Err(_) => {
                            reading = false;
                            let message = format!("the next line did not arrive within {} ms, the limit", limits.body_ms);
                            let busy = ApiError::busy().body.error;
                            let (code, message) =
                                if lines.waits() { (busy.code, busy.message) } else { ("timeout", message) };
                            ended_by = Some((lines.number + 1, code, message));
                            continue;
                        }
                    };
                    if let Err(why) = app.still_knows(&self.caller, &mut known_in) {
                        app.metrics.unknown_client();
                        reading = false;
                        ended_by = Some((lines.number, "unknown-client", why.to_string()));
                        continue;
                    }
                    let mut wanted = 2 * line.len();
                    let memory_until = Instant::now() + line_time;
                    let now = app.in_force();
                    let named = loop {
                        let mut reader =
                            Reader { suite: self.asked.suite, key_sets: &now.key_sets, limits, caller: &self.caller, held: &mut held };
                        match reader.line(&line, lines.number) {
                            Some(Err(BadClaims::NoRoom)) => {}
                            named => break named,
                        }
                        // While we wait for memory, our own claims must be able to give theirs back.
                        if let Some((bytes, answer)) = in_progress.next().await {
                            if self.out.line(&answer).await.is_none() || self.out.flush().await.is_none() {
                                return;
                            }
                            held.give(bytes);
                        } else {
                            if timeout_at(memory_until, held.reserve(wanted, line_time)).await.ok().flatten().is_none() {
                                break Some(Err(BadClaims::NoRoom));
                            }
                            // Nobody knows what the line takes, and each try reads it from its beginning.
                            wanted = (2 * wanted).min(limits.memory_bytes / 2).max(wanted);
                        }
                    };
                    held.give(Lines::taken(&line));
                    if named.is_some() {
                        line_until = Instant::now() + line_time;
                    }
                    match named {
                        // A blank line. Whoever sends nothing else is as silent as who sends nothing.
                        None => {}
                        Some(Ok(named)) => ahead = Some(named),
                        Some(Err(BadClaims::Claim(malformed))) => {
                            let malformed = Answer::malformed(index, malformed);
                            if self.out.line(&malformed).await.is_none() || self.out.flush().await.is_none() {
                                return;
                            }
                            index += 1;
                        }
                        Some(Err(error)) => {
                            let error = ApiError::from(error).body.error;
                            let _ = self.out.error(error.code, &error.message, lines.number).await;
                            return;
                        }
                    }
                }
                // The client is gone: what it asked for is of no use.
                () = self.out.to_client.closed() => return,
            }
        }
        if let Some((line, code, message)) = ended_by {
            // If the client is gone, nobody needs it.
            let _ = self.out.error(code, &message, line).await;
        }
    }
}

/// Answers on their way to the client.
struct Out {
    to_client: mpsc::Sender<Bytes>,
    longest: Duration,
    waiting: BytesMut,
}

impl Out {
    /// Adds a line. `None` if the client is gone.
    async fn line(&mut self, line: &impl serde::Serialize) -> Option<()> {
        // Answers are text, numbers and booleans, which JSON can write.
        let json = serde_json::to_vec(line).ok()?;
        self.waiting.extend_from_slice(&json);
        self.waiting.extend_from_slice(b"\n");
        if self.waiting.len() < PIECE { Some(()) } else { self.flush().await }
    }

    async fn flush(&mut self) -> Option<()> {
        if self.waiting.is_empty() {
            return Some(());
        }
        let piece = self.waiting.split().freeze();
        timeout(self.longest, self.to_client.send(piece)).await.ok()?.ok()
    }

    /// The last line of a stream that cannot go on.
    async fn error(&mut self, code: &'static str, message: &str, line: u64) -> Option<()> {
        let mut error = ApiError::new(axum::http::StatusCode::BAD_REQUEST, code, message);
        error.body.error.line = Some(line);
        self.line(&error.body).await?;
        self.flush().await
    }
}

/// The lines of a body. What has come and is not yet a line finds memory before it is kept.
struct Lines {
    body: Body,
    rest: BytesMut,
    /// What has come, and waits for memory.
    waiting: Option<Bytes>,
    /// How much of it has no line end.
    searched: usize,
    /// The number of the last line, from 1.
    number: u64,
    limit: usize,
}

impl Lines {
    fn new(body: Body, limit: usize) -> Self {
        Self { body, rest: BytesMut::new(), waiting: None, searched: 0, number: 0, limit }
    }

    /// Whether it is memory that it waits for, and not the client.
    fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// The memory of a line, which whoever reads it gives back.
    fn taken(line: &Bytes) -> usize {
        BUFFER * line.len()
    }

    /// The next line, without its end. Nothing is lost if this is dropped before it is ready.
    async fn next(&mut self, held: &mut Held) -> Result<Option<Bytes>, ApiError> {
        loop {
            if let Some(length) = self.rest[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.rest.split_to(self.searched + length + 1).freeze();
                self.searched = 0;
                held.give(BUFFER);
                return self.counted(line.slice(..line.len() - 1)).map(Some);
            }
            self.searched = self.rest.len();
            if self.searched > self.limit {
                return Err(ApiError::line_too_long(self.limit));
            }
            if let Some(data) = &self.waiting {
                held.wait_for(BUFFER * data.len(), FOREVER).await.ok_or_else(ApiError::busy)?;
                self.rest.extend_from_slice(data);
                self.waiting = None;
                continue;
            }
            match self.body.frame().await {
                Some(Ok(frame)) => self.waiting = frame.into_data().ok(),
                Some(Err(_)) => return Err(ApiError::cut_off()),
                None if self.rest.is_empty() => return Ok(None),
                None => {
                    let line = self.rest.split().freeze();
                    self.searched = 0;
                    return self.counted(line).map(Some);
                }
            }
        }
    }

    fn counted(&mut self, line: Bytes) -> Result<Bytes, ApiError> {
        if line.len() > self.limit {
            return Err(ApiError::line_too_long(self.limit));
        }
        self.number += 1;
        Ok(line)
    }
}

/// A buffer that grows has up to twice the length that it needs.
const BUFFER: usize = 2;

/// The caller ends it before.
const FOREVER: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{budget::Budget, config::ServerLimits};

    fn lines(pieces: &'static [&'static str], limit: usize) -> Lines {
        let body = Body::from_stream(stream::iter(pieces).map(|piece| Ok::<_, Infallible>(Bytes::from(*piece))));
        Lines::new(body, limit)
    }

    fn budget(memory_bytes: usize) -> Budget {
        Budget::new(&ServerLimits { memory_bytes, ..ServerLimits::default() })
    }

    #[tokio::test]
    async fn lines_are_cut_wherever_the_pieces_are() {
        let (mut lines, budget) = (lines(&["a", "b\nc\n", "\nlast", " line"], 100), budget(1 << 20));
        let (mut held, mut found) = (budget.holding(), Vec::new());
        while let Some(line) = lines.next(&mut held).await.unwrap() {
            held.give(Lines::taken(&line));
            found.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(found, ["ab", "c", "", "last line"]);
        assert_eq!(lines.number, 4);
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_not_sent_as_a_stream() {
        let (mut lines, budget) = (lines(&["abcde\n"], 4), budget(1 << 20));
        let error = lines.next(&mut budget.holding()).await.unwrap_err();
        assert_eq!(error.body.error.code, "too-long");
        assert!(error.body.error.message.ends_with("split its claim into smaller ones"), "{error:?}");
    }

    /// What others give back is enough to go on, and nothing of the line is lost by the wait.
    #[tokio::test]
    async fn a_line_waits_for_memory() {
        let budget = budget(1000);
        let (mut lines, mut held, mut others) = (lines(&["aaaa", "bbbb\n"], 100), budget.holding(), budget.holding());
        others.take(990).unwrap();
        assert!(timeout(Duration::from_millis(50), lines.next(&mut held)).await.is_err() && lines.waits());
        drop(others);
        assert_eq!(lines.next(&mut held).await.unwrap().unwrap(), "aaaabbbb");
    }

    #[tokio::test]
    async fn a_line_that_does_not_end_is_not_kept() {
        for pieces in [&["aaaa", "aaaa", "aaaa"][..], &["aaaaaaaaaaaa\n"]] {
            let error = lines(pieces, 7).next(&mut budget(1000).holding()).await.unwrap_err();
            assert_eq!(error.body.error.code, "too-long");
        }
    }
}
