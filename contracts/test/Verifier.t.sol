// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Ring} from "../src/Ring.sol";
import {Test} from "./Test.sol";
import {Members} from "./Members.sol";
import {ToyKeys, ToyVerifier} from "./mocks/ToyCurve.sol";
import {IVerifier} from "../src/interfaces/IVerifier.sol";
import {Weights} from "../src/Weights.sol";

/// @notice Tests what a network needs of its verifier: who signed, and what they weigh. The network pays rewards by the
/// first and settles by the second, so both must be exact for every form of a quorum.
contract VerifierTest is Test {
    uint256 private constant N = 12;
    uint256 private constant NONE = Members.NONE;

    ToyVerifier private _verifier;
    uint256[] private _none;
    uint256[] private _keyPages;
    mapping(uint256 epoch => uint256[]) private _weightPages;
    bytes32[] private _digests;

    function setUp() public {
        _verifier = new ToyVerifier(1);
        _verifier.fill(0, N);
        _verifier.compact(0, 8, _none, _keys(0, 8));
        _keyPages.push(2);
        _digests.push("digest");
        _publish(0);
        _publish(1);
    }

    /// @dev The keys of the indices from `from` on, before `to`.
    function _keys(uint256 from, uint256 to) private pure returns (bytes memory) {
        return Members.toyKeys(from + 1, to - from);
    }

    /// @dev The keys of changed members that no page holds.
    function _passed(Members.Base memory base, bytes memory signers)
        private
        pure
        returns (Members.Passed memory passed)
    {
        for (uint256 i = 8; i < N; i++) {
            if (Members.contains(base.signers, i) == Members.contains(signers, i)) {
                continue;
            }
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keys(i, i + 1));
        }
    }

    function _weight(uint256 epoch, uint256 index) private pure returns (uint256) {
        return 100 * (epoch + 1) + index;
    }

    function _publish(uint256 epoch) private {
        uint64[] memory weights = new uint64[](N);
        for (uint256 i = 0; i < N; i++) {
            weights[i] = uint64(_weight(epoch, i));
        }
        _verifier.publish(epoch, Members.packWeights(weights));
        _weightPages[epoch].push(_verifier.extent().pages);
    }

    function _range(uint256 from, uint256 to) private pure returns (bytes memory) {
        bool[] memory members = new bool[](to);
        for (uint256 i = from; i < to; i++) {
            members[i] = true;
        }
        return Members.bitmap(members);
    }

    function _base(uint256 slot, uint256 epoch, bytes memory signers) private pure returns (Members.Base memory) {
        (uint256 key, uint256 weight) = (0, 0);
        for (uint256 i = 0; i < N; i++) {
            if (Members.contains(signers, i)) (key, weight) = (key + i + 1, weight + _weight(epoch, i));
        }
        return Members.Base(slot, uint32(epoch), uint96(weight), abi.encode(key, ~key), signers);
    }

    function _call(Members.Base memory base, uint256 store, uint256 epoch, bytes memory signers, uint256[] memory pages)
        private
        view
        returns (bytes memory)
    {
        uint256 key = abi.decode(_base(store, epoch, signers).key, (uint256));
        bytes memory proof = _verifier.signature(_digests, key);
        bytes memory quorum = Members.pack(base, store, _keyPages, pages, _passed(base, signers), signers, proof);
        return abi.encodeCall(IVerifier.verify, (_digests, epoch, 0, quorum));
    }

    function _verify(
        Members.Base memory base,
        uint256 store,
        uint256 epoch,
        bytes memory signers,
        uint256[] memory pages
    ) private returns (Members.Base memory result) {
        (bool done, bytes memory answer) = address(_verifier).call(_call(base, store, epoch, signers, pages));
        assertTrue(done, "verified");
        result = _base(store, epoch, signers);
        (bytes memory who, uint256 weight) = abi.decode(answer, (bytes, uint256));
        assertEq(who, signers, "who signed");
        assertEq(weight, result.weight, "what they weigh");
        if (store != NONE) assertEq(_verifier.commitmentAt(store), Members.commitment(result), "stored");
    }

    function _refuse(bytes memory data, bytes memory why) private {
        (bool done, bytes memory answer) = address(_verifier).call(data);
        assertTrue(!done, "not refused");
        assertEq(answer, why, "why");
    }

    /// @notice The signers are the base's members if the quorum has no bitmap of its own, and the quorum's own
    /// otherwise.
    function test_whoSignedAndWhatTheyWeigh() public {
        Members.Base memory base = _verify(Members.empty(), 2, 1, _range(0, N), _weightPages[1]);
        _verify(base, NONE, 1, _range(0, N), _none);
        _verify(base, NONE, 1, _range(0, N), _weightPages[1]);
        _verify(base, NONE, 1, _range(2, 5), _weightPages[1]);
        _verify(base, 2, 1, _range(3, N), _weightPages[1]);
        _verify(_base(2, 1, _range(3, N)), NONE, 1, _range(0, 3), _weightPages[1]);
    }

    /// @notice Slot 0 belongs to the ring like any other slot, because a verifier has no state hash that holds the
    /// newest base.
    function test_theNewestIsASlotLikeAnyOther() public {
        Members.Base memory base = _verify(Members.empty(), 0, 1, _range(0, N), _weightPages[1]);
        base = _verify(base, 0, 1, _range(1, N), _weightPages[1]);
        _verifier.pin(1, 0);
        _verify(base, 0xfffe, 1, _range(1, N), _none);
        base.slot = 1;
        _verify(base, 0, 1, _range(4, N), _weightPages[1]);
        _verify(base, NONE, 1, _range(1, N), _none);
        bytes memory why = abi.encodeWithSelector(Ring.SlotPinned.selector, 1);
        _refuse(_call(base, 1, 1, _range(0, N), _weightPages[1]), why);
        // What was stored there before does not pass any more.
        base.slot = 0;
        why = abi.encodeWithSelector(Ring.NotThisBase.selector, 0);
        _refuse(_call(base, NONE, 1, _range(1, N), _none), why);
    }

    /// @notice A verifier never counts members: without pages of weights there is no weight.
    function test_trap_nobodyIsCounted() public {
        bytes memory why = abi.encodeWithSelector(Weights.NoWeight.selector, 1, 0);
        _refuse(_call(Members.empty(), NONE, 1, _range(0, N), _none), why);
        Members.Base memory base = _verify(Members.empty(), 2, 1, _range(0, N), _weightPages[1]);
        _refuse(_call(base, NONE, 1, _range(1, N), _none), why);
    }

    /// @notice A verifier stores no hashes of weights, so weights in calldata are refused, even those that it published.
    function test_trap_weightsInCalldata() public {
        uint64[] memory weights = _verifier.weightsOf(1);
        uint256[] memory parts = new uint256[](1);
        parts[0] = 1 << 31 | 8 * N;
        Members.Passed memory passed = _passed(Members.empty(), _range(0, N));
        passed.weightBytes = Members.packWeights(weights);
        uint256 key = abi.decode(_base(NONE, 1, _range(0, N)).key, (uint256));
        bytes memory proof = _verifier.signature(_digests, key);
        bytes memory quorum = Members.pack(Members.empty(), NONE, _keyPages, parts, passed, _range(0, N), proof);
        bytes memory why = abi.encodeWithSelector(Weights.NotTheseWeights.selector, 1, 0);
        _refuse(abi.encodeCall(IVerifier.verify, (_digests, 1, 0, quorum)), why);
    }

    /// @notice Tries the weight of one epoch in another, later or earlier, and in epoch 0, in which no base counts as
    /// weighed.
    function test_trap_weightsOfAnotherEpoch() public {
        Members.Base memory base = _verify(Members.empty(), 2, 1, _range(0, N), _weightPages[1]);
        _publish(2);
        for (uint256 epoch = 0; epoch < 3; epoch += 2) {
            bytes memory why = abi.encodeWithSelector(Weights.NoWeight.selector, epoch, 0);
            _refuse(_call(base, NONE, epoch, _range(0, N), _none), why);
            _refuse(_call(base, NONE, epoch, _range(0, N), _weightPages[1]), why);
            _verify(base, NONE, epoch, _range(0, N), _weightPages[epoch]);
            _verify(base, NONE, epoch, _range(1, N), _weightPages[epoch]);
        }
        base = _verify(base, 2, 0, _range(1, N), _weightPages[0]);
        _refuse(_call(base, NONE, 0, _range(1, N), _none), abi.encodeWithSelector(Weights.NoWeight.selector, 0, 1));
        _verify(base, NONE, 0, _range(1, N), _weightPages[0]);
    }

    function test_trap_aBaseThatIsNotCommitted() public {
        Members.Base memory base = _verify(Members.empty(), 2, 1, _range(0, N), _weightPages[1]);
        bytes memory why = abi.encodeWithSelector(Ring.NotThisBase.selector, 2);
        base.weight++;
        _refuse(_call(base, NONE, 1, _range(0, N), _none), why);
        (base.weight, base.epoch) = (base.weight - 1, 2);
        _refuse(_call(base, NONE, 1, _range(0, N), _none), why);
        base.epoch = 1;
        _refuse(
            _call(_base(3, 1, _range(0, N)), NONE, 1, _range(0, N), _none),
            abi.encodeWithSelector(Ring.NotThisBase.selector, 3)
        );
        _verify(base, NONE, 1, _range(0, N), _none);
    }

    function test_otherDigests() public {
        bytes memory data = _call(Members.empty(), NONE, 1, _range(0, N), _weightPages[1]);
        _digests.push("another");
        bytes memory two = _call(Members.empty(), NONE, 1, _range(0, N), _weightPages[1]);
        (bool done,) = address(_verifier).call(two);
        assertTrue(done, "two");
        // The digest of one call is put into the other.
        uint256 where = 4 + 32 * 5;
        assembly {
            mstore(add(add(data, 0x20), where), 1)
        }
        _refuse(data, abi.encodeWithSelector(ToyKeys.FalseSignature.selector));
    }
}
