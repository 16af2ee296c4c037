// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {HashToBls12381} from "../libraries/HashToBls12381.sol";

/// @title How a digest becomes a point of G1 of BLS12-381
/// @notice The domain separation tags of the two suites differ. So no signature for one of them is valid for the other.
abstract contract Bls12381Hash {
    /// @notice Hashes a digest to G1.
    /// @param digest The digest.
    /// @param to Where in memory the point is written, 128 bytes.
    function _hashTo(bytes32 digest, uint256 to) internal view virtual;
}

/// @title The hash of the suites that BLS libraries have: hash_to_curve of RFC 9380
/// @notice A hash costs about 14,300 gas.
abstract contract UniformBls12381Hash is Bls12381Hash {
    /// @dev The IETF name of the suite, which is also its domain separation tag.
    bytes internal constant SUITE = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

    /// @inheritdoc Bls12381Hash
    function _hashTo(bytes32 digest, uint256 to) internal view override {
        HashToBls12381.hashToG1At(digest, SUITE, to);
    }
}

/// @title A hash that costs half: encode_to_curve of RFC 9380
/// @notice A hash costs about 7,150 gas. Its points are not uniformly distributed. BLS signatures with proofs of possession do not need that:
/// docs/nonuniform.md has the proof. Signers whose software has only the suites of the IETF draft, which all end in RO,
/// cannot sign under it.
abstract contract NonuniformBls12381Hash is Bls12381Hash {
    /// @dev The name of the suite, which is also its domain separation tag. It is formed as the names of the IETF draft
    /// are, which has no suite with a nonuniform hash.
    bytes internal constant NU_SUITE = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_";

    /// @inheritdoc Bls12381Hash
    function _hashTo(bytes32 digest, uint256 to) internal view override {
        HashToBls12381.encodeToG1At(digest, NU_SUITE, to);
    }
}
