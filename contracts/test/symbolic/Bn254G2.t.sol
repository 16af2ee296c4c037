// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bn254} from "../../src/libraries/Bn254.sol";
import {Bn254G2} from "../../src/libraries/Bn254G2.sol";

/// @notice The function under proof, as an external function that may revert.
contract Bn254G2Steps {
    function load(Bn254.G2 calldata key) external pure returns (Bn254G2.Accumulator memory) {
        return Bn254G2.load(key);
    }
}

/// @notice halmos proves each `check` for every input. Products of 254 bits are too hard for the solver, so sums are compared
/// with a plain twin under fuzz alone.
contract Bn254G2Symbolic {
    uint256 private constant P = 21888242871839275222246405745257275088696311157297823662689037894645226208583;

    Bn254G2Steps private immutable steps = new Bn254G2Steps();

    /// @notice A key is loaded exactly if all coordinates are below P; with Z = 1, or with Z = 0 if it is the identity.
    function check_load(uint256 xIm, uint256 xRe, uint256 yIm, uint256 yRe) external view {
        bool canonical = xIm < P && xRe < P && yIm < P && yRe < P;
        try steps.load(Bn254.G2(xIm, xRe, yIm, yRe)) returns (Bn254G2.Accumulator memory sum) {
            assert(canonical && sum.zIm == 0);
            assert(sum.xIm == xIm && sum.xRe == xRe && sum.yIm == yIm && sum.yRe == yRe);
            assert(sum.zRe == ((xIm | xRe | yIm | yRe) == 0 ? 0 : 1));
        } catch {
            assert(!canonical);
        }
    }
}
