//! `--suite` of the commands that handle keys and signatures: it has no default. The one place that turns its value into a
//! type.

use std::fmt;

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use quorate::{AnySuite, MinPk, MinSig, Scheme, Suite};
use quorate_curve::Group;

use crate::exit::Result;

/// The suite of keys and signatures.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct SuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the most common mistake
    #[arg(long = "suite", value_name = "NAME", env = "QUORATE_SUITE", value_parser = names())]
    pub(super) suite: KeySuite,
}

/// A command that does the same in every suite.
pub(super) trait InSuite {
    /// Runs the command in a suite whose type is known.
    fn run_in<S: Suite>(self, suite: S) -> Result;
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

/// A suite on BLS12-381, whose secret keys blst's constant-time code handles. On BN254 no such code is at hand, so this
/// program makes no keys and no signatures there.
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

fn names() -> impl TypedValueParser<Value = KeySuite> {
    // Profiles first: most people look for one.
    let (profiles, ids): (Vec<_>, Vec<_>) = KeySuite::all().partition(|suite| AnySuite::from(*suite).is_profile());
    let suites: Vec<_> = profiles.into_iter().chain(ids).collect();
    let values = suites.iter().map(|suite| {
        let help = match suite {
            KeySuite::MinPk(suite) => summary(*suite),
            KeySuite::MinSig(suite) => summary(*suite),
        };
        PossibleValue::new(suite.name()).help(help)
    });
    let suite = |name: String| KeySuite::all().find(|suite| suite.name() == name).expect("one of the possible values");
    PossibleValuesParser::new(values).map(suite)
}

fn summary<S: Suite>(suite: S) -> String {
    let scheme = match suite.scheme() {
        Scheme::Basic => "NUL",
        Scheme::Augmented => "AUG",
        Scheme::ProofOfPossession => "POP",
    };
    format!("{scheme}, {}-byte keys", S::Key::COMPRESSED)
}
