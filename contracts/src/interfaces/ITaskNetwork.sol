// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IVerifier} from "./IVerifier.sol";

/// @title A network of staked operators that settles tasks by quorums
/// @notice A *performer* carries out a task, and *attesters* check and sign the result. Each operator can be both.
/// Amounts are in the token's own units, times in seconds and weights in stake units. A key is named by its index in
/// a key table of the verifier. Tables are renewed, so an index means a key only together with its table. Where an epoch
/// is named, the table is the one that the epoch's snapshot names.
interface ITaskNetwork {
    /// @notice A task with its result, as a quorum signs it. The signed digest also names the chain, the contract, the
    /// epoch and the epoch's snapshot (`taskDigest`).
    struct Task {
        /// Names the task for good: an id settles once in the life of the contract, whatever the epoch.
        bytes32 id;
        /// The index of the performer's key in the epoch's table.
        uint256 performer;
        /// A hash of the result. The contracts do not know what it hashes.
        bytes32 result;
        /// The verdict: whether the attesters found the result right. A rejected task costs its performer stake, but
        /// only the first one of its tasks that are rejected in an epoch.
        bool approved;
    }

    /// @notice The parameters of a network. They are fixed when it is made, and nothing can change them.
    struct Parameters {
        /// The token of stake and rewards.
        IERC20 token;
        /// The verifier. It is made before the network, for the address that the network will have; that address
        /// follows from the deployer and its nonce.
        IVerifier verifier;
        /// Gets all roles. It may give others the roles that pause and pin, and can move neither stake nor the pool nor
        /// a parameter.
        address admin;
        /// The first second of epoch 0.
        uint64 genesis;
        /// The length of an epoch.
        uint64 epochLength;
        /// How long conflicts of an epoch can still be reported after the epoch can settle nothing more.
        uint64 slashingWindow;
        /// The time from the request of a withdrawal to its payout: at least slashingWindow + 2 * epochLength.
        uint64 withdrawalDelay;
        /// Tokens that weigh 1.
        uint128 unit;
        /// The least stake of a registered operator: at least `unit`, so that every operator weighs something.
        uint128 minimumStake;
        /// The most operators at one time: not zero, and so few that a snapshot and a tally fit into a transaction with a
        /// full key table (`maximumKeys`, six keys for each of them).
        uint32 maximumOperators;
        /// A quorum must weigh more than quorumNumerator / quorumDenominator of all weight; that is at least half and
        /// less than all.
        uint32 quorumNumerator;
        /// See `quorumNumerator`.
        uint32 quorumDenominator;
        /// What the elected performer of an approved task gets.
        uint128 performerReward;
        /// What the signers of a task get together. They share it by weight.
        uint128 attesterReward;
        /// The part of the performer's stake that its first rejected task of an epoch costs, in 1/10,000. A dishonest
        /// quorum can take this part from every operator in every epoch.
        uint16 penaltyShare;
        /// The part of an operator's stake that a conflict costs, in 1/10,000; not zero.
        uint16 slashShare;
        /// The part of the slashed amount that the reporter gets, in 1/10,000; at most half.
        uint16 bountyShare;
    }

    /// @notice What is fixed for an epoch.
    struct Snapshot {
        /// The weight of all operators.
        uint256 total;
        /// A quorum must weigh more than this.
        uint256 required;
        /// The number of the key table whose indices weights, bitmaps and tasks of the epoch have.
        uint256 table;
        /// The random word that elects performers.
        bytes32 beacon;
        /// Names the snapshot in every signed digest: the first 20 bytes of a hash of the beacon, of all weights, of the
        /// table's number, and of all keys with their tables and owners. If a reorganisation of the chain replaces a snapshot by another one, the id
        /// is another one, too.
        bytes20 id;
    }

    /// @notice What the signers of one bitmap earned together in one epoch, until it is tallied.
    struct Record {
        /// Tokens that are set aside for the signers.
        uint128 amount;
        /// The weight of the signers.
        uint96 weight;
    }

