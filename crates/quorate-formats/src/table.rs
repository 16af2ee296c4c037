//! Claims as tables: the columns that Parquet and Arrow share, and the record that a row of them makes.

use arrow_schema::{DataType, Schema};
use quorate::SourceId;
use serde_json::value::RawValue;

use crate::columns::{Columns, Field, Held, check_name};
use crate::entry::Malformed;
use crate::record::{ClaimIndex, Id, Place, Record};

/// A column's name, and the type of its values.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) kind: DataType,
}

/// What a row holds in a column.
pub(crate) enum Cell<B> {
    Null,
    One(Value<B>),
    /// The elements of a list, none for null.
    List(Vec<Option<Value<B>>>),
}

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
pub(crate) const COLUMNS: [&str; 12] = [
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
pub(crate) const LISTS: [&str; 2] = ["public_keys", "messages"];
const TEXTS: [&str; 3] = ["suite", "kind", "reason"];

/// Checks that a table has the columns that every claim needs, of types that can hold them.
pub(crate) fn check_columns(schema: &Schema) -> Result<(), ColumnFault> {
    let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let needed: [(&[&str], &'static str); 3] = [
        (&["public_key", "public_keys"], "\"public_key\" (or \"public_keys\")"),
        (&["message", "messages"], "\"message\" (or \"messages\")"),
        (&["signature"], "\"signature\""),
    ];
    for (alternatives, name) in needed {
        if !alternatives.iter().any(|column| found.contains(column)) {
            return Err(ColumnFault::Missing { name, found: found.join(", ") });
        }
    }
    for name in read_columns(schema) {
        let mut of_that_name = schema.fields().iter().filter(|field| field.name() == name);
        let Some(field) = of_that_name.next() else { continue };
        let kind = field.data_type();
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
        if !fits {
            return Err(ColumnFault::Type { name, found: kind.to_string(), expected });
        }
        if of_that_name.next().is_some() {
            return Err(ColumnFault::Type { name, found: "two columns".to_owned(), expected: "one column" });
        }
    }
    Ok(())
}

/// The columns of a table that are read.
pub(crate) fn read_columns(schema: &Schema) -> impl Iterator<Item = &'static str> {
    let of_a_chain = schema.fields().iter().any(|field| field.name() == "kind");
    COLUMNS.into_iter().filter(move |name| of_a_chain || !OF_A_CHAIN.contains(name))
}

fn holds_bytes(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Binary | DataType::FixedSizeBinary(_))
}

fn holds_id(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::Boolean | DataType::Float32 | DataType::Float64) || kind.is_integer()
}

/// The record that a row makes.
pub(crate) fn record<'a, B: AsRef<[u8]>>(
    row: impl Iterator<Item = (&'a Named, Cell<B>)>,
    place: Place,
) -> Result<Record, Malformed> {
    let mut fields = Columns::default();
    match fill(&mut fields, row) {
        Ok(()) => fields.into_record(place),
        Err(reason) => Err(Malformed::new(place, reason).with_id(fields.id)),
    }
}

fn fill<'a, B: AsRef<[u8]>>(
    fields: &mut Columns,
    row: impl Iterator<Item = (&'a Named, Cell<B>)>,
) -> Result<(), String> {
    for (Named { name, kind }, cell) in row {
        let value = match cell {
            Cell::Null => continue,
            Cell::List(items) => {
                let DataType::List(item) = kind else { return Err(format!("{name:?}: found a list")) };
                match *name {
                    "public_keys" => fields.public_keys = Some(list(Field::PublicKeys, item.data_type(), items)?),
                    _ => fields.messages = Some(list(Field::Messages, item.data_type(), items)?),
                }
                continue;
            }
            Cell::One(value) => value,
        };
        let bytes = |field: Field| {
            let named = |reason| format!("{name:?}: {reason}");
            field.one(bytes(&value)?, *kind == DataType::Utf8).map_err(named)
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
            "public_key" => fields.public_key = Some(bytes(Field::PublicKeys)?),
            "message" => fields.message = Some(bytes(Field::Messages)?),
            "signature" => fields.signature = Some(bytes(Field::Signature)?),
            _ => return Err(format!("{name:?}: found one value, expected a list")),
        }
    }
    Ok(())
}

fn list<B: AsRef<[u8]>>(field: Field, kind: &DataType, items: Vec<Option<Value<B>>>) -> Result<Vec<Vec<u8>>, String> {
    let name = field.list_name();
    let (mut held, mut list) = (Held::default(), Vec::with_capacity(items.len()));
    for (index, item) in items.into_iter().enumerate() {
        let item = item.ok_or_else(|| "found null, expected bytes".to_owned());
        let decoded = item.and_then(|value| field.one(bytes(&value)?, *kind == DataType::Utf8));
        let decoded = decoded.map_err(|reason| format!("\"{name}[{index}]\": {reason}"))?;
        held.add(&decoded).map_err(|reason| format!("\"{name}\": {reason}"))?;
        list.push(decoded);
    }
    Ok(list)
}

fn bytes<B: AsRef<[u8]>>(value: &Value<B>) -> Result<&[u8], String> {
    match value {
        Value::Bytes(bytes) => Ok(bytes.as_ref()),
        _ => Err("found a number, expected text or binary".to_owned()),
    }
}

fn text<B: AsRef<[u8]>>(name: &str, value: &Value<B>) -> Result<String, String> {
    let found = bytes(value).map_err(|reason| format!("{name:?}: {reason}"))?;
    let text = std::str::from_utf8(found).map_err(|_| format!("{name:?}: the text is not UTF-8"))?;
    check_name(name, text.len())?;
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
