//! Ciphersuites: which group holds the keys, which tag the messages are hashed under, which scheme guards aggregates.
//!
//! The two variants of draft-irtf-cfrg-bls-signature-05 (section 2.1) are two closed enums, [`MinPk`] and [`MinSig`],
//! which implement one sealed trait, [`Suite`]. Types carry the variant (`PublicKey<MinPk>`); values name the suite, and
//! every low-level call takes one: none has a default. [`AnySuite`] is a suite chosen when the program runs.
//!
//! ```
//! use quorate::{AnySuite, MinPk, Suite};
//! assert_eq!("eth2".parse(), Ok(AnySuite::MinPk(MinPk::Eth2)));
//! assert_eq!(MinPk::Eth2.id(), "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_");
//! ```

use std::{
    fmt::{self, Debug, Display},
    hash::Hash,
    str::FromStr,
};

use quorate_curve::{G1, G2, Group, SecretScalar};

/// A ciphersuite or a profile of one. Implemented by [`MinPk`] and [`MinSig`] alone.
pub trait Suite: Copy + Eq + Hash + Debug + Display + Send + Sync + 'static + sealed::Sealed {
    /// The group of public keys.
    type Key: Group;
    /// The group of signatures and hashed messages.
    type Signature: Group;

    /// The name it is chosen by: the profile's, or the IETF id where the suite is no profile.
    fn name(self) -> &'static str;

    /// The IETF ciphersuite id, which is also the tag that messages are hashed under.
    fn id(self) -> &'static str;

    /// How the suite keeps rogue keys out of aggregates.
    fn scheme(self) -> Scheme;

    /// The tag that proofs of possession are hashed under; `None` where the scheme has none.
    fn possession_tag(self) -> Option<&'static str>;

    /// Whether keys are generated as in draft 3, with an unhashed salt.
    #[doc(hidden)]
    fn generates_keys_as_draft_3(self) -> bool {
        self.name() == "chia"
    }

    /// Whether no keys with the identity signature are a valid claim: `eth_fast_aggregate_verify` of the Altair
    /// specification says so, and nothing else.
    fn allows_no_keys(self) -> bool {
        self.name() == "eth2"
    }

    /// All suites and profiles of this variant.
    fn all() -> &'static [Self];

    /// A pair for the pairing, in the order G1, G2.
    #[doc(hidden)]
    fn pair(key: Self::Key, signature: Self::Signature) -> (G1, G2);

    #[doc(hidden)]
    fn public_key(secret: &SecretScalar) -> Self::Key;

    #[doc(hidden)]
    fn sign(secret: &SecretScalar, hash: &Self::Signature) -> Self::Signature;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::MinPk {}
    impl Sealed for super::MinSig {}
}

/// The three schemes of draft-irtf-cfrg-bls-signature-05, section 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// NUL: the messages of an aggregate must differ (section 3.1).
    Basic,
    /// AUG: each message is hashed behind its signer's public key (section 3.2).
    Augmented,
    /// POP: each key comes with a proof of possession, which the caller has checked (section 3.3).
    Possession,
}

/// Minimal public keys: 48 bytes in G1, signatures of 96 bytes in G2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MinPk {
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_`
    Basic,
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_`
    Augmented,
    /// `BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_`
    Possession,
    /// `eth2`: POP, and as `eth_fast_aggregate_verify` of the Altair specification has it, no keys with the identity
    /// signature are valid.
    Eth2,
    /// `chia`: AUG, with keys generated as in draft 3.
    Chia,
    /// `drand-chained`: NUL over sha256(previous signature ‖ round).
    DrandChained,
    /// `drand-unchained`: NUL over sha256(round).
    DrandUnchained,
}

/// Minimal signatures: 48 bytes in G1, public keys of 96 bytes in G2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MinSig {
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_`
    Basic,
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_`
    Augmented,
    /// `BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_`
    Possession,
    /// `drand-quicknet`: NUL over sha256(round), the tag of RFC 9380.
    DrandQuicknet,
    /// `drand-g1-legacy`: NUL over sha256(round), hashed to G1 under the tag of G2, as the retired chain fastnet did.
    DrandG1Legacy,
}

impl Suite for MinPk {
    type Key = G1;
    type Signature = G2;

