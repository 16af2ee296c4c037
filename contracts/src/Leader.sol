// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Arrays} from "@openzeppelin/contracts/utils/Arrays.sol";

/// @title Elects a task's performer by weight
/// @notice The epoch's beacon and the task's id are hashed to a number below the total weight. The weights, added up in
/// the order of their indices, cut the range of these numbers into intervals, one for each key. The key whose interval
/// holds the number is elected. With weights 2, 0 and 3, the numbers 0 and 1 elect index 0, and 2 to 4 elect index 2.
///
/// Once the beacon is known, anyone can compute the performer of any id. So whoever chooses an id after that chooses
/// the performer of a task. A quorum that does so can also fine the operator. Fix ids before, or derive them from something that nobody can choose.
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

    /// @notice The running sums of weights: weights 2, 0 and 3 give 2, 2 and 5. Costs about 50 gas for each index.
    /// @param weights The weight of each index. Afterwards this memory holds the sums, so nobody must read it as
    /// weights again: a second array would make memory dearer.
    /// @return sums For each index, the sum of its weight and all weights before it.
    function sumsOf(uint64[] memory weights) internal pure returns (uint256[] memory sums) {
        // Assembly, because the compiler takes both for different types. Each element has a word of its own, and fewer
        // than 2^32 weights below 2^64 are added up.
        assembly ("memory-safe") {
            sums := weights
            let sum := 0
            let end := add(weights, shl(5, add(mload(weights), 1)))
            for { let next := add(weights, 0x20) } lt(next, end) { next := add(next, 0x20) } {
                sum := add(sum, mload(next))
                mstore(next, sum)
            }
        }
    }

    /// @notice The index that a number elects: the first one whose running sum is above it. A weight of zero is never
    /// elected. Costs about 200 gas for each bit of the number of indices.
    /// @param sums The running sums, from `sumsOf`.
    /// @param point The number.
    /// @return index The elected index.
    function indexAt(uint256[] memory sums, uint256 point) internal pure returns (uint256 index) {
        index = Arrays.upperBoundMemory(sums, point);
        require(index < sums.length, PointOutside(point));
    }
}
