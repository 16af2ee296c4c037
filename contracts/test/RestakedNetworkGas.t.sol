// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {EigenLayerRig, RestakedRig, SymbioticRig} from "./RestakedFixture.sol";

/// @notice Measures whole transactions with mocks of the protocols. EigenLayer's and Symbiotic's own reads cost more.
abstract contract RestakedGas is RestakedRig {
    uint256 private constant OPERATORS = 100;

    function parameters() internal view virtual override returns (ITaskNetwork.Parameters memory p) {
        p = super.parameters();
        p.maximumOperators = uint32(OPERATORS);
    }

    function measure(string memory name) internal {
        for (uint256 i = ADMITTED; i < OPERATORS; i++) {
            admit(operator(i));
            give(operator(i), stakeNumber(i));
        }
        enter(1);
        for (uint256 i = 0; i < OPERATORS; i++) {
            enrol(i);
        }
        vm.snapshotGasLastCall("RestakedTaskNetwork", string.concat(name, ": register"));
        network.snapshot();
        vm.snapshotGasLastCall("RestakedTaskNetwork", string.concat(name, ": snapshot, 100 operators read before"));
        report("id", 1, 1);
        vm.snapshotGasLastCall("RestakedTaskNetwork", string.concat(name, ": report a conflict"));
        enter(2);
        restaked.weigh(only(operator(0)));
        vm.snapshotGasLastCall("RestakedTaskNetwork", string.concat(name, ": weigh 1 operator"));
        network.snapshot();
        vm.snapshotGasLastCall("RestakedTaskNetwork", string.concat(name, ": snapshot, 99 of 100 operators to read"));
    }
}

contract RestakedEigenLayerGasTest is RestakedGas, EigenLayerRig {
    function parameters() internal view override(RestakedGas, RestakedRig) returns (ITaskNetwork.Parameters memory) {
        return RestakedGas.parameters();
    }

    function test_gas() external {
        measure("EigenLayer's mock, two strategies");
    }
}

contract RestakedSymbioticGasTest is RestakedGas, SymbioticRig {
    function parameters() internal view override(RestakedGas, RestakedRig) returns (ITaskNetwork.Parameters memory) {
        return RestakedGas.parameters();
    }

    function test_gas() external {
        measure("Symbiotic's mocks, two vaults");
    }
}
