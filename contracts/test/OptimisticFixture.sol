// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {QuorumFixture} from "./QuorumFixture.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {ToyOptimistic} from "./mocks/ToyOptimistic.sol";
import {Head} from "../src/Head.sol";
import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";
import {Account} from "../src/Account.sol";
import {Moment} from "../src/Moment.sol";

/// @notice An optimistic settlement over the toy curve, with a poster, a challenger and a prover. The fixture computes in
/// plain Solidity what lies in the slots.
abstract contract OptimisticFixture is QuorumFixture {
    uint32 internal constant WINDOW = 1 hours;
    uint32 internal constant WINDOW_BLOCKS = 100;
    uint32 internal constant ANSWER = 20 minutes;
    uint32 internal constant ANSWER_BLOCKS = 30;
    uint16 internal constant SLOTS = 4;
    uint96 internal constant PENALTY = 1 ether + 1;
    uint96 internal constant BOND = 0.1 ether;
    uint256 internal constant COVER = uint256(SLOTS) * PENALTY;

    address internal constant POSTER = address(0x9057e4);
    address internal constant CHALLENGER = address(0xc4a11e);
    address internal constant PROVER = address(0x9407e4);

    /// A posting, and what its prover has to know.
    struct Kept {
        IOptimisticSettlement.Posting posting;
        IOptimisticSettlement.Demand demand;
        bytes32[] results;
        bytes signers;
        bytes signature;
    }

    ToyOptimistic internal _optimistic;
    IOptimisticSettlement.Demand internal _noDemand;
    /// What the slots hold, as the next posting has to pass it.
    IOptimisticSettlement.Place[SLOTS] internal _places;

    function _conditions() internal pure returns (IOptimisticSettlement.Conditions memory) {
        return IOptimisticSettlement.Conditions(WINDOW, WINDOW_BLOCKS, ANSWER, ANSWER_BLOCKS, SLOTS, PENALTY, BOND);
    }

    function _make() internal virtual override returns (ToyCurve) {
        _optimistic = new ToyOptimistic(PINNED, CHANGES_A_STORE, _conditions());
        return ToyCurve(address(_optimistic));
    }

    function setUp() public virtual override {
        vm.warp(1_700_000_000);
        vm.roll(20_000_000);
        super.setUp();
        for (uint256 i = 0; i < SLOTS; i++) {
            _places[i].slot = i;
        }
        vm.deal(POSTER, 100 ether);
        vm.deal(CHALLENGER, 100 ether);
        vm.deal(PROVER, 1 ether);
        _acceptAs(POSTER, COVER, abi.encodeCall(IOptimisticSettlement.deposit, ()));
    }

    function _pass(uint256 time, uint256 blocks) internal {
        vm.warp(block.timestamp + time);
        vm.roll(block.number + blocks);
    }

    function _now() internal view returns (Moment) {
        return Moment.wrap(uint128(block.timestamp << 64 | block.number));
    }

    // Calls by somebody, which succeed or fail with a reason.

    function _acceptAs(address who, uint256 value, bytes memory data) internal {
        vm.prank(who);
        (bool done, bytes memory answer) = address(_settlement).call{value: value}(data);
        _gas = vm.lastCallGas().gasTotalUsed;
        assertEq(answer, "", "refused");
        assertTrue(done, "refused");
    }

    function _refuseAs(address who, uint256 value, bytes memory data, bytes memory why) internal {
        vm.prank(who);
        (bool done, bytes memory answer) = address(_settlement).call{value: value}(data);
        assertTrue(!done, "not refused");
        assertEq(answer, why, "why");
    }

    function _refuseAs(address who, bytes memory data, bytes4 why) internal {
        _refuseAs(who, 0, data, abi.encodeWithSelector(why));
    }

    // What lies in the slots.

    function _content(IOptimisticSettlement.Posting memory p) internal pure returns (bytes32) {
        return keccak256(abi.encode(p.head, p.deadline, p.results, p.count, p.evidence, p.poster));
    }

    function _id(IOptimisticSettlement.Posting memory p) internal pure returns (bytes32) {
        return keccak256(abi.encode(_content(p), p.when));
    }

    function _assertStatus(Kept memory kept, IOptimisticSettlement.Status status, string memory what) internal view {
        IOptimisticSettlement.Status found = _optimistic.statusOf(kept.posting, kept.demand);
        assertEq(uint256(found), uint256(status), what);
        bool counts = status == IOptimisticSettlement.Status.Final || status == IOptimisticSettlement.Status.Settled;
        assertTrue(_optimistic.isSettledAs(kept.posting, kept.results) == counts, what);
    }

    function _assertMoney(address who, uint256 amount, uint256 demands, uint256 credit, string memory what)
        internal
        view
    {
        (Account account, uint256 owed) = _optimistic.accountOf(who);
        assertEq(account.amount(), amount, what);
        assertEq(account.demands(), demands, what);
        assertEq(owed, credit, what);
    }

    // Postings.

    function _callPost(Kept memory kept, uint256 slot) internal view returns (bytes memory) {
        bytes memory evidence = abi.encodePacked(kept.signers, kept.signature);
        return abi.encodeCall(
            IOptimisticSettlement.post,
            (_head, Members.commitment(_newest), _deadline, kept.results, evidence, _places[slot])
        );
    }

    /// @notice Results that a quorum signed, which nobody posted yet.
    function _signed(uint256 count, bytes memory signers) internal view returns (Kept memory kept) {
        kept.results = _results(count);
        kept.signers = signers;
        kept.signature = _signature(kept.results, NONE, signers);
    }

    /// @notice Results that nobody signed.
    function _lie(uint256 count) internal view returns (Kept memory kept) {
        kept = _signed(count, _range(0, N));
        for (uint256 i = 0; i < count; i++) {
            kept.results[i] = keccak256(abi.encode(kept.results[i], "a lie"));
        }
    }

    function _post(Kept memory kept, uint256 slot) internal returns (Kept memory) {
        return _postBy(POSTER, kept, slot);
    }

    function _postBy(address poster, Kept memory kept, uint256 slot) internal returns (Kept memory) {
        _acceptAs(poster, 0, _callPost(kept, slot));
        kept.posting = IOptimisticSettlement.Posting(
            _head,
            _deadline,
            keccak256(abi.encodePacked(kept.results)),
            kept.results.length,
            keccak256(abi.encodePacked(kept.signers, kept.signature)),
            poster,
            _now(),
            slot
        );
        _head = _head.advance(kept.results.length);
        _assertState("posted");
        _places[slot] = IOptimisticSettlement.Place(slot, _content(kept.posting), _now());
        _assertStatus(kept, IOptimisticSettlement.Status.Posted, "posted");
        return kept;
    }

    function _callDemand(Kept memory kept) internal pure returns (bytes memory) {
        return abi.encodeCall(IOptimisticSettlement.demand, (kept.posting));
    }

    function _demand(Kept memory kept) internal {
        _demandBy(CHALLENGER, kept);
    }

    function _demandBy(address challenger, Kept memory kept) internal {
        _acceptAs(challenger, BOND, _callDemand(kept));
        kept.demand = IOptimisticSettlement.Demand(challenger, _now());
        _assertStatus(kept, IOptimisticSettlement.Status.Demanded, "demanded");
    }

    /// @notice The quorum that proves a posting, from a base.
    function _quorumOf(Members.Base memory base, bytes memory signers, bytes memory signature)
        internal
        view
        returns (bytes memory)
    {
        return _quorum(base, NONE, signers, signature);
    }

    function _callProve(Kept memory kept) internal view returns (bytes memory) {
        return _callProve(kept, _quorumOf(Members.empty(), kept.signers, kept.signature));
    }

    function _callProve(Kept memory kept, bytes memory quorum) internal view returns (bytes memory) {
        return abi.encodeCall(
            IOptimisticSettlement.prove,
            (kept.posting, kept.demand, kept.posting.deadline, kept.results, quorum, _head, Members.commitment(_newest))
        );
    }

    function _prove(Kept memory kept) internal {
        _acceptAs(PROVER, 0, _callProve(kept));
        _assertStatus(kept, IOptimisticSettlement.Status.Settled, "proven");
    }

    function _callDrop(Kept memory kept) internal pure returns (bytes memory) {
        return abi.encodeCall(IOptimisticSettlement.drop, (kept.posting, kept.demand));
    }

    function _drop(Kept memory kept) internal {
        _acceptAs(PROVER, 0, _callDrop(kept));
        _assertStatus(kept, IOptimisticSettlement.Status.Dropped, "dropped");
    }

    function _callFinish(Kept memory kept) internal pure returns (bytes memory) {
        return abi.encodeCall(IOptimisticSettlement.finish, (kept.posting, kept.results));
    }

    /// @notice Results that a quorum signed for the numbers of a posting.
    function _signedFor(Kept memory kept, bytes32[] memory results, uint256 store, bytes memory signers)
        internal
        returns (bytes memory signature)
    {
        Head head = _head;
        _head = kept.posting.head;
        signature = _signature(results, store, signers);
        _head = head;
    }

    function _callDisplace(Kept memory kept, bytes32[] memory results, bytes memory quorum)
        internal
        view
        returns (bytes memory)
    {
        return abi.encodeCall(
            IOptimisticSettlement.prove,
            (kept.posting, kept.demand, _deadline, results, quorum, _head, Members.commitment(_newest))
        );
    }

    function _callDisplace(Kept memory kept, bytes32[] memory results, uint256 store, bytes memory signers)
        internal
        returns (bytes memory)
    {
        bytes memory signature = _signedFor(kept, results, store, signers);
        return _callDisplace(kept, results, _quorum(Members.empty(), store, signers, signature));
    }

    /// @notice The posting that lies in the slot after `PROVER` displaced another one there.
    function _displacing(Kept memory kept, bytes32[] memory results, uint256 store, bytes memory signers)
        internal
        returns (Kept memory by)
    {
        by.posting = IOptimisticSettlement.Posting(
            kept.posting.head,
            _deadline,
            keccak256(abi.encodePacked(results)),
            results.length,
            keccak256(abi.encodePacked(signers, _signedFor(kept, results, store, signers))),
            PROVER,
            _now(),
            kept.posting.slot
        );
        by.results = results;
    }

    function _displace(Kept memory kept, bytes32[] memory results, uint256 store, bytes memory signers)
        internal
        returns (Kept memory by)
    {
        _acceptAs(PROVER, 0, _callDisplace(kept, results, store, signers));
        _assertStatus(kept, IOptimisticSettlement.Status.Unknown, "displaced");
        by = _displacing(kept, results, store, signers);
        _assertStatus(by, IOptimisticSettlement.Status.Settled, "displacing");
    }

    function _other(uint256 count) internal view returns (bytes32[] memory results) {
        results = new bytes32[](count);
        for (uint256 i = 0; i < count; i++) {
            results[i] = keccak256(abi.encode(_head, i, "other"));
        }
    }
}
