// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Quorums} from "./Quorums.sol";

/// @title Results that a quorum signed, settled in order
/// @notice The least that a network needs: a registrar admits keys and says what they weigh, and whoever brings a quorum's
/// signature settles the next results. Stake, rewards and slashing are the business of the registrar, or of `TaskNetwork`.
///
/// All that changes with every settlement is in one word.
abstract contract Settlement is Quorums {
    struct Head {
        /// Results that were settled; the number of the next.
        uint64 nonce;
        uint32 epoch;
        /// Weight that a quorum needs, in this epoch.
        uint128 required;
        /// Members that were added and taken away since the last store by rental.
        uint32 paid;
    }

    /// @notice A slot to store in that means: in the first slot which is not pinned, once the changes paid since the last
    /// such store reach `changesAStore` (ski rental). What is spent on stores is never more than what is paid for changes, and where
    /// quorums drift, so that a later base is never farther, all of it is at most twice the optimum and one difference a store. There
    /// is no such bound on any sequence: a stray quorum that comes when a store is due is paid for until the next.
    uint256 public constant RENTAL = 0xfffffffe;

    uint256 public immutable changesAStore;
    address public immutable registrar;

    Head private _head;

    event Registered(uint256 indexed index, address indexed owner);
    event EpochBegun(uint256 indexed epoch, uint256 required);
    /// @notice Results from number `nonce` on.
    event Settled(uint256 indexed nonce, uint256 weight, bytes32[] results);

    error NotRegistrar(address sender);
    error NothingToSettle();
    error NoWeightRequired();
    error QuorumTooLight(uint256 weight, uint256 required);

    bytes32 private constant RESULT =
        keccak256("Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)");

    modifier onlyRegistrar() {
        require(msg.sender == registrar, NotRegistrar(msg.sender));
        _;
    }

    constructor(address registrar_, uint256 changesAStore_) {
        registrar = registrar_;
        changesAStore = changesAStore_;
    }

    function head() external view returns (Head memory) {
        return _head;
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

    /// @notice Begins the next epoch, with a weight for every index.
    function begin(uint64[] calldata weights, uint128 required) external onlyRegistrar {
        require(required != 0, NoWeightRequired());
        uint32 epoch = ++_head.epoch;
        _head.required = required;
        _publish(epoch, weights);
        emit EpochBegun(epoch, required);
    }

    /// @notice Copies a base, the full set say, to a slot that no aggregator can store in.
    function pin(uint256 slot, uint256 from) external onlyRegistrar {
        _pin(slot, from);
    }

    /// @notice What a quorum signs.
    function resultDigest(uint256 nonce, bytes32 result) public view returns (bytes32) {
        return keccak256(abi.encode(RESULT, block.chainid, address(this), nonce, result));
    }

    /// @notice Settles the next results, which one quorum signed each of: one verification for all. The quorum is as
    /// `Quorums` says.
    function settle(bytes32[] calldata results, bytes calldata quorum) external {
        require(results.length != 0, NothingToSettle());
        Head memory current = _head;
        bytes32[] memory digests = _digests(current.nonce, results);
        (, uint256 weight) = _settle(digests, current.epoch, quorum);
        require(weight >= current.required, QuorumTooLight(weight, current.required));
        _head.nonce = current.nonce + uint64(results.length);
        emit Settled(current.nonce, weight, results);
    }

    /// @dev `resultDigest` of each result. Assembly, because it takes 320 gas a result less: what is the same in all is written
    /// once.
    function _digests(uint256 nonce, bytes32[] calldata results) private view returns (bytes32[] memory digests) {
        bytes32 kind = RESULT;
        digests = new bytes32[](results.length);
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, kind)
            mstore(add(input, 0x20), chainid())
            mstore(add(input, 0x40), address())
            for { let i := 0 } lt(i, results.length) { i := add(i, 1) } {
                mstore(add(input, 0x60), add(nonce, i))
                mstore(add(input, 0x80), calldataload(add(results.offset, shl(5, i))))
                mstore(add(add(digests, 0x20), shl(5, i)), keccak256(input, 0xa0))
            }
        }
    }

    function _refresh(uint256 wanted, uint256 changed) internal override returns (uint256 slot) {
        if (wanted != RENTAL) return wanted;
        uint256 paid = _head.paid + changed;
        slot = paid < changesAStore ? NONE : pinnedSlots;
        _head.paid = slot == NONE ? uint32(paid) : 0;
    }
}
