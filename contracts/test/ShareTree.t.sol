// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "./Test.sol";
import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {ShareTree} from "../src/ShareTree.sol";

/// @notice Makes roots and proofs as a claimant does, in plain Solidity.
library PlainShareTree {
    /// @notice All nodes of the tree, the root first.
    function nodesOf(uint256[] memory amounts) internal pure returns (bytes32[] memory nodes) {
        uint256 count = amounts.length;
        nodes = new bytes32[](2 * count - 1);
        for (uint256 i = 0; i < count; ++i) {
            nodes[2 * count - 2 - i] = keccak256(abi.encode(keccak256(abi.encode(i, amounts[i]))));
        }
        for (uint256 k = count - 1; k > 0; --k) {
            (bytes32 left, bytes32 right) = (nodes[2 * k - 1], nodes[2 * k]);
            nodes[k - 1] = left < right ? keccak256(abi.encode(left, right)) : keccak256(abi.encode(right, left));
        }
    }

    /// @notice The proof of one index: the siblings on the way from its leaf to the root.
    function proofOf(uint256[] memory amounts, uint256 index) internal pure returns (bytes32[] memory proof) {
        bytes32[] memory nodes = nodesOf(amounts);
        uint256 node = nodes.length - 1 - index;
        uint256 length = 0;
        for (uint256 k = node; k != 0; k = (k - 1) / 2) {
            ++length;
        }
        proof = new bytes32[](length);
        for (uint256 i = 0; i < length; ++i) {
            proof[i] = nodes[node % 2 == 0 ? node - 1 : node + 1];
            node = (node - 1) / 2;
        }
    }
}

contract ShareTreeTest is Test {
    /// Roots and a proof of OpenZeppelin's npm package merkle-tree 1.0.8: StandardMerkleTree.of([[0, 5], [1, 7], …], ["uint256",
    /// "uint256"], {sortLeaves: false}).
    function test_known_answers() external pure {
        uint256[7] memory all = [uint256(5), 7, 0, 9, (1 << 100) + 1, 11, 13];
        assertEq(_root(all, 0), 0, "no leaf");
        assertEq(_root(all, 1), 0xd08c889a2b804c67887cd70e57ff036e6bc341281711f6587c117607d171d093, "one leaf");
        assertEq(_root(all, 1), ShareTree.leafOf(0, 5), "the leaf");
        assertEq(_root(all, 2), 0xaa89d9d46cc713d0bec05650305286181cdeff71659ad08195e3c4fb6f28c69e, "two leaves");
        assertEq(_root(all, 3), 0x1bb64a2ecc305f4054775ae920864915f70d6af10bdbc19f6c93b78916c9756d, "three leaves");
        assertEq(_root(all, 7), 0x5b093cab7c56cca8a86790592348b7dd1bd2fc8b2c0aa57f0fb75bf918c31d69, "seven leaves");
        uint256[] memory amounts = new uint256[](7);
        for (uint256 i = 0; i < 7; ++i) {
            amounts[i] = all[i];
        }
        bytes32[] memory proof = PlainShareTree.proofOf(amounts, 4);
        assertEq(proof.length, 3, "length of a proof");
        assertEq(proof[0], 0xc6efbe3ec7643a8f2acffce07d3e4c8f6f82eb8a024820c7d5e54306b20fcd4f, "sibling");
        assertEq(proof[1], 0xd4553473f4febb93d2a85bf8086df55f185508ff1cacc3383f73f88ac6990d4d, "its parent's");
        assertEq(proof[2], 0xae153682277bcff75209e4e670c717c444fe3d7e397689694295627e8c5cc059, "below the root");
    }

    /// The root is the plain twin's, every index has a proof, and nothing else has. The memory behind the free memory
    /// pointer may hold anything before.
    function test_root_and_proofs(uint256 seed, uint256 count) external view {
        count = bound(count, 1, 40);
        uint256[] memory amounts = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            amounts[i] = uint256(keccak256(abi.encode(seed, i))) >> (i % 3 == 0 ? 256 - 8 : 128);
        }
        bytes32[] memory nodes = PlainShareTree.nodesOf(amounts);
        assembly {
            let free := mload(0x40)
            for { let i := 0 } lt(i, 0x2000) { i := add(i, 0x20) } { mstore(add(free, i), not(0)) }
        }
        bytes32 root = ShareTree.rootOf(amounts);
        assertEq(root, nodes[0], "the twin's");
        uint256[] memory fresh = new uint256[](count);
        for (uint256 i = seed % 7; i < count; i += 7) {
            assertEq(fresh[i], 0, "memory is clean");
            this.check(PlainShareTree.proofOf(amounts, i), root, i, amounts[i], true);
            this.check(PlainShareTree.proofOf(amounts, i), root, i, amounts[i] + 1, false);
            this.check(PlainShareTree.proofOf(amounts, i), root, i + 1, amounts[i], false);
        }
        amounts[seed % count] += 1;
        assertTrue(ShareTree.rootOf(amounts) != root, "each amount counts");
    }

    function _root(uint256[7] memory all, uint256 count) private pure returns (bytes32) {
        uint256[] memory amounts = new uint256[](count);
        for (uint256 i = 0; i < count; ++i) {
            amounts[i] = all[i];
        }
        return ShareTree.rootOf(amounts);
    }

    function check(bytes32[] calldata proof, bytes32 root, uint256 index, uint256 amount, bool proves) external pure {
        bool proved = MerkleProof.verifyCalldata(proof, root, ShareTree.leafOf(index, amount));
        assertTrue(proved == proves, "proof");
    }
}
