use std::collections::HashMap;
use std::io::{Read, Seek, Write};
use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, BooleanBuilder, ListBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, Date32Array, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    Int8Array, Int32Array, Int64Array, LargeBinaryArray, LargeListArray, LargeStringArray, ListArray, ListViewArray,
    NullArray, RecordBatch, RunArray, StringArray, StringViewArray, StructArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::root_as_message;
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::Field;
use flatbuffers::{FlatBufferBuilder, WIPOffset};
use proptest::prelude::*;
use quorate::{Messages, SourceId};

use super::*;
use crate::record::{Id, OfChain};

fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.write(&batch.slice(0, 1)).unwrap();
    writer.into_inner().unwrap()
}

fn small() -> Vec<u8> {
    written(vec![
        ("public_key", Arc::new(BinaryArray::from_vec(vec![b"k", b"kk"]))),
        ("message", Arc::new(LargeStringArray::from(vec!["0x01", "02"]))),
        ("signature", Arc::new(FixedSizeBinaryArray::try_from_iter([b"ab", b"cd"].into_iter()).unwrap())),
        ("suite", Arc::new(StringArray::from(vec![Some("eth2"), None]))),
        ("source", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None]))),
        ("id", Arc::new(Int64Array::from(vec![-3, 4]))),
        ("other", Arc::new(Int64Array::from(vec![1, 2]))),
        ("kind", Arc::new(StringArray::from(vec![Some("exit"), None]))),
        ("slot", Arc::new(UInt64Array::from(vec![7, 8]))),
        ("index", Arc::new(StringArray::from(vec!["0.1", "any"]))),
    ])
}

fn read(stream: Vec<u8>) -> Result<Vec<Entry>, InputError> {
    ArrowRows::new(stream).collect()
}

#[test]
fn every_column_is_read() {
    let records: Vec<_> = read(small()).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(records.len(), 3, "two batches");
    let first = &records[0];
    assert_eq!((&first.public_keys.as_encoded().unwrap()[0][..], &first.signature[..]), (&b"k"[..], &b"ab"[..]));
    assert_eq!(first.messages, Messages::Shared([1].into()));
    assert_eq!((first.suite.as_deref(), &first.source), (Some("eth2"), &Some(SourceId::Number(u64::MAX))));
    assert_eq!(first.id.as_ref().map(Id::as_json), Some("-3"));
    let of_chain = OfChain { kind: "exit".into(), slot: 7, index: "0.1".parse().unwrap() };
    assert_eq!((&first.chain, &records[2].chain), (&Some(of_chain.clone()), &Some(of_chain)));
    assert_eq!((&records[1].suite, &records[1].source, &records[1].chain), (&None, &None, &None));
    assert_eq!(records.iter().map(|record| record.place).collect::<Vec<_>>(), [1, 2, 3].map(Place::Row));
}

#[test]
fn lists_of_keys_and_messages() {
    let lists = || {
        let mut lists = ListBuilder::new(BinaryBuilder::new());
        lists.values().append_value(b"a");
        lists.values().append_value(b"b");
        lists.append(true);
        lists.append(true);
        Arc::new(lists.finish())
    };
    let signature = Arc::new(BinaryArray::from_vec(vec![b"s", b"s"]));
    let stream = written(vec![("public_keys", lists()), ("messages", lists()), ("signature", signature)]);
    let records: Vec<_> = read(stream).unwrap().into_iter().map(Result::unwrap).collect();
    assert_eq!(*records[0].public_keys.as_encoded().unwrap(), [b"a", b"b"]);
    assert_eq!(records[0].messages, Messages::Each(vec![(*b"a").into(), (*b"b").into()]));
    assert!(records[1].public_keys.is_empty());
}

/// Millions of elements of a dictionary take seconds to look at, and a few megabytes to send.
#[test]
fn no_element_is_looked_at_of_a_list_that_is_too_long() {
    struct Two;

    impl Room for Two {
        fn elements(&self) -> usize {
            2
        }

        fn take(&mut self, _: usize) -> bool {
            true
        }
    }

    let mut keys = ListBuilder::new(BinaryBuilder::new());
    (0..3).for_each(|_| keys.values().append_null());
    keys.append(true);
    let of = |value: &[u8]| -> ArrayRef { Arc::new(BinaryArray::from_vec(vec![value])) };
    let stream = written(vec![
        ("public_keys", Arc::new(keys.finish()) as ArrayRef),
        ("message", of(b"m")),
        ("signature", of(b"s")),
    ]);
    let entry = ArrowRows::new(stream).next_within(&mut Two).unwrap().expect("one row");
    assert_eq!(entry.unwrap_err().reason, "\"public_keys\": found 3 keys, expected at most 2");
}

