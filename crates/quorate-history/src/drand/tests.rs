use std::io::BufReader;

use quorate::{MinPk, SecretKey};
use sha2::{Digest, Sha256};

use super::*;

const SEED: [u8; 32] = [9; 32];

fn secret() -> SecretKey<MinPk> {
    SecretKey::key_gen(MinPk::DrandChained, &[3; 32], b"").unwrap()
}

/// The chain info of a chained network with a key of our own.
fn info() -> String {
    let key = const_hex::encode(secret().public_key().to_bytes());
    let seed = const_hex::encode(SEED);
    format!(r#"{{"public_key":"{key}","groupHash":"{seed}","schemeID":"pedersen-bls-chained"}}"#)
}

/// Rounds from 1 on, one on each line.
fn lines(count: u64) -> Vec<String> {
    let mut previous = SEED.to_vec();
    let line = |round: u64| {
        let message = Sha256::digest([&previous[..], &round.to_be_bytes()].concat());
        let signature = secret().sign(MinPk::DrandChained, &message).to_bytes().to_vec();
        let before = std::mem::replace(&mut previous, signature);
        format!(
            r#"{{"round":{round},"signature":"{}","previous_signature":"{}","randomness":"{}"}}"#,
            const_hex::encode(&previous),
            const_hex::encode(before),
            const_hex::encode(Sha256::digest(&previous))
        )
    };
    (1..=count).map(line).collect()
}

fn text<'a>(lines: impl IntoIterator<Item = &'a String>) -> String {
    let mut text = info();
    for line in lines {
        text.push('\n');
        text.push_str(line);
    }
    text
}

type Entries = Vec<Result<RoundClaim, Malformed>>;

fn read_all(text: &str) -> (Entries, Vec<RoundSpan>) {
    // A buffer of 7 bytes puts a refill inside every token.
    let mut rounds = read(BufReader::with_capacity(7, text.as_bytes()), &DrandOptions::default());
    let entries = rounds.by_ref().map(Result::unwrap).collect();
    (entries, rounds.into_spans())
}

/// The rounds that are invalid, and why.
fn invalid(entries: &Entries) -> Vec<(u64, String)> {
    let claims = entries.iter().map(|entry| &entry.as_ref().unwrap().claim);
    let reason = |claim: &ChainClaim| match &claim.failed {
        Some(check) => {
            assert!(claim.claim.public_keys.is_empty() && !claim.claim.verify().is_valid());
            Some((claim.slot, format!("{}: {}", check.name, check.detail)))
        }
        None => (!claim.claim.verify().is_valid()).then(|| (claim.slot, "the signature".to_owned())),
    };
    claims.filter_map(reason).collect()
}

fn ranges(ranges: &[RoundRange]) -> Vec<String> {
    ranges.iter().map(ToString::to_string).collect()
}

#[test]
fn a_whole_chained_network() {
    let text = text(&lines(5));
    let (entries, spans) = read_all(&text);
    assert_eq!(invalid(&entries), []);
    let places: Vec<Place> = entries.iter().map(|entry| entry.as_ref().unwrap().place).collect();
    assert_eq!(places, [0, 1, 2, 3, 4].map(Place::Element));
    let claim = &entries[4].as_ref().unwrap().claim;
    assert_eq!((claim.kind.name(), claim.index.to_string().as_str()), ("beacon", "0"));
    assert_eq!(claim.kind.place(claim.slot).to_string(), "round 5");
    assert_eq!(spans.len(), 1);
    assert_eq!((spans[0].first, spans[0].last, spans[0].before.as_deref()), (1, 5, Some(&SEED[..])));
    assert_eq!(spans[0].signature, claim.claim.signature);
    let joined = join(spans);
    assert!(joined.is_whole());
    assert_eq!(joined.range.unwrap().to_string(), "rounds 1 to 5");
}

