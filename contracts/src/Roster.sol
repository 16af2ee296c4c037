// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice The keys of a network so far, in one word. Its parts, from the most significant bits on:
///
///     160  digest: the last 20 bytes of a hash of all keys with their tables, indices and owners, and of all keys that
///          were carried, each hashed with what was before
///      32  table: the number of the running key table
///      32  keys: how many keys it holds, which is the number of weights in a snapshot
///      32  carried: how many keys the next table holds; zero until keys are carried
type Roster is uint256;

/// @notice A registered operator, in one word. Its parts, from the most significant bits on:
///
///     128  stake: its stake
///      32  the index of its key in the tables with an odd number
///      32  the key's index in the tables with an even number
///      48  since: when the operator registered the key
///      16  table: the newest table that holds the key, which is the running one or the next one
///
/// Only the running and the next table matter, and one of their numbers is odd. So no seat is written when the next table
/// becomes the running one.
type Seat is uint256;

using Rosters for Roster global;
using Seats for Seat global;

/// @title Reads and makes rosters
library Rosters {
    /// @notice Makes a roster.
    /// @dev NOT checked: that each number is below 2^32.
    /// @param hash The hash whose end is the digest.
    /// @param table_ The number of the running table.
    /// @param keys_ How many keys it holds.
    /// @param carried_ How many keys the next table holds.
    /// @return The roster.
    function pack(uint256 hash, uint256 table_, uint256 keys_, uint256 carried_) internal pure returns (Roster) {
        return Roster.wrap(hash << 96 | table_ << 64 | keys_ << 32 | carried_);
    }

    /// @notice The digest, below 2^160.
    function digest(Roster roster) internal pure returns (uint256) {
        return Roster.unwrap(roster) >> 96;
    }

    /// @notice The number of the running table.
    function table(Roster roster) internal pure returns (uint256) {
        return uint32(Roster.unwrap(roster) >> 64);
    }

    /// @notice How many keys the running table holds.
    function keys(Roster roster) internal pure returns (uint256) {
        return uint32(Roster.unwrap(roster) >> 32);
    }

    /// @notice How many keys the next table holds; zero until keys are carried.
    function carried(Roster roster) internal pure returns (uint256) {
        return uint32(Roster.unwrap(roster));
    }
}

/// @title Reads and makes seats
library Seats {
    /// @dev The bits behind the stake.
    uint256 private constant KEY = type(uint128).max;

    /// @notice The stake.
    function stake(Seat seat) internal pure returns (uint256) {
        return Seat.unwrap(seat) >> 128;
    }

    /// @notice The newest table that holds the key.
    function table(Seat seat) internal pure returns (uint256) {
        return uint16(Seat.unwrap(seat));
    }

    /// @notice When the operator registered the key.
    function since(Seat seat) internal pure returns (uint256) {
        return uint48(Seat.unwrap(seat) >> 16);
    }

    /// @notice The key's index in a table, which must be the running or the next one and hold the key.
    /// @param seat The seat.
    /// @param table_ The table.
    /// @return The index.
    function indexIn(Seat seat, uint256 table_) internal pure returns (uint256) {
        return uint32(Seat.unwrap(seat) >> (64 + ((table_ & 1) << 5)));
    }

    /// @notice The seat with another stake.
    /// @param seat The seat.
    /// @param stake_ The stake, below 2^128, which is not checked.
    /// @return The seat.
    function withStake(Seat seat, uint256 stake_) internal pure returns (Seat) {
        return Seat.wrap(Seat.unwrap(seat) & KEY | stake_ << 128);
    }

    /// @notice The seat with a new key, which no table holds yet.
    /// @param seat The seat.
    /// @param since_ When the operator registers the key, below 2^48, which is not checked.
    /// @return The seat.
    function withKey(Seat seat, uint256 since_) internal pure returns (Seat) {
        return Seat.wrap(Seat.unwrap(seat) & ~KEY | since_ << 16);
    }

    /// @notice The seat whose key came to a table. The key's index in the table before stays.
    /// @param seat The seat.
    /// @param table_ The table, now the newest one that holds the key; below 2^16, which is not checked.
    /// @param index The index there, below 2^32, which is not checked.
    /// @return The seat.
    function place(Seat seat, uint256 table_, uint256 index) internal pure returns (Seat) {
        uint256 shift = 64 + ((table_ & 1) << 5);
        uint256 kept = ~(uint256(type(uint32).max) << shift | type(uint16).max);
        return Seat.wrap(Seat.unwrap(seat) & kept | index << shift | table_);
    }
}
