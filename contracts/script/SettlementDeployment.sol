// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {
    SettlementBls12381G2,
    SettlementBls12381G2Nu,
    SettlementBn254G1,
    SettlementBn254G2
} from "../src/Settlements.sol";
import {Settlement} from "../src/Settlement.sol";
import {vm} from "./Vm.sol";

/// @title What all deployments of a settlement share
library SettlementDeployment {
    /// @notice `CURVE` names no curve of the settlements.
    /// @param curve What it names.
    error UnknownCurve(string curve);
    /// @notice A contract has another address than the one before it was made for. Something else was sent from the same
    /// account in between. What was deployed is useless; start again.
    /// @param found The contract's address.
    /// @param expected The address that the one before was made for.
    error AnotherAddress(address found, address expected);

    /// @notice The curve that `CURVE` names.
    /// @return The name.
    function curve() internal view returns (string memory) {
        return vm.envOr("CURVE", string("bn254-g2"));
    }

    /// @notice Makes the settlement of a curve.
    /// @param name The curve's name.
    /// @param registrar The settlement's registrar.
    /// @param pinned How many slots are pinned.
    /// @param changesAStore How many changes have to be paid before ski rental stores a quorum.
    /// @return The settlement.
    function make(string memory name, address registrar, uint256 pinned, uint256 changesAStore)
        internal
        returns (Settlement)
    {
        bytes32 hash = keccak256(bytes(name));
        if (hash == keccak256("bn254-g2")) return new SettlementBn254G2(registrar, pinned, changesAStore);
        if (hash == keccak256("bn254-g1")) return new SettlementBn254G1(registrar, pinned, changesAStore);
        if (hash == keccak256("bls12381-g2")) return new SettlementBls12381G2(registrar, pinned, changesAStore);
        if (hash == keccak256("bls12381-g2-nu")) return new SettlementBls12381G2Nu(registrar, pinned, changesAStore);
        revert UnknownCurve(name);
    }

    /// @notice The address of what an account deploys after one other contract. Two contracts that name each other are
    /// deployed with it.
    /// @return The address.
    function afterTheNext() internal view returns (address) {
        // The deployer is the account whose key the command line gives.
        (, address deployer,) = vm.readCallers();
        return vm.computeCreateAddress(deployer, vm.getNonce(deployer) + 1);
    }

    /// @notice Reverts unless a contract has the address that the one before it was made for.
    /// @param found The contract's address.
    /// @param expected The address that the one before was made for.
    function requireAddress(address found, address expected) internal pure {
        if (found != expected) revert AnotherAddress(found, expected);
    }

    /// @notice Writes the network before the first key to `NETWORK_FILE`, or `deployments/<chain id>.json`. 16,777,215
    /// says that no number of members is enough.
    /// @param name The curve's name.
    /// @param settlement The settlement.
    function writeNetwork(string memory name, Settlement settlement) internal {
        string memory chain = vm.toString(block.chainid);
        string memory names = string.concat(
            '{"key_group": "', name, '", "chain_id": ', chain, ', "contract": "', vm.toString(address(settlement)), '",'
        );
        vm.createDir("deployments", true);
        vm.writeFile(
            vm.envOr("NETWORK_FILE", string.concat("deployments/", chain, ".json")),
            string.concat(
                names,
                '\n "nonce": 0, "table": 0, "epoch": 0, "required": 0, "enough": 16777215, "paid": 0,',
                '\n "keys": [], "weights": [], "key_pages": [], "weight_pages": [], "bases": []}\n'
            )
        );
    }
}
