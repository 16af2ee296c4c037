//! The fields of a claim, which all formats of claims share.

use quorate::{Bitmap, Members, Messages, PublicKeys, SourceId, claim_bytes::memory_of_element, from_hex};

use crate::entry::Malformed;
use crate::number::counted;
use crate::record::{Check, CheckResult, ClaimIndex, Id, OfChain, Place, Record};

/// What the keys, or the messages, of one claim take in memory, at most: 64 MiB. Keys of 48 bytes take less memory than their
/// text in JSON, so no line that is short enough to be read comes to it, unless its keys are too short to be keys.
pub(crate) const HELD_LIMIT: usize = 64 << 20;

/// The longest key or signature that is kept: 192 bytes. That is a key of the suite `eigenlayer`, and a point of BLS12-381's G2
/// that is not compressed, which the engine refuses by its name. Anything longer belongs to no suite.
pub(crate) const POINT_LIMIT: usize = 192;

/// The longest id, name of a suite and name of a source: 32 KiB. Reports keep up to a thousand of them.
pub const NAME_LIMIT: usize = 32 << 10;

/// So many names of unknown fields are kept, each of at most [`UNKNOWN_CHARACTERS`]: an input can have any number of them.
pub const UNKNOWN_FIELDS: usize = 16;

/// So many characters of the name of an unknown field are kept.
pub const UNKNOWN_CHARACTERS: usize = 64;

/// The names of the unknown fields of an input, in which each is told once.
#[derive(Debug, Default)]
pub(crate) struct Unknown {
    names: Vec<String>,
    new: Vec<(String, Place)>,
}

impl Unknown {
    /// Notes a field that is skipped.
    pub(crate) fn note(&mut self, name: &str, place: Place) {
        let name: String = name.chars().take(UNKNOWN_CHARACTERS).collect();
        if self.names.len() < UNKNOWN_FIELDS && !self.names.contains(&name) {
            self.names.push(name.clone());
            self.new.push((name, place));
        }
    }

    /// The names that occurred for the first time since the last call, and where.
    pub(crate) fn take(&mut self) -> Vec<(String, Place)> {
        std::mem::take(&mut self.new)
    }
}

/// A field of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    PublicKeys,
    /// Members of a key set, as a bitmap or a list of indices.
    Members,
    Messages,
    Signature,
}

impl Field {
    /// The name of the list of such values.
    pub(crate) fn list_name(self) -> &'static str {
        match self {
            Self::PublicKeys => "public_keys",
            Self::Members => "members",
            Self::Messages => "messages",
            Self::Signature => "signature",
        }
    }

    /// Refuses more elements than a list of the field may have.
    pub(crate) fn check_number(self, found: usize, room: &dyn Room) -> Result<(), String> {
        let most = room.elements();
        if found <= most {
            return Ok(());
        }
        let what = match self {
            Self::PublicKeys => "keys",
            Self::Members => "members",
            Self::Messages | Self::Signature => "messages",
        };
        Err(format!("found {found} {what}, expected at most {most}"))
    }

    /// Refuses a value of so many bytes, if that is too long for its field.
    pub(crate) fn check_length(self, length: usize) -> Result<(), String> {
        let (limit, reason) = match self {
            Self::PublicKeys => (POINT_LIMIT, "the longest keys of a suite"),
            Self::Signature => (POINT_LIMIT, "the longest encoding of a point"),
            Self::Members | Self::Messages => (HELD_LIMIT, "the limit"),
        };
        if length > limit {
            return Err(format!("found {length} bytes, more than the {limit} of {reason}"));
        }
        Ok(())
    }

    /// The bytes of one value, if it is short enough for its field: hexadecimal digits, or the bytes themselves.
    pub(crate) fn one(self, value: &[u8], is_hex: bool) -> Result<Vec<u8>, String> {
        // Two digits a byte, after a prefix.
        let prefix = if value.starts_with(b"0x") || value.starts_with(b"0X") { 2 } else { 0 };
        let length = if is_hex { (value.len() - prefix).div_ceil(2) } else { value.len() };
        self.check_length(length)?;
        if !is_hex {
            return Ok(value.to_vec());
        }
        let digits = std::str::from_utf8(value).map_err(|_| "the text is not UTF-8".to_owned())?;
        from_hex(digits).map_err(|error| error.to_string())
    }

    /// A list of such values, each of which is decoded and finds room before the next one. Of too many none is decoded.
    pub(crate) fn list<T>(
        self,
        items: impl Iterator<Item = T>,
        decode: impl Fn(T) -> Result<Vec<u8>, String>,
        room: &mut dyn Room,
    ) -> Result<Vec<Vec<u8>>, String> {
        let name = self.list_name();
        // Where the length is known, no element of too many is looked at.
        self.check_number(items.size_hint().0, room).map_err(|reason| format!("\"{name}\": {reason}"))?;
        let mut list = List::new(room);
        for (index, item) in items.enumerate() {
            if list.is_full() {
                list.skip();
                continue;
            }
            let decoded = decode(item).map_err(|reason| format!("\"{name}[{index}]\": {reason}"))?;
            list.push(decoded).map_err(|reason| format!("\"{name}\": {reason}"))?;
        }
        list.into_kept(self).map_err(|reason| format!("\"{name}\": {reason}"))
    }
}

