// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Test.sol";
import {AdaptersFaults} from "./AdaptersFaults.sol";
import {AdaptersCurveFixture, AdaptersFixture} from "./AdaptersFixture.sol";
import {Fault, Misbehaving, MockDelegator, MockOptIns, MockRegistry, MockVault} from "./mocks/Restaking.sol";
import {ToySettlement} from "./mocks/TableRegistrar.sol";
import {Bls12381G2Signing, Bn254G1Signing, Signing} from "./Signing.sol";
import {Settlement} from "../src/Settlement.sol";
import {SettlementBls12381G2, SettlementBn254G1} from "../src/Settlements.sol";
import {IBaseDelegator, IOptInService, IRegistry, IVault} from "../src/adapters/ISymbiotic.sol";
import {ProtocolStake} from "../src/adapters/ProtocolStake.sol";
import {StakeRegistrar} from "../src/adapters/StakeRegistrar.sol";
import {SymbioticRegistrar} from "../src/adapters/SymbioticRegistrar.sol";
import {SymbioticStake} from "../src/adapters/SymbioticStake.sol";

/// @notice A registrar over mocks of Symbiotic: two vaults, of which a unit of the second one's collateral counts a half.
abstract contract SymbioticFixture is AdaptersFixture {
    address internal constant NETWORK = address(0x4e);
    address internal constant SLASHER = address(0x51a5);
    uint96 internal constant IDENTIFIER = 3;
    /// What the constructor wants of a vault's epochs, at least.
    uint48 internal constant VAULT_EPOCH = 2 * LENGTH + 1 hours;
    bytes32 internal constant SUBNETWORK = bytes32(uint256(uint160(NETWORK)) << 96 | IDENTIFIER);

    MockRegistry internal _networks;
    MockRegistry internal _operatorRegistry;
    MockRegistry internal _vaultFactory;
    MockOptIns internal _optIns;
    MockDelegator[2] internal _delegators;
    MockVault[2] internal _vaults;
    SymbioticRegistrar internal _registrar;

    function _makeMocks() internal {
        (_networks, _operatorRegistry, _vaultFactory) = (new MockRegistry(), new MockRegistry(), new MockRegistry());
        _optIns = new MockOptIns();
        _networks.add(NETWORK);
        for (uint256 i = 0; i < 2; i++) {
            _delegators[i] = new MockDelegator(_optIns, 0);
            _vaults[i] = new MockVault(address(_delegators[i]), SLASHER, VAULT_EPOCH);
            _vaultFactory.add(address(_vaults[i]));
        }
    }

    /// @dev The two vaults, by rising addresses. The second mock counts a half.
    function _entries() internal view returns (SymbioticStake.Vault[] memory entries) {
        entries = new SymbioticStake.Vault[](2);
        bool swap = address(_vaults[0]) > address(_vaults[1]);
        entries[swap ? 1 : 0] = SymbioticStake.Vault(IVault(address(_vaults[0])), 1e18);
        entries[swap ? 0 : 1] = SymbioticStake.Vault(IVault(address(_vaults[1])), 0.5e18);
    }

    function _symbiotic() internal view returns (SymbioticStake.Symbiotic memory) {
        return SymbioticStake.Symbiotic({
            networks: IRegistry(address(_networks)),
            operators: IRegistry(address(_operatorRegistry)),
            vaults: IRegistry(address(_vaultFactory)),
            optIns: IOptInService(address(_optIns))
        });
    }

    function _newRegistrar(Settlement settlement, StakeRegistrar.Parameters memory parameters) internal {
        _registrar = new SymbioticRegistrar(settlement, parameters, _symbiotic(), NETWORK, IDENTIFIER, _entries());
        _base = _registrar;
    }

    /// @dev A third of the weight comes from the second vault.
    function _give(address operator, uint256 weight) internal {
        uint256 third = weight / 3;
        _delegators[0].set(SUBNETWORK, operator, (weight - third) * UNIT);
        _delegators[1].set(SUBNETWORK, operator, 2 * third * UNIT);
        // Another subnetwork does not count.
        _delegators[0].set(bytes32(uint256(SUBNETWORK) + 1), operator, 1e30);
    }

    function _admit(address operator) internal {
        _operatorRegistry.add(operator);
        _optIns.set(operator, NETWORK, true);
    }
}

