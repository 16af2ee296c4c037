//! Light clients of a network that no schedule knows: committees that are made up, and bootstraps and updates that they sign.
//!
//! A committee is one key 512 times, so one secret key signs for any number of its members. Objects are of Deneb, as their `version`
//! says, and leave out the execution payload header.
//!
//! Spec: ethereum/consensus-specs, `specs/altair/light-client/sync-protocol.md`; `ssz/merkle-proofs.md`.

use quorate::{Backend, MinPk, SecretKey, Signature, aggregate::aggregate};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The genesis validators root of the network.
pub const GENESIS_VALIDATORS_ROOT: [u8; 32] = [7; 32];
/// The version under which everything is signed.
pub const FORK_VERSION: [u8; 4] = [1, 2, 3, 4];
/// Slots in which one committee signs.
pub const SLOTS_PER_PERIOD: u64 = 8192;
/// Members of a committee.
pub const MEMBERS: usize = 512;

/// A sync committee of one key, 512 times. Two with different seeds have different keys.
#[derive(Clone, Copy, Debug)]
pub struct MadeUpCommittee {
    seed: u8,
}

impl MadeUpCommittee {
    /// The committee of a seed.
    #[must_use]
    pub fn new(seed: u8) -> Self {
        Self { seed }
    }

    fn secret(self) -> SecretKey<MinPk> {
        SecretKey::key_gen(MinPk::Eth2, &[self.seed; 32], b"").unwrap()
    }

    fn key(self) -> [u8; 48] {
        self.secret().public_key().to_bytes()
    }

    /// What so many members sign together.
    fn sign(self, message: &[u8], participants: usize) -> Signature<MinPk> {
        let one = self.secret().sign(MinPk::Eth2, message);
        aggregate(&vec![one; participants], Backend::auto()).unwrap()
    }

    /// The committee as the Beacon API writes it.
    #[must_use]
    pub fn json(self) -> Value {
        let key = hex(&self.key());
        json!({"pubkeys": vec![key.clone(); MEMBERS], "aggregate_pubkey": key})
    }

    fn root(self) -> Root {
        let key = self.key();
        let mut rest = Root::default();
        rest[..16].copy_from_slice(&key[32..]);
        let key = parent(key.first_chunk().unwrap(), &rest);
        let keys = (0..MEMBERS.ilog2()).fold(key, |node, _| parent(&node, &node));
        parent(&keys, &key)
    }
}

/// A bootstrap of a block at a slot, whose state has the committee.
#[must_use]
pub fn bootstrap(slot: u64, committee: MadeUpCommittee) -> Value {
    let (branch, state_root) = climb(committee.root(), 54);
    let data = json!({
        "header": header(slot, &state_root),
        "current_sync_committee": committee.json(),
        "current_sync_committee_branch": branch,
    });
    json!({"version": "deneb", "data": data})
}

/// An update of a block at a slot, signed in the next slot by so many members, from the first on. Its state has the next committee, if
/// one is named.
#[must_use]
pub fn update(slot: u64, signers: MadeUpCommittee, participants: usize, next: Option<MadeUpCommittee>) -> Value {
    let (branch, state_root) = next.map_or((Vec::new(), [3; 32]), |next| climb(next.root(), 55));
    let header_root = merkleize([number(slot), number(1), [9; 32], state_root, [9; 32]]);
    let mut bits = [0_u8; MEMBERS / 8];
    (0..participants).for_each(|member| bits[member / 8] |= 1 << (member % 8));
    let mut data = json!({
        "attested_header": header(slot, &state_root),
        "sync_aggregate": {
            "sync_committee_bits": hex(&bits),
            "sync_committee_signature": hex(&signers.sign(&signing_root(&header_root), participants).to_bytes()),
        },
        "signature_slot": (slot + 1).to_string(),
    });
    if let Some(next) = next {
        data["next_sync_committee"] = next.json();
        data["next_sync_committee_branch"] = json!(branch);
    }
    json!({"version": "deneb", "data": data})
}

type Root = [u8; 32];

fn header(slot: u64, state_root: &Root) -> Value {
    let root = hex(&[9; 32]);
    json!({"beacon": {
        "slot": slot.to_string(),
        "proposer_index": "1",
        "parent_root": root,
        "state_root": hex(state_root),
        "body_root": root,
    }})
}

/// What a committee signs for a block of this root.
fn signing_root(block: &Root) -> Root {
    let mut version = Root::default();
    version[..4].copy_from_slice(&FORK_VERSION);
    let fork_data = parent(&version, &GENESIS_VALIDATORS_ROOT);
    let mut domain = Root::default();
    domain[0] = 7;
    domain[4..].copy_from_slice(&fork_data[..28]);
    parent(block, &domain)
}

/// A branch of made-up siblings, and the root to which it leads from the leaf at a generalized index.
fn climb(leaf: Root, index: u64) -> (Vec<String>, Root) {
    let branch: Vec<Root> = (0..index.ilog2()).map(|level| [level as u8 + 1; 32]).collect();
    let root = branch.iter().enumerate().fold(leaf, |node, (level, sibling)| {
        if index >> level & 1 == 1 { parent(sibling, &node) } else { parent(&node, sibling) }
    });
    (branch.iter().map(|node| hex(node)).collect(), root)
}

/// The root of five leaves, as a block's header has.
fn merkleize([a, b, c, d, e]: [Root; 5]) -> Root {
    let none = Root::default();
    let last = parent(&parent(&e, &none), &parent(&none, &none));
    parent(&parent(&parent(&a, &b), &parent(&c, &d)), &last)
}

fn number(value: u64) -> Root {
    let mut root = Root::default();
    root[..8].copy_from_slice(&value.to_le_bytes());
    root
}

fn parent(left: &Root, right: &Root) -> Root {
    Sha256::new().chain_update(left).chain_update(right).finalize().into()
}

fn hex(bytes: &[u8]) -> String {
    const_hex::encode_prefixed(bytes)
}
