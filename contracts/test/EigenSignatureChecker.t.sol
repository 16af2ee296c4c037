// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {EigenFixture} from "./EigenFixture.sol";
import {History} from "./baselines/EigenRegistries.sol";
import {PlainBn254G2} from "./plain/PlainBn254G2.sol";
import {vm} from "./Test.sol";
import {EigenSignatureChecker} from "../src/adapters/EigenSignatureChecker.sol";
import {EigenSignatureLens} from "../src/adapters/EigenSignatureLens.sol";
import {OperatorSnapshots} from "../src/adapters/OperatorSnapshots.sol";
import {IBLSSignatureChecker} from "../src/interfaces/IBLSSignatureChecker.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {CodePages} from "../src/libraries/CodePages.sol";

/// @notice A consumer as EigenLayer's services are: it takes the argument to memory, passes it on and asks for two thirds.
contract EigenConsumer {
    IBLSSignatureChecker public immutable checker;
    bytes32 public lastRecord;

    constructor(IBLSSignatureChecker checker_) {
        checker = checker_;
    }

    function respond(
        bytes32 message,
        bytes calldata quorums,
        uint32 inBlock,
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params
    ) external {
        (IBLSSignatureChecker.QuorumStakeTotals memory totals, bytes32 record) =
            checker.checkSignatures(message, quorums, inBlock, params);
        for (uint256 i = 0; i < quorums.length; i++) {
            require(3 * uint256(totals.signedStakeForQuorum[i]) >= 2 * uint256(totals.totalStakeForQuorum[i]), "stake");
        }
        lastRecord = record;
    }
}

