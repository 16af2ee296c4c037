//! Writes files in every type that other writers choose, and reads them back.

use std::fs;
use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use ::parquet::basic::{Compression, Encoding};
use ::parquet::file::metadata::ParquetMetaDataWriter;
use ::parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use arrow_array::builder::{BinaryBuilder, ListBuilder, StringBuilder};
use arrow_array::types::Int8Type as KeyType;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, DictionaryArray, FixedSizeBinaryArray, Float32Array,
    Float64Array, Int32Array, LargeBinaryArray, LargeStringArray, ListArray, NullArray, RecordBatch, StringArray,
    StringViewArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Schema};
use proptest::prelude::*;

use super::*;
use crate::record::{Id, OfChain};
use quorate::{Messages, SourceId};

type Named = (&'static str, ArrayRef);

fn write_with(columns: Vec<Named>, compression: Compression) -> Vec<u8> {
    write_as(columns, WriterProperties::builder().set_compression(compression).build())
}

fn write_as(columns: Vec<Named>, properties: WriterProperties) -> Vec<u8> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn write(columns: Vec<Named>) -> Vec<u8> {
    write_with(columns, Compression::UNCOMPRESSED)
}

fn open(bytes: &[u8]) -> Result<ParquetRows, InputError> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    ParquetRows::open(file)
}

fn read(columns: Vec<Named>) -> Vec<Entry> {
    open(&write(columns)).unwrap().map(Result::unwrap).collect()
}

fn strings(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn minimal() -> Vec<Named> {
    vec![("public_key", strings(&["0x01"])), ("message", strings(&["02"])), ("signature", strings(&["03"]))]
}

fn with(name: &'static str, array: ArrayRef) -> Vec<Named> {
    let mut columns: Vec<Named> = minimal().into_iter().filter(|(other, _)| *other != name).collect();
    columns.push((name, array));
    columns
}

#[test]
fn one_row() {
    let record = read(minimal()).remove(0).unwrap();
    assert_eq!(*record.public_keys.as_encoded().unwrap(), [[1]]);
    assert_eq!(record.messages, Messages::Shared([2].into()));
    assert_eq!(record.signature, [3]);
    assert_eq!(record.place, Place::Row(1));
    assert_eq!((record.id, record.suite, record.source), (None, None, None));
}

#[test]
fn every_column_type_that_arrow_writes() {
    let binary: [&[u8]; 1] = [&[3, 4]];
    let dictionary: DictionaryArray<KeyType> = ["0304"].into_iter().collect();
    let columns: [ArrayRef; 8] = [
        strings(&["0304"]),
        Arc::new(LargeStringArray::from(vec!["0304"])),
        Arc::new(StringViewArray::from(vec!["0304"])),
        Arc::new(dictionary),
        Arc::new(BinaryArray::from(binary.to_vec())),
        Arc::new(LargeBinaryArray::from(binary.to_vec())),
        Arc::new(BinaryViewArray::from(binary.to_vec())),
        Arc::new(FixedSizeBinaryArray::try_from_iter(binary.iter()).unwrap()),
    ];
    for column in columns {
        let kind = column.data_type().clone();
        let record = read(with("signature", column)).remove(0).unwrap();
        assert_eq!(record.signature, [3, 4], "{kind}");
    }
}

#[test]
fn lists_of_text_and_of_binary() {
    let mut texts = ListBuilder::new(StringBuilder::new());
    texts.append_value([Some("01"), Some("0x02")]);
    let mut binaries = ListBuilder::new(BinaryBuilder::new());
    binaries.append_value([Some([1]), Some([2])]);
    for list in [Arc::new(texts.finish()) as ArrayRef, Arc::new(binaries.finish())] {
        let columns = vec![("public_keys", list.clone()), ("messages", list), ("signature", strings(&["03"]))];
        let record = read(columns).remove(0).unwrap();
        assert_eq!(*record.public_keys.as_encoded().unwrap(), [[1], [2]]);
        assert_eq!(record.messages, Messages::Each(vec![[1].into(), [2].into()]));
    }
}

/// Libraries of tables write NaN where an id is missing, and no verdict rests on an id.
#[test]
fn a_row_whose_id_is_nan_makes_a_claim_without_an_id() {
    let arrays: [ArrayRef; 3] = [
        Arc::new(Float64Array::from(vec![f64::NAN])),
        Arc::new(Float32Array::from(vec![-f32::NAN])),
        Arc::new(Float64Array::from(vec![None::<f64>])),
    ];
    for array in arrays {
        assert_eq!(read(with("id", array)).remove(0).unwrap().id, None);
    }
}

#[test]
fn ids_suites_and_sources() {
    let ids: [(ArrayRef, &str); 8] = [
        (strings(&["a"]), "\"a\""),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), "18446744073709551615"),
        (Arc::new(Int32Array::from(vec![-1])), "-1"),
        (Arc::new(BooleanArray::from(vec![true])), "true"),
        (Arc::new(Float64Array::from(vec![1.5])), "1.5"),
        (Arc::new(Float32Array::from(vec![1.5])), "1.5"),
        (Arc::new(Float64Array::from(vec![f64::INFINITY])), "\"inf\""),
        (Arc::new(Float32Array::from(vec![f32::NEG_INFINITY])), "\"-inf\""),
    ];
    for (array, json) in ids {
        assert_eq!(read(with("id", array)).remove(0).unwrap().id.unwrap().as_json(), json);
    }
    assert_eq!(read(with("suite", strings(&["eth2"]))).remove(0).unwrap().suite.as_deref(), Some("eth2"));
    let sources: [(ArrayRef, SourceId); 3] = [
        (strings(&["7"]), SourceId::from("7")),
        (Arc::new(UInt64Array::from(vec![u64::MAX])), SourceId::Number(u64::MAX)),
        (Arc::new(Int32Array::from(vec![7])), SourceId::Number(7)),
    ];
    for (array, source) in sources {
        assert_eq!(read(with("source", array)).remove(0).unwrap().source, Some(source));
    }
    let negative = read(with("source", Arc::new(Int32Array::from(vec![-1])))).remove(0);
    assert!(negative.unwrap_err().reason.contains("\"source\": found -1, expected an integer from 0"));
}

