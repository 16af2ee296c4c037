//! A committee's keys.

use std::sync::{Mutex, MutexGuard};

use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError},
    prelude::*,
    types::{PyBytes, PyDict, PyList},
};
use quorate::{Backend, Bitmap, Suite, UncheckedSignature};

use crate::{
    argument::{self, bytes, bytes_like, list_of_bytes, type_name},
    errors::{misused, misused_set, undecodable},
    key::{is_true, keys_of, made, of, over},
    verify::truth,
};

/// A committee's keys by index, which are checked once. Members are named by their indices, or by a bitmap as bytes whose
/// lowest bit of the first byte stands for member 0.
///
/// It keeps its last sum, and computes the next one from the difference if that takes less.
#[pyclass(frozen, module = "quorate")]
pub(crate) struct KeySet(Mutex<Set>);

type Set = of!(quorate::KeySet);

impl KeySet {
    fn set(&self) -> PyResult<MutexGuard<'_, Set>> {
        self.0.lock().map_err(|_| PyRuntimeError::new_err("a thread that used the key set panicked; make a new one"))
    }
}

#[pymethods]
impl KeySet {
    #[new]
    #[pyo3(signature = (suite, public_keys=None, *, assume_possession=false))]
    fn new(suite: &str, public_keys: Option<&Bound<'_, PyAny>>, assume_possession: bool) -> PyResult<Self> {
        let suite = argument::suite_of_single_keys(suite)?;
        let set = made!(suite, suite => quorate::KeySet::new(suite, Backend::auto()))?;
        let set = Self(Mutex::new(set));
        if let Some(keys) = public_keys {
            set.add(keys, assume_possession)?;
        }
        Ok(set)
    }

    /// Adds members, whose indices follow those of the members so far.
    #[pyo3(signature = (public_keys, *, assume_possession=false))]
    fn add(&self, public_keys: &Bound<'_, PyAny>, assume_possession: bool) -> PyResult<()> {
        let encodings = list_of_bytes("public_keys", public_keys)?;
        over!(&mut *self.set()?, (suite, set) => push(*suite, set, &encodings, assume_possession))
    }

    /// Verifies a member's proof of possession, and records it if it is true.
    fn prove(&self, index: usize, proof: &Bound<'_, PyAny>) -> PyResult<bool> {
        let proof = bytes("proof", proof)?;
        over!(&mut *self.set()?, (_, set) => {
            let proof = quorate::Signature::from_bytes(&proof).map_err(undecodable)?;
            truth(set.prove(index, proof).map_err(misused_set)?)
        })
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(over!(&*self.set()?, (_, set) => set.len()))
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self) -> PyResult<&'static str> {
        Ok(over!(&*self.set()?, (suite, _) => suite.name()))
    }

    /// The keys, by index.
    fn public_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        over!(&*self.set()?, (_, set) => PyList::new(py, keys(set)?.iter().map(|key| PyBytes::new(py, key.to_bytes().as_ref()))))
    }

    /// The sum of the members' keys, encoded as a key. For no members it is the identity.
    fn sum<'py>(&self, py: Python<'py>, members: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let members = bitmap(members)?;
        over!(&mut *self.set()?, (_, set) => sum(py, set, &members))
    }

    /// The claim that these members signed one message, for `verify`.
    #[pyo3(signature = (members, message, signature, *, id=None))]
    fn claim<'py>(
        &self,
        py: Python<'py>,
        members: &Bound<'py, PyAny>,
        message: &Bound<'py, PyAny>,
        signature: &Bound<'py, PyAny>,
        id: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (members, text) = (bitmap(members)?, bytes("message", message)?);
        let encoded = bytes("signature", signature)?;
        let fields = PyDict::new(py);
        over!(&mut *self.set()?, (suite, set) => {
            let signature = UncheckedSignature::from_bytes(&encoded).map_err(undecodable)?;
            let claim = set.claim(&members, text.clone(), signature).map_err(misused_set)?;
            let keys = claim.statements().map(|(key, _)| PyBytes::new(py, key.to_bytes().as_ref()));
            fields.set_item("suite", suite.name())?;
            fields.set_item("public_keys", PyList::new(py, keys.collect::<Vec<_>>())?)?;
        });
        fields.set_item("message", PyBytes::new(py, &text))?;
        fields.set_item("signature", PyBytes::new(py, &encoded))?;
        fields.set_item("id", id)?;
        py.import("quorate._claim")?.getattr("Claim")?.call((), Some(&fields))
    }

    /// Whether these members signed a message.
    fn verify(
        &self,
        members: &Bound<'_, PyAny>,
        message: &Bound<'_, PyAny>,
        signature: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let (members, message) = (bitmap(members)?, bytes("message", message)?);
        let signature = bytes("signature", signature)?;
        over!(&mut *self.set()?, (_, set) => {
            let signature = UncheckedSignature::from_bytes(&signature).map_err(undecodable)?;
            is_true(&set.claim(&members, message, signature).map_err(misused_set)?)
        })
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<quorate.KeySet: {} members, {}>", self.__len__()?, self.suite()?))
    }
}

fn push<S: Suite>(
    suite: S,
    set: &mut quorate::KeySet<S>,
    encodings: &[Vec<u8>],
    assume_possession: bool,
) -> PyResult<()> {
    // All of them, or none.
    for key in keys_of(suite, encodings)? {
        if assume_possession { set.push_assumed(key) } else { set.push(key) }
    }
    Ok(())
}

/// All keys, by index.
fn keys<S: Suite>(set: &quorate::KeySet<S>) -> PyResult<Vec<quorate::PublicKey<S>>> {
    let indices: Vec<_> = (0..set.len() as u32).collect();
    set.keys(&indices).map_err(misused_set)
}

fn sum<'py, S: Suite>(
    py: Python<'py>,
    set: &mut quorate::KeySet<S>,
    members: &Bitmap,
) -> PyResult<Bound<'py, PyBytes>> {
    Ok(PyBytes::new(py, S::encode_key(&set.sum(members).map_err(misused_set)?).as_ref()))
}

/// Members: their indices, or a bitmap.
fn bitmap(members: &Bound<'_, PyAny>) -> PyResult<Bitmap> {
    if let Some(bits) = bytes_like(members)? {
        return Ok(Bitmap::from_le_bytes(&bits));
    }
    let wrong = || {
        let found = type_name(members).unwrap_or_default();
        PyTypeError::new_err(format!("members: found {found}, expected a bitmap as bytes, or indices"))
    };
    let indices = members.try_iter().map_err(|_| wrong())?.map(|index| index?.extract::<usize>().map_err(|_| wrong()));
    let indices = indices.collect::<PyResult<Vec<_>>>()?;
    if let Some(index) = indices.iter().find(|index| **index > MOST_MEMBERS) {
        return Err(misused(format!("members: found the index {index}, expected at most {MOST_MEMBERS}")));
    }
    Ok(Bitmap::from_indices(indices))
}

/// An index takes a bit of memory for each member below it.
const MOST_MEMBERS: usize = 1 << 32;
