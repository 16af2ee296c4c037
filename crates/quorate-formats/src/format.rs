//! The formats, and the guess which of them an input has.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufRead, Chain, Cursor, Read};
use std::str::FromStr;

use quorate_host::{BYTE_ORDER_MARK, text::WideText};
use thiserror::Error;

/// How many bytes [`peek`] looks at, at most: 64 KiB.
pub const PEEK_LIMIT: usize = 64 << 10;

/// A format of claims. The reader of each is a module of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One JSON object a line.
    Jsonl,
    /// One row a claim.
    Parquet,
    /// Rounds of a drand chain.
    Drand,
    /// Beacon API light-client objects.
    LightClient,
    /// Deposits to Ethereum's deposit contract.
    Deposit,
    /// Changes of withdrawal credentials.
    Change,
    /// Signed voluntary exits.
    Exit,
}

impl Format {
    /// All of them, in the order in which they are documented.
    pub const ALL: [Self; 7] =
        [Self::Jsonl, Self::Parquet, Self::Drand, Self::LightClient, Self::Deposit, Self::Change, Self::Exit];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Drand => "drand",
            Self::LightClient => "light-client",
            Self::Deposit => "deposit",
            Self::Change => "change",
            Self::Exit => "exit",
        }
    }

    /// What a document is called that is read as a whole: claims in JSON are no lines then.
    pub(crate) fn of_document(self) -> &'static str {
        if self == Self::Jsonl { "JSON" } else { self.name() }
    }

    /// What was expected of a document in JSON.
    pub(crate) fn in_json(self) -> String {
        if self == Self::Jsonl { "a claim or an array of claims".to_owned() } else { format!("a {self} document") }
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
#[error("found the format {0:?}, expected jsonl, parquet, drand, light-client, deposit, change or exit")]
pub struct UnknownFormat(String);

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

/// Something that is often met in place of claims, and that no reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Foreign {
    /// An object with fields of two formats.
    #[error(
        "found an object with the field {first:?} of the format {} and the field {second:?} of the format {}, expected fields of one; \
         give each object by itself, without the fields of another", .formats[0], .formats[1]
    )]
    Ambiguous {
        /// A field.
        first: &'static str,
        /// A field of the other format.
        second: &'static str,
        /// The formats that they are of, in the same order.
        formats: [Format; 2],
    },
    /// A compressed file.
    #[error("found a file packed with {codec}, which is not unpacked here; {todo}", codec = .0, todo = repack(.0))]
    Packed(&'static str),
    /// An era file of Ethereum.
    #[error("found an era file, expected claims; `quorate history verify` verifies it")]
    Era,
    /// A file of Apache Arrow, which is also Feather's.
    #[error("found an Arrow or Feather file, expected Parquet or JSON Lines; write it as Parquet")]
    ArrowFile,
    /// Parquet whose footer is encrypted.
    #[error("found an encrypted Parquet file, which is not decrypted here; write it without encryption")]
    EncryptedParquet,
    /// Text in UTF-16 or UTF-32.
    #[error("{0}")]
    Wide(WideText),
    /// YAML.
    #[error("found YAML, expected JSON; convert it, for example with `yq -o=json`")]
    Yaml,
    /// Content of the Portal network, whose values are SSZ in hexadecimal digits.
    #[error(
        "found content of the Portal network (content_key and content_value), which is not read; get the object from a beacon node, \
         in JSON or SSZ"
    )]
    Portal,
    /// Full blocks of Chia, as a node answers with them.
    #[error("found blocks of Chia, expected claims; `quorate history verify` verifies them")]
    ChiaBlocks,
    /// A block, an attestation, a contribution or a validator registration, as a beacon node answers with it.
    #[error(
        "found an object of the Beacon API that is no exit, no change of withdrawal credentials and of no light client, expected \
         claims; for blocks and what they contain, give era files to `quorate history verify`"
    )]
    BeaconObject,
    /// Comma-separated values.
    #[error(
        "found CSV, expected JSON Lines; write one JSON object a line, or a Parquet file, with \"public_key\", \"message\" and \
         \"signature\""
    )]
    Csv,
    /// SSZ of another kind, or another binary format.
    #[error(
        "found a binary file that is neither Parquet nor a light-client bootstrap or update in SSZ; expected one of these, or \
         text in JSON (unpack a .ssz_snappy first)"
    )]
    Binary,
}

