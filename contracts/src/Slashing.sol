// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Rewards} from "./Rewards.sol";

/// @title What an operator loses stake for
/// @notice Two things alone: performing a task that a quorum rejects, and signing two different tasks with one id in one epoch.
/// So an attester signs at most one digest an id and epoch, and keeps a record of what it signed. What is taken goes to the pool,
/// less the bounty of who reports a conflict. A report is worth its bounty to whoever sends it first: it can be copied from the mempool.
abstract contract Slashing is Rewards {
    mapping(address operator => mapping(bytes32 id => bool)) private _slashed;

    /// @dev Not paused: stake can be withdrawn in a pause, so it must be slashable in one.
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

    /// @notice First second at which conflicts of an epoch can no longer be reported.
    function slashableUntil(uint256 epoch) public view returns (uint256) {
        return closesAt(epoch) + slashingWindow;
    }

    function isSlashed(address operator, bytes32 id) external view returns (bool) {
        return _slashed[operator][id];
    }

    /// @notice Penalises the performers of rejected tasks. A task that names another than the elected performer reverts, so that no
    /// quorum can fine whom it likes. Reads the epoch's weight page once, and only if a task is rejected.
    function _penalise(Task[] calldata tasks, uint256 epoch) internal {
        uint64[] memory weights = new uint64[](0);
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            if (task.approved) continue;
            // Once: an epoch with a snapshot has weights.
            // slither-disable-next-line calls-loop
            if (weights.length == 0) weights = verifier.weightsOf(epoch);
            if (_elected(weights, epoch, task.id) != task.performer) revert NotElected(task.id, task.performer);
            address operator = ownerOfKey(task.performer);
            uint256 amount = _seize(operator, penaltyShare);
            _addToPool(amount);
            emit Penalised(operator, task.id, amount);
        }
    }

    function _slash(address operator, bytes32 id, uint256 epoch) private returns (uint256 bounty) {
        uint256 amount = _seize(operator, slashShare);
        if (amount == 0) revert NothingAtStake(operator);
        bounty = amount * bountyShare / WHOLE;
        _addToPool(amount - bounty);
        emit Slashed(operator, id, epoch, amount, bounty, msg.sender);
        _pay(msg.sender, bounty);
    }
}
