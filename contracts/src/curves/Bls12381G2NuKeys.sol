// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Sums} from "./Bls12381G2Keys.sol";
import {NonuniformBls12381Hash} from "./Bls12381Hash.sol";

/// @title Quorums with keys in G2 of BLS12-381, whose digests are hashed by one map in place of two
abstract contract Bls12381G2NuKeys is Bls12381G2Sums, NonuniformBls12381Hash {}
