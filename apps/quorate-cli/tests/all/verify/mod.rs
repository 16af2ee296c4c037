//! `quorate verify` as a person runs it: the built binary, small claims made with the library, streams and exit codes.
//!
//! | file | what it checks |
//! |---|---|
//! | [`run`] | how the binary is run, and claims to give it |
//! | [`verdicts`] | exit codes, verdict lines, the summary object, options |
//! | [`malformed`] | entries that make no claim, and bytes that are no point |
//! | [`files`] | several files, pipes, Parquet, formats that cannot be read |
//! | [`bn254`] | the profiles on BN254 |
//! | [`drand`] | rounds, arrays, bundles, chains |
//! | [`light_client`] | bootstraps and updates of mainnet, true and with a bit flipped |
//! | [`committees`] | which updates teach a sync committee, in any order |
//! | [`limits`] | inputs that ask for much memory, under `ulimit -v` |
//! | [`key_sets`] | `--key-set` and `quorate key-set` |
//! | [`memory`] | `--known` and `--remember` |
//! | [`progress`] | the progress line on a terminal |
//! | [`unused`] | flags that no input uses |
//! | [`validators`] | deposits, changes of credentials and exits of validators |
//! | [`streams`] | Ctrl-C, slow pipes, closed pipes, full disks, bounded memory |
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

mod run;

mod bn254;
mod committees;
mod drand;
mod files;
mod key_sets;
mod light_client;
mod limits;
mod malformed;
mod memory;
#[cfg(target_os = "linux")]
mod progress;
mod streams;
mod unused;
mod validators;
mod verdicts;
