// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice The plain twin of `Bls12381`. It takes and returns packed bytes, changes nothing in place, and forwards all
/// gas.
library BlsPoints {
    uint256 internal constant P_HIGH = 0x1a0111ea397fe69a4b1ba7b6434bacd7;
    uint256 internal constant P_LOW = 0x64774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab;

    function addG1(bytes memory a, bytes memory b) internal view returns (bytes memory) {
        return pack(call(0x0b, abi.encodePacked(pad(a), pad(b))));
    }

    function addG2(bytes memory a, bytes memory b) internal view returns (bytes memory) {
        return pack(call(0x0d, abi.encodePacked(pad(a), pad(b))));
    }

    function subG2(bytes memory a, bytes memory b) internal view returns (bytes memory) {
        return addG2(a, negateG2(b));
    }

    function isPairingOne(bytes memory a1, bytes memory a2, bytes memory b1, bytes memory b2)
        internal
        view
        returns (bool)
    {
        return abi.decode(call(0x0f, abi.encodePacked(pad(a1), pad(a2), pad(b1), pad(b2))), (bool));
    }

    function mapToG1(bytes memory element) internal view returns (bytes memory) {
        return pack(call(0x10, pad(element)));
    }

    function multiplyG1(bytes memory a, uint256 scalar) internal view returns (bytes memory) {
        return pack(call(0x0c, abi.encodePacked(pad(a), scalar)));
    }

    function multiplyG2(bytes memory a, uint256 scalar) internal view returns (bytes memory) {
        return pack(call(0x0e, abi.encodePacked(pad(a), scalar)));
    }

    /// @notice y := p - y for each part of y, byte by byte. 0 stays 0.
    function negateG2(bytes memory a) internal pure returns (bytes memory negated) {
        negated = bytes.concat(a);
        bytes memory p = abi.encodePacked(uint128(P_HIGH), P_LOW);
        for (uint256 part = 96; part < 192; part += 48) {
            bool zero = true;
            for (uint256 i = 0; i < 48; ++i) {
                if (a[part + i] != 0) zero = false;
            }
            if (zero) continue;
            uint256 borrow = 0;
            for (uint256 j = 0; j < 48; ++j) {
                uint256 i = 47 - j;
                uint256 left = uint8(p[i]);
                uint256 right = uint8(a[part + i]) + borrow;
                borrow = left < right ? 1 : 0;
                negated[part + i] = bytes1(uint8(left + 256 * borrow - right));
            }
        }
    }

    /// @notice Makes 64 bytes of each coordinate's 48.
    function pad(bytes memory packed) internal pure returns (bytes memory padded) {
        for (uint256 i = 0; i < packed.length; i += 48) {
            padded = abi.encodePacked(padded, bytes16(0), slice(packed, i, 48));
        }
    }

    /// @notice Makes 48 bytes of each coordinate's 64.
    function pack(bytes memory padded) internal pure returns (bytes memory packed) {
        for (uint256 i = 0; i < padded.length; i += 64) {
            require(bytes16(slice(padded, i, 16)) == 0, "padding");
            packed = abi.encodePacked(packed, slice(padded, i + 16, 48));
        }
    }

    function slice(bytes memory from, uint256 start, uint256 length) internal pure returns (bytes memory part) {
        part = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            part[i] = from[start + i];
        }
    }

    function call(uint160 precompile, bytes memory input) internal view returns (bytes memory) {
        (bool success, bytes memory output) = address(precompile).staticcall(input);
        require(success, "refused");
        return output;
    }
}
