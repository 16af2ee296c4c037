// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../libraries/Bn254.sol";
import {BN254_P} from "../libraries/Fields.sol";
import {Bn254G1Page} from "./Bn254G1Page.sol";
import {Bn254Hashes} from "./Bn254Hashes.sol";
import {KeyTable} from "../KeyTable.sol";
import {PagesWithProgram} from "./PagesWithProgram.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums with keys in G1 of BN254, where the aggregator passes the aggregate key in G2 as well
/// @notice A key has 64 bytes. BN254 has about 100 bits of security.
///
/// A proof holds the signature, 64 bytes; the aggregate key in G2, 128 bytes in the EVM's order; and for each digest
/// the hint `counter (1) ‖ y (32)` of `HashToBn254`. The dual-key check (`Bn254.isDualKeySignature`) proves that both
/// keys have the same secret.
///
/// Each member that changes costs about 370 gas. Pages of keys have a program (`Bn254G1Page`). The check costs 14,600 gas
/// more than with keys in G2.
///
/// A malformed point in a key or a proof costs nearly all the gas of the call, because the precompile that refuses it burns
/// what is left. Whoever pays for proofs of others, such as a relayer or a contract that catches the revert, limits the gas
/// of the call.
abstract contract Bn254G1Keys is PagesWithProgram {
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
    /// @dev The sum, and behind it the key that is added: the input of the precompile. The input of a page's program has a
    /// word more.
    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        accumulator = _allocate(160);
        // The identity is (0, 0).
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
    /// @dev The page's program adds them up.
    function _accumulatePaged(uint256 sum, uint256, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        bool done;
        // `_begin` allocated the memory behind the sum.
        assembly {
            mstore(add(sum, 0x40), and(members, not(own)))
            mstore(add(sum, 0x60), and(members, own))
            mstore(add(sum, 0x80), first)
            done := staticcall(gas(), page, sum, 0xa0, sum, 0x40)
        }
        if (!done) revert Bn254.AddFailed();
    }

    /// @inheritdoc KeyTable
    function _program() internal pure override returns (bytes memory) {
        return type(Bn254G1Page).runtimeCode;
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
