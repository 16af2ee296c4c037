// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Epochs} from "./Epochs.sol";

/// @title The pool, and what performers and attesters are owed from it
/// @notice A settlement sets amounts aside and loops over no signer. What the signers of one bitmap earn in one epoch adds up in one
/// record. When the epoch can settle nothing more, each signer takes from the record `amount * own weight / weight left`, and both
/// shrink: the shares differ from exact proportion by a few units at most, the last signer gets the rest, and their sum is the amount.
/// A performer is paid on showing the task again, and only if it was the elected one.
abstract contract Rewards is Epochs {
    /// @notice One slot. `free` pays rewards to come, `owed` is set aside for claims.
    struct Pool {
        uint128 free;
        uint128 owed;
    }

    bytes32 private constant TASK_TYPEHASH = keccak256(
        "quorate.task(uint256 chain,address network,uint256 epoch,bytes32 id,uint256 performer,bytes32 result,bool approved)"
    );

    Pool private _pool;
    mapping(bytes32 record => Record) private _records;
    mapping(bytes32 record => mapping(uint256 word => uint256)) private _claimed;
    /// The digest that settled an id, its lowest bit replaced: set while the performer's reward is owed.
    mapping(bytes32 id => bytes32) private _settlements;

    function fund(uint256 amount) external nonReentrant {
        uint256 received = _pull(amount);
        _addToPool(received);
        emit Funded(msg.sender, received);
    }

    /// @dev Anyone may call; the owner of the key is paid. Linear in the keys, as it reads the epoch's weight page, then about
    /// 15k gas a record. Not paused.
    function claimAttestations(uint256 epoch, uint256 index, bytes[] calldata signers)
        external
        nonReentrant
        returns (uint256 paid)
    {
        if (block.timestamp < closesAt(epoch)) revert EpochOpen(epoch);
        _taken(epoch);
        address operator = ownerOfKey(index);
        if (operator == address(0)) revert UnknownKey(index);
        uint64[] memory weights = verifier.weightsOf(epoch);
        // A key newer than the page is in no bitmap of its epoch.
        if (index >= weights.length) revert NotASigner(index);
        for (uint256 i = 0; i < signers.length; ++i) {
            paid += _claim(epoch, operator, index, weights[index], signers[i]);
        }
        _pool.owed -= SafeCast.toUint128(paid);
        _pay(operator, paid);
    }

    /// @dev Anyone may call; the owners of the performers' keys are paid. Linear in the keys, as it elects again. Not paused.
    function claimPerformances(uint256 epoch, Task[] calldata tasks) external nonReentrant {
        _taken(epoch);
        uint64[] memory weights = verifier.weightsOf(epoch);
        uint256 reward = performerReward;
        _pool.owed -= SafeCast.toUint128(reward * tasks.length);
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            bytes32 settlement = _settlements[task.id];
            // The lowest bit is one while the reward is owed, so equality says both: this task, not yet paid.
            if (settlement != _digest(task, epoch) | bytes32(uint256(1))) revert NothingOwed(task.id);
            _settlements[task.id] = settlement ^ bytes32(uint256(1));
            if (_elected(weights, epoch, task.id) == task.performer) {
                address operator = ownerOfKey(task.performer);
                emit PerformanceClaimed(operator, task.id, reward);
                _pay(operator, reward);
            } else {
                emit PerformanceReturned(task.id, reward);
                _addToPool(reward);
            }
        }
    }

    function taskDigest(Task calldata task, uint256 epoch) external view returns (bytes32) {
        return _digest(task, epoch);
    }

    /// @notice What rewards can still be set aside from, and what is set aside and not yet claimed.
    function pool() external view returns (uint256 free, uint256 owed) {
        return (_pool.free, _pool.owed);
    }

    function recordOf(uint256 epoch, bytes calldata signers) external view returns (Record memory) {
        return _records[_recordId(epoch, signers)];
    }

    function hasClaimed(uint256 epoch, uint256 index, bytes calldata signers) external view returns (bool) {
        return _claimed[_recordId(epoch, signers)][index >> 8] & _bit(index) != 0;
    }

    function isSettled(bytes32 id) external view returns (bool) {
        return _settlements[id] != 0;
    }

    /// @notice Whether an id was settled as exactly this task in this epoch.
    function isSettledAs(Task calldata task, uint256 epoch) external view returns (bool) {
        bytes32 settlement = _settlements[task.id];
        return settlement != 0 && (settlement | bytes32(uint256(1))) == (_digest(task, epoch) | bytes32(uint256(1)));
    }

    /// @notice Settles each task and sets aside what the pool has for it, task by task; a task it cannot pay for settles unrewarded.
    /// @return digests What the quorum must have signed.
    /// @return forSigners Set aside for the attesters of all tasks together.
    function _settle(Task[] calldata tasks, uint256 epoch)
        internal
        returns (bytes32[] memory digests, uint256 forSigners)
    {
        digests = new bytes32[](tasks.length);
        Pool memory funds = _pool;
        uint256 free = funds.free;
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            if (_settlements[task.id] != 0) revert AlreadySettled(task.id);
            uint256 forPerformer = task.approved ? performerReward : 0;
            bool rewarded = free >= attesterReward + forPerformer;
            if (rewarded) {
                free -= attesterReward + forPerformer;
                forSigners += attesterReward;
            }
            bytes32 digest = _digest(task, epoch);
            digests[i] = digest;
            bytes32 settlement = digest | bytes32(uint256(1));
            _settlements[task.id] = rewarded && forPerformer != 0 ? settlement : settlement ^ bytes32(uint256(1));
            emit TaskSettled(task.id, epoch, task.performer, task.result, task.approved, rewarded);
        }
        // What leaves `free` enters `owed`: both fit, as their sum is what the token holds.
        if (free != funds.free) _pool = Pool(uint128(free), SafeCast.toUint128(funds.owed + (funds.free - free)));
    }

    /// @notice Adds to what the signers of a bitmap share.
    function _credit(uint256 epoch, bytes memory signers, uint256 weight, uint256 amount) internal {
        if (amount != 0) {
            Record storage record = _records[_recordId(epoch, signers)];
            record.amount = SafeCast.toUint128(record.amount + amount);
            record.weight = SafeCast.toUint96(weight);
        }
        emit Attested(epoch, signers, weight, amount);
    }

    function _addToPool(uint256 amount) internal {
        _pool.free = SafeCast.toUint128(_pool.free + amount);
    }

    function _digest(Task calldata task, uint256 epoch) internal view returns (bytes32) {
        return keccak256(
            abi.encode(
                TASK_TYPEHASH, block.chainid, address(this), epoch, task.id, task.performer, task.result, task.approved
            )
        );
    }

    function _claim(uint256 epoch, address operator, uint256 index, uint256 weight, bytes calldata signers)
        private
        returns (uint256 amount)
    {
        bytes32 id = _recordId(epoch, signers);
        if (index >> 3 >= signers.length || uint8(signers[index >> 3]) & (0x80 >> (index & 7)) == 0) {
            revert NotASigner(index);
        }
        uint256 bits = _claimed[id][index >> 8];
        uint256 bit = _bit(index);
        if (bits & bit != 0) revert AlreadyClaimed(id, index);
        Record memory record = _records[id];
        if (record.weight == 0) revert UnknownRecord(id);
        _claimed[id][index >> 8] = bits | bit;
        amount = record.amount * weight / record.weight;
        // Checked: were the weights not those that verification added up, a claim reverts and takes nothing from others.
        _records[id] = Record(SafeCast.toUint128(record.amount - amount), SafeCast.toUint96(record.weight - weight));
        emit AttestationClaimed(operator, epoch, index, id, amount);
    }

    /// @dev Most significant first, as in a quorum's bitmap.
    function _bit(uint256 index) private pure returns (uint256) {
        return 1 << 255 - (index & 255);
    }

    function _recordId(uint256 epoch, bytes memory signers) private pure returns (bytes32) {
        return keccak256(abi.encode(epoch, keccak256(signers)));
    }
}
