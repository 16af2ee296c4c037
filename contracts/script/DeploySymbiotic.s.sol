// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../src/Settlement.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";
import {SymbioticRegistrar} from "../src/adapters/SymbioticRegistrar.sol";
import {Environment} from "./Environment.sol";
import {ProtocolEnvironment} from "./ProtocolEnvironment.sol";
import {StakeDeployment} from "./StakeDeployment.sol";

/// @title Deploys a settlement whose members weigh what Symbiotic's vaults give them in a network
contract DeploySymbiotic is StakeDeployment {
    /// @inheritdoc StakeDeployment
    function _registrar(Settlement settlement, StakeRegistrar.Parameters memory parameters)
        internal
        override
        returns (StakeRegistrar)
    {
        ProtocolEnvironment.Symbiotic memory s = ProtocolEnvironment.symbiotic();
        return new SymbioticRegistrar(settlement, parameters, s.contracts, s.network, s.identifier, s.vaults);
    }

    /// @inheritdoc StakeDeployment
    /// @dev Delegator and stake for each vault. A registration also asks both registries.
    function _reads() internal view override returns (uint256) {
        return 2 + 2 * Environment.allDeployed("VAULTS").length;
    }
}
