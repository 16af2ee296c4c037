// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../Test.sol";
import {Members} from "../Members.sol";
import {NetworkFixture} from "../NetworkFixture.sol";
import {ITaskNetwork} from "../../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../../src/TaskNetwork.sol";
import {ToyNetworkVerifier} from "./MockVerifier.sol";
import {MockToken} from "./MockTokens.sol";

/// @notice A network whose verifier is real but for the curve: tables, pages, bases and weights are those of any verifier.
/// Keys are the numbers 1, 2, 3 and so on, in the order in which they come. The key of a quorum is their sum.
abstract contract ToyRig is NetworkFixture {
    ToyNetworkVerifier internal verifier;
    uint256 internal secrets;
    uint256[] internal noPages;
    /// The secret of each operator's key.
    mapping(address operator => uint256) internal secretOf;
    /// The secrets by table and index, for the keys of seats that were carried or came.
    mapping(uint256 table => mapping(uint256 index => uint256)) internal secretAt;
    mapping(uint256 epoch => uint256[]) internal weightPages;

    function setUp() public virtual {
        token = new MockToken();
        ITaskNetwork.Parameters memory p = parameters();
        p.verifier = verifier = new ToyNetworkVerifier(nextAddress(1));
        network = new TaskNetwork(p);
        vm.warp(GENESIS);
    }

    function keyOf(uint256 secret) internal pure returns (bytes memory) {
        return abi.encode(secret, ~secret);
    }

    function _possession(address owner, uint256 secret) internal view returns (bytes memory) {
        return verifier.signature(Members.only(verifier.possessionDigest(owner, keyOf(secret))), secret);
    }

    function join(uint256 i, uint256 stake) internal returns (uint256 index) {
        uint256 secret = ++secrets;
        approve(operator(i), stake);
        bytes memory proof = _possession(operator(i), secret);
        vm.prank(operator(i));
        index = network.register(keyOf(secret), proof, stake);
        _keep(operator(i), secret, index);
    }

    function rotate(uint256 i) internal returns (uint256 index) {
        uint256 secret = ++secrets;
        bytes memory proof = _possession(operator(i), secret);
        vm.prank(operator(i));
        index = network.rotateKey(keyOf(secret), proof);
        _keep(operator(i), secret, index);
    }

    function depart(uint256 i) internal {
        vm.prank(operator(i));
        network.deregister();
    }

    function _keep(address owner, uint256 secret, uint256 index) private {
        secretOf[owner] = secret;
        (uint256 table,, uint256 carried) = network.keyTable();
        secretAt[table][index] = secret;
        if (carried != 0) secretAt[table + 1][carried - 1] = secret;
    }

    /// @notice Makes a page of an operator's key alone, and carries it.
    function carry(uint256 i) internal {
        address[] memory operators = new address[](1);
        operators[0] = operator(i);
        carry(operators);
    }

    /// @notice Makes a page of each operator's key, and carries the keys of all of them.
    function carry(address[] memory operators) internal returns (uint256 count) {
        (uint256 table,,) = network.keyTable();
        uint256[] memory pages = new uint256[](operators.length);
        for (uint256 i = 0; i < operators.length; ++i) {
            verifier.compact(network.keyOf(operators[i]), 1, noPages, keyOf(secretOf[operators[i]]));
            pages[i] = verifier.extent().pages;
        }
        (,, uint256 next) = network.keyTable();
        count = network.carry(operators, pages);
        for (uint256 i = 0; i < count; ++i) {
            secretAt[table + 1][next + i] = secretOf[network.ownerOfKey(table + 1, next + i)];
        }
    }

    function snapshot() internal returns (uint256 epoch) {
        epoch = network.snapshot();
        weightPages[epoch] = [verifier.extent().pages];
    }

    /// @notice The members with a weight in an epoch.
    function signersOf(uint256 epoch) internal view returns (bytes memory) {
        uint64[] memory weights = verifier.weightsOf(epoch);
        bool[] memory members = new bool[](weights.length);
        for (uint256 i = 0; i < weights.length; ++i) {
            members[i] = weights[i] != 0;
        }
        return Members.bitmap(members);
    }

    function keyOfAll(uint256 epoch, bytes memory signers) internal view returns (uint256 sum) {
        uint256 table = network.snapshotOf(epoch).table;
        for (uint256 i = 0; i < 8 * signers.length; ++i) {
            if (Members.contains(signers, i)) sum += secretAt[table][i];
        }
    }

    /// @notice A quorum of members who start from a base, with all keys of changed members in calldata unless pages are
    /// named.
    function quorumOf(
        Members.Base memory base,
        uint256 store,
        uint256[] memory pages,
        ITaskNetwork.Task[] memory tasks,
        uint256 epoch,
        bytes memory signers
    ) internal view returns (bytes memory) {
        uint256 table = network.snapshotOf(epoch).table;
        Members.Passed memory passed;
        for (uint256 i = 0; pages.length == 0 && i < 8 * signers.length; ++i) {
            if (Members.contains(signers, i) == Members.contains(base.signers, i)) continue;
            ++passed.keys;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, keyOf(secretAt[table][i]));
        }
        bytes memory proof = verifier.signature(digestsOf(tasks, epoch), keyOfAll(epoch, signers));
        return Members.pack(base, store, pages, weightPages[epoch], passed, signers, proof);
    }

    /// @notice Settles a task by all members, with their keys in calldata.
    function settle(uint256 epoch, bytes32 id) internal returns (ITaskNetwork.Task[] memory tasks) {
        tasks = one(taskFor(epoch, id));
        bytes memory quorum = quorumOf(Members.empty(), Members.NONE, noPages, tasks, epoch, signersOf(epoch));
        network.submitTasks(epoch, tasks, quorum);
        assertTrue(network.isSettledAs(epoch, tasks[0]), "settled");
    }

    function attestation(uint256 epoch, ITaskNetwork.Task memory task, uint256 secret)
        internal
        view
        returns (ITaskNetwork.Attestation memory)
    {
        bytes memory proof = verifier.signature(Members.only(network.taskDigest(epoch, task)), secret);
        return attested(epoch, task, abi.encodePacked(keyOf(secret), proof));
    }
}
