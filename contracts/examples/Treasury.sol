// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IResultReceiver} from "../src/interfaces/IResultReceiver.sol";

/// @title Pays what a quorum decided
/// @notice A result is a payment: 12 bytes of wei, then 20 bytes of who may take them. The payment is only noted, and
/// its owner takes it with `withdraw`. So no owner can make a settlement revert.
contract Treasury is IResultReceiver {
    /// @notice The settlement whose results are paid.
    address public immutable settlement;
    /// @notice Wei that an owner may take.
    mapping(address owner => uint256) public owed;

    error NotSettlement(address sender);
    error NotPaid(address owner, uint256 amount);

    constructor(address settlement_) payable {
        settlement = settlement_;
    }

    /// @inheritdoc IResultReceiver
    function onResults(uint256, bytes32[] calldata results) external {
        require(msg.sender == settlement, NotSettlement(msg.sender));
        for (uint256 i = 0; i < results.length; i++) {
            owed[address(uint160(uint256(results[i])))] += uint256(results[i]) >> 160;
        }
    }

    /// @notice Pays the caller all that it may take.
    function withdraw() external {
        uint256 amount = owed[msg.sender];
        owed[msg.sender] = 0;
        (bool paid,) = msg.sender.call{value: amount}("");
        require(paid, NotPaid(msg.sender, amount));
    }
}
