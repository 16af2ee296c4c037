// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title The keys, weights and signatures of one network's quorums
/// @notice What a network asks of its verifier, and relies on. What is false reverts, with the error of the step that failed.
/// Bit i of a bitmap, counted from the most significant bit of the first byte, is the member with index i; its last byte is
/// not zero.
interface IVerifier {
    /// @notice The only address that may call what changes something here.
    function network() external view returns (address);

    /// @notice Gives a key an index after its proof of possession, which names its owner.
    /// @return index Never given twice.
    function admit(address owner, bytes calldata key, bytes calldata proof) external returns (uint256 index);

    /// @notice Verifies one aggregate signature over all digests, and stores a base where the quorum says so.
    /// @param quorum As `Quorums` says.
    /// @return signers The quorum's bitmap.
    /// @return weight Sum of the signers' weights as published for the epoch.
    function verify(bytes32[] calldata digests, uint256 epoch, bytes calldata quorum)
        external
        returns (bytes memory signers, uint256 weight);

    /// @notice Reverts unless the key at an index signed a digest.
    /// @param proof 4 bytes, the nonce of the page that holds the key or 0 where none does; then the curve's.
    function checkMember(bytes32 digest, uint256 index, bytes calldata proof) external view;

    /// @notice Gives every index its weight in an epoch below 2^32, once and in the order of epochs.
    function publish(uint256 epoch, uint64[] calldata weights) external;

    /// @notice The weights of an epoch as they were published; none where none were. Linear in the keys.
    function weightsOf(uint256 epoch) external view returns (uint64[] memory);

    /// @notice Copies the base of a slot to one that no quorum can be stored in.
    function pin(uint256 slot, uint256 from) external;
}
