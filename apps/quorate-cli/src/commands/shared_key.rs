//! The file of a shared key: everything about it that is public.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use quorate::{Backend, Bls12381Suite, Scheme};
use quorate_host::{
    dash::{self, name_of},
    exit::Failure,
    file::{self, Existing, LARGEST_DOCUMENT, Readers},
    text::json_reason,
};
use quorate_threshold::{
    CollectorError, SharedKey,
    shared_key::{SharedKeyError, suite_of_json},
};

use super::suite::{Bls12381Argument, Bls12381Choice};

/// A file that was read, and the suite that it names.
pub(super) struct SharedKeyFile {
    path: PathBuf,
    json: Vec<u8>,
    suite: Bls12381Choice,
}

impl SharedKeyFile {
    /// Reads a file, and finds out its suite.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let name = || name_of(path);
        let json = dash::text(path, LARGEST_DOCUMENT)?.into_bytes();
        let suite = suite_of_json(&json).map_err(|error| unreadable(&json, error).context(name()))?;
        let suite =
            Bls12381Choice::try_from(suite).map_err(|reason| Failure::usage(anyhow!(reason)).context(name()))?;
        Ok(Self { path: path.to_owned(), json, suite })
    }

    /// The suite of the key.
    pub(super) fn suite(&self) -> Bls12381Argument {
        Bls12381Argument { suite: self.suite }
    }

    /// The key, in the variant of its suite.
    pub(super) fn key<S: Bls12381Suite>(&self, backend: Backend) -> Result<SharedKey<S>, Failure> {
        let fail = |failure: Failure| failure.context(name_of(&self.path));
        let key: SharedKey<S> =
            SharedKey::from_json(&self.json, backend).map_err(|error| fail(unreadable(&self.json, error)))?;
        refuse_augmented(key.suite()).map_err(fail)?;
        Ok(key)
    }
}

/// Why a text is not a shared key.
pub(super) fn unreadable(json: &[u8], error: SharedKeyError) -> Failure {
    Failure::usage(match error {
        SharedKeyError::Json(error) => {
            anyhow!("it is not the JSON of a shared key: {}", json_reason(json, &error))
        }
        error => error.into(),
    })
}

/// Writes the file of a shared key, readable by everyone, into a folder in which it is not there yet.
pub(super) fn write<S: Bls12381Suite>(path: &Path, key: &SharedKey<S>) -> Result<(), Failure> {
    let written = file::write(path, Readers::Everybody, Existing::Refuse, key.to_json().as_bytes());
    written.with_context(|| format!("cannot write {}", path.display())).map_err(Failure::io)
}

/// Refuses suites in which each participant would sign something else.
pub(super) fn refuse_augmented<S: Bls12381Suite>(suite: S) -> Result<(), Failure> {
    if suite.scheme() == Scheme::Augmented {
        return Err(Failure::usage(CollectorError::Augmented(suite.name())));
    }
    Ok(())
}
