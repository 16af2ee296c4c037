//! What the caller of the readers of deposits, changes and exits knows beside the files.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, OnceLock};

use quorate_host::clipped;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hex::Hex;
use crate::json;
use crate::network::KnownNetwork;
use crate::number::Uint;
use crate::record::{Check, CheckResult};
use crate::ssz::Root;

/// The network for which deposits, changes of credentials and exits are to be signed, and the keys of validators. What is `None`, the
/// files must say themselves.
#[derive(Clone, Debug, Default)]
pub struct SigningContext {
    /// The network.
    pub network: Option<&'static KnownNetwork>,
    /// Replaces the network's root.
    pub genesis_validators_root: Option<[u8; 32]>,
    /// Replaces the network's version under which the message is signed: that of the genesis, for exits Capella's.
    pub fork_version: Option<[u8; 4]>,
    /// The keys of validators that exit.
    pub keys: ValidatorKeys,
}

impl SigningContext {
    /// Whether the network that a file names is the one of the caller; none if the caller names none, or the file does not. A caller who
    /// gives a version or a root alone means any network that has them: then a network of another version or root fails.
    pub(crate) fn network_check(&self, named: Option<&str>) -> Option<Check> {
        let named = named?;
        let known = KnownNetwork::of_name(named);
        let (expected, agrees) = match (self.own_network(), known) {
            (Some(expected), known) => (expected.name(), known == Some(expected)),
            (None, Some(known)) if self.replaces(known) => ("that has the fork version and the root given", false),
            (None, _) => return None,
        };
        let found = known.map_or_else(|| quoted(named), |network| network.name().to_owned());
        Some(Check::decided(
            "network_name",
            CheckResult::of(agrees),
            format!("expected the network {expected}, found {found}"),
        ))
    }

    /// The network of the caller; none if it names none, or if it replaces the root and the version: then it is another network, as for a
    /// light client.
    fn own_network(&self) -> Option<&'static KnownNetwork> {
        let is_replaced = |network: &KnownNetwork| {
            let root = self.genesis_validators_root.filter(|root| *root != network.genesis_validators_root);
            root.is_some() && self.fork_version.is_some()
        };
        self.network.filter(|network| !is_replaced(network))
    }

    /// Whether the caller gives a fork version or a root that is not this network's.
    fn replaces(&self, network: &KnownNetwork) -> bool {
        self.fork_version.is_some_and(|version| version != network.genesis_fork_version())
            || self.genesis_validators_root.is_some_and(|root| root != network.genesis_validators_root)
    }

    /// The root that the caller expects.
    pub(crate) fn root(&self) -> Option<Root> {
        self.genesis_validators_root.or_else(|| self.network.map(|network| network.genesis_validators_root))
    }
}

/// Why a file alone does not say for which network something is signed.
pub(crate) fn no_network(named: Option<&str>) -> String {
    match named {
        Some(name) => format!("the network {} is not known", quoted(name)),
        None => "the file names no network".to_owned(),
    }
}

/// A name from a file, in quotes.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", clipped(name, 64))
}

/// The keys of validators, by their numbers on the chain.
#[derive(Clone, Debug, Default)]
pub struct ValidatorKeys {
    by_index: BTreeMap<u64, [u8; 48]>,
    /// The key of a validator whose number the caller did not give. The first exit that needs it says the number.
    single: Option<([u8; 48], Arc<OnceLock<u64>>)>,
}

