// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Account, Accounts} from "../../src/Account.sol";
import {Moment} from "../../src/Moment.sol";

/// @notice halmos proves each `check` for every input.
contract DepositsSymbolic {
    /// @notice An account gives back what it was made of.
    function check_pack(uint96 amount, uint32 demands, uint128 exitAt) external pure {
        Account account = Accounts.pack(amount, demands, Moment.wrap(exitAt));
        assert(account.amount() == amount && account.demands() == demands);
        assert(Moment.unwrap(account.exitAt()) == exitAt);
    }

    /// @notice A demand that is opened and closed changes its number alone, and leaves the account as it was.
    function check_demands(Account account) external pure {
        if (account.demands() == type(uint32).max) return;
        Account more = account.demanded();
        assert(more.demands() == account.demands() + 1 && more.amount() == account.amount());
        assert(Moment.unwrap(more.exitAt()) == Moment.unwrap(account.exitAt()));
        assert(Account.unwrap(more.answered()) == Account.unwrap(account));
    }

    /// @notice A penalty lowers the amount alone.
    function check_charged(Account account, uint96 penalty) external pure {
        if (account.amount() < penalty) return;
        Account less = account.charged(penalty);
        assert(less.amount() == account.amount() - penalty && less.demands() == account.demands());
        assert(Moment.unwrap(less.exitAt()) == Moment.unwrap(account.exitAt()));
    }

    /// @notice A span is over exactly when more seconds and more blocks have passed, and never before it began.
    function check_isOver(uint64 time, uint64 number, uint32 seconds_, uint32 blocks) external view {
        if (block.timestamp >= 1 << 64 || block.number >= 1 << 64) return;
        Moment began = Moment.wrap(uint128(time) << 64 | number);
        bool over = began.isOver(seconds_, blocks);
        bool expected = block.timestamp > uint256(time) + seconds_ && block.number > uint256(number) + blocks;
        assert(over == expected);
        if (block.timestamp < time || block.number < number) assert(!over);
    }
}
