// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Leader} from "./Leader.sol";
import {Stakes} from "./Stakes.sol";

/// @title Epochs: weights fixed once each, and who performs by them
/// @notice A snapshot costs about 2.5k gas an operator here, for a cold slot each, and what publishing takes, about 2.1k a key
/// that was ever registered.
abstract contract Epochs is Stakes {
    mapping(uint256 epoch => Snapshot) private _snapshots;
    mapping(uint256 epoch => bytes32) private _beacons;

    /// @dev Not paused: an epoch that is never snapshotted settles nothing.
    /// The beacon is the chain's own: a proposer can bias it by withholding blocks, and who calls this picks the block. Call it
    /// early in the epoch.
    function snapshot() external nonReentrant returns (uint256 epoch) {
        epoch = currentEpoch();
        if (_snapshots[epoch].total != 0) revert AlreadySnapshotted(epoch);
        (uint64[] memory weights, uint256 total) = _currentWeights();
        if (total == 0) revert NothingStaked(epoch);
        // For whole numbers, weight > floor(total * n / d) is weight * d > total * n.
        uint256 required = total * quorumNumerator / quorumDenominator;
        uint256 operators = operatorCount();
        bytes32 beacon = bytes32(block.prevrandao);
        // Fits: fewer than 2^32 weights below 2^64.
        _snapshots[epoch] = Snapshot(uint96(total), uint96(required), uint32(operators));
        _beacons[epoch] = beacon;
        emit EpochSnapshotted(epoch, total, required, operators, beacon);
        verifier.publish(epoch, weights);
    }

    function snapshotOf(uint256 epoch) external view returns (Snapshot memory) {
        return _snapshots[epoch];
    }

    function beaconOf(uint256 epoch) external view returns (bytes32) {
        return _beacons[epoch];
    }

    /// @dev Reads the epoch's weight page and sums up to the performer: linear in the keys. Attesters call it before they sign.
    function performerOf(uint256 epoch, bytes32 id) external view returns (uint256) {
        uint256 total = _taken(epoch).total;
        return _electedOf(verifier.weightsOf(epoch), _beacons[epoch], total, id);
    }

    /// @notice The snapshot of an epoch whose tasks can settle now: the current one or the one before.
    function _open(uint256 epoch) internal view returns (Snapshot memory) {
        uint256 current = currentEpoch();
        if (epoch > current || epoch + 1 < current) revert EpochClosed(epoch);
        return _taken(epoch);
    }

    /// @notice The snapshot of an epoch, which must have one.
    function _taken(uint256 epoch) internal view returns (Snapshot memory taken) {
        taken = _snapshots[epoch];
        if (taken.total == 0) revert NotSnapshotted(epoch);
    }

    function _elected(uint64[] memory weights, uint256 epoch, bytes32 id) internal view returns (uint256) {
        return _electedOf(weights, _beacons[epoch], _snapshots[epoch].total, id);
    }

    function _electedOf(uint64[] memory weights, bytes32 beacon, uint256 total, bytes32 id)
        private
        pure
        returns (uint256)
    {
        return Leader.indexAt(weights, Leader.pointOf(beacon, id, total));
    }
}
