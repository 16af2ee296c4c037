// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm, vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {EigenLayerSource} from "../src/adapters/EigenLayerSource.sol";
import {EigenLayerStake} from "../src/adapters/EigenLayerStake.sol";
import {IAllocationManager} from "../src/adapters/IEigenLayer.sol";
import {ProtocolStake} from "../src/adapters/ProtocolStake.sol";
import {StakeSource} from "../src/adapters/StakeSource.sol";
import {MockAllocationManager} from "./mocks/Restaking.sol";
import {EigenLayerRig} from "./RestakedFixture.sol";
import {RestakedNetworkTests} from "./RestakedNetworkTests.sol";

contract RestakedEigenLayerTest is RestakedNetworkTests, EigenLayerRig {
    function nonsense() internal pure override returns (uint256) {
        return 0;
    }

    /// @notice The selectors of EigenLayer's core v1.12.0, and of the mock.
    function test_selectors() external pure {
        assertEq(IAllocationManager.getSlasher.selector, bytes4(keccak256("getSlasher((address,uint32))")), "text");
        bytes4 slash = bytes4(keccak256("slashOperator(address,(address,uint32,address[],uint256[],string))"));
        assertEq(IAllocationManager.slashOperator.selector, slash, "text");
        assertEq(MockAllocationManager.slashOperator.selector, slash, "mock");
        assertEq(MockAllocationManager.getSlasher.selector, IAllocationManager.getSlasher.selector, "mock");
    }

    /// @notice EigenLayer slashes a member that left its set for some time, and so does the network.
    function test_a_former_member_is_slashed() external {
        enrolAll();
        network.snapshot();
        manager.quit(operatorSet(), operator(1));
        assertEq(source.stakeOf(operator(1)), 0, "weighs nothing");
        report("id", 0, 1);
        assertTrue(network.isSlashed(operator(1), "id"), "slashed");
    }

    /// @notice The service took one strategy out of the set, so EigenLayer refuses to slash it. The other one is slashed.
    function test_trap_a_strategy_that_cannot_be_slashed() external {
        enrolAll();
        network.snapshot();
        manager.removeStrategy(FIRST);
        vm.recordLogs();
        report("id", 0, 1);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs[0].topics[0], StakeSource.NotSlashed.selector, "refused");
        assertEq(logs[0].topics[1], bytes32(uint256(uint160(FIRST))), "which");
        assertEq(logs[1].topics[0], StakeSource.StakeSlashed.selector, "slashed");
        assertEq(abi.decode(logs[1].data, (uint256)), 22e18, "shares");
        (, uint256 amount,) = abi.decode(logs[2].data, (uint256, uint256, uint256));
        assertEq(amount, 11e18, "amount");
    }

    /// @notice EigenLayer still answers the stake of a strategy that is not in the set. It could not be slashed there, and its
    /// owner could free it in the block after the snapshot.
    function test_trap_a_strategy_outside_the_set_weighs_nothing() external {
        enrolAll();
        network.snapshot();
        assertEq(weightIn(0, 1), 165, "both strategies");
        manager.removeStrategy(FIRST);
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 1), 55, "the other strategy alone");
        manager.removeStrategy(SECOND);
        enter(2);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingStaked.selector, 2));
        network.snapshot();
    }

    /// @notice While EigenLayer's pauser stops slashing, a report reverts. It can be repeated until the window ends.
    function test_trap_slashing_is_paused() external {
        enrolAll();
        network.snapshot();
        manager.pauseSlashing(true);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.NothingAtStake.selector, operator(1)));
        this.reportAgain();
        vm.warp(network.slashableUntil(0) - 1);
        manager.pauseSlashing(false);
        report("id", 0, 1);
        assertTrue(network.isSlashed(operator(1), "id"), "slashed");
        // The snapshots went on.
        network.snapshot();
    }

    /// @notice Stake that the protocol slashed for its own reasons weighs no more in the next epoch, or in the same one if
    /// it was slashed before the snapshot and somebody reads it.
    function test_an_operator_that_the_protocol_slashed() external {
        enrolAll();
        give(operator(1), 90);
        restaked.weigh(only(operator(1)));
        network.snapshot();
        assertEq(weightIn(0, 1), 90, "read again");
        give(operator(1), 30);
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 1), 30, "the next epoch");
    }

    /// @notice A conflict that is shown before the snapshot lowers the weight that the snapshot fixes.
    function test_a_slashed_operator_is_read_again() external {
        enrolAll();
        network.snapshot();
        enter(1);
        restaked.weigh(only(operator(1)));
        report("id", 0, 1);
        assertEq(restaked.readIn(operator(1)), 0, "to be read");
        network.snapshot();
        assertEq(weightIn(1, 1), 132, "less");
    }

    function test_trap_parameters_of_the_source() external {
        for (uint256 i = 0; i < 4; i++) {
            EigenLayerStake.Strategy[] memory list = new EigenLayerStake.Strategy[](i == 0 ? 16 : 15);
            for (uint256 k = 0; k < list.length; k++) {
                list[k] = EigenLayerStake.Strategy(address(uint160(0x51 + k)), 1e18);
            }
            uint32 readGas = i == 1 ? 3_750_001 : 3_750_000;
            uint32 lookahead = i == 2 ? 100_800 : 100_799;
            string memory what = i == 0 ? "strategies" : i == 1 ? "readGas" : "lookahead";
            bytes memory why = abi.encodeWithSelector(ProtocolStake.BadParameter.selector, what);
            makeWith(readGas, lookahead, list, i < 3 ? why : bytes(""));
        }
    }

    function makeWith(uint32 readGas, uint32 lookahead, EigenLayerStake.Strategy[] memory list, bytes memory why)
        private
    {
        RestakedTaskNetwork another = anotherNetwork(parameters());
        if (why.length != 0) vm.expectRevert(why);
        new EigenLayerSource(another, readGas, IAllocationManager(address(manager)), operatorSet(), lookahead, list);
    }
}
