// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title Where the operators of a `RestakedTaskNetwork` have their stake
/// @notice Serves one network.
interface IStakeSource {
    /// @notice What an operator has at stake, as it counts for the network's current epoch.
    /// @dev Must not revert because of what the protocol behind it does: that would stop the network's snapshots.
    /// @param operator The operator.
    /// @return stake The stake; 0 if it has none, or none that `slash` could take.
    function stakeOf(address operator) external view returns (uint256 stake);

    /// @notice Takes a share of all that an operator has at stake for the epochs whose conflicts can still be reported.
    /// Only for the network.
    /// @param operator The operator.
    /// @param share The share, in 1/10,000.
    /// @return taken What was taken or, where a veto is possible, what will be taken unless there is one: in the unit of
    /// `stakeOf`.
    function slash(address operator, uint256 share) external returns (uint256 taken);
}
