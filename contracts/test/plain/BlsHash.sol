// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BlsPoints} from "./BlsPoints.sol";

/// @notice The plain twin of `HashToBls12381`. It follows RFC 9380 line by line and reduces by MODEXP.
library BlsHash {
    function hashToG1(bytes memory message, bytes memory dst) internal view returns (bytes memory) {
        bytes memory uniform = expandMessage(message, dst);
        bytes memory q0 = BlsPoints.mapToG1(reduce(BlsPoints.slice(uniform, 0, 64)));
        bytes memory q1 = BlsPoints.mapToG1(reduce(BlsPoints.slice(uniform, 64, 64)));
        return BlsPoints.addG1(q0, q1);
    }

    /// @notice expand_message_xmd (section 5.3.1) to 128 bytes.
    function expandMessage(bytes memory message, bytes memory dst) internal pure returns (bytes memory) {
        if (dst.length > 255) dst = abi.encodePacked(sha256(abi.encodePacked("H2C-OVERSIZE-DST-", dst)));
        bytes memory dstPrime = abi.encodePacked(dst, uint8(dst.length));
        bytes32 b0 = sha256(abi.encodePacked(new bytes(64), message, uint16(128), uint8(0), dstPrime));
        bytes32 b1 = sha256(abi.encodePacked(b0, uint8(1), dstPrime));
        bytes32 b2 = sha256(abi.encodePacked(b0 ^ b1, uint8(2), dstPrime));
        bytes32 b3 = sha256(abi.encodePacked(b0 ^ b2, uint8(3), dstPrime));
        bytes32 b4 = sha256(abi.encodePacked(b0 ^ b3, uint8(4), dstPrime));
        return abi.encodePacked(b1, b2, b3, b4);
    }

    /// @notice 64 bytes reduced modulo p, in 48 bytes.
    function reduce(bytes memory wide) internal view returns (bytes memory) {
        bytes memory p = abi.encodePacked(uint128(BlsPoints.P_HIGH), BlsPoints.P_LOW);
        return BlsPoints.call(0x05, abi.encodePacked(uint256(wide.length), uint256(1), uint256(48), wide, uint8(1), p));
    }
}
