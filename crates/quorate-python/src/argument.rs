//! What callers pass: bytes, suites, and how to verify.

use std::{collections::HashSet, num::NonZeroUsize, thread};

use getrandom::SysRng;
use pyo3::{
    exceptions::{PyOverflowError, PyTypeError},
    prelude::*,
    types::{PyBool, PyByteArray, PyBytes, PyMemoryView},
};
use quorate::{AnySuite, Backend, Options, Soundness, rand_core::UnwrapErr, threads::MOST_THREADS};
use quorate_host::clipped;

use crate::errors::{misused, undecodable};

/// The bytes of an argument: `bytes`, `bytearray`, a `memoryview`, or one of our keys and signatures.
pub(crate) fn bytes(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    match bytes_like(value)? {
        Some(bytes) => Ok(bytes),
        None => Err(PyTypeError::new_err(format!("{name}: found {}, expected bytes", type_name(value)?))),
    }
}

/// The bytes of a value; `None` if it is of another type.
pub(crate) fn bytes_like(value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    // One copy, which a caller can wipe.
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    if let Ok(array) = value.cast::<PyByteArray>() {
        return Ok(Some(array.to_vec()));
    }
    if value.is_instance_of::<PyMemoryView>() {
        return value.call_method0("tobytes")?.extract().map(Some);
    }
    match value.hasattr("__bytes__")? {
        true => value.call_method0("__bytes__")?.extract().map(Some),
        false => Ok(None),
    }
}

/// Whether a value is an array of bytes of another library, such as numpy's, or of the module `array`. Where members are named it could be a
/// bitmap as well as indices.
pub(crate) fn is_array_of_bytes(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    // Most values have no buffer.
    let Ok(view) = PyMemoryView::from(value) else { return Ok(false) };
    Ok(view.getattr("itemsize")?.extract::<usize>()? == 1)
}

/// What is said of such an array.
pub(crate) const BITMAP_OR_INDICES: &str =
    "bytes(…) of it for a bitmap, or list(…) for indices, because it could be either";

/// A list of byte strings.
pub(crate) fn list_of_bytes(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    if bytes_like(values)?.is_some() || values.is_instance_of::<pyo3::types::PyString>() {
        let found = type_name(values)?;
        return Err(PyTypeError::new_err(format!("{name}: found {found}, expected a list of bytes")));
    }
    let values = values.try_iter().map_err(|_| {
        let found = type_name(values).unwrap_or_default();
        PyTypeError::new_err(format!("{name}: found {found}, expected a list of bytes"))
    })?;
    values.enumerate().map(|(index, value)| bytes(&format!("{name}[{index}]"), &value?)).collect()
}

/// The whole number that an argument is, such as the index of a member. For Python a boolean is one too, and here it is a mistake: `False`
/// would be member 0.
pub(crate) fn whole<T: TryFrom<u64>>(name: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    let of_type = |found: &str| PyTypeError::new_err(format!("{name}: found {found}, expected a whole number"));
    if value.is_instance_of::<PyBool>() {
        return Err(of_type("a boolean"));
    }
    let outside = || {
        let most = u64::MAX >> (u64::BITS as usize - 8 * size_of::<T>());
        misused(format!("{name}: found {}, expected a whole number from 0 to {most}", shown(value)))
    };
    match value.extract::<u64>() {
        Ok(number) => T::try_from(number).map_err(|_| outside()),
        Err(error) if error.is_instance_of::<PyOverflowError>(value.py()) => Err(outside()),
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Err(of_type(&type_name(value)?)),
        Err(error) => Err(error),
    }
}

/// A number or a text as an error shows it. Python refuses to write thousands of digits.
pub(crate) fn shown(value: &Bound<'_, PyAny>) -> String {
    value.str().map_or_else(|_| "a long one".to_owned(), |text| clipped(&text.to_string(), LONGEST_SHOWN))
}

