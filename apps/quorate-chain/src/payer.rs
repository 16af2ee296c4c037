//! The key that pays for a transaction. It is not an operator's key: it signs no result.

use std::{
    env,
    io::{self, IsTerminal as _},
    path::{Path, PathBuf},
};

use anyhow::anyhow;
use clap::Args;
use quorate_chain::{PayerError, PayerFile};
use quorate_host::{
    exit::{Failure, Result},
    flag::{exported, variable},
};
use quorate_keystore::passphrase::Passphrase;
use zeroize::Zeroizing;

use crate::print::note;

/// The variable that holds a key, if no file does.
pub(crate) const VARIABLE: &str = "QUORATE_CHAIN_KEY";

/// The variable that names the file of a passphrase. clap does not read it: a payer without a keystore has no use for it.
const PASSPHRASE_VARIABLE: &str = "QUORATE_CHAIN_PASSPHRASE_FILE";

/// Where the key comes from.
#[derive(Debug, Args)]
pub(crate) struct Payer {
    /// The key that pays: an Ethereum keystore (version 3), or 64 hexadecimal digits. Without it, the variable
    /// QUORATE_CHAIN_KEY holds the digits
    #[arg(long, value_name = "FILE", env = variable("QUORATE_CHAIN_KEY_FILE"))]
    key_file: Option<PathBuf>,

    /// A file whose first line is the keystore's passphrase. Without it, the variable QUORATE_CHAIN_PASSPHRASE_FILE names the file, or
    /// the terminal is asked
    #[arg(long, value_name = "FILE", requires = "key_file")]
    passphrase_file: Option<PathBuf>,
}

impl Payer {
    /// Whether there is one: a file or the variable.
    pub(crate) fn is_named(&self) -> bool {
        self.key_file.is_some() || exported(VARIABLE).is_some()
    }

    /// The key.
    ///
    /// # Errors
    /// There is none, or it cannot be read. No message repeats a secret.
    pub(crate) fn open(&self) -> Result<quorate_chain::Payer> {
        match &self.key_file {
            Some(file) => self.unlock(file),
            None => from_variable(),
        }
    }

    fn unlock(&self, path: &Path) -> Result<quorate_chain::Payer> {
        let named = || exported(PASSPHRASE_VARIABLE).map(PathBuf::from);
        let passphrase = self.passphrase_file.clone().or_else(named);
        let passphrase_option = if self.passphrase_file.is_some() { "--passphrase-file" } else { PASSPHRASE_VARIABLE };
        let file = PayerFile { key: path, passphrase: passphrase.as_deref(), passphrase_option };
        let ask = || {
            // Without a terminal there is nobody to ask.
            let asked = io::stdin().is_terminal();
            let ask = || rpassword::prompt_password(format!("Passphrase for {}: ", path.display()));
            asked.then(ask).transpose().map(|text| text.map(|text| Passphrase::new(Zeroizing::new(text))))
        };
        Ok(file.open(ask, note)?)
    }
}

fn from_variable() -> Result<quorate_chain::Payer> {
    let usage = |what: &str| Failure::usage(anyhow!("{what}; pass --key-file FILE, or set {VARIABLE}"));
    let text = match env::var(VARIABLE) {
        Ok(text) if !text.is_empty() => Zeroizing::new(text),
        Ok(_) | Err(env::VarError::NotPresent) => return Err(usage("there is no key that pays for the transaction")),
        Err(env::VarError::NotUnicode(_)) => return Err(usage(&format!("{VARIABLE} is not text"))),
    };
    match quorate_chain::Payer::from_hex(&text) {
        Err(PayerError::Digits) => Err(usage(&format!("{VARIABLE} is not a key: expected 64 hexadecimal digits"))),
        key => key.map_err(|error| Failure::usage(error).context(VARIABLE)),
    }
}
