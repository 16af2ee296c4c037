//! `quorate-lab demo-work`: the two programs of the demonstration's operators, so that it needs no other language.

use std::io::{self, Read as _, Write as _};

use anyhow::anyhow;
use clap::Args;
use quorate_host::exit::{Exit, Failure, Result, output};
use quorate_node::programs::{ProgramInput, SCHEMA_VERSION};
use serde::Deserialize;

/// Do the work of the demonstration's operators: the price at a time, made from the time alone
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Give results that are false, and judge each result by the opposite of the truth
    #[arg(long)]
    lie: bool,
}

#[derive(Deserialize)]
struct Payload {
    pair: String,
    time: u64,
}

impl Arguments {
    /// Exits as docs/programs.md says: 0 for a result and for a right one, 1 for a false one, 2 for everything else.
    pub(crate) fn run(self) -> Result {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map_err(Failure::usage)?;
        let input: ProgramInput = serde_json::from_str(&text).map_err(Failure::usage)?;
        let (ProgramInput::Execute { version, payload, .. } | ProgramInput::Validate { version, payload, .. }) = &input;
        if *version != SCHEMA_VERSION {
            return Err(Failure::usage(anyhow!("the version is {version}, expected {SCHEMA_VERSION}")));
        }
        let payload: Payload = serde_json::from_slice(payload).map_err(Failure::usage)?;
        let right = price(&payload, false);
        match &input {
            ProgramInput::Execute { .. } => {
                let given = price(&payload, self.lie);
                output().write_all(given.as_bytes()).map_err(Failure::usage)?;
                Ok(Exit::Success)
            }
            ProgramInput::Validate { result, .. } if (result[..] == *right.as_bytes()) != self.lie => Ok(Exit::Success),
            ProgramInput::Validate { .. } => Ok(Exit::Negative),
        }
    }
}

/// A price between 3000.00 and 3099.99; a lie is a hundred more.
fn price(payload: &Payload, lie: bool) -> String {
    let cents = payload.time.wrapping_mul(7_919) % 10_000;
    let whole = 3_000 + u64::from(lie) * 100 + cents / 100;
    format!("{} {whole}.{:02}", payload.pair, cents % 100)
}
