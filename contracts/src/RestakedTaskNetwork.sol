// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IStakeSource} from "./interfaces/IStakeSource.sol";
import {Roster, Seat} from "./Roster.sol";
import {TaskNetwork} from "./TaskNetwork.sol";

/// @title A task network whose operators have their stake in a restaking protocol
/// @notice All of `TaskNetwork` holds, but for where stake is. The network holds none. It reads an operator's stake from
/// its `source`, and has the source slash an operator that signed two tasks that conflict. `EigenLayerSource` and
/// `SymbioticSource` are such sources. The token is that of the rewards alone.
///
/// - **Registration** takes no tokens: `amount` has to be 0. The source must say that the operator has the minimum stake.
///   An operator that left may register again from the next epoch on.
/// - **A snapshot** weighs every seat by a stake that was read in its epoch. `snapshot` reads those that were not read
///   yet. If one transaction does not take all reads, anyone calls `weigh` before, in any number of steps.
/// - **An operator below the minimum** weighs nothing. It keeps its seat and its key, and weighs again when the source
///   says so. If all seats are taken, a newcomer takes the place of such an operator.
/// - **Slashed stake** goes where the protocol sends it. So there is no bounty, and nothing comes to the pool.
/// - **Nobody is fined** for a rejected task. So a dishonest quorum can take no stake, and a submission calls the verifier
///   alone.
///
/// `addStake`, `requestWithdrawal` and `withdraw` revert: stake comes and goes in the protocol. `withdrawalDelay` says for how long the
/// source must be able to slash stake after it counted.
///
/// TRUSTED, beside what `TaskNetwork` says: the source, and the protocol behind it. Whoever governs the protocol can make
/// anyone an operator with any stake, and so a quorum from the next epoch on.
contract RestakedTaskNetwork is TaskNetwork {
    /// @dev What each operator adds to the cost of a snapshot, at most, if its stake was read before.
    uint256 private constant READ_OPERATOR_GAS = 8_000;

    /// @notice Where stake is. It is made after the network, for the network's address.
    IStakeSource public immutable source;

    /// @dev The mark of the epoch in which an operator's stake was read last (`_mark`); 0 if it has to be read.
    mapping(address operator => uint256) private _readIn;

    /// @notice An operator's stake was read, and is another one than before.
    /// @param operator The operator.
    /// @param stake The stake, which the next snapshot weighs unless it is read again; 0 if it is below the minimum.
    event StakeRead(address indexed operator, uint256 stake);

    /// @notice This network holds no stake: it comes and goes in the protocol. Register with an amount of 0.
    error StakeIsElsewhere();
    /// @notice The operator had a seat in this epoch. It may register again in the next one.
    /// @param operator The operator.
    error OneSeatAnEpoch(address operator);

    /// @param parameters The network's parameters. `penaltyShare` and `bountyShare` have to be 0.
    /// @param source_ The address that the source will have. The source's constructor checks that the network names it.
    constructor(Parameters memory parameters, IStakeSource source_) TaskNetwork(parameters) {
        require(address(source_) != address(0), ParameterInvalid("source"));
        require(parameters.penaltyShare == 0, ParameterInvalid("penaltyShare"));
        require(parameters.bountyShare == 0, ParameterInvalid("bountyShare"));
        uint256 gas = maximumKeys * KEY_GAS + maximumOperators * READ_OPERATOR_GAS;
        require(gas <= SNAPSHOT_GAS, ParameterInvalid("maximumOperators"));
        source = source_;
    }

    /// @notice Reads what operators have at stake, which the snapshot of this epoch weighs if it was not taken. Anyone may
    /// call it, as often as they like. Works in a pause.
    /// @param operators The operators. Those without a seat are skipped.
    function weigh(address[] calldata operators) external nonReentrant {
        uint256 mark = _mark();
        for (uint256 i = 0; i < operators.length; ++i) {
            uint256 position = _seatOf[operators[i]];
            if (position != 0) _read(position - 1, operators[i], mark);
        }
    }

    /// @notice Reverts: stake is added in the protocol.
    function addStake(uint256) external pure override {
        revert StakeIsElsewhere();
    }

    /// @notice Reverts: stake is withdrawn in the protocol.
    function requestWithdrawal(uint256) external pure override {
        revert StakeIsElsewhere();
    }

    /// @notice Reverts: stake is withdrawn in the protocol.
    function withdraw() external pure override returns (uint256) {
        revert StakeIsElsewhere();
    }

    /// @notice When an operator's stake was read last.
    /// @param operator The operator.
    /// @return One more than the epoch; 2^256 - 1 before the first epoch; 0 if it was not read, or was slashed since.
    function readIn(address operator) external view returns (uint256) {
        return _readIn[operator];
    }

    /// @dev An operator that leaves keeps its stake, unlike in a network of deposits. If it could come again at once, it
    /// would fill the key table alone.
    function _bring(uint256 amount) internal override returns (uint256) {
        require(amount == 0, StakeIsElsewhere());
        uint256 mark = _mark();
        require(_readIn[msg.sender] != mark, OneSeatAnEpoch(msg.sender));
        _readIn[msg.sender] = mark;
        return _ask(msg.sender);
    }

    /// @dev Reads the stake of every seat that was not read in this epoch, and weighs all.
    function _currentWeights(Roster roster) internal override returns (bytes memory weights, uint256 total) {
        uint256 mark = _mark();
        uint256 count = _seats.length;
        for (uint256 i = 0; i < count; ++i) {
            address operator = _operatorOf(_seats[i]);
            if (_readIn[operator] != mark) _read(i, operator, mark);
        }
        return super._currentWeights(roster);
    }

    /// @dev Takes nothing: nobody is fined (`penaltyShare`), and the source slashes.
    function _seize(address, uint256) internal pure override returns (uint256) {
        return 0;
    }

    /// @dev Nothing waits to be paid out.
    function _enqueue(address, uint256) internal override {}

    /// @dev Has the source slash the operator. Its stake is read again for the next snapshot.
    function _slash(address operator, bytes32 id, uint256 epoch) internal override returns (uint256) {
        delete _readIn[operator];
        uint256 amount = source.slash(operator, slashShare);
        _check(amount != 0, uint32(NothingAtStake.selector), uint160(operator));
        emit Slashed(operator, id, epoch, amount, 0, msg.sender);
        return 0;
    }

    /// @dev Reads the stake of a seat's operator.
    function _read(uint256 position, address operator, uint256 mark) private {
        uint256 stake = _ask(operator);
        if (stake < minimumStake) stake = 0;
        _readIn[operator] = mark;
        Seat seat = _seats[position];
        if (seat.stake() == stake) return;
        _seats[position] = seat.withStake(stake);
        emit StakeRead(operator, stake);
    }

    /// @dev Names the epoch of a read: one more than its number. Before the first epoch it is another mark, so that the
    /// first snapshot reads the stake again.
    function _mark() private view returns (uint256) {
        return block.timestamp < genesis ? type(uint256).max : currentEpoch() + 1;
    }

    /// @dev What the source says, and no more than a snapshot can weigh.
    function _ask(address operator) private view returns (uint256) {
        // The source bounds what a read costs, and calls nobody who could change anything.
        // slither-disable-next-line calls-loop
        uint256 stake = source.stakeOf(operator);
        return Math.min(stake, Math.min(type(uint128).max, Math.saturatingMul(type(uint64).max, unit)));
    }
}
