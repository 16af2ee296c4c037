// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.27;

import {Head} from "../Head.sol";

/// @title A settlement, for its hub
interface IHubSettlement {
    /// @notice The hub, which alone may call `settleByHub`.
    /// @return The hub's address.
    function hub() external view returns (address);

    /// @notice Settles results as `ISettlement.settleAll` does, but for the signature. The hub checks it before its
    /// transaction ends, and reverts if it is false.
    /// @param head The head.
    /// @param newest The commitment of the newest base, or zero if there is none.
    /// @param deadline The last second in which the signatures count, in Unix time.
    /// @param results The results, in order; at least one.
    /// @param quorum The quorum, packed as `Quorums` says, without the signature and what stands behind it.
    /// @return order The hash of what the quorum orders (`Orders`).
    /// @return key The quorum's key, in the format of the key table.
    function settleByHub(Head head, bytes32 newest, uint64 deadline, bytes32[] calldata results, bytes calldata quorum)
        external
        returns (bytes32 order, bytes memory key);
}