/// Characters of a value that an error shows.
const LONGEST_SHOWN: usize = 40;

/// The argument `soundness`, for functions where it has a default.
pub(crate) fn soundness_bits(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    whole("soundness", value)
}

/// The argument `shard_mib`.
pub(crate) fn shard_mib(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    whole("shard_mib", value)
}

/// Refuses a list of members that names one twice: a caller who counts them would take one for two.
pub(crate) fn refuse_repeated(name: &str, indices: &[usize]) -> PyResult<()> {
    let mut seen = HashSet::with_capacity(indices.len());
    match indices.iter().find(|index| !seen.insert(**index)) {
        Some(index) => Err(misused(format!("{name}: the member {index} stands there twice; name it once"))),
        None => Ok(()),
    }
}

/// The name of a value's type.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(value.get_type().name()?.to_string())
}

/// A suite by its name.
pub(crate) fn suite(name: &str) -> PyResult<AnySuite> {
    name.parse().map_err(misused)
}

/// A suite whose keys are one point, by its name. The types of single keys hold one point.
pub(crate) fn suite_of_single_keys(name: &str) -> PyResult<AnySuite> {
    match suite(name)? {
        AnySuite::Bn254(suite) if suite.has_dual_keys() => Err(misused(format!(
            "the suite {suite} has keys in both groups, {} bytes, and a single key is one point; verify() and verify_one() take its \
             claims with the bytes of its keys",
            suite.key_bytes()
        ))),
        suite => Ok(suite),
    }
}

/// Says that a suite has no shared keys.
pub(crate) fn no_shared_keys(suite: AnySuite) -> PyErr {
    misused(format!("the suite {suite} is on BN254, and shared keys are scalars of BLS12-381"))
}

/// How to verify.
pub(crate) fn options(threads: Option<&Bound<'_, PyAny>>, backend: &str, soundness: u32) -> PyResult<Options> {
    let threads = match threads {
        Some(threads) => {
            let threads = whole("threads", threads)?;
            NonZeroUsize::new(threads).filter(|threads| threads.get() <= MOST_THREADS).ok_or_else(|| {
                misused(format!("threads: found {threads}, expected 1 to {MOST_THREADS}, or None for all"))
            })?
        }
        None => thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
    };
    let backend: Backend = backend.parse().map_err(|error| misused(format!("backend: {error}")))?;
    Ok(Options { threads, soundness: self::soundness(soundness)?, backend, ..Options::default() })
}

/// The probability with which a false claim may pass, by its bits.
pub(crate) fn soundness(bits: u32) -> PyResult<Soundness> {
    match bits {
        64 => Ok(Soundness::Bits64),
        128 => Ok(Soundness::Bits128),
        other => Err(misused(format!("soundness: found {other}, expected 64 or 128"))),
    }
}

/// The options of calls that take none: all threads, and the fastest backend.
pub(crate) fn default_options() -> PyResult<Options> {
    options(None, "auto", 64)
}

/// Random numbers of the operating system. It is asked once here, so that a missing generator is an error and no panic later.
pub(crate) fn generator() -> PyResult<UnwrapErr<SysRng>> {
    let absent = |error| misused(format!("the operating system has no random numbers: {error}"));
    getrandom::fill(&mut [0; 8]).map_err(absent)?;
    Ok(UnwrapErr(SysRng))
}

/// A big-endian secret key of 32 bytes.
pub(crate) fn secret(value: &Bound<'_, PyAny>) -> PyResult<zeroize::Zeroizing<[u8; 32]>> {
    let bytes = zeroize::Zeroizing::new(bytes("secret key", value)?);
    let mut secret = zeroize::Zeroizing::new([0; 32]);
    if bytes.len() != secret.len() {
        return Err(undecodable(format!("secret key: found {} bytes, expected 32", bytes.len())));
    }
    secret.copy_from_slice(&bytes);
    Ok(secret)
}
