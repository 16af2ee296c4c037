// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254Hashes} from "../src/curves/Bn254Hashes.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {HashToBn254} from "../src/libraries/HashToBn254.sol";
import {Meter} from "./mocks/Meter.sol";
import {PlainBn254} from "./plain/PlainBn254.sol";
import {PlainHashToBn254} from "./plain/PlainHashToBn254.sol";
import {Test} from "./Test.sol";

/// @notice Calls the library through an external function, with dirtied memory.
contract Bn254HashesCaller is Test {
    function sum(bytes32[] memory digests, bytes calldata hints) external view returns (uint256 x, uint256 y) {
        dirtyMemory();
        assembly {
            x := mload(0x40)
            mstore(0x40, add(x, 0x80))
        }
        uint256 to = x;
        Bn254Hashes.sum(digests, hints, to);
        assembly {
            x := mload(to)
            y := mload(add(to, 0x20))
        }
    }
}

contract Bn254HashesTest is Test {
    Bn254HashesCaller private immutable caller = new Bn254HashesCaller();
    Meter private immutable meter = new Meter();

    /// forge-config: default.fuzz.runs = 32
    function testFuzz_sum_of_the_plain_twins(bytes32 seed, uint256 count) public view {
        bytes32[] memory digests = new bytes32[](bound(count, 1, 9));
        bytes memory hints;
        Bn254.G1 memory expected;
        for (uint256 i = 0; i < digests.length; ++i) {
            digests[i] = keccak256(abi.encode(seed, i));
            (uint256 counter, Bn254.G1 memory point) = PlainHashToBn254.find(digests[i]);
            hints = abi.encodePacked(hints, uint8(counter), point.y);
            expected = i == 0 ? point : PlainBn254.add(expected, point);
        }
        (uint256 x, uint256 y) = caller.sum(digests, hints);
        assertEq(x, expected.x, "x");
        assertEq(y, expected.y, "y");
    }

    /// @notice Of many hints one is wrong. The call says so, and does not burn what it was given.
    function testFuzz_wrong_hint_burns_little(bytes32 seed, uint256 count, uint256 wrong, uint256 word) public {
        bytes32[] memory digests = new bytes32[](bound(count, 1, 9));
        wrong = bound(wrong, 0, digests.length - 1);
        bytes memory hints;
        for (uint256 i = 0; i < digests.length; ++i) {
            digests[i] = keccak256(abi.encode(seed, i));
            (uint256 counter, Bn254.G1 memory point) = PlainHashToBn254.find(digests[i]);
            // Another even word below P is no root: the only other root is odd.
            uint256 y = point.y;
            if (i == wrong) y = bound(word, 0, PlainBn254.P - 3) & ~uint256(1);
            if (i == wrong && y == point.y) y ^= 2;
            hints = abi.encodePacked(hints, uint8(counter), y);
        }
        (bool ok, bytes memory why, uint256 burnt) =
            meter.measure(address(caller), abi.encodeCall(caller.sum, (digests, hints)), 16_000_000);
        assertTrue(!ok, "refused");
        assertEq(why, abi.encodeWithSelector(HashToBn254.NotOnCurve.selector), "why");
        assertTrue(burnt < 100_000, "burns little");
    }

    function test_length_of_the_hints() public {
        bytes memory why = abi.encodeWithSelector(Bn254Hashes.HintsLength.selector, 32, 33);
        (bool ok, bytes memory answer,) =
            meter.measure(address(caller), abi.encodeCall(caller.sum, (new bytes32[](1), new bytes(32))), 100_000);
        assertTrue(!ok, "refused");
        assertEq(answer, why, "why");
    }
}
