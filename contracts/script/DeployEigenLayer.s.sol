// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../src/Settlement.sol";
import {EigenLayerRegistrar} from "../src/adapters/EigenLayerRegistrar.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";
import {ProtocolEnvironment} from "./ProtocolEnvironment.sol";
import {StakeDeployment} from "./StakeDeployment.sol";

/// @title Deploys a settlement whose members weigh what an EigenLayer operator set has at stake
contract DeployEigenLayer is StakeDeployment {
    /// @inheritdoc StakeDeployment
    function _registrar(Settlement settlement, StakeRegistrar.Parameters memory parameters)
        internal
        override
        returns (StakeRegistrar)
    {
        ProtocolEnvironment.EigenLayer memory e = ProtocolEnvironment.eigenLayer();
        return new EigenLayerRegistrar(settlement, parameters, e.manager, e.set, e.lookahead, e.strategies);
    }

    /// @inheritdoc StakeDeployment
    /// @dev Membership, slashable stake and the set's strategies.
    function _reads() internal pure override returns (uint256) {
        return 3;
    }
}
