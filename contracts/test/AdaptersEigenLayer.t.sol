// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {AdaptersFaults} from "./AdaptersFaults.sol";
import {AdaptersCurveFixture, AdaptersFixture} from "./AdaptersFixture.sol";
import {Misbehaving, MockAllocationManager} from "./mocks/Restaking.sol";
import {ToySettlement} from "./mocks/TableRegistrar.sol";
import {Bn254G2Signing} from "./Signing.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBn254G2} from "../src/Settlements.sol";
import {EigenLayerRegistrar} from "../src/adapters/EigenLayerRegistrar.sol";
import {EigenLayerStake} from "../src/adapters/EigenLayerStake.sol";
import {IAllocationManager, OperatorSet} from "../src/adapters/IEigenLayer.sol";
import {ProtocolStake} from "../src/adapters/ProtocolStake.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";

/// @notice A registrar over mocks of EigenLayer: two strategies, of which a share of the second counts a half.
abstract contract EigenLayerFixture is AdaptersFixture {
    address internal constant AVS = address(0xa5);
    uint32 internal constant LOOKAHEAD = 7_200;

    MockAllocationManager internal _manager;
    EigenLayerRegistrar internal _registrar;

    function _set() internal pure returns (OperatorSet memory) {
        return OperatorSet(AVS, 7);
    }

    function _strategies() internal pure returns (EigenLayerStake.Strategy[] memory strategies) {
        strategies = new EigenLayerStake.Strategy[](2);
        strategies[0] = EigenLayerStake.Strategy(address(0x51), 1e18);
        strategies[1] = EigenLayerStake.Strategy(address(0x52), 0.5e18);
    }

    function _newRegistrar(Settlement settlement, StakeRegistrar.Parameters memory parameters) internal {
        _manager = new MockAllocationManager();
        IAllocationManager manager = IAllocationManager(address(_manager));
        _registrar = new EigenLayerRegistrar(settlement, parameters, manager, _set(), LOOKAHEAD, _strategies());
        _base = _registrar;
    }

    /// @dev A third of the weight comes from the second strategy.
    function _give(address operator, uint256 weight) internal {
        uint256 third = weight / 3;
        _manager.setShares(_set(), operator, address(0x51), (weight - third) * UNIT);
        _manager.setShares(_set(), operator, address(0x52), 2 * third * UNIT);
        // Neither another set nor another strategy counts.
        _manager.setShares(OperatorSet(AVS, 8), operator, address(0x51), 1e30);
        _manager.setShares(_set(), operator, address(0x53), 1e30);
    }
}

