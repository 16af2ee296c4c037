// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Leader} from "./Leader.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {Roster} from "./Roster.sol";
import {Stakes} from "./Stakes.sol";

/// @title Epochs: weights that are fixed once for each, and the performers they elect
/// @notice A snapshot reads one cold storage slot for each operator, about 2,600 gas. Publishing the weights costs
/// about 1,700 gas for each key of the table.
///
/// A snapshot says which key table its epoch uses: the running one, or the next one if all seats were carried to it. The
/// table changes in snapshots alone, and once in an epoch at most. So the two epochs that can settle use the running table
/// and the one before.
///
/// Each snapshot has an id, a hash of everything that decides which performer an attester expects: the beacon, the
/// weights, the table, and which operator owns which key. Signed digests name it. Suppose an attester signs a task and then a
/// reorganisation of the chain replaces the snapshot. The attester signs again, under the new id. Only one of the two
/// snapshots is in the chain, so only one of the two signatures says anything to this contract.
abstract contract Epochs is Stakes {
    /// @notice What is fixed for an epoch, in one storage slot: all that a submission reads about the epoch.
    struct Fixed {
        /// The weight of all operators; zero if the epoch has no snapshot.
        uint80 total;
        /// The number of its key table.
        uint16 table;
        /// The snapshot's id.
        bytes20 id;
    }

    /// @dev What is fixed for each epoch.
    mapping(uint256 epoch => Fixed) private _fixed;
    /// @dev The random word of each epoch that elects performers.
    mapping(uint256 epoch => bytes32) private _beacons;

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause, because an epoch without a snapshot settles nothing. The beacon is `prevrandao`: a
    /// proposer can bias it by withholding blocks, and whoever calls this chooses the block. Call it early in the
    /// epoch.
    function snapshot() external nonReentrant returns (uint256 epoch) {
        epoch = currentEpoch();
        _check(_fixed[epoch].total == 0, uint32(AlreadySnapshotted.selector), epoch);
        // The verifier calls nobody, and a guard stops whoever would come back.
        // slither-disable-next-line reentrancy-no-eth,reentrancy-benign
        Roster roster = _renewed();
        uint16 table = uint16(roster.table());
        (bytes memory weights, uint256 total) = _currentWeights(roster);
        _check(total != 0, uint32(NothingStaked.selector), epoch);
        bytes32 beacon = bytes32(block.prevrandao);
        bytes20 id = bytes20(keccak256(abi.encode(beacon, table, roster.digest(), keccak256(weights))));
        // The cast keeps everything: fewer than 2^16 weights below 2^64 are added up.
        _fixed[epoch] = Fixed(uint80(total), table, id);
        _beacons[epoch] = beacon;
        emit EpochSnapshotted(epoch, total, _requiredOf(total), operatorCount(), table, beacon, id);
        verifier.publish(epoch, weights);
    }

    /// @notice What was fixed for an epoch.
    /// @param epoch The epoch.
    /// @return The snapshot; zeros if there is none.
    function snapshotOf(uint256 epoch) external view returns (Snapshot memory) {
        Fixed memory terms = _fixed[epoch];
        return Snapshot(terms.total, _requiredOf(terms.total), terms.table, _beacons[epoch], terms.id);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Reads all weights of the epoch: about 520 gas for each key of its table, at most `maximumKeys`.
    function performerOf(uint256 epoch, bytes32 id) external view returns (uint256) {
        _taken(epoch);
        return _elected(epoch, id, Leader.sumsOf(_weights(epoch)));
    }

    /// @notice What is fixed for an epoch whose tasks can settle now. Reverts for any epoch but the current and the
    /// previous one.
    /// @param epoch The epoch.
    /// @return terms What is fixed.
    /// @return required A quorum must weigh more than this.
    function _open(uint256 epoch) internal view returns (Fixed memory terms, uint256 required) {
        uint256 current = currentEpoch();
        _check(epoch <= current && epoch + 1 >= current, uint32(EpochClosed.selector), epoch);
        _taken(epoch);
        terms = _fixed[epoch];
        required = _requiredOf(terms.total);
    }

    /// @notice The operator whose key an index means in an epoch.
    /// @param epoch The epoch, which has a snapshot.
    /// @param index The key's index in the epoch's table.
    /// @return The operator; zero if there is no such key.
    function _ownerIn(uint256 epoch, uint256 index) internal view returns (address) {
        return ownerOfKey(_fixed[epoch].table, index);
    }

    /// @notice The id of an epoch's snapshot. Reverts if there is none.
    /// @param epoch The epoch.
    /// @return The id.
    function _taken(uint256 epoch) internal view returns (bytes20) {
        _check(_fixed[epoch].total != 0, uint32(NotSnapshotted.selector), epoch);
        return _fixed[epoch].id;
    }

    /// @notice The id of an epoch's snapshot; zero if there is none.
    /// @param epoch The epoch.
    /// @return The id.
    function _snapshotId(uint256 epoch) internal view returns (bytes20) {
        return _fixed[epoch].id;
    }

    /// @notice The weights of an epoch.
    /// @param epoch The epoch, which has a snapshot.
    /// @return The weight of each index.
    function _weights(uint256 epoch) internal view returns (uint64[] memory) {
        // `_penalise` calls this in a loop, but only once, because an epoch with a snapshot has weights.
        // slither-disable-next-line calls-loop
        return verifier.weightsOf(epoch);
    }

    /// @notice The index of the performer elected for an id.
    /// @param epoch The epoch.
    /// @param id The task's id.
    /// @param sums The running sums of the epoch's weights (`Leader.sumsOf`).
    /// @return The index.
    function _elected(uint256 epoch, bytes32 id, uint256[] memory sums) internal view returns (uint256) {
        return Leader.indexAt(sums, Leader.pointOf(_beacons[epoch], id, _fixed[epoch].total));
    }

    /// @dev A quorum must weigh more than this. For integers, weight > floor(total * n / d) is the same as
    /// weight * d > total * n.
    function _requiredOf(uint256 total) private view returns (uint256) {
        return total * quorumNumerator / quorumDenominator;
    }
}
