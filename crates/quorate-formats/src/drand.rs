//! Rounds of a drand chain, in the JSON that drand's HTTP API and its clients write.
//!
//! The reader accepts round objects (`{"round": …, "signature": …, "previous_signature"?: …, "randomness"?: …}`, API v1 and v2, and as
//! drand's gRPC gateway writes them, in base64), arrays of them or one after the other, and bundles `{"chain": …, "chain_info": {…},
//! "beacons": […]}`. A round or a bundle may also have the fields of its chain info beside its own. A chain info object on its own is the
//! chain info of the rounds that follow it.
//!
//! The signed message of a round is SHA-256(previous signature || round) on a chained network and SHA-256(round) on an
//! unchained one, with the round as 8 bytes, big-endian. On BN254 it is Keccak-256(round). A key that stands in the document
//! proves only that the document agrees with itself. To verify the rounds of a certain network, name its chain with
//! [`DrandOptions::chain`]. A round that names another chain, or whose signature has the length of another scheme's, is refused as a
//! round of another chain; of a false claim, [`chain_of`] says whether it is a round of another built-in chain. Whoever states the name or
//! the hash of a built-in chain must mean that chain's key: nothing else would say that the key is another.

mod chain;

use std::io::BufRead;

use quorate::{AnySuite, ClaimBytes, Messages, Reason};
use quorate_host::clipped;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use sha3::Keccak256;

pub use self::chain::{ChainInfo, DrandScheme};
use crate::columns::{Field, Unknown};
use crate::document::{Cursor, Element, Elements};
use crate::entry::{Entry, Malformed};
use crate::error::InputError;
use crate::format::{CHAIN_INFO_FIELDS, Format};
use crate::hex::HexOrBase64;
use crate::json;
use crate::number::Uint;
use crate::record::{Check, CheckResult, Id, Place, Record};

/// What the caller says about the rounds.
#[derive(Clone, Debug, Default)]
pub struct DrandOptions {
    /// The chain that the rounds belong to. Without it, the document must name the chain.
    pub chain: Option<ChainInfo>,
    /// The chain of rounds that name none, if there is no other: that of a chain info which the caller read before, from
    /// another document ([`Rounds::chain_info`]).
    pub earlier: Option<ChainInfo>,
    /// The suite of rounds whose chain states no scheme: one of drand's profiles. Their records name no suite, so it is also the
    /// default for [`Record::into_claim`].
    pub suite: Option<String>,
}

/// Reads rounds. Each becomes a record, whose id is the number of the round.
///
/// # Errors
/// The document is not UTF-8, or is longer than [`DOCUMENT_LIMIT`](crate::DOCUMENT_LIMIT). The iterator ends with an error if
/// the document is not JSON, names no chain that can be used, or names another chain than the caller.
pub fn read(reader: impl BufRead, options: &DrandOptions) -> Result<Rounds, InputError> {
    let elements = Elements::read(reader, Format::Drand)?;
    let current = options.chain.clone().or_else(|| options.earlier.clone());
    let (options, unknown) = (options.clone(), Unknown::default());
    Ok(Rounds { options, elements, current, bundle: None, chain_info: None, unknown, next: 0, ended: false })
}

/// The rounds of a document, one after the other.
///
/// After an `Err` from the outer result the iterator ends.
#[derive(Debug)]
pub struct Rounds {
    options: DrandOptions,
    elements: Elements,
    /// The chain that the next round belongs to.
    current: Option<ChainInfo>,
    bundle: Option<Bundle>,
    chain_info: Option<ChainInfo>,
    unknown: Unknown,
    next: u64,
    ended: bool,
}

/// The bundle whose rounds are read.
#[derive(Debug)]
struct Bundle {
    beacons: Cursor,
    /// Whether it is a round that has the fields of its chain info beside its own.
    is_round: bool,
    /// The chain that is current again after the bundle.
    outer: Option<ChainInfo>,
}

impl Iterator for Rounds {
    type Item = Result<Entry, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        Some(self.beacon()?.map(|entry| entry.map(|beacon| beacon.record)))
    }
}

/// A round, with what its chain is followed by.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Beacon {
    /// The claim.
    pub record: Record,
    /// Its number.
    pub round: u64,
    /// What a round of a chained network signs beside its number: the signature of the round before, or in round 1 the genesis seed.
    /// None on an unchained network.
    pub previous_signature: Option<Vec<u8>>,
}