#[test]
fn columns_of_a_chain() {
    let columns = |extra: Vec<Named>| minimal().into_iter().chain(extra).collect::<Vec<_>>();
    let kind = || ("kind", strings(&["exit"]));
    let slot = || ("slot", Arc::new(UInt64Array::from(vec![u64::MAX])) as ArrayRef);
    let of = |index: &str| Some(OfChain { kind: "exit".into(), slot: u64::MAX, index: index.parse().unwrap() });
    let indices: [(ArrayRef, &str); 3] =
        [(strings(&["0.1"]), "0.1"), (strings(&["3"]), "3"), (Arc::new(Int32Array::from(vec![7])), "7")];
    for (index, text) in indices {
        let record = read(columns(vec![kind(), slot(), ("index", index)])).remove(0).unwrap();
        assert_eq!((record.chain, record.checks.len()), (of(text), 0));
    }
    let reason = ("reason", Arc::new(StringArray::from(vec![Some("validator: found 9")])) as ArrayRef);
    let refuted = read(columns(vec![kind(), slot(), ("index", strings(&["3"])), reason])).remove(0).unwrap();
    assert_eq!(refuted.failed_check().unwrap().detail, "validator: found 9");
    for (slot, index, expected) in [
        (Arc::new(Int32Array::from(vec![-1])) as ArrayRef, strings(&["0"]), "\"slot\": found -1, expected an integer"),
        (slot().1, strings(&["x"]), "\"index\": found \"x\", expected the place"),
        (slot().1, Arc::new(Int32Array::from(vec![-1])), "\"index\": found \"-1\", expected the place"),
        (slot().1, Arc::new(StringArray::from(vec![None::<&str>])), "\"index\" is missing; a claim with \"kind\""),
    ] {
        let malformed = read(columns(vec![kind(), ("slot", slot), ("index", index)])).remove(0).unwrap_err();
        assert!(malformed.reason.starts_with(expected), "{malformed}");
    }
    // Without `kind`, the columns are the user's own, of any type.
    let own = || ("index", Arc::new(Float64Array::from(vec![1.5])) as ArrayRef);
    assert_eq!(read(columns(vec![own(), ("slot", strings(&["a"]))])).remove(0).unwrap().chain, None);
    let error = open(&write(columns(vec![kind(), own()]))).err().unwrap().to_string();
    let expected = "\"index\" has the type Float64, expected text or an integer; cast the column to such a type";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_null_cell_is_named_by_its_row() {
    let columns = vec![
        ("public_key", strings(&["01", "02", "03"])),
        ("message", strings(&["", "", ""])),
        ("signature", Arc::new(StringArray::from(vec![Some("04"), None, Some("05")])) as ArrayRef),
    ];
    let entries = read(columns);
    assert!(entries[0].is_ok() && entries[2].is_ok());
    assert_eq!(entries[1].as_ref().unwrap_err().to_string(), "row 2: \"signature\" is missing");
}

#[test]
fn a_null_in_a_list_and_bad_hex() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value([Some("01"), None]);
    let columns = vec![
        ("public_keys", Arc::new(list.finish()) as ArrayRef),
        ("message", strings(&["02"])),
        ("signature", strings(&["03"])),
    ];
    assert_eq!(read(columns)[0].as_ref().unwrap_err().reason, "\"public_keys[1]\": found null, expected bytes");
    let odd = read(with("message", strings(&["0"])));
    assert!(odd[0].as_ref().unwrap_err().reason.starts_with("\"message\": found 1 hexadecimal digits"));
}

