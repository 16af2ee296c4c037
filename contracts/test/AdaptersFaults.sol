// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {AdaptersFixture} from "./AdaptersFixture.sol";
import {Members} from "./Members.sol";
import {Fault, Misbehaving} from "./mocks/Restaking.sol";
import {ToySettlement} from "./mocks/TableRegistrar.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";

/// @notice What a protocol's contracts may do to a registrar. Each protocol's tests say how its mocks are driven. Runs
/// over the toy curve.
abstract contract AdaptersFaults is AdaptersFixture {
    uint256 private constant CAP = 1 << 24;

    ToySettlement internal _settlement;

    /// @dev Makes mocks, settlement and registrar.
    function _deploy(StakeRegistrar.Parameters memory parameters) internal virtual;

    /// @dev The contract that is asked for stakes.
    function _source() internal view virtual returns (Misbehaving);

    /// @dev Makes somebody an operator of the network.
    function _join(address operator) internal virtual;

    /// @dev Makes an operator leave the network.
    function _quit(address operator) internal virtual;

    /// @dev Sets an operator's stake in units, or slashes it.
    function _stake(address operator, uint256 weight) internal virtual;

    /// @dev What an operator weighs whose stake is answered with words of ones.
    function _nonsense() internal pure virtual returns (uint256);

    function setUp() public virtual {
        vm.warp(GENESIS);
        vm.roll(1_000);
        _deploy(_parameters());
    }

    function _operator(uint256 i) internal pure returns (address) {
        return address(uint160(0x1000 + i));
    }

    function _enroll(uint256 i, uint256 weight) internal {
        _join(_operator(i));
        _stake(_operator(i), weight);
    }

    function _registerKey(uint256 i) internal {
        bytes memory key = abi.encode(i + 1, ~(i + 1));
        bytes32[] memory digests = Members.only(_settlement.possessionDigest(_operator(i), key));
        bytes memory proof = _settlement.signature(digests, i + 1);
        vm.prank(_operator(i));
        _base.register(key, proof);
    }

    /// @dev Operators with keys, who weigh 100, 101 and so on.
    function _enrollAll(uint256 count) internal {
        for (uint256 i = 0; i < count; i++) {
            _enroll(i, 100 + i);
        }
        _pass(1);
        for (uint256 i = 0; i < count; i++) {
            _registerKey(i);
        }
        _pass(12);
    }

    function _pass(uint256 time) internal {
        vm.warp(block.timestamp + time);
        vm.roll(block.number + (time + 11) / 12);
    }

    function _expectWeights(uint256 count, uint256 except, uint256 weight) internal view {
        uint256[] memory weights = _weights();
        for (uint256 i = 0; i < count; i++) {
            assertEq(weights[i], i == except ? weight : 100 + i, "weight");
        }
    }

    function _weighWith(Fault fault) private {
        _enrollAll(5);
        _source().misbehave(_operator(2), fault);
        _base.weigh(5);
        _expectWeights(5, 2, fault == Fault.ReturnsNonsense ? _nonsense() : 0);
        _beginEpoch();
        assertEq(_settlement.terms().members(), 5, "the epoch begins");
    }

    function test_trap_aReadThatReverts() public {
        _weighWith(Fault.Reverts);
    }

    function test_trap_aReadThatAnswersTooLittle() public {
        _weighWith(Fault.ReturnsTooLittle);
    }

    function test_trap_aReadThatAnswersNonsense() public {
        _weighWith(Fault.ReturnsNonsense);
    }

    /// @notice A contract that burns all gas, or answers with 100 kB, costs no more than the limit of a read.
    function test_trap_readsThatBurnGas() public {
        _enrollAll(20);
        uint256 state = vm.snapshotState();
        _base.weigh(20);
        uint256 honest = vm.snapshotGasLastCall("Adapters", string.concat("weigh 20 operators of ", _name()));
        vm.revertToState(state);
        for (uint256 i = 0; i < 20; i++) {
            _source().misbehave(_operator(i), i % 2 == 0 ? Fault.BurnsGas : Fault.ReturnsTooMuch);
        }
        _base.weigh(20);
        uint256 burnt = vm.snapshotGasLastCall(
            "Adapters", string.concat("weigh 20 operators of ", _name(), ", all reads burn gas")
        );
        assertTrue(burnt > honest && burnt < honest + 20 * uint256(READ_GAS), "bounded");
        assertEq(_total(_weights()), 0, "weights");
        _base.beginEpoch(1);
        assertEq(_settlement.terms().members(), 20, "the epoch begins");
    }

    /// @notice A read is a static call, so what it calls cannot change anything. Each function of the registrar is
    /// tried.
    function test_trap_aReadThatReenters() public {
        _enrollAll(5);
        bytes[7] memory calls = [
            abi.encodeCall(_base.beginEpoch, (100)),
            abi.encodeCall(_base.weigh, (5)),
            abi.encodeCall(_base.register, ("", "")),
            abi.encodeCall(_base.rotate, ("", "")),
            abi.encodeCall(_base.resign, ()),
            abi.encodeCall(_base.evict, (_operator(0))),
            abi.encodeCall(_base.carry, (5, new uint256[](0)))
        ];
        for (uint256 i = 0; i < calls.length; i++) {
            uint256 state = vm.snapshotState();
            _source().misbehave(_operator(2), Fault.Reenters);
            _source().aim(address(_base), calls[i]);
            _base.weigh(3);
            assertEq(_base.lastWeighing().weighed, 3, "weighed");
            assertEq(_base.runningEpoch().epoch, 0, "epoch");
            assertEq(_base.runningEpoch().keys, 5, "keys");
            assertEq(_base.operators(), 5, "operators");
            _base.weigh(2);
            // It answers honestly, and nothing else happened.
            _expectWeights(5, 5, 0);
            vm.revertToState(state);
        }
    }

    function test_trap_aCallerWithTooLittleGas() public {
        _enrollAll(4);
        (uint256 weighed, uint256 refused) = (0, 0);
        for (uint256 gas = 100_000; gas < 700_000; gas += 10_000) {
            uint256 state = vm.snapshotState();
            (bool done,) = address(_base).call{gas: gas}(abi.encodeCall(_base.weigh, (4)));
            if (done) {
                _expectWeights(4, 4, 0);
                weighed++;
            } else {
                refused++;
            }
            vm.revertToState(state);
        }
        assertTrue(weighed != 0 && refused != 0, "both");
    }

    function test_trap_anOperatorQuits() public {
        _enrollAll(3);
        _quit(_operator(1));
        _pass(1);
        _base.weigh(3);
        _expectWeights(3, 1, 0);
    }

    function test_trap_whoQuitGetsNoKey() public {
        _enrollAll(1);
        _enroll(1, 100);
        _quit(_operator(1));
        _pass(1);
        vm.expectRevert(abi.encodeWithSelector(StakeRegistrar.NotOperator.selector, _operator(1)));
        this.registerKey(1);
        // A stranger, whom no registry knows.
        vm.expectRevert(abi.encodeWithSelector(StakeRegistrar.NotOperator.selector, _operator(2)));
        this.registerKey(2);
    }

    function registerKey(uint256 i) external {
        _registerKey(i);
    }

    function test_trap_anOperatorIsSlashedToZero() public {
        _enrollAll(3);
        _beginEpoch();
        _stake(_operator(1), 0);
        _pass(LENGTH / 2);
        _expectWeights(3, 3, 0);
        // From the next weighing on it weighs nothing.
        _pass(LENGTH);
        _base.weigh(3);
        _expectWeights(3, 1, 0);
    }

    /// @notice 1,000 operators, in steps that each fit into a transaction. The mocks read less storage than the
    /// protocols do, so this measures the registrar and the calls.
    function test_aThousandOperators() public {
        _enrollAll(1_000);
        for (uint256 i = 0; i < 4; i++) {
            _base.weigh(250);
            assertTrue(
                vm.snapshotGasLastCall("Adapters", string.concat("weigh 250 operators of ", _name())) < CAP, "a step"
            );
        }
        _expectWeights(1_000, 1_000, 0);
        (uint64 threshold,) = _threshold(_weights());
        _base.beginEpoch(threshold);
        assertEq(_settlement.terms().members(), 1_000, "members");
    }

    /// @dev The protocol.
    function _name() internal pure virtual returns (string memory);
}
