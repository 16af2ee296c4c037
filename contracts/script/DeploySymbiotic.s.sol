// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../src/Settlement.sol";
import {IOptInService, IRegistry, IVault} from "../src/adapters/ISymbiotic.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";
import {SymbioticRegistrar} from "../src/adapters/SymbioticRegistrar.sol";
import {Environment} from "./Environment.sol";
import {StakeDeployment} from "./StakeDeployment.sol";

/// @title Deploys a settlement whose members weigh what Symbiotic's vaults give them in a network
contract DeploySymbiotic is StakeDeployment {
    /// @inheritdoc StakeDeployment
    function _registrar(Settlement settlement, StakeRegistrar.Parameters memory parameters)
        internal
        override
        returns (StakeRegistrar)
    {
        SymbioticRegistrar.Symbiotic memory symbiotic = SymbioticRegistrar.Symbiotic({
            networks: IRegistry(Environment.deployed("NETWORK_REGISTRY")),
            operators: IRegistry(Environment.deployed("OPERATOR_REGISTRY")),
            vaults: IRegistry(Environment.deployed("VAULT_FACTORY")),
            optIns: IOptInService(Environment.deployed("OPT_IN_SERVICE"))
        });
        address network = Environment.account("NETWORK");
        uint96 identifier = uint96(Environment.number("SUBNETWORK", 0, 0, type(uint96).max));
        (address[] memory accounts, uint96[] memory multipliers) = _weighted("VAULTS");
        SymbioticRegistrar.Vault[] memory vaults = new SymbioticRegistrar.Vault[](accounts.length);
        for (uint256 i = 0; i < accounts.length; i++) {
            vaults[i] = SymbioticRegistrar.Vault({vault: IVault(accounts[i]), multiplier: multipliers[i]});
        }
        return new SymbioticRegistrar(settlement, parameters, symbiotic, network, identifier, vaults);
    }

    /// @inheritdoc StakeDeployment
    /// @dev Delegator and stake for each vault. A registration also asks both registries.
    function _reads() internal view override returns (uint256) {
        return 2 + 2 * Environment.allDeployed("VAULTS").length;
    }
}