/// A list on several lines, several rounds on one line, and a bundle on its own line: all are the same rounds.
#[test]
fn rounds_that_do_not_stand_on_a_line_each() {
    let rounds = lines(4);
    let list = format!("\u{feff}{}\n\n[\n{}\n]\n", info(), rounds.join(",\n"));
    let one_line = format!("{}\n{}\n", info(), rounds.join(" "));
    let mixed = format!("{}\r\n{}\n{}\n[{},\n{}]", info(), rounds[0], rounds[1], rounds[2], rounds[3]);
    let bundle = format!(r#"{{"chain_info":{},"beacons":[{}]}}"#, info(), rounds.join(","));
    for text in [list, one_line, mixed, bundle] {
        let (entries, spans) = read_all(&text);
        assert_eq!(invalid(&entries), [], "{text}");
        let places: Vec<Place> = entries.iter().map(|entry| entry.as_ref().unwrap().place).collect();
        assert_eq!(places, [0, 1, 2, 3].map(Place::Element));
        assert!(join(spans).is_whole());
    }
}

/// The second network's round is signed right, but not over the round before it in this file.
#[test]
fn broken_link_is_named_with_both_rounds() {
    let mut rounds = lines(5);
    let other = format!("{:096x}", 7).repeat(2);
    let signature = |line: &str| line.split('"').nth(5).unwrap().to_owned();
    let second = signature(&rounds[1]);
    // Without its randomness nothing else would be wrong with the claim of round 2 but the pairing.
    rounds[1] = format!(r#"{{"round":2,"signature":"{other}","previous_signature":"{}"}}"#, signature(&rounds[0]));
    let (entries, spans) = read_all(&text(&rounds));
    let expected =
        format!("previous_signature: round 3 names the signature {second} for round 2, but that round has {other}");
    assert_eq!(invalid(&entries), [(2, "the signature".to_owned()), (3, expected)]);
    assert_eq!(spans.len(), 1);
}

#[test]
fn gaps_and_doubles_are_reported_and_their_rounds_verified() {
    let rounds = lines(9);
    let order = [1, 2, 5, 6, 6, 4, 9];
    let (entries, spans) = read_all(&text(order.map(|round: usize| &rounds[round - 1])));
    assert_eq!(entries.len(), order.len());
    assert_eq!(invalid(&entries), []);
    let joined = join(spans);
    assert_eq!(ranges(&joined.gaps), ["round 3", "rounds 7 to 8"]);
    assert_eq!(ranges(&joined.doubles), ["round 6"]);
    assert_eq!((joined.broken.len(), joined.foreign.len(), joined.is_whole()), (0, 0, false));
}

#[test]
fn files_that_overlap_contain_each_other_or_do_not_chain() {
    let rounds = lines(8);
    let span = |first: usize, last: usize| read_all(&text(&rounds[first - 1..last])).1.remove(0);
    assert!(join([span(5, 8), span(1, 4)]).is_whole());
    let joined = join([span(1, 5), span(4, 8)]);
    assert_eq!((ranges(&joined.doubles), joined.range.unwrap().last), (vec!["rounds 4 to 5".to_owned()], 8));
    let joined = join([span(1, 6), span(2, 3), span(8, 8)]);
    assert_eq!((ranges(&joined.doubles), ranges(&joined.gaps)), (vec!["rounds 2 to 3".into()], vec!["round 7".into()]));
    let joined = join([span(1, 4), RoundSpan { before: Some(vec![0xab]), ..span(5, 8) }]);
    let broken = joined.broken[0].to_string();
    assert!(broken.starts_with("round 5 names the signature ab for round 4, but that round has "), "{broken}");
    assert!(!joined.is_whole());
    assert!(!join([]).is_whole());
    let last = RoundSpan { first: u64::MAX, last: u64::MAX, ..span(1, 1) };
    assert_eq!(ranges(&join([span(1, 1), last.clone(), last]).gaps), [format!("rounds 2 to {}", u64::MAX - 1)]);
}

#[test]
fn rounds_of_another_chain() {
    let foreign = r#"{"chain":"quicknet","round":6,"signature":"ab"}"#.to_owned();
    let rounds = lines(7);
    let (entries, spans) = read_all(&text([&rounds[3], &rounds[4], &foreign, &rounds[5], &rounds[6]]));
    assert_eq!(invalid(&entries), [(6, "the signature".to_owned())]);
    let joined = join(spans);
    assert_eq!(joined.foreign.len(), 1);
    assert_eq!((joined.foreign[0].suite.name(), joined.foreign[0].first), ("drand-quicknet", 6));
    assert_eq!((joined.range.unwrap().to_string().as_str(), joined.is_whole()), ("rounds 4 to 7", false));
    // Where the caller names the chain, it is an error, which names the place.
    let options =
        DrandOptions { chain: Some(drand::ChainInfo::from_json(&info()).unwrap()), ..DrandOptions::default() };
    let text = text([&rounds[3], &foreign]);
    let error = read(text.as_bytes(), &options).find_map(Result::err).unwrap().to_string();
    assert!(error.starts_with("element [1]: the document's chain has the public key 83cf0f28"), "{error}");
}

#[test]
fn randomness_and_genesis_seed_that_lie() {
    let mut rounds = lines(3);
    rounds[1] = rounds[1].replace("\"randomness\":\"", "\"randomness\":\"00");
    rounds[0] = rounds[0].replace(&const_hex::encode(SEED), &const_hex::encode([8; 32]));
    let found = invalid(&read_all(&text(&rounds)).0);
    let names: Vec<_> = found.iter().map(|(round, reason)| (*round, reason.split(':').next().unwrap())).collect();
    assert_eq!(names, [(1, "genesis_seed"), (2, "randomness")]);
}

#[test]
fn malformed_lines_are_reported_and_leave_a_gap() {
    let mut rounds = lines(4);
    rounds[1] = r#"{"round": 2}"#.to_owned();
    let (entries, spans) = read_all(&text(&rounds));
    let malformed = entries[1].as_ref().unwrap_err();
    assert_eq!(malformed.place, Place::Element(1));
    assert!(malformed.reason.contains("missing field `signature`"), "{malformed}");
    assert_eq!(ranges(&join(spans).gaps), ["round 2"]);
}

/// A file that ends in the middle of a line.
#[test]
fn a_truncated_file_is_an_error_after_its_whole_rounds() {
    let text = text(&lines(3));
    let mut rounds = read(&text.as_bytes()[..text.len() - 20], &DrandOptions::default());
    assert!(rounds.by_ref().take(2).all(|entry| entry.is_ok_and(|round| round.is_ok())));
    assert!(matches!(rounds.next(), Some(Err(InputError::Truncated { .. }))));
    assert!(rounds.next().is_none());
    assert_eq!(rounds.into_spans()[0].last, 2);
}

/// Lines are counted from the beginning of the file, also where a value goes on over several of them.
#[test]
fn what_is_not_json_is_named_by_its_line() {
    let rounds = text(&lines(3));
    for (wrong, place) in [
        ("garbage", "at line 5, column 1 it is not JSON: expected value"),
        ("{} garbage", "at line 5, column 4 it is not JSON: expected value"),
        ("{\n\ngarbage", "at line 7, column 1 it is not JSON: key must be a string"),
        ("{\n", "ends in the middle, at line 7, column 0"),
    ] {
        let text = format!("{rounds}\n{wrong}\n");
        let error = read(text.as_bytes(), &DrandOptions::default()).find_map(Result::err).unwrap().to_string();
        assert!(error.contains(place), "{error}");
    }
    let text = [rounds.as_bytes(), b"\n\xff\n"].concat();
    let error = read(&text[..], &DrandOptions::default()).find_map(Result::err).unwrap().to_string();
    assert!(error.contains("byte 1 is not UTF-8, counted from the beginning of line 5"), "{error}");
    // What follows is not read, whatever its length.
    let endless = BufReader::new(std::io::Read::chain(&b"garbage\n"[..], std::io::repeat(b' ')));
    let error = read(endless, &DrandOptions::default()).next().unwrap().unwrap_err().to_string();
    assert!(error.contains("at line 1, column 1 it is not JSON: expected value"), "{error}");
}

#[test]
fn rounds_out_of_order_take_bounded_memory() {
    let options = DrandOptions { chain: Some(drand::ChainInfo::well_known("quicknet").unwrap()), ..Default::default() };
    let many = SPANS_LIMIT as u64 + 10;
    let text: String = (1..=many).rev().map(|round| format!("{{\"round\":{round},\"signature\":\"\"}}\n")).collect();
    let error = read(text.as_bytes(), &options).find_map(Result::err).unwrap().to_string();
    assert!(error.contains("in more than 65536 pieces") && error.contains("sort them"), "{error}");
}

/// A claim with a failed check has no keys, and must not be valid for who does not look at the check.
#[test]
fn a_claim_without_keys_is_invalid_under_every_suite_of_drand() {
    let suites: Vec<AnySuite> = AnySuite::all().filter(|suite| suite.name().starts_with("drand-")).collect();
    assert_eq!(suites.len(), 5);
    for suite in suites {
        // The identity, as each group writes it, among others.
        for signature in [[&[0xc0][..], &[0; 95]].concat(), [&[0xc0][..], &[0; 47]].concat(), vec![0; 64], vec![0; 128]]
        {
            let claim = quorate::ClaimBytes {
                suite,
                public_keys: Vec::new().into(),
                messages: quorate::Messages::Shared([7; 32].into()),
                signature,
                source: None,
            };
            assert!(!claim.verify().is_valid(), "{}", suite.name());
        }
    }
}

/// Each scheme has its own suite and its own message; the G2 tag of fastnet is a trap.
#[test]
fn unchained_networks_of_every_scheme() {
    let Some(folder) = quorate_lab::vectors::path("06_drand") else { return };
    let mut suites = std::collections::BTreeMap::new();
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "json")) {
        let text = std::fs::read_to_string(path).unwrap();
        // A development network of this one hashes under a tag of its own, which no scheme of drand's has.
        if !text.contains("\"beacons\"") || path.ends_with("bn254_devnet-kevincharm-bls-bn254.json") {
            continue;
        }
        let (entries, spans) = read_all(&text);
        assert_eq!(invalid(&entries), [], "{}", path.display());
        *suites.entry(spans[0].suite.name()).or_insert(0) += entries.len();
        // A byte of each message, by way of the round, and of each signature.
        for entry in entries.iter().step_by(10) {
            let mut claim = entry.as_ref().unwrap().claim.claim.clone();
            *claim.signature.last_mut().unwrap() ^= 1;
            assert!(!claim.verify().is_valid(), "{}", path.display());
        }
        if path.ends_with("fastnet_800-900.json") {
            assert!(join(spans).is_whole());
        }
    }
    let suites: Vec<_> = suites.into_iter().collect();
    println!("{suites:?}");
    let names: Vec<_> = suites.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["drand-chained", "drand-evmnet", "drand-g1-legacy", "drand-quicknet", "drand-unchained"]);
}

