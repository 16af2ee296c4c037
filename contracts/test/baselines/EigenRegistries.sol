// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../../src/libraries/Bn254.sol";

/// @title What EigenLayer's registries store, as far as `checkSignatures` reads it
/// @notice For the benchmark alone, rebuilt from the sources of eigenlayer-middleware. Each value has a history: an array
/// of entries, one storage slot each, that hold the block from which an entry counts and the block from which the next
/// one does. Whoever reads passes the index of the entry, and the contract checks that it counted in the block. A read
/// costs two cold slots: the array's length, which Solidity compares with the index, and the entry.
///
/// Simplified: anyone may register, without a proof of possession; there is one quorum, with the number 0. Neither
/// changes what a read costs. Do not use these as contracts.
abstract contract History {
    error NotYet(uint256 from, uint256 inBlock);
    error NoLonger(uint256 until, uint256 inBlock);

    /// @dev Reverts unless an entry counted in a block.
    /// @param from The block from which the entry counts.
    /// @param until The block from which the next entry counts; 0 if there is none.
    /// @param inBlock The block.
    function _requireCounts(uint32 from, uint32 until, uint32 inBlock) internal pure {
        require(inBlock >= from, NotYet(from, inBlock));
        require(until == 0 || inBlock < until, NoLonger(until, inBlock));
    }
}

/// @notice The quorums of each operator, as in their `SlashingRegistryCoordinator`.
contract BitmapHistory is History {
    struct Entry {
        uint32 from;
        uint32 until;
        uint192 quorums;
    }

    /// @notice How many quorums there are.
    uint8 public quorumCount;

    mapping(bytes32 operatorId => Entry[]) private _histories;

    /// @notice Adds a quorum.
    function createQuorum() external {
        quorumCount++;
    }

    /// @notice Registers an operator for quorum 0.
    /// @param operatorId The hash of the operator's key.
    function register(bytes32 operatorId) external {
        _histories[operatorId].push(Entry(uint32(block.number), 0, 1));
    }

    /// @notice An operator's quorums in a block.
    /// @param operatorId The hash of the operator's key.
    /// @param inBlock The block.
    /// @param index The index of the entry that counted in it.
    /// @return A bitmap of quorum numbers.
    function quorumsAt(bytes32 operatorId, uint32 inBlock, uint256 index) external view returns (uint192) {
        Entry memory entry = _histories[operatorId][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.quorums;
    }
}

/// @notice The stakes of the operators and of each quorum, as in their `StakeRegistry`.
contract StakeHistory is History {
    struct Entry {
        uint32 from;
        uint32 until;
        uint96 stake;
    }

    mapping(uint8 quorum => Entry[]) private _totals;
    mapping(bytes32 operatorId => mapping(uint8 quorum => Entry[])) private _histories;

    /// @notice Sets an operator's stake in quorum 0.
    /// @param operatorId The hash of the operator's key.
    /// @param stake The new stake.
    function setStake(bytes32 operatorId, uint96 stake) external {
        Entry[] storage history = _histories[operatorId][0];
        Entry[] storage totals = _totals[0];
        uint96 before = history.length == 0 ? 0 : history[history.length - 1].stake;
        uint96 total = totals.length == 0 ? 0 : totals[totals.length - 1].stake;
        _append(history, stake);
        _append(totals, total - before + stake);
    }

    /// @notice The stake of a quorum in a block.
    /// @param quorum The quorum's number.
    /// @param inBlock The block.
    /// @param index The index of the entry that counted in it.
    /// @return The sum of its operators' stakes.
    function totalAt(uint8 quorum, uint32 inBlock, uint256 index) external view returns (uint96) {
        Entry memory entry = _totals[quorum][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.stake;
    }

    /// @notice The stake of an operator in a block.
    /// @param quorum The quorum's number.
    /// @param inBlock The block.
    /// @param operatorId The hash of the operator's key.
    /// @param index The index of the entry that counted in it.
    /// @return The operator's stake in that quorum.
    function stakeAt(uint8 quorum, uint32 inBlock, bytes32 operatorId, uint256 index) external view returns (uint96) {
        Entry memory entry = _histories[operatorId][quorum][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.stake;
    }

    /// @dev Several changes in one block make one entry.
    function _append(Entry[] storage entries, uint96 stake) private {
        uint32 now_ = uint32(block.number);
        if (entries.length != 0) {
            Entry storage last = entries[entries.length - 1];
            if (last.from == now_) {
                last.stake = stake;
                return;
            }
            last.until = now_;
        }
        entries.push(Entry(now_, 0, stake));
    }
}

/// @notice The sum of the keys of quorum 0, as in their `BLSApkRegistry`: the history holds 24 bytes of its hash.
contract KeyHistory is History {
    struct Entry {
        bytes24 hash;
        uint32 from;
        uint32 until;
    }

    mapping(uint8 quorum => Entry[]) private _histories;
    Bn254.G1 private _sum;

    /// @notice Adds a key to the sum.
    /// @param key The key in G1.
    function register(Bn254.G1 calldata key) external {
        _sum = Bn254.add(_sum, key);
        bytes24 hash = bytes24(keccak256(abi.encode(_sum)));
        Entry[] storage history = _histories[0];
        uint32 now_ = uint32(block.number);
        if (history.length != 0) {
            Entry storage last = history[history.length - 1];
            if (last.from == now_) {
                last.hash = hash;
                return;
            }
            last.until = now_;
        }
        history.push(Entry(hash, now_, 0));
    }

    /// @notice The hash of a quorum's aggregate key in a block.
    /// @param quorum The quorum's number.
    /// @param inBlock The block.
    /// @param index The index of the entry that counted in it.
    /// @return The first 24 bytes of the hash.
    function keyHashAt(uint8 quorum, uint32 inBlock, uint256 index) external view returns (bytes24) {
        Entry memory entry = _histories[quorum][index];
        _requireCounts(entry.from, entry.until, inBlock);
        return entry.hash;
    }
}

/// @title A proxy as EigenLayer has one before each registry
/// @notice Their proxies are OpenZeppelin's `TransparentUpgradeableProxy` of version 4.7. Each call reads two slots: the
/// administrator, whose calls are not forwarded, and the implementation.
contract TransparentProxy {
    /// @dev The slots of EIP-1967.
    bytes32 private constant ADMINISTRATOR = bytes32(uint256(keccak256("eip1967.proxy.admin")) - 1);
    bytes32 private constant IMPLEMENTATION = bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);

    error AdministratorCalls();

    /// @param implementation The contract whose code runs. It is a delegate, so its constructor set nothing here.
    constructor(address implementation) {
        (bytes32 administratorSlot, bytes32 implementationSlot) = (ADMINISTRATOR, IMPLEMENTATION);
        assembly {
            sstore(administratorSlot, 0xad)
            sstore(implementationSlot, implementation)
        }
    }

    fallback() external {
        (bytes32 administratorSlot, bytes32 implementationSlot) = (ADMINISTRATOR, IMPLEMENTATION);
        address administrator;
        assembly {
            administrator := sload(administratorSlot)
        }
        require(msg.sender != administrator, AdministratorCalls());
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(implementationSlot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done
            case 0 { revert(0, returndatasize()) }
            default { return(0, returndatasize()) }
        }
    }
}
