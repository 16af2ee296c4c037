// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {DeployOptimistic} from "../script/DeployOptimistic.s.sol";
import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";

/// @notice Tests the conditions that the script takes from the environment. It has one test, because all tests of a process
/// share the environment.
contract DeployOptimisticTest is Test, DeployOptimistic {
    /// @notice Whatever window is chosen, what is not set is within its bounds.
    function test_aShortWindowHasAnAnswer() public {
        _assertSpans("86400", "12", 6_480, 6 hours, 1_620);
        _assertSpans("3600", "12", 270, 15 minutes, 67);
        _assertSpans("600", "60", 10, 5 minutes, 5);
    }

    function _assertSpans(
        string memory window,
        string memory blockSeconds,
        uint256 blocks,
        uint256 answer,
        uint256 answerBlocks
    ) private {
        vm.setEnv("WINDOW", window);
        vm.setEnv("BLOCK_SECONDS", blockSeconds);
        IOptimisticSettlement.Conditions memory c = conditions();
        assertEq(c.windowBlocks, blocks, "blocks of the window");
        assertEq(c.answer, answer, "the answer");
        assertEq(c.answerBlocks, answerBlocks, "its blocks");
    }
}
