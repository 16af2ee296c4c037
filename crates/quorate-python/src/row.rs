//! A claim as a Python object: a dictionary or another mapping with the fields of a line of JSON, or a `quorate.Claim`.
//!
//! It becomes such a line, so that both have the same meaning and the same errors.

use pyo3::{
    exceptions::{PyTypeError, PyUnicodeEncodeError, PyValueError},
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyMapping, PySequence, PyString},
};
use quorate_formats::{Entry, Malformed, Place, Unbounded, jsonl::entry_of_line, key_sets::KeySets};

use crate::{
    argument::{BITMAP_OR_INDICES, bytes_like, is_array_of_bytes, type_name, whole},
    errors::misused,
    key_set::KeySet,
};

/// The claim of an object, which stands at this index.
///
/// # Errors
/// `TypeError`, where the object or one of its fields is of a wrong type. Values that make no claim are an [`Entry`] that says so.
pub(crate) fn entry(index: usize, object: &Bound<'_, PyAny>, key_sets: &KeySets) -> PyResult<Entry> {
    let mut fields = Vec::with_capacity(FIELDS.len() + OF_CHAIN.len());
    let mut own = None;
    let is_of_chain = field(object, OF_CHAIN[0].0, index)?.is_some_and(|kind| !kind.is_none());
    let of_chain = if is_of_chain { &OF_CHAIN[..] } else { &[] };
    let number = index as u64 + 1;
    for (name, kind) in FIELDS.iter().chain(of_chain).copied() {
        if let Some(value) = field(object, name, index)?.filter(|value| !value.is_none()) {
            if let (Kind::KeySet, Ok(set)) = (kind, value.cast::<KeySet>()) {
                // A set that has no name gets one for its line.
                let mut sets = KeySets::default();
                sets.add(OWN_SET.to_owned(), set.get().handle(object.py())).map_err(misused)?;
                own = Some(sets);
                fields.push(format!("{name:?}:{OWN_SET:?}"));
                continue;
            }
            match kind.json(&value)? {
                Json::Text(json) => fields.push(format!("{name:?}:{json}")),
                Json::Malformed(reason) => {
                    // Its id stands before all other fields, so a line of what was read so far has it.
                    let read = entry_of(&fields, number, key_sets);
                    let id = read.map_or_else(|malformed| malformed.id, |record| record.id);
                    return Ok(Err(Malformed::new(Place::Line(number), format!("{name:?}: {reason}")).with_id(id)));
                }
                Json::Wrong { found, expected } => {
                    let wrong = format!("claim {index}: {name:?}: found {found}, expected {expected}");
                    return Err(PyTypeError::new_err(wrong));
                }
            }
        }
    }
    Ok(entry_of(&fields, number, own.as_ref().unwrap_or(key_sets)))
}

/// The claim of a line with these fields.
fn entry_of(fields: &[String], number: u64, key_sets: &KeySets) -> Entry {
    let line = format!("{{{}}}", fields.join(","));
    entry_of_line(line.as_bytes(), number, key_sets, &mut Unbounded).expect("an object is not a blank line")
}

/// The fields of a claim.
const FIELDS: [(&str, Kind); 10] = [
    ("id", Kind::Scalar),
    ("suite", Kind::Scalar),
    ("public_key", Kind::Bytes),
    ("public_keys", Kind::List),
    ("key_set", Kind::KeySet),
    ("members", Kind::Members),
    ("message", Kind::Bytes),
    ("messages", Kind::List),
    ("signature", Kind::Bytes),
    ("source", Kind::Scalar),
];

/// The fields of a claim that a chain gave. Without the first one, the others say nothing, and may hold anything.
const OF_CHAIN: [(&str, Kind); 4] =
    [("kind", Kind::Scalar), ("slot", Kind::Scalar), ("index", Kind::Scalar), ("reason", Kind::Scalar)];

/// What a field can hold.
#[derive(Clone, Copy)]
enum Kind {
    Scalar,
    Bytes,
    List,
    /// A key set, or the name of one.
    KeySet,
    /// A bitmap as bytes or text, or indices.
    Members,
}

/// The name of a key set that a claim holds itself.
const OWN_SET: &str = "of the claim";

