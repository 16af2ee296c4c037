//! Several files, pipes in place of files, Parquet, and what cannot be read.

use std::{
    fs::{self, File},
    io::{Read, Write},
    path::Path,
    process::Stdio,
    sync::Arc,
};

use arrow_array::{
    ArrayRef, BinaryArray, Int64Array, RecordBatch, StringArray,
    builder::{ListBuilder, StringBuilder},
};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use quorate::MinPk;
use quorate_lab::{
    run::{Running, shell},
    vectors,
};
use serde_json::{Value, json};

use crate::verify::run::{
    Folder, Run as _, Verdicts as _, claim, command, example, false_claim, lines, shared, verify, verify_input, with,
    without,
};

#[test]
fn several_files_are_one_run_in_their_order() {
    let folder = Folder::new();
    let first = folder.file("first", lines(&[claim(1), false_claim(2)]));
    let second = folder.file("second", format!("bad\n{}", claim(3)));
    let ran = verify_input(&["--verdicts", &first, "-", &second], lines(&[claim(4)])).exits(2);
    let seen: Vec<_> =
        ran.objects().iter().map(|o| (o["index"].clone(), o["id"].clone(), o["valid"].clone())).collect();
    let expected = [
        (0, json!("c1"), true),
        (1, json!("c2"), false),
        (2, json!("c4"), true),
        (3, json!(null), false),
        (4, json!("c3"), true),
    ];
    assert_eq!(seen, expected.map(|(i, id, v)| (json!(i), id, json!(v))));
    let places: Vec<_> = ran.objects().iter().map(|o| (o["file"].clone(), o["line"].clone())).collect();
    let expected = [(&first[..], 1), (&first, 2), ("standard input", 1), (&second, 1), (&second, 2)];
    assert_eq!(places, expected.map(|(file, line)| (json!(file), json!(line))));

    let person = verify_input(&[&first, "-", &second], lines(&[without(claim(4), "id")])).exits(2);
    for line in
        [format!("     1  INVALID  c2  ({first}, line 2)"), "     2  valid    standard input, line 1".to_owned()]
    {
        assert!(person.out.contains(&line), "{line} in {}", person.out);
    }
    let summary = verify_input(&["--json", &first, "-", &second], lines(&[claim(4)])).exits(2).object();
    let place = |of: &serde_json::Value| (of["file"].clone(), of["line"].clone());
    assert_eq!(place(&summary["failures"][0]), (json!(first), json!(2)));
    assert_eq!(place(&summary["errors"][0]), (json!(second), json!(1)));
    assert!(ran.err.contains(&format!("{second}, line 1: found text that is not JSON")), "{}", ran.err);
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn packed_inputs_are_unpacked() {
    let folder = Folder::new();
    let claims = lines(&[claim(1), false_claim(2)]);
    let round = std::fs::read(example("drand-quicknet.json")).unwrap();
    for (claims, round) in [
        (gzip(claims.as_bytes()), gzip(&round)),
        (zstd::encode_all(claims.as_bytes(), 3).unwrap(), zstd::encode_all(&round[..], 3).unwrap()),
    ] {
        let path = folder.file("claims", &claims);
        assert_eq!(verify(&["--verdicts", &path]).exits(1).valid(), [true, false]);
        assert_eq!(verify_input(&["--verdicts"], &claims).exits(1).valid(), [true, false]);
        verify(&[&folder.file("round", round)]).exits(0);
        let cut = folder.file("cut", &claims[..claims.len() - 9]);
        verify(&[&cut]).exits(2).says(&cut).says("damaged or cut off");
    }
    let twice = folder.file("twice", gzip(&gzip(b"{}")));
    verify(&[&twice]).exits(2).says("found a file packed with gzip, which is not unpacked here; unpack it first");
}

/// What unpacks to a line without an end is as bounded as the line itself.
#[test]
fn a_line_that_unpacks_to_more_than_the_limit_is_skipped() {
    let folder = Folder::new();
    let bomb = zstd::encode_all(std::io::repeat(b'0').take(300 << 20), 3).unwrap();
    println!("{} bytes", bomb.len());
    verify(&[&folder.file("bomb", bomb)]).exits(2).says("line 1: the line is longer than 64 MiB");
}

#[test]
fn what_is_no_claims_is_named_in_one_line() {
    let folder = Folder::new();
    let utf16: Vec<u8> = lines(&[claim(1)]).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let pretty = serde_json::to_string_pretty(&claim(1)).unwrap();
    for (content, says) in [
        (&b"public_key,message,signature\n00,01,02\n"[..], "found CSV, expected JSON Lines"),
        (b"- public_key: 00\n  message: 01\n", "found YAML, expected JSON"),
        (&utf16, "found text in UTF-16, expected UTF-8"),
        (b"\xfd7zXZ\0\0\0\0", "packed with xz"),
        (b"\x7fELF\0\0\0", "found a binary file"),
        (b"e2\0\0\0\0\0\0", "found an era file, expected claims; `quorate history verify` verifies it"),
        (b"ARROW1\0\0", "found an Arrow or Feather file"),
        (b"PARE\x15", "found an encrypted Parquet file"),
        (b"{\"data\": {\n  \"message\": {\"proposer_index\": \"2\"}}}\n", "found an object of the Beacon API"),
        (b"{\"block\": {\"foliage\": {}}}\n", "`quorate history verify` verifies them"),
        (pretty.as_bytes(), "line 1: the JSON object goes on over several lines"),
    ] {
        let path = folder.file("content", content);
        let good = folder.file("good", lines(&[claim(1)]));
        let ran = verify(&["--verdicts", &path, &good]).exits(2).says(&format!("{path}: ")).says(says);
        assert_eq!((ran.err.lines().count(), ran.valid()), (2, vec![true]), "{}", ran.err);
    }
}

/// A crash leaves zeros at the end of a file. Wherever they begin, the claims before them are verified.
#[test]
fn a_tail_of_zeros_is_one_malformed_line() {
    let folder = Folder::new();
    for claims in [1, 300] {
        let text = lines(&vec![claim(1); claims]);
        let path = folder.file("claims.jsonl", [text.as_bytes(), &[0; 5000]].concat());
        let ran = verify(&["--verdicts", &path]).exits(2).says("not JSON");
        assert_eq!(ran.objects().len(), claims + 1);
        assert!(ran.err.contains(&format!("line {}: ", claims + 1)), "{}", ran.err);
        assert_eq!(ran.objects().iter().filter(|verdict| verdict["valid"] == true).count(), claims);
    }
}

#[test]
fn deposits_are_claims() {
    let Some(folder) = vectors::path("05_keys") else { return };
    let file =
        "lighthouse-validator-manager/mainnet_first_0_count_2_eth1_true/validator_keys/deposit_data-1715584107.json";
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    verify(&[path.to_str().unwrap()]).exits(0).says("2 claims: 2 valid");
    let files = Folder::new();
    let other = files.file("other", text.replacen("32000000000", "31000000000", 1));
    let ran = verify(&["--verdicts", "--explain", &other]).exits(1).says("deposit_message_root: expected");
    assert_eq!(ran.valid(), [false, true]);
    // The roots alone do not make it valid: without them the signature is what fails.
    let mut bare: Value = serde_json::from_str(&text).unwrap();
    let first = bare[0].as_object_mut().unwrap();
    first.remove("deposit_message_root").unwrap();
    first.remove("deposit_data_root").unwrap();
    first["amount"] = json!(31_000_000_000_u64);
    let ran = verify(&["--verdicts", "--format", "deposit", &files.file("bare", bare.to_string())]).exits(1);
    assert_eq!(ran.objects()[0]["reason"], "the signature does not match the keys and messages");
}

#[test]
fn examples_are_what_they_say() {
    verify(&[&example("claims.jsonl")]).exits(0);
    verify(&[&example("one-false.jsonl")]).exits(1).says("1 invalid");
    verify(&[&example("drand-default.json"), &example("drand-quicknet.json")]).exits(0);
}

#[test]
fn a_missing_file_is_named() {
    let folder = Folder::new();
    let good = folder.file("good", lines(&[claim(1)]));
    let missing = folder.path("missing.jsonl");
    verify(&[&good, &missing]).exits(3).says(&missing).says("No such file");
    verify(&["--known", &missing, &good]).exits(3).says(&missing);
    verify(&["--committee", &missing, &good]).exits(3).says(&missing);
    verify(&["--chain-info", &missing, &good]).exits(3).says(&missing);
    verify(&["--remember", &folder.path("no/such/folder"), &good]).exits(3).says("no/such/folder");
}

#[test]
fn a_folder_is_no_file() {
    let folder = Folder::new();
    verify(&[&folder.path("")]).exits(2).says("found a folder, expected a file");
}

#[test]
fn an_array_of_claims_is_read_and_a_truncated_one_reported() {
    let array = json!([claim(1), 5, false_claim(2)]).to_string();
    let ran = verify_input(&["--verdicts"], &array)
        .exits(2)
        .says("standard input, element [1]: found a number, expected a JSON object");
    assert_eq!(ran.valid(), [true, false]);
    verify_input(&[], &array[..array.len() / 2]).exits(2).says("standard input: the JSON document ends in the middle");
}

/// A pipe that is named as a file, as the shell's `<(…)` does it: its first bytes are gone once they are looked at.
#[test]
fn a_named_pipe_loses_nothing() {
    let folder = Folder::new();
    let claims = folder.file("claims", lines(&[claim(1), false_claim(2), claim(3)]));
    let parquet = folder.file("parquet", parquet(&[claim(1)]));
    let verify_pipe = |file: &str| {
        let pipe = folder.path("pipe");
        shell("mkfifo \"$0\"").arg(&pipe).ran().exits(0);
        let writer = Running::start(shell("exec cat \"$0\" > \"$1\"").args([file, &pipe]).stderr(Stdio::null()));
        // A pipe that is opened twice blocks for ever.
        let ran = verify(&["--verdicts", &pipe]);
        writer.ends();
        std::fs::remove_file(pipe).unwrap();
        ran
    };
    assert_eq!(verify_pipe(&claims).exits(1).valid(), [true, false, true]);
    verify_pipe(&parquet).exits(2).says("cannot be read from a pipe");
}

#[test]
fn a_file_with_the_name_of_standard_input_is_not_read() {
    let folder = Folder::new();
    folder.file("-", lines(&[claim(1), claim(2)]));
    for arguments in [&[][..], &["-"]] {
        let mut verify = command("quorate");
        let verify = verify.args(["verify", "--verdicts"]).args(arguments).current_dir(folder.path(""));
        assert_eq!(verify.ran_with(lines(&[false_claim(3)])).exits(1).valid(), [false]);
    }
    verify(&["--verdicts", &folder.path("-")]).exits(0).says("2 claims: 2 valid");
    // The two would share its lines.
    verify_input(&["-", "-"], lines(&[claim(1), claim(2)])).exits(2).says("standard input cannot be read twice");
}

/// What one input holds says nothing of another that has its name.
#[test]
fn an_empty_file_with_the_name_of_standard_input_is_said() {
    let folder = Folder::new();
    folder.file("standard input", "");
    for files in [["-", "standard input"], ["standard input", "-"]] {
        let mut verify = command("quorate");
        let verify = verify.args(["verify", "-q"]).args(files).current_dir(folder.path(""));
        verify.ran_with(lines(&[claim(1)])).exits(2).says("standard input: found no claim");
    }
}

#[test]
fn a_folder_is_told_what_reads_it() {
    let folder = Folder::new();
    let claims = folder.file("claims.jsonl", lines(&[claim(1)]));
    let path = Path::new(&claims).parent().unwrap().to_str().unwrap();
    for arguments in [&[path][..], &["--format", "jsonl", path], &[&claims[..], path]] {
        let ran = verify(arguments).exits(2).says(&format!("{path}: found a folder, expected a file"));
        ran.says(&format!("quorate history verify {path}"));
    }
}

#[test]
fn parquet_rows_are_claims() {
    let folder = Folder::new();
    let path =
        folder.file("claims.parquet", parquet(&[claim(1), false_claim(2), with(claim(3), "suite", Value::Null)]));
    let ran = verify(&["--verdicts", &path]).exits(2).says(&format!("{path}, row 3: ")).says("--suite NAME");
    assert_eq!(ran.valid(), [true, false]);
    assert_eq!(verify(&["--verdicts", "--suite", "eth2", &path]).exits(1).valid(), [true, false, true]);
}

/// A misspelt column may be one that was meant, as a field in JSON Lines.
#[test]
fn an_unknown_column_is_named() {
    let folder = Folder::new();
    let claims = [claim(1)];
    let column = |named: &'static str, field: &str| -> (&'static str, ArrayRef) {
        (named, Arc::new(claims.iter().map(|claim| claim[field].as_str()).collect::<StringArray>()))
    };
    let known = ["public_key", "message", "signature"].map(|name| column(name, name));
    let path = folder.file("claims.parquet", parquet_of([&known[..], &[column("Suite", "suite")]].concat()));
    let warning = format!("{path}, row 1: warning: the unknown field \"Suite\" is skipped");
    verify(&["--suite", "eth2", &path]).exits(0).says(&warning);
    assert!(!verify(&["-q", "--suite", "eth2", &path]).exits(0).err.contains("warning"));
    let path = folder.file("known.parquet", parquet(&claims));
    assert!(!verify(&[&path]).exits(0).err.contains("warning"));
}

