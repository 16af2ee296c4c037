// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeERC20, IERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {NetworkTerms} from "./NetworkTerms.sol";

/// @title Operators, their keys and their stake
/// @notice A registered operator has a seat. A seat is one storage slot with the operator's stake and key, and a
/// snapshot reads nothing else of an operator. Every seat holds at least the minimum stake. Stake that is withdrawn
/// leaves the seat at once, so the next snapshot does not count it. It can be slashed until it is paid out. If all
/// seats are taken, whoever stakes a tenth more than the lightest seat takes its place.
///
/// NOT supported: tokens whose balances change by themselves (rebasing), and tokens of which there are 2^128 units or
/// more.
abstract contract Stakes is NetworkTerms, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice A registered operator.
    struct Seat {
        /// Its stake.
        uint128 stake;
        /// The index of its key.
        uint32 key;
        /// When it registered this key.
        uint64 keySince;
    }

    /// @notice The keys so far, in one storage slot.
    struct Roster {
        /// One more than the highest index: the number of weights in a snapshot.
        uint32 keys;
        /// The first 28 bytes of a hash of all keys with their indices and owners, each hashed with what was before.
        bytes28 digest;
    }

    /// @notice Stake that waits to be paid out.
    struct Withdrawal {
        /// Tokens that wait.
        uint128 amount;
        /// The first second at which they can be paid out.
        uint64 payableAt;
    }

    /// @dev All seats, in no order.
    Seat[] private _seats;
    /// @dev The position of an operator's seat in `_seats`, plus one; 0 if it has none.
    mapping(address operator => uint256) private _seatOf;
    /// @dev What waits to be paid out to an operator.
    mapping(address operator => Withdrawal) private _withdrawals;
    /// @dev The operator that registered each key. Never cleared, because an owner answers for its old keys, too.
    mapping(uint256 index => address) private _owners;
    /// @dev The keys so far.
    Roster private _roster;

    /// @inheritdoc ITaskNetwork
    /// @dev If all seats are taken, it reads all of them to find the lightest, about 2,400 gas for each.
    function register(bytes calldata key, bytes calldata proof, uint256 amount)
        external
        whenNotPaused
        nonReentrant
        returns (uint256 index)
    {
        require(_seatOf[msg.sender] == 0, AlreadyRegistered(msg.sender));
        // The verifier calls no other contract. The token may, and the guard stops it.
        // slither-disable-next-line reentrancy-no-eth
        index = _newKey(key, proof);
        uint128 stake = _checkedStake(_pull(amount));
        if (_seats.length >= maximumOperators) _outbid(stake);
        _seats.push(Seat(stake, uint32(index), uint64(block.timestamp)));
        _seatOf[msg.sender] = _seats.length;
        emit Registered(msg.sender, index, stake);
    }

    /// @inheritdoc ITaskNetwork
    function addStake(uint256 amount) external whenNotPaused nonReentrant {
        Seat storage seat = _seat(msg.sender);
        uint256 received = _pull(amount);
        uint128 stake = _checkedStake(seat.stake + received);
        seat.stake = stake;
        emit StakeAdded(msg.sender, received, stake);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Only once in the length of an epoch, because each new key makes every later snapshot more expensive.
    function rotateKey(bytes calldata key, bytes calldata proof)
        external
        whenNotPaused
        nonReentrant
        returns (uint256 index)
    {
        Seat storage seat = _seat(msg.sender);
        uint256 possibleAt = seat.keySince + epochLength;
        require(block.timestamp >= possibleAt, RotatedTooSoon(possibleAt));
        index = _newKey(key, proof);
        emit KeyRotated(msg.sender, seat.key, index);
        seat.key = uint32(index);
        seat.keySince = uint64(block.timestamp);
    }

    /// @inheritdoc ITaskNetwork
    function requestWithdrawal(uint256 amount) external nonReentrant {
        Seat storage seat = _seat(msg.sender);
        require(amount != 0, ZeroAmount());
        uint256 stake = seat.stake;
        uint256 left = amount > stake ? 0 : stake - amount;
        _checkMinimum(left);
        seat.stake = uint128(left);
        _enqueue(msg.sender, amount);
    }

    /// @inheritdoc ITaskNetwork
    function deregister() external nonReentrant {
        _vacate(msg.sender);
    }

    /// @inheritdoc ITaskNetwork
    function withdraw() external nonReentrant returns (uint256 amount) {
        Withdrawal memory withdrawal = _withdrawals[msg.sender];
        amount = withdrawal.amount;
        require(amount != 0, NothingPending(msg.sender));
        require(block.timestamp >= withdrawal.payableAt, WithdrawalNotDue(withdrawal.payableAt));
        delete _withdrawals[msg.sender];
        emit Withdrawn(msg.sender, amount);
        _pay(msg.sender, amount);
    }

    /// @notice The stake of an operator's seat, which the next snapshot weighs.
    /// @param operator The operator.
    /// @return The stake; zero if it has no seat.
    function stakeOf(address operator) public view returns (uint256) {
        uint256 seat = _seatOf[operator];
        return seat == 0 ? 0 : _seats[seat - 1].stake;
    }

    /// @notice What waits to be paid out to an operator.
    /// @param operator The operator.
    /// @return amount Tokens that wait.
    /// @return payableAt The first second at which they can be paid out.
    function pendingOf(address operator) public view returns (uint256 amount, uint256 payableAt) {
        Withdrawal memory withdrawal = _withdrawals[operator];
        return (withdrawal.amount, withdrawal.payableAt);
    }

    /// @notice The key of a registered operator. Reverts if it has no seat.
    /// @param operator The operator.
    /// @return The key's index.
    function keyOf(address operator) external view returns (uint256) {
        return _seat(operator).key;
    }

    /// @notice The operator that registered a key, whether it still uses it or not.
    /// @param index The key's index.
    /// @return The operator; zero if no operator registered a key at this index.
    function ownerOfKey(uint256 index) public view returns (address) {
        return _owners[index];
    }

    /// @notice The number of registered operators.
    /// @return The number of seats.
    function operatorCount() public view returns (uint256) {
        return _seats.length;
    }

    /// @notice The number of keys that were ever registered.
    /// @return One more than the highest index.
    function keyCount() public view returns (uint256) {
        return _roster.keys;
    }

    /// @notice A hash of all keys with their indices and owners.
    /// @return The hash's first 28 bytes.
    function _rosterDigest() internal view returns (bytes28) {
        return _roster.digest;
    }

    /// @notice The weights as they would be fixed now. Reads one cold storage slot for each operator.
    /// @return weights The weight of each index.
    /// @return total Their sum.
    function _currentWeights() internal view returns (uint64[] memory weights, uint256 total) {
        weights = new uint64[](_roster.keys);
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            Seat memory seat = _seats[i];
            // The cast keeps everything, by `_checkedStake`.
            uint64 weight = uint64(seat.stake / unit);
            weights[seat.key] = weight;
            total += weight;
        }
    }

    /// @notice Takes a share of all that an operator has at stake: first from its seat, then from what waits to be paid
    /// out. A seat that falls below the minimum is given up. Moves no tokens: the caller accounts for them.
    /// @param operator The operator.
    /// @param share The share, in 1/10,000.
    /// @return taken What was taken.
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
    /// @param amount Tokens to take.
    /// @return received What the network's balance grew by, which is less if the token keeps a fee. Reverts if it is
    /// zero.
    function _pull(uint256 amount) internal returns (uint256 received) {
        uint256 before = _balance();
        token.safeTransferFrom(msg.sender, address(this), amount);
        received = _balance() - before;
        require(received != 0, ZeroAmount());
    }

    /// @dev The tokens that the network holds.
    function _balance() private view returns (uint256) {
        return token.balanceOf(address(this));
    }

    /// @notice Sends tokens. Does nothing for an amount of zero.
    /// @param to Who gets them.
    /// @param amount Tokens to send.
    function _pay(address to, uint256 amount) internal {
        if (amount != 0) token.safeTransfer(to, amount);
    }

    /// @dev Has the verifier admit a key of the caller.
    function _newKey(bytes calldata key, bytes calldata proof) private returns (uint256 index) {
        Roster memory roster = _roster;
        require(roster.keys < maximumKeys, TableFull());
        // slither-disable-next-line reentrancy-no-eth,reentrancy-benign
        index = verifier.admit(msg.sender, key, proof);
        require(_owners[index] == address(0) && index < type(uint32).max, IndexReused(index));
        _owners[index] = msg.sender;
        if (index >= roster.keys) roster.keys = uint32(index + 1);
        roster.digest = bytes28(keccak256(abi.encode(roster.digest, index, msg.sender, keccak256(key))));
        _roster = roster;
    }

    /// @dev Gives up the lightest seat, or one of them, for a newcomer with a tenth more stake. The seat's stake waits
    /// to be paid out, so it can still be slashed.
    function _outbid(uint256 stake) private {
        uint256 lightest = 0;
        uint256 least = type(uint256).max;
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            uint256 held = _seats[i].stake;
            if (held < least) (lightest, least) = (i, held);
        }
        // A tenth more, rounded up.
        least += (least + 9) / 10;
        require(stake >= least, SeatsFull(least));
        _vacate(_owners[_seats[lightest].key]);
    }

    /// @dev Gives up a seat: the last seat moves to its place, and its stake waits to be paid out.
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

    /// @dev Adds to what waits to be paid out, and begins the delay anew.
    function _enqueue(address operator, uint256 amount) private {
        Withdrawal storage withdrawal = _withdrawals[operator];
        uint256 pending = withdrawal.amount + amount;
        uint256 payableAt = block.timestamp + withdrawalDelay;
        withdrawal.amount = SafeCast.toUint128(pending);
        withdrawal.payableAt = SafeCast.toUint64(payableAt);
        emit WithdrawalRequested(operator, amount, pending, payableAt);
    }

    /// @dev The seat of an operator. Reverts if it has none.
    function _seat(address operator) private view returns (Seat storage) {
        uint256 seat = _seatOf[operator];
        require(seat != 0, NotRegistered(operator));
        return _seats[seat - 1];
    }

    /// @dev Reverts if a stake is below the minimum.
    function _checkMinimum(uint256 stake) private view {
        require(stake >= minimumStake, StakeTooSmall(stake, minimumStake));
    }

    /// @dev Reverts if a stake is below the minimum, or too large for a snapshot to weigh. So no stake can stop
    /// snapshots.
    function _checkedStake(uint256 stake) private view returns (uint128) {
        _checkMinimum(stake);
        require(stake <= type(uint128).max && stake / unit <= type(uint64).max, StakeTooLarge(stake));
        return uint128(stake);
    }
}