impl Rounds {
    /// The next entry, as the iterator gives it, but with what joins a round to the one before it.
    pub fn beacon(&mut self) -> Option<Result<Result<Beacon, Malformed>, InputError>> {
        if self.ended {
            return None;
        }
        let entry = self.advance().transpose();
        self.ended = !matches!(entry, Some(Ok(_)));
        entry
    }

    /// The same rounds, whose elements are counted from another number than 0, and whose lines come after so many others: they go on where
    /// another document ended.
    #[must_use]
    pub fn counted_from(self, element: u64, lines: usize) -> Self {
        Self { next: element, elements: self.elements.after_lines(lines), ..self }
    }

    /// The number of the next element.
    #[must_use]
    pub fn next_element(&self) -> u64 {
        self.next
    }

    /// The last chain info that stood on its own, as far as the document was read. It speaks for the rounds after it, also in
    /// documents that the caller reads next ([`DrandOptions::earlier`]).
    #[must_use]
    pub fn chain_info(&self) -> Option<&ChainInfo> {
        self.chain_info.as_ref()
    }

    /// The names of fields of rounds that are skipped and that occurred for the first time since the last call, and where, as of
    /// [`JsonLines::take_unknown`](crate::jsonl::JsonLines::take_unknown).
    pub fn take_unknown(&mut self) -> Vec<(String, Place)> {
        self.unknown.take()
    }

    fn advance(&mut self) -> Result<Option<Result<Beacon, Malformed>>, InputError> {
        loop {
            if let Some(bundle) = &mut self.bundle {
                match self.elements.element_of(&mut bundle.beacons)? {
                    Some(beacon) => return self.round(&beacon).map(Some),
                    None => self.current = bundle.outer.take(),
                }
                self.bundle = None;
            }
            let Some(element) = self.elements.element()? else { return Ok(None) };
            let text = self.elements.text(&element);
            match shape(text) {
                Ok(Shape::Bundle { chain, beacons }) => {
                    let is_round = beacons.len() == text.len();
                    let beacons = self.elements.part(beacons);
                    let outer = self.current.clone();
                    match chain {
                        Ok(Some(chain)) => self.enter(chain)?,
                        Ok(None) => {}
                        // The document has a name of its own for the chain that the caller chose.
                        Err(InputError::ChainName { .. }) if self.options.chain.is_some() => {}
                        Err(error) => return Err(error),
                    }
                    self.bundle = Some(Bundle { beacons, is_round, outer });
                }
                Ok(Shape::Chain) => {
                    let info = ChainInfo::from_json(text)?;
                    self.chain_info = Some(info.clone());
                    self.enter(info)?;
                }
                Ok(Shape::Round) => return self.round(&element).map(Some),
                Err(reason) => return Ok(Some(Err(Malformed::new(self.place(), reason)))),
            }
        }
    }

    /// Makes the chain that the document states the current one, unless the caller chose another.
    fn enter(&mut self, stated: ChainInfo) -> Result<(), InputError> {
        match &self.options.chain {
            Some(chosen) if chosen.public_key != stated.public_key => Err(InputError::ChainMismatch {
                place: Place::Element(self.next),
                found: const_hex::encode(&stated.public_key),
                chosen: const_hex::encode(&chosen.public_key),
            }),
            Some(chosen) => match chosen.contradicts(&stated) {
                None => Ok(()),
                Some(reason) => Err(InputError::ChainInfo { reason: format!("it states {reason}") }),
            },
            None => {
                self.current = Some(stated);
                Ok(())
            }
        }
    }

    fn round(&mut self, element: &Element) -> Result<Result<Beacon, Malformed>, InputError> {
        let place = self.place();
        let is_round = self.bundle.as_ref().is_some_and(|bundle| bundle.is_round);
        let beside = if is_round { [&CHAIN_INFO_FIELDS[..], &BESIDE_A_ROUND].concat() } else { Vec::new() };
        let (text, unknown) = (self.elements.text(element), &mut self.unknown);
        let read = json::object_and_skipped::<Round>(text, &beside, |name| unknown.note(name, place));
        match read {
            Err(error) => Ok(Err(Malformed::new(place, error.to_string()))),
            Ok(round) => {
                let chain = self.current.as_ref().ok_or(InputError::ChainUnknown { place })?;
                let default = self.options.suite.as_deref().filter(|_| chain.scheme_id.is_none());
                let scheme = default.map_or_else(|| chain.scheme(), |suite| chain.scheme_of_suite(suite))?;
                let suite = default.is_none().then(|| scheme.profile().to_owned());
                let beacon = round.into_beacon(chain, scheme, suite, place);
                Ok(beacon.map_err(|reason| Malformed::new(place, reason)))
            }
        }
    }

