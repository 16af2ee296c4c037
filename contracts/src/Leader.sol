// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Election of a task's performer by weight
/// @notice The beacon and the task's id give a point in [0, total); the performer is whose interval of the running sum holds it.
/// All performers of an epoch are known once its beacon is. Who may choose an id after that chooses the performer: fix ids before,
/// or derive them from what nobody chooses.
library Leader {
    /// The weights do not add up to the total.
    error PointOutside(uint256 point);

    /// @notice The point of a task. The remainder's bias is below 2^-160 for totals below 2^96.
    function pointOf(bytes32 beacon, bytes32 id, uint256 total) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(beacon, id))) % total;
    }

    /// @notice Index of the weight whose interval [sum before, sum before + weight) holds the point. A weight of zero holds none.
    /// About 120 gas a weight before it.
    function indexAt(uint64[] memory weights, uint256 point) internal pure returns (uint256) {
        uint256 sum = 0;
        for (uint256 i = 0; i < weights.length; ++i) {
            sum += weights[i];
            if (point < sum) return i;
        }
        revert PointOutside(point);
    }
}
