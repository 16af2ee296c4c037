//! What identifies a drand chain: its public key, its scheme, and its chain hash.
//!
//! The hash covers everything but the scheme, so a document with the right hash could name any scheme. What a document says of a
//! built-in chain is therefore compared with the table, whichever of its fields it states.
//!
//! Spec: drand, `common/chain/info.go` (`Info.Hash`).

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::columns::Field;
use crate::error::InputError;
use crate::hex::HexOrBase64;
use crate::json;
use crate::number::Uint;

/// What is public about a chain, as the HTTP API's `/info` states it (versions 1 and 2), or in base64 drand's gRPC gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainInfo {
    /// The group's public key: 48 bytes if signatures are in G2, 96 bytes if they are in G1, 128 bytes on BN254.
    pub public_key: Vec<u8>,
    /// The scheme as the document names it. drand itself reads a missing scheme as `pedersen-bls-chained`.
    pub scheme_id: Option<String>,
    /// What round 1 of a chained network signs instead of a previous signature.
    pub genesis_seed: Option<Vec<u8>>,
    /// The chain hash, if the document states it.
    pub hash: Option<Vec<u8>>,
}

impl ChainInfo {
    /// Reads an `/info` document.
    ///
    /// If the document states the chain hash and everything that it covers, the hash is checked. If it states the chain hash or the
    /// key of a built-in chain, everything else that it states must be that chain's; what it leaves out is taken from there.
    ///
    /// # Errors
    /// The text is not a JSON object with a public key, it has a field that is longer than any key or point, it does not hash to the chain hash that it states, or it contradicts a
    /// built-in chain or itself.
    pub fn from_json(text: &str) -> Result<Self, InputError> {
        let unusable = |reason: String| InputError::ChainInfo { reason };
        let document: Document = json::object(text.trim()).map_err(|error| unusable(error.to_string()))?;
        document.check_lengths().map_err(unusable)?;
        document.check_hash().map_err(unusable)?;
        let known = document.known();
        if let Some(known) = known {
            document.check_known(known).map_err(unusable)?;
        }
        let scheme_id = document.scheme_id.filter(|id| !id.is_empty());
        let seed = document.genesis_seed.map(|seed| seed.0);
        Ok(Self {
            public_key: document.public_key.0,
            scheme_id: scheme_id.or_else(|| known.map(|known| known.scheme_id.to_owned())),
            genesis_seed: seed.or_else(|| known.map(|known| bytes(known.genesis_seed))),
            hash: document.hash.map(|hash| hash.0).or_else(|| known.map(|known| bytes(known.hash))),
        })
    }

