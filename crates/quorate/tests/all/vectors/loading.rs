//! The loaders take files that they have not seen. Items of another shape are counted and printed, and the rest is
//! read.

use quorate::{AnySuite, MinPk};

use quorate_lab::answers::{
    Case, CaseMessages, Vectors, drand, ethereum, herumi, schemes,
    secrets::{compatible, signings},
    wycheproof,
};

/// The keys, messages and signatures in these tests are short, because no loader looks inside.
fn shape(case: &Case) -> (Vec<u8>, String, bool) {
    let messages = match &case.messages {
        CaseMessages::Shared(message) => format!("{message:02x?}"),
        CaseMessages::Each(messages) => format!("each of {messages:02x?}"),
        CaseMessages::Possession => "possession".to_owned(),
    };
    (case.keys.concat(), messages, case.expected)
}

fn shapes(cases: &[Case]) -> Vec<(Vec<u8>, String, bool)> {
    cases.iter().map(shape).collect()
}

/// The number of items that a loader skips of one file, and the items that it reads.
fn skipped(name: &str, text: &'static str, read: fn(&Vectors) -> Vec<Case>) -> (usize, Vec<Case>) {
    // The text has at least as many items that fit as items that do not: a set of which more is skipped than read
    // fails.
    let vectors = Vectors::inline(&[(name, text)]);
    let cases = read(&vectors);
    (vectors.skipped.get(), cases)
}

#[test]
fn signatures_without_keys_with_null_and_with_several_messages() {
    let (skipped, cases) = skipped(
        "03_misc_scheme/unseen.json",
        r#"{"cases": [
            {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "pk": "010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "msg": "aa", "sig": "bb"},
            {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "pk": "020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "msgs": ["aa", "ab"], "aggr_sig": "bb", "pks": null, "expected": null},
            {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "pk": ["030000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"], "msg": "aa", "sig": "bb", "expected": false, "sk": null},
            {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "pk": null, "msg": "aa", "sig": "bb"},
            {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "pks": ["01", "02"], "msg": "aa", "sig": "bb"},
            {"kind": "Schnorr", "dst": null, "pk": "01", "msg": "aa", "sig": {"A": "00", "r": "00"}}
        ]}"#,
        schemes::cases,
    );
    assert_eq!(skipped, 3);
    let found = shapes(&cases);
    assert_eq!(found[0].1, "[aa]");
    assert_eq!((found[1].0.len(), found[1].1.as_str(), found[1].2), (96, "each of [[aa], [ab]]", true));
    assert_eq!((found[2].0[0], found[2].2), (3, false));
    assert!(cases.iter().all(|case| case.suite == AnySuite::MinPk(MinPk::Basic)));
}

#[test]
fn secret_keys_that_sign_nothing_that_is_stated() {
    let vectors = Vectors::inline(&[
        (
            "03_misc_scheme/unseen.json",
            r#"{"cases": [
                {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "sk": "0000000000000000000000000000000000000000000000000000000000000001", "pk": "010000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000", "msg": "aa", "sig": "bb"},
                {"dst": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "sk": "01", "pk": null, "msg": "aa", "sig": "bb"},
                {"dst": null, "sk": "01", "pk": "01", "msgs": ["aa"], "sig": null}
            ]}"#,
        ),
        (
            "03_filecoin_miracl/unseen.json",
            r#"{"cases": [
                {"Msg": "m", "Ciphersuite": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "G1Compressed": "AA==", "G2Compressed": "AA==", "BLSPrivKey": "5", "BLSPubKey": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "BLSSigG2": "AA=="},
                {"Msg": "m", "Ciphersuite": "", "G1Compressed": "AA==", "G2Compressed": "AA==", "BLSPrivKey": "", "BLSPubKey": null, "BLSSigG2": null},
                {"Msg": "m", "Ciphersuite": "", "G1Compressed": "AA==", "G2Compressed": "AA==", "BLSPrivKey": "5", "BLSPubKey": null, "BLSSigG2": null}
            ]}"#,
        ),
    ]);
    let found: Vec<_> = signings(&vectors).into_iter().map(|signing| signing.id).collect();
    assert_eq!(found, ["03_misc_scheme/unseen.json#0", "03_filecoin_miracl/unseen.json#0"]);
    assert_eq!(vectors.skipped.get(), 1);
    assert_eq!(compatible(&vectors.files[1]).len(), 3);
}

#[test]
fn herumi_records_by_what_they_are_about() {
    const TEXT: &str = "\
        msg aa\nsig bb\nout false\n\n\
        pub 01\npub 02\nmsg aa\nsig bb\nout true\n\
        pub 03\nmsg aa\nsig bb\nout true\n\
        pub 01\nmsg aa\nmsg ab\nsig bb\nout false\n\
        msg aa\nout false\n\
        sig bb\nsig bc\nout bd\n\
        sec 01\nmsg aa\nout bb\n\
        sig bb\nnote hello\nsig xyz\nout 00\n";
    let (skipped, cases) = skipped("01_herumi_eth_draft07/unseen.txt", TEXT, herumi::cases);
    let no_keys = (vec![], "[aa]".to_owned(), false);
    assert_eq!(shapes(&cases), [no_keys, (vec![1, 2], "[aa]".to_owned(), true), (vec![3], "[aa]".to_owned(), true)]);
    // One key with two messages, a verdict without a signature, and a record with lines that are not understood.
    assert_eq!(skipped, 3);
    let vectors = Vectors::inline(&[("01_herumi_eth_draft07/unseen.txt", TEXT)]);
    let about = |about| herumi::of(&vectors.files[0], about).map_or(0, |records| records.len());
    assert_eq!(
        (
            about(herumi::HerumiContent::Verdict),
            about(herumi::HerumiContent::Sum),
            about(herumi::HerumiContent::Signing)
        ),
        (5, 1, 1)
    );
}

