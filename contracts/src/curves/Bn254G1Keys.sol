// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G1 of BN254, whose twin in G2 the aggregator shows
/// @notice A key is 64 bytes. A proof is the signature, 64 bytes; the sum's key in G2, 128 bytes in the EVM's order; and for
/// each digest its hint, `counter (1) ‖ y (32)`. The dual-key check shows that both keys have one secret. About 710 gas a
/// member that changed, and 13,000 more than keys in G2 for the check. BN254 has about 100 bits of security.
abstract contract Bn254G1Keys is Quorums {
    uint256 private constant P = 0x30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47;

    error FalseSignature();
    error SumIsIdentity();

    function _keyBytes() internal pure override returns (uint256) {
        return 64;
    }

    /// @dev The sum and, behind it, the key to be added: the input of the precompile.
    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        accumulator = _allocate(128);
        // Room for two points: the identity is (0, 0).
        assembly {
            operand := add(accumulator, 64)
            switch key
            case 0 { calldatacopy(accumulator, calldatasize(), 64) }
            default { mcopy(accumulator, key, 64) }
        }
    }

    function _accumulate(uint256 accumulator, uint256, bool subtract) internal view override {
        bool done;
        // `Bn254.addAt` written out, for each member that changed runs it. Registered keys are on the curve, so y is neither zero
        // nor P.
        assembly {
            if subtract {
                let y := add(accumulator, 0x60)
                mstore(y, sub(P, mload(y)))
            }
            done := staticcall(150, 0x06, accumulator, 0x80, accumulator, 0x40)
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    /// @dev `_accumulate` for each member, written out, for a call takes a third more: what a precompile answers is looked at once
    /// for all.
    function _accumulatePaged(uint256 sum, uint256 operand, address page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        bool done = true;
        assembly {
            for {} members {} {
                let place := clz(members)
                let bit := shr(place, shl(255, 1))
                members := xor(members, bit)
                extcodecopy(page, operand, add(first, shl(6, place)), 0x40)
                if iszero(and(own, bit)) {
                    let y := add(operand, 0x20)
                    mstore(y, sub(P, mload(y)))
                }
                done := and(done, staticcall(150, 0x06, sum, 0x80, sum, 0x40))
            }
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (bytes calldata rest)
    {
        bool identity;
        // `to` is room for a key.
        assembly {
            mcopy(to, accumulator, 64)
            identity := iszero(or(mload(to), mload(add(to, 32))))
        }
        require(!identity, SumIsIdentity());
        return proof;
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        // So the signature and the twin are there.
        bytes calldata hints = proof[192:];
        uint256 transcript = _allocate(0x2e0);
        uint256 hash;
        assembly ("memory-safe") {
            hash := add(transcript, 0x20)
        }
        Bn254Hashes.sum(digests, hints, hash);
        // Room that was allocated, in the order of the transcript.
        assembly {
            mcopy(add(transcript, 0x60), key, 0x40)
            calldatacopy(add(transcript, 0xa0), add(proof.offset, 0x40), 0x80)
            calldatacopy(add(transcript, 0x120), proof.offset, 0x40)
        }
        require(Bn254.isDualKeySignatureAt(transcript), FalseSignature());
    }
}
