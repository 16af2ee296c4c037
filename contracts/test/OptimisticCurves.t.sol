// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Account} from "../src/Account.sol";
import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";
import {Moment} from "../src/Moment.sol";
import {
    OptimisticSettlementBls12381G2,
    OptimisticSettlementBls12381G2Nu,
    OptimisticSettlementBn254G1
} from "../src/OptimisticSettlements.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBls12381G2NuTest} from "./Bls12381Nonuniform.t.sol";
import {Members} from "./Members.sol";
import {SettlementBls12381G2Test, SettlementBn254G1Test, SettlementsTest} from "./Settlements.t.sol";
import {vm} from "./Test.sol";

/// @notice Postings over real curves, and their gas: whole transactions with cold storage. The tests of an instant
/// settlement run on the same contracts.
abstract contract OptimisticCurvesTest is SettlementsTest {
    uint96 private constant PENALTY = 0.1 ether;
    uint96 private constant BOND = 0.01 ether;
    uint256 private constant WINDOW = 1 days;
    uint256 private constant ANSWER = 6 hours;
    address private immutable _poster = address(uint160(uint256(keccak256("poster"))));
    address private immutable _challenger = address(uint160(uint256(keccak256("challenger"))));
    address private immutable _prover = address(uint160(uint256(keccak256("prover"))));

    struct Kept {
        IOptimisticSettlement.Posting posting;
        IOptimisticSettlement.Demand demand;
        bytes32[] results;
        bytes proof;
    }

    IOptimisticSettlement.Place[8] private _places;
    IOptimisticSettlement.Demand private _noDemand;

    function _conditions() internal pure returns (IOptimisticSettlement.Conditions memory) {
        return IOptimisticSettlement.Conditions(1 days, 7_200, 6 hours, 1_800, 64, PENALTY, BOND);
    }

    function _optimistic() private view returns (IOptimisticSettlement) {
        return IOptimisticSettlement(address(_settlement));
    }

    function _fund() private {
        vm.warp(1_764_000_000);
        vm.roll(23_900_000);
        vm.deal(_poster, 100 ether);
        vm.deal(_challenger, 100 ether);
        vm.prank(_poster);
        _optimistic().deposit{value: 64 * uint256(PENALTY)}();
        for (uint256 i = 0; i < _places.length; i++) {
            _places[i].slot = i;
        }
    }

    function _pass(uint256 seconds_) private {
        vm.warp(block.timestamp + seconds_ + 12);
        vm.roll(block.number + seconds_ / 12 + 1);
    }

    function _now() private view returns (Moment) {
        return Moment.wrap(uint128(block.timestamp << 64 | block.number));
    }

    function _newResults(uint256 count) private view returns (bytes32[] memory results) {
        results = new bytes32[](count);
        for (uint256 i = 0; i < count; i++) {
            results[i] = keccak256(abi.encode(_head, i));
        }
    }

    function _cut(bytes memory proof) private pure returns (bytes memory signature) {
        signature = new bytes(_signatureBytes());
        for (uint256 i = 0; i < signature.length; i++) {
            signature[i] = proof[i];
        }
    }

    /// @notice Posts results that the signers signed, unless there is another bitmap to post.
    function _post(uint256 count, bytes memory signers, bytes memory bitmap, uint256 slot)
        private
        returns (Kept memory kept)
    {
        kept.results = _newResults(count);
        kept.proof = _proof(_digests(Members.NONE, kept.results), signers);
        bytes memory evidence = abi.encodePacked(bitmap.length == 0 ? signers : bitmap, _cut(kept.proof));
        kept.posting = IOptimisticSettlement.Posting(
            _head,
            DEADLINE,
            keccak256(abi.encodePacked(kept.results)),
            count,
            keccak256(evidence),
            _poster,
            _now(),
            slot
        );
        vm.prank(_poster);
        _optimistic().post(_head, Members.commitment(_newest), DEADLINE, kept.results, evidence, _places[slot]);
        if (bytes(_record).length != 0) vm.snapshotGasLastCall(_group(), _record);
        IOptimisticSettlement.Posting memory p = kept.posting;
        bytes32 content = keccak256(abi.encode(p.head, p.deadline, p.results, p.count, p.evidence, p.poster));
        _places[slot] = IOptimisticSettlement.Place(slot, content, p.when);
        _head = _head.advance(count);
        _is(kept, IOptimisticSettlement.Status.Posted);
    }

    function _is(Kept memory kept, IOptimisticSettlement.Status status) private view {
        assertTrue(_optimistic().statusOf(kept.posting, kept.demand) == status, "status");
    }

    function _demand(Kept memory kept) private {
        vm.prank(_challenger);
        _optimistic().demand{value: BOND}(kept.posting);
        if (bytes(_record).length != 0) vm.snapshotGasLastCall(_group(), _record);
        kept.demand = IOptimisticSettlement.Demand(_challenger, _now());
        _is(kept, IOptimisticSettlement.Status.Demanded);
    }

    function _prove(Kept memory kept, bytes32[] memory results, bytes memory quorum) private {
        vm.prank(_prover);
        _optimistic().prove(kept.posting, kept.demand, DEADLINE, results, quorum, _head, Members.commitment(_newest));
        if (bytes(_record).length != 0) vm.snapshotGasLastCall(_group(), _record);
    }

    function _drop(Kept memory kept) private {
        vm.prank(_challenger);
        _optimistic().drop(kept.posting, kept.demand);
        if (bytes(_record).length != 0) vm.snapshotGasLastCall(_group(), _record);
        _is(kept, IOptimisticSettlement.Status.Dropped);
    }

    function test_gas_ofPostings() public {
        Members.Base memory full = _settle(Members.empty(), 2, _most(0, true), 1);
        bytes memory signers = _most(1, false);
        _settle(full, Members.NEWEST, signers, 1);
        _fund();
        for (uint256 i = 0; i < 5; i++) {
            _record = i == 4 ? "posted into a new slot" : "";
            _post(1, signers, _bits(2), i);
        }
        _record = "";
        _pass(3 * WINDOW);
        _record = "posted, 10 operators";
        _post(1, signers, _bits(2), 0);
        _record = "posted, 100 operators";
        _post(1, signers, _bits(13), 1);
        _record = "posted, 1,000 operators";
        _post(1, signers, _bits(125), 2);
        _record = "posted, ten results";
        _post(10, signers, _bits(2), 3);
        _record = "";
        _pass(3 * WINDOW);
        Kept[5] memory all;
        for (uint256 i = 0; i < 5; i++) {
            all[i] = _post(1, signers, "", i);
        }
        _record = "proven at once";
        _prove(all[0], all[0].results, _pack(_newest, Members.NONE, signers, all[0].proof));
        _record = "demanded";
        _demand(all[1]);
        _record = "proven when demanded";
        _prove(all[1], all[1].results, _pack(_newest, Members.NONE, signers, all[1].proof));
        _record = "displaced";
        bytes32[] memory other = new bytes32[](1);
        bytes32 digest = _settlement.resultsDigest(
            all[2].posting.head.epoch(), all[2].posting.head.nonce(), DEADLINE, Members.NONE, other
        );
        bytes memory quorum = _pack(_newest, Members.NONE, signers, _proof(Members.only(digest), signers));
        _prove(all[2], other, quorum);
        _record = "";
        _demand(all[3]);
        _pass(ANSWER);
        _record = "dropped";
        _drop(all[3]);
        _record = "";
        _record = "credit withdrawn";
        vm.prank(_challenger);
        _optimistic().withdraw();
        vm.snapshotGasLastCall(_group(), _record);
        _pass(WINDOW);
        _record = "finished";
        _optimistic().finish(all[4].posting, all[4].results);
        vm.snapshotGasLastCall(_group(), _record);
        _is(all[4], IOptimisticSettlement.Status.Settled);
        (Account account,) = _optimistic().accountOf(_poster);
        assertEq(account.amount(), 62 * uint256(PENALTY), "two penalties");
    }

    /// @dev A bitmap without zero bytes.
    function _bits(uint256 length) private pure returns (bytes memory bits) {
        bits = new bytes(length);
        for (uint256 i = 0; i < length; i++) {
            bits[i] = bytes1(uint8(uint256(keccak256(abi.encode(i)))) | 1);
        }
    }

    /// @notice The identity, a point off the curve and a signature of other signers are posted, proven by nobody, and
    /// dropped.
    function test_trap_falseSignaturesInPostings() public {
        _settle(Members.empty(), Members.NEWEST, _most(0, false), 1);
        _fund();
        bytes memory signers = _most(0, false);
        for (uint256 kind = 0; kind < 3; kind++) {
            bytes32[] memory results = _newResults(1);
            bytes memory proof = _proof(_digests(Members.NONE, results), kind == 2 ? _most(1, false) : signers);
            for (uint256 i = 0; kind < 2 && i < _signatureBytes(); i++) {
                proof[i] = kind == 0 ? bytes1(0) : bytes1(0x01);
            }
            vm.prank(_poster);
            bytes memory evidence = abi.encodePacked(signers, _cut(proof));
            _optimistic().post(_head, Members.commitment(_newest), DEADLINE, results, evidence, _places[kind]);
            Kept memory kept;
            kept.posting = IOptimisticSettlement.Posting(
                _head, DEADLINE, keccak256(abi.encodePacked(results)), 1, keccak256(evidence), _poster, _now(), kind
            );
            (kept.results, _head) = (results, _head.advance(1));
            _demand(kept);
            bytes memory quorum = _pack(_newest, Members.NONE, signers, proof);
            bytes32 newest = Members.commitment(_newest);
            vm.prank(_prover);
            vm.expectRevert();
            _optimistic().prove{gas: 5_000_000}(kept.posting, kept.demand, DEADLINE, results, quorum, _head, newest);
            _pass(ANSWER);
            _drop(kept);
            if (kind == 2) continue;
            vm.prank(_poster);
            _optimistic().deposit{value: PENALTY}();
        }
        (, uint256 credit) = _optimistic().accountOf(_challenger);
        assertEq(credit, 3 * (uint256(BOND) + PENALTY / 2), "the challenger");
    }

    /// @notice From the empty quorum, from a base in the ring and from the newest base: the same signature proves it.
    function test_provenFromAnyBase() public {
        Members.Base memory full = _settle(Members.empty(), 2, _most(0, true), 1);
        _settle(full, Members.NEWEST, _most(2, false), 1);
        _fund();
        bytes memory signers = _most(1, false);
        Members.Base[3] memory bases = [Members.empty(), full, _newest];
        for (uint256 i = 0; i < 3; i++) {
            Kept memory kept = _post(2, signers, "", i);
            if (i != 1) _demand(kept);
            _prove(kept, kept.results, _pack(bases[i], Members.NONE, signers, kept.proof));
            _is(kept, IOptimisticSettlement.Status.Settled);
            assertTrue(_optimistic().isSettledAs(kept.posting, kept.results), "settled");
        }
        // A proof without all of its signature.
        Kept memory cut = _post(1, signers, "", 3);
        bytes memory quorum = _pack(_newest, Members.NONE, signers, hex"01");
        bytes32 newest = Members.commitment(_newest);
        vm.expectRevert(abi.encodeWithSelector(IOptimisticSettlement.NoSignature.selector, 1));
        _optimistic().prove(cut.posting, cut.demand, DEADLINE, cut.results, quorum, _head, newest);
        (Account account, uint256 credit) = _optimistic().accountOf(_prover);
        assertTrue(account.amount() == 0 && credit == 2 * uint256(BOND), "the prover");
    }
}

