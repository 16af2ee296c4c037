//! `--suite` of the commands that handle keys and signatures: it has no default. The one place that turns its value into a
//! type.

use std::fmt;

use clap::{Args, builder::PossibleValue};
use quorate::{AnySuite, Bls12381Suite, MinPk, MinSig, Scheme, Suite, UnknownSuite};
use quorate_curve::Bls12381Group;
use quorate_host::exit::Result;

use super::value::Value;

/// The suite of keys and signatures.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct SuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = "QUORATE_SUITE", value_parser = Value::new(read).with_names(names))]
    pub(super) suite: KeySuite,
}

/// A command that does the same in every suite.
pub(super) trait InSuite {
    /// Runs the command in a suite whose type is known.
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result;
}

impl SuiteArgument {
    /// Runs a command in the suite that was asked for.
    pub(super) fn run(self, command: impl InSuite) -> Result {
        match self.suite {
            KeySuite::MinPk(suite) => command.run_in(suite),
            KeySuite::MinSig(suite) => command.run_in(suite),
        }
    }

    /// Lower-case hexadecimal; with `0x` in front in Ethereum's profiles, as Ethereum writes it.
    pub(super) fn hex(self, bytes: impl AsRef<[u8]>) -> String {
        match self.suite {
            KeySuite::MinPk(MinPk::Eth2 | MinPk::Eth2SyncAggregate) => const_hex::encode_prefixed(bytes),
            _ => const_hex::encode(bytes),
        }
    }

    /// Whether it is the suite of a drand network, whose messages are digests.
    pub(super) fn is_drand(self) -> bool {
        match self.suite {
            KeySuite::MinPk(suite) => matches!(suite, MinPk::DrandChained | MinPk::DrandUnchained),
            KeySuite::MinSig(suite) => matches!(suite, MinSig::DrandQuicknet | MinSig::DrandG1Legacy),
        }
    }
}

/// A suite on BLS12-381, whose secret keys blst's constant-time code handles. blst does not have BN254. There this program
/// makes keys and signatures for settlements alone (`quorate evm`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeySuite {
    MinPk(MinPk),
    MinSig(MinSig),
}

impl KeySuite {
    fn all() -> impl Iterator<Item = Self> {
        let min_pk = MinPk::all().iter().copied().map(Self::MinPk);
        min_pk.chain(MinSig::all().iter().copied().map(Self::MinSig))
    }

    /// The name by which a user chooses it.
    pub(super) fn name(self) -> &'static str {
        AnySuite::from(self).name()
    }

    /// The suites that have proofs of possession.
    pub(super) fn with_proofs_of_possession() -> impl Iterator<Item = Self> {
        Self::all().filter(|suite| match suite {
            Self::MinPk(suite) => suite.proof_of_possession_tag().is_some(),
            Self::MinSig(suite) => suite.proof_of_possession_tag().is_some(),
        })
    }
}

impl From<KeySuite> for AnySuite {
    fn from(suite: KeySuite) -> Self {
        match suite {
            KeySuite::MinPk(suite) => suite.any(),
            KeySuite::MinSig(suite) => suite.any(),
        }
    }
}

impl fmt::Display for KeySuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Says why a suite on BN254 is refused.
impl TryFrom<AnySuite> for KeySuite {
    type Error = String;

    fn try_from(suite: AnySuite) -> std::result::Result<Self, String> {
        match suite {
            AnySuite::MinPk(suite) => Ok(Self::MinPk(suite)),
            AnySuite::MinSig(suite) => Ok(Self::MinSig(suite)),
            suite @ AnySuite::Bn254(_) => Err(format!(
                "{suite} is on the curve BN254, which blst does not have, and this command handles keys and signatures on \
             BLS12-381 alone. Make keys and sign with the software of your network; `quorate verify` verifies claims of \
             {suite}, `quorate evm` makes keys of operators who sign for a settlement, and the Rust crate quorate-bn254 adds \
             keys and signatures"
            )),
            suite => Err(format!("this program makes no keys of the suite {suite}")),
        }
    }
}

/// Finds a suite by its name.
fn read(name: &str) -> std::result::Result<KeySuite, String> {
    name.parse::<AnySuite>().map_err(|error: UnknownSuite| error.to_string())?.try_into()
}

fn names() -> Vec<PossibleValue> {
    // Profiles first: most people look for one.
    let (profiles, ids): (Vec<_>, Vec<_>) = KeySuite::all().partition(|suite| AnySuite::from(*suite).is_profile());
    let named = |suite: KeySuite| {
        let help = match suite {
            KeySuite::MinPk(suite) => summary(suite),
            KeySuite::MinSig(suite) => summary(suite),
        };
        PossibleValue::new(suite.name()).help(help)
    };
    profiles.into_iter().chain(ids).map(named).collect()
}

fn summary<S: Bls12381Suite>(suite: S) -> String {
    let scheme = match suite.scheme() {
        Scheme::Basic => "NUL",
        Scheme::Augmented => "AUG",
        Scheme::ProofOfPossession => "POP",
        Scheme::Bdn => "BDN",
    };
    format!("{scheme}, {}-byte keys", S::Key::COMPRESSED)
}
