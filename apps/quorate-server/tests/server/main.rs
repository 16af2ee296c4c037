//! Real servers on free ports of loopback and on sockets in temporary folders, and clients that do what clients do.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "what a test cannot do fails it")]

mod rig;

mod bad_clients;
mod bad_requests;
mod bounds;
mod checkpoints;
mod clients;
mod documents;
mod grpc;
mod key_sets;
mod metrics_address;
mod process;
mod proxies;
mod reloads;
mod sources;
mod supervised;
mod tls;
mod verify;
