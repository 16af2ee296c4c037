// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm, vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {IBaseSlasher, INetworkMiddlewareService, ISlasher, IVault, IVetoSlasher} from "../src/adapters/ISymbiotic.sol";
import {ProtocolStake} from "../src/adapters/ProtocolStake.sol";
import {StakeSource} from "../src/adapters/StakeSource.sol";
import {SymbioticSource} from "../src/adapters/SymbioticSource.sol";
import {SymbioticStake} from "../src/adapters/SymbioticStake.sol";
import {Fault, MockMiddlewares, MockSlasher, MockVault} from "./mocks/Restaking.sol";
import {SymbioticRig} from "./RestakedFixture.sol";
import {RestakedNetworkTests} from "./RestakedNetworkTests.sol";

contract RestakedSymbioticTest is RestakedNetworkTests, SymbioticRig {
    function nonsense() internal pure override returns (uint256) {
        return type(uint64).max;
    }

    /// @notice The selectors of Symbiotic's core v1.0.3 and v2.0.0, and of the mocks.
    function test_selectors() external view {
        bytes4 most = bytes4(keccak256("slashableStake(bytes32,address,uint48,bytes)"));
        bytes4 slash = bytes4(keccak256("slash(bytes32,address,uint256,uint48,bytes)"));
        bytes4 request = bytes4(keccak256("requestSlash(bytes32,address,uint256,uint48,bytes)"));
        assertEq(IBaseSlasher.slashableStake.selector, most, "slashableStake");
        assertEq(MockSlasher.slashableStake.selector, most, "mock");
        assertEq(ISlasher.slash.selector, slash, "slash");
        assertEq(MockSlasher.slash.selector, slash, "mock");
        assertEq(IVetoSlasher.requestSlash.selector, request, "requestSlash");
        assertEq(MockSlasher.requestSlash.selector, request, "mock");
        assertEq(IVetoSlasher.executeSlash.selector, bytes4(keccak256("executeSlash(uint256,bytes)")), "executeSlash");
        assertEq(IVetoSlasher.vetoDuration.selector, bytes4(keccak256("vetoDuration()")), "vetoDuration");
        assertEq(IBaseSlasher.TYPE.selector, bytes4(keccak256("TYPE()")), "TYPE");
        bytes4 service = bytes4(keccak256("NETWORK_MIDDLEWARE_SERVICE()"));
        assertEq(IBaseSlasher.NETWORK_MIDDLEWARE_SERVICE.selector, service, "service");
        assertEq(INetworkMiddlewareService.middleware.selector, bytes4(keccak256("middleware(address)")), "middleware");
        assertEq(MockMiddlewares(address(0)).middleware.selector, INetworkMiddlewareService.middleware.selector, "mock");
    }

    /// @notice The stake of the last second before the epoch counts, whenever it is read.
    function test_trap_stake_that_moves_while_operators_are_weighed() external {
        enrolAll();
        enter(1);
        restaked.weigh(only(operator(0)));
        // The curator moves the stake of operator 0 to operator 1.
        give(operator(0), 0);
        give(operator(1), 315);
        network.snapshot();
        assertEq(network.snapshotOf(1).total, 690, "no stake twice");
        enter(2);
        network.snapshot();
        assertEq(weightIn(2, 0), 0, "moved");
        assertEq(weightIn(2, 1), 315, "moved");
    }

    /// @notice An operator has stake in epoch 0, and little in epoch 1. It has itself slashed for a conflict of epoch 1.
    /// Symbiotic would slash for no second before, if that was the second of epoch 1: the conflicts of epoch 0 would cost
    /// nothing. So each slashing takes from the most that is at stake.
    function test_trap_an_operator_slashed_where_it_has_little() external {
        enrolAll();
        network.snapshot();
        give(operator(1), 15);
        enter(1);
        network.snapshot();
        assertEq(weightIn(1, 1), 15, "little");
        (ITaskNetwork.Task memory a, ITaskNetwork.Task memory b) = conflict("cheap");
        bytes memory first = signature(a, 1, 1);
        bytes memory second = signature(b, 1, 1);
        vm.recordLogs();
        network.reportConflict(attested(1, a, first), attested(1, b, second));
        assertEq(slashedAmount(), 33e18, "a fifth of 165");
        vm.recordLogs();
        report("id", 0, 1);
        assertEq(slashedAmount(), 26.4e18, "a fifth of the rest");
    }

    /// @dev The amount of the last log, `Slashed`.
    function slashedAmount() private returns (uint256 amount) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        (, amount,) = abi.decode(logs[logs.length - 1].data, (uint256, uint256, uint256));
    }

    /// @notice Stake that came later answers for the conflicts of earlier epochs, as in a network of deposits.
    function test_the_most_of_all_epochs_answers() external {
        enrolAll();
        network.snapshot();
        give(operator(1), 300);
        enter(1);
        vm.recordLogs();
        report("id", 0, 1);
        assertEq(slashedAmount(), 60e18, "a fifth of 300");
    }

    /// @notice One vault misbehaves, and the other one is slashed.
    function test_trap_one_of_two_vaults_misbehaves() external {
        enrolAll();
        network.snapshot();
        for (uint256 fault = uint256(Fault.Reverts); fault <= uint256(Fault.ReturnsNonsense); fault++) {
            uint256 state = vm.snapshotState();
            slashers[0].misbehave(operator(1), Fault(fault));
            vm.recordLogs();
            report("id", 0, 1);
            // A vault that says it took everything counts with what it was asked for.
            assertEq(slashedAmount(), Fault(fault) == Fault.ReturnsNonsense ? 33e18 : 11e18, "the other vault");
            vm.revertToState(state);
        }
        // The reads of one vault fail.
        delegators[1].misbehave(operator(1), Fault.BurnsGas);
        vm.recordLogs();
        report("id", 0, 1);
        assertEq(slashedAmount(), 22e18, "the first vault");
    }

    /// @notice Where nobody gets what is slashed, most collateral refuses to be slashed. A veto slasher would take requests that
    /// nobody can execute, and the conflict would count as paid.
    function test_trap_a_vault_without_a_burner() external {
        vaults[1].setBurner(address(0));
        makeWith(READ_GAS, entries(), abi.encodeWithSelector(ProtocolStake.BadParameter.selector, "burner"));
        vaults[1].setBurner(address(1));
        makeWith(READ_GAS, entries(), bytes(""));
    }

    /// @notice A conflict costs nothing more in the vault that refused it once. Another conflict does.
    function test_trap_a_refused_slashing_is_lost_for_its_conflict() external {
        enrolAll();
        network.snapshot();
        slashers[0].misbehave(operator(1), Fault.Reverts);
        vm.recordLogs();
        report("id", 0, 1);
        assertEq(slashedAmount(), 11e18, "the second vault");
        slashers[0].misbehave(operator(1), Fault.None);
        vm.expectRevert(abi.encodeWithSelector(ITaskNetwork.AlreadySlashed.selector, operator(1), bytes32("id")));
        this.reportAgain();
        vm.recordLogs();
        report("another id", 0, 1);
        assertEq(slashedAmount(), 30.8e18, "22 of the first vault, and a fifth of the rest of the second");
    }

    function test_trap_parameters_of_the_source() external {
        for (uint256 i = 0; i < 7; i++) {
            SymbioticStake.Vault[] memory list = entries();
            MockSlasher slasher = slashers[0];
            uint48 duration = VAULT_EPOCH;
            uint32 readGas = READ_GAS;
            string memory what = "vaults";
            // Two vaults and five seconds that can count: 2 (10^6 + 7 · readGas) may be 15 · 10^6.
            if (i == 0) readGas = 928_572;
            if (i == 1) readGas = 928_571;
            if (i == 2) (slasher, what) = (new MockSlasher(address(1), 0, 0), "middlewareService");
            if (i == 3) (slasher, what) = (new MockSlasher(address(middlewares), 2, 0), "slasher");
            if (i == 4) (duration, what) = (uint48(DELAY) - 1, "epochDuration");
            if (i == 5) {
                (slasher, duration, what) =
                (new MockSlasher(address(middlewares), 1, VETO), VAULT_EPOCH - 1, "epochDuration");
            }
            if (i == 6) slasher = new MockSlasher(address(middlewares), 1, VETO);
            if (i > 1) {
                MockVault vault = new MockVault(address(delegators[0]), address(slasher), duration);
                registry.add(address(vault));
                list = new SymbioticStake.Vault[](1);
                list[0] = SymbioticStake.Vault(IVault(address(vault)), 1e18);
            }
            bytes memory why = abi.encodeWithSelector(ProtocolStake.BadParameter.selector, what);
            makeWith(readGas, list, i == 1 || i == 6 ? bytes("") : why);
        }
    }

    function makeWith(uint32 readGas, SymbioticStake.Vault[] memory list, bytes memory why) private {
        RestakedTaskNetwork another = anotherNetwork(parameters());
        INetworkMiddlewareService service = INetworkMiddlewareService(address(middlewares));
        if (why.length != 0) vm.expectRevert(why);
        new SymbioticSource(another, readGas, symbiotic(), service, NETWORK, IDENTIFIER, list);
    }
}