/// Members by a bitmap, which finds room with the words that it becomes.
pub(crate) fn members_of_bitmap(bytes: &[u8], room: &mut dyn Room) -> Result<Members, String> {
    if !room.take(bytes.len() + bytes.len().next_multiple_of(8)) {
        return Err(NO_ROOM.to_owned());
    }
    let bitmap = Bitmap::from_le_bytes(bytes);
    Field::Members.check_number(bitmap.count(), room)?;
    Ok(Members::Bitmap(bitmap))
}

/// Takes room for a value that is not an element of a list.
pub(crate) fn take_room(room: &mut dyn Room, value: Vec<u8>) -> Result<Vec<u8>, String> {
    if room.take(value.len()) { Ok(value) } else { Err(NO_ROOM.to_owned()) }
}

/// Whom a reader asks before it keeps a part of a claim, so that a caller bounds what all its readers hold together.
///
/// [`Unbounded`] is for callers that read one input after the other: the limits of a line and of a claim are bound enough.
pub trait Room {
    /// The most elements that a list of a claim may have. What comes beyond them is counted and not kept.
    fn elements(&self) -> usize;

    /// Takes room for so many bytes. If there is none, it answers `false`: then the claim is malformed, and the caller knows that
    /// it is not the claim's fault.
    fn take(&mut self, bytes: usize) -> bool;
}

/// [`Room`] for whatever a line or a row holds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unbounded;

impl Room for Unbounded {
    fn elements(&self) -> usize {
        usize::MAX
    }

    fn take(&mut self, _: usize) -> bool {
        true
    }
}

/// A list of a claim that is being read. Each element is counted before it is kept.
pub(crate) struct List<'a, T> {
    room: &'a mut dyn Room,
    kept: Vec<T>,
    bytes: usize,
    /// Elements that were read, kept or not.
    found: usize,
}

/// An element of a list of a claim.
pub(crate) trait Element {
    /// About how many bytes of memory it takes, its place in the list included.
    fn memory(&self) -> usize;
}

impl Element for Vec<u8> {
    fn memory(&self) -> usize {
        memory_of_element(self)
    }
}

impl Element for u32 {
    fn memory(&self) -> usize {
        size_of::<Self>()
    }
}

impl<'a, T: Element> List<'a, T> {
    pub(crate) fn new(room: &'a mut dyn Room) -> Self {
        Self { room, kept: Vec::new(), bytes: 0, found: 0 }
    }

    /// How many elements were read.
    pub(crate) fn found(&self) -> usize {
        self.found
    }

    /// Whether further elements are only counted.
    pub(crate) fn is_full(&self) -> bool {
        self.found >= self.room.elements()
    }

    /// Counts an element that is not kept, because the list has as many as it may have.
    pub(crate) fn skip(&mut self) {
        self.found += 1;
    }

