// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "./Test.sol";
import {Members} from "./Members.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {Bn254Hashes} from "../src/curves/Bn254Hashes.sol";
import {Bn254G2Keys} from "../src/curves/Bn254G2Keys.sol";
import {Head} from "../src/Head.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";
import {SettlementBn254G2} from "../src/Settlements.sol";

/// @notice Tests both ways to make a sum of keys in G2 of BN254: by slopes and in Jacobian coordinates. Among the keys
/// are a, b, a + b and -(a + b), whose owners collude.
contract SlopesTest is Test, Bn254G2Signing {
    uint256 private constant N = 8;
    uint256 private constant A = 0x1234567;
    uint256 private constant B = 0x89abcd;

    SettlementBn254G2 private _settlement;
    uint256[] private _secrets;
    bytes[] private _keys;
    uint256[] private _none;
    uint256[] private _keyPages;
    Head private _head;

    function setUp() public {
        _settlement = new SettlementBn254G2(address(this), 1, 4);
        _secrets = [A, B, A + B, Bn254.R - A - B, 11, 12, 13, 14];
        for (uint256 i = 0; i < N; i++) {
            bytes memory key = keyOf(_secrets[i]);
            bytes32[] memory digests = Members.only(_settlement.possessionDigest(address(this), key));
            _settlement.register(address(this), key, proofBy(_secrets[i], digests));
            _keys.push(key);
        }
        // The last two keys are in no page.
        bytes memory tail;
        for (uint256 i = 0; i < N - 2; i++) {
            tail = abi.encodePacked(tail, _keys[i]);
        }
        _settlement.compact(0, N - 2, _none, tail);
        _keyPages.push(2);
        uint64[] memory weights = new uint64[](N);
        for (uint256 i = 0; i < N; i++) {
            weights[i] = 1;
        }
        _settlement.begin(1, Members.packWeights(weights), 1, false);
        _settlement.enter(_head, 0);
        _head = _settlement.terms();
    }

    function _secretOf(bytes memory signers) private view returns (uint256 sum) {
        for (uint256 i = 0; i < N; i++) {
            if (Members.contains(signers, i)) sum = addmod(sum, _secrets[i], Bn254.R);
        }
    }

    /// @dev Index 0 is bit 7 of the mask, the most significant one.
    function _base(uint256 slot, bytes memory signers) private view returns (Members.Base memory) {
        return Members.Base(slot, 0, 0, keyOf(_secretOf(signers)), signers);
    }

    function _proof(uint256 store, bytes memory signers) private view returns (bytes memory) {
        bytes32 digest =
            _settlement.resultsDigest(_head.epoch(), _head.nonce(), type(uint64).max, store, new bytes32[](1));
        return proofBy(_secretOf(signers), Members.only(digest));
    }

    function _data(Members.Base memory base, uint256 store, bytes memory signers, bytes memory sum)
        private
        view
        returns (bytes memory)
    {
        bytes memory proof = abi.encodePacked(sum, _proof(store, signers));
        bytes memory quorum = Members.pack(base, store, _keyPages, _none, _passed(base, signers), signers, proof);
        return abi.encodeCall(ISettlement.settleAll, (_head, 0, type(uint64).max, new bytes32[](1), quorum));
    }

    /// @dev The keys of changed members that no page holds.
    function _passed(Members.Base memory base, bytes memory signers)
        private
        view
        returns (Members.Passed memory passed)
    {
        for (uint256 i = N - 2; i < N; i++) {
            if (Members.contains(base.signers, i) == Members.contains(signers, i)) {
                continue;
            }
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keys[i]);
        }
    }

    function _accept(bytes memory data) private {
        (bool done, bytes memory why) = address(_settlement).call(data);
        assertEq(why, "", "refused");
        assertTrue(done, "refused");
        _head = _head.advance(1);
    }

    function _refuse(bytes memory data, bytes memory expected) private {
        (bool done, bytes memory why) = address(_settlement).call(data);
        assertTrue(!done, "not refused");
        assertEq(why, expected, "why");
    }

    function _refuseAnyhow(bytes memory data) private {
        (bool done,) = address(_settlement).call(data);
        assertTrue(!done, "not refused");
    }

    function _refuse(bytes memory data, bytes4 expected) private {
        _refuse(data, abi.encodeWithSelector(expected));
    }

    function _settle(Members.Base memory base, uint256 slot, bytes memory signers, bytes memory sum)
        private
        returns (Members.Base memory result)
    {
        _accept(_data(base, slot, signers, sum));
        result = _base(slot, signers);
        assertEq(_settlement.commitmentAt(slot), Members.commitment(result), "the sum of its members");
    }

    function _slopes(Members.Base memory base, bytes memory signers) private view returns (bytes memory) {
        (bytes memory slopes, bool exceptional) = slopesOf(base, signers, _keys);
        assertTrue(!exceptional, "every addition has a slope");
        return abi.encodePacked(uint8(1), slopes);
    }

    /// @notice Both ways give the same key, from the empty quorum and from bases. From the empty quorum one slope fewer
    /// is needed.
    function test_bothFormsGiveTheSum() public {
        bytes[6] memory quorums = [bytes(hex"0f"), hex"8f", hex"03", hex"c1", hex"01", hex"4e"];
        for (uint256 i = 0; i < quorums.length; i++) {
            bytes memory slopes = _slopes(Members.empty(), quorums[i]);
            assertEq(slopes.length, 1 + 64 * (_count(quorums[i]) - 1), "a slope for each but the first");
            _settle(Members.empty(), 2, quorums[i], slopes);
            Members.Base memory base =
                _settle(Members.empty(), 3, quorums[i], jacobianOf(Members.empty(), quorums[i], _keys));
            for (uint256 j = 0; j < quorums.length; j++) {
                if (i == j) continue;
                (, bool exceptional) = slopesOf(base, quorums[j], _keys);
                if (!exceptional) {
                    slopes = _slopes(base, quorums[j]);
                    assertEq(
                        slopes.length,
                        1 + 64 * _count(abi.encodePacked(bytes1(quorums[i]) ^ bytes1(quorums[j]))),
                        "a slope for each"
                    );
                    _settle(base, 4, quorums[j], slopes);
                }
                _settle(base, 5, quorums[j], jacobianOf(base, quorums[j], _keys));
            }
        }
    }

    function _count(bytes memory signers) private pure returns (uint256 count) {
        for (uint256 i = 0; i < 8 * signers.length; i++) {
            if (Members.contains(signers, i)) count++;
        }
    }

    /// @notice Changes each half of each slope by one, which is refused. Adds P to each half, which is the same slope
    /// and gives the same key.
    function test_everyHalfOfASlope() public {
        Members.Base memory base = _settle(Members.empty(), 2, hex"0f", _slopes(Members.empty(), hex"0f"));
        bytes memory slopes = _slopes(base, hex"8a");
        for (uint256 i = 0; i < 6; i++) {
            uint256 half;
            bytes memory wrong = bytes.concat(slopes);
            assembly {
                half := mload(add(add(wrong, 33), mul(32, i)))
            }
            _write(wrong, i, half ^ 1);
            _refuse(_data(base, 3, hex"8a", wrong), Bn254G2.BadSlope.selector);
            _write(wrong, i, Bn254.P - half);
            _refuse(_data(base, 3, hex"8a", wrong), Bn254G2.BadSlope.selector);
            _write(wrong, i, half + Bn254.P);
            _settle(base, 3, hex"8a", wrong);
        }
        assertEq(slopes.length, 1 + 6 * 32, "three changed");
    }

    function _write(bytes memory slopes, uint256 i, uint256 half) private pure {
        assembly {
            mstore(add(add(slopes, 33), mul(32, i)), half)
        }
    }

    /// @notice The sum a + b is equal to the third key. No slope passes, and the sum in Jacobian coordinates is right.
    function test_trap_theSumIsTheKey() public {
        bytes memory first = _slopes(Members.empty(), hex"c0");
        Members.Base memory base = _settle(Members.empty(), 2, hex"c0", first);
        (, bool exceptional) = slopesOf(base, hex"e0", _keys);
        assertTrue(exceptional, "the same point");
        bytes[4] memory slopes = _some(base);
        for (uint256 i = 0; i < slopes.length; i++) {
            _refuse(_data(base, 3, hex"e0", abi.encodePacked(uint8(1), slopes[i])), Bn254G2.BadSlope.selector);
            bytes memory both = abi.encodePacked(first, slopes[i]);
            _refuse(_data(Members.empty(), 3, hex"e0", both), Bn254G2.BadSlope.selector);
        }
        _settle(base, 3, hex"e0", jacobianOf(base, hex"e0", _keys));
        _settle(Members.empty(), 3, hex"e0", jacobianOf(Members.empty(), hex"e0", _keys));
    }

    /// @notice The sum a + b meets -(a + b), which is added, or a + b, which is subtracted. The sum would be the
    /// identity, under which everyone can sign.
    function test_trap_theSumIsTheIdentity() public {
        Members.Base memory base = _settle(Members.empty(), 2, hex"c0", _slopes(Members.empty(), hex"c0"));
        bytes[4] memory slopes = _some(base);
        for (uint256 i = 0; i < slopes.length; i++) {
            _refuse(_data(base, 3, hex"d0", abi.encodePacked(uint8(1), slopes[i])), Bn254G2.BadSlope.selector);
        }
        _refuse(_data(base, 3, hex"d0", new bytes(65)), Bn254G2.BadInverse.selector);
        _refuse(_data(base, 3, hex"d0", abi.encodePacked(uint8(0), slopes[1])), Bn254G2.BadInverse.selector);
        // Then the sum would continue from the identity with the key of the fifth member. By slopes that is refused,
        // and in Jacobian coordinates it is right.
        for (uint256 i = 0; i < slopes.length; i++) {
            bytes memory sum = abi.encodePacked(uint8(1), slopes[i], slopes[i]);
            _refuse(_data(base, 3, hex"d8", sum), Bn254G2.BadSlope.selector);
        }
        _settle(base, 3, hex"d8", jacobianOf(base, hex"d8", _keys));
        // The base is the third member alone, who leaves. Then the fourth key is added to the identity.
        base = _settle(Members.empty(), 2, hex"20", _slopes(Members.empty(), hex"20"));
        for (uint256 i = 0; i < slopes.length; i++) {
            bytes memory sum = abi.encodePacked(uint8(1), slopes[i], slopes[i]);
            _refuse(_data(base, 3, hex"10", sum), Bn254G2.BadSlope.selector);
        }
        _settle(base, 3, hex"10", jacobianOf(base, hex"10", _keys));
    }

    /// @dev Slopes to try if none exists: zero, other bytes, all ones, and a true slope between two other points.
    function _some(Members.Base memory base) private view returns (bytes[4] memory) {
        bytes memory ones = abi.encodePacked(type(uint256).max, type(uint256).max);
        (bytes memory other,) = slopesOf(base, hex"c8", _keys);
        return [new bytes(64), abi.encode(uint256(1), uint256(2)), ones, other];
    }

    /// @notice One slope is missing, so that the signature is read in its place; or there is one too many.
    function test_slopesThatAreMissing() public {
        Members.Base memory base = _settle(Members.empty(), 2, hex"0f", _slopes(Members.empty(), hex"0f"));
        bytes memory slopes = _slopes(base, hex"8a");
        bytes memory fewer = bytes.concat(slopes);
        assembly {
            mstore(fewer, sub(mload(fewer), 64))
        }
        _refuse(_data(base, 3, hex"8a", fewer), Bn254G2.BadSlope.selector);
        _refuse(_data(base, 3, hex"8a", hex"01"), Bn254G2.BadSlope.selector);
        // From the empty quorum, one member needs no slope, and two members need one.
        _settle(Members.empty(), 3, hex"08", hex"01");
        _refuse(_data(Members.empty(), 3, hex"0c", hex"01"), Bn254G2.BadSlope.selector);
        bytes memory more = abi.encodePacked(slopes, new bytes(64));
        _refuse(_data(base, 3, hex"8a", more), abi.encodeWithSelector(Bn254Hashes.HintsLength.selector, 97, 33));
    }

    function test_formsThatAreNone() public {
        bytes memory slopes = _slopes(Members.empty(), hex"0f");
        bytes memory jacobian = jacobianOf(Members.empty(), hex"0f", _keys);
        for (uint256 form = 2; form < 256; form++) {
            bytes memory sum = form % 2 == 0 ? slopes : jacobian;
            sum[0] = bytes1(uint8(form));
            bytes memory why = abi.encodeWithSelector(Bn254G2Keys.UnknownSum.selector, form);
            _refuse(_data(Members.empty(), 3, hex"0f", sum), why);
        }
        // Each way's first byte stands before the other's hints.
        (slopes[0], jacobian[0]) = (0x00, 0x01);
        _refuse(_data(Members.empty(), 3, hex"0f", slopes), Bn254G2.BadInverse.selector);
        _refuse(_data(Members.empty(), 3, hex"0f", jacobian), Bn254G2.BadSlope.selector);
        // The byte is missing, so the signature's first byte is read as it.
        _refuseAnyhow(_data(Members.empty(), 3, hex"0f", ""));
    }

    /// @notice A quorum that does not change has no sum, and its proof has no byte that says how the sum is made.
    function test_noSumWhereNothingChanges() public {
        Members.Base memory base = _settle(Members.empty(), 2, hex"0f", _slopes(Members.empty(), hex"0f"));
        _refuseAnyhow(_data(base, 3, hex"0f", hex"01"));
        _refuseAnyhow(_data(base, 3, hex"0f", hex"00"));
        _settle(base, 3, hex"0f", "");
    }

    /// @notice No shorter part of a proof is accepted, even if the bytes that were cut off follow in calldata.
    function test_everyTruncationIsRefused() public {
        Members.Base memory base = _settle(Members.empty(), 2, hex"0f", _slopes(Members.empty(), hex"0f"));
        for (uint256 form = 0; form < 2; form++) {
            bytes memory sum = form == 0 ? jacobianOf(base, hex"8a", _keys) : _slopes(base, hex"8a");
            bytes memory data = _data(base, 3, hex"8a", sum);
            // The selector, five words and the two words of the results stand before the length.
            uint256 where = 4 + 32 * 7;
            uint256 whole;
            assembly {
                whole := mload(add(add(data, 0x20), where))
            }
            for (uint256 length = 0; length < whole; length++) {
                assembly {
                    mstore(add(add(data, 0x20), where), length)
                }
                _refuseAnyhow(data);
            }
            assembly {
                mstore(add(add(data, 0x20), where), whole)
            }
            _accept(data);
        }
    }

    /// @notice The slopes are right for another quorum's sum, which signed. The key must be that of the bitmap, or the
    /// call reverts.
    function test_trap_slopesOfOtherMembers() public {
        Members.Base memory base = _settle(Members.empty(), 2, hex"0f", _slopes(Members.empty(), hex"0f"));
        bytes memory proof = abi.encodePacked(_slopes(base, hex"07"), _proof(3, hex"07"));
        bytes memory quorum = Members.pack(base, 3, _keyPages, _none, _passed(base, hex"0b"), hex"0b", proof);
        _refuse(
            abi.encodeCall(ISettlement.settleAll, (_head, 0, type(uint64).max, new bytes32[](1), quorum)),
            Bn254G2.BadSlope.selector
        );
        proof = abi.encodePacked(_slopes(base, hex"0b"), _proof(3, hex"07"));
        quorum = Members.pack(base, 3, _keyPages, _none, _passed(base, hex"0b"), hex"0b", proof);
        _refuse(
            abi.encodeCall(ISettlement.settleAll, (_head, 0, type(uint64).max, new bytes32[](1), quorum)),
            Bn254G2Keys.FalseSignature.selector
        );
    }
}