#[test]
fn a_row_chooses_between_one_key_and_several() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_null();
    list.append_value([Some("02"), Some("03")]);
    list.append_value([Some("02")]);
    let columns = vec![
        ("public_key", Arc::new(StringArray::from(vec![Some("01"), None, Some("01")])) as ArrayRef),
        ("public_keys", Arc::new(list.finish())),
        ("message", strings(&["", "", ""])),
        ("signature", strings(&["", "", ""])),
    ];
    let entries = read(columns);
    assert_eq!(entries[0].as_ref().unwrap().public_keys.len(), 1);
    assert_eq!(entries[1].as_ref().unwrap().public_keys.len(), 2);
    assert!(entries[2].as_ref().unwrap_err().reason.contains("both"));
}

#[test]
fn rows_are_counted_across_pages_and_row_groups() {
    let many = 2051;
    let column = || Arc::new(StringArray::from(vec!["01"; many])) as ArrayRef;
    let columns = vec![("public_key", column()), ("message", column()), ("signature", column())];
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .set_max_row_group_row_count(Some(1000));
    let bytes = write_as(columns, properties.build());
    let entries: Vec<Entry> = open(&bytes).unwrap().map(Result::unwrap).collect();
    assert_eq!(entries.len(), many);
    assert_eq!(entries[many - 1].as_ref().unwrap().place, Place::Row(many as u64));
}

#[test]
fn the_usual_codecs() {
    let codecs = [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
    ];
    for codec in codecs {
        let rows = open(&write_with(minimal(), codec)).unwrap().count();
        assert_eq!(rows, 1, "{codec}");
    }
}

#[test]
fn a_file_without_rows_has_no_records() {
    let columns = minimal().into_iter().map(|(name, _)| (name, strings(&[]))).collect();
    assert!(read(columns).is_empty());
}

#[test]
fn lists_that_are_null_empty_and_required() {
    let mut nullable = ListBuilder::new(StringBuilder::new());
    nullable.append_null();
    nullable.append_value([] as [Option<&str>; 0]);
    nullable.append_value([Some("01"), Some("02")]);
    let element = Arc::new(Field::new("item", DataType::Utf8, false));
    let mut required = ListBuilder::new(StringBuilder::new()).with_field(element);
    required.append_value([] as [Option<&str>; 0]);
    required.append_value([Some("03")]);
    required.append_value([Some("04")]);
    let texts = || strings(&["00", "00", "00"]);
    let columns = |list: ArrayRef| {
        vec![
            ("public_keys", list),
            ("public_key", Arc::new(StringArray::from(vec![Some("09"), None, None])) as ArrayRef),
            ("message", texts()),
            ("signature", texts()),
        ]
    };
    let entries = read(columns(Arc::new(nullable.finish())));
    let keys = |entries: &[Entry], row: usize| entries[row].as_ref().unwrap().public_keys.as_encoded().unwrap().clone();
    assert_eq!(
        (keys(&entries, 0), keys(&entries, 1), keys(&entries, 2)),
        (vec![vec![9]], vec![], vec![vec![1], vec![2]])
    );
    let entries = read(columns(Arc::new(required.finish())));
    assert!(entries[0].as_ref().unwrap_err().reason.contains("both"), "an empty list is not null");
    assert_eq!((keys(&entries, 1), keys(&entries, 2)), (vec![vec![3]], vec![vec![4]]));
}

