// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Head} from "./Head.sol";
import {IHubSettlement} from "./interfaces/IHubSettlement.sol";
import {Settlement} from "./Settlement.sol";

/// @title A settlement whose quorums a hub may prove
/// @notice A hub proves the signatures of several quorums in one product of pairings (`Hub`). `settle` and `settleAll` work
/// as ever. The hub is part of the settlement: whoever makes the hub's code decides what settles. It cannot be changed.
abstract contract HubSettlement is Settlement, IHubSettlement {
    /// @inheritdoc IHubSettlement
    address public immutable hub;

    /// @notice Only the hub may call this.
    /// @param sender Who called.
    error NotHub(address sender);
    /// @notice The quorum's bytes go on behind the hints for its key. The signature goes to the hub.
    /// @param length Bytes that are left.
    error ProofLeft(uint256 length);

    /// @param hub_ The hub, a contract `Hub` for the same keys.
    constructor(address hub_) {
        hub = hub_;
    }

    /// @inheritdoc IHubSettlement
    /// @dev What `_settled` does happens before the signatures are checked, in the same transaction. If one of them is
    /// false, all of it is undone.
    function settleByHub(Head head, bytes32 newest, uint64 deadline, bytes32[] calldata results, bytes calldata quorum)
        external
        returns (bytes32 order, bytes memory key)
    {
        require(msg.sender == hub, NotHub(msg.sender));
        uint256 from;
        bytes calldata rest;
        (order, from, rest) = _settleAll(head, newest, deadline, results, quorum);
        require(rest.length == 0, ProofLeft(rest.length));
        uint256 size = _keyBytes();
        uint256 to = _allocate(size + 0x20);
        assembly ("memory-safe") {
            mstore(to, size)
            mcopy(add(to, 0x20), from, size)
            key := to
        }
        _settled(head.nonce(), results);
    }
}