#[test]
fn wycheproof_lists_of_unequal_length() {
    let (skipped, cases) = skipped(
        "09_wycheproof_bls/bls_unseen_aggregate_verify_test.json",
        r#"{"testGroups": [
            {"ciphersuite": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "publicKey": null, "tests": [
                {"tcId": 1, "pubkeys": ["01"], "messages": ["aa"], "sig": "bb", "result": "valid"},
                {"tcId": 2, "pubkeys": [], "messages": [], "sig": "bb", "result": "invalid"},
                {"tcId": 3, "pubkeys": ["01"], "messages": ["aa", "ab"], "sig": "bb", "result": "invalid"},
                {"tcId": 4, "pubkeys": ["01"], "messages": ["aa"], "sig": null, "result": "invalid"},
                {"tcId": 5, "pubkeys": ["01"], "messages": ["aa"], "sig": "bb", "result": "acceptable"}
            ]},
            {"ciphersuite": "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_", "tests": [
                {"tcId": 6, "pubkeys": ["01"], "messages": ["aa"], "sig": "bb", "result": "invalid"}
            ]}
        ]}"#,
        wycheproof::cases,
    );
    let ids: Vec<_> = cases.iter().filter_map(|case| case.id.rsplit(' ').next()).collect();
    assert_eq!((ids, skipped), (vec!["1", "2", "6"], 3));
}

#[test]
fn ethereum_frames_with_null() {
    let vectors = Vectors::inline(&[
        (
            "01_eth_bls12381_tests/fast_aggregate_verify/no_keys.json",
            r#"{"input": {"pubkeys": [], "message": "aa", "signature": "bb"}, "output": false}"#,
        ),
        (
            "01_eth_bls12381_tests/verify/null_key.json",
            r#"{"input": {"pubkey": null, "message": "aa", "signature": "bb"}, "output": false}"#,
        ),
        (
            "01_eth_bls12381_tests/verify/fits.json",
            r#"{"input": {"pubkey": "0x01", "message": "aa", "signature": "bb"}, "output": true}"#,
        ),
        (
            "01_eth_bls12381_tests/aggregate_verify/unequal.yaml",
            "{input: {pubkeys: ['01'], messages: ['aa', 'ab'], signature: bb}, output: false}",
        ),
    ]);
    let expected = [(vec![], "[aa]".to_owned(), false), (vec![1], "[aa]".to_owned(), true)];
    assert_eq!(shapes(&ethereum::cases(&vectors)), expected);
    assert_eq!(vectors.skipped.get(), 2);
}

#[test]
fn drand_rounds_of_networks_on_another_curve() {
    let vectors = Vectors::inline(&[
        (
            "06_drand/unseen.json",
            r#"{"chain_info": {"public_key": "01", "schemeID": "pedersen-bls-unchained"}, "beacons": [
                {"round": 1, "signature": "bb", "previous_signature": null, "message": null, "randomness": null},
                {"round": 2, "signature": null}
            ]}"#,
        ),
        (
            "06_drand/unseen_evmnet.json",
            r#"{"chain_info": {"public_key": "01", "schemeID": "bls-bn254-unchained-on-g1"}, "beacons": [
                {"round": 1, "signature": "bb"}
            ]}"#,
        ),
        ("06_drand/unseen_shape.json", r#"{"chain": "quicknet"}"#),
        (
            "06_drand/negative_fixtures.json",
            r#"{"cases": [
                {"scheme": "pedersen-bls-chained (a remark)", "public_key": "01", "round": 2, "signature": "bb", "expected": false},
                {"scheme": "pedersen-bls-chained", "public_key": "01", "round": 3, "signature": "bb", "expected": true},
                {"scheme": "pedersen-bls-chained", "public_key": "01", "round": 4, "signature": "bb", "expected": true}
            ]}"#,
        ),
    ]);
    assert_eq!(drand::cases(&vectors).len(), 4);
    assert_eq!(vectors.skipped.get(), 3);
}

#[test]
#[should_panic(expected = "its loader does not fit it")]
fn a_set_that_is_mostly_skipped_fails() {
    let vectors = Vectors::inline(&[(
        "07_avalanche_pop/unseen.json",
        r#"{"cases": [
            {"public_key": "01", "proof_of_possession": "bb", "expected": true},
            {"key": "01", "proof": "bb"},
            {"key": "01", "proof": "bb"}
        ]}"#,
    )]);
    schemes::cases(&vectors);
}

/// With `CI=true`, each of them fails the test that reads it.
#[test]
fn absent_sets_are_named() {
    let vectors = Vectors::inline(&[("03_misc_scheme/unseen.json", "{}"), ("05_keys/erc2333_cases.json", "{}")]);
    assert_eq!(vectors.absent(&["01", "03", "05", "09"]), ["01", "09"]);
    assert!(vectors.absent(&["03_misc"]).is_empty());
}
