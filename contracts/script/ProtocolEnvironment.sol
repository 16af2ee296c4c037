// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAllocationManager, OperatorSet} from "../src/adapters/IEigenLayer.sol";
import {IOptInService, IRegistry, IVault} from "../src/adapters/ISymbiotic.sol";
import {EigenLayerStake} from "../src/adapters/EigenLayerStake.sol";
import {SymbioticStake} from "../src/adapters/SymbioticStake.sol";
import {Environment} from "./Environment.sol";
import {vm} from "./Vm.sol";

/// @title What deployments read of a restaking protocol from environment variables
/// @notice README.md lists the variables. What the contracts check again is refused here with the variable's name.
library ProtocolEnvironment {
    /// @dev What a multiplier of 1 is.
    uint256 private constant ONE = 1e18;

    /// @notice What `EigenLayerStake` takes.
    struct EigenLayer {
        IAllocationManager manager;
        OperatorSet set;
        uint32 lookahead;
        EigenLayerStake.Strategy[] strategies;
    }

    /// @notice What `SymbioticStake` takes.
    struct Symbiotic {
        SymbioticStake.Symbiotic contracts;
        address network;
        uint96 identifier;
        SymbioticStake.Vault[] vaults;
    }

    /// @notice The addresses are not in rising order, or one stands twice.
    /// @param name The variable.
    /// @param place The place of the first one that is not above the one before it, from 0.
    error NotRising(string name, uint256 place);
    /// @notice There is not one multiplier for each address.
    /// @param multipliers How many `MULTIPLIERS` names.
    /// @param expected How many addresses there are.
    error OneMultiplierEach(uint256 multipliers, uint256 expected);

    /// @notice The operator set, and its strategies whose shares count.
    /// @return e What the variables say.
    function eigenLayer() internal view returns (EigenLayer memory e) {
        e.manager = IAllocationManager(Environment.deployed("ALLOCATION_MANAGER"));
        e.set = OperatorSet({
            avs: Environment.account("AVS"), id: uint32(Environment.number("OPERATOR_SET", 0, 0, type(uint32).max))
        });
        uint256 delay = e.manager.DEALLOCATION_DELAY();
        e.lookahead = uint32(Environment.number("LOOKAHEAD", delay - 1, 1, delay - 1));
        (address[] memory accounts, uint96[] memory multipliers) = _weighted("STRATEGIES");
        e.strategies = new EigenLayerStake.Strategy[](accounts.length);
        for (uint256 i = 0; i < accounts.length; i++) {
            e.strategies[i] = EigenLayerStake.Strategy({strategy: accounts[i], multiplier: multipliers[i]});
        }
    }

    /// @notice The network, and the vaults whose stake counts.
    /// @return s What the variables say.
    function symbiotic() internal view returns (Symbiotic memory s) {
        s.contracts = SymbioticStake.Symbiotic({
            networks: IRegistry(Environment.deployed("NETWORK_REGISTRY")),
            operators: IRegistry(Environment.deployed("OPERATOR_REGISTRY")),
            vaults: IRegistry(Environment.deployed("VAULT_FACTORY")),
            optIns: IOptInService(Environment.deployed("OPT_IN_SERVICE"))
        });
        s.network = Environment.account("NETWORK");
        s.identifier = uint96(Environment.number("SUBNETWORK", 0, 0, type(uint96).max));
        (address[] memory accounts, uint96[] memory multipliers) = _weighted("VAULTS");
        s.vaults = new SymbioticStake.Vault[](accounts.length);
        for (uint256 i = 0; i < accounts.length; i++) {
            s.vaults[i] = SymbioticStake.Vault({vault: IVault(accounts[i]), multiplier: multipliers[i]});
        }
    }

    /// @dev A variable's addresses of contracts, by rising addresses, and the multiplier of each, from `MULTIPLIERS`.
    function _weighted(string memory name)
        private
        view
        returns (address[] memory accounts, uint96[] memory multipliers)
    {
        accounts = Environment.allDeployed(name);
        uint256[] memory given = vm.envOr("MULTIPLIERS", ",", new uint256[](0));
        multipliers = new uint96[](accounts.length);
        if (given.length != 0 && given.length != accounts.length) {
            revert OneMultiplierEach(given.length, accounts.length);
        }
        for (uint256 i = 0; i < accounts.length; i++) {
            if (i != 0 && accounts[i] <= accounts[i - 1]) revert NotRising(name, i);
            uint256 multiplier = given.length == 0 ? ONE : given[i];
            if (multiplier == 0 || multiplier > type(uint96).max) {
                revert Environment.OutOfBounds("MULTIPLIERS", multiplier, 1, type(uint96).max);
            }
            multipliers[i] = uint96(multiplier);
        }
    }
}
