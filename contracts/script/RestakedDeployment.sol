// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IStakeSource} from "../src/interfaces/IStakeSource.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {TaskNetwork} from "../src/TaskNetwork.sol";
import {Deploy} from "./Deploy.s.sol";
import {Environment} from "./Environment.sol";
import {SettlementDeployment} from "./SettlementDeployment.sol";

/// @title Deploys a task network whose operators have their stake in a restaking protocol
/// @notice As `Deploy`, and then the source of the stake, for the network's address. forge prints neither the source nor
/// its address: the network's `source()` names it. The protocol has to let it slash before anyone has weight.
abstract contract RestakedDeployment is Deploy {
    /// @dev Makes the source of the protocol in one transaction, and sends nothing else.
    function _source(RestakedTaskNetwork network, uint32 readGas) internal virtual returns (IStakeSource);

    /// @inheritdoc Deploy
    function _network(ITaskNetwork.Parameters memory parameters) internal override returns (TaskNetwork) {
        // Nobody is fined, and nobody gets a bounty. Another value is refused with the variable's name.
        parameters.penaltyShare = uint16(Environment.number("PENALTY_SHARE", 0, 0, 0));
        parameters.bountyShare = uint16(Environment.number("BOUNTY_SHARE", 0, 0, 0));
        uint32 readGas = uint32(Environment.number("READ_GAS", 400_000, 50_000, 5_000_000));
        address expected = SettlementDeployment.afterTheNext();
        RestakedTaskNetwork network = new RestakedTaskNetwork(parameters, IStakeSource(expected));
        SettlementDeployment.requireAddress(address(_source(network, readGas)), expected);
        return network;
    }
}
