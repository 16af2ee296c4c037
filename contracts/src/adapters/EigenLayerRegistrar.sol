// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../Settlement.sol";
import {EigenLayerStake} from "./EigenLayerStake.sol";
import {IAllocationManager, OperatorSet} from "./IEigenLayer.sol";
import {StakeRegistrar} from "./StakeRegistrar.sol";

/// @title A registrar that takes the stake of an EigenLayer operator set
/// @notice `EigenLayerStake` says what an operator's stake is, and for how long it can be slashed.
///
/// **Choose `lookahead`** of at least the blocks of an epoch's length and an hour: an operator may be weighed up to
/// `WEIGHING_TIME` before the epoch begins. Behind an optimistic settlement, add the blocks of its window and its answer,
/// since keys of an epoch prove results for its postings for so long after it (docs/optimistic.md). If nobody begins an
/// epoch in time, the running one may outlast the stake that stands behind it.
contract EigenLayerRegistrar is StakeRegistrar, EigenLayerStake {
    /// @param settlement The settlement, which was made with this contract's address as its registrar.
    /// @param parameters What every stake registrar takes.
    /// @param allocationManager_ EigenLayer's AllocationManager.
    /// @param operatorSet The operator set.
    /// @param lookahead_ For how many blocks stake has to stay allocated (`EigenLayerStake`).
    /// @param strategies_ The strategies (`EigenLayerStake`).
    constructor(
        Settlement settlement,
        Parameters memory parameters,
        IAllocationManager allocationManager_,
        OperatorSet memory operatorSet,
        uint32 lookahead_,
        Strategy[] memory strategies_
    )
        StakeRegistrar(settlement, parameters)
        EigenLayerStake(allocationManager_, operatorSet, lookahead_, strategies_)
    {}
}
