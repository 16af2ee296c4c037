//! Inputs that ask for much memory, read by a process that may have only so much.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, DictionaryArray, RecordBatch, StringArray,
    builder::{ListBuilder, StringBuilder},
    types::Int8Type,
};
use arrow_schema::{Field, Schema};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, ZstdLevel},
    file::properties::WriterProperties,
};
use quorate_lab::run::{command_after, program, shell};
use serde_json::json;

use crate::verify::run::{Folder, Ran, Run as _, claim, command, example, lines};

/// `quorate verify` with one thread, in a process that may map so many MiB. An allocation beyond ends it by a signal.
fn verify_within(mebibytes: usize, arguments: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut command = command_after(&format!("ulimit -v {}", mebibytes << 10), "quorate");
    command.args(["verify", "--threads", "1"]).args(arguments).ran_with(input)
}

/// Each empty key takes three bytes of a line and 24 bytes of memory.
#[test]
fn lines_of_empty_keys_are_counted() {
    let keys = vec!["\"\""; (1 << 20) / 3].join(",");
    let line = format!(r#"{{"suite":"eth2","public_keys":[{keys}],"message":"00","signature":"00"}}"#) + "\n";
    let input = line.repeat(64);
    let ran = verify_within(400, &["--json", "-q"], &input).exits(1);
    assert_eq!(ran.object()["invalid"], 64);
}

/// The same in lines of 16 MiB, each of which would take 134 MB.
#[test]
fn long_lines_of_empty_keys_are_malformed() {
    let keys = vec!["\"\""; (16 << 20) / 3].join(",");
    let line = format!(r#"{{"suite":"eth2","public_keys":[{keys}],"message":"00","signature":"00"}}"#) + "\n";
    let folder = Folder::new();
    let path = folder.file("claims.jsonl", line.repeat(6) + &lines(&[claim(1)]));
    let ran = verify_within(400, &["--json", &path], "").exits(2).says("take more than 64 MiB in memory");
    assert_eq!((&ran.object()["malformed"], &ran.object()["valid"]), (&json!(6), &json!(1)));
}

#[test]
fn keys_and_signatures_longer_than_any_suites_are_malformed() {
    let mut long = claim(1);
    long["public_key"] = "00".repeat(193).into();
    let mut signature = claim(2);
    signature["signature"] = "00".repeat(1 << 20).into();
    let ran = verify_within(300, &["--json"], lines(&[long, signature, claim(3)]))
        .exits(2)
        .says("\"public_key\": found 193 bytes, more than the 192 of the longest keys of a suite")
        .says("\"signature\": found 1048576 bytes");
    assert_eq!((&ran.object()["malformed"], &ran.object()["valid"]), (&json!(2), &json!(1)));
}

#[test]
fn a_document_of_zeros_is_read_one_by_one() {
    let zeros = format!("[{}0]", "0,".repeat(1 << 20));
    let bundle = format!(r#"{{"chain": "quicknet", "beacons": {zeros}}}"#);
    for (format, input) in [("jsonl", &zeros), ("drand", &zeros), ("drand", &bundle)] {
        let ran = verify_within(300, &["--json", "-q", "--format", format], input).exits(2);
        assert_eq!(ran.object()["malformed"], (1 << 20) + 1, "{format}");
    }
    verify_within(300, &["--json", "--format", "light-client"], &zeros).exits(2).says("more than 1000 elements");
}

fn strings(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from(vec![text; rows]))
}

fn parquet(folder: &Folder, columns: Vec<(&str, ArrayRef)>, properties: WriterProperties) -> String {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    println!("{} bytes", bytes.len());
    folder.file("claims.parquet", bytes)
}

fn zstd() -> WriterProperties {
    let level = ZstdLevel::try_new(3).unwrap();
    WriterProperties::builder().set_compression(Compression::ZSTD(level)).build()
}

/// A dictionary of one message of 1 MiB, and 500 rows that repeat it: as plain rows, more than the program may take.
#[test]
fn a_dictionary_of_large_values() {
    let folder = Folder::new();
    let (text, rows) = ("00".repeat(1 << 20), 500);
    let large: DictionaryArray<Int8Type> = std::iter::repeat_n(text.as_str(), rows).collect();
    let columns = vec![
        ("suite", strings("eth2", rows)),
        ("public_key", strings("00", rows)),
        ("message", Arc::new(large) as ArrayRef),
        ("signature", strings("00", rows)),
    ];
    let path = parquet(&folder, columns, zstd());
    let ran = verify_within(400, &["--json", "-q", &path], "").exits(1);
    assert_eq!(ran.object()["invalid"], rows);
}

/// One cell of half a gigabyte, which takes 17 KB in the file.
#[test]
fn a_cell_of_half_a_gigabyte() {
    let folder = Folder::new();
    let columns = vec![
        ("public_key", strings("00", 1)),
        ("message", strings(&"0".repeat(512 << 20), 1)),
        ("signature", strings("00", 1)),
    ];
    let path = parquet(&folder, columns, zstd());
    verify_within(300, &["--suite", "eth2", &path], "").exits(2).says("more than 128 MiB, the limit");
}

/// A list of a million keys of 48 bytes, all the same one.
#[test]
fn a_list_of_a_million_keys() {
    let folder = Folder::new();
    let mut list = ListBuilder::new(StringBuilder::new());
    list.append_value(std::iter::repeat_n(Some("00".repeat(48).as_str()), 1 << 20));
    let columns = vec![
        ("public_keys", Arc::new(list.finish()) as ArrayRef),
        ("message", strings("00", 1)),
        ("signature", strings("00", 1)),
    ];
    let path = parquet(&folder, columns, zstd());
    verify_within(400, &["--suite", "eth2", &path], "").exits(2).says("more than 64 MiB in memory");
}

/// 200 MB without a line end, on the standard input of every command that reads lines.
#[test]
fn a_line_without_an_end_takes_no_memory_beyond_its_limit() {
    let folder = Folder::new();
    let shares = folder.path("shares");
    let split = ["threshold", "split", "--suite", "eth2", "-t", "2", "-n", "3", "--out", &shares];
    command("quorate").args(split).ran().exits(0);
    let shared_key = format!("{shares}/shared-key.json");
    let signature = claim(1)["signature"].as_str().unwrap().to_owned();
    let network = example("network.json");
    let commands: [&[&str]; 8] = [
        &["verify", "--threads", "1", "-"],
        &["pop", "verify", "--suite", "eth2", "-"],
        &["aggregate", "--suite", "eth2", "-"],
        &["subtract", "--suite", "eth2", "--from", &signature, "-"],
        &["threshold", "combine", "--shared-key", &shared_key, "-"],
        &["threshold", "verify-share", "--shared-key", &shared_key, "-"],
        &["evm", "aggregate", "--network", &network, "-"],
        &["checkpoint", "set", "--threshold", "2", "-"],
    ];
    for arguments in commands {
        let script = "head -c 200000000 /dev/zero | tr '\\0' a | (ulimit -v 290000; exec \"$0\" \"$@\")";
        shell(script)
            .arg(program("quorate"))
            .args(arguments)
            .ran()
            .exits(2)
            .says("standard input, line 1: the line is longer than 64 MiB, the limit, and was skipped");
    }
}

/// A document that is held as a whole, without an end.
#[test]
fn a_document_without_an_end_is_refused() {
    let folder = Folder::new();
    let commands: [&[&str]; 4] = [
        &["checkpoint", "show", "/dev/zero"],
        &["evm", "aggregate", "--network", "/dev/zero"],
        &["threshold", "combine", "--shared-key", "/dev/zero"],
        &["threshold", "weights", "/dev/zero"],
    ];
    let list = folder.file("claims.jsonl", lines(&[claim(1)]));
    let verify = [&["verify", "--chain-info", "/dev/zero", &list][..], &["verify", "--committee", "/dev/zero", &list]];
    for arguments in commands.iter().chain(&verify) {
        let ran = command_after("ulimit -v 300000", "quorate").args(*arguments).ran();
        ran.exits(2).says("/dev/zero: the file has more than 64 MiB, the limit");
    }
}
