//! What a running node shows: reports, the board, readiness, metrics, and HTTP.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod rig;

mod api;
mod board;
mod metrics;
mod readiness;
mod report;
