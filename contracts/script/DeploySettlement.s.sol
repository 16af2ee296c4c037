// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../src/Settlement.sol";
import {SettlementDeployment} from "./SettlementDeployment.sol";
import {vm} from "./Vm.sol";

/// @title Deploys a settlement, and writes the network file with which the tools begin
/// @notice All settings come from environment variables; README.md lists them. The file is `deployments/<chain>.json`:
/// the network of `quorate evm plan` before the first key, which `quorate-chain follow` takes on from there.
contract DeploySettlement {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @notice Deploys the settlement in one transaction.
    /// @return settlement The settlement of the curve that `CURVE` names.
    function run() external returns (Settlement settlement) {
        string memory curve = SettlementDeployment.curve();
        uint256 pinned = vm.envOr("PINNED_SLOTS", uint256(4));
        uint256 changesAStore = vm.envOr("CHANGES_A_STORE", uint256(3));
        vm.startBroadcast();
        (, address deployer,) = vm.readCallers();
        settlement = SettlementDeployment.make(curve, vm.envOr("REGISTRAR", deployer), pinned, changesAStore);
        vm.stopBroadcast();
        SettlementDeployment.writeNetwork(curve, settlement);
    }
}
