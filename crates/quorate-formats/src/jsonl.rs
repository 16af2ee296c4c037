//! Claims as JSON Lines: one object a line.
//!
//! ```json
//! {"id": 7, "suite": "eth2", "public_keys": ["0x…", "0x…"], "message": "0x…", "signature": "0x…", "source": "peer-1"}
//! ```
//!
//! In the place of keys, a claim can name members of a key set that the caller gave to the reader ([`KeySets`]): `key_set` is the
//! set's name, and `members` a bitmap in hexadecimal, in which the lowest bit of the first byte stands for member 0, or a list of
//! indices. Without a suite, the claim has that of the set.
//!
//! A claim that a chain gave also has `kind` (text), `slot` (a number) and `index` (a number, or text such as "0.1"); without `kind`,
//! the others are not read. If such a claim has a `reason`, its chain refutes it, and it is invalid.
//!
//! Blank lines, `\r\n`, a byte order mark and a last line without `\n` are accepted. Unknown fields are skipped, and
//! [`JsonLines::take_unknown`] names them. But a claim with a field by which another format is known is malformed: otherwise whoever
//! writes an update, a deposit or a round would make a claim of it, of which nothing but a signature is checked. A field that occurs
//! twice is an error. An input whose first character is `[` is
//! read as one JSON array of such objects.
//!
//! Long because nearly half of it are tests of the edges, which set private limits.

use std::borrow::Cow;
use std::fmt;
use std::io::BufRead;
use std::marker::PhantomData;

use quorate::{Members, SourceId};
use quorate_host::BYTE_ORDER_MARK;
use serde::de::{self, DeserializeSeed, IgnoredAny, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::columns::{Columns, Element, Field, List, NO_ROOM, Room, Unbounded, Unknown, check_name, members_of_bitmap};
use crate::document::Elements;
use crate::entry::{Entry, Malformed};
use crate::error::InputError;
use crate::format::{self, Format};
use crate::json::{self, ObjectError};
use crate::key_sets::KeySets;
use crate::lines::{BoundedLines, LineRead};
use crate::number::Uint;
use crate::record::{ClaimIndex, Id, Place, Record};

/// Reads claims line by line, in memory bounded by the longest line ([`LINE_LIMIT`](crate::lines::LINE_LIMIT)).
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct JsonLines<R> {
    lines: BoundedLines<R>,
    state: State,
    buffer: Vec<u8>,
    /// A line that was read ahead and waits in the buffer.
    ahead: Option<LineRead>,
    /// Lines that were not blank.
    entries: u64,
    unknown: Unknown,
    sets: KeySets,
}

impl<R: BufRead> JsonLines<R> {
    /// Starts to read claims.
    pub fn new(reader: R) -> Self {
        Self::of(BoundedLines::new(reader))
    }

    /// Starts to read in the middle of a file, at the beginning of the line with this number, which counts from 1.
    pub fn at_line(reader: R, number: u64) -> Self {
        let mut lines = Self::of(BoundedLines::at_line(reader, number));
        if number > 1 {
            // What is special at the beginning of a file is not so here: an array.
            (lines.state, lines.entries) = (State::Lines, 1);
        }
        lines
    }

    fn of(lines: BoundedLines<R>) -> Self {
        let (unknown, sets) = (Unknown::default(), KeySets::default());
        Self { lines, state: State::Start, buffer: Vec::new(), ahead: None, entries: 0, unknown, sets }
    }

    /// The same reader, whose claims can name members of these sets.
    #[must_use]
    pub fn with_key_sets(self, sets: KeySets) -> Self {
        Self { sets, ..self }
    }

    /// The names of unknown fields that occurred for the first time since the last call, and where. After the first
    /// [`UNKNOWN_FIELDS`](crate::UNKNOWN_FIELDS) names no further ones are kept.
    pub fn take_unknown(&mut self) -> Vec<(String, Place)> {
        self.unknown.take()
    }

    fn advance(&mut self) -> Result<Option<Entry>, InputError> {
        loop {
            match &mut self.state {
                State::Start => self.state = self.start()?,
                State::Lines => return self.next_line(),
                State::Array { elements, next } => {
                    let place = Place::Element(*next);
                    *next += 1;
                    let Some(element) = elements.element()? else { return Ok(None) };
                    let text = elements.text(&element);
                    let (unknown, sets) = (&mut self.unknown, &self.sets);
                    return Ok(Some(parse(text, place, Ending::Complete, unknown, sets, &mut Unbounded)));
                }
                State::Done => return Ok(None),
            }
        }
    }

    /// Skips white space before the first value, and finds out whether that value is an array.
    fn start(&mut self) -> Result<State, InputError> {
        loop {
            let Some(first) = self.lines.reader().fill_buf()?.first().copied() else { return Ok(State::Done) };
            if first.is_ascii_whitespace() {
                self.lines.reader().consume(1);
                if first == b'\n' {
                    self.lines.count_line();
                }
            } else if first == b'[' {
                let before = self.lines.number() as usize;
                let elements = Elements::read(self.lines.reader(), Format::Jsonl)?.after_lines(before);
                return Ok(State::Array { elements, next: 0 });
            } else {
                return Ok(State::Lines);
            }
        }
    }

    fn next_line(&mut self) -> Result<Option<Entry>, InputError> {
        while let Some(line) = self.read_line()? {
            let number = self.lines.number();
            let place = Place::Line(number);
            let text = match line {
                LineRead::Whole => text_of(&self.buffer).map(|text| (text, Ending::Complete)),
                LineRead::AtEnd => text_of(&self.buffer).map(|text| (text, Ending::CutOff)),
                LineRead::TooLong(too_long) => return Ok(Some(Err(Malformed::new(place, too_long.to_string())))),
            };
            match text {
                Ok(("", _)) => {}
                Ok((text, ending)) => {
                    self.entries += 1;
                    let opens_first = self.entries == 1 && text == "{";
                    let entry = parse(text, place, ending, &mut self.unknown, &self.sets, &mut Unbounded);
                    if opens_first && self.field_comes_next()? {
                        return Err(InputError::PrettyPrinted { line: number });
                    }
                    return Ok(Some(entry));
                }
                Err(reason) => {
                    self.entries += 1;
                    return Ok(Some(Err(Malformed::new(place, reason))));
                }
            }
        }
        Ok(None)
    }

    /// Whether the next line that is not blank begins with a text, as the fields of an object on several lines do.
    fn field_comes_next(&mut self) -> Result<bool, InputError> {
        while let Some(line) = self.read_line()? {
            if !self.buffer.trim_ascii().is_empty() || matches!(line, LineRead::TooLong(_)) {
                self.ahead = Some(line);
                break;
            }
        }
        Ok(self.buffer.trim_ascii_start().starts_with(b"\""))
    }

    /// Reads the next line into the buffer, unless it was read ahead. Returns none at the end of the input.
    fn read_line(&mut self) -> Result<Option<LineRead>, InputError> {
        match self.ahead.take() {
            Some(line) => Ok(Some(line)),
            None => Ok(self.lines.read(&mut self.buffer)?),
        }
    }
}

impl<R: BufRead> Iterator for JsonLines<R> {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.advance().transpose();
        if !matches!(entry, Some(Ok(_))) {
            self.state = State::Done;
        }
        entry
    }
}

