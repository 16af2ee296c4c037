//! The Ethereum suites, and signatures made on Ethereum.

use quorate::{AnySuite, MinPk};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{
    Case, CaseMessages, File, Vectors,
    bytes::{Base64, Hex, plain},
    catalogue::Kind,
};

/// The suite of the consensus layer's own vectors, in which an aggregate of no keys is false.
pub const POSSESSION: AnySuite = AnySuite::MinPk(MinPk::ProofOfPossession);
/// The suite of what is signed on the chain.
const ETH2: AnySuite = AnySuite::MinPk(MinPk::Eth2);
/// The suite of sync aggregates, in which no keys with the identity signature are valid.
const SYNC_AGGREGATE: AnySuite = AnySuite::MinPk(MinPk::Eth2SyncAggregate);

/// Several single signatures, and whether all of them are true.
pub struct Batch {
    /// The name of the file.
    pub id: String,
    /// The `expected` of each is that of the batch. It says something about the single signature only if the batch is
    /// true.
    pub members: Vec<Case>,
    /// Whether all members are true.
    pub expected: bool,
}

/// Every single and aggregate signature of the Ethereum suites, with its verdict.
pub fn cases(vectors: &Vectors) -> Vec<Case> {
    vectors.collect("Ethereum signatures", |file| match file.kind {
        Kind::EthVerify => Some(verify(file).into_iter().collect()),
        Kind::EthAggregateVerify => Some(aggregate_verify(file).into_iter().collect()),
        Kind::EthFastAggregateVerify => Some(fast_aggregate_verify(file, POSSESSION).into_iter().collect()),
        Kind::AltairFastAggregateVerify => Some(fast_aggregate_verify(file, SYNC_AGGREGATE).into_iter().collect()),
        Kind::DepositData => Some(deposits(file)),
        Kind::SyncAggregates => Some(sync_aggregates(file).into_iter().map(|aggregate| aggregate.case).collect()),
        Kind::HeaderAggregate => Some(header_aggregate(file).into_iter().map(|aggregate| aggregate.case).collect()),
        _ => None,
    })
}

/// Every batch of the Ethereum suites.
pub fn batches(vectors: &Vectors) -> Vec<Batch> {
    vectors.collect("Ethereum batches", |file| {
        (file.kind == Kind::EthBatchVerify).then(|| batch(file).into_iter().collect())
    })
}

/// A signature that verifies under the sum of some keys of a committee, with that sum.
pub struct Aggregate {
    /// The signature under all its keys.
    pub case: Case,
    /// The sum of the keys as the source states it, encoded.
    pub key: Vec<u8>,
}

/// Signatures of sync committees. A set bit names a member, counted from the lowest bit of the first byte.
pub fn sync_aggregates(file: &File) -> Vec<Aggregate> {
    #[derive(Deserialize)]
    struct Item {
        committee_file: String,
        signing_root: Hex,
        sync_committee_bits: Hex,
        participants: usize,
        aggregate_pubkey: Hex,
        signature: Hex,
        expected: bool,
    }
    #[derive(Deserialize)]
    struct Committee {
        pubkeys: Vec<Hex>,
    }
    let aggregate = |(index, item): (usize, Item)| {
        let committee: Committee = file.sibling(&item.committee_file).parse()?;
        let bits = item.sync_committee_bits.0.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1));
        let keys: Vec<_> =
            plain(committee.pubkeys).into_iter().zip(bits).filter(|(_, bit)| *bit).map(|(key, _)| key).collect();
        assert_eq!(keys.len(), item.participants, "{}: participants", file.id(index));
        let case = Case {
            set: file.set.clone(),
            id: file.id(index),
            suite: SYNC_AGGREGATE,
            keys,
            messages: CaseMessages::Shared(item.signing_root.0),
            signature: item.signature.0,
            expected: item.expected,
        };
        Some(Aggregate { case, key: item.aggregate_pubkey.0 })
    };
    file.items("cases").into_iter().filter_map(aggregate).collect()
}

/// A sync aggregate in base64; `None` if the file has another shape.
pub fn header_aggregate(file: &File) -> Option<Aggregate> {
    #[derive(Deserialize)]
    struct Content {
        #[serde(alias = "public_keys")]
        pubkeys: Vec<Base64>,
        message: Base64,
        signature: Base64,
        aggregate_pubkey: Base64,
    }
    let content: Content = file.parse()?;
    let case = Case {
        set: file.set.clone(),
        id: file.id(0),
        suite: SYNC_AGGREGATE,
        keys: content.pubkeys.into_iter().map(|key| key.0).collect(),
        messages: CaseMessages::Shared(content.message.0),
        signature: content.signature.0,
        expected: true,
    };
    Some(Aggregate { case, key: content.aggregate_pubkey.0 })
}

