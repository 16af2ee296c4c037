// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";

/// @title What operators have at stake in another protocol
/// @notice `EigenLayerStake` and `SymbioticStake` say which protocol, and read it. A `StakeRegistrar` weighs the members of
/// a settlement by it, and a `StakeSource` the operators of a `RestakedTaskNetwork`.
abstract contract ProtocolStake {
    /// @dev What a multiplier of 1 is.
    uint256 private constant ONE = 1e18;

    /// @notice The gas that one read of the protocol may take.
    uint32 public immutable readGas;

    /// @notice A parameter is out of its bounds, or another contract does not name this one.
    /// @param what Which parameter.
    error BadParameter(string what);

    /// @param readGas_ The gas that one read of the protocol may take.
    constructor(uint32 readGas_) {
        readGas = readGas_;
    }

    /// @notice Whether the protocol's registry says now that this is an operator.
    /// @dev Must not revert because of what the protocol does, other than by `Reads.NotEnoughGas`. The same holds for
    /// `_stakeOf`.
    /// @param operator The operator.
    function _isOperator(address operator) internal view virtual returns (bool);

    /// @notice What an operator has at stake; 0 if it is none. Saturates instead of overflowing.
    /// @param operator The operator.
    /// @param captured The second whose stake counts, if the protocol keeps a history of it.
    function _stakeOf(address operator, uint48 captured) internal view virtual returns (uint256);

    /// @notice What an amount of one kind of stake counts; saturates.
    /// @param amount The amount, in the protocol's units.
    /// @param multiplier What one unit counts, times 10^18.
    /// @return What it counts.
    function _valueOf(uint256 amount, uint256 multiplier) internal pure returns (uint256) {
        return Math.saturatingMul(amount, multiplier) / ONE;
    }
}
