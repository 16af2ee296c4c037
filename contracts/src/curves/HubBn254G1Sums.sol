// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Hub} from "../Hub.sol";
import {Bn254} from "../libraries/Bn254.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";

/// @title A hub for settlements with keys in G1 of BN254
/// @notice A proof is that of `Bn254G1Keys` for one digest, 225 bytes: the signature (64), the aggregate key in G2 (128), and
/// the hint of the digest's hash (33). Each quorum costs about 47,500 gas for its pairing and its share of the dual-key check,
/// and what its settlement costs beside. BN254 has about 100 bits of security.
///
/// With signatures s₁ … sₖ, hashes Hᵢ of the digests, keys pk1ᵢ in G1, which the settlements return, and keys pk2ᵢ in
/// G2, which come with the proofs, it checks
///
///     e(s₁ + … + sₖ + γ₁·pk1₁ + … + γₖ·pk1ₖ, -G2) · e(H₁ + γ₁·G1, pk2₁) · … · e(Hₖ + γₖ·G1, pk2ₖ) = 1
///
/// **Why that proves each pair of keys, and the signatures.** Let pk1ᵢ = aᵢ·G1, pk2ᵢ = bᵢ·G2 and Hᵢ = hᵢ·G1, and let s be
/// the secret of the signatures' sum. The check says
///
///     (s - h₁·b₁ - … - hₖ·bₖ) + γ₁·(a₁ - b₁) + … + γₖ·(aₖ - bₖ) = 0
///
/// Each γᵢ is a hash of i and of all points of all claims, so all of them are fixed before any γ is known. If some aᵢ ≠ bᵢ, then
/// for any values of the other γ at most one γᵢ modulo R passes, and a forger hits it with probability at most 6/2^256 in
/// each try (`Bn254.isDualKeySignature`). If aᵢ = bᵢ for all i, the check says that s₁ + … + sₖ is the aggregate signature of
/// all digests under the keys that the settlements returned, for which `Hub` has the argument. It does not say that each sᵢ
/// is that of its claim, and nothing here needs that.
///
/// It would not do to compute γᵢ of claim i alone. A forger could then pass a pk2₁ of its own for another's pk1₁, compute what is
/// missing in the sum, and add it to the signature of a claim under a key of its own. Since the sum of all signatures is
/// hashed, too, that changes all γ.
abstract contract HubBn254G1Sums is Hub {
    /// @dev Length of a pair as the precompile reads it: a point of G1 and a point of G2.
    uint256 private constant PAIR = 0xc0;
    /// @dev Length of a proof.
    uint256 private constant PROOF = 225;
    /// @dev The first word of what is hashed.
    bytes32 private constant TAG = keccak256("quorate.bn254.hub.dual-keys");

    /// @notice A proof has another length.
    /// @param length Its bytes; 225 are expected.
    error ProofLength(uint256 length);

    /// @dev A key has 64 bytes.
    /// @return 64.
    function _keyBytes() internal pure override returns (uint256) {
        return 64;
    }

    /// @inheritdoc Hub
    /// @dev A word that says where the keys in G1 lie, and the pairs of the product. The first pair is the sum of the
    /// signatures and -G2, the others are the hashes and the keys in G2. Behind them lie the keys in G1.
    function _newClaims(uint256 count) internal pure override returns (uint256 claims) {
        assembly ("memory-safe") {
            claims := mload(0x40)
            let keys := add(claims, add(0x20, mul(add(count, 1), PAIR)))
            mstore(0x40, add(keys, shl(6, count)))
            mstore(claims, keys)
            // The sum is infinity.
            calldatacopy(add(claims, 0x20), calldatasize(), 0x40)
        }
        Bn254.G2 memory negated = Bn254.negatedG2Generator();
        assembly ("memory-safe") {
            mcopy(add(claims, 0x60), negated, 0x80)
        }
    }

    /// @inheritdoc Hub
    function _claim(uint256 claims, uint256 index, bytes32 digest, uint256 key, bytes calldata proof)
        internal
        view
        override
    {
        require(proof.length == PROOF, ProofLength(proof.length));
        uint256 pair = claims + 0x20 + (index + 1) * PAIR;
        bytes32[] memory digests = new bytes32[](1);
        digests[0] = digest;
        // It may overwrite 64 bytes behind the hash, where the key in G2 is written next.
        Bn254Hashes.sum(digests, proof[192:], pair);
        bool identity;
        bool added;
        assembly ("memory-safe") {
            let key2 := add(pair, 0x40)
            calldatacopy(key2, add(proof.offset, 0x40), 0x80)
            identity := or(
                iszero(or(mload(key), mload(add(key, 0x20)))),
                iszero(or(or(mload(key2), mload(add(key2, 0x20))), or(mload(add(key2, 0x40)), mload(add(key2, 0x60)))))
            )
            mcopy(add(mload(claims), shl(6, index)), key, 0x40)
            // Added up in free memory, which is not kept.
            let sum := mload(0x40)
            mcopy(sum, add(claims, 0x20), 0x40)
            calldatacopy(add(sum, 0x40), proof.offset, 0x40)
            added := staticcall(gas(), 0x06, sum, 0x80, add(claims, 0x20), 0x40)
            added := and(added, eq(returndatasize(), 0x40))
        }
        if (identity) revert Bn254.IdentityKey();
        if (!added) revert Bn254.AddFailed();
    }

    /// @inheritdoc Hub
    function _areTrue(uint256 claims, uint256 count) internal view override returns (bool one) {
        bytes32 seed = _seed(claims, count);
        bool multiplied = true;
        bool added = true;
        bool paired;
        assembly ("memory-safe") {
            // scalar · (x, y) + summand, written to the summand's place. What a failed call leaves is not used.
            // It is used below.
            // slither-disable-next-line dead-code
            function multiplyAdd(x, y, scalar, summand) -> didMultiply, didAdd {
                let product := mload(0x40)
                mstore(product, x)
                mstore(add(product, 0x20), y)
                mstore(add(product, 0x40), scalar)
                didMultiply := staticcall(gas(), 0x07, product, 0x60, product, 0x40)
                didMultiply := and(didMultiply, eq(returndatasize(), 0x40))
                mcopy(add(product, 0x40), summand, 0x40)
                // No gas if the multiplication failed: it burnt nearly all, and the rest is for the revert.
                didAdd := staticcall(mul(didMultiply, gas()), 0x06, product, 0x80, summand, 0x40)
                didAdd := and(didAdd, eq(returndatasize(), 0x40))
            }
            let pairs := add(claims, 0x20)
            let key := mload(claims)
            for { let i := 0 } and(lt(i, count), and(multiplied, added)) { i := add(i, 1) } {
                mstore(0x00, seed)
                mstore(0x20, i)
                let gamma := keccak256(0x00, 0x40)
                multiplied, added := multiplyAdd(1, 2, gamma, add(pairs, mul(add(i, 1), PAIR)))
                if and(multiplied, added) {
                    multiplied, added := multiplyAdd(mload(key), mload(add(key, 0x20)), gamma, pairs)
                }
                key := add(key, 0x40)
            }
            if and(multiplied, added) {
                paired := staticcall(gas(), 0x08, pairs, mul(add(count, 1), PAIR), 0x00, 0x20)
                paired := and(paired, eq(returndatasize(), 0x20))
                one := eq(mload(0x00), 1)
            }
        }
        if (!multiplied) revert Bn254.MulFailed();
        if (!added) revert Bn254.AddFailed();
        if (!paired) revert Bn254.PairingFailed();
    }

    /// @dev The hash of all points of all claims. The precompile takes γᵢ modulo R.
    function _seed(uint256 claims, uint256 count) private pure returns (bytes32 seed) {
        bytes32 tag = TAG;
        assembly ("memory-safe") {
            let input := mload(0x40)
            mstore(input, tag)
            mstore(add(input, 0x20), count)
            mstore(add(input, 0x40), keccak256(add(claims, 0x20), mul(add(count, 1), PAIR)))
            mstore(add(input, 0x60), keccak256(mload(claims), shl(6, count)))
            seed := keccak256(input, 0x80)
        }
    }
}
