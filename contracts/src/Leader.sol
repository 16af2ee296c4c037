// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Elects a task's performer by weight
/// @notice The epoch's beacon and the task's id are hashed to a number below the total weight. The weights, added up in
/// the order of their indices, cut the range of these numbers into intervals, one for each key. The key whose interval
/// holds the number is elected. With weights 2, 0 and 3, the numbers 0 and 1 elect index 0, and 2 to 4 elect index 2.
///
/// Once the beacon is known, anyone can compute the performer of any id. So whoever chooses an id after that chooses
/// the performer. Fix ids before, or derive them from something that nobody can choose.
library Leader {
    /// @notice The weights do not add up to the total.
    /// @param point The number that no interval holds.
    error PointOutside(uint256 point);

    /// @notice The number of a task. The remainder's bias is below 2^-160 for totals below 2^96.
    /// @param beacon The epoch's beacon.
    /// @param id The task's id.
    /// @param total The weight of all keys, not zero.
    /// @return A number below the total.
    function pointOf(bytes32 beacon, bytes32 id, uint256 total) internal pure returns (uint256) {
        return uint256(keccak256(abi.encode(beacon, id))) % total;
    }

    /// @notice The index that a number elects. A weight of zero is never elected. Costs about 210 gas for each index up
    /// to the elected one.
    /// @param weights The weight of each index.
    /// @param point The number.
    /// @return The elected index.
    function indexAt(uint64[] memory weights, uint256 point) internal pure returns (uint256) {
        uint256 sum = 0;
        for (uint256 i = 0; i < weights.length; ++i) {
            sum += weights[i];
            if (point < sum) return i;
        }
        revert PointOutside(point);
    }
}
