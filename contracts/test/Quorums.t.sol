// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {CodePages} from "../src/libraries/CodePages.sol";
import {KeyTable} from "../src/KeyTable.sol";
import {Quorums} from "../src/Quorums.sol";
import {Settlement} from "../src/Settlement.sol";

// Long because every part of a packed quorum is tried wrong, over one table of keys and one way to make a quorum.

/// @notice Registers, rotates, weighs, compacts and settles in any order, beside a plain account of all of it.
contract Aggregator is Test {
    ToyCurve public immutable settlement;
    uint256 public constant PINNED = 1;
    uint256 public constant SLOTS = 4;

    uint256[] public keys;
    uint64[] public weights;
    uint256 public epoch;
    Members.Base[SLOTS] public bases;
    uint256[] private _keyPages;
    uint256[] private _weightPages;
    uint256 private _pages;
    uint256 private _paged;
    uint256 public settled;

    constructor() {
        settlement = new ToyCurve(2, PINNED, 3);
        register(1);
        begin(7);
    }

    function register(uint256 seed) public {
        if (keys.length > 60) return;
        uint256 key = bound(seed, 1, settlement.ORDER() - 1);
        bytes memory encoded = abi.encode(key, ~key);
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = settlement.possessionDigest(address(this), encoded);
        for (uint256 i = 0; i < keys.length; i++) {
            if (keys[i] == key) return;
        }
        settlement.register(address(this), encoded, settlement.signature(digests, key));
        keys.push(key);
    }

    function compact(uint256 seed) public {
        uint256 waiting = keys.length - _paged;
        if (waiting < 2) return;
        uint256 count = bound(seed, 2, waiting);
        settlement.compact(count);
        _paged += count;
        _keyPages.push(++_pages);
    }

    function begin(uint256 seed) public {
        delete weights;
        for (uint256 i = 0; i < keys.length; i++) {
            weights.push(uint64(uint256(keccak256(abi.encode(seed, i))) % 1000));
        }
        settlement.begin(weights, 1);
        epoch++;
        delete _weightPages;
        _weightPages.push(++_pages);
    }

    /// @dev Any quorum, as a difference from any base, stored anywhere.
    function settle(uint256 seed, uint256 slot, uint256 store, uint256 results) public {
        bytes memory signers = _signers(seed);
        if (signers.length == 0) return;
        (uint256 key, uint256 weight) = sum(signers);
        if (key == 0 || weight == 0) return;
        slot = bound(slot, 0, SLOTS);
        Members.Base memory base = Members.empty();
        if (slot < SLOTS && bases[slot].key.length != 0) base = bases[slot];
        store = bound(store, PINNED, SLOTS);
        bytes32[] memory all = new bytes32[](bound(results, 1, 3));
        bytes32[] memory digests = new bytes32[](all.length);
        for (uint256 i = 0; i < all.length; i++) {
            all[i] = keccak256(abi.encode(seed, i));
            digests[i] = settlement.resultDigest(settled + i, all[i]);
        }
        uint256 storeIn = store == SLOTS ? Members.NONE : store;
        settlement.settle(all, pack(base, storeIn, signers, settlement.signature(digests, key)));
        settled += all.length;
        if (store < SLOTS) {
            bases[store] = Members.Base(store, uint64(epoch), uint128(weight), abi.encode(key, ~key), signers);
        }
    }

    function pin(uint256 seed) public {
        uint256 from = bound(seed, PINNED, SLOTS - 1);
        if (bases[from].key.length == 0) return;
        settlement.pin(0, from);
        bases[0] = bases[from];
        bases[0].slot = 0;
    }

    function pack(Members.Base memory base, uint256 store, bytes memory signers, bytes memory proof)
        public
        view
        returns (bytes memory)
    {
        return Members.pack(base, store, _keyPages, _weightPages, signers, proof);
    }

    /// @notice Key and weight of a quorum, from every member's.
    function sum(bytes memory signers) public view returns (uint256 key, uint256 weight) {
        for (uint256 i = 0; i < keys.length; i++) {
            if (!Members.contains(signers, i)) continue;
            key = addmod(key, keys[i], settlement.ORDER());
            weight += i < weights.length ? weights[i] : 0;
        }
    }

    function base(uint256 slot) external view returns (Members.Base memory) {
        return bases[slot];
    }

    function _signers(uint256 seed) private view returns (bytes memory) {
        bool[] memory members = new bool[](keys.length);
        for (uint256 i = 0; i < keys.length; i++) {
            members[i] = uint256(keccak256(abi.encode(seed, "member", i))) % 4 != 0;
        }
        return Members.bitmap(members);
    }
}