    /// Keeps an element, or says why not.
    pub(crate) fn push(&mut self, element: T) -> Result<(), String> {
        let bytes = element.memory();
        self.bytes += bytes;
        if self.bytes > HELD_LIMIT {
            return Err(format!(
                "its elements take more than {} MiB in memory, the limit; split the claim, or leave out what is not a key",
                HELD_LIMIT >> 20
            ));
        }
        // A list that grows has up to twice the places that it needs.
        if !self.room.take(bytes + size_of::<T>()) {
            return Err(NO_ROOM.to_owned());
        }
        self.found += 1;
        self.kept.push(element);
        Ok(())
    }

    /// The elements, or how many there are if there are too many.
    pub(crate) fn into_kept(mut self, field: Field) -> Result<Vec<T>, String> {
        field.check_number(self.found, self.room)?;
        // So that what is kept takes what it is counted at.
        self.kept.shrink_to_fit();
        Ok(self.kept)
    }
}

/// The reason of a claim for which its caller has no room.
pub(crate) const NO_ROOM: &str = "there is no memory left for this claim; send it again later";

/// Refuses a name of more than [`NAME_LIMIT`] bytes, which is too long to be kept in a report.
///
/// # Errors
/// What the field has, and what it may have.
pub fn check_name(field: &str, length: usize) -> Result<(), String> {
    if length <= NAME_LIMIT {
        return Ok(());
    }
    Err(format!("{field:?}: found {length} bytes of text, expected at most {} KiB", NAME_LIMIT >> 10))
}

/// The fields of one claim. Keys and messages each have a field for one and a field for several, of which one is given. In the
/// place of keys a claim can name members of a key set.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub id: Option<Id>,
    pub suite: Option<String>,
    pub public_key: Option<Vec<u8>>,
    pub public_keys: Option<Vec<Vec<u8>>>,
    /// What `key_set` and `members` name.
    pub members: Option<PublicKeys>,
    pub message: Option<Vec<u8>>,
    pub messages: Option<Vec<Vec<u8>>>,
    pub signature: Option<Vec<u8>>,
    pub source: Option<SourceId>,
    /// The kind of a signature of a chain. Without it, the next three fields say nothing.
    pub kind: Option<String>,
    pub slot: Option<u64>,
    pub index: Option<ClaimIndex>,
    pub reason: Option<String>,
}

/// The name of the check that has failed if a chain itself refutes a claim.
const CHAIN_CHECK: &str = "chain";

impl Columns {
    /// The record that the fields make, or the reason why they make none.
    pub(crate) fn into_record(mut self, place: Place) -> Result<Record, Malformed> {
        let id = self.id.take();
        match self.nameless(place) {
            Ok(record) => Ok(Record { id, ..record }),
            Err(reason) => Err(Malformed::new(place, reason).with_id(id)),
        }
    }

