// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";
import {Bls12381G2NuSigning, Bls12381G2Signing, Signing} from "./Signing.sol";
import {Bls12381, G1Point} from "../src/libraries/Bls12381.sol";
import {Bls12381G2NuKeys} from "../src/curves/Bls12381G2NuKeys.sol";
import {Bls12381G2Sums} from "../src/curves/Bls12381G2Keys.sol";
import {ForwardedResults} from "../src/ForwardedResults.sol";
import {Head} from "../src/Head.sol";
import {Hub} from "../src/Hub.sol";
import {HubBls12381G2, HubBls12381G2Nu, HubSettlementBls12381G2, HubSettlementBls12381G2Nu} from "../src/Hubs.sol";
import {HubSettlement} from "../src/HubSettlement.sol";
import {IHubSettlement} from "../src/interfaces/IHubSettlement.sol";
import {Orders} from "../src/libraries/Orders.sol";
import {IResultReceiver} from "../src/interfaces/IResultReceiver.sol";
import {Quorums} from "../src/Quorums.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice A settlement of a hub that hands its results on.
contract ForwardedHubSettlement is HubSettlement, ForwardedResults, Bls12381G2NuKeys {
    constructor(address hub, IResultReceiver receiver)
        Quorums(1)
        Settlement(msg.sender, 4)
        HubSettlement(hub)
        ForwardedResults(receiver)
    {}

    function _settled(uint256 nonce, bytes32[] calldata results) internal override(Settlement, ForwardedResults) {
        ForwardedResults._settled(nonce, results);
    }
}

/// @notice Takes results, and calls the hub from within if it was told to.
contract ActingReceiver is IResultReceiver {
    uint256 public received;
    address private _hub;
    bytes private _next;

    function arm(address hub, bytes calldata next) external {
        (_hub, _next) = (hub, next);
    }

    function onResults(uint256, bytes32[] calldata results) external {
        received += results.length;
        if (_next.length == 0) return;
        bytes memory next = _next;
        delete _next;
        (bool done,) = _hub.call(next);
        require(done, "from within");
    }
}

/// @notice Answers a hub with whatever it was told to.
contract FalseSettlement {
    bytes private _answer;

    function prepare(bytes calldata answer) external {
        _answer = answer;
    }

    fallback() external {
        bytes memory answer = _answer;
        assembly {
            return(add(answer, 0x20), mload(answer))
        }
    }
}