#[test]
fn pages_of_both_versions() {
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for codec in
            [Compression::UNCOMPRESSED, Compression::GZIP(Default::default()), Compression::ZSTD(Default::default())]
        {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_compression(codec)
                .set_encoding(Encoding::PLAIN);
            let mut list = ListBuilder::new(BinaryBuilder::new());
            list.append_value([Some([1]), Some([2])]);
            list.append_null();
            let single = Arc::new(StringArray::from(vec![None, Some("03")])) as ArrayRef;
            let columns = vec![
                ("public_keys", Arc::new(list.finish()) as ArrayRef),
                ("public_key", single),
                ("message", strings(&["", ""])),
                ("signature", strings(&["", ""])),
            ];
            let entries: Vec<_> = open(&write_as(columns, properties.build())).unwrap().map(Result::unwrap).collect();
            assert_eq!(
                *entries[0].as_ref().unwrap().public_keys.as_encoded().unwrap(),
                [[1], [2]],
                "{version:?} {codec}"
            );
            assert_eq!(*entries[1].as_ref().unwrap().public_keys.as_encoded().unwrap(), [[3]]);
        }
    }
}

/// The reason with which a file cannot be read on, after the rows before it.
fn refusal(bytes: &[u8]) -> String {
    match open(bytes).map(|rows| rows.last()) {
        Ok(Some(Err(error))) | Err(error) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The pages of a file and its footer, of which `change` makes those of another file.
fn rewritten(
    bytes: &[u8],
    stated: i64,
    change: impl FnOnce(&mut Vec<u8>, Vec<RowGroupMetaData>) -> Vec<RowGroupMetaData>,
) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes::Bytes::copy_from_slice(bytes)).unwrap();
    let (rest, length) = bytes[..bytes.len() - MAGIC.len()].split_last_chunk().unwrap();
    let mut pages = rest[..rest.len() - u32::from_le_bytes(*length) as usize].to_vec();
    let groups = change(&mut pages, metadata.row_groups().to_vec());
    // The field of a number that stands before the list of the groups: the library writes their sum.
    let number = |rows: i64| (rows << 1 ^ rows >> 63) as u8;
    let sum = groups.iter().map(RowGroupMetaData::num_rows).sum();
    let field = [0x16, number(sum), 0x19, (groups.len() as u8) << 4 | 0x0c];
    let metadata = ParquetMetaData::new(metadata.file_metadata().clone(), groups);
    ParquetMetaDataWriter::new(&mut pages, &metadata).finish().unwrap();
    let at = pages.windows(field.len()).rposition(|found| found == field).expect("the number of rows");
    pages[at + 1] = number(stated);
    pages
}

#[test]
fn no_row_is_dropped_because_its_row_group_states_fewer() {
    let texts = || strings(&["01", "02", "03"]);
    let columns = || vec![("public_key", texts()), ("message", texts()), ("signature", texts())];
    let found = |bytes: &[u8], stated: i64, of_groups: &[i64]| {
        let bytes = rewritten(bytes, stated, |_, groups| {
            let groups = groups.into_iter().zip(of_groups);
            groups.map(|(group, rows)| group.into_builder().set_num_rows(*rows).build().unwrap()).collect()
        });
        let rows = open(&bytes).map(|rows| rows.filter(Result::is_ok).count());
        (rows.unwrap_or_default(), refusal(&bytes))
    };
    let one_group = write(columns());
    let two_groups = write_as(columns(), WriterProperties::builder().set_max_row_group_row_count(Some(2)).build());
    for (bytes, stated, of_groups, rows, reason) in [
        (&one_group, 1, &[1][..], 1, "a column has more rows than its row group"),
        (&one_group, 0, &[0], 0, "a column has more rows than its row group"),
        (&one_group, 4, &[4], 3, "a column has fewer rows than its row group"),
        (&two_groups, 3, &[1, 2], 1, "a column has more rows than its row group"),
        (&two_groups, 2, &[2, 0], 2, "a column has more rows than its row group"),
        (&one_group, 3, &[1], 0, "its footer states 3 rows, and its row groups 1 together"),
        (&two_groups, 2, &[2, 1], 0, "its footer states 2 rows, and its row groups 3 together"),
        (&two_groups, 1, &[2, -1], 0, "a row group states a negative number of rows"),
    ] {
        let (found, refusal) = found(bytes, stated, of_groups);
        assert!(found == rows && refusal.contains(reason), "{of_groups:?} of {stated}: {found} rows, {refusal}");
    }
}

