// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ring} from "../src/Ring.sol";
import {vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {Quorums} from "../src/Quorums.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Tests how a quorum proves its weight: members are counted if any that many reach the required weight, and
/// otherwise their weights are read.
contract QuorumCountTest is QuorumFixture {
    function _tooLight(uint256 weight) private view returns (bytes memory) {
        return abi.encodeWithSelector(Settlement.QuorumTooLight.selector, weight, _required());
    }

    /// @dev Begins an epoch in which the first `count` indices have the same weight.
    function _equal(uint256 count, uint64 weight, uint256 required) private {
        uint64[] memory weights = new uint64[](count);
        for (uint256 i = 0; i < count; i++) {
            weights[i] = weight;
        }
        _begin(weights, uint88(required), weight);
    }

    function test_asManyAsAreEnoughAndOneFewer() public {
        _equal(N, 7, 7 * 9);
        assertEq(_enough(), 9, "enough");
        _settle(Members.empty(), NEWEST, _range(0, 9));
        _settle(_newest, NONE, _range(3, N));
        _settle(_newest, NONE, _range(0, N));
        _settle(_newest, NONE, _range(0, 9));
        _refuse(Members.empty(), NONE, _range(0, 8), _tooFew(8));
        _refuse(_newest, NONE, _range(0, 8), _tooFew(8));
        _refuse(_newest, NONE, _range(4, N), _tooFew(8));
    }

    /// @notice A key that was registered after the epoch began signs, and does not count.
    function test_trap_membersWhoAreNotWeighed() public {
        _equal(N, 1, 9);
        _register(300);
        _compact(300);
        bytes memory signers = _range(4, N + 300);
        _refuse(Members.empty(), NONE, signers, _tooFew(N - 4));
        signers = _range(3, N + 300);
        Members.Base memory base = _settle(Members.empty(), 2, signers);
        // In the next epoch it counts.
        _equal(N + 300, 1, 300);
        _settle(base, NONE, _range(N, N + 300));
        _refuse(base, NONE, _range(N + 1, N + 300), _tooFew(299));
    }

    /// @notice Tries numbers of members near the bits of a word, and numbers that are no multiple of a byte's bits.
    function test_membersAroundWords() public {
        _register(520 - N);
        _compact(300);
        _compact(200);
        uint256[12] memory counts = [uint256(1), 7, 8, 9, 13, 255, 256, 257, 263, 511, 512, 513];
        for (uint256 i = 0; i < counts.length; i++) {
            uint256 count = counts[i];
            _equal(count, 1, count);
            assertEq(_enough(), count, "all");
            // A member without a weight takes the place of one that has one: of the first, of the last, and of one
            // between them.
            _refuse(Members.empty(), NONE, _range(1, count + 1), _tooFew(count - 1));
            _refuse(Members.empty(), NONE, _range(1, 520), _tooFew(count - 1));
            bool[] memory members = new bool[](520);
            for (uint256 j = 0; j < 520; j++) {
                members[j] = j != count - 1;
            }
            _refuse(Members.empty(), NONE, Members.bitmap(members), _tooFew(count - 1));
            if (count == 257) _settle(Members.empty(), NONE, _range(0, count));
        }
        _equal(512, 1, 512);
        _settle(Members.empty(), NEWEST, _range(0, 512));
        _settle(_newest, NONE, _range(0, 520));
    }

    /// @notice Compares the count with a count bit by bit. If more is required than all weigh, no number is enough, and
    /// the error tells the count.
    function testFuzz_counted(uint256 seed, uint256 length, uint256 members) public {
        length = bound(length, 1, 100);
        bytes memory signers = new bytes(length);
        uint256 kind = seed % 4;
        for (uint256 i = 0; i < length; i++) {
            signers[i] = kind == 0 ? bytes1(0xff) : bytes1(keccak256(abi.encode(seed, i)));
            if (kind == 1) signers[i] &= 0x11;
        }
        signers[length - 1] |= 0x01;
        members = bound(members, 0, 8 * length + 8);
        _begin(new uint64[](members), type(uint88).max, 1);
        uint256 count = 0;
        for (uint256 i = 0; i < members; i++) {
            if (Members.contains(signers, i)) count++;
        }
        assertEq(_enough(), NEVER, "none are enough");
        _refuse(Members.empty(), NONE, signers, _tooFew(count));
    }

    /// @notice A member that rotated out weighs nothing. It counts as the lightest of all.
    function test_aMemberWithoutWeightCountsAsTheLightest() public {
        uint64[] memory weights = new uint64[](5);
        for (uint256 i = 1; i < 5; i++) {
            weights[i] = 10;
        }
        // Any four members weigh at least 30. Three would be enough without the member of weight 0.
        _begin(weights, 30, 10);
        assertEq(_enough(), 4, "enough");
        _refuse(Members.empty(), NONE, _range(1, 4), _tooFew(3));
        _refuse(Members.empty(), NONE, _range(0, 3), _tooFew(3));
        _settle(Members.empty(), NONE, _range(0, 4));
        _settle(Members.empty(), NONE, _range(1, 5));
        // If their weights are read, three of them are enough.
        _weighs = true;
        _settle(Members.empty(), NONE, _range(1, 4));
        _refuse(Members.empty(), NONE, _range(0, 3), _tooLight(20));
    }

    function test_nothingRequiredAndNoThreshold() public {
        vm.expectRevert(Settlement.NoWeightRequired.selector);
        _settlement.begin(1, new bytes(8 * N), 0, false);
        vm.expectRevert(Settlement.NoThreshold.selector);
        _settlement.begin(0, new bytes(8 * N), 1, false);
        assertTrue(!_settlement.waiting(), "not begun");
    }

    function test_moreRequiredThanAllWeigh() public {
        uint64[4] memory thresholds = [uint64(1), 3, 4, type(uint64).max];
        for (uint256 i = 0; i < 4; i++) {
            uint64[] memory weights = new uint64[](N);
            for (uint256 j = 0; j < N; j++) {
                weights[j] = 3;
            }
            _begin(weights, uint88(3 * N + 1), thresholds[i]);
            assertEq(_enough(), NEVER, "none are enough");
            _refuse(Members.empty(), NONE, _range(0, N), _tooFew(N));
            _weighs = true;
            _refuse(Members.empty(), NONE, _range(0, N), _tooLight(3 * N));
            _weighs = false;
            // Exactly what all weigh is required. Every threshold but the first gives the smallest possible number.
            _begin(weights, uint88(3 * N), thresholds[i]);
            assertEq(_enough(), i == 0 ? NEVER : N, "all");
        }
    }

    function test_nobodyIsWeighed() public {
        _begin(new uint64[](0), 1, type(uint64).max);
        assertTrue(_members() == 0 && _enough() == NEVER, "nobody");
        _refuse(Members.empty(), NONE, _range(0, N), _tooFew(0));
        _begin(new uint64[](N), 1, 1);
        assertTrue(_members() == N && _enough() == NEVER, "no weight");
        _refuse(Members.empty(), NONE, _range(0, N), _tooFew(N));
        _weighs = true;
        _refuse(Members.empty(), NONE, _range(0, N), _tooLight(0));
    }

    /// @dev Draws weights: zeros, few values with ties, any values, and the largest one.
    function _draw(uint256 seed) private pure returns (uint64[] memory weights) {
        weights = new uint64[](1 + seed % 9);
        for (uint256 i = 0; i < weights.length; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, "weight", i)));
            uint256 kind = random >> 64 & 7;
            if (kind == 0) weights[i] = 0;
            else if (kind == 1) weights[i] = type(uint64).max;
            else if (kind < 5) weights[i] = uint64(1 + random % 4);
            else if (kind < 7) weights[i] = uint64(random % 1000);
            else weights[i] = uint64(random);
        }
    }

    function _total(uint64[] memory weights) private pure returns (uint256 total) {
        for (uint256 i = 0; i < weights.length; i++) {
            total += weights[i];
        }
    }

    function _sorted(uint64[] memory weights) private pure returns (uint64[] memory sorted) {
        sorted = new uint64[](weights.length);
        for (uint256 i = 0; i < weights.length; i++) {
            uint256 j = i;
            for (; j > 0 && sorted[j - 1] > weights[i]; j--) {
                sorted[j] = sorted[j - 1];
            }
            sorted[j] = weights[i];
        }
    }

    /// @notice For any threshold, every quorum of `enough` members reaches the required weight; the test tries all of
    /// them. Then it compares the contract's answer for one quorum with the count.
    function testFuzz_enoughWeighEnough(uint256 seed, uint64 threshold, uint256 required, uint256 mask) public {
        uint64[] memory weights = _draw(seed);
        uint256 kind = seed >> 8 & 3;
        // Takes any threshold, a small one, one of the weights, or one beside a weight.
        if (kind == 1) threshold = uint64(bound(threshold, 1, 5));
        if (kind >= 2) threshold = weights[threshold % weights.length];
        if (kind == 3 && threshold != type(uint64).max) threshold++;
        if (threshold == 0) threshold = 1;
        required = bound(required, 1, 1 + _total(weights) + (seed >> 16) % 3);
        _begin(weights, uint88(required), threshold);
        uint256 all = (1 << weights.length) - 1;
        for (uint256 quorum = 0; quorum <= all; quorum++) {
            (uint256 count, uint256 weight) = (0, 0);
            for (uint256 i = 0; i < weights.length; i++) {
                if (quorum >> i & 1 == 1) (count, weight) = (count + 1, weight + weights[i]);
            }
            if (count >= _enough()) assertTrue(weight >= required, "a quorum that was counted");
        }
        _answers(mask & (1 << N) - 1);
    }

    /// @dev Settles one quorum, or sees it refused. Some of its members may have an index without a weight. If weights
    /// are read, only the weight decides.
    function _answers(uint256 mask) private {
        bytes memory signers = _masked(mask);
        if (signers.length == 0) return;
        uint256 count = 0;
        for (uint256 i = 0; i < _members(); i++) {
            if (mask >> i & 1 == 1) count++;
        }
        (, uint256 weight) = _sum(signers);
        if (count < _enough()) {
            _refuse(Members.empty(), NEWEST, signers, _tooFew(count));
        } else {
            assertTrue(weight >= _required(), "what was settled");
            _settle(Members.empty(), NEWEST, signers);
        }
        _weighs = true;
        if (weight < _required()) _refuse(Members.empty(), NEWEST, signers, _tooLight(weight));
        else _settle(Members.empty(), NEWEST, signers);
        _weighs = false;
    }

    /// @notice With the best threshold, no smaller number is enough.
    function testFuzz_sharpWithTheRightThreshold(uint256 seed, uint256 required) public {
        uint64[] memory weights = _draw(seed);
        uint256 total = _total(weights);
        if (total == 0) return;
        required = bound(required, 1, total);
        uint64[] memory sorted = _sorted(weights);
        (uint256 least, uint256 sum) = (0, 0);
        while (sum < required) sum += sorted[least++];
        _begin(weights, uint88(required), sorted[least - 1]);
        assertEq(_enough(), least, "the lightest so many reach it, and no fewer");
    }

    /// @notice Tries the most members with the largest weight: no sum overflows.
    function test_theHeaviest() public {
        _register(1_000 - N);
        _compact(300);
        _compact(300);
        _compact(300);
        _equal(1_000, type(uint64).max, 1_000 * uint256(type(uint64).max));
        assertEq(_enough(), 1_000, "all");
        _weighs = true;
        _settle(Members.empty(), NEWEST, _range(0, 1_000));
        assertEq(_newest.weight, 1_000 * uint256(type(uint64).max), "weight");
        _refuse(_newest, NONE, _range(1, 1_000), _tooLight(999 * uint256(type(uint64).max)));
        _settle(_newest, NONE, _range(0, 1_000));
    }

    // Quorums whose weights are read.

    function test_exactlyWhatIsRequired() public {
        // The members with the indices 2 to 11 weigh 1,065.
        _begin(1_065);
        _weighs = true;
        _settle(Members.empty(), NEWEST, _range(2, N));
        _settle(_newest, NONE, _range(2, N));
        _settle(_newest, 2, _range(1, N));
        _begin(1_066);
        _refuse(Members.empty(), NONE, _range(2, N), _tooLight(1_065));
        _refuse(_newest, NONE, _range(2, N), _tooLight(1_065));
        _refuse(_newest, NONE, _range(3, N), _tooLight(963));
        _settle(_newest, NEWEST, _range(1, N));
        _refuse(_newest, NONE, _range(2, N), _tooLight(1_065));
    }

    /// @notice A quorum with the base's members, weighed in this epoch: the contract opens no page, and ignores pages
    /// that are named.
    function test_theSameQuorumIsNotWeighedAgain() public {
        _begin(1_166);
        _weighs = true;
        _settle(Members.empty(), NEWEST, _range(1, N));
        _weighs = false;
        assertEq(_enough(), N, "a quorum of eleven is too few by number");
        Members.Base memory same = _settle(_newest, 2, _range(1, N));
        assertEq(same.weight, 1_166, "its weight is kept");
        _settle(same, NEWEST, _range(1, N));
        assertEq(_newest.epoch, 2, "weighed");
        _refuse(_newest, NONE, _range(0, N - 1), _tooFew(N - 1));
        _weighs = true;
        if (!_passes) _weightPages[0] = 77;
        _settle(_newest, NEWEST, _range(1, N));
    }

    /// @notice A base that was only counted has no weight. All of its members are weighed, or counted again.
    function test_aCountedBaseIsWeighedAnew() public {
        _begin(150);
        assertEq(_enough(), 2, "enough");
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, 9));
        assertTrue(base.epoch == 0 && base.weight == 0, "not weighed");
        base = _settle(base, 2, _range(0, 9));
        assertTrue(base.epoch == 0 && base.weight == 0, "counted again");
        _weighs = true;
        assertEq(_settle(base, 3, _range(0, 9)).weight, 936, "the same");
        assertEq(_settle(base, 3, _range(1, 9)).weight, 836, "a difference");
        Members.Base memory weighed = _settle(base, 3, _range(0, N));
        assertEq(weighed.weight, 1_266, "more");
        _refuse(base, NONE, _range(0, 1), _tooLight(100));
        // A weighed base loses its weight if its difference is counted.
        _weighs = false;
        weighed = _settle(weighed, 3, _range(1, N));
        assertTrue(weighed.epoch == 0 && weighed.weight == 0, "counted");
    }

    /// @notice A base that was stored by counting has epoch 0 and weight 0. Nobody can claim another weight for it.
    function test_trap_aCountedBaseWithAWeight() public {
        _begin(150);
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, 9));
        base.weight = 1_000_000;
        _refuse(base, NONE, _range(0, 9), abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
        base.epoch = 2;
        _refuse(base, NONE, _range(0, 9), abi.encodeWithSelector(Ring.NotThisBase.selector, 2));
    }

    /// @notice The weight of an older epoch does not count in this one, even if only the epoch differs.
    function test_trap_aWeightOfAnOlderEpoch() public {
        _weighs = true;
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, N));
        assertEq(base.weight, 1_266, "then");
        uint64[] memory weights = new uint64[](N);
        (weights[0], weights[1]) = (5, 6);
        _begin(weights, 11, 11);
        assertEq(_settle(base, 3, _range(0, N)).weight, 11, "the same quorum");
        assertEq(_settle(base, 3, _range(0, 2)).weight, 11, "a difference");
        _refuse(base, NONE, _range(1, N), _tooLight(6));
        _weighs = false;
        assertEq(_enough(), N, "enough");
        _settle(base, NONE, _range(0, N));
        _refuse(base, NONE, _range(0, N - 1), _tooFew(N - 1));
        _begin(weights, 12, 12);
        _refuse(base, NONE, _range(0, N), _tooFew(N));
    }

    // Stores by ski rental.

    function test_rental() public {
        Members.Base memory base = _settle(Members.empty(), 3, _range(0, N));
        _settle(base, RENTAL, _range(1, N));
        assertTrue(_settlement.commitmentAt(2) == 0 && _paid() == 1, "one paid");
        _settle(base, RENTAL, _range(0, N));
        assertTrue(_settlement.commitmentAt(2) == 0 && _paid() == 1, "nothing changed");
        _settle(base, NONE, _range(2, N));
        assertEq(_paid(), 1, "paid by rental alone");
        Members.Base memory stored = _settle(base, RENTAL, _range(2, N));
        assertTrue(_settlement.commitmentAt(2) == Members.commitment(stored) && _paid() == 0, "three: stored");
        // From the empty quorum, all members are changes.
        _settle(Members.empty(), RENTAL, _range(0, 2));
        assertEq(_paid(), 2, "two paid");
        stored = _settle(Members.empty(), RENTAL, _range(0, 2));
        assertTrue(stored.slot == 2 && _paid() == 0, "stored");
        _begin(1);
        _settle(stored, RENTAL, _range(0, 1));
        assertEq(_paid(), 1, "in the next epoch");
    }

    function testFuzz_rental(uint256 seed) public {
        _settle(Members.empty(), NEWEST, _range(0, N));
        for (uint256 i = 0; i < 6; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            _weighs = random >> 32 & 1 == 1;
            _settle(random >> 33 & 3 == 0 ? Members.empty() : _newest, RENTAL, _masked(1 + random % 4095));
        }
    }
}

/// @notice The same with weights in calldata.
contract QuorumCountInCalldataTest is QuorumCountTest {
    function setUp() public override {
        _passes = true;
        super.setUp();
    }
}
