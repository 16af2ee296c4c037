// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../Test.sol";

/// @notice The bulk vectors, which lie beside the repository. `QUORATE_VECTORS` does not change their folder, because forge
/// reads only from those that `foundry.toml` names.
library Vectors {
    string private constant FOLDER = "../../shared/vectors/";

    error VectorsAbsent(string path);

    /// @notice Reads a file. If it is absent, forge prints that the test, or all tests of the contract if this is its
    /// `setUp`, are skipped. With CI=true they fail.
    /// @dev forge refuses to skip where a test calls another contract that calls this.
    function read(string memory name) internal view returns (string memory json) {
        string memory path = string.concat(FOLDER, name);
        // forge reverts if the file or its folder is absent.
        try vm.readFile(path) returns (string memory content) {
            json = content;
        } catch {
            if (keccak256(bytes(vm.envOr("CI", string("false")))) == keccak256("true")) revert VectorsAbsent(path);
            vm.skip(true, string.concat("there is no ", path));
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