contract QuorumsInvariants is Test {
    Aggregator private _aggregator;

    function setUp() public {
        _aggregator = new Aggregator();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_aggregator);
    }

    /// @notice Whatever was registered, compacted, weighed and settled: a slot commits to the sum of its bitmap's keys.
    function invariant_everyBaseIsTheSumOfItsMembers() external view {
        ToyCurve settlement = _aggregator.settlement();
        for (uint256 slot = 0; slot < _aggregator.SLOTS(); slot++) {
            Members.Base memory base = _aggregator.base(slot);
            if (base.key.length == 0) {
                assertEq(settlement.commitmentAt(slot), bytes32(0), "an empty slot");
                continue;
            }
            assertEq(settlement.commitmentAt(slot), keccak256(Members.preimage(base)), "a base");
            (uint256 key,) = _aggregator.sum(base.signers);
            assertEq(abi.decode(base.key, (uint256)), key, "the key of a base");
        }
    }

    function invariant_everyResultIsSettledOnce() external view {
        assertEq(_aggregator.settlement().head().nonce, _aggregator.settled(), "results");
    }
}

contract QuorumsTest is Test {
    ToyCurve private _settlement;
    uint256 private constant N = 12;
    uint256[] private _none;
    uint256[] private _keyPages;
    uint256[] private _weightPages;

    function setUp() public {
        _settlement = new ToyCurve(2, 1, 3);
        for (uint256 i = 0; i < N; i++) {
            _register(i + 1);
        }
        _settlement.compact(8);
        _keyPages.push(1);
        _begin(1);
    }

    function _begin(uint128 required) private {
        uint64[] memory weights = new uint64[](_settlement.extent().keys);
        for (uint256 i = 0; i < weights.length; i++) {
            weights[i] = uint64(100 + i);
        }
        _settlement.begin(weights, required);
        delete _weightPages;
        _weightPages.push(_settlement.extent().pages);
    }

    function _register(uint256 key) private {
        bytes memory encoded = abi.encode(key, ~key);
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _settlement.possessionDigest(address(this), encoded);
        _settlement.register(address(this), encoded, _settlement.signature(digests, key));
    }

    function _members(uint256 from, uint256 to) private pure returns (bytes memory) {
        bool[] memory members = new bool[](to);
        for (uint256 i = from; i < to; i++) {
            members[i] = true;
        }
        return Members.bitmap(members);
    }

    function _sum(bytes memory signers) private pure returns (uint256 key, uint128 weight) {
        for (uint256 i = 0; i < 8 * signers.length; i++) {
            if (Members.contains(signers, i)) (key, weight) = (key + i + 1, weight + 100 + uint128(i));
        }
    }

    function _result(bytes memory signers) private view returns (bytes32[] memory results, bytes memory signature) {
        results = new bytes32[](1);
        results[0] = keccak256(signers);
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _settlement.resultDigest(_settlement.head().nonce, results[0]);
        (uint256 key,) = _sum(signers);
        signature = _settlement.signature(digests, key);
    }

    function _quorum(Members.Base memory base, uint256 store, bytes memory signers, bytes memory proof)
        private
        view
        returns (bytes memory)
    {
        return Members.pack(base, store, _keyPages, _weightPages, signers, proof);
    }

    function _settle(Members.Base memory base, uint256 store, bytes memory signers)
        private
        returns (Members.Base memory)
    {
        (bytes32[] memory results, bytes memory signature) = _result(signers);
        _settlement.settle(results, _quorum(base, store, signers, signature));
        (uint256 key, uint128 weight) = _sum(signers);
        return Members.Base(store, uint64(_settlement.head().epoch), weight, abi.encode(key, ~key), signers);
    }

    function _refuse(Members.Base memory base, uint256 store, bytes memory signers, bytes memory why) private {
        (bytes32[] memory results, bytes memory signature) = _result(signers);
        bytes memory quorum = _quorum(base, store, signers, signature);
        vm.expectRevert(why);
        _settlement.settle(results, quorum);
    }

    function test_fromNothingAndFromABase() public {
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, N));
        base = _settle(base, 2, _members(3, N - 1));
        assertEq(_settlement.commitmentAt(2), keccak256(Members.preimage(base)), "stored");
        _settle(base, Members.NONE, _members(3, N - 1));
        assertEq(_settlement.head().nonce, 3, "settled");
    }

    function test_aWordAndMoreOfMembers() public {
        for (uint256 i = N; i < 270; i++) {
            _register(i + 1);
        }
        _settlement.compact(200);
        _keyPages.push(_settlement.extent().pages);
        _begin(1);
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, 257));
        base = _settle(base, 1, _members(255, 270));
        base = _settle(base, 1, _members(9, 256));
        _settle(base, 1, _members(0, 1));
    }

    function test_aBaseOfAnotherEpochKeepsItsKeyAndIsWeighedAnew() public {
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, N));
        _begin(1);
        base = _settle(base, 1, _members(1, N));
        assertEq(_settlement.commitmentAt(1), keccak256(Members.preimage(base)), "weight of the new epoch");
        assertEq(base.epoch, 2, "epoch");
    }

    function test_trap_emptyQuorum() public {
        _refuse(Members.empty(), Members.NONE, "", abi.encodeWithSelector(Quorums.EmptyQuorum.selector));
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, 2));
        _refuse(base, Members.NONE, "", abi.encodeWithSelector(Quorums.EmptyQuorum.selector));
    }

    /// @notice Keys a and -a: the sum is the identity, under which everything is signed.
    function test_trap_membersWhoseKeysCancel() public {
        _register(_settlement.ORDER() - 12);
        bool[] memory members = new bool[](13);
        members[11] = members[12] = true;
        bytes memory signers = Members.bitmap(members);
        bytes32[] memory results = new bytes32[](1);
        bytes memory quorum = _quorum(Members.empty(), Members.NONE, signers, "");
        vm.expectRevert(ToyCurve.SumIsIdentity.selector);
        _settlement.settle(results, quorum);
    }

    function test_trap_longerBitmapOfTheSameQuorum() public {
        bytes memory signers = _members(0, 3);
        _refuse(
            Members.empty(),
            Members.NONE,
            abi.encodePacked(signers, hex"00"),
            abi.encodeWithSelector(Quorums.BitmapNotShortest.selector)
        );
    }

    function test_trap_replay() public {
        bytes memory signers = _members(0, 5);
        (bytes32[] memory results, bytes memory signature) = _result(signers);
        bytes memory quorum = _quorum(Members.empty(), Members.NONE, signers, signature);
        _settlement.settle(results, quorum);
        vm.expectRevert(ToyCurve.FalseSignature.selector);
        _settlement.settle(results, quorum);
    }

    function test_trap_anotherChain() public {
        bytes memory signers = _members(0, 5);
        (bytes32[] memory results, bytes memory signature) = _result(signers);
        vm.chainId(99);
        vm.expectRevert(ToyCurve.FalseSignature.selector);
        _settlement.settle(results, _quorum(Members.empty(), Members.NONE, signers, signature));
    }

    function test_trap_anotherContract() public {
        bytes memory signers = _members(0, 5);
        (bytes32[] memory results, bytes memory signature) = _result(signers);
        bytes memory quorum = _quorum(Members.empty(), Members.NONE, signers, signature);
        _settlement = new ToyCurve(2, 1, 3);
        for (uint256 i = 0; i < N; i++) {
            _register(i + 1);
        }
        _settlement.compact(8);
        _begin(1);
        vm.expectRevert(ToyCurve.FalseSignature.selector);
        _settlement.settle(results, quorum);
    }

    function test_trap_aBaseThatIsNotCommitted() public {
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, N));
        Members.Base[5] memory wrong = [base, base, base, base, base];
        for (uint256 i = 0; i < wrong.length; i++) {
            wrong[i] = Members.Base(base.slot, base.epoch, base.weight, bytes.concat(base.key), base.signers);
        }
        wrong[0].slot = 3;
        wrong[1].weight++;
        wrong[2].epoch++;
        wrong[3].key[31] ^= 0x01;
        wrong[4].signers = _members(0, N - 1);
        for (uint256 i = 0; i < wrong.length; i++) {
            _refuse(
                wrong[i],
                Members.NONE,
                _members(0, N),
                abi.encodeWithSelector(Quorums.NotThisBase.selector, wrong[i].slot)
            );
        }
    }

    /// @notice Rotation: the old index keeps its key, and a bitmap that has it still means it.
    function test_trap_bitmapAfterRotation() public {
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, N));
        _register(1000);
        uint64[] memory weights = new uint64[](N + 1);
        for (uint256 i = 1; i <= N; i++) {
            weights[i] = uint64(100 + i);
        }
        _settlement.begin(weights, 1);
        _weightPages[0] = _settlement.extent().pages;
        (bytes32[] memory results, bytes memory signature) = _result(_members(0, N));
        _settlement.settle(results, _quorum(base, 1, _members(0, N), signature));
        (uint256 key, uint128 weight) = _sum(_members(0, N));
        Members.Base memory expected = Members.Base(1, 2, weight - 100, abi.encode(key, ~key), base.signers);
        assertEq(_settlement.commitmentAt(1), keccak256(Members.preimage(expected)), "the old index weighs nothing");
    }

    function test_trap_cacheRefilledByAnyone() public {
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, N));
        _settlement.pin(0, 1);
        _refuse(base, 0, _members(0, N), abi.encodeWithSelector(Quorums.SlotPinned.selector, 0));
        _settle(base, 1, _members(0, 1));
        base.slot = 0;
        _settle(base, Members.NONE, _members(0, N));
    }

    function test_trap_pagesOfOthers() public {
        bytes memory signers = _members(0, 5);
        // Weights in the place of keys, keys in that of weights, a page that does not exist, weights of another epoch.
        uint256[4] memory keyPages = [_weightPages[0], _keyPages[0], 77, _keyPages[0]];
        uint256[4] memory weightPages = [_weightPages[0], _keyPages[0], _weightPages[0], _weightPages[0]];
        uint256[4] memory named = [_weightPages[0], _keyPages[0], 77, 0];
        for (uint256 i = 0; i < 4; i++) {
            if (i == 3) _settlement.begin(new uint64[](N), 1);
            (_keyPages[0], _weightPages[0]) = (keyPages[i], weightPages[i]);
            bytes memory why = i == 3
                ? abi.encodeWithSelector(KeyTable.NoWeight.selector, 2, 0)
                : abi.encodeWithSelector(CodePages.NoSuchPage.selector, named[i]);
            _refuse(Members.empty(), Members.NONE, signers, why);
        }
    }

    function test_membersThatDoNotExist() public {
        _refuse(
            Members.empty(), Members.NONE, _members(N, N + 1), abi.encodeWithSelector(KeyTable.NoSuchKey.selector, N)
        );
        // One in a page that was not named.
        delete _keyPages;
        _refuse(Members.empty(), Members.NONE, _members(7, 8), abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 7));
    }

    function test_tooLight() public {
        _begin(1000);
        _refuse(
            Members.empty(),
            Members.NONE,
            _members(0, 3),
            abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 303, 1000)
        );
    }

    function test_everyTruncationIsRefused() public {
        Members.Base memory base = _settle(Members.empty(), 1, _members(0, N));
        (bytes32[] memory results, bytes memory signature) = _result(_members(2, N));
        bytes memory quorum = _quorum(base, 1, _members(2, N), signature);
        for (uint256 length = 0; length < quorum.length; length++) {
            bytes memory cut = new bytes(length);
            for (uint256 i = 0; i < length; i++) {
                cut[i] = quorum[i];
            }
            (bool done, bytes memory why) = address(_settlement).call(abi.encodeCall(Settlement.settle, (results, cut)));
            assertTrue(!done, "a truncated quorum");
            // From the counts on, up to the proof of 32 bytes.
            if (length < 14 || length >= quorum.length - 32) continue;
            bytes4 tooShort = Quorums.QuorumTooShort.selector;
            assertEq(why, abi.encodeWithSelector(tooShort, length, quorum.length - 32), "too short");
        }
        _settlement.settle(results, quorum);
    }

    function test_rental() public {
        uint256 rental = _settlement.RENTAL();
        Members.Base memory base = _settle(Members.empty(), 2, _members(0, N));
        assertEq(_settlement.commitmentAt(1), bytes32(0), "nothing rented yet");
        _settle(base, rental, _members(1, N)); // one change paid
        assertEq(_settlement.commitmentAt(1), bytes32(0), "cheaper to pay");
        Members.Base memory stored = _settle(base, rental, _members(2, N)); // three
        assertEq(_settlement.commitmentAt(1), keccak256(Members.preimage(stored)), "stored");
        assertEq(_settlement.head().paid, 0, "paid off");
    }

    function test_registrarOnly() public {
        vm.startPrank(address(0xbad));
        bytes memory why = abi.encodeWithSelector(Settlement.NotRegistrar.selector, address(0xbad));
        vm.expectRevert(why);
        _settlement.register(address(this), "", "");
        vm.expectRevert(why);
        _settlement.begin(new uint64[](0), 1);
        vm.expectRevert(why);
        _settlement.pin(0, 1);
        vm.stopPrank();
    }

    function test_keysThatAreRefused() public {
        bytes memory encoded = abi.encode(5, ~uint256(5));
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _settlement.possessionDigest(address(this), encoded);
        bytes memory signature = _settlement.signature(digests, 5);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.KeyTaken.selector, encoded));
        _settlement.register(address(this), encoded, signature);
        vm.expectRevert(ToyCurve.FalseSignature.selector);
        _settlement.register(address(0x1), encoded, signature);
        vm.expectRevert(Quorums.IdentityKey.selector);
        _settlement.register(address(this), new bytes(64), signature);
        vm.expectRevert(abi.encodeWithSelector(Quorums.KeyLength.selector, 63, 64));
        _settlement.register(address(this), new bytes(63), signature);
    }

    function test_pagesOfTooFewAndTooManyKeys() public {
        vm.expectRevert(abi.encodeWithSelector(KeyTable.TooFewKeys.selector, 1, 2));
        _settlement.compact(1);
        vm.expectRevert(abi.encodeWithSelector(KeyTable.TooManyKeys.selector, 5, 4));
        _settlement.compact(5);
        _settlement.compact(4);
    }

    function test_oneMember() public {
        bytes32 digest = keccak256("alone");
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = digest;
        _settlement.checkMember(digest, 3, abi.encodePacked(uint32(1), _settlement.signature(digests, 4)));
        _settlement.checkMember(digest, 9, abi.encodePacked(uint32(0), _settlement.signature(digests, 10)));
        bytes memory proof = abi.encodePacked(uint32(1), _settlement.signature(digests, 5));
        vm.expectRevert(ToyCurve.FalseSignature.selector);
        _settlement.checkMember(digest, 3, proof);
    }

    function test_severalResultsInOne() public {
        bytes32[] memory results = new bytes32[](3);
        bytes32[] memory digests = new bytes32[](3);
        for (uint256 i = 0; i < 3; i++) {
            digests[i] = _settlement.resultDigest(i, results[i]);
        }
        (uint256 key,) = _sum(_members(0, 4));
        bytes memory signature = _settlement.signature(digests, key);
        _settlement.settle(results, _quorum(Members.empty(), Members.NONE, _members(0, 4), signature));
        assertEq(_settlement.head().nonce, 3, "three");
        vm.expectRevert(Settlement.NothingToSettle.selector);
        _settlement.settle(new bytes32[](0), "");
    }
}

