// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";
import {IStakeSource} from "../src/interfaces/IStakeSource.sol";
import {RestakedTaskNetwork} from "../src/RestakedTaskNetwork.sol";
import {EigenLayerSource} from "../src/adapters/EigenLayerSource.sol";
import {EigenLayerStake} from "../src/adapters/EigenLayerStake.sol";
import {IAllocationManager, OperatorSet} from "../src/adapters/IEigenLayer.sol";
import {INetworkMiddlewareService, IOptInService, IRegistry, IVault} from "../src/adapters/ISymbiotic.sol";
import {StakeSource} from "../src/adapters/StakeSource.sol";
import {SymbioticSource} from "../src/adapters/SymbioticSource.sol";
import {SymbioticStake} from "../src/adapters/SymbioticStake.sol";
import {MockProofs, MockVerifier} from "./mocks/MockVerifier.sol";
import {MockToken} from "./mocks/MockTokens.sol";
import {NetworkRig} from "./mocks/NetworkRig.sol";
import {
    Fault,
    MockAllocationManager,
    MockDelegator,
    MockMiddlewares,
    MockOptIns,
    MockRegistry,
    MockSlasher,
    MockVault
} from "./mocks/Restaking.sol";

/// @notice A network whose operators have stake in the mock of a protocol. Operator i has 150 + 15 i since long before the
/// first epoch: two thirds in the first strategy or vault, and a third in the second, whose units count a half.
abstract contract RestakedRig is NetworkRig {
    uint32 internal constant READ_GAS = 300_000;
    uint256 internal constant ADMITTED = 4;

    RestakedTaskNetwork internal restaked;
    StakeSource internal source;

    function setUp() public virtual override {
        vm.warp(GENESIS - 2 days);
        token = new MockToken();
        makeProtocol();
        deploy();
        for (uint256 i = 0; i < ADMITTED; i++) {
            admit(operator(i));
            give(operator(i), stakeNumber(i));
        }
        vm.warp(GENESIS);
    }

    function stakeNumber(uint256 i) internal pure returns (uint256) {
        return 150 + 15 * i;
    }

    function parameters() internal view virtual override returns (ITaskNetwork.Parameters memory p) {
        p = super.parameters();
        (p.penaltyShare, p.bountyShare) = (0, 0);
    }

    function deploy() internal virtual override {
        network = restaked = anotherNetwork(parameters());
        verifier = MockVerifier(address(network.verifier()));
        source = makeSource(restaked);
        authorise(address(source));
    }

    /// @notice Makes a network whose source is what this contract makes next.
    function anotherNetwork(ITaskNetwork.Parameters memory p) internal returns (RestakedTaskNetwork) {
        p.verifier = new MockVerifier(nextAddress(1));
        return new RestakedTaskNetwork(p, IStakeSource(nextAddress(1)));
    }

    /// @dev Makes the mocks of the protocol.
    function makeProtocol() internal virtual;

    /// @dev Makes the source, and nothing else.
    function makeSource(RestakedTaskNetwork taskNetwork) internal virtual returns (StakeSource);

    /// @dev Has the protocol let an account slash.
    function authorise(address who) internal virtual;

    /// @dev Makes an operator of the protocol.
    function admit(address who) internal virtual;

    /// @dev Gives an operator so many units of stake from now on.
    function give(address who, uint256 units) internal virtual;

    /// @dev What the reads for an operator do from now on.
    function misread(address who, Fault fault) internal virtual;

    /// @dev What slashings of an operator do from now on.
    function misslash(address who, Fault fault) internal virtual;

    /// @dev What misbehaving contracts call.
    function aim(address victim, bytes memory data) internal virtual;

    function enrol(uint256 i) internal returns (uint256) {
        return enrol(i, i);
    }

    /// @notice Registers operator i with the key made from `name`.
    function enrol(uint256 i, uint256 name) internal returns (uint256) {
        bytes memory key = keyNamed(name);
        bytes memory proof = abi.encode(MockProofs.possession(operator(i), key));
        vm.prank(operator(i));
        return network.register(key, proof, 0);
    }

    function refuseEnrolment(uint256 i, uint256 name, uint256 amount, bytes memory why) internal {
        bytes memory key = keyNamed(name);
        bytes memory proof = abi.encode(MockProofs.possession(operator(i), key));
        vm.prank(operator(i));
        vm.expectRevert(why);
        network.register(key, proof, amount);
    }

    function enrolAll() internal {
        for (uint256 i = 0; i < ADMITTED; i++) {
            enrol(i);
        }
    }

    function weightIn(uint256 epoch, uint256 index) internal view returns (uint256) {
        return verifier.weightsOf(epoch)[index];
    }

    function only(address who) internal pure returns (address[] memory list) {
        list = new address[](1);
        list[0] = who;
    }
}