/// @notice A hub and its settlements. Each settlement has members of its own.
abstract contract HubFixture is Test, Signing {
    uint64 internal constant DEADLINE = 2 ** 32 - 1;

    /// @dev A settlement and what is known of it. Its members have the secrets first, first + 1 and so on.
    struct Known {
        HubSettlement settlement;
        uint256 first;
        Head head;
        Members.Base newest;
    }

    Hub internal _hub;
    uint256[] private _none;
    Known[] internal _all;

    function _newHub() internal virtual returns (Hub);

    function _newSettlement(Hub hub) internal virtual returns (HubSettlement);

    /// @dev How many members each settlement has.
    function _members() internal pure virtual returns (uint256) {
        return 3;
    }

    /// @dev The bitmap of all members but those whose places differ from `left` by a multiple of ten; of all if `left` is ten.
    function _allBut(uint256 left) internal pure returns (bytes memory signers) {
        signers = new bytes((_members() + 7) / 8);
        for (uint256 i = 0; i < _members(); i++) {
            if (i % 10 != left) signers[i / 8] |= bytes1(uint8(0x80 >> (i % 8)));
        }
    }

    /// @dev Registers the members, enters the first epoch, and settles a first result by the settlement itself. Its quorum
    /// becomes the newest base.
    function _start(HubSettlement settlement, uint256 first) internal {
        Known storage known = _all.push();
        (known.settlement, known.first) = (settlement, first);
        bytes memory tail;
        bytes memory weights;
        for (uint256 i = 0; i < _members(); i++) {
            bytes memory key = keyOf(first + i);
            bytes32 digest = settlement.possessionDigest(address(this), key);
            settlement.register(address(this), key, proofBy(first + i, Members.only(digest)));
            tail = abi.encodePacked(tail, key);
            weights = abi.encodePacked(weights, uint64(1));
        }
        settlement.compact(0, _members(), _none, tail);
        settlement.begin(1, weights, uint88(2 * _members() / 3), false);
        settlement.enter(Head.wrap(0), 0);
        (known.head, known.newest) = (settlement.terms(), Members.empty());
        bytes32[] memory results = _results(known, 0);
        bytes memory all = _allBut(10);
        settlement.settleAll(known.head, 0, DEADLINE, results, _quorum(known, all, _signature(known, results, all)));
        _advance(known, all);
        _assertState(known);
    }

    function _results(Known storage known, uint256 kind) internal view returns (bytes32[] memory results) {
        results = new bytes32[](1 + kind % 2);
        for (uint256 i = 0; i < results.length; i++) {
            results[i] = keccak256(abi.encode(known.head, kind, i));
        }
    }

    function _secret(Known storage known, bytes memory signers) internal view returns (uint256 sum) {
        for (uint256 i = 0; i < _members(); i++) {
            if (Members.contains(signers, i)) sum += known.first + i;
        }
    }

    function _digest(Known storage known, bytes32[] memory results) private view returns (bytes32) {
        Head head = known.head;
        return known.settlement.resultsDigest(head.epoch(), head.nonce(), DEADLINE, Members.NEWEST, results);
    }

    function _signature(Known storage known, bytes32[] memory results, bytes memory signers)
        internal
        view
        returns (bytes memory)
    {
        return proofBy(_secret(known, signers), Members.only(_digest(known, results)));
    }

    /// @dev A quorum that is stored as the newest base, with the page of keys if its members are not the base's.
    function _quorum(Known storage known, bytes memory signers, bytes memory proof)
        internal
        view
        returns (bytes memory)
    {
        bool same = Members.same(known.newest.signers, signers);
        uint256[] memory pages = new uint256[](same ? 0 : 1);
        if (!same) pages[0] = 2;
        return Members.pack(known.newest, Members.NEWEST, pages, _none, signers, proof);
    }

    function _settling(uint256 i, bytes32[] memory results, bytes memory signers)
        internal
        view
        returns (Hub.Settling memory)
    {
        Known storage known = _all[i];
        bytes memory call = _call(known.head, Members.commitment(known.newest), results, _quorum(known, signers, ""));
        return Hub.Settling(known.settlement, call, _signature(known, results, signers));
    }

    function _call(Head head, bytes32 newest, bytes32[] memory results, bytes memory quorum)
        internal
        pure
        returns (bytes memory)
    {
        return abi.encodeCall(IHubSettlement.settleByHub, (head, newest, DEADLINE, results, quorum));
    }

    /// @dev What a call was made of.
    function _decoded(bytes memory data)
        internal
        pure
        returns (Head head, bytes32 newest, bytes32[] memory results, bytes memory quorum)
    {
        bytes memory arguments = new bytes(data.length - 4);
        assembly {
            mcopy(add(arguments, 0x20), add(data, 0x24), mload(arguments))
        }
        (head, newest,, results, quorum) = abi.decode(arguments, (Head, bytes32, uint64, bytes32[], bytes));
    }

    function _advance(Known storage known, bytes memory signers) internal {
        known.head = known.head.advance(1);
        known.newest = Members.Base(Members.NEWEST, 0, 0, keyOf(_secret(known, signers)), signers);
    }

    function _assertState(Known storage known) internal view {
        bytes32 expected = keccak256(abi.encode(known.head, Members.commitment(known.newest)));
        assertEq(known.settlement.state(), expected, "state");
    }
}

