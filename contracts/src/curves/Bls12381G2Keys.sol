// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381, G1Point, G2Point} from "../libraries/Bls12381.sol";
import {HashToBls12381} from "../libraries/HashToBls12381.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G2 of BLS12-381 and signatures in G1, by the precompiles of EIP-2537
/// @notice A key is 192 bytes: x and y, real part first, 48 bytes a part. A proof is the signature, x and y, 96 bytes; no hints.
/// A digest is signed as the message of the suite below, so any library of BLS signatures can sign. About 1,000 gas a member
/// that changed, 15,000 a result; about 120 bits of security.
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
    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        operand = _allocate(192 + 32 + 512);
        assembly {
            accumulator := add(operand, 224)
            calldatacopy(sub(accumulator, 32), calldatasize(), 544)
        }
        if (key != 0) Bls12381.unpackG2At(key, accumulator);
    }

    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal view override {
        _turn(accumulator, subtract);
        Bls12381.addG2At(accumulator, operand);
    }

    /// @dev To take a key away is to add it to the sum's negative, which is made where a run of members that left begins, and made
    /// good where it ends: less than a key's negative for each of them.
    function _turn(uint256 accumulator, bool negative) private pure {
        bool turns;
        assembly {
            let at := sub(accumulator, 0x20)
            turns := xor(mload(at), negative)
            mstore(at, negative)
        }
        if (turns) Bls12381.negateG2At(accumulator);
    }

    /// @dev Those who left first, so that the sum turns twice at most.
    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        _addPaged(sum, operand, page, first, members & ~own, true);
        _addPaged(sum, operand, page, first, members & own, false);
    }

    /// @dev `Bls12381.addG2At` for each member, written out, since a call takes a fifth more.
    function _addPaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, bool negative)
        private
        view
    {
        if (members == 0) return;
        _turn(sum, negative);
        bool done = true;
        assembly {
            for {} members {} {
                let place := clz(members)
                members := xor(members, shr(place, shl(255, 1)))
                extcodecopy(page, operand, add(first, mul(place, 192)), 192)
                mcopy(add(sum, 0x110), operand, 0x30)
                mcopy(add(sum, 0x150), add(operand, 0x30), 0x30)
                mcopy(add(sum, 0x190), add(operand, 0x60), 0x30)
                mcopy(add(sum, 0x1d0), add(operand, 0x90), 0x30)
                done := and(done, staticcall(600, 0x0d, sum, 0x200, sum, 0x100))
            }
            // Calls that succeeded at one address: the length of the last answer is that of all.
            done := and(done, eq(returndatasize(), 0x100))
        }
        if (!done) revert Bls12381.G2AddFailed();
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 rest)
    {
        bool negative;
        assembly ("memory-safe") {
            negative := mload(sub(accumulator, 0x20))
        }
        if (negative) Bls12381.negateG2At(accumulator);
        require(!Bls12381.packG2At(accumulator, to), SumIsIdentity());
        assembly ("memory-safe") {
            rest := proof.offset
        }
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        require(proof.length == 96, SignatureLength(proof.length));
        // The input of the pairing: the signature, -G2, the hash, the key. A further hash is added from where the key comes last.
        uint256 pairs = _allocate(0x300);
        (uint256 sum, uint256 next) = (0, 0);
        assembly {
            sum := add(pairs, 0x180)
            next := add(pairs, 0x200)
            calldatacopy(pairs, calldatasize(), 0x80)
            calldatacopy(add(pairs, 0x10), proof.offset, 0x30)
            calldatacopy(add(pairs, 0x50), add(proof.offset, 0x30), 0x30)
        }
        G2Point memory minusG2 = Bls12381.negatedGeneratorG2();
        bytes memory suite = SUITE;
        for (uint256 i = 0; i < digests.length; i++) {
            G1Point memory hash = HashToBls12381.hashToG1(digests[i], suite);
            uint256 to = i == 0 ? sum : next;
            assembly {
                mcopy(to, hash, 0x80)
            }
            if (i != 0) Bls12381.addPairG1(sum, sum);
        }
        Bls12381.unpackG2At(key, next);
        assembly {
            mcopy(add(pairs, 0x80), minusG2, 0x100)
        }
        require(Bls12381.isPairingOneAt(pairs), FalseSignature());
    }
}
