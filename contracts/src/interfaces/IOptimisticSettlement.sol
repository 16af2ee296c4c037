// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Account} from "../Account.sol";
import {Head} from "../Head.sol";
import {Moment} from "../Moment.sol";
import {ISettlement} from "./ISettlement.sol";

/// @title A settlement to which results may also be posted without a proof
/// @notice A *posting* names the next results, the quorum's signers and their signature, and proves nothing. It becomes
/// final when its window is over and nobody has demanded the proof. docs/optimistic.md explains when that is safe.
///
/// A posting is named by its content and its moment:
///
///     content = keccak256(abi.encode(head, deadline, results, count, evidence, poster))
///     id      = keccak256(content ‖ when)                   each in 32 bytes
///
/// with the members of `Posting`. The slot of a posting holds one word: the id, or a hash that begins with it, with the
/// status in the lowest byte:
///
///     Posted, Settled, Dropped      id                                           & ~0xff | status
///     Demanded                      keccak256(id ‖ challenger ‖ when of the demand) & ~0xff | status
///
/// The last event of `Settled`, `SettledAll`, `EpochEntered` and `Posted` tells the head and the newest commitment that
/// the state hashes.
///
/// Money that the contract owes somebody is credited, and whoever is owed it collects it. Every function reverts if a
/// check fails, with the error of the step that failed.
interface IOptimisticSettlement is ISettlement {
    /// @notice What happened to a posting.
    enum Status {
        // The slot does not hold this posting (any more), or not with this demand.
        Unknown,
        // Anyone may demand a proof. Consumers do not act on it.
        Posted,
        // Somebody demanded a proof, and there is none yet. Consumers do not act on it.
        Demanded,
        // The window is over and nobody demanded a proof. The results count.
        Final,
        // Proven, or final and finished. The results count.
        Settled,
        // Demanded and not proven in time. The results do not count.
        Dropped
    }

    /// @notice A posting, as calls about it pass it.
    struct Posting {
        /// The head before the posting. Its nonce is the number of the first result.
        Head head;
        /// The last second in which the signatures counted, in Unix time.
        uint64 deadline;
        /// keccak256 of the results, 32 bytes each.
        bytes32 results;
        /// How many results.
        uint256 count;
        /// keccak256(bitmap ‖ signature).
        bytes32 evidence;
        /// Who posted, and answers for it with a deposit.
        address poster;
        /// When it was posted.
        Moment when;
        /// The slot in which it lies.
        uint256 slot;
    }

    /// @notice A demand for the proof of a posting, as calls about it pass it. All zeros stand for no demand.
    struct Demand {
        /// Who demanded, and paid the bond.
        address challenger;
        /// When.
        Moment when;
    }

    /// @notice What a posting writes over: the slot and, if that is necessary, the posting in it.
    struct Place {
        /// The slot, below `slots`.
        uint256 slot;
        /// The content of the posting in the slot; zero for an empty slot. A dropped one must be a window old, and one that
        /// counts three windows, so that it could be read for one window at least. In a contract that keeps or forwards
        /// results a settled one is written over at any time, and zero for it.
        bytes32 content;
        /// The moment of that posting; zero in the other cases.
        Moment when;
    }

    /// @notice The parameters, which are fixed for good. Spans of time are over when more seconds *and* more blocks have
    /// passed.
    struct Conditions {
        /// Seconds in which a proof may be demanded.
        uint32 window;
        /// Blocks in which a proof may be demanded.
        uint32 windowBlocks;
        /// Seconds in which a demand has to be answered; not more than `window`.
        uint32 answer;
        /// Blocks in which a demand has to be answered; not more than `windowBlocks`.
        uint32 answerBlocks;
        /// How many postings can wait at the same time.
        uint16 slots;
        /// What a posting that is not proven costs its poster, in wei. Whoever showed it gets half; the rest stays in the
        /// contract for ever.
        uint96 penalty;
        /// What a demand costs, in wei. Whoever answers it gets it.
        uint96 bond;
    }

