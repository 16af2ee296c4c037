//! `--suite` of the commands that handle keys and signatures: it has no default.

use std::fmt;

use clap::{Args, builder::PossibleValue};
use quorate::{AnySuite, Bls12381Suite, Bn254Suite, MinPk, MinSig, Scheme, Suite};
use quorate_host::exit::Result;

use super::value::{Value, parsed, variable};

/// The suite of keys and signatures.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct SuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = variable("QUORATE_SUITE"))]
    #[arg(value_parser = Value::new(parsed::<AnySuite>).with_names(names))]
    pub(super) suite: AnySuite,
}

/// The suite of proofs of possession.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct ProofSuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = variable("QUORATE_SUITE"))]
    #[arg(value_parser = Value::new(with_proofs).with_names(names_with_proofs))]
    pub(super) suite: AnySuite,
}

/// The suite of keys that are shared or derived: a suite on BLS12-381.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct Bls12381Argument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = variable("QUORATE_SUITE"))]
    #[arg(value_parser = Value::new(on_bls12381).with_names(names_on_bls12381))]
    pub(super) suite: Bls12381Choice,
}

/// A command that does the same in every suite on BLS12-381.
pub(super) trait InBls12381 {
    /// Runs the command in a suite whose type is known.
    fn run_in<S: Bls12381Suite>(self, suite: S) -> Result;
}

/// Lower-case hexadecimal; with `0x` in front in the profiles of Ethereum and of EigenLayer, as Ethereum writes it.
pub(super) fn hex(suite: AnySuite, bytes: impl AsRef<[u8]>) -> String {
    match suite {
        AnySuite::MinPk(MinPk::Eth2 | MinPk::Eth2SyncAggregate) | AnySuite::Bn254(Bn254Suite::EigenLayer) => {
            const_hex::encode_prefixed(bytes)
        }
        _ => const_hex::encode(bytes),
    }
}

/// Whether it is the suite of a drand network, whose messages are digests.
pub(super) fn is_drand(suite: AnySuite) -> bool {
    match suite {
        AnySuite::MinPk(suite) => matches!(suite, MinPk::DrandChained | MinPk::DrandUnchained),
        AnySuite::MinSig(suite) => matches!(suite, MinSig::DrandQuicknet | MinSig::DrandG1Legacy),
        AnySuite::Bn254(suite) => suite == Bn254Suite::DrandEvmnet,
        _ => false,
    }
}

impl Bls12381Argument {
    /// Runs a command in the suite that was asked for.
    pub(super) fn run(self, command: impl InBls12381) -> Result {
        match self.suite {
            Bls12381Choice::MinPk(suite) => command.run_in(suite),
            Bls12381Choice::MinSig(suite) => command.run_in(suite),
        }
    }

    /// As [`hex`].
    pub(super) fn hex(self, bytes: impl AsRef<[u8]>) -> String {
        hex(self.suite.into(), bytes)
    }
}

/// A suite on BLS12-381. Shared keys are scalars of that curve, and EIP-2333 derives keys on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bls12381Choice {
    MinPk(MinPk),
    MinSig(MinSig),
}

impl Bls12381Choice {
    /// All of them.
    fn all() -> impl Iterator<Item = Self> {
        let min_pk = MinPk::all().iter().copied().map(Self::MinPk);
        min_pk.chain(MinSig::all().iter().copied().map(Self::MinSig))
    }

    /// The name by which a user chooses it.
    pub(super) fn name(self) -> &'static str {
        AnySuite::from(self).name()
    }
}

impl From<Bls12381Choice> for AnySuite {
    fn from(suite: Bls12381Choice) -> Self {
        match suite {
            Bls12381Choice::MinPk(suite) => suite.any(),
            Bls12381Choice::MinSig(suite) => suite.any(),
        }
    }
}

impl fmt::Display for Bls12381Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Says why a suite on another curve is refused.
impl TryFrom<AnySuite> for Bls12381Choice {
    type Error = String;

    fn try_from(suite: AnySuite) -> std::result::Result<Self, String> {
        match suite {
            AnySuite::MinPk(suite) => Ok(Self::MinPk(suite)),
            AnySuite::MinSig(suite) => Ok(Self::MinSig(suite)),
            suite => Err(format!(
                "{suite} is on the curve BN254, and keys are shared and derived on BLS12-381 alone; `quorate key new`, `quorate sign` \
                 and `quorate aggregate` know {suite}"
            )),
        }
    }
}

/// Finds a suite on BLS12-381 by its name.
fn on_bls12381(name: &str) -> std::result::Result<Bls12381Choice, String> {
    parsed::<AnySuite>(name)?.try_into()
}

/// Finds a suite that has proofs of possession by its name.
fn with_proofs(name: &str) -> std::result::Result<AnySuite, String> {
    let suite = parsed::<AnySuite>(name)?;
    if suite.proof_of_possession_tag().is_some() {
        return Ok(suite);
    }
    let others = AnySuite::all().filter(|suite| suite.proof_of_possession_tag().is_some()).map(AnySuite::name);
    let others = others.collect::<Vec<_>>().join(", ");
    Err(format!("the suite {suite} has no proofs of possession; choose one of {others}"))
}

fn names() -> Vec<PossibleValue> {
    described(AnySuite::all())
}

fn names_on_bls12381() -> Vec<PossibleValue> {
    described(Bls12381Choice::all().map(AnySuite::from))
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
