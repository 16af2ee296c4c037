//! Claims as tables: the columns that Parquet and Arrow share, and the record that a row of them makes.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use quorate::SourceId;
use serde_json::value::RawValue;

use crate::columns::{Columns, Field as ClaimField, List, NO_ROOM, Room, check_name};
use crate::entry::Malformed;
use crate::record::{ClaimIndex, Id, Place, Record};

/// A column's name, and the type of its values.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) kind: DataType,
}

/// What a row holds in a column.
pub(crate) enum Cell<'a, B> {
    Null,
    One(Value<B>),
    /// The elements of a list, none for null. They are read one by one, so that what they take is counted before it is held.
    List(Elements<'a, B>),
}

/// The elements of a list.
pub(crate) type Elements<'a, B> = Box<dyn Iterator<Item = Option<Value<B>>> + 'a>;

/// A value as it is stored.
pub(crate) enum Value<B> {
    Bytes(B),
    Bool(bool),
    Int32(i32),
    Int64(i64),
    Float(f32),
    Double(f64),
}

/// Why a table holds no claims.
pub(crate) enum ColumnFault {
    /// A column that every claim needs is missing.
    Missing { name: &'static str, found: String },
    /// A column has a type that cannot hold what its name says.
    Type { name: &'static str, found: String, expected: &'static str },
}

/// The columns that are read. Others are skipped.
const COLUMNS: [&str; 12] = [
    "id",
    "suite",
    "public_key",
    "public_keys",
    "message",
    "messages",
    "signature",
    "source",
    "kind",
    "slot",
    "index",
    "reason",
];
/// Columns that say something beside `kind` alone. In a table without it they can be of any type, and are not read.
const OF_A_CHAIN: [&str; 3] = ["slot", "index", "reason"];
const BYTES: [&str; 3] = ["public_key", "message", "signature"];
const LISTS: [&str; 2] = ["public_keys", "messages"];
const TEXTS: [&str; 3] = ["suite", "kind", "reason"];

/// The columns of a table that are read, with their place among all columns. The table must have those that every claim needs, of
/// types that can hold them.
///
/// A column without any value is absent, whatever its name: libraries give it the type Null, or a type that its name does not fit.
/// `is_empty` says of a column whether all its values are null.
pub(crate) fn columns(schema: &Schema, is_empty: impl Fn(usize) -> bool) -> Result<Vec<(usize, Named)>, ColumnFault> {
    let mut present: Vec<(usize, Named)> = Vec::new();
    for (place, field) in schema.fields().iter().enumerate() {
        let Some(name) = COLUMNS.into_iter().find(|name| name == field.name()) else { continue };
        let kind = form(field.data_type());
        if kind == DataType::Null || expected(name, &kind).is_some() && is_empty(place) {
            continue;
        }
        present.push((place, Named { name, kind }));
    }
    let has = |name: &str| present.iter().any(|(_, named)| named.name == name);
    for (alternatives, name) in NEEDED {
        if !alternatives.iter().any(|column| has(column)) {
            let with_state = |(place, field): (usize, &Arc<Field>)| {
                let is_absent =
                    COLUMNS.contains(&field.name().as_str()) && !present.iter().any(|(present, _)| *present == place);
                if is_absent { format!("{} (without any value)", field.name()) } else { field.name().clone() }
            };
            let found: Vec<String> = schema.fields().iter().enumerate().map(with_state).collect();
            return Err(ColumnFault::Missing { name, found: found.join(", ") });
        }
    }
    if !has("kind") {
        present.retain(|(_, named)| !OF_A_CHAIN.contains(&named.name));
    }
    // In the order in which a row needs them.
    present.sort_by_key(|(_, named)| COLUMNS.iter().position(|name| *name == named.name));
    for (index, (place, Named { name, kind })) in present.iter().enumerate() {
        if let Some(expected) = expected(name, kind) {
            let found = schema.field(*place).data_type().to_string();
            return Err(ColumnFault::Type { name, found, expected });
        }
        if present[index + 1..].iter().any(|(_, other)| other.name == *name) {
            return Err(ColumnFault::Type { name, found: "two columns".to_owned(), expected: "one column" });
        }
    }
    Ok(present)
}

/// Whether a column of this name can be read.
#[cfg(feature = "arrow")]
pub(crate) fn is_read(name: &str) -> bool {
    COLUMNS.contains(&name)
}

/// The columns of which every claim needs one each.
const NEEDED: [(&[&str], &str); 3] = [
    (&["public_key", "public_keys"], "\"public_key\" (or \"public_keys\")"),
    (&["message", "messages"], "\"message\" (or \"messages\")"),
    (&["signature"], "\"signature\""),
];

/// The type of the values, in whatever layout they stand: with long offsets, in views, in a dictionary, in runs, in lists of one
/// length or in views of lists.
pub(crate) fn form(kind: &DataType) -> DataType {
    match kind {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, values) => form(values),
        DataType::RunEndEncoded(_, values) => form(values.data_type()),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => {
            let kind = match form(item.data_type()) {
                // Lists of which every element is null, or which are all empty.
                DataType::Null => DataType::Binary,
                kind => kind,
            };
            DataType::List(Arc::new(Field::new(item.name(), kind, true)))
        }
        other => other.clone(),
    }
}

