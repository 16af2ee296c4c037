//! Eras to read: those of the test vectors, and one of mainnet's sizes that is made here.
//!
//! The made era has the fork phase0, 524,288 validators and committees of 256 members, all of whom attest. Its validators share
//! [`KEYS`] keys, so that it is made within seconds; every signature is valid. Only its first slots have blocks.

use std::{collections::HashMap, fs, io::Write, path::Path};

use anyhow::{Context, Result, ensure};
use quorate::{ClaimBytes, Messages, MinPk, SecretKey};
use quorate_curve::Scalar;
use quorate_formats::network::Fork;
use quorate_history::{Block, Chain, ChainClaim, ClaimKind, Committees, Preset, State, Surroundings};
use quorate_lab::vectors;

/// The files of an era: the one before it, whose state it begins with, and its own.
pub(super) struct EraFiles {
    pub(super) chain: Chain,
    pub(super) before: Vec<u8>,
    pub(super) era: Vec<u8>,
}

impl EraFiles {
    /// Era 2 of a chain of the test vectors; none if they are not on this machine.
    pub(super) fn of_vectors(name: &str) -> Result<Option<Self>> {
        let Some(folder) = vectors::path(Path::new("20_history").join(name)) else { return Ok(None) };
        let file =
            |name: &str| fs::read(folder.join(name)).with_context(|| format!("no {name} in {}", folder.display()));
        let text = String::from_utf8(file("chain.json")?)?;
        let chain = Chain::from_json(&text, "chain.json")?;
        Ok(Some(Self { chain, before: file("minimal-00001.era")?, era: file("minimal-00002.era")? }))
    }

    /// Era 1 of a chain of mainnet's sizes, with blocks in its first slots.
    pub(super) fn made(blocks: u64) -> Result<Self> {
        let root = const_hex::encode(GENESIS);
        let text = format!(
            r#"{{"preset":"mainnet","genesis_validators_root":"{root}","genesis_fork_version":"0x00000009",
                "forks":[{{"name":"phase0","epoch":0,"version":"0x00000009"}}]}}"#
        );
        let chain = Chain::from_json(&text, "the made chain")?;
        let secrets = Secrets::new();
        let genesis_root = [1; 32];
        let mut roots = vec![genesis_root; SLOTS as usize];
        let known = State::from_bytes(&state(&secrets, &roots, SLOTS), &chain).map_err(anyhow::Error::msg)?;
        let mut committees = Committees::new(Preset::Mainnet);
        let (mut packed, mut parent) = (Vec::new(), genesis_root);
        for slot in 1..=blocks {
            let surroundings =
                Surroundings { chain: &chain, state: &known, sync_committee: None, previous_root: parent };
            let mut made = MadeBlock::new(slot, parent);
            // What attestations and the reveal sign does not depend on the block's root, but the root depends on them.
            for _ in 0..2 {
                let block =
                    Block::from_bytes(&made.bytes(), Fork::Phase0, Preset::Mainnet).map_err(anyhow::Error::msg)?;
                for claim in surroundings.claims(&block, &mut committees) {
                    made.sign(&claim, &secrets)?;
                }
            }
            let block = Block::from_bytes(&made.bytes(), Fork::Phase0, Preset::Mainnet).map_err(anyhow::Error::msg)?;
            parent = block.root;
            roots[slot as usize..].fill(parent);
            packed.push((slot, made.bytes()));
        }
        Ok(Self {
            chain,
            before: file(&[], &state(&secrets, &[[0; 32]; SLOTS as usize], 0), 0)?,
            era: file(&packed, &state(&secrets, &roots, SLOTS), SLOTS)?,
        })
    }
}

const GENESIS: [u8; 32] = [5; 32];
const SLOTS: u64 = 8192;
const VALIDATORS: usize = 1 << 19;
/// How many keys the validators share.
pub(super) const KEYS: usize = 8192;
/// Each slot has so many committees, of 256 members.
const COMMITTEES: u64 = 64;
const MEMBERS: usize = VALIDATORS / 32 / COMMITTEES as usize;

