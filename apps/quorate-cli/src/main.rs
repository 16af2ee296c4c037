//! The binary `quorate`.

#![forbid(unsafe_code)]

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use quorate_cli::{cli::Cli, exit::Exit};

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // A reader that left early (`quorate … | head`) is no trouble worth a message.
            let left = failure.error.root_cause().downcast_ref::<io::Error>();
            if left.is_none_or(|e| e.kind() != io::ErrorKind::BrokenPipe) && failure.exit != Exit::Interrupted {
                // Nobody is left to tell where standard error is gone too.
                let _ = writeln!(io::stderr(), "error: {:#}", failure.error);
            }
            failure.exit.into()
        }
    }
}
