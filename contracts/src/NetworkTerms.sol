// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {IVerifier} from "./interfaces/IVerifier.sol";

/// @title The terms of a network: its parameters, checked once, and its clock
abstract contract NetworkTerms is ITaskNetwork {
    /// @notice Shares are in parts of this.
    uint256 public constant WHOLE = 10_000;

    IERC20 public immutable token;
    IVerifier public immutable verifier;
    uint256 public immutable genesis;
    uint256 public immutable epochLength;
    uint256 public immutable slashingWindow;
    uint256 public immutable withdrawalDelay;
    uint256 public immutable unit;
    uint256 public immutable minimumStake;
    uint256 public immutable maximumOperators;
    uint256 public immutable quorumNumerator;
    uint256 public immutable quorumDenominator;
    uint256 public immutable performerReward;
    uint256 public immutable attesterReward;
    uint256 public immutable penaltyShare;
    uint256 public immutable slashShare;
    uint256 public immutable bountyShare;

    constructor(Parameters memory p) {
        require(address(p.token).code.length != 0, ParameterInvalid("token"));
        // Each names the other, so neither can be changed and no other network shares this one's keys.
        require(p.verifier.network() == address(this), ParameterInvalid("verifier"));
        require(p.epochLength != 0, ParameterInvalid("epochLength"));
        require(p.slashingWindow != 0, ParameterInvalid("slashingWindow"));
        // Stake asked for in epoch e may vote until e + 2 begins, and a conflict of e is reported until
        // slashingWindow after that: it must not be paid out before.
        require(
            p.withdrawalDelay >= uint256(p.slashingWindow) + 2 * uint256(p.epochLength),
            ParameterInvalid("withdrawalDelay")
        );
        require(p.unit != 0, ParameterInvalid("unit"));
        require(p.minimumStake >= p.unit, ParameterInvalid("minimumStake"));
        require(p.maximumOperators != 0, ParameterInvalid("maximumOperators"));
        // At least half, so that two quorums of one epoch share a signer; less than all, so that one exists.
        require(2 * uint256(p.quorumNumerator) >= p.quorumDenominator, ParameterInvalid("quorumNumerator"));
        require(p.quorumNumerator < p.quorumDenominator, ParameterInvalid("quorumDenominator"));
        require(p.penaltyShare <= WHOLE, ParameterInvalid("penaltyShare"));
        require(p.slashShare != 0 && p.slashShare <= WHOLE, ParameterInvalid("slashShare"));
        // An operator may report itself: it must lose by that.
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
        quorumNumerator = p.quorumNumerator;
        quorumDenominator = p.quorumDenominator;
        performerReward = p.performerReward;
        attesterReward = p.attesterReward;
        penaltyShare = p.penaltyShare;
        slashShare = p.slashShare;
        bountyShare = p.bountyShare;
    }

    /// @notice The epoch of this block. Epoch e is [genesis + e * epochLength, genesis + (e + 1) * epochLength).
    function currentEpoch() public view returns (uint256) {
        if (block.timestamp < genesis) revert NotStarted();
        return (block.timestamp - genesis) / epochLength;
    }

    /// @notice First second at which nothing of an epoch can settle any more.
    function closesAt(uint256 epoch) public view returns (uint256) {
        return genesis + (epoch + 2) * epochLength;
    }
}