/// The library below takes a page without values for the end of its column.
#[test]
fn rows_that_follow_an_empty_page_are_read() {
    let properties = WriterProperties::builder().set_dictionary_enabled(false);
    let bytes = write_as(minimal(), properties.build());
    // A page of plain values, none of them, whose levels take no bytes.
    let empty = [&[0x15, 0, 0x15, 8, 0x15, 8, 0x2c, 0x15, 0, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0][..], &[0; 4]].concat();
    let length = empty.len() as i64;
    let bytes = rewritten(&bytes, 1, |pages, groups| {
        pages.splice(MAGIC.len()..MAGIC.len(), empty);
        let group = groups[0].clone();
        let columns = group.columns().iter().enumerate().map(|(place, column)| {
            let (moved, longer) = if place == 0 { (0, length) } else { (length, 0) };
            let (offset, size) = (column.data_page_offset() + moved, column.compressed_size() + longer);
            let column = column.clone().into_builder().set_data_page_offset(offset).set_total_compressed_size(size);
            column.build().unwrap()
        });
        let columns = columns.collect();
        vec![group.into_builder().set_column_metadata(columns).build().unwrap()]
    });
    let records: Vec<_> = open(&bytes).unwrap().map(|entry| entry.unwrap().unwrap()).collect();
    assert_eq!((records.len(), &records[0].signature[..]), (1, &[3][..]));
}

/// 1 MiB in a dictionary, and rows that repeat it: unpacked, they would be twice what all pages together may be. The rows
/// are read, and hold it one at a time.
#[test]
fn a_dictionary_is_not_unpacked() {
    let text = "00".repeat(1 << 19);
    let rows = 500;
    let large: DictionaryArray<KeyType> = std::iter::repeat_n(text.as_str(), rows).collect();
    let small = || Arc::new(StringArray::from(vec!["01"; rows])) as ArrayRef;
    let columns = vec![("public_key", small()), ("message", Arc::new(large) as ArrayRef), ("signature", small())];
    let bytes = write_with(columns, Compression::ZSTD(Default::default()));
    println!("{} bytes for {rows} rows of 1 MiB", bytes.len());
    assert_eq!(open(&bytes).unwrap().filter(|entry| entry.as_ref().is_ok_and(Result::is_ok)).count(), rows);
}

/// Rows that repeat a value of a dictionary in one run take no bytes each.
#[test]
fn a_file_states_no_more_rows_than_it_has_bytes() {
    let of = |rows: usize| {
        let texts = || strings(&vec!["01"; rows]);
        write_with(vec![("public_key", texts()), ("message", texts()), ("signature", texts())], Compression::SNAPPY)
    };
    let few = of(4096);
    assert!(few.len() < 4096, "{}", few.len());
    assert_eq!(open(&few).unwrap().filter(Result::is_ok).count(), 4096);
    let bytes = of(50_000);
    let expected = format!("its footer states 50000 rows, in a file of {} bytes", bytes.len());
    let reason = refusal(&bytes);
    assert!(reason.contains(&expected), "{reason}");
}

#[test]
fn a_list_of_a_million_large_elements_is_malformed() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value(std::iter::repeat_n(Some("00".repeat(96).as_str()), 1 << 20));
    let columns = vec![
        ("public_keys", Arc::new(list.finish()) as ArrayRef),
        ("message", strings(&["02"])),
        ("signature", strings(&["03"])),
    ];
    let bytes = write_with(columns, Compression::ZSTD(Default::default()));
    let reason = open(&bytes).unwrap().next().unwrap().unwrap().unwrap_err().reason;
    assert!(bytes.len() < 10_000 && reason.contains("more than 64 MiB in memory"), "{reason}");
}

