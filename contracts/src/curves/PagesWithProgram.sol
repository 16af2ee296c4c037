// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {KeyTable} from "../KeyTable.sol";
import {CodePages} from "../libraries/CodePages.sol";
import {Quorums} from "../Quorums.sol";

/// @title Quorums whose pages of keys have a program that adds the keys
/// @notice Other pages of the same contract have no program, and what lies in them may be chosen by others: weights of an epoch
/// could look like the header of a page of keys where its program ends. So a page is taken for one of keys only if it has a
/// program.
abstract contract PagesWithProgram is Quorums {
    /// @dev Length of the program.
    uint256 private immutable _programLength = _program().length;

    /// @inheritdoc KeyTable
    function _programBytes() internal view override returns (uint256) {
        return _programLength;
    }

    /// @inheritdoc KeyTable
    function _openKeys(uint256 nonce, uint256 table) internal view override returns (uint256 page) {
        page = _openHeader(nonce, table);
        if (!CodePages.hasProgram(address(uint160(page)))) CodePages.refuse(nonce);
    }
}
