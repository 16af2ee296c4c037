// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Quorums} from "./Quorums.sol";

/// @title Results that a quorum signed, settled in order
/// @notice The least that a network needs: a registrar admits keys and says what they weigh, and whoever brings a quorum's
/// signature settles the next results. Stake, rewards and slashing are the business of the registrar, or of `TaskNetwork`.
///
/// All that a settlement reads and changes is one word, which commits to the rest; whoever settles shows what it was made of:
///
///     state = keccak256(head ‖ newest)
///
/// `newest` is the commitment of the base in slot 0, zero before the first. The head packs, from its most significant bit:
///
///     64  nonce: results that were settled; the number of the next
///     32  epoch
///     24  members: indices that were weighed in the epoch, the first ones
///     24  enough: any so many of these members weigh what is required, at least
///     88  required: the weight that a quorum needs
///     24  paid: members that were added and taken away since the last store by rental
///
/// So what the calls of `settle`, `settleAll` and `enter` were given is needed to make the next; the logs say which they were.
abstract contract Settlement is Quorums {
    /// @notice A slot to store in that means: in the first slot of the ring which is not pinned, once the changes paid since the
    /// last such store reach `changesAStore` (ski rental). What is spent on stores is never more than what is paid for changes, and
    /// where quorums drift, so that a later base is never farther, all of it is at most twice the optimum and one difference a
    /// store. There is no such bound on any sequence: a stray quorum that comes when a store is due is paid for until the next.
    uint256 public constant RENTAL = 0xfffe;

    uint256 public immutable changesAStore;
    address public immutable registrar;

    /// @notice The commitment to all of it. After `begin` it is folded with the new epoch's terms until `enter`.
    bytes32 public state = keccak256(abi.encode(uint256(0), bytes32(0)));

    /// @notice The head of the last epoch that was begun, but for nonce and paid, which are zero.
    uint256 public terms;

    /// @notice Whether the last epoch was begun and not yet entered.
    bool public waiting;

    event Registered(uint256 indexed index, address indexed owner);
    event EpochBegun(uint256 indexed epoch, uint256 terms);
    /// @notice The result of number `nonce`.
    event Settled(uint256 nonce, bytes32 result);
    /// @notice The results from number `nonce` on.
    event SettledAll(uint256 nonce, bytes32[] results);

    error NotRegistrar(address sender);
    error NothingToSettle();
    error NoWeightRequired();
    error NoThreshold();
    /// @notice The head and the newest commitment that were shown are not those of the state: a result was settled since, or
    /// an epoch has begun that has to be entered.
    error NotThisState();
    error EpochNotEntered(uint256 epoch);
    error NoEpochBegun();
    error QuorumTooLight(uint256 weight, uint256 required);
    /// @notice Too few to be sure of their weight without pages of weights.
    error TooFewMembers(uint256 members, uint256 enough);

    bytes32 private constant RESULT =
        keccak256("Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)");

    /// @dev A third word, so that no folded state is that of any head.
    bytes32 private constant ENTERING = keccak256("quorate.settlement.entering");

    /// @dev `enough` where no number of members is.
    uint256 private constant NEVER = type(uint24).max;

    modifier onlyRegistrar() {
        require(msg.sender == registrar, NotRegistrar(msg.sender));
        _;
    }

    constructor(address registrar_, uint256 changesAStore_) {
        registrar = registrar_;
        // What is paid stays below it, and has 24 bits.
        changesAStore = SafeCast.toUint24(changesAStore_);
    }

    /// @notice Admits an owner's key, with its proof of possession. An owner who rotates registers again and keeps both
    /// indices; the next weights say which of them counts.
    function register(address owner, bytes calldata key, bytes calldata proof)
        external
        onlyRegistrar
        returns (uint256 index)
    {
        index = _admit(owner, key, proof);
        emit Registered(index, owner);
    }

    /// @notice Begins the next epoch, with a weight for every index. From now on nothing settles until it is entered. It needs
    /// no head, which another settlement may outdate while this waits to be mined.
    /// @param threshold A hint, at least 1, which bounds how many members are always enough: so many members weigh the least if
    /// they are those below the threshold, each with its weight, and others with the threshold itself. Sharp where it is the
    /// weight at which the sum of the lightest reaches what is required.
    function begin(uint64[] calldata weights, uint88 required, uint64 threshold) external onlyRegistrar {
        require(required != 0, NoWeightRequired());
        uint32 epoch = uint32(terms >> 160);
        require(!waiting, EpochNotEntered(epoch));
        epoch++;
        terms = _terms(epoch, weights, required, threshold);
        waiting = true;
        state = keccak256(abi.encode(ENTERING, state, terms));
        _publish(epoch, weights);
        emit EpochBegun(epoch, terms);
    }

    /// @notice Enters the epoch that was begun. Anyone may; the head and the newest commitment are those before it.
    function enter(uint256 head, bytes32 newest) external {
        require(waiting, NoEpochBegun());
        require(keccak256(abi.encode(ENTERING, _hash(head, newest), terms)) == state, NotThisState());
        waiting = false;
        uint256 kept = uint256(type(uint64).max) << 192 | type(uint24).max;
        state = _hash(head & kept | terms, newest);
    }

    /// @notice Copies a base of the ring, the full set say, to a slot that no aggregator can store in.
    function pin(uint256 slot, uint256 from) external onlyRegistrar {
        _pin(slot, from);
    }

    /// @notice What a quorum signs.
    function resultDigest(uint256 nonce, bytes32 result) public view returns (bytes32) {
        return keccak256(abi.encode(RESULT, block.chainid, address(this), nonce, result));
    }

    /// @notice Settles the next result, which a quorum signed, from the newest base. The quorum is as `Quorums` says, and the slot
    /// of its base 0. It weighs what is required if it has enough members; or its weight is read, where pages of weights are
    /// named or its base has it.
    function settle(uint256 head, bytes32 result, bytes calldata quorum) external {
        (Parts memory parts, bytes32 newest) = _open(quorum);
        require(_baseSlot(parts) == NEWEST, NotThisBase(_baseSlot(parts)));
        bytes32[] calldata results;
        // An argument of 32 bytes is an array of one where it lies.
        assembly ("memory-safe") {
            results.offset := 0x24
            results.length := 1
        }
        _settle(head, newest, results, parts);
        emit Settled(head >> 192, result);
    }

    /// @notice `settle` of the next results, each of which one quorum signed: one verification for all; and from any base, or the
    /// empty quorum.
    function settleAll(bytes32 newest, uint256 head, bytes32[] calldata results, bytes calldata quorum) external {
        require(results.length != 0, NothingToSettle());
        (Parts memory parts, bytes32 base) = _open(quorum);
        if (_baseSlot(parts) == NEWEST) require(base == newest, NotThisBase(NEWEST));
        else _checkBase(parts, base);
        _settle(head, newest, results, parts);
        emit SettledAll(head >> 192, results);
    }

    function _settle(uint256 head, bytes32 newest, bytes32[] calldata results, Parts memory parts) private {
        require(_hash(head, newest) == state, NotThisState());
        (uint256 epoch, uint256 weight) = _require(head, parts);
        _prove(parts, _digests(head >> 192, results));
        uint256 slot = _storeSlot(parts);
        if (slot != NONE) {
            if (slot == RENTAL) (slot, head) = _rent(head, _distance(parts));
            if (slot == NEWEST) newest = _commitment(parts, epoch, weight);
            else if (slot != NONE) _store(parts, slot, epoch, weight);
        }
        // Unchecked: nonces below 2^64.
        unchecked {
            state = _hash(head + (results.length << 192), newest);
        }
    }

    /// @dev Reverts unless the quorum weighs enough, and answers with what is known of its weight: the epoch and the weight, or
    /// twice 0.
    function _require(uint256 head, Parts memory parts) private view returns (uint256 epoch, uint256 weight) {
        (uint256 counted, uint256 enough) = (0, uint24(head >> 112));
        if (_weightPages(parts) == 0) {
            counted = _count(parts, uint24(head >> 136));
            // Unchecked: before the first epoch `enough` is 0, and no number is larger than 0 - 1.
            unchecked {
                if (counted > enough - 1) return (0, 0);
            }
        }
        epoch = uint32(head >> 160);
        require(_weightPages(parts) != 0 || _isWeighed(parts, epoch), TooFewMembers(counted, enough));
        weight = _weigh(parts, epoch);
        uint256 required = uint88(head >> 24);
        require(weight >= required, QuorumTooLight(weight, required));
    }

    /// @dev Where a quorum is stored by rental, its changes being paid, and the head with what is paid then.
    function _rent(uint256 head, uint256 changes) private view returns (uint256 slot, uint256) {
        uint256 paid = uint24(head) + changes;
        head ^= uint24(head);
        if (paid >= changesAStore) return (pinnedSlots + 1, head);
        return (NONE, head | paid);
    }

    /// @dev The head of an epoch, nonce and paid being 0.
    function _terms(uint256 epoch, uint64[] calldata weights, uint256 required, uint256 threshold)
        private
        pure
        returns (uint256)
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
        return epoch << 160 | uint256(SafeCast.toUint24(weights.length)) << 136 | enough << 112 | required << 24;
    }

    function _hash(uint256 head, bytes32 newest) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            mstore(0x00, head)
            mstore(0x20, newest)
            hash := keccak256(0x00, 0x40)
        }
    }

    /// @dev `resultDigest` of each result. Assembly, because it takes 320 gas a result less: what is the same in all is written
    /// once.
    function _digests(uint256 nonce, bytes32[] calldata results) private view returns (bytes32[] memory digests) {
        bytes32 kind = RESULT;
        assembly ("memory-safe") {
            digests := mload(0x40)
            let to := add(digests, 0x20)
            let input := add(to, shl(5, results.length))
            mstore(0x40, input)
            mstore(digests, results.length)
            mstore(input, kind)
            mstore(add(input, 0x20), chainid())
            mstore(add(input, 0x40), address())
            for { let from := results.offset } lt(to, input) { from := add(from, 0x20) } {
                mstore(add(input, 0x60), nonce)
                mstore(add(input, 0x80), calldataload(from))
                mstore(to, keccak256(input, 0xa0))
                nonce := add(nonce, 1)
                to := add(to, 0x20)
            }
        }
    }
}
