// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Account} from "../src/Account.sol";
import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";
import {Members} from "./Members.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {OptimisticFixture} from "./OptimisticFixture.sol";
import {Test, vm} from "./Test.sol";

/// @notice Posts truths and lies, demands, proves, displaces, drops, finishes, leaves and lets time pass, in any order and by
/// anyone, and keeps a plain account of all of it. Forge ignores a call that reverts here, so the contract notes in
/// `violation` what must not happen.
contract OptimisticActors is OptimisticFixture {
    uint256 private constant ACTORS = 4;
    uint256 private constant MOST = 80;

    /// What the plain account knows of a posting.
    struct Known {
        bool lie;
        bool demandedEver;
        bool dropped;
        bool settled;
        bool displaced;
    }

    Kept[] private _kept;
    Known[] public known;
    /// By slot: one more than the number of the posting in it.
    uint256[SLOTS] private _in;
    /// By number: the result that was settled, and how often one was.
    mapping(uint256 nonce => uint256) public settledTimes;

    // The plain account of the money.
    mapping(address => uint256) public deposits;
    mapping(address => uint256) public credits;
    mapping(address => uint256) public open;
    uint256 public bonds;
    uint256 public burned;

    string public violation;
    mapping(bytes32 => uint256) public calls;

    /// @dev Forge calls it again as one of the handler's functions.
    function setUp() public override {
        if (address(_settlement) == address(0)) super.setUp();
    }

    constructor() {
        setUp();
        deposits[POSTER] = COVER;
        for (uint256 i = 0; i < ACTORS; i++) {
            vm.deal(actor(i), 1000 ether);
        }
    }

    function actor(uint256 seed) public pure returns (address) {
        seed %= ACTORS;
        return seed == 0 ? POSTER : seed == 1 ? CHALLENGER : seed == 2 ? PROVER : address(0xac7042);
    }

    function actors() external pure returns (uint256) {
        return ACTORS;
    }

    function settlement() external view returns (ToyCurve) {
        return _settlement;
    }

    function count() external view returns (uint256) {
        return _kept.length;
    }

    function _try(address who, uint256 value, bytes memory data) private returns (bool done) {
        vm.prank(who);
        (done,) = address(_settlement).call{value: value}(data);
    }

    function _pick(uint256 seed) private view returns (uint256) {
        // Mostly one of the postings that lie in the slots.
        uint256 there = _in[(seed >> 8) % SLOTS];
        return seed % 8 != 0 && there != 0 ? there - 1 : (seed >> 16) % _kept.length;
    }

    function post(uint256 seed) external {
        if (_kept.length == MOST) return;
        uint256 slot = (seed >> 8) % SLOTS;
        address poster = actor(seed >> 16);
        bool lie = seed % 2 == 0;
        uint256 size = 1 + (seed >> 24) % 3;
        Kept memory kept = lie ? _lie(size) : _signed(size, _range(0, N - (seed >> 32) % 3));
        IOptimisticSettlement.Status before = _statusIn(slot);
        (Account account,) = _optimistic.accountOf(poster);
        bool may = account.amount() >= COVER && uint128(Account.unwrap(account)) == 0;
        bool free = before == IOptimisticSettlement.Status.Unknown || before == IOptimisticSettlement.Status.Settled
            || before == IOptimisticSettlement.Status.Final
            || (before == IOptimisticSettlement.Status.Dropped && _over(_kept[_in[slot] - 1]));
        bool done = _try(poster, 0, _callPost(kept, slot));
        if (done != (may && free)) violation = "posted or not";
        if (!done) return;
        // What it writes over counted, or never will.
        if (before == IOptimisticSettlement.Status.Final) _counts(_in[slot] - 1);
        kept.posting = IOptimisticSettlement.Posting(
            _head,
            _deadline,
            keccak256(abi.encodePacked(kept.results)),
            size,
            keccak256(abi.encodePacked(kept.signers, kept.signature)),
            poster,
            _now(),
            slot
        );
        _head = _head.advance(size);
        _places[slot] = IOptimisticSettlement.Place(slot, _content(kept.posting), _now());
        _kept.push(kept);
        known.push(Known(lie, false, false, false, false));
        _in[slot] = _kept.length;
        calls[lie ? bytes32("lie") : bytes32("truth")]++;
    }

    function _over(Kept storage kept) private view returns (bool) {
        return block.timestamp - kept.posting.when.time() > WINDOW
            && block.number - kept.posting.when.number() > WINDOW_BLOCKS;
    }

    function _answerOver(Kept storage kept) private view returns (bool) {
        return
            block.timestamp - kept.demand.when.time() > ANSWER
                && block.number - kept.demand.when.number() > ANSWER_BLOCKS;
    }

    function _statusIn(uint256 slot) private view returns (IOptimisticSettlement.Status) {
        return _in[slot] == 0 ? IOptimisticSettlement.Status.Unknown : status(_in[slot] - 1);
    }

    /// @notice The status, as the plain account knows it.
    function status(uint256 i) public view returns (IOptimisticSettlement.Status) {
        Kept storage kept = _kept[i];
        if (_in[kept.posting.slot] != i + 1) return IOptimisticSettlement.Status.Unknown;
        if (known[i].settled || known[i].displaced) return IOptimisticSettlement.Status.Settled;
        if (known[i].dropped) return IOptimisticSettlement.Status.Dropped;
        if (kept.demand.challenger != address(0)) return IOptimisticSettlement.Status.Demanded;
        return _over(kept) ? IOptimisticSettlement.Status.Final : IOptimisticSettlement.Status.Posted;
    }

    /// @notice The status, as the contract answers.
    function found(uint256 i) external view returns (IOptimisticSettlement.Status) {
        return _optimistic.statusOf(_kept[i].posting, _kept[i].demand);
    }

    function isSettledAs(uint256 i) external view returns (bool) {
        return _optimistic.isSettledAs(_kept[i].posting, _kept[i].results);
    }

    function demand(uint256 seed) external {
        if (_kept.length == 0) return;
        uint256 i = _pick(seed);
        address who = actor(seed >> 40);
        IOptimisticSettlement.Status before = status(i);
        bool done = _try(who, BOND, _callDemand(_kept[i]));
        if (done != (before == IOptimisticSettlement.Status.Posted)) violation = "demanded or not";
        if (!done) return;
        _kept[i].demand = IOptimisticSettlement.Demand(who, _now());
        known[i].demandedEver = true;
        open[_kept[i].posting.poster]++;
        bonds += BOND;
        calls["demand"]++;
    }

    function drop(uint256 seed) external {
        if (_kept.length == 0) return;
        uint256 i = _pick(seed);
        bool may = status(i) == IOptimisticSettlement.Status.Demanded && _answerOver(_kept[i]);
        bool done = _try(actor(seed >> 40), 0, _callDrop(_kept[i]));
        if (done != may) violation = "dropped or not";
        if (!done) return;
        known[i].dropped = true;
        address challenger = _kept[i].demand.challenger;
        _close(i, challenger);
        _fine(i, challenger);
        delete _kept[i].demand;
        calls["drop"]++;
    }

    function _close(uint256 i, address to) private {
        open[_kept[i].posting.poster]--;
        bonds -= BOND;
        credits[to] += BOND;
    }

    function _fine(uint256 i, address to) private {
        deposits[_kept[i].posting.poster] -= PENALTY;
        credits[to] += PENALTY / 2;
        burned += PENALTY - PENALTY / 2;
    }

    function _counts(uint256 i) private {
        for (uint256 j = 0; j < _kept[i].posting.count; j++) {
            settledTimes[_kept[i].posting.head.nonce() + j]++;
        }
    }

    /// @notice Proves a posting with its own evidence, which works for truths alone.
    function prove(uint256 seed) external {
        if (_kept.length == 0) return;
        uint256 i = _pick(seed);
        address who = actor(seed >> 40);
        IOptimisticSettlement.Status before = status(i);
        bool inTime = before == IOptimisticSettlement.Status.Posted || before == IOptimisticSettlement.Status.Demanded
            || (before == IOptimisticSettlement.Status.Dropped && !_over(_kept[i]));
        bool done = _try(who, 0, _callProve(_kept[i]));
        if (done != (inTime && !known[i].lie)) violation = "proven or not";
        if (!done) return;
        bool late = before == IOptimisticSettlement.Status.Demanded && _answerOver(_kept[i]);
        bool exact = !late && before != IOptimisticSettlement.Status.Dropped;
        if (before == IOptimisticSettlement.Status.Demanded) _close(i, exact ? who : _kept[i].demand.challenger);
        if (late) _fine(i, who);
        exact ? known[i].settled = true : known[i].displaced = true;
        _counts(i);
        calls[exact ? bytes32("prove") : bytes32("prove late")]++;
    }

    /// @notice Displaces a posting by other results, fewer or as many. For a truth the quorum equivocates, so it is done to
    /// lies alone.
    function displace(uint256 seed) external {
        if (_kept.length == 0) return;
        uint256 i = _pick(seed);
        if (!known[i].lie) return;
        address who = actor(seed >> 40);
        uint256 size = 1 + (seed >> 48) % _kept[i].posting.count;
        IOptimisticSettlement.Status before = status(i);
        bool inTime = before == IOptimisticSettlement.Status.Posted || before == IOptimisticSettlement.Status.Demanded
            || (before == IOptimisticSettlement.Status.Dropped && !_over(_kept[i]));
        bool done = _try(who, 0, _callDisplace(_kept[i], _other(size), NONE, _range(0, N)));
        if (done != inTime) violation = "displaced or not";
        if (!done) return;
        if (before == IOptimisticSettlement.Status.Demanded) _close(i, _kept[i].demand.challenger);
        if (before != IOptimisticSettlement.Status.Dropped) _fine(i, who);
        known[i].displaced = true;
        for (uint256 j = 0; j < size; j++) {
            settledTimes[_kept[i].posting.head.nonce() + j]++;
        }
        calls["displace"]++;
    }

    function finish(uint256 seed) external {
        if (_kept.length == 0) return;
        uint256 i = _pick(seed);
        bool may = status(i) == IOptimisticSettlement.Status.Final;
        bool done = _try(actor(seed >> 40), 0, _callFinish(_kept[i]));
        if (done != may) violation = "finished or not";
        if (!done) return;
        known[i].settled = true;
        _counts(i);
        calls["finish"]++;
    }

    /// @notice Settles at once, between postings.
    function settle(uint256 seed) external {
        uint256 size = 1 + seed % 3;
        bytes32[] memory results = _results(size);
        bytes memory signers = _range(0, N);
        bytes memory quorum = _quorum(Members.empty(), NONE, signers, _signature(results, NONE, signers));
        if (!_try(actor(seed), 0, _callAll(Members.commitment(_newest), _head, results, quorum))) {
            violation = "not settled";
        }
        for (uint256 j = 0; j < size; j++) {
            settledTimes[_nonce() + j]++;
        }
        _head = _head.advance(size);
        calls["settle"]++;
    }

    function deposit(uint256 seed) external {
        address who = actor(seed);
        uint256 value = (seed >> 8) % 3 == 0 ? 0 : (seed >> 16) % 2 == 0 ? COVER : PENALTY;
        if (deposits[who] > 10 * COVER) return;
        if (!_try(who, value, abi.encodeCall(IOptimisticSettlement.deposit, ()))) violation = "no deposit";
        deposits[who] += value;
    }

    function goOrStay(uint256 seed) external {
        address who = actor(seed);
        if (seed >> 8 & 3 == 0) {
            if (!_try(who, 0, abi.encodeCall(IOptimisticSettlement.exit, ()))) violation = "no exit";
            return;
        }
        uint256 before = who.balance;
        if (!_try(who, 0, abi.encodeCall(IOptimisticSettlement.withdraw, ()))) violation = "not withdrawn";
        uint256 paid = who.balance - before;
        if (paid != credits[who]) {
            if (open[who] != 0) violation = "left while demands are open";
            for (uint256 i = 0; i < _kept.length; i++) {
                bool waits = status(i) == IOptimisticSettlement.Status.Posted;
                if (waits && _kept[i].posting.poster == who) violation = "left while a posting waits";
            }
            if (paid != credits[who] + deposits[who]) violation = "another sum";
            deposits[who] = 0;
            calls["leave"]++;
        }
        credits[who] = 0;
        calls["withdraw"]++;
    }

    function pass(uint256 seed) external {
        uint256 time = seed % 5 == 0 ? WINDOW + 1 : (seed >> 8) % (2 * uint256(ANSWER));
        uint256 blocks = seed % 5 == 0 ? WINDOW_BLOCKS + 1 : (seed >> 40) % (2 * uint256(ANSWER_BLOCKS));
        if (seed % 7 == 0) blocks = 0;
        if (seed % 11 == 0) time = 0;
        _pass(time, blocks);
    }
}

