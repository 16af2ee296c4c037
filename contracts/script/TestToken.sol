// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title A token for tests
/// @notice For networks in which nothing is at stake. The deployer gets all of it, and it is worth nothing.
contract TestToken is ERC20 {
    /// @param supply Token units to make.
    constructor(uint256 supply) ERC20("Quorate test token", "TEST") {
        _mint(msg.sender, supply);
    }
}
