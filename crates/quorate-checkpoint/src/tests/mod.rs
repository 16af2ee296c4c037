//! Tests by the faults of others. This file is the rig; the tests stand in the modules below it.

mod boards;
mod clients;
mod crash;
mod lies;
mod rotations;
mod signers;

use quorate::{MinPk, SecretKey, SourceId, proof_of_possession};
use rand_chacha::{ChaCha20Rng, rand_core::SeedableRng};

use crate::*;

const CHAIN: [u8; 32] = [0xcc; 32];
const NOW: u64 = 1_800_000_000;
const WEEK: u64 = 7 * 24 * 3600;

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

fn key(i: u8) -> SecretKey<MinPk> {
    SecretKey::key_gen(SUITE, &[i; 32], b"").unwrap()
}

fn entry(i: u8) -> SignerEntry {
    let key = key(i);
    let proof = proof_of_possession::prove(SUITE, &key).unwrap().to_bytes();
    SignerEntry { public_key: key.public_key().to_bytes(), proof }
}

fn manifest(epoch: u64, threshold: u16, keys: impl IntoIterator<Item = u8>) -> SetManifest {
    SetManifest { epoch, threshold, signers: keys.into_iter().map(entry).collect() }
}

/// Keys 0 to 4, of which three sign.
fn first() -> SetManifest {
    manifest(1, 3, 0..5)
}

fn chain() -> SetChain {
    let sets = Sets { first: first(), rotations: Vec::new() };
    SetChain::follow(&sets, first().id(), &mut rng()).unwrap()
}

/// A block hash of the honest chain.
fn block(height: u64) -> [u8; 32] {
    let mut hash = [0xb0; 32];
    hash[24..].copy_from_slice(&height.to_be_bytes());
    hash
}

fn at(height: u64) -> Checkpoint {
    Checkpoint {
        chain_id: CHAIN,
        height,
        block_hash: block(height),
        previous: if height == 100 { [0; 32] } else { at(100).digest() },
        issued_at: NOW - 60,
        expires_at: NOW + WEEK,
        set_epoch: 1,
    }
}

fn signature(set: &SignerSet, checkpoint: &Checkpoint, index: u16, by: u8) -> IndexedSignature {
    let signature = key(by).sign(SUITE, &checkpoint.signing_bytes(&set.id())).to_bytes();
    IndexedSignature { index, signature }
}

/// Signed by the keys of the first set with these indices.
fn signed(checkpoint: &Checkpoint, by: &[u8]) -> Posting {
    let chain = chain();
    let signatures = by.iter().map(|i| signature(chain.newest(), checkpoint, u16::from(*i), *i)).collect();
    Posting { document: checkpoint.clone(), bitmap: None, sum: None, signatures }
}

fn serving(postings: &[Posting]) -> Served {
    Served { sets: chain().to_sets(), checkpoints: postings.to_vec(), evidence: None }
}

fn answer(node: &str, served: &Served) -> NodeAnswer {
    NodeAnswer { node: SourceId::from(node), body: Ok(served.to_json().into_bytes()) }
}

/// Three nodes that serve the same.
fn three(postings: &[Posting]) -> Vec<NodeAnswer> {
    ["a", "b", "c"].iter().map(|node| answer(node, &serving(postings))).collect()
}

/// The chain that a node has chosen: the honest one up to its tip, and another branch from some height on.
struct Headers {
    tip: u64,
    forks_at: u64,
}

const HEADERS: Headers = Headers { tip: 1000, forks_at: u64::MAX };

impl HeaderChain for Headers {
    fn tip(&self) -> u64 {
        self.tip
    }

    fn hash(&self, height: u64) -> Option<[u8; 32]> {
        let mut hash = block(height);
        if height >= self.forks_at {
            hash[0] = 0xbf;
        }
        (height <= self.tip).then_some(hash)
    }
}

fn policy() -> ClientPolicy {
    ClientPolicy::new(CHAIN, first().id(), 20)
}

/// A client with a file of its own.
struct Node {
    client: Client,
    folder: tempfile::TempDir,
}

impl Node {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { client: Client::open(policy(), &folder.path().join("ratchet"), &mut rng()).unwrap(), folder }
    }

    fn update(&mut self, answers: &[NodeAnswer]) -> Update {
        self.client.update(answers, NOW, &HEADERS, &mut rng())
    }

    /// Stops the program, and starts it again.
    fn restart(self) -> Self {
        let Self { client, folder } = self;
        drop(client);
        Self { client: Client::open(policy(), &folder.path().join("ratchet"), &mut rng()).unwrap(), folder }
    }

    fn decide(&self) -> Decision {
        self.client.decide(NOW, &HEADERS)
    }
}

fn why(decision: &Decision) -> NotSkipped {
    match decision {
        Decision::VerifyAll(reason) => reason.clone(),
        Decision::Skip { height, .. } => panic!("blocks up to {height} would be skipped"),
    }
}
