// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../src/libraries/Bn254.sol";
import {HashToBn254} from "../src/libraries/HashToBn254.sol";
import {PlainBn254} from "./plain/PlainBn254.sol";
import {PlainHashToBn254} from "./plain/PlainHashToBn254.sol";
import {Test, vm} from "./Test.sol";

/// @notice Calls the library through external functions, each with its own memory, so that a test can expect a revert
/// and measure gas.
contract HashToBn254Harness is Test {
    function hash(bytes32 digest, uint8 counter, uint256 y) external pure returns (Bn254.G1 memory) {
        dirtyMemory();
        return HashToBn254.hash(digest, counter, y);
    }

    function find(bytes32 digest) external view returns (uint8, uint256) {
        dirtyMemory();
        return HashToBn254.find(digest);
    }

    function gasOfHash(bytes32 digest, uint8 counter, uint256 y) external view returns (uint256) {
        uint256 start = gasleft();
        HashToBn254.hash(digest, counter, y);
        return start - gasleft();
    }

    function gasOfFind(bytes32 digest) external view returns (uint256) {
        uint256 start = gasleft();
        HashToBn254.find(digest);
        return start - gasleft();
    }
}

contract HashToBn254Test is Test {
    uint256 private constant P = Bn254.P;

    HashToBn254Harness private immutable harness = new HashToBn254Harness();

    function candidate(bytes32 digest, uint256 counter) private pure returns (uint256) {
        return uint256(keccak256(abi.encode(keccak256("quorate.bn254.g1.try-and-increment"), digest, counter)))
            & (2 ** 254 - 1);
    }

    /// @notice The first digest for which counter 0 is refused because x³ + 3 is not a square; its x is below P, or
    /// not, as asked.
    function digestWhereFirst(bool inField) private pure returns (bytes32 digest, uint256 x) {
        for (uint256 i = 0;; ++i) {
            digest = bytes32(i);
            x = candidate(digest, 0);
            if (inField == (x < P) && !PlainBn254.isSquare(PlainBn254.curve(x))) return (digest, x);
        }
    }

    function testFuzz_hash_and_find(bytes32 digest) public view {
        (uint256 counter, Bn254.G1 memory point) = PlainHashToBn254.find(digest);
        (uint8 found, uint256 y) = harness.find(digest);
        assertEq(found, counter, "counter");
        assertEq(y, point.y, "y");
        assertEq(abi.encode(harness.hash(digest, found, y)), abi.encode(point), "point");
        assertTrue(Bn254.isOnCurve(point) && y % 2 == 0, "even, on the curve");
        for (uint256 c = 0; c < counter; ++c) {
            uint256 x = candidate(digest, c);
            assertTrue(x >= P || !PlainBn254.isSquare(PlainBn254.curve(x)), "the least");
        }
    }

    function testFuzz_wrong_root_is_refused(bytes32 digest, uint256 wrong) public {
        (uint8 counter, uint256 y) = harness.find(digest);
        vm.expectRevert(HashToBn254.YIsOdd.selector);
        harness.hash(digest, counter, P - y);
        vm.expectRevert(HashToBn254.YNotInField.selector);
        harness.hash(digest, counter, y + P);
        // y + 2P is even and has the right remainder.
        vm.expectRevert(HashToBn254.YNotInField.selector);
        harness.hash(digest, counter, y + 2 * P);
        wrong = bound(wrong, 0, (P - 1) / 2) * 2;
        vm.assume(wrong != y);
        vm.expectRevert(HashToBn254.NotOnCurve.selector);
        harness.hash(digest, counter, wrong);
        bytes32 other = keccak256(abi.encode(digest));
        vm.assume(candidate(other, counter) < P);
        vm.expectRevert(HashToBn254.NotOnCurve.selector);
        harness.hash(other, counter, y);
    }

    function test_candidate_not_below_p_is_refused() public {
        (bytes32 digest, uint256 x) = digestWhereFirst(false);
        assertTrue(x >= P && x < 2 ** 254, "between P and 2^254");
        // The remainder of x may belong to a point. The root for that remainder is refused as well.
        for (uint256 i = 0;; ++i) {
            digest = bytes32(i);
            x = candidate(digest, 0);
            if (x >= P && PlainBn254.isSquare(PlainBn254.curve(x))) break;
        }
        uint256 y = PlainBn254.squareRoot(PlainBn254.curve(x));
        if (y % 2 == 1) y = P - y;
        vm.expectRevert(HashToBn254.XNotInField.selector);
        harness.hash(digest, 0, y);
        (uint8 counter,) = harness.find(digest);
        assertTrue(counter > 0, "and is passed over");
    }

    function test_candidate_off_the_curve_is_passed_over_and_refused() public {
        (bytes32 digest, uint256 x) = digestWhereFirst(true);
        (uint8 counter,) = harness.find(digest);
        assertTrue(counter > 0, "passed over");
        // MODEXP gives a root of -(x³ + 3) in this case.
        uint256 y = PlainBn254.squareRoot(PlainBn254.curve(x));
        if (y % 2 == 1) y = P - y;
        vm.expectRevert(HashToBn254.NotOnCurve.selector);
        harness.hash(digest, 0, y);
    }

    /// @notice The library accepts a later counter, but nobody signed its point.
    function test_later_counter_is_another_point() public view {
        bytes32 digest = keccak256("a digest");
        (uint256 least, Bn254.G1 memory point) = PlainHashToBn254.find(digest);
        (uint256 later, Bn254.G1 memory another) = PlainHashToBn254.findFrom(digest, least + 1);
        // Both are small, because few counters are refused before the second accepted one.
        // forge-lint: disable-next-line(unsafe-typecast)
        Bn254.G1 memory accepted = harness.hash(digest, uint8(later), another.y);
        assertEq(abi.encode(accepted), abi.encode(another), "accepted");
        assertTrue(accepted.x != point.x, "another point");
    }

    function test_known_answers() public view {
        // A separate script computed these values with plain integers.
        known(
            0x0000000000000000000000000000000000000000000000000000000000000000,
            0,
            0x1b2f4d2a3bfd1a236ccbc58953658314824c97b751a80a518ac08110e978a2bc,
            0x0bbc9a77fd2e26dfee112aca983a05c18aa6e19ac4eb8692a0cf4207aa29e478
        );
        known(
            0x5f1b9328bc4cdfd580d39e2a0a8c78ab99a5645211ed33334f9c426718185609,
            0,
            0x143b5ebe7bd59b78426f5f44e94fa416cb7df338deffd9979e5d9ae66d9fd0c7,
            0x0e677f4503040e940327541fa9fa167599d9bc838cddcaca4aa1a558b521ba2e
        );
        known(
            0xffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff,
            2,
            0x0d1cc662f1a7d012758b5202c603c2632c11378898f3e9969f05ea41fe76b183,
            0x1ee3e10abbfbe66d06c4e76090322452daceb9d42d4e12621390ca2f4f32f768
        );
    }

    function known(bytes32 digest, uint8 counter, uint256 x, uint256 y) private view {
        (uint8 found, uint256 root) = harness.find(digest);
        assertTrue(found == counter && root == y, "hint");
        assertEq(abi.encode(harness.hash(digest, counter, y)), abi.encode(x, y), "point");
    }

    function test_gas_snapshot_and_goal() public {
        bytes32 digest = keccak256("gas");
        (uint8 counter, uint256 y) = harness.find(digest);
        uint256 used = harness.gasOfHash(digest, counter, y);
        vm.snapshotValue("Bn254", "hash, try-and-increment, hinted", used);
        vm.snapshotValue("Bn254", "hash, try-and-increment, unhinted", harness.gasOfFind(digest));
        assertTrue(used <= 900, "900 a hinted hash");
    }
}