/// The secret behind each public key.
struct Secrets {
    keys: Vec<Vec<u8>>,
    secrets: HashMap<Vec<u8>, Scalar>,
}

impl Secrets {
    fn new() -> Self {
        let pair = |number: usize| {
            let mut material = [8; 32];
            material[..8].copy_from_slice(&number.to_le_bytes());
            let secret = SecretKey::<MinPk>::key_gen(MinPk::Eth2, &material, b"").expect("32 bytes are enough");
            let scalar = Scalar::from_bytes(&secret.to_bytes()).expect("below the order");
            (secret.public_key().to_bytes().to_vec(), scalar)
        };
        let pairs: Vec<_> = (0..KEYS).map(pair).collect();
        Self { keys: pairs.iter().map(|(key, _)| key.clone()).collect(), secrets: pairs.into_iter().collect() }
    }

    /// The signature that all keys of a claim make together.
    fn sign(&self, claim: &ClaimBytes) -> Result<Vec<u8>> {
        let Messages::Shared(message) = &claim.messages else { anyhow::bail!("one message") };
        let sum: Scalar = claim.public_keys.encodings().iter().map(|key| self.secrets[&**key]).sum();
        let secret = SecretKey::<MinPk>::from_bytes(&sum.to_bytes())?;
        Ok(secret.sign(MinPk::Eth2, message).to_bytes().to_vec())
    }
}

/// A block whose body has nothing but attestations of the slot before, one of each committee.
struct MadeBlock {
    slot: u64,
    parent: [u8; 32],
    signature: Vec<u8>,
    randao: Vec<u8>,
    attestations: Vec<Vec<u8>>,
}

impl MadeBlock {
    fn new(slot: u64, parent: [u8; 32]) -> Self {
        let unsigned = vec![0; 96];
        let attestations = vec![unsigned.clone(); COMMITTEES as usize];
        Self { slot, parent, signature: unsigned.clone(), randao: unsigned, attestations }
    }

    fn sign(&mut self, claim: &ChainClaim, secrets: &Secrets) -> Result<()> {
        ensure!(claim.failed.is_none(), "{:?}", claim.failed);
        let signature = secrets.sign(&claim.claim)?;
        match claim.kind {
            ClaimKind::Proposer => self.signature = signature,
            ClaimKind::Randao => self.randao = signature,
            _ => self.attestations[claim.index.operation] = signature,
        }
        Ok(())
    }

    /// SSZ of `SignedBeaconBlock`.
    fn bytes(&self) -> Vec<u8> {
        let attested = self.slot - 1;
        let checkpoint = |epoch: u64| [&epoch.to_le_bytes()[..], &[3; 32]].concat();
        // All members, and the bit that ends the list.
        let bits = [vec![0xff; MEMBERS / 8], vec![1]].concat();
        let attestation = |(index, signature): (u64, &Vec<u8>)| {
            let data = [
                &attested.to_le_bytes()[..],
                &index.to_le_bytes(),
                &[2; 32],
                &checkpoint(0),
                &checkpoint(attested / 32),
            ];
            [&offset(228), &data.concat(), signature, &bits].map(|part| &part[..]).concat()
        };
        let attestations: Vec<Vec<u8>> = (0..).zip(&self.attestations).map(attestation).collect();
        let mut at = 4 * attestations.len();
        let mut list = Vec::new();
        for attestation in &attestations {
            list.extend(offset(at));
            at += attestation.len();
        }
        list.extend(attestations.concat());
        // RANDAO reveal, eth1 data and graffiti, and five lists: two of slashings, attestations, deposits, exits.
        let fixed = 96 + 72 + 32 + 5 * 4;
        let behind = fixed + list.len();
        let offsets = [fixed, fixed, fixed, behind, behind].map(offset).concat();
        let body = [&self.randao, &vec![0; 72 + 32], &offsets, &list].map(|part| &part[..]).concat();
        let proposer = self.slot * 31;
        let message =
            [&self.slot.to_le_bytes()[..], &proposer.to_le_bytes(), &self.parent, &[4; 32], &offset(84), &body];
        [&offset(100), &self.signature, &message.concat()].map(|part| &part[..]).concat()
    }
}

