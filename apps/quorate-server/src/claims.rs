//! What a request says, before anything is verified: bytes and a query become claims, or the reason why not.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::http::Extensions;
use quorate::{AnySuite, ClaimBytes, SourceId};
use quorate_batcher::Class;
use quorate_formats::{
    Entry, Id, InputError, Malformed, Room,
    arrow::ArrowRows,
    jsonl::{JsonDocument, entry_of_line},
    key_sets::KeySets,
};
use thiserror::Error;

use crate::{
    budget::{Held, Reading},
    clients::{Shown, is_client_name},
    config::ServerLimits,
};

/// A claim of a request, and what the request calls it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The request's own name for it.
    pub id: Option<Id>,
    /// The claim.
    pub claim: ClaimBytes,
}

/// Why a request makes no claims.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BadClaims {
    /// A claim cannot be read.
    #[error(transparent)]
    Claim(#[from] Malformed),
    /// The body cannot be read.
    #[error("{0}")]
    Body(String),
    /// There are no claims in it.
    #[error("the body holds no claims; send at least one")]
    Empty,
    /// There are too many claims in it.
    #[error("the body holds more than {0} claims, the limit; send several requests, or a stream of JSON lines")]
    TooMany(usize),
    /// There is no memory left for them now.
    #[error("too many requests are in progress; send it again later")]
    NoRoom,
}

/// Reads the claims of a request. Whatever they hold finds memory before it is kept.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The suite of claims that name none.
    pub suite: Option<AnySuite>,
    /// The key sets whose members they can name.
    pub key_sets: &'a KeySets,
    /// How many claims and keys there may be.
    pub limits: &'a ServerLimits,
    /// Who sends them.
    pub caller: &'a Caller,
    /// The memory of the request.
    pub held: &'a mut Held,
}

impl Reader<'_> {
    /// The claims of a JSON document: one claim, or an array of claims.
    ///
    /// # Errors
    /// [`BadClaims`], for the first claim that cannot be read.
    pub fn json(self, body: Vec<u8>) -> Result<Vec<Named>, BadClaims> {
        let document = JsonDocument::new(body).map_err(|error| BadClaims::Body(error.to_string()))?;
        let mut document = document.with_key_sets(self.key_sets.clone());
        self.all(|room| document.next_within(room))
    }

    /// The claims of a stream of Arrow record batches, one a row.
    ///
    /// # Errors
    /// [`BadClaims`], for the first claim that cannot be read.
    pub fn arrow(self, body: Vec<u8>) -> Result<Vec<Named>, BadClaims> {
        let mut rows = ArrowRows::new(body);
        let needed = rows.memory();
        self.held.take(needed).ok_or(BadClaims::NoRoom)?;
        let held = &mut *self.held;
        let read = Reader { held, ..self }.all(|room| rows.next_within(room));
        drop(rows);
        self.held.give(needed);
        read
    }

    /// The claim on a line of a stream; none for a blank line.
    ///
    /// # Errors
    /// [`BadClaims::Claim`], or [`BadClaims::NoRoom`].
    pub fn line(&mut self, line: &[u8], number: u64) -> Option<Result<Named, BadClaims>> {
        let mut reading = Reading::new(self.held, self.limits.keys);
        let entry = entry_of_line(line, number, self.key_sets, &mut reading)?;
        Some(named(entry, reading, self.suite, self.caller))
    }

    /// The claims that a reader gives, none of which may be malformed.
    fn all(
        self,
        mut next: impl FnMut(&mut dyn Room) -> Result<Option<Entry>, InputError>,
    ) -> Result<Vec<Named>, BadClaims> {
        let Self { suite, key_sets: _, limits, caller, held } = self;
        let mut claims = Vec::new();
        loop {
            let mut reading = Reading::new(held, limits.keys);
            let Some(entry) = next(&mut reading).map_err(|error| BadClaims::Body(error.to_string()))? else { break };
            if claims.len() == limits.claims {
                return Err(BadClaims::TooMany(limits.claims));
            }
            claims.push(named(entry, reading, suite, caller)?);
        }
        if claims.is_empty() { Err(BadClaims::Empty) } else { Ok(claims) }
    }
}