impl Foreign {
    pub(crate) fn of(prefix: &[u8]) -> Option<Self> {
        if let Some((_, name)) = PACKED.iter().find(|(magic, _)| prefix.starts_with(magic)) {
            return Some(Self::Packed(name));
        }
        if prefix.len() >= ZSTD_MAGIC.len() && begins_like_zstd(prefix) {
            return Some(Self::Packed("zstd"));
        }
        if let Some((_, foreign)) = BINARY.iter().find(|(magic, _)| prefix.starts_with(magic)) {
            return Some(*foreign);
        }
        if let Some(wide) = WideText::of(prefix) {
            return Some(Self::Wide(wide));
        }
        // UTF-16 without a mark.
        let zeros = |first: usize| prefix.iter().take(16).skip(first).step_by(2).filter(|byte| **byte == 0).count();
        if matches!((zeros(0), zeros(1)), (0, 4..) | (4.., 0)) {
            return Some(Self::Wide(WideText::Utf16));
        }
        if prefix.contains(&0) && json(prefix).is_none() {
            return Some(Self::Binary);
        }
        let text = String::from_utf8_lossy(without_mark(prefix));
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = lines.next()?;
        if first.starts_with(['{', '[']) {
            return None;
        }
        let is_column = |name: &str| CSV_COLUMNS.contains(&name.trim().trim_matches('"'));
        if [',', ';', '\t'].iter().any(|separator| first.split(*separator).filter(|name| is_column(name)).count() > 1) {
            return Some(Self::Csv);
        }
        if PORTAL_FIELDS.iter().any(|field| text.contains(field)) {
            return Some(Self::Portal);
        }
        let key =
            first.strip_prefix("- ").unwrap_or(first).split_once(':').map(|(key, _)| key.trim_matches(['"', '\'']));
        let is_field = |key: &str| {
            [&CSV_COLUMNS[..], &LIGHT_CLIENT_FIELDS, &DRAND_FIELDS].iter().any(|fields| fields.contains(&key))
        };
        let is_yaml = key.is_some_and(is_field)
            || first == "---"
            || first.starts_with("%YAML")
            || is_mapping(first, lines.next().is_some_and(is_entry));
        is_yaml.then_some(Self::Yaml)
    }
}

/// What to do with a packed file.
fn repack(codec: &str) -> &'static str {
    match codec {
        "gzip" | "zstd" => "unpack it first",
        _ => "unpack it, or pack it with gzip or zstd",
    }
}

/// Whether a line begins a mapping of YAML: a key alone, or before a list, a mapping or a text in quotes; or any key, if the next line is
/// an entry as well. A message such as "curl: (6) Could not resolve host" has a colon, too.
fn is_mapping(line: &str, entry_follows: bool) -> bool {
    let Some((_, value)) = line.split_once(':').filter(|(key, _)| is_key(key)) else { return false };
    let value = value.trim_start();
    value.is_empty() || value.starts_with(['{', '[', '"', '\'', '|', '>']) || entry_follows
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
}

/// Whether a line is an entry of a list or of a mapping in YAML.
fn is_entry(line: &str) -> bool {
    let of_mapping = |(key, rest): (&str, &str)| is_key(key) && (rest.is_empty() || rest.starts_with(' '));
    line.starts_with("- ") || line.split_once(':').is_some_and(of_mapping)
}

/// How an object of a light client in SSZ is laid out, see `light_client::binary`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SszShape {
    Bootstrap {
        altair: bool,
        /// Since Electra, branches are one node longer.
        deep: bool,
    },
    Update {
        altair: bool,
        deep: bool,
        committee: bool,
        finality: bool,
    },
}

impl SszShape {
    /// The shape of an object: by the offset that it begins with, in Altair by its length.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let start: [u8; 8] = *bytes.first_chunk()?;
        // An object of Altair begins with its slot, which is below 2^32.
        if start[4..] == [0; 4]
            && let Some((_, shape)) = ALTAIR.iter().find(|(length, _)| *length == bytes.len())
        {
            return Some(*shape);
        }
        Self::of_offset(*start.first_chunk()?)
    }

    /// Whether the bytes are several objects, each behind its length (8 bytes) and the digest of its fork (4 bytes).
    pub(crate) fn is_list(bytes: &[u8]) -> bool {
        let Some((length, rest)) = bytes.split_first_chunk() else { return false };
        let length = u64::from_le_bytes(*length);
        let altair = ALTAIR.iter().any(|(fixed, _)| *fixed as u64 + 4 == length);
        let offset = rest.get(4..).and_then(|object| object.first_chunk());
        length < 1 << 20 && (altair || offset.is_some_and(|offset| Self::of_offset(*offset).is_some()))
    }

    fn of_offset(offset: [u8; 4]) -> Option<Self> {
        let offset = u32::from_le_bytes(offset);
        SINCE_CAPELLA.iter().find(|(first, _)| *first == offset).map(|(_, shape)| *shape)
    }
}

const fn update(altair: bool, deep: bool, committee: bool, finality: bool) -> SszShape {
    SszShape::Update { altair, deep, committee, finality }
}

