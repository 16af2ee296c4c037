//! Light-client objects as the Beacon API and its users write them.
//!
//! Names and nesting are those of `/eth/v1/beacon/light_client/…`. Some tools write other forms, which are accepted too: objects
//! without their envelope, flat Altair headers without the `beacon` level, numbers without quotes, a header or committee in
//! a list, alone or followed by its branch (the form of a Rust tuple), and Snowbridge's: a next committee and its branch in a level
//! `next_sync_committee_update`, and the root of the state's recent blocks with its branch.
//!
//! What stands under a name that is not known would be neither checked nor learned, and the verdict would not say so. So such a field
//! makes the object malformed, at every level, and so does a field of another kind of object ([`HARMLESS`] says what may stand there).

use std::fmt;
use std::marker::PhantomData;

use quorate_host::clipped;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, IgnoredAny, MapAccess, SeqAccess};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::execution::Execution;
use crate::columns::Field;
use crate::hex::{Hex, HexBytes};
use crate::json;
use crate::network::Fork;
use crate::number::{Uint, counted};
use crate::ssz::{self, Root};

/// Keys of a sync committee in the mainnet preset.
pub const COMMITTEE_SIZE: usize = 512;

/// One object of a document.
#[derive(Debug)]
pub(super) enum Object {
    Bootstrap(Box<Bootstrap>),
    Update(Box<Update>),
    Committee(CommitteeFile),
}

/// The start of a light client: a block that it trusts, and the committee in the state of that block.
#[derive(Debug)]
pub(super) struct Bootstrap {
    pub header: Header,
    pub committee: SyncCommittee,
    pub branch: Vec<Root>,
    pub block_roots: Option<(Root, Vec<Root>)>,
    pub validators_root: Option<Root>,
    pub fork: Option<Fork>,
    pub stated: Stated,
}

/// What a bootstrap or an update says about where it belongs. No signature covers it, so it is compared with the network and the slots.
#[derive(Debug, Default)]
pub(super) struct Stated {
    pub network: Option<String>,
    pub period: Option<u64>,
}

/// A committee file.
#[derive(Debug)]
pub(super) struct CommitteeFile {
    pub network: Option<String>,
    pub period: Option<u64>,
    pub committee: SyncCommittee,
}

/// A full update, a finality update (without the next committee) or an optimistic update (without finality as well).
#[derive(Debug)]
pub(super) struct Update {
    pub attested: Header,
    pub finalized: Option<(Header, Vec<Root>)>,
    pub next_committee: Option<(SyncCommittee, Vec<Root>)>,
    /// The root of `block_roots` in the finalized state, and its branch.
    pub block_roots: Option<(Root, Vec<Root>)>,
    pub bits: [u8; COMMITTEE_SIZE / 8],
    pub signature: Vec<u8>,
    pub signature_slot: u64,
    pub fork: Option<Fork>,
    pub stated: Stated,
}

impl Object {
    /// Reads one object without its envelope. `fork` is that of the envelope's `version`, if it had one.
    pub(super) fn from_json(text: &str, fork: Option<Fork>) -> Result<Self, String> {
        let mut fields: Fields = json::known_object(text, &HARMLESS).map_err(|error| error.to_string())?;
        if let Some(pubkeys) = fields.pubkeys.take() {
            let committee = SyncCommittee::new(pubkeys, fields.aggregate_pubkey.take())?;
            let period = fields.period.take().map(|number| number.0);
            let network = fields.network.take();
            fields.none_left("a committee")?;
            return Ok(Self::Committee(CommitteeFile { network, period, committee }));
        }
        let stated = Stated { network: fields.network.take(), period: fields.period.take().map(|number| number.0) };
        if let Some(current) = fields.current_sync_committee.take() {
            let beside = fields.current_sync_committee_branch.take();
            let (committee, branch) = current.with_branch("current_sync_committee", beside)?;
            let header = fields.header.take().ok_or("\"header\" is missing")?.try_into()?;
            let committee = committee.try_into()?;
            let block_roots = fields.block_roots()?;
            let validators_root = fields.validators_root.take().map(|root| root.0);
            fields.none_left("a bootstrap")?;
            let bootstrap = Bootstrap { header, committee, branch, block_roots, validators_root, fork, stated };
            return Ok(Self::Bootstrap(Box::new(bootstrap)));
        }
        let attested = fields
            .attested_header
            .take()
            .ok_or("expected a bootstrap (\"current_sync_committee\"), an update (\"attested_header\") or a committee (\"pubkeys\")")?
            .try_into()?;
        let aggregate = fields.sync_aggregate.take().ok_or("\"sync_aggregate\" is missing")?;
        let length = aggregate.sync_committee_signature.0.len();
        Field::Signature.check_length(length).map_err(|reason| format!("\"sync_committee_signature\": {reason}"))?;
        let signature_slot = fields.signature_slot.take().ok_or("\"signature_slot\" is missing")?.0;
        let finalized = convert("finalized_header", fields.finalized_header.take(), &mut fields.finality_branch)?;
        if let Some(next) = fields.next_sync_committee_update.take() {
            if fields.next_sync_committee.is_some() {
                return Err(
                    "\"next_sync_committee\" and \"next_sync_committee_update\" are both given; keep one of them"
                        .to_owned(),
                );
            }
            fields.next_sync_committee = Some(next.next_sync_committee);
            fields.next_sync_committee_branch = next.next_sync_committee_branch;
        }
        let next_committee =
            convert("next_sync_committee", fields.next_sync_committee.take(), &mut fields.next_sync_committee_branch)?;
        let block_roots = fields.block_roots()?;
        fields.none_left("an update")?;
        Ok(Self::Update(Box::new(Update {
            attested,
            finalized,
            next_committee,
            block_roots,
            bits: aggregate.sync_committee_bits.0,
            signature: aggregate.sync_committee_signature.0,
            signature_slot,
            fork,
            stated,
        })))
    }
}

