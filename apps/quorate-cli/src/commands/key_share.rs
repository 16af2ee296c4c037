//! The file of a participant's share of a key.

use std::path::Path;

use anyhow::anyhow;
use quorate::{Bls12381Suite, SecretKey};
use quorate_curve::Bls12381Group;
use quorate_host::exit::Failure;
use quorate_threshold::KeyShare;

use super::{
    shared_key::refuse_augmented,
    suite::{Bls12381Argument, Bls12381Choice},
    unlock::{
        ask, is_dash, is_standard_input, name_of, public_key_bytes, read_file, refuse_unused, say_older_form, warn,
    },
};
use crate::secrets::{
    keystore::{Kdf, Keystore, KeystoreOptions},
    passphrase::{Passphrase, PassphrasePurpose, PassphraseSource},
    secret::Secret,
    secret_file::{self, Existing, SecretFile},
    share_file::{ShareFile, ShareSecret},
};

/// A file that was read. It may still be encrypted.
pub(super) struct KeyShareFile {
    /// Its name in messages.
    name: String,
    from_standard_input: bool,
    share: ShareFile,
    suite: Bls12381Choice,
}

/// A share that belongs to the verification key of its file. Whether a committee has such a participant, and the commitment of
/// the shared key proves it, is not known yet.
pub(super) struct OpenShare<S: Bls12381Suite> {
    pub(super) index: u64,
    /// The key that all participants share, as the file states it, encoded.
    pub(super) public_key: Vec<u8>,
    pub(super) secret: SecretKey<S>,
}

impl KeyShareFile {
    /// Reads a file. `-` means standard input.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = name_of(path);
        let SecretFile { contents, warning } = read_file(path)?;
        let share = ShareFile::parse(&contents).map_err(|error| Failure::from(error).context(name.clone()))?;
        // A keystore is encrypted, so whoever can read the file has not got the secret.
        if matches!(share.secret(), ShareSecret::Plain(_)) {
            warn(warning);
        }
        let suite = Bls12381Choice::try_from(share.suite())
            .map_err(|reason| Failure::usage(anyhow!(reason)).context(name.clone()))?;
        Ok(Self { name, from_standard_input: is_dash(path), share, suite })
    }

    /// The suite of the key.
    pub(super) fn suite(&self) -> Bls12381Argument {
        Bls12381Argument { suite: self.suite }
    }

    /// The share, compared with the verification key that the file states.
    pub(super) fn unlock<S: Bls12381Suite>(
        self,
        suite: S,
        passphrase: &PassphraseSource,
    ) -> Result<OpenShare<S>, Failure> {
        let Self { name, from_standard_input, share, .. } = self;
        refuse_augmented(suite).map_err(|failure| failure.context(name.clone()))?;
        let expected = S::Key::COMPRESSED;
        for (field, bytes) in [("public_key", share.public_key()), ("verification_key", share.verification_key())] {
            if bytes.len() != expected {
                return Err(Failure::usage(anyhow!(
                    "{name}: \"{field}\": found {} bytes, expected {expected} as in {suite}",
                    bytes.len()
                )));
            }
        }
        let is_encrypted = matches!(share.secret(), ShareSecret::Keystore(_));
        refuse_unused(passphrase, is_encrypted, &name)?;
        if from_standard_input && is_encrypted && is_standard_input(passphrase) {
            return Err(Failure::usage(anyhow!(
                "standard input cannot be both the share and its passphrase; use --passphrase-file or another descriptor"
            )));
        }
        let (index, public_key) = (share.index(), share.public_key().to_vec());
        let opened = share
            .unlock(|| ask(passphrase, PassphrasePurpose::Unlock, &name), |secret| public_key_bytes(suite, secret))
            .map_err(|error| Failure::from(error).context(name.clone()))?;
        say_older_form(&name, opened.older);
        let secret = SecretKey::from_bytes(opened.secret.expose());
        let secret = secret.map_err(|error| Failure::usage(error).context(name))?;
        Ok(OpenShare { index, public_key, secret })
    }
}

/// Writes the file of a share, for its owner alone (mode 0600). A file that exists is left as it is.
pub(super) fn write<S: Bls12381Suite>(
    path: &Path,
    suite: S,
    public_key: &[u8],
    share: &KeyShare<S>,
    lock: Option<(&Passphrase, Kdf)>,
) -> Result<(), Failure> {
    let secret = Secret::new(share.secret().to_bytes());
    let verification_key = share.verification_key().to_bytes().as_ref().to_vec();
    let secret = match lock {
        None => ShareSecret::Plain(secret),
        Some((passphrase, kdf)) => {
            let options = KeystoreOptions { kdf, ..KeystoreOptions::default() };
            let keystore = Keystore::encrypt(&secret, &verification_key, passphrase, options)?;
            ShareSecret::Keystore(Box::new(keystore))
        }
    };
    let index = share.index().number().into();
    let file = ShareFile::new(suite.any(), index, public_key.to_vec(), verification_key, secret);
    Ok(secret_file::write(path, &file.to_json(), Existing::Refuse)?)
}