#[test]
fn a_list_of_more_elements_than_the_limit_is_refused() {
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value(std::iter::repeat_n(Some(""), ELEMENTS_LIMIT as usize + 1));
    let columns = vec![
        ("public_keys", Arc::new(list.finish()) as ArrayRef),
        ("message", strings(&["02"])),
        ("signature", strings(&["03"])),
    ];
    let reason = refusal(&write_with(columns, Compression::ZSTD(Default::default())));
    assert!(reason.contains("more than 2097152 elements"), "{reason}");
}

#[test]
fn a_key_longer_than_any_suites_is_malformed() {
    let entry = read(with("public_key", strings(&["00".repeat(193).as_str()]))).remove(0);
    assert!(entry.unwrap_err().reason.contains("\"public_key\": found 193 bytes, more than the 192"));
    let long: [&[u8]; 1] = [&[0; 193]];
    let entry = read(with("signature", Arc::new(BinaryArray::from(long.to_vec())))).remove(0);
    assert!(entry.unwrap_err().reason.contains("\"signature\": found 193 bytes"));
    let entry = read(with("id", strings(&["x".repeat(40_000).as_str()]))).remove(0);
    assert!(entry.unwrap_err().reason.contains("\"id\": found 40000 bytes of text"));
}

/// The first page's header, which follows the mark, with another size in memory.
#[test]
fn a_page_that_states_two_gigabytes_is_refused() {
    for codec in [Compression::SNAPPY, Compression::ZSTD(Default::default()), Compression::LZ4_RAW] {
        let bytes = write_with(minimal(), codec);
        let mut at = 8;
        while bytes[at - 1] & 0x80 != 0 {
            at += 1;
        }
        // 2^31 - 1 in five bytes, in place of what stood there.
        let bomb = [&bytes[..7], &[0xfe, 0xff, 0xff, 0xff, 0x0f], &bytes[at..]].concat();
        let reason = refusal(&bomb);
        assert!(reason.contains("states a size of 2147483647 bytes, more than 128 MiB"), "{codec}: {reason}");
    }
}

/// gzip is unpacked to its end by the library, whatever the header states. Here it states 1,000 bytes for 64 MiB.
#[test]
fn a_page_that_unpacks_to_more_than_it_states_is_refused() {
    let text = "00".repeat(32 << 20);
    let properties = WriterProperties::builder().set_compression(Compression::GZIP(Default::default()));
    let bytes = write_as(with("message", strings(&[&text])), properties.set_dictionary_enabled(false).build());
    let size = (text.len() as u64 + 4 + 6) * 2;
    let varint = |mut n: u64| {
        let mut bytes = Vec::new();
        while n > 127 {
            bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
        bytes
    };
    let stated = varint(size);
    let at = bytes.windows(stated.len()).position(|found| found == stated).expect("the page's size");
    // As long as before, so that all offsets stay.
    let false_size = [&[0xd0, 0x8f][..], &vec![0x80; stated.len() - 3], &[0]].concat();
    let bomb = [&bytes[..at], &false_size, &bytes[at + stated.len()..]].concat();
    let reason = refusal(&bomb);
    assert!(reason.contains("unpacks to more bytes than its header states"), "{reason}");
}

#[test]
fn delta_encodings_of_bytes_are_read() {
    let values: Vec<String> = (0..3000).map(|row| format!("0x{row:096x}")).collect();
    let texts = || strings(&values.iter().map(String::as_str).collect::<Vec<_>>());
    let fixed = || {
        let values = (0..3000_u32).map(|row| row.to_be_bytes());
        Arc::new(FixedSizeBinaryArray::try_from_iter(values).unwrap())
    };
    let mut lists = ListBuilder::new(BinaryBuilder::new());
    for row in 0..3000_usize {
        lists.append_value((0..row % 3).map(|item| Some(vec![7; 40 + item])));
    }
    let lists = lists.finish();
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for encoding in [Encoding::DELTA_BYTE_ARRAY, Encoding::DELTA_LENGTH_BYTE_ARRAY] {
            let signature: ArrayRef = if encoding == Encoding::DELTA_BYTE_ARRAY { fixed() } else { texts() };
            let columns = vec![
                ("public_keys", Arc::new(lists.clone()) as ArrayRef),
                ("message", texts()),
                ("signature", signature),
            ];
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(false)
                .set_encoding(encoding)
                .set_data_page_row_count_limit(700)
                .set_write_batch_size(100);
            let rows = open(&write_as(columns, properties.build())).unwrap();
            let records: Vec<_> = rows.map(|entry| entry.unwrap().unwrap()).collect();
            assert_eq!(records.len(), 3000);
            for (row, record) in records.iter().enumerate() {
                let message = const_hex::decode(&values[row]).unwrap();
                assert_eq!(record.messages, Messages::Shared(message.into()), "{encoding}");
                assert_eq!(record.public_keys.len(), row % 3);
                assert!(
                    record
                        .public_keys
                        .as_encoded()
                        .unwrap()
                        .iter()
                        .enumerate()
                        .all(|(item, key)| *key == vec![7; 40 + item])
                );
            }
        }
    }
}

