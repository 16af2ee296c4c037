//! The key that pays for a transaction. It is no operator's key: it signs no result.

use std::{
    env, fs,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use alloy::signers::local::PrivateKeySigner;
use anyhow::{Context as _, anyhow};
use clap::Args;
use zeroize::Zeroizing;

use crate::exit::{Failure, Result};

/// The variable that holds a key, if no file does.
pub(crate) const VARIABLE: &str = "QUORATE_CHAIN_KEY";

/// Where the key comes from.
#[derive(Debug, Args)]
pub(crate) struct Payer {
    /// An Ethereum keystore (version 3) with the key that pays. Without it, the variable QUORATE_CHAIN_KEY holds the key, 64
    /// hexadecimal digits
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// A file whose first line is the keystore's passphrase. Without it, the terminal is asked
    #[arg(long, value_name = "FILE", requires = "key_file")]
    passphrase_file: Option<PathBuf>,
}

impl Payer {
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

    fn unlock(&self, file: &Path) -> Result<PrivateKeySigner> {
        let name = file.display().to_string();
        // The library's message for a file that is not there is that for a file of another form.
        fs::File::open(file).with_context(|| format!("cannot read {name}")).map_err(Failure::io)?;
        let passphrase = self.passphrase(&name)?;
        PrivateKeySigner::decrypt_keystore(file, passphrase.as_bytes())
            .with_context(|| format!("{name}: this is no Ethereum keystore of version 3, or the passphrase is wrong"))
            .map_err(Failure::usage)
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
        let text = fs::read_to_string(file).map(Zeroizing::new);
        let text = text.with_context(|| format!("cannot read {}", file.display())).map_err(Failure::io)?;
        Ok(Zeroizing::new(text.lines().next().unwrap_or_default().to_owned()))
    }
}

fn from_variable() -> Result<PrivateKeySigner> {
    let usage = |what: &str| Failure::usage(anyhow!("{what}; pass --key-file FILE, or set {VARIABLE}"));
    let text = match env::var(VARIABLE) {
        Ok(text) => Zeroizing::new(text),
        Err(env::VarError::NotPresent) => return Err(usage("there is no key that pays for the transaction")),
        Err(env::VarError::NotUnicode(_)) => return Err(usage(&format!("{VARIABLE} is not text"))),
    };
    let mut bytes = Zeroizing::new([0; 32]);
    const_hex::decode_to_slice(text.trim(), &mut *bytes)
        .map_err(|_| usage(&format!("{VARIABLE} is not a key: expected 64 hexadecimal digits")))?;
    PrivateKeySigner::from_slice(&*bytes).map_err(|_| usage(&format!("{VARIABLE} is not a key of secp256k1")))
}
