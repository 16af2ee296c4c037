// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AffineG2} from "./AffineG2.sol";
import {Bn254} from "../../src/libraries/Bn254.sol";
import {HashToBn254} from "../../src/libraries/HashToBn254.sol";

/// @title The baselines of the gas benchmark: the difference cache, the exact cache and the sum of all signers
/// @notice They keep keys in storage, add them in affine coordinates, and find the aggregate key in three ways: as the
/// sum of all signers, from a cache of sums for exact sets of signers, or by the difference from the last set. Message,
/// hash and pairing are those of `Settlement`, so that only the aggregate key is compared. They do not weigh or count
/// members, which makes them cheaper, and they take keys without a proof of possession. Do not use them as contracts.
abstract contract Baseline {
    uint256[4][] internal _keys;
    uint256 public nonce = 1;

    event Settled(uint256 indexed nonce, bytes32 result);

    error FalseSignature();
    error EmptyQuorum();

    bytes32 private constant RESULT =
        keccak256("Result(uint256 chainId,address settlement,uint256 nonce,bytes32 result)");

    function register(uint256[4] calldata key) external {
        _keys.push(key);
    }

    function resultDigest(uint256 nonce_, bytes32 result) public view returns (bytes32) {
        return keccak256(abi.encode(RESULT, block.chainid, address(this), nonce_, result));
    }

    /// @notice Checks a signature over a result. `signers` is a bitmap as in `Quorums`, and the proof is the signature
    /// with the hint of the hash.
    function settle(bytes32 result, bytes calldata signers, bytes calldata proof) external {
        require(signers.length != 0, EmptyQuorum());
        bytes32 digest = resultDigest(nonce, result);
        uint256[4] memory key = _aggregate(signers);
        Bn254.G1 memory signature = Bn254.G1(uint256(bytes32(proof[:32])), uint256(bytes32(proof[32:64])));
        Bn254.G1 memory hash = HashToBn254.hash(digest, uint8(proof[64]), uint256(bytes32(proof[65:97])));
        bool holds = Bn254.isSignature(hash, Bn254.G2(key[0], key[1], key[2], key[3]), signature);
        require(holds, FalseSignature());
        emit Settled(nonce++, result);
    }

    function _aggregate(bytes calldata signers) internal virtual returns (uint256[4] memory key);

    function _has(bytes memory signers, uint256 index) internal pure returns (bool) {
        return index / 8 < signers.length && uint8(signers[index / 8]) & (0x80 >> (index % 8)) != 0;
    }

    function _sumOf(bytes memory signers) internal view returns (uint256[4] memory key) {
        for (uint256 i = 0; i < 8 * signers.length; i++) {
            if (_has(signers, i)) key = AffineG2.add(key, _keys[i]);
        }
    }
}

/// @notice Adds every signer's key for every task.
contract SumOfAll is Baseline {
    function _aggregate(bytes calldata signers) internal view override returns (uint256[4] memory) {
        return _sumOf(signers);
    }
}

/// @notice The exact cache: keeps the sum of each set that signed before.
contract ExactMatchCache is Baseline {
    mapping(bytes32 signersHash => uint256[4]) private _cache;

    function _aggregate(bytes calldata signers) internal override returns (uint256[4] memory key) {
        bytes32 hash = keccak256(signers);
        key = _cache[hash];
        if (key[0] | key[1] | key[2] | key[3] == 0) {
            key = _sumOf(signers);
            _cache[hash] = key;
        }
    }
}

/// @notice The difference cache: adds and subtracts the keys in which a set differs from the last one. It goes through
/// all bits of both bitmaps, so each operator costs gas even if nobody changed. The source leaves the form of a set
/// open; sets of addresses in storage would cost more.
contract DifferenceCache is Baseline {
    bytes private _last;
    uint256[4] private _lastKey;

    function _aggregate(bytes calldata signers) internal override returns (uint256[4] memory key) {
        // Both are copied once, and not for each bit.
        (bytes memory last, bytes memory current) = (_last, signers);
        key = _lastKey;
        uint256 length = current.length > last.length ? current.length : last.length;
        for (uint256 i = 0; i < 8 * length; i++) {
            bool now_ = _has(current, i);
            if (now_ == _has(last, i)) continue;
            key = AffineG2.add(key, now_ ? _keys[i] : AffineG2.negated(_keys[i]));
        }
        (_last, _lastKey) = (signers, key);
    }
}
