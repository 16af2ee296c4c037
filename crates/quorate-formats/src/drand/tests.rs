use proptest::prelude::*;

use super::*;

fn quicknet() -> DrandOptions {
    DrandOptions { chain: Some(ChainInfo::well_known("quicknet").unwrap()), ..DrandOptions::default() }
}

fn chained() -> DrandOptions {
    DrandOptions { chain: Some(ChainInfo::well_known("default").unwrap()), ..DrandOptions::default() }
}

/// All entries of a document, or the error that ends it.
fn read(input: &[u8], options: &DrandOptions) -> Result<Vec<Entry>, InputError> {
    super::read(input, options)?.collect()
}

fn entries(input: &str, options: &DrandOptions) -> Vec<Entry> {
    read(input.as_bytes(), options).unwrap()
}

fn record(input: &str, options: &DrandOptions) -> Record {
    let mut entries = entries(input, options);
    assert_eq!(entries.len(), 1);
    entries.remove(0).unwrap()
}

fn reason(input: &str, options: &DrandOptions) -> String {
    let mut entries = entries(input, options);
    assert_eq!(entries.len(), 1);
    entries.remove(0).unwrap_err().reason
}

#[test]
fn an_unchained_round_signs_its_number() {
    let record = record(r#"{"round": "2", "signature": "0xAB"}"#, &quicknet());
    assert_eq!(record.id, Some(Id::number(2)));
    assert_eq!(record.suite.as_deref(), Some("drand-quicknet"));
    assert_eq!(record.messages, Messages::Shared(Sha256::digest(2_u64.to_be_bytes())[..].into()));
    assert_eq!(record.signature, [0xab]);
    assert_eq!(record.public_keys.as_encoded().unwrap()[0].len(), 96);
}

#[test]
fn a_chained_round_signs_what_came_before() {
    let record = record(r#"{"round": 5, "signature": "ab", "previous_signature": "cd"}"#, &chained());
    let message = Sha256::digest([&[0xcd][..], &5_u64.to_be_bytes()].concat());
    assert_eq!(record.messages, Messages::Shared((&message[..]).into()));
    assert_eq!(record.suite.as_deref(), Some("drand-chained"));
}

#[test]
fn a_chained_round_without_previous_signature() {
    assert!(reason(r#"{"round": 5, "signature": "ab"}"#, &chained()).contains("lacks \"previous_signature\""));
}

#[test]
fn round_one_starts_from_the_genesis_seed() {
    let seed = "176f93498eac9ca337150b46d21dd58673ea4e3581185f869672e59fa4cb390a";
    let bare = record(r#"{"round": 1, "signature": "ab"}"#, &chained());
    let stated = format!(r#"{{"round": 1, "signature": "ab", "previous_signature": "{seed}"}}"#);
    let stated = record(&stated, &chained());
    assert_eq!(bare.messages, stated.messages);
    assert_eq!(stated.checks[0].result, CheckResult::Passed);
    let forged = record(r#"{"round": 1, "signature": "ab", "previous_signature": "00"}"#, &chained());
    assert_eq!(forged.failed_check().unwrap().name, "genesis_seed");
}

#[test]
fn round_zero_is_nobodys() {
    assert!(reason(r#"{"round": 0, "signature": "ab"}"#, &quicknet()).contains("\"round\" is 0"));
}

/// Whoever reports a round keeps these bytes.
#[test]
fn signatures_longer_than_any_point_are_malformed() {
    for options in [quicknet(), chained()] {
        for length in [193, 35_000] {
            let long = "ab".repeat(length);
            for (text, name) in [
                (format!(r#"{{"round": 5, "signature": "{long}", "previous_signature": "cd"}}"#), "signature"),
                (format!(r#"{{"round": 5, "signature": "ab", "previousSignature": "{long}"}}"#), "previous_signature"),
            ] {
                let expected = format!("\"{name}\": found {length} bytes, more than the 192 of the longest");
                let found = reason(&text, &options);
                assert!(found.starts_with(&expected), "{found}");
            }
        }
        let longest = "ab".repeat(192);
        let text = format!(r#"{{"round": 5, "signature": "{longest}", "previous_signature": "{longest}"}}"#);
        assert_eq!(record(&text, &options).signature.len(), 192);
    }
}

#[test]
fn randomness_must_be_the_hash_of_the_signature() {
    let hash = const_hex::encode(Sha256::digest([0xab]));
    let right = format!(r#"{{"round": 5, "signature": "ab", "randomness": "{hash}"}}"#);
    assert_eq!(record(&right, &quicknet()).failed_check(), None);
    let wrong = record(r#"{"round": 5, "signature": "ab", "randomness": "00"}"#, &quicknet());
    assert_eq!(wrong.failed_check().unwrap().name, "randomness");
}

#[test]
fn bad_rounds_do_not_stop_the_others() {
    let input = r#"[{"round": 1}, 5, {}, {"round": 3, "signature": "0"}, {"round": -1, "signature": ""},
        {"round": 1, "round": 2, "signature": ""}, [1, "00"], {"round": 4, "signature": "ab"}]"#;
    let entries = entries(input, &quicknet());
    let reasons: Vec<_> = entries[..7].iter().map(|entry| entry.as_ref().unwrap_err().reason.as_str()).collect();
    let expected = [
        "missing field `signature`",
        "found a number, expected a JSON object",
        "expected a round",
        "\"signature\": found 1 hexadecimal digits",
        "\"round\": found integer `-1`",
        "duplicate field",
        "found a list, expected a JSON object",
    ];
    for (reason, expected) in reasons.iter().zip(expected) {
        assert!(reason.contains(expected), "{reason} / {expected}");
    }
    assert_eq!(entries[7].as_ref().unwrap().place, Place::Element(7));
}

#[test]
fn a_bare_round_asks_for_its_chain() {
    let error = read(&br#"{"round": 5, "signature": "ab"}"#[..], &DrandOptions::default()).unwrap_err().to_string();
    assert!(error.contains("--chain-info FILE") && error.contains("--chain NAME"), "{error}");
}

/// A misspelt field may be one that was meant.
#[test]
fn fields_of_rounds_that_are_skipped_are_named() {
    let unknown = |input: &str| {
        let mut rounds = super::read(input.as_bytes(), &quicknet()).unwrap();
        assert!(rounds.by_ref().all(|entry| entry.unwrap().is_ok()), "{input}");
        rounds.take_unknown().into_iter().map(|(name, place)| format!("{name}, {place}")).collect::<Vec<_>>()
    };
    let misspelt = r#"{"round": 5, "signature": "", "randomnes": "00", "metadata": {"beaconID": "quicknet", "x": 1}}"#;
    let plain = r#"{"round": "1", "signature": "", "previousSignature": "00", "metadata": {"chainHash": null}}"#;
    assert_eq!(unknown(plain), [""; 0]);
    assert_eq!(
        unknown(&format!("[{plain}, {misspelt}, {misspelt}]")),
        ["randomnes, element [1]", "metadata.x, element [1]"]
    );
    let bundle = format!(r#"{{"chain": "quicknet", "beacons": [{misspelt}]}}"#);
    assert_eq!(unknown(&bundle), ["randomnes, element [0]", "metadata.x, element [0]"]);
    // The fields of a chain info beside those of its round are read, and without a key they are not.
    let key = const_hex::encode(&quicknet().chain.unwrap().public_key);
    let info = r#""period": 3, "schemeID": "bls-unchained-g1-rfc9380""#;
    assert_eq!(unknown(&format!(r#"{{"round": 5, "signature": "", "public_key": "{key}", {info}}}"#)), [""; 0]);
    assert_eq!(
        unknown(&format!(r#"{{"round": 5, "signature": "", {info}}}"#)),
        ["period, element [0]", "schemeID, element [0]"]
    );
}

#[test]
fn a_round_may_name_its_chain() {
    let named = record(r#"{"chain": "quicknet", "round": 5, "signature": "ab"}"#, &DrandOptions::default());
    assert_eq!(named.public_keys, record(r#"{"round": 5, "signature": "ab"}"#, &quicknet()).public_keys);
    let error = read(&br#"{"chain": "mynet", "round": 5, "signature": "ab"}"#[..], &DrandOptions::default());
    assert!(matches!(error, Err(InputError::ChainName { .. })));
}

#[test]
fn a_round_may_carry_its_key() {
    let input = |key: &str| {
        format!(r#"{{"round": 5, "signature": "", "public_key": "{key}", "scheme": "bls-unchained-on-g1"}}"#)
    };
    let record = record(&input("abcd"), &DrandOptions::default());
    assert_eq!(*record.public_keys.as_encoded().unwrap(), [[0xab, 0xcd]]);
    assert_eq!(record.suite.as_deref(), Some("drand-g1-legacy"));
    assert!(matches!(read(input("abcd").as_bytes(), &quicknet()), Err(InputError::ChainMismatch { .. })));
}

#[test]
fn a_bundle_may_carry_its_key_and_may_not_contradict_the_chosen_chain() {
    let fastnet = ChainInfo::well_known("fastnet").unwrap();
    let key = const_hex::encode(&fastnet.public_key);
    let bundle =
        |beside: &str| format!(r#"{{{beside} "public_key": "{key}", "beacons": [{{"round": 5, "signature": "ab"}}]}}"#);
    for beside in ["", r#""schemeID": "bls-unchained-on-g1","#, r#""chain": "fastnet","#, r#""chain": "mynet","#] {
        let record = record(&bundle(beside), &DrandOptions::default());
        assert_eq!(record.public_keys.as_encoded().unwrap()[0], fastnet.public_key, "{beside}");
        assert_eq!(record.suite.as_deref(), Some("drand-g1-legacy"), "{beside}");
        let chosen = read(bundle(beside).as_bytes(), &quicknet());
        assert!(matches!(chosen, Err(InputError::ChainMismatch { .. })), "{beside}");
    }
    let other = format!(r#""chain_info": {{"public_key": "{}"}},"#, "ab".repeat(96));
    for beside in [r#""chain": "quicknet","#, &other] {
        for options in [DrandOptions::default(), quicknet()] {
            let error = read(bundle(beside).as_bytes(), &options).unwrap_err();
            assert!(matches!(error, InputError::ChainInfo { .. }), "{error}");
            assert!(error.to_string().contains("it stands beside "), "{error}");
        }
    }
}

#[test]
fn a_name_of_the_documents_own_yields_to_the_chosen_chain() {
    let input = r#"{"chain": "mynet", "round": 5, "signature": "ab"}"#;
    assert_eq!(record(input, &quicknet()).suite.as_deref(), Some("drand-quicknet"));
}

#[test]
fn a_chain_info_speaks_for_the_rounds_after_it() {
    let key = "ab".repeat(48);
    let input = format!(
        r#"{{"public_key": "{key}", "period": 3, "scheme": "pedersen-bls-unchained"}} {{"round": 5, "signature": "ab"}}"#
    );
    let record = record(&input, &DrandOptions::default());
    assert_eq!(record.suite.as_deref(), Some("drand-unchained"));
    assert_eq!(*record.public_keys.as_encoded().unwrap(), [[0xab; 48]]);
}

#[test]
fn a_chain_info_speaks_for_the_documents_after_it() {
    let key = "ab".repeat(48);
    let info = format!(r#"{{"public_key": "{key}", "period": 3, "scheme": "pedersen-bls-unchained"}}"#);
    let mut rounds = super::read(info.as_bytes(), &DrandOptions::default()).unwrap();
    assert!(rounds.next().is_none());
    let options = DrandOptions { earlier: rounds.chain_info().cloned(), ..DrandOptions::default() };
    let round = r#"{"round": 5, "signature": "ab"}"#;
    assert_eq!(*record(round, &options).public_keys.as_encoded().unwrap(), [[0xab; 48]]);
    // A chain of the document's own, and the caller's, come before it.
    let own = record(r#"{"chain": "quicknet", "round": 5, "signature": "ab"}"#, &options);
    assert_eq!(own.suite.as_deref(), Some("drand-quicknet"));
    let chosen = DrandOptions { chain: quicknet().chain, ..options };
    assert_eq!(record(round, &chosen).suite.as_deref(), Some("drand-quicknet"));
}

#[test]
fn a_bundles_chain_ends_with_the_bundle() {
    let input = r#"[{"chain": "quicknet", "beacons": [{"round": 1, "signature": ""}]}, {"round": 2, "signature": ""}]"#;
    let error = read(input.as_bytes(), &DrandOptions::default()).unwrap_err();
    assert!(matches!(error, InputError::ChainUnknown { place: Place::Element(1) }), "{error}");
}

/// A round stands beside a list of rounds: neither may hide the other.
#[test]
fn a_list_does_not_hide_the_round_beside_it() {
    for list in [r#""beacons": []"#, r#""rounds": [{"round": 2, "signature": "ab"}]"#] {
        let input = format!(r#"{{"round": 1, "signature": "ab", {list}}}"#);
        assert_eq!(reason(&input, &quicknet()), "\"round\" and \"beacons\" are both given; keep one of them");
    }
}

#[test]
fn another_chain_than_the_chosen_one() {
    let input = r#"{"chain": "default", "round": 5, "signature": "ab", "previous_signature": "ab"}"#;
    assert!(matches!(read(input.as_bytes(), &quicknet()), Err(InputError::ChainMismatch { .. })));
}

#[test]
fn a_round_of_another_chain_says_so() {
    // By the length of its signature, before it is missed that it names no previous one.
    let of_quicknet = format!(r#"{{"round": 5, "signature": "{}"}}"#, "ab".repeat(48));
    let check = record(&of_quicknet, &chained()).failed_check().unwrap().clone();
    assert_eq!(check.name, "chain");
    let expected = "its signature has 48 bytes, as those of quicknet and fastnet have, and not 96, so it is a round of another \
                    chain than default";
    assert_eq!(check.detail, expected);
    assert!(record(&of_quicknet, &quicknet()).failed_check().is_none());
    // By what it says, in a bundle too.
    let hash = "8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce";
    for said in [r#""metadata": {"beaconID": "default"}"#.to_owned(), format!(r#""chain_hash": "{hash}""#)] {
        let round = format!(r#"{{"round": 5, "signature": "{}", {said}}}"#, "ab".repeat(48));
        let bundle = format!(r#"{{"chain": "quicknet", "beacons": [{round}]}}"#);
        assert_eq!(record(&bundle, &DrandOptions::default()).failed_check().unwrap().name, "chain", "{said}");
    }
    let named = r#"{"chain": "quicknet", "beacons": [{"round": 5, "signature": "ab", "chain": "default"}]}"#;
    assert_eq!(record(named, &DrandOptions::default()).failed_check().unwrap().name, "chain");
}

/// Each of these was valid under a key that is not that chain's.
#[test]
fn the_name_or_the_hash_of_a_built_in_chain_is_its_keys_alone() {
    let key = "ab".repeat(96);
    let info = format!(r#"{{"public_key": "{key}", "schemeID": "bls-unchained-g1-rfc9380"}}"#);
    let quicknet = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
    let round = |said: &str| format!(r#"{{"round": 5, "signature": "{}" {said}}}"#, "ab".repeat(48));
    let bundle = |beside: &str, said: &str| {
        let input = format!(r#"{{"chain_info": {info}, "beacons": [{}] {beside}}}"#, round(said));
        read(input.as_bytes(), &DrandOptions::default()).map(|mut entries| entries.remove(0).unwrap())
    };
    for said in [
        r#", "chain": "quicknet""#.to_owned(),
        format!(r#", "chain": "{}""#, quicknet.to_uppercase()),
        format!(r#", "chain_hash": "{quicknet}""#),
        format!(r#", "hash": "{quicknet}""#),
        format!(r#", "metadata": {{"beaconID": "mynet", "chain_hash": "{quicknet}"}}"#),
    ] {
        let check = bundle("", &said).unwrap().failed_check().unwrap().clone();
        assert_eq!(check.name, "chain", "{said}");
        assert!(check.detail.contains(&format!("so it is a round of another chain than {key}")), "{}", check.detail);
    }
    // A beacon id is shared, and other names and hashes are the document's own.
    let other = "cd".repeat(32);
    for said in [
        r#", "metadata": {"beaconID": "quicknet"}"#.to_owned(),
        r#", "chain": "mynet""#.to_owned(),
        format!(r#", "chain_hash": "{other}""#),
    ] {
        assert_eq!(bundle("", &said).unwrap().failed_check(), None, "{said}");
    }
    // Beside the rounds.
    for name in ["hash", "chain_hash", "chainHash"] {
        let error = bundle(&format!(r#", "{name}": "{quicknet}""#), "").unwrap_err();
        assert!(error.to_string().contains("it stands beside the chain hash 52db9b"), "{error}");
        assert_eq!(bundle(&format!(r#", "{name}": "{other}""#), "").unwrap().failed_check(), None);
    }
    // The name of one chain and the hash of another.
    let named = format!(r#"{{"chain": "fastnet", "chain_hash": "{quicknet}", "beacons": [{}]}}"#, round(""));
    assert!(matches!(read(named.as_bytes(), &DrandOptions::default()), Err(InputError::ChainInfo { .. })));
    assert!(read(named.replace("fastnet", "quicknet").as_bytes(), &DrandOptions::default()).is_ok());
}

/// Round 2 of quicknet, under the key of fastnet, which has the same message and length.
#[test]
fn a_false_round_is_looked_for_in_the_other_chains() {
    let round = r#"{"round": 2, "signature": "b6b6a585449b66eb12e875b64fcbab3799861a00e4dbf092d99e969a5eac57dd3f798acf61e705fe4f093db926626807"}"#;
    let fastnet = DrandOptions { chain: Some(ChainInfo::well_known("fastnet").unwrap()), ..DrandOptions::default() };
    let claim = record(round, &fastnet).into_claim(None).unwrap();
    assert!(!claim.verify().is_valid());
    assert_eq!(chain_of(&claim), Some("quicknet"));
    let forged = ClaimBytes { messages: Messages::Shared([0; 32].into()), ..claim };
    assert_eq!(chain_of(&forged), None);
    let other = ClaimBytes { suite: "eth2".parse().unwrap(), ..forged };
    assert_eq!(chain_of(&other), None);
}

#[test]
fn a_round_in_base64_is_read_as_the_same_in_hexadecimal() {
    let base64 = r#"{"round": "1", "signature": "jWHZEAVn3kRoJQauoaem+m5Ukc0noKDtNJ72kQrFrCD/e8PgnXwEZWbJ9/PG87EBBJkOfLQkmYID2PfeWG+3+l9gBFQXpDJoT4UJOwbKkcdp8OfKGSaDdeZZwqI1K0ZV", "previousSignature": "F2+TSY6snKM3FQtG0h3VhnPqTjWBGF+GlnLln6TLOQo=", "randomness": "EBKX8cp9xE72CI2UrV+3ugNFXcM9U920ErvEVk7Zhuw=", "metadata": {"beaconID": "default"}}"#;
    let record = record(base64, &chained());
    assert_eq!(record.failed_check(), None);
    assert_eq!(record.checks.len(), 2, "randomness and genesis seed passed");
    assert!(record.into_claim(None).unwrap().verify().is_valid());
    assert!(reason(&base64.replace("jWHZ", "jW!Z"), &chained()).contains("\"signature\": found 'j' at digit 1"));
}

#[test]
fn the_callers_suite_decides_where_the_chain_states_no_scheme() {
    let stating_none = |key: usize, suite: Option<&str>| {
        let chain = ChainInfo::from_json(&format!(r#"{{"public_key": "{}"}}"#, "ab".repeat(key))).unwrap();
        DrandOptions { chain: Some(chain), suite: suite.map(str::to_owned), ..DrandOptions::default() }
    };
    let input = r#"{"round": 5, "signature": "ab", "previous_signature": "cd"}"#;
    let (of_chain, unchained) = (record(input, &chained()), Sha256::digest(5_u64.to_be_bytes()));
    let unchained = Messages::Shared(unchained[..].into());
    // drand's own default.
    let by_drand = record(input, &stating_none(48, None));
    assert_eq!((by_drand.suite.as_deref(), &by_drand.messages), (Some("drand-chained"), &of_chain.messages));
    for (key, suite, messages) in [
        (48, "drand-chained", &of_chain.messages),
        (48, "drand-unchained", &unchained),
        (96, "drand-quicknet", &unchained),
    ] {
        let record = record(input, &stating_none(key, Some(suite)));
        assert_eq!((record.suite, &record.messages), (None, messages), "{suite}");
    }
    for (key, suite, expected) in [
        (96, "drand-chained", "its key of 96 bytes is not of drand-chained, whose keys have 48"),
        (48, "drand-evmnet", "its key of 48 bytes is not of drand-evmnet, whose keys have 128"),
        (48, "eth2", "the suite \"eth2\" does not say what a round signs"),
    ] {
        let error = read(input.as_bytes(), &stating_none(key, Some(suite))).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // A scheme that is stated is the suite.
    for suite in ["eth2", "drand-quicknet", "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_"] {
        assert_eq!(record(input, &DrandOptions { suite: Some(suite.to_owned()), ..chained() }), of_chain);
    }
}

#[test]
fn a_round_on_bn254_signs_its_number_hashed_with_keccak() {
    let evmnet = DrandOptions { chain: Some(ChainInfo::well_known("evmnet").unwrap()), ..DrandOptions::default() };
    let record = record(r#"{"round": 1, "signature": "ab"}"#, &evmnet);
    let message = "6c31fc15422ebad28aaf9089c306702f67540b53c7eea8b7d2941044b027100f";
    assert_eq!(record.messages, Messages::Shared(const_hex::decode(message).unwrap().into()));
    assert_eq!(record.suite.as_deref(), Some("drand-evmnet"));
    assert_eq!(record.public_keys.as_encoded().unwrap()[0].len(), 128);
}

proptest! {
    #[test]
    fn a_written_round_reads_back(round in 1_u64.., signature in prop::collection::vec(any::<u8>(), 0..100)) {
        let hex = const_hex::encode(&signature);
        let record = record(&format!(r#"{{"round": {round}, "signature": "{hex}"}}"#), &quicknet());
        prop_assert_eq!(record.id, Some(Id::number(round)));
        prop_assert_eq!(record.signature, signature);
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = read(bytes.as_slice(), &quicknet());
    }
}
