//! Exit codes, verdict lines, the summary object, options.

use std::collections::BTreeSet;

use quorate::{Backend, MinPk, MinSig, Suite};
use serde_json::json;

use crate::verify::run::{
    Folder, Run as _, Verdicts as _, claim, command, each, false_claim, lines, secret, shared, short_claim, single,
    verify, verify_input, with, without,
};

#[test]
fn all_valid_exits_0() {
    let ran = verify_input(&["-"], lines(&[claim(1), claim(2)])).exits(0).says("2 claims: 2 valid, 0 invalid");
    assert_eq!(ran.out, "     0  valid    c1\n     1  valid    c2\n");
}

#[test]
fn one_invalid_exits_1() {
    let ran = verify_input(&[], lines(&[claim(1), false_claim(2)])).exits(1).says("2 claims: 1 valid, 1 invalid");
    assert!(ran.out.contains("     1  INVALID  c2\n                 the signature does not match"), "{}", ran.out);
}

#[test]
fn usage_exits_2() {
    for arguments in [
        &["--no-such-option"][..],
        &["--threads", "0"],
        &["--soundness", "63"],
        &["--suite", "eth3"],
        &["--format", "csv"],
        &["--network", "moonnet"],
        &["--chain", "quicknet", "--chain-info", "x"],
        &["--fork-version", "00"],
    ] {
        let ran = verify(arguments).exits(2).says("error:");
        assert_eq!(ran.out, "", "{arguments:?}");
    }
}

#[test]
fn trouble_with_the_input_hides_an_invalid_claim() {
    let ran = verify_input(&["--verdicts"], format!("{}hello\n{}", lines(&[false_claim(1)]), lines(&[claim(2)])));
    assert_eq!(ran.exits(2).valid(), [false, true]);
}

