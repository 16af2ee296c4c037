// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Bls12381, G1Point, G2Point} from "../src/libraries/Bls12381.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {HashToBn254} from "../src/libraries/HashToBn254.sol";

/// @title Signs in unit tests, without ffi and without a program beside forge
/// @notice Makes keys, proofs of possession and quorums from secrets, with the precompiles of the chain that forge simulates
/// (`evm_version = "osaka"`). So a test of a consumer settles real results through a real settlement:
///
///     bytes32 digest = settlement.resultsDigest(epoch, nonce, deadline, 0xffff, results);
///     bytes memory quorum = TestSigner.quorum(TestSigner.Keys.Bn254G1, secrets, signs, digest);
///     settlement.settleAll(head, newest, deadline, results, quorum);
///
/// `examples/SettlesInATest.sol` is a whole test.
///
/// **For tests alone.** Secrets are arguments, everybody can read them, and nothing here runs in constant time. A key costs
/// up to 1.5 million gas.
library TestSigner {
    /// @notice The kinds of keys, named as the settlements are.
    enum Keys {
        Bn254G2,
        Bn254G1,
        Bls12381G2,
        Bls12381G2Nu
    }

    /// @notice The order of BLS12-381's groups.
    uint256 internal constant BLS12381_R = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001;
    /// @notice The slot number that means "do not store the quorum".
    uint256 internal constant NONE = 0xffff;

    bytes private constant UNIFORM = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";
    bytes private constant NONUNIFORM = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_";

    /// @notice A precompile failed, for example because the chain has none at this address.
    /// @param precompile The address.
    error PrecompileFailed(uint160 precompile);
    /// @notice No member signs, or there are more than 255, whose keys do not fit into one quorum.
    /// @param members How many sign.
    error MembersDoNotFit(uint256 members);

    /// @notice The key of a secret, in the format of the settlement.
    /// @param keys The kind of keys.
    /// @param secret The secret, at least 1 and below the group's order.
    /// @return The key.
    function key(Keys keys, uint256 secret) internal view returns (bytes memory) {
        if (keys == Keys.Bn254G2) return abi.encode(_inG2(secret));
        if (keys == Keys.Bn254G1) return abi.encode(Bn254.mul(Bn254.generator(), secret));
        G2Point memory negated = Bls12381.negatedGeneratorG2();
        return _pack(_multiply(0x0e, abi.encode(negated), BLS12381_R - secret));
    }

    /// @notice The proof that `register` takes: a signature over `possessionDigest(owner, key)`, with the curve's hints.
    /// @param keys The kind of keys.
    /// @param secret The secret.
    /// @param digest The digest.
    /// @return The proof.
    function proof(Keys keys, uint256 secret, bytes32 digest) internal view returns (bytes memory) {
        if (keys == Keys.Bls12381G2) return sign(keys, secret, digest);
        if (keys == Keys.Bls12381G2Nu) return sign(keys, secret, digest);
        (uint8 counter, uint256 y) = HashToBn254.find(digest);
        bytes memory hint = abi.encodePacked(counter, y);
        if (keys == Keys.Bn254G2) return bytes.concat(sign(keys, secret, digest), hint);
        return bytes.concat(sign(keys, secret, digest), abi.encode(_inG2(secret)), hint);
    }

    /// @notice The signature over a digest: 64 bytes on BN254, 96 bytes on BLS12-381.
    /// @param keys The kind of keys.
    /// @param secret The secret; or the sum of all signers' secrets, modulo the group's order, for their aggregate.
    /// @param digest The digest.
    /// @return The signature.
    function sign(Keys keys, uint256 secret, bytes32 digest) internal view returns (bytes memory) {
        if (keys == Keys.Bn254G2 || keys == Keys.Bn254G1) {
            (uint8 counter, uint256 y) = HashToBn254.find(digest);
            return abi.encode(Bn254.mul(HashToBn254.hash(digest, counter, y), secret));
        }
        G1Point memory hash = keys == Keys.Bls12381G2
            ? HashToBls12381.hashToG1(digest, UNIFORM)
            : HashToBls12381.encodeToG1(digest, NONUNIFORM);
        return _pack(_multiply(0x0c, abi.encode(hash), secret));
    }

    /// @notice The bytes of a quorum that starts from the empty quorum, passes its members' keys, names no weights and is not
    /// stored: what `settleAll` takes. `settle` takes quorums that start from the newest base alone.
    /// @param keys The kind of keys.
    /// @param secrets The secrets of all members, by index.
    /// @param signs Who of them signs.
    /// @param digest What they sign: `resultsDigest(epoch, nonce, deadline, 0xffff, results)`.
    /// @return The bytes.
    function quorum(Keys keys, uint256[] memory secrets, bool[] memory signs, bytes32 digest)
        internal
        view
        returns (bytes memory)
    {
        (uint256 sum, bytes memory passed) = _sum(keys, secrets, signs);
        uint256 count = passed.length / key(keys, 1).length;
        require(count != 0 && count < 256, MembersDoNotFit(count));
        bytes memory signers = bitmap(signs);
        signers = abi.encodePacked(
            uint16(NONE), uint16(NONE), uint16(0), uint16(signers.length), uint16(0), uint8(count), passed, signers
        );
        if (keys == Keys.Bn254G2) signers = bytes.concat(signers, _jacobian(passed));
        return bytes.concat(signers, proof(keys, sum, digest));
    }

    /// @notice The bitmap of the members who sign: bit i, counted from the most significant bit of the first byte, stands for
    /// index i.
    /// @param signs Who signs; at least one.
    /// @return bits The bitmap.
    function bitmap(bool[] memory signs) internal pure returns (bytes memory bits) {
        uint256 length = signs.length;
        while (length != 0 && !signs[length - 1]) length--;
        bits = new bytes((length + 7) / 8);
        for (uint256 i = 0; i < length; i++) {
            if (signs[i]) bits[i / 8] |= bytes1(uint8(0x80 >> (i % 8)));
        }
    }

    /// @dev The sum of the signers' secrets, and their keys.
    function _sum(Keys keys, uint256[] memory secrets, bool[] memory signs)
        private
        view
        returns (uint256 sum, bytes memory passed)
    {
        uint256 order = keys == Keys.Bn254G2 || keys == Keys.Bn254G1 ? Bn254.R : BLS12381_R;
        for (uint256 i = 0; i < secrets.length; i++) {
            if (!signs[i]) continue;
            sum = addmod(sum, secrets[i], order);
            passed = bytes.concat(passed, key(keys, secrets[i]));
        }
    }

    /// @dev secret · G2 on BN254, by doubling and adding.
    function _inG2(uint256 secret) private view returns (Bn254.G2 memory) {
        Bn254.G2 memory generator = Bn254.G2(Bn254.G2_X_IM, Bn254.G2_X_RE, Bn254.G2_Y_IM, Bn254.G2_Y_RE);
        Bn254G2.Accumulator memory sum = Bn254G2.load(Bn254.G2(0, 0, 0, 0));
        uint256 from;
        assembly ("memory-safe") {
            from := generator
        }
        for (uint256 bit = 1 << 255; bit != 0; bit >>= 1) {
            Bn254G2.double(sum);
            if (secret & bit != 0) Bn254G2.accumulate(sum, from, false);
        }
        return Bn254G2.normalize(sum);
    }

    /// @dev The hint for a sum of keys in G2 of BN254: the byte 0, and 1/Z of the sum in Jacobian coordinates.
    function _jacobian(bytes memory passed) private view returns (bytes memory) {
        Bn254G2.Accumulator memory sum = Bn254G2.load(Bn254.G2(0, 0, 0, 0));
        for (uint256 offset = 0; offset < passed.length; offset += 128) {
            uint256 from;
            assembly ("memory-safe") {
                from := add(add(passed, 0x20), offset)
            }
            Bn254G2.accumulate(sum, from, false);
        }
        (uint256 im, uint256 re) = Bn254G2.inverseOfZ(sum);
        return abi.encodePacked(uint8(0), im, re);
    }

    /// @dev A multiplication by a precompile of EIP-2537. The point is padded, as the precompile reads it.
    function _multiply(uint160 precompile, bytes memory point, uint256 scalar) private view returns (bytes memory) {
        (bool done, bytes memory product) = address(precompile).staticcall(bytes.concat(point, bytes32(scalar)));
        require(done && product.length == point.length, PrecompileFailed(precompile));
        return product;
    }

    /// @dev A padded point without the 16 zero bytes before each coordinate.
    function _pack(bytes memory padded) private pure returns (bytes memory packed) {
        packed = new bytes(padded.length / 64 * 48);
        for (uint256 i = 0; i < padded.length / 64; i++) {
            assembly ("memory-safe") {
                mcopy(add(add(packed, 0x20), mul(48, i)), add(add(padded, 0x30), mul(64, i)), 48)
            }
        }
    }
}
