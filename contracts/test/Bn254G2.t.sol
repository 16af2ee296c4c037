// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {PlainBn254G2} from "./plain/PlainBn254G2.sol";
import {Test, vm} from "./Test.sol";
import {Vectors} from "./plain/Vectors.sol";

/// @notice Calls the library through external functions, each with its own memory, so that a test can expect a revert
/// and measure gas.
contract Bn254G2Harness is Test {
    function load(Bn254.G2 memory key) external pure returns (Bn254G2.Accumulator memory) {
        dirtyMemory();
        return Bn254G2.load(key);
    }

    function accumulate(Bn254G2.Accumulator memory sum, Bn254.G2 memory key, bool negative)
        public
        pure
        returns (Bn254G2.Accumulator memory)
    {
        dirtyMemory();
        uint256 keyAt;
        assembly {
            keyAt := key
        }
        Bn254.G2 memory before = Bn254.G2(key.xIm, key.xRe, key.yIm, key.yRe);
        Bn254G2.accumulate(sum, keyAt, negative);
        require(keccak256(abi.encode(before)) == keccak256(abi.encode(key)), "key was written");
        return sum;
    }

    function double(Bn254G2.Accumulator memory sum) external pure returns (Bn254G2.Accumulator memory) {
        dirtyMemory();
        Bn254G2.double(sum);
        return sum;
    }

    function normalize(Bn254G2.Accumulator memory sum, uint256 im, uint256 re) external pure returns (Bn254.G2 memory) {
        dirtyMemory();
        return Bn254G2.normalize(sum, im, re);
    }

    function normalize(Bn254G2.Accumulator memory sum) external view returns (Bn254.G2 memory) {
        dirtyMemory();
        return Bn254G2.normalize(sum);
    }

    function inverseOfZ(Bn254G2.Accumulator memory sum) external view returns (uint256 im, uint256 re) {
        dirtyMemory();
        return Bn254G2.inverseOfZ(sum);
    }

    function negated(Bn254.G2 memory key) external pure returns (Bn254.G2 memory) {
        dirtyMemory();
        return Bn254G2.negated(key);
    }

    /// @notice The gas of keys.length additions, less the gas of an empty loop.
    function gasOfAdditions(Bn254.G2[] memory keys, bool negative) external view returns (uint256) {
        uint256[] memory addresses = new uint256[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            Bn254.G2 memory key = keys[i];
            assembly {
                mstore(add(add(addresses, 0x20), mul(i, 0x20)), key)
            }
        }
        Bn254G2.Accumulator memory sum = Bn254G2.load(PlainBn254G2.mul(PlainBn254G2.generator(), 1000));
        uint256 sumAt;
        assembly {
            sumAt := sum
        }
        uint256 start = gasleft();
        for (uint256 i = 0; i < addresses.length; ++i) {
            Bn254G2.accumulateAt(sumAt, addresses[i], negative);
        }
        uint256 used = start - gasleft();
        uint256 sink;
        start = gasleft();
        for (uint256 i = 0; i < addresses.length; ++i) {
            sink = addresses[i];
        }
        return used - (start - gasleft());
    }

    function gasOfNormalize(Bn254G2.Accumulator memory sum, uint256 im, uint256 re) external view returns (uint256) {
        uint256 start = gasleft();
        Bn254G2.normalize(sum, im, re);
        return start - gasleft();
    }

    function gasOfNormalize(Bn254G2.Accumulator memory sum) external view returns (uint256) {
        uint256 start = gasleft();
        Bn254G2.normalize(sum);
        return start - gasleft();
    }

    function gasOfDoubling(Bn254.G2 memory key) external view returns (uint256) {
        Bn254G2.Accumulator memory sum = Bn254G2.load(key);
        uint256 keyAt;
        assembly {
            keyAt := key
        }
        uint256 start = gasleft();
        Bn254G2.accumulate(sum, keyAt, false);
        return start - gasleft();
    }
}

