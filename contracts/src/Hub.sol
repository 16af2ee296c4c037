// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IHubSettlement} from "./interfaces/IHubSettlement.sol";
import {Orders} from "./libraries/Orders.sol";

/// @title Settles results of several quorums, and checks their signatures together
/// @notice A settlement that checks its own signature pays for two pairings. A hub checks k quorums in one product of k + 1
/// pairings, and in one transaction:
///
///     e(s₁ + … + sₖ, -G2) · e(H(d₁), pk₁) · … · e(H(dₖ), pkₖ) = 1
///
/// The quorums may be those of one settlement, in the order of its results, or of several. A settlement trusts the hub that
/// it names. The hub trusts no settlement: anyone may call it with any contract.
///
/// **Why that is safe.** A settlement returns its quorum's key pk, and a hash of what the quorum orders. The hub itself
/// makes the digest d of that hash and the settlement's address (`Orders`). So the messages of two settlements differ. A
/// settlement that an attacker made may return any key, such as one computed from the keys of others. That does not help:
/// this is the aggregate signature of Boneh, Gentry, Lynn and Shacham (2003), which stays unforgeable under keys that the
/// attacker chooses, as long as an honest key's message differs from the messages under such keys
/// (draft-irtf-cfrg-bls-signature, section 3.1). Within one settlement the numbers of the results differ, and each key is
/// a sum of keys whose possession was proved.
///
/// If the product is not one, the call reverts and nothing is settled. The hub has no owner, no state and no funds.
///
/// A malformed point in a proof costs nearly all the gas of the call, because the precompile that refuses it burns what is
/// left.
abstract contract Hub {
    /// @notice What shall be settled, and the proof of it.
    struct Settling {
        /// The settlement, whose hub this contract is.
        IHubSettlement settlement;
        /// The call of `settleByHub`, as the ABI encodes it.
        bytes call;
        /// The signature, and what else the curve's check needs.
        bytes proof;
    }

    /// @notice A settlement reverted, for example because its next result was settled in the meantime. The others go on.
    /// @param index The place of the settlement in the call.
    /// @param settlement The settlement.
    /// @param reason What it reverted with.
    event Skipped(uint256 indexed index, address indexed settlement, bytes reason);

    /// @notice All settlements reverted, or there was none.
    error NothingSettled();
    /// @notice A contract did not answer as a settlement with keys of this curve does.
    /// @param settlement Its address.
    error NotASettlement(address settlement);
    /// @notice What a settlement shall be called with is not a call of `settleByHub`.
    /// @param index The place of the settlement in the call.
    error NotSettleByHub(uint256 index);
    /// @notice One of the signatures is false. The product does not say which.
    error FalseSignatures();

    /// @notice Settles results of several quorums. Anyone may call it. A settlement that reverts is skipped.
    /// @param all What shall be settled, in this order.
    /// @return settled How many of them settled.
    function settle(Settling[] calldata all) external returns (uint256 settled) {
        uint256 claims = _newClaims(all.length);
        uint256 key;
        uint256 keyBytes = _keyBytes();
        assembly ("memory-safe") {
            key := mload(0x40)
            mstore(0x40, add(key, keyBytes))
        }
        for (uint256 i = 0; i < all.length; i++) {
            Settling calldata one = all[i];
            (bool done, bytes32 order) = _settle(i, one, key);
            if (!done) continue;
            _claim(claims, settled, Orders.digest(address(one.settlement), order), key, one.proof);
            settled++;
        }
        require(settled != 0, NothingSettled());
        require(_areTrue(claims, settled), FalseSignatures());
    }

    /// @dev Calls a settlement.
    /// @param index Its place in the call.
    /// @param one What it shall settle.
    /// @param key Where in memory the quorum's key is written.
    /// @return done Whether it settled.
    /// @return order The hash of what the quorum orders.
    function _settle(uint256 index, Settling calldata one, uint256 key) private returns (bool done, bytes32 order) {
        address settlement = address(one.settlement);
        bytes calldata data = one.call;
        require(bytes4(data) == IHubSettlement.settleByHub.selector, NotSettleByHub(index));
        uint256 keyBytes = _keyBytes();
        bool answered;
        // The call is made in free memory, which is not kept. The answer is the order, 0x40, the key's length, and the key.
        assembly ("memory-safe") {
            let input := mload(0x40)
            calldatacopy(input, data.offset, data.length)
            done := call(gas(), settlement, 0, input, data.length, 0, 0)
            if done {
                answered := eq(returndatasize(), add(keyBytes, 0x60))
                if answered {
                    returndatacopy(input, 0, 0x60)
                    order := mload(input)
                    answered := and(eq(mload(add(input, 0x20)), 0x40), eq(mload(add(input, 0x40)), keyBytes))
                    returndatacopy(key, 0x60, keyBytes)
                }
            }
        }
        if (!done) {
            bytes memory reason;
            assembly ("memory-safe") {
                reason := mload(0x40)
                let length := returndatasize()
                mstore(reason, length)
                returndatacopy(add(reason, 0x20), 0, length)
                mstore(0x40, add(reason, and(add(length, 0x3f), not(0x1f))))
            }
            emit Skipped(index, settlement, reason);
            return (false, 0);
        }
        require(answered, NotASettlement(settlement));
    }

    // The contracts in `curves/` implement the next functions. All pointers are to memory.

    /// @notice Length of a key in the format of the settlements' tables.
    function _keyBytes() internal pure virtual returns (uint256);

    /// @notice Makes room for claims: a digest's hash, a key and a signature each, in the form that the check needs.
    /// @param count The most claims.
    /// @return claims Where the room begins.
    function _newClaims(uint256 count) internal pure virtual returns (uint256 claims);

    /// @notice Adds a claim, that the quorum with this key signed a digest.
    /// @param claims The claims.
    /// @param index The number of claims before it.
    /// @param digest The digest.
    /// @param key Where the quorum's key lies.
    /// @param proof The signature, and what else the curve's check needs.
    function _claim(uint256 claims, uint256 index, bytes32 digest, uint256 key, bytes calldata proof)
        internal
        view
        virtual;

    /// @notice Whether the sum of all signatures is that of all claims.
    /// @param claims The claims.
    /// @param count How many there are; at least one.
    /// @return Whether all of them are true.
    function _areTrue(uint256 claims, uint256 count) internal view virtual returns (bool);
}
