// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {AdaptersToyFixture} from "./AdaptersFixture.sol";
import {TableRegistrar, ToySettlement} from "./mocks/TableRegistrar.sol";
import {Head} from "../src/Head.sol";
import {Settlement} from "../src/Settlement.sol";
import {ProtocolStake} from "../src/adapters/ProtocolStake.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";

/// @notice Tests what all stake registrars share, over the toy curve and with stakes from a table.
contract AdaptersRegistrarTest is AdaptersToyFixture {
    // Who gets a key.

    function test_trap_whoIsNoOperatorGetsNoKey() public {
        _refuseKey(
            0, _registrar.register.selector, abi.encodeWithSelector(StakeRegistrar.NotOperator.selector, _operator(0))
        );
    }

    function test_trap_tooLittleStakeForAKey() public {
        _registrar.set(_operator(0), 10 * UNIT - 1);
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.TooLittleStake.selector, 9, 10);
        _refuseKey(0, _registrar.register.selector, why);
        _join(1, 10);
        _registrar.set(_operator(1), 10 * UNIT - 1);
        vm.warp(GENESIS);
        _registrar.beginEpoch(9);
        _refuseKey(1, _registrar.rotate.selector, why);
    }

    function test_trap_anOperatorHasOneLiveKey() public {
        _join(0, 100);
        _refuseKey(
            0, _registrar.register.selector, abi.encodeWithSelector(StakeRegistrar.SeatTaken.selector, _operator(0))
        );
        _refuseKey(1, _registrar.rotate.selector, abi.encodeWithSelector(StakeRegistrar.NoSeat.selector, _operator(1)));
        _refuse(
            _operator(1),
            abi.encodeCall(_registrar.resign, ()),
            abi.encodeWithSelector(StakeRegistrar.NoSeat.selector, _operator(1))
        );
    }

    /// @notice An operator cannot fill the table, by rotating or by leaving and coming back.
    function test_trap_oneKeyAnEpoch() public {
        _join(0, 100);
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.OneKeyAnEpoch.selector, 0);
        _refuseKey(0, _registrar.rotate.selector, why);
        vm.prank(_operator(0));
        _registrar.resign();
        _refuseKey(0, _registrar.register.selector, why);
        _join(1, 100);
        _beginEpoch();
        _register(0);
        _rotate(1);
        why = abi.encodeWithSelector(StakeRegistrar.OneKeyAnEpoch.selector, 1);
        _refuseKey(0, _registrar.rotate.selector, why);
        _refuseKey(1, _registrar.rotate.selector, why);
    }

    /// @notice A key of another owner, and a proof that names another owner, are refused.
    function test_trap_theKeyOfSomebodyElse() public {
        _join(0, 100);
        _registrar.set(_operator(1), 100 * UNIT);
        (bytes memory key, bytes memory proof) = _keyOf(_operator(0), 77);
        vm.prank(_operator(1));
        vm.expectRevert();
        _registrar.register(key, proof);
        (key, proof) = _keyOf(_operator(1), 1);
        vm.prank(_operator(1));
        vm.expectRevert();
        _registrar.register(key, proof);
        assertEq(_registrar.operators(), 1, "operators");
        assertEq(_registrar.runningEpoch().keys, 1, "keys");
    }

    function test_trap_allSeatsTaken() public {
        StakeRegistrar.Parameters memory parameters = _parameters();
        parameters.mostOperators = 2;
        _settlement = new ToySettlement(_later(1));
        _registrar = new TableRegistrar(_settlement, parameters);
        _joinAll(2);
        _registrar.set(_operator(2), 100 * UNIT);
        _refuseKey(2, _registrar.register.selector, abi.encodeWithSelector(StakeRegistrar.NoSeatFree.selector, 2));
        vm.prank(_operator(0));
        _registrar.resign();
        _register(2);
    }

    function test_trap_parametersOutOfBounds() public {
        for (uint256 i = 0; i < 7; i++) {
            StakeRegistrar.Parameters memory parameters = _parameters();
            if (i == 0) parameters.epochLength = 0;
            if (i == 1) parameters.unit = 0;
            if (i == 2) parameters.leastWeight = 0;
            if (i == 3) parameters.mostOperators = 8_193;
            if (i == 4) parameters.numerator = 3;
            if (i == 5) (parameters.numerator, parameters.denominator) = (4_999, 9_999);
            Settlement settlement = new ToySettlement(i == 6 ? address(this) : _later(1));
            string memory what =
                ["epochLength", "unit", "leastWeight", "mostOperators", "numerator", "numerator", "settlement"][i];
            vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, what));
            new TableRegistrar(settlement, parameters);
        }
    }

    // When an epoch begins.

    function test_trap_noEpochBeforeGenesis() public {
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.TooEarly.selector, GENESIS);
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (1)), why);
        _refuse(STRANGER, abi.encodeCall(_registrar.weigh, (1)), why);
        vm.warp(GENESIS);
        vm.prank(STRANGER);
        _registrar.beginEpoch(1);
    }

    function test_trap_aStrangerBeginsTwice() public {
        _joinAll(3);
        vm.warp(GENESIS);
        vm.prank(STRANGER);
        _registrar.beginEpoch(102);
        _enter();
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.TooEarly.selector, GENESIS + LENGTH);
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (102)), why);
        vm.warp(GENESIS + LENGTH - 1);
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (102)), why);
        vm.warp(GENESIS + LENGTH);
        vm.prank(STRANGER);
        _registrar.beginEpoch(102);
        assertEq(_settlement.terms().epoch(), 2, "epoch");
    }

    /// @notice Weights stay as they are while the settlement waits for `enter`.
    function test_trap_notWhileTheSettlementWaits() public {
        _joinAll(3);
        _beginEpoch();
        vm.warp(GENESIS + LENGTH);
        _refuse(
            STRANGER,
            abi.encodeCall(_registrar.beginEpoch, (102)),
            abi.encodeWithSelector(Settlement.EpochNotEntered.selector, 1)
        );
        _enter();
        _registrar.beginEpoch(102);
    }

    // What members weigh.

    /// @notice Weights, the required weight and `enough`, compared with a plain computation over random stakes.
    function testFuzz_weightsAreThoseOfThePlainTwin(uint256 seed, uint256 count, uint256 step) public {
        count = bound(count, 1, 13);
        uint256[] memory expected = new uint256[](count);
        for (uint256 i = 0; i < count; i++) {
            _join(i, 10);
            seed = uint256(keccak256(abi.encode(seed)));
            // Stakes of all sizes, from none to more than saturates.
            uint256 stake = seed >> (seed % 256);
            _registrar.set(_operator(i), stake);
            if (seed % 7 == 0) {
                vm.prank(_operator(i));
                _registrar.resign();
            } else {
                expected[i] = stake / UNIT > type(uint64).max ? type(uint64).max : stake / UNIT;
            }
        }
        vm.warp(GENESIS);
        step = bound(step, 1, 5);
        for (uint256 i = 0; i < count; i += step) {
            _registrar.weigh(step);
        }
        uint256[] memory weights = _weights();
        assertEq(abi.encode(weights), abi.encode(expected), "weights");
        (uint64 threshold, uint256 enough) = _threshold(expected);
        _registrar.beginEpoch(threshold);
        assertEq(abi.encode(_weights()), abi.encode(expected), "weights stay");
        Head terms = _settlement.terms();
        assertEq(terms.members(), count, "members");
        assertEq(terms.required(), _required(expected), "required");
        assertEq(terms.enough(), enough, "enough");
        // The settlement has the same weights: it makes a page of these bytes alone.
        _settlement.publish(0, _registrar.weights());
    }

    function test_aStakeIsRoundedDown() public {
        _joinAll(2);
        _registrar.set(_operator(0), 20 * UNIT - 1);
        _registrar.set(_operator(1), UNIT - 1);
        vm.warp(GENESIS);
        _registrar.beginEpoch(19);
        assertEq(_weights()[0], 19, "rounded down");
        assertEq(_weights()[1], 0, "less than a unit");
    }

    /// @notice Stakes that are too large weigh 2^64 - 1, and sums of them do not overflow.
    function test_trap_sumsOfTheLargestStakes() public {
        uint256 count = 40;
        for (uint256 i = 0; i < count; i++) {
            _registrar.set(_operator(i), i % 2 == 0 ? type(uint256).max : UNIT << 64);
            _register(i);
        }
        vm.warp(GENESIS);
        _registrar.beginEpoch(type(uint64).max);
        Head terms = _settlement.terms();
        assertEq(terms.required(), count * type(uint64).max * 2 / 3 + 1, "required");
        assertEq(terms.enough(), 27, "enough");
    }

    /// @notice If nobody has stake, the epoch begins, and no quorum reaches what it requires.
    function test_trap_nobodyHasStake() public {
        _joinAll(3);
        for (uint256 i = 0; i < 3; i++) {
            _registrar.set(_operator(i), 0);
        }
        vm.warp(GENESIS);
        _registrar.beginEpoch(1);
        _enter();
        assertEq(_head.required(), 1, "required");
        assertEq(_head.enough(), type(uint24).max, "enough");
        bytes memory why = abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 0, 1);
        (bool done, bytes memory answer) = _settleBy(_firstSecrets(3));
        assertTrue(!done, "settled");
        assertEq(answer, why, "why");
    }

    /// @notice A threshold that is not the best one would make `enough` larger, and everybody would have to pass weights.
    function test_trap_aStrangerPassesABadThreshold() public {
        _join(0, 10);
        _join(1, 20);
        _join(2, 30);
        _join(3, 40);
        vm.warp(GENESIS);
        // 67 are required, so the heaviest member decides.
        bytes4 why = StakeRegistrar.NotTheThreshold.selector;
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (1)), abi.encodeWithSelector(why, 1, 0, 0, 67));
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (39)), abi.encodeWithSelector(why, 39, 60, 60, 67));
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (41)), abi.encodeWithSelector(why, 41, 100, 100, 67));
        _refuse(STRANGER, abi.encodeCall(_registrar.beginEpoch, (0)), abi.encodeWithSelector(why, 0, 0, 0, 67));
        _registrar.beginEpoch(40);
        assertEq(_settlement.terms().enough(), 4, "enough");
    }

    /// @notice Once everybody is weighed, stake that moves does not make the threshold wrong.
    function test_trap_stakeMovesBeforeTheThresholdArrives() public {
        _joinAll(3);
        vm.warp(GENESIS);
        _registrar.weigh(3);
        _registrar.set(_operator(2), 5 * UNIT);
        _registrar.beginEpoch(102);
        assertEq(_weights()[2], 102, "the weight of the weighing");
    }

    // A weighing in steps.

    function test_trap_nobodyMovesWhileAWeighingIsUnderWay() public {
        _joinAll(5);
        _registrar.set(_operator(9), 100 * UNIT);
        _beginEpoch();
        _enter();
        vm.warp(GENESIS + LENGTH);
        _registrar.weigh(2);
        uint256 until = GENESIS + LENGTH - 1 + 1 hours;
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.WeighingUnderWay.selector, until);
        _refuseKey(9, _registrar.register.selector, why);
        _refuseKey(0, _registrar.rotate.selector, why);
        _refuseKey(4, _registrar.rotate.selector, why);
        _refuse(_operator(0), abi.encodeCall(_registrar.resign, ()), why);
        vm.warp(until);
        _refuseKey(0, _registrar.rotate.selector, why);
        // The weighing is forgotten after its time: the next step starts with the first key again.
        vm.warp(until + 1);
        _rotate(0);
        _registrar.weigh(1);
        assertEq(_registrar.lastWeighing().weighed, 1, "weighed");
        assertEq(_registrar.lastWeighing().keys, 6, "keys");
        assertEq(_registrar.lastWeighing().captured, until, "captured");
        _registrar.weigh(99);
        assertEq(_weights()[0], 0, "the dead key");
        assertEq(_weights()[5], 100, "the new key");
    }

    function test_aWeighingOfAllDoesNothingMore() public {
        _joinAll(5);
        vm.warp(GENESIS);
        _registrar.weigh(5);
        _registrar.set(_operator(0), 1_000 * UNIT);
        _registrar.weigh(5);
        assertEq(_weights()[0], 100, "weighed once");
        assertEq(_registrar.lastWeighing().total, 510, "total");
    }

    /// @notice Rotation and leaving count from the next epoch on.
    function test_trap_anOperatorLeaves() public {
        _joinAll(3);
        _beginEpoch();
        _enter();
        vm.prank(_operator(2));
        _registrar.resign();
        _rotate(0);
        assertEq(_weights()[2], 102, "weighs in the running epoch");
        (bool done,) = _settleBy(_firstSecrets(3));
        assertTrue(done, "settles in the running epoch");
        _beginEpoch();
        _enter();
        uint256[] memory weights = _weights();
        assertEq(weights.length, 4, "indices");
        assertEq(weights[0] + weights[2], 0, "dead keys");
        assertEq(weights[1], 101, "stays");
        assertEq(weights[3], 100, "rotated");
        assertEq(_registrar.operators(), 2, "operators");
    }

    // Seats of those who have nothing at stake.

    function test_trap_evictWhoeverWeighsNothing() public {
        _joinAll(3);
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.NotWeightless.selector, _operator(0));
        // Nobody was weighed yet.
        _refuse(STRANGER, abi.encodeCall(_registrar.evict, (_operator(0))), why);
        _registrar.set(_operator(0), 0);
        _beginEpoch();
        _enter();
        // Registered after the weighing.
        _join(3, 100);
        why = abi.encodeWithSelector(StakeRegistrar.NotWeightless.selector, _operator(3));
        _refuse(STRANGER, abi.encodeCall(_registrar.evict, (_operator(3))), why);
        // Has stake.
        why = abi.encodeWithSelector(StakeRegistrar.NotWeightless.selector, _operator(1));
        _refuse(STRANGER, abi.encodeCall(_registrar.evict, (_operator(1))), why);
        why = abi.encodeWithSelector(StakeRegistrar.NoSeat.selector, STRANGER);
        _refuse(STRANGER, abi.encodeCall(_registrar.evict, (STRANGER)), why);
        uint256 before = vm.snapshotState();
        vm.prank(STRANGER);
        _registrar.evict(_operator(0));
        assertEq(_registrar.operators(), 3, "operators");
        assertEq(_registrar.seatOf(_operator(0)).place, 0, "seat");
        vm.revertToState(before);
        // A weighing has begun to overwrite the weights, and even after its time they are not those of the epoch.
        vm.warp(GENESIS + LENGTH);
        _registrar.weigh(1);
        vm.warp(GENESIS + LENGTH + 2 hours);
        why = abi.encodeWithSelector(StakeRegistrar.WeightsReplaced.selector);
        _refuse(STRANGER, abi.encodeCall(_registrar.evict, (_operator(0))), why);
    }
}
