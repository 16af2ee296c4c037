// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm, vm} from "./Test.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {IStakeSource} from "../src/interfaces/IStakeSource.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {ProtocolStake} from "../src/adapters/ProtocolStake.sol";
import {Reads} from "../src/adapters/Reads.sol";
import {StakeSource} from "../src/adapters/StakeSource.sol";
import {MockVerifier} from "./mocks/MockVerifier.sol";
import {Fault} from "./mocks/Restaking.sol";
import {RestakedRig} from "./RestakedFixture.sol";

/// @notice What holds with each protocol.
abstract contract RestakedNetworkTests is RestakedRig {
    /// @dev What an operator counts whose reads answer nonsense.
    function nonsense() internal pure virtual returns (uint256);

    function test_weights_are_what_the_protocol_says() external {
        enrolAll();
        network.snapshot();
        uint256 total = 0;
        for (uint256 i = 0; i < ADMITTED; i++) {
            assertEq(weightIn(0, i), stakeNumber(i), "weight");
            assertEq(network.stakeOf(operator(i)), stakeNumber(i) * UNIT, "stake");
            assertEq(restaked.readIn(operator(i)), 1, "read in epoch 0");
            total += stakeNumber(i);
        }
        assertEq(network.snapshotOf(0).total, total, "total");
    }

    function test_a_quorum_of_restaked_operators_settles_a_task() external {
        enrolAll();
        network.snapshot();
        fund(100e18);
        // 150 + 165 + 180 of 690 is more than two thirds, and 150 + 165 is not.
        ITaskNetwork.Task memory task = taskFor(0, "task");
        ITaskNetwork.Task[] memory tasks = one(task);
        bytes memory light = quorumOf(tasks, 0, 3);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.QuorumTooLight.selector, 315, 460));
        network.submitTasks(0, tasks, light);
        submit(task, 0, 7);
        assertTrue(network.isSettledAs(0, task), "settled");
        // A rejected task costs its performer nothing, here and in the protocol.
        ITaskNetwork.Task memory bad = taskFor(0, "bad");
        bad.approved = false;
        submit(bad, 0, 15);
        enter(1);
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 690, "nobody lost stake");
    }

    function test_registration_takes_no_tokens_and_wants_the_minimum() external {
        refuseEnrolment(0, 0, 1, abi.encodeWithSelector(RestakedTaskNetwork.StakeIsElsewhere.selector));
        // Unknown to the protocol.
        refuseEnrolment(9, 9, 0, abi.encodeWithSelector(ITaskNetwork.StakeTooSmall.selector, 0, LEAST));
        admit(operator(9));
        give(operator(9), 9);
        enter(1);
        refuseEnrolment(9, 9, 0, abi.encodeWithSelector(ITaskNetwork.StakeTooSmall.selector, 9e18, LEAST));
        give(operator(9), 10);
        enter(2);
        enrol(9);
        assertEq(network.stakeOf(operator(9)), 10e18, "the minimum");
        assertEq(token.balanceOf(address(network)), 0, "no tokens");
    }

    function test_deposits_and_withdrawals_are_elsewhere() external {
        enrolAll();
        vm.prank(operator(0));
        vm.expectRevert(RestakedTaskNetwork.StakeIsElsewhere.selector);
        network.addStake(1e18);
        vm.prank(operator(0));
        vm.expectRevert(RestakedTaskNetwork.StakeIsElsewhere.selector);
        network.requestWithdrawal(1e18);
        vm.prank(operator(0));
        network.deregister();
        (uint256 pending,) = network.pendingOf(operator(0));
        assertEq(pending, 0, "nothing waits");
        vm.prank(operator(0));
        vm.expectRevert(RestakedTaskNetwork.StakeIsElsewhere.selector);
        network.withdraw();
        network.snapshot();
        assertEq(network.snapshotOf(0).total, 690 - 150, "without operator 0");
    }

    function test_stake_that_falls_counts_from_the_next_epoch_on() external {
        enrolAll();
        network.snapshot();
        give(operator(1), 60);
        assertEq(weightIn(0, 1), 165, "fixed");
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 1), 60, "fell");
        give(operator(1), 300);
        enter(2);
        network.snapshot();
        assertEq(weightIn(2, 1), 300, "rose");
    }

    function test_below_the_minimum_an_operator_weighs_nothing_and_keeps_its_seat() external {
        enrolAll();
        give(operator(1), 9);
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 1), 0, "below the minimum");
        assertEq(network.operatorCount(), ADMITTED, "seats");
        give(operator(1), 12);
        enter(2);
        network.snapshot();
        assertEq(weightIn(2, 1), 12, "back");
    }

    /// @notice All seats are taken: a newcomer takes that of an operator who weighs nothing, and of nobody else with as much.
    function test_a_newcomer_takes_the_seat_of_an_operator_below_the_minimum() external {
        for (uint256 i = 0; i < 20; i++) {
            if (i >= ADMITTED) admit(operator(i));
            give(operator(i), 150);
        }
        admit(operator(20));
        give(operator(20), 150);
        enter(1);
        for (uint256 i = 0; i < 20; i++) {
            enrol(i);
        }
        refuseEnrolment(20, 20, 0, abi.encodeWithSelector(ITaskNetwork.SeatsFull.selector, 165e18));
        give(operator(7), 3);
        enter(2);
        refuseEnrolment(20, 20, 0, abi.encodeWithSelector(ITaskNetwork.SeatsFull.selector, 165e18));
        network.snapshot();
        enrol(20);
        assertEq(network.operatorCount(), 20, "seats");
        assertEq(network.stakeOf(operator(20)), 150e18, "in");
        assertEq(network.stakeOf(operator(7)), 0, "out");
    }

    /// @notice Whoever reads its own stake alone, and then takes the snapshot, weighs no more than without.
    function test_trap_a_snapshot_weighs_every_seat() external {
        enrolAll();
        enter(1);
        restaked.weigh(only(operator(3)));
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 690, "all");
    }

    /// @notice The reads of several transactions make one snapshot, which reads nobody again.
    function test_weigh_in_steps() external {
        enrolAll();
        give(operator(0), 30);
        enter(1);
        address[] memory some = new address[](3);
        // One without a seat is skipped.
        (some[0], some[1], some[2]) = (operator(0), operator(9), operator(1));
        restaked.weigh(some);
        restaked.weigh(only(operator(2)));
        assertEq(restaked.readIn(operator(0)), 2, "read");
        assertEq(restaked.readIn(operator(3)), 1, "not read");
        assertEq(network.stakeOf(operator(0)), 30e18, "what was read");
        misread(operator(0), Fault.Reverts);
        misread(operator(3), Fault.Reverts);
        network.snapshot();
        assertEq(weightIn(1, 0), 30, "not read again");
        assertEq(weightIn(1, 3), 0, "read by the snapshot");
        // Before the snapshot, a read that failed for a time could have been repeated.
        enter(2);
        restaked.weigh(only(operator(0)));
        assertEq(network.stakeOf(operator(0)), 0, "failed");
        misread(operator(0), Fault.None);
        restaked.weigh(only(operator(0)));
        network.snapshot();
        assertEq(weightIn(2, 0), 30, "repeated");
    }

    function test_trap_a_read_that_fails_stops_no_epoch() external {
        enrolAll();
        aim(address(restaked), abi.encodeCall(restaked.weigh, (only(operator(0)))));
        for (uint256 fault = uint256(Fault.Reverts); fault <= uint256(Fault.Reenters); fault++) {
            misread(operator(1), Fault(fault));
            enter(fault);
            network.snapshot();
            uint256 expected = Fault(fault) == Fault.Reenters ? 165 : 0;
            if (Fault(fault) == Fault.ReturnsNonsense) expected = nonsense();
            assertEq(weightIn(fault, 1), expected, "the weight of the misread");
            assertEq(weightIn(fault, 2), 180, "the others");
        }
    }

    /// @notice If no read answers, there is no snapshot. Once they answer, there is one, also in the same epoch.
    function test_nobody_answers() external {
        enrolAll();
        for (uint256 i = 0; i < ADMITTED; i++) {
            misread(operator(i), Fault.Reverts);
        }
        enter(1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, 1));
        network.snapshot();
        for (uint256 i = 0; i < ADMITTED; i++) {
            misread(operator(i), Fault.None);
        }
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 690, "all");
    }

    /// @notice With too little gas for an honest answer the caller is refused, and nobody counts as without stake.
    function test_trap_the_caller_starves_a_read() external {
        enrolAll();
        enter(1);
        (bool done, bytes memory why) =
            address(restaked).call{gas: 250_000}(abi.encodeCall(restaked.weigh, (only(operator(0)))));
        assertTrue(!done, "refused");
        assertEq(bytes32(bytes4(why)), bytes32(Reads.NotEnoughGas.selector), "why");
        assertEq(network.stakeOf(operator(0)), 150e18, "as before");
    }

    /// @notice Stake that the source could not slash weighs nothing.
    function test_trap_the_source_may_not_slash() external {
        enrolAll();
        authorise(address(0xbad));
        enter(1);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, 1));
        network.snapshot();
        authorise(address(source));
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 690, "again");
    }

    function test_trap_a_stake_beyond_all_bounds_saturates() external {
        enrolAll();
        give(operator(0), uint256(type(uint64).max) * 3);
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 0), type(uint64).max, "the most");
        assertEq(network.snapshotOf(1).total, uint256(type(uint64).max) + 540, "total");
    }

    /// @notice Stakes change between epochs, and anyone reads some of them before each snapshot.
    function testFuzz_weights_are_those_of_a_plain_twin(uint256 seed) external {
        enrolAll();
        for (uint256 epoch = 1; epoch < 6; epoch++) {
            uint256[] memory units = new uint256[](ADMITTED);
            uint256 total = 0;
            for (uint256 i = 0; i < ADMITTED; i++) {
                units[i] = uint256(keccak256(abi.encode(seed, epoch, i))) % 30;
                give(operator(i), units[i]);
                if (units[i] < 10) units[i] = 0;
                total += units[i];
            }
            enter(epoch);
            uint256 readers = uint256(keccak256(abi.encode(seed, epoch)));
            for (uint256 i = 0; i < ADMITTED; i++) {
                if (readers >> i & 1 == 1) restaked.weigh(only(operator(i)));
            }
            if (total == 0) vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, epoch));
            network.snapshot();
            assertEq(network.snapshotOf(epoch).total, total, "total");
            if (total == 0) continue;
            for (uint256 i = 0; i < ADMITTED; i++) {
                assertEq(weightIn(epoch, i), units[i], "weight");
            }
        }
    }

    function test_a_conflict_is_slashed_in_the_protocol() external {
        enrolAll();
        fund(50e18);
        network.snapshot();
        vm.recordLogs();
        assertEq(report("id", 0, 1), 0, "no bounty");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        Vm.Log memory log = logs[logs.length - 1];
        assertEq(log.topics[0], ITaskNetwork.Slashed.selector, "the last event");
        (uint256 epoch, uint256 amount, uint256 bounty) = abi.decode(log.data, (uint256, uint256, uint256));
        assertEq(epoch, 0, "epoch");
        // A fifth of 165.
        assertEq(amount, 33e18, "amount");
        assertEq(bounty, 0, "bounty");
        (uint256 free,) = network.pool();
        assertEq(free, 50e18, "pool");
        assertEq(token.balanceOf(REPORTER), 0, "reporter");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("id")));
        this.reportAgain();
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 1), 132, "from the next epoch on");
        assertEq(weightIn(1, 2), 180, "others");
    }

    function reportAgain() external {
        report("id", 0, 1);
    }

    /// @notice An operator that left its seat, and one that the protocol no longer counts, answer until the window ends.
    function test_stake_answers_after_the_seat_is_given_up() external {
        enrolAll();
        network.snapshot();
        vm.prank(operator(1));
        network.deregister();
        vm.warp(network.slashableUntil(0) - 1);
        report("id", 0, 1);
        assertTrue(network.isSlashed(operator(1), "id"), "slashed");
    }

    /// @notice If the protocol slashes nothing, the report changes nothing and can be repeated.
    function test_trap_a_slashing_that_fails() external {
        enrolAll();
        network.snapshot();
        for (uint256 fault = uint256(Fault.Reverts); fault <= uint256(Fault.ReturnsTooLittle); fault++) {
            misslash(operator(1), Fault(fault));
            vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingAtStake.selector, operator(1)));
            this.reportAgain();
        }
        assertTrue(!network.isSlashed(operator(1), "id"), "not yet");
        misslash(operator(1), Fault.None);
        report("id", 0, 1);
        assertTrue(network.isSlashed(operator(1), "id"), "now");
    }

    /// @notice With too little gas the reporter is refused. Else an operator would report itself so, and lose nothing.
    function test_trap_the_reporter_starves_a_slashing() external {
        enrolAll();
        network.snapshot();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        bytes memory call = abi.encodeCall(
            network.reportConflict, (attested(0, a, signature(a, 0, 1)), attested(0, b, signature(b, 0, 1)))
        );
        for (uint256 gas = 400_000; gas < 1_000_000; gas += 100_000) {
            (bool done,) = address(network).call{gas: gas}(call);
            assertTrue(!done, "refused");
        }
        assertTrue(!network.isSlashed(operator(1), "id"), "not slashed");
    }

    /// @notice A hook of the protocol that runs in a slashing cannot enter the network.
    function test_trap_the_protocol_enters_the_network_again() external {
        enrolAll();
        network.snapshot();
        bytes memory entry = abi.encodeCall(restaked.weigh, (new address[](0)));
        (bool done,) = address(restaked).call{gas: 100_000}(entry);
        assertTrue(done, "else it succeeds");
        aim(address(restaked), entry);
        misslash(operator(1), Fault.Reenters);
        // The mock refuses to slash if it could enter.
        report("id", 0, 1);
        assertTrue(network.isSlashed(operator(1), "id"), "slashed");
    }

    function test_trap_strangers_order_a_slashing() external {
        vm.expectRevert(abi.encodeWithSelector(StakeSource.NotTheNetwork.selector, address(this)));
        source.slash(operator(0), 10_000);
    }

    /// @notice An operator keeps its stake when it leaves. If it could register again at once, it would fill the key table.
    function test_trap_one_seat_an_epoch() external {
        enrolAll();
        vm.prank(operator(0));
        network.deregister();
        refuseEnrolment(0, 100, 0, abi.encodeWithSelector(RestakedTaskNetwork.OneSeatAnEpoch.selector, operator(0)));
        enter(1);
        enrol(0, 100);
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 690, "all");
    }

    /// @notice Before the first epoch, too. The first snapshot reads the stake again.
    function test_registration_before_the_first_epoch() external {
        vm.warp(GENESIS - 1 days);
        enrolAll();
        vm.prank(operator(0));
        network.deregister();
        refuseEnrolment(0, 100, 0, abi.encodeWithSelector(RestakedTaskNetwork.OneSeatAnEpoch.selector, operator(0)));
        give(operator(1), 45);
        vm.warp(GENESIS);
        network.snapshot();
        assertEq(weightIn(0, 1), 45, "read again");
        assertEq(network.snapshotOf(0).total, 45 + 180 + 195, "the others");
    }

    function test_a_pause_stops_registration_and_no_snapshot() external {
        enrol(0);
        vm.prank(ADMIN);
        network.pause();
        refuseEnrolment(1, 1, 0, abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        restaked.weigh(only(operator(0)));
        network.snapshot();
        report("id", 0, 0);
    }

    function test_parameters_of_the_network() external {
        ITaskNetwork.Parameters memory p = parameters();
        IStakeSource some = IStakeSource(address(1));
        for (uint256 i = 0; i < 5; i++) {
            p = parameters();
            p.verifier = new MockVerifier(nextAddress(1));
            bytes32 what;
            if (i == 0) (p.penaltyShare, what) = (1, "penaltyShare");
            if (i == 1) (p.bountyShare, what) = (1, "bountyShare");
            if (i == 2) (some, what) = (IStakeSource(address(0)), "source");
            if (i == 3) (some, p.maximumOperators, what) = (IStakeSource(address(1)), 811, "maximumOperators");
            if (i == 4) p.maximumOperators = 810;
            if (i < 4) vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.ParameterInvalid.selector, what));
            new RestakedTaskNetwork(p, some);
        }
    }

    /// @notice A source serves the network that names it.
    function test_a_source_of_another_network() external {
        vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, "taskNetwork"));
        this.makeAnotherSource();
    }

    function makeAnotherSource() external {
        makeSource(restaked);
    }
}