#[test]
fn parquet_with_lists_binary_columns_and_numbers() {
    let claims = [shared(MinPk::Eth2, &[1, 2, 3], b"m"), shared(MinPk::Eth2, &[4], b"n")];
    let mut keys = ListBuilder::new(StringBuilder::new());
    for claim in &claims {
        for key in claim["public_keys"].as_array().unwrap() {
            keys.values().append_value(key.as_str().unwrap());
        }
        keys.append(true);
    }
    let bytes = |field: &str| -> Vec<_> {
        claims.iter().map(|claim| const_hex::decode(claim[field].as_str().unwrap()).unwrap()).collect()
    };
    let binary = |field: &str| -> ArrayRef { Arc::new(BinaryArray::from_iter_values(bytes(field))) };
    let content = parquet_of(vec![
        ("id", Arc::new(Int64Array::from(vec![7, -8]))),
        ("public_keys", Arc::new(keys.finish())),
        ("message", binary("message")),
        ("signature", binary("signature")),
        ("remark", binary("message")),
    ]);
    let folder = Folder::new();
    let ran = verify(&["--suite", "eth2", "--verdicts", &folder.file("claims", content)]).exits(0);
    assert_eq!(ran.objects().iter().map(|o| o["id"].clone()).collect::<Vec<_>>(), [7, -8]);
}

