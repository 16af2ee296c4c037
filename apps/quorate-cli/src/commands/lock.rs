//! How a secret is encrypted that a command writes.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, ValueEnum};

use crate::secrets::{
    keystore::{Kdf, Pbkdf2, Scrypt},
    passphrase::PassphraseSource,
};
use quorate_host::exit::Failure;

/// Whether a secret is written as a keystore, and the passphrase of it.
#[derive(Clone, Debug, Args)]
pub(super) struct KeystoreArguments {
    /// Write a keystore (EIP-2335), encrypted with a passphrase
    #[arg(long)]
    keystore: bool,

    /// Passphrase of the new keystore: the first line of FILE. Without this flag and --passphrase-fd, it is asked for on the terminal
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    passphrase_file: Option<PathBuf>,

    /// Passphrase of the new keystore: a line from file descriptor N (0 is standard input)
    #[arg(long, value_name = "N")]
    passphrase_fd: Option<u32>,

    /// Keystore: the key derivation function; scrypt by default
    #[arg(long, value_name = "NAME", requires = "keystore")]
    kdf: Option<KdfName>,
}

/// The key derivation functions of EIP-2335.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KdfName {
    /// Slow, and needs 256 MiB of memory: choose it unless some program cannot read it
    Scrypt,
    /// Slow: for programs that cannot read scrypt
    Pbkdf2,
}

impl KeystoreArguments {
    /// Whether a keystore is written.
    pub(super) fn is_given(&self) -> bool {
        self.keystore
    }

    /// Where the passphrase of the keystore comes from. Refuses a passphrase for a secret that is not encrypted.
    pub(super) fn check(&self) -> Result<PassphraseSource, Failure> {
        let passphrase = PassphraseSource::from_flags(self.passphrase_file.clone(), self.passphrase_fd)?;
        if !self.keystore && passphrase != PassphraseSource::Terminal {
            return Err(Failure::usage(anyhow!(
                "--passphrase-file and --passphrase-fd are for the keystore that is written, so they need --keystore; a \
                 command that reads a keystore has --from-passphrase-file and --from-passphrase-fd for it"
            )));
        }
        Ok(passphrase)
    }

    /// The key derivation function of the keystore.
    pub(super) fn kdf(&self) -> Kdf {
        match self.kdf {
            None | Some(KdfName::Scrypt) => Kdf::Scrypt(Scrypt::default()),
            Some(KdfName::Pbkdf2) => Kdf::Pbkdf2(Pbkdf2::default()),
        }
    }
}