/// The lengths of Altair's objects.
const ALTAIR: [(usize, SszShape); 4] = [
    (24_896, SszShape::Bootstrap { altair: true, deep: false }),
    (25_368, update(true, false, true, true)),
    (584, update(true, false, false, true)),
    (280, update(true, false, false, false)),
];

/// The longest of them.
const ALTAIR_LONGEST: usize = 25_368;

/// The sizes of the fixed parts since Capella, which are the offsets of the first header.
const SINCE_CAPELLA: [(u32, SszShape); 7] = [
    (24_788, SszShape::Bootstrap { altair: false, deep: false }),
    (24_820, SszShape::Bootstrap { altair: false, deep: true }),
    (25_152, update(false, false, true, true)),
    (25_216, update(false, true, true, true)),
    (368, update(false, false, false, true)),
    (400, update(false, true, false, true)),
    (172, update(false, false, false, false)),
];

pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
pub(crate) const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// What a frame begins with that zstd skips, but for the lower half of its first byte. pzstd writes one before each other frame.
const ZSTD_SKIPPED: [u8; 4] = [0x50, 0x2a, 0x4d, 0x18];

/// Whether bytes begin, as far as they go, with a frame of zstd.
pub(crate) fn begins_like_zstd(bytes: &[u8]) -> bool {
    let begins = |magic: [u8; 4], first_mask: u8| {
        let masks = [first_mask, 0xff, 0xff, 0xff];
        bytes.iter().zip(magic).zip(masks).all(|((byte, expected), mask)| byte & mask == expected)
    };
    begins(ZSTD_MAGIC, 0xff) || begins(ZSTD_SKIPPED, 0xf0)
}