    /// @notice Results were posted.
    /// @param posting What was posted, packed because each word of a log costs 256 gas. Numbers are big-endian; the left
    /// column counts bytes:
    ///
    ///     32    head after the call. The number of the first result is its nonce, less the number of results. With that
    ///           number for its nonce it is the head of the posting
    ///     32    commitment of the newest base, which a posting does not change
    ///     16    when, as the contract sees it (`Moment`)
    ///     8     deadline: the last second in which the signatures count
    ///     20    who posted
    ///     2     slot
    ///     4     r: number of results
    ///     32·r  results
    ///     …     evidence: the signers' bitmap and the signature
    event Posted(bytes posting);
    /// @notice The proof of a posting was demanded.
    /// @param id The posting.
    /// @param challenger Who demanded.
    /// @param when When, as the contract sees it.
    event Demanded(bytes32 indexed id, address challenger, Moment when);
    /// @notice A posting was proven, and is settled.
    /// @param id The posting.
    /// @param prover Who proved it, and was credited with the bond if it was demanded.
    event Proven(bytes32 indexed id, address prover);
    /// @notice A demand was not answered in time, and the posting's results do not count.
    /// @param id The posting.
    /// @param challenger Who demanded, and was credited.
    /// @param paid What the poster lost.
    event Dropped(bytes32 indexed id, address challenger, uint256 paid);
    /// @notice Results were proven and settled for the numbers of a posting, which does not count. From now on the slot holds
    /// another posting of these numbers, which is settled.
    /// @param id The posting that was there.
    /// @param by The posting that is there now. Its head and slot are those of the other one.
    /// @param results Its results.
    /// @param paid What the other one's poster lost in this call.
    event Displaced(bytes32 indexed id, Posting by, bytes32[] results, uint256 paid);
    /// @notice A final posting was finished, and is settled.
    /// @param id The posting.
    event Finished(bytes32 indexed id);
    /// @notice A deposit grew, began to leave, or left.
    /// @param owner Whose.
    /// @param amount The deposit after the call, in wei.
    /// @param exitAt When its exit began, as the contract sees it; zero if none runs.
    event DepositChanged(address indexed owner, uint256 amount, Moment exitAt);
    /// @notice Somebody was credited, or collected the credit.
    /// @param owner Who.
    /// @param amount The credit after the call, in wei.
    event CreditChanged(address indexed owner, uint256 amount);

    /// @notice The parameters do not fit together: one is zero, a demand could be answered longer than the window, the
    /// penalty is below 2, or the deposit of a poster would have more than 96 bits.
    error UnfitConditions();
    /// @notice There is no such slot.
    /// @param slot The slot.
    error NoSuchSlot(uint256 slot);
    /// @notice The slot cannot be written: its posting waits for its window or for an answer, or has to be finished first;
    /// or what was passed of it is not in the slot.
    /// @param slot The slot.
    error SlotTaken(uint256 slot);
    /// @notice The deposit does not cover a penalty for each slot, or its exit has begun.
    /// @param deposit The deposit, in wei.
    error DepositTooSmall(uint256 deposit);
    /// @notice The deposit would have more than 96 bits.
    /// @param deposit What it would be.
    error DepositTooLarge(uint256 deposit);
    /// @notice The slot does not hold this posting, or not with this demand, or not with a status for which the call is
    /// made.
    /// @param slot The slot.
    error NotThisPosting(uint256 slot);
    /// @notice The demand may still be answered.
    /// @param slot The slot.
    error AnswerRuns(uint256 slot);
    /// @notice A demand costs exactly the bond.
    /// @param paid What was sent.
    error NotTheBond(uint256 paid);
    /// @notice These are not the results of the posting.
    /// @param slot The slot.
    error NotTheseResults(uint256 slot);
    /// @notice No results, or more than the posting has.
    /// @param results How many.
    error AnotherCount(uint256 results);
    /// @notice The signatures did not count any more when the posting was made.
    /// @param deadline The last second in which they counted.
    error DeadlineBeforePosting(uint256 deadline);
    /// @notice The quorum's bytes end before its signature does.
    /// @param length Bytes that are left for the signature.
    error NoSignature(uint256 length);
    /// @notice The receiver did not take the money.
    /// @param amount How much, in wei.
    error NotTaken(uint256 amount);

    /// @notice Adds what is sent to the caller's deposit, and ends an exit that runs. The caller may send nothing.
    function deposit() external payable;

    /// @notice Begins the exit of the caller's deposit. From now on the caller cannot post. Called again, the exit begins
    /// anew.
    function exit() external;

