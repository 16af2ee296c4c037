// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {NetworkTerms} from "./NetworkTerms.sol";
import {Slashing} from "./Slashing.sol";

/// @title Staked operators that settle tasks by quorums
/// @notice NetworkTerms (parameters, clock) <- Stakes (seats, withdrawals) <- Epochs (weights, election) <- Rewards (pool, records,
/// settlements) <- Slashing (penalties, conflicts) <- this (submission, roles). Keys, weights and signatures are its verifier's.
/// No proxy; no role can move stake, the pool or a parameter. A pause stops registration, added stake, rotation and submission; never
/// snapshots, withdrawals, claims or reports.
/// Not checked here: what a result means, and that the named performer of an approved task is the elected one. Attesters check both
/// before they sign (`performerOf`); a performer who was not elected is never paid, and a rejected task that names one reverts.
contract TaskNetwork is Slashing, AccessControl {
    bytes32 public constant PAUSER_ROLE = keccak256("quorate.pauser");
    bytes32 public constant PINNER_ROLE = keccak256("quorate.pinner");

    constructor(Parameters memory parameters) NetworkTerms(parameters) {
        if (parameters.admin == address(0)) revert ParameterInvalid("admin");
        _grantRole(DEFAULT_ADMIN_ROLE, parameters.admin);
        _grantRole(PAUSER_ROLE, parameters.admin);
        _grantRole(PINNER_ROLE, parameters.admin);
    }

    /// @dev Anyone may submit: the quorum's signature is what counts. Beyond its verification a submission of approved tasks costs a new
    /// slot a task, one slot for the signers' record (new, or written again where the quorum is the same as before in the epoch), one for
    /// the pool, and reads of the epoch and the pause.
    function submitTasks(Task[] calldata tasks, uint256 epoch, bytes calldata quorum)
        external
        whenNotPaused
        nonReentrant
    {
        if (tasks.length == 0) revert NoTasks();
        uint256 required = _open(epoch).required;
        // State first: if verification reverts, so does this. The verifier calls nobody, so what follows it is seen by none too early.
        // slither-disable-start reentrancy-no-eth,reentrancy-benign
        (bytes32[] memory digests, uint256 forSigners) = _settle(tasks, epoch);
        (bytes memory signers, uint256 weight) = verifier.verify(digests, epoch, quorum);
        if (weight <= required) revert QuorumTooLight(weight, required);
        _credit(epoch, signers, weight, forSigners);
        _penalise(tasks, epoch);
        // slither-disable-end reentrancy-no-eth,reentrancy-benign
    }

    /// @notice Copies a base, the full set say, to a slot that no submission stores in, so that nobody can push it out of the cache.
    /// Changes what submissions cost and nothing else.
    function pin(uint256 slot, uint256 from) external onlyRole(PINNER_ROLE) {
        verifier.pin(slot, from);
    }

    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }
}
