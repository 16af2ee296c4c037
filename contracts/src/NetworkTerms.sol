// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";

/// @title The parameters of a network, checked once, and its clock
/// @notice `ITaskNetwork.Parameters` explains each parameter.
abstract contract NetworkTerms is ITaskNetwork {
    /// @notice The denominator of shares: a share of 100 is one percent.
    uint256 public constant WHOLE = 10_000;

    /// @dev What a snapshot may cost: 2^24, the most gas of a transaction (EIP-7825), less what a snapshot of nobody
    /// costs, and a tenth in reserve.
    uint256 internal constant SNAPSHOT_GAS = 15_000_000;
    /// @dev What each operator adds to it, at most.
    uint256 internal constant OPERATOR_GAS = 2_700;
    /// @dev What each key adds to it, at most.
    uint256 internal constant KEY_GAS = 1_750;

    /// @dev The most keys of a table, for each operator that the network may have. Let M be the most operators. In an epoch
    /// each seat rotates once at most, so M keys come by rotation. Registrations stop while 2 M places are left. They are
    /// enough for the rotations of an epoch and of the next one up to its snapshot, so rotations go on if keys are carried
    /// in this time. Carrying may begin when 3 M places are left. Then no more than 3 M keys come before the table is full.
    /// The next table takes these and the M keys that are carried, 4 M in all, which is where registrations stop.
    uint256 internal constant KEYS_AN_OPERATOR = 6;
    /// @dev The most keys of a table in a small network. With fewer, its tables would be renewed all the time.
    uint256 internal constant LEAST_KEYS = 256;

    /// @notice The token of stake and rewards.
    IERC20 public immutable token;
    /// @notice The verifier, which serves this network alone.
    IVerifier public immutable verifier;
    /// @notice The first second of epoch 0.
    uint256 public immutable genesis;
    /// @notice The length of an epoch, in seconds.
    uint256 public immutable epochLength;
    /// @notice Seconds in which conflicts of an epoch can still be reported after the epoch can settle nothing more.
    uint256 public immutable slashingWindow;
    /// @notice Seconds from the request of a withdrawal to its payout.
    uint256 public immutable withdrawalDelay;
    /// @notice Tokens that weigh 1.
    uint256 public immutable unit;
    /// @notice The least stake of an operator.
    uint256 public immutable minimumStake;
    /// @notice The most operators at one time.
    uint256 public immutable maximumOperators;
    /// @notice The most keys of a key table: six for each operator that the network may have, and at least 256.
    /// Replaced keys count, and keys of operators who left. A snapshot of so many keys and of the most operators fits into
    /// a transaction.
    uint256 public immutable maximumKeys;
    /// @notice A quorum must weigh more than quorumNumerator / quorumDenominator of all weight.
    uint256 public immutable quorumNumerator;
    /// @notice See `quorumNumerator`.
    uint256 public immutable quorumDenominator;
    /// @notice What the elected performer of an approved task gets.
    uint256 public immutable performerReward;
    /// @notice What the signers of a task get together.
    uint256 public immutable attesterReward;
    /// @notice The part of the performer's stake that its first rejected task of an epoch costs, in 1/10,000.
    uint256 public immutable penaltyShare;
    /// @notice The part of an operator's stake that a conflict costs, in 1/10,000.
    uint256 public immutable slashShare;
    /// @notice The part of the slashed amount that the reporter gets, in 1/10,000.
    uint256 public immutable bountyShare;

    /// @param p The parameters. The constructor reverts with `ParameterInvalid` and the name of the first one that is
    /// not allowed.
    constructor(Parameters memory p) {
        require(address(p.token).code.length != 0, ParameterInvalid("token"));
        // Verifier and network name each other for good. So neither can be exchanged, and no other network shares the
        // keys.
        require(p.verifier.network() == address(this), ParameterInvalid("verifier"));
        require(p.epochLength != 0, ParameterInvalid("epochLength"));
        require(p.slashingWindow != 0, ParameterInvalid("slashingWindow"));
        // Stake that is withdrawn in epoch e may have been weighed for e, and tasks of e settle until e + 2 begins.
        // Conflicts of e are reported for slashingWindow longer. The stake must not be paid out before.
        require(
            p.withdrawalDelay >= uint256(p.slashingWindow) + 2 * uint256(p.epochLength),
            ParameterInvalid("withdrawalDelay")
        );
        require(p.unit != 0, ParameterInvalid("unit"));
        require(p.minimumStake >= p.unit, ParameterInvalid("minimumStake"));
        uint256 keys = KEYS_AN_OPERATOR * uint256(p.maximumOperators);
        if (keys < LEAST_KEYS) keys = LEAST_KEYS;
        uint256 gas = keys * KEY_GAS + p.maximumOperators * OPERATOR_GAS;
        require(p.maximumOperators != 0 && gas <= SNAPSHOT_GAS, ParameterInvalid("maximumOperators"));
        // With at least half, two quorums of one epoch share a signer. With less than all, a quorum can exist.
        require(2 * uint256(p.quorumNumerator) >= p.quorumDenominator, ParameterInvalid("quorumNumerator"));
        require(p.quorumNumerator < p.quorumDenominator, ParameterInvalid("quorumDenominator"));
        require(p.penaltyShare <= WHOLE, ParameterInvalid("penaltyShare"));
        require(p.slashShare != 0 && p.slashShare <= WHOLE, ParameterInvalid("slashShare"));
        // An operator can report itself and must lose by that.
        require(p.bountyShare <= WHOLE / 2, ParameterInvalid("bountyShare"));

        token = p.token;
        verifier = p.verifier;
        genesis = p.genesis;
        epochLength = p.epochLength;
        slashingWindow = p.slashingWindow;
        withdrawalDelay = p.withdrawalDelay;
        unit = p.unit;
        minimumStake = p.minimumStake;
        maximumOperators = p.maximumOperators;
        maximumKeys = keys;
        quorumNumerator = p.quorumNumerator;
        quorumDenominator = p.quorumDenominator;
        performerReward = p.performerReward;
        attesterReward = p.attesterReward;
        penaltyShare = p.penaltyShare;
        slashShare = p.slashShare;
        bountyShare = p.bountyShare;
    }

    /// @notice The epoch of this block. Epoch e lasts from second genesis + e * epochLength to the second before
    /// genesis + (e + 1) * epochLength.
    /// @return The epoch.
    function currentEpoch() public view returns (uint256) {
        require(block.timestamp >= genesis, NotStarted());
        return (block.timestamp - genesis) / epochLength;
    }

    /// @notice The end of an epoch's time to settle: tasks of an epoch settle in it and in the next epoch.
    /// @param epoch The epoch.
    /// @return The first second at which none of its tasks can settle.
    function closesAt(uint256 epoch) public view returns (uint256) {
        return genesis + (epoch + 2) * epochLength;
    }

    // Functions, and not `require`, so that the code which encodes errors is in the contract once. It would take 1,500
    // bytes, and the contract would be too large.

    /// @notice Reverts with an error that has one argument, unless a condition holds.
    /// @param holds The condition.
    /// @param selector The error's selector.
    /// @param argument Its argument.
    function _check(bool holds, uint32 selector, uint256 argument) internal pure {
        assembly ("memory-safe") {
            if iszero(holds) {
                mstore(0x00, shl(224, selector))
                mstore(0x04, argument)
                revert(0x00, 0x24)
            }
        }
    }

    /// @notice Reverts with an error that has two arguments, unless a condition holds.
    /// @param holds The condition.
    /// @param selector The error's selector.
    /// @param first Its first argument.
    /// @param second Its second argument.
    function _check(bool holds, uint32 selector, uint256 first, uint256 second) internal pure {
        assembly ("memory-safe") {
            if iszero(holds) {
                mstore(0x00, shl(224, selector))
                mstore(0x04, first)
                mstore(0x24, second)
                revert(0x00, 0x44)
            }
        }
    }
}
