//! Texts that verdicts keep of entries: ids, kinds and reasons.
//!
//! They come from files and tables, where a few bytes can stand for many: a dictionary lets a million rows name one text of 32 KiB, and
//! lines repeat themselves in a compressed file. So equal texts behind one another are kept once, and all are counted.

use std::sync::Arc;

use pyo3::PyErr;

use crate::errors::TableError;

/// What the texts of a table may take, at most, and those of a file, if that is not longer: 1 GiB.
pub(crate) use quorate_formats::arrow::VALUES_LIMIT;

/// Keeps texts of one kind.
#[derive(Default)]
pub(crate) struct Texts {
    last: Option<Arc<str>>,
}

impl Texts {
    /// Keeps a text: the one before it, if that is equal.
    pub(crate) fn keep(&mut self, text: &str) -> Arc<str> {
        match &self.last {
            Some(last) if **last == *text => last.clone(),
            _ => self.last.insert(text.into()).clone(),
        }
    }
}

/// There is no room for the texts of so many entries.
pub(crate) fn too_long(entries: usize, limit: u64) -> PyErr {
    TableError::new_err(format!(
        "the ids, reasons and sources of the first {entries} claims take more than {} MiB; verify the claims in parts",
        limit >> 20
    ))
}
