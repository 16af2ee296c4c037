// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {BN254_P} from "./Fields.sol";

/// @title Inverses and square roots in the base field of BN254, by the precompile MODEXP (0x05)
/// @notice Each costs about 4,300 gas since Osaka, where EIP-7883 prices an exponent at 16 gas a bit. Transactions
/// avoid that by hints. This library makes the hints, in calls off chain, and serves callers without a hint.
/// @dev MODEXP gets all gas that is left, as the precompiles of `Bn254` do. It refuses no number. Its success and the
/// length of its answer are checked.
library Bn254Fp {
    /// @dev The prime of the field.
    uint256 private constant P = BN254_P;
    /// @dev P - 2, which has 254 bits, and (P + 1)/4, which has 252. MODEXP costs 16 gas for each bit but the first.
    uint256 private constant INVERSE_EXPONENT = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd45;
    uint256 private constant ROOT_EXPONENT = 0x0c19139cb84c680a6e14116da060561765e05aa45a1c72a34f082305b61f3f52;

    /// @notice There is too little gas, or MODEXP is not there.
    error ModexpFailed();

    /// @notice The inverse of a number modulo P.
    /// @param a Any word.
    /// @return 1/a mod P, below P; 0 if a = 0 mod P.
    function inverse(uint256 a) internal view returns (uint256) {
        return _power(a, INVERSE_EXPONENT);
    }

    /// @notice A square root modulo P.
    /// @dev P ≡ 3 mod 4, so r = a^((P + 1)/4) has r² = a · a^((P - 1)/2) = ±a, and -1 is not a square.
    /// @param a Any word.
    /// @return root A root of a if `square`, and otherwise a root of -a.
    /// @return square Whether a is a square modulo P. 0 is one.
    function squareRoot(uint256 a) internal view returns (uint256 root, bool square) {
        root = _power(a, ROOT_EXPONENT);
        square = mulmod(root, root, P) == a % P;
    }

    /// @dev base^exponent mod P.
    /// @param base Any word.
    /// @param exponent Any word.
    /// @return result The power, below P.
    function _power(uint256 base, uint256 exponent) private view returns (uint256 result) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, 0x20)
            mstore(add(input, 0x20), 0x20)
            mstore(add(input, 0x40), 0x20)
            mstore(add(input, 0x60), base)
            mstore(add(input, 0x80), exponent)
            mstore(add(input, 0xa0), P)
            ok := staticcall(gas(), 0x05, input, 0xc0, 0x00, 0x20)
            ok := and(ok, eq(returndatasize(), 0x20))
            result := mload(0x00)
        }
        if (!ok) revert ModexpFailed();
    }
}
