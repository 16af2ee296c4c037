// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IStakeSource} from "../src/interfaces/IStakeSource.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {EigenLayerSource} from "../src/adapters/EigenLayerSource.sol";
import {ProtocolEnvironment} from "./ProtocolEnvironment.sol";
import {RestakedDeployment} from "./RestakedDeployment.sol";

/// @title Deploys a task network whose operators have their stake in an EigenLayer operator set
contract DeployEigenLayerNetwork is RestakedDeployment {
    /// @inheritdoc RestakedDeployment
    function _source(RestakedTaskNetwork network, uint32 readGas) internal override returns (IStakeSource) {
        ProtocolEnvironment.EigenLayer memory e = ProtocolEnvironment.eigenLayer();
        return new EigenLayerSource(network, readGas, e.manager, e.set, e.lookahead, e.strategies);
    }
}
