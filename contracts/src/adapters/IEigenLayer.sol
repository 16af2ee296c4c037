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

/// @notice Names what `slashOperator` takes.
struct SlashingParams {
    /// The operator.
    address operator;
    /// The number of the operator set.
    uint32 operatorSetId;
    /// The strategies, by rising addresses. Each must be one of the set's.
    address[] strategies;
    /// The part of what the operator allocated to the set in each strategy, times 10^18.
    uint256[] wadsToSlash;
    /// Why, for people.
    string description;
}

/// @title Six functions of EigenLayer's AllocationManager
interface IAllocationManager {
    /// @notice Whether an operator is registered for an operator set.
    /// @param operator The operator.
    /// @param operatorSet The set.
    /// @return Whether it is.
    function isMemberOfOperatorSet(address operator, OperatorSet memory operatorSet) external view returns (bool);

    /// @notice The strategies from which a set can slash.
    /// @param operatorSet The set.
    /// @return strategies The strategies, in any order.
    function getStrategiesInOperatorSet(OperatorSet memory operatorSet)
        external
        view
        returns (address[] memory strategies);

    /// @notice The stake that the service can slash from now on until a later block, for each operator and strategy:
    /// the shares that are delegated to the operator (DelegationManager), times the part that it allocated to the set.
    /// Allocations that are still pending do not count; deallocations count if they end by that block. EigenLayer does not
    /// ask whether the strategy is one of the set's. If it is not, nothing can be slashed, and a deallocation ends at once.
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

    /// @notice Who may slash an operator set.
    /// @param operatorSet The set.
    /// @return The account.
    function getSlasher(OperatorSet memory operatorSet) external view returns (address);

    /// @notice Slashes an operator of an operator set. Only for the set's slasher.
    /// @param avs The service whose set it is.
    /// @param params What is slashed.
    /// @return slashId The number of the slashing, among those of the set.
    /// @return shares What was taken of each strategy, in shares.
    function slashOperator(address avs, SlashingParams calldata params)
        external
        returns (uint256 slashId, uint256[] memory shares);
}