    /// The name of the built-in chain that this is.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        WellKnown::of_key(&self.public_key).map(|known| known.name)
    }

    /// Whether a document that states this chain hash can be of the chain. A hash that is in the table is its chain's alone.
    pub(super) fn may_have_hash(&self, hash: &[u8]) -> bool {
        let of_key = WellKnown::of_hash(hash).is_none_or(|known| bytes(known.public_key) == self.public_key);
        of_key && self.hash.as_ref().is_none_or(|known| known == hash)
    }

    /// Why another statement about the same chain is of another chain; none if it is not.
    pub(super) fn contradicts(&self, stated: &Self) -> Option<String> {
        let (ours, theirs) = (self.scheme().ok(), stated.scheme().ok());
        if self.scheme_id.is_some() && stated.scheme_id.is_some() && ours != theirs {
            let scheme = |info: &Self| info.scheme_id.clone().unwrap_or_default();
            return Some(format!("the scheme {:?}, but the chosen chain has {:?}", scheme(stated), scheme(self)));
        }
        let hex = |bytes: &Vec<u8>| const_hex::encode(bytes);
        for (what, ours, theirs) in
            [("chain hash", &self.hash, &stated.hash), ("genesis seed", &self.genesis_seed, &stated.genesis_seed)]
        {
            if let (Some(ours), Some(theirs)) = (ours, theirs)
                && ours != theirs
            {
                return Some(format!("the {what} {}, but the chosen chain has {}", hex(theirs), hex(ours)));
            }
        }
        None
    }

    /// The names of the chains that are built in.
    pub fn names() -> impl Iterator<Item = &'static str> {
        WELL_KNOWN.iter().map(|chain| chain.name)
    }

    /// A chain of the League of Entropy's mainnet, by its name or its chain hash.
    ///
    /// # Errors
    /// No built-in chain has that name or hash.
    pub fn well_known(name: &str) -> Result<Self, InputError> {
        let chain = WELL_KNOWN
            .iter()
            .find(|chain| chain.name == name || chain.hash.eq_ignore_ascii_case(name))
            .ok_or_else(|| InputError::ChainName { name: name.to_owned() })?;
        Ok(Self {
            public_key: bytes(chain.public_key),
            scheme_id: Some(chain.scheme_id.to_owned()),
            genesis_seed: Some(bytes(chain.genesis_seed)),
            hash: Some(bytes(chain.hash)),
        })
    }

    /// The scheme under which the chain's rounds are signed.
    ///
    /// # Errors
    /// drand has no scheme of that name, or the document names none and the key is not one of the default scheme.
    pub fn scheme(&self) -> Result<DrandScheme, InputError> {
        match &self.scheme_id {
            Some(id) => DrandScheme::from_id(id),
            None => self.fitting(DrandScheme::Chained),
        }
    }

    /// The scheme that has the suite of a caller, for a chain that states none.
    pub(super) fn scheme_of_suite(&self, suite: &str) -> Result<DrandScheme, InputError> {
        let scheme = DrandScheme::from_profile(suite);
        self.fitting(scheme.ok_or_else(|| InputError::SuiteNotDrand { suite: suite.to_owned() })?)
    }

    /// The scheme, if its keys are as long as that of the chain.
    fn fitting(&self, scheme: DrandScheme) -> Result<DrandScheme, InputError> {
        let (found, expected) = (self.public_key.len(), scheme.key_length());
        if found == expected {
            return Ok(scheme);
        }
        Err(InputError::ChainInfo {
            reason: format!(
                "it names no scheme, and its key of {found} bytes is not of {}, whose keys have {expected}; add \"schemeID\"",
                scheme.profile()
            ),
        })
    }
}

/// drand's schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DrandScheme {
    /// `pedersen-bls-chained`: signatures in G2, and each round signs the signature of the round before.
    Chained,
    /// `pedersen-bls-unchained`: signatures in G2.
    Unchained,
    /// `bls-unchained-g1-rfc9380`: signatures in G1 under the tag of RFC 9380.
    Quicknet,
    /// `bls-unchained-on-g1`: signatures in G1 under the tag of G2, drand's first attempt at short signatures.
    G1Legacy,
    /// `bls-bn254-unchained-on-g1`: over BN254, signatures in G1, rounds hashed with Keccak-256.
    Evmnet,
}

impl DrandScheme {
    const ALL: [Self; 5] = [Self::Chained, Self::Unchained, Self::Quicknet, Self::G1Legacy, Self::Evmnet];

    /// The scheme with this schemeID.
    ///
    /// # Errors
    /// drand defines no such scheme.
    pub fn from_id(id: &str) -> Result<Self, InputError> {
        let place = SCHEME_IDS.iter().position(|known| *known == id);
        let scheme = place.map(|place| Self::ALL[place]);
        scheme.ok_or_else(|| InputError::UnsupportedScheme { scheme: id.to_owned(), expected: &SCHEME_IDS })
    }

