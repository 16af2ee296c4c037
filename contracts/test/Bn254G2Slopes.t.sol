// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";
import {PlainBn254G2} from "./plain/PlainBn254G2.sol";
import {Test, vm} from "./Test.sol";

/// @notice Makes additions by slope through external functions, because the library reads slopes from calldata.
contract Bn254G2SlopesHarness is Test {
    /// @notice Makes one addition by slope, and checks that the key does not change.
    function accumulateBySlope(Bn254.G2 memory sum, Bn254.G2 memory key, bool negative, uint256[2] calldata slope)
        external
        pure
        returns (Bn254.G2 memory)
    {
        dirtyMemory();
        uint256 sumAt;
        uint256 keyAt;
        uint256 slopeAt;
        assembly {
            sumAt := sum
            keyAt := key
            slopeAt := slope
        }
        bytes32 before = keccak256(abi.encode(key));
        Bn254G2.accumulateBySlopeAt(sumAt, keyAt, negative, slopeAt);
        require(before == keccak256(abi.encode(key)), "key was written");
        return sum;
    }

    /// @notice The gas of additions by slope, less the gas of an empty loop.
    function gasOfSlopes(Bn254.G2 memory sum, Bn254.G2[] memory keys, uint256[2][] calldata slopes)
        external
        view
        returns (uint256)
    {
        uint256[] memory addresses = new uint256[](keys.length);
        for (uint256 i = 0; i < keys.length; ++i) {
            Bn254.G2 memory key = keys[i];
            assembly {
                mstore(add(add(addresses, 0x20), mul(i, 0x20)), key)
            }
        }
        uint256 sumAt;
        uint256 slopeAt;
        assembly {
            sumAt := sum
            slopeAt := slopes.offset
        }
        unchecked {
            uint256 start = gasleft();
            for (uint256 i = 0; i < addresses.length; ++i) {
                Bn254G2.accumulateBySlopeAt(sumAt, addresses[i], false, slopeAt + 64 * i);
            }
            uint256 used = start - gasleft();
            uint256 sink = 0;
            start = gasleft();
            for (uint256 i = 0; i < addresses.length; ++i) {
                sink = addresses[i] ^ slopeAt + 64 * i;
            }
            return used - (start - gasleft());
        }
    }
}

