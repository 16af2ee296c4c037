// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {MockProofs, MockVerifier} from "./mocks/MockVerifier.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkStakesTest is NetworkRig {
    function test_register_credits_stake_and_key() external {
        assertEq(join(0, 40e18), 0, "first index");
        assertEq(join(1, 50e18), 1, "second index");
        assertEq(network.stakeOf(operator(1)), 50e18, "stake");
        assertEq(network.keyOf(operator(1)), 1, "key");
        assertEq(network.ownerOfKey(0, 1), operator(1), "owner");
        assertEq(network.operatorCount(), 2, "operators");
        assertEq(token.balanceOf(address(network)), 90e18, "held");
    }

    function test_register_twice_reverts() external {
        join(0, 40e18);
        approve(operator(0), 40e18);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadyRegistered.selector, operator(0)));
        vm.prank(operator(0));
        network.register("", "", 40e18);
    }

    function test_register_without_possession_reverts() external {
        approve(operator(0), 40e18);
        vm.expectRevert(MockVerifier.FalsePossession.selector);
        vm.prank(operator(0));
        network.register(keyNamed(0), abi.encode(MockProofs.possession(operator(1), keyNamed(0))), 40e18);
    }

    function test_register_with_zero_stake_reverts() external {
        bytes memory proof = abi.encode(MockProofs.possession(operator(0), keyNamed(0)));
        vm.expectRevert(ITaskNetwork.ZeroAmount.selector);
        vm.prank(operator(0));
        network.register(keyNamed(0), proof, 0);
    }

    function test_register_below_the_minimum_reverts() external {
        approve(operator(0), LEAST - 1);
        bytes memory proof = abi.encode(MockProofs.possession(operator(0), keyNamed(0)));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.StakeTooSmall.selector, LEAST - 1, LEAST));
        vm.prank(operator(0));
        network.register(keyNamed(0), proof, LEAST - 1);
    }

    /// All seats hold the minimum. A tenth more takes one of them, and one unit less does not.
    function test_register_when_seats_are_full_needs_a_tenth_more() external {
        for (uint256 i = 0; i < 20; ++i) {
            join(i, LEAST);
        }
        uint256 needed = 11e18;
        approve(operator(20), needed - 1);
        bytes memory proof = abi.encode(MockProofs.possession(operator(20), keyNamed(20)));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.SeatsFull.selector, needed));
        vm.prank(operator(20));
        network.register(keyNamed(20), proof, needed - 1);
        join(20, needed);
        assertEq(network.operatorCount(), 20, "as many as before");
        assertEq(network.stakeOf(operator(20)), needed, "in");
        assertEq(network.stakeOf(operator(0)), 0, "out");
    }

    function test_finding_seats_of_the_minimum_are_outbid() external {
        for (uint256 i = 0; i < 20; ++i) {
            join(i, i == 13 ? LEAST : 30e18 + i);
        }
        network.snapshot();
        join(20, 40e18);
        assertEq(network.stakeOf(operator(13)), 0, "evicted");
        (uint256 amount, uint256 payableAt) = network.pendingOf(operator(13));
        assertEq(amount, LEAST, "its stake waits");
        assertEq(payableAt, GENESIS + DELAY, "for the whole delay");
        // It answers for what it signed, and it signed with its weight of the epoch.
        assertEq(verifier.weightsOf(0)[13], 10, "weight");
        report("id", 0, 13);
        (amount,) = network.pendingOf(operator(13));
        assertEq(amount, 8e18, "slashed while it waits");
        // The next lightest is operator 0. It can take a seat back for a tenth more than the lightest seat holds.
        join(21, 33e18);
        assertEq(network.stakeOf(operator(0)), 0, "the next lightest");
        approve(operator(13), 34e18);
        bytes memory proof = abi.encode(MockProofs.possession(operator(13), keyNamed(99)));
        vm.prank(operator(13));
        assertEq(network.register(keyNamed(99), proof, 34e18), 22, "back with a new key");
        assertEq(network.stakeOf(operator(1)), 0, "in place of the lightest");
    }

    /// Whatever the stakes, a newcomer takes the place of a lightest seat or of nobody.
    function test_nobody_but_the_lightest_is_evicted(uint256 seed, uint256 offer) external {
        uint256 least = type(uint256).max;
        for (uint256 i = 0; i < 20; ++i) {
            uint256 stake = LEAST + uint256(keccak256(abi.encode(seed, i))) % 7 * 1e18 + seed % 3;
            join(i, stake);
            if (stake < least) least = stake;
        }
        uint256 needed = (least * 11 + 9) / 10;
        offer = bound(offer, LEAST, 2 * needed);
        approve(operator(20), offer);
        bytes memory proof = abi.encode(MockProofs.possession(operator(20), keyNamed(20)));
        if (offer < needed) vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.SeatsFull.selector, needed));
        vm.prank(operator(20));
        network.register(keyNamed(20), proof, offer);
        uint256 evicted = 0;
        for (uint256 i = 0; i < 20; ++i) {
            (uint256 pending,) = network.pendingOf(operator(i));
            if (pending == 0) continue;
            ++evicted;
            assertEq(pending, least, "a lightest one");
            assertEq(network.stakeOf(operator(i)), 0, "has no seat");
        }
        assertEq(evicted, offer < needed ? 0 : 1, "one or nobody");
        assertEq(network.operatorCount(), 20, "seats");
    }

    function test_an_index_of_another_operator_is_refused() external {
        join(0, LEAST);
        verifier.forceIndex(0);
        approve(operator(1), LEAST);
        bytes memory proof = abi.encode(MockProofs.possession(operator(1), keyNamed(1)));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.IndexReused.selector, 0));
        vm.prank(operator(1));
        network.register(keyNamed(1), proof, LEAST);
    }

    /// Someone who joins and leaves without end cannot make snapshots too expensive: the table is full before that.
    function test_trap_a_table_that_grows_without_end() external {
        verifier.forceIndex(network.maximumKeys() - 1);
        join(0, LEAST);
        assertEq(keyCount(), network.maximumKeys(), "full");
        approve(operator(1), LEAST);
        vm.expectRevert(ITaskNetwork.TableFull.selector);
        vm.prank(operator(1));
        network.register(keyNamed(1), "", LEAST);
        vm.warp(GENESIS + EPOCH);
        vm.expectRevert(ITaskNetwork.TableFull.selector);
        vm.prank(operator(0));
        network.rotateKey(keyNamed(1), "");
        vm.prank(operator(0));
        network.deregister();
    }

    /// A stake whose weight does not fit into 64 bits would stop every snapshot. It is refused when it comes in.
    function test_weight_overflow_is_refused_at_the_door() external {
        uint256 most = (uint256(type(uint64).max) + 1) * UNIT - 1;
        join(0, most);
        approve(operator(0), 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.StakeTooLarge.selector, most + 1));
        vm.prank(operator(0));
        network.addStake(1);
        network.snapshot();
        assertEq(verifier.weightsOf(0)[0], type(uint64).max, "largest weight");
    }

    function test_add_stake_weighs_from_the_next_snapshot() external {
        join(0, 40e18);
        network.snapshot();
        approve(operator(0), 5e18);
        vm.prank(operator(0));
        network.addStake(5e18);
        assertEq(network.stakeOf(operator(0)), 45e18, "stake");
        assertEq(network.snapshotOf(0).total, 40, "this epoch");
        enter(1);
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 45, "next epoch");
    }

    function test_add_stake_unregistered_or_zero_reverts() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotRegistered.selector, operator(0)));
        vm.prank(operator(0));
        network.addStake(1);
        join(0, LEAST);
        vm.expectRevert(ITaskNetwork.ZeroAmount.selector);
        vm.prank(operator(0));
        network.addStake(0);
    }

    function test_rotation_takes_a_new_index_and_leaves_the_old_weightless() external {
        join(0, 40e18);
        join(1, 50e18);
        network.snapshot();
        enter(1);
        assertEq(rotate(0, 100), 2, "new index");
        assertEq(network.keyOf(operator(0)), 2, "current key");
        assertEq(network.ownerOfKey(0, 0), operator(0), "old key answers still");
        assertEq(verifier.weightsOf(0)[0], 40, "old key in the old epoch");
        network.snapshot();
        uint64[] memory weights = verifier.weightsOf(1);
        assertEq(weights.length, 3, "page");
        assertEq(weights[0], 0, "old index");
        assertEq(weights[1], 50, "other");
        assertEq(weights[2], 40, "new index");
    }

    function test_rotation_before_an_epoch_length_reverts() external {
        join(0, LEAST);
        vm.warp(GENESIS + EPOCH - 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.RotatedTooSoon.selector, GENESIS + EPOCH));
        vm.prank(operator(0));
        network.rotateKey(keyNamed(7), "");
    }

    function test_rotation_unregistered_reverts() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotRegistered.selector, operator(0)));
        vm.prank(operator(0));
        network.rotateKey("", "");
    }

    function test_withdrawal_only_after_its_delay() external {
        join(0, 40e18);
        vm.prank(operator(0));
        network.requestWithdrawal(30e18);
        assertEq(network.stakeOf(operator(0)), 10e18, "stake");
        (uint256 amount, uint256 payableAt) = network.pendingOf(operator(0));
        assertEq(amount, 30e18, "pending");
        assertEq(payableAt, GENESIS + DELAY, "payable");
        vm.warp(payableAt - 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.WithdrawalNotDue.selector, payableAt));
        vm.prank(operator(0));
        network.withdraw();
        vm.warp(payableAt);
        vm.prank(operator(0));
        assertEq(network.withdraw(), 30e18, "paid");
        assertEq(token.balanceOf(operator(0)), 30e18, "received");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingPending.selector, operator(0)));
        vm.prank(operator(0));
        network.withdraw();
    }

    function test_a_further_request_has_a_date_of_its_own() external {
        join(0, 40e18);
        vm.prank(operator(0));
        network.requestWithdrawal(10e18);
        vm.warp(GENESIS + 2 days);
        vm.prank(operator(0));
        network.requestWithdrawal(5e18);
        _waits(15e18, GENESIS + 2 days + DELAY, 10e18, GENESIS + DELAY);
        _paysAt(GENESIS + DELAY, 10e18);
        _waits(5e18, GENESIS + 2 days + DELAY, 5e18, GENESIS + 2 days + DELAY);
        _paysAt(GENESIS + 2 days + DELAY, 5e18);
        _waits(0, 0, 0, 0);
        // Both at once, by who comes later.
        vm.warp(GENESIS + 20 days);
        vm.startPrank(operator(0));
        network.requestWithdrawal(2e18);
        vm.warp(GENESIS + 21 days);
        network.requestWithdrawal(3e18);
        vm.stopPrank();
        _paysAt(GENESIS + 21 days + DELAY, 5e18);
        _waits(0, 0, 0, 0);
    }

    /// The oldest amount keeps its date, whatever follows. What followed and is due counts as the oldest from then on.
    function test_a_third_request_waits_with_the_second() external {
        join(0, 40e18);
        vm.startPrank(operator(0));
        network.requestWithdrawal(10e18);
        vm.warp(GENESIS + 1 days);
        network.requestWithdrawal(5e18);
        vm.warp(GENESIS + 2 days);
        network.requestWithdrawal(3e18);
        _waits(18e18, GENESIS + 2 days + DELAY, 10e18, GENESIS + DELAY);
        // All of it is due, and stays so.
        vm.warp(GENESIS + 2 days + DELAY);
        network.requestWithdrawal(1e18);
        vm.stopPrank();
        _waits(19e18, GENESIS + 2 days + 2 * DELAY, 18e18, GENESIS + DELAY);
        _paysAt(GENESIS + 2 days + DELAY, 18e18);
        _paysAt(GENESIS + 2 days + 2 * DELAY, 1e18);
    }

    /// A stranger outbids the seat of an operator whose withdrawal is due in a second. What waited is paid out in a second;
    /// the stake of the lost seat waits for the whole delay.
    function test_trap_outbidding_a_seat_delays_an_older_withdrawal() external {
        for (uint256 i = 0; i < 20; ++i) {
            join(i, i == 0 ? 40e18 : 30e18);
        }
        vm.prank(operator(0));
        network.requestWithdrawal(30e18);
        vm.warp(GENESIS + DELAY - 1);
        join(20, 11e18);
        assertEq(network.stakeOf(operator(0)), 0, "outbid");
        _waits(40e18, GENESIS + 2 * DELAY - 1, 30e18, GENESIS + DELAY);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.WithdrawalNotDue.selector, GENESIS + DELAY));
        vm.prank(operator(0));
        network.withdraw();
        _paysAt(GENESIS + DELAY, 30e18);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.WithdrawalNotDue.selector, GENESIS + 2 * DELAY - 1));
        vm.prank(operator(0));
        network.withdraw();
        _paysAt(GENESIS + 2 * DELAY - 1, 10e18);
    }

    /// @dev What waits for operator 0.
    function _waits(uint256 amount, uint256 payableAt, uint256 first, uint256 firstAt) private view {
        (uint256 found, uint256 when) = network.pendingOf(operator(0));
        assertEq(found, amount, "all that waits");
        assertEq(when, payableAt, "when all of it can be paid out");
        (found, when) = network.firstPendingOf(operator(0));
        assertEq(found, first, "the first part");
        assertEq(when, firstAt, "when it can be paid out");
    }

    /// @dev Operator 0 is paid this amount at this time.
    function _paysAt(uint256 time, uint256 amount) private {
        vm.warp(time);
        uint256 before = token.balanceOf(operator(0));
        vm.prank(operator(0));
        assertEq(network.withdraw(), amount, "paid");
        assertEq(token.balanceOf(operator(0)), before + amount, "received");
    }

    function test_request_that_leaves_less_than_the_minimum_reverts() external {
        join(0, 40e18);
        vm.startPrank(operator(0));
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.StakeTooSmall.selector, LEAST - 1, LEAST));
        network.requestWithdrawal(30e18 + 1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.StakeTooSmall.selector, 0, LEAST));
        network.requestWithdrawal(40e18 + 1);
        vm.expectRevert(ITaskNetwork.ZeroAmount.selector);
        network.requestWithdrawal(0);
        vm.stopPrank();
    }

    function test_requested_stake_loses_its_weight_at_the_next_snapshot() external {
        join(0, 40e18);
        join(1, 40e18);
        network.snapshot();
        vm.prank(operator(0));
        network.requestWithdrawal(30e18);
        assertEq(network.snapshotOf(0).total, 80, "this epoch");
        enter(1);
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 50, "next epoch");
    }

    function test_deregister_frees_the_seat_and_moves_the_last_one() external {
        for (uint256 i = 0; i < 4; ++i) {
            join(i, (10 + i) * 1e18);
        }
        vm.prank(operator(1));
        network.deregister();
        assertEq(network.operatorCount(), 3, "operators");
        assertEq(network.stakeOf(operator(1)), 0, "left");
        assertEq(network.stakeOf(operator(3)), 13e18, "moved");
        assertEq(network.stakeOf(operator(2)), 12e18, "unmoved");
        assertEq(network.keyOf(operator(3)), 3, "moved key");
        (uint256 amount,) = network.pendingOf(operator(1));
        assertEq(amount, 11e18, "pending");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotRegistered.selector, operator(1)));
        vm.prank(operator(1));
        network.deregister();
    }

    function test_an_operator_comes_back_with_a_new_key_while_its_old_stake_waits() external {
        join(0, 40e18);
        vm.prank(operator(0));
        network.deregister();
        approve(operator(0), 20e18);
        bytes memory proof = abi.encode(MockProofs.possession(operator(0), keyNamed(9)));
        vm.prank(operator(0));
        assertEq(network.register(keyNamed(9), proof, 20e18), 1, "new index");
        (uint256 amount,) = network.pendingOf(operator(0));
        assertEq(amount, 40e18, "pending");
        assertEq(network.stakeOf(operator(0)), 20e18, "stake");
    }

    function test_last_operator_leaves_and_no_further_epoch_opens() external {
        join(0, 40e18);
        network.snapshot();
        vm.prank(operator(0));
        network.deregister();
        enter(1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, 1));
        network.snapshot();
        submit(taskFor(0, "still"), 0, 1);
        enter(5);
        vm.prank(operator(0));
        assertEq(network.withdraw(), 40e18, "all of it");
        assertEq(token.balanceOf(address(network)), 0, "nothing left");
    }

    function test_pause_stops_registration_stake_rotation_and_submission_alone() external {
        join(0, 40e18);
        network.snapshot();
        enter(1);
        vm.prank(ADMIN);
        network.pause();
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "paused"));
        vm.startPrank(operator(0));
        vm.expectRevert(Pausable.EnforcedPause.selector);
        network.register("", "", 1);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        network.addStake(1);
        vm.expectRevert(Pausable.EnforcedPause.selector);
        network.rotateKey("", "");
        vm.expectRevert(Pausable.EnforcedPause.selector);
        network.submitTasks(0, tasks, "");
        network.requestWithdrawal(10e18);
        network.deregister();
        vm.stopPrank();
        vm.warp(GENESIS + 1 days + DELAY);
        vm.prank(operator(0));
        assertEq(network.withdraw(), 40e18, "paid in a pause");
    }

    function test_snapshots_claims_and_reports_go_on_in_a_pause() external {
        join(0, 40e18);
        fund(100e18);
        network.snapshot();
        ITaskNetwork.Task memory task = taskFor(0, "before");
        submit(task, 0, 1);
        vm.prank(ADMIN);
        network.pause();
        enter(2);
        network.snapshot();
        tally(0, one(task), masks(1));
        assertEq(claim(0, 0), ATTESTERS + PERFORMER, "claimed");
        assertTrue(report("conflict", 0, 0) != 0, "reported");
        vm.prank(ADMIN);
        network.unpause();
        submit(taskFor(2, "after"), 2, 1);
    }

    function test_only_the_role_pauses() external {
        bytes32 role = network.PAUSER_ROLE();
        vm.expectRevert(
            abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, operator(0), role)
        );
        vm.prank(operator(0));
        network.pause();
        vm.prank(ADMIN);
        network.pause();
        vm.expectRevert(
            abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, operator(0), role)
        );
        vm.prank(operator(0));
        network.unpause();
    }

    function test_each_parameter_is_checked() external {
        _refuses("token", 0);
        _refuses("admin", 1);
        _refuses("epochLength", 2);
        _refuses("slashingWindow", 3);
        _refuses("withdrawalDelay", 4);
        _refuses("unit", 5);
        _refuses("minimumStake", 6);
        _refuses("maximumOperators", 7);
        _refuses("quorumNumerator", 8);
        _refuses("quorumDenominator", 9);
        _refuses("penaltyShare", 10);
        _refuses("slashShare", 11);
        _refuses("slashShare", 12);
        _refuses("bountyShare", 13);
        _refuses("verifier", 14);
    }

    /// A verifier serves the network for which it was made. Calls of another network with the same parameters revert.
    function test_a_verifier_serves_one_network() external {
        ITaskNetwork.Parameters memory p = parameters();
        p.verifier = verifier;
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.ParameterInvalid.selector, bytes32("verifier")));
        new TaskNetwork(p);
        p.verifier = IVerifier(address(0xDEAD));
        vm.expectRevert();
        new TaskNetwork(p);
    }

    function test_only_the_role_pins() external {
        bytes32 role = network.PINNER_ROLE();
        vm.expectRevert(
            abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, operator(0), role)
        );
        vm.prank(operator(0));
        network.pin(2, 5);
        vm.prank(ADMIN);
        network.pin(2, 5);
        assertEq(verifier.pinned(2), 5, "pinned");
    }

    function _refuses(bytes32 what, uint256 which) private {
        ITaskNetwork.Parameters memory p = parameters();
        if (which == 0) p.token = IERC20(address(0xDEAD));
        if (which == 1) p.admin = address(0);
        if (which == 2) p.epochLength = 0;
        if (which == 3) p.slashingWindow = 0;
        if (which == 4) p.withdrawalDelay = WINDOW + 2 * EPOCH - 1;
        if (which == 5) p.unit = 0;
        if (which == 6) p.minimumStake = UNIT - 1;
        if (which == 7) p.maximumOperators = 0;
        if (which == 8) (p.quorumNumerator, p.quorumDenominator) = (49, 100);
        if (which == 9) (p.quorumNumerator, p.quorumDenominator) = (3, 3);
        if (which == 10) p.penaltyShare = 10_001;
        if (which == 11) p.slashShare = 0;
        if (which == 12) p.slashShare = 10_001;
        if (which == 13) p.bountyShare = 5_001;
        p.verifier = new MockVerifier(which == 14 ? address(this) : nextAddress(1));
        try new TaskNetwork(p) {
            revert NotTrue("accepted");
        } catch (bytes memory reason) {
            assertEq(reason, abi.encodeWithSelector(ITaskNetwork.ParameterInvalid.selector, what), "which parameter");
        }
    }
}
