//! Nodes that talk to one aggregator over plain HTTP, for small sets: the aggregator serves, the others join.
//!
//! The aggregator hands on what it judged [`Accept`](super::Judgement::Accept). A node that joins forwards nothing, so what
//! it judges has no effect but to ban the aggregator. The aggregator sees and can hold back everything; it cannot change what
//! operators sign.
//!
//! There is no encryption: put a server that ends TLS in front of the aggregator, name it in [`ServeSettings::proxies`],
//! and let the others join by `https`.

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
