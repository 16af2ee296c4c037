// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254Fp} from "../src/libraries/Bn254Fp.sol";
import {BN254_2P, BN254_4P, BN254_P, BN254_R} from "../src/libraries/Fields.sol";
import {PlainBn254} from "./plain/PlainBn254.sol";
import {PlainBn254G2} from "./plain/PlainBn254G2.sol";
import {Meter} from "./mocks/Meter.sol";
import {Vectors} from "./plain/Vectors.sol";
import {Test, vm} from "./Test.sol";

/// @notice Calls the library through external functions, each with its own memory, so that a test can expect a revert
/// and measure gas.
contract Bn254Harness is Test {
    function add(Bn254.G1 memory a, Bn254.G1 memory b) external view returns (Bn254.G1 memory) {
        dirtyMemory();
        return Bn254.add(a, b);
    }

    function mul(Bn254.G1 memory a, uint256 scalar) external view returns (Bn254.G1 memory) {
        dirtyMemory();
        return Bn254.mul(a, scalar);
    }

    function negate(Bn254.G1 memory a) external pure returns (Bn254.G1 memory) {
        dirtyMemory();
        return Bn254.negate(a);
    }

    function isPairingOne(Bn254.G1 memory a, Bn254.G2 memory b, Bn254.G1 memory c, Bn254.G2 memory d)
        external
        view
        returns (bool)
    {
        dirtyMemory();
        return Bn254.isPairingOne(a, b, c, d);
    }

    function isSignature(Bn254.G1 memory messageHash, Bn254.G2 memory key, Bn254.G1 memory signature)
        external
        view
        returns (bool)
    {
        dirtyMemory();
        return Bn254.isSignature(messageHash, key, signature);
    }

    function isDualKeySignature(
        Bn254.G1 memory messageHash,
        Bn254.G1 memory key1,
        Bn254.G2 memory key2,
        Bn254.G1 memory signature
    ) external view returns (bool) {
        dirtyMemory();
        return Bn254.isDualKeySignature(messageHash, key1, key2, signature);
    }

    function dualKeyChallenge(
        Bn254.G1 memory messageHash,
        Bn254.G1 memory key1,
        Bn254.G2 memory key2,
        Bn254.G1 memory signature
    ) external pure returns (uint256) {
        dirtyMemory();
        return Bn254.dualKeyChallenge(messageHash, key1, key2, signature);
    }

    function inverse(uint256 a) external view returns (uint256) {
        dirtyMemory();
        return Bn254Fp.inverse(a);
    }

    function squareRoot(uint256 a) external view returns (uint256, bool) {
        dirtyMemory();
        return Bn254Fp.squareRoot(a);
    }

    function gasOfAdd(Bn254.G1 memory a, Bn254.G1 memory b) external view returns (uint256) {
        uint256 start = gasleft();
        Bn254.add(a, b);
        return start - gasleft();
    }

    function gasOfMul(Bn254.G1 memory a, uint256 scalar) external view returns (uint256) {
        uint256 start = gasleft();
        Bn254.mul(a, scalar);
        return start - gasleft();
    }

    function gasOfPairing(Bn254.G1 memory a, Bn254.G2 memory b, Bn254.G1 memory c, Bn254.G2 memory d)
        external
        view
        returns (uint256)
    {
        uint256 start = gasleft();
        Bn254.isPairingOne(a, b, c, d);
        return start - gasleft();
    }

    function gasOfSignature(Bn254.G1 memory messageHash, Bn254.G2 memory key, Bn254.G1 memory signature)
        external
        view
        returns (uint256)
    {
        uint256 start = gasleft();
        require(Bn254.isSignature(messageHash, key, signature), "true");
        return start - gasleft();
    }

    function gasOfDualKey(
        Bn254.G1 memory messageHash,
        Bn254.G1 memory key1,
        Bn254.G2 memory key2,
        Bn254.G1 memory signature
    ) external view returns (uint256) {
        uint256 start = gasleft();
        require(Bn254.isDualKeySignature(messageHash, key1, key2, signature), "true");
        return start - gasleft();
    }
}

interface Mocks {
    function mockCall(address callee, bytes calldata data, bytes calldata returnData) external;
    function mockCallRevert(address callee, bytes calldata data, bytes calldata revertData) external;
    function clearMockedCalls() external;
}

