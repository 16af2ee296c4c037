//! RFC 9380, sections 5.2 and 5.3.1: a message becomes uniform bytes, and these become field elements.

use ark_bn254::Fq;
use ark_ff::PrimeField;
use sha3::digest::{Digest, common::BlockSizeUser};

/// The number of bytes that are reduced to one element: L = ceil((254 + 128) / 8).
const L: usize = 48;

/// `expand_message_xmd`: `length` uniform bytes from a message and a domain separation tag. A tag of more than 255 bytes
/// is hashed first, as section 5.3.3 says; the contracts of this project refuse such a tag.
///
/// # Panics
/// If `length` exceeds 255 outputs of the hash function, or 65535.
pub fn expand_message_xmd<D: Digest + BlockSizeUser>(message: &[u8], tag: &[u8], length: usize) -> Vec<u8> {
    let blocks = length.div_ceil(<D as Digest>::output_size());
    assert!(blocks <= 255 && length <= 65535, "expand_message_xmd gives at most 255 blocks");
    let hashed = (tag.len() > 255).then(|| D::new().chain_update(b"H2C-OVERSIZE-DST-").chain_update(tag).finalize());
    let tag = hashed.as_deref().unwrap_or(tag);
    let finish = |hasher: D| hasher.chain_update(tag).chain_update([tag.len() as u8]).finalize();

    let b0 = D::new()
        .chain_update(vec![0; D::block_size()])
        .chain_update(message)
        .chain_update((length as u16).to_be_bytes())
        .chain_update([0]);
    let b0 = finish(b0);
    let mut block = finish(D::new().chain_update(&b0).chain_update([1]));
    let mut uniform = block.to_vec();
    for i in 2..=blocks {
        let mixed: Vec<u8> = b0.iter().zip(&block).map(|(a, b)| a ^ b).collect();
        block = finish(D::new().chain_update(mixed).chain_update([i as u8]));
        uniform.extend_from_slice(&block);
    }
    uniform.truncate(length);
    uniform
}

/// `hash_to_field`: `N` elements of the base field from a message and a domain separation tag.
pub fn hash_to_field<D: Digest + BlockSizeUser, const N: usize>(message: &[u8], tag: &[u8]) -> [Fq; N] {
    let uniform = expand_message_xmd::<D>(message, tag, N * L);
    std::array::from_fn(|i| Fq::from_be_bytes_mod_order(&uniform[i * L..][..L]))
}
