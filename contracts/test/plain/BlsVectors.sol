// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "../Test.sol";

/// @notice The cheat codes that only the tests of BLS12-381 use.
interface VmMore {
    function mockCall(address callee, bytes calldata data, bytes calldata returned) external;
    function clearMockedCalls() external;
}

VmMore constant vmMore = VmMore(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);

/// @notice Reads lists of known answers in JSON whose keys are those of EIP-2537.
library BlsVectors {
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
