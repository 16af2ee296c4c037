//! Claims as tables: the columns that Parquet and Arrow share, and the record that a row of them makes.

use std::fmt;

use quorate::SourceId;
use quorate_host::clipped;
use serde_json::value::RawValue;

use crate::columns::{Columns, Field, Room, check_name, take_room};
#[cfg(feature = "parquet")]
use crate::columns::{UNKNOWN_CHARACTERS, UNKNOWN_FIELDS};
use crate::entry::Malformed;
use crate::record::{ClaimIndex, Id, Place, Record};

/// A column as its table states it.
pub(crate) struct TableColumn {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The type in the words of its format.
    pub(crate) stated: String,
}

/// The type of a column's values, in whatever layout they stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nulls alone.
    Null,
    Boolean,
    /// Integers of so many bits.
    Signed(u8),
    Unsigned(u8),
    /// Floating-point numbers of so many bits.
    Float(u8),
    /// UTF-8.
    Text,
    Bytes,
    /// So many bytes each.
    BytesOf(i32),
    List(Box<Self>),
    /// Several columns in one, which the format calls so.
    Nested(String),
    /// A type that no claim has, which the format calls so: "Date32".
    Other(String),
}

impl Kind {
    /// Lists of such elements. If every element is null, or all lists are empty, they are lists of bytes.
    pub(crate) fn list(element: Self) -> Self {
        Self::List(Box::new(if element == Self::Null { Self::Bytes } else { element }))
    }

    fn is_integer(&self) -> bool {
        matches!(self, Self::Signed(_) | Self::Unsigned(_))
    }
}

/// By the names of Arrow, which libraries of tables share.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("Null"),
            Self::Boolean => f.write_str("Boolean"),
            Self::Signed(bits) => write!(f, "Int{bits}"),
            Self::Unsigned(bits) => write!(f, "UInt{bits}"),
            Self::Float(bits) => write!(f, "Float{bits}"),
            Self::Text => f.write_str("Utf8"),
            Self::Bytes => f.write_str("Binary"),
            Self::BytesOf(length) => write!(f, "FixedSizeBinary({length})"),
            Self::List(element) => write!(f, "List({element})"),
            Self::Nested(name) | Self::Other(name) => f.write_str(name),
        }
    }
}

