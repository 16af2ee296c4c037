//! What is often met in place of claims, by its first bytes: packed files, other binary formats, and text in other notations.

use quorate_host::text::WideText;
use thiserror::Error;

use super::first_object::{DRAND_FIELDS, LIGHT_CLIENT_FIELDS, PORTAL_FIELDS, json, without_mark};
use super::name::Format;

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
    /// What the first bytes of an input are; `None` if they may be of a format that is read.
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

/// What a file of gzip begins with.
pub(crate) const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
/// What a frame of zstd begins with.
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
/// Columns of a table of claims.
const CSV_COLUMNS: [&str; 8] = ["id", "suite", "public_key", "pubkey", "public_keys", "message", "signature", "source"];
