// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Hub} from "../Hub.sol";
import {Bls12381} from "../libraries/Bls12381.sol";
import {Bls12381G2Sums} from "./Bls12381G2Keys.sol";
import {Bls12381Hash} from "./Bls12381Hash.sol";

/// @title A hub for settlements with keys in G2 of BLS12-381
/// @notice A proof is the signature, 96 bytes. Each quorum costs about 33,000 gas for its pairing, its hash, and what its
/// settlement costs beside.
abstract contract HubBls12381G2Sums is Hub, Bls12381Hash {
    /// @dev Length of a pair as the precompile reads it: a point of G1 and a point of G2.
    uint256 private constant PAIR = 0x180;

    /// @dev A key has 192 bytes.
    /// @return 192.
    function _keyBytes() internal pure override returns (uint256) {
        return 192;
    }

    /// @inheritdoc Hub
    /// @dev The pairs of the product. The first is the sum of the signatures and -G2. Behind the last there is room for a
    /// signature and the sum.
    function _newClaims(uint256 count) internal pure override returns (uint256 claims) {
        uint256 size = (count + 1) * PAIR + 0x100;
        assembly ("memory-safe") {
            claims := mload(0x40)
            mstore(0x40, add(claims, size))
            // The sum is infinity.
            calldatacopy(claims, calldatasize(), 0x80)
        }
        Bls12381.negatedGeneratorG2At(claims + 0x80);
    }

    /// @inheritdoc Hub
    function _claim(uint256 claims, uint256 index, bytes32 digest, uint256 key, bytes calldata proof)
        internal
        view
        override
    {
        require(proof.length == 96, Bls12381G2Sums.SignatureLength(proof.length));
        uint256 pair = claims + (index + 1) * PAIR;
        // The next pair's place, or the room behind the last one, serves for the addition of the signature.
        uint256 sum = pair + PAIR;
        assembly {
            mcopy(sum, claims, 0x80)
            calldatacopy(add(sum, 0x80), calldatasize(), 0x80)
            calldatacopy(add(sum, 0x90), proof.offset, 0x30)
            calldatacopy(add(sum, 0xd0), add(proof.offset, 0x30), 0x30)
        }
        Bls12381.addPairG1(sum, claims);
        _hashTo(digest, pair);
        Bls12381.unpackG2At(key, pair + 0x80);
    }

    /// @inheritdoc Hub
    function _areTrue(uint256 claims, uint256 count) internal view override returns (bool) {
        return Bls12381.isProductOneAt(claims, count + 1);
    }
}
