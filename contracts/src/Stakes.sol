// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SafeERC20, IERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {NetworkTerms} from "./NetworkTerms.sol";
import {Roster, Rosters, Seat} from "./Roster.sol";

/// @title Operators, their keys and their stake
/// @notice A registered operator has a seat. A seat is one storage slot with the operator's stake and key, and a
/// snapshot reads nothing else of an operator. Every seat holds at least the minimum stake. Stake that is withdrawn
/// leaves the seat at once, so the next snapshot does not count it. It can be slashed until it is paid out. If all
/// seats are taken, whoever stakes a tenth more than the lightest seat takes its place. That does not delay the first
/// withdrawal which waits: it keeps its date. The stake of the lost seat waits behind it, and what followed the first one
/// and is not due yet waits with that stake.
///
/// Keys lie in a table that only grows (`KeyTable`). Before it is full, anyone *carries* the keys of seats to the next
/// table, in steps (`carry`). Once no seat is left, the next snapshot uses the next table. Nobody can hold that up: the
/// key of a seat that was not carried does not change, and a key that comes in the meantime gets an index in both
/// tables. So no change of a seat makes another one to carry.
///
/// NOT supported: tokens whose balances change by themselves (rebasing), and tokens of which there are 2^128 units or
/// more.
abstract contract Stakes is NetworkTerms, Pausable, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @dev The bit of a withdrawal that says whether `_later` holds what followed.
    uint256 private constant FOLLOWED = 1 << 127;

    /// @dev All seats, in no order.
    Seat[] internal _seats;
    /// @dev The position of an operator's seat in `_seats`, plus one; 0 if it has none.
    mapping(address operator => uint256) internal _seatOf;
    /// @dev What waits to be paid out to an operator, but for what followed, in one word: 128 bits of the amount, and behind
    /// them one bit, `FOLLOWED`, and 127 bits of the first second at which it can be paid out.
    mapping(address operator => uint256) private _withdrawals;
    /// @dev What followed, with a later date. Nothing is here unless something is in `_withdrawals`. Apart from it, so that
    /// nobody reads a second slot who has one withdrawal.
    mapping(address operator => uint256) private _later;
    /// @dev The operator that registered each key. Never cleared, because an owner answers for its old keys, too.
    mapping(uint256 table => mapping(uint256 index => address)) private _owners;
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
        _check(_seatOf[msg.sender] == 0, uint32(AlreadyRegistered.selector), uint160(msg.sender));
        Seat seat;
        // The verifier calls no other contract. The token may, and the guard stops it.
        // slither-disable-next-line reentrancy-no-eth
        (index, seat) = _newKey(seat, key, proof, maximumKeys - 2 * maximumOperators);
        uint256 stake = _checkedStake(_bring(amount));
        if (_seats.length >= maximumOperators) _outbid(stake);
        _seats.push(seat.withStake(stake));
        _seatOf[msg.sender] = _seats.length;
        emit Registered(msg.sender, index, stake);
    }

    /// @inheritdoc ITaskNetwork
    function addStake(uint256 amount) external virtual whenNotPaused nonReentrant {
        (Seat seat, uint256 position) = _seat(msg.sender);
        uint256 received = _pull(amount);
        uint256 stake = _checkedStake(seat.stake() + received);
        _seats[position] = seat.withStake(stake);
        emit StakeAdded(msg.sender, received, stake);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Only once in the length of an epoch, because each new key makes the table longer.
    function rotateKey(bytes calldata key, bytes calldata proof)
        external
        whenNotPaused
        nonReentrant
        returns (uint256 index)
    {
        (Seat old, uint256 position) = _seat(msg.sender);
        uint256 possibleAt = old.since() + epochLength;
        _check(block.timestamp >= possibleAt, uint32(RotatedTooSoon.selector), possibleAt);
        (index, _seats[position]) = _newKey(old, key, proof, maximumKeys);
        emit KeyRotated(msg.sender, old.indexIn(_roster.table()), index);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Works in a pause, like snapshots. Operators without a seat, and those whose key was carried, are skipped. So
    /// nobody can make a call fail by carrying, registering, rotating or leaving before it.
    function carry(address[] calldata operators, uint256[] calldata nonces)
        external
        nonReentrant
        returns (uint256 count)
    {
        Roster roster = _roster;
        (uint256 table, uint256 keys, uint256 next) = (roster.table(), roster.keys(), roster.carried());
        uint256 due = maximumKeys - 3 * maximumOperators;
        _check(next != 0 || keys >= due && table < type(uint16).max, uint32(RenewalNotDue.selector), keys, due);
        // Each index is written as a word, of which the next one overwrites all but the first 4 bytes.
        bytes memory indices = new bytes(4 * operators.length + 28);
        for (uint256 i = 0; i < operators.length; ++i) {
            address operator = operators[i];
            uint256 position = _seatOf[operator];
            if (position == 0) continue;
            Seat seat = _seats[position - 1];
            if (seat.table() != table) continue;
            uint256 index = seat.indexIn(table);
            assembly ("memory-safe") {
                mstore(add(add(indices, 0x20), shl(2, count)), shl(224, index))
            }
            ++count;
            _seats[position - 1] = _place(seat, table + 1, next++, operator);
        }
        if (count == 0) return 0;
        assembly ("memory-safe") {
            mstore(indices, shl(2, count))
        }
        bytes32 hash = keccak256(abi.encode(roster.digest(), keccak256(indices)));
        _roster = Rosters.pack(uint256(hash), table, keys, next);
        verifier.carry(indices, nonces);
    }

    /// @inheritdoc ITaskNetwork
    function requestWithdrawal(uint256 amount) external virtual nonReentrant {
        (Seat seat, uint256 position) = _seat(msg.sender);
        require(amount != 0, ZeroAmount());
        uint256 stake = seat.stake();
        uint256 left = amount > stake ? 0 : stake - amount;
        _checkMinimum(left);
        _seats[position] = seat.withStake(left);
        _enqueue(msg.sender, amount);
    }

    /// @inheritdoc ITaskNetwork
    function deregister() external nonReentrant {
        _vacate(msg.sender);
    }

    /// @inheritdoc ITaskNetwork
    function withdraw() external virtual nonReentrant returns (uint256 amount) {
        uint256 first = _withdrawals[msg.sender];
        amount = first >> 128;
        _check(amount != 0, uint32(NothingPending.selector), uint160(msg.sender));
        uint256 payableAt = _dateOf(first);
        _check(block.timestamp >= payableAt, uint32(WithdrawalNotDue.selector), payableAt);
        uint256 later = 0;
        if (first & FOLLOWED != 0) {
            later = _later[msg.sender];
            delete _later[msg.sender];
            if (block.timestamp >= _dateOf(later)) {
                amount += later >> 128;
                later = 0;
            }
        }
        _withdrawals[msg.sender] = later;
        emit Withdrawn(msg.sender, amount);
        _pay(msg.sender, amount);
    }

    /// @notice The stake of an operator's seat, which the next snapshot weighs.
    /// @param operator The operator.
    /// @return The stake; zero if it has no seat.
    function stakeOf(address operator) public view returns (uint256) {
        uint256 seat = _seatOf[operator];
        return seat == 0 ? 0 : _seats[seat - 1].stake();
    }

    /// @notice All that waits to be paid out to an operator. A part of it may be due earlier: `firstPendingOf`.
    /// @param operator The operator.
    /// @return amount Tokens that wait.
    /// @return payableAt The first second at which all of them can be paid out.
    function pendingOf(address operator) public view returns (uint256 amount, uint256 payableAt) {
        (uint256 first, uint256 later) = (_withdrawals[operator], _later[operator]);
        return ((first >> 128) + (later >> 128), _dateOf(later >> 128 == 0 ? first : later));
    }

    /// @notice What is paid out first of all that waits for an operator.
    /// @param operator The operator.
    /// @return amount The tokens; all that wait, if they have one date.
    /// @return payableAt The first second at which they can be paid out.
    function firstPendingOf(address operator) external view returns (uint256 amount, uint256 payableAt) {
        uint256 first = _withdrawals[operator];
        return (first >> 128, _dateOf(first));
    }

    /// @notice The key of a registered operator. Reverts if it has no seat.
    /// @param operator The operator.
    /// @return The key's index in the running table.
    function keyOf(address operator) external view returns (uint256) {
        (Seat seat,) = _seat(operator);
        return seat.indexIn(_roster.table());
    }

    /// @notice The operator that registered a key, whether it still uses it or not.
    /// @param table The number of a key table.
    /// @param index The key's index in it.
    /// @return The operator; zero if the table holds no key at this index.
    function ownerOfKey(uint256 table, uint256 index) public view returns (address) {
        return _owners[table][index];
    }

    /// @notice The number of registered operators.
    /// @return The number of seats.
    function operatorCount() public view returns (uint256) {
        return _seats.length;
    }

    /// @notice The running key table, and how far it is renewed. Keys may be carried once it holds
    /// maximumKeys - 3 * maximumOperators keys. The next snapshot uses the next table if keys were carried and no seat
    /// waits.
    /// @return table Its number.
    /// @return keys How many keys it holds.
    /// @return carried How many keys the next table holds; zero until keys are carried.
    function keyTable() external view returns (uint256 table, uint256 keys, uint256 carried) {
        Roster roster = _roster;
        return (roster.table(), roster.keys(), roster.carried());
    }

    /// @notice Makes the next table the running one, if keys were carried and every seat has a key in it.
    /// @return roster The keys so far, of which the running table is the one that the snapshot uses.
    function _renewed() internal returns (Roster roster) {
        roster = _roster;
        (uint256 table, uint256 carried) = (roster.table(), roster.carried());
        if (carried == 0) return roster;
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            if (_seats[i].table() == table) return roster;
        }
        roster = Rosters.pack(roster.digest(), table + 1, carried, 0);
        _roster = roster;
        verifier.renew();
    }

    /// @notice The weights as they would be fixed now. Reads one cold storage slot for each operator.
    /// @param roster The keys so far.
    /// @return weights The weight of each index of the running table, 8 bytes each.
    /// @return total Their sum.
    function _currentWeights(Roster roster) internal virtual returns (bytes memory weights, uint256 total) {
        weights = new bytes(8 * roster.keys());
        uint256 table = roster.table();
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            Seat seat = _seats[i];
            uint256 weight = seat.stake() / unit;
            uint256 index = seat.indexIn(table);
            total += weight;
            // The weight has 8 bytes, by `_checkedStake`. They are the last ones of a word that lies in `weights` or begins
            // in its length, because a seat's index is below the number of keys. The word's first 24 bytes stay.
            assembly ("memory-safe") {
                let word := add(add(weights, 8), shl(3, index))
                mstore(word, or(shl(64, shr(64, mload(word))), weight))
            }
        }
    }

    /// @notice Takes a share of all that an operator has at stake: first from its seat, then from what waits to be paid
    /// out. A seat that falls below the minimum is given up. Moves no tokens: the caller accounts for them.
    /// @param operator The operator.
    /// @param share The share, in 1/10,000.
    /// @return taken What was taken.
    function _seize(address operator, uint256 share) internal virtual returns (uint256 taken) {
        uint256 first = _withdrawals[operator];
        uint256 later = first & FOLLOWED == 0 ? 0 : _later[operator];
        uint256 stake = stakeOf(operator);
        taken = (stake + (first >> 128) + (later >> 128)) * share / WHOLE;
        uint256 ofStake = taken < stake ? taken : stake;
        if (taken > ofStake) {
            uint256 rest = taken - ofStake;
            // First from what followed, so that this is empty if nothing is left before it.
            uint256 ofLater = rest < later >> 128 ? rest : later >> 128;
            if (ofLater != 0) _later[operator] = later - (ofLater << 128);
            _withdrawals[operator] = first - ((rest - ofLater) << 128);
        }
        if (stake != 0) {
            (Seat seat, uint256 position) = _seat(operator);
            _seats[position] = seat.withStake(stake - ofStake);
            if (stake - ofStake < minimumStake) _vacate(operator);
        }
    }

    /// @notice What the caller has at stake when it registers.
    /// @param amount What it passed to `register`.
    /// @return stake Its stake.
    function _bring(uint256 amount) internal virtual returns (uint256 stake) {
        return _pull(amount);
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

    /// @dev Has the verifier admit a key of the caller, and notes whose it is.
    /// @param seat The caller's seat.
    /// @param most The running table must hold fewer keys before.
    /// @return index The key's index in the running table.
    /// @return The seat with the key.
    function _newKey(Seat seat, bytes calldata key, bytes calldata proof, uint256 most)
        private
        returns (uint256 index, Seat)
    {
        Roster roster = _roster;
        (uint256 table, uint256 next) = (roster.table(), roster.carried());
        require(roster.keys() < most, TableFull());
        // slither-disable-next-line reentrancy-no-eth,reentrancy-benign
        index = verifier.admit(msg.sender, key, proof);
        _check(index >= roster.keys() && index < type(uint32).max, uint32(IndexReused.selector), index);
        seat = _place(seat.withKey(block.timestamp), table, index, msg.sender);
        // While keys are carried, the verifier gives a new key the next free index of the next table, too.
        if (next != 0) seat = _place(seat, table + 1, next++, msg.sender);
        bytes32 hash = keccak256(abi.encode(roster.digest(), table, index, msg.sender, keccak256(key)));
        _roster = Rosters.pack(uint256(hash), table, index + 1, next);
        return (index, seat);
    }

    /// @dev Notes that an operator's key came to a table.
    function _place(Seat seat, uint256 table, uint256 index, address operator) private returns (Seat) {
        _owners[table][index] = operator;
        return seat.place(table, index);
    }

    /// @dev The operator of a seat.
    function _operatorOf(Seat seat) internal view returns (address) {
        uint256 table = _roster.table();
        return _owners[table][seat.indexIn(table)];
    }

    /// @dev Gives up the lightest seat, or one of them, for a newcomer with a tenth more stake. The seat's stake waits
    /// to be paid out, so it can still be slashed.
    function _outbid(uint256 stake) private {
        uint256 lightest = 0;
        uint256 least = type(uint256).max;
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            uint256 held = _seats[i].stake();
            if (held < least) (lightest, least) = (i, held);
        }
        // A tenth more, rounded up.
        least += (least + 9) / 10;
        _check(stake >= least, uint32(SeatsFull.selector), least);
        _vacate(_operatorOf(_seats[lightest]));
    }

    /// @dev Gives up a seat: the last seat moves to its place, and its stake waits to be paid out.
    function _vacate(address operator) private {
        (Seat left, uint256 position) = _seat(operator);
        Seat moved = _seats[_seats.length - 1];
        _seats[position] = moved;
        _seatOf[_operatorOf(moved)] = position + 1;
        _seats.pop();
        delete _seatOf[operator];
        emit SeatVacated(operator, left.indexIn(_roster.table()));
        if (left.stake() != 0) _enqueue(operator, left.stake());
    }

    /// @dev Adds to what waits to be paid out. What waited first keeps its date, so nobody delays it by outbidding the
    /// operator's seat. What followed waits as long as the new amount, unless it is due already.
    function _enqueue(address operator, uint256 amount) internal virtual {
        uint256 first = _withdrawals[operator];
        uint256 payableAt = block.timestamp + withdrawalDelay;
        (uint256 together, uint256 pending) = (amount, amount);
        bool followed = first >> 128 != 0;
        if (followed) {
            uint256 later = _later[operator];
            pending += (first >> 128) + (later >> 128);
            if (block.timestamp >= _dateOf(later)) first += later >> 128 << 128;
            else together += later >> 128;
            _withdrawals[operator] = first | FOLLOWED;
        }
        (followed ? _later : _withdrawals)[operator] = uint256(SafeCast.toUint128(together)) << 128 | payableAt;
        emit WithdrawalRequested(operator, amount, pending, payableAt);
    }

    /// @dev When a withdrawal can be paid out.
    function _dateOf(uint256 withdrawal) private pure returns (uint256) {
        return withdrawal & (FOLLOWED - 1);
    }

    /// @dev The seat of an operator, and its position. Reverts if it has none.
    function _seat(address operator) private view returns (Seat seat, uint256 position) {
        position = _seatOf[operator];
        _check(position != 0, uint32(NotRegistered.selector), uint160(operator));
        seat = _seats[--position];
    }

    /// @dev Reverts if a stake is below the minimum.
    function _checkMinimum(uint256 stake) private view {
        _check(stake >= minimumStake, uint32(StakeTooSmall.selector), stake, minimumStake);
    }

    /// @dev Reverts if a stake is below the minimum, or too large for a snapshot to weigh. So no stake can stop
    /// snapshots.
    function _checkedStake(uint256 stake) private view returns (uint256) {
        _checkMinimum(stake);
        _check(stake <= type(uint128).max && stake / unit <= type(uint64).max, uint32(StakeTooLarge.selector), stake);
        return stake;
    }
}