#[derive(Debug)]
enum State {
    Start,
    Lines,
    Array { elements: Elements, next: u64 },
    Done,
}

/// Reads one JSON document that is in memory: a claim that may stand on several lines, or an array of claims. Each claim's place is
/// its index in the document.
#[derive(Debug)]
pub struct JsonDocument {
    elements: Elements,
    next: u64,
    sets: KeySets,
}

impl JsonDocument {
    /// Starts to read. The document is not copied.
    ///
    /// # Errors
    /// [`InputError`]: the document is not UTF-8.
    pub fn new(document: Vec<u8>) -> Result<Self, InputError> {
        Ok(Self { elements: Elements::of(document, Format::Jsonl)?, next: 0, sets: KeySets::default() })
    }

    /// The same document, whose claims can name members of these sets.
    #[must_use]
    pub fn with_key_sets(self, sets: KeySets) -> Self {
        Self { sets, ..self }
    }

    /// The next claim, which finds room first: for its text, and for each element of its lists.
    ///
    /// # Errors
    /// [`InputError`], after which nothing follows.
    pub fn next_within(&mut self, room: &mut dyn Room) -> Result<Option<Entry>, InputError> {
        let Some(element) = self.elements.element()? else { return Ok(None) };
        let place = Place::Element(self.next);
        self.next += 1;
        let text = self.elements.text(&element);
        Ok(Some(parse(text, place, Ending::Complete, &mut Unknown::default(), &self.sets, room)))
    }
}

/// Reads one line, without its line end, for callers that get the lines of a stream one by one. Its number counts from 1. Its claim
/// can name members of `sets`. A blank line is not an entry, and a byte order mark at the beginning of line 1 belongs to no line.
///
/// An array is not a claim here, and the caller bounds the length of the line.
pub fn entry_of_line(line: &[u8], number: u64, sets: &KeySets, room: &mut dyn Room) -> Option<Entry> {
    let place = Place::Line(number);
    let mark = if number == 1 { BYTE_ORDER_MARK } else { "" };
    match text_of(line.strip_prefix(mark.as_bytes()).unwrap_or(line)) {
        Ok("") => None,
        Ok(text) => Some(parse(text, place, Ending::Complete, &mut Unknown::default(), sets, room)),
        Err(reason) => Some(Err(Malformed::new(place, reason))),
    }
}

/// The text of a line, without white space around it. Whoever puts files of Windows' tools together has their marks in the middle, where
/// an editor does not show them.
fn text_of(line: &[u8]) -> Result<&str, String> {
    match std::str::from_utf8(line).map(str::trim) {
        Ok(text) if text.starts_with(BYTE_ORDER_MARK) => Err(MARK_WITHIN.to_owned()),
        Ok(text) => Ok(text),
        Err(error) => Err(format!("byte {} of the line is not UTF-8", error.valid_up_to() + 1)),
    }
}

const MARK_WITHIN: &str =
    "the line begins with a byte order mark, which may stand at the beginning of the input alone; remove it";

/// Whether a newline ended the line. If it did not, a last line that is not whole most likely means a file that was cut off.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Complete,
    CutOff,
}

/// The fields of a claim. serde reports a field that occurs twice.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Fields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    suite: Option<Text<'a>>,
    public_key: Option<One<OfKeys>>,
    #[serde(borrow)]
    public_keys: Option<&'a RawValue>,
    #[serde(borrow)]
    key_set: Option<Text<'a>>,
    #[serde(borrow)]
    members: Option<&'a RawValue>,
    message: Option<One<OfMessages>>,
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    signature: Option<One<OfSignature>>,
    source: Option<SourceId>,
    #[serde(borrow)]
    kind: Option<Text<'a>>,
    #[serde(borrow)]
    slot: Option<&'a RawValue>,
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
}

impl Fields<'_> {
    fn decode(self, sets: &KeySets, room: &mut dyn Room) -> Result<Columns, String> {
        if let Some(id) = self.id {
            check_name("id", id.get().len())?;
        }
        if let Some(suite) = &self.suite {
            check_name("suite", suite.0.len())?;
        }
        if let Some(SourceId::Name(name)) = &self.source {
            check_name("source", name.len())?;
        }
        let members = match (&self.key_set, self.members) {
            (Some(name), Some(raw)) => Some(sets.public_keys(&name.0, members(raw, room)?)?),
            (Some(_), None) => return Err("\"members\" is missing; give it beside \"key_set\"".to_owned()),
            (None, Some(_)) => return Err("\"key_set\" is missing; give it beside \"members\"".to_owned()),
            (None, None) => None,
        };
        let (mut slot, mut index, mut reason) = (None, None, None);
        if let Some(kind) = &self.kind {
            check_name("kind", kind.0.len())?;
            slot = self.slot.map(|raw| field::<Uint>("slot", raw)).transpose()?.flatten().map(|slot| slot.0);
            index = self.index.map(|raw| field::<InBlock>("index", raw)).transpose()?.flatten().map(|index| index.0);
            reason = self.reason.map(|raw| field::<Text<'_>>("reason", raw)).transpose()?.flatten();
        }
        if let Some(reason) = &reason {
            check_name("reason", reason.0.len())?;
        }
        Ok(Columns {
            id: self.id.map_or(Ok(None), Id::from_json)?,
            suite: self.suite.map(|text| text.0.into_owned()),
            public_key: self.public_key.map(|one| one.0),
            public_keys: self.public_keys.map(|raw| list::<One<OfKeys>>("public_keys", raw, room)).transpose()?,
            members,
            message: self.message.map(|one| one.0),
            messages: self.messages.map(|raw| list::<One<OfMessages>>("messages", raw, room)).transpose()?,
            signature: self.signature.map(|one| one.0),
            source: self.source,
            kind: self.kind.map(|text| text.0.into_owned()),
            slot,
            index,
            reason: reason.map(|text| text.0.into_owned()),
        })
    }
}

