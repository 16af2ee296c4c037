//! The suite of a claim, on either curve: the engine's on BLS12-381, and the networks on BN254.

use std::{fmt, str::FromStr};

use quorate::AnySuite;
use quorate_bn254::Bn254Suite;

/// A suite that claims can be of. `--suite` parses to it, and a claim's own "suite".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_enums, reason = "there are two curves, and who judges matches on both")]
pub enum ClaimSuite {
    /// BLS12-381: batched, subtracted, planned by the engine.
    Bls12381(AnySuite),
    /// BN254: each claim by its own pairings.
    Bn254(Bn254Suite),
}

impl ClaimSuite {
    /// The name it is chosen by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bls12381(suite) => suite.name(),
            Self::Bn254(profile) => profile.name(),
        }
    }
}

impl fmt::Display for ClaimSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no suite has, on either curve.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no suite `{0}`; profiles: {profiles}; or an IETF id in full, such as BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_", profiles = profiles())]
pub struct UnknownSuite(String);

impl FromStr for ClaimSuite {
    type Err = UnknownSuite;

    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        let bls12381 = name.parse().map(Self::Bls12381);
        bls12381.or_else(|_| name.parse().map(Self::Bn254)).map_err(|_| UnknownSuite(name.to_owned()))
    }
}

/// The names of all profiles, those on BN254 last.
fn profiles() -> String {
    let bls12381 = AnySuite::all().map(AnySuite::name).filter(|name| !name.starts_with("BLS_"));
    let names: Vec<_> = bls12381.chain(Bn254Suite::all().iter().map(|profile| profile.name())).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        let bls12381 = AnySuite::all().map(ClaimSuite::Bls12381);
        let all: Vec<_> = bls12381.chain(Bn254Suite::all().iter().copied().map(ClaimSuite::Bn254)).collect();
        let names: std::collections::HashSet<_> = all.iter().map(|suite| suite.name()).collect();
        assert_eq!(names.len(), all.len());
        for suite in all {
            assert_eq!(suite.name().parse(), Ok(suite));
        }
    }

    #[test]
    fn an_unknown_name_is_told_all_profiles() {
        let error = "eth3".parse::<ClaimSuite>().unwrap_err().to_string();
        assert!(error.starts_with("there is no suite `eth3`; profiles: eth2, chia, "), "{error}");
        assert!(error.contains("drand-evmnet, eigenlayer; or an IETF id in full"), "{error}");
    }
}
