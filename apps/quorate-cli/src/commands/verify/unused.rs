//! Flags that no input uses, or not every input. They would give false comfort: `--network holesky` beside claims of mainnet changes
//! nothing.

use std::path::PathBuf;

use anyhow::anyhow;
use quorate_formats::Format;
use quorate_host::exit::Failure;

use super::arguments::Arguments;
use crate::commands::print::plural;

/// Refuses a flag that none of these formats uses.
pub(super) fn refuse(arguments: &Arguments, formats: &[Format]) -> Result<(), Failure> {
    let key_set = Flag { name: "--key-set", given: !arguments.key_set.is_empty(), users: &[Format::Jsonl] };
    let mut flags = std::iter::once(key_set).chain(about_trust(arguments));
    let unused = flags.find(|flag| flag.given && !formats.iter().any(|format| flag.users.contains(format)));
    let Some(Flag { name, users, .. }) = unused else { return Ok(()) };
    let found: Vec<_> = Format::ALL.into_iter().filter(|format| formats.contains(format)).map(what).collect();
    Err(Failure::usage(anyhow!(
        "{name} is for {}, and the inputs have none, so it would check nothing (found {}); leave it out, or name the file that it is \
         for",
        kinds(users),
        found.join(", ")
    )))
}

/// What to say of inputs that a flag about trust does not concern, a line for each flag. Whoever writes an input chooses its format, and
/// a claim states its own key: it is valid under any `--trusted-root`.
pub(super) fn warnings<'a>(
    arguments: &Arguments,
    inputs: impl Iterator<Item = (&'a str, Format)> + Clone,
) -> Vec<String> {
    let warning = |Flag { name, given, users }: Flag| {
        let mut others = inputs.clone().filter(|(_, format)| given && !users.contains(format));
        let named: Vec<_> =
            others.by_ref().take(NAMED).map(|(input, format)| format!("{input} ({})", what(format))).collect();
        let more = match others.count() {
            0 => String::new(),
            more => format!(" and of {}", plural(more, "other input")),
        };
        let (users, others) = (kinds(users), named.join(", "));
        (!named.is_empty()).then(|| format!("warning: {name} is for {users}, so it says nothing of {others}{more}"))
    };
    about_trust(arguments).into_iter().filter_map(warning).collect()
}

/// So many inputs are named that a flag does not concern.
const NAMED: usize = 10;

/// A flag that is for some formats.
struct Flag {
    name: &'static str,
    given: bool,
    users: &'static [Format],
}

/// The flags that say which keys, which chain or which block the user trusts. `--key-set` is none of them: the claims say whether they
/// use it.
fn about_trust(arguments: &Arguments) -> [Flag; 10] {
    const OF_LIGHT_CLIENTS: &[Format] = &[Format::LightClient];
    const OF_NETWORKS: &[Format] = &[Format::LightClient, Format::Deposit, Format::Change, Format::Exit];
    let Arguments { chain, chain_info, network, genesis_validators_root, fork_version, .. } = arguments;
    let Arguments { committee, trusted_root, min_participants, public_key, validators, .. } = arguments;
    let some = |files: &[PathBuf]| !files.is_empty();
    [
        flag("--chain", chain.is_some(), &[Format::Drand]),
        flag("--chain-info", chain_info.is_some(), &[Format::Drand]),
        flag("--network", network.is_some(), OF_NETWORKS),
        flag(
            "--genesis-validators-root",
            genesis_validators_root.is_some(),
            &[Format::LightClient, Format::Change, Format::Exit],
        ),
        flag("--fork-version", fork_version.is_some(), OF_NETWORKS),
        flag("--committee", some(committee), OF_LIGHT_CLIENTS),
        flag("--trusted-root", trusted_root.is_some(), OF_LIGHT_CLIENTS),
        flag("--min-participants", min_participants.is_some(), OF_LIGHT_CLIENTS),
        flag("--public-key", !public_key.is_empty(), &[Format::Exit]),
        flag("--validators", some(validators), &[Format::Exit]),
    ]
}

const fn flag(name: &'static str, given: bool, users: &'static [Format]) -> Flag {
    Flag { name, given, users }
}

/// What inputs of these formats hold.
fn kinds(formats: &[Format]) -> String {
    formats.iter().map(|format| what(*format)).collect::<Vec<_>>().join(", ")
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
