// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {FeeToken, ReentrantToken} from "./mocks/MockTokens.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

contract TaskNetworkFeeTokenTest is NetworkRig {
    function setUp() public override {
        super.setUp();
        token = new FeeToken();
        deploy();
    }

    function test_what_arrives_is_credited() external {
        join(0, 100e18);
        assertEq(network.stakeOf(operator(0)), 99e18, "stake");
        approve(operator(0), 10e18);
        vm.prank(operator(0));
        network.addStake(10e18);
        assertEq(network.stakeOf(operator(0)), 98e18 + 10.9e18, "added");
        fund(50e18);
        (uint256 free,) = network.pool();
        assertEq(free, 49.5e18, "funded");
        assertEq(token.balanceOf(address(network)), liabilities(1), "nothing made");
    }

    function test_the_fee_of_a_payout_is_the_receivers() external {
        join(0, 100e18);
        join(1, 100e18);
        network.snapshot();
        vm.prank(operator(0));
        network.deregister();
        vm.warp(GENESIS + DELAY);
        vm.prank(operator(0));
        network.withdraw();
        assertEq(token.balanceOf(operator(0)), 99e18 - 0.99e18, "less the fee");
        assertEq(token.balanceOf(address(network)), liabilities(2), "others untouched");
    }
}

contract TaskNetworkReentrantTokenTest is NetworkRig {
    function setUp() public override {
        super.setUp();
        token = new ReentrantToken();
        deploy();
        join(0, 100e18);
        join(1, 100e18);
        network.snapshot();
        fund(100e18);
    }

    function test_withdraw_cannot_be_entered_again() external {
        vm.prank(operator(0));
        network.deregister();
        enter(6);
        _arm(abi.encodeCall(network.withdraw, ()));
        vm.prank(operator(0));
        network.withdraw();
        _refused();
        assertEq(token.balanceOf(operator(0)), 100e18, "once");
    }

    function test_fund_cannot_be_entered_by_fund() external {
        _arm(abi.encodeCall(network.fund, (1e18)));
        fund(5e18);
        _refused();
    }

    function test_add_stake_cannot_be_entered_by_withdraw() external {
        approve(operator(0), 5e18);
        _arm(abi.encodeCall(network.withdraw, ()));
        vm.prank(operator(0));
        network.addStake(5e18);
        _refused();
        assertEq(network.stakeOf(operator(0)), 105e18, "credited once");
    }

    function test_register_cannot_be_entered_by_register() external {
        _arm(abi.encodeCall(network.register, (keyNamed(9), "", 20e18)));
        join(2, 20e18);
        _refused();
    }

    function test_claims_cannot_be_entered_by_claims() external {
        ITaskNetwork.Task memory task = taskFor(0, "task");
        submit(task, 0, 3);
        enter(2);
        tally(0, one(task), masks(3));
        _arm(abi.encodeCall(network.claim, (operator(1), shareOf(0, 1))));
        claim(0, 0);
        _refused();
        _arm(abi.encodeCall(network.tally, (0, _noTasks, masks(3), packed(_earned[0]))));
        claim(0, 1);
        _refused();
        assertEq(token.balanceOf(address(network)), liabilities(2), "balanced");
    }

    function test_report_cannot_be_entered_by_submission_nor_snapshot() external {
        enter(1);
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "task"));
        _arm(abi.encodeCall(network.submitTasks, (0, tasks, quorumOf(tasks, 0, 3))));
        report("id", 0, 0);
        _refused();
        _arm(abi.encodeCall(network.snapshot, ()));
        report("other", 0, 0);
        _refused();
    }

    function _arm(bytes memory call) private {
        ReentrantToken(address(token)).arm(address(network), call);
    }

    function _refused() private view {
        ReentrantToken reentrant = ReentrantToken(address(token));
        assertTrue(reentrant.tried() && !reentrant.entered(), "tried and refused");
        assertEq(
            bytes4(reentrant.answer()), ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector, "by the guard"
        );
        assertEq(token.balanceOf(address(network)), liabilities(3), "balanced");
    }
}
