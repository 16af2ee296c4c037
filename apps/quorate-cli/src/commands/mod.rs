//! One file or folder for each command, with its arguments and what it does.

pub mod aggregate;
pub mod checkpoint;
pub mod completions;
pub mod dkg;
pub mod era;
pub mod evm;
pub mod history;
pub mod key;
pub mod man;
pub mod pop;
pub mod selftest;
pub mod sign;
pub mod subtract;
pub mod threshold;
pub mod verify;

// What several commands share.

// `--backend`.
mod backend;

// `--suite`.
mod suite;

// A key file, and the passphrase that decrypts it.
mod unlock;

// `--keystore`: how a secret is encrypted that is written.
mod lock;

// `--identifiers`.
mod identifiers;

// The message that is signed.
mod message;

// The file of a shared key, and the files of its shares.
mod shared_key;
mod key_share;

// The exit code of each error with inputs and keys.
mod failures;

// Errors that repeat.
mod complaints;

// Inputs with one item on each line, and inputs that are held as a whole.
mod lines;
mod whole_file;

// Results on standard output, notes on standard error.
mod print;

// The operating system's random numbers.
mod random;

// How many threads a command uses.
mod threads;

// Values of flags, and the messages about those that cannot be read.
mod value;
