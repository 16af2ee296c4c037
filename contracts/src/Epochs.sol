// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Leader} from "./Leader.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {Stakes} from "./Stakes.sol";

/// @title Epochs: weights that are fixed once for each, and the performers they elect
/// @notice A snapshot reads one cold storage slot for each operator, about 2,500 gas. Publishing the weights costs
/// about 2,100 gas for each key that was ever registered.
abstract contract Epochs is Stakes {
    /// @dev What is fixed for each epoch.
    mapping(uint256 epoch => Snapshot) private _snapshots;
    /// @dev The random word of each epoch that elects performers.
    mapping(uint256 epoch => bytes32) private _beacons;

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause, because an epoch without a snapshot settles nothing. The beacon is `prevrandao`: a
    /// proposer can bias it by withholding blocks, and whoever calls this chooses the block. Call it early in the
    /// epoch.
    function snapshot() external nonReentrant returns (uint256 epoch) {
        epoch = currentEpoch();
        if (_snapshots[epoch].total != 0) revert AlreadySnapshotted(epoch);
        (uint64[] memory weights, uint256 total) = _currentWeights();
        if (total == 0) revert NothingStaked(epoch);
        // For integers, weight > floor(total * n / d) is the same as weight * d > total * n.
        uint256 required = total * quorumNumerator / quorumDenominator;
        uint256 operators = operatorCount();
        bytes32 beacon = bytes32(block.prevrandao);
        // The casts keep everything: fewer than 2^32 weights below 2^64 are added up.
        _snapshots[epoch] = Snapshot(uint96(total), uint96(required), uint32(operators));
        _beacons[epoch] = beacon;
        emit EpochSnapshotted(epoch, total, required, operators, beacon);
        verifier.publish(epoch, weights);
    }

    /// @notice What was fixed for an epoch.
    /// @param epoch The epoch.
    /// @return The snapshot; zeros if there is none.
    function snapshotOf(uint256 epoch) external view returns (Snapshot memory) {
        return _snapshots[epoch];
    }

    /// @notice The random word of an epoch that elects performers.
    /// @param epoch The epoch.
    /// @return The beacon; zero if the epoch has no snapshot.
    function beaconOf(uint256 epoch) external view returns (bytes32) {
        return _beacons[epoch];
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Reads all weights of the epoch, so the cost grows with the number of keys.
    function performerOf(uint256 epoch, bytes32 id) external view returns (uint256) {
        uint256 total = _taken(epoch).total;
        return _electedOf(verifier.weightsOf(epoch), _beacons[epoch], total, id);
    }

    /// @notice The snapshot of an epoch whose tasks can settle now. Reverts for any epoch but the current and the
    /// previous one.
    function _open(uint256 epoch) internal view returns (Snapshot memory) {
        uint256 current = currentEpoch();
        if (epoch > current || epoch + 1 < current) revert EpochClosed(epoch);
        return _taken(epoch);
    }

    /// @notice The snapshot of an epoch. Reverts if there is none.
    function _taken(uint256 epoch) internal view returns (Snapshot memory taken) {
        taken = _snapshots[epoch];
        if (taken.total == 0) revert NotSnapshotted(epoch);
    }

    /// @dev The index of the performer elected for an id.
    function _elected(uint64[] memory weights, uint256 epoch, bytes32 id) internal view returns (uint256) {
        return _electedOf(weights, _beacons[epoch], _snapshots[epoch].total, id);
    }

    /// @dev The same, with what is fixed for the epoch.
    function _electedOf(uint64[] memory weights, bytes32 beacon, uint256 total, bytes32 id)
        private
        pure
        returns (uint256)
    {
        return Leader.indexAt(weights, Leader.pointOf(beacon, id, total));
    }
}
