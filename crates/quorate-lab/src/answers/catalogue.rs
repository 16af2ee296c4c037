//! What each file of the data is. Its set and the pattern of its name decide.

use quorate::{AnySuite, MinPk, MinSig};

/// What is done with a file.
#[derive(Clone, Copy, Debug)]
pub enum CatalogueEntry {
    /// The file is read as this kind.
    Read(Kind),
    /// The file is not read, for this reason: it has no known answers, or none that a function of ours computes.
    Ignore(&'static str),
}

/// The shape of a file that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `{input: {pubkey, message, signature}, output}` and its relatives, of the Ethereum suites.
    EthVerify,
    /// `{input: {pubkeys, messages, signature}, output}`.
    EthAggregateVerify,
    /// `{input: {pubkeys, message, signature}, output}`.
    EthFastAggregateVerify,
    /// `{input: {pubkeys, messages, signatures}, output}`.
    EthBatchVerify,
    /// `{input: {privkey, message}, output}`.
    EthSign,
    /// Signatures and their sum.
    EthAggregate,
    /// `{input: {msg}, output: {x, y}}`.
    EthHashToG2,
    /// `{input: {pubkey}, output}`.
    DeserializeG1,
    /// `{input: {signature}, output}`.
    DeserializeG2,
    /// `eth_fast_aggregate_verify` and `eth_aggregate_pubkeys` of the Altair specification.
    AltairFastAggregateVerify,
    /// Keys and their sum, of the Altair specification.
    AltairAggregateKeys,
    /// Lines `name value`, a record up to each `out`.
    Herumi,
    /// A suite of RFC 9380, appendix J.
    HashToCurve,
    /// `{cases: [{public key, message, signature, expected}]}`, under one suite.
    Signed(AnySuite),
    /// The same, each with its tag.
    SignedUnderTag,
    /// Hashes to both groups and a signature, by Filecoin and drand.
    Compatibility,
    /// Lines `secret:message:signature`.
    NobleMinPk,
    /// The same lines, with signatures in G1.
    NobleMinSig,
    /// k·G, one after the other.
    Points,
    /// Q = scalar·P in G1 or G2.
    ScalarMultiplication,
    /// Two keys, one message, three schemes.
    ChiaSchemes,
    /// Bytes that no decoder accepts.
    InvalidEncodings,
    /// The same, grouped by what is wrong.
    InvalidEncodingsByReason,
    /// EIP-2333.
    Derivation,
    /// EIP-2333, with the values between the steps.
    DerivationSteps,
    /// JSON Web Keys of the COSE draft.
    Jwk,
    /// Deposits as the launchpad's tools write them.
    DepositData,
    /// Rounds of one drand network.
    Beacons,
    /// Rounds with their network beside each, most of them false.
    BeaconFixtures,
    /// Signatures of sync committees, which name their committee's file.
    SyncAggregates,
    /// 512 keys, which the sync aggregates name.
    Committee,
    /// Keys and their sum.
    CommitteeSum,
    /// A sync aggregate in base64, with its keys and their sum.
    HeaderAggregate,
    /// Proofs of possession.
    Possessions,
    /// Groups of signatures by one key.
    WycheproofVerify,
    /// Groups of signatures by several keys over several messages.
    WycheproofAggregateVerify,
    /// Groups of hashes to a curve.
    WycheproofHash,
}

/// What is done with the file of this name; `None` if no row fits.
pub fn entry(name: &str) -> Option<CatalogueEntry> {
    ROWS.iter().find(|(pattern, _)| fits(pattern, name)).map(|(_, entry)| *entry)
}

const fn read(kind: Kind) -> CatalogueEntry {
    CatalogueEntry::Read(kind)
}

const ETH2: AnySuite = AnySuite::MinPk(MinPk::Eth2);
const CHIA: AnySuite = AnySuite::MinPk(MinPk::Chia);
const MIN_SIG: AnySuite = AnySuite::MinSig(MinSig::Basic);

