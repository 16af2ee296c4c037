//! Entries that make no claim are reported with file and line, bytes that are no point make a claim invalid; in both cases
//! the others are verified.

use quorate::{MinPk, UncheckedSignature};
use serde_json::{Value, json};

use crate::verify::run::{
    Folder, Verdicts as _, claim, each, lines, secret, shared, short_claim, verify, verify_input, with, without,
};

/// The line stands between good ones: it is named with its file and number, they are verified.
#[track_caller]
fn reported(line: impl AsRef<[u8]>, reason: &str) {
    let folder = Folder::new();
    let good = lines(&[claim(1)]);
    let content = [good.as_bytes(), b"\n", line.as_ref(), b"\n", lines(&[claim(2)]).as_bytes()].concat();
    let path = folder.file("claims.jsonl", content);
    let ran = verify(&["--verdicts", &path]).exits(2).says(&format!("{path}, line 3: ")).says(reason);
    // The bad line keeps its number among the entries, so that the verdicts after it can be told apart.
    let verdict = |index: u64, id: &str| json!({"index": index, "id": id, "valid": true});
    let objects = ran.objects();
    assert_eq!([&objects[0], &objects[2]], [&verdict(0, "c1"), &verdict(2, "c2")], "{ran:?}");
    let said = objects[1]["reason"].clone();
    assert!(said.as_str().unwrap().contains(reason), "{said}");
    let mut expected = json!({"index": 1, "line": 3, "valid": false, "malformed": true, "reason": said});
    // Whoever wrote the line finds it again by its id, if that much can be read.
    let id = std::str::from_utf8(line.as_ref()).ok().filter(|line| line.contains("\"c3\""));
    id.into_iter().for_each(|_| expected["id"] = "c3".into());
    assert_eq!(objects[1], expected);
    assert!(ran.err.contains("2 claims: 2 valid, 0 invalid, 1 malformed"), "{}", ran.err);
}

#[test]
fn a_line_that_is_not_json() {
    reported("hello", "found text that is not JSON, expected a JSON object");
    reported("[1, 2]", "expected a JSON object");
    reported("{\"public_key\": ", "does not end on this line");
    reported("{public_key: 1}", "key must be a string");
}

#[test]
fn a_line_that_lacks_a_field() {
    for field in ["public_key", "message", "signature"] {
        reported(without(claim(3), field).to_string(), &format!("\"{field}\" is missing"));
    }
    reported("{}", "\"public_key\" is missing");
}

