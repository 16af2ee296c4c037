// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Members} from "./Members.sol";
import {Bls12381, G1Point} from "../src/libraries/Bls12381.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {HashToBn254} from "../src/libraries/HashToBn254.sol";
import {PlainBn254G2} from "./plain/PlainBn254G2.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";

/// @notice What operators sign and what aggregators add, made from secrets. Nothing in this file is secret: it is for
/// tests.
abstract contract Signing {
    function order() internal pure virtual returns (uint256);

    /// @notice The key of a secret, in the format of the key table.
    function keyOf(uint256 secret) internal view virtual returns (bytes memory);

    /// @notice The proof by a secret, without hints for the sum of keys.
    function proofBy(uint256 secret, bytes32[] memory digests) internal view virtual returns (bytes memory);

    /// @notice The hints for the sum of keys; empty if the curve needs none.
    function hintOf(Members.Base memory base, bytes memory signers, bytes[] storage keys)
        internal
        view
        virtual
        returns (bytes memory);
}

abstract contract Bn254Signing is Signing {
    function order() internal pure override returns (uint256) {
        return Bn254.R;
    }

    function signed(uint256 secret, bytes32[] memory digests)
        internal
        view
        returns (bytes memory signature, bytes memory hints)
    {
        Bn254.G1 memory sum;
        for (uint256 i = 0; i < digests.length; ++i) {
            (uint8 counter, uint256 y) = HashToBn254.find(digests[i]);
            sum = Bn254.add(sum, HashToBn254.hash(digests[i], counter, y));
            hints = abi.encodePacked(hints, counter, y);
        }
        signature = abi.encode(Bn254.mul(sum, secret));
    }

    function keyInG2(uint256 secret) internal view returns (bytes memory) {
        Bn254.G2 memory generator = Bn254.G2(Bn254.G2_X_IM, Bn254.G2_X_RE, Bn254.G2_Y_IM, Bn254.G2_Y_RE);
        Bn254G2.Accumulator memory sum = Bn254G2.load(Bn254.G2(0, 0, 0, 0));
        for (uint256 bit = 1 << 255; bit != 0; bit >>= 1) {
            Bn254G2.double(sum);
            if (secret & bit != 0) Bn254G2.accumulate(sum, pointerTo(generator), false);
        }
        return abi.encode(Bn254G2.normalize(sum));
    }

    function pointerTo(Bn254.G2 memory point) internal pure returns (uint256 pointer) {
        assembly {
            pointer := point
        }
    }
}

abstract contract Bn254G2Signing is Bn254Signing {
    function keyOf(uint256 secret) internal view override returns (bytes memory) {
        return keyInG2(secret);
    }

    function proofBy(uint256 secret, bytes32[] memory digests) internal view override returns (bytes memory) {
        (bytes memory signature, bytes memory hints) = signed(secret, digests);
        return abi.encodePacked(signature, hints);
    }

    /// @notice Makes the sum by slopes, or in Jacobian coordinates if some addition has no slope.
    function hintOf(Members.Base memory base, bytes memory signers, bytes[] storage keys)
        internal
        view
        override
        returns (bytes memory)
    {
        if (keccak256(base.signers) == keccak256(signers)) return "";
        (bytes memory slopes, bool exceptional) = slopesOf(base, signers, keys);
        return exceptional ? jacobianOf(base, signers, keys) : abi.encodePacked(uint8(1), slopes);
    }

    /// @notice The slopes of the additions, in the order of the contract. `exceptional` if the sum meets a key with the
    /// same x.
    function slopesOf(Members.Base memory base, bytes memory signers, bytes[] storage keys)
        internal
        view
        returns (bytes memory slopes, bool exceptional)
    {
        Bn254.G2 memory sum;
        if (base.key.length != 0) sum = abi.decode(base.key, (Bn254.G2));
        for (uint256 i = 0; i < keys.length; ++i) {
            bool added = Members.contains(signers, i);
            if (added == Members.contains(base.signers, i)) continue;
            Bn254.G2 memory key = abi.decode(keys[i], (Bn254.G2));
            if (!added) key = PlainBn254G2.negate(key);
            if (!Bn254.isInfinity(sum)) {
                if (PlainBn254G2.equal(PlainBn254G2.x(sum), PlainBn254G2.x(key))) return ("", true);
                PlainBn254G2.Fp2 memory slope = PlainBn254G2.slope(sum, key);
                slopes = abi.encodePacked(slopes, slope.im, slope.re);
            }
            sum = PlainBn254G2.add(sum, key);
        }
    }

    /// @notice The byte 0 and 1/Z of the sum, which is added up in the order of the contract.
    function jacobianOf(Members.Base memory base, bytes memory signers, bytes[] storage keys)
        internal
        view
        returns (bytes memory)
    {
        Bn254.G2 memory start;
        if (base.key.length != 0) start = abi.decode(base.key, (Bn254.G2));
        Bn254G2.Accumulator memory sum = Bn254G2.load(start);
        for (uint256 i = 0; i < keys.length; ++i) {
            bool added = Members.contains(signers, i);
            if (added == Members.contains(base.signers, i)) continue;
            Bn254G2.accumulate(sum, pointerTo(abi.decode(keys[i], (Bn254.G2))), !added);
        }
        // The identity has no inverse, and the contract refuses any hint.
        if (Bn254G2.isInfinity(sum)) return new bytes(65);
        (uint256 im, uint256 re) = Bn254G2.inverseOfZ(sum);
        return abi.encodePacked(uint8(0), im, re);
    }
}

abstract contract Bn254G1Signing is Bn254Signing {
    function keyOf(uint256 secret) internal view override returns (bytes memory) {
        return abi.encode(Bn254.mul(Bn254.generator(), secret));
    }

    function proofBy(uint256 secret, bytes32[] memory digests) internal view override returns (bytes memory) {
        (bytes memory signature, bytes memory hints) = signed(secret, digests);
        return abi.encodePacked(signature, keyInG2(secret), hints);
    }

    function hintOf(Members.Base memory, bytes memory, bytes[] storage) internal pure override returns (bytes memory) {
        return "";
    }
}

abstract contract Bls12381G2Signing is Signing {
    bytes private constant SUITE = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

    function order() internal pure override returns (uint256) {
        return 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001;
    }

    function keyOf(uint256 secret) internal view override returns (bytes memory) {
        bytes memory generator = BlsPoints.negateG2(Bls12381.packG2(Bls12381.negatedGeneratorG2()));
        return BlsPoints.multiplyG2(generator, secret);
    }

    function proofBy(uint256 secret, bytes32[] memory digests) internal view override returns (bytes memory) {
        G1Point memory sum;
        for (uint256 i = 0; i < digests.length; ++i) {
            Bls12381.addG1(sum, hashOf(digests[i]));
        }
        return BlsPoints.multiplyG1(Bls12381.packG1(sum), secret);
    }

    function hashOf(bytes32 digest) internal view virtual returns (G1Point memory) {
        return HashToBls12381.hashToG1(digest, SUITE);
    }

    function hintOf(Members.Base memory, bytes memory, bytes[] storage) internal pure override returns (bytes memory) {
        return "";
    }
}

abstract contract Bls12381G2NuSigning is Bls12381G2Signing {
    function hashOf(bytes32 digest) internal view virtual override returns (G1Point memory) {
        return HashToBls12381.encodeToG1(digest, "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_");
    }
}