/// @notice Compares sums by slope with plain sums. Whoever submits a quorum makes the slopes, so the tests try every
/// wrong one.
contract Bn254G2SlopesTest is Test {
    using PlainBn254G2 for Bn254.G2;

    uint256 private constant P = Bn254.P;

    Bn254G2SlopesHarness private immutable harness = new Bn254G2SlopesHarness();

    function key(uint256 scalar) private pure returns (Bn254.G2 memory) {
        return PlainBn254G2.generator().mul(scalar);
    }

    function assertEq(Bn254.G2 memory left, Bn254.G2 memory right, string memory what) private pure {
        assertEq(abi.encode(left), abi.encode(right), what);
    }

    /// @dev One of 0, 1, P - 1 and P - 2, or any word.
    function edge(uint256 seed, uint256 index) private pure returns (uint256) {
        uint256 kind = seed >> (8 * index) & 7;
        if (kind < 2) return kind;
        if (kind < 4) return P + 1 - kind;
        return uint256(keccak256(abi.encode(seed, index))) % P;
    }

    /// @notice The slope of an addition, and the plain sum that the addition must give.
    function bySlope(Bn254.G2 memory sum, Bn254.G2 memory addend, bool negative)
        private
        view
        returns (uint256[2] memory slope, Bn254.G2 memory expected)
    {
        Bn254.G2 memory signed = negative ? addend.negate() : addend;
        PlainBn254G2.Fp2 memory line = PlainBn254G2.slope(sum, signed);
        slope = [line.im, line.re];
        expected = sum.add(signed);
        assertEq(harness.accumulateBySlope(sum, addend, negative, slope), expected, "sum by slope");
    }

    function refuseSlope(Bn254.G2 memory sum, Bn254.G2 memory addend, bool negative, uint256[2] memory slope) private {
        vm.expectRevert(Bn254G2.BadSlope.selector);
        harness.accumulateBySlope(sum, addend, negative, slope);
    }

    /// forge-config: default.fuzz.runs = 128
    function testFuzz_sumsBySlope(uint256 a, uint256 b, bool negative, uint256 wrong) public {
        a = bound(a, 1, type(uint16).max);
        b = bound(b, 1, type(uint16).max);
        if (a == b) return;
        Bn254.G2 memory sum = key(a);
        Bn254.G2 memory addend = key(b);
        (uint256[2] memory slope, Bn254.G2 memory expected) = bySlope(sum, addend, negative);
        // Parts that are not reduced name the same slope.
        for (uint256 i = 1; i < 4; ++i) {
            uint256[2] memory large = [slope[0] + (i & 1) * 4 * P, slope[1] + (i >> 1) * 4 * P];
            assertEq(harness.accumulateBySlope(sum, addend, negative, large), expected, "a slope not reduced");
        }
        // Other slopes: changed in either half or in both, negated, conjugate, and with swapped halves.
        wrong = 1 + wrong % (P - 1);
        refuseSlope(sum, addend, negative, [addmod(slope[0], wrong, P), slope[1]]);
        refuseSlope(sum, addend, negative, [slope[0], addmod(slope[1], wrong, P)]);
        refuseSlope(sum, addend, negative, [addmod(slope[0], wrong, P), addmod(slope[1], P - wrong, P)]);
        refuseSlope(sum, addend, negative, [P - slope[0], P - slope[1]]);
        refuseSlope(sum, addend, negative, [P - slope[0], slope[1]]);
        refuseSlope(sum, addend, negative, [slope[1], slope[0]]);
        refuseSlope(sum, addend, !negative, slope);
        refuseSlope(sum, addend, negative, [uint256(0), 0]);
    }

    /// @notice Slopes for which one half of λ·(x2 - x1) is right: λ + k·d̄ and λ + ik·d̄. Here d̄ is the conjugate of
    /// x2 - x1, and the product of both is real.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_slopeRightInOnePartIsRefused(uint256 a, uint256 b, bool negative, uint256 k) public {
        a = bound(a, 1, type(uint16).max);
        b = bound(b, 1, type(uint16).max);
        if (a == b) return;
        (Bn254.G2 memory sum, Bn254.G2 memory addend) = (key(a), key(b));
        (uint256[2] memory slope,) = bySlope(sum, addend, negative);
        PlainBn254G2.Fp2 memory d = PlainBn254G2.minus(addend.x(), sum.x());
        PlainBn254G2.Fp2 memory off =
            PlainBn254G2.times(PlainBn254G2.Fp2(P - d.im, d.re), PlainBn254G2.Fp2(0, 1 + k % (P - 1)));
        refuseSlope(sum, addend, negative, [addmod(slope[0], off.im, P), addmod(slope[1], off.re, P)]);
        off = PlainBn254G2.times(off, PlainBn254G2.Fp2(1, 0));
        refuseSlope(sum, addend, negative, [addmod(slope[0], off.im, P), addmod(slope[1], off.re, P)]);
    }

    /// @notice Two points with the same x have no slope, so every word is refused. For two equal points the equation is
    /// 0 = 0, which every slope satisfies; the other case is opposite points.
    function testFuzz_trap_slopeOfOneX(uint256 a, uint256 im, uint256 re) public {
        Bn254.G2 memory sum = key(bound(a, 1, type(uint16).max));
        for (uint256 i = 0; i < 4; ++i) {
            Bn254.G2 memory addend = i & 2 == 0 ? sum : sum.negate();
            refuseSlope(sum, addend, i & 1 == 1, [im, re]);
            refuseSlope(sum, addend, i & 1 == 1, [uint256(0), 0]);
            // The slope of the tangent would double the sum.
            PlainBn254G2.Fp2 memory x = PlainBn254G2.x(sum);
            PlainBn254G2.Fp2 memory y = PlainBn254G2.y(sum);
            PlainBn254G2.Fp2 memory tangent = PlainBn254G2.times(
                PlainBn254G2.times(PlainBn254G2.Fp2(0, 3), PlainBn254G2.times(x, x)),
                PlainBn254G2.inverse(PlainBn254G2.plus(y, y))
            );
            refuseSlope(sum, addend, i & 1 == 1, [tangent.im, tangent.re]);
        }
    }

    /// @notice Two x that are equal in one half are different. The points need not be on the twist.
    function testFuzz_slopesOfEdgeWords(uint256 seed, bool negative) public {
        Bn254.G2 memory sum = Bn254.G2(edge(seed, 0), edge(seed, 1), edge(seed, 2), edge(seed, 3));
        Bn254.G2 memory addend = Bn254.G2(edge(seed, 4), edge(seed, 5), edge(seed, 6), edge(seed, 7));
        if (seed >> 252 & 3 == 0) addend.xIm = sum.xIm;
        if (seed >> 252 & 3 == 1) addend.xRe = sum.xRe;
        if (PlainBn254G2.isInfinity(sum) || PlainBn254G2.isInfinity(addend)) return;
        if (PlainBn254G2.equal(sum.x(), addend.x())) {
            return refuseSlope(sum, addend, negative, [seed, uint256(keccak256(abi.encode(seed)))]);
        }
        bySlope(sum, addend, negative);
    }

    /// @notice A sequence of additions by slope gives the same sum as in Jacobian coordinates.
    /// forge-config: default.fuzz.runs = 32
    function testFuzz_sequencesBySlopes(uint256 seed) public view {
        Bn254.G2 memory sum = key(1000);
        Bn254G2.Accumulator memory twin = Bn254G2.load(sum);
        for (uint256 step = 0; step < 8; ++step) {
            uint256 pick = seed >> (16 * step) & 0x7fff;
            Bn254.G2 memory addend = key(pick + 1);
            if (PlainBn254G2.equal(sum.x(), addend.x())) continue;
            bool negative = seed >> (16 * step + 15) & 1 == 1;
            (, sum) = bySlope(sum, addend, negative);
            uint256 addendAt;
            assembly {
                addendAt := addend
            }
            Bn254G2.accumulate(twin, addendAt, negative);
        }
        assertEq(Bn254G2.normalize(twin), sum, "both forms");
    }

    function test_gas() public {
        Bn254.G2[] memory keys = new Bn254.G2[](64);
        uint256[2][] memory slopes = new uint256[2][](keys.length);
        Bn254.G2 memory sum = key(1000);
        for (uint256 i = 0; i < keys.length; ++i) {
            keys[i] = key(uint256(keccak256(abi.encode("key", i))) % 1e6 + 2000);
            (slopes[i], sum) = bySlope(sum, keys[i], false);
        }
        uint256 added = harness.gasOfSlopes(key(1000), keys, slopes) / keys.length;
        vm.snapshotValue("Bn254", "G2 addition by slope", added);
        assertTrue(added <= 850, "850 an addition by slope");
    }
}