    /// The scheme that has this suite profile.
    #[must_use]
    pub fn from_profile(profile: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.profile() == profile)
    }

    /// The length of a key in bytes.
    fn key_length(self) -> usize {
        match self {
            Self::Chained | Self::Unchained => 48,
            Self::Quicknet | Self::G1Legacy => 96,
            Self::Evmnet => 128,
        }
    }

    /// The length of a signature in bytes.
    pub(super) fn signature_length(self) -> usize {
        match self {
            Self::Chained | Self::Unchained => 96,
            Self::Quicknet | Self::G1Legacy => 48,
            Self::Evmnet => 64,
        }
    }

    /// The suite profile of the scheme.
    #[must_use]
    pub fn profile(self) -> &'static str {
        match self {
            Self::Chained => "drand-chained",
            Self::Unchained => "drand-unchained",
            Self::Quicknet => "drand-quicknet",
            Self::G1Legacy => "drand-g1-legacy",
            Self::Evmnet => "drand-evmnet",
        }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Document {
    #[serde(alias = "publicKey")]
    public_key: HexOrBase64,
    period: Option<Uint>,
    #[serde(alias = "genesisTime")]
    genesis_time: Option<Uint>,
    #[serde(alias = "chain_hash", alias = "chainHash")]
    hash: Option<HexOrBase64>,
    #[serde(rename = "groupHash", alias = "group_hash", alias = "genesis_seed", alias = "genesisSeed")]
    genesis_seed: Option<HexOrBase64>,
    #[serde(rename = "schemeID", alias = "scheme", alias = "scheme_id")]
    scheme_id: Option<String>,
    #[serde(rename = "beaconID", alias = "beacon_id")]
    beacon_id: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Metadata {
    #[serde(rename = "beaconID", alias = "beacon_id")]
    beacon_id: Option<String>,
}

/// The bytes of a chain hash and of a genesis seed.
const SHA_256: usize = 32;

impl Document {
    /// The name of the chain among those of its nodes. drand reads a missing one as `default`.
    fn beacon_id(&self) -> Result<Option<&str>, String> {
        let in_metadata = self.metadata.as_ref().and_then(|metadata| metadata.beacon_id.as_deref());
        match (self.beacon_id.as_deref(), in_metadata) {
            (Some(one), Some(other)) if one != other => Err(format!("it states the beacon ids {one:?} and {other:?}")),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Refuses a key that is longer than any suite's, and a hash that is longer than SHA-256's: 64 hexadecimal digits with a mistake in
    /// them may be base64 of more bytes.
    fn check_lengths(&self) -> Result<(), String> {
        let key = Field::PublicKeys.check_length(self.public_key.0.len());
        key.map_err(|reason| format!("in its public key: {reason}"))?;
        for (what, hash) in [("genesis seed", &self.genesis_seed), ("chain hash", &self.hash)] {
            let length = hash.as_ref().map_or(0, |hash| hash.0.len());
            if length > SHA_256 {
                return Err(format!("in its {what}: found {length} bytes, more than the {SHA_256} of a hash"));
            }
        }
        Ok(())
    }

    /// Compares the chain hash with what it covers, if the document states everything that it covers:
    /// SHA-256(period as 4 bytes || genesis time as 8 || public key || genesis seed || beacon id unless "default").
    fn check_hash(&self) -> Result<(), String> {
        let beacon_id = self.beacon_id()?;
        let (Some(hash), Some(period), Some(time), Some(seed)) =
            (&self.hash, &self.period, &self.genesis_time, &self.genesis_seed)
        else {
            return Ok(());
        };
        let period = u32::try_from(period.0).map_err(|_| format!("it states a period of {} seconds", period.0))?;
        let known_id = WellKnown::of_hash(&hash.0).map(|known| known.name);
        let named = beacon_id.or(known_id).filter(|id| *id != DEFAULT_BEACON).unwrap_or_default();
        let computed = Sha256::new()
            .chain_update(period.to_be_bytes())
            .chain_update(time.0.to_be_bytes())
            .chain_update(&self.public_key.0)
            .chain_update(&seed.0)
            .chain_update(named)
            .finalize();
        if hash.0 == computed.as_slice() {
            return Ok(());
        }
        let missing = match beacon_id {
            None => "; it states no beacon id, and if the chain has one, add \"metadata\": {\"beaconID\": …}",
            Some(_) => "",
        };
        Err(format!(
            "it states the chain hash {}, but its fields hash to {}{missing}; fetch it again",
            const_hex::encode(&hash.0),
            const_hex::encode(computed)
        ))
    }

    /// The built-in chain whose hash or key it states.
    fn known(&self) -> Option<&'static WellKnown> {
        let by_hash = self.hash.as_ref().and_then(|hash| WellKnown::of_hash(&hash.0));
        by_hash.or_else(|| WellKnown::of_key(&self.public_key.0))
    }

    /// Compares everything that it states with a built-in chain.
    fn check_known(&self, known: &WellKnown) -> Result<(), String> {
        let hex = |bytes: &HexOrBase64| const_hex::encode(&bytes.0);
        let number = |number: &Uint| number.0.to_string();
        let beacon_id = self.beacon_id()?.filter(|id| !id.is_empty());
        let scheme_id = self.scheme_id.as_deref().filter(|id| !id.is_empty());
        let stated = [
            ("public key", Some(hex(&self.public_key)), known.public_key.to_owned()),
            ("chain hash", self.hash.as_ref().map(hex), known.hash.to_owned()),
            ("scheme", scheme_id.map(str::to_owned), known.scheme_id.to_owned()),
            ("genesis seed", self.genesis_seed.as_ref().map(hex), known.genesis_seed.to_owned()),
            ("period", self.period.as_ref().map(number), known.period.to_string()),
            ("genesis time", self.genesis_time.as_ref().map(number), known.genesis_time.to_string()),
            ("beacon id", beacon_id.map(str::to_owned), known.name.to_owned()),
        ];
        for (what, found, expected) in stated {
            if let Some(found) = found.filter(|found| *found != expected) {
                return Err(format!(
                    "it is of the chain {} by its hash or its key, but it states the {what} {found:?}; that chain has {expected:?}; \
                     fetch it again from a source that you trust",
                    known.name
                ));
            }
        }
        Ok(())
    }
}

fn bytes(hex: &str) -> Vec<u8> {
    const_hex::decode(hex).expect("the built-in table is hex, as its test shows")
}

/// The built-in chains other than `not`, with their keys and suites, whose signatures have this length.
pub(super) fn candidates(length: usize, not: &[u8]) -> impl Iterator<Item = (&'static str, Vec<u8>, DrandScheme)> {
    WELL_KNOWN.iter().filter_map(move |chain| {
        let (key, scheme) = (bytes(chain.public_key), DrandScheme::from_id(chain.scheme_id).ok()?);
        (scheme.signature_length() == length && key != not).then_some((chain.name, key, scheme))
    })
}

/// The ids of [`DrandScheme::ALL`], in the same order.
const SCHEME_IDS: [&str; 5] = [
    "pedersen-bls-chained",
    "pedersen-bls-unchained",
    "bls-unchained-g1-rfc9380",
    "bls-unchained-on-g1",
    "bls-bn254-unchained-on-g1",
];
const DEFAULT_BEACON: &str = "default";

struct WellKnown {
    name: &'static str,
    hash: &'static str,
    scheme_id: &'static str,
    public_key: &'static str,
    genesis_seed: &'static str,
    /// Seconds between rounds.
    period: u32,
    /// Seconds since 1970.
    genesis_time: u64,
}

impl WellKnown {
    fn of_hash(hash: &[u8]) -> Option<&'static Self> {
        WELL_KNOWN.iter().find(|chain| chain.hash == const_hex::encode(hash))
    }

    fn of_key(key: &[u8]) -> Option<&'static Self> {
        WELL_KNOWN.iter().find(|chain| chain.public_key == const_hex::encode(key))
    }
}

