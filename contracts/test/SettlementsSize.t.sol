// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";

/// @notice EIP-170 allows 24,576 bytes of code. Each contract that is deployed keeps 1 kB of them free.
contract SettlementsSizeTest is Test {
    uint256 private constant MOST = 24_576 - 1_024;

    function test_deployedSizes() public view {
        string[16] memory names = [
            "Settlements.sol:SettlementBn254G2",
            "Settlements.sol:SettlementBn254G1",
            "Settlements.sol:SettlementBls12381G2",
            "Settlements.sol:SettlementBls12381G2Nu",
            "OptimisticSettlements.sol:OptimisticSettlementBls12381G2",
            "OptimisticSettlements.sol:OptimisticSettlementBls12381G2Nu",
            "OptimisticSettlements.sol:OptimisticSettlementBn254G1",
            "Hubs.sol:HubBls12381G2",
            "Hubs.sol:HubBls12381G2Nu",
            "Hubs.sol:HubSettlementBls12381G2",
            "Hubs.sol:HubSettlementBls12381G2Nu",
            "Verifiers.sol:VerifierBn254G2",
            "Verifiers.sol:VerifierBn254G1",
            "Verifiers.sol:VerifierBls12381G2",
            "Verifiers.sol:VerifierBls12381G2Nu",
            "TaskNetwork.sol:TaskNetwork"
        ];
        for (uint256 i = 0; i < names.length; i++) {
            uint256 size = vm.getDeployedCode(names[i]).length;
            // The optimistic settlement with keys in G1 of BN254 keeps three quarters of that.
            uint256 most = i == 6 ? MOST + 256 : MOST;
            assertTrue(size > 1_000 && size <= most, string.concat(names[i], ": ", vm.toString(size)));
        }
    }
}
