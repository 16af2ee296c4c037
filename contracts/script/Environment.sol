// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {vm} from "./Vm.sol";

/// @title What deployments read from environment variables
/// @notice A value that makes no sense is refused before anything is sent, with the variable's name.
library Environment {
    /// @notice A variable without a default is not set.
    /// @param name The variable.
    error Missing(string name);
    /// @notice A variable's number is out of its bounds.
    /// @param name The variable.
    /// @param value Its value.
    /// @param least The least that is allowed.
    /// @param most The most that is allowed.
    error OutOfBounds(string name, uint256 value, uint256 least, uint256 most);
    /// @notice There is no contract at an address. It may be one of another chain, or have a wrong digit.
    /// @param name The variable.
    /// @param account The address.
    error NoContract(string name, address account);

    /// @notice A number.
    /// @param name The variable.
    /// @param otherwise The number if the variable is not set.
    /// @param least The least that is allowed.
    /// @param most The most that is allowed.
    /// @return value The number.
    function number(string memory name, uint256 otherwise, uint256 least, uint256 most)
        internal
        view
        returns (uint256 value)
    {
        value = vm.envOr(name, otherwise);
        if (value < least || value > most) revert OutOfBounds(name, value, least, most);
    }

    /// @notice An address, which has to be set.
    /// @param name The variable.
    /// @return value The address.
    function account(string memory name) internal view returns (address value) {
        value = vm.envOr(name, address(0));
        if (value == address(0)) revert Missing(name);
    }

    /// @notice The address of a contract, which has to be set.
    /// @param name The variable.
    /// @return value The address.
    function deployed(string memory name) internal view returns (address value) {
        value = account(name);
        requireCode(name, value);
    }

    /// @notice Addresses of contracts, separated by commas; at least one.
    /// @param name The variable.
    /// @return values The addresses.
    function allDeployed(string memory name) internal view returns (address[] memory values) {
        values = vm.envOr(name, ",", new address[](0));
        if (values.length == 0) revert Missing(name);
        for (uint256 i = 0; i < values.length; i++) {
            requireCode(name, values[i]);
        }
    }

    /// @notice Reverts unless there is a contract at an address.
    /// @param name The variable that holds the address.
    /// @param value The address.
    function requireCode(string memory name, address value) internal view {
        if (value.code.length == 0) revert NoContract(name, value);
    }
}
