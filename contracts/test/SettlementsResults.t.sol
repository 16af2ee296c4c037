// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2Keys} from "../src/curves/Bn254G2Keys.sol";
import {ForwardedResults} from "../src/ForwardedResults.sol";
import {Head} from "../src/Head.sol";
import {IResultReceiver} from "../src/interfaces/IResultReceiver.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";
import {Quorums} from "../src/Quorums.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBn254G2} from "../src/Settlements.sol";
import {StoredResults} from "../src/StoredResults.sol";
import {Treasury} from "../examples/Treasury.sol";
import {TreasurySettlement} from "../examples/TreasurySettlement.sol";

contract StoredSettlement is StoredResults, Bn254G2Keys {
    constructor() Quorums(1) Settlement(msg.sender, 4) {}
}

contract ForwardedSettlement is ForwardedResults, Bn254G2Keys {
    constructor(IResultReceiver receiver) Quorums(1) Settlement(msg.sender, 4) ForwardedResults(receiver) {}
}

/// @notice Takes results and does nothing with them.
contract Sink is IResultReceiver {
    function onResults(uint256, bytes32[] calldata) external {}
}

/// @notice Notes what it gets, reverts for one result, and may settle the next result itself.
contract Receiver is IResultReceiver {
    error Refused(bytes32 result);

    bytes32 public refused;
    bytes public next;
    bytes32[] public results;
    uint256[] public nonces;
    bytes32[] public states;

    function refuse(bytes32 result) external {
        refused = result;
    }

    function arm(bytes calldata next_) external {
        next = next_;
    }

    function onResults(uint256 nonce, bytes32[] calldata results_) external {
        for (uint256 i = 0; i < results_.length; i++) {
            require(results_[i] != refused || refused == 0, Refused(results_[i]));
            results.push(results_[i]);
        }
        nonces.push(nonce);
        states.push(ISettlement(msg.sender).state());
        if (next.length == 0) return;
        bytes memory call = next;
        delete next;
        (bool done, bytes memory why) = msg.sender.call(call);
        assembly {
            if iszero(done) { revert(add(why, 0x20), mload(why)) }
        }
    }

    function count() external view returns (uint256) {
        return nonces.length;
    }
}

