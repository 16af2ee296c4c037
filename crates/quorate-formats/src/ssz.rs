//! SSZ tree hashing, as far as light-client objects and deposits need it.
//!
//! There are eight fixed containers and a Merkle branch, which take about sixty lines over SHA-256. An SSZ crate would add derive
//! macros, typenum lists and a dozen dependencies. Such crates also have one type for each fork, while here the fork decides at
//! run time which fields a container has.
//!
//! Spec: ethereum/consensus-specs, `ssz/simple-serialize.md` (Merkleization) and `ssz/merkle-proofs.md`.

use sha2::{Digest, Sha256};

/// A hash tree root, or one leaf of a tree: 32 bytes.
pub(crate) type Root = [u8; 32];

/// The parent of two nodes.
pub(crate) fn parent(left: &Root, right: &Root) -> Root {
    Sha256::new().chain_update(left).chain_update(right).finalize().into()
}

/// The root of a tree of the given depth over these leaves, followed by zero leaves. Cost: about one hash for each leaf.
pub(crate) fn merkleize(leaves: &[Root], depth: u32) -> Root {
    debug_assert!(leaves.len() <= 1 << depth, "more leaves than the tree has room for");
    let mut layer = leaves.to_vec();
    let mut padding = Root::default();
    for _ in 0..depth {
        layer = layer.chunks(2).map(|pair| parent(&pair[0], pair.get(1).unwrap_or(&padding))).collect();
        padding = parent(&padding, &padding);
    }
    layer.first().copied().unwrap_or(padding)
}

/// The root of up to 32 bytes: the bytes themselves, followed by zeros.
pub(crate) fn leaf<const N: usize>(bytes: &[u8; N]) -> Root {
    const { assert!(N <= 32, "one leaf holds 32 bytes") };
    let mut root = Root::default();
    root[..N].copy_from_slice(bytes);
    root
}

/// The root of a `uint64`.
pub(crate) fn number(value: u64) -> Root {
    leaf(&value.to_le_bytes())
}

/// Bytes of any length as leaves; the last leaf is filled up with zeros.
pub(crate) fn leaves(bytes: &[u8]) -> Vec<Root> {
    let fill = |chunk: &[u8]| {
        let mut root = Root::default();
        root[..chunk.len()].copy_from_slice(chunk);
        root
    };
    bytes.chunks(32).map(fill).collect()
}

/// The root of a list: the hash of its content's root and its length.
pub(crate) fn with_length(content: &Root, length: usize) -> Root {
    parent(content, &number(length as u64))
}

/// Whether a branch has only zeros, as documents write it where it proves nothing.
pub(crate) fn is_empty(branch: &[Root]) -> bool {
    branch.iter().all(|node| *node == Root::default())
}

/// The root that a branch leads to from the leaf at this generalized index; none if the branch is too short, or too long.
pub(crate) fn climb(leaf: &Root, branch: &[Root], index: u64) -> Option<Root> {
    if branch.len() != index.ilog2() as usize {
        return None;
    }
    Some(branch.iter().enumerate().fold(*leaf, |node, (level, sibling)| {
        if index >> level & 1 == 1 { parent(sibling, &node) } else { parent(&node, sibling) }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_leaves_are_implied() {
        let (a, b, c) = ([1; 32], [2; 32], [3; 32]);
        let zero = Root::default();
        assert_eq!(merkleize(&[a, b, c], 2), merkleize(&[a, b, c, zero], 2));
        assert_eq!(merkleize(&[a, b, c], 2), parent(&parent(&a, &b), &parent(&c, &zero)));
        assert_eq!(merkleize(&[], 2), merkleize(&[zero; 4], 2));
        assert_eq!(merkleize(&[a], 0), a);
    }

    #[test]
    fn a_known_zero_hash() {
        // The parent of two zero leaves, as every implementation of SSZ lists it.
        let expected = "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b";
        assert_eq!(const_hex::encode(merkleize(&[], 1)), expected);
    }

    #[test]
    fn a_branch_proves_its_leaf_at_its_index_only() {
        let tree = [[1; 32], [2; 32], [3; 32], [4; 32]];
        let root = merkleize(&tree, 2);
        // Generalized index 6 is the third leaf of depth 2.
        let branch = [tree[3], parent(&tree[0], &tree[1])];
        assert_eq!(climb(&tree[2], &branch, 6), Some(root));
        assert_ne!(climb(&tree[2], &branch, 7), Some(root));
        assert_ne!(climb(&tree[3], &branch, 6), Some(root));
        assert_ne!(climb(&tree[2], &branch[..1], 6), Some(root));
    }

    #[test]
    fn a_branch_of_another_length_proves_nothing() {
        let tree = [[1; 32], [2; 32]];
        assert_eq!(climb(&tree[0], &tree[1..], 2), Some(merkleize(&tree, 1)));
        for branch in [&[][..], &[Root::default(), tree[1]], &[tree[1], Root::default()], &[[9; 32], tree[1]]] {
            assert_eq!(climb(&tree[0], branch, 2), None, "{branch:?}");
        }
    }

    #[test]
    fn leaves_are_filled_from_the_left() {
        assert_eq!(number(0x0102)[..3], [2, 1, 0]);
        assert_eq!(leaves(&[7; 33]).len(), 2);
        assert_eq!(leaves(&[7; 33])[1][..2], [7, 0]);
    }
}