contract OptimisticInvariants is Test {
    OptimisticActors private _actors;

    function setUp() public {
        _actors = new OptimisticActors();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_actors);
    }

    function invariant_nothingHappensThatMustNot() external view {
        assertEq(bytes(_actors.violation()), "", "violation");
    }

    /// @notice The balance is what the contract owes, the bonds of open demands, and what nobody gets. Nobody loses money
    /// but by the rules.
    function invariant_theMoneyIsTheAccount() external view {
        IOptimisticSettlement s = IOptimisticSettlement(address(_actors.settlement()));
        uint256 sum = _actors.bonds() + _actors.burned();
        for (uint256 i = 0; i < _actors.actors(); i++) {
            address who = _actors.actor(i);
            (Account account, uint256 credit) = s.accountOf(who);
            assertEq(account.amount(), _actors.deposits(who), "a deposit");
            assertEq(account.demands(), _actors.open(who), "open demands");
            assertEq(credit, _actors.credits(who), "a credit");
            sum += account.amount() + credit;
        }
        assertEq(address(s).balance, sum, "the balance");
    }

    /// @notice A lie that somebody demanded in time never counts, and no number settles twice.
    function invariant_whatCountsIsTrueOrWasNotDemanded() external view {
        for (uint256 i = 0; i < _actors.count(); i++) {
            (bool lie, bool demandedEver,,, bool displaced) = _actors.known(i);
            IOptimisticSettlement.Status status = _actors.status(i);
            if (displaced) status = IOptimisticSettlement.Status.Unknown;
            assertTrue(_actors.found(i) == status, "status");
            bool counts = _actors.isSettledAs(i);
            assertTrue(!(counts && lie && demandedEver), "a lie that was demanded");
            bool settled = status == IOptimisticSettlement.Status.Settled;
            assertTrue(counts == (settled || status == IOptimisticSettlement.Status.Final), "counts");
        }
        for (uint256 nonce = 0; nonce < 400; nonce++) {
            assertTrue(_actors.settledTimes(nonce) <= 1, "settled twice");
        }
    }

    /// @notice The calls that the invariants are about happen, for any seed.
    /// forge-config: default.fuzz.runs = 4
    function testFuzz_everythingHappens(uint256 seed) external {
        for (uint256 i = 0; i < 1200; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            uint256 kind = random % 16;
            random = uint256(keccak256(abi.encode(random)));
            if (kind < 3) _actors.post(random);
            else if (kind < 5) _actors.demand(random);
            else if (kind == 5) _actors.drop(random);
            else if (kind == 6) _actors.prove(random);
            else if (kind == 7) _actors.displace(random);
            else if (kind == 8) _actors.finish(random);
            else if (kind == 9) _actors.settle(random);
            else if (kind < 12) _actors.deposit(random);
            else if (kind < 14) _actors.goOrStay(random);
            else _actors.pass(random);
        }
        bytes32[9] memory kinds =
            [bytes32("lie"), "truth", "demand", "drop", "prove", "displace", "finish", "settle", "withdraw"];
        for (uint256 i = 0; i < kinds.length; i++) {
            assertTrue(_actors.calls(kinds[i]) != 0, string(abi.encodePacked(kinds[i])));
        }
        this.invariant_nothingHappensThatMustNot();
        this.invariant_theMoneyIsTheAccount();
        this.invariant_whatCountsIsTrueOrWasNotDemanded();
    }
}

