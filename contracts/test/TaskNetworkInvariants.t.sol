// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {MockVerifier} from "./mocks/MockVerifier.sol";
import {MockToken} from "./mocks/MockTokens.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";

/// @notice Does everything that anyone may do, mostly with inputs that succeed, and keeps a record to compare with.
contract NetworkHandler is NetworkRig {
    uint256 public constant OPERATORS = 8;
    uint256 public constant SEATS = 4;

    struct Settled {
        ITaskNetwork.Task task;
        uint256 epoch;
        bool performerOwed;
    }

    Settled[] private _settled;
    uint256[] private _snapshots;
    /// Which of the snapshots was the last one that renewed the table.
    uint256 private _renewal;
    /// The names of all keys, by their number; the numbers are the names.
    uint256 private _names;
    mapping(uint256 epoch => bytes[]) private _signers;
    mapping(uint256 epoch => mapping(bytes32 => bool)) private _seen;
    mapping(uint256 name => uint256) private _ownerOf;
    mapping(bytes32 id => uint256) private _settlements;

    /// Names something that must not happen, once it has happened.
    string public violation;
    uint256 public unclaimedPerformances;
    mapping(bytes32 => uint256) public calls;

    constructor(TaskNetwork network_, MockVerifier verifier_, MockToken token_) {
        (network, verifier, token) = (network_, verifier_, token_);
    }

    function setUp() public override {}

    function register(uint256 who, uint256 stake) external {
        who = bound(who, 0, OPERATORS - 1);
        if (network.stakeOf(operator(who)) != 0) return;
        stake = bound(stake, LEAST, 1_000e18);
        bool full = network.operatorCount() == SEATS;
        (uint256 least, uint256 seats) = _lightest();
        bool room = keyCount() < network.maximumKeys() - 2 * network.maximumOperators();
        try this.joinAs(who, stake) {
            if (!room) violation = "a registration beyond the room for registrations";
            if (full && 10 * stake < 11 * least) violation = "a seat taken for too little";
            (uint256 leastNow, uint256 seatsNow) = _lightest();
            bool taken = seats == 1 ? leastNow > least : leastNow == least && seatsNow + 1 == seats;
            if (full && !taken) violation = "the lightest seat was not the one evicted";
            _ownerOf[++_names] = who;
            ++calls[full ? bytes32("outbid") : bytes32("register")];
        } catch {
            if (room && (!full || 10 * stake >= 11 * least)) violation = "a registration failed";
        }
    }

    function joinAs(uint256 who, uint256 stake) external returns (uint256) {
        return join(who, _names + 1, stake);
    }

    /// @dev The least stake of a seat, and how many seats hold it.
    function _lightest() private view returns (uint256 least, uint256 seats) {
        least = type(uint256).max;
        for (uint256 i = 0; i < OPERATORS; ++i) {
            uint256 stake = network.stakeOf(operator(i));
            if (stake == least) ++seats;
            if (stake != 0 && stake < least) (least, seats) = (stake, 1);
        }
    }

    function addStake(uint256 who, uint256 amount) external {
        address who_ = operator(bound(who, 0, OPERATORS - 1));
        if (network.stakeOf(who_) == 0) return;
        amount = bound(amount, 1, 100e18);
        approve(who_, amount);
        vm.prank(who_);
        network.addStake(amount);
        ++calls["addStake"];
    }

    function rotateKey(uint256 who) external {
        who = bound(who, 0, OPERATORS - 1);
        if (network.stakeOf(operator(who)) == 0) return;
        vm.warp(block.timestamp + EPOCH);
        if (keyCount() == network.maximumKeys()) return;
        rotate(who, _names + 1);
        _ownerOf[++_names] = who;
        ++calls["rotateKey"];
    }

    /// Fills the table with keys that nobody uses, so that it is due.
    function fillTable(uint256 some) external {
        uint256 due = network.maximumKeys() - 3 * network.maximumOperators();
        if (keyCount() < due) verifier.skipTo(due - some % 2);
        ++calls["fillTable"];
    }

    /// Carries the keys of some operators, whether they have seats or not.
    function carry(uint256 seed) external {
        (, uint256 keys, uint256 carried) = network.keyTable();
        bool due = carried != 0 || keys >= network.maximumKeys() - 3 * network.maximumOperators();
        address[] memory operators = new address[](6);
        for (uint256 i = 0; i < 6; ++i) {
            operators[i] = operator((seed >> 8 * i) % OPERATORS);
        }
        try network.carry(operators, new uint256[](0)) returns (uint256 count) {
            if (!due) violation = "carried before it was due";
            if (count != 0) ++calls["carry"];
        } catch {
            if (due) violation = "keys could not be carried";
        }
    }

    function requestWithdrawal(uint256 who, uint256 amount) external {
        address who_ = operator(bound(who, 0, OPERATORS - 1));
        uint256 stake = network.stakeOf(who_);
        if (stake <= LEAST) return;
        vm.prank(who_);
        network.requestWithdrawal(bound(amount, 1, stake - LEAST));
        ++calls["requestWithdrawal"];
    }

    function deregister(uint256 who) external {
        address who_ = operator(bound(who, 0, OPERATORS - 1));
        if (network.stakeOf(who_) == 0 || network.operatorCount() < 3) return;
        vm.prank(who_);
        network.deregister();
        ++calls["deregister"];
    }

    function withdraw(uint256 who, bool wait) external {
        address who_ = operator(bound(who, 0, OPERATORS - 1));
        (uint256 all, uint256 lastAt) = network.pendingOf(who_);
        (uint256 pending, uint256 payableAt) = network.firstPendingOf(who_);
        if (pending == 0) {
            if (all != 0) violation = "something waits behind nothing";
            return;
        }
        if (wait && block.timestamp < payableAt) vm.warp(payableAt);
        bool due = block.timestamp >= payableAt;
        if (block.timestamp >= lastAt) pending = all;
        uint256 before = token.balanceOf(who_);
        vm.prank(who_);
        try network.withdraw() {
            if (!due) violation = "paid before the delay was over";
            ++calls[pending == all ? bytes32("withdraw") : bytes32("withdraw a part")];
        } catch {
            if (due) violation = "a due withdrawal failed";
        }
        if (due && token.balanceOf(who_) != before + pending) violation = "paid another amount than was pending";
    }

    function fundPool(uint256 amount) external {
        fund(bound(amount, 1, 100e18));
        ++calls["fund"];
    }

    function pass(uint256 time) external {
        vm.warp(block.timestamp + bound(time, 1, EPOCH));
    }

    function snapshot() external {
        (uint256 before,,) = network.keyTable();
        try network.snapshot() returns (uint256 epoch) {
            _snapshots.push(epoch);
            ++calls["snapshot"];
            (uint256 table,,) = network.keyTable();
            if (table == before) return;
            ++calls["renewal"];
            _renewal = _snapshots.length - 1;
        } catch {}
    }

    function submitTasks(uint256 seed, uint256 mask, uint256 count) external {
        uint256 epoch = network.currentEpoch();
        if (network.snapshotOf(epoch).total == 0) {
            if (network.operatorCount() == 0) return;
            _snapshots.push(network.snapshot());
        }
        if (seed % 3 == 0 && epoch != 0 && network.snapshotOf(epoch - 1).total != 0) --epoch;
        uint256 keys = verifier.weightsOf(epoch).length;
        count = bound(count, 1, 3);
        ITaskNetwork.Task[] memory tasks = new ITaskNetwork.Task[](count);
        for (uint256 i = 0; i < count; ++i) {
            // There are few ids, so some come again.
            bytes32 id = bytes32(uint256(keccak256(abi.encode(seed, i))) % 200);
            tasks[i] = taskFor(epoch, id);
            tasks[i].approved = uint256(keccak256(abi.encode(seed))) % 4 != 0;
            if (tasks[i].approved && seed % 7 == 0) tasks[i].performer = seed % keys;
        }
        uint256 all = type(uint256).max >> (256 - keys);
        mask = mask % 4 == 0 ? all : all & ~(1 << mask % keys);
        if (mask == 0) return;
        _submit(tasks, epoch, mask);
    }

    /// Tallies one record, and one performance if one waits.
    function tallyPart(uint256 seed) external {
        if (_snapshots.length == 0) return;
        uint256 epoch = _snapshots[seed % _snapshots.length];
        bytes[] storage all = _signers[epoch];
        if (all.length == 0) return;
        if (seed % 2 == 0 && block.timestamp < network.closesAt(epoch)) vm.warp(network.closesAt(epoch));
        bytes[] memory signers = new bytes[](1);
        signers[0] = all[seed % all.length];
        bool due = network.recordOf(epoch, signers[0]).weight != 0;
        bool open = block.timestamp < network.closesAt(epoch);
        (ITaskNetwork.Task[] memory tasks, uint256 which) = _waiting(epoch, seed);
        if (tasks.length != 0 && seed % 3 == 0) signers = new bytes[](0);
        try this.tallyAs(epoch, tasks, signers) {
            if (open) violation = "tallied an open epoch";
            if (signers.length != 0 && !due) violation = "a record tallied twice";
            _finish(which, tasks.length);
            ++calls["tally"];
        } catch {
            if (!open && (due || signers.length == 0)) violation = "a due tally failed";
        }
    }

    /// Tallies a performance of any state.
    function tallyTask(uint256 which) external {
        if (_settled.length == 0) return;
        which %= _settled.length;
        Settled storage settled = _settled[which];
        bool open = block.timestamp < network.closesAt(settled.epoch);
        try this.tallyAs(settled.epoch, one(settled.task), new bytes[](0)) {
            if (!settled.performerOwed || open) violation = "a performer paid without being owed";
            _finish(which, 1);
            ++calls["tallyTask"];
        } catch {
            if (settled.performerOwed && !open) violation = "a performer owed was not tallied";
        }
    }

    function tallyAs(uint256 epoch, ITaskNetwork.Task[] memory tasks, bytes[] memory signers) external {
        tally(epoch, tasks, signers);
    }

    function claimShare(uint256 seed, uint256 index) external {
        if (_snapshots.length == 0) return;
        uint256 epoch = _snapshots[seed % _snapshots.length];
        if (_earned[epoch].length == 0) return;
        index %= _earned[epoch].length;
        uint256 due = _earned[epoch][index] - network.paidOf(epoch, index);
        ITaskNetwork.Share[] memory shares = shareOf(epoch, index);
        address owner = ownerIn(epoch, index);
        try network.claim(owner, shares) returns (uint256 paid) {
            if (due == 0 || paid != due) violation = "paid another amount than was due";
            ++calls["claim"];
        } catch {
            if (due != 0) violation = "a due share was not paid";
        }
        shares[0].amount += 1;
        try network.claim(owner, shares) {
            violation = "paid more than was earned";
        } catch {}
    }

    /// @dev A settled task of an epoch whose performer is owed; none if there is none from `seed` on.
    function _waiting(uint256 epoch, uint256 seed)
        private
        view
        returns (ITaskNetwork.Task[] memory tasks, uint256 which)
    {
        for (uint256 i = 0; i < _settled.length && i < 20; ++i) {
            which = (seed % 1_000 + i) % _settled.length;
            if (_settled[which].epoch == epoch && _settled[which].performerOwed) {
                return (one(_settled[which].task), which);
            }
        }
    }

    function _finish(uint256 which, uint256 tasks) private {
        if (tasks == 0) return;
        _settled[which].performerOwed = false;
        --unclaimedPerformances;
    }

    struct Report {
        bytes32 id;
        uint256 epoch;
        uint256 other;
        bool sameResult;
        address who;
        uint256 atStake;
        bool due;
    }

    /// Reports two tasks that a key signed, in one epoch or in two. Some differ in nothing but the performer. The key may
    /// be an old one that no table holds any more.
    function reportConflict(uint256 seed, uint256 name) external {
        if (_snapshots.length == 0 || _names == 0) return;
        name = 1 + name % _names;
        // The last epochs, so that most can still be reported.
        uint256 back = seed % 4 < _snapshots.length ? seed % 4 : 0;
        Report memory r;
        r.id = bytes32(seed % 5);
        r.epoch = _snapshots[_snapshots.length - 1 - back];
        r.other = _snapshots[_snapshots.length - 1 - (seed >> 64 & 1) * back];
        if (seed >> 200 & 1 == 1 && _renewal != 0) {
            (r.epoch, r.other) = (_snapshots[_renewal - 1], _snapshots[_renewal]);
        }
        r.sameResult = seed >> 128 & 3 == 0;
        r.who = operator(_ownerOf[name]);
        r.atStake = _atStake(r.who);
        bool open = block.timestamp < network.slashableUntil(r.epoch < r.other ? r.epoch : r.other);
        r.due = open && r.atStake != 0 && _laterOf(r) >= network.slashableFrom(r.who, r.id)
            && !(r.sameResult && r.epoch != r.other);
        (ITaskNetwork.Attestation memory first, ITaskNetwork.Attestation memory second) =
            _attestations(r.id, [r.epoch, r.other], name, r.sameResult);
        try network.reportConflict(first, second) {
            if (!r.due) violation = "slashed for no reason, twice for one id and epoch, or outside the window";
            if (_atStake(r.who) >= r.atStake) violation = "another operator was slashed";
            if (network.snapshotOf(r.epoch).table != network.snapshotOf(r.other).table) {
                ++calls["report over a renewal"];
            }
            ++calls[r.epoch == r.other ? bytes32("reportConflict") : bytes32("report over two epochs")];
        } catch {
            if (r.due) violation = "a conflict could not be reported";
        }
    }

    function _laterOf(Report memory r) private pure returns (uint256) {
        return r.epoch < r.other ? r.other : r.epoch;
    }

    function _atStake(address who) private view returns (uint256) {
        (uint256 pending,) = network.pendingOf(who);
        return network.stakeOf(who) + pending;
    }

    function liabilitiesNow() external view returns (uint256) {
        return liabilities(OPERATORS);
    }

    function _attestations(bytes32 id, uint256[2] memory epochs, uint256 name, bool sameResult)
        private
        view
        returns (ITaskNetwork.Attestation memory first, ITaskNetwork.Attestation memory second)
    {
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict(id);
        if (sameResult) (b.result, b.performer) = (a.result, 1);
        first = attested(epochs[0], a, signature(a, epochs[0], name));
        second = attested(epochs[1], b, signature(b, epochs[1], name));
    }

    /// @notice What is set aside for the signers of all records and for performers, and what was tallied and not
    /// claimed.
    function owedNow() external view returns (uint256 owed) {
        owed = unclaimedPerformances * PERFORMER;
        for (uint256 i = 0; i < _snapshots.length; ++i) {
            bytes[] storage all = _signers[_snapshots[i]];
            for (uint256 j = 0; j < all.length; ++j) {
                owed += network.recordOf(_snapshots[i], all[j]).amount;
            }
            uint256[] storage earned = _earned[_snapshots[i]];
            for (uint256 j = 0; j < earned.length; ++j) {
                owed += earned[j] - network.paidOf(_snapshots[i], j);
            }
        }
    }

    function snapshotsTaken() external view returns (uint256[] memory) {
        return _snapshots;
    }

    function _submit(ITaskNetwork.Task[] memory tasks, uint256 epoch, uint256 mask) private {
        bytes memory quorum = quorumOf(tasks, epoch, mask);
        (, uint256 owed) = network.pool();
        try network.submitTasks(epoch, tasks, quorum) {
            for (uint256 i = 0; i < tasks.length; ++i) {
                if (++_settlements[tasks[i].id] > 1) violation = "a task settled twice";
                (, uint256 after_) = network.pool();
                // The tasks are few, so either all of them were paid for or none, and the record shows which.
                _settled.push(Settled(tasks[i], epoch, false));
                if (after_ != owed && _isOwed(tasks[i], epoch)) {
                    _settled[_settled.length - 1].performerOwed = true;
                    ++unclaimedPerformances;
                }
            }
            bytes memory signers = bitmap(mask);
            if (!_seen[epoch][keccak256(signers)]) {
                _seen[epoch][keccak256(signers)] = true;
                _signers[epoch].push(signers);
            }
            ++calls["submitTasks"];
        } catch {}
    }

    /// @dev Whether a performer is owed. The lowest bit of the settlement's slot says so. The place of the mapping is
    /// found once, by trial.
    function _isOwed(ITaskNetwork.Task memory task, uint256 epoch) private view returns (bool) {
        bytes32 digest = network.taskDigest(epoch, task) | bytes32(uint256(1));
        for (uint256 slot = 0; slot < 24; ++slot) {
            bytes32 word = vm.load(address(network), keccak256(abi.encode(task.id, slot)));
            if (word | bytes32(uint256(1)) == digest) return word == digest;
        }
        revert NotTrue("no settlement found");
    }
}