    /// @notice A task that one key signed, with the signature.
    struct Attestation {
        /// The epoch for which the task was signed.
        uint256 epoch;
        /// The task.
        Task task;
        /// The key, and its signature over the task's digest, as `IVerifier.signerOf` takes them.
        bytes proof;
    }

    /// @notice What a key earned in an epoch, with the proof that the epoch's tally says so.
    struct Share {
        /// The epoch.
        uint256 epoch;
        /// The index of the key in the epoch's table.
        uint256 index;
        /// What the key earned in the epoch, as the last event `Tallied` of the epoch says.
        uint256 amount;
        /// The Merkle proof: the hashes beside the way from the key's leaf to the epoch's root.
        bytes32[] proof;
    }

    /// @notice An operator joined.
    /// @param operator The operator.
    /// @param index The index of its key in the running table.
    /// @param stake Its stake.
    event Registered(address indexed operator, uint256 indexed index, uint256 stake);
    /// @notice An operator added to its stake.
    /// @param operator The operator.
    /// @param amount What was added.
    /// @param stake Its stake now.
    event StakeAdded(address indexed operator, uint256 amount, uint256 stake);
    /// @notice An operator replaced its key.
    /// @param operator The operator.
    /// @param oldIndex The index of the old key in the running table.
    /// @param newIndex The index of the new key in the running table.
    event KeyRotated(address indexed operator, uint256 indexed oldIndex, uint256 indexed newIndex);
    /// @notice Stake left an operator's seat and waits to be paid out.
    /// @param operator The operator.
    /// @param amount What left the seat now.
    /// @param pending All that waits.
    /// @param payableAt The first second at which all of it can be paid out. What waited first keeps its date, and what
    /// followed may get this one (`requestWithdrawal`).
    event WithdrawalRequested(address indexed operator, uint256 amount, uint256 pending, uint256 payableAt);
    /// @notice An operator gave up its seat, was outbid, or fell below the minimum.
    /// @param operator The operator.
    /// @param index The index of its key in the running table.
    event SeatVacated(address indexed operator, uint256 indexed index);
    /// @notice An operator was paid what waited.
    /// @param operator The operator.
    /// @param amount What was paid.
    event Withdrawn(address indexed operator, uint256 amount);
    /// @notice The weights of an epoch were fixed.
    /// @param epoch The epoch.
    /// @param total The weight of all operators.
    /// @param required A quorum must weigh more than this.
    /// @param operators The number of operators.
    /// @param table The number of the key table that the epoch uses.
    /// @param beacon The random word that elects performers.
    /// @param id The snapshot's id, which every digest of the epoch names.
    event EpochSnapshotted(
        uint256 indexed epoch,
        uint256 total,
        uint256 required,
        uint256 operators,
        uint256 table,
        bytes32 beacon,
        bytes20 id
    );
    /// @notice A task was settled.
    /// @param id The task's id.
    /// @param epoch The epoch whose weights decided.
    /// @param performer The index of the performer's key, as the quorum signed it.
    /// @param result The hash of the result.
    /// @param approved Whether the quorum found the result right.
    /// @param rewarded Whether the pool could pay for the task.
    event TaskSettled(
        bytes32 indexed id,
        uint256 indexed epoch,
        uint256 indexed performer,
        bytes32 result,
        bool approved,
        bool rewarded
    );
    /// @notice A quorum signed the tasks of one submission.
    /// @param epoch The epoch whose weights decided.
    /// @param signers The quorum's bitmap. `tally` takes it.
    /// @param weight The quorum's weight.
    /// @param amount What was set aside for the signers of these tasks.
    event Attested(uint256 indexed epoch, bytes signers, uint256 weight, uint256 amount);
    /// @notice The performer of a rejected task lost stake.
    /// @param operator The performer.
    /// @param id The task's id.
    /// @param amount What it lost.
    event Penalised(address indexed operator, bytes32 indexed id, uint256 amount);
    /// @notice An operator lost stake because it signed two tasks with one id that conflict.
    /// @param operator The operator.
    /// @param id The tasks' id.
    /// @param epoch The later of the two tasks' epochs.
    /// @param amount What it lost, the bounty included.
    /// @param bounty What the reporter got of it.
    /// @param reporter Who reported the conflict.
    event Slashed(
        address indexed operator,
        bytes32 indexed id,
        uint256 epoch,
        uint256 amount,
        uint256 bounty,
        address indexed reporter
    );
    /// @notice The pool grew by a gift.
    /// @param from Who gave.
    /// @param amount What the network received.
    event Funded(address indexed from, uint256 amount);
    /// @notice Records and performances of an epoch were added up.
    /// @param epoch The epoch.
    /// @param root The root of the Merkle tree over what each key earned (`ShareTree`).
    /// @param returned What went back to the pool: rounding, and rewards for performers who were not elected.
    /// @param earned What each index earned in the epoch by this tally and all before it.
    event Tallied(uint256 indexed epoch, bytes32 root, uint256 returned, uint256[] earned);
    /// @notice The owner of a key was paid what the key earned in an epoch.
    /// @param operator The owner.
    /// @param epoch The epoch.
    /// @param index The index of the key.
    /// @param amount What was paid.
    event Claimed(address indexed operator, uint256 indexed epoch, uint256 indexed index, uint256 amount);