/// @notice Differences that go through several pages of both kinds, whose bounds are not those of a bitmap's words.
contract PagesTest is Test {
    ToyCurve private _settlement;
    uint256 private constant N = 3_200;
    /// @dev Pages of keys end before these indices; the rest is in storage.
    uint256[] private _ends =
        [2, 5, 200, 256, 511, 512, 600, 900, 1_200, 1_500, 1_800, 2_100, 2_400, 2_700, 3_000, 3_190];
    uint256[] private _keyPages;
    uint256[] private _weightPages;
    uint256 private constant WEIGHTS_A_PAGE = 3_070;

    function setUp() public {
        _settlement = new ToyCurve(1, 0, 3);
        for (uint256 i = 0; i < N; i += 100) {
            _settlement.fill(i, 100);
        }
        uint256 first = 0;
        for (uint256 i = 0; i < _ends.length; i++) {
            _settlement.compact(_ends[i] - first);
            _keyPages.push(i + 1);
            first = _ends[i];
        }
        _begin(N - 3);
    }

    /// @dev The last three, who came since, weigh nothing.
    function _begin(uint256 count) private {
        uint64[] memory weights = new uint64[](count);
        for (uint256 i = 0; i < count; i++) {
            weights[i] = uint64(_weight(i));
        }
        uint256 pages = _settlement.extent().pages;
        _settlement.begin(weights, 1);
        delete _weightPages;
        _weightPages.push(pages + 1);
        _weightPages.push(pages + 2);
    }

    function _weight(uint256 i) private pure returns (uint256) {
        return i < N - 3 ? type(uint64).max - i * i : 0;
    }

    function _expected(uint256 slot, bytes memory signers) private view returns (Members.Base memory) {
        (uint256 key, uint256 weight) = (0, 0);
        for (uint256 i = 0; i < 8 * signers.length; i++) {
            if (Members.contains(signers, i)) (key, weight) = (key + i + 1, weight + _weight(i));
        }
        uint64 epoch = uint64(_settlement.head().epoch);
        return Members.Base(slot, epoch, uint128(weight), abi.encode(key, ~key), signers);
    }

    function _call(Members.Base memory base, bytes memory signers, uint256[] memory keys, uint256[] memory weights)
        private
        view
        returns (bytes memory)
    {
        bytes32[] memory results = new bytes32[](1);
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = _settlement.resultDigest(_settlement.head().nonce, 0);
        uint256 key = abi.decode(_expected(0, signers).key, (uint256));
        bytes memory quorum = Members.pack(base, 1, keys, weights, signers, _settlement.signature(digests, key));
        return abi.encodeCall(Settlement.settle, (results, quorum));
    }

    function _settle(Members.Base memory base, bytes memory signers) private returns (Members.Base memory result) {
        (bool done, bytes memory why) = address(_settlement).call(_call(base, signers, _keyPages, _weightPages));
        assertEq(why, "", "settled");
        assertTrue(done, "settled");
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

    /// @dev Runs of members, from long to single ones, with ends near those of pages and words.
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
        // A quorum is not empty, and weighs something.
        members[seed % 3_000] = true;
        return Members.bitmap(members);
    }

    /// forge-config: default.fuzz.runs = 12
    function testFuzz_differencesAreSumsOfMembers(uint256 seed) public {
        Members.Base memory base = _settle(Members.empty(), _random(seed));
        for (uint256 i = 0; i < 3; i++) {
            base = _settle(base, _random(uint256(keccak256(abi.encode(seed, i)))));
        }
        // Weighed anew over all members.
        _begin(N - 3);
        _settle(base, _random(~seed));
    }

    function test_edgesOfPages() public {
        Members.Base memory base = _settle(Members.empty(), _members([uint256(0), 1, 2, 4]));
        base = _settle(base, _members([uint256(5), 199, 200, 255]));
        base = _settle(base, _members([uint256(256), 511, 512, 599]));
        base = _settle(base, _members([uint256(3_069), 3_070, 3_071, 3_189]));
        base = _settle(base, _members([uint256(3_069), 3_189, 3_190, N - 1]));
        base = _settle(base, _members([uint256(0), 511, 3_070, 3_190]));
        _settle(base, _members([uint256(3_070), 3_070, 3_070, 3_070]));
    }

    function test_keysInPagesThatAreNotNamed() public {
        uint256[] memory keys = new uint256[](2);
        // 2 to 4 and 200 to 255 are named.
        (keys[0], keys[1]) = (2, 4);
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
        // Backwards: the first page is passed by.
        (keys[0], keys[1]) = (4, 2);
        _refuse(_members(indices), keys, _weightPages, abi.encodeWithSelector(KeyTable.NoSuchKey.selector, 2));
        (keys[0], keys[1]) = (2, 4);
        (bool done,) = address(_settlement).call(_call(Members.empty(), _members(indices), keys, _weightPages));
        assertTrue(done, "all named");
    }

    function test_weightsInPagesThatAreNotNamed() public {
        bytes memory signers = _members([uint256(8), WEIGHTS_A_PAGE - 1, WEIGHTS_A_PAGE, N - 1]);
        uint256[] memory weights = new uint256[](1);
        weights[0] = _weightPages[0];
        bytes memory why = abi.encodeWithSelector(KeyTable.NoWeight.selector, 1, WEIGHTS_A_PAGE);
        _refuse(signers, _keyPages, weights, why);
        weights[0] = _weightPages[1];
        why = abi.encodeWithSelector(KeyTable.NoWeight.selector, 1, 8);
        _refuse(signers, _keyPages, weights, why);
        // Backwards.
        weights = new uint256[](2);
        (weights[0], weights[1]) = (_weightPages[1], _weightPages[0]);
        _refuse(signers, _keyPages, weights, why);
        _refuse(signers, _keyPages, new uint256[](0), why);
        // A page that ends before the bitmap does not reach behind it.
        signers = _members([uint256(8), 8, 8, 8]);
        weights = new uint256[](1);
        weights[0] = _weightPages[1];
        _refuse(signers, _keyPages, weights, why);
    }

    function test_oneMemberAtTheEdges() public view {
        bytes32 digest = keccak256("alone");
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = digest;
        uint256[4] memory indices = [uint256(2), 4, 5, 199];
        for (uint256 i = 0; i < 4; i++) {
            bytes memory proof = _settlement.signature(digests, indices[i] + 1);
            _settlement.checkMember(digest, indices[i], abi.encodePacked(uint32(i < 2 ? 2 : 3), proof));
        }
    }

    function test_oneMemberOutsideItsPage() public {
        uint256[2] memory indices = [uint256(1), 5];
        for (uint256 i = 0; i < 2; i++) {
            vm.expectRevert(abi.encodeWithSelector(KeyTable.NoSuchKey.selector, indices[i]));
            _settlement.checkMember(0, indices[i], abi.encodePacked(uint32(2)));
        }
    }
}

