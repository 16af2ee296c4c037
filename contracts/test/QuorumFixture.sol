// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {Members} from "./Members.sol";
import {ToyCurve} from "./mocks/ToyCurve.sol";
import {Head, Heads} from "../src/Head.sol";
import {ISettlement} from "../src/interfaces/ISettlement.sol";
import {Settlement} from "../src/Settlement.sol";

/// @notice A settlement over the toy curve, and what an aggregator keeps of it: the head and the newest base. The
/// fixture computes in plain Solidity what each settlement changes, and compares.
abstract contract QuorumFixture is Test {
    /// @dev Keys before each test. The first eight lie in a page. Quorums pass the others.
    uint256 internal constant N = 12;
    uint256 internal constant NONE = Members.NONE;
    uint256 internal constant NEWEST = Members.NEWEST;
    uint256 internal constant RENTAL = 0xfffe;
    uint256 internal constant PINNED = 1;
    uint256 internal constant CHANGES_A_STORE = 3;
    uint256 internal constant NEVER = type(uint24).max;

    ToyCurve internal _settlement;
    Head internal _head;
    /// The last second in which signatures count.
    uint64 internal _deadline = 2 ** 40;
    Members.Base internal _newest;
    /// The secrets, by index.
    uint256[] internal _secrets;
    /// The weights of the epoch that was begun last.
    uint64[] internal _weights;
    uint256[] internal _keyPages;
    uint256[] internal _weightPages;
    /// How many keys lie in pages: those with the lowest indices.
    uint256 internal _paged;
    /// Whether the weights of quorums are read.
    bool internal _weighs;
    /// Whether quorums pass weights, and do not name pages of them.
    bool internal _passes;
    uint256[] internal _none;
    /// The gas of the last accepted call.
    uint256 internal _gas;

    function setUp() public virtual {
        _deploy();
        _register(N);
        _compact(8);
        _begin(1);
    }

    function _make() internal virtual returns (ToyCurve) {
        return new ToyCurve(PINNED, CHANGES_A_STORE);
    }

    function _deploy() internal {
        _settlement = _make();
        _head = Head.wrap(0);
        _newest = Members.empty();
        delete _secrets;
        delete _weights;
        delete _keyPages;
        delete _weightPages;
        delete _paged;
    }

    // The registrar's calls.

    /// @dev The secret of each index is the index plus one.
    function _register(uint256 keys) internal {
        _settlement.fill(_secrets.length, keys);
        for (uint256 i = 0; i < keys; i++) {
            _secrets.push(_secrets.length + 1);
        }
    }

    function _registerSecret(uint256 secret) internal {
        bytes memory key = abi.encode(secret, ~secret);
        bytes32[] memory digests = Members.only(_settlement.possessionDigest(address(this), key));
        _settlement.register(address(this), key, _settlement.signature(digests, secret));
        _secrets.push(secret);
    }

    function _compact(uint256 keys) internal {
        _settlement.compact(_paged, keys, _none, _keys(_paged, _paged + keys));
        _paged += keys;
        _keyPages.push(_settlement.extent().pages);
    }

    /// @notice The keys of the indices from `from` on, before `to`.
    function _keys(uint256 from, uint256 to) internal view returns (bytes memory keys) {
        keys = new bytes(64 * (to - from));
        for (uint256 i = from; i < to; i++) {
            Members.writeToyKey(keys, i - from, _secrets[i]);
        }
    }

    /// @notice Begins an epoch in which index i weighs 100 + i.
    function _begin(uint88 required) internal {
        uint64[] memory weights = new uint64[](_secrets.length);
        for (uint256 i = 0; i < weights.length; i++) {
            weights[i] = uint64(100 + i);
        }
        _begin(weights, required, 100);
    }

    function _begin(uint64[] memory weights, uint88 required, uint64 threshold) internal {
        _beginOnly(weights, required, threshold);
        _settlement.enter(_head, Members.commitment(_newest));
        _entered();
    }

    function _beginOnly(uint64[] memory weights, uint88 required, uint64 threshold) internal {
        bytes memory packed = Members.packWeights(weights);
        _settlement.begin(threshold, packed, required, false);
        _weights = weights;
        delete _weightPages;
        for (uint256 first = 0; first < weights.length; first += 2048) {
            if (!_passes) _settlement.publish(first / 2048, Members.partOf(packed, first / 2048));
            _weightPages.push(
                _passes ? 1 << 31 | Members.partOf(packed, first / 2048).length : _settlement.extent().pages
            );
        }
    }

    /// @dev Takes over the new terms. The nonce and the paid changes stay. A new table has no newest base.
    function _entered() internal {
        if (_head.table() != _settlement.terms().table()) _newest = Members.empty();
        _head = _pack(_nonce(), _settlement.terms(), _paid());
        _assertState("entered");
    }

    function _pack(uint256 nonce, Head terms, uint256 paid) private pure returns (Head) {
        return Head.wrap(nonce << 208 | uint256(uint208(Head.unwrap(terms))) >> 24 << 24 | paid);
    }

    // The fields of the head.

    function _nonce() internal view returns (uint256) {
        return Head.unwrap(_head) >> 208;
    }

    function _epoch() internal view returns (uint256) {
        return uint32(Head.unwrap(_head) >> 160);
    }

    function _members() internal view returns (uint256) {
        return uint24(Head.unwrap(_head) >> 136);
    }

    function _enough() internal view returns (uint256) {
        return uint24(Head.unwrap(_head) >> 112);
    }

    function _required() internal view returns (uint256) {
        return uint88(Head.unwrap(_head) >> 24);
    }

    function _paid() internal view returns (uint256) {
        return uint24(Head.unwrap(_head));
    }

    function _stateOf(Head head, bytes32 newest) internal pure returns (bytes32) {
        return keccak256(abi.encode(head, newest));
    }

    function _assertState(string memory what) internal view {
        assertEq(_settlement.state(), _stateOf(_head, Members.commitment(_newest)), what);
    }

    // The aggregator's calls.

    /// @notice The members from `from` on, before `to`.
    function _range(uint256 from, uint256 to) internal pure returns (bytes memory) {
        bool[] memory members = new bool[](to);
        for (uint256 i = from; i < to; i++) {
            members[i] = true;
        }
        return Members.bitmap(members);
    }

    /// @notice The members whose bits are set in a mask. The least significant bit is index 0.
    function _masked(uint256 mask) internal pure returns (bytes memory) {
        bool[] memory members = new bool[](256);
        for (uint256 i = 0; i < 256; i++) {
            members[i] = mask >> i & 1 == 1;
        }
        return Members.bitmap(members);
    }

    /// @notice The key and the weight of a quorum, as sums over its members.
    function _sum(bytes memory signers) internal view returns (uint256 key, uint256 weight) {
        for (uint256 i = 0; i < _secrets.length; i++) {
            if (!Members.contains(signers, i)) continue;
            key = addmod(key, _secrets[i], _settlement.ORDER());
            if (i < _weights.length) weight += _weights[i];
        }
    }

    function _distance(bytes memory a, bytes memory b) internal pure returns (uint256 distance) {
        for (uint256 i = 0; i < 8 * a.length || i < 8 * b.length; i++) {
            if (Members.contains(a, i) != Members.contains(b, i)) distance++;
        }
    }

    function _results(uint256 count) internal view returns (bytes32[] memory results) {
        results = new bytes32[](count);
        for (uint256 i = 0; i < count; i++) {
            results[i] = keccak256(abi.encode(_head, i));
        }
    }

    /// @notice The digest of results, in plain Solidity.
    function _digest(uint256 epoch, uint256 nonce, uint256 deadline, uint256 store, bytes32[] memory results)
        internal
        view
        returns (bytes32)
    {
        bytes32 kind = keccak256("Order(uint256 epoch,uint256 nonce,uint256 deadline,uint256 store,bytes32 results)");
        bytes32 order = keccak256(abi.encode(kind, epoch, nonce, deadline, store, keccak256(abi.encodePacked(results))));
        kind = keccak256("Settle(uint256 chainId,address settlement,bytes32 order)");
        return keccak256(abi.encode(kind, block.chainid, address(_settlement), order));
    }

    function _signature(bytes32[] memory results, uint256 store, bytes memory signers)
        internal
        view
        returns (bytes memory)
    {
        bytes32 digest = _digest(_epoch(), _nonce(), _deadline, store, results);
        (uint256 key,) = _sum(signers);
        return _settlement.signature(Members.only(digest), key);
    }

    function _quorum(Members.Base memory base, uint256 store, bytes memory signers, bytes memory proof)
        internal
        view
        returns (bytes memory)
    {
        return Members.pack(
            base, store, _keyPages, _weighs ? _weightPages : _none, _passed(base, signers), signers, proof
        );
    }

    /// @notice What a quorum passes: the keys of changed members that lie in no page, and weights.
    function _passed(Members.Base memory base, bytes memory signers)
        internal
        view
        returns (Members.Passed memory passed)
    {
        for (uint256 i = _paged; i < _secrets.length; i++) {
            if (Members.contains(base.signers, i) == Members.contains(signers, i)) continue;
            passed.keys++;
            passed.keyBytes = abi.encodePacked(passed.keyBytes, _keys(i, i + 1));
        }
        if (_weighs && _passes) passed.weightBytes = Members.packWeights(_weights);
    }

    /// @notice The call that settles: `settle` for one result from the newest base, and `settleAll` otherwise.
    function _call(Members.Base memory base, bytes32[] memory results, bytes memory quorum)
        internal
        view
        returns (bytes memory)
    {
        if (base.slot == NEWEST && results.length == 1) {
            return abi.encodeCall(ISettlement.settle, (_head, _deadline, results[0], quorum));
        }
        return _callAll(Members.commitment(_newest), _head, results, quorum);
    }

    function _callAll(bytes32 newest, Head head, bytes32[] memory results, bytes memory quorum)
        internal
        view
        returns (bytes memory)
    {
        return abi.encodeCall(ISettlement.settleAll, (head, newest, _deadline, results, quorum));
    }

    /// @notice The same call for one result that the quorum signed.
    function _call(Members.Base memory base, uint256 store, bytes memory signers) internal view returns (bytes memory) {
        bytes32[] memory results = _results(1);
        return _call(base, results, _quorum(base, store, signers, _signature(results, store, signers)));
    }

    function _refuse(bytes memory data, bytes memory why) internal {
        (bool done, bytes memory answer) = address(_settlement).call(data);
        assertTrue(!done, "not refused");
        assertEq(answer, why, "why");
    }

    function _refuse(bytes memory data, bytes4 why) internal {
        _refuse(data, abi.encodeWithSelector(why));
    }

    function _refuse(Members.Base memory base, uint256 store, bytes memory signers, bytes memory why) internal {
        _refuse(_call(base, store, signers), why);
    }

    function _tooFew(uint256 members) internal view returns (bytes memory) {
        return abi.encodeWithSelector(Settlement.TooFewMembers.selector, members, _enough());
    }

    function _accept(bytes memory data) internal {
        (bool done, bytes memory answer) = address(_settlement).call(data);
        _gas = vm.lastCallGas().gasTotalUsed;
        assertEq(answer, "", "refused");
        assertTrue(done, "refused");
    }

    function _settle(Members.Base memory base, uint256 store, bytes memory signers)
        internal
        returns (Members.Base memory)
    {
        return _settle(base, store, signers, 1);
    }

    /// @notice Settles results that a quorum signed, and returns the base that it becomes.
    function _settle(Members.Base memory base, uint256 store, bytes memory signers, uint256 count)
        internal
        returns (Members.Base memory result)
    {
        bytes32[] memory results = _results(count);
        _accept(_call(base, results, _quorum(base, store, signers, _signature(results, store, signers))));
        return _settled(base, store, signers, count);
    }

    /// @dev Computes what a settlement changes, and compares.
    function _settled(Members.Base memory base, uint256 store, bytes memory signers, uint256 count)
        internal
        returns (Members.Base memory result)
    {
        uint256 paid = _paid();
        if (store == RENTAL) {
            paid += _distance(base.signers, signers);
            store = paid >= CHANGES_A_STORE ? PINNED + 1 : NONE;
            if (store != NONE) paid = 0;
        }
        _head = _pack(_nonce() + count, _head, paid);
        bool weighed =
            _weighs || (Members.same(base.signers, signers) && base.epoch == _epoch() && _counted(signers) < _enough());
        result = _base(store, weighed, signers);
        if (store == NEWEST) {
            _newest = result;
        } else if (store != NONE) {
            assertEq(_settlement.commitmentAt(_head.table() << 16 | store), Members.commitment(result), "stored");
        }
        _assertState("settled");
    }

    /// @dev How many signers have a weight in this epoch.
    function _counted(bytes memory signers) private view returns (uint256 count) {
        for (uint256 i = 0; i < _weights.length; i++) {
            if (Members.contains(signers, i)) count++;
        }
    }

    /// @notice A quorum as a base, weighed in this epoch or not weighed.
    function _base(uint256 slot, bool weighed, bytes memory signers) internal view returns (Members.Base memory) {
        (uint256 key, uint256 weight) = _sum(signers);
        return Members.Base(
            slot, weighed ? uint32(_epoch()) : 0, weighed ? uint96(weight) : 0, abi.encode(key, ~key), signers
        );
    }

    function _copy(Members.Base memory base) internal pure returns (Members.Base memory) {
        return Members.Base(base.slot, base.epoch, base.weight, bytes.concat(base.key), bytes.concat(base.signers));
    }
}