/// @notice Tests what becomes of settled results, over BN254: plain settlements, stored and forwarded results, and the
/// example that pays them.
contract SettlementsResultsTest is Test, Bn254G2Signing {
    uint256 private constant N = 3;
    uint64 private constant DEADLINE = 2 ** 32 - 1;
    address private constant ALICE = address(0xa11ce);

    Settlement private _settlement;
    Head private _head;
    uint256[] private _none;
    Members.Base private _newest;
    bytes[] private _keys;
    /// The name under which the gas of the next settlement is recorded.
    string private _record;

    /// @dev Registers the members 11, 12 and 13, enters the first epoch and settles a first result, whose quorum
    /// becomes the newest base.
    function _start(Settlement settlement) private {
        _settlement = settlement;
        _head = Head.wrap(0);
        for (uint256 i = 0; i < N; i++) {
            bytes memory key = keyOf(11 + i);
            bytes32 digest = settlement.possessionDigest(address(this), key);
            settlement.register(address(this), key, proofBy(11 + i, Members.only(digest)));
        }
        uint64[] memory weights = new uint64[](N);
        for (uint256 i = 0; i < N; i++) {
            weights[i] = 1;
        }
        settlement.begin(1, Members.packWeights(weights), 3, false);
        settlement.enter(_head, 0);
        _head = settlement.terms();
        bytes memory slopes;
        bytes[] storage keys = _keys;
        while (keys.length < N) keys.push(keyOf(11 + keys.length));
        (slopes,) = slopesOf(Members.empty(), hex"e0", keys);
        bytes32[] memory results = _results(1);
        bytes memory proof = abi.encodePacked(uint8(1), slopes, _proof(0, Members.NEWEST, results));
        Members.Passed memory passed = Members.Passed(3, abi.encodePacked(keys[0], keys[1], keys[2]), "");
        bytes memory quorum = Members.pack(Members.empty(), Members.NEWEST, _none, _none, passed, hex"e0", proof);
        settlement.settleAll(_head, 0, DEADLINE, results, quorum);
        _newest = Members.Base(Members.NEWEST, 0, 0, keyOf(36), hex"e0");
        _head = _head.advance(1);
        _assertState();
    }

    function _assertState() private view {
        bytes32 expected = keccak256(abi.encode(_head, Members.commitment(_newest)));
        assertEq(_settlement.state(), expected, "state");
    }

    function _results(uint256 count) private view returns (bytes32[] memory results) {
        results = new bytes32[](count);
        for (uint256 i = 0; i < count; i++) {
            results[i] = keccak256(abi.encode(_head, i));
        }
    }

    function _proof(uint256 ahead, uint256 store, bytes32[] memory results) private view returns (bytes memory) {
        bytes32 digest = _settlement.resultsDigest(_head.epoch(), _head.nonce() + ahead, DEADLINE, store, results);
        return proofBy(36, Members.only(digest));
    }

    /// @dev A call that settles one result or several, `ahead` results after the next one.
    function _call(uint256 ahead, bytes32[] memory results) private view returns (bytes memory) {
        bytes memory proof = _proof(ahead, Members.NONE, results);
        bytes memory quorum = Members.pack(_newest, Members.NONE, _none, _none, hex"e0", proof);
        Head head = _head.advance(ahead);
        if (results.length == 1) return abi.encodeCall(ISettlement.settle, (head, DEADLINE, results[0], quorum));
        bytes32 newest = Members.commitment(_newest);
        return abi.encodeCall(ISettlement.settleAll, (head, newest, DEADLINE, results, quorum));
    }

    function _settle(bytes32[] memory results) private {
        (bool done, bytes memory why) = address(_settlement).call(_call(0, results));
        if (bytes(_record).length != 0) vm.snapshotGasLastCall("SettlementsResults", _record);
        assertEq(why, "", "settled");
        assertTrue(done, "settled");
        _head = _head.advance(results.length);
        _assertState();
    }

    function _refuse(bytes memory data, bytes memory expected) private {
        (bool done, bytes memory why) = address(_settlement).call(data);
        assertTrue(!done, "not refused");
        assertEq(why, expected, "why");
    }

    function _two(bytes32 a, bytes32 b) private pure returns (bytes32[] memory results) {
        results = new bytes32[](2);
        (results[0], results[1]) = (a, b);
    }

    /// @notice Gas of whole transactions that settle one result and ten, whose quorum is the newest base.
    function test_gas() public {
        Settlement[3] memory settlements;
        settlements[0] = new SettlementBn254G2(address(this), 1, 4);
        settlements[1] = new StoredSettlement();
        settlements[2] = new ForwardedSettlement(new Sink());
        string[3] memory names = ["plain", "stored", "forwarded"];
        for (uint256 i = 0; i < 3; i++) {
            _start(settlements[i]);
            _record = string.concat(names[i], ", one result");
            _settle(_results(1));
            _record = string.concat(names[i], ", ten results");
            _settle(_results(10));
            _record = "";
        }
    }

    function test_storedByNumber() public {
        StoredSettlement settlement = new StoredSettlement();
        _start(settlement);
        bytes32[] memory results = _two(bytes32(uint256(7)), 0);
        _settle(results);
        _settle(Members.only(bytes32(uint256(9))));
        assertEq(settlement.resultAt(1), bytes32(uint256(7)), "the first of two");
        assertEq(settlement.resultAt(3), bytes32(uint256(9)), "one");
        uint256[2] memory absent = [uint256(2), 4];
        for (uint256 i = 0; i < 2; i++) {
            vm.expectRevert(abi.encodeWithSelector(StoredResults.NoResult.selector, absent[i]));
            settlement.resultAt(absent[i]);
        }
    }

    function test_forwardedInOrder() public {
        Receiver receiver = new Receiver();
        _start(new ForwardedSettlement(receiver));
        bytes32[] memory results = _results(2);
        _settle(results);
        assertEq(receiver.count(), 2, "two calls");
        assertEq(receiver.nonces(1), 1, "the number of the first result");
        assertEq(receiver.results(1), results[0], "the first");
        assertEq(receiver.results(2), results[1], "the second");
        assertEq(receiver.states(1), _settlement.state(), "the state is written before the call");
    }

    /// @notice A receiver that reverts makes the settlement revert, with its error and for good.
    function test_trap_aReceiverThatReverts() public {
        Receiver receiver = new Receiver();
        _start(new ForwardedSettlement(receiver));
        bytes32[] memory results = _two("good", "bad");
        receiver.refuse("bad");
        _refuse(_call(0, results), abi.encodeWithSelector(Receiver.Refused.selector, bytes32("bad")));
        _assertState();
        receiver.refuse("other");
        _settle(results);
    }

    /// @notice A receiver settles the next result within the call that settles one result or two. All are settled once,
    /// and the logs come in the order of the results, so the last one tells the state.
    function test_trap_aReceiverThatSettlesAgain() public {
        Receiver receiver = new Receiver();
        _start(new ForwardedSettlement(receiver));
        bytes32[] memory next = Members.only("next");
        for (uint256 count = 1; count <= 2; count++) {
            receiver.arm(_call(count, next));
            vm.recordLogs();
            (bool done,) = address(_settlement).call(_call(0, _results(count)));
            assertTrue(done, "settled");
            Vm.Log[] memory logs = vm.getRecordedLogs();
            _head = _head.advance(count + 1);
            _assertState();
            assertEq(logs.length, 2, "logs");
            bytes32 first = count == 1 ? ISettlement.Settled.selector : ISettlement.SettledAll.selector;
            assertEq(logs[0].topics[0], first, "the first log");
            bytes memory told = abi.encode(_head, Members.commitment(_newest), next[0]);
            assertEq(logs[1].data, told, "the last log tells the state");
            assertEq(receiver.nonces(2 * count), _head.nonce() - 1, "the second call");
        }
        // The call that is running cannot be made again within itself.
        bytes memory again = _call(0, next);
        receiver.arm(again);
        _refuse(again, abi.encodeWithSelector(Settlement.NotThisState.selector));
        _assertState();
    }

    /// @notice The example: a quorum decides payments, and their owners take them.
    function test_treasury() public {
        address treasuryAt = vm.computeCreateAddress(address(this), vm.getNonce(address(this)) + 1);
        TreasurySettlement settlement = new TreasurySettlement(IResultReceiver(treasuryAt), address(this));
        vm.deal(address(this), 10 ether);
        Treasury treasury = new Treasury{value: 10 ether}(address(settlement));
        assertEq(address(treasury), treasuryAt, "the address");
        _start(settlement);
        _settle(_two(_payment(1 ether, ALICE), _payment(2 ether, address(this))));
        _settle(Members.only(_payment(3 ether, ALICE)));
        assertEq(treasury.owed(ALICE), 4 ether, "owed");
        vm.prank(ALICE);
        treasury.withdraw();
        assertEq(ALICE.balance, 4 ether, "paid");
        assertEq(treasury.owed(ALICE), 0, "paid once");
        // This contract takes no ether, and that stops nobody else.
        vm.expectRevert(abi.encodeWithSelector(Treasury.NotPaid.selector, address(this), 2 ether));
        treasury.withdraw();
        vm.expectRevert(abi.encodeWithSelector(Treasury.NotSettlement.selector, address(this)));
        treasury.onResults(0, new bytes32[](1));
    }

    function _payment(uint256 amount, address owner) private pure returns (bytes32) {
        return bytes32(amount << 160 | uint160(owner));
    }
}
