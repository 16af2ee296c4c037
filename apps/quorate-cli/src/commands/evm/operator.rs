//! What the commands of an operator share: its key, and addresses.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use quorate_evm::{KeyGroup, OperatorKey, address, alloy_primitives::Address};
use quorate_host::exit::Failure;

use crate::{
    commands::{
        unlock::{KeyFile, PassphraseArguments},
        value::{Value, named, parsed},
    },
    secrets::{secret::Secret, secret_source::SecretSource},
};

/// The curve and the group of a key. There is no default, because a key of the wrong one is useless.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct KeyGroupArgument {
    /// Curve and group of the contract's keys: bn254-g2, bn254-g1, bls12381-g2 or bls12381-g2-nu
    #[arg(long, value_name = "NAME", value_parser = key_groups(), hide_possible_values = true)]
    pub(super) key_group: KeyGroup,
}

/// An operator's key in a file.
#[derive(Debug, Args)]
pub(super) struct OperatorArguments {
    #[command(flatten)]
    key_group: KeyGroupArgument,

    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,
}

impl OperatorArguments {
    /// The curve and the group that the command line names.
    pub(super) fn key_group(&self) -> KeyGroup {
        self.key_group.key_group
    }

    /// The key, compared with the public key that the file states.
    pub(super) fn unlock(&self) -> Result<OperatorKey, Failure> {
        let KeyGroupArgument { key_group } = self.key_group;
        let file = KeyFile::read(&self.key)?;
        refuse_other_group(&file, key_group)?;
        let name = file.name.clone();
        let secret = file.secret(&self.passphrase.source()?, |secret| stated_key(key_group, secret))?;
        OperatorKey::from_bytes(key_group, secret.expose()).map_err(|error| Failure::usage(error).context(name))
    }
}

/// The public key that the file of a secret states, or `None` if the bytes are not a secret key.
pub(super) fn stated_key(key_group: KeyGroup, secret: &Secret) -> Option<Vec<u8>> {
    OperatorKey::from_bytes(key_group, secret.expose()).ok().map(|key| stated_by(&key))
}

/// The public key that a keystore states: compressed on BLS12-381, as in other keystores. On BN254 it is the key of a
/// network's member, whose length tells the group.
pub(super) fn stated_by(key: &OperatorKey) -> Vec<u8> {
    key.compressed().unwrap_or_else(|| key.member()).to_vec()
}

/// Refuses a key whose length shows that it is of another group. The message is clearer than one about two keys that differ.
fn refuse_other_group(file: &KeyFile, key_group: KeyGroup) -> Result<(), Failure> {
    let expected = match key_group {
        KeyGroup::Bn254G2 | KeyGroup::Bn254G1 => key_group.member_bytes(),
        KeyGroup::Bls12381G2 | KeyGroup::Bls12381G2Nu => 96,
    };
    if matches!(file.source, SecretSource::Jwk(_)) && matches!(key_group, KeyGroup::Bn254G2 | KeyGroup::Bn254G1) {
        return Err(Failure::usage(anyhow!(
            "{}: a JSON Web Key is on BLS12-381; choose the --key-group that the key was made for",
            file.name
        )));
    }
    match file.stated() {
        Some(stated) if stated.len() != expected => Err(Failure::usage(anyhow!(
            "{}: found a public key of {} bytes, expected {expected} as in {key_group}; choose the --key-group that the key was \
             made for",
            file.name,
            stated.len()
        ))),
        _ => Ok(()),
    }
}

fn key_groups() -> Value<KeyGroup> {
    Value::new(parsed).with_names(|| named(KeyGroup::ALL.iter().map(|group| group.name())))
}

/// Addresses of flags. No account and no contract has the address zero.
pub(in crate::commands) fn addresses() -> Value<Address> {
    Value::new(|text| match address::parse(text) {
        Ok(address) if address == Address::ZERO => Err("nobody has the address zero; name another".to_owned()),
        read => read.map_err(|error| error.to_string()),
    })
}