/// @notice Tests a hub.
abstract contract HubTest is HubFixture {
    function setUp() public {
        _hub = _newHub();
        for (uint256 i = 0; i < 3; i++) {
            _start(_newSettlement(_hub), 11 + 10 * i);
        }
    }

    /// @dev The negation of a key.
    function _negated(bytes memory key) internal view virtual returns (bytes memory);

    /// @dev What a hub reverts with for a proof of this length.
    function _wrongLength(uint256 length) internal pure virtual returns (bytes memory);

    /// @dev Bytes of a signature, with which a proof begins.
    function _signatureBytes() internal pure virtual returns (uint256);

    /// @dev What a hub reverts with for a signature off the curve.
    function _offTheCurve() internal pure virtual returns (bytes memory);

    /// @dev A proof with another signature.
    function _withSignature(bytes memory proof, bytes memory from) internal pure returns (bytes memory changed) {
        changed = bytes.concat(proof);
        for (uint256 i = 0; i < _signatureBytes(); i++) {
            changed[i] = from[i];
        }
    }

    /// @dev One result of the first settlement, two of the second and so on, by other quorums than the last.
    function _three() internal view returns (Hub.Settling[] memory all) {
        all = new Hub.Settling[](3);
        bytes[3] memory signers = [bytes(hex"c0"), hex"60", hex"e0"];
        for (uint256 i = 0; i < 3; i++) {
            all[i] = _settling(i, _results(_all[i], i), signers[i]);
        }
    }

    function _assertThree() private {
        bytes[3] memory signers = [bytes(hex"c0"), hex"60", hex"e0"];
        for (uint256 i = 0; i < 3; i++) {
            _advance(_all[i], signers[i]);
            if (i == 1) _all[i].head = _all[i].head.advance(1);
            _assertState(_all[i]);
        }
    }

    function _refuse(Hub.Settling[] memory all, bytes memory expected) internal {
        (bool done, bytes memory why) = address(_hub).call(abi.encodeCall(Hub.settle, (all)));
        assertTrue(!done, "not refused");
        assertEq(why, expected, "why");
        for (uint256 i = 0; i < _all.length; i++) {
            _assertState(_all[i]);
        }
    }

    function _first(uint256 count) internal view returns (Hub.Settling[] memory some) {
        Hub.Settling[] memory all = _three();
        some = new Hub.Settling[](count);
        for (uint256 i = 0; i < count; i++) {
            some[i] = all[i];
        }
    }

    function test_settlesOfSeveral() public {
        assertEq(_hub.settle(_three()), 3, "settled");
        _assertThree();
    }

    /// @notice Results of one settlement follow each other, signed by different quorums.
    function test_settlesOfOneInOrder() public {
        Known storage known = _all[0];
        (Head head, Members.Base memory newest) = (known.head, known.newest);
        Hub.Settling[] memory all = new Hub.Settling[](3);
        bytes[3] memory signers = [bytes(hex"c0"), hex"60", hex"60"];
        for (uint256 i = 0; i < 3; i++) {
            all[i] = _settling(0, _results(known, 0), signers[i]);
            _advance(known, signers[i]);
        }
        (Head last, Members.Base memory lastNewest) = (known.head, known.newest);
        (known.head, known.newest) = (head, newest);
        _assertState(known);
        assertEq(_hub.settle(all), 3, "settled");
        (known.head, known.newest) = (last, lastNewest);
        _assertState(known);
    }

    /// @notice The digest is the same, so what is signed for a hub settles without one as well.
    function test_signaturesServeWithoutAHub() public {
        Hub.Settling memory one = _three()[1];
        (Head head, bytes32 newest, bytes32[] memory results, bytes memory quorum) = _decoded(one.call);
        _all[1].settlement.settleAll(head, newest, DEADLINE, results, abi.encodePacked(quorum, one.proof));
        assertTrue(_all[1].settlement.state() != bytes32(0), "settled");
    }

    function test_trap_oneFalseSignature() public {
        for (uint256 i = 0; i < 3; i++) {
            Hub.Settling[] memory all = _three();
            bytes memory right = all[i].proof;
            all[i].proof = _withSignature(right, proofBy(99, Members.only(bytes32(i))));
            _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
            all[i].proof = _withSignature(right, new bytes(_signatureBytes()));
            _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
        }
    }

    /// @notice Each signature is right, but for another settlement's quorum.
    function test_trap_aSignatureTwiceAndAnotherNever() public {
        Hub.Settling[] memory all = _three();
        all[1].proof = _withSignature(all[1].proof, all[0].proof);
        _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
    }

    /// @notice What is checked is the sum: signatures in another order have the same.
    function test_signaturesInAnotherOrder() public {
        Hub.Settling[] memory all = _three();
        (all[0].proof, all[1].proof) =
        (_withSignature(all[0].proof, all[1].proof), _withSignature(all[1].proof, all[0].proof));
        assertEq(_hub.settle(all), 3, "settled");
        _assertThree();
    }

    /// @notice An attacker's settlement claims the same order under the negated key. If both digests were the same, the
    /// product would be one without any signature.
    function test_trap_aRogueKeyOfAFalseSettlement() public {
        Hub.Settling[] memory all = _first(2);
        Known storage known = _all[0];
        (,, bytes32[] memory results,) = _decoded(all[0].call);
        uint256 negated = order() - _secret(known, hex"c0");
        bytes32 kind = keccak256("Order(uint256 epoch,uint256 nonce,uint256 deadline,uint256 store,bytes32 results)");
        bytes32 hash = keccak256(abi.encodePacked(results));
        bytes32 order =
            keccak256(abi.encode(kind, known.head.epoch(), known.head.nonce(), DEADLINE, Members.NEWEST, hash));
        bytes memory key = _negated(keyOf(_secret(known, hex"c0")));
        FalseSettlement rogue = new FalseSettlement();
        rogue.prepare(abi.encode(order, key));
        bytes memory nothing = new bytes(_signatureBytes());
        all[0].proof = _withSignature(all[0].proof, nothing);
        bytes memory call = abi.encodePacked(IHubSettlement.settleByHub.selector);
        // Whoever knows no secret of the key has its point of the other group, too.
        bytes32 digest = Orders.digest(address(rogue), order);
        bytes memory proof = proofBy(negated, Members.only(digest));
        all[1] = Hub.Settling(IHubSettlement(address(rogue)), call, _withSignature(proof, nothing));
        _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
    }

    function test_trap_strangersCallTheSettlement() public {
        Hub.Settling memory one = _three()[0];
        (bool done, bytes memory why) = address(one.settlement).call(one.call);
        assertTrue(!done, "not refused");
        assertEq(why, abi.encodeWithSelector(HubSettlement.NotHub.selector, address(this)), "why");
        assertEq(one.settlement.hub(), address(_hub), "the hub");
    }

    /// @notice A hub that the settlement does not name settles nothing there.
    function test_trap_anotherHub() public {
        Hub other = _newHub();
        (bool done, bytes memory why) = address(other).call(abi.encodeCall(Hub.settle, (_three())));
        assertTrue(!done, "not refused");
        assertEq(why, abi.encodeWithSelector(Hub.NothingSettled.selector), "why");
    }

    /// @notice A settlement whose next result was settled in the meantime is skipped, wherever it stands.
    function test_skipsWhatReverts() public {
        for (uint256 stale = 0; stale < 3; stale++) {
            uint256 before = vm.snapshotState();
            Hub.Settling[] memory all = _three();
            (Head head, bytes32 newest, bytes32[] memory results, bytes memory quorum) = _decoded(all[stale].call);
            _all[stale].settlement
                .settleAll(head, newest, DEADLINE, results, abi.encodePacked(quorum, all[stale].proof));
            vm.recordLogs();
            assertEq(_hub.settle(all), 2, "settled");
            Vm.Log[] memory logs = vm.getRecordedLogs();
            bool found;
            for (uint256 i = 0; i < logs.length; i++) {
                if (logs[i].topics[0] != Hub.Skipped.selector) continue;
                found = true;
                assertEq(uint256(logs[i].topics[1]), stale, "the skipped one");
                assertEq(address(uint160(uint256(logs[i].topics[2]))), address(all[stale].settlement), "its address");
                bytes memory why = abi.encodeWithSelector(Settlement.NotThisState.selector);
                assertEq(logs[i].data, abi.encode(why), "its reason");
            }
            assertTrue(found, "an event");
            vm.revertToState(before);
        }
    }

    function test_trap_nothingSettles() public {
        _refuse(new Hub.Settling[](0), abi.encodeWithSelector(Hub.NothingSettled.selector));
        Hub.Settling[] memory all = _first(1);
        all[0].call = abi.encodePacked(IHubSettlement.settleByHub.selector);
        _refuse(all, abi.encodeWithSelector(Hub.NothingSettled.selector));
    }

    /// @notice Neither an address without code nor a contract that answers something else counts.
    function test_trap_noSettlement() public {
        Hub.Settling[] memory all = _three();
        all[1].settlement = IHubSettlement(address(0x1234));
        _refuse(all, abi.encodeWithSelector(Hub.NotASettlement.selector, address(0x1234)));
        FalseSettlement other = new FalseSettlement();
        all[1].settlement = IHubSettlement(address(other));
        bytes[5] memory answers = [
            bytes(hex"01"),
            abi.encode(bytes32(uint256(1))),
            abi.encode(bytes32(uint256(1)), new bytes(keyOf(1).length - 1)),
            abi.encode(bytes32(uint256(1)), new bytes(keyOf(1).length + 1)),
            abi.encodePacked(uint256(1), uint256(0x60), keyOf(1).length, keyOf(1))
        ];
        for (uint256 i = 0; i < answers.length; i++) {
            other.prepare(answers[i]);
            _refuse(all, abi.encodeWithSelector(Hub.NotASettlement.selector, address(other)));
        }
    }

    /// @notice The hub calls no other function of a contract.
    function test_trap_anotherFunction() public {
        Hub.Settling[] memory all = _three();
        bytes[3] memory calls = [bytes(""), hex"010203", abi.encodeCall(Settlement.discard, ())];
        for (uint256 i = 0; i < calls.length; i++) {
            all[2].call = calls[i];
            _refuse(all, abi.encodeWithSelector(Hub.NotSettleByHub.selector, 2));
        }
    }

    /// @notice The signature stands in the quorum's bytes as well, which settles nothing.
    function test_trap_aSignatureInTheQuorum() public {
        Hub.Settling[] memory all = _first(1);
        (Head head, bytes32 newest, bytes32[] memory results, bytes memory quorum) = _decoded(all[0].call);
        quorum = abi.encodePacked(quorum, all[0].proof);
        all[0].call = _call(head, newest, results, quorum);
        _refuse(all, abi.encodeWithSelector(Hub.NothingSettled.selector));
        vm.startPrank(address(_hub));
        (bool done, bytes memory why) = address(all[0].settlement).call(all[0].call);
        assertTrue(!done, "not refused");
        vm.stopPrank();
        assertEq(why, abi.encodeWithSelector(HubSettlement.ProofLeft.selector, all[0].proof.length), "why");
    }

    function test_trap_malformedSignatures() public {
        Hub.Settling[] memory all = _three();
        bytes memory right = all[2].proof;
        all[2].proof = new bytes(right.length - 1);
        _refuse(all, _wrongLength(right.length - 1));
        all[2].proof = abi.encodePacked(right, uint8(0));
        _refuse(all, _wrongLength(right.length + 1));
        all[2].proof = _withSignature(right, abi.encodePacked(new bytes(_signatureBytes() - 1), uint8(1)));
        (bool done, bytes memory why) = address(_hub).call{gas: 3_000_000}(abi.encodeCall(Hub.settle, (all)));
        assertTrue(!done, "not refused");
        assertEq(why, _offTheCurve(), "why");
    }

    /// @notice The base of a settlement is checked as ever.
    function test_trap_anotherBase() public {
        Known storage known = _all[0];
        known.newest.key = keyOf(7);
        Hub.Settling[] memory all = _first(1);
        known.newest.key = keyOf(_secret(known, hex"e0"));
        _refuse(all, abi.encodeWithSelector(Hub.NothingSettled.selector));
        vm.startPrank(address(_hub));
        (bool done, bytes memory why) = address(all[0].settlement).call(all[0].call);
        assertTrue(!done, "not refused");
        vm.stopPrank();
        assertEq(bytes4(why), Settlement.NotThisState.selector, "why");
    }

    function _group() internal view virtual returns (string memory);

    /// @notice Gas of whole transactions for settlements whose quorums are their newest bases.
    function test_gas() public {
        while (_all.length < 10) _start(_newSettlement(_hub), 11 + 10 * _all.length);
        uint8[4] memory counts = [1, 2, 5, 10];
        for (uint256 j = 0; j < counts.length; j++) {
            Hub.Settling[] memory all = new Hub.Settling[](counts[j]);
            for (uint256 i = 0; i < all.length; i++) {
                all[i] = _settling(i, _results(_all[i], 0), hex"e0");
            }
            assertEq(_hub.settle(all), all.length, "settled");
            vm.snapshotGasLastCall(_group(), string.concat(vm.toString(all.length), " quorums by a hub"));
            for (uint256 i = 0; i < all.length; i++) {
                _advance(_all[i], hex"e0");
                _assertState(_all[i]);
            }
        }
    }
}

