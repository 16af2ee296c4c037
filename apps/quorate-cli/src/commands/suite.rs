//! `--suite`, which has no default, and the one place that turns its value into a type.

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
    /// Ciphersuite or profile; there is no default, because the wrong one is the commonest mistake
    #[arg(long = "suite", value_name = "NAME", env = "QUORATE_SUITE", value_parser = names())]
    pub(super) suite: AnySuite,
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
            AnySuite::MinPk(suite) => command.run_in(suite),
            AnySuite::MinSig(suite) => command.run_in(suite),
        }
    }

    /// Lower-case hexadecimal; with `0x` in the profile `eth2`, as Ethereum writes it, without elsewhere.
    pub(super) fn hex(self, bytes: &[u8]) -> String {
        match self.suite {
            AnySuite::MinPk(MinPk::Eth2) => const_hex::encode_prefixed(bytes),
            _ => const_hex::encode(bytes),
        }
    }

    /// Whether it is the suite of a drand network, whose messages are digests.
    pub(super) fn is_drand(self) -> bool {
        match self.suite {
            AnySuite::MinPk(suite) => matches!(suite, MinPk::DrandChained | MinPk::DrandUnchained),
            AnySuite::MinSig(suite) => matches!(suite, MinSig::DrandQuicknet | MinSig::DrandG1Legacy),
        }
    }
}

fn names() -> impl TypedValueParser<Value = AnySuite> {
    // Profiles first: they are what most people look for.
    let (ids, profiles): (Vec<_>, Vec<_>) = AnySuite::all().map(Choice::new).partition(|choice| choice.is_id);
    let values = profiles.into_iter().chain(ids).map(|choice| PossibleValue::new(choice.name).help(choice.help));
    PossibleValuesParser::new(values).try_map(|name| name.parse::<AnySuite>())
}

/// A value of `--suite`.
struct Choice {
    name: &'static str,
    help: String,
    /// Whether its name is the ciphersuite's id; a profile has a name of its own.
    is_id: bool,
}

impl Choice {
    fn new(suite: AnySuite) -> Self {
        match suite {
            AnySuite::MinPk(suite) => Self::of(suite),
            AnySuite::MinSig(suite) => Self::of(suite),
        }
    }

    fn of<S: Suite>(suite: S) -> Self {
        let scheme = match suite.scheme() {
            Scheme::Basic => "NUL",
            Scheme::Augmented => "AUG",
            Scheme::Possession => "POP",
        };
        let help = format!("{scheme}, {}-byte keys", S::Key::COMPRESSED);
        Self { name: suite.name(), help, is_id: suite.name() == suite.id() }
    }
}