contract AdaptersEigenLayerFaultsTest is AdaptersFaults, EigenLayerFixture {
    function _deploy(StakeRegistrar.Parameters memory parameters) internal override {
        _settlement = new ToySettlement(_later(2));
        _newRegistrar(_settlement, parameters);
    }

    function _source() internal view override returns (Misbehaving) {
        return _manager;
    }

    function _join(address operator) internal override {
        _manager.join(_set(), operator);
    }

    function _quit(address operator) internal override {
        _manager.quit(_set(), operator);
    }

    function _stake(address operator, uint256 weight) internal override {
        _give(operator, weight);
    }

    function _nonsense() internal pure override returns (uint256) {
        return 0;
    }

    function _name() internal pure override returns (string memory) {
        return "EigenLayer (mocks)";
    }

    /// @notice The selectors of EigenLayer's core v1.12.0, and of the mock.
    function test_strategies() public view {
        bytes memory strategies = abi.encode(EigenLayerRegistrar(address(_registrar)).strategies());
        assertEq(strategies, abi.encode(_strategies()), "strategies");
    }

    function test_selectors() public pure {
        assertEq(IAllocationManager.isMemberOfOperatorSet.selector, bytes4(0x670d3ba2), "isMemberOfOperatorSet");
        assertEq(IAllocationManager.getMinimumSlashableStake.selector, bytes4(0x2bab2c4a), "getMinimumSlashableStake");
        assertEq(IAllocationManager.DEALLOCATION_DELAY.selector, bytes4(0x2981eb77), "DEALLOCATION_DELAY");
        bytes4 strategies = bytes4(keccak256("getStrategiesInOperatorSet((address,uint32))"));
        assertEq(IAllocationManager.getStrategiesInOperatorSet.selector, strategies, "getStrategiesInOperatorSet");
        assertEq(MockAllocationManager.getStrategiesInOperatorSet.selector, strategies, "mock");
        assertEq(MockAllocationManager.isMemberOfOperatorSet.selector, bytes4(0x670d3ba2), "mock");
        assertEq(MockAllocationManager.getMinimumSlashableStake.selector, bytes4(0x2bab2c4a), "mock");
        assertEq(bytes4(keccak256("isMemberOfOperatorSet(address,(address,uint32))")), bytes4(0x670d3ba2), "text");
        assertEq(
            bytes4(keccak256("getMinimumSlashableStake((address,uint32),address[],address[],uint32)")),
            bytes4(0x2bab2c4a),
            "text"
        );
        assertEq(bytes4(keccak256("DEALLOCATION_DELAY()")), bytes4(0x2981eb77), "text");
    }

    /// @notice The exact bytes of a read, and the form of its answer.
    function test_theCallAndItsAnswer() public {
        _enrollAll(1);
        address[] memory operators = new address[](1);
        operators[0] = _operator(0);
        address[] memory strategies = new address[](2);
        (strategies[0], strategies[1]) = (address(0x51), address(0x52));
        (bool done, bytes memory answer) = address(_manager)
            .call(
                abi.encodeWithSelector(
                    bytes4(0x2bab2c4a), _set(), operators, strategies, uint32(block.number) + LOOKAHEAD
                )
            );
        assertTrue(done, "done");
        uint256[5] memory expected = [uint256(32), 1, 32, 2, 67 * UNIT];
        assertEq(answer, abi.encodePacked(expected, uint256(66 * UNIT)), "answer");
    }

    /// @notice An answer for two operators, for one strategy or for three, or with offsets of its own, counts nothing.
    function test_trap_anAnswerOfAnotherForm() public {
        _enrollAll(1);
        for (uint256 i = 0; i < 5; i++) {
            uint256[4] memory head = [uint256(32), 1, 32, 2];
            if (i < 4) head[i]++;
            _manager.answerWith(abi.encodePacked(head, 40 * UNIT, 20 * UNIT));
            _pass(2 hours);
            _base.weigh(1);
            assertEq(_weights()[0], i < 4 ? 0 : 50, "weight");
        }
    }

    function test_trap_parametersOutOfBounds() public {
        IAllocationManager manager = IAllocationManager(address(_manager));
        for (uint256 i = 0; i < 7; i++) {
            EigenLayerStake.Strategy[] memory strategies = _strategies();
            uint32 lookahead = LOOKAHEAD;
            string memory what = "strategies";
            if (i == 0) (lookahead, what) = (0, "lookahead");
            if (i == 1) (lookahead, what) = (100_800, "lookahead");
            if (i == 2) strategies = new EigenLayerStake.Strategy[](0);
            if (i == 3) strategies = new EigenLayerStake.Strategy[](17);
            if (i == 4) strategies[1].strategy = address(0x51);
            if (i == 5) strategies[0].strategy = address(0);
            if (i == 6) (strategies[1].multiplier, what) = (0, "multiplier");
            Settlement settlement = new ToySettlement(_later(1));
            StakeRegistrar.Parameters memory parameters = _parameters();
            vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, what));
            new EigenLayerRegistrar(settlement, parameters, manager, _set(), lookahead, strategies);
        }
    }

    /// @dev The stake of operator 0 in the first strategy that EigenLayer answers, whether it can be slashed or not.
    function _answeredStake() private returns (uint256) {
        address[] memory operators = new address[](1);
        operators[0] = _operator(0);
        address[] memory strategies = new address[](1);
        strategies[0] = address(0x51);
        return _manager.getMinimumSlashableStake(_set(), operators, strategies, uint32(block.number) + 1)[0][0];
    }

    /// @notice EigenLayer still answers the slashable stake of a former member. It weighs nothing all the same.
    function test_trap_aFormerMemberThatCanBeSlashed() public {
        _enrollAll(2);
        _manager.quit(_set(), _operator(0));
        assertTrue(_answeredStake() != 0, "slashable");
        _base.weigh(2);
        _expectWeights(2, 0, 0);
    }

    /// @notice EigenLayer answers the stake of a strategy that is not in the set, too. It weighs nothing all the same.
    function test_trap_aStrategyOutsideTheSet() public {
        _enrollAll(1);
        _manager.removeStrategy(address(0x51));
        assertEq(_answeredStake(), 67 * UNIT, "answered");
        _base.weigh(1);
        assertEq(_weights()[0], 33, "the other strategy alone");
    }

    /// @notice A deallocation counts as soon as it takes effect within the lookahead.
    function test_trap_stakeThatIsDeallocatedSoon() public {
        _enrollAll(2);
        _manager.deallocate(_set(), _operator(0));
        uint256 effective = block.number + 100_800;
        uint256 state = vm.snapshotState();
        vm.roll(effective - LOOKAHEAD - 1);
        _base.weigh(2);
        _expectWeights(2, 2, 0);
        vm.revertToState(state);
        vm.roll(effective - LOOKAHEAD);
        _base.weigh(2);
        _expectWeights(2, 0, 0);
    }

    /// @notice The stake is that of the block in which an operator is weighed. What moves after that does not count, and
    /// what moved before does. A weighing in two blocks could count moved stake twice, so it must take less time than
    /// EigenLayer's withdrawals.
    function test_trap_stakeMovesBetweenOperators() public {
        _enrollAll(4);
        _stake(_operator(0), 0);
        _stake(_operator(1), 201);
        _base.weigh(2);
        _stake(_operator(0), 201);
        _stake(_operator(1), 0);
        _base.weigh(2);
        uint256[] memory weights = _weights();
        assertEq(weights[0], 0, "before");
        assertEq(weights[1], 201, "after");
        assertTrue(_base.WEIGHING_TIME() < 7 days, "less than a withdrawal takes");
    }

    function test_trap_sharesThatOverflow() public {
        _enrollAll(2);
        _manager.setShares(_set(), _operator(0), address(0x51), type(uint256).max);
        _manager.setShares(_set(), _operator(0), address(0x52), type(uint256).max);
        _base.weigh(2);
        _expectWeights(2, 0, type(uint64).max);
    }
}

