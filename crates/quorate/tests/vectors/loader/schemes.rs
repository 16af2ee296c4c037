//! Signatures of other networks and libraries, in the shape that they have in common.

use quorate::{AnySuite, MinPk, MinSig, Suite};
use serde::Deserialize;

use super::{
    Case, File, Messages, Vectors,
    bytes::{Hex, plain},
    catalogue::Kind,
};

pub(crate) fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("signatures of other networks and libraries", |file| match file.kind {
        Kind::Signed(suite) => Some(signed(file, Some(suite))),
        Kind::SignedUnderTag => Some(signed(file, None)),
        Kind::ChiaSchemes => Some(chia_aggregates(file)),
        Kind::Possessions => Some(possessions(file)),
        _ => None,
    })
}

/// The suite of a tag, with the variant that the key's length tells.
pub(crate) fn suite_of(tag: &str, key: &[u8]) -> Option<AnySuite> {
    if key.len() == 48 {
        return MinPk::all().iter().find(|suite| suite.id() == tag).copied().map(AnySuite::MinPk);
    }
    MinSig::all().iter().find(|suite| suite.id() == tag).copied().map(AnySuite::MinSig)
}

/// Two keys over one message in each scheme. Basic is false as a claim: its messages must differ.
fn chia_aggregates(file: &File) -> Vec<Case> {
    let aggregate = |(index, chia): (usize, Chia)| {
        let suite = chia.suite();
        let messages = match suite {
            AnySuite::MinPk(MinPk::ProofOfPossession) => Messages::Shared(chia.message.0),
            _ => Messages::Each(vec![chia.message.0; chia.pk.len()]),
        };
        let expected = suite != AnySuite::MinPk(MinPk::Basic);
        let (set, id, keys) = (file.set.clone(), format!("{} (aggregate)", file.id(index)), plain(chia.pk));
        Case { set, id, suite, keys, messages, signature: chia.aggregate.0, expected }
    };
    chia(file).into_iter().enumerate().map(aggregate).collect()
}

/// One scheme of Chia's: two keys that sign one message, and the sum of their signatures.
#[derive(Deserialize)]
pub(crate) struct Chia {
    scheme: String,
    pub(crate) message: Hex,
    pub(crate) sk: Vec<Hex>,
    pub(crate) pk: Vec<Hex>,
    pub(crate) sig: Vec<Hex>,
    pub(crate) aggregate: Hex,
}

pub(crate) fn chia(file: &File) -> Vec<Chia> {
    #[derive(Deserialize)]
    struct Content {
        cases: Vec<Chia>,
    }
    file.parse::<Content>().cases
}

impl Chia {
    pub(crate) fn suite(&self) -> AnySuite {
        AnySuite::MinPk(match self.scheme.as_str() {
            "Basic" => MinPk::Basic,
            "Aug" => MinPk::Augmented,
            "Pop" => MinPk::ProofOfPossession,
            other => panic!("no scheme of Chia's is named `{other}`"),
        })
    }
}

/// Single signatures, true where nothing else is said.
fn signed(file: &File, suite: Option<AnySuite>) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Content {
        cases: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        #[serde(alias = "public_key", alias = "pk")]
        pubkey: Hex,
        #[serde(alias = "msg", alias = "signing_root")]
        message: Hex,
        #[serde(alias = "sig")]
        signature: Hex,
        #[serde(alias = "ciphersuite")]
        dst: Option<String>,
        #[serde(default = "yes")]
        expected: bool,
    }
    fn yes() -> bool {
        true
    }
    let case = |(index, item): (usize, Item)| {
        let id = file.id(index);
        let by_tag = || suite_of(item.dst.as_deref()?, &item.pubkey.0);
        let suite = suite.or_else(by_tag).unwrap_or_else(|| panic!("{id}: no suite has the tag {:?}", item.dst));
        let messages = Messages::Shared(item.message.0);
        let (set, keys) = (file.set.clone(), vec![item.pubkey.0]);
        Case { set, id, suite, keys, messages, signature: item.signature.0, expected: item.expected }
    };
    file.parse::<Content>().cases.into_iter().enumerate().map(case).collect()
}

fn possessions(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Content {
        cases: Vec<Item>,
    }
    #[derive(Deserialize)]
    struct Item {
        public_key: Hex,
        proof_of_possession: Hex,
        expected: bool,
    }
    let case = |(index, item): (usize, Item)| Case {
        set: file.set.clone(),
        id: file.id(index),
        suite: AnySuite::MinPk(MinPk::ProofOfPossession),
        keys: vec![item.public_key.0],
        messages: Messages::Possession,
        signature: item.proof_of_possession.0,
        expected: item.expected,
    };
    file.parse::<Content>().cases.into_iter().enumerate().map(case).collect()
}
