//! Where a quorum is stored, as the command line and lines of signatures write it.

use std::{fmt, str::FromStr};

use quorate_evm::quorum::{NONE, RENTAL, Store};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// [`Store`] as text: a slot, `rental` or `none`. In JSON a slot is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoreIn(pub(super) Store);

impl StoreIn {
    /// The number in the packed quorum and in what is signed.
    pub(super) fn word(self) -> u16 {
        match self.0 {
            Store::Nowhere => NONE,
            Store::Rental => RENTAL,
            Store::Slot(slot) => slot,
        }
    }
}

impl FromStr for StoreIn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let store = match text {
            "none" => Store::Nowhere,
            "rental" => Store::Rental,
            _ => match text.parse() {
                Ok(slot) if slot < RENTAL => Store::Slot(slot),
                _ => return Err(format!("expected a slot from 0 to {}, `rental` or `none`", RENTAL - 1)),
            },
        };
        Ok(Self(store))
    }
}

impl fmt::Display for StoreIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Store::Nowhere => f.write_str("none"),
            Store::Rental => f.write_str("rental"),
            Store::Slot(slot) => slot.fmt(f),
        }
    }
}

impl Serialize for StoreIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Store::Slot(slot) => serializer.serialize_u16(slot),
            Store::Nowhere | Store::Rental => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for StoreIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a slot, `rental` or `none`")]
        enum Text {
            Slot(u16),
            Name(String),
        }

        let text = match Text::deserialize(deserializer)? {
            Text::Slot(slot) => slot.to_string(),
            // A number has one form.
            Text::Name(name) if name.starts_with(|c: char| c.is_ascii_digit() || c == '+') => {
                return Err(D::Error::custom("a slot is a number and not a string"));
            }
            Text::Name(name) => name,
        };
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_json_there_and_back() {
        for (store, word, text, json) in [
            (Store::Nowhere, NONE, "none", "\"none\""),
            (Store::Rental, RENTAL, "rental", "\"rental\""),
            (Store::Slot(0), 0, "0", "0"),
            (Store::Slot(RENTAL - 1), RENTAL - 1, "65533", "65533"),
        ] {
            let store = StoreIn(store);
            assert_eq!((store.word(), store.to_string(), text.parse()), (word, text.to_owned(), Ok(store)));
            assert_eq!(serde_json::to_string(&store).unwrap(), json);
            assert_eq!(serde_json::from_str::<StoreIn>(json).unwrap(), store);
        }
    }

    #[test]
    fn what_is_no_store() {
        for text in ["", "65534", "65535", "-1", "None", "1.5"] {
            assert!(text.parse::<StoreIn>().is_err(), "{text}");
        }
        for json in ["65534", "65535", "-1", "1.5", "null", "[0]", "\"0\"", "\"+0\"", "\"NONE\"", "true"] {
            assert!(serde_json::from_str::<StoreIn>(json).is_err(), "{json}");
        }
    }
}
