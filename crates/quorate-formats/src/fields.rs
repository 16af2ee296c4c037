//! The fields of one claim in a protocol that has bytes as bytes, such as gRPC.

use quorate::{Members, PublicKeys, SourceId};

use crate::columns::{Columns, Field, NO_ROOM, Room, check_name, members_of_bitmap, take_room};
use crate::entry::{Entry, Malformed};
use crate::key_sets::KeySets;
use crate::record::{Id, Place};

/// The fields of one claim. A text, a list or a bitmap that is empty is absent.
#[derive(Clone, Debug)]
pub struct ClaimFields<'a, B> {
    /// The input's own name for the claim.
    pub id: &'a str,
    /// The name of its suite.
    pub suite: &'a str,
    /// Its keys.
    pub public_keys: &'a [B],
    /// In the place of keys: the name of a key set.
    pub key_set: &'a str,
    /// The members of the set who signed, as a bitmap.
    pub members: &'a [u8],
    /// Or as their indices.
    pub indices: Vec<u32>,
    /// What all keys signed.
    pub message: Option<&'a [u8]>,
    /// Or what each of them signed.
    pub messages: &'a [B],
    /// The signature.
    pub signature: &'a [u8],
    /// Who sent the claim.
    pub source: Option<SourceId>,
}

impl<B: AsRef<[u8]>> ClaimFields<'_, B> {
    /// The record that the fields make. Its bytes find room before they are kept.
    ///
    /// # Errors
    /// [`Malformed`], as for a claim in JSON Lines.
    pub fn into_record(self, place: Place, sets: &KeySets, room: &mut dyn Room) -> Entry {
        check_name("id", self.id.len()).map_err(|reason| Malformed::new(place, reason))?;
        let id = (!self.id.is_empty()).then(|| Id::text(self.id));
        match self.into_columns(sets, room) {
            Ok(columns) => Columns { id, ..columns }.into_record(place),
            Err(reason) => Err(Malformed::new(place, reason).with_id(id)),
        }
    }

    fn into_columns(self, sets: &KeySets, room: &mut dyn Room) -> Result<Columns, String> {
        let Self { id: _, suite, public_keys, key_set, members, indices, message, messages, signature, source } = self;
        check_name("suite", suite.len())?;
        if let Some(SourceId::Name(name)) = &source {
            check_name("source", name.len())?;
        }
        let members = keys_of_members(key_set, members, indices, sets, room)?;
        let keys_given = !public_keys.is_empty() || members.is_none();
        let messages_given = !messages.is_empty() || message.is_none();
        Ok(Columns {
            suite: (!suite.is_empty()).then(|| suite.to_owned()),
            public_keys: keys_given.then(|| list(Field::PublicKeys, public_keys, room)).transpose()?,
            members,
            message: message.map(|message| one("message", Field::Messages, message, room)).transpose()?,
            messages: messages_given.then(|| list(Field::Messages, messages, room)).transpose()?,
            signature: Some(one("signature", Field::Signature, signature, room)?),
            source,
            ..Columns::default()
        })
    }
}

/// The keys of the members of a set; none if no set is named.
fn keys_of_members(
    key_set: &str,
    members: &[u8],
    indices: Vec<u32>,
    sets: &KeySets,
    room: &mut dyn Room,
) -> Result<Option<PublicKeys>, String> {
    let members = match (members.is_empty(), indices.is_empty()) {
        (false, false) => return Err("\"members\" and \"indices\" are both given; keep one of them".to_owned()),
        (true, true) if key_set.is_empty() => return Ok(None),
        _ if key_set.is_empty() => return Err("\"key_set\" is missing; give it beside \"members\"".to_owned()),
        (false, true) => members_of_bitmap(members, room).map_err(|reason| format!("\"members\": {reason}"))?,
        (true, _) => {
            let named = |reason| format!("\"indices\": {reason}");
            Field::Members.check_number(indices.len(), room).map_err(named)?;
            if !room.take(size_of_val(&indices[..])) {
                return Err(named(NO_ROOM.to_owned()));
            }
            Members::Indices(indices)
        }
    };
    sets.public_keys(key_set, members).map(Some)
}

fn list<B: AsRef<[u8]>>(field: Field, values: &[B], room: &mut dyn Room) -> Result<Vec<Vec<u8>>, String> {
    field.list(values.iter(), |value| field.one(value.as_ref(), false), room)
}

fn one(name: &str, field: Field, value: &[u8], room: &mut dyn Room) -> Result<Vec<u8>, String> {
    let one = field.one(value, false).and_then(|one| take_room(room, one));
    one.map_err(|reason| format!("\"{name}\": {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Unbounded;

    #[test]
    fn what_makes_no_claim_is_named() {
        const KEY: &[u8] = &[1];
        const LONG: &[u8] = &[0; 193];
        let (key, long) = ([KEY], [LONG]);
        let fields = || ClaimFields {
            id: "x",
            suite: "eth2",
            public_keys: &key,
            key_set: "",
            members: &[],
            indices: vec![],
            message: Some(&[2]),
            messages: &[],
            signature: &[3],
            source: None,
        };
        let read =
            |fields: ClaimFields<'_, &[u8]>| fields.into_record(Place::Element(0), &KeySets::default(), &mut Unbounded);
        assert_eq!(read(fields()).unwrap().id, Some(Id::text("x")));
        let name = "x".repeat(33 << 10);
        for (fields, expected) in [
            (ClaimFields { public_keys: &long, ..fields() }, "\"public_keys[0]\": found 193 bytes, more than the 192"),
            (ClaimFields { signature: LONG, ..fields() }, "\"signature\": found 193 bytes, more than the 192"),
            (ClaimFields { id: &name, ..fields() }, "\"id\": found 33792 bytes of text"),
            (ClaimFields { suite: &name, ..fields() }, "\"suite\": found 33792 bytes of text"),
            (
                ClaimFields { source: Some(SourceId::from(&name[..])), ..fields() },
                "\"source\": found 33792 bytes of text",
            ),
            (ClaimFields { messages: &key, ..fields() }, "\"message\" and \"messages\" are both given"),
            (ClaimFields { message: None, ..fields() }, "found 1 public key but 0 messages"),
            (ClaimFields { members: &[1], ..fields() }, "\"key_set\" is missing"),
            (ClaimFields { members: &[1], indices: vec![0], ..fields() }, "\"members\" and \"indices\" are both given"),
            (ClaimFields { key_set: "a", indices: vec![0], ..fields() }, "no key sets were given"),
        ] {
            let reason = read(fields).unwrap_err().reason;
            assert!(reason.contains(expected), "{reason}");
        }
    }
}