contract OptimisticSettlementBn254G1Test is OptimisticCurvesTest, SettlementBn254G1Test {
    function _new() internal override(SettlementBn254G1Test, SettlementsTest) returns (Settlement) {
        return new OptimisticSettlementBn254G1(address(this), 1, 8, _conditions());
    }

    function _group() internal pure override(SettlementBn254G1Test, SettlementsTest) returns (string memory) {
        return "OptimisticSettlementBn254G1";
    }
}

contract OptimisticSettlementBls12381G2Test is OptimisticCurvesTest, SettlementBls12381G2Test {
    function _new() internal override(SettlementBls12381G2Test, SettlementsTest) returns (Settlement) {
        return new OptimisticSettlementBls12381G2(address(this), 1, 4, _conditions());
    }

    function _group() internal pure override(SettlementBls12381G2Test, SettlementsTest) returns (string memory) {
        return "OptimisticSettlementBls12381G2";
    }

    function _signatureBytes() internal pure override(SettlementBls12381G2Test, SettlementsTest) returns (uint256) {
        return 96;
    }
}

contract OptimisticSettlementBls12381G2NuTest is OptimisticCurvesTest, SettlementBls12381G2NuTest {
    function _new() internal override(SettlementBls12381G2NuTest, SettlementsTest) returns (Settlement) {
        return new OptimisticSettlementBls12381G2Nu(address(this), 1, 4, _conditions());
    }

    function _group() internal pure override(SettlementBls12381G2NuTest, SettlementsTest) returns (string memory) {
        return "OptimisticSettlementBls12381G2Nu";
    }

    function _signatureBytes() internal pure override(SettlementBls12381G2Test, SettlementsTest) returns (uint256) {
        return 96;
    }
}
