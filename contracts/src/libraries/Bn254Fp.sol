// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title Inverses and square roots in the base field of BN254, by MODEXP (0x05).
/// @notice What hints spare a transaction: about 4,300 gas each in Osaka (EIP-7883 prices an exponent at 16 a bit). For
/// off-chain calls that make hints, and for where no hint is given.
/// @dev MODEXP is given its price and no more; success and the length of the answer are checked.
library Bn254Fp {
    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
    /// @notice P - 2, of 254 bits, and (P + 1)/4, of 252 bits.
    uint256 private constant INVERSE_EXPONENT = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd45;
    uint256 private constant ROOT_EXPONENT = 0x0c19139cb84c680a6e14116da060561765e05aa45a1c72a34f082305b61f3f52;
    uint256 private constant INVERSE_GAS = 16 * 253;
    uint256 private constant ROOT_GAS = 16 * 251;

    error ModexpFailed();

    /// @notice 1/a mod P, below P; 0 for a = 0 mod P.
    function inverse(uint256 a) internal view returns (uint256) {
        return _power(a, INVERSE_EXPONENT, INVERSE_GAS);
    }

    /// @notice A root of a and true if a is a square mod P, 0 being one; otherwise a root of -a and false.
    /// @dev P ≡ 3 mod 4, so r = a^((P + 1)/4) has r² = a · a^((P - 1)/2) = ±a, and -1 is not a square.
    function squareRoot(uint256 a) internal view returns (uint256 root, bool square) {
        root = _power(a, ROOT_EXPONENT, ROOT_GAS);
        square = mulmod(root, root, P) == a % P;
    }

    function _power(uint256 base, uint256 exponent, uint256 price) private view returns (uint256 result) {
        bool ok;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, 0x20)
            mstore(add(input, 0x20), 0x20)
            mstore(add(input, 0x40), 0x20)
            mstore(add(input, 0x60), base)
            mstore(add(input, 0x80), exponent)
            mstore(add(input, 0xa0), P)
            ok := staticcall(price, 0x05, input, 0xc0, 0x00, 0x20)
            ok := and(ok, eq(returndatasize(), 0x20))
            result := mload(0x00)
        }
        if (!ok) revert ModexpFailed();
    }
}
