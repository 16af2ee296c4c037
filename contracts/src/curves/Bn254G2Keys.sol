// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {Bn254G2} from "../libraries/Bn254G2.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G2 of BN254 and signatures in G1
/// @notice A key is 128 bytes in the EVM's order. A proof is 1/Z of the sum, imaginary part first, 64 bytes, where any key
/// changed; the signature, 64 bytes; and for each digest its hint, `counter (1) ‖ y (32)`. About 1,880 gas a member that
/// changed. BN254 has about 100 bits of security.
///
/// The pairing checks that a key is of order r when it is registered; sums of such keys are.
abstract contract Bn254G2Keys is Quorums {
    error FalseSignature();

    function _keyBytes() internal pure override returns (uint256) {
        return 128;
    }

    /// @dev The accumulator of `Bn254G2`, six words, and room for a key. A key that a base has is canonical: `_finish` reduced it,
    /// or the pairing refused it.
    function _begin(uint256 key) internal pure override returns (uint256 accumulator, uint256 operand) {
        accumulator = _allocate(192 + 128);
        assembly {
            operand := add(accumulator, 192)
            calldatacopy(accumulator, calldatasize(), 192)
            if key {
                mcopy(accumulator, key, 128)
                // Z = 1
                mstore(add(accumulator, 160), 1)
            }
        }
    }

    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal pure override {
        Bn254G2.accumulateAt(accumulator, operand, subtract);
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (bytes calldata rest)
    {
        // So the hint is there.
        rest = proof[64:];
        uint256 inverseIm;
        uint256 inverseRe;
        assembly ("memory-safe") {
            inverseIm := calldataload(proof.offset)
            inverseRe := calldataload(add(proof.offset, 0x20))
        }
        Bn254G2.normalizeTo(accumulator, inverseIm, inverseRe, to);
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        // So the signature is there.
        bytes calldata hints = proof[64:];
        uint256 pairs = _allocate(0x180);
        uint256 hash;
        assembly ("memory-safe") {
            hash := add(pairs, 0xc0)
        }
        Bn254Hashes.sum(digests, hints, hash);
        // Room that was allocated, in the order of the pairing.
        assembly {
            calldatacopy(pairs, proof.offset, 0x40)
            mcopy(add(pairs, 0x100), key, 0x80)
        }
        require(Bn254.isSignatureAt(pairs), FalseSignature());
    }
}
