// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

// What the adapter calls of EigenLayer's core: Layr-Labs/eigenlayer-contracts, v1.12.0,
// src/contracts/interfaces/IAllocationManager.sol. EigenLayer's type IStrategy is an address here, which has the same
// selector and encoding.

/// @notice Names an operator set.
struct OperatorSet {
    /// The address of the service (AVS) whose set it is.
    address avs;
    /// The number of the set among those of the service.
    uint32 id;
}

/// @title Three functions of EigenLayer's AllocationManager
interface IAllocationManager {
    /// @notice Whether an operator is registered for an operator set.
    /// @param operator The operator.
    /// @param operatorSet The set.
    /// @return Whether it is.
    function isMemberOfOperatorSet(address operator, OperatorSet memory operatorSet) external view returns (bool);

    /// @notice The stake that the service can slash from now on until a later block, for each operator and strategy:
    /// the shares that are delegated to the operator (DelegationManager), times the part that it allocated to the set.
    /// Allocations that are still pending do not count; deallocations count if they end by that block.
    /// @param operatorSet The set.
    /// @param operators The operators.
    /// @param strategies The strategies.
    /// @param futureBlock The later block.
    /// @return slashableStake The stake in shares, by operator and strategy.
    function getMinimumSlashableStake(
        OperatorSet memory operatorSet,
        address[] memory operators,
        address[] memory strategies,
        uint32 futureBlock
    ) external view returns (uint256[][] memory slashableStake);

    /// @notice How many blocks a deallocation takes. Stake stays slashable so long.
    /// @return delay The number of blocks.
    // The name is EigenLayer's.
    // slither-disable-next-line naming-convention
    function DEALLOCATION_DELAY() external view returns (uint32 delay);
}
