// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Head} from "../Head.sol";

/// @title A settlement, for whoever reads its results or brings signatures
/// @notice The contract stores one word, the state hash `keccak256(head ‖ newest)`. The last event of the three below
/// tells the head and the newest commitment that the state hashes. Between `begin` and `enter` it tells those that
/// `enter` takes. Before the first of them, both are zero. So whoever reads the logs can call.
///
/// Every function reverts if a check fails, with the error of the step that failed.
interface ISettlement {
    /// @notice A result was settled.
    /// @param head The head after the call. The result's number is its nonce, less one.
    /// @param newest The commitment of the newest base after the call; zero if there is none.
    /// @param result The result.
    event Settled(Head head, bytes32 newest, bytes32 result);
    /// @notice Several results were settled.
    /// @param head The head after the call. The number of the first result is its nonce, less the number of results.
    /// @param newest The commitment of the newest base after the call; zero if there is none.
    /// @param results The results, whose numbers follow each other.
    event SettledAll(Head head, bytes32 newest, bytes32[] results);
    /// @notice An epoch was entered.
    /// @param head The head after the call.
    /// @param newest The commitment of the newest base after the call; zero if there is none.
    event EpochEntered(Head head, bytes32 newest);

    /// @notice Settles the next result, which a quorum signed, starting from the newest base.
    /// @param head The head.
    /// @param deadline The last second in which the signatures count, in Unix time.
    /// @param result The result.
    /// @param quorum The quorum, packed as `Quorums` says. The slot of its base must be 0.
    function settle(Head head, uint64 deadline, bytes32 result, bytes calldata quorum) external;

    /// @notice Settles the next results, which the same quorum signed with one signature. The quorum may start from any
    /// base, or from the empty quorum. Each further result costs about 800 gas.
    /// @param head The head.
    /// @param newest The commitment of the newest base, or zero if there is none.
    /// @param deadline The last second in which the signatures count, in Unix time.
    /// @param results The results, in order; at least one.
    /// @param quorum The quorum, packed as `Quorums` says.
    function settleAll(Head head, bytes32 newest, uint64 deadline, bytes32[] calldata results, bytes calldata quorum)
        external;

    /// @notice Enters the epoch that was begun, so that results settle again. Anyone may call it.
    /// @param head The head before.
    /// @param newest The commitment of the newest base before, or zero if there is none.
    function enter(Head head, bytes32 newest) external;

    /// @notice The state hash. Between `begin` and `enter` it is a hash of the one before, and nothing settles.
    /// @return The hash.
    function state() external view returns (bytes32);

    /// @notice The terms of the last epoch that was begun: its head, with zeros for nonce and paid.
    /// @return The terms.
    function terms() external view returns (Head);

    /// @notice Whether the last epoch was begun and is not entered yet.
    /// @return Whether it waits.
    function waiting() external view returns (bool);

    /// @notice The digest that a quorum signs for results. It names this chain, this contract and the results' numbers,
    /// so the signature settles them once and nowhere else. It also names the epoch, and the slot in which the quorum
    /// is stored, so whoever copies the signature can change neither.
    /// @param epoch The epoch in which the results are settled.
    /// @param nonce The number of the first result.
    /// @param deadline The last second in which the signature counts, in Unix time.
    /// @param store The slot in which the quorum is stored, as the quorum's bytes name it: 0xffff for none, 0xfffe for
    /// ski rental.
    /// @param results The results, in order.
    /// @return The digest.
    function resultsDigest(uint256 epoch, uint256 nonce, uint256 deadline, uint256 store, bytes32[] calldata results)
        external
        view
        returns (bytes32);
}
