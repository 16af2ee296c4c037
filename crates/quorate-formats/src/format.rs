//! The formats, and the guess which of them an input has.

mod name;
mod first_object;
mod ssz_shape;
pub(crate) mod foreign;

use std::io::{self, BufRead, Chain, Cursor, Read};

use self::first_object::{CLAIM_FIELDS, FirstObject, PORTAL_FIELDS, has_name, json, without_mark};
use self::ssz_shape::ALTAIR_LONGEST;

pub(crate) use self::first_object::CHAIN_INFO_FIELDS;
pub use self::foreign::Foreign;
pub use self::name::{Format, UnknownFormat};
pub(crate) use self::ssz_shape::SszShape;

/// How many bytes [`peek`] looks at, at most: 64 KiB.
pub const PEEK_LIMIT: usize = 64 << 10;

/// An input whose first bytes have been looked at.
pub type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Guesses the format from the first bytes of an input, as [`guess`] does. Returns the guess and the whole input, those bytes
/// included.
///
/// Reads no further than the first complete line or object, and at most [`PEEK_LIMIT`] bytes, so that a slow pipe of JSON
/// Lines does not have to wait.
///
/// # Errors
/// Reading fails.
pub fn peek<R: BufRead>(mut reader: R) -> io::Result<(Result<Format, Foreign>, Peeked<R>)> {
    let mut prefix = Vec::new();
    let mut scanned = 0;
    while prefix.len() < PEEK_LIMIT {
        let seen = reader.fill_buf()?;
        let piece = &seen[..seen.len().min(PEEK_LIMIT - prefix.len())];
        let used = piece.len();
        let line_ended = piece.contains(&b'\n');
        prefix.extend_from_slice(piece);
        reader.consume(used);
        // The prefix is looked at again only when it has doubled or a line has ended: looking at it after every tiny read
        // would take quadratic time.
        let due = line_ended || prefix.len() >= 2 * scanned;
        if used == 0 || (due && evidence(&prefix).is_some()) {
            break;
        }
        if due {
            scanned = prefix.len();
        }
    }
    Ok((guess(&prefix), Cursor::new(prefix).chain(reader)))
}

/// Guesses the format from the first bytes of an input: JSON Lines unless the bytes are evidence of another format.
///
/// The evidence is the field names of the first object, and of the object in its field `data`, as far as the bytes go. Values are
/// not looked at: they can hold any text. An object with fields of two formats is of neither: whoever wrote it would choose how much of
/// it is checked.
///
/// # Errors
/// The input is something else that is often met: text in another encoding or another notation, or a compressed file; or its first object
/// has fields of two formats ([`Foreign::Ambiguous`]).
pub fn guess(prefix: &[u8]) -> Result<Format, Foreign> {
    evidence(prefix).unwrap_or_else(|| match Foreign::of(prefix) {
        Some(foreign) => Err(foreign),
        None if first_object_has(prefix, &ENVELOPE, &CLAIM_FIELDS) => Ok(Format::Jsonl),
        None if first_object_has(prefix, &ENVELOPE, &BUNDLE_FIELDS) => Ok(Format::Drand),
        None if first_object_has(prefix, &ENVELOPE, &ATTESTATION_FIELDS) => Err(Foreign::BeaconObject),
        None => Ok(Format::Jsonl),
    })
}

/// Whether the first bytes of an input are JSON whose first object has one of these fields, itself or in the object or list of one of
/// the fields `envelopes`, as far as the bytes go.
fn first_object_has(prefix: &[u8], envelopes: &[&str], fields: &[&str]) -> bool {
    json(prefix).is_some_and(|json| FirstObject::scan(json, envelopes).has(fields))
}

/// The format that a claim's text is of as well, and the field that says so; none if it is a claim and nothing else.
pub(crate) fn beside_a_claim(text: &str) -> Option<(Format, &'static str)> {
    FirstObject::scan(text.as_bytes(), &ENVELOPE).signs().find(|(format, _)| *format != Format::Jsonl)
}

