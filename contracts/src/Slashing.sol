// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {Rewards} from "./Rewards.sol";

/// @title What an operator loses stake for
/// @notice There are two reasons: an operator performed a task that a quorum rejects, or its key signed two different
/// tasks with one id in one epoch. So an attester must sign at most one digest for each id and epoch, and should keep a
/// record of what it signed. What an operator loses goes to the pool, less the bounty for the reporter of a conflict.
///
/// Whoever sends a report first gets its bounty, so anyone can copy a report from the mempool.
abstract contract Slashing is Rewards {
    /// @dev Whether an operator was slashed for a conflict of this id.
    mapping(address operator => mapping(bytes32 id => bool)) private _slashed;

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause, because stake can be withdrawn in a pause. An operator is slashed once for each id,
    /// whatever the epochs of its conflicts.
    function reportConflict(
        Task calldata first,
        Task calldata second,
        uint256 epoch,
        uint256 index,
        bytes calldata firstProof,
        bytes calldata secondProof
    ) external nonReentrant returns (uint256 bounty) {
        bytes32 firstDigest = _digest(first, epoch);
        bytes32 secondDigest = _digest(second, epoch);
        if (first.id != second.id || firstDigest == secondDigest) revert NotConflicting();
        _taken(epoch);
        if (block.timestamp >= slashableUntil(epoch)) revert OutsideWindow(epoch);
        address operator = ownerOfKey(index);
        if (operator == address(0)) revert UnknownKey(index);
        if (_slashed[operator][first.id]) revert AlreadySlashed(operator, first.id);
        _slashed[operator][first.id] = true;
        verifier.checkMember(firstDigest, index, firstProof);
        verifier.checkMember(secondDigest, index, secondProof);
        bounty = _slash(operator, first.id, epoch);
    }

    /// @notice The end of the time to report conflicts of an epoch.
    /// @param epoch The epoch.
    /// @return The first second at which they can no longer be reported.
    function slashableUntil(uint256 epoch) public view returns (uint256) {
        return closesAt(epoch) + slashingWindow;
    }

    /// @notice Whether an operator was slashed for a conflict of an id.
    /// @param operator The operator.
    /// @param id The tasks' id.
    /// @return Whether it was.
    function isSlashed(address operator, bytes32 id) external view returns (bool) {
        return _slashed[operator][id];
    }

    /// @notice Takes stake from the performers of rejected tasks. Reverts if a rejected task names a performer who was
    /// not elected, so that no quorum can fine an operator of its choice. Reads the epoch's weights once, and only if a
    /// task is rejected.
    /// @param tasks The tasks, of which the approved ones are skipped.
    /// @param epoch The epoch of the tasks.
    function _penalise(Task[] calldata tasks, uint256 epoch) internal {
        uint64[] memory weights = new uint64[](0);
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            if (task.approved) continue;
            // The call happens once, because an epoch with a snapshot has weights.
            // slither-disable-next-line calls-loop
            if (weights.length == 0) weights = verifier.weightsOf(epoch);
            if (_elected(weights, epoch, task.id) != task.performer) revert NotElected(task.id, task.performer);
            address operator = ownerOfKey(task.performer);
            uint256 amount = _seize(operator, penaltyShare);
            _addToPool(amount);
            emit Penalised(operator, task.id, amount);
        }
    }

    /// @dev Takes the operator's stake and pays the bounty to the caller.
    function _slash(address operator, bytes32 id, uint256 epoch) private returns (uint256 bounty) {
        uint256 amount = _seize(operator, slashShare);
        if (amount == 0) revert NothingAtStake(operator);
        bounty = amount * bountyShare / WHOLE;
        _addToPool(amount - bounty);
        emit Slashed(operator, id, epoch, amount, bounty, msg.sender);
        _pay(msg.sender, bounty);
    }
}
