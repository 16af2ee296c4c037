// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Bls12381, G2Sum} from "../../src/libraries/Bls12381.sol";

/// @notice halmos proves each `check` for every input.
contract Bls12381Symbolic {
    uint256 private constant P_HIGH = 0x1a0111ea397fe69a4b1ba7b6434bacd7;
    uint256 private constant P_LOW = 0x64774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab;

    /// @notice `negateG2` negates a part of y that is below p, keeps 0 and p, and leaves nothing below p of what is
    /// above p. It touches no other word.
    function check_negateG2(uint256 high, uint256 low) external pure {
        G2Sum memory sum;
        (sum.x0High, sum.x0Low, sum.x1High, sum.x1Low) = (1, 2, 3, 4);
        (sum.y0High, sum.y0Low, sum.y1High, sum.y1Low) = (high, low, 0, 5);
        Bls12381.negateG2(sum);
        assert(sum.x0High == 1 && sum.x0Low == 2 && sum.x1High == 3 && sum.x1Low == 4);
        assert(sum.operandX0High == 0 && sum.operandX0Low == 0);
        (uint256 high_, uint256 low_) = (sum.y0High, sum.y0Low);
        if (below(high, low) && high | low != 0) {
            assert(below(high_, low_) && high_ | low_ != 0);
            unchecked {
                uint256 total = low + low_;
                assert(total == P_LOW && high + high_ + (total < low ? 1 : 0) == P_HIGH);
            }
        } else if (high | low == 0 || (high == P_HIGH && low == P_LOW)) {
            assert(high_ == high && low_ == low);
        } else {
            assert(!below(high_, low_));
        }
    }

    function below(uint256 high, uint256 low) private pure returns (bool) {
        return high < P_HIGH || (high == P_HIGH && low < P_LOW);
    }
}
