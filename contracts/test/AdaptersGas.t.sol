// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {AdaptersToyFixture} from "./AdaptersFixture.sol";
import {TableRegistrar, ToySettlement} from "./mocks/TableRegistrar.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";

/// @notice Measures what a stake registrar costs beside the reads of the protocol: these stakes lie in a table.
contract AdaptersGasTest is AdaptersToyFixture {
    /// What a transaction may use (EIP-7825).
    uint256 private constant CAP = 1 << 24;

    function setUp() public override {
        super.setUp();
        StakeRegistrar.Parameters memory parameters = _parameters();
        parameters.mostOperators = 8_192;
        _settlement = new ToySettlement(_later(1));
        _registrar = new TableRegistrar(_settlement, parameters);
        _base = _registrar;
    }

    /// @notice 1,000 operators, the first time and the second, when the words of the weights are not empty.
    function test_aThousandOperators() public {
        _joinAll(1_000);
        for (uint256 epoch = 0; epoch < 2; epoch++) {
            string memory name = epoch == 0 ? "first epoch" : "next epoch";
            vm.warp(GENESIS + epoch * LENGTH);
            _registrar.weigh(1_000);
            uint256 gas = vm.snapshotGasLastCall("Adapters", string.concat("weigh 1,000 operators of a table, ", name));
            assertTrue(gas < CAP, "weigh");
            (uint64 threshold,) = _threshold(_weights());
            _registrar.beginEpoch(threshold);
            gas = vm.snapshotGasLastCall("Adapters", string.concat("begin with 1,000 weighed operators, ", name));
            assertTrue(gas < CAP / 10, "begin");
            _enter();
        }
    }

    /// @notice A full table takes no more keys, and `beginEpoch` fits into a transaction. Most of its keys are dead, which
    /// costs `beginEpoch` the same as live ones.
    function test_aFullTable() public {
        _joinAll(10);
        // `keys` is the fourth number of `Running`, which lies in slot 1, behind 14 bytes.
        bytes32 slot = bytes32(uint256(1));
        uint256 word = uint256(vm.load(address(_registrar), slot));
        vm.store(address(_registrar), slot, bytes32(word ^ (10 ^ 16_384) << 112));
        assertEq(_registrar.runningEpoch().keys, 16_384, "keys");
        assertEq(_registrar.MOST_KEYS(), 16_384, "most keys");
        _registrar.set(_operator(10), 1_000 * UNIT);
        bytes memory why = abi.encodeWithSelector(StakeRegistrar.TableFull.selector, 16_384);
        _refuseKey(10, _registrar.register.selector, why);
        vm.warp(GENESIS);
        for (uint256 i = 0; i < 4; i++) {
            _registrar.weigh(4_096);
            uint256 step = vm.snapshotGasLastCall("Adapters", "weigh 4,096 dead keys");
            assertTrue(step < CAP, "weigh");
        }
        (uint64 threshold,) = _threshold(_firstWeights());
        _registrar.beginEpoch(threshold);
        uint256 gas = vm.snapshotGasLastCall("Adapters", "begin with 16,384 weighed keys");
        assertTrue(gas < CAP, "begin");
        assertEq(_settlement.terms().members(), 16_384, "members");
    }

    /// @notice EIP-170 allows 24,576 bytes of code. 1 kB of them stays free.
    function test_deployedSizes() public view {
        string[2] memory names = ["EigenLayerRegistrar", "SymbioticRegistrar"];
        for (uint256 i = 0; i < names.length; i++) {
            uint256 size = vm.getDeployedCode(string.concat(names[i], ".sol:", names[i])).length;
            assertTrue(size > 1_000 && size <= 24_576 - 1_024, string.concat(names[i], ": ", vm.toString(size)));
        }
    }

    function _firstWeights() private pure returns (uint256[] memory weights) {
        weights = new uint256[](10);
        for (uint256 i = 0; i < 10; i++) {
            weights[i] = 100 + i;
        }
    }
}