/// The mainnet chains, from the League of Entropy's `https://api.drand.sh/<chain hash>/info`.
const WELL_KNOWN: [WellKnown; 4] = [
    WellKnown {
        name: "default",
        hash: "8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce",
        scheme_id: "pedersen-bls-chained",
        public_key: "868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31",
        genesis_seed: "176f93498eac9ca337150b46d21dd58673ea4e3581185f869672e59fa4cb390a",
        period: 30,
        genesis_time: 1_595_431_050,
    },
    WellKnown {
        name: "quicknet",
        hash: "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
        scheme_id: "bls-unchained-g1-rfc9380",
        public_key: "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
        genesis_seed: "f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e",
        period: 3,
        genesis_time: 1_692_803_367,
    },
    // Over BN254, for contracts.
    WellKnown {
        name: "evmnet",
        hash: "04f1e9062b8a81f848fded9c12306733282b2727ecced50032187751166ec8c3",
        scheme_id: "bls-bn254-unchained-on-g1",
        public_key: "07e1d1d335df83fa98462005690372c643340060d205306a9aa8106b6bd0b3820557ec32c2ad488e4d4f6008f89a346f18492092ccc0d594610de2732c8b808f0095685ae3a85ba243747b1b2f426049010f6b73a0cf1d389351d5aaaa1047f6297d3a4f9749b33eb2d904c9d9ebf17224150ddd7abd7567a9bec6c74480ee0b",
        genesis_seed: "cd7ad2f0e0cce5d8c288f2dd016ffe7bc8dc88dbb229b3da2b6ad736490dfed6",
        period: 3,
        genesis_time: 1_727_521_075,
    },
    // Retired in favour of quicknet; its rounds are still around.
    WellKnown {
        name: "fastnet",
        hash: "dbd506d6ef76e5f386f41c651dcb808c5bcbd75471cc4eafa3f4df7ad4e4c493",
        scheme_id: "bls-unchained-on-g1",
        public_key: "a0b862a7527fee3a731bcb59280ab6abd62d5c0b6ea03dc4ddf6612fdfc9d01f01c31542541771903475eb1ec6615f8d0df0b8b6dce385811d6dcf8cbefb8759e5e616a3dfd054c928940766d9a5b9db91e3b697e5d70a975181e007f87fca5e",
        genesis_seed: "a81e9d63f614ccdb144b8ff79fbd4d5a2d22055c0bfe4ee9a8092003dab1c6c0",
        period: 3,
        genesis_time: 1_677_685_200,
    },
];

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::prelude::BASE64_STANDARD;

    use super::*;

    /// An `/info` document of a built-in chain, with the parts of its hash that the table does not keep.
    fn info(name: &str, period: u64, genesis_time: u64) -> String {
        let chain = ChainInfo::well_known(name).unwrap();
        let hex = |bytes: &Option<Vec<u8>>| const_hex::encode(bytes.as_ref().unwrap());
        format!(
            r#"{{"public_key": "{}", "period": {period}, "genesis_time": {genesis_time}, "hash": "{}",
                "groupHash": "{}", "schemeID": "{}", "metadata": {{"beaconID": "{name}"}}}}"#,
            const_hex::encode(&chain.public_key),
            hex(&chain.hash),
            hex(&chain.genesis_seed),
            chain.scheme_id.unwrap()
        )
    }

    #[test]
    fn built_in_chains_hash_to_their_chain_hash() {
        for WellKnown { name, period, genesis_time, .. } in WELL_KNOWN {
            let (period, genesis_time) = (period.into(), genesis_time);
            let read = ChainInfo::from_json(&info(name, period, genesis_time)).unwrap();
            assert_eq!(read, ChainInfo::well_known(name).unwrap());
            // Without the beacon id, the hash of a known chain says it.
            let without = info(name, period, genesis_time).replace("metadata", "other");
            assert_eq!(ChainInfo::from_json(&without).unwrap(), read);
            assert!(matches!(
                ChainInfo::from_json(&info(name, period, genesis_time + 1)),
                Err(InputError::ChainInfo { .. })
            ));
        }
    }

    #[test]
    fn every_built_in_chain_decodes_and_is_found_by_hash() {
        for chain in &WELL_KNOWN {
            let by_name = ChainInfo::well_known(chain.name).unwrap();
            assert_eq!(ChainInfo::well_known(&chain.hash.to_uppercase()).unwrap(), by_name);
            assert!(by_name.scheme().is_ok());
        }
    }

    #[test]
    fn version_two_field_names() {
        let v2 = info("quicknet", 3, 1_692_803_367)
            .replace("\"hash\"", "\"chain_hash\"")
            .replace("groupHash", "genesis_seed")
            .replace("schemeID", "scheme")
            .replace("\"metadata\": {\"beaconID\": \"quicknet\"}", "\"beacon_id\": \"quicknet\"");
        assert_eq!(ChainInfo::from_json(&v2).unwrap(), ChainInfo::well_known("quicknet").unwrap());
    }

    /// As drand's gRPC gateway answers.
    #[test]
    fn a_chain_info_in_base64_is_the_same_in_hexadecimal() {
        for chain in &WELL_KNOWN {
            let base64 = |hex: &str| BASE64_STANDARD.encode(bytes(hex));
            let info = format!(
                r#"{{"publicKey": "{}", "period": {}, "genesisTime": "{}", "hash": "{}", "groupHash": "{}", "schemeID": "{}",
                    "metadata": {{"beaconID": "{}"}}}}"#,
                base64(chain.public_key),
                chain.period,
                chain.genesis_time,
                base64(chain.hash),
                base64(chain.genesis_seed),
                chain.scheme_id,
                chain.name
            );
            assert_eq!(ChainInfo::from_json(&info).unwrap(), ChainInfo::well_known(chain.name).unwrap());
            let v2 = info.replace("\"hash\"", "\"chainHash\"").replace("groupHash", "genesisSeed");
            assert_eq!(ChainInfo::from_json(&v2).unwrap(), ChainInfo::well_known(chain.name).unwrap());
            let later = info.replace(&chain.genesis_time.to_string(), &(chain.genesis_time + 1).to_string());
            assert!(matches!(ChainInfo::from_json(&later), Err(InputError::ChainInfo { .. })));
        }
    }

    #[test]
    fn a_missing_scheme_is_drands_default_for_its_keys_alone() {
        let with_key = |bytes: usize| format!(r#"{{"public_key": "{}"}}"#, "00".repeat(bytes));
        assert_eq!(ChainInfo::from_json(&with_key(48)).unwrap().scheme().unwrap(), DrandScheme::Chained);
        assert!(ChainInfo::from_json(&with_key(96)).unwrap().scheme().is_err());
    }

    /// Whatever a document states of a built-in chain has to be that chain's, also where the hash cannot be computed.
    #[test]
    fn a_known_hash_or_key_with_another_field_is_refused() {
        for chain in &WELL_KNOWN {
            let by_hash =
                format!(r#""public_key": "{}", "chain_hash": "{}""#, chain.public_key, chain.hash.to_uppercase());
            let by_key = format!(r#""public_key": "{}""#, chain.public_key);
            for known in [&by_hash, &by_key] {
                let whole = ChainInfo::from_json(&format!("{{{known}}}")).unwrap();
                assert_eq!(
                    whole,
                    ChainInfo::well_known(chain.name).unwrap(),
                    "what is left out is taken from the table"
                );
                let other_scheme = SCHEME_IDS.iter().find(|id| **id != chain.scheme_id).unwrap();
                for (field, what) in [
                    (format!(r#""schemeID": "{other_scheme}""#), "scheme"),
                    (format!(r#""period": {}"#, chain.period + 1), "period"),
                    (format!(r#""genesis_time": {}"#, chain.genesis_time - 1), "genesis time"),
                    (r#""genesis_seed": "00""#.to_owned(), "genesis seed"),
                    (r#""metadata": {"beaconID": "mynet"}"#.to_owned(), "beacon id"),
                ] {
                    let error = ChainInfo::from_json(&format!("{{{known}, {field}}}")).unwrap_err().to_string();
                    assert!(error.contains(chain.name) && error.contains(&format!("states the {what} ")), "{error}");
                }
            }
            let other = format!("00{}", &chain.public_key[2..]);
            let error = ChainInfo::from_json(&format!("{{{}}}", by_hash.replace(chain.public_key, &other)));
            assert!(error.unwrap_err().to_string().contains(&other));
            let hash = "ab".repeat(32);
            let error = ChainInfo::from_json(&format!("{{{}}}", by_hash.replace(&chain.hash.to_uppercase(), &hash)));
            assert!(error.unwrap_err().to_string().contains("states the chain hash"));
        }
    }

    #[test]
    fn a_mistyped_digit_is_no_base64() {
        let digits = "ab".repeat(31);
        for (field, what) in [("groupHash", "genesis seed"), ("hash", "chain hash")] {
            let text = format!(r#"{{"public_key": "{}", "{field}": "{digits}aO"}}"#, "11".repeat(48));
            let error = ChainInfo::from_json(&text).unwrap_err().to_string();
            assert!(error.contains(&format!("in its {what}: found 48 bytes, more than the 32")), "{error}");
        }
    }

    #[test]
    fn a_chain_hash_that_is_not_that_of_its_fields_is_refused() {
        let text = |rest: &str| {
            format!(
                r#"{{"public_key": "{}", "period": 5, "genesis_time": 7, "groupHash": "abcd", {rest}}}"#,
                "11".repeat(48)
            )
        };
        let hash = |beacon_id: &str| {
            let hash = Sha256::new().chain_update(5_u32.to_be_bytes()).chain_update(7_u64.to_be_bytes());
            const_hex::encode(
                hash.chain_update([0x11; 48]).chain_update([0xab, 0xcd]).chain_update(beacon_id).finalize(),
            )
        };
        let (default, mynet) = (hash(""), hash("mynet"));
        let read = |rest: &str| ChainInfo::from_json(&text(rest)).map(|_| ()).map_err(|error| error.to_string());
        assert!(read(&format!(r#""hash": "{default}""#)).is_ok());
        assert!(read(&format!(r#""hash": "{default}", "metadata": {{"beaconID": "default"}}"#)).is_ok());
        assert!(read(&format!(r#""chain_hash": "{mynet}", "beacon_id": "mynet""#)).is_ok());
        assert!(read(&format!(r#""chain_hash": "{default}", "beacon_id": "mynet""#)).unwrap_err().contains(&mynet));
        assert!(read(&format!(r#""hash": "{mynet}""#)).unwrap_err().contains("states no beacon id"));
        let two = read(&format!(r#""hash": "{mynet}", "beacon_id": "mynet", "metadata": {{"beaconID": "default"}}"#));
        assert!(two.unwrap_err().contains("beacon ids"));
        let long = text(&format!(r#""hash": "{default}""#)).replace("\"period\": 5", "\"period\": 4294967301");
        assert!(ChainInfo::from_json(&long).unwrap_err().to_string().contains("a period of 4294967301 seconds"));
    }

    #[test]
    fn fields_that_are_too_long_are_refused() {
        let info = |key: usize, seed: usize, hash: usize| {
            let hex = |bytes: usize| "ab".repeat(bytes);
            let text =
                format!(r#"{{"public_key": "{}", "groupHash": "{}", "hash": "{}"}}"#, hex(key), hex(seed), hex(hash));
            ChainInfo::from_json(&text).map_err(|error| error.to_string())
        };
        info(192, 32, 32).unwrap();
        for (found, what) in [
            (info(193, 32, 32), "in its public key: found 193 bytes, more than the 192"),
            (info(96, 35_000, 32), "in its genesis seed: found 35000 bytes"),
            (info(96, 32, 33), "in its chain hash: found 33 bytes"),
        ] {
            let error = found.unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn unusable_documents() {
        for text in ["", "[]", "5", "{}", r#"{"public_key": "0"}"#, r#"{"public_key": "", "public_key": ""}"#] {
            assert!(matches!(ChainInfo::from_json(text), Err(InputError::ChainInfo { .. })), "{text}");
        }
    }
}
