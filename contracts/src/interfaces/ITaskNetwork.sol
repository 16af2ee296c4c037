// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IVerifier} from "./IVerifier.sol";

/// @title A network of staked operators that settles tasks by quorums
/// @notice Amounts are in the token's own units, times in seconds, weights in stake units, keys by their index in the key table.
interface ITaskNetwork {
    /// @notice What a quorum signs, with the chain, the contract and the epoch around it. See `taskDigest`.
    struct Task {
        /// Names the task for good: an id settles once in the life of the contract, in whatever epoch.
        bytes32 id;
        /// Index of the performer's key in the key table.
        uint256 performer;
        /// Hash of the result. What it hashes is the service's affair.
        bytes32 result;
        /// Whether the attesters found the result right. A rejected task costs its performer stake.
        bool approved;
    }

    /// @notice Fixed at construction; there is no setter.
    struct Parameters {
        IERC20 token;
        /// Made for this network's address, which follows from its deployer and nonce, before the network itself.
        IVerifier verifier;
        /// Holds DEFAULT_ADMIN_ROLE: names who pauses and who pins. Has no way to stake, funds or parameters.
        address admin;
        /// Start of epoch 0.
        uint64 genesis;
        uint64 epochLength;
        /// How long after an epoch can settle nothing more its conflicts can still be reported.
        uint64 slashingWindow;
        /// From request to payout: at least slashingWindow + 2 * epochLength.
        uint64 withdrawalDelay;
        /// Tokens per unit of weight.
        uint128 unit;
        /// Least stake of a registered operator; at least `unit`, so that every seat weighs something.
        uint128 minimumStake;
        /// Bounds what a snapshot costs.
        uint32 maximumOperators;
        /// A quorum weighs strictly more than numerator / denominator of the total.
        uint32 quorumNumerator;
        uint32 quorumDenominator;
        /// To the elected performer of an approved task.
        uint128 performerReward;
        /// To the signers of a task together, by weight.
        uint128 attesterReward;
        /// Share of the performer's stake that a rejected task costs, in 1/10,000.
        uint16 penaltyShare;
        /// Share of the operator's stake that a conflict costs, in 1/10,000.
        uint16 slashShare;
        /// Share of the slashed amount that the reporter gets, in 1/10,000; at most half.
        uint16 bountyShare;
    }

    /// @notice One slot an epoch: all that a submission reads about it.
    struct Snapshot {
        uint96 total;
        uint96 required;
        uint32 operators;
    }

    /// @notice What the signers of one bitmap in one epoch have together not yet claimed, and their weight.
    struct Record {
        uint128 amount;
        uint96 weight;
    }

    event Registered(address indexed operator, uint256 indexed index, uint256 stake);
    event StakeAdded(address indexed operator, uint256 amount, uint256 stake);
    event KeyRotated(address indexed operator, uint256 indexed oldIndex, uint256 indexed newIndex);
    event WithdrawalRequested(address indexed operator, uint256 amount, uint256 pending, uint256 payableAt);
    event SeatVacated(address indexed operator, uint256 indexed index);
    event Withdrawn(address indexed operator, uint256 amount);
    event EpochSnapshotted(uint256 indexed epoch, uint256 total, uint256 required, uint256 operators, bytes32 beacon);
    event TaskSettled(
        bytes32 indexed id,
        uint256 indexed epoch,
        uint256 indexed performer,
        bytes32 result,
        bool approved,
        bool rewarded
    );
    event Attested(uint256 indexed epoch, bytes signers, uint256 weight, uint256 amount);
    event Penalised(address indexed operator, bytes32 indexed id, uint256 amount);
    event Slashed(
        address indexed operator,
        bytes32 indexed id,
        uint256 indexed epoch,
        uint256 amount,
        uint256 bounty,
        address reporter
    );
    event Funded(address indexed from, uint256 amount);
    event AttestationClaimed(
        address indexed operator, uint256 indexed epoch, uint256 indexed index, bytes32 record, uint256 amount
    );
    event PerformanceClaimed(address indexed operator, bytes32 indexed id, uint256 amount);
    event PerformanceReturned(bytes32 indexed id, uint256 amount);

    error ParameterInvalid(bytes32 what);
    error NotStarted();
    error AlreadyRegistered(address operator);
    error NotRegistered(address operator);
    error SeatsFull();
    error TableFull();
    error StakeTooSmall(uint256 stake, uint256 least);
    error StakeTooLarge(uint256 stake);
    error ZeroAmount();
    error NothingPending(address operator);
    error WithdrawalNotDue(uint256 payableAt);
    error RotatedTooSoon(uint256 possibleAt);
    error IndexReused(uint256 index);
    error UnknownKey(uint256 index);
    error AlreadySnapshotted(uint256 epoch);
    error NotSnapshotted(uint256 epoch);
    error NothingStaked(uint256 epoch);
    error EpochClosed(uint256 epoch);
    error EpochOpen(uint256 epoch);
    error NoTasks();
    error AlreadySettled(bytes32 id);
    error QuorumTooLight(uint256 weight, uint256 required);
    error NotElected(bytes32 id, uint256 performer);
    error NothingOwed(bytes32 id);
    error UnknownRecord(bytes32 record);
    error NotASigner(uint256 index);
    error AlreadyClaimed(bytes32 record, uint256 index);
    error NotConflicting();
    error OutsideWindow(uint256 epoch);
    error AlreadySlashed(address operator, bytes32 id);
    error NothingAtStake(address operator);

    /// @notice Registers the caller with a key and stake. A fee of the token comes off the stake.
    function register(bytes calldata key, bytes calldata proof, uint256 amount) external returns (uint256 index);

    /// @notice Adds to the caller's stake; it weighs from the next snapshot on.
    function addStake(uint256 amount) external;

    /// @notice Gives the caller a new key at a new index, once an epoch length at most.
    function rotateKey(bytes calldata key, bytes calldata proof) external returns (uint256 index);

    /// @notice Asks for part of the caller's stake. A further request adds to the pending one and restarts its delay.
    function requestWithdrawal(uint256 amount) external;

    /// @notice Gives up the caller's seat and asks for all of its stake.
    function deregister() external;

    /// @notice Pays the caller what is pending, once its delay is over.
    function withdraw() external returns (uint256 amount);

    /// @notice Fixes the weights of the current epoch; anyone, once an epoch.
    function snapshot() external returns (uint256 epoch);

    /// @notice Settles tasks that one quorum signed in the current or the previous epoch.
    function submitTasks(Task[] calldata tasks, uint256 epoch, bytes calldata quorum) external;

    /// @notice Adds to the pool that rewards come from.
    function fund(uint256 amount) external;

    /// @notice Pays the owner of a key its share of the records of an epoch that can settle nothing more.
    function claimAttestations(uint256 epoch, uint256 index, bytes[] calldata signers) external returns (uint256 paid);

    /// @notice Pays the elected performers of settled tasks; what was set aside for one not elected goes back.
    function claimPerformances(uint256 epoch, Task[] calldata tasks) external;

    /// @notice Slashes an operator whose key signed two different tasks with one id in one epoch.
    function reportConflict(
        Task calldata first,
        Task calldata second,
        uint256 epoch,
        uint256 index,
        bytes calldata firstProof,
        bytes calldata secondProof
    ) external returns (uint256 bounty);

    /// @notice What operators sign for a task in an epoch, here and on this chain.
    function taskDigest(Task calldata task, uint256 epoch) external view returns (bytes32);

    /// @notice Key index of the performer elected for a task.
    function performerOf(uint256 epoch, bytes32 id) external view returns (uint256 index);
}
