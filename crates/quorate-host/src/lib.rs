//! What a program needs of the machine it runs on. It imports no crate of the workspace, so that every program can use it.
//!
//! | module | what |
//! |---|---|
//! | [`plain`](mod@plain) | text from outside, made harmless for a terminal, a log line and a page |
//! | [`text`] | text that is held as a whole, without the mark before it |
//! | [`exit`] | how a program ends: exit codes, and the message before |
//! | [`clock`] | the time of the machine |
//! | [`utc`](mod@utc) | a time as people read it |
//! | [`contained`](mod@contained) | panics of other people's readers, caught without a backtrace |
//! | [`cpu`] | the time that processors spent on a program |
//! | [`own_name`] | by which names a client may call a server |
//! | [`lock_file`](mod@lock_file) | a file that is locked as long as a program runs |
//! | [`other_users`] | who else than the program's user may read or write a file |
//! | [`flush`](mod@flush) | a flush to the disk, on every kind of volume |
//! | [`mod@file`] | files that survive a kill at any moment: replaced whole, or appended to |
//! | `dash` | `-` where a command line names a file, with the feature `manual` |
//! | [`same_file`] | whether two files are one, and, with the feature `manual`, whether an output is also an input |
//! | `flag` | what several command lines read as the value of a flag, with the feature `manual` |
//! | [`socket`] | Unix sockets: their mode, their folder, and what may stand at their path |
//! | `runtime` | a runtime for whose end no blocking call is waited, with the feature `runtime` |
//! | `listen` | HTTP with bounds for connections, with the feature `http` |
//! | `service` | what the service manager is told, its watchdog, and the signals that end a program, with the feature `service` |
//! | `metrics` | what a program tells those who watch it, with the feature `metrics` |
//! | [`key_record`] | what a key has signed, written down before the signature leaves |
//! | `options` | what a program is told: a file, the environment, flags; with the feature `options` |
//! | `log` | log lines that hold up nobody, with the feature `log` |
//! | `command_line` | a program and its command line, with the feature `manual` |
//! | `manual` | man pages and completions of a program, with the feature `manual` |
//! | `page` | the page of a running program, with the feature `page` |

#![forbid(unsafe_code)]

pub mod plain;
pub mod text;
pub mod exit;
pub mod clock;
pub mod utc;
pub mod contained;
pub mod cpu;
pub mod own_name;
pub mod lock_file;
pub mod other_users;
pub mod flush;
pub mod file;
#[cfg(feature = "manual")]
pub mod dash;
pub mod same_file;
#[cfg(feature = "manual")]
pub mod flag;
#[cfg(unix)]
pub mod socket;
#[cfg(feature = "runtime")]
pub mod runtime;
#[cfg(all(unix, feature = "http"))]
pub mod listen;
#[cfg(feature = "service")]
pub mod service;
#[cfg(all(unix, feature = "metrics"))]
pub mod metrics;
pub mod key_record;
#[cfg(feature = "options")]
pub mod options;
#[cfg(feature = "log")]
pub mod log;
#[cfg(feature = "manual")]
pub mod command_line;
#[cfg(feature = "manual")]
pub mod manual;
#[cfg(feature = "page")]
pub mod page;

pub use clock::{unix_ms, unix_seconds};
pub use contained::{Panicked, contained};
pub use cpu::cpu_time;
pub use flush::flush;
pub use lock_file::lock_file;
pub use own_name::{NotAHostName, check_host_name, is_own_name};
pub use plain::{BYTE_ORDER_MARK, clipped, plain};
pub use utc::utc;