    fn name(self) -> &'static str {
        match self {
            Self::Basic | Self::Augmented | Self::Possession => self.id(),
            Self::Eth2 => "eth2",
            Self::Chia => "chia",
            Self::DrandChained => "drand-chained",
            Self::DrandUnchained => "drand-unchained",
        }
    }

    fn id(self) -> &'static str {
        match self.scheme() {
            Scheme::Basic => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_NUL_",
            Scheme::Augmented => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_AUG_",
            Scheme::Possession => "BLS_SIG_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_",
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::Basic | Self::DrandChained | Self::DrandUnchained => Scheme::Basic,
            Self::Augmented | Self::Chia => Scheme::Augmented,
            Self::Possession | Self::Eth2 => Scheme::Possession,
        }
    }

    fn possession_tag(self) -> Option<&'static str> {
        (self.scheme() == Scheme::Possession).then_some("BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_")
    }

    fn all() -> &'static [Self] {
        &[
            Self::Basic,
            Self::Augmented,
            Self::Possession,
            Self::Eth2,
            Self::Chia,
            Self::DrandChained,
            Self::DrandUnchained,
        ]
    }

    fn pair(key: G1, signature: G2) -> (G1, G2) {
        (key, signature)
    }

    fn public_key(secret: &SecretScalar) -> G1 {
        secret.times_g1()
    }

    fn sign(secret: &SecretScalar, hash: &G2) -> G2 {
        secret.sign_in_g2(hash)
    }
}

impl Suite for MinSig {
    type Key = G2;
    type Signature = G1;

    fn name(self) -> &'static str {
        match self {
            Self::Basic | Self::Augmented | Self::Possession => self.id(),
            Self::DrandQuicknet => "drand-quicknet",
            Self::DrandG1Legacy => "drand-g1-legacy",
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Basic | Self::DrandQuicknet => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_",
            Self::Augmented => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_AUG_",
            Self::Possession => "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_",
            Self::DrandG1Legacy => MinPk::Basic.id(),
        }
    }

    fn scheme(self) -> Scheme {
        match self {
            Self::Basic | Self::DrandQuicknet | Self::DrandG1Legacy => Scheme::Basic,
            Self::Augmented => Scheme::Augmented,
            Self::Possession => Scheme::Possession,
        }
    }

    fn possession_tag(self) -> Option<&'static str> {
        (self.scheme() == Scheme::Possession).then_some("BLS_POP_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_")
    }

    fn all() -> &'static [Self] {
        &[Self::Basic, Self::Augmented, Self::Possession, Self::DrandQuicknet, Self::DrandG1Legacy]
    }

    fn pair(key: G2, signature: G1) -> (G1, G2) {
        (signature, key)
    }

    fn public_key(secret: &SecretScalar) -> G2 {
        secret.times_g2()
    }

    fn sign(secret: &SecretScalar, hash: &G1) -> G1 {
        secret.sign_in_g1(hash)
    }
}

impl Display for MinPk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Display for MinSig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A suite of either variant, chosen when the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(clippy::exhaustive_enums, reason = "there are two variants, and a caller matches on both")]
pub enum AnySuite {
    /// Keys in G1.
    MinPk(MinPk),
    /// Keys in G2.
    MinSig(MinSig),
}

impl AnySuite {
    /// Every suite and profile, by name.
    pub fn all() -> impl Iterator<Item = Self> {
        let min_pk = MinPk::all().iter().copied().map(Self::MinPk);
        min_pk.chain(MinSig::all().iter().copied().map(Self::MinSig))
    }

    /// The name it is chosen by.
    pub fn name(self) -> &'static str {
        match self {
            Self::MinPk(suite) => suite.name(),
            Self::MinSig(suite) => suite.name(),
        }
    }
}

impl Display for AnySuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no suite has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no suite `{0}`; profiles: eth2, chia, drand-chained, drand-unchained, drand-quicknet, drand-g1-legacy; or an IETF id in full, such as {id}", id = MinPk::Possession.id())]
pub struct UnknownSuite(pub String);

impl FromStr for AnySuite {
    type Err = UnknownSuite;

    fn from_str(name: &str) -> Result<Self, UnknownSuite> {
        Self::all().find(|suite| suite.name() == name).ok_or_else(|| UnknownSuite(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_parse_back() {
        let names: std::collections::HashSet<_> = AnySuite::all().map(AnySuite::name).collect();
        assert_eq!(names.len(), AnySuite::all().count());
        for suite in AnySuite::all() {
            assert_eq!(suite.name().parse(), Ok(suite));
        }
        assert!("ETH2".parse::<AnySuite>().is_err());
        assert!("".parse::<AnySuite>().is_err());
    }
}