/// @notice What the tests need of BLS12-381.
abstract contract HubBls12381Test is HubTest, Bls12381G2Signing {
    function _negated(bytes memory key) internal pure override returns (bytes memory) {
        return BlsPoints.negateG2(key);
    }

    function _wrongLength(uint256 length) internal pure override returns (bytes memory) {
        return abi.encodeWithSelector(Bls12381G2Sums.SignatureLength.selector, length);
    }

    function _signatureBytes() internal pure override returns (uint256) {
        return 96;
    }

    function _offTheCurve() internal pure override returns (bytes memory) {
        return abi.encodeWithSelector(Bls12381.G1AddFailed.selector);
    }
}

contract HubBls12381G2Test is HubBls12381Test {
    function _newHub() internal override returns (Hub) {
        return new HubBls12381G2();
    }

    function _newSettlement(Hub hub) internal override returns (HubSettlement) {
        return new HubSettlementBls12381G2(address(this), 1, 4, address(hub));
    }

    function _group() internal pure override returns (string memory) {
        return "HubBls12381G2";
    }
}

contract HubBls12381G2NuTest is HubBls12381Test, Bls12381G2NuSigning {
    function hashOf(bytes32 digest)
        internal
        view
        override(Bls12381G2NuSigning, Bls12381G2Signing)
        returns (G1Point memory)
    {
        return Bls12381G2NuSigning.hashOf(digest);
    }

    function _newHub() internal override returns (Hub) {
        return new HubBls12381G2Nu();
    }

    function _newSettlement(Hub hub) internal override returns (HubSettlement) {
        return new HubSettlementBls12381G2Nu(address(this), 1, 4, address(hub));
    }

    function _group() internal pure override returns (string memory) {
        return "HubBls12381G2Nu";
    }

    /// @notice A contract that takes results acts before the signatures are checked. If one is false, what it did is
    /// undone. It may call the hub itself.
    function test_trap_aReceiverActsBeforeTheProof() public {
        ActingReceiver receiver = new ActingReceiver();
        _start(new ForwardedHubSettlement(address(_hub), receiver), 71);
        assertEq(receiver.received(), 1, "the first result");
        Hub.Settling[] memory all = new Hub.Settling[](1);
        all[0] = _settling(3, _results(_all[3], 0), hex"60");
        bytes memory signature = all[0].proof;
        all[0].proof = proofBy(99, Members.only(bytes32(0)));
        _refuse(all, abi.encodeWithSelector(Hub.FalseSignatures.selector));
        assertEq(receiver.received(), 1, "undone");
        // From within, the receiver settles another settlement's result, by a hub call of its own.
        receiver.arm(address(_hub), abi.encodeCall(Hub.settle, (_first(1))));
        all[0].proof = signature;
        assertEq(_hub.settle(all), 1, "settled");
        assertEq(receiver.received(), 2, "received");
    }
}
