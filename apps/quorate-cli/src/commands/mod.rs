//! One file or folder a command: its arguments, and what it does.

pub mod aggregate;
pub mod completions;
pub mod evm;
pub mod key;
pub mod man;
pub mod pop;
pub mod selftest;
pub mod sign;
pub mod subtract;
pub mod verify;

// What several commands take or do.

// `--backend`.
mod backend;

// `--suite`.
mod suite;

// A key file, and the passphrase that opens it.
mod unlock;

// The exit code of each trouble with keys.
mod failures;

// Inputs with one item a line.
mod lines;

// Results on standard output, notes on standard error.
mod print;

// The operating system's random numbers.
mod random;

// How many threads there are.
mod threads;