impl ValidatorKeys {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_index.is_empty() && self.single.is_none()
    }

    /// Adds the key of a validator. `None` as the number means the one validator of all exits that are read.
    ///
    /// # Errors
    /// The validator has another key already.
    pub fn add(&mut self, index: Option<u64>, key: [u8; 48]) -> Result<(), String> {
        let (what, before) = match index {
            None => {
                let before = self.single.get_or_insert_with(|| (key, Arc::default())).0;
                ("the validator without a number".to_owned(), before)
            }
            Some(index) => {
                let before = match self.by_index.entry(index) {
                    Entry::Occupied(entry) => *entry.get(),
                    Entry::Vacant(entry) => *entry.insert(key),
                };
                (format!("validator {index}"), before)
            }
        };
        if before == key {
            return Ok(());
        }
        let [before, key] = [before, key].map(const_hex::encode_prefixed);
        Err(format!("found two keys of {what}, {before} and {key}, expected one"))
    }

    /// Adds the keys of a Beacon API's answer to `/eth/v1/beacon/states/head/validators?id=5,7`:
    /// `{"data": [{"index": "5", "validator": {"pubkey": "0x…"}}]}`, or one such object, with or without `data`. Without `id`, the
    /// answer has all validators of the network, hundreds of MB.
    ///
    /// # Errors
    /// The text is not such an answer, or a validator has two keys.
    pub fn add_answer(&mut self, text: &str) -> Result<(), String> {
        #[derive(Deserialize)]
        #[serde(expecting = "an object")]
        struct Answer<'a> {
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object with index and validator")]
        struct Numbered {
            index: Uint,
            validator: Validator,
        }
        #[derive(Deserialize)]
        #[serde(expecting = "an object with pubkey")]
        struct Validator {
            pubkey: Hex<48>,
        }

        let text = text.trim();
        let outer = if text.starts_with('{') {
            json::object::<Answer<'_>>(text).map_err(|error| error.to_string())?.data.map_or(text, RawValue::get)
        } else {
            text
        };
        let elements: Vec<&RawValue> = if outer.starts_with('[') {
            serde_json::from_str(outer).map_err(|error| format!("expected JSON, but found {error}"))?
        } else {
            vec![serde_json::from_str(outer).map_err(|error| format!("expected JSON, but found {error}"))?]
        };
        for (place, element) in elements.into_iter().enumerate() {
            let Numbered { index, validator } =
                json::object(element.get()).map_err(|error| format!("element [{place}]: {error}"))?;
            self.add(Some(index.0), validator.pubkey.0)?;
        }
        Ok(())
    }

    /// The key of a validator.
    pub(crate) fn of(&self, index: u64) -> Result<[u8; 48], String> {
        if let Some(key) = self.by_index.get(&index) {
            return Ok(*key);
        }
        let Some((key, of)) = &self.single else {
            return Err(format!(
                "an exit does not contain its key, and nothing says which key validator {index} has; give its key (on the command \
                 line --public-key {index}=HEX), or the answer of a beacon node to \
                 /eth/v1/beacon/states/head/validators?id={index} (--validators FILE)"
            ));
        };
        let first = *of.get_or_init(|| index);
        if first == index {
            return Ok(*key);
        }
        Err(format!(
            "the key without a number is taken for validator {first}, whose exit came first, and this is an exit of validator \
             {index}; give its key (on the command line --public-key {index}=HEX)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_beacon_nodes_answer() {
        let validator = |index: u8| {
            let key = const_hex::encode([index; 48]);
            format!(r#"{{"index": "{index}", "balance": "1", "validator": {{"pubkey": "0x{key}", "slashed": false}}}}"#)
        };
        let list = format!("[{}, {}]", validator(1), validator(2));
        for text in [
            format!(r#"{{"execution_optimistic": false, "data": {list}}}"#),
            list,
            format!(r#"{{"data": {}}}"#, validator(2)),
            validator(2),
        ] {
            let mut keys = ValidatorKeys::default();
            keys.add_answer(&text).unwrap();
            assert_eq!(keys.of(2), Ok([2; 48]), "{text}");
            assert!(keys.of(3).unwrap_err().contains("--public-key 3=HEX"));
        }
        let mut keys = ValidatorKeys::default();
        keys.add(Some(2), [9; 48]).unwrap();
        assert!(keys.add_answer(&validator(2)).unwrap_err().contains("two keys of validator 2"));
        for bad in ["", "x", "[1]", "{}", r#"{"data": [{"index": 1}]}"#, r#"{"data": "#] {
            assert!(keys.add_answer(bad).is_err(), "{bad}");
        }
    }

    /// The file says that it is of another network than the one whose version and root the caller gives.
    #[test]
    fn a_network_of_the_callers_own_has_no_other_ones_name() {
        let network = |name| KnownNetwork::of_name(name).unwrap();
        let (mainnet, hoodi) = (network("mainnet"), network("hoodi"));
        let context = |network, genesis_validators_root, fork_version| SigningContext {
            network,
            genesis_validators_root,
            fork_version,
            ..SigningContext::default()
        };
        let (root, version) = (Some(hoodi.genesis_validators_root), Some(hoodi.genesis_fork_version()));
        for (context, name, expected) in [
            (context(None, None, version), "mainnet", Some(false)),
            (context(None, root, None), "Mainnet", Some(false)),
            (context(None, root, version), "mainnet", Some(false)),
            (context(None, root, version), "hoodi", None),
            (context(None, root, version), "devnet-7", None),
            (context(Some(mainnet), root, version), "mainnet", Some(false)),
            (context(Some(mainnet), None, version), "mainnet", Some(true)),
            (context(Some(mainnet), None, None), "Mainnet", Some(true)),
            (context(Some(mainnet), None, None), "hoodi", Some(false)),
            (context(None, None, None), "mainnet", None),
        ] {
            let found = context.network_check(Some(name)).map(|check| !check.failed());
            assert_eq!(found, expected, "{name}: {context:?}");
            assert_eq!(context.network_check(None), None);
        }
    }

    #[test]
    fn a_key_without_a_number_is_that_of_one_validator() {
        let mut keys = ValidatorKeys::default();
        keys.add(None, [1; 48]).unwrap();
        assert!(keys.add(None, [2; 48]).is_err());
        let again = keys.clone();
        assert_eq!(keys.of(7), Ok([1; 48]));
        // Another file of the same run.
        assert!(again.of(8).unwrap_err().contains("validator 7, whose exit came first"));
        assert_eq!(again.of(7), Ok([1; 48]));
    }
}
