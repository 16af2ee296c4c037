// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

// The numbers that define the fields of both curves. Each stands here and nowhere else in the sources. They are literals,
// because assembly takes nothing else. Tests compare them with the numbers of the specifications and with each other.

/// @dev The prime p of BN254's base field (EIP-196). It has 254 bits.
uint256 constant BN254_P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;
/// @dev 2p and 4p, which make differences positive. 5p is below 2^256.
uint256 constant BN254_2P = 0x60c89ce5c263405370a08b6d0302b0bb2f02d522d0e3951a7841182db0f9fa8e;
uint256 constant BN254_4P = 0xc19139cb84c680a6e14116da060561765e05aa45a1c72a34f082305b61f3f51c;
/// @dev The prime order r of BN254's groups G1, G2 and GT.
uint256 constant BN254_R = 0x30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001;

/// @dev The prime p of BLS12-381's base field (EIP-2537): p = BLS12381_P_HIGH · 2^256 + BLS12381_P_LOW. It has 381
/// bits.
uint256 constant BLS12381_P_HIGH = 0x1a0111ea397fe69a4b1ba7b6434bacd7;
uint256 constant BLS12381_P_LOW = 0x64774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab;
