// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Settlement} from "../src/Settlement.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";
import {Environment} from "./Environment.sol";
import {SettlementDeployment} from "./SettlementDeployment.sol";
import {vm} from "./Vm.sol";

/// @title Deploys a settlement and a registrar that takes its weights from a restaking protocol
/// @notice The settlement is made first, for the address that the registrar will have, and without pinned slots, since
/// such a registrar cannot pin. All settings come from environment variables; README.md lists them. Then it writes the
/// network file, as `DeploySettlement` does.
abstract contract StakeDeployment {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @dev Gas that is left of a transaction (2^24) for the reads of one operator. An operator whose reads take more
    /// could not be weighed, and would stop all later epochs.
    uint256 private constant GAS_OF_ONE_OPERATOR = 15_000_000;

    /// @notice Deploys both, in two transactions.
    /// @return settlement The settlement of the curve that `CURVE` names.
    /// @return registrar Its registrar.
    function run() external returns (Settlement settlement, StakeRegistrar registrar) {
        string memory curve = SettlementDeployment.curve();
        uint256 changesAStore = vm.envOr("CHANGES_A_STORE", uint256(3));
        StakeRegistrar.Parameters memory parameters = _parameters();
        vm.startBroadcast();
        address expected = SettlementDeployment.afterTheNext();
        settlement = SettlementDeployment.make(curve, expected, 0, changesAStore);
        registrar = _registrar(settlement, parameters);
        vm.stopBroadcast();
        SettlementDeployment.requireAddress(address(registrar), expected);
        SettlementDeployment.writeNetwork(curve, settlement);
    }

    /// @dev Makes the registrar of the protocol in one transaction, and sends nothing else.
    function _registrar(Settlement settlement, StakeRegistrar.Parameters memory parameters)
        internal
        virtual
        returns (StakeRegistrar);

    /// @dev How many reads of the protocol weigh one operator, at most.
    function _reads() internal view virtual returns (uint256);

    /// @dev What every stake registrar takes. The registrar's constructor checks some of it again; here the error names
    /// the variable.
    function _parameters() private view returns (StakeRegistrar.Parameters memory p) {
        // A genesis in milliseconds, or one of another decade, would lock the settlement.
        uint256 now_ = block.timestamp;
        p.genesis = uint48(Environment.number("GENESIS", now_ + 1 hours, 0, now_ + 365 days));
        p.epochLength = uint48(Environment.number("EPOCH_LENGTH", 1 days, 1 minutes, 365 days));
        p.unit = Environment.number("UNIT", 1e18, 1, type(uint128).max);
        p.leastWeight = uint64(Environment.number("LEAST_WEIGHT", 1, 1, type(uint64).max));
        p.mostOperators = uint32(Environment.number("MAXIMUM_OPERATORS", 1_000, 1, 8_192));
        p.denominator = uint32(Environment.number("QUORUM_DENOMINATOR", 3, 2, type(uint32).max));
        uint256 denominator = p.denominator;
        p.numerator = uint32(Environment.number("QUORUM_NUMERATOR", 2, (denominator + 1) / 2, denominator - 1));
        p.readGas = uint32(Environment.number("READ_GAS", 400_000, 50_000, GAS_OF_ONE_OPERATOR / _reads()));
    }
}