#[test]
fn a_page_of_values_that_repeat_each_other_is_not_unpacked() {
    // 3,000 values of 64 KiB, each the one before it and one digit more or less: 190 MiB in a page of some kilobytes.
    let values: Vec<String> =
        (0..3000).map(|row| "ab".repeat(32 << 10) + if row % 2 == 0 { "" } else { "ff" }).collect();
    let texts = strings(&values.iter().map(String::as_str).collect::<Vec<_>>());
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::DELTA_BYTE_ARRAY)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_size_limit(1 << 30)
        .set_data_page_row_count_limit(usize::MAX);
    let keys = || strings(&vec!["01"; 3000]);
    let bytes = write_as(vec![("public_key", keys()), ("message", texts), ("signature", keys())], properties.build());
    assert!(bytes.len() < 200 << 10, "{}", bytes.len());
    let reason = refusal(&bytes);
    assert!(reason.contains("the values of a page take 196611000 bytes, more than 128 MiB"), "{reason}");
}

#[test]
fn a_column_without_any_value_is_absent_whatever_its_type() {
    let nulls = || Arc::new(NullArray::new(1)) as ArrayRef;
    let empty: DictionaryArray<KeyType> = std::iter::once(None::<&str>).collect();
    let item = Arc::new(Field::new("item", DataType::Null, true));
    let list = ListArray::new(item, OffsetBuffer::new(vec![0, 0].into()), Arc::new(NullArray::new(0)), None);
    for name in ["id", "suite", "source", "kind", "slot", "index", "reason", "public_keys", "messages", "other"] {
        // What pandas and polars write, and what DuckDB writes.
        for column in [nulls(), Arc::new(Int32Array::from(vec![None])), Arc::new(empty.clone())] {
            let record = read(with(name, column)).remove(0).unwrap();
            assert_eq!((record.id, record.suite, record.source, record.chain), (None, None, None, None), "{name}");
        }
    }
    // The other column of its name is the one that is read, wherever it stands.
    let reason = || ("reason", strings(&["a chain says so"]));
    for columns in [[("reason", nulls()), reason()], [reason(), ("reason", nulls())]] {
        let kind = [("kind", strings(&["exit"])), ("slot", Arc::new(UInt64Array::from(vec![1])) as ArrayRef)];
        let kind = kind.into_iter().chain([("index", strings(&["3"]))]);
        let record = read(minimal().into_iter().chain(kind).chain(columns).collect()).remove(0).unwrap();
        assert_eq!(record.failed_check().unwrap().detail, "a chain says so");
    }
    let mut columns = with("public_keys", Arc::new(list));
    columns.retain(|(name, _)| *name != "public_key");
    assert!(read(columns).remove(0).unwrap().public_keys.is_empty());
    let error = open(&write(with("signature", nulls()))).err().unwrap().to_string();
    assert!(error.contains("no column \"signature\"") && error.contains("signature (without any value)"), "{error}");
}

