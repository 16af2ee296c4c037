// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ring} from "../src/Ring.sol";
import {Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {ToyCurve, ToyKeys} from "./mocks/ToyCurve.sol";
import {Head, Heads} from "../src/Head.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Tests the state hash: what a call passes must hash to it, and an epoch replaces a part of what it hashes.
contract QuorumStateTest is QuorumFixture {
    address private constant STRANGER = address(0xbad);

    /// @dev Makes a settlement with settled results, paid changes, a newest base and a base in the ring.
    function _live() private returns (Members.Base memory ring) {
        ring = _settle(Members.empty(), 2, _range(0, N));
        _settle(Members.empty(), NEWEST, _range(1, N), 2);
        _settle(_newest, RENTAL, _range(2, N));
        assertTrue(_nonce() == 4 && _epoch() == 1 && _members() == N, "nonce, epoch, members");
        assertTrue(_enough() == 1 && _required() == 1 && _paid() == 1, "enough, required, paid");
    }

    function _notThisBase(uint256 slot) private pure returns (bytes memory) {
        return abi.encodeWithSelector(Ring.NotThisBase.selector, slot);
    }

    function _flip(uint256 bit) private view returns (Head) {
        return Head.wrap(Head.unwrap(_head) ^ 1 << bit);
    }

    /// @notice Flips every bit of the head, in both ways to settle, and every bit of the newest commitment.
    function test_everyBitOfTheState() public {
        Members.Base memory ring = _live();
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, _range(1, N));
        bytes memory near = _quorum(_newest, NONE, _range(1, N), proof);
        bytes memory far = _quorum(ring, NONE, _range(1, N), proof);
        bytes32 newest = Members.commitment(_newest);
        for (uint256 bit = 0; bit < 256; bit++) {
            Head wrong = _flip(bit);
            _refuse(
                abi.encodeCall(ISettlement.settle, (wrong, _deadline, results[0], near)),
                Settlement.NotThisState.selector
            );
            _refuse(_callAll(newest, wrong, results, far), Settlement.NotThisState.selector);
            bytes32 other = newest ^ bytes32(1 << bit);
            _refuse(_callAll(other, _head, results, far), Settlement.NotThisState.selector);
        }
        uint256 before = vm.snapshotState();
        _accept(abi.encodeCall(ISettlement.settle, (_head, _deadline, results[0], near)));
        vm.revertToState(before);
        _accept(_callAll(newest, _head, results, far));
    }

    function testFuzz_anyOtherState(Head head, bytes32 newest) public {
        Members.Base memory ring = _live();
        if (Head.unwrap(head) == Head.unwrap(_head) && newest == Members.commitment(_newest)) return;
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(ring, NONE, _range(1, N), _signature(results, NONE, _range(1, N)));
        _refuse(_callAll(newest, head, results, quorum), Settlement.NotThisState.selector);
    }

    /// @notice Compares the digest with one in plain Solidity, over memory that is not clean.
    function testFuzz_theDigest(uint256 epoch, uint256 nonce, uint256 deadline, uint256 store, bytes32[] memory results)
        public
        view
    {
        bytes32 expected = _digest(epoch, nonce, deadline, store, results);
        assertEq(_settlement.resultsDigest(epoch, nonce, deadline, store, results), expected, "digest");
    }

    /// @notice Signatures count up to the deadline and in its second, and not later. Whoever submits cannot move it.
    function test_trap_afterTheDeadline() public {
        _deadline = 1_000;
        bytes memory near = _call(Members.empty(), NONE, _range(0, N));
        vm.warp(1_001);
        bytes memory why = abi.encodeWithSelector(Settlement.DeadlinePassed.selector, 1_000);
        _refuse(near, why);
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, _range(0, N));
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, N), proof);
        _deadline = 1_001;
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
        _deadline = 1_000;
        vm.warp(1_000);
        _accept(near);
        _settled(Members.empty(), NONE, _range(0, N), 1);
    }

    /// @notice Whoever copies a signature from the mempool stores the quorum in the slot that was signed, or nowhere.
    function test_trap_anotherSlotToStoreIn() public {
        uint256[5] memory stores = [uint256(NEWEST), 2, 3, RENTAL, NONE];
        bytes memory signers = _range(0, N);
        bytes32[] memory results = _results(1);
        for (uint256 i = 0; i < 5; i++) {
            bytes memory proof = _signature(results, stores[i], signers);
            for (uint256 j = 0; j < 5; j++) {
                if (i == j) continue;
                bytes memory quorum = _quorum(Members.empty(), stores[j], signers, proof);
                _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
            }
        }
        _settle(Members.empty(), 3, signers);
    }

    /// @notice A quorum signed before an epoch was entered. Its signature does not count in the next epoch.
    function test_trap_aSignatureOfAnotherEpoch() public {
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, _range(0, N));
        _begin(1);
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, N), proof);
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
        _settle(Members.empty(), NONE, _range(0, N));
    }

    /// @notice One signature covers all results of a call: none can be left out, added, repeated or moved.
    function test_trap_otherResultsUnderTheSignature() public {
        bytes32[] memory results = _results(3);
        bytes memory proof = _signature(results, NONE, _range(0, N));
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, N), proof);
        for (uint256 count = 1; count < 6; count++) {
            if (count == 3) continue;
            bytes32[] memory others = new bytes32[](count);
            for (uint256 i = 0; i < count; i++) {
                others[i] = results[i % 3];
            }
            _refuse(_call(Members.empty(), others, quorum), ToyKeys.FalseSignature.selector);
        }
        (results[0], results[2]) = (results[2], results[0]);
        _refuse(_call(Members.empty(), results, quorum), ToyKeys.FalseSignature.selector);
        (results[0], results[2]) = (results[2], results[0]);
        _accept(_call(Members.empty(), results, quorum));
    }

    /// @notice Compares what `Heads` reads and writes with plain divisions.
    function testFuzz_heads(Head head, Head terms, uint24 paid, uint32 results) public pure {
        uint256 word = Head.unwrap(head);
        assertEq(head.nonce(), word / 2 ** 208, "nonce");
        assertEq(head.table(), word / 2 ** 192 % 2 ** 16, "table");
        assertEq(head.epoch(), word / 2 ** 160 % 2 ** 32, "epoch");
        assertEq(head.members(), word / 2 ** 136 % 2 ** 24, "members");
        assertEq(head.enough(), word / 2 ** 112 % 2 ** 24, "enough");
        assertEq(head.required(), word / 2 ** 24 % 2 ** 88, "required");
        assertEq(head.paid(), word % 2 ** 24, "paid");
        Head same = Heads.pack(
            head.nonce(), head.table(), head.epoch(), head.members(), head.enough(), head.required(), head.paid()
        );
        assertEq(Head.unwrap(same), word, "packed");
        assertEq(Head.unwrap(head.withPaid(paid)), word - word % 2 ** 24 + paid, "another paid");
        if (head.nonce() < 2 ** 47) {
            assertEq(Head.unwrap(head.advance(results)), word + uint256(results) * 2 ** 208, "advanced");
        }
        terms = Head.wrap(Head.unwrap(terms) % 2 ** 208 / 2 ** 24 * 2 ** 24);
        assertEq(
            Head.unwrap(head.enter(terms)), word / 2 ** 208 * 2 ** 208 + Head.unwrap(terms) + word % 2 ** 24, "entered"
        );
    }

    /// @notice Tries heads and commitments that were right once.
    function test_trap_staleHead() public {
        Head[4] memory heads;
        bytes32[4] memory newests;
        (heads[0], newests[0]) = (_head, 0);
        _settle(Members.empty(), NEWEST, _range(0, N));
        (heads[1], newests[1]) = (_head, Members.commitment(_newest));
        _settle(_newest, NEWEST, _range(1, N));
        (heads[2], newests[2]) = (_head, Members.commitment(_newest));
        _begin(1);
        (heads[3], newests[3]) = (_head, newests[2]);
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(Members.empty(), NONE, _range(0, N), _signature(results, NONE, _range(0, N)));
        for (uint256 i = 0; i < 4; i++) {
            for (uint256 j = 0; j < 4; j++) {
                if (i == 3 && j >= 2) continue;
                bytes memory data = _callAll(newests[j], heads[i], results, quorum);
                _refuse(data, Settlement.NotThisState.selector);
            }
        }
        _accept(_call(Members.empty(), results, quorum));
    }

    /// @notice The state hash commits to the newest base: to its epoch, weight, key and bitmap.
    function test_trap_aNewestThatIsNotCommitted() public {
        _weighs = true;
        _settle(Members.empty(), NEWEST, _range(0, N));
        Members.Base[5] memory wrong = [_copy(_newest), _copy(_newest), _copy(_newest), _copy(_newest), _copy(_newest)];
        wrong[0].weight++;
        wrong[1].epoch++;
        (wrong[2].epoch, wrong[2].weight) = (0, 0);
        wrong[3].key[31] ^= 0x01;
        wrong[4].signers = _range(0, N - 1);
        for (uint256 i = 0; i < wrong.length; i++) {
            _refuse(wrong[i], NONE, _range(0, N), abi.encodeWithSelector(Settlement.NotThisState.selector));
            _refuse(wrong[i], NONE, _range(1, N), abi.encodeWithSelector(Settlement.NotThisState.selector));
        }
    }

    /// @notice A base that was the newest is no base any more. A base of the ring does not pass as the newest.
    function test_trap_theNewestOfBefore() public {
        Members.Base memory first = _settle(Members.empty(), NEWEST, _range(0, N));
        Members.Base memory ring = _settle(first, 2, _range(1, N));
        _settle(first, NEWEST, _range(2, N));
        _refuse(first, NONE, _range(0, N), abi.encodeWithSelector(Settlement.NotThisState.selector));
        ring.slot = NEWEST;
        _refuse(ring, NONE, _range(1, N), abi.encodeWithSelector(Settlement.NotThisState.selector));
    }

    /// @notice `settle` takes no base that only `settleAll` would check, and the other way round.
    function test_trap_basesOfTheOtherWay() public {
        Members.Base memory ring = _live();
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, _range(1, N));
        bytes memory quorum = _quorum(ring, NONE, _range(1, N), proof);
        _refuse(abi.encodeCall(ISettlement.settle, (_head, _deadline, results[0], quorum)), _notThisBase(2));
        quorum = _quorum(Members.empty(), NONE, _range(1, N), proof);
        _refuse(abi.encodeCall(ISettlement.settle, (_head, _deadline, results[0], quorum)), _notThisBase(NONE));
        bytes32 newest = Members.commitment(_newest);
        // An aggregator makes up a base in a slot that holds nothing.
        Members.Base memory made = _base(3, true, _range(1, N));
        quorum = _quorum(made, NONE, _range(1, N), proof);
        _refuse(_callAll(newest, _head, results, quorum), _notThisBase(3));
        made.slot = 0;
        quorum = _quorum(made, NONE, _range(1, N), proof);
        _refuse(
            abi.encodeCall(ISettlement.settle, (_head, _deadline, results[0], quorum)), Settlement.NotThisState.selector
        );
        _refuse(_callAll(newest, _head, results, quorum), _notThisBase(0));
        quorum = _quorum(_newest, NONE, _range(1, N), proof);
        _accept(_callAll(newest, _head, results, quorum));
    }

    function test_theNewestIsKeptWhereItIsNotReplaced() public {
        Members.Base memory ring = _live();
        bytes32 newest = Members.commitment(_newest);
        _settle(Members.empty(), NONE, _range(0, N));
        ring = _settle(ring, 2, _range(2, N));
        ring = _settle(ring, RENTAL, _range(0, N));
        _settle(_newest, 3, _range(4, N));
        assertEq(Members.commitment(_newest), newest, "kept");
        _settle(ring, NEWEST, _range(4, N));
        assertTrue(Members.commitment(_newest) != newest, "replaced from the ring");
        assertEq(_settlement.commitmentAt(0), bytes32(0), "in no slot");
    }

    /// @notice Members that are registered and not weighed settle nothing, because no epoch has said what is required.
    function test_trap_beforeTheFirstEpoch() public {
        _deploy();
        _register(N);
        assertEq(_settlement.state(), _stateOf(Head.wrap(0), 0), "the first state");
        for (uint256 i = 0; i < N; i++) {
            bytes memory data = _call(Members.empty(), NONE, _range(i, N));
            _refuse(data, _tooFew(0));
        }
        _weightPages.push(1);
        _weighs = true;
        (bool done,) = address(_settlement).call(_call(Members.empty(), NONE, _range(0, N)));
        assertTrue(!done, "weighed");
    }

    /// @notice Nothing settles between two epochs, whatever is passed as head and newest commitment.
    function test_trap_nothingSettlesBeforeTheEpochIsEntered() public {
        Members.Base memory ring = _live();
        bytes32 old = _settlement.state();
        _beginOnly(new uint64[](N), 1, 1);
        assertTrue(_settlement.waiting(), "waiting");
        assertEq(
            _settlement.state(),
            keccak256(abi.encode(keccak256("quorate.settlement.entering"), old, _settlement.terms())),
            "folded"
        );
        bytes32 terms = bytes32(Head.unwrap(_settlement.terms()));
        bytes32[8] memory words = [
            bytes32(Head.unwrap(_head)),
            Members.commitment(_newest),
            old,
            _settlement.state(),
            terms,
            bytes32(_nonce() << 208 | uint256(terms) | _paid()),
            keccak256("quorate.settlement.entering"),
            0
        ];
        bytes32[] memory results = _results(1);
        bytes memory quorum = _quorum(ring, NONE, _range(1, N), _signature(results, NONE, _range(1, N)));
        for (uint256 i = 0; i < words.length; i++) {
            for (uint256 j = 0; j < words.length; j++) {
                bytes memory data = _callAll(words[j], Head.wrap(uint256(words[i])), results, quorum);
                _refuse(data, Settlement.NotThisState.selector);
            }
            quorum = _quorum(_newest, NONE, _range(1, N), _signature(results, NONE, _range(1, N)));
            _refuse(
                abi.encodeCall(ISettlement.settle, (Head.wrap(uint256(words[i])), _deadline, results[0], quorum)),
                Settlement.NotThisState.selector
            );
            quorum = _quorum(ring, NONE, _range(1, N), _signature(results, NONE, _range(1, N)));
        }
    }

    /// @notice Flips each bit of the state before, and tries other words that are known.
    function test_trap_enterWithAnotherState() public {
        _live();
        bytes32 old = _settlement.state();
        bytes32 newest = Members.commitment(_newest);
        _beginOnly(new uint64[](N), 1, 1);
        for (uint256 bit = 0; bit < 256; bit++) {
            _refuse(abi.encodeCall(ISettlement.enter, (_flip(bit), newest)), Settlement.NotThisState.selector);
            _refuse(
                abi.encodeCall(ISettlement.enter, (_head, newest ^ bytes32(1 << bit))), Settlement.NotThisState.selector
            );
        }
        bytes32[5] memory words = [
            old,
            _settlement.state(),
            bytes32(Head.unwrap(_settlement.terms())),
            keccak256("quorate.settlement.entering"),
            0
        ];
        for (uint256 i = 0; i < words.length; i++) {
            for (uint256 j = 0; j < words.length; j++) {
                _refuse(
                    abi.encodeCall(ISettlement.enter, (Head.wrap(uint256(words[i])), words[j])),
                    Settlement.NotThisState.selector
                );
            }
        }
        _settlement.enter(_head, newest);
        _entered();
    }

    function test_enteredByAnyoneOnce() public {
        bytes memory enter = abi.encodeCall(ISettlement.enter, (_head, bytes32(0)));
        _refuse(enter, Settlement.NoEpochBegun.selector);
        _beginOnly(new uint64[](N), 1, 1);
        vm.prank(STRANGER);
        _settlement.enter(_head, 0);
        _refuse(enter, Settlement.NoEpochBegun.selector);
        _entered();
        _refuse(abi.encodeCall(ISettlement.enter, (_head, bytes32(0))), Settlement.NoEpochBegun.selector);
        assertTrue(!_settlement.waiting(), "entered");
    }

    function test_notEnteredBeforeTheFirst() public {
        _deploy();
        _refuse(abi.encodeCall(ISettlement.enter, (Head.wrap(0), bytes32(0))), Settlement.NoEpochBegun.selector);
    }

    function test_begunTwice() public {
        _beginOnly(new uint64[](N), 1, 1);
        (bytes32 state, Head terms) = (_settlement.state(), _settlement.terms());
        vm.expectRevert(abi.encodeWithSelector(Settlement.EpochNotEntered.selector, 2));
        _settlement.begin(2, new bytes(8 * N), 2, false);
        assertTrue(state == _settlement.state() && Head.unwrap(terms) == Head.unwrap(_settlement.terms()), "as it was");
        _settlement.enter(_head, 0);
        _entered();
        _begin(1);
        assertEq(_epoch(), 3, "the third");
    }

    /// @notice The nonce and the paid changes stay. The terms are those of the new epoch, and no bit of the old ones is
    /// left.
    function test_whatAnEpochKeeps() public {
        _live();
        uint64[] memory weights = new uint64[](5);
        weights[0] = type(uint64).max;
        _begin(weights, type(uint88).max, type(uint64).max);
        assertTrue(_nonce() == 4 && _paid() == 1, "kept");
        assertTrue(_epoch() == 2 && _members() == 5, "epoch, members");
        assertTrue(_enough() == NEVER && _required() == type(uint88).max, "enough, required");
        _begin(new uint64[](0), 1, 1);
        assertTrue(_nonce() == 4 && _paid() == 1, "kept");
        assertTrue(_epoch() == 3 && _members() == 0, "epoch, members");
        assertTrue(_enough() == NEVER && _required() == 1, "enough, required");
    }

    function test_eventsSayWhatTheStateIs() public {
        vm.recordLogs();
        _settlement.begin(1, new bytes(8 * N), 7, false);
        (bytes32[] memory topics, bytes memory data) = _lastLog();
        assertEq(topics[0], Settlement.EpochBegun.selector, "begun");
        assertEq(uint256(topics[1]), 2, "epoch");
        assertEq(abi.decode(data, (uint256)), Head.unwrap(_settlement.terms()), "terms");
        _settlement.enter(_head, 0);
        (topics, data) = _lastLog();
        _weights = new uint64[](N);
        _entered();
        assertEq(topics[0], ISettlement.EpochEntered.selector, "entered");
        assertEq(data, abi.encode(_head, bytes32(0)), "head, newest");
        _begin(1);
        bytes32[] memory results = _results(3);
        vm.recordLogs();
        _settle(Members.empty(), NEWEST, _range(0, N), 3);
        (topics, data) = _lastLog();
        assertEq(topics[0], ISettlement.SettledAll.selector, "settled");
        assertEq(data, abi.encode(_head, Members.commitment(_newest), results), "head, newest, results");
        bytes32 result = _results(1)[0];
        vm.recordLogs();
        _settle(_newest, NONE, _range(0, N));
        (topics, data) = _lastLog();
        assertEq(topics[0], ISettlement.Settled.selector, "settled");
        assertEq(data, abi.encode(_head, Members.commitment(_newest), result), "head, newest, result");
    }

    function _lastLog() private returns (bytes32[] memory, bytes memory) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        return (logs[logs.length - 1].topics, logs[logs.length - 1].data);
    }

    /// @notice Bases outlive an epoch, with their keys and without their weights.
    function test_basesSurviveAnEpoch() public {
        _weighs = true;
        Members.Base memory ring = _settle(Members.empty(), 2, _range(0, N));
        _settle(ring, NEWEST, _range(1, N));
        _settlement.pin(1, 2);
        uint64[] memory weights = new uint64[](N);
        weights[N - 1] = 1000;
        _begin(weights, 1000, 1000);
        Members.Base memory pinned = _copy(ring);
        pinned.slot = 1;
        // They weighed 1,266 and 1,166. Now they weigh 1,000.
        assertEq(_settle(_newest, 3, _range(1, N)).weight, 1000, "the newest");
        assertEq(_settle(ring, 3, _range(0, N)).weight, 1000, "in the ring");
        assertEq(_settle(pinned, 3, _range(2, N)).weight, 1000, "pinned");
        _refuse(_newest, NONE, _range(1, N - 1), abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 0, 1000));
        // Without pages of weights the members are counted. One member weighs 1,000 and the others nothing, so all
        // twelve are needed.
        _weighs = false;
        assertEq(_enough(), N, "enough");
        _refuse(_newest, NONE, _range(1, N), _tooFew(N - 1));
        _settle(ring, NONE, _range(0, N));
    }

    /// @notice Registering, compacting and pinning work between `begin` and `enter`.
    function test_whatGoesOnWhileAnEpochWaits() public {
        Members.Base memory ring = _settle(Members.empty(), 2, _range(0, N));
        uint64[] memory weights = new uint64[](N + 1);
        weights[N] = 5;
        bytes32 newest = Members.commitment(_newest);
        _beginOnly(weights, 5, 5);
        _registerSecret(1234);
        _compact(4);
        _settlement.pin(1, 2);
        _settlement.enter(_head, newest);
        _entered();
        // The weight was given to an index that was registered later.
        _weighs = true;
        _settle(ring, NONE, _range(1, N + 1));
        _refuse(ring, NONE, _range(0, N), abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 0, 5));
    }

    function test_registrarOnly() public {
        bytes memory why = abi.encodeWithSelector(Settlement.NotRegistrar.selector, STRANGER);
        vm.startPrank(STRANGER);
        vm.expectRevert(why);
        _settlement.register(address(this), "", "");
        vm.expectRevert(why);
        _settlement.begin(1, "", 1, false);
        vm.expectRevert(why);
        _settlement.prepare(1, "");
        vm.expectRevert(why);
        _settlement.discard();
        vm.expectRevert(why);
        _settlement.carry("", _none);
        vm.expectRevert(why);
        _settlement.pin(1, 2);
        vm.stopPrank();
    }

    function test_constructorRefusesChangesOfMoreThan24Bits() public {
        ToyCurve most = new ToyCurve(1, 2 ** 24 - 1);
        assertEq(most.changesAStore(), 2 ** 24 - 1, "changes");
        vm.expectRevert(abi.encodeWithSignature("SafeCastOverflowedUintDowncast(uint8,uint256)", 24, 2 ** 24));
        new ToyCurve(1, 2 ** 24);
    }
}
