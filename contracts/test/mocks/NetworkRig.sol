// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "../Test.sol";
import {ITaskNetwork} from "../../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../../src/TaskNetwork.sol";
import {MockProofs, MockVerifier} from "./MockVerifier.sol";
import {MockToken} from "./MockTokens.sol";

/// @notice A network with its token, and what operators, aggregators and reporters do.
abstract contract NetworkRig is Test {
    uint64 internal constant GENESIS = 1_000_000;
    uint64 internal constant EPOCH = 1 days;
    uint64 internal constant WINDOW = 3 days;
    uint64 internal constant DELAY = 5 days;
    uint128 internal constant UNIT = 1e18;
    uint128 internal constant LEAST = 10e18;
    uint128 internal constant PERFORMER = 3e18;
    uint128 internal constant ATTESTERS = 7e18 + 1;

    address internal constant ADMIN = address(0xAD);
    address internal constant FUNDER = address(0xF0);
    address internal constant REPORTER = address(0x4E);

    MockToken internal token;
    TaskNetwork internal network;
    MockVerifier internal verifier;

    function setUp() public virtual {
        token = new MockToken();
        deploy();
        vm.warp(GENESIS);
    }

    /// @notice A verifier, and the network that it was made for.
    function deploy() internal {
        ITaskNetwork.Parameters memory p = parameters();
        p.verifier = verifier = new MockVerifier(nextAddress(1));
        network = new TaskNetwork(p);
    }

    /// @notice The address of what this contract creates after `more` others.
    function nextAddress(uint256 more) internal view returns (address) {
        return vm.computeCreateAddress(address(this), vm.getNonce(address(this)) + more);
    }

    function parameters() internal view returns (ITaskNetwork.Parameters memory) {
        return ITaskNetwork.Parameters({
            token: token,
            verifier: verifier,
            admin: ADMIN,
            genesis: GENESIS,
            epochLength: EPOCH,
            slashingWindow: WINDOW,
            withdrawalDelay: DELAY,
            unit: UNIT,
            minimumStake: LEAST,
            maximumOperators: 20,
            quorumNumerator: 2,
            quorumDenominator: 3,
            performerReward: PERFORMER,
            attesterReward: ATTESTERS,
            penaltyShare: 500,
            slashShare: 2_000,
            bountyShare: 1_000
        });
    }

    function operator(uint256 i) internal pure returns (address) {
        return address(uint160(0x1000 + i));
    }

    function keyNamed(uint256 name) internal pure returns (bytes memory) {
        return abi.encode("key", name);
    }

    function approve(address who, uint256 amount) internal {
        token.mint(who, amount);
        vm.prank(who);
        token.approve(address(network), amount);
    }

    function join(uint256 i, uint256 stake) internal returns (uint256) {
        approve(operator(i), stake);
        bytes memory key = keyNamed(i);
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

    function fund(uint256 amount) internal {
        approve(FUNDER, amount);
        vm.prank(FUNDER);
        network.fund(amount);
    }

    /// @notice The first second of an epoch.
    function enter(uint256 epoch) internal {
        vm.warp(GENESIS + epoch * EPOCH);
    }

    /// @notice The shortest bitmap of the members i whose bit `1 << i` is set.
    function bitmap(uint256 mask) internal pure returns (bytes memory signers) {
        uint256 length = 0;
        while (length < 32 && mask >> (8 * length) != 0) ++length;
        signers = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            for (uint256 j = 0; j < 8; ++j) {
                if (mask >> (8 * i + j) & 1 == 1) signers[i] |= bytes1(uint8(0x80 >> j));
            }
        }
    }

    function taskFor(uint256 epoch, bytes32 id) internal view returns (ITaskNetwork.Task memory) {
        return ITaskNetwork.Task(id, network.performerOf(epoch, id), keccak256(abi.encode("result", id)), true);
    }

    function one(ITaskNetwork.Task memory task) internal pure returns (ITaskNetwork.Task[] memory tasks) {
        tasks = new ITaskNetwork.Task[](1);
        tasks[0] = task;
    }

    function quorumOf(ITaskNetwork.Task[] memory tasks, uint256 epoch, uint256 mask)
        internal
        view
        returns (bytes memory)
    {
        bytes32[] memory digests = new bytes32[](tasks.length);
        for (uint256 i = 0; i < tasks.length; ++i) {
            digests[i] = network.taskDigest(tasks[i], epoch);
        }
        bytes memory signers = bitmap(mask);
        return abi.encode(signers, MockProofs.quorum(digests, signers));
    }

    function submit(ITaskNetwork.Task memory task, uint256 epoch, uint256 mask) internal {
        ITaskNetwork.Task[] memory tasks = one(task);
        network.submitTasks(tasks, epoch, quorumOf(tasks, epoch, mask));
    }

    function signature(ITaskNetwork.Task memory task, uint256 epoch, uint256 name)
        internal
        view
        returns (bytes memory)
    {
        return abi.encode(MockProofs.single(network.taskDigest(task, epoch), keyNamed(name)));
    }

    /// @notice Reports that the key at `index`, made from `name`, signed a task and its opposite.
    function report(bytes32 id, uint256 epoch, uint256 index, uint256 name) internal returns (uint256) {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict(id);
        bytes memory first = signature(a, epoch, name);
        bytes memory second = signature(b, epoch, name);
        vm.prank(REPORTER);
        return network.reportConflict(a, b, epoch, index, first, second);
    }

    function conflict(bytes32 id) internal pure returns (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) {
        a = ITaskNetwork.Task(id, 0, bytes32("yes"), true);
        b = ITaskNetwork.Task(id, 0, bytes32("no"), true);
    }

    /// @notice What the network must hold for the first `count` operators and everyone else.
    function liabilities(uint256 count) internal view returns (uint256 sum) {
        (uint256 free, uint256 owed) = network.pool();
        sum = free + owed;
        for (uint256 i = 0; i < count; ++i) {
            (uint256 pending,) = network.pendingOf(operator(i));
            sum += network.stakeOf(operator(i)) + pending;
        }
    }
}
