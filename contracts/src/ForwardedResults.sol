// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IResultReceiver} from "./interfaces/IResultReceiver.sol";
import {Settlement} from "./Settlement.sol";

/// @title A settlement that hands its results to another contract
/// @notice It calls the receiver once for each settlement. If the receiver reverts, the settlement reverts. A receiver
/// that always reverts for the next result stops the settlement for good, because results settle in order. The state is
/// written before the call, so a receiver may settle the next results itself.
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
