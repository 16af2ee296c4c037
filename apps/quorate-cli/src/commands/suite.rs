//! `--suite` of the commands that handle keys and signatures: it has no default. The one place that turns its value into a
//! type.

use std::fmt;

use clap::{Args, builder::PossibleValue};
use quorate::{AnySuite, Bls12381Suite, MinPk, MinSig, Scheme, Suite};
use quorate_host::exit::Result;

use super::value::{Value, parsed};

/// The suite of keys and signatures.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct SuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = "QUORATE_SUITE", value_parser = Value::new(read).with_names(names))]
    pub(super) suite: KeySuite,
}

/// The suite of proofs of possession that are verified. They are public, so it can be on either curve.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ProofSuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = "QUORATE_SUITE", value_parser = Value::new(with_proofs).with_names(names_with_proofs))]
    pub(super) suite: AnySuite,
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
/// makes keys and signatures for settlements alone (`quorate evm`), and verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeySuite {
    MinPk(MinPk),
    MinSig(MinSig),
}

impl KeySuite {
    /// All of them.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let min_pk = MinPk::all().iter().copied().map(Self::MinPk);
        min_pk.chain(MinSig::all().iter().copied().map(Self::MinSig))
    }

    /// The name by which a user chooses it.
    pub(super) fn name(self) -> &'static str {
        AnySuite::from(self).name()
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
             BLS12-381 alone. Make keys and sign with the software of your network, the Python package or the Rust crate \
             quorate-bn254, which also add them; `quorate verify` verifies claims of {suite}, and `quorate evm` makes keys of \
             operators who sign for a settlement"
            )),
            suite => Err(format!("this program makes no keys of the suite {suite}")),
        }
    }
}

/// Finds a suite by its name.
fn read(name: &str) -> std::result::Result<KeySuite, String> {
    parsed::<AnySuite>(name)?.try_into()
}

/// Finds a suite that has proofs of possession by its name.
fn with_proofs(name: &str) -> std::result::Result<AnySuite, String> {
    let suite = parsed::<AnySuite>(name)?;
    if suite.proof_of_possession_tag().is_some() {
        return Ok(suite);
    }
    Err(no_proofs(suite, AnySuite::all()))
}

/// Says that a suite has no proofs of possession, and which of the others have.
pub(super) fn no_proofs(suite: AnySuite, others: impl Iterator<Item = AnySuite>) -> String {
    let others = others.filter(|suite| suite.proof_of_possession_tag().is_some()).map(AnySuite::name);
    let others = others.collect::<Vec<_>>().join(", ");
    format!("the suite {suite} has no proofs of possession; choose one of {others}")
}

fn names() -> Vec<PossibleValue> {
    described(KeySuite::all().map(AnySuite::from))
}

fn names_with_proofs() -> Vec<PossibleValue> {
    described(AnySuite::all().filter(|suite| suite.proof_of_possession_tag().is_some()))
}

fn described(suites: impl Iterator<Item = AnySuite>) -> Vec<PossibleValue> {
    // Profiles first: most people look for one.
    let (profiles, ids): (Vec<_>, Vec<_>) = suites.partition(|suite| suite.is_profile());
    let described = |suite: AnySuite| {
        let value = PossibleValue::new(suite.name());
        match suite {
            AnySuite::MinPk(suite) => value.help(summary(suite)),
            AnySuite::MinSig(suite) => value.help(summary(suite)),
            AnySuite::Bn254(suite) => value.help(format!("{}, about 100 bits of security", summary(suite))),
            _ => value,
        }
    };
    profiles.into_iter().chain(ids).map(described).collect()
}

fn summary<S: Suite>(suite: S) -> String {
    let scheme = match suite.scheme() {
        Scheme::Basic => "NUL",
        Scheme::Augmented => "AUG",
        Scheme::ProofOfPossession => "POP",
        Scheme::Bdn => "BDN",
    };
    format!("{scheme}, {}-byte keys", suite.key_length())
}
