// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {MockVerifier} from "./mocks/MockVerifier.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkSlashingTest is NetworkRig {
    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < 3; ++i) {
            join(i, 100e18);
        }
        network.snapshot();
    }

    function test_a_rejected_performer_is_penalised() external {
        ITaskNetwork.Task memory task = taskFor(0, "bad");
        task.approved = false;
        submit(task, 0, 7);
        assertEq(network.stakeOf(operator(task.performer)), 95e18, "a twentieth");
        (uint256 free, uint256 owed) = network.pool();
        assertEq(free, 5e18, "to the pool");
        assertEq(owed, 0, "unrewarded");
    }

    function test_a_rejected_task_rewards_attesters_alone() external {
        fund(100e18);
        ITaskNetwork.Task memory task = taskFor(0, "bad");
        task.approved = false;
        submit(task, 0, 7);
        (uint256 free, uint256 owed) = network.pool();
        assertEq(free, 105e18 - ATTESTERS, "free");
        assertEq(owed, ATTESTERS, "owed");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.claimPerformances(0, one(task));
    }

    function test_a_quorum_cannot_fine_whom_it_likes() external {
        ITaskNetwork.Task memory task = taskFor(0, "bad");
        task.approved = false;
        task.performer = (task.performer + 1) % 3;
        ITaskNetwork.Task[] memory tasks = one(task);
        bytes memory quorum = quorumOf(tasks, 0, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotElected.selector, task.id, task.performer));
        network.submitTasks(tasks, 0, quorum);
    }

    function test_a_performer_that_left_is_penalised_in_the_queue() external {
        ITaskNetwork.Task memory task = taskFor(0, "bad");
        task.approved = false;
        address performer = operator(task.performer);
        vm.prank(performer);
        network.deregister();
        submit(task, 0, 7);
        (uint256 amount,) = network.pendingOf(performer);
        assertEq(amount, 95e18, "pending");
    }

    function test_a_conflict_slashes_and_pays_the_bounty() external {
        assertEq(report("twice", 0, 1, 1), 2e18, "bounty");
        assertEq(network.stakeOf(operator(1)), 80e18, "a fifth");
        assertEq(token.balanceOf(REPORTER), 2e18, "paid");
        (uint256 free,) = network.pool();
        assertEq(free, 18e18, "to the pool");
        assertTrue(network.isSlashed(operator(1), "twice"), "marked");
    }

    function test_approval_and_rejection_of_one_result_conflict() external {
        ITaskNetwork.Task memory a = ITaskNetwork.Task("id", 0, "r", true);
        ITaskNetwork.Task memory b = ITaskNetwork.Task("id", 0, "r", false);
        network.reportConflict(a, b, 0, 0, signature(a, 0, 0), signature(b, 0, 0));
        assertEq(network.stakeOf(operator(0)), 80e18, "slashed");
    }

    function test_the_same_digest_twice_is_no_proof() external {
        (ITaskNetwork.Task memory a,) = conflict("id");
        bytes memory proof = signature(a, 0, 0);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(a, a, 0, 0, proof, proof);
    }

    function test_different_ids_are_no_conflict() external {
        (ITaskNetwork.Task memory a,) = conflict("id");
        (, ITaskNetwork.Task memory b) = conflict("other");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 0, 0);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(a, b, 0, 0, first, second);
    }

    function test_both_signatures_must_be_the_keys_own() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 0, 0);
        bytes memory foreign = signature(b, 0, 1);
        vm.expectRevert(MockVerifier.FalseSingle.selector);
        network.reportConflict(a, b, 0, 0, first, foreign);
        vm.expectRevert(MockVerifier.FalseSingle.selector);
        network.reportConflict(a, b, 0, 1, first, second);
        assertTrue(!network.isSlashed(operator(0), "id"), "no mark");
    }

    function test_signatures_of_different_epochs_are_no_proof() external {
        enter(1);
        network.snapshot();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 1, 0);
        vm.expectRevert(MockVerifier.FalseSingle.selector);
        network.reportConflict(a, b, 0, 0, first, second);
    }

    function test_slashed_once_an_id() external {
        report("twice", 0, 1, 1);
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("twice");
        bytes memory first = signature(a, 0, 1);
        bytes memory second = signature(b, 0, 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("twice")));
        network.reportConflict(a, b, 0, 1, first, second);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("twice")));
        network.reportConflict(b, a, 0, 1, second, first);
        report("another", 0, 1, 1);
        assertEq(network.stakeOf(operator(1)), 64e18, "twice a fifth");
    }

    function test_a_key_of_nobody_is_no_proof() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.UnknownKey.selector, 9));
        network.reportConflict(a, b, 0, 9, "", "");
    }

    function test_a_key_rotated_away_answers_for_its_owner() external {
        enter(1);
        rotate(1, 100);
        report("id", 0, 1, 1);
        assertEq(network.stakeOf(operator(1)), 80e18, "slashed");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("id")));
        this.reportAs("id", 0, 3, 100);
    }

    function test_reports_until_the_window_ends() external {
        uint256 end = GENESIS + 2 * EPOCH + WINDOW;
        assertEq(network.slashableUntil(0), end, "end");
        vm.warp(end - 1);
        report("in time", 0, 0, 0);
        vm.warp(end);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.OutsideWindow.selector, 0));
        this.reportAs("too late", 0, 0, 0);
    }

    function test_an_epoch_without_snapshot_has_no_conflicts() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 1));
        this.reportAs("future", 1, 0, 0);
    }

    function test_withdrawal_during_an_open_window_is_slashed() external {
        vm.prank(operator(0));
        network.deregister();
        (, uint256 payableAt) = network.pendingOf(operator(0));
        // The last second in which the epoch can be reported is before the first in which the stake is paid out.
        assertTrue(payableAt >= network.slashableUntil(0), "delay outlasts the window");
        vm.warp(network.slashableUntil(0) - 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.WithdrawalNotDue.selector, payableAt));
        vm.prank(operator(0));
        network.withdraw();
        report("left", 0, 0, 0);
        (uint256 amount,) = network.pendingOf(operator(0));
        assertEq(amount, 80e18, "pending");
        vm.warp(payableAt);
        vm.prank(operator(0));
        assertEq(network.withdraw(), 80e18, "the rest");
    }

    /// Whenever a withdrawal is requested, the stake is not paid out while an epoch in which it was weighed can be
    /// reported.
    function test_no_request_escapes_the_window(uint256 at) external {
        at = bound(at, 0, EPOCH - 1);
        vm.warp(GENESIS + at);
        vm.prank(operator(0));
        network.requestWithdrawal(50e18);
        (, uint256 payableAt) = network.pendingOf(operator(0));
        assertTrue(payableAt >= network.slashableUntil(0), "not before");
    }

    function test_slash_takes_of_votes_first_then_of_the_queue() external {
        vm.prank(operator(0));
        network.requestWithdrawal(90e18);
        report("id", 0, 0, 0);
        assertEq(network.stakeOf(operator(0)), 0, "all that voted");
        (uint256 amount,) = network.pendingOf(operator(0));
        assertEq(amount, 80e18, "and ten of what waited");
        assertEq(network.operatorCount(), 2, "seat vacated");
        assertEq(network.stakeOf(operator(2)), 100e18, "others untouched");
    }

    function test_a_seat_below_the_minimum_is_vacated_and_its_rest_waits() external {
        vm.prank(operator(0));
        network.requestWithdrawal(89e18);
        vm.warp(GENESIS + 1000);
        for (uint256 i = 0; network.stakeOf(operator(0)) != 0; ++i) {
            ITaskNetwork.Task memory task = taskFor(0, bytes32(i));
            if (task.performer != 0) continue;
            task.approved = false;
            submit(task, 0, 7);
        }
        (uint256 amount, uint256 payableAt) = network.pendingOf(operator(0));
        assertEq(amount, 95e18, "89 and 6");
        assertEq(payableAt, GENESIS + 1000 + DELAY, "from now");
        assertEq(network.operatorCount(), 2, "seat");
    }

    function test_nothing_at_stake_reverts() external {
        vm.prank(operator(0));
        network.deregister();
        enter(4);
        join(0x10, 20e18);
        network.snapshot();
        vm.warp(GENESIS + DELAY);
        vm.prank(operator(0));
        network.withdraw();
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingAtStake.selector, operator(0)));
        this.reportAs("gone", 4, 0, 0);
    }

    function test_an_offender_that_reports_itself_loses() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("self");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 0, 0);
        vm.prank(operator(0));
        network.reportConflict(a, b, 0, 0, first, second);
        assertEq(network.stakeOf(operator(0)) + token.balanceOf(operator(0)), 82e18, "less than before");
    }

    /// An external function, so that `expectRevert` meets one call and not the views that make the proofs.
    function reportAs(bytes32 id, uint256 epoch, uint256 index, uint256 name) external {
        report(id, epoch, index, name);
    }
}
