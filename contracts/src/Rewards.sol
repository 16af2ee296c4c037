// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Epochs} from "./Epochs.sol";
import {Leader} from "./Leader.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";

/// @title The pool of rewards, and what performers and attesters are owed from it
/// @notice A settlement sets rewards aside and loops over no signer. It adds what the signers of a task earned to a
/// *record*: one for each bitmap in each epoch. When the epoch can settle nothing more, each signer takes `amount * own
/// weight / weight left` from the record, and both numbers shrink. Suppose the record holds 100 tokens for weights 2
/// and 3: the first signer to claim takes 100 * 2 / 5 = 40, the second takes 60 * 3 / 3 = 60. Each claim loses less
/// than one token unit by rounding, to those who claim later. The last one takes the rest, so the shares add up to the
/// amount.
///
/// A performer is paid when someone passes the task again, and only if it was the elected performer.
abstract contract Rewards is Epochs {
    /// @notice The pool, in one storage slot. Rewards are set aside from `free`, and paid from `owed`.
    struct Pool {
        uint128 free;
        uint128 owed;
    }

    /// @dev Type of the digest that operators sign for a task.
    bytes32 private constant TASK_TYPEHASH = keccak256(
        "quorate.task(uint256 chain,address network,uint256 epoch,bytes20 snapshot,bytes32 id,uint256 performer,bytes32 result,bool approved)"
    );

    /// @dev The pool.
    Pool private _pool;
    /// @dev The record of each bitmap and epoch.
    mapping(bytes32 record => Record) private _records;
    /// @dev Which members claimed of a record, as words of a bitmap.
    mapping(bytes32 record => mapping(uint256 word => uint256)) private _claimed;
    /// @dev The digest that settled an id, but for its lowest bit, which is one while the performer's reward is owed.
    mapping(bytes32 id => bytes32) private _settlements;

    /// @inheritdoc ITaskNetwork
    function fund(uint256 amount) external nonReentrant {
        uint256 received = _pull(amount);
        _addToPool(received);
        emit Funded(msg.sender, received);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause. Reads all weights of the epoch, so the cost grows with the number of keys. Each record
    /// costs about 15,000 gas more, and the first claim among 256 indices of a record another 17,000.
    function claimAttestations(uint256 epoch, uint256 index, bytes[] calldata signers)
        external
        nonReentrant
        returns (uint256 paid)
    {
        require(block.timestamp >= closesAt(epoch), EpochOpen(epoch));
        _taken(epoch);
        address operator = ownerOfKey(index);
        require(operator != address(0), UnknownKey(index));
        uint64[] memory weights = verifier.weightsOf(epoch);
        // A key without a weight in the epoch was registered after the snapshot.
        require(index < weights.length, NotASigner(index));
        for (uint256 i = 0; i < signers.length; ++i) {
            paid += _claim(epoch, operator, index, weights[index], signers[i]);
        }
        _pool.owed -= SafeCast.toUint128(paid);
        _pay(operator, paid);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause. Reads all weights of the epoch to elect again, so the cost grows with the number of keys.
    function claimPerformances(uint256 epoch, Task[] calldata tasks) external nonReentrant {
        bytes20 snapshotId = _taken(epoch);
        uint256[] memory sums = Leader.sumsOf(verifier.weightsOf(epoch));
        uint256 reward = performerReward;
        _pool.owed -= SafeCast.toUint128(reward * tasks.length);
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            bytes32 settlement = _settlements[task.id];
            // The lowest bit is one while the reward is owed. So equality says that it is this task, and not yet paid.
            require(settlement == _digest(epoch, snapshotId, task) | bytes32(uint256(1)), NothingOwed(task.id));
            _settlements[task.id] = settlement ^ bytes32(uint256(1));
            if (_elected(epoch, task.id, sums) == task.performer) {
                address operator = ownerOfKey(task.performer);
                emit PerformanceClaimed(operator, task.id, reward);
                _pay(operator, reward);
            } else {
                emit PerformanceReturned(task.id, reward);
                _addToPool(reward);
            }
        }
    }

    /// @inheritdoc ITaskNetwork
    function taskDigest(uint256 epoch, Task calldata task) external view returns (bytes32) {
        return _digest(epoch, _taken(epoch), task);
    }

    /// @notice The pool of rewards.
    /// @return free What rewards can still be set aside from.
    /// @return owed What is set aside and not yet claimed.
    function pool() external view returns (uint256 free, uint256 owed) {
        return (_pool.free, _pool.owed);
    }

    /// @notice What the signers of a bitmap earned in an epoch and have not yet claimed.
    /// @param epoch The epoch.
    /// @param signers The bitmap.
    /// @return The record; zeros if there is none.
    function recordOf(uint256 epoch, bytes calldata signers) external view returns (Record memory) {
        return _records[_recordId(epoch, signers)];
    }

    /// @notice Whether a signer has claimed its share of a record.
    /// @param epoch The epoch.
    /// @param index The index of the signer's key.
    /// @param signers The bitmap.
    /// @return Whether it has.
    function hasClaimed(uint256 epoch, uint256 index, bytes calldata signers) external view returns (bool) {
        return _claimed[_recordId(epoch, signers)][index >> 8] & _bit(index) != 0;
    }

    /// @notice Whether a task with this id was settled.
    /// @param id The id.
    /// @return Whether one was.
    function isSettled(bytes32 id) external view returns (bool) {
        return _settlements[id] != 0;
    }

    /// @notice Whether exactly this task was settled in this epoch.
    /// @param epoch The epoch.
    /// @param task The task.
    /// @return Whether it was.
    function isSettledAs(uint256 epoch, Task calldata task) external view returns (bool) {
        bytes32 settlement = _settlements[task.id];
        bytes32 digest = _digest(epoch, _snapshotId(epoch), task);
        return settlement != 0 && (settlement | bytes32(uint256(1))) == (digest | bytes32(uint256(1)));
    }

    /// @notice Settles tasks in their order, and sets aside the rewards of each if the pool has enough for it. A task
    /// that the pool cannot pay for settles without rewards.
    /// @param epoch The epoch of the tasks.
    /// @param snapshotId The id of its snapshot.
    /// @param tasks The tasks.
    /// @return digests What the quorum must have signed: one digest for each task.
    /// @return forSigners What was set aside for the signers of all tasks together.
    function _settle(uint256 epoch, bytes20 snapshotId, Task[] calldata tasks)
        internal
        returns (bytes32[] memory digests, uint256 forSigners)
    {
        digests = new bytes32[](tasks.length);
        Pool memory funds = _pool;
        uint256 free = funds.free;
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            require(_settlements[task.id] == 0, AlreadySettled(task.id));
            uint256 forPerformer = task.approved ? performerReward : 0;
            bool rewarded = free >= attesterReward + forPerformer;
            if (rewarded) {
                free -= attesterReward + forPerformer;
                forSigners += attesterReward;
            }
            bytes32 digest = _digest(epoch, snapshotId, task);
            digests[i] = digest;
            bytes32 settlement = digest | bytes32(uint256(1));
            _settlements[task.id] = rewarded && forPerformer != 0 ? settlement : settlement ^ bytes32(uint256(1));
            emit TaskSettled(task.id, epoch, task.performer, task.result, task.approved, rewarded);
        }
        // What leaves `free` enters `owed`. Both fit into 128 bits, because the network holds their sum in tokens.
        if (free != funds.free) _pool = Pool(uint128(free), SafeCast.toUint128(funds.owed + (funds.free - free)));
    }

    /// @notice Adds rewards to the record of a quorum. The weight is the quorum's in this epoch, so each addition sets
    /// it to the same number: nobody claims before the epoch can settle nothing more.
    /// @param epoch The epoch.
    /// @param signers The quorum's bitmap.
    /// @param weight The quorum's weight.
    /// @param amount What was set aside; may be zero.
    function _credit(uint256 epoch, bytes memory signers, uint256 weight, uint256 amount) internal {
        if (amount != 0) {
            Record storage record = _records[_recordId(epoch, signers)];
            record.amount = SafeCast.toUint128(record.amount + amount);
            record.weight = SafeCast.toUint96(weight);
        }
        emit Attested(epoch, signers, weight, amount);
    }

    /// @dev Adds to what rewards can be set aside from.
    function _addToPool(uint256 amount) internal {
        _pool.free = SafeCast.toUint128(_pool.free + amount);
    }

    /// @dev What `taskDigest` returns. A task is encoded as its four fields, in their order.
    function _digest(uint256 epoch, bytes20 snapshotId, Task calldata task) internal view returns (bytes32) {
        return keccak256(abi.encode(TASK_TYPEHASH, block.chainid, address(this), epoch, snapshotId, task));
    }

    /// @dev Takes a signer's share from a record and marks it as claimed. The caller pays it.
    function _claim(uint256 epoch, address operator, uint256 index, uint256 weight, bytes calldata signers)
        private
        returns (uint256 amount)
    {
        bytes32 id = _recordId(epoch, signers);
        require(
            index >> 3 < signers.length && uint8(signers[index >> 3]) & (0x80 >> (index & 7)) != 0, NotASigner(index)
        );
        uint256 bits = _claimed[id][index >> 8];
        uint256 bit = _bit(index);
        require(bits & bit == 0, AlreadyClaimed(id, index));
        Record memory record = _records[id];
        require(record.weight != 0, UnknownRecord(id));
        _claimed[id][index >> 8] = bits | bit;
        amount = record.amount * weight / record.weight;
        // Checked arithmetic. If the weights were not those that verification added up, a claim that goes below zero
        // reverts and takes nothing from others.
        _records[id] = Record(SafeCast.toUint128(record.amount - amount), SafeCast.toUint96(record.weight - weight));
        emit AttestationClaimed(operator, epoch, index, id, amount);
    }

    /// @dev The bit of an index in its word, from the most significant bit on, as in a quorum's bitmap.
    function _bit(uint256 index) private pure returns (uint256) {
        return 1 << 255 - (index & 255);
    }

    /// @dev Names the record of a bitmap and epoch.
    function _recordId(uint256 epoch, bytes memory signers) private pure returns (bytes32) {
        return keccak256(abi.encode(epoch, keccak256(signers)));
    }
}
