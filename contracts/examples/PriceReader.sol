// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ITaskNetwork} from "../src/interfaces/ITaskNetwork.sol";

/// @notice The one function of a `TaskNetwork` that a consumer needs.
interface ISettledTasks {
    /// @notice Whether exactly this task was settled in this epoch.
    /// @param epoch The epoch.
    /// @param task The task.
    /// @return Whether it was.
    function isSettledAs(uint256 epoch, ITaskNetwork.Task calldata task) external view returns (bool);
}

/// @title Uses a price that a task network agreed on
/// @notice The task's result is the hash of the price as text, such as "3020.50000000". Whoever uses the price passes the
/// task and the text. Not checked: how old the task is. Put a time or a round into the id if that matters.
contract PriceReader {
    /// @notice The network whose results count.
    ISettledTasks public immutable network;

    error NotApproved(bytes32 id);
    error AnotherPrice(bytes32 expected);

    constructor(ISettledTasks network_) {
        network = network_;
    }

    /// @notice The price of a task, once the network has settled and approved it.
    /// @param epoch The epoch in which it settled.
    /// @param task The task, whole: id, performer, result and verdict.
    /// @param price The price as text.
    /// @return The price.
    function priceOf(uint256 epoch, ITaskNetwork.Task calldata task, string calldata price)
        external
        view
        returns (string calldata)
    {
        // A rejected task is settled, too.
        require(task.approved && network.isSettledAs(epoch, task), NotApproved(task.id));
        require(keccak256(bytes(price)) == task.result, AnotherPrice(task.result));
        return price;
    }
}
