//! The tests of the node that need no network of processes.

mod bodies;
mod commands;
mod programs;
mod shown;
mod task_events;
mod transactions;
mod verification;
