//! A committee's keys.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
    thread,
};

use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBytes, PyDict, PyList},
};
use quorate::{AnyKeySet, Backend, Bitmap, MisuseError, Suite, UncheckedSignature, keyset::Possession};
use quorate_formats::key_sets::{KeySetError, KeySetFile, KeySetLoading, KeySets};
use quorate_host::file::{self, Existing, FileError, Readers};

use crate::{
    argument::{
        self, BITMAP_OR_INDICES, bytes, bytes_like, generator, is_array_of_bytes, list_of_bytes, refuse_repeated,
        type_name, whole,
    },
    errors::{file_error, misused, misused_set, regular_file, undecodable},
    key::{Of, is_true, made, of, over},
};

/// A committee's keys by index, which are checked once. Members are named by their indices, or by a bitmap as bytes whose
/// lowest bit of the first byte stands for member 0.
///
/// It keeps its last sums, and computes the next one from the difference if that takes less.
///
/// The lock is only held while Python is free for other threads, so that none of them waits for it with Python.
#[pyclass(frozen, module = "quorate")]
pub(crate) struct KeySet(RwLock<of!(Shared)>);

/// Keys that are shared with claims that name members: a set that is changed while such claims are there becomes a copy.
type Shared<S> = Arc<quorate::KeySet<S>>;

impl KeySet {
    fn read(&self) -> RwLockReadGuard<'_, of!(Shared)> {
        // A thread that panicked while it changed the set has added all of its keys or none.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, of!(Shared)> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Members: their indices, or a bitmap. An index that is not in the set is refused before it takes a bit for each index below it.
    fn bitmap(&self, py: Python<'_>, members: &Bound<'_, PyAny>) -> PyResult<Bitmap> {
        if let Some(bits) = bytes_like(members)? {
            return Ok(Bitmap::from_le_bytes(&bits));
        }
        let wrong_for = |found: &Bound<'_, PyAny>, expected| {
            let found = type_name(found).unwrap_or_default();
            PyTypeError::new_err(format!("members: found {found}, expected {expected}"))
        };
        if is_array_of_bytes(members)? {
            return Err(wrong_for(members, BITMAP_OR_INDICES));
        }
        let wrong = |found: &Bound<'_, PyAny>| wrong_for(found, "a bitmap as bytes, or indices");
        let indices = members.try_iter().map_err(|_| wrong(members))?.map(|index| {
            let index = index?;
            whole::<usize>("members", &index).map_err(|error| match error.is_instance_of::<PyTypeError>(py) {
                true => wrong(&index),
                false => error,
            })
        });
        let indices = indices.collect::<PyResult<Vec<_>>>()?;
        refuse_repeated("members", &indices)?;
        let members = self.__len__(py);
        match indices.iter().find(|index| **index >= members) {
            Some(index) => Err(misused_set(MisuseError::NoSuchMember { index: *index, members })),
            None => Ok(Bitmap::from_indices(indices)),
        }
    }

    /// A handle to the set as it is now, for claims that name its members.
    pub(crate) fn handle(&self, py: Python<'_>) -> AnyKeySet {
        py.detach(|| over!(&*self.read(), (_, set) => AnyKeySet::from(Arc::clone(set))))
    }
}

#[pymethods]
impl KeySet {
    #[new]
    #[pyo3(signature = (suite, public_keys=None, *, assume_possession=false))]
    fn new(
        py: Python<'_>,
        suite: &str,
        public_keys: Option<&Bound<'_, PyAny>>,
        assume_possession: bool,
    ) -> PyResult<Self> {
        let suite = argument::suite_of_single_keys(suite)?;
        let set = made!(suite, suite => Arc::new(quorate::KeySet::new(suite, Backend::auto())))?;
        let set = Self(RwLock::new(set));
        if let Some(keys) = public_keys {
            set.add(py, keys, assume_possession)?;
        }
        Ok(set)
    }

