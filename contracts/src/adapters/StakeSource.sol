// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IStakeSource} from "../interfaces/IStakeSource.sol";
import {RestakedTaskNetwork} from "../RestakedTaskNetwork.sol";
import {ProtocolStake} from "./ProtocolStake.sol";

/// @title Where the operators of a task network have their stake, and who slashes it
/// @notice A `RestakedTaskNetwork` has one source, which reads an operator's stake in a protocol and slashes it there. A
/// derived contract says which protocol: `EigenLayerSource`, `SymbioticSource`. The source has no owner. It slashes on
/// the order of its network alone, so the protocol has to let it slash: as the slasher of EigenLayer's operator set, or
/// as the middleware of Symbiotic's network. Unless the protocol says so, nobody has stake.
///
/// - **A read that fails,** answers nonsense or takes more gas than `readGas` counts as no stake. Whoever passes too little
///   gas for a read is refused (`Reads`).
/// - **A slashing that fails** in one strategy or vault does not stop it in the others, and emits `NotSlashed`. If nothing
///   at all can be taken, the report in the network reverts, and can be repeated. A vault whose reads fail counts as one
///   without stake, and no event says so.
///
/// TRUSTED: the protocol, as `EigenLayerStake` and `SymbioticStake` say. Whoever says there who slashes can take this power
/// from the source. Then the stake weighs nothing from the next read on, and what was signed before is not slashed.
abstract contract StakeSource is ProtocolStake, IStakeSource {
    /// @dev The gas that one slashing of a strategy or vault gets. EigenLayer's and Symbiotic's take less than half of it,
    /// hooks of a vault included.
    uint256 internal constant SLASH_GAS = 1_000_000;
    /// @dev The gas that all calls of one report may take at most: a transaction has 2^24.
    uint256 internal constant MOST_GAS = 15_000_000;

    /// @notice The network.
    RestakedTaskNetwork public immutable taskNetwork;
    /// @dev The network's clock.
    uint256 private immutable _genesis;
    uint256 private immutable _epochLength;
    uint256 private immutable _slashingWindow;

    /// @notice Stake was taken.
    /// @param place The vault or strategy.
    /// @param operator The operator.
    /// @param amount What was taken, in the protocol's units.
    event StakeSlashed(address indexed place, address indexed operator, uint256 amount);
    /// @notice A vault or strategy refused to slash an operator.
    /// @param place The vault or strategy.
    /// @param operator The operator.
    event NotSlashed(address indexed place, address indexed operator);

    /// @notice Only the network may order a slashing.
    /// @param sender Who called.
    error NotTheNetwork(address sender);

    /// @param taskNetwork_ The network, which must name this contract's address as its source.
    /// @param readGas_ The gas that one read of the protocol may take.
    constructor(RestakedTaskNetwork taskNetwork_, uint32 readGas_) ProtocolStake(readGas_) {
        require(address(taskNetwork_.source()) == address(this), BadParameter("taskNetwork"));
        taskNetwork = taskNetwork_;
        _genesis = taskNetwork_.genesis();
        _epochLength = taskNetwork_.epochLength();
        _slashingWindow = taskNetwork_.slashingWindow();
    }

    /// @inheritdoc IStakeSource
    function stakeOf(address operator) external view returns (uint256) {
        return _maySlash() ? _stakeOf(operator, uint48(_captured())) : 0;
    }

    /// @inheritdoc IStakeSource
    function slash(address operator, uint256 share) external returns (uint256 taken) {
        require(msg.sender == address(taskNetwork), NotTheNetwork(msg.sender));
        return _slash(operator, share);
    }

    /// @notice Whether the protocol lets this contract slash.
    function _maySlash() internal view virtual returns (bool);

    /// @notice Takes a share of all that an operator has at stake.
    /// @dev Must revert because of nothing that the protocol does, other than by `Reads.NotEnoughGas`.
    /// @param operator The operator.
    /// @param share The share, in 1/10,000.
    /// @return taken What was taken, in the unit of `_stakeOf`.
    function _slash(address operator, uint256 share) internal virtual returns (uint256 taken);

    /// @notice The second whose stake counts now: the last one before the current epoch. So all reads of an epoch ask for
    /// one second. Before the first epoch it is the second before the block.
    /// @return The second.
    function _captured() internal view returns (uint256) {
        if (block.timestamp < _genesis) return block.timestamp - 1;
        // slither-disable-next-line divide-before-multiply
        return _genesis + (block.timestamp - _genesis) / _epochLength * _epochLength - 1;
    }

    /// @notice The seconds whose stake counted for the epochs whose conflicts can be reported now.
    /// @return first The first one.
    /// @return step Seconds from each one to the next. The last one is `_captured`.
    function _reportable() internal view returns (uint256 first, uint256 step) {
        step = _epochLength;
        uint256 passed = block.timestamp - _genesis;
        // `slashableUntil(e)` is genesis + (e + 2) * epochLength + slashingWindow.
        uint256 epoch = passed < _slashingWindow + step ? 0 : (passed - _slashingWindow) / step - 1;
        first = _genesis + epoch * step - 1;
    }

    /// @notice The most seconds that `_reportable` names.
    /// @return How many.
    function _mostReportable() internal view returns (uint256) {
        return (_slashingWindow + _epochLength - 1) / _epochLength + 2;
    }
}
