//! The field names of the first object of an input in JSON, as far as its first bytes go, and those by which formats are known.

use std::borrow::Cow;

use quorate_host::BYTE_ORDER_MARK;

use super::name::Format;

/// The text, if it begins as JSON does. SSZ and UTF-16 have a zero byte near their beginning. One that comes later is damage, such as the
/// zeros that a crash leaves at the end of a file: the reader reports the lines that have it, and reads the others.
pub(super) fn json(prefix: &[u8]) -> Option<&[u8]> {
    let text = without_mark(prefix).trim_ascii_start();
    let is_binary = prefix.iter().take(8).any(|byte| *byte == 0);
    (text.starts_with(b"{") || text.starts_with(b"[")).then_some(text).filter(|_| !is_binary)
}

/// The bytes without the byte order mark that may stand before text.
pub(super) fn without_mark(prefix: &[u8]) -> &[u8] {
    prefix.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(prefix)
}

/// The field names of the first object, as far as the bytes go.
pub(super) struct FirstObject<'a> {
    fields: Vec<Cow<'a, [u8]>>,
    /// Those of its `message`, if that is an object. A claim's is text.
    pub(super) message_fields: Vec<Cow<'a, [u8]>>,
    /// Whether the object ends within the bytes.
    pub(super) closed: bool,
}

/// A format, and the field by which an object is known to be of it.
type Sign = (Format, &'static str);

impl<'a> FirstObject<'a> {
    /// Reads the names. The object or list in one of the fields `envelopes` counts as the object itself.
    pub(super) fn scan(json: &'a [u8], envelopes: &[&str]) -> Self {
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
    pub(super) fn has(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| has_name(&self.fields, field))
    }

    /// The formats that it is of by its fields, each with one of them. More than one is a contradiction.
    pub(super) fn signs(&self) -> impl Iterator<Item = Sign> {
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

    /// Whether it is a chain info of drand: a key with what else is public of a chain. A claim has a signature.
    fn is_chain_info(&self) -> bool {
        self.has(&["public_key", "publicKey"]) && self.has(&CHAIN_INFO_FIELDS) && !self.has(&["signature"])
    }
}

/// Whether a name is among these.
pub(super) fn has_name(names: &[Cow<'_, [u8]>], name: &str) -> bool {
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

/// Fields of light-client objects.
pub(super) const LIGHT_CLIENT_FIELDS: [&str; 5] =
    ["attested_header", "current_sync_committee", "next_sync_committee", "sync_aggregate", "pubkeys"];
/// Fields of rounds of drand, of bundles of them, and of chain infos.
pub(super) const DRAND_FIELDS: [&str; 6] =
    ["round", "beacons", "rounds", "chain_info", "previous_signature", "schemeID"];
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
/// Fields of content of the Portal network.
pub(super) const PORTAL_FIELDS: [&str; 2] = ["content_key", "content_value"];
/// Fields of a claim by which it is known.
pub(super) const CLAIM_FIELDS: [&str; 3] = ["message", "messages", "public_keys"];
/// Fields of deposits by which they are known.
const DEPOSIT_FIELDS: [&str; 3] = ["deposit_message_root", "deposit_data_root", "deposit_cli_version"];