/// Fields that say something about an object and hold nothing that an update claims.
const HARMLESS: [&str; 6] = ["version", "note", "source", "sources", "comment", "description"];
/// Fields that an envelope may have beside its object.
const HARMLESS_IN_ENVELOPE: [&str; 4] = ["execution_optimistic", "finalized", "code", "note"];

/// An envelope of the Beacon API, `{"version": …, "data": …}`. An object without an envelope has no `data`.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
pub(super) struct Envelope<'a> {
    pub version: Option<String>,
    #[serde(borrow)]
    pub data: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    pub(super) fn from_json(text: &'a str) -> Result<Self, String> {
        let envelope: Self = json::object(text).map_err(|error| error.to_string())?;
        if envelope.data.is_some() {
            // Nothing beside the object is looked at.
            return json::known_object(text, &HARMLESS_IN_ENVELOPE).map_err(|error| error.to_string());
        }
        Ok(envelope)
    }

    /// The fork that `version` names; none if it names none.
    ///
    /// # Errors
    /// An envelope is of a fork that is not known: how its objects are laid out and signed is not known either. An object without an
    /// envelope can have a `version` of another kind.
    pub(super) fn fork(&self) -> Result<Option<Fork>, String> {
        let Some(version) = &self.version else { return Ok(None) };
        match Fork::from_name(version) {
            None if self.data.is_some() => Err(format!(
                "\"version\": found {:?}, expected a fork, of which {} is the latest that this version of the program knows",
                clipped(version, 64),
                Fork::LATEST.name()
            )),
            fork => Ok(fork),
        }
    }
}

/// A block header with the execution payload header of its body, which blocks have since Capella.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub beacon: BeaconHeader,
    pub execution: HeaderExecution,
}

/// What a document says about the execution payload header of a block.
#[derive(Debug, PartialEq)]
pub(super) enum HeaderExecution {
    /// The document states it and its branch. Zeros are stated as well.
    Stated(Box<Execution>, Vec<Root>),
    /// The document leaves it out, as JSON can.
    LeftOut,
    /// The document is in the layout of Altair in SSZ, which has no place for it.
    NoPlace,
}

impl Header {
    /// Whether it is the header that stands for none: every field, and the branch, is zero.
    pub(super) fn is_empty(&self) -> bool {
        self.beacon == BeaconHeader::default() && !self.has_execution()
    }

    /// Whether the document states an execution payload header or a branch that is not all zeros.
    pub(super) fn has_execution(&self) -> bool {
        match &self.execution {
            HeaderExecution::Stated(execution, branch) => !execution.is_empty() || !ssz::is_empty(branch),
            HeaderExecution::LeftOut | HeaderExecution::NoPlace => false,
        }
    }
}

/// `BeaconBlockHeader`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BeaconHeader {
    pub slot: u64,
    pub proposer_index: u64,
    pub parent_root: Root,
    pub state_root: Root,
    pub body_root: Root,
}

