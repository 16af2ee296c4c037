// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AccessControl} from "@openzeppelin/contracts/access/AccessControl.sol";
import {NetworkTerms} from "./NetworkTerms.sol";
import {ITaskNetwork} from "./interfaces/ITaskNetwork.sol";
import {Slashing} from "./Slashing.sol";

/// @title Staked operators that settle tasks by quorums
/// @notice The whole network: operators stake and register keys, quorums settle tasks, signers and performers claim
/// rewards, and stake is slashed for misbehaviour. It is built in layers, one file each, and each layer inherits the
/// one before: `NetworkTerms` (parameters, clock), `Stakes` (seats, withdrawals), `Epochs` (weights, election),
/// `Rewards` (pool, records, settlements), `Slashing` (penalties, conflicts), and this contract (submission, roles).
/// The verifier keeps keys and weights and checks signatures.
///
/// There is no proxy. No role can move stake, the pool or a parameter. A pause stops registration, added stake,
/// rotation and submission. It never stops snapshots, carried keys, withdrawals, claims and reports.
///
/// TRUSTED: a quorum. More than the required part of the weight decides what a result is, which tasks there are, and
/// with their ids who performs them. A dishonest quorum can empty the pool, and take `penaltyShare` of every operator's
/// stake in every epoch (`Slashing`), also of what waits to be withdrawn. It can do so only for epochs whose snapshot the
/// operator is in, so for at most two after it left. It touches no claim and nothing else.
///
/// NOT checked: what a result means, and that an approved task names the elected performer. Attesters check both before
/// they sign (`performerOf`). A performer who was not elected is never paid, and a rejected task that names one
/// reverts.
contract TaskNetwork is Slashing, AccessControl {
    /// @notice The role that pauses and unpauses.
    bytes32 public constant PAUSER_ROLE = keccak256("quorate.pauser");
    /// @notice The role that pins bases.
    bytes32 public constant PINNER_ROLE = keccak256("quorate.pinner");

    /// @param parameters The network's parameters. `admin` gets all three roles.
    constructor(Parameters memory parameters) NetworkTerms(parameters) {
        require(parameters.admin != address(0), ParameterInvalid("admin"));
        _grantRole(DEFAULT_ADMIN_ROLE, parameters.admin);
        _grantRole(PAUSER_ROLE, parameters.admin);
        _grantRole(PINNER_ROLE, parameters.admin);
    }

    /// @inheritdoc ITaskNetwork
    /// @dev Anyone may submit, because the quorum's signature decides. Besides its verification, a submission of
    /// approved tasks writes a new storage slot for each task, one slot for the record of the signers (a new one,
    /// unless the same quorum submitted before in the epoch), and one for the pool. It reads the epoch, the pool and
    /// the pause.
    function submitTasks(uint256 epoch, Task[] calldata tasks, bytes calldata quorum)
        external
        whenNotPaused
        nonReentrant
    {
        require(tasks.length != 0, NoTasks());
        (Fixed memory terms, uint256 required) = _open(epoch);
        // State is written first. If verification reverts, all of it does. The verifier calls no other contract, so
        // nobody can act between these steps.
        // slither-disable-start reentrancy-no-eth,reentrancy-benign
        (bytes32[] memory digests, uint256 forSigners) = _settle(epoch, terms.id, tasks);
        (bytes memory signers, uint256 weight) = verifier.verify(digests, epoch, terms.table, quorum);
        _check(weight > required, uint32(QuorumTooLight.selector), weight, required);
        _credit(epoch, signers, weight, forSigners);
        _penalise(epoch, tasks);
        // slither-disable-end reentrancy-no-eth,reentrancy-benign
    }

    /// @notice Copies a base to a pinned slot of the running key table, for example the base of all members. Submissions
    /// cannot be stored in a pinned slot, so the base stays there. This changes what submissions cost and nothing else. Only for
    /// `PINNER_ROLE`.
    /// @param slot The pinned slot.
    /// @param from The slot to copy.
    function pin(uint256 slot, uint256 from) external onlyRole(PINNER_ROLE) {
        verifier.pin(slot, from);
    }

    /// @notice Stops registration, added stake, rotation and submission. Only for `PAUSER_ROLE`.
    function pause() external onlyRole(PAUSER_ROLE) {
        _pause();
    }

    /// @notice Ends a pause. Only for `PAUSER_ROLE`.
    function unpause() external onlyRole(PAUSER_ROLE) {
        _unpause();
    }
}
