// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {ToyKeys} from "./mocks/ToyCurve.sol";
import {Settlement} from "../src/Settlement.sol";
import {Weights} from "../src/Weights.sol";

/// @notice Tests weights that are committed by hash: in calldata, in pages, and prepared in steps.
contract WeightsTest is QuorumFixture {
    uint256 private constant PART = 2_048;
    address private constant STRANGER = address(0xbad);
    /// @dev The most gas of a transaction since Osaka.
    uint256 private constant CAP = 2 ** 24;

    function _notThese(uint256 epoch, uint256 part) private pure returns (bytes memory) {
        return abi.encodeWithSelector(Weights.NotTheseWeights.selector, epoch, part);
    }

    function _length(uint256 length) private pure returns (bytes memory) {
        return abi.encodeWithSelector(Settlement.WeightsLength.selector, length);
    }

    /// @dev Weights 1 + i % 7 of `count` indices.
    function _some(uint256 count) private pure returns (uint64[] memory weights) {
        weights = new uint64[](count);
        for (uint256 i = 0; i < count; i++) {
            weights[i] = uint64(1 + i % 7);
        }
    }

    /// @dev Some bytes of an array.
    function _cut(bytes memory data, uint256 from, uint256 length) private pure returns (bytes memory part) {
        part = new bytes(length);
        assembly {
            mcopy(add(part, 0x20), add(add(data, 0x20), from), length)
        }
    }

    /// @dev A call of the members 0 to 7, whose weights are passed as one part of this length.
    function _passing(uint256 length, bytes memory weights) private view returns (bytes memory) {
        bytes memory signers = _range(0, 8);
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, signers);
        uint256[] memory parts = new uint256[](1);
        parts[0] = 1 << 31 | length;
        Members.Passed memory passed = Members.Passed(0, "", weights);
        bytes memory quorum = Members.pack(Members.empty(), NONE, _keyPages, parts, passed, signers, proof);
        return _call(Members.empty(), results, quorum);
    }

    /// @notice The hash that is stored for a part, and its place, in plain Solidity. So a later epoch of the same parity
    /// uses the same slot with another hash.
    function test_theHashOfAPart() public {
        _register(PART + 5 - N);
        _passes = true;
        for (uint256 epoch = 2; epoch < 6; epoch++) {
            bytes memory packed = Members.packWeights(_some(PART + 5));
            _begin(_some(PART + 5), 1, 1);
            for (uint256 part = 0; part < 2; part++) {
                bytes32 hash = keccak256(abi.encodePacked(epoch, Members.partOf(packed, part)));
                uint256 place = (epoch & 1) << 16 | part;
                uint256 found = 0;
                // The mapping's own slot is one of the first.
                for (uint256 slot = 0; slot < 12; slot++) {
                    if (vm.load(address(_settlement), keccak256(abi.encode(place, slot))) == hash) found++;
                }
                assertEq(found, 1, "stored");
            }
        }
    }

    function test_trap_otherWeightsInCalldata() public {
        bytes memory weights = Members.packWeights(_weights);
        bytes memory why = _notThese(1, 0);
        bytes memory wrong = bytes.concat(weights);
        for (uint256 i = 0; i < weights.length; i += 5) {
            wrong[i] ^= 0x01;
            _refuse(_passing(weights.length, wrong), why);
            wrong[i] ^= 0x01;
        }
        // Fewer weights, more weights, none, and those of the epoch before and after.
        _refuse(_passing(weights.length - 8, _cut(weights, 0, weights.length - 8)), why);
        _refuse(_passing(weights.length + 8, abi.encodePacked(weights, uint64(0))), why);
        _refuse(_passing(0, ""), why);
        _accept(_passing(weights.length, weights));
        _settled(Members.empty(), NONE, _range(0, 8), 1);
        uint64[] memory next = _some(N);
        _begin(next, 1, 1);
        _refuse(_passing(weights.length, weights), _notThese(2, 0));
        _settlement.begin(1, weights, 1, false);
        _settlement.enter(_head, 0);
        _entered();
        // The slot of epoch 1 is used again, and its hash names epoch 3. The same weights pass there.
        assertEq(_epoch(), 3, "epoch");
        _refuse(_passing(weights.length, Members.packWeights(next)), _notThese(3, 0));
        _accept(_passing(weights.length, weights));
    }

    /// @notice The length of a part is wrong, so what follows it is read in another place.
    function test_trap_lengthsOfParts() public {
        bytes memory weights = Members.packWeights(_weights);
        (bool done,) = address(_settlement).call(_passing(weights.length + 1, weights));
        assertTrue(!done, "one byte more");
        (done,) = address(_settlement).call(_passing(weights.length - 1, weights));
        assertTrue(!done, "one byte fewer");
        (done,) = address(_settlement).call(_passing(2 ** 31 - 1, weights));
        assertTrue(!done, "the longest");
        _accept(_passing(weights.length, weights));
    }

    function test_publishedByAnyone() public {
        bytes memory weights = Members.packWeights(_weights);
        vm.prank(STRANGER);
        _settlement.publish(0, weights);
        _weightPages[0] = _settlement.extent().pages;
        _weighs = true;
        _settle(Members.empty(), NONE, _range(0, N));
    }

    /// @notice Only the weights of the running epoch are published, under their own part.
    function test_trap_publishedFalsely() public {
        bytes memory weights = Members.packWeights(_weights);
        bytes memory wrong = bytes.concat(weights);
        wrong[7] ^= 0x01;
        vm.expectRevert(_notThese(1, 0));
        _settlement.publish(0, wrong);
        vm.expectRevert(_notThese(1, 0));
        _settlement.publish(0, "");
        for (uint256 part = 1; part < 2 ** 17; part *= 16) {
            vm.expectRevert(_notThese(1, part));
            _settlement.publish(part, weights);
        }
        _passes = true;
        _begin(_some(N), 1, 1);
        vm.expectRevert(_notThese(2, 0));
        _settlement.publish(0, weights);
    }

    /// @notice Weights that are prepared count in no epoch before it begins.
    function test_trap_preparedWeightsBeforeTheirEpoch() public {
        bytes memory weights = Members.packWeights(_some(PART));
        _settlement.prepare(1, weights);
        vm.expectRevert(_notThese(1, 0));
        _settlement.publish(0, weights);
        _refuse(_passing(weights.length, weights), _notThese(1, 0));
        // The weights of the running epoch still do.
        bytes memory now_ = Members.packWeights(_weights);
        _settlement.publish(0, now_);
        _accept(_passing(now_.length, now_));
    }

    /// @notice What was discarded leaves hashes of later parts, which name the epoch. Members beyond the epoch's own
    /// weights weigh nothing all the same.
    function test_trap_discardedWeightsDoNotCount() public {
        _register(2 * PART + 8 - N);
        uint64[] memory heavy = _some(2 * PART);
        for (uint256 i = PART; i < 2 * PART; i++) {
            heavy[i] = type(uint64).max;
        }
        bytes memory old = Members.packWeights(heavy);
        _settlement.prepare(1, old);
        _settlement.discard();
        uint64[] memory weights = _some(9);
        _passes = true;
        _begin(weights, 9, 1);
        assertTrue(_members() == 9 && _enough() == 9, "members, enough");
        // Both parts are passed. The second one has the hash that is stored.
        bytes memory signers = _range(PART, PART + 4);
        _paged = 8;
        _weighs = true;
        _weightPages[0] = 1 << 31 | 8 * PART;
        Members.Passed memory passed = _passed(Members.empty(), signers);
        passed.weightBytes = Members.partOf(old, 1);
        bytes32[] memory results = _results(1);
        bytes memory proof = _signature(results, NONE, signers);
        bytes memory quorum = Members.pack(Members.empty(), NONE, _keyPages, _weightPages, passed, signers, proof);
        bytes memory why = abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 0, 9);
        _refuse(_call(Members.empty(), results, quorum), why);
        vm.expectRevert(_notThese(2, 1));
        _settlement.publish(1, Members.partOf(old, 1));
        _weightPages[0] = 1 << 31 | 8 * 9;
        _settle(Members.empty(), NONE, _range(0, 9));
    }

    /// @notice Members who were registered after the epoch began sign with others. They weigh nothing, whether the
    /// weights come from a page or from calldata, and whether they sign, come or leave.
    function test_membersBeyondTheWeights() public {
        for (uint256 i = 0; i < 2; i++) {
            _passes = i == 1;
            _weighs = false;
            _begin(_some(9), 1, 1);
            _weighs = true;
            Members.Base memory base = _settle(Members.empty(), NEWEST, _range(5, N));
            assertEq(base.weight, 6 + 7 + 1 + 2, "of the indices 5 to 8");
            base = _settle(base, 2, _range(5, 10));
            base = _settle(base, NEWEST, _range(4, 11));
            assertEq(base.weight, 5 + 6 + 7 + 1 + 2, "of the indices 4 to 8");
            _refuse(
                Members.empty(), NONE, _range(9, N), abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 0, 1)
            );
        }
    }

    function test_preparedInSteps() public {
        _register(2 * PART + 100 - N);
        uint64[] memory weights = _some(2 * PART + 100);
        bytes memory packed = Members.packWeights(weights);
        _settlement.prepare(4, Members.partOf(packed, 0));
        vm.expectRevert(abi.encodeWithSelector(Settlement.AnotherThreshold.selector, 4));
        _settlement.prepare(5, Members.partOf(packed, 1));
        vm.expectRevert(_length(8 * PART - 8));
        _settlement.prepare(4, _cut(packed, 0, 8 * PART - 8));
        vm.expectRevert(_length(8 * 100));
        _settlement.prepare(4, Members.partOf(packed, 2));
        _settle(Members.empty(), NONE, _range(0, 8));
        _settlement.prepare(4, Members.partOf(packed, 1));
        vm.expectRevert(abi.encodeWithSelector(Settlement.AnotherThreshold.selector, 4));
        _settlement.begin(3, Members.partOf(packed, 2), 5_000, false);
        vm.expectRevert(_length(7));
        _settlement.begin(4, new bytes(7), 5_000, false);
        vm.expectRevert(Settlement.NoThreshold.selector);
        _settlement.begin(0, "", 5_000, false);
        _settle(Members.empty(), NEWEST, _range(0, 8));
        _settlement.begin(4, Members.partOf(packed, 2), 5_000, false);
        uint256 inSteps = uint256(keccak256(abi.encode(_settlement.terms().enough(), _settlement.terms().members())));
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
        // The same at once. Nothing of the steps is left.
        _settlement.begin(4, packed, 5_000, false);
        uint256 atOnce = uint256(keccak256(abi.encode(_settlement.terms().enough(), _settlement.terms().members())));
        assertEq(inSteps, atOnce, "enough, members");
        assertEq(_settlement.terms().members(), 2 * PART + 100, "members");
        // What was discarded is not counted.
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
        _settlement.prepare(9, packed = Members.partOf(packed, 0));
        _settlement.discard();
        _settlement.begin(1, "", 1, false);
        assertEq(_settlement.terms().members(), 0, "discarded");
    }

    /// @notice Each `prepare` logs how many weights were prepared before, and how many follow. So whoever follows the
    /// settlement knows in whose calldata they are, and when earlier ones were forgotten.
    function test_preparedWeightsAreLogged() public {
        bytes memory part = Members.packWeights(_some(PART));
        _prepares(bytes.concat(part, part), 0, 2 * PART);
        _prepares(part, 2 * PART, PART);
        _prepares("", 3 * PART, 0);
        _settlement.discard();
        _prepares(part, 0, PART);
        _settlement.begin(1, "", 1, false);
        _settlement.enter(_head, 0);
        _entered();
        _prepares(part, 0, PART);
    }

    function _prepares(bytes memory weights, uint256 members, uint256 count) private {
        vm.recordLogs();
        _settlement.prepare(1, weights);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1, "one log");
        assertEq(logs[0].topics[0], Settlement.WeightsPrepared.selector, "the log");
        assertEq(logs[0].data, abi.encode(members, 8 * count), "how many before, and the bytes now");
    }

    /// @notice Prepares the next epoch while an epoch waits to be entered. The weights of the waiting one stay.
    function test_preparedWhileAnEpochWaits() public {
        bytes memory weights = Members.packWeights(_weights);
        _settlement.begin(1, weights, 1, false);
        bytes memory part = Members.packWeights(_some(PART));
        _settlement.prepare(1, part);
        _settlement.enter(_head, 0);
        _entered();
        _accept(_passing(weights.length, weights));
        _settled(Members.empty(), NONE, _range(0, 8), 1);
        _settlement.begin(1, "", 1, false);
        _settlement.enter(_head, 0);
        _entered();
        assertTrue(_members() == PART && _epoch() == 3, "prepared");
        _accept(_passing(part.length, part));
    }

    /// @notice 20,000 members: each step, and a settlement whose weights are read, stay below the cap of a transaction.
    function test_twentyThousandMembers() public {
        uint256 count = 20_000;
        // Every byte of a weight is not zero, which is the dearest calldata.
        uint64 unit = 0x0101010101010101;
        uint64[] memory weights = _some(count);
        for (uint256 i = 0; i < count; i++) {
            weights[i] *= unit;
        }
        bytes memory packed = Members.packWeights(weights);
        uint256 dearest = 0;
        for (uint256 part = 0; part < 9; part += 3) {
            _accept(abi.encodeCall(Settlement.prepare, (4 * unit, _cut(packed, 8 * PART * part, 3 * 8 * PART))));
            if (_gas > dearest) dearest = _gas;
            _settle(Members.empty(), NONE, _range(0, 8));
        }
        bytes memory rest = _cut(packed, 9 * 8 * PART, packed.length - 9 * 8 * PART);
        _accept(abi.encodeCall(Settlement.begin, (4 * unit, rest, 60_000 * uint88(unit), false)));
        vm.snapshotValue("Weights", "prepare, 6,144 weights", dearest);
        vm.snapshotValue("Weights", "begin, the last 1,568 of 20,000 weights", _gas);
        assertTrue(dearest < CAP && _gas < CAP, "a step is below the cap");
        _settlement.enter(_head, 0);
        _entered();
        assertEq(_members(), count, "members");
        _accept(abi.encodeCall(Settlement.publish, (3, _cut(packed, 3 * 8 * PART, 8 * PART))));
        vm.snapshotValue("Weights", "publish a part", _gas);
        // Even all at once stays below the cap.
        _accept(abi.encodeCall(Settlement.begin, (4 * unit, packed, 60_000 * uint88(unit), false)));
        vm.snapshotValue("Weights", "begin, 20,000 weights at once", _gas);
        assertTrue(_gas < CAP, "all at once");
    }

    /// @notice Compares `enough` and `members` with a plain count, however the weights are cut into steps.
    /// forge-config: default.fuzz.runs = 16
    function testFuzz_stepsGiveTheSameTerms(uint256 seed, uint64 threshold, uint88 required) public {
        uint256 count = PART * (1 + seed % 3) + seed / 7 % 100;
        uint64[] memory weights = new uint64[](count);
        threshold = uint64(bound(threshold, 1, 2_000));
        required = uint88(bound(required, 1, 500 * count));
        (uint256 lighter, uint256 sum) = (0, 0);
        for (uint256 i = 0; i < count; i++) {
            weights[i] = uint64(uint256(keccak256(abi.encode(seed, i))) % 1_000);
            if (weights[i] < threshold) (lighter, sum) = (lighter + 1, sum + weights[i]);
        }
        uint256 enough = sum >= required ? lighter : lighter + (required - sum + threshold - 1) / threshold;
        if (enough > count) enough = NEVER;
        bytes memory packed = Members.packWeights(weights);
        uint256 prepared = PART * (seed / 3 % (count / PART + 1));
        if (prepared != 0) _settlement.prepare(threshold, _cut(packed, 0, 8 * prepared));
        _settlement.begin(threshold, _cut(packed, 8 * prepared, packed.length - 8 * prepared), required, false);
        assertEq(_settlement.terms().enough(), enough, "enough");
        assertEq(_settlement.terms().members(), count, "members");
        for (uint256 part = 0; part * PART < count; part++) {
            _settlement.publish(part, Members.partOf(packed, part));
        }
    }
}
