//! What a contract's error means, in words: by the comments beside the errors in the contracts.

use std::{collections::BTreeMap, sync::LazyLock};

use alloy::primitives::{Address, B256, Bytes, U256, hex, keccak256};
use quorate_host::clipped;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// The errors of all contracts that a transaction may call, by their signatures. `scripts/contract_artifacts.py` writes them.
const ERRORS: &str = include_str!("../errors.json");

#[derive(Debug, Deserialize)]
struct Explained {
    /// The names of the parameters.
    parameters: Vec<String>,
    means: String,
}

static BY_SELECTOR: LazyLock<BTreeMap<[u8; 4], (String, Explained)>> = LazyLock::new(|| {
    let errors: BTreeMap<String, Explained> = serde_json::from_str(ERRORS).expect("the file is a part of the program");
    errors.into_iter().map(|(signature, error)| (selector(&signature), (signature, error))).collect()
});

/// The data that a contract reverted with, in words: the error's name, its values and what it means. Whatever the data is, the
/// words are one line, without what a terminal obeys.
pub fn words(data: &[u8]) -> String {
    let Some((selector_of, values)) = data.split_first_chunk::<4>() else {
        return "it fails without an error, as a call does that needs more gas, or that no function takes".to_owned();
    };
    if let Some((signature, Explained { parameters, means })) = BY_SELECTOR.get(selector_of) {
        let (name, types) = signature.trim_end_matches(')').split_once('(').unwrap_or((signature, ""));
        let types = types.split(',').filter(|kind| !kind.is_empty());
        let values: Vec<_> = types
            .zip(parameters)
            .enumerate()
            .map(|(place, (kind, parameter))| format!("{parameter} = {}", value(values, place, kind)))
            .collect();
        let values = if values.is_empty() { String::new() } else { format!(" ({})", values.join(", ")) };
        return format!("{name}{values}: {means}");
    }
    match text(values, 0) {
        // The errors of Solidity itself.
        Some(text) if *selector_of == selector("Error(string)") => clipped(&text, MOST_SHOWN),
        _ if *selector_of == selector("Panic(uint256)") => {
            format!("a fault of the contract, number {}", value(values, 0, "uint256"))
        }
        _ => {
            let digits = hex::encode_prefixed(data);
            format!("an error that is not one of quorate's contracts: {}", clipped(&digits, MOST_SHOWN))
        }
    }
}

/// What a contract reverted with. Some nodes put it into an object, or an object into that. All else is passed over while it
/// is read, so that nothing of it is kept.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct RevertData(pub(crate) Option<Bytes>);

