// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Settlement} from "../Settlement.sol";
import {ProtocolStake} from "./ProtocolStake.sol";

/// @title The registrar of a settlement whose members weigh what they have at stake elsewhere
/// @notice A settlement has one registrar, which admits keys and says what each member weighs. This one has no owner. It
/// admits the key of whoever is an operator by the registry of another protocol, and weighs each operator by the stake
/// that this protocol states. A derived contract says which protocol: `EigenLayerRegistrar`, `SymbioticRegistrar`.
///
/// **An epoch.** Once an epoch is due, anyone *weighs* the operators: the contract reads the stake of each one and keeps
/// the weights. `weigh` does so in steps, if one transaction does not take all of them. `beginEpoch` weighs those that
/// are left and begins the epoch of the settlement. Then anyone calls the settlement's `enter`.
///
/// - A weight is the stake divided by `unit`, rounded down. A stake of 2^64 units or more weighs 2^64 - 1, and that is
///   also what it adds to the total.
/// - A quorum must weigh more than `numerator / denominator` of the total. If nobody has stake, it must weigh 1, which
///   nobody reaches, so nothing settles in that epoch.
/// - A member's weight is what its stake was when it was weighed. Stake that comes, leaves or is slashed after that
///   counts from the next epoch on. The derived contract says which block counts.
/// - A read of the protocol that fails, answers nonsense or takes more gas than `readGas` counts as no stake, and does
///   not stop the epoch. Whoever passes too little gas for a read is refused (`Reads`).
/// - No key is admitted and no operator leaves while a weighing is under way, so no stake is weighed twice. A weighing
///   that is not finished in `WEIGHING_TIME` is forgotten.
///
/// **Seats.** An operator with a live key has a *seat*. It has one live key, and gets at most one key in an epoch.
/// `rotate` replaces the key. The old key still weighs in the running epoch. Anyone may `evict` an operator that weighs
/// nothing in the running epoch, so that its seat is free.
///
/// **Behind an optimistic settlement** the keys of an epoch go on to prove results for the postings of that epoch until
/// `window` and `answer` are over, and longer while a demand is open (docs/optimistic.md). So an operator keeps a key that
/// it replaced or gave up as safe for so long, and stake has to answer for so long after the epoch.
///
/// **Renewal.** The settlement's key table only grows, and `MOST_KEYS` bounds it. Once at least half of its keys are
/// dead, anyone carries the live ones to the next table with `carry`, in steps. If all are carried when a weighing
/// starts, the epoch that it leads to uses the next table.
///
/// **What is trusted.** The other protocol: its code, whoever can change that, and the tokens whose stake it counts. Its
/// governance can make anyone an operator with any stake, and so settle anything from the next epoch on. Not trusted:
/// the deployer, once the parameters are read; whoever calls; operators. The registrar cannot pin bases, so deploy the
/// settlement without pinned slots.
///
/// NOT done: slashing. Weights are not lowered within an epoch.
abstract contract StakeRegistrar is ProtocolStake {
    /// @notice What is fixed when the contract is made.
    struct Parameters {
        /// No epoch begins before this second, in Unix time.
        uint48 genesis;
        /// Seconds from the beginning of an epoch until the next one may begin.
        uint48 epochLength;
        /// The stake that weighs 1.
        uint256 unit;
        /// The least weight of an operator that registers or rotates; at least 1.
        uint64 leastWeight;
        /// The most operators that have a seat at one time; at most half of `MOST_KEYS`.
        uint32 mostOperators;
        /// A quorum weighs more than `numerator / denominator` of the total: at least half, less than all.
        uint32 numerator;
        /// The denominator.
        uint32 denominator;
        /// The gas that one read of the protocol may take.
        uint32 readGas;
    }

    /// @notice An operator's keys and when it got the last one.
    struct Seat {
        /// The key table to which the next number belongs.
        uint32 table;
        /// One more than the index of the live key; 0 if the operator has none.
        uint32 place;
        /// One more than its index in the table after that; 0 if it was not carried.
        uint32 next;
        /// One more than the number of the epoch in which the operator got its last key.
        uint64 keyedIn;
    }

    /// @notice The running epoch and the key tables.
    struct Running {
        /// The number of the settlement's epoch; 0 before the first.
        uint32 epoch;
        /// The first second in which the next epoch may begin.
        uint48 due;
        /// The number of the running key table.
        uint32 table;
        /// Number of keys in it.
        uint32 keys;
        /// How many of its keys were weighed for the running epoch: those with the lowest indices.
        uint32 members;
        /// How many of its keys `carry` has walked through.
        uint32 walked;
        /// Number of keys in the next table.
        uint32 carried;
    }

    /// @notice A weighing that is under way.
    struct Weighing {
        /// The second before the block in which it started; 0 if there is none since the epoch began.
        uint48 captured;
        /// The table whose keys are weighed.
        uint32 table;
        /// How many keys are weighed in all.
        uint32 keys;
        /// How many of them have a weight already.
        uint32 weighed;
        /// The sum of their weights.
        uint96 total;
    }

    /// @notice The most keys in a table. For so many `beginEpoch` takes 14.6 million gas, if all were weighed before. A
    /// transaction may take 2^24, which is 16.8 million.
    uint32 public constant MOST_KEYS = 16_384;

    /// @notice How many seconds a weighing may take.
    uint48 public constant WEIGHING_TIME = 1 hours;

    /// @notice The settlement.
    Settlement public immutable settlement;
    /// @notice Seconds from the beginning of an epoch until the next one may begin.
    uint48 public immutable epochLength;
    /// @notice The stake that weighs 1.
    uint256 public immutable unit;
    /// @notice The least weight of an operator that registers or rotates.
    uint64 public immutable leastWeight;
    /// @notice The most operators that have a seat at one time.
    uint32 public immutable mostOperators;
    /// @notice A quorum weighs more than `numerator / denominator` of the total.
    uint32 public immutable numerator;
    /// @notice The denominator.
    uint32 public immutable denominator;

    /// @notice How many operators have a seat.
    uint32 public operators;

    /// @dev The running epoch and the key tables.
    Running private _running;

    /// @dev The weighing that is under way.
    Weighing private _weighing;

    /// @dev The seat of each operator.
    mapping(address operator => Seat) private _seats;

    /// @dev Whose live key has an index, by table; zero if the key is dead.
    mapping(uint256 table => mapping(uint256 index => address operator)) private _owners;

    /// @dev The weights of the last weighing, four in a word, in the order and form of packed weights. Words behind
    /// those that it has written hold weights of earlier ones.
    mapping(uint256 word => uint256) private _weights;

    /// @notice An operator got a key.
    /// @param operator The operator.
    /// @param index The key's index in the running table.
    event Keyed(address indexed operator, uint256 index);
    /// @notice An operator's key is dead, and its seat is free.
    /// @param operator The operator.
    event Left(address indexed operator);
    /// @notice The weights of an epoch. Aggregators need them if a quorum's weight is added up.
    /// @param epoch The epoch of the settlement.
    /// @param captured The second whose stake was read, if the protocol keeps a history of it.
    /// @param total The sum of the weights.
    /// @param required The weight that a quorum needs.
    /// @param weights The weights by index, 8 bytes each.
    event EpochWeighed(uint256 indexed epoch, uint256 captured, uint256 total, uint256 required, bytes weights);

    /// @notice The operator has a seat already. Rotate instead.
    /// @param operator The operator.
    error SeatTaken(address operator);
    /// @notice The operator has no seat.
    /// @param operator The operator.
    error NoSeat(address operator);
    /// @notice All seats are taken.
    /// @param operators How many operators have one.
    error NoSeatFree(uint256 operators);
    /// @notice The protocol's registry does not say that this is an operator.
    /// @param sender Who called.
    error NotOperator(address sender);
    /// @notice The operator has too little stake to get a key.
    /// @param weight What it weighs.
    /// @param least What it has to weigh.
    error TooLittleStake(uint256 weight, uint256 least);
    /// @notice The operator got a key in this epoch before.
    /// @param epoch The epoch.
    error OneKeyAnEpoch(uint256 epoch);
    /// @notice The key table is full, until it is renewed.
    /// @param keys Number of its keys.
    error TableFull(uint256 keys);
    /// @notice A weighing is under way. Finish it with `beginEpoch`, or wait until its time is over.
    /// @param until The last second of its time.
    error WeighingUnderWay(uint256 until);
    /// @notice Operators are weighed for the next epoch, or were. So the weights of the running one are not there.
    error WeightsReplaced();
    /// @notice The operator weighs something in the running epoch, or was not weighed for it.
    /// @param operator The operator.
    error NotWeightless(address operator);
    /// @notice The next epoch may not begin yet.
    /// @param due The first second in which it may.
    error TooEarly(uint256 due);
    /// @notice `threshold` is not the weight at which the members, from the lightest on, together reach what a quorum
    /// needs.
    /// @param threshold What was passed.
    /// @param below What the members below it weigh together; this has to be less than is required.
    /// @param upTo What the members up to it weigh together; this has to be at least what is required.
    /// @param required What is required.
    error NotTheThreshold(uint256 threshold, uint256 below, uint256 upTo, uint256 required);
    /// @notice The table is not renewed while fewer than half of its keys are dead.
    /// @param keys Number of its keys.
    /// @param live How many of them are live.
    error TooFewDeadKeys(uint256 keys, uint256 live);

    /// @dev Reverts while a weighing is under way.
    modifier notWhileWeighing() {
        require(!_underWay(_weighing), WeighingUnderWay(_weighing.captured + WEIGHING_TIME));
        _;
    }

    /// @param settlement_ The settlement, which was made with this contract's address as its registrar.
    /// @param parameters The parameters.
    constructor(Settlement settlement_, Parameters memory parameters) ProtocolStake(parameters.readGas) {
        require(settlement_.registrar() == address(this), BadParameter("settlement"));
        require(parameters.epochLength != 0, BadParameter("epochLength"));
        require(parameters.unit != 0, BadParameter("unit"));
        require(parameters.leastWeight != 0, BadParameter("leastWeight"));
        require(parameters.mostOperators <= MOST_KEYS / 2, BadParameter("mostOperators"));
        require(parameters.numerator < parameters.denominator, BadParameter("numerator"));
        require(uint256(parameters.numerator) * 2 >= parameters.denominator, BadParameter("numerator"));
        settlement = settlement_;
        epochLength = parameters.epochLength;
        unit = parameters.unit;
        leastWeight = parameters.leastWeight;
        mostOperators = parameters.mostOperators;
        numerator = parameters.numerator;
        denominator = parameters.denominator;
        _running.due = parameters.genesis;
    }

    /// @notice Gets a seat and admits the caller's first key. The caller must be an operator of the network and weigh at
    /// least `leastWeight`. The key weighs from the next epoch on.
    /// @param key The key, in the format of the settlement's curve.
    /// @param proof The proof of possession: a signature over the settlement's `possessionDigest(caller, key)`, and the
    /// curve's hints.
    /// @return index The key's index in the running table.
    function register(bytes calldata key, bytes calldata proof) external notWhileWeighing returns (uint256 index) {
        require(seatOf(msg.sender).place == 0, SeatTaken(msg.sender));
        require(operators < mostOperators, NoSeatFree(operators));
        operators++;
        return _admit(key, proof);
    }

    /// @notice Replaces the caller's key. The old key still weighs in the running epoch and, in an optimistic settlement,
    /// for the postings of that epoch after its end. It weighs for nothing else. The caller has to fulfil what `register`
    /// asks for.
    /// @param key The new key.
    /// @param proof Its proof of possession, as in `register`.
    /// @return index The new key's index in the running table.
    function rotate(bytes calldata key, bytes calldata proof) external notWhileWeighing returns (uint256 index) {
        _vacate(msg.sender);
        return _admit(key, proof);
    }

    /// @notice Gives up the caller's seat. Its key still weighs in the running epoch and, in an optimistic settlement, for
    /// the postings of that epoch after its end. It weighs for nothing else.
    function resign() external notWhileWeighing {
        _remove(msg.sender);
    }

    /// @notice Frees the seat of an operator that was weighed for the running epoch and weighs nothing. Anyone may call
    /// it until the weighing for the next epoch starts. An operator that has stake again may register again: with
    /// another key, or with the same one in a later table to which it was not carried.
    /// @param operator The operator.
    function evict(address operator) external {
        require(_weighing.captured == 0, WeightsReplaced());
        uint256 place = seatOf(operator).place;
        require(place != 0, NoSeat(operator));
        require(place <= _running.members && _weightAt(place - 1) == 0, NotWeightless(operator));
        _remove(operator);
    }

    /// @notice Carries live keys to the settlement's next table: those among the next `count` indices that were not
    /// walked through. Anyone may call it. The first call is refused while more than half of the keys are live. Later
    /// registrations go on in the running table, and are walked through as well.
    /// @param count How many indices to walk through, at most. A page of the settlement bounds how many of them may be
    /// live: 191 keys of 128 bytes.
    /// @param nonces Pages of the running table that hold the live keys. The settlement's `compact` makes such pages.
    function carry(uint256 count, uint256[] calldata nonces) external {
        Running memory running = _running;
        (uint256 first, uint256 table) = (running.walked, running.table);
        require(first != 0 || 2 * uint256(operators) <= running.keys, TooFewDeadKeys(running.keys, operators));
        uint256 end = first + Math.min(count, running.keys - first);
        bytes memory indices = new bytes(4 * (end - first));
        uint256 live = 0;
        for (uint256 i = first; i < end; i++) {
            address operator = _owners[table][i];
            if (operator == address(0)) continue;
            _owners[table + 1][running.carried] = operator;
            Seat memory seat = seatOf(operator);
            seat.next = ++running.carried;
            _seats[operator] = seat;
            // The array is long enough for all indices that are walked through, and this writes the 4 bytes of one.
            assembly ("memory-safe") {
                let to := add(add(indices, 0x20), mul(4, live))
                mstore8(to, shr(24, i))
                mstore8(add(to, 1), shr(16, i))
                mstore8(add(to, 2), shr(8, i))
                mstore8(add(to, 3), i)
            }
            live++;
        }
        assembly ("memory-safe") {
            mstore(indices, mul(4, live))
        }
        running.walked = uint32(end);
        _running = running;
        if (live != 0) settlement.carry(indices, nonces);
    }

    /// @notice Weighs operators for the next epoch, once it is due. Anyone may call it. Starts a weighing if none is
    /// under way.
    /// @param count How many keys to weigh, at most. A dead one costs about 3,000 gas. A live one costs what the reads of
    /// the protocol cost and 4,000 gas, or 9,000 if there were fewer keys in all earlier epochs.
    function weigh(uint256 count) external {
        _weigh(count);
    }

    /// @notice Begins the next epoch of the settlement, once it is due, and weighs the operators who are left to weigh.
    /// Anyone may call it. Costs about 900 gas for each key that was weighed before. Reverts while the settlement waits
    /// for `enter`.
    ///
    /// Whoever wants to be sure that nothing changes the weights between reading them and the call weighs everybody with
    /// `weigh` first, and reads `weights` then.
    /// @param threshold The weight at which the members, from the lightest on, together reach what a quorum needs. With
    /// weights 10, 20, 30 and 40 and 60 required it is 30. The settlement derives from it how many members are enough
    /// without reading weights. If all weights are zero, any number but 0.
    function beginEpoch(uint64 threshold) external {
        _weigh(type(uint256).max);
        Weighing memory weighing = _weighing;
        Running memory running = _running;
        bytes memory packed = _pack(weighing.keys);
        uint256 required = uint256(weighing.total) * numerator / denominator + 1;
        if (weighing.total != 0) _checkThreshold(threshold, required, packed);
        bool renew = weighing.table != running.table;
        if (renew) (running.table, running.walked, running.carried) = (weighing.table, 0, 0);
        (running.keys, running.members) = (renew ? weighing.keys : running.keys, weighing.keys);
        running.due = uint48(block.timestamp) + epochLength;
        running.epoch++;
        _running = running;
        delete _weighing;
        emit EpochWeighed(running.epoch, weighing.captured, weighing.total, required, packed);
        // At most 16,384 weights of 64 bits: less than 2^78.
        settlement.begin(threshold, packed, uint88(required), renew);
    }

    /// @notice An operator's seat. Its numbers are those of the running table and of the next one.
    /// @param operator The operator.
    /// @return seat The seat.
    function seatOf(address operator) public view returns (Seat memory seat) {
        seat = _seats[operator];
        uint32 table = _running.table;
        // The seat is written when its operator does something, and a table may have been renewed since. A live key is
        // carried in each renewal, which moves the seat by one table.
        if (seat.table != table) (seat.table, seat.place, seat.next) = (table, seat.next, 0);
    }

    /// @notice Whose live key has an index.
    /// @param table The table: the running one or the next one.
    /// @param index The index.
    /// @return The operator; zero if the key is dead, or if there is none.
    function operatorAt(uint256 table, uint256 index) external view returns (address) {
        return _owners[table][index];
    }

    /// @notice The running epoch and the key tables.
    /// @return The numbers.
    function runningEpoch() external view returns (Running memory) {
        return _running;
    }

    /// @notice The weighing that was started last since the running epoch began.
    /// @return The numbers; zeros if there is none.
    function lastWeighing() external view returns (Weighing memory) {
        return _weighing;
    }

    /// @notice The weights of the keys that the current weighing has weighed, or those of the running epoch if none was
    /// started since it began.
    /// @return The weights by index, 8 bytes each.
    function weights() external view returns (bytes memory) {
        return _pack(_weighing.captured == 0 ? _running.members : _weighing.weighed);
    }

    /// @dev Whether a weighing goes on, so that its steps count.
    function _underWay(Weighing memory weighing) private view returns (bool) {
        return weighing.captured != 0 && block.timestamp <= weighing.captured + WEIGHING_TIME;
    }

    /// @dev Admits a key of the caller, whose seat has none.
    function _admit(bytes calldata key, bytes calldata proof) private returns (uint256 index) {
        Running memory running = _running;
        require(_isOperator(msg.sender), NotOperator(msg.sender));
        uint256 weight = _weightOf(msg.sender, uint48(block.timestamp - 1));
        require(weight >= leastWeight, TooLittleStake(weight, leastWeight));
        require(_seats[msg.sender].keyedIn != uint64(running.epoch) + 1, OneKeyAnEpoch(running.epoch));
        require(running.keys < MOST_KEYS, TableFull(running.keys));
        index = running.keys;
        _running.keys = uint32(index + 1);
        _owners[running.table][index] = msg.sender;
        _seats[msg.sender] =
            Seat({table: running.table, place: uint32(index + 1), next: 0, keyedIn: uint64(running.epoch) + 1});
        emit Keyed(msg.sender, index);
        settlement.register(msg.sender, key, proof);
    }

    /// @dev Frees an operator's seat.
    function _remove(address operator) private {
        _vacate(operator);
        operators--;
        emit Left(operator);
    }

    /// @dev Makes an operator's key dead, in the running table and in the next one.
    function _vacate(address operator) private {
        Seat memory seat = seatOf(operator);
        require(seat.place != 0, NoSeat(operator));
        delete _owners[seat.table][seat.place - 1];
        if (seat.next != 0) delete _owners[seat.table + 1][seat.next - 1];
        (seat.place, seat.next) = (0, 0);
        _seats[operator] = seat;
    }

    /// @dev Weighs keys, and starts a weighing first if none is under way.
    function _weigh(uint256 count) private {
        Weighing memory weighing = _weighing;
        if (!_underWay(weighing)) weighing = _start();
        (uint256 first, uint256 table) = (weighing.weighed, weighing.table);
        uint256 end = first + Math.min(count, weighing.keys - first);
        // A word holds four weights.
        // slither-disable-next-line weak-prng
        uint256 word = first % 4 == 0 ? 0 : _weights[first / 4];
        for (uint256 i = first; i < end; i++) {
            address operator = _owners[table][i];
            if (operator != address(0)) {
                uint256 weight = _weightOf(operator, weighing.captured);
                weighing.total += uint96(weight);
                word |= weight << _shift(i);
            }
            // slither-disable-next-line weak-prng
            if (i % 4 == 3 || i + 1 == end) {
                _weights[i / 4] = word;
                word = 0;
            }
        }
        weighing.weighed = uint32(end);
        _weighing = weighing;
    }

    /// @dev What an operator weighs. Frees the memory that the reads took: it would cost more with each operator.
    function _weightOf(address operator, uint48 captured) private view returns (uint256 weight) {
        uint256 free;
        assembly ("memory-safe") {
            free := mload(0x40)
        }
        weight = Math.min(_stakeOf(operator, captured) / unit, type(uint64).max);
        assembly ("memory-safe") {
            mstore(0x40, free)
        }
    }

    /// @dev A weighing of all keys of the table that the next epoch uses.
    function _start() private view returns (Weighing memory weighing) {
        Running memory running = _running;
        require(block.timestamp >= running.due, TooEarly(running.due));
        weighing.captured = uint48(block.timestamp - 1);
        bool renew = running.walked != 0 && running.walked == running.keys;
        (weighing.table, weighing.keys) = renew ? (running.table + 1, running.carried) : (running.table, running.keys);
    }

    /// @dev The weights of the first `keys` indices, 8 bytes each.
    function _pack(uint256 keys) private view returns (bytes memory packed) {
        uint256 words = (keys + 3) / 4;
        // Whole words, so the division comes first.
        // slither-disable-next-line divide-before-multiply
        packed = new bytes(32 * words);
        for (uint256 i = 0; i < words; i++) {
            uint256 word = _weights[i];
            assembly ("memory-safe") {
                mstore(add(add(packed, 0x20), mul(0x20, i)), word)
            }
        }
        assembly ("memory-safe") {
            mstore(packed, mul(8, keys))
        }
    }

    /// @dev Reverts unless the threshold is the one that `beginEpoch` asks for. `packed` lies in memory up to a whole
    /// word, and the weights behind its end are zero.
    function _checkThreshold(uint256 threshold, uint256 required, bytes memory packed) private pure {
        uint256 below = 0;
        uint256 upTo = 0;
        // Assembly, because it takes 60 gas for each weight, and a loop in Solidity 200.
        assembly ("memory-safe") {
            let from := add(packed, 0x20)
            for { let end := add(from, mload(packed)) } lt(from, end) { from := add(from, 8) } {
                let weight := shr(192, mload(from))
                below := add(below, mul(weight, lt(weight, threshold)))
                upTo := add(upTo, mul(weight, iszero(gt(weight, threshold))))
            }
        }
        require(below < required && required <= upTo, NotTheThreshold(threshold, below, upTo, required));
    }

    /// @dev The weight of an index in the last weighing.
    function _weightAt(uint256 index) private view returns (uint256) {
        return uint64(_weights[index / 4] >> _shift(index));
    }

    /// @dev How many bits stand behind the weight of an index in its word.
    function _shift(uint256 index) private pure returns (uint256) {
        // slither-disable-next-line weak-prng
        return 192 - 64 * (index % 4);
    }
}