/// @notice The stake is in an operator set of EigenLayer.
abstract contract EigenLayerRig is RestakedRig {
    address internal constant AVS = address(0xa5);
    uint32 internal constant LOOKAHEAD = 72_000;
    address internal constant FIRST = address(0x51);
    address internal constant SECOND = address(0x52);

    MockAllocationManager internal manager;

    function operatorSet() internal pure returns (OperatorSet memory) {
        return OperatorSet(AVS, 7);
    }

    function strategies() internal pure returns (EigenLayerStake.Strategy[] memory list) {
        list = new EigenLayerStake.Strategy[](2);
        list[0] = EigenLayerStake.Strategy(FIRST, 1e18);
        list[1] = EigenLayerStake.Strategy(SECOND, 0.5e18);
    }

    function makeProtocol() internal override {
        manager = new MockAllocationManager();
    }

    function makeSource(RestakedTaskNetwork taskNetwork) internal override returns (StakeSource) {
        IAllocationManager allocationManager = IAllocationManager(address(manager));
        return new EigenLayerSource(taskNetwork, READ_GAS, allocationManager, operatorSet(), LOOKAHEAD, strategies());
    }

    function authorise(address who) internal override {
        manager.setSlasher(operatorSet(), who);
    }

    function admit(address who) internal override {
        manager.join(operatorSet(), who);
    }

    function give(address who, uint256 units) internal override {
        uint256 third = units / 3;
        manager.setShares(operatorSet(), who, FIRST, (units - third) * UNIT);
        manager.setShares(operatorSet(), who, SECOND, 2 * third * UNIT);
    }

    function misread(address who, Fault fault) internal override {
        manager.misbehave(who, fault);
    }

    function misslash(address who, Fault fault) internal override {
        manager.misbehave(who, fault);
    }

    function aim(address victim, bytes memory data) internal override {
        manager.aim(victim, data);
    }
}

/// @notice The stake is in two vaults of Symbiotic.
abstract contract SymbioticRig is RestakedRig {
    address internal constant NETWORK = address(0x4e7);
    uint96 internal constant IDENTIFIER = 3;
    bytes32 internal constant SUBNETWORK = bytes32(uint256(uint160(NETWORK)) << 96 | IDENTIFIER);
    uint48 internal constant VETO = 1 days;
    uint48 internal constant VAULT_EPOCH = uint48(DELAY) + VETO + 1 days;

    MockRegistry internal registry;
    MockOptIns internal optIns;
    MockMiddlewares internal middlewares;
    MockDelegator[2] internal delegators;
    MockSlasher[2] internal slashers;
    MockVault[2] internal vaults;

    /// @dev The kind of both slashers.
    function kind() internal pure virtual returns (uint64) {
        return 0;
    }

    function makeProtocol() internal override {
        (registry, optIns, middlewares) = (new MockRegistry(), new MockOptIns(), new MockMiddlewares());
        registry.add(NETWORK);
        for (uint256 i = 0; i < 2; i++) {
            delegators[i] = new MockDelegator(optIns, 0);
            slashers[i] = new MockSlasher(address(middlewares), kind(), VETO);
            vaults[i] = new MockVault(address(delegators[i]), address(slashers[i]), VAULT_EPOCH);
            slashers[i].setVault(vaults[i]);
            registry.add(address(vaults[i]));
        }
        // By rising addresses, and the second one counts a half.
        if (address(vaults[0]) > address(vaults[1])) {
            (vaults[0], vaults[1]) = (vaults[1], vaults[0]);
            (slashers[0], slashers[1]) = (slashers[1], slashers[0]);
            (delegators[0], delegators[1]) = (delegators[1], delegators[0]);
        }
    }

    function entries() internal view returns (SymbioticStake.Vault[] memory list) {
        list = new SymbioticStake.Vault[](2);
        list[0] = SymbioticStake.Vault(IVault(address(vaults[0])), 1e18);
        list[1] = SymbioticStake.Vault(IVault(address(vaults[1])), 0.5e18);
    }

    function symbiotic() internal view returns (SymbioticStake.Symbiotic memory) {
        IRegistry all = IRegistry(address(registry));
        return SymbioticStake.Symbiotic(all, all, all, IOptInService(address(optIns)));
    }

    function makeSource(RestakedTaskNetwork taskNetwork) internal override returns (StakeSource) {
        INetworkMiddlewareService service = INetworkMiddlewareService(address(middlewares));
        return new SymbioticSource(taskNetwork, READ_GAS, symbiotic(), service, NETWORK, IDENTIFIER, entries());
    }

    function authorise(address who) internal override {
        middlewares.set(NETWORK, who);
    }

    function admit(address who) internal override {
        registry.add(who);
        optIns.set(who, NETWORK, true);
    }

    function give(address who, uint256 units) internal override {
        uint256 third = units / 3;
        delegators[0].set(SUBNETWORK, who, (units - third) * UNIT);
        delegators[1].set(SUBNETWORK, who, 2 * third * UNIT);
    }

    function misread(address who, Fault fault) internal override {
        delegators[0].misbehave(who, fault);
        delegators[1].misbehave(who, fault);
    }

    function misslash(address who, Fault fault) internal override {
        slashers[0].misbehave(who, fault);
        slashers[1].misbehave(who, fault);
    }

    function aim(address victim, bytes memory data) internal override {
        for (uint256 i = 0; i < 2; i++) {
            delegators[i].aim(victim, data);
            slashers[i].aim(victim, data);
        }
    }
}
