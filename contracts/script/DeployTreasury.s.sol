// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Treasury} from "../examples/Treasury.sol";
import {TreasurySettlement} from "../examples/TreasurySettlement.sol";
import {SettlementDeployment} from "./SettlementDeployment.sol";
import {vm} from "./Vm.sol";

/// @title Deploys the example of a contract that acts on results, with its settlement, and writes the network file
/// @notice docs/integrate.md walks through it. The file is that of `DeploySettlement`. The settlement has keys in G2 of
/// BN254, and its results are payments: 12 bytes of wei, then 20 bytes of who may take them.
contract DeployTreasury {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @notice Deploys both, in two transactions.
    /// @return settlement The settlement. Its registrar is `REGISTRAR`, or else the deployer.
    /// @return treasury The treasury, which holds nothing yet. Send it what it shall pay.
    function run() external returns (TreasurySettlement settlement, Treasury treasury) {
        vm.startBroadcast();
        (, address deployer,) = vm.readCallers();
        address expected = SettlementDeployment.afterTheNext();
        settlement = new TreasurySettlement(Treasury(expected), vm.envOr("REGISTRAR", deployer));
        treasury = new Treasury(address(settlement));
        vm.stopBroadcast();
        SettlementDeployment.requireAddress(address(treasury), expected);
        SettlementDeployment.writeNetwork("bn254-g2", settlement);
    }
}
