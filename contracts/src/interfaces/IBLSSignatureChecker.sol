// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

/// @title EigenLayer's `BLSSignatureChecker`, as its consumers call it
/// @notice Selectors, types and meaning are those of eigenlayer-middleware, whose names stand here, too. A consumer that
/// imports their interface needs no other.
interface IBLSSignatureChecker {
    /// @notice A point of G1 of BN254; infinity is (0, 0).
    struct G1Point {
        uint256 X;
        uint256 Y;
    }

    /// @notice A point of G2 of BN254. The imaginary part of each coordinate comes first.
    struct G2Point {
        uint256[2] X;
        uint256[2] Y;
    }

    /// @notice Who did not sign, the hints for the registries, and the signature.
    struct NonSignerStakesAndSignature {
        /// For each operator who did not sign, the index of its entry in the history of its quorums.
        uint32[] nonSignerQuorumBitmapIndices;
        /// Their keys, by rising hashes.
        G1Point[] nonSignerPubkeys;
        /// The aggregate key of each quorum, of all its operators.
        G1Point[] quorumApks;
        /// The aggregate key of the operators who signed.
        G2Point apkG2;
        /// The aggregate signature.
        G1Point sigma;
        /// For each quorum, the index in the history of its aggregate key.
        uint32[] quorumApkIndices;
        /// For each quorum, the index in the history of its stake.
        uint32[] totalStakeIndices;
        /// For each quorum, the index in the history of its stake of each operator who did not sign and is in the quorum.
        uint32[][] nonSignerStakeIndices;
    }

    /// @notice Stakes, one for each quorum.
    struct QuorumStakeTotals {
        /// The stake of the operators who signed.
        uint96[] signedStakeForQuorum;
        /// The stake of all operators.
        uint96[] totalStakeForQuorum;
    }

    /// @notice The contract that keeps the quorums of each operator.
    /// @return Its address.
    function registryCoordinator() external view returns (address);

    /// @notice The contract that keeps the stakes.
    /// @return Its address.
    function stakeRegistry() external view returns (address);

    /// @notice The contract that keeps the keys.
    /// @return Its address.
    function blsApkRegistry() external view returns (address);

    /// @notice EigenLayer's DelegationManager.
    /// @return Its address.
    function delegation() external view returns (address);

    /// @notice Reverts unless all operators of the quorums but the named ones signed a message.
    /// @param msgHash The message, which must be a hash.
    /// @param quorumNumbers The numbers of the quorums, one byte each, rising.
    /// @param referenceBlockNumber The block whose operators and stakes count.
    /// @param params Who did not sign, the hints and the signature.
    /// @return The stakes of each quorum.
    /// @return The hash of the block's number and the ids of those who did not sign.
    function checkSignatures(
        bytes32 msgHash,
        bytes calldata quorumNumbers,
        uint32 referenceBlockNumber,
        NonSignerStakesAndSignature calldata params
    ) external view returns (QuorumStakeTotals memory, bytes32);

    /// @notice Whether a signature is right under a key that is passed in both groups.
    /// @param msgHash The message.
    /// @param apk The key in G1.
    /// @param apkG2 The key in G2.
    /// @param sigma The signature.
    /// @return pairingSuccessful Whether the pairing could be computed.
    /// @return siganatureIsValid Whether the signature is right, and both keys have the same secret. The name is theirs.
    function trySignatureAndApkVerification(
        bytes32 msgHash,
        G1Point memory apk,
        G2Point memory apkG2,
        G1Point memory sigma
    ) external view returns (bool pairingSuccessful, bool siganatureIsValid);
}
