//! `--suite`, which has no default.

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use quorate::{AnySuite, Scheme, Suite};
use quorate_curve::Group;

/// The suite of keys and signatures.
#[derive(Clone, Copy, Debug, Args)]
pub(super) struct SuiteArgument {
    /// Ciphersuite or profile; there is no default, because the wrong one is the commonest mistake
    #[arg(long = "suite", value_name = "NAME", env = "QUORATE_SUITE", value_parser = names())]
    pub(super) suite: AnySuite,
}

fn names() -> impl TypedValueParser<Value = AnySuite> {
    // Profiles first: they are what most people look for.
    let (ids, profiles): (Vec<_>, Vec<_>) = AnySuite::all().partition(|suite| suite.name().starts_with("BLS_"));
    let values = profiles.into_iter().chain(ids).map(|suite| {
        let help = match suite {
            AnySuite::MinPk(suite) => summary(suite),
            AnySuite::MinSig(suite) => summary(suite),
        };
        PossibleValue::new(suite.name()).help(help)
    });
    PossibleValuesParser::new(values).try_map(|name| name.parse::<AnySuite>())
}

fn summary<S: Suite>(suite: S) -> String {
    let scheme = match suite.scheme() {
        Scheme::Basic => "NUL",
        Scheme::Augmented => "AUG",
        Scheme::Possession => "POP",
    };
    format!("{scheme}, {}-byte keys", S::Key::COMPRESSED)
}
