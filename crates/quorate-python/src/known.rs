//! Statements that were verified earlier.

use pyo3::prelude::*;
use quorate::Verifier;

use crate::{
    argument::{self, default_options},
    errors::undecodable,
    reader::Reader,
};

/// Claims that are decoded together.
const MOST: usize = 4096;

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
    fn new(limit: Option<usize>) -> PyResult<Self> {
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
        let mut reader = Reader::open(claims, suite.map(argument::suite).transpose()?)?;
        while let Some(window) = reader.window(py, MOST)? {
            if let Some((place, reason)) = window.malformed.first() {
                return Err(undecodable(format!("claim {place}: {reason}")));
            }
            let results = py.detach(|| self.verifier.trust_each(&window.claims));
            for (place, result) in window.places.iter().zip(results) {
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
