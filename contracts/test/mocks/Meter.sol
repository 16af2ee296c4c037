// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @notice Calls another contract with limited gas, goes on if the call fails, and says what it cost.
contract Meter {
    /// @param target The contract to call.
    /// @param data The calldata.
    /// @param limit The gas of the call.
    /// @return ok Whether the call succeeded.
    /// @return answer What it returned, or the error with which it reverted.
    /// @return burnt The gas that it used.
    function measure(address target, bytes calldata data, uint256 limit)
        external
        returns (bool ok, bytes memory answer, uint256 burnt)
    {
        bytes memory copy = data;
        uint256 start = gasleft();
        (ok, answer) = target.call{gas: limit}(copy);
        burnt = start - gasleft();
    }
}
