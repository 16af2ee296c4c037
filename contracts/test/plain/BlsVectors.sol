// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../Test.sol";

/// @notice The cheat codes that only the tests of BLS12-381 use.
interface VmMore {
    function mockCall(address callee, bytes calldata data, bytes calldata returned) external;
    function clearMockedCalls() external;
}

VmMore constant vmMore = VmMore(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

/// @dev The address at which forge prints.
address constant CONSOLE = 0x000000000000000000636F6e736F6c652e6c6f67;

/// @notice Known answers in JSON, from the folder beside the repository.
library BlsVectors {
    error VectorsAbsent(string path);

    /// @notice Reads a file. If it is absent, prints a line and returns false; in continuous integration that is an
    /// error.
    function read(string memory name) internal view returns (string memory json, bool present) {
        string memory path = string.concat("../../shared/vectors/", name);
        // forge reverts if the file or its folder is absent.
        try vm.readFile(path) returns (string memory text) {
            return (text, true);
        } catch {}
        if (keccak256(bytes(vm.envOr("CI", "false"))) == keccak256("true")) revert VectorsAbsent(path);
        (bool printed,) =
            CONSOLE.staticcall(abi.encodeWithSignature("log(string)", string.concat("skipped, absent: ", path)));
        require(printed, "console");
        return ("", false);
    }

    function has(string memory json, uint256 index, string memory key) internal view returns (bool) {
        return vm.keyExistsJson(json, keyPath(index, key));
    }

    function bytesAt(string memory json, uint256 index, string memory key) internal pure returns (bytes memory) {
        string memory digits = vm.parseJsonString(json, keyPath(index, key));
        if (bytes(digits).length == 0) return "";
        return vm.parseJsonBytes(string.concat('{"a":"0x', digits, '"}'), ".a");
    }

    function keyPath(uint256 index, string memory key) private pure returns (string memory) {
        return string.concat("$[", vm.toString(index), "].", key);
    }
}
