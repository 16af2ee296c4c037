// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {MockProofs, MockVerifier} from "./mocks/MockVerifier.sol";
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
        enter(2);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingOwed.selector, task.id));
        network.tally(0, one(task), _noSigners, new bytes(0));
    }

    function test_a_rejected_task_must_name_the_elected_performer() external {
        ITaskNetwork.Task memory task = taskFor(0, "bad");
        task.approved = false;
        task.performer = (task.performer + 1) % 3;
        ITaskNetwork.Task[] memory tasks = one(task);
        bytes memory quorum = quorumOf(tasks, 0, 7);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotElected.selector, task.id, task.performer));
        network.submitTasks(0, tasks, quorum);
    }

    /// A quorum wants to fine operator 2. It tries ids until one elects operator 2, settles a rejected task with it, and
    /// does so again. Nothing stops it, but the operator pays once in each epoch.
    function test_finding_a_quorum_that_grinds_ids_fines_its_victim_once_an_epoch() external {
        join(3, LEAST);
        uint256 tries = 0;
        uint256 stake = LEAST;
        for (uint256 epoch = 1; epoch < 4; ++epoch) {
            enter(epoch);
            network.snapshot();
            for (uint256 fines = 0; fines < 3; ++tries) {
                ITaskNetwork.Task memory task = taskFor(epoch, bytes32(tries));
                if (network.ownerOfKey(0, task.performer) != operator(3)) continue;
                task.approved = false;
                submit(task, epoch, 7);
                ++fines;
                assertTrue(network.isSettledAs(epoch, task), "settled");
                assertTrue(network.isFined(operator(3), epoch), "fined");
            }
            stake -= stake / 20;
            // The stake is below the minimum after the first fine, so from then on it waits to be paid out.
            (uint256 pending,) = network.pendingOf(operator(3));
            assertEq(network.stakeOf(operator(3)) + pending, stake, "a twentieth an epoch");
            approve(operator(3), LEAST);
            if (epoch < 3) this.comeBack(epoch);
            stake += epoch < 3 ? LEAST : 0;
        }
        assertTrue(tries > 50, "ids that elect a light operator are rare, and easy to find");
    }

    /// Two epochs can settle at the same time. Each has a fine of its own, in either order.
    function test_each_of_two_open_epochs_has_its_own_fine(bool later) external {
        enter(1);
        network.snapshot();
        uint256 victim = taskFor(0, "0").performer;
        for (uint256 k = 0; k < 4; ++k) {
            uint256 epoch = k % 2 == (later ? 1 : 0) ? 0 : 1;
            ITaskNetwork.Task memory task;
            for (uint256 i = 0; task.id == 0 || task.performer != victim; ++i) {
                task = taskFor(epoch, keccak256(abi.encode(k, i)));
            }
            task.approved = false;
            submit(task, epoch, 7);
        }
        assertEq(network.stakeOf(operator(victim)), 90.25e18, "a twentieth, twice");
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
        assertEq(report("twice", 0, 1), 2e18, "bounty");
        assertEq(network.stakeOf(operator(1)), 80e18, "a fifth");
        assertEq(token.balanceOf(REPORTER), 2e18, "paid");
        (uint256 free,) = network.pool();
        assertEq(free, 18e18, "to the pool");
        assertTrue(network.isSlashed(operator(1), "twice"), "marked");
    }

    function test_approval_and_rejection_of_one_result_conflict() external {
        ITaskNetwork.Task memory a = ITaskNetwork.Task("id", 0, "r", true);
        ITaskNetwork.Task memory b = ITaskNetwork.Task("id", 0, "r", false);
        network.reportConflict(attested(0, a, signature(a, 0, 0)), attested(0, b, signature(b, 0, 0)));
        assertEq(network.stakeOf(operator(0)), 80e18, "slashed");
    }

    function test_the_same_digest_twice_is_no_proof() external {
        (ITaskNetwork.Task memory a,) = conflict("id");
        bytes memory proof = signature(a, 0, 0);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(attested(0, a, proof), attested(0, a, proof));
    }

    function test_different_ids_are_no_conflict() external {
        (ITaskNetwork.Task memory a,) = conflict("id");
        (, ITaskNetwork.Task memory b) = conflict("other");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 0, 0);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, second));
    }

    function test_one_operator_must_have_signed_both() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory first = signature(a, 0, 0);
        bytes memory foreign = signature(b, 0, 1);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, foreign));
        // The signature of another key.
        (, bytes32 other) = abi.decode(foreign, (bytes, bytes32));
        vm.expectRevert(MockVerifier.FalseSingle.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, abi.encode(keyNamed(0), other)));
        assertTrue(!network.isSlashed(operator(0), "id"), "no mark");
    }

    /// A signature for one epoch does not pass for one of another.
    function test_a_signature_counts_for_its_epoch_alone() external {
        enter(1);
        network.snapshot();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 1, 0);
        vm.expectRevert(MockVerifier.FalseSingle.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, second));
    }

    /// The chain held one snapshot, an attester signed, and then the chain was reorganised. Each branch has a snapshot
    /// of its own, and what was signed in the other branch proves nothing.
    function test_finding_reorganised_snapshot_slashes_nobody() external {
        enter(1);
        uint256 fork = vm.snapshotState();
        for (uint256 way = 0; way < 4; ++way) {
            vm.prevrandao(bytes32(uint256(1)));
            network.snapshot();
            ITaskNetwork.Task memory before = ITaskNetwork.Task("id", 0, "one", true);
            bytes memory first = signature(before, 1, 0);
            bytes20 id = network.snapshotOf(1).id;
            vm.revertToState(fork);
            // The other branch has another beacon; another weight; another key at an index; or another owner of a key.
            vm.prevrandao(bytes32(uint256(way == 0 ? 2 : 1)));
            if (way == 1) _addStake(1, UNIT);
            if (way == 2) rotate(1, 77);
            if (way == 3) join(9, LEAST);
            network.snapshot();
            assertTrue(network.snapshotOf(1).id != id, "another snapshot");
            ITaskNetwork.Task memory later = ITaskNetwork.Task("id", 1, "two", true);
            bytes memory second = signature(later, 1, 0);
            vm.expectRevert(MockVerifier.FalseSingle.selector);
            network.reportConflict(attested(1, before, first), attested(1, later, second));
            vm.expectRevert(MockVerifier.FalseSingle.selector);
            network.reportConflict(attested(1, later, second), attested(1, before, first));
            vm.revertToState(fork);
            fork = vm.snapshotState();
        }
        // Without a reorganisation both signatures count.
        network.snapshot();
        report("id", 1, 0);
    }

    /// Two operators join in one order, and then in the other. Beacon and weights are the same, but each index has
    /// another key.
    function test_the_order_of_registrations_makes_another_snapshot() external {
        enter(1);
        uint256 fork = vm.snapshotState();
        join(8, LEAST);
        join(9, LEAST);
        network.snapshot();
        bytes20 id = network.snapshotOf(1).id;
        vm.revertToState(fork);
        fork = vm.snapshotState();
        join(9, LEAST);
        join(8, LEAST);
        network.snapshot();
        assertTrue(network.snapshotOf(1).id != id, "another order");
        vm.revertToState(fork);
        join(8, LEAST);
        join(9, LEAST);
        network.snapshot();
        assertEq(bytes32(network.snapshotOf(1).id), bytes32(id), "the same order");
    }

    function test_finding_a_conflict_over_two_epochs_slashes() external {
        enter(1);
        network.snapshot();
        ITaskNetwork.Task memory a = ITaskNetwork.Task("id", 0, "yes", true);
        ITaskNetwork.Task memory b = ITaskNetwork.Task("id", 2, "no", true);
        ITaskNetwork.Task memory c = ITaskNetwork.Task("id", 2, "yes", false);
        uint256 state = vm.snapshotState();
        _report(attested(0, a, signature(a, 0, 0)), attested(1, b, signature(b, 1, 0)));
        assertEq(network.stakeOf(operator(0)), 80e18, "another result");
        vm.revertToState(state);
        _report(attested(1, c, signature(c, 1, 0)), attested(0, a, signature(a, 0, 0)));
        assertEq(network.stakeOf(operator(0)), 80e18, "another verdict");
    }

    /// A key that was replaced and the key that replaced it are both the operator's.
    function test_a_conflict_over_two_keys_of_one_operator_slashes() external {
        enter(1);
        rotate(0, 100);
        network.snapshot();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory first = signature(a, 0, 0);
        bytes memory foreign = signature(b, 1, 1);
        vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(attested(0, a, first), attested(1, b, foreign));
        _report(attested(0, a, first), attested(1, b, signature(b, 1, 100)));
        assertEq(network.stakeOf(operator(0)), 80e18, "slashed");
    }

    /// An attester that follows the rule signs an id in several epochs, each time for the performer of the epoch. No
    /// two of its signatures are a conflict.
    function test_honest_signing_over_epochs_is_no_conflict(bytes32 id, bytes32 result, bool approved, bytes32 beacon)
        external
    {
        enter(1);
        vm.prevrandao(beacon);
        network.snapshot();
        enter(2);
        network.snapshot();
        ITaskNetwork.Attestation[3] memory signed;
        for (uint256 epoch = 0; epoch < 3; ++epoch) {
            ITaskNetwork.Task memory task = ITaskNetwork.Task(id, network.performerOf(epoch, id), result, approved);
            signed[epoch] = attested(epoch, task, signature(task, epoch, 1));
        }
        for (uint256 i = 0; i < 9; ++i) {
            vm.expectRevert(ITaskNetwork.NotConflicting.selector);
            network.reportConflict(signed[i / 3], signed[i % 3]);
        }
    }

    /// Any other change of a task is a conflict if one key signs both, in one epoch or in two.
    function test_any_other_change_is_a_conflict(uint256 seed) external {
        enter(1);
        network.snapshot();
        ITaskNetwork.Task memory a = ITaskNetwork.Task("id", 1, "result", true);
        ITaskNetwork.Task memory b = ITaskNetwork.Task("id", 1, "result", true);
        uint256 change = seed % 3;
        uint256 epoch = seed / 3 % 2;
        if (change == 0) b.result = keccak256(abi.encode(seed));
        if (change == 1) b.approved = false;
        if (change == 2) b.performer = 2;
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, epoch, 0);
        bool honest = change == 2 && epoch == 1;
        if (honest) vm.expectRevert(ITaskNetwork.NotConflicting.selector);
        network.reportConflict(attested(0, a, first), attested(epoch, b, second));
        assertEq(network.stakeOf(operator(0)), honest ? 100e18 : 80e18, "slashed unless honest");
    }

    function test_conflicts_over_two_epochs_until_the_earlier_window_ends() external {
        enter(1);
        network.snapshot();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        ITaskNetwork.Attestation memory first = attested(0, a, signature(a, 0, 0));
        ITaskNetwork.Attestation memory second = attested(1, b, signature(b, 1, 0));
        vm.warp(network.slashableUntil(0));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.OutsideWindow.selector, 0));
        network.reportConflict(first, second);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.OutsideWindow.selector, 0));
        network.reportConflict(second, first);
        vm.warp(network.slashableUntil(0) - 1);
        network.reportConflict(second, first);
    }

    function test_slashed_once_an_id_and_epoch() external {
        report("twice", 0, 1);
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("twice");
        bytes memory first = signature(a, 0, 1);
        bytes memory second = signature(b, 0, 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("twice")));
        network.reportConflict(attested(0, a, first), attested(0, b, second));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("twice")));
        network.reportConflict(attested(0, b, second), attested(0, a, first));
        report("another", 0, 1);
        assertEq(network.stakeOf(operator(1)), 64e18, "twice a fifth");
        assertEq(network.slashableFrom(operator(1), "twice"), 1, "from the next epoch on");
        enter(1);
        network.snapshot();
        enter(2);
        network.snapshot();
        // A conflict of one epoch and of the one before counts for the later one, and those of both are paid for with it.
        ITaskNetwork.Attestation memory old = attested(0, a, first);
        ITaskNetwork.Attestation memory young = attested(1, b, signature(b, 1, 1));
        network.reportConflict(young, old);
        assertEq(network.stakeOf(operator(1)), 51.2e18, "three times");
        assertEq(network.slashableFrom(operator(1), "twice"), 2, "the later epoch");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("twice")));
        network.reportConflict(old, young);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("twice")));
        this.reportAs("twice", 1, 1);
        report("twice", 2, 1);
        assertEq(network.stakeOf(operator(1)), 40.96e18, "four times");
        assertEq(network.slashableFrom(operator(1), "twice"), 3, "the latest epoch");
    }

    /// An operator signs two results of future ids while it has the least stake, and reports itself. Then it comes back
    /// with nearly all of the weight and signs two results of the same ids. It pays for that as anybody does.
    function test_trap_immunity_from_slashing_is_for_sale() external {
        join(3, LEAST);
        enter(1);
        network.snapshot();
        for (uint256 id = 0; id < 8; ++id) {
            report(bytes32(id), 1, 3);
        }
        uint256 mark = network.slashableFrom(operator(3), 0);
        assertEq(mark, 2, "paid for up to epoch 1");
        approve(operator(3), 10_000e18);
        bytes memory key = keyNamed(33);
        bytes memory proof = abi.encode(MockProofs.possession(operator(3), key));
        vm.prank(operator(3));
        network.register(key, proof, 10_000e18);
        enter(2);
        network.snapshot();
        for (uint256 id = 0; id < 8; ++id) {
            uint256 before = network.stakeOf(operator(3));
            (uint256 waits,) = network.pendingOf(operator(3));
            report(bytes32(id), 2, 33);
            assertEq(before - network.stakeOf(operator(3)), (before + waits) / 5, "a fifth of what it has now");
        }
        // Who signs the id in the next epoch again, with one of the two results, has signed a conflict again.
        (ITaskNetwork.Task memory a,) = conflict(0);
        (, ITaskNetwork.Task memory b) = conflict(0);
        enter(3);
        network.snapshot();
        network.reportConflict(attested(2, b, signature(b, 2, 33)), attested(3, a, signature(a, 3, 33)));
        assertEq(network.slashableFrom(operator(3), 0), 4, "up to epoch 3");
    }

    function test_a_key_of_nobody_is_no_proof() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory first = signature(a, 0, 9);
        bytes memory second = signature(b, 0, 9);
        vm.expectRevert(MockVerifier.UnknownKey.selector);
        network.reportConflict(attested(0, a, first), attested(0, b, second));
    }

    function test_a_key_rotated_away_answers_for_its_owner() external {
        enter(1);
        rotate(1, 100);
        report("id", 0, 1);
        assertEq(network.stakeOf(operator(1)), 80e18, "slashed");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("id")));
        this.reportAs("id", 0, 100);
    }

    function test_reports_until_the_window_ends() external {
        uint256 end = GENESIS + 2 * EPOCH + WINDOW;
        assertEq(network.slashableUntil(0), end, "end");
        vm.warp(end - 1);
        report("in time", 0, 0);
        vm.warp(end);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.OutsideWindow.selector, 0));
        this.reportAs("too late", 0, 0);
    }

    function test_an_epoch_without_snapshot_has_no_conflicts() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotSnapshotted.selector, 1));
        this.reportAs("future", 1, 0);
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
        report("left", 0, 0);
        (uint256 amount,) = network.pendingOf(operator(0));
        assertEq(amount, 80e18, "pending");
        vm.warp(payableAt);
        vm.prank(operator(0));
        assertEq(network.withdraw(), 80e18, "the rest");
    }

    /// Whenever a withdrawal is requested, the stake is not paid out while an epoch in which it was weighed can be
    /// reported.
    function test_no_request_escapes_the_window(uint256 when) external {
        when = bound(when, 0, EPOCH - 1);
        vm.warp(GENESIS + when);
        vm.prank(operator(0));
        network.requestWithdrawal(50e18);
        (, uint256 payableAt) = network.pendingOf(operator(0));
        assertTrue(payableAt >= network.slashableUntil(0), "not before");
    }

    function test_slash_takes_of_votes_first_then_of_the_queue() external {
        vm.prank(operator(0));
        network.requestWithdrawal(90e18);
        report("id", 0, 0);
        assertEq(network.stakeOf(operator(0)), 0, "all that voted");
        (uint256 amount,) = network.pendingOf(operator(0));
        assertEq(amount, 80e18, "and ten of what waited");
        assertEq(network.operatorCount(), 2, "seat vacated");
        assertEq(network.stakeOf(operator(2)), 100e18, "others untouched");
    }

    /// What waits with two dates is slashed as if it had one: first what followed.
    function test_slash_takes_of_both_parts_of_the_queue(uint256 first, uint256 second) external {
        first = bound(first, 1, 89e18);
        second = bound(second, 1, 90e18 - first);
        vm.startPrank(operator(0));
        network.requestWithdrawal(first);
        vm.warp(GENESIS + 1000);
        network.requestWithdrawal(second);
        network.deregister();
        vm.stopPrank();
        uint256 before = token.balanceOf(address(network));
        report("id", 0, 0);
        (uint256 all,) = network.pendingOf(operator(0));
        (uint256 early,) = network.firstPendingOf(operator(0));
        assertEq(all, 80e18, "a fifth of all");
        assertEq(early, first < 80e18 ? first : 80e18, "first of what followed");
        vm.warp(GENESIS + 1000 + DELAY);
        vm.prank(operator(0));
        assertEq(network.withdraw(), 80e18, "the rest");
        assertEq(before - token.balanceOf(address(network)), 82e18, "the rest and the bounty");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingPending.selector, operator(0)));
        vm.prank(operator(0));
        network.withdraw();
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
        assertEq(payableAt, GENESIS + 1000 + DELAY, "the 6 from now");
        (amount, payableAt) = network.firstPendingOf(operator(0));
        assertEq(amount, 89e18, "the 89");
        assertEq(payableAt, GENESIS + DELAY, "keep their date");
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
        this.reportAs("gone", 4, 0);
    }

    function test_an_offender_that_reports_itself_loses() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("self");
        bytes memory first = signature(a, 0, 0);
        bytes memory second = signature(b, 0, 0);
        vm.prank(operator(0));
        network.reportConflict(attested(0, a, first), attested(0, b, second));
        assertEq(network.stakeOf(operator(0)) + token.balanceOf(operator(0)), 82e18, "less than before");
    }

    function _report(ITaskNetwork.Attestation memory first, ITaskNetwork.Attestation memory second) private {
        network.reportConflict(first, second);
    }

    function _addStake(uint256 i, uint256 amount) private {
        approve(operator(i), amount);
        vm.prank(operator(i));
        network.addStake(amount);
    }

    /// Operator 3 registers again, with a new key.
    function comeBack(uint256 name) external {
        bytes memory key = keyNamed(1_000 + name);
        bytes memory proof = abi.encode(MockProofs.possession(operator(3), key));
        vm.prank(operator(3));
        network.register(key, proof, LEAST);
    }

    /// An external function, so that `expectRevert` meets one call and not the views that make the proofs.
    function reportAs(bytes32 id, uint256 epoch, uint256 name) external {
        report(id, epoch, name);
    }
}
