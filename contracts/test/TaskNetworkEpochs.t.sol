// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Leader} from "../src/Leader.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkEpochsTest is NetworkRig {
    function test_nothing_before_genesis() external {
        join(0, LEAST);
        vm.warp(GENESIS - 1);
        vm.expectRevert(ITaskNetwork.NotStarted.selector);
        network.snapshot();
    }

    function test_epoch_boundaries() external {
        assertEq(network.currentEpoch(), 0, "first second");
        vm.warp(GENESIS + EPOCH - 1);
        assertEq(network.currentEpoch(), 0, "last second");
        vm.warp(GENESIS + EPOCH);
        assertEq(network.currentEpoch(), 1, "next epoch");
        assertEq(network.closesAt(0), GENESIS + 2 * EPOCH, "closes");
    }

    function test_snapshot_once_an_epoch() external {
        join(0, LEAST);
        network.snapshot();
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySnapshotted.selector, 0));
        network.snapshot();
        enter(1);
        assertEq(network.snapshot(), 1, "next");
    }

    function test_snapshot_of_no_operators_reverts() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, 0));
        network.snapshot();
    }

    function test_snapshot_holds_total_required_operators() external {
        join(0, 10e18 + 0.9e18);
        join(1, 21e18);
        network.snapshot();
        ITaskNetwork.Snapshot memory taken = network.snapshotOf(0);
        assertEq(taken.total, 31, "whole units");
        assertEq(taken.required, 20, "floor of two thirds");
        assertEq(network.operatorCount(), 2, "operators");
    }

    /// A submission reads one slot about its epoch.
    function test_snapshot_is_one_slot() external {
        join(0, 10e18);
        join(1, 21e18);
        network.snapshot();
        uint256 found = 0;
        for (uint256 slot = 0; slot < 20; ++slot) {
            bytes32 word = vm.load(address(network), keccak256(abi.encode(uint256(0), slot)));
            if (uint256(word) == 31 | uint256(uint160(network.snapshotOf(0).id)) << 96) ++found;
        }
        assertEq(found, 1, "packed");
    }

    function test_quorum_is_strictly_more_for_every_total(uint256 a, uint256 b, uint256 c) external {
        uint256[3] memory stakes =
            [bound(a, 10, type(uint64).max), bound(b, 10, type(uint64).max), bound(c, 10, type(uint64).max)];
        for (uint256 i = 0; i < 3; ++i) {
            join(i, stakes[i] * UNIT);
        }
        network.snapshot();
        uint256 total = stakes[0] + stakes[1] + stakes[2];
        for (uint256 mask = 0; mask < 8; ++mask) {
            uint256 weight = 0;
            for (uint256 i = 0; i < 3; ++i) {
                if (mask >> i & 1 == 1) weight += stakes[i];
            }
            ITaskNetwork.Task[] memory tasks = one(taskFor(0, bytes32(mask)));
            bytes memory quorum = quorumOf(tasks, 0, mask);
            bool settled = true;
            try network.submitTasks(0, tasks, quorum) {}
            catch {
                settled = false;
            }
            assertTrue(settled == (3 * weight > 2 * total), "strictly more than two thirds");
        }
    }

    function test_beacon_is_the_chains_own() external {
        vm.prevrandao(bytes32(uint256(77)));
        join(0, LEAST);
        network.snapshot();
        assertEq(network.snapshotOf(0).beacon, bytes32(uint256(77)), "prevrandao");
        vm.prevrandao(bytes32(uint256(78)));
        assertEq(network.snapshotOf(0).beacon, bytes32(uint256(77)), "kept");
    }

    function test_performer_is_who_holds_the_point(bytes32 beacon, bytes32 id) external {
        uint64[4] memory stakes = [uint64(10), 35, 20, 11];
        for (uint256 i = 0; i < 4; ++i) {
            join(i, stakes[i] * UNIT);
        }
        vm.prevrandao(beacon);
        network.snapshot();
        uint256 point = uint256(keccak256(abi.encode(beacon, id))) % 76;
        uint256 expected = point < 10 ? 0 : point < 45 ? 1 : point < 65 ? 2 : 3;
        assertEq(network.performerOf(0, id), expected, "interval");
    }

    function test_performers_are_chosen_in_proportion() external {
        join(0, 10e18);
        join(1, 30e18);
        network.snapshot();
        uint256 second = 0;
        for (uint256 i = 0; i < 1000; ++i) {
            second += network.performerOf(0, bytes32(i));
        }
        assertTrue(second > 690 && second < 810, "three quarters of a thousand");
    }

    function test_performer_of_an_epoch_without_snapshot_reverts() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 3));
        network.performerOf(3, "id");
    }

    function test_total_weight_is_the_sum_of_the_page(uint256 seed) external {
        uint256 count = bound(seed, 1, 12);
        for (uint256 i = 0; i < count; ++i) {
            join(i, bound(uint256(keccak256(abi.encode(seed, i))), LEAST, 1e30));
        }
        vm.prank(operator(seed % count));
        network.deregister();
        if (count == 1) return;
        network.snapshot();
        uint64[] memory weights = verifier.weightsOf(0);
        uint256 sum = 0;
        for (uint256 i = 0; i < weights.length; ++i) {
            sum += weights[i];
            assertEq(weights[i], network.stakeOf(operator(i)) / UNIT, "weight");
        }
        assertEq(sum, network.snapshotOf(0).total, "total");
    }
}

contract LeaderTest is Test {
    function test_boundaries_of_intervals() external view {
        uint64[] memory weights = new uint64[](5);
        (weights[1], weights[3], weights[4]) = (3, 1, type(uint64).max);
        uint256[] memory sums = Leader.sumsOf(weights);
        assertEq(Leader.indexAt(sums, 0), 1, "a weight of zero holds no point");
        assertEq(Leader.indexAt(sums, 2), 1, "last of the first");
        assertEq(Leader.indexAt(sums, 3), 3, "first of the next");
        assertEq(Leader.indexAt(sums, 4), 4, "after one");
        assertEq(Leader.indexAt(sums, uint256(type(uint64).max) + 3), 4, "last point");
        try this.elect(sums, uint256(type(uint64).max) + 4) {
            revert NotTrue("outside");
        } catch (bytes memory reason) {
            assertEq(bytes4(reason), Leader.PointOutside.selector, "outside");
        }
    }

    /// The running sums elect whom a walk over the weights elects.
    function test_sums_elect_as_a_walk_does(uint64[12] memory seeds, uint256 point) external pure {
        uint64[] memory weights = new uint64[](12);
        uint256 total = 1;
        for (uint256 i = 0; i < 12; ++i) {
            weights[i] = seeds[i] % 3 == 0 ? 0 : seeds[i];
            total += weights[i];
        }
        (weights[11], point) = (weights[11] == type(uint64).max ? weights[11] : weights[11] + 1, point % total);
        uint256 walked = 0;
        for (uint256 sum = weights[0]; point >= sum; sum += weights[walked]) {
            ++walked;
        }
        assertEq(Leader.indexAt(Leader.sumsOf(weights), point), walked, "the same index");
    }

    function elect(uint256[] memory sums, uint256 point) external pure returns (uint256) {
        return Leader.indexAt(sums, point);
    }
}