/// `{input, output}`, the frame of every file of the Ethereum suites.
#[derive(Deserialize)]
pub struct Framed<I, O> {
    /// What the function is called with.
    pub input: I,
    /// What it must answer.
    pub output: O,
}

fn verify(file: &File) -> Option<Case> {
    #[derive(Deserialize)]
    struct Input {
        pubkey: Hex,
        message: Hex,
        signature: Hex,
    }
    let Framed::<Input, bool> { input, output } = file.parse()?;
    Some(case(file, POSSESSION, vec![input.pubkey], CaseMessages::Shared(input.message.0), input.signature, output))
}

fn aggregate_verify(file: &File) -> Option<Case> {
    #[derive(Deserialize)]
    struct Input {
        pubkeys: Vec<Hex>,
        messages: Vec<Hex>,
        signature: Hex,
    }
    let Framed::<Input, bool> { input, output } = file.parse()?;
    case(file, POSSESSION, input.pubkeys, CaseMessages::Each(plain(input.messages)), input.signature, output)
        .paired(file)
}

fn fast_aggregate_verify(file: &File, suite: AnySuite) -> Option<Case> {
    #[derive(Deserialize)]
    struct Input {
        pubkeys: Vec<Hex>,
        message: Hex,
        signature: Hex,
    }
    let Framed::<Input, bool> { input, output } = file.parse()?;
    Some(case(file, suite, input.pubkeys, CaseMessages::Shared(input.message.0), input.signature, output))
}

fn batch(file: &File) -> Option<Batch> {
    #[derive(Deserialize)]
    struct Input {
        pubkeys: Vec<Hex>,
        messages: Vec<Hex>,
        signatures: Vec<Hex>,
    }
    let Framed::<Input, bool> { input, output } = file.parse()?;
    let (keys, messages) = (input.pubkeys, input.messages);
    if keys.len() != messages.len() || keys.len() != input.signatures.len() {
        file.skip(&file.name, "its lists are of unequal length");
        return None;
    }
    let members = keys.into_iter().zip(messages).zip(input.signatures).enumerate();
    let members = members.map(|(index, ((key, message), signature))| Case {
        id: file.id(index),
        ..case(file, POSSESSION, vec![key], CaseMessages::Shared(message.0), signature, output)
    });
    Some(Batch { id: file.name.clone(), members: members.collect(), expected: output })
}

/// Deposits of the launchpad's files. The signed root is computed here from their fields.
fn deposits(file: &File) -> Vec<Case> {
    #[derive(Deserialize)]
    struct Item {
        pubkey: Hex,
        withdrawal_credentials: Hex,
        amount: u64,
        signature: Hex,
        deposit_message_root: Hex,
        fork_version: Hex,
    }
    let deposit = |(index, item): (usize, Item)| {
        let key = digest(&chunk(&item.pubkey.0[..32]), &chunk(&item.pubkey.0[32..]));
        let credentials = digest(&key, &chunk(&item.withdrawal_credentials.0));
        let root = digest(&credentials, &digest(&chunk(&item.amount.to_le_bytes()), &[0; 32]));
        assert_eq!(root[..], item.deposit_message_root.0, "{}: hash_tree_root(DepositMessage)", file.id(index));

        // compute_domain(DOMAIN_DEPOSIT): the signature of a deposit does not depend on the genesis.
        let fork_data = digest(&chunk(&item.fork_version.0), &[0; 32]);
        let mut domain = [0; 32];
        domain[0] = 3;
        domain[4..].copy_from_slice(&fork_data[..28]);
        let message = CaseMessages::Shared(digest(&root, &domain).to_vec());
        Case { id: file.id(index), ..case(file, ETH2, vec![item.pubkey], message, item.signature, true) }
    };
    file.items("deposits").into_iter().map(deposit).collect()
}

fn case(file: &File, suite: AnySuite, keys: Vec<Hex>, messages: CaseMessages, signature: Hex, expected: bool) -> Case {
    let (set, id) = (file.set.clone(), file.name.clone());
    Case { set, id, suite, keys: plain(keys), messages, signature: signature.0, expected }
}

fn digest(left: &[u8; 32], right: &[u8; 32]) -> [u8; 32] {
    Sha256::new().chain_update(left).chain_update(right).finalize().into()
}

/// Bytes with zeros appended, as SSZ pads them.
fn chunk(bytes: &[u8]) -> [u8; 32] {
    let mut chunk = [0; 32];
    chunk[..bytes.len()].copy_from_slice(bytes);
    chunk
}