/// The first row that fits counts. `*` is any text, slashes included.
const ROWS: &[(&str, CatalogueEntry)] = &[
    // Words about the data.
    ("INDEX.md", CatalogueEntry::Ignore("the index of the data")),
    ("*/README.md", CatalogueEntry::Ignore("prose")),
    ("*/LICENSE*", CatalogueEntry::Ignore("prose")),
    ("*/SOURCES.json", CatalogueEntry::Ignore("where the files come from")),
    ("01_*/formats/*.md", CatalogueEntry::Ignore("prose: the shapes of the files beside it")),
    (
        "05_keys/erc_text/*",
        CatalogueEntry::Ignore("prose: the cases of its text stand in erc2333_cases.json and the keystores"),
    ),
    ("09_*/schemas/*", CatalogueEntry::Ignore("the shapes of the files beside it")),
    // The Ethereum suites.
    ("01_*/verify/*", read(Kind::EthVerify)),
    ("01_*/fast_aggregate_verify/*", read(Kind::EthFastAggregateVerify)),
    ("01_*/aggregate_verify/*", read(Kind::EthAggregateVerify)),
    ("01_*/batch_verify/*", read(Kind::EthBatchVerify)),
    ("01_*/sign/*", read(Kind::EthSign)),
    ("01_*/aggregate/*", read(Kind::EthAggregate)),
    ("01_*/hash_to_G2/*", read(Kind::EthHashToG2)),
    ("01_*/deserialization_G1/*", read(Kind::DeserializeG1)),
    ("01_*/deserialization_G2/*", read(Kind::DeserializeG2)),
    ("01_consensus_spec_altair/eth_fast_aggregate_verify_*.yaml", read(Kind::AltairFastAggregateVerify)),
    ("01_consensus_spec_altair/eth_aggregate_pubkeys_*.yaml", read(Kind::AltairAggregateKeys)),
    ("01_herumi_*/*.txt", read(Kind::Herumi)),
    // Hashing.
    ("02_bn254_*", CatalogueEntry::Ignore("BN254: another curve, which quorate-evm has")),
    ("02_rfc9380/BLS12381G?_XMD*_RO_.json", read(Kind::HashToCurve)),
    (
        "02_rfc9380/BLS12381G?_XMD*_NU_.json",
        CatalogueEntry::Ignore("encode_to_curve: no signature suite uses it, so no verb offers it"),
    ),
    (
        "02_rfc9380/expand_message_*",
        CatalogueEntry::Ignore("expand_message is inside hash_to_curve, whose RO vectors cover it"),
    ),
    // Schemes and curves of other libraries.
    ("03_filecoin_miracl/*.json", read(Kind::Compatibility)),
    ("03_kyber_bls12381/*.json", read(Kind::Compatibility)),
    ("03_misc_scheme/*.json", read(Kind::SignedUnderTag)),
    ("03_iohk_e2e/*.json", read(Kind::SignedUnderTag)),
    ("03_noble_bls12381/*-g2-test-vectors*.txt", read(Kind::NobleMinPk)),
    ("03_noble_bls12381/*-g1-test-vectors*.txt", read(Kind::NobleMinSig)),
    (
        "03_noble_bls12381/*-scalar-test-vectors*.txt",
        CatalogueEntry::Ignore("48 bytes modulo r, a step inside KeyGen that no verb offers"),
    ),
    (
        "03_noble_bls12381/eip2537*.json",
        CatalogueEntry::Ignore("map_to_curve alone, a step inside hash_to_curve that no verb offers"),
    ),
    (
        "03_noble_bls12381/pairing*.json",
        CatalogueEntry::Ignore("powers of e(g1, g2) as bytes: values of the target group have no encoding here"),
    ),
    ("03_zkcrypto_points/*.dat", read(Kind::Points)),
    ("03_constantine_scalarmul/tv_BLS12_381_*.json", read(Kind::ScalarMultiplication)),
    ("03_constantine_scalarmul/tv_BN254_*.json", CatalogueEntry::Ignore("BN254: another curve, which quorate-evm has")),
    ("03_chia_vectors/invalid_encodings.json", read(Kind::InvalidEncodings)),
    ("03_chia_vectors/invalid_encodings_*.json", read(Kind::InvalidEncodingsByReason)),
    ("03_chia_vectors/pyecc_vectors.json", read(Kind::ChiaSchemes)),
    ("04_*", CatalogueEntry::Ignore("EVM precompiles, which quorate-evm has")),
    // Keys.
    ("05_keys/erc2333_cases.json", read(Kind::Derivation)),
    ("05_keys/*/tree_kdf.json", read(Kind::Derivation)),
    ("05_keys/*/tree_kdf_intermediate.json", read(Kind::DerivationSteps)),
    ("05_keys/ChainSafe-bls-hd-key/*.json", read(Kind::Derivation)),
    ("05_keys/cose_bls_jwk_examples.json", read(Kind::Jwk)),
    ("05_keys/*deposit_data-*.json", read(Kind::DepositData)),
    ("05_keys/*keystore*", CatalogueEntry::Ignore("keystores are read by the command line, whose tests have them")),
    ("05_keys/*mnemonic*", CatalogueEntry::Ignore("BIP-39 sentences: quorate starts from the seed")),
    // Real beacons.
    ("06_drand/bn254_*", CatalogueEntry::Ignore("BN254: another curve, which quorate-evm has")),
    ("06_drand/chains.json", CatalogueEntry::Ignore("parameters of the chains, which each file of beacons repeats")),
    (
        "06_drand/group_*.toml",
        CatalogueEntry::Ignore("a group's polynomial and node keys, which quorate-threshold has"),
    ),
    ("06_drand/negative_fixtures.json", read(Kind::BeaconFixtures)),
    ("06_drand/*.json", read(Kind::Beacons)),
    // Real signatures of other networks.
    ("07_eth_derived/sync_aggregate/*.json", read(Kind::SyncAggregates)),
    ("07_eth_derived/self_contained/*.json", read(Kind::Signed(ETH2))),
    ("07_eth_derived/deposits/*.json", read(Kind::Signed(ETH2))),
    ("07_eth_derived/committees/*.json", read(Kind::Committee)),
    ("07_eth_cosmwasm/*.json", read(Kind::HeaderAggregate)),
    ("07_eth_datachainlab/*_sync_committee_*.json", read(Kind::CommitteeSum)),
    (
        "07_eth_datachainlab/*_signing_root_*.json",
        CatalogueEntry::Ignore("the message of the sync aggregate derived from the update of that slot"),
    ),
    (
        "07_eth_datachainlab/*_light_client_update_*",
        CatalogueEntry::Ignore("raw: its signature is in 07_eth_derived, its file in the command line's tests"),
    ),
    (
        "07_eth_datachainlab/*",
        CatalogueEntry::Ignore("raw blocks, headers and context: no signature is taken from them"),
    ),
    (
        "07_eth_helios/*",
        CatalogueEntry::Ignore("raw: its signatures are in 07_eth_derived, its files in the command line's tests"),
    ),
    (
        "07_eth_trin/*",
        CatalogueEntry::Ignore("raw: its signatures are in 07_eth_derived, its files in the command line's tests"),
    ),
    ("07_eth_nimbus_lc/*", CatalogueEntry::Ignore("raw: its signatures are in 07_eth_derived")),
    ("07_eth_portal/*", CatalogueEntry::Ignore("raw SSZ: its signatures are in 07_eth_derived")),
    ("07_chia_blocks/derived_*.json", read(Kind::Signed(CHIA))),
    ("07_chia_blocks/*", CatalogueEntry::Ignore("raw blocks: their signatures are in the derived file")),
    ("07_icp/*.json", read(Kind::Signed(MIN_SIG))),
    ("07_avalanche_pop/*.json", read(Kind::Possessions)),
    ("08_*", CatalogueEntry::Ignore("shares of keys, which quorate-threshold has")),
    // Edge cases.
    ("09_*/bls_hash_to_*.json", read(Kind::WycheproofHash)),
    ("09_*/*aggregate_verify*.json", read(Kind::WycheproofAggregateVerify)),
    ("09_*/*_verify_test.json", read(Kind::WycheproofVerify)),
    ("10_*", CatalogueEntry::Ignore("other signature schemes, for benchmarks")),
    ("20_*", CatalogueEntry::Ignore("whole chains: blocks and states, from which claims must first be made")),
    ("11_*", CatalogueEntry::Ignore("BN254: another curve, which quorate-evm has")),
];

/// Whether a name is of a pattern, in which `*` is any text and `?` any one byte.
fn fits(pattern: &str, name: &str) -> bool {
    fn go(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], []) => true,
            ([b'*', rest @ ..], _) => (0..=name.len()).any(|skip| go(rest, &name[skip..])),
            ([b'?', rest @ ..], [_, name @ ..]) => go(rest, name),
            ([p, rest @ ..], [n, name @ ..]) => p == n && go(rest, name),
            _ => false,
        }
    }
    go(pattern.as_bytes(), name.as_bytes())
}