#[test]
fn missing_columns_and_unfit_types() {
    let without: Vec<Named> = minimal().into_iter().filter(|(name, _)| *name != "signature").collect();
    let error = open(&write(without)).err().unwrap().to_string();
    assert!(error.contains("no column \"signature\"") && error.contains("public_key, message"), "{error}");
    let error = open(&write(with("message", Arc::new(Int32Array::from(vec![1]))))).err().unwrap();
    assert!(matches!(error, InputError::Parquet(ParquetFileError::ColumnType { name: "message", .. })), "{error}");
    let error = open(&write(with("public_keys", strings(&["01"])))).err().unwrap();
    assert!(matches!(error, InputError::Parquet(ParquetFileError::ColumnType { name: "public_keys", .. })), "{error}");
    let mut twice = minimal();
    twice.push(("message", strings(&["04"])));
    assert!(open(&write(twice)).is_err());
}

#[test]
fn cut_off_empty_and_foreign_files() {
    let bytes = write(minimal());
    assert!(matches!(open(&bytes[..bytes.len() - 1]), Err(InputError::Parquet(ParquetFileError::Truncated))));
    for foreign in [&b""[..], b"PAR1", b"hello, this is text", b"PAR1\0\0\0\0PAR1"] {
        let error = open(foreign).err().unwrap();
        assert!(matches!(error, InputError::Parquet(ParquetFileError::NotParquet { .. })), "{error}");
    }
}

#[test]
fn a_directory_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert!(ParquetRows::open(fs::File::open(folder.path()).unwrap()).is_err());
}

/// A page header with a list of 2^31 - 1 numbers to skip, in a file of some hundred bytes.
#[test]
fn a_header_that_skips_beyond_the_end_is_an_error() {
    let mut bytes = write(minimal());
    bytes[4..11].copy_from_slice(&[0xf9, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07]);
    assert!(matches!(
        open(&bytes).unwrap().last(),
        Some(Err(InputError::Parquet(ParquetFileError::Damaged { row: 0, .. })))
    ));
}

/// Opens and reads to the end, whatever comes.
fn exhaust(bytes: &[u8]) {
    if let Ok(rows) = open(bytes) {
        rows.for_each(drop);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn written_rows_read_back(rows in prop::collection::vec((any::<[u8; 5]>(), ".{0,9}"), 1..50)) {
        let hex: Vec<String> = rows.iter().map(|(bytes, _)| const_hex::encode(bytes)).collect();
        let column = Arc::new(StringArray::from(hex)) as ArrayRef;
        let binary = Arc::new(BinaryArray::from_iter_values(rows.iter().map(|(bytes, _)| bytes))) as ArrayRef;
        let ids = Arc::new(StringArray::from_iter_values(rows.iter().map(|(_, id)| id))) as ArrayRef;
        let entries = read(vec![("id", ids), ("public_key", column), ("message", binary.clone()), ("signature", binary)]);
        for (entry, (bytes, id)) in entries.iter().zip(&rows) {
            let record = entry.as_ref().unwrap();
            prop_assert_eq!(&record.public_keys.as_encoded().unwrap()[0], bytes);
            prop_assert_eq!(&record.messages, &Messages::Shared((&bytes[..]).into()));
            prop_assert_eq!(record.id.as_ref(), Some(&Id::text(id)));
        }
        prop_assert_eq!(entries.len(), rows.len());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exhaust(&[b"PAR1", bytes.as_slice(), b"PAR1"].concat());
    }
}

#[test]
fn no_flipped_bit_makes_it_panic() {
    let good = write_with(minimal(), Compression::SNAPPY);
    for at in 0..good.len() * 8 {
        let mut bytes = good.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        exhaust(&bytes);
    }
}

/// The reason for [`contained`]: where this fails because the reader returns errors at last, it can go.
#[test]
fn the_reader_below_panics_on_some_damaged_files() {
    let good = write(minimal());
    let panics = (0..good.len() * 8).filter(|at| {
        let mut bytes = good.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        let read = || {
            let reader = ParquetRecordBatchReaderBuilder::try_new(bytes::Bytes::from(bytes)).and_then(|b| b.build());
            reader.map(|batches| batches.take_while(Result::is_ok).count())
        };
        quorate_host::contained(read).is_err()
    });
    let panics = panics.count();
    println!("{panics} of {} files with one flipped bit make the reader panic", good.len() * 8);
    assert!(panics > 0, "the reader does not panic any more; end `contained`");
}