    /// @notice A parameter of the constructor is not allowed.
    /// @param what The parameter's name.
    error ParameterInvalid(bytes32 what);
    /// @notice Epoch 0 has not begun.
    error NotStarted();
    /// @notice The operator has a seat already.
    /// @param operator The operator.
    error AlreadyRegistered(address operator);
    /// @notice The operator has no seat.
    /// @param operator The operator.
    error NotRegistered(address operator);
    /// @notice There are as many operators as the network allows, and the stake is not a tenth more than the least.
    /// @param least The least stake that takes the place of the lightest operator.
    error SeatsFull(uint256 least);
    /// @notice The running key table has no room for this key until it is renewed. Anyone may carry keys to the next one.
    error TableFull();
    /// @notice Keys cannot be carried yet, because the running table still has room; or its number is the last one.
    /// @param keys How many keys it holds.
    /// @param due With how many keys it may be renewed.
    error RenewalNotDue(uint256 keys, uint256 due);
    /// @notice The stake would be below the minimum.
    /// @param stake The stake that the operator would have; 0 if it asked for more than it has.
    /// @param least The minimum.
    error StakeTooSmall(uint256 stake, uint256 least);
    /// @notice The stake is more than a seat can hold, or its weight more than 64 bits.
    /// @param stake The stake that the operator would have.
    error StakeTooLarge(uint256 stake);
    /// @notice The amount is zero, or the network received nothing.
    error ZeroAmount();
    /// @notice Nothing waits to be paid out to the operator.
    /// @param operator The operator.
    error NothingPending(address operator);
    /// @notice The delay of the withdrawal is not over.
    /// @param payableAt The first second at which a part of it can be paid out.
    error WithdrawalNotDue(uint256 payableAt);
    /// @notice The operator's key is younger than an epoch is long.
    /// @param possibleAt The first second at which it can be replaced.
    error RotatedTooSoon(uint256 possibleAt);
    /// @notice The verifier gave an index that is taken, or is above 32 bits. The verifiers of this project never do.
    /// @param index The index.
    error IndexReused(uint256 index);
    /// @notice The weights of the epoch are fixed already.
    /// @param epoch The epoch.
    error AlreadySnapshotted(uint256 epoch);
    /// @notice The weights of the epoch were not fixed.
    /// @param epoch The epoch.
    error NotSnapshotted(uint256 epoch);
    /// @notice No operator has stake, so there are no weights to fix.
    /// @param epoch The epoch.
    error NothingStaked(uint256 epoch);
    /// @notice The epoch is neither the current nor the previous one, so its tasks cannot settle.
    /// @param epoch The epoch.
    error EpochClosed(uint256 epoch);
    /// @notice Tasks of the epoch can still settle, so its rewards cannot be tallied yet.
    /// @param epoch The epoch.
    error EpochOpen(uint256 epoch);
    /// @notice A submission without tasks.
    error NoTasks();
    /// @notice A task with this id was settled before, or occurs twice in the submission.
    /// @param id The id.
    error AlreadySettled(bytes32 id);
    /// @notice The quorum does not weigh more than is required.
    /// @param weight The quorum's weight.
    /// @param required The quorum must weigh more than this.
    error QuorumTooLight(uint256 weight, uint256 required);
    /// @notice A rejected task names a performer who was not elected for it.
    /// @param id The task's id.
    /// @param performer The index that the task names.
    error NotElected(bytes32 id, uint256 performer);
    /// @notice The performer of this task is owed nothing: the task was not settled as it was passed, not rewarded, not
    /// approved, or is tallied.
    /// @param id The task's id.
    error NothingOwed(bytes32 id);
    /// @notice Nothing is set aside for these signers in this epoch, or it is tallied.
    /// @param record The record: keccak256(abi.encode(epoch, keccak256(bitmap))).
    error UnknownRecord(bytes32 record);
    /// @notice A tally of no record and no task.
    error NothingToTally();
    /// @notice The amounts that were passed are not those of the epoch's last tally.
    /// @param epoch The epoch.
    error NotTheLastTally(uint256 epoch);
    /// @notice The epoch's last tally does not say that the key earned this amount, or the key is not the operator's.
    /// @param epoch The epoch.
    /// @param index The key's index.
    error NotEarned(uint256 epoch, uint256 index);
    /// @notice The key's owner was paid all of this amount.
    /// @param epoch The epoch.
    /// @param index The key's index.
    error AlreadyClaimed(uint256 epoch, uint256 index);
    /// @notice The two tasks do not conflict, or not the same operator signed them.
    error NotConflicting();
    /// @notice Conflicts of the epoch can no longer be reported.
    /// @param epoch The epoch.
    error OutsideWindow(uint256 epoch);
    /// @notice The operator was slashed before for a conflict of this id, in the later one of the two tasks' epochs or in
    /// one after it.
    /// @param operator The operator.
    /// @param id The tasks' id.
    error AlreadySlashed(address operator, bytes32 id);
    /// @notice The operator has nothing that could be slashed.
    /// @param operator The operator.
    error NothingAtStake(address operator);

