//! Light-client objects in SSZ.
//!
//! No field says what an object is. But its parts of fixed size differ between all kinds and layouts: the offset of its first part
//! of variable size, which stands at the beginning, tells kind and layout. In Altair headers have a fixed size, and so have the
//! objects: there the length tells. Several objects stand behind each other with their lengths, as the Beacon API sends them.
//!
//! Spec: ethereum/consensus-specs, `specs/{altair,capella,deneb,electra}/light-client/sync-protocol.md` and
//! `ssz/simple-serialize.md`; ethereum/beacon-APIs, `light_client/updates`.

use std::iter;

use super::execution::Execution;
use super::object::{
    BeaconHeader, Bootstrap, COMMITTEE_SIZE, Header, HeaderExecution, Object, Stated, SyncCommittee, Update,
};
use crate::format::SszShape;
use crate::hex::{Hex, HexBytes};
use crate::number::{Uint, Uint256, counted};
use crate::ssz::Root;

/// The objects of a document: one object, or several, each behind its length and the digest of its fork. Where a length is wrong,
/// nothing tells where the next object begins: it is the last one.
pub(super) fn objects(bytes: &[u8]) -> impl Iterator<Item = Result<Object, String>> {
    let is_list = SszShape::is_list(bytes);
    // An empty document is one object, which cannot be read.
    let mut rest = Some(bytes);
    iter::from_fn(move || {
        let bytes = rest.take()?;
        if !is_list {
            return Some(object(bytes));
        }
        Some(next_chunk(bytes).and_then(|(content, after)| {
            rest = Some(after).filter(|after| !after.is_empty());
            object(content)
        }))
    })
}

/// The first object without its length and its digest, and what follows.
fn next_chunk(bytes: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let mut fields = Fields(bytes);
    let length = usize::try_from(fields.number()?).unwrap_or(usize::MAX);
    let (chunk, after) = fields.0.split_at_checked(length).ok_or_else(|| {
        let found = counted(fields.0.len(), "byte");
        format!("found {found}, expected the {length} that stand in front; write or fetch it again")
    })?;
    let content = chunk
        .get(DIGEST..)
        .ok_or_else(|| format!("found an object of {}, expected a fork digest", counted(length, "byte")))?;
    Ok((content, after))
}

/// Bytes of a fork digest.
const DIGEST: usize = 4;

fn object(bytes: &[u8]) -> Result<Object, String> {
    let shape = SszShape::of(bytes).ok_or_else(|| {
        format!("found {} bytes that begin like no light-client object in SSZ from Altair to Fulu", bytes.len())
    })?;
    read(bytes, shape).map_err(|reason| format!("in {shape:?} as SSZ: {reason}"))
}

fn read(bytes: &[u8], shape: SszShape) -> Result<Object, String> {
    let mut fields = Fields(bytes);
    let mut parts = Parts { whole: bytes, offsets: Vec::new() };
    if let SszShape::Bootstrap { altair, deep } = shape {
        let header = Slot::read(&mut fields, &mut parts, altair)?;
        let committee = fields.committee()?;
        let branch = fields.branch(5 + usize::from(deep))?;
        let header = header.header(&parts)?;
        return Ok(Object::Bootstrap(Box::new(Bootstrap {
            header,
            committee,
            branch,
            block_roots: None,
            validators_root: None,
            fork: None,
            stated: Stated::default(),
        })));
    }
    let SszShape::Update { altair, deep, committee, finality } = shape else { return Err("unknown".to_owned()) };
    let attested = Slot::read(&mut fields, &mut parts, altair)?;
    let next_committee = match committee {
        true => Some((fields.committee()?, fields.branch(5 + usize::from(deep))?)),
        false => None,
    };
    let finalized = match finality {
        true => Some((Slot::read(&mut fields, &mut parts, altair)?, fields.branch(6 + usize::from(deep))?)),
        false => None,
    };
    let bits = fields.take()?;
    let signature = fields.take::<96>()?.to_vec();
    let signature_slot = fields.number()?;
    let attested = attested.header(&parts)?;
    let finalized = finalized.map(|(slot, branch)| Ok::<_, String>((slot.header(&parts)?, branch))).transpose()?;
    Ok(Object::Update(Box::new(Update {
        attested,
        finalized,
        next_committee,
        block_roots: None,
        bits,
        signature,
        signature_slot,
        fork: None,
        stated: Stated::default(),
    })))
}

/// A header in its place, or the number of the part that holds it.
enum Slot {
    Here(BeaconHeader),
    Part(usize),
}