/// What packed files begin with. gzip and zstd are here for a caller that does not unpack them, and for what is packed twice.
const PACKED: [(&[u8], &str); 7] = [
    (&GZIP_MAGIC, "gzip"),
    (&[0xfd, b'7', b'z', b'X', b'Z', 0], "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
    (&[0x04, 0x22, 0x4d, 0x18], "lz4"),
    // The older form, as the kernel and `lz4 -l` write it.
    (&[0x02, 0x21, 0x4c, 0x18], "lz4"),
    (b"\xff\x06\0\0sNaPpY", "snappy"),
];
/// What other binary files begin with that are often at hand.
const BINARY: [(&[u8], Foreign); 3] =
    [(b"e2\0\0", Foreign::Era), (b"ARROW1\0\0", Foreign::ArrowFile), (b"PARE", Foreign::EncryptedParquet)];
const CSV_COLUMNS: [&str; 8] = ["id", "suite", "public_key", "pubkey", "public_keys", "message", "signature", "source"];

const PARQUET_MAGIC: &[u8] = b"PAR1";
const LIGHT_CLIENT_FIELDS: [&str; 5] =
    ["attested_header", "current_sync_committee", "next_sync_committee", "sync_aggregate", "pubkeys"];
const DRAND_FIELDS: [&str; 6] = ["round", "beacons", "rounds", "chain_info", "previous_signature", "schemeID"];
/// What a chain info of drand has beside its key.
pub(crate) const CHAIN_INFO_FIELDS: [&str; 12] = [
    "period",
    "genesis_time",
    "genesisTime",
    "groupHash",
    "group_hash",
    "genesis_seed",
    "genesisSeed",
    "chain_hash",
    "chainHash",
    "scheme",
    "scheme_id",
    "beacon_id",
];
/// Those of drand by which a bundle is known before it ends: it can be longer than what is looked at.
const BUNDLE_FIELDS: [&str; 3] = ["beacons", "rounds", "chain_info"];
/// Fields of a claim by which it is known.
const CLAIM_FIELDS: [&str; 3] = ["message", "messages", "public_keys"];
const PORTAL_FIELDS: [&str; 2] = ["content_key", "content_value"];
const DEPOSIT_FIELDS: [&str; 3] = ["deposit_message_root", "deposit_data_root", "deposit_cli_version"];
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
    if let Some(ambiguous) = names.ambiguous() {
        return Some(Err(ambiguous));
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

/// The text, if it begins as JSON does. SSZ and UTF-16 have a zero byte near their beginning. One that comes later is damage, such as the
/// zeros that a crash leaves at the end of a file: the reader reports the lines that have it, and reads the others.
fn json(prefix: &[u8]) -> Option<&[u8]> {
    let text = without_mark(prefix).trim_ascii_start();
    let is_binary = prefix.iter().take(8).any(|byte| *byte == 0);
    (text.starts_with(b"{") || text.starts_with(b"[")).then_some(text).filter(|_| !is_binary)
}

fn without_mark(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(prefix)
}

/// The field names of the first object, as far as the bytes go.
struct FirstObject<'a> {
    fields: Vec<Cow<'a, [u8]>>,
    /// Those of its `message`, if that is an object. A claim's is text.
    message_fields: Vec<Cow<'a, [u8]>>,
    closed: bool,
}

/// A format, and the field by which an object is known to be of it.
type Sign = (Format, &'static str);

impl<'a> FirstObject<'a> {
    fn scan(json: &'a [u8], envelopes: &[&str]) -> Self {
        let mut names = Self { fields: Vec::new(), message_fields: Vec::new(), closed: false };
        // The depths at which names count: that of the first object, and that of the content of its envelope.
        let mut object_depth = None;
        let mut content_depth = None;
        let mut message_depth = None;
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
                    if message_depth == Some(depth) {
                        message_depth = None;
                    }
                    depth = depth.saturating_sub(1);
                    // What stands behind the content of an envelope is not of it.
                    if object_depth == Some(depth) {
                        content_depth = None;
                    }
                }
                b'"' => {
                    let Some(end) = string_end(json, at + 1) else { return names };
                    let (quoted, rest) = (&json[at..=end], &json[end + 1..]);
                    at = end;
                    let counts = object_depth == Some(depth) || content_depth == Some(depth);
                    let of_message = message_depth == Some(depth);
                    if (counts || of_message) && is_field(rest) {
                        let name = unescaped(quoted);
                        if of_message {
                            names.message_fields.push(name);
                        } else if name[..] == b"message"[..] && !is_text(rest) {
                            message_depth = Some(depth + 1);
                        } else {
                            if object_depth == Some(depth)
                                && envelopes.iter().any(|known| name[..] == *known.as_bytes())
                            {
                                content_depth = envelope_depth(rest).map(|deeper| depth + deeper);
                            }
                            names.fields.push(name);
                        }
                    }
                }
                _ => {}
            }
            at += 1;
        }
        names
    }

    /// Whether one of these is among its fields.
    fn has(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| has_name(&self.fields, field))
    }

    /// The formats that it is of by its fields, each with one of them. More than one is a contradiction.
    fn signs(&self) -> impl Iterator<Item = Sign> {
        let first = |fields: &[&'static str]| fields.iter().copied().find(|field| has_name(&self.fields, field));
        let signed = |field: &'static str| has_name(&self.message_fields, field).then_some(field);
        let deposit = || {
            let both = self.has(&["withdrawal_credentials"]) && self.has(&["fork_version"]);
            first(&DEPOSIT_FIELDS).or(both.then_some("withdrawal_credentials"))
        };
        let drand = || first(&DRAND_FIELDS).or_else(|| first(&CHAIN_INFO_FIELDS).filter(|_| self.is_chain_info()));
        [
            (Format::Change, signed("from_bls_pubkey")),
            (Format::Exit, signed("epoch").filter(|_| signed("validator_index").is_some())),
            (Format::Jsonl, first(&CLAIM_FIELDS)),
            (Format::LightClient, first(&LIGHT_CLIENT_FIELDS)),
            (Format::Deposit, deposit()),
            (Format::Drand, drand()),
        ]
        .into_iter()
        .filter_map(|(format, field)| Some((format, field?)))
    }

    /// What to say if it has fields of two formats.
    fn ambiguous(&self) -> Option<Foreign> {
        let mut signs = self.signs();
        let ((one, first), (other, second)) = (signs.next()?, signs.next()?);
        Some(Foreign::Ambiguous { first, second, formats: [one, other] })
    }

    /// Whether it is a chain info of drand: a key with what else is public of a chain. A claim has a signature.
    fn is_chain_info(&self) -> bool {
        self.has(&["public_key", "publicKey"]) && self.has(&CHAIN_INFO_FIELDS) && !self.has(&["signature"])
    }
}

/// Whether a name is among these.
fn has_name(names: &[Cow<'_, [u8]>], name: &str) -> bool {
    names.iter().any(|found| found[..] == *name.as_bytes())
}

/// A name without its quotes, as whoever reads the JSON sees it: an escape must not hide a field.
fn unescaped(quoted: &[u8]) -> Cow<'_, [u8]> {
    let name = &quoted[1..quoted.len() - 1];
    if !name.contains(&b'\\') {
        return Cow::Borrowed(name);
    }
    serde_json::from_slice::<String>(quoted).map_or(Cow::Borrowed(name), |name| Cow::Owned(name.into_bytes()))
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

/// How much deeper the fields of an envelope's content lie: one for `: {`, two for `: [{`. What is neither has no fields.
fn envelope_depth(rest: &[u8]) -> Option<usize> {
    match rest.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != b':') {
        Some(b'{') => Some(1),
        Some(b'[') => Some(2),
        _ => None,
    }
}

/// Whether the value behind a field's name cannot be an object, as far as the bytes go.
fn is_text(rest: &[u8]) -> bool {
    let value = rest.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != b':');
    value.is_some_and(|byte| *byte != b'{')
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
