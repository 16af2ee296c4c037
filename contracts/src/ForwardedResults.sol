// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IResultReceiver} from "./interfaces/IResultReceiver.sol";
import {Settlement} from "./Settlement.sol";

/// @title A settlement that hands its results to another contract
/// @notice It calls the receiver once for each settlement. If the receiver reverts, the settlement reverts. A receiver
/// that always reverts for the next result stops a settlement that takes results in order, for good. The state is
/// written before the call, so a receiver may settle the next results itself.
///
/// In an optimistic settlement a receiver must not revert even for a time. While it reverts for a result, nobody can prove
/// a posting of that result: whoever demands the proof takes the poster's penalty, and once the window is over the number
/// is lost (docs/optimistic.md). So a receiver notes what came, and acts later.
abstract contract ForwardedResults is Settlement {
    /// @notice The contract that takes the results.
    IResultReceiver public immutable receiver;

    /// @param receiver_ The contract that takes the results. It may be made later.
    constructor(IResultReceiver receiver_) {
        receiver = receiver_;
    }

    /// @inheritdoc Settlement
    function _settled(uint256 nonce, bytes32[] calldata results) internal virtual override {
        receiver.onResults(nonce, results);
    }
}