const PARQUET_MAGIC: &[u8] = b"PAR1";
/// Fields of drand by which a bundle is known before it ends: it can be longer than what is looked at.
const BUNDLE_FIELDS: [&str; 3] = ["beacons", "rounds", "chain_info"];
/// A field that every full block of Chia has, near its beginning, and no other format.
const CHIA_FIELD: &str = "foliage";
/// In which fields a node of Chia answers with blocks.
const CHIA_ENVELOPES: [&str; 2] = ["block", "blocks"];
/// Fields of the `message` of a beacon block, of an aggregate or a contribution with its proof, and of a validator registration.
const BEACON_MESSAGE_FIELDS: [&str; 3] = ["proposer_index", "aggregator_index", "fee_recipient"];
/// Fields of an attestation or a contribution. A claim could have one of them beside its own, so these names decide last.
const ATTESTATION_FIELDS: [&str; 2] = ["aggregation_bits", "attester_index"];
/// The field of a beacon node's answer whose object or list is the content.
const ENVELOPE: [&str; 1] = ["data"];

/// The format, or what is not a format, if the bytes decide it.
fn evidence(prefix: &[u8]) -> Option<Result<Format, Foreign>> {
    if prefix.starts_with(PARQUET_MAGIC) {
        return Some(Ok(Format::Parquet));
    }
    if SszShape::of(prefix).is_some() || SszShape::is_list(prefix) {
        return Some(Ok(Format::LightClient));
    }
    let Some(json) = json(prefix) else {
        // Text is decided by its second line, which tells YAML from a message with a colon, and an object of Altair in SSZ by its end.
        let text = without_mark(prefix).trim_ascii_start();
        let are_lines_read = *text.first()? != b'#' && text.iter().filter(|byte| **byte == b'\n').count() > 1;
        return match Foreign::of(prefix) {
            Some(Foreign::Binary) if prefix.len() <= ALTAIR_LONGEST => None,
            // A mark of UTF-32 begins as one of UTF-16 does.
            Some(Foreign::Wide(_)) if prefix.len() < 4 => None,
            Some(foreign) => Some(Err(foreign)),
            None => are_lines_read.then_some(Ok(Format::Jsonl)),
        };
    };
    let names = FirstObject::scan(json, &ENVELOPE);
    let mut formats = names.signs();
    if let (Some((one, first)), Some((other, second))) = (formats.next(), formats.next()) {
        return Some(Err(Foreign::Ambiguous { first, second, formats: [one, other] }));
    }
    let signs = |field: &str| has_name(&names.message_fields, field);
    let format = match names.signs().next().map(|(format, _)| format) {
        // Before the end of a claim, a field of another format can follow.
        Some(Format::Jsonl) if !names.closed => return None,
        Some(format @ (Format::Change | Format::Exit | Format::Jsonl)) => format,
        _ if names.has(&PORTAL_FIELDS) => return Some(Err(Foreign::Portal)),
        Some(format @ Format::LightClient) => format,
        _ if names.has(&[CHIA_FIELD]) || FirstObject::scan(json, &CHIA_ENVELOPES).has(&[CHIA_FIELD]) => {
            return Some(Err(Foreign::ChiaBlocks));
        }
        _ if BEACON_MESSAGE_FIELDS.iter().any(|field| signs(field)) => return Some(Err(Foreign::BeaconObject)),
        Some(format @ Format::Deposit) => format,
        _ if !names.closed => return None,
        Some(format @ (Format::Drand | Format::Parquet)) => format,
        None if names.has(&ATTESTATION_FIELDS) => return Some(Err(Foreign::BeaconObject)),
        None => Format::Jsonl,
    };
    Some(Ok(format))
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;
    use quorate_host::text::WideText;

    use super::*;

    #[test]
    fn names_round_trip() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
        let error = "csv".parse::<Format>().unwrap_err().to_string();
        assert!(error.contains("light-client"));
    }

    #[test]
    fn each_format_is_recognised() {
        let cases: [(&str, Format); 37] = [
            ("PAR1\u{15}", Format::Parquet),
            ("", Format::Jsonl),
            (" \n", Format::Jsonl),
            ("hello", Format::Jsonl),
            (r#"{"id": 1}"#, Format::Jsonl),
            // Fields of another format, in what is not the content of an envelope.
            (r#"{"message": "00", "x": {"round": 1}, "data": "y", "z": {"attested_header": {}}}"#, Format::Jsonl),
            (r#"{"data": {"x": 1}, "z": {"attested_header": {}}, "public_keys": []}"#, Format::Jsonl),
            (r#"[{"public_keys": ["00"]"#, Format::Jsonl),
            (r#"{"source": "\"round\":", "x": {"round": 1}}"#, Format::Jsonl),
            (r#"{"round":1,"signature":"00"}"#, Format::Drand),
            ("\u{feff}[\n  {\n    \"signature\" : \"00\",\n    \"round\" : 1\n  }", Format::Drand),
            (r#"{"chain": "quicknet", "chain_info": {"message": "x"}, "beacons": []}"#, Format::Drand),
            (r#"{"public_key":"00","period":3,"schemeID":"x"}"#, Format::Drand),
            (
                r#"{"public_key":"868f005e…","period":30,"genesis_time":1595431050,"hash":"8990e7a9…","groupHash":"176f9349…"}"#,
                Format::Drand,
            ),
            (
                r#"{"beacon_id":"x","chain_hash":"00","genesis_seed":"00","public_key":"00","scheme":"x"}"#,
                Format::Drand,
            ),
            (r#"{"publicKey":"AA==","period":30,"genesisTime":"1595431050","hash":"AA=="}"#, Format::Drand),
            (r#"{"public_key":"00","period":3,"signature":"00"}"#, Format::Jsonl),
            (r#"{"version":"capella","data":{"attested_header":"#, Format::LightClient),
            (r#"[{"attested_header": {}"#, Format::LightClient),
            (r#"{"header": {"beacon": {"message": 1}}, "current_sync_committee": {"#, Format::LightClient),
            (r#"{"data": [{"attested_header": {"#, Format::LightClient),
            (r#"{"data": {"x": {"attested_header": {"}}}"#, Format::Jsonl),
            (r#"{"network":"mainnet","period":1,"pubkeys":["#, Format::LightClient),
            (r#"[{"pubkey": "00", "amount": 1, "deposit_message_root": "#, Format::Deposit),
            (r#"[{"pubkey": "00", "withdrawal_credentials": "00", "fork_version": "#, Format::Deposit),
            (r#"[{"message": {"validator_index": "5", "from_bls_pubkey": "#, Format::Change),
            (
                r#"{"data": [{"signature": "00", "message": {"to_execution_address": "", "from_bls_pubkey": "#,
                Format::Change,
            ),
            (r#"{"message": {"epoch": "1", "validator_index": "2"}, "#, Format::Exit),
            (r#"{"data": {"message": {"validator_index": "2", "epoch": "1"}, "#, Format::Exit),
            (r#"{"message": {"validator_index": "2", "x": {"epoch": 1}}, "signature": ""}"#, Format::Jsonl),
            (
                r#"{"message": "{\"epoch\": 1, \"validator_index\": 2}", "x": {"epoch": 1, "validator_index": 2}"#,
                Format::Jsonl,
            ),
            (r#"{"message": {}, "epoch": 1, "validator_index": 2}"#, Format::Jsonl),
            (r#"{"message": [{"epoch": 1, "validator_index": 2}], "#, Format::Jsonl),
            ("\u{fffd}hello\n{\"round\": 1}", Format::Jsonl),
            ("curl: (6) Could not resolve host\n", Format::Jsonl),
            // Zeros at the end, as a crash leaves them.
            ("{\"id\": 1}\n\0\0\0\0", Format::Jsonl),
            ("{\"public_key\": \"\0\0\0\0\0\0\0\0", Format::Jsonl),
        ];
        for (input, format) in cases {
            assert_eq!(guess(input.as_bytes()), Ok(format), "{input}");
        }
        // A first object that is longer than what is looked at.
        let rounds = r#"{"round": 1, "signature": "00"}, "#.repeat(PEEK_LIMIT / 20);
        let keys = r#""00", "#.repeat(PEEK_LIMIT / 4);
        for (input, format) in [
            (format!(r#"{{"chain_info": {{"public_key": "00"}}, "beacons": [{rounds}"#), Format::Drand),
            (format!("\u{feff}{{\n  \"chain\": \"quicknet\",\n  \"rounds\": [{rounds}"), Format::Drand),
            (format!(r#"{{"round": 1, "x": [{keys}"#), Format::Jsonl),
            (format!(r#"hello {{"rounds": [{rounds}"#), Format::Jsonl),
            (format!(r#"{{"x": 3, "public_keys": [{keys}"#), Format::Jsonl),
        ] {
            let (peeked, _) = peek(input.as_bytes()).unwrap();
            assert_eq!((peeked, guess(&input.as_bytes()[..PEEK_LIMIT])), (Ok(format), Ok(format)), "{:.80}", input);
        }
    }

    /// Whoever writes a file must not choose how much of it is checked. Each of these was read as claims.
    #[test]
    fn an_object_with_fields_of_two_formats_is_of_neither() {
        use Format::{Change, Deposit, Drand, Exit, Jsonl, LightClient};
        let cases: [(&str, [(Format, &str); 2]); 13] = [
            (
                r#"{"message":"00","suite":"eth2","public_key":"aa","signature":"bb","id":1,"version":"deneb","data":{"attested_header":{}}}"#,
                [(Jsonl, "message"), (LightClient, "attested_header")],
            ),
            (
                r#"{"message":"00","data":[{"x":1},{"sync_aggregate":{}}]}"#,
                [(Jsonl, "message"), (LightClient, "sync_aggregate")],
            ),
            (r#"[{"attested_header":{},"message":"00"}]"#, [(Jsonl, "message"), (LightClient, "attested_header")]),
            // An escape hides nothing.
            (
                r#"{"message":"00","\u0064ata":{"attested\u005fheader":{}}}"#,
                [(Jsonl, "message"), (LightClient, "attested_header")],
            ),
            (
                r#"{"messages":[],"pubkey":"00","deposit_data_root":"00"}"#,
                [(Jsonl, "messages"), (Deposit, "deposit_data_root")],
            ),
            (
                r#"{"fork_version":"00","withdrawal_credentials":"00","message":"00"}"#,
                [(Jsonl, "message"), (Deposit, "withdrawal_credentials")],
            ),
            (r#"{"round": 1, "message": "00", "signature""#, [(Jsonl, "message"), (Drand, "round")]),
            (r#"{"public_keys": [], "rounds": 3}"#, [(Jsonl, "public_keys"), (Drand, "rounds")]),
            (
                r#"{"message":{"from_bls_pubkey":"00"},"public_keys":[]}"#,
                [(Change, "from_bls_pubkey"), (Jsonl, "public_keys")],
            ),
            (
                r#"{"message":"00","data":[{"message":{"validator_index":1,"epoch":2}}]}"#,
                [(Exit, "epoch"), (Jsonl, "message")],
            ),
            (r#"{"attested_header":{},"round":1}"#, [(LightClient, "attested_header"), (Drand, "round")]),
            (
                r#"{"deposit_message_root":"00","sync_aggregate":1}"#,
                [(LightClient, "sync_aggregate"), (Deposit, "deposit_message_root")],
            ),
            (
                r#"{"public_key":"00","genesis_time":1,"pubkeys":[]}"#,
                [(LightClient, "pubkeys"), (Drand, "genesis_time")],
            ),
        ];
        for (input, [(one, first), (other, second)]) in cases {
            let found = Err(Foreign::Ambiguous { first, second, formats: [one, other] });
            assert_eq!(guess(input.as_bytes()), found, "{input}");
            // However few bytes a read returns.
            let (peeked, _) = peek(BufReader::with_capacity(5, input.as_bytes())).unwrap();
            let decided_early = matches!(peeked, Ok(LightClient | Deposit | Change | Exit));
            assert!(peeked == found || decided_early, "{input}: {peeked:?}");
        }
        let message = guess(cases[0].0.as_bytes()).unwrap_err().to_string();
        assert!(
            message.starts_with(
                "found an object with the field \"message\" of the format jsonl and the field \"attested_header\""
            ),
            "{message}"
        );
    }

    #[test]
    fn utf_32_is_not_called_utf_16_however_few_bytes_a_read_returns() {
        for (text, wide) in [
            (&b"\xff\xfe\0\0{\0\0\0\"\0\0\0"[..], WideText::Utf32),
            (b"\0\0\xfe\xff\0\0\0{\0\0\0\"", WideText::Utf32),
            (b"\xff\xfe{\0\"\0", WideText::Utf16),
            (b"\xff\xfe", WideText::Utf16),
        ] {
            for capacity in [1, 2, 3, 4, 64] {
                let guessed = peek(io::BufReader::with_capacity(capacity, text)).unwrap().0;
                assert_eq!(guessed, Err(Foreign::Wide(wide)), "{text:?}, {capacity}");
            }
        }
    }

    #[test]
    fn what_is_often_met_in_place_of_claims_is_named() {
        let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>();
        let cases: [(&[u8], Foreign); 29] = [
            (&[0x1f, 0x8b, 8, 0], Foreign::Packed("gzip")),
            (&[0x28, 0xb5, 0x2f, 0xfd, 0], Foreign::Packed("zstd")),
            (&[0x5e, 0x2a, 0x4d, 0x18, 4, 0, 0, 0], Foreign::Packed("zstd")),
            (&[0x02, 0x21, 0x4c, 0x18, 9], Foreign::Packed("lz4")),
            (b"e2\0\0\0\0\0\0\x01\0", Foreign::Era),
            (b"ARROW1\0\0\x10\0\0\0", Foreign::ArrowFile),
            (b"PARE\x15\x04", Foreign::EncryptedParquet),
            (b"\xfd7zXZ\0\0", Foreign::Packed("xz")),
            (b"BZh91AY", Foreign::Packed("bzip2")),
            (b"PK\x03\x04", Foreign::Packed("zip")),
            (&utf16("\u{feff}{\"id\": 1}"), Foreign::Wide(WideText::Utf16)),
            (&utf16("{\"id\": 1}"), Foreign::Wide(WideText::Utf16)),
            (b"\0{\0\"\0i\0d\0\"\0:\0 \x001\0}", Foreign::Wide(WideText::Utf16)),
            (b"\xff\xfe\0\0{\0\0\0\"\0\0\0", Foreign::Wide(WideText::Utf32)),
            (b"\0\0\xfe\xff\0\0\0{\0\0\0\"", Foreign::Wide(WideText::Utf32)),
            (b"---\npublic_key: 00\n", Foreign::Yaml),
            (b"# claims\n- public_key: 00\n  message: 01\n", Foreign::Yaml),
            (b"round: 5\nsignature: 00\n", Foreign::Yaml),
            (b"input: {pubkey: '0xa4', message: '0x56'}\noutput: true\n", Foreign::Yaml),
            (b"input:\n  pubkeys:\n  - '0xa4'\noutput: true\n", Foreign::Yaml),
            (b"validator_index: 5\nepoch: 7\n", Foreign::Yaml),
            (b"content_key: \"0x11\"\ncontent_value: \"0x08\"\n", Foreign::Portal),
            (b"- content_key: \"0x11\"\n", Foreign::Portal),
            (b"{\"content_key\": \"0x11\", \"content_value\": \"0x08\"}", Foreign::Portal),
            (b"public_key,message,signature\n00,01,02\n", Foreign::Csv),
            (b"\"id\";\"public_key\";\"message\"\n", Foreign::Csv),
            (b"\xef\xbb\xbfpublic_key\tmessage\tsignature\r\n", Foreign::Csv),
            (b"\x7fELF\x02\x01\x01\0\0\0", Foreign::Binary),
            (&[7, 0, 0, 0, 9], Foreign::Binary),
        ];
        for (input, foreign) in cases {
            assert_eq!(guess(input), Err(foreign), "{}", String::from_utf8_lossy(input));
            assert!(foreign.to_string().contains(';'), "what to do: {foreign}");
            let (peeked, mut whole) = peek(BufReader::with_capacity(3, input)).unwrap();
            let mut bytes = Vec::new();
            whole.read_to_end(&mut bytes).unwrap();
            assert_eq!((peeked, bytes.as_slice()), (Err(foreign), input));
        }
    }

    /// Pretty-printed or not, and whether or not it ends within what is looked at.
    #[test]
    fn an_object_of_the_beacon_api_is_named() {
        let block = r#"{"version":"electra","data":{"message":{"slot":"1","proposer_index":"2","body":{"graffiti":"00"#;
        let attestation = r#"{"aggregation_bits":"0x01","data":{"slot":"1"},"signature":"00","committee_bits":"01"}"#;
        let contribution = r#"{"data":{"slot":"1","subcommittee_index":"2","aggregation_bits":"01","signature":"00"}}"#;
        let registration = r#"[{"message":{"fee_recipient":"00","pubkey":"00"},"signature":"00"}]"#;
        let aggregate = r#"[{"message":{"aggregator_index":"1","aggregate":{}},"signature":"00"}]"#;
        let many = format!(r#"{{"data":[{attestation}{}"#, format!(",{attestation}").repeat(PEEK_LIMIT / 80));
        let pretty = block.replace(',', ",\n  ");
        for object in [block, &pretty, attestation, contribution, registration, aggregate, &many] {
            let prefix = &object.as_bytes()[..object.len().min(PEEK_LIMIT)];
            assert_eq!(guess(prefix), Err(Foreign::BeaconObject), "{object:.80}");
        }
        for block in
            [r#"{"blocks":[{"finished_sub_slots":[],"foliage":{"#, r#"{"block":{"foliage":{}},"success":true}"#]
        {
            assert_eq!(guess(block.as_bytes()), Err(Foreign::ChiaBlocks), "{block}");
        }
        let claim = r#"{"aggregation_bits":"0x01","public_keys":["00"],"message":"00","signature":"00"}"#;
        assert_eq!(guess(claim.as_bytes()), Ok(Format::Jsonl), "a claim may have any field beside its own");
        for foreign in [Foreign::BeaconObject, Foreign::ChiaBlocks] {
            assert!(foreign.to_string().contains("; "), "what to do: {foreign}");
        }
    }

    #[test]
    fn peeking_consumes_nothing() {
        let input = format!("{}{{\"round\": 1}}{}", "\n".repeat(5000), " ".repeat(100_000));
        let (format, mut whole) = peek(BufReader::with_capacity(11, input.as_bytes())).unwrap();
        assert_eq!(format, Ok(Format::Drand));
        let mut text = String::new();
        whole.read_to_string(&mut text).unwrap();
        assert_eq!(text, input);
    }

    #[test]
    fn peeking_does_not_wait_after_the_first_line() {
        struct Stalls;
        impl Read for Stalls {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                panic!("asked for more than the first line")
            }
        }
        let line = "{\"id\": 1, \"public_key\": \"00\"}\n";
        let (format, _) = peek(BufReader::new(line.as_bytes().chain(Stalls))).unwrap();
        assert_eq!(format, Ok(Format::Jsonl));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = guess(&bytes);
        }

        #[test]
        fn no_json_makes_it_panic(text in r#"[\[{}\],:"a \\]{0,40}"#) {
            let _ = guess(text.as_bytes());
        }
    }
}