    fn nameless(self, place: Place) -> Result<Record, String> {
        let both =
            |first: &str, second: &str| Err(format!("{first:?} and {second:?} are both given; keep one of them"));
        let public_keys: PublicKeys = match (self.public_key, self.public_keys, self.members) {
            (Some(key), None, None) => vec![key].into(),
            (None, Some(keys), None) => keys.into(),
            (None, None, Some(members)) => members,
            (Some(_), Some(_), _) => return both("public_key", "public_keys"),
            (Some(_), None, Some(_)) => return both("public_key", "key_set"),
            (None, Some(_), Some(_)) => return both("public_keys", "key_set"),
            (None, None, None) => {
                return Err("\"public_key\" is missing; give it, or \"public_keys\" for several keys".to_owned());
            }
        };
        let messages = match (self.message, self.messages) {
            (Some(message), None) => Messages::Shared(message.into()),
            (None, Some(messages)) if messages.len() == public_keys.len() => {
                Messages::Each(messages.into_iter().map(Into::into).collect())
            }
            (None, Some(messages)) => {
                return Err(format!(
                    "found {} but {}; \"messages\" needs one message for each key, and \"message\" is one \
                     message for all keys",
                    counted(public_keys.len(), "public key"),
                    counted(messages.len(), "message")
                ));
            }
            (Some(_), Some(_)) => return both("message", "messages"),
            (None, None) => {
                return Err("\"message\" is missing; give it, or \"messages\" with one message for each key".to_owned());
            }
        };
        let signature = self.signature.ok_or("\"signature\" is missing")?;
        let needed = |name: &str| format!("\"{name}\" is missing; a claim with \"kind\" is of a chain and needs it");
        let chain = match self.kind {
            None => None,
            Some(kind) => Some(OfChain {
                kind,
                slot: self.slot.ok_or_else(|| needed("slot"))?,
                index: self.index.ok_or_else(|| needed("index"))?,
            }),
        };
        let reason = self.reason.filter(|_| chain.is_some());
        let refuted = reason.map(|reason| Check::decided(CHAIN_CHECK, CheckResult::Failed, reason));
        Ok(Record {
            id: None,
            suite: self.suite,
            public_keys,
            messages,
            signature,
            source: self.source,
            place,
            checks: refuted.into_iter().collect(),
            rests_on: None,
            chain,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Columns {
        Columns { public_key: Some(vec![1]), message: Some(vec![2]), signature: Some(vec![3]), ..Columns::default() }
    }

    fn reason(columns: Columns) -> String {
        columns.into_record(Place::Line(1)).unwrap_err().reason
    }

    #[test]
    fn one_key_and_one_message_is_shared() {
        let record = columns().into_record(Place::Line(4)).unwrap();
        assert_eq!(*record.public_keys.as_encoded().unwrap(), [[1]]);
        assert_eq!(record.messages, Messages::Shared([2].into()));
        assert_eq!(record.place, Place::Line(4));
    }

    #[test]
    fn no_keys_at_all_is_left_to_the_suite() {
        let record = Columns { public_key: None, public_keys: Some(vec![]), ..columns() };
        assert!(record.into_record(Place::Line(1)).unwrap().public_keys.is_empty());
    }

    #[test]
    fn a_claim_of_a_chain_has_all_three_fields() {
        let of_chain = || Columns { kind: Some("exit".into()), slot: Some(9), index: Some(2.into()), ..columns() };
        let record = of_chain().into_record(Place::Line(1)).unwrap();
        assert_eq!(record.chain, Some(OfChain { kind: "exit".into(), slot: 9, index: 2.into() }));
        assert!(record.checks.is_empty());
        let expected = "\"slot\" is missing; a claim with \"kind\" is of a chain and needs it";
        assert_eq!(reason(Columns { slot: None, ..of_chain() }), expected);
        assert!(reason(Columns { index: None, ..of_chain() }).starts_with("\"index\" is missing"));
        // Fields of these names that are not about a chain.
        let other = Columns { kind: None, reason: Some("gossip".into()), ..of_chain() };
        let record = other.into_record(Place::Line(1)).unwrap();
        assert_eq!((record.chain, record.checks), (None, vec![]));
    }

    #[test]
    fn a_claim_that_its_chain_refutes_is_invalid() {
        let reason = Some("validator: found the validator 9".to_owned());
        let of_chain = Columns { kind: Some("exit".into()), slot: Some(9), index: Some(2.into()), reason, ..columns() };
        let record = of_chain.into_record(Place::Line(1)).unwrap();
        let check = record.failed_check().unwrap();
        assert_eq!((check.name, check.detail.as_str()), ("chain", "validator: found the validator 9"));
    }

    #[test]
    fn missing_doubled_and_unequal_columns() {
        assert!(reason(Columns { public_key: None, ..columns() }).contains("\"public_key\" is missing"));
        assert!(reason(Columns { message: None, ..columns() }).contains("\"message\" is missing"));
        assert!(reason(Columns { signature: None, ..columns() }).contains("\"signature\" is missing"));
        assert!(reason(Columns { public_keys: Some(vec![]), ..columns() }).contains("are both given"));
        assert!(reason(Columns { messages: Some(vec![]), ..columns() }).contains("are both given"));
        let unequal = Columns { message: None, messages: Some(vec![vec![1], vec![2]]), ..columns() };
        assert!(reason(unequal).contains("1 public key but 2 messages"));
    }
}
