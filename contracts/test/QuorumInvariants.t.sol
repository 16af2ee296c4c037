// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {Head, Heads} from "../src/Head.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Registers, rotates, weighs, compacts, pins and settles in any order and from any base, and keeps a plain
/// account of all of it. Forge ignores a call that reverts here, so the contract notes in `violation` what must not
/// happen.
contract Aggregator is Test {
    ToyCurve public immutable settlement;
    uint256 public constant PINNED = 1;
    uint256 public constant SLOTS = 5;
    uint256 private constant CHANGES_A_STORE = 20;
    uint256 private constant RENTAL = 0xfffe;
    uint256 private constant MOST_KEYS = 60;
    bytes32 private constant ENTERING = keccak256("quorate.settlement.entering");

    /// By index: the secrets, the weights of the epoch that was entered last, and those of the epoch that was begun
    /// last.
    uint256[] public keys;
    uint64[] public weights;
    uint64[] private _begun;
    uint256 private _least;
    /// The fields of the head.
    uint256 public settled;
    uint256 public epoch;
    uint256 public enough;
    uint256 public required;
    uint256 public paid;
    bool public waiting;
    /// The bases by slot. Slot 0 is the newest.
    Members.Base[SLOTS] private _bases;
    uint256[] private _keyPages;
    uint256[] private _weightPages;
    uint256[] private _none;
    uint256 private _pages;
    uint256 private _paged;

    /// The hash of the head and the newest commitment that the last of the logs told.
    bytes32 public logged = keccak256(new bytes(64));

    /// Names something that must not happen, once it has happened.
    string public violation;
    mapping(bytes32 => uint256) public calls;

    constructor() {
        settlement = new ToyCurve(2, PINNED, CHANGES_A_STORE);
        _bases[0].slot = Members.NONE;
        for (uint256 i = 1; i < 12; i++) {
            register(i);
        }
    }

    function register(uint256 seed) public {
        if (keys.length == MOST_KEYS) return;
        uint256 key = bound(seed, 1, settlement.ORDER() - 1);
        for (uint256 i = 0; i < keys.length; i++) {
            if (keys[i] == key) return;
        }
        bytes memory encoded = abi.encode(key, ~key);
        bytes32[] memory digests = Members.only(settlement.possessionDigest(address(this), encoded));
        settlement.register(address(this), encoded, settlement.signature(digests, key));
        keys.push(key);
        calls["register"]++;
    }

    function compact(uint256 seed) public {
        uint256 tail = keys.length - _paged;
        if (tail < 2) return;
        uint256 count = bound(seed, 2, tail);
        settlement.compact(count);
        _paged += count;
        _keyPages.push(++_pages);
        calls["compact"]++;
    }

    /// @dev Begins an epoch: weights for all keys, for some, or for more keys than there are; any threshold; and a
    /// required weight that is at most slightly more than all weigh.
    function begin(uint256 seed, uint64 threshold, uint256 least) public {
        uint64[] memory next = new uint64[](seed % 5 == 0 ? seed % MOST_KEYS : keys.length);
        uint256 total = 0;
        for (uint256 i = 0; i < next.length; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            next[i] = random >> 64 & 7 == 0 ? 0 : uint64(1 + random % (seed >> 8 & 1 == 0 ? 1000 : 3));
            total += next[i];
        }
        least = bound(least, 1, 1 + total + total / 50);
        threshold = seed >> 9 & 1 == 0 ? uint64(bound(threshold, 1, 1000)) : threshold;
        try settlement.begin(next, uint88(least), threshold) {
            if (waiting) violation = "begun before the last was entered";
            (_begun, _least) = (next, least);
            waiting = true;
            delete _weightPages;
            _weightPages.push(++_pages);
            calls["begin"]++;
        } catch {
            if (!waiting && threshold != 0) violation = "not begun";
        }
    }

    function enter(uint256 wrong) public {
        if (
            wrong % 3 == 0
                && _sent(
                    abi.encodeCall(ISettlement.enter, (Head.wrap(Head.unwrap(head()) ^ 1 << wrong % 256), newest()))
                )
        ) {
            violation = "entered with another head";
        }
        Head kept = head();
        if (_sent(abi.encodeCall(ISettlement.enter, (kept, newest()))) != waiting) violation = "entered or not";
        if (!waiting) return;
        waiting = false;
        weights = _begun;
        Head terms = settlement.terms();
        epoch++;
        if (terms.epoch() != epoch || terms.members() != weights.length) violation = "terms";
        if (terms.required() != _least || terms.paid() != 0 || terms.nonce() != 0) violation = "other terms";
        (enough, required) = (terms.enough(), _least);
        calls["enter"]++;
    }

    /// @dev Settles any quorum, from any base, stored in any slot, weighed or counted, and sometimes with a false
    /// signature.
    function settle(uint256 seed, uint256 slot, uint256 store, uint256 count) public {
        Members.Base memory base = Members.empty();
        slot = bound(slot, 0, SLOTS);
        if (slot < SLOTS && _bases[slot].key.length != 0) base = _bases[slot];
        bytes memory signers = seed % 4 == 0 ? base.signers : _signers(seed);
        (uint256 key,) = sum(signers);
        if (key == 0) return;
        bytes32[] memory results = new bytes32[](bound(count, 1, 3));
        for (uint256 i = 0; i < results.length; i++) {
            results[i] = keccak256(abi.encode(seed, i));
        }
        bool forged = seed >> 8 & 15 == 0;
        bool weighed = seed >> 12 & 1 == 1;
        store = _storeAt(store);
        bytes32[] memory digests =
            Members.only(settlement.resultsDigest(epoch, settled, type(uint64).max, store, results));
        bytes memory quorum = Members.pack(
            base,
            store,
            _keyPages,
            weighed ? _weightPages : _none,
            signers,
            settlement.signature(digests, forged ? key + 1 : key)
        );
        bytes memory data = base.slot == 0 && results.length == 1
            ? abi.encodeCall(ISettlement.settle, (head(), type(uint64).max, results[0], quorum))
            : abi.encodeCall(ISettlement.settleAll, (head(), newest(), type(uint64).max, results, quorum));
        if (!_sent(data)) return _refused(base, store, signers, weighed, forged);
        if (_sent(data)) violation = "settled twice";
        if (forged) violation = "a false signature";
        if (waiting) violation = "settled before the epoch was entered";
        _account(base, store, signers, weighed, results.length);
    }

    function pin(uint256 seed) public {
        uint256 from = bound(seed, 0, SLOTS - 1);
        bool there = from != 0 && _bases[from].key.length != 0;
        if (_sent(abi.encodeCall(Settlement.pin, (1, from))) != there) violation = "pinned or not";
        if (!there) return;
        _bases[1] = _bases[from];
        _bases[1].slot = 1;
        calls["pin"]++;
    }

    function head() public view returns (Head) {
        return Heads.pack(
            uint48(settled), 0, uint32(epoch), uint24(weights.length), uint24(enough), uint88(required), uint24(paid)
        );
    }

    function newest() public view returns (bytes32) {
        return Members.commitment(_bases[0]);
    }

    /// @notice What the settlement's state must be.
    function state() external view returns (bytes32 expected) {
        expected = keccak256(abi.encode(head(), newest()));
        if (waiting) expected = keccak256(abi.encode(ENTERING, expected, settlement.terms()));
    }

    /// @notice The key and the weight of a quorum, as sums over its members.
    function sum(bytes memory signers) public view returns (uint256 key, uint256 weight) {
        for (uint256 i = 0; i < keys.length; i++) {
            if (!Members.contains(signers, i)) continue;
            key = addmod(key, keys[i], settlement.ORDER());
            weight += i < weights.length ? weights[i] : 0;
        }
    }

    function baseAt(uint256 slot) external view returns (Members.Base memory) {
        return _bases[slot];
    }

    /// @dev Also keeps what the logs tell of the state.
    function _sent(bytes memory data) private returns (bool done) {
        vm.recordLogs();
        (done,) = address(settlement).call(data);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; done && i < logs.length; i++) {
            bytes32 kind = logs[i].topics[0];
            if (
                kind == ISettlement.Settled.selector || kind == ISettlement.SettledAll.selector
                    || kind == ISettlement.EpochEntered.selector
            ) {
                bytes memory told = logs[i].data;
                assembly {
                    sstore(logged.slot, keccak256(add(told, 0x20), 0x40))
                }
            }
        }
    }

    function _storeAt(uint256 seed) private pure returns (uint256) {
        seed = bound(seed, 0, SLOTS + 3);
        if (seed < SLOTS) return seed;
        return seed < SLOTS + 2 ? RENTAL : Members.NONE;
    }

    /// @dev Whether the exact weight decides: if weights are read, or if too few members sign and their quorum was
    /// weighed before.
    function _exact(Members.Base memory base, bytes memory signers, bool weighed) private view returns (bool) {
        if (weighed) return true;
        uint256 count = 0;
        for (uint256 i = 0; i < weights.length; i++) {
            if (Members.contains(signers, i)) count++;
        }
        return count < enough && Members.same(base.signers, signers) && base.epoch != 0 && base.epoch == epoch;
    }

    /// @dev Notes a violation if a good quorum was refused.
    function _refused(Members.Base memory base, uint256 store, bytes memory signers, bool weighed, bool forged)
        private
    {
        calls["refused"]++;
        if (forged || waiting || store == 1 || epoch == 0) return;
        uint256 count = 0;
        for (uint256 i = 0; i < weights.length; i++) {
            if (Members.contains(signers, i)) count++;
        }
        (, uint256 weight) = sum(signers);
        if (_exact(base, signers, weighed) ? weight >= required : count >= enough) {
            violation = "a good quorum was refused";
        }
        calls["refused by weight"]++;
    }

    function _account(Members.Base memory base, uint256 store, bytes memory signers, bool weighed, uint256 results)
        private
    {
        (uint256 key, uint256 weight) = sum(signers);
        if (weight < required || required == 0) violation = "a quorum that is too light";
        settled += results;
        if (store == RENTAL) {
            for (uint256 i = 0; i < keys.length; i++) {
                if (Members.contains(signers, i) != Members.contains(base.signers, i)) paid++;
            }
            store = paid >= CHANGES_A_STORE ? PINNED + 1 : Members.NONE;
            if (store != Members.NONE) paid = 0;
            calls[store == Members.NONE ? bytes32("paid") : bytes32("stored by rental")]++;
        }
        calls[base.slot == 0 ? bytes32("from the newest") : bytes32("from another")]++;
        bool exact = _exact(base, signers, weighed);
        calls[exact ? bytes32("weighed") : bytes32("counted")]++;
        if (store == Members.NONE) return;
        if (store == PINNED) violation = "stored in a pinned slot";
        _bases[store] =
            Members.Base(store, exact ? uint32(epoch) : 0, exact ? uint96(weight) : 0, abi.encode(key, ~key), signers);
        calls[store == 0 ? bytes32("stored as the newest") : bytes32("stored in the ring")]++;
    }

    function _signers(uint256 seed) private view returns (bytes memory) {
        bool[] memory members = new bool[](keys.length);
        uint256 share = 1 + seed % 8;
        for (uint256 i = 0; i < keys.length; i++) {
            members[i] = uint256(keccak256(abi.encode(seed, "member", i))) % (share + 1) != 0;
        }
        return Members.bitmap(members);
    }
}