contract AdaptersSymbioticFaultsTest is AdaptersFaults, SymbioticFixture {
    function _deploy(StakeRegistrar.Parameters memory parameters) internal override {
        _makeMocks();
        _settlement = new ToySettlement(_later(1));
        _newRegistrar(_settlement, parameters);
    }

    /// @dev Only the first vault misbehaves. So no operator has stake in the second one in these tests, but for the last.
    function _source() internal view override returns (Misbehaving) {
        return _delegators[0];
    }

    function _join(address operator) internal override {
        _admit(operator);
    }

    function _quit(address operator) internal override {
        _optIns.set(operator, NETWORK, false);
    }

    function _stake(address operator, uint256 weight) internal override {
        _delegators[0].set(SUBNETWORK, operator, weight * UNIT);
    }

    /// @dev Any word is an answer, and a stake that is too large saturates.
    function _nonsense() internal pure override returns (uint256) {
        return type(uint64).max;
    }

    function _name() internal pure override returns (string memory) {
        return "Symbiotic (mocks)";
    }

    /// @notice The selectors of Symbiotic's core v1.0.3 and v2.0.0, and of the mocks.
    function test_selectors() public pure {
        assertEq(IRegistry.isEntity.selector, bytes4(0x14887c58), "isEntity");
        assertEq(IOptInService.isOptedIn.selector, bytes4(0x220d32d4), "isOptedIn");
        assertEq(IVault.delegator.selector, bytes4(0xce9b7930), "delegator");
        assertEq(IVault.slasher.selector, bytes4(0xb1344271), "slasher");
        assertEq(IVault.epochDuration.selector, bytes4(0x4ff0876a), "epochDuration");
        assertEq(IVault.burner.selector, bytes4(keccak256("burner()")), "burner");
        assertEq(IBaseDelegator.stakeAt.selector, bytes4(0xe02f6937), "stakeAt");
        assertEq(IBaseDelegator.TYPE.selector, bytes4(keccak256("TYPE()")), "TYPE");
        assertEq(MockOptIns.isOptedIn.selector, bytes4(0x220d32d4), "mock");
        assertEq(MockDelegator.stakeAt.selector, bytes4(0xe02f6937), "mock");
        assertEq(bytes4(keccak256("isEntity(address)")), bytes4(0x14887c58), "text");
        assertEq(bytes4(keccak256("isOptedIn(address,address)")), bytes4(0x220d32d4), "text");
        assertEq(bytes4(keccak256("stakeAt(bytes32,address,uint48,bytes)")), bytes4(0xe02f6937), "text");
    }

    function test_trap_parametersOutOfBounds() public {
        for (uint256 i = 0; i < 10; i++) {
            SymbioticStake.Vault[] memory entries = _entries();
            address network = NETWORK;
            string memory what = "vaults";
            MockVault vault = _vaults[0];
            if (i == 0) (network, what) = (address(0xbad), "network");
            if (i == 1) entries = new SymbioticStake.Vault[](0);
            if (i == 2) entries = new SymbioticStake.Vault[](17);
            if (i == 3) (entries[0], entries[1]) = (entries[1], entries[0]);
            if (i == 4) entries[1] = entries[0];
            // Not one of the factory's.
            if (i == 5) entries[1].vault = IVault(address(type(uint160).max));
            if (i == 6) (entries[0].multiplier, what) = (0, "multiplier");
            if (i == 7) (vault, what) = (new MockVault(address(_delegators[0]), address(0), VAULT_EPOCH), "slasher");
            if (i == 8) {
                (vault, what) = (new MockVault(address(_delegators[0]), SLASHER, VAULT_EPOCH - 1), "epochDuration");
            }
            if (i >= 7 && i < 9) entries = _only(vault);
            Settlement settlement = new ToySettlement(_later(1));
            SymbioticStake.Symbiotic memory symbiotic = _symbiotic();
            StakeRegistrar.Parameters memory parameters = _parameters();
            if (i < 9) vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, what));
            new SymbioticRegistrar(settlement, parameters, symbiotic, network, IDENTIFIER, entries);
        }
    }

    function _only(MockVault vault) private returns (SymbioticStake.Vault[] memory entries) {
        _vaultFactory.add(address(vault));
        entries = new SymbioticStake.Vault[](1);
        entries[0] = SymbioticStake.Vault(IVault(address(vault)), 1e18);
    }

    /// @notice A vault without a burner sends what is slashed to address 0. Most tokens refuse that, so its stake would weigh
    /// and not answer.
    function test_trap_aVaultWithoutABurner() public {
        MockVault vault = new MockVault(address(_delegators[0]), SLASHER, VAULT_EPOCH);
        SymbioticStake.Vault[] memory entries = _only(vault);
        for (uint160 i = 0; i < 2; i++) {
            vault.setBurner(address(i));
            Settlement settlement = new ToySettlement(_later(1));
            SymbioticStake.Symbiotic memory symbiotic = _symbiotic();
            StakeRegistrar.Parameters memory parameters = _parameters();
            if (i == 0) vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, "burner"));
            new SymbioticRegistrar(settlement, parameters, symbiotic, NETWORK, IDENTIFIER, entries);
        }
    }

    /// @notice Stake may be read an hour before the epoch in which it weighs. With twice the length of a short epoch as the
    /// vault's, it could be gone by then.
    function test_trap_epochsShorterThanAWeighing() public {
        uint48[3] memory durations = [uint48(20 minutes), 80 minutes - 1, 80 minutes];
        for (uint256 i = 0; i < 3; i++) {
            MockVault vault = new MockVault(address(_delegators[0]), SLASHER, durations[i]);
            SymbioticStake.Vault[] memory entries = _only(vault);
            Settlement settlement = new ToySettlement(_later(1));
            SymbioticStake.Symbiotic memory symbiotic = _symbiotic();
            StakeRegistrar.Parameters memory parameters = _parameters();
            parameters.epochLength = 10 minutes;
            if (i < 2) vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, "epochDuration"));
            new SymbioticRegistrar(settlement, parameters, symbiotic, NETWORK, IDENTIFIER, entries);
        }
    }

    /// @notice A vault of version 2 has a delegator without `stakeAt`, and a vault may have none yet.
    function test_trap_aVaultWithAnotherDelegator() public {
        address[2] memory delegators = [address(0), address(_optIns)];
        for (uint256 i = 0; i < 2; i++) {
            SymbioticStake.Vault[] memory entries = _only(new MockVault(delegators[i], SLASHER, VAULT_EPOCH));
            Settlement settlement = new ToySettlement(_later(1));
            SymbioticStake.Symbiotic memory symbiotic = _symbiotic();
            StakeRegistrar.Parameters memory parameters = _parameters();
            vm.expectRevert();
            new SymbioticRegistrar(settlement, parameters, symbiotic, NETWORK, IDENTIFIER, entries);
        }
    }

    /// @notice A delegator of kind 1 gives the same stake to each of its operators. Two of them would weigh 200 by a stake of
    /// 100. The other kinds give no stake to two operators.
    function test_trap_aStakeThatSeveralOperatorsHave() public {
        for (uint64 kind = 0; kind < 4; kind++) {
            MockDelegator delegator = new MockDelegator(_optIns, kind);
            SymbioticStake.Vault[] memory entries = _only(new MockVault(address(delegator), SLASHER, VAULT_EPOCH));
            Settlement settlement = new ToySettlement(_later(1));
            SymbioticStake.Symbiotic memory symbiotic = _symbiotic();
            StakeRegistrar.Parameters memory parameters = _parameters();
            if (kind == 1) vm.expectRevert(abi.encodeWithSelector(ProtocolStake.BadParameter.selector, "delegator"));
            new SymbioticRegistrar(settlement, parameters, symbiotic, NETWORK, IDENTIFIER, entries);
        }
    }

    /// @notice A vault that gets such a delegator later counts nothing, and the other one counts.
    function test_trap_aVaultThatMigrates() public {
        _enrollAll(2);
        _delegators[1].set(SUBNETWORK, _operator(0), 14 * UNIT);
        _pass(1);
        _vaults[0].migrate(address(_optIns));
        _base.weigh(2);
        assertEq(_weights()[0], 7, "the other vault");
        assertEq(_weights()[1], 0, "nothing");
    }

    /// @notice Each vault is read by itself.
    function test_trap_oneOfTwoVaultsMisbehaves() public {
        _enrollAll(2);
        _delegators[1].set(SUBNETWORK, _operator(0), 50 * UNIT);
        _pass(1);
        _base.weigh(1);
        assertEq(_weights()[0], 125, "both vaults");
        _delegators[0].misbehave(_operator(0), Fault.Reverts);
        _pass(2 hours);
        _base.weigh(1);
        assertEq(_weights()[0], 25, "the other vault");
    }

    /// @notice The stake is that of the second before the first step of the weighing. So stake that moves between
    /// operators while they are weighed, in the same block or later, counts once and where it was.
    function test_trap_stakeMovesBetweenOperators() public {
        _enrollAll(4);
        // In the block of the weighing.
        _stake(_operator(0), 201);
        _stake(_operator(1), 0);
        _base.weigh(2);
        _pass(600);
        _stake(_operator(3), 203);
        _stake(_operator(2), 0);
        _pass(600);
        _base.weigh(2);
        _expectWeights(4, 4, 0);
    }

    /// @notice Who opts in and gets stake in this block only gets no key.
    function test_trap_stakeOfThisBlock() public {
        _enroll(0, 100);
        vm.expectRevert(abi.encodeWithSelector(StakeRegistrar.TooLittleStake.selector, 0, 10));
        this.registerKey(0);
        _pass(1);
        this.registerKey(0);
    }

    /// @notice Opted in to the network, but not in the registry of operators; and the other way round.
    function test_trap_halfAnOperator() public {
        _optIns.set(_operator(0), NETWORK, true);
        _operatorRegistry.add(_operator(1));
        for (uint256 i = 0; i < 2; i++) {
            _stake(_operator(i), 100);
        }
        _pass(1);
        for (uint256 i = 0; i < 2; i++) {
            vm.expectRevert(abi.encodeWithSelector(StakeRegistrar.NotOperator.selector, _operator(i)));
            this.registerKey(i);
        }
    }

    function test_trap_stakesThatOverflow() public {
        _enrollAll(2);
        _delegators[0].set(SUBNETWORK, _operator(0), type(uint256).max);
        _delegators[1].set(SUBNETWORK, _operator(0), type(uint256).max);
        _pass(1);
        _base.weigh(2);
        _expectWeights(2, 0, type(uint64).max);
    }
}

