//! Whether the clients of a connection take what they are sent.
//!
//! A piece of a body that was handed to the connection is taken when the connection asks for the next one. A client that
//! never reads makes this wait without end, on HTTP/2 even while other streams of the connection go on.

use std::{
    collections::BTreeMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::body::Body;
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::activity::InProgress;

/// The bodies of one connection that wait for their reader, and since when.
#[derive(Debug, Default)]
pub(super) struct Readers {
    waiting: Mutex<(u64, BTreeMap<u64, Instant>)>,
}

impl Readers {
    /// Whether a body has waited longer than this for its reader.
    pub(super) fn stalled(&self, longest: Duration) -> bool {
        self.with(|(_, waiting)| waiting.values().any(|since| since.elapsed() > longest))
    }

    /// A body of this connection, watched. With it the request ends.
    pub(super) fn watch(self: &Arc<Self>, body: Body, mut in_progress: InProgress) -> Body {
        in_progress.pause();
        let id = self.with(|(next, waiting)| {
            *next += 1;
            waiting.insert(*next, Instant::now());
            *next
        });
        Body::new(Watched { body, id, readers: self.clone(), in_progress })
    }

    fn with<T>(&self, change: impl FnOnce(&mut (u64, BTreeMap<u64, Instant>)) -> T) -> T {
        // Nothing panics while it holds this.
        change(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Watched {
    body: Body,
    id: u64,
    readers: Arc<Readers>,
    in_progress: InProgress,
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.body).poll_frame(cx);
        // It waits for us, or what is ready waits for the client.
        if polled.is_pending() {
            this.in_progress.resume();
            this.readers.with(|(_, waiting)| waiting.remove(&this.id));
        } else {
            this.in_progress.pause();
            this.readers.with(|(_, waiting)| waiting.insert(this.id, Instant::now()));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.readers.with(|(_, waiting)| waiting.remove(&self.id));
    }
}