contract AdaptersEigenLayerTest is EigenLayerFixture, AdaptersCurveFixture, Bn254G2Signing {
    function setUp() public {
        vm.warp(GENESIS);
        vm.roll(1_000);
        _settlement = new SettlementBn254G2(_later(2), 0, 4);
        _newRegistrar(_settlement, _parameters());
        for (uint256 i = 0; i < 4; i++) {
            _manager.join(_set(), _operator(i));
            _give(_operator(i), 10_000 * (i + 1));
            _register(i);
        }
    }

    /// @notice Operators with 10, 20, 30 and 40 % of the stake. More than two thirds have to sign.
    function test_aQuorumThatWeighsEnoughSettles() public {
        _beginEpoch();
        _enter();
        assertEq(_head.required(), 66_667, "required");
        _settles(14, true);
        _settles(12, true);
        _settles(15, false);
        // 30 and 20 and 10 %, and 40 and 20 %: too light, also with weights.
        _refuses(7, true, abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 60_000, 66_667));
        _refuses(10, true, abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 60_000, 66_667));
        _refuses(12, false, abi.encodeWithSelector(Settlement.TooFewMembers.selector, 2, 4));
    }

    /// @notice In the next epoch the heaviest operator is slashed to a quarter, and the second heaviest has left.
    function test_theNextEpochHasOtherWeights() public {
        _beginEpoch();
        _enter();
        _settles(12, true);
        _give(_operator(3), 10_000);
        _manager.quit(_set(), _operator(2));
        _settles(12, true);
        _beginEpoch();
        _enter();
        assertEq(_head.required(), 26_667, "required");
        _refuses(12, true, abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 10_000, 26_667));
        _settles(3, true);
    }
}
