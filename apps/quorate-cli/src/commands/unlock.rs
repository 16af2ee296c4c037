//! A key file, and the passphrase that decrypts it.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use quorate::{SecretKey, Suite};
use quorate_host::{
    dash::{STANDARD_INPUT, standard_input},
    exit::Failure,
};
use zeroize::Zeroizing;

use super::print;
use crate::secrets::{
    jwk::JwkCurve,
    keystore::OlderForm,
    passphrase::{Passphrase, PassphraseError, PassphrasePurpose, PassphraseSource},
    secret::Secret,
    secret_file::{self, ModeWarning, SecretFile},
    secret_source::{SecretSource, read_secret},
};

pub(super) use quorate_host::dash::{is_dash, name_of};

/// Where the passphrase comes from, in a command that reads a keystore.
#[derive(Clone, Debug, Args)]
pub(super) struct PassphraseArguments {
    /// Passphrase of the keystore: the first line of FILE. Without this flag and --passphrase-fd, it is asked for on the terminal
    #[arg(long, value_name = "FILE", conflicts_with = "passphrase_fd")]
    passphrase_file: Option<PathBuf>,

    /// Passphrase of the keystore: a line from file descriptor N (0 is standard input)
    #[arg(long, value_name = "N")]
    passphrase_fd: Option<u32>,
}

impl PassphraseArguments {
    pub(super) fn source(&self) -> Result<PassphraseSource, Failure> {
        Ok(PassphraseSource::from_flags(self.passphrase_file.clone(), self.passphrase_fd)?)
    }

    /// Whether one of the two flags is given.
    pub(super) fn is_given(&self) -> bool {
        self.passphrase_file.is_some() || self.passphrase_fd.is_some()
    }
}

/// The same in a command that also writes a keystore. There the flags with the shorter names are for the keystore that is
/// written.
#[derive(Clone, Debug, Args)]
pub(super) struct FromPassphraseArguments {
    /// Passphrase of the keystore that is read: the first line of FILE. Without this flag and --from-passphrase-fd, it is asked for
    /// on the terminal
    #[arg(long, value_name = "FILE", conflicts_with = "from_passphrase_fd")]
    from_passphrase_file: Option<PathBuf>,

    /// Passphrase of the keystore that is read: a line from file descriptor N (0 is standard input)
    #[arg(long, value_name = "N")]
    from_passphrase_fd: Option<u32>,
}

impl FromPassphraseArguments {
    pub(super) fn source(&self) -> Result<PassphraseSource, Failure> {
        Ok(PassphraseSource::from_flags(self.from_passphrase_file.clone(), self.from_passphrase_fd)?)
    }

    /// Decrypts the key file that is read.
    pub(super) fn unlock<S: Suite>(&self, suite: S, file: KeyFile) -> Result<SecretKey<S>, Failure> {
        self.open(|source| file.unlock(suite, source))
    }

    /// Decrypts a file with the passphrase.
    pub(super) fn open<T>(&self, open: impl FnOnce(&PassphraseSource) -> Result<T, Failure>) -> Result<T, Failure> {
        open(&self.source()?).map_err(|failure| match failure.error.downcast_ref() {
            // The error names the flags for the file that is written, so it is replaced.
            Some(PassphraseError::NoTerminal(_)) => Failure::usage(anyhow!(
                "there is no terminal to ask for the passphrase of the keystore that is read; use --from-passphrase-file PATH \
                 or --from-passphrase-fd N"
            )),
            _ => failure,
        })
    }

    /// Whether one of the two flags is given.
    pub(super) fn is_given(&self) -> bool {
        self.from_passphrase_file.is_some() || self.from_passphrase_fd.is_some()
    }
}

/// A key file that was read. It may still be encrypted.
pub(super) struct KeyFile {
    /// Its name in messages.
    pub(super) name: String,
    /// Its content.
    pub(super) source: SecretSource,
}

