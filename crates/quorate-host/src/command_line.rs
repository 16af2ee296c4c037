//! A program and its command line: read, and answered where it asks for help.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

use crate::exit::{self, Exit, Failure, Result, output_error};

/// Reads the command line and runs the program with it. Help and the version go to standard output, and an error in the command line to
/// standard error.
pub fn run<P: Parser>(program: impl FnOnce(P) -> Result) -> ExitCode {
    exit::run(|| match P::try_parse() {
        Ok(line) => program(line),
        Err(answer) => say(&answer),
    })
}

/// Prints what clap answers. If standard error cannot take an error, there is no other place for it.
fn say(answer: &clap::Error) -> Result {
    let printed = answer.print();
    if answer.use_stderr() {
        return Ok(Exit::Usage);
    }
    // What is left in the buffer of standard output is not lost in silence.
    let printed = printed.and_then(|()| std::io::Write::flush(&mut std::io::stdout()));
    printed.map_err(output_error).context(exit::OUTPUT_FAILED).map_err(Failure::io)?;
    Ok(Exit::Success)
}
