//! Flags that no input uses. They would give false comfort: `--network holesky` beside claims of mainnet changes nothing.

use std::path::PathBuf;

use anyhow::anyhow;
use quorate_formats::Format;
use quorate_host::exit::Failure;

use super::arguments::Arguments;

/// Refuses a flag that none of these formats uses.
pub(super) fn refuse(arguments: &Arguments, formats: &[Format]) -> Result<(), Failure> {
    let Arguments { key_set, chain, chain_info, network, genesis_validators_root, fork_version, .. } = arguments;
    let Arguments { committee, trusted_root, min_participants, public_key, validators, .. } = arguments;
    let some = |files: &[PathBuf]| !files.is_empty();
    let flags: [(&str, bool, &[Format]); 11] = [
        ("--key-set", !key_set.is_empty(), &[Format::Jsonl]),
        ("--chain", chain.is_some(), &[Format::Drand]),
        ("--chain-info", chain_info.is_some(), &[Format::Drand]),
        ("--network", network.is_some(), &[Format::LightClient, Format::Deposit, Format::Change, Format::Exit]),
        (
            "--genesis-validators-root",
            genesis_validators_root.is_some(),
            &[Format::LightClient, Format::Change, Format::Exit],
        ),
        (
            "--fork-version",
            fork_version.is_some(),
            &[Format::LightClient, Format::Deposit, Format::Change, Format::Exit],
        ),
        ("--committee", some(committee), &[Format::LightClient]),
        ("--trusted-root", trusted_root.is_some(), &[Format::LightClient]),
        ("--min-participants", min_participants.is_some(), &[Format::LightClient]),
        ("--public-key", !public_key.is_empty(), &[Format::Exit]),
        ("--validators", some(validators), &[Format::Exit]),
    ];
    let unused = flags.into_iter().find(|(_, given, users)| *given && !formats.iter().any(|it| users.contains(it)));
    let Some((flag, _, users)) = unused else { return Ok(()) };
    let users: Vec<_> = users.iter().map(|format| what(*format)).collect();
    let found: Vec<_> = Format::ALL.into_iter().filter(|format| formats.contains(format)).map(what).collect();
    Err(Failure::usage(anyhow!(
        "{flag} is for {}, and the inputs have none, so it would check nothing (found {}); leave it out, or name the file that it is \
         for",
        users.join(", "),
        found.join(", ")
    )))
}

/// What an input of a format holds.
const fn what(format: Format) -> &'static str {
    match format {
        Format::Jsonl => "claims in JSON Lines",
        Format::Parquet => "claims in Parquet",
        Format::Drand => "drand rounds",
        Format::LightClient => "light-client objects",
        Format::Deposit => "deposits",
        Format::Change => "changes of credentials",
        Format::Exit => "exits",
    }
}