    /// @notice Registers the caller as an operator, with a key and stake. If all seats are taken, the caller takes the
    /// seat of the operator with the least stake, whose stake then waits to be paid out. For that the caller's stake
    /// must be a tenth more. Not possible in a pause.
    /// @param key The key, in the format of the verifier's curve.
    /// @param proof The proof of possession, which names the caller: a signature over the verifier's
    /// `possessionDigest`, and the curve's hints.
    /// @param amount Tokens to take from the caller. The stake is what the network receives, so a fee of the token
    /// reduces it.
    /// @return index The key's index in the running table.
    function register(bytes calldata key, bytes calldata proof, uint256 amount) external returns (uint256 index);

    /// @notice Adds to the caller's stake. The addition weighs from the next snapshot on. Not possible in a pause.
    /// @param amount Tokens to take from the caller. The network adds what it receives.
    function addStake(uint256 amount) external;

    /// @notice Replaces the caller's key by a new one at a new index. The old key keeps its weight in the epochs whose
    /// weights are fixed already, and the caller stays answerable for what it signs. Possible once the present key is
    /// an epoch length old, and not in a pause.
    /// @param key The new key, in the format of the verifier's curve.
    /// @param proof The proof of possession of the new key, as for `register`.
    /// @return index The new key's index in the running table.
    function rotateKey(bytes calldata key, bytes calldata proof) external returns (uint256 index);

    /// @notice Carries the keys of operators to the next key table. Possible once the running table holds
    /// maximumKeys - 3 * maximumOperators keys, and from then on until no seat waits. Then the next snapshot uses the next
    /// table, where only these keys and those that came since have an index. Anyone may call it, in any number of steps.
    /// @param operators Operators whose keys shall be carried: as many as keys fit into a page at most. Those without a
    /// seat, and those whose key has an index in the next table already, are skipped.
    /// @param nonces Pages of the running table that hold the other keys. The verifier's `compact` makes such pages.
    /// @return count How many keys were carried.
    function carry(address[] calldata operators, uint256[] calldata nonces) external returns (uint256 count);

