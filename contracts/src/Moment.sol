// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @notice When something happened: the block's time in seconds above the 64 bits of the block's number.
type Moment is uint128;

using Moments for Moment global;

/// @title Reads and compares moments
/// @notice A span of time is over when more seconds *and* more blocks have passed than it has. So a chain that stands
/// still, or whose clock jumps, ends no span.
library Moments {
    /// @notice This block.
    /// @dev NOT checked: that time and number have 64 bits.
    function current() internal view returns (Moment moment) {
        assembly {
            moment := or(shl(64, timestamp()), number())
        }
    }

    /// @notice The time, in Unix seconds.
    function time(Moment moment) internal pure returns (uint256) {
        return Moment.unwrap(moment) >> 64;
    }

    /// @notice The number of the block.
    function number(Moment moment) internal pure returns (uint256) {
        return uint64(Moment.unwrap(moment));
    }

    /// @notice Whether a span of time that began at a moment is over. No span is over that has not begun.
    /// @dev Unchecked: sums of a number of 64 bits and one of 32.
    /// @param moment When it began.
    /// @param second How many seconds it has, below 2^32.
    /// @param blocks How many blocks it has, below 2^32.
    /// @return Whether more seconds and more blocks have passed.
    function isOver(Moment moment, uint256 second, uint256 blocks) internal view returns (bool) {
        unchecked {
            return block.timestamp > moment.time() + second && block.number > moment.number() + blocks;
        }
    }
}
