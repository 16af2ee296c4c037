// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {HashToBls12381} from "../libraries/HashToBls12381.sol";
import {Bls12381G2Keys} from "./Bls12381G2Keys.sol";

/// @title Quorums with keys in G2 of BLS12-381, whose digests are hashed by one map in place of two
/// @notice As `Bls12381G2Keys`, but for the hash to G1, which costs half, 7,150 gas: encode_to_curve of RFC 9380, under the
/// suite `NU_SUITE`. Its points are not uniformly distributed. BLS signatures with proofs of possession do not need that:
/// docs/nonuniform.md has the proof.
///
/// The tag differs from that of `Bls12381G2Keys`, so no signature for one of the two contracts is valid for the other.
/// Signers whose software has only the suites of the IETF draft, which all end in RO, cannot sign for this contract.
abstract contract Bls12381G2NuKeys is Bls12381G2Keys {
    /// @dev The name of the suite, which is also its domain separation tag. It is formed as the names of the IETF draft
    /// are, which has no suite with a nonuniform hash.
    bytes internal constant NU_SUITE = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_";

    /// @inheritdoc Bls12381G2Keys
    function _hashTo(bytes32 digest, uint256 to) internal view override {
        HashToBls12381.encodeToG1At(digest, NU_SUITE, to);
    }
}
