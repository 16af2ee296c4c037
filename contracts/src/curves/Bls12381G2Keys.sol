// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381} from "../libraries/Bls12381.sol";
import {KeyTable} from "../KeyTable.sol";
import {PagesWithProgram} from "./PagesWithProgram.sol";
import {Quorums} from "../Quorums.sol";
import {Bls12381G2Page} from "./Bls12381G2Page.sol";
import {Bls12381Hash, UniformBls12381Hash} from "./Bls12381Hash.sol";

/// @title Quorums with keys in G2 of BLS12-381 and signatures in G1, by the precompiles of EIP-2537
/// @notice A key has 192 bytes: x, then y, 48 bytes for each part, real part first. BLS12-381 has about 120 bits of
/// security.
///
/// A proof is the signature, 96 bytes: x, then y. There are no hints. Operators sign a digest as a message of 32 bytes
/// under the suite of the hash (`Bls12381Hash`).
///
/// Each member that changes costs about 890 gas. Pages of keys have a program (`Bls12381G2Page`).
///
/// A malformed point in a key or a proof costs nearly all the gas of the call, because the precompile that refuses it burns
/// what is left. Whoever pays for proofs of others, such as a relayer or a contract that catches the revert, limits the gas
/// of the call.
///
/// The pairing that checks a key's proof of possession also checks that the key has order r. So sums of registered keys
/// need no check of their order.
abstract contract Bls12381G2Sums is PagesWithProgram, Bls12381Hash {
    /// @notice The signature is not one of these digests under this key.
    error FalseSignature();
    /// @notice The aggregate key is the identity, under which everyone can sign.
    error SumIsIdentity();
    /// @notice The signature does not have 96 bytes.
    /// @param length Bytes that were passed.
    error SignatureLength(uint256 length);

    /// @dev A key has 192 bytes.
    /// @return 192.
    function _keyBytes() internal pure override returns (uint256) {
        return 192;
    }

    /// @dev A signature has 96 bytes.
    /// @return 96.
    function _signatureBytes() internal pure override returns (uint256) {
        return 96;
    }

    /// @inheritdoc Quorums
    /// @dev In memory: room for a key; a word that is 1 while the negative of the sum is kept; the sum; and behind it
    /// room for the unpacked key, as the precompile reads them.
    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        operand = _allocate(192 + 32 + 512);
        assembly {
            accumulator := add(operand, 224)
            mstore(sub(accumulator, 32), 0)
            calldatacopy(accumulator, calldatasize(), 512)
        }
        if (key != 0) Bls12381.unpackG2At(key, accumulator);
    }

    /// @inheritdoc Quorums
    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal view override {
        _turn(accumulator, subtract);
        // An unpacked key lies between zeros, and the last input of a page's program lay there.
        assembly {
            calldatacopy(add(accumulator, 0x100), calldatasize(), 0x60)
        }
        Bls12381.addG2At(accumulator, operand);
    }

    /// @dev Negates the sum if its sign is not the wanted one. To subtract keys, it negates the sum once and adds them;
    /// it negates the sum again before keys are added. That costs less than to negate each key.
    /// @param accumulator The sum.
    /// @param negative Whether the negative of the sum shall be kept.
    function _turn(uint256 accumulator, bool negative) private pure {
        bool turns;
        assembly {
            let sign := sub(accumulator, 0x20)
            turns := xor(mload(sign), negative)
            mstore(sign, negative)
        }
        if (turns) Bls12381.negateG2At(accumulator);
    }

    /// @inheritdoc Quorums
    /// @dev The page's program adds them up. The sum keeps the sign of the keys that are added last.
    function _accumulatePaged(uint256 sum, uint256, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        bool done;
        // `_begin` allocated the memory around the sum.
        assembly {
            let sign := sub(sum, 0x20)
            let negative := mload(sign)
            // All bits if the negative of the sum is kept.
            let turn := sub(0, negative)
            let input := add(sum, 0x100)
            mstore(input, and(members, xor(own, turn)))
            let second := and(members, not(xor(own, turn)))
            mstore(add(input, 0x20), second)
            mstore(add(input, 0x40), first)
            done := staticcall(gas(), page, sum, 0x160, sum, 0x100)
            mstore(sign, xor(negative, iszero(iszero(second))))
        }
        if (!done) revert Bls12381.G2AddFailed();
    }

    /// @inheritdoc KeyTable
    function _program() internal pure override returns (bytes memory) {
        return type(Bls12381G2Page).runtimeCode;
    }

    /// @inheritdoc Quorums
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

    /// @inheritdoc Quorums
    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view override {
        require(proof.length == 96, SignatureLength(proof.length));
        // The pairing reads the signature, -G2, the sum of the hashes and the key. A further hash is written behind the
        // sum, where the key comes last, and added to it.
        uint256 pairs = _allocate(0x300);
        (uint256 sum, uint256 next) = (0, 0);
        assembly {
            sum := add(pairs, 0x180)
            next := add(pairs, 0x200)
            calldatacopy(pairs, calldatasize(), 0x80)
            calldatacopy(add(pairs, 0x10), proof.offset, 0x30)
            calldatacopy(add(pairs, 0x50), add(proof.offset, 0x30), 0x30)
        }
        // A position in memory does not overflow, and neither does the number of a digest.
        unchecked {
            Bls12381.negatedGeneratorG2At(pairs + 0x80);
            _hashTo(digests[0], sum);
            for (uint256 i = 1; i < digests.length; i++) {
                _hashTo(digests[i], next);
                Bls12381.addPairG1(sum, sum);
            }
        }
        Bls12381.unpackG2At(key, next);
        require(Bls12381.isProductOneAt(pairs, 2), FalseSignature());
    }
}

/// @title Quorums with keys in G2 of BLS12-381, for which any BLS library can sign
abstract contract Bls12381G2Keys is Bls12381G2Sums, UniformBls12381Hash {}
