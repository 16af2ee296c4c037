// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {MerkleProof} from "@openzeppelin/contracts/utils/cryptography/MerkleProof.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Epochs} from "./Epochs.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {Leader} from "./Leader.sol";
import {ShareTree} from "./ShareTree.sol";

/// @title The pool of rewards, and what performers and attesters are owed from it
/// @notice A settlement sets rewards aside and loops over no signer. It adds what the signers of a task earned to a
/// *record*: one for each bitmap in each epoch. When the epoch can settle nothing more, anyone *tallies* it: `tally`
/// adds up in memory what each key earned by all records and as a performer, and stores one word, the root of a Merkle
/// tree over the sums (`ShareTree`). A claim passes its sum and the proof, so it costs the same however many quorums a
/// key was in.
///
/// A signer's share of a record is amount * own weight / weight of all signers, rounded down. With 100 tokens and
/// weights 1 and 2, the shares are 33 and 66. What rounding leaves goes back to the pool. A performer's reward is added
/// only if it was the elected performer, and goes back to the pool otherwise.
///
/// A tally may take a part of an epoch's records and tasks, and a further one the rest. The further one passes the sums
/// of the one before, which the event `Tallied` logged, and the contract checks them against the root. So sums only
/// grow, there is one root for each epoch, and a claim pays what a key's sum has grown by since the last claim. Whoever
/// tallies a part makes the next tally more expensive, and cannot prevent it.
abstract contract Rewards is Epochs {
    /// @dev Type of the digest that operators sign for a task.
    bytes32 private constant TASK_TYPEHASH = keccak256(
        "quorate.task(uint256 chain,address network,uint256 epoch,bytes20 snapshot,bytes32 id,uint256 performer,bytes32 result,bool approved)"
    );

    /// @dev The pool, in one storage slot: 128 bits of what rewards can be set aside from, and behind them 128 bits of what is
    /// owed.
    uint256 private _pool;
    /// @dev The record of each bitmap and epoch that was not tallied.
    mapping(bytes32 record => Record) private _records;
    /// @dev The root of the last tally of each epoch.
    mapping(uint256 epoch => bytes32) private _roots;
    /// @dev What was paid of what a key earned in an epoch.
    mapping(uint256 epoch => mapping(uint256 index => uint256)) private _paid;
    /// @dev The digest that settled an id, but for its lowest bit, which is one while the performer's reward waits for
    /// its tally.
    mapping(bytes32 id => bytes32) private _settlements;

    /// @inheritdoc ITaskNetwork
    function fund(uint256 amount) external nonReentrant {
        uint256 received = _pull(amount);
        _addToPool(received);
        emit Funded(msg.sender, received);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause. The amounts before have 16 bytes each, because calldata is bounded: nodes take no transaction
    /// of more than 131,072 bytes. What a key earned fits, because the network holds it in tokens, of which there are fewer
    /// than 2^128. For each key of the epoch it costs about 1,200 gas, and about 700 more if the epoch was tallied before; beside that, about 160 gas for each signer of each record, and 15,000 to 25,000 for each task.
    function tally(uint256 epoch, Task[] calldata tasks, bytes[] calldata signers, bytes calldata earned)
        external
        nonReentrant
        returns (bytes32 root)
    {
        _check(block.timestamp >= closesAt(epoch), uint32(EpochOpen.selector), epoch);
        require(tasks.length + signers.length != 0, NothingToTally());
        bytes20 snapshotId = _taken(epoch);
        uint64[] memory weights = _weights(epoch);
        uint256[] memory sums = _unpacked(earned);
        // Without amounts the root is zero, which it is as long as the epoch was not tallied.
        _check(ShareTree.rootOf(sums) == _roots[epoch], uint32(NotTheLastTally.selector), epoch);
        if (sums.length == 0) sums = new uint256[](weights.length);
        uint256 returned = 0;
        for (uint256 i = 0; i < signers.length; ++i) {
            returned += _share(epoch, signers[i], weights, sums);
        }
        if (tasks.length != 0) returned += _perform(epoch, snapshotId, tasks, Leader.sumsOf(weights), sums);
        root = ShareTree.rootOf(sums);
        _roots[epoch] = root;
        (uint256 free, uint256 owed) = pool();
        _setPool(free + returned, owed - returned);
        emit Tallied(epoch, root, returned, sums);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause. Each epoch costs about 31,000 gas, and 700 for each bit of the number of its keys.
    function claim(address operator, Share[] calldata shares) external nonReentrant returns (uint256 paid) {
        for (uint256 i = 0; i < shares.length; ++i) {
            Share calldata share = shares[i];
            (uint256 epoch, uint256 index, uint256 amount) = (share.epoch, share.index, share.amount);
            bytes32 leaf = ShareTree.leafOf(index, amount);
            // The index means a key of the epoch's table, so the owner is looked up there.
            bool earned = MerkleProof.verifyCalldata(share.proof, _roots[epoch], leaf);
            _check(earned && _ownerIn(epoch, index) == operator, uint32(NotEarned.selector), epoch, index);
            uint256 before = _paid[epoch][index];
            _check(amount > before, uint32(AlreadyClaimed.selector), epoch, index);
            _paid[epoch][index] = amount;
            paid += amount - before;
            emit Claimed(operator, epoch, index, amount - before);
        }
        (uint256 free, uint256 owed) = pool();
        _setPool(free, owed - paid);
        _pay(operator, paid);
    }

    /// @inheritdoc ITaskNetwork
    function taskDigest(uint256 epoch, Task calldata task) external view returns (bytes32) {
        return _digest(epoch, _taken(epoch), task);
    }

    /// @notice The pool of rewards.
    /// @return free What rewards can still be set aside from.
    /// @return owed What is set aside and not yet claimed.
    function pool() public view returns (uint256 free, uint256 owed) {
        return (_pool >> 128, uint128(_pool));
    }

    /// @notice What the signers of a bitmap earned in an epoch and nobody has tallied.
    /// @param epoch The epoch.
    /// @param signers The bitmap.
    /// @return The record; zeros if there is none.
    function recordOf(uint256 epoch, bytes calldata signers) external view returns (Record memory) {
        return _records[_recordId(epoch, signers)];
    }

    /// @notice The root of an epoch's last tally.
    /// @param epoch The epoch.
    /// @return The root; zero if nobody has tallied the epoch.
    function rootOf(uint256 epoch) external view returns (bytes32) {
        return _roots[epoch];
    }

    /// @notice What was paid of what a key earned in an epoch.
    /// @param epoch The epoch.
    /// @param index The index of the key in the epoch's table.
    /// @return What was paid.
    function paidOf(uint256 epoch, uint256 index) external view returns (uint256) {
        return _paid[epoch][index];
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
        (uint256 free, uint256 owed) = pool();
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            _check(_settlements[task.id] == 0, uint32(AlreadySettled.selector), uint256(task.id));
            uint256 forPerformer = task.approved ? performerReward : 0;
            uint256 rewards = attesterReward + forPerformer;
            bool rewarded = free >= rewards;
            if (rewarded) {
                (free, owed) = (free - rewards, owed + rewards);
                forSigners += attesterReward;
            }
            bytes32 digest = _digest(epoch, snapshotId, task);
            digests[i] = digest;
            bytes32 settlement = digest | bytes32(uint256(1));
            _settlements[task.id] = rewarded && forPerformer != 0 ? settlement : settlement ^ bytes32(uint256(1));
            emit TaskSettled(task.id, epoch, task.performer, task.result, task.approved, rewarded);
        }
        // What leaves `free` enters `owed`. Both fit into 128 bits, because the network holds their sum in tokens.
        if (uint128(_pool) != owed) _setPool(free, owed);
    }

    /// @notice Adds rewards to the record of a quorum. The weight is the quorum's in this epoch, so each addition sets
    /// it to the same number: nobody tallies before the epoch can settle nothing more.
    /// @param epoch The epoch.
    /// @param signers The quorum's bitmap.
    /// @param weight The quorum's weight.
    /// @param amount What was set aside; may be zero.
    function _credit(uint256 epoch, bytes memory signers, uint256 weight, uint256 amount) internal {
        if (amount != 0) {
            Record storage record = _records[_recordId(epoch, signers)];
            // Both fit: the network holds the amount in tokens, and the weight is a part of the epoch's total.
            record.amount += uint128(amount);
            record.weight = uint96(weight);
        }
        emit Attested(epoch, signers, weight, amount);
    }

    /// @notice Adds to what rewards can be set aside from.
    /// @param amount Tokens that the network holds already.
    function _addToPool(uint256 amount) internal {
        (uint256 free, uint256 owed) = pool();
        _setPool(free + amount, owed);
    }

    /// @dev Writes the pool.
    function _setPool(uint256 free, uint256 owed) private {
        _pool = uint256(SafeCast.toUint128(free)) << 128 | SafeCast.toUint128(owed);
    }

    /// @notice What `taskDigest` returns. A task is encoded as its four fields, in their order.
    /// @param epoch The epoch.
    /// @param snapshotId The id of its snapshot.
    /// @param task The task.
    /// @return The digest.
    function _digest(uint256 epoch, bytes20 snapshotId, Task calldata task) internal view returns (bytes32) {
        return keccak256(abi.encode(TASK_TYPEHASH, block.chainid, address(this), epoch, snapshotId, task));
    }

    /// @dev Amounts of 16 bytes each. A rest of fewer is ignored.
    function _unpacked(bytes calldata packed) private pure returns (uint256[] memory amounts) {
        amounts = new uint256[](packed.length / 16);
        // Assembly, because a tally unpacks an amount of each index: 40 gas instead of 300. Behind the last of an odd
        // number of amounts it writes to free memory, which is not kept.
        assembly ("memory-safe") {
            let from := packed.offset
            let to := add(amounts, 0x20)
            for { let end := add(to, shl(5, mload(amounts))) } lt(to, end) { to := add(to, 0x40) } {
                let two := calldataload(from)
                mstore(to, shr(128, two))
                mstore(add(to, 0x20), shr(128, shl(128, two)))
                from := add(from, 0x20)
            }
        }
    }

    /// @dev Takes a record, and adds its signers' shares to their sums. An index without a weight in the epoch gets
    /// nothing: its key was registered after the snapshot.
    /// @return rest What rounding leaves.
    function _share(uint256 epoch, bytes calldata signers, uint64[] memory weights, uint256[] memory sums)
        private
        returns (uint256 rest)
    {
        bytes32 id = _recordId(epoch, signers);
        Record memory record = _records[id];
        _check(record.weight != 0, uint32(UnknownRecord.selector), uint256(id));
        // Each record is another slot, which is written once.
        // slither-disable-next-line costly-loop
        delete _records[id];
        (uint256 amount, uint256 weight) = (record.amount, record.weight);
        uint256 shared = 0;
        // Assembly, because every signer of every record runs this: 100 gas instead of 400. The bitmap is read a word
        // at a time, without bits behind its end or behind the weights. Products have less than 192 bits.
        assembly ("memory-safe") {
            let count := mload(weights)
            let bits := shl(3, signers.length)
            if gt(bits, count) { bits := count }
            for { let start := 0 } lt(start, bits) { start := add(start, 256) } {
                let word := calldataload(add(signers.offset, shr(3, start)))
                // A shift by 256 bits or more gives 0. So nothing is masked while 256 indices or more are left.
                word := and(word, not(shr(sub(bits, start), not(0))))
                for {} word {} {
                    let place := clz(word)
                    word := xor(word, shr(place, shl(255, 1)))
                    let offset := shl(5, add(add(start, place), 1))
                    let part := div(mul(amount, mload(add(weights, offset))), weight)
                    shared := add(shared, part)
                    mstore(add(sums, offset), add(mload(add(sums, offset)), part))
                }
            }
        }
        // Checked. If the weights were not those that verification added up, a tally that shares more than the record
        // holds reverts and takes nothing from others.
        return amount - shared;
    }

    /// @dev Adds the rewards of elected performers to their sums, and marks the tasks.
    /// @return returned The rewards for performers who were not elected.
    function _perform(
        uint256 epoch,
        bytes20 snapshotId,
        Task[] calldata tasks,
        uint256[] memory weightSums,
        uint256[] memory sums
    ) private returns (uint256 returned) {
        uint256 reward = performerReward;
        for (uint256 i = 0; i < tasks.length; ++i) {
            Task calldata task = tasks[i];
            bytes32 settlement = _settlements[task.id];
            // The lowest bit is one while the reward waits. So equality says that it is this task, and not yet tallied.
            _check(
                settlement == _digest(epoch, snapshotId, task) | bytes32(uint256(1)),
                uint32(NothingOwed.selector),
                uint256(task.id)
            );
            _settlements[task.id] = settlement ^ bytes32(uint256(1));
            uint256 elected = _elected(epoch, task.id, weightSums);
            if (elected == task.performer) sums[elected] += reward;
            else returned += reward;
        }
    }

    /// @dev Names the record of a bitmap and epoch.
    function _recordId(uint256 epoch, bytes memory signers) private pure returns (bytes32) {
        return keccak256(abi.encode(epoch, keccak256(signers)));
    }
}
