// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../Settlement.sol";
import {StakeRegistrar} from "./StakeRegistrar.sol";
import {SymbioticStake} from "./SymbioticStake.sol";

/// @title A registrar that takes stake from Symbiotic's vaults
/// @notice `SymbioticStake` says what an operator's stake is.
///
/// **Which second counts.** The stake of all operators is read as it was at the end of the second before the block in
/// which the weighing started, also if the weighing takes several blocks. When an operator gets a key, the second before
/// that block counts.
///
/// **How long stake can be slashed.** The second that was read may lie up to `WEIGHING_TIME` before the epoch begins. So
/// the constructor wants a vault's epochs to be at least twice the length of the settlement's epochs and `WEIGHING_TIME`
/// more. If nobody begins an epoch in time, the running one may outlast the stake that stands behind it. The constructor
/// does not know whether the settlement is an optimistic one. Behind an optimistic settlement, take vaults whose epochs are
/// longer by its window and its answer, since keys of an epoch prove results for its postings for so long after it
/// (docs/optimistic.md).
contract SymbioticRegistrar is StakeRegistrar, SymbioticStake {
    /// @param settlement The settlement, which was made with this contract's address as its registrar.
    /// @param parameters What every stake registrar takes.
    /// @param symbiotic Where Symbiotic's contracts are.
    /// @param network_ The network, which must be registered.
    /// @param identifier The identifier of the subnetwork.
    /// @param vaults_ The vaults (`SymbioticStake`), with epochs of at least 2 · `epochLength` + `WEIGHING_TIME`.
    constructor(
        Settlement settlement,
        Parameters memory parameters,
        Symbiotic memory symbiotic,
        address network_,
        uint96 identifier,
        Vault[] memory vaults_
    )
        StakeRegistrar(settlement, parameters)
        SymbioticStake(symbiotic, network_, identifier, vaults_, 2 * uint256(parameters.epochLength) + WEIGHING_TIME)
    {}
}
