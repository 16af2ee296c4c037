// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Account, Accounts} from "./Account.sol";
import {IOptimisticSettlement} from "./interfaces/IOptimisticSettlement.sol";
import {Moment, Moments} from "./Moment.sol";

/// @title Deposits of posters, bonds of challengers, and what the contract owes
/// @notice A poster's deposit covers one penalty for each slot when it posts. A slot holds one posting, and a penalty is
/// taken for a posting whose window runs or whose demand is open, once. So the deposit covers the penalties of all
/// postings of its owner. It leaves when its exit has run for a window and no demand is open: every posting from before
/// the exit is final or decided then.
///
/// The balance of the contract is the sum of all deposits, of all credits, of the bonds of open demands, and of the halves
/// of penalties that nobody gets.
abstract contract Deposits is IOptimisticSettlement {
    /// @dev The conditions, in two words, because the contract has little room for code. The first holds, from bit 0 on,
    /// 32 bits each of the four spans of time, and 16 of the slots; the second 96 each of penalty and bond.
    uint256 private immutable _spans;
    uint256 private immutable _money;
    /// @dev The deposit that a poster needs.
    uint256 private immutable _cover;

    /// @dev The deposits by owner.
    mapping(address owner => Account) private _accounts;
    /// @dev What the contract owes besides.
    mapping(address owner => uint256 amount) private _credits;

    /// @param c The conditions.
    constructor(Conditions memory c) {
        bool fit = c.answer != 0 && c.answer <= c.window;
        fit = fit && c.answerBlocks != 0 && c.answerBlocks <= c.windowBlocks;
        fit = fit && c.slots != 0 && c.penalty > 1 && c.bond != 0;
        // A deposit has 96 bits.
        fit = fit && uint256(c.slots) * c.penalty <= type(uint96).max;
        require(fit, UnfitConditions());
        _spans = uint256(c.window) | uint256(c.windowBlocks) << 32 | uint256(c.answer) << 64 | uint256(c.answerBlocks)
            << 96 | uint256(c.slots) << 128;
        _money = uint256(c.penalty) | uint256(c.bond) << 96;
        _cover = uint256(c.slots) * c.penalty;
    }

    /// @inheritdoc IOptimisticSettlement
    function conditions() external view returns (uint256 spans, uint256 money) {
        return (_spans, _money);
    }

    /// @inheritdoc IOptimisticSettlement
    function accountOf(address owner) external view returns (Account account, uint256 credit) {
        return (_accounts[owner], _credits[owner]);
    }

    /// @inheritdoc IOptimisticSettlement
    function deposit() external payable {
        Account account = _accounts[msg.sender];
        uint256 amount = account.amount() + msg.value;
        _need(amount <= type(uint96).max, uint32(DepositTooLarge.selector), amount);
        _set(Accounts.pack(amount, account.demands(), Moment.wrap(0)));
    }

    /// @inheritdoc IOptimisticSettlement
    function exit() external {
        Account account = _accounts[msg.sender];
        _set(Accounts.pack(account.amount(), account.demands(), Moments.current()));
    }

    /// @inheritdoc IOptimisticSettlement
    function withdraw() external {
        uint256 amount = _credits[msg.sender];
        if (amount != 0) _setCredit(msg.sender, 0);
        Account account = _accounts[msg.sender];
        Moment exitAt = account.exitAt();
        if (Moment.unwrap(exitAt) != 0 && account.demands() == 0 && _windowOver(exitAt)) {
            amount += account.amount();
            _set(Account.wrap(0));
        }
        bool taken;
        // Every word is written before it. Assembly, because the contract has little room for code.
        assembly ("memory-safe") {
            taken := call(gas(), caller(), amount, 0, 0, 0, 0)
        }
        _need(taken, uint32(NotTaken.selector), amount);
    }

    /// @dev Whether the window that began at a moment is over.
    function _windowOver(Moment when) internal view returns (bool) {
        return _isOver(when, _spans);
    }

    /// @dev Whether the span for an answer that began at a moment is over.
    function _answerOver(Moment when) internal view returns (bool) {
        return _isOver(when, _spans >> 64);
    }

    /// @dev Whether a span is over: 32 bits of seconds, and 32 of blocks above them.
    function _isOver(Moment when, uint256 span) private view returns (bool) {
        return when.isOver(uint32(span), uint32(span >> 32));
    }

    /// @dev The number of slots.
    function _slots() internal view returns (uint256) {
        return _spans >> 128;
    }

    /// @dev Reverts unless the caller may post.
    function _checkDeposit() internal view {
        Account account = _accounts[msg.sender];
        bool covers = account.amount() >= _cover && Moment.unwrap(account.exitAt()) == 0;
        _need(covers, uint32(DepositTooSmall.selector), account.amount());
    }

    /// @dev Takes the bond of a demand for a posting.
    /// @param poster Whose posting it is.
    function _openDemand(address poster) internal {
        _need(msg.value == _money >> 96, uint32(NotTheBond.selector), msg.value);
        _accounts[poster] = _accounts[poster].demanded();
    }

    /// @dev Closes a demand, and credits its bond.
    /// @param poster Whose posting it is.
    /// @param to Who gets the bond.
    function _closeDemand(address poster, address to) internal {
        _accounts[poster] = _accounts[poster].answered();
        _credit(to, _money >> 96);
    }

    /// @dev Takes a penalty from a poster. Half of it is credited, and the other half stays in the contract for ever, so
    /// that nobody can post lies and show them without a loss.
    /// @param poster The poster.
    /// @param to Who showed it.
    /// @return penalty The penalty.
    function _fine(address poster, address to) internal returns (uint256 penalty) {
        penalty = uint96(_money);
        // The deposit covers it, as the contract's notice says. If it did not, this would revert.
        _accounts[poster] = _accounts[poster].charged(penalty);
        _credit(to, penalty / 2);
    }

    /// @dev Reverts unless a condition holds, with an error that has one argument. A function, because the contract has
    /// little room for code.
    /// @param holds The condition.
    /// @param selector The error.
    /// @param argument Its argument.
    function _need(bool holds, uint256 selector, uint256 argument) internal pure {
        assembly ("memory-safe") {
            if iszero(holds) {
                mstore(0x00, selector)
                mstore(0x20, argument)
                revert(0x1c, 0x24)
            }
        }
    }

    /// @dev Ends the call, and returns a word. Assembly, because the contract has little room for code.
    function _return(uint256 word) internal pure {
        assembly ("memory-safe") {
            mstore(0x00, word)
            return(0x00, 0x20)
        }
    }

    /// @dev Emits an event with one indexed argument and two others. A function, because the contract has little room for
    /// code.
    function _log(bytes32 kind, bytes32 indexed_, uint256 first, uint256 second) internal {
        assembly ("memory-safe") {
            mstore(0x00, first)
            mstore(0x20, second)
            log2(0x00, 0x40, kind, indexed_)
        }
    }

    /// @dev Writes the caller's deposit, and emits what it is.
    function _set(Account account) private {
        _accounts[msg.sender] = account;
        bytes32 owner = bytes32(uint256(uint160(msg.sender)));
        _log(DepositChanged.selector, owner, account.amount(), Moment.unwrap(account.exitAt()));
    }

    /// @dev Raises a credit. Unchecked: all ether has fewer bits.
    function _credit(address owner, uint256 amount) private {
        unchecked {
            _setCredit(owner, _credits[owner] + amount);
        }
    }

    /// @dev Writes a credit, and emits it.
    function _setCredit(address owner, uint256 amount) private {
        _credits[owner] = amount;
        _log(CreditChanged.selector, bytes32(uint256(uint160(owner))), amount, 0);
    }
}
