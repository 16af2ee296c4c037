// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Moment} from "./Moment.sol";

/// @notice A poster's deposit in one word, from the most significant bit on:
///
///      96  amount, in wei
///      32  demands: how many demands for the poster's postings are open
///     128  exit: when the exit began, as a `Moment`; 0 if none runs
type Account is uint256;

using Accounts for Account global;

/// @title Reads and makes accounts
library Accounts {
    /// @dev How many bits stand behind the amount, and behind the demands.
    uint256 private constant AMOUNT = 160;
    uint256 private constant DEMANDS = 128;

    /// @notice Makes an account.
    /// @dev NOT checked: that each number fits into its bits.
    function pack(uint256 amount_, uint256 demands_, Moment exitAt_) internal pure returns (Account) {
        return Account.wrap(amount_ << AMOUNT | demands_ << DEMANDS | Moment.unwrap(exitAt_));
    }

    /// @notice The deposit, in wei.
    function amount(Account account) internal pure returns (uint256) {
        return Account.unwrap(account) >> AMOUNT;
    }

    /// @notice How many demands are open.
    function demands(Account account) internal pure returns (uint256) {
        return uint32(Account.unwrap(account) >> DEMANDS);
    }

    /// @notice When the exit began; zero if none runs.
    function exitAt(Account account) internal pure returns (Moment) {
        return Moment.wrap(uint128(Account.unwrap(account)));
    }

    /// @notice The account with one more open demand.
    /// @dev Unchecked: at most one demand is open for each slot, so the number has 16 bits.
    function demanded(Account account) internal pure returns (Account) {
        unchecked {
            return Account.wrap(Account.unwrap(account) + (1 << DEMANDS));
        }
    }

    /// @notice The account with one open demand less.
    /// @dev NOT checked: that one is open. Callers close what they opened.
    function answered(Account account) internal pure returns (Account) {
        unchecked {
            return Account.wrap(Account.unwrap(account) - (1 << DEMANDS));
        }
    }

    /// @notice The account with less in it. Reverts if there is not so much: the amount stands in the most significant bits,
    /// so the subtraction of the words runs over then, and only then.
    /// @dev NOT checked: that the value has 96 bits.
    function charged(Account account, uint256 value) internal pure returns (Account) {
        return Account.wrap(Account.unwrap(account) - (value << AMOUNT));
    }
}
