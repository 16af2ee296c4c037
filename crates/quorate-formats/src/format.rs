//! The formats, and the guess which of them an input has.

use std::fmt;
use std::io::{self, BufRead, Chain, Cursor, Read};
use std::str::FromStr;

use thiserror::Error;

/// Editors on Windows write it at the start of a file. JSON does not allow it there, so the readers skip it.
pub(crate) const BYTE_ORDER_MARK: &str = "\u{feff}";

/// How many bytes [`peek`] looks at, at most: 64 KiB.
pub const PEEK_LIMIT: usize = 64 << 10;

/// A format of claims. The reader of each is a module of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "the command line matches all of them")]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// One row a claim.
    Parquet,
    /// Rounds of a drand chain.
    Drand,
    /// Beacon API light-client objects.
    LightClient,
}

impl Format {
    /// All of them, in the order in which they are documented.
    pub const ALL: [Self; 4] = [Self::Jsonl, Self::Parquet, Self::Drand, Self::LightClient];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Drand => "drand",
            Self::LightClient => "light-client",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("found the format {0:?}, expected jsonl, parquet, drand or light-client")]
pub struct UnknownFormat(String);

/// An input whose first bytes have been looked at.
pub type Peeked<R> = Chain<Cursor<Vec<u8>>, R>;

/// Guesses the format from the first bytes of an input. Returns the format and the whole input, those bytes included.
///
/// Reads no further than the first complete line or object, and at most [`PEEK_LIMIT`] bytes, so that a slow pipe of JSON
/// Lines does not have to wait.
///
/// # Errors
/// Reading fails.
pub fn peek<R: BufRead>(mut reader: R) -> io::Result<(Format, Peeked<R>)> {
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
/// The evidence is the field names of the first object, and of the object in its field `data`. Values are not looked at: they
/// can hold any text.
#[must_use]
pub fn guess(prefix: &[u8]) -> Format {
    evidence(prefix).unwrap_or(Format::Jsonl)
}

const PARQUET_MAGIC: &[u8] = b"PAR1";
const LIGHT_CLIENT_FIELDS: [&str; 5] =
    ["attested_header", "current_sync_committee", "next_sync_committee", "sync_aggregate", "pubkeys"];
const DRAND_FIELDS: [&str; 6] = ["round", "beacons", "rounds", "chain_info", "previous_signature", "schemeID"];
/// A claim may have a field named `round` too, so these names decide first.
const CLAIM_FIELDS: [&str; 3] = ["message", "messages", "public_keys"];

/// The format, if the bytes decide it.
fn evidence(prefix: &[u8]) -> Option<Format> {
    if prefix.starts_with(PARQUET_MAGIC) {
        return Some(Format::Parquet);
    }
    let json = prefix.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(prefix);
    let first = *json.iter().find(|byte| !byte.is_ascii_whitespace())?;
    if first != b'{' && first != b'[' {
        return Some(Format::Jsonl);
    }
    let names = FirstObject::scan(json);
    let has = |fields: &[&str]| fields.iter().any(|field| names.fields.contains(&field.as_bytes()));
    if has(&CLAIM_FIELDS) {
        Some(Format::Jsonl)
    } else if has(&LIGHT_CLIENT_FIELDS) {
        Some(Format::LightClient)
    } else if !names.closed {
        None
    } else if has(&DRAND_FIELDS) {
        Some(Format::Drand)
    } else {
        Some(Format::Jsonl)
    }
}

/// The field names of the first object, as far as the bytes go.
struct FirstObject<'a> {
    fields: Vec<&'a [u8]>,
    closed: bool,
}

impl<'a> FirstObject<'a> {
    fn scan(json: &'a [u8]) -> Self {
        let mut names = Self { fields: Vec::new(), closed: false };
        // The depths at which names count: that of the first object, and that of its `data`, which is an envelope.
        let mut object_depth = None;
        let mut data_depth = None;
        let mut depth = 0_usize;
        let mut at = 0;
        while let Some(byte) = json.get(at) {
            match byte {
                b'{' | b'[' => {
                    depth += 1;
                    if *byte == b'{' && object_depth.is_none() {
                        object_depth = Some(depth);
                    }
                }
                b'}' | b']' => {
                    if object_depth == Some(depth) {
                        names.closed = true;
                        return names;
                    }
                    depth = depth.saturating_sub(1);
                }
                b'"' => {
                    let Some(end) = string_end(json, at + 1) else { return names };
                    let name = &json[at + 1..end];
                    at = end;
                    let counts = object_depth == Some(depth) || data_depth == Some(depth);
                    if counts && is_field(&json[end + 1..]) {
                        names.fields.push(name);
                        if name == b"data" && object_depth == Some(depth) {
                            data_depth = Some(depth + envelope_depth(&json[end + 1..]));
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        names
    }
}

/// Where the string that starts at `at` ends: the index of its closing quote.
fn string_end(json: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match json.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// How much deeper the fields of an envelope's content lie: one for `: {`, two for `: [{`.
fn envelope_depth(rest: &[u8]) -> usize {
    let content = rest.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != b':');
    if content == Some(&b'[') { 2 } else { 1 }
}

/// A string is a field name when a colon follows.
fn is_field(rest: &[u8]) -> bool {
    rest.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b':')
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

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
        let cases: [(&str, Format); 18] = [
            ("PAR1\u{15}", Format::Parquet),
            ("", Format::Jsonl),
            (" \n", Format::Jsonl),
            ("hello", Format::Jsonl),
            (r#"{"id": 1}"#, Format::Jsonl),
            (r#"{"round": 1, "message": "00", "signature""#, Format::Jsonl),
            (r#"[{"public_keys": ["00"]"#, Format::Jsonl),
            (r#"{"source": "\"round\":", "x": {"round": 1}}"#, Format::Jsonl),
            (r#"{"round":1,"signature":"00"}"#, Format::Drand),
            ("\u{feff}[\n  {\n    \"signature\" : \"00\",\n    \"round\" : 1\n  }", Format::Drand),
            (r#"{"chain": "quicknet", "chain_info": {"message": "x"}, "beacons": []}"#, Format::Drand),
            (r#"{"public_key":"00","period":3,"schemeID":"x"}"#, Format::Drand),
            (r#"{"version":"capella","data":{"attested_header":"#, Format::LightClient),
            (r#"[{"attested_header": {}"#, Format::LightClient),
            (r#"{"header": {"beacon": {"message": 1}}, "current_sync_committee": {"#, Format::LightClient),
            (r#"{"data": [{"attested_header": {"#, Format::LightClient),
            (r#"{"data": {"x": {"attested_header": {"}}}"#, Format::Jsonl),
            (r#"{"network":"mainnet","period":1,"pubkeys":["#, Format::LightClient),
        ];
        for (input, format) in cases {
            assert_eq!(guess(input.as_bytes()), format, "{input}");
        }
    }

    #[test]
    fn peeking_consumes_nothing() {
        let input = format!("{}{{\"round\": 1}}{}", "\n".repeat(5000), " ".repeat(100_000));
        let (format, mut whole) = peek(BufReader::with_capacity(11, input.as_bytes())).unwrap();
        assert_eq!(format, Format::Drand);
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
        assert_eq!(format, Format::Jsonl);
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
