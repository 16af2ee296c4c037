// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice The cheat codes of forge that deployments use. forge answers the calls to `vm`.
interface Vm {
    /// @notice The address of the contract that an account creates with a nonce.
    /// @param deployer The account.
    /// @param nonce The nonce.
    /// @return The address.
    function computeCreateAddress(address deployer, uint256 nonce) external pure returns (address);
    /// @notice Makes a folder.
    /// @param path The folder.
    /// @param recursive Whether the folders above it are made, too.
    function createDir(string calldata path, bool recursive) external;
    /// @notice The address in an environment variable.
    /// @param name The variable.
    /// @param defaultValue What is returned if it is not set.
    /// @return The value.
    function envOr(string calldata name, address defaultValue) external view returns (address);
    /// @notice The text in an environment variable.
    /// @param name The variable.
    /// @param defaultValue What is returned if it is not set.
    /// @return The value.
    function envOr(string calldata name, string calldata defaultValue) external view returns (string memory);
    /// @notice The number in an environment variable.
    /// @param name The variable.
    /// @param defaultValue What is returned if it is not set.
    /// @return The value.
    function envOr(string calldata name, uint256 defaultValue) external view returns (uint256);
    /// @notice The addresses in an environment variable.
    /// @param name The variable.
    /// @param separator What stands between them.
    /// @param defaultValue What is returned if it is not set.
    /// @return The values.
    function envOr(string calldata name, string calldata separator, address[] calldata defaultValue)
        external
        view
        returns (address[] memory);
    /// @notice The numbers in an environment variable.
    /// @param name The variable.
    /// @param separator What stands between them.
    /// @param defaultValue What is returned if it is not set.
    /// @return The values.
    function envOr(string calldata name, string calldata separator, uint256[] calldata defaultValue)
        external
        view
        returns (uint256[] memory);
    /// @notice The nonce of an account's next transaction.
    /// @param account The account.
    /// @return The nonce.
    function getNonce(address account) external view returns (uint64);
    /// @notice Who sends what the script broadcasts.
    /// @return mode Whether forge broadcasts.
    /// @return sender The account that sends.
    /// @return origin The account that starts the transactions.
    function readCallers() external view returns (uint256 mode, address sender, address origin);
    /// @notice From here on forge sends calls and creations as transactions.
    function startBroadcast() external;
    /// @notice Ends `startBroadcast`.
    function stopBroadcast() external;
    /// @notice An address as text.
    /// @param value The address.
    /// @return The text, with EIP-55's capitals.
    function toString(address value) external pure returns (string memory);
    /// @notice A number as text.
    /// @param value The number.
    /// @return Its decimal digits.
    function toString(uint256 value) external pure returns (string memory);
    /// @notice Writes a file, over what is there.
    /// @param path The file.
    /// @param data What is written.
    function writeFile(string calldata path, string calldata data) external;
}

/// @dev Where forge answers the cheat codes.
Vm constant vm = Vm(0x7109709ECfa91a80626fF3989D68f67F5b1DD12D);
