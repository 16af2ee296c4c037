// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Head, Heads} from "./Head.sol";
import {ISettlement} from "./interfaces/ISettlement.sol";
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
/// **What the registrar can do.** It admits keys, so it decides who the members are. It says what each member weighs
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
    uint256 public constant RENTAL = 0xfffe;

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

    /// @notice A key was admitted.
    /// @param index The key's index.
    /// @param owner The key's owner, as the registrar named it.
    event Registered(uint256 indexed index, address indexed owner);
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
    /// @notice The number of members alone does not prove the quorum's weight, and the quorum names no pages of
    /// weights.
    /// @param members How many of the signers count: those with an index that has a weight in the epoch.
    /// @param enough How many prove the weight.
    error TooFewMembers(uint256 members, uint256 enough);

    /// @dev Type of the digest that a quorum signs.
    bytes32 private constant RESULTS = keccak256(
        "Results(uint256 chainId,address settlement,uint256 epoch,uint256 nonce,uint256 deadline,uint256 store,bytes32 results)"
    );

    /// @dev Stands first in what is hashed between `begin` and `enter`. Three words are hashed then and two otherwise,
    /// so neither hash passes for the other.
    bytes32 private constant ENTERING = keccak256("quorate.settlement.entering");

    /// @dev The value of `enough` if no number of members is known to reach the required weight. No bitmap has so many
    /// bits.
    uint256 private constant NEVER = type(uint24).max;

    /// @dev Lets only the registrar call.
    modifier onlyRegistrar() {
        require(msg.sender == registrar, NotRegistrar(msg.sender));
        _;
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

    /// @notice Begins the next epoch. Nothing settles from now on until `enter`. The call does not name the head, so a
    /// settlement that is mined first cannot make it fail. Only for the registrar.
    ///
    /// It also computes `enough`, so that most quorums are only counted and no weight is read. With weights 10, 20, 30
    /// and 40 and 60 required, any 3 members are enough: the three lightest weigh 60. The contract does not sort
    /// weights. It takes a threshold as a hint: members below the threshold count with their weight, all others as if
    /// they weighed exactly the threshold. So `enough` is never too small, whatever the hint. It is the smallest
    /// possible number if the threshold is the weight at which the sum of the lightest members, from the lightest on,
    /// reaches what is required; 30 in the example.
    /// @param weights The weight of each index.
    /// @param required The weight that a quorum needs, at least 1. NOT checked: that all members together reach it.
    /// @param threshold The hint, at least 1.
    function begin(uint64[] calldata weights, uint88 required, uint64 threshold) external onlyRegistrar {
        require(required != 0, NoWeightRequired());
        uint256 epoch = terms.epoch();
        require(!waiting, EpochNotEntered(epoch));
        epoch++;
        terms = _terms(epoch, weights, required, threshold);
        waiting = true;
        state = keccak256(abi.encode(ENTERING, state, terms));
        _publish(epoch, weights);
        emit EpochBegun(epoch, terms);
    }

    /// @inheritdoc ISettlement
    function enter(Head head, bytes32 newest) external {
        require(waiting, NoEpochBegun());
        require(keccak256(abi.encode(ENTERING, _hash(head, newest), terms)) == state, NotThisState());
        waiting = false;
        head = head.enter(terms);
        state = _hash(head, newest);
        emit EpochEntered(head, newest);
    }

    /// @notice Copies a base of the ring to a pinned slot, for example the base of all members. Quorums cannot be
    /// stored in a pinned slot, so the base stays there. Only for the registrar.
    /// @param slot The pinned slot, from 1 to `pinnedSlots`.
    /// @param from The slot to copy. It cannot be slot 0, whose commitment the state hash holds and the ring does not.
    function pin(uint256 slot, uint256 from) external onlyRegistrar {
        _pin(slot, from);
    }

    /// @inheritdoc ISettlement
    function resultsDigest(uint256 epoch, uint256 nonce, uint256 deadline, uint256 store, bytes32[] calldata results)
        public
        view
        returns (bytes32 digest)
    {
        bytes32 kind = RESULTS;
        // Assembly, because every settlement runs this, and it saves 300 gas. The free memory is not kept.
        assembly ("memory-safe") {
            let to := mload(0x40)
            let length := shl(5, results.length)
            calldatacopy(to, results.offset, length)
            mstore(add(to, 0xe0), keccak256(to, length))
            mstore(to, kind)
            mstore(add(to, 0x20), chainid())
            mstore(add(to, 0x40), address())
            mstore(add(to, 0x60), epoch)
            mstore(add(to, 0x80), nonce)
            mstore(add(to, 0xa0), deadline)
            mstore(add(to, 0xc0), store)
            digest := keccak256(to, 0x100)
        }
    }

    /// @inheritdoc ISettlement
    /// @dev The signers reach the required weight in one of two ways: there are at least `enough` of them, and the
    /// quorum names no pages of weights; or their weights are added up, from the named pages and from the base if it was
    /// weighed in this epoch.
    function settle(Head head, uint64 deadline, bytes32 result, bytes calldata quorum) external {
        (Parts memory parts, bytes32 newest) = _open(quorum);
        require(_baseSlot(parts) == NEWEST, NotThisBase(_baseSlot(parts)));
        bytes32[] calldata results;
        // The word of `result` in calldata serves as an array with one element.
        assembly ("memory-safe") {
            results.offset := 0x44
            results.length := 1
        }
        uint256 nonce = head.nonce();
        (head, newest) = _settle(head, newest, deadline, results, parts);
        emit Settled(head, newest, result);
        _settled(nonce, results);
    }

    /// @inheritdoc ISettlement
    function settleAll(Head head, bytes32 newest, uint64 deadline, bytes32[] calldata results, bytes calldata quorum)
        external
    {
        require(results.length != 0, NothingToSettle());
        uint256 nonce = head.nonce();
        Parts memory parts = _openFrom(newest, quorum);
        (head, newest) = _settle(head, newest, deadline, results, parts);
        emit SettledAll(head, newest, results);
        _settled(nonce, results);
    }

    /// @notice Is called for each settlement, after the state was written and the event was emitted. So it may call
    /// other contracts, and they may settle again.
    /// @param nonce The number of the first result.
    /// @param results The results.
    function _settled(uint256 nonce, bytes32[] calldata results) internal virtual {}

    /// @dev Opens a quorum that starts from any base, and checks that base.
    function _openFrom(bytes32 newest, bytes calldata quorum) private view returns (Parts memory parts) {
        bytes32 base;
        (parts, base) = _open(quorum);
        if (_baseSlot(parts) == NEWEST) require(base == newest, NotThisBase(NEWEST));
        else _checkBase(parts, base);
    }

    /// @dev Checks deadline, state hash, the quorum's weight and its signature, stores the quorum where it asks to be
    /// stored, and writes the next state hash. The caller has checked the base.
    /// @return The head after the settlement.
    /// @return The commitment of the newest base after it.
    function _settle(Head head, bytes32 newest, uint256 deadline, bytes32[] calldata results, Parts memory parts)
        private
        returns (Head, bytes32)
    {
        require(block.timestamp <= deadline, DeadlinePassed(deadline));
        require(_hash(head, newest) == state, NotThisState());
        (uint256 epoch, uint256 weight) = _require(head, parts);
        uint256 slot = _storeSlot(parts);
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = resultsDigest(head.epoch(), head.nonce(), deadline, slot, results);
        _prove(parts, digests);
        if (slot != NONE) {
            if (slot == RENTAL) (slot, head) = _rent(head, _distance(parts));
            if (slot == NEWEST) newest = _commitment(parts, epoch, weight);
            else if (slot != NONE) _store(parts, slot, epoch, weight);
        }
        head = head.advance(results.length);
        state = _hash(head, newest);
        return (head, newest);
    }

    /// @dev Reverts unless the quorum reaches the required weight.
    /// @return epoch The epoch if the quorum was weighed; 0 if its members were only counted.
    /// @return weight The weight if the quorum was weighed; 0 if its members were only counted.
    function _require(Head head, Parts memory parts) private view returns (uint256 epoch, uint256 weight) {
        (uint256 counted, uint256 enough) = (0, head.enough());
        if (_weightPages(parts) == 0) {
            counted = _count(parts, head.members());
            // Unchecked: before the first epoch `enough` is 0, and `enough - 1` is larger than any number of members.
            unchecked {
                if (counted > enough - 1) return (0, 0);
            }
        }
        epoch = head.epoch();
        require(_weightPages(parts) != 0 || _isWeighed(parts, epoch), TooFewMembers(counted, enough));
        weight = _weigh(parts, epoch);
        require(weight >= head.required(), QuorumTooLight(weight, head.required()));
    }

    /// @dev Adds a quorum's changes to `paid`, and decides whether it is stored.
    /// @param head The head.
    /// @param changes In how many members the quorum differs from its base.
    /// @return slot The slot in which it is stored, or `NONE`.
    /// @return The head with the new `paid`.
    function _rent(Head head, uint256 changes) private view returns (uint256 slot, Head) {
        uint256 paid = head.paid() + changes;
        if (paid >= changesAStore) return (pinnedSlots + 1, head.withPaid(0));
        return (NONE, head.withPaid(paid));
    }

    /// @dev The head of a new epoch, with zeros for nonce and paid.
    function _terms(uint256 epoch, uint64[] calldata weights, uint88 required, uint256 threshold)
        private
        pure
        returns (Head)
    {
        require(threshold != 0, NoThreshold());
        (uint256 lighter, uint256 sum) = (0, 0);
        for (uint256 i = 0; i < weights.length; i++) {
            if (weights[i] < threshold) {
                lighter++;
                sum += weights[i];
            }
        }
        uint256 enough = sum >= required ? lighter : lighter + (required - sum + threshold - 1) / threshold;
        if (enough > weights.length) enough = NEVER;
        return Heads.pack(
            0, 0, SafeCast.toUint32(epoch), SafeCast.toUint24(weights.length), SafeCast.toUint24(enough), required, 0
        );
    }

    /// @dev keccak256(head ‖ newest).
    function _hash(Head head, bytes32 newest) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore(0x00, head)
            mstore(0x20, newest)
            hash := keccak256(0x00, 0x40)
        }
    }
}
