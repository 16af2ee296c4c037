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
    /// @dev The conditions.
    uint256 private immutable _window;
    uint256 private immutable _windowBlocks;
    uint256 private immutable _answer;
    uint256 private immutable _answerBlocks;
    uint256 internal immutable _slots;
    uint256 private immutable _penalty;
    uint256 private immutable _bond;

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
        (_window, _windowBlocks, _answer, _answerBlocks) = (c.window, c.windowBlocks, c.answer, c.answerBlocks);
        (_slots, _penalty, _bond) = (c.slots, c.penalty, c.bond);
    }

    /// @inheritdoc IOptimisticSettlement
    function conditions() external view returns (Conditions memory c) {
        (uint256 window, uint256 windowBlocks, uint256 answer, uint256 answerBlocks) =
            (_window, _windowBlocks, _answer, _answerBlocks);
        (uint256 slots, uint256 penalty, uint256 bond) = (_slots, _penalty, _bond);
        // Assembly, because the contract has little room for code. Each number has as many bits as its member.
        assembly ("memory-safe") {
            mstore(c, window)
            mstore(add(c, 0x20), windowBlocks)
            mstore(add(c, 0x40), answer)
            mstore(add(c, 0x60), answerBlocks)
            mstore(add(c, 0x80), slots)
            mstore(add(c, 0xa0), penalty)
            mstore(add(c, 0xc0), bond)
        }
    }

    /// @inheritdoc IOptimisticSettlement
    function depositOf(address owner) external view returns (uint256 amount, uint256 demands, Moment exitAt) {
        Account account = _accounts[owner];
        return (account.amount(), account.demands(), account.exitAt());
    }

    /// @inheritdoc IOptimisticSettlement
    function creditOf(address owner) external view returns (uint256) {
        return _credits[owner];
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
        Account account = _accounts[msg.sender];
        Moment exitAt = account.exitAt();
        bool over = Moment.unwrap(exitAt) != 0 && _windowOver(exitAt);
        _need(over, uint32(ExitNotOver.selector), Moment.unwrap(exitAt));
        _need(account.demands() == 0, uint32(DemandsOpen.selector), account.demands());
        _set(Account.wrap(0));
        _pay(account.amount());
    }

    /// @inheritdoc IOptimisticSettlement
    function collect() external {
        uint256 amount = _credits[msg.sender];
        _setCredit(msg.sender, 0);
        _pay(amount);
    }

    /// @dev Whether the window that began at a moment is over.
    function _windowOver(Moment when) internal view returns (bool) {
        return when.isOver(_window, _windowBlocks);
    }

    /// @dev Whether the span for an answer that began at a moment is over.
    function _answerOver(Moment when) internal view returns (bool) {
        return when.isOver(_answer, _answerBlocks);
    }

    /// @dev Reverts unless the caller may post.
    function _checkDeposit() internal view {
        Account account = _accounts[msg.sender];
        uint256 amount = Moment.unwrap(account.exitAt()) == 0 ? account.amount() : 0;
        // Unchecked: the constructor made sure that the product has 96 bits.
        unchecked {
            _need(amount >= _slots * _penalty, uint32(DepositTooSmall.selector), amount);
        }
    }

    /// @dev Takes the bond of a demand for a posting.
    /// @param poster Whose posting it is.
    function _openDemand(address poster) internal {
        _need(msg.value == _bond, uint32(NotTheBond.selector), msg.value);
        _accounts[poster] = _accounts[poster].demanded();
    }

    /// @dev Closes a demand, and credits its bond.
    /// @param poster Whose posting it is.
    /// @param to Who gets the bond.
    function _closeDemand(address poster, address to) internal {
        _accounts[poster] = _accounts[poster].answered();
        _setCredit(to, _credits[to] + _bond);
    }

    /// @dev Takes a penalty from a poster. Half of it is credited, and the other half stays in the contract for ever, so
    /// that nobody can post lies and show them without a loss.
    /// @param poster The poster.
    /// @param to Who showed it.
    /// @return penalty The penalty.
    function _fine(address poster, address to) internal returns (uint256 penalty) {
        penalty = _penalty;
        _accounts[poster] = _accounts[poster].charged(penalty);
        _setCredit(to, _credits[to] + penalty / 2);
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

    /// @dev Writes the caller's deposit, and emits what it is.
    function _set(Account account) private {
        _accounts[msg.sender] = account;
        emit DepositChanged(msg.sender, account.amount(), account.exitAt());
    }

    /// @dev Writes a credit, and emits it.
    function _setCredit(address owner, uint256 amount) private {
        _credits[owner] = amount;
        emit CreditChanged(owner, amount);
    }

    /// @dev Sends money to the caller. Every word is written before it.
    function _pay(uint256 amount) private {
        (bool taken,) = msg.sender.call{value: amount}("");
        _need(taken, uint32(NotTaken.selector), amount);
    }
}