/// A value as JSON, or the reason why it has none: it is of a fitting type and makes no claim, or it is of a wrong type.
enum Json {
    Text(String),
    Malformed(&'static str),
    Wrong { found: String, expected: &'static str },
}

impl Kind {
    fn json(self, value: &Bound<'_, PyAny>) -> PyResult<Json> {
        let wrong = |found: &Bound<'_, PyAny>, expected| Ok(Json::Wrong { found: type_name(found)?, expected });
        match self {
            Self::Scalar => match scalar(value)? {
                Some(json) => Ok(json),
                None => wrong(value, "text, a finite number or a boolean"),
            },
            Self::Bytes => match digits(value)? {
                Some(json) => Ok(json),
                None => wrong(value, "bytes, or text of hexadecimal digits"),
            },
            Self::KeySet => match value.cast::<PyString>() {
                Ok(name) => text(name),
                Err(_) => wrong(value, "a quorate.KeySet, or the name of one in key_sets"),
            },
            Self::Members => {
                if let Some(bitmap) = digits(value)? {
                    return Ok(bitmap);
                }
                if is_array_of_bytes(value)? {
                    return wrong(value, BITMAP_OR_INDICES);
                }
                let Ok(indices) = value.try_iter() else {
                    return wrong(value, "a bitmap as bytes or hexadecimal digits, or indices");
                };
                let mut items = Vec::new();
                for index in indices {
                    let index = index?;
                    match whole::<u32>("members", &index) {
                        Ok(index) => items.push(index.to_string()),
                        Err(_) => return wrong(&index, "indices from 0 to 2^32 - 1, or a bitmap as bytes"),
                    }
                }
                Ok(Json::Text(format!("[{}]", items.join(","))))
            }
            Self::List => {
                // Bytes and text are sequences for Python too.
                if value.cast::<PySequence>().is_err() || digits(value)?.is_some() {
                    return wrong(value, "a list of bytes, or of text of hexadecimal digits");
                }
                let mut items = Vec::with_capacity(value.len()?);
                for item in value.try_iter()? {
                    let item = item?;
                    match digits(&item)? {
                        Some(Json::Text(json)) => items.push(json),
                        Some(other) => return Ok(other),
                        None => return wrong(&item, "bytes, or text of hexadecimal digits, as an item of the list"),
                    }
                }
                Ok(Json::Text(format!("[{}]", items.join(","))))
            }
        }
    }
}

fn field<'py>(object: &Bound<'py, PyAny>, name: &str, index: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
    if let Ok(dictionary) = object.cast::<PyDict>() {
        return dictionary.get_item(name);
    }
    let claim = object.py().import("quorate._claim")?.getattr("Claim")?;
    if object.is_instance(&claim)? {
        return object.getattr(name).map(Some);
    }
    if let Ok(mapping) = object.cast::<PyMapping>() {
        return mapping.contains(name)?.then(|| mapping.get_item(name)).transpose();
    }
    Err(PyTypeError::new_err(format!(
        "claim {index}: found {}, expected a dictionary, a quorate.Claim or a table",
        type_name(object)?
    )))
}

/// Bytes as JSON writes them, or text as it is.
fn digits(value: &Bound<'_, PyAny>) -> PyResult<Option<Json>> {
    if let Ok(value) = value.cast::<PyString>() {
        return text(value).map(Some);
    }
    Ok(bytes_like(value)?.map(|bytes| Json::Text(quoted(&const_hex::encode(bytes)))))
}

fn scalar(value: &Bound<'_, PyAny>) -> PyResult<Option<Json>> {
    if let Ok(value) = value.cast::<PyString>() {
        return text(value).map(Some);
    }
    if let Ok(boolean) = value.cast::<PyBool>() {
        return Ok(Some(Json::Text(boolean.is_true().to_string())));
    }
    if value.is_instance_of::<PyInt>() {
        return integer(value).map(Some);
    }
    let finite = value.cast::<PyFloat>().ok().map(|number| number.value()).filter(|number| number.is_finite());
    Ok(finite.map(|number| Json::Text(format!("{number:?}"))))
}

fn text(value: &Bound<'_, PyString>) -> PyResult<Json> {
    match value.to_str() {
        Ok(text) => Ok(Json::Text(quoted(text))),
        Err(error) if error.is_instance_of::<PyUnicodeEncodeError>(value.py()) => {
            Ok(Json::Malformed("found text with half of a surrogate pair, expected Unicode"))
        }
        Err(error) => Err(error),
    }
}

/// Python writes integers of 4,300 digits at most, because longer ones take long.
fn integer(value: &Bound<'_, PyAny>) -> PyResult<Json> {
    match value.py().get_type::<PyInt>().call_method1("__repr__", (value,)) {
        Ok(digits) => Ok(Json::Text(digits.extract()?)),
        Err(error) if error.is_instance_of::<PyValueError>(value.py()) => {
            Ok(Json::Malformed("found an integer of thousands of digits, expected a shorter one"))
        }
        Err(error) => Err(error),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
