use std::sync::Arc;

use arrow_array::builder::{BinaryBuilder, ListBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, Date32Array, DictionaryArray, FixedSizeBinaryArray, FixedSizeListArray,
    Int8Array, Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, ListArray, ListViewArray, NullArray,
    RecordBatch, RunArray, StringArray, StringViewArray, StructArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Field;
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
            assert!(BatchRows::new(&batch, 0).unwrap().all(|entry| entry.is_ok()), "{name}");
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
