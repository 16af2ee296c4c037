// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IResults} from "./interfaces/IResults.sol";
import {Settlement} from "./Settlement.sol";

/// @title A settlement that stores its results
/// @notice Other contracts read them by number. Each result costs about 22,100 gas more.
abstract contract StoredResults is Settlement, IResults {
    /// @dev The results by number.
    mapping(uint256 nonce => bytes32 result) private _results;

    /// @notice No result has this number yet, or the result is zero.
    /// @param nonce The number.
    error NoResult(uint256 nonce);

    /// @inheritdoc IResults
    /// @dev A result that is zero settles like any other, and cannot be read here.
    function resultAt(uint256 nonce) external view returns (bytes32 result) {
        result = _results[nonce];
        require(result != 0, NoResult(nonce));
    }

    /// @inheritdoc Settlement
    function _settled(uint256 nonce, bytes32[] calldata results) internal virtual override {
        for (uint256 i = 0; i < results.length; i++) {
            _results[nonce + i] = results[i];
        }
    }
}
