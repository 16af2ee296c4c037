// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";

/// @title A registrar whose calls take effect only after a delay
/// @notice One proposer schedules calls of a settlement, for example `register` and `begin`, and may cancel them.
/// Anyone executes them once the delay has passed. Nobody administers it, and only a scheduled call changes the delay.
contract DelayedRegistrar is TimelockController {
    /// @param delay Seconds between a proposal and its effect.
    /// @param proposer Who proposes, for example a multi-signature.
    constructor(uint256 delay, address proposer)
        TimelockController(delay, _only(proposer), _only(address(0)), address(0))
    {}

    /// @dev An array with one address.
    function _only(address account) private pure returns (address[] memory accounts) {
        accounts = new address[](1);
        accounts[0] = account;
    }
}