/// A column's name, and the type of its values.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
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
    /// Two columns have this name.
    Repeated { name: &'static str },
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
/// How many columns an error lists, of a table that may have any number of any names.
const MOST_LISTED: usize = 50;
/// How many characters it shows of the name or the type of each.
pub(crate) const MOST_SHOWN: usize = 100;
/// Columns that say something beside `kind` alone. In a table without it they can be of any type, and are not read.
const OF_A_CHAIN: [&str; 3] = ["slot", "index", "reason"];
const BYTES: [&str; 3] = ["public_key", "message", "signature"];
const LISTS: [&str; 2] = ["public_keys", "messages"];
const TEXTS: [&str; 3] = ["suite", "kind", "reason"];

/// The names of columns that no claim has, as those of unknown fields in JSON Lines: so many, and each so long.
#[cfg(feature = "parquet")]
pub(crate) fn unknown(table: &[TableColumn]) -> Vec<String> {
    let unknown = table.iter().map(|column| column.name.as_str()).filter(|name| !COLUMNS.contains(name));
    unknown.take(UNKNOWN_FIELDS).map(|name| name.chars().take(UNKNOWN_CHARACTERS).collect()).collect()
}

/// The columns of a table that are read, with their place among all columns. The table must have those that every claim needs, of
/// types that can hold them.
///
/// A column without any value is absent, whatever its name: libraries give it the type Null, or a type that its name does not fit.
/// `is_empty` says of a column whether all its values are null.
pub(crate) fn columns(
    table: &[TableColumn],
    is_empty: impl Fn(usize) -> bool,
) -> Result<Vec<(usize, Named)>, ColumnFault> {
    let mut present: Vec<(usize, Named)> = Vec::new();
    for (place, column) in table.iter().enumerate() {
        let Some(name) = COLUMNS.into_iter().find(|name| *name == column.name) else { continue };
        if column.kind == Kind::Null || expected(name, &column.kind).is_some() && is_empty(place) {
            continue;
        }
        present.push((place, Named { name, kind: column.kind.clone() }));
    }
    let has = |name: &str| present.iter().any(|(_, named)| named.name == name);
    for (alternatives, name) in NEEDED {
        if !alternatives.iter().any(|column| has(column)) {
            let with_state = |(place, TableColumn { name, .. }): (usize, &TableColumn)| {
                let is_absent = COLUMNS.contains(&&name[..]) && !present.iter().any(|(present, _)| *present == place);
                if is_absent { format!("{name} (without any value)") } else { clipped(name, MOST_SHOWN) }
            };
            let mut found: Vec<String> = table.iter().enumerate().take(MOST_LISTED).map(with_state).collect();
            if table.len() > MOST_LISTED {
                found.push(format!("and {} more", table.len() - MOST_LISTED));
            }
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
            let found = table[*place].stated.clone();
            return Err(ColumnFault::Type { name, found, expected });
        }
        if present[index + 1..].iter().any(|(_, other)| other.name == *name) {
            return Err(ColumnFault::Repeated { name });
        }
    }
    Ok(present)
}

/// As many rows or elements may take no bytes of their table: null elements of lists have none, and equal values stand once. A table of
/// more must have a byte for each, or a few hundred bytes would be verified for years.
pub(crate) const FEW_ROWS: usize = 4096;

/// Whether a column of this name can be read.
#[cfg(feature = "arrow")]
pub(crate) fn is_read(name: &str) -> bool {
    COLUMNS.contains(&name)
}

/// Whether a column of this name is read beside `kind` alone.
#[cfg(feature = "arrow")]
pub(crate) fn is_of_chain(name: &str) -> bool {
    OF_A_CHAIN.contains(&name)
}

/// Whether a column of this name can have values of this type.
#[cfg(feature = "arrow")]
pub(crate) fn fits(name: &str, kind: &Kind) -> bool {
    expected(name, kind).is_none()
}

/// The columns of which every claim needs one each.
const NEEDED: [(&[&str], &str); 3] = [
    (&["public_key", "public_keys"], "\"public_key\" (or \"public_keys\")"),
    (&["message", "messages"], "\"message\" (or \"messages\")"),
    (&["signature"], "\"signature\""),
];

/// What was expected of a column, if its values cannot hold what its name says.
fn expected(name: &str, kind: &Kind) -> Option<&'static str> {
    let (fits, expected) = if BYTES.contains(&name) {
        (holds_bytes(kind), "text (hexadecimal digits) or binary")
    } else if LISTS.contains(&name) {
        (matches!(kind, Kind::List(element) if holds_bytes(element)), "a list of text (hexadecimal digits) or binary")
    } else if TEXTS.contains(&name) {
        (*kind == Kind::Text, "text")
    } else if name == "slot" {
        (kind.is_integer(), "an integer")
    } else if name == "source" || name == "index" {
        (*kind == Kind::Text || kind.is_integer(), "text or an integer")
    } else {
        (holds_id(kind), "text, a number or a boolean")
    };
    (!fits).then_some(expected)
}

fn holds_bytes(kind: &Kind) -> bool {
    // Any number of values of no bytes takes no bytes of the input.
    matches!(kind, Kind::Text | Kind::Bytes | Kind::BytesOf(1..))
}