/// What was expected of a column, if its values cannot hold what its name says.
fn expected(name: &str, kind: &DataType) -> Option<&'static str> {
    let (fits, expected) = if BYTES.contains(&name) {
        (holds_bytes(kind), "text (hexadecimal digits) or binary")
    } else if LISTS.contains(&name) {
        (
            matches!(kind, DataType::List(item) if holds_bytes(item.data_type())),
            "a list of text (hexadecimal digits) or binary",
        )
    } else if TEXTS.contains(&name) {
        (*kind == DataType::Utf8, "text")
    } else if name == "slot" {
        (kind.is_integer(), "an integer")
    } else if name == "source" || name == "index" {
        (*kind == DataType::Utf8 || kind.is_integer(), "text or an integer")
    } else {
        (holds_id(kind), "text, a number or a boolean")
    };
    (!fits).then_some(expected)
}

fn holds_bytes(kind: &DataType) -> bool {
    // Any number of values of no bytes takes no bytes of the input.
    matches!(kind, DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(1..))
}

fn holds_id(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Boolean | DataType::Float32 | DataType::Float64) || kind.is_integer()
}

/// The record that a row makes. Its bytes find room before they are kept.
pub(crate) fn record<'a, B: AsRef<[u8]>>(
    row: impl Iterator<Item = (&'a Named, Cell<'a, B>)>,
    place: Place,
    room: &mut dyn Room,
) -> Result<Record, Malformed> {
    let mut fields = Columns::default();
    match fill(&mut fields, row, room) {
        Ok(()) => fields.into_record(place),
        Err(reason) => Err(Malformed::new(place, reason).with_id(fields.id)),
    }
}

fn fill<'a, B: AsRef<[u8]>>(
    fields: &mut Columns,
    row: impl Iterator<Item = (&'a Named, Cell<'a, B>)>,
    room: &mut dyn Room,
) -> Result<(), String> {
    for (Named { name, kind }, cell) in row {
        let value = match cell {
            Cell::Null => continue,
            Cell::List(items) => {
                let DataType::List(item) = kind else { return Err(format!("{name:?}: found a list")) };
                match *name {
                    "public_keys" => {
                        fields.public_keys = Some(list(ClaimField::PublicKeys, item.data_type(), items, room)?);
                    }
                    _ => fields.messages = Some(list(ClaimField::Messages, item.data_type(), items, room)?),
                }
                continue;
            }
            Cell::One(value) => value,
        };
        let mut bytes = |field: ClaimField| {
            let named = |reason| format!("{name:?}: {reason}");
            let one = field.one(bytes(&value)?, *kind == DataType::Utf8);
            one.and_then(|one| take_room(room, one)).map_err(named)
        };
        match *name {
            "id" => fields.id = id(&value, kind)?,
            "suite" => fields.suite = Some(text(name, &value)?),
            "source" => fields.source = Some(source(&value, kind)?),
            "kind" => fields.kind = Some(text(name, &value)?),
            // Without a kind, which stands before them, these say nothing.
            "slot" | "index" | "reason" if fields.kind.is_none() => {}
            "slot" => fields.slot = Some(slot(&value, kind)?),
            "index" => fields.index = Some(index(&value, kind)?),
            "reason" => fields.reason = Some(text(name, &value)?),
            "public_key" => fields.public_key = Some(bytes(ClaimField::PublicKeys)?),
            "message" => fields.message = Some(bytes(ClaimField::Messages)?),
            "signature" => fields.signature = Some(bytes(ClaimField::Signature)?),
            _ => return Err(format!("{name:?}: found one value, expected a list")),
        }
    }
    Ok(())
}

