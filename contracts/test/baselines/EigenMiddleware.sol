// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {History} from "./EigenRegistries.sol";
import {Bn254} from "../../src/libraries/Bn254.sol";

/// @title EigenLayer's registries with several quorums, rebuilt
/// @notice As in `EigenRegistries.sol`, and beside that: several quorums, operators who leave, stakes that change, and the
/// functions that find indices. Each read has the name that the drop-in calls and the one that `EigenChecker` calls.
///
/// Simplified: anyone may register keys without a proof of possession, and sets any stake. What is like theirs is when an
/// entry is appended: a stake that stays the same appends none, changes in one block make one entry, and an update of a whole
/// quorum appends one entry of the sum, or none if the changes add up to zero (`updateQuorum`, as in versions from 2025 on).
contract EigenCoordinator is History {
    struct Entry {
        uint32 from;
        uint32 until;
        uint192 quorums;
    }

    EigenStakes public immutable stakeRegistry;
    EigenKeys public immutable blsApkRegistry;
    uint8 public quorumCount;
    mapping(uint8 quorum => uint256) public quorumUpdateBlockNumber;

    mapping(bytes32 operatorId => Entry[]) private _histories;

    /// @param stakes The stakes, maybe a proxy.
    /// @param keys The keys, maybe a proxy.
    constructor(EigenStakes stakes, EigenKeys keys) {
        (stakeRegistry, blsApkRegistry) = (stakes, keys);
    }

    function createQuorum() external {
        stakeRegistry.initialize(quorumCount);
        blsApkRegistry.initialize(quorumCount);
        quorumCount++;
    }

    /// @notice Adds an operator to quorums in which it is not.
    function register(Bn254.G1 calldata key, bytes calldata quorums, uint96[] calldata amounts) external {
        bytes32 id = keccak256(abi.encode(key));
        uint192 members = currentQuorums(id);
        for (uint256 i = 0; i < quorums.length; i++) {
            uint8 quorum = uint8(quorums[i]);
            require(quorum < quorumCount && (members >> quorum) & 1 == 0, "register");
            members |= uint192(1) << quorum;
            blsApkRegistry.add(quorum, key);
            stakeRegistry.change(quorum, id, amounts[i]);
        }
        _append(id, members);
    }

    /// @notice Removes an operator from quorums in which it is.
    function deregister(Bn254.G1 calldata key, bytes calldata quorums) external {
        bytes32 id = keccak256(abi.encode(key));
        uint192 members = currentQuorums(id);
        for (uint256 i = 0; i < quorums.length; i++) {
            uint8 quorum = uint8(quorums[i]);
            require((members >> quorum) & 1 != 0, "deregister");
            members &= ~(uint192(1) << quorum);
            blsApkRegistry.add(quorum, Bn254.negate(key));
            stakeRegistry.change(quorum, id, 0);
        }
        _append(id, members);
    }

    /// @notice Sets the stake of one operator in a quorum, as their `updateOperators`.
    function update(bytes32 id, uint8 quorum, uint96 amount) external {
        require((currentQuorums(id) >> quorum) & 1 != 0, "update");
        stakeRegistry.change(quorum, id, amount);
    }

    /// @notice Sets stakes in a quorum at once, as their `updateOperatorsForQuorum`.
    function updateQuorum(uint8 quorum, bytes32[] calldata ids, uint96[] calldata amounts) external {
        stakeRegistry.changeAll(quorum, ids, amounts);
        quorumUpdateBlockNumber[quorum] = block.number;
    }

    function currentQuorums(bytes32 id) public view returns (uint192) {
        Entry[] storage history = _histories[id];
        return history.length == 0 ? 0 : history[history.length - 1].quorums;
    }

    function quorumsAt(bytes32 id, uint32 inBlock, uint256 index) external view returns (uint192) {
        return getQuorumBitmapAtBlockNumberByIndex(id, inBlock, index);
    }

    function getQuorumBitmapAtBlockNumberByIndex(bytes32 id, uint32 inBlock, uint256 index)
        public
        view
        returns (uint192)
    {
        Entry memory entry = _histories[id][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.quorums;
    }

    function getQuorumBitmapIndicesAtBlockNumber(uint32 inBlock, bytes32[] memory ids)
        external
        view
        returns (uint32[] memory indices)
    {
        indices = new uint32[](ids.length);
        for (uint256 i = 0; i < ids.length; i++) {
            uint256 index = _histories[ids[i]].length;
            while (index != 0 && _histories[ids[i]][index - 1].from > inBlock) index--;
            require(index != 0, "no entry");
            indices[i] = uint32(index - 1);
        }
    }

    function _append(bytes32 id, uint192 quorums) private {
        Entry[] storage history = _histories[id];
        if (history.length != 0) {
            Entry storage last = history[history.length - 1];
            if (last.from == block.number) {
                last.quorums = quorums;
                return;
            }
            last.until = uint32(block.number);
        }
        history.push(Entry(uint32(block.number), 0, quorums));
    }
}

/// @notice As their `StakeRegistry`.
contract EigenStakes is History {
    struct Entry {
        uint32 from;
        uint32 until;
        uint96 stake;
    }

    address public constant delegation = address(0xde1e);

    mapping(uint8 quorum => Entry[]) private _totals;
    mapping(bytes32 operatorId => mapping(uint8 quorum => Entry[])) private _histories;

    function initialize(uint8 quorum) external {
        _totals[quorum].push(Entry(uint32(block.number), 0, 0));
    }

    function change(uint8 quorum, bytes32 id, uint96 amount) external {
        _changeTotal(quorum, _change(quorum, id, amount));
    }

    function changeAll(uint8 quorum, bytes32[] calldata ids, uint96[] calldata amounts) external {
        int256 sum = 0;
        for (uint256 i = 0; i < ids.length; i++) {
            sum += _change(quorum, ids[i], amounts[i]);
        }
        _changeTotal(quorum, sum);
    }

    function stakeAt(uint8 quorum, uint32 inBlock, bytes32 id, uint256 index) external view returns (uint96) {
        return getStakeAtBlockNumberAndIndex(quorum, inBlock, id, index);
    }

    function totalAt(uint8 quorum, uint32 inBlock, uint256 index) external view returns (uint96) {
        return getTotalStakeAtBlockNumberFromIndex(quorum, inBlock, index);
    }

    function getStakeAtBlockNumberAndIndex(uint8 quorum, uint32 inBlock, bytes32 id, uint256 index)
        public
        view
        returns (uint96)
    {
        Entry memory entry = _histories[id][quorum][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.stake;
    }

    function getTotalStakeAtBlockNumberFromIndex(uint8 quorum, uint32 inBlock, uint256 index)
        public
        view
        returns (uint96)
    {
        Entry memory entry = _totals[quorum][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.stake;
    }

    function getStakeUpdateIndexAtBlockNumber(bytes32 id, uint8 quorum, uint32 inBlock) external view returns (uint32) {
        return _indexAt(_histories[id][quorum], inBlock);
    }

    function getTotalStakeIndicesAtBlockNumber(uint32 inBlock, bytes calldata quorums)
        external
        view
        returns (uint32[] memory indices)
    {
        indices = new uint32[](quorums.length);
        for (uint256 i = 0; i < quorums.length; i++) {
            indices[i] = _indexAt(_totals[uint8(quorums[i])], inBlock);
        }
    }

    function _change(uint8 quorum, bytes32 id, uint96 amount) private returns (int256) {
        Entry[] storage history = _histories[id][quorum];
        uint96 before = history.length == 0 ? 0 : history[history.length - 1].stake;
        if (history.length == 0 || before != amount) _append(history, amount);
        return int256(uint256(amount)) - int256(uint256(before));
    }

    function _changeTotal(uint8 quorum, int256 difference) private {
        Entry[] storage totals = _totals[quorum];
        if (difference == 0) return;
        _append(totals, uint96(uint256(int256(uint256(totals[totals.length - 1].stake)) + difference)));
    }

    function _append(Entry[] storage entries, uint96 stake) private {
        if (entries.length != 0) {
            Entry storage last = entries[entries.length - 1];
            if (last.from == block.number) {
                last.stake = stake;
                return;
            }
            last.until = uint32(block.number);
        }
        entries.push(Entry(uint32(block.number), 0, stake));
    }

    function _indexAt(Entry[] storage entries, uint32 inBlock) private view returns (uint32) {
        uint256 index = entries.length;
        while (index != 0 && entries[index - 1].from > inBlock) index--;
        require(index != 0, "no entry");
        return uint32(index - 1);
    }
}

/// @notice As their `BLSApkRegistry`.
contract EigenKeys is History {
    struct Entry {
        bytes24 hash;
        uint32 from;
        uint32 until;
    }

    mapping(uint8 quorum => Entry[]) private _histories;
    mapping(uint8 quorum => Bn254.G1) private _sums;

    function initialize(uint8 quorum) external {
        _histories[quorum].push(Entry(0, uint32(block.number), 0));
    }

    function add(uint8 quorum, Bn254.G1 calldata key) external {
        _sums[quorum] = Bn254.add(_sums[quorum], key);
        bytes24 hash = bytes24(keccak256(abi.encode(_sums[quorum])));
        Entry[] storage history = _histories[quorum];
        Entry storage last = history[history.length - 1];
        if (last.from == block.number) {
            last.hash = hash;
            return;
        }
        last.until = uint32(block.number);
        history.push(Entry(hash, uint32(block.number), 0));
    }

    function keyHashAt(uint8 quorum, uint32 inBlock, uint256 index) external view returns (bytes24) {
        return getApkHashAtBlockNumberAndIndex(quorum, inBlock, index);
    }

    function getApkHashAtBlockNumberAndIndex(uint8 quorum, uint32 inBlock, uint256 index)
        public
        view
        returns (bytes24)
    {
        Entry memory entry = _histories[quorum][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.hash;
    }

    function getApkIndicesAtBlockNumber(bytes calldata quorums, uint256 inBlock)
        external
        view
        returns (uint32[] memory indices)
    {
        indices = new uint32[](quorums.length);
        for (uint256 i = 0; i < quorums.length; i++) {
            Entry[] storage history = _histories[uint8(quorums[i])];
            uint256 index = history.length;
            while (index != 0 && history[index - 1].from > inBlock) index--;
            require(index != 0, "no entry");
            indices[i] = uint32(index - 1);
        }
    }
}
