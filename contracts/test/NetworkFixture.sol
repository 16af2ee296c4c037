// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, Vm, vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {PlainShareTree} from "./ShareTree.t.sol";
import {MockToken} from "./mocks/MockTokens.sol";

/// @notice A network with its token, and helpers that work with any verifier.
abstract contract NetworkFixture is Test {
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

    /// @dev The parameters without the verifier, which is made for the network's address.
    function parameters() internal view virtual returns (ITaskNetwork.Parameters memory) {
        return ITaskNetwork.Parameters({
            token: token,
            verifier: IVerifier(address(0)),
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

    /// @notice The address of the contract that this contract creates after `more` others.
    function nextAddress(uint256 more) internal view returns (address) {
        return vm.computeCreateAddress(address(this), vm.getNonce(address(this)) + more);
    }

    function operator(uint256 i) internal pure returns (address) {
        return address(uint160(0x1000 + i));
    }

    function approve(address who, uint256 amount) internal {
        token.mint(who, amount);
        vm.prank(who);
        token.approve(address(network), amount);
    }

    function fund(uint256 amount) internal {
        approve(FUNDER, amount);
        vm.prank(FUNDER);
        network.fund(amount);
    }

    /// @notice Moves time to the first second of an epoch.
    function enter(uint256 epoch) internal {
        vm.warp(GENESIS + epoch * EPOCH);
    }

    /// @notice The shortest bitmap of the members i whose bit `1 << i` is set.
    function bitmap(uint256 mask) internal pure returns (bytes memory signers) {
        uint256 length = 0;
        while (length < 32 && mask >> (8 * length) != 0) ++length;
        signers = new bytes(length);
        for (uint256 i = 0; i < 8 * length; ++i) {
            if (mask >> i & 1 == 1) signers[i / 8] |= bytes1(uint8(0x80 >> (i % 8)));
        }
    }

    function taskFor(uint256 epoch, bytes32 id) internal view returns (ITaskNetwork.Task memory) {
        return ITaskNetwork.Task(id, network.performerOf(epoch, id), keccak256(abi.encode("result", id)), true);
    }

    function one(ITaskNetwork.Task memory task) internal pure returns (ITaskNetwork.Task[] memory tasks) {
        tasks = new ITaskNetwork.Task[](1);
        tasks[0] = task;
    }

    function digestsOf(ITaskNetwork.Task[] memory tasks, uint256 epoch)
        internal
        view
        returns (bytes32[] memory digests)
    {
        digests = new bytes32[](tasks.length);
        for (uint256 i = 0; i < tasks.length; ++i) {
            digests[i] = network.taskDigest(epoch, tasks[i]);
        }
    }

    function conflict(bytes32 id) internal pure returns (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) {
        a = ITaskNetwork.Task(id, 0, bytes32("yes"), true);
        b = ITaskNetwork.Task(id, 0, bytes32("no"), true);
    }

    function attested(uint256 epoch, ITaskNetwork.Task memory task, bytes memory proof)
        internal
        pure
        returns (ITaskNetwork.Attestation memory)
    {
        return ITaskNetwork.Attestation(epoch, task, proof);
    }

    /// @notice What each index earned by the epoch's last tally, from the network's log.
    mapping(uint256 epoch => uint256[]) internal _earned;

    ITaskNetwork.Task[] internal _noTasks;
    bytes[] internal _noSigners;

    /// @notice Tallies tasks and records, and keeps what the event says.
    function tally(uint256 epoch, ITaskNetwork.Task[] memory tasks, bytes[] memory signers) internal {
        vm.recordLogs();
        bytes32 root = network.tally(epoch, tasks, signers, packed(_earned[epoch]));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        Vm.Log memory log = logs[logs.length - 1];
        assertEq(log.topics[0], ITaskNetwork.Tallied.selector, "the last log");
        (bytes32 logged,, uint256[] memory earned) = abi.decode(log.data, (bytes32, uint256, uint256[]));
        assertEq(logged, root, "root in the log");
        assertEq(network.rootOf(epoch), root, "root in storage");
        _earned[epoch] = earned;
    }

    /// @notice Amounts as `tally` takes them.
    function packed(uint256[] memory amounts) internal pure returns (bytes memory bytes_) {
        bytes_ = new bytes(16 * amounts.length);
        for (uint256 i = 0; i < amounts.length; ++i) {
            bytes16 amount = bytes16(uint128(amounts[i]));
            for (uint256 k = 0; k < 16; ++k) {
                bytes_[16 * i + k] = amount[k];
            }
        }
    }

    /// @notice Tallies the record of one bitmap.
    function tallyMask(uint256 epoch, uint256 mask) internal {
        tally(epoch, _noTasks, masks(mask));
    }

    function masks(uint256 mask) internal pure returns (bytes[] memory signers) {
        signers = new bytes[](1);
        signers[0] = bitmap(mask);
    }

    /// @notice The share of an index, with its proof.
    function shareOf(uint256 epoch, uint256 index) internal view returns (ITaskNetwork.Share[] memory shares) {
        shares = new ITaskNetwork.Share[](1);
        bytes32[] memory proof = PlainShareTree.proofOf(_earned[epoch], index);
        shares[0] = ITaskNetwork.Share(epoch, index, _earned[epoch][index], proof);
    }

    function claim(uint256 epoch, uint256 index) internal returns (uint256) {
        return network.claim(ownerIn(epoch, index), shareOf(epoch, index));
    }

    /// @notice The owner of the key that an index means in an epoch.
    function ownerIn(uint256 epoch, uint256 index) internal view returns (address) {
        return network.ownerOfKey(network.snapshotOf(epoch).table, index);
    }

    /// @notice How many keys the running table holds.
    function keyCount() internal view returns (uint256 keys) {
        (, keys,) = network.keyTable();
    }

    /// @notice The tokens that the network must hold for the first `count` operators and for everyone else.
    function liabilities(uint256 count) internal view returns (uint256 sum) {
        (uint256 free, uint256 owed) = network.pool();
        sum = free + owed;
        for (uint256 i = 0; i < count; ++i) {
            (uint256 pending,) = network.pendingOf(operator(i));
            sum += network.stakeOf(operator(i)) + pending;
        }
    }
}
