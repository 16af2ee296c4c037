// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {DeployEigenLayerNetwork} from "../script/DeployEigenLayerNetwork.s.sol";
import {DeploySymbioticNetwork} from "../script/DeploySymbioticNetwork.s.sol";
import {vm as scripts} from "../script/Vm.sol";
import {EigenLayerSource} from "../src/adapters/EigenLayerSource.sol";
import {SymbioticSource} from "../src/adapters/SymbioticSource.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {
    MockAllocationManager,
    MockDelegator,
    MockMiddlewares,
    MockOptIns,
    MockRegistry,
    MockSlasher,
    MockVault
} from "./mocks/Restaking.sol";

/// @notice Runs both scripts. It has one test, because all tests of a process share the environment.
contract DeployRestakedTest is Test {
    function test_the_network_and_its_source_name_each_other() external {
        vm.warp(1_000_000);
        MockAllocationManager manager = new MockAllocationManager();
        _set("ALLOCATION_MANAGER", address(manager));
        _set("AVS", address(0xa5));
        _set("STRATEGIES", address(new MockRegistry()));
        (,, TaskNetwork network) = new DeployEigenLayerNetwork().run();
        RestakedTaskNetwork restaked = RestakedTaskNetwork(address(network));
        EigenLayerSource source = EigenLayerSource(address(restaked.source()));
        assertEq(address(source.taskNetwork()), address(network), "the source's network");
        assertEq(address(source.allocationManager()), address(manager), "the protocol");
        assertEq(source.lookahead(), 100_799, "the default");
        assertEq(network.penaltyShare() + network.bountyShare(), 0, "neither fine nor bounty");

        MockRegistry registry = new MockRegistry();
        MockOptIns optIns = new MockOptIns();
        MockMiddlewares middlewares = new MockMiddlewares();
        MockSlasher slasher = new MockSlasher(address(middlewares), 0, 0);
        MockVault vault = new MockVault(address(new MockDelegator(optIns, 0)), address(slasher), 14 days);
        registry.add(address(0x4e7));
        registry.add(address(vault));
        _set("NETWORK_REGISTRY", address(registry));
        _set("OPERATOR_REGISTRY", address(registry));
        _set("VAULT_FACTORY", address(registry));
        _set("OPT_IN_SERVICE", address(optIns));
        _set("MIDDLEWARE_SERVICE", address(middlewares));
        _set("NETWORK", address(0x4e7));
        _set("VAULTS", address(vault));
        vm.setEnv("SLASHING_WINDOW", "259200");
        (,, network) = new DeploySymbioticNetwork().run();
        SymbioticSource vaults = SymbioticSource(address(RestakedTaskNetwork(address(network)).source()));
        assertEq(address(vaults.taskNetwork()), address(network), "the source's network");
        assertEq(address(vaults.middlewareService()), address(middlewares), "the protocol");
    }

    function _set(string memory name, address account) private {
        vm.setEnv(name, scripts.toString(account));
    }
}
