// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../Test.sol";

/// @notice The bulk vectors, which lie beside the repository. If they are absent, a test prints that it skips. With
/// CI=true it fails.
library Vectors {
    string private constant FOLDER = "../../shared/vectors/";

    error VectorsAbsent(string path);

    function read(string memory path) internal view returns (string memory json, bool present) {
        try vm.readFile(string.concat(FOLDER, path)) returns (string memory content) {
            return (content, true);
        } catch {
            if (keccak256(bytes(vm.envOr("CI", string("false")))) == keccak256("true")) revert VectorsAbsent(path);
            // forge prints what is sent to this address. No code is there, so only a low-level call works.
            (bool printed,) = address(0x000000000000000000636F6e736F6c652e6c6f67)
                .staticcall(abi.encodeWithSignature("log(string)", string.concat("skipped, not found: ", path)));
            require(printed, "console");
        }
    }

    /// @notice A number that is written as a decimal string.
    function number(string memory json, string memory key) internal pure returns (uint256) {
        return vm.parseUint(vm.parseJsonString(json, key));
    }

    /// @notice Bytes that are written in hex without a prefix.
    function hexBytes(string memory json, string memory key) internal pure returns (bytes memory) {
        return fromHex(vm.parseJsonString(json, key));
    }

    function fromHex(string memory text) internal pure returns (bytes memory result) {
        bytes memory digits = bytes(text);
        result = new bytes(digits.length / 2);
        for (uint256 i = 0; i < result.length; ++i) {
            result[i] = bytes1(16 * digit(uint8(digits[2 * i])) + digit(uint8(digits[2 * i + 1])));
        }
    }

    function digit(uint8 character) private pure returns (uint8) {
        return character < 0x3a ? character - 0x30 : (character | 0x20) - 0x57;
    }

    /// @notice The word of 32 bytes at an offset.
    function word(bytes memory data, uint256 offset) internal pure returns (uint256 value) {
        require(data.length >= offset + 32, "word");
        assembly {
            value := mload(add(add(data, 0x20), offset))
        }
    }
}
