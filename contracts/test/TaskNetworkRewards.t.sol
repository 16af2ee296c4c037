// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkRewardsTest is NetworkRig {
    function setUp() public override {
        super.setUp();
        join(0, 50e18);
        join(1, 30e18);
        join(2, 17e18);
        network.snapshot();
    }

    function test_fund_fills_the_pool() external {
        fund(100e18);
        _pool(100e18, 0);
        vm.expectRevert(ITaskNetwork.ZeroAmount.selector);
        network.fund(0);
    }

    function test_settlement_sets_both_rewards_aside() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        _pool(100e18 - PERFORMER - ATTESTERS, PERFORMER + ATTESTERS);
        ITaskNetwork.Record memory record = network.recordOf(0, bitmap(7));
        assertEq(record.amount, ATTESTERS, "amount");
        assertEq(record.weight, 97, "weight");
    }

    function test_a_task_the_pool_cannot_pay_settles_unrewarded() external {
        fund(2 * (PERFORMER + ATTESTERS) - 1);
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](3);
        for (uint256 i = 0; i < 3; ++i) {
            tasks[i] = taskFor(0, bytes32(i));
        }
        network.submitTasks(0, tasks, quorumOf(tasks, 0, 7));
        _pool(PERFORMER + ATTESTERS - 1, PERFORMER + ATTESTERS);
        assertTrue(network.isSettled(bytes32(uint256(2))), "settled all the same");
        network.claimPerformances(0, one(tasks[0]));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, bytes32(uint256(1))));
        network.claimPerformances(0, one(tasks[1]));
    }

    function test_claims_wait_until_the_epoch_can_settle_nothing_more() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        vm.warp(GENESIS + 2 * EPOCH - 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.EpochOpen.selector, 0));
        network.claimAttestations(0, 0, _masks(7));
        vm.warp(GENESIS + 2 * EPOCH);
        network.claimAttestations(0, 0, _masks(7));
    }

    function test_signers_share_a_record_by_weight_to_the_last_unit() external {
        fund(100e18);
        submit(taskFor(0, "one"), 0, 7);
        submit(taskFor(0, "two"), 0, 7);
        enter(2);
        uint256 amount = 2 * uint256(ATTESTERS);
        uint256 first = network.claimAttestations(0, 1, _masks(7));
        assertEq(first, amount * 30 / 97, "by weight");
        uint256 second = network.claimAttestations(0, 0, _masks(7));
        uint256 third = network.claimAttestations(0, 2, _masks(7));
        assertEq(first + second + third, amount, "no dust, no more");
        assertEq(token.balanceOf(operator(1)), first, "paid to the owner");
        _pool(100e18 - amount - 2 * uint256(PERFORMER), 2 * uint256(PERFORMER));
    }

    function test_several_records_in_one_claim() external {
        fund(100e18);
        submit(taskFor(0, "one"), 0, 7);
        submit(taskFor(0, "two"), 0, 3);
        submit(taskFor(0, "three"), 0, 5);
        enter(2);
        bytes[] memory signers = new bytes[](3);
        (signers[0], signers[1], signers[2]) = (bitmap(7), bitmap(3), bitmap(5));
        uint256 expected = uint256(ATTESTERS) * 50 / 97 + uint256(ATTESTERS) * 50 / 80 + uint256(ATTESTERS) * 50 / 67;
        assertEq(network.claimAttestations(0, 0, signers), expected, "sum");
        assertTrue(network.hasClaimed(0, 0, bitmap(3)) && !network.hasClaimed(0, 1, bitmap(3)), "each its own bit");
    }

    function test_a_share_is_claimed_once() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        enter(2);
        network.claimAttestations(0, 0, _masks(7));
        bytes32 record = keccak256(abi.encode(uint256(0), keccak256(bitmap(7))));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadyClaimed.selector, record, 0));
        network.claimAttestations(0, 0, _masks(7));
        bytes[] memory twice = new bytes[](2);
        (twice[0], twice[1]) = (bitmap(7), bitmap(7));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadyClaimed.selector, record, 1));
        network.claimAttestations(0, 1, twice);
    }

    function test_who_did_not_sign_claims_nothing() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 3);
        enter(2);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotASigner.selector, 2));
        network.claimAttestations(0, 2, _masks(3));
        bytes32 record = keccak256(abi.encode(uint256(0), keccak256(bitmap(7))));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.UnknownRecord.selector, record));
        network.claimAttestations(0, 2, _masks(7));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.UnknownKey.selector, 3));
        network.claimAttestations(0, 3, _masks(8));
        join(3, LEAST);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotASigner.selector, 3));
        network.claimAttestations(0, 3, _masks(15));
        bytes[] memory none = new bytes[](1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotASigner.selector, 0));
        network.claimAttestations(0, 0, none);
    }

    function test_a_record_of_one_epoch_is_not_one_of_another() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        enter(1);
        network.snapshot();
        enter(3);
        vm.expectRevert(
            abi.encodeWithSelector(
                ITaskNetwork.UnknownRecord.selector, keccak256(abi.encode(uint256(1), keccak256(bitmap(7))))
            )
        );
        network.claimAttestations(1, 0, _masks(7));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 0x1000));
        network.performerOf(0x1000, "id");
    }

    function test_one_who_left_claims_still() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        vm.prank(operator(0));
        network.deregister();
        enter(20);
        vm.prank(operator(0));
        network.withdraw();
        assertEq(network.claimAttestations(0, 0, _masks(7)), uint256(ATTESTERS) * 50 / 97, "share");
    }

    function test_the_elected_performer_is_paid_once() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        submit(task, 0, 7);
        network.claimPerformances(0, one(task));
        assertEq(token.balanceOf(operator(task.performer)), PERFORMER, "paid");
        assertTrue(network.isSettledAs(0, task), "settled still");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.claimPerformances(0, one(task));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySettled.selector, task.id));
        network.submitTasks(0, one(task), "");
    }

    function test_a_performer_not_elected_is_not_paid() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        task.performer = (task.performer + 1) % 3;
        submit(task, 0, 7);
        network.claimPerformances(0, one(task));
        assertEq(token.balanceOf(operator(task.performer)), 0, "not paid");
        _pool(100e18 - ATTESTERS, ATTESTERS);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.claimPerformances(0, one(task));
    }

    function test_another_task_than_settled_claims_nothing() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "task");
        submit(task, 0, 7);
        task.performer = (task.performer + 1) % 3;
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.claimPerformances(0, one(task));
        task.id = "never settled";
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.claimPerformances(0, one(task));
    }

    function test_shares_never_exceed_what_was_set_aside(uint256 seed, uint256 tasks) external {
        tasks = bound(tasks, 1, 6);
        fund(100e18);
        for (uint256 i = 0; i < tasks; ++i) {
            submit(taskFor(0, bytes32(i)), 0, 7);
        }
        enter(2);
        uint256 sum = 0;
        for (uint256 i = 0; i < 3; ++i) {
            sum += network.claimAttestations(0, (seed % 3 + i) % 3, _masks(7));
        }
        assertEq(sum, tasks * ATTESTERS, "exactly");
    }

    function _masks(uint256 mask) private pure returns (bytes[] memory signers) {
        signers = new bytes[](1);
        signers[0] = bitmap(mask);
    }

    function _pool(uint256 free, uint256 owed) private view {
        (uint256 isFree, uint256 isOwed) = network.pool();
        assertEq(isFree, free, "free");
        assertEq(isOwed, owed, "owed");
    }
}
