//! The exit code of each error with keys: 2 if the input is wrong, 3 if the operating system refused, 4 if the
//! program or the machine is at fault.

use quorate_host::exit::{Ends as _, Exit, Failure};

use crate::secrets::{
    passphrase::PassphraseError,
    secret_folder::SecretFolderError,
    secret_source::{ReadSecretError, UnlockError},
    share_file::ShareFileError,
};

impl From<SecretFolderError> for Failure {
    fn from(error: SecretFolderError) -> Self {
        match error {
            SecretFolderError::Io { .. } => Self::io(error),
            _ => Self::usage(error),
        }
    }
}

impl From<ShareFileError> for Failure {
    fn from(error: ShareFileError) -> Self {
        Self::usage(error)
    }
}

impl From<PassphraseError> for Failure {
    fn from(error: PassphraseError) -> Self {
        let exit = match &error {
            PassphraseError::Line(error) => error.exit(),
            PassphraseError::Interrupted => Exit::Interrupted,
            _ => Exit::Usage,
        };
        Self { exit, error: error.into() }
    }
}

impl From<ReadSecretError> for Failure {
    fn from(error: ReadSecretError) -> Self {
        Self::usage(error)
    }
}

impl From<UnlockError> for Failure {
    fn from(error: UnlockError) -> Self {
        match error {
            UnlockError::Passphrase(error) => error.into(),
            UnlockError::Keystore(error) => error.into(),
            _ => Self::usage(error),
        }
    }
}
