//! The binary `quorate`.

#![forbid(unsafe_code)]

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use quorate_cli::{cli::Cli, exit::Exit};
use quorate_host::plain;

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // Nothing is printed if the reader of the output left early, as in `quorate … | head`.
            let left = failure.error.root_cause().downcast_ref::<io::Error>();
            if left.is_none_or(|e| e.kind() != io::ErrorKind::BrokenPipe) && failure.exit != Exit::Interrupted {
                // If standard error is closed too, there is no place left for the message.
                let _ = writeln!(io::stderr(), "error: {}", plain(&format!("{:#}", failure.error)));
            }
            failure.exit.into()
        }
    }
}
