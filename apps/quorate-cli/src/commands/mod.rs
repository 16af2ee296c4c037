//! One file or folder for each command, with its arguments and what it does.

// What several commands share.

// The exit code of each error with inputs and keys.
mod failures;
// Values of flags, and the messages about those that cannot be read.
mod value;
// Times, as 90s or 2h.
mod time;
// `--backend`.
mod backend;
// `--suite`.
mod suite;
// `--identifiers`.
mod identifiers;
// How many threads a command uses.
mod threads;
// Results on standard output, notes on standard error.
mod print;
// Errors that repeat.
mod complaints;
// A key file, and the passphrase that decrypts it.
mod unlock;
// Inputs with one item on each line.
mod lines;
// The operating system's random numbers.
mod random;
// Batches with one claim on each line, verified.
mod line_verdicts;
// `--keystore`: how a secret is encrypted that is written.
mod lock;
// The message that is signed.
mod message;
// The file of a shared key, and the files of its shares.
mod shared_key;
mod key_share;

// The commands. Some read what others write.

pub mod aggregate;
pub mod checkpoint;
pub mod verify;
pub mod dkg;
pub mod history;
pub mod era;
pub mod key;
pub mod key_set;
pub mod evm;
pub mod pop;
pub mod selftest;
pub mod sign;
pub mod subtract;
pub mod threshold;