#[test]
fn parquet_from_standard_input_is_refused() {
    for arguments in [&["--verdicts"][..], &["--format", "parquet", "-"]] {
        let ran = verify_input(arguments, parquet(&[claim(1)])).exits(2).says("cannot be read from a pipe");
        assert_eq!(ran.out, "");
    }
}

#[test]
fn damaged_parquet_is_reported_and_the_other_files_are_read() {
    let folder = Folder::new();
    let whole = parquet(&[claim(1)]);
    let good = folder.file("good", lines(&[claim(1)]));
    let cut = folder.file("cut", &whole[..whole.len() - 20]);
    let ran = verify(&["--verdicts", &cut, &good]).exits(2).says(&format!("{cut}: the Parquet file is cut off"));
    assert_eq!(ran.valid(), [true]);
    let lacks = folder.file("lacks", parquet_of(vec![("signature", Arc::new(StringArray::from(vec!["00"])))]));
    verify(&[&lacks]).exits(2).says("no column \"public_key\"");
    verify(&["--format", "parquet", &good]).exits(2).says("expected a Parquet file");
}

#[test]
fn a_format_that_the_file_is_not_is_reported() {
    let folder = Folder::new();
    let good = folder.file("good", lines(&[claim(1)]));
    let text = folder.file("text", "some prose\n");
    verify(&["--format", "drand", &text]).exits(2).says(&format!("{text}: expected a drand document"));
    verify(&["--format", "light-client", &text]).exits(2).says(&format!("{text}: expected a light-client document"));
    verify(&["--format", "csv", &good])
        .exits(2)
        .says("expected jsonl, parquet, drand, light-client, deposit, change or exit");
    assert_eq!(verify(&["--format", "jsonl", "--verdicts", &good]).exits(0).valid(), [true]);
}

