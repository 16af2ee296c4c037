// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {SettlementBls12381G2, SettlementBls12381G2Nu, SettlementBn254G1, SettlementBn254G2} from "../src/Settlements.sol";
import {Settlement} from "../src/Settlement.sol";
import {vm} from "./Vm.sol";

/// @title Deploys a settlement, and writes the network file with which the tools begin
/// @notice All settings come from environment variables; README.md lists them. The file is `deployments/<chain>.json`:
/// the network of `quorate evm plan` before the first key, which `quorate-chain follow` takes on from there.
contract DeploySettlement {
    /// @notice Tells forge that this contract is a script.
    bool public constant IS_SCRIPT = true;

    /// @notice `CURVE` names no curve of the settlements.
    /// @param curve What it names.
    error UnknownCurve(string curve);

    /// @notice Deploys the settlement in one transaction.
    /// @return settlement The settlement of the curve that `CURVE` names.
    function run() external returns (Settlement settlement) {
        string memory curve = vm.envOr("CURVE", string("bn254-g2"));
        uint256 pinned = vm.envOr("PINNED_SLOTS", uint256(4));
        uint256 changesAStore = vm.envOr("CHANGES_A_STORE", uint256(3));
        vm.startBroadcast();
        (, address deployer,) = vm.readCallers();
        settlement = _settlement(curve, vm.envOr("REGISTRAR", deployer), pinned, changesAStore);
        vm.stopBroadcast();
        _write(curve, address(settlement));
    }

    /// @dev Deploys the settlement of a curve.
    function _settlement(string memory curve, address registrar, uint256 pinned, uint256 changesAStore)
        private
        returns (Settlement)
    {
        bytes32 name = keccak256(bytes(curve));
        if (name == keccak256("bn254-g2")) return new SettlementBn254G2(registrar, pinned, changesAStore);
        if (name == keccak256("bn254-g1")) return new SettlementBn254G1(registrar, pinned, changesAStore);
        if (name == keccak256("bls12381-g2")) return new SettlementBls12381G2(registrar, pinned, changesAStore);
        if (name == keccak256("bls12381-g2-nu")) return new SettlementBls12381G2Nu(registrar, pinned, changesAStore);
        revert UnknownCurve(curve);
    }

    /// @dev Writes the network before the first key. 16,777,215 says that no number of members is enough.
    function _write(string memory curve, address settlement) private {
        string memory chain = vm.toString(block.chainid);
        string memory names = string.concat(
            '{"key_group": "', curve, '", "chain_id": ', chain, ', "contract": "', vm.toString(settlement), '",'
        );
        vm.createDir("deployments", true);
        vm.writeFile(
            string.concat("deployments/", chain, ".json"),
            string.concat(
                names,
                '\n "nonce": 0, "table": 0, "epoch": 0, "required": 0, "enough": 16777215, "paid": 0,',
                '\n "keys": [], "weights": [], "key_pages": [], "weight_pages": [], "bases": []}\n'
            )
        );
    }
}