impl BeaconHeader {
    pub(super) fn root(&self) -> Root {
        let leaves = [
            ssz::number(self.slot),
            ssz::number(self.proposer_index),
            self.parent_root,
            self.state_root,
            self.body_root,
        ];
        ssz::merkleize(&leaves, 3)
    }
}

/// The keys of a sync committee, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncCommittee {
    /// The 512 keys, 48 bytes each.
    pub public_keys: Vec<[u8; 48]>,
    /// Their sum as the document states it. It is not computed again here, because that takes curve arithmetic.
    pub aggregate_public_key: Option<[u8; 48]>,
}

impl SyncCommittee {
    fn new(keys: Vec<Hex<48>>, aggregate: Option<Hex<48>>) -> Result<Self, String> {
        if keys.len() != COMMITTEE_SIZE {
            return Err(format!(
                "\"pubkeys\": found {}, expected the {COMMITTEE_SIZE} of a sync committee",
                counted(keys.len(), "key")
            ));
        }
        Ok(Self {
            public_keys: keys.into_iter().map(|key| key.0).collect(),
            aggregate_public_key: aggregate.map(|key| key.0),
        })
    }

    /// Whether it is the committee that stands for none: every key, and their sum, is zero.
    pub(super) fn is_empty(&self) -> bool {
        self.public_keys.iter().chain(&self.aggregate_public_key).all(|key| *key == [0; 48])
    }