/// The claim of an entry, which takes what it holds from the budget.
pub(crate) fn named(
    entry: Entry,
    reading: Reading<'_>,
    suite: Option<AnySuite>,
    caller: &Caller,
) -> Result<Named, BadClaims> {
    if reading.was_refused() {
        return Err(BadClaims::NoRoom);
    }
    let mut record = entry?;
    let (id, place) = (record.id.take(), record.place);
    let malformed = |reason: String| Malformed::new(place, reason).with_id(id.clone());
    // What a signature cannot prove: that its chain refutes the claim.
    if let Some(check) = record.failed_check() {
        let reason =
            format!("\"reason\": the chain refutes this claim ({}), so no signature makes it valid", check.detail);
        return Err(malformed(reason).into());
    }
    record.source = Some(caller.source(record.source).map_err(|why| malformed(format!("\"source\": {why}")))?);
    let claim = record.into_claim(suite).map_err(|error| {
        malformed(match error {
            quorate_formats::SuiteError::Missing => {
                "\"suite\" is missing; give it, or one for all claims of the request: ?suite=NAME, in gRPC common.suite"
                    .to_owned()
            }
            other => format!("\"suite\": {other}"),
        })
    })?;
    let named = Named { id, claim };
    reading.end(named.memory()).ok_or(BadClaims::NoRoom)?;
    Ok(named)
}

/// Who sends claims: a connection, and the client that it is of.
///
/// A claim that names no source is its connection's own, so that false ones are held against nobody else. A name that a claim states is
/// taken as it is, or, if the configuration says so, as a name that counts on this connection alone. The name of a known client stands in
/// front of all of them, so that no client can have a source of another one banned.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The connection.
    source: SourceId,
    client: Option<Arc<str>>,
    /// By what it is known again after a reload.
    shown: Shown,
    /// Whether the names that claims state count on this connection alone.
    only_here: bool,
}

impl Caller {
    /// The connection with this number, and who is at its other end. `client` is a known client's name.
    #[must_use]
    pub fn new(number: u64, peer: &str, client: Option<Arc<str>>, only_here: bool) -> Self {
        let connection = format!("{OWN}{number} of {peer}");
        let source = match &client {
            None => connection,
            Some(client) => format!("{client}{OF_CLIENT}{connection}"),
        };
        Self { source: SourceId::from(source.as_str()), client, shown: Shown::nothing(), only_here }
    }

    /// The same caller, who has shown this.
    pub(crate) fn with_shown(self, shown: Shown) -> Self {
        Self { shown, ..self }
    }

    /// What it has shown.
    pub(crate) fn shown(&self) -> &Shown {
        &self.shown
    }

    /// Who sends a request, as it was found before anything else was done with it.
    pub(crate) fn of(extensions: &Extensions) -> Option<Self> {
        extensions.get().cloned()
    }

    /// The name of the client, if it is a known one.
    pub(crate) fn client(&self) -> Option<&Arc<str>> {
        self.client.as_ref()
    }

    /// The source of a claim that states this one.
    ///
    /// # Errors
    /// What was found and expected: some names are the server's own.
    pub fn source(&self, stated: Option<SourceId>) -> Result<SourceId, String> {
        let Some(stated) = stated else { return Ok(self.source.clone()) };
        if Self::is_own(&stated) {
            return Err(format!(
                "found a name that is \"{OWN}…\" or \"CLIENT{OF_CLIENT}{OWN}…\", as only the server gives them; choose another one, or \
                 leave it out"
            ));
        }
        Ok(match &self.client {
            _ if self.only_here => SourceId::from(format!("{}: {stated}", self.source).as_str()),
            Some(client) => SourceId::from(format!("{client}{OF_CLIENT}{stated}").as_str()),
            None => stated,
        })
    }

    /// Whether a source is one of this caller's client. Where nobody needs a name, everybody may know of all of them.
    pub(crate) fn may_see(&self, source: &SourceId) -> bool {
        let Some(client) = &self.client else { return true };
        let SourceId::Name(name) = source else { return false };
        name.split_once(OF_CLIENT).is_some_and(|(of, _)| of == &**client)
    }

