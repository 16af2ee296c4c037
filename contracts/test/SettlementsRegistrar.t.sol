// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBn254G2} from "../src/Settlements.sol";
import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";
import {DelayedRegistrar} from "../examples/DelayedRegistrar.sol";
import {TwoOfThree} from "../examples/TwoOfThree.sol";

/// @notice Tests a settlement whose registrar is a timelock, and whose proposer is a multi-signature.
contract SettlementsRegistrarTest is Test, Bn254G2Signing {
    uint256 private constant DELAY = 7 days;
    address private constant STRANGER = address(0xbad);

    address[3] private _owners = [address(0xa), address(0xb), address(0xc)];
    TwoOfThree private _proposer;
    DelayedRegistrar private _registrar;
    Settlement private _settlement;

    function setUp() public {
        vm.warp(1_000_000);
        _proposer = new TwoOfThree(_owners);
        _registrar = new DelayedRegistrar(DELAY, address(_proposer));
        _settlement = new SettlementBn254G2(address(_registrar), 1, 4);
    }

    /// @dev The call that registers a key.
    function _registration() private view returns (bytes memory) {
        bytes memory key = keyOf(5);
        bytes32 digest = _settlement.possessionDigest(address(this), key);
        return abi.encodeCall(Settlement.register, (address(this), key, proofBy(5, Members.only(digest))));
    }

    function _schedule(bytes memory data, uint256 delay) private view returns (bytes memory) {
        return abi.encodeCall(_registrar.schedule, (address(_settlement), 0, data, 0, 0, delay));
    }

    /// @notice Two owners propose a registration, and anyone executes it after the delay. One owner cannot propose, and
    /// nobody can execute earlier.
    function test_aRegistrationTakesEffectAfterTheDelay() public {
        bytes memory data = _registration();
        bytes memory proposal = _schedule(data, DELAY);
        bytes32 id = _registrar.hashOperation(address(_settlement), 0, data, 0, 0);
        vm.prank(_owners[0]);
        _proposer.ask(address(_registrar), proposal);
        assertTrue(!_registrar.isOperation(id), "one owner");
        vm.prank(_owners[2]);
        _proposer.ask(address(_registrar), proposal);
        assertTrue(_registrar.isOperationPending(id), "two owners");
        vm.warp(1_000_000 + DELAY - 1);
        vm.expectRevert();
        _registrar.execute(address(_settlement), 0, data, 0, 0);
        assertEq(_settlement.extent().keys, 0, "not before");
        vm.warp(1_000_000 + DELAY);
        vm.prank(STRANGER);
        _registrar.execute(address(_settlement), 0, data, 0, 0);
        assertEq(_settlement.extent().keys, 1, "after the delay");
    }

    function test_nobodyElseRegisters() public {
        bytes memory data = _registration();
        // Each owner, and the multi-signature itself, without the timelock.
        vm.prank(_owners[0]);
        (bool done,) = address(_settlement).call(data);
        assertTrue(!done, "an owner");
        vm.prank(_owners[0]);
        _proposer.ask(address(_settlement), data);
        vm.prank(_owners[1]);
        bytes memory why = abi.encodeWithSelector(Settlement.NotRegistrar.selector, address(_proposer));
        vm.expectRevert(abi.encodeWithSelector(TwoOfThree.CallFailed.selector, why));
        _proposer.ask(address(_settlement), data);
        // A shorter delay, and a proposal of somebody else.
        bytes memory hasty = _schedule(data, DELAY - 1);
        vm.prank(_owners[0]);
        _proposer.ask(address(_registrar), hasty);
        vm.prank(_owners[0]);
        vm.expectRevert(abi.encodeWithSelector(TwoOfThree.AskedAlready.selector, _owners[0]));
        _proposer.ask(address(_registrar), hasty);
        vm.prank(_owners[1]);
        vm.expectRevert();
        _proposer.ask(address(_registrar), hasty);
        vm.prank(STRANGER);
        vm.expectRevert(abi.encodeWithSelector(TwoOfThree.NotOwner.selector, STRANGER));
        _proposer.ask(address(_registrar), hasty);
        vm.prank(STRANGER);
        (done,) = address(_registrar).call(_schedule(data, DELAY));
        assertTrue(!done, "a stranger");
        assertEq(_settlement.extent().keys, 0, "no key");
    }

    /// @dev Schedules a call of the settlement behind another one, and gives its id.
    function _scheduled(bytes memory data, bytes32 predecessor) private returns (bytes32 id) {
        vm.prank(address(_proposer));
        _registrar.schedule(address(_settlement), 0, data, predecessor, 0, DELAY);
        return _registrar.hashOperation(address(_settlement), 0, data, predecessor, 0);
    }

    /// @dev A part of weights that are all the same.
    function _part(uint64 weight) private pure returns (bytes memory) {
        uint64[] memory weights = new uint64[](2_048);
        for (uint256 i = 0; i < weights.length; i++) {
            weights[i] = weight;
        }
        return Members.packWeights(weights);
    }

    /// @notice If a stranger could execute the second `prepare` first, each member of the first part would get the weight
    /// of one in the second.
    function test_trap_preparedWeightsInAnotherOrder() public {
        bytes memory first = abi.encodeCall(Settlement.prepare, (1, _part(1)));
        bytes memory second = abi.encodeCall(Settlement.prepare, (1, _part(1_000)));
        bytes memory begin = abi.encodeCall(Settlement.begin, (1, bytes(""), 2_000_000, false));
        bytes32 one = _scheduled(first, 0);
        assertEq(_registrar.lastOperation(), one, "the last one");
        vm.prank(address(_proposer));
        vm.expectRevert(abi.encodeWithSelector(DelayedRegistrar.NotInOrder.selector, one));
        _registrar.schedule(address(_settlement), 0, second, 0, 0, DELAY);
        bytes32 two = _scheduled(second, one);
        bytes32 three = _scheduled(begin, two);
        vm.warp(1_000_000 + DELAY);
        vm.startPrank(STRANGER);
        vm.expectRevert(abi.encodeWithSelector(TimelockController.TimelockUnexecutedPredecessor.selector, one));
        _registrar.execute(address(_settlement), 0, second, one, 0);
        vm.expectRevert(abi.encodeWithSelector(TimelockController.TimelockUnexecutedPredecessor.selector, two));
        _registrar.execute(address(_settlement), 0, begin, two, 0);
        _registrar.execute(address(_settlement), 0, first, 0, 0);
        _registrar.execute(address(_settlement), 0, second, one, 0);
        _registrar.execute(address(_settlement), 0, begin, two, 0);
        vm.stopPrank();
        // The settlement takes a part only as it was prepared.
        _settlement.publish(0, _part(1));
        _settlement.publish(1, _part(1_000));
        // What comes later stands behind what was done.
        _scheduled(_registration(), three);
    }

    /// @notice A batch has its place in the order, too.
    function test_trap_aBatchOutOfOrder() public {
        bytes32 one = _scheduled(abi.encodeCall(Settlement.discard, ()), 0);
        address[] memory targets = new address[](1);
        bytes[] memory payloads = new bytes[](1);
        (targets[0], payloads[0]) = (address(_settlement), _registration());
        vm.prank(address(_proposer));
        vm.expectRevert(abi.encodeWithSelector(DelayedRegistrar.NotInOrder.selector, one));
        _registrar.scheduleBatch(targets, new uint256[](1), payloads, 0, 0, DELAY);
        vm.prank(address(_proposer));
        _registrar.scheduleBatch(targets, new uint256[](1), payloads, one, 0, DELAY);
        bytes32 two = _registrar.hashOperationBatch(targets, new uint256[](1), payloads, one, 0);
        assertEq(_registrar.lastOperation(), two, "the batch");
    }

    /// @notice If a `prepare` is cancelled, what stands behind it never begins an epoch without it, and nothing is
    /// scheduled behind what never comes.
    function test_nothingPassesACancelledOperation() public {
        bytes memory prepare = abi.encodeCall(Settlement.prepare, (1, _part(1)));
        bytes memory begin = abi.encodeCall(Settlement.begin, (1, bytes(""), 1, false));
        bytes32 one = _scheduled(abi.encodeCall(Settlement.discard, ()), 0);
        bytes32 two = _scheduled(prepare, one);
        bytes32 three = _scheduled(begin, two);
        bytes memory data = _registration();
        vm.prank(address(_proposer));
        _registrar.cancel(two);
        vm.warp(1_000_000 + DELAY);
        _registrar.execute(address(_settlement), 0, abi.encodeCall(Settlement.discard, ()), 0, 0);
        vm.expectRevert(abi.encodeWithSelector(TimelockController.TimelockUnexecutedPredecessor.selector, two));
        _registrar.execute(address(_settlement), 0, begin, two, 0);
        vm.prank(address(_proposer));
        vm.expectRevert(abi.encodeWithSelector(DelayedRegistrar.WaitsForNothing.selector, three));
        _registrar.schedule(address(_settlement), 0, data, three, 0, DELAY);
        vm.prank(address(_proposer));
        _registrar.cancel(three);
        assertEq(_registrar.lastOperation(), one, "the last one that was not cancelled");
        // The same call again, and another behind it.
        assertEq(_scheduled(prepare, one), two, "scheduled again");
        _scheduled(data, two);
    }
}