/// @notice What the scheme is safe by: many posters, of whom most lie; watchers that sleep; a chain that stands still.
contract OptimisticSimulation is OptimisticFixture {
    uint256 private constant STEPS = 120;

    Kept[] private _lies;
    bool[] private _done;
    uint256 private _final;

    /// @notice One honest, solvent watcher looks at least once in each window, and never sleeps longer than a window.
    /// Nothing false becomes final, whatever the others do.
    /// forge-config: default.fuzz.runs = 12
    function testFuzz_oneAwakeWatcher(uint256 seed) external {
        _run(seed, true);
        assertEq(_final, 0, "a lie is final");
        assertTrue(_lies.length > 5, "there were lies");
    }

    /// @notice Watchers that look now and then, and none that looks in each window.
    function test_withoutAnAwakeWatcherALieBecomesFinal() external {
        _run(7, false);
        assertTrue(_final != 0, "the lies that nobody saw");
    }

    function _run(uint256 seed, bool awake) private {
        vm.deal(POSTER, 10_000 ether);
        vm.deal(CHALLENGER, 10_000 ether);
        _acceptAs(POSTER, 1_000 ether, abi.encodeCall(IOptimisticSettlement.deposit, ()));
        uint256 slept = 0;
        for (uint256 step = 0; step < STEPS; step++) {
            uint256 random = uint256(keccak256(abi.encode(seed, step)));
            _poster(random);
            // The chain stands still at times, and its clock goes on; or blocks come at once.
            uint256 time = random >> 32 & 7 == 0 ? 3 * uint256(WINDOW) : (random >> 40) % (WINDOW / 3);
            uint256 blocks = random >> 32 & 7 == 0 ? 1 : (random >> 72) % (WINDOW_BLOCKS / 3);
            _pass(time, blocks);
            slept++;
            // The honest watcher sleeps for at most three steps, in which fewer blocks pass than a window has.
            if (awake && (slept == 3 || random >> 16 & 1 == 0)) {
                slept = 0;
                _watch();
            }
            // The others look seldom.
            if (!awake && random >> 16 & 15 == 0) _watch();
            _count();
        }
    }

    function _poster(uint256 random) private {
        uint256 slot = random % SLOTS;
        Kept memory kept = random >> 8 & 3 == 0 ? _signed(1, _range(0, N)) : _lie(1);
        vm.prank(POSTER);
        (bool done,) = address(_settlement).call(_callPost(kept, slot));
        if (!done) return;
        kept.posting = IOptimisticSettlement.Posting(
            _head,
            _deadline,
            keccak256(abi.encodePacked(kept.results)),
            1,
            keccak256(abi.encodePacked(kept.signers, kept.signature)),
            POSTER,
            _now(),
            slot
        );
        _head = _head.advance(1);
        _places[slot] = IOptimisticSettlement.Place(slot, _content(kept.posting), _now());
        if (random >> 8 & 3 == 0) return;
        _lies.push(kept);
        _done.push(false);
    }

    function _watch() private {
        for (uint256 i = 0; i < _lies.length; i++) {
            if (_done[i]) continue;
            IOptimisticSettlement.Status status = _optimistic.statusOf(_lies[i].posting, _lies[i].demand);
            if (status == IOptimisticSettlement.Status.Posted) _demand(i);
            else if (status == IOptimisticSettlement.Status.Demanded) _try(_callDrop(_lies[i]), 0);
        }
    }

    function _demand(uint256 i) private {
        if (_try(_callDemand(_lies[i]), BOND)) {
            _lies[i].demand = IOptimisticSettlement.Demand(CHALLENGER, _now());
        }
    }

    function _try(bytes memory data, uint256 value) private returns (bool done) {
        vm.prank(CHALLENGER);
        (done,) = address(_settlement).call{value: value}(data);
    }

    function _count() private {
        for (uint256 i = 0; i < _lies.length; i++) {
            if (_done[i] || !_optimistic.isSettledAs(_lies[i].posting, _lies[i].results)) continue;
            (_done[i], _final) = (true, _final + 1);
        }
    }
}
