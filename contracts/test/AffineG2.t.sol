// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test, vm} from "./Test.sol";
import {AffineG2} from "./baselines/AffineG2.sol";
import {Bn254} from "../src/libraries/Bn254.sol";
import {Bn254G2} from "../src/libraries/Bn254G2.sol";

/// @notice Tests the baseline's addition: it is right, and costs no more than that of the library for which it stands.
contract AffineG2Test is Test {
    function _generator() private pure returns (uint256[4] memory) {
        return [Bn254.G2_X_IM, Bn254.G2_X_RE, Bn254.G2_Y_IM, Bn254.G2_Y_RE];
    }

    function add(uint256[4] memory a, uint256[4] memory b) external view returns (uint256[4] memory) {
        return AffineG2.add(a, b);
    }

    /// @notice Adds G to itself up to 9G and returns to the identity, and compares each sum with `Bn254G2`.
    function test_sums() public view {
        uint256[4] memory one = _generator();
        uint256[4] memory sum = one;
        Bn254.G2 memory key = Bn254.G2(one[0], one[1], one[2], one[3]);
        uint256 keyAt;
        assembly {
            keyAt := key
        }
        Bn254G2.Accumulator memory expected = Bn254G2.load(key);
        for (uint256 i = 0; i < 8; i++) {
            sum = AffineG2.add(sum, one);
            Bn254G2.accumulate(expected, keyAt, false);
            assertEq(abi.encode(sum), abi.encode(Bn254G2.normalize(expected)), "a sum");
        }
        for (uint256 i = 0; i < 8; i++) {
            sum = AffineG2.add(sum, AffineG2.negated(one));
        }
        assertEq(abi.encode(sum), abi.encode(one), "back");
        uint256[4] memory none;
        assertEq(abi.encode(AffineG2.add(sum, AffineG2.negated(one))), abi.encode(none), "opposite");
        assertEq(abi.encode(AffineG2.add(none, one)), abi.encode(one), "identity");
        assertEq(abi.encode(AffineG2.add(one, none)), abi.encode(one), "identity");
    }

    function test_pointsOffTheTwist() public {
        uint256[4] memory one = _generator();
        for (uint256 i = 0; i < 4; i++) {
            uint256[4] memory off = _generator();
            off[i] ^= 1;
            vm.expectRevert(AffineG2.NotOnTwist.selector);
            this.add(one, off);
            vm.expectRevert(AffineG2.NotOnTwist.selector);
            this.add(off, one);
        }
    }

    function test_gas() public {
        uint256[4] memory one = _generator();
        uint256[4] memory two = AffineG2.add(one, one);
        uint256 before = gasleft();
        AffineG2.add(two, one);
        uint256 gas = before - gasleft();
        vm.snapshotValue("Baselines", "affine G2 addition", gas);
        assertTrue(gas <= 17_000, "as the source's library");
    }
}
