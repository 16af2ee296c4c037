// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title The ring: the commitments of bases, in numbered slots
/// @notice Each key table has slots of its own. So a new table starts without bases, and no base of an older table can
/// be named.
abstract contract Ring {
    /// @notice Slots 1 to `pinnedSlots` are pinned: only `_pin` writes them. Whoever proves a quorum may write the
    /// others.
    uint256 public immutable pinnedSlots;

    /// @notice The slot of the newest base.
    uint256 internal constant NEWEST = 0;
    /// @notice The slot number that means "no slot".
    uint256 internal constant NONE = 0xffff;
    /// @notice The most slots that can be pinned. Slots have 16 bits. The two highest numbers have other meanings, here and
    /// in `Settlement`, and the slot behind the pinned ones is the one that ski rental writes. With one pinned slot more,
    /// that slot would have a number with another meaning; with three more, it would be slot 0 of the next table.
    uint256 internal constant MOST_PINNED = 0xfffc;

    /// @dev The commitments by place, which is table << 16 | slot; zero while the slot has held none.
    mapping(uint256 place => bytes32 commitment) private _ring;

    /// @notice A commitment was copied to a pinned slot of the running table.
    /// @param slot The pinned slot.
    /// @param from The slot that was copied.
    event BasePinned(uint256 indexed slot, uint256 from);

    /// @notice The bytes that were passed are not those of the base in this slot, or the call does not take a base from
    /// this slot. Also: a base's bitmap was passed with the empty quorum; `_pin` was called with a slot that is not
    /// pinned, or with an empty one to copy.
    /// @param slot The slot of the base; 0xffff for the empty quorum; in `_pin`, the slot to copy.
    error NotThisBase(uint256 slot);
    /// @notice Only `_pin` writes this slot.
    /// @param slot The slot in which the quorum should have been stored.
    error SlotPinned(uint256 slot);
    /// @notice Too many slots would be pinned.
    /// @param pinned How many.
    /// @param most The most that can be.
    error TooManyPinned(uint256 pinned, uint256 most);

    /// @param pinnedSlots_ How many slots are pinned: slots 1 to this number; at most `MOST_PINNED`.
    constructor(uint256 pinnedSlots_) {
        require(pinnedSlots_ <= MOST_PINNED, TooManyPinned(pinnedSlots_, MOST_PINNED));
        pinnedSlots = pinnedSlots_;
    }

    /// @notice The commitment that a place of the ring holds.
    /// @param place The number of the key table, above 16 bits of the slot's number. In table 0 it is the slot's number.
    /// @return The commitment; zero if nothing was ever stored there.
    function commitmentAt(uint256 place) external view returns (bytes32) {
        return _ring[place];
    }

    /// @dev Reverts with `NotThisBase`. A function, so that the error is in the code once.
    function _notThisBase(uint256 slot) internal pure {
        revert NotThisBase(slot);
    }

    /// @dev What a slot holds.
    /// @param table The key table.
    /// @param slot The slot, below 2^16.
    function _baseAt(uint256 table, uint256 slot) internal view returns (bytes32) {
        return _ring[table << 16 | slot];
    }

    /// @dev Stores a commitment.
    /// @param table The key table.
    /// @param slot The slot, below 2^16; reverts if it is pinned.
    /// @param commitment The commitment.
    function _storeAt(uint256 table, uint256 slot, bytes32 commitment) internal {
        require(!_isPinned(slot), SlotPinned(slot));
        _ring[table << 16 | slot] = commitment;
    }

    /// @notice Copies a base to a pinned slot. The caller of this function decides who may do that.
    /// @param table The key table.
    /// @param slot A pinned slot.
    /// @param from The slot to copy, which must not be empty.
    function _pin(uint256 table, uint256 slot, uint256 from) internal {
        // A larger number would name a slot of another table.
        bytes32 commitment = from < NONE ? _baseAt(table, from) : bytes32(0);
        if (!_isPinned(slot) || commitment == 0) _notThisBase(from);
        _ring[table << 16 | slot] = commitment;
        emit BasePinned(slot, from);
    }

    /// @dev Whether only `_pin` writes a slot.
    function _isPinned(uint256 slot) private view returns (bool) {
        return slot != NEWEST && slot <= pinnedSlots;
    }
}
