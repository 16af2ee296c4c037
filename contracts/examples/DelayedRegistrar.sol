// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";

/// @title A registrar whose calls take effect only after a delay, in the order in which they were scheduled
/// @notice One proposer schedules calls of a settlement, for example `register` and `begin`, and may cancel them.
/// Anyone executes them once the delay has passed. Nobody administers it, and only a scheduled call changes the delay.
///
/// **Order.** Keys get their indices in the order of `register` and `carry`, and weights in the order of `prepare` and
/// `begin`. If strangers could choose the order, they would choose which member gets which weight. So each operation
/// names the one that was scheduled before it as its predecessor (`lastOperation`), and `schedule` refuses any other. A
/// batch is one operation.
///
/// **If an operation is cancelled**, keeps failing or has a longer delay, nothing behind it is executed meanwhile. To go
/// on, cancel it and all that were scheduled after it, and schedule what is still wanted.
///
/// **Cost.** `schedule` looks at each pending operation, for some 4,500 gas each: schedule many registrations as one
/// batch. Of two proposals that name the same predecessor the second reverts, and has to be signed anew.
contract DelayedRegistrar is TimelockController {
    /// @dev The operation that was scheduled last. It may have been cancelled.
    bytes32 private _last;

    /// @dev The predecessor of each operation.
    mapping(bytes32 id => bytes32) private _before;

    /// @notice The operation does not name the one that was scheduled before it as its predecessor.
    /// @param last The operation that it has to name.
    error NotInOrder(bytes32 last);
    /// @notice An operation waits for one that was cancelled, so nothing behind it would be executed. Cancel it first.
    /// @param id The operation that waits.
    error WaitsForNothing(bytes32 id);

    /// @param delay Seconds between a proposal and its effect.
    /// @param proposer Who proposes, for example a multi-signature.
    constructor(uint256 delay, address proposer)
        TimelockController(delay, _only(proposer), _only(address(0)), address(0))
    {}

    /// @inheritdoc TimelockController
    function schedule(
        address target,
        uint256 value,
        bytes calldata data,
        bytes32 predecessor,
        bytes32 salt,
        uint256 delay
    ) public override {
        _append(hashOperation(target, value, data, predecessor, salt), predecessor);
        super.schedule(target, value, data, predecessor, salt, delay);
    }

    /// @inheritdoc TimelockController
    function scheduleBatch(
        address[] calldata targets,
        uint256[] calldata values,
        bytes[] calldata payloads,
        bytes32 predecessor,
        bytes32 salt,
        uint256 delay
    ) public override {
        _append(hashOperationBatch(targets, values, payloads, predecessor, salt), predecessor);
        super.scheduleBatch(targets, values, payloads, predecessor, salt, delay);
    }

    /// @notice The predecessor that the next operation has to name.
    /// @return id The operation that was scheduled last and not cancelled; zero if there is none.
    function lastOperation() public view returns (bytes32 id) {
        id = _last;
        while (id != 0 && !isOperation(id)) {
            id = _before[id];
        }
    }

    /// @dev Puts an operation behind all others. All that are pending stand in this order, and each waits for the one
    /// before it.
    function _append(bytes32 id, bytes32 predecessor) private {
        bytes32 last = lastOperation();
        require(predecessor == last, NotInOrder(last));
        for (bytes32 at = last; isOperationPending(at); at = _before[at]) {
            require(_before[at] == 0 || isOperation(_before[at]), WaitsForNothing(at));
        }
        (_last, _before[id]) = (id, predecessor);
    }

    /// @dev An array with one address.
    function _only(address account) private pure returns (address[] memory accounts) {
        accounts = new address[](1);
        accounts[0] = account;
    }
}
