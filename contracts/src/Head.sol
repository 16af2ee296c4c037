// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @notice Seven numbers of a settlement in one word, from the most significant bit on:
///
///     48  nonce: how many results are settled, which is also the number of the next result
///     16  table: the number of the key table whose indices bitmaps mean
///     32  epoch
///     24  members: how many indices have a weight in the epoch, from index 0 on
///     24  enough: any quorum of this many of these members reaches the required weight
///     88  required: the weight that a quorum needs
///     24  paid: changed members of the quorums that asked for ski rental since one of them was stored
type Head is uint256;

using Heads for Head global;

/// @title Reads and makes heads
/// @notice The *terms* of an epoch are a head with zeros for nonce and paid.
library Heads {
    /// @dev How many bits stand behind each number. Nothing stands behind `paid`.
    uint256 private constant NONCE = 208;
    uint256 private constant TABLE = 192;
    uint256 private constant EPOCH = 160;
    uint256 private constant MEMBERS = 136;
    uint256 private constant ENOUGH = 112;
    uint256 private constant REQUIRED = 24;

    /// @dev The bits of `paid`.
    uint256 private constant PAID = type(uint24).max;

    /// @notice Makes a head.
    /// @dev NOT checked: that each number fits into its bits.
    /// @param nonce_ The number of the next result.
    /// @param table_ The number of the key table.
    /// @param epoch_ The epoch.
    /// @param members_ How many indices have a weight.
    /// @param enough_ How many members prove the required weight.
    /// @param required_ The required weight.
    /// @param paid_ Changed members that were paid since the last store by ski rental.
    /// @return The head.
    function pack(
        uint256 nonce_,
        uint256 table_,
        uint256 epoch_,
        uint256 members_,
        uint256 enough_,
        uint256 required_,
        uint256 paid_
    ) internal pure returns (Head) {
        return Head.wrap(
            nonce_ << NONCE | table_ << TABLE | epoch_ << EPOCH | members_ << MEMBERS | enough_ << ENOUGH | required_
                << REQUIRED | paid_
        );
    }

    /// @notice How many results are settled. It is also the number of the next result.
    function nonce(Head head) internal pure returns (uint256) {
        return Head.unwrap(head) >> NONCE;
    }

    /// @notice The number of the key table whose indices bitmaps mean.
    function table(Head head) internal pure returns (uint256) {
        return uint16(Head.unwrap(head) >> TABLE);
    }

    /// @notice The epoch.
    function epoch(Head head) internal pure returns (uint256) {
        return uint32(Head.unwrap(head) >> EPOCH);
    }

    /// @notice How many indices have a weight in the epoch, from index 0 on.
    function members(Head head) internal pure returns (uint256) {
        return uint24(Head.unwrap(head) >> MEMBERS);
    }

    /// @notice Any quorum of this many members with a weight reaches the required weight.
    function enough(Head head) internal pure returns (uint256) {
        return uint24(Head.unwrap(head) >> ENOUGH);
    }

    /// @notice The weight that a quorum needs.
    function required(Head head) internal pure returns (uint256) {
        return uint88(Head.unwrap(head) >> REQUIRED);
    }

    /// @notice Changed members of the quorums that asked for ski rental since one of them was stored.
    function paid(Head head) internal pure returns (uint256) {
        return uint24(Head.unwrap(head));
    }

    /// @notice The head with more results settled.
    /// @dev Unchecked: the nonce has 48 bits and does not run over, since every result costs gas.
    /// @param head The head before.
    /// @param results How many results are added.
    /// @return The head after.
    function advance(Head head, uint256 results) internal pure returns (Head) {
        unchecked {
            return Head.wrap(Head.unwrap(head) + (results << NONCE));
        }
    }

    /// @notice The head with another number for `paid`.
    /// @param head The head before.
    /// @param paid_ The number, below 2^24, which is not checked.
    /// @return The head after.
    function withPaid(Head head, uint256 paid_) internal pure returns (Head) {
        return Head.wrap(Head.unwrap(head) & ~PAID | paid_);
    }

    /// @notice The head with the terms of another epoch. Nonce and paid stay.
    /// @param head The head before.
    /// @param terms The terms, with zeros for nonce and paid.
    /// @return The head after.
    function enter(Head head, Head terms) internal pure returns (Head) {
        uint256 kept = type(uint256).max << NONCE | PAID;
        return Head.wrap(Head.unwrap(head) & kept | Head.unwrap(terms));
    }
}
