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
//! | [`limits`] | inputs that ask for much memory, under `ulimit -v` |
//! | [`memory`] | `--known` and `--remember` |
//! | [`progress`] | the progress line on a terminal |
//! | [`unused`] | flags that no input uses |
//! | [`validators`] | deposits, changes of credentials and exits of validators |
//! | [`streams`] | Ctrl-C, slow pipes, closed pipes, full disks, bounded memory |
#![allow(clippy::unwrap_used, reason = "what a test cannot run or read fails it")]

#[path = "cli_verify/run.rs"]
mod run;

#[path = "cli_verify/bn254.rs"]
mod bn254;
#[path = "cli_verify/drand.rs"]
mod drand;
#[path = "cli_verify/files.rs"]
mod files;
#[path = "cli_verify/light_client.rs"]
mod light_client;
#[path = "cli_verify/limits.rs"]
mod limits;
#[path = "cli_verify/malformed.rs"]
mod malformed;
#[path = "cli_verify/memory.rs"]
mod memory;
#[cfg(target_os = "linux")]
#[path = "cli_verify/progress.rs"]
mod progress;
#[path = "cli_verify/streams.rs"]
mod streams;
#[path = "cli_verify/unused.rs"]
mod unused;
#[path = "cli_verify/validators.rs"]
mod validators;
#[path = "cli_verify/verdicts.rs"]
mod verdicts;