#[test]
fn a_row_without_a_field_is_malformed_and_the_next_one_is_read() {
    let keys = Arc::new(BinaryArray::from_opt_vec(vec![None, Some(b"k")]));
    let other = || Arc::new(BinaryArray::from_vec(vec![b"m", b"m"]));
    let entries = read(written(vec![("public_key", keys), ("message", other()), ("signature", other())])).unwrap();
    let malformed = entries[0].as_ref().unwrap_err();
    assert_eq!(malformed.place, Place::Row(1));
    assert!(malformed.reason.contains("\"public_key\" is missing"), "{malformed}");
    assert!(entries[1].is_ok());
}

#[test]
fn missing_columns_and_wrong_types_are_named() {
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let number = Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    for (columns, expected) in [
        (vec![("message", bytes()), ("signature", bytes())], "no column \"public_key\""),
        (
            vec![("public_key", number), ("message", bytes()), ("signature", bytes())],
            "\"public_key\" has the type Int64",
        ),
    ] {
        let error = read(written(columns)).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn values_that_take_no_bytes_are_refused() {
    // Two thousand million keys in a stream of a few hundred bytes.
    let keys = FixedSizeBinaryArray::try_new_with_len(0, Vec::<u8>::new().into(), None, 2_000_000_000).unwrap();
    let item = Arc::new(Field::new("item", DataType::FixedSizeBinary(0), true));
    let offsets = OffsetBuffer::new(vec![0, 2_000_000_000].into());
    let lists = ListArray::try_new(item, offsets, Arc::new(keys), None).unwrap();
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let error = read(written(vec![("public_keys", Arc::new(lists)), ("message", bytes()), ("signature", bytes())]))
        .unwrap_err();
    assert!(error.to_string().contains("a batch states 2000000000 rows or elements"), "{error}");
    // A column of them is of no type that is read.
    let keys = FixedSizeBinaryArray::try_new_with_len(0, Vec::<u8>::new().into(), None, 1).unwrap();
    let error = read(written(vec![("public_key", Arc::new(keys)), ("message", bytes()), ("signature", bytes())]));
    let error = error.unwrap_err();
    assert!(matches!(error, InputError::Arrow(ArrowStreamError::ColumnType { name: "public_key", .. })), "{error}");
}

#[test]
fn damaged_streams_are_errors() {
    let good = small();
    for bad in [b"PAR1".to_vec(), b"{}".to_vec(), good[..good.len() / 2].to_vec(), [0xff; 64].to_vec()] {
        assert!(matches!(read(bad), Err(InputError::Arrow(ArrowStreamError::Damaged { .. }))));
    }
    // A message that states more bytes than there are takes no memory for them.
    let mut long = good.clone();
    long[4..8].copy_from_slice(&0x7fff_fff0u32.to_le_bytes());
    assert!(read(long).is_err());
    assert!(read(Vec::new()).is_ok_and(|entries| entries.is_empty()));
}

proptest! {
    #[test]
    fn no_changed_byte_makes_it_panic(at in 0..2000usize, byte: u8, cut in 0..2000usize) {
        let mut stream = small();
        let length = stream.len();
        stream[at % length] = byte;
        stream.truncate(length - cut % 64);
        let _ = read(stream);
    }
}

fn in_memory_batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

#[test]
fn views_and_dictionaries_are_read_in_memory_and_in_streams() {
    let suites: DictionaryArray<UInt32Type> = [Some("eth2"), None, Some("chia"), Some("eth2")].into_iter().collect();
    let item = Arc::new(Field::new("item", DataType::BinaryView, true));
    let keys = BinaryViewArray::from_iter_values([b"a", b"b", b"c", b"d", b"e", b"f", b"g", b"h"]);
    let batch = in_memory_batch(vec![
        ("id", Arc::new(NullArray::new(4))),
        ("suite", Arc::new(suites)),
        ("public_keys", Arc::new(FixedSizeListArray::new(item, 2, Arc::new(keys), None))),
        ("message", Arc::new(StringViewArray::from(vec![Some("0x01"), Some("02"), None, Some("04")]))),
        ("signature", Arc::new(LargeBinaryArray::from_vec(vec![b"s", b"t", b"u", b"v"]))),
    ]);
    let entries: Vec<_> = BatchRows::new(&batch, 10).unwrap().collect();
    let record = |index: usize| entries[index].as_ref().unwrap();
    assert_eq!((record(0).suite.as_deref(), &record(0).id, record(0).place), (Some("eth2"), &None, Place::Row(11)));
    assert_eq!((record(1).suite.as_deref(), &record(1).messages), (None, &Messages::Shared([2].into())));
    assert_eq!(*record(3).public_keys.as_encoded().unwrap(), [b"g", b"h"]);
    assert_eq!((record(3).suite.as_deref(), &record(3).signature[..]), (Some("eth2"), &b"v"[..]));
    let malformed = entries[2].as_ref().unwrap_err();
    assert_eq!(malformed.place, Place::Row(13));
    assert!(malformed.reason.contains("\"message\" is missing"), "{malformed}");
    // A slice has its own rows.
    let last: Vec<_> = BatchRows::new(&batch.slice(3, 1), 0).unwrap().collect();
    assert_eq!(*last[0].as_ref().unwrap().public_keys.as_encoded().unwrap(), [b"g", b"h"]);
    // The same in a stream, but the rows are counted from one.
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    let streamed = read(writer.into_inner().unwrap()).unwrap();
    assert_eq!(streamed.len(), 4);
    for (streamed, entry) in streamed.iter().zip(&entries) {
        match (streamed, entry) {
            (Ok(streamed), Ok(entry)) => {
                assert_eq!(
                    (&streamed.suite, &streamed.public_keys, &streamed.messages, &streamed.signature),
                    (&entry.suite, &entry.public_keys, &entry.messages, &entry.signature)
                );
            }
            (streamed, entry) => assert_eq!(streamed.as_ref().unwrap_err().reason, entry.as_ref().unwrap_err().reason),
        }
    }
}

#[test]
fn a_stream_can_have_list_views_runs_and_dictionaries_of_numbers() {
    let item = Arc::new(Field::new("item", DataType::Utf8View, true));
    let keys = Arc::new(StringViewArray::from(vec!["01", "02", "03"]));
    let lists = ListViewArray::new(item, vec![1, 0, 0].into(), vec![2, 1, 0].into(), keys, None);
    let runs = |values: ArrayRef| RunArray::try_new(&Int32Array::from(vec![2, 3]), &*values).unwrap();
    let slots: DictionaryArray<Int8Type> =
        DictionaryArray::new(Int8Array::from(vec![1, 0, 1]), Arc::new(UInt64Array::from(vec![8, 9])));
    let empty = DictionaryArray::new(Int8Array::from(vec![None, None, None]), Arc::new(NullArray::new(0)));
    let batch = in_memory_batch(vec![
        ("public_keys", Arc::new(lists)),
        ("message", Arc::new(runs(Arc::new(StringArray::from(vec!["aa", "bb"]))))),
        ("signature", Arc::new(runs(Arc::new(BinaryArray::from_vec(vec![b"s", b"t"]))))),
        ("kind", Arc::new(StringViewArray::from(vec![Some("exit"); 3]))),
        ("slot", Arc::new(slots)),
        ("index", Arc::new(runs(Arc::new(Int64Array::from(vec![4, 5]))))),
        ("suite", Arc::new(empty)),
        ("id", Arc::new(runs(Arc::new(StringArray::from(vec![None, Some("c")]))))),
    ]);
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    for entries in [read(writer.into_inner().unwrap()).unwrap(), BatchRows::new(&batch, 0).unwrap().collect()] {
        let records: Vec<_> = entries.into_iter().map(Result::unwrap).collect();
        assert_eq!(*records[0].public_keys.as_encoded().unwrap(), [[2], [3]]);
        assert_eq!(*records[1].public_keys.as_encoded().unwrap(), [[1]]);
        assert!(records[2].public_keys.is_empty());
        assert_eq!(records[1].messages, Messages::Shared([0xaa].into()));
        assert_eq!((&records[1].signature[..], &records[2].signature[..]), (&b"s"[..], &b"t"[..]));
        let of_chain = |slot, index: usize| Some(OfChain { kind: "exit".into(), slot, index: index.into() });
        assert_eq!((&records[0].chain, &records[2].chain), (&of_chain(9, 4), &of_chain(9, 5)));
        assert_eq!(records[2].id.as_ref().map(Id::as_json), Some("\"c\""));
        assert_eq!((&records[0].id, &records[0].suite), (&None, &None));
    }
}

#[test]
fn a_column_without_any_value_is_absent_in_streams_and_in_memory() {
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let nulls = || Arc::new(NullArray::new(1)) as ArrayRef;
    let inner = Arc::new(Field::new("n", DataType::Null, true));
    let nested = Arc::new(StructArray::new(vec![inner].into(), vec![nulls()], None));
    for name in ["id", "suite", "source", "kind", "slot", "index", "reason", "public_keys", "messages", "other"] {
        for column in [nulls(), Arc::new(Date32Array::from(vec![None])) as ArrayRef] {
            let columns = || {
                vec![
                    ("public_key", bytes()),
                    ("message", bytes()),
                    ("signature", bytes()),
                    (name, column.clone()),
                    ("note", nested.clone() as ArrayRef),
                ]
            };
            assert_eq!(read(written(columns())).unwrap().iter().filter(|entry| entry.is_ok()).count(), 2, "{name}");
            let batch = in_memory_batch(columns());
            let rows: Vec<_> = BatchRows::new(&batch, 0).unwrap().map(|entry| entry.is_ok()).collect();
            assert_eq!(rows, [true], "{name}");
        }
    }
    let error = read(written(vec![("public_key", bytes()), ("message", bytes()), ("signature", nulls())])).unwrap_err();
    assert!(error.to_string().contains("signature (without any value)"), "{error}");
}

#[test]
fn few_bytes_that_stand_for_many_rows_or_values_are_refused() {
    // Every row is the whole list.
    let item = Arc::new(Field::new("item", DataType::Binary, true));
    let keys = Arc::new(BinaryArray::from_vec(vec![&[7; 48][..]; 1000]));
    let lists = ListViewArray::new(item, vec![0; 100].into(), vec![1000; 100].into(), keys, None);
    let others = || Arc::new(BinaryArray::from_vec(vec![b"m"; 100])) as ArrayRef;
    let stream = written(vec![("public_keys", Arc::new(lists)), ("message", others()), ("signature", others())]);
    let mut rows = ArrowRows::new(stream.clone());
    assert_eq!(rows.limit, VALUES_LIMIT);
    assert_eq!(rows.by_ref().filter(Result::is_ok).count(), 101);
    rows = ArrowRows { limit: 1 << 20, ..ArrowRows::new(stream) };
    let found: Vec<_> = rows.collect();
    assert_eq!(found.len(), 22, "21 rows of 49,002 bytes, and the error");
    let error = found[21].as_ref().unwrap_err().to_string();
    assert!(error.contains("more than 1 MiB together"), "{error}");

    // A million million rows in one run.
    let run = || {
        let values = BinaryArray::from_vec(vec![b"m"]);
        Arc::new(RunArray::try_new(&Int64Array::from(vec![1 << 40]), &values).unwrap()) as ArrayRef
    };
    let error = read(written(vec![("public_key", run()), ("message", run()), ("signature", run())]));
    assert!(error.unwrap_err().to_string().contains("a batch states 1099511627776 rows or elements, in a stream of"));
}

#[test]
fn buffers_that_overlap_are_refused() {
    let mut stream = small();
    let count = |stream: &[u8]| read(stream.to_vec()).map(|entries| entries.len());
    assert_eq!(count(&stream).unwrap(), 3);
    // The lengths of buffers stand in the header of a batch as pairs of offset and length. One length becomes that of the body.
    let mut refused = 0;
    for at in (0..stream.len() - 8).step_by(8) {
        let before = stream.clone();
        stream[at..at + 8].copy_from_slice(&900_u64.to_le_bytes());
        if count(&stream).is_err_and(|error| error.to_string().contains("the buffers of a batch state")) {
            refused += 1;
        }
        stream = before;
    }
    assert!(refused >= 10, "{refused}");
}

#[test]
fn a_batch_in_memory_without_a_column_or_with_another_type_is_refused() {
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let error = BatchRows::new(&in_memory_batch(vec![("message", bytes()), ("signature", bytes())]), 0).unwrap_err();
    assert!(matches!(error, ArrowBatchError::MissingColumn { .. }), "{error}");
    let dates = Arc::new(Date32Array::from(vec![1]));
    let columns = vec![("public_key", dates as ArrayRef), ("message", bytes()), ("signature", bytes())];
    let error = BatchRows::new(&in_memory_batch(columns), 0).unwrap_err();
    let expected = "the column \"public_key\" has the type Date32, expected text (hexadecimal digits) or binary; cast the \
                    column to such a type";
    assert_eq!(error.to_string(), expected);
}

type FieldOffset = WIPOffset<arrow_ipc::Field<'static>>;
type PairOffset = WIPOffset<arrow_ipc::KeyValue<'static>>;

/// A field of text, or of several columns if there are any inside.
fn written_field(
    to: &mut FlatBufferBuilder<'static>,
    name: &str,
    inside: &[FieldOffset],
    metadata: &[PairOffset],
) -> FieldOffset {
    let (name, children, metadata) = (to.create_string(name), to.create_vector(inside), to.create_vector(metadata));
    let (tag, kind) = if inside.is_empty() {
        (arrow_ipc::Type::Utf8, arrow_ipc::Utf8Builder::new(to).finish().as_union_value())
    } else {
        (arrow_ipc::Type::Struct_, arrow_ipc::Struct_Builder::new(to).finish().as_union_value())
    };
    let mut field = arrow_ipc::FieldBuilder::new(to);
    field.add_name(name);
    field.add_type_type(tag);
    field.add_type_(kind);
    field.add_children(children);
    field.add_custom_metadata(metadata);
    field.finish()
}

/// A stream of a schema and nothing else.
fn schema_alone(fields: impl FnOnce(&mut FlatBufferBuilder<'static>) -> Vec<FieldOffset>) -> Vec<u8> {
    let mut to = FlatBufferBuilder::new();
    let fields = fields(&mut to);
    let fields = to.create_vector(&fields);
    let mut schema = arrow_ipc::SchemaBuilder::new(&mut to);
    schema.add_fields(fields);
    let schema = schema.finish().as_union_value();
    let mut message = arrow_ipc::MessageBuilder::new(&mut to);
    message.add_version(arrow_ipc::MetadataVersion::V5);
    message.add_header_type(arrow_ipc::MessageHeader::Schema);
    message.add_header(schema);
    let message = message.finish();
    to.finish(message, None);
    let header = to.finished_data();
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    [&u32::MAX.to_le_bytes()[..], &length, header].concat()
}

/// A field of some kilobytes takes four bytes each time that it is named, and is copied each time: 230 KB made 1.4 GB.
#[test]
fn parts_that_a_schema_names_many_times_are_refused() {
    let name = "n".repeat(1000);
    let columns = schema_alone(|to| vec![written_field(to, &name, &[], &[]); 1000]);
    let inside_one = schema_alone(|to| {
        let inside = written_field(to, &name, &[], &[]);
        vec![written_field(to, "one", &vec![inside; 1000], &[])]
    });
    let of_metadata = schema_alone(|to| {
        let (key, value) = (to.create_string("key"), to.create_string(&name));
        let mut pair = arrow_ipc::KeyValueBuilder::new(to);
        pair.add_key(key);
        pair.add_value(value);
        let pair = pair.finish();
        vec![written_field(to, "one", &[], &vec![pair; 1000])]
    });
    // Each level names the one before it twice.
    let doubled = schema_alone(|to| {
        let first = written_field(to, "first", &[], &[]);
        vec![(0..16).fold(first, |inside, _| written_field(to, "two", &[inside; 2], &[]))]
    });
    for stream in [columns, inside_one, of_metadata, doubled] {
        let error = read(stream).unwrap_err().to_string();
        assert!(error.contains("a header names the same parts many times"), "{error}");
    }
    // As many parts of their own are read.
    let own = schema_alone(|to| {
        let inside: Vec<_> = (0..1000).map(|i| written_field(to, &format!("{i}"), &[], &[])).collect();
        let mut all = vec![written_field(to, "one", &inside, &[])];
        all.extend((0..1000).map(|i| written_field(to, &format!("{i}"), &[], &[])));
        all
    });
    assert!(read(own).unwrap().is_empty());
}

/// What writers share does not count as named many times: the least columns look the largest.
#[test]
fn schemas_of_every_type_are_read() {
    let fields = || {
        let flat = [
            DataType::Null,
            DataType::Boolean,
            DataType::Int64,
            DataType::Float64,
            DataType::Utf8View,
            DataType::FixedSizeBinary(48),
            DataType::Date32,
            DataType::Time64(arrow_schema::TimeUnit::Nanosecond),
            DataType::Timestamp(arrow_schema::TimeUnit::Second, Some("UTC".into())),
            DataType::Decimal128(38, 10),
            DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8)),
        ];
        let nested = |kind: &DataType| {
            let item = Arc::new(Field::new("item", kind.clone(), true));
            [DataType::List(item.clone()), DataType::Struct(vec![item.clone(), item].into())]
        };
        let all: Vec<_> = flat.iter().flat_map(nested).chain(flat.clone()).collect();
        (0..50).flat_map(move |_| all.clone()).map(|kind| Field::new("", kind, false))
    };
    let pair = || HashMap::from([("k".to_owned(), String::new())]);
    let with_metadata: Vec<_> = fields().map(|field| field.with_metadata(pair())).collect();
    for fields in [fields().collect(), with_metadata] {
        let schema = Schema::new(fields);
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.finish().unwrap();
        assert!(read(writer.into_inner().unwrap()).unwrap().is_empty());
    }
}

fn indices(rows: usize) -> Int8Array {
    Int8Array::from(vec![0; rows])
}

/// Claims with a column in front of them and one behind them.
fn between(first: (&str, ArrayRef), last: (&str, ArrayRef)) -> Vec<u8> {
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m", b"m"])) as ArrayRef;
    written(vec![first, ("public_key", bytes()), ("message", bytes()), ("signature", bytes()), last])
}

/// The library would look through the same bytes for each view of them.
#[test]
fn a_dictionary_of_a_column_that_is_not_read_is_not_decoded() {
    let text = "some words, too many for a view";
    let note = DictionaryArray::new(indices(2), Arc::new(StringViewArray::from(vec![text])));
    let suite: DictionaryArray<Int8Type> = ["eth2", "eth2"].into_iter().collect();
    let mut stream = between(("note", Arc::new(note)), ("suite", Arc::new(suite)));
    let at = stream.windows(text.len()).position(|found| found == text.as_bytes()).expect("the text");
    // A view holds its first four bytes.
    stream[at + 4..at + text.len()].fill(0xff);
    let suites: Vec<_> = read(stream).unwrap().into_iter().map(|entry| entry.unwrap().suite.unwrap()).collect();
    assert_eq!(suites, ["eth2"; 3]);
}

/// The library decodes a dictionary as the first of its columns has it, and one that is not read may stand before the other.
#[test]
fn two_columns_with_one_dictionary_id() {
    let note = DictionaryArray::new(indices(2), Arc::new(BinaryArray::from_vec(vec![b"chia"])));
    let suite: DictionaryArray<Int8Type> = ["eth2", "eth2"].into_iter().collect();
    let mut stream = between(("note", Arc::new(note)), ("suite", Arc::new(suite)));
    let at = {
        let header = stream[8..].to_vec();
        let schema = root_as_message(&header).unwrap().header_as_schema().unwrap();
        let suite = schema.fields().unwrap().get(4).dictionary().unwrap();
        assert_eq!(suite.id(), 1);
        8 + suite._tab.loc() + usize::from(suite._tab.vtable().get(arrow_ipc::DictionaryEncoding::VT_ID))
    };
    stream[at..at + 8].fill(0);
    let suites: Vec<_> = read(stream).unwrap().into_iter().map(|entry| entry.unwrap().suite.unwrap()).collect();
    assert_eq!(suites, ["chia"; 3], "the dictionary of this id, as text");
}

#[test]
fn a_stream_with_two_columns_of_one_name_is_refused_before_its_batches() {
    let columns = |second: DataType| {
        let binary = ["public_key", "message", "signature"].map(|name| Field::new(name, DataType::Binary, true));
        let texts = [Field::new("suite", DataType::Utf8, true), Field::new("suite", second, true)];
        let schema = Schema::new(binary.into_iter().chain(texts).collect::<Vec<_>>());
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.finish().unwrap();
        read(writer.into_inner().unwrap())
    };
    let error = columns(DataType::LargeUtf8).unwrap_err().to_string();
    assert!(error.contains("found two columns \"suite\", expected one"), "{error}");
    // One without any value is absent.
    assert!(columns(DataType::Null).is_ok() && columns(DataType::Date32).is_ok());
}

/// As in memory, where a table without kinds is not asked for its other columns.
#[test]
fn a_stream_without_kinds_may_have_two_columns_that_only_chains_have() {
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let number = || Arc::new(Int64Array::from(vec![1])) as ArrayRef;
    let claims = [("public_key", bytes()), ("message", bytes()), ("signature", bytes())];
    let columns = |more: Vec<(&'static str, ArrayRef)>| claims.clone().into_iter().chain(more).collect::<Vec<_>>();
    let two = [("index", number()), ("index", number())];
    assert_eq!(read(written(columns(two.to_vec()))).unwrap().len(), 2);
    let kind = ("kind", Arc::new(StringArray::from(vec!["exit"])) as ArrayRef);
    let error = read(written(columns([&two[..], &[kind]].concat()))).unwrap_err().to_string();
    assert!(error.contains("found two columns \"index\""), "{error}");
}

/// Nested ones, too, and each without a walk through all columns.
#[test]
fn dictionaries_of_a_file_are_found_by_their_ids() {
    let item = Arc::new(Field::new("item", dictionary(vec!["a"]).data_type().clone(), true));
    let lists = ListArray::new(item, OffsetBuffer::new(vec![0, 1, 2].into()), dictionary(vec!["a", "b"]), None);
    let batch = in_memory_batch(vec![("note", Arc::new(lists)), ("suite", dictionary(vec!["eth2", "chia"]))]);
    for file in files(&batch) {
        let file = ArrowFile::open(file).unwrap();
        assert_eq!(file.map(Result::unwrap).next().unwrap().columns(), batch.columns());
    }
}

/// A reader finds memory for the schema, however its stream begins.
#[test]
fn the_memory_of_a_schema_is_known_before_it_is_read() {
    let marked = small();
    let memory = ArrowRows::new(marked.clone()).memory();
    let header = u32::from_le_bytes(marked[4..8].try_into().unwrap()) as usize;
    assert!(memory > 50 * header && memory > marked.len(), "{memory}");
    let unmarked = marked[4..].to_vec();
    assert_eq!(ArrowRows::new(unmarked.clone()).memory(), memory - 4);
    assert_eq!(read(unmarked).unwrap().len(), 3);
    // Nothing stands in front of it.
    let mut to = FlatBufferBuilder::new();
    let message = arrow_ipc::MessageBuilder::new(&mut to).finish();
    to.finish(message, None);
    let header = to.finished_data();
    let length = u32::try_from(header.len()).unwrap().to_le_bytes();
    let error = read([&u32::MAX.to_le_bytes()[..], &length, header, &marked[..]].concat()).unwrap_err().to_string();
    assert!(error.contains("found a message of the type NONE"), "{error}");
}

/// Whoever sends a table with many long names does not get all of them back.
#[test]
fn an_error_lists_few_columns() {
    let of = |place: usize| (format!("{place}{}", "n".repeat(1000)), Arc::new(NullArray::new(1)) as ArrayRef, true);
    let batch = RecordBatch::try_from_iter_with_nullable((0..1000).map(of)).unwrap();
    let error = BatchRows::new(&batch, 0).unwrap_err().to_string();
    assert!(error.contains("and 950 more") && error.len() < 6000, "{} bytes: {error:.300}", error.len());
}

/// A file on disk, as a stream and with a footer.
fn files(batch: &RecordBatch) -> [std::fs::File; 2] {
    let mut stream = StreamWriter::try_new(tempfile::tempfile().unwrap(), &batch.schema()).unwrap();
    stream.write(batch).unwrap();
    stream.write(&batch.slice(0, 1)).unwrap();
    let mut footer = FileWriter::try_new(tempfile::tempfile().unwrap(), &batch.schema()).unwrap();
    footer.write(batch).unwrap();
    footer.write(&batch.slice(0, 1)).unwrap();
    [stream.into_inner().unwrap(), footer.into_inner().unwrap()]
}

fn dictionary(values: Vec<&str>) -> ArrayRef {
    let values: DictionaryArray<Int32Type> = values.into_iter().collect();
    Arc::new(values)
}

#[test]
fn files_with_and_without_a_footer_are_read() {
    let batch = in_memory_batch(vec![
        ("suite", dictionary(vec!["eth2", "eth2"])),
        ("public_key", Arc::new(BinaryArray::from_vec(vec![b"k", b"kk"]))),
        ("message", Arc::new(StringViewArray::from(vec!["0x01", "02"]))),
        ("signature", Arc::new(BinaryArray::from_vec(vec![b"s", b"t"]))),
    ]);
    for file in files(&batch) {
        let batches: Vec<_> = ArrowFile::open(file).unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 2);
        assert_eq!(batches[0].columns(), batch.columns());
        assert_eq!(BatchRows::new(&batches[1], 2).unwrap().filter(Result::is_ok).count(), 1);
    }
}

/// As tables of attestations have them beside their claims.
#[test]
fn a_file_with_lists_of_bits_is_read() {
    let mut bits = ListBuilder::new(BooleanBuilder::new());
    bits.values().append_n(100_000, true);
    bits.append(true);
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let batch = in_memory_batch(vec![
        ("public_key", bytes()),
        ("message", bytes()),
        ("signature", bytes()),
        ("aggregation_bits", Arc::new(bits.finish())),
    ]);
    for file in files(&batch) {
        assert_eq!(ArrowFile::open(file).unwrap().map(Result::unwrap).count(), 2);
    }
}

#[test]
fn lists_of_bits_that_nobody_reads_are_passed_over() {
    let mut bits = ListBuilder::new(BooleanBuilder::new());
    bits.values().append_n(100_000, true);
    bits.append(true);
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let stream = written(vec![
        ("public_key", bytes()),
        ("message", bytes()),
        ("signature", bytes()),
        ("aggregation_bits", Arc::new(bits.finish())),
    ]);
    assert!(stream.len() < 100_000);
    assert_eq!(read(stream).unwrap().len(), 2);
}

#[test]
fn a_file_or_a_batch_that_states_more_than_it_holds_is_refused() {
    let run = || {
        let values = BinaryArray::from_opt_vec(vec![Some(b"m"), None]);
        Arc::new(RunArray::try_new(&Int64Array::from(vec![1, 1 << 40]), &values).unwrap()) as ArrayRef
    };
    let batch = in_memory_batch(vec![("public_key", run()), ("message", run()), ("signature", run())]);
    for file in files(&batch) {
        let error = ArrowFile::open(file).unwrap().next().unwrap().unwrap_err().to_string();
        assert!(error.contains("1099511627776 rows"), "{error}");
    }
    let error = BatchRows::new(&batch, 0).unwrap_err();
    assert!(matches!(error, ArrowBatchError::Size { stated: 1_099_511_627_776, .. }), "{error}");
    // A list of so many elements in one row.
    let item = Arc::new(Field::new("item", run().data_type().clone(), true));
    let offsets = OffsetBuffer::new(vec![0_i64, 1 << 40].into());
    let keys = Arc::new(LargeListArray::try_new(item, offsets, run(), None).unwrap());
    let bytes = || Arc::new(BinaryArray::from_vec(vec![b"m"])) as ArrayRef;
    let batch = in_memory_batch(vec![("public_keys", keys), ("message", bytes()), ("signature", bytes())]);
    assert!(matches!(BatchRows::new(&batch, 0).unwrap_err(), ArrowBatchError::Size { .. }));
}

#[test]
fn a_damaged_file_is_an_error() {
    let batch = in_memory_batch(vec![("message", Arc::new(BinaryArray::from_vec(vec![b"m", b"n"])) as ArrayRef)]);
    for mut file in files(&batch) {
        let mut bytes = Vec::new();
        file.rewind().unwrap();
        file.read_to_end(&mut bytes).unwrap();
        for cut in [5, 100, bytes.len() - 1] {
            let mut part = tempfile::tempfile().unwrap();
            part.write_all(&bytes[..cut]).unwrap();
            assert!(ArrowFile::open(part).and_then(|file| file.collect::<Result<Vec<_>, _>>()).is_err(), "{cut}");
        }
    }
}

/// The rest of the table may be many gigabytes, and each of its slices shares it.
#[test]
fn slices_of_lists_and_dictionaries_are_checked() {
    let mut lists = ListBuilder::new(BinaryBuilder::new());
    for row in 0..8_usize {
        (0..row).for_each(|_| lists.values().append_value(b"a"));
        lists.append(true);
    }
    let lists = lists.finish();
    let keys = Arc::new(BinaryArray::from_vec(vec![b"a", b"b", b"c"]));
    let item = Arc::new(Field::new("item", DataType::Binary, true));
    let views = ListViewArray::new(item, vec![2, 0, 1].into(), vec![1, 2, 0].into(), keys, None);
    let texts = dictionary(vec!["a", "b", "c", "a", "c", "b"]);
    for array in [&lists as &dyn Array, &views, &texts] {
        for start in 0..=array.len() {
            for length in 0..=array.len() - start {
                check_array(&array.slice(start, length)).unwrap();
            }
        }
    }
}
