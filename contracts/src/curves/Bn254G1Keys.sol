// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {BN254_P} from "../libraries/Fields.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G1 of BN254, where the aggregator passes the aggregate key in G2 as well
/// @notice A key has 64 bytes. BN254 has about 100 bits of security.
///
/// A proof holds the signature, 64 bytes; the aggregate key in G2, 128 bytes in the EVM's order; and for each digest
/// the hint `counter (1) ‖ y (32)` of `HashToBn254`. The dual-key check (`Bn254.isDualKeySignature`) proves that both
/// keys have the same secret.
///
/// Each member that changes costs about 380 gas if many change, and about 500 if few do. The check costs 14,600 gas
/// more than with keys in G2.
///
/// A malformed point in a key or a proof costs nearly all the gas of the call, because the precompile that refuses it burns
/// what is left. Whoever pays for proofs of others, such as a relayer or a contract that catches the revert, limits the gas
/// of the call.
abstract contract Bn254G1Keys is Quorums {
    /// @dev The prime of the field.
    uint256 private constant P = BN254_P;

    /// @notice The signature is not one of these digests under these keys, or the keys do not have the same secret.
    error FalseSignature();
    /// @notice The aggregate key is the identity, under which everyone can sign.
    error SumIsIdentity();

    /// @dev A key has 64 bytes.
    /// @return 64.
    function _keyBytes() internal pure override returns (uint256) {
        return 64;
    }

    /// @dev A signature has 64 bytes.
    /// @return 64.
    function _signatureBytes() internal pure override returns (uint256) {
        return 64;
    }

    /// @inheritdoc Quorums
    /// @dev The sum, and behind it the key that is added: the input of the precompile.
    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        accumulator = _allocate(128);
        // Room for two points. The identity is (0, 0).
        assembly {
            operand := add(accumulator, 64)
            switch key
            case 0 { calldatacopy(accumulator, calldatasize(), 64) }
            default { mcopy(accumulator, key, 64) }
        }
    }

    /// @inheritdoc Quorums
    function _accumulate(uint256 accumulator, uint256, bool subtract) internal view override {
        bool done;
        // Registered keys lie on the curve and are canonical, so y is not zero and P - y is canonical.
        assembly {
            if subtract {
                let y := add(accumulator, 0x60)
                mstore(y, sub(P, mload(y)))
            }
            done := staticcall(gas(), 0x06, accumulator, 0x80, accumulator, 0x40)
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    /// @inheritdoc Quorums
    /// @dev To subtract keys, it negates the sum, adds the keys and negates the sum again: two negations for all keys
    /// and not one for each. If many members change, it copies the whole part of the page that holds their keys. Each
    /// copy of a single key costs 120 gas, and a key that is copied and not wanted costs 12.
    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        uint256 stretch;
        uint256 keys;
        assembly ("memory-safe") {
            stretch := sub(add(clz(and(members, sub(0, members))), 1), clz(members))
        }
        // Unchecked: a word has 256 members at most.
        unchecked {
            if (stretch > 1 && stretch < 10 * _ones(members)) keys = _copyStretch(page, first, members, stretch);
        }
        uint256 left = members & ~own;
        if (left != 0) {
            _negate(sum);
            _addPaged(sum, operand, page, first, keys, left);
            _negate(sum);
        }
        if (left != members) _addPaged(sum, operand, page, first, keys, members & own);
    }

    /// @dev Copies the keys from the first to the last of a word's members to free memory, which it does not keep: the
    /// caller uses the keys before anything else takes memory.
    /// @param page The page that holds the keys.
    /// @param first Offset in the page's code at which the key of the word's first index lies, or would lie.
    /// @param members The members, as bits of the word; at least one.
    /// @param stretch Number of indices from the first member to the last.
    /// @return keys Where the key of the word's first index would lie. If that happens to be 0, `_addPaged` reads the
    /// keys from the page, one by one.
    function _copyStretch(uint256 page, uint256 first, uint256 members, uint256 stretch)
        private
        view
        returns (uint256 keys)
    {
        assembly ("memory-safe") {
            keys := mload(0x40)
            let lead := shl(6, clz(members))
            extcodecopy(page, keys, add(first, lead), shl(6, stretch))
            keys := sub(keys, lead)
        }
    }

    /// @dev sum := -sum. For a point of the curve y is not zero. For the identity y is 0, and stays 0.
    /// @param sum Where in memory the sum lies.
    function _negate(uint256 sum) private pure {
        assembly {
            let y := mload(add(sum, 0x20))
            mstore(add(sum, 0x20), mul(iszero(iszero(y)), sub(P, y)))
        }
    }

    /// @dev Adds the keys of a word's members.
    /// @param sum The sum.
    /// @param operand Where the key that is added has to lie, behind the sum.
    /// @param page The page that holds the keys.
    /// @param first Offset in the page's code at which the key of the word's first index lies, or would lie.
    /// @param keys Where in memory the key of the word's first index lies, or would lie; 0 to read the keys from the
    /// page.
    /// @param members The members, as bits of the word.
    function _addPaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 keys, uint256 members)
        private
        view
    {
        bool done = true;
        assembly {
            switch keys
            case 0 {
                for {} members {} {
                    let place := clz(members)
                    members := xor(members, shr(place, shl(255, 1)))
                    extcodecopy(page, operand, add(first, shl(6, place)), 0x40)
                    done := and(done, staticcall(gas(), 0x06, sum, 0x80, sum, 0x40))
                }
            }
            default {
                for {} members {} {
                    let place := clz(members)
                    members := xor(members, shr(place, shl(255, 1)))
                    mcopy(operand, add(keys, shl(6, place)), 0x40)
                    done := and(done, staticcall(gas(), 0x06, sum, 0x80, sum, 0x40))
                }
            }
            // If a call to one address has answered with 64 bytes, earlier calls to it that succeeded have, too.
            done := and(done, eq(returndatasize(), 0x40))
        }
        if (!done) revert Bn254.AddFailed();
    }

    /// @inheritdoc Quorums
    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 rest)
    {
        bool identity;
        // The caller allocated a key's length at `to`.
        assembly {
            mcopy(to, accumulator, 64)
            identity := iszero(or(mload(to), mload(add(to, 32))))
        }
        require(!identity, SumIsIdentity());
        assembly ("memory-safe") {
            rest := proof.offset
        }
    }

    /// @inheritdoc Quorums
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        uint256 transcript = _allocate(0x2e0);
        uint256 hash;
        bytes calldata hints;
        // If the proof is too short, this length wraps around and is not the length of the hints.
        assembly ("memory-safe") {
            hash := add(transcript, 0x20)
            hints.offset := add(proof.offset, 0xc0)
            hints.length := sub(proof.length, 0xc0)
        }
        Bn254Hashes.sum(digests, hints, hash);
        // `_allocate` gave the memory from `transcript` on. The transcript holds the points in this order.
        assembly {
            mcopy(add(transcript, 0x60), key, 0x40)
            calldatacopy(add(transcript, 0xa0), add(proof.offset, 0x40), 0x80)
            calldatacopy(add(transcript, 0x120), proof.offset, 0x40)
        }
        require(Bn254.isDualKeySignatureAt(transcript), FalseSignature());
    }
}
