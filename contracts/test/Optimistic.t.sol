// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {OptimisticFixture} from "./OptimisticFixture.sol";
import {ToyOptimistic} from "./mocks/ToyOptimistic.sol";
import {ToyKeys} from "./mocks/ToyCurve.sol";
import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";
import {Moment} from "../src/Moment.sol";
import {Ring} from "../src/Ring.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Takes no money until it is told to, and tries to be paid twice.
contract Greedy {
    bool public takes;
    bytes public again;
    uint256 public tries;

    function set(bool takes_, bytes calldata again_) external {
        (takes, again) = (takes_, again_);
    }

    function send(address to, uint256 value, bytes calldata data) external returns (bool done, bytes memory answer) {
        return to.call{value: value}(data);
    }

    receive() external payable {
        require(takes, "not now");
        if (again.length == 0) return;
        tries++;
        bytes memory data = again;
        delete again;
        (bool done,) = msg.sender.call(data);
        if (done) tries += 100;
    }
}

/// @notice Each way in which a posting may end, over the toy curve. The traps are named for the attack.
contract OptimisticTest is OptimisticFixture {
    IOptimisticSettlement.Status private constant UNKNOWN = IOptimisticSettlement.Status.Unknown;
    IOptimisticSettlement.Status private constant POSTED = IOptimisticSettlement.Status.Posted;
    IOptimisticSettlement.Status private constant DEMANDED = IOptimisticSettlement.Status.Demanded;
    IOptimisticSettlement.Status private constant FINAL = IOptimisticSettlement.Status.Final;
    IOptimisticSettlement.Status private constant SETTLED = IOptimisticSettlement.Status.Settled;
    IOptimisticSettlement.Status private constant DROPPED = IOptimisticSettlement.Status.Dropped;

    function _why(bytes4 selector, uint256 argument) private pure returns (bytes memory) {
        return abi.encodeWithSelector(selector, argument);
    }

    function _true(uint256 count) private view returns (Kept memory) {
        return _signed(count, _range(0, N));
    }

    function _overWindow() private {
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
    }

    function _overAnswer() private {
        _pass(ANSWER + 1, ANSWER_BLOCKS + 1);
    }

    /// @dev After a penalty the deposit does not cover a penalty for each slot any more.
    function _topUp() private {
        _acceptAs(POSTER, PENALTY, abi.encodeCall(IOptimisticSettlement.deposit, ()));
    }

    /// @notice The log of a posting tells all of it, in packed bytes.
    function test_theLogTellsThePosting() public {
        for (uint256 count = 1; count < 4; count++) {
            Kept memory kept = _true(count);
            vm.recordLogs();
            kept = _post(kept, count - 1);
            Vm.Log[] memory logs = vm.getRecordedLogs();
            assertEq(logs.length, 1, "one log");
            assertEq(logs[0].topics.length, 1, "no indexed argument");
            assertEq(logs[0].topics[0], IOptimisticSettlement.Posted.selector, "its name");
            bytes memory told = abi.encodePacked(
                _head,
                Members.commitment(_newest),
                kept.posting.when,
                _deadline,
                POSTER,
                uint16(count - 1),
                uint32(count),
                kept.results,
                kept.signers,
                kept.signature
            );
            assertEq(logs[0].data, abi.encode(told), "what it tells");
        }
    }

    // What a posting becomes.

    function test_postedAndFinal() public {
        Kept memory kept = _post(_true(3), 0);
        _overWindow();
        _assertStatus(kept, FINAL, "final");
        _acceptAs(PROVER, 0, _callFinish(kept));
        _assertStatus(kept, SETTLED, "finished");
        _refuseAs(PROVER, 0, _callFinish(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _assertMoney(POSTER, COVER, 0, 0, "the poster");
    }

    function test_provenAtOnce() public {
        Kept memory kept = _post(_true(2), 1);
        _prove(kept);
        _assertMoney(POSTER, COVER, 0, 0, "the poster");
        _assertMoney(PROVER, 0, 0, 0, "the prover");
        _refuseAs(PROVER, 0, _callProve(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 1));
    }

    function test_demandedAndProven() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        _assertMoney(POSTER, COVER, 1, 0, "demanded");
        _prove(kept);
        _assertMoney(POSTER, COVER, 0, 0, "the poster");
        _assertMoney(PROVER, 0, 0, BOND, "the prover");
        _assertMoney(CHALLENGER, 0, 0, 0, "the challenger");
        uint256 before = PROVER.balance;
        _acceptAs(PROVER, 0, abi.encodeCall(IOptimisticSettlement.withdraw, ()));
        assertEq(PROVER.balance, before + BOND, "collected");
        _acceptAs(PROVER, 0, abi.encodeCall(IOptimisticSettlement.withdraw, ()));
        assertEq(PROVER.balance, before + BOND, "collected once");
    }

    function test_demandedAndDropped() public {
        Kept memory kept = _post(_lie(2), 0);
        _demand(kept);
        _refuseAs(POSTER, 0, _callDrop(kept), _why(IOptimisticSettlement.AnswerRuns.selector, 0));
        _overAnswer();
        _drop(kept);
        _assertMoney(POSTER, COVER - PENALTY, 0, 0, "the poster");
        _assertMoney(CHALLENGER, 0, 0, BOND + PENALTY / 2, "the challenger");
        _refuseAs(POSTER, 0, _callDrop(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _overWindow();
        _assertStatus(kept, DROPPED, "for ever");
    }

    function test_instantSettlementsGoOn() public {
        Kept memory kept = _post(_true(1), 0);
        _settle(Members.empty(), NEWEST, _range(0, N));
        Kept memory next = _post(_true(2), 1);
        _settle(_newest, NONE, _range(0, N), 3);
        _overWindow();
        _assertStatus(kept, FINAL, "before");
        _assertStatus(next, FINAL, "between");
    }

    // Time and blocks.

    function test_demandInTheLastSecondOfTheWindow() public {
        Kept memory kept = _post(_true(1), 0);
        _pass(WINDOW, WINDOW_BLOCKS);
        _assertStatus(kept, POSTED, "the last second");
        _demand(kept);
        // The poster has the whole span for the answer, although the window is over.
        _pass(ANSWER, ANSWER_BLOCKS);
        _prove(kept);
    }

    function test_oneSecondAfterTheWindow() public {
        Kept memory kept = _post(_lie(1), 0);
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
        _refuseAs(CHALLENGER, BOND, _callDemand(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _assertStatus(kept, FINAL, "nobody was awake");
    }

    function test_timeWithoutBlocksEndsNoWindow() public {
        Kept memory kept = _post(_lie(1), 0);
        _pass(10 * WINDOW, WINDOW_BLOCKS);
        _assertStatus(kept, POSTED, "a chain that stood still");
        _demand(kept);
        _pass(10 * WINDOW, ANSWER_BLOCKS);
        _refuseAs(PROVER, 0, _callDrop(kept), _why(IOptimisticSettlement.AnswerRuns.selector, 0));
        _pass(0, 1);
        _drop(kept);
    }

    function test_blocksWithoutTimeEndNoWindow() public {
        Kept memory kept = _post(_lie(1), 0);
        _pass(WINDOW, 10 * WINDOW_BLOCKS);
        _assertStatus(kept, POSTED, "fast blocks");
        _demand(kept);
        _pass(ANSWER, 10 * WINDOW_BLOCKS);
        _refuseAs(PROVER, 0, _callDrop(kept), _why(IOptimisticSettlement.AnswerRuns.selector, 0));
        _pass(1, 0);
        _drop(kept);
    }

    function test_provenInTheLastSecond() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        _pass(ANSWER, ANSWER_BLOCKS);
        _prove(kept);
        _assertMoney(POSTER, COVER, 0, 0, "the poster");
    }

    /// @notice A proof that comes too late settles the results all the same, and costs the poster the penalty.
    function test_provenOneSecondLater() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        _overAnswer();
        _acceptAs(PROVER, 0, _callProve(kept));
        _assertStatus(kept, UNKNOWN, "the posting");
        kept.demand = _noDemand;
        _assertStatus(_displacing(kept, kept.results, NONE, kept.signers), SETTLED, "what was proven");
        _assertMoney(POSTER, COVER - PENALTY, 0, 0, "the poster");
        _assertMoney(CHALLENGER, 0, 0, BOND, "the challenger");
        _assertMoney(PROVER, 0, 0, PENALTY / 2, "the prover");
    }

    // Demands.

    function test_demandOfWhatIsDecided() public {
        Kept[3] memory all = [_post(_true(1), 0), _post(_lie(1), 1), _post(_true(1), 2)];
        _prove(all[0]);
        _demand(all[1]);
        _overAnswer();
        _drop(all[1]);
        _overWindow();
        for (uint256 i = 0; i < 3; i++) {
            _refuseAs(CHALLENGER, BOND, _callDemand(all[i]), _why(IOptimisticSettlement.NotThisPosting.selector, i));
        }
        _topUp();
        Kept memory never = _post(_true(1), 3);
        never.posting.count++;
        _refuseAs(CHALLENGER, BOND, _callDemand(never), _why(IOptimisticSettlement.NotThisPosting.selector, 3));
    }

    function test_demandedTwice() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        _refuseAs(PROVER, BOND, _callDemand(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
    }

    function test_wrongBond() public {
        Kept memory kept = _post(_true(1), 0);
        _refuseAs(CHALLENGER, BOND - 1, _callDemand(kept), _why(IOptimisticSettlement.NotTheBond.selector, BOND - 1));
        _refuseAs(CHALLENGER, BOND + 1, _callDemand(kept), _why(IOptimisticSettlement.NotTheBond.selector, BOND + 1));
    }

    /// @notice Another demand, challenger or moment is not the one in the slot.
    function test_trap_anotherDemand() public {
        Kept memory kept = _post(_lie(1), 0);
        _demand(kept);
        _overAnswer();
        IOptimisticSettlement.Demand memory right = kept.demand;
        kept.demand = IOptimisticSettlement.Demand(PROVER, right.when);
        _refuseAs(PROVER, 0, _callDrop(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        kept.demand = IOptimisticSettlement.Demand(CHALLENGER, Moment.wrap(Moment.unwrap(right.when) - 1));
        _refuseAs(PROVER, 0, _callDrop(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _assertStatus(kept, UNKNOWN, "another demand");
        kept.demand = right;
        _drop(kept);
    }

    /// @notice A poster who shows its own lie loses half of the penalty.
    function test_trap_aPosterThatChallengesItself() public {
        uint256 before = POSTER.balance + COVER;
        Kept memory kept = _post(_lie(1), 0);
        _demandBy(POSTER, kept);
        _overAnswer();
        _drop(kept);
        _acceptAs(POSTER, 0, abi.encodeCall(IOptimisticSettlement.exit, ()));
        _overWindow();
        _acceptAs(POSTER, 0, abi.encodeCall(IOptimisticSettlement.withdraw, ()));
        assertEq(POSTER.balance, before - PENALTY + PENALTY / 2, "half of the penalty is lost");
        assertEq(address(_settlement).balance, PENALTY - PENALTY / 2, "and stays in the contract");
    }

    // Proofs.

    /// @notice Who has the proof run out of gas changes nothing. The posting does not become final by that.
    function test_trap_aProofThatRunsOutOfGas() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        for (uint256 gas_ = 5_000; gas_ < 60_000; gas_ += 11_000) {
            vm.prank(CHALLENGER);
            (bool done,) = address(_settlement).call{gas: gas_}(_callProve(kept));
            assertTrue(!done, "too little gas");
            _assertStatus(kept, DEMANDED, "as before");
        }
        _overAnswer();
        _overWindow();
        _assertStatus(kept, DEMANDED, "never final");
        _drop(kept);
    }

    /// @notice If the chain cannot check signatures any more, what was demanded is dropped.
    function test_trap_aCurveThatFails() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        _optimistic.breakCurve(true);
        _refuseAs(PROVER, _callProve(kept), ToyOptimistic.CurveFails.selector);
        _overAnswer();
        _drop(kept);
        _optimistic.breakCurve(false);
    }

    function test_trap_garbageEvidence() public {
        bytes memory signers = _range(0, N);
        bytes32[] memory results = _results(1);
        bytes memory signature = _signature(results, NONE, signers);
        bytes[6] memory evidence = [
            bytes(""),
            hex"ff",
            signature,
            abi.encodePacked(signers, hex"00", signature),
            abi.encodePacked(signers, signature, hex"00"),
            abi.encodePacked(signers, keccak256(signature))
        ];
        uint256 state = vm.snapshotState();
        for (uint256 i = 0; i < evidence.length; i++) {
            Kept memory kept;
            (kept.results, kept.signers) = (results, evidence[i]);
            kept = _post(kept, 0);
            _demand(kept);
            // What is proven with the true evidence is not this posting: the challenger gets the bond back.
            bytes memory quorum = _quorumOf(Members.empty(), signers, signature);
            _acceptAs(PROVER, 0, _callProve(kept, quorum));
            _assertMoney(CHALLENGER, 0, 0, BOND, "the challenger");
            _assertMoney(POSTER, COVER, 0, 0, "not fined: the results were right");
            _assertStatus(kept, UNKNOWN, "displaced by its own results");
            vm.revertToState(state);
            state = vm.snapshotState();
            kept = _post(kept, 0);
            _demand(kept);
            _overAnswer();
            _drop(kept);
            vm.revertToState(state);
            state = vm.snapshotState();
        }
    }

    /// @notice The quorum's bytes carry other signers than the posting. What is proven is true, and is not the posting.
    function test_trap_aBitmapWithOtherSigners() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        bytes memory fewer = _range(0, N - 1);
        // The posting's signature is false for other signers.
        bytes memory quorum = _quorumOf(Members.empty(), fewer, kept.signature);
        _refuseAs(PROVER, _callProve(kept, quorum), ToyKeys.FalseSignature.selector);
        quorum = _quorumOf(Members.empty(), fewer, _signedFor(kept, kept.results, NONE, fewer));
        _acceptAs(PROVER, 0, _callProve(kept, quorum));
        _assertMoney(POSTER, COVER, 0, 0, "not fined");
        _assertMoney(CHALLENGER, 0, 0, BOND, "the bond goes back");
        _assertMoney(PROVER, 0, 0, 0, "and the prover gets nothing");
    }

    function test_trap_resultsOfAnotherCount() public {
        Kept memory kept = _post(_true(2), 0);
        bytes32[] memory three = _other(3);
        bytes memory data = _callDisplace(kept, three, NONE, kept.signers);
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.AnotherCount.selector, 3));
        data = _callDisplace(kept, new bytes32[](0), NONE, kept.signers);
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.AnotherCount.selector, 0));
        // A posting that claims another count is another posting.
        kept.posting.count = 3;
        _refuseAs(PROVER, 0, _callProve(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        kept.posting.count = 2;
        _prove(kept);
    }

    /// @notice Somebody posts garbage before a batch, and less of it than the batch has. The batch does not settle any more,
    /// and does not displace the garbage. A new order for the numbers behind the garbage settles.
    function test_trap_garbageShorterThanABatch() public {
        bytes memory signers = _range(0, N);
        Kept memory batch = _true(3);
        bytes memory quorum = _quorumOf(Members.empty(), signers, batch.signature);
        bytes memory settleAll = _callAll(Members.commitment(_newest), _head, batch.results, quorum);
        Kept memory garbage = _post(_lie(1), 0);
        _refuseAs(PROVER, settleAll, Settlement.NotThisState.selector);
        bytes memory data = _callDisplace(garbage, batch.results, quorum);
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.AnotherCount.selector, 3));
        _settle(Members.empty(), NONE, signers, 2);
        _assertStatus(garbage, POSTED, "it holds its number");
        _displace(garbage, _other(1), NONE, signers);
    }

    /// @notice Signatures over other numbers, epochs and deadlines prove nothing.
    function test_trap_signaturesForOtherNumbers() public {
        Kept memory first = _post(_true(1), 0);
        Kept memory second = _post(_true(1), 1);
        bytes memory quorum = _quorumOf(Members.empty(), second.signers, second.signature);
        _refuseAs(PROVER, _callDisplace(first, second.results, quorum), ToyKeys.FalseSignature.selector);
        first.posting.deadline--;
        _refuseAs(PROVER, 0, _callProve(first), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
    }

    // Displaced postings.

    /// @notice Garbage of as many results holds no number: the quorum's results are settled at once, and the liar pays.
    function test_displacesALie() public {
        Kept memory kept = _post(_lie(2), 0);
        bytes32[] memory results = _other(2);
        _displace(kept, results, NONE, _range(0, N));
        _assertMoney(POSTER, COVER - PENALTY, 0, 0, "the poster");
        _assertMoney(PROVER, 0, 0, PENALTY / 2, "the prover");
    }

    function test_displacesADemandedLie() public {
        Kept memory kept = _post(_lie(2), 0);
        _demand(kept);
        IOptimisticSettlement.Demand memory asked = kept.demand;
        Kept memory by = _displace(kept, _other(2), NONE, _range(0, N));
        (kept.demand, by.signers) = (asked, kept.signers);
        _assertMoney(POSTER, COVER - PENALTY, 0, 0, "the poster");
        _assertMoney(CHALLENGER, 0, 0, BOND, "the challenger");
        _assertMoney(PROVER, 0, 0, PENALTY / 2, "the prover");
        _refuseAs(PROVER, 0, _callDrop(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _refuseAs(PROVER, 0, _callProve(by), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
    }

    /// @notice After it was dropped, a posting is displaced while its window runs. The poster pays once.
    function test_displacesADroppedLie() public {
        Kept memory kept = _post(_lie(1), 0);
        Kept memory late = _post(_lie(1), 1);
        _demand(kept);
        _demand(late);
        _overAnswer();
        _drop(kept);
        _drop(late);
        kept.demand = _noDemand;
        late.demand = _noDemand;
        _displace(kept, _other(1), NONE, _range(0, N));
        _assertMoney(POSTER, COVER - 2 * uint256(PENALTY), 0, 0, "once for each");
        _assertMoney(PROVER, 0, 0, 0, "nothing is left to earn");
        _overWindow();
        bytes memory data = _callDisplace(late, _other(1), NONE, _range(0, N));
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.NotThisPosting.selector, 1));
    }

    function test_displacedByFewerResults() public {
        Kept memory kept = _post(_lie(3), 0);
        Kept memory by = _displace(kept, _other(1), NONE, _range(0, N));
        assertEq(by.posting.count, 1, "one number is settled");
        _topUp();
        // The numbers behind it settle nothing; the next posting has the number behind them.
        Kept memory next = _post(_true(1), 1);
        assertEq(next.posting.head.nonce(), kept.posting.head.nonce() + 3, "the next number");
    }

    /// @notice Signatures for an instant settlement name a slot to store in. They displace, too, and nothing is stored.
    function test_displacesWithSignaturesThatNameASlot() public {
        Kept memory kept = _post(_lie(1), 0);
        _displace(kept, _other(1), 3, _range(0, N));
        assertEq(_settlement.commitmentAt(3), bytes32(0), "not stored");
    }

    function test_trap_displacingAFinalPosting() public {
        Kept memory kept = _post(_true(1), 0);
        _overWindow();
        bytes memory data = _callDisplace(kept, _other(1), NONE, _range(0, N));
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _refuseAs(PROVER, 0, _callProve(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
    }

    /// @notice Signatures that did not count any more when the posting was made displace nothing.
    function test_trap_aDeadlineBeforeThePosting() public {
        Kept memory kept = _post(_lie(1), 0);
        uint64 kept_ = _deadline;
        _deadline = uint64(block.timestamp - 1);
        bytes memory data = _callDisplace(kept, _other(1), NONE, _range(0, N));
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.DeadlineBeforePosting.selector, _deadline));
        _deadline = uint64(block.timestamp);
        data = _callDisplace(kept, _other(1), NONE, _range(0, N));
        _pass(10, 1);
        _acceptAs(PROVER, 0, data);
        _deadline = kept_;
    }

    /// @notice A quorum that signs two results for one number can hurt a true poster, by one penalty. It could have settled
    /// either at once.
    function test_equivocation() public {
        Kept memory kept = _post(_true(1), 0);
        _displace(kept, _other(1), NONE, _range(0, N));
        _assertMoney(POSTER, COVER - PENALTY, 0, 0, "one penalty");
    }

    // The slots.

    function test_trap_overwritingASlotThatIsNotFree() public {
        Kept memory kept = _post(_true(1), 0);
        bytes memory taken = _why(IOptimisticSettlement.SlotTaken.selector, 0);
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), taken);
        _pass(WINDOW, WINDOW_BLOCKS);
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), taken);
        _demand(kept);
        _overWindow();
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), taken);
        _drop(kept);
        _topUp();
        // Its window is over, so it is not displaced any more. Still, its content has to be passed.
        IOptimisticSettlement.Place memory place = _places[0];
        _places[0].content = bytes32(uint256(1));
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), taken);
        _places[0] = place;
        _places[0].when = Moment.wrap(Moment.unwrap(place.when) - 1);
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), taken);
        _places[0] = place;
        _post(_true(1), 0);
        _places[0].slot = SLOTS;
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), _why(IOptimisticSettlement.NoSuchSlot.selector, SLOTS));
        kept.posting.slot = 1 << 200;
        vm.expectRevert(_why(IOptimisticSettlement.NoSuchSlot.selector, 1 << 200));
        _optimistic.statusOf(kept.posting, kept.demand);
    }

    /// @notice A dropped posting keeps its slot while it may be displaced.
    function test_trap_overwritingADroppedPostingInItsWindow() public {
        Kept memory kept = _post(_lie(1), 0);
        _demand(kept);
        _overAnswer();
        _drop(kept);
        _topUp();
        _refuseAs(POSTER, 0, _callPost(_true(1), 0), _why(IOptimisticSettlement.SlotTaken.selector, 0));
        _overWindow();
        _post(_true(1), 0);
    }

    function test_slotsAreUsedAgain() public {
        for (uint256 round = 0; round < 3; round++) {
            Kept[SLOTS] memory all;
            for (uint256 i = 0; i < SLOTS; i++) {
                all[i] = _post(_true(1 + i), i);
            }
            _refuseAs(POSTER, 0, _callPost(_true(1), 1), _why(IOptimisticSettlement.SlotTaken.selector, 1));
            if (round == 0) _prove(all[2]);
            _overWindow();
            for (uint256 i = 0; i < SLOTS; i++) {
                _assertStatus(all[i], round == 0 && i == 2 ? SETTLED : FINAL, "a round");
                // It can be read for two windows more.
                _refuseAs(POSTER, 0, _callPost(_true(1), i), _why(IOptimisticSettlement.SlotTaken.selector, i));
            }
            _pass(2 * WINDOW - 1, 2 * WINDOW_BLOCKS);
            _refuseAs(POSTER, 0, _callPost(_true(1), 0), _why(IOptimisticSettlement.SlotTaken.selector, 0));
            _pass(1, 0);
        }
    }

    /// @notice The same content at another time or block is another posting, as after a reorganisation.
    function test_trap_aReorganisation() public {
        uint256 state = vm.snapshotState();
        Kept memory kept = _post(_lie(1), 0);
        IOptimisticSettlement.Posting memory old = kept.posting;
        for (uint256 i = 0; i < 2; i++) {
            vm.revertToState(state);
            state = vm.snapshotState();
            i == 0 ? _pass(1, 0) : _pass(0, 1);
            Kept memory again = _post(kept, 0);
            assertEq(_content(again.posting), _content(old), "the same content");
            IOptimisticSettlement.Posting memory right = again.posting;
            again.posting = old;
            _assertStatus(again, UNKNOWN, "the posting of the other branch");
            bytes memory why = _why(IOptimisticSettlement.NotThisPosting.selector, 0);
            _refuseAs(CHALLENGER, BOND, _callDemand(again), why);
            again.posting = right;
            _demand(again);
        }
    }

    // What changes while a posting waits.

    function test_staysProvable_whenBasesAndEpochsChange() public {
        Members.Base memory base = _settle(Members.empty(), 2, _range(0, N));
        Members.Base memory newest = _settle(base, NEWEST, _range(0, N));
        Kept memory kept = _post(_true(1), 0);
        Kept memory ring = _post(_true(1), 1);
        Kept memory still = _post(_true(1), 2);
        _settle(Members.empty(), 2, _range(0, 3));
        _settle(newest, NEWEST, _range(0, 4));
        // The bases from which the quorum might have started are gone.
        _refuseAs(
            PROVER,
            0,
            _callProve(ring, _quorumOf(base, ring.signers, ring.signature)),
            _why(Ring.NotThisBase.selector, 2)
        );
        _refuseAs(
            PROVER,
            0,
            _callProve(kept, _quorumOf(newest, kept.signers, kept.signature)),
            _why(Ring.NotThisBase.selector, 0)
        );
        // From the present newest base.
        _acceptAs(PROVER, 0, _callProve(kept, _quorumOf(_newest, kept.signers, kept.signature)));
        uint64[] memory weights = new uint64[](N);
        for (uint256 i = 0; i < N; i++) {
            weights[i] = 1;
        }
        // Between `begin` and `enter`, and in another epoch with other weights.
        _beginOnly(weights, uint88(N), 1);
        _prove(ring);
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
        _prove(still);
    }

    /// @notice Keys of an epoch prove other results for its postings after it is over, also if they weigh nothing any more:
    /// until the last second of the window, and while a demand is open.
    function test_trap_aQuorumOfAnEarlierEpoch() public {
        Kept memory kept = _post(_true(1), 0);
        Kept memory asked = _post(_true(1), 1);
        uint64[] memory weights = new uint64[](N);
        weights[N - 1] = 1;
        _begin(weights, 1, 1);
        bytes memory former = _range(0, N - 1);
        _refuse(Members.empty(), NONE, former, _tooFew(N - 1));
        _pass(WINDOW, WINDOW_BLOCKS);
        _demand(asked);
        _displace(kept, _other(1), NONE, former);
        // Nobody drops the other one.
        _pass(10 * WINDOW, 10 * WINDOW_BLOCKS);
        _displace(asked, _other(1), NONE, former);
        _assertMoney(POSTER, COVER - 2 * uint256(PENALTY), 0, 0, "the poster of what was true");
        _assertMoney(CHALLENGER, 0, 0, BOND, "the challenger");
        _assertMoney(PROVER, 0, 0, 2 * (PENALTY / 2), "the prover");
    }

    function test_staysProvable_whenTheTableIsRenewed() public {
        Kept memory kept = _post(_true(1), 0);
        Kept memory other = _post(_true(1), 1);
        bytes memory indices;
        for (uint256 i = 8; i > 0; i--) {
            indices = abi.encodePacked(indices, uint32(i - 1));
        }
        _settlement.carry(indices, _keyPages);
        uint64[] memory weights = new uint64[](8);
        for (uint256 i = 0; i < 8; i++) {
            weights[i] = 1;
        }
        _settlement.begin(1, Members.packWeights(weights), 1, true);
        _prove(kept);
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
        _prove(other);
        // A base of the new table does not serve.
        assertEq(_head.table(), 1, "the new table");
    }

    /// @notice The newest base belongs to the present table, and proves nothing of an older one.
    function test_trap_theNewestBaseOfAnotherTable() public {
        _settle(Members.empty(), NEWEST, _range(0, 8));
        Kept memory kept = _post(_signed(1, _range(0, 8)), 0);
        bytes memory indices;
        for (uint256 i = 0; i < 8; i++) {
            indices = abi.encodePacked(indices, uint32(7 - i));
        }
        _settlement.carry(indices, _keyPages);
        uint64[] memory weights = new uint64[](8);
        weights[0] = 1;
        _settlement.begin(1, Members.packWeights(weights), 1, true);
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
        uint256[] memory pages = _keyPages;
        _keyPages[0] = _settlement.extent().pages;
        _settle(Members.empty(), NEWEST, _range(0, 8));
        bytes memory quorum = _quorumOf(_newest, kept.signers, kept.signature);
        _refuseAs(PROVER, 0, _callProve(kept, quorum), _why(Ring.NotThisBase.selector, 0));
        _keyPages = pages;
        _prove(kept);
    }

    function test_provenByWeight() public {
        uint64[] memory weights = new uint64[](N);
        for (uint256 i = 0; i < N; i++) {
            weights[i] = i == 0 ? 1000 : 1;
        }
        _begin(weights, 1000, 1000);
        Kept memory kept = _post(_signed(1, _range(0, 1)), 0);
        Kept memory light = _post(_signed(1, _range(1, 2)), 1);
        bytes memory why = abi.encodeWithSelector(Settlement.TooFewMembers.selector, 1, _enough());
        _refuseAs(PROVER, 0, _callProve(kept), why);
        _weighs = true;
        why = abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 1, 1000);
        _refuseAs(PROVER, 0, _callProve(light), why);
        // The page names its epoch, and later epochs leave it there.
        uint256[] memory pages = _weightPages;
        for (uint256 i = 0; i < 3; i++) {
            _begin(1);
        }
        _weightPages = pages;
        _prove(kept);
    }

    // Deposits.

    function test_postsOnlyWithACoveredDeposit() public {
        bytes memory data = _callPost(_true(1), 0);
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.DepositTooSmall.selector, 0));
        vm.deal(PROVER, COVER);
        _acceptAs(PROVER, COVER - 1, abi.encodeCall(IOptimisticSettlement.deposit, ()));
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.DepositTooSmall.selector, COVER - 1));
        _acceptAs(PROVER, 1, abi.encodeCall(IOptimisticSettlement.deposit, ()));
        _acceptAs(PROVER, 0, abi.encodeCall(IOptimisticSettlement.exit, ()));
        _refuseAs(PROVER, 0, data, _why(IOptimisticSettlement.DepositTooSmall.selector, COVER));
        _acceptAs(PROVER, 0, abi.encodeCall(IOptimisticSettlement.deposit, ()));
        _postBy(PROVER, _true(1), 0);
        vm.deal(PROVER, 1 << 96);
        bytes memory why = _why(IOptimisticSettlement.DepositTooLarge.selector, (1 << 96) + COVER);
        _refuseAs(PROVER, 1 << 96, abi.encodeCall(IOptimisticSettlement.deposit, ()), why);
    }

    function test_trap_aDepositWithdrawnTooEarly() public {
        _leaves(0, "no exit runs");
        Kept memory kept = _post(_lie(1), 0);
        _acceptAs(POSTER, 0, abi.encodeCall(IOptimisticSettlement.exit, ()));
        _pass(WINDOW + 1, WINDOW_BLOCKS);
        _leaves(0, "a block too early");
        // In the last block in which a posting from before the exit may be demanded.
        _demand(kept);
        _pass(0, 1);
        _leaves(0, "a demand is open");
        _overWindow();
        _leaves(0, "a demand is open, however long");
        _drop(kept);
        _assertMoney(CHALLENGER, 0, 0, BOND + PENALTY / 2, "the challenger is paid");
        _leaves(COVER - PENALTY, "the rest");
        _leaves(0, "nothing is left");
    }

    /// @dev The poster gets so much.
    function _leaves(uint256 amount, string memory what) private {
        uint256 before = POSTER.balance;
        _acceptAs(POSTER, 0, abi.encodeCall(IOptimisticSettlement.withdraw, ()));
        assertEq(POSTER.balance, before + amount, what);
    }

    /// @notice Credit is paid although the deposit stays.
    function test_creditOfAPoster() public {
        Kept memory kept = _post(_true(1), 0);
        _demand(kept);
        _acceptAs(POSTER, 0, _callProve(kept));
        _leaves(BOND, "the bond");
        _assertMoney(POSTER, COVER, 0, 0, "the deposit");
    }

    /// @notice Every slot holds a lie of one poster, and every challenger is paid in full.
    function test_trap_aDepositUsedUpWhilePostingsWait() public {
        Kept[SLOTS] memory all;
        for (uint256 i = 0; i < SLOTS; i++) {
            all[i] = _post(_lie(1), i);
        }
        _acceptAs(POSTER, 0, abi.encodeCall(IOptimisticSettlement.exit, ()));
        for (uint256 i = 0; i < SLOTS; i++) {
            _demand(all[i]);
        }
        _assertMoney(POSTER, COVER, SLOTS, 0, "all demanded");
        _overAnswer();
        for (uint256 i = 0; i < SLOTS; i++) {
            _drop(all[i]);
        }
        _assertMoney(POSTER, 0, 0, 0, "nothing is left");
        _assertMoney(CHALLENGER, 0, 0, SLOTS * (uint256(BOND) + PENALTY / 2), "all are paid");
    }

    // Money that somebody does not take.

    function test_trap_aReceiverThatReverts() public {
        Greedy greedy = new Greedy();
        vm.deal(address(greedy), BOND);
        Kept memory kept = _post(_lie(1), 0);
        greedy.send(address(_settlement), BOND, _callDemand(kept));
        kept.demand = IOptimisticSettlement.Demand(address(greedy), _now());
        _overAnswer();
        // It stops nobody else.
        _drop(kept);
        bytes memory take = abi.encodeCall(IOptimisticSettlement.withdraw, ());
        (bool done, bytes memory answer) = greedy.send(address(_settlement), 0, take);
        assertTrue(!done, "not taken");
        assertEq(answer, _why(IOptimisticSettlement.NotTaken.selector, BOND + PENALTY / 2), "why");
        greedy.set(true, take);
        (done,) = greedy.send(address(_settlement), 0, take);
        assertTrue(done && greedy.tries() == 101, "taken later");
        assertEq(address(greedy).balance, BOND + PENALTY / 2, "once");
    }

    function test_trap_withdrawingTwiceInOneCall() public {
        Greedy greedy = new Greedy();
        vm.deal(address(greedy), COVER);
        greedy.send(address(_settlement), COVER, abi.encodeCall(IOptimisticSettlement.deposit, ()));
        greedy.send(address(_settlement), 0, abi.encodeCall(IOptimisticSettlement.exit, ()));
        _overWindow();
        bytes memory withdraw = abi.encodeCall(IOptimisticSettlement.withdraw, ());
        greedy.set(true, withdraw);
        (bool done,) = greedy.send(address(_settlement), 0, withdraw);
        assertTrue(done && greedy.tries() == 101, "the second call pays nothing");
        assertEq(address(greedy).balance, COVER, "paid once");
        assertEq(address(_settlement).balance, COVER, "the other deposit is there");
    }

    // What `post` checks.

    function test_trap_postingsThatAreRefused() public {
        Kept memory kept = _true(1);
        bytes memory data = _callPost(kept, 0);
        _post(kept, 0);
        _refuseAs(POSTER, data, Settlement.NotThisState.selector);
        kept.results = new bytes32[](0);
        _refuseAs(POSTER, 0, _callPost(kept, 1), _why(IOptimisticSettlement.AnotherCount.selector, 0));
        kept = _true(1);
        uint64 deadline = _deadline;
        _deadline = uint64(block.timestamp - 1);
        _refuseAs(POSTER, 0, _callPost(kept, 1), _why(Settlement.DeadlinePassed.selector, _deadline));
        _deadline = deadline;
        uint64[] memory weights = new uint64[](N);
        _beginOnly(weights, 1, 1);
        _refuseAs(POSTER, _callPost(kept, 1), Settlement.NotThisState.selector);
    }

    function test_trap_finishingTooEarlyOrWithOtherResults() public {
        Kept memory kept = _post(_true(2), 0);
        _refuseAs(POSTER, 0, _callFinish(kept), _why(IOptimisticSettlement.NotThisPosting.selector, 0));
        _overWindow();
        kept.results[1] = bytes32(uint256(1));
        _refuseAs(POSTER, 0, _callFinish(kept), _why(IOptimisticSettlement.NotTheseResults.selector, 0));
        assertTrue(!_optimistic.isSettledAs(kept.posting, kept.results), "other results");
    }

    function test_conditions() public {
        (uint256 spans, uint256 money) = _optimistic.conditions();
        uint256 expected = uint256(SLOTS) << 128 | uint256(ANSWER_BLOCKS) << 96 | uint256(ANSWER) << 64
            | uint256(WINDOW_BLOCKS) << 32 | WINDOW;
        assertEq(spans, expected, "spans");
        assertEq(money, uint256(BOND) << 96 | PENALTY, "money");
        for (uint256 i = 0; i < 10; i++) {
            IOptimisticSettlement.Conditions memory c = _conditions();
            if (i == 0) c.answer = 0;
            if (i == 1) c.answerBlocks = 0;
            if (i == 2) c.slots = 0;
            if (i == 3) c.penalty = 1;
            if (i == 4) c.bond = 0;
            if (i == 5) c.answer = c.window + 1;
            if (i == 6) c.answerBlocks = c.windowBlocks + 1;
            if (i == 7) c.window = 0;
            if (i == 8) c.windowBlocks = 0;
            if (i == 9) (c.penalty, c.slots) = (type(uint96).max / 2 + 1, 2);
            vm.expectRevert(IOptimisticSettlement.UnfitConditions.selector);
            new ToyOptimistic(PINNED, CHANGES_A_STORE, c);
        }
    }
}
