//! The key that pays for a transaction. It is not an operator's key: it signs no result.

use std::{
    env,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use alloy::signers::local::PrivateKeySigner;
use anyhow::anyhow;
use clap::Args;
use quorate_chain::PayerError;
use quorate_host::exit::{Failure, Result};
use quorate_keystore::{
    keystore::AccountKeystore,
    passphrase::Passphrase,
    secret_file::{self, SecretFile},
};
use zeroize::Zeroizing;

use crate::print::note;

/// The variable that holds a key, if no file does.
pub(crate) const VARIABLE: &str = "QUORATE_CHAIN_KEY";

/// Where the key comes from.
#[derive(Debug, Args)]
pub(crate) struct Payer {
    /// The key that pays: an Ethereum keystore (version 3), or 64 hexadecimal digits. Without it, the variable
    /// QUORATE_CHAIN_KEY holds the digits
    #[arg(long, value_name = "FILE", env = "QUORATE_CHAIN_KEY_FILE")]
    key_file: Option<PathBuf>,

    /// A file whose first line is the keystore's passphrase. Without it, the terminal is asked
    #[arg(long, value_name = "FILE", requires = "key_file", env = "QUORATE_CHAIN_PASSPHRASE_FILE")]
    passphrase_file: Option<PathBuf>,
}

impl Payer {
    /// Whether there is one: a file or the variable.
    pub(crate) fn is_named(&self) -> bool {
        self.key_file.is_some() || env::var_os(VARIABLE).is_some()
    }

    /// The key.
    ///
    /// # Errors
    /// There is none, or it cannot be read. No message repeats a secret.
    pub(crate) fn signer(&self) -> Result<PrivateKeySigner> {
        match &self.key_file {
            Some(file) => self.unlock(file),
            None => from_variable(),
        }
    }

    fn unlock(&self, path: &Path) -> Result<PrivateKeySigner> {
        let name = path.display();
        let text = read_secret(path)?;
        if let Some(key) = raw(&text) {
            if self.passphrase_file.is_some() {
                let error = anyhow!("{name} holds a key that is not encrypted; leave --passphrase-file out");
                return Err(Failure::usage(error));
            }
            return key.map_err(|error| Failure::usage(error.context(name.to_string())));
        }
        let refused = |error: &dyn std::fmt::Display| Failure::usage(anyhow!("{name}: {error}"));
        if !text.trim_start().starts_with('{') {
            return Err(refused(&"expected an Ethereum keystore of version 3, or 64 hexadecimal digits"));
        }
        // What cannot be opened with any passphrase is refused before one is asked for.
        AccountKeystore::parse(text.as_bytes()).map_err(|error| refused(&error))?;
        let passphrase = Passphrase::new(self.passphrase(&name.to_string())?);
        let key = quorate_chain::Payer::from_keystore(text.as_bytes(), &passphrase);
        key.map(PrivateKeySigner::from).map_err(|error| refused(&error))
    }

    fn passphrase(&self, keystore: &str) -> Result<Zeroizing<String>> {
        let Some(file) = &self.passphrase_file else {
            if !io::stdin().is_terminal() {
                return Err(Failure::usage(anyhow!(
                    "there is no terminal to ask for a passphrase: --passphrase-file FILE"
                )));
            }
            let passphrase = rpassword::prompt_password(format!("Passphrase for {keystore}: "));
            return passphrase.map(Zeroizing::new).map_err(Failure::io);
        };
        let text = read_secret(file)?;
        Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
    }
}

/// Reads a text file with a secret, and warns if others can read it, too.
fn read_secret(path: &Path) -> Result<Zeroizing<String>> {
    let SecretFile { contents, warning } = secret_file::read(path)?;
    warning.into_iter().for_each(note);
    let text = str::from_utf8(&contents).map_err(|_| Failure::usage(anyhow!("{} is not text", path.display())))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// The key that stands in a text as 64 hexadecimal digits; none if the text is something else.
fn raw(text: &str) -> Option<anyhow::Result<PrivateKeySigner>> {
    match quorate_chain::Payer::from_hex(text) {
        Err(PayerError::Digits) => None,
        key => Some(key.map(PrivateKeySigner::from).map_err(|_| anyhow!("this is not a key of secp256k1"))),
    }
}

fn from_variable() -> Result<PrivateKeySigner> {
    let usage = |what: &str| Failure::usage(anyhow!("{what}; pass --key-file FILE, or set {VARIABLE}"));
    let text = match env::var(VARIABLE) {
        Ok(text) => Zeroizing::new(text),
        Err(env::VarError::NotPresent) => return Err(usage("there is no key that pays for the transaction")),
        Err(env::VarError::NotUnicode(_)) => return Err(usage(&format!("{VARIABLE} is not text"))),
    };
    match raw(&text) {
        None => Err(usage(&format!("{VARIABLE} is not a key: expected 64 hexadecimal digits"))),
        Some(key) => key.map_err(|error| Failure::usage(error.context(VARIABLE))),
    }
}
