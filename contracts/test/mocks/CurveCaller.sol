// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381G2Keys} from "../../src/curves/Bls12381G2Keys.sol";
import {Bn254G1Keys} from "../../src/curves/Bn254G1Keys.sol";
import {Bn254G2Keys} from "../../src/curves/Bn254G2Keys.sol";
import {CodePages} from "../../src/libraries/CodePages.sol";
import {Quorums} from "../../src/Quorums.sol";

/// @notice Drives the functions of a curve as a settlement does: a key to begin with, one from storage, and two from a
/// page, of which one is subtracted. Then it checks a signature under the sum.
abstract contract CurveCaller is Quorums {
    constructor() Quorums(0) {}

    function _table() internal pure override returns (uint256) {
        return 0;
    }

    function makePage(bytes calldata payload) external returns (address) {
        return CodePages.create(KEYS, 0, payload, _program());
    }

    function prove(
        bytes calldata base,
        bytes calldata single,
        address page,
        bytes32[] calldata digests,
        bytes calldata proof
    ) external view {
        uint256 result = _allocate(_keyBytes());
        assembly {
            calldatacopy(result, base.offset, base.length)
        }
        (uint256 sum, uint256 operand) = _begin(result, proof);
        assembly {
            calldatacopy(operand, single.offset, single.length)
        }
        _accumulate(sum, operand, false);
        _accumulatePaged(sum, operand, uint160(page), _programBytes() + CodePages.HEADER, 3 << 254, 1 << 255);
        uint256 rest = _finish(sum, result, proof);
        assembly {
            rest := sub(rest, proof.offset)
        }
        _check(digests, result, proof[rest:]);
    }
}

contract Bn254G1Caller is CurveCaller, Bn254G1Keys {}

contract Bn254G2Caller is CurveCaller, Bn254G2Keys {}

contract Bls12381G2Caller is CurveCaller, Bls12381G2Keys {}
