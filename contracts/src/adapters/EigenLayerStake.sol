// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IAllocationManager, OperatorSet} from "./IEigenLayer.sol";
import {ProtocolStake} from "./ProtocolStake.sol";
import {Reads} from "./Reads.sol";

/// @title The stake of an EigenLayer operator set
/// @notice The operators are the members of one operator set. An operator's stake is what the set can slash of it, over
/// all strategies:
///
///     stake = Σ slashable shares of the strategy × its multiplier / 10^18
///
/// EigenLayer computes the slashable shares from the shares that are delegated to the operator and the part that it
/// allocated to the set (`getMinimumSlashableStake`). A strategy that is not in the set counts nothing: EigenLayer would
/// slash nothing there, and frees what is allocated at once. Shares are those of the strategy, and not tokens: the
/// multiplier says what a share is worth. A stake of 2^256 or more counts as 2^256 - 1.
///
/// **Which block counts.** The stake is read in the block in which the operator is weighed. EigenLayer keeps no history
/// of it. Delegated stake cannot move from one operator to another while operators are weighed, since a withdrawal takes
/// days. An operator that leaves the set weighs nothing from the next read on, though EigenLayer can slash it for some
/// time.
///
/// **How long stake can be slashed.** A deallocation that takes effect within `lookahead` blocks does not count. So what
/// counts stays allocated for so many blocks, unless it is slashed or withdrawn: stake in the withdrawal queue is not
/// counted, and can be slashed until EigenLayer's withdrawal delay is over. NOT checked: that this delay has `lookahead`
/// blocks. On Ethereum both delays of EigenLayer have 100,800 blocks.
///
/// What is trusted of EigenLayer: whoever may change its contracts; the service's address, which decides who becomes a
/// member of the set, which strategies are in it and who slashes it; and the strategies and their tokens.
///
/// Written for EigenLayer's core v1.12.0. It works on the chain of EigenLayer's core alone.
abstract contract EigenLayerStake is ProtocolStake {
    /// @notice A strategy whose shares count.
    struct Strategy {
        /// The strategy.
        address strategy;
        /// What one share counts, times 10^18.
        uint96 multiplier;
    }

    /// @notice The most strategies.
    uint256 public constant MOST_STRATEGIES = 16;

    /// @dev The most strategies of the whole set. If the service adds more, nobody has stake.
    uint256 private constant MOST_IN_SET = 128;

    /// @dev Words before the values in the answer of `getMinimumSlashableStake`: the offset and the length of the list
    /// of operators, which has one element, and the offset and the length of that operator's values.
    uint256 private constant BEFORE_VALUES = 4;

    /// @notice EigenLayer's AllocationManager.
    IAllocationManager public immutable allocationManager;
    /// @notice The service whose operator set it is.
    address public immutable avs;
    /// @notice The number of the operator set.
    uint32 public immutable setId;
    /// @notice For how many blocks, from the weighing on, stake has to stay allocated in order to count.
    uint32 public immutable lookahead;

    /// @dev The strategies, by rising addresses.
    Strategy[] internal _strategies;

    /// @param allocationManager_ EigenLayer's AllocationManager.
    /// @param operatorSet The operator set.
    /// @param lookahead_ For how many blocks stake has to stay allocated: at least 1, and less than EigenLayer's
    /// `DEALLOCATION_DELAY`. Not compared with the epoch's length, which is in seconds.
    /// @param strategies_ The strategies, by rising addresses; 1 to `MOST_STRATEGIES`.
    constructor(
        IAllocationManager allocationManager_,
        OperatorSet memory operatorSet,
        uint32 lookahead_,
        Strategy[] memory strategies_
    ) {
        require(lookahead_ != 0 && lookahead_ < allocationManager_.DEALLOCATION_DELAY(), BadParameter("lookahead"));
        require(strategies_.length != 0 && strategies_.length <= MOST_STRATEGIES, BadParameter("strategies"));
        allocationManager = allocationManager_;
        (avs, setId) = (operatorSet.avs, operatorSet.id);
        lookahead = lookahead_;
        address last = address(0);
        for (uint256 i = 0; i < strategies_.length; i++) {
            require(strategies_[i].strategy > last, BadParameter("strategies"));
            require(strategies_[i].multiplier != 0, BadParameter("multiplier"));
            last = strategies_[i].strategy;
            _strategies.push(strategies_[i]);
        }
    }

    /// @notice The strategies whose shares count.
    /// @return The strategies and their multipliers.
    function strategies() external view returns (Strategy[] memory) {
        return _strategies;
    }

    /// @inheritdoc ProtocolStake
    function _isOperator(address operator) internal view override returns (bool) {
        bytes memory call =
            abi.encodeCall(IAllocationManager.isMemberOfOperatorSet, (operator, OperatorSet(avs, setId)));
        return Reads.isTrue(address(allocationManager), call, readGas);
    }

    /// @inheritdoc ProtocolStake
    /// @dev EigenLayer answers for a former member as well, as long as it can be slashed. So membership is read first.
    function _stakeOf(address operator, uint48) internal view override returns (uint256 stake) {
        if (!_isOperator(operator)) return 0;
        uint256 count = _strategies.length;
        address[] memory operators_ = new address[](1);
        operators_[0] = operator;
        address[] memory addresses = new address[](count);
        for (uint256 i = 0; i < count; i++) {
            addresses[i] = _strategies[i].strategy;
        }
        uint32 until = uint32(block.number) + lookahead;
        bytes memory call = abi.encodeCall(
            IAllocationManager.getMinimumSlashableStake, (OperatorSet(avs, setId), operators_, addresses, until)
        );
        (bool done, uint256 answer) = Reads.words(address(allocationManager), call, readGas, BEFORE_VALUES + count);
        // One operator and `count` values, in the only form in which the compiler encodes them.
        if (
            !done || _load(answer) != 32 || _load(answer + 32) != 1 || _load(answer + 64) != 32
                || _load(answer + 96) != count
        ) return 0;
        uint256[] memory inSet = _strategiesInSet();
        for (uint256 i = 0; i < count; i++) {
            if (!_isIn(addresses[i], inSet)) continue;
            uint256 shares = _load(answer + 32 * (BEFORE_VALUES + i));
            stake = Math.saturatingAdd(stake, _valueOf(shares, _strategies[i].multiplier));
        }
    }

    /// @dev The strategies from which the set can slash; none if EigenLayer does not answer.
    function _strategiesInSet() private view returns (uint256[] memory) {
        bytes memory call = abi.encodeCall(IAllocationManager.getStrategiesInOperatorSet, (OperatorSet(avs, setId)));
        return Reads.list(address(allocationManager), call, readGas, MOST_IN_SET);
    }

    /// @dev Whether a strategy is in a list.
    function _isIn(address strategy, uint256[] memory list) private pure returns (bool) {
        for (uint256 i = 0; i < list.length; i++) {
            if (list[i] == uint160(strategy)) return true;
        }
        return false;
    }

    /// @dev A word in memory.
    function _load(uint256 place) internal pure returns (uint256 value) {
        assembly ("memory-safe") {
            value := mload(place)
        }
    }
}