impl<'de> Deserialize<'de> for RevertData {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = RevertData;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("anything")
            }

            fn visit_str<E>(self, digits: &str) -> Result<RevertData, E> {
                Ok(RevertData(digits.parse().ok()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RevertData, A::Error> {
                let mut found = RevertData(None);
                while map.next_key::<IgnoredAny>()?.is_some() {
                    let RevertData(value) = map.next_value()?;
                    found.0 = found.0.or(value);
                }
                Ok(found)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RevertData, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(RevertData(None))
            }

            fn visit_bool<E>(self, _: bool) -> Result<RevertData, E> {
                Ok(RevertData(None))
            }

            fn visit_i64<E>(self, _: i64) -> Result<RevertData, E> {
                Ok(RevertData(None))
            }

            fn visit_u64<E>(self, _: u64) -> Result<RevertData, E> {
                Ok(RevertData(None))
            }

            fn visit_f64<E>(self, _: f64) -> Result<RevertData, E> {
                Ok(RevertData(None))
            }

            fn visit_unit<E>(self) -> Result<RevertData, E> {
                Ok(RevertData(None))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// The most characters of what a contract, or a node in its name, says.
const MOST_SHOWN: usize = 1_000;

fn selector(signature: &str) -> [u8; 4] {
    let hash = keccak256(signature);
    [hash[0], hash[1], hash[2], hash[3]]
}

/// The value of a parameter. Of types that are longer than a word, only text is shown.
fn value(values: &[u8], place: usize, kind: &str) -> String {
    let Some(word) = word(values, place) else { return "?".to_owned() };
    match kind {
        "address" => Address::from_word(word).to_string(),
        "string" => {
            text(values, place).map_or_else(|| "?".to_owned(), |text| format!("\"{}\"", clipped(&text, MOST_SHOWN)))
        }
        _ if kind.starts_with("uint") => U256::from_be_bytes(word.0).to_string(),
        "bytes" => "…".to_owned(),
        _ => word.to_string(),
    }
}

fn word(values: &[u8], place: usize) -> Option<B256> {
    values.get(32 * place..32 * (place + 1)).map(B256::from_slice)
}

/// A string: the word in its place says where its length stands.
fn text(values: &[u8], place: usize) -> Option<String> {
    let number = |word: B256| usize::try_from(U256::from_be_bytes(word.0)).ok();
    let tail = values.get(number(word(values, place)?)?..)?;
    let length = number(word(tail, 0)?)?;
    let bytes = tail.get(32..)?.get(..length)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use quorate_evm::{
        alloy_sol_types::{Panic, Revert, SolError},
        contract::{
            Settlement::{NotRegistrar, NotThisState, QuorumTooLight},
            StakeRegistrar::BadParameter,
        },
    };

    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn errors_have_their_name_values_and_meaning() {
        let sender = Address::repeat_byte(0xab);
        let said = words(&NotRegistrar { sender }.abi_encode());
        assert_eq!(said, format!("NotRegistrar (sender = {sender}): Only the registrar may call this."));
        let said = words(&QuorumTooLight { weight: U256::from(7), required: U256::from(60) }.abi_encode());
        assert!(said.starts_with("QuorumTooLight (weight = 7, required = 60): The quorum weighs less"), "{said}");
        assert!(words(&NotThisState {}.abi_encode()).starts_with("NotThisState: The head and the newest commitment"));
        let said = words(&BadParameter { what: "unit\u{1b}".to_owned() }.abi_encode());
        assert!(said.starts_with(r#"BadParameter (what = "unit\u{1b}"): A parameter is out of its bounds"#), "{said}");
        assert_eq!(words(&Revert { reason: "no".to_owned() }.abi_encode()), "no");
        assert_eq!(words(&Revert { reason: "don't\u{1b}[2J".to_owned() }.abi_encode()), "don't\\u{1b}[2J");
        assert_eq!(words(&Panic { code: U256::from(0x11) }.abi_encode()), "a fault of the contract, number 17");
    }

    /// The forms in which nodes put it.
    #[test]
    fn revert_data_is_found() {
        let expected = Some(Bytes::from(vec![1, 2]));
        let read = |data: Value| serde_json::from_str::<RevertData>(&data.to_string()).unwrap().0;
        assert_eq!(read(json!("0x0102")), expected);
        assert_eq!(read(json!({ "data": "0x0102" })), expected);
        assert_eq!(read(json!({ "code": 3, "originalError": { "data": "0x0102", "more": [1, "0x03"] } })), expected);
        for none in
            [json!(null), json!("Reverted"), json!(7), json!(-7), json!(0.5), json!({}), json!([1]), json!(true)]
        {
            assert_eq!(read(none.clone()), None, "{none}");
        }
    }

    /// Nothing that a node answers makes it panic.
    #[test]
    fn data_that_is_cut_short_or_unknown() {
        for length in 0..4 {
            assert!(words(&[0xff; 4][..length]).contains("fails without an error"));
        }
        assert_eq!(words(&[0xff; 5]), "an error that is not one of quorate's contracts: 0xffffffffff");
        let all = BadParameter { what: "unit".to_owned() }.abi_encode();
        for length in 4..all.len() - 28 {
            assert!(words(&all[..length]).contains("what = ?"), "{length}");
        }
        let mut far = all;
        far[4..36].fill(0xff);
        assert!(words(&far).contains("what = ?"));
    }
}