/// A field that is read only beside another one; none for null.
fn field<'a, T: Deserialize<'a>>(name: &str, raw: &'a RawValue) -> Result<Option<T>, String> {
    json::value(raw.get()).map_err(|reason| format!("{name:?}: {reason}"))
}

/// The place of a signature in its block: a number, or text.
struct InBlock(ClaimIndex);

impl<'de> Deserialize<'de> for InBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = InBlock;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0, or a text such as \"0.1\"")
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<InBlock, E> {
                let operation = usize::try_from(number);
                operation
                    .map(|number| InBlock(number.into()))
                    .map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<InBlock, E> {
                text.parse().map(InBlock).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// A string that borrows from the line unless it has escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// Which field a value is read for, which says how long it may be.
trait Of {
    const FIELD: Field;
}

struct OfKeys;
struct OfMembers;
struct OfMessages;
struct OfSignature;

impl Of for OfKeys {
    const FIELD: Field = Field::PublicKeys;
}

impl Of for OfMembers {
    const FIELD: Field = Field::Members;
}

impl Of for OfMessages {
    const FIELD: Field = Field::Messages;
}

impl Of for OfSignature {
    const FIELD: Field = Field::Signature;
}

/// Bytes in hexadecimal. They are decoded while the line is read, so that no list of texts is held beside them.
struct One<F>(Vec<u8>, PhantomData<F>);

impl<'de, F: Of> Deserialize<'de> for One<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<F>(PhantomData<F>);

        impl<F: Of> de::Visitor<'_> for Visitor<F> {
            type Value = One<F>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<One<F>, E> {
                F::FIELD.one(text.as_bytes(), true).map(|bytes| One(bytes, PhantomData)).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(Visitor(PhantomData))
    }
}

/// The members of a key set: the indices of a list, or a bitmap in hexadecimal.
fn members(raw: &RawValue, room: &mut dyn Room) -> Result<Members, String> {
    let named = |reason: String| format!("\"members\": {reason}");
    if raw.get().starts_with('[') {
        return Ok(Members::Indices(list::<MemberIndex>("members", raw, room)?));
    }
    if !raw.get().starts_with('"') {
        let found = json::kind_of(raw.get());
        return Err(named(format!("found {found}, expected a list of indices, or a bitmap in hexadecimal digits")));
    }
    let One(bytes, _) = json::value::<One<OfMembers>>(raw.get()).map_err(named)?;
    members_of_bitmap(&bytes, room).map_err(named)
}

/// The index of a member.
#[derive(Deserialize)]
#[serde(transparent)]
struct MemberIndex(u32);

/// An element of a list as it is read.
trait Listed {
    /// What is kept of it.
    type Kept: Element;
    const FIELD: Field;

    fn kept(self) -> Self::Kept;
}

impl<F: Of> Listed for One<F> {
    type Kept = Vec<u8>;
    const FIELD: Field = F::FIELD;

    fn kept(self) -> Vec<u8> {
        self.0
    }
}

impl Listed for MemberIndex {
    type Kept = u32;
    const FIELD: Field = Field::Members;

    fn kept(self) -> u32 {
        self.0
    }
}

/// The elements of a list, each of which finds room before it is kept.
fn list<'a, T: Listed + Deserialize<'a>>(
    name: &str,
    raw: &'a RawValue,
    room: &mut dyn Room,
) -> Result<Vec<T::Kept>, String> {
    let (mut list, mut within) = (List::new(room), false);
    let filling = Filling { list: &mut list, within: &mut within, read: PhantomData::<T> };
    filling.deserialize(&mut serde_json::Deserializer::from_str(raw.get())).map_err(|error| {
        let reason = json::reason(&error);
        if within { format!("\"{name}[{}]\": {reason}", list.found()) } else { format!("{name:?}: {reason}") }
    })?;
    list.into_kept(T::FIELD).map_err(|reason| format!("{name:?}: {reason}"))
}

/// Reads such elements into a list.
struct Filling<'l, 'r, T: Listed> {
    list: &'l mut List<'r, T::Kept>,
    /// Whether an element is being read.
    within: &'l mut bool,
    read: PhantomData<T>,
}

impl<'de, T: Listed + Deserialize<'de>> DeserializeSeed<'de> for Filling<'_, '_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Listed + Deserialize<'de>> de::Visitor<'de> for Filling<'_, '_, T> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        *self.within = true;
        while !self.list.is_full() {
            let Some(element) = elements.next_element::<T>()? else {
                *self.within = false;
                return Ok(());
            };
            if let Err(reason) = self.list.push(element.kept()) {
                *self.within = false;
                return Err(de::Error::custom(reason));
            }
        }
        *self.within = false;
        while elements.next_element::<IgnoredAny>()?.is_some() {
            self.list.skip();
        }
        Ok(())
    }
}

fn parse(
    text: &str,
    place: Place,
    ending: Ending,
    unknown: &mut Unknown,
    sets: &KeySets,
    room: &mut dyn Room,
) -> Result<Record, Malformed> {
    // What is not an element of a list takes no more than its text.
    if !room.take(text.len()) {
        return Err(Malformed::new(place, NO_ROOM));
    }
    let mut only_known = true;
    let fields = fields(text, ending, |name| {
        only_known = false;
        unknown.note(name, place);
    });
    let columns = fields.and_then(|fields| fields.decode(sets, room));
    let record = columns.map_err(|reason| Malformed::new(place, reason).with_id(id_of(text)))?.into_record(place)?;
    // Claims without other fields are most, and are not looked through again.
    let other = if only_known { None } else { format::beside_a_claim(text) };
    match other {
        None => Ok(record),
        Some((format, field)) => {
            let reason = format!(
                "found the field {field:?} of the format {format} in a claim, expected fields of one format; give each object by itself, \
                 without the fields of another"
            );
            Err(Malformed::new(place, reason).with_id(record.id))
        }
    }
}

/// The id of an object of which no claim can be made.
fn id_of(text: &str) -> Option<Id> {
    #[derive(Deserialize)]
    struct OnlyId<'a> {
        #[serde(borrow)]
        id: Option<&'a RawValue>,
    }
    let raw = text.starts_with('{').then(|| serde_json::from_str::<OnlyId<'_>>(text).ok()?.id)??;
    check_name("id", raw.get().len()).ok()?;
    Id::from_json(raw).ok()?
}

