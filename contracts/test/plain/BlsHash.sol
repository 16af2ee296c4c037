// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BlsPoints} from "./BlsPoints.sol";

/// @notice The plain twin of `HashToBls12381`. It follows RFC 9380 line by line and reduces by MODEXP.
library BlsHash {
    function hashToG1(bytes memory message, bytes memory dst) internal view returns (bytes memory) {
        bytes memory uniform = expandMessage(message, dst, 128);
        bytes memory q0 = BlsPoints.mapToG1(reduce(BlsPoints.slice(uniform, 0, 64)));
        bytes memory q1 = BlsPoints.mapToG1(reduce(BlsPoints.slice(uniform, 64, 64)));
        return BlsPoints.addG1(q0, q1);
    }

    function encodeToG1(bytes memory message, bytes memory dst) internal view returns (bytes memory) {
        return BlsPoints.mapToG1(reduce(expandMessage(message, dst, 64)));
    }

    /// @notice expand_message_xmd (section 5.3.1) to a multiple of 32 bytes.
    function expandMessage(bytes memory message, bytes memory dst, uint16 wanted)
        internal
        pure
        returns (bytes memory uniform)
    {
        if (dst.length > 255) dst = abi.encodePacked(sha256(abi.encodePacked("H2C-OVERSIZE-DST-", dst)));
        bytes memory dstPrime = abi.encodePacked(dst, uint8(dst.length));
        bytes32 b0 = sha256(abi.encodePacked(new bytes(64), message, wanted, uint8(0), dstPrime));
        bytes32 last;
        for (uint8 i = 1; i <= wanted / 32; ++i) {
            last = sha256(abi.encodePacked(b0 ^ last, i, dstPrime));
            uniform = abi.encodePacked(uniform, last);
        }
    }

    /// @notice 64 bytes reduced modulo p, in 48 bytes.
    function reduce(bytes memory wide) internal view returns (bytes memory) {
        bytes memory p = abi.encodePacked(uint128(BlsPoints.P_HIGH), BlsPoints.P_LOW);
        return BlsPoints.call(0x05, abi.encodePacked(uint256(wide.length), uint256(1), uint256(48), wide, uint8(1), p));
    }
}
