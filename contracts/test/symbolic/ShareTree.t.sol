// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ShareTree} from "../../src/ShareTree.sol";

/// @notice halmos proves each `check` for every input.
contract ShareTreeSymbolic {
    /// @dev A node of two, the smaller one first.
    function _node(bytes32 left, bytes32 right) private pure returns (bytes32) {
        return left < right ? keccak256(abi.encode(left, right)) : keccak256(abi.encode(right, left));
    }

    function _leaf(uint256 index, uint256 amount) private pure returns (bytes32) {
        return keccak256(abi.encode(keccak256(abi.encode(index, amount))));
    }

    /// @notice The root of one amount is its leaf, and `leafOf` is the leaf.
    function check_root_of_one(uint256 amount) external pure {
        uint256[] memory amounts = new uint256[](1);
        amounts[0] = amount;
        assert(ShareTree.rootOf(amounts) == _leaf(0, amount));
        assert(ShareTree.leafOf(0, amount) == _leaf(0, amount));
    }

    /// @notice The root of two amounts is the node of their leaves.
    function check_root_of_two(uint256 first, uint256 second) external pure {
        uint256[] memory amounts = new uint256[](2);
        (amounts[0], amounts[1]) = (first, second);
        assert(ShareTree.rootOf(amounts) == _node(_leaf(0, first), _leaf(1, second)));
    }

    /// @notice With three amounts leaf i is node 4 - i: the nodes of leaves 0 and 1, and then of leaf 2 and that node.
    function check_root_of_three(uint256 first, uint256 second, uint256 third) external pure {
        uint256[] memory amounts = new uint256[](3);
        (amounts[0], amounts[1], amounts[2]) = (first, second, third);
        bytes32 node = _node(_leaf(0, first), _leaf(1, second));
        assert(ShareTree.rootOf(amounts) == _node(_leaf(2, third), node));
    }
}
