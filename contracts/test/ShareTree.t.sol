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
    function test_known_answer() external pure {
        // The root that @openzeppelin/merkle-tree gives for one leaf is the leaf.
        uint256[] memory amounts = new uint256[](1);
        amounts[0] = 5;
        assertEq(ShareTree.rootOf(amounts), ShareTree.leafOf(0, 5), "one leaf");
        assertEq(
            ShareTree.leafOf(0, 5), keccak256(abi.encode(keccak256(abi.encode(uint256(0), uint256(5))))), "hashed twice"
        );
        assertEq(ShareTree.rootOf(new uint256[](0)), 0, "no leaf");
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

    function check(bytes32[] calldata proof, bytes32 root, uint256 index, uint256 amount, bool proves) external pure {
        bool proved = MerkleProof.verifyCalldata(proof, root, ShareTree.leafOf(index, amount));
        assertTrue(proved == proves, "proof");
    }
}
