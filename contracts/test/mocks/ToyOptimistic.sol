// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Deposits} from "../../src/Deposits.sol";
import {ForwardedResults} from "../../src/ForwardedResults.sol";
import {IResultReceiver} from "../../src/interfaces/IResultReceiver.sol";
import {OptimisticSettlement} from "../../src/OptimisticSettlement.sol";
import {Quorums} from "../../src/Quorums.sol";
import {Settlement} from "../../src/Settlement.sol";
import {StoredResults} from "../../src/StoredResults.sol";
import {ToyKeys} from "./ToyCurve.sol";

/// @notice An optimistic settlement over the toy curve. Its curve can be broken, as a precompile whose price rose is.
contract ToyOptimistic is OptimisticSettlement, ToyKeys {
    error CurveFails();

    bool public broken;

    constructor(uint256 pinned, uint256 changesAStore, Conditions memory c)
        Quorums(pinned)
        Settlement(msg.sender, changesAStore)
        Deposits(c)
    {}

    function breakCurve(bool broken_) external {
        broken = broken_;
    }

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof)
        internal
        view
        virtual
        override(Quorums, ToyKeys)
    {
        if (broken) revert CurveFails();
        super._check(digests, key, proof);
    }

    function _mustFinish() internal pure virtual override returns (bool) {
        return false;
    }
}

contract ToyStoredOptimistic is ToyOptimistic, StoredResults {
    constructor(uint256 pinned, uint256 changesAStore, Conditions memory c) ToyOptimistic(pinned, changesAStore, c) {}

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof)
        internal
        view
        override(ToyOptimistic, Quorums)
    {
        super._check(digests, key, proof);
    }

    function _settled(uint256 nonce, bytes32[] calldata results) internal override(Settlement, StoredResults) {
        super._settled(nonce, results);
    }

    function _mustFinish() internal pure override returns (bool) {
        return true;
    }
}

contract ToyForwardedOptimistic is ToyOptimistic, ForwardedResults {
    constructor(uint256 pinned, uint256 changesAStore, Conditions memory c, IResultReceiver receiver)
        ToyOptimistic(pinned, changesAStore, c)
        ForwardedResults(receiver)
    {}

    function _check(bytes32[] memory digests, uint256 key, bytes calldata proof)
        internal
        view
        override(ToyOptimistic, Quorums)
    {
        super._check(digests, key, proof);
    }

    function _settled(uint256 nonce, bytes32[] calldata results) internal override(Settlement, ForwardedResults) {
        super._settled(nonce, results);
    }

    function _mustFinish() internal pure override returns (bool) {
        return true;
    }
}