/// @notice The same with slashers that let a resolver veto.
contract RestakedSymbioticVetoTest is SymbioticRig {
    function kind() internal pure override returns (uint64) {
        return 1;
    }

    function test_a_request_is_executed_after_the_time_for_a_veto() external {
        enrolAll();
        network.snapshot();
        vm.recordLogs();
        report("id", 0, 1);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 3, "a request for each vault, and the network's event");
        for (uint256 i = 0; i < 2; i++) {
            assertEq(logs[i].topics[0], SymbioticSource.SlashRequested.selector, "requested");
            assertEq(logs[i].topics[1], bytes32(uint256(uint160(address(vaults[i])))), "vault");
            (uint256 index, uint256 amount) = abi.decode(logs[i].data, (uint256, uint256));
            assertEq(index, 0, "index");
            assertEq(amount, 22e18, "amount");
        }
        SymbioticSource veto = SymbioticSource(address(source));
        vm.expectRevert("VetoPeriodNotEnded");
        veto.execute(0, 0);
        vm.warp(block.timestamp + VETO);
        assertEq(veto.execute(0, 0), 22e18, "executed");
        slashers[1].veto(0);
        vm.expectRevert("SlashRequestCompleted");
        veto.execute(1, 0);
        enter(2);
        network.snapshot();
        assertEq(weightIn(2, 1), 165 - 22, "one vault slashed, the other vetoed");
    }

    /// @notice The last report leaves time for a veto, and a day to execute.
    function test_the_last_report_can_be_executed() external {
        enrolAll();
        network.snapshot();
        vm.warp(network.slashableUntil(0) - 1);
        report("id", 0, 1);
        vm.warp(block.timestamp + VETO + 1 days);
        assertEq(SymbioticSource(address(source)).execute(0, 0), 22e18, "executed");
    }

    function test_trap_strangers_request_nothing() external {
        vm.expectRevert("NotNetworkMiddleware");
        slashers[0].requestSlash(SUBNETWORK, operator(1), 1, uint48(block.timestamp - 1), "");
        vm.expectRevert(abi.encodeWithSelector(StakeSource.NotTheNetwork.selector, address(this)));
        source.slash(operator(1), 1);
    }
}
