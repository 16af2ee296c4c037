// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";
import {IResultReceiver} from "../src/interfaces/IResultReceiver.sol";
import {StoredResults} from "../src/StoredResults.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {ToyForwardedOptimistic, ToyOptimistic, ToyStoredOptimistic} from "./mocks/ToyOptimistic.sol";
import {OptimisticFixture} from "./OptimisticFixture.sol";
import {Receiver} from "./SettlementsResults.t.sol";
import {vm} from "./Test.sol";

/// @notice Postings whose results are stored.
contract OptimisticStoredTest is OptimisticFixture {
    function _make() internal override returns (ToyCurve) {
        _optimistic = ToyOptimistic(address(new ToyStoredOptimistic(PINNED, CHANGES_A_STORE, _conditions())));
        return ToyCurve(address(_optimistic));
    }

    function _stored(uint256 nonce) private view returns (bytes32) {
        return ToyStoredOptimistic(address(_optimistic)).resultAt(nonce);
    }

    function _refuseStored(uint256 nonce) private {
        vm.expectRevert(abi.encodeWithSelector(StoredResults.NoResult.selector, nonce));
        _stored(nonce);
    }

    /// @notice A result is stored when it is proven, finished or displacing, and not before.
    function test_storedWhenItCounts() public {
        uint256 first = _nonce();
        Kept memory proven = _post(_signed(2, _range(0, N)), 0);
        Kept memory finished = _post(_signed(1, _range(0, N)), 1);
        Kept memory lie = _post(_lie(2), 2);
        for (uint256 i = 0; i < 5; i++) {
            _refuseStored(first + i);
        }
        _prove(proven);
        bytes32[] memory results = _other(1);
        _displace(lie, results, NONE, _range(0, N));
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
        _refuseStored(first + 2);
        _acceptAs(PROVER, 0, _callFinish(finished));
        bytes32[4] memory expected = [proven.results[0], proven.results[1], finished.results[0], results[0]];
        for (uint256 i = 0; i < 4; i++) {
            assertEq(_stored(first + i), expected[i], "stored");
        }
        _refuseStored(first + 4);
    }

    /// @notice A final posting that was not finished keeps its slot: its results would be lost.
    function test_trap_overwritingAPostingThatIsNotFinished() public {
        Kept memory kept = _post(_signed(1, _range(0, N)), 0);
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
        bytes memory why = abi.encodeWithSelector(IOptimisticSettlement.SlotTaken.selector, 0);
        _refuseAs(POSTER, 0, _callPost(_signed(1, _range(0, N)), 0), why);
        _acceptAs(PROVER, 0, _callFinish(kept));
        _post(_signed(1, _range(0, N)), 0);
    }
}

/// @notice Postings whose results are handed to a receiver.
contract OptimisticForwardedTest is OptimisticFixture {
    Receiver private _receiver;

    function _make() internal override returns (ToyCurve) {
        _receiver = new Receiver();
        address made = address(
            new ToyForwardedOptimistic(PINNED, CHANGES_A_STORE, _conditions(), IResultReceiver(address(_receiver)))
        );
        _optimistic = ToyOptimistic(made);
        return ToyCurve(made);
    }

    /// @notice The receiver gets results when they count: not in the order of their numbers, and each once.
    function test_forwardedWhenItCounts() public {
        Kept memory finished = _post(_signed(1, _range(0, N)), 0);
        Kept memory proven = _post(_signed(2, _range(0, N)), 1);
        assertEq(_receiver.count(), 0, "nothing counts yet");
        _prove(proven);
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
        _acceptAs(PROVER, 0, _callFinish(finished));
        assertEq(_receiver.count(), 2, "two calls");
        assertEq(_receiver.nonces(0), finished.posting.head.nonce() + 1, "the later number came first");
        assertEq(_receiver.nonces(1), finished.posting.head.nonce(), "then the earlier one");
    }

    /// @notice While a receiver refuses a result, a posting of it is neither proven nor finished, and holds its slot. Other
    /// postings go on.
    function test_trap_aReceiverThatReverts() public {
        Kept memory bad = _post(_signed(1, _range(0, N)), 0);
        Kept memory good = _post(_signed(1, _range(0, N)), 1);
        _receiver.refuse(bad.results[0]);
        bytes memory why = abi.encodeWithSelector(Receiver.Refused.selector, bad.results[0]);
        _refuseAs(PROVER, 0, _callProve(bad), why);
        _assertStatus(bad, IOptimisticSettlement.Status.Posted, "as before");
        _prove(good);
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
        _refuseAs(PROVER, 0, _callFinish(bad), why);
        _assertStatus(bad, IOptimisticSettlement.Status.Final, "final, and not finished");
        why = abi.encodeWithSelector(IOptimisticSettlement.SlotTaken.selector, 0);
        _refuseAs(POSTER, 0, _callPost(_signed(1, _range(0, N)), 0), why);
        _receiver.refuse("other");
        _acceptAs(PROVER, 0, _callFinish(bad));
    }

    /// @notice While a receiver refuses a result, whoever demands its proof takes a true poster's penalty. Once the window
    /// is over, the number is lost.
    function test_trap_aDemandWhileTheReceiverReverts() public {
        Kept memory kept = _post(_signed(1, _range(0, N)), 0);
        _receiver.refuse(kept.results[0]);
        _demand(kept);
        bytes memory why = abi.encodeWithSelector(Receiver.Refused.selector, kept.results[0]);
        _refuseAs(PROVER, 0, _callProve(kept), why);
        _pass(ANSWER + 1, ANSWER_BLOCKS + 1);
        _refuseAs(PROVER, 0, _callProve(kept), why);
        _drop(kept);
        _assertMoney(POSTER, COVER - PENALTY, 0, 0, "the poster");
        _assertMoney(CHALLENGER, 0, 0, BOND + PENALTY / 2, "the challenger");
        _pass(WINDOW + 1, WINDOW_BLOCKS + 1);
        _receiver.refuse("other");
        why = abi.encodeWithSelector(IOptimisticSettlement.NotThisPosting.selector, 0);
        _refuseAs(PROVER, 0, _callProve(kept), why);
        _assertStatus(kept, IOptimisticSettlement.Status.Dropped, "for ever");
        assertEq(_receiver.count(), 0, "nothing came");
    }

    /// @notice A receiver that calls again, within the call, what gave it the results.
    function test_trap_aReceiverThatCallsAgain() public {
        Kept memory proven = _post(_signed(1, _range(0, N)), 0);
        Kept memory finished = _post(_signed(1, _range(0, N)), 1);
        Kept memory lie = _post(_lie(1), 2);
        bytes memory why = abi.encodeWithSelector(IOptimisticSettlement.NotThisPosting.selector, 0);
        _receiver.arm(_callProve(proven));
        _refuseAs(PROVER, 0, _callProve(proven), why);
        _receiver.arm("");
        _prove(proven);
        bytes memory data = _callDisplace(lie, _other(1), NONE, _range(0, N));
        _receiver.arm(data);
        why = abi.encodeWithSelector(IOptimisticSettlement.NotThisPosting.selector, 2);
        _refuseAs(PROVER, 0, data, why);
        // Within one call it may do what anybody may do outside of it.
        _pass(WINDOW, WINDOW_BLOCKS);
        _receiver.arm(_callProve(finished));
        _acceptAs(PROVER, 0, data);
        _assertStatus(finished, IOptimisticSettlement.Status.Settled, "both are settled");
        assertEq(_receiver.count(), 3, "each once");
    }
}