contract QuorumsInvariants is Test {
    Aggregator private _aggregator;

    function setUp() public {
        _aggregator = new Aggregator();
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(_aggregator);
    }

    /// @notice No quorum below the required weight settles, no false signature, nothing twice, and nothing between two
    /// epochs. No good quorum is refused.
    function invariant_nothingHappensThatMustNot() external view {
        assertEq(bytes(_aggregator.violation()), "", "violation");
    }

    /// @notice Whatever was registered, compacted, weighed and settled, the key of each base is the sum of its members'
    /// keys.
    function invariant_everyBaseIsTheSumOfItsMembers() external view {
        ToyCurve settlement = _aggregator.settlement();
        for (uint256 slot = 0; slot < _aggregator.SLOTS(); slot++) {
            Members.Base memory base = _aggregator.baseAt(slot);
            if (slot == 0 || base.key.length == 0) {
                assertEq(settlement.commitmentAt(slot), bytes32(0), "an empty slot");
            } else {
                assertEq(settlement.commitmentAt(slot), Members.commitment(base), "a base");
            }
            if (base.key.length == 0) continue;
            (uint256 key, uint256 weight) = _aggregator.sum(base.signers);
            assertEq(abi.decode(base.key, (uint256)), key, "the key of a base");
            if (base.epoch != 0 && base.epoch == _aggregator.epoch()) assertEq(base.weight, weight, "its weight");
        }
    }

    /// @notice The state is that of the plain account: each result is settled once, and each change is paid once.
    function invariant_theStateIsTheAccount() external view {
        assertEq(_aggregator.settlement().state(), _aggregator.state(), "state");
        assertTrue(_aggregator.settlement().waiting() == _aggregator.waiting(), "waiting");
    }

    /// @notice The logs alone tell what the state hashes; between `begin` and `enter`, what `enter` takes.
    function invariant_theLogsTellTheState() external view {
        bytes32 expected = _aggregator.logged();
        if (_aggregator.waiting()) {
            Head terms = _aggregator.settlement().terms();
            expected = keccak256(abi.encode(keccak256("quorate.settlement.entering"), expected, terms));
        }
        assertEq(_aggregator.settlement().state(), expected, "state");
    }

    /// @notice The calls that the invariants are about happen: a run of this length accepts each kind of call, for any
    /// seed.
    /// forge-config: default.fuzz.runs = 4
    function testFuzz_everythingHappens(uint256 seed) external {
        for (uint256 i = 0; i < 2000; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            uint256 kind = random % 16;
            random = uint256(keccak256(abi.encode(random)));
            if (kind == 0) _aggregator.register(random);
            else if (kind == 1) _aggregator.compact(random);
            else if (kind == 2) _aggregator.begin(random, uint64(random >> 64), random >> 128);
            else if (kind < 5) _aggregator.enter(random);
            else if (kind == 5) _aggregator.pin(random);
            else _aggregator.settle(random, random >> 16, random >> 32, random >> 64);
        }
        bytes32[14] memory kinds = [
            bytes32("register"),
            "compact",
            "begin",
            "enter",
            "pin",
            "refused",
            "refused by weight",
            "paid",
            "stored by rental",
            "from the newest",
            "from another",
            "weighed",
            "counted",
            "stored as the newest"
        ];
        for (uint256 i = 0; i < kinds.length; i++) {
            assertTrue(_aggregator.calls(kinds[i]) != 0, string(abi.encodePacked(kinds[i])));
        }
        assertTrue(_aggregator.calls("stored in the ring") != 0, "stored in the ring");
        this.invariant_nothingHappensThatMustNot();
        this.invariant_everyBaseIsTheSumOfItsMembers();
        this.invariant_theStateIsTheAccount();
        this.invariant_theLogsTellTheState();
    }
}
