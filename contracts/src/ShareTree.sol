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
        // The nodes are a queue: it begins with the leaves, leaf 0 first, and each step takes two nodes and appends
        // their parent. A ring of n words holds it, because step s writes to word s, which an earlier step or this one
        // has read. Less memory costs less gas, since the price of memory grows with its square.
        //
        // Assembly, because a tally hashes every index of the epoch once or twice: in Solidity that costs four times as
        // much. The ring lies behind the free memory pointer, and nothing is allocated before the root is read.
        assembly ("memory-safe") {
            let size := shl(5, mload(amounts))
            let ring := mload(0x40)
            let end := add(ring, size)
            for { let place := 0 } lt(place, size) { place := add(place, 0x20) } {
                mstore(0x00, shr(5, place))
                mstore(0x20, mload(add(add(amounts, 0x20), place)))
                mstore(0x00, keccak256(0x00, 0x40))
                mstore(add(ring, place), keccak256(0x00, 0x20))
            }
            let read := ring
            let write := ring
            for { let last := sub(end, 0x20) } lt(write, last) { write := add(write, 0x20) } {
                let right := mload(read)
                read := add(read, 0x20)
                if eq(read, end) { read := ring }
                let left := mload(read)
                read := add(read, 0x20)
                if eq(read, end) { read := ring }
                let swap := mul(xor(left, right), lt(right, left))
                mstore(0x00, xor(left, swap))
                mstore(0x20, xor(right, swap))
                mstore(write, keccak256(0x00, 0x40))
            }
            root := mload(read)
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
