// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../../script/Vm.sol";
import {OperatorSet} from "../../src/adapters/IEigenLayer.sol";
import {MockAllocationManager, MockDelegator, MockOptIns, MockRegistry, MockVault} from "./Restaking.sol";

/// @notice Puts mocks of the restaking protocols on a chain, with operators who have stake: (i + 1)·100 units of 10^18.
/// The deployer is the service of EigenLayer's operator set 7, and Symbiotic's network.
contract DeployRestaking {
    bool public constant IS_SCRIPT = true;

    function eigenLayer(address[] calldata operators)
        external
        returns (MockAllocationManager manager, address strategy)
    {
        vm.startBroadcast();
        (, address deployer,) = vm.readCallers();
        manager = new MockAllocationManager();
        // Any contract will do.
        strategy = address(new MockRegistry());
        OperatorSet memory set = OperatorSet(deployer, 7);
        for (uint256 i = 0; i < operators.length; i++) {
            manager.join(set, operators[i]);
            manager.setShares(set, operators[i], strategy, (i + 1) * 100e18);
        }
        vm.stopBroadcast();
    }

    function symbiotic(address[] calldata operators)
        external
        returns (MockRegistry registry, MockOptIns optIns, MockVault vault)
    {
        vm.startBroadcast();
        (, address deployer,) = vm.readCallers();
        registry = new MockRegistry();
        optIns = new MockOptIns();
        MockDelegator delegator = new MockDelegator(optIns, 0);
        vault = new MockVault(address(delegator), address(1), 14 days);
        registry.add(deployer);
        registry.add(address(vault));
        for (uint256 i = 0; i < operators.length; i++) {
            registry.add(operators[i]);
            optIns.set(operators[i], deployer, true);
            delegator.set(bytes32(uint256(uint160(deployer)) << 96), operators[i], (i + 1) * 100e18);
        }
        vm.stopBroadcast();
    }
}
