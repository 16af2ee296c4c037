// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BLS12381_P_HIGH, BLS12381_P_LOW} from "../libraries/Fields.sol";

/// @title The program of a page of keys in G2 of BLS12-381: it adds keys of its page to a sum
/// @notice Its code stands at the beginning of each page, before the header (`CodePages`). A contract reads its own code for
/// less than the code of another contract, so a page adds its keys itself.
///
/// The input is the sum, eight words as the precompile reads them; two sets of members, as bits of one word of a bitmap; and
/// the offset in the page's code at which the key of the word's first index lies, or would lie. The keys of the first set are
/// added to the sum, and those of the second set to its negative. The output is the sum, or its negative if the second set has
/// members. Thus a caller who keeps the negative of a sum passes those who left first, and negates nothing.
///
/// It has no state and calls nobody but the precompile, so it does not matter who calls it.
///
/// NOT checked: that the page holds the keys. The caller passes only members whose keys it holds. Without any member the call
/// reverts.
// It has no function that others could call by a name.
// slither-disable-next-line missing-inheritance
contract Bls12381G2Page {
    /// @dev The prime of the field, in two words.
    uint256 private constant P_HIGH = BLS12381_P_HIGH;
    uint256 private constant P_LOW = BLS12381_P_LOW;

    /// @notice Adds keys to a sum. Reverts if the precompile fails.
    // It is payable because that costs less. Whoever sends ether to a page loses it.
    // slither-disable-next-line locked-ether
    fallback() external payable {
        // Not memory-safe, because nothing else uses memory. The sum lies at 0, and the key that is added behind it, with
        // zeros where the precompile wants them. The order of the variables is the cheapest for the loops.
        assembly {
            calldatacopy(0x00, 0x00, 0x100)
            let first := calldataload(0x140)
            let top := shl(255, 1)
            let members := calldataload(0x100)
            let done := 1
            for {} members {} {
                let place := clz(members)
                members := xor(members, shr(place, top))
                let key := add(first, mul(place, 192))
                codecopy(0x110, key, 0x30)
                codecopy(0x150, add(key, 0x30), 0x30)
                codecopy(0x190, add(key, 0x60), 0x30)
                codecopy(0x1d0, add(key, 0x90), 0x30)
                done := and(staticcall(gas(), 0x0d, 0x00, 0x200, 0x00, 0x100), done)
            }
            members := calldataload(0x120)
            if members {
                // As in `Bls12381.negateG2At`: p - y, but 0 stays 0. A sum of registered keys has no other special case.
                for { let y := 0x80 } lt(y, 0x100) { y := add(y, 0x40) } {
                    let high := mload(y)
                    let low := mload(add(y, 0x20))
                    if or(high, low) {
                        mstore(y, sub(sub(P_HIGH, high), gt(low, P_LOW)))
                        mstore(add(y, 0x20), sub(P_LOW, low))
                    }
                }
                for {} members {} {
                    let place := clz(members)
                    members := xor(members, shr(place, top))
                    let key := add(first, mul(place, 192))
                    codecopy(0x110, key, 0x30)
                    codecopy(0x150, add(key, 0x30), 0x30)
                    codecopy(0x190, add(key, 0x60), 0x30)
                    codecopy(0x1d0, add(key, 0x90), 0x30)
                    done := and(staticcall(gas(), 0x0d, 0x00, 0x200, 0x00, 0x100), done)
                }
            }
            // If a call to one address has answered with 256 bytes, earlier calls to it that succeeded have, too.
            if iszero(and(done, eq(returndatasize(), 0x100))) { revert(0x00, 0x00) }
            return(0x00, 0x100)
        }
    }
}
