// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice Stake and rewards where nothing is at stake: all of it to whoever deploys it.
contract TestToken is ERC20 {
    constructor(uint256 supply) ERC20("Quorate test token", "TEST") {
        _mint(msg.sender, supply);
    }
}
