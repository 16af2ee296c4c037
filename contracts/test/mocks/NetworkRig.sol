// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../Test.sol";
import {NetworkFixture} from "../NetworkFixture.sol";
import {ITaskNetwork} from "../../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../../src/TaskNetwork.sol";
import {MockProofs, MockVerifier} from "./MockVerifier.sol";
import {MockToken} from "./MockTokens.sol";

/// @notice A network with the mock verifier, and the calls of its operators, aggregators and reporters.
abstract contract NetworkRig is NetworkFixture {
    MockVerifier internal verifier;

    function setUp() public virtual {
        token = new MockToken();
        deploy();
        vm.warp(GENESIS);
    }

    /// @notice Makes a verifier and its network.
    function deploy() internal virtual {
        ITaskNetwork.Parameters memory p = parameters();
        p.verifier = verifier = new MockVerifier(nextAddress(1));
        network = new TaskNetwork(p);
    }

    function keyNamed(uint256 name) internal pure returns (bytes memory) {
        return abi.encode("key", name);
    }

    function join(uint256 i, uint256 stake) internal returns (uint256) {
        return join(i, i, stake);
    }

    /// @notice Registers operator i with the key made from `name`.
    function join(uint256 i, uint256 name, uint256 stake) internal returns (uint256) {
        approve(operator(i), stake);
        bytes memory key = keyNamed(name);
        bytes memory proof = abi.encode(MockProofs.possession(operator(i), key));
        vm.prank(operator(i));
        return network.register(key, proof, stake);
    }

    function rotate(uint256 i, uint256 name) internal returns (uint256) {
        bytes memory key = keyNamed(name);
        bytes memory proof = abi.encode(MockProofs.possession(operator(i), key));
        vm.prank(operator(i));
        return network.rotateKey(key, proof);
    }

    function quorumOf(ITaskNetwork.Task[] memory tasks, uint256 epoch, uint256 mask)
        internal
        view
        returns (bytes memory)
    {
        bytes memory signers = bitmap(mask);
        return abi.encode(signers, MockProofs.quorum(digestsOf(tasks, epoch), signers));
    }

    function submit(ITaskNetwork.Task memory task, uint256 epoch, uint256 mask) internal {
        ITaskNetwork.Task[] memory tasks = one(task);
        network.submitTasks(epoch, tasks, quorumOf(tasks, epoch, mask));
    }

    function signature(ITaskNetwork.Task memory task, uint256 epoch, uint256 name)
        internal
        view
        returns (bytes memory)
    {
        return MockProofs.single(network.taskDigest(epoch, task), keyNamed(name));
    }

    /// @notice Reports that the key made from `name` signed a task and also its opposite.
    function report(bytes32 id, uint256 epoch, uint256 name) internal returns (uint256) {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict(id);
        bytes memory first = signature(a, epoch, name);
        bytes memory second = signature(b, epoch, name);
        vm.prank(REPORTER);
        return network.reportConflict(attested(epoch, a, first), attested(epoch, b, second));
    }
}