#[test]
fn rounds_that_were_asked_for_and_are_not_given_are_missing() {
    let range = |first, last| RoundRange { first, last };
    let joined = JoinedRounds { range: Some(range(5, 20)), gaps: vec![range(8, 9)], ..JoinedRounds::default() };
    for (asked, missing) in [
        (range(5, 7), vec![]),
        (range(1, 7), vec![range(1, 4)]),
        (range(7, 8), vec![range(8, 8)]),
        (range(1, u64::MAX), vec![range(1, 4), range(8, 9), range(21, u64::MAX)]),
        (range(30, 31), vec![range(30, 31)]),
    ] {
        assert_eq!(joined.missing(asked), missing, "{asked}");
    }
    assert_eq!(joined.faults(Some(range(1, 7))), ["rounds 1 to 4: asked for, and not given"]);
    assert_eq!(joined.faults(None), ["rounds 8 to 9: missing between the rounds that are given"]);
    assert_eq!(JoinedRounds::default().missing(range(1, 2)), [range(1, 2)]);
}

#[test]
fn rounds_are_asked_for_as_two_numbers() {
    assert_eq!("3-9".parse(), Ok(RoundRange { first: 3, last: 9 }));
    assert_eq!("7".parse(), Ok(RoundRange { first: 7, last: 7 }));
    for text in ["", "0-3", "9-3", "1-", "-3", "1-2-3", "a", "1..3", "99999999999999999999"] {
        assert!(text.parse::<RoundRange>().is_err(), "{text}");
    }
}
