// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IBaseDelegator, IOptInService, IRegistry, IVault} from "./ISymbiotic.sol";
import {ProtocolStake} from "./ProtocolStake.sol";
import {Reads} from "./Reads.sol";

/// @title Stake in Symbiotic's vaults
/// @notice The operators are those that are in Symbiotic's registry of operators and are opted in to one network. An
/// operator's stake is what the vaults' delegators give it in one subnetwork of this network:
///
///     stake = Σ stake in the vault × the vault's multiplier / 10^18
///
/// The stake in a vault is counted in its collateral, and the multiplier says what a unit of that is worth. A stake of
/// 2^256 or more counts as 2^256 - 1. A vault whose read fails counts nothing, and the operator's other vaults count.
///
/// **Which second counts.** Symbiotic keeps a history, and the derived contract says which second it reads. It is one for
/// all operators that are weighed for an epoch. So nobody can move stake between operators while they are weighed, and
/// stake that is there for one transaction does not count. What is slashed after that second counts from the next epoch on.
///
/// **How long stake can be slashed.** A vault can be slashed for a length of its own epochs, counted from the second that
/// was read. The derived contract says how long this has to be. What is slashed for one operator leaves the vault, so it
/// also lowers the stake of the others that have their stake there, and other networks may slash the same stake.
///
/// What is trusted of Symbiotic: whoever may change its contracts, and the migrations that its factory allows to a
/// vault's owner; the curator of each vault, who decides which operator has which stake; the collateral of each vault; and
/// the network, which decides who slashes.
///
/// Written for vaults of version 1 of Symbiotic's core v1.0.3 or v2.0.0, and three of their four kinds of delegators. The
/// constructor refuses the fourth, `FullRestakeDelegator`: it gives the same stake to each of several operators, so a quorum
/// could weigh many times what can be slashed. A vault of version 2 has a delegator without `stakeAt`, and the constructor
/// refuses it. A vault that becomes one counts nothing.
/// It works on the chain of the vaults alone.
abstract contract SymbioticStake is ProtocolStake {
    /// @notice A vault whose stake counts.
    struct Vault {
        /// The vault.
        IVault vault;
        /// What one unit of its collateral counts, times 10^18.
        uint96 multiplier;
    }

    /// @notice Where Symbiotic's contracts are.
    struct Symbiotic {
        /// The registry of networks.
        IRegistry networks;
        /// The registry of operators.
        IRegistry operators;
        /// The factory of vaults, which is their registry.
        IRegistry vaults;
        /// The service where operators opt in to networks.
        IOptInService optIns;
    }

    /// @notice The most vaults.
    uint256 public constant MOST_VAULTS = 16;
    /// @dev The kind of delegator that gives the same stake to several operators.
    uint64 private constant FULL_RESTAKE = 1;

    /// @notice The registry of operators.
    IRegistry public immutable operatorRegistry;
    /// @notice The service where operators opt in to networks.
    IOptInService public immutable optInService;
    /// @notice The network.
    address public immutable network;
    /// @notice The subnetwork: the network's address above 96 bits of an identifier.
    bytes32 public immutable subnetwork;

    /// @dev The vaults, by rising addresses.
    Vault[] internal _vaults;

    /// @param symbiotic Where Symbiotic's contracts are.
    /// @param network_ The network, which must be registered.
    /// @param identifier The identifier of the subnetwork.
    /// @param vaults_ The vaults, by rising addresses; 1 to `MOST_VAULTS`. Each must be one of the factory's and have a
    /// delegator that gives no stake to two operators, a slasher, a burner and epochs of at least `leastDuration`.
    /// @param leastDuration For how many seconds stake has to stay slashable.
    constructor(
        Symbiotic memory symbiotic,
        address network_,
        uint96 identifier,
        Vault[] memory vaults_,
        uint256 leastDuration
    ) {
        require(symbiotic.networks.isEntity(network_), BadParameter("network"));
        require(vaults_.length != 0 && vaults_.length <= MOST_VAULTS, BadParameter("vaults"));
        operatorRegistry = symbiotic.operators;
        optInService = symbiotic.optIns;
        network = network_;
        subnetwork = bytes32(uint256(uint160(network_)) << 96 | identifier);
        address last = address(0);
        // The deployer names the vaults, and at most `MOST_VAULTS`.
        // slither-disable-start calls-loop
        for (uint256 i = 0; i < vaults_.length; i++) {
            IVault vault = vaults_[i].vault;
            require(address(vault) > last && symbiotic.vaults.isEntity(address(vault)), BadParameter("vaults"));
            require(vaults_[i].multiplier != 0, BadParameter("multiplier"));
            require(vault.slasher() != address(0), BadParameter("slasher"));
            // Without one, a slashing sends collateral to address 0, which most tokens refuse.
            require(vault.burner() != address(0), BadParameter("burner"));
            require(vault.epochDuration() >= leastDuration, BadParameter("epochDuration"));
            // Reverts if the delegator has no `stakeAt`, or is not set.
            IBaseDelegator(vault.delegator()).stakeAt(subnetwork, address(this), uint48(block.timestamp - 1), "");
            // Such stake would weigh once for each of its operators, and answer once.
            require(IBaseDelegator(vault.delegator()).TYPE() != FULL_RESTAKE, BadParameter("delegator"));
            last = address(vault);
            _vaults.push(vaults_[i]);
        }
        // slither-disable-end calls-loop
    }

    /// @notice The vaults whose stake counts.
    /// @return The vaults and their multipliers.
    function vaults() external view returns (Vault[] memory) {
        return _vaults;
    }

    /// @inheritdoc ProtocolStake
    function _isOperator(address operator) internal view override returns (bool) {
        bytes memory isEntity = abi.encodeCall(IRegistry.isEntity, (operator));
        bytes memory isOptedIn = abi.encodeCall(IOptInService.isOptedIn, (operator, network));
        return Reads.isTrue(address(operatorRegistry), isEntity, readGas)
            && Reads.isTrue(address(optInService), isOptedIn, readGas);
    }

    /// @inheritdoc ProtocolStake
    /// @dev `stakeAt` is zero unless the operator was opted in to the network and to the vault. Nobody opts in who is
    /// not in the registry of operators, and nobody is removed from it.
    function _stakeOf(address operator, uint48 captured) internal view override returns (uint256 stake) {
        bytes memory stakeAt = abi.encodeCall(IBaseDelegator.stakeAt, (subnetwork, operator, captured, ""));
        uint256 count = _vaults.length;
        for (uint256 i = 0; i < count; i++) {
            Vault memory entry = _vaults[i];
            // A vault that migrated may have another delegator.
            (, uint256 delegator) = Reads.word(address(entry.vault), abi.encodeCall(IVault.delegator, ()), readGas);
            (, uint256 amount) = Reads.word(address(uint160(delegator)), stakeAt, readGas);
            stake = Math.saturatingAdd(stake, _valueOf(amount, entry.multiplier));
        }
    }
}