abstract contract AdaptersSymbioticTest is SymbioticFixture, AdaptersCurveFixture {
    function _new(address registrar) internal virtual returns (Settlement);

    function setUp() public {
        vm.warp(GENESIS);
        _makeMocks();
        _settlement = _new(_later(1));
        _newRegistrar(_settlement, _parameters());
        for (uint256 i = 0; i < 4; i++) {
            _admit(_operator(i));
            _give(_operator(i), 10_000 * (i + 1));
        }
        vm.warp(GENESIS + 1);
        for (uint256 i = 0; i < 4; i++) {
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
        _refuses(7, true, abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 60_000, 66_667));
        _refuses(10, true, abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 60_000, 66_667));
        _refuses(12, false, abi.encodeWithSelector(Settlement.TooFewMembers.selector, 2, 4));
    }

    /// @notice In the next epoch the heaviest operator is slashed to a quarter, and the second heaviest has left.
    function test_theNextEpochHasOtherWeights() public {
        _beginEpoch();
        _enter();
        _settles(12, true);
        vm.warp(block.timestamp + 100);
        _give(_operator(3), 10_000);
        _optIns.set(_operator(2), NETWORK, false);
        _settles(12, true);
        _beginEpoch();
        _enter();
        assertEq(_head.required(), 26_667, "required");
        _refuses(12, true, abi.encodeWithSelector(Settlement.QuorumTooLight.selector, 10_000, 26_667));
        _settles(3, true);
    }
}

contract AdaptersSymbioticBls12381Test is AdaptersSymbioticTest, Bls12381G2Signing {
    function _new(address registrar) internal override returns (Settlement) {
        return new SettlementBls12381G2(registrar, 0, 4);
    }
}

contract AdaptersSymbioticBn254G1Test is AdaptersSymbioticTest, Bn254G1Signing {
    function _new(address registrar) internal override returns (Settlement) {
        return new SettlementBn254G1(registrar, 0, 4);
    }
}