    /// The root of `SyncCommittee`; none if the aggregate key is missing, which is one of its fields.
    pub(super) fn root(&self) -> Option<Root> {
        let key_root = |key: &[u8; 48]| ssz::merkleize(&ssz::leaves(key), 1);
        let keys: Vec<Root> = self.public_keys.iter().map(key_root).collect();
        let aggregate = self.aggregate_public_key.as_ref()?;
        Some(ssz::parent(&ssz::merkleize(&keys, COMMITTEE_SIZE.ilog2()), &key_root(aggregate)))
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Fields {
    attested_header: Option<HeaderFields>,
    finalized_header: Option<Listed<HeaderFields>>,
    finality_branch: Option<Vec<Hex<32>>>,
    next_sync_committee: Option<Listed<CommitteeFields>>,
    next_sync_committee_branch: Option<Vec<Hex<32>>>,
    next_sync_committee_update: Option<NextCommittee>,
    block_roots_root: Option<Hex<32>>,
    block_roots_branch: Option<Vec<Hex<32>>>,
    validators_root: Option<Hex<32>>,
    sync_aggregate: Option<SyncAggregate>,
    signature_slot: Option<Uint>,
    header: Option<HeaderFields>,
    current_sync_committee: Option<Listed<CommitteeFields>>,
    current_sync_committee_branch: Option<Vec<Hex<32>>>,
    network: Option<String>,
    period: Option<Uint>,
    pubkeys: Option<Vec<Hex<48>>>,
    aggregate_pubkey: Option<Hex<48>>,
}

impl Fields {
    fn block_roots(&mut self) -> Result<Option<(Root, Vec<Root>)>, String> {
        let Some(root) = self.block_roots_root.take() else { return Ok(None) };
        let branch = self.block_roots_branch.take();
        let branch = branch.ok_or("\"block_roots_root\" has no branch; add \"block_roots_branch\"")?;
        Ok(Some((root.0, roots(branch))))
    }

    /// Refuses fields that an object of its kind does not have: they would not be checked.
    fn none_left(self, kind: &str) -> Result<(), String> {
        let proves =
            |branch: &Option<Vec<Hex<32>>>| branch.as_ref().is_some_and(|branch| !branch.iter().all(Hex::is_zero));
        let left = [
            ("attested_header", self.attested_header.is_some()),
            ("finalized_header", self.finalized_header.is_some()),
            ("finality_branch", proves(&self.finality_branch)),
            ("next_sync_committee", self.next_sync_committee.is_some()),
            ("next_sync_committee_branch", proves(&self.next_sync_committee_branch)),
            ("next_sync_committee_update", self.next_sync_committee_update.is_some()),
            ("block_roots_root", self.block_roots_root.is_some()),
            ("block_roots_branch", proves(&self.block_roots_branch)),
            ("validators_root", self.validators_root.is_some()),
            ("sync_aggregate", self.sync_aggregate.is_some()),
            ("signature_slot", self.signature_slot.is_some()),
            ("header", self.header.is_some()),
            ("current_sync_committee", self.current_sync_committee.is_some()),
            ("current_sync_committee_branch", proves(&self.current_sync_committee_branch)),
            ("aggregate_pubkey", self.aggregate_pubkey.is_some()),
        ];
        match left.iter().find(|(_, is_there)| *is_there) {
            None => Ok(()),
            Some((name, _)) => Err(format!(
                "found {kind} with the field {name:?}, which would not be checked; give each object by itself, without the fields \
                 of another"
            )),
        }
    }
}

/// A next committee and its branch, as Snowbridge writes them.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct NextCommittee {
    next_sync_committee: Listed<CommitteeFields>,
    next_sync_committee_branch: Option<Vec<Hex<32>>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SyncAggregate {
    sync_committee_bits: Hex<{ COMMITTEE_SIZE / 8 }>,
    sync_committee_signature: HexBytes,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct CommitteeFields {
    pubkeys: Vec<Hex<48>>,
    aggregate_pubkey: Option<Hex<48>>,
}

impl TryFrom<CommitteeFields> for SyncCommittee {
    type Error = String;

    fn try_from(fields: CommitteeFields) -> Result<Self, String> {
        Self::new(fields.pubkeys, fields.aggregate_pubkey)
    }
}

/// A header with its `beacon` level, or flat without it.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct HeaderFields {
    beacon: Option<BeaconFields>,
    execution: Option<Execution>,
    execution_branch: Option<Vec<Hex<32>>>,
    slot: Option<Uint>,
    proposer_index: Option<Uint>,
    parent_root: Option<Hex<32>>,
    state_root: Option<Hex<32>>,
    body_root: Option<Hex<32>>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct BeaconFields {
    slot: Uint,
    proposer_index: Uint,
    parent_root: Hex<32>,
    state_root: Hex<32>,
    body_root: Hex<32>,
}

impl TryFrom<HeaderFields> for Header {
    type Error = String;

    fn try_from(fields: HeaderFields) -> Result<Self, String> {
        let lacks = |name: &str| format!("{name:?} is missing in a header");
        let is_flat = fields.slot.is_some()
            || fields.proposer_index.is_some()
            || fields.parent_root.is_some()
            || fields.state_root.is_some()
            || fields.body_root.is_some();
        let beacon = match fields.beacon {
            Some(_) if is_flat => {
                return Err(
                    "a header has \"beacon\" and fields beside it that belong there; keep one of them".to_owned()
                );
            }
            Some(beacon) => beacon,
            None => BeaconFields {
                slot: fields.slot.ok_or_else(|| lacks("slot"))?,
                proposer_index: fields.proposer_index.ok_or_else(|| lacks("proposer_index"))?,
                parent_root: fields.parent_root.ok_or_else(|| lacks("parent_root"))?,
                state_root: fields.state_root.ok_or_else(|| lacks("state_root"))?,
                body_root: fields.body_root.ok_or_else(|| lacks("body_root"))?,
            },
        };
        let execution = match (fields.execution, fields.execution_branch) {
            (Some(execution), Some(branch)) => HeaderExecution::Stated(Box::new(execution), roots(branch)),
            (Some(_), None) => return Err(lacks("execution_branch")),
            (None, Some(branch)) if !branch.is_empty() => {
                return Err("a header has \"execution_branch\" without \"execution\", which would not be checked; give both or \
                            neither"
                    .to_owned());
            }
            (None, _) => HeaderExecution::LeftOut,
        };
        Ok(Self {
            beacon: BeaconHeader {
                slot: beacon.slot.0,
                proposer_index: beacon.proposer_index.0,
                parent_root: beacon.parent_root.0,
                state_root: beacon.state_root.0,
                body_root: beacon.body_root.0,
            },
            execution,
        })
    }
}

/// A value as the Beacon API writes it, or alone in a list, or in a list with its branch.
struct Listed<T> {
    value: T,
    branch: Option<Vec<Hex<32>>>,
}

impl<T> Listed<T> {
    /// The value and its branch, which is in the list or in a field of its own.
    fn with_branch(self, name: &str, beside: Option<Vec<Hex<32>>>) -> Result<(T, Vec<Root>), String> {
        if self.branch.is_some() && beside.is_some() {
            return Err(format!("{name:?} has two branches; keep one of them"));
        }
        let branch = self.branch.or(beside).ok_or_else(|| format!("{name:?} has no branch; add \"{name}_branch\""))?;
        Ok((self.value, roots(branch)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Visitor<T> {
            type Value = Listed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object, or a list of one object and its branch")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Listed<T>, A::Error> {
                Ok(Listed { value: T::deserialize(MapAccessDeserializer::new(map))?, branch: None })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Listed<T>, A::Error> {
                let value = list.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let branch = list.next_element()?;
                if list.next_element::<IgnoredAny>()?.is_some() {
                    return Err(de::Error::custom("found a list of more than two, expected an object and its branch"));
                }
                Ok(Listed { value, branch })
            }
        }

        deserializer.deserialize_any(Visitor(PhantomData))
    }
}

fn convert<T, U>(
    name: &str,
    listed: Option<Listed<T>>,
    beside: &mut Option<Vec<Hex<32>>>,
) -> Result<Option<(U, Vec<Root>)>, String>
where
    U: TryFrom<T, Error = String>,
{
    let Some(listed) = listed else { return Ok(None) };
    let (value, branch) = listed.with_branch(name, beside.take())?;
    Ok(Some((value.try_into()?, branch)))
}

fn roots(branch: Vec<Hex<32>>) -> Vec<Root> {
    branch.into_iter().map(|node| node.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(text: &str) -> String {
        Object::from_json(text, None).unwrap_err()
    }

    fn hex(byte: u8, length: usize) -> String {
        const_hex::encode(vec![byte; length])
    }

    fn flat_header() -> String {
        let root = hex(1, 32);
        format!(
            r#"{{"slot": 5, "proposer_index": "6", "parent_root": "{root}", "state_root": "{root}", "body_root": "{root}"}}"#
        )
    }

    fn update(rest: &str) -> String {
        format!(
            r#"{{"attested_header": {}, "signature_slot": 6,
                "sync_aggregate": {{"sync_committee_bits": "{}", "sync_committee_signature": "00"}} {rest}}}"#,
            flat_header(),
            hex(255, 64)
        )
    }

    fn committee(keys: usize) -> String {
        let keys = vec![format!("{:?}", hex(1, 48)); keys].join(",");
        format!(r#"{{"pubkeys": [{keys}], "aggregate_pubkey": "{}"}}"#, hex(1, 48))
    }

    #[test]
    fn flat_and_nested_headers_are_the_same() {
        let Object::Update(flat) = Object::from_json(&update(""), None).unwrap() else { panic!() };
        let nested = update("").replacen(&flat_header(), &format!(r#"{{"beacon": {}}}"#, flat_header()), 1);
        let Object::Update(nested) = Object::from_json(&nested, None).unwrap() else { panic!() };
        assert_eq!(flat.attested, nested.attested);
        assert_eq!(flat.attested.beacon.proposer_index, 6);
    }

    #[test]
    fn a_signature_longer_than_any_point() {
        let with = |length: usize| update("").replacen(r#""00""#, &format!("{:?}", hex(0xab, length)), 1);
        assert!(Object::from_json(&with(192), None).is_ok());
        assert!(reason(&with(193)).starts_with("\"sync_committee_signature\": found 193 bytes, more than the 192"));
    }

    #[test]
    fn a_committee_alone_in_a_list_or_with_its_branch() {
        let root = hex(2, 32);
        let beside = update(&format!(
            r#", "next_sync_committee": [{}], "next_sync_committee_branch": ["{root}"]"#,
            committee(512)
        ));
        let inside = update(&format!(r#", "next_sync_committee": [{}, ["{root}"]]"#, committee(512)));
        for text in [beside, inside] {
            let Object::Update(update) = Object::from_json(&text, None).unwrap() else { panic!() };
            assert_eq!(update.next_committee.unwrap().1, [[2; 32]]);
        }
        let three = update(&format!(r#", "next_sync_committee": [{}, [], 3]"#, committee(512)));
        assert!(reason(&three).contains("a list of more than two"));
    }

    /// Each of these was read as an update without a next committee, and "valid".
    #[test]
    fn what_stands_under_an_unknown_name_is_not_passed_over() {
        let committee = committee(512);
        let root = hex(2, 32);
        let mut unknown: Vec<String> =
            ["nextSyncCommittee", "next_sync_committee_v2", "nextCommittee", "x", "execution_header"]
                .map(|name| update(&format!(r#", "{name}": {committee}"#)))
                .into();
        unknown.push(update("").replacen("\"slot\"", "\"stateRoot\": \"00\", \"slot\"", 1));
        unknown.push(update("").replace("\"sync_committee_bits\"", "\"aggregate\": 1, \"sync_committee_bits\""));
        unknown.push(format!(r#"{{"data": {}, "next_sync_committee": {committee}}}"#, update("")));
        for text in &unknown {
            let found = Envelope::from_json(text).and_then(|envelope| match envelope.data {
                Some(data) => Object::from_json(data.get(), None),
                None => Object::from_json(text, None),
            });
            let reason = found.unwrap_err();
            assert!(reason.starts_with("found the field ") && reason.contains("would not be checked"), "{reason}");
        }
        for (field, name) in [
            (
                format!(r#""pubkeys": [{}]"#, vec![format!("{:?}", hex(1, 48)); 512].join(",")),
                "a committee with the field",
            ),
            (
                format!(r#""current_sync_committee": [{committee}, []], "header": {}"#, flat_header()),
                "a bootstrap with the field",
            ),
            (format!(r#""header": {}"#, flat_header()), "an update with the field \"header\""),
            (format!(r#""next_sync_committee_branch": ["{root}"]"#), "\"next_sync_committee_branch\""),
        ] {
            let reason = reason(&update(&format!(", {field}")));
            assert!(reason.contains(name), "{reason}");
        }
        let twice = update("").replacen("{\"slot\"", &format!("{{\"beacon\": {}, \"slot\"", flat_header()), 1);
        assert!(reason(&twice).contains("fields beside it"));
        assert!(Object::from_json(&update(r#", "version": "capella", "note": "by hand""#), None).is_ok());
    }

    #[test]
    fn snowbridges_level_holds_a_next_committee() {
        let root = hex(2, 32);
        let level =
            format!(r#"{{"next_sync_committee": {}, "next_sync_committee_branch": ["{root}"]}}"#, committee(512));
        let text = |level: &str| {
            update(&format!(
                r#", "next_sync_committee_update": {level}, "finalized_header": {}, "finality_branch": [],
                    "block_roots_root": "{root}", "block_roots_branch": ["{root}", "{root}"]"#,
                flat_header()
            ))
        };
        let Object::Update(found) = Object::from_json(&text(&level), None).unwrap() else { panic!() };
        assert_eq!(found.next_committee.unwrap().1, [[2; 32]]);
        assert_eq!(found.block_roots, Some(([2; 32], vec![[2; 32]; 2])));
        let Object::Update(without) = Object::from_json(&text("null"), None).unwrap() else { panic!() };
        assert!(without.next_committee.is_none());
        let forged = level.replacen("next_sync_committee", "nextSyncCommittee", 1);
        assert!(reason(&text(&forged)).contains("next_sync_committee_update"));
        let both = text(&level).replacen(
            "\"signature_slot\"",
            &format!("\"next_sync_committee\": {}, \"signature_slot\"", committee(512)),
            1,
        );
        assert!(reason(&both).contains("are both given"));
    }

    #[test]
    fn an_execution_branch_without_an_execution_payload_header_is_refused() {
        let with =
            |branch: &str| update("").replacen("\"slot\"", &format!("\"execution_branch\": {branch}, \"slot\""), 1);
        // Zeros are a statement, too: with the header they would be checked.
        for byte in [1, 0] {
            let branch = format!("[\"{}\", \"{}\"]", hex(0, 32), hex(byte, 32));
            assert!(reason(&with(&branch)).contains("\"execution_branch\" without \"execution\""), "{branch}");
        }
        for none in ["[]", "null"] {
            let Object::Update(update) = Object::from_json(&with(none), None).unwrap() else { panic!() };
            assert_eq!(update.attested.execution, HeaderExecution::LeftOut);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert!(reason("{}").contains("attested_header"));
        assert!(reason("[1]").contains("expected a JSON object"));
        assert!(reason(&update("").replace("signature_slot", "note")).contains("signature_slot"));
        assert!(reason(&update("").replace("\"slot\"", "\"note\"")).contains("\"slot\" is missing in a header"));
        assert!(reason(&update(&format!(r#", "finalized_header": {}"#, flat_header()))).contains("has no branch"));
        assert!(reason(&committee(511)).contains("found 511 keys"));
        assert!(
            reason(&update("").replace(&hex(255, 64), &hex(255, 63)))
                .contains("found 126 hexadecimal digits, expected 128")
        );
    }

    #[test]
    fn a_committee_without_aggregate_has_no_root() {
        let text = committee(512).replace("aggregate_pubkey", "note");
        let Object::Committee(file) = Object::from_json(&text, None).unwrap() else { panic!() };
        assert_eq!(file.committee.root(), None);
    }
}
