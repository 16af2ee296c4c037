//! The curve, and the group on it, that holds the keys of a contract.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The number of bytes in a full page: EIP-170's limit without the header of 10. The program of a page, if it has one, takes
/// some of them.
const PAGE_BYTES: usize = 24_576 - 10;

/// The curve and the group of a contract's keys. Signatures are in G1 of the same curve.
///
/// Which of them costs the least gas depends on how many members change from quorum to quorum: see
/// `quorate-bench gas`. `Display`, `FromStr` and serde use the names "bn254-g2", "bn254-g1", "bls12381-g2" and
/// "bls12381-g2-nu".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyGroup {
    /// BN254, keys in G2.
    Bn254G2,
    /// BN254, keys in G1. The aggregator supplies the quorum's key in G2, and the contract checks that the two belong
    /// together.
    Bn254G1,
    /// BLS12-381 through the precompiles of EIP-2537, keys in G2.
    Bls12381G2,
    /// The same keys, whose digests are hashed by one map in place of two
    /// ([`DigestHash::Nonuniform`](crate::bls12381::DigestHash::Nonuniform)).
    Bls12381G2Nu,
}

impl KeyGroup {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Bn254G2, Self::Bn254G1, Self::Bls12381G2, Self::Bls12381G2Nu];

    /// The name in files, on the command line and in benchmarks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bn254G2 => "bn254-g2",
            Self::Bn254G1 => "bn254-g1",
            Self::Bls12381G2 => "bls12381-g2",
            Self::Bls12381G2Nu => "bls12381-g2-nu",
        }
    }

    /// The number of bytes of a key as the contract keeps it, in pages and in a base's preimage.
    pub const fn key_bytes(self) -> usize {
        match self {
            Self::Bn254G2 => 128,
            Self::Bn254G1 => 64,
            Self::Bls12381G2 | Self::Bls12381G2Nu => 192,
        }
    }

    /// Whether pages have a program that adds their keys.
    pub const fn pages_add(self) -> bool {
        !matches!(self, Self::Bn254G2)
    }

    /// The most keys that the contracts put into one page. The program of pages takes 267 bytes with `Bn254G1` and 381 on
    /// BLS12-381; with `Bn254G2` pages have none.
    pub const fn page_keys(self) -> usize {
        let program = match self {
            Self::Bn254G2 => 0,
            Self::Bn254G1 => 267,
            Self::Bls12381G2 | Self::Bls12381G2Nu => 381,
        };
        (PAGE_BYTES - program) / self.key_bytes()
    }

    /// The number of bytes of a member's key off the chain: the key of the contract, and with `Bn254G1` the key in G2 of
    /// the same secret behind it.
    pub const fn member_bytes(self) -> usize {
        match self {
            Self::Bn254G2 => 128,
            Self::Bn254G1 | Self::Bls12381G2 | Self::Bls12381G2Nu => 192,
        }
    }

    /// The number of bytes of an aggregate signature in the packed quorum.
    pub const fn signature_bytes(self) -> usize {
        match self {
            Self::Bn254G2 | Self::Bn254G1 => 64,
            Self::Bls12381G2 | Self::Bls12381G2Nu => 96,
        }
    }
}

impl fmt::Display for KeyGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// No group of keys has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnknownKeyGroup {
    /// The letter was the name in earlier versions.
    #[error("the key group `{letter}` is now written `{name}`", name = .now.name())]
    Letter {
        /// The letter.
        letter: String,
        /// What it stood for.
        now: KeyGroup,
    },
    /// There never was such a group.
    #[error("there is no key group `{0}`; choose bn254-g2, bn254-g1, bls12381-g2 or bls12381-g2-nu")]
    Name(String),
}

impl FromStr for KeyGroup {
    type Err = UnknownKeyGroup;

    fn from_str(name: &str) -> Result<Self, UnknownKeyGroup> {
        if let Some(found) = Self::ALL.into_iter().find(|group| group.name() == name) {
            return Ok(found);
        }
        let now = match name {
            "a" => Self::Bn254G2,
            "b" => Self::Bn254G1,
            "d" => Self::Bls12381G2,
            _ => return Err(UnknownKeyGroup::Name(name.to_owned())),
        };
        Err(UnknownKeyGroup::Letter { letter: name.to_owned(), now })
    }
}

impl Serialize for KeyGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for KeyGroup {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back_and_letters_are_refused_with_the_new_name() {
        for group in KeyGroup::ALL {
            assert_eq!(group.to_string().parse(), Ok(group));
        }
        for (letter, group) in ["a", "b", "d"].into_iter().zip(KeyGroup::ALL) {
            let error = letter.parse::<KeyGroup>().map_err(|error| error.to_string());
            assert_eq!(error, Err(format!("the key group `{letter}` is now written `{group}`")));
        }
        let error = "c".parse::<KeyGroup>().map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| KeyGroup::ALL.iter().all(|group| error.contains(group.name()))));
    }
}
