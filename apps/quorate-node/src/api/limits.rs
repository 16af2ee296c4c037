//! What clients of the interface may take.

use std::time::Duration;

use quorate_host::listen::Bounds;

/// Bounds of time and memory of the interface. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiLimits {
    /// Connections at once. For a further one, the most idle one is closed; if all are busy, it waits.
    pub connections: usize,
    /// The time in which the head of a request must arrive, and the longest pause between two requests.
    pub header_ms: u64,
    /// The time in which a body must arrive.
    pub body_ms: u64,
    /// The time in which a client must take a part of an answer.
    pub write_ms: u64,
    /// How long a connection lasts. Then it ends after the request in progress, at the latest after `write_ms`.
    pub connection_ms: u64,
    /// The longest body.
    pub body_bytes: usize,
    /// How long a task waits for the node's loop.
    pub order_ms: u64,
    /// How long requests in progress may take when the node stops.
    pub drain_ms: u64,
}

impl Default for ApiLimits {
    /// 64 connections, and a body of at most 256 KiB: together 16 MiB, and 1 MiB for heads of requests.
    fn default() -> Self {
        Self {
            connections: 64,
            header_ms: 10_000,
            body_ms: 10_000,
            write_ms: 10_000,
            connection_ms: 300_000,
            body_bytes: 256 << 10,
            order_ms: 10_000,
            drain_ms: 5_000,
        }
    }
}

impl ApiLimits {
    /// What they say of connections.
    pub(super) fn bounds(&self) -> Bounds {
        let [head, body, write, longest, order] =
            [self.header_ms, self.body_ms, self.write_ms, self.connection_ms, self.order_ms].map(Duration::from_millis);
        Bounds {
            connections: self.connections,
            streams: None,
            head_bytes: HEAD,
            head,
            // While a request waits for the node's loop, nothing is read.
            idle: head.max(body) + order,
            write,
            longest: Some(longest),
        }
    }
}

/// The longest head of a request, in bytes.
const HEAD: usize = 16 << 10;
