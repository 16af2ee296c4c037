//! Statements that were verified earlier.

use std::num::NonZeroUsize;

use pyo3::prelude::*;
use quorate::Verifier;
use quorate_formats::{
    judge::{Item, WindowLimit},
    key_sets::KeySets,
};

use crate::{
    argument::{self, default_options},
    errors::undecodable,
    reader::{Reader, Row},
};

/// Statements that were verified earlier. `verify(…, known=known)` subtracts them from later claims, and with
/// `remember=True` adds the claims of one statement that it finds valid. Their keys stay decoded.
///
/// It is believed: a wrong entry makes false claims pass.
#[pyclass(frozen, module = "quorate")]
pub(crate) struct Known {
    verifier: Verifier,
}

impl Known {
    pub(crate) fn verifier(&self) -> &Verifier {
        &self.verifier
    }
}

#[pymethods]
impl Known {
    #[new]
    #[pyo3(signature = (*, limit=None))]
    fn new(limit: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let limit = limit.map(|limit| argument::whole("limit", limit)).transpose()?;
        Ok(Self { verifier: Verifier::with_known_limit(default_options()?, limit.unwrap_or(usize::MAX)) })
    }

    fn __len__(&self) -> usize {
        self.verifier.known()
    }

    fn __bool__(&self) -> bool {
        true
    }

    /// Takes your word that these claims were verified. Each makes one statement.
    #[pyo3(signature = (claims, *, suite=None))]
    fn trust(&self, py: Python<'_>, claims: &Bound<'_, PyAny>, suite: Option<&str>) -> PyResult<()> {
        let mut reader = Reader::open(claims, suite.map(argument::suite).transpose()?, KeySets::default())?;
        while let Some(window) = reader.window(py, WindowLimit::of(NonZeroUsize::MIN))? {
            let (mut places, mut claims) = (Vec::new(), Vec::new());
            for Item { about: Row { place, fault }, claim, .. } in window {
                if let Some(fault) = fault {
                    return Err(undecodable(format!("claim {place}: {}", fault.text())));
                }
                places.extend(claim.is_some().then_some(place));
                claims.extend(claim);
            }
            let results = py.detach(|| self.verifier.trust_each(&claims));
            for (place, result) in places.iter().zip(results) {
                result.map_err(|error| undecodable(format!("claim {place}: {error}")))?;
            }
        }
        Ok(())
    }

    /// Forgets everything.
    fn clear(&self) {
        self.verifier.forget_known();
    }

    fn __repr__(&self) -> String {
        format!("<quorate.Known: {} statements>", self.verifier.known())
    }
}