impl Slot {
    fn read(fields: &mut Fields<'_>, parts: &mut Parts<'_>, altair: bool) -> Result<Self, String> {
        if altair {
            return fields.beacon().map(Self::Here);
        }
        parts.offsets.push(fields.offset()?);
        Ok(Self::Part(parts.offsets.len() - 1))
    }

    fn header(self, parts: &Parts<'_>) -> Result<Header, String> {
        match self {
            Self::Here(beacon) => Ok(Header { beacon, execution: HeaderExecution::NoPlace }),
            Self::Part(part) => header(parts.get(part)?),
        }
    }
}

/// The parts of variable size, by where they begin.
struct Parts<'a> {
    whole: &'a [u8],
    offsets: Vec<usize>,
}

impl<'a> Parts<'a> {
    fn get(&self, part: usize) -> Result<&'a [u8], String> {
        let start = self.offsets[part];
        let end = self.offsets.get(part + 1).copied().unwrap_or(self.whole.len());
        self.whole.get(start..end).ok_or_else(|| {
            format!(
                "found a header from byte {start} to byte {end}, in {} bytes; write or fetch it again",
                self.whole.len()
            )
        })
    }
}

/// A header of Capella or later: the block's header, the execution payload's, and its branch.
fn header(bytes: &[u8]) -> Result<Header, String> {
    let mut fields = Fields(bytes);
    let beacon = fields.beacon()?;
    let offset = fields.offset()?;
    let branch = fields.branch(4)?;
    if offset != HEADER {
        return Err(format!("found the execution payload header at byte {offset}, expected {HEADER}"));
    }
    Ok(Header { beacon, execution: HeaderExecution::Stated(Box::new(execution(fields.0)?), branch) })
}

/// The parts of fixed size of a header, and of an execution payload header before and since Deneb.
const HEADER: usize = 244;
const EXECUTION: usize = 568;
const EXECUTION_DENEB: usize = 584;

fn execution(bytes: &[u8]) -> Result<Execution, String> {
    let mut fields = Fields(bytes);
    let parent_hash = Hex(fields.take()?);
    let fee_recipient = Hex(fields.take()?);
    let state_root = Hex(fields.take()?);
    let receipts_root = Hex(fields.take()?);
    let logs_bloom = Hex(fields.take()?);
    let prev_randao = Hex(fields.take()?);
    let block_number = Uint(fields.number()?);
    let gas_limit = Uint(fields.number()?);
    let gas_used = Uint(fields.number()?);
    let timestamp = Uint(fields.number()?);
    let offset = fields.offset()?;
    let base_fee_per_gas = Uint256(fields.take()?);
    let block_hash = Hex(fields.take()?);
    let transactions_root = Hex(fields.take()?);
    let withdrawals_root = Hex(fields.take()?);
    let (blob_gas_used, excess_blob_gas) = match offset {
        EXECUTION => (None, None),
        EXECUTION_DENEB => (Some(Uint(fields.number()?)), Some(Uint(fields.number()?))),
        _ => {
            return Err(format!("found the extra data at byte {offset}, expected {EXECUTION} or {EXECUTION_DENEB}"));
        }
    };
    Ok(Execution {
        parent_hash,
        fee_recipient,
        state_root,
        receipts_root,
        logs_bloom,
        prev_randao,
        block_number,
        gas_limit,
        gas_used,
        timestamp,
        extra_data: HexBytes(fields.0.to_vec()),
        base_fee_per_gas,
        block_hash,
        transactions_root,
        withdrawals_root,
        blob_gas_used,
        excess_blob_gas,
        in_layout_of_deneb: offset == EXECUTION_DENEB,
    })
}

/// What is left of the fields of fixed size.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let (field, rest) = self.0.split_first_chunk().ok_or("the object is cut off; write or fetch it again")?;
        self.0 = rest;
        Ok(*field)
    }

    fn number(&mut self) -> Result<u64, String> {
        self.take().map(u64::from_le_bytes)
    }

    fn offset(&mut self) -> Result<usize, String> {
        Ok(u32::from_le_bytes(self.take()?) as usize)
    }

    fn branch(&mut self, length: usize) -> Result<Vec<Root>, String> {
        (0..length).map(|_| self.take()).collect()
    }

    fn committee(&mut self) -> Result<SyncCommittee, String> {
        let public_keys = (0..COMMITTEE_SIZE).map(|_| self.take()).collect::<Result<_, _>>()?;
        Ok(SyncCommittee { public_keys, aggregate_public_key: Some(self.take()?) })
    }

    fn beacon(&mut self) -> Result<BeaconHeader, String> {
        Ok(BeaconHeader {
            slot: self.number()?,
            proposer_index: self.number()?,
            parent_root: self.take()?,
            state_root: self.take()?,
            body_root: self.take()?,
        })
    }
}
