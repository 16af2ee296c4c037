// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381, G1Point} from "../src/libraries/Bls12381.sol";
import {BLS12381_P_HIGH, BLS12381_P_LOW} from "../src/libraries/Fields.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {BlsHash} from "./plain/BlsHash.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";
import {vmMore} from "./plain/BlsVectors.sol";
import {Vectors} from "./plain/Vectors.sol";
import {Test, vm} from "./Test.sol";

contract HashToBls12381Caller {
    function ofDigest(bytes32 digest, bytes memory dst) external view returns (bytes memory) {
        return Bls12381.packG1(HashToBls12381.hashToG1(digest, dst));
    }

    function ofMessage(bytes memory message, bytes memory dst) external view returns (bytes memory) {
        return Bls12381.packG1(HashToBls12381.hashToG1(message, dst));
    }
}

contract HashToBls12381Test is Test {
    HashToBls12381Caller internal caller = new HashToBls12381Caller();

    function test_vectors_of_rfc9380() public view {
        string memory json = Vectors.read("02_rfc9380/BLS12381G1_XMD_SHA-256_SSWU_RO_.json");
        bytes memory dst = bytes(vm.parseJsonString(json, ".dst"));
        uint256 i = 0;
        for (; vm.keyExistsJson(json, key(i, "msg")); ++i) {
            bytes memory message = bytes(vm.parseJsonString(json, key(i, "msg")));
            bytes memory expected =
                bytes.concat(vm.parseJsonBytes(json, key(i, "P.x")), vm.parseJsonBytes(json, key(i, "P.y")));
            assertEq(caller.ofMessage(message, dst), expected, "P");
            bytes memory uniform = BlsHash.expandMessage(message, dst, 128);
            assertEq(reducePacked(BlsPoints.slice(uniform, 0, 64)), vm.parseJsonBytes(json, key(i, "u[0]")), "u[0]");
            assertEq(reducePacked(BlsPoints.slice(uniform, 64, 64)), vm.parseJsonBytes(json, key(i, "u[1]")), "u[1]");
        }
        assertEq(i, 5, "vectors");
    }

    /// @notice Checks the twin's expansion with the vectors of 128 bytes. The fuzz test below compares the library with
    /// the twin.
    function test_vectors_of_expand_message_xmd_hold_for_the_twin() public view {
        string memory json = Vectors.read("02_rfc9380/expand_message_xmd_SHA256_38.json");
        bytes memory dst = bytes(vm.parseJsonString(json, ".DST"));
        for (uint256 i = 5; i < 10; ++i) {
            string memory at_ = string.concat(".tests[", vm.toString(i), "]");
            bytes memory message = bytes(vm.parseJsonString(json, string.concat(at_, ".msg")));
            string memory digits = vm.parseJsonString(json, string.concat(at_, ".uniform_bytes"));
            bytes memory expected = vm.parseJsonBytes(string.concat('{"a":"0x', digits, '"}'), ".a");
            assertEq(BlsHash.expandMessage(message, dst, 128), expected, "uniform bytes");
        }
    }

    /// @notice The vector of RFC 9380, appendix K.2, with a tag of 256 bytes.
    function test_vector_of_a_long_tag() public view {
        bytes memory dst = "QUUX-V01-CS02-with-expander-SHA256-128-long-DST-";
        while (dst.length < 256) dst = bytes.concat(dst, "1");
        bytes memory uniform =
            hex"1a30a5e36fbdb87077552b9d18b9f0aee16e80181d5b951d0471d55b66684914aef87dbb3626eaabf5ded8cd0686567e503853e5c84c259ba0efc37f71c839da2129fe81afdaec7fbdc0ccd4c794727a17c0d20ff0ea55e1389d6982d1241cb8d165762dbc39fb0cee4474d2cbbd468a835ae5b2f20e4f959f56ab24cd6fe267";
        assertEq(BlsHash.expandMessage("abc", dst, 128), uniform, "uniform bytes");
        assertEq(caller.ofMessage("abc", dst), BlsHash.hashToG1("abc", dst), "point");
    }

    /// @notice Real beacons test hash, unpacking and pairing together. No beacon passes for another round.
    function test_beacons_of_drand_quicknet() public view {
        string memory json = vm.readFile("test/vectors/BlsDrandQuicknet.json");
        bytes memory dst = bytes(vm.parseJsonString(json, ".dst"));
        bytes memory publicKey = vm.parseJsonBytes(json, ".key");
        bytes memory lastMessage = new bytes(32);
        uint256 i = 0;
        for (; vm.keyExistsJson(json, string.concat(".beacons[", vm.toString(i), "]")); ++i) {
            string memory beacon = string.concat(".beacons[", vm.toString(i), "]");
            bytes memory message = vm.parseJsonBytes(json, string.concat(beacon, ".message"));
            bytes memory signature = vm.parseJsonBytes(json, string.concat(beacon, ".signature"));
            assertTrue(isSignatureTrue(signature, message, publicKey, dst), "beacon");
            assertTrue(!isSignatureTrue(signature, lastMessage, publicKey, dst), "beacon of another round");
            lastMessage = message;
        }
        assertEq(i, 8, "beacons");
    }

    function testFuzz_hash_agrees_with_the_plain_twin(bytes memory message, bytes32 digest, bytes memory dst)
        public
        view
    {
        if (dst.length == 0) dst = "a";
        dirtyMemory();
        G1Point memory point = HashToBls12381.hashToG1(message, dst);
        dirtyMemory();
        assertEq(Bls12381.packG1(point), BlsHash.hashToG1(message, dst), "message");
        dirtyMemory();
        point = HashToBls12381.hashToG1(digest, dst);
        dirtyMemory();
        assertEq(Bls12381.packG1(point), BlsHash.hashToG1(abi.encode(digest), dst), "digest");
    }

    /// @notice Tries lengths around a word, a block of SHA-256 and the longest tag that is not hashed.
    function test_lengths_of_message_and_tag() public view {
        uint16[9] memory lengths = [1, 31, 32, 33, 63, 64, 65, 255, 256];
        for (uint256 i = 0; i < 9; ++i) {
            bytes memory long = new bytes(lengths[i]);
            for (uint256 j = 0; j < long.length; ++j) {
                long[j] = bytes1(uint8(j + 1));
            }
            dirtyMemory();
            assertEq(caller.ofMessage(long, "tag"), BlsHash.hashToG1(long, "tag"), "message");
            assertEq(caller.ofMessage("", long), BlsHash.hashToG1("", long), "tag");
        }
    }

    function testFuzz_reduction_agrees_with_the_plain_twin(uint256 high, uint256 low, uint8 edges) public view {
        uint256[4] memory edge = [uint256(0), 1, type(uint256).max, type(uint256).max - 1];
        // Half of the words lie at an edge.
        if (edges & 1 == 0) high = edge[edges >> 1 & 3];
        if (edges & 8 == 0) low = edge[edges >> 4 & 3];
        assertReduces(high, low);
    }

    /// @notice Tries multiples of p and numbers beside them, for which the quotient is one too small. A fuzzer would
    /// not find them.
    function testFuzz_reduction_about_multiples_of_p(uint256 factor, uint256 offset) public view {
        factor = bound(factor, 0, (uint256(1) << 131) - 1);
        offset = bound(offset, 0, 4);
        // The product factor · p, as words.
        (uint256 carry, uint256 low) = product(factor, BLS12381_P_LOW);
        (uint256 over, uint256 high) = product(factor, BLS12381_P_HIGH);
        unchecked {
            high += carry;
            if (over != 0 || high < carry) return;
            uint256 shifted = low + offset - 2;
            if (offset < 2 && shifted > low) {
                if (high == 0) return;
                --high;
            }
            if (offset > 2 && shifted < low) ++high;
            low = shifted;
        }
        assertReduces(high, low);
    }

    /// @notice Tries numbers up to a word above a multiple of p, for which the correction itself borrows.
    function testFuzz_reduction_a_word_above_multiples_of_p(uint256 factor, uint256 offset) public view {
        factor = bound(factor, 0, (uint256(1) << 131) - 1);
        (uint256 carry, uint256 low) = product(factor, BLS12381_P_LOW);
        unchecked {
            uint256 high = factor * BLS12381_P_HIGH + carry;
            low += offset;
            if (low < offset) ++high;
            assertReduces(high, low);
        }
    }

    function test_reduction_at_the_ends() public view {
        assertReduces(0, 0);
        assertReduces(BLS12381_P_HIGH, BLS12381_P_LOW - 1);
        assertReduces(BLS12381_P_HIGH, BLS12381_P_LOW);
        assertReduces(BLS12381_P_HIGH, BLS12381_P_LOW + 1);
        assertReduces(BLS12381_P_HIGH, type(uint256).max);
        assertReduces(type(uint256).max, type(uint256).max);
    }

    function test_empty_tag_is_refused() public {
        vm.expectRevert(HashToBls12381.DstEmpty.selector);
        caller.ofDigest(0, "");
        vm.expectRevert(HashToBls12381.DstEmpty.selector);
        caller.ofMessage("abc", "");
    }

    function test_sha256_that_answers_another_length() public {
        vmMore.mockCall(address(0x02), "", "");
        vm.expectRevert(HashToBls12381.Sha256Failed.selector);
        caller.ofDigest(0, "tag");
    }

    function test_chain_without_the_map_or_the_addition() public {
        vmMore.mockCall(address(0x10), "", "");
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PrecompileMissing.selector, 0x10));
        caller.ofDigest(0, "tag");
        vmMore.clearMockedCalls();
        vmMore.mockCall(address(0x0b), "", "");
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PrecompileMissing.selector, 0x0b));
        caller.ofDigest(0, "tag");
    }

    /// @notice With any gas, the function returns the right point or reverts.
    function testFuzz_too_little_gas_is_no_wrong_answer(uint256 gas) public view {
        bytes memory right = caller.ofDigest(bytes32(uint256(7)), "tag");
        (bool success, bytes memory output) = address(caller).staticcall{gas: bound(gas, 500, 30_000)}(
            abi.encodeCall(HashToBls12381Caller.ofDigest, (bytes32(uint256(7)), "tag"))
        );
        if (success) assertEq(abi.decode(output, (bytes)), right, "the same");
    }

    // ---------------------------------------------------------------------------------------------------------- parts

    function isSignatureTrue(bytes memory signature, bytes memory message, bytes memory publicKey, bytes memory dst)
        internal
        view
        returns (bool)
    {
        return Bls12381.isPairingOne(
            Bls12381.unpackG1(signature),
            Bls12381.negatedGeneratorG2(),
            HashToBls12381.hashToG1(abi.decode(message, (bytes32)), dst),
            Bls12381.unpackG2(publicKey)
        );
    }

    function assertReduces(uint256 high, uint256 low) internal view {
        assertEq(reducePacked(abi.encode(high, low)), BlsHash.reduce(abi.encode(high, low)), "reduced");
    }

    function reducePacked(bytes memory wide) internal pure returns (bytes memory) {
        (uint256 high, uint256 low) = abi.decode(wide, (uint256, uint256));
        (high, low) = HashToBls12381.reduce(high, low);
        return BlsPoints.pack(abi.encode(high, low));
    }

    /// @notice The product a · b, as two words.
    function product(uint256 a, uint256 b) internal pure returns (uint256 high, uint256 low) {
        unchecked {
            low = a * b;
            uint256 modulo = mulmod(a, b, type(uint256).max);
            high = modulo - low - (modulo < low ? 1 : 0);
        }
    }

    function key(uint256 index, string memory name) internal pure returns (string memory) {
        return string.concat(".vectors[", vm.toString(index), "].", name);
    }
}
