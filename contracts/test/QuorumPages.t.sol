// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Weights} from "../src/Weights.sol";
import {Head} from "../src/Head.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";

/// @notice Tests differences that run through several pages of keys and of weights, whose ends are not those of a
/// bitmap's words.
contract PagesTest is Test {
    ToyCurve private _settlement;
    uint256 private constant N = 3_200;
    /// @dev Pages of keys end before these indices. Quorums pass the other keys.
    uint256[] private _ends =
        [2, 5, 200, 256, 511, 512, 600, 900, 1_200, 1_500, 1_800, 2_100, 2_400, 2_700, 3_000, 3_190];
    uint256[] private _keyPages;
    uint256[] private _weightPages;
    Head private _head;
    uint256 private constant PART = 2_048;
    uint256[] private _none;
    bytes private _packed;
    bytes private _passedWeights;
    /// The parts whose weights are passed, as bits.
    uint256 private _inCalldata;

    function setUp() public {
        _settlement = new ToyCurve(0, 3);
        for (uint256 i = 0; i < N; i += 100) {
            _settlement.fill(i, 100);
        }
        uint256 first = 0;
        for (uint256 i = 0; i < _ends.length; i++) {
            _settlement.compact(first, _ends[i] - first, _none, _keys(first, _ends[i]));
            _keyPages.push(_settlement.extent().pages);
            first = _ends[i];
        }
        _begin(N - 3);
    }

    /// @dev The last three members have no weight, because they came later.
    function _begin(uint256 count) private {
        uint64[] memory weights = new uint64[](count);
        for (uint256 i = 0; i < count; i++) {
            weights[i] = uint64(_weight(i));
        }
        uint256 pages = _settlement.extent().pages;
        _packed = Members.packWeights(weights);
        _settlement.begin(1, _packed, 1, false);
        _settlement.publish(0, Members.partOf(_packed, 0));
        _settlement.publish(1, Members.partOf(_packed, 1));
        _settlement.enter(_head, 0);
        _head = _head.enter(_settlement.terms());
        delete _weightPages;
        _weightPages.push(pages + 1);
        _weightPages.push(pages + 2);
    }

    /// @dev The keys of the indices from `from` on, before `to`.
    function _keys(uint256 from, uint256 to) private pure returns (bytes memory) {
        return Members.toyKeys(from + 1, to - from);
    }

    /// @dev The keys of changed members that no page holds.
    function _passed(Members.Base memory base, bytes memory signers)
        private
        view
        returns (Members.Passed memory passed)
    {
        passed.weightBytes = _passedWeights;
        for (uint256 i = _ends[_ends.length - 1]; i < N; i++) {
            if (Members.contains(base.signers, i) == Members.contains(signers, i)) {
                continue;
            }
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keys(i, i + 1));
        }
    }

    function _weight(uint256 i) private pure returns (uint256) {
        return i < N - 3 ? type(uint64).max - i * i : 0;
    }

    function _expected(uint256 slot, bytes memory signers) private view returns (Members.Base memory) {
        (uint256 key, uint256 weight) = (0, 0);
        for (uint256 i = 0; i < 8 * signers.length; i++) {
            if (Members.contains(signers, i)) (key, weight) = (key + i + 1, weight + _weight(i));
        }
        uint32 epoch = uint32(_head.epoch());
        return Members.Base(slot, epoch, uint96(weight), abi.encode(key, ~key), signers);
    }

    function _call(Members.Base memory base, bytes memory signers, uint256[] memory keys, uint256[] memory weights)
        private
        view
        returns (bytes memory)
    {
        bytes32[] memory results = new bytes32[](1);
        bytes32[] memory digests =
            Members.only(_settlement.resultsDigest(_head.epoch(), _head.nonce(), type(uint64).max, 1, results));
        uint256 key = abi.decode(_expected(0, signers).key, (uint256));
        bytes memory quorum =
            Members.pack(base, 1, keys, weights, _passed(base, signers), signers, _settlement.signature(digests, key));
        return abi.encodeCall(ISettlement.settleAll, (_head, 0, type(uint64).max, results, quorum));
    }

    /// @dev The parts of weights that a quorum needs, each as a page or, if its bit in `_inCalldata` is set, passed.
    function _parts(Members.Base memory base, bytes memory signers)
        private
        view
        returns (uint256[] memory parts, bytes memory passed)
    {
        parts = new uint256[](2);
        uint256 count = 0;
        bytes memory from = base.epoch == _head.epoch() ? base.signers : bytes("");
        for (uint256 part = 0; part < 2; part++) {
            bool needed = false;
            for (uint256 i = part * PART; i < (part + 1) * PART && i < N - 3; i++) {
                needed = needed || Members.contains(from, i) != Members.contains(signers, i);
            }
            if (!needed) continue;
            parts[count++] = _weightPages[part];
            if (_inCalldata >> part & 1 == 0) continue;
            bytes memory weights = Members.partOf(_packed, part);
            parts[count - 1] = 1 << 31 | weights.length;
            passed = abi.encodePacked(passed, weights);
        }
        assembly {
            mstore(parts, count)
        }
    }

    function _settle(Members.Base memory base, bytes memory signers) private returns (Members.Base memory result) {
        (uint256[] memory parts, bytes memory passed) = _parts(base, signers);
        _passedWeights = passed;
        bytes memory call = _call(base, signers, _keyPages, parts);
        delete _passedWeights;
        (bool done, bytes memory why) = address(_settlement).call(call);
        assertEq(why, "", "settled");
        assertTrue(done, "settled");
        _head = _head.advance(1);
        result = _expected(1, signers);
        assertEq(_settlement.commitmentAt(1), keccak256(Members.preimage(result)), "the sum of its members");
    }

    function _refuse(bytes memory signers, uint256[] memory keys, uint256[] memory weights, bytes memory expected)
        private
    {
        (bool done, bytes memory why) = address(_settlement).call(_call(Members.empty(), signers, keys, weights));
        assertTrue(!done, "refused");
        assertEq(why, expected, "why");
    }

    function _members(uint256[4] memory indices) private pure returns (bytes memory) {
        bool[] memory members = new bool[](N);
        for (uint256 i = 0; i < 4; i++) {
            members[indices[i]] = true;
        }
        return Members.bitmap(members);
    }

    /// @dev Draws runs of members, from long ones to single members. Some end near the ends of pages and words.
    function _random(uint256 seed) private view returns (bytes memory) {
        bool[] memory members = new bool[](N);
        bool in_ = seed & 1 == 0;
        uint256 i = 0;
        for (uint256 draw = 0; i < N; draw++) {
            uint256 random = uint256(keccak256(abi.encode(seed, draw)));
            uint256 to = i + 1 + random % (1 << (1 + random >> 8 & 7));
            if (random >> 16 & 3 == 0) to = _ends[(random >> 24) % _ends.length] + (random >> 32) % 3;
            if (random >> 16 & 3 == 1) to = 256 * ((random >> 24) % 13) + (random >> 32) % 3;
            if (random >> 16 & 63 == 2) to = N;
            for (; i < to && i < N; i++) {
                members[i] = in_;
            }
            in_ = !in_;
        }
        // The quorum must not be empty, and must weigh something.
        members[seed % 3_000] = true;
        return Members.bitmap(members);
    }

    /// forge-config: default.fuzz.runs = 12
    function testFuzz_differencesAreSumsOfMembers(uint256 seed) public {
        Members.Base memory base = _settle(Members.empty(), _random(seed));
        for (uint256 i = 0; i < 3; i++) {
            _inCalldata = seed >> 128 >> 2 * i & 3;
            base = _settle(base, _random(uint256(keccak256(abi.encode(seed, i)))));
        }
        // In a new epoch all members are weighed again.
        _begin(N - 3);
        _settle(base, _random(~seed));
    }

    function test_edgesOfPages() public {
        Members.Base memory base = _settle(Members.empty(), _members([uint256(0), 1, 2, 4]));
        base = _settle(base, _members([uint256(5), 199, 200, 255]));
        base = _settle(base, _members([uint256(256), 511, 512, 599]));
        base = _settle(base, _members([uint256(2_047), 2_048, 2_049, 3_189]));
        base = _settle(base, _members([uint256(2_047), 3_189, 3_190, N - 1]));
        base = _settle(base, _members([uint256(0), 511, 2_048, 3_190]));
        _settle(base, _members([uint256(2_048), 2_048, 2_048, 2_048]));
    }

    function test_keysInPagesThatAreNotNamed() public {
        uint256[] memory keys = new uint256[](2);
        // These pages hold the indices 2 to 4 and 200 to 255.
        (keys[0], keys[1]) = (_keyPages[1], _keyPages[3]);
        uint256[3] memory missing = [uint256(1), 5, 256];
        uint256[4] memory indices = [uint256(2), 4, 200, 255];
        for (uint256 i = 0; i < 3; i++) {
            uint256 kept = indices[i];
            indices[i] = missing[i];
            _refuse(
                _members(indices), keys, _weightPages, abi.encodeWithSelector(KeyTable.NoSuchKey.selector, missing[i])
            );
            indices[i] = kept;
        }
        // In the wrong order, the first page is skipped.
        (keys[0], keys[1]) = (_keyPages[3], _keyPages[1]);
        _refuse(_members(indices), keys, _weightPages, abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 2));
        (keys[0], keys[1]) = (_keyPages[1], _keyPages[3]);
        (bool done,) = address(_settlement).call(_call(Members.empty(), _members(indices), keys, _weightPages));
        assertTrue(done, "all named");
    }

    function test_weightsInPagesThatAreNotNamed() public {
        bytes memory signers = _members([uint256(8), PART - 1, PART, N - 1]);
        uint256[] memory weights = new uint256[](1);
        weights[0] = _weightPages[0];
        bytes memory why = abi.encodeWithSelector(Weights.NoWeight.selector, 1, PART);
        _refuse(signers, _keyPages, weights, why);
        weights[0] = _weightPages[1];
        why = abi.encodeWithSelector(Weights.NoWeight.selector, 1, 8);
        _refuse(signers, _keyPages, weights, why);
        // The pages in the wrong order.
        weights = new uint256[](2);
        (weights[0], weights[1]) = (_weightPages[1], _weightPages[0]);
        _refuse(signers, _keyPages, weights, why);
        // The page named holds no weight of the bitmap's indices.
        signers = _members([uint256(8), 8, 8, 8]);
        weights = new uint256[](1);
        weights[0] = _weightPages[1];
        _refuse(signers, _keyPages, weights, why);
    }

    function test_keysAtTheEdgesOfTheirPages() public view {
        uint256[4] memory indices = [uint256(2), 4, 5, 199];
        for (uint256 i = 0; i < 4; i++) {
            bytes memory key = Members.toyKeys(indices[i] + 1, 1);
            assertEq(_settlement.keyAt(indices[i], i < 2 ? 3 : 4), key, "the key");
        }
    }

    function test_keysOutsideTheirPages() public {
        uint256[2] memory indices = [uint256(1), 5];
        for (uint256 i = 0; i < 2; i++) {
            vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, indices[i]));
            _settlement.keyAt(indices[i], 3);
        }
    }
}
