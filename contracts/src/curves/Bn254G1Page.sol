// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BN254_P} from "../libraries/Fields.sol";

/// @title The program of a page of keys in G1 of BN254: it adds keys of its page to a sum
/// @notice Its code stands at the beginning of each page, before the header (`CodePages`). A contract reads its own code for
/// 9 gas a key, and the code of another contract for 112. So a page that adds its keys itself saves a quarter of what a
/// changed member costs.
///
/// The input is five words: x and y of the sum; the members whose keys are subtracted, and those whose keys are added, as
/// bits of one word of a bitmap; and the offset in the page's code at which the key of the word's first index lies, or
/// would lie. The output is x and y of the sum.
///
/// It has no state and calls nobody but the precompile, so it does not matter who calls it.
///
/// NOT checked: that the page holds the keys. The caller passes only members whose keys it holds. Without any member the call
/// reverts.
// It has no function that others could call by a name.
// slither-disable-next-line missing-inheritance
contract Bn254G1Page {
    /// @dev The prime of the field.
    uint256 private constant P = BN254_P;

    /// @notice Adds keys to a sum. Reverts if the precompile fails.
    /// @dev To subtract keys, it negates the sum, adds the keys and negates the sum again: two negations for all keys and not
    /// one for each. Of a point on the curve y is not zero. Of the identity y is 0, and stays 0.
    // It is payable because that costs less. Whoever sends ether to a page loses it.
    // slither-disable-next-line locked-ether
    fallback() external payable {
        // Not memory-safe, because nothing but this block uses memory. The sum lies at 0, and the key that is added behind
        // it. The order of the variables is the cheapest for the loops.
        assembly {
            calldatacopy(0x00, 0x00, 0x40)
            let first := calldataload(0x80)
            let top := shl(255, 1)
            let members := calldataload(0x40)
            let done := 1
            if members {
                mstore(0x20, mul(iszero(iszero(mload(0x20))), sub(P, mload(0x20))))
                for {} members {} {
                    let place := clz(members)
                    members := xor(members, shr(place, top))
                    codecopy(0x40, add(first, shl(6, place)), 0x40)
                    done := and(staticcall(gas(), 0x06, 0x00, 0x80, 0x00, 0x40), done)
                }
                mstore(0x20, mul(iszero(iszero(mload(0x20))), sub(P, mload(0x20))))
            }
            members := calldataload(0x60)
            for {} members {} {
                let place := clz(members)
                members := xor(members, shr(place, top))
                codecopy(0x40, add(first, shl(6, place)), 0x40)
                done := and(staticcall(gas(), 0x06, 0x00, 0x80, 0x00, 0x40), done)
            }
            // If a call to one address has answered with 64 bytes, earlier calls to it that succeeded have, too.
            if iszero(and(done, eq(returndatasize(), 0x40))) { revert(0x00, 0x00) }
            return(0x00, 0x40)
        }
    }
}
