// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IStakeSource} from "../src/interfaces/IStakeSource.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {INetworkMiddlewareService} from "../src/adapters/ISymbiotic.sol";
import {SymbioticSource} from "../src/adapters/SymbioticSource.sol";
import {Environment} from "./Environment.sol";
import {ProtocolEnvironment} from "./ProtocolEnvironment.sol";
import {RestakedDeployment} from "./RestakedDeployment.sol";

/// @title Deploys a task network whose operators have their stake in Symbiotic's vaults
contract DeploySymbioticNetwork is RestakedDeployment {
    /// @inheritdoc RestakedDeployment
    function _source(RestakedTaskNetwork network, uint32 readGas) internal override returns (IStakeSource) {
        ProtocolEnvironment.Symbiotic memory s = ProtocolEnvironment.symbiotic();
        INetworkMiddlewareService service = INetworkMiddlewareService(Environment.deployed("MIDDLEWARE_SERVICE"));
        return new SymbioticSource(network, readGas, s.contracts, service, s.network, s.identifier, s.vaults);
    }
}
