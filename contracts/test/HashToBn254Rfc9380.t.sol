// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../src/libraries/Bn254.sol";
import {HashToBn254Rfc9380} from "../src/libraries/HashToBn254Rfc9380.sol";
import {PlainBn254} from "./plain/PlainBn254.sol";
import {PlainHashToBn254Rfc9380} from "./plain/PlainHashToBn254Rfc9380.sol";
import {Vectors} from "./plain/Vectors.sol";
import {Test, vm} from "./Test.sol";

/// @notice Calls the library through external functions, each with its own memory, so that a test can expect a revert
/// and measure gas.
contract HashToBn254Rfc9380Harness is Test {
    function hash(
        bytes memory message,
        bytes memory tag,
        uint256 inverse,
        HashToBn254Rfc9380.MapHint memory hint0,
        HashToBn254Rfc9380.MapHint memory hint1
    ) public view returns (Bn254.G1 memory) {
        dirtyMemory();
        return HashToBn254Rfc9380.hash(message, tag, inverse, hint0, hint1);
    }

    /// @notice Hashes with the hints that the twin makes.
    function hashWithHints(bytes memory message, bytes memory tag) external view returns (Bn254.G1 memory) {
        (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint0, HashToBn254Rfc9380.MapHint memory hint1) =
            PlainHashToBn254Rfc9380.hints(message, tag);
        return hash(message, tag, inverse, hint0, hint1);
    }

    function mapToCurve(uint256 u, uint256 inverse, HashToBn254Rfc9380.MapHint memory hint)
        external
        pure
        returns (Bn254.G1 memory)
    {
        dirtyMemory();
        return HashToBn254Rfc9380.mapToCurve(u, inverse, hint);
    }

    function expandMessage(bytes memory message, bytes memory tag) external pure returns (bytes memory) {
        dirtyMemory();
        (uint256 b1, uint256 b2, uint256 b3) = HashToBn254Rfc9380.expandMessage(message, tag);
        return abi.encode(b1, b2, b3);
    }

    function hashToField(bytes memory message, bytes memory tag) external pure returns (uint256, uint256) {
        dirtyMemory();
        return HashToBn254Rfc9380.hashToField(message, tag);
    }

    function gasOfHash(
        bytes memory message,
        bytes memory tag,
        uint256 inverse,
        HashToBn254Rfc9380.MapHint memory hint0,
        HashToBn254Rfc9380.MapHint memory hint1
    ) external view returns (uint256) {
        uint256 start = gasleft();
        HashToBn254Rfc9380.hash(message, tag, inverse, hint0, hint1);
        return start - gasleft();
    }
}

