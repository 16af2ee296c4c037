// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Quorums} from "../../src/Quorums.sol";
import {Settlement} from "../../src/Settlement.sol";
import {Verifier} from "../../src/Verifier.sol";

/// @notice Integers modulo a prime in place of a curve. A key has 64 bytes, and its first word is its own secret. A
/// signature is the hash of key and digests. So tests run everything that a quorum does but the curve.
abstract contract ToyKeys is Quorums {
    uint256 public constant ORDER = 2 ** 61 - 1;

    error FalseSignature();
    error SumIsIdentity();

    function signature(bytes32[] memory digests, uint256 key) public pure returns (bytes memory) {
        return abi.encode(keccak256(abi.encode(digests, key)));
    }

    /// @notice Appends the keys first + 1, first + 2 and so on without proof, for tables of thousands.
    function fill(uint256 first, uint256 keys) external {
        for (uint256 i = 1; i <= keys; i++) {
            this.append(abi.encode(first + i, ~(first + i)));
        }
    }

    function append(bytes calldata key) external {
        _append(key);
    }

    function _programBytes() internal pure override returns (uint256) {
        return 0;
    }

    function _program() internal pure override returns (bytes memory) {
        return "";
    }

    function _openKeys(uint256 nonce, uint256 table) internal view override returns (uint256) {
        return _openHeader(nonce, table);
    }

    function _keyBytes() internal pure override returns (uint256) {
        return 64;
    }

    function _signatureBytes() internal pure override returns (uint256) {
        return 32;
    }

    function _begin(uint256 key, bytes calldata) internal pure override returns (uint256 accumulator, uint256 operand) {
        (accumulator, operand) = (_allocate(32), _allocate(64));
        assembly {
            let value := 0
            if key { value := mload(key) }
            mstore(accumulator, value)
        }
    }

    function _accumulate(uint256 accumulator, uint256 operand, bool subtract) internal pure override {
        uint256 value;
        assembly {
            value := mload(operand)
        }
        if (subtract) value = ORDER - value;
        assembly {
            mstore(accumulator, addmod(mload(accumulator), value, 0x1fffffffffffffff))
        }
    }

    function _accumulatePaged(uint256 sum, uint256 operand, uint256 page, uint256 first, uint256 members, uint256 own)
        internal
        view
        override
    {
        while (members != 0) {
            bool subtract;
            assembly {
                let place := clz(members)
                let bit := shr(place, shl(255, 1))
                members := xor(members, bit)
                subtract := iszero(and(own, bit))
                extcodecopy(page, operand, add(first, shl(6, place)), 64)
            }
            _accumulate(sum, operand, subtract);
        }
    }

    function _finish(uint256 accumulator, uint256 to, bytes calldata proof)
        internal
        pure
        override
        returns (uint256 rest)
    {
        uint256 value;
        assembly {
            value := mload(accumulator)
            mstore(to, value)
            mstore(add(to, 32), not(value))
        }
        require(value != 0, SumIsIdentity());
        assembly ("memory-safe") {
            rest := proof.offset
        }
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof) internal view virtual override {
        uint256 value;
        assembly {
            value := mload(key)
        }
        require(keccak256(proof) == keccak256(signature(digests, value)), FalseSignature());
    }
}

/// @notice A settlement over the toy curve.
contract ToyCurve is Settlement, ToyKeys {
    constructor(uint256 pinned, uint256 changesAStore) Quorums(pinned) Settlement(msg.sender, changesAStore) {}
}

/// @notice A verifier over the toy curve. Its network is whoever made it.
contract ToyVerifier is Verifier, ToyKeys {
    constructor(uint256 pinned) Quorums(pinned) Verifier(msg.sender) {}
}