    /// Whether a source is one that the server has named, after a connection that ends.
    #[must_use]
    pub fn is_own(source: &SourceId) -> bool {
        let SourceId::Name(name) = source else { return false };
        let of_client = name.split_once(OF_CLIENT).filter(|(client, _)| is_client_name(client));
        name.starts_with(OWN) || of_client.is_some_and(|(_, name)| name.starts_with(OWN))
    }
}

/// What stands between a client's name and that of its source.
const OF_CLIENT: char = '/';

/// What the names of connections begin with.
const OWN: &str = "connection:";

/// What all claims of a request have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The suite of claims that name none.
    pub suite: Option<AnySuite>,
    /// How urgent they are.
    pub class: Class,
    /// After this time a verdict is of no use.
    pub deadline: Option<Duration>,
}

impl Asked {
    /// After which time a verdict on a claim that comes now is of no use.
    pub(crate) fn deadline_from(&self, now: Instant) -> Option<Instant> {
        self.deadline.map(|deadline| now + deadline)
    }

    /// Reads the query of a request. `default` is the suite of the configuration.
    ///
    /// # Errors
    /// A message that names the parameter.
    pub fn read<'a>(
        query: impl IntoIterator<Item = (&'a str, &'a str)>,
        default: Option<AnySuite>,
    ) -> Result<Self, String> {
        let [mut suite, mut class, mut deadline] = [None; 3];
        for (name, value) in query {
            let slot = match name {
                "suite" => &mut suite,
                "class" => &mut class,
                "deadline_ms" => &mut deadline,
                other => {
                    return Err(format!(
                        "found the parameter {other:?}, expected suite, class or deadline_ms; leave it out"
                    ));
                }
            };
            if slot.replace(value).is_some() {
                return Err(format!("the parameter {name} stands in the query twice; keep one of them"));
            }
        }
        let suite = match suite {
            Some(name) => Some(name.parse().map_err(|error| format!("suite: {error}"))?),
            None => default,
        };
        let class = match class {
            Some(name) => name.parse().map_err(|_| format!("class: found {name:?}, expected block, duty or gossip"))?,
            None => Class::Gossip,
        };
        let expected = |found| {
            format!("deadline_ms: found {found:?}, expected a number of milliseconds from 1 to {LONGEST_DEADLINE_MS}")
        };
        let deadline = match deadline {
            Some(text) => match text.parse() {
                Ok(ms @ 1..=LONGEST_DEADLINE_MS) => Some(Duration::from_millis(ms)),
                _ => return Err(expected(text)),
            },
            None => None,
        };
        Ok(Self { suite, class, deadline })
    }
}

/// An hour.
const LONGEST_DEADLINE_MS: u64 = 3_600_000;

impl Named {
    /// About how many bytes of memory it takes, with its place in the queue and its answer.
    pub(crate) fn memory(&self) -> usize {
        let id = self.id.as_ref().map_or(0, |id| id.as_json().len());
        // The name stands in the answer too, and once more where that is written out.
        BESIDE + 3 * id + self.claim.memory()
    }
}

