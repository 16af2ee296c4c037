// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice The cheat codes of forge that the tests use. forge answers the calls to `vm`.
interface Vm {
    struct Log {
        bytes32[] topics;
        bytes data;
        address emitter;
    }

    struct Gas {
        uint64 gasLimit;
        uint64 gasTotalUsed;
        uint64 gasMemoryUsed;
        int64 gasRefunded;
        uint64 gasRemaining;
    }

    function addr(uint256 privateKey) external pure returns (address);
    function assume(bool condition) external pure;
    function chainId(uint256 newChainId) external;
    function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);
    function deal(address account, uint256 newBalance) external;
    function etch(address target, bytes calldata newRuntimeBytecode) external;
    function expectRevert() external;
    function expectRevert(bytes4 revertData) external;
    function expectRevert(bytes calldata revertData) external;
    function getDeployedCode(string calldata path) external view returns (bytes memory);
    function getNonce(address account) external view returns (uint64);
    function getRecordedLogs() external returns (Log[] memory);
    function lastCallGas() external view returns (Gas memory gas);
    function load(address target, bytes32 slot) external view returns (bytes32);
    function parseJson(string calldata json, string calldata key) external pure returns (bytes memory);
    function parseJsonBytes(string calldata json, string calldata key) external pure returns (bytes memory);
    function parseJsonBytes32(string calldata json, string calldata key) external pure returns (bytes32);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function parseJsonUint(string calldata json, string calldata key) external pure returns (uint256);
    function parseUint(string calldata text) external pure returns (uint256);
    function keyExistsJson(string calldata json, string calldata key) external view returns (bool);
    function prank(address sender) external;
    function prevrandao(bytes32 value) external;
    function readFile(string calldata path) external view returns (string memory);
    function recordLogs() external;
    function roll(uint256 newHeight) external;
    function resetGasMetering() external pure;
    function revertToState(uint256 snapshotId) external returns (bool success);
    function setEnv(string calldata name, string calldata value) external;
    function skip(bool skipTest, string calldata reason) external view;
    function snapshotGasLastCall(string calldata group, string calldata name) external returns (uint256 gas);
    function snapshotState() external returns (uint256 snapshotId);
    function snapshotValue(string calldata group, string calldata name, uint256 value) external;
    function startPrank(address sender) external;
    function stopPrank() external;
    function store(address target, bytes32 slot, bytes32 value) external;
    function toString(uint256 value) external pure returns (string memory);
    function warp(uint256 newTimestamp) external;
    function envOr(string calldata name, string calldata defaultValue) external view returns (string memory);
}

Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

/// @notice Comparisons that revert with both values. The tests need nothing more of forge's own test library.
abstract contract Test {
    bool public constant IS_TEST = true;

    error NotEqual(bytes left, bytes right, string what);
    error NotTrue(string what);

    function assertTrue(bool condition, string memory what) internal pure {
        if (!condition) revert NotTrue(what);
    }

    function assertEq(uint256 left, uint256 right, string memory what) internal pure {
        if (left != right) revert NotEqual(abi.encode(left), abi.encode(right), what);
    }

    function assertEq(bytes32 left, bytes32 right, string memory what) internal pure {
        if (left != right) revert NotEqual(abi.encode(left), abi.encode(right), what);
    }

    function assertEq(address left, address right, string memory what) internal pure {
        if (left != right) revert NotEqual(abi.encode(left), abi.encode(right), what);
    }

    function assertEq(bytes memory left, bytes memory right, string memory what) internal pure {
        if (keccak256(left) != keccak256(right)) revert NotEqual(left, right, what);
    }

    /// @notice Maps any value into the range from `least` to `most`.
    function bound(uint256 value, uint256 least, uint256 most) internal pure returns (uint256) {
        uint256 size = most - least;
        return size == type(uint256).max ? value : least + value % (size + 1);
    }

    /// @notice Fills free memory with ones, so that code which expects zeros there fails.
    function dirtyMemory() internal pure {
        assembly {
            let free := mload(0x40)
            for { let i := 0 } lt(i, 0x2000) { i := add(i, 0x20) } { mstore(add(free, i), not(0)) }
            mstore(0x00, not(0))
            mstore(0x20, not(0))
        }
    }
}
