// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {RestakedTaskNetwork} from "../RestakedTaskNetwork.sol";
import {EigenLayerStake} from "./EigenLayerStake.sol";
import {IAllocationManager, OperatorSet, SlashingParams} from "./IEigenLayer.sol";
import {Reads} from "./Reads.sol";
import {StakeSource} from "./StakeSource.sol";

/// @title The stake of a task network's operators in an EigenLayer operator set
/// @notice `EigenLayerStake` says what an operator's stake is. The service makes this contract the slasher of its operator
/// set. A slashing takes a share of what the operator allocated to the set in each strategy, and of what waits there to be
/// deallocated or withdrawn. EigenLayer burns it, or sends it to the set's redistribution recipient.
///
/// **Choose `lookahead`** of at least the blocks of the network's `withdrawalDelay`: stake is read in the epoch in which it
/// counts, and answers until the epoch's conflicts can no longer be reported. NOT checked, because EigenLayer counts blocks
/// and the network counts seconds.
contract EigenLayerSource is StakeSource, EigenLayerStake {
    /// @dev Words of the answer of `slashOperator` for one strategy: the number of the slashing, the offset and the length
    /// of the list of shares, and the shares.
    uint256 private constant ANSWER = 4;
    /// @dev One of 10,000 parts, in EigenLayer's unit of shares, where all is 10^18.
    uint256 private constant PART = 1e14;
    /// @dev How many reads weigh an operator: the slasher, membership, stake and the set's strategies.
    uint256 private constant READS = 4;

    /// @param taskNetwork The network, which must name this contract's address as its source.
    /// @param readGas The gas that one read of the protocol may take.
    /// @param allocationManager_ EigenLayer's AllocationManager.
    /// @param operatorSet The operator set.
    /// @param lookahead_ For how many blocks stake has to stay allocated (`EigenLayerStake`).
    /// @param strategies_ The strategies (`EigenLayerStake`); at most 15.
    constructor(
        RestakedTaskNetwork taskNetwork,
        uint32 readGas,
        IAllocationManager allocationManager_,
        OperatorSet memory operatorSet,
        uint32 lookahead_,
        Strategy[] memory strategies_
    ) StakeSource(taskNetwork, readGas) EigenLayerStake(allocationManager_, operatorSet, lookahead_, strategies_) {
        require(strategies_.length * SLASH_GAS <= MOST_GAS, BadParameter("strategies"));
        require(READS * uint256(readGas) <= MOST_GAS, BadParameter("readGas"));
    }

    /// @inheritdoc StakeSource
    function _maySlash() internal view override returns (bool) {
        bytes memory call = abi.encodeCall(IAllocationManager.getSlasher, (OperatorSet(avs, setId)));
        (, uint256 slasher) = Reads.word(address(allocationManager), call, readGas);
        return slasher == uint160(address(this));
    }

    /// @inheritdoc StakeSource
    /// @dev One call for each strategy: EigenLayer refuses a call that names one which the service took out of the set.
    function _slash(address operator, uint256 share) internal override returns (uint256 taken) {
        SlashingParams memory params = SlashingParams({
            operator: operator,
            operatorSetId: setId,
            strategies: new address[](1),
            wadsToSlash: new uint256[](1),
            description: "two signed tasks with one id conflict"
        });
        params.wadsToSlash[0] = share * PART;
        uint256 count = _strategies.length;
        for (uint256 i = 0; i < count; i++) {
            Strategy memory entry = _strategies[i];
            params.strategies[0] = entry.strategy;
            bytes memory call = abi.encodeCall(IAllocationManager.slashOperator, (avs, params));
            (bool done, uint256 answer) = Reads.change(address(allocationManager), call, SLASH_GAS, ANSWER);
            if (!done || _load(answer + 32) != 64 || _load(answer + 64) != 1) {
                emit NotSlashed(entry.strategy, operator);
                continue;
            }
            uint256 shares = _load(answer + 96);
            emit StakeSlashed(entry.strategy, operator, shares);
            taken = Math.saturatingAdd(taken, _valueOf(shares, entry.multiplier));
        }
    }
}
