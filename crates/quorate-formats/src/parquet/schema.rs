//! The types of a file's columns, out of its schema.

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use ::parquet::schema::types::{BasicTypeInfo, SchemaDescriptor, Type};

use crate::table::{Kind, TableColumn};

/// The columns of a file, in their order.
pub(super) fn columns_of(schema: &SchemaDescriptor) -> Vec<TableColumn> {
    let column = |column: &Type| {
        let kind = kind(column);
        TableColumn { name: column.name().to_owned(), stated: kind.to_string(), kind }
    };
    schema.root_schema().get_fields().iter().map(|each| column(each)).collect()
}

fn kind(of: &Type) -> Kind {
    let one = match of {
        Type::PrimitiveType { basic_info, physical_type, type_length, .. } => {
            values(basic_info, *physical_type, *type_length)
        }
        Type::GroupType { .. } => element(of).map_or_else(|| Kind::Nested("a group".to_owned()), Kind::list),
    };
    // Without a list around it, what repeats is a list.
    if of.get_basic_info().repetition() == Repetition::REPEATED { Kind::list(one) } else { one }
}

/// What the elements of a list are; none if the group is not a list. Lists have three levels, and old writers leave out the third.
/// See "Lists" in Parquet's `LogicalTypes.md`.
fn element(list: &Type) -> Option<Kind> {
    let info = list.get_basic_info();
    if info.converted_type() != ConvertedType::LIST && info.logical_type_ref() != Some(&LogicalType::List) {
        return None;
    }
    let [repeated] = list.get_fields() else { return None };
    let Type::GroupType { fields, .. } = repeated.as_ref() else {
        // It repeats, so this is the list.
        return match kind(repeated) {
            Kind::List(element) => Some(*element),
            _ => None,
        };
    };
    let of_two_levels = repeated.name() == "array" || repeated.name() == format!("{}_tuple", list.name());
    match &fields[..] {
        [element] if !of_two_levels => Some(kind(element)),
        _ => Some(Kind::Nested("a group".to_owned())),
    }
}

/// The values of one column without its levels.
fn values(info: &BasicTypeInfo, physical: Physical, length: i32) -> Kind {
    use ConvertedType as Converted;

    let (logical, converted) = (info.logical_type_ref(), info.converted_type());
    if logical == Some(&LogicalType::Unknown) {
        return Kind::Null;
    }
    let other = || {
        Kind::Other(match logical {
            Some(logical) => shown(logical),
            None => converted.to_string(),
        })
    };
    match (physical, logical, converted) {
        (Physical::BOOLEAN, ..) => Kind::Boolean,
        (Physical::FLOAT, ..) => Kind::Float(32),
        (Physical::DOUBLE, ..) => Kind::Float(64),
        (Physical::INT32, None, Converted::NONE) => Kind::Signed(32),
        (Physical::INT64, None, Converted::NONE) => Kind::Signed(64),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(integer)), _) => match integer.bit_width {
            bits @ 8..=64 if integer.is_signed => Kind::Signed(bits.cast_unsigned()),
            bits @ 8..=64 => Kind::Unsigned(bits.cast_unsigned()),
            _ => other(),
        },
        (Physical::INT32, None, Converted::INT_8) => Kind::Signed(8),
        (Physical::INT32, None, Converted::INT_16) => Kind::Signed(16),
        (Physical::INT32, None, Converted::INT_32) => Kind::Signed(32),
        (Physical::INT64, None, Converted::INT_64) => Kind::Signed(64),
        (Physical::INT32, None, Converted::UINT_8) => Kind::Unsigned(8),
        (Physical::INT32, None, Converted::UINT_16) => Kind::Unsigned(16),
        (Physical::INT32, None, Converted::UINT_32) => Kind::Unsigned(32),
        (Physical::INT64, None, Converted::UINT_64) => Kind::Unsigned(64),
        (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Json), _)
        | (Physical::BYTE_ARRAY, None, Converted::UTF8 | Converted::JSON) => Kind::Text,
        (Physical::BYTE_ARRAY, Some(LogicalType::Decimal(_)), _)
        | (Physical::BYTE_ARRAY, None, Converted::DECIMAL)
        | (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Decimal(_) | LogicalType::Float16), _)
        | (Physical::FIXED_LEN_BYTE_ARRAY, None, Converted::DECIMAL | Converted::INTERVAL) => other(),
        (Physical::BYTE_ARRAY, ..) => Kind::Bytes,
        (Physical::FIXED_LEN_BYTE_ARRAY, ..) => Kind::BytesOf(length),
        (Physical::INT96, ..) => Kind::Other("Int96".to_owned()),
        (Physical::INT32 | Physical::INT64, ..) => other(),
    }
}

