//! The exceptions of the package, which are Python classes (`quorate/_errors.py`), and how errors of Rust become such.

use std::{io, path::Path};

use pyo3::{PyErr, PyResult, exceptions::PyOSError};
use quorate::{Reason, Verdict as Truth};

pyo3::import_exception!(quorate._errors, DecodeError);
pyo3::import_exception!(quorate._errors, MemberError);
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
        quorate::MisuseError::NoSuchMember { .. } => MemberError::new_err(error.to_string()),
        // Whoever verifies adds up nothing.
        quorate::MisuseError::NothingToAggregate => misused("no members signed: expected one or more"),
        _ => misused(error),
    }
}

/// An error of the operating system, as Python raises it for a file.
pub(crate) fn file_error(path: &Path, error: io::Error) -> PyErr {
    let text = error.to_string();
    // Python would write "[Errno None]" in front of it.
    let Some(number) = error.raw_os_error() else {
        return PyOSError::new_err(format!("{}: {text}", path.display()));
    };
    // Python writes the number in front of the text, and does not need it behind it.
    let suffix = format!(" (os error {number})");
    let text = text.strip_suffix(suffix.as_str()).unwrap_or(&text).to_owned();
    // With a number and a name, Python chooses the class: FileNotFoundError.
    PyOSError::new_err((number, text, path.as_os_str().to_owned()))
}

/// The bytes of a file. A pipe and a device are refused: opening one would wait for whoever writes to it, and hear no signal meanwhile.
pub(crate) fn regular_file(path: &Path, refused: impl FnOnce(String) -> PyErr) -> PyResult<u64> {
    let metadata = path.metadata().map_err(|error| file_error(path, error))?;
    let kind = metadata.file_type();
    if kind.is_file() || kind.is_dir() {
        return Ok(metadata.len());
    }
    Err(refused(format!(
        "{}: found a pipe or a device, expected a regular file; write what comes from it to a file first",
        path.display()
    )))
}

/// The operating system gave no thread.
pub(crate) fn no_thread(error: io::Error) -> PyErr {
    io::Error::new(
        error.kind(),
        format!("cannot start a thread: {error}; let the process have more threads, or memory"),
    )
    .into()
}

/// A verdict about a single call: a false signature is `False`, and bytes that do not decode raise.
pub(crate) fn truth(verdict: Truth) -> PyResult<bool> {
    match verdict {
        Truth::Valid => Ok(true),
        Truth::Invalid(reason @ (Reason::Parse(_) | Reason::ParseKey { .. })) => Err(undecodable(reason)),
        Truth::Invalid(reason @ (Reason::UnequalCounts { .. } | Reason::NoProofsOfPossession)) => Err(misused(reason)),
        Truth::Invalid(reason @ (Reason::Undecided | Reason::GivenUp)) => {
            Err(UndecidedError::new_err(reason.to_string()))
        }
        Truth::Invalid(_) => Ok(false),
    }
}
