//! The exceptions of the package, which are Python classes (`quorate/_errors.py`), and how errors of Rust become such.

use pyo3::{PyErr, exceptions::PyIndexError};

pyo3::import_exception!(quorate._errors, DecodeError);
pyo3::import_exception!(quorate._errors, TableError);
pyo3::import_exception!(quorate._errors, UndecidedError);
pyo3::import_exception!(quorate._errors, UsageError);

/// Bytes that are no key, no signature or no share.
pub(crate) fn undecodable(error: impl ToString) -> PyErr {
    DecodeError::new_err(error.to_string())
}

/// A call that cannot be answered: a suite that does not exist, a sum of nothing.
pub(crate) fn misused(error: impl ToString) -> PyErr {
    UsageError::new_err(error.to_string())
}

/// A caller's mistake about members of a set, as Python names it.
pub(crate) fn misused_set(error: quorate::MisuseError) -> PyErr {
    match error {
        quorate::MisuseError::NoSuchMember { .. } => PyIndexError::new_err(error.to_string()),
        _ => misused(error),
    }
}
