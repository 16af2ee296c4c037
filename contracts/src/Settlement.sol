// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Head, Heads} from "./Head.sol";
import {ISettlement} from "./interfaces/ISettlement.sol";
import {KeyTable} from "./KeyTable.sol";
import {Orders} from "./libraries/Orders.sol";
import {Quorums} from "./Quorums.sol";

/// @title Settles, in order, results that a quorum signed
/// @notice A registrar admits members' keys and says what each member weighs in an epoch. Whoever brings a quorum's
/// signature settles the next results. Stake, rewards and slashing are not here: they are the registrar's affair, or
/// those of `TaskNetwork`.
///
/// A settlement reads and writes one storage word, the state hash. Everything else is passed with the call and checked
/// against it:
///
///     state = keccak256(head ‖ newest)
///
/// `newest` is the commitment of the newest base, the one in slot 0 (`Quorums`); it is zero until a base is stored
/// there. `Head` says what the head holds. Whoever wants to settle must know both. The last event of `ISettlement` tells
/// them.
///
/// **What the registrar can do.** It admits keys and says which of them a new key table takes over, so it decides who the
/// members are. It says what each member weighs
/// and what a quorum needs, from the next epoch on. So it can make a quorum of its own keys, which settles anything from
/// the next epoch on; and it can stop settlement, by an epoch whose required weight nobody reaches. It pins bases, which
/// changes what settlements cost and nothing else. It cannot settle without a quorum's signature, change a settled
/// result, change the weights of the running epoch, or use the signatures of an earlier epoch in another one. A
/// registrar that delays its calls, such as OpenZeppelin's `TimelockController`, gives everyone that time to leave;
/// `examples/DelayedRegistrar.sol` is one.
///
/// A consumer overrides `_settled`: `StoredResults` keeps the results, and `ForwardedResults` hands them to a contract.
///
/// NOT checked: what a result means, and whether the registrar names the right owners and weights.
abstract contract Settlement is Quorums, ISettlement {
    /// @notice The number to pass as the slot to store in, if the contract shall decide by ski rental. Each quorum that
    /// passes it adds its changed members to `paid`. Once `paid` reaches `changesAStore`, the quorum is stored in the
    /// first slot that is not pinned, and `paid` begins at zero again.
    ///
    /// Let `changesAStore` be the number of changes that cost as much as a store. Then stores never cost more than the
    /// changes that were paid. Suppose that quorums drift, so that a later base is never farther from the next quorum
    /// than an earlier one. Then stores and changes together cost at most twice what the best choice in hindsight
    /// costs, and one difference more for each store. There is no such bound for every sequence: a stray quorum that
    /// comes when a store is due is stored, and all quorums until the next store pay for it.
    uint256 internal constant RENTAL = 0xfffe;

    /// @notice How many changes have to be paid before a quorum is stored with `RENTAL`.
    uint256 public immutable changesAStore;
    /// @notice The only address that may admit keys, begin epochs and pin bases.
    address public immutable registrar;

    /// @inheritdoc ISettlement
    /// @dev Between `begin` and `enter` it is keccak256(ENTERING ‖ the state hash before ‖ terms).
    bytes32 public state = keccak256(abi.encode(uint256(0), bytes32(0)));

    /// @inheritdoc ISettlement
    Head public terms;

    /// @inheritdoc ISettlement
    bool public waiting;

    /// @dev What was prepared of the next epoch; 0 if nothing was. From bit 136 on the threshold, which is never zero;
    /// 24 bits from bit 112 on: the number of weights; 24 bits from bit 88 on: how many of them are below the
    /// threshold; 88 bits: the sum of those.
    uint256 private _prepared;

    /// @notice A key was admitted.
    /// @param index The key's index in the running table.
    /// @param owner The key's owner, as the registrar named it.
    event Registered(uint256 indexed index, address indexed owner);
    /// @notice Weights of the next epoch were prepared. They are in the calldata of the transaction.
    /// @param members How many weights were prepared before. With none, the preparation begins anew: what was prepared and
    /// discarded does not count.
    /// @param length The bytes of these weights, 8 for each.
    event WeightsPrepared(uint256 members, uint256 length);
    /// @notice An epoch was begun.
    /// @param epoch The epoch.
    /// @param terms Its head, with zeros for nonce and paid.
    event EpochBegun(uint256 indexed epoch, Head terms);

    /// @notice Only the registrar may call this.
    /// @param sender Who called.
    error NotRegistrar(address sender);
    /// @notice `settleAll` was called without results.
    error NothingToSettle();
    /// @notice `begin` was called with a required weight of zero.
    error NoWeightRequired();
    /// @notice `begin` was called with a threshold of zero.
    error NoThreshold();
    /// @notice The signatures do not count any more.
    /// @param deadline The last second in which they counted.
    error DeadlinePassed(uint256 deadline);
    /// @notice The next epoch was prepared with another threshold. `discard` forgets what was prepared.
    /// @param threshold That threshold.
    error AnotherThreshold(uint256 threshold);
    /// @notice The weights are not a multiple of 8 bytes long; or, in `prepare`, they are not whole parts. Or there are
    /// 2^24 or more.
    /// @param length Their bytes.
    error WeightsLength(uint256 length);
    /// @notice The head and the newest commitment that were passed do not hash to `state`. For example, a result was
    /// settled in the meantime, or an epoch was begun and has to be entered first.
    error NotThisState();
    /// @notice The last epoch has to be entered before the next one begins.
    /// @param epoch The last epoch.
    error EpochNotEntered(uint256 epoch);
    /// @notice No epoch waits to be entered.
    error NoEpochBegun();
    /// @notice The quorum weighs less than is required.
    /// @param weight The quorum's weight.
    /// @param required The weight that it needs.
    error QuorumTooLight(uint256 weight, uint256 required);
    /// @notice The number of members alone does not prove the quorum's weight, and the quorum names no
    /// weights.
    /// @param members How many of the signers count: those with an index that has a weight in the epoch.
    /// @param enough How many prove the weight.
    error TooFewMembers(uint256 members, uint256 enough);

    /// @dev Type of what a quorum orders: everything that it signs but the chain and the contract.
    bytes32 private constant ORDER =
        keccak256("Order(uint256 epoch,uint256 nonce,uint256 deadline,uint256 store,bytes32 results)");

    /// @dev Stands first in what is hashed between `begin` and `enter`. Three words are hashed then and two otherwise,
    /// so neither hash passes for the other.
    bytes32 private constant ENTERING = keccak256("quorate.settlement.entering");

    /// @dev The value of `enough` if no number of members is known to reach the required weight. No bitmap has so many
    /// bits.
    uint256 private constant NEVER = type(uint24).max;

    /// @dev Lets only the registrar call.
    modifier onlyRegistrar() {
        _onlyRegistrar();
        _;
    }

    /// @dev What the modifier does, once in the code.
    function _onlyRegistrar() private view {
        require(msg.sender == registrar, NotRegistrar(msg.sender));
    }

    /// @param registrar_ The registrar, which cannot be changed.
    /// @param changesAStore_ How many changes have to be paid before a quorum is stored with `RENTAL`; below 2^24.
    constructor(address registrar_, uint256 changesAStore_) {
        registrar = registrar_;
        // `paid` stays below this number, and has 24 bits.
        changesAStore = SafeCast.toUint24(changesAStore_);
    }

    /// @notice Admits a key. An owner who rotates registers again and keeps both indices; the weights of the next epoch
    /// say which of them counts. Only for the registrar.
    /// @param owner The key's owner, whom the proof names.
    /// @param key The key, in the format of the curve.
    /// @param proof The proof of possession: a signature over `possessionDigest(owner, key)`, and the curve's hints.
    /// @return index The key's index.
    function register(address owner, bytes calldata key, bytes calldata proof)
        external
        onlyRegistrar
        returns (uint256 index)
    {
        index = _admit(owner, key, proof);
        emit Registered(index, owner);
    }

    /// @notice Carries keys to the next table, for an epoch that begins with `renew`. They keep their indices in the
    /// running table, and settle there, until then. Only for the registrar.
    /// @param indices Their indices in the running table, 4 bytes each, in any order. The keys get the next free indices
    /// of the next table in this order. Each key is carried once.
    /// @param nonces Pages of the running table that hold the keys. `compact` makes such pages.
    function carry(bytes calldata indices, uint256[] calldata nonces) external onlyRegistrar {
        _carry(indices, nonces);
    }

    /// @notice Prepares the next epoch with its first weights, or with those that follow, if they do not fit into one
    /// transaction with `begin`. Results settle meanwhile. Each weight costs about 60 gas, and its calldata. Only for
    /// the registrar.
    /// @param threshold The hint that `begin` explains, at least 1. It is the same in all calls for an epoch.
    /// @param weights The weights of the next indices, 8 bytes each, in whole parts of 2,048.
    function prepare(uint64 threshold, bytes calldata weights) external onlyRegistrar {
        (uint256 before, bytes32 topic) = (_prepared, WeightsPrepared.selector);
        (uint256 part, uint32 selector) = (8 * PART, uint32(WeightsLength.selector));
        // Assembly, here and below, because `require` and `emit` take 50 bytes more, for which the largest settlement has
        // no room.
        assembly ("memory-safe") {
            if mod(weights.length, part) {
                mstore(0x00, selector)
                mstore(0x20, weights.length)
                revert(0x1c, 0x24)
            }
        }
        _prepared = _prepare(threshold, weights);
        assembly ("memory-safe") {
            mstore(0x00, and(shr(112, before), 0xffffff))
            mstore(0x20, weights.length)
            log1(0x00, 0x40, topic)
        }
    }

    /// @notice Forgets what was prepared of the next epoch. Only for the registrar.
    function discard() external onlyRegistrar {
        _prepared = 0;
    }

    /// @notice Begins the next epoch. Nothing settles from now on until `enter`. The call does not name the head, so a
    /// settlement that is mined first cannot make it fail. Only for the registrar.
    ///
    /// It also computes `enough`, so that most quorums are only counted and no weight is read. With weights 10, 20, 30
    /// and 40 and 60 required, any 3 members are enough: the three lightest weigh 60. The contract does not sort
    /// weights. It takes a threshold as a hint: members below the threshold count with their weight, all others as if
    /// they weighed exactly the threshold. So `enough` is never too small, whatever the hint. It is the smallest
    /// possible number if the threshold is the weight at which the sum of the lightest members, from the lightest on,
    /// reaches what is required; 30 in the example.
    /// @param threshold The hint, at least 1.
    /// @param weights The weights of the indices that were not prepared, 8 bytes each. May be empty.
    /// @param required The weight that a quorum needs, at least 1. NOT checked: that all members together reach it.
    /// @param renew Whether the epoch uses the next key table. Its indices are those of the carried keys, and the ring
    /// is empty.
    function begin(uint64 threshold, bytes calldata weights, uint88 required, bool renew) external onlyRegistrar {
        require(required != 0, NoWeightRequired());
        Head head = terms;
        (uint16 table, uint256 epoch) = (uint16(head.table()), head.epoch());
        require(!waiting, EpochNotEntered(epoch));
        uint256 all = _prepare(threshold, weights);
        _prepared = 0;
        if (renew) {
            // Reverts after table 65,535.
            table++;
            _renew();
        }
        head = Heads.pack(0, table, epoch + 1, uint24(all >> 112), _enough(all, required), required, 0);
        terms = head;
        waiting = true;
        state = _entering(state, head);
        emit EpochBegun(epoch + 1, head);
    }

    /// @notice Makes a page of a part of the running epoch's weights, so that quorums name the page and do not pass the
    /// weights. Anyone may call it.
    /// @param part The part: part p holds the weights of the indices from 2,048·p on.
    /// @param weights The part's weights, as they were passed to `prepare` or `begin`.
    function publish(uint256 part, bytes calldata weights) external {
        Head head = terms;
        // What was discarded of the epoch may have left hashes of later parts.
        require(part * PART < head.members(), NotTheseWeights(head.epoch(), part));
        _publishPart(head.epoch(), part, weights);
    }

    /// @inheritdoc ISettlement
    function enter(Head head, bytes32 newest) external {
        require(waiting, NoEpochBegun());
        Head begun = terms;
        _checkState(_entering(_hash(head, newest), begun));
        waiting = false;
        // The bases of a table do not serve in the next one.
        if (head.table() != begun.table()) newest = 0;
        head = head.enter(begun);
        state = _hash(head, newest);
        emit EpochEntered(head, newest);
    }

    /// @notice Copies a base of the ring to a pinned slot, for example the base of all members. Quorums cannot be
    /// stored in a pinned slot, so the base stays there. Only for the registrar.
    /// @param slot The pinned slot, from 1 to `pinnedSlots`.
    /// @param from The slot to copy. It cannot be slot 0, whose commitment the state hash holds and the ring does not.
    function pin(uint256 slot, uint256 from) external onlyRegistrar {
        _pin(_table(), slot, from);
    }

    /// @inheritdoc ISettlement
    function resultsDigest(uint256 epoch, uint256 nonce, uint256 deadline, uint256 store, bytes32[] calldata results)
        external
        view
        returns (bytes32)
    {
        return Orders.digest(address(this), _order(epoch, nonce, deadline, store, results));
    }

    /// @notice The hash of what a quorum orders.
    /// @dev Assembly, because every settlement runs this, and it saves 300 gas. The free memory is not kept.
    /// @param epoch The epoch in which the results are settled.
    /// @param nonce The number of the first result.
    /// @param deadline The last second in which the signature counts.
    /// @param store The slot in which the quorum is stored.
    /// @param results The results, in order.
    /// @return order The hash.
    function _order(uint256 epoch, uint256 nonce, uint256 deadline, uint256 store, bytes32[] calldata results)
        internal
        pure
        returns (bytes32 order)
    {
        bytes32 kind = ORDER;
        assembly ("memory-safe") {
            let to := mload(0x40)
            let length := shl(5, results.length)
            calldatacopy(to, results.offset, length)
            mstore(add(to, 0xa0), keccak256(to, length))
            mstore(to, kind)
            mstore(add(to, 0x20), epoch)
            mstore(add(to, 0x40), nonce)
            mstore(add(to, 0x60), deadline)
            mstore(add(to, 0x80), store)
            order := keccak256(to, 0xc0)
        }
    }

    /// @inheritdoc ISettlement
    /// @dev The signers reach the required weight in one of two ways: there are at least `enough` of them, and the
    /// quorum names no weights; or their weights are added up, from what it names and from the base if it was weighed in
    /// this epoch.
    function settle(Head head, uint64 deadline, bytes32 result, bytes calldata quorum) external {
        (Parts memory parts, bytes32 newest) = _open(quorum);
        parts.table = head.table();
        if (_baseSlot(parts) != NEWEST) _notThisBase(_baseSlot(parts));
        _checkState(_hash(head, newest));
        bytes32[] calldata results;
        // The word of `result` in calldata serves as an array with one element.
        assembly ("memory-safe") {
            results.offset := 0x44
            results.length := 1
        }
        uint256 nonce = head.nonce();
        bytes32 order;
        (head, newest, order) = _settle(head, newest, deadline, results, parts);
        _checkOrder(order, _keyOf(parts.result), _proofOf(parts));
        emit Settled(head, newest, result);
        _settled(nonce, results);
    }

    /// @inheritdoc ISettlement
    function settleAll(Head head, bytes32 newest, uint64 deadline, bytes32[] calldata results, bytes calldata quorum)
        external
    {
        (bytes32 order, uint256 key, bytes calldata signature) = _settleAll(head, newest, deadline, results, quorum);
        _checkOrder(order, key, signature);
        _settled(head.nonce(), results);
    }

    /// @notice Settles results but for the signature: the caller has to check it, and then to call `_settled`. Writes the
    /// state and emits the event.
    /// @return order The hash of what the quorum orders.
    /// @return key Where in memory its key lies.
    /// @return signature The rest of its proof.
    function _settleAll(Head head, bytes32 newest, uint256 deadline, bytes32[] calldata results, bytes calldata quorum)
        internal
        returns (bytes32 order, uint256 key, bytes calldata signature)
    {
        require(results.length != 0, NothingToSettle());
        _checkState(_hash(head, newest));
        (Parts memory parts, bytes32 base) = _open(quorum);
        parts.table = head.table();
        if (_baseSlot(parts) != NEWEST) _checkBase(parts, base);
        else if (base != newest) _notThisBase(NEWEST);
        (head, newest, order) = _settle(head, newest, deadline, results, parts);
        emit SettledAll(head, newest, results);
        return (order, _keyOf(parts.result), _proofOf(parts));
    }

    /// @notice Is called for each settlement, after the state was written and the event was emitted. So it may call
    /// other contracts, and they may settle again.
    /// @param nonce The number of the first result.
    /// @param results The results.
    function _settled(uint256 nonce, bytes32[] calldata results) internal virtual {}

    /// @dev Checks the deadline and the quorum's weight, computes its key, stores the quorum where it asks to be stored, and
    /// writes the next state hash. The caller has checked the state hash and the base, and has to check the signature.
    /// @return The head after the settlement.
    /// @return The commitment of the newest base after it.
    /// @return order The hash of what the quorum orders.
    function _settle(Head head, bytes32 newest, uint256 deadline, bytes32[] calldata results, Parts memory parts)
        private
        returns (Head, bytes32, bytes32 order)
    {
        require(block.timestamp <= deadline, DeadlinePassed(deadline));
        uint256 slot = _storeSlot(parts);
        order = _order(head.epoch(), head.nonce(), deadline, slot, results);
        (uint256 epoch, uint256 weight) = _require(head, parts);
        _complete(parts);
        if (slot != NONE) {
            if (slot == RENTAL) (slot, head) = _rent(head, _distance(parts));
            if (slot == NEWEST) newest = _commitment(parts, epoch, weight);
            else if (slot != NONE) _store(parts, slot, epoch, weight);
        }
        head = head.advance(results.length);
        state = _hash(head, newest);
        return (head, newest, order);
    }

    /// @dev Reverts unless the quorum with this key signed the order.
    function _checkOrder(bytes32 order, uint256 key, bytes calldata signature) internal view {
        _check(_only(Orders.digest(address(this), order)), key, signature);
    }

    /// @dev Reverts unless the quorum reaches the required weight.
    /// @return epoch The epoch if the quorum was weighed; 0 if its members were only counted.
    /// @return weight The weight if the quorum was weighed; 0 if its members were only counted.
    function _require(Head head, Parts memory parts) internal view returns (uint256 epoch, uint256 weight) {
        (uint256 counted, uint256 enough) = (0, head.enough());
        if (_weightParts(parts) == 0) {
            counted = _count(parts, head.members());
            // Unchecked: before the first epoch `enough` is 0, and `enough - 1` is larger than any number of members.
            unchecked {
                if (counted > enough - 1) return (0, 0);
            }
        }
        epoch = head.epoch();
        require(_weightParts(parts) != 0 || _isWeighed(parts, epoch), TooFewMembers(counted, enough));
        weight = _weigh(parts, epoch, head.members());
        // Before the first epoch nothing is required, and nobody has a weight.
        require(weight != 0 && weight >= head.required(), QuorumTooLight(weight, head.required()));
    }

    /// @dev Adds a quorum's changes to `paid`, and decides whether it is stored.
    /// @param head The head.
    /// @param changes In how many members the quorum differs from its base.
    /// @return slot The slot in which it is stored, or `NONE`.
    /// @return The head with the new `paid`.
    function _rent(Head head, uint256 changes) private view returns (uint256 slot, Head) {
        // Unchecked: numbers below 2^24, and a slot below `RENTAL`, because at most `MOST_PINNED` slots are pinned.
        unchecked {
            uint256 paid = head.paid() + changes;
            if (paid >= changesAStore) return (pinnedSlots + 1, head.withPaid(0));
            return (NONE, head.withPaid(paid));
        }
    }

    /// @inheritdoc KeyTable
    function _table() internal view override returns (uint256) {
        return terms.table();
    }

    /// @dev Stores the hashes of the next weights of the next epoch, and adds the weights to what was prepared.
    /// @return What is prepared with them, as `_prepared` keeps it.
    function _prepare(uint64 threshold, bytes calldata weights) private returns (uint256) {
        uint256 before = _prepared;
        (uint256 members, uint256 lighter, uint256 sum) = (uint24(before >> 112), uint24(before >> 88), uint88(before));
        require(threshold != 0, NoThreshold());
        require(before == 0 || before >> 136 == threshold, AnotherThreshold(before >> 136));
        // Unchecked: calldata is shorter than 2^32 bytes. Fewer than 2^24 weights of 64 bits add up to less than 2^88.
        unchecked {
            _commitWeights(terms.epoch() + 1, members / PART, weights);
            members += weights.length / 8;
            require(weights.length % 8 == 0 && members <= type(uint24).max, WeightsLength(weights.length));
        }
        // Assembly, because it costs a quarter of what indexing costs.
        assembly ("memory-safe") {
            let next := weights.offset
            for { let end := add(next, weights.length) } lt(next, end) { next := add(next, 8) } {
                let weight := shr(192, calldataload(next))
                let below := lt(weight, threshold)
                lighter := add(lighter, below)
                sum := add(sum, mul(weight, below))
            }
        }
        return uint256(threshold) << 136 | members << 112 | lighter << 88 | sum;
    }

    /// @dev The smallest n that the threshold proves to be enough; `NEVER` if it proves none.
    /// @param all All weights, as `_prepared` keeps them.
    /// @param required The weight that a quorum needs.
    function _enough(uint256 all, uint256 required) private pure returns (uint256 enough) {
        (uint256 threshold, uint256 sum) = (all >> 136, uint88(all));
        // Unchecked: sums of numbers below 2^89.
        unchecked {
            enough = uint24(all >> 88);
            if (sum < required) enough += (required - sum + threshold - 1) / threshold;
        }
        if (enough > uint24(all >> 112)) enough = NEVER;
    }

    /// @dev Reverts unless this is the state hash.
    function _checkState(bytes32 hash) internal view {
        require(hash == state, NotThisState());
    }

    /// @dev keccak256(ENTERING ‖ state ‖ terms).
    function _entering(bytes32 before, Head begun) private pure returns (bytes32) {
        return keccak256(abi.encode(ENTERING, before, begun));
    }

    /// @dev keccak256(head ‖ newest).
    function _hash(Head head, bytes32 newest) internal pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore(0x00, head)
            mstore(0x20, newest)
            hash := keccak256(0x00, 0x40)
        }
    }
}