    /// @notice Sends the caller all of the caller's credit; and the whole deposit, if its exit has run for a window and no
    /// demand for the caller's postings is open.
    function withdraw() external;

    /// @notice Posts the next results, without a proof. The caller's deposit must cover a penalty for each slot.
    /// @dev NOT checked: anything about the signers and the signature.
    /// @param head The head.
    /// @param newest The commitment of the newest base, or zero if there is none.
    /// @param deadline The last second in which the signatures count, in Unix time.
    /// @param results The results, in order; at least one.
    /// @param evidence The signers' bitmap, whose last byte is not zero; behind it the signature, as it stands first in
    /// the curve's proof: 96 bytes on BLS12-381, and 64 on BN254. It is a signature over `resultsDigest(epoch, nonce,
    /// deadline, 0xffff, results)`.
    /// @param place The slot in which the posting shall lie, and what lies there.
    function post(
        Head head,
        bytes32 newest,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata evidence,
        Place calldata place
    ) external;

    /// @notice Demands the proof of a posting that is not final. The caller pays the bond.
    /// @param posting The posting.
    function demand(Posting calldata posting) external payable;

    /// @notice Proves results for the numbers of a posting, and settles them at once. Possible until the posting is final,
    /// while a demand for it is open, and while its window runs if it was dropped.
    ///
    /// If the deadline, the results, the signers and the signature are those of the posting, and a demand did not wait
    /// longer than it may, then the posting is proven. The caller gets the bond of the demand.
    ///
    /// In all other cases what is proven displaces the posting, and a challenger gets the bond back. If the results are
    /// others, or a demand waited too long, the poster loses the penalty, and the caller gets half of it. It loses nothing if
    /// it lost the penalty before, when the posting was dropped.
    /// @param posting The posting.
    /// @param demand_ The demand, if the posting's status is Demanded; otherwise zeros.
    /// @param deadline The last second in which the signatures count; not before the posting.
    /// @param results The results, for the posting's first number and those behind it; not more than it has. The numbers
    /// that are left settle nothing.
    /// @param quorum The quorum, packed as `Quorums` says. Its table, its epoch and its number are those of the posting. It
    /// may start from any base, or from the empty quorum. It may name a slot to store in, which the signatures name, too;
    /// it is not stored.
    /// @param head The present head, if the quorum starts from the base in slot 0; otherwise it is not read.
    /// @param newest The present commitment of that base; otherwise it is not read.
    function prove(
        Posting calldata posting,
        Demand calldata demand_,
        uint64 deadline,
        bytes32[] calldata results,
        bytes calldata quorum,
        Head head,
        bytes32 newest
    ) external;

    /// @notice Drops a posting whose demand was not answered in time. The poster loses the penalty; the challenger gets
    /// the bond and half of the penalty.
    /// @param posting The posting.
    /// @param demand_ The demand.
    function drop(Posting calldata posting, Demand calldata demand_) external;

    /// @notice Marks a final posting as settled, and gives its results to the consumer if the contract has one.
    /// @param posting The posting.
    /// @param results Its results.
    function finish(Posting calldata posting, bytes32[] calldata results) external;

    /// @notice The status of a posting.
    /// @param posting The posting.
    /// @param demand_ The last demand for it; zeros if there was none.
    /// @return The status.
    function statusOf(Posting calldata posting, Demand calldata demand_) external view returns (Status);

    /// @notice Whether a posting's results are these, and count: it is final or settled. The number of `results[i]` is
    /// the nonce of the posting's head, plus i. False once the slot holds another posting.
    /// @param posting The posting.
    /// @param results The results.
    /// @return Whether they count.
    function isSettledAs(Posting calldata posting, bytes32[] calldata results) external view returns (bool);

    /// @notice The parameters, in two words.
    /// @return spans From the least significant bit on: 32 bits each of `window`, `windowBlocks`, `answer` and
    /// `answerBlocks`, and 16 of `slots`.
    /// @return money From the least significant bit on: 96 bits each of `penalty` and `bond`.
    function conditions() external view returns (uint256 spans, uint256 money);

    /// @notice What the contract holds of somebody.
    /// @param owner Whose.
    /// @return account The deposit.
    /// @return credit What the contract owes besides, in wei.
    function accountOf(address owner) external view returns (Account account, uint256 credit);
}
