//! Claims as JSON lines, streamed both ways.
//!
//! A stream holds one line, at most `limits.stream_claims` claims, and a few pieces of answers. A client that does not read
//! its answers is not read either, and is cut off after `limits.write_ms`.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderValue, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use bytes::{Bytes, BytesMut};
use futures_util::{FutureExt as _, StreamExt as _, stream, stream::FuturesUnordered};
use http_body_util::BodyExt as _;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::{Instant, timeout, timeout_at},
};

use super::error::ApiError;
use crate::{
    answer::Answer,
    app::App,
    claims::{self, Asked},
    listen::PIECE,
};

/// Answers lines of a body as they come.
pub(super) fn stream(app: Arc<App>, asked: Asked, body: Body, place: OwnedSemaphorePermit) -> Response {
    let (to_client, from_us) = mpsc::channel(2);
    tokio::spawn(async move {
        let longest = Duration::from_millis(app.config.limits.write_ms);
        Stream { app, asked, out: Out { to_client, longest, waiting: BytesMut::new() }, _place: place }.run(body).await;
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
    out: Out,
    _place: OwnedSemaphorePermit,
}

impl Stream {
    /// Reads and answers until both ends are done, or the client is gone.
    async fn run(mut self, body: Body) {
        let app = self.app.clone();
        let limits = &app.config.limits;
        let line_time = Duration::from_millis(limits.body_ms);
        let mut lines = Lines { body, rest: BytesMut::new(), searched: 0, number: 0, limit: limits.line_bytes };
        let mut in_progress = FuturesUnordered::new();
        let (mut reading, mut index, mut ended_by) = (true, 0, None);
        let mut line_until = Instant::now() + line_time;
        while reading || !in_progress.is_empty() {
            tokio::select! {
                biased;
                Some(answer) = in_progress.next(), if !in_progress.is_empty() => {
                    let mut next = Some(answer);
                    while let Some(answer) = next {
                        if self.out.line(&answer).await.is_none() {
                            return;
                        }
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
                    ended_by = Some(("stopped", "the server is stopping; send the lines from here on to another one".to_owned()));
                }
                line = timeout_at(line_until, lines.next()), if reading && in_progress.len() < limits.stream_claims && app.has_room(in_progress.len()) => {
                    let line = match line {
                        Ok(Ok(Some(line))) => line,
                        Ok(Ok(None)) => {
                            reading = false;
                            continue;
                        }
                        Ok(Err(error)) => {
                            reading = false;
                            ended_by = Some((error.body.error.code, error.body.error.message));
                            continue;
                        }
                        Err(_) => {
                            reading = false;
                            let message = format!("the next line did not arrive within {} ms, the limit", limits.body_ms);
                            ended_by = Some(("timeout", message));
                            continue;
                        }
                    };
                    line_until = Instant::now() + line_time;
                    let named = match claims::from_line(&line, lines.number, self.asked.suite, limits) {
                        None => continue,
                        Some(Err(malformed)) => {
                            if self.out.line(&Answer::malformed(index, malformed)).await.is_none()
                                || self.out.flush().await.is_none()
                            {
                                return;
                            }
                            index += 1;
                            continue;
                        }
                        Some(Ok(named)) => named,
                    };
                    // While we wait for memory, our own claims must be able to give theirs back.
                    let bytes = named.memory();
                    let memory = loop {
                        if let Some(Some(memory)) = app.budget.line(bytes, Duration::ZERO).now_or_never() {
                            break memory;
                        }
                        if let Some(answer) = in_progress.next().await {
                            if self.out.line(&answer).await.is_none() || self.out.flush().await.is_none() {
                                return;
                            }
                        } else if let Some(memory) = app.budget.line(bytes, line_time).await {
                            break memory;
                        } else {
                            let error = ApiError::busy();
                            let _ = self.out.error(error.body.error.code, &error.body.error.message, lines.number).await;
                            return;
                        }
                    };
                    let (submitted, app) = (app.submit(index, named, &self.asked), app.clone());
                    index += 1;
                    in_progress.push(async move {
                        let (_, answer) = app.answer(submitted).await;
                        drop(memory);
                        answer
                    });
                }
                // The client is gone: what it asked for is of no use.
                () = self.out.to_client.closed() => return,
            }
        }
        if let Some((code, message)) = ended_by {
            // If the client is gone, nobody needs it.
            let _ = self.out.error(code, &message, lines.number + 1).await;
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

/// The lines of a body.
struct Lines {
    body: Body,
    rest: BytesMut,
    /// How much of it has no line end.
    searched: usize,
    /// The number of the last line, from 1.
    number: u64,
    limit: usize,
}

impl Lines {
    /// The next line, without its end. Nothing is lost if this is dropped before it is ready.
    async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        loop {
            if let Some(length) = self.rest[self.searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.rest.split_to(self.searched + length + 1).freeze();
                self.searched = 0;
                return self.counted(line.slice(..line.len() - 1)).map(Some);
            }
            self.searched = self.rest.len();
            if self.searched > self.limit {
                return Err(ApiError::too_long("the line", self.limit));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.rest.extend_from_slice(&data);
                    }
                }
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
            return Err(ApiError::too_long("the line", self.limit));
        }
        self.number += 1;
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &'static [&'static str], limit: usize) -> Lines {
        let body = Body::from_stream(stream::iter(pieces).map(|piece| Ok::<_, Infallible>(Bytes::from(*piece))));
        Lines { body, rest: BytesMut::new(), searched: 0, number: 0, limit }
    }

    #[tokio::test]
    async fn lines_are_cut_wherever_the_pieces_are() {
        let mut lines = lines(&["a", "b\nc\n", "\nlast", " line"], 100);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(found, ["ab", "c", "", "last line"]);
        assert_eq!(lines.number, 4);
    }

    #[tokio::test]
    async fn a_line_that_does_not_end_is_not_kept() {
        for pieces in [&["aaaa", "aaaa", "aaaa"][..], &["aaaaaaaaaaaa\n"]] {
            let error = lines(pieces, 7).next().await.unwrap_err();
            assert_eq!(error.body.error.code, "too-long");
        }
    }
}
