// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, Vm, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {Head, Heads} from "../src/Head.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice Registers, rotates, weighs, compacts, carries, renews, pins and settles in any order, and keeps a plain
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

    /// A page of keys.
    struct Page {
        uint256 nonce;
        uint256 first;
        uint256 last;
    }

    /// By index in the running table: the secrets, the weights of the epoch that was entered last, and those of the epoch that was begun
    /// last.
    uint256[] public keys;
    uint64[] public weights;
    uint64[] private _begun;
    uint256 private _least;
    /// The number of the running table, and of the one in the head.
    uint256 public running;
    uint256 public headTable;
    /// The secrets that were carried to the next table, and those that were left behind.
    uint256[] private _next;
    uint256[] private _left;
    /// The pages of keys of the running table and of the next one.
    Page[] private _keyPages;
    Page[] private _nextPages;
    /// The fields of the head.
    uint256 public settled;
    uint256 public epoch;
    uint256 public enough;
    uint256 public required;
    uint256 public paid;
    bool public waiting;
    /// The bases by slot. Slot 0 is the newest.
    Members.Base[SLOTS] private _bases;
    uint256[] private _weightParts;
    bytes private _weightBytes;
    uint256[] private _none;
    uint256 private _pages = 1;

    /// The hash of the head and the newest commitment that the last of the logs told.
    bytes32 public logged = keccak256(new bytes(64));

    /// Names something that must not happen, once it has happened.
    string public violation;
    mapping(bytes32 => uint256) public calls;

    constructor() {
        settlement = new ToyCurve(PINNED, CHANGES_A_STORE);
        _bases[0].slot = Members.NONE;
        for (uint256 i = 1; i < 12; i++) {
            register(i);
        }
    }

    /// @dev Registers a new key, or one that was left behind in an older table.
    function register(uint256 seed) public {
        if (keys.length == MOST_KEYS) return;
        uint256 key = bound(seed, 1, settlement.ORDER() - 1);
        bool left = _left.length != 0 && seed >> 128 & 3 == 0;
        if (left) key = _left[seed % _left.length];
        bool taken = _has(keys, key) || _has(_next, key);
        bytes memory encoded = abi.encode(key, ~key);
        bytes32[] memory digests = Members.only(settlement.possessionDigest(address(this), encoded));
        bytes memory proof = settlement.signature(digests, key);
        if (!_sent(abi.encodeCall(Settlement.register, (address(this), encoded, proof)))) {
            if (!taken) violation = "not registered";
            return;
        }
        if (taken) violation = "registered twice";
        keys.push(key);
        calls[left ? bytes32("registered again") : bytes32("register")]++;
    }

    function _has(uint256[] storage list, uint256 key) private view returns (bool) {
        for (uint256 i = 0; i < list.length; i++) {
            if (list[i] == key) return true;
        }
        return false;
    }

    /// @dev Makes a page of any range, from some of the pages that hold its keys.
    function compact(uint256 seed) public {
        if (keys.length == 0) return;
        uint256 first = bound(seed >> 8, 0, keys.length - 1);
        uint256 last = bound(seed >> 16, first + 1, keys.length);
        bool[] memory wanted = new bool[](last);
        for (uint256 i = first; i < last; i++) {
            wanted[i] = true;
        }
        (uint256[] memory nonces, Members.Passed memory passed) = _cover(wanted, seed);
        settlement.compact(first, last - first, nonces, passed.keyBytes);
        _keyPages.push(Page(++_pages, first, last));
        calls["compact"]++;
    }

    /// @dev Finds the keys of indices in pages, or passes them. An index that lies in several pages or in none, may be
    /// passed or read from any of them.
    function _cover(bool[] memory wanted, uint256 seed)
        private
        view
        returns (uint256[] memory nonces, Members.Passed memory passed)
    {
        nonces = new uint256[](wanted.length);
        (uint256 count, uint256 to, uint256 from) = (0, 0, 0);
        for (uint256 i = 0; i < wanted.length; i++) {
            if (!wanted[i] || i < to) continue;
            uint256 random = uint256(keccak256(abi.encode(seed, "cover", i)));
            bool found = false;
            for (uint256 j = 0; j < _keyPages.length && random % 5 != 0 && !found; j++) {
                Page storage page = _keyPages[(j + (random >> 8)) % _keyPages.length];
                if (page.first > i || page.last <= i || page.first < from) continue;
                (nonces[count++], to, found) = (page.nonce, page.last, true);
            }
            if (found) continue;
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, keys[i], ~keys[i]);
            from = i + 1;
        }
        assembly {
            mstore(nonces, count)
        }
    }

    /// @dev Carries some of the keys that lie in pages, and tries to carry one of them again.
    function carry(uint256 seed) public {
        bytes memory indices;
        uint256 count = 0;
        uint256[] memory carried = new uint256[](keys.length);
        for (uint256 j = 0; j < keys.length; j++) {
            uint256 i = (j + seed) % keys.length;
            if (uint256(keccak256(abi.encode(seed, "carry", i))) % 3 != 0 || _has(_next, keys[i])) continue;
            bool paged = false;
            for (uint256 k = 0; k < _keyPages.length && !paged; k++) {
                paged = _keyPages[k].first <= i && i < _keyPages[k].last;
            }
            if (!paged) continue;
            indices = abi.encodePacked(indices, uint32(i));
            carried[count++] = keys[i];
        }
        uint256[] memory nonces = new uint256[](_keyPages.length);
        for (uint256 k = 0; k < nonces.length; k++) {
            nonces[k] = _keyPages[k].nonce;
        }
        bool done = _sent(abi.encodeCall(Settlement.carry, (indices, nonces)));
        if (done != (count != 0)) violation = "carried or not";
        if (!done) return;
        if (_sent(abi.encodeCall(Settlement.carry, (indices, nonces)))) violation = "carried twice";
        _nextPages.push(Page(++_pages, _next.length, _next.length + count));
        for (uint256 i = 0; i < count; i++) {
            _next.push(carried[i]);
        }
        calls["carry"]++;
    }

    /// @dev Begins an epoch: weights for all keys, for some, or for more keys than there are; any threshold; and a
    /// required weight that is at most slightly more than all weigh. Sometimes with the next table.
    function begin(uint256 seed, uint64 threshold, uint256 least) public {
        bool renew = seed >> 10 & 3 == 0;
        uint64[] memory next = new uint64[](seed % 5 == 0 ? seed % MOST_KEYS : renew ? _next.length : keys.length);
        uint256 total = 0;
        for (uint256 i = 0; i < next.length; i++) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            next[i] = random >> 64 & 7 == 0 ? 0 : uint64(1 + random % (seed >> 8 & 1 == 0 ? 1000 : 3));
            total += next[i];
        }
        least = bound(least, 1, 1 + total + total / 50);
        threshold = seed >> 9 & 1 == 0 ? uint64(bound(threshold, 1, 1000)) : threshold;
        bytes memory packed = Members.packWeights(next);
        if (!_sent(abi.encodeCall(Settlement.begin, (threshold, packed, uint88(least), renew)))) {
            if (!waiting && threshold != 0) violation = "not begun";
            return;
        }
        if (waiting) violation = "begun before the last was entered";
        (_begun, _least) = (next, least);
        waiting = true;
        delete _weightParts;
        delete _weightBytes;
        if (seed >> 12 & 1 == 0 && next.length != 0) {
            settlement.publish(0, packed);
            _weightParts.push(++_pages);
        } else {
            _weightParts.push(1 << 31 | packed.length);
            _weightBytes = packed;
        }
        calls["begin"]++;
        if (renew) _renewed();
    }

    /// @dev The next table is the running one. Nothing but the newest base is left of the one before, until the epoch
    /// is entered.
    function _renewed() private {
        for (uint256 i = 0; i < keys.length; i++) {
            if (!_has(_next, keys[i])) _left.push(keys[i]);
        }
        keys = _next;
        delete _next;
        delete _keyPages;
        for (uint256 i = 0; i < _nextPages.length; i++) {
            _keyPages.push(_nextPages[i]);
        }
        delete _nextPages;
        running++;
        for (uint256 i = 1; i < SLOTS; i++) {
            delete _bases[i];
        }
        calls["renew"]++;
    }

    function enter(uint256 wrong) public {
        if (wrong % 3 == 0) {
            Head other = Head.wrap(Head.unwrap(head()) ^ 1 << wrong % 256);
            if (_sent(abi.encodeCall(ISettlement.enter, (other, newest())))) violation = "entered with another head";
        }
        Head kept = head();
        if (_sent(abi.encodeCall(ISettlement.enter, (kept, newest()))) != waiting) violation = "entered or not";
        if (!waiting) return;
        waiting = false;
        weights = _begun;
        Head terms = settlement.terms();
        epoch++;
        if (running != headTable) _bases[0] = Members.empty();
        headTable = running;
        if (terms.epoch() != epoch || terms.members() != weights.length || terms.table() != running) {
            violation = "terms";
        }
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
        store = _storeAt(store);
        bool forged = seed >> 8 & 15 == 0;
        bytes memory data = _build(base, store, signers, seed, count);
        if (data.length == 0) return;
        if (!_sent(data)) return _refused(base, store, signers, _isWeighed(seed), forged);
        if (_sent(data)) violation = "settled twice";
        if (forged) violation = "a false signature";
        if (waiting) violation = "settled before the epoch was entered";
        _account(base, store, signers, _isWeighed(seed), bound(count, 1, 3));
    }

    /// @dev The call that settles; empty if the sum of the keys is the identity.
    function _build(Members.Base memory base, uint256 store, bytes memory signers, uint256 seed, uint256 count)
        private
        view
        returns (bytes memory)
    {
        (uint256 key,) = sum(signers);
        if (key == 0) return "";
        if (seed >> 8 & 15 == 0) key++;
        bytes32[] memory results = _results(seed, count);
        bytes memory proof = _sign(store, results, key);
        return _call(base, results, _pack(base, store, signers, seed, proof));
    }

    function _results(uint256 seed, uint256 count) private pure returns (bytes32[] memory results) {
        results = new bytes32[](bound(count, 1, 3));
        for (uint256 i = 0; i < results.length; i++) {
            results[i] = keccak256(abi.encode(seed, i));
        }
    }

    function _isWeighed(uint256 seed) private pure returns (bool) {
        return seed >> 12 & 1 == 1;
    }

    function _sign(uint256 store, bytes32[] memory results, uint256 key) private view returns (bytes memory) {
        bytes32 digest = settlement.resultsDigest(epoch, settled, type(uint64).max, store, results);
        return settlement.signature(Members.only(digest), key);
    }

    function _call(Members.Base memory base, bytes32[] memory results, bytes memory quorum)
        private
        view
        returns (bytes memory)
    {
        return base.slot == 0 && results.length == 1
            ? abi.encodeCall(ISettlement.settle, (head(), type(uint64).max, results[0], quorum))
            : abi.encodeCall(ISettlement.settleAll, (head(), newest(), type(uint64).max, results, quorum));
    }

    /// @dev Packs a quorum with its keys from pages or passed, and with pages of weights or weights, if it is weighed.
    function _pack(Members.Base memory base, uint256 store, bytes memory signers, uint256 seed, bytes memory proof)
        private
        view
        returns (bytes memory)
    {
        bool[] memory changed = new bool[](keys.length);
        for (uint256 i = 0; i < changed.length; i++) {
            changed[i] = Members.contains(base.signers, i) != Members.contains(signers, i);
        }
        (uint256[] memory nonces, Members.Passed memory passed) = _cover(changed, seed);
        if (_isWeighed(seed)) passed.weightBytes = _weightBytes;
        return Members.pack(base, store, nonces, _isWeighed(seed) ? _weightParts : _none, passed, signers, proof);
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
        return Heads.pack(settled, headTable, epoch, weights.length, enough, required, paid);
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
        uint256 table = _aggregator.running();
        for (uint256 slot = 0; slot < _aggregator.SLOTS(); slot++) {
            Members.Base memory base = _aggregator.baseAt(slot);
            // While an epoch with the next table waits, the newest base is one of the table before.
            if (slot == 0 && table != _aggregator.headTable()) continue;
            if (slot == 0 || base.key.length == 0) {
                assertEq(settlement.commitmentAt(table << 16 | slot), bytes32(0), "an empty slot");
            } else {
                assertEq(settlement.commitmentAt(table << 16 | slot), Members.commitment(base), "a base");
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
            else if (kind == 6) _aggregator.carry(random);
            else _aggregator.settle(random, random >> 16, random >> 32, random >> 64);
        }
        bytes32[17] memory kinds = [
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
            "stored as the newest",
            "carry",
            "renew",
            "registered again"
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
