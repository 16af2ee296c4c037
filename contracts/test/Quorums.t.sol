// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {QuorumBytes} from "../src/QuorumBytes.sol";
import {Ring} from "../src/Ring.sol";
import {vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {ToyCurve, ToyKeys} from "./mocks/ToyCurve.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Quorums} from "../src/Quorums.sol";
import {Weights} from "../src/Weights.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Tests quorums by their difference from a base, and tries every part of their bytes with wrong values.
contract QuorumsTest is QuorumFixture {
    function test_fromNothingAndFromABase() public {
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, N));
        base = _settle(base, 3, _range(3, N - 1));
        _settle(base, NONE, _range(3, N - 1));
        assertEq(_nonce(), 3, "settled");
    }

    function test_aWordAndMoreOfMembers() public {
        _register(270 - N);
        _compact(200);
        _begin(1);
        for (uint256 i = 0; i < 2; i++) {
            Members.Base memory base = _settle(Members.empty(), NEWEST, _range(0, 257));
            base = _settle(base, 2, _range(255, 270));
            base = _settle(base, NEWEST, _range(9, 256));
            _settle(base, NEWEST, _range(0, 1));
            _weighs = true;
        }
    }

    function test_severalResultsInOne() public {
        bytes32[] memory results = _results(3);
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, 4), _signature(results, NONE, _range(0, 4)));
        bytes32 kept = results[1];
        results[1] = results[2];
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
        results[1] = kept;
        _accept(_call(Members.empty(), results, quorum));
        _settled(Members.empty(), NONE, _range(0, 4), 3);
        assertEq(_nonce(), 3, "three");
        _refuse(_call(Members.empty(), new bytes32[](0), quorum), Settlement.NothingToSettle.selector);
    }

    function test_trap_emptyQuorum() public {
        _refuse(Members.empty(), NONE, "", abi.encodeWithSelector(QuorumBytes.EmptyQuorum.selector));
        // An empty quorum cannot be written with a base, because a quorum without a bitmap is the base.
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, 2));
        bytes32[] memory results = _results(1);
        bytes memory proof = _settlement.signature(new bytes32[](1), 0);
        bytes memory quorum = Members.packOwn(base, NONE, _keyPages, _none, _passed(base, base.signers), "", proof);
        _refuse(_call(base, results, quorum), ToyKeys.FalseSignature.selector);
        quorum = Members.packOwn(base, NONE, _keyPages, _none, _passed(base, base.signers), hex"00", proof);
        _refuse(_call(base, results, quorum), QuorumBytes.BitmapNotShortest.selector);
    }

    /// @notice The keys are a and -a, so their sum is the identity, under which everyone can sign.
    function test_trap_membersWhoseKeysCancel() public {
        _registerSecret(_settlement.ORDER() - 12);
        _begin(1);
        bytes memory signers = _range(11, 13);
        bytes32[] memory results = new bytes32[](1);
        bytes memory quorum = _quorum(Members.empty(), NONE, signers, "");
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.SumIsIdentity.selector);
        // The same from a base, by members that come and by members that leave.
        Members.Base memory base = _settle(Members.empty(), 2, _range(11, 12));
        quorum = _quorum(base, NONE, signers, "");
        _refuse(_call(base, results, quorum), ToyKeys.SumIsIdentity.selector);
        base = _settle(Members.empty(), 2, _range(10, 13));
        quorum = _quorum(base, NONE, signers, "");
        _refuse(_call(base, results, quorum), ToyKeys.SumIsIdentity.selector);
    }

    function test_trap_longerBitmapOfTheSameQuorum() public {
        bytes memory signers = _range(0, 3);
        bytes memory why = abi.encodeWithSelector(QuorumBytes.BitmapNotShortest.selector);
        _refuse(Members.empty(), NONE, abi.encodePacked(signers, hex"00"), why);
        Members.Base memory base = _settle(Members.empty(), NEWEST, signers);
        _refuse(base, NONE, abi.encodePacked(signers, hex"00"), why);
        // The same for the base's bitmap.
        base.signers = abi.encodePacked(signers, hex"00");
        _refuse(base, NONE, base.signers, why);
        _refuse(base, NONE, _range(0, 4), abi.encodeWithSelector(Settlement.NotThisState.selector));
    }

    /// @notice A bitmap of its own says that the quorum differs from the base. If it did not, the proof would hold no
    /// hints for a sum.
    function test_trap_nothingChanged() public {
        for (uint256 i = 0; i < 2; i++) {
            bytes memory signers = _range(3 * i, N);
            Members.Base memory base = _settle(Members.empty(), NEWEST, signers);
            bytes32[] memory results = _results(1);
            bytes memory proof = _signature(results, NONE, signers);
            bytes memory quorum = Members.packOwn(
                base, NONE, _keyPages, _weighs ? _weightPages : _none, _passed(base, signers), signers, proof
            );
            _refuse(_call(base, results, quorum), Quorums.NothingChanged.selector);
            _settle(base, NONE, signers);
            _weighs = true;
        }
    }

    /// @notice The empty quorum as base has no bitmap, and nothing of it is passed.
    function test_trap_aBitmapOfTheEmptyBase() public {
        bytes memory signers = _range(0, 5);
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(Members.empty(), NONE, signers, _signature(results, NONE, signers));
        bytes memory why = abi.encodeWithSelector(Ring.NotThisBase.selector, NONE);
        // First n = 1 and m = 1, so that the bitmap's byte is the proof's first; then n = 1 and m = 0, which would make
        // the quorum a base without a key.
        quorum[5] = 0x01;
        quorum[quorum.length - 32] |= 0x01;
        _refuse(_call(Members.empty(), results, quorum), why);
        quorum[7] = 0x00;
        _refuse(_call(Members.empty(), results, quorum), why);
        quorum[5] = 0x00;
        _refuse(_call(Members.empty(), results, quorum), QuorumBytes.EmptyQuorum.selector);
    }

    function test_trap_replay() public {
        bytes memory signers = _range(0, 5);
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(Members.empty(), NONE, signers, _signature(results, NONE, signers));
        bytes memory data = _call(Members.empty(), results, quorum);
        _accept(data);
        _refuse(data, Settlement.NotThisState.selector);
        _settled(Members.empty(), NONE, signers, 1);
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
    }

    function test_trap_anotherChain() public {
        bytes memory data = _call(Members.empty(), NONE, _range(0, 5));
        vm.chainId(99);
        _refuse(data, ToyKeys.FalseSignature.selector);
    }

    function test_trap_anotherContract() public {
        bytes memory data = _call(Members.empty(), NONE, _range(0, 5));
        ToyCurve first = _settlement;
        setUp();
        assertEq(first.state(), _settlement.state(), "the same state");
        _refuse(data, ToyKeys.FalseSignature.selector);
        _settlement = first;
        _accept(data);
    }

    function test_trap_aBaseThatIsNotCommitted() public {
        _weighs = true;
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, N));
        Members.Base[5] memory wrong = [_copy(base), _copy(base), _copy(base), _copy(base), _copy(base)];
        wrong[0].slot = 3;
        wrong[1].weight++;
        wrong[2].epoch++;
        wrong[3].key[31] ^= 0x01;
        wrong[4].signers = _range(0, N - 1);
        for (uint256 i = 0; i < wrong.length; i++) {
            bytes memory why = abi.encodeWithSelector(Ring.NotThisBase.selector, wrong[i].slot);
            _refuse(wrong[i], NONE, _range(0, N), why);
            _refuse(wrong[i], NONE, _range(1, N), why);
        }
    }

    /// @notice After a rotation the old index keeps its key, so a bitmap with the old index still means that key.
    function test_trap_bitmapAfterRotation() public {
        _weighs = true;
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, N));
        _registerSecret(1000);
        uint64[] memory weights = new uint64[](N + 1);
        for (uint256 i = 1; i <= N; i++) {
            weights[i] = uint64(100 + i);
        }
        _begin(weights, 1, 1);
        Members.Base memory next = _settle(base, 2, _range(0, N));
        assertEq(next.key, base.key, "the same key");
        assertEq(next.weight + 100, base.weight, "the old index weighs nothing");
    }

    function test_trap_cacheRefilledByAnyone() public {
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, N));
        _settlement.pin(1, 2);
        bytes memory why = abi.encodeWithSelector(Ring.SlotPinned.selector, 1);
        _refuse(base, 1, _range(0, N), why);
        _refuse(base, 1, _range(1, N), why);
        _settle(base, 2, _range(0, 1));
        base.slot = 1;
        _settle(base, NONE, _range(0, N));
    }

    /// @notice With 65,535 pinned slots, ski rental would store in slot 65,536, which is slot 0 of the next table: a base of
    /// this table could be pinned there, and its members, who are out, could settle. Such settlements are not deployed.
    function test_trap_pinnedSlotsThatReachTheNextTable() public {
        uint256[6] memory pinned = [uint256(0xfffd), 0xfffe, 0xffff, 0x10000, 0x10001, type(uint256).max];
        for (uint256 i = 0; i < pinned.length; i++) {
            vm.expectRevert(abi.encodeWithSelector(Ring.TooManyPinned.selector, pinned[i], 0xfffc));
            new ToyCurve(pinned[i], CHANGES_A_STORE);
        }
        _deploy();
        _settlement = new ToyCurve(0xfffc, CHANGES_A_STORE);
        _register(N);
        _compact(8);
        _begin(1);
        bytes memory signers = _range(0, 8);
        bytes32[] memory results = _results(1);
        bytes memory signature = _signature(results, RENTAL, signers);
        _accept(_call(Members.empty(), results, _quorum(Members.empty(), RENTAL, signers, signature)));
        assertTrue(_settlement.commitmentAt(0xfffd) != 0, "stored behind the pinned slots");
        assertEq(_settlement.commitmentAt(1 << 16), 0, "and not in the next table");
    }

    function test_trap_pagesOfOthers() public {
        bytes memory signers = _range(0, 5);
        _weighs = true;
        // Weights named as keys, keys named as weights, a page that does not exist, and weights of another epoch.
        uint256[5] memory keyPages = [_weightPages[0], _keyPages[0], 77, _keyPages[0], _keyPages[0]];
        uint256[5] memory weightPages = [_weightPages[0], _keyPages[0], _weightPages[0], 77, _weightPages[0]];
        uint256[4] memory named = [_weightPages[0], _keyPages[0], 77, 77];
        for (uint256 i = 0; i < 5; i++) {
            if (i == 4) _begin(new uint64[](N), 1, 1);
            (_keyPages[0], _weightPages[0]) = (keyPages[i], weightPages[i]);
            bytes memory why = i == 4
                ? abi.encodeWithSelector(Weights.NoWeight.selector, 2, 0)
                : abi.encodeWithSelector(CodePages.NoSuchPage.selector, named[i]);
            _refuse(Members.empty(), NONE, signers, why);
        }
    }

    function test_membersThatDoNotExist() public {
        _refuse(Members.empty(), NONE, _range(N - 1, N + 1), abi.encodeWithSelector(KeyTable.NoSuchKey.selector, N));
        // The member's key lies in a page that is not named.
        delete _keyPages;
        _refuse(Members.empty(), NONE, _range(7, 8), abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 7));
    }

    /// @dev Makes a quorum of each form: with or without a base, a bitmap and pages of weights.
    function _form(uint256 form) private returns (Members.Base memory base, bytes memory signers, uint256 store) {
        _weighs = form & 1 != 0;
        (base, store) = (Members.empty(), form & 2 != 0 ? 3 : NEWEST);
        if (form >= 4) base = _settle(base, form & 2 != 0 ? 2 : NEWEST, _range(0, N));
        // The bitmap has two bytes, and the first is not zero. So the bitmap without its last byte names another
        // quorum.
        signers = form < 8 ? _range(2, N) : base.signers;
        _weighs = _weighs && form < 8;
    }

    /// @notice No shorter part of a quorum's bytes is accepted, whether zeros follow it or the bytes that were cut off.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_everyTruncationIsRefused(uint256 seed) public {
        (Members.Base memory base, bytes memory signers, uint256 store) = _form(seed % 12);
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(base, store, signers, _signature(results, store, signers));
        bytes memory call = _call(base, results, quorum);
        uint256 where = call.length - (quorum.length + 31) / 32 * 32 - 32;
        for (uint256 length = 0; length < quorum.length; length++) {
            bytes memory cut = new bytes(length);
            for (uint256 i = 0; i < length; i++) {
                cut[i] = quorum[i];
            }
            _refuseCut(_call(base, results, cut), length, quorum.length);
            // The length is shorter, and all bytes are still there.
            bytes memory shorter = bytes.concat(call);
            assembly {
                mstore(add(add(shorter, 0x20), where), length)
            }
            _refuseCut(shorter, length, quorum.length);
        }
        _accept(call);
    }

    function _refuseCut(bytes memory data, uint256 length, uint256 whole) private {
        (bool done, bytes memory why) = address(_settlement).call(data);
        assertTrue(!done, "a truncated quorum");
        // The error is known once the lengths are there and before the proof of 32 bytes begins.
        if (length < 11 || length >= whole - 32) return;
        assertEq(why, abi.encodeWithSelector(QuorumBytes.QuorumTooShort.selector, length, whole - 32), "too short");
    }

    /// @notice Changes any two bytes, among them lengths, counts and slots.
    function testFuzz_corruptedBytes(uint256 form, uint256 place, uint8 flip, uint256 place2, uint8 flip2) public {
        (Members.Base memory base, bytes memory signers,) = _form(form % 12);
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(base, NONE, signers, _signature(results, NONE, signers));
        bytes memory wrong = bytes.concat(quorum);
        wrong[place % wrong.length] ^= bytes1(flip);
        wrong[place2 % 11] ^= bytes1(flip2);
        (bool done,) = address(_settlement).call(_call(base, results, wrong));
        if (!done) return;
        // The pages to open may change without harm. Both slots and both lengths may not.
        for (uint256 i = 0; i < 8; i++) {
            assertEq(uint8(wrong[i]), uint8(quorum[i]), "another quorum");
        }
    }

    function test_keysThatAreRefused() public {
        bytes memory encoded = abi.encode(5, ~uint256(5));
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _settlement.possessionDigest(address(this), encoded);
        bytes memory signature = _settlement.signature(digests, 5);
        vm.expectRevert(ToyKeys.FalseSignature.selector);
        _settlement.register(address(0x1), encoded, signature);
        vm.expectRevert(Quorums.IdentityKey.selector);
        _settlement.register(address(this), new bytes(64), signature);
        vm.expectRevert(abi.encodeWithSelector(Quorums.KeyLength.selector, 63, 64));
        _settlement.register(address(this), new bytes(63), signature);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeyTaken.selector, encoded));
        _settlement.register(address(this), encoded, signature);
    }

    function test_pinsThatAreRefused() public {
        _settle(Members.empty(), NEWEST, _range(0, 3));
        _settle(Members.empty(), 2, _range(0, 3));
        // Slot 0 of the ring is empty, because the state holds the newest base; slot 2 is not pinned; slot 0 is that of
        // the newest base.
        uint256[3] memory slots = [uint256(1), 2, 0];
        uint256[3] memory froms = [uint256(0), 2, 2];
        for (uint256 i = 0; i < 3; i++) {
            vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, froms[i]));
            _settlement.pin(slots[i], froms[i]);
        }
        vm.expectRevert(abi.encodeWithSelector(Ring.NotThisBase.selector, 3));
        _settlement.pin(1, 3);
        _settlement.pin(1, 2);
        assertEq(_settlement.commitmentAt(1), _settlement.commitmentAt(2), "pinned");
    }

    function test_pagesOfNoKeysAndOfTooMany() public {
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeysAPage.selector, 0, 383));
        _settlement.compact(8, 0, _none, "");
        _register(400 - N);
        bytes memory keys = _keys(0, 384);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeysAPage.selector, 384, 383));
        _settlement.compact(0, 384, _none, keys);
        _settlement.compact(0, 383, _none, _keys(0, 383));
    }

    /// @notice Indices that do not fit into a table would name another table, or nothing, where a key is looked up.
    function test_trap_indicesBeyondATable() public {
        bytes memory unknown = abi.encode(77, ~uint256(77));
        uint256[4] memory indices = [type(uint256).max, 2 ** 32 + 9, type(uint32).max, 2 ** 64 + 9];
        for (uint256 i = 0; i < 4; i++) {
            bytes memory key = i == 0 ? unknown : _keys(9, 10);
            vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, indices[i]));
            _settlement.compact(indices[i], 1, _none, key);
        }
    }
}