contract CodePagesTest is Test {
    /// @dev What `addressOf` is, plainly.
    function _plain(address creator, uint256 nonce) private pure returns (address) {
        bytes memory rlp;
        if (nonce < 0x80) rlp = abi.encodePacked(hex"d694", creator, uint8(nonce));
        else if (nonce < 0x100) rlp = abi.encodePacked(hex"d794", creator, hex"81", uint8(nonce));
        else if (nonce < 0x10000) rlp = abi.encodePacked(hex"d894", creator, hex"82", uint16(nonce));
        else if (nonce < 0x1000000) rlp = abi.encodePacked(hex"d994", creator, hex"83", uint24(nonce));
        else rlp = abi.encodePacked(hex"da94", creator, hex"84", uint32(nonce));
        return address(uint160(uint256(keccak256(rlp))));
    }

    function testFuzz_addresses(address creator, uint32 nonce, uint256 shift) public pure {
        nonce >>= shift % 32;
        dirtyMemory();
        assertEq(CodePages.addressOf(creator, nonce), _plain(creator, nonce), "address");
    }

    function test_addressesAtTheEdges() public view {
        uint256[9] memory nonces = [uint256(1), 0x7f, 0x80, 0xff, 0x100, 0xffff, 0x10000, 0xffffff, 0x1000000];
        for (uint256 i = 0; i < nonces.length; i++) {
            assertEq(CodePages.addressOf(address(this), nonces[i]), _plain(address(this), nonces[i]), "address");
        }
    }

    /// @notice Both ways to open a page, over dirty memory, and what lies behind its end.
    function test_opened() public {
        CodePages.create(7, 0x0102030405060708, hex"c0ffee");
        dirtyMemory();
        (address page, uint256 number) = CodePages.open(1, 7);
        assertEq(number, 0x0102030405060708, "number");
        bytes memory payload = new bytes(5);
        uint256 to;
        assembly {
            to := add(payload, 0x20)
        }
        CodePages.read(page, 1, 5, to);
        assertEq(payload, hex"ffee000000", "payload");
        bytes memory whole = new bytes(CodePages.HEADER + 4);
        assembly {
            to := add(whole, 0x20)
        }
        assertEq(CodePages.load(1, 7, 4, to), 0x0102030405060708, "number");
        assertEq(whole, hex"00070102030405060708c0ffee00", "page");
    }

    /// @notice The addresses of CREATE around every length of a nonce in RLP, from forge's own account of it.
    function test_addressesOfEveryLengthOfNonce() public {
        uint256 made = 1;
        for (uint256 nonce = 1; nonce < 300; nonce++) {
            address page = CodePages.create(1, uint64(nonce), hex"c0ffee");
            assertEq(page, CodePages.addressOf(address(this), made++), "address");
        }
    }
}