#[test]
fn a_line_that_has_a_field_twice() {
    reported(with(claim(3), "public_keys", json!([])).to_string(), "\"public_key\" and \"public_keys\" are both given");
    reported(r#"{"id": 1, "id": 2}"#, "duplicate field `id`");
}

#[test]
fn bad_hex() {
    reported(with(claim(3), "message", "0").to_string(), "\"message\": found 1 hexadecimal digit");
    reported(with(claim(3), "signature", "0xzz").to_string(), "found 'z' at digit 1, expected hexadecimal digits");
    reported(with(claim(3), "public_key", 7).to_string(), "expected a string");
}

#[test]
fn keys_and_messages_that_do_not_pair() {
    let claim = each(MinPk::Eth2, &[(1, b"a"), (2, b"b")]);
    reported(with(claim, "messages", json!(["61"])).to_string(), "2 public keys but 1 message;");
}

#[test]
fn no_suite_and_an_unknown_suite() {
    reported(without(claim(3), "suite").to_string(), "--suite NAME");
    reported(with(claim(3), "suite", "eth3").to_string(), "there is no suite `eth3`; choose a profile (eth2");
}

#[test]
fn an_id_that_is_no_name() {
    reported(with(claim(3), "id", json!({})).to_string(), "\"id\": found an object or a list");
}

#[test]
fn invalid_utf8() {
    let mut line = claim(3).to_string().into_bytes();
    line[8] = 0xff;
    reported(line, "byte 9 of the line is not UTF-8");
}

#[test]
fn a_mark_crlf_blank_lines_and_no_last_newline_are_fine() {
    let input = format!("\u{feff}\r\n{}\r\n\r\n   \n{}", claim(1), claim(2));
    assert_eq!(verify_input(&["--verdicts"], input).exits(0).valid(), [true, true]);
}

#[test]
fn prefixes_and_capitals_are_fine() {
    let capital = claim(1)["signature"].as_str().unwrap().to_uppercase();
    let prefixed = format!("0x{}", claim(1)["public_key"].as_str().unwrap());
    let claim = with(with(claim(1), "signature", format!("0X{capital}")), "public_key", prefixed);
    assert_eq!(verify_input(&["--verdicts"], lines(&[claim])).exits(0).valid(), [true]);
}

#[test]
fn a_cut_off_last_line_is_named() {
    let whole = claim(2).to_string();
    let input = format!("{}{}", lines(&[claim(1)]), &whole[..whole.len() / 2]);
    let ran =
        verify_input(&["--verdicts"], input).exits(2).says("standard input, line 2: the input ends in the middle");
    assert_eq!(ran.valid(), [true]);
}

/// A person reads the first ten of a kind, a program gets all.
#[test]
fn ten_errors_of_a_kind_are_named_and_the_others_counted() {
    let mut input: String =
        (0..50).map(|i| if i % 2 == 0 { format!("bad {i}\n") } else { lines(&[claim(1)]) }).collect();
    input += &format!("{}\n", without(claim(1), "signature"));
    let ran = verify_input(&["--json", "--verdicts"], input).exits(2);
    let objects = ran.objects();
    let summary = objects.last().unwrap();
    assert_eq!((&summary["valid"], &summary["malformed"]), (&json!(25), &json!(26)));
    assert_eq!(summary["errors"].as_array().unwrap().len(), 26);
    for line in (0..50).step_by(2) {
        assert_eq!(ran.err.contains(&format!("line {}: ", line + 1)), line < 20, "{}", ran.err);
        assert_eq!(
            objects[line],
            json!({
                "index": line, "line": line + 1, "valid": false, "malformed": true,
                "reason": "found text that is not JSON, expected a JSON object",
            })
        );
    }
    assert!(ran.err.contains("line 51: \"signature\" is missing"), "{}", ran.err);
    assert!(ran.err.contains("… and 15 more errors of this kind: found text that is not JSON"), "{}", ran.err);
}

/// The claim stands between good ones: it is invalid for this reason, they are valid.
#[track_caller]
fn invalid(claim_: Value, reason: &str) {
    let ran = verify_input(&["--verdicts"], lines(&[claim(1), claim_, claim(2)])).exits(1);
    assert_eq!(ran.valid(), [true, false, true], "{ran:?}");
    let said = ran.objects()[1]["reason"].as_str().unwrap().to_owned();
    assert!(said.contains(reason), "expected {reason:?} in {said:?}");
}

fn hex(bytes: impl AsRef<[u8]>) -> String {
    const_hex::encode(bytes)
}

/// A compressed x that no point of the curve has, by trial; the other half of them do.
fn off_the_curve(length: usize) -> String {
    let mut bytes = vec![0; length];
    bytes[0] = 0x80;
    let on_curve = |bytes: &[u8]| match length {
        48 => UncheckedSignature::<quorate::MinSig>::from_bytes(bytes).is_ok(),
        _ => UncheckedSignature::<MinPk>::from_bytes(bytes).is_ok(),
    };
    while on_curve(&bytes) {
        bytes[length - 1] += 1;
    }
    hex(bytes)
}

/// A compressed point that is on the curve and, like all but one in a multiple of the cofactor, not in the subgroup.
fn outside_the_subgroup(length: usize) -> String {
    let mut bytes = vec![0; length];
    (bytes[0], bytes[length - 1]) = (0x80, 3);
    let outside = |bytes: &[u8]| match length {
        48 => UncheckedSignature::<quorate::MinSig>::from_bytes(bytes).is_ok_and(|s| s.check().is_err()),
        _ => UncheckedSignature::<MinPk>::from_bytes(bytes).is_ok_and(|s| s.check().is_err()),
    };
    while !outside(&bytes) {
        bytes[length - 1] += 1;
    }
    hex(bytes)
}

#[test]
fn wrong_length() {
    invalid(with(claim(3), "public_key", ""), "public key: ");
    invalid(with(claim(3), "public_key", hex([0x80; 47])), "public key: ");
    invalid(with(claim(3), "signature", hex([0x80; 97])), "signature: ");
    // A claim of the other variant under this suite.
    invalid(with(short_claim(3), "suite", "eth2"), "public key: ");
}

#[test]
fn not_on_the_curve() {
    invalid(with(claim(3), "public_key", off_the_curve(48)), "curve");
    invalid(with(claim(3), "signature", off_the_curve(96)), "curve");
    invalid(with(short_claim(3), "public_key", off_the_curve(96)), "curve");
    invalid(with(short_claim(3), "signature", off_the_curve(48)), "curve");
}

#[test]
fn small_subgroup() {
    invalid(with(claim(3), "public_key", outside_the_subgroup(48)), "public key: the point is not in the subgroup");
    invalid(with(claim(3), "signature", outside_the_subgroup(96)), "signature: the point is not in the subgroup");
    invalid(
        with(short_claim(3), "public_key", outside_the_subgroup(96)),
        "public key: the point is not in the subgroup",
    );
    invalid(with(short_claim(3), "signature", outside_the_subgroup(48)), "signature: the point is not in the subgroup");
}

#[test]
fn identity_key_and_identity_signature() {
    let identity = |length: usize| format!("c0{}", "00".repeat(length - 1));
    invalid(with(claim(3), "public_key", identity(48)), "public key: the point is the identity");
    invalid(with(short_claim(3), "public_key", identity(96)), "public key: the point is the identity");
    invalid(with(claim(3), "signature", identity(96)), "does not match");
}

#[test]
fn uncompressed_points_and_infinity_flags() {
    use quorate_curve::Bls12381Group;
    let key = secret(MinPk::Eth2, 3).public_key();
    let uncompressed = hex(key.point().serialize());
    assert_eq!(uncompressed.len(), 192);
    invalid(with(claim(3), "public_key", uncompressed), "public key: ");
    // Compressed length without the compression flag, infinity with a coordinate, infinity with a sign.
    let mut flagless = key.to_bytes();
    flagless[0] &= 0x1f;
    invalid(with(claim(3), "public_key", hex(flagless)), "public key: ");
    let mut infinity = vec![0; 96];
    (infinity[0], infinity[95]) = (0xc0, 1);
    invalid(with(claim(3), "signature", hex(&infinity)), "signature: ");
    (infinity[0], infinity[95]) = (0xe0, 0);
    invalid(with(claim(3), "signature", hex(infinity)), "signature: ");
}

#[test]
fn non_canonical_x() {
    // The field's modulus in place of zero.
    let p = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    let claim_ = with(claim(3), "public_key", p.replacen("1a", "9a", 1));
    invalid(claim_, "public key: ");
}

#[test]
fn the_bad_key_of_many_is_named_by_its_number() {
    let mut claim_ = shared(MinPk::Eth2, &[1, 2, 3], b"m");
    claim_["public_keys"][1] = off_the_curve(48).into();
    invalid(claim_, "(key 2 of 3)");
}

#[test]
fn no_keys_are_invalid_but_for_sync_aggregates_with_the_identity() {
    let identity = format!("c0{}", "00".repeat(95));
    let claim_ = json!({"suite": "eth2-sync-aggregate", "public_keys": [], "message": "00", "signature": identity});
    assert_eq!(verify_input(&["--verdicts"], lines(std::slice::from_ref(&claim_))).exits(0).valid(), [true]);
    invalid(with(claim_.clone(), "suite", "eth2"), "no keys");
    invalid(with(claim_, "suite", "chia"), "no keys");
}

/// A misspelt field may be one that was meant, so it is named, but once.
#[test]
fn an_unknown_field_warns_once() {
    let misspelt = with(claim(1), "pub_key", "00");
    let input = lines(&[misspelt.clone(), misspelt]);
    let ran = verify_input(&[], &input).exits(0).says("standard input, line 1: warning: the unknown field \"pub_key\"");
    assert_eq!(ran.err.matches("unknown field").count(), 1, "{}", ran.err);
    let quiet = verify_input(&["-q"], &input).exits(0);
    assert!(!quiet.err.contains("unknown field"), "{}", quiet.err);
}
