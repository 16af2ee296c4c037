// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title What a network needs of its verifier: keys, weights and the signatures of quorums
/// @notice Every function reverts if a check fails, with the error of the step that failed. Bit i of a bitmap, counted
/// from the most significant bit of the first byte, stands for the member with index i. The last byte of a bitmap is
/// not zero.
interface IVerifier {
    /// @notice The network: the only address that may call `admit`, `verify`, `publish` and `pin`.
    /// @return The network's address.
    function network() external view returns (address);

    /// @notice Gives a key an index, after a proof that its owner holds the secret key.
    /// @param owner The key's owner. The proof names this address, so nobody else can use it.
    /// @param key The key, in the format of the curve.
    /// @param proof The proof of possession: a signature over the verifier's `possessionDigest(owner, key)`, and the
    /// curve's hints.
    /// @return index The key's index, which no other key ever gets.
    function admit(address owner, bytes calldata key, bytes calldata proof) external returns (uint256 index);

    /// @notice Verifies one aggregate signature over all digests, and stores the quorum as a base if the quorum asks
    /// for it. NOT checked: that there is a digest, and that no digest occurs twice.
    /// @param digests What the quorum signed; at least one, all different.
    /// @param epoch The epoch in which the signers are weighed.
    /// @param quorum The quorum, packed as `Quorums` says.
    /// @return signers The quorum's bitmap.
    /// @return weight The sum of the signers' weights, as published for the epoch.
    function verify(bytes32[] calldata digests, uint256 epoch, bytes calldata quorum)
        external
        returns (bytes memory signers, uint256 weight);

    /// @notice Reverts unless one member signed a digest.
    /// @param digest What was signed.
    /// @param index The member's index.
    /// @param proof Four bytes, the nonce of the page that holds the member's key; or 0, and then the key. Behind them the
    /// signature, and the curve's hints.
    function checkMember(bytes32 digest, uint256 index, bytes calldata proof) external view;

    /// @notice Publishes the weights of an epoch. An epoch gets weights once, and no earlier epoch gets any afterwards.
    /// @param epoch The epoch, below 2^32.
    /// @param weights The weight of each index.
    function publish(uint256 epoch, uint64[] calldata weights) external;

    /// @notice The weights of an epoch as they were published. The cost grows with the number of keys.
    /// @param epoch The epoch.
    /// @return The weight of each index; empty if the epoch has no weights.
    function weightsOf(uint256 epoch) external view returns (uint64[] memory);

    /// @notice Copies a base to a pinned slot, in which no quorum can be stored.
    /// @param slot The pinned slot.
    /// @param from The slot to copy.
    function pin(uint256 slot, uint256 from) external;
}
