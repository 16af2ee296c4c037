// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";

/// @notice EIP-170 allows 24,576 bytes of code. Each contract that is deployed keeps 1 kB of them free.
contract SettlementsSizeTest is Test {
    uint256 private constant MOST = 24_576 - 1_024;

    function test_deployedSizes() public view {
        string[23] memory names = [
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
            "Hubs.sol:HubBn254G1",
            "Hubs.sol:HubSettlementBn254G1",
            "EigenSignatureChecker.sol:EigenSignatureChecker",
            "EigenSignatureLens.sol:EigenSignatureLens",
            "Verifiers.sol:VerifierBn254G2",
            "Verifiers.sol:VerifierBn254G1",
            "Verifiers.sol:VerifierBls12381G2",
            "Verifiers.sol:VerifierBls12381G2Nu",
            "TaskNetwork.sol:TaskNetwork",
            "RestakedTaskNetwork.sol:RestakedTaskNetwork",
            "EigenLayerSource.sol:EigenLayerSource",
            "SymbioticSource.sol:SymbioticSource"
        ];
        for (uint256 i = 0; i < names.length; i++) {
            uint256 size = vm.getDeployedCode(names[i]).length;
            // The optimistic settlements keep half of that.
            uint256 most = i > 3 && i < 7 ? MOST + 512 : MOST;
            assertTrue(size > 1_000 && size <= most, string.concat(names[i], ": ", vm.toString(size)));
        }
    }
}