/// What a claim takes beside its bytes: its task, its place in the queue and in the indices of that, its answer, and the answer as text.
const BESIDE: usize = 1024;

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, NullArray, RecordBatch};
    use arrow_ipc::writer::StreamWriter;

    use super::*;
    use crate::budget::Budget;

    const GOOD: &str = r#"{"id": 7, "suite": "eth2", "public_key": "01", "message": "02", "signature": "03"}"#;

    fn reading<T>(limits: &ServerLimits, read: impl FnOnce(Reader<'_>) -> T) -> T {
        let (caller, mut held) = (Caller::new(7, "10.0.0.1", None, false), Budget::new(limits).holding());
        read(Reader { suite: None, key_sets: &KeySets::default(), limits, caller: &caller, held: &mut held })
    }

    fn json(body: &str) -> Result<Vec<Named>, String> {
        let limits = ServerLimits { claims: 2, keys: 2, ..ServerLimits::default() };
        reading(&limits, |reader| reader.json(body.as_bytes().to_vec())).map_err(|error| error.to_string())
    }

    /// Who names no source is the source of what it sends, so that lies without a source have somebody to be held against.
    #[test]
    fn no_source_is_the_connection() {
        let source = |caller: &Caller, stated: Option<&str>| caller.source(stated.map(SourceId::from));
        let (shared, own) = (Caller::new(7, "10.0.0.1", None, false), Caller::new(8, "10.0.0.1", None, true));
        assert_eq!(source(&shared, None).unwrap().to_string(), "connection:7 of 10.0.0.1");
        assert_ne!(source(&shared, None), source(&own, None));
        assert_eq!(source(&shared, Some("node-b")).unwrap(), SourceId::from("node-b"));
        // Nobody can have another one's connection banned.
        for name in ["connection:", "connection:8 of 10.0.0.1", "peer/connection:9"] {
            let error = source(&shared, Some(name)).unwrap_err();
            assert!(error.contains(r#"is "connection:…" or "CLIENT/connection:…", as only the server"#), "{error}");
            assert!(source(&own, Some(name)).is_err(), "{name}");
        }
        assert_eq!(source(&own, Some("node-b")).unwrap().to_string(), "connection:8 of 10.0.0.1: node-b");
        assert!(Caller::is_own(&source(&own, Some("node-b")).unwrap()) && !Caller::is_own(&7.into()));
        let claims = json(GOOD).unwrap();
        assert_eq!(claims[0].claim.source, Some(source(&shared, None).unwrap()));
        let stated = GOOD.replace("\"id\": 7", "\"source\": \"connection:7 of 10.0.0.1\"");
        assert!(json(&stated).unwrap_err().contains("\"source\": found a name"));
    }

    /// Whatever a client states, it is a source of its own.
    #[test]
    fn a_client_names_no_source_of_another_one() {
        let caller = |only_here| Caller::new(7, "10.0.0.1", Some("alice".into()), only_here);
        let (shared, own) = (caller(false), caller(true));
        let source = |caller: &Caller, stated: Option<&str>| caller.source(stated.map(SourceId::from));
        assert_eq!(source(&shared, None).unwrap().to_string(), "alice/connection:7 of 10.0.0.1");
        for (stated, expected) in [("peer7", "alice/peer7"), ("bob/peer7", "alice/bob/peer7"), ("", "alice/")] {
            assert_eq!(source(&shared, Some(stated)).unwrap().to_string(), expected);
        }
        assert_eq!(shared.source(Some(7.into())).unwrap().to_string(), "alice/7");
        assert_eq!(source(&own, Some("peer7")).unwrap().to_string(), "alice/connection:7 of 10.0.0.1: peer7");
        // Who has no name cannot take one, and nobody makes up a connection, whose bans do not outlast the server.
        let nameless = Caller::new(8, "10.0.0.2", None, false);
        for name in ["connection:7 of 10.0.0.1", "alice/connection:7 of 10.0.0.1"] {
            assert!(source(&nameless, Some(name)).is_err() && source(&shared, Some(name)).is_err(), "{name}");
        }
        assert!(Caller::is_own(&source(&shared, None).unwrap()));
        assert!(!Caller::is_own(&"alice/peer7".into()) && !Caller::is_own(&"a peer/connection:7".into()));
    }

    /// A true signature does not make a claim valid that its chain refutes.
    #[test]
    fn a_claim_that_its_chain_refutes_is_refused() {
        let of_chain = |rest: &str| {
            json(&GOOD.replace("\"id\": 7", &format!("\"kind\": \"exit\", \"slot\": 1, \"index\": 0{rest}")))
        };
        assert!(of_chain("").is_ok());
        let refused = of_chain(", \"reason\": \"not in the committee\"").unwrap_err();
        assert!(refused.contains("\"reason\"") && refused.contains("not in the committee"), "{refused}");
    }

    /// A claim of 8 MB with 2.7 million empty keys, and one of 27 claims with 100,000 each: refused before they are kept.
    #[test]
    fn what_is_short_on_the_wire_and_long_in_memory_finds_no_room() {
        let many = |keys: usize| {
            let keys = vec!["\"\""; keys].join(",");
            format!(r#"{{"suite":"eth2","public_keys":[{keys}],"message":"","signature":""}}"#)
        };
        let limits = ServerLimits { keys: 100_000, memory_bytes: 32 << 20, ..ServerLimits::default() };
        let read = |body: String| reading(&limits, |reader| reader.json(body.into_bytes()));
        let error = read(many(2_700_000)).unwrap_err().to_string();
        assert!(error.contains("found 2700000 keys, expected at most 100000"), "{error}");
        let body = format!("[{}]", vec![many(100_000); 27].join(","));
        assert_eq!(read(body), Err(BadClaims::NoRoom));
        assert_eq!(read(many(100_000)).unwrap()[0].claim.public_keys.len(), 100_000);
    }

    /// The schema of a stream finds room before it is read, also where the stream has no mark in front of it.
    #[test]
    fn a_schema_finds_room_before_it_is_read() {
        let columns = (0..1000).map(|i| (i.to_string(), Arc::new(NullArray::new(0)) as ArrayRef, true));
        let table = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &table.schema()).unwrap();
        writer.finish().unwrap();
        let stream = writer.into_inner().unwrap();
        for stream in [&stream[..], &stream[4..]] {
            let read = |memory_bytes| {
                let limits = ServerLimits { memory_bytes, ..ServerLimits::default() };
                reading(&limits, |reader| reader.arrow(stream.to_vec()))
            };
            assert_eq!(read(10 * stream.len()), Err(BadClaims::NoRoom));
            assert_eq!(read(200 * stream.len()), Err(BadClaims::Empty));
        }
    }

    #[test]
    fn one_claim_or_an_array() {
        assert_eq!(json(GOOD).unwrap().len(), 1);
        let two = json(&format!("[{GOOD}, {GOOD}]")).unwrap();
        assert_eq!(two[1].id, Some(Id::number(7)));
    }

    #[test]
    fn a_bad_body_is_named_with_its_place_and_field() {
        let keys = r#"{"suite": "eth2", "public_keys": ["", "", ""], "message": "", "signature": ""}"#;
        for (body, expected) in [
            ("", "the body holds no claims"),
            ("[]", "the body holds no claims"),
            ("{", "the JSON document ends in the middle, at line 1"),
            (
                "hello",
                "expected a claim or an array of claims in JSON, but at line 1, column 1 it is not JSON: expected value",
            ),
            (&format!("{GOOD}\n x"), "at line 2, column 2 it is not JSON: expected value"),
            (&format!("[{GOOD},\n{GOOD},\n{GOOD}]"), "more than 2 claims"),
            (&format!("[{GOOD}, {{}}]"), "element [1]: \"public_key\" is missing"),
            (&GOOD.replace("03", "0g"), "signature"),
            (&GOOD.replace("eth2", "eth3"), "element [0]: \"suite\""),
            (&GOOD.replace("\"suite\": \"eth2\",", ""), "?suite=NAME"),
            (keys, "\"public_keys\": found 3 keys, expected at most 2"),
            (&"[".repeat(100_000), "line 1"),
        ] {
            let error = json(body).unwrap_err();
            assert!(error.contains(expected), "{body:.80}: {error}");
        }
    }

    #[test]
    fn the_query_is_read_and_its_faults_are_named() {
        let read = |query: &[(&'static str, &'static str)]| Asked::read(query.iter().copied(), None);
        let asked = read(&[("class", "block"), ("suite", "eth2"), ("deadline_ms", "250")]).unwrap();
        assert_eq!((asked.class, asked.deadline), (Class::Block, Some(Duration::from_millis(250))));
        assert_eq!(read(&[]).unwrap(), Asked { suite: None, class: Class::Gossip, deadline: None });
        for (query, expected) in [
            ([("class", "urgent")].as_slice(), "class: found \"urgent\""),
            (&[("suite", "eth3")], "suite: "),
            (&[("clas", "block")], "\"clas\""),
            (&[("class", "duty"), ("class", "duty")], "twice"),
            (&[("deadline_ms", "0")], "deadline_ms: found \"0\""),
            (&[("deadline_ms", "-5")], "deadline_ms"),
            (&[("deadline_ms", "99999999999999999999999")], "deadline_ms"),
        ] {
            let error = read(query).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
