// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381, G1Point, G2Point, G2Sum} from "../libraries/Bls12381.sol";
import {HashToBls12381} from "../libraries/HashToBls12381.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G2 of BLS12-381 and signatures in G1, by the precompiles of EIP-2537
/// @notice A key is 192 bytes: x and y, real part first, 48 bytes a part. A proof is the signature, x and y, 96 bytes; no hints.
/// A digest is signed as the message of the suite below, so any library of BLS signatures can sign. About 1,000 gas a member
/// that changed; about 120 bits of security.
///
/// The pairing checks that a key is of order r when it is registered; sums of such keys are.
abstract contract Bls12381G2Keys is Quorums {
    bytes internal constant SUITE = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

    error FalseSignature();
    error SumIsIdentity();
    error SignatureLength(uint256 length);

    function _keyBytes() internal pure override returns (uint256) {
        return 192;
    }

    /// @dev Room for a key, a word that is 1 while the sum stands for its negative, and the sum with its operand.
    function _begin(uint256 key) internal pure override returns (uint256 accumulator, uint256 operand) {
        operand = _allocate(192 + 32 + 512);
        assembly {
            accumulator := add(operand, 224)
            calldatacopy(sub(accumulator, 32), calldatasize(), 544)
        }
        if (key != 0) Bls12381.loadG2(_sum(accumulator), key);
    }

    /// @dev To take a key away is to add it to the sum's negative, which is made where a run of members that left begins, and made
    /// good where it ends: less than a key's negative for each of them.
    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal view override {
        bool turns;
        assembly {
            let negative := sub(accumulator, 0x20)
            turns := xor(mload(negative), subtract)
            if turns { mstore(negative, subtract) }
        }
        if (turns) Bls12381.negateG2At(accumulator);
        Bls12381.addG2At(accumulator, operand);
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (bytes calldata rest)
    {
        bool negative;
        assembly ("memory-safe") {
            negative := mload(sub(accumulator, 0x20))
        }
        if (negative) Bls12381.negateG2At(accumulator);
        G2Point memory sum = Bls12381.pointG2(_sum(accumulator));
        require(!Bls12381.isInfinity(sum), SumIsIdentity());
        bytes memory packed = Bls12381.packG2(sum);
        // `to` is room for a key.
        assembly {
            mcopy(to, add(packed, 0x20), 192)
        }
        return proof;
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        require(proof.length == 96, SignatureLength(proof.length));
        bytes memory suite = SUITE;
        G1Point memory hash = HashToBls12381.hashToG1(digests[0], suite);
        for (uint256 i = 1; i < digests.length; i++) {
            Bls12381.addG1(hash, HashToBls12381.hashToG1(digests[i], suite));
        }
        G2Sum memory unpacked;
        Bls12381.loadG2(unpacked, key);
        bool holds = Bls12381.isPairingOne(
            Bls12381.unpackG1Calldata(proof), Bls12381.negatedGeneratorG2(), hash, Bls12381.pointG2(unpacked)
        );
        require(holds, FalseSignature());
    }

    function _sum(uint256 pointer) private pure returns (G2Sum memory sum) {
        assembly ("memory-safe") {
            sum := pointer
        }
    }
}
