//! Known answers on BN254.

use std::{fs, path::PathBuf};

use ark_ff::PrimeField;
use num_bigint::BigUint;
use quorate_bn254::Fq;
use serde_json::Value;

use crate::vectors::path;

/// The files of a set whose name begins with `prefix`, parsed; no files, with a printed line, if the set is absent.
///
/// # Panics
/// If the set has no such file, or one is not JSON; if the set is absent and `CI=true`.
pub fn files(set: &str, prefix: &str) -> Vec<Value> {
    let Some(folder) = path(set) else { return Vec::new() };
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{set}: {e}"));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.retain(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(prefix)));
    paths.sort();
    assert!(!paths.is_empty(), "{set} has no file {prefix}*");
    let parse = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    paths.iter().map(parse).collect()
}

/// The items under a key of each file.
pub fn cases(set: &str, prefix: &str, key: &str) -> Vec<Value> {
    let files = files(set, prefix);
    let cases: Vec<_> = files.iter().flat_map(|file| file[key].as_array().expect("a list").clone()).collect();
    assert!(files.is_empty() || !cases.is_empty());
    println!("{set}/{prefix}*: {} cases", cases.len());
    cases
}

/// A value that is text.
pub fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

/// A value that is hexadecimal text.
pub fn bytes(value: &Value) -> Vec<u8> {
    const_hex::decode(text(value)).expect("hexadecimal")
}

/// A field element: hexadecimal if it begins with 0x, else digits of the radix.
pub fn element(value: &Value, radix: u32) -> Fq {
    let digits = text(value);
    let number = match digits.strip_prefix("0x") {
        Some(digits) => BigUint::parse_bytes(digits.as_bytes(), 16),
        None => BigUint::parse_bytes(digits.as_bytes(), radix),
    };
    Fq::from_be_bytes_mod_order(&number.expect("a number").to_bytes_be())
}