contract Bn254Test is Test {
    /// @dev The gas of calls that are refused: a precompile that refuses burns all of it.
    uint256 private constant LIMIT = 1_000_000;
    uint256 private constant P = Bn254.P;
    uint256 private constant R = Bn254.R;

    Bn254Harness private immutable harness = new Bn254Harness();
    Meter private immutable meter = new Meter();

    function key1(uint256 scalar) private pure returns (Bn254.G1 memory) {
        return PlainBn254.mul(Bn254.generator(), scalar);
    }

    function key2(uint256 scalar) private pure returns (Bn254.G2 memory) {
        return PlainBn254G2.mul(PlainBn254G2.generator(), scalar);
    }

    function assertEq(Bn254.G1 memory left, Bn254.G1 memory right, string memory what) private pure {
        assertEq(abi.encode(left), abi.encode(right), what);
    }

    function test_constants() public pure {
        assertEq(P, PlainBn254.P, "P");
        assertEq(R, PlainBn254.R, "R");
        assertTrue(Bn254.isOnCurve(Bn254.generator()), "G1");
        assertTrue(PlainBn254.isZero(key1(R)), "the order of G1");
        assertTrue(PlainBn254G2.isInfinity(key2(R)), "the order of G2");
        assertEq(BN254_P, PlainBn254.P, "p");
        assertEq(BN254_R, PlainBn254.R, "r");
        assertEq(BN254_2P, 2 * PlainBn254.P, "2p");
        assertEq(BN254_4P, 4 * PlainBn254.P, "4p");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_add_and_mul(uint256 a, uint256 b) public view {
        if (a & 1 == 0) (a, b) = (bound(a, 0, 7), bound(b, 0, 7));
        Bn254.G1 memory left = key1(a % R);
        Bn254.G1 memory right = key1(b % R);
        assertEq(harness.add(left, right), PlainBn254.add(left, right), "a + b");
        assertEq(harness.mul(left, b), PlainBn254.mul(left, b), "b times a");
        assertEq(harness.add(left, harness.negate(left)), Bn254.G1(0, 0), "a - a");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_is_on_curve(uint256 x, uint256 y, uint256 scalar) public pure {
        Bn254.G1 memory point = key1(bound(scalar, 1, type(uint32).max));
        assertTrue(Bn254.isOnCurve(point), "a multiple of the generator");
        assertTrue(!Bn254.isOnCurve(Bn254.G1(point.x + P, point.y)), "x >= P");
        assertTrue(!Bn254.isOnCurve(Bn254.G1(point.x, point.y + P)), "y >= P");
        assertTrue(!Bn254.isOnCurve(Bn254.G1(point.x, addmod(point.y, 1, P))), "another y");
        bool expected = x < P && y < P && mulmod(y, y, P) == PlainBn254.curve(x);
        assertTrue(Bn254.isOnCurve(Bn254.G1(x, y)) == expected, "any words");
        assertTrue(!Bn254.isOnCurve(Bn254.G1(0, 0)), "infinity is not a point of the curve");
    }

    function testFuzz_inverse_and_root(uint256 a) public view {
        assertEq(harness.inverse(a), PlainBn254.inverse(a), "inverse");
        (uint256 root, bool square) = harness.squareRoot(a);
        assertTrue(square == PlainBn254.isSquare(a), "square");
        assertEq(mulmod(root, root, P), square ? a % P : P - a % P, "root");
    }

    function test_inverse_and_root_of_zero_and_multiples_of_p() public view {
        assertEq(harness.inverse(0), 0, "inv0");
        assertEq(harness.inverse(P), 0, "inv0 of P");
        (uint256 root, bool square) = harness.squareRoot(2 * P);
        assertTrue(square && root == 0, "0 is a square");
    }

    function test_non_canonical_or_foreign_points_are_refused() public {
        Bn254.G1[4] memory bad = [Bn254.G1(P + 1, 2), Bn254.G1(1, P + 2), Bn254.G1(1, 3), Bn254.G1(P, P)];
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        for (uint256 i = 0; i < 4; ++i) {
            vm.expectRevert(Bn254.AddFailed.selector);
            harness.add{gas: LIMIT}(bad[i], Bn254.generator());
            vm.expectRevert(Bn254.AddFailed.selector);
            harness.add{gas: LIMIT}(Bn254.generator(), bad[i]);
            vm.expectRevert(Bn254.MulFailed.selector);
            harness.mul{gas: LIMIT}(bad[i], 5);
            vm.expectRevert(Bn254.PairingFailed.selector);
            harness.isPairingOne{gas: LIMIT}(bad[i], g2, Bn254.generator(), g2);
            vm.expectRevert(Bn254.PairingFailed.selector);
            harness.isPairingOne{gas: LIMIT}(Bn254.generator(), g2, bad[i], g2);
        }
        vm.expectRevert(Bn254.NonCanonicalY.selector);
        harness.negate(Bn254.G1(1, P));
        vm.expectRevert(Bn254.NonCanonicalY.selector);
        harness.negate(Bn254.G1(1, type(uint256).max));
    }

    /// @notice Points of the twist that are not in the subgroup. They exist, because the order of the twist is R·(2P -
    /// R).
    function test_g2_points_off_the_subgroup_and_non_canonical_are_refused() public {
        Bn254.G1 memory g1 = Bn254.generator();
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        Bn254.G2[3] memory bad = [
            Bn254.G2(g2.xIm + P, g2.xRe, g2.yIm, g2.yRe),
            Bn254.G2(g2.xIm, g2.xRe, g2.yIm, addmod(g2.yRe, 1, P)),
            outsideSubgroup()
        ];
        assertTrue(PlainBn254G2.isOnTwist(bad[2]), "on the twist");
        for (uint256 i = 0; i < bad.length; ++i) {
            vm.expectRevert(Bn254.PairingFailed.selector);
            harness.isPairingOne{gas: LIMIT}(g1, bad[i], g1, g2);
            vm.expectRevert(Bn254.PairingFailed.selector);
            harness.isPairingOne{gas: LIMIT}(g1, g2, g1, bad[i]);
        }
        assertTrue(!Bn254.isCanonical(bad[0]) && Bn254.isCanonical(bad[1]), "canonical");
    }

    /// @notice A point of the twist with the smallest x = k that has one, by the complex method. It is in the subgroup
    /// with probability 1/(2P - R) only.
    function outsideSubgroup() private pure returns (Bn254.G2 memory point) {
        PlainBn254G2.Fp2 memory b =
            PlainBn254G2.times(PlainBn254G2.Fp2(0, 3), PlainBn254G2.inverse(PlainBn254G2.Fp2(1, 9)));
        for (uint256 k = 1;; ++k) {
            PlainBn254G2.Fp2 memory right = PlainBn254G2.plus(PlainBn254G2.Fp2(0, k * k * k), b);
            // We look for c + di with (c + di)² = right. So c² = (re ± √(re² + im²))/2 and d = im/(2c).
            uint256 norm = PlainBn254.plus(mulmod(right.re, right.re, P), mulmod(right.im, right.im, P));
            if (!PlainBn254.isSquare(norm)) continue;
            uint256 half = PlainBn254.inverse(2);
            uint256 square = mulmod(PlainBn254.plus(right.re, PlainBn254.squareRoot(norm)), half, P);
            if (!PlainBn254.isSquare(square)) square = PlainBn254.minus(right.re, square);
            uint256 c = PlainBn254.squareRoot(square);
            uint256 d = mulmod(right.im, mulmod(half, PlainBn254.inverse(c), P), P);
            return Bn254.G2(0, k, d, c);
        }
    }

    /// @notice A chain without the precompile answers with success and no data. Another chain may answer with too few
    /// bytes, or fail with the right number of bytes.
    function test_absent_precompiles_are_refused() public {
        Mocks mocks = Mocks(address(vm));
        for (uint160 i = 5; i <= 8; ++i) {
            mocks.mockCall(address(i), "", "");
            expectFailure(i);
            mocks.mockCall(address(i), "", new bytes(31));
            expectFailure(i);
            mocks.clearMockedCalls();
            mocks.mockCallRevert(address(i), "", new bytes(i == 6 || i == 7 ? 64 : 32));
            expectFailure(i);
            mocks.clearMockedCalls();
        }
    }

    function expectFailure(uint256 precompile) private {
        Bn254.G1 memory g1 = Bn254.generator();
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        if (precompile == 5) {
            vm.expectRevert(Bn254Fp.ModexpFailed.selector);
            harness.inverse(2);
        } else if (precompile == 6) {
            vm.expectRevert(Bn254.AddFailed.selector);
            harness.add(g1, g1);
        } else if (precompile == 7) {
            vm.expectRevert(Bn254.MulFailed.selector);
            harness.mul(g1, 2);
        } else {
            vm.expectRevert(Bn254.PairingFailed.selector);
            harness.isPairingOne(g1, g2, g1, g2);
        }
    }

    /// @notice The answer of the pairing is compared with 1, and not with zero.
    function test_a_pairing_answer_other_than_one_is_false() public {
        Mocks(address(vm)).mockCall(address(8), "", abi.encode(uint256(2)));
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        assertTrue(!harness.isPairingOne(Bn254.generator(), g2, Bn254.generator(), g2), "2 is not 1");
    }

    /// @notice A malformed point costs nearly all the gas of the call, whatever the precompile's price is, and no more.
    /// So a caller who limits the gas of the call keeps the rest.
    function test_refusing_precompile_burns_what_the_call_was_given() public {
        Bn254.G1 memory g1 = Bn254.generator();
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        Bn254.G1 memory bad = Bn254.G1(1, 3);
        uint256[3] memory limits = [uint256(300_000), 1_000_000, 16_000_000];
        for (uint256 i = 0; i < limits.length; ++i) {
            uint256 limit = limits[i];
            bytes4 why = Bn254.PairingFailed.selector;
            uint256 burnt = refuse(abi.encodeCall(harness.isPairingOne, (bad, g2, g1, g2)), limit, why);
            vm.snapshotValue("Bn254", string.concat("malformed point, call of ", vm.toString(limit)), burnt);
            refuse(abi.encodeCall(harness.isSignature, (g1, g2, bad)), limit, why);
            refuse(abi.encodeCall(harness.isDualKeySignature, (g1, bad, g2, g1)), limit, Bn254.MulFailed.selector);
            refuse(abi.encodeCall(harness.isDualKeySignature, (g1, g1, g2, bad)), limit, Bn254.AddFailed.selector);
            refuse(abi.encodeCall(harness.mul, (bad, 5)), limit, Bn254.MulFailed.selector);
            refuse(abi.encodeCall(harness.add, (bad, g1)), limit, Bn254.AddFailed.selector);
        }
    }

    /// @notice The call reverts and says why. It burns at least 62/64 of its gas, and no more than all of it.
    function refuse(bytes memory data, uint256 limit, bytes4 why) private returns (uint256 burnt) {
        bool ok;
        bytes memory answer;
        (ok, answer, burnt) = meter.measure(address(harness), data, limit);
        assertTrue(!ok, "refused");
        assertEq(answer, abi.encodeWithSelector(why), "why");
        // A call of another contract costs 2,600, and Meter some more.
        assertTrue(burnt > limit / 64 * 62 && burnt < limit + 5_000, "nearly all of the limit");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_pairing(uint256 a, uint256 b) public view {
        (a, b) = (bound(a, 0, type(uint32).max), bound(b, 0, type(uint16).max));
        // e(a·G1, b·G2) · e(-ab·G1, G2) = 1, and with ab + 1 it is not 1.
        Bn254.G1 memory left = key1(a);
        Bn254.G2 memory right = key2(b);
        Bn254.G1 memory product = key1(a * b);
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        assertTrue(harness.isPairingOne(left, right, Bn254.negate(product), g2), "bilinear");
        product = PlainBn254.add(product, Bn254.generator());
        assertTrue(!harness.isPairingOne(left, right, Bn254.negate(product), g2), "not one");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_signature(uint256 secret, uint256 h, uint256 other) public view {
        (secret, h) = (bound(secret, 1, type(uint16).max), bound(h, 1, type(uint16).max));
        Bn254.G1 memory hash = key1(h);
        Bn254.G1 memory signature = PlainBn254.mul(hash, secret);
        assertTrue(harness.isSignature(hash, key2(secret), signature), "true");
        assertTrue(harness.isDualKeySignature(hash, key1(secret), key2(secret), signature), "true, dual");
        other = bound(other, 1, type(uint16).max);
        if (other == secret) return;
        assertTrue(!harness.isSignature(hash, key2(other), signature), "another key");
        assertTrue(!harness.isSignature(key1(addmod(h, 1, R)), key2(secret), signature), "another message");
        assertTrue(!harness.isSignature(hash, key2(secret), Bn254.negate(signature)), "the opposite");
        assertTrue(!harness.isDualKeySignature(hash, key1(other), key2(secret), signature), "key1 alone is another");
        assertTrue(!harness.isDualKeySignature(hash, key1(secret), key2(other), signature), "key2 alone is another");
        signature = PlainBn254.mul(hash, other);
        // The signature is true under key2, which the aggregator made: e(s, G2) = e(H, key2).
        assertTrue(!harness.isDualKeySignature(hash, key1(secret), key2(other), signature), "key2 of the forger's own");
    }

    function testFuzz_challenge(Bn254.G1 memory h, Bn254.G1 memory a, Bn254.G2 memory b, Bn254.G1 memory s)
        public
        view
    {
        assertEq(harness.dualKeyChallenge(h, a, b, s), PlainBn254.challenge(h, a, b, s), "transcript");
    }

    function test_challenge_depends_on_each_word() public view {
        uint256[10] memory words = [uint256(1), 2, 3, 4, 5, 6, 7, 8, 9, 10];
        uint256 first = challengeOf(words);
        for (uint256 i = 0; i < 10; ++i) {
            words[i] += 100;
            assertTrue(challengeOf(words) != first, "a word");
            words[i] -= 100;
        }
    }

    function challengeOf(uint256[10] memory w) private view returns (uint256) {
        return harness.dualKeyChallenge(
            Bn254.G1(w[0], w[1]), Bn254.G1(w[2], w[3]), Bn254.G2(w[4], w[5], w[6], w[7]), Bn254.G1(w[8], w[9])
        );
    }

    /// @notice The identity is the key of an empty quorum. Under this key the identity is a signature of every message.
    function test_identity_keys_are_refused() public {
        Bn254.G1 memory none1;
        Bn254.G2 memory none2;
        Bn254.G1 memory hash = key1(77);
        assertTrue(
            harness.isPairingOne(none1, Bn254.negatedG2Generator(), hash, none2), "the pairing alone would accept"
        );
        vm.expectRevert(Bn254.IdentityKey.selector);
        harness.isSignature(hash, none2, none1);
        vm.expectRevert(Bn254.IdentityKey.selector);
        harness.isDualKeySignature(hash, none1, none2, none1);
        vm.expectRevert(Bn254.IdentityKey.selector);
        harness.isDualKeySignature(hash, key1(3), none2, none1);
        vm.expectRevert(Bn254.IdentityKey.selector);
        harness.isDualKeySignature(hash, none1, key2(3), none1);
    }

    function test_dual_key_refuses_non_canonical_words() public {
        Bn254.G1 memory hash = key1(77);
        Bn254.G1 memory s = PlainBn254.mul(hash, 5);
        Bn254.G2 memory k = key2(5);
        vm.expectRevert(Bn254.MulFailed.selector);
        harness.isDualKeySignature{gas: LIMIT}(hash, Bn254.G1(key1(5).x + P, key1(5).y), k, s);
        vm.expectRevert(Bn254.AddFailed.selector);
        harness.isDualKeySignature{gas: LIMIT}(hash, key1(5), k, Bn254.G1(s.x, s.y + P));
        vm.expectRevert(Bn254.PairingFailed.selector);
        harness.isDualKeySignature{gas: LIMIT}(hash, key1(5), Bn254.G2(k.xIm, k.xRe, k.yIm + P, k.yRe), s);
        vm.expectRevert(Bn254.AddFailed.selector);
        harness.isDualKeySignature{gas: LIMIT}(Bn254.G1(hash.x + P, hash.y), key1(5), k, s);
    }

    function test_vectors_pairing_of_geth() public view {
        string memory json = Vectors.read("04_bn254_precompiles_geth/bn256Pairing.json");
        uint256 two;
        for (uint256 i = 0; vm.keyExistsJson(json, entry("", i)); ++i) {
            bytes memory input = Vectors.hexBytes(json, string.concat(entry("", i), ".Input"));
            bool expected = Vectors.word(Vectors.hexBytes(json, string.concat(entry("", i), ".Expected")), 0) == 1;
            if (input.length == 384) {
                ++two;
                assertTrue(
                    harness.isPairingOne(g1At(input, 0), g2At(input, 64), g1At(input, 192), g2At(input, 256))
                        == expected,
                    "two pairs"
                );
            }
            Bn254.G1[] memory a = new Bn254.G1[](input.length / 192);
            Bn254.G2[] memory b = new Bn254.G2[](input.length / 192);
            for (uint256 k = 0; k < a.length; ++k) {
                (a[k], b[k]) = (g1At(input, 192 * k), g2At(input, 192 * k + 64));
            }
            assertTrue(PlainBn254.pairing(a, b) == expected, "the twin");
        }
        assertTrue(two >= 8, "cases of two pairs");
    }

    function test_vectors_multiplication_of_geth() public view {
        string memory json = Vectors.read("04_bn254_precompiles_geth/bn256ScalarMul.json");
        uint256 count;
        for (; vm.keyExistsJson(json, entry("", count)); ++count) {
            bytes memory input = Vectors.hexBytes(json, string.concat(entry("", count), ".Input"));
            bytes memory expected = Vectors.hexBytes(json, string.concat(entry("", count), ".Expected"));
            // The precompile fills a short input with zeros.
            input = abi.encodePacked(input, new bytes(96));
            assertEq(abi.encode(harness.mul(g1At(input, 0), Vectors.word(input, 64))), expected, "product");
        }
        assertTrue(count >= 16, "cases");
    }

    function test_vectors_of_seda() public view {
        string memory json = Vectors.read("04_bn254_noble_seda/add_mul.json");
        uint256 count;
        for (; vm.keyExistsJson(json, entry(".cases.add", count)); ++count) {
            string memory item = entry(".cases.add", count);
            Bn254.G1 memory sum = harness.add(
                Bn254.G1(word(json, item, ".x1"), word(json, item, ".y1")),
                Bn254.G1(word(json, item, ".x2"), word(json, item, ".y2"))
            );
            assertEq(abi.encode(sum), Vectors.hexBytes(json, string.concat(item, ".result")), "sum");
        }
        assertTrue(count > 0, "additions");
        for (count = 0; vm.keyExistsJson(json, entry(".cases.mul", count)); ++count) {
            string memory item = entry(".cases.mul", count);
            Bn254.G1 memory product =
                harness.mul(Bn254.G1(word(json, item, ".x"), word(json, item, ".y")), word(json, item, ".scalar"));
            assertEq(abi.encode(product), Vectors.hexBytes(json, string.concat(item, ".result")), "product");
        }
        assertTrue(count > 0, "multiplications");
    }

    function word(string memory json, string memory item, string memory name) private pure returns (uint256) {
        return Vectors.word(Vectors.hexBytes(json, string.concat(item, name)), 0);
    }

    function entry(string memory list, uint256 i) private pure returns (string memory) {
        return string.concat(bytes(list).length == 0 ? "." : list, "[", vm.toString(i), "]");
    }

    function g1At(bytes memory data, uint256 offset) private pure returns (Bn254.G1 memory) {
        return Bn254.G1(Vectors.word(data, offset), Vectors.word(data, offset + 32));
    }

    function g2At(bytes memory data, uint256 offset) private pure returns (Bn254.G2 memory) {
        return Bn254.G2(
            Vectors.word(data, offset),
            Vectors.word(data, offset + 32),
            Vectors.word(data, offset + 64),
            Vectors.word(data, offset + 96)
        );
    }

    function test_gas_snapshots() public {
        Bn254.G1 memory hash = key1(uint256(keccak256("message")) % R);
        uint256 secret = 0x12345678;
        Bn254.G1 memory signature = PlainBn254.mul(hash, secret);
        vm.snapshotValue("Bn254", "G1 addition", harness.gasOfAdd(hash, signature));
        vm.snapshotValue("Bn254", "G1 multiplication", harness.gasOfMul(hash, R - 1));
        Bn254.G2 memory g2 = PlainBn254G2.generator();
        vm.snapshotValue("Bn254", "pairing check, two pairs", harness.gasOfPairing(hash, g2, signature, g2));
        vm.snapshotValue("Bn254", "signature check", harness.gasOfSignature(hash, key2(secret), signature));
        uint256 dual = harness.gasOfDualKey(hash, key1(secret), key2(secret), signature);
        vm.snapshotValue("Bn254", "dual-key check", dual);
        assertTrue(dual <= 128_000, "128,000 a dual-key check");
    }
}