/// @notice What forge asks a test contract: which functions an invariant test calls.
struct FuzzSelector {
    address addr;
    bytes4[] selectors;
}

contract TaskNetworkInvariantsTest is NetworkRig {
    NetworkHandler internal handler;

    function setUp() public override {
        super.setUp();
        handler = new NetworkHandler(network, verifier, token);
        for (uint256 i = 0; i < 4; ++i) {
            handler.register(i, (50 + i) * 1e18);
        }
        handler.fundPool(100e18);
        handler.snapshot();
    }

    function parameters() internal view override returns (ITaskNetwork.Parameters memory p) {
        p = super.parameters();
        p.maximumOperators = 4;
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(handler);
    }

    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(handler), _actions());
    }

    /// The same actions in a fixed order. So each action is reached, and succeeds.
    function test_a_long_walk_reaches_every_action() external {
        bytes4[] memory actions = _actions();
        for (uint256 i = 0; i < 2000; ++i) {
            uint256 seed = uint256(keccak256(abi.encode("walk", i)));
            // An action ignores arguments that it does not take. A bool takes one bit.
            bytes memory arguments = abi.encode(seed >> 8, uint256(keccak256(abi.encode(seed))) >> 255, seed >> 16);
            bytes4 action = actions[seed % actions.length];
            if (action != NetworkHandler.withdraw.selector) arguments = abi.encode(seed >> 8, seed >> 16, seed >> 24);
            (bool done,) = address(handler).call(abi.encodePacked(action, arguments));
            assertTrue(done, "an action reverted");
            assertEq(token.balanceOf(address(network)), handler.liabilitiesNow(), "conserved");
        }
        assertEq(bytes(handler.violation()), "", handler.violation());
        (, uint256 owed) = network.pool();
        assertEq(owed, handler.owedNow(), "owed");
        bytes32[19] memory names = [
            bytes32("register"),
            "outbid",
            "addStake",
            "rotateKey",
            "requestWithdrawal",
            "deregister",
            "withdraw",
            "withdraw a part",
            "fund",
            "snapshot",
            "submitTasks",
            "tally",
            "tallyTask",
            "claim",
            "reportConflict",
            "report over two epochs",
            "report over a renewal",
            "carry",
            "renewal"
        ];
        for (uint256 i = 0; i < names.length; ++i) {
            uint256 calls = handler.calls(names[i]);
            assertTrue(calls >= 5, string(abi.encodePacked("seldom, ", vm.toString(calls), ": ", names[i])));
        }
    }

    /// Stake, pending withdrawals, the pool and what is owed are all the tokens that there are. None is made, and none
    /// is lost.
    function invariant_tokens_are_conserved() external view {
        assertEq(token.balanceOf(address(network)), handler.liabilitiesNow(), "conserved");
    }

    function invariant_what_is_owed_is_what_records_and_performers_hold() external view {
        (, uint256 owed) = network.pool();
        assertEq(owed, handler.owedNow(), "owed");
    }

    function invariant_nothing_forbidden_happened() external view {
        assertEq(bytes(handler.violation()), "", handler.violation());
    }

    function invariant_totals_are_sums_of_pages() external view {
        uint256[] memory epochs = handler.snapshotsTaken();
        for (uint256 e = 0; e < epochs.length; ++e) {
            uint64[] memory weights = verifier.weightsOf(epochs[e]);
            uint256 sum = 0;
            for (uint256 i = 0; i < weights.length; ++i) {
                sum += weights[i];
            }
            ITaskNetwork.Snapshot memory taken = network.snapshotOf(epochs[e]);
            assertEq(sum, taken.total, "total");
            assertTrue(weights.length <= network.maximumKeys(), "a bounded table");
            assertEq(taken.required, sum * 2 / 3, "required");
        }
    }

    function _actions() private pure returns (bytes4[] memory actions) {
        actions = new bytes4[](16);
        actions[0] = NetworkHandler.register.selector;
        actions[1] = NetworkHandler.addStake.selector;
        actions[2] = NetworkHandler.rotateKey.selector;
        actions[3] = NetworkHandler.requestWithdrawal.selector;
        actions[4] = NetworkHandler.deregister.selector;
        actions[5] = NetworkHandler.withdraw.selector;
        actions[6] = NetworkHandler.fundPool.selector;
        actions[7] = NetworkHandler.pass.selector;
        actions[8] = NetworkHandler.snapshot.selector;
        actions[9] = NetworkHandler.submitTasks.selector;
        actions[10] = NetworkHandler.tallyPart.selector;
        actions[11] = NetworkHandler.tallyTask.selector;
        actions[12] = NetworkHandler.reportConflict.selector;
        actions[13] = NetworkHandler.claimShare.selector;
        actions[14] = NetworkHandler.fillTable.selector;
        actions[15] = NetworkHandler.carry.selector;
    }

    /// The index of each seat's key is the operator's, in the running table, and if keys are carried and the next snapshot
    /// would renew, in the next one, too.
    function invariant_every_seat_has_a_key_of_its_own_in_the_running_table() external view {
        (uint256 table, uint256 keys,) = network.keyTable();
        assertEq(table, verifier.running(), "the verifier's table");
        for (uint256 i = 0; i < handler.OPERATORS(); ++i) {
            if (network.stakeOf(operator(i)) == 0) continue;
            uint256 index = network.keyOf(operator(i));
            assertTrue(index < keys, "in the table");
            assertEq(network.ownerOfKey(table, index), operator(i), "its own");
        }
    }

    function invariant_every_seat_holds_the_minimum() external view {
        uint256 seats = 0;
        for (uint256 i = 0; i < handler.OPERATORS(); ++i) {
            uint256 stake = network.stakeOf(operator(i));
            assertTrue(stake == 0 || stake >= LEAST, "minimum");
            if (stake != 0) ++seats;
        }
        assertEq(seats, network.operatorCount(), "seats");
    }
}
