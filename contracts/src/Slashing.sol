// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {Leader} from "./Leader.sol";
import {Rewards} from "./Rewards.sol";

/// @title What an operator loses stake for
/// @notice There are two reasons: a quorum rejects a task for which the operator was elected, which costs it stake once
/// in an epoch at most, or the operator signed two tasks with one id that conflict. What an operator loses goes to the
/// pool, less the bounty for the reporter of a conflict.
///
/// **The rule for attesters.** In one epoch, sign one digest for each id. In another epoch, sign an id again only with
/// the same result and the same verdict. The performer may be another one, because each epoch elects its own. Keep a
/// record of what you signed for an epoch until `slashableUntil(epoch)`; it counts for all keys that an operator ever
/// registered. A signature counts only if its digest names the snapshot that is in the chain. If a reorganisation
/// replaced the snapshot, what was signed under the old one counts for nothing, unless the chain returns to it.
///
/// **Once an id and epoch.** An operator pays for the conflicts of an id once in each epoch for which it signs. Suppose
/// it signed two results of task 7 in epoch 3 and was slashed. Further conflicts of epoch 3 and of earlier ones cost
/// nothing more: the stake that weighed in these epochs paid already. A conflict of which one task is of epoch 4 costs
/// stake again. So an operator cannot have itself slashed for an id while it has little stake, and sign the id twice
/// later, when it has much.
///
/// Whoever sends a report first gets its bounty, so anyone can copy a report from the mempool.
abstract contract Slashing is Rewards {
    /// @dev One more than the latest epoch of the conflicts of this id for which an operator was slashed; 0 if it never was.
    mapping(address operator => mapping(bytes32 id => uint256)) private _slashed;
    /// @dev Whether an operator paid for a rejected task of an epoch.
    mapping(address operator => mapping(uint256 epoch => bool)) private _fined;

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause, because stake can be withdrawn in a pause. The conflicts of both epochs must still be
    /// reportable. An operator is slashed again for an id only if one of the two epochs is later than all for which it was
    /// slashed.
    function reportConflict(Attestation calldata first, Attestation calldata second)
        external
        nonReentrant
        returns (uint256 bounty)
    {
        bytes32 id = first.task.id;
        require(id == second.task.id && _differ(first, second), NotConflicting());
        address operator = _signerOf(first);
        require(operator == _signerOf(second), NotConflicting());
        uint256 epoch = first.epoch < second.epoch ? second.epoch : first.epoch;
        _check(epoch >= _slashed[operator][id], uint32(AlreadySlashed.selector), uint160(operator), uint256(id));
        _slashed[operator][id] = epoch + 1;
        bounty = _slash(operator, id, epoch);
    }

    /// @notice The end of the time to report conflicts of an epoch.
    /// @param epoch The epoch.
    /// @return The first second at which they can no longer be reported.
    function slashableUntil(uint256 epoch) public view returns (uint256) {
        return closesAt(epoch) + slashingWindow;
    }

    /// @notice Whether an operator was slashed for a conflict of an id, in any epoch.
    /// @param operator The operator.
    /// @param id The tasks' id.
    /// @return Whether it was.
    function isSlashed(address operator, bytes32 id) external view returns (bool) {
        return _slashed[operator][id] != 0;
    }

    /// @notice From which epoch on conflicts of an id cost an operator stake. A conflict counts if one of its two epochs is
    /// this one or a later one.
    /// @param operator The operator.
    /// @param id The tasks' id.
    /// @return One more than the latest epoch of the conflicts for which it was slashed; 0 if it never was.
    function slashableFrom(address operator, bytes32 id) external view returns (uint256) {
        return _slashed[operator][id];
    }

    /// @notice Whether an operator paid for a rejected task of an epoch. It pays for no other task of that epoch.
    /// @param operator The operator.
    /// @param epoch The epoch.
    /// @return Whether it paid.
    function isFined(address operator, uint256 epoch) external view returns (bool) {
        return _fined[operator][epoch];
    }

    /// @notice Takes stake from the performers of rejected tasks, and from each only for the first rejected task of the
    /// epoch. Reverts if a rejected task names a performer who was not elected. Reads the epoch's weights once, and
    /// only if a task is rejected.
    ///
    /// NOT protected: an operator from a quorum that wants to fine it. Whoever chooses ids after the snapshot finds one
    /// that elects any operator it likes, in about as many tries as the operator's part of the weight is small. So a
    /// dishonest quorum takes `penaltyShare` of all that an operator has at stake (`_seize`) in every epoch, and no more.
    /// @param epoch The epoch of the tasks.
    /// @param tasks The tasks, of which the approved ones are skipped.
    function _penalise(uint256 epoch, Task[] calldata tasks) internal {
        uint256[] memory sums = new uint256[](0);
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            if (task.approved) continue;
            if (sums.length == 0) sums = Leader.sumsOf(_weights(epoch));
            _check(
                _elected(epoch, task.id, sums) == task.performer,
                uint32(NotElected.selector),
                uint256(task.id),
                task.performer
            );
            address operator = _ownerIn(epoch, task.performer);
            if (_fined[operator][epoch]) continue;
            _fined[operator][epoch] = true;
            uint256 amount = _seize(operator, penaltyShare);
            _addToPool(amount);
            emit Penalised(operator, task.id, amount);
        }
    }

    /// @dev Whether one operator must not sign both tasks, which have one id.
    function _differ(Attestation calldata first, Attestation calldata second) private pure returns (bool) {
        if (first.task.result != second.task.result || first.task.approved != second.task.approved) return true;
        return first.epoch == second.epoch && first.task.performer != second.task.performer;
    }

    /// @dev Whose key signed the task under the epoch's snapshot. Reverts if none did, or if conflicts of the epoch can no
    /// longer be reported. A key has one owner for good, so it does not matter which tables held it when.
    function _signerOf(Attestation calldata signed) private view returns (address) {
        bytes32 digest = _digest(signed.epoch, _taken(signed.epoch), signed.task);
        _check(block.timestamp < slashableUntil(signed.epoch), uint32(OutsideWindow.selector), signed.epoch);
        (uint256 table, uint256 index) = verifier.signerOf(digest, signed.proof);
        return ownerOfKey(table, index);
    }

    /// @notice Takes the operator's stake and pays the bounty to the caller.
    /// @param operator The operator.
    /// @param id The id of the two tasks that conflict.
    /// @param epoch The later of their epochs.
    /// @return bounty What the caller got.
    function _slash(address operator, bytes32 id, uint256 epoch) internal virtual returns (uint256 bounty) {
        uint256 amount = _seize(operator, slashShare);
        _check(amount != 0, uint32(NothingAtStake.selector), uint160(operator));
        bounty = amount * bountyShare / WHOLE;
        _addToPool(amount - bounty);
        emit Slashed(operator, id, epoch, amount, bounty, msg.sender);
        _pay(msg.sender, bounty);
    }
}
