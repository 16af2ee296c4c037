// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Head} from "../src/Head.sol";
import {SettlementBn254G1} from "../src/Settlements.sol";
import {TestSigner} from "../testing/TestSigner.sol";

/// @title A unit test of forge that settles a result which a quorum signed
/// @notice It needs no ffi and no other program: `TestSigner` signs. Copy it, and put your contract in the place of the
/// settlement's consumer.
contract SettlesInATest {
    TestSigner.Keys private constant KEYS = TestSigner.Keys.Bn254G1;

    SettlementBn254G1 private _settlement;
    uint256[] private _secrets = [11, 12, 13, 14];

    /// @notice Four members who weigh 1 each; three of them are a quorum.
    function setUp() public {
        _settlement = new SettlementBn254G1(address(this), 0, 3);
        bytes memory weights;
        for (uint256 i = 0; i < _secrets.length; i++) {
            bytes memory key = TestSigner.key(KEYS, _secrets[i]);
            bytes32 digest = _settlement.possessionDigest(address(this), key);
            _settlement.register(address(this), key, TestSigner.proof(KEYS, _secrets[i], digest));
            weights = abi.encodePacked(weights, uint64(1));
        }
        _settlement.begin(1, weights, 3, false);
        _settlement.enter(Head.wrap(0), 0);
    }

    function test_settlesWhatAQuorumSigned() public {
        bytes32[] memory results = new bytes32[](1);
        results[0] = keccak256("the price is 3020.5");
        bool[] memory signs = new bool[](4);
        (signs[0], signs[2], signs[3]) = (true, true, true);

        // No result was settled yet, so the head is the terms of the epoch, and there is no newest base.
        Head head = _settlement.terms();
        uint64 deadline = uint64(block.timestamp + 1 hours);
        bytes32 digest = _settlement.resultsDigest(head.epoch(), head.nonce(), deadline, TestSigner.NONE, results);
        bytes memory quorum = TestSigner.quorum(KEYS, _secrets, signs, digest);
        _settlement.settleAll(head, 0, deadline, results, quorum);

        head = head.advance(1);
        require(_settlement.state() == keccak256(abi.encode(head, bytes32(0))), "settled");
    }
}
