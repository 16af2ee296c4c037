// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

/// @notice Renews the key table of a network for four operators: 256 keys, of which the last 8 are for rotations, and keys
/// may be carried from 244 on. The verifier is a mock, which has tables like a real one.
contract TaskNetworkRenewalTest is NetworkRig {
    uint256 private constant MOST = 256;
    uint256 private constant DUE = MOST - 12;
    uint256 private constant REGISTRATIONS = MOST - 8;

    uint256[] private _none;
    uint256 private _name = 1_000;

    function parameters() internal view override returns (ITaskNetwork.Parameters memory p) {
        p = super.parameters();
        p.maximumOperators = 4;
    }

    /// Operators 0 to 2 have seats, with their first keys, and epoch 0 has a snapshot. In epoch 1 the table is one key
    /// below the point from which it is renewed.
    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < 3; ++i) {
            join(i, (20 + i) * UNIT);
        }
        network.snapshot();
        enter(1);
        verifier.skipTo(DUE - 2);
        assertEq(_rotate(0), DUE - 2, "a key of operator 0");
    }

    function _rotate(uint256 i) private returns (uint256) {
        return rotate(i, ++_name);
    }

    function _some(uint256 mask) private pure returns (address[] memory operators) {
        operators = new address[](8);
        for (uint256 i = 0; i < 8; ++i) {
            operators[i] = mask >> i & 1 == 1 ? operator(i) : address(0);
        }
    }

    function _carry(uint256 mask) private returns (uint256) {
        return network.carry(_some(mask), _none);
    }

    function _makeDue() private {
        if (keyCount() < DUE) _rotate(1);
        assertEq(keyCount(), DUE, "due");
    }

    function _table() private view returns (uint256 table) {
        (table,,) = network.keyTable();
    }

    /// Everything that a snapshot says of the seats.
    function _checkSnapshot(uint256 epoch, uint256 table) private view {
        assertEq(network.snapshotOf(epoch).table, table, "table");
        uint64[] memory weights = verifier.weightsOf(epoch);
        uint256 total = 0;
        for (uint256 i = 0; i < 8; ++i) {
            uint256 stake = network.stakeOf(operator(i));
            if (stake == 0) continue;
            uint256 index = network.keyOf(operator(i));
            assertEq(network.ownerOfKey(table, index), operator(i), "owner");
            assertEq(weights[index], stake / UNIT, "weight");
            total += stake / UNIT;
        }
        assertEq(network.snapshotOf(epoch).total, total, "total");
        uint256 sum = 0;
        for (uint256 i = 0; i < weights.length; ++i) {
            sum += weights[i];
        }
        assertEq(sum, total, "nothing else weighs");
    }

    function test_a_renewal_in_steps() external {
        _makeDue();
        assertEq(_carry(1), 1, "operator 0");
        network.snapshot();
        _checkSnapshot(1, 0);
        assertEq(_carry(6), 2, "the others");
        assertEq(_table(), 0, "until the next snapshot");
        enter(2);
        network.snapshot();
        _checkSnapshot(2, 1);
        assertEq(keyCount(), 3, "a short table");
        assertEq(network.keyOf(operator(0)), 0, "in the order in which they were carried");
        assertEq(network.keyOf(operator(2)), 2, "the last");
        // Registration and rotation go on in the new table.
        assertEq(join(3, 40 * UNIT), 3, "a new operator");
        assertEq(_rotate(1), 4, "a new key");
        enter(3);
        network.snapshot();
        _checkSnapshot(3, 1);
    }

    function test_trap_renewed_before_it_is_due() external {
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.RenewalNotDue.selector, DUE - 1, DUE));
        network.carry(_some(7), _none);
        _makeDue();
        assertEq(_carry(7), 3, "due");
        // Once keys are carried, the number of keys does not matter.
        enter(2);
        network.snapshot();
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.RenewalNotDue.selector, 3, DUE));
        network.carry(_some(7), _none);
    }

    function test_trap_carried_twice() external {
        _makeDue();
        address[] memory twice = new address[](3);
        (twice[0], twice[1], twice[2]) = (operator(1), operator(1), operator(1));
        assertEq(network.carry(twice, _none), 1, "once");
        assertEq(_carry(2), 0, "not again");
        assertEq(verifier.count(1), 1, "one key");
        assertEq(_carry(7), 2, "the others");
        assertEq(_carry(0xff), 0, "nobody waits");
    }

    /// A call that carries nobody begins nothing.
    function test_trap_nobody_is_carried() external {
        _makeDue();
        assertEq(_carry(0), 0, "nobody");
        assertEq(_carry(0xf8), 0, "no seats");
        (,, uint256 carried) = network.keyTable();
        assertEq(carried, 0, "nothing begun");
        network.snapshot();
        _checkSnapshot(1, 0);
        enter(2);
        assertEq(_rotate(0), DUE, "a key of the running table alone");
        assertEq(verifier.count(1), 0, "none in the next one");
    }

    /// Hostile operators rotate, leave, come back and register between the steps. None of that makes a step fail, makes a
    /// further one necessary, or gives a seat another's key.
    function test_trap_hostile_operators_between_the_steps() external {
        _makeDue();
        enter(2);
        assertEq(_carry(1), 1, "operator 0");
        // Operator 0 was carried and rotates. Operator 1 was not and does. Operator 2 leaves and comes back.
        _rotate(0);
        _rotate(1);
        vm.prank(operator(2));
        network.deregister();
        join(2, 500, 50 * UNIT);
        join(3, 60 * UNIT);
        assertEq(_carry(0xff), 0, "all have a key in the next table");
        network.snapshot();
        _checkSnapshot(2, 1);
        // The carried key, which is dead, and the four that came.
        assertEq(keyCount(), 5, "keys");
    }

    /// The seats that wait are those that did nothing. Their keys cannot change without being in the next table.
    function test_hostile_calls_before_a_step_leave_the_others(uint256 seed) external {
        join(3, 40 * UNIT);
        enter(2);
        if (keyCount() < DUE) _rotate(3);
        _carry(1);
        bool[4] memory waits = [false, true, true, true];
        for (uint256 k = 0; k < 6; ++k) {
            uint256 i = uint256(keccak256(abi.encode(seed, k))) % 4;
            uint256 act = uint256(keccak256(abi.encode(seed, "act", k))) % 3;
            enter(3 + k);
            if (act == 0 || act == 1 && keyCount() >= REGISTRATIONS) {
                _rotate(i);
            } else if (act == 1) {
                vm.prank(operator(i));
                network.deregister();
                join(i, ++_name, (30 + i) * UNIT);
            } else {
                _carry(1 << i);
            }
            waits[i] = false;
        }
        uint256 waiting = 0;
        for (uint256 i = 0; i < 4; ++i) {
            if (waits[i]) ++waiting;
        }
        uint256 state = vm.snapshotState();
        network.snapshot();
        _checkSnapshot(8, waiting == 0 ? 1 : 0);
        vm.revertToState(state);
        assertEq(_carry(0xff), waiting, "those who did nothing");
        network.snapshot();
        _checkSnapshot(8, 1);
        uint256[] memory seen = new uint256[](keyCount());
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(++seen[network.keyOf(operator(i))], 1, "a key of its own");
        }
    }

    function test_trap_a_seat_that_waits_keeps_the_table() external {
        _makeDue();
        _carry(3);
        for (uint256 epoch = 1; epoch < 4; ++epoch) {
            enter(epoch);
            network.snapshot();
            _checkSnapshot(epoch, 0);
        }
        // Operator 2 leaves. So nobody waits.
        vm.prank(operator(2));
        network.deregister();
        enter(4);
        network.snapshot();
        _checkSnapshot(4, 1);
    }

    function test_everybody_leaves_while_keys_are_carried() external {
        _makeDue();
        _carry(3);
        for (uint256 i = 0; i < 3; ++i) {
            vm.prank(operator(i));
            network.deregister();
        }
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, 1));
        network.snapshot();
        join(3, 40 * UNIT);
        network.snapshot();
        _checkSnapshot(1, 1);
        assertEq(network.keyOf(operator(3)), 2, "behind the two that were carried");
    }

    /// Registrations stop while places for rotations are left, and rotations go on to the end of the table. Nothing stops
    /// leaving, and nothing stops the renewal, which makes room.
    function test_trap_a_full_table() external {
        join(3, 40 * UNIT);
        verifier.skipTo(REGISTRATIONS - 1);
        enter(2);
        vm.prank(operator(3));
        network.deregister();
        assertEq(join(3, 500, 40 * UNIT), REGISTRATIONS - 1, "the last registration");
        vm.prank(operator(3));
        network.deregister();
        approve(operator(3), LEAST);
        vm.expectRevert(ITaskNetwork.TableFull.selector);
        vm.prank(operator(3));
        network.register("", "", LEAST);
        assertEq(_rotate(0), REGISTRATIONS, "a rotation");
        verifier.skipTo(MOST - 1);
        assertEq(_rotate(1), MOST - 1, "the last rotation");
        enter(3);
        vm.expectRevert(ITaskNetwork.TableFull.selector);
        vm.prank(operator(2));
        network.rotateKey("", "");
        assertEq(_carry(0xff), 3, "carried");
        vm.expectRevert(ITaskNetwork.TableFull.selector);
        vm.prank(operator(2));
        network.rotateKey("", "");
        network.snapshot();
        _checkSnapshot(3, 1);
        assertEq(_rotate(2), 3, "room");
        assertEq(join(3, 600, 40 * UNIT), 4, "room");
    }

    /// Suppose all seats rotate whenever they can, and keys are carried in the epoch after the one in which registrations
    /// stopped. Then no rotation is ever refused.
    function test_rotations_never_meet_a_full_table() external {
        join(3, 40 * UNIT);
        for (uint256 epoch = 2; epoch < 200; ++epoch) {
            enter(epoch);
            for (uint256 i = 0; i < 4; ++i) {
                _rotate(i);
            }
            network.snapshot();
            _checkSnapshot(epoch, _table());
            if (keyCount() >= REGISTRATIONS) _carry(0xff);
        }
        assertTrue(_table() >= 2, "renewed several times");
    }

    /// Table 65,535 is the last one. The network goes on with it.
    function test_the_last_table() external {
        _makeDue();
        // The roster's slot is the one that holds table 0 above 244 keys, above no carried key.
        uint256 slot = 0;
        while (uint96(uint256(vm.load(address(network), bytes32(slot)))) != DUE << 32) ++slot;
        uint256 roster = uint256(vm.load(address(network), bytes32(slot)));
        vm.store(address(network), bytes32(slot), bytes32(roster | uint256(65_535) << 64));
        assertEq(_table(), 65_535, "the last table");
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.RenewalNotDue.selector, DUE, DUE));
        network.carry(_some(7), _none);
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 63, "a snapshot");
    }

    // What was settled, earned and signed before a renewal.

    /// Epoch 1 uses table 0 and epoch 2 table 1. Both settle in epoch 2.
    function _renew() private {
        _makeDue();
        fund(1_000e18);
        network.snapshot();
        // Reverse, so that each index means another operator.
        address[] memory operators = new address[](3);
        (operators[0], operators[1], operators[2]) = (operator(2), operator(1), operator(0));
        network.carry(operators, _none);
        enter(2);
        network.snapshot();
        assertEq(network.snapshotOf(1).table, 0, "the epoch before");
        assertEq(network.snapshotOf(2).table, 1, "this epoch");
    }

    function _allOf(uint256 epoch) private view returns (uint256 mask) {
        uint64[] memory weights = verifier.weightsOf(epoch);
        for (uint256 i = 0; i < weights.length; ++i) {
            if (weights[i] != 0) mask |= 1 << i;
        }
    }

    function test_tasks_of_both_tables_settle_side_by_side() external {
        _renew();
        submit(taskFor(2, "new"), 2, _allOf(2));
        submit(taskFor(1, "old"), 1, _allOf(1));
        submit(taskFor(2, "new again"), 2, _allOf(2));
        assertTrue(_allOf(1) != _allOf(2), "other indices");
    }

    /// One index, two epochs, two tables: two operators earned something.
    function test_trap_an_index_that_means_another_key_after_the_renewal() external {
        // Epoch 0 uses table 0, where operator 0 has index 0. Epoch 2 uses table 1, where operator 2 has it.
        fund(100e18);
        submit(taskFor(0, "task 0"), 0, 7);
        _renew();
        submit(taskFor(2, "task 2"), 2, 7);
        enter(4);
        tallyMask(0, 7);
        tallyMask(2, 7);
        assertEq(ownerIn(0, 0), operator(0), "table 0");
        assertEq(ownerIn(2, 0), operator(2), "table 1");
        ITaskNetwork.Share[] memory shares = new ITaskNetwork.Share[](2);
        (shares[0], shares[1]) = (shareOf(0, 0)[0], shareOf(2, 0)[0]);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotEarned.selector, 2, 0));
        network.claim(operator(0), shares);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NotEarned.selector, 0, 0));
        network.claim(operator(2), shares);
        // What operator 0 earned with both keys is paid in one call.
        shares[1] = shareOf(2, 2)[0];
        uint256 share = uint256(ATTESTERS) * 20 / 63;
        assertEq(network.claim(operator(0), shares), 2 * share, "both");
        assertEq(token.balanceOf(operator(0)), 2 * share, "paid");
        assertEq(claim(2, 0), uint256(ATTESTERS) * 22 / 63, "operator 2");
        assertEq(network.paidOf(0, 0), share, "by epoch and index");
        assertEq(network.paidOf(2, 0), uint256(ATTESTERS) * 22 / 63, "by epoch and index");
    }

    /// In each epoch, an index of its own table is elected, and the owner of that key pays.
    function test_trap_a_performer_of_the_old_table_is_penalised() external {
        _renew();
        for (uint256 epoch = 1; epoch < 3; ++epoch) {
            ITaskNetwork.Task memory task = taskFor(epoch, "bad");
            for (uint256 i = 0; ownerIn(epoch, task.performer) != operator(0); ++i) {
                task = taskFor(epoch, keccak256(abi.encode(epoch, i)));
            }
            task.approved = false;
            uint256 before = network.stakeOf(operator(0));
            submit(task, epoch, _allOf(epoch));
            assertEq(network.stakeOf(operator(0)), before - before / 20, "the owner of the key");
        }
        assertEq(network.stakeOf(operator(2)), 22 * UNIT, "nobody else");
    }

    /// An operator signs an id with its key in the old table, and otherwise in the new one, with the same key.
    function test_trap_a_conflict_over_a_renewal() external {
        _renew();
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        uint256 state = vm.snapshotState();
        network.reportConflict(attested(1, a, signature(a, 1, 2)), attested(2, b, signature(b, 2, 2)));
        assertTrue(network.isSlashed(operator(2), "id"), "the same key");
        vm.revertToState(state);
        // Another key of the operator, which only the new table holds.
        enter(3);
        rotate(2, 700);
        network.snapshot();
        network.reportConflict(attested(3, b, signature(b, 3, 700)), attested(1, a, signature(a, 1, 2)));
        assertTrue(network.isSlashed(operator(2), "id"), "another key");
        // A key that was never carried.
        network.reportConflict(attested(0, a, signature(a, 0, 0)), attested(3, b, signature(b, 3, _key0)));
        assertTrue(network.isSlashed(operator(0), "id"), "a key of the old table");
    }

    /// Operator 0's second key.
    uint256 private constant _key0 = 1_001;

    /// However often the table is renewed in the window, an old key answers for its owner.
    function test_trap_an_old_key_after_many_renewals() external {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("id");
        uint256 state;
        for (uint256 epoch = 1; epoch < 5; ++epoch) {
            enter(epoch);
            if (epoch != 1) {
                verifier.skipTo(DUE - 1);
                _rotate(0);
            } else {
                _makeDue();
            }
            _carry(7);
            network.snapshot();
            assertEq(_table(), epoch, "a renewal in each epoch");
        }
        assertTrue(block.timestamp < network.slashableUntil(0), "in the window");
        // Operator 2's key was carried four times, and operator 0's first one never.
        state = vm.snapshotState();
        report("id", 0, 2);
        assertTrue(network.isSlashed(operator(2), "id"), "carried");
        report("id", 0, 0);
        assertTrue(network.isSlashed(operator(0), "id"), "not carried");
        vm.revertToState(state);
        network.reportConflict(attested(0, a, signature(a, 0, 2)), attested(4, b, signature(b, 4, 2)));
        assertTrue(network.isSlashed(operator(2), "id"), "over four renewals");
    }

    /// The stake of an operator that left before the renewal answers in its queue, and its rewards stay.
    function test_an_operator_that_was_not_carried_keeps_rewards_and_liability() external {
        fund(100e18);
        submit(taskFor(0, "task"), 0, 7);
        vm.prank(operator(2));
        network.deregister();
        _renewWithout2();
        tallyMask(0, 7);
        assertEq(claim(0, 2), uint256(ATTESTERS) * 22 / 63, "its share");
        report("id", 0, 2);
        (uint256 pending,) = network.pendingOf(operator(2));
        assertEq(pending, 22 * UNIT * 4 / 5, "slashed");
    }

    function _renewWithout2() private {
        _makeDue();
        _carry(7);
        enter(2);
        network.snapshot();
        assertEq(_table(), 1, "renewed");
    }

    /// What was carried, and in which order, decides what indices mean. So it is in the snapshot's id.
    function test_the_order_of_carried_keys_makes_another_snapshot() external {
        _makeDue();
        uint256 fork = vm.snapshotState();
        bytes20[3] memory ids;
        for (uint256 way = 0; way < 3; ++way) {
            // Equal stakes, so that the weights are the same.
            _level();
            address[] memory operators = new address[](3);
            (operators[0], operators[1], operators[2]) = (operator(0), operator(1), operator(2));
            if (way == 1) (operators[0], operators[1]) = (operators[1], operators[0]);
            if (way != 2) network.carry(operators, _none);
            network.snapshot();
            ids[way] = network.snapshotOf(1).id;
            vm.revertToState(fork);
            fork = vm.snapshotState();
        }
        assertTrue(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "three snapshots");
    }

    function _level() private {
        for (uint256 i = 0; i < 2; ++i) {
            approve(operator(i), (2 - i) * UNIT);
            vm.prank(operator(i));
            network.addStake((2 - i) * UNIT);
        }
    }

    function test_keys_are_carried_in_a_pause() external {
        _makeDue();
        vm.prank(ADMIN);
        network.pause();
        assertEq(_carry(7), 3, "carried");
        network.snapshot();
        _checkSnapshot(1, 1);
    }

    function test_an_unknown_table_has_no_owners() external view {
        assertEq(network.ownerOfKey(0, 0), operator(0), "table 0");
        assertEq(network.ownerOfKey(1, 0), address(0), "table 1");
        assertEq(network.ownerOfKey(0, 1 << 32), address(0), "an index beyond any table");
        assertEq(network.ownerOfKey(1 << 16, 0), address(0), "a table beyond any");
    }
}
