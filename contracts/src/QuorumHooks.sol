// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @title What the task network asks of the quorum machinery
/// @notice Keys, weights and signatures are known here only by these functions. What each promises is what the network relies on.
abstract contract QuorumHooks {
    /// @notice Registers a key for the operator after its proof of possession; reverts if the proof is false.
    /// @return index In the append-only key table. Never returned twice.
    function _addKey(address operator, bytes calldata key, bytes calldata proof)
        internal
        virtual
        returns (uint256 index);

    /// @notice Verifies one aggregate signature over all digests; reverts if it is false.
    /// @return signers Bitmap of key indices, bit i of byte i / 8 from the least significant, no trailing zero byte.
    /// @return weight Sum of the signers' weights as published for `epoch`.
    function _verifyQuorum(bytes32[] memory digests, uint256 epoch, bytes calldata quorum)
        internal
        virtual
        returns (bytes memory signers, uint256 weight);

    /// @notice Whether the key at `index` signed the digest.
    function _verifySingle(bytes32 digest, uint256 index, bytes calldata proof) internal virtual returns (bool);

    /// @notice Publishes the weights of an epoch, by key index. Called once an epoch.
    function _publishWeights(uint256 epoch, uint64[] memory weights) internal virtual;

    /// @notice The weights as published. Read off the hot path alone: claims, rejected tasks, views.
    function _weightsOf(uint256 epoch) internal view virtual returns (uint64[] memory);

    /// @notice The value that elects an epoch's performers. Called once an epoch, by its snapshot, and kept.
    /// @dev The default is the chain's own. A proposer can bias it by withholding blocks, and who calls `snapshot` picks the block:
    /// call it early in the epoch. Override it with a beacon that is verified elsewhere where that matters.
    function _beacon(uint256) internal virtual returns (bytes32) {
        return bytes32(block.prevrandao);
    }
}
