// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeERC20, IERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {NetworkTerms} from "./NetworkTerms.sol";

/// @title Operators, their keys and their stake
/// @notice A registered operator holds a seat: one slot with its stake and its key, which is all that a snapshot reads of it.
/// Every seat holds at least the minimum stake. Stake asked for leaves the seat at once, so the next snapshot does not count it;
/// it is slashable until it is paid out. Not supported: tokens that change balances by themselves (rebasing), and tokens of which
/// there are 2^128 units or more.
abstract contract Stakes is NetworkTerms, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice Keys that the network ever takes, rotated ones and those of operators who left among them: all are weighed by each
    /// snapshot, in one transaction. Without a bound who joins and leaves often enough would stop every snapshot; with it, the
    /// operators of then go on.
    uint256 public constant MAXIMUM_KEYS = 6_000;

    struct Seat {
        uint128 stake;
        uint32 key;
        uint64 keySince;
    }

    struct Withdrawal {
        uint128 amount;
        uint64 payableAt;
    }

    Seat[] private _seats;
    /// One more than the position in `_seats`; zero for none.
    mapping(address operator => uint256) private _seatOf;
    mapping(address operator => Withdrawal) private _withdrawals;
    /// Never cleared: an old key still answers for its owner.
    mapping(uint256 index => address) private _owners;
    /// One more than the highest index seen: the length of a weight page.
    uint256 private _keyCount;

    function register(bytes calldata key, bytes calldata proof, uint256 amount)
        external
        whenNotPaused
        nonReentrant
        returns (uint256 index)
    {
        if (_seatOf[msg.sender] != 0) revert AlreadyRegistered(msg.sender);
        if (_seats.length >= maximumOperators) revert SeatsFull();
        // The verifier calls nobody; the token may, and is met by the guard.
        // slither-disable-next-line reentrancy-no-eth
        index = _newKey(key, proof);
        uint128 stake = _checkedStake(_pull(amount));
        _seats.push(Seat(stake, uint32(index), uint64(block.timestamp)));
        _seatOf[msg.sender] = _seats.length;
        emit Registered(msg.sender, index, stake);
    }

    function addStake(uint256 amount) external whenNotPaused nonReentrant {
        Seat storage seat = _seat(msg.sender);
        uint256 received = _pull(amount);
        uint128 stake = _checkedStake(seat.stake + received);
        seat.stake = stake;
        emit StakeAdded(msg.sender, received, stake);
    }

    /// @dev Once an epoch length: each rotation makes every later weight page eight bytes longer.
    function rotateKey(bytes calldata key, bytes calldata proof)
        external
        whenNotPaused
        nonReentrant
        returns (uint256 index)
    {
        Seat storage seat = _seat(msg.sender);
        uint256 possibleAt = seat.keySince + epochLength;
        if (block.timestamp < possibleAt) revert RotatedTooSoon(possibleAt);
        index = _newKey(key, proof);
        emit KeyRotated(msg.sender, seat.key, index);
        seat.key = uint32(index);
        seat.keySince = uint64(block.timestamp);
    }

    function requestWithdrawal(uint256 amount) external nonReentrant {
        Seat storage seat = _seat(msg.sender);
        if (amount == 0) revert ZeroAmount();
        uint256 stake = seat.stake;
        if (amount > stake || stake - amount < minimumStake) {
            revert StakeTooSmall(amount > stake ? 0 : stake - amount, minimumStake);
        }
        seat.stake = uint128(stake - amount);
        _enqueue(msg.sender, amount);
    }

    function deregister() external nonReentrant {
        _vacate(msg.sender);
    }

    function withdraw() external nonReentrant returns (uint256 amount) {
        Withdrawal memory withdrawal = _withdrawals[msg.sender];
        amount = withdrawal.amount;
        if (amount == 0) revert NothingPending(msg.sender);
        if (block.timestamp < withdrawal.payableAt) revert WithdrawalNotDue(withdrawal.payableAt);
        delete _withdrawals[msg.sender];
        emit Withdrawn(msg.sender, amount);
        _pay(msg.sender, amount);
    }

    /// @notice Stake that votes from the next snapshot on; zero if not registered.
    function stakeOf(address operator) public view returns (uint256) {
        uint256 seat = _seatOf[operator];
        return seat == 0 ? 0 : _seats[seat - 1].stake;
    }

    /// @notice Stake that waits to be paid out, and when that is possible.
    function pendingOf(address operator) public view returns (uint256 amount, uint256 payableAt) {
        Withdrawal memory withdrawal = _withdrawals[operator];
        return (withdrawal.amount, withdrawal.payableAt);
    }

    /// @notice Index of a registered operator's key.
    function keyOf(address operator) external view returns (uint256) {
        return _seat(operator).key;
    }

    /// @notice Operator that registered the key at an index, whether it still uses it or not; zero if none did.
    function ownerOfKey(uint256 index) public view returns (address) {
        return _owners[index];
    }

    function operatorCount() public view returns (uint256) {
        return _seats.length;
    }

    function keyCount() public view returns (uint256) {
        return _keyCount;
    }

    /// @notice The weights of now, by key index, and their sum. A cold slot an operator.
    function _currentWeights() internal view returns (uint64[] memory weights, uint256 total) {
        weights = new uint64[](_keyCount);
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            Seat memory seat = _seats[i];
            // Fits: `_checkedStake`.
            uint64 weight = uint64(seat.stake / unit);
            weights[seat.key] = weight;
            total += weight;
        }
    }

    /// @notice Takes a share of all that an operator has at stake: first of what votes, then of what waits.
    /// A seat that falls below the minimum is vacated.
    /// @return taken For the caller to account for.
    function _seize(address operator, uint256 share) internal returns (uint256 taken) {
        Withdrawal storage withdrawal = _withdrawals[operator];
        uint256 stake = stakeOf(operator);
        taken = (stake + withdrawal.amount) * share / WHOLE;
        uint256 ofStake = taken < stake ? taken : stake;
        if (taken > ofStake) withdrawal.amount -= uint128(taken - ofStake);
        if (stake != 0) {
            _seats[_seatOf[operator] - 1].stake = uint128(stake - ofStake);
            if (stake - ofStake < minimumStake) _vacate(operator);
        }
    }

    /// @notice Takes tokens from the caller.
    /// @return received What the balance grew by: a token may keep a fee.
    function _pull(uint256 amount) internal returns (uint256 received) {
        uint256 before = token.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), amount);
        received = token.balanceOf(address(this)) - before;
        if (received == 0) revert ZeroAmount();
    }

    function _pay(address to, uint256 amount) internal {
        if (amount != 0) token.safeTransfer(to, amount);
    }

    function _newKey(bytes calldata key, bytes calldata proof) private returns (uint256 index) {
        if (_keyCount >= MAXIMUM_KEYS) revert TableFull();
        // slither-disable-next-line reentrancy-no-eth,reentrancy-benign
        index = verifier.admit(msg.sender, key, proof);
        if (_owners[index] != address(0) || index > type(uint32).max) revert IndexReused(index);
        _owners[index] = msg.sender;
        if (index >= _keyCount) _keyCount = index + 1;
    }

    function _vacate(address operator) private {
        Seat memory left = _seat(operator);
        uint256 position = _seatOf[operator] - 1;
        uint256 last = _seats.length - 1;
        if (position != last) {
            Seat memory moved = _seats[last];
            _seats[position] = moved;
            _seatOf[_owners[moved.key]] = position + 1;
        }
        _seats.pop();
        delete _seatOf[operator];
        emit SeatVacated(operator, left.key);
        if (left.stake != 0) _enqueue(operator, left.stake);
    }

    function _enqueue(address operator, uint256 amount) private {
        Withdrawal storage withdrawal = _withdrawals[operator];
        uint256 pending = withdrawal.amount + amount;
        uint256 payableAt = block.timestamp + withdrawalDelay;
        withdrawal.amount = SafeCast.toUint128(pending);
        withdrawal.payableAt = SafeCast.toUint64(payableAt);
        emit WithdrawalRequested(operator, amount, pending, payableAt);
    }

    function _seat(address operator) private view returns (Seat storage) {
        uint256 seat = _seatOf[operator];
        if (seat == 0) revert NotRegistered(operator);
        return _seats[seat - 1];
    }

    /// Refuses here what a snapshot could not weigh, so that no stake can stop snapshots.
    function _checkedStake(uint256 stake) private view returns (uint128) {
        if (stake < minimumStake) revert StakeTooSmall(stake, minimumStake);
        if (stake > type(uint128).max || stake / unit > type(uint64).max) revert StakeTooLarge(stake);
        return uint128(stake);
    }
}