contract HashToBn254Rfc9380Test is Test {
    uint256 private constant P = Bn254.P;
    bytes private constant TAG = "QUORATE-V01-CS01-with-BN254G1_XMD:KECCAK-256_SVDW_RO_";

    HashToBn254Rfc9380Harness private immutable harness = new HashToBn254Rfc9380Harness();

    function testFuzz_hash(bytes memory message, bytes memory tag) public view {
        if (tag.length > 255) tag = TAG;
        assertEq(
            abi.encode(harness.hashWithHints(message, tag)),
            abi.encode(PlainHashToBn254Rfc9380.hash(message, tag)),
            "point"
        );
    }

    function testFuzz_expand_and_field(bytes memory message, bytes memory tag, uint256 length) public view {
        if (length & 1 == 0) tag = new bytes(bound(length, 0, 255));
        if (tag.length > 255) tag = TAG;
        assertEq(
            harness.expandMessage(message, tag), PlainHashToBn254Rfc9380.expandMessage(message, tag), "expand_message"
        );
        (uint256 u0, uint256 u1) = harness.hashToField(message, tag);
        uint256[2] memory u = PlainHashToBn254Rfc9380.hashToField(message, tag);
        assertTrue(u0 == u[0] && u1 == u[1], "hash_to_field");
    }

    function test_tag_lengths_at_the_edge() public {
        for (uint256 length = 254; length <= 255; ++length) {
            bytes memory tag = new bytes(length);
            assertEq(
                harness.expandMessage("abc", tag), PlainHashToBn254Rfc9380.expandMessage("abc", tag), "expand_message"
            );
        }
        vm.expectRevert(HashToBn254Rfc9380.TagTooLong.selector);
        harness.expandMessage("abc", new bytes(256));
    }

    function testFuzz_map(uint256 u) public view {
        u %= P;
        (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint) = PlainHashToBn254Rfc9380.mapHint(u);
        Bn254.G1 memory point = harness.mapToCurve(u, inverse, hint);
        assertEq(abi.encode(point), abi.encode(PlainHashToBn254Rfc9380.mapToCurve(u)), "point");
        assertTrue(Bn254.isOnCurve(point), "on the curve");
    }

    function test_map_of_zero_one_and_where_d_vanishes() public view {
        uint256 half = (P + 1) / 2;
        uint256[6] memory us = [uint256(0), 1, P - 1, half, P - half, 2];
        for (uint256 i = 0; i < us.length; ++i) {
            (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint) = PlainHashToBn254Rfc9380.mapHint(us[i]);
            (uint256 d,) = PlainHashToBn254Rfc9380.candidates(us[i]);
            assertEq(HashToBn254Rfc9380.denominator(us[i]), d == 0 ? 1 : d, "denominator");
            assertTrue((d == 0) == (i == 3 || i == 4), "d = 0 for u = 1/2, -1/2");
            assertEq(
                abi.encode(harness.mapToCurve(us[i], inverse, hint)),
                abi.encode(PlainHashToBn254Rfc9380.mapToCurve(us[i])),
                "point"
            );
        }
    }

    /// @notice Tries all three candidates with the best forged hints. Only the candidate of the map passes, as the
    /// library claims.
    function testFuzz_no_other_candidate_passes(uint256 u, uint256 word) public view {
        u %= P;
        if (word & 7 == 0) u = word & 8 == 0 ? (P + 1) / 2 : (P - 1) / 2;
        (uint256 inverse,) = PlainHashToBn254Rfc9380.mapHint(u);
        (, uint256[3] memory x) = PlainHashToBn254Rfc9380.candidates(u);
        Bn254.G1 memory expected = PlainHashToBn254Rfc9380.mapToCurve(u);
        uint256 passed;
        for (uint256 c = 0; c < 3; ++c) {
            uint256 root = PlainBn254.squareRoot(PlainBn254.curve(x[c]));
            if (root % 2 != u % 2) root = P - root;
            uint256 g1 = PlainBn254.curve(x[0]);
            uint256[4] memory witnesses = [PlainBn254.squareRoot(P - g1), PlainBn254.squareRoot(g1), 0, word];
            for (uint256 w = 0; w < 4; ++w) {
                HashToBn254Rfc9380.MapHint memory hint = HashToBn254Rfc9380.MapHint(c + 1, root, witnesses[w]);
                try harness.mapToCurve(u, inverse, hint) returns (Bn254.G1 memory point) {
                    ++passed;
                    assertEq(abi.encode(point), abi.encode(expected), "the map's point alone");
                } catch {}
            }
        }
        assertTrue(passed >= 1, "one passes");
    }

    /// @notice Checks step 6 of the proof: g(x1)·g(x2)·g(x3) = (-h/4)·(h·g(x3))², h·(x3 - 1) = -4, and x3 - 1 is a
    /// square.
    function testFuzz_identity_of_the_proof(uint256 u) public pure {
        u %= P;
        (uint256 d, uint256[3] memory x) = PlainHashToBn254Rfc9380.candidates(u);
        if (d == 0) return;
        uint256 h = addmod(addmod(mulmod(x[0], x[0], P), mulmod(x[0], x[1], P), P), mulmod(x[1], x[1], P), P);
        assertEq(mulmod(h, PlainBn254.minus(x[2], 1), P), P - 4, "h(x3 - 1) = -4");
        assertTrue(PlainBn254.isSquare(PlainBn254.minus(x[2], 1)), "x3 - 1 is a square");
        uint256 g3 = PlainBn254.curve(x[2]);
        uint256 product = mulmod(mulmod(PlainBn254.curve(x[0]), PlainBn254.curve(x[1]), P), g3, P);
        uint256 right = mulmod(mulmod(h, g3, P), mulmod(h, g3, P), P);
        right = mulmod(right, PlainBn254.minus(0, mulmod(h, PlainBn254.inverse(4), P)), P);
        assertEq(product, right, "product");
    }

    function test_constants_of_the_proof() public pure {
        (uint256 c2, uint256 c3, uint256 c4) = PlainHashToBn254Rfc9380.constants();
        assertEq(mulmod(c3, c3, P), P - 12, "c3");
        uint256 twoThirds = mulmod(2, PlainBn254.inverse(3), P);
        assertEq(mulmod(mulmod(twoThirds, c3, P), mulmod(twoThirds, c3, P), P), c4, "c4 is a square");
        assertTrue(PlainBn254.isSquare(PlainBn254.curve(c2)), "g(-1/2) is a square: the candidate for d = 0");
        assertTrue(!PlainBn254.isSquare(P - 1), "-1 is none");
        // No x has x³ = -3, so the curve has no point with y = 0. (P - 1)/3 is an integer, so this power tells cubes
        // from others.
        assertTrue(PlainBn254.power(P - 3, (P - 1) / 3) != 1, "-3 is no cube");
    }

    function testFuzz_wrong_hints_are_refused(uint256 u, uint256 word) public {
        u %= P;
        (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint) = PlainHashToBn254Rfc9380.mapHint(u);
        word = bound(word, 1, P - 1);
        vm.expectRevert(HashToBn254Rfc9380.BadInverse.selector);
        harness.mapToCurve(u, addmod(inverse, word, P), hint);
        uint256 candidate = hint.candidate;
        hint.candidate = word % 2 == 0 ? 0 : 4;
        // Without a true witness that candidate 1 is wrong, the witness is refused first.
        vm.expectRevert(
            candidate == 1 ? HashToBn254Rfc9380.BadNonSquare.selector : HashToBn254Rfc9380.UnknownCandidate.selector
        );
        harness.mapToCurve(u, inverse, hint);
        hint.candidate = candidate;

        uint256 root = hint.root;
        hint.root = P - root;
        vm.expectRevert(HashToBn254Rfc9380.WrongSign.selector);
        harness.mapToCurve(u, inverse, hint);
        hint.root = root + P;
        vm.expectRevert(HashToBn254Rfc9380.RootNotInField.selector);
        harness.mapToCurve(u, inverse, hint);
        // P - root + P has the parity and the remainder of a root.
        hint.root = 2 * P - root;
        vm.expectRevert(HashToBn254Rfc9380.RootNotInField.selector);
        harness.mapToCurve(u, inverse, hint);
        hint.root = (root ^ 2) % P;
        if (hint.root % 2 == root % 2) {
            vm.expectRevert(HashToBn254Rfc9380.BadRoot.selector);
            harness.mapToCurve(u, inverse, hint);
        }
        hint.root = root;
        if (hint.candidate != 1) {
            hint.nonSquare = addmod(hint.nonSquare, word, P);
            if (mulmod(2, hint.nonSquare, P) != word) {
                vm.expectRevert(HashToBn254Rfc9380.BadNonSquare.selector);
                harness.mapToCurve(u, inverse, hint);
            }
        }
    }

    function test_wrong_inverse_of_the_product_is_refused() public {
        (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint0, HashToBn254Rfc9380.MapHint memory hint1) =
            PlainHashToBn254Rfc9380.hints("message", TAG);
        uint256[4] memory wrong = [uint256(0), 1, P - inverse, inverse ^ 1];
        for (uint256 i = 0; i < 4; ++i) {
            vm.expectRevert(HashToBn254Rfc9380.BadInverse.selector);
            harness.hash("message", TAG, wrong[i], hint0, hint1);
        }
        // The hints of the two elements are swapped.
        vm.expectRevert();
        harness.hash("message", TAG, inverse, hint1, hint0);
        vm.expectRevert();
        harness.hash("another", TAG, inverse, hint0, hint1);
    }

    function test_vectors_of_the_map() public view {
        string memory json = Vectors.read("02_bn254_h2c/svdw_map_to_point_a.json");
        uint256[4] memory taken;
        // The file is parsed as one array, in which forge takes decimal strings for numbers. 600 look-ups in the whole
        // text would be slow.
        uint256[] memory us = abi.decode(vm.parseJson(json, ".cases[*].u"), (uint256[]));
        uint256[] memory xs = abi.decode(vm.parseJson(json, ".cases[*].x"), (uint256[]));
        uint256[] memory ys = abi.decode(vm.parseJson(json, ".cases[*].y"), (uint256[]));
        assertTrue(us.length >= 600 && xs.length == us.length && ys.length == us.length, "cases");
        for (uint256 i = 0; i < us.length; ++i) {
            uint256 u = us[i];
            (uint256 inverse, HashToBn254Rfc9380.MapHint memory hint) = PlainHashToBn254Rfc9380.mapHint(u);
            Bn254.G1 memory point = harness.mapToCurve(u, inverse, hint);
            assertEq(point.x, xs[i], "x");
            assertEq(point.y, ys[i], "y");
            ++taken[hint.candidate];
        }
        assertTrue(taken[1] > 0 && taken[2] > 0 && taken[3] > 0, "all candidates are met");
    }

    function test_vectors_of_hash_to_field() public view {
        string memory json = Vectors.read("02_bn254_h2c/hash_to_field_keccak_a.json");
        bytes memory tag = bytes(vm.parseJsonString(json, ".dst"));
        uint256 i;
        for (; vm.keyExistsJson(json, entry(".cases", i)); ++i) {
            (uint256 u0, uint256 u1) =
                harness.hashToField(Vectors.hexBytes(json, string.concat(entry(".cases", i), ".msg")), tag);
            assertEq(u0, Vectors.word(Vectors.hexBytes(json, string.concat(entry(".cases", i), ".u0")), 0), "u0");
            assertEq(u1, Vectors.word(Vectors.hexBytes(json, string.concat(entry(".cases", i), ".u1")), 0), "u1");
        }
        assertTrue(i >= 60, "cases");
    }

    function test_vectors_of_expand_message() public view {
        string memory json = Vectors.read("02_bn254_h2c/expand_message_keccak.json");
        bytes memory out = harness.expandMessage(
            Vectors.hexBytes(json, ".cases[0].msg"), bytes(vm.parseJsonString(json, ".cases[0].dst"))
        );
        assertEq(out, Vectors.hexBytes(json, ".cases[0].out"), "out");
    }

    function test_vectors_of_hash_to_curve() public view {
        string memory json = Vectors.read("02_bn254_h2c/hash_to_curve_keccak.json");
        uint256 i;
        for (; vm.keyExistsJson(json, entry(".cases", i)); ++i) {
            Bn254.G1 memory point = harness.hashWithHints(
                Vectors.hexBytes(json, string.concat(entry(".cases", i), ".msg")),
                bytes(vm.parseJsonString(json, string.concat(entry(".cases", i), ".dst")))
            );
            assertEq(abi.encode(point), Vectors.hexBytes(json, string.concat(entry(".cases", i), ".point")), "point");
        }
        assertTrue(i >= 4, "cases");
    }

    /// @notice Beacons of drand's networks on BN254 are real signatures over this hash.
    function test_vectors_drand_beacons() public view {
        assertTrue(beacons("06_drand/bn254_devnet-noble-bn254-drand.json"), "devnet");
        assertTrue(beacons("06_drand/bn254_devnet-kevincharm-bls-bn254.json"), "devnet whose tag says SSWU");
    }

    function beacons(string memory path) private view returns (bool) {
        string memory json = Vectors.read(path);
        bytes memory key = Vectors.hexBytes(json, ".chain_info.public_key");
        Bn254.G2 memory publicKey =
            Bn254.G2(Vectors.word(key, 0), Vectors.word(key, 32), Vectors.word(key, 64), Vectors.word(key, 96));
        uint256 i;
        for (; vm.keyExistsJson(json, entry(".beacons", i)); ++i) {
            bytes memory message = Vectors.hexBytes(json, string.concat(entry(".beacons", i), ".message"));
            bytes memory tag = bytes(vm.parseJsonString(json, string.concat(entry(".beacons", i), ".dst")));
            bytes memory s = Vectors.hexBytes(json, string.concat(entry(".beacons", i), ".signature"));
            Bn254.G1 memory signature = Bn254.G1(Vectors.word(s, 0), Vectors.word(s, 32));
            assertTrue(Bn254.isSignature(harness.hashWithHints(message, tag), publicKey, signature), "beacon");
            message[0] ^= 0x01;
            assertTrue(!Bn254.isSignature(harness.hashWithHints(message, tag), publicKey, signature), "another round");
        }
        return i > 0;
    }

    function entry(string memory list, uint256 i) private pure returns (string memory) {
        return string.concat(list, "[", vm.toString(i), "]");
    }

    /// @notice The most expensive case: a message of 32 bytes for which both elements take candidate 3.
    function test_gas_snapshot_and_goal() public {
        bytes memory message;
        uint256 inverse;
        HashToBn254Rfc9380.MapHint memory hint0;
        HashToBn254Rfc9380.MapHint memory hint1;
        for (uint256 i = 0; hint0.candidate != 3 || hint1.candidate != 3; ++i) {
            message = abi.encode(i);
            (inverse, hint0, hint1) = PlainHashToBn254Rfc9380.hints(message, TAG);
        }
        uint256 used = harness.gasOfHash(message, TAG, inverse, hint0, hint1);
        vm.snapshotValue("Bn254", "hash, RFC 9380, hinted", used);
        assertTrue(used <= 9_000, "9,000 a hinted hash of RFC 9380");
    }
}