/// A type that no claim has as an error shows it: by Arrow's name, as far as it has one.
fn shown(of: &LogicalType) -> String {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => "ms",
        TimeUnit::MICROS => "us",
        TimeUnit::NANOS => "ns",
    };
    match of {
        LogicalType::Decimal(decimal) => format!("Decimal({}, {})", decimal.precision, decimal.scale),
        LogicalType::Time(time) => format!("Time({})", unit(&time.unit)),
        LogicalType::Timestamp(timestamp) => format!("Timestamp({})", unit(&timestamp.unit)),
        LogicalType::Integer(integer) if integer.is_signed => format!("Int{}", integer.bit_width),
        LogicalType::Integer(integer) => format!("UInt{}", integer.bit_width),
        LogicalType::Variant(_) => "Variant".to_owned(),
        LogicalType::Geometry(_) => "Geometry".to_owned(),
        LogicalType::Geography(_) => "Geography".to_owned(),
        LogicalType::_Unknown { field_id } => format!("a logical type of the number {field_id}"),
        // The others are names alone.
        named => format!("{named:?}"),
    }
}

#[cfg(test)]
mod tests {
    use ::parquet::schema::parser::parse_message_type;

    use super::*;

    fn kind_of(column: &str) -> String {
        let schema = parse_message_type(&format!("message m {{ {column} }}")).unwrap();
        kind(&schema.get_fields()[0]).to_string()
    }

    #[test]
    fn values_have_the_types_that_they_state() {
        for (column, expected) in [
            ("REQUIRED BYTE_ARRAY a;", "Binary"),
            ("OPTIONAL BYTE_ARRAY a (UTF8);", "Utf8"),
            ("OPTIONAL BYTE_ARRAY a (STRING);", "Utf8"),
            ("OPTIONAL FIXED_LEN_BYTE_ARRAY(48) a;", "FixedSizeBinary(48)"),
            ("OPTIONAL FIXED_LEN_BYTE_ARRAY(16) a (UUID);", "FixedSizeBinary(16)"),
            ("OPTIONAL BOOLEAN a;", "Boolean"),
            ("OPTIONAL FLOAT a;", "Float32"),
            ("OPTIONAL DOUBLE a;", "Float64"),
            ("OPTIONAL INT32 a;", "Int32"),
            ("OPTIONAL INT32 a (INT_8);", "Int8"),
            ("OPTIONAL INT32 a (UINT_16);", "UInt16"),
            ("OPTIONAL INT64 a (UINT_64);", "UInt64"),
            ("OPTIONAL INT64 a (INTEGER(64,false));", "UInt64"),
            ("OPTIONAL INT32 a (DATE);", "Date"),
            ("OPTIONAL INT32 a (TIME(MILLIS,true));", "Time(ms)"),
            ("OPTIONAL INT64 a (TIME(MICROS,false));", "Time(us)"),
            ("OPTIONAL INT64 a (TIMESTAMP(NANOS,false));", "Timestamp(ns)"),
            ("OPTIONAL INT64 a (TIMESTAMP(MICROS,true));", "Timestamp(us)"),
            ("OPTIONAL INT64 a (DECIMAL(18,2));", "Decimal(18, 2)"),
            ("OPTIONAL FIXED_LEN_BYTE_ARRAY(11) a (DECIMAL(25,2));", "Decimal(25, 2)"),
            ("OPTIONAL INT96 a;", "Int96"),
            ("OPTIONAL BYTE_ARRAY a (ENUM);", "Binary"),
        ] {
            assert_eq!(kind_of(column), expected, "{column}");
        }
    }

    #[test]
    fn lists_of_every_writer() {
        for (column, expected) in [
            ("REQUIRED GROUP a (LIST) { REPEATED GROUP list { OPTIONAL BYTE_ARRAY element; } }", "List(Binary)"),
            (
                "OPTIONAL GROUP a (LIST) { REPEATED GROUP bag { OPTIONAL BYTE_ARRAY array_element (UTF8); } }",
                "List(Utf8)",
            ),
            ("OPTIONAL GROUP a (LIST) { REPEATED BYTE_ARRAY element; }", "List(Binary)"),
            ("REPEATED BYTE_ARRAY a;", "List(Binary)"),
            ("OPTIONAL GROUP a (LIST) { REPEATED GROUP array { REQUIRED BYTE_ARRAY b; } }", "List(a group)"),
            ("OPTIONAL GROUP a (LIST) { REPEATED GROUP a_tuple { REQUIRED BYTE_ARRAY b; } }", "List(a group)"),
            (
                "OPTIONAL GROUP a (LIST) { REPEATED GROUP list { OPTIONAL GROUP element { REQUIRED INT32 b; } } }",
                "List(a group)",
            ),
            ("OPTIONAL GROUP a { REQUIRED BYTE_ARRAY b; }", "a group"),
            (
                "OPTIONAL GROUP a (MAP) { REPEATED GROUP b { REQUIRED BYTE_ARRAY key; REQUIRED INT32 value; } }",
                "a group",
            ),
        ] {
            assert_eq!(kind_of(column), expected, "{column}");
        }
        let nested = "OPTIONAL GROUP a (LIST) { REPEATED GROUP list { OPTIONAL GROUP element (LIST) { REPEATED GROUP list { \
                      OPTIONAL INT32 element; } } } }";
        assert_eq!(kind_of(nested), "List(List(Int32))");
    }
}