/// SSZ of phase0's `BeaconState`, with zeros where nothing depends on it.
fn state(secrets: &Secrets, roots: &[[u8; 32]], slot: u64) -> Vec<u8> {
    let mixes: Vec<u8> = (0..65_536_u32).flat_map(|mix| [[7; 28].as_slice(), &mix.to_le_bytes()].concat()).collect();
    let head = [
        &[0; 8][..],
        &GENESIS,
        &slot.to_le_bytes(),
        // The fork: both versions, and its epoch.
        &[0, 0, 0, 9, 0, 0, 0, 9],
        &[0; 8],
        &[0; 112],
    ];
    let (head, roots, state_roots, slashings) =
        (head.concat(), roots.concat(), vec![0; 32 * SLOTS as usize], vec![0; 8 * 8192]);
    // Justification bits, and three checkpoints.
    let justified = [0; 1 + 3 * 40];
    let length = head.len()
        + roots.len()
        + state_roots.len()
        + 4
        + 72
        + 4
        + 8
        + 4
        + 4
        + mixes.len()
        + slashings.len()
        + 8
        + justified.len();
    let behind = length + 121 * VALIDATORS;
    let parts = [
        &head[..],
        &roots,
        &state_roots,
        &offset(length),
        &[0; 72],
        &offset(length),
        &[0; 8],
        &offset(length),
        &offset(behind),
        &mixes,
        &slashings,
        &offset(behind),
        &offset(behind),
        &justified,
    ];
    let mut bytes = parts.concat();
    for index in 0..VALIDATORS {
        bytes.extend(&secrets.keys[index % KEYS]);
        // Withdrawal credentials, effective balance, not slashed; eligible and active from genesis on, never to exit.
        bytes.extend([0; 32 + 8 + 1 + 8 + 8]);
        bytes.extend([0xff; 16]);
    }
    bytes
}

/// A file of these blocks, by slot, and a state.
fn file(blocks: &[(u64, Vec<u8>)], state: &[u8], slot: u64) -> Result<Vec<u8>> {
    let record = |kind: [u8; 2], bytes: &[u8]| -> Result<Vec<u8>> {
        Ok([&kind[..], &u32::try_from(bytes.len())?.to_le_bytes(), &[0, 0], bytes].concat())
    };
    let packed = |bytes: &[u8]| -> Result<Vec<u8>> {
        let mut to = snap::write::FrameEncoder::new(Vec::new());
        to.write_all(bytes)?;
        Ok(to.into_inner()?)
    };
    let index = |first: u64, places: &[i64]| {
        let places: Vec<u8> = places.iter().flat_map(|place| place.to_le_bytes()).collect();
        record(*b"i2", &[&first.to_le_bytes()[..], &places, &(places.len() as u64 / 8).to_le_bytes()].concat())
    };
    let mut bytes = record(*b"e2", &[])?;
    let mut places = vec![0; SLOTS as usize];
    for (slot, block) in blocks {
        places[*slot as usize] = i64::try_from(bytes.len())?;
        bytes.extend(record([1, 0], &packed(block)?)?);
    }
    let of_state = i64::try_from(bytes.len())?;
    bytes.extend(record([2, 0], &packed(state)?)?);
    if !blocks.is_empty() {
        let at = i64::try_from(bytes.len())?;
        let places: Vec<i64> = places.into_iter().map(|place| if place == 0 { 0 } else { place - at }).collect();
        bytes.extend(index(slot - SLOTS, &places)?);
    }
    let at = i64::try_from(bytes.len())?;
    bytes.extend(index(slot, &[of_state - at])?);
    Ok(bytes)
}

fn offset(value: usize) -> Vec<u8> {
    u32::try_from(value).expect("shorter than 4 GiB").to_le_bytes().to_vec()
}