    /// @notice Asks for a part of the caller's stake; the minimum must stay. The part leaves the caller's seat at once,
    /// and is paid out by `withdraw` after the delay.
    ///
    /// What waits has two dates at most. Suppose 10 wait and 5 follow, by a further request or because the seat was outbid:
    /// the 10 keep their date, and the 5 get a date of their own. If 3 more follow before the 5 can be paid out, the 5 wait
    /// with them, until the delay of the 3 is over. The 10 keep their date in any case.
    /// @param amount Tokens to withdraw.
    function requestWithdrawal(uint256 amount) external;

    /// @notice Gives up the caller's seat and asks for all of its stake, which `withdraw` pays out after the delay.
    function deregister() external;

    /// @notice Pays the caller what waits and whose delay is over. What followed later stays.
    /// @return amount What was paid.
    function withdraw() external returns (uint256 amount);

    /// @notice Fixes the weights of the current epoch, its key table, and its beacon. Anyone may call it, once in an epoch.
    /// @return epoch The epoch.
    function snapshot() external returns (uint256 epoch);

    /// @notice Settles tasks of the current or the previous epoch that one quorum signed. Anyone may call it, but not
    /// in a pause.
    /// @param epoch The epoch whose weights decide.
    /// @param tasks The tasks, at least one.
    /// @param quorum The quorum, packed as `Quorums` says. Its proof holds the sum of the signatures over all tasks.
    function submitTasks(uint256 epoch, Task[] calldata tasks, bytes calldata quorum) external;

    /// @notice Adds to the pool from which rewards are paid.
    /// @param amount Tokens to take from the caller. The pool gets what the network receives.
    function fund(uint256 amount) external;

    /// @notice Adds up what keys earned in an epoch that can settle nothing more: the shares of signers, and the
    /// rewards of elected performers. Each record and each task is added once. Anyone may call it, for some or for all
    /// that an epoch holds, and again for the rest.
    /// @param epoch The epoch.
    /// @param tasks Approved tasks, exactly as they were settled. If a task names a performer who was not elected, its
    /// reward goes back to the pool.
    /// @param signers Bitmaps of quorums, as the event `Attested` names them.
    /// @param earned What each index earned by the tallies before, as the last event `Tallied` of the epoch says: 16 bytes
    /// each, big-endian. Empty if there was none.
    /// @return root The root of the Merkle tree over what each index earned.
    function tally(uint256 epoch, Task[] calldata tasks, bytes[] calldata signers, bytes calldata earned)
        external
        returns (bytes32 root);

    /// @notice Pays an operator what its keys earned in epochs that were tallied, less what was paid before. Anyone may
    /// call it; the operator is paid.
    /// @param operator The operator.
    /// @param shares What its keys earned, by epoch and key.
    /// @return paid What was paid.
    function claim(address operator, Share[] calldata shares) external returns (uint256 paid);

    /// @notice Slashes an operator that signed two tasks with one id which conflict. In one epoch, any two different
    /// tasks conflict. In two epochs, tasks conflict if they differ in result or verdict; the performer may differ,
    /// because each epoch elects its own. Both keys must be the operator's. An operator is slashed for an id once in each
    /// epoch. The caller gets a bounty.
    /// @param first One task, with its signature.
    /// @param second The other task, with its signature.
    /// @return bounty What the caller got.
    function reportConflict(Attestation calldata first, Attestation calldata second) external returns (uint256 bounty);

    /// @notice The digest that operators sign for a task. It names this chain, this contract, the epoch and the epoch's
    /// snapshot. Reverts if the epoch has no snapshot.
    /// @param epoch The epoch.
    /// @param task The task.
    /// @return The digest.
    function taskDigest(uint256 epoch, Task calldata task) external view returns (bytes32);

    /// @notice The performer that was elected for a task. Attesters check it before they sign.
    /// @param epoch The epoch.
    /// @param id The task's id.
    /// @return index The index of the performer's key in the epoch's table.
    function performerOf(uint256 epoch, bytes32 id) external view returns (uint256 index);
}
