//! What `sign deposit`, `sign change` and `sign exit` share: the network, the key, the record, and the staking tools' version.

use std::path::PathBuf;

use clap::Args;
use quorate::{MinPk, SecretKey};
use quorate_formats::network::KnownNetwork;
use quorate_host::exit::Failure;

use crate::commands::{
    unlock::{KeyFile, PassphraseArguments},
    value::{Value, named},
};

/// The network and the key.
#[derive(Clone, Debug, Args)]
pub(super) struct OperationArguments {
    /// The network for which this is signed: mainnet, sepolia, holesky, hoodi, goerli, gnosis or chiado
    #[arg(long, value_name = "NAME", value_parser = networks(), hide_possible_values = true)]
    pub(super) network: &'static KnownNetwork,

    /// File with the secret key: hexadecimal digits, keystore or JSON Web Key; `-` means standard input
    #[arg(long, value_name = "FILE")]
    key: PathBuf,

    #[command(flatten)]
    passphrase: PassphraseArguments,
}

impl OperationArguments {
    /// The secret key.
    pub(super) fn unlock(&self) -> Result<SecretKey<MinPk>, Failure> {
        KeyFile::read(&self.key)?.unlock(MinPk::Eth2, &self.passphrase.source()?)
    }
}

fn networks() -> Value<&'static KnownNetwork> {
    let read = |text: &str| {
        KnownNetwork::of_name(text).ok_or_else(|| {
            let names: Vec<_> = KnownNetwork::all().map(KnownNetwork::name).collect();
            format!("this network is not known, expected one of {}", names.join(", "))
        })
    };
    Value::new(read).with_names(|| named(KnownNetwork::all().map(KnownNetwork::name)))
}

/// The version of the staking deposit tool whose files these have the form of. Launchpads and clients ask for the field.
pub(super) const FORM_OF: &str = "2.8.0";