/// Claims of one key as text columns.
pub(crate) fn parquet(claims: &[Value]) -> Vec<u8> {
    let column = |name: &'static str| -> (&'static str, ArrayRef) {
        (name, Arc::new(claims.iter().map(|claim| claim[name].as_str()).collect::<StringArray>()))
    };
    parquet_of(["id", "suite", "public_key", "message", "signature"].map(column).into())
}

fn parquet_of(columns: Vec<(&'static str, ArrayRef)>) -> Vec<u8> {
    let fields: Vec<_> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The codec of a column stands behind its name in the file's metadata.
#[test]
fn parquet_with_brotli_is_named() {
    let folder = Folder::new();
    let mut bytes = parquet(&[claim(1)]);
    for name in ["id", "suite", "public_key", "message", "signature"] {
        let (uncompressed, brotli) = ([name.as_bytes(), b"\x15\x00"].concat(), [name.as_bytes(), b"\x15\x08"].concat());
        let at = bytes.windows(uncompressed.len()).rposition(|window| window == uncompressed).expect("a column");
        bytes[at..at + brotli.len()].copy_from_slice(&brotli);
    }
    let path = folder.file("claims.parquet", bytes);
    verify(&[&path]).exits(2).says("compressed with brotli, which is not read; write it again with zstd");
}

#[test]
fn standard_input_may_be_a_file() {
    let folder = Folder::new();
    let path = folder.file("claims", lines(&[claim(1), false_claim(2)]));
    let ran = command("quorate").args(["verify", "--verdicts"]).stdin(File::open(path).unwrap()).ran();
    assert_eq!(ran.exits(1).valid(), [true, false]);
}

/// A plain file is opened twice, gzip and standard input once: all are read through the same reader.
#[test]
fn a_byte_order_mark_costs_no_claim() {
    let folder = Folder::new();
    let text = format!("\u{feff}{}", lines(&[claim(1), claim(2), claim(3)]));
    let plain = folder.file("plain.jsonl", &text);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = folder.file("packed.jsonl.gz", gzip.finish().unwrap());
    let zstd = folder.file("packed.jsonl.zst", zstd::encode_all(text.as_bytes(), 3).unwrap());
    for path in [&plain, &gzip, &zstd] {
        verify(&["--verdicts", path]).exits(0).says("3 claims: 3 valid");
        verify(&["--format", "jsonl", path]).exits(0).says("3 claims: 3 valid");
        verify(&["--known", &plain, path]).exits(0).says("3 statements known");
    }
    verify_input(&[], &text).exits(0).says("3 claims: 3 valid");
    let list = folder.file("list.json", format!("\u{feff}[{},{}]", claim(1), claim(2)));
    verify(&[&list]).exits(0).says("2 claims: 2 valid");
    let chain =
        folder.file("info.json", format!("\u{feff}{}", fs::read_to_string(example("drand-quicknet.json")).unwrap()));
    verify(&["--chain", "quicknet", &chain]).exits(0);
}

#[test]
fn text_in_utf_16_is_named() {
    let folder = Folder::new();
    for mark in ["\u{feff}", ""] {
        let text: Vec<u8> = format!("{mark}{}", lines(&[claim(1)])).encode_utf16().flat_map(u16::to_le_bytes).collect();
        let path = folder.file("claims.jsonl", &text);
        verify(&[&path]).exits(2).says("found text in UTF-16, expected UTF-8; convert it");
        if !mark.is_empty() {
            verify(&["--format", "jsonl", &path]).exits(2).says("found text in UTF-16");
        }
        verify(&["--format", "deposit", &path]).exits(2).says("found text in UTF-16");
    }
}
