// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Leader} from "../../src/Leader.sol";

/// @notice The function under proof, as an external function that may revert.
contract LeaderSteps {
    function elect(uint64[4] calldata weights, uint256 point) external pure returns (uint256) {
        uint64[] memory all = new uint64[](4);
        for (uint256 i = 0; i < 4; i++) {
            all[i] = weights[i];
        }
        return Leader.indexAt(Leader.sumsOf(all), point);
    }
}

/// @notice halmos proves each `check` for every input.
contract LeaderSymbolic {
    LeaderSteps private immutable steps = new LeaderSteps();

    /// @notice Of four weights, a number elects the one in whose interval it lies, as a walk over the weights does; and none
    /// if it is not below their sum.
    function check_elects_as_a_walk_does(uint64[4] calldata weights, uint256 point) external view {
        uint256 expected = 4;
        uint256 sum = 0;
        for (uint256 i = 4; i > 0; i--) {
            sum = 0;
            for (uint256 j = 0; j < i; j++) {
                sum += weights[j];
            }
            if (point < sum) expected = i - 1;
        }
        try steps.elect(weights, point) returns (uint256 index) {
            assert(index == expected && weights[index] != 0);
        } catch {
            assert(expected == 4);
        }
    }

    /// @notice The number of a task is below the total.
    function check_point_is_below_the_total(bytes32 beacon, bytes32 id, uint96 total) external pure {
        if (total == 0) return;
        assert(Leader.pointOf(beacon, id, total) < total);
    }
}
