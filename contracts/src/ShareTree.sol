// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title The Merkle tree over what each key earned
/// @notice Leaf i is keccak256(keccak256(abi.encode(i, amount of index i))). A node is the hash of its two children,
/// the smaller one first. OpenZeppelin's JavaScript library makes the same tree from the values [i, amount] of the
/// types [uint256, uint256] with `sortLeaves: false`, and its Solidity library checks the proofs.
///
/// The nodes are an array: node 0 is the root, the children of node k are nodes 2k + 1 and 2k + 2, and leaf i of n is
/// node 2n - 2 - i.
library ShareTree {
    /// @notice The root over all amounts. Costs about 330 gas for each.
    /// @param amounts The amount of each index.
    /// @return root The root; zero for no amounts.
    function rootOf(uint256[] memory amounts) internal pure returns (bytes32 root) {
        if (amounts.length == 0) return 0;
        // Assembly, because a tally hashes every index of the epoch once or twice: in Solidity that costs four times as
        // much. The nodes lie behind the free memory pointer, and nothing is allocated before the root is read.
        assembly ("memory-safe") {
            let count := mload(amounts)
            let nodes := mload(0x40)
            let node := add(nodes, shl(5, sub(shl(1, count), 1)))
            for { let i := 0 } lt(i, count) { i := add(i, 1) } {
                mstore(0x00, i)
                mstore(0x20, mload(add(amounts, shl(5, add(i, 1)))))
                mstore(0x00, keccak256(0x00, 0x40))
                node := sub(node, 0x20)
                mstore(node, keccak256(0x00, 0x20))
            }
            // `node` is the last leaf's. The children of the node before it are the last two nodes.
            let child := add(nodes, shl(5, sub(shl(1, count), 1)))
            for {} gt(node, nodes) {} {
                node := sub(node, 0x20)
                child := sub(child, 0x40)
                let left := mload(child)
                let right := mload(add(child, 0x20))
                let swap := mul(xor(left, right), lt(right, left))
                mstore(0x00, xor(left, swap))
                mstore(0x20, xor(right, swap))
                mstore(node, keccak256(0x00, 0x40))
            }
            root := mload(nodes)
        }
    }

    /// @notice The leaf of an index.
    /// @param index The index.
    /// @param amount What it earned.
    /// @return The leaf.
    function leafOf(uint256 index, uint256 amount) internal pure returns (bytes32) {
        return keccak256(bytes.concat(keccak256(abi.encode(index, amount))));
    }
}