fn list<B: AsRef<[u8]>>(
    field: ClaimField,
    kind: &DataType,
    items: Elements<'_, B>,
    room: &mut dyn Room,
) -> Result<Vec<Vec<u8>>, String> {
    let name = field.list_name();
    let mut list = List::new(room);
    for (index, item) in items.enumerate() {
        if list.is_full() {
            list.skip();
            continue;
        }
        let item = item.ok_or_else(|| "found null, expected bytes".to_owned());
        let decoded = item.and_then(|value| field.one(bytes(&value)?, *kind == DataType::Utf8));
        let decoded = decoded.map_err(|reason| format!("\"{name}[{index}]\": {reason}"))?;
        list.push(decoded).map_err(|reason| format!("\"{name}\": {reason}"))?;
    }
    list.into_kept(field).map_err(|reason| format!("\"{name}\": {reason}"))
}

fn bytes<B: AsRef<[u8]>>(value: &Value<B>) -> Result<&[u8], String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes.as_ref()),
        _ => Err("found a number, expected text or binary".to_owned()),
    }
}

fn text<B: AsRef<[u8]>>(name: &str, value: &Value<B>) -> Result<String, String> {
    let found = bytes(value).map_err(|reason| format!("{name:?}: {reason}"))?;
    check_name(name, found.len())?;
    let text = std::str::from_utf8(found).map_err(|_| format!("{name:?}: the text is not UTF-8"))?;
    Ok(text.to_owned())
}

fn id<B: AsRef<[u8]>>(value: &Value<B>, kind: &DataType) -> Result<Option<Id>, String> {
    if *kind == DataType::Utf8 {
        return Ok(Some(Id::text(&text("id", value)?)));
    }
    let json = scalar(value, kind)
        .ok_or_else(|| format!("\"id\": found the type {kind}, expected text, a number or a boolean"))?;
    // JSON cannot write infinity and NaN.
    let raw: &RawValue = serde_json::from_str(&json)
        .map_err(|_| format!("\"id\": found {json}, which JSON cannot write; expected a finite number"))?;
    Id::from_json(raw)
}

fn source<B: AsRef<[u8]>>(value: &Value<B>, kind: &DataType) -> Result<SourceId, String> {
    if *kind == DataType::Utf8 {
        return Ok(SourceId::Name(text("source", value)?.into()));
    }
    let json =
        scalar(value, kind).ok_or_else(|| format!("\"source\": found the type {kind}, expected text or an integer"))?;
    json.parse()
        .map(SourceId::Number)
        .map_err(|_| format!("\"source\": found {json}, expected an integer from 0 to 2^64 - 1"))
}

fn slot<B>(value: &Value<B>, kind: &DataType) -> Result<u64, String> {
    let number = scalar(value, kind).unwrap_or_default();
    number.parse().map_err(|_| format!("\"slot\": found {number}, expected an integer from 0 to 2^64 - 1"))
}

fn index<B: AsRef<[u8]>>(value: &Value<B>, kind: &DataType) -> Result<ClaimIndex, String> {
    let written = match kind {
        DataType::Utf8 => text("index", value)?,
        _ => scalar(value, kind).unwrap_or_default(),
    };
    written.parse().map_err(|error| format!("\"index\": found {written:?}, {error}"))
}

/// A number or a boolean as JSON writes it. Unsigned numbers are in the bits of signed ones, as in Parquet.
fn scalar<B>(value: &Value<B>, kind: &DataType) -> Option<String> {
    Some(match (value, kind) {
        (Value::Bool(value), _) => value.to_string(),
        (Value::Int32(value), DataType::UInt8 | DataType::UInt16 | DataType::UInt32) => {
            value.cast_unsigned().to_string()
        }
        (Value::Int64(value), DataType::UInt64) => value.cast_unsigned().to_string(),
        (Value::Int32(value), _) => value.to_string(),
        (Value::Int64(value), _) => value.to_string(),
        (Value::Float(value), _) => value.to_string(),
        (Value::Double(value), _) => value.to_string(),
        (Value::Bytes(_), _) => return None,
    })
}

/// Takes room for a value that is no element of a list.
fn take_room(room: &mut dyn Room, value: Vec<u8>) -> Result<Vec<u8>, String> {
    if room.take(value.len()) { Ok(value) } else { Err(NO_ROOM.to_owned()) }
}
