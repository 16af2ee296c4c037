// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

contract MockToken is ERC20 {
    constructor() ERC20("Mock", "MOCK") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice A token that keeps one percent of each transfer.
contract FeeToken is MockToken {
    function _update(address from, address to, uint256 amount) internal override {
        if (from == address(0) || to == address(0)) return super._update(from, to, amount);
        super._update(from, address(0xFEE), amount / 100);
        super._update(from, to, amount - amount / 100);
    }
}

/// @notice A token that calls its holders, as ERC-777 did: the sender before a transfer to the target, and the receiver
/// after a transfer from it.
contract ReentrantToken is MockToken {
    address public target;
    bytes public call;
    bool public tried;
    bool public entered;
    bytes public answer;

    function arm(address target_, bytes calldata call_) external {
        (target, call, tried, entered) = (target_, call_, false, false);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (target != address(0) && (from == target || to == target) && !tried) {
            tried = true;
            (entered, answer) = target.call(call);
        }
    }
}
