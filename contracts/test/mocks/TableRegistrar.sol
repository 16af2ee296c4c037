// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Quorums} from "../../src/Quorums.sol";
import {Settlement} from "../../src/Settlement.sol";
import {StakeRegistrar} from "../../src/adapters/StakeRegistrar.sol";
import {ToyKeys} from "./ToyCurve.sol";

/// @notice A settlement over the toy curve, with any registrar.
contract ToySettlement is Settlement, ToyKeys {
    constructor(address registrar) Quorums(0) Settlement(registrar, 4) {}
}

/// @notice A registrar that takes stakes from a table which the test writes. Whoever stands in it is an operator.
contract TableRegistrar is StakeRegistrar {
    mapping(address operator => uint256) private _stakes;
    mapping(address operator => bool) private _known;

    constructor(Settlement settlement, Parameters memory parameters) StakeRegistrar(settlement, parameters) {}

    function set(address operator, uint256 stake) external {
        (_stakes[operator], _known[operator]) = (stake, true);
    }

    function _isOperator(address operator) internal view override returns (bool) {
        return _known[operator];
    }

    function _stakeOf(address operator, uint48) internal view override returns (uint256) {
        return _stakes[operator];
    }
}
