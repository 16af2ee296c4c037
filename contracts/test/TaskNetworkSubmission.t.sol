// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ISettledTasks, PriceReader} from "../examples/PriceReader.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {MockVerifier} from "./mocks/MockVerifier.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkSubmissionTest is NetworkRig {
    event TaskSettled(
        bytes32 indexed id,
        uint256 indexed epoch,
        uint256 indexed performer,
        bytes32 result,
        bool approved,
        bool rewarded
    );

    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < 3; ++i) {
            join(i, 30e18);
        }
        network.snapshot();
    }

    function test_a_quorum_settles_a_task() external {
        ITaskNetwork.Task memory task = taskFor(0, "task");
        assertTrue(!network.isSettled("task"), "before");
        submit(task, 0, 7);
        assertTrue(network.isSettled("task") && network.isSettledAs(0, task), "after");
        assertTrue(!network.isSettledAs(1, task), "another epoch");
        task.result = "other";
        assertTrue(!network.isSettledAs(0, task), "another result");
    }

    function test_the_example_of_a_consumer_reads_approved_results_alone() external {
        PriceReader reader = new PriceReader(ISettledTasks(address(network)));
        ITaskNetwork.Task memory task = taskFor(0, "price");
        task.result = keccak256("3020.50000000");
        vm.expectRevert(abi.encodeWithSelector(PriceReader.NotApproved.selector, task.id));
        reader.priceOf(0, task, "3020.50000000");
        submit(task, 0, 7);
        assertEq(bytes(reader.priceOf(0, task, "3020.50000000")), bytes("3020.50000000"), "the price");
        vm.expectRevert(abi.encodeWithSelector(PriceReader.AnotherPrice.selector, task.result));
        reader.priceOf(0, task, "3020.50000001");
        // Settled, and not approved.
        ITaskNetwork.Task memory rejected = taskFor(0, "rejected");
        (rejected.result, rejected.approved) = (keccak256("1.00000000"), false);
        submit(rejected, 0, 7);
        assertTrue(network.isSettledAs(0, rejected), "settled");
        vm.expectRevert(abi.encodeWithSelector(PriceReader.NotApproved.selector, rejected.id));
        reader.priceOf(0, rejected, "1.00000000");
    }

    function test_isSettledAs_is_false_for_what_is_not_settled() external view {
        assertTrue(!network.isSettledAs(0, ITaskNetwork.Task("none", 0, 0, true)), "none");
    }

    function test_several_tasks_in_one_verification() external {
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](5);
        for (uint256 i = 0; i < 5; ++i) {
            tasks[i] = taskFor(0, bytes32(i));
        }
        network.submitTasks(0, tasks, quorumOf(tasks, 0, 7));
        for (uint256 i = 0; i < 5; ++i) {
            assertTrue(network.isSettled(bytes32(i)), "each");
        }
    }

    function test_no_tasks_reverts() external {
        vm.expectRevert(ITaskNetwork.NoTasks.selector);
        network.submitTasks(0, new ITaskNetwork.Task[](0), "");
    }

    /// Exactly two thirds of the weight is not enough.
    function test_exactly_the_required_weight_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 3);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.QuorumTooLight.selector, 60, 60));
        network.submitTasks(0, tasks, quorum);
        assertTrue(!network.isSettled("task"), "nothing kept");
    }

    function test_empty_quorum_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 0);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.QuorumTooLight.selector, 0, 60));
        network.submitTasks(0, tasks, quorum);
    }

    function test_false_quorum_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 7);
        tasks[0].result = "forged";
        vm.expectRevert(MockVerifier.FalseQuorum.selector);
        network.submitTasks(0, tasks, quorum);
    }

    function test_each_field_is_signed() external {
        ITaskNetwork.Task memory task = taskFor(0, "task");
        bytes32 digest = network.taskDigest(0, task);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 1));
        network.taskDigest(1, task);
        enter(1);
        network.snapshot();
        assertTrue(network.snapshotOf(0).id == network.snapshotOf(1).id, "one beacon, the same weights and keys");
        assertTrue(digest != network.taskDigest(1, task), "epoch");
        ITaskNetwork.Task memory other = ITaskNetwork.Task("other", task.performer, task.result, true);
        assertTrue(digest != network.taskDigest(0, other), "id");
        other = ITaskNetwork.Task("task", task.performer + 1, task.result, true);
        assertTrue(digest != network.taskDigest(0, other), "performer");
        other = ITaskNetwork.Task("task", task.performer, "other", true);
        assertTrue(digest != network.taskDigest(0, other), "result");
        other = ITaskNetwork.Task("task", task.performer, task.result, false);
        assertTrue(digest != network.taskDigest(0, other), "approved");
    }

    function test_replay_of_a_submission_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 7);
        network.submitTasks(0, tasks, quorum);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySettled.selector, bytes32("task")));
        network.submitTasks(0, tasks, quorum);
    }

    function test_an_id_twice_in_one_submission_reverts() external {
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](2);
        tasks[0] = taskFor(0, "task");
        tasks[1] = taskFor(0, "task");
        bytes memory quorum = quorumOf(tasks, 0, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySettled.selector, bytes32("task")));
        network.submitTasks(0, tasks, quorum);
    }

    function test_an_id_settles_once_over_epochs() external {
        submit(taskFor(0, "task"), 0, 7);
        enter(1);
        network.snapshot();
        ITaskNetwork.Task[] memory tasks = one(taskFor(1, "task"));
        bytes memory quorum = quorumOf(tasks, 1, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySettled.selector, bytes32("task")));
        network.submitTasks(1, tasks, quorum);
    }

    function test_replay_in_another_epoch_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 7);
        enter(1);
        network.snapshot();
        vm.expectRevert(MockVerifier.FalseQuorum.selector);
        network.submitTasks(1, tasks, quorum);
    }

    function test_replay_on_another_chain_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 7);
        vm.chainId(424242);
        vm.expectRevert(MockVerifier.FalseQuorum.selector);
        network.submitTasks(0, tasks, quorum);
    }

    function test_replay_at_another_contract_reverts() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        bytes memory quorum = quorumOf(tasks, 0, 7);
        deploy();
        for (uint256 i = 0; i < 3; ++i) {
            join(i, 30e18);
        }
        network.snapshot();
        vm.expectRevert(MockVerifier.FalseQuorum.selector);
        network.submitTasks(0, tasks, quorum);
    }

    function test_an_epoch_settles_until_the_end_of_the_next() external {
        ITaskNetwork.Task memory last = taskFor(0, "last second");
        ITaskNetwork.Task[] memory late = one(taskFor(0, "late"));
        bytes memory quorum = quorumOf(late, 0, 7);
        enter(1);
        network.snapshot();
        vm.warp(GENESIS + 2 * EPOCH - 1);
        submit(last, 0, 7);
        vm.warp(GENESIS + 2 * EPOCH);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.EpochClosed.selector, 0));
        network.submitTasks(0, late, quorum);
    }

    function test_future_epoch_and_epoch_without_snapshot_revert() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.EpochClosed.selector, 1));
        network.submitTasks(1, tasks, "");
        enter(1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 1));
        network.submitTasks(1, tasks, "");
    }

    /// A key that was replaced still signs for the epoch in which it was weighed.
    function test_the_old_key_signs_in_its_epoch_after_rotation() external {
        enter(1);
        rotate(0, 100);
        submit(taskFor(0, "old key"), 0, 7);
        network.snapshot();
        submit(taskFor(1, "new key"), 1, 8 | 2 | 4);
        ITaskNetwork.Task[] memory tasks = one(taskFor(1, "task"));
        bytes memory quorum = quorumOf(tasks, 1, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.QuorumTooLight.selector, 60, 60));
        network.submitTasks(1, tasks, quorum);
    }
}
