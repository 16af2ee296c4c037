// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {SettlesInATest} from "../examples/SettlesInATest.sol";
import {Head} from "../src/Head.sol";
import {Settlement} from "../src/Settlement.sol";
import {
    SettlementBls12381G2,
    SettlementBls12381G2Nu,
    SettlementBn254G1,
    SettlementBn254G2
} from "../src/Settlements.sol";
import {TestSigner} from "../testing/TestSigner.sol";

/// @notice The example is a test, and passes.
contract TestSignerExampleTest is SettlesInATest {}

/// @notice What `TestSigner` signs settles with each kind of keys, and with no other digest, member or secret.
contract TestSignerTest is Test {
    uint64 private constant DEADLINE = type(uint64).max;
    uint256[] private _secrets =
        [uint256(keccak256("first")) >> 4, 2, uint256(keccak256("third")) >> 4, 4, 5, 6, 7, 8, 9];

    function _new(TestSigner.Keys keys) private returns (Settlement) {
        if (keys == TestSigner.Keys.Bn254G2) return new SettlementBn254G2(address(this), 0, 1);
        if (keys == TestSigner.Keys.Bn254G1) return new SettlementBn254G1(address(this), 0, 1);
        if (keys == TestSigner.Keys.Bls12381G2) return new SettlementBls12381G2(address(this), 0, 1);
        return new SettlementBls12381G2Nu(address(this), 0, 1);
    }

    /// @dev A settlement with all members, each of whom weighs 1.
    function _made(TestSigner.Keys keys) private returns (Settlement settlement, Head head) {
        settlement = _new(keys);
        uint64[] memory weights = new uint64[](_secrets.length);
        for (uint256 i = 0; i < _secrets.length; i++) {
            bytes memory key = TestSigner.key(keys, _secrets[i]);
            bytes32 digest = settlement.possessionDigest(address(this), key);
            settlement.register(address(this), key, TestSigner.proof(keys, _secrets[i], digest));
            weights[i] = 1;
        }
        settlement.begin(1, Members.packWeights(weights), 3, false);
        settlement.enter(Head.wrap(0), 0);
        head = settlement.terms();
    }

    function _settles(TestSigner.Keys keys) private {
        (Settlement settlement, Head head) = _made(keys);
        bytes32[] memory results = new bytes32[](2);
        bool[] memory signs = new bool[](9);
        for (uint256 round = 0; round < 3; round++) {
            // Three, six and nine members.
            for (uint256 i = 0; i < 3; i++) {
                signs[3 * i + round] = true;
            }
            results[0] = keccak256(abi.encode(round));
            bytes32 digest = settlement.resultsDigest(head.epoch(), head.nonce(), DEADLINE, TestSigner.NONE, results);
            bytes memory quorum = TestSigner.quorum(keys, _secrets, signs, digest);
            results[1] = bytes32(uint256(1));
            vm.expectRevert();
            settlement.settleAll(head, 0, DEADLINE, results, quorum);
            results[1] = 0;
            settlement.settleAll(head, 0, DEADLINE, results, quorum);
            head = head.advance(2);
            assertEq(settlement.state(), keccak256(abi.encode(head, bytes32(0))), "the state");
        }
        assertEq(head.nonce(), 6, "settled");
    }

    function test_settlesWithKeysInG2OfBn254() public {
        _settles(TestSigner.Keys.Bn254G2);
    }

    function test_settlesWithKeysInG1OfBn254() public {
        _settles(TestSigner.Keys.Bn254G1);
    }

    function test_settlesWithKeysInG2OfBls12381() public {
        _settles(TestSigner.Keys.Bls12381G2);
    }

    function test_settlesWithTheNonuniformHash() public {
        _settles(TestSigner.Keys.Bls12381G2Nu);
    }

    function quorumOf(uint256 members) external view returns (bytes memory) {
        return TestSigner.quorum(TestSigner.Keys.Bn254G1, new uint256[](members), new bool[](members), 0);
    }

    function test_aQuorumWithoutMembers() public {
        vm.expectRevert(abi.encodeWithSelector(TestSigner.MembersDoNotFit.selector, 0));
        this.quorumOf(3);
    }
}
