// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381, G1Point} from "../src/libraries/Bls12381.sol";
import {HashToBls12381} from "../src/libraries/HashToBls12381.sol";
import {BlsHash} from "./plain/BlsHash.sol";
import {BlsPoints} from "./plain/BlsPoints.sol";
import {vmMore} from "./plain/BlsVectors.sol";
import {Test, vm} from "./Test.sol";

contract EncodeToBls12381Caller {
    function ofDigest(bytes32 digest, bytes memory dst) external view returns (bytes memory) {
        return Bls12381.packG1(HashToBls12381.encodeToG1(digest, dst));
    }

    function ofMessage(bytes memory message, bytes memory dst) external view returns (bytes memory) {
        return Bls12381.packG1(HashToBls12381.encodeToG1(message, dst));
    }

    /// @notice What the hash of a digest costs, with the tag of a settlement in memory.
    function gasOfDigest(bytes32 digest) external view returns (uint256 encoded, uint256 hashed) {
        bytes memory dst = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_NU_POP_";
        uint256 to;
        assembly {
            to := mload(0x40)
            mstore(0x40, add(to, 0x80))
            // The first use of memory costs more, and is not the hash's.
            mstore(add(to, 0x200), 0)
        }
        uint256 start = gasleft();
        HashToBls12381.encodeToG1At(digest, dst, to);
        encoded = start - gasleft();
        start = gasleft();
        HashToBls12381.hashToG1At(digest, dst, to);
        hashed = start - gasleft();
    }
}

/// @notice encode_to_curve: one map, whose points are not uniformly distributed.
contract EncodeToBls12381Test is Test {
    EncodeToBls12381Caller internal caller = new EncodeToBls12381Caller();

    /// @dev RFC 9380, appendix J.9.2, and answers of blst.
    function answers() internal view returns (string memory) {
        return vm.readFile("test/vectors/EncodeToBls12381.json");
    }

    function test_vectors_of_rfc9380() public view {
        string memory json = answers();
        bytes memory dst = bytes(vm.parseJsonString(json, ".dst"));
        uint256 i = 0;
        for (; vm.keyExistsJson(json, entry("vectors", i, "msg")); ++i) {
            bytes memory message = bytes(vm.parseJsonString(json, entry("vectors", i, "msg")));
            assertEq(caller.ofMessage(message, dst), vm.parseJsonBytes(json, entry("vectors", i, "point")), "point");
            bytes memory u = BlsHash.reduce(BlsHash.expandMessage(message, dst, 64));
            assertEq(u, vm.parseJsonBytes(json, entry("vectors", i, "u")), "u");
        }
        assertEq(i, 5, "vectors");
    }

    /// @notice A test of the crate quorate-evm computes the same answers by blst.
    function test_answers_of_blst() public view {
        string memory json = answers();
        bytes memory dst = bytes(vm.parseJsonString(json, ".suite"));
        uint256 i = 0;
        for (; vm.keyExistsJson(json, entry("answers", i, "digest")); ++i) {
            bytes32 digest = vm.parseJsonBytes32(json, entry("answers", i, "digest"));
            assertEq(caller.ofDigest(digest, dst), vm.parseJsonBytes(json, entry("answers", i, "point")), "point");
        }
        assertEq(i, 16, "answers");
    }

    function testFuzz_encoding_agrees_with_the_plain_twin(bytes memory message, bytes32 digest, bytes memory dst)
        public
        view
    {
        if (dst.length == 0) dst = "a";
        dirtyMemory();
        G1Point memory point = HashToBls12381.encodeToG1(message, dst);
        dirtyMemory();
        assertEq(Bls12381.packG1(point), BlsHash.encodeToG1(message, dst), "message");
        dirtyMemory();
        point = HashToBls12381.encodeToG1(digest, dst);
        dirtyMemory();
        assertEq(Bls12381.packG1(point), BlsHash.encodeToG1(abi.encode(digest), dst), "digest");
    }

    /// @notice The point is written where the caller says, and nothing beside it.
    function testFuzz_writes_128_bytes(bytes32 digest) public view {
        dirtyMemory();
        uint256 room;
        assembly {
            room := mload(0x40)
            mstore(0x40, add(room, 0xc0))
        }
        HashToBls12381.encodeToG1At(digest, "tag", room + 0x20);
        uint256 before;
        uint256 behind;
        G1Point memory point;
        assembly {
            before := mload(room)
            mcopy(point, add(room, 0x20), 0x80)
            behind := mload(add(room, 0xa0))
        }
        assertEq(before, type(uint256).max, "before");
        assertEq(behind, type(uint256).max, "behind");
        assertEq(Bls12381.packG1(point), BlsHash.encodeToG1(abi.encode(digest), "tag"), "point");
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
            assertEq(caller.ofMessage(long, "tag"), BlsHash.encodeToG1(long, "tag"), "message");
            assertEq(caller.ofMessage("", long), BlsHash.encodeToG1("", long), "tag");
        }
    }

    /// @notice The encoding is not the first half of the hash: the wanted length is hashed, too.
    function test_trap_theOtherHashUnderTheSameTag() public view {
        bytes memory encoded = caller.ofDigest(bytes32(uint256(7)), "tag");
        assertTrue(keccak256(encoded) != keccak256(BlsHash.hashToG1(abi.encode(7), "tag")), "the hash");
        bytes memory half = BlsPoints.slice(BlsHash.expandMessage(abi.encode(7), "tag", 128), 0, 64);
        assertTrue(keccak256(encoded) != keccak256(BlsPoints.mapToG1(BlsHash.reduce(half))), "its first point");
    }

    /// @notice The point has order r: the pairing precompile, which checks that, takes it.
    function testFuzz_points_are_in_the_subgroup(bytes32 digest) public view {
        G1Point memory point = HashToBls12381.encodeToG1(digest, "tag");
        G1Point memory none;
        assertTrue(!Bls12381.isInfinity(point), "not infinity");
        assertTrue(
            !Bls12381.isPairingOne(point, Bls12381.negatedGeneratorG2(), none, Bls12381.negatedGeneratorG2()), "not one"
        );
    }

    /// @notice One map and three hashes of SHA-256 in place of two and five.
    function test_gas_is_half_of_the_hash() public view {
        (uint256 encoded, uint256 hashed) = caller.gasOfDigest(keccak256("gas"));
        assertTrue(encoded < 7_200, vm.toString(encoded));
        assertTrue(hashed > encoded + 7_000, vm.toString(hashed));
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

    function test_chain_without_the_map() public {
        vmMore.mockCall(address(0x10), "", "");
        vm.expectRevert(abi.encodeWithSelector(Bls12381.PrecompileMissing.selector, 0x10));
        caller.ofDigest(0, "tag");
    }

    /// @notice With any gas, the function returns the right point or reverts.
    function testFuzz_too_little_gas_is_no_wrong_answer(uint256 gas) public view {
        bytes memory right = caller.ofDigest(bytes32(uint256(7)), "tag");
        (bool success, bytes memory output) = address(caller).staticcall{gas: bound(gas, 500, 20_000)}(
            abi.encodeCall(EncodeToBls12381Caller.ofDigest, (bytes32(uint256(7)), "tag"))
        );
        if (success) assertEq(abi.decode(output, (bytes)), right, "the same");
    }

    function entry(string memory list, uint256 index, string memory name) internal pure returns (string memory) {
        return string.concat(".", list, "[", vm.toString(index), "].", name);
    }
}