contract Bn254G2Test is Test {
    using PlainBn254G2 for Bn254.G2;

    uint256 private constant P = Bn254.P;
    uint256 private constant FEW = 6;

    Bn254G2Harness private immutable harness = new Bn254G2Harness();

    function key(uint256 scalar) private pure returns (Bn254.G2 memory) {
        return PlainBn254G2.generator().mul(scalar);
    }

    function assertEq(Bn254.G2 memory left, Bn254.G2 memory right, string memory what) private pure {
        assertEq(abi.encode(left), abi.encode(right), what);
    }

    /// @notice Checks the bounds on which the next addition relies.
    function assertBounds(Bn254G2.Accumulator memory sum) private pure {
        assertTrue(sum.xIm < P && sum.xRe < P, "X < P");
        assertTrue(sum.yIm < 4 * P && sum.yRe < 4 * P, "Y < 4P");
        assertTrue(sum.zIm < 2 * P && sum.zRe < 2 * P, "Z < 2P");
        if (sum.zIm % P == 0 && sum.zRe % P == 0) {
            assertEq(abi.encode(sum), new bytes(192), "infinity is six zeros");
        }
    }

    /// @notice Makes one addition and compares it with the affine twin and with the Z that the NatSpec states.
    function checked(Bn254G2.Accumulator memory sum, Bn254.G2 memory addend, bool negative)
        private
        view
        returns (Bn254G2.Accumulator memory next)
    {
        PlainBn254G2.Fp2 memory z = PlainBn254G2.nextZ(sum, addend, negative);
        Bn254.G2 memory expected = PlainBn254G2.affine(sum).add(negative ? addend.negate() : addend);
        next = harness.accumulate(sum, addend, negative);
        assertBounds(next);
        assertTrue(PlainBn254G2.equal(z, PlainBn254G2.z(next)), "Z is the stated one");
        assertEq(PlainBn254G2.affine(next), expected, "sum");
    }

    /// @notice The same point with Z = z, so that no test depends on Z = 1. `lift` raises parts to the top of their
    /// bounds.
    function scaled(Bn254.G2 memory point, PlainBn254G2.Fp2 memory z, uint256 lift)
        private
        pure
        returns (Bn254G2.Accumulator memory)
    {
        PlainBn254G2.Fp2 memory square = PlainBn254G2.times(z, z);
        PlainBn254G2.Fp2 memory x = PlainBn254G2.times(point.x(), square);
        PlainBn254G2.Fp2 memory y = PlainBn254G2.times(point.y(), PlainBn254G2.times(square, z));
        uint256 top = lift % 4 * P;
        uint256 half = lift / 4 % 2 * P;
        return Bn254G2.Accumulator(x.im, x.re, y.im + top, y.re + 3 * P - top, z.im + half, z.re + P - half);
    }

    function test_generators_are_the_ones_of_eip197() public pure {
        Bn254.G2 memory negated = Bn254.negatedG2Generator();
        assertEq(negated, PlainBn254G2.generator().negate(), "negated generator");
        assertTrue(negated.isOnTwist(), "on the twist");
        assertEq(negated.xIm, Bn254.G2_X_IM, "x im");
        assertEq(P - negated.yIm, Bn254.G2_Y_IM, "y im");
        assertEq(P - negated.yRe, Bn254.G2_Y_RE, "y re");
    }

    function test_ordinary_addition_and_subtraction() public view {
        Bn254G2.Accumulator memory sum = checked(harness.load(key(5)), key(7), false);
        assertEq(PlainBn254G2.affine(sum), key(12), "5 + 7");
        sum = checked(sum, key(3), true);
        assertEq(PlainBn254G2.affine(sum), key(9), "12 - 3");
    }

    function test_infinity_accumulator_takes_the_key() public view {
        Bn254G2.Accumulator memory none;
        assertTrue(Bn254G2.isInfinity(none), "six zeros");
        assertEq(PlainBn254G2.affine(checked(none, key(4), false)), key(4), "0 + 4");
        Bn254G2.Accumulator memory empty;
        assertEq(PlainBn254G2.affine(checked(empty, key(4), true)), key(4).negate(), "0 - 4");
    }

    function test_infinity_key_changes_nothing() public view {
        Bn254.G2 memory zero;
        Bn254G2.Accumulator memory sum = harness.accumulate(harness.load(key(5)), key(7), false);
        assertEq(abi.encode(checked(sum, zero, false)), abi.encode(sum), "12 + 0");
        assertEq(abi.encode(checked(sum, zero, true)), abi.encode(sum), "12 - 0");
        Bn254G2.Accumulator memory none;
        assertTrue(Bn254G2.isInfinity(checked(none, zero, false)), "0 + 0");
        assertTrue(Bn254G2.isInfinity(harness.load(zero)), "load");
    }

    function test_equal_points_double() public view {
        assertEq(PlainBn254G2.affine(checked(harness.load(key(5)), key(5), false)), key(10), "Z = 1");
        Bn254G2.Accumulator memory sum = harness.accumulate(harness.load(key(2)), key(3), false);
        assertEq(PlainBn254G2.affine(checked(sum, key(5), false)), key(10), "Z not 1");
        assertEq(PlainBn254G2.affine(checked(harness.load(key(5).negate()), key(5), true)), key(10).negate(), "-5 - 5");
    }

    function test_opposite_points_give_infinity() public view {
        assertTrue(Bn254G2.isInfinity(checked(harness.load(key(5)), key(5), true)), "5 - 5");
        Bn254G2.Accumulator memory sum = harness.accumulate(harness.load(key(2)), key(3), false);
        sum = checked(sum, key(5).negate(), false);
        assertTrue(Bn254G2.isInfinity(sum), "5 + -5");
        assertEq(PlainBn254G2.affine(checked(sum, key(6), false)), key(6), "and on from there");
    }

    /// @notice Operators who collude hold the keys a, b and a + b, so the sum meets the third key.
    function test_colluding_keys_a_b_a_plus_b() public view {
        Bn254.G2 memory a = key(0x1234567);
        Bn254.G2 memory b = key(0x89abcd);
        Bn254.G2 memory both = a.add(b);
        Bn254G2.Accumulator memory sum = checked(harness.load(a), b, false);
        assertEq(PlainBn254G2.affine(checked(sum, both, false)), both.add(both), "a + b + (a + b)");
        sum = checked(harness.load(a), b, false);
        assertTrue(Bn254G2.isInfinity(checked(sum, both, true)), "a + b - (a + b)");
    }

    function test_key_with_x_zero_words_takes_the_slow_path_and_is_right() public view {
        // This point is not on the twist, and the formulas do not need it to be. x = 0 alone does not mean infinity.
        Bn254.G2 memory odd = Bn254.G2(0, 0, 5, 7);
        Bn254G2.Accumulator memory sum = harness.accumulate(harness.load(key(2)), key(3), false);
        checked(sum, odd, false);
        sum = harness.accumulate(harness.load(key(2)), key(3), false);
        checked(sum, odd, true);
        // H and x2 are not 0, but the product of their words is 0 mod 2^256: Z = 1, x2 = 2^200 and X1 = 2^200 - 2^100.
        sum = harness.load(Bn254.G2(0, (1 << 200) - (1 << 100), 11, 13));
        checked(sum, Bn254.G2(0, 1 << 200, 17, 19), false);
    }

    function testFuzz_accumulate(uint256 a, uint256 b, bool negative, uint256 zIm, uint256 zRe, uint256 lift)
        public
        view
    {
        // Half of the runs take few keys, so that keys collide.
        if (lift & 8 == 0) (a, b) = (bound(a, 0, 3), bound(b, 0, 3));
        else (a, b) = (bound(a, 0, type(uint16).max), bound(b, 0, type(uint16).max));
        PlainBn254G2.Fp2 memory z = PlainBn254G2.Fp2(zIm % P, zRe % P);
        if (PlainBn254G2.isZero(z)) z.re = 1;
        Bn254.G2 memory point = key(a);
        Bn254G2.Accumulator memory sum;
        if (a != 0) sum = scaled(point, z, lift);
        checked(sum, key(b), negative);
    }

    /// @notice Tries parts at the edges of their bounds. H, r, V and Z are right for points off the twist, too.
    function testFuzz_edge_words(uint256 seed, bool negative) public view {
        Bn254G2.Accumulator memory sum = Bn254G2.Accumulator({
            xIm: edge(seed, 0, 1),
            xRe: edge(seed, 1, 1),
            yIm: edge(seed, 2, 4),
            yRe: edge(seed, 3, 4),
            zIm: edge(seed, 4, 2),
            zRe: edge(seed, 5, 2)
        });
        if (sum.zIm % P == 0 && sum.zRe % P == 0) sum.zRe = 1;
        Bn254.G2 memory addend = Bn254.G2(edge(seed, 6, 1), edge(seed, 7, 1), edge(seed, 8, 1), edge(seed, 9, 1));
        // Excludes the same x with a y that is neither equal nor opposite: no curve holds two such points.
        PlainBn254G2.Fp2 memory x = PlainBn254G2.x(PlainBn254G2.affine(sum));
        vm.assume(!PlainBn254G2.equal(x, addend.x()));
        // The affine twin takes a sum with y = 0 for infinity, but only if x = 0 as well.
        vm.assume(!PlainBn254G2.isZero(x));
        checked(sum, addend, negative);
    }

    function edge(uint256 seed, uint256 index, uint256 multiple) private pure returns (uint256) {
        uint256 kind = seed >> (8 * index) & 7;
        uint256 top = multiple * P;
        if (kind == 0) return 0;
        if (kind == 1) return 1;
        if (kind == 2) return top - 1;
        if (kind == 3) return top - 2;
        if (kind == 4) return (top - P) + 0;
        return uint256(keccak256(abi.encode(seed, index))) % top;
    }

    /// @notice Compares a sequence of additions of few keys with the arithmetic of their scalars.
    function testFuzz_sequences(uint256 seed) public view {
        Bn254.G2[] memory few = new Bn254.G2[](FEW);
        for (uint256 i = 0; i < FEW; ++i) {
            few[i] = key(i + 1);
        }
        Bn254G2.Accumulator memory sum;
        int256 scalar = 0;
        for (uint256 step = 0; step < 32; ++step) {
            uint256 pick = seed >> (8 * step) & 0xff;
            uint256 index = pick % FEW;
            bool negative = pick >= 128;
            sum = harness.accumulate(sum, few[index], negative);
            // The value is at most 32 · 6.
            // forge-lint: disable-next-line(unsafe-typecast)
            scalar += negative ? -int256(index + 1) : int256(index + 1);
            assertBounds(sum);
        }
        // The value is not negative here.
        // forge-lint: disable-next-line(unsafe-typecast)
        Bn254.G2 memory expected = scalar < 0 ? key(uint256(-scalar)).negate() : key(uint256(scalar));
        assertEq(PlainBn254G2.affine(sum), expected, "scalar");
        if (scalar != 0) assertEq(harness.normalize(sum), expected, "normalised");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_double(uint256 a, uint256 zIm, uint256 zRe, uint256 lift) public view {
        a = bound(a, 1, type(uint16).max);
        PlainBn254G2.Fp2 memory z = PlainBn254G2.Fp2(zIm % P, zRe % P);
        if (PlainBn254G2.isZero(z)) z.re = 1;
        Bn254G2.Accumulator memory sum = scaled(key(a), z, lift);
        PlainBn254G2.Fp2 memory expectedZ =
            PlainBn254G2.times(PlainBn254G2.Fp2(0, 2), PlainBn254G2.times(PlainBn254G2.Fp2(sum.yIm, sum.yRe), z));
        sum = harness.double(sum);
        assertBounds(sum);
        assertEq(PlainBn254G2.affine(sum), key(2 * a), "2a");
        assertTrue(PlainBn254G2.equal(PlainBn254G2.z(sum), expectedZ), "Z = 2YZ");
    }

    function test_double_of_infinity_and_of_y_zero_is_infinity() public view {
        Bn254G2.Accumulator memory none;
        assertTrue(Bn254G2.isInfinity(harness.double(none)), "infinity");
        none = Bn254G2.Accumulator(3, 4, 0, 2 * P, 5, 6);
        assertBounds(harness.double(none));
        assertTrue(Bn254G2.isInfinity(harness.double(none)), "y = 0");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_normalize(uint256 a, uint256 zIm, uint256 zRe, uint256 lift) public view {
        a = bound(a, 1, type(uint16).max);
        PlainBn254G2.Fp2 memory z = PlainBn254G2.Fp2(zIm % P, zRe % P);
        if (PlainBn254G2.isZero(z)) z.re = 1;
        Bn254G2.Accumulator memory sum = scaled(key(a), z, lift);
        PlainBn254G2.Fp2 memory inverse = PlainBn254G2.inverse(z);
        assertEq(harness.normalize(sum, inverse.im, inverse.re), key(a), "hinted");
        assertEq(harness.normalize(sum, inverse.im + P, inverse.re + 2 * P), key(a), "the residue alone matters");
        assertEq(harness.normalize(sum), key(a), "by MODEXP");
        (uint256 im, uint256 re) = harness.inverseOfZ(sum);
        assertEq(im, inverse.im, "hint im");
        assertEq(re, inverse.re, "hint re");
    }

    function testFuzz_wrong_inverse_is_refused(uint256 a, uint256 im, uint256 re) public {
        Bn254G2.Accumulator memory sum = harness.accumulate(harness.load(key(2)), key(3), false);
        (uint256 trueIm, uint256 trueRe) = harness.inverseOfZ(sum);
        vm.assume(im % P != trueIm || re % P != trueRe);
        vm.expectRevert(Bn254G2.BadInverse.selector);
        harness.normalize(sum, im, re);
        // Wrong inverses: each part alone, the sign, the conjugate, and zero.
        uint256[2][5] memory wrong = [
            [trueIm, addmod(trueRe, bound(a, 1, P - 1), P)],
            [addmod(trueIm, bound(a, 1, P - 1), P), trueRe],
            [P - trueIm, P - trueRe],
            [P - trueIm, trueRe],
            [uint256(0), 0]
        ];
        for (uint256 i = 0; i < wrong.length; ++i) {
            vm.expectRevert(Bn254G2.BadInverse.selector);
            harness.normalize(sum, wrong[i][0], wrong[i][1]);
        }
    }

    /// @notice Wrong hints for which one part of Z · hint is right: the products are 1 + ki and k + 0i.
    function testFuzz_inverse_right_in_one_part_is_refused(uint256 k) public {
        k = bound(k, 2, P - 1);
        Bn254G2.Accumulator memory sum = harness.accumulate(harness.load(key(2)), key(3), false);
        PlainBn254G2.Fp2 memory inverse = PlainBn254G2.inverse(PlainBn254G2.z(sum));
        PlainBn254G2.Fp2[3] memory products = [PlainBn254G2.Fp2(k, 1), PlainBn254G2.Fp2(1, 1), PlainBn254G2.Fp2(0, k)];
        for (uint256 i = 0; i < products.length; ++i) {
            PlainBn254G2.Fp2 memory hint = PlainBn254G2.times(inverse, products[i]);
            vm.expectRevert(Bn254G2.BadInverse.selector);
            harness.normalize(sum, hint.im, hint.re);
        }
    }

    function test_infinity_has_no_affine_key() public {
        Bn254G2.Accumulator memory none;
        vm.expectRevert(Bn254G2.BadInverse.selector);
        harness.normalize(none, 0, 0);
        vm.expectRevert(Bn254G2.BadInverse.selector);
        harness.normalize(none, 0, 1);
        vm.expectRevert(Bn254G2.Infinity.selector);
        harness.normalize(none);
    }

    function test_non_canonical_keys_are_refused_by_load_and_negated() public {
        for (uint256 i = 0; i < 4; ++i) {
            uint256[4] memory words = [uint256(1), 2, 3, 4];
            for (uint256 k = 0; k < 3; ++k) {
                words[i] = k == 0 ? P : k == 1 ? P + 1 : type(uint256).max;
                Bn254.G2 memory bad = Bn254.G2(words[0], words[1], words[2], words[3]);
                vm.expectRevert(Bn254G2.NonCanonicalKey.selector);
                harness.load(bad);
                vm.expectRevert(Bn254G2.NonCanonicalKey.selector);
                harness.negated(bad);
            }
            words[i] = P - 1;
            harness.load(Bn254.G2(words[0], words[1], words[2], words[3]));
        }
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_negated(uint256 a) public view {
        a = bound(a, 0, type(uint16).max);
        assertEq(harness.negated(key(a)), key(a).negate(), "negated");
        assertEq(harness.negated(Bn254.G2(1, 2, 0, 3)), Bn254.G2(1, 2, 0, P - 3), "a part of zero stays");
        assertEq(harness.negated(Bn254.G2(1, 2, 3, 0)), Bn254.G2(1, 2, P - 3, 0), "a part of zero stays");
    }

    /// @notice Adds EigenLayer's operator keys in G2 and in G1, and compares both sums by the pairing.
    function test_vectors_sums_of_operator_keys() public view {
        string memory json = Vectors.read("11_bn254_keys/eigenlayer_operator_keys_a.json");
        Bn254G2.Accumulator memory sum;
        Bn254.G1 memory sum1;
        uint256 exponent;
        for (uint256 i = 0; i < 120; ++i) {
            string memory entry = string.concat(".cases[", vm.toString(i), "]");
            Bn254.G1 memory key1 = Bn254.G1(
                Vectors.number(json, string.concat(entry, ".g1[0]")),
                Vectors.number(json, string.concat(entry, ".g1[1]"))
            );
            Bn254.G2 memory key2 = Bn254.G2(
                Vectors.number(json, string.concat(entry, ".g2_x[0]")),
                Vectors.number(json, string.concat(entry, ".g2_x[1]")),
                Vectors.number(json, string.concat(entry, ".g2_y[0]")),
                Vectors.number(json, string.concat(entry, ".g2_y[1]"))
            );
            bool negative = i % 7 == 3;
            uint256 secret = Vectors.number(json, string.concat(entry, ".sk"));
            exponent = addmod(exponent, negative ? Bn254.R - secret : secret, Bn254.R);
            sum = harness.accumulate(sum, key2, negative);
            sum1 = Bn254.add(sum1, negative ? Bn254.negate(key1) : key1);
            if (i % 10 == 9) {
                Bn254.G2 memory affine = harness.normalize(sum);
                Bn254.G2 memory generator = PlainBn254G2.generator();
                assertTrue(
                    Bn254.isPairingOne(sum1, generator, Bn254.negate(Bn254.generator()), affine),
                    "e(sum1, G2) = e(G1, sum)"
                );
            }
        }
        assertEq(harness.normalize(sum), key(exponent), "the sum's exponent");
    }

    function test_gas_snapshots_and_goals() public {
        Bn254.G2[] memory keys = new Bn254.G2[](64);
        for (uint256 i = 0; i < keys.length; ++i) {
            keys[i] = key(uint256(keccak256(abi.encode("key", i))) % 1e6 + 2000);
        }
        uint256 added = harness.gasOfAdditions(keys, false) / keys.length;
        uint256 subtracted = harness.gasOfAdditions(keys, true) / keys.length;
        vm.snapshotValue("Bn254", "G2 mixed addition", added);
        vm.snapshotValue("Bn254", "G2 mixed subtraction", subtracted);
        assertTrue(added <= 1_700 && subtracted <= 1_700, "1,700 an addition");
        vm.snapshotValue("Bn254", "G2 mixed addition that doubles", harness.gasOfDoubling(key(3)));

        Bn254G2.Accumulator memory sum = harness.load(key(2));
        sum = harness.accumulate(sum, key(3), false);
        sum = harness.accumulate(sum, key(9), false);
        (uint256 im, uint256 re) = harness.inverseOfZ(sum);
        uint256 hinted = harness.gasOfNormalize(sum, im, re);
        vm.snapshotValue("Bn254", "G2 normalisation, hinted", hinted);
        vm.snapshotValue("Bn254", "G2 normalisation, unhinted", harness.gasOfNormalize(sum));
        assertTrue(hinted <= 1_000, "1,000 a hinted normalisation");
    }
}

/// @notice Proves the bounds of `accumulate` by symbolic execution. halmos proves check_lazy_bounds in 4 s. It does not
/// finish with a mulmod of two unknowns (a square had no answer after 40 s), so only fuzz tests cover the identities.
contract Bn254G2Bounds is Test {
    uint256 private constant P = Bn254.P;

    function testFuzz_lazy_bounds(uint256 m1, uint256 m2, uint256 m3, uint256 m4, uint256 zIm, uint256 zRe)
        public
        pure
    {
        check_lazy_bounds(m1 % P, m2 % P, m3 % P, m4 % P, zIm % (2 * P), zRe % (2 * P), m1 % P, m4 % P);
        check_lazy_bounds(P - 1, P - 1, 0, 0, 2 * P - 1, 2 * P - 1, P - 1, P - 1);
        check_lazy_bounds(0, 0, P - 1, P - 1, 0, 0, 0, 0);
    }

    /// @param m1 A result of mulmod, as are m2, m3 and m4.
    /// @param zIm The imaginary part of Z.
    /// @param zRe The real part of Z.
    /// @param v A part of V.
    /// @param x A part of X3.
    function check_lazy_bounds(
        uint256 m1,
        uint256 m2,
        uint256 m3,
        uint256 m4,
        uint256 zIm,
        uint256 zRe,
        uint256 v,
        uint256 x
    ) public pure {
        if (m1 >= P || m2 >= P || m3 >= P || m4 >= P || zIm >= 2 * P || zRe >= 2 * P || v >= P || x >= P) {
            return;
        }
        unchecked {
            // The operands of Z1²: no sum wraps around, and no difference is below zero.
            assert(zIm + zRe >= zIm && zRe + zRe >= zRe && zRe + (2 * P - zIm) >= zRe);
            // The parts of a product.
            uint256 re = m1 + (P - m2);
            uint256 im = m1 + m2;
            assert(re < 2 * P && im < 2 * P);
            // c + 2V, which is subtracted from 4P.
            assert(re + 2 * v < 4 * P && im + 2 * v < 4 * P);
            // The difference V - X3.
            assert(v + (P - x) < 2 * P);
            // The parts of Y3.
            assert(m1 + m2 + 2 * P >= m3 + m4);
            uint256 y = m1 + m2 + 2 * P - (m3 + m4);
            assert(y > 0 && y < 4 * P);
        }
    }
}