#[test]
fn verdict_lines_are_as_documented() {
    let claims = [claim(1), without(claim(2), "id"), false_claim(3), without(false_claim(4), "id")];
    let ran = verify_input(&["--verdicts", "-q"], lines(&claims)).exits(1);
    assert_eq!(ran.err, "");
    let reason = "the signature does not match the keys and messages";
    assert_eq!(
        ran.out.lines().collect::<Vec<_>>(),
        [
            r#"{"index":0,"id":"c1","valid":true}"#,
            r#"{"index":1,"valid":true}"#,
            &format!(r#"{{"index":2,"id":"c3","valid":false,"reason":"{reason}"}}"#),
            &format!(r#"{{"index":3,"valid":false,"reason":"{reason}"}}"#),
        ]
    );
}

#[test]
fn ids_come_back_as_they_were_written() {
    let ids = ["7", "-1.50", "18446744073709551616000", "true", r#""\u00e9 \"quoted\"""#];
    let claims: String =
        ids.iter().map(|id| format!("{}\n", claim(1).to_string().replace("\"c1\"", id))).collect::<String>();
    let ran = verify_input(&["--verdicts"], claims).exits(0);
    let line = |(index, id): (usize, &&str)| format!("{{\"index\":{index},\"id\":{id},\"valid\":true}}\n");
    assert_eq!(ran.out, ids.iter().enumerate().map(line).collect::<String>());
}

#[test]
fn the_summary_object_counts_everything() {
    let sources = [("a", claim(1)), ("b", false_claim(2)), ("b", false_claim(3)), ("c", claim(4)), ("a", claim(5))];
    let claims: Vec<_> = sources.into_iter().map(|(source, claim)| with(claim, "source", source)).collect();
    let input = format!("{}rubbish\n", lines(&claims));
    let summary = verify_input(&["--json", "--threads", "2"], input).exits(2).object();
    let fields: BTreeSet<_> = summary.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "claims",
        "committees_refused",
        "valid",
        "invalid",
        "malformed",
        "interrupted",
        "known",
        "subtracted",
        "remembered",
        "repeated",
        "not_remembered",
        "failures",
        "failures_omitted",
        "errors",
        "errors_omitted",
        "false_by_source",
        "false_by_source_omitted",
        "suites",
        "backend",
        "threads",
        "seconds",
        "hashes",
        "pairings",
        "final_exponentiations",
        "search_nodes",
    ];
    assert_eq!(fields, BTreeSet::from(expected));
    for (field, value) in [
        ("claims", json!(5)),
        ("valid", json!(3)),
        ("invalid", json!(2)),
        ("malformed", json!(1)),
        ("interrupted", json!(false)),
        ("known", json!(0)),
        ("subtracted", json!(0)),
        ("remembered", json!(0)),
        ("not_remembered", json!(0)),
        ("failures_omitted", json!(0)),
        ("errors", json!([{"index": 5, "line": 6, "message": "found text that is not JSON, expected a JSON object"}])),
        ("errors_omitted", json!(0)),
        ("false_by_source", json!({"b": 2})),
        ("false_by_source_omitted", json!(0)),
        ("suites", json!(["eth2"])),
        ("threads", json!(2)),
        ("hashes", json!(5)),
    ] {
        assert_eq!(summary[field], value, "{field}");
    }
    let failures: Vec<_> = summary["failures"].as_array().unwrap().iter().map(|f| (&f["index"], &f["id"])).collect();
    assert_eq!(failures, [(&json!(1), &json!("c2")), (&json!(2), &json!("c3"))]);
    assert!(summary["failures"][0]["message"].as_str().unwrap().contains("does not match"));
    assert!(summary["pairings"].as_u64() > Some(1) && summary["search_nodes"].as_u64() > Some(1));
}

#[test]
fn sources_of_false_claims_are_named_on_standard_error() {
    let claims = [with(false_claim(1), "source", "peer-7"), with(claim(2), "source", "peer-8")];
    let ran = verify_input(&[], lines(&claims)).exits(1).says("source peer-7: 1 false");
    assert!(!ran.err.contains("peer-8"));
}

#[test]
fn verdicts_and_the_summary_can_be_had_together() {
    let objects = verify_input(&["--verdicts", "--json"], lines(&[claim(1), false_claim(2)])).exits(1).objects();
    assert_eq!(objects.len(), 3);
    assert_eq!((&objects[0]["valid"], &objects[1]["valid"]), (&json!(true), &json!(false)));
    assert_eq!(objects[2]["claims"], 2);
}

#[test]
fn quiet_prints_nothing() {
    for (claims, code) in [(&[claim(1)][..], 0), (&[claim(1), false_claim(2)], 1)] {
        let ran = verify_input(&["-q"], lines(claims)).exits(code);
        assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
    }
    let ran = verify_input(&["-q"], "hello\n").exits(2).says("line 1");
    assert_eq!(ran.out, "");
}

/// A person reads 20 lines and the invalid claims. What is left out is counted, whatever stands among the 20.
#[test]
fn valid_claims_that_are_not_listed_are_counted() {
    let run = |invalid: usize, valid: usize| {
        let claims = [vec![false_claim(1); invalid], vec![claim(2); valid]].concat();
        verify_input(&[], lines(&claims)).exits(i32::from(invalid > 0)).out
    };
    for (invalid, valid, left_out) in [
        (0, 20, None),
        (0, 21, Some("1 valid claim is")),
        (20, 5, Some("5 valid claims are")),
        (10, 15, Some("5 valid claims are")),
        (21, 0, None),
    ] {
        let out = run(invalid, valid);
        assert_eq!(out.matches("INVALID").count(), invalid, "{out}");
        let said = out.lines().find(|line| line.contains("not listed"));
        let expected = left_out.map(|what| format!("  … {what} not listed; --verdicts lists all"));
        assert_eq!(said.map(str::to_owned), expected, "{out}");
        let shown = out.lines().filter(|line| line.contains("  valid  ")).count();
        assert_eq!(shown, valid.min(20_usize.saturating_sub(invalid)), "{out}");
    }
}

/// `false | quorate verify -q -` must not read as all valid.
#[test]
fn an_empty_input_is_exit_2_with_a_message() {
    let message = "standard input: found no claim, expected at least one";
    for input in ["", "\n\n", "\u{feff}", "[]"] {
        let ran = verify_input(&[], input).exits(2).says(message).says("no claims judged");
        assert_eq!(ran.out, "");
        verify_input(&["-q", "-"], input).exits(2).says(message);
        verify_input(&["-q", "--verdicts"], input).exits(2).says(message);
    }
    let summary = verify_input(&["--json"], "").exits(2).object();
    assert_eq!((&summary["claims"], &summary["malformed"]), (&json!(0), &json!(0)));
    assert_eq!(summary["errors"].as_array().unwrap().len(), 1);
    // One empty file among others is named too: what should have written it may have failed.
    let folder = Folder::new();
    let (empty, full) = (folder.file("empty", ""), folder.file("full", lines(&[claim(1)])));
    let ran = verify(&["-q", &full, &empty]).exits(2).says(&format!("{empty}: found no claim"));
    assert!(!ran.err.contains(&full), "{}", ran.err);
    verify(&["-q", &full, &full]).exits(0);
}

/// `\r` goes back to the beginning of the line, so what follows it in a source could write a verdict of its own.
#[test]
fn control_characters_cannot_forge_output() {
    let forged = "x\r     0  valid\u{1b}[2K\n     1  valid\u{9b}2J\u{202e}";
    let shown = "x\\u{d}     0  valid\\u{1b}[2K\\u{a}     1  valid\\u{9b}2J\\u{202e}";
    let folder = Folder::new();
    let path = folder.file(
        forged,
        format!(
            "{}{}",
            lines(&[with(with(false_claim(1), "source", forged), "id", forged), with(claim(2), "suite", forged)]),
            lines(&[with(claim(3), "source", json!({forged: 1})), with(claim(3), "message", forged)]),
        ),
    );
    let missing = folder.path(&format!("{forged}2"));
    let first = folder.file("first", lines(&[claim(1)]));
    for arguments in
        [&[&path[..]][..], &["--explain", &path], &[&path, &first], &["--known", &path, &first], &[&missing]]
    {
        let ran = verify(arguments);
        for text in [&ran.out, &ran.err] {
            let obeyed = text.chars().find(|c| c.is_control() && *c != '\n' || *c == '\u{202e}');
            assert_eq!(obeyed, None, "{arguments:?}: {text:?}");
            assert!(text.lines().all(|line| !line.starts_with("     1  valid\\u")), "{text}");
        }
        assert!(ran.err.contains(shown), "{arguments:?}: {}", ran.err);
    }
    verify(&[&path]).exits(2).says(&format!("source {shown}: 1 false"));
    // A program gets what stood in the input, escaped as JSON does it.
    let verdicts = verify(&["--verdicts", "-q", &path]);
    assert_eq!(verdicts.objects()[0]["id"], json!(forged));
    let obeyed = verdicts.out.contains(['\r', '\u{1b}', '\u{9b}', '\u{202e}']);
    assert!(!obeyed && verdicts.out.contains("\\u202e"), "{}", verdicts.out);
}

#[test]
fn a_number_and_its_digits_are_counted_together_in_the_object() {
    let claims = [with(false_claim(1), "source", 7), with(false_claim(2), "source", "7"), with(claim(3), "source", 8)];
    let ran = verify_input(&["--json"], lines(&claims)).exits(1).says("source 7: 1 false");
    assert_eq!(ran.object()["false_by_source"], json!({"7": 2}));
}

#[test]
fn one_claim_and_one_statement_are_no_plural() {
    let folder = Folder::new();
    let known = folder.file("known", lines(&[claim(1)]));
    let ran = verify_input(&["--known", &known], lines(&[claim(1)])).exits(0).says("1 claim: valid, 1 statement known");
    assert!(!ran.err.contains("1 claims") && !ran.err.contains("1 statements"), "{}", ran.err);
}

#[test]
fn keys_with_one_message_and_keys_with_their_messages() {
    let pairs: [(u8, &[u8]); 3] = [(1, b"a"), (2, b"b"), (3, b"c")];
    let claims = [
        shared(MinPk::Eth2, &[1, 2, 3], b"m"),
        each(MinPk::Eth2, &pairs),
        each(MinPk::Basic, &pairs),
        shared(MinPk::Chia, &[1, 2], b"m"),
        shared(MinSig::ProofOfPossession, &[4, 5], b"m"),
        each(MinSig::Basic, &pairs),
        // The signature of one message too many keys, and of swapped messages.
        with(
            shared(MinPk::Eth2, &[1, 2, 3], b"m"),
            "signature",
            shared(MinPk::Eth2, &[1, 2], b"m")["signature"].clone(),
        ),
        with(each(MinPk::Eth2, &pairs), "messages", json!(["62", "61", "63"])),
        // NUL suites refuse equal messages.
        shared(MinPk::Basic, &[1, 2], b"m"),
    ];
    let ran = verify_input(&["--verdicts"], lines(&claims)).exits(1);
    assert_eq!(ran.valid(), [true, true, true, true, true, true, false, false, false]);
    assert!(ran.objects()[8]["reason"].as_str().unwrap().contains("two messages of the aggregate are equal"));
}

#[test]
fn keys_that_cancel_are_named() {
    let key = secret(MinPk::Eth2, 1).public_key();
    let mut opposite = key.to_bytes();
    opposite[0] ^= 0x20;
    let mut identity = vec![0; 96];
    identity[0] = 0xc0;
    let claim = json!({
        "suite": "eth2", "public_keys": [const_hex::encode(key.to_bytes()), const_hex::encode(opposite)],
        "message": "00", "signature": const_hex::encode(identity),
    });
    let ran = verify_input(&["--verdicts"], lines(&[claim])).exits(1);
    assert_eq!(ran.object()["reason"], "the keys add up to the identity");
}

#[test]
fn duplicate_claims_get_a_verdict_each() {
    let claims = [claim(1), false_claim(2), claim(1), false_claim(2), claim(1)];
    let ran = verify_input(&["--verdicts"], lines(&claims)).exits(1);
    assert_eq!(ran.valid(), [true, false, true, false, true]);
}

#[test]
fn a_record_names_its_suite_and_the_option_stands_in() {
    let bare = without(claim(1), "suite");
    let ran = verify_input(&["--suite", "eth2", "--verdicts"], lines(&[bare.clone(), short_claim(2)])).exits(0);
    assert_eq!(ran.valid(), [true, true]);
    let summary = verify_input(&["--suite", "eth2", "--json"], lines(&[bare.clone(), short_claim(2)])).object();
    assert_eq!(summary["suites"], json!([MinSig::Basic.name(), "eth2"]));
    // Another suite of the same sizes is another question.
    let bare = lines(&[bare]);
    assert_eq!(verify_input(&["--suite", "chia", "--verdicts"], &bare).exits(1).valid(), [false]);
    let ran = command("quorate").args(["verify", "--verdicts"]).env("QUORATE_SUITE", "eth2").ran_with(bare);
    assert_eq!(ran.exits(0).valid(), [true]);
}

#[test]
fn every_suite_has_its_name() {
    let claims: Vec<_> = MinPk::all()
        .iter()
        .map(|suite| single(*suite, 1, b"m", b"m"))
        .chain(MinSig::all().iter().map(|suite| single(*suite, 1, b"m", b"m")))
        .collect();
    let ran = verify_input(&["--verdicts"], lines(&claims)).exits(0);
    assert_eq!(ran.valid(), vec![true; MinPk::all().len() + MinSig::all().len()]);
}

#[test]
fn threads_soundness_and_backends_do_not_change_the_verdicts() {
    let claims: Vec<_> = (0..70)
        .map(|i| {
            if i % 7 == 3 {
                false_claim(i)
            } else if i % 5 == 0 {
                short_claim(i)
            } else {
                claim(i)
            }
        })
        .collect();
    let expected: Vec<_> = (0..70).map(|i| i % 7 != 3).collect();
    let input = lines(&claims);
    for arguments in [
        &["--threads", "1"][..],
        &["--threads", "3"],
        &["--soundness", "128"],
        &["--soundness", "64", "--threads", "5"],
    ] {
        let arguments: Vec<_> = ["--verdicts"].iter().chain(arguments).copied().collect();
        assert_eq!(verify_input(&arguments, &input).exits(1).valid(), expected, "{arguments:?}");
    }
    for backend in Backend::available() {
        let name = backend.to_string();
        let ran = verify_input(&["--verdicts", "--json", "--backend", &name], &input).exits(1);
        let mut objects = ran.objects();
        assert_eq!(objects.pop().unwrap()["backend"], name);
        assert_eq!(objects.iter().map(|o| o["valid"] == true).collect::<Vec<_>>(), expected, "{name}");
    }
}

#[test]
fn a_backend_that_is_not_there_is_an_error_that_names_what_is() {
    let absent = if Backend::available().len() > 1 { "gpu" } else { "ifma" };
    let by_option = verify(&["--backend", absent]).exits(2).says("portable");
    assert_eq!(by_option.out, "");
    command("quorate").arg("verify").env("QUORATE_BACKEND", absent).ran().exits(2).says("portable");
    let mut command = command("quorate");
    let ran = command.args(["verify", "--json"]).env("QUORATE_BACKEND", "portable").ran_with(lines(&[claim(1)]));
    assert_eq!(ran.exits(0).object()["backend"], "portable");
}

#[test]
fn explain_prints_the_plan() {
    let claims = [shared(MinPk::Eth2, &[1, 2, 3], b"m"), shared(MinPk::Eth2, &[1, 2], b"m")];
    verify_input(&["--explain"], lines(&claims)).exits(0).says("2 claims").says("pairings");
}

#[test]
fn a_person_sees_the_first_claims_and_every_invalid_one() {
    let mut claims = vec![claim(1); 30];
    claims.push(false_claim(2));
    let ran = verify_input(&[], lines(&claims)).exits(1);
    assert_eq!(ran.out.lines().filter(|line| line.contains("  valid  ")).count(), 20);
    assert!(ran.out.contains("    30  INVALID"), "{}", ran.out);
    assert!(ran.out.ends_with("--verdicts lists all\n"), "{}", ran.out);
}

#[test]
fn failures_beyond_the_first_thousand_are_counted() {
    let line = lines(&[with(claim(1), "signature", "00")]);
    let summary = verify_input(&["--json"], line.repeat(1003)).exits(1).object();
    assert_eq!(summary["failures"].as_array().unwrap().len(), 1000);
    assert_eq!((&summary["invalid"], &summary["failures_omitted"]), (&json!(1003), &json!(3)));
}

#[test]
fn help_fits_80_columns_and_starts_with_examples() {
    let help = command("quorate").args(["verify", "--help"]).env("COLUMNS", "80").ran().exits(0).out;
    assert!(help.starts_with("Examples:\n  quorate verify "), "{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    for option in ["--known", "--remember", "--soundness", "--backend", "--chain-info", "--committee"] {
        assert!(help.contains(option), "{option}");
    }
}

/// Sources come from outside, so only a thousand of them are held.
#[test]
fn sources_of_false_claims_are_bounded() {
    let lie = with(claim(1), "message", json!("00"));
    let input: Vec<_> = (0..1003).chain([0]).map(|i| with(lie.clone(), "source", json!(format!("s{i}")))).collect();
    let input = lines(&input);
    let ran = verify_input(&["--json"], input).exits(1).says("3 false claims of sources beyond the first 1000");
    let summary = ran.object();
    assert_eq!(summary["false_by_source"].as_object().unwrap().len(), 1000);
    assert_eq!((&summary["false_by_source"]["s0"], &summary["false_by_source_omitted"]), (&json!(2), &json!(3)));
}
