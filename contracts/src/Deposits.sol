// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IOptimisticSettlement} from "./interfaces/IOptimisticSettlement.sol";
import {Moment, Moments} from "./Moment.sol";

/// @notice A poster's deposit in one word, from the most significant bit on:
///
///     128  exit: when the exit began, as a `Moment`; 0 if none runs
///      32  demands: how many demands for the poster's postings are open
///      96  amount, in wei
type Account is uint256;

using Accounts for Account global;

/// @title Reads and makes accounts
library Accounts {
    /// @dev The bits behind the exit, and behind the demands.
    uint256 private constant EXIT = 128;
    uint256 private constant DEMANDS = 96;

    /// @notice The deposit, in wei.
    function amount(Account account) internal pure returns (uint256) {
        return uint96(Account.unwrap(account));
    }

    /// @notice How many demands are open.
    function demands(Account account) internal pure returns (uint256) {
        return uint32(Account.unwrap(account) >> DEMANDS);
    }

    /// @notice When the exit began; zero if none runs.
    function exitAt(Account account) internal pure returns (Moment) {
        return Moment.wrap(uint128(Account.unwrap(account) >> EXIT));
    }

    /// @notice The account with a larger deposit, and without an exit. Reverts if the deposit would have more than 96 bits.
    function grown(Account account, uint256 value) internal pure returns (Account) {
        return Account.wrap(account.demands() << DEMANDS | SafeCast.toUint96(account.amount() + value));
    }

    /// @notice The account whose exit began at a moment.
    function leaving(Account account, Moment when) internal pure returns (Account) {
        return Account.wrap(uint256(Moment.unwrap(when)) << EXIT | uint128(Account.unwrap(account)));
    }

    /// @notice The account with one more open demand.
    /// @dev Not more than one demand is open for each slot, so the number has 16 bits.
    function demanded(Account account) internal pure returns (Account) {
        return Account.wrap(Account.unwrap(account) + (1 << DEMANDS));
    }

    /// @notice The account with one open demand less.
    /// @dev NOT checked: that one is open. Callers close what they opened.
    function answered(Account account) internal pure returns (Account) {
        return Account.wrap(Account.unwrap(account) - (1 << DEMANDS));
    }

    /// @notice The account with less in it. Reverts if there is not so much; a poster's deposit covers all penalties.
    function charged(Account account, uint256 value) internal pure returns (Account) {
        return Account.wrap(Account.unwrap(account) >> DEMANDS << DEMANDS | (account.amount() - value));
    }
}

/// @title Deposits of posters, bonds of challengers, and what the contract owes
/// @notice A poster's deposit covers one penalty for each slot when it posts. Each posting lies in a slot, and a penalty is
/// taken for a posting whose window runs, or whose demand is open, and once only. So the deposit covers the penalties of
/// all postings of its owner. It leaves when the exit has run for a window and no demand is open: all postings from
/// before the exit are final or decided then.
///
/// The balance of the contract is the sum of all deposits, of all credits, of the bonds of open demands, and of the halves
/// of penalties that nobody gets.
abstract contract Deposits is IOptimisticSettlement {
    /// @dev The conditions.
    uint256 internal immutable _window;
    uint256 internal immutable _windowBlocks;
    uint256 internal immutable _answer;
    uint256 internal immutable _answerBlocks;
    uint256 internal immutable _slots;
    uint256 internal immutable _penalty;
    uint256 internal immutable _bond;
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
        // The deposit has 96 bits.
        fit = fit && uint256(c.slots) * c.penalty <= type(uint96).max;
        require(fit, UnfitConditions(c));
        (_window, _windowBlocks, _answer, _answerBlocks) = (c.window, c.windowBlocks, c.answer, c.answerBlocks);
        (_slots, _penalty, _bond, _cover) = (c.slots, c.penalty, c.bond, uint256(c.slots) * c.penalty);
    }

    /// @inheritdoc IOptimisticSettlement
    function conditions() external view returns (Conditions memory) {
        return Conditions(
            uint32(_window),
            uint32(_windowBlocks),
            uint32(_answer),
            uint32(_answerBlocks),
            uint16(_slots),
            uint96(_penalty),
            uint96(_bond)
        );
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
        _accounts[msg.sender] = _accounts[msg.sender].grown(msg.value);
        emit Deposited(msg.sender, msg.value);
    }

    /// @inheritdoc IOptimisticSettlement
    function exit() external {
        Account account = _accounts[msg.sender];
        require(account.amount() != 0, NothingThere());
        Moment when = Moments.current();
        _accounts[msg.sender] = account.leaving(when);
        emit ExitBegun(msg.sender, when);
    }

    /// @inheritdoc IOptimisticSettlement
    function withdraw() external {
        Account account = _accounts[msg.sender];
        uint256 amount = account.amount();
        require(amount != 0, NothingThere());
        Moment when = account.exitAt();
        require(Moment.unwrap(when) != 0 && _windowOver(when), ExitNotOver());
        require(account.demands() == 0, DemandsOpen(account.demands()));
        _accounts[msg.sender] = Account.wrap(0);
        emit Withdrawn(msg.sender, amount);
        _pay(amount);
    }

    /// @inheritdoc IOptimisticSettlement
    function collect() external {
        uint256 amount = _credits[msg.sender];
        require(amount != 0, NothingThere());
        _credits[msg.sender] = 0;
        emit Collected(msg.sender, amount);
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
        require(amount >= _cover, DepositTooSmall(amount, _cover));
    }

    /// @dev Takes the bond of a demand for a posting.
    /// @param poster Whose posting it is.
    function _openDemand(address poster) internal {
        require(msg.value == _bond, NotTheBond(msg.value, _bond));
        _accounts[poster] = _accounts[poster].demanded();
    }

    /// @dev Closes a demand, and credits its bond.
    /// @param poster Whose posting it is.
    /// @param to Who gets the bond.
    function _closeDemand(address poster, address to) internal {
        _accounts[poster] = _accounts[poster].answered();
        _credit(to, _bond);
    }

    /// @dev Takes a penalty from a poster. Half of it is credited, and the other half stays in the contract for ever, so
    /// that nobody can post lies and show them without a loss.
    /// @param poster The poster.
    /// @param to Who showed it.
    /// @return The penalty.
    function _fine(address poster, address to) internal returns (uint256) {
        _accounts[poster] = _accounts[poster].charged(_penalty);
        _credit(to, _penalty / 2);
        return _penalty;
    }

    /// @dev Credits somebody.
    function _credit(address owner, uint256 amount) private {
        _credits[owner] += amount;
        emit Credited(owner, amount);
    }

    /// @dev Sends money to the caller. Every word is written before it.
    function _pay(uint256 amount) private {
        (bool taken,) = msg.sender.call{value: amount}("");
        require(taken, NotTaken());
    }
}