fn holds_id(kind: &Kind) -> bool {
    matches!(kind, Kind::Text | Kind::Boolean | Kind::Float(_)) || kind.is_integer()
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
                let Kind::List(element) = kind else { return Err(format!("{name:?}: found a list")) };
                match *name {
                    "public_keys" => {
                        fields.public_keys = Some(list(Field::PublicKeys, element, items, room)?);
                    }
                    _ => fields.messages = Some(list(Field::Messages, element, items, room)?),
                }
                continue;
            }
            Cell::One(value) => value,
        };
        let mut bytes = |field: Field| {
            let named = |reason| format!("{name:?}: {reason}");
            let one = field.one(bytes(&value)?, *kind == Kind::Text);
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
            "public_key" => fields.public_key = Some(bytes(Field::PublicKeys)?),
            "message" => fields.message = Some(bytes(Field::Messages)?),
            "signature" => fields.signature = Some(bytes(Field::Signature)?),
            _ => return Err(format!("{name:?}: found one value, expected a list")),
        }
    }
    Ok(())
}

fn list<B: AsRef<[u8]>>(
    field: Field,
    kind: &Kind,
    items: Elements<'_, B>,
    room: &mut dyn Room,
) -> Result<Vec<Vec<u8>>, String> {
    let decode = |item: Option<Value<B>>| {
        let value = item.ok_or_else(|| "found null, expected bytes".to_owned())?;
        field.one(bytes(&value)?, *kind == Kind::Text)
    };
    field.list(items, decode, room)
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

fn id<B: AsRef<[u8]>>(value: &Value<B>, kind: &Kind) -> Result<Option<Id>, String> {
    if *kind == Kind::Text {
        return Ok(Some(Id::text(&text("id", value)?)));
    }
    let json = scalar(value, kind)
        .ok_or_else(|| format!("\"id\": found the type {kind}, expected text, a number or a boolean"))?;
    let number = match value {
        Value::Float(number) => f64::from(*number),
        Value::Double(number) => *number,
        _ => 0.0,
    };
    // Libraries of tables write NaN where a number is missing.
    if number.is_nan() {
        return Ok(None);
    }
    // A number of JSON is never infinite.
    if number.is_infinite() {
        return Ok(Some(Id::text(&json)));
    }
    let raw: &RawValue = serde_json::from_str(&json).map_err(|error| format!("\"id\": found {json}: {error}"))?;
    Id::from_json(raw)
}

fn source<B: AsRef<[u8]>>(value: &Value<B>, kind: &Kind) -> Result<SourceId, String> {
    if *kind == Kind::Text {
        return Ok(SourceId::Name(text("source", value)?.into()));
    }
    let json =
        scalar(value, kind).ok_or_else(|| format!("\"source\": found the type {kind}, expected text or an integer"))?;
    json.parse()
        .map(SourceId::Number)
        .map_err(|_| format!("\"source\": found {json}, expected an integer from 0 to 2^64 - 1"))
}

fn slot<B>(value: &Value<B>, kind: &Kind) -> Result<u64, String> {
    let number = scalar(value, kind).unwrap_or_default();
    number.parse().map_err(|_| format!("\"slot\": found {number}, expected an integer from 0 to 2^64 - 1"))
}

fn index<B: AsRef<[u8]>>(value: &Value<B>, kind: &Kind) -> Result<ClaimIndex, String> {
    let written = match kind {
        Kind::Text => text("index", value)?,
        _ => scalar(value, kind).unwrap_or_default(),
    };
    written.parse().map_err(|error| format!("\"index\": found {written:?}, {error}"))
}

/// A number or a boolean as JSON writes it. Unsigned numbers are in the bits of signed ones, as in Parquet.
fn scalar<B>(value: &Value<B>, kind: &Kind) -> Option<String> {
    Some(match (value, kind) {
        (Value::Bool(value), _) => value.to_string(),
        (Value::Int32(value), Kind::Unsigned(_)) => value.cast_unsigned().to_string(),
        (Value::Int64(value), Kind::Unsigned(_)) => value.cast_unsigned().to_string(),
        (Value::Int32(value), _) => value.to_string(),
        (Value::Int64(value), _) => value.to_string(),
        (Value::Float(value), _) => value.to_string(),
        (Value::Double(value), _) => value.to_string(),
        (Value::Bytes(_), _) => return None,
    })
}
