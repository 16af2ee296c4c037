// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title What a network needs of its verifier: keys, weights and the signatures of quorums
/// @notice Every function reverts if a check fails, with the error of the step that failed. Bit i of a bitmap, counted
/// from the most significant bit of the first byte, stands for the member with index i. The last byte of a bitmap is
/// not zero.
interface IVerifier {
    /// @notice The network: the only address that may call `admit`, `carry`, `renew`, `verify`, `publish`
    /// and `pin`.
    /// @return The network's address.
    function network() external view returns (address);

    /// @notice Gives a key an index in the running table, after a proof that its owner holds the secret key. If keys were
    /// carried to the next table, the key also gets the next free index there.
    /// @param owner The key's owner. The proof names this address, so nobody else can use it.
    /// @param key The key, in the format of the curve.
    /// @param proof The proof of possession: a signature over the verifier's `possessionDigest(owner, key)`, and the
    /// curve's hints.
    /// @return index The key's index in the running table, which no other key of this table ever gets. Reverts if the key
    /// was ever admitted before.
    function admit(address owner, bytes calldata key, bytes calldata proof) external returns (uint256 index);

    /// @notice Copies keys of the running table to the next table, where they get the next free indices in their order, in
    /// a page of their own. They keep their indices in the running table.
    /// @param indices Their indices in the running table, 4 bytes each: at least one, and as many as fit into a page at
    /// most. Each key is carried once.
    /// @param nonces Pages of the running table that hold the keys. `compact` makes such pages.
    function carry(bytes calldata indices, uint256[] calldata nonces) external;

    /// @notice Makes the next table the running one. Keys that were not carried stay in the table before, which epochs
    /// that use it still mean.
    function renew() external;

    /// @notice Verifies one aggregate signature over all digests, and stores the quorum as a base if the quorum asks
    /// for it. NOT checked: that there is a digest, and that no digest occurs twice.
    /// @param digests What the quorum signed; at least one, all different.
    /// @param epoch The epoch in which the signers are weighed.
    /// @param table The table whose indices the epoch's weights and bitmaps have: the running one or the one before.
    /// @param quorum The quorum, packed as `Quorums` says.
    /// @return signers The quorum's bitmap.
    /// @return weight The sum of the signers' weights, as published for the epoch.
    function verify(bytes32[] calldata digests, uint256 epoch, uint256 table, bytes calldata quorum)
        external
        returns (bytes memory signers, uint256 weight);

    /// @notice Where the key is that signed a digest. Reverts unless it signed.
    /// @param digest What was signed.
    /// @param proof The key, behind it the signature, and the curve's hints.
    /// @return table The newest table that holds the key, which may be the next one.
    /// @return index The key's index in it.
    function signerOf(bytes32 digest, bytes calldata proof) external view returns (uint256 table, uint256 index);

    /// @notice Publishes the weights of an epoch. An epoch gets weights once, and no earlier epoch gets any afterwards.
    /// @param epoch The epoch, below 2^32.
    /// @param weights The weight of each index, 8 bytes each, big-endian.
    function publish(uint256 epoch, bytes calldata weights) external;

    /// @notice The weights of an epoch as they were published. The cost grows with the number of keys.
    /// @param epoch The epoch.
    /// @return The weight of each index; empty if the epoch has no weights.
    function weightsOf(uint256 epoch) external view returns (uint64[] memory);

    /// @notice Copies a base to a pinned slot, in which no quorum can be stored.
    /// @param slot The pinned slot.
    /// @param from The slot to copy.
    function pin(uint256 slot, uint256 from) external;
}