    /// Reads a file: one that `save` or `quorate key-set` has written, or, with a suite, a list of keys.
    #[staticmethod]
    #[pyo3(signature = (path, *, suite=None))]
    fn load(py: Python<'_>, path: PathBuf, suite: Option<&str>) -> PyResult<Self> {
        let suite = suite.map(argument::suite).transpose()?;
        regular_file(&path, misused)?;
        let loading = KeySetLoading { suite, backend: Backend::auto(), threads: threads() };
        let (file, mut rng) = (KeySetFile { name: String::new(), path }, generator()?);
        let set = py.detach(|| file.read(&loading, &mut rng)).map_err(|error| match error {
            KeySetError::Read(error) => file_error(&file.path, error),
            KeySetError::NoSuite => {
                misused(format!("{}: a list of keys does not say its suite; give suite=", file.path.display()))
            }
            error => misused(format!("{}: {error}", file.path.display())),
        })?;
        let set = made!(set.suite(), _ => set.into_variant().expect("a set is one of its suite"))?;
        Ok(Self(RwLock::new(set)))
    }

    /// Writes the set to a file that only its owner reads and writes. The file appears whole or not at all. It replaces a regular file,
    /// and nothing else that has its name.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let saved = py.detach(|| match &*self.read() {
            Of::MinPk(_, set) => Ok(set.to_saved()),
            Of::MinSig(_, set) => Ok(set.to_saved()),
            Of::Bn254(suite, _) => Err(*suite),
        });
        let saved = saved.map_err(|suite| {
            misused(format!("the suite {suite} is on BN254, and key sets are saved on BLS12-381 alone"))
        })?;
        if path.as_os_str().is_empty() {
            return Err(misused("path: found an empty one, expected the name of a file"));
        }
        py.detach(|| file::refuse_irregular(&path)).map_err(|refused| match refused {
            FileError::Io { source, .. } => file_error(&path, source),
            refused => misused(refused),
        })?;
        let written = py.detach(|| file::write(&path, Readers::Owner, Existing::Replace, &saved));
        written.map_err(|error| file_error(&path, error))
    }

    /// Adds members, whose indices follow those of the members so far.
    #[pyo3(signature = (public_keys, *, assume_possession=false))]
    fn add(&self, py: Python<'_>, public_keys: &Bound<'_, PyAny>, assume_possession: bool) -> PyResult<()> {
        let encodings = list_of_bytes("public_keys", public_keys)?;
        let encodings: Vec<_> = encodings.iter().map(Vec::as_slice).collect();
        let mut rng = generator()?;
        let added = py.detach(|| {
            over!(&mut *self.write(), (_, set) => {
                Arc::make_mut(set).decode(&encodings, assume_possession, threads(), &mut rng)
            })
        });
        added.map_err(|wrong| undecodable(format!("public_keys[{}]: {}", wrong.index, wrong.error)))
    }

    /// Verifies a member's proof of possession, and records it if it is true.
    fn prove(&self, py: Python<'_>, index: &Bound<'_, PyAny>, proof: &Bound<'_, PyAny>) -> PyResult<bool> {
        let index = whole("index", index)?;
        let proof = bytes("proof", proof)?;
        py.detach(|| {
            let proven = over!(&*self.read(), (_, set) => {
                let proof = quorate::Signature::from_bytes(&proof).map_err(undecodable)?;
                is_true(&set.possession_claim(index, proof).map_err(misused_set)?)
            })?;
            if proven {
                // Only now, so that a proof that tells nothing new copies no set. Meanwhile the set has grown at most.
                over!(&mut *self.write(), (_, set) => {
                    if set.possession(index).map_err(misused_set)? != Possession::Proven {
                        Arc::make_mut(set).record_proven(index).map_err(misused_set)?;
                    }
                });
            }
            Ok(proven)
        })
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| over!(&*self.read(), (_, set) => set.len()))
    }

    /// The name of its suite.
    #[getter]
    fn suite(&self, py: Python<'_>) -> &'static str {
        py.detach(|| over!(&*self.read(), (suite, _) => suite.name()))
    }

    /// The keys, by index.
    fn public_keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let keys = py.detach(|| over!(&*self.read(), (_, set) => keys(set)))?;
        PyList::new(py, keys.iter().map(|key| PyBytes::new(py, key)))
    }

    /// The sum of the members' keys, encoded as a key, also of members that have proven nothing: verify with `verify`, and not under
    /// this sum. For no members it is the identity. Refused in a BDN suite.
    fn sum<'py>(&self, py: Python<'py>, members: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let members = self.bitmap(py, members)?;
        let sum = py.detach(|| over!(&*self.read(), (_, set) => sum(set, &members)))?;
        Ok(PyBytes::new(py, &sum))
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
        let (members, text) = (self.bitmap(py, members)?, bytes("message", message)?);
        let encoded = bytes("signature", signature)?;
        let (suite, keys) = py.detach(|| {
            over!(&*self.read(), (suite, set) => {
                let signature = UncheckedSignature::from_bytes(&encoded).map_err(undecodable)?;
                let claim = set.claim(&members, text.clone(), signature).map_err(misused_set)?;
                let keys: Vec<_> = claim.statements().map(|(key, _)| key.to_bytes().as_ref().to_vec()).collect();
                PyResult::Ok((suite.name(), keys))
            })
        })?;
        let fields = PyDict::new(py);
        fields.set_item("suite", suite)?;
        fields.set_item("public_keys", PyList::new(py, keys.iter().map(|key| PyBytes::new(py, key)))?)?;
        fields.set_item("message", PyBytes::new(py, &text))?;
        fields.set_item("signature", PyBytes::new(py, &encoded))?;
        fields.set_item("id", id)?;
        py.import("quorate._claim")?.getattr("Claim")?.call((), Some(&fields))
    }

    /// Whether these members signed a message.
    fn verify(
        &self,
        py: Python<'_>,
        members: &Bound<'_, PyAny>,
        message: &Bound<'_, PyAny>,
        signature: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let (members, message) = (self.bitmap(py, members)?, bytes("message", message)?);
        let signature = bytes("signature", signature)?;
        py.detach(|| {
            over!(&*self.read(), (_, set) => {
                let signature = UncheckedSignature::from_bytes(&signature).map_err(undecodable)?;
                is_true(&set.claim(&members, message, signature).map_err(misused_set)?)
            })
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<quorate.KeySet: {} members, {}>", self.__len__(py), self.suite(py))
    }
}

/// The key sets that claims can name, by their names.
pub(crate) fn named_sets(sets: Option<&Bound<'_, PyDict>>) -> PyResult<KeySets> {
    let mut named = KeySets::default();
    for (name, set) in sets.into_iter().flatten() {
        let wrong = |found: &Bound<'_, PyAny>, expected| {
            let found = type_name(found).unwrap_or_default();
            PyTypeError::new_err(format!("key_sets: found {found}, expected {expected}"))
        };
        let text = name.extract::<String>().map_err(|_| wrong(&name, "a name"))?;
        let handle = set.cast::<KeySet>().map_err(|_| wrong(&set, "a quorate.KeySet"))?.get().handle(set.py());
        named.add(text, handle).map_err(misused)?;
    }
    Ok(named)
}

/// Threads that decode keys: all.
fn threads() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The encodings of all keys, by index.
fn keys<S: Suite>(set: &quorate::KeySet<S>) -> PyResult<Vec<Vec<u8>>> {
    let indices: Vec<_> = (0..set.len() as u32).collect();
    let keys = set.keys(&indices).map_err(misused_set)?;
    Ok(keys.iter().map(|key| key.to_bytes().as_ref().to_vec()).collect())
}

fn sum<S: Suite>(set: &quorate::KeySet<S>, members: &Bitmap) -> PyResult<Vec<u8>> {
    Ok(S::encode_key(&set.sum(members).map_err(misused_set)?).as_ref().to_vec())
}
