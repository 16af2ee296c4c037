// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {NetworkFixture} from "./NetworkFixture.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {CountingVerifier} from "./mocks/MockVerifier.sol";
import {MockToken} from "./mocks/MockTokens.sol";
import {ToyRig} from "./mocks/ToyRig.sol";

/// @notice What lets a test use more gas than forge gives it.
interface Metering {
    function pauseGasMetering() external;
}

/// @notice 100 operators rotate once a week, and 50 hostile seats rotate every day. Whenever the table is due, somebody
/// carries a part of the seats between the rotations of a day, and the rest after them.
abstract contract Rotating is NetworkFixture {
    uint256 internal constant HONEST = 100;
    uint256 internal constant SEATS = 150;

    uint256 internal renewals;
    uint256 internal longest;
    uint256 internal rotations;

    function parameters() internal view virtual override returns (ITaskNetwork.Parameters memory p) {
        p = super.parameters();
        p.maximumOperators = uint32(SEATS);
    }

    function _snapshotOfTheDay() internal virtual;
    function _rotateOne(uint256 i) internal virtual;
    function _carryAll(address[] memory operators) internal virtual;

    function _liveADay(uint256 day) internal {
        enter(day);
        (uint256 before,,) = network.keyTable();
        _snapshotOfTheDay();
        (uint256 table, uint256 keys, uint256 carried) = network.keyTable();
        if (table != before) ++renewals;
        bool due = carried != 0 || keys >= network.maximumKeys() - 3 * SEATS;
        if (due) _carrySome(0, 75);
        for (uint256 i = 0; i < SEATS; ++i) {
            if (i < HONEST && i % 7 != day % 7) continue;
            _rotateOne(i);
            ++rotations;
        }
        if (due) _carrySome(75, SEATS);
        (, keys,) = network.keyTable();
        if (keys > longest) longest = keys;
    }

    function _carrySome(uint256 from, uint256 to) private {
        address[] memory operators = new address[](to - from);
        for (uint256 i = from; i < to; ++i) {
            operators[i - from] = operator(i);
        }
        _carryAll(operators);
    }
}

/// @notice Ten years, with a verifier that counts.
contract TaskNetworkYearsTest is Rotating {
    uint256 private constant DAYS = 3_650;

    CountingVerifier private _verifier;
    uint256[] private _none;

    function setUp() public {
        token = new MockToken();
        ITaskNetwork.Parameters memory p = parameters();
        _verifier = new CountingVerifier(nextAddress(1));
        p.verifier = IVerifier(address(_verifier));
        network = new TaskNetwork(p);
        vm.warp(GENESIS);
        for (uint256 i = 0; i < SEATS; ++i) {
            approve(operator(i), 20 * UNIT);
            vm.prank(operator(i));
            network.register("", "", 20 * UNIT);
        }
    }

    function _snapshotOfTheDay() internal override {
        network.snapshot();
    }

    function _rotateOne(uint256 i) internal override {
        vm.prank(operator(i));
        network.rotateKey("", "");
    }

    function _carryAll(address[] memory operators) internal override {
        network.carry(operators, _none);
    }

    /// Nobody is ever refused, registrations always have room, and each seat weighs on a key of its own.
    function test_ten_years_of_rotation() external {
        Metering(address(vm)).pauseGasMetering();
        // The calls of four months are one transaction, because forge runs each transaction of a test by itself.
        for (uint256 day = 1; day <= DAYS; day += 120) {
            this.live(day, day + 120 > DAYS ? DAYS : day + 119);
        }
        uint256 expected = 0;
        for (uint256 day = 1; day <= DAYS; ++day) {
            expected += 50;
            for (uint256 i = 0; i < HONEST; ++i) {
                if (i % 7 == day % 7) ++expected;
            }
        }
        assertEq(rotations, expected, "nobody was refused");
        assertTrue(renewals > 600 && renewals < 900, "about every five days");
        assertTrue(longest < network.maximumKeys() - 2 * SEATS, "room for registrations");
    }

    function live(uint256 from, uint256 to) external {
        for (uint256 day = from; day <= to; ++day) {
            _liveADay(day);
        }
        // Stakes are equal, so the weights of the last day are 20 at the seats' indices and 0 elsewhere.
        bytes memory weights = _verifier.lastWeights();
        uint256 weighed = 0;
        for (uint256 i = 0; i < weights.length; i += 8) {
            bytes8 weight;
            assembly {
                weight := mload(add(add(weights, 0x20), i))
            }
            require(weight == 0 || uint64(weight) == 20, "a weight");
            if (weight != 0) ++weighed;
        }
        assertEq(weighed, SEATS, "all seats weigh");
        assertEq(network.snapshotOf(to).total, 20 * SEATS, "total");
    }
}

/// @notice Six weeks, with tables, pages, quorums and signatures that are real but for the curve.
contract TaskNetworkWeeksTest is ToyRig, Rotating {
    uint256 private constant DAYS = 42;

    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < SEATS; ++i) {
            join(i, 20 * UNIT);
        }
        fund(1_000e18);
        snapshot();
    }

    function parameters() internal view override(NetworkFixture, Rotating) returns (ITaskNetwork.Parameters memory) {
        return Rotating.parameters();
    }

    function _snapshotOfTheDay() internal override {
        snapshot();
    }

    function _rotateOne(uint256 i) internal override {
        rotate(i);
    }

    function _carryAll(address[] memory operators) internal override {
        carry(operators);
    }

    function test_six_weeks_of_rotation() external {
        Metering(address(vm)).pauseGasMetering();
        for (uint256 day = 1; day <= DAYS; ++day) {
            this.live(day);
            if (day % 3 == 0) this.check(day);
        }
        assertTrue(renewals >= 4, "renewed");
        assertEq(token.balanceOf(address(network)), liabilities(SEATS), "conserved");
    }

    function live(uint256 day) external {
        _liveADay(day);
    }

    /// Tasks of both open epochs, a conflict over the two, a tally and a claim.
    function check(uint256 day) external {
        settle(day, keccak256(abi.encode("today", day)));
        settle(day - 1, keccak256(abi.encode("yesterday", day)));
        _report(day, operator(HONEST + day));
        bytes[] memory records = new bytes[](1);
        records[0] = signersOf(day);
        ITaskNetwork.Record memory record = network.recordOf(day, records[0]);
        assertTrue(record.amount != 0, "rewarded");
        vm.warp(network.closesAt(day));
        tally(day, _noTasks, records);
        uint256 index = network.performerOf(day, "any");
        address owner = ownerIn(day, index);
        uint256 balance = token.balanceOf(owner);
        claim(day, index);
        uint256 share = uint256(record.amount) * verifier.weightsOf(day)[index] / record.weight;
        assertEq(token.balanceOf(owner) - balance, share, "paid to the owner");
    }

    function _report(uint256 day, address hostile) private {
        ITaskNetwork.Task memory a = ITaskNetwork.Task(bytes32(day), 0, "yes", true);
        ITaskNetwork.Task memory b = ITaskNetwork.Task(bytes32(day), 0, "no", true);
        uint256 stake = network.stakeOf(hostile);
        uint256 secret = secretOf[hostile];
        network.reportConflict(attestation(day, a, secret), attestation(day - 1, b, secret));
        assertEq(network.stakeOf(hostile), stake - stake / 5, "slashed");
    }
}
