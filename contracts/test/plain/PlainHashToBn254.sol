// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../../src/libraries/Bn254.sol";
import {PlainBn254} from "./PlainBn254.sol";

/// @notice Try-and-increment without a hint: the first accepted counter, its x and its even root.
library PlainHashToBn254 {
    function find(bytes32 digest) internal pure returns (uint256 counter, Bn254.G1 memory point) {
        return findFrom(digest, 0);
    }

    /// @notice The first accepted counter from `start` on.
    function findFrom(bytes32 digest, uint256 start) internal pure returns (uint256 counter, Bn254.G1 memory point) {
        bytes32 tag = keccak256("quorate.bn254.g1.try-and-increment");
        for (counter = start;; ++counter) {
            uint256 x = uint256(keccak256(abi.encodePacked(tag, digest, counter))) % 2 ** 254;
            if (x >= PlainBn254.P || !PlainBn254.isSquare(PlainBn254.curve(x))) continue;
            uint256 y = PlainBn254.squareRoot(PlainBn254.curve(x));
            return (counter, Bn254.G1(x, y % 2 == 0 ? y : PlainBn254.P - y));
        }
    }
}