    fn place(&mut self) -> Place {
        let place = Place::Element(self.next);
        self.next += 1;
        place
    }
}

enum Shape<'a> {
    /// The chain has a result of its own: no round of the bundle can be read without it, so an error ends the reading.
    Bundle {
        chain: Result<Option<ChainInfo>, InputError>,
        /// A list of rounds, or one round.
        beacons: &'a str,
    },
    Chain,
    Round,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct AnyElement<'a> {
    round: Option<Uint>,
    #[serde(alias = "publicKey")]
    public_key: Option<HexOrBase64>,
    chain: Option<String>,
    /// Read where it stands beside what it is about: in a chain info, that one's reader compares it.
    #[serde(borrow, alias = "chain_hash", alias = "chainHash")]
    hash: Option<&'a RawValue>,
    #[serde(borrow, alias = "chainInfo", alias = "info")]
    chain_info: Option<&'a RawValue>,
    #[serde(borrow, alias = "rounds")]
    beacons: Option<&'a RawValue>,
}

fn shape(text: &str) -> Result<Shape<'_>, String> {
    let element: AnyElement<'_> = json::object(text).map_err(|error| error.to_string())?;
    // The key of a bundle. That of a round is compared with its chain's when the round is read.
    let own = element.public_key.as_ref().filter(|_| element.beacons.is_some());
    let of_round = element.public_key.is_some() && element.round.is_some() && element.chain.is_none();
    let info = element.chain_info.map(RawValue::get).or((own.is_some() || of_round).then_some(text));
    // A round's own is compared when the round is read.
    let hash = element.hash.filter(|_| element.beacons.is_some());
    let chain = match (info, element.chain.as_deref()) {
        (Some(info), name) => stated(info, name, own).map(Some),
        (None, Some(name)) => ChainInfo::well_known(name).map(Some),
        (None, None) => Ok(None),
    };
    let chain = chain.and_then(|chain| match (hash, chain) {
        (Some(hash), Some(chain)) => beside_hash(chain, hash).map(Some),
        (_, chain) => Ok(chain),
    });
    match (element.beacons.map(RawValue::get), element.round) {
        (Some(_), Some(_)) => Err("\"round\" and \"beacons\" are both given; keep one of them".to_owned()),
        (Some(beacons), None) if beacons.starts_with('[') => Ok(Shape::Bundle { chain, beacons }),
        (Some(_), None) => Err("\"beacons\": expected a list of rounds".to_owned()),
        (None, Some(_)) if matches!(chain, Ok(None)) => Ok(Shape::Round),
        (None, Some(_)) => Ok(Shape::Bundle { chain, beacons: text }),
        (None, None) if element.public_key.is_some() => Ok(Shape::Chain),
        (None, None) => Err("expected a round (\"round\", \"signature\"), a bundle of rounds (\"beacons\") or a chain info (\"public_key\")".to_owned()),
    }
}

/// A chain info beside which the name of a chain or the key of a bundle may stand, which must be of the same chain.
fn stated(info: &str, name: Option<&str>, own: Option<&HexOrBase64>) -> Result<ChainInfo, InputError> {
    let info = ChainInfo::from_json(info)?;
    // A name that is not built in is the document's own.
    let named = name.and_then(|name| ChainInfo::well_known(name).ok());
    let named =
        named.map(|named| (format!("the name of the chain {:?}", named.name().unwrap_or_default()), named.public_key));
    let own = own.map(|key| ("the fields of a bundle".to_owned(), key.0.clone()));
    match named.into_iter().chain(own).find(|(_, key)| *key != info.public_key) {
        None => Ok(info),
        Some((beside, key)) => Err(InputError::ChainInfo {
            reason: format!(
                "it stands beside {beside}, whose key is {}, but it has the key {}",
                shortened(&key),
                shortened(&info.public_key)
            ),
        }),
    }
}