/// @notice Tests the drop-in for EigenLayer's `BLSSignatureChecker` beside theirs, rebuilt.
contract EigenSignatureCheckerTest is EigenFixture {
    bytes private constant BOTH = hex"0001";
    uint256 private _page;
    /// @dev Of the fuzzed case: what theirs answers, and whether the snapshot is right in the block.
    bytes private _expected;
    bool private _same;

    /// @dev Six operators: all in quorum 0, the odd places in quorum 1, too. They join in block 100; the snapshot is of block
    /// 105, and it is block 110.
    function setUp() public {
        vm.roll(100);
        _deploy(false, false, 3);
        for (uint256 i = 0; i < 6; i++) {
            _join(i % 2 == 0 ? bytes(hex"00") : BOTH, uint96(1_000 + 100 * i));
        }
        vm.roll(110);
        _page = _take(105, BOTH);
    }

    function _params(bool live, uint256 inBlock, uint256 set)
        private
        view
        returns (IBLSSignatureChecker.NonSignerStakesAndSignature memory)
    {
        return _encoded(MESSAGE, _page, live, inBlock, BOTH, set);
    }

    function _assertSame(uint256 inBlock, bytes memory quorums, uint256 set, bytes memory answer) private {
        (bool done, bytes memory expected) =
            _check(address(_theirs), MESSAGE, quorums, inBlock, _encodedAsTheirs(MESSAGE, inBlock, quorums, set));
        assertTrue(done, "theirs");
        assertEq(answer, expected, "another answer than theirs");
    }

    function _refuse(
        uint256 inBlock,
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params,
        bytes memory expected
    ) private {
        (bool done, bytes memory why) = _check(address(_checker), MESSAGE, BOTH, inBlock, params);
        assertTrue(!done, "not refused");
        assertEq(why, expected, "why");
    }

    /// @notice The selector is the one that their consumers call.
    function test_selectors() public view {
        assertEq(bytes32(IBLSSignatureChecker.checkSignatures.selector), bytes32(bytes4(0x6efb4636)), "selector");
        assertEq(_checker.registryCoordinator(), address(_coordinator), "coordinator");
        assertEq(_checker.stakeRegistry(), address(_coordinator.stakeRegistry()), "stakes");
        assertEq(_checker.blsApkRegistry(), address(_coordinator.blsApkRegistry()), "keys");
        assertEq(_checker.delegation(), address(0xde1e), "delegation");
    }

    function test_sameAnswer() public {
        for (uint256 set = 0; set < 63; set += 3) {
            (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 105, _params(false, 105, set));
            assertTrue(done, "in the snapshot's block");
            _assertSame(105, BOTH, set, answer);
            (done, answer) = _check(address(_checker), MESSAGE, BOTH, 108, _params(true, 108, set));
            assertTrue(done, "by the registries");
            _assertSame(108, BOTH, set, answer);
        }
        _refuse(109, _params(false, 109, 5), abi.encodeWithSelector(EigenSignatureChecker.ProvedUntil.selector, 0));
        _checker.extend(_page);
        for (uint256 set = 0; set < 63; set += 3) {
            (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 109, _params(false, 109, set));
            assertTrue(done, "proved");
            _assertSame(109, BOTH, set, answer);
        }
        vm.roll(112);
        _refuse(110, _params(false, 110, 5), abi.encodeWithSelector(EigenSignatureChecker.ProvedUntil.selector, 109));
    }

    /// @notice Random quorums, operators who join and leave, stakes that change alone, together, and so that the sum stays.
    /// Their encoding gives what theirs gives. A snapshot gives that or is refused, and it is not refused if nothing
    /// changed.
    function testFuzz_sameAnswers(uint256 seed) public {
        _deploy(false, seed % 5 == 0, 3);
        delete _keys;
        delete _ids;
        vm.roll(200);
        uint256 taken = 0;
        for (uint256 step = 0; step < 10; step++) {
            uint256 random = uint256(keccak256(abi.encode(seed, step)));
            _happen(random >> 16, step);
            if (random % 3 != 0) vm.roll(block.number + 1 + random % 2);
            if (step == 2 + seed % 7) {
                if (block.number == 200) vm.roll(201);
                taken = block.number - 1;
            }
        }
        vm.roll(block.number + 1);
        bytes[5] memory choices = [bytes(hex"00"), hex"01", hex"0001", hex"0102", hex"000102"];
        bytes memory quorums = choices[(seed >> 20) % 5];
        uint256 inBlock = taken + (seed >> 32) % (block.number - taken);
        uint256 set = seed >> 64;
        for (uint256 q = 0; q < quorums.length; q++) {
            // Without operators a quorum has no key in the registry.
            vm.assume(_quorumKey(taken, uint8(quorums[q])).X != 0 && _quorumKey(inBlock, uint8(quorums[q])).X != 0);
        }
        (IBLSSignatureChecker.G2Point memory apkG2,) = _signed(MESSAGE, inBlock, quorums, set);
        vm.assume(apkG2.X[0] != 0);
        _compare(taken, inBlock, quorums, set);
    }

    function _happen(uint256 random, uint256 step) private {
        uint256 kind = random % 6;
        if (_keys.length < 4 || kind == 0) {
            if (_keys.length > 8) return;
            bytes[6] memory choices = [bytes(hex"00"), hex"01", hex"02", hex"0001", hex"0002", hex"000102"];
            _join(_keys.length < 2 ? bytes(hex"000102") : choices[(random >> 8) % 6], uint96((random >> 16) % 1_000));
            return;
        }
        uint256 i = (random >> 8) % _keys.length;
        uint256 j = (random >> 16) % _keys.length;
        uint8 quorum = uint8((random >> 24) % 3);
        uint192 members = _coordinator.currentQuorums(_ids[i]);
        if ((members >> quorum) & 1 == 0) {
            if (kind == 1) _coordinator.register(_keys[i], abi.encodePacked(quorum), _stakes(1, uint96(step)));
            return;
        }
        if (kind == 2) return _coordinator.deregister(_keys[i], abi.encodePacked(quorum));
        if (kind < 5) return _coordinator.update(_ids[i], quorum, uint96((random >> 32) % 1_000));
        // What one gains another loses, and the sum stays.
        if (i == j || (_coordinator.currentQuorums(_ids[j]) >> quorum) & 1 == 0) return;
        (bytes32[] memory ids, uint96[] memory stakes) = (new bytes32[](2), new uint96[](2));
        (ids[0], ids[1]) = (_ids[i], _ids[j]);
        (stakes[0], stakes[1]) = (_stakeNow(j, quorum), _stakeNow(i, quorum));
        _coordinator.updateQuorum(quorum, ids, stakes);
    }

    function _stakeNow(uint256 i, uint8 quorum) private view returns (uint96) {
        return _stakeAt(i, quorum, block.number);
    }

    function _stakeAt(uint256 i, uint8 quorum, uint256 inBlock) private view returns (uint96) {
        if ((_membersAt(i, inBlock) >> quorum) & 1 == 0) return 0;
        uint32 index = _coordinator.stakeRegistry().getStakeUpdateIndexAtBlockNumber(_ids[i], quorum, uint32(inBlock));
        return _coordinator.stakeRegistry().getStakeAtBlockNumberAndIndex(quorum, uint32(inBlock), _ids[i], index);
    }

    function _compare(uint256 taken, uint256 inBlock, bytes memory quorums, uint256 set) private {
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params =
            _encodedAsTheirs(MESSAGE, inBlock, quorums, set);
        (bool done, bytes memory expected) = _check(address(_theirs), MESSAGE, quorums, inBlock, params);
        assertTrue(done, "theirs");
        bytes memory answer;
        (done, answer) = _check(address(_checker), MESSAGE, quorums, inBlock, params);
        assertTrue(done, "their encoding");
        assertEq(answer, expected, "their encoding: another answer");
        _page = _take(taken, quorums);
        _expected = expected;
        _same = _unchanged(taken, inBlock, quorums);
        _compareOne(false, inBlock, quorums, set, taken == inBlock);
        _compareOne(true, inBlock, quorums, set, taken == inBlock || (_same && _notUpdated(taken, quorums)));
        (done,) = address(_checker).call(abi.encodeCall(OperatorSnapshots.extend, (_page)));
        _compareOne(false, inBlock, quorums, set, taken == inBlock || done);
    }

    /// @dev Checks by the snapshot.
    /// @param must Whether the checker has to know that the snapshot is right in the block.
    function _compareOne(bool live, uint256 inBlock, bytes memory quorums, uint256 set, bool must) private {
        try this.encodedBy(_page, live, inBlock, quorums, set) returns (
            IBLSSignatureChecker.NonSignerStakesAndSignature memory params
        ) {
            (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, quorums, inBlock, params);
            if (done) assertEq(answer, _expected, "by a snapshot: another answer");
            assertTrue(done || !must, "a right snapshot was refused");
            assertTrue(_same || !done, "a wrong snapshot was accepted");
        } catch {
            // Someone joined and is absent. The snapshot does not know it.
            assertTrue(!_same, "the lens");
        }
    }

    function encodedBy(uint256 page, bool live, uint256 inBlock, bytes memory quorums, uint256 set)
        external
        view
        returns (IBLSSignatureChecker.NonSignerStakesAndSignature memory)
    {
        return _encoded(MESSAGE, page, live, inBlock, quorums, set);
    }

    /// @dev Whether the operators and their stakes in the quorums are those of the other block.
    function _unchanged(uint256 taken, uint256 inBlock, bytes memory quorums) private view returns (bool) {
        for (uint256 q = 0; q < quorums.length; q++) {
            uint8 quorum = uint8(quorums[q]);
            for (uint256 b = taken + 1; b <= inBlock; b++) {
                for (uint256 i = 0; i < _keys.length; i++) {
                    if ((_membersAt(i, taken) ^ _membersAt(i, b)) >> quorum & 1 != 0) return false;
                    if (_stakeAt(i, quorum, taken) != _stakeAt(i, quorum, b)) return false;
                }
            }
            // An operator who left and came back in one block left an entry.
            uint32[] memory before = _coordinator.blsApkRegistry().getApkIndicesAtBlockNumber(quorums, taken);
            uint32[] memory then = _coordinator.blsApkRegistry().getApkIndicesAtBlockNumber(quorums, inBlock);
            if (before[q] != then[q]) return false;
            before = _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(uint32(taken), quorums);
            then = _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(uint32(inBlock), quorums);
            if (before[q] != then[q]) return false;
        }
        return true;
    }

    function _notUpdated(uint256 taken, bytes memory quorums) private view returns (bool) {
        for (uint256 q = 0; q < quorums.length; q++) {
            if (_coordinator.quorumUpdateBlockNumber(uint8(quorums[q])) > taken) return false;
        }
        return true;
    }

    function test_aConsumerChangesAnAddress() public {
        EigenConsumer consumer = new EigenConsumer(_checker);
        consumer.respond(MESSAGE, BOTH, 105, _params(false, 105, 1));
        bytes32 record = consumer.lastRecord();
        assertEq(record, keccak256(abi.encodePacked(uint32(105), _ids[0])), "the record");
        consumer.respond(MESSAGE, BOTH, 105, _encodedAsTheirs(MESSAGE, 105, BOTH, 1));
        assertEq(consumer.lastRecord(), record, "the record in their encoding");
        IBLSSignatureChecker.NonSignerStakesAndSignature memory few = _params(false, 105, 7);
        vm.expectRevert(bytes("stake"));
        consumer.respond(MESSAGE, BOTH, 105, few);
    }

    function test_trySignatureAndApkVerification() public view {
        IBLSSignatureChecker.G1Point memory key = IBLSSignatureChecker.G1Point(_keys[4].x, _keys[4].y);
        (bool paired, bool valid) = _checker.trySignatureAndApkVerification(MESSAGE, key, _g2(5), _times(MESSAGE, 5));
        assertTrue(paired && valid, "right");
        (paired, valid) = _checker.trySignatureAndApkVerification(MESSAGE, key, _g2(5), _times(MESSAGE, 4));
        assertTrue(paired && !valid, "a false signature");
        (paired, valid) = _checker.trySignatureAndApkVerification(MESSAGE, key, _g2(4), _times(MESSAGE, 4));
        assertTrue(paired && !valid, "another key in G2");
    }

    /// @notice Both refuse the same false inputs of their encoding.
    function test_refusesWhatTheirsRefuse() public {
        for (uint256 kind = 0; kind < 21; kind++) {
            IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _encodedAsTheirs(MESSAGE, 105, BOTH, 6);
            (bytes memory quorums, uint256 inBlock, bytes32 message) = (BOTH, 105, MESSAGE);
            if (kind == 1) message = bytes32(uint256(MESSAGE) + 1);
            if (kind == 2) params.sigma = _times(MESSAGE, 3);
            if (kind == 3) params.apkG2 = _g2(3);
            if (kind == 4) (params.apkG2, params.sigma) = (_g2(3), _times(MESSAGE, 3));
            if (kind == 5) params.quorumApks[0] = params.quorumApks[1];
            if (kind == 6) _swap(params);
            if (kind == 7) params.nonSignerPubkeys[1] = params.nonSignerPubkeys[0];
            if (kind == 8) inBlock = 110;
            if (kind == 9) inBlock = 99;
            if (kind == 10) quorums = hex"0100";
            if (kind == 11) quorums = hex"0000";
            if (kind == 12) quorums = hex"0003";
            if (kind == 13) quorums = "";
            if (kind == 14) params.quorumApkIndices[0]++;
            if (kind == 15) params.totalStakeIndices[1]++;
            if (kind == 16) params.nonSignerStakeIndices[0][0]++;
            if (kind == 17) params.nonSignerQuorumBitmapIndices[0]++;
            if (kind == 18) params.nonSignerQuorumBitmapIndices = new uint32[](1);
            if (kind == 19) params.nonSignerStakeIndices = new uint32[][](1);
            if (kind == 20) params.nonSignerStakeIndices[1] = new uint32[](0);
            (bool theirs,) = _check(address(_theirs), message, quorums, inBlock, params);
            (bool ours,) = _check(address(_checker), message, quorums, inBlock, params);
            assertTrue(theirs == (kind == 0), string.concat("theirs ", vm.toString(kind)));
            assertTrue(ours == (kind == 0), string.concat("ours ", vm.toString(kind)));
        }
    }

    function _swap(IBLSSignatureChecker.NonSignerStakesAndSignature memory params) private pure {
        (params.nonSignerPubkeys[0], params.nonSignerPubkeys[1]) =
        (params.nonSignerPubkeys[1], params.nonSignerPubkeys[0]);
    }

    function test_trap_falseSignatures() public {
        bytes memory expected = abi.encodeWithSelector(EigenSignatureChecker.FalseSignature.selector);
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        params.sigma = _times(bytes32(uint256(1)), 3);
        _refuse(108, params, expected);
        params.sigma = IBLSSignatureChecker.G1Point(0, 0);
        _refuse(108, params, expected);
    }

    /// @notice A signer who is not named as absent counts, so its signature must be there.
    function test_trap_anAbsentOperatorWhoIsNotNamed() public {
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        IBLSSignatureChecker.NonSignerStakesAndSignature memory fewer = _params(true, 108, 2);
        (fewer.apkG2, fewer.sigma) = (params.apkG2, params.sigma);
        _refuse(108, fewer, abi.encodeWithSelector(EigenSignatureChecker.FalseSignature.selector));
    }

    /// @notice The aggregator's key in G2 is not the sum of the signers' keys: a key of its own, with its own signature.
    function test_trap_aKeyInG2ThatIsNotTheSum() public {
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        (params.apkG2, params.sigma) = (_g2(99), _times(MESSAGE, 99));
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.FalseSignature.selector));
    }

    /// @notice A rogue key is computed from the others' keys. It is in the registry here, because the rebuilt one asks for no
    /// proof, and whoever made it cannot sign with the sum unless it knows the secret. With the sum's secret the
    /// signature is right in theirs, too: only the registry's proof of possession keeps rogue keys out.
    function test_trap_rogueKeys() public {
        Bn254.G1 memory sum;
        for (uint256 i = 0; i < 6; i++) {
            sum = Bn254.add(sum, _keys[i]);
        }
        Bn254.G1 memory rogue = Bn254.add(Bn254.mul(Bn254.generator(), 1_000), Bn254.negate(sum));
        _coordinator.register(rogue, hex"00", _stakes(1, 5));
        _keys.push(rogue);
        _ids.push(keccak256(abi.encode(rogue)));
        vm.roll(120);
        _page = _take(115, hex"00");
        bytes32[] memory none = new bytes32[](0);
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params =
            _lens.paramsOf(_checker, MESSAGE, _one(_page), false, none, _g2(1_000), _times(MESSAGE, 1_000));
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, hex"00", 115, params);
        assertTrue(done, "the registry let it in");
        IBLSSignatureChecker.NonSignerStakesAndSignature memory same = _encodedAsTheirs(MESSAGE, 115, hex"00", 0);
        same.quorumApks[0] = IBLSSignatureChecker.G1Point(Bn254.mul(Bn254.generator(), 1_000).x, 0);
        same.quorumApks[0].Y = Bn254.mul(Bn254.generator(), 1_000).y;
        (same.apkG2, same.sigma) = (params.apkG2, params.sigma);
        (bool theirs, bytes memory expected) = _check(address(_theirs), MESSAGE, hex"00", 115, same);
        assertTrue(theirs, "theirs, too");
        assertEq(answer, expected, "the same");
        // A snapshot that does not list the rogue key does not make it vanish.
        (OperatorSnapshots.Quorum[] memory quorums, bytes memory operators) =
            _lens.takeArguments(_checker, 115, hex"00", _keys);
        assembly {
            mstore(operators, sub(mload(operators), 72))
        }
        _page = _checker.take(115, quorums, operators);
        params = _lens.paramsOf(_checker, MESSAGE, _one(_page), false, none, _g2(21), _times(MESSAGE, 21));
        (done, answer) = _check(address(_checker), MESSAGE, hex"00", 115, params);
        assertTrue(!done, "the sum of all but the rogue key");
        assertEq(answer, abi.encodeWithSelector(EigenSignatureChecker.FalseSignature.selector), "why");
    }

    function test_trap_pointsOffTheCurve() public {
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        params.sigma = IBLSSignatureChecker.G1Point(1, 3);
        _refuse(108, params, abi.encodeWithSelector(Bn254.AddFailed.selector));
        params.sigma = IBLSSignatureChecker.G1Point(1 + Bn254.P, 2);
        _refuse(108, params, abi.encodeWithSelector(Bn254.AddFailed.selector));
        params = _params(true, 108, 6);
        params.apkG2.Y[1] ^= 1;
        _refuse(108, params, abi.encodeWithSelector(Bn254.PairingFailed.selector));
    }

    /// @notice A point of the twist that is not in G2: the one with the smallest real x. Only the pairing can tell.
    function test_trap_aKeyOutsideTheSubgroup() public {
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        params.apkG2.X = [uint256(0), 1];
        params.apkG2.Y = [
            uint256(0x0d1271953ed9ea0836846e70a1934187998c7f790cb4d7511b7f8da82de048a4),
            0x2869111d5381f072f8e2728fdb825a51aadd70e52c9830e9ab4b871c0531f1bb
        ];
        _refuse(108, params, abi.encodeWithSelector(Bn254.PairingFailed.selector));
        assertTrue(PlainBn254G2.isOnTwist(Bn254.G2(0, 1, params.apkG2.Y[0], params.apkG2.Y[1])), "on the twist");
    }

    /// @notice All are absent: the key is the identity, under which everyone can sign. Theirs returns a signed stake of zero.
    function test_trap_theIdentity() public {
        bytes memory expected = abi.encodeWithSelector(Bn254.IdentityKey.selector);
        _refuse(108, _params(true, 108, 63), expected);
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _encodedAsTheirs(MESSAGE, 108, BOTH, 63);
        _refuse(108, params, expected);
        (bool done, bytes memory answer) = _check(address(_theirs), MESSAGE, BOTH, 108, params);
        assertTrue(done, "theirs");
        (IBLSSignatureChecker.QuorumStakeTotals memory totals,) =
            abi.decode(answer, (IBLSSignatureChecker.QuorumStakeTotals, bytes32));
        assertEq(totals.signedStakeForQuorum[0] + totals.signedStakeForQuorum[1], 0, "nothing signed");
        params = _params(true, 108, 6);
        params.apkG2 = IBLSSignatureChecker.G2Point([uint256(0), 0], [uint256(0), 0]);
        _refuse(108, params, expected);
    }

    /// @notice A stake changed after the snapshot. In blocks before the change the snapshot is right, from it on it is not.
    function test_trap_aStakeChangedAfterTheSnapshot() public {
        _coordinator.update(_ids[2], 0, 7);
        vm.roll(112);
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 109, _params(true, 109, 4));
        assertTrue(done, "before the change");
        _assertSame(109, BOTH, 4, answer);
        for (uint256 inBlock = 110; inBlock < 112; inBlock++) {
            _refuse(inBlock, _params(true, inBlock, 4), abi.encodeWithSelector(History.NoLonger.selector, 110, inBlock));
        }
        vm.expectRevert(abi.encodeWithSelector(History.NoLonger.selector, 110, 111));
        _checker.extend(_page);
        // In their encoding the call goes on, and another snapshot is right.
        (done, answer) = _check(address(_checker), MESSAGE, BOTH, 111, _encodedAsTheirs(MESSAGE, 111, BOTH, 4));
        assertTrue(done, "their encoding");
        _assertSame(111, BOTH, 4, answer);
        _page = _take(110, BOTH);
        (done, answer) = _check(address(_checker), MESSAGE, BOTH, 111, _params(true, 111, 4));
        assertTrue(done, "another snapshot");
        _assertSame(111, BOTH, 4, answer);
    }

    /// @notice One operator gained what another one lost, in one update of the whole quorum. The sum has no new entry.
    function test_trap_stakesThatMovedBetweenOperators() public {
        (bytes32[] memory ids, uint96[] memory stakes) = (new bytes32[](2), new uint96[](2));
        (ids[0], ids[1]) = (_ids[0], _ids[1]);
        (stakes[0], stakes[1]) = (1_000 + 500, 1_100 - 500);
        _coordinator.updateQuorum(0, ids, stakes);
        uint32[] memory index = _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(110, hex"00");
        uint32[] memory before = _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(105, hex"00");
        assertEq(index[0], before[0], "no entry");
        vm.roll(112);
        bytes memory expected = abi.encodeWithSelector(OperatorSnapshots.UpdatedSince.selector, 0, 110);
        _refuse(111, _params(true, 111, 1), expected);
        // Before the update it was right, but the registry does not say when the update before the last one was.
        _refuse(109, _params(true, 109, 1), expected);
        vm.expectRevert(expected);
        _checker.extend(_page);
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 105, _params(true, 105, 1));
        assertTrue(done, "in the snapshot's block");
        _assertSame(105, BOTH, 1, answer);
        _page = _take(110, BOTH);
        (done, answer) = _check(address(_checker), MESSAGE, BOTH, 111, _params(true, 111, 1));
        assertTrue(done, "another snapshot");
        _assertSame(111, BOTH, 1, answer);
    }

    /// @notice What `extend` proved stays proved, whatever changes afterwards.
    function test_whatIsProvedStays() public {
        assertEq(_checker.extend(_page), 109, "the last block");
        _coordinator.update(_ids[2], 0, 7);
        _coordinator.deregister(_keys[3], BOTH);
        vm.roll(112);
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 109, _params(false, 109, 12));
        assertTrue(done, "proved");
        _assertSame(109, BOTH, 12, answer);
        _refuse(110, _params(false, 110, 4), abi.encodeWithSelector(EigenSignatureChecker.ProvedUntil.selector, 109));
    }

    function test_trap_anOperatorWhoLeftInBetween() public {
        _coordinator.deregister(_keys[3], BOTH);
        vm.roll(112);
        // It is absent in the snapshot, and no operator any more in the block.
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 109, 8);
        _refuse(111, params, abi.encodeWithSelector(History.NoLonger.selector, 110, 111));
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 109, params);
        assertTrue(done, "before it left");
        _assertSame(109, BOTH, 8, answer);
    }

    /// @notice An operator with no stake leaves no entry in the stakes, but one in the keys.
    function test_trap_anOperatorWithoutStakeJoins() public {
        Bn254.G1 memory key = Bn254.mul(Bn254.generator(), 50);
        _coordinator.register(key, hex"00", _stakes(1, 0));
        uint32[] memory index = _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(110, hex"00");
        uint32[] memory before = _coordinator.stakeRegistry().getTotalStakeIndicesAtBlockNumber(105, hex"00");
        assertEq(index[0], before[0], "no entry of the stake");
        vm.roll(112);
        bytes32[] memory none = new bytes32[](0);
        (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma) =
            _signed(MESSAGE, 111, BOTH, 0);
        _refuse(
            111,
            _lens.paramsOf(_checker, MESSAGE, _one(_page), true, none, apkG2, sigma),
            abi.encodeWithSelector(History.NoLonger.selector, 110, 111)
        );
    }

    /// @notice The checker would refuse what the lens returned, without saying why.
    function test_lens_refusesAnIdTwice() public {
        (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma) =
            _signed(MESSAGE, 105, BOTH, 4);
        bytes32[] memory ids = new bytes32[](2);
        (ids[0], ids[1]) = (_ids[2], _ids[2]);
        vm.expectRevert(abi.encodeWithSelector(EigenSignatureLens.NamedTwice.selector, 2, 1));
        _lens.paramsOf(_checker, MESSAGE, _one(_page), false, ids, apkG2, sigma);
    }

    /// @notice Their nonces would run into the number of the absent operators.
    function test_lens_refusesPagesWithoutRoom() public {
        (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma) =
            _signed(MESSAGE, 105, BOTH, 0);
        uint256[][3] memory wrong = [new uint256[](0), new uint256[](7), _one(_page | 1 << 32)];
        for (uint256 i = 0; i < 3; i++) {
            vm.expectRevert(abi.encodeWithSelector(EigenSignatureLens.NotThesePages.selector, wrong[i]));
            _lens.paramsOf(_checker, MESSAGE, wrong[i], false, new bytes32[](0), apkG2, sigma);
        }
    }

    function test_trap_staleSnapshots() public {
        // A snapshot of a later block.
        _page = _take(109, BOTH);
        _refuse(108, _params(true, 108, 4), abi.encodeWithSelector(OperatorSnapshots.SnapshotTooNew.selector, 109, 108));
        _refuse(
            108, _params(false, 108, 4), abi.encodeWithSelector(OperatorSnapshots.SnapshotTooNew.selector, 109, 108)
        );
        // A block that is not over.
        _refuse(110, _params(true, 109, 4), abi.encodeWithSelector(OperatorSnapshots.BlockToCome.selector, 110));
    }

    function test_trap_otherQuorums() public {
        bytes memory expected = abi.encodeWithSelector(EigenSignatureChecker.OtherQuorums.selector);
        bytes[6] memory others = [bytes(hex"00"), hex"01", hex"0100", hex"0002", hex"0000", hex"000102"];
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 105, 4);
        for (uint256 i = 0; i < others.length; i++) {
            (bool done, bytes memory why) = _check(address(_checker), MESSAGE, others[i], 105, params);
            assertTrue(!done, "not refused");
            assertEq(why, expected, "why");
        }
        (bool some,) = _check(address(_checker), MESSAGE, "", 105, params);
        assertTrue(!some, "no quorum");
        (some,) = _check(address(_checker), MESSAGE, hex"000102030405060708", 105, params);
        assertTrue(!some, "nine quorums");
    }

    /// @notice A list that leaves operators out: who is left out cannot be absent, and the others can.
    function test_trap_aPartialSnapshot() public {
        (OperatorSnapshots.Quorum[] memory quorums, bytes memory operators) =
            _lens.takeArguments(_checker, 105, BOTH, _keys);
        bytes32 last = 0;
        uint256 left = 0;
        for (uint256 i = 0; i < 6; i++) {
            if (_ids[i] > last) (last, left) = (_ids[i], i);
        }
        assembly {
            mstore(operators, sub(mload(operators), 76))
        }
        _page = _checker.take(105, quorums, operators);
        uint256 other = left == 0 ? 1 : 0;
        (bool done, bytes memory answer) =
            _check(address(_checker), MESSAGE, BOTH, 105, _params(false, 105, 1 << other));
        assertTrue(done, "another one is absent");
        _assertSame(105, BOTH, 1 << other, answer);
        vm.expectRevert(abi.encodeWithSelector(EigenSignatureLens.NotListed.selector, last));
        this.encodedBy(_page, false, 105, BOTH, 1 << left);
        // Its key is part of the quorum's key, whoever lists it.
        bytes32[] memory none = new bytes32[](0);
        (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma) =
            _signed(MESSAGE, 105, BOTH, 1 << left);
        _refuse(
            105,
            _lens.paramsOf(_checker, MESSAGE, _one(_page), false, none, apkG2, sigma),
            abi.encodeWithSelector(EigenSignatureChecker.FalseSignature.selector)
        );
    }

    /// @notice The operators of a snapshot on two pages, and pages of two snapshots.
    function test_severalPages() public {
        (OperatorSnapshots.Quorum[] memory quorums, bytes memory operators) =
            _lens.takeArguments(_checker, 105, BOTH, _keys);
        (bytes memory low, bytes memory high) = (new bytes(2 * 76), new bytes(4 * 76));
        for (uint256 i = 0; i < 6 * 76; i++) {
            if (i < 152) low[i] = operators[i];
            else high[i - 152] = operators[i];
        }
        uint256[] memory pages = new uint256[](2);
        (pages[0], pages[1]) = (_checker.take(105, quorums, low), _checker.take(105, quorums, high));
        _checker.extend(pages[1]);
        for (uint256 set = 1; set < 63; set += 9) {
            (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 108, _ofPages(pages, set));
            assertTrue(done, "two pages");
            _assertSame(108, BOTH, set, answer);
        }
        // The other order of the pages: ids fall.
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _ofPages(pages, 7);
        uint256 first = params.quorumApks[0].X;
        params.quorumApks[0].X = first - (first & type(uint64).max) | (pages[0] << 32) | pages[1];
        (params.quorumApks[0].Y, params.quorumApks[1].X) = (params.quorumApks[1].X, params.quorumApks[0].Y);
        (bool some,) = _check(address(_checker), MESSAGE, BOTH, 108, params);
        assertTrue(!some, "falling ids");
        // A page of another snapshot.
        uint256 before = pages[1];
        pages[1] = _checker.take(106, quorums, high);
        params = _ofPages(pages, 7);
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.AnotherSnapshot.selector, pages[1]));
        // The same page twice.
        pages[1] = before;
        params = _ofPages(pages, 7);
        params.quorumApks[0].X = params.quorumApks[0].X - (uint256(before) << 32) | (pages[0] << 32);
        params.quorumApks[1].X = params.quorumApks[0].Y;
        (some,) = _check(address(_checker), MESSAGE, BOTH, 108, params);
        assertTrue(!some, "a page twice");
    }

    function _ofPages(uint256[] memory pages, uint256 set)
        private
        view
        returns (IBLSSignatureChecker.NonSignerStakesAndSignature memory)
    {
        uint256[] memory absent = _absent(108, BOTH, set);
        bytes32[] memory ids = new bytes32[](absent.length);
        for (uint256 j = 0; j < absent.length; j++) {
            ids[j] = _ids[absent[j]];
        }
        (IBLSSignatureChecker.G2Point memory apkG2, IBLSSignatureChecker.G1Point memory sigma) =
            _signed(MESSAGE, 108, BOTH, set);
        return _lens.paramsOf(_checker, MESSAGE, pages, false, ids, apkG2, sigma);
    }

    /// @notice A bitmap of two words, and keys at the end of the page.
    function test_moreOperatorsThanAWordHas() public {
        for (uint256 i = 6; i < 300; i++) {
            _join(hex"00", uint96(1_000 + i));
        }
        vm.roll(120);
        _page = _take(115, hex"00");
        uint256[3] memory sets = [uint256(0), 0xffff << 64 | 1, uint256(keccak256("a set"))];
        for (uint256 i = 0; i < 3; i++) {
            (bool done, bytes memory answer) =
                _check(address(_checker), MESSAGE, hex"00", 118, _encoded(MESSAGE, _page, true, 118, hex"00", sets[i]));
            assertTrue(done, "two words");
            _assertSame(118, hex"00", sets[i], answer);
        }
    }

    /// @notice Whoever takes a snapshot is not believed.
    function test_trap_falseSnapshots() public {
        for (uint256 kind = 0; kind < 14; kind++) {
            (OperatorSnapshots.Quorum[] memory quorums, bytes memory operators) =
                _lens.takeArguments(_checker, 105, BOTH, _keys);
            uint32 inBlock = 105;
            if (kind == 1) inBlock = 110;
            if (kind == 2) inBlock = 99;
            if (kind == 3) (quorums[0], quorums[1]) = (quorums[1], quorums[0]);
            if (kind == 4) quorums[1] = quorums[0];
            if (kind == 5) quorums[0].key = quorums[1].key;
            if (kind == 6) quorums[0].keyIndex++;
            if (kind == 7) quorums[0].totalIndex++;
            for (uint256 i = 0; i < 76; i++) {
                if (kind == 8) (operators[i], operators[76 + i]) = (operators[76 + i], operators[i]);
                if (kind == 9) operators[76 + i] = operators[i];
            }
            if (kind == 10) operators[31] ^= 0x01;
            if (kind == 11) operators = bytes.concat(operators, hex"00");
            if (kind == 12) operators[67] = 0x01;
            if (kind == 13) operators[71] = 0x01;
            (bool done,) = address(_checker).call(abi.encodeCall(_checker.take, (inBlock, quorums, operators)));
            assertTrue(done == (kind == 0), vm.toString(kind));
        }
        OperatorSnapshots.Quorum[] memory none = new OperatorSnapshots.Quorum[](0);
        vm.expectRevert(abi.encodeWithSelector(OperatorSnapshots.QuorumsOfSnapshot.selector, 0));
        _checker.take(105, none, "");
        // Nonce 1 is of the contract that the constructor made to look for CLZ.
        for (uint256 nonce = 0; nonce < 2; nonce++) {
            vm.expectRevert(abi.encodeWithSelector(CodePages.NoSuchPage.selector, nonce));
            _checker.extend(nonce);
        }
    }

    /// @notice A key that is not in the registry, and one whose owner is in another quorum.
    function test_trap_aStrangersKey() public {
        (OperatorSnapshots.Quorum[] memory quorums,) = _lens.takeArguments(_checker, 105, BOTH, _keys);
        Bn254.G1 memory key = Bn254.mul(Bn254.generator(), 50);
        bytes memory operators = abi.encodePacked(key.x, key.y, uint32(0), uint64(0));
        (bool done,) = address(_checker).call(abi.encodeCall(_checker.take, (105, quorums, operators)));
        assertTrue(!done, "a stranger");
        _coordinator.register(key, hex"02", _stakes(1, 9));
        vm.roll(112);
        vm.expectRevert(abi.encodeWithSelector(OperatorSnapshots.NotAMember.selector, keccak256(abi.encode(key))));
        _checker.take(110, quorums, operators);
    }

    /// @notice The words of the encoding, each changed.
    function test_trap_falseWords() public {
        for (uint256 kind = 0; kind < 12; kind++) {
            IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
            if (kind == 1) params.quorumApks = new IBLSSignatureChecker.G1Point[](0);
            if (kind == 2) params.quorumApks[0].X += 1 << 248;
            if (kind == 3) params.quorumApks[0].X -= 1 << 248;
            if (kind == 4) params.quorumApks[0].X += 1 << 192;
            if (kind == 5) params.quorumApks[0].X -= 1 << 192;
            if (kind == 6) params.quorumApks[0].Y |= 1;
            if (kind == 7) params.quorumApks[0].X += 1 << 240;
            if (kind == 8) params.quorumApks[0].X -= 1 << 240;
            if (kind == 9) params.quorumApks[1].X ^= 1;
            if (kind == 10) params.quorumApks[0].X = params.quorumApks[0].X - _page + 1;
            if (kind == 11) params.quorumApks[0].X += 100;
            (bool done,) = _check(address(_checker), MESSAGE, BOTH, 108, params);
            assertTrue(done == (kind == 0), vm.toString(kind));
        }
    }

    /// @notice A bit behind the page's last operator, where no record is, and a number of absent ones that counts it.
    function test_trap_aBitBehindTheLastOperator() public {
        for (uint256 place = 6; place < 256; place += 83) {
            IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
            params.quorumApks[0].Y |= 1 << (255 - place);
            params.quorumApks[0].X += 1 << 192;
            _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.NotTheseWords.selector));
        }
    }

    /// @notice Without words the contract searches for the point, and the answer is the same.
    function test_withoutWordsOfTheHash() public {
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        IBLSSignatureChecker.G1Point[] memory one = new IBLSSignatureChecker.G1Point[](1);
        one[0] = params.quorumApks[0];
        one[0].X &= ~(uint256(0xff) << 240);
        params.quorumApks = one;
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 108, params);
        assertTrue(done, "searched");
        _assertSame(108, BOTH, 6, answer);
    }

    /// @notice A consumer that reads the absent ones' keys gets all of them, and no others.
    function test_trap_keysThatAreNotNamed() public {
        EigenSignatureChecker plain = _checker;
        _checker = new EigenSignatureChecker(address(_coordinator), true);
        _page = _take(105, BOTH);
        IBLSSignatureChecker.NonSignerStakesAndSignature memory params = _params(true, 108, 6);
        assertEq(params.nonSignerPubkeys.length, 2, "named");
        (bool done, bytes memory answer) = _check(address(_checker), MESSAGE, BOTH, 108, params);
        assertTrue(done, "named");
        _assertSame(108, BOTH, 6, answer);
        _swap(params);
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.NotNamed.selector));
        _swap(params);
        params.nonSignerPubkeys[1].Y ^= 1;
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.NotNamed.selector));
        IBLSSignatureChecker.G1Point[] memory named = params.nonSignerPubkeys;
        params.nonSignerPubkeys = new IBLSSignatureChecker.G1Point[](0);
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.NotNamed.selector));
        params.nonSignerPubkeys = new IBLSSignatureChecker.G1Point[](3);
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.NotNamed.selector));
        // Where they need not be named, false ones are refused all the same.
        _checker = plain;
        _page = _take(105, BOTH);
        params = _params(true, 108, 6);
        named[1].Y ^= 1;
        params.nonSignerPubkeys = named;
        (done,) = _check(address(_checker), MESSAGE, BOTH, 108, params);
        assertTrue(done, "named, though none is needed");
        named[0].X ^= 1;
        _refuse(108, params, abi.encodeWithSelector(EigenSignatureChecker.NotNamed.selector));
    }
}
