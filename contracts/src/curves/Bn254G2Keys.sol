// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {Bn254G2} from "../libraries/Bn254G2.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G2 of BN254 and signatures in G1
/// @notice A key is 128 bytes in the EVM's order. A proof is 1/Z of the sum, imaginary part first, 64 bytes, where any key
/// changed; the signature, 64 bytes; and for each digest its hint, `counter (1) ‖ y (32)`. About 2,000 gas a member that
/// changed. BN254 has about 100 bits of security.
///
/// The pairing checks that a key is of order r when it is registered; sums of such keys are.
abstract contract Bn254G2Keys is Quorums {
    error FalseSignature();

    function _keyBytes() internal pure override returns (uint256) {
        return 128;
    }

    function _begin(uint256 key) internal pure override returns (uint256 accumulator) {
        Bn254.G2 memory first;
        if (key != 0) first = _key(key);
        Bn254G2.Accumulator memory sum = Bn254G2.load(first);
        assembly ("memory-safe") {
            accumulator := sum
        }
    }

    function _accumulate(uint256 accumulator, uint256 key, bool subtract) internal pure override {
        Bn254G2.accumulate(_sum(accumulator), key, subtract);
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (bytes calldata rest)
    {
        Bn254.G2 memory sum =
            Bn254G2.normalize(_sum(accumulator), uint256(bytes32(proof[:32])), uint256(bytes32(proof[32:64])));
        // `to` is room for a key.
        assembly {
            mcopy(to, sum, 128)
        }
        return proof[64:];
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        Bn254.G1 memory signature = Bn254.G1(uint256(bytes32(proof[:32])), uint256(bytes32(proof[32:64])));
        Bn254.G1 memory hash = Bn254Hashes.sum(digests, proof[64:]);
        require(Bn254.isSignature(hash, _key(key), signature), FalseSignature());
    }

    function _key(uint256 pointer) private pure returns (Bn254.G2 memory key) {
        assembly ("memory-safe") {
            key := pointer
        }
    }

    function _sum(uint256 pointer) private pure returns (Bn254G2.Accumulator memory sum) {
        assembly ("memory-safe") {
            sum := pointer
        }
    }
}