fn fields(text: &str, ending: Ending, unknown: impl FnMut(&str)) -> Result<Fields<'_>, String> {
    json::object_and_unknown(text, unknown).map_err(|error| match (error, ending) {
        (ObjectError::CutOff, Ending::CutOff) => {
            "the input ends in the middle of this line; write or fetch the rest".to_owned()
        }
        (ObjectError::CutOff, Ending::Complete) => {
            "the object does not end on this line; write each claim on one line, as `jq -c .` does".to_owned()
        }
        (error, _) => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};
    use std::iter;

    use proptest::prelude::*;

    use quorate::{AnyKeySet, Backend, Bitmap, KeySet, Messages, MinPk, PublicKeys, SecretKey, Suite};

    use super::*;
    use crate::columns::UNKNOWN_FIELDS;
    use crate::record::OfChain;

    const GOOD: &str = r#"{"public_key":"01","message":"02","signature":"03"}"#;

    fn read(input: impl AsRef<[u8]>) -> Vec<Entry> {
        // A buffer of 7 bytes puts a refill inside every token.
        JsonLines::new(BufReader::with_capacity(7, input.as_ref())).map(Result::unwrap).collect()
    }

    fn with_limit<R: BufRead>(reader: R, limit: usize) -> JsonLines<R> {
        JsonLines::of(BoundedLines::with_limit(reader, limit))
    }

    fn reason(line: &str) -> String {
        let entries = read(format!("{line}\n{GOOD}\n"));
        assert_eq!(entries.len(), 2, "the next line must still be read");
        let good = entries[1].as_ref().unwrap();
        assert_eq!(good.place, Place::Line(2));
        let malformed = entries[0].as_ref().unwrap_err();
        assert_eq!(malformed.place, Place::Line(1));
        malformed.reason.clone()
    }

    #[test]
    fn every_field_is_read() {
        let line = r#"{"extra": [1, {"id": 2}], "id": "a", "suite": "eth2", "public_keys": ["0x0A", "0b"],
            "messages": ["", "0XFF"], "signature": "cc", "source": "peer"}"#
            .replace('\n', " ");
        let record = read(line).remove(0).unwrap();
        assert_eq!(record.id, Some(Id::text("a")));
        assert_eq!(record.suite.as_deref(), Some("eth2"));
        assert_eq!(*record.public_keys.as_encoded().unwrap(), [[10], [11]]);
        assert_eq!(record.messages, Messages::Each(vec![[].into(), [255].into()]));
        assert_eq!(record.signature, [0xcc]);
        assert_eq!(record.source, Some(SourceId::from("peer")));
    }

    #[test]
    fn an_object_on_several_lines_is_known_from_any_buffer() {
        let pretty = "\n{\n\n  \t\"public_key\": \"01\"\n}\n";
        let open = "{\n \n\u{2}\n{}\n";
        for capacity in [1, 2, 3, 7, 64] {
            let mut lines = JsonLines::new(BufReader::with_capacity(capacity, pretty.as_bytes()));
            assert!(matches!(lines.next(), Some(Err(InputError::PrettyPrinted { line: 2 }))));
            assert!(lines.next().is_none());

            let lines = JsonLines::new(BufReader::with_capacity(capacity, open.as_bytes()));
            let places: Vec<_> = lines.map(|entry| entry.unwrap().unwrap_err().place).collect();
            assert_eq!(places, [1, 3, 4].map(Place::Line));
        }
    }

    #[test]
    fn fields_of_a_chain() {
        let line = |fields: &str| format!(r#"{{"public_key":"01","message":"02","signature":"03",{fields}}}"#);
        let chain = |fields: &str| read(line(fields)).remove(0).unwrap().chain;
        let of = |index: &str| Some(OfChain { kind: "exit".into(), slot: 7, index: index.parse().unwrap() });
        assert_eq!(chain(r#""kind":"exit","slot":7,"index":0"#), of("0"));
        assert_eq!(chain(r#""kind":"exit","slot":"7","index":"0.1""#), of("0.1"));
        assert_eq!(chain(r#""index":{"any":1},"slot":"x","reason":[]"#), None);
        assert_eq!(chain(r#""kind":null,"slot":7"#), None);
        for (fields, expected) in [
            (r#""kind":"exit","index":0"#, "\"slot\" is missing"),
            (r#""kind":"exit","slot":7,"index":null"#, "\"index\" is missing"),
            (r#""kind":"exit","slot":-7,"index":0"#, "\"slot\": found integer `-7`, expected an integer from 0"),
            (r#""kind":"exit","slot":7,"index":"1.x""#, "\"index\": found string \"1.x\", expected a number from 0"),
            (r#""kind":"exit","slot":7,"index":1.5"#, "\"index\": found floating point `1.5`"),
            (r#""kind":3,"slot":7,"index":1"#, "\"kind\": found integer `3`, expected a string"),
        ] {
            let reason = reason(&line(fields));
            assert!(reason.starts_with(expected), "{reason}");
        }
        let refuted =
            read(line(r#""kind":"exit","slot":7,"index":0,"reason":"validator: found 9""#)).remove(0).unwrap();
        assert_eq!(refuted.failed_check().unwrap().detail, "validator: found 9");
        let mut lines = JsonLines::new(line(r#""kind":"exit","slot":7,"index":0,"reason":null"#).leak().as_bytes());
        assert!(lines.next().unwrap().unwrap().unwrap().checks.is_empty());
        assert!(lines.take_unknown().is_empty());
    }

    #[test]
    fn an_unknown_field_is_named_once() {
        let line = r#"{"pubkey":"01","public_key":"01","message":"02","signature":"03","x":{"y":1}}"#;
        let input = format!("{GOOD}\n{line}\n{line}\n{{\"z\": 1}}\n");
        let mut lines = JsonLines::new(input.as_bytes());
        let named: Vec<_> = iter::from_fn(|| lines.next().map(|_| lines.take_unknown())).collect();
        let at = |name: &str, line| (name.to_owned(), Place::Line(line));
        assert_eq!(named, [vec![], vec![at("pubkey", 2), at("x", 2)], vec![], vec![at("z", 4)]]);
        let many: String = (0..100).map(|i| format!("{{\"{}{i}\": 1}}\n", "é".repeat(100 * (i % 2)))).collect();
        let mut lines = JsonLines::new(many.as_bytes());
        lines.by_ref().for_each(drop);
        let names = lines.take_unknown();
        assert_eq!(names.len(), UNKNOWN_FIELDS);
        assert!(names.iter().all(|(name, _)| name.chars().count() <= 64));
    }

    /// Each of these was valid beside a light client's bootstrap, a deposit or a round, as a claim of whoever wrote it.
    #[test]
    fn a_claim_with_a_field_of_another_format_is_malformed() {
        let claim = |rest: &str| format!(r#"{{"id":7,"public_key":"01","message":"02","signature":"03",{rest}}}"#);
        for (rest, field, format) in [
            (r#""version":"deneb","data":{"attested_header":{}}"#, "attested_header", "light-client"),
            (r#""data":[1,{"x":{}},{"current_sync_committee":[]}]"#, "current_sync_committee", "light-client"),
            (r#""\u0064ata":{"sync_aggregat\u0065":{}}"#, "sync_aggregate", "light-client"),
            (r#""data":{},"data":{"sync_aggregate":{}}"#, "sync_aggregate", "light-client"),
            (r#""deposit_data_root":"00""#, "deposit_data_root", "deposit"),
            (r#""withdrawal_credentials":"00","fork_version":"00""#, "withdrawal_credentials", "deposit"),
            (r#""round":5"#, "round", "drand"),
            (r#""previous_signature":"00""#, "previous_signature", "drand"),
            (r#""data":{"message":{"from_bls_pubkey":"00"}}"#, "from_bls_pubkey", "change"),
            (r#""data":[{"message":{"epoch":1,"validator_index":2}}]"#, "epoch", "exit"),
        ] {
            let line = claim(rest);
            let malformed = read(&line).remove(0).unwrap_err();
            assert_eq!(malformed.id, Some(Id::number(7)), "{rest}");
            let expected = format!("found the field {field:?} of the format {format} in a claim, ");
            assert!(malformed.reason.starts_with(&expected), "{rest}: {}", malformed.reason);
            // Whatever comes before it, and in whatever form it comes.
            let second = read(format!("{GOOD}\n{line}\n{GOOD}")).remove(1).unwrap_err();
            assert_eq!((second.place, &second.reason), (Place::Line(2), &malformed.reason));
            let mut document = JsonDocument::new(format!("[{line}]").into_bytes()).unwrap();
            let entry = document.next_within(&mut Unbounded).unwrap().unwrap();
            assert_eq!(entry.unwrap_err().reason, malformed.reason);
        }
        for rest in [
            r#""data":"attested_header","version":"deneb""#,
            r#""data":{"x":{"attested_header":{}}}"#,
            r#""x":{"round":5,"data":{"sync_aggregate":{}}}"#,
            r#""withdrawal_credentials":"00","amount":1,"network":"mainnet","period":3,"epoch":1"#,
        ] {
            assert!(read(claim(rest)).remove(0).is_ok(), "a claim may have other fields beside its own: {rest}");
        }
    }

    /// Room for so many bytes, and for lists of three.
    struct Small {
        left: usize,
        asked: usize,
    }

    impl Room for Small {
        fn elements(&self) -> usize {
            3
        }

        fn take(&mut self, bytes: usize) -> bool {
            self.asked += 1;
            let fits = bytes <= self.left;
            self.left -= if fits { bytes } else { 0 };
            fits
        }
    }

    /// A body of 8 MB has 2.7 million empty keys, which take 65 MB: none of them is kept before there is room for it.
    #[test]
    fn each_element_finds_room_before_it_is_kept() {
        let line = |keys: usize| {
            let keys = vec!["\"\""; keys].join(",");
            format!("{{\"public_keys\":[{keys}],\"message\":\"\",\"signature\":\"\"}}")
        };
        let read = |line: &str, room: &mut Small| {
            entry_of_line(line.as_bytes(), 1, &KeySets::default(), room).unwrap().map_err(|e| e.reason)
        };
        let mut room = Small { left: 1000, asked: 0 };
        assert_eq!(read(&line(3), &mut room).unwrap().public_keys.len(), 3);
        assert_eq!((room.left, room.asked), (1000 - line(3).len() - 3 * 2 * size_of::<Vec<u8>>(), 4));
        // What is too much is counted, and none of it is kept.
        let mut room = Small { left: 1 << 20, asked: 0 };
        let reason = read(&line(100_000), &mut room).unwrap_err();
        assert_eq!(reason, "\"public_keys\": found 100000 keys, expected at most 3");
        assert_eq!(room.asked, 4);
        let two = 2 * size_of::<Vec<u8>>();
        let mut room = Small { left: line(3).len() + 2 * two, asked: 0 };
        assert_eq!(read(&line(3), &mut room).unwrap_err(), format!("\"public_keys\": {NO_ROOM}"));
        let mut room = Small { left: 10, asked: 0 };
        assert_eq!((read(&line(3), &mut room).unwrap_err().as_str(), room.asked), (NO_ROOM, 1));
    }

    #[test]
    fn a_document_is_one_claim_or_an_array() {
        let pretty = GOOD.replace(',', ",\n  ").replace('{', "{\n  ");
        for (text, claims) in [(pretty.clone(), 1), (format!("[{pretty},\n{GOOD}]"), 2), ("[]".to_owned(), 0)] {
            let mut document = JsonDocument::new(text.into_bytes()).unwrap();
            let entries: Vec<_> = iter::from_fn(|| document.next_within(&mut Unbounded).unwrap()).collect();
            assert_eq!(entries.len(), claims);
            for (index, entry) in entries.iter().enumerate() {
                assert_eq!(entry.as_ref().unwrap().place, Place::Element(index as u64));
            }
        }
        let mut cut = JsonDocument::new(b"[{\n\"public_key\": ".to_vec()).unwrap();
        assert!(matches!(cut.next_within(&mut Unbounded), Err(InputError::Truncated { line: 2, .. })));
        assert!(JsonDocument::new(b"\xff".to_vec()).is_err());
    }

    #[test]
    fn a_single_line_is_what_the_reader_makes_of_it() {
        for line in [GOOD, "", "  ", "{", "[1]", "{\"x\": 1}", "\u{feff}", &format!("\u{feff}{GOOD}")] {
            let whole = read(format!("{line}\n"));
            let single: Vec<_> =
                entry_of_line(line.as_bytes(), 1, &KeySets::default(), &mut Unbounded).into_iter().collect();
            if line.starts_with('[') {
                assert!(single[0].is_err());
            } else {
                assert_eq!(single, whole, "{line}");
            }
        }
        // A mark stands before everything else in the input, once.
        for (number, line) in [
            (1, format!("\u{feff} {GOOD}")),
            (1, format!(" \u{feff}{GOOD}")),
            (1, format!("\u{feff}\u{feff}{GOOD}")),
            (2, format!("\u{feff}{GOOD}")),
            (2, "\u{feff}".to_owned()),
        ] {
            let whole = read(format!("{}{line}\n", format!("{GOOD}\n").repeat(number - 1)));
            let single = entry_of_line(line.as_bytes(), number as u64, &KeySets::default(), &mut Unbounded);
            assert_eq!(Vec::from_iter(single), whole[number - 1..], "{line:?}");
        }
        assert_eq!(
            entry_of_line(GOOD.as_bytes(), 7, &KeySets::default(), &mut Unbounded).unwrap().unwrap().place,
            Place::Line(7)
        );
        assert!(
            entry_of_line(b"{\xff", 1, &KeySets::default(), &mut Unbounded)
                .unwrap()
                .unwrap_err()
                .reason
                .contains("byte 2")
        );
    }

    /// A plain file is read behind the byte that decides whether it is packed, so its mark comes in pieces.
    #[test]
    fn a_byte_order_mark_before_a_plain_file_costs_no_claim() {
        let input = format!("\u{feff}{GOOD}\n{GOOD}\n{GOOD}\n");
        for first in 0..4 {
            let (start, rest) = input.as_bytes().split_at(first);
            let entries: Vec<_> = JsonLines::new(start.chain(rest)).map(Result::unwrap).collect();
            assert_eq!(entries.len(), 3);
            assert!(entries.iter().all(Result::is_ok), "{first}: {entries:?}");
        }
        let list = format!("\u{feff}[{GOOD}]");
        assert!(JsonLines::new(list.as_bytes()[..1].chain(&list.as_bytes()[1..])).next().unwrap().unwrap().is_ok());
    }

    /// Two files of Windows' tools that were put together.
    #[test]
    fn a_mark_in_the_middle_is_named() {
        let entries = read(format!("\u{feff}{GOOD}\n\u{feff}{GOOD}\n{GOOD}\n"));
        assert_eq!(entries[1].as_ref().unwrap_err().reason, MARK_WITHIN);
        assert!(entries[0].is_ok() && entries[2].is_ok());
    }

    #[test]
    fn blank_lines_crlf_mark_and_no_last_newline() {
        let input = format!("\u{feff}\r\n\n{GOOD}\r\n  \r\n{GOOD}");
        let places: Vec<_> = read(input).into_iter().map(|entry| entry.unwrap().place).collect();
        assert_eq!(places, [Place::Line(3), Place::Line(5)]);
    }

    #[test]
    fn empty_and_blank_inputs_have_no_records() {
        for input in ["", "\n", " \r\n\t", "\u{feff}"] {
            assert!(read(input).is_empty());
        }
    }

    #[test]
    fn an_array_of_claims() {
        let entries = read(format!("\n [\n{GOOD},\n 5, {GOOD}]"));
        assert_eq!(entries[0].as_ref().unwrap().place, Place::Element(0));
        assert_eq!(entries[1].as_ref().unwrap_err().reason, "found a number, expected a JSON object");
        assert_eq!(entries[2].as_ref().unwrap().place, Place::Element(2));
    }

    #[test]
    fn a_truncated_array_is_an_error_and_ends() {
        let mut lines = JsonLines::new(&b"\n\n[{\"id\": 1},"[..]);
        assert!(lines.next().unwrap().unwrap().is_err());
        assert!(matches!(lines.next(), Some(Err(InputError::Truncated { line: 3, .. }))));
        assert!(lines.next().is_none());
    }

    #[test]
    fn not_json_or_not_an_object() {
        assert_eq!(reason("hello"), "found text that is not JSON, expected a JSON object");
        assert_eq!(reason("5"), "found a number, expected a JSON object");
        assert_eq!(reason("null"), "found null, expected a JSON object");
        assert!(reason("{public_key}").contains("expected a JSON object: key must be a string at column 2"));
        assert!(reason(&format!("{GOOD} {GOOD}")).contains("trailing characters"));
    }

    #[test]
    fn an_array_is_not_taken_for_a_claim() {
        let entries = read(format!("{GOOD}\n[null, null, \"01\", null, \"02\", null, \"03\", null]\n"));
        assert_eq!(entries[1].as_ref().unwrap_err().reason, "found a list, expected a JSON object");
    }

    #[test]
    fn missing_and_doubled_fields() {
        assert!(reason(r#"{"message":"02","signature":"03"}"#).contains("\"public_key\" is missing"));
        assert!(reason(r#"{"public_key":"01","signature":"03"}"#).contains("\"message\" is missing"));
        assert!(reason(r#"{"public_key":"01","message":"02"}"#).contains("\"signature\" is missing"));
        assert!(reason(r#"{"public_key":"01","public_keys":[],"message":"","signature":""}"#).contains("both"));
        assert!(reason(r#"{"message":"01","message":"02"}"#).contains("duplicate field `message`"));
        assert!(reason(r#"{"id":1,"\u0069d":2}"#).contains("duplicate field `id`"));
    }

    fn key_set(members: usize) -> AnyKeySet {
        let mut set = KeySet::new(MinPk::Eth2, Backend::Portable);
        let secret = SecretKey::key_gen(MinPk::Eth2, &[1; 32], b"").unwrap();
        (0..members).for_each(|_| set.push_assumed(secret.public_key()));
        set.into_any()
    }

    fn sets() -> KeySets {
        let mut sets = KeySets::default();
        sets.add("committee".to_owned(), key_set(3)).unwrap();
        sets
    }

    /// The entry of a claim with these fields in the place of its keys.
    fn of_members(fields: &str, room: &mut dyn Room) -> Result<Record, String> {
        let line = format!("{{{fields}, \"message\": \"02\", \"signature\": \"03\"}}");
        entry_of_line(line.as_bytes(), 1, &sets(), room).unwrap().map_err(|malformed| malformed.reason)
    }

    #[test]
    fn members_are_a_bitmap_or_indices() {
        let bitmap = |indices: &[usize]| Members::Bitmap(Bitmap::from_indices(indices.iter().copied()));
        for (members, expected) in [
            ("\"0x05\"", bitmap(&[0, 2])),
            ("\"0005\"", bitmap(&[8, 10])),
            ("\"\"", bitmap(&[])),
            ("[]", Members::Indices(vec![])),
            ("[2, 0, 2, 4294967295]", Members::Indices(vec![2, 0, 2, u32::MAX])),
        ] {
            let record = of_members(&format!("\"key_set\": \"committee\", \"members\": {members}"), &mut Unbounded);
            let record = record.unwrap();
            let PublicKeys::Members(set, found) = &record.public_keys else { panic!("{members}") };
            // A bitmap in words has no length of its own.
            assert_eq!(found.len(), expected.len(), "{members}");
            assert!(*found == expected || found.is_empty(), "{members}: {found:?}");
            assert_eq!((set.len(), record.suite.as_ref()), (3, None));
            // The suite is that of the set, whatever the default is.
            let (claim, about) = record.split(Some(MinPk::Basic.any())).unwrap();
            assert_eq!((claim.suite, about.by_default), (MinPk::Eth2.any(), false));
        }
        let fields = r#""suite": "eth2-sync-aggregate", "key_set": "committee", "members": [0]"#;
        let claim = of_members(fields, &mut Unbounded).unwrap().into_claim(None).unwrap();
        assert_eq!(claim.suite, MinPk::Eth2SyncAggregate.any());
    }

    #[test]
    fn flaws_of_members_are_named() {
        let own = r#""key_set": "committee", "members":"#;
        for (fields, expected) in [
            (
                r#""public_key": "01", "key_set": "committee", "members": [0]"#.to_owned(),
                "\"public_key\" and \"key_set\" are both given; keep one of them",
            ),
            (
                r#""public_keys": [], "key_set": "committee", "members": [0]"#.to_owned(),
                "\"public_keys\" and \"key_set\" are both given; keep one of them",
            ),
            (r#""key_set": "committee""#.to_owned(), "\"members\" is missing; give it beside \"key_set\""),
            (r#""members": [0]"#.to_owned(), "\"key_set\" is missing; give it beside \"members\""),
            (r#""public_key": "01", "members": [0]"#.to_owned(), "\"key_set\" is missing; give it beside \"members\""),
            (
                r#""key_set": "other", "members": [0]"#.to_owned(),
                "\"key_set\": found \"other\", expected one of the key sets \"committee\"",
            ),
            (r#""key_set": 5, "members": [0]"#.to_owned(), "\"key_set\": found integer `5`, expected a string"),
            (
                format!("{own} 5"),
                "\"members\": found a number, expected a list of indices, or a bitmap in hexadecimal digits",
            ),
            (format!("{own} {{}}"), "\"members\": found an object, expected a list of indices, or a bitmap"),
            (format!("{own} [0, 4294967296]"), "\"members[1]\": found integer `4294967296`, expected u32"),
            (format!("{own} [-1]"), "\"members[0]\": found integer `-1`, expected u32"),
            (format!("{own} [1.5]"), "\"members[0]\": found floating point `1.5`, expected u32"),
            (format!("{own} [\"1\"]"), "\"members[0]\": found string \"1\", expected u32"),
            (format!("{own} \"0x123\""), "\"members\": found 3 hexadecimal digits, expected an even number"),
            (format!("{own} \"0x1g\""), "\"members\": found 'g' at digit 2, expected hexadecimal digits"),
        ] {
            let reason = of_members(&fields, &mut Unbounded).unwrap_err();
            assert!(reason.starts_with(expected), "{fields}: {reason}");
        }
        let unequal = r#"{"key_set": "committee", "members": "07", "messages": ["01"], "signature": "03"}"#;
        let refused = entry_of_line(unequal.as_bytes(), 1, &sets(), &mut Unbounded).unwrap().unwrap_err().reason;
        assert!(refused.starts_with("found 3 public keys but 1 message"), "{refused}");
        // Without sets, none of them is known.
        let line = r#"{"key_set": "a", "members": "07", "message": "01", "signature": "03"}"#;
        assert!(reason(line).starts_with("\"key_set\": found \"a\", but no key sets were given"), "{}", reason(line));
        let long = reason(&line.replace("\"a\"", &format!("\"{}\"", "a".repeat(40_000))));
        assert_eq!(long, "\"key_set\": found 40000 bytes of text, expected at most 32 KiB");
    }

    /// A bit names a key, and an index takes as little text: both find room before they are kept, and the number of keys is bounded.
    #[test]
    fn members_find_room() {
        let read = |members: &str, room: &mut Small| {
            of_members(&format!("\"key_set\": \"committee\", \"members\": {members}"), room)
        };
        let mut room = Small { left: 1000, asked: 0 };
        assert_eq!(read("\"07\"", &mut room).unwrap().public_keys.len(), 3);
        assert_eq!(read("\"0f\"", &mut room).unwrap_err(), "\"members\": found 4 members, expected at most 3");
        assert_eq!(read("[0, 0, 0, 0]", &mut room).unwrap_err(), "\"members\": found 4 members, expected at most 3");
        let long = format!("\"{}\"", "00".repeat(1 << 16));
        let mut room = Small { left: long.len() + 200, asked: 0 };
        assert_eq!(read(&long, &mut room).unwrap_err(), format!("\"members\": {NO_ROOM}"));
        let mut room = Small { left: 100, asked: 0 };
        assert_eq!(read("[0, 1, 2]", &mut room).unwrap_err(), format!("\"members\": {NO_ROOM}"));
        // What the keys take that are copied while the claim is verified counts too.
        let bytes = |suite: &str| {
            let fields = format!("\"suite\": \"{suite}\", \"key_set\": \"committee\", \"members\": [0, 1]");
            of_members(&fields, &mut Unbounded).unwrap().bytes()
        };
        assert!(bytes(MinPk::Basic.name()) > bytes(MinPk::ProofOfPossession.name()) + 300);
    }

    #[test]
    fn unequal_numbers_of_keys_and_messages() {
        let line = r#"{"public_keys":["01","02"],"messages":["03"],"signature":"04"}"#;
        assert!(reason(line).contains("2 public keys but 1 message;"));
    }

    #[test]
    fn bad_hex_names_its_field() {
        let line = r#"{"public_keys":["01","0z"],"message":"02","signature":"03"}"#;
        assert_eq!(reason(line), "\"public_keys[1]\": found 'z' at digit 2, expected hexadecimal digits");
        let line = r#"{"public_key":"01","message":"02","signature":"030"}"#;
        assert_eq!(reason(line), "\"signature\": found 3 hexadecimal digits, expected an even number");
    }

    #[test]
    fn a_value_of_the_wrong_type_names_its_field() {
        for (line, expected) in [
            (r#"{"public_key":1}"#, "\"public_key\": found integer `1`, expected a string"),
            (r#"{"suite":["eth2"]}"#, "\"suite\": found a list, expected a string"),
            (r#"{"public_keys":"01"}"#, "\"public_keys\": found string \"01\", expected a list"),
            (r#"{"public_keys":["01",null]}"#, "\"public_keys[1]\": found null, expected a string"),
            (r#"{"message":null,"messages":["01",{}]}"#, "\"messages[1]\": found an object, expected a string"),
            (r#"{"signature":true}"#, "\"signature\": found boolean `true`, expected a string"),
            (r#"{"source":-1}"#, "\"source\": found integer `-1`, expected a string or an integer from 0 to 2^64 - 1"),
        ] {
            assert_eq!(reason(line), expected);
        }
    }

    #[test]
    fn a_malformed_entry_keeps_its_id() {
        let id = |line: &str| read(line).remove(0).unwrap_err().id;
        for line in [
            r#"{"id":"a","public_key":"0z","message":"02","signature":"03"}"#,
            r#"{"public_key":1,"id":"a"}"#,
            r#"{"id":"a","message":"02","signature":"03"}"#,
            r#"{"id":"a","public_keys":["01"],"messages":[],"signature":"03"}"#,
            r#"{"message":"01","message":"02","id":"a"}"#,
        ] {
            assert_eq!(id(line), Some(Id::text("a")), "{line}");
        }
        for line in ["[1]", "hello", r#"{"id":"a""#, r#"{"id":[1]}"#, r#"{"id":"a","id":"b"}"#, r#"{"id":null}"#] {
            assert_eq!(id(line), None, "{line}");
        }
    }

    #[test]
    fn a_structured_id_is_refused() {
        assert!(reason(r#"{"id":{},"public_key":"01","message":"02","signature":"03"}"#).contains("\"id\""));
    }

    #[test]
    fn invalid_utf8_names_its_byte() {
        let entries = read([b"{\"id\":\"\xff\"}\n", GOOD.as_bytes()].concat());
        assert_eq!(entries[0].as_ref().unwrap_err().reason, "byte 8 of the line is not UTF-8");
        assert!(entries[1].is_ok());
    }

    #[test]
    fn a_cut_off_last_line_and_a_pretty_printed_claim() {
        let entries = read(format!("{GOOD}\n{}", &GOOD[..20]));
        let malformed = entries[1].as_ref().unwrap_err();
        assert!(malformed.to_string().starts_with("line 2: the input ends in the middle of this line;"));
        assert!(reason("{").contains("jq -c"));
    }

    #[test]
    fn pretty_printed_claims_are_named_once() {
        let mut lines = JsonLines::new(&b"\n{\n  \"public_key\": \"01\",\n  \"message\": \"02\"\n}\n"[..]);
        let error = lines.next().unwrap().unwrap_err().to_string();
        assert!(error.starts_with("line 2: the JSON object goes on") && error.contains("jq -c"), "{error}");
        assert!(lines.next().is_none());
    }

    #[test]
    fn an_overlong_line_is_skipped_whole() {
        let long = format!("{GOOD}{}", " ".repeat(100));
        let input = format!("{long}\n{GOOD}\n{long}");
        let entries: Vec<_> =
            with_limit(BufReader::with_capacity(7, input.as_bytes()), 60).map(Result::unwrap).collect();
        assert_eq!(entries.len(), 3);
        assert!(entries[0].as_ref().unwrap_err().reason.contains("is longer than"));
        assert_eq!(entries[1].as_ref().unwrap().place, Place::Line(2));
        assert_eq!(entries[2].as_ref().unwrap_err().place, Place::Line(3));
    }

    #[test]
    fn a_line_of_exactly_the_limit_is_read() {
        let input = format!("{GOOD}\n");
        assert!(with_limit(input.as_bytes(), GOOD.len()).next().unwrap().unwrap().is_ok());
    }

    #[test]
    fn a_read_error_ends_the_iterator() {
        let failing = BufReader::new(GOOD.as_bytes().chain(Failing));
        let mut lines = JsonLines::new(failing);
        assert!(matches!(lines.next(), Some(Err(InputError::Read(_)))));
        assert!(lines.next().is_none());
    }

    struct Failing;

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("unplugged"))
        }
    }

    fn write(record: &Record) -> String {
        let hex = |bytes: &[u8]| serde_json::Value::from(const_hex::encode_prefixed(bytes));
        let mut object = serde_json::Map::new();
        if let Some(id) = &record.id {
            object.insert("id".into(), serde_json::from_str(id.as_json()).unwrap());
        }
        if let Some(suite) = &record.suite {
            object.insert("suite".into(), suite.as_str().into());
        }
        object.insert(
            "public_keys".into(),
            record.public_keys.as_encoded().unwrap().iter().map(|key| hex(key)).collect(),
        );
        match &record.messages {
            Messages::Shared(message) => object.insert("message".into(), hex(message)),
            Messages::Each(messages) => {
                object.insert("messages".into(), messages.iter().map(|message| hex(message)).collect())
            }
            other => panic!("no line makes {other:?}"),
        };
        object.insert("signature".into(), hex(&record.signature));
        if let Some(source) = &record.source {
            object.insert("source".into(), serde_json::to_value(source).unwrap());
        }
        if let Some(OfChain { kind, slot, index }) = &record.chain {
            object.insert("kind".into(), kind.as_str().into());
            object.insert("slot".into(), (*slot).into());
            object.insert("index".into(), index.to_string().into());
        }
        serde_json::Value::from(object).to_string()
    }

    fn record() -> impl Strategy<Value = Record> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..60);
        let pairs = prop::collection::vec((bytes(), bytes()), 0..4);
        let id = prop::option::of(prop_oneof![any::<u64>().prop_map(Id::number), ".*".prop_map(|t| Id::text(&t))]);
        let source = prop::option::of(prop_oneof![
            any::<u64>().prop_map(SourceId::Number),
            ".*".prop_map(|name| SourceId::from(&name[..]))
        ]);
        let index = (any::<usize>(), prop::option::of(any::<usize>()));
        let index = index.prop_map(|(operation, half)| ClaimIndex { operation, half });
        let chain = (".*", any::<u64>(), index).prop_map(|(kind, slot, index)| OfChain { kind, slot, index });
        let chain = prop::option::of(chain);
        (id, prop::option::of(".*"), pairs, prop::option::of(bytes()), bytes(), source, chain).prop_map(
            |(id, suite, pairs, shared, signature, source, chain)| {
                let (public_keys, each): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
                let each = Messages::Each(each.into_iter().map(Into::into).collect());
                Record {
                    id,
                    suite,
                    public_keys: public_keys.into(),
                    messages: shared.map_or(each, |message| Messages::Shared(message.into())),
                    signature,
                    source,
                    place: Place::Line(1),
                    checks: vec![],
                    rests_on: None,
                    chain,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn a_written_record_reads_back(record in record()) {
            prop_assert_eq!(read(write(&record)), vec![Ok(record)]);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            for entry in JsonLines::new(bytes.as_slice()) {
                let _ = entry;
            }
        }

        #[test]
        fn no_json_makes_it_panic(text in r#"[\[{}\],:"a-c0-9 \\n]{0,60}"#) {
            for entry in JsonLines::new(text.as_bytes()) {
                let _ = entry;
            }
        }
    }
}
