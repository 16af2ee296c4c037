// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {Unverified} from "./mocks/MockVerifier.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

/// @notice Measures the gas of whole transactions with a verifier that costs next to nothing, so that the network's own
/// part remains. There are 100 operators. The mock keeps keys and weights in storage slots, so registration and
/// snapshots cost other than with a real verifier.
contract TaskNetworkGasTest is NetworkRig {
    uint256 private constant OPERATORS = 100;

    function setUp() public override {
        super.setUp();
        ITaskNetwork.Parameters memory p = parameters();
        p.maximumOperators = uint32(OPERATORS);
        p.verifier = new Unverified(nextAddress(1));
        network = new TaskNetwork(p);
        for (uint256 i = 0; i < OPERATORS; ++i) {
            join(i, 20e18);
        }
        network.snapshot();
    }

    function test_gas_of_submissions() external {
        _submit(0, 1, 100);
        vm.snapshotGasLastCall("TaskNetwork", "submit 1 task, empty pool, 100 operators");
        fund(1000e18);
        _submit(1, 1, 100);
        vm.snapshotGasLastCall("TaskNetwork", "submit 1 task, new quorum, 100 operators");
        _submit(2, 1, 100);
        vm.snapshotGasLastCall("TaskNetwork", "submit 1 task, quorum seen in the epoch, 100 operators");
        _submit(3, 10, 100);
        vm.snapshotGasLastCall("TaskNetwork", "submit 10 tasks, quorum seen in the epoch, 100 operators");
    }

    function test_gas_of_a_rejection() external {
        ITaskNetwork.Task[] memory tasks = one(taskFor(0, "bad"));
        tasks[0].approved = false;
        network.submitTasks(0, tasks, _quorum(100));
        vm.snapshotGasLastCall("TaskNetwork", "submit 1 rejected task, 100 operators");
    }

    function _submit(uint256 seed, uint256 count, uint256 signers) private {
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](count);
        for (uint256 i = 0; i < count; ++i) {
            tasks[i] = taskFor(0, bytes32(seed * 100 + i));
        }
        network.submitTasks(0, tasks, _quorum(signers));
    }

    function _quorum(uint256 signers) private pure returns (bytes memory) {
        return abi.encodePacked(20 * signers, bitmap((1 << signers) - 1));
    }
}
