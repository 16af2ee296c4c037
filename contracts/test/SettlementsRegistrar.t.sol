// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBn254G2} from "../src/Settlements.sol";
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
}