/// A chain beside which a bundle states a chain hash, which must be that chain's.
fn beside_hash(chain: ChainInfo, hash: &RawValue) -> Result<ChainInfo, InputError> {
    let unusable = |reason: String| InputError::ChainInfo { reason };
    let HexOrBase64(hash) = json::value(hash.get()).map_err(|reason| unusable(format!("\"chain_hash\": {reason}")))?;
    if chain.may_have_hash(&hash) {
        return Ok(chain);
    }
    Err(unusable(format!("it stands beside the chain hash {}, which is another chain's", shortened(&hash))))
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Round {
    round: Uint,
    signature: HexOrBase64,
    #[serde(alias = "previousSignature")]
    previous_signature: Option<HexOrBase64>,
    randomness: Option<HexOrBase64>,
    /// What the round says of its chain.
    chain: Option<String>,
    #[serde(alias = "chainHash", alias = "hash")]
    chain_hash: Option<HexOrBase64>,
    #[serde(alias = "publicKey")]
    public_key: Option<HexOrBase64>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Metadata {
    #[serde(rename = "beaconID", alias = "beacon_id")]
    beacon_id: Option<String>,
    #[serde(rename = "chainHash", alias = "chain_hash")]
    chain_hash: Option<HexOrBase64>,
}

impl Round {
    fn into_beacon(
        self,
        chain: &ChainInfo,
        scheme: DrandScheme,
        suite: Option<String>,
        place: Place,
    ) -> Result<Beacon, String> {
        let round = self.round.0;
        if round == 0 {
            return Err(
                "\"round\" is 0, which stands for the genesis seed; expected 1 or more, because nobody signs round 0"
                    .to_owned(),
            );
        }
        let previous = self.previous_signature.as_ref();
        for (name, bytes) in [("signature", Some(&self.signature)), ("previous_signature", previous)] {
            let length = bytes.map_or(0, |bytes| bytes.0.len());
            Field::Signature.check_length(length).map_err(|reason| format!("\"{name}\": {reason}"))?;
        }
        let mut checks = Vec::new();
        checks.extend(self.chain_check(chain, scheme));
        checks.extend(self.randomness_check());
        let is_of_another = checks.iter().any(|check| check.failed() && check.name == CHAIN);
        let mut previous_signature = None;
        let message = match scheme {
            DrandScheme::Unchained | DrandScheme::Quicknet | DrandScheme::G1Legacy => message(&[], round),
            DrandScheme::Evmnet => Keccak256::digest(round.to_be_bytes()).into(),
            DrandScheme::Chained => {
                checks.extend(self.genesis_check(chain));
                let seed = chain.genesis_seed.as_deref().filter(|_| round == 1);
                let previous = self.previous_signature.as_ref().map(|bytes| bytes.0.as_slice()).or(seed);
                // What a round of another chain signs is not known.
                let previous = previous.or(is_of_another.then_some(&[])).ok_or_else(|| {
                    format!("round {round} lacks \"previous_signature\", which a round of a chained network signs")
                })?;
                previous_signature = Some(previous.to_vec());
                message(previous, round)
            }
        };
        let record = Record {
            id: Some(Id::number(round)),
            suite,
            public_keys: vec![chain.public_key.clone()].into(),
            messages: Messages::Shared((&message[..]).into()),
            signature: self.signature.0,
            source: None,
            place,
            checks,
            rests_on: None,
            chain: None,
        };
        Ok(Beacon { record, round, previous_signature })
    }

    /// Whether the round is of its chain, as far as it says so and its signature's length tells.
    fn chain_check(&self, chain: &ChainInfo, scheme: DrandScheme) -> Option<Check> {
        let of = chain.name().map_or_else(|| const_hex::encode(&chain.public_key), str::to_owned);
        let another = |stated: String| {
            Some(Check::decided(
                CHAIN,
                CheckResult::Failed,
                format!("{stated}, so it is a round of another chain than {of}"),
            ))
        };
        // A name that is not built in is the document's own. A beacon id is the name among the chains of its nodes: several networks call
        // theirs "default".
        let id = self.metadata.as_ref().and_then(|metadata| metadata.beacon_id.as_deref());
        let names = [self.chain.as_deref(), id.filter(|_| chain.name().is_some())];
        for name in names.into_iter().flatten() {
            if ChainInfo::well_known(name).is_ok_and(|named| named.public_key != chain.public_key) {
                return another(format!("the round names the chain {}", clipped(name, 64)));
            }
        }
        if let Some(key) = self.public_key.as_ref().filter(|key| key.0 != chain.public_key) {
            return another(format!("the round states the public key {}", shortened(&key.0)));
        }
        let in_metadata = self.metadata.as_ref().and_then(|metadata| metadata.chain_hash.as_ref().map(|hash| &hash.0));
        for hash in [self.chain_hash.as_ref().map(|hash| &hash.0), in_metadata].into_iter().flatten() {
            if !chain.may_have_hash(hash) {
                return another(format!("the round states the chain hash {}", shortened(hash)));
            }
        }
        let (expected, found) = (scheme.signature_length(), self.signature.0.len());
        let others: Vec<&str> = chain::candidates(found, &chain.public_key).map(|(name, ..)| name).collect();
        if found == expected || others.is_empty() {
            return None;
        }
        another(format!(
            "its signature has {found} bytes, as those of {} have, and not {expected}",
            others.join(" and ")
        ))
    }

    /// The randomness of a round is the hash of its signature.
    fn randomness_check(&self) -> Option<Check> {
        let stated = &self.randomness.as_ref()?.0;
        let computed = Sha256::digest(&self.signature.0);
        let hash = const_hex::encode(computed);
        let passed = stated.as_slice() == computed.as_slice();
        let detail = match passed {
            true => format!("the signature hashes to {hash}"),
            false => format!("expected the hash of the signature, {hash}, found {}", shortened(stated)),
        };
        Some(Check::decided("randomness", CheckResult::of(passed), detail))
    }

    /// Round 1 signs the genesis seed in place of a previous signature.
    fn genesis_check(&self, chain: &ChainInfo) -> Option<Check> {
        let stated = &self.previous_signature.as_ref().filter(|_| self.round.0 == 1)?.0;
        let Some(seed) = &chain.genesis_seed else {
            return Some(Check::decided(
                "genesis_seed",
                CheckResult::NotPossible,
                "the chain info does not state the genesis seed",
            ));
        };
        let expected = const_hex::encode(seed);
        let detail = match stated == seed {
            true => format!("the chain starts from {expected}"),
            false => format!("expected the seed {expected} that the chain starts from, found {}", shortened(stated)),
        };
        Some(Check::decided("genesis_seed", CheckResult::of(stated == seed), detail))
    }
}

/// Hexadecimal digits of 32 bytes at most: what a document states in place of a hash can be of any length.
fn shortened(bytes: &[u8]) -> String {
    match bytes.get(..32) {
        Some(start) if bytes.len() > 32 => format!("{}… ({} bytes)", const_hex::encode(start), bytes.len()),
        _ => const_hex::encode(bytes),
    }
}

/// The message of a round: SHA-256(previous || round), with nothing previous on an unchained network.
fn message(previous: &[u8], round: u64) -> [u8; 32] {
    Sha256::new().chain_update(previous).chain_update(round.to_be_bytes()).finalize().into()
}

/// Names of a chain info that can stand beside a round, and are not among [`CHAIN_INFO_FIELDS`].
const BESIDE_A_ROUND: [&str; 5] = ["schemeID", "beaconID", "chain_info", "chainInfo", "info"];

/// The check that a round is of its chain.
const CHAIN: &str = "chain";

/// The built-in chain of which a claim is a round, if it is not of the chain whose key it has.
///
/// It asks the key of each built-in chain whose signatures have this length, two at most, by its own pairings. So it is asked of false
/// claims alone, and not of all. A claim that is not a round is of no chain.
#[must_use]
pub fn chain_of(claim: &ClaimBytes) -> Option<&'static str> {
    DrandScheme::from_profile(claim.suite.name())?;
    let [key] = &claim.public_keys.as_encoded()?[..] else { return None };
    chain::candidates(claim.signature.len(), key).find_map(|(name, key, scheme)| {
        let suite: AnySuite = scheme.profile().parse().ok()?;
        let of_chain = ClaimBytes { suite, public_keys: vec![key].into(), ..claim.clone() };
        of_chain.verify().is_valid().then_some(name)
    })
}

/// Looks for the chains of false rounds, of the first few of a run: it takes a pairing or two for each.
#[derive(Clone, Debug)]
pub struct OtherChains {
    left: usize,
}

impl Default for OtherChains {
    fn default() -> Self {
        Self { left: LOOKED_FOR }
    }
}

impl OtherChains {
    /// The built-in chain of which a claim is a round whose signature is of another key, see [`chain_of`].
    pub fn look(&mut self, claim: &ClaimBytes, reason: Reason) -> Option<&'static str> {
        if reason != Reason::Mismatch {
            return None;
        }
        DrandScheme::from_profile(claim.suite.name())?;
        self.left = self.left.checked_sub(1)?;
        chain_of(claim)
    }

    /// Why a claim is false, with the chain of which it is a round.
    pub fn reason(&mut self, claim: &ClaimBytes, reason: Reason) -> String {
        match self.look(claim, reason) {
            Some(chain) => format!("{reason}; it is a round of the chain {chain}"),
            None => reason.to_string(),
        }
    }
}

/// How many false rounds of a run are looked for in other chains.
const LOOKED_FOR: usize = 16;

#[cfg(test)]
mod tests;
