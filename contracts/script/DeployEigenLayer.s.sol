// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../src/Settlement.sol";
import {EigenLayerRegistrar} from "../src/adapters/EigenLayerRegistrar.sol";
import {IAllocationManager, OperatorSet} from "../src/adapters/IEigenLayer.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";
import {Environment} from "./Environment.sol";
import {StakeDeployment} from "./StakeDeployment.sol";

/// @title Deploys a settlement whose members weigh what an EigenLayer operator set has at stake
contract DeployEigenLayer is StakeDeployment {
    /// @inheritdoc StakeDeployment
    function _registrar(Settlement settlement, StakeRegistrar.Parameters memory parameters)
        internal
        override
        returns (StakeRegistrar)
    {
        IAllocationManager manager = IAllocationManager(Environment.deployed("ALLOCATION_MANAGER"));
        OperatorSet memory set = OperatorSet({
            avs: Environment.account("AVS"), id: uint32(Environment.number("OPERATOR_SET", 0, 0, type(uint32).max))
        });
        uint256 delay = manager.DEALLOCATION_DELAY();
        uint32 lookahead = uint32(Environment.number("LOOKAHEAD", delay - 1, 1, delay - 1));
        (address[] memory accounts, uint96[] memory multipliers) = _weighted("STRATEGIES");
        EigenLayerRegistrar.Strategy[] memory strategies = new EigenLayerRegistrar.Strategy[](accounts.length);
        for (uint256 i = 0; i < accounts.length; i++) {
            strategies[i] = EigenLayerRegistrar.Strategy({strategy: accounts[i], multiplier: multipliers[i]});
        }
        return new EigenLayerRegistrar(settlement, parameters, manager, set, lookahead, strategies);
    }

    /// @inheritdoc StakeDeployment
    /// @dev Membership and slashable stake.
    function _reads() internal pure override returns (uint256) {
        return 2;
    }
}
