//! What identifies a drand chain: its public key, its scheme, and the chain hash over both.

use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::error::InputError;
use crate::hex::HexBytes;
use crate::json;
use crate::number::Uint;

/// What is public about a chain, as the HTTP API's `/info` states it (versions 1 and 2).
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
    /// If the document states the chain hash and everything that it covers, the hash is checked. If it states the chain hash of
    /// a built-in chain, its key must be that chain's.
    ///
    /// # Errors
    /// The text is not a JSON object with a public key, it does not hash to the chain hash that it states, or it states the hash
    /// of a built-in chain and another key.
    pub fn from_json(text: &str) -> Result<Self, InputError> {
        let unusable = |reason: String| InputError::ChainInfo { reason };
        let document: Document = json::object(text.trim()).map_err(|error| unusable(error.to_string()))?;
        if let (Some(stated), Some(computed)) = (&document.hash, document.computed_hash())
            && stated.0 != computed
        {
            return Err(unusable(format!(
                "it states the chain hash {}, but its fields hash to {}; fetch it again",
                const_hex::encode(&stated.0),
                const_hex::encode(computed)
            )));
        }
        if let Some(known) = document.hash.as_ref().and_then(|hash| WellKnown::of_hash(&hash.0))
            && const_hex::encode(&document.public_key.0) != known.public_key
        {
            return Err(unusable(format!(
                "it states the chain hash of {}, {}, but the public key {}; that chain's key is {}; fetch it again from a source \
                 that you trust",
                known.name,
                known.hash,
                const_hex::encode(&document.public_key.0),
                known.public_key
            )));
        }
        Ok(Self {
            public_key: document.public_key.0,
            scheme_id: document.scheme_id.filter(|id| !id.is_empty()),
            genesis_seed: document.genesis_seed.map(|seed| seed.0),
            hash: document.hash.map(|hash| hash.0),
        })
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
        let bytes = |hex: &str| const_hex::decode(hex).expect("the built-in table is hex, as its test shows");
        Ok(Self {
            public_key: bytes(chain.public_key),
            scheme_id: Some(chain.scheme_id.to_owned()),
            genesis_seed: chain.genesis_seed.map(bytes),
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
            None if self.public_key.len() == DEFAULT_SCHEME_KEY_LENGTH => Ok(DrandScheme::Chained),
            None => Err(InputError::ChainInfo {
                reason: format!(
                    "it names no scheme, and its key of {} bytes is not of the default scheme, whose keys have \
                     {DEFAULT_SCHEME_KEY_LENGTH}; add \"schemeID\"",
                    self.public_key.len()
                ),
            }),
        }
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
    public_key: HexBytes,
    period: Option<Uint>,
    genesis_time: Option<Uint>,
    #[serde(alias = "chain_hash")]
    hash: Option<HexBytes>,
    #[serde(rename = "groupHash", alias = "group_hash", alias = "genesis_seed")]
    genesis_seed: Option<HexBytes>,
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

impl Document {
    /// The chain hash, if the document states everything that it covers:
    /// SHA-256(period as 4 bytes || genesis time as 8 || public key || genesis seed || beacon id unless "default").
    fn computed_hash(&self) -> Option<[u8; 32]> {
        let beacon_id = self.beacon_id.as_deref().or(self.metadata.as_ref()?.beacon_id.as_deref())?;
        let period = u32::try_from(self.period.as_ref()?.0).ok()?;
        let named = if beacon_id == DEFAULT_BEACON { "" } else { beacon_id };
        let hash = Sha256::new()
            .chain_update(period.to_be_bytes())
            .chain_update(self.genesis_time.as_ref()?.0.to_be_bytes())
            .chain_update(&self.public_key.0)
            .chain_update(&self.genesis_seed.as_ref()?.0)
            .chain_update(named);
        Some(hash.finalize().into())
    }
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
const DEFAULT_SCHEME_KEY_LENGTH: usize = 48;

struct WellKnown {
    name: &'static str,
    hash: &'static str,
    scheme_id: &'static str,
    public_key: &'static str,
    genesis_seed: Option<&'static str>,
}

impl WellKnown {
    fn of_hash(hash: &[u8]) -> Option<&'static Self> {
        WELL_KNOWN.iter().find(|chain| chain.hash == const_hex::encode(hash))
    }
}

/// The mainnet chains, from the League of Entropy's `https://api.drand.sh/<chain hash>/info`.
const WELL_KNOWN: [WellKnown; 4] = [
    WellKnown {
        name: "default",
        hash: "8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce",
        scheme_id: "pedersen-bls-chained",
        public_key: "868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31",
        genesis_seed: Some("176f93498eac9ca337150b46d21dd58673ea4e3581185f869672e59fa4cb390a"),
    },
    WellKnown {
        name: "quicknet",
        hash: "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971",
        scheme_id: "bls-unchained-g1-rfc9380",
        public_key: "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a",
        genesis_seed: Some("f477d5c89f21a17c863a7f937c6a6d15859414d2be09cd448d4279af331c5d3e"),
    },
    // Over BN254, for contracts.
    WellKnown {
        name: "evmnet",
        hash: "04f1e9062b8a81f848fded9c12306733282b2727ecced50032187751166ec8c3",
        scheme_id: "bls-bn254-unchained-on-g1",
        public_key: "07e1d1d335df83fa98462005690372c643340060d205306a9aa8106b6bd0b3820557ec32c2ad488e4d4f6008f89a346f18492092ccc0d594610de2732c8b808f0095685ae3a85ba243747b1b2f426049010f6b73a0cf1d389351d5aaaa1047f6297d3a4f9749b33eb2d904c9d9ebf17224150ddd7abd7567a9bec6c74480ee0b",
        genesis_seed: Some("cd7ad2f0e0cce5d8c288f2dd016ffe7bc8dc88dbb229b3da2b6ad736490dfed6"),
    },
    // Retired in favour of quicknet; its rounds are still around.
    WellKnown {
        name: "fastnet",
        hash: "dbd506d6ef76e5f386f41c651dcb808c5bcbd75471cc4eafa3f4df7ad4e4c493",
        scheme_id: "bls-unchained-on-g1",
        public_key: "a0b862a7527fee3a731bcb59280ab6abd62d5c0b6ea03dc4ddf6612fdfc9d01f01c31542541771903475eb1ec6615f8d0df0b8b6dce385811d6dcf8cbefb8759e5e616a3dfd054c928940766d9a5b9db91e3b697e5d70a975181e007f87fca5e",
        genesis_seed: None,
    },
];

#[cfg(test)]
mod tests {
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
        let times = [("default", 30, 1_595_431_050), ("quicknet", 3, 1_692_803_367), ("evmnet", 3, 1_727_521_075)];
        for (name, period, genesis_time) in times {
            let read = ChainInfo::from_json(&info(name, period, genesis_time)).unwrap();
            assert_eq!(read, ChainInfo::well_known(name).unwrap());
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

    #[test]
    fn a_missing_scheme_is_drands_default_for_its_keys_alone() {
        let with_key = |bytes: usize| format!(r#"{{"public_key": "{}"}}"#, "00".repeat(bytes));
        assert_eq!(ChainInfo::from_json(&with_key(48)).unwrap().scheme().unwrap(), DrandScheme::Chained);
        assert!(ChainInfo::from_json(&with_key(96)).unwrap().scheme().is_err());
    }

    /// Without the other fields the hash cannot be computed, but the key of a known chain is known.
    #[test]
    fn the_hash_of_a_known_chain_with_another_key() {
        for chain in &WELL_KNOWN {
            let stated =
                |key: &str| format!(r#"{{"public_key": "{key}", "chain_hash": "{}"}}"#, chain.hash.to_uppercase());
            assert!(ChainInfo::from_json(&stated(chain.public_key)).is_ok(), "{}", chain.name);
            let other = format!("00{}", &chain.public_key[2..]);
            let error = ChainInfo::from_json(&stated(&other)).unwrap_err().to_string();
            assert!(
                error.contains(chain.name) && error.contains(&other) && error.contains(chain.public_key),
                "{error}"
            );
        }
    }

    #[test]
    fn unusable_documents() {
        for text in ["", "[]", "5", "{}", r#"{"public_key": "0"}"#, r#"{"public_key": "", "public_key": ""}"#] {
            assert!(matches!(ChainInfo::from_json(text), Err(InputError::ChainInfo { .. })), "{text}");
        }
    }
}
