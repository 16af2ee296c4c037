//! Nodes that talk to one aggregator over plain HTTP, for small sets: the aggregator serves, the others join.
//!
//! The aggregator hands on what it judged [`Accept`](super::Judgement::Accept). A node that joins forwards nothing, so what
//! it judges has no effect but to ban the aggregator. The aggregator sees and can hold back everything; it cannot change what
//! operators sign.
//!
//! There is no encryption: put a server that ends TLS in front of the aggregator, name it in [`ServeSettings::proxies`],
//! and let the others join by `https`.
//!
//! | request | body | response |
//! |---|---|---|
//! | `POST /v1/challenge` | | a challenge that is good once, for 10 seconds, and the aggregator's peer id |
//! | `POST /v1/session` | peer id, nonce, signature over both sides' names, the challenge and the nonce; credential | a token; the aggregator's signature over the same and its credential |
//! | `POST /v1/messages` | signed messages, at most 256 | 204: taken. 503: send them again |
//! | `GET /v1/news?since=N` | | messages from number N on and questions, as soon as there are some, or nothing after 10 seconds. 503: too often the same |
//! | `POST /v1/question` | a request | an answer, or 503 if none comes within 10 seconds |
//! | `POST /v1/answers/N` | the answer to question N | 204 |
//!
//! All but the first two carry `Authorization: Bearer` with the token; without one that is good, their bodies are not read.

mod proxies;
pub mod bodies;
mod ring;
mod state;
mod server;
mod client;
#[cfg(test)]
mod tests;

pub use self::{
    client::{JoinSettings, join},
    proxies::{Proxies, ProxiesError},
    server::{ServeSettings, serve},
};
