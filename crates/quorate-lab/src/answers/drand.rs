//! Rounds of drand's networks: a threshold signature over the digest of the round.

use quorate::{AnySuite, MinPk, MinSig};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{Case, CaseMessages, File, Vectors, bytes::Hex, catalogue::Kind};

/// Every round of drand's networks on BLS12-381.
pub fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("drand rounds", |file| match file.kind {
        Kind::Beacons => Some(beacons(file)),
        Kind::BeaconFixtures => Some(fixtures(file)),
        _ => None,
    })
}

#[derive(Deserialize)]
struct Beacon {
    round: u64,
    signature: Hex,
    previous_signature: Option<Hex>,
    message: Option<Hex>,
}

fn beacons(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Content {
        chain_info: Chain,
    }
    #[derive(Deserialize)]
    struct Chain {
        public_key: Hex,
        #[serde(rename = "schemeID")]
        scheme: String,
    }
    let Some(Content { chain_info: chain }) = file.parse() else { return Vec::new() };
    let beacons = file.items("beacons").into_iter();
    beacons.filter_map(|(index, beacon)| case(file, index, &chain.scheme, &chain.public_key, beacon, true)).collect()
}

/// Rounds with their network beside each, most of them false.
fn fixtures(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Fixture {
        scheme: String,
        public_key: Hex,
        expected: bool,
        #[serde(flatten)]
        beacon: Beacon,
    }
    let fixtures = file.items::<Fixture>("cases").into_iter();
    fixtures.filter_map(|(index, f)| case(file, index, &f.scheme, &f.public_key, f.beacon, f.expected)).collect()
}

fn case(file: &File, index: usize, scheme: &str, key: &Hex, beacon: Beacon, expected: bool) -> Option<Case> {
    // A remark may follow the scheme's name.
    let suite = match scheme.split(' ').next() {
        Some("pedersen-bls-chained") => AnySuite::MinPk(MinPk::DrandChained),
        Some("pedersen-bls-unchained") => AnySuite::MinPk(MinPk::DrandUnchained),
        Some("bls-unchained-g1-rfc9380") => AnySuite::MinSig(MinSig::DrandQuicknet),
        Some("bls-unchained-on-g1") => AnySuite::MinSig(MinSig::DrandG1Legacy),
        _ => {
            file.skip(&file.id(index), format_args!("no scheme on BLS12-381 is named `{scheme}`"));
            return None;
        }
    };
    let mut digest = Sha256::new();
    if suite == AnySuite::MinPk(MinPk::DrandChained) {
        digest.update(beacon.previous_signature.unwrap_or_default().0);
    }
    let message = digest.chain_update(beacon.round.to_be_bytes()).finalize().to_vec();
    if let Some(stated) = beacon.message {
        assert_eq!(stated.0, message, "{}: the digest that is signed", file.id(index));
    }
    Some(Case {
        set: file.set.clone(),
        id: file.id(index),
        suite,
        keys: vec![key.0.clone()],
        messages: CaseMessages::Shared(message),
        signature: beacon.signature.0,
        expected,
    })
}
