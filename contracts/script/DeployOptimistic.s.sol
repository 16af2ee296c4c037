// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IOptimisticSettlement} from "../src/interfaces/IOptimisticSettlement.sol";
import {
    OptimisticSettlementBls12381G2,
    OptimisticSettlementBls12381G2Nu,
    OptimisticSettlementBn254G1
} from "../src/OptimisticSettlements.sol";
import {Settlement} from "../src/Settlement.sol";
import {Environment} from "./Environment.sol";
import {SettlementDeployment} from "./SettlementDeployment.sol";
import {vm} from "./Vm.sol";

/// @title Deploys an optimistic settlement, and writes the network file with which the tools begin
/// @notice All settings come from environment variables; README.md lists them, and docs/optimistic.md says how to choose
/// them.
contract DeployOptimistic {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @notice Deploys the settlement in one transaction.
    /// @return settlement The settlement of the curve that `CURVE` names.
    function run() external returns (Settlement settlement) {
        string memory curve = vm.envOr("CURVE", string("bls12381-g2"));
        uint256 pinned = vm.envOr("PINNED_SLOTS", uint256(4));
        uint256 changesAStore = vm.envOr("CHANGES_A_STORE", uint256(3));
        IOptimisticSettlement.Conditions memory c = conditions();
        vm.startBroadcast();
        (, address deployer,) = vm.readCallers();
        settlement = _make(curve, vm.envOr("REGISTRAR", deployer), pinned, changesAStore, c);
        vm.stopBroadcast();
        SettlementDeployment.writeNetwork(curve, settlement);
    }

    /// @notice The conditions that the environment gives. Spans that nobody can watch are refused: a window below ten
    /// minutes, or a span for an answer below five; and so are spans of more than a month. What the environment does not
    /// give is within its bounds, whatever it does give.
    /// @return c The conditions.
    function conditions() public view returns (IOptimisticSettlement.Conditions memory c) {
        uint256 window = Environment.number("WINDOW", 1 days, 10 minutes, 31 days);
        uint256 answer =
            Environment.number("ANSWER", Math.max(5 minutes, Math.min(6 hours, window / 4)), 5 minutes, window);
        uint256 second = Environment.number("BLOCK_SECONDS", 12, 1, 60);
        // Nine tenths of the blocks that the chain makes in the span: missed slots do not make the span longer.
        uint256 blocks =
            Environment.number("WINDOW_BLOCKS", Math.max(10, window * 9 / 10 / second), 10, type(uint32).max);
        uint256 answers =
            Environment.number("ANSWER_BLOCKS", Math.max(5, Math.min(blocks, answer * 9 / 10 / second)), 5, blocks);
        uint256 slots = Environment.number("SLOTS", 64, 1, type(uint16).max);
        uint256 bond = Environment.number("BOND", 0.05 ether, 1, type(uint96).max / 4);
        // Half of a penalty has to be worth more than the gas of a challenge or of a proof.
        uint256 penalty = Environment.number("PENALTY", 4 * bond, 2 * bond, type(uint96).max / slots);
        c = IOptimisticSettlement.Conditions(
            uint32(window),
            uint32(blocks),
            uint32(answer),
            uint32(answers),
            uint16(slots),
            uint96(penalty),
            uint96(bond)
        );
    }

    function _make(
        string memory name,
        address registrar,
        uint256 pinned,
        uint256 changesAStore,
        IOptimisticSettlement.Conditions memory c
    ) private returns (Settlement) {
        bytes32 hash = keccak256(bytes(name));
        if (hash == keccak256("bn254-g1")) {
            return new OptimisticSettlementBn254G1(registrar, pinned, changesAStore, c);
        }
        if (hash == keccak256("bls12381-g2")) {
            return new OptimisticSettlementBls12381G2(registrar, pinned, changesAStore, c);
        }
        if (hash == keccak256("bls12381-g2-nu")) {
            return new OptimisticSettlementBls12381G2Nu(registrar, pinned, changesAStore, c);
        }
        // With keys in G2 of BN254 there is no room for it in one contract.
        revert SettlementDeployment.UnknownCurve(name);
    }
}