impl KeyFile {
    /// Reads a file of any format. `-` means standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = name_of(path);
        let SecretFile { contents, warning } = read_file(path)?;
        let source = read_secret(&contents).map_err(|error| Failure::from(error).context(name.clone()))?;
        // A keystore is encrypted, so whoever can read the file has not got the secret.
        if !matches!(source, SecretSource::Keystore(_)) {
            warn(warning);
        }
        Ok(Self { name, source })
    }

    /// The secret key, compared with the public key that the file states.
    pub(super) fn unlock<S: Suite>(self, suite: S, passphrase: &PassphraseSource) -> Result<SecretKey<S>, Failure> {
        self.refuse_other_variant(suite)?;
        let name = self.name.clone();
        let secret = self.secret(passphrase, |secret| public_key_bytes(suite, secret))?;
        SecretKey::from_bytes(secret.expose()).map_err(|error| Failure::usage(error).context(name))
    }

    /// The secret, compared with the public key that the file states. `derive` returns the encoded public key of a secret, or
    /// `None` if the bytes are not a secret key.
    pub(super) fn secret(
        self,
        passphrase: &PassphraseSource,
        derive: impl FnOnce(&Secret) -> Option<Vec<u8>>,
    ) -> Result<Secret, Failure> {
        let Self { name, source } = self;
        let is_encrypted = matches!(source, SecretSource::Keystore(_));
        refuse_unused(passphrase, is_encrypted, &name)?;
        if is_encrypted && name == STANDARD_INPUT && is_standard_input(passphrase) {
            return Err(Failure::usage(anyhow!(
                "standard input cannot be both the keystore and its passphrase; use --passphrase-file or another descriptor"
            )));
        }
        let opened = source.unlock(|| ask(passphrase, PassphrasePurpose::Unlock, &name), derive);
        let opened = opened.map_err(|error| Failure::from(error).context(name.clone()))?;
        say_older_form(&name, opened.older);
        Ok(opened.secret)
    }

    /// The public key that the file states, encoded, if it states one.
    pub(super) fn stated(&self) -> Option<&[u8]> {
        match &self.source {
            SecretSource::Plain(_) => None,
            SecretSource::Keystore(keystore) => keystore.public_key(),
            SecretSource::Jwk(jwk) => jwk.public_key(),
        }
    }

    /// Refuses a key whose length shows that it is of the other variant. The message is clearer than one about two keys that
    /// differ.
    pub(super) fn refuse_other_variant<S: Suite>(&self, suite: S) -> Result<(), Failure> {
        let found = match &self.source {
            SecretSource::Jwk(jwk) => match jwk.curve() {
                JwkCurve::G1 => 48,
                JwkCurve::G2 => 96,
            },
            _ => self.stated().map_or(suite.key_length(), <[u8]>::len),
        };
        if found == suite.key_length() {
            return Ok(());
        }
        Err(Failure::usage(anyhow!(
            "{}: found a public key of {found} bytes, expected {} as in {suite}; choose the --suite that the key was made for",
            self.name,
            suite.key_length()
        )))
    }
}

/// The bytes of a file with a secret that is not encrypted. `-` means standard input. Warns if others can use the file.
pub(super) fn read_secret_bytes(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let SecretFile { contents, warning } = read_file(path)?;
    warn(warning);
    Ok(contents)
}

/// The bytes of a file with a secret, and a warning if others can use it. `-` means standard input.
pub(super) fn read_file(path: &Path) -> Result<SecretFile, Failure> {
    if !is_dash(path) {
        return Ok(secret_file::read(path)?);
    }
    let contents = secret_file::read_bounded(standard_input()?.lock())?
        .ok_or_else(|| Failure::usage(anyhow!("{STANDARD_INPUT} has more than 64 KiB, which is too much for a key")))?;
    Ok(SecretFile { contents, warning: None })
}

/// Gets a passphrase, and prints a warning if others can read it.
pub(super) fn ask(
    source: &PassphraseSource,
    purpose: PassphrasePurpose,
    what: &str,
) -> Result<Passphrase, PassphraseError> {
    let answer = source.read(purpose, what)?;
    warn(answer.warning);
    Ok(answer.passphrase)
}

/// A passphrase for a file that is not encrypted is most likely one for another file.
pub(super) fn refuse_unused(passphrase: &PassphraseSource, is_encrypted: bool, name: &str) -> Result<(), Failure> {
    if is_encrypted || matches!(passphrase, PassphraseSource::Terminal) {
        return Ok(());
    }
    Err(Failure::usage(anyhow!(
        "{name} is not encrypted, so it has no passphrase; leave the flag of the passphrase out, or name the keystore"
    )))
}

/// Prints a warning if others can use a file.
pub(super) fn warn(warning: Option<ModeWarning>) {
    if let Some(warning) = warning {
        print::note(format_args!("warning: {warning}"));
    }
}

/// Says that a keystore was opened by an older form of its passphrase.
pub(super) fn say_older_form(name: &str, form: Option<OlderForm>) {
    if let Some(form) = form {
        print::note(format_args!(
            "warning: {name}: the passphrase opens it {form}; EIP-2335 takes passphrases otherwise, so other programs may call it wrong; \
             write the keystore anew with `quorate key import`"
        ));
    }
}

/// Whether the passphrase comes from standard input.
pub(super) fn is_standard_input(source: &PassphraseSource) -> bool {
    *source == PassphraseSource::Descriptor(0)
}

/// The encoded public key of a secret, or `None` if the bytes are not a secret key.
pub(super) fn public_key_bytes<S: Suite>(suite: S, secret: &Secret) -> Option<Vec<u8>> {
    SecretKey::<S>::from_bytes(secret.expose()).ok().map(|key| key.claim_key(suite))
}
